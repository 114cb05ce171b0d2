"""What a replay does besides computing: it counts, stores results, and appends them to lists."""

from collections.abc import Callable
from typing import Any

from typing_extensions import Self

from hoad._core.jit.capture_analysis import Walk

class Effect:
    """A place that a function writes to, and what it puts there."""

    def __init__(
        self,
        guard: tuple[str, Any, Any, Any, str],
        action: str,
        what: Any = None,
        places: tuple[int, ...] = (),
        arrange: Callable[[list[Any]], Any] | None = None,
    ) -> None:
        """Of a guard of the place; `action` is "count" (by what), "store" or "append": what, or of values of a run.

        The values are those in `places`; `arrange` makes one thing of several.
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
    """While it is the trace function of a thread, notes which places are read before anything is put there.

    It looks at each instruction of code that has one of the names that the places are known by.
    """

    def __init__(self, names: set[str], walk: Walk) -> None:
        """`walk` knows the places, by their guards."""

    @property
    def is_set(self) -> bool: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *_: object) -> None: ...
    def stop(self) -> None: ...
    def reads_first(self, guard: tuple[str, Any, Any, Any, str]) -> bool: ...
