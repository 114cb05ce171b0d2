"""Operations that sweeps build out of others: signs, zeros, items of arrays and arrays of items."""

import numpy as np

cimport numpy as cnp

from hoad._core.sweep.flags cimport first_operand, is_sloped, is_strong
from hoad._core.sweep.hash_consing cimport NOTHING
from hoad._core.graph.primitive cimport Signature, primitive_of
from hoad._core.graph.tape cimport (
    AVAL_BOOL, AVAL_FLOAT, F_SLOPED, F_STRONG, OP_ASSEMBLE, OP_BROADCAST_TO, OP_IDENTITY, OP_ITEM, OP_NEGATIVE, ZERO,
    AbstractValue, Node, WideNode, aval_of, operand_aval, uint16_t,
)

from hoad._core.graph.primitive import make_signature

cnp.import_array()

cdef double NAN = float("nan")
cdef int32_t negative(Appender builder, int32_t a) except? -1:
    cdef int32_t aval = operand_aval(builder.graph, a)
    if aval == AVAL_FLOAT:
        return builder.emit(OP_NEGATIVE, a, 0)
    return builder.emit_wide(primitive_of(OP_NEGATIVE), None, &a, 1, aval)


cdef int32_t broadcast(Appender builder, int32_t operand, int32_t aval) except? -1:
    """`operand` at the shape of `aval`."""
    if operand == ZERO or operand_aval(builder.graph, operand) == aval:
        return operand
    return builder.emit_wide(primitive_of(OP_BROADCAST_TO), (aval_of(aval).shape,), &operand, 1, aval)


cdef int32_t ones(Graph graph, int32_t aval) except? -1:
    """A constant of ones."""
    if aval == AVAL_FLOAT:
        return graph.const_float(1.0)
    return graph.const_object(np.ones(aval_of(aval).shape, aval_of(aval).dtype))


cdef int32_t item(Appender builder, int32_t x, int32_t offset) except? -1:
    """x.ravel()[offset] of a float64 array."""
    cdef Node* node
    cdef WideNode* wide
    cdef int32_t inner
    if x == ZERO:
        return ZERO
    if x < 0:
        return builder.graph.const_float((<double*>cnp.PyArray_DATA(
            <cnp.ndarray>builder.graph.consts[~x].value.o))[offset])
    if builder.simplify:
        node = &builder.graph.nodes[x]
        if node.op == OP_BROADCAST_TO:
            inner = first_operand(builder.graph, x)
            if operand_aval(builder.graph, inner) == AVAL_FLOAT:
                return inner
        elif node.op == OP_ASSEMBLE:
            wide = &builder.graph.wide_nodes[node.a]
            inner = assembled_item((<Signature>wide.sig).params, builder.graph.pool + wide.first, offset)
            if inner != NOTHING:
                return inner
    return builder.push(OP_ITEM, x, offset)


# Assemblies of few operands: what is added at which places, and the abstract values -> their signature, with its plan.
cdef dict ASSEMBLIES = {}

cdef enum:
    MOST_KEYED = 8          # operands
    MOST_ASSEMBLIES = 512


cdef int32_t assemble(Appender builder, int32_t aval, const int32_t* operands, int32_t count, object offsets,
                      object parts) except? -1:
    """Zeros of `aval` with items added at flat offsets and then parts; see `Plan.set_assembly`."""
    cdef int32_t i
    cdef uint16_t flags = F_STRONG
    cdef Signature sig = None
    cdef tuple key = None
    if count <= MOST_KEYED:
        key = (aval, offsets.tobytes(), parts, *[operand_aval(builder.graph, operands[i]) for i in range(count)])
        sig = ASSEMBLIES.get(key)
    if sig is None:
        avals = tuple([aval_of(operand_aval(builder.graph, operands[i])) for i in range(count)])
        sig = make_signature(primitive_of(OP_ASSEMBLE), (offsets, parts), avals, (aval_of(aval),))
        if key is not None:
            if len(ASSEMBLIES) >= MOST_ASSEMBLIES:
                ASSEMBLIES.clear()
            ASSEMBLIES[key] = sig
    # where every item is given, and none is strong, there is no zero that an index left
    if len(parts) == 0 and count == aval_of(aval).size:
        for i in range(count):
            if is_strong(builder.graph, operands[i]):
                break
        else:
            flags = 0
    return builder.graph.push_wide(OP_ASSEMBLE, flags, sig, operands, count, aval)


cdef int32_t copy(Appender builder, int32_t operand) except? -1:
    """A node of its own for `operand`."""
    cdef int32_t aval = operand_aval(builder.graph, operand)
    cdef uint16_t flags = (F_STRONG if is_strong(builder.graph, operand) else 0) | (
        F_SLOPED if is_sloped(builder.graph, operand) else 0)
    if aval <= AVAL_BOOL:
        return builder.graph.push(OP_IDENTITY, flags, operand, 0, NAN)
    return builder.graph.push_wide(OP_IDENTITY, flags, None, &operand, 1, aval)


cdef int32_t noted(Appender builder, int32_t operand, int32_t swept, int32_t target, int32_t part) except? -1:
    """Note that `operand` is the `part` of a derivative of `target`; unsimplified, it gets a node of its own."""
    cdef bint taken = operand < builder.graph.notes_start or builder.graph.is_noted(operand)
    if taken and not builder.simplify:
        operand = copy(builder, operand)
        taken = False
    if not taken:
        builder.graph.note(operand, swept, target, part)
    return operand


cdef int32_t zeros(Graph graph, int32_t aval) except? -1:
    """A constant of zeros, for a derivative that does not depend on its input at all."""
    cdef AbstractValue kind = aval_of(aval)
    if aval == AVAL_FLOAT:
        return graph.const_float(0.0)
    return graph.const_object(np.zeros(kind.shape, kind.dtype if kind.inexact else np.float64))


cdef int32_t assembled_item(tuple params, const int32_t* operands, int32_t offset) except? -2:
    """The one operand an assembly of distinct items holds at `offset`, ZERO for none, NOTHING if not that simple."""
    cdef cnp.ndarray offsets = params[0]
    cdef cnp.npy_int64* at = <cnp.npy_int64*>cnp.PyArray_DATA(offsets)
    cdef Py_ssize_t n = (<object>offsets).size
    cdef Py_ssize_t low = 0
    cdef Py_ssize_t high = n
    cdef Py_ssize_t middle
    if len(params[1]) or n == 0:
        return NOTHING
    while low < high:
        middle = (low + high) // 2
        if at[middle] < offset:
            low = middle + 1
        else:
            high = middle
    if low == n or at[low] != offset:
        return ZERO
    return operands[low]
