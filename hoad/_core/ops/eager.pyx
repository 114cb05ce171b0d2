"""Computing what is recorded, at once: the values of one node from those of its operands."""

import numpy as np

cimport numpy as cnp

from hoad._core.ops.plan cimport FAILED_SINGULAR, FAILED_WITHIN, Plan, as_value, plan_of, raise_within
from hoad._core.graph.primitive cimport MOST_RESULTS
from hoad._core.graph.tape cimport AVAL_BOOL, AVAL_FLOAT, AbstractValue, Slot, operand_aval
from hoad._core.base.where cimport here

from hoad.errors import DTypeError

cnp.import_array()


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
    if count > FEW:
        room = np.empty(count * (sizeof(char*) + 1), dtype=np.uint8)
        at = <char**>cnp.PyArray_DATA(<cnp.ndarray>room)
        truths = <char*>(at + count)
    for i in range(count):
        at[i] = address(graph, operands[i], &truths[i])
    for i in range(len(sig.results)):
        aval = sig.results[i]
        if aval.number > AVAL_BOOL:
            values.append(empty_array(aval))
            places[i] = <char*>cnp.PyArray_DATA(<cnp.ndarray>values[i])
        else:
            values.append(None)
            places[i] = <char*>&scalars[i]
    cdef Plan plan = plan_of(sig)
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
