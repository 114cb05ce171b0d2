"""What a piece of code names, which classes hold what, and the walk through all that a function may read."""

import abc
import builtins
import collections
import decimal
import enum
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

from hoad._core.trace.traced import graph_of, is_traced
from hoad._core.base.call_watch import CHANGING, STEADY
from hoad._core.base.where import is_library
from hoad._core.jit.environment import ABSENT

from hoad.errors import TracedValueError

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

cdef enum NameKind:
    NOTHING, GLOBALS, ATTRIBUTES, MODULES, HANDLES, PATTERNS

cdef NameKind[256] KINDS            # what the instructions of a number name
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
    cdef readonly list inner        # code that is defined within it

    cdef int note(self, code) except -1:
        """What one piece of code names: `dis`, which knows all of its instructions, takes a hundred times as long."""
        cdef bytes steps = code.co_code
        cdef tuple names = code.co_names
        cdef const unsigned char* at = <const unsigned char*>PyBytes_AS_STRING(steps)
        cdef Py_ssize_t i
        cdef NameKind kind
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


# The id of code: (a weak reference to it, what it names). What is gone leaves the table with the next that is read: a
# callback in Python would lose an interrupt that meets it.
cdef dict READS = {}
cdef object GONE = collections.deque()


def reads_of(code):
    """What a piece of code and those defined within it name; kept while the code lives.

    By identity: code that is equal, of a function that is defined once more, has other code within it.
    """
    cdef Reads found
    cdef list ahead
    key = id(code)
    known = READS.get(key)
    if known is not None and (<tuple>known)[0]() is code:
        return (<tuple>known)[1]
    found = Reads.__new__(Reads)
    found.globals, found.attributes, found.modules, found.inner = set(), set(), set(), []
    ahead = [code]
    while ahead:
        inner = ahead.pop()
        if inner is not code:
            found.inner.append(inner)
        for constant in <tuple>inner.co_consts:
            if isinstance(constant, CodeType):
                ahead.append(constant)
        found.note(inner)
    leave_out_gone()
    READS[key] = weakref.KeyedRef(code, GONE.append, key), found
    return found


cdef int leave_out_gone() except -1:
    """Drop what code named that is no more."""
    while GONE:
        try:
            gone = GONE.popleft()
        except IndexError:      # another thread was faster
            break
        known = READS.get(gone.key)
        if known is not None and (<tuple>known)[0] is gone:
            READS.pop(gone.key, None)
    return 0


# ---- classes --------------------------------------------------------------------------------------------------------

# Values that never change.
UNCHANGED = frozenset(
    [type(None), bool, int, float, complex, str, bytes, range, type(...), type(NotImplemented), np.dtype])
cdef frozenset PLAIN = frozenset([id(cls) for cls in UNCHANGED])
# Those that have nothing else, so that a function of theirs that is looked up by name is one of these.
cdef frozenset ONLY_CHANGING = frozenset(["numpy.random", "random", "secrets", "time"])
cdef tuple CHANGING_CLASSES = (io.IOBase, Iterator, ContextVar, threading.local, weakref.ref, types.CoroutineType)
# Modules whose classes in C have objects that never change.
cdef frozenset UNCHANGING = frozenset(["_decimal", "_operator", "datetime", "decimal", "functools", "operator", "re",
                                       "types"])
# Classes whose objects hold what can change where it cannot be compared.
cdef tuple CLOSED_CLASSES = (BaseException, decimal.Context, np.void)
# With these any attribute may be read.
cdef tuple GETTERS = (operator.attrgetter, operator.methodcaller)
cdef frozenset CHANGING_BUILTINS = frozenset(
    ["__import__", "breakpoint", "compile", "eval", "exec", "globals", "input", "open"])
cdef frozenset NOW = frozenset(["now", "today", "utcnow"])
# With functions of these names any attribute may be read.
cdef frozenset BY_NAME = frozenset(
    """__dict__ __getattribute__ __reduce__ __reduce_ex__ attrgetter dir format format_map getattr getattr_static
    getmembers hasattr methodcaller vars""".split()
)
# What these compute depends on no attribute that a user gives them. Code that reads one names it, but for `inspect`.
cdef tuple FUNCTIONS = (types.FunctionType, np.ufunc, type(np.sum))
# Where a function and a class keep what they are called and described by; code and defaults are always watched.
cdef frozenset SLOTS_OF_FUNCTIONS = frozenset(
    ["__annotations__", "__doc__", "__module__", "__name__", "__qualname__", "__type_params__"])
cdef frozenset SLOTS_OF_CLASSES = frozenset(["__annotations__", "__base__", "__bases__", "__mro__", "__name__",
                                             "__qualname__"])
# Without these Python does something else with an object, where other methods that are not there are an error.
cdef frozenset WITHOUT = frozenset(
    ["__bool__", "__contains__", "__eq__", "__getattribute__", "__hash__", "__iter__", "__len__"])
# By these names code may ask a distribution of SciPy's for its generator.
cdef frozenset ITS_GENERATOR = frozenset(["_random_state", "random_state"])
cdef frozenset BY_INSPECT = frozenset(["__annotations__", "__signature__", "__wrapped__"])
# Classes of Python's library that read no attributes of the objects that derive from them.
cdef tuple MIXINS = (object, abc.ABC, Generic)
cdef dict SLOTS_OF_C = {}       # of classes made by C, which never change
cdef dict NAMES_OF_C = {}


cdef bint has_fixed_names(cls) noexcept:
    """Whether a class is made by C, whose names never change; it lives as long as the process."""
    return not (<PyTypeObject*>cls).tp_flags & Py_TPFLAGS_HEAPTYPE


cdef tuple mro_of(cls):
    """A class and those that it derives from, whatever its metaclass says."""
    return <tuple>(<PyTypeObject*>cls).tp_mro


cdef list own_slots(cls):
    """The slots that a class has itself, besides that of the attributes of its objects."""
    cdef list found = []
    for key, held in vars(cls).items():
        if isinstance(held, MemberDescriptorType) and key != "__dict__":
            found.append(key)
    return found


cdef list slots_of(cls):
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


cdef frozenset names_of(cls):
    """All names that a class has, and those that it derives from."""
    cdef bint fixed = has_fixed_names(cls)
    if fixed and cls in NAMES_OF_C:
        return NAMES_OF_C[cls]
    found = frozenset().union(*[vars(base) for base in mro_of(cls)])
    if fixed:
        NAMES_OF_C[cls] = found
    return found


cdef bint answers_any_name(cls) except -1:
    """Whether a class of Python's gives objects attributes that nothing holds, by ``__getattr__`` or the like."""
    for base in mro_of(cls):
        if not has_fixed_names(base) and ("__getattr__" in vars(base) or "__getattribute__" in vars(base)):
            return True
    return False


cdef bint is_among(cls, classes) except -1:
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


cdef object object_attribute(x, str key):
    """What lies in a slot of an object."""
    try:
        return object.__getattribute__(x, key)
    except AttributeError:
        return ABSENT


cdef bint is_global_generator(x) except -1:
    """Whether this is the generator that functions of `numpy.random` draw from, and SciPy where it is told no other."""
    module = sys.modules.get("numpy.random.mtrand")
    return x is not None and module is not None and x is module._rand


cdef bint is_changing(module) except -1:
    """Whether what a module has gives something else at every call."""
    return isinstance(module, str) and (module.split(".")[0] in CHANGING or module.startswith(("numpy.random", "_io")))


cdef str module_of(cls):
    """The name of the module of a class; empty where it has none."""
    found = getattr(cls, "__module__", None)
    return found if isinstance(found, str) else ""


cdef bint is_library_class(cls) except -1:
    """Whether a class is of Python, NumPy, SciPy or hoad."""
    name = module_of(cls)
    module = sys.modules.get(name)
    file = vars(module).get("__file__") if isinstance(module, types.ModuleType) else None
    if file is None:
        return name in sys.builtin_module_names or name == "builtins"
    return is_library(file)


cdef bint has_library_base(cls) except -1:
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
        raise Untrackable(f"it may read {name}, whose class {kind.__name__} is not hashable") from None
    for cls in mro_of(kind):
        changing = changing or is_changing(module_of(cls))
    if changing:
        raise Untrackable(f"it may read {name}, a {kind.__name__}")
    return 0


cdef int check_open(name, x) except -1:
    """Raise for an object whose state lies in C, unless it never changes."""
    kind = type(x)
    for cls in mro_of(kind):
        if "__slots__" in vars(cls):
            return 0
    unchanging = module_of(kind) in UNCHANGING or module_of(kind).startswith("hoad._core.")
    if not (kind.__dictoffset__ or callable(x) or hasattr(kind, "__get__") or unchanging):
        raise Untrackable(f"it may read {name}, a {kind.__name__}, which cannot be looked into")
    return 0


cdef int check_traced(name, x) except -1:
    """Raise for a traced value that is of no use any more."""
    try:
        graph_of(x)
    except TracedValueError:
        raise Untrackable(f"it may read {name}, a traced value of a call that has returned") from None
    return 0


# ---- the walk -------------------------------------------------------------------------------------------------------

class Untrackable(Exception):
    """Something that a replay could not see change; says what."""


class Outer(Exception):
    """A traced value of a derivative around the call."""


cdef class Walk:
    """Meets every object that others lead to, once; what each leads to is said by kind, in `visits` (None: to nothing).

    `watches` are those of a `Environment`. What depends on the names that any code names waits until all code known is
    read.
    """

    cdef readonly dict watches      # (kind, id(owner), key): watch
    cdef readonly dict met          # id: object
    cdef readonly dict codes        # id: code
    cdef set names                  # of attributes, that any code names
    cdef bint by_name               # any attribute may be read, by a name that is computed
    cdef bint calls_by_name         # methods, by a name that is computed, where nothing sees the call
    cdef bint asks_callable         # whether an object can be called
    cdef bint handles               # exceptions, so that a name that is not there counts
    cdef tuple asked                # what was known when names were first asked for
    cdef list ahead
    cdef list waiting
    cdef dict visits                # by the id of a class: what its metaclass says of `==` and hashes is not asked
    cdef tuple whole                # classes of objects of which nothing else is looked at
    cdef int most

    def __init__(self, dict visits not None, tuple whole not None, int most):
        self.visits = {id(cls): visit for cls, visit in visits.items()}
        self.whole, self.most = whole, most
        self.names, self.codes = set(), {}

    def walk(self, list roots not None):
        """Go through all that pairs of a name and an object lead to, until no name is learned any more."""
        while True:
            self.asked = None
            self.watches, self.met, self.ahead, self.waiting = {}, {}, roots[::-1], []
            while self.ahead or self.waiting:
                if self.ahead:
                    name, x = <tuple>self.ahead.pop()
                    self.visit(name, x)
                else:
                    visit, found = <tuple>self.waiting.pop()
                    visit(*found)
            if self.asked is None or self.asked == self.known():
                break

    cdef tuple known(self):
        """What decides which attributes may be read; it only grows."""
        return len(self.names), self.by_name, self.calls_by_name, self.asks_callable, self.handles

    cdef set met_names(self):
        """The attributes that any code met so far names; asked for before all is met, they are asked for again."""
        if self.asked is None:
            self.asked = self.known()
        return self.names

    def name_attribute(self, name):
        """Note a function that may read any attribute by its name."""
        self.by_name = self.by_name or name in BY_NAME

    def later(self, name, x):
        """Visit an object."""
        self.ahead.append((name, x))

    def when_read(self, visit, *given):
        """Visit an object once all code known is read, for what may be asked of it by name."""
        self.waiting.append((visit, given))

    def may_be_asked(self, names):
        """Those of these names by which any code may read an attribute; called when all code known is read."""
        asked = self.met_names()
        return names if self.by_name else asked.intersection(names)

    def watch(self, str kind not None, owner, key, expected, name):
        """Compare this with what is expected, at each call."""
        self.watches[kind, id(owner), key] = kind, owner, key, expected, name
        if len(self.watches) > self.most:
            raise Untrackable(f"it may read more than {self.most} things, such as {name}")

    cdef int visit(self, name, x) except -1:
        """Watch what an object holds, and go on from there. Its name is what the user calls it, of any class."""
        kind = type(x)
        if isinstance(x, CLOSED_CLASSES):
            raise Untrackable(f"it may read {name}, a {kind.__name__}, which can change unseen")
        if id(kind) in PLAIN or x is ABSENT or id(x) in self.met:
            return 0
        if has_fixed_names(kind) and isinstance(x, np.generic):
            return 0
        self.by_name = self.by_name or isinstance(x, GETTERS)
        self.calls_by_name = self.calls_by_name or x is operator.methodcaller or kind is operator.methodcaller
        if is_traced(x):
            check_traced(name, x)
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

    # ---- functions and the modules they name

    def visit_function(self, name, x):
        """The cells, defaults and attributes of a function, and what its code names."""
        code = x.__code__
        library = is_library(code.co_filename)
        for cell_name, cell in zip(code.co_freevars, x.__closure__ or ()):
            held = content_of(cell)
            if not library:
                self.watch("cell", cell, None, held, f"{cell_name} in {x.__qualname__}")
            self.later(cell_name, held)
        if library:
            self.check_function(name, x)
            return
        defaults, keywords = x.__defaults__, x.__kwdefaults__
        self.watch("function", x, None, (code, ABSENT if defaults is None else defaults,
                                         ABSENT if keywords is None else keywords), name)
        self.waiting.append((self.visit_attributes, (name, x, vars(x))))
        self.later(f"a default of {name}", defaults)
        self.later(f"a default of {name}", keywords)
        self.visit_code(code, x.__globals__)

    cdef int visit_code(self, code, known) except -1:
        """The globals and modules that code names."""
        cdef Reads reads = reads_of(code)
        for inner in (code, *reads.inner):
            self.codes[id(inner)] = inner
        self.names |= reads.attributes
        self.handles = self.handles or reads.handles
        self.asks_callable = self.asks_callable or "callable" in reads.globals
        self.by_name = (self.by_name or reads.has_patterns
                        or not (BY_NAME.isdisjoint(reads.globals) and BY_NAME.isdisjoint(reads.attributes)))
        for key in sorted(reads.globals):
            self.watch_global(key, known)
        for module in sorted(reads.modules):
            self.visit_import(module, known.get("__package__") or "")
        return 0

    cdef int watch_global(self, str key, known) except -1:
        held = known.get(key, ABSENT)
        self.watch("item", known, key, held, f"the global {key}")
        if held is not ABSENT:
            self.later(key, held)
            return 0
        own = known.get("__builtins__", builtins)
        own = own if isinstance(own, dict) else vars(own)
        if key in CHANGING_BUILTINS and own.get(key) is getattr(builtins, key):
            raise Untrackable(f"it calls {key}")
        self.watch("item", own, key, own.get(key, ABSENT), f"the builtin {key}")
        self.later(key, own.get(key))
        return 0

    cdef int visit_import(self, str name, package) except -1:
        """A module that is imported within a function: by its own name, or relative to a package around it."""
        around = package.split(".") if package else []
        for j in range(len(around) + 1):
            path = [*around[:j], *name.split(".")] if name else around[:j]
            for k in range(1, len(path) + 1):
                full = ".".join(path[:k])
                self.watch("item", sys.modules, full, sys.modules.get(full, ABSENT), f"the module {full}")
                self.later(full, sys.modules.get(full))
        return 0

    cdef int watch_slots(self, name, x, frozenset keys) except -1:
        """What a function or a class is called and described by, as far as code may ask."""
        for key in sorted(self.may_be_asked(keys)):
            try:
                held = object_attribute(x, key)
            except Exception:       # where annotations are worked out when they are asked for
                raise Untrackable(f"it may read {name}.{key}, which raises") from None
            self.watch("slot", x, key, held, f"{name}.{key}")
            self.later(f"{name}.{key}", held)
        return 0

    def visit_module(self, name, x):
        """Those items of a module that any code names, once all code is known."""
        self.waiting.append((self.visit_items_of_module, (name, x)))

    def visit_items_of_module(self, name, x):
        cdef dict known = vars(x)
        library = is_library(known.get("__file__") or "") or known.get("__name__") in sys.builtin_module_names
        asked = self.met_names()
        if (self.calls_by_name and is_changing(x.__name__)) or (self.by_name and x.__name__ in ONLY_CHANGING):
            raise Untrackable(f"it may call anything that {name} has, by a name that is computed")
        if self.by_name and not library:
            asked = asked | set(known)
        if not library and not asked <= known.keys():
            asked = asked | {"__getattr__"}     # which gives the others
        for key in sorted(asked):
            if key in known:
                self.watch("item", known, key, known[key], f"{name}.{key}")
                self.later(f"{name}.{key}", known[key])
            elif self.handles or self.by_name:
                self.watch("item", known, key, ABSENT, f"{name}.{key}")

    def check_function(self, name, x):
        """Raise for a function that gives something else at every call."""
        if is_changing(getattr(x, "__module__", None)) and x.__name__ not in STEADY:
            raise Untrackable(f"it may call {name}")

    # ---- classes and objects

    def visit_class(self, name, x):
        """What a class of the user's, and those it derives from, say of the names that any code names."""
        if module_of(x) == "datetime" and NOW & self.met_names():
            raise Untrackable(f"it may ask {name} for the time")
        own = [cls for cls in mro_of(x) if not is_library_class(cls)]
        if not own:
            return
        if self.by_name:
            for cls in own:
                self.watch("content", vars(cls), None, tuple(vars(cls)), f"the names of {cls.__name__}")
        said = {}
        for cls in mro_of(x)[-2::-1]:
            said.update(vars(cls))
        special = {key for cls in own for key in vars(cls) if key.startswith("__") and callable(vars(cls)[key])}
        met = self.met_names()
        names = special | (set(said) if self.by_name else met.intersection(said)) | WITHOUT
        if self.asks_callable:
            names.add("__call__")
        for cls in own:
            self.watch_slots(cls.__name__, cls, SLOTS_OF_CLASSES)
        if self.handles or answers_any_name(x) or answers_any_name(type(x)):
            names |= met
        keys = tuple(sorted(names))
        self.watch("class", x, keys, tuple([said.get(key, vars(object).get(key, ABSENT)) for key in keys]), name)
        for key in keys:
            self.later(f"{name}.{key}", said.get(key))
        if isinstance(x, enum.EnumMeta):    # whose members are found by name, by value and one after another, too
            self.later(f"the members of {name}", said["_member_map_"])
        if type(x) is not type:
            self.later(f"the class of {name}", type(x))

    cdef int visit_instance(self, name, x) except -1:
        """An object of a class: its attributes."""
        kind = type(x)
        if not has_fixed_names(kind):       # which can be exchanged
            self.watch("type", x, None, kind, f"the class of {name}")
        self.later(kind.__name__, kind)
        held = object_attribute(x, "__dict__")
        if type(held) is dict:
            self.waiting.append((self.visit_attributes, (name, x, held)))
        for key in slots_of(kind):
            value = object_attribute(x, key)
            self.watch("slot", x, key, value, f"{name}.{key}")
            self.later(f"{name}.{key}", value)
        return 0

    def visit_attributes(self, name, x, dict held not None):
        """Those attributes of an object that any code names."""
        kind = type(x)
        if kind is types.FunctionType:
            self.watch_slots(name, x, SLOTS_OF_FUNCTIONS)
        if self.by_name or (not is_among(kind, FUNCTIONS) and has_library_base(kind)):
            if is_global_generator(held.get("_random_state")) and not self.may_be_asked(ITS_GENERATOR):
                self.visit_distribution(name, held)
            else:
                self.later(f"the attributes of {name}", held)
            return
        names = self.met_names()
        if held:
            names = names | BY_INSPECT.intersection(held)
        if not (self.handles or answers_any_name(kind)):
            names = names.intersection(names_of(kind)) | names.intersection(held)
        keys = tuple(sorted(names))
        if keys:
            self.watch("attributes", x, keys, tuple([held.get(key, ABSENT) for key in keys]), f"an attribute of {name}")
        for key in keys:
            self.later(f"{name}.{key}", held.get(key))

    cdef int visit_distribution(self, name, dict held) except -1:
        """All attributes of a distribution of SciPy's but NumPy's global generator: who draws from that is seen."""
        self.watch("mapping", held, None, tuple([part for item in held.items() for part in item]), name)
        for key, x in held.items():
            if key != "_random_state":
                self.later(f"{name}.{key}", x)
        return 0
