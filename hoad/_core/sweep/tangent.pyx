"""The forward sweep: from tangents of inputs to tangents of outputs, on any stretch of a graph.

A vjp is linear in g, so its transpose is the jvp: a reverse sweep over the template, with respect to g, gives the
template of the forward sweep. The same step is a proof that the rule is linear, for then nothing of g is left.
"""

import numpy as np

from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree

cimport cython

from hoad._core.sweep.adjoint cimport adjoint_sweep
from hoad._core.base.blocks cimport give, reserve, take, take_zeroed
from hoad._core.sweep.builder cimport Builder
from hoad._core.sweep.derived cimport assemble, item, noted
from hoad._core.sweep.flags cimport first_operand
from hoad._core.graph.primitive cimport INFO, Primitive, Signature, node_signature, primitive_count, signature
from hoad._core.graph.reach cimport mark_needed
from hoad._core.graph.subgraph cimport copy_node
from hoad._core.graph.tape cimport (
    AVAL_FLOAT, F_BOOL, F_WIDE, F_VALUED, OP_ASSEMBLE, OP_IDENTITY, OP_ITEM, OP_STOP, ZERO, WideNode, Graph, Node,
    aval_of, int32_t, node_operands, operand_aval, past_results, uint8_t, uint16_t, uint64_t,
)
from hoad._core.sweep.rule_template cimport (
    RuleTemplate, author_jvp_template, describe, forget_old, is_kept, keep_template, reverse_only, values_for,
    vjp_template,
)

from hoad._core.trace.coerce import new_input

from hoad.errors import RuleError


# ---- transposition --------------------------------------------------------------------------------------------------

cdef RuleTemplate jvp_template(Signature sig, uint64_t active, object where, list values=None):
    """The tangent of `sig` when the operands in `active` have tangents: its vjp template, transposed."""
    cdef RuleTemplate vjp
    cdef RuleTemplate template
    cdef Graph graph
    cdef Builder builder
    cdef int32_t k
    cdef int nout = len(sig.results)
    cdef list seeds = []
    cdef list targets = []
    key = ("jvp", active)
    forget_old(sig)
    template = <RuleTemplate>sig.templates.get(key)
    if template is not None:
        return template
    if sig.primitive.jvp is not None:
        template = author_jvp_template(sig, active)
        keep_template(sig, key, template)
        return template
    if reverse_only(sig):
        raise RuleError(
            f"{describe(sig)} was declared with linear=False: what is not linear in g has no transpose, so no "
            "derivative along a direction. Take the derivative in reverse, with grad, vjp or jacobian(mode='reverse')."
        )
    vjp = vjp_template(sig, active, where, values)
    template = RuleTemplate.__new__(RuleTemplate)
    template.signature = sig
    template.mode = "jvp"
    template.active = active
    graph = renumbered(vjp, sig, active)
    template.graph = graph
    template.n_leaves = vjp.n_leaves + len(sig.avals)
    for k in range(vjp.n_outputs):
        if vjp.outputs[k] != ZERO:
            targets.append(shifted(vjp, vjp.outputs[k]))
            seeds.append(vjp.n_leaves + k)
    builder = Builder(graph)
    tangents = adjoint_sweep(graph, builder, targets, seeds, list(range(nout)))
    template.finish(tangents)
    for k in range(template.n_steps):
        check_transposed(template, template.steps[k], nout)
    if is_kept(sig.primitive):
        keep_template(sig, key, template)
    return template


def transposed(Signature sig, uint64_t active):
    """The jvp template of a signature."""
    return jvp_template(sig, active, None)


cdef int32_t shifted(RuleTemplate vjp, int32_t operand) noexcept:
    """An operand of the vjp template in the graph that has the tangents as further leaves."""
    return operand if operand < vjp.n_leaves else operand + <int32_t>len(vjp.signature.avals)


cdef Graph renumbered(RuleTemplate vjp, Signature sig, uint64_t active):
    """The graph of the vjp template with a tangent leaf for every operand put behind its leaves."""
    cdef Graph source = vjp.graph
    cdef Graph graph = Graph(source.valued)
    cdef dict place = {i: i for i in range(vjp.n_leaves)}
    cdef int32_t i, k
    for i in range(vjp.n_leaves):
        new_input(graph, aval_of(operand_aval(source, i)))
    for aval in sig.avals:
        new_input(graph, aval)
    graph.thread = 0
    for i in range(source.size):
        if i >= vjp.n_leaves:
            place[i] = copy_node(graph, source, i, place)
        if source.valued and source.nodes[i].flags & F_VALUED:
            graph.set_object(place[i], source.value_of(i))
    for k in range(source.n_guards):
        graph.add_guard(place[source.guards[k].node], source.guards[k].expected, source.guards[k].is_object)
    return graph


cdef int check_transposed(RuleTemplate template, int32_t node, int nout) except -1:
    """Nothing of g may be left in the transpose of something linear in g."""
    cdef int32_t n, k
    cdef const int32_t* operands = node_operands(template.graph, node, &n)
    for k in range(n):
        if 0 <= operands[k] < nout:
            raise RuleError(f"{describe(template.signature)} is not linear in g: its transpose still depends on g.")
    return 0


# ---- the sweep ------------------------------------------------------------------------------------------------------

@cython.final
cdef class ForwardSweep:
    """The state of one forward sweep over the nodes ``[low, high)``."""

    cdef Graph graph
    cdef Builder builder
    cdef int32_t low, high
    cdef uint8_t* marks
    cdef uint8_t* needed        # behind two marks more, as `mark_needed` asks
    cdef int32_t* dot
    cdef bint notes
    cdef list kept              # templates in use
    cdef void** quick           # [4 * op + active] -> Template of a scalar operation
    cdef int32_t n_quick
    cdef int32_t* leaves        # of the template that is inlined
    cdef int32_t cap_leaves

    def __cinit__(self, Graph graph, Builder builder, int32_t low, int32_t high, bint notes=False):
        cdef int32_t size = max(1, high - low)
        cdef int32_t i
        self.graph = graph
        self.builder = builder
        self.low = low
        self.high = high
        self.notes = notes
        self.kept = []
        self.n_quick = 4 * primitive_count()
        self.marks = <uint8_t*>take_zeroed(size + 2)
        self.needed = self.marks + 2
        self.dot = <int32_t*>take(size * sizeof(int32_t))
        self.quick = <void**>PyMem_RawCalloc(self.n_quick, sizeof(void*))
        if not (self.marks and self.dot and self.quick):
            raise MemoryError
        for i in range(size):
            self.dot[i] = ZERO

    def __dealloc__(self):
        cdef int32_t size = max(1, self.high - self.low)
        give(self.marks, size + 2)
        give(self.dot, size * sizeof(int32_t))
        give(self.leaves, self.cap_leaves * sizeof(int32_t))
        PyMem_RawFree(self.quick)

    cdef inline int32_t tangent(self, int32_t operand) noexcept:
        return self.dot[operand - self.low] if operand >= self.low else ZERO

    cdef int run(self) except -1:
        cdef int32_t i
        for i in range(self.low, self.high):
            if self.needed[i - self.low] and self.dot[i - self.low] == ZERO:     # else an input of the sweep
                self.propagate(i)
            if self.notes and self.dot[i - self.low] != ZERO:
                self.dot[i - self.low] = noted(self.builder, self.dot[i - self.low], i, i, -1)
        return 0

    cdef int propagate(self, int32_t i) except -1:
        """Find the tangent of a node; of one with several results, all of them at the first."""
        cdef Node* node = &self.graph.nodes[i]
        cdef uint16_t op = node.op
        if node.flags & (F_BOOL | F_WIDE) and INFO[op].nout == 1 and (
                node.flags & F_BOOL or not aval_of(node.b).inexact):
            return 0        # integers and booleans have derivative zero
        if op > OP_STOP:
            return self.inline_node(i)
        if op == OP_ITEM:
            self.dot[i - self.low] = item(self.builder, self.tangent(node.a), node.b)
        elif op == OP_IDENTITY:
            self.dot[i - self.low] = self.tangent(first_operand(self.graph, i))
        elif op == OP_ASSEMBLE:
            self.propagate_assembly(i)
        return 0            # of the rest, inputs and results have their tangents, and what is stopped has none

    cdef int inline_node(self, int32_t i) except -1:
        """Inline the jvp template of a node, with the tangents of its operands."""
        cdef const Node* node = &self.graph.nodes[i]
        cdef int32_t nout = INFO[node.op].nout
        cdef bint plain = not node.flags & F_WIDE       # an operation on float64 scalars
        cdef int32_t row = 4 * <int32_t>node.op
        cdef int32_t k, count
        cdef uint64_t active = 0
        cdef const int32_t* operands = node_operands(self.graph, i, &count)
        cdef int32_t* leaves
        cdef int32_t* dots
        cdef RuleTemplate template
        reserve(<void**>&self.leaves, &self.cap_leaves, 2 * (nout + count), sizeof(int32_t))
        leaves = self.leaves + 2 * nout
        dots = leaves + count
        for k in range(count):
            leaves[k] = operands[k]
            dots[k] = self.tangent(operands[k])
            if dots[k] != ZERO:         # and so a float
                active |= <uint64_t>1 << (k if k < 64 else 63)
            elif plain:
                plain = operand_aval(self.graph, operands[k]) == AVAL_FLOAT
        if not active:
            return 0
        for k in range(nout):
            self.leaves[k] = ZERO
            self.leaves[nout + k] = i + k
        row += <int32_t>active
        plain = plain and row < self.n_quick
        template = <RuleTemplate>self.quick[row] if plain and self.quick[row] != NULL else (
            self.template_at(i, active if count <= 64 else ~<uint64_t>0, leaves, count, row if plain else -1))
        template.inline_into(self.builder, self.leaves, &self.dot[i - self.low], NULL)
        return 0

    cdef RuleTemplate template_at(self, int32_t i, uint64_t active, const int32_t* operands, int32_t count,
                                  int32_t row):
        """The jvp template of a node, which is kept in a row of `quick` for the next of its kind (-1: it is not)."""
        cdef Signature sig = node_signature(self.graph, i)
        cdef RuleTemplate template = jvp_template(
            sig, active, self.graph.where(i) if sig.primitive.rule is None else None,
            values_for(self.graph, sig, i, operands, count))
        if row >= 0 and not sig.primitive.per_call:
            self.kept.append(template)
            self.quick[row] = <void*>template
        return template

    cdef int propagate_assembly(self, int32_t i) except -1:
        """The tangent of an assemble node: the tangents of what it holds, at the same places."""
        cdef WideNode* wide = &self.graph.wide_nodes[self.graph.nodes[i].a]
        cdef Signature sig = <Signature>wide.sig
        cdef int32_t k
        cdef int32_t n_items
        cdef list operands = []
        cdef list kept = []
        cdef list kept_parts = []
        cdef int32_t[::1] all_operands
        offsets, parts = sig.params
        n_items = len(offsets)
        for k in range(n_items):
            if self.tangent(self.graph.pool[wide.first + k]) != ZERO:
                kept.append(k)
                operands.append(self.tangent(self.graph.pool[wide.first + k]))
        k = n_items
        for part in parts:
            if self.tangent(self.graph.pool[wide.first + k]) != ZERO:
                kept_parts.append(part)
                operands.append(self.tangent(self.graph.pool[wide.first + k]))
                if part is None:
                    operands.append(self.graph.pool[wide.first + k + 1])
            k += 2 if part is None else 1
        if operands:
            all_operands = np.array(operands, dtype=np.int32)
            self.dot[i - self.low] = assemble(
                self.builder, self.graph.nodes[i].b, &all_operands[0], len(operands), offsets[kept], tuple(kept_parts))
        return 0


cdef list tangent_sweep(Graph graph, Builder builder, list targets, list wrt, list tangents, bint notes=False):
    """Tangents of `targets` when those of `wrt` are `tangents` (operands, ZERO allowed): operands, or ZERO."""
    cdef int32_t low, high, i
    cdef ForwardSweep sweep
    if not wrt:
        return [ZERO for _ in targets]
    low = min(wrt)
    high = past_results(graph, <int32_t>max(wrt + targets) + 1)
    sweep = ForwardSweep(graph, builder, low, high, notes)
    for i in targets:
        if i >= low:
            sweep.needed[i - low] = 1
    mark_needed(graph, low, high, sweep.needed)
    builder.learn(low, high)
    for node, tangent in zip(wrt, tangents):
        i = node
        sweep.dot[i - low] = tangent
    sweep.run()
    return [sweep.tangent(<int32_t>i) for i in targets]


# ---- for tests and tables -------------------------------------------------------------------------------------------

def template_of(Primitive primitive, params, avals, uint64_t active, str mode="vjp"):
    """The template of a primitive at a signature."""
    cdef int32_t[::1] numbers = np.array([aval.number for aval in avals] or [0], dtype=np.int32)
    cdef Signature sig = signature(primitive, params, &numbers[0], len(avals))
    return vjp_template(sig, active, None) if mode == "vjp" else transposed(sig, active)
