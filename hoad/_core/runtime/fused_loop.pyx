"""Fused loops: rows of doubles that go block by block through many operations and stay in cache in between.

The rows of a fused loop are written along one coordinate. An instruction covers a range of it and reads what lies at
its own coordinate, or at an earlier one, of the rows that the fused loop makes; so the blocks are taken in turn. A row
that nothing outside of the fused loop reads has no other memory than the block, and a margin where it keeps the last
numbers of the block before.

Threads share a fused loop in parts of many blocks, which begin where they would in one thread. What a part reads of the
blocks before its own it makes once more, by the same operations on the same numbers, and so the same bits; where the
fused loop keeps that in an array, two threads may write them to the same place. Loops of NumPy's, which may take other
ways for other lengths, are not done twice: a fused loop that would need it is left whole.
"""

cimport cython

from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc
from libc.string cimport memcpy, memset

cimport numpy as cnp

from hoad._core.base.blocks cimport appended, give, required, reserve
from hoad._core.ops.plan cimport SUM_OF_NEGATIVE_ZERO, Loop
from hoad._core.graph.primitive cimport Scalar1, Scalar2
from hoad._core.base.threads cimport share
from hoad._core.kernels.vector cimport Gathered2, Kernel1, Kernel2, Kernel3, KernelBoth
from hoad._core.runtime.access_pattern cimport AccessPattern
from hoad._core.runtime.machine_kernels cimport MOST_ARRAYS, NOTHING, MachineKernel
from hoad._core.runtime.row_instruction cimport (
    BLOCK, BLOCKS_A_PART, M_BOTH, M_BYTES, M_COPY, M_EACH1, M_EXPAND, M_EXPAND_TRUTHS, M_GATHER, M_GATHERED, M_LOAD,
    M_LOOP1, M_LOOP2, M_PAIR, M_ROW, M_ROWS, M_SELECT, M_STORE, M_SUM, M_SUMS, M_TRUTHS, M_ZERO, MARGIN, ROW, SLOTS,
)

cdef extern from "sums.h":
    double sums_total(const double* x, int64_t n) noexcept nogil

cdef extern from "side_by_side.h":
    const bint HAS_QUADS
    void store_rows(double** rows, int32_t n_rows, double* out, int64_t stride, int64_t n) noexcept nogil
    void load_rows(const double* x, int64_t stride, double** rows, int32_t n_rows, int64_t n) noexcept nogil
    void stream(const double* src, double* dst, int64_t n) noexcept nogil
    void finish_streams() noexcept nogil

cdef enum:
    WORTH_A_THREAD = 1 << 19    # numbers to go through: some 50 microseconds, to a thread's ten until it runs
    REACHES_A_PART = 8          # at least, lest what is made twice be much
    LONGEST_GRAIN = 1 << 30
    TILE = 32                   # coordinates that stores write together
    MOST_SIDE_BY_SIDE = 64      # stores that write neighbours at once
    LARGE = 1 << 20             # numbers of a result that is written past the cache, which it would fill

cdef struct Shared:             # a run that threads share
    void* loop
    Slot* u
    double* sums


@cython.final
cdef class FusedLoop:
    """A fused loop, as `hoad._core.lower.loop_codegen` makes it."""

    def __dealloc__(self):
        cdef int32_t i
        for i in range(self.n_tables):
            PyMem_RawFree(self.tables[i])
        give(self.tables, self.cap_tables * sizeof(int32_t*))
        give(self.remembered, self.cap_remembered * sizeof(int32_t))
        give(self.places, self.cap_places * sizeof(RowPlace))
        give(self.code, self.cap_code * sizeof(Instruction))

    cdef int32_t add_place(self, int32_t space, int32_t row, int64_t start, int64_t stride) except -1:
        cdef RowPlace* place = <RowPlace*>appended(
            <void**>&self.places, &self.cap_places, &self.n_places, sizeof(RowPlace))
        place.space = space
        place.row = row
        place.start = start
        place.stride = stride
        place.view = NULL
        place.is_truth = False
        self.n_rows = max(self.n_rows, row + 1) if space == ROW else self.n_rows
        return self.n_places - 1

    cdef Instruction* add(self, int32_t move, void* function, int32_t a, int32_t b, int32_t out, int64_t low,
                          int64_t high) except NULL:
        cdef Instruction* made = <Instruction*>appended(
            <void**>&self.code, &self.cap_code, &self.n_code, sizeof(Instruction))
        made.move = move
        made.first = made.then = NOTHING
        made.function = function
        made.a, made.b, made.c, made.out = a, b, a, out
        made.low, made.high = low, high
        made.k = made.m = NULL
        made.data = NULL
        made.sum = self.n_sums
        made.reach = 0
        made.repeats = False
        self.cost += high - low
        self.low = min(self.low, low) if self.n_code > 1 else low
        self.high = max(self.high, high) if self.n_code > 1 else high
        return made

    cdef void read_back(self, int32_t first, int64_t reach) noexcept:
        """Note how many numbers before a block are read of what the instructions from `first` on make."""
        cdef int32_t i
        self.reach = max(self.reach, reach)
        for i in range(first, self.n_code):
            self.code[i].reach = reach
            if reach and (self.code[i].move == M_LOOP1 or self.code[i].move == M_LOOP2):
                self.is_whole = True

    cdef void hold_together(self, int64_t grain) noexcept:
        """Have no part end within so many coordinates."""
        cdef int64_t a = max(self.grain, 1)
        cdef int64_t b = grain
        if self.is_whole:
            return
        while b:
            a, b = b, a % b
        self.grain = max(self.grain, 1) // a * grain
        self.is_whole = self.grain > LONGEST_GRAIN

    cdef int remember(self, int32_t row) except -1:
        """Keep the last numbers of a row for the next block."""
        (<int32_t*>appended(
            <void**>&self.remembered, &self.cap_remembered, &self.n_remembered, sizeof(int32_t)))[0] = row
        return 0

    cdef int32_t* new_table(self, int64_t count) except NULL:
        """Room for the numbers that an instruction gathers."""
        reserve(<void**>&self.tables, &self.cap_tables, self.n_tables + 1, sizeof(int32_t*))
        cdef int32_t* table = <int32_t*>required(PyMem_RawMalloc(max(count, 1) * sizeof(int32_t)))
        self.tables[self.n_tables] = table
        self.n_tables += 1
        return table

    cdef int32_t threads(self) noexcept nogil:
        """How many threads it is worth."""
        return 1 if self.is_whole else <int32_t>min(max(self.cost // WORTH_A_THREAD, 1), 1 << 16)

    cdef int64_t scratch(self) noexcept:
        """Bytes that a run needs."""
        return self.n_sums * blocks(self) * <int64_t>sizeof(double) + scratch_of_part(self)

    cdef void run(self, Slot* u, char* scratch, int32_t threads) noexcept nogil:
        cdef double* sums = <double*>scratch
        cdef char* rest = <char*>(sums + self.n_sums * blocks(self))
        cdef double* row
        cdef Shared shared
        cdef int64_t k
        cdef int32_t i
        for k in range(self.n_sums * blocks(self)):
            sums[k] = -0.0         # the neutral element of a sum
        if self.machine is not None:
            self.machine.count(blocks(self))
        if threads > 1 and self.threads() > 1:
            shared.loop, shared.u, shared.sums = <void*>self, u, sums
            share(run_part, &shared, (blocks(self) + blocks_of_part(self) - 1) // blocks_of_part(self),
                  min(threads, self.threads()), rest, scratch_of_part(self))
        else:
            run_blocks(self, u, sums, rest, 0, blocks(self))
        for i in range(self.n_code if self.n_sums else 0):
            if self.code[i].move == M_SUM:
                row = sums + self.code[i].sum * blocks(self)
                (<double*>u + self.places[self.code[i].out].start)[0] = (
                    SUM_OF_NEGATIVE_ZERO + pairwise(row, blocks(self)))


cdef int64_t blocks(FusedLoop loop) noexcept nogil:
    return (loop.high - loop.low + BLOCK - 1) // BLOCK


cdef int64_t blocks_of_part(FusedLoop loop) noexcept nogil:
    cdef int64_t wanted = max(BLOCKS_A_PART, (REACHES_A_PART * loop.reach + BLOCK - 1) // BLOCK)
    cdef int64_t together = loop.grain      # so many blocks end with a grain
    while together > 1 and together % 2 == 0 and loop.grain // together < BLOCK:
        together //= 2
    return wanted if together <= 1 else (wanted + together - 1) // together * together


cdef int64_t scratch_of_part(FusedLoop loop) noexcept nogil:
    """Those of them that each thread needs."""
    cdef int64_t numbers = loop.n_rows * (MARGIN + BLOCK)
    return numbers * <int64_t>sizeof(double) + 64


cdef void run_blocks(FusedLoop loop, Slot* u, double* sums, char* scratch, int64_t first, int64_t end) noexcept nogil:
    """Do the blocks from `first` to `end`, and before them what they read of those that come before."""
    cdef double* rows = <double*>((<size_t>scratch + 63) & ~<size_t>63)
    cdef double* row
    cdef int64_t begin = loop.low + first * BLOCK
    cdef int64_t stop = min(loop.low + end * BLOCK, loop.high)
    cdef int64_t start = begin - min((loop.reach + BLOCK - 1) // BLOCK, first) * BLOCK
    cdef int32_t i, k, n
    cdef int32_t n_kernels = loop.machine.n_kernels if loop.machine is not None else 0
    cdef MachineKernel* kernel
    while start < stop:
        i = k = 0
        while i < loop.n_code:
            if loop.code[i].move == M_STORE:
                i = store_together(loop, i, u, rows, start, begin)
                continue
            kernel = NULL
            if k < n_kernels and loop.machine.kernels[k].first == i:
                kernel = loop.machine.at(k)
            if kernel != NULL:
                run_kernel(loop, kernel, u, rows, start, begin)
                i = kernel.end
                k += 1
                continue
            n = side_by_side(loop, i) if loop.code[i].move == M_LOAD else 1
            if n > 1:
                load_together(loop, &loop.code[i], n, u, rows, start, begin)
            else:
                run_instruction(loop, &loop.code[i], u, rows, sums, start, begin, start, start + BLOCK)
            i += n
        for i in range(loop.n_remembered if start + BLOCK < stop else 0):
            row = rows + loop.remembered[i] * (MARGIN + BLOCK)
            memcpy(row, row + BLOCK, MARGIN * sizeof(double))
        start += BLOCK
    finish_streams()


cdef void run_kernel(FusedLoop loop, MachineKernel* kernel, Slot* u, double* rows, int64_t start,
                     int64_t first) noexcept nogil:
    """Instructions on a block: by machine code where all of them cover it, one by one at the ends."""
    cdef double* arrays[MOST_ARRAYS]
    cdef int32_t k
    cdef int64_t low = max(start, kernel.low)
    cdef int64_t end = min(start + BLOCK, kernel.high)
    if start < first or low >= end:
        low = end = start + BLOCK
    if start < low and kernel.lowest < low:
        run_instructions(loop, kernel, u, rows, start, first, start, low)
    if low < end:
        for k in range(kernel.n_arrays):
            arrays[k] = address(loop, kernel.arrays[k], u, rows, start, low)
        kernel.code(<char**>arrays, rows + (low - start), <double*>u, (end - low) * <int64_t>sizeof(double))
    if end < start + BLOCK and end < kernel.highest:
        run_instructions(loop, kernel, u, rows, start, first, end, start + BLOCK)


cdef void run_instructions(FusedLoop loop, MachineKernel* kernel, Slot* u, double* rows, int64_t start, int64_t first,
                           int64_t begin, int64_t end) noexcept nogil:
    """The instructions of a kernel one by one."""
    cdef int32_t k
    for k in range(kernel.first, kernel.end):
        run_instruction(loop, &loop.code[k], u, rows, NULL, start, first, begin, end)


cdef void run_instruction(FusedLoop loop, Instruction* code, Slot* u, double* rows, double* sums, int64_t start,
                          int64_t first, int64_t begin, int64_t end) noexcept nogil:
    """One instruction, as far as it covers a block, from `begin` to `end`.

    Before coordinate `first`, as far as it is read from there.
    """
    cdef int64_t low = max(max(begin, code.low), first - code.reach)
    cdef int64_t n = min(end, code.high) - low
    if n <= 0:
        return
    cdef double* a = address(loop, code.a, u, rows, start, low)
    cdef double* b = address(loop, code.b, u, rows, start, low)
    cdef double* out = address(loop, code.out, u, rows, start, low)
    if code.move == M_ROWS:
        (<Kernel2>code.function)(a, b, out, n)
    elif code.move == M_PAIR or code.move == M_SELECT:
        (<Kernel3>code.function)(a, b, address(loop, code.c, u, rows, start, low), out, n)
    elif code.move == M_ROW:
        (<Kernel1>code.function)(a, out, n)
    elif code.move == M_BOTH:
        (<KernelBoth>code.function)(a, out, address(loop, code.c, u, rows, start, low), n)
    elif code.move == M_GATHERED:
        (<Gathered2>code.function)(base(loop, code.a, u), code.k + (low - code.low), base(loop, code.b, u),
                                   code.m + (low - code.low), out, n)
    elif code.move == M_LOAD:
        load(a, loop.places[code.a].stride, out, n)
    elif code.move == M_GATHER:
        gather(base(loop, code.a, u), code.k + (low - code.low), out, n)
    elif code.move == M_COPY:
        copy(a, loop.places[code.a].stride, out, n)
    elif code.move == M_LOOP1 or code.move == M_LOOP2:
        run_ufunc_loop(loop, code, a, b, out, n)
    elif code.move == M_EXPAND:
        if code.repeats and start - BLOCK >= max(first, code.low):      # the block before was whole
            return
        expand(<const double*>base(loop, code.a, u), loop.places[code.a].view, low - code.low, out, n)
    elif code.move == M_SUMS:
        if code.behind == 1:
            add_rows(a, low - code.low, n, code.along, base(loop, code.out, u))
        else:
            add_sums(a, low - code.low, n, code.along, code.behind, base(loop, code.out, u), <Kernel2>code.function)
    elif code.move == M_TRUTHS:
        load_truths(<const char*>base(loop, code.a, u) + low * loop.places[code.a].stride, loop.places[code.a].stride,
                    out, n)
    elif code.move == M_EXPAND_TRUTHS:
        expand(<const char*>base(loop, code.a, u), loop.places[code.a].view, low - code.low, out, n)
    elif code.move == M_BYTES:
        store_truths(a, <char*>base(loop, code.out, u) + low, n)
    elif code.move == M_ZERO:
        memset(out, 0, n * sizeof(double))
    elif code.move == M_SUM:
        sums[code.sum * blocks(loop) + (start - loop.low) // BLOCK] = sums_total(a, n)
    elif code.move == M_EACH1:
        each1(<Scalar1>code.function, a, out, n)
    else:
        each2(<Scalar2>code.function, a, b, out, n)


cdef int32_t store_together(FusedLoop loop, int32_t first, Slot* u, double* rows, int64_t start,
                            int64_t begin) noexcept nogil:
    """The stores from instruction `first` on, few coordinates at a time, lest lines of the cache come and go.

    Gives the instruction behind them.
    """
    cdef int64_t tile = start
    cdef int32_t i = first
    cdef int32_t n
    while tile < start + BLOCK:
        i = first
        while i < loop.n_code and loop.code[i].move == M_STORE:
            n = side_by_side(loop, i)
            store(loop, &loop.code[i], n, u, rows, start, max(tile, begin - loop.code[i].reach), tile + TILE)
            i += n
        tile += TILE
    return i


cdef void load_together(FusedLoop loop, Instruction* code, int32_t n_rows, Slot* u, double* of_block, int64_t start,
                        int64_t begin) noexcept nogil:
    """Bring neighbouring columns of an array to rows."""
    cdef int64_t low = max(max(start, code.low), begin - code.reach)
    cdef int64_t n = min(start + BLOCK, code.high) - low
    cdef double* rows[MOST_SIDE_BY_SIDE]
    cdef int32_t k
    if n <= 0:
        return
    for k in range(n_rows):
        rows[k] = address(loop, code[k].out, u, of_block, start, low)
    load_rows(address(loop, code.a, u, of_block, start, low), loop.places[code.a].stride, rows, n_rows, n)


cdef int32_t side_by_side(FusedLoop loop, int32_t first) noexcept nogil:
    """How many loads or stores, from one on, read or write neighbours at the same coordinates."""
    cdef Instruction* code = &loop.code[first]
    cdef bint loads = code.move == M_LOAD
    cdef RowPlace* one = &loop.places[code.a if loads else code.out]
    cdef RowPlace* other
    cdef int32_t n = 1
    if one.space == ROW or (loads and one.stride <= 1):
        return 1
    while n < MOST_SIDE_BY_SIDE and first + n < loop.n_code and code[n].move == code.move:
        other = &loop.places[code[n].a if loads else code[n].out]
        if (other.space != one.space or other.start != one.start + n or other.stride != one.stride
                or code[n].low != code.low or code[n].high != code.high or code[n].reach != code.reach):
            break
        n += 1
    return n


cdef void store(FusedLoop loop, Instruction* code, int32_t n_rows, Slot* u, double* of_block, int64_t start,
                int64_t low, int64_t high) noexcept nogil:
    """Write rows side by side to every so many numbers of an array, from coordinate `low` to `high`, a tile at most."""
    cdef int64_t first = max(low, code.low)
    cdef int64_t n = min(high, code.high) - first
    cdef int64_t stride = loop.places[code.out].stride
    cdef int32_t k
    cdef double* rows[MOST_SIDE_BY_SIDE]
    cdef double numbers[MOST_SIDE_BY_SIDE][TILE]
    cdef double tile[MOST_SIDE_BY_SIDE * TILE]
    if n <= 0:
        return
    for k in range(n_rows):
        rows[k] = address(loop, code[k].a, u, of_block, start, first)
        if loop.places[code[k].a].stride != 1:
            load(rows[k], loop.places[code[k].a].stride, numbers[k], n)
            rows[k] = numbers[k]
    cdef double* out = address(loop, code.out, u, of_block, start, first)
    if stride == n_rows and (code.high - code.low) * stride >= LARGE and HAS_QUADS:
        store_rows(rows, n_rows, tile, stride, n)
        stream(tile, out, n * stride)
    else:
        store_rows(rows, n_rows, out, stride, n)


cdef void run_ufunc_loop(FusedLoop loop, Instruction* code, double* a, double* b, double* out,
                         int64_t n) noexcept nogil:
    """A loop of NumPy's, on rows or one number again and again."""
    cdef char* args[3]
    cdef cnp.npy_intp steps[3]
    cdef cnp.npy_intp count = n
    cdef int last = 1 if code.move == M_LOOP1 else 2
    args[0], args[1], args[last] = <char*>a, <char*>b, <char*>out
    steps[0] = loop.places[code.a].stride * <cnp.npy_intp>sizeof(double)
    steps[1] = loop.places[code.b].stride * <cnp.npy_intp>sizeof(double)
    steps[last] = sizeof(double)
    (<Loop>code.function)(args, &count, steps, code.data)


cdef inline double* base(FusedLoop loop, int32_t k, Slot* u) noexcept nogil:
    """Where the number at coordinate 0 lies, of a place that is not a row."""
    cdef RowPlace* place = &loop.places[k]
    if place.space == SLOTS:
        return <double*>u + place.start
    if place.is_truth:
        return <double*>(<char*>u[place.space].o + place.start)
    return <double*>u[place.space].o + place.start


cdef inline double* address(FusedLoop loop, int32_t k, Slot* u, double* rows, int64_t start,
                            int64_t low) noexcept nogil:
    """Where the number of a place at coordinate `low` lies, in a block that begins at `start`."""
    cdef RowPlace* place = &loop.places[k]
    if place.space == ROW:
        return rows + place.row * (MARGIN + BLOCK) + MARGIN + place.start + (low - start)
    return base(loop, k, u) + low * place.stride


cdef void run_part(void* data, int64_t part, char* scratch) noexcept nogil:
    """A part of a run that threads share."""
    cdef Shared* shared = <Shared*>data
    cdef int64_t blocks = blocks_of_part(<FusedLoop>shared.loop)
    run_blocks(<FusedLoop>shared.loop, shared.u, shared.sums, scratch, part * blocks, (part + 1) * blocks)


cdef inline void load(const double* x, int64_t stride, double* p, int64_t n) noexcept nogil:
    cdef int64_t i
    cdef double one
    if stride == 1:
        memcpy(p, x, n * sizeof(double))
    elif stride == 0:
        one = x[0]
        for i in range(n):
            p[i] = one
    else:
        for i in range(n):
            p[i] = x[i * stride]


cdef void load_truths(const char* x, int64_t stride, double* p, int64_t n) noexcept nogil:
    cdef int64_t i
    if stride == 1:
        for i in range(n):
            p[i] = x[i] != 0
        return
    for i in range(n):
        p[i] = x[i * stride] != 0


cdef void store_truths(const double* x, char* p, int64_t n) noexcept nogil:
    cdef int64_t i
    for i in range(n):
        p[i] = x[i] != 0.0


cdef void add_sums(const double* x, int64_t at, int64_t n, int64_t along, int64_t behind, double* p,
                   Kernel2 add) noexcept nogil:
    """Add n numbers, from flat number `at` on, to their sums along an axis; the first of a sum begin it."""
    cdef int64_t i, count
    cdef int64_t first = at % behind        # in a row of neighbours
    cdef int64_t row = at // behind % along
    p += at // behind // along * behind
    while n > 0:
        count = min(behind - first, n)
        if row == 0:
            for i in range(count):
                p[first + i] = SUM_OF_NEGATIVE_ZERO + x[i]
        else:
            add(p + first, x, p + first, count)
        x += count
        n -= count
        first = 0
        row += 1
        if row == along:
            row = 0
            p += behind


cdef void add_rows(const double* x, int64_t at, int64_t n, int64_t along, double* p) noexcept nogil:
    """The same where nothing lies behind: sums of neighbours."""
    cdef int64_t count
    cdef int64_t first = at % along
    p += at // along
    while n > 0:
        count = min(along - first, n)
        p[0] = (SUM_OF_NEGATIVE_ZERO if first == 0 else p[0]) + sums_total(x, count)
        x += count
        n -= count
        first = 0
        p += 1


cdef void copy(const double* x, int64_t stride, double* p, int64_t n) noexcept nogil:
    """p = 0 + x: what is added to zeros is never -0.0."""
    cdef int64_t i
    for i in range(n):
        p[i] = 0.0 + x[i * stride]


cdef void gather(const double* x, const int32_t* k, double* p, int64_t n) noexcept nogil:
    cdef int64_t i
    for i in range(n):
        p[i] = x[k[i]]


cdef void each1(Scalar1 function, const double* a, double* p, int64_t n) noexcept nogil:
    cdef int64_t i
    for i in range(n):
        p[i] = function(a[i])


cdef void each2(Scalar2 function, const double* a, const double* b, double* p, int64_t n) noexcept nogil:
    cdef int64_t i
    for i in range(n):
        p[i] = function(a[i], b[i])


cdef fused item:
    double
    char


cdef void expand(const item* x, const AccessPattern* view, int64_t at, double* p, int64_t n) noexcept nogil:
    """p[i] = x seen through a view, from flat number `at` on."""
    cdef int64_t index[64]
    cdef int d
    cdef int last = view.ndim - 1
    cdef int64_t offset = view.offset
    cdef int64_t rest = at
    cdef int64_t count
    for d in range(last, -1, -1):
        index[d] = rest % view.dims[d]
        rest //= view.dims[d]
        offset += index[d] * view.strides[d]
    while n > 0:
        count = min(n, view.dims[last] - index[last])
        if item is double:
            load(x + offset, view.strides[last], p, count)
        else:
            load_truths(x + offset, view.strides[last], p, count)
        p += count
        n -= count
        offset -= index[last] * view.strides[last]
        index[last] = 0
        d = last - 1
        while d >= 0:
            index[d] += 1
            offset += view.strides[d]
            if index[d] < view.dims[d]:
                break
            offset -= index[d] * view.strides[d]
            index[d] = 0
            d -= 1


cdef double pairwise(double* x, int64_t n) noexcept nogil:
    """The sum of n numbers, in pairs of pairs; they are overwritten."""
    cdef int64_t i
    while n > 1:
        for i in range(n // 2):
            x[i] = x[2 * i] + x[2 * i + 1]
        if n % 2:
            x[n // 2] = x[n - 1]
        n = (n + 1) // 2
    return x[0]
