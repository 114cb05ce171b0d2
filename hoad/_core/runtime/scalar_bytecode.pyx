"""Single operations, one after the other: what `scalar_bytecode.h` runs, put together from steps.

What has run often enough that it pays is made into machine code, where `scalar_machine_code.h` knows how.
"""

cimport cython

from hoad._core.base.blocks cimport appended, give, required, reserve, take_zeroed
from hoad._core.runtime.step cimport ITEM_STEP, SCALAR_STEP
from hoad._core.graph.primitive cimport INFO
from hoad._core.graph.tape cimport (
    ARITY, OP_ABSOLUTE, OP_ADD, OP_DIVIDE, OP_MULTIPLY, OP_NEGATIVE, OP_SQRT, OP_SQUARE, OP_SUBTRACT, int32_t, int64_t,
    uint8_t, uint16_t,
)

from hoad._core.kernels.vector import target

cdef extern from "scalar_bytecode.h" nogil:
    enum:
        S_ADD, S_SUBTRACT, S_MULTIPLY, S_DIVIDE, S_NEGATIVE, S_SQUARE, S_ABSOLUTE, S_SQRT
        S_ADD_ADD, S_ADD_SUBTRACT, S_ADD_FROM, S_ADD_MULTIPLY
        S_SUBTRACT_ADD, S_SUBTRACT_SUBTRACT, S_SUBTRACT_FROM, S_SUBTRACT_MULTIPLY
        S_MULTIPLY_ADD, S_MULTIPLY_SUBTRACT, S_MULTIPLY_FROM, S_MULTIPLY_MULTIPLY
        S_ITEM, S_CALL1, S_CALL2, S_END
    void run_bytecode(const int32_t* code, double* u, void** functions) noexcept

cdef extern from "scalar_machine_code.h" nogil:
    const bint HAS_MACHINE_CODE
    MachineCode machine_code(const int32_t* code, int32_t operations, const uint8_t* locals, void** functions,
                             size_t* nbytes) noexcept
    MachineLoop machine_loop(const int32_t* code, int32_t operations, void** functions, const LoopForm* form,
                             int32_t numbers, size_t* nbytes) noexcept
    void release_machine_code(void* code, size_t nbytes) noexcept
    MachineCode published(MachineCode* code) noexcept
    MachineLoop published_loop "published"(MachineLoop* code) noexcept
    void publish(void* code, void* made) noexcept
    bint reaches(int64_t* runs, int64_t more, int64_t limit) noexcept
    int64_t CODES_MADE "codes_made"

cdef bint IS_PORTABLE = target() == "portable"      # what every processor has, and nothing else

cdef enum:
    MOST_WORDS = 5          # of a step, or of two as one
    # Machine code saves a nanosecond an operation. To make it takes about so many for each, and so many in all.
    NANOSECONDS_EACH = 20
    NANOSECONDS_IN_ALL = 10000
    FEWEST = 4              # operations for which it pays, but in a loop
    OF_A_STEP = 10          # operations that a step of a loop takes as long as, beside its own


@cython.final
cdef class ScalarBytecode:
    """Steps as code for `run_bytecode`."""

    def __dealloc__(self):
        give(self.code, self.capacity * sizeof(int32_t))
        give(self.functions, self.cap_functions * sizeof(void*))
        give(self.is_local, self.n_operations)
        if self.machine != NULL:
            release_machine_code(<void*>self.machine, self.machine_bytes)

    cdef void run(self, Slot* u) noexcept nogil:
        cdef MachineCode machine = published(&self.machine)
        if machine != NULL:
            machine(<double*>u)
            return
        run_bytecode(self.code, <double*>u, self.functions)
        if self.worth and reaches(&self.runs, 1, self.worth):
            machine = machine_code(self.code, self.n_operations, self.is_local, self.functions, &self.machine_bytes)
            publish(&self.machine, machine)


@cython.final
cdef class ScalarLoop:
    """A loop of such code alone, whose steps take and give numbers."""

    def __dealloc__(self):
        give(self.moves, self.n_moves * sizeof(LoopMove))
        if self.machine != NULL:
            release_machine_code(<void*>self.machine, self.machine_bytes)

    cdef MachineLoop made(self, int64_t steps) noexcept nogil:
        """The loop as machine code, once it has taken so many steps that it pays, these included; or NULL."""
        cdef MachineLoop machine = published_loop(&self.machine)
        if machine == NULL and reaches(&self.runs, steps, self.worth):
            machine = machine_loop(self.bytecode.code, self.bytecode.n_operations, self.bytecode.functions, &self.form,
                                   self.numbers, &self.machine_bytes)
            publish(&self.machine, machine)
        return machine


cdef ScalarLoop scalar_loop(ScalarBytecode bytecode, int32_t numbers, int32_t n_rows, int32_t n_results,
                            int32_t n_carried):
    """A loop with so many moves, which are yet to be filled in; None where no machine code is made of the bytecode."""
    if not HAS_MACHINE_CODE or IS_PORTABLE:
        return None
    cdef ScalarLoop made = ScalarLoop.__new__(ScalarLoop)
    made.bytecode, made.numbers = bytecode, numbers
    made.worth = runs_until_worth(bytecode.n_operations + OF_A_STEP)
    made.n_moves = n_rows + n_results + n_carried
    made.moves = <LoopMove*>required(take_zeroed(made.n_moves * sizeof(LoopMove)))
    made.form.rows = made.moves
    made.form.results = made.moves + n_rows
    made.form.carried = made.form.results + n_results
    made.form.n_rows, made.form.n_results, made.form.n_carried, made.form.end = n_rows, n_results, n_carried, -1
    return made


cdef int64_t runs_until_worth(int64_t operations) noexcept:
    """Runs that take as long as it takes to make machine code of so many operations."""
    return NANOSECONDS_EACH + NANOSECONDS_IN_ALL // operations


def codes_made():
    """How many pieces of machine code this process has made."""
    return CODES_MADE


cdef inline void add_word(ScalarBytecode bytecode, int32_t what) noexcept:
    """Append a word; the caller has reserved the memory."""
    bytecode.code[bytecode.n] = what
    bytecode.n += 1


cdef int32_t function_of(ScalarBytecode bytecode, void* function) except -1:
    """The number of a C function."""
    cdef int32_t k
    for k in range(bytecode.n_functions):
        if bytecode.functions[k] == function:
            return k
    (<void**>appended(
        <void**>&bytecode.functions, &bytecode.cap_functions, &bytecode.n_functions, sizeof(void*)))[0] = function
    return bytecode.n_functions - 1


cdef int add_step(ScalarBytecode bytecode, const Step* step) except -1:
    cdef int32_t what = S_ITEM if step.form == ITEM_STEP else single(step.op)
    cdef int arity = ARITY[step.op]
    if what == S_END:
        what = S_CALL1 if arity == 1 else S_CALL2
    add_word(bytecode, what)
    add_word(bytecode, step.out)
    add_word(bytecode, step.a)
    if arity == 2 or what == S_ITEM:
        add_word(bytecode, step.b)
    if what == S_CALL1:
        add_word(bytecode, function_of(bytecode, <void*>INFO[step.op].f1))
    elif what == S_CALL2:
        add_word(bytecode, function_of(bytecode, <void*>INFO[step.op].f2))
    return 0


cdef int add_both(ScalarBytecode bytecode, const Step* first, const Step* second) except -1:
    """Two steps as one, the second alone reading the first."""
    cdef bint is_left = second.a == first.out
    add_word(bytecode, both(first.op, second.op, is_left))
    add_word(bytecode, second.out)
    add_word(bytecode, first.a)
    add_word(bytecode, first.b)
    add_word(bytecode, second.b if is_left else second.a)
    return 0


cdef int32_t single(uint16_t op) noexcept:
    """The word of an operation; S_END where a function is called."""
    if op == OP_ADD: return S_ADD
    if op == OP_SUBTRACT: return S_SUBTRACT
    if op == OP_MULTIPLY: return S_MULTIPLY
    if op == OP_DIVIDE: return S_DIVIDE
    if op == OP_NEGATIVE: return S_NEGATIVE
    if op == OP_SQUARE: return S_SQUARE
    if op == OP_ABSOLUTE: return S_ABSOLUTE
    if op == OP_SQRT: return S_SQRT
    return S_END


cdef int32_t both(uint16_t first, uint16_t second, bint is_left) noexcept:
    """The word of an operation on the result of another; S_END where there is none."""
    if first == OP_ADD:
        if second == OP_ADD: return S_ADD_ADD
        if second == OP_SUBTRACT: return S_ADD_SUBTRACT if is_left else S_ADD_FROM
        if second == OP_MULTIPLY: return S_ADD_MULTIPLY
    elif first == OP_SUBTRACT:
        if second == OP_ADD: return S_SUBTRACT_ADD
        if second == OP_SUBTRACT: return S_SUBTRACT_SUBTRACT if is_left else S_SUBTRACT_FROM
        if second == OP_MULTIPLY: return S_SUBTRACT_MULTIPLY
    elif first == OP_MULTIPLY:
        if second == OP_ADD: return S_MULTIPLY_ADD
        if second == OP_SUBTRACT: return S_MULTIPLY_SUBTRACT if is_left else S_MULTIPLY_FROM
        if second == OP_MULTIPLY: return S_MULTIPLY_MULTIPLY
    return S_END


cdef ScalarBytecode scalar_bytecode(const Step* steps, int32_t n, const int32_t* reads, int32_t* maker,
                                    int32_t registers):
    """The code of these steps.

    `reads` counts how often each of so many registers is read, by anything; `maker` is scratch memory, zeros before and
    after.
    """
    cdef ScalarBytecode made = ScalarBytecode.__new__(ScalarBytecode)
    cdef uint8_t* taken = <uint8_t*>take_zeroed(n)      # into the step that reads it
    cdef int32_t* partner = <int32_t*>take_zeroed(2 * n * sizeof(int32_t))
    cdef int32_t* read_here = partner + n               # how often these steps read what each makes
    cdef int32_t i, k, side, operand, kept
    try:
        if not (taken and partner):
            raise MemoryError
        for i in range(n):
            if steps[i].out < registers:
                maker[steps[i].out] = i + 1
        for i in range(n):
            for side in range(ARITY[steps[i].op] if steps[i].form == SCALAR_STEP else 0):
                operand = steps[i].a if side == 0 else steps[i].b
                if operand < registers and maker[operand]:
                    read_here[maker[operand] - 1] += 1
        for i in range(n - 1, -1, -1):
            if taken[i] or steps[i].form != SCALAR_STEP or ARITY[steps[i].op] != 2 or steps[i].a == steps[i].b:
                continue
            if steps[i].out >= registers:       # it reads what is counted for another
                continue
            for side in range(2):
                operand = steps[i].a if side == 0 else steps[i].b
                if operand >= registers or reads[operand] != 1:
                    continue
                k = maker[operand] - 1
                if k >= 0 and not taken[k] and not partner[k] and (
                        both(steps[k].op, steps[i].op, side == 0) != S_END) and steps[k].form == SCALAR_STEP:
                    taken[k] = True
                    partner[i] = k + 1
                    break
        kept = 0
        for i in range(n):
            kept += not taken[i]
        reserve(<void**>&made.code, &made.capacity, <int64_t>MOST_WORDS * kept + 1, sizeof(int32_t))
        made.is_local = <uint8_t*>required(take_zeroed(kept + 1))
        made.n_operations = kept
        kept = 0
        for i in range(n):
            if taken[i]:
                continue
            if partner[i]:
                add_both(made, &steps[partner[i] - 1], &steps[i])
            else:
                add_step(made, &steps[i])
            made.is_local[kept] = steps[i].out < registers and read_here[i] == reads[steps[i].out]
            kept += 1
        add_word(made, S_END)
        if HAS_MACHINE_CODE and not IS_PORTABLE and kept >= FEWEST:
            made.worth = runs_until_worth(kept)
        return made
    finally:
        for i in range(n):
            if steps[i].out < registers:
                maker[steps[i].out] = 0
        give(taken, n)
        give(partner, 2 * n * sizeof(int32_t))
