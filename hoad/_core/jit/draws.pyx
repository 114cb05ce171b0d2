"""Random draws that are made anew at each replay: calls of the methods of NumPy's generators.

While a function is recorded, its draws are noted. A second recording, which knows them, has an input for each.
"""

import numpy as np

from cpython.object cimport PyObject

from hoad._core.base.where cimport Origin, here, origin_of
from hoad._core.graph.tape cimport Graph, operand_aval
from hoad._core.jit.environment cimport same
from hoad._core.trace.generator_calls cimport DrawListener, listener, vectorcallfunc
from hoad._core.trace.traced cimport Array, Traced, new_array, wrap

from hoad._core.base.call_watch import state_of_generator
from hoad._core.trace.context import running

from hoad.errors import ArgumentError

cdef extern from "Python.h":
    Py_ssize_t PyVectorcall_NARGS(size_t) noexcept
    Py_ssize_t PyTuple_GET_SIZE(PyObject*) noexcept
    PyObject* PyTuple_GET_ITEM(PyObject*, Py_ssize_t) noexcept
    PyObject* PyEval_GetFrame() noexcept

# Methods that do not return what they draw, or return no numbers.
cdef frozenset OTHERS = frozenset(["bytes", "get_state", "seed", "set_state", "shuffle", "spawn"])
cdef object UNKNOWN = object()
cdef tuple PLAIN = (bool, int, float, str, type(None))
cdef tuple CONSTANTS = (np.generic, np.dtype, type)     # classes of these


# ---- one draw -------------------------------------------------------------------------------------------------------

cdef class Draw:
    """A call of a method of a generator, with constant arguments."""

    cdef readonly object function, generator
    cdef readonly tuple args
    cdef readonly dict kwargs
    cdef readonly str where     # the user's line
    cdef Py_ssize_t place       # how many draws of a call were before it
    cdef readonly object example    # a number that was drawn

    cdef object make(self):
        return self.function(self.generator, *self.args, **self.kwargs)

    cdef bint is_as(self, Draw other) except -1:
        """Whether another draw is the same call, and gives what is of the same shape."""
        if np.shape(self.example) != np.shape(other.example) and other.example is not None:
            return False
        return self.function is other.function and self.generator is other.generator and (
            are_alike(self.args, other.args)) and are_alike(self.kwargs, other.kwargs)

    @property
    def name(self):
        """What is called, for messages."""
        return f"{type(self.generator).__name__}.{self.function.__name__}"


cdef Draw draw_of(PyObject* function, PyObject** args, Py_ssize_t n, PyObject* names):
    """A call as a draw, with copies of its arguments; None where one is no constant."""
    cdef Draw made = Draw.__new__(Draw)
    cdef Py_ssize_t k
    if n < 1:
        return None
    made.function, made.generator = <object>function, <object>args[0]
    made.args = tuple([copy_of(<object>args[k]) for k in range(1, n)])
    made.kwargs = {}
    if names != NULL:
        for k in range(PyTuple_GET_SIZE(names)):
            made.kwargs[<object>PyTuple_GET_ITEM(names, k)] = copy_of(<object>args[n + k])
    for x in (*made.args, *made.kwargs.values()):
        if x is UNKNOWN:
            return None
    made.where = here()
    return made


cdef object copy_of(x):
    """An argument as it is now; `UNKNOWN` for what may be anything, a traced value among it."""
    kind = type(x)
    if kind in PLAIN or isinstance(x, CONSTANTS):
        return x
    if kind is np.ndarray and not x.dtype.hasobject:
        return x.copy()
    if kind is not tuple and kind is not list:
        return UNKNOWN
    made = kind([copy_of(item) for item in x])
    for item in made:
        if item is UNKNOWN:
            return UNKNOWN
    return made


cdef bint are_alike(x, y) except -1:
    """Whether two copies of arguments are of one class and content."""
    if type(x) is not type(y):
        return False
    if type(x) is dict:
        return are_alike(tuple(x), tuple(y)) and are_alike(tuple(x.values()), tuple(y.values()))
    if type(x) is tuple or type(x) is list:
        if len(x) != len(y):
            return False
        for a, b in zip(x, y):
            if not are_alike(a, b):
                return False
        return True
    if type(x) is np.ndarray:
        return x.shape == y.shape and x.dtype == y.dtype and x.tobytes() == y.tobytes()
    return same(x, y) or (isinstance(x, np.dtype) and x == y)


cdef bint is_number(x) except -1:
    """Whether what was drawn can be an input: numbers, no text and no bytes."""
    if type(x) is np.ndarray or isinstance(x, np.generic):
        return x.dtype.kind in "biuf"
    return type(x) is float or type(x) is int


cdef object whole_state(x):
    """The state of a generator, to be set again."""
    return x.get_state(legacy=False) if hasattr(x, "get_state") else x.bit_generator.state


cdef int set_state(x, state) except -1:
    if hasattr(x, "set_state"):
        x.set_state(state)
    else:
        x.bit_generator.state = state
    return 0


# ---- at a replay ----------------------------------------------------------------------------------------------------

cdef class Draws:
    """The draws of a recording, in their order."""

    def __init__(self, list made not None):
        self.made = made
        self.size = len(made)

    cdef list states(self):
        """(generator, state) for each that is drawn from."""
        cdef dict found = {}
        cdef Draw draw
        for draw in self.made:
            if id(draw.generator) not in found:
                found[id(draw.generator)] = draw.generator, whole_state(draw.generator)
        return list(found.values())

    cdef object draw(self, Py_ssize_t k):
        """What draw k gives now."""
        return (<Draw>self.made[k]).make()


cdef int go_back(list states) except -1:
    """Let generators be as they were."""
    for generator, state in states:
        set_state(generator, state)
    return 0


# ---- while a function is recorded -----------------------------------------------------------------------------------

cdef class DrawLog(DrawListener):
    """While it is open, notes what a function draws, from generators that were there before it was called.

    Draws that it was seen to make by an earlier log are inputs of the recording, which are given their values as it
    makes them again; in place of others the function is given plain numbers.
    """

    cdef readonly list made     # the draws of the function so far
    cdef readonly list inputs   # the nodes of those that are inputs, in their order
    cdef readonly list known    # all that the function was seen to make, once each
    cdef list nodes, traced     # of those that were known at first
    cdef list found             # what was drawn
    cdef dict places            # number of a draw within a call: which of the known ones it may be
    cdef dict first             # id: (generator, its state) before its first draw
    cdef Graph graph
    cdef dict generators
    cdef object watch           # the `CallWatch` of the recording
    cdef Py_ssize_t at          # the next draw of a plain call beside the recording, or -1

    def __init__(self, list known not None):
        self.known, self.made, self.inputs, self.found = list(known), [], [], []
        self.places, self.first = {}, {}
        self.at = -1
        cdef Draw draw
        for k, draw in enumerate(known):
            self.places.setdefault(draw.place, []).append(k)

    def begin(self, graph, list traced not None, list nodes not None, dict generators not None, watch):
        """Note the draws of what is recorded into a graph; `traced` are its inputs for what is known, with their nodes.

        `generators` has those that were there before with their states, which follow what is noted here.
        """
        self.graph, self.traced, self.nodes, self.generators, self.watch = graph, traced, nodes, generators, watch

    def __enter__(self):
        self.listen()
        return self

    def __exit__(self, *failure):
        self.end()
        self.traced = None

    @property
    def is_whole(self):
        """Whether all that was drawn is among the inputs."""
        return len(self.inputs) == len(self.made)

    def put_back(self):
        """Let the generators be as they were before anything was drawn."""
        go_back(list(self.first.values()))

    cdef object call(self, PyObject* function, vectorcallfunc original, PyObject** args, size_t nargsf,
                     PyObject* names):
        """A call of a method: what it gives, as a traced value if it is known."""
        cdef Draw draw
        cdef Py_ssize_t k
        self.is_inside = True
        try:
            draw = self.seen(function, args, PyVectorcall_NARGS(nargsf), names)
            if draw is None:
                return original(function, args, nargsf, names)
            if self.at >= 0:
                return self.again(draw)
            before = state_of_generator(draw.generator)
            self.first.setdefault(id(draw.generator), (draw.generator, whole_state(draw.generator)))
            found = original(function, args, nargsf, names)
            for k in range(1, PyVectorcall_NARGS(nargsf) + len(draw.kwargs)):
                if found is <object>args[k]:        # it is filled, and is no new array
                    return found
            return self.noted(draw, found, before) if is_number(found) else found
        finally:
            self.is_inside = False

    cdef object noted(self, Draw draw, found, before):
        """What is given to the function in place of what it drew."""
        cdef Draw known
        self.explain(draw.generator, before)
        draw.place, draw.example = len(self.made), found
        self.found.append(found)
        for k in self.places.setdefault(draw.place, []):
            known = <Draw>self.known[k]
            if known.is_as(draw):
                self.made.append(known)
                if k >= len(self.nodes):
                    return found
                self.inputs.append(self.nodes[k])
                self.graph.set_object(self.nodes[k], np.array(found))
                return self.traced_now(k)
        self.places[draw.place].append(len(self.known))
        self.known.append(draw)
        self.made.append(draw)
        return found

    cdef object traced_now(self, Py_ssize_t k):
        """An input with the value that its node has now; an array that may be written to, unlike an argument."""
        cdef int node = self.nodes[k]
        cdef Traced known = <Traced>self.traced[k]
        cdef Traced made = <Traced>(
            new_array(self.graph, node, operand_aval(self.graph, node)) if type(known) is Array
            else wrap(self.graph, node))
        made.represents = known.represents
        return made

    cdef int explain(self, generator, before) except -1:
        """Expect the state that a generator has now, if it was as expected before."""
        name, _, state = self.generators[id(generator)]
        now = state_of_generator(generator)
        if state == before:
            self.generators[id(generator)] = name, generator, now
        self.watch.expect(before, now)
        return 0

    cdef object again(self, Draw draw):
        """What a draw gave that a plain call makes once more."""
        self.at += 1
        if self.at > len(self.made) or not (<Draw>self.made[self.at - 1]).is_as(draw):
            raise ArgumentError(f"it draws other random numbers there, by {draw.name} at {draw.where}")
        return copy_of(self.found[self.at - 1])

    cdef Draw seen(self, PyObject* function, PyObject** args, Py_ssize_t n, PyObject* names):
        """The draw of a call that the user's code makes in the recording; else None."""
        if n < 1 or id(<object>args[0]) not in self.generators or (<object>function).__name__ in OTHERS:
            return None
        if self.at < 0 and running() is not self.graph:
            return None
        frame = <object>PyEval_GetFrame()
        while frame is not None and origin_of(frame.f_code.co_filename) == Origin.HOADS:    # with traced parameters
            frame = frame.f_back
        if frame is None or origin_of(frame.f_code.co_filename) != Origin.USERS:
            return None
        return draw_of(function, args, n, names)


cpdef bint is_recorded() except -1:
    """Whether this thread records for jit: then what is called counts for the recording, and is not replayed."""
    return listener() is not None


def draws_so_far():
    """How many draws were made by what this thread records."""
    cdef DrawListener log = listener()
    return 0 if log is None else len((<DrawLog>log).made)


def draw_again(Py_ssize_t at):
    """Give the numbers that were drawn from this one on once more, to a plain call; from -1 on, draw anew."""
    cdef DrawListener log = listener()
    if log is not None:
        (<DrawLog>log).at = at
