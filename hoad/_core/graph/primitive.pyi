from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from hoad._core.graph.tape import AbstractValue

RESULTS_LIMIT: Final[int]

# How an operation is evaluated.
STRUCTURE: Final[int]
UFUNC: Final[int]
GUFUNC: Final[int]
REDUCE: Final[int]
STRIDED: Final[int]
GATHER: Final[int]
PUT: Final[int]
CONCATENATE: Final[int]
PYTHON: Final[int]

NUMBERS: Final[dict[str, int]]

class Primitive:
    def __init__(
        self,
        name: str,
        *,
        function: Callable[..., Any] | None = None,
        kind: int = ...,
        nin: int = 1,
        nout: int = 1,
        commutative: bool = False,
        is_bool: bool = False,
        costly: bool = False,
        linear: bool = False,
        multilinear: bool = False,
        infer: Callable[..., tuple[AbstractValue, ...]] | None = None,
        describe: Callable[[Any], str] | None = None,
        linear_in: tuple[int, ...] = (),
        param_names: tuple[str, ...] | None = None,
        lasting: bool = True,
        symbol: str | None = None,
        symmetric: bool = False,
        zero_derivative: bool = False,
        analytic: bool = False,
        conjugates: bool = False,
        may_round: bool = False,
        series: str | None = None,
        factor: float = 1.0,
    ) -> None: ...
    name: Final[str]
    op: Final[int]
    function: Final[Any]
    kind: Final[int]
    nin: Final[int]
    nout: Final[int]
    param_names: Final[tuple[str, ...] | None]
    lasts: Final[bool]
    linear_in: Final[tuple[int, ...]]
    symbol: Final[str | None]
    symmetric: Final[bool]
    zero_derivative: Final[bool]
    conjugates: Final[bool]
    may_round: Final[bool]
    series: Final[str | None]
    factor: Final[float]
    analytic: bool
    form: tuple[str, Callable[[], Any]] | None
    derived: dict[Any, Any]
    join: Any
    elementwise: bool
    rule: Callable[..., Any] | None
    jvp: Any
    batch: Any
    native: Any
    rule_name: str | None
    per_call: bool
    of_programs: bool
    version: int
    infer: Callable[..., tuple[AbstractValue, ...]] | None
    describe: Callable[[Any], str] | None
    expansion: Callable[..., Any] | None
    kernel: Callable[..., Any] | None
    qualified: tuple[str, str] | None
    @property
    def has_one_rule(self) -> bool: ...
    def has_kernel(self, for_arrays: bool) -> bool: ...
    def keywords(self, params: Any) -> dict[str, Any]: ...
    def require_rule(self, where: str | None = None) -> Callable[..., Any]: ...

class Signature:
    primitive: Final[Primitive]
    params: Final[Any]
    avals: Final[tuple[AbstractValue, ...]]
    results: Final[tuple[AbstractValue, ...]]
    plan: Any

SERIES: frozenset[str]
TABLES: dict[str, str]

def primitives() -> list[Primitive]: ...
def load_tables() -> None: ...
def ufunc_primitive(ufunc: np.ufunc) -> Primitive | None: ...
def primitive_named(name: str) -> Primitive | None: ...
def signature_at(primitive: Primitive, params: Any, avals: Sequence[AbstractValue]) -> Signature: ...
def make_signature(
    primitive: Primitive, params: Any, avals: tuple[AbstractValue, ...], results: tuple[AbstractValue, ...]
) -> Signature: ...
def rules_epoch() -> int: ...
def next_epoch() -> None: ...
