"""What an operation is without a new node, or in simpler operations.

Every identity is exact in IEEE arithmetic, but for the joining of integer factors, which changes rounding only, and for
the sign of a zero that terms of one sign cancel to. A constant 0.0 is never folded away: ``0.0 * inf`` is nan.

Functions give an operand, ZERO where the result is the symbolic zero, and NOTHING where nothing is known.
"""

from hoad._core.ops.eager cimport compute
from hoad._core.sweep.derived cimport broadcast, negative
from hoad._core.sweep.flags cimport (
    first_operand, has_no_zero, holds, is_const, is_integral, is_number, is_op, is_product, is_strong,
)
from hoad._core.sweep.hash_consing cimport NOTHING
from hoad._core.graph.primitive cimport INFO, Signature, primitive_of, signature
from hoad._core.graph.tape cimport (
    ARITY, AVAL_BOOL, AVAL_FLOAT, F_WIDE, OP_ADD, OP_BROADCAST_TO, OP_COMPLEX, OP_CONJUGATE, OP_DIVIDE, OP_IDENTITY,
    OP_IMAG, OP_LOGICAL_NOT, OP_MASK, OP_MULTIPLY, OP_NEGATIVE, OP_POWER, OP_REAL, OP_SELECT, OP_SQUARE,
    OP_STRONG_DIVIDE, OP_STRONG_MULTIPLY, OP_STRONG_MULTIPLY_BOTH, OP_SUBTRACT, OP_TRANSPOSE, ZERO,
    AbstractValue, aval_of, node_operands, operand_aval,
)

cdef enum:
    MOST_FOLDED = 4         # operands of an operation on constants

# ---- zeros

cdef uint16_t strengthen(Graph graph, uint16_t op, int32_t* a, int32_t* b) except? 0:
    """A product with a strong zero is `strong_multiply`, the strong factor first; a quotient is `strong_divide`.

    One of two strong zeros is `strong_multiply_both`. Integers need neither: nothing among them is infinite.
    """
    if (op == OP_MULTIPLY or op == OP_DIVIDE) and of_integers(graph, a[0]):
        return op
    if op == OP_MULTIPLY:
        if is_strong(graph, a[0]):
            return OP_STRONG_MULTIPLY_BOTH if is_strong(graph, b[0]) else OP_STRONG_MULTIPLY
        if is_strong(graph, b[0]):
            a[0], b[0] = b[0], a[0]
            return OP_STRONG_MULTIPLY
    elif op == OP_STRONG_MULTIPLY and a[0] >= 0 and is_strong(graph, b[0]):
        return OP_STRONG_MULTIPLY_BOTH
    elif op == OP_DIVIDE and is_strong(graph, a[0]):
        return OP_STRONG_DIVIDE
    elif op == OP_STRONG_MULTIPLY and has_no_zero(graph, a[0]):
        return OP_MULTIPLY
    elif op == OP_STRONG_DIVIDE and has_no_zero(graph, a[0]):
        return OP_DIVIDE
    return op


cdef bint of_integers(Graph graph, int32_t operand) except -1:
    cdef AbstractValue aval = aval_of(operand_aval(graph, operand))
    return not aval.is_float64 and aval.dtype.kind in "iu"


cdef int32_t decided_by_zeros(Appender builder, Primitive primitive, const int32_t* operands, int32_t count,
                              int32_t aval) except? -1:
    """The result if symbolic zeros among the operands decide it."""
    cdef int32_t i
    cdef int32_t zeros = 0
    cdef int op = primitive.op
    for i in range(count):
        zeros += operands[i] == ZERO
    if not zeros:
        return NOTHING
    if op == OP_ADD or op == OP_SUBTRACT:
        if zeros == 2:
            return ZERO
        i = operands[1] if operands[0] == ZERO else operands[0]
        i = negative(builder, i) if op == OP_SUBTRACT and operands[0] == ZERO else i
        return broadcast(builder, i, aval)
    if op == OP_SELECT:
        return masked(builder, operands, aval)
    if zeros == count and (INFO[op].linear or INFO[op].f1 == NULL):     # but not cos(0)
        return ZERO
    if INFO[op].multilinear or op == OP_MASK or (
            operands[0] == ZERO and (op == OP_DIVIDE or op == OP_STRONG_DIVIDE or op == OP_STRONG_MULTIPLY)):
        return ZERO
    for i in range(count):
        if operands[i] == ZERO and i in primitive.linear_in:
            return ZERO
    if not INFO[op].linear:
        raise ArithmeticError(f"{primitive.name} of a symbolic zero; a rule must be linear in g")
    raise ArithmeticError(f"{primitive.name} of some symbolic zeros")


cdef int32_t masked(Appender builder, const int32_t* operands, int32_t aval) except? -1:
    """select(c, x, y) with a symbolic zero for x or y (or both)."""
    cdef int32_t pair[2]
    cdef int32_t kind = operand_aval(builder.graph, operands[0])
    if operands[1] == ZERO and operands[2] == ZERO:
        return ZERO
    pair[0] = operands[0]
    pair[1] = operands[1]
    if operands[1] == ZERO:
        if kind == AVAL_BOOL:
            pair[0] = builder.emit(OP_LOGICAL_NOT, operands[0], 0)
        else:
            pair[0] = builder.emit_wide(primitive_of(OP_LOGICAL_NOT), None, operands, 1, kind)
        pair[1] = operands[2]
    if aval == AVAL_FLOAT and both_scalar(builder.graph, pair):
        return builder.emit(OP_MASK, pair[0], pair[1])
    return broadcast(builder, builder.emit_wide(primitive_of(OP_MASK), None, pair, 2, aval), aval)


cdef bint both_scalar(Graph graph, const int32_t* operands) noexcept:
    return operand_aval(graph, operands[0]) <= AVAL_BOOL and operand_aval(graph, operands[1]) <= AVAL_BOOL


# ---- numbers and arrays alike

cdef int32_t simplified(Appender builder, uint16_t op, const int32_t* operands, int32_t count,
                        int32_t aval) except? -1:
    """What an operation, element by element, is without a new node of its own."""
    cdef Graph graph = builder.graph
    cdef int32_t a = operands[0]
    cdef int32_t b = operands[1] if count > 1 else a
    cdef int32_t of_a = operand_aval(graph, a)
    cdef int32_t of_b = operand_aval(graph, b)
    cdef bint numbers = aval <= AVAL_BOOL and count <= 2 and of_a <= AVAL_BOOL and of_b <= AVAL_BOOL
    cdef int32_t x
    x = equal_operand(graph, op, a, b, operands)
    if x == ZERO or x != NOTHING and operand_aval(graph, x) == aval:
        return x
    if (op == OP_ADD or op == OP_SUBTRACT) and is_op(graph, b, OP_NEGATIVE):
        x = first_operand(graph, b)
        if operand_aval(graph, x) == aval or of_a == aval:
            return append_pair(builder, OP_SUBTRACT if op == OP_ADD else OP_ADD, a, x, aval)
    elif op == OP_POWER and holds(graph, b, 2.0) and of_a == aval:
        return append_pair(builder, OP_SQUARE, a, ZERO, aval)
    if numbers:
        return simplified_number(builder, op, a, b, of_a == AVAL_BOOL or of_b == AVAL_BOOL)
    return folded_complex(builder, primitive_of(op), operands, count, aval)


cdef int32_t equal_operand(Graph graph, uint16_t op, int32_t a, int32_t b, const int32_t* operands) except? -1:
    """The operand, or operand of an operand, that the result equals in value."""
    cdef int32_t count
    if is_product(op):
        if holds(graph, a, 1.0):
            return b
        return a if holds(graph, b, 1.0) else <int32_t>NOTHING
    if op == OP_DIVIDE or op == OP_STRONG_DIVIDE or op == OP_POWER:
        return a if holds(graph, b, 1.0) else <int32_t>NOTHING
    if op == OP_NEGATIVE:
        return first_operand(graph, a) if is_op(graph, a, OP_NEGATIVE) else <int32_t>NOTHING
    if op == OP_MASK and is_const(graph, a):
        return b if graph.consts[~a].value.d != 0 else <int32_t>ZERO
    if op == OP_SELECT and is_const(graph, a):
        return b if graph.consts[~a].value.d != 0 else operands[2]
    if op < OP_SQUARE:      # the others have numbers of their own
        return NOTHING
    if op == OP_COMPLEX and is_op(graph, a, OP_REAL) and is_op(graph, b, OP_IMAG):
        a = first_operand(graph, a)
        return a if a == first_operand(graph, b) else <int32_t>NOTHING
    if (op == OP_REAL or op == OP_IMAG) and is_op(graph, a, OP_COMPLEX):
        return node_operands(graph, a, &count)[1 if op == OP_IMAG else 0]
    if op == OP_CONJUGATE and is_op(graph, a, OP_CONJUGATE):
        return first_operand(graph, a)
    return NOTHING


cdef int32_t append_pair(Appender builder, uint16_t op, int32_t a, int32_t b, int32_t aval) except? -1:
    """``op(a, b)``; ``op(a)`` if b is ZERO."""
    cdef int32_t operands[2]
    cdef int32_t avals[2]
    cdef int32_t count = 1 if b == ZERO else 2
    operands[0] = a
    operands[1] = b
    avals[0] = operand_aval(builder.graph, a)
    avals[1] = avals[0] if b == ZERO else operand_aval(builder.graph, b)
    if aval == AVAL_FLOAT and avals[0] <= AVAL_BOOL and avals[1] <= AVAL_BOOL:
        return builder.emit(op, a, 0 if b == ZERO else b)
    return builder.push_wide(signature(primitive_of(op), None, avals, count), operands, count)


# ---- numbers

cdef int32_t simplified_number(Appender builder, uint16_t op, int32_t a, int32_t b, bint has_boolean) except? -1:
    """``op(a, b)`` on numbers, a twice if there is one operand: constants are folded, signs move outward.

    In arrays a sign stays where it is: moved outward, it may have to be applied to more items.
    """
    cdef Graph graph = builder.graph
    if a < 0 and b < 0 and op != OP_IDENTITY:
        return folded(graph, op, a, b)
    if has_boolean:
        return NOTHING         # 1.0 times a boolean is a float, and so a node
    if op == OP_MULTIPLY:
        return product(builder, a, b)
    if op == OP_STRONG_MULTIPLY or op == OP_STRONG_MULTIPLY_BOTH or op == OP_DIVIDE or op == OP_STRONG_DIVIDE:
        return signed(builder, op, a, b)
    if op == OP_ADD and is_op(graph, a, OP_NEGATIVE):
        return builder.emit(OP_SUBTRACT, b, first_operand(graph, a))
    if op == OP_POWER and is_number(graph, b, 0.0):
        return graph.const_float(1.0)
    if op == OP_POWER and is_number(graph, b, -1.0):
        return builder.push(OP_DIVIDE, graph.const_float(1.0), a)
    return NOTHING


cdef int32_t folded(Graph graph, uint16_t op, int32_t a, int32_t b) except? -1:
    """An operation on constants."""
    cdef double x = graph.consts[~a].value.d
    cdef double y
    if ARITY[op] == 1:
        if INFO[op].f1 == NULL:
            return NOTHING
        x = INFO[op].f1(x)
    else:
        if INFO[op].f2 == NULL:
            return NOTHING
        y = graph.consts[~b].value.d
        x = INFO[op].f2(x, y)
    return graph.const_bool(x != 0) if INFO[op].is_bool else graph.const_float(x)


cdef int32_t product(Appender builder, int32_t a, int32_t b) except? -1:
    cdef Graph graph = builder.graph
    cdef int32_t inner
    if b < 0:
        a, b = b, a
    if a < 0:
        if graph.consts[~a].value.d == -1.0:
            return negative(builder, b)
        if is_op(graph, b, OP_MULTIPLY) and not graph.nodes[b].flags & F_WIDE and is_integral(graph, a):
            inner = graph.nodes[b].a
            if is_integral(graph, inner):
                return builder.emit(OP_MULTIPLY, folded(graph, OP_MULTIPLY, a, inner), graph.nodes[b].b)
        if is_op(graph, b, OP_NEGATIVE):
            return builder.emit(OP_MULTIPLY, folded(graph, OP_NEGATIVE, a, 0), first_operand(graph, b))
        return NOTHING
    if is_op(graph, a, OP_NEGATIVE) and is_op(graph, b, OP_NEGATIVE):
        return builder.emit(OP_MULTIPLY, first_operand(graph, a), first_operand(graph, b))
    if a == b:
        return builder.push(OP_SQUARE, a, 0)
    return signed(builder, OP_MULTIPLY, a, b)


cdef int32_t signed(Appender builder, uint16_t op, int32_t a, int32_t b) except? -1:
    """A product or quotient of which one operand has a sign."""
    cdef Graph graph = builder.graph
    if is_number(graph, b, -1.0):
        return negative(builder, a)
    if op == OP_STRONG_MULTIPLY_BOTH and has_no_zero(graph, a):
        return builder.emit(OP_MULTIPLY, a, b)
    if is_op(graph, a, OP_NEGATIVE):
        return negative(builder, builder.emit(op, first_operand(graph, a), b))
    if is_op(graph, b, OP_NEGATIVE):
        return negative(builder, builder.emit(op, a, first_operand(graph, b)))
    return NOTHING


# ---- arrays

cdef int32_t folded_complex(Appender builder, Primitive primitive, const int32_t* operands, int32_t count,
                            int32_t aval) except? -1:
    """What an operation on constants gives, where that is one complex number."""
    cdef int32_t avals[MOST_FOLDED]
    cdef int32_t i
    if primitive.nout > 1 or count > MOST_FOLDED or not aval_of(aval).is_complex or aval_of(aval).ndim:
        return NOTHING
    for i in range(count):
        if operands[i] >= 0:
            return NOTHING
        avals[i] = operand_aval(builder.graph, operands[i])
    cdef Signature sig = signature(primitive, None, avals, count)
    return builder.graph.const_object(compute(builder.graph, sig, operands, count)[0])


cdef int skip_broadcasts(Graph graph, int32_t* operands, int32_t count, int32_t aval) except -1:
    """Use what a broadcast operand was made of, where the operation broadcasts it anyway."""
    cdef int32_t i, k, inner
    cdef bint full
    for i in range(count):
        if not is_op(graph, operands[i], OP_BROADCAST_TO):
            continue
        inner = first_operand(graph, operands[i])
        full = operand_aval(graph, inner) == aval
        for k in range(count):
            full = full or (k != i and aval_of(operand_aval(graph, operands[k])).shape == aval_of(aval).shape)
        if full:
            operands[i] = inner
    return 0


cdef int32_t transposed_back(Graph graph, uint16_t op, object params, int32_t operand) except? -1:
    """What is transposed twice and so not at all, as a matrix is in the adjoint of an adjoint."""
    if op != OP_TRANSPOSE or not is_op(graph, operand, OP_TRANSPOSE):
        return NOTHING
    cdef Signature sig = <Signature>graph.wide_nodes[graph.nodes[operand].a].sig
    for k, axis in enumerate(params[0]):
        if sig.params[0][axis] != k:
            return NOTHING
    return first_operand(graph, operand)
