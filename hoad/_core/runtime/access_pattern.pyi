"""How operations on arrays go through chains."""

from typing import final

@final
class Rowwise:
    """How one signature goes through chains."""
