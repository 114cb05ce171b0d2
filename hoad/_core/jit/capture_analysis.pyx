"""The walk through what the code that ran may have read, from what each piece of code names when it is entered."""

import abc
import builtins
import collections
import copy
import datetime
import decimal
import enum
import io
import logging
import operator
import random
import sys
import threading
import types
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Generic

import numpy as np

from hoad._core.trace.traced import graph_of, is_traced
from hoad._core.base.call_watch import CHANGING, STEADY, state_of_generator
from hoad._core.base.where import is_library, standard_name
from hoad._core.jit.environment import ABSENT, PLACES, found_at, holds_now, put_at

from hoad.errors import TracedValueError

from cpython.object cimport PyObject

from hoad._core.base.call_watch cimport EnteredCode
from hoad._core.jit.code_names cimport Reads, reads_of
from hoad._core.jit.environment cimport same

cdef extern from "Python.h":
    ctypedef struct PyTypeObject:
        unsigned long tp_flags
        PyObject* tp_mro
    unsigned long Py_TPFLAGS_HEAPTYPE

cdef object MemberDescriptorType = types.MemberDescriptorType
cdef object WrapperDescriptorType = types.WrapperDescriptorType

# ---- classes --------------------------------------------------------------------------------------------------------

# Values that never change.
UNCHANGED = frozenset(
    [type(None), bool, int, float, complex, str, bytes, range, type(...), type(NotImplemented), np.dtype])
cdef frozenset PLAIN = frozenset([id(cls) for cls in UNCHANGED])
# Those that have nothing else, so that a function of theirs that is looked up by name is one of these.
cdef frozenset ONLY_CHANGING = frozenset(["numpy.random", "random", "secrets", "time"])
cdef tuple CHANGING_CLASSES = (ContextVar, threading.local, types.CoroutineType)
# Classes of modules all of whose functions give something else at every call, which do not.
cdef frozenset STEADY_CLASSES = frozenset(["SafeUUID", "UUID"])
cdef tuple IN_MEMORY = (io.StringIO, io.BytesIO)      # what they hold is read and written without a word
# What is read from files is told where it happens; and what locks and loggers do is no result.
cdef tuple TOLD_CLASSES = (io.IOBase.__base__, type(threading.Lock()), type(threading.RLock()), logging.Handler,
                           logging.Formatter, logging.Filter)
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
    """__delattr__ __dict__ __getattribute__ __reduce__ __reduce_ex__ __setattr__ attrgetter dir dumps format format_map
    getattr_static getmembers methodcaller vars""".split()
)
# Modules of Python's library that do so, whose functions are many.
cdef frozenset READS_BY_NAME = frozenset(
    ["copy", "copyreg", "dataclasses", "inspect", "pickle", "pprint", "reprlib", "typing"])
cdef frozenset BY_SECOND = frozenset(["delattr", "getattr", "hasattr", "setattr"])     # by one that is given, too
# What these compute depends on no attribute that a user gives them. Code that reads one names it, but for `inspect`.
cdef tuple FUNCTIONS = (types.FunctionType, np.ufunc, type(np.sum))
# Where a function and a class keep what they are called and described by.
cdef frozenset SLOTS_OF_FUNCTIONS = frozenset(
    ["__annotations__", "__doc__", "__module__", "__name__", "__qualname__", "__type_params__"])
# What a call of a function reads, which other code may ask for, too.
cdef frozenset CALLED = frozenset(["__closure__", "__code__", "__defaults__", "__globals__", "__kwdefaults__"])
cdef frozenset SLOTS_OF_CLASSES = frozenset(["__base__", "__bases__", "__mro__", "__name__",
                                             "__qualname__"])
# What Python looks for in a class by itself; where it is not there, Python does something else, or raises.
cdef tuple SPECIAL = tuple(sorted(
    """abs add and array array_function array_priority array_ufunc bool call ceil complex contains delattr delete
    delitem divmod enter eq exit float floor floordiv format ge get getattr getattribute getitem gt hash iadd iand
    ifloordiv ilshift imatmul imod imul index init instancecheck int invert ior ipow irshift isub iter itruediv
    ixor le len length_hint lshift lt matmul missing mod mul ne neg new next or pos pow radd rand rdivmod repr
    reversed rfloordiv rlshift rmatmul rmod rmul ror round rpow rrshift rshift rsub rtruediv rxor set setattr
    setitem str sub subclasscheck truediv trunc xor""".split()
))
cdef str DISPATCH_CACHE = "dispatch_cache"
cdef frozenset ASKS_KIND = frozenset(["isinstance", "issubclass"])
# By these names code may ask a generator of random numbers for its state, or copy it.
cdef frozenset ASKS_STATE = frozenset(
    """__copy__ __deepcopy__ __getstate__ _bit_generator _seed_seq bit_generator dump dumps get_state jumped seed_seq
    spawn state""".split()
)
# What a logger is asked for besides writing.
cdef frozenset ASKS_LEVEL = frozenset(
    "getEffectiveLevel handlers hasHandlers isEnabledFor level manager parent propagate".split())
cdef frozenset PARTS_OF_LOGGERS = frozenset(["_cache", "filters", "handlers", "manager", "root"])
# Classes of Python's library that read no attributes of the objects that derive from them.
cdef tuple MIXINS = (object, abc.ABC, Generic, types.SimpleNamespace, dict, list, tuple, set, frozenset, int, float,
                     str, bytes, complex, type)
# What says of a class what it is called and where it was made, by no question of Python's own.
cdef frozenset DESCRIBING = frozenset(
    """__annotations__ __dict__ __doc__ __firstlineno__ __module__ __parameters__ __qualname__ __slots__
    __static_attributes__ __weakref__""".split()
)
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


cdef bint derives_from(kind, tuple classes) except -1:
    """Whether a class is one of these or derives from one, whatever it says itself."""
    for base in mro_of(kind):
        if is_among(base, classes):
            return True
    return False


cdef bint is_generator(kind) except -1:
    """Whether this is a class of Python's or NumPy's generators of random numbers."""
    if derives_from(kind, (random.Random,)):
        return True
    module = sys.modules.get("numpy.random")
    return module is not None and derives_from(kind, (module.Generator, module.RandomState, module.BitGenerator))


cdef bint is_global_generator(x) except -1:
    """Whether this is the generator that functions of `numpy.random` draw from, and SciPy where it is told no other."""
    module = sys.modules.get("numpy.random.mtrand")
    return module is not None and x is module._rand


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


cdef list own_classes(cls):
    """A class and those that it derives from, without those of libraries."""
    return [base for base in mro_of(cls) if not is_library_class(base)]


cdef bint has_library_base(cls) except -1:
    """Whether methods of Python's, NumPy's, SciPy's or hoad's classes may read any attribute of an object."""
    for base in mro_of(cls):
        if not is_among(base, MIXINS) and is_library_class(base):
            return True
    return False


cdef bint computes_names(Reads reads) except -1:
    """Whether code may read attributes by names that it computes."""
    return reads.computes or not (BY_NAME.isdisjoint(reads.globals) and BY_NAME.isdisjoint(reads.attributes))


cdef int check_kind(name, kind) except -1:
    """Raise for objects that give something else at every call."""
    try:
        changing = issubclass(kind, CHANGING_CLASSES) or (
            issubclass(kind, Iterator) and not isinstance(getattr(kind, "__next__", None), types.FunctionType))
    except TypeError:       # of abstract classes, which keep what they were asked for
        raise Untrackable(f"it may read {name}, whose class {kind.__name__} is not hashable") from None
    for cls in mro_of(kind):
        changing = changing or (is_changing(module_of(cls)) and cls.__name__ not in STEADY_CLASSES)
    if changing:
        raise used_up(f"it may read {name}, a {kind.__name__}", True)
    return 0


cdef int check_open(name, x) except -1:
    """Raise for an object whose state lies in C, unless it never changes."""
    kind = type(x)
    for cls in mro_of(kind):
        if "__slots__" in vars(cls):
            return 0
    unchanging = module_of(kind) in UNCHANGING or module_of(kind).startswith("hoad._core.")
    if not (kind.__dictoffset__ or callable(x) or hasattr(kind, "__get__") or unchanging):
        raise used_up(f"it may read {name}, a {kind.__name__}, which cannot be looked into", hasattr(kind, "__next__"))
    return 0


cdef object used_up(str what, bint is_used_up):
    """A refusal, by what is perhaps used up where it is read."""
    refusal = Untrackable(what)
    refusal.is_used_up = is_used_up
    return refusal


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

    environment = None      # what had been read when it was found
    codes = ()              # the code that had run
    is_used_up = False      # by being read, so that a plain call beside the recording would take from it


class Outer(Exception):
    """A traced value of a derivative around the call."""


cdef tuple CLEARED = (bytearray, collections.deque)
cdef tuple CONTAINERS = (list, dict, collections.deque)
# Containers that are compared as a whole.
cdef frozenset WHOLE = frozenset(["list", "mapping", "content"])


cdef object held_by(tuple guard):
    """What the place of a guard, a container or an array holds, in the form that is expected."""
    kind, owner, key = guard[0], guard[1], guard[2]
    if kind == "array":
        return np.array(owner)
    if kind == "mapping":
        return tuple([part for item in dict.items(owner) for part in item])
    return tuple(owner) if kind in WHOLE else found_at(kind, owner, key)


def put(tuple guard not None, value):
    """Let the place of a guard, a container or an array hold something else."""
    kind, owner, key = guard[0], guard[1], guard[2]
    if kind == "list":
        (<list>owner)[:] = value
    elif kind == "mapping":
        kind = collections.OrderedDict if isinstance(owner, collections.OrderedDict) else dict
        kind.clear(owner)
        for k in range(0, len(value), 2):
            kind.__setitem__(owner, value[k], value[k + 1])
    elif kind == "array":
        if owner.flags.writeable and owner.shape == value.shape:
            owner[...] = value
    elif kind == "content":
        if isinstance(owner, set):
            owner.clear()
            owner.update(value)
        elif isinstance(owner, CLEARED):
            owner.clear()
            owner.extend(value)
    else:
        put_at(kind, owner, key, value)


cdef object without_frames(failure):
    """An exception to be kept: the frames of a traceback would hold traced values."""
    failure.__context__ = failure.__cause__ = None
    return failure.with_traceback(None)


cdef class Walk(EnteredCode):
    """Meets every object that code which is entered can reach, and guards what that code may read of it.

    It goes on from some objects each time that a piece of code is entered, before that runs: to the globals, cells and
    defaults that the code names; of all objects met by now, to the attributes that any code entered by now names; and
    to all items of containers. So a place is looked at before anything can read it, or write to it. What each kind of
    object leads to is said by class, in `visits` (None: to nothing).
    """

    cdef readonly dict watches      # (kind, id(owner), key): guard
    cdef readonly dict written      # the same for places that are assigned to, as they were before
    cdef readonly dict met          # id: object
    cdef readonly dict generators   # id: (name, generator of random numbers, its state)
    cdef readonly object refusal    # the first of what cannot be guarded
    cdef readonly bint has_begun    # whether code was entered
    cdef readonly set skipped       # (kind, id(owner), key) of places
    cdef dict ways                  # id of a container: how often it was come to by a way that is no place of its own
    cdef dict library               # id: (code of Python's library that was entered, whether it reads by such names)
    cdef dict functions             # id of code: [(name, function)] met
    cdef dict methods               # id of code: [guard of the place in a class where it is found by Python itself]
    cdef dict inner                 # id of code defined within some that was entered: its globals
    cdef set names                  # of attributes that any code reads
    cdef set stored                 # of those that it assigns to
    cdef set values                 # by which functions are loaded other than to be called at once
    cdef readonly bint by_name      # any attribute may be read, by a name that is computed
    cdef bint calls_by_name         # methods, by a name that is computed, where nothing sees the call
    cdef bint copies                # so that a generator of random numbers may be
    cdef bint asks_callable         # whether an object can be called
    cdef readonly bint asks_kind    # which class an object is of, perhaps one that its class is registered with
    cdef readonly bint asks_whole   # namespaces are compared or shown, with all that they hold
    cdef bint uses_super            # so that classes between count by themselves
    cdef bint handles               # exceptions, so that a name that is not there counts
    cdef tuple flags                # what these were when the subjects were visited last
    cdef list ahead
    cdef list subjects              # (visit, name, object, what holds its attributes), to be asked for new names
    cdef dict visits                # by the id of a class: what its metaclass says of `==` and hashes is not asked
    cdef tuple whole                # classes of objects of which nothing else is looked at
    cdef int most

    def __init__(self, dict visits not None, tuple whole not None, int most, dict codes not None,
                 set skipped not None):
        """`codes` are those that are known to be entered; what places hold that are `skipped` is not visited."""
        self.skipped = skipped
        self.visits = {id(cls): visit for cls, visit in visits.items()}
        self.whole, self.most = whole, most
        self.names, self.stored, self.values = set(), set(), set()
        self.codes, self.library, self.functions, self.methods, self.inner = dict(codes), {}, {}, {}, {}
        self.watches, self.written, self.met, self.generators = {}, {}, {}, {}
        self.ahead, self.subjects, self.ways = [], [], {}
        self.flags = self.asked()

    def walk(self, list roots not None):
        """Go through all that pairs of a name and an object lead to."""
        for code in self.codes.values():
            self.read(code)
        self.ahead += roots[::-1]
        self.go_on(set(), set())

    # ---- code

    cdef bint knows(self, code) except -1:
        """Whether code is found by reading what was entered."""
        return id(code) in self.functions or id(code) in self.inner

    cdef bint asks_for(self, code) except -1:
        """Whether code of Python's library reads attributes by names that it computes, of what it is given."""
        known = self.library.get(id(code))
        if known is None:
            found = standard_name(code.co_filename) in READS_BY_NAME
            if found:
                found = computes_names(reads_of(code))
            known = self.library[id(code)] = code, found
        return (<tuple>known)[1] and not self.by_name

    cdef int enter_library(self) except -1:
        self.by_name = True
        try:
            if self.refusal is None:
                self.go_on(set(), set())
        except Exception as failure:
            self.refusal = without_frames(failure)
        return 0

    cdef int enter(self, code) except -1:
        """Note code that is entered for the first time; nothing is raised but interrupts, as any code may run."""
        cdef set names, stored
        self.has_begun = True
        self.codes[id(code)] = code
        if self.refusal is not None:
            return 0
        try:
            names, stored = set(self.names), set(self.stored)
            self.read(code)
            for name, f in <list>self.functions.get(id(code), []):
                self.visit_entered(name, f)
            if id(code) in self.inner:
                self.visit_globals(code, self.inner[id(code)])
            for kind, owner, key, expected, name in self.methods.pop(id(code), ()):
                self.watch(kind, owner, key, expected, name)
            self.go_on(self.names - names, self.stored - stored)
        except Exception as failure:
            self.refusal = without_frames(failure)
        return 0

    cdef int read(self, code) except -1:
        """The names of attributes that code has."""
        cdef Reads reads = reads_of(code)
        self.names |= reads.attributes
        self.stored |= reads.stored
        self.values |= reads.values
        self.handles = self.handles or reads.handles
        self.asks_whole = self.asks_whole or reads.asks_whole
        self.asks_callable = self.asks_callable or "callable" in reads.globals
        self.asks_kind = self.asks_kind or reads.has_patterns or not ASKS_KIND.isdisjoint(reads.globals)
        self.uses_super = self.uses_super or "super" in reads.globals
        self.by_name = self.by_name or reads.has_patterns or computes_names(reads)
        return 0

    cdef tuple asked(self):
        """What decides which attributes may be read, besides their names; it only grows."""
        return self.by_name, self.calls_by_name, self.asks_callable, self.handles, self.uses_super, self.copies, (
            self.asks_whole)

    cdef int go_on(self, set names, set stored) except -1:
        """Visit what was found, and ask all that was met for new names."""
        cdef Py_ssize_t k
        cdef Py_ssize_t known = len(self.subjects)      # those that were asked for all names but the new ones
        while True:
            while self.ahead:
                name, x = <tuple>self.ahead.pop()
                self.visit(name, x)
            if self.flags != self.asked():
                self.flags, known = self.asked(), 0
            if names or stored:
                for k in range(known):
                    self.ask(<tuple>self.subjects[k], names, stored)
                names, stored = set(), set()
            while known < len(self.subjects):
                self.ask(<tuple>self.subjects[known], self.names, self.stored)
                known += 1
            if not self.ahead and self.flags == self.asked():
                return 0

    cdef int ask(self, tuple subject, set names, set stored) except -1:
        visit, name, x, held = subject
        visit(self, name, x, held, names, stored)
        return 0

    def name_attribute(self, name):
        """Note a function that may read any attribute by its name."""
        self.by_name = self.by_name or name in BY_NAME or name in BY_SECOND

    def drawn(self):
        """The name of a generator of random numbers that was drawn from, or None."""
        for name, x, state in self.generators.values():
            if state_of_generator(x) != state:
                if is_global_generator(x):
                    return "NumPy's global random generator"
                return f"{name}, a {type(x).__name__}"
        return None

    def changed(self):
        """(guard, whether code reads it) for each place, and list, that is not as it was."""
        cdef list found = []
        for places, is_read in ((self.watches, True), (self.written, False)):
            for guard in places.values():
                kind, owner, key, expected, _ = <tuple>guard
                if kind == "said" and key not in vars(owner):   # it is another class's
                    continue
                if kind in PLACES and key != "__mro__" and not same(found_at(kind, owner, key), expected):
                    found.append((guard, is_read))
                elif kind in WHOLE and not same(held_by(<tuple>guard), expected):
                    found.append((guard, is_read))
                elif kind == "array" and not holds_now(guard):
                    found.append((guard, is_read))
        return found

    def put_back(self):
        """Let what has changed hold what it held; gives (guard, what it holds now) for each."""
        cdef list found = []
        for guard, _ in self.changed():
            held = held_by(<tuple>guard)
            try:
                put(guard, (<tuple>guard)[3])
            except (AttributeError, TypeError):     # it can only be read, and counts as changed
                continue
            found.append((guard, held))
        return found

    def is_aliased(self, x):
        """Whether a container was come to by other ways than by places that hold it."""
        return self.ways.get(id(x), 0) != 0

    # ---- what was found

    def later(self, name, x):
        """Visit an object."""
        self.ahead.append((name, x))

    def when_asked(self, visit, name, x, held=None):
        """Visit an object with each set of names that code may ask it for."""
        self.subjects.append((visit, name, x, held))

    def may_ask(self, names):
        """Those of these names by which any code may read an attribute."""
        return names if self.by_name else self.names.intersection(names)

    def watch(self, str kind not None, owner, key, expected, name):
        """Compare this with what is expected, at each call; or with what was there before it was written to."""
        place = kind, id(owner), key
        if place in self.watches:
            return
        self.watches[place] = self.written.pop(place, None) or (kind, owner, key, expected, name)
        if len(self.watches) > self.most:
            raise Untrackable(f"it may read more than {self.most} things, such as {name}")

    cdef int follow(self, str kind, owner, key, held, name) except -1:
        """Compare what a place holds at each call, and visit that; not what a place holds that is only written to."""
        self.watch(kind, owner, key, held, name)
        if (kind, id(owner), key) not in self.skipped:
            if issubclass(type(held), CONTAINERS):
                self.ways[id(held)] = self.ways.get(id(held), 0) - 1
            self.later(name.removeprefix("the global ").partition(" in ")[0], held)
        return 0

    def note_written(self, str kind not None, owner, key, expected, name):
        """Note what stands where code may write."""
        place = kind, id(owner), key
        if place not in self.watches and place not in self.written:
            self.written[place] = kind, owner, key, expected, name

    cdef int visit(self, name, x) except -1:
        """Guard what an object holds, and go on from there. Its name is what the user calls it, of any class."""
        kind = type(x)
        if isinstance(x, CLOSED_CLASSES):
            raise Untrackable(f"it may read {name}, a {kind.__name__}, which can change unseen")
        if id(kind) in PLAIN or x is ABSENT:
            return 0
        if issubclass(kind, CONTAINERS):
            self.ways[id(x)] = self.ways.get(id(x), 0) + 1
        if id(x) in self.met:
            return 0
        if has_fixed_names(kind) and isinstance(x, np.generic):
            return 0
        if isinstance(x, GETTERS):
            self.by_name = self.copies = True
        self.calls_by_name = self.calls_by_name or x is operator.methodcaller or kind is operator.methodcaller
        if is_traced(x):
            return self.visit_traced(name, x)
        self.met[id(x)] = x
        if derives_from(kind, IN_MEMORY):
            raise used_up(f"it may read {name}, a {kind.__name__}", True)
        if derives_from(kind, TOLD_CLASSES):
            return 0
        if is_generator(kind):
            return self.visit_generator(name, x)
        if derives_from(kind, (logging.Logger,)):
            return self.visit_logger(name, x)
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

    cdef int visit_traced(self, name, x) except -1:
        """A traced value: of what was recorded by now, or around the call, or of a call that has returned."""
        check_traced(name, x)
        if not self.has_begun:
            raise Outer
        return 0

    cdef int visit_generator(self, name, x) except -1:
        """A generator of random numbers, whose state tells after the call whether it was drawn from."""
        self.generators[id(x)] = name, x, state_of_generator(x)
        held = object_attribute(x, "__dict__")
        if own_classes(type(x)):
            self.visit_instance(name, x)
        elif type(held) is dict:
            self.when_asked(Walk.visit_named, name, x, held)
        self.when_asked(Walk.check_generator, name, x)
        return 0

    def visit_named(self, name, x, dict held not None, set names not None, stored):
        for key in sorted(names.intersection(held)):
            self.follow("attribute", x, key, held[key], f"{name}.{key}")

    def check_generator(self, name, x, held, set names, stored):
        if self.copies or not ASKS_STATE.isdisjoint(names):
            raise used_up(f"it may ask {name}, a {type(x).__name__}, for its state, or copy it", True)

    cdef int visit_logger(self, name, x) except -1:
        """A logger: what it writes is no result, but code may ask for its level."""
        self.when_asked(Walk.visit_level, name, x)
        return 0

    def check_level(self, name, x, held, set names, stored):
        if not ASKS_LEVEL.isdisjoint(names):
            raise Untrackable(f"it may ask what {name} gives for its level")

    def visit_level(self, name, x, held, set names, stored):
        keys = names.intersection(vars(x)) - PARTS_OF_LOGGERS
        if self.by_name or not ASKS_LEVEL.isdisjoint(names):
            keys = keys | {"disabled", "level", "parent", "propagate"}
            for key in ("disable", "_disable"):
                self.watch("attribute", x.manager, key, vars(x.manager).get(key, ABSENT), "logging.disable")
        for key in sorted(keys):
            self.follow("attribute", x, key, vars(x).get(key, ABSENT), f"{name}.{key}")

    # ---- functions and the modules they name

    def visit_function(self, name, x):
        """A function, of which nothing is read until its code is entered, but what it is called."""
        code = x.__code__
        if is_library(code.co_filename):
            for cell_name, cell in zip(code.co_freevars, x.__closure__ or ()):
                if cell_name == DISPATCH_CACHE:     # of `functools.singledispatch`: what follows from its registry
                    self.asks_kind = True
                else:
                    self.later(cell_name, content_of(cell))
            self.check_function(name, x)
            if x is logging.getLogger:      # which finds or makes them by name
                self.when_asked(Walk.check_level, name, x)
            self.copies = self.copies or x in (copy.copy, copy.deepcopy)
            return
        self.functions.setdefault(id(code), []).append((name, x))
        self.when_asked(Walk.visit_attributes, name, x, vars(x))
        if id(code) in self.codes:
            self.visit_entered(name, x)

    def assume(self, name, x):
        """Take a function of the user's that hoad calls by itself, and those that it names, for entered."""
        if type(x) is not types.FunctionType or is_library(x.__code__.co_filename) or id(x.__code__) in self.codes:
            return
        cdef Reads reads = reads_of(x.__code__)
        for code in (x.__code__, *reads.inner):
            self.codes[id(code)] = code
            self.read(code)
        self.later(name, x)
        for code in (x.__code__, *reads.inner):
            for key in (<Reads>reads_of(code)).globals:
                self.assume(key, x.__globals__.get(key))
        for cell in x.__closure__ or ():
            self.assume(name, content_of(cell))

    cdef int visit_entered(self, name, x) except -1:
        """The cells, defaults and globals of a function whose code is entered."""
        self.visit_call(name, x)
        self.visit_globals(x.__code__, x.__globals__)
        return 0

    cdef int visit_call(self, name, x) except -1:
        """What a call of a function reads besides globals."""
        code = x.__code__
        for cell_name, cell in zip(code.co_freevars, x.__closure__ or ()):
            held = content_of(cell)
            self.follow("cell", cell, None, held, f"{cell_name} in {x.__qualname__}")
        defaults, keywords = x.__defaults__, x.__kwdefaults__
        self.watch("function", x, None, (code, ABSENT if defaults is None else defaults,
                                         ABSENT if keywords is None else keywords), name)
        self.later(f"a default of {name}", defaults)
        self.later(f"a default of {name}", keywords)
        return 0

    cdef int visit_globals(self, code, known) except -1:
        """The globals and modules that code names, and the code that is defined within it."""
        cdef Reads reads = reads_of(code)
        for inner in reads.inner:
            self.inner[id(inner)] = known
            if id(inner) in self.codes:
                self.visit_globals(inner, known)
        for key in sorted(reads.globals):
            self.watch_global(key, known, reads)
        for key in sorted(reads.stored_globals):
            self.note_written("item", known, key, known.get(key, ABSENT), f"the global {key}")
        for module in sorted(reads.modules):
            self.visit_import(module, known.get("__package__") or "")
        return 0

    cdef int watch_global(self, str key, known, Reads reads) except -1:
        held = known.get(key, ABSENT)
        self.follow("item", known, key, held, f"the global {key}")
        if held is not ABSENT:
            return 0
        own = known.get("__builtins__", builtins)
        own = own if isinstance(own, dict) else vars(own)
        if key in CHANGING_BUILTINS and own.get(key) is getattr(builtins, key):
            raise Untrackable(f"it calls {key}")
        self.watch("item", own, key, own.get(key, ABSENT), f"the builtin {key}")
        if key not in BY_SECOND:    # whose names are known, as it is called at once
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
        for key in sorted(self.may_ask(keys)):
            try:
                held = object_attribute(x, key)
            except Exception:       # where annotations are worked out when they are asked for
                raise Untrackable(f"it may read {name}.{key}, which raises") from None
            self.watch("slot", x, key, held, f"{name}.{key}")
            self.later(f"{name}.{key}", held)
        return 0

    def visit_module(self, name, x):
        """Those items of a module that any code names."""
        self.when_asked(Walk.visit_items_of_module, name, x, vars(x))

    def visit_items_of_module(self, name, x, dict known not None, set names not None, set stored not None):
        library = is_library(known.get("__file__") or "") or known.get("__name__") in sys.builtin_module_names
        if (self.calls_by_name and is_changing(x.__name__)) or (self.by_name and x.__name__ in ONLY_CHANGING):
            raise Untrackable(f"it may call anything that {name} has, by a name that is computed")
        if self.by_name and not library:
            names = names | set(known)
        if not library and not names <= known.keys():
            names = names | {"__getattr__"}     # which gives the others
        for key in sorted(names):
            if key in known:
                self.follow("item", known, key, known[key], f"{name}.{key}")
            elif self.handles or self.by_name:
                self.watch("item", known, key, ABSENT, f"{name}.{key}")
        for key in stored:
            if not library or key in known:
                self.note_written("item", known, key, known.get(key, ABSENT), f"{name}.{key}")

    def check_function(self, name, x):
        """Raise for a function that gives something else at every call, and may be called where nothing tells."""
        if is_changing(getattr(x, "__module__", None)) and x.__name__ not in STEADY:
            key = name.rpartition(".")[2]
            if key in self.values or not key.isidentifier():
                raise Untrackable(f"it may call {name}")

    # ---- classes and objects

    def visit_class(self, name, x):
        """What a class of the user's, and those it derives from, say of the names that any code names."""
        cdef dict said = {}
        cdef list own = own_classes(x)
        if module_of(x) == "datetime" and not NOW.isdisjoint(self.values):
            raise Untrackable(f"it may ask {name} for the time")
        if module_of(x).partition(".")[0] == "pandas" and derives_from(x, (datetime.date,)):
            self.when_asked(Walk.check_now, name, x)
        if not own:
            return
        for cls in mro_of(x)[-2::-1]:
            said.update(vars(cls))
        for cls in own:
            for key in vars(cls):
                if key.startswith("__") and key not in DESCRIBING:
                    self.watch_special(name, x, key, said[key])
        for short in SPECIAL:
            key = f"__{short}__"
            held = said.get(key, vars(object).get(key, ABSENT))
            if held is ABSENT or type(held) is WrapperDescriptorType:       # of C, which leads to nothing
                self.watch("said", x, key, held, f"{name}.{key}")
            elif type(held) is not types.FunctionType:
                self.follow("said", x, key, held, f"{name}.{key}")
        self.watch("said", x, "__mro__", mro_of(x), f"the bases of {name}")
        self.when_asked(Walk.visit_names, name, x, said)
        if isinstance(x, enum.EnumMeta):    # whose members are found by name, by value and one after another, too
            self.later(f"the members of {name}", said["_member_map_"])
        if type(x) is not type:
            self.later(f"the class of {name}", type(x))

    def check_now(self, name, x, held, set names, stored):
        """Raise for classes of compiled code, whose calls nothing tells of."""
        if not NOW.isdisjoint(names):
            raise Untrackable(f"it may ask {name} for the time")

    cdef int watch_special(self, name, x, key, held) except -1:
        """What Python itself looks for in a class: a function counts once its code is entered."""
        self.later(f"{name}.{key}", held)
        code = held.__code__ if type(held) is types.FunctionType else None
        if code is None or id(code) in self.codes or is_library(code.co_filename):
            self.watch("said", x, key, held, f"{name}.{key}")
        else:
            self.methods.setdefault(id(code), []).append(("said", x, key, held, f"{name}.{key}"))
        return 0

    cdef int watch_said(self, name, x, key, dict said) except -1:
        held = said.get(key, vars(object).get(key, ABSENT))
        return self.follow("said", x, key, held, f"{name}.{key}")

    def visit_names(self, name, x, dict said not None, set names not None, set stored not None):
        """What a class says of names."""
        cdef list own = own_classes(x)
        found = names.intersection(said)
        if self.by_name:
            found = set(said)
            for cls in own:
                self.watch("content", vars(cls), None, tuple(vars(cls)), f"the names of {cls.__name__}")
        elif self.handles or answers_any_name(x) or answers_any_name(type(x)):
            found = names
        elif type(x) is not type:       # whose attributes are hidden by those of the class
            found = found | names.intersection(names_of(type(x)))
        if self.asks_callable:
            found = found | {"__call__"}
        for cls in own:
            self.watch_slots(cls.__name__, cls, SLOTS_OF_CLASSES)
            if cls is not x and self.uses_super:
                self.later(cls.__name__, cls)
        for key in sorted(found):
            self.watch_said(name, x, key, said)
        for key in stored:
            if key in said:     # a property, perhaps
                self.later(f"{name}.{key}", said[key])
            self.note_written("said", x, key, said.get(key, ABSENT), f"{name}.{key}")

    cdef int visit_instance(self, name, x) except -1:
        """An object of a class: its attributes."""
        kind = type(x)
        if not has_fixed_names(kind):       # which can be exchanged
            self.watch("type", x, None, kind, f"the class of {name}")
        self.later(kind.__name__, kind)
        held = object_attribute(x, "__dict__")
        if type(held) is dict:
            self.when_asked(Walk.visit_attributes, name, x, held)
        slots = slots_of(kind)
        if slots:
            self.when_asked(Walk.visit_slots, name, x, slots)
        return 0

    def visit_slots(self, name, x, list slots not None, set names not None, set stored not None):
        """Those slots of an object that any code names; all of them where code in C may read them."""
        every = self.by_name or has_library_base(type(x))
        for key in slots:
            if every or key in self.names:
                self.follow("slot", x, key, object_attribute(x, key), f"{name}.{key}")
            elif key in stored:
                self.note_written("slot", x, key, object_attribute(x, key), f"{name}.{key}")

    def visit_attributes(self, name, x, dict held not None, set names not None, set stored not None):
        """Those attributes of an object that any code names."""
        kind = type(x)
        if kind is types.FunctionType:
            self.watch_slots(name, x, SLOTS_OF_FUNCTIONS)
            if self.may_ask(CALLED):
                self.visit_call(name, x)
            if "__globals__" in names:
                self.later(f"{name}.__globals__", x.__globals__)
        if self.by_name or (not is_among(kind, FUNCTIONS) and has_library_base(kind)):
            self.later(f"the attributes of {name}", held)
            if module_of(kind).startswith("hoad."):
                for x in list(held.values()):
                    self.assume(name, x)
            return
        if self.asks_whole and issubclass(kind, types.SimpleNamespace):
            names = names | set(held)
        if not (self.handles or answers_any_name(kind)):
            names = names.intersection(names_of(kind)) | names.intersection(held)
        for key in sorted(names):
            found = held.get(key, ABSENT)
            self.follow("attribute", x, key, found, f"an attribute of {name}" if found is ABSENT else f"{name}.{key}")
        for key in stored:
            self.note_written("attribute", x, key, held.get(key, ABSENT), f"{name}.{key}")
