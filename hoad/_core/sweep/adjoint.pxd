from hoad._core.sweep.builder cimport Builder
from hoad._core.graph.tape cimport Graph

cdef list adjoint_sweep(Graph graph, Builder builder, list targets, list seeds, list wrt, bint notes=*,
                        list asked=*)
