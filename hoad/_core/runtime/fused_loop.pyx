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

cdef extern from "sums.h":
    double sums_total(const double* x, int64_t n) noexcept nogil

cdef enum:
    WORTH_A_THREAD = 1 << 19    # numbers to go through: some 50 microseconds, to a thread's ten until it runs
    REACHES_A_PART = 8          # at least, lest what is made twice be much
    LONGEST_GRAIN = 1 << 30
    TILE = 16                   # coordinates that stores write together
    CLOSE = 8                   # numbers from one store to the next, up to which a block of them stays in cache

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
        made.function = function
        made.a, made.b, made.c, made.out = a, b, a, out
        made.low, made.high = low, high
        made.k = made.m = NULL
        made.data = NULL
        made.sum = self.n_sums
        made.reach = 0
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
        if threads > 1 and self.threads() > 1:
            shared.loop, shared.u, shared.sums = <void*>self, u, sums
            share(run_part, &shared, (blocks(self) + blocks_of_part(self) - 1) // blocks_of_part(self),
                  min(threads, self.threads()), rest, scratch_of_part(self))
        else:
            run_blocks(self, u, sums, rest, 0, blocks(self))
        for i in range(self.n_code):
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
    return loop.n_places * <int64_t>sizeof(double*) + numbers * <int64_t>sizeof(double) + 64


cdef void run_blocks(FusedLoop loop, Slot* u, double* sums, char* scratch, int64_t first, int64_t end) noexcept nogil:
    """Do the blocks from `first` to `end`, and before them what they read of those that come before."""
    cdef double* rows = <double*>((<size_t>scratch + 63) & ~<size_t>63)
    cdef double** bases = lay_places(loop, u, rows)
    cdef double* row
    cdef int64_t begin = loop.low + first * BLOCK
    cdef int64_t stop = min(loop.low + end * BLOCK, loop.high)
    cdef int64_t start = begin - min((loop.reach + BLOCK - 1) // BLOCK, first) * BLOCK
    cdef int32_t i
    while start < stop:
        i = 0
        while i < loop.n_code:
            if loop.code[i].move == M_STORE:
                i = store_together(loop, i, bases, start, begin)
                continue
            run_instruction(loop, &loop.code[i], bases, sums, start, begin)
            i += 1
        for i in range(loop.n_remembered):
            row = rows + loop.remembered[i] * (MARGIN + BLOCK)
            memcpy(row, row + BLOCK, MARGIN * sizeof(double))
        start += BLOCK


cdef double** lay_places(FusedLoop loop, Slot* u, double* rows) noexcept nogil:
    """Where the places lie."""
    cdef double** bases = <double**>(rows + loop.n_rows * (MARGIN + BLOCK))
    cdef int32_t i
    cdef RowPlace* place
    for i in range(loop.n_places):
        place = &loop.places[i]
        if place.space == ROW:
            bases[i] = rows + place.row * (MARGIN + BLOCK) + MARGIN + place.start
        elif place.space == SLOTS:
            bases[i] = <double*>u + place.start
        elif place.is_truth:
            bases[i] = <double*>(<char*>u[place.space].o + place.start)
        else:
            bases[i] = <double*>u[place.space].o + place.start
    return bases


cdef void run_instruction(FusedLoop loop, Instruction* code, double** bases, double* sums, int64_t start,
                          int64_t first) noexcept nogil:
    """One instruction, as far as it covers a block; before coordinate `first`, as far as it is read from there."""
    cdef int64_t low = max(max(start, code.low), first - code.reach)
    cdef int64_t n = min(start + BLOCK, code.high) - low
    if n <= 0:
        return
    cdef double* a = address(loop, code.a, bases, start, low)
    cdef double* b = address(loop, code.b, bases, start, low)
    cdef double* out = address(loop, code.out, bases, start, low)
    if code.move == M_ROWS:
        (<Kernel2>code.function)(a, b, out, n)
    elif code.move == M_PAIR or code.move == M_SELECT:
        (<Kernel3>code.function)(a, b, address(loop, code.c, bases, start, low), out, n)
    elif code.move == M_ROW:
        (<Kernel1>code.function)(a, out, n)
    elif code.move == M_BOTH:
        (<KernelBoth>code.function)(a, out, address(loop, code.c, bases, start, low), n)
    elif code.move == M_GATHERED:
        (<Gathered2>code.function)(bases[code.a], code.k + (low - code.low), bases[code.b],
                                   code.m + (low - code.low), out, n)
    elif code.move == M_LOAD:
        load(a, loop.places[code.a].stride, out, n)
    elif code.move == M_GATHER:
        gather(bases[code.a], code.k + (low - code.low), out, n)
    elif code.move == M_COPY:
        copy(a, loop.places[code.a].stride, out, n)
    elif code.move == M_LOOP1 or code.move == M_LOOP2:
        run_ufunc_loop(loop, code, a, b, out, n)
    elif code.move == M_EXPAND:
        expand(<const double*>bases[code.a], loop.places[code.a].view, low - code.low, out, n)
    elif code.move == M_SUMS:
        if code.behind == 1:
            add_rows(a, low - code.low, n, code.along, bases[code.out])
        else:
            add_sums(a, low - code.low, n, code.along, code.behind, bases[code.out], <Kernel2>code.function)
    elif code.move == M_TRUTHS:
        load_truths(<const char*>bases[code.a] + low * loop.places[code.a].stride, loop.places[code.a].stride,
                    out, n)
    elif code.move == M_EXPAND_TRUTHS:
        expand(<const char*>bases[code.a], loop.places[code.a].view, low - code.low, out, n)
    elif code.move == M_BYTES:
        store_truths(a, <char*>bases[code.out] + low, n)
    elif code.move == M_ZERO:
        memset(out, 0, n * sizeof(double))
    elif code.move == M_SUM:
        sums[code.sum * blocks(loop) + (start - loop.low) // BLOCK] = sums_total(a, n)
    elif code.move == M_EACH1:
        each1(<Scalar1>code.function, a, out, n)
    else:
        each2(<Scalar2>code.function, a, b, out, n)


cdef int32_t store_together(FusedLoop loop, int32_t first, double** bases, int64_t start, int64_t begin) noexcept nogil:
    """The stores from instruction `first` on, few coordinates at a time, lest lines of the cache come and go.

    Gives the instruction behind them.
    """
    cdef int64_t tile = start
    cdef int64_t together = TILE
    cdef int32_t i = first
    if loop.places[loop.code[first].out].stride <= CLOSE:       # a whole block of them stays in cache
        together = BLOCK
    while tile < start + BLOCK:
        i = first
        while i < loop.n_code and loop.code[i].move == M_STORE:
            store(loop, &loop.code[i], bases, start, max(tile, begin - loop.code[i].reach), tile + together)
            i += 1
        tile += together
    return i


cdef void store(FusedLoop loop, Instruction* code, double** bases, int64_t start, int64_t low,
                int64_t high) noexcept nogil:
    """Write a row to every so many numbers of an array, from coordinate `low` to `high`."""
    cdef int64_t first = max(low, code.low)
    cdef int64_t n = min(high, code.high) - first
    cdef int64_t step = loop.places[code.a].stride
    cdef int64_t stride = loop.places[code.out].stride
    cdef int64_t i
    if n <= 0:
        return
    cdef double* a = address(loop, code.a, bases, start, first)
    cdef double* out = address(loop, code.out, bases, start, first)
    if step == 1:
        for i in range(n):
            out[0] = a[i]
            out += stride
        return
    for i in range(n):
        out[i * stride] = a[i * step]


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


cdef double* address(FusedLoop loop, int32_t place, double** bases, int64_t start, int64_t low) noexcept nogil:
    """Where the number of a place at coordinate `low` lies."""
    if loop.places[place].space == ROW:
        return bases[place] + (low - start)
    return bases[place] + low * loop.places[place].stride


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
