from libc.stdint cimport int32_t

from hoad._core.runtime.engine cimport Lowered

cdef class IsomorphicGroups:
    cdef int32_t n              # steps
    cdef int32_t* order         # they, group by group; those of a group are in the order in which they came
    cdef int32_t n_groups
    cdef int32_t* starts        # of each group in `order`, and where the last one ends

cdef IsomorphicGroups isomorphic_groups(Lowered program)
cdef bint has_side_effects(Lowered program, int32_t i) noexcept
