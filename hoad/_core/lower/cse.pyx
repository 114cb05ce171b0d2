"""Common subexpressions are computed once: steps without lanes that compute the same become one, and the rest goes.

Negations are taken into the sums they end in, which rounds nothing otherwise. Loops over the same are joined: a value
and what its derivative needs of each step are found in one run.
"""

cimport cython

from hoad._core.base.blocks cimport give, required, take_zeroed
from hoad._core.lower.rewrite cimport drop_buffers, new_array_step
from hoad._core.ops.plan cimport Plan
from hoad._core.runtime.engine cimport ARRAY_STEP, SCALAR_STEP, ArrayStep, Step
from hoad._core.graph.primitive cimport INFO, Signature
from hoad._core.graph.tape cimport (
    ARITY, OP_ADD, OP_NEGATIVE, OP_SUBTRACT, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t,
)

cdef enum:
    NEARBY = 8      # slots of the table where a step is looked for first
    JOINED = -1     # the array step of one that an earlier step does too


@cython.final
cdef class EqualSteps:
    """The state of one pass over the steps of a program."""

    cdef Lowered program
    cdef int32_t* known         # of a register: the one that takes its place, plus one; or ~ the step that makes it
    cdef uint8_t* used
    cdef uint32_t* table        # of steps, by what they compute: bits of its hash, then the step, plus one
    cdef uint32_t low           # the bits for the latter
    cdef int64_t slots, registers
    cdef dict joining           # registers of operands -> steps of them that others can be joined with

    def __cinit__(self, Lowered program):
        self.program = program
        self.joining = {}
        self.registers = max(program.n_uniform, 1)
        self.low = 1
        while self.low <= <uint32_t>program.first_varying:
            self.low = 2 * self.low + 1
        self.slots = 2 * <int64_t>max(program.first_varying, self.registers)
        self.known = <int32_t*>required(take_zeroed(self.registers * sizeof(int32_t)))
        self.used = <uint8_t*>required(take_zeroed(self.registers))
        self.table = <uint32_t*>required(take_zeroed((self.slots + NEARBY) * sizeof(uint32_t)))

    def __dealloc__(self):
        give(self.known, self.registers * sizeof(int32_t))
        give(self.used, self.registers)
        give(self.table, (self.slots + NEARBY) * sizeof(int32_t))

    cdef inline int32_t now(self, int32_t register) noexcept:
        """The register that takes the place of one (of varying ones: itself)."""
        return self.known[register] - 1 if register >= 0 and self.known[register] > 0 else register

    cdef int merge(self) except -1:
        """Let registers of the same content be one."""
        cdef int32_t i, k, found
        cdef Step* step
        cdef ArrayStep* array_step
        for i in range(self.program.first_varying):
            step = &self.program.steps[i]
            if step.form == ARRAY_STEP:
                array_step = &self.program.array_steps[step.a]
                for k in range(array_step.first, array_step.first + array_step.n_in):
                    self.program.places[k] = self.now(self.program.places[k])
                if (<Plan>array_step.plan).signature.primitive.join is not None:
                    self.join(i)
                continue
            step.a = self.now(step.a)
            if step.form == SCALAR_STEP:
                step.b = self.now(step.b) if ARITY[step.op] == 2 else step.a
                self.absorb_negation(step)
                if INFO[step.op].commutative and step.a > step.b:
                    step.a, step.b = step.b, step.a
            found = self.find(i)
            if found >= 0:
                self.known[step.out] = self.program.steps[found].out + 1
            else:
                self.known[step.out] = ~i
        return 0

    cdef int join(self, int32_t i) except -1:
        """Let an earlier step of the same operands give the results of step i too, if there is one that can."""
        cdef Lowered program = self.program
        cdef Step* step = &program.steps[i]
        cdef ArrayStep* array_step = &program.array_steps[step.a]
        cdef Signature sig = (<Plan>array_step.plan).signature
        cdef int32_t j, k, at
        cdef list operands = [program.places[array_step.first + k] for k in range(array_step.n_in)]
        cdef list results = self.results_of(array_step)
        cdef list earlier = self.joining.setdefault(tuple(operands), [])
        for j in earlier:
            array_step = &program.array_steps[program.steps[j].a]
            other = (<Plan>array_step.plan).signature
            found = sig.primitive.join((<Signature>other).params, sig.params)
            if found is None:
                continue
            registers = self.results_of(array_step)
            primitive, params, places = found
            for at, register in zip(places, results):
                if at < len(registers):
                    self.known[register] = registers[at] + 1
                else:
                    registers.append(register)
            drop_buffers(program, set(results).difference(registers))
            program.steps[j] = new_array_step(program, primitive, params, list(sig.avals), operands + registers)
            step.a = JOINED
            return 0
        earlier.append(i)
        return 0

    cdef list results_of(self, ArrayStep* step):
        """The registers of its results."""
        cdef int32_t k
        return [self.program.places[step.first + step.n_in + k] for k in range(step.n_out)]

    cdef inline void absorb_negation(self, Step* step) noexcept:
        """a + (-b) as a - b, and so on: the same to the last bit."""
        cdef int32_t b
        if step.op == OP_ADD:
            b = self.negated(step.b)
            if b >= 0:
                step.op, step.b = OP_SUBTRACT, b
                return
            b = self.negated(step.a)
            if b >= 0:
                step.op, step.a, step.b = OP_SUBTRACT, step.b, b
        elif step.op == OP_SUBTRACT:
            b = self.negated(step.b)
            if b >= 0:
                step.op, step.b = OP_ADD, b

    cdef inline int32_t negated(self, int32_t register) noexcept:
        """The register whose negative one holds, or -1."""
        if self.known[register] >= 0:
            return -1
        cdef Step* step = &self.program.steps[~self.known[register]]
        return step.a if step.form == SCALAR_STEP and step.op == OP_NEGATIVE else -1

    cdef inline int32_t find(self, int32_t i) noexcept:
        """An earlier step that computes what step i does, or -1.

        A step lies in the table by the later of its operands that a step makes, so that steps one after the other
        read what is near in memory; where many have that operand, anywhere. Half of the table is empty.
        """
        cdef Step* step = &self.program.steps[i]
        cdef Step* other
        cdef int64_t at = max(step.a, step.b)
        cdef uint64_t key = (<uint64_t><uint16_t>step.op << 48) ^ (<uint64_t>step.form << 40)
        cdef uint32_t entry
        key = (key ^ (<uint64_t>step.a << 20) ^ <uint64_t>step.b) * <uint64_t>0x9E3779B97F4A7C15
        cdef uint32_t bits = <uint32_t>(key >> 32) & ~self.low
        if step.form == SCALAR_STEP and self.known[at] == 0:       # a constant, say, that others read too
            at = min(step.a, step.b)
        at *= 2
        if at >= self.slots:        # an item far out
            at %= self.slots
        cdef int64_t near = at + NEARBY
        while True:
            entry = self.table[at]
            if entry == 0:
                break
            if (entry ^ bits) <= self.low:
                other = &self.program.steps[(entry & self.low) - 1]
                if other.a == step.a and other.b == step.b and other.op == step.op and other.form == step.form:
                    return <int32_t>(entry & self.low) - 1
            at += 1
            if at >= near:          # long stretches are full, so from here on by leaps
                key = (key ^ (key >> 29)) * <uint64_t>0xBF58476D1CE4E5B9 + 1
                at = near = <int64_t>((key >> 8) % <uint64_t>self.slots)
        self.table[at] = bits | <uint32_t>(i + 1)
        return -1

    cdef void mark(self) noexcept:
        """Follow the registers to those that hold for them, and find which are used."""
        cdef Lowered program = self.program
        cdef int32_t i, k
        for k in range(program.n_outputs):
            program.outputs[k].register = self.use(program.outputs[k].register)
        for k in range(program.n_checks):
            program.checks[k].register = self.use(program.checks[k].register)
        for k in range(program.n_broadcasts):
            program.broadcasts[2 * k] = self.use(program.broadcasts[2 * k])
        for i in range(program.first_varying, program.n_steps):
            if program.steps[i].form == ARRAY_STEP:
                self.use_operands(&program.array_steps[program.steps[i].a])

    cdef inline int32_t use(self, int32_t register) noexcept:
        register = self.now(register)
        if register >= 0:
            self.used[register] = True
        return register

    cdef void use_operands(self, ArrayStep* step) noexcept:
        cdef int32_t k
        for k in range(step.first, step.first + step.n_in):
            self.program.places[k] = self.use(self.program.places[k])

    cdef void sweep(self) noexcept:
        """Drop the steps that nothing uses."""
        cdef Lowered program = self.program
        cdef Step* steps = program.steps
        cdef uint8_t* used = self.used
        cdef int32_t i
        cdef int32_t kept = 0
        for i in range(program.first_varying - 1, -1, -1):
            if steps[i].form == ARRAY_STEP:
                if steps[i].a != JOINED:
                    self.use_operands(&program.array_steps[steps[i].a])
            elif used[steps[i].out]:
                used[steps[i].a] = True
                if steps[i].form == SCALAR_STEP:
                    used[steps[i].b] = True
        for i in range(program.n_steps):
            if i >= program.first_varying or (
                steps[i].a != JOINED if steps[i].form == ARRAY_STEP else used[steps[i].out]
            ):
                if kept != i:
                    steps[kept] = steps[i]
                kept += 1
        program.first_varying -= program.n_steps - kept
        program.n_steps = kept


cdef int merge_equal_steps(Lowered program) except -1:
    """Merge equal steps and drop unused ones, among those without lanes."""
    cdef EqualSteps equal = EqualSteps(program)
    equal.merge()
    equal.mark()
    equal.sweep()
    return 0
