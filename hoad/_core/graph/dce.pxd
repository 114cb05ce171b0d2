from hoad._core.graph.tape cimport Scope, Graph, int32_t

cdef int compact(Graph graph, Scope start, int32_t* outputs, int32_t count) except -1
