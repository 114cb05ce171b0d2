"""The interface between tapes and the engine."""

from hoad._core.runtime.engine cimport Lowered
from hoad._core.graph.tape cimport Graph, int32_t

cpdef Lowered lower(Graph graph, list outputs, list inputs, list varying, int32_t start=*, int32_t guards=*,
                    bint keep=*, bint once=*)
