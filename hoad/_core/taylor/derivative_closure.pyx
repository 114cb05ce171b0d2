"""A copy of what is behind some nodes, in which rules are spelled out until they ask for nothing new."""

cimport cython
from cpython cimport array

from hoad._core.sweep.derived cimport broadcast
from hoad._core.trace.coerce cimport operand_of
from hoad._core.graph.primitive cimport MOST_RESULTS, Signature, node_signature, signature
from hoad._core.sweep.tangent cimport jvp_template
from hoad._core.graph.tape cimport (
    AVAL_BOOL, F_STRONG, ZERO, AbstractValue, aval_of, node_operands, operand_aval, uint64_t,
)
from hoad._core.sweep.rule_template cimport RuleTemplate, vjp_template
from hoad._core.trace.traced cimport wrap

from hoad._core.trace.coerce import new_input
from hoad._core.graph.primitive import primitive_named
from hoad._core.trace.context cimport reset_in_context, set_in_context
from hoad._core.trace.context import RUNNING

cdef array.array NUMBERS = array.array("i")     # of the type of all tables of operands


cdef inline int32_t* numbers_in(array.array table) noexcept:
    return <int32_t*>table.data.as_ints


@cython.final
cdef class Closure:
    """Nodes without values, copied from a sealed graph and simplified, to which more are added; equal ones are one."""

    def __init__(self, Graph source, list outputs, list inputs):
        cdef RuleTemplate template = RuleTemplate.__new__(RuleTemplate)
        cdef int32_t i
        self.graph = Graph(False)
        self.inputs = []
        for i in inputs:
            new_input(self.graph, aval_of(operand_aval(source, i)))
            self.inputs.append(self.graph.size - 1)
        self.builder = Builder(self.graph, thorough=True, complete=True)
        template.graph = source
        template.finish(outputs)
        self.outputs = template.replay(self.builder, inputs, self.inputs)

    @property
    def size(self):
        """How many nodes there are so far."""
        return self.graph.size

    def aval(self, int32_t operand):
        """Shape and dtype of an operand."""
        return aval_of(operand_aval(self.graph, operand))

    def constant(self, value):
        """The operand of a constant."""
        return operand_of(self.graph, value)

    def value(self, int32_t operand):
        """The value of a constant operand."""
        return self.graph.value_of(operand)

    def is_strong(self, int32_t operand):
        """Whether zeros of an operand absorb what they are multiplied with."""
        return operand >= 0 and bool(self.graph.nodes[operand].flags & F_STRONG)

    def emit(self, str name, *operands, params=None):
        """The operand of an operation by its name, new or found again."""
        cdef Primitive primitive = primitive_named(name)
        cdef array.array given = array.array("i", operands)
        cdef const int32_t* at = numbers_in(given)
        cdef int32_t k
        cdef int32_t n = <int32_t>len(operands)
        cdef bint scalar = params is None and 0 < n <= 2
        for k in range(n):
            scalar = scalar and operand_aval(self.graph, at[k]) <= AVAL_BOOL
        if scalar:
            return self.builder.emit(primitive.op, at[0], at[1] if n == 2 else 0)
        return self.push(primitive, params, at, n)

    def record(self, Primitive primitive not None, params, *operands):
        """The operand of an operation."""
        cdef array.array given = array.array("i", operands)
        return self.push(primitive, params, numbers_in(given), <int32_t>len(operands))

    cdef int32_t push(self, Primitive primitive, object params, const int32_t* operands, int32_t n) except? -1:
        """The operand of the (first) result of an operation on as many operands as there may be."""
        cdef array.array avals = array.clone(NUMBERS, n, False)
        cdef int32_t k
        for k in range(n):
            numbers_in(avals)[k] = operand_aval(self.graph, operands[k])
        cdef Signature sig = signature(primitive, params, numbers_in(avals), n)
        return self.builder.emit_wide(primitive, params, operands, n, (<AbstractValue>sig.results[0]).number)

    def slopes(self, int32_t i, active, bint elementwise=True):
        """Operands h with p' = sum of h x' for node i, by its rule; None where h is zero.

        An elementwise rule is that at the shape of the result. Operands that are not `active` have none.
        """
        cdef Signature sig = node_signature(self.graph, i)
        cdef int32_t result = operand_aval(self.graph, i)
        cdef int32_t k, n
        cdef const int32_t* operands = node_operands(self.graph, i, &n)
        cdef array.array tables = array.clone(NUMBERS, 3 * n + 2, False)
        cdef int32_t* leaves = numbers_in(tables)      # g, p and the operands
        cdef int32_t* avals = leaves + 2 + n
        cdef int32_t* found = avals + n
        cdef uint64_t mask = 0
        leaves[1] = i
        for k in range(n):
            leaves[2 + k] = operands[k]     # the table that they are in moves when the graph grows
        leaves[0] = broadcast(self.builder, self.graph.const_float(1.0), result)
        for k in range(n):
            if (<AbstractValue>sig.avals[k]).inexact:
                if elementwise:
                    leaves[2 + k] = broadcast(self.builder, leaves[2 + k], result)
                mask |= asked(active[k], k, n)
            avals[k] = operand_aval(self.graph, leaves[2 + k])
        cdef RuleTemplate template = vjp_template(signature(sig.primitive, sig.params, avals, n), mask, None)
        if template.graph.n_guards:
            return None
        template.inline_into(self.builder, leaves, found, NULL)
        return [None if found[k] == ZERO or not active[k] else found[k] for k in range(n)]

    def tangents(self, int32_t i, dots):
        """The tangents of the results of node i for those of its operands, by its rule; None is zero.

        None for a rule that branches.
        """
        cdef Signature sig = node_signature(self.graph, i)
        cdef int32_t found[MOST_RESULTS]
        cdef int32_t k, n
        cdef int32_t nout = <int32_t>len(sig.results)
        cdef const int32_t* operands = node_operands(self.graph, i, &n)
        cdef array.array leaves
        cdef uint64_t mask = 0
        leaves = array.array("i", [
            *[<int32_t>ZERO] * nout, *[i + k for k in range(nout)], *[operands[k] for k in range(n)],
            *[<int32_t>ZERO if dot is None else dot for dot in dots],
        ])
        for k in range(n):
            mask |= asked(dots[k] is not None, k, n)
        cdef RuleTemplate template = jvp_template(sig, mask, None)
        if template.graph.n_guards:
            return None
        template.inline_into(self.builder, numbers_in(leaves), found, NULL)
        return [None if found[k] == ZERO else found[k] for k in range(nout)]

    def apply(self, function, *operands):
        """The operand of what a function of traced values gives."""
        before = set_in_context(RUNNING, self.graph)
        try:
            found = function(*[wrap(self.graph, <int32_t>x) if x >= 0 else self.graph.value_of(x) for x in operands])
            return operand_of(self.graph, found)
        finally:
            reset_in_context(RUNNING, before)


cdef inline uint64_t asked(bint active, int32_t k, int32_t n) noexcept:
    """The set of operand k alone, one of n, or the empty one; more than a set holds are asked for all together."""
    return 0 if not active else <uint64_t>1 << k if n <= 64 else ~<uint64_t>0
