"""Looking at the functions that Python enters, without a call of Python's for each."""

from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any, final

@final
class Watch:
    """While it is the profile function of a thread, calls ``look(frame)`` where code is entered that is not known yet.

    Code for which that is true is known from then on. What the garbage collector enters is nobody's: it runs where
    it happens to run, whatever was called there.
    """

    def __init__(self, look: Callable[[FrameType], bool], known: dict[int, CodeType]) -> None: ...
    def start(self, alone: bool) -> None: ...
    def end(self) -> None: ...
    def collected(self, phase: str, info: dict[str, int]) -> None: ...
    def __call__(self, frame: FrameType, event: str, argument: Any) -> None: ...
