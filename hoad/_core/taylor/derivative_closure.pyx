"""A copy of what is behind some nodes, in which rules are spelled out until they ask for nothing new."""

from array import array

cimport cython

from hoad._core.sweep.builder cimport Builder
from hoad._core.trace.coerce cimport operand_of
from hoad._core.graph.primitive cimport MOST_RESULTS, Primitive, Signature, primitive_of, signature
from hoad._core.sweep.tangent cimport jvp_template
from hoad._core.graph.tape cimport (
    AVAL_BOOL,
    F_WIDE,
    F_STRONG,
    ZERO,
    AbstractValue,
    Graph,
    Node,
    aval_of,
    int32_t,
    node_operands,
    operand_aval,
    uint64_t,
)
from hoad._core.sweep.rule_template cimport RuleTemplate, vjp_template
from hoad._core.trace.traced cimport wrap

from hoad._core.trace.coerce import new_input
from hoad._core.graph.primitive import primitive_named, signature_at
from hoad._core.trace.context import RUNNING


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
        self.builder = Builder(self.graph, True, True, True)
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

    cdef Signature signature_of(self, int32_t i):
        """The signature of a node."""
        cdef Node* node = &self.graph.nodes[i]
        cdef int32_t avals[4]
        cdef int32_t k, n
        cdef const int32_t* operands
        if node.flags & F_WIDE:
            return <Signature>self.graph.wide_nodes[node.a].sig
        operands = node_operands(self.graph, i, &n)
        for k in range(n):
            avals[k] = operand_aval(self.graph, operands[k])
        return signature(primitive_of(node.op), None, avals, n)

    def emit(self, str name, *operands, params=None):
        """The operand of an operation by its name, new or found again."""
        cdef Primitive primitive = primitive_named(name)
        cdef int32_t[4] at
        cdef int32_t[4] avals
        cdef int32_t k
        cdef bint scalar = params is None
        for k in range(len(operands)):
            at[k] = operands[k]
            avals[k] = operand_aval(self.graph, at[k])
            scalar = scalar and avals[k] <= AVAL_BOOL
        if scalar and len(operands) <= 2:
            return self.builder.emit(primitive.op, at[0], at[1] if len(operands) == 2 else 0)
        aval = signature(primitive, params, avals, len(operands)).results[0]
        return self.builder.emit_wide(primitive, params, at, len(operands), (<AbstractValue>aval).number)

    def record(self, Primitive primitive not None, params, *operands):
        """The operand of an operation."""
        cdef int32_t[8] at
        cdef int32_t k
        for k in range(len(operands)):
            at[k] = operands[k]
        sig = signature_at(primitive, params, [self.aval(x) for x in operands])
        aval = (<Signature>sig).results[0]
        return self.builder.emit_wide(primitive, params, at, len(operands), (<AbstractValue>aval).number)

    def slopes(self, int32_t i, active, bint elementwise=True):
        """Operands h with p' = sum of h x' for node i, by its rule; None where h is zero.

        An elementwise rule is that at the shape of the result. Operands that are not `active` have none.
        """
        cdef Signature sig = self.signature_of(i)
        cdef RuleTemplate template
        cdef int32_t result = operand_aval(self.graph, i)
        cdef int32_t[8] avals
        cdef int32_t[18] leaves
        cdef int32_t[8] found
        cdef int32_t k, n
        cdef const int32_t* operands = node_operands(self.graph, i, &n)
        cdef uint64_t mask = 0
        cdef list numbers = [operands[k] for k in range(n)]
        if n > 8:
            return None
        leaves[0] = self.builder.broadcast(self.graph.const_float(1.0), result)
        leaves[1] = i
        for k in range(n):
            leaves[2 + k] = numbers[k]
            if (<AbstractValue>sig.avals[k]).inexact:
                if elementwise:
                    leaves[2 + k] = self.builder.broadcast(numbers[k], result)
                mask |= <uint64_t>active[k] << k
            avals[k] = operand_aval(self.graph, leaves[2 + k])
        template = vjp_template(signature(sig.primitive, sig.params, avals, n), mask, None)
        if template.graph.n_guards:
            return None
        template.splice(self.builder, leaves, found)
        return [None if found[k] == ZERO else found[k] for k in range(n)]

    def tangents(self, int32_t i, dots):
        """The tangents of the results of node i for those of its operands, by its rule; None stands for zero.

        None for a rule that branches.
        """
        cdef Signature sig = self.signature_of(i)
        cdef RuleTemplate template
        cdef int32_t found[MOST_RESULTS]
        cdef int32_t k, n
        cdef int32_t nout = <int32_t>len(sig.results)
        cdef const int32_t* operands = node_operands(self.graph, i, &n)
        cdef int32_t[::1] leaves
        cdef uint64_t mask = 0
        if n > 64:
            return None
        leaves = array("i", [
            *[<int32_t>ZERO] * nout, *[i + k for k in range(nout)], *[operands[k] for k in range(n)],
            *[<int32_t>ZERO if dot is None else dot for dot in dots],
        ])
        for k in range(n):
            mask |= <uint64_t>(dots[k] is not None) << k
        template = jvp_template(sig, mask, None)
        if template.graph.n_guards:
            return None
        template.splice(self.builder, &leaves[0], found)
        return [None if found[k] == ZERO else found[k] for k in range(nout)]

    def apply(self, function, *operands):
        """The operand of what a function of traced values gives."""
        before = RUNNING.set(self.graph)
        try:
            found = function(*[wrap(self.graph, <int32_t>x) if x >= 0 else self.graph.value_of(x) for x in operands])
            return operand_of(self.graph, found)
        finally:
            RUNNING.reset(before)
