"""The reverse sweep."""

from hoad._core.emit cimport Emitter
from hoad._core.tape cimport Graph

cdef list adjoint_sweep(Graph graph, Emitter emitter, list targets, list seeds, list wrt, bint notes=*,
                        list asked=*)
