"""From the vector operations that joined a fused loop to its instructions."""

from libc.stdint cimport int32_t, int64_t, uint16_t

from hoad._core.lower.fusion cimport Fusion
from hoad._core.runtime.fused_loop cimport FusedLoop

cdef FusedLoop generate_loop(Fusion fusion, int32_t number)
