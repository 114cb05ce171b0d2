"""Computing what is recorded, at once: the values of one node from those of its operands."""

import numpy as np

from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from libc.string cimport memcpy

cimport numpy as cnp

from hoad._core.base.blocks cimport HOAD_CHECKED, give, required, take, take_zeroed
from hoad._core.ops.plan cimport FAILED_SINGULAR, FAILED_WITHIN, Plan, as_value, empty_array, plan_of, raise_within
from hoad._core.graph.primitive cimport INFO, K_CONCATENATE, K_NATIVE, K_PYTHON, K_STRIDED, MOST_RESULTS
from hoad._core.graph.tape cimport (
    AVAL_BOOL, AVAL_FLOAT, F_SPARE, F_VALUED, F_WIDE, OP_IDENTITY, OP_INPUT, OP_ITEM, OP_POWER, OP_RESULT, OP_SMOOTH,
    OP_STOP, AbstractValue, Node, Slot, WideNode, aval_of, connect_values, int64_t, is_missing, may_drop, node_operands,
    operand_aval, past_results, uint16_t,
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
    cdef object memory = None
    cdef Plan plan = plan_of(sig)
    if is_window(plan):
        return [window(graph, sig, plan, operands[0])]
    if plan.kind == K_CONCATENATE and may_drop(graph):
        for i in range(count):
            if is_missing(graph, operands[i]):
                parts = [view_or_value(graph, operands[k]) for k in range(count)]
                return [np.concatenate(parts, sig.params[0], out=empty_array(sig.results[0]))]
    if count > FEW:
        memory = np.empty(count * (sizeof(char*) + 1), dtype=np.uint8)
        at = <char**>cnp.PyArray_DATA(<cnp.ndarray>memory)
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


# ---- a few nodes at once

cdef enum:
    MOST_FEW = 4096         # nodes that are looked at
    FEW_BYTES = 1 << 15     # of operands and results

cdef char* WANTED = <char*>1    # where a value will lie that is to be computed


cdef list compute_few(Graph graph, list outputs, int32_t start):
    """The values of these operands, of which none before `start` is to be computed; None where that takes long.

    As a program for them gives (`hoad._core.lower.lower`), which takes longer to make than a few small steps to do.
    """
    cdef int32_t high = start
    cdef int32_t i
    cdef int64_t nbytes = 0
    cdef char* memory = NULL
    for i in outputs:
        high = max(high, i + 1)
    high = past_results(graph, high)
    cdef size_t size = (high - start) * sizeof(char*)
    if high - start > MOST_FEW:
        return None
    cdef char** at = <char**>required(take_zeroed(size))
    try:
        nbytes = mark_few(graph, outputs, start, high, at)
        if nbytes < 0:
            return None
        memory = <char*>required(take(nbytes))
        run_few(graph, start, high, at, memory)
        return [given(graph, <int32_t>x, start, at) for x in outputs]
    finally:
        give(memory, nbytes)
        give(at, size)


cdef inline bint passes_on(uint16_t op) noexcept:
    """Whether a node has the value of its first operand."""
    return op == OP_IDENTITY or op == OP_STOP or op == OP_SMOOTH


cdef int64_t mark_few(Graph graph, list outputs, int32_t start, int32_t high, char** at) except? -1:
    """Mark what is to be computed; the bytes of its arrays, or -1 where it is too much, or takes more than a loop."""
    cdef int32_t i, k, n
    cdef int64_t made = 0
    cdef int64_t read = 0
    cdef Node* node
    cdef Signature sig
    cdef Plan plan
    cdef AbstractValue aval
    cdef const int32_t* operands
    for i in outputs:
        n = operand_aval(graph, i)
        if not is_wanted(graph, i, start, at) or n > AVAL_BOOL and aval_of(n).ndim == 0:
            return -1
    for i in range(high - 1, start - 1, -1):
        if at[i - start] == NULL:
            continue
        node = &graph.nodes[i]
        operands = node_operands(graph, i, &n)
        if node.op == OP_INPUT or node.op == OP_RESULT and graph.nodes[operands[0]].flags & F_VALUED:
            return -1
        if node.op == OP_SMOOTH:
            n = 1
        elif node.flags & F_WIDE and not passes_on(node.op) and node.op != OP_RESULT:
            sig = <Signature>graph.wide_nodes[node.a].sig
            plan = plan_of(sig)
            if n > FEW or plan.kind == K_PYTHON or plan.kind == K_NATIVE:
                return -1
            for aval in sig.results:
                made += bytes_for(aval)
            for aval in sig.avals:
                read += bytes_for(aval)
            if made + read > FEW_BYTES:
                return -1
        for k in range(n):
            if not is_wanted(graph, operands[k], start, at):
                return -1
    return made


cdef inline int64_t bytes_for(AbstractValue aval) noexcept:
    return (aval.size * aval.itemsize + 15) & ~<int64_t>15


cdef inline bint is_wanted(Graph graph, int32_t operand, int32_t start, char** at) noexcept:
    """Mark an operand unless its value is known; false for one that is not to be computed."""
    if operand >= 0 and not graph.nodes[operand].flags & F_VALUED:
        if operand < start:
            return False
        at[operand - start] = WANTED
    return True


cdef inline char* value_at(Graph graph, int32_t operand, int32_t start, char** at, char* truth) noexcept:
    """Where the value of an operand lies; numbers lie in their slots, booleans are copied to `truth`."""
    if operand < start or at[operand - start] == NULL or operand_aval(graph, operand) <= AVAL_BOOL:
        return address(graph, operand, truth)
    return at[operand - start]


cdef int run_few(Graph graph, int32_t start, int32_t high, char** at, char* memory) except -1:
    """Compute what is marked. Numbers that no array leads to that is computed here are known from then on."""
    cdef int32_t i, n
    cdef Node* node
    cdef const int32_t* operands
    cdef char truth
    cdef bint of_arrays
    cdef double x, y
    for i in range(start, high):
        if at[i - start] != WANTED:
            continue
        node = &graph.nodes[i]
        operands = node_operands(graph, i, &n)
        if operand_aval(graph, i) > AVAL_BOOL and passes_on(node.op):
            at[i - start] = value_at(graph, operands[0], start, at, &truth)
            continue
        if node.flags & F_WIDE and not passes_on(node.op):
            memory = run_one(graph, i, start, at, memory)
            continue
        of_arrays = operands[0] >= start and at[operands[0] - start] != NULL
        if node.op == OP_ITEM:
            x = (<double*>value_at(graph, operands[0], start, at, &truth))[node.b]
        else:
            x = scalar_value(graph, operands[0])
            if passes_on(node.op):
                pass
            elif n == 1:
                x = INFO[node.op].f1(x)
            else:
                y = scalar_value(graph, operands[1])
                of_arrays = of_arrays or operands[1] >= start and at[operands[1] - start] != NULL
                if of_arrays and node.op == OP_POWER and operands[1] < 0 and y == 2.0:
                    x = x * x       # as a program does
                else:
                    x = INFO[node.op].f2(x, y)
        graph.slots[i].d = x
        at[i - start] = <char*>&graph.slots[i].d if of_arrays else NULL
        if not of_arrays:
            node.flags |= F_VALUED
    return 0


cdef char* run_one(Graph graph, int32_t i, int32_t start, char** at, char* memory) except NULL:
    """Compute the results of a node on arrays, from `memory` on; gives where the rest of it begins."""
    cdef char* origins[FEW]
    cdef char truths[FEW]
    cdef char* places[MOST_RESULTS]
    cdef char made[MOST_RESULTS]
    cdef int32_t k, n
    cdef int failure
    cdef const int32_t* operands = node_operands(graph, i, &n)
    cdef Signature sig = <Signature>graph.wide_nodes[graph.nodes[i].a].sig
    cdef Plan plan = plan_of(sig)
    cdef AbstractValue aval
    for k in range(n):
        origins[k] = value_at(graph, operands[k], start, at, &truths[k])
    if plan.is_copy:
        at[i - start] = origins[0]
        return memory
    for k in range(sig.primitive.nout):
        aval = sig.results[k]
        at[i + k - start] = <char*>&graph.slots[i + k].d
        if aval.number > AVAL_BOOL:
            at[i + k - start] = memory
            memory += bytes_for(aval)
        places[k] = &made[k] if aval.number == AVAL_BOOL else at[i + k - start]
    failure = plan.run(origins, places, 1)
    if failure:
        raise_failure(failure)
    for k in range(sig.primitive.nout):
        if places[k] == &made[k]:
            graph.slots[i + k].d = made[k] != 0
    return memory


cdef object given(Graph graph, int32_t operand, int32_t start, char** at):
    """The value of an operand as the caller may keep it."""
    cdef AbstractValue aval = aval_of(operand_aval(graph, operand))
    if aval.number == AVAL_FLOAT:
        return scalar_value(graph, operand)
    if aval.number == AVAL_BOOL:
        return scalar_value(graph, operand) != 0
    cdef object made = empty_array(aval)
    memcpy(cnp.PyArray_DATA(<cnp.ndarray>made), value_at(graph, operand, start, at, NULL), aval.size * aval.itemsize)
    return made


# ---- one node

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
