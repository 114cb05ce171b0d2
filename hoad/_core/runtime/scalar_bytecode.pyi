"""Single operations, one after the other."""

from typing import final

@final
class ScalarBytecode:
    """Steps as code for the interpreter of single numbers."""

@final
class ScalarLoop:
    """A loop of such code alone, whose steps take and give numbers."""

def codes_made() -> int:
    """How many pieces of machine code this process has made."""
