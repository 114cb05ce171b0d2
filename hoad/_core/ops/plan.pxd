"""How one signature is evaluated: C loops over contiguous buffers."""

from libc.stdint cimport int32_t, int64_t

cimport numpy as cnp

from hoad._core.kernels.native_call cimport NativeCall
from hoad._core.graph.primitive cimport Primitive, Signature
from hoad._core.graph.tape cimport AbstractValue
from hoad._core.kernels.vector cimport Forms2, Kernel2, Loop, MatrixLoop

cdef double SUM_OF_NEGATIVE_ZERO

cdef enum Failure:
    FAILED_PYTHON = -1       # an exception is set
    FAILED_SINGULAR = -2     # a matrix was exactly singular
    FAILED_WITHIN = -3       # a program within would take another branch; see `raise_within`
    UNFINISHED = -4          # of native runs only: Python is to do it

cdef enum:
    MOST_AT_ONCE = 1000000   # multiplications that OpenBLAS does without putting matrices in another order
    ONE_THREAD = 1 << 18     # and those up to which it shares no product among threads of its own
    OF_A_CALL = 1 << 9       # those that take as long as a call of BLAS or LAPACK does beside its own
    WORTH_A_LOCK = 1 << 12   # those of a call of LAPACK from which on threads hardly wait for each other

cdef struct Part:            # a contribution to an assemble node that is not a single item
    bint gathered            # places come from an index operand, else from the strides
    int64_t count            # elements
    int64_t offset           # bytes
    int ndim
    cnp.npy_intp* shape
    cnp.npy_intp* strides    # bytes

cdef class Plan:
    cdef int kind
    cdef int nin, nout, nop                 # nop: operands that the loop strides over
    cdef Loop loop
    cdef void* data
    cdef MatrixLoop lapack                  # of a loop of ours over small matrices: what it asks where one is rare
    cdef const Forms2* forms                # of arithmetic on float64, for lanes
    cdef int ndim                           # outer loops
    cdef cnp.npy_intp* dims                 # [ndim]
    cdef cnp.npy_intp* steps                # [ndim][nop], bytes
    cdef cnp.npy_intp* core_dims
    cdef cnp.npy_intp* core_steps
    cdef bint empty                         # nothing to loop over
    cdef bint may_be_singular
    cdef bint is_product                    # a matrix product, of operands without further axes
    cdef int64_t piece_rows, piece_columns  # of the result of a matrix product: done piece by piece, unless 0
    cdef bint has_terms                     # the same, whose sums may be added up part by part
    cdef int64_t stack_part                 # matrices that a thread takes at once of a stack that is shared, or 0
    cdef bint is_copy                       # the result is the operand, item by item
    cdef int64_t itemsize                   # of the first result
    cdef int64_t size                       # of the first result; of the blocks before the axis of a concatenation
    cdef int64_t offset                     # bytes, where a strided copy starts
    cdef char identity[16]                  # fills the result of a reduction; see `starts_with_first`
    cdef bint starts_with_first
    cdef Plan first                         # copies the first slice of a reduction that has no identity
    cdef int64_t* offsets                   # assemble: flat offsets of the items
    cdef int64_t n_items                    # those; of a gather, the items of its operand
    cdef Part* parts
    cdef int n_parts
    cdef int64_t* blocks                    # concatenate: bytes of each operand's block
    cdef Signature signature
    cdef object rows                        # how it goes through fused loops: see `hoad._core.runtime.access_pattern`
    cdef bint is_sorted_out                 # `rows` is known
    cdef bint batched                       # its primitive takes all lanes at once
    cdef NativeCall native                      # what runs it, or None

    cdef bint may_fail(self) noexcept
    cdef int32_t worth(self) noexcept nogil
    cdef int run(self, char** operands, char** results, int32_t threads) noexcept nogil
    cdef int run_lanes(self, char** at, const int64_t* moves, int32_t lanes, int32_t* lane) noexcept nogil
    cdef bint run_rows(self, char** at, const int64_t* moves, int32_t lanes) noexcept nogil
    cdef bint run_stack(self, char** at, const int64_t* moves, int32_t lanes) noexcept nogil
    cdef bint run_product(self, char** at, const int64_t* moves, int32_t lanes) noexcept nogil
    cdef void run_terms(self, char** args, cnp.npy_intp* dims, const cnp.npy_intp* steps) noexcept nogil
    cdef int find_loop(self, object function, list kinds) except -1
    cdef Kernel2 form_for(self, const cnp.npy_intp* steps) noexcept nogil
    cdef int take_kernel(self, Primitive primitive, list kinds) except -1
    cdef bint take_matrices(self, Signature sig, int64_t rows) except -1
    cdef int set_loops(self, object dims, list strides) except -1
    cdef int set_elementwise(self, Signature sig) except -1
    cdef int set_gufunc(self, Signature sig, list seen) except -1
    cdef int set_reduction(self, Signature sig) except -1
    cdef int set_strided(self, object shape, object strides, int64_t offset, int64_t itemsize) except -1
    cdef int set_assembly(self, Signature sig) except -1
    cdef int set_concatenation(self, Signature sig) except -1
    cdef int run_loops(self, char** operands, char** results) noexcept nogil
    cdef int run_shared(self, char** operands, char** results, int32_t threads) noexcept nogil
    cdef bint run_part_of_stack(self, char** at, int64_t part) noexcept nogil
    cdef int run_pieces(self, char** operands, char** results, int32_t threads) noexcept nogil
    cdef void run_piece(self, char** at, int64_t piece) noexcept nogil
    cdef int64_t pieces_a_part(self) noexcept nogil
    cdef int64_t pieces(self) noexcept nogil
    cdef bint advance(self, char** at, cnp.npy_intp* index) noexcept nogil
    cdef void run_reduction(self, char* x, char* p) noexcept nogil
    cdef void run_strided(self, char* x, char* p) noexcept nogil
    cdef bint run_gather(self, char* x, int64_t* flat, char* p) noexcept nogil
    cdef void run_put(self, char* x, char* v, int64_t* flat, char* p) noexcept nogil
    cdef bint gathers_inside(self, char** operands) noexcept nogil
    cdef void add_row(self, char* p, cnp.npy_intp step, char* x, cnp.npy_intp n) noexcept nogil
    cdef void run_assembly(self, char** operands, char* p) noexcept nogil
    cdef void add_strided(self, Part* part, char* x, char* p) noexcept nogil
    cdef void run_concatenation(self, char** operands, char* p) noexcept nogil


cdef Plan plan_of(Signature sig)
cdef Plan product_of_views(Signature sig, list seen)
cdef object as_value(AbstractValue aval, char* at)
cdef object empty_array(AbstractValue aval)
cdef int raise_within(Signature sig, list values) except -1
