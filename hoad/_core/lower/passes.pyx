"""Schedules: the steps of a program rewritten, as fused loops, gather copies and bytecode.

`hoad._core.lower.slp` finds the runs, `hoad._core.lower.fusion` the fused loops they join; what is left is done step by
step.
"""

cimport cython

from hoad._core.base.blocks cimport give, take_zeroed
from hoad._core.runtime.fused_loop cimport FusedLoop
from hoad._core.lower.matmul_rewrite cimport contract
from hoad._core.runtime.engine cimport (
    ARRAY_STEP,
    FUSED_STEP,
    ITEM_STEP,
    COPY_STEP,
    SCALAR_STEP,
    BYTECODE_STEP,
    ArrayStep,
    Lowered,
    Step,
    StepList,
)
from hoad._core.lower.transpose_elimination cimport choose_layouts
from hoad._core.runtime.gather_copy cimport pack
from hoad._core.ops.plan cimport Plan
from hoad._core.lower.slp cimport AN_ITEM, SINGLE, Slp
from hoad._core.runtime.scalar_bytecode cimport serial
from hoad._core.lower.cse cimport share
from hoad._core.graph.tape cimport ARITY, OP_ASSEMBLE, AbstractValue, int32_t, int64_t

cdef enum:
    WORTHWHILE = 1 << 20    # bytes of arrays for which a schedule pays that is used once


@cython.final
cdef class Scheduler:
    """The steps of a program rewritten."""

    cdef Lowered program
    cdef Slp section
    cdef int32_t registers      # before the runs had theirs
    cdef int32_t* maker         # room for `serial`
    cdef int32_t* uses          # how often a register is read
    cdef StepList steps

    def __cinit__(self, Lowered program):
        self.program = program
        self.steps = StepList()
        self.registers = program.n_uniform
        self.maker = <int32_t*>take_zeroed(max(self.registers, 1) * sizeof(int32_t))
        self.uses = <int32_t*>take_zeroed(max(self.registers, 1) * sizeof(int32_t))
        if not (self.maker and self.uses):
            raise MemoryError

    def __dealloc__(self):
        give(self.maker, max(self.registers, 1) * sizeof(int32_t))
        give(self.uses, max(self.registers, 1) * sizeof(int32_t))

    cdef int run(self) except -1:
        cdef Lowered program = self.program
        self.count_uses()
        self.section = Slp(program)
        if self.section.arrange():
            self.emit(self.section)
            self.steps.put_in(program)
            self.follow()
        self.section = None     # what follows has use for its tables
        return self.serialise()

    cdef void count_uses(self) noexcept:
        cdef Lowered program = self.program
        cdef int32_t i, k
        cdef int32_t* uses = self.uses
        cdef Step* step
        cdef ArrayStep* array_step
        for i in range(program.n_steps):
            step = &program.steps[i]
            if step.form == ARRAY_STEP:
                array_step = &program.array_steps[step.a]
                for k in range(array_step.first, array_step.first + array_step.n_in):
                    self.count(program.places[k])
            elif step.form == SCALAR_STEP and i < program.first_varying:
                uses[step.a] += 1
                uses[step.b] += ARITY[step.op] == 2
        for k in range(program.n_outputs):
            self.count(program.outputs[k].register)
        for k in range(program.n_checks):
            self.count(program.checks[k].register)
        for k in range(program.n_broadcasts):
            self.count(program.broadcasts[2 * k])

    cdef inline void count(self, int32_t register) noexcept:
        if register >= 0:
            self.uses[register] += 1

    cdef int emit(self, Slp section) except -1:
        """Steps for the stages, in turn: those that are left, then fused loops."""
        cdef int32_t stage, i, k
        cdef int64_t rows = section.n + section.stages + 1
        cdef int32_t* following     # in the same stage, each plus one
        cdef int32_t* heads
        cdef list chains = section.chains_of()
        cdef dict extras = {}
        for i in range(section.n_extra):
            extras.setdefault(section.extra_stage[i], []).append(i)
        following = <int32_t*>take_zeroed(rows * sizeof(int32_t))
        if following == NULL:
            raise MemoryError
        heads = following + section.n
        try:
            for i in range(section.n - 1, -1, -1):
                if section.placement[i] == SINGLE or section.loaded[i]:
                    stage = (section.stage[i] if section.placement[i] != AN_ITEM
                             else section.after(section.steps[i].a, False))
                    stage += stage & 1
                    following[i] = heads[stage]
                    heads[stage] = i + 1
            k = 0
            for stage in range(section.stages + 1):
                i = heads[stage]
                while i:
                    self.steps.add(section.steps[i - 1])
                    i = following[i - 1]
                for i in extras.get(stage, ()):
                    self.steps.add(section.extra[i])
                while k < len(chains) and section.links[<int32_t>chains[k]].stage == stage:
                    self.add_chain(section.build(chains[k]))
                    k += 1
        finally:
            give(following, rows * sizeof(int32_t))
        return 0

    cdef int add_chain(self, FusedLoop chain) except -1:
        cdef Step step
        step.op, step.form, step.out, step.b = 0, FUSED_STEP, 0, 0
        step.a = self.program.add_part(chain)
        self.program.scratch = max(self.program.scratch, chain.scratch())
        self.program.worth = max(self.program.worth, chain.threads())
        return self.steps.add(step)

    cdef void follow(self) noexcept:
        """Let what reads numbers that went elsewhere look there."""
        cdef Lowered program = self.program
        cdef int32_t i, k
        cdef Step* step
        for i in range(program.first_varying):
            step = &program.steps[i]
            if step.form == SCALAR_STEP:
                step.a = self.section.now(step.a)
                step.b = self.section.now(step.b)
        for k in range(program.n_places):
            program.places[k] = self.section.now(program.places[k])
        for k in range(program.n_outputs):
            program.outputs[k].register = self.section.now(program.outputs[k].register)
        for k in range(program.n_checks):
            program.checks[k].register = self.section.now(program.checks[k].register)
        for k in range(program.n_broadcasts):
            program.broadcasts[2 * k] = self.section.now(program.broadcasts[2 * k])

    cdef int serialise(self) except -1:
        """Make code of the single steps that are left between others."""
        cdef Lowered program = self.program
        cdef int32_t i = 0
        cdef int32_t kept = 0
        cdef int32_t first
        cdef Step step
        while i < program.first_varying:
            first = i
            while i < program.first_varying and program.steps[i].form <= ITEM_STEP:
                i += 1
            if i > first:
                step.op, step.form, step.out, step.b = 0, BYTECODE_STEP, 0, 0
                step.a = program.add_part(
                    serial(&program.steps[first], i - first, self.uses, self.maker, self.registers))
                program.steps[kept] = step
                kept += 1
            while i < program.first_varying and program.steps[i].form > ITEM_STEP:
                program.steps[kept] = program.steps[i]
                kept += 1
                i += 1
        for i in range(program.first_varying, program.n_steps):
            program.steps[kept + i - program.first_varying] = program.steps[i]
        program.n_steps -= program.first_varying - kept
        program.first_varying = kept
        return 0


cdef int pack_numbers(Lowered program) except -1:
    """Turn assemblies of numbers alone into copies of stretches."""
    cdef int32_t i
    cdef Step* step
    cdef ArrayStep* array_step
    cdef Plan plan
    cdef int32_t out
    for i in range(program.first_varying):
        step = &program.steps[i]
        if step.form != ARRAY_STEP or step.op != OP_ASSEMBLE:
            continue
        array_step = &program.array_steps[step.a]
        plan = <Plan>array_step.plan
        out = program.places[array_step.first + array_step.n_in]
        if plan.n_parts == 0 and (<AbstractValue>plan.signature.results[0]).is_float64 and program.uniform[out] > 0:
            step.form = COPY_STEP
            step.a = program.add_part(
                pack(out, program.places + array_step.first, plan.offsets, plan.n_items, plan.size))
    return 0


cdef int64_t bytes_of_arrays(Lowered program) noexcept:
    cdef int64_t total = 0
    cdef int32_t k
    for k in range(program.n_owned):
        total += program.uniform[program.owned[k]]
    return total


cdef int schedule(Lowered program, bint once) except -1:
    """Rewrite the steps without lanes of a program.

    What runs but once is left as it is unless its arrays are large: to arrange a step takes longer than to do it.
    """
    cdef Scheduler scheduler
    if once and bytes_of_arrays(program) < WORTHWHILE:
        return 0
    share(program)
    contract(program)
    choose_layouts(program)
    scheduler = Scheduler(program)
    scheduler.run()
    return pack_numbers(program)
