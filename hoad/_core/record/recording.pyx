"""Running derivatives and sealed tapes, as the Python floors handle them: by operand numbers.

A `Recording` is one derivative being taken. The outermost one owns a graph of its own; one that begins while another
runs records into the same graph, beyond identity nodes, and is rewound when nothing of it is left in use.
"""

from contextvars import ContextVar

import numpy as np

cimport numpy as cnp
from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree
from cpython.ref cimport Py_XDECREF
from libc.math cimport NAN

from hoad._core.sweep.adjoint cimport adjoint_sweep
from hoad._core.base.blocks cimport give, take_zeroed
from hoad._core.graph.dce cimport compact
from hoad._core.sweep.builder cimport Emitter
from hoad._core.runtime.engine cimport Lowered
from hoad._core.lower.lower.lower cimport lower
from hoad._core.trace.coerce cimport operand_of
from hoad._core.graph.primitive cimport INFO, K_PYTHON, Signature, params_of, primitive_of
from hoad._core.trace.errors cimport note_origin
from hoad._core.graph.subgraph cimport Segment, cut, drop_guards, keep_constants
from hoad._core.record.guard_calibration cimport settle
from hoad._core.sweep.tangent cimport tangent_sweep
from hoad._core.graph.tape cimport (
    AVAL_BOOL,
    F_EXT,
    F_OBJ,
    F_STRONG,
    F_VALUED,
    OP_IDENTITY,
    OP_INPUT,
    OP_MASK,
    OP_RESULT,
    OP_STOP,
    ZERO,
    Aval,
    Const,
    Ext,
    Frame,
    Graph,
    Node,
    Slot,
    aval_of,
    int32_t,
    intern_aval,
    node_operands,
    operand_aval,
    uint8_t,
)
from hoad._core.sweep.rule_template cimport Template
from hoad._core.trace.traced cimport wrap
from hoad._core.base.where cimport here

from hoad._core.trace.coerce import new_input
from hoad._core.graph.primitive import primitive_named
from hoad._core.trace.traced import graph_of, is_traced

cdef enum:
    LARGE = 1 << 16     # bytes of an array that a replay has no use for

cdef extern from "pythread.h":
    unsigned long PyThread_get_thread_ident() noexcept nogil

SYMBOLIC_ZERO = <int>ZERO


def is_open(Graph graph):
    """Whether this thread is recording into `graph`."""
    return graph.thread == PyThread_get_thread_ident()


cdef class Recording:
    """One derivative being taken."""

    cdef readonly Graph graph
    cdef readonly bint nested
    cdef readonly list inputs
    cdef Frame frame
    cdef public object asked    # (driver, function, the keys of its arguments, containers among them), for messages
    cdef bint kept
    cdef bint repeated          # what is recorded runs again and again
    cdef Emitter emitter        # one for all sweeps, so that a later one finds what an earlier one emitted

    def __init__(self, Graph outer=None, bint valued=True, bint apart=False, bint repeated=False):
        self.inputs = []
        self.nested = outer is not None
        self.graph = outer if self.nested else Graph(valued)
        if not self.nested and WATCHERS.get():
            self.graph.watch()
        self.graph.enter()
        if apart:
            self.graph.frame.apart = self.graph.entries
        self.repeated = repeated
        if repeated and not self.graph.frame.repeated:
            self.graph.frame.repeated = self.graph.frame.start + 1
        self.frame = self.graph.frame

    @property
    def start(self):
        """The first node that belongs to this derivative."""
        return self.frame.start

    # ---- into the graph

    def input(self, value):
        """A traced input with this value."""
        traced = new_input(self.graph, value, self.nested)
        self.inputs.append(self.graph.size - 1)
        return traced

    def depends(self, int operand, int node):
        """Whether an operand can be reached from a node."""
        cdef int32_t i, k, n
        cdef const int32_t* operands
        cdef bytearray reached = bytearray(max(operand - node + 1, 1))
        if operand < node:
            return False
        reached[0] = 1
        for i in range(node + 1, operand + 1):
            operands = node_operands(self.graph, i, &n)
            for k in range(n):
                if operands[k] >= node and reached[operands[k] - node]:
                    reached[i - node] = 1
        return bool(reached[operand - node])

    def operand(self, value):
        """The operand of any value: a node, or a constant."""
        return operand_of(self.graph, value)

    def aval(self, int operand):
        """The abstract value of an operand."""
        return aval_of(operand_aval(self.graph, operand))

    def value(self, int operand):
        """The value of an operand, or None."""
        return self.graph.value_of(operand)

    def seed_input(self, int like, bint strong=False):
        """An input without a value, shaped like an operand; `strong` if its zeros stand for no dependence."""
        cdef Aval aval = aval_of(operand_aval(self.graph, like))
        new_input(self.graph, aval if aval.inexact else intern_aval(np.dtype(np.float64), aval.shape), False)
        if strong:
            self.graph.nodes[self.graph.size - 1].flags |= F_STRONG
        return self.graph.size - 1

    def unit(self, int like, int offset, value=1.0, int step=0):
        """An operand shaped like another, 1 (or `value`) at a flat offset and strongly 0 elsewhere.

        With a step, at every so manieth item from there on.
        """
        cdef Emitter emitter = Emitter(self.graph)
        cdef Aval aval = aval_of(operand_aval(self.graph, like))
        cdef object dtype = aval.dtype if aval.inexact else np.dtype(np.float64)
        cdef cnp.ndarray offsets = np.arange(offset, aval.size if step else offset + 1, step or 1)
        cdef int32_t one = self.graph.const_object(np.array(value, dtype))
        cdef int32_t[::1] ones
        if aval.ndim == 0:
            return one
        if not aval.is_float64:
            place = (offset * dtype.itemsize, (len(offsets),), (step * dtype.itemsize,))
            one = self.graph.const_object(np.full(len(offsets), value, dtype))
            return emitter.assemble(intern_aval(dtype, aval.shape).number, &one, 1, np.zeros(0, dtype=np.int64),
                                    (place,))
        ones = np.full(len(offsets), one, dtype=np.int32)
        return emitter.assemble(aval.number, &ones[0], len(offsets), offsets, ())

    def unit_at(self, int like, int place, int step, value=1.0):
        """As `unit`, at the flat offset that is the value of the operand `place`, and at every `step`th from there."""
        cdef Emitter emitter = Emitter(self.graph)
        cdef Aval aval = aval_of(operand_aval(self.graph, like))
        cdef Aval made = aval if aval.inexact else intern_aval(np.dtype(np.float64), aval.shape)
        cdef Aval truth = intern_aval(np.dtype(np.bool_), aval.shape)
        cdef int32_t[2] pair
        pair[0] = place
        pair[1] = self.graph.const_object(np.arange(float(aval.size)).reshape(aval.shape) % step)
        pair[0] = emitter.emit_ext(primitive_named("equal"), None, pair, 2, truth.number)
        pair[1] = self.graph.const_object(np.array(value, made.dtype))
        return emitter.emit_ext(primitive_of(OP_MASK), None, pair, 2, made.number)

    def broadcast(self, int operand, tuple shape):
        """An operand at a shape."""
        cdef Aval aval = intern_aval(aval_of(operand_aval(self.graph, operand)).dtype, shape)
        return Emitter(self.graph).broadcast(operand, aval.number)

    def ones(self, int like):
        """An operand of ones shaped like another, which products do not see."""
        cdef Emitter emitter = Emitter(self.graph)
        cdef Aval aval = aval_of(operand_aval(self.graph, like))
        if aval.number > AVAL_BOOL and not aval.is_float64:
            return operand_of(self.graph, np.ones(aval.shape, aval.dtype))
        return emitter.broadcast(self.graph.const_float(1.0), aval.number)

    # ---- sweeps

    def adjoints(self, list targets, list seeds, list wrt):
        """Adjoints of the nodes `wrt` for these seeds; `SYMBOLIC_ZERO` where there are none."""
        cdef int32_t start = self.graph.size
        cdef bint noted = self.graph.sweeps is not None
        found = adjoint_sweep(self.graph, self.emitting(), nodes_among(targets), seeds_of(targets, seeds), wrt, noted)
        if noted:
            self.graph.sweeps.append((start, self.graph.size, "reverse"))
        return found

    def tangents(self, list targets, list wrt, list tangents):
        """Tangents of `targets` for these tangents of the nodes `wrt`."""
        cdef int32_t start = self.graph.size
        cdef bint noted = self.graph.sweeps is not None
        found = tangents_of(self.graph, self.emitting(), targets, wrt, tangents, noted)
        if noted:
            self.graph.sweeps.append((start, self.graph.size, "forward"))
        return found

    cdef Emitter emitting(self):
        if self.emitter is None:
            self.emitter = Emitter(self.graph)
        return self.emitter

    def forget(self):
        """Start with a fresh emitter: what was emitted may have been rewound since."""
        self.emitter = None

    def or_zeros(self, list operands, list like):
        """The operands, with constants of zeros in place of symbolic zeros."""
        cdef Emitter emitter = Emitter(self.graph)
        return [emitter.zeros(operand_aval(self.graph, <int32_t>k)) if <int32_t>x == ZERO else x
                for x, k in zip(operands, like)]

    # ---- out of the graph

    def compute(self, list operands):
        """The values of these operands, as floats and arrays of their own."""
        return lower(self.graph, operands, [], [], self.frame.start, 0, self.nested, True).execute([], 1)

    def lanes(self, list operands, int seed):
        """A program for these operands with lanes over a seed input."""
        return lower(self.graph, operands, [seed], [True], self.frame.start, 0, False)

    def results(self, list operands, bint traced=False):
        """What the derivative gives: numbers when it is outermost or owes nothing to an outer one, else traced."""
        if not self.graph.valued and self.reaches_out(operands):    # in a rule, where nothing has a value
            return [wrap(self.graph, <int32_t>x) if <int32_t>x >= 0 else self.graph.value_of(x) for x in operands]
        values = self.compute(operands)
        if not traced and (not self.nested or not self.reaches_out(operands)):
            watchers = WATCHERS.get()
            if watchers:
                watchers[-1].recorded(self, operands, values)
            return values
        return [wrap(self.graph, <int32_t>x) if <int32_t>x >= 0 else value for x, value in zip(operands, values)]

    cdef bint reaches_out(self, list operands) except -1:
        """Whether any of these operands depends on a node of an outer derivative."""
        cdef int32_t start = self.frame.start
        cdef int32_t size = self.graph.size - start
        cdef uint8_t* reached
        cdef int32_t i, k, n
        cdef int32_t last = start - 1
        cdef const int32_t* inner
        cdef bint out = False
        for i in operands:
            if 0 <= i < start:
                return True
            last = max(last, i)
        if last < start:
            return False
        reached = <uint8_t*>PyMem_RawCalloc(max(size, 1), 1)
        if reached == NULL:
            raise MemoryError
        for i in operands:
            if i >= start:
                reached[i - start] = 1
        for i in range(last - start, -1, -1):
            if not reached[i]:
                continue
            inner = node_operands(self.graph, start + i, &n)
            for k in range(n):
                if inner[k] >= start:
                    reached[inner[k] - start] = 1
                elif inner[k] >= 0:
                    out = True
            if out:
                break
        PyMem_RawFree(reached)
        return out

    def cut(self, list outputs, bint whole=False):
        """What was recorded, as far as these outputs and the guards need it, as a graph of its own.

        With the arrays that it captured and the values of its inputs if `whole`; else these arrays become inputs.
        If no traced value of it is left, it will be rewound, and only what the segment refers to stays.
        """
        cdef Segment made = cut(self.graph, self.frame, self.inputs, outputs, whole)
        if self.graph.positions is not None:
            watch_segment(self.graph, made)
        if self.graph.frame.live == 0:
            self.frame = drop_guards(self.graph, self.frame)
            self.frame = keep_constants(self.graph, self.frame, made.constants)
        return made

    def end(self):
        """End the derivative: an outermost graph is closed, a nested one rewound if nothing of it is in use."""
        cdef bint leaks = self.graph.frame.live != 0
        cdef bint unused = not leaks
        cdef int32_t k
        cdef Frame frame = self.frame
        if not self.nested:
            if self.kept:
                seal_sweeps(self.graph)
                self.graph.leave()
                self.graph.thread = 0
            else:
                if self.graph.frame.live and self.asked is not None:
                    note_origin(self.graph, self.asked[0], self.asked[1])
                self.graph.close()
            return
        unused = unused and not self.reaches_out(
            [self.graph.guards[k].node for k in range(frame.n_guards, self.graph.n_guards)])
        self.graph.leave()
        if unused:      # and no branch inside was taken on a value from outside
            self.graph.rewind(frame)
        elif leaks and self.repeated:
            self.note_body()

    cdef int note_body(self) except -1:
        """Note which nodes of a body that ends are those of its first step alone: traced values of it are alive."""
        cdef int32_t start = self.frame.start
        cdef int32_t i, k, n
        cdef const int32_t* operands
        cdef bytearray varying = bytearray(self.graph.size - start)
        for i in self.inputs:
            varying[i - start] = 1
        for i in range(start, self.graph.size):
            operands = node_operands(self.graph, i, &n)
            for k in range(n):
                if operands[k] >= start and varying[operands[k] - start]:
                    varying[i - start] = 1
        self.graph.bodies = self.graph.bodies or []
        self.graph.bodies.append((start, bytes(varying), here()))
        return 0

    def hold(self):
        """The traced value of the first input; while it lives, a nested derivative is not rewound."""
        return wrap(self.graph, self.inputs[0]) if self.nested else None

    def keep(self):
        """Let an outermost recording outlive its end, closed to further recording."""
        self.kept = True

    def drop_arrays(self):
        """Forget large arrays that hang on the inputs: who asks for one has it computed again."""
        drop_arrays(self.graph)

    @property
    def alive(self):
        """The number of traced values of this derivative that something still refers to."""
        return self.graph.frame.live

    @property
    def size(self):
        """The number of nodes of the graph so far."""
        return self.graph.size

    @property
    def guards(self):
        """The number of guards of the graph so far."""
        return self.graph.n_guards


# What looks at results in this context before they are returned, the last of them: see `hoad.debug_nans`.
WATCHERS = ContextVar("hoad_watchers", default=())


# The graph that is recorded into in this context. One that has ended, or that another thread owns, counts as none.
RUNNING = ContextVar("hoad_running", default=None)


def running():
    """The graph this thread is recording into, or None."""
    graph = RUNNING.get()
    return graph if graph is not None and is_open(graph) else None


cdef class differentiating:
    """One derivative: what is recorded inside belongs to it, and nothing of it is left when it ends.

    Compiled, so that no interruption comes between the end of the block and what ends the recording.
    """

    cdef bint nested
    cdef bint valued
    cdef bint apart             # what becomes a program behind one node
    cdef bint repeated          # and runs again and again
    cdef Recording recording
    cdef object token

    def __init__(self, bint nested=True, bint valued=True, bint apart=False, bint repeated=False):
        self.nested = nested
        self.valued = valued
        self.apart = apart
        self.repeated = repeated

    def __enter__(self):
        self.recording = Recording(running() if self.nested else None, self.valued, self.apart, self.repeated)
        self.token = RUNNING.set(self.recording.graph)
        return self.recording

    def __exit__(self, *failure):
        RUNNING.reset(self.token)
        self.recording.end()


cdef list nodes_among(list targets):
    return [t for t in targets if <int32_t>t >= 0]


cdef list seeds_of(list targets, list seeds):
    return [s for t, s in zip(targets, seeds) if <int32_t>t >= 0]


cdef list tangents_of(Graph graph, Emitter emitter, list targets, list wrt, list tangents, bint notes=False):
    cdef list nodes = nodes_among(targets)
    cdef dict found = dict(zip(nodes, tangent_sweep(graph, emitter, nodes, wrt, tangents, notes)))
    return [found.get(t, <int>ZERO) for t in targets]


def is_pointwise(Graph graph, int start, list inputs, int output):
    """Whether everything between `inputs` and `output` acts element by element."""
    cdef int32_t i, k, n
    cdef int32_t high = max(inputs + [output]) + 1
    cdef const int32_t* operands
    cdef bytearray depends = bytearray(high)
    cdef Node* node
    for i in inputs:
        depends[i] = 1
    for i in range(start, high):
        if depends[i]:
            continue
        operands = node_operands(graph, i, &n)
        for k in range(n):
            if operands[k] >= 0 and depends[operands[k]]:
                depends[i] = 1
        node = &graph.nodes[i]
        if depends[i] and not (primitive_of(node.op).elementwise or node.op == OP_IDENTITY or node.op == OP_STOP
                               or node.op == OP_RESULT
                               or (primitive_of(node.op).name == "astype" and primitive_of(node.op).qualified is None)):
            depends[i] = 2
        if depends[i] == 1:
            for k in range(n):      # a value that passed through another operation taints what it meets
                if operands[k] >= 0 and depends[operands[k]] == 2:
                    depends[i] = 2
    return output < 0 or depends[output] < 2


def takes_apart(Graph graph, int start, list inputs, int output):
    """Whether anything between `inputs` and `output` may fail to be holomorphic: parts, sizes, conjugates, factors."""
    cdef int32_t i, k, n
    cdef const int32_t* operands
    cdef bytearray depends = bytearray(max(inputs + [output]) + 1)
    cdef Node* node
    cdef bint real
    for i in inputs:
        depends[i] = 1
    for i in range(start, output + 1):
        node = &graph.nodes[i]
        real = aval_of(operand_aval(graph, i)).inexact and not aval_of(operand_aval(graph, i)).is_complex
        operands = node_operands(graph, i, &n)
        for k in range(n):
            if operands[k] < 0 or not depends[operands[k]]:
                continue
            depends[i] = 1
            if aval_of(operand_aval(graph, operands[k])).is_complex and (real or may_conjugate(node.op)):
                return True
    return False


cdef bint may_conjugate(int op) except -1:
    """Whether a complex result of an operation need not be a holomorphic function of its operands."""
    return INFO[op].kind == K_PYTHON and not INFO[op].linear or primitive_of(op).name in ("conjugate", "sign")


# ---- sealed tapes ---------------------------------------------------------------------------------------------------

def inline(Graph source, list outputs, list inputs, list values):
    """Record the nodes behind `outputs` once more, with traced or plain `values` in place of the nodes `inputs`.

    The numbers of `outputs` and `inputs` are those of a sealed graph; the result is traced in the running one.
    """
    cdef Graph graph = None
    cdef Template template
    cdef Emitter emitter
    for value in values:
        if is_traced(value):
            graph = graph_of(value)
    emitter = Emitter(graph, False)
    template = Template.__new__(Template)
    template.graph = source
    template.finish(outputs)
    leaves = [operand_of(graph, value) for value in values]
    operands = template.replay(emitter, inputs, leaves)
    if graph.valued:
        lower(graph, [x for x in operands if x >= 0], [], [], 0, 0, True).execute([], 1)
    return [wrap(graph, <int32_t>x) if <int32_t>x >= 0 else np.copy(graph.value_of(x))[()] for x in operands]


cdef set BUSY = set()       # graphs that are being extended


cdef class Extension:
    """A new tape growing on a sealed one."""

    cdef readonly Graph graph
    cdef readonly int start
    cdef Emitter emitter
    cdef bint simplify
    cdef Frame before

    def __init__(self, Graph graph, int end, int guards, bint simplify=True, bint apart=False):
        # A graph grows in place for the first tape on a beginning; a second one gets a copy of the beginning.
        if graph.size == end and id(graph) not in BUSY and not apart:
            self.graph = graph
        else:
            self.graph = graph.fork(end, guards)
        BUSY.add(id(self.graph))
        self.graph.enter()
        self.before = self.graph.frame
        self.graph.leave()
        self.start = end
        self.simplify = simplify
        self.emitter = Emitter(self.graph, simplify, True)
        self.graph.notes_start = end

    @property
    def size(self):
        """The number of nodes of the graph so far."""
        return self.graph.size

    @property
    def guards(self):
        """The number of guards of the graph so far."""
        return self.graph.n_guards

    def notes(self):
        """(swept node, derivative of, contribution) of every node of the new tape, -1 where there is none: (n, 3)."""
        cdef int32_t n = self.graph.size - self.start
        found = np.full((n, 3), -1, dtype=np.int32)
        cdef int32_t[:, ::1] rows = found
        cdef int32_t i
        for i in range(min(3 * n, self.graph.cap_notes)):
            rows[i // 3, i % 3] = self.graph.notes[i]
        self.graph.drop_notes()
        return found

    def __enter__(self):
        return self

    def __exit__(self, failure, *_):
        """Release the graph for further tapes; after a failure, forget what was emitted."""
        if failure is not None:
            self.graph.rewind(self.before)
            self.graph.drop_notes()
        BUSY.discard(id(self.graph))

    def input(self, aval, bint strong=False):
        """A new input of this abstract value; `strong` if its zeros stand for no dependence."""
        new_input(self.graph, aval, False)
        if strong:
            self.graph.nodes[self.graph.size - 1].flags |= F_STRONG
        return self.graph.size - 1

    def constant(self, value):
        """The operand of a constant."""
        return operand_of(self.graph, value)

    def adjoints(self, list targets, list seeds, list wrt, bint notes, list asked=None):
        """Sweep in reverse as far as `wrt`; operands, of the nodes `asked` for if given, zeros put in for ZERO."""
        found = adjoint_sweep(self.graph, self.emitter, nodes_among(targets), seeds_of(targets, seeds), wrt, notes,
                              asked)
        return self.with_zeros(found, wrt if asked is None else asked)

    def tangents(self, list targets, list wrt, list tangents, bint notes=False):
        """Sweep forward; operands, with zeros put in for symbolic zeros."""
        return self.with_zeros(tangents_of(self.graph, self.emitter, targets, wrt, tangents, notes), targets)

    cdef list with_zeros(self, list operands, list like):
        return [self.emitter.zeros(operand_aval(self.graph, <int32_t>k)) if <int32_t>x == ZERO else x
                for x, k in zip(operands, like)]

    def compact(self, list outputs):
        """Drop what is dead in the new tape, but for its inputs, which stay in front; the outputs renumbered."""
        cdef int32_t[::1] numbers = np.array(outputs if outputs else [0], dtype=np.int32)
        if self.simplify:
            compact(self.graph, self.before, &numbers[0], len(outputs))
        return [int(numbers[i]) for i in range(len(outputs))]


def operand_avals(Graph graph, list operands):
    """The abstract values of operands."""
    return [aval_of(operand_aval(graph, <int32_t>k)) for k in operands]


def are_strong(Graph graph, list operands):
    """Of each of these operands, linear in seeds: 1 if its zeros are strong, 2 if it is a constant of zeros, else 0."""
    return tuple([2 if <int32_t>k < 0 else int(graph.nodes[<int32_t>k].flags & F_STRONG != 0) for k in operands])


def compute_values(Graph graph, int start, int end):
    """Give the nodes of ``[start, end)`` their values, but for those that hang on an input without one."""
    cdef int32_t i, k, n
    cdef const int32_t* operands
    cdef bytearray missing = bytearray(end)
    cdef list wanted = []
    for i in range(end):
        if graph.nodes[i].flags & F_VALUED:
            continue
        operands = node_operands(graph, i, &n)
        missing[i] = 1 if graph.nodes[i].op == OP_INPUT else 0
        for k in range(n):
            if operands[k] >= 0 and missing[operands[k]]:
                missing[i] = 1
        if not missing[i] and i >= start:
            wanted.append(i)
    if wanted:
        lower(graph, wanted, [], [], 0, 0, True).execute([], 1)


def revalued(Graph graph, int end, int guards, dict inputs):
    """A copy of the first nodes and guards in which these inputs have these values, and no other node has one yet."""
    cdef Graph other = graph.fork(end, guards)
    cdef int32_t i
    cdef Aval aval
    for i in range(end):
        if other.nodes[i].flags & F_OBJ:
            Py_XDECREF(other.slots[i].o)
        other.nodes[i].flags &= ~(F_OBJ | F_VALUED)
        other.slots[i].d = NAN
    for i, value in inputs.items():
        aval = aval_of(operand_aval(other, i))
        array = np.array(value, dtype=aval.dtype, order="C")
        other.set_object(i, array if aval.number > AVAL_BOOL else array[()])
    return other


cdef bint is_large(Graph graph, int32_t i) noexcept:
    """Whether a node that is no input holds a large array."""
    cdef Node* node = &graph.nodes[i]
    return node.flags & F_OBJ and node.op != OP_INPUT and cnp.PyArray_NBYTES(<cnp.ndarray>graph.slots[i].o) > LARGE


cdef int drop_arrays(Graph graph) except -1:
    cdef uint8_t* hangs = NULL      # on the inputs
    cdef const int32_t* operands
    cdef int32_t i, k, n
    for i in range(graph.size if graph.has_objects else 0):
        if is_large(graph, i):
            hangs = <uint8_t*>take_zeroed(graph.size)
            break
    else:
        return 0
    if hangs == NULL:
        raise MemoryError
    for i in range(graph.size):
        operands = node_operands(graph, i, &n)
        hangs[i] = graph.nodes[i].op == OP_INPUT
        for k in range(n):
            hangs[i] |= operands[k] >= 0 and hangs[operands[k]]
        if hangs[i] and is_large(graph, i):
            Py_XDECREF(graph.slots[i].o)
            graph.nodes[i].flags &= ~(F_OBJ | F_VALUED)
            graph.slots[i].d = NAN
    give(hangs, graph.size)
    return 0


def evaluate_nodes(Graph graph, list operands):
    """Give the nodes behind these operands their values."""
    lower(graph, operands, [], [], 0, 0, True).execute([], 1)


def swept_by(Graph graph, int i):
    """(the node whose sweep emitted node `i`, or -1; "reverse" or "forward"), None if no watched sweep did."""
    cdef int32_t k
    if isinstance(graph.sweeps, dict):
        return graph.sweeps.get(i)
    for start, end, mode in graph.sweeps or ():
        if start <= i < end:
            for k in range(i, end):     # a forward sweep notes the last of the nodes that it emits together
                if 3 * k < graph.cap_notes and graph.notes[3 * k] >= 0:
                    return (graph.notes[3 * k] if graph.notes[3 * k] < i else -1), mode
            return -1, mode
    return None


cdef int watch_segment(Graph graph, Segment segment) except -1:
    """Let the nodes of a segment of a watched recording keep the user's lines, and whose derivatives they are."""
    cdef list positions = [(None, 0)] * segment.graph.size
    cdef dict sweeps = {}
    for i, k in segment.place.items():
        if i < 0:
            continue
        if i < len(graph.positions):
            positions[k] = graph.positions[i]
        swept = swept_by(graph, i)
        if swept is not None:
            sweeps[k] = segment.place.get(swept[0], -1), swept[1]
    segment.graph.positions, segment.graph.sweeps = positions, sweeps
    return 0


cdef int seal_sweeps(Graph graph) except -1:
    """Keep whose derivatives the nodes of a watched recording are, apart from the notes that later tapes make."""
    if graph.sweeps is not None:
        graph.sweeps = {i: swept_by(graph, i) for start, end, _ in graph.sweeps for i in range(start, end)}
        graph.drop_notes()
    return 0


def lowered(Graph graph, list outputs, list inputs, int guards, list varying=None):
    """A program for `outputs` from `inputs`, checking the first `guards` guards."""
    cdef Lowered program = lower(graph, outputs, inputs, varying or [False] * len(inputs), 0, guards, False)
    cdef list values
    # What is replayed by itself (jit), and may be run once more without anybody noticing.
    if graph.is_guarded and not program.has_lanes and program.takes_numbers_out() and not program.calls_python:
        values = [graph.value_of(i) for i in inputs]
        if all([value is not None for value in values]):
            settle(program, values)
    return program


def node_row(Graph graph, int i):
    """What node `i` is: (operation, operands, parameters, abstract value, value, whether its zeros are strong)."""
    cdef int32_t n, k
    cdef const int32_t* operands
    if not 0 <= i < graph.size:
        raise IndexError(f"node {i} of a graph with {graph.size} nodes")
    operands = node_operands(graph, i, &n)
    return (primitive_of(graph.nodes[i].op), [operands[k] for k in range(n)], params_of(graph, i),
            aval_of(operand_aval(graph, i)), read_only(graph.value_of(i)), bool(graph.nodes[i].flags & F_STRONG))


def is_repeated(value):
    """Whether a traced value belongs to a body that runs again and again, of which this is the first time."""
    cdef Graph graph = graph_of(value)
    return graph.frame.repeated > 0 and operand_of(graph, value) >= graph.frame.repeated - 1


def are_all_alive(list known):
    """Whether the derivative that is running has no traced values alive but those of its own among some."""
    cdef Graph graph = graph_of(known[0])
    cdef int32_t count = 0
    cdef dict values = {id(x): x for x in known}
    for x in values.values():
        if graph_of(x) is graph and operand_of(graph, x) >= graph.frame.start:
            count += 1
    return graph.frame.live <= count


def callees(Graph graph, int end):
    """What the nodes before `end` that are programs, loops or the like hold."""
    cdef int32_t i
    cdef Signature sig
    cdef list found = []
    for i in range(end):
        if graph.nodes[i].flags & F_EXT and INFO[graph.nodes[i].op].kind == K_PYTHON:
            sig = <Signature>graph.exts[graph.nodes[i].a].sig
            if sig is not None and sig.primitive.of_programs:
                found.append(sig.params[0])
    return found


def const_value(Graph graph, int operand):
    """The value of a constant operand, for reading."""
    return read_only(graph.value_of(operand))


cdef object read_only(object value):
    """A view that cannot be written through: tapes are never changed."""
    if isinstance(value, np.ndarray):
        value = value.view()
        value.flags.writeable = False
    return value


def graph_nbytes(Graph graph):
    """Bytes of the rows of a graph (arrays aside): (nodes, constants, extension)."""
    return (graph.size * (sizeof(Node) + sizeof(Slot)), graph.n_consts * sizeof(Const),
            graph.n_exts * sizeof(Ext) + graph.n_pool * sizeof(int32_t))


def guard_rows(Graph graph):
    """(node, expected truth, position) of every guard."""
    cdef int32_t k
    rows = []
    for k in range(graph.n_guards):
        code = graph.guards[k].code
        where = f"{(<object>code).co_filename}:{graph.guards[k].line}" if code != NULL else None
        expected = <object>graph.guards[k].expected.o if graph.guards[k].is_object else graph.guards[k].expected.d != 0
        rows.append((graph.guards[k].node, expected, where))
    return rows
