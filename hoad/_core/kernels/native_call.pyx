"""Nodes that run a program, done without Python: what a primitive may offer in place of its function."""

cimport numpy as cnp

cnp.import_array()


cdef class NativeCall:
    """What computes the results of one signature from its operands, in as many threads at a time as call it.

    Operands and results are those of a `Plan`: contiguous arrays of the dtypes in the signature, a boolean as a
    byte. It never calls Python, and gives 0, or a code of `hoad._core.ops.plan`. Where it gives `FAILED_WITHIN`, the
    function of the primitive is called on the same operands, to raise the exception; where it gives `UNFINISHED`, to
    do all of it instead. Results do not depend on the number of threads that it may use.
    """

    cdef bint call_lanes(self, char** at, const int64_t* moves, int32_t lanes) noexcept nogil:
        """A call for each of so many lanes, whose operands and results lie some bytes further; False to do them singly.

        It never fails.
        """
        return False

    cdef int call(self, char** operands, char** results, int32_t threads) noexcept nogil:
        return 0


cdef enum:
    MOST_ARRAYS = 288


cdef inline int raised(int code) except? -1:
    """The code of a call, of which -1 says that an exception is set."""
    return code


def run(NativeCall native not None, list operands not None, list results not None):
    """Fill the results from the operands: contiguous arrays that fit the native form, a few of them."""
    cdef char* at[MOST_ARRAYS]
    cdef int i
    cdef int count = len(operands)
    if count + len(results) > MOST_ARRAYS:
        raise ValueError(f"{count} operands and {len(results)} results are more than a call holds")
    for i, array in enumerate(operands + results):
        at[i] = <char*>cnp.PyArray_DATA(<cnp.ndarray>array)
    if raised(native.call(at, at + count, 1)):
        raise RuntimeError("a node could not be computed; this is an error in hoad")
