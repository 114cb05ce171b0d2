"""The sparsity pattern of a linear sweep, by intervals of the items of the seed that an item may depend on.

Every item of every node has an interval of the items of the seed, in C order, that covers all that it depends on; the
empty one begins beyond the last and ends before the first. A union is covered by one interval again, so a pattern takes
two integers an item, and is exact for bands and blocks along the diagonal. What it leaves out is not a dependence in
the recorded operations, whatever the values are.
"""

import numpy as np

cimport numpy as cnp

from hoad._core.graph.primitive cimport INFO, K_UFUNC, Signature, primitive_of
from hoad._core.graph.reach cimport dependents
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
