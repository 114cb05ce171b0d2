"""What a piece of code names, which classes hold what, and the walk through all that a function may read."""

import abc
import decimal
import functools
import io
import opcode
import operator
import sys
import threading
import types
import weakref
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Generic

import numpy as np

from hoad._core.traced import is_traced
from hoad._core.where import is_library
from hoad._core.world import ABSENT

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING
from cpython.object cimport PyObject

cdef extern from "Python.h":
    ctypedef struct PyTypeObject:
        unsigned long tp_flags
        PyObject* tp_mro
    unsigned long Py_TPFLAGS_HEAPTYPE

cdef object CodeType = types.CodeType
cdef object MemberDescriptorType = types.MemberDescriptorType

cdef enum Kind:
    NOTHING, GLOBALS, ATTRIBUTES, MODULES, HANDLES, PATTERNS

cdef Kind[256] KINDS            # what the instructions of a number name
cdef int[256] SHIFTS            # by how many bits the number of the name is shifted
cdef int EXTENDED = opcode.opmap["EXTENDED_ARG"]


cdef int list_instructions() except -1:
    now = sys.version_info
    shifts = {"LOAD_GLOBAL": int(now >= (3, 11)), "LOAD_ATTR": int(now >= (3, 12)), "IMPORT_NAME": 2 * (now >= (3, 15))}
    for name, operation in opcode.opmap.items():
        if operation > 255:     # an instruction of the compiler's own
            continue
        SHIFTS[operation] = shifts.get(name, 0)
        if name in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"):
            KINDS[operation] = GLOBALS
        elif name.startswith("LOAD_SUPER"):
            KINDS[operation] = ATTRIBUTES
            SHIFTS[operation] = 2
        elif name in ("LOAD_ATTR", "LOAD_METHOD", "IMPORT_FROM"):
            KINDS[operation] = ATTRIBUTES
        elif name == "IMPORT_NAME":
            KINDS[operation] = MODULES
        elif name in ("SETUP_FINALLY", "PUSH_EXC_INFO"):
            KINDS[operation] = HANDLES
        elif name == "MATCH_CLASS":
            KINDS[operation] = PATTERNS
    return 0


list_instructions()


@cython.final
cdef class Reads:
    """What code names: globals, attributes, modules; whether it handles exceptions, and has patterns of classes.

    Those read attributes that stand in constants, or in the class.
    """

    cdef readonly set globals
    cdef readonly set attributes
    cdef readonly set modules
    cdef readonly bint handles
    cdef readonly bint has_patterns
    cdef readonly list codes        # and those defined within it

    cdef int note(self, code) except -1:
        """What one piece of code names: `dis`, which knows all of its instructions, takes a hundred times as long."""
        cdef bytes steps = code.co_code
        cdef tuple names = code.co_names
        cdef const unsigned char* at = <const unsigned char*>PyBytes_AS_STRING(steps)
        cdef Py_ssize_t i
        cdef Kind kind
        for i in range(0, len(steps) - 1, 2):
            kind = KINDS[at[i]]
            if kind == GLOBALS:
                self.globals.add(names[argument(at, i) >> SHIFTS[at[i]]])
            elif kind == ATTRIBUTES:
                self.attributes.add(names[argument(at, i) >> SHIFTS[at[i]]])
            elif kind == MODULES:
                self.modules.add(names[argument(at, i) >> SHIFTS[at[i]]])
            elif kind == HANDLES:
                self.handles = True
            elif kind == PATTERNS:
                self.has_patterns = True
        return 0


cdef Py_ssize_t argument(const unsigned char* steps, Py_ssize_t at) noexcept:
    """The argument of the instruction at a place, with the upper bytes that stand before it."""
    cdef Py_ssize_t found = steps[at + 1]
    cdef int shift = 8
    while at >= 2 and steps[at - 2] == EXTENDED:
        at -= 2
        found |= <Py_ssize_t>steps[at + 1] << shift
        shift += 8
    return found


@functools.lru_cache(maxsize=1024)
def reads_of(code):
    """What a piece of code and those defined within it name."""
    cdef Reads found = Reads.__new__(Reads)
    cdef list ahead = [code]
    found.globals, found.attributes, found.modules, found.codes = set(), set(), set(), []
    while ahead:
        inner = ahead.pop()
        found.codes.append(inner)
        for constant in <tuple>inner.co_consts:
            if isinstance(constant, CodeType):
                ahead.append(constant)
        found.note(inner)
    return found


# ---- classes --------------------------------------------------------------------------------------------------------

# Values that never change.
UNCHANGED = frozenset(
    [type(None), bool, int, float, complex, str, bytes, range, type(...), type(NotImplemented), np.dtype])
cdef frozenset PLAIN = frozenset([id(cls) for cls in UNCHANGED])
# Modules whose functions and classes give something else at every call, or read what is outside the process.
cdef frozenset CHANGING = frozenset(
    ["io", "os", "nt", "posix", "random", "secrets", "select", "socket", "subprocess", "tempfile", "time", "uuid"])
cdef tuple CHANGING_CLASSES = (io.IOBase, Iterator, ContextVar, threading.local, weakref.ref, types.CoroutineType)
# Modules whose classes in C have objects that never change.
cdef frozenset UNCHANGING = frozenset(["_decimal", "_operator", "datetime", "decimal", "functools", "operator", "re",
                                       "types"])
# Classes whose objects hold what can change where it cannot be compared.
cdef tuple CLOSED_CLASSES = (BaseException, decimal.Context, np.void)
# With these any attribute may be read.
cdef tuple GETTERS = (operator.attrgetter, operator.methodcaller)
# Classes of Python's library that read no attributes of the objects that derive from them.
cdef tuple MIXINS = (object, abc.ABC, Generic)
cdef dict SLOTS_OF_C = {}       # of classes made by C, which never change
cdef dict NAMES_OF_C = {}


def is_static(cls not None):
    """Whether a class is made by C, whose names never change; it lives as long as the process."""
    return has_fixed_names(cls)


cdef bint has_fixed_names(cls) noexcept:
    return not (<PyTypeObject*>cls).tp_flags & Py_TPFLAGS_HEAPTYPE


cpdef tuple mro_of(cls):
    """A class and those that it derives from, whatever its metaclass says."""
    return <tuple>(<PyTypeObject*>cls).tp_mro


cdef list own_slots(cls):
    """The slots that a class has itself, besides that of the attributes of its objects."""
    cdef list found = []
    for key, held in vars(cls).items():
        if isinstance(held, MemberDescriptorType) and key != "__dict__":
            found.append(key)
    return found


def slots_of(cls not None):
    """The slots that objects of a class have, besides that of their attributes."""
    cdef list found = []
    for base in mro_of(cls):
        if has_fixed_names(base):
            if base not in SLOTS_OF_C:
                SLOTS_OF_C[base] = own_slots(base)
            found += <list>SLOTS_OF_C[base]
        else:
            found += own_slots(base)
    return found


def names_of(cls not None):
    """All names that a class has, and those that it derives from."""
    cdef bint fixed = has_fixed_names(cls)
    if fixed and cls in NAMES_OF_C:
        return NAMES_OF_C[cls]
    found = frozenset().union(*[vars(base) for base in mro_of(cls)])
    if fixed:
        NAMES_OF_C[cls] = found
    return found


def answers_any_name(cls not None):
    """Whether a class of Python's gives objects attributes that nothing holds, by ``__getattr__`` or the like."""
    for base in mro_of(cls):
        if not has_fixed_names(base) and ("__getattr__" in vars(base) or "__getattribute__" in vars(base)):
            return True
    return False


def is_among(cls, classes):
    """Whether a class is one of these; by itself, whatever its metaclass says of `==`."""
    for x in classes:
        if x is cls:
            return True
    return False


def content_of(cell):
    """What a cell holds."""
    try:
        return cell.cell_contents
    except ValueError:
        return ABSENT


def object_attribute(x, str key not None):
    """What lies in a slot of an object."""
    try:
        return object.__getattribute__(x, key)
    except AttributeError:
        return ABSENT


def is_changing(module):
    """Whether what a module has gives something else at every call."""
    return isinstance(module, str) and (module.split(".")[0] in CHANGING or module.startswith(("numpy.random", "_io")))


def module_of(cls):
    """The name of the module of a class; empty where it has none."""
    found = getattr(cls, "__module__", None)
    return found if isinstance(found, str) else ""


def is_library_class(cls):
    """Whether a class is of Python, NumPy, SciPy or hoad."""
    name = module_of(cls)
    module = sys.modules.get(name)
    file = vars(module).get("__file__") if isinstance(module, types.ModuleType) else None
    if file is None:
        return name in sys.builtin_module_names or name == "builtins"
    return is_library(file)


def has_library_base(cls):
    """Whether methods of Python's, NumPy's, SciPy's or hoad's classes may read any attribute of an object."""
    for base in mro_of(cls):
        if not is_among(base, MIXINS) and is_library_class(base):
            return True
    return False


cdef int check_kind(name, kind) except -1:
    """Raise for objects that give something else at every call."""
    try:
        changing = issubclass(kind, CHANGING_CLASSES)
    except TypeError:       # of abstract classes, which keep what they were asked for
        raise Unseen(f"it may read {name}, whose class {kind.__name__} is not hashable") from None
    for cls in mro_of(kind):
        changing = changing or is_changing(module_of(cls))
    if changing:
        raise Unseen(f"it may read {name}, a {kind.__name__}")
    return 0


cdef int check_open(name, x) except -1:
    """Raise for an object whose state lies in C, unless it never changes."""
    kind = type(x)
    for cls in mro_of(kind):
        if "__slots__" in vars(cls):
            return 0
    unchanging = module_of(kind) in UNCHANGING or module_of(kind).startswith("hoad._core.")
    if not (kind.__dictoffset__ or callable(x) or hasattr(kind, "__get__") or unchanging):
        raise Unseen(f"it may read {name}, a {kind.__name__}, which cannot be looked into")
    return 0


# ---- the walk -------------------------------------------------------------------------------------------------------

class Unseen(Exception):
    """Something that a replay could not see change; says what."""


class Outer(Exception):
    """A traced value of a derivative around the call."""


cdef class Walk:
    """Meets every object that others lead to, once; what each leads to is said by kind, in `visits` (None: to nothing).

    `watches` are those of a `World`. What hangs on the names that any code names waits until all code known is read.
    """

    cdef readonly dict watches      # (kind, id(owner), key): watch
    cdef public bint by_name        # any attribute may be read, by a name that is computed
    cdef readonly dict met          # id: object
    cdef list ahead
    cdef list waiting
    cdef dict visits                # by the id of a class: what its metaclass says of `==` and hashes is not asked
    cdef tuple whole                # classes of objects of which nothing else is looked at
    cdef int most

    def __init__(self, dict visits not None, tuple whole not None, int most):
        self.visits = {id(cls): visit for cls, visit in visits.items()}
        self.whole, self.most = whole, most

    def walk(self, roots):
        """Go through all that pairs of a name and an object lead to."""
        self.watches, self.met, self.ahead, self.waiting = {}, {}, list(roots), []
        self.ahead.reverse()
        while self.ahead or self.waiting:
            if self.ahead:
                name, x = <tuple>self.ahead.pop()
                self.visit(name, x)
            else:
                visit, found = <tuple>self.waiting.pop()
                visit(*found)

    def later(self, name, x):
        """Visit an object."""
        self.ahead.append((name, x))

    def last(self, visit, *found):
        """Let what hangs on the names that code names wait for code that is met before."""
        self.waiting.append((visit, found))

    def watch(self, str kind not None, owner, key, expected, name):
        """Compare this with what is expected, at each call."""
        self.watches[kind, id(owner), key] = kind, owner, key, expected, name
        if len(self.watches) > self.most:
            raise Unseen(f"it may read more than {self.most} things, such as {name}")

    cdef int visit(self, name, x) except -1:
        """Watch what an object holds, and go on from there. Its name is what the user calls it, of any class."""
        kind = type(x)
        if isinstance(x, CLOSED_CLASSES):
            raise Unseen(f"it may read {name}, a {kind.__name__}, which can change unseen")
        if id(kind) in PLAIN or x is ABSENT or id(x) in self.met:
            return 0
        if has_fixed_names(kind) and isinstance(x, np.generic):
            return 0
        self.by_name = self.by_name or isinstance(x, GETTERS)
        if is_traced(x):
            raise Outer
        self.met[id(x)] = x
        if id(kind) not in self.visits:
            check_kind(name, kind)
        for cls in mro_of(kind):
            if id(cls) in self.visits:
                visit = self.visits[id(cls)]
                if visit is not None:
                    visit(self, name, x)
                break
        else:
            check_open(name, x)
        if (not has_fixed_names(kind) or kind.__dictoffset__) and not isinstance(x, self.whole):
            self.visit_instance(name, x)
        return 0
