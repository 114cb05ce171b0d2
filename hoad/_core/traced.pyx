"""The two traced types, and how operations on them are recorded.

`Scalar` stands for a float or a truth value, `Array` for everything with a shape or another dtype. Both refuse to
become plain numbers behind the user's back. Only `Array` has ``__array__``, and it raises, so that ``np.array([x, y])``
of scalars is an object array on which NumPy calls their own arithmetic.
"""

import numbers
import opcode
import os
import sys

import numpy as np

from libc.math cimport NAN

cimport cython
cimport numpy as cnp

from hoad._core.plan cimport FAILED_SINGULAR, plan_of
from hoad._core.primitive cimport INFO, MOST_RESULTS, K_UFUNC, UFUNCS, Primitive, Signature, primitive_of, signature
from hoad._core.tape cimport (
    AVAL_BOOL,
    AVAL_FLOAT,
    F_BOOL,
    F_VALUED,
    OP_ADD,
    OP_ASSEMBLE,
    OP_DIVIDE,
    OP_IDENTITY,
    OP_INPUT,
    OP_ITEM,
    OP_MULTIPLY,
    OP_NEGATIVE,
    OP_POWER,
    OP_RESULT,
    OP_STOP,
    OP_SUBTRACT,
    Aval,
    Graph,
    Slot,
    aval_number,
    aval_of,
    in_native_order,
    is_plain_float64,
    operand_aval,
    push_valued,
    user_position,
)

from hoad._core.primitive import make_signature

from hoad.errors import DTypeError, NoMethodError, NoRuleError, TracedValueError

cnp.import_array()

cdef extern from "Python.h":
    ctypedef struct PySequenceMethods:
        void* sq_item

    ctypedef struct PyTypeObject:
        PySequenceMethods* tp_as_sequence

cdef extern from "pythread.h":
    unsigned long PyThread_get_thread_ident() noexcept nogil

# What the floors above put in: NumPy function -> implementation, name of a method -> implementation.
FUNCTIONS = {}
METHODS = {}
REDUCTIONS = {}     # ufunc -> implementation of its `reduce`
ADVICE = {}         # "np.diff" -> what to write instead of it

cdef object FLOAT64 = np.dtype(np.float64)
cdef type ndarray = np.ndarray
cdef object BOOL = np.dtype(np.bool_)


# ---- errors ---------------------------------------------------------------------------------------------------------

cdef str LIBRARY = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
cdef frozenset STORES = frozenset([opcode.opmap[name] for name in ("STORE_SUBSCR", "STORE_SLICE")
                                   if name in opcode.opmap])


cdef bint is_part_of(str package, str filename):
    """Whether a file belongs to a package, if that is imported at all."""
    file = getattr(sys.modules.get(package), "__file__", None)
    return file is not None and filename.startswith(os.path.dirname(os.path.abspath(file)) + os.sep)


def is_library(str filename):
    """Whether a file is no user's: of hoad, NumPy, SciPy or the standard library."""
    if filename.startswith(LIBRARY) and f"-packages{os.sep}" not in filename:
        return True
    return is_part_of("hoad", filename) or is_part_of("numpy", filename) or is_part_of("scipy", filename)


cdef tuple user_place():
    """('file.py:line' of the user's code that is running, the function of SciPy that it has called or "")."""
    cdef str called = ""
    code, line = user_position()
    if code is None:
        return "outside any Python file", called
    frame = sys._getframe() if is_part_of("scipy", code.co_filename) else None
    while frame is not None and frame.f_code is not code:
        frame = frame.f_back
    while frame is not None:        # out of SciPy
        code, line = frame.f_code, frame.f_lineno
        if not is_library(code.co_filename):
            break
        if is_part_of("scipy", code.co_filename) and not (
                called and (code.co_name.startswith("_") or "wrap" in code.co_name)):
            called = code.co_name
        frame = frame.f_back
    return f"{os.path.basename(code.co_filename)}:{line}", called


cpdef str here():
    """'file.py:line' of the user's code that is running."""
    return user_place()[0]


cdef bint assigns():
    """Whether the Python code that runs is at an assignment to an item, ``a[i] = x``."""
    frame = sys._getframe()
    code = frame.f_code.co_code
    return 0 <= frame.f_lasti < len(code) and code[frame.f_lasti] in STORES


cpdef str name_of(object function):
    """The name that a user knows a function of NumPy or SciPy by."""
    name = function.__name__
    if not isinstance(function, np.ufunc):
        module = (getattr(function, "__module__", None) or "").split(".")
        public = ".".join([part for part in module if not part.startswith("_")])
        return f"{public.replace('numpy', 'np', 1)}.{name}" if public else name
    if getattr(np, name, None) is function:
        return f"np.{name}"
    module = sys.modules.get("scipy.special")
    return f"scipy.special.{name}" if getattr(module, name, None) is function else name


cdef object no_rule(str name, str method=""):
    """The error for an operation that is not recorded, with what to write instead where that is known."""
    cdef str asked = f"{name}.{method}" if method else name
    cdef str instead = ADVICE.get(asked, "")
    cdef str advice = "give it hoad.value(x) if no derivative is to pass."
    if not method and "." in name:
        advice = f"declare one with @hoad.rules.vjp({name}), or {advice}"
    if instead.startswith("Write"):
        advice = f"{instead} Or {advice}"
    elif instead:
        advice = instead
    else:
        advice = advice[0].upper() + advice[1:]
    return NoRuleError(f"{asked} has no derivative rule ({here()}). {advice}")


cdef object cut_off(str what, str advice, Graph graph=None):
    """The error for a traced value (of this graph) that would become a plain number."""
    if graph is not None:
        check_usable(graph)
    where, called = user_place()
    if called:
        what = f"SciPy's {called} of a traced value"
        advice = ("Write it in NumPy's functions, or make it one operation with a rule of its own (see "
                  "@hoad.primitive); or take hoad.value(x) if plain numbers are meant.")
    elif assigns():
        what = "assigning a traced value to an item of a plain array (a[...] = x)"
        advice = ("Collect the items in a list and make the array of it, with np.array(items), np.stack or "
                  "np.concatenate, or choose them with np.where; or take hoad.value(x) if plain numbers are meant.")
    return TracedValueError(f"{what} would cut it off from the derivative ({where}). {advice}")


cdef int check_usable(Graph graph) except -1:
    """Raise unless `graph` is being recorded by this thread."""
    if graph.thread == PyThread_get_thread_ident():
        return 0
    if graph.thread == 0:
        raise TracedValueError(
            f"a traced value was used after the function it belongs to had returned ({here()}). Return it from the "
            "function, or take its number with hoad.value(x) while the function runs."
        )
    raise TracedValueError(
        f"a traced value was used in another thread than the one that records it ({here()}). Take the derivative "
        "inside the thread, or pass hoad.value(x)."
    )


cdef int check_same(Graph graph, Graph other) except -1:
    if graph is other:
        return 0
    check_usable(graph)
    check_usable(other)
    if graph.valued != other.valued:
        raise TracedValueError(
            f"a rule met a traced value that is not its own ({here()}). A rule is written in NumPy's operations on its "
            "own g, p and operands: it can neither call a driver (hoad.grad and the like) on them nor use traced "
            "values from outside. Write the derivative as a formula, or as a function of its own with @hoad.primitive."
        )
    raise TracedValueError(
        f"traced values of two recordings met in one operation ({here()}). A function given to record() or a rule "
        "may use traced values of its own arguments only; pass the other value as an argument, or hoad.value(x)."
    )


# ---- scalars --------------------------------------------------------------------------------------------------------

cdef inline Scalar new_scalar(Graph graph, int32_t node, double value, bint truth):
    cdef Scalar x = Scalar.__new__(Scalar)
    x.graph = graph
    x.node = node
    x.value = value
    x.truth = truth
    graph.frame.live += 1
    return x


cdef inline object push_scalar(Graph graph, uint16_t op, int32_t a, int32_t b, double value, bint truth):
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


cdef inline object arithmetic(Scalar x, object other, uint16_t op, bint reflected):
    """A binary operation on scalars; anything else goes the general way."""
    cdef Graph graph = x.graph
    cdef Scalar y
    cdef int32_t b
    cdef double value
    if type(other) is Scalar:
        y = <Scalar>other
        if y.graph is graph and graph.thread == PyThread_get_thread_ident() and not (x.truth and y.truth):
            return push_scalar(graph, op, x.node, y.node, apply(op, x.value, y.value), INFO[op].is_bool)
        check_same(graph, y.graph)
        value = 0
    elif type(other) is float or (type(other) is int and not x.truth):
        if graph.thread != PyThread_get_thread_ident():
            check_usable(graph)
        value = other
        b = graph.const_float(value)
        if reflected:
            return push_scalar(graph, op, b, x.node, apply(op, value, x.value), INFO[op].is_bool)
        return push_scalar(graph, op, x.node, b, apply(op, x.value, value), INFO[op].is_bool)
    if reflected:
        return binary(op, other, x)
    return binary(op, x, other)


cdef object binary(int op, object x, object y):
    """The general way of an operator: NotImplemented for what hoad does not know."""
    cdef object other = y if isinstance(x, (Scalar, Array)) else x
    if not isinstance(other, (Scalar, Array, numbers.Number, np.generic, np.ndarray, list, tuple)):
        return NotImplemented
    if (isinstance(other, np.ndarray) and (<object>other).dtype == object
            and (isinstance(x, Scalar) or isinstance(y, Scalar))):
        # an object array of traced scalars does its arithmetic element by element
        box = np.empty((), dtype=object)
        box[()] = x if other is y else y
        function = (<Primitive>primitive_of(op)).function
        return function(box, other) if other is y else function(other, box)
    return record_call(primitive_of(op), None, (x, y))


@cython.final
@cython.no_gc
@cython.freelist(512)
cdef class Scalar:
    """A float (or truth value) that is being recorded."""

    __array_priority__ = 1000.0

    def __init__(self, *args):
        raise made_by_hand()

    def __dealloc__(self):
        if self.graph is not None:
            self.graph.released(self.node)

    # ---- arithmetic

    def __add__(self, other):
        return arithmetic(self, other, OP_ADD, False)

    def __radd__(self, other):
        return arithmetic(self, other, OP_ADD, True)

    def __sub__(self, other):
        return arithmetic(self, other, OP_SUBTRACT, False)

    def __rsub__(self, other):
        return arithmetic(self, other, OP_SUBTRACT, True)

    def __mul__(self, other):
        return arithmetic(self, other, OP_MULTIPLY, False)

    def __rmul__(self, other):
        return arithmetic(self, other, OP_MULTIPLY, True)

    def __truediv__(self, other):
        return arithmetic(self, other, OP_DIVIDE, False)

    def __rtruediv__(self, other):
        return arithmetic(self, other, OP_DIVIDE, True)

    def __pow__(self, other, modulo):
        return no_modulo(modulo) or arithmetic(self, other, OP_POWER, False)

    def __rpow__(self, other, modulo):
        return no_modulo(modulo) or arithmetic(self, other, OP_POWER, True)

    def __floordiv__(self, other):
        return arithmetic(self, other, FLOOR_DIVIDE, False)

    def __rfloordiv__(self, other):
        return arithmetic(self, other, FLOOR_DIVIDE, True)

    def __mod__(self, other):
        return arithmetic(self, other, REMAINDER, False)

    def __rmod__(self, other):
        return arithmetic(self, other, REMAINDER, True)

    def __divmod__(self, other):
        return self // other, self % other

    def __rdivmod__(self, other):
        return other // self, other % self

    def __neg__(self):
        return unary(self, OP_NEGATIVE)

    def __pos__(self):
        return self

    def __abs__(self):
        return unary(self, ABSOLUTE)

    def __floor__(self):
        return unary(self, FLOOR)

    def __ceil__(self):
        return unary(self, CEIL)

    def __trunc__(self):
        return unary(self, TRUNC)

    def __round__(self, ndigits=None):
        if ndigits is None:
            raise cut_off("round() of a traced value", "Use np.rint(x), which stays traced.", self.graph)
        return FUNCTIONS[np.round](self, ndigits)

    def __and__(self, other):
        return logical(self, other, LOGICAL_AND)

    def __rand__(self, other):
        return logical(self, other, LOGICAL_AND)

    def __or__(self, other):
        return logical(self, other, LOGICAL_OR)

    def __ror__(self, other):
        return logical(self, other, LOGICAL_OR)

    def __xor__(self, other):
        return logical(self, other, LOGICAL_XOR)

    def __rxor__(self, other):
        return logical(self, other, LOGICAL_XOR)

    def __invert__(self):
        if not self.truth:
            raise DTypeError(
                f"~ of a traced float ({here()}): only truth values can be inverted. Write -x, or ~(x > 0)."
            )
        return unary(self, LOGICAL_NOT)

    def __lt__(self, other):
        return arithmetic(self, other, LESS, False)

    def __le__(self, other):
        return arithmetic(self, other, LESS_EQUAL, False)

    def __gt__(self, other):
        return arithmetic(self, other, GREATER, False)

    def __ge__(self, other):
        return arithmetic(self, other, GREATER_EQUAL, False)

    def __eq__(self, other):
        return arithmetic(self, other, EQUAL, False)

    def __ne__(self, other):
        return arithmetic(self, other, NOT_EQUAL, False)

    # ---- what would make a number of it

    def __bool__(self):
        cdef Slot expected
        check_usable(self.graph)
        if not self.graph.valued:
            raise TracedValueError(
                f"bool() of a traced value that has no value here ({here()}). A rule or a symbolic expression cannot "
                "branch on values: use np.where, or declare the rule with per_call=True."
            )
        expected.d = 1.0 if self.value != 0 else 0.0
        self.graph.add_guard(self.node, expected, False)
        return self.value != 0

    def __float__(self):
        raise cut_off("float() of a traced value",
                      "Use np.sin instead of math.sin (and the like), build arrays with np.array([...], like=x) or "
                      "np.stack, or hoad.value(x) if a plain number is meant.", self.graph)

    def __int__(self):
        raise cut_off("int() of a traced value", "Use np.floor or np.trunc, or int(hoad.value(x)) if a plain number "
                                                 "is meant.", self.graph)

    def __complex__(self):
        raise cut_off("complex() of a traced value", "Use hoad.value(x) if a plain number is meant.", self.graph)

    def __index__(self):
        raise cut_off("using a traced value as an index", "Use int(hoad.value(x)) if a plain number is meant.",
                      self.graph)

    def __hash__(self):
        raise unhashable()

    def __reduce__(self):
        raise unpicklable()

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __repr__(self):
        if not self.graph.valued:
            return f"Traced(node {self.node})"
        return f"Traced({bool(self.value) if self.truth else self.value!r})"

    def __format__(self, spec):
        return format(bool(self.value) if self.truth else self.value, spec) if self.graph.valued else repr(self)

    # ---- NumPy

    @property
    def shape(self):
        return ()

    @property
    def ndim(self):
        return 0

    @property
    def size(self):
        return 1

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
    def imag(self):
        return 0.0

    def __getitem__(self, index):
        return self if index is Ellipsis or index == () else METHODS["__getitem__"](self, index)

    def __getattr__(self, str name):
        return method(self, name)

    def __dir__(self):
        return sorted({*object.__dir__(self), *METHODS})

    def __array_ufunc__(self, ufunc, str method, *inputs, **kwargs):
        return array_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, function, types, tuple args, dict kwargs):
        return array_function(function, args, kwargs)


cdef object made_by_hand():
    return TracedValueError(
        f"a traced value is made by recording, not by its class ({here()}). Instead of type(x)(1.0), write the number, "
        "or np.asarray."
    )


cdef object unhashable():
    return TracedValueError(
        f"a traced value cannot be hashed, as a key of a dict or otherwise ({here()}): equal numbers need not be the "
        "same variable. Use hoad.value(x) if a plain number is meant."
    )


cdef object unpicklable():
    return TracedValueError(
        f"a traced value cannot be pickled or sent elsewhere ({here()}); pass hoad.value(x), or take the derivative "
        "there."
    )


# A class with __getitem__ is given a sequence slot too, and NumPy would take a traced scalar for a sequence.
(<PyTypeObject*>Scalar).tp_as_sequence.sq_item = NULL


cdef object no_modulo(object modulo):
    if modulo is not None:
        raise DTypeError(f"pow() of a traced value takes no modulus ({here()}). Write x ** y % m.")
    return None


cdef object unary(Scalar x, int op):
    check_usable(x.graph)
    if x.truth != <bint>(op == LOGICAL_NOT):
        return record_call(primitive_of(op), None, (x,))
    return push_scalar(x.graph, op, x.node, 0, INFO[op].f1(x.value), INFO[op].is_bool)


cdef object logical(object x, object other, int op):
    """&, | and ^, which are for truth values only."""
    if isinstance(other, (bool, np.bool_)):
        return binary(op, x, other)
    if getattr(x, "dtype", None) != BOOL or getattr(other, "dtype", None) != BOOL:
        raise DTypeError(
            f"&, | and ^ of traced values need truth values on both sides ({here()}). Use np.logical_and and the like, "
            "or compare first: (x > 0) & (x < 1)."
        )
    return binary(op, x, other)


# ---- arrays ---------------------------------------------------------------------------------------------------------

cdef Array new_array(Graph graph, int32_t node, int32_t aval):
    cdef Array x = Array.__new__(Array)
    x.graph = graph
    x.node = node
    x.aval = aval
    graph.frame.live += 1
    return x


def writes_into(str what):
    """The error for a traced value that would be written into a plain array."""
    return cut_off(f"writing a traced value into a plain array with {what}",
                   "Make a new array instead: use the result of the operation, np.where, np.stack or np.concatenate.")


cdef object in_place(str symbol):
    return TracedValueError(
        f"in-place {symbol} on a traced array is not recorded ({here()}). Write x = x {symbol[:-1]} y, which makes a "
        "new array."
    )


@cython.final
@cython.no_gc
@cython.freelist(64)
cdef class Array:
    """An array that is being recorded."""

    __array_priority__ = 1000.0

    def __init__(self, *args):
        raise made_by_hand()

    def __dealloc__(self):
        if self.graph is not None:
            self.graph.released(self.node)

    def __add__(self, other):
        return binary(OP_ADD, self, other)

    def __radd__(self, other):
        return binary(OP_ADD, other, self)

    def __sub__(self, other):
        return binary(OP_SUBTRACT, self, other)

    def __rsub__(self, other):
        return binary(OP_SUBTRACT, other, self)

    def __mul__(self, other):
        return binary(OP_MULTIPLY, self, other)

    def __rmul__(self, other):
        return binary(OP_MULTIPLY, other, self)

    def __truediv__(self, other):
        return binary(OP_DIVIDE, self, other)

    def __rtruediv__(self, other):
        return binary(OP_DIVIDE, other, self)

    def __pow__(self, other, modulo):
        return no_modulo(modulo) or binary(OP_POWER, self, other)

    def __rpow__(self, other, modulo):
        return no_modulo(modulo) or binary(OP_POWER, other, self)

    def __floordiv__(self, other):
        return binary(FLOOR_DIVIDE, self, other)

    def __rfloordiv__(self, other):
        return binary(FLOOR_DIVIDE, other, self)

    def __mod__(self, other):
        return binary(REMAINDER, self, other)

    def __rmod__(self, other):
        return binary(REMAINDER, other, self)

    def __divmod__(self, other):
        return self // other, self % other

    def __rdivmod__(self, other):
        return other // self, other % self

    def __matmul__(self, other):
        return FUNCTIONS[np.matmul](self, other)

    def __rmatmul__(self, other):
        return FUNCTIONS[np.matmul](other, self)

    def __neg__(self):
        return record_call(primitive_of(OP_NEGATIVE), None, (self,))

    def __pos__(self):
        return self

    def __abs__(self):
        return record_call(primitive_of(ABSOLUTE), None, (self,))

    def __and__(self, other):
        return logical(self, other, LOGICAL_AND)

    def __rand__(self, other):
        return logical(self, other, LOGICAL_AND)

    def __or__(self, other):
        return logical(self, other, LOGICAL_OR)

    def __ror__(self, other):
        return logical(self, other, LOGICAL_OR)

    def __xor__(self, other):
        return logical(self, other, LOGICAL_XOR)

    def __rxor__(self, other):
        return logical(self, other, LOGICAL_XOR)

    def __invert__(self):
        if self.dtype != BOOL:
            raise DTypeError(
                f"~ of a traced array of {self.dtype} ({here()}): only truth values can be inverted. Write -x, or "
                "~(x > 0)."
            )
        return record_call(primitive_of(LOGICAL_NOT), None, (self,))

    def __lt__(self, other):
        return binary(LESS, self, other)

    def __le__(self, other):
        return binary(LESS_EQUAL, self, other)

    def __gt__(self, other):
        return binary(GREATER, self, other)

    def __ge__(self, other):
        return binary(GREATER_EQUAL, self, other)

    def __eq__(self, other):
        return binary(EQUAL, self, other)

    def __ne__(self, other):
        return binary(NOT_EQUAL, self, other)

    def __iadd__(self, other):
        raise in_place("+=")

    def __isub__(self, other):
        raise in_place("-=")

    def __imul__(self, other):
        raise in_place("*=")

    def __itruediv__(self, other):
        raise in_place("/=")

    def __ifloordiv__(self, other):
        raise in_place("//=")

    def __imod__(self, other):
        raise in_place("%=")

    def __ipow__(self, other):
        raise in_place("**=")

    def __imatmul__(self, other):
        raise in_place("@=")

    def __iand__(self, other):
        raise in_place("&=")

    def __ior__(self, other):
        raise in_place("|=")

    def __ixor__(self, other):
        raise in_place("^=")

    # ---- what would make a number of it

    def __bool__(self):
        cdef Aval aval = aval_of(self.aval)
        cdef object value
        check_usable(self.graph)
        if aval.size != 1:
            raise TracedValueError(
                f"bool() of a traced array of shape {aval.shape} is ambiguous ({here()}). Use np.where to choose "
                "element by element, or np.max(x) > 0 and the like to ask one question of all."
            )
        value = valued(self)
        guard_object(self)
        return bool(value)

    def __float__(self):
        raise cut_off("float() of a traced array",
                      "Use NumPy's functions instead of math's, x.item() or x.sum() for a traced scalar, or "
                      "hoad.value(x) if a plain number is meant.", self.graph)

    def __complex__(self):
        raise cut_off("complex() of a traced array", "Use hoad.value(x) if a plain number is meant.", self.graph)

    def __int__(self):
        return self.__index__()

    def __index__(self):
        cdef Aval aval = aval_of(self.aval)
        if aval.ndim or aval.dtype.kind not in "iu":
            raise cut_off("using a traced array as an integer",
                          "Use hoad.value(x) if plain numbers are meant.", self.graph)
        check_usable(self.graph)
        value = int(valued(self))
        guard_object(self)
        return value

    def __array__(self, dtype=None, copy=None):
        raise cut_off("making a plain array of a traced one (np.asarray, assignment into an ndarray, a function "
                      "outside NumPy's dispatch)",
                      "Build the result with np.stack, np.concatenate or np.where instead of assigning into a plain "
                      "array, or take hoad.value(x) if plain numbers are meant.", self.graph)

    def __setitem__(self, index, value):
        raise TracedValueError(
            f"assignment to items of a traced array is not recorded ({here()}). Make a new array instead, with "
            "np.where, np.stack or np.concatenate."
        )

    def __hash__(self):
        raise unhashable()

    def __reduce__(self):
        raise unpicklable()

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __repr__(self):
        value = self.graph.value_of(self.node) if self.graph.thread else None
        return f"Traced({aval_of(self.aval)!r})" if value is None else f"Traced({value!r})"

    # ---- NumPy

    @property
    def shape(self):
        return aval_of(self.aval).shape

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
        return FUNCTIONS[np.transpose](self)

    @property
    def mT(self):
        return FUNCTIONS[np.swapaxes](self, -1, -2)

    @property
    def real(self):
        return FUNCTIONS[np.real](self)

    @property
    def imag(self):
        return FUNCTIONS[np.imag](self)

    @property
    def flat(self):
        return FUNCTIONS[np.ravel](self)

    def __len__(self):
        cdef Aval aval = aval_of(self.aval)
        if aval.ndim == 0:
            raise TypeError("len() of unsized object")
        return aval.shape[0]

    def __iter__(self):
        cdef Aval aval = aval_of(self.aval)
        if aval.ndim == 0:
            raise TypeError("iteration over a 0-d array")
        return iter([self[i] for i in range(<Py_ssize_t>aval.shape[0])])

    def __getitem__(self, index):
        cdef Aval aval = aval_of(self.aval)
        cdef Graph graph = self.graph
        cdef Py_ssize_t i, n
        cdef double value
        if aval.ndim == 1 and aval.is_float64 and type(index) is int:
            n = aval.shape[0]
            i = index
            if i < 0:
                i += n
            if 0 <= i < n and i < 2147483647:
                check_usable(graph)
                value = (<double*>cnp.PyArray_DATA(<cnp.ndarray>graph.slots[self.node].o))[i] if graph.valued else NAN
                return push_scalar(graph, OP_ITEM, self.node, <int32_t>i, value, False)
        return METHODS["__getitem__"](self, index)

    def __getattr__(self, str name):
        return method(self, name)

    def __dir__(self):
        return sorted({*object.__dir__(self), *METHODS})

    def __array_ufunc__(self, ufunc, str method, *inputs, **kwargs):
        return array_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, function, types, tuple args, dict kwargs):
        return array_function(function, args, kwargs)


cdef class Method:
    """A method of a traced value, bound to it."""

    cdef object implementation
    cdef object owner

    def __call__(self, *args, **kwargs):
        return self.implementation(self.owner, *args, **kwargs)


cdef object method(object owner, str name):
    cdef object implementation = METHODS.get(name)
    cdef Method bound
    if implementation is None:
        if not name.startswith("_") and hasattr(np.ndarray, name):
            instead = ADVICE.get(f"np.{name}", "Use the NumPy functions that have one.")
            raise NoMethodError(
                f"ndarray.{name} has no rule for traced values ({here()}). {instead} Take hoad.value(x) if plain "
                "numbers are meant."
            )
        raise AttributeError(f"a traced value has no attribute {name!r}")
    bound = Method.__new__(Method)
    bound.implementation = implementation
    bound.owner = owner
    return bound


cdef object valued(Array x):
    """The value of an array that must have one here."""
    cdef object value = x.graph.value_of(x.node)
    if value is None:
        raise TracedValueError(
            f"the value of a traced array is not known here ({here()}). A rule or a symbolic expression cannot branch "
            "on values: use np.where, or declare the rule with per_call=True."
        )
    return value


cdef int guard_object(Array x) except -1:
    cdef Slot expected = x.graph.slots[x.node]
    x.graph.add_guard(x.node, expected, True)
    return 0


# ---- recording ------------------------------------------------------------------------------------------------------

cdef object wrap(Graph graph, int32_t operand):
    """The traced value of a node."""
    cdef int32_t aval = operand_aval(graph, operand)
    if aval > AVAL_BOOL:
        return new_array(graph, operand, aval)
    return new_scalar(graph, operand, graph.slots[operand].d, aval == AVAL_BOOL)


cdef int32_t operand_of(Graph graph, object x) except? -1:
    """The operand for any value: a node of `graph`, or a constant of it."""
    cdef Scalar scalar
    cdef Array array
    if type(x) is Scalar:
        scalar = <Scalar>x
        check_same(graph, scalar.graph)
        return scalar.node
    if type(x) is Array:
        array = <Array>x
        check_same(graph, array.graph)
        return array.node
    if type(x) is float:
        return graph.const_float(<double>x)
    if type(x) is ndarray and is_plain_float64(<cnp.ndarray>x):
        return graph.capture(x)
    if isinstance(x, (bool, np.bool_)):
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


def real_number(x):
    """A plain number among traced ones, as a float; raises for what is none."""
    made = as_numbers(x)
    if made.dtype.kind == "c":
        raise complex_met("an array", [str(made.dtype)])
    return float(made)


cpdef object as_numbers(object x):
    """A plain value as an array of numbers; raises for anything that holds others."""
    is_fraction = isinstance(x, numbers.Rational) and not isinstance(x, numbers.Integral)
    made = np.asarray(float(x) if is_fraction else x)
    if made.dtype.kind in "biufc":
        return made
    if made.dtype == object:
        made = made.ravel()
        wrong = [y for y in made.tolist() if not isinstance(y, (bool, int, float, complex, np.number, np.bool_))]
        if not wrong:
            return np.array(x, dtype=np.result_type(*made.tolist()) if made.size else np.float64)
        found = f"of type {type(wrong[0]).__name__}"
    else:
        found = f"of dtype {made.dtype}"
    where = f"a value {found}" if np.ndim(x) == 0 else f"an array with items {found}"
    raise DTypeError(
        f"a traced value met {where} ({here()}), which is no float. Convert it before: float(y), or y.astype(float)."
    )


cpdef int check_class(object x) except -1:
    """Raise for an array class whose arithmetic is its own: hoad would record that of plain arrays."""
    cdef object kind = type(x)
    if kind is ndarray:
        return 0
    if kind.__array_ufunc__ is ndarray.__array_ufunc__ and kind.__mul__ is ndarray.__mul__:
        return 0
    raise DTypeError(
        f"arrays of class {kind.__name__} have an arithmetic of their own, which is not recorded ({here()}). Take "
        "np.asarray(x), or x.filled(...) of a masked array."
    )


def holds_traced(x):
    """Whether nested lists and tuples, or an object array, hold a traced value."""
    stack = [x]
    while stack:
        item = stack.pop()
        if isinstance(item, (Scalar, Array)):
            return True
        if isinstance(item, (list, tuple)):
            stack.extend(item)
        elif isinstance(item, np.ndarray) and item.dtype == object:
            stack.extend(item.ravel().tolist())
    return False


cdef Graph graph_among(object values):
    """The graph of the first traced value among these (looking into lists and object arrays), or None."""
    for x in values:
        if type(x) is Scalar:
            return (<Scalar>x).graph
        if type(x) is Array:
            return (<Array>x).graph
        if isinstance(x, (list, tuple)):
            found = graph_among(x)
            if found is not None:
                return found
        elif isinstance(x, np.ndarray) and x.dtype == object:
            found = graph_among(x.ravel().tolist())
            if found is not None:
                return found
    return None


cdef enum:
    FEW = 16


cdef object record_call(Primitive primitive, object params, tuple values):
    """Record `primitive` on values of any kind; on plain ones, compute it."""
    cdef Graph graph = graph_among(values)
    if graph is None:       # a composition that meets plain operands only
        graph = Graph(True)
        return plain_results(record_call_in(graph, primitive, params, values))
    return record_call_in(graph, primitive, params, values)


cdef object plain_results(object results):
    if isinstance(results, tuple):
        return tuple([plain_value(x) for x in results])
    return plain_value(results)


cdef object record_call_in(Graph graph, Primitive primitive, object params, tuple values):
    cdef int32_t few[FEW]
    cdef int32_t[::1] many
    cdef int32_t* operands = few
    cdef int32_t i
    cdef int32_t count = len(values)
    check_usable(graph)
    if count > FEW:
        many = np.empty(count, dtype=np.int32)
        operands = &many[0]
    if primitive.kind == K_UFUNC:
        values = as_loop_operands(graph, primitive, values)
    for i in range(count):
        operands[i] = operand_of(graph, values[i])
    return record(graph, primitive, params, operands, count)


cdef dict LOOP_DTYPES = {}      # (ufunc, dtypes or Python types) -> dtypes of the loop


cdef tuple as_loop_operands(Graph graph, Primitive primitive, tuple values):
    """Operands of a ufunc, cast to the dtypes of the loop NumPy would choose."""
    cdef list kinds = []
    cdef bint uniform = True
    cdef list cast = []
    cdef object x, dtype, loop
    for x in values:
        if type(x) is Scalar:
            kinds.append(BOOL if (<Scalar>x).truth else FLOAT64)
        elif type(x) is Array:
            kinds.append(aval_of((<Array>x).aval).dtype)
        elif type(x) is float or type(x) is int or type(x) is complex:
            kinds.append(type(x))
        elif type(x) is ndarray and is_plain_float64(<cnp.ndarray>x):
            kinds.append(FLOAT64)
        elif isinstance(x, np.ndarray) and x.dtype != object:
            check_class(x)
            kinds.append(as_numbers(x).dtype)
        elif isinstance(x, (np.ndarray, list, tuple)) and holds_traced(x):
            x = METHODS["__pack__"](x)
            kinds.append(x.dtype)
        elif isinstance(x, np.ndarray):
            x = as_numbers(x)
            kinds.append(x.dtype)
        else:
            x = as_numbers(x)
            kinds.append(x.dtype)
        if kinds[-1] is not FLOAT64 and kinds[-1] is not float:
            uniform = False
        cast.append(x)
    if uniform:
        return tuple(cast)
    key = (primitive.op, *kinds)
    loop = LOOP_DTYPES.get(key)
    if loop is None:
        loop = loop_dtypes(primitive, kinds)
        LOOP_DTYPES[key] = loop
    for i, dtype in enumerate(loop):
        x = cast[i]
        if isinstance(x, (Scalar, Array)):
            if kinds[i] != dtype:
                cast[i] = METHODS["astype"](x, dtype)
        elif kinds[i] != dtype:
            cast[i] = np.asarray(x, dtype=dtype)
    return tuple(cast)


cdef tuple loop_dtypes(Primitive primitive, list kinds):
    cdef object function = primitive.function
    resolved = function.resolve_dtypes((*kinds, *[None] * function.nout))
    if any([dtype.kind == "c" for dtype in resolved]):
        raise complex_met(primitive.name, [getattr(kind, "__name__", str(kind)) for kind in kinds])
    return resolved[: function.nin]


cdef char* address(Graph graph, int32_t operand, char* truth) noexcept:
    """Where the value of an operand lies; truth values are copied to `truth`, as NumPy's loops read bytes."""
    cdef Slot* slot = &graph.consts[~operand].value if operand < 0 else &graph.slots[operand]
    cdef int32_t aval = operand_aval(graph, operand)
    if aval == AVAL_FLOAT:
        return <char*>&slot.d
    if aval == AVAL_BOOL:
        truth[0] = slot.d != 0
        return truth
    return <char*>cnp.PyArray_DATA(<cnp.ndarray>slot.o)


cdef object record(Graph graph, Primitive primitive, object params, const int32_t* operands, int32_t count):
    """Append a node (and compute its value); returns its traced result, or a tuple of them."""
    cdef int32_t few[FEW]
    cdef int32_t[::1] many
    cdef int32_t* avals = few
    cdef int32_t i, node
    cdef bint scalars = (
        (primitive.kind == K_UFUNC or primitive.op == OP_STOP) and 0 < count <= 2 and primitive.nout == 1
    )
    cdef bint floats = True
    cdef Signature sig
    cdef double x, y
    if count > FEW:
        many = np.empty(count, dtype=np.int32)
        avals = &many[0]
    for i in range(count):
        avals[i] = operand_aval(graph, operands[i])
        if avals[i] > AVAL_BOOL:
            scalars = False
        elif avals[i] == AVAL_BOOL:
            floats = False
    if scalars and (floats or primitive.op == LOGICAL_NOT or primitive.op == LOGICAL_AND or
                    primitive.op == LOGICAL_OR or primitive.op == LOGICAL_XOR or primitive.op == MASK):
        x = scalar_value(graph, operands[0])
        if count == 1 and INFO[primitive.op].f1 != NULL:
            return push_scalar(graph, primitive.op, operands[0], 0, INFO[primitive.op].f1(x),
                               INFO[primitive.op].is_bool)
        if count == 2 and INFO[primitive.op].f2 != NULL:
            y = scalar_value(graph, operands[1])
            return push_scalar(graph, primitive.op, operands[0], operands[1], INFO[primitive.op].f2(x, y),
                               INFO[primitive.op].is_bool)
    sig = signature(primitive, params, avals, count)
    if not (<Aval>sig.results[0]).is_float64:
        check_real(primitive, sig)
    values = compute(graph, sig, operands, count) if graph.valued else None
    node = graph.push_ext(primitive.op, 0, sig, operands, count, (<Aval>sig.results[0]).number)
    if graph.valued:
        graph.set_position(node)
        graph.set_object(node, values[0])
    if primitive.nout == 1:
        return wrap(graph, node)
    return tuple([wrap(graph, node if i == 0 else push_result(graph, sig, node, i, values))
                  for i in range(primitive.nout)])


cdef object complex_met(str name, list operands):
    return DTypeError(
        f"complex numbers are not supported yet: {name} of {' and '.join(operands)} is complex ({here()}). Write real "
        "and imaginary parts as real arrays of their own: cos(x) and sin(x) for exp(1j * x)."
    )


cdef int check_real(Primitive primitive, Signature sig) except -1:
    """Raise for an operation with a complex result, or one of no numbers."""
    for x in sig.results:
        if (<Aval>x).dtype.kind not in "biufc":
            operands = " and ".join([str((<Aval>y).dtype) for y in sig.avals])
            raise DTypeError(
                f"{primitive.name} of {operands} gives {(<Aval>x).dtype} ({here()}), which is not recorded. Use "
                "floats, or hoad.value(x) if plain values are meant."
            )
        if (<Aval>x).dtype.kind == "c":
            name = f"astype({(<Aval>x).dtype})" if primitive.name == "astype" else primitive.name
            raise complex_met(name, [str((<Aval>y).dtype) for y in sig.avals])
    return 0


cdef int32_t push_result(Graph graph, Signature sig, int32_t node, int32_t which, list values) except -1:
    """A node for one more result of `node`."""
    cdef int32_t operands[2]
    cdef int32_t result
    operands[0] = node
    operands[1] = which
    result = graph.push_ext(OP_RESULT, 0, None, operands, 2, (<Aval>sig.results[which]).number)
    graph.exts[graph.nodes[result].a].count = 1
    if values is not None:
        graph.set_object(result, values[which])
    return result


cdef inline double scalar_value(Graph graph, int32_t operand) noexcept:
    return graph.consts[~operand].value.d if operand < 0 else graph.slots[operand].d


cdef list compute(Graph graph, Signature sig, const int32_t* operands, int32_t count):
    """The values of a node's results: floats, truth values, arrays."""
    cdef char* few[FEW]
    cdef char few_truths[FEW]
    cdef char* places[MOST_RESULTS]
    cdef Slot scalars[MOST_RESULTS]
    cdef char** at = few
    cdef char* truths = few_truths
    cdef int32_t i
    cdef int failure
    cdef Aval aval
    cdef list values = []
    cdef object room = None
    if count > FEW:
        room = np.empty(count * (sizeof(char*) + 1), dtype=np.uint8)
        at = <char**>cnp.PyArray_DATA(<cnp.ndarray>room)
        truths = <char*>(at + count)
    for i in range(count):
        at[i] = address(graph, operands[i], &truths[i])
    for i in range(len(sig.results)):
        aval = sig.results[i]
        if aval.number > AVAL_BOOL:
            values.append(empty_array(aval))
            places[i] = <char*>cnp.PyArray_DATA(<cnp.ndarray>values[i])
        else:
            values.append(None)
            places[i] = <char*>&scalars[i]
    failure = plan_of(sig).run(at, places)
    if failure:
        raise_failure(failure)
    for i in range(len(values)):
        aval = sig.results[i]
        if aval.number == AVAL_FLOAT:
            values[i] = scalars[i].d
        elif aval.number == AVAL_BOOL:
            values[i] = (<char*>&scalars[i])[0] != 0
    return values


cdef object empty_array(Aval aval):
    cdef cnp.npy_intp dims[64]
    cdef int d
    if not aval.is_float64 or aval.ndim > 64:
        return np.empty(aval.shape, aval.dtype)
    for d in range(aval.ndim):
        dims[d] = aval.shape[d]
    return cnp.PyArray_EMPTY(aval.ndim, dims, cnp.NPY_DOUBLE, 0)


cdef int raise_failure(int failure) except -1:
    if failure == FAILED_SINGULAR:
        raise np.linalg.LinAlgError("Singular matrix")
    return -1       # the exception is set


# ---- NumPy's protocols ----------------------------------------------------------------------------------------------

cdef object array_ufunc(object ufunc, str method, tuple inputs, dict kwargs):
    cdef Primitive primitive
    cdef Scalar x
    if method == "__call__":
        primitive = <Primitive>UFUNCS.get(ufunc)
        if primitive is not None:
            if kwargs:
                kwargs = plain_keywords(ufunc, kwargs)
            if len(inputs) == 1 and type(inputs[0]) is Scalar:
                x = <Scalar>inputs[0]
                check_usable(x.graph)
                if not x.truth and primitive.nout == 1 and INFO[primitive.op].f1 != NULL:
                    return push_scalar(x.graph, primitive.op, x.node, 0, INFO[primitive.op].f1(x.value),
                                       INFO[primitive.op].is_bool)
            if object_arithmetic(inputs):
                return ufunc(*[boxed(y) for y in inputs])
            return record_call(primitive, None, inputs)
        if ufunc is MATMUL and not kwargs and is_float64_array(inputs[0]) and is_float64_array(inputs[1]):
            return record_call(MATMUL_PRIMITIVE, None, inputs)
        implementation = FUNCTIONS.get(ufunc)
        if implementation is not None:
            return implementation(*inputs, **plain_keywords(ufunc, kwargs) if kwargs else kwargs)
    elif method == "at":
        raise writes_into(f"np.{ufunc.__name__}.at")
    elif method == "reduce" and ufunc in REDUCTIONS:
        return REDUCTIONS[ufunc](*inputs, **kwargs)
    elif method == "outer" and len(inputs) == 2 and not kwargs:
        x_, y_ = inputs
        return ufunc(FUNCTIONS[np.reshape](x_, np.shape(x_) + (1,) * np.ndim(y_)) if isinstance(x_, Array) else
                     np.reshape(x_, np.shape(x_) + (1,) * np.ndim(y_)), y_)
    raise no_rule(name_of(ufunc), "" if method == "__call__" else method)


cdef bint is_float64_array(object x):
    """Whether a product can be recorded without a cast."""
    if type(x) is Array:
        return aval_of((<Array>x).aval).is_float64
    return type(x) is ndarray and is_plain_float64(<cnp.ndarray>x)


cdef bint object_arithmetic(tuple inputs):
    """Whether NumPy should work element by element: an object array meets traced scalars only."""
    cdef bint found = False
    for x in inputs:
        if type(x) is Array:
            return False
        if isinstance(x, np.ndarray) and x.dtype == object:
            found = True
    return found


cdef object boxed(object x):
    if type(x) is not Scalar:
        return x
    box = np.empty((), dtype=object)
    box[()] = x
    return box


cdef dict plain_keywords(object ufunc, dict kwargs):
    """The keywords of a ufunc call that matter; what cannot be recorded raises."""
    cdef dict kept = {}
    for name, value in kwargs.items():
        if name == "out":
            if any([y is not None for y in (value if isinstance(value, tuple) else (value,))]):
                raise writes_into(f"np.{ufunc.__name__}(..., out=) or an in-place operator")
        if name == "where" and value is not True:
            raise NoRuleError(
                f"np.{ufunc.__name__} with where= is not recorded ({here()}). Use np.where(condition, x, y)."
            )
        if name == "dtype" and value is not None:
            raise NoRuleError(f"np.{ufunc.__name__} with dtype= is not recorded ({here()}). Use x.astype(dtype).")
        if name == "signature" and value is not None:
            raise NoRuleError(f"np.{ufunc.__name__} with signature= is not recorded ({here()}). Use x.astype(dtype).")
        if name not in ("out", "where", "dtype", "casting", "order", "subok", "signature"):
            kept[name] = value
    return kept


cdef object array_function(object function, tuple args, dict kwargs):
    cdef object implementation = FUNCTIONS.get(function)
    if implementation is not None:
        return implementation(*args, **kwargs)
    raise no_rule(name_of(function))


# ---- for the floors above -------------------------------------------------------------------------------------------

def apply_primitive(Primitive primitive, object params, *values):
    """Record `primitive` on these values, at least one of them traced."""
    return record_call(primitive, params, values)


def is_traced(x):
    """Whether `x` is a traced scalar or array."""
    return type(x) is Scalar or type(x) is Array


def plain_value(x):
    """The number or array behind a traced value (a copy); anything else as it is."""
    if type(x) is Scalar:
        if not (<Scalar>x).graph.valued:
            raise TracedValueError(
                f"the value of a traced scalar is not known inside a rule or symbolic expression ({here()}). A rule "
                "that needs values says per_call=True."
            )
        return bool((<Scalar>x).value) if (<Scalar>x).truth else (<Scalar>x).value
    if type(x) is Array:
        check_usable((<Array>x).graph)
        return np.array(valued(<Array>x))
    return x


def graph_of(x):
    """The graph of a traced value that may be used here."""
    cdef Graph graph = (<Scalar>x).graph if type(x) is Scalar else (<Array?>x).graph
    check_usable(graph)
    return graph


def node_of(x):
    """The node number of a traced value."""
    return (<Scalar>x).node if type(x) is Scalar else (<Array?>x).node


def guard_value(x):
    """The value of a traced array, with a guard that it stays so."""
    cdef Array array = <Array?>x
    check_usable(array.graph)
    value = valued(array)
    guard_object(array)
    return value


def new_input(Graph graph, object value, bint nested=False):
    """A fresh input of `graph` (an identity node when a derivative begins inside another recording)."""
    cdef int32_t aval, node, operand
    cdef uint16_t op = OP_IDENTITY if nested else OP_INPUT
    if nested:
        operand = operand_of(graph, value)
        aval = operand_aval(graph, operand)
        if aval > AVAL_BOOL:
            node = graph.push_ext(op, 0, None, &operand, 1, aval)
        else:
            node = graph.push(op, F_BOOL if aval == AVAL_BOOL else 0, operand, 0, NAN)
        value = graph.value_of(operand)
        if value is not None:
            graph.set_object(node, value)
        return wrap(graph, node)
    if type(value) is Scalar:
        check_same(graph, (<Scalar>value).graph)
    elif type(value) is Array:
        check_same(graph, (<Array>value).graph)
    if isinstance(value, Aval):
        aval = (<Aval>value).number
    else:
        value = in_native_order(np.array(value, order="C", subok=False))
        aval = aval_number(value)
    if aval > AVAL_BOOL:
        node = graph.push_ext(op, 0, None, NULL, 0, aval)
    else:
        node = graph.push(op, F_BOOL if aval == AVAL_BOOL else 0, 0, 0, NAN)
    if not isinstance(value, Aval):
        graph.set_object(node, value if aval > AVAL_BOOL else value[()])
    return wrap(graph, node)


# Numbers of operations that operators name; set when the floor above has declared them.
cdef int ABSOLUTE, FLOOR, CEIL, TRUNC, FLOOR_DIVIDE, REMAINDER, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, EQUAL
cdef object MATMUL = np.matmul
cdef Primitive MATMUL_PRIMITIVE = None
cdef int NOT_EQUAL, LOGICAL_AND, LOGICAL_OR, LOGICAL_XOR, LOGICAL_NOT, MASK


def bind_operators():
    """Look up the operations behind the operators, once they are declared."""
    global ABSOLUTE, FLOOR, CEIL, TRUNC, FLOOR_DIVIDE, REMAINDER, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, EQUAL
    global NOT_EQUAL, LOGICAL_AND, LOGICAL_OR, LOGICAL_XOR, LOGICAL_NOT, MASK, MATMUL_PRIMITIVE
    from hoad._core.primitive import primitive_named
    ABSOLUTE = primitive_named("absolute").op
    FLOOR = primitive_named("floor").op
    CEIL = primitive_named("ceil").op
    TRUNC = primitive_named("trunc").op
    FLOOR_DIVIDE = primitive_named("floor_divide").op
    REMAINDER = primitive_named("remainder").op
    LESS = primitive_named("less").op
    LESS_EQUAL = primitive_named("less_equal").op
    GREATER = primitive_named("greater").op
    GREATER_EQUAL = primitive_named("greater_equal").op
    EQUAL = primitive_named("equal").op
    NOT_EQUAL = primitive_named("not_equal").op
    LOGICAL_AND = primitive_named("logical_and").op
    LOGICAL_OR = primitive_named("logical_or").op
    LOGICAL_XOR = primitive_named("logical_xor").op
    LOGICAL_NOT = primitive_named("logical_not").op
    MASK = primitive_named("mask").op
    MATMUL_PRIMITIVE = primitive_named("matmul")


def apply_assembly(Aval aval, offsets, tuple parts, *values):
    """Record zeros of `aval` with the values added at flat offsets, then at the places in `parts`."""
    cdef Graph graph = graph_among(values)
    cdef int32_t count = len(values)
    cdef int32_t[::1] operands = np.empty(max(count, 1), dtype=np.int32)
    cdef int32_t i, node
    cdef Signature sig
    check_usable(graph)
    for i in range(count):
        operands[i] = operand_of(graph, values[i])
    avals = tuple([aval_of(operand_aval(graph, operands[i])) for i in range(count)])
    sig = make_signature(primitive_of(OP_ASSEMBLE), (offsets, parts), avals, (aval,))
    computed = compute(graph, sig, &operands[0], count) if graph.valued else None
    node = graph.push_ext(OP_ASSEMBLE, 0, sig, &operands[0], count, aval.number)
    if graph.valued:
        graph.set_position(node)
        graph.set_object(node, computed[0])
    return wrap(graph, node)
