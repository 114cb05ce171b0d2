"""Single operations, one after the other: what `scalar_bytecode.h` runs, put together from steps."""

cimport cython

from hoad._core.base.blocks cimport appended, give, reserve, take_zeroed
from hoad._core.runtime.step cimport ITEM_STEP, SCALAR_STEP
from hoad._core.graph.primitive cimport INFO
from hoad._core.graph.tape cimport (
    ARITY, OP_ADD, OP_DIVIDE, OP_MULTIPLY, OP_NEGATIVE, OP_SQUARE, OP_SUBTRACT, int32_t, int64_t, uint8_t, uint16_t,
)

cdef extern from "scalar_bytecode.h" nogil:
    enum:
        S_ADD, S_SUBTRACT, S_MULTIPLY, S_DIVIDE, S_NEGATIVE, S_SQUARE
        S_ADD_ADD, S_ADD_SUBTRACT, S_ADD_FROM, S_ADD_MULTIPLY
        S_SUBTRACT_ADD, S_SUBTRACT_SUBTRACT, S_SUBTRACT_FROM, S_SUBTRACT_MULTIPLY
        S_MULTIPLY_ADD, S_MULTIPLY_SUBTRACT, S_MULTIPLY_FROM, S_MULTIPLY_MULTIPLY
        S_ITEM, S_CALL1, S_CALL2, S_END
    void run_bytecode(const int32_t* code, double* u, void** functions) noexcept


cdef enum:
    MOST_WORDS = 5          # of a step, or of two as one


@cython.final
cdef class ScalarBytecode:
    """Steps as code for `run_bytecode`."""

    def __dealloc__(self):
        give(self.code, self.capacity * sizeof(int32_t))
        give(self.functions, self.cap_functions * sizeof(void*))

    cdef void run(self, Slot* u) noexcept nogil:
        run_bytecode(self.code, <double*>u, self.functions)


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
    cdef int32_t* partner = <int32_t*>take_zeroed(n * sizeof(int32_t))
    cdef int32_t i, k, side, operand, kept
    try:
        if not (taken and partner):
            raise MemoryError
        for i in range(n):
            if steps[i].out < registers:
                maker[steps[i].out] = i + 1
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
        for i in range(n):
            if partner[i]:
                add_both(made, &steps[partner[i] - 1], &steps[i])
            elif not taken[i]:
                add_step(made, &steps[i])
        add_word(made, S_END)
        return made
    finally:
        for i in range(n):
            if steps[i].out < registers:
                maker[steps[i].out] = 0
        give(taken, n)
        give(partner, n * sizeof(int32_t))
