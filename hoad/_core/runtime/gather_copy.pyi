"""Arrays put together from single numbers."""

from typing import final

@final
class Pack:
    """What an assembly of single numbers is in a schedule."""
