"""Shared work done once: of the steps that have no lanes, those that compute the same become one, and the rest goes.

Negations are taken into the sums they end in, which rounds nothing otherwise.
"""

cimport cython

from hoad._core.blocks cimport give, take_zeroed
from hoad._core.engine cimport ARRAY_STEP, SCALAR_STEP, ArrayStep, Lowered, Step
from hoad._core.primitive cimport INFO
from hoad._core.tape cimport ARITY, OP_ADD, OP_NEGATIVE, OP_SUBTRACT, int32_t, int64_t, uint8_t, uint16_t, uint64_t


@cython.final
cdef class Sharing:
    """The state of one pass over the steps of a program."""

    cdef Lowered program
    cdef int32_t* same          # of a register: the one that takes its place, plus one; 0 where it stays
    cdef int32_t* maker         # of a register: the step that makes it, plus one
    cdef uint8_t* used
    cdef int32_t* table         # of steps, plus one, by what they compute
    cdef int64_t slots, registers

    def __cinit__(self, Lowered program):
        self.program = program
        self.registers = max(program.n_uniform, 1)
        self.slots = 16
        while self.slots < 2 * program.first_varying:
            self.slots *= 2
        self.same = <int32_t*>take_zeroed(self.registers * sizeof(int32_t))
        self.maker = <int32_t*>take_zeroed(self.registers * sizeof(int32_t))
        self.used = <uint8_t*>take_zeroed(self.registers)
        self.table = <int32_t*>take_zeroed(self.slots * sizeof(int32_t))
        if not (self.same and self.maker and self.used and self.table):
            raise MemoryError

    def __dealloc__(self):
        give(self.same, self.registers * sizeof(int32_t))
        give(self.maker, self.registers * sizeof(int32_t))
        give(self.used, self.registers)
        give(self.table, self.slots * sizeof(int32_t))

    cdef inline int32_t now(self, int32_t register) noexcept:
        """The register that takes the place of one (of varying ones: itself)."""
        return self.same[register] - 1 if register >= 0 and self.same[register] else register

    cdef void merge(self) noexcept:
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
                continue
            step.a = self.now(step.a)
            if step.form == SCALAR_STEP:
                step.b = self.now(step.b) if ARITY[step.op] == 2 else step.a
                self.absorb_negation(step)
                if INFO[step.op].commutative and step.a > step.b:
                    step.a, step.b = step.b, step.a
            found = self.find(i)
            if found >= 0:
                self.same[step.out] = self.program.steps[found].out + 1
            else:
                self.maker[step.out] = i + 1

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
        cdef Step* step
        if self.maker[register] == 0:
            return -1
        step = &self.program.steps[self.maker[register] - 1]
        return step.a if step.form == SCALAR_STEP and step.op == OP_NEGATIVE else -1

    cdef inline int32_t find(self, int32_t i) noexcept:
        """An earlier step that computes what step i does, or -1."""
        cdef Step* step = &self.program.steps[i]
        cdef Step* other
        cdef uint64_t key = (<uint64_t><uint16_t>step.op << 48) ^ (<uint64_t>step.form << 40)
        cdef int64_t at
        key = (key ^ (<uint64_t>step.a << 20) ^ <uint64_t>step.b) * <uint64_t>0x9E3779B97F4A7C15
        at = <int64_t>((key ^ (key >> 29)) & <uint64_t>(self.slots - 1))
        while self.table[at]:
            other = &self.program.steps[self.table[at] - 1]
            if other.op == step.op and other.form == step.form and other.a == step.a and other.b == step.b:
                return self.table[at] - 1
            at = (at + 1) & (self.slots - 1)
        self.table[at] = i + 1
        return -1

    cdef void mark(self) noexcept:
        """Follow the registers to those that hold for them, and find which are used."""
        cdef Lowered program = self.program
        cdef int32_t i, k
        for k in range(program.n_outputs):
            program.outputs[k].register = self.use(program.outputs[k].register)
        for k in range(program.n_checks):
            program.checks[k].register = self.use(program.checks[k].register)
        for k in range(program.n_splats):
            program.splats[2 * k] = self.use(program.splats[2 * k])
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
        cdef int32_t i, end
        cdef int32_t kept = program.first_varying
        cdef Step* step
        for i in range(program.first_varying - 1, -1, -1):
            step = &program.steps[i]
            if step.form == ARRAY_STEP:
                self.use_operands(&program.array_steps[step.a])
            elif not self.used[step.out]:
                continue
            else:
                self.used[step.a] = True
                if step.form == SCALAR_STEP:
                    self.used[step.b] = True
            kept -= 1
            program.steps[kept] = step[0]
        end = program.n_steps
        for i in range(kept, end):
            program.steps[i - kept] = program.steps[i]
        program.n_steps -= kept
        program.first_varying -= kept


cdef int share(Lowered program) except -1:
    """Merge equal steps and drop unused ones, among those without lanes."""
    cdef Sharing sharing = Sharing(program)
    sharing.merge()
    sharing.mark()
    sharing.sweep()
    return 0
