"""Appending nodes to a graph, simplified.

What a sweep emits goes through here: constants are folded, products with one and sums with the symbolic zero vanish,
signs move outward, and what was computed before is found again. Every identity used is exact in IEEE arithmetic, but
for the joining of integer factors, which changes rounding only, and for the sign of a zero that terms of one sign
cancel to. A constant 0.0 is never folded away: ``0.0 * inf`` is nan. Products with a strong zero become
`strong_multiply`, those with two `strong_multiply_both`, quotients `strong_divide`.
"""

import numpy as np

from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree
from libc.math cimport fabs, floor

cimport cython
cimport numpy as cnp

from hoad._core.ops.eager cimport compute
from hoad._core.graph.primitive cimport INFO, K_STRIDED, K_UFUNC, Primitive, Signature, primitive_of, signature
from hoad._core.graph.tape cimport (
    ARITY,
    AVAL_BOOL,
    AVAL_FLOAT,
    F_BOOL,
    F_SLOPED,
    F_STRONG,
    F_WIDE,
    OP_ADD,
    OP_ASSEMBLE,
    OP_DIVIDE,
    OP_IDENTITY,
    OP_ITEM,
    OP_MASK,
    OP_MULTIPLY,
    OP_NEGATIVE,
    OP_POWER,
    OP_RESULT,
    OP_SELECT,
    OP_SQUARE,
    OP_STOP,
    OP_STRONG_DIVIDE,
    OP_STRONG_MULTIPLY,
    OP_STRONG_MULTIPLY_BOTH,
    OP_SUBTRACT,
    ZERO,
    AbstractValue,
    Graph,
    Node,
    WideNode,
    absorbs,
    aval_of,
    int64_t,
    node_operands,
    operand_aval,
    push_node,
    uint32_t,
)

from hoad._core.sweep.slopes cimport NOTHING, Appender, product_of_slopes

from hoad._core.graph.primitive import make_signature, primitive_named

cnp.import_array()

cdef enum:
    SMALL_TABLE = 256
    SMALL_BITS = 8
    MOST_LEARNED = 2048
    MOST_FULL = 8192       # rows from which newer nodes push out older ones
    FEW = 16
    MOST_SUPPORTING = 64        # nodes that zeros are looked for in

cdef double NAN = float("nan")
cdef int SLOPE = -1
cdef int SMOOTH = -1
cdef int LOGICAL_NOT = -1
cdef int TRANSPOSE = -1
cdef int SPECTRAL = -1, SINGULAR = -1, ASTYPE = -1
cdef int REAL = -1
cdef int IMAG = -1
cdef int COMPOSE = -1
cdef int CONJUGATE = -1
cdef object BROADCAST = None
cdef object ASSEMBLE = None


cdef int bind() except -1:
    """Look up, once, the primitives that are named here."""
    global LOGICAL_NOT, BROADCAST, ASSEMBLE, REAL, IMAG, COMPOSE, CONJUGATE, TRANSPOSE, SLOPE, SMOOTH
    global SPECTRAL, SINGULAR, ASTYPE
    if LOGICAL_NOT < 0:
        BROADCAST = primitive_named("broadcast_to")
        ASSEMBLE = primitive_named("assemble")
        REAL = (<Primitive>primitive_named("real")).op
        IMAG = (<Primitive>primitive_named("imag")).op
        COMPOSE = (<Primitive>primitive_named("complex")).op
        CONJUGATE = (<Primitive>primitive_named("conjugate")).op
        TRANSPOSE = (<Primitive>primitive_named("transpose")).op
        SLOPE = (<Primitive>primitive_named("slope")).op
        SMOOTH = (<Primitive>primitive_named("smooth")).op
        SPECTRAL = (<Primitive>primitive_named("spectral")).op
        SINGULAR = (<Primitive>primitive_named("singular")).op
        ASTYPE = (<Primitive>primitive_named("astype")).op
        LOGICAL_NOT = (<Primitive>primitive_named("logical_not")).op
    return 0


cdef bint carries_slopes(uint16_t op) noexcept:
    """Whether what is sloped makes the result of an operation sloped."""
    return (op == OP_MULTIPLY or op == OP_ADD or op == OP_SUBTRACT or op == OP_NEGATIVE or op == OP_DIVIDE
            or absorbs(op) or op == OP_MASK or op == OP_IDENTITY)


cdef inline bint is_product(uint16_t op) noexcept nogil:
    return op == OP_MULTIPLY or op == OP_STRONG_MULTIPLY or op == OP_STRONG_MULTIPLY_BOTH


cdef inline uint64_t mix(uint64_t h) noexcept nogil:
    h ^= h >> 32
    h *= <uint64_t>0x9E3779B97F4A7C15
    return h ^ (h >> 29)


cdef inline uint64_t hash_node(uint16_t op, int32_t a, int32_t b) noexcept nogil:
    return ((<uint64_t><uint32_t>a << 32 | <uint64_t><uint32_t>b) * <uint64_t>0x9E3779B97F4A7C15
            + <uint64_t>op * <uint64_t>0xD6E8FEB86659FD93) * <uint64_t>0xC2B2AE3D27D4EB4F


cdef inline uint32_t tag_of(uint64_t h) noexcept nogil:
    """The middle bits: the low ones of a product owe nothing to the high ones of its factors."""
    return <uint32_t>(h >> 20)


@cython.final
cdef class Builder(Appender):
    """Appends nodes to one graph for the length of one sweep."""

    def __cinit__(self, Graph graph, bint simplify=True, bint thorough=False, bint complete=False):
        bind()
        self.thorough, self.complete = thorough, complete
        self.graph = graph
        self.simplify = simplify
        self.rows = SMALL_TABLE
        self.shift = 64 - SMALL_BITS
        self.table = <TableEntry*>PyMem_RawCalloc(self.rows, sizeof(TableEntry))
        if self.table == NULL:
            raise MemoryError

    def __dealloc__(self):
        PyMem_RawFree(self.table)

    # ---- finding nodes again

    cdef int remember(self, uint64_t h, int32_t node) except -1:
        cdef int32_t row
        if not self.lossy and 2 * self.used >= self.rows:
            self.widen()
        row = <int32_t>(h >> self.shift)
        if not self.lossy:
            while self.table[row].node:
                row = (row + 1) & (self.rows - 1)
            self.used += 1
        self.table[row].tag = tag_of(h)
        self.table[row].node = node + 1
        return 0

    cdef int widen(self) except -1:
        """Double the table while it is small, or to be complete; else newer nodes push out older ones from then on."""
        cdef TableEntry* old = self.table
        cdef int32_t rows = self.rows
        cdef int32_t i, known
        self.rows = 2 * rows
        self.shift -= 1
        self.table = <TableEntry*>PyMem_RawCalloc(self.rows, sizeof(TableEntry))
        if self.table == NULL:
            self.table = old
            self.rows = rows
            self.shift += 1
            raise MemoryError
        self.lossy = self.rows >= MOST_FULL and not self.complete
        known = self.used
        self.used = 0
        for i in range(rows if known else 0):
            if old[i].node:
                self.remember(self.hash_of(old[i].node - 1), old[i].node - 1)
        PyMem_RawFree(old)
        return 0

    cdef uint64_t hash_of(self, int32_t node) noexcept:
        cdef Node* row = &self.graph.nodes[node]
        cdef WideNode* wide
        if row.flags & F_WIDE:
            wide = &self.graph.wide_nodes[row.a]
            return hash_wide(<size_t>wide.sig, self.graph.pool + wide.first, wide.count)
        return hash_node(row.op, row.a, row.b)

    cdef int32_t find_wide(self, uint64_t h, Signature sig, const int32_t* operands, int32_t count) noexcept:
        cdef int32_t row = <int32_t>(h >> self.shift)
        cdef int32_t i
        cdef Node* node
        cdef WideNode* wide
        while self.table[row].node:
            node = &self.graph.nodes[self.table[row].node - 1]
            if self.table[row].tag == tag_of(h) and node.flags & F_WIDE:
                wide = &self.graph.wide_nodes[node.a]
                if <void*>wide.sig == <void*>sig and wide.count == count:
                    for i in range(count):
                        if self.graph.pool[wide.first + i] != operands[i]:
                            break
                    else:
                        return self.table[row].node - 1
            if self.lossy:
                break
            row = (row + 1) & (self.rows - 1)
        return -1

    cdef int learn(self, int32_t start, int32_t stop) except -1:
        """Make the nodes of ``[start, stop)`` known, so that a rule that asks for them finds them.

        The costly ones; all of a small tape if the builder is thorough. What it appended itself it knows.
        """
        cdef int32_t i
        cdef Node* node
        cdef bint all_of_it = self.thorough and stop - start <= MOST_LEARNED
        start = max(start, stop - 2 * MOST_FULL)    # the newest stay
        if not self.simplify or self.learned:
            return 0
        self.learned = True
        while not self.lossy and self.rows < stop - start:
            self.widen()
        for i in range(start, stop):
            node = &self.graph.nodes[i]
            if node.op <= OP_RESULT or node.op == OP_ASSEMBLE or node.op == OP_STOP:
                continue
            if all_of_it or INFO[node.op].costly:
                self.remember(self.hash_of(i), i)
        return 0

    # ---- what is known of an operand

    cdef inline bint is_const(self, int32_t operand) noexcept:
        """Whether it is a constant number (not an array)."""
        return ZERO < operand < 0 and self.graph.consts[~operand].aval <= AVAL_BOOL

    cdef inline bint is_number(self, int32_t operand, double value) noexcept:
        return (ZERO < operand < 0 and self.graph.consts[~operand].aval == AVAL_FLOAT
                and self.graph.consts[~operand].value.d == value)

    cdef bint holds(self, int32_t operand, double value) noexcept:
        """As `is_number`, also for constants of complex numbers that all have this value."""
        cdef AbstractValue aval
        cdef void* data
        if operand >= 0 or operand == ZERO:
            return False
        if self.graph.consts[~operand].aval <= AVAL_BOOL:
            return self.is_number(operand, value)
        aval = aval_of(self.graph.consts[~operand].aval)
        if not aval.is_complex:
            return False
        data = cnp.PyArray_DATA(<cnp.ndarray>self.graph.consts[~operand].value.o)
        if aval.itemsize == 2 * sizeof(double):
            return all_are(<double*>data, aval.size, value)
        return all_are(<float*>data, aval.size, value)

    cdef bint is_zero(self, int32_t operand) except -1:
        """Whether it is a constant of zeros."""
        if operand >= 0 or operand == ZERO:
            return False
        if self.graph.consts[~operand].aval <= AVAL_BOOL:
            return self.graph.consts[~operand].value.d == 0.0
        return not (<object>self.graph.consts[~operand].value.o).any()

    cdef bint has_no_zero(self, int32_t operand) except -1:
        """Whether it is a constant without a zero."""
        if operand >= 0 or operand == ZERO:
            return False
        if self.graph.consts[~operand].aval <= AVAL_BOOL:
            return self.graph.consts[~operand].value.d != 0.0
        return (<object>self.graph.consts[~operand].value.o).all()

    cdef inline bint is_integral(self, int32_t operand) noexcept:
        cdef double value
        if not (ZERO < operand < 0 and self.graph.consts[~operand].aval == AVAL_FLOAT):
            return False
        value = self.graph.consts[~operand].value.d
        return fabs(value) < 1e6 and value == floor(value) and value != 0.0

    cdef inline bint is_fraction(self, int32_t operand) noexcept:
        """Whether it is a constant with which a product is never simplified."""
        cdef double value
        if not (ZERO < operand < 0 and self.graph.consts[~operand].aval == AVAL_FLOAT):
            return False
        value = self.graph.consts[~operand].value.d
        return value != floor(value)

    cdef inline bint is_truth(self, int32_t operand) noexcept:
        return operand_aval(self.graph, operand) == AVAL_BOOL

    cdef inline bint is_strong(self, int32_t operand) noexcept:
        return operand >= 0 and self.graph.nodes[operand].flags & F_STRONG

    cdef inline bint is_sloped(self, int32_t operand) noexcept:
        return operand >= 0 and self.graph.nodes[operand].flags & F_SLOPED

    cdef inline bint is_op(self, int32_t operand, uint16_t op) noexcept:
        return operand >= 0 and self.graph.nodes[operand].op == op

    cdef inline int32_t first_operand(self, int32_t node) noexcept:
        cdef int32_t count
        return node_operands(self.graph, node, &count)[0]

    # ---- scalars

    cdef inline int32_t emit(self, uint16_t op, int32_t a, int32_t b) except? -1:
        """Append ``op(a, b)`` on scalars (b is 0 for one operand); returns an operand, or ZERO."""
        if self.simplify and not (self.is_special(a) or self.is_special(b) or (a == b and op == OP_MULTIPLY)):
            return self.push(op, a, b)      # the common case
        return self.emit_special(op, a, b)

    cdef int32_t emit_numbers(self, uint16_t op, int32_t a, int32_t b) except? -1:
        return self.emit(op, a, b)

    cdef inline bint is_special(self, int32_t operand) noexcept:
        """Whether an operation on it may be simplified, or is another one: constants, signs, strong zeros, truths."""
        cdef const Node* node
        if operand < 0:
            return True
        node = &self.graph.nodes[operand]
        return node.flags & (F_STRONG | F_BOOL | F_SLOPED) or node.op == OP_NEGATIVE

    cdef int32_t emit_special(self, uint16_t op, int32_t a, int32_t b) except? -1:
        """As `emit`, for constants, signs, strong zeros and booleans."""
        cdef int32_t found
        if a == ZERO or (b == ZERO and ARITY[op] == 2):
            return self.emit_zero(op, a, b)
        if is_product(op) and self.is_sloped(a) and self.is_sloped(b):
            found = product_of_slopes(self, a, b, AVAL_FLOAT)
            if found != NOTHING:
                return found
        if op == OP_MULTIPLY and self.simplify:
            if b < a:
                a, b = b, a
            if self.is_fraction(a) and not self.is_special(b):
                return self.found_or_pushed(op, 0, a, b)    # all that is left to do, and common
        op = self.strengthen(op, &a, &b)
        if (absorbs(op)) and self.is_number(a, 0.0):
            return ZERO         # a strong zero stays one
        if self.simplify:
            if op == OP_MASK and self.is_const(a):
                return b if self.graph.consts[~a].value.d != 0 else <int32_t>ZERO
            found = self.simplified(op, a, b)
            if found != ZERO:
                return found
        if self.is_sloped(a) or (ARITY[op] == 2 and self.is_sloped(b)):
            return self.push_sloped(op, a, b)
        return self.push(op, a, b)

    cdef int32_t push_sloped(self, uint16_t op, int32_t a, int32_t b) except? -1:
        """As `push`, where an operand is sloped."""
        cdef uint16_t flags = self.flags_of(op, a, b) | (F_SLOPED if carries_slopes(op) else 0)
        if not self.simplify:
            return push_node(self.graph, op, flags, a, b)
        if INFO[op].commutative and a > b:
            a, b = b, a
        return self.found_or_pushed(op, flags, a, b)

    cdef int splice(self, const ScalarRule* rule, Places* at) except -1:
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
                at.special[to] = self.is_special(at.operand[to])
            else:
                if step.commutative and a > b:
                    a, b = b, a
                at.operand[to] = self.found_or_pushed(step.op, step.flags, a, b)
                at.special[to] = step.special
            to += 1
            step += 1
        return 0

    cdef inline int32_t push(self, uint16_t op, int32_t a, int32_t b) except? -1:
        """Append, or find again, a scalar node as it stands."""
        if not self.simplify:
            return push_node(self.graph, op, self.flags_of(op, a, b), a, b)
        if INFO[op].commutative and a > b:
            a, b = b, a
        return self.found_or_pushed(op, self.flags_of(op, a, b), a, b)

    cdef int32_t found_or_pushed(self, uint16_t op, uint16_t flags, int32_t a, int32_t b) except? -1:
        """The node ``op(a, b)``: one of the table, or a new one."""
        cdef uint64_t h = hash_node(op, a, b)
        cdef uint32_t tag = tag_of(h)
        cdef int32_t row = <int32_t>(h >> self.shift)
        cdef TableEntry* entry = &self.table[row]
        cdef int32_t i
        cdef Node* node
        while entry.node:
            if entry.tag == tag:
                node = &self.graph.nodes[entry.node - 1]
                if node.a == a and node.b == b and node.op == op and not node.flags & F_WIDE:
                    return entry.node - 1
            if self.lossy:
                break
            row = (row + 1) & (self.rows - 1)
            entry = &self.table[row]
        i = self.graph.size
        if i == self.graph.capacity:
            self.graph.reserve(1)
        node = &self.graph.nodes[i]
        node.op = op
        node.flags = flags
        node.a = a
        node.b = b
        self.graph.size = i + 1
        entry.tag = tag
        entry.node = i + 1
        if not self.lossy:
            self.used += 1
            if 2 * self.used >= self.rows:
                self.widen()
        return i

    cdef inline uint16_t flags_of(self, uint16_t op, int32_t a, int32_t b) noexcept:
        """The flags of a scalar node: whether it is a boolean, whether its zeros are strong."""
        cdef uint16_t flags = F_BOOL if INFO[op].is_bool else 0
        if absorbs(op) or op == OP_MASK:
            flags |= F_STRONG
        elif op == OP_NEGATIVE or op == OP_ITEM or op == OP_IDENTITY:
            flags |= self.graph.nodes[a].flags & F_STRONG if a >= 0 else 0
        elif op == OP_ADD or op == OP_SUBTRACT:
            if self.is_strong(a) and self.is_strong(b):
                flags |= F_STRONG
        elif op == SLOPE:
            flags |= F_SLOPED
        elif op == SMOOTH and self.is_strong(a):
            flags |= F_STRONG
        return flags

    cdef int32_t strengthen(self, uint16_t op, int32_t* a, int32_t* b) except -1:
        """A product with a strong zero is `strong_multiply`, the strong factor first; a quotient is `strong_divide`.

        One of two strong zeros is `strong_multiply_both`.
        """
        if op == OP_MULTIPLY:
            if self.is_strong(a[0]):
                return OP_STRONG_MULTIPLY_BOTH if self.is_strong(b[0]) else OP_STRONG_MULTIPLY
            if self.is_strong(b[0]):
                a[0], b[0] = b[0], a[0]
                return OP_STRONG_MULTIPLY
        elif op == OP_STRONG_MULTIPLY and a[0] >= 0 and self.is_strong(b[0]):
            return OP_STRONG_MULTIPLY_BOTH
        elif op == OP_DIVIDE and self.is_strong(a[0]):
            return OP_STRONG_DIVIDE
        elif op == OP_STRONG_MULTIPLY and self.has_no_zero(a[0]):
            return OP_MULTIPLY
        elif op == OP_STRONG_DIVIDE and self.has_no_zero(a[0]):
            return OP_DIVIDE
        return op

    cdef int32_t emit_zero(self, uint16_t op, int32_t a, int32_t b) except? -1:
        """An operation on the symbolic zero."""
        if op == OP_ADD:
            return b if a == ZERO else a
        if op == OP_SUBTRACT:
            return a if b == ZERO else self.negative(b)
        if INFO[op].linear or INFO[op].multilinear or op == OP_ITEM or op == OP_IDENTITY:
            return ZERO
        if (op == OP_DIVIDE or op == OP_STRONG_DIVIDE) and a == ZERO or op == OP_STRONG_MULTIPLY or op == OP_MASK:
            return ZERO
        raise ArithmeticError(f"{primitive_of(op).name} of a symbolic zero; a rule must be linear in g")

    cdef int32_t negative(self, int32_t a) except? -1:
        cdef int32_t aval = operand_aval(self.graph, a)
        if aval == AVAL_FLOAT:
            return self.emit(OP_NEGATIVE, a, 0)
        return self.emit_wide(primitive_of(OP_NEGATIVE), None, &a, 1, aval)

    cdef int32_t simplified(self, uint16_t op, int32_t a, int32_t b) except? -1:
        """What ``op(a, b)`` is without a new node, or in simpler operations; ZERO if nothing is known."""
        if self.is_const(a) and (ARITY[op] == 1 or self.is_const(b)) and op != OP_IDENTITY:
            return self.fold(op, a, b)
        if self.is_truth(a) or (ARITY[op] == 2 and self.is_truth(b)):
            return ZERO         # 1.0 times a boolean is a float, and so a node
        if op == OP_MULTIPLY:
            return self.simplified_product(a, b)
        if op == OP_STRONG_MULTIPLY or op == OP_STRONG_MULTIPLY_BOTH:
            return self.simplified_strong_product(op, a, b)
        if op == OP_DIVIDE or op == OP_STRONG_DIVIDE:
            return self.simplified_quotient(op, a, b)
        if op == OP_ADD:
            if self.is_op(b, OP_NEGATIVE):
                return self.emit(OP_SUBTRACT, a, self.graph.nodes[b].a)
            if self.is_op(a, OP_NEGATIVE):
                return self.emit(OP_SUBTRACT, b, self.graph.nodes[a].a)
        elif op == OP_SUBTRACT:
            if self.is_op(b, OP_NEGATIVE):
                return self.emit(OP_ADD, a, self.graph.nodes[b].a)
        elif op == OP_NEGATIVE:
            if self.is_op(a, OP_NEGATIVE):
                return self.graph.nodes[a].a
        elif op == OP_POWER:
            if self.is_number(b, 1.0):
                return a
            if self.is_number(b, 0.0):
                return self.graph.const_float(1.0)
            if self.is_number(b, 2.0):
                return self.push(OP_SQUARE, a, 0)
            if self.is_number(b, -1.0):
                return self.push(OP_DIVIDE, self.graph.const_float(1.0), a)
        return ZERO

    cdef int32_t fold(self, uint16_t op, int32_t a, int32_t b) except? -1:
        cdef double x = self.graph.consts[~a].value.d
        cdef double y
        if ARITY[op] == 1:
            if INFO[op].f1 == NULL:
                return ZERO
            x = INFO[op].f1(x)
        else:
            if INFO[op].f2 == NULL:
                return ZERO
            y = self.graph.consts[~b].value.d
            x = INFO[op].f2(x, y)
        return self.graph.const_bool(x != 0) if INFO[op].is_bool else self.graph.const_float(x)

    cdef int32_t simplified_product(self, int32_t a, int32_t b) except? -1:
        cdef int32_t inner
        if self.is_const(b):
            a, b = b, a
        if self.is_const(a):
            if self.is_number(a, 1.0):
                return b
            if self.is_number(a, -1.0):
                return self.negative(b)
            if self.is_integral(a) and self.is_op(b, OP_MULTIPLY):
                inner = self.graph.nodes[b].a
                if self.is_integral(inner):
                    return self.emit(OP_MULTIPLY, self.fold(OP_MULTIPLY, a, inner), self.graph.nodes[b].b)
            if self.is_op(b, OP_NEGATIVE):
                return self.emit(OP_MULTIPLY, self.fold(OP_NEGATIVE, a, 0), self.graph.nodes[b].a)
            return ZERO
        if self.is_op(a, OP_NEGATIVE):
            if self.is_op(b, OP_NEGATIVE):
                return self.emit(OP_MULTIPLY, self.graph.nodes[a].a, self.graph.nodes[b].a)
            return self.negative(self.emit(OP_MULTIPLY, self.graph.nodes[a].a, b))
        if self.is_op(b, OP_NEGATIVE):
            return self.negative(self.emit(OP_MULTIPLY, a, self.graph.nodes[b].a))
        if a == b:
            return self.push(OP_SQUARE, a, 0)
        return ZERO

    cdef int32_t simplified_strong_product(self, uint16_t op, int32_t a, int32_t b) except? -1:
        if self.is_number(b, 1.0):
            return a
        if self.is_number(b, -1.0):
            return self.negative(a)
        if self.is_const(a) and self.graph.consts[~a].value.d != 0.0:
            return self.emit(OP_MULTIPLY, a, b)
        if self.is_op(a, OP_NEGATIVE):
            return self.negative(self.emit(op, self.graph.nodes[a].a, b))
        if self.is_op(b, OP_NEGATIVE):
            return self.negative(self.emit(op, a, self.graph.nodes[b].a))
        return ZERO

    cdef int32_t simplified_quotient(self, uint16_t op, int32_t a, int32_t b) except? -1:
        if self.is_number(b, 1.0):
            return a
        if self.is_number(b, -1.0):
            return self.negative(a)
        if self.is_op(a, OP_NEGATIVE):
            return self.negative(self.emit(op, self.graph.nodes[a].a, b))
        if self.is_op(b, OP_NEGATIVE):
            return self.negative(self.emit(op, a, self.graph.nodes[b].a))
        return ZERO

    # ---- arrays and everything with an extension row

    cdef int32_t emit_wide(self, Primitive primitive, object params, const int32_t* operands, int32_t count,
                           int32_t aval) except? -1:
        """Append a node of any primitive, whose (first) result is `aval`; returns an operand, or ZERO."""
        cdef int32_t few[FEW]
        cdef int32_t avals[FEW]
        cdef int32_t i, found
        cdef uint16_t op = primitive.op
        cdef Signature sig
        found = self.zero_wide(primitive, operands, count, aval)
        if found != NOTHING:
            return found
        if count > FEW:
            return self.push_wide(many_signature(self.graph, primitive, params, operands, count), operands, count)
        for i in range(count):
            few[i] = operands[i]
        if primitive.kind == K_UFUNC:
            if count == 2:
                if is_product(op) and self.is_sloped(few[0]) and self.is_sloped(few[1]):
                    found = product_of_slopes(self, few[0], few[1], aval)
                    if found != NOTHING:
                        return found
                op = self.strengthen(op, &few[0], &few[1])
                primitive = primitive_of(op)
                if (absorbs(op)) and self.is_zero(few[0]):
                    return ZERO
            if self.simplify:
                if aval == AVAL_FLOAT and count == 2 and INFO[op].f2 != NULL and self.both_scalar(few):
                    return self.emit(op, few[0], few[1])
                self.skip_broadcasts(few, count, aval)
                found = self.simplified_wide(op, few, count, aval)
                if found == ZERO:
                    found = self.folded_wide(primitive, few, count, aval)
                if found != ZERO:
                    return found
                if INFO[op].commutative and count == 2 and few[0] > few[1]:
                    few[0], few[1] = few[1], few[0]
        elif primitive.op == TRANSPOSE and self.simplify:
            found = self.turned_back(few[0], params)
            if found != ZERO:
                return found
        elif (op == SPECTRAL or op == SINGULAR) and params[0] == 0:
            i = MOST_SUPPORTING
            found = support_of(self, few[2], &i)
            params = (0, found != NOTHING, False)
            if found != NOTHING:
                few[1] = found
        for i in range(count):
            avals[i] = operand_aval(self.graph, few[i])
        sig = signature(primitive, params, avals, count)
        return self.push_wide(sig, few, count)

    cdef int32_t turned_back(self, int32_t operand, params) except? -1:
        """What is transposed twice and so not at all, as a matrix is in the adjoint of an adjoint; else ZERO."""
        cdef Signature sig
        cdef int32_t count
        if operand < 0 or self.graph.nodes[operand].op != TRANSPOSE:
            return ZERO
        sig = <Signature>self.graph.wide_nodes[self.graph.nodes[operand].a].sig
        for k, axis in enumerate(params[0]):
            if sig.params[0][axis] != k:
                return ZERO
        return node_operands(self.graph, operand, &count)[0]

    cdef int32_t folded_wide(self, Primitive primitive, const int32_t* operands, int32_t count,
                             int32_t aval) except? -1:
        """What an operation on constants gives, where that is one complex number; else ZERO."""
        cdef int32_t avals[FEW]
        cdef int32_t i
        cdef Signature sig
        if primitive.nout > 1 or not aval_of(aval).is_complex or aval_of(aval).ndim:
            return ZERO
        for i in range(count):
            if operands[i] >= 0:
                return ZERO
            avals[i] = operand_aval(self.graph, operands[i])
        sig = signature(primitive, None, avals, count)
        return self.graph.const_object(compute(self.graph, sig, operands, count)[0])

    cdef bint both_scalar(self, const int32_t* operands) noexcept:
        return (operand_aval(self.graph, operands[0]) <= AVAL_BOOL
                and operand_aval(self.graph, operands[1]) <= AVAL_BOOL)

    cdef int32_t push_wide(self, Signature sig, const int32_t* operands, int32_t count) except? -1:
        cdef int32_t node, i
        cdef uint64_t h = 0
        cdef uint16_t flags = 0
        cdef int32_t result[2]
        cdef object strong = None       # of a call: which of its results have strong zeros
        if self.simplify:
            h = hash_wide(<size_t><void*>sig, operands, count)
            node = self.find_wide(h, sig, operands, count)
            if node >= 0:
                return node
        flags = self.strength(sig.primitive, operands, count)
        if sig.primitive.op == SLOPE:
            flags |= F_SLOPED
        elif carries_slopes(sig.primitive.op):
            for i in range(count):
                if self.is_sloped(operands[i]):
                    flags |= F_SLOPED
        if sig.primitive.of_programs and sig.params[0]._linear:
            strong = sig.params[0]._strong_results()
            flags = F_STRONG if strong[0] else 0
        node = self.graph.push_wide(sig.primitive.op, flags, sig, operands, count,
                                    (<AbstractValue>sig.results[0]).number)
        if self.simplify:
            self.remember(h, node)
        for i in range(1, sig.primitive.nout):
            result[0] = node
            result[1] = i
            flags = flags if strong is None else F_STRONG if strong[i] else 0
            self.graph.push_wide(OP_RESULT, flags, None, result, 2, (<AbstractValue>sig.results[i]).number)
            self.graph.wide_nodes[self.graph.n_wide_nodes - 1].count = 1
        return node

    cdef uint16_t strength(self, Primitive primitive, const int32_t* operands, int32_t count) noexcept:
        """Whether zeros of the result are strong."""
        cdef uint16_t op = primitive.op
        cdef int32_t i
        if absorbs(op) or op == OP_MASK or op == OP_ASSEMBLE:
            return F_STRONG
        if op == OP_ADD or op == OP_SUBTRACT:
            return F_STRONG if self.is_strong(operands[0]) and self.is_strong(operands[1]) else 0
        if op == SMOOTH:
            return F_STRONG if self.is_strong(operands[0]) else 0
        if op == COMPOSE:
            for i in range(2):
                if not (self.is_strong(operands[i]) or self.is_number(operands[i], 0.0)):
                    return 0
            return F_STRONG if self.is_strong(operands[0]) or self.is_strong(operands[1]) else 0
        for i in range(count):
            if self.is_strong(operands[i]) and (INFO[op].linear or i in primitive.linear_in):
                return F_STRONG
        return 0

    cdef int32_t zero_wide(self, Primitive primitive, const int32_t* operands, int32_t count,
                           int32_t aval) except? -1:
        """The result if symbolic zeros decide it (ZERO or an operand), else NOTHING."""
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
            i = self.negative(i) if op == OP_SUBTRACT and operands[0] == ZERO else i
            return self.broadcast(i, aval)
        if op == OP_SELECT:
            return self.masked(operands, aval)
        if INFO[op].multilinear or zeros == count or op == OP_MASK or (
                operands[0] == ZERO and (op == OP_DIVIDE or op == OP_STRONG_DIVIDE or op == OP_STRONG_MULTIPLY)):
            return ZERO
        for i in range(count):
            if operands[i] == ZERO and i in primitive.linear_in:
                return ZERO
        if not INFO[op].linear:
            raise ArithmeticError(f"{primitive.name} of a symbolic zero; a rule must be linear in g")
        raise ArithmeticError(f"{primitive.name} of some symbolic zeros")

    cdef int32_t masked(self, const int32_t* operands, int32_t aval) except? -1:
        """select(c, x, y) with a symbolic zero for x or y (or both)."""
        cdef int32_t pair[2]
        cdef int32_t kind = operand_aval(self.graph, operands[0])
        if operands[1] == ZERO and operands[2] == ZERO:
            return ZERO
        pair[0] = operands[0]
        pair[1] = operands[1]
        if operands[1] == ZERO:
            if kind == AVAL_BOOL:
                pair[0] = self.emit(LOGICAL_NOT, operands[0], 0)
            else:
                pair[0] = self.emit_wide(primitive_of(LOGICAL_NOT), None, operands, 1, kind)
            pair[1] = operands[2]
        if aval == AVAL_FLOAT and self.both_scalar(pair):
            return self.emit(OP_MASK, pair[0], pair[1])
        return self.broadcast(self.emit_wide(primitive_of(OP_MASK), None, pair, 2, aval), aval)

    cdef int32_t broadcast(self, int32_t operand, int32_t aval) except? -1:
        """`operand` at the shape of `aval`."""
        if operand == ZERO or operand_aval(self.graph, operand) == aval:
            return operand
        return self.emit_wide(BROADCAST, (aval_of(aval).shape,), &operand, 1, aval)

    cdef int skip_broadcasts(self, int32_t* operands, int32_t count, int32_t aval) except -1:
        """Use what a broadcast operand was made of, where the operation broadcasts it anyway."""
        cdef int32_t i, k, inner
        cdef bint full
        for i in range(count):
            if not (operands[i] >= 0 and self.graph.nodes[operands[i]].op == (<Primitive>BROADCAST).op):
                continue
            inner = self.first_operand(operands[i])
            full = operand_aval(self.graph, inner) == aval
            for k in range(count):
                full = full or (k != i and aval_of(operand_aval(self.graph, operands[k])).shape == aval_of(aval).shape)
            if full:
                operands[i] = inner
        return 0

    cdef int32_t simplified_wide(self, uint16_t op, const int32_t* operands, int32_t count, int32_t aval) except? -1:
        """A product with one, a double sign: what needs no node. ZERO if nothing is known."""
        cdef int32_t x = ZERO
        cdef int32_t negated
        if is_product(op):
            if self.holds(operands[0], 1.0):
                x = operands[1]
            elif self.holds(operands[1], 1.0):
                x = operands[0]
            elif (op == OP_STRONG_MULTIPLY and self.is_const(operands[0])
                    and self.graph.consts[~operands[0]].value.d != 0):
                return self.push_pair(OP_MULTIPLY, operands[0], operands[1])
        elif op == OP_DIVIDE or op == OP_STRONG_DIVIDE or op == OP_POWER:
            if self.holds(operands[1], 1.0):
                x = operands[0]
            elif op == OP_POWER and self.holds(operands[1], 2.0) and operand_aval(self.graph, operands[0]) == aval:
                return self.push_unary(OP_SQUARE, operands[0])
        elif op == REAL or op == IMAG or op == COMPOSE or op == CONJUGATE:
            x = self.simplified_parts(op, operands)
        elif op == OP_NEGATIVE and self.is_op(operands[0], OP_NEGATIVE):
            x = self.first_operand(operands[0])
        elif (op == OP_ADD or op == OP_SUBTRACT) and self.is_op(operands[1], OP_NEGATIVE):
            negated = self.first_operand(operands[1])
            if operand_aval(self.graph, negated) == aval or operand_aval(self.graph, operands[0]) == aval:
                return self.push_pair(OP_SUBTRACT if op == OP_ADD else OP_ADD, operands[0], negated)
        elif op == OP_MASK and self.is_const(operands[0]) and self.graph.consts[~operands[0]].value.d != 0:
            x = operands[1]
        elif op == OP_SELECT and self.is_const(operands[0]):
            x = operands[1] if self.graph.consts[~operands[0]].value.d != 0 else operands[2]
        if x != ZERO and operand_aval(self.graph, x) == aval:
            return x
        return ZERO

    cdef int32_t simplified_parts(self, uint16_t op, const int32_t* operands) noexcept:
        """What a part of a composed number is, or a number composed of its parts, or conjugated twice."""
        cdef int32_t count
        cdef int32_t x
        if op == COMPOSE:
            if not (self.is_op(operands[0], REAL) and self.is_op(operands[1], IMAG)):
                return ZERO
            x = self.first_operand(operands[0])
            return x if x == self.first_operand(operands[1]) else <int32_t>ZERO
        if not self.is_op(operands[0], CONJUGATE if op == CONJUGATE else COMPOSE):
            return ZERO
        return node_operands(self.graph, operands[0], &count)[1 if op == IMAG else 0]

    cdef int32_t push_unary(self, uint16_t op, int32_t a) except? -1:
        cdef int32_t aval = operand_aval(self.graph, a)
        return self.push_wide(signature(primitive_of(op), None, &aval, 1), &a, 1)

    cdef int32_t push_pair(self, uint16_t op, int32_t a, int32_t b) except? -1:
        cdef int32_t operands[2]
        cdef int32_t avals[2]
        operands[0] = a
        operands[1] = b
        avals[0] = operand_aval(self.graph, a)
        avals[1] = operand_aval(self.graph, b)
        return self.push_wide(signature(primitive_of(op), None, avals, 2), operands, 2)

    # ---- what sweeps build by themselves

    cdef int32_t pull_back_plain(self, ScalarRule** rules, int32_t node, int32_t* bar, State* state,
                                 int32_t low) except? -1:
        """Pull adjoints back through operations on scalars, from `node` down to one that is none or has no rule here.

        Rules are found by operation and by the operands that depend. Returns that node, or what lies before `low`.
        """
        cdef ScalarRule* rule
        cdef State known
        while node >= low:
            known = state[node - low]
            if not known & PLAIN:
                break
            if bar[node - low] != ZERO:
                rule = rules[4 * <int32_t>self.graph.nodes[node].op + ((known & (DEPENDS_A | DEPENDS_B)) >> 4)]
                if rule == NULL:
                    break
                self.pull_back(rule, node, bar, state, low)
            node -= 1
        return node

    cdef inline int pull_back(self, const ScalarRule* rule, int32_t node, int32_t* bar, State* state,
                              int32_t low) except -1:
        """Splice the vjp rule of an operation on scalars, and add what it gives to the adjoints of its operands.

        The tables `bar` and `state` begin with node `low`; before it, `state` speaks for constants.
        """
        cdef const Node* row = &self.graph.nodes[node]
        cdef int32_t a = row.a - low
        cdef int32_t b = row.b - low
        cdef State known = state[node - low]
        cdef bint negated = known & NEGATED != 0
        cdef Places at
        cdef int k
        at.operand[FIRST_LEAF] = bar[node - low]
        at.special[FIRST_LEAF] = known & SPECIAL_BAR
        at.operand[0] = ZERO
        at.special[0] = True
        if rule.n_steps:        # else nothing but the adjoint itself goes on
            at.operand[FIRST_LEAF + 1] = node
            at.special[FIRST_LEAF + 1] = known & SPECIAL
            at.operand[FIRST_LEAF + 2] = row.a
            at.special[FIRST_LEAF + 2] = state[max(a, -1)] & SPECIAL
            at.operand[FIRST_LEAF + 3] = row.b
            at.special[FIRST_LEAF + 3] = state[max(b, -1)] & SPECIAL
            self.splice(rule, &at)
        if known & DEPENDS_A:
            k = rule.outputs[0]
            self.accumulate_float(&bar[a], &state[a], at.operand[k], at.special[k] != 0, negated ^ rule.negated[0])
        if known & DEPENDS_B:
            k = rule.outputs[1]
            self.accumulate_float(&bar[b], &state[b], at.operand[k], at.special[k] != 0, negated ^ rule.negated[1])
        return 0

    cdef int accumulate(self, int32_t* bar, State* state, int32_t adjoint, bint negated) except -1:
        """Add a contribution to an adjoint; both have a sign beside them, which costs no node until they meet."""
        if adjoint == ZERO or bar[0] == ZERO or operand_aval(self.graph, adjoint) == AVAL_FLOAT:
            return self.accumulate_float(bar, state, adjoint, self.is_special(adjoint), negated)
        if (state[0] & NEGATED != 0) == negated:
            bar[0] = self.emit_pair(OP_ADD, bar[0], adjoint)
        elif negated:
            bar[0] = self.emit_pair(OP_SUBTRACT, bar[0], adjoint)
        else:
            bar[0] = self.emit_pair(OP_SUBTRACT, adjoint, bar[0])
            state[0] &= ~NEGATED
        return 0

    cdef inline int accumulate_float(self, int32_t* bar, State* state, int32_t adjoint, bint special,
                                     bint negated) except -1:
        """As `accumulate`, for float64 scalars of which it is known whether they are special."""
        cdef uint16_t op = OP_ADD
        cdef int32_t a = bar[0]
        cdef int32_t b = adjoint
        if adjoint == ZERO:
            return 0
        if a != ZERO:
            if (state[0] & NEGATED != 0) != negated:
                op = OP_SUBTRACT
                if not negated:
                    a, b = b, a
                negated = False
            if special or state[0] & SPECIAL_BAR or not self.simplify:
                adjoint = self.emit_special(op, a, b)
                special = self.is_special(adjoint)
            elif op == OP_ADD and a > b:
                adjoint = self.found_or_pushed(op, 0, b, a)
            else:
                adjoint = self.found_or_pushed(op, 0, a, b)
        bar[0] = adjoint
        state[0] = (state[0] & ~(NEGATED | SPECIAL_BAR)) | NEGATED * negated | SPECIAL_BAR * special
        return 0

    cdef int32_t emit_pair(self, uint16_t op, int32_t a, int32_t b) except? -1:
        """``op(a, b)`` of one abstract value."""
        cdef int32_t operands[2]
        operands[0] = a
        operands[1] = b
        return self.emit_wide(primitive_of(op), None, operands, 2, operand_aval(self.graph, a))

    cdef int32_t copy(self, int32_t operand) except? -1:
        """A node of its own for `operand`."""
        cdef int32_t aval = operand_aval(self.graph, operand)
        cdef uint16_t flags = (F_STRONG if self.is_strong(operand) else 0) | (
            F_SLOPED if self.is_sloped(operand) else 0)
        if aval <= AVAL_BOOL:
            return self.graph.push(OP_IDENTITY, flags, operand, 0, NAN)
        return self.graph.push_wide(OP_IDENTITY, flags, None, &operand, 1, aval)

    cdef int32_t noted(self, int32_t operand, int32_t swept, int32_t target, int32_t part) except? -1:
        """Note that `operand` is the `part` of a derivative of `target`; unsimplified, it gets a node of its own."""
        cdef bint taken = operand < self.graph.notes_start or self.graph.is_noted(operand)
        if taken and not self.simplify:
            operand = self.copy(operand)
            taken = False
        if not taken:
            self.graph.note(operand, swept, target, part)
        return operand

    cdef int32_t zeros(self, int32_t aval) except? -1:
        """A constant of zeros, for a derivative that does not depend on its input at all."""
        cdef AbstractValue kind = aval_of(aval)
        if aval == AVAL_FLOAT:
            return self.graph.const_float(0.0)
        return self.graph.const_object(np.zeros(kind.shape, kind.dtype if kind.inexact else np.float64))

    cdef int32_t item(self, int32_t x, int32_t offset) except? -1:
        """x.ravel()[offset] of a float64 array."""
        cdef Node* node
        cdef WideNode* wide
        cdef int32_t inner
        if x == ZERO:
            return ZERO
        if x < 0:
            return self.graph.const_float((<double*>cnp.PyArray_DATA(
                <cnp.ndarray>self.graph.consts[~x].value.o))[offset])
        if self.simplify:
            node = &self.graph.nodes[x]
            if node.op == (<Primitive>BROADCAST).op:
                inner = self.first_operand(x)
                if operand_aval(self.graph, inner) == AVAL_FLOAT:
                    return inner
            elif node.op == OP_ASSEMBLE:
                wide = &self.graph.wide_nodes[node.a]
                inner = assembled_item((<Signature>wide.sig).params, self.graph.pool + wide.first, offset)
                if inner != NOTHING:
                    return inner
        return self.push(OP_ITEM, x, offset)

    cdef int32_t assemble(self, int32_t aval, const int32_t* operands, int32_t count, object offsets,
                          object parts) except? -1:
        """Zeros of `aval` with items added at flat offsets and then parts; see `Plan.set_assembly`."""
        cdef int32_t i
        cdef uint16_t flags = F_STRONG
        cdef Signature sig
        avals = tuple([aval_of(operand_aval(self.graph, operands[i])) for i in range(count)])
        sig = make_signature(ASSEMBLE, (offsets, parts), avals, (aval_of(aval),))
        # where every item is given, and none is strong, there is no zero that an index left
        if len(parts) == 0 and count == aval_of(aval).size:
            for i in range(count):
                if self.is_strong(operands[i]):
                    break
            else:
                flags = 0
        return self.graph.push_wide(OP_ASSEMBLE, flags, sig, operands, count, aval)


cdef int32_t support_of(Builder self, int32_t k, int32_t* left) except? -1:
    """An operand that is 0 where `k` is 0 whatever the values are, and nowhere else; NOTHING where none is known.

    An index leaves such zeros, and a mask; a constant has them. What is 0 by chance is not.
    """
    cdef int32_t few[2]
    cdef int32_t i, count
    cdef int32_t aval = operand_aval(self.graph, k)
    cdef uint16_t op
    cdef const int32_t* given
    if k < 0:
        if self.has_no_zero(k):
            return NOTHING
        value = np.asarray(self.graph.value_of(k))
        return self.graph.const_object(np.not_equal(value, 0).astype(value.dtype))
    left[0] -= 1
    if left[0] < 0 or not self.graph.nodes[k].flags & F_WIDE:
        return NOTHING
    op = self.graph.nodes[k].op
    given = node_operands(self.graph, k, &count)
    operands = [given[i] for i in range(count)]         # the graph grows
    if op == OP_ASSEMBLE or op == OP_MASK:
        for i in range(count):
            few[0] = operands[i]
            if aval_of(operand_aval(self.graph, few[0])).inexact:
                few[1] = support_of(self, few[0], left)
                operands[i] = few[1] if few[1] != NOTHING else ones(self, operand_aval(self.graph, few[0]))
        return with_operands(self, k, operands)
    if not count:
        return NOTHING
    few[0] = support_of(self, operands[0], left)
    if op == OP_STOP or op == OP_NEGATIVE:
        return few[0]
    if INFO[op].kind == K_STRIDED or op == ASTYPE:
        return NOTHING if few[0] == NOTHING else with_operands(self, k, [few[0]])
    if op == OP_DIVIDE or op == OP_STRONG_DIVIDE:
        return NOTHING if few[0] == NOTHING else self.broadcast(few[0], aval)
    if op != OP_ADD and op != OP_SUBTRACT and op != OP_MULTIPLY and op != OP_STRONG_MULTIPLY:
        return NOTHING
    few[1] = support_of(self, operands[1], left)
    if few[0] != NOTHING and few[1] != NOTHING:
        op = OP_ADD if op == OP_SUBTRACT else OP_MULTIPLY if op == OP_STRONG_MULTIPLY else op
        few[0] = self.broadcast(self.emit_wide(primitive_of(op), None, few, 2, aval), aval)
        return NOTHING if few[0] == ZERO else few[0]
    if op == OP_ADD or op == OP_SUBTRACT or few[0] == few[1]:
        return NOTHING
    return self.broadcast(few[0] if few[1] == NOTHING else few[1], aval)


cdef int32_t ones(Builder self, int32_t aval) except? -1:
    return self.graph.const_object(np.ones(aval_of(aval).shape, aval_of(aval).dtype))


cdef int32_t with_operands(Builder self, int32_t k, list operands) except? -1:
    """The operation of a node on others."""
    cdef Signature sig = <Signature>self.graph.wide_nodes[self.graph.nodes[k].a].sig
    cdef cnp.ndarray table = np.array(operands, np.int32)
    cdef const int32_t* at = <int32_t*>cnp.PyArray_DATA(table)
    cdef int32_t count = len(operands)
    cdef int32_t aval = operand_aval(self.graph, k)
    if sig.primitive.op == OP_ASSEMBLE:
        return self.assemble(aval, at, count, sig.params[0], sig.params[1])
    return self.emit_wide(sig.primitive, sig.params, at, count, aval)


ctypedef fused part:
    float
    double

cdef bint all_are(const part* x, int64_t n, double value) noexcept nogil:
    """Whether n complex numbers, real and imaginary part by turns, are all this real one."""
    cdef int64_t i
    for i in range(n):
        if x[2 * i] != value or x[2 * i + 1] != 0:
            return False
    return n > 0


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


cdef uint64_t hash_wide(size_t sig, const int32_t* operands, int32_t count) noexcept nogil:
    cdef uint64_t h = mix(<uint64_t>sig)
    cdef int32_t i
    for i in range(count):
        h = mix(h * 31 + <uint64_t><uint32_t>operands[i])
    return h


cdef Signature many_signature(Graph graph, Primitive primitive, object params, const int32_t* operands, int32_t count):
    cdef int32_t i
    cdef int32_t[::1] avals = np.empty(count, dtype=np.int32)
    for i in range(count):
        avals[i] = operand_aval(graph, operands[i])
    return signature(primitive, params, &avals[0], count)
