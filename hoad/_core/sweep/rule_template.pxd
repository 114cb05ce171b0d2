from hoad._core.sweep.builder cimport Builder, ScalarRule
from hoad._core.graph.primitive cimport Primitive, Signature
from hoad._core.graph.tape cimport Graph, int32_t, uint64_t

cdef class RuleTemplate:
    cdef readonly Graph graph
    cdef readonly Signature signature
    cdef readonly str mode           # "vjp" or "jvp"
    cdef readonly uint64_t active    # the operands asked for, a bit each
    cdef int32_t n_leaves            # g of each result, p of each result, the operands; for jvp then the tangents
    cdef int32_t* steps              # the nodes to emit, in order
    cdef int32_t n_steps
    cdef ScalarRule scalar           # the same for the fast way, if `is_scalar`
    cdef bint is_scalar
    cdef int32_t* outputs            # vjp: adjoint of each operand; jvp: tangent of each result
    cdef int32_t n_outputs

    cdef int inline_into(self, Builder builder, const int32_t* leaves, int32_t* outputs, bint* signs) except -1
    cdef int finish(self, list outputs) except -1
    cdef list replay(self, Builder builder, list inputs, list leaves)

cdef RuleTemplate vjp_template(Signature sig, uint64_t active, object where, list values=*)
cdef list values_for(Graph graph, Signature sig, int32_t node, const int32_t* operands, int32_t count)
cdef RuleTemplate author_jvp_template(Signature sig, uint64_t active)
cdef int forget_old(Signature sig) except -1
cdef int keep_template(Signature sig, object key, RuleTemplate template) except -1
cdef bint is_kept(Primitive primitive) noexcept
cdef bint reverse_only(Signature sig) except -1
cdef bint is_odd(Signature sig) except -1
cdef str describe(Signature sig)
