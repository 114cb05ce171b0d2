"""Running a lowered program for the rows of arrays at once, without Python and without the GIL.

The steps of a loop that carries nothing from step to step do not wait for one another: each is a lane. Lanes run in
chunks, whose registers stay in cache; chunks are gathered in blocks, which threads share out. Where a block begins and
ends hangs on the number of rows alone, and sums are added up block by block: no result hangs on the number of threads.

The letters of inputs and outputs are those of `hoad._core.loops`: ``x`` and ``k``, ``y`` and ``s``.
"""

import numpy as np

from cpython.exc cimport PyErr_CheckSignals
from libc.string cimport memcmp, memcpy

cimport cython
cimport numpy as cnp

from hoad._core.blocks cimport give, take, take_zeroed
from hoad._core.engine cimport Check, Lowered, Workspace
from hoad._core.loops cimport raise_at_step
from hoad._core.plan cimport Plan
from hoad._core.tape cimport AVAL_BOOL, AVAL_FLOAT, Aval, aval_of, int32_t, int64_t

from hoad.errors import ShapeError

cnp.import_array()

cdef enum:
    MOST_LANES = 128            # of a chunk
    FEWEST_LANES = 8            # of a chunk, where registers are wide
    CACHE = 1 << 18             # bytes that the registers of a chunk may take
    MOST_BLOCKS = 64
    BETWEEN_SIGNALS = 8         # chunks between two looks for an interruption


cdef struct Port:               # an input with rows, or an output
    bint summed
    bint is_single              # made of float32
    int32_t register            # r, or ~v
    int64_t nbytes              # of one row
    int64_t step                # from lane to lane where it is computed; 0 where it is the same in all
    char* data                  # rows, or sums block by block


@cython.final
cdef class Lanes:
    """One run of a program for all rows. `run` does a range of blocks, also in several threads at a time.

    A block has `rows_a_block` rows: where those are left out, as many as the number of rows says. Where they are asked
    for, they are rounded down to whole chunks. Rows are counted from `first`, for messages.
    """

    cdef Lowered program
    cdef int64_t length, first
    cdef int32_t width                  # lanes of a chunk
    cdef int64_t chunks, chunks_a_block
    cdef readonly int64_t blocks
    cdef Port* ports                    # the inputs with rows, then the outputs
    cdef int32_t n_rows, n_ports
    cdef int64_t ports_size             # bytes
    cdef list held                      # an array for each input: the first row of those that have rows
    cdef readonly list results          # for each output: its rows, or its sums block by block
    cdef list alive                     # what the ports point into
    cdef bint stopped                   # one of the threads has failed

    def __cinit__(self, Lowered program not None, str takes, str gives, values, int64_t length,
                  int64_t rows_a_block=0, int64_t first=0):
        cdef int32_t k
        self.program = program
        self.length = length
        self.first = first
        self.width = <int32_t>min(max(CACHE // max(1, program.bytes_per_lane), FEWEST_LANES), MOST_LANES)
        if 0 < rows_a_block < self.width and not self.takes_chunks():
            self.width = <int32_t>rows_a_block
        self.chunks = (length + self.width - 1) // self.width
        self.chunks_a_block = rows_a_block // self.width if rows_a_block else (
            (self.chunks + MOST_BLOCKS - 1) // MOST_BLOCKS)
        self.chunks_a_block = max(1, self.chunks_a_block)
        self.blocks = (self.chunks + self.chunks_a_block - 1) // self.chunks_a_block
        self.held, self.results, self.alive = [], [], []
        self.ports_size = (program.n_inputs + program.n_outputs) * sizeof(Port) + 1
        self.ports = <Port*>take_zeroed(self.ports_size)
        if self.ports == NULL:
            raise MemoryError
        for k in range(program.n_inputs):
            self.place_input(k, takes[k], values[k])
        self.n_ports = self.n_rows
        for k in range(program.n_outputs):
            self.place_output(k, gives[k])

    def __dealloc__(self):
        give(self.ports, self.ports_size)

    cdef bint takes_chunks(self):
        """Whether a step is given all lanes of a chunk at once, and may round otherwise in a shorter one."""
        cdef int32_t i
        for i in range(self.program.n_array_steps):
            if (<Plan>self.program.array_steps[i].plan).batched:
                return True
        return False

    @property
    def rows_a_block(self):
        """How many rows a block has, the last one aside."""
        return self.chunks_a_block * self.width

    cdef int place_input(self, int32_t k, str letter, object value) except -1:
        cdef Aval aval = aval_of(self.program.inputs[k].aval)
        cdef bint has_rows = letter == "x"
        shape = (self.length, *aval.shape) if has_rows else aval.shape
        if np.shape(value) != shape:
            raise ShapeError(f"input {k} of this loop takes shape {shape}, but {np.shape(value)} was given.")
        dtype = np.float64 if aval.number <= AVAL_BOOL else aval.dtype
        array = np.ascontiguousarray(value, dtype).reshape(shape)
        self.alive.append(array)
        self.held.append(np.zeros((1, *aval.shape), dtype) if has_rows else array)
        if has_rows:
            self.describe(&self.ports[self.n_rows], aval, self.program.inputs[k].register, array)
            self.n_rows += 1
        return 0

    cdef int place_output(self, int32_t k, str letter) except -1:
        """Make room for an output."""
        cdef Aval aval = aval_of(self.program.outputs[k].aval)
        cdef Port* port = &self.ports[self.n_ports]
        dtype = np.float64 if aval.number <= AVAL_BOOL else aval.dtype
        if letter == "s":
            array = np.zeros((self.blocks, *aval.shape), dtype)
        else:
            array = np.empty((self.length, *aval.shape), dtype)
        self.results.append(array)
        self.describe(port, aval, self.program.outputs[k].register, array)
        port.summed = letter == "s"
        self.n_ports += 1
        return 0

    cdef int describe(self, Port* port, Aval aval, int32_t register, cnp.ndarray array) except -1:
        port.register = register
        port.is_single = aval.dtype == np.float32 or aval.dtype == np.complex64
        port.nbytes = sizeof(double) if aval.number <= AVAL_BOOL else aval.size * aval.itemsize
        port.step = port.nbytes if register < 0 else 0
        port.data = <char*>cnp.PyArray_DATA(array)
        return 0

    def run(self, int64_t start, int64_t stop):
        """Do the blocks from `start` to `stop`."""
        cdef Lowered program = self.program
        cdef Workspace work
        cdef int64_t size = program.workspace_size(self.width)
        cdef int64_t chunk = max(start, <int64_t>0) * self.chunks_a_block
        cdef int64_t end = min(stop * self.chunks_a_block, self.chunks)
        cdef int code = 0
        cdef char* memory = <char*>take(size)
        if memory == NULL:
            raise MemoryError(f"no memory for a workspace of {size} bytes")
        try:
            program.lay_out(memory, self.width, &work)
            program.place_inputs(self.held, &work)
            with nogil:
                code = program.run_uniform(&work)
                while not code and chunk < end and not self.stopped:
                    self.enter(chunk, &work)
                    code = program.run_varying(&work)
                    if not code:
                        self.collect(chunk, &work)
                        chunk += 1
                        if chunk % BETWEEN_SIGNALS == 0:
                            with gil:
                                PyErr_CheckSignals()
            if code:
                raise_at_step(program, code, &work, self.first + chunk * self.width + self.failed_lane(&work))
        except BaseException:
            self.stopped = True
            raise
        finally:
            give(memory, size)

    cdef void enter(self, int64_t chunk, Workspace* work) noexcept nogil:
        """Let the inputs take the rows of a chunk."""
        cdef int32_t k
        cdef int64_t row = chunk * self.width
        work.lanes = <int32_t>min(self.length - row, <int64_t>self.width)
        for k in range(self.n_rows):
            work.varying[~self.ports[k].register] = self.ports[k].data + row * self.ports[k].nbytes

    cdef void collect(self, int64_t chunk, Workspace* work) noexcept nogil:
        """Copy what the outputs gave to their rows, or add it to their sums."""
        cdef int32_t k
        cdef Port* port
        for k in range(self.n_rows, self.n_ports):
            port = &self.ports[k]
            if port.summed:
                add(port, self.source(k, work), port.data + chunk // self.chunks_a_block * port.nbytes, work.lanes)
            else:
                store(port, self.source(k, work), port.data + chunk * self.width * port.nbytes, work.lanes)

    cdef inline char* source(self, int32_t k, Workspace* work) noexcept nogil:
        """Where the output of the first lane lies."""
        cdef int32_t register = self.ports[k].register
        if register < 0:
            return work.varying[~register]
        if self.program.uniform[register] < 0:
            return <char*>&work.uniform[register].d
        return <char*>work.uniform[register].o

    cdef int64_t failed_lane(self, Workspace* work):
        """The first lane at which the guard that failed holds something else than it wants."""
        cdef Check* check
        cdef char* data
        cdef int32_t lane
        if work.failed_check < 0 or self.program.checks[work.failed_check].register >= 0:
            return 0
        check = &self.program.checks[work.failed_check]
        data = work.varying[~check.register]
        for lane in range(work.lanes):
            if check.nbytes:
                if memcmp(data + lane * check.nbytes, <char*>check.expected.o, check.nbytes) != 0:
                    return lane
            elif ((<double*>data)[lane] != 0) != (check.expected.d != 0):
                return lane
        return 0

    def collected(self):
        """A list of results."""
        cdef int32_t k
        cdef Aval aval
        cdef list found = []
        for k in range(self.program.n_outputs):
            aval = aval_of(self.program.outputs[k].aval)
            value = self.results[k]
            if self.ports[self.n_rows + k].summed:
                value = added_up(value)
                if not aval.ndim:
                    value = float(value) if aval.number == AVAL_FLOAT else value[()]
            found.append(value.astype(bool) if aval.number == AVAL_BOOL else value)
        return found


cdef void store(Port* port, char* source, char* rows, int32_t lanes) noexcept nogil:
    cdef int32_t lane
    if port.step:
        memcpy(rows, source, lanes * port.nbytes)
        return
    for lane in range(lanes):
        memcpy(rows + lane * port.nbytes, source, port.nbytes)


cdef void add(Port* port, char* source, char* sums, int32_t lanes) noexcept nogil:
    if port.is_single:
        add_rows[float](<float*>sums, <float*>source, port.nbytes // 4, port.step // 4, lanes)
    else:
        add_rows[double](<double*>sums, <double*>source, port.nbytes // 8, port.step // 8, lanes)


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
