"""Computing what is recorded, at once: the values of one node from those of its operands."""

import numpy as np

from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF

cimport numpy as cnp

from hoad._core.base.blocks cimport HOAD_CHECKED
from hoad._core.ops.plan cimport FAILED_SINGULAR, FAILED_WITHIN, Plan, as_value, plan_of, raise_within
from hoad._core.graph.primitive cimport K_CONCATENATE, K_STRIDED, MOST_RESULTS
from hoad._core.graph.tape cimport (
    AVAL_BOOL, AVAL_FLOAT, F_SPARE, AbstractValue, Slot, WideNode, connect_values, int64_t, is_missing, may_drop,
    node_operands, operand_aval,
)
from hoad._core.base.where cimport here

from hoad.errors import DTypeError

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    object PyArray_NewFromDescr(void* subtype, void* descr, int nd, const cnp.npy_intp* dims,
                                const cnp.npy_intp* strides, void* data, int flags, PyObject* obj)

cdef type ndarray = np.ndarray

# Bytes of a part of an array from which on it is not copied where it lies in one piece, or not before it is read.
cdef int64_t WINDOW = 16 if HOAD_CHECKED else 1 << 12


cdef list compute(Graph graph, Signature sig, const int32_t* operands, int32_t count):
    """The values of a node's results: floats, booleans, arrays."""
    cdef char* few[FEW]
    cdef char few_truths[FEW]
    cdef char* places[MOST_RESULTS]
    cdef Slot scalars[MOST_RESULTS]
    cdef char** at = few
    cdef char* truths = few_truths
    cdef int32_t i
    cdef int failure
    cdef AbstractValue aval
    cdef list values = []
    cdef object room = None
    cdef Plan plan = plan_of(sig)
    if is_window(plan):
        return [window(graph, sig, plan, operands[0])]
    if plan.kind == K_CONCATENATE and may_drop(graph):
        for i in range(count):
            if is_missing(graph, operands[i]):
                parts = [view_or_value(graph, operands[k]) for k in range(count)]
                return [np.concatenate(parts, sig.params[0], out=empty_array(sig.results[0]))]
    if count > FEW:
        room = np.empty(count * (sizeof(char*) + 1), dtype=np.uint8)
        at = <char**>cnp.PyArray_DATA(<cnp.ndarray>room)
        truths = <char*>(at + count)
    for i in range(count):
        if is_missing(graph, operands[i]):
            restore(graph, operands[i])
        at[i] = address(graph, operands[i], &truths[i])
    for i in range(len(sig.results)):
        aval = sig.results[i]
        if aval.number > AVAL_BOOL:
            values.append(empty_array(aval))
            places[i] = <char*>cnp.PyArray_DATA(<cnp.ndarray>values[i])
        else:
            values.append(None)
            places[i] = <char*>&scalars[i]
    if plan.native is None:
        failure = plan.run(at, places, 1)
    else:
        with nogil:
            failure = plan.run(at, places, 1)
    if failure:
        graph.has_raised = True
        if failure == FAILED_WITHIN:
            raise_within(sig, [as_value(sig.avals[i], at[i]) for i in range(count)])
        raise_failure(failure)
    for i in range(len(values)):
        aval = sig.results[i]
        if aval.number == AVAL_FLOAT:
            values[i] = scalars[i].d
        elif aval.number == AVAL_BOOL:
            values[i] = (<char*>&scalars[i])[0] != 0
    return values


cdef char* address(Graph graph, int32_t operand, char* truth) noexcept:
    """Where the value of an operand lies; booleans are copied to `truth`, as NumPy's loops read bytes."""
    cdef Slot* slot = &graph.consts[~operand].value if operand < 0 else &graph.slots[operand]
    cdef int32_t aval = operand_aval(graph, operand)
    if aval == AVAL_FLOAT:
        return <char*>&slot.d
    if aval == AVAL_BOOL:
        truth[0] = slot.d != 0
        return truth
    return <char*>cnp.PyArray_DATA(<cnp.ndarray>slot.o)


cdef bint is_window(Plan plan) noexcept:
    """Whether the result lies in one piece in the operand."""
    return (plan.kind == K_STRIDED and plan.ndim == 0 and plan.core_steps[1] == plan.itemsize
            and plan.core_dims[0] * plan.itemsize >= WINDOW and not plan.empty)


cdef object window(Graph graph, Signature sig, Plan plan, int32_t operand):
    """A result that lies in one piece in the operand, as a view of that."""
    cdef AbstractValue aval = sig.results[0]
    cdef cnp.ndarray of = graph.value_of(operand)
    cdef cnp.npy_intp dims[64]
    cdef int d
    for d in range(aval.ndim):
        dims[d] = aval.shape[d]
    Py_INCREF(aval.dtype)
    cdef object made = PyArray_NewFromDescr(<void*>ndarray, <void*>aval.dtype, aval.ndim, dims, NULL,
                                            cnp.PyArray_BYTES(of) + plan.offset, cnp.NPY_ARRAY_CARRAY, NULL)
    cnp.set_array_base(<cnp.ndarray>made, of)
    return made


cdef bint is_put_off(Signature sig):
    """Whether a result is a copy of large parts of the operand, which only what reads it need make."""
    if sig.primitive.kind != K_STRIDED:
        return False
    cdef Plan plan = plan_of(sig)
    return not is_window(plan) and (<AbstractValue>sig.results[0]).size * plan.itemsize >= WINDOW


cdef object view_or_value(Graph graph, int32_t operand):
    """The value of an operand, or a view of that of its own operand."""
    cdef WideNode* wide
    cdef Signature sig
    if not is_missing(graph, operand):
        return graph.value_of(operand)
    wide = &graph.wide_nodes[graph.nodes[operand].a]
    sig = <Signature>wide.sig
    if sig.primitive.kind != K_STRIDED:
        return graph.value_of(operand)
    shape, strides, offset = sig.primitive.function(sig.params, sig.avals[0])
    of = np.asarray(graph.value_of(graph.pool[wide.first]), (<AbstractValue>sig.avals[0]).dtype)
    made = np.ndarray(shape, (<AbstractValue>sig.results[0]).dtype, of, offset, strides)
    return made.reshape((<AbstractValue>sig.results[0]).shape)      # of which a reshape says nothing


cdef int restore(Graph graph, int32_t node) except -1:
    """Compute an array that was forgotten, and those that it needs; they are kept from now on."""
    cdef list stack = [node]
    cdef const int32_t* operands
    cdef int32_t i, k, n
    while stack:
        i = stack[-1]
        operands = node_operands(graph, i, &n)
        missing = [operands[k] for k in range(n) if is_missing(graph, operands[k])]
        stack += missing
        if not missing:
            stack.pop()
            if is_missing(graph, i):
                graph.set_object(i, compute(graph, <Signature>graph.wide_nodes[graph.nodes[i].a].sig, operands, n)[0])
                graph.nodes[i].flags &= ~F_SPARE
    return 0


cdef object empty_array(AbstractValue aval):
    cdef cnp.npy_intp dims[64]
    cdef int d
    if not aval.is_float64 or aval.ndim > 64:
        return np.empty(aval.shape, aval.dtype)
    for d in range(aval.ndim):
        dims[d] = aval.shape[d]
    return cnp.PyArray_EMPTY(aval.ndim, dims, cnp.NPY_DOUBLE, 0)


cdef int raise_failure(int failure) except -1:
    if failure == FAILED_SINGULAR:
        raise np.linalg.LinAlgError("Singular matrix")
    return -1       # the exception is set


cdef int check_numbers(Primitive primitive, Signature sig) except -1:
    """Raise for an operation whose result is made of no numbers, or of complex ones longer than two doubles."""
    cdef AbstractValue aval
    for aval in sig.results:
        if aval.dtype.kind not in "biufc" or aval.dtype.kind == "c" and aval.itemsize > 16:
            operands = " and ".join([str((<AbstractValue>x).dtype) for x in sig.avals])
            raise DTypeError(
                f"{primitive.name} of {operands} gives {aval.dtype} ({here()}), which is not recorded. Use floats, or "
                "hoad.value(x) if plain values are meant."
            )
    return 0


connect_values(restore)
