"""Running a lowered program for the rows of arrays at once, without Python and without the GIL.

The steps of a loop that carries nothing from step to step do not wait for one another: each is a lane. Lanes run in
chunks, whose registers stay in cache; chunks are gathered in blocks, which threads share out. Where a block begins and
ends depends on the number of rows alone, and sums are added up block by block: no result depends on the number of
threads.

The letters of inputs and outputs are those of `hoad._core.runtime.loops`: ``x`` and ``k``, ``y`` and ``s``.
"""

import numpy as np

from cpython.exc cimport PyErr_CheckSignals
from libc.string cimport memcmp, memcpy, memset

cimport cython
cimport numpy as cnp

from hoad._core.base.blocks cimport give, required, take_zeroed
from hoad._core.base.threads cimport share
from hoad._core.runtime.engine cimport GUARD_FAILED, GuardCheck, Lowered, Registers, no_memory
from hoad._core.kernels.native_call cimport NativeCall
from hoad._core.graph.primitive cimport K_GUFUNC, K_REDUCE
from hoad._core.ops.plan cimport FAILED_WITHIN, Plan
from hoad._core.runtime.step cimport ARRAY_STEP
from hoad._core.runtime.workspace cimport Space, Spaces, addresses, describe, put, raise_at_step, rows_of
from hoad._core.graph.tape cimport AVAL_FLOAT, OP_MATMUL, AbstractValue, aval_of, int32_t, int64_t

cnp.import_array()

cdef enum:
    MOST_LANES = 128            # of a chunk
    FEWEST_LANES = 8            # of a chunk, where registers are wide
    CACHE = 1 << 18             # bytes that the registers of a chunk may take
    PRODUCTS = 1 << 26          # the same, where a matrix is read once for all lanes of a chunk
    MOST_BLOCKS = 64
    BETWEEN_SIGNALS = 8         # chunks between two looks for an interruption
    PRODUCTS_AT_ONCE = 8        # of a product of matrices, in the time of an elementwise operation
    OFTEN = 1 << 28             # numbers that native runs of a chunk may go through


cdef struct Parts:                  # runs that threads share out
    void* map
    LaneRun runs[MOST_BLOCKS]
    Space* spaces[MOST_BLOCKS]
    int codes[MOST_BLOCKS]


@cython.final
cdef class Map(NativeCall):
    """A program to be run for so many rows: which inputs have rows, and which outputs are summed.

    A block has `rows_a_block` rows: where those are left out, as many as the number of rows says. Where they are asked
    for, they are rounded down to whole chunks.
    """

    def __cinit__(self, Lowered program not None, str takes, str gives, int64_t length, int64_t rows_a_block=0):
        cdef int32_t k
        self.program = program
        self.length = length
        self.may_fail = program.may_fail()
        self.depth = program.native_depth() + 1
        self.numbers = length * program.numbers()
        self.operations = length * operations_a_lane(program)
        cdef int64_t room = <int64_t>(PRODUCTS if program.has_products() else CACHE)
        self.width = <int32_t>min(max(room // max(1, program.bytes_per_lane), FEWEST_LANES), MOST_LANES,
                                  max(OFTEN // max(1, program.native_numbers()), 1))
        if 0 < rows_a_block < self.width and not program.takes_chunks():
            self.width = <int32_t>rows_a_block
        self.chunks = (length + self.width - 1) // self.width
        self.chunks_a_block = rows_a_block // self.width if rows_a_block else (
            (self.chunks + MOST_BLOCKS - 1) // MOST_BLOCKS)
        self.chunks_a_block = max(1, self.chunks_a_block)
        self.blocks = (self.chunks + self.chunks_a_block - 1) // self.chunks_a_block
        self.n_in, self.n_streams = program.n_inputs, program.n_inputs + program.n_outputs
        self.streams = <Stream*>required(take_zeroed(self.n_streams * sizeof(Stream) + 1))
        for k in range(self.n_in):
            describe(&self.streams[k].port, program.inputs[k].register, aval_of(program.inputs[k].aval))
            self.streams[k].has_rows = takes[k] == "x"
        cdef int64_t more = self.n_streams * sizeof(char*)
        for k in range(program.n_outputs):
            more = self.give_stream(k, gives[k] == "s", more)
        self.spaces = Spaces(program, self.width, more)

    def __dealloc__(self):
        give(self.streams, self.n_streams * sizeof(Stream) + 1)

    cdef int64_t give_stream(self, int32_t k, bint summed, int64_t more) except -1:
        """Describe output k; gives the bytes that a run takes for its sums, after so many for others."""
        cdef Stream* stream = &self.streams[self.n_in + k]
        cdef AbstractValue aval = aval_of(self.program.outputs[k].aval)
        describe(&stream.port, self.program.outputs[k].register, aval)
        stream.summed = summed
        stream.is_single = aval.dtype == np.float32 or aval.dtype == np.complex64
        if stream.port.register < 0:
            stream.step = sizeof(double) if stream.port.is_scalar else stream.port.nbytes
        stream.sums = (more + 15) & ~<int64_t>15
        return stream.sums + stream.port.nbytes if summed and self.blocks > 1 else more

    def in_threads(self, int32_t count):
        """Let a run use so many threads; whether it can, which sums over the rows do not allow."""
        cdef int32_t k
        for k in range(self.n_in, self.n_streams):
            if self.streams[k].summed:
                return count <= 1
        self.worth = min(count, MOST_BLOCKS)
        return True

    # ---- a run

    cdef int call(self, char** operands, char** results, int32_t threads) noexcept nogil:
        return self.run_parts(operands, results, threads) if self.worth > 1 and threads > 1 else (
            self.run_blocks(operands, results))

    cdef int run_parts(self, char** operands, char** results, int32_t threads) noexcept nogil:
        """Without sums, so that blocks do not wait for each other."""
        cdef Parts parts
        cdef int32_t k, part, count = 0
        cdef int code = 0
        parts.map = <void*>self
        while count < self.worth:
            parts.spaces[count] = self.spaces.enter()
            if parts.spaces[count] == NULL:
                code = no_memory()
                break
            parts.runs[count].data = <char**>parts.spaces[count].more
            for k in range(self.n_streams):
                parts.runs[count].data[k] = operands[k] if k < self.n_in else results[k - self.n_in]
            count += 1
        if not code:
            share(run_part, &parts, count, threads, NULL, 0)
        for part in range(count):
            code = code if code else parts.codes[part]
            self.spaces.leave(parts.spaces[part])
        return FAILED_WITHIN if code == GUARD_FAILED else code

    cdef int run_blocks(self, char** operands, char** results) noexcept nogil:
        cdef LaneRun run
        cdef int32_t k
        cdef int64_t block
        cdef Space* space = self.spaces.enter()
        if space == NULL:
            return no_memory()
        run.data, run.block = <char**>space.more, 0
        for k in range(self.n_streams):
            run.data[k] = operands[k] if k < self.n_in else results[k - self.n_in]
            if self.streams[k].summed:
                memset(run.data[k], 0, self.streams[k].port.nbytes)
        cdef int code = self.begin(&run, space)
        for block in range(self.blocks):
            if code:
                break
            if block:
                self.open_block(&run, block, space.more)
            code = self.advance(&run, min((block + 1) * self.chunks_a_block, self.chunks))
            if block and not code:
                self.close_block(&run, results)
        self.spaces.leave(space)
        return FAILED_WITHIN if code == GUARD_FAILED else code

    cdef void open_block(self, LaneRun* run, int64_t block, char* more) noexcept nogil:
        """Let a block have sums of its own."""
        cdef int32_t k
        run.block = block
        for k in range(self.n_in, self.n_streams):
            if self.streams[k].summed:
                run.data[k] = more + self.streams[k].sums
                memset(run.data[k], 0, self.streams[k].port.nbytes)

    cdef void close_block(self, LaneRun* run, char** results) noexcept nogil:
        """Add the sums of a block to the others."""
        cdef int32_t k
        for k in range(self.n_in, self.n_streams):
            if self.streams[k].summed:
                add(&self.streams[k], run.data[k], results[k - self.n_in], 1)

    cdef int begin(self, LaneRun* run, Space* space) noexcept nogil:
        """What is the same in all lanes, for the data of a run."""
        cdef int32_t k
        run.work = &space.work
        run.chunk = run.block * self.chunks_a_block
        for k in range(self.n_in):
            if not self.streams[k].has_rows:
                put(run.work, &self.streams[k].port, run.data[k])
        run.work.lanes = self.width
        return self.program.run_uniform(run.work)

    cdef int advance(self, LaneRun* run, int64_t end) noexcept nogil:
        """Chunks up to `end`."""
        cdef int code
        while run.chunk < end:
            self.enter(run)
            code = self.program.run_varying(run.work)
            if code:
                return code
            self.collect(run)
            run.chunk += 1
        return 0

    cdef void enter(self, LaneRun* run) noexcept nogil:
        """Let the inputs take the rows of a chunk."""
        cdef int32_t k
        cdef int64_t row = run.chunk * self.width
        cdef Stream* stream
        cdef char* rows
        run.work.lanes = <int32_t>min(self.length - row, <int64_t>self.width)
        for k in range(self.n_in):
            stream = &self.streams[k]
            if not stream.has_rows:
                continue
            rows = run.data[k] + row * stream.port.nbytes
            if stream.port.is_truth:
                as_doubles(rows, <double*>run.work.varying[~stream.port.register], run.work.lanes)
            else:
                run.work.varying[~stream.port.register] = rows

    cdef void collect(self, LaneRun* run) noexcept nogil:
        """Copy what the outputs gave to their rows, or add it to their sums."""
        cdef int32_t k
        cdef Stream* stream
        cdef char* data
        cdef int64_t row = run.chunk * self.width
        for k in range(self.n_in, self.n_streams):
            stream = &self.streams[k]
            data = run.data[k]
            if stream.summed:
                data += (run.chunk // self.chunks_a_block - run.block) * stream.port.nbytes
                add(stream, self.source(stream, run.work), data, run.work.lanes)
            else:
                store(stream, self.source(stream, run.work), data + row * stream.port.nbytes, run.work.lanes)

    cdef char* source(self, Stream* stream, Registers* work) noexcept nogil:
        """Where the output of the first lane lies."""
        cdef int32_t register = stream.port.register
        if register < 0:
            return work.varying[~register]
        if self.program.uniform[register] < 0:
            return <char*>&work.uniform[register].d
        return <char*>work.uniform[register].o

    cdef int64_t failed_lane(self, Registers* work):
        """The first lane at which the guard that failed holds something else than it wants."""
        cdef int32_t lane
        if work.failed_check < 0 or self.program.checks[work.failed_check].register >= 0:
            return 0
        cdef GuardCheck* check = &self.program.checks[work.failed_check]
        cdef char* data = work.varying[~check.register]
        for lane in range(work.lanes):
            if check.nbytes:
                if memcmp(data + lane * check.nbytes, <char*>check.expected.o, check.nbytes) != 0:
                    return lane
            elif ((<double*>data)[lane] != 0) != (check.expected.d != 0):
                return lane
        return 0


@cython.final
@cython.auto_pickle(False)
cdef class Lanes:
    """One run of a program for all rows. `run` does a range of blocks, also in several threads at a time.

    Rows are counted from `first`, for messages; see `Map` for blocks.
    """

    cdef Map form
    cdef int64_t first
    cdef list operands
    cdef readonly list results          # for each output: its rows, or its sums block by block
    cdef cnp.ndarray data               # where they lie
    cdef bint stopped                   # one of the threads has failed

    def __cinit__(self, Lowered program not None, str takes, str gives, values, int64_t length,
                  int64_t rows_a_block=0, int64_t first=0):
        cdef int32_t k
        self.form = Map(program, takes, gives, length, rows_a_block)
        self.first = first
        self.operands = [rows_of(program, k, values[k], length if self.form.streams[k].has_rows else -1)
                         for k in range(program.n_inputs)]
        self.results = [self.result(k) for k in range(program.n_outputs)]
        self.data = addresses(self.operands + self.results)

    @property
    def blocks(self):
        """How many blocks there are."""
        return self.form.blocks

    @property
    def operations(self):
        """About how many operations on numbers there are."""
        return self.form.operations

    @property
    def rows_a_block(self):
        """How many rows a block has, the last one aside."""
        return self.form.chunks_a_block * self.form.width

    cdef object result(self, int32_t k):
        """Room for what output k gives."""
        cdef AbstractValue aval = aval_of(self.form.program.outputs[k].aval)
        if self.form.streams[self.form.n_in + k].summed:
            return np.zeros((self.form.blocks, *aval.shape), aval.dtype)
        return np.empty((self.form.length, *aval.shape), aval.dtype)

    def run(self, int64_t start, int64_t stop):
        """Do the blocks from `start` to `stop`."""
        cdef Map form = self.form
        cdef LaneRun run
        cdef int64_t end = min(stop * form.chunks_a_block, form.chunks)
        cdef int code
        cdef Space* space = form.spaces.enter()
        if space == NULL:
            raise MemoryError(f"no memory for a workspace of {form.spaces.size} bytes")
        try:
            run.data, run.block = <char**>cnp.PyArray_DATA(self.data), 0
            with nogil:
                code = form.begin(&run, space)
            run.chunk = max(start, <int64_t>0) * form.chunks_a_block
            while not code and run.chunk < end and not self.stopped:
                with nogil:
                    code = form.advance(&run, min(run.chunk + BETWEEN_SIGNALS, end))
                if not code:
                    PyErr_CheckSignals()
            if code:
                lane = form.failed_lane(run.work)
                raise_at_step(form.program, code, run.work, self.first + run.chunk * form.width + lane)
        except BaseException:
            self.stopped = True
            raise
        finally:
            form.spaces.leave(space)

    def collected(self):
        """A list of results."""
        cdef int32_t k
        cdef AbstractValue aval
        cdef list found = []
        for k in range(self.form.program.n_outputs):
            aval = aval_of(self.form.program.outputs[k].aval)
            value = self.results[k]
            if self.form.streams[self.form.n_in + k].summed:
                value = added_up(value)
                if not aval.ndim:
                    value = float(value) if aval.number == AVAL_FLOAT else value[()]
            found.append(value)
        return found


cdef void run_part(void* data, int64_t part, char* scratch) noexcept nogil:
    """Some of the chunks."""
    cdef Parts* parts = <Parts*>data
    cdef LaneRun* run = &parts.runs[part]
    cdef int64_t chunks = (<Map>parts.map).chunks, count = (<Map>parts.map).worth
    run.block = 0
    parts.codes[part] = (<Map>parts.map).begin(run, parts.spaces[part])
    run.chunk = chunks * part // count
    if not parts.codes[part]:
        parts.codes[part] = (<Map>parts.map).advance(run, chunks * (part + 1) // count)


cdef int64_t operations_a_lane(Lowered program) except -1:
    """About how many operations on numbers a lane takes, by the time of elementwise ones."""
    cdef int64_t total = 0, count
    cdef int32_t i
    cdef Plan plan
    cdef AbstractValue x, p
    for i in range(program.first_varying, program.n_steps):
        count = 1
        if program.steps[i].form == ARRAY_STEP:
            plan = <Plan>program.array_steps[program.steps[i].a].plan
            p, x = plan.signature.results[0], plan.signature.avals[0]
            count = x.size if plan.kind == K_REDUCE else p.size
            if plan.native is not None:
                count = plan.native.numbers
            elif plan.signature.primitive.op == OP_MATMUL:
                count = count * plan.core_dims[2] // PRODUCTS_AT_ONCE
            elif plan.kind == K_GUFUNC:
                count = x.size * plan.core_dims[1]
        total += max(count, 1)
    return total


cdef void as_doubles(char* truths, double* numbers, int32_t lanes) noexcept nogil:
    cdef int32_t lane
    for lane in range(lanes):
        numbers[lane] = truths[lane] != 0


cdef void store(Stream* stream, char* source, char* rows, int32_t lanes) noexcept nogil:
    cdef int32_t lane
    cdef int64_t nbytes = stream.port.nbytes
    if stream.port.is_truth:
        for lane in range(lanes):
            rows[lane] = (<double*>(source + lane * stream.step))[0] != 0
    elif stream.step:
        memcpy(rows, source, lanes * nbytes)
    else:
        for lane in range(lanes):
            memcpy(rows + lane * nbytes, source, nbytes)


cdef void add(Stream* stream, char* source, char* sums, int32_t lanes) noexcept nogil:
    """Add what lies at `source` for so many lanes to the sums."""
    if stream.is_single:
        add_rows[float](<float*>sums, <float*>source, stream.port.nbytes // 4, stream.step // 4, lanes)
    else:
        add_rows[double](<double*>sums, <double*>source, stream.port.nbytes // 8, stream.step // 8, lanes)


cdef object added_up(object sums):
    """The sum over the first axis, one after another."""
    total = sums[0] if len(sums) else np.zeros(sums.shape[1:], sums.dtype)
    for term in sums[1:]:
        total = total + term
    return total


ctypedef fused real:
    float
    double


cdef void add_rows(real* sums, real* terms, int64_t n, int64_t step, int32_t lanes) noexcept nogil:
    """sums[i] += Σ terms[lane][i]."""
    cdef int64_t i
    cdef int32_t lane
    cdef real total
    if n == 1:
        total = 0.0
        for lane in range(lanes):
            total += terms[lane * step]
        sums[0] += total
        return
    for lane in range(lanes):
        for i in range(n):
            sums[i] += terms[lane * step + i]
