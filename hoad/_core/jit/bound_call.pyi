"""A call of a jitted function with the same objects each time: arrays that are filled in place."""

from typing import Any

from hoad._core.jit.jit_cache import Jitted

class BoundCall:
    """``jitted(*args, out=out)`` at each call; it keeps a workspace of its own, in which the arguments are placed."""

    def __init__(self, jitted: Jitted, args: tuple[Any, ...], out: Any) -> None: ...
    def __call__(self) -> Any: ...
