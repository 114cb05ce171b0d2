cimport numpy as cnp

from hoad._core.graph.tape cimport Graph, int32_t, int64_t

cdef class Buffer:
    cdef readonly Graph graph
    cdef int32_t node           # operand of the content
    cdef int32_t aval           # of the root, the array that all of them are views of
    cdef int64_t size
    cdef int64_t version        # counts writes
    cdef int64_t made_at           # as that of the root
    cdef bint blank             # the content is zero throughout
    cdef bint in_doubt          # whether NumPy's array lies in the order of the root is not known
    cdef str sealed             # why nothing may be written to any view of it, or None
    cdef list values            # what was written since, in turn; each is owned by the buffer and does not change
    cdef int32_t* owner         # of each place of the root: the number of the value written there last, or CONTENT
    cdef int32_t* slot          # the place in that value
    cdef cnp.ndarray shadow
    cdef cnp.ndarray listed     # the places of the root as integers, once somebody needs them

    cdef int allot(self) except -1
    cdef int put_one(self, int64_t place, object value) except -1
    cdef int put(self, cnp.ndarray places, cnp.ndarray slots, object value) except -1
    cdef int settle(self, int32_t node, bint blank=*) except -1
    cdef int forget_overwritten(self) except -1
    cdef cnp.ndarray shadow_of_root(self)
    cdef cnp.ndarray places_of_root(self)

cdef Buffer new_buffer(Graph graph, int32_t node, int32_t aval)

cdef enum:
    CONTENT = -1

cdef cnp.ndarray in_memory(tuple shape, tuple strides)
cdef int64_t place_at(cnp.ndarray view, int64_t at) noexcept
cdef cnp.ndarray grid(object shape, object strides, int64_t start)
cdef cnp.ndarray places_in(cnp.ndarray view)
cdef tuple strides_of(cnp.ndarray shadow)
cdef int64_t start_of(cnp.ndarray shadow) noexcept
cdef bint is_shadow(cnp.ndarray view) noexcept
cdef bint in_order(cnp.ndarray view) noexcept
