"""Lowering: from a stretch of a graph, the outputs asked for and the inputs that vary, to a program that runs.

This is the one interface between tapes and the engine. A node that depends on no input and has a value is not computed
again; what depends on a varying input is computed for every lane, the rest once.
"""

cimport cython
import numpy as np

cimport numpy as cnp

from cpython.object cimport PyObject

from hoad._core.base.blocks cimport appended, give, required, reserve, take, take_zeroed
from hoad._core.runtime.engine cimport (
    ARRAY_STEP, ITEM_STEP, SCALAR_STEP, ArrayStep, GuardCheck, Input, Output, Preset, Step, number,
)
from hoad._core.ops.plan cimport Plan, plan_of
from hoad._core.graph.primitive cimport INFO, K_PUT, K_STRIDED, Signature
from hoad._core.lower.passes cimport run_passes
from hoad._core.graph.tape cimport (
    ARITY, AVAL_BOOL, AVAL_FLOAT, F_VALUED, F_WIDE, OP_IDENTITY, OP_INPUT, OP_ITEM, OP_POWER, OP_RESULT, OP_SMOOTH,
    OP_SQUARE, OP_STOP, AbstractValue, Guard, Node, Slot, WideNode, aval_of, int64_t, node_operands, operand_aval,
    past_results, uint16_t, uint8_t,
)


cnp.import_array()


cdef enum:
    DEPENDS = 1         # on an input
    VARIES = 2          # with a varying input
    NEEDED = 4
    IS_INPUT = 8

    NONE = -2147483647  # no register yet


class NoValueError(RuntimeError):
    """A value is asked for that depends on an input without one."""


@cython.final
cdef class Lowering:
    """The state of one lowering, over the nodes ``[low, high)``."""

    cdef Graph graph
    cdef Lowered program
    cdef int32_t low, high
    cdef int32_t needed         # nodes that have no value yet, when they were marked
    cdef uint8_t* states        # of what lies before `low`, which is nothing, and of each node
    cdef uint8_t* state         # the latter
    cdef int32_t* place         # register of a node: r, or ~v
    cdef int32_t* const_place   # register of a constant
    cdef int32_t n_consts
    cdef dict outside           # registers of nodes below `low`
    cdef dict repeated          # uniform register -> varying register that repeats it
    cdef int32_t* last          # the last node that uses what a node holds over the lanes; see `find_last_uses`
    cdef dict free_registers             # bytes a lane -> varying registers that no later node uses
    cdef bint varying_now
    cdef bint keep

    def __cinit__(self, Graph graph, int32_t low, int32_t high, bint keep):
        cdef int32_t size = max(1, high - low)
        cdef int32_t i
        self.graph = graph
        self.program = Lowered.__new__(Lowered)
        self.program.graph = graph
        self.program.alive = []
        self.low = low
        self.high = high
        self.keep = keep
        self.outside = {}
        self.repeated = {}
        self.free_registers = {}
        self.states = <uint8_t*>required(take_zeroed(size + 1))
        self.state = self.states + 1
        self.place = <int32_t*>required(take(size * sizeof(int32_t)))
        self.n_consts = graph.n_consts
        self.const_place = <int32_t*>required(take(max(1, self.n_consts) * sizeof(int32_t)))
        for i in range(size):
            self.place[i] = NONE
        for i in range(self.n_consts):
            self.const_place[i] = NONE

    def __dealloc__(self):
        cdef int32_t size = max(1, self.high - self.low)
        give(self.states, size + 1)
        give(self.place, size * sizeof(int32_t))
        give(self.const_place, max(1, self.n_consts) * sizeof(int32_t))
        give(self.last, size * sizeof(int32_t))

    # ---- what is needed: as `hoad._core.graph.reach` finds it, but only up to what is given or has a value

    cdef int mark(self, list outputs, list inputs, list varying, int32_t guards) except -1:
        cdef int32_t i, k, n
        cdef uint8_t found
        cdef const int32_t* operands
        cdef const uint8_t* arity = ARITY
        cdef const Node* nodes = self.graph.nodes
        cdef int32_t low = self.low
        cdef uint8_t* state = self.state
        cdef Guard* guard
        cdef const Node* node
        for i, varies in zip(inputs, varying):
            self.state[i - self.low] = IS_INPUT | DEPENDS | (VARIES if varies else 0)
        if inputs:
            for i in range(low, self.high):
                if state[i - low] & IS_INPUT:
                    continue
                node = &nodes[i]
                found = 0
                if not node.flags & F_WIDE:      # without branches that no one could predict
                    n = arity[node.op]
                    found = state[max(node.a - low, -1) if n else -1] | state[max(node.b - low, -1) if n == 2 else -1]
                else:
                    operands = node_operands(self.graph, i, &n)
                    for k in range(n):
                        if operands[k] >= low:
                            found |= state[operands[k] - low]
                state[i - low] = found & (DEPENDS | VARIES)
        for i in outputs:
            if i >= self.low:
                self.state[i - self.low] |= NEEDED
        if guards:
            for k in range(guards):
                guard = &self.graph.guards[k]
                if self.low <= guard.node and self.state[guard.node - self.low] & DEPENDS:
                    self.state[guard.node - self.low] |= NEEDED
        for i in range(self.high - 1, low - 1, -1):
            if not state[i - low] & NEEDED or self.is_known(i):
                continue
            self.needed += 1
            node = &nodes[i]
            if not node.flags & F_WIDE:
                n = 1 if node.op == OP_SMOOTH and not self.keep else arity[node.op]
                state[max(node.a - low, -1) if n else -1] |= NEEDED
                state[max(node.b - low, -1) if n == 2 else -1] |= NEEDED
                continue
            operands = node_operands(self.graph, i, &n)
            n = 1 if node.op == OP_SMOOTH and not self.keep else n
            for k in range(n):
                if operands[k] >= low:
                    state[operands[k] - low] |= NEEDED
            if self.keep:  # all results of a node are known with it: its rule may use any
                for k in range(1, INFO[node.op].nout):
                    state[i + k - low] |= NEEDED
        return 0

    cdef inline bint is_known(self, int32_t i) noexcept:
        """Whether a node's value can be taken without a step."""
        return not self.state[i - self.low] & DEPENDS and self.graph.nodes[i].flags & F_VALUED

    # ---- numbers that are computed once

    cdef int compute_numbers(self) except -1:
        """Give the needed nodes on numbers their values here and now, unless they depend on arrays without one."""
        cdef Graph graph = self.graph
        cdef const uint8_t* state = self.state
        cdef Slot* slots = graph.slots
        cdef int32_t low = self.low
        cdef int32_t i
        cdef uint16_t op
        cdef Node* node
        cdef double x, y
        for i in range(low, self.high if self.needed else low):
            if not state[i - low] & NEEDED:
                continue
            node = &graph.nodes[i]
            op = node.op
            if node.flags & (F_WIDE | F_VALUED) or op == OP_INPUT:
                continue
            if not self.has_value(node.a) or (ARITY[op] == 2 and not self.has_value(node.b)):
                continue
            if op == OP_ITEM:
                slots[i].d = (<double*>cnp.PyArray_DATA(<cnp.ndarray>self.value(node.a).o))[node.b]
            else:
                x = self.value(node.a).d
                y = self.value(node.b).d if ARITY[op] == 2 else x
                slots[i].d = x if op == OP_IDENTITY or op == OP_STOP else number(op, x, y)
            node.flags |= F_VALUED
        return 0

    cdef inline bint has_value(self, int32_t operand) noexcept:
        return operand < 0 or self.graph.nodes[operand].flags & F_VALUED

    cdef inline Slot value(self, int32_t operand) noexcept:
        return self.graph.slots[operand] if operand >= 0 else self.graph.consts[~operand].value

    # ---- registers

    cdef int reserve_tables(self) except -1:
        """Reserve all steps and registers at once, so that the tables do not grow bit by bit."""
        cdef Lowered program = self.program
        reserve(<void**>&program.steps, &program.cap_steps, self.needed, sizeof(Step))
        reserve(<void**>&program.uniform, &program.cap_uniform, self.needed + <int64_t>self.n_consts, sizeof(int64_t))
        return 0

    cdef int32_t new_register(self, int32_t aval, bint varies, bint owns) except? -2147483648:
        """A register for a value; `owns` if its buffer lies in the workspace."""
        cdef Lowered program = self.program
        cdef int64_t nbytes = -1
        cdef AbstractValue kind
        if aval > AVAL_BOOL:
            kind = aval_of(aval)
            nbytes = max(kind.size * kind.itemsize, 1)
            nbytes = (nbytes + 15) & ~<int64_t>15 if not varies else nbytes
        if varies:
            reserve(<void**>&program.varying, &program.cap_varying, program.n_varying + 1, sizeof(int64_t))
            program.varying[program.n_varying] = nbytes if nbytes > 0 else <int64_t>sizeof(double)
            program.n_varying += 1
            return ~(program.n_varying - 1)
        reserve(<void**>&program.uniform, &program.cap_uniform, program.n_uniform + 1, sizeof(int64_t))
        program.uniform[program.n_uniform] = nbytes if owns or nbytes < 0 else 0
        if program.uniform[program.n_uniform] > 0:
            (<int32_t*>appended(
                <void**>&program.owned, &program.cap_owned, &program.n_owned, sizeof(int32_t)))[0] = program.n_uniform
        program.n_uniform += 1
        return program.n_uniform - 1

    cdef int32_t computed_register(self, int32_t aval, bint varies) except? -2147483648:
        """A register for what a step computes: one that no later node uses, if it varies and there is such."""
        cdef int64_t nbytes = sizeof(double)
        cdef AbstractValue kind
        if not varies:
            return self.new_register(aval, False, True)
        if aval > AVAL_BOOL:
            kind = aval_of(aval)
            nbytes = max(kind.size * kind.itemsize, 1)
        free_registers = self.free_registers.get(nbytes)
        return <int32_t>free_registers.pop() if free_registers else self.new_register(aval, True, True)

    cdef int32_t preset(self, int32_t aval, Slot slot) except? -2147483648:
        """A register that holds this value before the run, or zeros that lie nowhere, for no array."""
        cdef Lowered program = self.program
        cdef int32_t register = self.new_register(aval, False, False)
        cdef Preset* preset = <Preset*>appended(
            <void**>&program.presets, &program.cap_presets, &program.n_presets, sizeof(Preset))
        if aval > AVAL_BOOL and slot.o != NULL:
            program.alive.append(<object>slot.o)
            slot.o = <PyObject*>cnp.PyArray_DATA(<cnp.ndarray>slot.o)
        preset.register, preset.value = register, slot
        return register

    cdef inline int32_t register_of(self, int32_t operand) except? -2147483648:
        """The register of an operand: r, or ~v."""
        cdef int32_t register
        if operand >= self.low:
            register = self.place[operand - self.low]
        elif operand < 0:
            register = self.const_place[~operand]
        else:
            register = self.outside.get(operand, <int32_t>NONE)
        return register if register != NONE else self.known_register(operand)

    cdef int32_t known_register(self, int32_t operand) except? -2147483648:
        """A register for a constant, or for a node whose value is taken without a step."""
        cdef Slot slot
        if operand < 0:
            slot = self.graph.consts[~operand].value
        else:
            if not self.graph.nodes[operand].flags & F_VALUED:
                raise NoValueError(f"node {operand} has no value and is not computed; this is an error in hoad")
            slot = self.graph.slots[operand]
        cdef int32_t register = self.preset(operand_aval(self.graph, operand), slot)
        if operand >= self.low:
            self.place[operand - self.low] = register
        elif operand < 0:
            self.const_place[~operand] = register
        else:
            self.outside[operand] = register
        return register

    cdef int32_t lane_register(self, int32_t operand) except? -2147483648:
        """The varying register (plain number) of a scalar operand, repeated over the lanes if it is uniform."""
        cdef Lowered program = self.program
        cdef int32_t register = self.register_of(operand)
        if register < 0:
            return ~register
        known = self.repeated.get(register)
        if known is not None:
            return <int32_t>known
        cdef int32_t lanes = ~self.new_register(0, True, True)
        reserve(<void**>&program.broadcasts, &program.cap_broadcasts, 2 * program.n_broadcasts + 2, sizeof(int32_t))
        program.broadcasts[2 * program.n_broadcasts] = register
        program.broadcasts[2 * program.n_broadcasts + 1] = lanes
        program.n_broadcasts += 1
        self.repeated[register] = lanes
        return lanes

    # ---- registers used again: chunks of lanes stay in cache

    cdef int find_last_uses(self, list outputs, int32_t guards) except -1:
        """Note the last use of everything that varies. What is an output or guarded is used to the end."""
        cdef int32_t size = max(1, self.high - self.low)
        cdef int32_t i, k, n
        cdef const int32_t* operands
        self.last = <int32_t*>required(take_zeroed(size * sizeof(int32_t)))
        for i in range(self.low, self.high):
            if self.state[i - self.low] & NEEDED and self.state[i - self.low] & VARIES:
                operands = node_operands(self.graph, i, &n)
                n = 1 if self.graph.nodes[i].op == OP_SMOOTH else n
                for k in range(n):
                    self.used(operands[k], i)
        for i in outputs:
            self.used(i, self.high)
        for k in range(guards):
            self.used(self.graph.guards[k].node, self.high)
        return 0

    cdef void used(self, int32_t operand, int32_t by) noexcept:
        """`by` uses an operand, and the node whose register it shares."""
        while operand >= self.low:
            self.last[operand - self.low] = by
            operand = self.shared(operand)

    cdef inline int32_t shared(self, int32_t i) noexcept:
        """The operand whose register a node shares, or -1."""
        cdef Node* node = &self.graph.nodes[i]
        cdef bint shares = node.op == OP_IDENTITY or node.op == OP_STOP or node.op == OP_SMOOTH
        if not shares and node.flags & F_WIDE and INFO[node.op].kind == K_STRIDED:
            shares = plan_of(<Signature>self.graph.wide_nodes[node.a].sig).is_copy
        if not shares:
            return -1
        return self.graph.pool[self.graph.wide_nodes[node.a].first] if node.flags & F_WIDE else node.a

    cdef int release_operands(self, int32_t i) except -1:
        """Keep for later nodes the registers that node `i` is the last to use."""
        cdef int32_t k, n, operand, at
        cdef const int32_t* operands = node_operands(self.graph, i, &n)
        n = 1 if self.graph.nodes[i].op == OP_SMOOTH else n
        for k in range(n):
            operand = operands[k]
            while operand >= self.low and self.shared(operand) >= self.low:
                operand = self.shared(operand)
            at = operand - self.low
            if at < 0 or self.last[at] != i:
                continue
            if self.state[at] & VARIES and not self.state[at] & IS_INPUT:
                self.free_registers.setdefault(self.program.varying[~self.place[at]], []).append(self.place[at])
                self.last[at] = self.high       # once, where an operand comes twice
        return 0

    # ---- steps

    cdef Step* new_step(self) except NULL:
        cdef Lowered program = self.program
        return <Step*>appended(<void**>&program.steps, &program.cap_steps, &program.n_steps, sizeof(Step))

    cdef int lower_nodes(self, bint varies) except -1:
        """Steps for the needed nodes that vary, or for those that do not."""
        cdef int32_t i
        cdef uint8_t state
        cdef const Node* node
        for i in range(self.low, self.high if self.needed else self.low):
            state = self.state[i - self.low]
            if not state & NEEDED or state & IS_INPUT or ((state & VARIES) != 0) != varies or self.is_known(i):
                continue
            if self.place[i - self.low] == NONE:
                node = &self.graph.nodes[i]
                if not varies and not node.flags & F_WIDE and node.op > OP_STOP and node.op != OP_SMOOTH:
                    self.lower_scalar(i, node)
                    if not self.keep:
                        continue
                else:
                    self.lower_node(i, varies)
                if varies and self.graph.nodes[i].flags & F_WIDE:
                    self.release_operands(i)
            if self.keep:
                self.keep_value(i)
        return 0

    cdef int lower_node(self, int32_t i, bint varies) except -1:
        cdef Node node = self.graph.nodes[i]
        cdef int32_t a, b
        if node.op == OP_INPUT:
            raise NoValueError(f"input {i} of this program was given no value; this is an error in hoad")
        if node.op == OP_IDENTITY or node.op == OP_STOP or node.op == OP_SMOOTH:
            a = self.graph.pool[self.graph.wide_nodes[node.a].first] if node.flags & F_WIDE else node.a
            self.place[i - self.low] = self.register_of(a)
            return 0
        if node.flags & F_WIDE:
            return self.lower_wide(i, varies)
        if not varies and node.op != OP_ITEM:
            return self.lower_scalar(i, &node)
        if node.op == OP_ITEM:
            a = self.register_of(node.a)
            a = ~a if varies else a
            b = node.b
        else:
            a = self.lane_register(node.a)
            b = self.lane_register(node.b) if ARITY[node.op] == 2 else a
        if varies:
            self.release_operands(i)        # numbers may be replaced lane by lane
        cdef int32_t out = self.computed_register(0, varies)
        self.place[i - self.low] = out
        cdef Step* step = self.new_step()
        step.op = self.operation(&node)
        step.form = ITEM_STEP if node.op == OP_ITEM else SCALAR_STEP
        step.a = a
        step.b = b
        step.out = ~out if varies else out
        return 0

    cdef inline uint16_t operation(self, const Node* node) noexcept:
        """What a node on doubles computes; x ** 2 is x x, which is rounded once and takes a tenth of the time."""
        if node.op == OP_POWER and node.b < 0 and self.graph.consts[~node.b].aval == AVAL_FLOAT and (
                self.graph.consts[~node.b].value.d == 2.0):
            return OP_SQUARE
        return node.op

    cdef inline int lower_scalar(self, int32_t i, const Node* node) except -1:
        """A step on doubles, without lanes."""
        cdef Lowered program = self.program
        cdef uint16_t op = self.operation(node)
        cdef int32_t a = self.register_of(node.a)
        cdef int32_t b = self.register_of(node.b) if ARITY[op] == 2 else a
        reserve(<void**>&program.uniform, &program.cap_uniform, program.n_uniform + 1, sizeof(int64_t))
        reserve(<void**>&program.steps, &program.cap_steps, program.n_steps + 1, sizeof(Step))
        program.uniform[program.n_uniform] = -1
        self.place[i - self.low] = program.n_uniform
        cdef Step* step = &program.steps[program.n_steps]
        step.op = op
        step.form = SCALAR_STEP
        step.a = a
        step.b = b
        step.out = program.n_uniform
        program.n_uniform += 1
        program.n_steps += 1
        return 0

    cdef int lower_wide(self, int32_t i, bint varies) except -1:
        cdef Lowered program = self.program
        cdef WideNode* wide = &self.graph.wide_nodes[self.graph.nodes[i].a]
        cdef Slot nowhere
        cdef int32_t k
        cdef int32_t count = wide.count
        cdef int32_t first = wide.first
        if self.graph.nodes[i].op == OP_RESULT:
            raise RuntimeError(f"node {i} is a further result of a node that was not lowered; this is an error in hoad")
        cdef Signature sig = <Signature>wide.sig
        cdef Plan plan = plan_of(sig)
        if plan.is_copy:        # the value under another shape
            self.place[i - self.low] = self.register_of(self.graph.pool[first])
            return 0
        cdef int32_t nout = sig.primitive.nout
        program.alive.append(plan)
        program.worth = max(program.worth, plan.worth())
        cdef int32_t at = program.n_places
        reserve(<void**>&program.places, &program.cap_places, at + count + nout, sizeof(int32_t))
        reserve(<void**>&program.truths, &program.cap_truths, program.cap_places, 1)
        program.n_places += count + nout
        for k in range(count):
            self.set_place(at + k, self.graph.pool[first + k])
        if plan.kind == K_PUT and self.is_blank(self.graph.pool[first]):
            nowhere.o = NULL
            program.places[at] = self.preset(operand_aval(self.graph, self.graph.pool[first]), nowhere)
        for k in range(nout):
            self.place[i + k - self.low] = self.computed_register(operand_aval(self.graph, i + k), varies)
            self.set_place(at + count + k, i + k)
        cdef ArrayStep* array_step = <ArrayStep*>appended(
            <void**>&program.array_steps, &program.cap_array_steps, &program.n_array_steps, sizeof(ArrayStep))
        array_step.plan = <void*>plan
        array_step.n_in = count
        array_step.n_out = nout
        array_step.first = at
        cdef Step* step = self.new_step()
        step.op = self.graph.nodes[i].op
        step.form = ARRAY_STEP
        step.a = program.n_array_steps - 1
        step.b = 0
        step.out = 0
        return 0

    cdef bint is_blank(self, int32_t operand):
        """Whether an operand is a constant array of zeros."""
        if operand >= 0 or self.graph.consts[~operand].aval <= AVAL_BOOL:
            return False
        return not (<object>self.graph.consts[~operand].value.o).reshape(-1).view(np.uint8).any()

    cdef int set_place(self, int32_t at, int32_t operand) except -1:
        self.program.places[at] = self.register_of(operand)
        self.program.truths[at] = operand_aval(self.graph, operand) == AVAL_BOOL
        return 0

    cdef int keep_value(self, int32_t i) except -1:
        cdef Lowered program = self.program
        if self.place[i - self.low] < 0:
            return 0
        reserve(<void**>&program.kept, &program.cap_kept, 2 * program.n_kept + 2, sizeof(int32_t))
        program.kept[2 * program.n_kept] = i
        program.kept[2 * program.n_kept + 1] = self.place[i - self.low]
        program.n_kept += 1
        return 0

    # ---- the whole

    cdef int place_inputs(self, list inputs) except -1:
        cdef Lowered program = self.program
        cdef int32_t k, i
        reserve(<void**>&program.inputs, &program.cap_inputs, max(1, len(inputs)), sizeof(Input))
        program.n_inputs = len(inputs)
        for k in range(program.n_inputs):
            i = inputs[k]
            program.inputs[k].aval = operand_aval(self.graph, i)
            program.alive.append(aval_of(program.inputs[k].aval))
            self.place[i - self.low] = self.new_register(
                program.inputs[k].aval, self.state[i - self.low] & VARIES, False)
            program.inputs[k].register = self.place[i - self.low]
        return 0

    cdef int place_outputs(self, list outputs) except -1:
        cdef Lowered program = self.program
        cdef int32_t k
        reserve(<void**>&program.outputs, &program.cap_outputs, max(1, len(outputs)), sizeof(Output))
        program.n_outputs = len(outputs)
        for k in range(program.n_outputs):
            program.outputs[k].register = self.register_of(outputs[k])
            program.outputs[k].aval = operand_aval(self.graph, outputs[k])
            program.alive.append(aval_of(program.outputs[k].aval))
        return 0

    cdef int place_checks(self, int32_t guards) except -1:
        cdef Lowered program = self.program
        cdef Guard* guard
        cdef GuardCheck* check
        cdef AbstractValue aval
        cdef int32_t k
        for k in range(guards):
            guard = &self.graph.guards[k]
            if not (self.low <= guard.node and self.state[guard.node - self.low] & DEPENDS):
                continue
            check = <GuardCheck*>appended(
                <void**>&program.checks, &program.cap_checks, &program.n_checks, sizeof(GuardCheck))
            check.register = self.register_of(guard.node)
            check.guard = k
            check.expected = guard.expected
            check.nbytes = 0
            if guard.is_object:
                aval = aval_of(operand_aval(self.graph, guard.node))
                program.alive.append(<object>guard.expected.o)
                check.expected.o = <PyObject*>cnp.PyArray_DATA(<cnp.ndarray>guard.expected.o)
                check.nbytes = aval.size * aval.itemsize
        return 0


cdef bint are_valued(Graph graph, list operands) except -1:
    """Whether all these operands have a value."""
    cdef int32_t i
    for i in operands:
        if i >= 0 and not graph.nodes[i].flags & F_VALUED:
            return False
    return True


cpdef Lowered lower(Graph graph, list outputs, list inputs, list varying, int32_t start=0, int32_t guards=0,
                    bint keep=False, bint once=False):
    """Make `outputs` (operands) computable from `inputs` (nodes).

    Parameters
    ----------
    varying
        For each input, whether it has lanes.
    start
        No node below is looked at: all that is needed of them has a value.
    guards
        Check so many guards, those of them that depend on the inputs, after every run.
    keep
        Write computed values back to their nodes.
    once
        The program is to run a single time: it is not worth to be arranged for more. What is computed once, or kept,
        has no inputs.
    """
    cdef int32_t high = start
    for i in outputs + inputs:
        high = max(high, <int32_t>i + 1)
    for i in range(guards):
        high = max(high, graph.guards[i].node + 1)
    high = past_results(graph, high)
    if not inputs and not guards and are_valued(graph, outputs):
        start = high        # and no node is looked at
    cdef Lowering lowering = Lowering(graph, start, high, keep)
    lowering.mark(outputs, inputs, varying, guards)
    if keep or once:
        lowering.compute_numbers()
    else:
        lowering.reserve_tables()
    lowering.place_inputs(inputs)
    lowering.lower_nodes(False)
    lowering.program.first_varying = lowering.program.n_steps
    if any(varying):
        lowering.find_last_uses(outputs, guards)
        lowering.lower_nodes(True)
    lowering.place_outputs(outputs)
    if guards:
        lowering.place_checks(guards)
    cdef Lowered program = lowering.program
    program.has_lanes = any(varying)
    lowering = None         # what follows has use for its tables
    if not keep:
        run_passes(program, once)
    return program
