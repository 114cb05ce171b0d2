"""Instructions on the rows of a block, which fused loops run and code generation makes."""

from libc.stdint cimport int32_t, int64_t

from hoad._core.runtime.access_pattern cimport AccessPattern

cdef enum:
    BLOCK = 512                 # coordinates of a block
    MARGIN = 16                 # coordinates before it that a row may keep
    BLOCKS_A_PART = 32          # at least, of a fused loop that threads share
    SLOTS = -1                  # a place among the numbers of a workspace
    ROW = -2                    # a row of the block

cdef enum Move:                 # what an instruction does
    M_ROWS                      # out = f(a, b), by a kernel of two operands
    M_PAIR                      # out = f(a, b, c), by a kernel of two operations
    M_ROW                       # out = f(a), by a kernel of one
    M_BOTH                      # out, c = f(a), g(a), by a kernel of one with two results
    M_GATHERED                  # out = f(a[k], b[m]), by a kernel of numbers gathered
    M_EACH2                     # the same one by one, by a function of two numbers
    M_EACH1
    M_LOOP1                     # the same by a loop of NumPy's
    M_LOOP2
    M_LOAD                      # out = a, through its stride
    M_COPY                      # out = 0 + a
    M_STORE                     # out = a, through the stride of out
    M_GATHER                    # out = a[k]
    M_EXPAND                    # out = a, through its view
    M_ZERO                      # out = 0
    M_SUM                       # one number = the sum of a
    M_SUMS                      # sums of a along an axis
    M_SELECT                    # out = a where b else c, by a kernel
    M_TRUTHS                    # out = a, bytes through their stride, as numbers 0 and 1
    M_EXPAND_TRUTHS             # the same through their view
    M_BYTES                     # out = whether a is not 0, as bytes

cdef struct RowPlace:              # where the row of an operand or a result lies
    int32_t space               # SLOTS, ROW, or the register of an array
    int32_t row                 # which of the rows of the block
    int64_t start               # where coordinate 0 lies, in numbers; in a row, -1 for what lies one coordinate before
    int64_t stride              # numbers from coordinate to coordinate: 0, 1 or any
    const AccessPattern* view            # where that does not say it, or NULL
    bint is_truth               # booleans, in bytes: `start` and strides count those

cdef struct Instruction:
    void* function
    void* data                  # for a loop of NumPy's
    int32_t move
    int32_t first, then         # what arithmetic it is, as words for machine code; NOTHING where there is none
    int32_t a, b, c, out        # places
    int64_t low, high           # coordinates that it covers
    int64_t reach               # how many before a block are read of what it makes
    bint repeats                # it gives the same in each block, in a row of its own
    int32_t sum                 # which of the sums of the fused loop it is
    int64_t along, behind       # of sums along an axis: its length, and the numbers behind it
    int32_t* k                  # which numbers are gathered, from coordinate `low` on
    int32_t* m
