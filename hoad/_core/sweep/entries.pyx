"""The entries of the matrix that a linear sweep over numbers is, emitted beside the sweep.

Each number of the sweep is a sum over items of the seed, a set of (item, weight), the weight an operand. A product with a
number multiplies its weights, a sum joins two sets. What is computed turn by turn in a loop is so for each entry in the
order of the loop, and lowering finds the turns again.
"""

import numpy as np

cimport numpy as cnp
from libc.stdlib cimport free, realloc

from hoad._core.graph.primitive cimport Signature
from hoad._core.graph.reach cimport dependents, mark_needed, marks_in
from hoad._core.graph.tape cimport (
    F_WIDE, OP_ADD, OP_ASSEMBLE, OP_DIVIDE, OP_IDENTITY, OP_ITEM, OP_MASK, OP_MULTIPLY, OP_NEGATIVE, OP_STRONG_DIVIDE,
    OP_STRONG_MULTIPLY, OP_STRONG_MULTIPLY_BOTH, OP_SUBTRACT, ZERO, Node, aval_of, int64_t, node_operands, operand_aval,
    uint16_t,
)

cnp.import_array()

cdef struct Entry:
    int32_t column, weight

cdef struct EntrySet:
    int64_t start, count


cdef class EntryList:
    """A list of entries that grows, of which sets are stretches."""

    cdef Entry* items
    cdef int64_t size, room

    def __dealloc__(self):
        free(self.items)

    cdef int take(self, int64_t count) except -1:
        """Make room for so many more."""
        cdef int64_t room = self.room
        cdef Entry* items
        if self.size + count > room:
            room = max(2 * room, self.size + count, 1024)
            items = <Entry*>realloc(self.items, room * sizeof(Entry))
            if items == NULL:
                raise MemoryError(f"no memory for the {room} entries of a sparse matrix")
            self.items, self.room = items, room
        return 0

    cdef int add(self, int32_t column, int32_t weight) except -1:
        """Append an entry for which there is room, unless it is zero by the operations alone."""
        if weight != ZERO:
            self.items[self.size].column, self.items[self.size].weight = column, weight
            self.size += 1
        return 0


cdef tuple entries_of_numbers(Graph graph, Builder builder, int32_t seed, int32_t output):
    """(rows, columns, weights) of the entries, row by row; None if an operation on arrays is among the sweep.

    Other than those that take items of the seed, and that put the output together from numbers.
    """
    cdef bytearray marks = dependents(graph, seed, output + 1, (seed,))
    cdef bytearray needed = bytearray(output - seed + 3)
    cdef cnp.ndarray table = np.zeros((output + 1 - seed, 2), dtype=np.int64)
    cdef EntrySet* sets = <EntrySet*>cnp.PyArray_DATA(table)
    cdef EntryList entries = EntryList()
    cdef int32_t i
    needed[output - seed + 2] = 1
    mark_needed(graph, seed, output + 1, marks_in(needed) + 2)
    if graph.nodes[output].op != OP_ASSEMBLE:
        return None
    for i in range(seed + 1, output):
        if marks[i - seed] and needed[i - seed + 2] and not add_node(graph, builder, seed, i, sets, marks, entries):
            return None
    return assembled(graph, seed, output, sets, marks, entries)


cdef bint add_node(Graph graph, Builder builder, int32_t seed, int32_t i, EntrySet* sets, const unsigned char[:] marks,
                   EntryList entries) except -1:
    """Find the set of a number; False if it is none, or not linear in a way that is known here."""
    cdef uint16_t op = graph.nodes[i].op
    cdef int32_t a = graph.nodes[i].a
    cdef int32_t b = graph.nodes[i].b
    cdef EntrySet* of_a = &sets[a - seed] if a >= seed and marks[a - seed] else NULL
    cdef EntrySet* found = &sets[i - seed]
    cdef EntrySet* of_b
    if op == OP_ITEM:
        if a != seed:
            return False
        entries.take(1)
        found.start, found.count = entries.size, 1
        entries.add(b, graph.const_float(1.0))
        return True
    if graph.nodes[i].flags & F_WIDE:
        return False
    if op == OP_IDENTITY:
        found[0] = of_a[0]
        return True
    if op == OP_NEGATIVE:
        return scale(builder, op, of_a, 0, False, found, entries)
    of_b = &sets[b - seed] if b >= seed and marks[b - seed] else NULL
    if op == OP_ADD or op == OP_SUBTRACT:
        return join(builder, op, of_a, of_b, found, entries)
    if of_a != NULL and of_b != NULL:
        return False
    if op == OP_STRONG_MULTIPLY and of_a != NULL:
        op = OP_MULTIPLY        # which zeros of a weight are strong, it tells by itself
    elif op == OP_STRONG_DIVIDE:
        op = OP_DIVIDE
    if op == OP_MULTIPLY or op == OP_STRONG_MULTIPLY or op == OP_STRONG_MULTIPLY_BOTH:
        return scale(builder, op, of_b if of_a == NULL else of_a, a if of_a == NULL else b, of_a == NULL, found, entries)
    if op == OP_DIVIDE and of_b == NULL:
        return scale(builder, op, of_a, b, False, found, entries)
    if op == OP_MASK and of_a == NULL:
        return scale(builder, op, of_b, a, True, found, entries)
    return False


cdef bint scale(Builder builder, uint16_t op, const EntrySet* given, int32_t other, bint on_the_right, EntrySet* found,
                EntryList entries) except -1:
    """The weights of a set, each with the other operand."""
    cdef int64_t k
    cdef Entry entry
    entries.take(given.count)
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
    if other == NULL or (one == NULL and op == OP_ADD):
        found[0] = a if other == NULL else b
        return True
    entries.take(a.count + b.count)
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


cdef tuple assembled(Graph graph, int32_t seed, int32_t output, const EntrySet* sets, const unsigned char[:] marks,
                     EntryList entries):
    """The entries of an array that is put together from numbers."""
    cdef int32_t count, k
    cdef int64_t j
    cdef int64_t total = 0
    cdef const int32_t* operands = node_operands(graph, output, &count)
    offsets, parts = (<Signature>graph.wide_nodes[graph.nodes[output].a].sig).params
    if len(parts) or len(set(offsets.tolist())) < count:
        return None
    for k in range(count):
        if operands[k] >= seed and marks[operands[k] - seed]:
            if aval_of(operand_aval(graph, operands[k])).ndim:
                return None
            total += sets[operands[k] - seed].count
    cdef cnp.ndarray rows = np.empty(total, dtype=np.int64)
    cdef cnp.ndarray columns = np.empty(total, dtype=np.int64)
    cdef cnp.ndarray weights = np.empty(total, dtype=np.int32)
    cdef const int64_t[::1] at = offsets
    total = 0
    for k in range(count):
        if operands[k] < seed or not marks[operands[k] - seed]:
            continue
        for j in range(sets[operands[k] - seed].start, sets[operands[k] - seed].start + sets[operands[k] - seed].count):
            (<int64_t*>cnp.PyArray_DATA(rows))[total] = at[k]
            (<int64_t*>cnp.PyArray_DATA(columns))[total] = entries.items[j].column
            (<int32_t*>cnp.PyArray_DATA(weights))[total] = entries.items[j].weight
            total += 1
    return rows, columns, weights
