"""Graphs as plain data, for pickling: tables as bytes, signatures as (primitive, parameters, operands, results)."""

import numpy as np

from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF

from hoad._core.primitive cimport Primitive, Signature, primitive_of
from hoad._core.tape cimport (
    AVAL_BOOL,
    F_BOOL,
    F_EXT,
    F_STRONG,
    OP_INPUT,
    OP_ITEM,
    OP_RESULT,
    Graph,
    Node,
    Slot,
    int32_t,
    node_operands,
    uint16_t,
)

from hoad._core.primitive import make_signature
from hoad._core.recording import const_value, guard_rows, operand_avals
from hoad._core.tape import intern_aval


def graph_data(Graph graph, int end, int n_guards, describe):
    """The first nodes and guards as plain data; `describe` turns a primitive into something that can be pickled.

    Values of inputs travel; all others are computed again when asked for.
    """
    cdef int32_t i, k, n, behind
    cdef const int32_t* operands
    cdef Node* node
    nodes = []
    for i in range(end):
        node = &graph.nodes[i]
        operands = node_operands(graph, i, &n)
        behind = 1 if node.op == OP_RESULT else 0      # which result it is stands behind its operand
        numbers = [operands[k] for k in range(n + behind)]
        if not node.flags & F_EXT:
            nodes.append((primitive_key(describe, node.op), node.flags & (F_BOOL | F_STRONG), numbers, node.b, None))
            continue
        sig = <object>graph.exts[node.a].sig
        nodes.append((primitive_key(describe, node.op), node.flags & (F_BOOL | F_STRONG), numbers, aval_key(graph, i),
                      None if sig is None else signature_key(sig)))
    constants = [const_value(graph, ~k) for k in range(graph.n_consts)]
    inputs = {i: graph.value_of(i) for i in range(end) if graph.nodes[i].op == OP_INPUT}
    guards = [(k, expected) for k, expected, _ in guard_rows(graph)[:n_guards]]
    return {"nodes": nodes, "constants": constants, "inputs": inputs, "guards": guards}


cdef object primitive_key(object describe, uint16_t op):
    return describe(primitive_of(op))


cdef tuple aval_key(Graph graph, int32_t i):
    (aval,) = operand_avals(graph, [i])
    return aval.dtype.str, aval.shape


cdef tuple signature_key(Signature sig):
    return sig.params, [(a.dtype.str, a.shape) for a in sig.avals], [(a.dtype.str, a.shape) for a in sig.results]


def graph_from(dict data, find):
    """The graph of `graph_data`; `find` turns a description into a primitive."""
    cdef Graph graph = Graph(True)
    cdef int32_t i
    cdef int32_t[::1] operands
    cdef Primitive primitive
    cdef Slot expected
    for value in data["constants"]:
        add_constant(graph, value)
    for description, flags, numbers, extra, key in data["nodes"]:
        primitive = find(description)
        operands = np.array(numbers + [0, 0], dtype=np.int32)
        if isinstance(extra, tuple):
            sig = None if key is None else make_signature(
                primitive, key[0], tuple([interned(k) for k in key[1]]), tuple([interned(k) for k in key[2]]))
            i = graph.push_ext(primitive.op, flags, sig, &operands[0], len(numbers), interned(extra).number)
            if primitive.op == OP_RESULT:
                graph.exts[graph.nodes[i].a].count = 1
        elif primitive.op == OP_ITEM:
            graph.push(primitive.op, flags, operands[0], extra, 0.0)
        else:
            graph.push(primitive.op, flags, operands[0], operands[1], 0.0)
    for i, value in data["inputs"].items():
        if value is not None:
            graph.set_object(i, value)
    for i, value in data["guards"]:
        if isinstance(value, np.ndarray):
            expected.o = <PyObject*>value
            graph.add_guard(i, expected, True)
        else:
            expected.d = 1.0 if value else 0.0
            graph.add_guard(i, expected, False)
    for i in range(graph.n_guards):     # the line that was recorded is not here
        if graph.guards[i].code != NULL:
            Py_DECREF(<object>graph.guards[i].code)
            graph.guards[i].code = NULL
    graph.thread = 0
    return graph


cdef object interned(tuple key):
    return intern_aval(np.dtype(key[0]), tuple(key[1]))


cdef int add_constant(Graph graph, object value) except -1:
    """One row of the constants, in its old place: equal numbers keep rows of their own."""
    cdef int32_t i
    if isinstance(value, np.ndarray):
        graph.const_object(value)
        return 0
    i = graph.push_const(AVAL_BOOL if isinstance(value, bool) else 0)
    graph.consts[i].value.d = 1.0 if value is True else (0.0 if value is False else <double>value)
    return 0
