"""A call of a jitted function with the same objects each time: arrays that are filled in place."""

from typing import Any, final

from hoad._core.jit.jit_cache import Jitted

@final
class BoundCall:
    """``jitted(*args, out=out)`` at each call; what was replayed last is tried first, without a search."""

    def __init__(self, jitted: Jitted, args: tuple[Any, ...], out: Any) -> None: ...
    @property
    def jitted(self) -> Jitted: ...
    @property
    def args(self) -> tuple[Any, ...]: ...
    @property
    def out(self) -> Any: ...
    def __call__(self) -> Any: ...
