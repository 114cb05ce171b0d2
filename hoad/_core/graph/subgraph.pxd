from hoad._core.graph.tape cimport Graph, Scope, int32_t

cdef class Subgraph:
    cdef readonly Graph graph
    cdef readonly list constants    # operands of the graph it was cut off, of arrays, where those became inputs
    cdef readonly list outer        # the same, of nodes before the cut
    cdef readonly list inputs       # nodes: of the constants, of what was asked for as an input, of the outer nodes
    cdef readonly list outputs
    cdef dict place                 # operand of the graph it was cut off -> operand

cdef Subgraph cut(Graph graph, Scope scope, list inputs, list outputs, bint whole)
cdef int32_t copy_node(Graph to, Graph graph, int32_t i, dict place) except -1
cdef Scope drop_guards(Graph graph, Scope scope) except *
cdef Scope keep_constants(Graph graph, Scope scope, list constants) except *
