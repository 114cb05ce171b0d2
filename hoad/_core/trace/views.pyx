"""Views of traced arrays, and writes to them: which array sees what.

Nodes do not change. A traced array that shares its `Buffer` with others notes which version of it its node belongs
to, and asks again when there is a later one. What is asked for is collected from the content and from what is pending
on it: a value that covers all of it is handed back as it is, scalars are assembled, and anything else is joined and
gathered; so that a write, and a read, take a few nodes however many items they have.
"""

import numpy as np

from libc.string cimport memcmp

cimport numpy as cnp

from hoad._core.trace.writes cimport (
    CONTENT, Buffer, grid, in_order, is_shadow, new_buffer, place_at, places_in, start_of, strides_of,
)
from hoad._core.trace.axes cimport axes_in_order, normal_axis
from hoad._core.trace.coerce cimport as_numbers, check_class, holds_numbers, operand_of
from hoad._core.trace.errors cimport check_alive, check_same, check_usable
from hoad._core.trace.calls cimport record_gather, record_on
from hoad._core.trace.memory_order cimport is_in_order, order_of_steps
from hoad._core.graph.primitive cimport primitive_of
from hoad._core.graph.tape cimport (
    AVAL_BOOL, AVAL_FLOAT, OP_BROADCAST_TO, OP_COMPLEX, OP_CONCATENATE, OP_GATHER, OP_GETITEM, OP_IMAG, OP_PUT, OP_REAL,
    OP_RESHAPE, OP_TRANSPOSE, ZERO, AbstractValue, Graph, aval_of, int32_t, int64_t, intern_aval, is_plain_float64,
)
from hoad._core.trace.traced cimport (
    Array, Scalar, Traced, buffer_of, check_own, connect_writes, item_of, new_array, node_now, wrap,
)
from hoad._core.base.where cimport here

cdef extern from "numpy/arrayobject.h":
    cnp.ndarray take_from "PyArray_TakeFrom"(cnp.ndarray, object, int, void* out, cnp.NPY_CLIPMODE)

cdef dict FUNCTIONS, METHODS

from hoad._core.trace.calls import apply_assembly, apply_primitive
from hoad._core.trace.coerce import holds_traced

from hoad._core.trace.traced import FUNCTIONS, METHODS, graph_of

from hoad.errors import DTypeError, ShapeError, TracedValueError

cnp.import_array()

cdef type ndarray = np.ndarray
cdef object LARGEST = 2**62
cdef tuple SEQUENCES = (list, tuple, np.ndarray)

cdef str UNKNOWN_VIEW = (
    "whether NumPy gives a view or a copy here depends on the order of the items in memory, which is not known of this "
    "array, so that nothing is written to it any more"
)

cdef enum:
    MOST_AXES = 64
    OFTEN = 4       # times as much: when a value is taken apart first
    FEW = 4096      # items of an array whose places are listed to find those at an index


# ---- views ----------------------------------------------------------------------------------------------------------

cpdef cnp.ndarray shadow(Array x):
    """Where `x` lies in its root, as an array that NumPy can take views of, but nobody may read."""
    cdef Buffer buffer = buffer_of(x)
    return buffer.shadow_of_root() if x.view is None else x.view


def places(Array x):
    """The places of `x` in its root, listed in the shape of `x`."""
    cdef Buffer buffer = buffer_of(x)
    if x.view is None:
        return buffer.places_of_root()
    if is_shadow(x.view):
        return on(buffer.places_of_root(), x.view)
    return x.view


cdef object on(cnp.ndarray items, cnp.ndarray shadow):
    """The view of a contiguous array that a shadow is of its root."""
    cdef int64_t size = cnp.PyArray_ITEMSIZE(items)
    return np.ndarray((<object>shadow).shape, (<object>items).dtype, items, start_of(shadow) * size,
                      tuple([k * size for k in strides_of(shadow)]))


def shares(Array x, Array y):
    """Whether two arrays are views of one root."""
    return x is y or (x.buffer is not None and x.buffer is y.buffer)


def is_part(Array x):
    """Whether an array is the real or imaginary part of another, so that there are gaps between its items."""
    return x.part is not None


cpdef bint is_settled(Array x):
    """Whether nothing is pending on what `x` is a view of."""
    return x.buffer is None or not x.buffer.values


cpdef Array view_of(Array x, cnp.ndarray view, value=None, str sealed=None):
    """The view of `x` that lies at `view`; `value` is what it holds, if somebody knows."""
    return seen_at(x, view, x.part, aval_of(x.aval).dtype, value, sealed)


def reshaped_in_turn(Array x, shape):
    """The view of another shape where the items lie in turn; None where that takes more to say."""
    cdef cnp.npy_intp dims[MOST_AXES]
    cdef cnp.ndarray view
    cdef object found = None
    cdef int64_t size = 1
    cdef int d
    cdef int left = -1
    if type(shape) is not tuple or len(shape) > MOST_AXES or x.part is not None:
        return None
    view = shadow(x)
    if not in_order(view) or x.buffer.in_doubt:
        return None
    for d in range(len(shape)):
        if type(shape[d]) is not int:
            return None
        dims[d] = shape[d]
        if dims[d] == -1 and left < 0:
            left = d
        elif dims[d] <= 0:
            return None
        else:
            size *= dims[d]
    if left >= 0:
        dims[left] = cnp.PyArray_SIZE(view) // size
        size *= dims[left]
    if size != cnp.PyArray_SIZE(view) or size == 0:
        return None
    if left >= 0:
        shape = (*shape[:left], dims[left], *shape[left + 1:])
    if x.view is None and is_settled(x) and len(shape) and shape != aval_of(x.aval).shape:
        check_usable(x.graph)
        found = record_on(x.graph, OP_RESHAPE, (shape,), node_now(x))   # sooner than from what the view says
    return view_of(x, cnp.PyArray_New(ndarray, <int>len(shape), dims, cnp.NPY_INT8, NULL, cnp.PyArray_DATA(view), 0, 0,
                                      None), found)


def permuted(Array x, tuple order=None):
    """The view whose axes are those of x in this order, by default reversed.

    None of fewer than two axes, and where that takes more to say.
    """
    cdef cnp.npy_intp axes[MOST_AXES]
    cdef cnp.PyArray_Dims given
    cdef int ndim = aval_of(x.aval).ndim
    cdef int d
    cdef bint moves = False
    if ndim < 2 or x.part is not None or not is_settled(x):
        return None
    if order is None:
        order = (1, 0) if ndim == 2 else tuple(range(ndim))[::-1]
    for d in range(ndim):
        axes[d] = order[d]
        moves = moves or axes[d] != d
    given.ptr, given.len = axes, ndim
    check_usable(x.graph)
    found = record_on(x.graph, OP_TRANSPOSE, (order,), node_now(x)) if moves else copy_of(x)
    return view_of(x, <cnp.ndarray>cnp.PyArray_Transpose(shadow(x), &given), found)


def permuting(general, order):
    """The implementation `general` of a function that puts axes in another order, as one that finds most views sooner.

    `order` gives them, of the same arguments.
    """

    def implementation(x, *args, **kwargs):
        cdef object found = None
        if type(x) is Array:
            found = permuted(x, order(x, *args, **kwargs) if args or kwargs else None)
        return general(x, *args, **kwargs) if found is None else found

    return implementation


def transpose_method(x, *axes):
    """``x.transpose(*axes)``, of axes or a tuple of them."""
    cdef object given = axes
    if not axes or axes[0] is None and len(axes) == 1:
        given = None
    elif not hasattr(axes[0], "__index__"):
        given = axes[0]
    found = permuted(x, None if given is None else axes_in_order(x, given)) if type(x) is Array else None
    return FUNCTIONS[np.transpose](x, given) if found is None else found


def flattened(Array x):
    """A copy of x in one dimension, its items in the order of C."""
    cdef AbstractValue aval = aval_of(x.aval)
    if aval.ndim == 1:
        return copy_of(x)
    check_usable(x.graph)
    return record_on(x.graph, OP_RESHAPE, ((aval.size,),), node_now(x))


def broadcast_view(Array x, shape, str sealed):
    """The view of x that repeats its items up to a larger shape; None where that takes more to say."""
    cdef cnp.npy_intp dims[MOST_AXES]
    cdef cnp.npy_intp steps[MOST_AXES]
    cdef cnp.ndarray own
    cdef int d, lead
    if type(shape) is not tuple or len(shape) > MOST_AXES or not is_settled(x):
        return None
    own = shadow(x)
    lead = <int>len(shape) - cnp.PyArray_NDIM(own)
    if lead < 0 or not is_shadow(own) or shape == aval_of(x.aval).shape:
        return None
    for d in range(len(shape)):
        if type(shape[d]) is not int or shape[d] < 0:
            return None
        dims[d], steps[d] = shape[d], 0
        if d >= lead and cnp.PyArray_DIM(own, d - lead) == dims[d]:
            steps[d] = cnp.PyArray_STRIDE(own, d - lead)
        elif d >= lead and cnp.PyArray_DIM(own, d - lead) != 1:
            return None
    check_usable(x.graph)
    found = record_on(x.graph, OP_BROADCAST_TO, (shape,), node_now(x))
    return view_of(x, cnp.PyArray_New(ndarray, <int>len(shape), dims, cnp.NPY_INT8, steps, cnp.PyArray_DATA(own), 0, 0,
                                      None), found, sealed)


def reshape_method(x, *shape, order="C", copy=None):
    """``x.reshape(*shape)``, of sizes or a tuple of them."""
    given = shape[0] if len(shape) == 1 and type(shape[0]) is not int else shape
    found = reshaped_in_turn(x, given) if type(x) is Array and order == "C" and copy is None else None
    return FUNCTIONS[np.reshape](x, given, order, copy=copy) if found is None else found


def part(Array x, str name):
    """The part of a complex `x` that is called "real" or "imag": of an array a view, of a number a number."""
    if x.buffer is None and aval_of(x.aval).ndim == 0:
        return part_of(x, name)
    return seen_at(x, shadow(x), name, np.finfo(aval_of(x.aval).dtype).dtype, None, None)


cdef Array seen_at(Array x, cnp.ndarray view, str part, object dtype, object value, str sealed):
    """What lies at a view of the root of `x`: all of it, or a part, in its dtype."""
    cdef Buffer buffer = buffer_of(x)
    cdef Array made
    check_usable(x.graph)
    if buffer.values:       # it is read when somebody asks for it
        made = new_array(x.graph, ZERO, intern_aval(dtype, (<object>view).shape).number)
        made.version = -1
    else:
        made = as_array(part_of(content_at(buffer, view), part) if value is None else value)
        made.version = buffer.version
    made.buffer = buffer
    made.taken = buffer.version
    made.view = view
    made.part = part
    made.sealed = x.sealed or sealed
    return made


def seen(value, look, str sealed=None, bint by_view=False, int ordered_from=MOST_AXES):
    """The implementation `value` as one that gives views: `look` makes them of a shadow, None where NumPy copies.

    What some views hold (`by_view`) is told by the view alone, and cheaper. Of arrays with as many axes as
    `ordered_from` or more, the order of the items in memory decides between view and copy.
    """

    def implementation(x, *args, **kwargs):
        if type(x) is not Array:
            return value(x, *args, **kwargs)
        if aval_of((<Array>x).aval).ndim >= ordered_from and buffer_of(x).in_doubt and not kwargs.get("copy"):
            return in_doubt(x, value(x, *args, **kwargs))
        found = value(x, *args, **kwargs) if not by_view and is_settled(x) else None
        view = look(shadow(x), *args, **kwargs)
        if type(view) is ndarray:
            return view_of(x, view, found, sealed)
        if view is None:
            found = value(x, *args, **kwargs) if found is None else found
            return reshaped_copy(found) if type(found) is Array else found
        return type(view)([view_of(x, part, None if found is None else found[k], sealed)
                           for k, part in enumerate(view)])

    return implementation


cdef object in_doubt(Array x, object found):
    """What may be a view of x or a copy: nothing is written to either from now on."""
    if type(found) is not Array or aval_of((<Array>found).aval).size < 2:
        return found
    found = copy_of(found)
    x.buffer.sealed = UNKNOWN_VIEW
    buffer_of(found).sealed = UNKNOWN_VIEW
    return found


cdef Array reshaped_copy(Array found):
    """A copy that lies in memory as what was found."""
    cdef Array made = copy_of(found)
    if found.buffer is None:
        made.order = found.order
    return made


cdef Array as_array(object x):
    """A traced array of its own with this value, which may be a number."""
    if type(x) is Scalar:
        return new_array((<Scalar>x).graph, (<Scalar>x).node, AVAL_BOOL if (<Scalar>x).truth else AVAL_FLOAT)
    return <Array?>x if (<Array?>x).buffer is None else copy_of(x)


def as_written_to(x):
    """A traced number as an array of no dimensions that can be written to; arrays as they are."""
    if type(x) is not Scalar or (<Scalar>x).truth:
        return x
    check_usable((<Scalar>x).graph)
    cdef Array made = as_array(x)
    buffer_of(made)
    return made


cpdef object as_number(object x):
    """A traced value, with a Scalar for an array of float64 and no dimensions."""
    if type(x) is Array and (<Array>x).aval == AVAL_FLOAT:
        check_usable((<Array>x).graph)
        return wrap((<Array>x).graph, node_now(<Array>x))
    return x


def as_traced(x):
    """Traced values and plain arrays as they are; sequences that hold traced values packed into one array.

    An array of no dimensions becomes the number in it, as in NumPy's functions.
    """
    if isinstance(x, Traced):
        return as_number(x)
    if type(x) is ndarray and holds_numbers(<cnp.ndarray>x):
        return x
    if isinstance(x, SEQUENCES) and holds_traced(x):
        return METHODS["__pack__"](x)
    return as_numbers(x)


cpdef Array copy_of(Array x):
    """A traced array with what `x` holds now, and nothing in common with it."""
    check_usable(x.graph)
    cdef Array made = new_array(x.graph, node_now(x), x.aval)
    if x.buffer is not None and aval_of(x.aval).ndim == 0:
        buffer_of(made)     # an array of no dimensions stays one, and is not a number
        made.represents = x.represents
    return made


def constant_like(x, value):
    """A traced array of a recording, or that of `x`, to be written to, that holds a plain array."""
    cdef Graph graph = x if isinstance(x, Graph) else graph_of(x)
    cdef int32_t operand = graph.const_object(value)
    cdef Array made = new_array(graph, operand, intern_aval(value.dtype, value.shape).number)
    made.buffer = new_buffer(graph, operand, made.aval)
    made.buffer.blank = is_blank(value)
    made.buffer.made_at = made.made_at
    return made


cdef bint is_blank(cnp.ndarray value):
    """Whether all is 0.0, and nothing -0.0."""
    cdef const char* bytes_of = cnp.PyArray_BYTES(value)
    cdef int64_t n = cnp.PyArray_NBYTES(value)
    if not is_plain_float64(value):
        return False
    return n == 0 or bytes_of[0] == 0 and memcmp(bytes_of, bytes_of + 1, n - 1) == 0


# ---- reading --------------------------------------------------------------------------------------------------------

cdef int32_t node_after_writes(Array x) except? -1:
    """The operand of what `x` holds, which was written to since it was read last."""
    cdef Buffer buffer = x.buffer
    check_usable(x.graph)
    if x.view is None or 2 * cnp.PyArray_SIZE(x.view) >= buffer.size:
        settle(buffer)
    made = content_of(buffer) if x.view is None else part_of(collected(buffer, x.view), x.part)
    cdef int32_t operand = operand_of(x.graph, made)
    x.graph.held(operand)
    x.graph.released(x.node)
    x.node = operand
    x.version = buffer.version
    return operand


cdef int settle(Buffer buffer) except -1:
    """Make the content what was written to it."""
    if buffer.values:
        made = collected(buffer, buffer.shadow_of_root())
        buffer.settle(operand_of(buffer.graph, made))
    return 0


cdef object part_of(object value, str part):
    """The part of a complex value that a view is of; the value itself where it is of no part."""
    return value if part is None else apply_primitive(primitive_of(OP_REAL if part == "real" else OP_IMAG), None, value)


cdef object content_of(Buffer buffer):
    return wrap(buffer.graph, buffer.node)


cdef object content_at(Buffer buffer, cnp.ndarray view):
    """What the content holds at a view."""
    cdef tuple shape = (<object>view).shape
    check_usable(buffer.graph)
    check_alive(buffer.graph, buffer.node)
    if shape == () and aval_of(buffer.aval).is_float64 and aval_of(buffer.aval).ndim:
        return item_of(buffer.graph, buffer.node, place_at(view, 0))
    if not is_shadow(view):
        return record_gather(buffer.graph, buffer.node, view)
    if not in_order(view) or cnp.PyArray_SIZE(view) != buffer.size:
        return record_on(buffer.graph, OP_GETITEM, (shape, strides_of(view), start_of(view)), buffer.node)
    if shape == aval_of(buffer.aval).shape:
        return content_of(buffer)
    return record_on(buffer.graph, OP_RESHAPE, (shape,), buffer.node)


cdef cnp.ndarray shadow_at(Array x, tuple index):
    """The shadow at an index of integers, slices and new axes, of no dimensions too; None for any other index."""
    cdef bint is_open = False
    for k in index:
        if k is Ellipsis:
            is_open = True
        elif not (type(k) is slice or type(k) is int or k is None):
            return None
    return shadow(x)[index if is_open else index + (Ellipsis,)]


def at_basic_index(Array x, index):
    """What lies at integers, slices and new axes: a view, or one item as a value; None for any other index."""
    return view_at(x, index)


cdef object view_at(Array x, object index):
    """`at_basic_index`, for lower layers."""
    if type(index) is ndarray or type(index) is list:
        return None
    cdef tuple full = index if type(index) is tuple else (index,)
    cdef cnp.ndarray view = shadow_at(x, full)
    if view is None:
        return None
    return view_of(x, view) if cnp.PyArray_NDIM(view) or Ellipsis in full else read(x, view)


def write_at_basic_index(Array x, index, value):
    """Write to what lies at integers, slices and new axes; False for any other index."""
    cdef cnp.ndarray view = shadow_at(x, index if type(index) is tuple else (index,))
    if view is None:
        return False
    write(x, view, value)
    return True


def at_places(Array x, index):
    """What lies where plain arrays and lists say, in an array that is not large; None where that takes more to say.

    Their view of a list of the places tells how NumPy lays out the result, where x lies as in C.
    """
    cdef cnp.ndarray at
    if not is_small(x):
        return None
    if type(index) is tuple:
        index = plain_index(index)
    else:
        index = plain_places(index)
    if index is None:
        return None
    at = places(x)[index]
    if cnp.PyArray_NDIM(at) > 1 and not is_in_order(x):
        return None
    return items_at(x, at)


def taken_along(Array x, indices, axis):
    """The items of x at plain integers along an axis, as in C, of an array that is not large.

    None where that takes more to say.
    """
    cdef int ndim = aval_of(x.aval).ndim
    if not ndim or (axis is None and ndim > 1) or not aval_of(x.aval).size or not is_small(x):
        return None
    if type(indices) is list:
        indices = whole_numbers(indices)
        if indices is None:
            return None
    elif type(indices) is not ndarray or not cnp.PyArray_ISINTEGER(indices) or not cnp.PyArray_NDIM(indices):
        return None
    return read(x, take_from(places(x), indices, normal_axis(0 if axis is None else axis, ndim), NULL, cnp.NPY_RAISE))


cpdef bint is_small(Array x):
    """Whether the places of its items may be listed."""
    return aval_of(x.aval).size <= FEW


cpdef object items_at(Array x, cnp.ndarray at):
    """What x holds at places that NumPy has moved as it would move the items, laid out as these are."""
    found = read(x, at)
    if type(found) is Array and not cnp.PyArray_IS_C_CONTIGUOUS(at):
        (<Array>found).order = order_of_steps(strides_of(at), (<object>at).shape)
    return found


cdef tuple plain_index(tuple index):
    """An index of slices, integers, new axes, and plain arrays and lists of places; None for any other."""
    cdef list made = []
    for k in index:
        if not (type(k) is slice or type(k) is int or k is None or k is Ellipsis):
            k = plain_places(k)
            if k is None:
                return None
        made.append(k)
    return tuple(made)


cdef object plain_places(object index):
    """A plain array of integers or booleans with axes, or a list of integers, as an array; None for anything else."""
    if type(index) is list:
        return whole_numbers(index)
    if type(index) is not ndarray or cnp.PyArray_NDIM(index) == 0 or cnp.PyArray_TYPE(index) > cnp.NPY_ULONGLONG:
        return None
    return index


cdef cnp.ndarray whole_numbers(list index):
    """A list of integers as an index; None for any other, and for an empty one, which is of floats."""
    cdef Py_ssize_t k
    cdef cnp.npy_intp n = len(index)
    cdef cnp.ndarray found
    cdef int64_t* numbers
    if n == 0:
        return None
    found = cnp.PyArray_EMPTY(1, &n, cnp.NPY_INT64, 0)
    numbers = <int64_t*>cnp.PyArray_DATA(found)
    for k in range(n):
        if type(index[k]) is not int or not -LARGEST <= index[k] <= LARGEST:
            return None
        numbers[k] = index[k]
    return found


def read(Array x, cnp.ndarray view):
    """What `x` holds at a view of its root, as a value of its own."""
    check_usable(x.graph)
    made = part_of(collected(buffer_of(x), view), x.part)
    return made if type(made) is not Array or is_settled(x) else copy_of(made)      # it may be a value that is pending


cdef object read_item(Buffer buffer, int64_t place):
    """The item of a float64 root at a place: the very value that was written there, if that is a scalar."""
    cdef int32_t owner = CONTENT if buffer.owner == NULL else buffer.owner[place]
    if owner != CONTENT:
        value = buffer.values[owner]
        return item_of(buffer.graph, (<Array>value).node, buffer.slot[place]) if type(value) is Array else (
            as_scalar(buffer.graph, value))
    if aval_of(buffer.aval).ndim == 0:
        return content_of(buffer)
    return item_of(buffer.graph, buffer.node, place)


cdef object as_scalar(Graph graph, object value):
    return value if type(value) is Scalar else wrap(graph, graph.const_float(<double>value))


cdef object collected(Buffer buffer, cnp.ndarray view):
    """What the root of a buffer holds at a view, with all that is pending."""
    cdef tuple shape = (<object>view).shape
    cdef int64_t size = cnp.PyArray_SIZE(view)
    cdef cnp.ndarray owners, slots
    if not buffer.values or size == 0:
        return content_at(buffer, view)
    owners, slots = np.empty(size, dtype=np.int32), np.empty(size, dtype=np.int32)
    cdef int64_t written = look_up(buffer, places_in(view), owners, slots)
    if written == 0:
        return content_at(buffer, view)
    where = np.flatnonzero(<object>owners != <int>CONTENT) if written < size else np.arange(size)
    owners, slots = owners[where], slots[where]
    made = assembled(buffer, owners, where, shape) if written == size or buffer.blank else None
    if made is not None:
        return made
    if written == size:
        return gathered(buffer, owners, slots, shape)
    made = gathered(buffer, owners, slots, (<object>where).shape)
    return apply_primitive(primitive_of(OP_PUT), None, content_at(buffer, view), made, where)


cdef int64_t look_up(Buffer buffer, cnp.ndarray places, cnp.ndarray owners, cnp.ndarray slots):
    """Who owns each of the places, and which item of it; how many of them are not the content's."""
    cdef int64_t* at = <int64_t*>cnp.PyArray_DATA(places)
    cdef int32_t* owner = <int32_t*>cnp.PyArray_DATA(owners)
    cdef int32_t* slot = <int32_t*>cnp.PyArray_DATA(slots)
    cdef int64_t written = 0
    cdef int64_t i
    for i in range(cnp.PyArray_SIZE(places)):
        owner[i] = buffer.owner[at[i]]
        slot[i] = buffer.slot[at[i]]
        written += owner[i] != CONTENT
    return written


cdef object assembled(Buffer buffer, cnp.ndarray owners, object where, tuple shape):
    """Zeros of a shape with scalars at some places; None where arrays are among them, or one is in many."""
    cdef list numbers = (<object>owners).tolist()
    if not aval_of(buffer.aval).is_float64 or len(numbers) > OFTEN * len(set(numbers)):
        return None
    cdef list values = [buffer.values[k] for k in numbers]
    for value in values:
        if type(value) is Array:
            return None
    values = [as_scalar(buffer.graph, value) for value in values]
    if shape == ():
        return values[0]
    return apply_assembly(intern_aval(np.dtype(np.float64), shape), where, (), *values)


cdef object gathered(Buffer buffer, cnp.ndarray owners, cnp.ndarray slots, tuple shape):
    """Items of pending values, given by their owners and slots, in a shape."""
    kept, which, counts = np.unique(owners, return_inverse=True, return_counts=True)
    values = [buffer.values[k] for k in kept.tolist()]
    if len(values) == 1:
        return taken(buffer.graph, values[0], slots, shape)
    scalars = [k for k, value in enumerate(values) if type(value) is not Array]
    base = np.empty(len(values), dtype=np.int64)
    base[scalars] = np.arange(len(scalars))
    cdef int64_t total = len(scalars)
    parts = [METHODS["__pack__"]([as_scalar(buffer.graph, values[k]) for k in scalars])] if scalars else []
    ends = np.cumsum(counts).tolist()
    turn = np.argsort(owners, kind="stable")
    for k, value in enumerate(values):
        if type(value) is not Array:
            continue
        mine = turn[ends[k] - counts[k]:ends[k]]
        if value.size > OFTEN * counts[k]:      # most of it is not asked for
            value = taken(buffer.graph, value, slots[mine], (<object>mine).shape)
            slots[mine] = np.arange(len(mine))
        base[k] = total
        total += value.size
        parts.append(reshaped(value, (value.size,)))
    made = parts[0] if len(parts) == 1 else apply_primitive(primitive_of(OP_CONCATENATE), (0,), *parts)
    return taken(buffer.graph, made, base[which] + slots, shape)


cdef object taken(Graph graph, object value, object slots, tuple shape):
    """The items of a value at flat numbers, in a shape."""
    if type(value) is not Array:
        value = as_scalar(graph, value)
        return value if shape == () else apply_primitive(primitive_of(OP_BROADCAST_TO), (shape,), value)
    cdef int64_t first = slots[0]
    cdef int64_t step = slots[1] - first if len(slots) > 1 else 1
    if not np.array_equal(slots, first + step * np.arange(len(slots))):
        return apply_primitive(primitive_of(OP_GATHER), None, value, slots.astype(np.int64).reshape(shape))
    if step == 1 and len(slots) == value.size:
        return reshaped(value, shape)
    made = apply_primitive(primitive_of(OP_GETITEM), ((len(slots),), (step,), first), value)
    return reshaped(made, shape)


cdef object reshaped(object value, tuple shape):
    return value if value.shape == shape else apply_primitive(primitive_of(OP_RESHAPE), (shape,), value)


# ---- writing --------------------------------------------------------------------------------------------------------

def check_writable(Array x):
    """Raise unless `x` may be written to here."""
    check_usable(x.graph)
    if x.sealed is not None or (x.buffer is not None and x.buffer.sealed is not None):
        reason = x.buffer.sealed if x.sealed is None else x.sealed
        raise TracedValueError(f"{reason} ({here()}). Copy it before, as x = x.copy() does, and change the copy.")
    check_own(x)


def write(Array x, cnp.ndarray view, value):
    """Put `value` at a view of the root of `x`, broadcast as NumPy does."""
    cdef Buffer buffer = buffer_of(x)
    check_writable(x)
    if type(value) is Array and (<Array>value).buffer is buffer and (<Array>value).part == x.part and (
            same_places(view, shadow(value))):
        return      # the end of y[i] += v, which has been done in place
    if type(value) is Array and (<Array>value).buffer is buffer and cnp.PyArray_NDIM(view) == 1 and is_shadow(view):
        check_line(buffer, view, shadow(value))
    put(x, view, as_written(x, value))


cdef int check_line(Buffer buffer, cnp.ndarray to, cnp.ndarray source) except -1:
    """Raise where NumPy would read items of a line that it has written over, as in ``y[1] = y[:, 2]``.

    It makes no copy of an overlapping line with steps of the same sign, but chooses an end to begin from.
    """
    cdef int last = cnp.PyArray_NDIM(source) - 1
    if last < 0 or not is_shadow(source) or cnp.PyArray_SIZE(source) != cnp.PyArray_SIZE(to):
        return 0
    cdef int64_t step = cnp.PyArray_STRIDE(to, 0)
    cdef int64_t other = cnp.PyArray_STRIDE(source, last)
    if step == other or step * other <= 0:
        return 0
    written, taken = places_in(to), places_in(source)
    if step < 0:
        written, taken = written[::-1], taken[::-1]
    _, when, needed = np.intersect1d(written, taken, return_indices=True)
    backwards = taken[0] < written[0] < taken[0] + len(taken) * abs(other)
    if (buffer.in_doubt and (when != needed).any()) or (when > needed if backwards else when < needed).any():
        raise TracedValueError(
            f"NumPy copies a line of an array to another that crosses it item by item, and reads items that it has "
            f"written over ({here()}). Give it a copy: x[i] = y.copy()."
        )
    return 0


def check_overlap(Array x, value):
    """Raise where ``x[...] = value`` would read what it has written over."""
    if type(value) is Array and shares(x, value) and (<object>shadow(x)).ndim == 1 and is_shadow(shadow(x)):
        check_line(x.buffer, shadow(x), shadow(value))


cdef int put(Array x, cnp.ndarray view, object value) except -1:
    """Put a value of the kind of `x` at a view of its root, which holds the other part beside it if `x` is a part."""
    cdef tuple shape = (<object>view).shape
    cdef tuple own = shape_put(value, shape)
    if x.part is not None:
        value = beside_other_part(x, view, value)
        own = shape_put(value, shape)
    put_whole(x.buffer, view, value, own)


cdef object beside_other_part(Array x, cnp.ndarray view, object value):
    """A value for a part of what is at a view of a complex root, as complex numbers with the part there beside it."""
    other = part_of(collected(x.buffer, view), "imag" if x.part == "real" else "real")
    return apply_primitive(primitive_of(OP_COMPLEX), None, *((value, other) if x.part == "real" else (other, value)))


cdef tuple shape_put(object value, tuple shape):
    """The shape of a value that is put into a shape, without axes that it has on top of it."""
    cdef tuple own = () if type(value) is float else value.shape
    while len(own) > len(shape) and own[0] == 1:
        own = own[1:]
    cdef int lead = len(shape) - len(own)
    if lead < 0 or any([m != n and m != 1 for m, n in zip(own, shape[lead:])]):
        raise ShapeError(f"could not broadcast input array from shape {value.shape} into shape {shape} ({here()}).")
    return own


cdef int put_whole(Buffer buffer, cnp.ndarray view, object value, tuple own) except -1:
    cdef tuple shape = (<object>view).shape
    if cnp.PyArray_SIZE(view) == 0:
        return 0
    if in_order(view) and cnp.PyArray_SIZE(view) == buffer.size:
        made = reshaped(value, own) if type(value) is Array else as_scalar(buffer.graph, value)
        if own != shape:
            made = apply_primitive(primitive_of(OP_BROADCAST_TO), (shape,), made)
        buffer.settle(operand_of(buffer.graph, reshaped(made, aval_of(buffer.aval).shape)))
        buffer.version += 1
        return 0
    if cnp.PyArray_SIZE(view) == 1:
        return buffer.put_one(place_at(view, 0), value)
    return buffer.put(places_in(view), grid(shape, strides_to(own, shape), 0), value)


cdef list strides_to(tuple own, tuple shape):
    """Strides of a contiguous array of shape `own` that is broadcast to `shape`."""
    cdef list strides = [0] * len(shape)
    cdef int64_t step = 1
    cdef int lead = len(shape) - len(own)
    for d in range(len(own) - 1, -1, -1):
        strides[lead + d] = step if own[d] != 1 else 0
        step *= own[d]
    return strides


cdef bint same_places(cnp.ndarray a, cnp.ndarray b):
    """Whether two views cover the same places in the same order."""
    return (is_shadow(a) and is_shadow(b) and (<object>a).shape == (<object>b).shape
            and start_of(a) == start_of(b) and strides_of(a) == strides_of(b))


cpdef object as_written(Array x, object value):
    """A value as an array of the dtype of `x` holds it, which nothing changes any more: a float, or traced."""
    cdef object dtype = aval_of(x.aval).dtype
    cdef Graph graph = x.graph
    if type(value) is float and dtype == np.float64:
        return value
    if not isinstance(value, Traced):
        if holds_traced(value):
            value = METHODS["__pack__"](value)
        else:
            return wrap(graph, graph.capture(plain(dtype, value)))
    check_same(graph, (<Traced>value).graph)
    if value.dtype != dtype:
        check_kind(dtype, value.dtype)
        value = METHODS["astype"](value, dtype)
    return wrap(graph, operand_of(graph, value))


cdef object plain(object dtype, object value):
    """Plain numbers, cast as NumPy does in an assignment."""
    if isinstance(value, np.ndarray):
        check_class(value)
    value = as_numbers(value)
    if value.dtype.kind == "c" and dtype.kind != "c":
        check_kind(dtype, value.dtype)
    return value.astype(dtype, copy=False)


cdef int check_kind(object dtype, object found) except -1:
    """Raise where a cast would lose what a derivative depends on."""
    if found.kind == "c" and dtype.kind != "c":
        raise DTypeError(
            f"an array of {dtype} cannot hold {found} ({here()}). Take np.real or np.imag, or make it complex."
        )
    if found.kind in "fc" and dtype.kind in "biu":
        raise DTypeError(
            f"an array of {dtype} cannot hold a traced {found} ({here()}): NumPy would cut off its digits, and the "
            "derivative with them. Make it an array of floats, or write value.astype(int) for whole numbers."
        )
    return 0


def store(Array x, result, str symbol):
    """`overwrite`, for higher layers."""
    return overwrite(x, result, symbol)


cdef object overwrite(Array x, object result, str symbol):
    """The end of ``x symbol= y``: x holds the result."""
    cdef tuple shape = aval_of(x.aval).shape
    check_writable(x)
    if not np.can_cast(result.dtype, aval_of(x.aval).dtype, "same_kind"):
        raise DTypeError(
            f"in-place {symbol} of a traced array of {x.dtype} would give {result.dtype} ({here()}). Write "
            f"x = x {symbol[:-1]} y, which makes a new array."
        )
    if result.shape != shape:
        raise ShapeError(
            f"in-place {symbol} on a traced array of shape {shape} would give shape {result.shape} ({here()}). Write "
            f"x = x {symbol[:-1]} y, which makes a new array."
        )
    result = as_written(x, result)
    cdef int32_t operand = operand_of(x.graph, result)
    if x.buffer is not None:
        put(x, shadow(x), result)
        x.version = x.buffer.version
    x.graph.held(operand)
    x.graph.released(x.node)
    x.node = operand
    return x


connect_writes(node_after_writes, read_item, overwrite, view_at)
