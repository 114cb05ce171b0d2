cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t

from hoad._core.graph.primitive cimport INFO, Scalar1, Scalar2
from hoad._core.graph.tape cimport (
    ARITY, OP_ADD, OP_DIVIDE, OP_MULTIPLY, OP_NEGATIVE, OP_SQUARE, OP_SUBTRACT, Graph, Slot,
)
from hoad._core.runtime.step cimport (
    ARRAY_STEP, BYTECODE_STEP, COPY_STEP, FUSED_STEP, ITEM_STEP, PUT_STEP, SCALAR_STEP, Step,
)

cdef enum:
    GUARD_FAILED = 1

# Registers are numbered apart: uniform ones hold one value, varying ones a value for each lane. Where both may occur a
# uniform register is written r and a varying one ~v.
cdef struct ArrayStep:
    void* plan
    int32_t n_in, n_out
    int32_t first           # of its operands, then its results, in `places`

cdef struct Preset:         # a register that is known before the run
    int32_t register
    Slot value              # a double, or the address of the data of an array

cdef struct Input:
    int32_t register        # r or ~v
    int32_t aval

cdef struct Output:
    int32_t register
    int32_t aval

cdef struct GuardCheck:          # a guard: the register must hold what it held when the function was recorded
    int32_t register
    int32_t guard
    Slot expected           # a double, or the address of the data of an array
    int64_t nbytes          # 0 for doubles

cdef struct Registers:
    Slot* uniform           # a double, or a pointer to the buffer
    char** varying
    char* scratch           # memory for the blocks of fused loops
    int32_t lanes
    int32_t threads         # that a fused loop may use
    int32_t failed_check
    int32_t failed_step     # of the array steps, and at which lane
    int32_t failed_lane

cdef class Lowered:
    cdef Graph graph
    cdef Step* steps
    cdef int32_t n_steps, cap_steps
    cdef int32_t first_varying          # steps from here on have lanes
    cdef ArrayStep* array_steps
    cdef int32_t n_array_steps, cap_array_steps
    cdef int32_t* places
    cdef int32_t n_places, cap_places
    cdef int32_t cap_truths
    cdef uint8_t* truths                # of each place: whether it is a scalar boolean
    cdef int64_t* uniform               # bytes of each uniform register's buffer: 0 if elsewhere, -1 for scalars
    cdef int32_t n_uniform, cap_uniform
    cdef int32_t* owned                 # the uniform registers that have a buffer in the workspace
    cdef int32_t n_owned, cap_owned
    cdef int64_t* offsets               # where their buffers lie, which may share memory; NULL where each has its own
    cdef int64_t planned_bytes          # of all of them then
    cdef int64_t* varying               # bytes a lane of each varying register
    cdef int32_t n_varying, cap_varying
    cdef Preset* presets
    cdef int32_t n_presets, cap_presets
    cdef int32_t* broadcasts                # pairs: uniform scalar, varying register that repeats it
    cdef int32_t n_broadcasts, cap_broadcasts
    cdef Input* inputs
    cdef int32_t n_inputs, cap_inputs
    cdef Output* outputs
    cdef int32_t n_outputs, cap_outputs
    cdef GuardCheck* checks
    cdef int32_t n_checks, cap_checks
    cdef int32_t* kept                  # pairs: node, uniform register, of values to write back
    cdef int32_t n_kept, cap_kept
    cdef void** parts
    cdef int32_t n_parts, cap_parts
    cdef int64_t scratch                # bytes that the widest fused loop takes
    cdef readonly int32_t worth         # how many threads a step is worth
    cdef list alive                     # what the pointers and the numbers of abstract values above name
    cdef bint has_lanes

    cdef list execute(self, list values, int32_t lanes, int32_t threads=*)
    cdef int32_t threads(self, int32_t asked) except -1
    cdef bint may_fail(self) noexcept
    cdef int64_t numbers(self) noexcept
    cdef int64_t native_numbers(self) noexcept
    cdef int native_depth(self) noexcept
    cdef bint has_products(self) noexcept
    cdef bint takes_chunks(self) noexcept
    cdef int64_t workspace_size(self, int32_t lanes) noexcept nogil
    cdef void lay_out(self, char* memory, int32_t lanes, Registers* work) noexcept nogil
    cdef void place_presets(self, Registers* work) noexcept nogil
    cdef int32_t blank_below(self, int32_t register) noexcept
    cdef int check_count(self, Py_ssize_t given) except -1
    cdef list converted(self, list values, int32_t lanes)
    cdef cnp.ndarray as_input(self, int32_t i, object value, int32_t lanes)
    cdef int place_inputs(self, list held, Registers* work) except -1
    cdef list place_outputs(self, Registers* work)
    cdef object result(self, Output* output, Registers* work)
    cdef int raise_failure(self, int code, Registers* work) except -1
    cdef int interpret(self, Registers* work) noexcept nogil
    cdef int run_uniform(self, Registers* work) noexcept nogil
    cdef int run_varying(self, Registers* work) noexcept nogil
    cdef int32_t add_part(self, object part) except -1
    cdef int check(self, Registers* work) noexcept nogil
    cdef bint takes_numbers_out(self) noexcept


cdef class StepList:               # those that a program is to have instead of its steps without lanes
    cdef Step* rows
    cdef int32_t count, cap_rows

    cdef int add(self, Step step) except -1
    cdef int put_in(self, Lowered program) except -1


cdef inline double number(uint16_t op, double x, double y) noexcept nogil:
    """An operation on numbers, of one or two operands."""
    if op == OP_MULTIPLY:
        return x * y
    if op == OP_ADD:
        return x + y
    if op == OP_SUBTRACT:
        return x - y
    if op == OP_DIVIDE:
        return x / y
    if op == OP_NEGATIVE:
        return -x
    if op == OP_SQUARE:
        return x * x
    return INFO[op].f1(x) if ARITY[op] == 1 else INFO[op].f2(x, y)


cdef int no_memory() noexcept with gil
cdef int64_t bytes_of_arrays(Lowered program) noexcept nogil
