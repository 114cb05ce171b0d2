"""Which nodes depend on some nodes, and which nodes some need: a pass over a graph that marks them, a byte a node.

``marks[i - start]`` is of node i. Passes that stop at other places, or ask more of a node, are loops of their own.
"""

from hoad._core.graph.tape cimport ARITY, F_WIDE, OP_RESULT, Node, int64_t, node_operands


cdef void mark_dependents(Graph graph, int32_t start, int32_t end, uint8_t* marks) noexcept:
    """Add to the marks of each node of ``[start, end)``, which are bits, those of its operands there."""
    cdef int32_t i, k, n
    cdef const int32_t* operands
    for i in range(start, end):
        operands = node_operands(graph, i, &n)
        for k in range(n):
            if operands[k] >= start:
                marks[i - start] |= marks[operands[k] - start]


cdef bytearray dependents(Graph graph, int32_t start, int32_t end, nodes):
    """Marks of the nodes of ``[start, end)``: 1 for some of them, and for those that depend on one."""
    cdef bytearray marks = bytearray(end - start)
    cdef int32_t i
    for i in nodes:
        marks[i - start] = 1
    mark_dependents(graph, start, end, marks_in(marks))
    return marks


cdef void mark_needed(Graph graph, int32_t start, int32_t end, uint8_t* marks, const uint8_t* ends=NULL) noexcept:
    """Mark what the marked nodes of ``[start, end)`` need, but for those that `ends` marks; results of a node together.

    ``marks[-1]`` is of all nodes before `start`, and ``marks[-2]`` of all constants.
    """
    cdef int32_t i, k, n
    cdef const int32_t* operands
    cdef const Node* node
    cdef const uint8_t* arity = ARITY
    for i in range(end - 1, start - 1, -1):
        if not marks[i - start] or (ends != NULL and ends[i - start]):
            continue
        node = &graph.nodes[i]
        if not node.flags & F_WIDE:     # without branches that no one could predict
            n = arity[node.op]
            marks[mark_index(node.a if n else -1, start)] = 1
            marks[mark_index(node.b if n == 2 else -1, start)] = 1
            continue
        operands = node_operands(graph, i, &n)
        for k in range(n):
            marks[mark_index(operands[k], start)] = 1
        k = i + 1
        while k < end and graph.nodes[k].op == OP_RESULT:
            marks[k - start] = 1
            k += 1


cdef inline int64_t mark_index(int32_t operand, int32_t start) noexcept:
    """Where the mark of an operand is."""
    return max(<int64_t>operand - start, <int64_t>-1) + (operand >> 31)


def between(Graph graph, int32_t start, int32_t end):
    """The nodes that depend on the node `start` and that the node `end` needs, itself too, in order."""
    cdef bytearray marks = marks_between(graph, start, end)
    cdef int32_t i
    return [i for i in range(start + 1, end + 1) if marks[i - start]]


def count_between(Graph graph, int32_t start, int32_t end):
    """(how many nodes `between` gives, how many of these are numbers)."""
    cdef bytearray marks = marks_between(graph, start, end)
    cdef int32_t i
    cdef int64_t count = 0
    cdef int64_t numbers = 0
    for i in range(start + 1, end + 1):
        if marks[i - start]:
            count += 1
            numbers += not graph.nodes[i].flags & F_WIDE
    return count, numbers


cdef bytearray marks_between(Graph graph, int32_t start, int32_t end):
    """Marks of the nodes of ``[start, end]``: 1 for those that depend on `start` and that `end` needs."""
    cdef bytearray behind = dependents(graph, start, end + 1, (start,))
    cdef bytearray needed = bytearray(end - start + 3)
    cdef int32_t i
    needed[end - start + 2] = 1
    mark_needed(graph, start, end + 1, marks_in(needed) + 2)
    for i in range(end + 1 - start):
        behind[i] &= needed[i + 2]
    return behind
