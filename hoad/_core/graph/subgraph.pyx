"""Cutting the end of a graph off, as a graph of its own: what a function recorded becomes a program behind one node.

The opposite of `inline`. Nodes before the cut become inputs. What was recorded is kept whole (with the arrays that it
captured, and the values of its inputs), or as a form without values, in which these arrays are inputs too: a program
that is called many times then holds no copy of them, and calls that differ in nothing else share it.
"""

import numpy as np

from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.object cimport PyObject
from cpython.ref cimport Py_XDECREF, Py_XINCREF

from libc.math cimport NAN

from hoad._core.graph.primitive cimport Signature
from hoad._core.graph.reach cimport mark_dependents, mark_needed, marks_in
from hoad._core.graph.tape cimport (
    ARITY, AVAL_BOOL, AVAL_FLOAT, F_BOOL, F_WIDE, F_OBJ, F_SPARE, F_STRONG, F_VALUED, OP_INPUT, OP_RESULT, Const,
    WideNode, Guard, Node, node_operands, operand_aval, uint8_t, uint16_t,
)


cdef class Subgraph:
    """A stretch of a recording as a graph of its own."""

    @property
    def window(self):
        """(first node, end, first guard, end of the guards)."""
        return 0, self.graph.size, 0, self.graph.n_guards

    def content(self):
        """What two subgraphs that compute the same have in common, to be compared and hashed."""
        cdef Graph graph = self.graph
        cdef int32_t k
        return (
            PyBytes_FromStringAndSize(<char*>graph.nodes, graph.size * sizeof(Node)),
            PyBytes_FromStringAndSize(<char*>graph.pool, graph.n_pool * sizeof(int32_t)),
            tuple([row_key(&graph.wide_nodes[k]) for k in range(graph.n_wide_nodes)]),
            tuple([constant_key(&graph.consts[k]) for k in range(graph.n_consts)]),
            tuple([guard_key(&graph.guards[k]) for k in range(graph.n_guards)]),
            tuple([operand_aval(graph, k) for k in self.inputs]),
            len(self.constants),        # which of them are constants
            tuple(self.outputs),
            None if graph.positions is None else tuple(graph.positions),
        )


cdef object row_key(WideNode* wide):
    """The operation of an extension row; the subgraph keeps alive what is named by its identity."""
    cdef object sig = <object>wide.sig
    if isinstance(sig, Signature) and (<Signature>sig).primitive.of_programs:
        return wide.first, wide.count, (<Signature>sig).primitive.op, (<Signature>sig).params[0]._identity
    return wide.first, wide.count, id(sig)


cdef object constant_key(Const* constant):
    if constant.aval <= AVAL_BOOL:
        return constant.aval, PyBytes_FromStringAndSize(<char*>&constant.value.d, sizeof(double))
    return constant.aval, id(<object>constant.value.o)


cdef object guard_key(Guard* guard):
    if guard.is_object:
        return guard.node, (<object>guard.expected.o).tobytes()
    return guard.node, guard.expected.d


cdef Subgraph cut(Graph graph, Scope scope, list inputs, list outputs, bint whole):
    """The nodes from `scope` on that `outputs` and guards need; the nodes `inputs` become inputs.

    With arrays and the values of inputs if `whole`, else without.
    """
    return cut_out(graph, scope, live_nodes(graph, scope, inputs, outputs), inputs, outputs, whole)


def varying_part(Graph graph, list varying, list held, list outputs):
    """The nodes of a sealed graph behind `outputs` that depend not on the inputs `held` alone, but on those `varying`.

    What they need of the others becomes an input, and is listed as `outer`. Arrays are kept.
    """
    cdef Scope scope
    cdef int32_t i
    cdef bytearray depends = bytearray(graph.size)      # 1: on what is held, 2: on what varies
    scope.start = 0
    scope.n_guards = graph.n_guards
    cdef bytearray live = live_nodes(graph, scope, varying, outputs)
    for i in held:
        depends[i] = 1
    for i in varying:
        depends[i] = 2
    mark_dependents(graph, 0, graph.size, marks_in(depends))
    for i in range(graph.size):
        if depends[i] == 1:
            live[i] = 0
    return cut_out(graph, scope, live, varying, outputs, True)


cdef Subgraph cut_out(Graph graph, Scope scope, bytearray live, list inputs, list outputs, bint whole):
    """The nodes from `scope` on that are `live`; the nodes `inputs` become inputs, and what else they need."""
    cdef Subgraph made = Subgraph.__new__(Subgraph)
    cdef Graph to = Graph(whole)
    cdef int32_t start = scope.start
    cdef int32_t i, k, n
    cdef const int32_t* operands
    cdef dict place = {}
    made.graph = to
    made.constants = []
    made.outer = []
    for i in range(start, graph.size):
        if live[i - start] != 1:
            continue
        operands = node_operands(graph, i, &n)
        for k in range(n):
            note_outside(made, graph, operands[k], start, live, place, whole)
    for i in outputs:
        note_outside(made, graph, i, start, live, place, whole)
    for k in made.constants + inputs + made.outer:
        place[k] = push_input(to, operand_aval(graph, k), graph.value_of(k) if whole else None)
        if k >= 0:
            to.nodes[place[k]].flags |= graph.nodes[k].flags & F_STRONG
    made.inputs = [place[k] for k in made.constants + inputs + made.outer]
    for i in range(start, graph.size):
        if live[i - start] == 1:
            place[i] = copy_node(to, graph, i, place)
    for k in range(scope.n_guards, graph.n_guards):
        if graph.guards[k].node >= start:
            copy_guard(to, &graph.guards[k], place[graph.guards[k].node])
    made.outputs = [placed(to, graph, k, place) for k in outputs]
    made.place = place
    to.trim()
    to.thread = 0
    return made


cdef int note_outside(Subgraph made, Graph graph, int32_t operand, int32_t start, bytearray live, dict place,
                      bint whole) except -1:
    """Note an operand that will be an input: a node that stays, or an array unless those are kept."""
    if (operand >= start and live[operand - start]) or operand in place:
        return 0
    if operand < 0 and (whole or graph.consts[~operand].aval <= AVAL_BOOL):
        return 0
    (made.constants if operand < 0 else made.outer).append(operand)
    place[operand] = 0
    return 0


cdef bytearray live_nodes(Graph graph, Scope scope, list inputs, list outputs):
    """1 for every node from `scope` on that is to be copied, 2 for the inputs."""
    cdef int32_t start = scope.start
    cdef int32_t i, k
    cdef bytearray marks = bytearray(graph.size - start + 2)
    cdef bytearray ends = bytearray(graph.size - start)
    cdef uint8_t* live = marks_in(marks) + 2
    for i in outputs:
        if i >= start:
            live[i - start] = 1
    for k in range(scope.n_guards, graph.n_guards):
        if graph.guards[k].node >= start:
            live[graph.guards[k].node - start] = 1
    for i in inputs:
        ends[i - start] = 1
    mark_needed(graph, start, graph.size, live, marks_in(ends))
    for i in inputs:
        live[i - start] = 2
    return marks[2:]


cdef int32_t push_input(Graph graph, int32_t aval, object value) except -1:
    cdef int32_t node
    if aval > AVAL_BOOL:
        node = graph.push_wide(OP_INPUT, 0, None, NULL, 0, aval)
    else:
        node = graph.push(OP_INPUT, F_BOOL if aval == AVAL_BOOL else 0, 0, 0, NAN)
    if value is not None:
        graph.set_object(node, value)
    return node


cdef int32_t copy_node(Graph to, Graph graph, int32_t i, dict place) except -1:
    """Copy a node without its value to a graph, which may be its own; its operands are where `place` says."""
    cdef Node node = graph.nodes[i]         # the tables may move
    cdef uint8_t arity = ARITY[node.op]
    cdef uint16_t flags = node.flags
    cdef int32_t a, b, k
    cdef int32_t behind = 1 if node.op == OP_RESULT else 0      # which result it is
    flags &= (F_SPARE - 1) & ~(F_VALUED | F_OBJ)
    if not flags & F_WIDE:
        a = placed(to, graph, node.a, place) if arity else node.a
        b = placed(to, graph, node.b, place) if arity == 2 else node.b
        return to.push(node.op, flags, a, b, NAN)
    cdef WideNode wide = graph.wide_nodes[node.a]
    cdef int32_t[::1] operands = np.zeros(wide.count + behind + 1, dtype=np.int32)
    for k in range(wide.count):
        operands[k] = placed(to, graph, graph.pool[wide.first + k], place)
    if behind:
        operands[wide.count] = graph.pool[wide.first + wide.count]
    cdef int32_t copied = to.push_wide(node.op, flags, <object>wide.sig, &operands[0], wide.count + behind, node.b)
    to.wide_nodes[to.n_wide_nodes - 1].count = wide.count
    to.wide_nodes[to.n_wide_nodes - 1].at = wide.at
    to.wide_nodes[to.n_wide_nodes - 1].code = wide.code
    Py_XINCREF(wide.code)
    return copied


cdef int32_t placed(Graph to, Graph graph, int32_t operand, dict place) except? -1:
    """The operand of a copy: the node or input that it became; else itself, or a constant of its own."""
    cdef object found = place.get(operand)
    if found is not None:
        return found
    if to is graph:
        return operand
    if operand >= 0:
        raise KeyError(operand)
    cdef Const* constant = &graph.consts[~operand]
    if constant.aval == AVAL_FLOAT:
        return to.const_float(constant.value.d)
    if constant.aval == AVAL_BOOL:
        return to.const_bool(constant.value.d != 0.0)
    return to.const_object(<object>constant.value.o)


cdef int copy_guard(Graph to, Guard* guard, int32_t node) except -1:
    to.add_guard(node, guard.expected, guard.is_object)
    cdef Guard* made = &to.guards[to.n_guards - 1]
    cdef PyObject* now = made.code
    made.code = guard.code
    made.line = guard.line
    Py_XINCREF(made.code)
    Py_XDECREF(now)
    return 0


# ---- what stays where a subgraph was cut off ------------------------------------------------------------------------

cdef Scope drop_guards(Graph graph, Scope scope) except *:
    """Forget the guards on nodes beyond the scope, which the subgraph has; those on nodes before it move under it."""
    cdef int32_t k
    cdef int32_t kept = scope.n_guards
    for k in range(scope.n_guards, graph.n_guards):
        if graph.guards[k].node < scope.start:
            graph.guards[kept], graph.guards[k] = graph.guards[k], graph.guards[kept]
            kept += 1
    for k in range(kept, graph.n_guards):
        if graph.guards[k].is_object:
            Py_XDECREF(graph.guards[k].expected.o)
        Py_XDECREF(graph.guards[k].code)
    graph.n_guards = scope.n_guards = kept
    return scope


cdef Scope keep_constants(Graph graph, Scope scope, list constants) except *:
    """Move these constants under the scope, and renumber them in the list."""
    cdef int32_t k, old, new
    cdef int32_t first = scope.n_consts
    cdef dict at = {}           # where a row was -> where it is
    cdef dict moved = {}        # operand before -> operand now
    for k in range(len(constants)):
        old = ~<int32_t>constants[k]
        if old < first:
            continue
        while old in at:
            old = at[old]
        new = scope.n_consts
        if old != new:
            graph.consts[new], graph.consts[old] = graph.consts[old], graph.consts[new]
            at[new] = old
        moved[constants[k]] = ~new
        constants[k] = ~new
        scope.n_consts += 1
    keep_captured(graph, first, moved)
    return scope


cdef int keep_captured(Graph graph, int32_t first, dict moved) except -1:
    """Renumber the captured arrays whose constants were moved, and put them before those that go."""
    cdef list order = []
    cdef list kept = []
    if not moved or graph.captured_order is None:
        return 0
    for key in dict.fromkeys(graph.captured_order):
        array, operand = graph.captured.get(key, (None, ~first))
        if operand in moved:
            graph.captured[key] = array, moved[operand]
            kept.append((moved[operand], key))
        elif ~<int32_t>operand < first:
            order.append(key)
    order += [key for _, key in sorted(kept, reverse=True)]
    graph.captured = {key: graph.captured[key] for key in order}
    graph.captured_order = order
    return 0
