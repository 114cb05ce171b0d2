"""What traced values refuse to do, each with what to do instead."""

from collections.abc import Callable
from types import FrameType
from typing import Final

from hoad.errors import TracedValueError

ADVICE: Final[dict[str, str]]

def advice_for(called: str) -> str: ...
def rewrite_with(function: Callable[[FrameType, int], str | None]) -> None: ...
def not_writable() -> TracedValueError: ...
def writes_into(what: str) -> TracedValueError: ...
