"""The entries of the matrix that a linear sweep over numbers is, emitted beside the sweep.

Each number is a sum over items of the seed: a set of items with weights, which are operands. A product with
a number multiplies its weights, a sum joins two sets. What is computed turn by turn in a loop is so for each entry in
the order of the loop, and lowering finds the turns again.
"""

import numpy as np

cimport cython
cimport numpy as cnp

from hoad._core.base.blocks cimport give, reserve
from hoad._core.graph.primitive cimport params_of
from hoad._core.graph.reach cimport dependents, mark_needed, marks_in
from hoad._core.graph.tape cimport (
    F_WIDE, OP_ADD, OP_ASSEMBLE, OP_DIVIDE, OP_IDENTITY, OP_ITEM, OP_MASK, OP_MULTIPLY, OP_NEGATIVE, OP_STRONG_DIVIDE,
    OP_STRONG_MULTIPLY, OP_STRONG_MULTIPLY_BOTH, OP_SUBTRACT, ZERO, aval_of, int64_t, node_operands, operand_aval,
    uint16_t,
)

cnp.import_array()

cdef struct Entry:
    int32_t column, weight

cdef struct EntrySet:
    int64_t start, count


@cython.final
cdef class EntryList:
    """A list of entries that grows, of which sets are stretches."""

    cdef Entry* items
    cdef int32_t cap_items
    cdef int64_t size

    def __dealloc__(self):
        give(self.items, self.cap_items * sizeof(Entry))

    cdef int expect(self, int64_t count) except -1:
        """Let so many more be added."""
        return reserve(<void**>&self.items, &self.cap_items, self.size + count, sizeof(Entry))

    cdef int add(self, int32_t column, int32_t weight) except -1:
        """Append an entry that is expected, unless it is zero by the operations alone."""
        if weight != ZERO:
            self.items[self.size].column, self.items[self.size].weight = column, weight
            self.size += 1
        return 0


@cython.final
cdef class NumberSweep:
    """A sweep of which the sets of all numbers, and of the items of all arrays, are to be found."""

    cdef Graph graph
    cdef Builder builder
    cdef int32_t seed
    cdef object moved
    cdef cnp.ndarray firsts, table
    cdef int64_t* first     # where the items of a node begin, by its distance from the seed; -1 if it does not matter
    cdef EntrySet* sets     # of each item
    cdef EntryList entries

    def __cinit__(self, Graph graph, Builder builder, int32_t seed, int32_t output, object moved):
        cdef bytearray marks = dependents(graph, seed, output + 1, (seed,))
        cdef bytearray needed = bytearray(output - seed + 3)
        cdef int64_t total = 0
        cdef int32_t i
        self.graph, self.builder, self.seed, self.moved = graph, builder, seed, moved
        self.entries = EntryList()
        self.firsts = np.full(output + 1 - seed, -1, dtype=np.int64)
        self.first = <int64_t*>cnp.PyArray_DATA(self.firsts)
        needed[output - seed + 2] = 1
        mark_needed(graph, seed, output + 1, marks_in(needed) + 2)
        for i in range(seed, output + 1):
            if marks[i - seed] and needed[i - seed + 2]:
                self.first[i - seed] = total
                total += aval_of(operand_aval(graph, i)).size
        self.table = np.zeros((total, 2), dtype=np.int64)
        self.sets = <EntrySet*>cnp.PyArray_DATA(self.table)

    cdef inline EntrySet* of(self, int32_t operand) noexcept:
        """The sets of an operand that depends on the seed, else NULL."""
        if operand < self.seed or self.first[operand - self.seed] < 0:
            return NULL
        return &self.sets[self.first[operand - self.seed]]

    cdef int begin(self) except -1:
        """An entry of weight 1 for each item of the seed."""
        cdef int32_t size = aval_of(operand_aval(self.graph, self.seed)).size
        cdef int32_t one = self.graph.const_float(1.0)
        cdef int32_t j
        self.entries.expect(size)
        for j in range(size):
            self.sets[j].start, self.sets[j].count = j, 1
            self.entries.add(j, one)
        return 0

    cdef bint add_node(self, int32_t i) except -1:
        """Find the sets of a node; False if it is not linear in a way that is known here."""
        cdef uint16_t op = self.graph.nodes[i].op
        cdef int32_t a = self.graph.nodes[i].a
        cdef int32_t b = self.graph.nodes[i].b
        cdef EntrySet* found = self.of(i)
        cdef EntrySet* of_a
        cdef EntrySet* of_b
        if op == OP_ITEM:
            found[0] = self.of(a)[b]
            return True
        if self.graph.nodes[i].flags & F_WIDE:
            return self.add_array(i, found)
        of_a, of_b = self.of(a), self.of(b)
        if op == OP_IDENTITY:
            found[0] = of_a[0]
            return True
        if op == OP_NEGATIVE:
            return scale(self.builder, op, of_a, 0, False, found, self.entries)
        if op == OP_ADD or op == OP_SUBTRACT:
            return join(self.builder, op, of_a, of_b, found, self.entries)
        if of_a != NULL and of_b != NULL:
            return False
        if op == OP_STRONG_MULTIPLY and of_a != NULL:
            op = OP_MULTIPLY        # which zeros of a weight are strong, it tells by itself
        elif op == OP_STRONG_DIVIDE:
            op = OP_DIVIDE
        if op == OP_MULTIPLY or op == OP_STRONG_MULTIPLY or op == OP_STRONG_MULTIPLY_BOTH:
            return scale(self.builder, op, of_b if of_a == NULL else of_a, a if of_a == NULL else b, of_a == NULL,
                         found, self.entries)
        if op == OP_DIVIDE and of_b == NULL:
            return scale(self.builder, op, of_a, b, False, found, self.entries)
        if op == OP_MASK and of_a == NULL:
            return scale(self.builder, op, of_b, a, True, found, self.entries)
        return False

    cdef bint add_array(self, int32_t i, EntrySet* found) except -1:
        """As `add_node`, of an operation that moves items of arrays, and adds up those that meet."""
        cdef int32_t k, count
        cdef int64_t j
        cdef const int32_t* operands
        cdef EntrySet* given
        cdef const int64_t[::1] items, places
        operands = node_operands(self.graph, i, &count)
        if self.graph.nodes[i].op == OP_ASSEMBLE and len(params_of(self.graph, i)[1]) == 0:
            places = params_of(self.graph, i)[0]
            for k in range(count):
                given = self.of(operands[k])
                if given != NULL:
                    join(self.builder, OP_ADD, &found[places[k]], given, &found[places[k]], self.entries)
                    operands = node_operands(self.graph, i, &count)     # which may have moved
            return True
        moves = self.moved(i, [k for k in range(count) if self.of(operands[k]) != NULL])
        if moves is None:
            return False
        for k, items, places in moves:
            operands = node_operands(self.graph, i, &count)
            given = self.of(operands[k])
            for j in range(len(items)):
                join(self.builder, OP_ADD, &found[places[j]], &given[items[j]], &found[places[j]], self.entries)
        return True

    cdef tuple entries_of(self, int32_t node):
        """(rows, columns, weights) of a node."""
        cdef EntrySet* found = self.of(node)
        cdef int32_t size = aval_of(operand_aval(self.graph, node)).size
        cdef int64_t j, k
        cdef int64_t total = 0
        for j in range(size):
            total += found[j].count
        cdef cnp.ndarray rows = np.empty(total, dtype=np.int64)
        cdef cnp.ndarray columns = np.empty(total, dtype=np.int64)
        cdef cnp.ndarray weights = np.empty(total, dtype=np.int32)
        total = 0
        for j in range(size):
            for k in range(found[j].start, found[j].start + found[j].count):
                (<int64_t*>cnp.PyArray_DATA(rows))[total] = j
                (<int64_t*>cnp.PyArray_DATA(columns))[total] = self.entries.items[k].column
                (<int32_t*>cnp.PyArray_DATA(weights))[total] = self.entries.items[k].weight
                total += 1
        return rows, columns, weights


cdef tuple entries_of_numbers(Graph graph, Builder builder, int32_t seed, int32_t output, object moved):
    """(rows, columns, weights) of the entries, row by row; None if an operation is not known here.

    ``moved(node, given)`` gives, for an operation that only moves items of arrays, (operand, its items, their places in
    the result) for each of the operands that depend on the seed, else None.
    """
    cdef NumberSweep sweep = NumberSweep(graph, builder, seed, output, moved)
    cdef int32_t i
    sweep.begin()
    for i in range(seed + 1, output + 1):
        if sweep.first[i - seed] >= 0 and not sweep.add_node(i):
            return None
    return sweep.entries_of(output)


cdef bint scale(Builder builder, uint16_t op, const EntrySet* given, int32_t other, bint on_the_right, EntrySet* found,
                EntryList entries) except -1:
    """The weights of a set, each with the other operand."""
    cdef int64_t k
    cdef Entry entry
    entries.expect(given.count)
    found.start = entries.size
    for k in range(given.count):
        entry = entries.items[given.start + k]
        entries.add(entry.column, builder.emit(op, other if on_the_right else entry.weight,
                                               entry.weight if on_the_right else other))
    found.count = entries.size - found.start
    return True


cdef bint join(Builder builder, uint16_t op, const EntrySet* one, const EntrySet* other, EntrySet* found,
               EntryList entries) except -1:
    """The sum or difference of two sets, one of which may be none."""
    cdef EntrySet none = EntrySet(0, 0)
    cdef EntrySet a = none if one == NULL else one[0]
    cdef EntrySet b = none if other == NULL else other[0]
    cdef Entry left, right
    if b.count == 0 or (a.count == 0 and op == OP_ADD):
        found[0] = a if b.count == 0 else b
        return True
    entries.expect(a.count + b.count)
    found.start = entries.size
    while a.count or b.count:
        if a.count:
            left = entries.items[a.start]
        if b.count:
            right = entries.items[b.start]
        if a.count and b.count and left.column == right.column:
            entries.add(left.column, builder.emit(op, left.weight, right.weight))
            a.start, a.count, b.start, b.count = a.start + 1, a.count - 1, b.start + 1, b.count - 1
        elif b.count == 0 or (a.count and left.column < right.column):
            entries.add(left.column, left.weight)
            a.start, a.count = a.start + 1, a.count - 1
        else:
            entries.add(right.column, right.weight if op == OP_ADD else builder.emit(OP_NEGATIVE, right.weight, 0))
            b.start, b.count = b.start + 1, b.count - 1
    found.count = entries.size - found.start
    return True
