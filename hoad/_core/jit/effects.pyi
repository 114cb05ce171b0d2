"""What a replay does besides computing: it adds to numbers, stores results, and appends them to lists."""

from collections.abc import Callable
from typing import Any

from typing_extensions import Self

from hoad._core.jit.environment import ABSENT as ABSENT

class Effect:
    """A place, or a container, that a function writes to, and what it puts there."""

    def __init__(
        self,
        guard: tuple[str, Any, Any, Any, str],
        action: str,
        what: Any = None,
        places: tuple[int, ...] = (),
        arrange: Callable[[list[Any]], Any] | None = None,
        missing: Any = ...,
    ) -> None:
        """Of a guard; `action` is "add" (each of a tuple), "store", "append" or "appendleft": what, or values of a run.

        With "expect" nothing is written: there is to be a number of the class that there was.
        The values are those in `places`; `arrange` makes one thing of several. `missing` is what is added to in a place
        where there is nothing.
        """

    @property
    def kind(self) -> str: ...
    @property
    def owner(self) -> Any: ...
    @property
    def key(self) -> Any: ...
    @property
    def name(self) -> str: ...
    @property
    def action(self) -> str: ...
    @property
    def places(self) -> tuple[int, ...]: ...

def effects_done() -> int: ...

class Effects:
    """All that a function does, in an order that does not matter: each place stands here once, a list item by item."""

    def __init__(self, effects: list[Effect]) -> None: ...
    @property
    def effects(self) -> list[Effect]: ...
    def apply(self, values: list[Any]) -> int: ...
    def put(self, values: list[Any]) -> None: ...

def untraced(*_: object) -> None: ...

class PlaceTrace:
    """While it is the trace function of a thread, tells of instructions in code that has one of some names.

    The `listener` has `accesses(code)`, a dict of what it wants to be told by the offset of the instruction, and
    `note(access, frame)`, which it is told before the instruction runs.
    """

    def __init__(self, names: set[str], listener: Any) -> None: ...
    @property
    def is_set(self) -> bool: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *_: object) -> None: ...
    def stop(self) -> None: ...
