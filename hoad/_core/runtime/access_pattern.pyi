"""How operations on arrays go through fused loops."""

from typing import final

@final
class Rowwise:
    """How one signature goes through fused loops."""
