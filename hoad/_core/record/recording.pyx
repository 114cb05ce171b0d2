"""Running derivatives and sealed tapes, as the Python layers handle them: by operand numbers.

A `Recording` is one derivative being taken. The outermost one owns a graph of its own; one that begins while another
runs records into the same graph, beyond identity nodes, and is rewound when nothing of it is left in use.
"""

import numpy as np

cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.ref cimport Py_XDECREF
from libc.math cimport NAN

from hoad._core.sweep.adjoint cimport adjoint_sweep
from hoad._core.sweep.entries cimport entries_of_numbers
from hoad._core.graph.dce cimport compact
from hoad._core.sweep.builder cimport Builder
from hoad._core.runtime.engine cimport Lowered
from hoad._core.lower.lower cimport lower
from hoad._core.ops.eager cimport compute_few
from hoad._core.trace.coerce cimport new_input, operand_of
from hoad._core.trace.generator_calls cimport is_redirected, redirect
from hoad._core.graph.primitive cimport INFO, K_PYTHON, Primitive, Signature, primitive_of, signature
from hoad._core.graph.reach cimport dependents, mark_dependents, mark_needed, marks_in
from hoad._core.trace.errors cimport note_origin
from hoad._core.graph.subgraph cimport Subgraph, cut, drop_guards, keep_constants
from hoad._core.record.guard_calibration cimport settle
from hoad._core.sweep.derived cimport assemble, broadcast, zeros
from hoad._core.sweep.tangent cimport tangent_sweep
from hoad._core.graph.tape cimport (
    AVAL_BOOL, AVAL_FLOAT, F_OBJ, F_STRONG, F_VALUED, OP_ASTYPE, OP_EQUAL, OP_IDENTITY, OP_INPUT, OP_MASK, OP_RESULT,
    OP_STOP, ZERO, AbstractValue, Graph, Node, Scope, aval_of, int32_t, intern_aval, is_plain_float64,
    node_operands, operand_aval, uint16_t,
)
from hoad._core.sweep.rule_template cimport RuleTemplate
from hoad._core.trace.traced cimport wrap
from hoad._core.base.where cimport here

from hoad._core.graph.inspect import swept_by
from hoad._core.trace.context cimport reset_in_context, running, set_in_context
from hoad._core.trace.context import RUNNING, WATCHERS

from hoad._core.trace.traced import graph_of, is_traced

cdef extern from "Python.h":
    Py_ssize_t Py_REFCNT(PyObject*) noexcept

cdef enum:
    LARGE = 1 << 16     # bytes of an array that a replay has no use for

SYMBOLIC_ZERO = <int>ZERO


cdef list with_zeros(Graph graph, list operands, list like):
    """The operands, with constants of zeros in place of symbolic zeros, each like the operand beside it."""
    cdef Py_ssize_t k
    return [zeros(graph, operand_aval(graph, <int32_t>like[k])) if <int32_t>operands[k] == ZERO else operands[k]
            for k in range(len(operands))]


cdef class Recording:
    """One derivative being taken."""

    cdef readonly Graph graph
    cdef readonly bint nested
    cdef readonly list inputs
    cdef Scope scope
    cdef public object asked    # (driver, function, the keys of its arguments, containers among them), for messages
    cdef bint kept
    cdef bint repeated          # what is recorded runs again and again
    cdef Builder builder        # one for all sweeps, so that a later one finds what an earlier one emitted

    cdef int begin(self, Graph outer, bint valued, bint apart, bint repeated) except -1:
        self.inputs = []
        self.nested = outer is not None
        self.graph = outer if self.nested else Graph(valued)
        if not is_redirected:
            redirect()
        if not self.nested and WATCHERS.get():
            self.graph.watch()
        self.graph.enter()
        if apart:
            self.graph.scope.apart = self.graph.entries
        self.repeated = repeated
        if repeated and not self.graph.scope.repeated:
            self.graph.scope.repeated = self.graph.scope.start + 1
        self.scope = self.graph.scope
        return 0

    @property
    def start(self):
        """The first node that belongs to this derivative."""
        return self.scope.start

    # ---- into the graph

    def input(self, value):
        """A traced input with this value."""
        traced = new_input(self.graph, value, self.nested)
        self.inputs.append(self.graph.size - 1)
        return traced

    def with_inputs(self, tuple args, tuple chosen):
        """The arguments, those at the chosen places traced; None unless these are floats and arrays of float64."""
        cdef Py_ssize_t k, n
        cdef list traced = list(args)
        n = len(chosen)
        for k in range(n):
            if type(chosen[k]) is not int:
                return None
            value = traced[chosen[k]]
            if not (type(value) is float or type(value) is cnp.ndarray and is_plain_float64(<cnp.ndarray>value)):
                return None
        for k in range(n):
            traced[chosen[k]] = new_input(self.graph, traced[chosen[k]], self.nested)
            self.inputs.append(self.graph.size - 1)
        return traced

    def depends(self, int operand, int node):
        """Whether an operand can be reached from a node."""
        return operand >= node and bool(dependents(self.graph, node, operand + 1, (node,))[operand - node])

    def guarded(self):
        """The nodes on whose values Python has decided."""
        return [self.graph.guards[k].node for k in range(self.graph.n_guards)]

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
        """An input without a value, shaped like an operand; `strong` if its zeros mean no dependence."""
        cdef AbstractValue aval = aval_of(operand_aval(self.graph, like))
        new_input(self.graph, aval if aval.inexact else intern_aval(np.dtype(np.float64), aval.shape), False)
        if strong:
            self.graph.nodes[self.graph.size - 1].flags |= F_STRONG
        return self.graph.size - 1

    def unit(self, int like, offsets, value=1.0):
        """An operand shaped like another, 1 (or `value`) at some increasing flat offsets, and strongly 0 elsewhere."""
        cdef Builder builder = Builder(self.graph)
        cdef AbstractValue aval = aval_of(operand_aval(self.graph, like))
        cdef object dtype = aval.dtype if aval.inexact else np.dtype(np.float64)
        cdef cnp.ndarray at = np.asarray(offsets, dtype=np.int64)
        cdef int32_t one = self.graph.const_object(np.array(value, dtype))
        if aval.ndim == 0:
            return one
        if not aval.is_float64:
            steps = set(np.diff(at).tolist()) or {1}
            if len(steps) == 1:
                place = (int(at[0]) * dtype.itemsize, (len(at),), (steps.pop() * dtype.itemsize,))
                operands = [self.graph.const_object(np.full(len(at), value, dtype))]
            else:
                place = None
                operands = [self.graph.const_object(np.full(len(at), value, dtype)), self.graph.const_object(at)]
            return self.assembly(dtype, aval.shape, operands, (place,))
        cdef int32_t[::1] ones = np.full(len(at), one, dtype=np.int32)
        return assemble(builder, aval.number, &ones[0], len(at), at, ())

    def unit_at(self, int like, int place, labels, value=1.0):
        """As `unit`, at the items whose labels, an array, are the value of the operand `place`."""
        cdef Builder builder = Builder(self.graph)
        cdef AbstractValue aval = aval_of(operand_aval(self.graph, like))
        cdef AbstractValue made = aval if aval.inexact else intern_aval(np.dtype(np.float64), aval.shape)
        cdef AbstractValue truth = intern_aval(np.dtype(np.bool_), aval.shape)
        cdef int32_t[2] pair
        pair[0] = place
        pair[1] = self.graph.const_object(np.asarray(labels, np.float64).reshape(aval.shape))
        pair[0] = builder.emit_wide(primitive_of(OP_EQUAL), None, pair, 2, truth.number)
        pair[1] = self.graph.const_object(np.array(value, made.dtype))
        return builder.emit_wide(primitive_of(OP_MASK), None, pair, 2, made.number)

    def broadcast(self, int operand, tuple shape):
        """An operand at a shape."""
        cdef AbstractValue aval = intern_aval(aval_of(operand_aval(self.graph, operand)).dtype, shape)
        return broadcast(Builder(self.graph), operand, aval.number)

    def emit(self, Primitive primitive, object params, list operands):
        """Append an operation on operands, simplified as a sweep's are, without a value."""
        cdef int32_t[::1] at = np.array(operands, dtype=np.int32)
        cdef int32_t[::1] avals = np.array([operand_aval(self.graph, <int32_t>k) for k in operands], dtype=np.int32)
        cdef Signature sig = signature(primitive, params, &avals[0], len(operands))
        return self.building().emit_wide(primitive, params, &at[0], len(operands),
                                         (<AbstractValue>sig.results[0]).number)

    def assembly(self, object dtype, tuple shape, list operands, tuple parts):
        """Append zeros to which operands are added at the places in `parts`; see `Plan.set_assembly`."""
        cdef int32_t[::1] at = np.array(operands or [0], dtype=np.int32)
        return assemble(self.building(), intern_aval(dtype, shape).number, &at[0], len(operands),
                        np.zeros(0, dtype=np.int64), parts)

    def entries_of_numbers(self, int seed, int output, moved):
        """(rows, columns, weights) of the matrix from the items of a seed to those of an output, or None."""
        return entries_of_numbers(self.graph, self.building(), seed, output, moved)

    def assembly_of_numbers(self, operands):
        """Append an array of numbers, whose operands are given as an array."""
        cdef int32_t[::1] at = np.ascontiguousarray(operands, np.int32)
        return assemble(self.building(), intern_aval(np.dtype(np.float64), (len(at),)).number, &at[0], len(at),
                        np.arange(len(at)), ())

    def ones(self, int like):
        """An operand of ones shaped like another, which products do not see."""
        cdef Builder builder = Builder(self.graph)
        cdef AbstractValue aval = aval_of(operand_aval(self.graph, like))
        if aval.number > AVAL_BOOL and not aval.is_float64:
            return operand_of(self.graph, np.ones(aval.shape, aval.dtype))
        return broadcast(builder, self.graph.const_float(1.0), aval.number)

    # ---- sweeps

    def forget_unread(self):
        """Until a sweep begins, forget large arrays that no rule reads, if nobody looks at them later."""
        self.graph.drops = not self.nested and not self.kept and self.graph.positions is None

    cpdef list adjoints(self, list targets, list seeds, list wrt):
        """Adjoints of the nodes `wrt` for these seeds; `SYMBOLIC_ZERO` where there are none."""
        cdef int32_t start = self.graph.size
        cdef bint noted = self.graph.sweeps is not None
        self.graph.drops = False
        found = adjoint_sweep(self.graph, self.building(), nodes_among(targets), seeds_of(targets, seeds), wrt, noted)
        if noted:
            self.graph.sweeps.append((start, self.graph.size, "reverse"))
        return found

    def tangents(self, list targets, list wrt, list tangents):
        """Tangents of `targets` for these tangents of the nodes `wrt`."""
        cdef int32_t start = self.graph.size
        cdef bint noted = self.graph.sweeps is not None
        found = tangents_of(self.graph, self.building(), targets, wrt, tangents, noted)
        if noted:
            self.graph.sweeps.append((start, self.graph.size, "forward"))
        return found

    cdef Builder building(self):
        if self.builder is None:
            self.builder = Builder(self.graph)
        return self.builder

    def forget(self):
        """Start with a fresh builder: what was emitted may have been rewound since."""
        self.builder = None

    def gradients(self, int y):
        """The value of a scalar operand, and its derivatives by the inputs, as `results` gives them."""
        cdef list found = self.adjoints([y], [self.one_like(y)], self.inputs)
        return self.results([y] + with_zeros(self.graph, found, self.inputs))

    cpdef int one_like(self, int operand) except? -1:
        """The constant 1 in the dtype of a scalar operand."""
        if operand_aval(self.graph, operand) == AVAL_FLOAT:
            return self.graph.const_float(1.0)
        return operand_of(self.graph, aval_of(operand_aval(self.graph, operand)).dtype.type(1.0))

    def or_zeros(self, list operands, list like):
        """The operands, with constants of zeros in place of symbolic zeros."""
        return with_zeros(self.graph, operands, like)

    # ---- out of the graph

    def compute(self, list operands, bint keep=True):
        """The values of these operands, as floats and arrays of their own."""
        return self.computed(operands, keep and self.nested)

    cdef list computed(self, list operands, bint keep):
        cdef list found = None if keep else compute_few(self.graph, operands, self.scope.start)
        if found is None:
            found = lower(self.graph, operands, [], [], self.scope.start, 0, keep, True).execute([], 1)
        return found

    def given_away(self, list operands):
        """As `compute`, where the recording ends: large arrays that nobody else holds are not copied, but forgotten."""
        cdef bytearray depends = dependents(self.graph, 0, self.graph.size, self.inputs)
        cdef list found = [None] * len(operands)
        cdef int32_t i
        for k in range(len(operands)):
            i = operands[k]
            if i >= 0 and depends[i] and is_large(self.graph, i) and operands.count(i) == 1 and (
                    is_free(self.graph.slots[i].o)):
                found[k] = <object>self.graph.slots[i].o
                forget(self.graph, i)
        cdef list others = [k for k in range(len(operands)) if found[k] is None]
        for k, value in zip(others, self.compute([operands[k] for k in others])):
            found[k] = value
        return found

    def lanes(self, list operands, int seed):
        """A program for these operands with lanes over a seed input."""
        return lower(self.graph, operands, [seed], [True], self.scope.start, 0, False)

    cpdef list results(self, list operands, bint traced=False, bint alone=False):
        """What the derivative gives: numbers when it is outermost or owes nothing to an outer one, else traced.

        If `alone`, and nobody watches, no value is kept but theirs: nothing is differentiated after them.
        """
        if not self.graph.valued and self.reaches_out(operands):    # in a rule, where nothing has a value
            return [wrap(self.graph, <int32_t>x) if <int32_t>x >= 0 else self.graph.value_of(x) for x in operands]
        alone = alone and self.nested and not WATCHERS.get()
        cdef list values = self.computed(operands, self.nested and not alone)
        if alone:
            for x, value in zip(operands, values):
                if <int32_t>x >= 0:
                    self.graph.set_object(<int32_t>x, value)
        if not traced and (not self.nested or not self.reaches_out(operands)):
            watchers = WATCHERS.get()
            if watchers:
                watchers[-1].recorded(self, operands, values)
            return values
        return [wrap(self.graph, <int32_t>x) if <int32_t>x >= 0 else value for x, value in zip(operands, values)]

    cdef bint reaches_out(self, list operands) except -1:
        """Whether any of these operands depends on a node of an outer derivative."""
        cdef int32_t start = self.scope.start
        cdef int32_t i
        cdef int32_t last = start - 1
        for i in operands:
            if 0 <= i < start:
                return True
            last = max(last, i)
        if last < start:
            return False
        cdef bytearray needed = bytearray(last - start + 3)
        for i in operands:
            if i >= start:
                needed[i - start + 2] = 1
        mark_needed(self.graph, start, last + 1, marks_in(needed) + 2)
        return needed[1]

    def cut(self, list outputs, bint whole=False):
        """What was recorded, as far as these outputs and the guards need it, as a graph of its own.

        With the arrays that it captured and the values of its inputs if `whole`; else these arrays become inputs.
        If no traced value of it is left, it will be rewound, and only what the subgraph refers to stays.
        """
        cdef Subgraph made = cut(self.graph, self.scope, self.inputs, outputs, whole)
        if self.graph.positions is not None:
            watch_subgraph(self.graph, made)
        if self.graph.scope.live == 0:
            self.scope = drop_guards(self.graph, self.scope)
            self.scope = keep_constants(self.graph, self.scope, made.constants)
        return made

    cpdef int end(self) except -1:
        """End the derivative: an outermost graph is closed, a nested one rewound if nothing of it is in use."""
        cdef bint leaks = self.graph.scope.live != 0
        cdef bint unused = not leaks
        cdef int32_t k
        cdef Scope scope = self.scope
        if not self.nested:
            if self.kept:
                seal_sweeps(self.graph)
                self.graph.leave()
                self.graph.thread = 0
            else:
                if self.graph.scope.live and self.asked is not None:
                    note_origin(self.graph, self.asked[0], self.asked[1])
                self.graph.close()
            return 0
        unused = unused and not self.reaches_out(
            [self.graph.guards[k].node for k in range(scope.n_guards, self.graph.n_guards)])
        self.graph.leave()
        if unused:      # and no branch inside was taken on a value from outside
            self.graph.rewind(scope)
        elif leaks and self.repeated:
            self.note_body()
        return 0

    cdef int note_body(self) except -1:
        """Note which nodes of a body that ends are those of its first step alone: traced values of it are alive."""
        cdef int32_t start = self.scope.start
        cdef bytearray varying = dependents(self.graph, start, self.graph.size, self.inputs)
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
        """Forget large arrays that depend on the inputs: who asks for one has it computed again."""
        drop_arrays(self.graph)

    @property
    def alive(self):
        """The number of traced values of this derivative that something still refers to."""
        return self.graph.scope.live

    @property
    def size(self):
        """The number of nodes of the graph so far."""
        return self.graph.size

    @property
    def guards(self):
        """The number of guards of the graph so far."""
        return self.graph.n_guards


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
        self.recording = Recording.__new__(Recording)
        self.recording.begin(running() if self.nested else None, self.valued, self.apart, self.repeated)
        self.token = set_in_context(RUNNING, self.recording.graph)
        return self.recording

    def __exit__(self, *failure):
        reset_in_context(RUNNING, self.token)
        self.recording.end()


cdef list nodes_among(list targets):
    cdef int32_t t
    for t in targets:
        if t < 0:
            return [k for k in targets if <int32_t>k >= 0]
    return targets


cdef list seeds_of(list targets, list seeds):
    cdef Py_ssize_t k
    return [seeds[k] for k in range(len(targets)) if <int32_t>targets[k] >= 0]


cdef list tangents_of(Graph graph, Builder builder, list targets, list wrt, list tangents, bint notes=False):
    cdef list nodes = nodes_among(targets)
    cdef dict found = dict(zip(nodes, tangent_sweep(graph, builder, nodes, wrt, tangents, notes)))
    return [found.get(t, <int>ZERO) for t in targets]


def is_pointwise(Graph graph, int start, list inputs, int output):
    """Whether everything between `inputs` and `output` acts element by element."""
    cdef int32_t i
    cdef int32_t high = max(inputs + [output]) + 1
    cdef bytearray depends = dependents(graph, start, high, inputs)
    cdef uint16_t op
    for i in set(range(start, high)).difference(inputs):
        op = graph.nodes[i].op
        if depends[i - start] and not (
                primitive_of(op).elementwise or op == OP_IDENTITY or op == OP_STOP or op == OP_RESULT
                or op == OP_ASTYPE):
            depends[i - start] = 2
    mark_dependents(graph, start, high, marks_in(depends))      # what passed through one of these taints what it meets
    return output < start or depends[output - start] < 2


def takes_apart(Graph graph, int start, list inputs, int output):
    """Whether anything between `inputs` and `output` may fail to be holomorphic: parts, sizes, conjugates, factors."""
    cdef int32_t i, k, n
    cdef const int32_t* operands
    cdef int32_t high = max(inputs + [output]) + 1
    cdef bytearray depends = dependents(graph, start, high, inputs)
    cdef AbstractValue aval
    for i in range(start, output + 1):
        aval = aval_of(operand_aval(graph, i))
        operands = node_operands(graph, i, &n)
        for k in range(n):
            if operands[k] >= start and depends[operands[k] - start] and (
                    aval_of(operand_aval(graph, operands[k])).is_complex) and (
                    aval.inexact and not aval.is_complex or may_conjugate(graph.nodes[i].op)):
                return True
    return False


cdef bint may_conjugate(int op) except -1:
    """Whether a complex result of an operation need not be a holomorphic function of its operands."""
    return INFO[op].kind == K_PYTHON and not INFO[op].linear or primitive_of(op).conjugates


# ---- sealed tapes ---------------------------------------------------------------------------------------------------

def inline(Graph source, list outputs, list inputs, list values):
    """Record the nodes behind `outputs` once more, with traced or plain `values` in place of the nodes `inputs`.

    The numbers of `outputs` and `inputs` are those of a sealed graph; the result is traced in the running one.
    """
    cdef Graph graph = None
    for value in values:
        if is_traced(value):
            graph = graph_of(value)
    cdef Builder builder = Builder(graph, simplify=False)
    cdef RuleTemplate template = RuleTemplate.__new__(RuleTemplate)
    template.graph = source
    template.finish(outputs)
    leaves = [operand_of(graph, value) for value in values]
    operands = template.replay(builder, inputs, leaves)
    if graph.valued:
        lower(graph, [x for x in operands if x >= 0], [], [], 0, 0, True).execute([], 1)
    return [wrap(graph, <int32_t>x) if <int32_t>x >= 0 else np.copy(graph.value_of(x))[()] for x in operands]


cdef class Extension:
    """A new tape growing on a sealed one."""

    cdef readonly Graph graph
    cdef readonly int start
    cdef Builder builder
    cdef bint simplify
    cdef Scope before

    def __init__(self, Graph graph, int end, int guards, bint simplify=True, bint apart=False):
        # A graph grows in place for the first tape on a beginning; a second one gets a copy of the beginning.
        if graph.size == end and not graph.is_extended and not apart:
            self.graph = graph
        else:
            self.graph = graph.fork(end, guards)
        self.graph.enter()
        self.before = self.graph.scope
        self.graph.leave()
        self.start = end
        self.simplify = simplify
        self.builder = Builder(self.graph, simplify=simplify, thorough=True)
        self.graph.notes_start = end
        self.graph.is_extended = True

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
        self.graph.is_extended = False

    def input(self, aval, bint strong=False):
        """A new input of this abstract value; `strong` if its zeros mean no dependence."""
        new_input(self.graph, aval, False)
        if strong:
            self.graph.nodes[self.graph.size - 1].flags |= F_STRONG
        return self.graph.size - 1

    def constant(self, value):
        """The operand of a constant."""
        return operand_of(self.graph, value)

    def adjoints(self, list targets, list seeds, list wrt, bint notes, list asked=None):
        """Sweep in reverse as far as `wrt`; operands, of the nodes `asked` for if given, zeros put in for ZERO."""
        found = adjoint_sweep(self.graph, self.builder, nodes_among(targets), seeds_of(targets, seeds), wrt, notes,
                              asked)
        return with_zeros(self.graph, found, wrt if asked is None else asked)

    def tangents(self, list targets, list wrt, list tangents, bint notes=False):
        """Sweep forward; operands, with zeros put in for symbolic zeros."""
        return with_zeros(self.graph, tangents_of(self.graph, self.builder, targets, wrt, tangents, notes), targets)

    def compact(self, list outputs):
        """Drop what is dead in the new tape, but for its inputs, which stay in front; the outputs renumbered."""
        cdef int32_t[::1] numbers = np.array(outputs if outputs else [0], dtype=np.int32)
        if self.simplify:
            compact(self.graph, self.before, &numbers[0], len(outputs))
        return [int(numbers[i]) for i in range(len(outputs))]


def compute_values(Graph graph, int start, int end):
    """Give the nodes of ``[start, end)`` their values, but for those that depend on an input without one."""
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
    cdef AbstractValue aval
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
    """Whether a node that is not an input holds a large array."""
    cdef Node* node = &graph.nodes[i]
    return (node.flags & F_OBJ and node.flags & F_VALUED and node.op != OP_INPUT
            and cnp.PyArray_NBYTES(<cnp.ndarray>graph.slots[i].o) > LARGE)


cdef int drop_arrays(Graph graph) except -1:
    cdef int32_t i
    for i in range(graph.size if graph.has_objects else 0):
        if is_large(graph, i):
            break
    else:
        return 0
    inputs = [i for i in range(graph.size) if graph.nodes[i].op == OP_INPUT]
    cdef bytearray depends = dependents(graph, 0, graph.size, inputs)
    for i in range(graph.size):
        if depends[i] and is_large(graph, i):
            forget(graph, i)
    return 0


cdef void forget(Graph graph, int32_t i) noexcept:
    """Let a node hold its array no more."""
    Py_XDECREF(graph.slots[i].o)
    graph.nodes[i].flags &= ~(F_OBJ | F_VALUED)
    graph.slots[i].d = NAN


cdef bint is_free(PyObject* array) noexcept:
    """Whether an array is held by one, has its memory for itself, and can be written to."""
    return Py_REFCNT(array) == 1 and cnp.PyArray_CheckExact(<object>array) and (
        cnp.PyArray_CHKFLAGS(<cnp.ndarray>array, cnp.NPY_ARRAY_CARRAY | cnp.NPY_ARRAY_OWNDATA))


def evaluate_nodes(Graph graph, list operands):
    """Give the nodes behind these operands their values."""
    lower(graph, operands, [], [], 0, 0, True).execute([], 1)


cdef int watch_subgraph(Graph graph, Subgraph made) except -1:
    """Let the nodes of a subgraph of a watched recording keep the user's lines, and whose derivatives they are."""
    cdef list positions = [(None, 0)] * made.graph.size
    cdef dict sweeps = {}
    for i, k in made.place.items():
        if i < 0:
            continue
        if i < len(graph.positions):
            positions[k] = graph.positions[i]
        swept = swept_by(graph, i)
        if swept is not None:
            sweeps[k] = made.place.get(swept[0], -1), swept[1]
    made.graph.positions, made.graph.sweeps = positions, sweeps
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


def is_repeated(value):
    """Whether a traced value belongs to a body that runs again and again, of which this is the first time."""
    cdef Graph graph = graph_of(value)
    return graph.scope.repeated > 0 and operand_of(graph, value) >= graph.scope.repeated - 1


def are_all_alive(list known):
    """Whether the derivative that is running has no traced values alive but those of its own among some."""
    cdef Graph graph = graph_of(known[0])
    cdef int32_t count = 0
    cdef dict values = {id(x): x for x in known}
    for x in values.values():
        if graph_of(x) is graph and operand_of(graph, x) >= graph.scope.start:
            count += 1
    return graph.scope.live <= count
