cimport cython

from libc.stdint cimport int32_t, int64_t

from hoad._core.ops.plan cimport Plan
from hoad._core.graph.tape cimport AbstractValue

cdef enum RowForm:
    ELEMENTWISE         # each number of the result from one number of each operand
    VIEW                # the numbers of the operand, elsewhere
    TOTAL               # the sum of all
    SUMS                # sums along an axis; the view has the dimensions before, along and behind it
    PIECES              # zeros, with operands added at ranges
    COLUMNS             # operands side by side, a number of each in turn

cdef struct AccessPattern:       # where the numbers that meet the coordinates 0, 1, ... of a row lie in an operand
    int64_t offset
    int64_t count
    int ndim
    int64_t* dims
    int64_t* strides    # in numbers


@cython.final
cdef class Rowwise:
    cdef int form
    cdef int64_t size   # of the row
    cdef int n          # operands
    cdef bint of_truths     # some operand or result is an array of booleans
    cdef AccessPattern* views    # of each; of PIECES: where in the result it is added


cdef Rowwise rowwise(Plan plan)
cdef bint is_truth(AbstractValue aval)
