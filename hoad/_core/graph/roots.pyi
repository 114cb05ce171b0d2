from collections.abc import Callable
from typing import Any

def bind_roots(roots: list[int], carriers: list[int], smooth: Callable[..., Any]) -> None: ...
