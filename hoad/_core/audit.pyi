"""Looking at the functions that Python enters, without a call of Python's for each."""

from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any, TypeVar, final

@final
class Watch:
    """While it is the profile function of a thread, notes code that is entered and neither expected nor a library's.

    What a library calls is its own: rules, primitives. What the garbage collector enters is nobody's: it runs where
    it happens to run, whatever was called there. A profiler that is there already goes on.
    """

    unknown: str | None
    def __init__(self, expected: dict[int, CodeType]) -> None: ...
    def __enter__(self) -> Watch: ...
    def __exit__(self, *_: object) -> None: ...
    def began(self, phase: str, info: dict[str, int]) -> None: ...
    def ended(self, phase: str, info: dict[str, int]) -> None: ...
    def __call__(self, frame: FrameType, event: str, argument: Any) -> None: ...

_Given = TypeVar("_Given")

def unwatched(
    function: Callable[..., _Given], args: tuple[Any, ...], keywords: dict[str, Any] | None = None
) -> _Given: ...
