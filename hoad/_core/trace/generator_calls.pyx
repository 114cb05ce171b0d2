"""Where calls of the methods of NumPy's generators lead: with traced parameters, to what hoad implements.

These are Cython's functions, whose calls no protocol of NumPy's and no hook of Python's sees. But they are called by a
pointer that lies in each of them (`vectorcall`). From the first recording on these lead to `called`, which passes calls
without traced arguments on, as they are.
"""

import importlib
import importlib.util
import sys

from cpython.object cimport PyObject
from cpython.pythread cimport PyThread_get_thread_ident

from hoad._core.base.where cimport here
from hoad._core.trace.traced cimport Array, Scalar

from hoad._core.trace.coerce import holds_traced
from hoad._core.trace.traced import METHODS

from hoad.errors import NoRuleError

cdef extern from "Python.h":
    ctypedef struct PyTypeObject:
        Py_ssize_t tp_vectorcall_offset
        unsigned long tp_flags
    enum:
        Py_TPFLAGS_HAVE_VECTORCALL
    Py_ssize_t PyVectorcall_NARGS(size_t) noexcept
    Py_ssize_t PyTuple_GET_SIZE(PyObject*) noexcept
    PyObject* PyTuple_GET_ITEM(PyObject*, Py_ssize_t) noexcept
    PyTypeObject* Py_TYPE(PyObject*) noexcept

# By the name of a method: what is called in its place, with the generator first, if a parameter is traced.
GENERATOR_METHODS = {}
# What exchanges items of an array, by indexing it.
cdef frozenset IN_PLACE = frozenset(["permuted", "shuffle"])

cdef enum:
    MOST_METHODS = 1024     # four times what there are, at least

cdef PyObject* REDIRECTED[MOST_METHODS]         # each at the place that its address gives, or after it
cdef vectorcallfunc ORIGINALS[MOST_METHODS]     # their own pointers
cdef dict LISTENERS = {}        # thread: who is told of its draws


cdef class DrawListener:
    """Is told of each call of a method in this thread, and answers it."""

    cdef object call(self, PyObject* function, vectorcallfunc original, PyObject** args, size_t nargsf,
                     PyObject* names):
        """A call of a method, which `original` would answer."""
        return original(function, args, nargsf, names)

    cdef int listen(self) except -1:
        """Be told from now on, in place of who was told before."""
        if not is_redirected:
            redirect()
        self.around = LISTENERS.get(PyThread_get_thread_ident())
        LISTENERS[PyThread_get_thread_ident()] = self
        return 0

    cdef int end(self) except -1:
        """Be told no more."""
        if self.around is None:
            del LISTENERS[PyThread_get_thread_ident()]
        else:
            LISTENERS[PyThread_get_thread_ident()] = self.around
        self.around = None
        return 0


cdef DrawListener listener():
    """Who is told of what this thread draws, or None."""
    return LISTENERS.get(PyThread_get_thread_ident()) if LISTENERS else None


cdef object called(PyObject* function, PyObject** args, size_t nargsf, PyObject* names):
    """Where the pointers of the methods lead."""
    cdef vectorcallfunc original = ORIGINALS[place_of(function)]
    cdef Py_ssize_t n = PyVectorcall_NARGS(nargsf)
    cdef Py_ssize_t n_names = 0 if names == NULL else PyTuple_GET_SIZE(names)
    cdef DrawListener told
    cdef Py_ssize_t k
    for k in range(1, n + n_names):
        if is_or_holds_traced(<object>args[k]) and (<object>function).__name__ not in IN_PLACE:
            kwargs = {<object>PyTuple_GET_ITEM(names, k): packed(<object>args[n + k]) for k in range(n_names)}
            return call_traced((<object>function).__name__, [packed(<object>args[k]) for k in range(n)], kwargs)
    told = listener()
    if told is None or told.is_inside:
        return original(function, args, nargsf, names)
    return told.call(function, original, args, nargsf, names)


cdef inline bint is_or_holds_traced(x) except -1:
    """Whether an argument is traced, or a sequence that holds such."""
    kind = type(x)
    return kind is Scalar or kind is Array or ((kind is list or kind is tuple) and holds_traced(x))


cdef object packed(x):
    """An argument, as one traced array if it is a sequence of such."""
    return METHODS["__pack__"](x) if type(x) in (list, tuple) and holds_traced(x) else x


cdef object call_traced(str name, list args, dict kwargs):
    """What is drawn with traced parameters."""
    if name not in GENERATOR_METHODS:
        raise NoRuleError(
            f"{type(args[0]).__name__}.{name} with a traced argument is not recorded ({here()}): what it draws is no "
            "differentiable formula of that. Pass a plain number, hoad.value(x). Methods that take traced arguments: "
            f"{', '.join(GENERATOR_METHODS)}."
        )
    return GENERATOR_METHODS[name](*args, **kwargs)


cdef inline size_t place_of(PyObject* method) noexcept:
    """Where a method stands in the table, or is to be put."""
    cdef size_t k = (<size_t>method >> 4) % MOST_METHODS
    while REDIRECTED[k] != NULL and REDIRECTED[k] != method:
        k = (k + 1) % MOST_METHODS
    return k


cdef vectorcallfunc* pointer_of(PyObject* method) noexcept:
    return <vectorcallfunc*>(<char*>method + Py_TYPE(method).tp_vectorcall_offset)


class _WhenLoaded:
    """A finder of modules that finds none, but has the methods led here once NumPy has loaded its generators."""

    def find_spec(self, name, path=None, target=None):
        if name != "numpy.random":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        execute = spec.loader.exec_module

        def execute_and_redirect(module):
            execute(module)
            redirect_methods()

        spec.loader.exec_module = execute_and_redirect
        return spec


cdef int redirect() except -1:
    """Let the methods lead here, now or when they are loaded."""
    global is_redirected
    is_redirected = True
    if "numpy.random" in sys.modules:
        importlib.import_module("numpy.random")     # waits for another thread that loads it
        return redirect_methods()
    sys.meta_path.insert(0, _WhenLoaded())
    return 0


cdef int redirect_methods() except -1:
    """Let those methods lead here that draw, and can be seen."""
    cdef size_t at
    for kind in (sys.modules["numpy.random._generator"].Generator, sys.modules["numpy.random.mtrand"].RandomState):
        for key, x in vars(kind).items():
            if key.startswith("_") or not Py_TYPE(<PyObject*>x).tp_flags & Py_TPFLAGS_HAVE_VECTORCALL:
                continue
            if type(x).__name__ == "cython_function_or_method" and pointer_of(<PyObject*>x)[0] != NULL:
                at = place_of(<PyObject*>x)
                REDIRECTED[at], ORIGINALS[at] = <PyObject*>x, pointer_of(<PyObject*>x)[0]
                pointer_of(<PyObject*>x)[0] = called
    return 0
