cpdef int normal_axis(object axis, int ndim) except -1
cpdef tuple normal_axes(object axis, int ndim)
cpdef tuple axes_in_order(x, axes=*)
