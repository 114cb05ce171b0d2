"""Single operations, one after the other."""

from typing import final

@final
class ScalarBytecode:
    """Steps as code for the interpreter of single numbers."""
