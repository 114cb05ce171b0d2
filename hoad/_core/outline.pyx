"""Taking a stretch of a running recording out into a graph of its own: the body of a loop, recorded once.

The opposite of `inline`. What the stretch uses of the graph around it becomes further inputs.
"""

from array import array

from cpython.object cimport PyObject
from cpython.ref cimport Py_XINCREF

from hoad._core.emit cimport Emitter
from hoad._core.tape cimport F_EXT, ZERO, Graph, Slot, aval_of, int32_t, node_operands, operand_aval
from hoad._core.template cimport Template
from hoad._core.traced cimport wrap

from hoad._core.operands import new_input


def outline(Graph source, int start, int first_guard, list inputs, list outputs):
    """A sealed graph of the nodes behind `outputs`, from `start` on: (graph, window, inputs, outputs, captured).

    `inputs` are nodes of the stretch that begin it. `captured` are nodes before it that it uses; they are the last of
    its inputs. Guards from `first_guard` on come along where they lie in the stretch.
    """
    cdef bytearray needed = needed_nodes(source, start, first_guard, outputs + inputs)
    cdef list captured = captured_nodes(source, start, needed, inputs, outputs)
    cdef Graph graph = Graph(True)
    cdef Template template = Template.__new__(Template)
    cdef Emitter emitter
    cdef int32_t[::1] place = array("i", [ZERO]) * max(1, source.size)
    cdef int32_t i, k
    cdef list leaves = inputs + captured
    template.graph = source
    for i in leaves:
        value = source.value_of(i)
        new_input(graph, aval_of(operand_aval(source, i)) if value is None else value)
        place[i] = graph.size - 1
    emitter = Emitter(graph, False)
    for i in range(start, source.size):
        if needed[i - start] and place[i] == ZERO:
            place[i] = template.emitted(emitter, i, &place[0])
            keep_position(source, i, graph, place[i])
    for k in range(first_guard, source.n_guards):
        if source.guards[k].node >= start:
            keep_guard(source, k, graph, place[source.guards[k].node])
    found = [template.placed(emitter, <int32_t>x, &place[0]) for x in outputs]
    graph.thread = 0
    return graph, (0, graph.size, 0, graph.n_guards), list(range(len(leaves))), found, captured


def traced_nodes(Graph graph, list nodes):
    """The traced values of nodes of a running recording."""
    return [wrap(graph, <int32_t>i) for i in nodes]


cdef bytearray needed_nodes(Graph graph, int32_t start, int32_t first_guard, list operands):
    """Which nodes from `start` on these operands and the guards hang on."""
    cdef bytearray needed = bytearray(max(1, graph.size - start))
    cdef int32_t i, k, n
    cdef const int32_t* found
    for i in operands:
        if i >= start:
            needed[i - start] = 1
    for k in range(first_guard, graph.n_guards):
        if graph.guards[k].node >= start:
            needed[graph.guards[k].node - start] = 1
    for i in range(graph.size - 1, start - 1, -1):
        if needed[i - start]:
            found = node_operands(graph, i, &n)
            for k in range(n):
                if found[k] >= start:
                    needed[found[k] - start] = 1
    return needed


cdef list captured_nodes(Graph graph, int32_t start, bytearray needed, list inputs, list outputs):
    """The nodes before `start` that the needed ones use, in order."""
    cdef set captured = {i for i in outputs if 0 <= <int32_t>i < start}
    cdef set entries = set(inputs)
    cdef int32_t i, k, n
    cdef const int32_t* found
    for i in range(start, graph.size):
        if needed[i - start] and i not in entries:
            found = node_operands(graph, i, &n)
            for k in range(n):
                if 0 <= found[k] < start:
                    captured.add(found[k])
    return sorted(captured)


cdef int keep_position(Graph source, int32_t i, Graph graph, int32_t k) except -1:
    """Give node `k` of the graph the user's line of node `i`."""
    cdef PyObject* code
    if k < 0 or not source.nodes[i].flags & F_EXT or not graph.nodes[k].flags & F_EXT:
        return 0
    code = source.exts[source.nodes[i].a].code
    if code != NULL and graph.exts[graph.nodes[k].a].code == NULL:
        Py_XINCREF(code)
        graph.exts[graph.nodes[k].a].code = code
        graph.exts[graph.nodes[k].a].line = source.exts[source.nodes[i].a].line
    return 0


cdef int keep_guard(Graph source, int32_t k, Graph graph, int32_t node) except -1:
    """Add guard `k` of the source, on `node`, with the user's line."""
    cdef Slot expected = source.guards[k].expected
    if node < 0:
        return 0
    graph.add_guard(node, expected, source.guards[k].is_object)
    if source.guards[k].code != NULL and graph.guards[graph.n_guards - 1].code == NULL:
        Py_XINCREF(source.guards[k].code)
        graph.guards[graph.n_guards - 1].code = source.guards[k].code
    graph.guards[graph.n_guards - 1].line = source.guards[k].line
    return 0
