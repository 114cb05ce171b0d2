from hoad._core.kernels.native_call cimport NativeCall
from hoad._core.runtime.engine cimport Lowered, Registers
from hoad._core.runtime.workspace cimport ProgramPort, Space, Spaces
from hoad._core.graph.tape cimport int32_t, int64_t


cdef struct Stream:             # an input, or an output
    ProgramPort port                   # its register may be ~v
    bint has_rows               # an input
    bint summed                 # an output
    bint is_single              # made of float32
    int64_t step                # bytes from lane to lane where it is computed; 0 where it is the same in all
    int64_t sums                # where a block is summed, among `more`

cdef struct LaneRun:                # one run for some of the chunks
    Registers* work
    char** data                 # of each stream: what is given, rows, or sums block by block
    int64_t chunk               # the next one
    int64_t block               # whose sums come first in `data`


cdef class Map(NativeCall):
    cdef Lowered program
    cdef Spaces spaces
    cdef int64_t length
    cdef int32_t width                  # lanes of a chunk
    cdef int64_t chunks, chunks_a_block
    cdef readonly int64_t blocks
    cdef readonly int64_t operations    # about how many a run takes
    cdef Stream* streams                # inputs, then outputs
    cdef int32_t n_in, n_streams

    cdef int64_t give_stream(self, int32_t k, bint summed, int64_t more) except -1
    cdef int run_parts(self, char** operands, char** results, int32_t threads) noexcept nogil
    cdef int run_blocks(self, char** operands, char** results) noexcept nogil
    cdef void open_block(self, LaneRun* run, int64_t block, char* more) noexcept nogil
    cdef void close_block(self, LaneRun* run, char** results) noexcept nogil
    cdef int begin(self, LaneRun* run, Space* space) noexcept nogil
    cdef int advance(self, LaneRun* run, int64_t end) noexcept nogil
    cdef void enter(self, LaneRun* run) noexcept nogil
    cdef void collect(self, LaneRun* run) noexcept nogil
    cdef char* source(self, Stream* stream, Registers* work) noexcept nogil
    cdef int64_t failed_lane(self, Registers* work)
