"""Where a value is 0 whatever the inputs are: what an index or a mask left, and zeros of constants.

Derivatives of functions of spectra need it, where equal eigenvalues make the rest undefined.
"""

import numpy as np

cimport numpy as cnp

from hoad._core.sweep.derived cimport assemble, broadcast, ones
from hoad._core.sweep.flags cimport has_no_zero
from hoad._core.sweep.hash_consing cimport NOTHING
from hoad._core.graph.primitive cimport INFO, K_STRIDED, Signature, primitive_of
from hoad._core.graph.tape cimport (
    F_WIDE, OP_ADD, OP_ASSEMBLE, OP_ASTYPE, OP_DIVIDE, OP_MASK, OP_MULTIPLY, OP_NEGATIVE, OP_SINGULAR, OP_SPECTRAL,
    OP_STOP, OP_STRONG_DIVIDE, OP_STRONG_MULTIPLY, OP_SUBTRACT, ZERO, aval_of, node_operands, operand_aval,
)

cnp.import_array()

cdef enum:
    MOST_VISITED = 64       # nodes that zeros are looked for in

cdef object with_support(Appender builder, uint16_t op, object params, int32_t* operands):
    """The parameters of a function of a spectrum, with the support of its argument in ``operands[1]`` if known."""
    cdef int32_t left = MOST_VISITED
    if (op != OP_SPECTRAL and op != OP_SINGULAR) or params[0] != 0:
        return params
    cdef int32_t found = support_of(builder, operands[2], &left)
    if found != NOTHING:
        operands[1] = found
    return (0, found != NOTHING, False)


cdef int32_t support_of(Appender builder, int32_t k, int32_t* left) except? -1:
    """An operand that is 0 where `k` is 0 whatever the values are, and nowhere else; NOTHING where none is known.

    An index leaves such zeros, and a mask; a constant has them. What is 0 by chance is not.
    """
    cdef int32_t few[2]
    cdef int32_t i, count
    cdef int32_t aval = operand_aval(builder.graph, k)
    if k < 0:
        if has_no_zero(builder.graph, k):
            return NOTHING
        value = np.asarray(builder.graph.value_of(k))
        return builder.graph.const_object(np.asarray(np.not_equal(value, 0), value.dtype))
    left[0] -= 1
    if left[0] < 0 or not builder.graph.nodes[k].flags & F_WIDE:
        return NOTHING
    cdef uint16_t op = builder.graph.nodes[k].op
    cdef const int32_t* given = node_operands(builder.graph, k, &count)
    operands = [given[i] for i in range(count)]         # the graph grows
    if op == OP_ASSEMBLE or op == OP_MASK:
        for i in range(count):
            few[0] = operands[i]
            if aval_of(operand_aval(builder.graph, few[0])).inexact:
                few[1] = support_of(builder, few[0], left)
                operands[i] = few[1] if few[1] != NOTHING else ones(builder.graph, operand_aval(builder.graph, few[0]))
        return with_operands(builder, k, operands)
    if not count:
        return NOTHING
    few[0] = support_of(builder, operands[0], left)
    if op == OP_STOP or op == OP_NEGATIVE:
        return few[0]
    if INFO[op].kind == K_STRIDED or op == OP_ASTYPE:
        return NOTHING if few[0] == NOTHING else with_operands(builder, k, [few[0]])
    if op == OP_DIVIDE or op == OP_STRONG_DIVIDE:
        return NOTHING if few[0] == NOTHING else broadcast(builder, few[0], aval)
    if op != OP_ADD and op != OP_SUBTRACT and op != OP_MULTIPLY and op != OP_STRONG_MULTIPLY:
        return NOTHING
    few[1] = support_of(builder, operands[1], left)
    if few[0] != NOTHING and few[1] != NOTHING:
        op = OP_ADD if op == OP_SUBTRACT else OP_MULTIPLY if op == OP_STRONG_MULTIPLY else op
        few[0] = broadcast(builder, builder.emit_wide(primitive_of(op), None, few, 2, aval), aval)
        return NOTHING if few[0] == ZERO else few[0]
    if op == OP_ADD or op == OP_SUBTRACT or few[0] == few[1]:
        return NOTHING
    return broadcast(builder, few[0] if few[1] == NOTHING else few[1], aval)


cdef int32_t with_operands(Appender builder, int32_t k, list operands) except? -1:
    """The operation of a node on others; NOTHING where that is zero throughout."""
    cdef Signature sig = <Signature>builder.graph.wide_nodes[builder.graph.nodes[k].a].sig
    cdef cnp.ndarray table = np.array(operands, np.int32)
    cdef const int32_t* at = <int32_t*>cnp.PyArray_DATA(table)
    cdef int32_t count = len(operands)
    cdef int32_t aval = operand_aval(builder.graph, k)
    if sig.primitive.op == OP_ASSEMBLE:
        return assemble(builder, aval, at, count, sig.params[0], sig.params[1])
    k = builder.emit_wide(sig.primitive, sig.params, at, count, aval)
    return NOTHING if k == ZERO else k
