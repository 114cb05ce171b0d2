"""The passes over the steps of a program that is run again and again: which there are, and in which order."""

from hoad._core.base.blocks cimport give, required, take, take_zeroed
from hoad._core.graph.tape cimport OP_ASSEMBLE, AbstractValue, int32_t, int64_t
from hoad._core.lower.cse cimport merge_equal_steps
from hoad._core.lower.matmul_rewrite cimport rewrite_as_matmuls
from hoad._core.lower.rewrite cimport count_reads
from hoad._core.lower.transpose_elimination cimport eliminate_transposes
from hoad._core.lower.vectorize cimport vectorize
from hoad._core.ops.plan cimport Plan
from hoad._core.runtime.engine cimport (
    ARRAY_STEP, BYTECODE_STEP, COPY_STEP, FUSED_STEP, ITEM_STEP, ArrayStep, Step, bytes_of_arrays,
)
from hoad._core.runtime.fused_loop cimport FusedLoop
from hoad._core.runtime.gather_copy cimport gather_copy
from hoad._core.runtime.scalar_bytecode cimport scalar_bytecode

cdef enum:
    WORTHWHILE = 1 << 20    # bytes of arrays for which the passes pay in a program that is run once
    SHARED = 1 << 15        # and from which on their buffers share memory
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
        if bytes_of_arrays(program) > SHARED:
            share_buffers(program)
        make_bytecode(program, reads, reads + registers, registers)
    finally:
        give(reads, 2 * <int64_t>registers * sizeof(int32_t))
    return make_copies(program)


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
