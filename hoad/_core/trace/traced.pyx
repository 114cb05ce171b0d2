"""The two traced types.

`Scalar` represents a float or a boolean, `Array` everything with a shape or another dtype. Both refuse to
become plain numbers behind the user's back. ``__array__`` raises; real numbers have none, so that ``np.array([x, y])``
of them is an object array on which NumPy calls their own arithmetic. Arithmetic of scalars is recorded here; everything
else in `hoad._core.trace.calls`.

A test of the class of a traced value (``isinstance``, ``match``, `functools.singledispatch`) answers as for the plain
value that it represents, by its ``__class__``. ``type(x)`` cannot, so that hoad itself asks that.
"""

import numbers
import operator
import sys
import opcode

import numpy as np

from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from libc.math cimport NAN

cimport cython
cimport numpy as cnp

from hoad._core.trace.writes cimport new_buffer, place_at
from hoad._core.ops.eager cimport scalar_value
from hoad._core.graph.primitive cimport INFO, primitive_of
from hoad._core.trace.errors cimport (
    PyThread_get_thread_ident, check_branch, check_kept, check_same, check_shape, check_swap, check_usable, cut_off,
    has_leaked, is_numbas, keeps_zero, made_by_hand, not_writable, unhashable, unpicklable,
)
from hoad._core.graph.roots cimport DEEPEST, are_roots, has_root, may_be_root, smoothed
from hoad._core.graph.tape cimport (
    AVAL_BOOL, F_BOOL, F_VALUED, OP_ABSOLUTE, OP_ADD, OP_CEIL, OP_DIVIDE, OP_EQUAL, OP_FLOOR, OP_FLOOR_DIVIDE,
    OP_GREATER, OP_GREATER_EQUAL, OP_ITEM, OP_LESS, OP_LESS_EQUAL, OP_LOGICAL_AND, OP_LOGICAL_NOT, OP_LOGICAL_OR,
    OP_LOGICAL_XOR, OP_MULTIPLY, OP_NEGATIVE, OP_NOT_EQUAL, OP_POWER, OP_REMAINDER, OP_SUBTRACT, OP_TRANSPOSE, OP_TRUNC,
    AbstractValue, Slot, aval_of, hold_aval, operand_aval, push_valued, release_aval,
)
from hoad._core.base.frame_globals import adopts, meets_kept
from hoad._core.graph.inspect import depends_on_inputs

from hoad._core.base.where cimport compares_shape, here, indexes, is_part_of

# The order in memory of an array that NumPy lays out in a way that nobody has asked for.
cdef object DOUBT = Ellipsis
cdef object EQUAL = np.equal, NOT_EQUAL = np.not_equal
cdef object LEFT_SHIFT = np.left_shift, RIGHT_SHIFT = np.right_shift
cdef dict ADVICE

from hoad._core.trace.errors import ADVICE

from hoad.errors import DTypeError, NoMethodError, ShapeError, TracedValueError

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    bint PyArray_IsIntegerScalar(object)

cdef extern from "Python.h":
    long long PyLong_AsLongLongAndOverflow(object, int*)

    ctypedef struct PySequenceMethods:
        void* sq_item

    ctypedef PyObject* (*getattrofunc)(PyObject*, PyObject*) except NULL

    ctypedef struct PyTypeObject:
        PySequenceMethods* tp_as_sequence
        getattrofunc tp_getattro
        unsigned long tp_flags

    void PyErr_SetObject(object, object)
    PyTypeObject* Py_TYPE(PyObject*)
    PyObject* _PyType_Lookup(PyTypeObject*, PyObject*)

    unsigned long Py_TPFLAGS_SEQUENCE
    void PyType_Modified(PyTypeObject*)

cdef dict MODULES = sys.modules
cdef int GET_LEN = opcode.opmap["GET_LEN"], LOAD_CONST = opcode.opmap["LOAD_CONST"]
cdef int LOAD_SMALL_INT = opcode.opmap.get("LOAD_SMALL_INT", -1)

# Filled by a higher layer: NumPy function -> implementation, name of a method -> implementation.
FUNCTIONS = {}
METHODS = {}
MAKERS = {}         # NumPy function with like= -> implementation, which is given the traced value first
REDUCTIONS = {}     # ufunc -> implementation of its `reduce`
PYTHON_NUMBER = <int>OF_PYTHON      # what a traced number represents, for `representing`
OUT_POSITIONS = {}  # implementation -> position of its parameter `out`, -1 where there is none
BOXING = set()      # NumPy functions that give arrays of no dimensions, where others give numbers
KEEPING_ORDER = set()   # implementations that say in which order in memory their results lie
ANSWERING = set()   # NumPy functions that give booleans of Python

cdef tuple IN_MEMORY = ("base", "flags", "strides")
cdef str ARRAY = sys.intern("__array__")
cdef str ARRAY_INTERFACE = sys.intern("__array_interface__"), ARRAY_STRUCT = sys.intern("__array_struct__")
# What NumPy looks for in every object, and does without.
cdef tuple LOOKED_FOR = ("__array_finalize__", "__array_interface__", "__array_struct__", "__array_wrap__")

# What `hoad._core.trace.calls`, which knows these types, puts in.
cdef RecordCall record_call = NULL
cdef CallUfunc array_ufunc = NULL
cdef CallFunction array_function = NULL
cdef NoteOrder doubt_order = NULL
cdef NoteOrder keep_order = NULL

# What `hoad._core.trace.views`, which knows how to record, puts in.
cdef Refresh refresh = NULL
cdef ReadItem read_item = NULL
cdef Overwrite overwrite = NULL
cdef ViewAt view_at = NULL

cdef type ndarray = np.ndarray
cdef type float64 = np.float64
cdef object FLOAT64 = np.dtype(np.float64)
cdef object BOOL = np.dtype(np.bool_)

# A tuple by name, not in the call of isinstance: Cython looks at the items of a display one by one, and drops what is
# raised meanwhile. An abstract class is asked in Python, where an interrupt may come.
cdef tuple TRUTHS = (bool, np.bool_)
cdef tuple OPERANDS = (Scalar, Array, float, int, np.ndarray, np.generic, list, tuple, complex, numbers.Number)


# ---- scalars --------------------------------------------------------------------------------------------------------

cdef inline Scalar new_scalar(Graph graph, int32_t node, double value, bint truth):
    cdef Scalar x = Scalar.__new__(Scalar)
    x.graph = graph
    x.node = node
    x.value = value
    x.truth = truth
    graph.scope.live += 1
    return x


cdef object push_scalar(Graph graph, uint16_t op, int32_t a, int32_t b, double value, bint truth):
    cdef uint16_t flags = (F_VALUED if graph.valued else 0) | (F_BOOL if truth else 0)
    return new_scalar(graph, push_valued(graph, op, flags, a, b, value), value, truth)


cdef inline double apply(uint16_t op, double x, double y) noexcept:
    if op == OP_ADD:
        return x + y
    if op == OP_SUBTRACT:
        return x - y
    if op == OP_MULTIPLY:
        return x * y
    if op == OP_DIVIDE:
        return x / y
    return INFO[op].f2(x, y)


cdef inline object made_of(object made, int represents, int op):
    """A new traced number, which represents a number of Python, or an integer, where all that it was made of do."""
    (<Scalar>made).represents = represents & (OF_PYTHON | WHOLE if keeps_whole(op) else OF_PYTHON)
    return made


cdef inline bint keeps_whole(int op):
    """Whether an operation gives an integer of integers."""
    return (op == OP_ADD or op == OP_SUBTRACT or op == OP_MULTIPLY or op == OP_NEGATIVE or op == OP_ABSOLUTE
            or op == OP_FLOOR_DIVIDE or op == OP_REMAINDER)


cdef inline object arithmetic(Scalar x, object other, uint16_t op, bint reflected):
    """A binary operation on scalars; anything else goes the general way."""
    cdef Graph graph = x.graph
    cdef Scalar y
    cdef int32_t b
    cdef int represents
    cdef double value
    if type(other) is Scalar:
        y = <Scalar>other
        if (y.graph is graph and graph.thread == PyThread_get_thread_ident() and not (x.truth and y.truth)
                and graph.bodies is None):
            if op == OP_MULTIPLY and may_be_root(graph, x.node) and are_roots(graph, x.node, y.node):
                return smoothed(made_of(push_scalar(graph, op, x.node, y.node, x.value * y.value, False),
                                        x.represents & y.represents, op), op, x, y)
            return made_of(push_scalar(graph, op, x.node, y.node, apply(op, x.value, y.value), INFO[op].is_bool),
                           x.represents & y.represents, op)
        check_same(graph, y.graph)
        value = 0
    elif type(other) is float or (type(other) is int and not x.truth):
        check_usable(graph)
        check_alive(graph, x.node)
        value = other
        represents = x.represents if type(other) is int else x.represents & OF_PYTHON
        b = graph.const_float(value)
        if reflected:
            made = push_scalar(graph, op, b, x.node, apply(op, value, x.value), INFO[op].is_bool)
            return made_of(made, represents, op)
        made = made_of(push_scalar(graph, op, x.node, b, apply(op, x.value, value), INFO[op].is_bool), represents, op)
        return smoothed(made, op, x, value) if op == OP_POWER and has_root(graph, x.node, DEEPEST) else made
    if reflected:
        return binary(op, other, x)
    return binary(op, x, other)


cdef inline object operation(Traced x, object other, uint16_t op, bint reflected):
    """A binary operation on a traced value."""
    if type(x) is Scalar:
        return arithmetic(<Scalar>x, other, op, reflected)
    return binary(op, other, x) if reflected else binary(op, x, other)


cdef inline bint of_python(object x):
    """Whether x is a number of Python's, or represents one."""
    if is_traced(x):
        return (<Traced>x).represents & OF_PYTHON
    return type(x) is float or type(x) is int or type(x) is complex or type(x) is bool


cdef bint is_whole(object x) except -1:
    """Whether a traced value represents an integer, or a boolean of Python's, which repeat a sequence."""
    if type(x) is Scalar:
        return (<Scalar>x).represents & (WHOLE | OF_PYTHON if (<Scalar>x).truth else WHOLE)
    return aval_of((<Array>x).aval).dtype.kind in "iu" and x.__class__ is not ndarray


cdef inline bint is_labelled(object x) except -1:
    """Whether this is a series, a frame or an index of pandas, whose labels the result does not have."""
    return hasattr(type(x), "__pandas_priority__")


cpdef bint leaves_product(frame, int ndim) except -1:
    """Whether the frame is the method of SciPy that multiplies a sparse matrix by x, of so many dimensions.

    That method returns NotImplemented if the class of x is no array class and `np.asanyarray(x)` is one object. Python
    then calls ``x.__rmatmul__``.
    """
    code = frame.f_code
    if code.co_name != "_matmul_dispatch" or ndim > 2 or not is_part_of("scipy", code.co_filename):
        return False
    return frame.f_locals["self"].ndim <= 2


cdef inline bint is_sparse_matrix(object x) except -1:
    """Whether x * y is a product of matrices, as opposed to that of sparse arrays."""
    return "scipy.sparse" in MODULES and isinstance(x, MODULES["scipy.sparse"].spmatrix)


cdef object binary(int op, object x, object y):
    """The general way of an operator: NotImplemented for what hoad does not know."""
    cdef object other = y if is_traced(x) else x
    if of_python(x) and of_python(y):
        return representing(record_call(primitive_of(op), None, (x, y)), OF_PYTHON)
    if is_traced(other) or type(other) is float or type(other) is int or type(other) is float64 or (
            type(other) is ndarray and cnp.PyArray_TYPE(<cnp.ndarray>other) == cnp.NPY_DOUBLE):
        return record_call(primitive_of(op), None, (x, y))
    if not isinstance(other, OPERANDS):
        if not is_labelled(other):
            if op == OP_MULTIPLY and type(x if other is y else y) is Array and is_sparse_matrix(other):
                return FUNCTIONS[np.matmul](x, y)
            return NotImplemented
        x, y = (x, np.asarray(y)) if other is y else (np.asarray(x), y)
        other = y if is_traced(x) else x
    if op == OP_MULTIPLY and isinstance(other, (list, tuple)) and is_whole(x if other is y else y):
        return other * operator.index(x if other is y else y)
    if (isinstance(other, np.ndarray) and (<object>other).dtype == object
            and (type(x) is Scalar or type(y) is Scalar)):
        # an object array of traced scalars does its arithmetic element by element
        box = np.empty((), dtype=object)
        box[()] = x if other is y else y
        function = (<Primitive>primitive_of(op)).function
        return function(box, other) if other is y else function(other, box)
    return record_call(primitive_of(op), None, (x, y))


@cython.no_gc
@cython.freelist(512)
cdef class Traced:
    """What is being recorded, with what scalars and arrays have alike."""

    __array_priority__ = 1000.0
    __pandas_priority__ = 10_000        # so that pandas leaves operators to traced values
    device = "cpu"

    def __init__(self, *args):
        raise made_by_hand()

    def __dealloc__(self):
        if self.graph is not None:
            self.graph.released(self.node)

    # ---- arithmetic

    def __add__(self, other):
        return operation(self, other, OP_ADD, False)

    def __radd__(self, other):
        return operation(self, other, OP_ADD, True)

    def __sub__(self, other):
        return operation(self, other, OP_SUBTRACT, False)

    def __rsub__(self, other):
        return operation(self, other, OP_SUBTRACT, True)

    def __mul__(self, other):
        return operation(self, other, OP_MULTIPLY, False)

    def __rmul__(self, other):
        return operation(self, other, OP_MULTIPLY, True)

    def __truediv__(self, other):
        return operation(self, other, OP_DIVIDE, False)

    def __rtruediv__(self, other):
        return operation(self, other, OP_DIVIDE, True)

    def __pow__(self, other, modulo):
        return no_modulo(modulo) or operation(self, other, OP_POWER, False)

    def __rpow__(self, other, modulo):
        return no_modulo(modulo) or operation(self, other, OP_POWER, True)

    def __floordiv__(self, other):
        return operation(self, other, OP_FLOOR_DIVIDE, False)

    def __rfloordiv__(self, other):
        return operation(self, other, OP_FLOOR_DIVIDE, True)

    def __mod__(self, other):
        return operation(self, other, OP_REMAINDER, False)

    def __rmod__(self, other):
        return operation(self, other, OP_REMAINDER, True)

    def __divmod__(self, other):
        return self // other, self % other

    def __rdivmod__(self, other):
        return other // self, other % self

    def __and__(self, other):
        return logical(self, other, OP_LOGICAL_AND)

    def __rand__(self, other):
        return logical(self, other, OP_LOGICAL_AND)

    def __or__(self, other):
        return logical(self, other, OP_LOGICAL_OR)

    def __ror__(self, other):
        return logical(self, other, OP_LOGICAL_OR)

    def __xor__(self, other):
        return logical(self, other, OP_LOGICAL_XOR)

    def __rxor__(self, other):
        return logical(self, other, OP_LOGICAL_XOR)

    def __lshift__(self, other):
        return shifted(LEFT_SHIFT, self, other, other)

    def __rlshift__(self, other):
        return shifted(LEFT_SHIFT, other, self, other)

    def __rshift__(self, other):
        return shifted(RIGHT_SHIFT, self, other, other)

    def __rrshift__(self, other):
        return shifted(RIGHT_SHIFT, other, self, other)

    def __lt__(self, other):
        return operation(self, other, OP_LESS, False)

    def __le__(self, other):
        return operation(self, other, OP_LESS_EQUAL, False)

    def __gt__(self, other):
        return operation(self, other, OP_GREATER, False)

    def __ge__(self, other):
        return operation(self, other, OP_GREATER_EQUAL, False)

    def __eq__(self, other):
        found = operation(self, other, OP_EQUAL, False)
        if adopts():
            check_equal(self, other, found, 1.0)
        return found

    def __ne__(self, other):
        found = operation(self, other, OP_NOT_EQUAL, False)
        if adopts():
            check_equal(self, other, found, 0.0)
        return found

    # ---- what is called often; other methods are found by __getattr__, which takes longer

    def reshape(self, *args, **kwargs):
        return called(METHODS["reshape"], (self, *args), kwargs)

    def sum(self, *args, **kwargs):
        return called(METHODS["sum"], (self, *args), kwargs)

    def mean(self, *args, **kwargs):
        return called(METHODS["mean"], (self, *args), kwargs)

    def max(self, *args, **kwargs):
        return called(METHODS["max"], (self, *args), kwargs)

    def min(self, *args, **kwargs):
        return called(METHODS["min"], (self, *args), kwargs)

    def ravel(self, *args, **kwargs):
        return called(METHODS["ravel"], (self, *args), kwargs)

    def dot(self, *args, **kwargs):
        return called(METHODS["dot"], (self, *args), kwargs)

    def copy(self, *args, **kwargs):
        return called(METHODS["copy"], (self, *args), kwargs)

    def astype(self, *args, **kwargs):
        return called(METHODS["astype"], (self, *args), kwargs)

    # ---- what would make a plain value of it

    def __round__(self, ndigits=None):
        if ndigits is None:
            raise cut_off("round() of a traced value", "Use np.rint(x), which stays traced", self.graph)
        return FUNCTIONS[np.round](self, ndigits)

    def __deepcopy__(self, memo):
        return self.__copy__()

    def __hash__(self):
        raise unhashable()

    def __reduce__(self):
        raise unpicklable(self.graph)

    # ---- items

    def __contains__(self, value):
        if self.ndim == 0 and self.__class__ is not ndarray:
            raise TypeError(f"argument of type {self.__class__.__name__!r} is not iterable")
        return bool(np.any(self == value))

    def __delitem__(self, index):
        raise ShapeError(
            f"del x[...] of a traced array ({here()}): an array keeps its shape, in NumPy too. Write "
            "x = np.delete(x, index, axis=0)."
        )

    # ---- NumPy

    def __getattr__(self, str name):
        return method(self, name)

    def __dir__(self):
        return sorted({*object.__dir__(self), *METHODS})

    def __array_ufunc__(self, ufunc, str method, *inputs, **kwargs):
        found = array_ufunc(ufunc, method, inputs, kwargs)
        if (ufunc is EQUAL or ufunc is NOT_EQUAL) and adopts() and len(inputs) == 2:    # y == x, of a plain y
            check_equal(self, inputs[0] if inputs[1] is self else inputs[1], found, 1.0 if ufunc is EQUAL else 0.0)
        return found

    def __array_function__(self, function, types, tuple args, dict kwargs):
        return array_function(self, function, args, kwargs)


@cython.final
@cython.no_gc
cdef class Scalar(Traced):
    """A float (or boolean) that is being recorded."""

    # ---- arithmetic

    def __neg__(self):
        return unary(self, OP_NEGATIVE)

    def __pos__(self):
        return self if not self.represents & NO_AXES else representing(self, 0)

    def __abs__(self):
        return unary(self, OP_ABSOLUTE)

    def __floor__(self):
        return representing(unary(self, OP_FLOOR), WHOLE | OF_PYTHON)

    def __ceil__(self):
        return representing(unary(self, OP_CEIL), WHOLE | OF_PYTHON)

    def __trunc__(self):
        return representing(unary(self, OP_TRUNC), WHOLE | OF_PYTHON)

    def __invert__(self):
        if not self.truth:
            raise DTypeError(
                f"~ of a traced float ({here()}): only booleans can be inverted. Write -x, or ~(x > 0)."
            )
        return unary(self, OP_LOGICAL_NOT)

    # ---- what would make a number of it

    def __bool__(self):
        cdef Slot expected
        check_usable(self.graph)
        check_alive(self.graph, self.node)
        if not self.graph.valued:
            raise TracedValueError(
                f"bool() of a traced value that has no value here ({here()}). A rule or a symbolic expression cannot "
                "branch on values: use np.where, or declare the rule with per_call=True."
            )
        expected.d = 1.0 if self.value != 0 else 0.0
        if self.node >= 0:      # a constant never changes
            if self.graph.nodes[self.node].op == (OP_NOT_EQUAL if self.value == 0 else OP_EQUAL) and (
                    keeps_zero(self.graph) and depends_on_inputs(self.graph, self.node)):
                return self.value == 0
            self.graph.add_guard(self.node, expected, False)
            check_branch(self.graph)
        return self.value != 0

    def __float__(self):
        raise cut_off("float() of a traced value", "Use np.sin instead of math.sin (and the like), or build arrays "
                                                   "with np.array([...], like=x) or np.stack", self.graph)

    def __int__(self):
        raise cut_off("int() of a traced value", "Use np.floor or np.trunc", self.graph)

    def __complex__(self):
        raise cut_off("complex() of a traced value", "Write x + 0j", self.graph)

    def __index__(self):
        raise cut_off("using a traced value as an index", "Use int(hoad.value(x))", self.graph)

    @property
    def __array__(self):
        if not (self.truth and indexes()):      # NumPy makes object arrays of what has no __array__
            raise AttributeError("a traced number is not an array")
        cdef Method bound = Method.__new__(Method)
        bound.implementation, bound.owner = as_plain_truth, self
        return bound

    def __copy__(self):
        return self

    def __repr__(self):
        if not self.graph.valued:
            return f"Traced(node {self.node})"
        guard_text(self)
        return f"Traced({bool(self.value) if self.truth else self.value!r})"

    def __format__(self, spec):
        if not self.graph.valued or (not spec and self.graph.thread == 0):
            return repr(self)
        check_usable(self.graph)
        guard_text(self)
        return format(bool(self.value) if self.truth else self.value, spec)

    # ---- NumPy

    @property
    def __class__(self):
        if self.represents & NO_AXES:
            return ndarray
        if self.truth:
            return bool if self.represents & OF_PYTHON else np.bool_
        if self.represents & WHOLE:
            return int
        return float if self.represents & OF_PYTHON else np.float64

    shape = ()
    ndim = 0
    size = 1
    imag = 0.0

    @property
    def dtype(self):
        return BOOL if self.truth else FLOAT64

    @property
    def T(self):
        return self

    @property
    def real(self):
        return self

    @property
    def flat(self):
        return np.reshape(self, (1,)).flat

    def __getitem__(self, index):
        if index is Ellipsis:
            return representing(self, NO_AXES)
        return representing(self, 0) if type(index) is tuple and not index else METHODS["__getitem__"](self, index)

    def __setitem__(self, index, value):
        raise not_writable()


# A class with __getitem__ is given a sequence slot too, and NumPy would take a traced scalar for a sequence.
(<PyTypeObject*>Scalar).tp_as_sequence.sq_item = NULL


cdef object no_modulo(object modulo):
    if modulo is not None:
        raise DTypeError(f"pow() of a traced value takes no modulus ({here()}). Write x ** y % m.")
    return None


cdef int check_equal(Traced x, object other, object found, double equal) except -1:
    """Raise in a derivative where adopted code finds that x is what it keeps, whose items are those of x."""
    frame = sys._getframe()
    cdef bint of_shape = compares_shape(frame, x)
    if is_traced(other) or not (of_shape or meets_kept(frame)):
        return 0
    if not has_derivative(x):
        return 0
    if of_shape:
        if (np.asarray(plain_value(found)) == equal).any():
            check_shape(x.graph)
        return 0
    if type(found) is Scalar:
        if (<Scalar>found).value == equal:
            check_kept(x.graph)
    elif type(found) is Array and isinstance(other, ndarray) and np.shape(other) == np.shape(x):
        value = plain_value(found)
        if not is_traced(value) and value.size and (value == equal).all():
            check_kept(x.graph)
    return 0


cdef bint has_derivative(Traced x) except -1:
    """Whether x is a float or complex, and depends on what a derivative is taken by."""
    cdef int32_t node = x.node if type(x) is Scalar else node_now(<Array>x)
    if type(x) is Scalar and (<Scalar>x).truth or type(x) is Array and aval_of((<Array>x).aval).dtype.kind in "biu":
        return False
    return node >= 0 and depends_on_inputs(x.graph, node)


cdef object unary(Scalar x, int op):
    check_usable(x.graph)
    check_alive(x.graph, x.node)
    if x.truth != <bint>(op == OP_LOGICAL_NOT):
        return record_call(primitive_of(op), None, (x,))
    return made_of(push_scalar(x.graph, op, x.node, 0, INFO[op].f1(x.value), INFO[op].is_bool), x.represents, op)


cdef object logical(object x, object other, int op):
    """&, | and ^, which are for booleans and integers only."""
    if not is_traced(other) and isinstance(other, TRUTHS):
        return binary(op, x, other)
    if getattr(x, "dtype", None) == BOOL and getattr(other, "dtype", None) == BOOL:
        return binary(op, x, other)
    for operand in (x, other):
        if not (type(operand) is int or getattr(operand, "dtype", FLOAT64).kind in "biu"):
            raise DTypeError(
                f"&, | and ^ of traced values need booleans or integers on both sides ({here()}). Use np.logical_and "
                "and the like, or compare first: (x > 0) & (x < 1)."
            )
    return FUNCTIONS[np.bitwise_and if op == OP_LOGICAL_AND else np.bitwise_or if op == OP_LOGICAL_OR
                     else np.bitwise_xor](x, other)


cdef object shifted(object ufunc, object x, object y, object other):
    """<< and >>, which are for integers only."""
    if not (is_traced(other) or isinstance(other, OPERANDS)):
        return NotImplemented
    return array_ufunc(ufunc, "__call__", (x, y), {})


# ---- arrays ---------------------------------------------------------------------------------------------------------

cdef Array new_array(Graph graph, int32_t operand, int32_t aval):
    cdef Array x = Array.__new__(Array)
    x.graph = graph
    x.node = operand
    x.aval = aval
    hold_aval(aval)
    x.made_at = graph.entries
    graph.held(operand)
    return x


cdef int check_own(Array x) except -1:
    """Raise where `x` is of the function around one that is being recorded apart."""
    cdef int64_t made_at = x.made_at if x.buffer is None else x.buffer.made_at
    if made_at < x.graph.scope.apart:
        raise TracedValueError(
            "the body of a loop or a map, a checkpoint and a composite are recorded apart, so they cannot write to an "
            f"array of the function around them ({here()}). Take it as an argument (in a loop, carry it), write to a "
            "copy, and return that."
        )
    return 0


cdef Buffer buffer_of(Array x):
    """The buffer of `x`, made now if it has none."""
    if x.buffer is None:
        if type(x.order) is tuple:
            lie_in_order(x)
        else:
            x.buffer = new_buffer(x.graph, x.node, x.aval)
            x.buffer.in_doubt = x.order is DOUBT
        x.buffer.made_at = x.made_at
    return x.buffer


cdef int lie_in_order(Array x) except -1:
    """Make x a view of a root that holds its items in the order in which NumPy's array has them in memory."""
    cdef tuple order = x.order
    cdef Array root = record_call(primitive_of(OP_TRANSPOSE), (order,), (x,))
    x.buffer = new_buffer(root.graph, root.node, root.aval)
    x.view = x.buffer.shadow_of_root().transpose(np.argsort(order))
    return 0


cdef object in_place(Array x, object result, str symbol):
    """``x symbol= y`` from the result of the operation: a number makes a new number, an array takes it in."""
    if result is NotImplemented or (x.buffer is None and aval_of(x.aval).ndim == 0):
        return result
    return overwrite(x, result, symbol)


cdef object item_of(Graph graph, int32_t operand, int64_t at):
    """The item of a float64 array at a flat number."""
    cdef double value = NAN
    if operand < 0:
        value = (<double*>cnp.PyArray_DATA(<cnp.ndarray>graph.consts[~operand].value.o))[at]
        return new_scalar(graph, graph.const_float(value), value, False)
    if graph.valued:
        value = (<double*>cnp.PyArray_DATA(<cnp.ndarray>graph.value_of(operand)))[at]
    return push_scalar(graph, OP_ITEM, operand, <int32_t>at, value, False)


cdef inline int64_t along(object index, int64_t length) except? -2:
    """A plain integer that is an index of an axis, counted from its start; -1 for anything else."""
    cdef int overflow = 0
    if type(index) is not int:
        if type(index) is bool or not PyArray_IsIntegerScalar(index):
            return -1
        index = int(index)
    cdef int64_t k = PyLong_AsLongLongAndOverflow(index, &overflow)
    if k < 0:
        k += length
    return k if 0 <= k < length and not overflow else -1


cdef int64_t item_number(AbstractValue aval, object index) except? -2:
    """The flat number of the item at an index of plain integers, -1 for any other index."""
    cdef int64_t at = 0
    cdef int64_t k
    cdef int d
    if aval.ndim == 1 and type(index) is not tuple:
        at = along(index, aval.shape[0])
    elif type(index) is tuple and len(<tuple>index) == aval.ndim and aval.ndim:
        for d in range(aval.ndim):
            k = along((<tuple>index)[d], aval.shape[d])
            if k < 0:
                return -1
            at = at * <int64_t>aval.shape[d] + k
    else:
        return -1
    return at if at < 2147483647 else -1


cdef inline int64_t root_place(Array x, int64_t at):
    """The place in the root of the item of `x` at a flat number."""
    return at if x.view is None else place_at(x.view, at)


@cython.final
@cython.no_gc
cdef class Array(Traced):
    """An array that is being recorded."""

    def __dealloc__(self):
        release_aval(self.aval)

    def __matmul__(self, other):
        return FUNCTIONS[np.matmul](self, other)

    def __rmatmul__(self, other):
        return FUNCTIONS[np.matmul](other, self)

    def __neg__(self):
        return representing(record_call(primitive_of(OP_NEGATIVE), None, (self,)), self.represents & OF_PYTHON)

    def __pos__(self):
        check_usable(self.graph)
        made = representing(wrap(self.graph, node_now(self)), self.represents & OF_PYTHON)
        keep_order(made, (self,))
        return made

    def __abs__(self):
        return representing(record_call(primitive_of(OP_ABSOLUTE), None, (self,)), self.represents & OF_PYTHON)

    def __invert__(self):
        if self.dtype.kind in "iu":
            return FUNCTIONS[np.invert](self)
        if self.dtype != BOOL:
            raise DTypeError(
                f"~ of a traced array of {self.dtype} ({here()}): only booleans can be inverted. Write -x, or "
                "~(x > 0)."
            )
        return record_call(primitive_of(OP_LOGICAL_NOT), None, (self,))

    def __iadd__(self, other):
        return in_place(self, binary(OP_ADD, self, other), "+=")

    def __isub__(self, other):
        return in_place(self, binary(OP_SUBTRACT, self, other), "-=")

    def __imul__(self, other):
        return in_place(self, binary(OP_MULTIPLY, self, other), "*=")

    def __itruediv__(self, other):
        return in_place(self, binary(OP_DIVIDE, self, other), "/=")

    def __ifloordiv__(self, other):
        return in_place(self, binary(OP_FLOOR_DIVIDE, self, other), "//=")

    def __imod__(self, other):
        return in_place(self, binary(OP_REMAINDER, self, other), "%=")

    def __ipow__(self, other):
        return in_place(self, binary(OP_POWER, self, other), "**=")

    def __imatmul__(self, other):
        return in_place(self, FUNCTIONS[np.matmul](self, other), "@=")

    def __iand__(self, other):
        return in_place(self, logical(self, other, OP_LOGICAL_AND), "&=")

    def __ior__(self, other):
        return in_place(self, logical(self, other, OP_LOGICAL_OR), "|=")

    def __ixor__(self, other):
        return in_place(self, logical(self, other, OP_LOGICAL_XOR), "^=")

    def __ilshift__(self, other):
        return in_place(self, shifted(LEFT_SHIFT, self, other, other), "<<=")

    def __irshift__(self, other):
        return in_place(self, shifted(RIGHT_SHIFT, self, other, other), ">>=")

    # ---- what would make a number of it

    def __bool__(self):
        cdef AbstractValue aval = aval_of(self.aval)
        check_usable(self.graph)
        if aval.size != 1:
            raise TracedValueError(
                "Use np.where to choose element by element, or np.all or np.any to ask one question of all "
                f"({here()}): bool() of a traced array of shape {aval.shape} is ambiguous."
            )
        cdef object value = valued(self)
        guard_object(self)
        return bool(value)

    def __float__(self):
        raise cut_off("float() of a traced array",
                      "Use NumPy's functions instead of math's, or x.item() or x.sum() for a traced scalar", self.graph)

    def __complex__(self):
        raise cut_off("complex() of a traced array", "Write x.item() + 0j", self.graph)

    def __index__(self):
        cdef AbstractValue aval = aval_of(self.aval)
        if aval.ndim and aval.dtype.kind in "iu":     # as of NumPy's arrays, of which an index may be made
            raise TypeError("only integer scalar arrays can be converted to a scalar index")
        return self.__int__()

    def __int__(self):
        cdef AbstractValue aval = aval_of(self.aval)
        if aval.ndim or aval.dtype.kind not in "iu":
            raise cut_off("using a traced array as an integer", "Use np.trunc(x.item()), or int(hoad.value(x))",
                          self.graph)
        check_usable(self.graph)
        value = int(valued(self))
        guard_object(self)
        return value

    @property
    def __array__(self):
        if is_number(self):     # NumPy makes object arrays of what has no __array__
            raise AttributeError("a traced number is not an array")
        cdef Method bound = Method.__new__(Method)
        bound.implementation, bound.owner = as_plain_array, self
        return bound

    def __setitem__(self, index, value):
        cdef AbstractValue aval = aval_of(self.aval)
        cdef Buffer buffer
        cdef int64_t at
        if type(index) is int and type(value) is Array and (<Array>value).buffer is not None and (
                (<Array>value).buffer is self.buffer and (<Array>value).taken < self.buffer.version):
            check_swap()
        if (self.sealed is None and aval.is_float64 and self.part is None
                and (self.buffer is None or self.buffer.sealed is None)
                and (type(value) is Scalar or type(value) is float)):
            at = item_number(aval, index)
            if at >= 0:
                check_usable(self.graph)
                check_own(self)
                if type(value) is Scalar:
                    check_same(self.graph, (<Scalar>value).graph)
                    check_alive(self.graph, (<Scalar>value).node)
                    if (<Scalar>value).truth:
                        value = value * 1.0
                buffer = buffer_of(self)        # which may give it a place in a root
                buffer.put_one(root_place(self, at), value)
                return
        METHODS["__setitem__"](self, index, value)

    def __round__(self, ndigits=None):
        if aval_of(self.aval).ndim or aval_of(self.aval).dtype.kind == "c":
            raise TypeError(f"a traced array of {aval_of(self.aval)!r} has no round(): use np.round(x, decimals)")
        return Traced.__round__(self, ndigits)

    def __format__(self, spec):
        value = value_here(self)
        if value is None:
            return format(repr(self), spec)
        guard_text(self)
        return format(value if np.ndim(value) else np.asarray(value)[()], spec)

    def __copy__(self):
        return METHODS["copy"](self)

    def __repr__(self):
        value = value_here(self)
        if value is None:
            return f"Traced({aval_of(self.aval)!r})"
        guard_text(self)
        return f"Traced({value!r})"

    # ---- NumPy

    @property
    def __class__(self):
        cdef AbstractValue aval = aval_of(self.aval)
        if (aval.ndim or self.aval <= AVAL_BOOL or self.represents & NO_AXES
                or (self.buffer is not None and not self.represents)):
            return Array if "scipy.sparse" in MODULES and leaves_product(sys._getframe(), aval.ndim) else ndarray
        if self.represents & OF_PYTHON:
            return complex if aval.dtype.kind == "c" else int if aval.dtype.kind in "iu" else float
        return aval.dtype.type

    @property
    def shape(self):
        return aval_of(self.aval).shape

    @shape.setter
    def shape(self, value):
        METHODS["__shape__"](self)

    @property
    def ndim(self):
        return aval_of(self.aval).ndim

    @property
    def size(self):
        return aval_of(self.aval).size

    @property
    def dtype(self):
        return aval_of(self.aval).dtype

    @property
    def itemsize(self):
        return aval_of(self.aval).itemsize

    @property
    def nbytes(self):
        return aval_of(self.aval).itemsize * aval_of(self.aval).size

    @property
    def T(self):
        return FUNCTIONS[np.transpose](self) if aval_of(self.aval).ndim else self

    @property
    def mT(self):
        return FUNCTIONS[np.swapaxes](self, -1, -2)

    @property
    def real(self):
        return FUNCTIONS[np.real](self)

    @real.setter
    def real(self, value):
        FUNCTIONS[np.real](self)[...] = value

    @property
    def imag(self):
        return FUNCTIONS[np.imag](self)

    @imag.setter
    def imag(self, value):
        FUNCTIONS[np.imag](self)[...] = value

    @property
    def flat(self):
        return METHODS["__flat__"](self)

    @flat.setter
    def flat(self, value):
        METHODS["__set_flat__"](self, value)

    def __len__(self):
        cdef AbstractValue aval = aval_of(self.aval)
        if aval.ndim == 0:
            if ARRAYS_MATCH and self.__class__ is not ndarray:
                return length_for_no_match()
            raise TypeError("len() of unsized object")
        return aval.shape[0]

    def __iter__(self):
        cdef AbstractValue aval = aval_of(self.aval)
        if aval.ndim == 0:
            raise TypeError("iteration over a 0-d array")
        return ItemIterator(self, aval.shape[0])

    def __getitem__(self, index):
        cdef AbstractValue aval = aval_of(self.aval)
        cdef int64_t at
        if aval.is_float64:
            at = item_number(aval, index)
            if at >= 0:
                check_usable(self.graph)
                if self.buffer is None or self.version == self.buffer.version:
                    return item_of(self.graph, node_now(self), at)
                if self.part is None:
                    return read_item(self.buffer, root_place(self, at))
        found = view_at(self, index)
        if found is None:
            found = METHODS["__getitem__"](self, index)
        return found.copy() if self.copies and type(found) is Array else found


# An attribute that the class does not have takes an exception of Python's before it is asked for as a method, and NumPy
# looks for an array in every item of a list: not to find one takes an exception that Cython notes the lines of, so that
# ``np.array([x, y, z])`` took ten times as long.
cdef getattrofunc attribute_of_class = (<PyTypeObject*>Scalar).tp_getattro


cdef PyObject* attribute(PyObject* owner, PyObject* name) except NULL:
    """An attribute of the class, or a method; a traced number gives no array unless it is a boolean, or code asks."""
    if type(<object>owner) is Scalar and (
            name == <PyObject*>ARRAY and not (<Scalar>owner).truth
            or (name == <PyObject*>ARRAY_INTERFACE or name == <PyObject*>ARRAY_STRUCT)
            and <object>name not in sys._getframe().f_code.co_names):
        PyErr_SetObject(AttributeError, "a traced number is not an array")
        return NULL
    if _PyType_Lookup(Py_TYPE(owner), name) != NULL:
        return attribute_of_class(owner, name)
    found = method(<object>owner, <str>name)
    Py_INCREF(found)
    return <PyObject*>found


(<PyTypeObject*>Scalar).tp_getattro = attribute
(<PyTypeObject*>Array).tp_getattro = attribute


# From NumPy 2.5 on, the patterns of a match statement take an array for a sequence.
cdef bint ARRAYS_MATCH = ndarray.__flags__ & Py_TPFLAGS_SEQUENCE != 0
if ARRAYS_MATCH:
    (<PyTypeObject*>Array).tp_flags |= Py_TPFLAGS_SEQUENCE
    PyType_Modified(<PyTypeObject*>Array)


cdef Py_ssize_t length_for_no_match() except -1:
    """A length that the pattern of a match statement does not have that asks; it raises where anything else asks.

    The class of what represents a number is that of arrays, and Python asks the class alone whether it is a sequence.
    """
    frame = sys._getframe()
    cdef bytes code = frame.f_code.co_code
    cdef int at = frame.f_lasti
    if 0 <= at < len(code) - 3 and code[at] == GET_LEN:
        if code[at + 2] == LOAD_CONST:
            return 1 if frame.f_code.co_consts[code[at + 3]] == 0 else 0
        if code[at + 2] == LOAD_SMALL_INT:
            return 1 if code[at + 3] == 0 else 0
    raise TypeError("len() of unsized object")


@cython.final
cdef class ItemIterator:
    """The items of an array, each read when it is asked for: it may be written to in between."""

    cdef Array array
    cdef Py_ssize_t at
    cdef Py_ssize_t end

    def __cinit__(self, Array array not None, Py_ssize_t end):
        self.array, self.end = array, end

    def __iter__(self):
        return self

    def __next__(self):
        if self.at >= self.end:
            raise StopIteration
        self.at += 1
        return self.array[self.at - 1]

    def __length_hint__(self):
        return self.end - self.at


cdef bint is_number(Array x) except -1:
    """Whether an array of no dimensions is a real number that nothing changes, such as an item of float32.

    Complex numbers do not count: NumPy takes the imaginary part of an array of objects for zero.
    """
    cdef AbstractValue aval = aval_of(x.aval)
    if aval.ndim or aval.dtype.kind != "f":
        return False
    return x.buffer is None or (x.sealed is not None and x.view is None)


def as_plain_array(Array x, dtype=None, copy=None):
    cdef AbstractValue aval = aval_of(x.aval)
    made = METHODS["__as_objects__"](x, dtype)
    if made is not None:
        return made
    check_usable(x.graph)
    if aval.dtype.kind in "biu" or not depends_on_inputs(x.graph, node_now(x)):
        made = np.array(guard_value(x) if aval.dtype.kind in "biu" else valued(x), dtype)   # has no derivative
        made.flags.writeable = False        # what compiled code would write here would be lost
        return made
    if aval.ndim == 0 and aval.dtype.kind == "c":
        raise cut_off("making a plain array of traced complex numbers",
                      "Write np.array([...], like=x), of any traced x, or np.stack([...])", x.graph)
    raise cut_off("making a plain array of a traced one",
                  "Write np.asarray(x, like=x), or a @ x; build arrays with np.stack, np.concatenate or np.where",
                  x.graph)


def as_plain_truth(Scalar x, dtype=None, copy=None):
    """A boolean as NumPy's index takes it, guarded: the shape of what it chooses depends on it."""
    return np.array(bool(x), dtype)


cdef class Method:
    """A method of a traced value, bound to it."""

    cdef object implementation
    cdef object owner

    def __call__(self, *args, **kwargs):
        return called(self.implementation, (self.owner, *args), kwargs)


cdef object called(object implementation, tuple args, dict kwargs):
    """Call an implementation; what it gives goes into the array that is given as `out`, if any."""
    cdef Py_ssize_t k = -1
    if len(args) > 2:
        known = OUT_POSITIONS.get(implementation)
        k = METHODS["__out_position__"](implementation) if known is None else <Py_ssize_t>known
    if (kwargs and kwargs.get("out") is not None) or (0 <= k < len(args) and args[k] is not None):
        return METHODS["__into__"](implementation, args, kwargs)
    cdef object made = implementation(*args, **kwargs)
    if (type(made) is Array and (<Array>made).buffer is None and aval_of((<Array>made).aval).ndim > 1
            or isinstance(made, (tuple, list))) and implementation not in KEEPING_ORDER:
        doubt_order(made, (args, tuple(kwargs.values())))
    return made


cdef object method(object owner, str name):
    cdef object implementation = METHODS.get(name)
    if implementation is None:
        if name in IN_MEMORY and adopts():      # any memory that has the shape will do
            return getattr(np.empty(owner.shape, owner.dtype), name)
        if is_of_arrays(name) if name.startswith("_") else (hasattr(ndarray, name) or hasattr(owner.__class__, name)):
            if is_numbas():
                raise cut_off("", "", (<Traced>owner).graph)
            instead = ADVICE.get(f"np.{name}", "Use the NumPy functions that have one.")
            raise NoMethodError(
                f"ndarray.{name} has no rule for traced values ({here()}). {instead} Take hoad.value(x) if plain "
                "numbers are meant."
            )
        raise AttributeError(f"a traced value has no attribute {name!r}")
    cdef Method bound = Method.__new__(Method)
    bound.implementation = implementation
    bound.owner = owner
    return bound


cdef bint is_of_arrays(str name) except -1:
    """Whether this is a special method of arrays that the user's code asks for, not NumPy itself."""
    return f"np.{name}" in ADVICE and (name not in LOOKED_FOR or name in sys._getframe().f_code.co_names)


cdef object valued(Array x):
    """The value of an array that must have one here."""
    cdef object value = x.graph.value_of(node_now(x))
    if value is None:
        raise TracedValueError(
            f"the value of a traced array is not known here ({here()}). A rule or a symbolic expression cannot branch "
            "on values: use np.where, or declare the rule with per_call=True."
        )
    return value


cdef int guard_object(Array x) except -1:
    cdef int32_t node = node_now(x)
    if node >= 0:       # a constant never changes
        x.graph.add_guard(node, x.graph.slots[node], x.aval > AVAL_BOOL)
        check_branch(x.graph)
    return 0


cdef object wrap(Graph graph, int32_t operand):
    """The traced value of a node, alive in the derivative that the node belongs to."""
    cdef int32_t aval = operand_aval(graph, operand)
    if aval > AVAL_BOOL:
        return new_array(graph, operand, aval)
    cdef Scalar x = new_scalar(graph, operand, scalar_value(graph, operand), aval == AVAL_BOOL)
    if operand < graph.scope.start:
        graph.scope.live -= 1       # a new scalar counts for the innermost
        graph.held(operand)
    return x


cdef uint8_t represented(object value):
    """What a traced number represents that is made of this one."""
    if type(value) is float or type(value) is complex or type(value) is bool:
        return OF_PYTHON
    if type(value) is Scalar:
        return (<Scalar>value).represents
    if type(value) is Array:
        if value.__class__ is ndarray:
            return NO_AXES
        return A_NUMBER | ((<Array>value).represents & OF_PYTHON)
    return NO_AXES if cnp.PyArray_Check(value) else A_NUMBER


cpdef object representing(object x, int represents):
    """A traced value without axes that represents a number of NumPy's (0) or something else; others unchanged."""
    cdef object made
    if type(x) is Scalar:
        if (<Scalar>x).represents == represents:
            return x
        made = wrap((<Scalar>x).graph, (<Scalar>x).node)
    elif type(x) is Array and not aval_of((<Array>x).aval).ndim:
        if (<Array>x).represents == represents and ((<Array>x).buffer is None or represents):
            return x
        if represents == NO_AXES and x.__class__ is ndarray:
            return x        # which may be written to
        made = wrap((<Array>x).graph, node_now(<Array>x))
    else:
        return x
    (<Traced>made).represents = represents
    return made


def representing_as(made, like):
    """A value that represents what another one is or represents, where it has no axes."""
    if not is_traced(made):
        return np.asarray(made) if type(like) is ndarray else made
    return representing(made, represented(like))


# ---- for higher layers ----------------------------------------------------------------------------------------------

def traced_node(Graph graph, int node):
    """The traced value of a node of a running recording."""
    return wrap(graph, node)


cpdef bint is_traced(object x) noexcept:
    """Whether `x` is a traced scalar or array."""
    return type(x) is Scalar or type(x) is Array


cpdef object plain_value(object x):
    """The number or array behind a traced value (a copy); anything else unchanged."""
    cdef object made
    if type(x) is Scalar:
        if not (<Scalar>x).graph.valued:
            raise TracedValueError(
                f"the value of a traced scalar is not known inside a rule or symbolic expression ({here()}). A rule "
                "that needs values says per_call=True."
            )
        check_alive((<Scalar>x).graph, (<Scalar>x).node)
        return bool((<Scalar>x).value) if (<Scalar>x).truth else (<Scalar>x).value
    if type(x) is Array:
        check_usable((<Array>x).graph)
        made = np.array(valued(<Array>x))
        return made if made.ndim or made.dtype != np.complex128 else made.item()
    return x


def graph_of(x):
    """The graph of a traced value that may be used here."""
    cdef Graph graph = (<Traced?>x).graph
    check_usable(graph)
    return graph


def node_of(x):
    """The node number of a traced value."""
    if type(x) is Array:
        return node_now(<Array>x)
    check_alive((<Scalar?>x).graph, (<Scalar>x).node)
    return (<Scalar>x).node


cdef object value_here(Array x):
    """The value of an array; None where that is not known, as after the recording, or in another thread."""
    cdef bint running = x.graph.thread == PyThread_get_thread_ident()
    return x.graph.value_of(node_now(x)) if running and not has_leaked(x.graph, x.node) else None


cdef int guard_text(object x) except -1:
    """Let what is replayed by itself, or may read the text again, hold only where a value is what it is now."""
    cdef double value
    if type(x) is Array:
        if (<Array>x).graph.is_guarded:
            guard_value(x)
        return 0
    if not (<Scalar>x).graph.is_guarded and not adopts():
        return 0
    value = (<Scalar>x).value
    bool(operation(x, x, OP_NOT_EQUAL, False) if value != value else operation(x, value, OP_EQUAL, False))
    return 0


def guard_value(x):
    """The value of a traced array, with a guard that it stays so."""
    cdef Array array = <Array?>x
    check_usable(array.graph)
    value = valued(array)
    guard_object(array)
    return value


cdef void connect_writes(Refresh fresh, ReadItem item, Overwrite over, ViewAt view) noexcept:
    """Say how what was written is read."""
    global refresh, read_item, overwrite, view_at
    view_at = view
    refresh = fresh
    read_item = item
    overwrite = over


cdef void connect(RecordCall record, CallUfunc ufunc, CallFunction function, NoteOrder keep, NoteOrder doubt) noexcept:
    """Say how calls are recorded."""
    global record_call, array_ufunc, array_function, keep_order, doubt_order
    keep_order = keep
    doubt_order = doubt
    record_call = record
    array_ufunc = ufunc
    array_function = function
