"""A rule at one signature, recorded once.

The rule runs on unvalued traced values; what it records is the template of the reverse sweep. The template of the
forward sweep is its transpose, made in `tangent`.
"""

from array import array

import numpy as np

from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc

cimport cython

from hoad._core.base.blocks cimport required
from hoad._core.base.call_watch cimport unwatched
from hoad._core.trace.calls cimport record_call
from hoad._core.sweep.builder cimport FIRST_LEAF, LEAVES, PLACES, Places, RuleStep
from hoad._core.sweep.derived cimport assemble, item, negative, zeros
from hoad._core.graph.reach cimport dependents, mark_needed, marks_in
from hoad._core.sweep.flags cimport is_special, is_strong
from hoad._core.lower.lower cimport lower
from hoad._core.trace.coerce cimport operand_of
from hoad._core.graph.primitive cimport (
    INFO, K_GUFUNC, K_PYTHON, TEMPLATED, forget_templates, primitive_of, rules_version,
)
from hoad._core.graph.tape cimport (
    ARITY, AVAL_BOOL, AVAL_FLOAT, F_OBJ, F_VALUED, F_WIDE, OP_ADD, OP_ASSEMBLE, OP_BROADCAST_TO, OP_DIVIDE, OP_IDENTITY,
    OP_INPUT, OP_ITEM, OP_MASK, OP_MULTIPLY, OP_NEGATIVE, OP_RESULT, OP_SELECT, OP_SQUARE, OP_STRONG_DIVIDE,
    OP_STRONG_MULTIPLY, OP_STRONG_MULTIPLY_BOTH, OP_SUBTRACT, OP_SUM, ZERO, AbstractValue, Node, WideNode,
    aval_of, int64_t, node_operands, operand_aval, uint16_t, uint8_t,
)

cdef dict METHODS

from hoad._core.graph.inspect import node_row
from hoad._core.lower.lower import NoValueError

from hoad._core.trace.coerce import new_input
from hoad._core.trace.context cimport reset_in_context, set_in_context
from hoad._core.trace.context import RUNNING
from hoad._core.trace.traced import METHODS, is_traced

from hoad.errors import HoadError, NoRuleError, RuleError, count as counted

cdef enum:
    FEW = 64


@cython.final
cdef class RuleTemplate:
    """What a rule records at one signature; `inline_into` emits it with other operands."""

    def __dealloc__(self):
        PyMem_RawFree(self.steps)
        PyMem_RawFree(self.outputs)
        PyMem_RawFree(self.scalar.steps)
        PyMem_RawFree(self.scalar.constants)

    cdef int finish(self, list outputs) except -1:
        """Keep these outputs and what they need."""
        cdef Graph graph = self.graph
        cdef int32_t i, k
        cdef bytearray marks = bytearray(graph.size + 2)
        cdef uint8_t* needed = marks_in(marks) + 2
        self.n_outputs = len(outputs)
        self.outputs = <int32_t*>required(PyMem_RawMalloc(max(1, self.n_outputs) * sizeof(int32_t)))
        for i in range(self.n_outputs):
            self.outputs[i] = outputs[i]
            if self.outputs[i] >= 0:
                needed[self.outputs[i]] = 1
        for k in range(graph.n_guards):
            needed[graph.guards[k].node] = 1
        mark_needed(graph, 0, graph.size, needed)
        self.steps = <int32_t*>required(PyMem_RawMalloc(max(1, graph.size) * sizeof(int32_t)))
        for i in range(self.n_leaves, graph.size):
            if needed[i] and graph.nodes[i].op != OP_INPUT:
                self.steps[self.n_steps] = i
                self.n_steps += 1
        self.is_scalar = scalar_rule(self)
        return 0

    # ---- inlining

    cdef int inline_into(self, Builder builder, const int32_t* leaves, int32_t* outputs, bint* signs) except -1:
        """Emit the template with `leaves` (ZERO allowed) in place of its own; writes the operands of its outputs.

        Of the first two, `signs` says which are to be negated; without it, they are.
        """
        cdef int32_t few[FEW]
        cdef int32_t* place = few
        cdef int32_t i, k
        if signs != NULL:
            signs[0] = signs[1] = False
        if builder.simplify and self.is_scalar:
            return inline_scalar(self, builder, leaves, outputs, signs)
        if self.graph.size > FEW:
            place = <int32_t*>required(PyMem_RawMalloc(self.graph.size * sizeof(int32_t)))
        try:
            for i in range(self.n_leaves):
                place[i] = leaves[i]
            for k in range(self.n_steps):
                place[self.steps[k]] = emitted(self, builder, self.steps[k], place)
            for k in range(self.n_outputs):
                outputs[k] = placed(self, builder, self.outputs[k], place)
            for k in range(self.graph.n_guards):
                i = self.graph.guards[k].node
                if place[i] >= 0:
                    builder.graph.add_guard(place[i], self.graph.guards[k].expected, self.graph.guards[k].is_object)
        finally:
            if place != few:
                PyMem_RawFree(place)
        return 0

    cdef list replay(self, Builder builder, list inputs, list leaves):
        """Emit the nodes with operands `leaves` in place of the nodes `inputs`; the operands of the outputs.

        What depends on no input and has a value enters as a constant. An output that is the symbolic zero is one of
        zeros: whoever asks for it is not a sweep.
        """
        cdef Graph graph = self.graph
        cdef int32_t[::1] place = array("i", [ZERO]) * max(1, graph.size)
        cdef bytearray depends = dependents(graph, 0, graph.size, inputs)
        cdef bytearray ends = bytearray(graph.size)
        cdef bytearray marks = bytearray(graph.size + 2)
        cdef int32_t k, i
        for k in range(len(inputs)):
            place[<int32_t>inputs[k]] = leaves[k]
        for i in range(graph.size):
            ends[i] = not depends[i] and graph.nodes[i].flags & F_VALUED != 0
        for i in inputs:
            ends[i] = 1
        for k in range(self.n_outputs):
            if self.outputs[k] >= 0:
                marks[2 + self.outputs[k]] = 1
        mark_needed(graph, 0, graph.size, marks_in(marks) + 2, marks_in(ends))
        for i in range(graph.size):
            if marks[2 + i] and not ends[i]:
                place[i] = emitted(self, builder, i, &place[0])
            elif marks[2 + i] and not depends[i]:
                place[i] = operand_of(builder.graph, graph.value_of(i))
        found = []
        for k in range(self.n_outputs):
            i = placed(self, builder, self.outputs[k], &place[0])
            found.append(zeros(builder.graph, operand_aval(graph, self.outputs[k])) if i == ZERO else i)
        return found


cdef int inline_scalar(RuleTemplate template, Builder builder, const int32_t* leaves, int32_t* outputs,
                       bint* signs) except -1:
    """As `inline_into`, for a rule on scalars."""
    cdef const ScalarRule* rule = &template.scalar
    cdef Graph graph = builder.graph
    cdef Places at
    cdef int32_t k, leaf
    at.operand[0] = ZERO
    at.special[0] = True
    for k in range(rule.n_leaves):
        leaf = rule.leaves[k]
        at.operand[FIRST_LEAF + leaf] = leaves[leaf]
        at.special[FIRST_LEAF + leaf] = is_special(graph, leaves[leaf])
    builder.inline_rule(rule, &at)
    for k in range(template.n_outputs):
        outputs[k] = at.operand[rule.outputs[k]]
        if signs != NULL:
            signs[k] = rule.negated[k]
        elif rule.negated[k] and outputs[k] != ZERO:
            outputs[k] = negative(builder, outputs[k])
    return 0


cdef int32_t emitted(RuleTemplate template, Builder builder, int32_t i, const int32_t* place) except? -1:
    """Emit one node."""
    cdef Node* node = &template.graph.nodes[i]
    if node.flags & F_WIDE:
        return inline_wide(template, builder, i, place)
    if node.op == OP_ITEM:
        return item(builder, place[node.a], node.b)
    if node.op == OP_IDENTITY:
        return placed(template, builder, node.a, place)
    return builder.emit(node.op, placed(template, builder, node.a, place),
                        placed(template, builder, node.b, place) if ARITY[node.op] == 2 else 0)


cdef int32_t placed(RuleTemplate template, Builder builder, int32_t operand, const int32_t* place) except? -1:
    """The operand of the graph inlined into for one of the template's."""
    if operand >= 0:
        return place[operand]
    if operand == ZERO:
        return ZERO
    cdef int32_t aval = template.graph.consts[~operand].aval
    if aval == AVAL_FLOAT:
        return builder.graph.const_float(template.graph.consts[~operand].value.d)
    if aval == AVAL_BOOL:
        return builder.graph.const_bool(template.graph.consts[~operand].value.d != 0)
    return builder.graph.const_object(<object>template.graph.consts[~operand].value.o)


cdef int32_t inline_wide(RuleTemplate template, Builder builder, int32_t i, const int32_t* place) except? -1:
    cdef Graph graph = template.graph
    cdef Node* node = &graph.nodes[i]
    cdef WideNode* wide = &graph.wide_nodes[node.a]
    cdef int32_t k, missing = 0
    cdef int32_t count = wide.count
    cdef list seeds
    cdef tuple known, strong
    if node.op == OP_RESULT:
        k = place[graph.pool[wide.first]]
        return ZERO if k == ZERO else k + graph.pool[wide.first + 1]
    if node.op == OP_IDENTITY:
        return placed(template, builder, graph.pool[wide.first], place)
    cdef Signature sig = <Signature>wide.sig
    params = sig.params
    cdef int32_t few[FEW]
    cdef int32_t* operands = few
    if count > FEW:
        operands = <int32_t*>required(PyMem_RawMalloc(count * sizeof(int32_t)))
    try:
        for k in range(count):
            operands[k] = placed(template, builder, graph.pool[wide.first + k], place)
            missing += operands[k] == ZERO
        if sig.primitive.of_programs and params[0]._linear:
            seeds = [operands[k] for k in range(count - <int32_t>params[0]._linear, count)]
            known = params[0]._strong_seeds()
            strong = strong_seeds(builder, known, seeds)
            if min(strong) == 2:
                return ZERO
            if strong != known:
                params = (params[0]._with_strong(strong),)
        if missing and (sig.primitive.kind == K_PYTHON and not sig.primitive.linear_in or (
                missing < count and INFO[node.op].linear and node.op != OP_ADD and node.op != OP_SUBTRACT)):
            for k in range(count):
                if operands[k] == ZERO:
                    operands[k] = zeros(builder.graph, operand_aval(graph, graph.pool[wide.first + k]))
        if node.op == OP_ASSEMBLE:
            if missing == count:
                return ZERO
            return assemble(builder, node.b, operands, count, params[0], params[1])
        return builder.emit_wide(sig.primitive, params, operands, count, node.b)
    finally:
        if operands != few:
            PyMem_RawFree(operands)


cdef tuple strong_seeds(Builder builder, tuple known, list seeds):
    """What a call knows of its seeds: which are zero (2), and whose zeros are strong (1); `known` is what it knew.

    A seed that was the symbolic zero when the template was made is an array of zeros in it: only the call still knows.
    """
    return tuple([
        2 if k == <int32_t>ZERO else was or int(is_strong(builder.graph, <int32_t>k)) for was, k in zip(known, seeds)])


# ---- rules on scalars -----------------------------------------------------------------------------------------------

cdef bint scalar_rule(RuleTemplate template) except -1:
    """Decode a template of float64 scalars into its `ScalarRule`, signs moved to the outputs; False if it is not one.

    A rule is linear in g, so a sign costs no node: it passes through products, quotients and sums.
    """
    cdef Graph graph = template.graph
    cdef ScalarRule* rule = &template.scalar
    cdef int32_t k
    cdef dict places = {ZERO: 0}        # of operands
    cdef set signs = set()              # operands that are minus what their place holds
    cdef list constants = []
    if (not template.n_leaves or template.n_outputs > 2 or template.n_leaves > LEAVES or graph.n_guards
            or FIRST_LEAF + LEAVES + 5 * template.n_steps > PLACES):
        return False
    for k in range(template.n_leaves):
        if operand_aval(graph, k) != AVAL_FLOAT:
            return False
        places[k] = FIRST_LEAF + k
    for k in range(template.n_steps):
        if not add_constants(graph, template.steps[k], places, constants):
            return False
    rule.n_constants = len(constants)
    rule.constants = <double*>required(PyMem_RawMalloc(max(1, rule.n_constants) * sizeof(double)))
    rule.steps = <RuleStep*>required(PyMem_RawMalloc(max(1, 3 * template.n_steps) * sizeof(RuleStep)))
    for k in range(rule.n_constants):
        rule.constants[k] = constants[k]
    for k in range(template.n_steps):
        add_step(rule, graph, template.steps[k], places, signs)
    rule.outputs[1] = 0
    for k in range(template.n_outputs):
        if template.outputs[k] not in places:
            return False
        rule.outputs[k] = places[template.outputs[k]]
        rule.negated[k] = template.outputs[k] in signs
    asked = {rule.outputs[0], rule.outputs[1]}
    for k in range(rule.n_steps):
        asked.update((rule.steps[k].a, rule.steps[k].b))
    for k in range(template.n_leaves):
        if FIRST_LEAF + k in asked:
            rule.leaves[rule.n_leaves] = k
            rule.n_leaves += 1
    return True


cdef bint add_constants(Graph graph, int32_t i, dict places, list constants) except -1:
    """Give the constants of a node their places; False unless it is an operation on float64 scalars."""
    cdef Node* node = &graph.nodes[i]
    cdef int32_t k, n
    if node.flags & F_WIDE or node.op == OP_ITEM or node.op == OP_RESULT:
        return False
    cdef const int32_t* operands = node_operands(graph, i, &n)
    for k in range(n):
        if operands[k] < 0 and operands[k] not in places:
            if graph.consts[~operands[k]].aval != AVAL_FLOAT:
                return False
            places[operands[k]] = FIRST_LEAF + LEAVES + len(constants)
            constants.append(graph.consts[~operands[k]].value.d)
    return True


cdef int add_step(ScalarRule* rule, Graph graph, int32_t i, dict places, set signs) except -1:
    """Append node `i`, or only note which place it is, or minus which."""
    cdef uint16_t op = graph.nodes[i].op
    cdef int32_t a = graph.nodes[i].a
    cdef int32_t b = graph.nodes[i].b
    cdef bint binary = ARITY[op] == 2
    cdef bint of_a = a in signs
    cdef bint of_b = binary and b in signs
    cdef bint negated = False
    if op == OP_IDENTITY or op == OP_NEGATIVE:
        places[i] = places[a]
        if of_a != (op == OP_NEGATIVE):
            signs.add(i)
        return 0
    if op in (OP_MULTIPLY, OP_DIVIDE, OP_STRONG_MULTIPLY, OP_STRONG_MULTIPLY_BOTH, OP_STRONG_DIVIDE):
        negated = of_a != of_b
    elif op == OP_MASK:
        negated = of_b
    elif op == OP_ADD or op == OP_SUBTRACT:
        negated = of_a              # -a + b is -(a - b)
        if of_a != of_b:
            op = OP_SUBTRACT if op == OP_ADD else OP_ADD
    elif op != OP_SQUARE:           # anything else needs the number itself
        places[i] = push_step(rule, op, signed(rule, a, places, signs), signed(rule, b, places, signs) if binary else 1)
        return 0
    if op == OP_SUBTRACT and negated:
        negated = False
        a, b = b, a
    places[i] = push_step(rule, op, places[a], places[b] if binary else 1)
    if negated:
        signs.add(i)
    return 0


cdef int signed(ScalarRule* rule, int32_t operand, dict places, set signs) except -1:
    """The place of an operand with its sign."""
    return push_step(rule, OP_NEGATIVE, places[operand], 1) if operand in signs else places[operand]


cdef int push_step(ScalarRule* rule, uint16_t op, int a, int b) except -1:
    """Append a step; its place."""
    rule.steps[rule.n_steps].op = op
    rule.steps[rule.n_steps].a = a
    rule.steps[rule.n_steps].b = b
    rule.steps[rule.n_steps].special = INFO[op].flags != 0 or op == OP_NEGATIVE
    rule.steps[rule.n_steps].commutative = INFO[op].commutative
    rule.steps[rule.n_steps].flags = INFO[op].flags
    rule.n_steps += 1
    return FIRST_LEAF + LEAVES - 1 + rule.n_constants + rule.n_steps


# ---- making templates -----------------------------------------------------------------------------------------------

cdef str describe(Signature sig):
    """Whose rule it is, for messages."""
    if sig.primitive.of_programs:
        return sig.params[0]._described
    rule = sig.primitive.rule_name or "the rule"
    return f"{rule} of {sig.primitive.name}"


cdef list inputs_of(Graph graph, tuple avals):
    return [new_input(graph, aval) for aval in avals]


cdef object run_rule(Signature sig, Graph graph, list g, list p, list x, object where):
    """Call the rule; returns its tuple, checked for form."""
    cdef Primitive primitive = sig.primitive
    rule = primitive.require_rule(where)
    keywords = primitive.keywords(sig.params)
    many = primitive.nout > 1
    before = set_in_context(RUNNING, graph)     # a derivative taken in the rule is nested in the template
    args = (tuple(g) if many else g[0], tuple(p) if many else p[0], *x)
    try:
        adjoints = unwatched(rule, args, keywords) if is_kept(primitive) else rule(*args, **keywords)
    except HoadError as error:
        raise type(error)(f"{describe(sig)} cannot be recorded: {error}") from error
    except MemoryError:
        raise       # which is not a mistake in the rule
    except Exception as error:
        raise RuleError(
            f"{describe(sig)}, called at {sig}, raised {type(error).__name__}: {error}. A rule takes (g, p, *operands) "
            "and its parameters as keywords, and returns one adjoint per operand."
        ) from error
    finally:
        reset_in_context(RUNNING, before)
    if not isinstance(adjoints, tuple):
        raise RuleError(
            f"{describe(sig)} returned {type(adjoints).__name__}, not a tuple. Return one adjoint per operand, "
            f"{len(x)} here, with None for zero; a single one needs a trailing comma."
        )
    if len(adjoints) != len(x):
        raise RuleError(
            f"{describe(sig)} returned {counted(len(adjoints), 'adjoint')} for {counted(len(x), 'operand')}. Return "
            "one per operand, with None for zero."
        )
    return adjoints


cdef int32_t fitted(Signature sig, Graph graph, object adjoint, int k, AbstractValue aval) except? -1:
    """The operand of one adjoint, summed over broadcast axes and checked against the shape of its operand.

    A rule that has no adjoint for an operand gives the error in its place, which is raised where it is asked for.
    """
    if adjoint is None or (not is_traced(adjoint) and not hasattr(adjoint, "shape") and adjoint == 0):
        return ZERO
    if isinstance(adjoint, NoRuleError):
        raise adjoint
    if not is_traced(adjoint):
        raise RuleError(
            f"{describe(sig)} is not linear in g: its adjoint {k} is the constant {adjoint!r}. Every adjoint must be "
            "a product with g, or None for zero."
        )
    cdef AbstractValue found = aval_of(operand_aval(graph, operand_of(graph, adjoint)))
    if found.shape != aval.shape and (sig.primitive.elementwise or sig.primitive.kind == K_GUFUNC):
        adjoint = sum_to(adjoint, found.shape, aval.shape)
        found = aval_of(operand_aval(graph, operand_of(graph, adjoint)))
    if found.shape != aval.shape:
        raise RuleError(
            f"{describe(sig)} returned an adjoint of shape {found.shape} for operand {k} of shape {aval.shape}. "
            "The adjoint of an operand has the operand's shape; write the sum or broadcast_to in the rule. "
            "For a primitive that works element by element, hoad does so: @hoad.primitive(elementwise=True)."
        )
    if found.dtype != aval.dtype:
        if found.dtype.kind == "c" and aval.dtype.kind != "c":
            adjoint = METHODS["real"](adjoint)
        adjoint = adjoint.astype(aval.dtype)
    return operand_of(graph, adjoint)


cdef object sum_to(object adjoint, tuple shape, tuple wanted):
    """Sum over the axes that broadcasting added or stretched."""
    lead = len(shape) - len(wanted)
    if lead < 0:
        return record_call(primitive_of(OP_BROADCAST_TO), (wanted,), (adjoint,))
    axes = tuple([d for d in range(len(shape)) if d < lead or (wanted[d - lead] == 1 and shape[d] != 1)])
    if any(shape[d] != wanted[d - lead] and shape[d] == 1 for d in range(lead, len(shape))):
        return record_call(primitive_of(OP_BROADCAST_TO), (wanted,), (adjoint,))
    return record_call(primitive_of(OP_SUM), (axes, wanted), (adjoint,))


cdef list values_for(Graph graph, Signature sig, int32_t node, const int32_t* operands, int32_t count):
    """The values of a node's results and operands, for a rule that branches on them; None for any other rule."""
    cdef int32_t k
    if not sig.primitive.per_call:
        return None
    cdef list wanted = [node + k for k in range(len(sig.results))] + [operands[k] for k in range(count)]
    missing = [k for k in wanted if graph.value_of(k) is None]
    if missing:
        try:
            lower(graph, missing, [], [], 0, 0, True).execute([], 1)
        except NoValueError as error:
            raise RuleError(
                f"{describe(sig)} branches on values (per_call=True), but here they depend on an input that has none: "
                "a symbolic seed, or the direction of a matrix of derivatives. Write the branch as np.where, or apply "
                "the primitive to something else than g in rules."
            ) from error
    return [graph.value_of(k) for k in wanted]


cdef RuleTemplate vjp_template(Signature sig, uint64_t active, object where, list values=None):
    """The adjoint of `sig` for the operands in `active`, from its rule; `values` are those of results and operands."""
    cdef list outputs = []
    cdef int k
    cdef Primitive primitive = sig.primitive
    forget_old(sig)
    key = active
    cdef RuleTemplate template = <RuleTemplate>sig.templates.get(key)
    if template is not None:
        return template
    template = RuleTemplate.__new__(RuleTemplate)
    cdef Graph graph = Graph(values is not None)
    if values is None:
        g = inputs_of(graph, sig.results)
        p = inputs_of(graph, sig.results)
        x = inputs_of(graph, sig.avals)
    else:
        g = inputs_of(graph, tuple([np.ones(aval.shape, aval.dtype) for aval in sig.results]))
        p = inputs_of(graph, tuple(values[: len(sig.results)]))
        x = inputs_of(graph, tuple(values[len(sig.results):]))
    template.graph = graph
    template.signature = sig
    template.mode = "vjp"
    template.active = active
    template.n_leaves = graph.size
    adjoints = run_rule(sig, graph, g, p, x, where)
    for k in range(len(x)):
        if (k < 64 and not (active >> k) & 1) or not (<AbstractValue>sig.avals[k]).inexact:
            outputs.append(ZERO)
        else:
            outputs.append(fitted(sig, graph, adjoints[k], k, sig.avals[k]))
    template.finish(outputs)
    del g, p, x, adjoints
    graph.thread = 0
    graph.captured = graph.captured_order = None        # the user's arrays, of which there are copies
    if not reverse_only(sig):
        check_linear(template, 0, len(sig.results), "g")
    if is_kept(primitive):
        keep_template(sig, key, template)
    return template


# Arrays that rules make, such as zeros of the shape of an operand, stay with their template: so many bytes at once.
# Templates with fewer bytes of them count for nothing.
cdef enum:
    MOST_ARRAY_BYTES = 1 << 27
    FEW_ARRAY_BYTES = 1 << 12
    MOST_TEMPLATED = 4096   # signatures that have templates

cdef int64_t kept_array_bytes = 0


cdef int keep_template(Signature sig, object key, RuleTemplate template) except -1:
    """Keep a template for the next use of its signature; where arrays would be too many, those kept before go."""
    global kept_array_bytes
    cdef int64_t nbytes = array_bytes(template.graph)
    if nbytes > FEW_ARRAY_BYTES:
        if kept_array_bytes + nbytes > MOST_ARRAY_BYTES:
            forget_arrays()
        kept_array_bytes += nbytes
    if len(TEMPLATED) >= MOST_TEMPLATED:
        forget_templates()
    if not sig.templates:
        TEMPLATED.append(sig)
    sig.templates[key] = template
    return 0


def kept_arrays():
    """Bytes of the arrays that templates have kept since such templates were forgotten last."""
    return kept_array_bytes


cdef int64_t array_bytes(Graph graph):
    """Bytes of the constants and values of a template that are arrays."""
    cdef int64_t total = 0
    cdef int32_t i
    cdef AbstractValue aval
    for i in range(graph.n_consts):
        if graph.consts[i].aval > AVAL_BOOL:
            aval = aval_of(graph.consts[i].aval)
            total += aval.size * aval.itemsize
    for i in range(graph.size if graph.has_objects else 0):
        if graph.nodes[i].flags & F_OBJ:
            total += (<object>graph.slots[i].o).nbytes
    return total


cdef int forget_arrays() except -1:
    """Forget the templates with arrays, which are made again where one is in use."""
    global kept_array_bytes
    for sig in TEMPLATED[:]:
        templates = (<Signature>sig).templates
        for key, template in tuple(templates.items()):
            if array_bytes((<RuleTemplate>template).graph) > FEW_ARRAY_BYTES:
                templates.pop(key, None)
    kept_array_bytes = 0
    return 0


cdef bint is_kept(Primitive primitive) noexcept:
    """Whether templates are kept; with a program in them, they would keep it alive until cycles are collected."""
    return not primitive.per_call and not primitive.of_programs


cdef int forget_old(Signature sig) except -1:
    """Drop the templates of rules that have been replaced."""
    cdef int version = rules_version(sig.primitive)
    if sig.version != version:
        sig.templates.clear()
        sig.version = version
    return 0


cdef bint reverse_only(Signature sig) except -1:
    """Whether the rule is one that need not be linear in g, and so has no transpose."""
    return sig.primitive.of_programs and sig.params[0]._reverse_only


cdef bint is_odd(Signature sig) except -1:
    """Whether minus an adjoint gives minus what its rule gives for it."""
    return not sig.primitive.of_programs or sig.params[0]._is_odd


cdef RuleTemplate author_jvp_template(Signature sig, uint64_t active):
    """The tangent of `sig` by the rule that the author of the primitive wrote for it."""
    cdef RuleTemplate template = RuleTemplate.__new__(RuleTemplate)
    cdef Graph graph = Graph(False)
    cdef int nout = len(sig.results)
    cdef int k
    inputs_of(graph, sig.results)       # for g, which a tangent does not depend on
    p = inputs_of(graph, sig.results)
    x = inputs_of(graph, sig.avals)
    dots = inputs_of(graph, sig.avals)
    template.graph = graph
    template.signature = sig
    template.mode = "jvp"
    template.active = active
    template.n_leaves = graph.size
    dots = [dots[k] if (k >= 64 or (active >> k) & 1) and (<AbstractValue>sig.avals[k]).inexact else None
            for k in range(len(x))]
    args = (tuple(dots), tuple(p) if nout > 1 else p[0], *x)
    before = set_in_context(RUNNING, graph)
    try:
        found = unwatched(sig.primitive.jvp, args, sig.primitive.keywords(sig.params))
    except HoadError as error:
        raise type(error)(f"the jvp of {sig.primitive.name} cannot be recorded: {error}") from error
    except Exception as error:
        raise RuleError(
            f"the jvp of {sig.primitive.name}, called at {sig}, raised {type(error).__name__}: {error}. It takes "
            "(dots, p, *operands), where dots has a tangent or None for each operand, and returns the tangent of the "
            "result."
        ) from error
    finally:
        reset_in_context(RUNNING, before)
    found = found if nout > 1 else (found,)
    if not isinstance(found, tuple) or len(found) != nout:
        raise RuleError(f"the jvp of {sig.primitive.name} returns a tuple of {nout} tangents, not {found!r}.")
    template.finish([fitted_tangent(sig, graph, found[k], sig.results[k]) for k in range(nout)])
    del p, x, dots, found, args
    graph.thread = 0
    graph.captured = graph.captured_order = None        # the user's arrays, of which there are copies
    check_linear(template, template.n_leaves - len(sig.avals), template.n_leaves, "the tangents")
    return template


cdef object fitted_tangent(Signature sig, Graph graph, object tangent, AbstractValue aval):
    """The operand of a tangent, checked against the shape of its result."""
    if tangent is None or (not is_traced(tangent) and np.ndim(tangent) == 0 and tangent == 0):
        return <int>ZERO
    if not is_traced(tangent):
        raise RuleError(f"the jvp of {sig.primitive.name} is not linear in the tangents: it gives {tangent!r}.")
    cdef AbstractValue found = aval_of(operand_aval(graph, operand_of(graph, tangent)))
    if found.shape != aval.shape and sig.primitive.elementwise and len(found.shape) <= len(aval.shape):
        tangent = record_call(primitive_of(OP_BROADCAST_TO), (aval.shape,), (tangent,))
        found = aval_of(operand_aval(graph, operand_of(graph, tangent)))
    if found.shape != aval.shape:
        raise RuleError(
            f"the jvp of {sig.primitive.name} gave a tangent of shape {found.shape} for a result of shape "
            f"{aval.shape}. A tangent has the shape of its result."
        )
    return operand_of(graph, tangent if found.dtype == aval.dtype else tangent.astype(aval.dtype))


cdef int check_linear(RuleTemplate template, int32_t first, int32_t end, str what) except -1:
    """Raise unless every output is linear in the leaves ``[first, end)``."""
    cdef Graph graph = template.graph
    cdef int32_t i, j, k, n, dependent
    cdef const int32_t* operands
    cdef bytearray of_g = bytearray(graph.size)
    cdef Node* node
    for i in range(first, end):
        of_g[i] = 1
    for j in range(template.n_steps):
        i = template.steps[j]
        node = &graph.nodes[i]
        operands = node_operands(graph, i, &n)
        dependent = 0
        for k in range(n):
            if operands[k] >= 0 and of_g[operands[k]]:
                dependent += 1
        if not dependent:
            continue
        of_g[i] = 1
        for k in range(n):
            if not is_linear_in(graph, node, operands, k, n, dependent, of_g):
                raise RuleError(
                    f"{describe(template.signature)} is not linear in {what}: it computes "
                    f"{primitive_of(node.op).name} of {what}. Every item must be a product of {what} with something "
                    "that does not depend on it. If the operation is linear, declare its primitive with linear=."
                )
    for k in range(graph.n_guards):
        if of_g[graph.guards[k].node]:
            raise RuleError(f"{describe(template.signature)} is not linear in {what}: it branches on them.")
    for k in range(template.n_outputs):
        if template.outputs[k] != ZERO and not (template.outputs[k] >= 0 and of_g[template.outputs[k]]):
            raise RuleError(
                f"{describe(template.signature)} is not linear in {what}: item {k} of what it returns does not contain "
                f"{what}. It must be a product with {what}, or None for zero."
            )
    return 0


cdef bint is_linear_in(Graph graph, Node* node, const int32_t* operands, int32_t k, int32_t n, int32_t dependent,
                       bytearray of_g) except -1:
    """Whether a node that depends on g is linear in it as far as its operand k goes."""
    cdef bint depends = operands[k] >= 0 and of_g[operands[k]]
    cdef Primitive primitive = primitive_of(node.op)
    if node.op in (OP_RESULT, OP_ITEM, OP_IDENTITY):
        return True
    if node.op == OP_ASSEMBLE:
        return True
    if INFO[node.op].linear:        # an affine sum (g + 1) is not linear; a zero beside g is
        return depends or is_zero_const(graph, operands[k])
    if INFO[node.op].multilinear:
        return dependent == 1
    if primitive.of_programs and not primitive.linear_in:       # of what is linear in its last inputs
        return not depends or k >= n - <int32_t>(<Signature>graph.wide_nodes[node.a].sig).params[0]._linear
    if node.op == OP_SELECT:
        return not depends and (k == 0 or is_zero_const(graph, operands[k])) or (depends and k > 0)
    return not depends or (k in primitive.linear_in and dependent == 1)


cdef bint is_zero_const(Graph graph, int32_t operand) except -1:
    if operand >= 0 or operand == ZERO:
        return False
    value = graph.value_of(operand)
    return not (value.any() if hasattr(value, "any") else value)


# ---- for tests and tables -------------------------------------------------------------------------------------------

def template_rows(RuleTemplate template):
    """A template as plain data: leaves, rows by number, outputs.

    A row is (primitive, operands, parameters, abstract value). Operands are node numbers, and numbers below 0 for the
    constants listed under the same numbers; an output is None for a symbolic zero.
    """
    cdef int32_t k
    rows = {}
    constants = {}
    for k in range(template.n_steps):
        primitive, operands, params, aval, *_ = node_row(template.graph, template.steps[k])
        rows[template.steps[k]] = (primitive, operands, params, aval)
        constants.update({x: template.graph.value_of(x) for x in operands if x < 0})
    outputs = [None if template.outputs[k] == ZERO else template.outputs[k] for k in range(template.n_outputs)]
    constants.update({x: template.graph.value_of(x) for x in outputs if x is not None and x < 0})
    return {"leaves": template.n_leaves, "rows": rows, "constants": constants, "outputs": outputs,
            "nout": len(template.signature.results), "nin": len(template.signature.avals)}
