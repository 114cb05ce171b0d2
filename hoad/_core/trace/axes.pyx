"""The numbers of axes, as NumPy's functions take them."""

import operator

import numpy as np

cdef object AxisError = np.exceptions.AxisError
cdef tuple INTEGERS = (int, np.integer)


cpdef int normal_axis(object axis, int ndim) except -1:
    """The axis as a non-negative number."""
    cdef Py_ssize_t found = axis if type(axis) is int else operator.index(axis)
    if not -ndim <= found < ndim:
        raise AxisError(found, ndim)
    return <int>found if found >= 0 else <int>found + ndim


cpdef tuple normal_axes(object axis, int ndim):
    """The axes as a sorted tuple of non-negative numbers."""
    if axis is None:
        return tuple(range(ndim))
    if not isinstance(axis, (tuple, list)):
        return (normal_axis(axis, ndim),)
    cdef list axes = sorted([normal_axis(d, ndim) for d in axis])
    if len(set(axes)) < len(axes):
        raise ValueError(f"duplicate axes in {axis}")
    return tuple(axes)


# ---- axes in another order: those of x that a function puts in turn

cpdef tuple axes_in_order(x, axes=None):
    """The order that ``np.transpose`` gives; so the functions below."""
    cdef int ndim = x.ndim
    if axes is None:
        return tuple(range(ndim - 1, -1, -1))
    cdef tuple order = tuple([normal_axis(d, ndim) for d in axes])
    if len(order) != ndim or len(set(order)) != ndim:
        raise ValueError(f"axes {axes} do not fit an array of shape {x.shape}")
    return order


def axes_swapped(x, axis1, axis2):
    cdef int ndim = x.ndim
    cdef list order = list(range(ndim))
    cdef int first = normal_axis(axis1, ndim)
    cdef int second = normal_axis(axis2, ndim)
    order[first], order[second] = second, first
    return tuple(order)


def axes_moved(a, source, destination):
    cdef int ndim = a.ndim
    cdef list left = given(source, ndim)
    cdef list right = given(destination, ndim)
    if len(left) != len(right) or len(set(left)) < len(left) or len(set(right)) < len(right):
        raise ValueError(f"np.moveaxis cannot move the axes {source} to {destination}: each must be given once")
    cdef list order = [d for d in range(ndim) if d not in left]
    for place, d in sorted(zip(right, left)):
        order.insert(place, d)
    return tuple(order)


cdef list given(object axes, int ndim):
    return [normal_axis(d, ndim) for d in ([axes] if isinstance(axes, INTEGERS) else list(axes or ()))]


def axes_rolled(a, axis, start=0):
    cdef int ndim = a.ndim
    cdef int moved = normal_axis(axis, ndim)
    cdef int before = start + ndim if start < 0 else start
    if not 0 <= before <= ndim:
        raise AxisError(before, ndim + 1)
    return axes_moved(a, moved, before - 1 if moved < before else before)
