"""From values to operands: traced values, and the plain ones that meet them."""

import numbers

import numpy as np

from libc.math cimport NAN

cimport numpy as cnp

from hoad._core.trace.errors cimport check_alive, check_same, is_alone, is_for_jit
from hoad._core.graph.tape cimport (
    AVAL_BOOL, AVAL_FLOAT, F_BOOL, F_VALUED, OP_IDENTITY, OP_INPUT, OP_SELECT, AbstractValue, aval_number, aval_of,
    is_plain_float64, operand_aval, plain_copy, uint8_t, uint16_t,
)
from hoad._core.trace.memory_order cimport is_in_order, is_spread
from hoad._core.trace.traced cimport (
    DOUBT, Array, Scalar, Traced, buffer_of, new_array, node_now, represented, wrap,
)
from hoad._core.base.where cimport here

cdef dict METHODS

from hoad._core.trace.traced import METHODS, is_traced

from hoad.errors import DTypeError

cdef type ndarray = np.ndarray
cdef object FLOAT64 = np.dtype(np.float64)
cdef type float64 = np.float64
cdef object BOOL = np.dtype(np.bool_)
cdef tuple TRUTHS = (bool, np.bool_)
cdef tuple SEQUENCES = (np.ndarray, list, tuple)
cdef tuple NUMBERS = (bool, int, float, complex, np.number, np.bool_)


cdef int32_t operand_of(Graph graph, object x) except? -1:
    """The operand for any value: a node of `graph`, or a constant of it."""
    cdef Scalar scalar
    cdef Array array
    if type(x) is Scalar:
        scalar = <Scalar>x
        check_same(graph, scalar.graph)
        check_alive(graph, scalar.node)
        return scalar.node
    if type(x) is Array:
        array = <Array>x
        check_same(graph, array.graph)
        return node_now(array)
    if type(x) is float or type(x) is float64:
        return graph.const_float(<double>x)
    if type(x) is ndarray and holds_numbers(<cnp.ndarray>x):
        return graph.capture(x)
    if isinstance(x, TRUTHS):
        return graph.const_bool(<bint>x)
    if isinstance(x, float):
        return graph.const_float(<double>x)
    if isinstance(x, np.ndarray):
        check_class(x)
        if x.dtype == object:
            return operand_of(graph, METHODS["__pack__"](x))
        return graph.capture(x)
    if isinstance(x, (list, tuple)):
        x = np.asarray(x) if not holds_traced(x) else METHODS["__pack__"](x)
        return operand_of(graph, x)
    return graph.const_object(as_numbers(x))


cdef bint is_of_objects(object x) noexcept:
    """Whether this is an object array."""
    return cnp.PyArray_Check(x) and cnp.PyArray_TYPE(<cnp.ndarray>x) == cnp.NPY_OBJECT


cdef Graph graph_among(object values):
    """The graph of the first traced value among these (looking into lists and object arrays), or None."""
    for x in values:
        if isinstance(x, Traced):
            return (<Traced>x).graph
        if isinstance(x, (list, tuple)):
            found = graph_among(x)
            if found is not None:
                return found
        elif is_of_objects(x):
            found = graph_among(x.ravel().tolist())
            if found is not None:
                return found
    return None


def holds_traced(x):
    """Whether nested lists and tuples, or an object array, hold a traced value."""
    stack = [x]
    while stack:
        item = stack.pop()
        if isinstance(item, Traced):
            return True
        if isinstance(item, (list, tuple)):
            stack.extend(item)
        elif isinstance(item, np.ndarray) and item.dtype == object:
            stack.extend(item.ravel().tolist())
    return False


cpdef object as_numbers(object x):
    """A plain value as an array of numbers; raises for anything that holds others."""
    if isinstance(x, np.ndarray):
        check_class(x)
        made = np.asarray(x)
    elif type(x) is float or type(x) is int or type(x) is list:     # which `numbers` would take long to say
        made = np.asarray(x)
    else:
        is_fraction = isinstance(x, numbers.Rational) and not isinstance(x, numbers.Integral)
        made = np.asarray(float(x) if is_fraction else x)
    if made.dtype.kind in "biufc":
        return made
    if made.dtype == object:
        made = made.ravel()
        wrong = [y for y in made.tolist() if is_traced(y) or not isinstance(y, NUMBERS)]
        if not wrong:
            return np.array(x, dtype=np.result_type(*made.tolist()) if made.size else np.float64)
        found = f"of type {type(wrong[0]).__name__}"
    else:
        found = f"of dtype {made.dtype}"
    if made.dtype.names:
        field = made.dtype.names[0]
        raise DTypeError(
            f"a traced value met an array of {made.dtype} ({here()}). Take its fields, such as y[{field!r}]."
        )
    where = f"a value {found}" if np.ndim(x) == 0 else f"an array with items {found}"
    raise DTypeError(
        f"a traced value met {where} ({here()}), which is not a float. Convert it before: float(y), or y.astype(float)."
    )


cpdef int check_class(object x) except -1:
    """Raise for an array class whose arithmetic is its own: hoad would record that of plain arrays."""
    cdef object kind = type(x)
    if kind is ndarray:
        return 0
    if kind.__array_ufunc__ is ndarray.__array_ufunc__ and kind.__mul__ is ndarray.__mul__:
        return 0
    advice = "x.filled(...) or x.compressed()" if isinstance(x, np.ma.MaskedArray) else "np.asarray(x)"
    raise DTypeError(
        f"arrays of class {kind.__name__} have an arithmetic of their own, which is not recorded ({here()}). Take "
        f"{advice}."
    )


cdef dict LOOP_DTYPES = {}      # (ufunc, dtypes or Python types) -> dtypes of the loop


cdef tuple as_loop_operands(Graph graph, Primitive primitive, tuple values):
    """Operands of a ufunc, cast to the dtypes of the loop NumPy would choose."""
    cdef list kinds = []
    cdef bint uniform = True
    cdef bint has_int = False
    cdef list cast = []
    cdef object x, y, dtype
    for x in values:
        if type(x) is Array:
            if not aval_of((<Array>x).aval).is_float64:
                break
        elif type(x) is int:
            has_int = True
        elif not (type(x) is float or type(x) is float64 or type(x) is ndarray and is_plain_float64(<cnp.ndarray>x)
                  or type(x) is Scalar and not (<Scalar>x).truth):
            break
    else:
        if not has_int:
            return values
        if len(values) == 2 and takes_ints_as_floats(primitive):
            x, y = values
            return (float(x) if type(x) is int else x, float(y) if type(y) is int else y)
    for x in values:
        if type(x) is Scalar:
            kinds.append(BOOL if (<Scalar>x).truth else FLOAT64)
        elif type(x) is Array:
            kinds.append(aval_of((<Array>x).aval).dtype)
        elif type(x) is float or type(x) is int or type(x) is complex:
            kinds.append(type(x))
        elif type(x) is float64 or type(x) is ndarray and is_plain_float64(<cnp.ndarray>x):
            kinds.append(FLOAT64)
        elif type(x) is ndarray and holds_numbers(<cnp.ndarray>x):
            kinds.append((<cnp.ndarray>x).dtype)
        elif isinstance(x, np.ndarray) and x.dtype != object:
            kinds.append(as_numbers(x).dtype)
        elif isinstance(x, SEQUENCES) and holds_traced(x):
            x = METHODS["__pack__"](x)
            kinds.append(x.dtype)
        elif isinstance(x, np.ndarray):
            x = as_numbers(x)
            kinds.append(x.dtype)
        else:
            x = as_numbers(x)
            kinds.append(x.dtype)
        if kinds[-1] is not FLOAT64 and kinds[-1] is not float and not (
                primitive.op == OP_SELECT and kinds[-1] is BOOL and len(kinds) == 1):
            uniform = False
        cast.append(x)
    if uniform:
        return tuple(cast)
    key = (primitive.op, *kinds)
    cdef object loop = LOOP_DTYPES.get(key)
    if loop is None:
        loop = loop_dtypes(primitive, kinds)
        LOOP_DTYPES[key] = loop
    for i, dtype in enumerate(loop):
        x = cast[i]
        if kinds[i] is dtype or kinds[i] == dtype:
            continue
        if isinstance(x, Traced):
            cast[i] = METHODS["astype"](x, dtype)
        elif dtype is FLOAT64 and (type(x) is int or type(x) is float):
            cast[i] = float(x)
        else:
            cast[i] = np.asarray(x, dtype=dtype)
    return tuple(cast)


cdef dict INTS_AS_FLOATS = {}   # ufunc of two operands -> whether an int beside float64 is taken as one


cdef bint takes_ints_as_floats(Primitive primitive) except -1:
    known = INTS_AS_FLOATS.get(primitive.op)
    if known is None:
        try:
            known = (loop_dtypes(primitive, [FLOAT64, int]) == loop_dtypes(primitive, [int, FLOAT64])
                     == (FLOAT64, FLOAT64))
        except TypeError:
            known = False
        INTS_AS_FLOATS[primitive.op] = known
    return known


cdef bint holds_numbers(cnp.ndarray x) noexcept:
    """Whether an array holds booleans, integers or floats."""
    return cnp.PyArray_TYPE(x) <= cnp.NPY_LONGDOUBLE


cdef tuple loop_dtypes(Primitive primitive, list kinds):
    cdef object function = primitive.function
    try:
        return function.resolve_dtypes((*kinds, *[None] * function.nout))[: function.nin]
    except TypeError:
        if any([getattr(kind, "kind", "") == "c" for kind in kinds]):
            name = primitive.name if "." in primitive.name else f"np.{primitive.name}"
            raise DTypeError(
                f"{name} takes no complex numbers ({here()}). Give it np.real, np.imag or np.abs of them."
            ) from None
        raise


cdef object argument(Graph graph, int32_t node, uint8_t represents, bint stays_array=False, bint in_order=True):
    """The traced value of an input. It is the caller's array, so that nothing is written to it.

    An array of float64 and no dimensions stays one, whose copies can be written to, unlike a number's.
    """
    cdef object traced = new_array(graph, node, AVAL_FLOAT) if stays_array else wrap(graph, node)
    (<Traced>traced).represents = represents
    if type(traced) is Array:
        (<Array>traced).sealed = unchanged(graph)
        (<Array>traced).order = None if in_order else DOUBT
        buffer_of(traced)
    return traced


cdef str unchanged(Graph graph):
    """Why nothing is written to an argument of the function that is recorded."""
    if is_for_jit(graph):
        return "an argument of the function that jit records is never changed"
    if is_alone(graph):
        return "an argument of a function that is recorded by itself is never changed"
    return "an argument of the function that is differentiated is never changed"


def as_argument(value, str function=None):
    """A traced value as an argument of a function, to which nothing is written."""
    if type(value) is not Array:
        return value
    cdef object made = argument((<Array>value).graph, operand_of((<Array>value).graph, value), represented(value),
                                False, is_in_order(value) and not is_spread(value))
    if function is not None:
        (<Array>made).sealed = f"an argument of {function} is never changed"
    return made


cpdef object new_input(Graph graph, object value, bint nested=False):
    """A fresh input of `graph` (an identity node when a derivative begins inside another recording)."""
    cdef int32_t aval, node, operand
    cdef bint stays_array = False
    cdef bint in_order = is_in_order(value) and not is_spread(value)
    cdef uint16_t op = OP_IDENTITY if nested else OP_INPUT
    cdef uint8_t represents = represented(value)
    if nested:
        operand = operand_of(graph, value)
        aval = operand_aval(graph, operand)
        if aval > AVAL_BOOL:
            node = graph.push_wide(op, 0, None, &operand, 1, aval)
        else:
            node = graph.push(op, F_BOOL if aval == AVAL_BOOL else 0, operand, 0, NAN)
        value = graph.value_of(operand)
        if value is not None:
            graph.set_object(node, value)
        return argument(graph, node, represents, False, in_order)
    if isinstance(value, Traced):
        check_same(graph, (<Traced>value).graph)
    if isinstance(value, AbstractValue):
        aval = (<AbstractValue>value).number
    elif type(value) is float:
        return argument(graph, graph.push(op, F_VALUED, 0, 0, <double>value), represents)
    else:
        stays_array = cnp.PyArray_Check(value)
        value = plain_copy(value if type(value) is ndarray else np.array(value, order="C", subok=False))
        aval = aval_number(value)
    if aval > AVAL_BOOL:
        node = graph.push_wide(op, 0, None, NULL, 0, aval)
    else:
        node = graph.push(op, F_BOOL if aval == AVAL_BOOL else 0, 0, 0, NAN)
    if not isinstance(value, AbstractValue):
        graph.set_object(node, value if aval > AVAL_BOOL else value[()])
    return argument(graph, node, represents, stays_array and aval == AVAL_FLOAT, in_order)
