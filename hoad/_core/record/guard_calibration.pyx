"""What a recording took out as numbers (`hoad.value`), as a replay rounds it."""

import numpy as np

from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.string cimport memcpy

cimport numpy as cnp

from hoad._core.base.blocks cimport give, required, take
from hoad._core.runtime.engine cimport GuardCheck, Registers
from hoad._core.graph.primitive cimport Primitive, primitive_of
from hoad._core.graph.reach cimport mark_dependents
from hoad._core.graph.tape cimport (
    OP_ASTYPE, AbstractValue, Graph, Guard, aval_of, int32_t, int64_t, operand_aval, uint8_t,
)

cnp.import_array()


cdef int settle(Lowered program, list values) except -1:
    """Expect of what was taken out as floats what a run on `values`, those of the recording, gives of it.

    Vector kernels and sums block by block may round otherwise than the recording did: a guard bit by bit of its
    numbers would fail at the very arguments that were recorded. What was rounded to a grid, as by floor, stays: a
    step of it may be small beside it, and other arguments give the same numbers. So does what differs by more than
    rounding.
    """
    cdef int32_t checks = program.n_checks
    cdef int64_t size = program.workspace_size(1)
    cdef list held = program.converted(values, 1)
    cdef uint8_t[::1] gridded = on_grids(program.graph)
    cdef char* memory = <char*>required(take(size))
    cdef Registers work
    cdef cnp.ndarray found
    cdef Guard* guard
    cdef GuardCheck* check
    cdef AbstractValue aval
    cdef int32_t i
    cdef int code
    try:
        program.lay_out(memory, 1, &work)
        program.place_inputs(held, &work)
        program.n_checks = 0
        with nogil:
            code = program.interpret(&work)
        if code:            # what stopped it will stop a replay too
            return 0
        for i in range(checks):
            check = &program.checks[i]
            if check.nbytes == 0:
                continue
            guard = &program.graph.guards[check.guard]
            if gridded[guard.node]:
                continue
            aval = aval_of(operand_aval(program.graph, guard.node))
            found = np.empty(aval.shape, aval.dtype)
            memcpy(cnp.PyArray_DATA(found), <char*>work.uniform[check.register].o, check.nbytes)
            if not is_rounded(found, <cnp.ndarray>guard.expected.o):
                continue
            Py_INCREF(found)
            Py_DECREF(<object>guard.expected.o)
            guard.expected.o = <PyObject*>found
            program.alive.append(found)
            check.expected.o = <PyObject*>cnp.PyArray_DATA(found)
    finally:
        program.n_checks = checks
        give(memory, size)
    return 0


cdef object on_grids(Graph graph):
    """Of each node, whether it is or may be made of what was rounded to a grid: programs are not looked into.

    The steps of a grid may be as small as what rounding leaves.
    """
    cdef uint8_t[::1] marks = np.zeros(graph.size, np.uint8)
    cdef Primitive primitive
    cdef int32_t i
    for i in range(graph.size):
        primitive = primitive_of(graph.nodes[i].op)
        marks[i] = primitive.may_round or (
            primitive.op == OP_ASTYPE and aval_of(operand_aval(graph, i)).dtype.char not in "dD")
    mark_dependents(graph, 0, graph.size, &marks[0])
    return marks


cdef bint is_rounded(cnp.ndarray x, cnp.ndarray y) except -1:
    """Whether floats differ by rounding at most."""
    if x.dtype.kind not in "fc":
        return False
    parts = [np.ravel(z).view(z.real.dtype) for z in (x, y)]
    return np.array_equal(*map(np.signbit, parts)) and np.allclose(*parts, rtol=1e-9, atol=0.0, equal_nan=True)
