"""How the items of a new array lie in memory, where that is not as in C.

NumPy's results keep the order of their operands: ``x.T + 1`` lies as ``x.T`` does, and whether ``reshape`` gives a view
of it or a copy depends on that. The value on the tape is C-contiguous all the same. `Array.order` lists the axes of an
array without a buffer from that of the largest step to that of the smallest; it is None for the order of C, and
`DOUBT` where nobody has asked NumPy. Once the array has views, the buffer holds its items in this order
(`hoad._core.trace.traced.buffer_of`).

NumPy itself is asked for the order of a result, by an iterator over stand-ins, whose memory is never read.
"""

import numpy as np

cimport numpy as cnp

from hoad._core.trace.traced cimport DOUBT, Array, new_array, node_now
from hoad._core.trace.writes cimport in_memory, is_shadow
from hoad._core.graph.tape cimport aval_of

from hoad._core.ops.plan import contiguous_strides

cnp.import_array()

cdef type ndarray = np.ndarray
cdef list READ = ["readonly"]
cdef list ALLOCATED = ["writeonly", "allocate"]


cdef bint has_axes(tuple shape):
    """Whether a shape has two axes or more that can be ordered."""
    cdef int count = 0
    for n in shape:
        if n == 0:
            return False
        count += n != 1
    return count > 1


cdef bint steps_decrease(cnp.ndarray x) noexcept:
    """Whether no axis takes larger steps than one before it, as in C; what is broadcast takes none."""
    cdef int d
    cdef cnp.npy_intp step
    cdef cnp.npy_intp last = 0
    for d in range(cnp.PyArray_NDIM(x)):
        if cnp.PyArray_DIM(x, d) == 1:
            continue
        step = abs(cnp.PyArray_STRIDE(x, d))
        if step == 0:
            continue
        if last and step > last:
            return False
        last = step
    return True


cdef bint is_spread(object x) noexcept:
    """Whether an axis of a view takes no steps, or those of another: ufuncs order such axes otherwise than copies."""
    cdef cnp.ndarray view
    cdef cnp.npy_intp step
    cdef int d, e
    if type(x) is Array:
        x = (<Array>x).view
    if not isinstance(x, ndarray) or cnp.PyArray_NDIM(x) < 2 or cnp.PyArray_IS_C_CONTIGUOUS(x):
        return False
    view = <cnp.ndarray>x
    for d in range(cnp.PyArray_NDIM(view)):
        if cnp.PyArray_DIM(view, d) > 1:
            if cnp.PyArray_STRIDE(view, d) == 0:
                return True
            step = abs(cnp.PyArray_STRIDE(view, d))
            for e in range(d):
                if cnp.PyArray_DIM(view, e) > 1 and abs(cnp.PyArray_STRIDE(view, e)) == step:
                    return True
    return False


cpdef bint is_in_order(object x) except -1:
    """Whether the items of an array lie in the order of C, as far as its axes are concerned."""
    if type(x) is Array:
        if (<Array>x).buffer is None:
            return (<Array>x).order is None
        if (<Array>x).buffer.in_doubt:
            return not has_axes(aval_of((<Array>x).aval).shape)
        return (<Array>x).view is None or cnp.PyArray_NDIM((<Array>x).view) < 2 or steps_decrease((<Array>x).view)
    if isinstance(x, ndarray):
        return cnp.PyArray_IS_C_CONTIGUOUS(<cnp.ndarray>x) or steps_decrease(<cnp.ndarray>x)
    return True


def is_in_doubt(x):
    """Whether hoad does not know how the items of an array lie in memory."""
    if type(x) is not Array:
        return False
    return (<Array>x).order is DOUBT if (<Array>x).buffer is None else (<Array>x).buffer.in_doubt


cdef cnp.ndarray stand_in(object x):
    """An array that lies as x does, and is not read; None where that is not known."""
    cdef Array array
    cdef tuple shape
    if type(x) is not Array:
        if isinstance(x, ndarray):
            return in_memory(np.shape(x), x.strides)
        return in_memory((), ())
    array = <Array>x
    shape = aval_of(array.aval).shape
    if is_in_doubt(x) and has_axes(shape):
        return None
    if array.view is not None:
        return array.view if is_shadow(array.view) or cnp.PyArray_NDIM(array.view) < 2 else None
    if array.buffer is None and type(array.order) is tuple:
        return in_memory(shape, strides_in(array.order, shape))
    return in_memory(shape, tuple(contiguous_strides(shape)))


cdef tuple strides_in(tuple order, tuple shape):
    """The steps of an array of this shape whose axes have this order."""
    cdef list strides = [1] * len(shape)
    cdef Py_ssize_t step = 1
    for d in reversed(order):
        strides[d] = step
        step *= shape[d]
    return tuple(strides)


cdef object order_of_steps(object strides, tuple shape):
    """The axes by their steps, those of the largest first; None for the order of C."""
    cdef list axes = sorted([d for d in range(len(shape)) if shape[d] != 1], key=lambda d: (-abs(strides[d]), d))
    if axes == sorted(axes) or 0 in shape:
        return None
    return (*[d for d in range(len(shape)) if shape[d] == 1], *axes)


cdef int keep_order(object made, object operands) except -1:
    """Give the result of a ufunc, or a tuple of them, the order in which NumPy lays it out."""
    cdef bint found = True
    if type(made) is not Array:
        if isinstance(made, tuple):
            for x in made:
                keep_order(x, operands)
        return 0
    if aval_of((<Array>made).aval).ndim < 2:
        return 0
    for x in operands:
        if type(x) is Array and (<Array>x).buffer is None and (<Array>x).order is None or type(x) is float:
            continue
        if not is_in_order(x):
            found = False
            break
    if not found and has_axes(aval_of((<Array>made).aval).shape):
        (<Array>made).order = order_of_result(made, operands)
    return 0


cdef object order_of_result(Array made, object operands):
    cdef tuple shape = aval_of(made.aval).shape
    cdef list dummies = []
    cdef object dummy
    cdef bint doubt = False
    for x in operands:
        dummy = stand_in(x)
        doubt = doubt or dummy is None
        if dummy is not None:
            dummies.append(dummy)
            if dummy.shape == shape and steps_decrease(dummy) and 0 not in dummy.strides:
                return None     # in a conflict the order of C wins
    if doubt:
        return DOUBT
    walk = np.nditer([*dummies, None], ["zerosize_ok"], [READ] * len(dummies) + [ALLOCATED], itershape=shape)
    return order_of_steps(walk.operands[-1].strides, shape)


cdef int doubt_order(object made, object operands) except -1:
    """Note that the order of what a function made of operands that do not lie as in C is not known."""
    if isinstance(made, (tuple, list)):
        for x in made:
            doubt_order(x, operands)
    elif type(made) is Array and (<Array>made).buffer is None and has_axes(aval_of((<Array>made).aval).shape):
        if ((<Array>made).order is not None or not all_in_order(operands)) and not is_among(made, operands):
            (<Array>made).order = DOUBT
    return 0


cdef bint is_among(object made, object operands) except -1:
    for x in operands:
        if x is made or isinstance(x, (tuple, list)) and is_among(made, x):
            return True
    return False


cdef bint all_in_order(object operands) except -1:
    for x in operands:
        if isinstance(x, (tuple, list)):
            if not all_in_order(x):
                return False
        elif not is_in_order(x) or is_spread(x):
            return False
    return True


def with_order(made, order):
    """A new array as one whose items lie in an order."""
    if type(made) is Array and (<Array>made).buffer is None:
        (<Array>made).order = order
    return made


def with_unknown_order(made):
    """A new array as one of which it is not known how its items lie."""
    return with_order(made, DOUBT)


def order_for(x, order):
    """The order that a new array like x has, by the option `order` of a function of NumPy's."""
    cdef tuple shape = aval_of((<Array>x).aval).shape if type(x) is Array else np.shape(x)
    cdef object dummy
    if len(shape) < 2 or order == "C" or not has_axes(shape):
        return None
    if order == "F":
        return tuple(range(len(shape)))[::-1]
    dummy = stand_in(x)
    if dummy is None:
        return DOUBT
    if order == "A":
        return order_for(x, "F" if dummy.flags.f_contiguous else "C")
    return order_of_steps(dummy.strides, shape)


def has_order(x, order):
    """Whether an array need not be copied to lie as the option `order` says."""
    cdef object dummy
    if order not in ("C", "F") or not has_axes(aval_of((<Array>x).aval).shape if type(x) is Array else np.shape(x)):
        return True
    dummy = stand_in(x)
    return dummy is not None and (dummy.flags.c_contiguous if order == "C" else dummy.flags.f_contiguous)


def copied_in_order(x, order):
    """A copy of a traced array that lies as the option `order` says."""
    made = new_array((<Array?>x).graph, node_now(<Array>x), (<Array>x).aval)
    made.order = order_for(x, order)
    return made


def stand_in_memory(x):
    """An array of bytes that lies as x does, with memory of its own; None where that is not known."""
    cdef object dummy
    dummy = stand_in(x)
    if dummy is None:
        return None
    return np.empty_like(dummy)
