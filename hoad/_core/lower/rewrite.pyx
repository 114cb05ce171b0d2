"""What the passes over the steps of a program share: reads that are counted, steps and registers that are added."""

from hoad._core.base.blocks cimport appended, give, required, reserve, take
from hoad._core.graph.primitive cimport Signature, signature
from hoad._core.graph.tape cimport ARITY, AVAL_BOOL, int64_t
from hoad._core.ops.plan cimport Plan, plan_of
from hoad._core.runtime.engine cimport ARRAY_STEP, SCALAR_STEP, ArrayStep, Preset


cdef void count_reads(Lowered program, int32_t* reads) noexcept:
    """Add how often each register is read that does not vary."""
    cdef int32_t i, k
    cdef Step* step
    cdef ArrayStep* array_step
    for i in range(program.n_steps):
        step = &program.steps[i]
        if step.form == ARRAY_STEP:
            array_step = &program.array_steps[step.a]
            for k in range(array_step.first, array_step.first + array_step.n_in):
                count_read(program.places[k], reads)
        elif i < program.first_varying:
            reads[step.a] += 1
            if step.form == SCALAR_STEP and ARITY[step.op] == 2:    # of an item, b is no register but its place
                reads[step.b] += 1
    for k in range(program.n_outputs):
        count_read(program.outputs[k].register, reads)
    for k in range(program.n_checks):
        count_read(program.checks[k].register, reads)
    for k in range(program.n_broadcasts):
        count_read(program.broadcasts[2 * k], reads)


cdef inline void count_read(int32_t register, int32_t* reads) noexcept:
    if register >= 0:
        reads[register] += 1


cdef Step new_array_step(Lowered program, Primitive primitive, params, list avals, list registers) except *:
    """A further step on arrays: the registers of its operands, then of its results."""
    cdef int32_t* numbers = <int32_t*>required(take((len(avals) + 1) * sizeof(int32_t)))
    cdef Step step
    cdef Signature sig
    cdef int32_t k
    try:
        for k in range(len(avals)):
            numbers[k] = (<AbstractValue>avals[k]).number
        sig = signature(primitive, params, numbers, len(avals))
    finally:
        give(numbers, (len(avals) + 1) * sizeof(int32_t))
    cdef Plan plan = plan_of(sig)
    program.alive.append(plan)
    reserve(<void**>&program.places, &program.cap_places, program.n_places + len(registers), sizeof(int32_t))
    reserve(<void**>&program.truths, &program.cap_truths, program.n_places + len(registers), 1)
    cdef ArrayStep* made = <ArrayStep*>appended(
        <void**>&program.array_steps, &program.cap_array_steps, &program.n_array_steps, sizeof(ArrayStep))
    made.plan, made.n_in, made.first = <void*>plan, len(avals), program.n_places
    made.n_out = len(registers) - len(avals)
    for aval, register in zip([*avals, *sig.results], registers):
        program.places[program.n_places] = register
        program.truths[program.n_places] = (<AbstractValue>aval).number == AVAL_BOOL
        program.n_places += 1
    step.op, step.form, step.out, step.a, step.b = primitive.op, ARRAY_STEP, 0, program.n_array_steps - 1, 0
    return step


cdef int32_t new_buffer(Lowered program, AbstractValue aval) except? -2147483648:
    """The register of an array, with a buffer of its own."""
    reserve(<void**>&program.uniform, &program.cap_uniform, program.n_uniform + 1, sizeof(int64_t))
    program.uniform[program.n_uniform] = (max(aval.size * aval.itemsize, 1) + 15) & ~<int64_t>15
    (<int32_t*>appended(
        <void**>&program.owned, &program.cap_owned, &program.n_owned, sizeof(int32_t)))[0] = program.n_uniform
    program.n_uniform += 1
    return program.n_uniform - 1


cdef int32_t add_preset(Lowered program, double value) except -1:
    """The register of a number that is there before the program runs."""
    cdef Preset* preset = <Preset*>appended(
        <void**>&program.presets, &program.cap_presets, &program.n_presets, sizeof(Preset))
    preset.register, preset.value.d = program.n_uniform, value
    more_registers(program, 1)
    return preset.register


cdef int more_registers(Lowered program, int32_t count) except -1:
    """Further registers of numbers."""
    cdef int32_t j
    reserve(<void**>&program.uniform, &program.cap_uniform, <int64_t>program.n_uniform + count, sizeof(int64_t))
    for j in range(count):
        program.uniform[program.n_uniform + j] = -1
    program.n_uniform += count
    return 0


cdef int drop_buffers(Lowered program, set registers) except -1:
    """Let the arrays of these registers, which are not computed any more, or read in memory by none, have no buffer."""
    cdef int32_t k
    cdef int32_t kept = 0
    for k in range(program.n_owned):
        if program.owned[k] in registers:
            program.uniform[program.owned[k]] = 0
        else:
            program.owned[kept] = program.owned[k]
            kept += 1
    program.n_owned = kept
    return 0
