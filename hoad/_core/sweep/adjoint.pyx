"""The reverse sweep: from adjoints of outputs to adjoints of inputs, on any stretch of a graph.

It follows reachability: nodes that depend on an input and that an output depends on. Each node's template is inlined
with its adjoint in place of g. A rule is linear in g, so the sign of an adjoint is kept beside it. Contributions to
items and slices of one array are collected and become one assemble node.
"""

import numpy as np

from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree, PyMem_RawMalloc

cimport cython
cimport numpy as cnp

from hoad._core.base.blocks cimport appended, give, required, take, take_zeroed
from hoad._core.sweep.builder cimport FIRST_LEAF, Places, ScalarRule
from hoad._core.sweep.derived cimport assemble, item, negative, noted
from hoad._core.sweep.flags cimport first_operand, is_special
from hoad._core.sweep.hash_consing cimport found_or_pushed
from hoad._core.graph.primitive cimport (
    INFO, MOST_RESULTS, Signature, primitive_count, primitive_of, node_signature,
)
from hoad._core.graph.tape cimport (
    ARITY, AVAL_FLOAT, F_BOOL, F_SLOPED, F_STRONG, F_WIDE, OP_ADD, OP_ASSEMBLE, OP_GATHER, OP_GETITEM, OP_IDENTITY,
    OP_INPUT, OP_ITEM, OP_NEGATIVE, OP_RESULT, OP_STOP, OP_SUBTRACT, ZERO, AbstractValue, Node, WideNode, aval_of,
    int32_t, int64_t, node_operands, operand_aval, past_results, uint16_t, uint64_t, uint8_t,
)
from hoad._core.sweep.rule_template cimport RuleTemplate, is_odd, values_for, vjp_template


cnp.import_array()

ctypedef uint16_t State

cdef cnp.ndarray NOWHERE = np.empty(0, np.int64)

cdef enum:               # what is known of a node in a reverse sweep: bits of its State
    DEPENDS = 1         # on an input of the sweep, differentiably
    IS_INPUT = 2
    OTHER_KIND = 4      # no float64 scalar
    NEGATED = 8         # its adjoint so far is minus the operand kept for it
    DEPENDS_A = 16      # its first operand depends
    DEPENDS_B = 32
    PLAIN = 64          # an operation on float64 scalars
    SPECIAL = 128       # see `flags.is_special`
    SPECIAL_BAR = 256   # its adjoint so far is special

cdef enum:
    FEW = 32

cdef ScalarRule** empty_rules = NULL    # what is left of an earlier sweep
cdef int32_t n_empty = 0

# A contribution to a place in an array, in a list that starts at the array's node.
cdef struct Piece:
    int32_t next        # or -1
    int32_t node        # the item, slice or gather node whose adjoint it is
    int32_t adjoint
    bint negated


# ---- adjoints and their signs

cdef int add(Builder builder, int32_t* bar, State* state, int32_t adjoint, bint negated) except -1:
    """Add a contribution to an adjoint; both have a sign beside them, which costs no node until they meet."""
    cdef int32_t pair[2]
    cdef uint16_t op = OP_ADD
    if adjoint == ZERO or bar[0] == ZERO or operand_aval(builder.graph, adjoint) == AVAL_FLOAT:
        return add_number(builder, bar, state, adjoint, is_special(builder.graph, adjoint), negated)
    pair[0] = bar[0]
    pair[1] = adjoint
    if (state[0] & NEGATED != 0) != negated:
        op = OP_SUBTRACT
        if not negated:
            pair[0], pair[1] = pair[1], pair[0]
            state[0] &= ~NEGATED
    bar[0] = builder.emit_wide(primitive_of(op), None, pair, 2, operand_aval(builder.graph, adjoint))
    return 0


cdef inline int add_number(Builder builder, int32_t* bar, State* state, int32_t adjoint, bint special,
                           bint negated) except -1:
    """As `add`, for float64 scalars of which it is known whether they are special."""
    cdef uint16_t op = OP_ADD
    cdef int32_t a = bar[0]
    cdef int32_t b = adjoint
    if adjoint == ZERO:
        return 0
    if a != ZERO:
        if (state[0] & NEGATED != 0) != negated:
            op = OP_SUBTRACT
            if not negated:
                a, b = b, a
            negated = False
        if special or state[0] & SPECIAL_BAR or not builder.simplify:
            adjoint = builder.emit_special(op, a, b)
            special = is_special(builder.graph, adjoint)
        elif op == OP_ADD and a > b:
            adjoint = found_or_pushed(builder, op, 0, b, a)
        else:
            adjoint = found_or_pushed(builder, op, 0, a, b)
    bar[0] = adjoint
    state[0] = (state[0] & ~(NEGATED | SPECIAL_BAR)) | NEGATED * negated | SPECIAL_BAR * special
    return 0


@cython.final
cdef class ItemAdjoints:
    """The adjoints of the items of one array, by offset."""

    cdef int32_t* bar
    cdef State* state
    cdef Py_ssize_t size
    cdef int32_t count          # of the items that have one

    def __cinit__(self, Py_ssize_t size):
        cdef Py_ssize_t i
        self.size = size
        self.bar = <int32_t*>required(take(size * sizeof(int32_t)))
        self.state = <State*>required(take_zeroed(size * sizeof(State)))
        for i in range(size):
            self.bar[i] = ZERO

    def __dealloc__(self):
        give(self.bar, self.size * sizeof(int32_t))
        give(self.state, self.size * sizeof(State))

    cdef int add(self, Builder builder, int32_t offset, int32_t adjoint, bint negated) except -1:
        self.count += self.bar[offset] == ZERO
        return add(builder, &self.bar[offset], &self.state[offset], adjoint, negated)

    cdef int write(self, Builder builder, cnp.npy_int64* offsets, int32_t* operands) except -1:
        """Write the offsets that have an adjoint, in order, and their adjoints."""
        cdef Py_ssize_t i
        cdef int32_t k = 0
        for i in range(self.size):
            if self.bar[i] != ZERO:
                offsets[k] = i
                operands[k] = negative(builder, self.bar[i]) if self.state[i] & NEGATED else self.bar[i]
                k += 1
        return 0


@cython.final
cdef class Sweep:
    """The state of one reverse sweep over the nodes ``[low, high)``."""

    cdef Graph graph
    cdef Builder builder
    cdef int32_t low, high
    cdef State* states          # what is known of a constant, and of each node
    cdef State* state           # the latter
    cdef int32_t* bar           # adjoint so far
    cdef int32_t* pieces_of     # first piece + 1 of a node, or 0
    cdef Piece* pieces
    cdef int32_t n_pieces, cap_pieces
    cdef bint notes
    cdef int32_t* parts         # contributions so far, for notes

    # Rules on scalars, by operation and operands that depend, so that a node costs no look-up.
    cdef list kept              # templates in use
    cdef ScalarRule** rules     # [4 * op + active], of templates that are kept; NULL while there are none
    cdef int32_t n_rules

    cdef int begin(self, Graph graph, Builder builder, int32_t low, int32_t high, bint notes) except -1:
        cdef int32_t size = max(1, high - low)
        cdef int32_t i
        self.graph = graph
        self.builder = builder
        self.low = low
        self.high = high
        self.notes = notes
        self.kept = []
        self.states = <State*>required(take_zeroed((size + 1) * sizeof(State)))
        self.state = self.states + 1
        self.bar = <int32_t*>required(take(size * sizeof(int32_t)))
        if notes:
            self.parts = <int32_t*>required(PyMem_RawCalloc(size, sizeof(int32_t)))
        for i in range(size):
            self.bar[i] = ZERO
        return 0

    def __dealloc__(self):
        cdef int32_t size = max(1, self.high - self.low)
        give(self.states, (size + 1) * sizeof(State))
        give(self.bar, size * sizeof(int32_t))
        give(self.pieces_of, size * sizeof(int32_t))
        give(self.pieces, self.cap_pieces * sizeof(Piece))
        PyMem_RawFree(self.rules)
        PyMem_RawFree(self.parts)

    cdef int mark_dependent(self, list wrt) except -1:
        """Find the nodes that depend differentiably on an input."""
        cdef int32_t i, a, b
        cdef const Node* nodes = self.graph.nodes
        cdef const Node* node
        cdef const uint8_t* arity = ARITY
        cdef int32_t low = self.low
        cdef State* state = self.state
        cdef State of_a, of_b, found
        # In a sweep from node 0, operands before it are float64 constants: `state[-1]` is the state of them all.
        cdef bint alone = low == 0 and not self.graph.has_truths
        state[-1] = SPECIAL
        for i in wrt:
            state[i - low] = IS_INPUT | DEPENDS
        for i in range(low, self.high):
            node = &nodes[i]
            if node.flags & (F_WIDE | F_BOOL) or node.op <= OP_STOP:
                self.mark_any(i)
                continue
            a = node.a
            b = node.b if arity[node.op] == 2 else -1
            if alone:       # without branches that no one could predict
                of_a = state[a if a >= 0 else -1]
                of_b = state[b if b >= 0 else -1]
            else:
                of_a = self.kind_of(a)
                of_b = self.kind_of(b) if arity[node.op] == 2 else 0
            found = state[i - low]
            if node.flags & (F_STRONG | F_SLOPED) or node.op == OP_NEGATIVE:
                found |= SPECIAL
            if (of_a | of_b) & DEPENDS:
                found |= DEPENDS | (of_a & DEPENDS) << 4 | (of_b & DEPENDS) << 5
                if not ((of_a | of_b) & OTHER_KIND or found & IS_INPUT):
                    found |= PLAIN
            state[i - low] = found
        return 0

    cdef int mark_any(self, int32_t i) except -1:
        """Mark a node that is not an operation on scalars, or gives a boolean."""
        cdef Node* node = &self.graph.nodes[i]
        cdef State* state = &self.state[i - self.low]
        cdef int32_t k, n
        if operand_aval(self.graph, i) != AVAL_FLOAT:
            state[0] |= OTHER_KIND
        if node.flags & (F_STRONG | F_BOOL | F_SLOPED):
            state[0] |= SPECIAL
        if node.op == OP_STOP or (node.flags & F_BOOL and INFO[node.op].nout == 1) or self.is_constant(i):
            return 0
        cdef const int32_t* operands = node_operands(self.graph, i, &n)
        for k in range(n):
            if self.depends(operands[k]):
                if aval_of(operand_aval(self.graph, i)).inexact or self.has_inexact_result(i):
                    state[0] |= DEPENDS
                break
        return 0

    cdef bint is_constant(self, int32_t i) except -1:
        """Whether a node that has a signature is real, and constant almost everywhere."""
        if not self.graph.nodes[i].flags & F_WIDE:
            return False
        cdef WideNode* wide = &self.graph.wide_nodes[self.graph.nodes[i].a]
        if wide.sig == NULL or <object>wide.sig is None or not (<Signature>wide.sig).primitive.zero_derivative:
            return False
        return not self.graph.nodes[i].flags & F_SLOPED and aval_of(operand_aval(self.graph, i)).dtype.kind != "c"

    cdef inline State kind_of(self, int32_t operand) noexcept:
        """Whether an operand depends, and whether it is something else than a float64 scalar."""
        if operand >= self.low:
            return self.state[operand - self.low]
        return 0 if operand == ZERO or operand_aval(self.graph, operand) == AVAL_FLOAT else OTHER_KIND

    cdef bint has_inexact_result(self, int32_t i) except -1:
        """Whether a node with several results has one that has derivatives, the first aside."""
        cdef WideNode* wide = &self.graph.wide_nodes[self.graph.nodes[i].a]
        if wide.sig == NULL or <object>wide.sig is None:
            return False
        for aval in (<Signature>wide.sig).results[1:]:
            if (<AbstractValue>aval).inexact:
                return True
        return False

    # ---- operations on float64 scalars: the inner loop

    cdef int32_t pull_back_plain(self, int32_t node) except? -1:
        """Pull adjoints back through operations on scalars, from `node` down to one that is none or has no rule here.

        Rules are found by operation and by the operands that depend. Returns that node, or what lies before `low`.
        """
        cdef int32_t low = self.low
        cdef const int32_t* bar = self.bar
        cdef const State* state = self.state
        cdef ScalarRule* rule
        cdef State known
        while node >= low:
            known = state[node - low]
            if not known & PLAIN:
                break
            if bar[node - low] != ZERO:
                if self.rules == NULL:
                    break
                rule = self.rules[4 * <int32_t>self.graph.nodes[node].op + ((known & (DEPENDS_A | DEPENDS_B)) >> 4)]
                if rule == NULL:
                    break
                self.pull_back(rule, node)
            node -= 1
        return node

    cdef inline int pull_back(self, const ScalarRule* rule, int32_t node) except -1:
        """Inline the vjp rule of an operation on scalars, and add what it gives to the adjoints of its operands.

        The tables begin with node `low`; before it, ``state[-1]`` speaks for constants.
        """
        cdef int32_t* bar = self.bar
        cdef State* state = self.state
        cdef const Node* row = &self.graph.nodes[node]
        cdef int32_t a = row.a - self.low
        cdef int32_t b = row.b - self.low
        cdef State known = state[node - self.low]
        cdef bint negated = known & NEGATED != 0
        cdef Places at
        cdef int k
        at.operand[FIRST_LEAF] = bar[node - self.low]
        at.special[FIRST_LEAF] = known & SPECIAL_BAR
        at.operand[0] = ZERO
        at.special[0] = True
        if rule.n_steps:        # else nothing but the adjoint itself goes on
            at.operand[FIRST_LEAF + 1] = node
            at.special[FIRST_LEAF + 1] = known & SPECIAL
            at.operand[FIRST_LEAF + 2] = row.a
            at.special[FIRST_LEAF + 2] = state[max(a, -1)] & SPECIAL
            at.operand[FIRST_LEAF + 3] = row.b
            at.special[FIRST_LEAF + 3] = state[max(b, -1)] & SPECIAL
            self.builder.inline_rule(rule, &at)
        if known & DEPENDS_A:
            k = rule.outputs[0]
            add_number(self.builder, &bar[a], &state[a], at.operand[k], at.special[k] != 0, negated ^ rule.negated[0])
        if known & DEPENDS_B:
            k = rule.outputs[1]
            add_number(self.builder, &bar[b], &state[b], at.operand[k], at.special[k] != 0, negated ^ rule.negated[1])
        return 0

    cdef int run(self) except -1:
        cdef int32_t i = self.high - 1
        cdef int32_t low = self.low
        cdef bint fast = self.builder.simplify and not self.notes
        cdef State state
        cdef int32_t before
        while i >= low:
            before = self.graph.size
            if fast:
                i = self.pull_back_plain(i)
                if i < low:
                    break
            state = self.state[i - low]
            if state & DEPENDS:
                if self.pieces_of != NULL and self.pieces_of[i - low]:
                    self.gather_pieces(i)
                if not state & IS_INPUT:
                    self.propagate(i)
                if self.notes:
                    self.note_rest(before, i)
            i -= 1
        return 0

    cdef int note_rest(self, int32_t before, int32_t swept) except -1:
        """Note of the nodes emitted since, which are nobody's adjoint, whose sweep emitted them."""
        cdef int32_t node, k
        for node in range(before, self.graph.size):
            k = 3 * (node - self.graph.notes_start)
            if k >= self.graph.cap_notes or self.graph.notes[k] < 0:
                self.graph.note(node, swept, -1, -1)
        return 0

    cdef int accumulate(self, int32_t node, int32_t adjoint, bint negated, int32_t swept) except -1:
        """Add a contribution, or minus it, to the adjoint of `node`."""
        cdef int32_t* bar = &self.bar[node - self.low]
        cdef State* state = &self.state[node - self.low]
        if not self.notes or adjoint == ZERO:
            return add(self.builder, bar, state, adjoint, negated)
        if not negated:
            adjoint = self.annotated(node, adjoint, swept)
        cdef int32_t before = self.graph.size
        add(self.builder, bar, state, adjoint, negated)
        if self.graph.size > before and not state[0] & NEGATED:
            self.graph.note(self.graph.size - 1, swept, node, 0)
        return 0

    cdef int32_t adjoint_of(self, int32_t node) except? -1:
        """The adjoint of `node` so far, with its sign."""
        cdef int32_t adjoint = self.bar[node - self.low]
        if adjoint != ZERO and self.state[node - self.low] & NEGATED:
            return negative(self.builder, adjoint)
        return adjoint

    cdef int32_t annotated(self, int32_t node, int32_t adjoint, int32_t swept) except? -1:
        """Note whose adjoint an emitted node is; unsimplified, every contribution is a node of its own."""
        cdef int32_t* parts = &self.parts[node - self.low]
        parts[0] += 1
        return noted(self.builder, adjoint, swept, node, parts[0])

    # ---- one node

    cdef int propagate(self, int32_t i) except -1:
        """Pull the adjoint of a node back to its operands."""
        cdef int32_t adjoint = self.bar[i - self.low]
        cdef bint negated = self.state[i - self.low] & NEGATED != 0
        cdef uint16_t op = self.graph.nodes[i].op
        cdef int32_t n
        if op == OP_RESULT or INFO[op].nout > 1:
            return self.propagate_many(i)
        if adjoint == ZERO or op == OP_INPUT:
            return 0
        if op == OP_IDENTITY:
            n = first_operand(self.graph, i)
            return self.accumulate(n, adjoint, negated, i) if self.depends(n) else 0
        if op == OP_ITEM or op == OP_GETITEM or op == OP_GATHER:
            return self.add_piece(first_operand(self.graph, i), i, adjoint, negated)
        if op == OP_ASSEMBLE:
            return self.propagate_assembly(i, adjoint, negated)
        return self.inline_node(i, &adjoint, negated)

    cdef inline bint depends(self, int32_t operand) noexcept:
        return operand >= self.low and self.state[operand - self.low] & DEPENDS

    cdef int propagate_many(self, int32_t i) except -1:
        """A node with several results: when the first of them is reached, all adjoints are known."""
        cdef int32_t few[MOST_RESULTS]
        cdef int32_t k
        cdef bint some = False
        if self.graph.nodes[i].op == OP_RESULT:
            return 0
        cdef int32_t nout = INFO[self.graph.nodes[i].op].nout
        for k in range(nout):
            few[k] = self.adjoint_of(i + k) if i + k < self.high else ZERO
            some = some or few[k] != ZERO
        return self.inline_node(i, few, False) if some else 0

    cdef int inline_node(self, int32_t i, const int32_t* adjoints, bint negated) except -1:
        """Inline the template of a node; what it gives is negated with its adjoints."""
        cdef Signature sig = node_signature(self.graph, i)
        cdef int32_t nout = sig.primitive.nout
        cdef int32_t few[FEW]
        cdef int32_t* leaves = few
        cdef int32_t k, count
        cdef uint64_t active = 0
        cdef bint signs[2]
        cdef RuleTemplate template
        cdef const int32_t* given = node_operands(self.graph, i, &count)
        if 2 * (nout + count) > FEW:
            leaves = <int32_t*>required(PyMem_RawMalloc(2 * (nout + count) * sizeof(int32_t)))
        cdef int32_t* operands = leaves + 2 * nout
        cdef int32_t* found = operands + count
        try:
            for k in range(nout):
                leaves[k] = adjoints[k]
                leaves[nout + k] = i + k
            for k in range(count):
                operands[k] = given[k]
                if self.depends(operands[k]) and k < 64:
                    active |= <uint64_t>1 << k
            if count > 64:
                active = ~<uint64_t>0
            if not active:
                return 0
            if negated and not is_odd(sig):       # no sign passes through what is not linear
                leaves[0] = negative(self.builder, leaves[0])
                negated = False
            template = vjp_template(sig, active, self.graph.where(i) if sig.primitive.rule is None else None,
                                    values_for(self.graph, sig, i, operands, count))
            self.keep_rule(i, active, template)
            template.inline_into(self.builder, leaves, found, signs)
            for k in range(count):
                if found[k] != ZERO and self.depends(operands[k]):
                    self.accumulate(operands[k], found[k], negated ^ (k < 2 and signs[k]), i)
        finally:
            if leaves != few:
                PyMem_RawFree(leaves)
        return 0

    cdef int keep_rule(self, int32_t i, uint64_t active, RuleTemplate template) except -1:
        """Put the rule of an operation on float64 scalars in the table, for the next node of its kind."""
        if template.is_scalar and self.state[i - self.low] & PLAIN and not template.signature.primitive.per_call:
            if self.rules == NULL:
                self.take_rules()
            self.kept.append(template)
            self.rules[4 * <int32_t>self.graph.nodes[i].op + <int32_t>active] = &template.scalar
        return 0

    cdef int take_rules(self) except -1:
        """An empty table of rules, the one that the last sweep used if it is large enough."""
        global empty_rules, n_empty
        cdef int32_t wanted = 4 * primitive_count()
        if empty_rules != NULL and n_empty >= wanted:
            self.rules, self.n_rules, empty_rules = empty_rules, n_empty, NULL
        else:
            self.rules = <ScalarRule**>required(PyMem_RawCalloc(wanted, sizeof(ScalarRule*)))
            self.n_rules = wanted
        return 0

    cdef void leave_rules(self) noexcept:
        """Leave the table, which takes longer to clear than a small sweep takes, for the next sweep."""
        global empty_rules, n_empty
        cdef RuleTemplate template
        if self.rules == NULL or empty_rules != NULL:
            return
        for template in self.kept:
            self.rules[4 * template.signature.primitive.op + <int32_t>template.active] = NULL
        empty_rules, n_empty, self.rules = self.rules, self.n_rules, NULL

    # ---- items and slices

    cdef int add_piece(self, int32_t array, int32_t node, int32_t adjoint, bint negated) except -1:
        """Keep the adjoint of an item or slice until its array is reached."""
        if not self.depends(array):
            return 0
        if self.pieces_of == NULL:
            self.pieces_of = <int32_t*>required(take_zeroed((self.high - self.low) * sizeof(int32_t)))
        cdef Piece* piece = <Piece*>appended(<void**>&self.pieces, &self.cap_pieces, &self.n_pieces, sizeof(Piece))
        piece.next = self.pieces_of[array - self.low] - 1
        piece.node = node
        piece.adjoint = adjoint
        piece.negated = negated
        self.pieces_of[array - self.low] = self.n_pieces
        self.state[array - self.low] &= ~PLAIN      # a scalar can have a slice, x[None]; it is gathered first
        return 0

    cdef int gather_pieces(self, int32_t array) except -1:
        """Make one assemble node of the pieces of `array`, and add it to its adjoint."""
        cdef int32_t at = self.pieces_of[array - self.low] - 1
        cdef int32_t node
        cdef Piece* piece
        cdef ItemAdjoints items = None
        cdef list parts = []
        cdef list operands = []
        cdef Signature sig
        cdef WideNode* wide
        cdef int64_t size
        while at >= 0:
            piece = &self.pieces[at]
            node = piece.node
            at = piece.next
            if self.graph.nodes[node].op == OP_ITEM:
                if items is None:
                    items = ItemAdjoints(<Py_ssize_t>aval_of(operand_aval(self.graph, array)).size)
                items.add(self.builder, self.graph.nodes[node].b, piece.adjoint, piece.negated)
                continue
            operands.append(negative(self.builder, piece.adjoint) if piece.negated else piece.adjoint)
            wide = &self.graph.wide_nodes[self.graph.nodes[node].a]    # only now: the table may have moved
            if self.graph.nodes[node].op == OP_GATHER:
                operands.append(self.graph.pool[wide.first + 1])
                parts.append(None)
            else:
                sig = <Signature>wide.sig
                size = (<AbstractValue>sig.avals[0]).itemsize
                shape, strides, start = sig.params
                parts.append((start * size, shape, tuple([s * size for s in strides])))
        self.accumulate(array, self.assembled(array, items, parts, operands), False, array)
        return 0

    cdef int32_t assembled(self, int32_t array, ItemAdjoints items, list parts, list operands) except? -1:
        cdef int32_t n_items = 0 if items is None else items.count
        cdef int32_t count = n_items + <int32_t>len(operands)
        cdef cnp.ndarray offsets = np.empty(n_items, np.int64) if n_items else NOWHERE
        cdef cnp.ndarray all_operands
        cdef int32_t few[FEW]
        cdef int32_t* to = few
        cdef int32_t i
        if count > FEW:
            all_operands = np.empty(count, np.int32)
            to = <int32_t*>cnp.PyArray_DATA(all_operands)
        if items is not None:
            items.write(self.builder, <cnp.npy_int64*>cnp.PyArray_DATA(offsets), to)
        for i in range(n_items, count):
            to[i] = operands[i - n_items]
        return assemble(self.builder, operand_aval(self.graph, array), to, count, offsets, tuple(parts))

    cdef int propagate_assembly(self, int32_t i, int32_t adjoint, bint negated) except -1:
        """The adjoint of an assemble node: the item or slice of its adjoint at each place."""
        cdef WideNode* wide = &self.graph.wide_nodes[self.graph.nodes[i].a]
        cdef Signature sig = <Signature>wide.sig
        cdef int32_t first = wide.first
        cdef int32_t k = 0
        cdef int32_t pair[2]
        cdef int32_t operand, operand_bar
        offsets, parts = sig.params
        for offset in offsets.tolist():
            operand = self.graph.pool[first + k]
            if self.depends(operand):
                self.accumulate(operand, item(self.builder, adjoint, offset), negated, i)
            k += 1
        size = (<AbstractValue>sig.results[0]).itemsize
        for part in parts:
            operand = self.graph.pool[first + k]
            pair[0] = adjoint
            if part is None:
                pair[1] = self.graph.pool[first + k + 1]
                k += 1
            k += 1
            if not self.depends(operand):
                continue
            operand_bar = taken(self.builder, pair, part, operand_aval(self.graph, operand), size)
            self.accumulate(operand, operand_bar, negated, i)
        return 0


cdef int32_t taken(Builder builder, const int32_t* pair, object part, int32_t aval, int64_t size) except? -1:
    """The slice or gather of an array at a part of an assemble node; ``pair[1]`` holds the places of a gather."""
    if part is None:
        return builder.emit_wide(primitive_of(OP_GATHER), None, pair, 2, aval)
    start, shape, strides = part
    params = (tuple(shape), tuple([s // size for s in strides]), start // size)
    return builder.emit_wide(primitive_of(OP_GETITEM), params, pair, 1, aval)


cdef list adjoint_sweep(Graph graph, Builder builder, list targets, list seeds, list wrt, bint notes=False,
                        list asked=None):
    """Adjoints of `wrt` when those of `targets` are `seeds` (operands, ZERO allowed): operands, or ZERO.

    If nodes are `asked` for, theirs instead: the sweep goes through them, and stops at `wrt`.
    """
    cdef int32_t i
    cdef Py_ssize_t k
    if not wrt:
        return []
    cdef int32_t low = wrt[0]
    cdef int32_t high = low
    for i in wrt:
        low, high = min(low, i), max(high, i)
    for i in targets:
        high = max(high, i)
    for i in asked or ():
        high = max(high, i)
    high = past_results(graph, high + 1)
    cdef Sweep sweep = Sweep.__new__(Sweep)
    sweep.begin(graph, builder, low, high, notes)
    graph.reserve(<int32_t>min(<int64_t>(high - low) * 9 // 4, 1 << 26))     # a sweep seldom emits more
    sweep.mark_dependent(wrt)
    builder.learn(low, high)
    for k in range(len(targets)):
        i = targets[k]
        if i >= low and sweep.state[i - low] & DEPENDS:
            sweep.accumulate(i, <int32_t>seeds[k], False, i)
    sweep.run()
    sweep.leave_rules()
    return [sweep.adjoint_of(<int32_t>i) for i in (wrt if asked is None else asked)]
