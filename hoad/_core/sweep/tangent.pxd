"""The forward sweep, and the transposition of rules that it rests on."""

from hoad._core.sweep.builder cimport Builder
from hoad._core.graph.primitive cimport Signature
from hoad._core.graph.tape cimport Graph, uint64_t
from hoad._core.sweep.rule_template cimport RuleTemplate

cdef RuleTemplate jvp_template(Signature sig, uint64_t active, object where, list values=*)
cdef list tangent_sweep(Graph graph, Builder builder, list targets, list wrt, list tangents, bint notes=*)
