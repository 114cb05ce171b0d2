"""Dropping what no output of a new tape needs."""

from hoad._core.graph.tape cimport Frame, Graph, int32_t

cdef int compact(Graph graph, Frame start, int32_t* outputs, int32_t count) except -1
