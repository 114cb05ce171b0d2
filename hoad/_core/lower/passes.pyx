"""The passes over the steps of a program that is run again and again: which there are, and in which order."""

cimport cython

from hoad._core.base.blocks cimport give, required, take, take_zeroed
from hoad._core.graph.primitive cimport K_CONCATENATE, K_GATHER, K_PUT
from hoad._core.graph.tape cimport OP_ASSEMBLE, AbstractValue, int32_t, int64_t, uint8_t
from hoad._core.lower.cse cimport merge_equal_steps
from hoad._core.lower.matmul_rewrite cimport rewrite_as_matmuls
from hoad._core.lower.rewrite cimport count_reads, drop_buffers
from hoad._core.lower.transpose_elimination cimport eliminate_transposes
from hoad._core.lower.vectorize cimport vectorize
from hoad._core.ops.plan cimport Plan
from hoad._core.runtime.engine cimport (
    ARRAY_STEP, BYTECODE_STEP, COPY_STEP, FUSED_STEP, ITEM_STEP, PUT_STEP, ArrayStep, Step, bytes_of_arrays,
)
from hoad._core.runtime.fused_loop cimport FusedLoop
from hoad._core.runtime.gather_copy cimport GatherPut, gather_copy, gather_put, put_number
from hoad._core.runtime.scalar_bytecode cimport scalar_bytecode

cdef enum:
    WORTHWHILE = 1 << 20    # bytes of arrays for which the passes pay in a program that is run once
    SHARED = 1 << 15        # and from which on their buffers share memory
    MOST_PLACES = 1 << 28   # of an array that numbers are put into in one step
    LINE = 64               # bytes of a line of the cache


cdef int run_passes(Lowered program, bint once) except -1:
    """Rewrite the steps without lanes of a program.

    What runs but once is not changed unless its arrays are large: to arrange a step takes longer than to do it.
    """
    if once and bytes_of_arrays(program) < WORTHWHILE:
        return 0
    merge_equal_steps(program)
    rewrite_as_matmuls(program)
    eliminate_transposes(program)
    cdef int32_t registers = program.n_uniform       # before fused loops had theirs
    cdef int32_t* reads = <int32_t*>required(take_zeroed(2 * <int64_t>registers * sizeof(int32_t)))
    try:
        count_reads(program, reads)
        vectorize(program)
        gather_into_puts(program)
        if bytes_of_arrays(program) > SHARED:
            share_buffers(program)
        make_bytecode(program, reads, reads + registers, registers)
    finally:
        give(reads, 2 * <int64_t>registers * sizeof(int32_t))
    return make_copies(program)


@cython.final
cdef class _Puts:
    """The state of `gather_into_puts`: who makes and reads which array, and which arrays are constants."""

    cdef Lowered program
    cdef dict makers            # register -> step on arrays
    cdef dict uses              # register -> how many steps, outputs and checks name it
    cdef dict constants         # register -> where its data lie

    def __cinit__(self, Lowered program):
        cdef int32_t i, k
        cdef ArrayStep* step
        self.program, self.makers, self.uses = program, {}, {}
        self.constants = {program.presets[k].register: <size_t>program.presets[k].value.o
                          for k in range(program.n_presets) if program.uniform[program.presets[k].register] == 0}
        for i in range(program.n_steps):
            if program.steps[i].form == ARRAY_STEP and i < program.first_varying:
                step = &program.array_steps[program.steps[i].a]
                for k in range(step.first + step.n_in, step.first + step.n_in + step.n_out):
                    self.makers[program.places[k]] = i
            for register in buffers_of(program, &program.steps[i]):
                self.use(register)
        for k in range(program.n_outputs):
            self.use(program.outputs[k].register)
        for k in range(program.n_checks):
            self.use(program.checks[k].register)

    cdef int use(self, register) except -1:
        self.uses[register] = self.uses.get(register, 0) + 1
        return 0

    cdef ArrayStep* maker(self, int32_t register, int kind) except? NULL:
        """The step of this kind that makes an array of floats for one other step; or NULL."""
        cdef ArrayStep* step
        cdef Plan plan
        if register not in self.makers or self.uses[register] != 2:
            return NULL
        step = &self.program.array_steps[self.program.steps[<int32_t>self.makers[register]].a]
        plan = <Plan>step.plan
        if plan.kind != kind or not (<AbstractValue>plan.signature.results[0]).is_float64:
            return NULL
        if kind == K_GATHER and not self.program.places[step.first + 1] in self.constants:
            return NULL
        return step if kind == K_GATHER or plan.size == 1 else NULL     # one block: one operand after the other

    cdef const int64_t* constant(self, int32_t register) except? NULL:
        return <const int64_t*><size_t>self.constants.get(register, 0)

    cdef GatherPut part(self, ArrayStep* step, set taken):
        """A put as one step with what makes its numbers, whose steps are `taken` in; None where that cannot be."""
        cdef Lowered program = self.program
        cdef Plan plan = <Plan>step.plan
        cdef const int64_t* places = self.constant(program.places[step.first + 2])
        cdef int64_t n = plan.n_items
        cdef int64_t* origins
        cdef uint8_t* seen
        cdef list makers = []
        if (places == NULL or n == 0 or plan.size > MOST_PLACES or self.constants.get(program.places[step.first]) != 0
                or not (<AbstractValue>plan.signature.results[0]).is_float64):
            return None
        origins = <int64_t*>required(take(n * sizeof(int64_t)))
        seen = <uint8_t*>take_zeroed(plan.size)
        try:
            if seen == NULL:
                raise MemoryError
            for k in range(n):      # a place outside is an error, one that is written to twice takes the last number
                if not 0 <= places[k] < plan.size or seen[places[k]]:
                    return None
                seen[places[k]] = True
                origins[k] = k
            made = self.pieces(step, places, origins, makers)
            if made is None or not makers:
                return None
            taken.update(makers)
            return made
        finally:
            give(origins, n * sizeof(int64_t))
            give(seen, plan.size)

    cdef GatherPut pieces(self, ArrayStep* step, const int64_t* places, int64_t* origins, list makers):
        """From where the numbers of a put go where; adds the steps that it replaces."""
        cdef Lowered program = self.program
        cdef Plan plan = <Plan>step.plan
        cdef int64_t n = plan.n_items, first = 0, number = 0
        cdef int64_t i, j, count
        cdef int32_t register = program.places[step.first + 1]
        cdef const int64_t* chosen
        cdef ArrayStep* maker = self.maker(register, K_GATHER)
        cdef GatherPut made = gather_put(program.places[step.first + 3], program.places[step.first], plan.size, n)
        while maker != NULL and program.uniform[program.places[maker.first]] >= 0:      # of no single number
            chosen = self.constant(program.places[maker.first + 1])
            for i in range(n):
                if not 0 <= chosen[origins[i]] < (<Plan>maker.plan).n_items:
                    return None     # an error when it runs
                origins[i] = chosen[origins[i]]
            makers.append(self.makers[register])
            register = program.places[maker.first]
            maker = self.maker(register, K_GATHER)
        maker = self.maker(register, K_CONCATENATE)
        if maker == NULL or maker.n_in * n > MOST_PLACES:
            for i in range(n):
                put_number(made, i, register, origins[i], places[i])
            return made
        makers.append(self.makers[register])
        for j in range(maker.n_in):
            count = (<Plan>maker.plan).blocks[j] // <int64_t>sizeof(double)
            for i in range(n):
                if first <= origins[i] < first + count:
                    put_number(made, number, program.places[maker.first + j], origins[i] - first, places[i])
                    number += 1
            first += count
        return made


cdef int gather_into_puts(Lowered program) except -1:
    """Let numbers of arrays that are gathered, and put at constant places among zeros, go there in one step."""
    cdef _Puts puts = None
    cdef set taken = set()
    cdef GatherPut part
    cdef int32_t i, kept = 0
    cdef Step* step
    for i in range(program.first_varying):
        step = &program.steps[i]
        if step.form != ARRAY_STEP or (<Plan>program.array_steps[step.a].plan).kind != K_PUT:
            continue
        puts = _Puts(program) if puts is None else puts
        part = puts.part(&program.array_steps[step.a], taken)
        if part is not None:
            step.form, step.a = PUT_STEP, program.add_part(part)
    if not taken:
        return 0
    drop_buffers(program, {register for register, i in puts.makers.items() if i in taken})
    for i in range(program.n_steps):
        if i not in taken:
            program.steps[kept] = program.steps[i]
            kept += 1
    program.n_steps = kept
    program.first_varying -= len(taken)
    return 0


cdef int share_buffers(Lowered program) except -1:
    """Let buffers that are not in use at the same step share memory, which then stays in the cache."""
    cdef int64_t total = 0
    cdef int64_t size
    cdef int32_t i, k
    cdef list uses = [buffers_of(program, &program.steps[i]) for i in range(program.first_varying)]
    cdef dict last = {register: i for i, used in enumerate(uses) for register in used}
    cdef dict places = {}       # register -> where its buffer lies
    cdef dict free = {}         # bytes -> where as many are free
    for i in range(program.first_varying, program.n_steps):
        for register in buffers_of(program, &program.steps[i]):
            last.pop(register, None)
    for k in range(program.n_outputs):
        last.pop(program.outputs[k].register, None)
    for k in range(program.n_checks):
        last.pop(program.checks[k].register, None)
    for k in range(program.n_owned):
        if program.owned[k] not in last:        # it is read when all steps are done
            places[program.owned[k]] = total
            total += rounded(program.uniform[program.owned[k]])
    for i, used in enumerate(uses):
        for register in used:
            if register in places:
                continue
            size = rounded(program.uniform[<int32_t>register])
            if free.get(size):
                places[register] = free[size].pop()
            else:
                places[register] = total
                total += size
        for register in used:
            if last.get(register) == i:
                free.setdefault(rounded(program.uniform[<int32_t>register]), []).append(places[register])
    program.offsets = <int64_t*>required(take(program.n_owned * sizeof(int64_t)))
    for k in range(program.n_owned):
        program.offsets[k] = places[program.owned[k]]
    program.planned_bytes = total
    return 0


cdef set buffers_of(Lowered program, const Step* step):
    """The registers with buffers that a step reads or writes."""
    cdef ArrayStep* array_step
    cdef FusedLoop loop
    cdef GatherPut put
    cdef int32_t k
    cdef set found = set()
    if step.form == ITEM_STEP:
        found.add(step.a)
    elif step.form == ARRAY_STEP:
        array_step = &program.array_steps[step.a]
        for k in range(array_step.first, array_step.first + array_step.n_in + array_step.n_out):
            found.add(program.places[k])
    elif step.form == FUSED_STEP:
        loop = <FusedLoop>program.parts[step.a]
        for k in range(loop.n_places):
            found.add(loop.places[k].space)
    elif step.form == PUT_STEP:
        put = <GatherPut>program.parts[step.a]
        found.add(put.register)
        for k in range(put.n_pieces):
            found.add(put.pieces[k].register)
    return {register for register in found if register >= 0 and program.uniform[<int32_t>register] > 0}


cdef int64_t rounded(int64_t nbytes) noexcept:
    """Bytes for a buffer: in steps of an eighth, so that buffers fit again; no two begin at the same place of pages."""
    cdef int64_t step = LINE
    while step << 4 < nbytes:
        step <<= 1
    return (nbytes + step - 1) // step * step + 5 * LINE


cdef int make_bytecode(Lowered program, const int32_t* reads, int32_t* maker, int32_t registers) except -1:
    """Make code of the single steps that are left between others; `maker` is scratch memory for it."""
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
            step.a = program.add_part(scalar_bytecode(&program.steps[first], i - first, reads, maker, registers))
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


cdef int make_copies(Lowered program) except -1:
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
                gather_copy(out, program.places + array_step.first, plan.offsets, plan.n_items, plan.size))
    return 0
