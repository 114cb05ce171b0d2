"""Appending nodes to a graph, simplified.

What a sweep emits goes through here: constants are folded, products with one and sums with the symbolic zero vanish,
signs move outward (`simplification`), and what was computed before is found again (`hash_consing`). Products with a
strong zero become `strong_multiply`, those with two `strong_multiply_both`, quotients `strong_divide`.
"""

import numpy as np

cimport cython

from hoad._core.sweep.flags cimport flags_of, holds, is_fraction, is_product, is_sloped, is_special, is_zero
from hoad._core.sweep.hash_consing cimport NOTHING, found_or_pushed
from hoad._core.sweep.simplification cimport (
    both_scalar, decided_by_zeros, folded, simplified, skip_broadcasts, strengthen, transposed_back,
)
from hoad._core.sweep.slopes cimport product_of_slopes
from hoad._core.sweep.support cimport with_support
from hoad._core.graph.primitive cimport INFO, K_UFUNC, Primitive, Signature, primitive_of, signature
from hoad._core.graph.tape cimport (
    ARITY, AVAL_BOOL, AVAL_FLOAT, F_SLOPED, F_STRONG, OP_ADD, OP_MULTIPLY, OP_NEGATIVE, ZERO, Graph, absorbs,
    operand_aval,
)

cdef enum:
    FEW = 16


@cython.final
cdef class Builder(Appender):
    """Appends operations to one graph for the length of one sweep, simplified."""

    cdef int32_t emit(self, uint16_t op, int32_t a, int32_t b) except? -1:
        cdef Graph graph = self.graph
        if self.simplify and not (is_special(graph, a) or is_special(graph, b) or (a == b and op == OP_MULTIPLY)):
            if INFO[op].commutative and a > b:
                a, b = b, a
            return found_or_pushed(self, op, INFO[op].flags, a, b)      # the common case
        return self.emit_special(op, a, b)

    cdef int32_t emit_special(self, uint16_t op, int32_t a, int32_t b) except? -1:
        """As `emit`, for constants, signs, strong zeros and booleans."""
        cdef Graph graph = self.graph
        cdef int arity = ARITY[op]
        cdef uint16_t of_a = flags_of(graph, a)
        cdef uint16_t of_b = flags_of(graph, b) if arity == 2 else 0
        cdef int32_t operands[2]
        cdef int32_t found
        operands[0] = a
        operands[1] = b
        if a == ZERO or (b == ZERO and arity == 2):
            return decided_by_zeros(self, primitive_of(op), operands, arity, AVAL_FLOAT)
        if self.simplify and a < 0 and (b < 0 or arity == 1) and OP_ADD <= op <= OP_NEGATIVE:
            return folded(graph, op, a, b)
        if of_a & of_b & F_SLOPED and is_product(op):
            found = product_of_slopes(self, a, b, AVAL_FLOAT)
            if found != NOTHING:
                return found
        if op == OP_MULTIPLY and self.simplify:
            if b < a:
                operands[0], operands[1] = b, a
            if is_fraction(graph, operands[0]) and not is_special(graph, operands[1]):
                return found_or_pushed(self, op, 0, operands[0], operands[1])    # all that is left to do, and common
        if (of_a | of_b) & F_STRONG or absorbs(op):
            op = strengthen(graph, op, &operands[0], &operands[1])
            if absorbs(op) and holds(graph, operands[0], 0.0):
                return ZERO         # a strong zero stays one
        if self.simplify:
            found = simplified(self, op, operands, arity, AVAL_BOOL if INFO[op].is_bool else AVAL_FLOAT)
            if found != NOTHING:
                return found
        return self.push(op, operands[0], operands[1])

    cdef int inline_rule(self, const ScalarRule* rule, Places* at) except -1:
        """Emit a rule on scalars whose leaves are in their places (ZERO allowed).

        Nodes far back in the graph are not looked at: what matters of them comes with the leaves.
        """
        cdef const RuleStep* step = rule.steps
        cdef int32_t a, b
        cdef int k, _k
        cdef int to = FIRST_LEAF + LEAVES
        at.operand[1] = 0
        at.special[1] = False
        for k in range(rule.n_constants):
            at.operand[to] = self.graph.const_float(rule.constants[k])
            at.special[to] = True
            to += 1
        for _k in range(rule.n_steps):
            a = at.operand[step.a]
            b = at.operand[step.b]
            if at.special[step.a] | at.special[step.b] or (a == b and step.op == OP_MULTIPLY):
                at.operand[to] = self.emit_special(step.op, a, b)
                at.special[to] = is_special(self.graph, at.operand[to])
            else:
                if step.commutative and a > b:
                    a, b = b, a
                at.operand[to] = found_or_pushed(self, step.op, step.flags, a, b)
                at.special[to] = step.special
            to += 1
            step += 1
        return 0

    cdef int32_t emit_wide(self, Primitive primitive, object params, const int32_t* operands, int32_t count,
                           int32_t aval) except? -1:
        cdef int32_t few[FEW]
        cdef int32_t avals[FEW]
        cdef int32_t i
        cdef uint16_t op = primitive.op
        cdef int32_t found = decided_by_zeros(self, primitive, operands, count, aval)
        if found != NOTHING:
            return found
        if count > FEW:
            return self.push_wide(many_signature(self.graph, primitive, params, operands, count), operands, count)
        for i in range(count):
            few[i] = operands[i]
        if primitive.kind == K_UFUNC:
            if count == 2:
                if is_product(op) and is_sloped(self.graph, few[0]) and is_sloped(self.graph, few[1]):
                    found = product_of_slopes(self, few[0], few[1], aval)
                    if found != NOTHING:
                        return found
                op = strengthen(self.graph, op, &few[0], &few[1])
                primitive = primitive_of(op)
                if absorbs(op) and is_zero(self.graph, few[0]):
                    return ZERO
            if self.simplify:
                if aval == AVAL_FLOAT and count == 2 and INFO[op].f2 != NULL and both_scalar(self.graph, few):
                    return self.emit(op, few[0], few[1])
                skip_broadcasts(self.graph, few, count, aval)
                found = simplified(self, op, few, count, aval)
                if found != NOTHING:
                    return found
                if INFO[op].commutative and count == 2 and few[0] > few[1]:
                    few[0], few[1] = few[1], few[0]
        elif self.simplify:
            found = transposed_back(self.graph, op, params, few[0])
            if found != NOTHING:
                return found
        params = with_support(self, op, params, few)
        for i in range(count):
            avals[i] = operand_aval(self.graph, few[i])
        return self.push_wide(signature(primitive, params, avals, count), few, count)


cdef Signature many_signature(Graph graph, Primitive primitive, object params, const int32_t* operands, int32_t count):
    cdef int32_t i
    cdef int32_t[::1] avals = np.empty(count, dtype=np.int32)
    for i in range(count):
        avals[i] = operand_aval(graph, operands[i])
    return signature(primitive, params, &avals[0], count)
