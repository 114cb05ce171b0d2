"""The steps of a lowered program, which the interpreter runs and the passes of lowering rewrite."""

from libc.stdint cimport int32_t, uint16_t

cdef enum Form:
    SCALAR_STEP       # out = op(a, b) on doubles
    ITEM_STEP         # out = (array a)[b]
    ARRAY_STEP        # row a of the array steps
    FUSED_STEP        # part a, a `FusedLoop`
    COPY_STEP         # part a, a `GatherCopy`
    PUT_STEP          # part a, a `GatherPut`
    BYTECODE_STEP       # part a, a `ScalarBytecode`

cdef struct Step:
    uint16_t op
    uint16_t form
    int32_t out
    int32_t a
    int32_t b
