"""Functions that find other values under the names of their globals, for as long as they are adopted.

The interpreter asks for each frame, before it is evaluated, where its globals are (PEP 523). The functions, their
modules and classes stay as they are: only the frames of this thread see other values, and whatever reaches a function
(a method of a class, a callback of C, a closure) reaches it adopted.
"""

import builtins
import dis
import opcode
import os
import sys
import types

import numpy as np

cimport cython

from cpython.dict cimport PyDict_GetItemWithError, PyDict_SetItem, PyDict_Size
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF, Py_XDECREF

from hoad._core.base.where cimport Origin, origin_of

from hoad.errors import ArgumentError

cdef extern from "frame_globals.h":
    ctypedef struct FramePlaces:
        PyObject* code
        PyObject* globals
        PyObject* builtins
        PyObject* function
        PyObject** cells
        int calls
        int writes
    ctypedef void (*PrepareFrame)(FramePlaces* places) noexcept
    ctypedef void (*FinishFrame)(PyObject* globals) noexcept
    PrepareFrame frame_globals_prepare
    FinishFrame frame_globals_finish
    PyObject* frame_globals_scope
    int frame_globals_depth
    PyObject* frame_globals_begin(PyObject* scope) noexcept
    void frame_globals_end(PyObject* before) noexcept
    void frame_globals_put(PyObject** place, PyObject* value) noexcept
    Py_ssize_t PyUnstable_Eval_RequestCodeExtraIndex(void (*free)(void*)) except -1
    int PyUnstable_Code_GetExtra(PyObject* code, Py_ssize_t index, void** extra) except -1
    int PyUnstable_Code_SetExtra(PyObject* code, Py_ssize_t index, void* extra) except -1

cdef extern from "Python.h":
    ctypedef struct PyFrameObject
    PyFrameObject* PyEval_GetFrame() noexcept
    PyObject* PyFunction_GetClosure(PyObject* function) noexcept
    bint PyModule_Check(object module)
    PyObject* PyModule_GetDict(object module) noexcept
    int VERSION "PY_VERSION_HEX"
    void PyErr_Fetch(PyObject**, PyObject**, PyObject**) noexcept
    void PyErr_Restore(PyObject*, PyObject*, PyObject*) noexcept
    int CO_OPTIMIZED

# What to do with code, as is kept in it; 0 is unknown.
cdef enum Treatment:
    LEFT = 1            # of hoad, NumPy, the standard library: it is evaluated as it is, and what it calls is adopted
    APART               # a module: what runs while it is imported is not adopted
    BODY                # of a class, or text that is evaluated: the functions that it makes find the module's globals
    ADOPTED
    WRITES              # adopted, and it assigns to globals

cdef enum:
    MOST_CODES = 4096

cdef bint FRAMES_HOLD_FUNCTIONS = sys.version_info < (3, 14)    # whose globals are exchanged; or they hold the globals
cdef dict opmap = opcode.opmap
cdef Py_ssize_t EXTRA = PyUnstable_Eval_RequestCodeExtraIndex(NULL)
# Value -> what is found in its place: (the value, which stays alive with it; the other), by the value's address.
cdef dict STAND_INS = {}
cdef dict CALLED = {}           # the same of classes, for code that calls them
cdef dict ADOPTED_GLOBALS = {}  # address of the globals of a module -> what is found in them
cdef dict PLAIN_BUILTINS = vars(builtins)
cdef dict BUILTINS = AdoptedBuiltins(PLAIN_BUILTINS)    # with the `__import__` of what is adopted
cdef dict ORIGINALS = {}        # the other way round
cdef list KEPT = []             # what was found before
cdef dict ASSIGNED = {}         # address of code -> (the code, which stays alive with it; free variables it assigns to)
# Code of NumPy that makes arrays of what it is given, and that NumPy does not let be overridden.
cdef frozenset OF_NUMPY = frozenset([np.asarray_chkfinite.__code__, *[
    x.__code__ for x in vars(np.vectorize).values() if isinstance(x, types.FunctionType)]])
cdef str POLYNOMIALS = os.path.join(os.path.dirname(np.__file__), "polynomial") + os.sep      # the same
cdef dict MODULES = {}          # address of what is found in the place of a module -> the module
# What compiled code reads in the globals of a frame: imports, warnings.
cdef str WARNED = "__warningregistry__"
cdef tuple OF_MODULES = ("__name__", "__package__", "__spec__", "__loader__", "__file__", "__path__", "__builtins__",
                         WARNED)
cdef int LOAD_GLOBAL = opmap["LOAD_GLOBAL"], LOAD_ATTR = opmap["LOAD_ATTR"], LOAD_METHOD = opmap.get("LOAD_METHOD", -1)
cdef int EXTENDED_ARG = opmap["EXTENDED_ARG"]
cdef int PUSH_NULL = opmap.get("PUSH_NULL", -1)
cdef int STORE_GLOBAL = opmap["STORE_GLOBAL"], DELETE_GLOBAL = opmap["DELETE_GLOBAL"]
cdef frozenset STORES = frozenset([opmap[name] for name in ("STORE_SUBSCR", "STORE_SLICE") if name in opmap])
cdef int COMPARE_OP = opmap["COMPARE_OP"], CONTAINS_OP = opmap["CONTAINS_OP"]
cdef frozenset LITERALS = frozenset([opmap[name] for name in ("LOAD_CONST", "LOAD_SMALL_INT") if name in opmap])
cdef tuple LOADS = ("LOAD_FAST", "LOAD_GLOBAL", "LOAD_DEREF", "LOAD_NAME")
cdef frozenset NAMES = frozenset([op for name, op in opmap.items() if name.startswith(LOADS)])
cdef frozenset WRITERS = frozenset(
    ["at", "copyto", "fill", "fill_diagonal", "place", "put", "put_along_axis", "putmask"])
cdef str SCIPYS = f"{os.sep}scipy{os.sep}"


def stand_in(value, other):
    """Let adopted code find another value in the place of one."""
    KEPT.append(STAND_INS.get(<size_t><PyObject*>value))    # ORIGINALS goes by its address
    STAND_INS[<size_t><PyObject*>value] = (value, other)
    ORIGINALS[<size_t><PyObject*>other] = value


def call_instead(cls, function):
    """Let adopted code that calls a class call a function; everywhere else the class is itself."""
    CALLED[<size_t><PyObject*>cls] = (cls, function)


def import_with(function):
    """Let `import` in adopted code call this function in the place of `__import__`."""
    dict.__setitem__(BUILTINS, "__import__", function)


cpdef object found_for(value):
    """What adopted code finds in the place of a value."""
    cdef PyObject* held = PyDict_GetItemWithError(STAND_INS, <size_t><PyObject*>value)
    return value if held == NULL else (<tuple>held)[1]


cdef object found_in(value):
    """The same for the value of a global name, or of a module, which the instruction that runs loads."""
    cdef PyObject* held
    cdef object key = <size_t><PyObject*>value
    if frame_globals_depth <= 0:        # in a function that was made in adopted code, and is kept
        return value
    if isinstance(value, type):
        held = PyDict_GetItemWithError(CALLED, key)
        if held != NULL and loads_to_call(<object>PyEval_GetFrame()):
            return (<tuple>held)[1]
        return value
    held = PyDict_GetItemWithError(STAND_INS, key)
    return value if held == NULL else (<tuple>held)[1]


cdef bint loads_to_call(frame) except -1:
    """Whether what the running instruction of a frame loads is called."""
    cdef bytes code = frame.f_code.co_code
    cdef int at = frame.f_lasti
    cdef int op
    while code[at] == EXTENDED_ARG:     # where 3.10 says that the instruction is
        at += 2
    op = code[at]
    if op == LOAD_METHOD:
        return True
    if op == LOAD_GLOBAL:
        return code[at + 1] & 1 if VERSION >= 0x030B0000 else at in calls_in(frame.f_code)
    if op != LOAD_ATTR or VERSION < 0x030B0000:
        return False
    if VERSION >= 0x030C0000 and code[at + 1] & 1:
        return True
    after, before = beside(code, at, 2), beside(code, at, -2)
    if code[after] == LOAD_ATTR or code[after] == LOAD_METHOD:      # of something in what is loaded
        return False
    return (code[after] == PUSH_NULL or (code[before] == LOAD_GLOBAL and code[before + 1] & 1)
            or code[beside(code, before, -2)] == PUSH_NULL)


cdef int beside(bytes code, int at, int step) except -1:
    """Where the instruction after another one, or before it, stands."""
    at += step
    while 0 < at < len(code) - 2 and code[at] == 0:     # caches
        at += step
    return max(at, 0)


cdef class AdoptedBuiltins(dict):
    """Python's builtin names, as they are now, with another `__import__`."""

    def __getitem__(self, name):
        return dict.__getitem__(self, name) if name == "__import__" else PLAIN_BUILTINS[name]


cdef class AdoptedGlobals(dict):
    """The globals of a module as adopted code finds them; what that writes is written to the module."""

    cdef dict original
    cdef object builtins    # what is found of names that are not there
    cdef bint kept          # in the table
    cdef Py_ssize_t own     # how many entries there are that compiled code reads here

    def __getitem__(self, name):
        cdef PyObject* found
        if PyDict_Size(self) != self.own:
            self.write_through()
        found = PyDict_GetItemWithError(self.original, name)
        return found_in(self.builtins[name] if found == NULL else <object>found)

    def __setitem__(self, name, value):
        self.original[name] = value

    def __delitem__(self, name):
        del self.original[name]

    def __contains__(self, name):
        return name in self.original

    def __iter__(self):
        return iter(self.original)

    def __len__(self):
        return len(self.original)

    def __eq__(self, other):
        return self.original == other

    def __or__(self, other):
        return dict(self.original) | dict(other)

    def get(self, key, default=None, /):
        return self.original.get(key, default)

    def keys(self):
        return self.original.keys()

    def values(self):
        return self.original.values()

    def items(self):
        return self.original.items()

    def copy(self):
        return self.original.copy()

    def setdefault(self, key, default=None, /):
        return self.original.setdefault(key, default)

    def pop(self, *args):
        return self.original.pop(*args)

    def update(self, *args, **kwargs):
        self.original.update(*args, **kwargs)

    cdef int write_through(self) except -1:
        """Write to the module what STORE_GLOBAL, which knows dicts only, has put here; and what a warning has."""
        for name, value in list(dict.items(self)):
            if name == WARNED:
                PyDict_SetItem(self, name, self.original.setdefault(name, value))
            elif name not in OF_MODULES:
                self.original[name] = ORIGINALS.get(<size_t><PyObject*>value, value)
                dict.__delitem__(self, name)
        self.own = PyDict_Size(self)
        return 0


cdef AdoptedGlobals adopted_globals(dict original, object own_builtins):
    """What is found in the globals of a module, which is kept, or in a dict that code has been given for globals."""
    cdef AdoptedGlobals made
    cdef object key = <size_t><PyObject*>original
    cdef PyObject* found = PyDict_GetItemWithError(ADOPTED_GLOBALS, key)
    if found != NULL:
        return <AdoptedGlobals>found
    made = AdoptedGlobals()
    made.original = original
    made.builtins = PLAIN_BUILTINS if own_builtins is BUILTINS else own_builtins
    for name in OF_MODULES:
        if name in original:
            PyDict_SetItem(made, name, original[name])
    made.own = PyDict_Size(made)
    made.kept = not FRAMES_HOLD_FUNCTIONS or is_of_module(original)
    if made.kept:
        ADOPTED_GLOBALS[key] = made
    return made


cdef bint is_of_module(dict space) except -1:
    module = sys.modules.get(space.get("__name__"))
    return PyModule_Check(module) and PyModule_GetDict(module) == <PyObject*>space


def original_of(space):
    """The globals of a module, as the module has them."""
    return (<AdoptedGlobals>space).original if type(space) is AdoptedGlobals else space


class AdoptedModule(types.ModuleType):
    """A module as adopted code finds it, whatever it holds by then: what that writes is written to the module."""

    def __init__(self, module):
        super().__init__(module.__name__)
        MODULES[<size_t><PyObject*>self] = module

    def __getattribute__(self, name):
        return found_in(getattr(MODULES[<size_t><PyObject*>self], name))

    def __setattr__(self, name, value):
        setattr(MODULES[<size_t><PyObject*>self], name, ORIGINALS.get(<size_t><PyObject*>value, value))

    def __delattr__(self, name):
        delattr(MODULES[<size_t><PyObject*>self], name)

    def __eq__(self, other):
        return MODULES[<size_t><PyObject*>self] is ORIGINALS.get(<size_t><PyObject*>other, other)

    def __hash__(self):
        return hash(MODULES[<size_t><PyObject*>self])

    def __dir__(self):
        return dir(MODULES[<size_t><PyObject*>self])


# ---- code -----------------------------------------------------------------------------------------------------------

cdef int treatment_of(object code) except -1:
    """What to do with code that is met for the first time."""
    cdef int origin
    if code.co_name == "<module>":
        return Treatment.BODY if code.co_filename == "<string>" else Treatment.APART
    origin = origin_of(code.co_filename)
    if code in OF_NUMPY or code.co_filename.startswith(POLYNOMIALS):
        return Treatment.ADOPTED
    if not (origin == Origin.USERS or (origin == Origin.SCIPYS and SCIPYS in code.co_filename)):
        return Treatment.LEFT
    if not code.co_flags & CO_OPTIMIZED:
        return Treatment.BODY
    return adopted_code(code.co_code)


cdef int adopted_code(bytes instructions) except -1:
    """The same for a function's instructions."""
    cdef Py_ssize_t k
    cdef int found = Treatment.ADOPTED
    for k in range(0, len(instructions), 2):
        if instructions[k] == DELETE_GLOBAL:
            return Treatment.LEFT
        if instructions[k] == STORE_GLOBAL:
            found = Treatment.WRITES
    return found


cdef dict CALLS = {}        # code -> where it loads a global that it calls


cdef frozenset calls_in(code):
    """Where code loads a global that it calls, by the depth of the stack that the call takes it from."""
    cdef list instructions
    cdef int depth
    if id(code) not in CALLS:
        found = set()
        instructions = list(dis.get_instructions(code))
        for k, load in enumerate(instructions):
            if load.opname == "LOAD_GLOBAL":
                depth = 0
                for x in instructions[k + 1:]:
                    if x.opname.startswith("CALL_FUNCTION") and depth == x.arg + (x.opname == "CALL_FUNCTION_KW"):
                        found.add(load.offset)
                    depth += dis.stack_effect(x.opcode, x.arg)
                    if depth < 0 or "JUMP" in x.opname or found and load.offset in found:
                        break
        CALLS[id(code)] = (code, frozenset(found))
    return CALLS[id(code)][1]


def meets_kept(frame):
    """Whether adopted code compares, or looks for, something in a frame that is not a number in the code itself."""
    cdef bytes code
    cdef int at, before
    if frame_globals_depth <= 0 or type(frame.f_globals) is not AdoptedGlobals:
        return False
    code, at = frame.f_code.co_code, frame.f_lasti
    if code[at] != COMPARE_OP and code[at] != CONTAINS_OP:
        return False
    before = beside(code, at, -2)
    if code[before] in LITERALS:
        return False
    return code[before] not in NAMES or code[beside(code, before, -2)] not in LITERALS


def writes_items(frame):
    """Whether the code of a frame, or of those that led to it, writes to items of arrays."""
    for _ in range(4):      # of packages that put functions of their own around NumPy's
        if frame is None:
            return False
        code = frame.f_code
        if not (STORES.isdisjoint(code.co_code[::2]) and WRITERS.isdisjoint(code.co_names)):
            return True
        frame = frame.f_back
    return False


# ---- frames ---------------------------------------------------------------------------------------------------------

cdef void prepare(FramePlaces* places) noexcept:
    """Show a frame the globals that adopted code finds."""
    try:
        show(places)
    except RecursionError:      # the frame itself is too deep, too, and raises it
        pass


cdef int show(FramePlaces* places) except -1:
    cdef void* extra = NULL
    PyUnstable_Code_GetExtra(places.code, EXTRA, &extra)
    cdef int how = <int><size_t>extra
    if how == 0:
        how = treatment_of(<object>places.code)
        PyUnstable_Code_SetExtra(places.code, EXTRA, <void*><size_t>how)
    if how == Treatment.LEFT:
        return 0
    if how == Treatment.APART or how == Treatment.BODY:
        places.calls = how == Treatment.BODY
        if type(<object>places.globals) is AdoptedGlobals:
            frame_globals_put(&places.globals, <PyObject*>(<AdoptedGlobals>places.globals).original)
    elif type(<object>places.globals) is AdoptedGlobals or is_adopted(<dict>places.globals):
        adopt(places, how)
    return 0


cdef int adopt(FramePlaces* places, int how) except -1:
    cdef AdoptedGlobals found = None
    cdef bint to_hold = False
    if type(<object>places.globals) is dict:
        found = adopted_globals(<dict>places.globals, <object>places.builtins)
        to_hold = not found.kept
    if places.cells != NULL:
        exchange_cells(places.cells, <object>places.code)
    elif places.function != NULL and (to_hold or PyFunction_GetClosure(places.function) != NULL):
        places.function = with_other_variables(places.function, found if to_hold else None)
    if found is not None:       # held by the table of modules, by the frame, or by its function
        frame_globals_put(&places.globals, <PyObject*>found)
    if <object>places.builtins is PLAIN_BUILTINS:
        frame_globals_put(&places.builtins, <PyObject*>BUILTINS)
    if how == Treatment.WRITES:
        places.writes = True
        Py_INCREF(<object>places.globals)       # until `finish`
    return 0


cdef bint is_adopted(dict space) except -1:
    """Whether a module belongs to one of the packages that this thread adopts."""
    cdef str name
    if frame_globals_scope == NULL:
        return True
    name = space.get("__name__") or ""
    for package in <tuple>frame_globals_scope:
        if name == package or name.startswith(package + "."):
            return True
    return False


cdef PyObject* with_other_variables(PyObject* place, AdoptedGlobals space) except NULL:
    """A function whose free variables hold what adopted code finds in the place of what they hold.

    It holds these globals, too, which no table keeps.
    """
    cdef object function = <object>place
    cdef object code = function.__code__
    cdef list cells = None
    cdef Py_ssize_t k
    for k, cell in enumerate(function.__closure__ or ()):
        other = other_cell(cell, code, code.co_freevars[k])
        if other is not cell:
            if cells is None:
                cells = list(function.__closure__)
            cells[k] = other
    if cells is None and space is None:
        return place
    made = types.FunctionType(code, function.__globals__ if space is None else space, function.__name__,
                              function.__defaults__, function.__closure__ if cells is None else tuple(cells))
    Py_INCREF(made)
    return <PyObject*>made


cdef int exchange_cells(PyObject** cells, object code) except -1:
    """Put the cells of what adopted code finds into the places of a frame's free variables."""
    cdef Py_ssize_t k
    cdef PyObject* before
    for k, name in enumerate(code.co_freevars):
        before = cells[k]
        if before == NULL:
            continue
        other = other_cell(<object>before, code, name)
        if <PyObject*>other != before:
            Py_INCREF(other)
            cells[k] = <PyObject*>other
            Py_DECREF(<object>before)
    return 0


cdef object other_cell(object cell, object code, str name):
    """A cell that holds what adopted code finds in the place of what a free variable of code holds."""
    try:
        held = cell.cell_contents
    except ValueError:
        return cell
    found = found_for(held)
    return cell if found is held or assigns_to(code, name) else types.CellType(found)


cdef bint assigns_to(object code, str name) except -1:
    """Whether code, or the code of a function that it makes, assigns to a free variable."""
    cdef object key = <size_t><PyObject*>code
    cdef tuple known = ASSIGNED.get(key)
    if known is None:
        if len(ASSIGNED) >= MOST_CODES:
            ASSIGNED.clear()
        known = ASSIGNED[key] = (code, assigned_in(code))
    return name in <frozenset>known[1]


cdef frozenset assigned_in(object code):
    """The free variables that code, or the code of a function that it makes, assigns to."""
    cdef set found = {x.argval for x in dis.get_instructions(code)
                      if x.opname == "STORE_DEREF" or x.opname == "DELETE_DEREF"}
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            found |= assigned_in(inner)
    return frozenset(found & set(code.co_freevars))


cdef void finish(PyObject* space) noexcept:
    """Write to the module what a frame has assigned to globals, whatever it raised."""
    cdef PyObject* kind
    cdef PyObject* error
    cdef PyObject* trace
    PyErr_Fetch(&kind, &error, &trace)
    (<AdoptedGlobals>space).write_through()
    Py_DECREF(<object>space)
    PyErr_Restore(kind, error, trace)


frame_globals_prepare = prepare
frame_globals_finish = finish


cdef bint FITS = False


cdef int check_fit() except -1:
    """Raise unless this interpreter's frames are those that are known here, by a function that finds another value."""
    global FITS
    value, other = object(), object()
    version = sys.version_info[:2]
    if sys.implementation.name != "cpython" or not (3, 10) <= version <= (3, 14):
        raise ArgumentError(
            f"adopt needs CPython 3.10 to 3.14, not {sys.implementation.name} {sys.version.split()[0]}.")
    FITS = True
    stand_in(value, other)
    probe = eval("lambda: value", {"value": value})
    with Adopting():
        FITS = probe() is other
    del STAND_INS[<size_t><PyObject*>value], ORIGINALS[<size_t><PyObject*>other]
    if not FITS:
        raise ArgumentError("adopt cannot show functions other values: another tool evaluates frames in this process.")
    return 0


# ---- threads --------------------------------------------------------------------------------------------------------

@cython.final
cdef class Adopting:
    """While it is entered, this thread adopts: all code but that of libraries, or the code of some packages."""

    cdef object packages
    cdef list before        # what was adopted, for each time that it is entered

    def __init__(self, tuple packages=None):
        if not FITS:
            check_fit()
        self.packages = packages
        self.before = []

    def __enter__(self):
        cdef PyObject* before = frame_globals_begin(NULL if self.packages is None else <PyObject*>self.packages)
        self.before.append(None if before == NULL else <object>before)
        Py_XDECREF(before)
        return self

    def __exit__(self, *_):
        before = self.before.pop()
        frame_globals_end(NULL if before is None else <PyObject*>before)


@cython.final
cdef class Apart:
    """While it is entered, this thread does not adopt."""

    cdef int depth

    def __enter__(self):
        self.depth = frame_globals_depth
        set_depth(0)
        return self

    def __exit__(self, *_):
        set_depth(self.depth)


cdef void set_depth(int depth) noexcept:
    global frame_globals_depth
    frame_globals_depth = depth


def adopts():
    """Whether this thread adopts here."""
    return frame_globals_depth > 0
