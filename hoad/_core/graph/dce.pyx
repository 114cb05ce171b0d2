"""Dropping what no output of a new tape needs: nodes, and constants that were folded on the way."""

from hoad._core.base.blocks cimport give, required, take, take_zeroed
from hoad._core.graph.reach cimport mark_needed
from hoad._core.graph.tape cimport ARITY, F_WIDE, F_VALUED, OP_INPUT, Const, node_operands, uint8_t


cdef enum:
    FEW = 1024      # constants are not worth a pass over the tape


cdef int compact(Graph graph, Scope start, int32_t* outputs, int32_t count) except -1:
    """Drop the nodes and constants from `start` on that no output needs, and renumber; inputs stay."""
    drop_nodes(graph, start.start, outputs, count)
    drop_constants(graph, start, outputs, count)
    graph.trim()
    return 0


# ---- nodes ----------------------------------------------------------------------------------------------------------

cdef int drop_nodes(Graph graph, int32_t start, int32_t* outputs, int32_t count) except -1:
    cdef int32_t size = graph.size - start
    cdef int32_t i
    if size <= 0:
        return 0
    cdef uint8_t* marks = <uint8_t*>required(take_zeroed(size + 2))
    cdef uint8_t* live = marks + 2
    for i in range(count):
        if outputs[i] >= start:
            live[outputs[i] - start] = 1
    for i in range(graph.n_guards):     # guards outlive dead nodes
        if graph.guards[i].node >= start:
            live[graph.guards[i].node - start] = 1
    mark_needed(graph, start, graph.size, live)
    cdef int32_t kept = 0
    for i in range(size):
        live[i] |= graph.nodes[start + i].op == OP_INPUT
        kept += live[i]
    if kept == size:
        give(marks, size + 2)
        return 0
    cdef int32_t* place = <int32_t*>take(size * sizeof(int32_t))
    if place == NULL:
        give(marks, size + 2)
        raise MemoryError
    kept = 0
    for i in range(size):
        if live[i]:
            place[i] = start + kept
            move_node(graph, start, i, start + kept, place)
            kept += 1
    for i in range(count):
        if outputs[i] >= start:
            outputs[i] = place[outputs[i] - start]
    for i in range(graph.n_guards):
        if graph.guards[i].node >= start:
            graph.guards[i].node = place[graph.guards[i].node - start]
    graph.size = start + kept
    give(place, size * sizeof(int32_t))
    give(marks, size + 2)
    return 0


cdef void move_node(Graph graph, int32_t start, int32_t i, int32_t to, const int32_t* place) noexcept:
    """Move node ``start + i`` to number `to`, its operands renumbered by `place`."""
    cdef int32_t k, n
    cdef bint known
    cdef int32_t* operands = <int32_t*>node_operands(graph, start + i, &n)
    for k in range(n):
        if operands[k] >= start:
            operands[k] = place[operands[k] - start]
    graph.nodes[to] = graph.nodes[start + i]
    if graph.nodes[to].flags & F_VALUED:
        graph.slots[to] = graph.slots[start + i]
    if graph.notes != NULL and 3 * (to - graph.notes_start) + 2 < graph.cap_notes:
        known = 3 * (start + i - graph.notes_start) + 2 < graph.cap_notes
        for k in range(3):
            graph.notes[3 * (to - graph.notes_start) + k] = (
                graph.notes[3 * (start + i - graph.notes_start) + k] if known else -1)


# ---- constants ------------------------------------------------------------------------------------------------------

cdef int drop_constants(Graph graph, Scope start, int32_t* outputs, int32_t count) except -1:
    """What a sweep folds leaves a constant at every step."""
    cdef int32_t first = start.n_consts
    cdef int32_t size = graph.n_consts - first
    cdef int32_t i
    cdef int32_t kept = 0
    cdef Const* rows = graph.consts + first
    if size <= FEW:
        return 0
    cdef int32_t* place = <int32_t*>required(take_zeroed(size * sizeof(int32_t)))      # then 1 + the new row
    each_constant(graph, start, outputs, count, place, False)
    for i in range(size):
        if place[i]:
            place[i] = 1 + kept
            rows[kept], rows[i] = rows[i], rows[kept]
            kept += 1
    if kept < size:
        each_constant(graph, start, outputs, count, place, True)
        for i in range(kept, size):
            graph.release_const(first + i)
        graph.n_consts = first + kept
        graph.forget_captured(first)
    give(place, size * sizeof(int32_t))
    return 0


cdef void each_constant(Graph graph, Scope start, int32_t* outputs, int32_t count, int32_t* place,
                        bint move) noexcept:
    """Mark the constants in use, or `move` what uses them to their new numbers."""
    cdef int32_t first = start.n_consts
    cdef int32_t i, k, n
    cdef int32_t* operands
    for i in range(start.start, graph.size):
        if not graph.nodes[i].flags & F_WIDE:
            operands = &graph.nodes[i].a
            n = ARITY[graph.nodes[i].op]
        else:
            operands = <int32_t*>node_operands(graph, i, &n)
        for k in range(n):
            one_constant(&operands[k], first, place, move)
    for k in range(count):
        one_constant(&outputs[k], first, place, move)


cdef inline void one_constant(int32_t* operand, int32_t first, int32_t* place, bint move) noexcept:
    cdef int32_t row = ~operand[0] - first
    if operand[0] >= 0 or row < 0:
        return
    if move:
        operand[0] = ~(first + place[row] - 1)
    else:
        place[row] = 1
