from hoad._core.graph.tape cimport Graph, int32_t
from hoad._core.sweep.builder cimport Builder

cdef tuple entries_of_numbers(Graph graph, Builder builder, int32_t seed, int32_t output, object moved)
