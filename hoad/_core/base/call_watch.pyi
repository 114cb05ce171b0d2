"""Looking at the functions that Python enters and calls, without a call of Python's for each."""

from collections.abc import Callable, Iterable
from types import CodeType, FrameType
from typing import Any, TypeVar, final

from hoad._core.base.where import CHANGING_CODE as CHANGING_CODE

CHANGING: frozenset[str]
STEADY: frozenset[str]

def state_of_generator(x: Any) -> Any: ...

class EnteredCode:
    """Is told of each piece of the user's code before it runs for the first time."""

    @property
    def codes(self) -> dict[int, CodeType]: ...

@final
class CallWatch:
    """While it is the profile function of a thread, tells of code that is entered, and notes what nobody knows of.

    What a library calls is its own: rules, primitives. What the garbage collector enters is nobody's: it runs where
    it happens to run, whatever was called there. A profiler that is there already goes on.

    It notes, too, what gives something else at every call, whoever calls it: functions in C, of which nearly all of
    Python's library makes its own; what Python tells audit hooks; code of `CHANGING_CODE`; and whether NumPy's global
    generator was drawn from, which only SciPy does by itself.
    """

    unknown: str | None
    impure: str | None
    is_users: bool
    loads: bool
    appended: dict[int, int]
    def __init__(self, listener: EnteredCode) -> None: ...
    def __enter__(self) -> CallWatch: ...
    def __exit__(self, *_: object) -> None: ...
    def is_steady(self) -> bool: ...
    def expect(self, before: Any, now: Any) -> None: ...
    def began(self, phase: str, info: dict[str, int]) -> None: ...
    def ended(self, phase: str, info: dict[str, int]) -> None: ...
    def __call__(self, frame: FrameType, event: str, argument: Any) -> None: ...

_Given = TypeVar("_Given")

def unwatched(
    function: Callable[..., _Given], args: tuple[Any, ...], keywords: dict[str, Any] | None = None
) -> _Given: ...
def call_key(f: Any, args: Iterable[Any], plain: frozenset[int]) -> Any: ...
def asks_nothing(f: Any, args: Iterable[Any], plain: frozenset[int], table: dict[Any, Any]) -> bool: ...
def globals_of(f: Any) -> dict[str, Any]: ...
def stand_for(known: dict[str, Any], names: list[tuple[str, Callable[[], Any]]]) -> bool: ...
