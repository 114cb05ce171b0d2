"""Layouts: in which order the axes of arrays lie in memory."""

from hoad._core.engine cimport Lowered

cdef int choose_layouts(Lowered program) except -1
