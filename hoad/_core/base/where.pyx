"""Where in the user's code something happens, and by what name the user knows it."""

import opcode
import os
import sys
from types import FunctionType

import numpy as np

from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_XINCREF

cdef extern from *:
    """
    #if PY_VERSION_HEX < 0x030B0000
    #define PyFrame_GetLasti(frame) ((frame)->f_lasti * (int)sizeof(_Py_CODEUNIT))
    #endif
    """

cdef extern from "Python.h":
    ctypedef struct PyFrameObject
    ctypedef struct PyCodeObject:
        PyObject* co_filename
    PyFrameObject* PyEval_GetFrame() noexcept
    int PyFrame_GetLasti(PyFrameObject*) noexcept
    int PyCode_Addr2Line(PyCodeObject*, int) noexcept

cdef extern from "frameobject.h":
    void* PyFrame_GetCode(PyFrameObject*) noexcept
    void* PyFrame_GetBack(PyFrameObject*) noexcept

# Frames of these folders are hoad's, NumPy's or the standard library's, so the user's line is further out. So are those
# of these packages.
cdef tuple PASSED = ("pandas", "pyarrow", "xarray", "numba")
cdef tuple ALIKE = ("scipy", "pandas", "pyarrow")   # the last holds the text of pandas' frames
cdef tuple OWN_FOLDERS = (
    os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..")) + os.sep,
    os.path.dirname(os.path.abspath(np.__file__)) + os.sep,
)
cdef str LIBRARY = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
cdef str HOAD = OWN_FOLDERS[0]
cdef str DEMO = HOAD + "_demo" + os.sep  # its models stand for the user's code
# What is known of files, by name: of so many at most, since code that is compiled at run time may have names of its own
cdef enum:
    MOST_FILES = 4096
cdef dict IS_OWN = {}
cdef dict ORIGINS = {}
cdef dict IS_SOLVER = {}
# Code of the standard library, and of SciPy before 1.15, that gives something else at every call, or keeps what it has
# read from outside the process, so that only its being entered tells; by module, the names of the code, None for all.
CHANGING_CODE = {
    "getpass": None,
    "importlib": frozenset(["import_module"]),  # by a name that is computed; SciPy imports its own parts so
    "linecache": None,
    "mimetypes": None,
    "os": frozenset(["__getitem__", "__iter__", "__len__", "copy", "getenv", "getenvb"]),    # of the environment
    "platform": None,
    "scipy.linalg._interpolative_backend": None,    # draws random numbers in Fortran
    "sysconfig": None,
    "tempfile": None,
    "threading": frozenset(["active_count", "current_thread", "enumerate"]),
    "uuid": frozenset(["getnode"]),
}
cdef str BACKEND = os.path.join("scipy", "linalg", "_interpolative_backend.py")
# The instructions of a[i] = x.
cdef int BINARY_SUBSCR = opcode.opmap.get("BINARY_SUBSCR", -1)      # an operator among others from CPython 3.14 on
cdef int BINARY_OP = opcode.opmap.get("BINARY_OP", -1)
cdef int NB_SUBSCR = next((k for k, op in enumerate(getattr(opcode, "_nb_ops", ())) if op[0] == "NB_SUBSCR"), -1)
cdef frozenset STORES = frozenset([opcode.opmap[name] for name in ("STORE_SUBSCR", "STORE_SLICE")
                                   if name in opcode.opmap])
cdef str DISTRIBUTIONS = os.path.join("scipy", "stats", "_continuous_distns.py")
cdef frozenset PLACES = frozenset(["x", "q", "p", "n", "loc", "scale"])
cdef int STORE_ATTR = opcode.opmap["STORE_ATTR"]


cdef object remember(dict table, object name, object found):
    """Note what was found of a file."""
    if len(table) >= MOST_FILES:
        table.clear()
    table[name] = found
    return found


def files_known():
    """How many files each of the tables has."""
    return len(IS_OWN), len(ORIGINS), len(IS_SOLVER)


cdef bint is_own(object code):
    cdef object name = <object>(<PyCodeObject*>code).co_filename
    cdef object known = IS_OWN.get(name)
    if known is None:
        known = name.startswith(OWN_FOLDERS) and not name.startswith(DEMO) or (
            name.startswith(LIBRARY) and "-packages" + os.sep not in name) or is_passed(name)
        remember(IS_OWN, name, known)
    return known


cdef tuple user_position():
    """(code, line) of the innermost frame outside hoad and NumPy, or (None, 0)."""
    cdef int32_t at = 0
    cdef PyObject* code = user_code(&at)
    if code == NULL:
        return None, 0
    found = <object>code
    Py_DECREF(found)
    return found, line_of(code, at)


cdef PyObject* user_code(int32_t* at) except? NULL:
    """A new reference to the code of that frame, or NULL, and where in it it is: its line takes longer to find."""
    cdef PyObject* frame = <PyObject*>PyEval_GetFrame()
    cdef PyObject* code
    cdef PyObject* back
    Py_XINCREF(frame)
    while frame != NULL:
        code = <PyObject*>PyFrame_GetCode(<PyFrameObject*>frame)
        if not is_own(<object>code):
            at[0] = PyFrame_GetLasti(<PyFrameObject*>frame)
            Py_DECREF(<object>frame)
            return code
        back = <PyObject*>PyFrame_GetBack(<PyFrameObject*>frame)
        Py_DECREF(<object>code)
        Py_DECREF(<object>frame)
        frame = back
    return NULL


cdef int line_of(PyObject* code, int32_t at) noexcept:
    """The line of a place in code."""
    return PyCode_Addr2Line(<PyCodeObject*>code, at)


cdef bint is_part_of(str package, str filename) except -1:
    """Whether a file belongs to a package, if that is imported at all."""
    file = getattr(sys.modules.get(package), "__file__", None)
    return file is not None and filename.startswith(os.path.dirname(os.path.abspath(file)) + os.sep)


cpdef bint is_passed(str filename) except -1:
    """Whether a file is of a package between the user's code and NumPy or hoad."""
    for package in PASSED:
        if is_part_of(package, filename):
            return True
    return False


cpdef bint is_library(str filename) except -1:
    """Whether a file is not a user's: of hoad, NumPy, SciPy, pandas, pyarrow or the standard library."""
    return origin_of(filename) != Origin.USERS


cdef int origin_of(str filename) except -1:
    """Whose a file is, as an `Origin`."""
    cdef object known = ORIGINS.get(filename)
    if known is None:
        known = remember(ORIGINS, filename, find_origin(filename))
    return known


cdef int find_origin(str filename) except -1:
    if filename.startswith(HOAD):
        return Origin.HOADS
    name = standard_name(filename)
    if name in CHANGING_CODE:
        return Origin.CHANGING
    for package in ALIKE:
        if is_part_of(package, filename):
            return Origin.SCIPYS
    return Origin.LIBRARYS if name is not None or filename.startswith(OWN_FOLDERS) else Origin.USERS


cpdef str standard_name(str filename):
    """What a file is called in `CHANGING_CODE`: one of the standard library, or of SciPy; None for any other."""
    if filename.endswith(BACKEND):
        return "scipy.linalg._interpolative_backend"
    if filename.startswith("<frozen "):
        return filename[8:-1]
    if filename.startswith(LIBRARY) and f"-packages{os.sep}" not in filename:
        return filename[len(LIBRARY):].removesuffix(".py").replace(os.sep, ".").removesuffix(".__init__")
    return None


cdef bint is_solver(str filename) except -1:
    """Whether a file is of SciPy's solvers, which go their way by comparing values until it is near enough."""
    cdef object known = IS_SOLVER.get(filename)
    if known is None:
        known = os.path.join("scipy", "optimize", "") in filename and is_part_of("scipy", filename)
        remember(IS_SOLVER, filename, known)
    return known


cpdef bint is_public(str name):
    """Whether a function of a library is one that users call, as far as its name says; a class is by these two."""
    return name in ("__init__", "__call__") or not (name.startswith("_") or "wrap" in name)


cdef tuple user_place():
    """('file.py:line' of the user's code that is running, the name of SciPy's function that it has called or "")."""
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
        if is_part_of("scipy", code.co_filename):
            inner = wrapped_in(frame)
            if inner:
                called = inner
            elif not called or is_public(code.co_name):
                called = name_running(frame)
        frame = frame.f_back
    return f"{os.path.basename(code.co_filename)}:{line}", called


cpdef str here():
    """'file.py:line' of the user's code that is running."""
    return user_place()[0]


cpdef str wrapped_in(object frame):
    """The name of the function of SciPy's that a decorator has put the one that runs around, or ""."""
    cdef str name
    for variable in frame.f_code.co_freevars:
        function = frame.f_locals.get(variable)
        if isinstance(function, FunctionType) and is_public(function.__name__) and (
                function.__qualname__ == function.__name__):    # no method
            name = name_of(function)
            if name.startswith("scipy."):
                return name
    return ""


cdef bint assigns():
    """Whether the Python code that runs is at an assignment to an item, ``a[i] = x``."""
    frame = sys._getframe()
    code = frame.f_code.co_code
    return 0 <= frame.f_lasti < len(code) and code[frame.f_lasti] in STORES


cdef bint indexes():
    """Whether the Python code that runs reads or assigns to an item, ``a[i]``, not in a call."""
    frame = sys._getframe()
    code = frame.f_code.co_code
    cdef int at = frame.f_lasti
    if not 0 <= at < len(code):
        return False
    return code[at] in STORES or code[at] == BINARY_SUBSCR or (code[at] == BINARY_OP and code[at + 1] == NB_SUBSCR)


cdef bint compares_shape(object frame, object x) except -1:
    """Whether a frame is of a distribution of SciPy's and x a parameter in it that is no place and no probability."""
    if not frame.f_code.co_filename.endswith(DISTRIBUTIONS):
        return False
    for name, value in frame.f_locals.items():
        if value is x:
            return name not in PLACES
    return False


cpdef bint trims_polynomial():
    """Whether NumPy's code that runs takes coefficients that are zero off a polynomial."""
    frame = sys._getframe()
    while frame is not None and (is_library(frame.f_code.co_filename) or is_hoads(frame.f_code.co_filename)):
        if frame.f_code.co_name == "trimseq" or (
                frame.f_code.co_name == "__init__" and isinstance(frame.f_locals.get("self"), np.poly1d)):
            return True
        frame = frame.f_back
    return False


cdef bint is_hoads(str filename) except -1:
    return origin_of(filename) == Origin.HOADS


cdef bint stores():
    """Whether the Python code that runs is at an assignment to an item or an attribute, not in a call."""
    frame = sys._getframe()
    code = frame.f_code.co_code
    return not (0 <= frame.f_lasti < len(code)) or code[frame.f_lasti] in STORES or (
        code[frame.f_lasti] == STORE_ATTR)


cdef str public_part(object module):
    """The package that users import from, of the name of a module in it: up to the first part that is private."""
    cdef list parts = (module or "").split(".")
    cdef Py_ssize_t n = 0
    while n < len(parts) and not parts[n].startswith("_"):
        n += 1
    return ".".join(parts[:n])


cdef str full_name(str package, str name):
    """A name with its package, as users write it."""
    return f"{package.replace('numpy', 'np', 1)}.{name}" if package else name


cpdef str name_of(object function):
    """The name that a user knows a function or a class of NumPy or SciPy by."""
    name = function.__name__
    if not isinstance(function, np.ufunc):
        return full_name(public_part(getattr(function, "__module__", None)), name)
    if getattr(np, name, None) is function:
        return f"np.{name}"
    found = getattr(sys.modules.get("scipy.special"), name, None)
    return f"scipy.special.{name}" if function is getattr(found, "__wrapped__", found) else name


cpdef str name_running(object frame):
    """The name that a user knows the function of NumPy or SciPy by that runs in a frame."""
    cdef str name = frame.f_code.co_name
    cdef str module = frame.f_globals["__name__"]
    cdef str package = public_part(module)
    cdef str top = module.partition(".")[0]
    owner = frame.f_locals.get("self")
    if owner is None:
        function = frame.f_globals.get(name)
        return name_of(function) if callable(function) else full_name(package, name)
    for key, x in vars(sys.modules[package]).items() if package in sys.modules else ():
        if x is owner:      # as scipy.stats.norm is
            shown = full_name(package, key)
            break
    else:
        shown = name_of(type(owner))
        for cls in type(owner).__mro__:
            if cls.__module__.partition(".")[0] == top:     # not a class that a user derived
                shown = name_of(cls)
                break
    return shown if name in ("__init__", "__call__") else f"{shown}.{name}"
