"""What a replay does besides computing: it counts, stores results, and appends them to lists."""

import opcode
import sys
from types import SimpleNamespace

from cpython.bytes cimport PyBytes_AS_STRING
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF
from libc.stdint cimport int64_t

from hoad._core.jit.environment import found_at, put_at

from hoad._core.jit.code_names cimport SHIFTS, argument
from hoad._core.jit.environment cimport same

cdef extern from "Python.h":
    ctypedef struct PyFrameObject:
        pass
    ctypedef int (*Py_tracefunc)(PyObject*, PyFrameObject*, int, PyObject*) except -1
    ctypedef struct PyThreadState:
        Py_tracefunc c_tracefunc
    enum:
        PyTrace_CALL
        PyTrace_OPCODE
    PyThreadState* PyThreadState_Get() noexcept
    void PyEval_SetTrace(Py_tracefunc function, PyObject* owner) except *
    void* PyFrame_GetCode(PyFrameObject* frame) noexcept

# ---- what is done at each replay ------------------------------------------------------------------------------------

cdef class Effect:
    """A place that a function writes to, and what it puts there."""

    def __init__(self, guard, str action not None, what=None, tuple places not None=(), arrange=None):
        """Of a guard of the place; `action` is "count" (by what), "store" or "append": what, or of values of a run.

        The values are those in `places`; `arrange` makes one thing of several.
        """
        self.kind, self.owner, self.key = guard[0], guard[1], guard[2]
        self.name = guard[4]
        self.action, self.what, self.places, self.arrange = action, what, places, arrange

    cdef object made(self, list values):
        """What is put there."""
        if self.arrange is not None:
            return self.arrange([values[k] for k in self.places])
        return values[self.places[0]] if self.places else self.what

    cdef bint is_possible(self) except -1:
        """Whether there is still a number that can be counted on."""
        return self.action != "count" or type(found_at(self.kind, self.owner, self.key)) is int

    cdef int apply(self, list values) except -1:
        if self.action == "count":
            put_at(self.kind, self.owner, self.key, found_at(self.kind, self.owner, self.key) + self.what)
        elif self.action == "append":
            (<list>self.owner).append(self.made(values))
        else:
            put_at(self.kind, self.owner, self.key, self.made(values))
        return 0


cdef int64_t DONE = 0


def effects_done():
    """How often a replay had effects, in all threads."""
    return DONE


cdef class Effects:
    """All that a function does, in an order that does not matter: each place stands here once, a list item by item."""

    def __init__(self, list effects not None):
        self.effects = effects
        self.needs_values = any([(<Effect>effect).places for effect in effects])

    cdef bint are_possible(self) except -1:
        for effect in self.effects:
            if not (<Effect>effect).is_possible():
                return False
        return True

    cpdef int apply(self, list values) except -1:
        """Do it, with these values of a run."""
        global DONE
        DONE += 1
        for effect in self.effects:
            (<Effect>effect).apply(values)
        return 0

    def put(self, list values not None):
        """Let places hold values of the recording, where traced ones are: what is counted is counted already."""
        cdef Effect made
        cdef dict at = {}       # how many items a list had before
        for effect in self.effects:
            made = <Effect>effect
            if made.action == "store":
                made.apply(values)
            elif made.action == "append":
                k = at.setdefault(id(made.owner), len(<list>made.owner) - self.appended(made.owner))
                if 0 <= k < len(<list>made.owner):      # another thread may have taken it away
                    made.owner[k] = made.made(values)
                at[id(made.owner)] = k + 1

    cdef Py_ssize_t appended(self, owner) except -1:
        return len([1 for effect in self.effects if (<Effect>effect).owner is owner])


# ---- what is read before it is written ------------------------------------------------------------------------------

cdef frozenset READING = frozenset(
    ["DELETE_ATTR", "DELETE_GLOBAL", "IMPORT_FROM", "LOAD_ATTR", "LOAD_GLOBAL", "LOAD_METHOD", "LOAD_NAME"])
cdef frozenset READING_CELLS = frozenset(["LOAD_CLASSDEREF", "LOAD_DEREF", "LOAD_FROM_DICT_OR_DEREF"])
# The numbers of these instructions.
cdef frozenset LOADS = frozenset([n for name, n in opcode.opmap.items()
                                  if name in READING or name.startswith("LOAD_SUPER")])
cdef frozenset LOADS_OF_CELLS = frozenset([n for name, n in opcode.opmap.items() if name in READING_CELLS])


cdef class PlaceTrace:
    """While it is the trace function of a thread, notes which places are read before anything is put there.

    It looks at each instruction of code that has one of the names that the places are known by.
    """

    def __init__(self, set names not None, walk):
        """`walk` knows the places, by their guards."""
        self.names, self.walk = names, walk
        self.read = set()
        self.is_set = False

    def __enter__(self):
        global WORKS
        if WORKS is None:
            WORKS = False
            WORKS = finds_a_read()
        if WORKS:
            self.start()
        return self

    cdef int start(self) except -1:
        if PyThreadState_Get().c_tracefunc == NULL:     # no debugger is there
            ask_for_instructions(sys._getframe())       # 3.12 asks whether any frame wants them, as tracing begins
            PyEval_SetTrace(traced, <PyObject*>self)
            self.is_set = True
        return 0

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        """Trace no more."""
        if self.is_set and PyThreadState_Get().c_tracefunc == <Py_tracefunc>traced:
            PyEval_SetTrace(NULL, NULL)

    def reads_first(self, guard):
        """Whether a place is read before it is written to; or may be, where nothing was traced."""
        return not self.is_set or (guard[0], id(guard[1]), guard[2]) in self.read

    cdef int look(self, code, Py_ssize_t at) except -1:
        """Note what an instruction reads that is still as it was."""
        cdef bytes steps = code.co_code
        cdef const unsigned char* step = <const unsigned char*>PyBytes_AS_STRING(steps)
        if step[at] in LOADS_OF_CELLS:
            self.note(None)
        elif step[at] in LOADS:
            self.note(code.co_names[argument(step, at) >> SHIFTS[step[at]]])
        return 0

    cdef int note(self, name) except -1:
        """Note the places of a name (None for any cell) that are as they were."""
        for places in (self.walk.watches, self.walk.written):
            for place, guard in list((<dict>places).items()):
                kind, owner, key, expected, _ = <tuple>guard
                if key == name and (key is not None or kind == "cell") and same(found_at(kind, owner, key), expected):
                    self.read.add(place)
        return 0


cdef object WORKS = None        # whether this Python tells of instructions; None if that is not known yet


cdef bint finds_a_read() except -1:
    """Whether a read is found where there is one."""
    place, space = SimpleNamespace(place=1), {}
    exec(compile("def read(x): return x.place", "<read>", "exec"), space)
    guard = "attribute", place, "place", 1, "place"
    trace = PlaceTrace({"place"}, SimpleNamespace(watches={("attribute", id(place), "place"): guard}, written={}))
    trace.start()
    try:
        space["read"](place)
    finally:
        trace.stop()
    return bool(trace.read)


def untraced(*_):
    """What a frame has for a trace function of its own, without which Python tells of no instructions."""


cdef int ask_for_instructions(object frame) except -1:
    frame.f_trace = untraced
    frame.f_trace_opcodes = True
    return 0


cdef int traced(PyObject* owner, PyFrameObject* frame, int event, PyObject* _) except -1:
    cdef PlaceTrace trace = <PlaceTrace>owner
    if event != PyTrace_CALL and event != PyTrace_OPCODE:
        return 0
    code = <object><PyObject*>PyFrame_GetCode(frame)
    Py_DECREF(code)
    if event == PyTrace_OPCODE:
        return trace.look(code, (<object><PyObject*>frame).f_lasti)
    if code.co_freevars or code.co_cellvars or not trace.names.isdisjoint(code.co_names):
        ask_for_instructions(<object><PyObject*>frame)
    return 0
