"""Kernels of machine code: instructions of a fused loop that follow each other and are arithmetic.

A fused loop runs each instruction on a block. A kernel runs all of them on a few coordinates at a time, so that most
numbers never leave the registers of the processor. What others read lies in the same rows and arrays as without.
"""

cimport cython

from libc.string cimport memset

from hoad._core.base.blocks cimport appended, give, required, take_zeroed
from hoad._core.kernels.vector import target
from hoad._core.runtime.row_instruction cimport BLOCK, MARGIN, ROW, SLOTS

cdef extern from "block_machine_code.h" nogil:
    const bint HAS_MACHINE_CODE
    BlockCode block_machine_code(const BlockOperation* code, int32_t n, const BlockValue* values, int32_t n_values,
                                 int32_t waiting, bint is_wide, size_t* nbytes) noexcept
    void release_machine_code(void* code, size_t nbytes) noexcept
    BlockCode published(BlockCode* code) noexcept
    void publish(void* code, void* made) noexcept
    bint reaches(int64_t* runs, int64_t more, int64_t limit) noexcept
    int64_t CODES_MADE "codes_made"

cdef str TARGET = target()
cdef bint IS_WIDE = TARGET == "v4"

cdef enum:
    FEWEST = 3                  # instructions of a kernel
    MOST_ROWS = 512             # which may wait on the stack, 64 bytes each
    MOST_INSTRUCTIONS = 1 << 16
    # To make the code of an instruction takes as long as a few runs of it on few numbers; all of them, some more.
    RUNS_EACH = 16
    RUNS_IN_ALL = 1500
    NUMBERS_BACK = 32           # values among which one number is looked for
    FEW = 64                    # coordinates that an instruction may cover alone


@cython.final
cdef class MachineKernels:
    def __dealloc__(self):
        cdef int32_t i
        cdef MachineKernel* kernel
        for i in range(self.n_kernels):
            kernel = &self.kernels[i]
            give(kernel.operations, kernel.n_operations * sizeof(BlockOperation))
            give(kernel.values, 4 * kernel.n_operations * sizeof(BlockValue))
            give(kernel.arrays, (kernel.n_arrays + 1) * sizeof(int32_t))
            if kernel.code != NULL:
                release_machine_code(<void*>kernel.code, kernel.nbytes)
        give(self.kernels, self.capacity * sizeof(MachineKernel))

    cdef void count(self, int64_t blocks) noexcept nogil:
        """Count blocks; make machine code once it pays."""
        cdef int32_t i
        cdef MachineKernel* kernel
        if not reaches(&self.runs, blocks, self.worth):
            return
        for i in range(self.n_kernels):
            kernel = &self.kernels[i]
            publish(&kernel.code, <void*>block_machine_code(
                kernel.operations, kernel.n_operations, kernel.values, kernel.n_values, self.n_rows, IS_WIDE,
                &kernel.nbytes))

    cdef MachineKernel* at(self, int32_t k) noexcept nogil:
        """Kernel k, if it is machine code; or NULL."""
        return NULL if published(&self.kernels[k].code) == NULL else &self.kernels[k]


def codes_made():
    """How many kernels are machine code in this process, or were."""
    return CODES_MADE


cdef MachineKernels machine_kernels(const Instruction* code, int32_t n_code, const RowPlace* places, int32_t n_rows,
                                    const int32_t* remembered, int32_t n_remembered):
    """The kernels of these instructions; None where there are none, or no machine code."""
    cdef MachineKernels made
    cdef KernelBuilder builder
    cdef int32_t i, k
    if not HAS_MACHINE_CODE or TARGET == "portable" or n_rows > MOST_ROWS or n_code > MOST_INSTRUCTIONS:
        return None
    made = MachineKernels.__new__(MachineKernels)
    made.n_rows = n_rows
    builder = KernelBuilder(n_rows)
    builder.code, builder.places = code, places
    for k in range(n_remembered):
        builder.is_shared[remembered[k]] = True
    builder.find_kernels(made, n_code)
    if made.n_kernels == 0:
        return None
    k = made.n_kernels - 1
    for i in range(n_code - 1, -1, -1):
        while k >= 0 and made.kernels[k].end == i + 1:
            builder.build(&made.kernels[k])
            k -= 1
        builder.read_before(i)
    return made


@cython.final
cdef class KernelBuilder:
    """Finds kernels, then their values and operations, from the last to the first."""

    cdef const Instruction* code
    cdef const RowPlace* places
    cdef int32_t n_rows
    cdef int32_t begin          # of the kernel
    cdef int64_t low, high      # coordinates that its instructions cover together
    cdef int32_t* in_row        # the value that is in each row, or -1
    cdef int32_t* written_by    # the last instruction that writes to each, or -1
    cdef char* is_read          # whether each row is read by what follows
    cdef char* is_shared        # whether it is read at other coordinates
    cdef int32_t arrays[MOST_ARRAYS]
    cdef int32_t in_array[MOST_ARRAYS]
    cdef bint is_written[MOST_ARRAYS]
    cdef int32_t n_arrays
    cdef MachineKernel* kernel

    def __cinit__(self, int32_t n_rows):
        self.n_rows = n_rows
        self.in_row = <int32_t*>required(take_zeroed((n_rows + 1) * sizeof(int32_t)))
        self.written_by = <int32_t*>required(take_zeroed((n_rows + 1) * sizeof(int32_t)))
        self.is_read = <char*>required(take_zeroed(n_rows + 1))
        self.is_shared = <char*>required(take_zeroed(n_rows + 1))

    def __dealloc__(self):
        give(self.in_row, (self.n_rows + 1) * sizeof(int32_t))
        give(self.written_by, (self.n_rows + 1) * sizeof(int32_t))
        give(self.is_read, self.n_rows + 1)
        give(self.is_shared, self.n_rows + 1)

    # ---- which instructions

    cdef int find_kernels(self, MachineKernels made, int32_t n_code) except -1:
        cdef int32_t i, k, first, operations
        for i in range(n_code):
            for k in (self.code[i].a, self.code[i].b, self.code[i].c):
                if is_row(&self.places[k]) and self.places[k].start != 0:
                    self.is_shared[self.places[k].row] = True
        for i in range(self.n_rows):
            self.written_by[i] = -1
        i = operations = 0
        while i < n_code:
            first = self.begin = i
            self.n_arrays = 0
            self.low, self.high = self.code[i].low, self.code[i].high
            while i < n_code and self.may_follow(&self.code[i]):
                self.low, self.high = max(self.low, self.code[i].low), min(self.high, self.code[i].high)
                self.note_written(self.code[i].out, i)
                i += 1
            if i - first >= FEWEST:
                self.add_kernel(made, first, i)
                operations += i - first
            i = max(i, first + 1)
        made.worth = RUNS_EACH + RUNS_IN_ALL // max(operations, 1)
        return 0

    cdef bint may_follow(self, const Instruction* code) noexcept:
        """Whether an instruction can be of the kernel: it covers much the same coordinates."""
        cdef int32_t n_arrays = self.n_arrays
        cdef int64_t low = max(self.low, code.low)
        cdef int64_t high = min(self.high, code.high)
        cdef int64_t longest = max(self.high - self.low, code.high - code.low)
        if code.first == NOTHING or high - low < max(longest - FEW, longest // 2 + 1):
            return False
        if (self.may_be_read(code.a) and self.may_be_read(code.b) and self.may_be_read(code.c)
                and self.places[code.out].stride == 1 and self.may_be_read(code.out)
                and not (self.is_beside(code.a) or self.is_beside(code.b) or self.is_beside(code.c))):
            return True
        self.n_arrays = n_arrays
        return False

    cdef bint is_beside(self, int32_t k) noexcept:
        """Whether a place is read at other coordinates than the kernel writes it.

        The processor would wait: what it has just written, it can read again at once, but not half of it.
        """
        cdef const RowPlace* place = &self.places[k]
        cdef const RowPlace* other
        cdef int32_t i
        if is_row(place):
            return place.start != 0 and self.written_by[place.row] >= self.begin
        for i in range(self.n_arrays):
            other = &self.places[self.arrays[i]]
            if self.is_written[i] and other.space == place.space and other.start != place.start:
                return True
        return False

    cdef void note_written(self, int32_t k, int32_t i) noexcept:
        if is_row(&self.places[k]):
            self.written_by[self.places[k].row] = i
        else:
            self.is_written[self.array_of(k)] = True

    cdef bint may_be_read(self, int32_t k) noexcept:
        """Whether machine code reads or writes a place; its array is noted."""
        cdef const RowPlace* place = &self.places[k]
        if place.view != NULL or place.is_truth or (place.stride != 0 and place.stride != 1):
            return False
        return is_row(place) or is_number(place) or self.array_of(k) >= 0

    cdef int32_t array_of(self, int32_t k) noexcept:
        """Which of the arrays of the kernel a place is, as a new one if need be; -1 where there are too many."""
        cdef const RowPlace* place = &self.places[k]
        cdef const RowPlace* other
        cdef int32_t i
        for i in range(self.n_arrays):
            other = &self.places[self.arrays[i]]
            if other.space == place.space and other.start == place.start and other.stride == place.stride:
                return i
        if self.n_arrays == MOST_ARRAYS:
            return -1
        self.arrays[self.n_arrays] = k
        self.is_written[self.n_arrays] = False
        self.n_arrays += 1
        return self.n_arrays - 1

    cdef int add_kernel(self, MachineKernels made, int32_t first, int32_t end) except -1:
        cdef int32_t i
        cdef MachineKernel* kernel = <MachineKernel*>appended(
            <void**>&made.kernels, &made.capacity, &made.n_kernels, sizeof(MachineKernel))
        memset(kernel, 0, sizeof(MachineKernel))
        kernel.first, kernel.end, kernel.n_operations = first, end, end - first
        kernel.low, kernel.high = kernel.lowest, kernel.highest = self.low, self.high
        for i in range(first, end):
            kernel.lowest, kernel.highest = min(kernel.lowest, self.code[i].low), max(kernel.highest, self.code[i].high)
        kernel.operations = <BlockOperation*>required(take_zeroed((end - first) * sizeof(BlockOperation)))
        kernel.values = <BlockValue*>required(take_zeroed(4 * (end - first) * sizeof(BlockValue)))
        kernel.arrays = <int32_t*>required(take_zeroed((self.n_arrays + 1) * sizeof(int32_t)))
        kernel.n_arrays = self.n_arrays
        for i in range(self.n_arrays):
            kernel.arrays[i] = self.arrays[i]
        return 0

    # ---- values

    cdef void build(self, MachineKernel* kernel) noexcept:
        """Fill in values and operations; what later instructions read is known."""
        cdef int32_t i, k
        cdef const Instruction* code
        cdef BlockOperation* operation
        self.kernel = kernel
        self.n_arrays = kernel.n_arrays
        for k in range(self.n_rows):
            self.in_row[k] = -1
        for k in range(kernel.n_arrays):
            self.arrays[k], self.in_array[k] = kernel.arrays[k], -1
        for i in range(kernel.n_operations):
            code, operation = &self.code[kernel.first + i], &kernel.operations[i]
            operation.first, operation.then = code.first, code.then
            operation.a = self.value_of(code.a)
            operation.b = -1 if TAKE <= code.first <= SIGN else self.value_of(code.b)
            operation.c = self.value_of(code.c) if code.then != NOTHING or code.first == SELECT else -1
            operation.out = self.result(code.out)
        for k in range(self.n_rows):
            if self.in_row[k] >= 0 and self.is_read[k] and kernel.values[self.in_row[k]].home == IS_MADE:
                kernel.values[self.in_row[k]].row = offset_of_row(k)

    cdef int32_t value_of(self, int32_t k) noexcept:
        """The value that lies at a place."""
        cdef const RowPlace* place = &self.places[k]
        cdef int32_t i, found
        if is_row(place):
            if place.start != 0:
                return self.new_value(IN_ROW, offset_of_row(place.row) + <int32_t>place.start)
            if self.in_row[place.row] < 0:
                self.in_row[place.row] = self.new_value(IN_ROW, offset_of_row(place.row))
            return self.in_row[place.row]
        if is_number(place):
            for i in range(self.kernel.n_values - 1, max(self.kernel.n_values - NUMBERS_BACK, 0) - 1, -1):
                if self.kernel.values[i].home == IS_SLOT and self.kernel.values[i].at == place.start:
                    return i
            return self.new_value(IS_SLOT, <int32_t>place.start)
        found = self.array_of(k)
        if self.in_array[found] < 0:
            self.in_array[found] = self.new_value(IN_ARRAY if place.stride else IS_ITEM, found)
        return self.in_array[found]

    cdef int32_t result(self, int32_t k) noexcept:
        """A new value at a place; what else is known of its array holds no more."""
        cdef const RowPlace* place = &self.places[k]
        cdef int32_t i, found
        cdef int32_t value = self.new_value(IS_MADE, place.row)
        if is_row(place):
            self.in_row[place.row] = value
            if self.is_shared[place.row]:
                self.kernel.values[value].row = offset_of_row(place.row)
            return value
        found = self.array_of(k)
        for i in range(self.n_arrays):
            if self.places[self.arrays[i]].space == place.space:
                self.in_array[i] = -1
        self.in_array[found] = value
        self.kernel.values[value].array = found
        return value

    cdef int32_t new_value(self, int32_t home, int32_t at) noexcept:
        cdef BlockValue* value = &self.kernel.values[self.kernel.n_values]
        value.home, value.at, value.row, value.array = home, at, -1, -1
        self.kernel.n_values += 1
        return self.kernel.n_values - 1

    cdef void read_before(self, int32_t i) noexcept:
        """Go back behind an instruction: note which rows are read from there on."""
        cdef const Instruction* code = &self.code[i]
        cdef int32_t k
        if is_row(&self.places[code.out]):
            self.is_read[self.places[code.out].row] = False
        for k in (code.a, code.b, code.c):
            if is_row(&self.places[k]):
                self.is_read[self.places[k].row] = True


cdef inline bint is_row(const RowPlace* place) noexcept:
    return place.space == ROW


cdef inline bint is_number(const RowPlace* place) noexcept:
    """Whether one number of the workspace lies there, for all coordinates."""
    return place.space == SLOTS and place.stride == 0


cdef inline int32_t offset_of_row(int32_t row) noexcept:
    return row * (MARGIN + BLOCK) + MARGIN
