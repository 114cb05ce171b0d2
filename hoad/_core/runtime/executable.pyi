"""Calls of a program from Python."""

from collections.abc import Callable
from typing import Any

from hoad._core.runtime.engine import Lowered

class Workspace:
    """The memory of one run."""

class Executable:
    """A program that is called: `arrange` makes a result of the list of values, or is None where there is one value."""

    def __init__(self, lowered: Lowered, arrange: Callable[[list[Any]], Any] | None) -> None: ...
    @property
    def arrange(self) -> Callable[[list[Any]], Any] | None: ...
    def run(self, args: tuple[Any, ...], threads: int | None = None) -> list[Any]: ...
    def call(self, args: tuple[Any, ...], threads: int | None = None) -> Any: ...
    def takes(self, args: tuple[Any, ...]) -> bool: ...
