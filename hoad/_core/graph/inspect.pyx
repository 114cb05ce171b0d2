"""Reading a graph: its nodes, constants and guards as Python objects, which change nothing."""

import numpy as np

from hoad._core.graph.primitive cimport INFO, K_PYTHON, Signature, params_of, primitive_of
from hoad._core.graph.tape cimport (
    F_WIDE, F_STRONG, OP_IDENTITY, Const, WideNode, Graph, Node, Slot, aval_of, int32_t, is_missing, node_operands,
    operand_aval,
)


def node_row(Graph graph, int i):
    """What node `i` is: (operation, operands, parameters, abstract value, value, whether its zeros are strong).

    The value is None where it is not known, or was forgotten.
    """
    cdef int32_t n, k
    if not 0 <= i < graph.size:
        raise IndexError(f"node {i} of a graph with {graph.size} nodes")
    cdef const int32_t* operands = node_operands(graph, i, &n)
    cdef object value = None if is_missing(graph, i) else graph.value_of(i)
    return (primitive_of(graph.nodes[i].op), [operands[k] for k in range(n)], params_of(graph, i),
            aval_of(operand_aval(graph, i)), read_only(value), bool(graph.nodes[i].flags & F_STRONG))


cdef object read_only(object value):
    """A view that cannot be written through: tapes are never changed."""
    if isinstance(value, np.ndarray):
        value = value.view()
        value.flags.writeable = False
    return value


def operand_avals(Graph graph, list operands):
    """The abstract values of operands."""
    return [aval_of(operand_aval(graph, require_operand(graph, k))) for k in operands]


def depends_on_inputs(Graph graph, int operand):
    """Whether an operand depends on anything but constants."""
    cdef int32_t n, k, at
    cdef list stack = [operand]
    cdef set seen = set()
    cdef const int32_t* operands
    while stack:
        at = stack.pop()
        if at < 0 or at in seen:
            continue
        seen.add(at)
        operands = node_operands(graph, at, &n)
        if n == 0 or graph.nodes[at].op == OP_IDENTITY:     # an input, or one of a recording within another
            return True
        stack.extend([operands[k] for k in range(n)])
    return False


def depends_on_matrix(Graph graph, int operand, int most):
    """Whether an operand depends on an input that is a square matrix, or has such items; None beyond so many nodes."""
    cdef int32_t n, k, at
    cdef list stack = [operand]
    cdef set seen = set()
    cdef const int32_t* operands
    cdef tuple shape
    while stack:
        at = stack.pop()
        if at < 0 or at in seen:
            continue
        if len(seen) == most:
            return None
        seen.add(at)
        operands = node_operands(graph, at, &n)
        if n and graph.nodes[at].op != OP_IDENTITY:     # not an input, nor one of a recording within another
            stack.extend([operands[k] for k in range(n)])
            continue
        shape = aval_of(operand_aval(graph, at)).shape
        if len(shape) > 1 and shape[-1] == shape[-2] > 1:
            return True
    return False


def are_strong(Graph graph, list operands):
    """Of each of these operands, linear in seeds: 1 if its zeros are strong, 2 if it is a constant of zeros, else 0."""
    return tuple([2 if <int32_t>k < 0 else int(graph.nodes[<int32_t>k].flags & F_STRONG != 0) for k in operands])


def const_value(Graph graph, int operand):
    """The value of a constant operand, for reading."""
    return read_only(graph.value_of(require_operand(graph, operand)))


cdef int32_t require_operand(Graph graph, int operand) except? -1:
    """The operand, which is a node or a constant of this graph."""
    if not -graph.n_consts <= operand < graph.size:
        raise IndexError(f"operand {operand} of a graph with {graph.size} nodes and {graph.n_consts} constants")
    return operand


def callees(Graph graph, int end):
    """What the nodes before `end` that are programs, loops or the like hold."""
    cdef int32_t i
    cdef Signature sig
    cdef list found = []
    for i in range(end):
        if graph.nodes[i].flags & F_WIDE and INFO[graph.nodes[i].op].kind == K_PYTHON:
            sig = <Signature>graph.wide_nodes[graph.nodes[i].a].sig
            if sig is not None and sig.primitive.of_programs:
                found.append(sig.params[0])
    return found


def swept_by(Graph graph, int i):
    """(the node whose sweep emitted node `i`, or -1; "reverse" or "forward"), None if no watched sweep did."""
    cdef int32_t k
    if isinstance(graph.sweeps, dict):
        return graph.sweeps.get(i)
    for start, end, mode in graph.sweeps or ():
        if start <= i < end:
            for k in range(i, end):     # a forward sweep notes the last of the nodes that it emits together
                if 3 * k < graph.cap_notes and graph.notes[3 * k] >= 0:
                    return (graph.notes[3 * k] if graph.notes[3 * k] < i else -1), mode
            return -1, mode
    return None


def graph_nbytes(Graph graph):
    """Bytes of the rows of a graph (arrays aside): (nodes, constants, extension)."""
    return (graph.size * (sizeof(Node) + sizeof(Slot)), graph.n_consts * sizeof(Const),
            graph.n_wide_nodes * sizeof(WideNode) + graph.n_pool * sizeof(int32_t))


def guard_rows(Graph graph):
    """(node, expected truth, position) of every guard."""
    cdef int32_t k
    rows = []
    for k in range(graph.n_guards):
        code = graph.guards[k].code
        where = f"{(<object>code).co_filename}:{graph.guards[k].line}" if code != NULL else None
        expected = <object>graph.guards[k].expected.o if graph.guards[k].is_object else graph.guards[k].expected.d != 0
        rows.append((graph.guards[k].node, expected, where))
    return rows
