"""Calling recorded functions again."""

from collections.abc import Callable
from typing import Any, final

from typing_extensions import Self

from hoad._core.graph.tape import AbstractValue
from hoad._core.jit.bound_call import BoundCall
from hoad._core.jit.draws import Draw, Draws
from hoad._core.jit.effects import Effects
from hoad._core.jit.environment import Environment
from hoad._core.runtime.engine import Lowered
from hoad._core.runtime.executable import Executable
from hoad._core.trace.context import WATCHERS as WATCHERS

@final
class Zeros:
    """Whether an array that is given to write to holds the zeros that a recording leaves as they are.

    The caller says so; but what one recording wrote there is no zero of another.
    """

    def other(self) -> None: ...

@final
class CompiledTrace(Executable):
    """A program that was recorded for a signature, and the environment that its function read."""

    def __init__(
        self,
        program: Any,
        lowered: Lowered,
        environment: Environment,
        live: list[Any],
        arrange: Callable[[list[Any]], Any] | None,
        into: Callable[[Any, Any], Any],
        has_constants: bool = False,
        threads: int = 0,
        zeros: Zeros | None = None,
        effects: Effects | None = None,
        n_results: int = -1,
        draws: Draws | None = None,
    ) -> None: ...
    @property
    def effects(self) -> Effects | None: ...
    @property
    def draws(self) -> Draws | None: ...
    @property
    def program(self) -> Any: ...
    @property
    def environment(self) -> Environment: ...
    @property
    def live(self) -> list[Any]: ...

@final
class CallSignature:
    """Which arguments were given: numbers, arrays of which shapes and dtypes, and which other objects."""

    def __new__(
        cls,
        kinds: list[AbstractValue | None],
        fixed: tuple[Any, ...],
        static: list[bool],
        form: Any,
        leaves: list[Any],
        firsts: list[int],
    ) -> Self: ...
    @property
    def size(self) -> int: ...
    @property
    def fixed(self) -> tuple[Any, ...]: ...
    @property
    def form(self) -> Any: ...
    recorded: list[CompiledTrace]
    @property
    def refusal(self) -> str | None: ...
    reasons: list[str]
    draws: list[Draw]
    live: list[Any] | str
    every: int
    latest: CompiledTrace | None
    def refuse(self, why: str, standing: Environment | None) -> None: ...
    def accept(self) -> None: ...
    def may_be_asked(self) -> bool: ...
    def given(self, leaves: list[Any], form: Any, firsts: list[int]) -> bool: ...
    def given_at(self, k: int, leaf: Any) -> bool: ...

@final
class Jitted:
    """A function that is recorded at its first call for each signature, and replayed at the others: see `hoad.jit`."""

    __wrapped__: Callable[..., Any]
    signatures: list[CallSignature]
    @property
    def driver(self) -> Any: ...
    def __init__(self, f: Callable[..., Any], driver: Any) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __get__(self, instance: Any, owner: Any = None, /) -> Any: ...
    def program(self, *args: Any, **kwargs: Any) -> Any: ...
    def report(self, *args: Any, **kwargs: Any) -> Any: ...
    def bound(self, *args: Any, out: Any = None) -> BoundCall: ...
    def replayed(
        self, signature: CallSignature, leaves: list[Any], out: Any, only_computes: bool = False
    ) -> tuple[str, Any]: ...
