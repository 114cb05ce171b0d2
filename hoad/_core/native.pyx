"""Nodes that run a program, done without Python: what a primitive may offer in place of its function."""


cdef class Native:
    """What computes the results of one signature from its operands, in as many threads at a time as call it.

    Operands and results are those of a `Plan`: contiguous arrays of the dtypes in the signature, a truth value as a
    byte. It never calls Python, and gives 0, or a code of `hoad._core.plan`. Where it gives `FAILED_WITHIN`, the
    function of the primitive is called on the same operands, to raise the exception; where it gives `UNFINISHED`, to
    do all of it instead. Results do not hang on the number of threads that it may use.
    """

    cdef int call(self, char** operands, char** results, int32_t threads) noexcept nogil:
        return 0
