"""The reverse sweep."""

from hoad._core.sweep.builder cimport Emitter
from hoad._core.graph.tape cimport Graph

cdef list adjoint_sweep(Graph graph, Emitter emitter, list targets, list seeds, list wrt, bint notes=*,
                        list asked=*)
