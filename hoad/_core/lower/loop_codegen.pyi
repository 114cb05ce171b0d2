"""From the vector operations that joined a fused loop to its instructions."""

from typing import final

from hoad._core.lower.fusion import Fusion

@final
class LoopGenerator:
    """One fused loop in the making."""

    def __new__(cls, fusion: Fusion, number: int) -> LoopGenerator: ...

@final
class RowAllocator:
    """Rows of a block, used again."""
