"""Looking at the functions that Python enters and calls, without a call of Python's for each."""

cimport cython

import gc
import os
import random
import sys
from collections import deque
from types import FunctionType, MethodType, ModuleType

import numpy as np

from hoad._core.base.where import CHANGING_CODE

from cpython.object cimport PyObject
from cpython.pythread cimport PyThread_get_thread_ident
from cpython.ref cimport Py_DECREF
from libc.stdint cimport uintptr_t

from hoad._core.base.where cimport Origin, here, is_library, origin_of, standard_name

cdef extern from "Python.h":
    ctypedef struct PyFrameObject:
        pass
    PyObject* PyFunction_GET_CODE(PyObject*) noexcept
    PyObject* PyFunction_GET_CLOSURE(PyObject*) noexcept
    PyObject* PyCell_GET(PyObject*) noexcept
    ctypedef int (*Py_tracefunc)(PyObject*, PyFrameObject*, int, PyObject*) except -1
    ctypedef struct PyThreadState:
        Py_tracefunc c_profilefunc
        PyObject* c_profileobj
    enum:
        PyTrace_CALL
        PyTrace_C_CALL
    ctypedef struct PyTypeObject:
        const char* tp_name
        PyTypeObject* tp_base
    ctypedef struct PyMethodDef:
        const char* ml_name
    ctypedef struct PyCFunctionObject:
        PyMethodDef* m_ml
        PyObject* m_self
        PyObject* m_module
    bint PyCFunction_Check(PyObject*) noexcept
    bint PyModule_Check(PyObject*) noexcept
    bint PyType_Check(PyObject*) noexcept
    PyTypeObject* Py_TYPE(PyObject*) noexcept
    PyFrameObject* PyEval_GetFrame() noexcept
    int PySys_AddAuditHook(int (*hook)(const char*, PyObject*, void*) noexcept, void*) except -1
    PyThreadState* PyThreadState_Get() noexcept
    void PyEval_SetProfile(Py_tracefunc function, PyObject* owner) except *
    void* PyFrame_GetCode(PyFrameObject* frame) noexcept

# ---- what gives something else at every call ------------------------------------------------------------------------

# Modules whose functions and classes give something else at every call, or read what is outside the process.
CHANGING = frozenset(
    """io os nt posix random secrets select socket subprocess tempfile time uuid
    _asyncio _ctypes _curses _dbm _gdbm _interpreters _locale _lsprof _multiprocessing _overlapped _posixshmem
    _posixsubprocess _queue _random _scproxy _socket _sqlite3 _ssl _tkinter _tracemalloc _uuid _winapi dbm faulthandler
    fcntl grp mmap msvcrt nis pwd readline resource signal spwd sqlite3 syslog termios tracemalloc winreg""".split()
)
# Functions of these modules that depend on their arguments only.
STEADY = frozenset(
    """_path_normpath _path_splitroot _path_splitroot_ex fspath htonl htons inet_aton inet_ntoa inet_ntop inet_pton
    major makedev minor ntohl ntohs strerror text_encoding alignment byref sizeof waitstatus_to_exitcode""".split()
)
# Functions in C, by module or class, of modules whose other functions depend on their arguments only.
cdef dict CHANGING_IN = {
    "_io": frozenset(["open", "open_code", "peek", "read", "read1", "readall", "readinto", "readinto1", "readline",
                      "readlines", "tell"]),
    "datetime": frozenset(["astimezone", "fromtimestamp", "now", "timestamp", "today", "utcnow"]),
    "functools": frozenset(["cache_clear", "cache_info"]),
    "builtins": frozenset(["open_read_file"]),      # by pybind11: SciPy's Matrix Market files
    "pybind11_builtins": frozenset(["open_read_file"]),
}
# The same where only a call by the user's own code counts: libraries do as they please with these.
cdef dict CHANGING_FOR_USERS = {
    "ContextVar": frozenset(["get"]),
    "_contextvars": frozenset(["copy_context"]),
    "_thread.lock": frozenset(["acquire", "locked"]),
    "_thread.RLock": frozenset(["acquire"]),
    "_thread": frozenset(["get_ident", "get_native_id"]),
    "_weakref": frozenset(["getweakrefcount", "getweakrefs"]),
    "builtins": frozenset(["__subclasses__"]),
    "_decimal": frozenset(["getcontext", "localcontext"]),     # from Python 3.13 on
    "decimal": frozenset(["getcontext", "localcontext"]),
    "gc": frozenset(["get_count", "get_objects", "get_referents", "get_referrers", "get_stats", "get_threshold",
                     "isenabled"]),
    "sys": frozenset(["_current_frames", "getallocatedblocks", "getprofile", "getrecursionlimit", "getrefcount",
                      "getswitchinterval", "gettrace"]),
}
# Streams in memory.
cdef frozenset STEADY_CLASSES = frozenset(["_io.BytesIO", "_io.StringIO"])
# What Python tells audit hooks of, by the first part of its name.
cdef frozenset CHANGING_EVENTS = frozenset(
    """_posixsubprocess _thread _winapi ctypes fcntl ftplib glob http imaplib mmap msvcrt nntplib open os pathlib poplib
    pty resource shutil signal smtplib socket sqlite3 subprocess syslog telnetlib tempfile urllib webbrowser
    winreg""".split()
)
cdef str COPIES_GENERATORS = os.path.join("numpy", "random", "_pickle.py")
# Modules of Python's library that look at clocks, threads and files for what they write or show, which is not a result.
cdef tuple TELLING = ("dataclasses", "logging", "reprlib", "traceback", "warnings")

cdef enum CallKind:
    PURE            # and so is any other call of that function
    PURE_HERE       # for this object, but maybe not for others
    IMPURE
    IMPURE_FOR_USERS

cdef uintptr_t[1024] PURE_CALLS         # functions met before, each at the place that its address gives
cdef int watching = 0                   # how many watches there are, in all threads
cdef bint is_listening = False


cdef CallKind kind_of_call(PyCFunctionObject* function) except *:
    """What to think of a function in C."""
    cdef uintptr_t method = <uintptr_t>function.m_ml
    cdef uintptr_t at = (method >> 4) % 1024
    if PURE_CALLS[at] == method:
        return CallKind.PURE
    found = look_at_call(function)
    if found == CallKind.PURE:
        PURE_CALLS[at] = method
    return found


cdef CallKind look_at_call(PyCFunctionObject* function) except *:
    cdef str name = function.m_ml.ml_name.decode()
    cdef PyObject* x = function.m_self
    if name in STEADY:
        return CallKind.PURE
    if x == NULL or PyModule_Check(x):
        return look_at_name((<str>module_of(function)).partition(".")[0], module_of(function), name)
    if PyType_Check(x):
        found = look_at_method(<PyTypeObject*>x, name)
        if found != CallKind.PURE:
            return found
    return look_at_method(Py_TYPE(x), name)


cdef str module_of(PyCFunctionObject* function):
    """The module of a function in C that is not a method; empty where it says none."""
    found = None if function.m_module == NULL else <object>function.m_module
    return found if isinstance(found, str) else ""


cdef CallKind look_at_method(PyTypeObject* kind, str name) except *:
    """The same for a method, of whichever class that its object is of in C."""
    while kind != NULL:
        full = kind.tp_name.decode()
        if full in STEADY_CLASSES:
            return CallKind.PURE_HERE
        found = look_at_name(full.partition(".")[0] if "." in full else "builtins", full, name)
        if found != CallKind.PURE:
            return found
        kind = kind.tp_base
    return CallKind.PURE


cdef CallKind look_at_name(str module, str full, str name) except *:
    if module in CHANGING or name in CHANGING_IN.get(module, ()):
        return CallKind.IMPURE
    if name in CHANGING_FOR_USERS.get(module, ()) or name in CHANGING_FOR_USERS.get(full, ()):
        return CallKind.IMPURE_FOR_USERS
    return CallKind.PURE


cdef str name_of_call(PyCFunctionObject* function):
    """What users call a function in C."""
    cdef str name = function.m_ml.ml_name.decode()
    cdef PyObject* x = function.m_self
    if x == NULL or PyModule_Check(x):
        module = module_of(function)
        return f"{'os' if module in ('posix', 'nt') else module.lstrip('_')}.{name}"
    kind = <type>x if PyType_Check(x) else type(<object>x)
    return f"{kind.__qualname__}.{name}"


cdef bint makes_generator(object frame) except -1:
    """Whether a frame makes a random generator, by a seed or a copy: it is given another state than it has at first."""
    code = frame.f_code
    if code.co_name == "check_random_state":
        return origin_of(code.co_filename) == Origin.SCIPYS and frame.f_locals.get("seed") is not None
    return code.co_name.endswith("_ctor") and code.co_filename.endswith(COPIES_GENERATORS)


cdef bint is_quiet(object frame) except -1:
    """Whether what happens in a frame is not a result of the user's function: hoad's work, an import, what is told.

    An import is once, and what it reads is the code.
    """
    while frame is not None:
        code = frame.f_code
        origin = origin_of(code.co_filename)
        if origin == Origin.HOADS:
            return True
        if origin == Origin.USERS and code.co_name != "<module>":
            return False
        if makes_generator(frame):
            return True
        if origin != Origin.USERS:
            name = standard_name(code.co_filename)
            if name is not None and (name.startswith(TELLING) or (
                    name.startswith("importlib._bootstrap") and code.co_name == "_find_and_load")):
                return True
        frame = frame.f_back
    return False


cdef bint is_imported(object frame) except -1:
    """Whether a frame runs while a module is imported, which runs code of hooks and of modules."""
    while frame is not None:
        if frame.f_code.co_name == "_find_and_load" and frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


cdef object state_of(object state):
    """The state of NumPy's global generator, to be compared."""
    if isinstance(state, dict):
        return [(key, state_of(x)) for key, x in state.items()]
    return state.tobytes() if isinstance(state, np.ndarray) else state


cpdef object state_of_generator(x):
    """The state of one of Python's or NumPy's generators of random numbers, to be compared."""
    if isinstance(x, random.SystemRandom):      # has none, and asks the system
        return None
    if isinstance(x, random.Random):
        return random.Random.getstate(x)
    if hasattr(x, "get_state"):
        return state_of(x.get_state(legacy=False))
    return state_of(getattr(x, "bit_generator", x).state)


cdef object global_state():
    """The same, None where it is not loaded yet."""
    module = sys.modules.get("numpy.random.mtrand")
    return None if module is None else state_of_generator(module._rand)


cdef int listen() except -1:
    """Have Python tell of files, processes and the like, for as long as it runs: an audit hook cannot be taken back."""
    global is_listening
    if not is_listening:
        PySys_AddAuditHook(heard, NULL)
        is_listening = True
    return 0


cdef int heard(const char* event, PyObject* arguments, void* _) noexcept:
    """What Python tells, in any thread: noted by the watches of this one, unless it collects garbage."""
    cdef PyThreadState* state
    cdef CallWatch watch
    if watching == 0:
        return 0
    state = PyThreadState_Get()
    if state.c_profilefunc != <Py_tracefunc>entered:
        return 0
    watch = <CallWatch>state.c_profileobj
    name = event.decode()
    if name.partition(".")[0] in CHANGING_EVENTS or name == "builtins.input":
        while True:
            if not watch.collecting:
                watch.note(f"it calls {name}", <object><PyObject*>PyEval_GetFrame())
            if watch.before != <Py_tracefunc>entered:
                break
            watch = <CallWatch>watch.owner
    return 0


# ---- what is entered ------------------------------------------------------------------------------------------------

cdef class EnteredCode:
    """Is told of each piece of the user's code before it runs for the first time."""

    cdef bint knows(self, code) except -1:
        """Whether it can tell how code was come to."""
        return False

    cdef int enter(self, code) except -1:
        """Code of the user's is entered."""

    cdef bint asks_for(self, code) except -1:
        """Whether it counts that code of Python's library is entered."""
        return False

    cdef int enter_library(self) except -1:
        """Such code is entered."""


@cython.final
cdef class CallWatch:
    """While it is the profile function of a thread, tells of code that is entered, and notes what nobody knows of.

    What a library calls is its own: rules, primitives. What the garbage collector enters is nobody's: it runs where
    it happens to run, whatever was called there. A profiler that is there already goes on.

    It notes, too, what gives something else at every call, whoever calls it: functions in C, of which nearly all of
    Python's library makes its own; what Python tells audit hooks; code of `CHANGING_CODE`; and whether NumPy's global
    generator was drawn from, which only SciPy does by itself.
    """

    cdef EnteredCode listener   # who is told
    cdef void* known            # the code that was found there last
    cdef readonly str unknown   # the name of what was noted last
    cdef readonly str impure    # what gives something else at every call, and where it was met first
    cdef readonly bint is_users     # whether code of the user's called that, and no library's
    cdef readonly bint loads    # whether NumPy's generators were loaded: was one drawn from?
    cdef readonly dict appended     # id of a deque: how often one item was put at either end
    cdef bint meets_scipy
    cdef bint noting
    cdef object drawn           # the state of the global generator when SciPy was met first
    cdef size_t thread          # the one that is watched
    cdef bint collecting        # whether that thread collects garbage now
    cdef Py_tracefunc before    # the profile function before this one, and what it was given
    cdef object owner

    def __init__(self, EnteredCode listener not None):
        self.listener = listener
        self.appended = {}

    def __enter__(self):
        global watching
        cdef PyThreadState* state = PyThreadState_Get()
        self.thread = <size_t>PyThread_get_thread_ident()
        self.before = state.c_profilefunc
        self.owner = None if state.c_profileobj == NULL else <object>state.c_profileobj
        gc.callbacks.append(self.ended)         # first: a collection may begin at any of these lines, and has to end
        gc.callbacks.insert(0, self.began)      # others' callbacks are not the function's either
        listen()
        watching += 1
        PyEval_SetProfile(entered, <PyObject*>self)
        return self

    def __exit__(self, *_):
        global watching
        watching -= 1
        for callback in (self.began, self.ended):
            if callback in gc.callbacks:
                gc.callbacks.remove(callback)
        if PyThreadState_Get().c_profileobj == <PyObject*>self:
            self.put_back()
        self.is_steady()

    def is_steady(self):
        """Whether nothing was met so far that gives something else at every call."""
        if self.meets_scipy and self.impure is None:
            state = global_state()
            self.loads = self.drawn is None and state is not None
            if self.drawn is not None and self.drawn != state:
                self.impure = "it draws from NumPy's global random generator"
        return self.impure is None and not self.loads

    def expect(self, before, now):
        """Take a draw from the global generator, from one state to another, for the user's, which is known."""
        if self.drawn is not None and self.drawn == before:
            self.drawn = now

    cdef int put_back(self) except -1:
        """Set the profile function before this one."""
        PyEval_SetProfile(self.before, self.owner_before())
        return 0

    cdef PyObject* owner_before(self) noexcept:
        return NULL if self.before == NULL else <PyObject*>self.owner

    cdef int go_on(self) except -1:
        """Be the profile function again, unless somebody has set another one since it was put back."""
        cdef PyThreadState* state = PyThreadState_Get()
        if state.c_profilefunc == self.before and state.c_profileobj == self.owner_before():
            PyEval_SetProfile(entered, <PyObject*>self)
        return 0

    def began(self, phase, info):
        """What the garbage collector calls first."""
        if phase == "start" and <size_t>PyThread_get_thread_ident() == self.thread:
            self.collecting = True

    def ended(self, phase, info):
        """What it calls last."""
        if phase == "stop" and <size_t>PyThread_get_thread_ident() == self.thread:
            self.collecting = False

    def __call__(self, frame, event, argument):
        """What Python calls where somebody put this back, as Python knows it."""
        PyEval_SetProfile(entered, <PyObject*>self)
        if event == "call" and not self.collecting:
            self.look(<PyFrameObject*>frame)
        elif event == "c_call" and not self.collecting:
            self.look_at_call(<PyObject*>frame, <PyObject*>argument)

    cdef int look(self, PyFrameObject* frame) except -1:
        """Note the code of a frame, if it is unknown."""
        code = <object><PyObject*>PyFrame_GetCode(frame)
        Py_DECREF(code)
        if <void*>code == self.known:
            return 0
        if <size_t><PyObject*>code in self.listener.codes:
            self.known = <void*>code
            return 0
        origin = origin_of(code.co_filename)
        if origin == Origin.SCIPYS:
            self.meet_scipy()
        elif origin == Origin.CHANGING:
            self.look_at_library(code, <object>frame)
        elif origin == Origin.LIBRARYS:
            self.enter_library(code, <object>frame)
        if origin != Origin.USERS:
            return 0
        if self.listener.knows(code):
            self.listener.enter(code)
            self.known = <void*>code
            return 0
        above = (<object>frame).f_back
        if (above is None or not is_library(above.f_code.co_filename)) and not is_imported(above):
            self.unknown = getattr(code, "co_qualname", code.co_name)
        return 0

    cdef int enter_library(self, code, frame) except -1:
        """Tell of code of Python's library, unless hoad calls it."""
        if not self.listener.asks_for(code):
            return 0
        while frame is not None and origin_of(frame.f_code.co_filename) == Origin.LIBRARYS:
            frame = frame.f_back
        if frame is not None and origin_of(frame.f_code.co_filename) != Origin.HOADS:
            self.listener.enter_library()
        return 0

    cdef int look_at_call(self, PyObject* frame, PyObject* function) except -1:
        """Note a function in C that is called in a frame, if it gives something else at every call."""
        cdef PyObject* owner
        if not PyCFunction_Check(function):
            return 0
        owner = (<PyCFunctionObject*>function).m_self
        if owner != NULL and Py_TYPE(owner) == <PyTypeObject*>deque:
            self.note_appended(owner, (<PyCFunctionObject*>function).m_ml.ml_name)
        found = kind_of_call(<PyCFunctionObject*>function)
        if found == CallKind.IMPURE or (
                found == CallKind.IMPURE_FOR_USERS and not is_library((<object>frame).f_code.co_filename)):
            self.note(f"it calls {name_of_call(<PyCFunctionObject*>function)}", <object>frame)
        return 0

    cdef int note_appended(self, PyObject* owner, const char* name) except -1:
        """Count what is put into a deque, which may drop as much at its other end."""
        if name.startswith(b"append"):
            self.appended[<size_t>owner] = self.appended.get(<size_t>owner, 0) + 1
        return 0

    cdef int look_at_library(self, code, frame) except -1:
        """The same for code of `CHANGING_CODE` that is entered."""
        name = standard_name(code.co_filename)
        changing = CHANGING_CODE[name]
        if changing is not None and code.co_name not in changing:
            return 0
        if name == "importlib" and frame.f_back is not None:
            if origin_of(frame.f_back.f_code.co_filename) == Origin.SCIPYS:
                return 0
        self.note(f"it calls {name}.{getattr(code, 'co_qualname', code.co_name)}", frame)
        return 0

    cdef int meet_scipy(self) except -1:
        """Remember the state of NumPy's global generator, before SciPy can draw from it."""
        if not self.meets_scipy:
            self.meets_scipy = True
            self.drawn = global_state()
        return 0

    cdef int note(self, str what, frame) except -1:
        """Note what gives something else at every call."""
        if self.impure is None and not self.noting:
            self.noting = True      # what is asked here is told, too
            try:
                if not is_quiet(frame):
                    self.impure = f"{what} at {here()}"
                    self.is_users = origin_of(frame.f_code.co_filename) == Origin.USERS
            finally:
                self.noting = False
        return 0


cpdef object unwatched(object function, tuple args, dict keywords=None):
    """What a function gives, whatever it calls: hoad's own work on what was recorded, and what outlives the call.

    Programs are made once of what was recorded already, and rules give templates once for all calls, so that a look at
    them would find something the first time only. And where many functions of hoad's run, to look at each takes longer
    than they do. Nothing of the user's may run within but rules, which are a library's.
    """
    cdef PyThreadState* state = PyThreadState_Get()
    cdef dict given = {} if keywords is None else keywords
    if state.c_profilefunc != <Py_tracefunc>entered:
        return function(*args, **given)
    watch = <CallWatch>state.c_profileobj
    watch.put_back()
    try:
        return function(*args, **given)
    finally:
        watch.go_on()


cdef int entered(PyObject* owner, PyFrameObject* frame, int event, PyObject* argument) except -1:
    cdef CallWatch watch = <CallWatch>owner
    if watch.before != NULL:
        watch.before(<PyObject*>watch.owner, frame, event, argument)
    if watch.collecting:
        return 0
    if event == PyTrace_CALL:
        watch.look(frame)
    elif event == PyTrace_C_CALL:
        watch.look_at_call(<PyObject*>frame, argument)
    return 0


# ---- which function it is -------------------------------------------------------------------------------------------

cdef tuple CLASSES = (type, ModuleType)
cdef enum:
    DEEPEST = 4     # functions in cells of functions in cells


cpdef object call_key(f, args, frozenset plain):
    """What tells a call of a function from others that ask for other things.

    It is made of identities: of the code, of what lies in cells or is called, and of the classes of arguments, but for
    those whose identities are `plain`.
    """
    cdef list classes = None
    key = key_of(f, 0)
    for x in args:
        if id_of(type(x)) not in plain:
            classes = [key] if classes is None else classes
            classes.append(id_of(type(x)))
    return key if classes is None else tuple(classes)


cdef inline object id_of(object x):
    return <uintptr_t><PyObject*>x


cdef object key_of(f, int depth):
    cdef PyObject* closure
    cdef PyObject* held
    cdef list key
    if type(f) is FunctionType:
        closure = PyFunction_GET_CLOSURE(<PyObject*>f)
        code = id_of(<object>PyFunction_GET_CODE(<PyObject*>f))
        if closure == NULL or depth == DEEPEST:
            return code
        key = [code]
        for cell in <tuple>closure:
            held = PyCell_GET(<PyObject*>cell)
            key.append(key_of(<object>held, depth + 1) if held != NULL else None)
        return tuple(key)
    if type(f) is MethodType:
        return key_of(f.__func__, depth), id_of(type(f.__self__))
    return id_of(f if issubclass(type(f), CLASSES) else type(f))


def asks_nothing(f, args not None, frozenset plain not None, dict table not None):
    """Whether a table by `call_key` has (what f leads to, None, ...), whose globals still stand for the same."""
    known = table.get(call_key(f, args, plain))
    if known is None or (<tuple>known)[1] is not None:
        return False
    cdef list names = (<tuple>known)[0].names
    return not names or stand_for(globals_of(f), names)


cpdef dict globals_of(f):
    """The globals of a function, of a method, or of what is called of an object."""
    if type(f) is not FunctionType:
        f = f.__func__ if type(f) is MethodType else type(f).__call__
    found = getattr(f, "__globals__", None)
    return found if type(found) is dict else {}


cpdef bint stand_for(dict known, list names) except -1:
    """Whether names in a dict stand for what was found there, which weak references beside them tell."""
    for name, found in names:
        if known.get(name) is not found():
            return False
    return True
