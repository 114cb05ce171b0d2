"""Arrays put together from single numbers."""

from typing import final

@final
class GatherCopy:
    """What an assembly of single numbers is in a program that is run again and again."""

@final
class GatherPut:
    """Numbers of arrays that go to places among zeros."""
