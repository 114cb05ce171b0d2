"""What the views of one traced array share: its content, and what was written to it since.

The array that the others are views of is the *root*; its *places* are the flat numbers of its items. Where a view lies
is asked of NumPy. A *shadow* is an array of bytes with the root's shape over memory that is never read; NumPy makes the
same view of it, whose address and strides say which places it covers. What strides cannot say is a list of places: an
array of integers, of which NumPy makes views just as well.

A write does not touch the content. It is put beside it as *pending*, and each of its places notes which value it holds,
and where in it: so that a write costs by what it writes, and a read by what it reads.
"""

import numpy as np

from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc
from libc.string cimport memset

cimport numpy as cnp

from hoad._core.graph.tape cimport AbstractValue, aval_of, hold_aval, release_aval

cnp.import_array()

cdef type ndarray = np.ndarray

cdef enum:
    MOST_DIMS = 64
    MOST_PLACES = 2147483647

cdef char GROUND = 0        # where every shadow begins


cdef Buffer new_buffer(Graph graph, int32_t node, int32_t aval):
    """The buffer of a root whose content is a node, and to which nothing was written yet."""
    cdef Buffer made = Buffer.__new__(Buffer)
    made.graph = graph
    made.node = node
    made.aval = aval
    hold_aval(aval)
    made.size = aval_of(aval).size
    made.values = []
    graph.held(node)
    return made


cdef class Buffer:
    """The content of a root, and the writes that are pending on it."""

    def __dealloc__(self):
        if self.graph is not None:
            self.graph.released(self.node)
        release_aval(self.aval)
        PyMem_RawFree(self.owner)
        PyMem_RawFree(self.slot)

    cdef int allot(self) except -1:
        """Make room for an owner and a slot of every place, at the first write."""
        if self.size > MOST_PLACES:
            raise MemoryError(f"a traced array that is written to holds at most {MOST_PLACES} items, not {self.size}")
        cdef size_t nbytes = max(self.size, 1) * sizeof(int32_t)
        cdef int32_t* owner = <int32_t*>PyMem_RawMalloc(nbytes)
        cdef int32_t* slot = <int32_t*>PyMem_RawMalloc(nbytes)
        if owner == NULL or slot == NULL:
            PyMem_RawFree(owner)
            PyMem_RawFree(slot)
            raise MemoryError
        memset(owner, 0xFF, nbytes)
        self.owner, self.slot = owner, slot     # both or none: a write looks at one of them
        return 0

    cdef int put_one(self, int64_t place, object value) except -1:
        """Write a scalar."""
        if self.owner == NULL:
            self.allot()
        self.owner[place] = <int32_t>len(self.values)
        self.slot[place] = 0
        self.values.append(value)
        self.version += 1
        if len(self.values) > 2 * self.size + MOST_DIMS:
            self.forget_overwritten()
        return 0

    cdef int put(self, cnp.ndarray places, cnp.ndarray slots, object value) except -1:
        """Write the items of a value at `slots` to `places`, in turn: of a place that comes twice, the last holds."""
        cdef int64_t* to = <int64_t*>cnp.PyArray_DATA(places)
        cdef int64_t* at = <int64_t*>cnp.PyArray_DATA(slots)
        cdef int32_t number = <int32_t>len(self.values)
        cdef int64_t i
        if self.owner == NULL:
            self.allot()
        for i in range(cnp.PyArray_SIZE(places)):
            self.owner[to[i]] = number
            self.slot[to[i]] = <int32_t>at[i]
        self.values.append(value)
        self.version += 1
        if number > 2 * self.size + MOST_DIMS:
            self.forget_overwritten()
        return 0

    cdef int settle(self, int32_t node, bint blank=False) except -1:
        """Take `node` for the content; nothing is pending."""
        self.graph.held(node)
        self.graph.released(self.node)
        self.node = node
        self.blank = blank
        if self.values:
            self.values = []
            memset(self.owner, 0xFF, self.size * sizeof(int32_t))
        return 0

    cdef int forget_overwritten(self) except -1:
        """Drop the values that own no place any more."""
        cdef list kept = []
        cdef dict number = {}
        cdef int64_t i
        for i in range(self.size):
            if self.owner[i] == CONTENT:
                continue
            known = number.get(self.owner[i])
            if known is None:
                known = number[self.owner[i]] = len(kept)
                kept.append(self.values[self.owner[i]])
            self.owner[i] = <int32_t>known
        self.values = kept
        return 0

    cdef cnp.ndarray shadow_of_root(self):
        """The shadow of the root."""
        cdef cnp.npy_intp dims[MOST_DIMS]
        cdef AbstractValue aval
        cdef int d
        if self.shadow is None:
            aval = aval_of(self.aval)
            for d in range(aval.ndim):
                dims[d] = aval.shape[d]
            self.shadow = cnp.PyArray_SimpleNewFromData(aval.ndim, dims, cnp.NPY_INT8, &GROUND)
        return self.shadow

    cdef cnp.ndarray places_of_root(self):
        """The places of the root, listed in its shape."""
        if self.listed is None:
            self.listed = np.arange(self.size, dtype=np.int64).reshape(aval_of(self.aval).shape)
        return self.listed


cdef bint is_shadow(cnp.ndarray view) noexcept:
    """Whether a view is given by a shadow; else by a list of places."""
    return cnp.PyArray_TYPE(view) == cnp.NPY_INT8


cdef int64_t start_of(cnp.ndarray shadow) noexcept:
    """The place of the first item."""
    return <char*>cnp.PyArray_DATA(shadow) - &GROUND if cnp.PyArray_SIZE(shadow) else 0


cdef tuple strides_of(cnp.ndarray shadow):
    """Places between neighbours along each axis."""
    cdef int d
    return tuple([cnp.PyArray_STRIDE(shadow, d) for d in range(cnp.PyArray_NDIM(shadow))])


cdef bint in_order(cnp.ndarray view) noexcept:
    """Whether a view covers consecutive places, first to last."""
    return is_shadow(view) and cnp.PyArray_IS_C_CONTIGUOUS(view)


cdef cnp.ndarray in_memory(tuple shape, tuple strides):
    """An array of bytes with these steps over memory that is never read."""
    cdef cnp.npy_intp dims[MOST_DIMS]
    cdef cnp.npy_intp steps[MOST_DIMS]
    cdef int d
    for d in range(len(shape)):
        dims[d] = shape[d]
        steps[d] = strides[d]
    return cnp.PyArray_New(ndarray, <int>len(shape), dims, cnp.NPY_INT8, steps, &GROUND, 0, 0, None)


cdef int64_t place_at(cnp.ndarray view, int64_t at) noexcept:
    """The place of the item of a view at a flat number."""
    cdef char* address = <char*>cnp.PyArray_DATA(view)
    cdef int d
    cdef int64_t n
    for d in range(cnp.PyArray_NDIM(view) - 1, -1, -1):
        n = cnp.PyArray_DIM(view, d)
        address += (at % n) * cnp.PyArray_STRIDE(view, d)
        at = at // n
    return address - &GROUND if is_shadow(view) else (<int64_t*>address)[0]


cdef cnp.ndarray places_in(cnp.ndarray view):
    """The places of a view, one after the other."""
    if is_shadow(view):
        return grid((<object>view).shape, strides_of(view), start_of(view))
    return np.ascontiguousarray(view, dtype=np.int64)


cdef cnp.ndarray grid(object shape, object strides, int64_t start):
    """start + Σ index·strides for every index of a shape, in C order."""
    cdef cnp.npy_intp dims[MOST_DIMS]
    cdef cnp.npy_intp steps[MOST_DIMS]
    cdef cnp.npy_intp index[MOST_DIMS]
    cdef int ndim = len(shape)
    cdef int d
    cdef int64_t count = 1
    cdef int64_t i
    for d in range(ndim):
        dims[d] = shape[d]
        steps[d] = strides[d]
        index[d] = 0
        count *= dims[d]
    cdef cnp.ndarray made = np.empty(count, dtype=np.int64)
    cdef int64_t* out = <int64_t*>cnp.PyArray_DATA(made)
    cdef int64_t k = start
    for i in range(count):
        out[i] = k
        for d in range(ndim - 1, -1, -1):
            index[d] += 1
            k += steps[d]
            if index[d] < dims[d]:
                break
            k -= steps[d] * dims[d]
            index[d] = 0
    return made
