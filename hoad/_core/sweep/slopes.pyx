"""Products of slopes of absolute values: of slope(x) with itself, 1 also at x = 0.

The derivative of |x| is s = slope(x), the sign of x. At 0 it represents both sides, ±1, and its value is their mean, 0.
A derivative of an even order has products s s, which are 1 on either side, and so is their mean: |x|² has the second
derivative 2 s s = 2 also at 0. So a factor with s is split into u + s v, and

    (u + s v) (u' + s v') = (u u' + v v') + s (u v' + v u').

What is linear in derivatives is all that a sweep emits, so factors are looked for through sums, products and quotients,
element by element. This is exact where x is not 0: a product with ±1 does not round.
"""

from hoad._core.sweep.derived cimport broadcast, negative, ones
from hoad._core.sweep.flags cimport is_sloped
from hoad._core.sweep.hash_consing cimport NOTHING
from hoad._core.graph.primitive cimport Signature, primitive_of, signature
from hoad._core.graph.tape cimport (
    AVAL_BOOL, AVAL_FLOAT, F_SLOPED, F_WIDE, OP_ADD, OP_DIVIDE, OP_IDENTITY, OP_INPUT, OP_ITEM, OP_MASK, OP_MULTIPLY,
    OP_NEGATIVE, OP_RESULT, OP_SLOPE, OP_STRONG_DIVIDE, OP_STRONG_MULTIPLY, OP_STRONG_MULTIPLY_BOTH, OP_SUBTRACT, ZERO,
    AbstractValue, Graph, aval_of, node_operands, operand_aval, uint16_t,
)

cdef enum:
    ONE = -2147483645           # the number 1, of any shape and dtype
    FEW_VISITED = 16            # nodes of a factor in which any slope is looked for
    MOST_VISITED = 256          # in all for those that are the same node
    DEPTH = 6                   # of the expressions that are compared
    MOST_SLOPES = 8             # of one factor


# ---- finding slopes

cdef bint is_same(Graph graph, int32_t a, int32_t b, int32_t depth) noexcept:
    """Whether two operands have the same value, because the same is done to the same: nodes are not always shared."""
    cdef int32_t k, n_a, n_b
    if a == b:
        return True
    if ZERO < a < 0 and ZERO < b < 0 and graph.consts[~a].aval == graph.consts[~b].aval == AVAL_FLOAT:
        return graph.consts[~a].value.d == graph.consts[~b].value.d
    if a < 0 or b < 0 or not depth or graph.nodes[a].op != graph.nodes[b].op or graph.nodes[a].op == OP_INPUT:
        return False
    if operand_aval(graph, a) != operand_aval(graph, b):
        return False
    if graph.nodes[a].flags & F_WIDE:
        if graph.wide_nodes[graph.nodes[a].a].sig != graph.wide_nodes[graph.nodes[b].a].sig:
            return False
    elif graph.nodes[a].op == OP_ITEM and graph.nodes[a].b != graph.nodes[b].b:
        return False
    cdef const int32_t* of_a = node_operands(graph, a, &n_a)
    cdef const int32_t* of_b = node_operands(graph, b, &n_b)
    if n_a != n_b or n_a == 0 or graph.nodes[a].op == OP_RESULT:
        return False
    for k in range(n_a):
        if not is_same(graph, of_a[k], of_b[k], depth - 1):
            return False
    return True


cdef struct Search:
    int32_t found[MOST_SLOPES]
    int32_t count
    int32_t left            # nodes that may still be visited


cdef int collect(Graph graph, int32_t operand, Search* search) noexcept:
    """Find the slopes that `operand` is a product with, or a sum of products."""
    cdef int32_t k, n
    search.left -= 1
    if operand < 0 or search.left < 0 or not graph.nodes[operand].flags & F_SLOPED:
        return 0
    cdef uint16_t op = graph.nodes[operand].op
    if op == OP_SLOPE:
        for k in range(search.count):
            if search.found[k] == operand:
                return 0
        if search.count == MOST_SLOPES:
            search.left = -1
            return 0
        search.found[search.count] = operand
        search.count += 1
        return 0
    cdef const int32_t* operands = node_operands(graph, operand, &n)
    for k in range(n):
        if is_factor(op, k):
            collect(graph, operands[k], search)
    return 0


cdef bint has(Graph graph, int32_t operand, int32_t slope, int32_t* left) noexcept:
    """Whether `operand` has this very node as a factor: one that is older has not. All of it is visited."""
    cdef int32_t k, n
    cdef bint found = operand == slope
    left[0] -= 1
    if operand <= slope or left[0] < 0 or not graph.nodes[operand].flags & F_SLOPED:
        return found
    cdef const int32_t* operands = node_operands(graph, operand, &n)
    for k in range(n):
        if is_factor(graph.nodes[operand].op, k) and has(graph, operands[k], slope, left):
            found = True
    return found


cdef inline bint is_factor(uint16_t op, int32_t k) noexcept:
    """Whether an operation is linear in its operand k, given the others."""
    if op == OP_DIVIDE or op == OP_STRONG_DIVIDE:
        return k == 0
    if op == OP_MASK:
        return k == 1
    return (op == OP_MULTIPLY or op == OP_STRONG_MULTIPLY or op == OP_STRONG_MULTIPLY_BOTH or op == OP_ADD
            or op == OP_SUBTRACT or op == OP_NEGATIVE or op == OP_IDENTITY)


cdef int32_t common_slope(Graph graph, int32_t a, int32_t b, int32_t few, int32_t* oldest) noexcept:
    """A slope in both, or NOTHING; nodes before the `oldest` need not be looked at.

    In factors of `few` nodes slopes of equal numbers are found; in a longer one it must be the same node.
    """
    cdef Search of_a, of_b
    cdef int32_t i, k, left
    of_a.count = of_b.count = 0
    of_a.left = of_b.left = few
    oldest[0] = 0
    collect(graph, a, &of_a)
    collect(graph, b, &of_b)
    if of_a.left >= 0 and of_b.left >= 0:
        for i in range(of_a.count):
            for k in range(of_b.count):
                if is_same(graph, of_a.found[i], of_b.found[k], DEPTH):
                    return of_a.found[i]
        return NOTHING
    if of_b.left < 0:
        a, b, of_b = b, a, of_a
    for k in range(of_b.count):
        left = MOST_VISITED
        if has(graph, a, of_b.found[k], &left) and has(graph, b, of_b.found[k], &left):
            oldest[0] = of_b.found[k]
            return of_b.found[k] if left >= 0 else NOTHING
    return NOTHING


# ---- operations on what may be ZERO or ONE

cdef int32_t apply(Appender builder, uint16_t op, int32_t a, int32_t b) except? -1:
    """Emit ``op(a, b)``."""
    cdef int32_t operands[2]
    cdef int32_t avals[2]
    avals[0] = operand_aval(builder.graph, a)
    avals[1] = operand_aval(builder.graph, b)
    if avals[0] <= AVAL_BOOL and avals[1] <= AVAL_BOOL:
        return builder.emit(op, a, b)
    operands[0] = a
    operands[1] = b
    cdef Signature sig = signature(primitive_of(op), None, avals, 2)
    return builder.emit_wide(sig.primitive, None, operands, 2, (<AbstractValue>sig.results[0]).number)


cdef int32_t times(Appender builder, uint16_t op, int32_t a, int32_t b) except? -1:
    """The product, strong or not."""
    if a == ZERO or b == ZERO:
        return ZERO
    if a == ONE:
        return b
    return a if b == ONE else apply(builder, op, a, b)


cdef int32_t plus(Appender builder, uint16_t op, int32_t a, int32_t b) except? -1:
    """The sum or difference of numbers."""
    if b == ZERO:
        return a
    if a == ZERO:
        return b if op == OP_ADD else negative(builder, b)
    return apply(builder, op, a, b)


cdef int32_t spelled_out(Graph graph, int32_t operand, int32_t aval) except? -1:
    """`operand`, as an array of this abstract value if it is ONE."""
    return ones(graph, aval) if operand == ONE else operand


# ---- u + s v

cdef int split(Appender builder, int32_t x, int32_t slope, int32_t oldest, int32_t* even, int32_t* odd) except -1:
    """Write x as ``even + slope odd``; ZERO or ONE for either."""
    cdef int32_t operands[2]
    cdef int32_t parts[4]       # even and odd of the first operand, and of the second
    cdef int32_t k, n
    even[0] = x
    odd[0] = ZERO
    if x < oldest or not is_sloped(builder.graph, x):
        return 0
    if builder.graph.nodes[x].op == OP_SLOPE:
        if not is_same(builder.graph, x, slope, DEPTH):
            return 0
        even[0] = ZERO
        odd[0] = ONE
        return 0
    cdef uint16_t op = builder.graph.nodes[x].op
    if not (is_factor(op, 0) or is_factor(op, 1)):
        return 0
    cdef const int32_t* found = node_operands(builder.graph, x, &n)
    for k in range(n):
        operands[k] = found[k]      # the table may move
    for k in range(n):
        parts[2 * k] = operands[k]
        parts[2 * k + 1] = ZERO
        if is_factor(op, k):
            split(builder, operands[k], slope, oldest, &parts[2 * k], &parts[2 * k + 1])
    if parts[1] == ZERO and (n == 1 or parts[3] == ZERO):
        return 0
    if op == OP_ADD or op == OP_SUBTRACT:
        for k in range(4):
            parts[k] = spelled_out(builder.graph, parts[k], operand_aval(builder.graph, slope))
        even[0] = plus(builder, op, parts[0], parts[2])
        odd[0] = plus(builder, op, parts[1], parts[3])
    elif n == 1:
        for k in range(2):
            parts[k] = spelled_out(builder.graph, parts[k], operand_aval(builder.graph, slope))
        even[0] = parts[0] if op == OP_IDENTITY or parts[0] == ZERO else negative(builder, parts[0])
        odd[0] = parts[1] if op == OP_IDENTITY else negative(builder, parts[1])
    elif op == OP_MULTIPLY or op == OP_STRONG_MULTIPLY or op == OP_STRONG_MULTIPLY_BOTH:
        expand(builder, op, parts, even, odd)
    else:       # linear in the one that has slopes
        k = 1 if op == OP_MASK else 0
        even[0] = linear(builder, op, k, parts[2 * k], operands[1 - k], slope)
        odd[0] = linear(builder, op, k, parts[2 * k + 1], operands[1 - k], slope)
    return 0


cdef int32_t linear(Appender builder, uint16_t op, int32_t k, int32_t part, int32_t other, int32_t slope) except? -1:
    """A quotient, or a mask, of a part."""
    if part == ZERO:
        return ZERO
    part = spelled_out(builder.graph, part, operand_aval(builder.graph, slope))
    return apply(builder, op, part, other) if k == 0 else apply(builder, op, other, part)


cdef int expand(Appender builder, uint16_t op, const int32_t* parts, int32_t* even, int32_t* odd) except -1:
    """The product of ``parts[0] + s parts[1]`` and ``parts[2] + s parts[3]``."""
    cdef int32_t a = times(builder, op, parts[0], parts[2])
    cdef int32_t b = times(builder, op, parts[1], parts[3])
    even[0] = b if a == ZERO else a if b == ZERO else plus(builder, OP_ADD, a, b)
    a = times(builder, op, parts[0], parts[3])
    b = times(builder, op, parts[1], parts[2])
    odd[0] = b if a == ZERO else a if b == ZERO else plus(builder, OP_ADD, a, b)
    return 0


cdef int32_t product_of_slopes(Appender builder, int32_t a, int32_t b, int32_t aval) except? -1:
    """``a b``, of abstract value `aval`, without the square of a slope that both have; NOTHING if there is none."""
    cdef int32_t oldest
    # unsimplified, no node is found again
    cdef int32_t few = FEW_VISITED if builder.simplify else MOST_VISITED
    cdef int32_t slope = common_slope(builder.graph, a, b, few, &oldest)
    cdef int32_t parts[4]
    cdef int32_t even, odd
    if slope == NOTHING:
        return NOTHING
    cdef int32_t kind = operand_aval(builder.graph, slope)
    if not (aval_of(kind).dtype is aval_of(aval).dtype is aval_of(operand_aval(builder.graph, a)).dtype
            is aval_of(operand_aval(builder.graph, b)).dtype):
        return NOTHING
    split(builder, a, slope, oldest, &parts[0], &parts[1])
    split(builder, b, slope, oldest, &parts[2], &parts[3])
    if parts[1] == ZERO or parts[3] == ZERO:        # it was found, but cancels there
        return NOTHING
    for odd in range(4):        # a sum takes no ONE: (1 + s v) has its 1 from a square of s
        if parts[odd] == ONE and parts[odd ^ 1] != ZERO:
            parts[odd] = spelled_out(builder.graph, ONE, kind)
    expand(builder, OP_MULTIPLY, parts, &even, &odd)
    if even == ONE and odd == ZERO:
        return spelled_out(builder.graph, ONE, aval)
    even = spelled_out(builder.graph, even, kind)
    if odd != ZERO:
        odd = times(builder, OP_MULTIPLY, odd, slope)
        even = odd if even == ZERO else plus(builder, OP_ADD, even, odd)
    return broadcast(builder, even, aval)
