"""What a replay does besides computing: it adds to numbers, stores results, and appends them to lists."""

import sys
from types import SimpleNamespace

import numpy as np

from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF
from libc.stdint cimport int64_t

from hoad._core.jit.environment cimport found_at, put_at

from hoad._core.jit.environment import ABSENT

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

cdef object class_of_number(x):
    """The class of a number, where NumPy's floats are Python's."""
    return float if type(x) is np.float64 else type(x)


cdef class Effect:
    """A place, or a container, that a function writes to, and what it puts there."""

    def __init__(self, guard, str action not None, what=None, tuple places not None=(), arrange=None, missing=ABSENT):
        """Of a guard; `action` is "add" (each of a tuple), "store", "append" or "appendleft": what, or values of a run.

        With "expect" nothing is written: there is to be a number of the class that there was.
        The values are those in `places`; `arrange` makes one thing of several. `missing` is what is added to in a place
        where there is nothing.
        """
        self.kind, self.owner, self.key, self.before = guard[0], guard[1], guard[2], guard[3]
        self.name = guard[4]
        self.action, self.what, self.places, self.arrange = action, what, places, arrange
        self.missing = missing
        self.number = class_of_number(missing if self.before is ABSENT else self.before)

    cdef object made(self, list values):
        """What is put there."""
        if self.arrange is not None:
            return self.arrange([values[k] for k in self.places])
        return values[self.places[0]] if self.places else self.what

    cdef object found(self):
        """What there is to add to."""
        found = found_at(self.kind, self.owner, self.key)
        return self.missing if found is ABSENT else found

    cdef bint is_possible(self) except -1:
        """Whether there is still such a number to add to."""
        return self.action not in ("add", "expect") or class_of_number(self.found()) is self.number

    cdef int add(self, found, list values) except -1:
        for number in self.made(values):
            found = found + number
        put_at(self.kind, self.owner, self.key, found)
        return 0

    cdef int apply(self, list values) except -1:
        if self.action == "add":
            self.add(self.found(), values)
        elif self.action == "store":
            put_at(self.kind, self.owner, self.key, self.made(values))
        elif self.action == "append":
            self.owner.append(self.made(values))
        elif self.action == "appendleft":
            self.owner.appendleft(self.made(values))
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
        cdef dict left = {}     # how many items of a container are to come
        for effect in self.effects:
            made = <Effect>effect
            left[id(made.owner)] = left.get(id(made.owner), 0) + 1
        for effect in self.effects:
            made = <Effect>effect
            left[id(made.owner)] -= 1
            if made.action == "store":
                made.apply(values)
            elif made.action == "add" and made.places:
                made.add(made.missing if made.before is ABSENT else made.before, values)
            elif made.action.startswith("append"):
                k = left[id(made.owner)]
                k = k if made.action == "appendleft" else len(made.owner) - 1 - k
                if 0 <= k < len(made.owner):    # another thread may have taken it away
                    made.owner[k] = made.made(values)


# ---- what is read before it is written ------------------------------------------------------------------------------

cdef class PlaceTrace:
    """While it is the trace function of a thread, tells of instructions in code that has one of some names.

    The `listener` has `accesses(code)`, a dict of what it wants to be told by the offset of the instruction, and
    `note(access, frame)`, which it is told before the instruction runs.
    """

    def __init__(self, set names not None, listener):
        self.names, self.listener = names, listener
        self.tables = {}
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

    cdef int look(self, code, frame) except -1:
        """Tell of an instruction."""
        if id(code) not in self.tables:
            self.tables[id(code)] = code, self.listener.accesses(code)
        access = (<dict>(<tuple>self.tables[id(code)])[1]).get(frame.f_lasti)
        if access is not None:
            self.listener.note(access, frame)
        return 0


cdef object WORKS = None        # whether this Python tells of instructions; None if that is not known yet


cdef class _Told:
    """Whether an instruction was told of."""

    cdef bint is_told

    def accesses(self, code):
        return dict.fromkeys(range(len(code.co_code)), True)

    def note(self, access, frame):
        self.is_told = True


cdef bint finds_a_read() except -1:
    """Whether instructions are told of."""
    space, told = {}, _Told()
    exec(compile("def read(x): return x.place", "<read>", "exec"), space)
    trace = PlaceTrace({"place"}, told)
    trace.start()
    try:
        space["read"](SimpleNamespace(place=1))
    finally:
        trace.stop()
    return told.is_told


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
        return trace.look(code, <object><PyObject*>frame)
    if code.co_freevars or code.co_cellvars or not trace.names.isdisjoint(code.co_names):
        ask_for_instructions(<object><PyObject*>frame)
    return 0
