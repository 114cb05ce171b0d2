"""The sparsity pattern of a linear sweep: which items of the seed an item may depend on, as an interval or as a set.

By intervals every item of every node has an interval of the items of the seed, in C order, that covers all that it
depends on; the empty one begins beyond the last and ends before the first. A union is covered by one interval again, so
a pattern takes two integers an item, and is exact for bands and blocks along the diagonal. What it leaves out is not a
dependence in the recorded operations, whatever the values are.

Sets are exact for any pattern, and are for sweeps over numbers: an item refers to a sorted stretch of one long list,
and to that of an operand where it has no more than that.
"""

import numpy as np

cimport cython
cimport numpy as cnp

from libc.string cimport memcpy

from hoad._core.base.blocks cimport give, reserve
from hoad._core.graph.primitive cimport INFO, K_UFUNC, Signature, primitive_of
from hoad._core.graph.reach cimport dependents, mark_needed, marks_in
from hoad._core.graph.tape cimport (
    F_WIDE, OP_ASSEMBLE, OP_ITEM, OP_RESULT, WideNode, Graph, Node, aval_of, int32_t, int64_t, node_operands,
    operand_aval,
)

cnp.import_array()


def intervals(Graph graph, int seed, list outputs, int64_t limit, object through):
    """For each output (lows, highs) of its items, flat; None if the nodes that depend on `seed` have more than `limit`.

    ``through(node, {operand: (lows, highs)})`` gives those of an array that is not an elementwise result, or of the
    first of several results, all together.
    """
    cdef int32_t n = graph.size
    cdef int64_t[::1] first = np.full(n - seed, -1, dtype=np.int64)     # where the items of a node begin
    cdef int64_t total = 0       # of items so far; then where those of an output begin
    cdef int32_t i, k, count
    cdef bytearray depends = dependents(graph, seed, n, (seed,))
    cdef int32_t size = aval_of(operand_aval(graph, seed)).size
    for i in range(seed, n):
        if not depends[i - seed]:
            continue
        first[i - seed] = total
        total += aval_of(operand_aval(graph, i)).size
        if total > limit:
            return None
    lows = np.full(total, size, dtype=np.int32)
    highs = np.full(total, -1, dtype=np.int32)
    lows[:size] = highs[:size] = np.arange(size)
    spread(graph, seed, first, lows, highs, through)
    found = []
    for k in outputs:
        count = aval_of(operand_aval(graph, k)).size
        total = first[k - seed] if k >= seed else -1
        if total < 0:
            found.append((np.full(count, size, dtype=np.int32), np.full(count, -1, dtype=np.int32)))
        else:
            found.append((lows[total:total + count], highs[total:total + count]))
    return found


cdef int spread(Graph graph, int32_t seed, int64_t[::1] first, cnp.ndarray all_lows, cnp.ndarray all_highs,
                object through) except -1:
    """Fill in the intervals of all nodes behind the seed, in order."""
    cdef int32_t[::1] lows = all_lows
    cdef int32_t[::1] highs = all_highs
    cdef int32_t i, j, k, count, size
    cdef int64_t at, own
    cdef const int32_t* operands
    cdef const Node* node
    cdef int64_t[::1] offsets
    for i in range(seed + 1, graph.size):
        own = first[i - seed]
        if own < 0:
            continue
        node = &graph.nodes[i]
        size = aval_of(operand_aval(graph, i)).size
        operands = node_operands(graph, i, &count)
        if is_itemwise(graph, i, size, operands, count):
            for k in range(count):
                at = first[operands[k] - seed] if operands[k] >= seed else -1
                if at < 0:
                    continue
                if aval_of(operand_aval(graph, operands[k])).size == size:
                    for j in range(size):
                        widen(&lows[own + j], &highs[own + j], lows[at + j], highs[at + j])
                else:
                    for j in range(size):
                        widen(&lows[own + j], &highs[own + j], lows[at], highs[at])
        elif node.op == OP_ITEM:
            at = first[operands[0] - seed] + node.b
            widen(&lows[own], &highs[own], lows[at], highs[at])
        elif is_plain_assembly(graph, node):
            offsets = (<Signature>graph.wide_nodes[node.a].sig).params[0]
            for k in range(count):
                at = first[operands[k] - seed] if operands[k] >= seed else -1
                if at >= 0:
                    widen(&lows[own + offsets[k]], &highs[own + offsets[k]], lows[at], highs[at])
        else:
            given = {}
            for k in range(count):
                at = first[operands[k] - seed] if operands[k] >= seed else -1
                if at >= 0:
                    j = aval_of(operand_aval(graph, operands[k])).size
                    given[k] = all_lows[at:at + j], all_highs[at:at + j]
            all_lows[own:own + size], all_highs[own:own + size] = through(i, given)
    return 0


cdef inline void widen(int32_t* low, int32_t* high, int32_t other_low, int32_t other_high) noexcept nogil:
    """Let an interval cover another one too."""
    if other_low < low[0]:
        low[0] = other_low
    if other_high > high[0]:
        high[0] = other_high


cdef bint is_itemwise(Graph graph, int32_t i, int32_t size, const int32_t* operands, int32_t count) except -1:
    """Whether a node acts item by item on operands of its own shape and on single numbers."""
    cdef const Node* node = &graph.nodes[i]
    cdef int32_t k
    if node.op == OP_ITEM or node.op == OP_RESULT or node.op == OP_ASSEMBLE:
        return False
    if node.flags & F_WIDE and not (INFO[node.op].kind == K_UFUNC or primitive_of(node.op).elementwise):
        return False
    shape = aval_of(operand_aval(graph, i)).shape
    for k in range(count):
        of_operand = aval_of(operand_aval(graph, operands[k]))
        if of_operand.size != 1 and of_operand.shape != shape:
            return False
    return True


cdef bint is_plain_assembly(Graph graph, const Node* node) except -1:
    """Whether a node puts numbers at places of an array of zeros, and nothing else."""
    if node.op != OP_ASSEMBLE:
        return False
    cdef const WideNode* wide = &graph.wide_nodes[node.a]
    return len((<Signature>wide.sig).params[1]) == 0


# ---- by sets --------------------------------------------------------------------------------------------------------

cdef struct MemberSet:
    int64_t start       # in the list of members
    int64_t count


@cython.final
cdef class Members:
    """A list of members that grows, of which sets are stretches."""

    cdef int32_t* items
    cdef int32_t cap_items
    cdef int64_t size

    def __dealloc__(self):
        give(self.items, self.cap_items * sizeof(int32_t))

    cdef int expect(self, int64_t count) except -1:
        """Let so many more be appended."""
        return reserve(<void**>&self.items, &self.cap_items, self.size + count, sizeof(int32_t))

    cdef MemberSet union_of(self, MemberSet one, MemberSet other) except *:
        """A stretch with the members of both."""
        cdef MemberSet found
        cdef int32_t* to
        cdef const int32_t* a
        cdef const int32_t* b
        cdef const int32_t* end_a
        cdef const int32_t* end_b
        if one.count == 0 or one.start == other.start and one.count <= other.count:
            return other
        if other.count == 0 or one.start == other.start:
            return one
        self.expect(one.count + other.count)
        a, b, to = self.items + one.start, self.items + other.start, self.items + self.size
        end_a, end_b = a + one.count, b + other.count
        while a < end_a and b < end_b:
            if a[0] == b[0]:
                b += 1
                continue
            if a[0] < b[0]:
                to[0] = a[0]
                a += 1
            else:
                to[0] = b[0]
                b += 1
            to += 1
        while a < end_a:
            to[0] = a[0]
            a, to = a + 1, to + 1
        while b < end_b:
            to[0] = b[0]
            b, to = b + 1, to + 1
        found.start = self.size
        found.count = to - self.items - self.size
        if found.count == one.count:
            return one
        if found.count == other.count:
            return other
        self.size += found.count
        return found


def index_sets(Graph graph, int32_t seed, int32_t output, object through):
    """(members, starts): the items of the seed that each item of `output` may depend on, sorted, item after item.

    ``through(node, {operand: (members, starts)})`` gives those of an array that is not elementwise, or of the result
    of an operation that has several.
    """
    cdef bytearray behind = dependents(graph, seed, output + 1, (seed,))
    cdef bytearray needed = bytearray(output - seed + 3)
    cdef int64_t[::1] first = np.full(output + 1 - seed, -1, dtype=np.int64)    # where the items of a node begin
    cdef int64_t total = 0
    cdef int64_t at
    cdef int32_t i, k, count, j, size
    cdef const int32_t* operands
    cdef const Node* node
    cdef int64_t[::1] offsets
    cdef Members members = Members()
    needed[output - seed + 2] = 1
    mark_needed(graph, seed, output + 1, marks_in(needed) + 2)
    for i in range(seed, output + 1):
        if behind[i - seed] and needed[i - seed + 2]:
            first[i - seed] = total
            total += aval_of(operand_aval(graph, i)).size
    cdef cnp.ndarray table = np.zeros((max(total, 1), 2), dtype=np.int64)
    cdef MemberSet* sets = <MemberSet*>cnp.PyArray_DATA(table)
    size = aval_of(operand_aval(graph, seed)).size
    members.expect(size)
    for j in range(size):
        members.items[j] = j
        sets[j].start, sets[j].count = j, 1
    members.size = size
    for i in range(seed + 1, output + 1):
        if first[i - seed] < 0:
            continue
        node = &graph.nodes[i]
        size = aval_of(operand_aval(graph, i)).size
        operands = node_operands(graph, i, &count)
        if is_itemwise(graph, i, size, operands, count):
            for k in range(count):
                at = first[operands[k] - seed] if operands[k] >= seed else -1
                if at >= 0:
                    unite(members, &sets[first[i - seed]], size, &sets[at],
                          aval_of(operand_aval(graph, operands[k])).size == size)
        elif node.op == OP_ITEM:
            sets[first[i - seed]] = sets[first[operands[0] - seed] + node.b]
        elif is_plain_assembly(graph, node):
            offsets = (<Signature>graph.wide_nodes[node.a].sig).params[0]
            for k in range(count):
                at = first[operands[k] - seed] if operands[k] >= seed else -1
                if at >= 0:
                    unite(members, &sets[first[i - seed] + offsets[k]], 1, &sets[at], True)
        else:
            given = {}
            if node.op == OP_RESULT:
                operands = node_operands(graph, operands[0], &count)
            for k in range(count):
                at = first[operands[k] - seed] if operands[k] >= seed else -1
                if at >= 0:
                    given[k] = told(members, &sets[at], aval_of(operand_aval(graph, operands[k])).size)
            take_over(members, &sets[first[i - seed]], size, through(i, given))
    at = first[output - seed]
    return told(members, &sets[max(at, 0)], aval_of(operand_aval(graph, output)).size if at >= 0 else 0)


cdef int unite(Members members, MemberSet* sets, int32_t size, const MemberSet* others, bint each) except -1:
    """Add other sets to those of items, one to each or the same to all."""
    cdef int32_t j
    for j in range(size):
        sets[j] = members.union_of(sets[j], others[j if each else 0])
    return 0


cdef tuple told(Members members, const MemberSet* sets, int32_t size):
    """(members, starts) of the sets of items."""
    cdef int64_t[::1] starts = np.zeros(size + 1, dtype=np.int64)
    cdef int32_t j
    for j in range(size):
        starts[j + 1] = starts[j] + sets[j].count
    cdef cnp.ndarray found = np.empty(starts[size], dtype=np.int32)
    for j in range(size):
        memcpy(<int32_t*>cnp.PyArray_DATA(found) + starts[j], members.items + sets[j].start,
               sets[j].count * sizeof(int32_t))
    return found, np.asarray(starts)


cdef int take_over(Members members, MemberSet* sets, int32_t size, tuple given) except -1:
    """The sets that Python has worked out: (members, starts), each sorted."""
    cdef const int32_t[::1] found = given[0].astype(np.int32)
    cdef const int64_t[::1] starts = given[1].astype(np.int64)
    cdef int32_t j
    cdef int64_t count = starts[size]
    members.expect(count)
    if count:
        memcpy(members.items + members.size, &found[0], count * sizeof(int32_t))
    for j in range(size):
        sets[j].start, sets[j].count = members.size + starts[j], starts[j + 1] - starts[j]
    members.size += count
    return 0
