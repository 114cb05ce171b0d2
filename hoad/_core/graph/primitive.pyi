"""The table of operations, and their signatures."""

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
    """An operation hoad can record; derivatives come from its one rule.

    What is true of an operation, whoever asks, is a field; a module that needs such a fact has no list of names.
    `commutative` promises the same bits, so that sweeps exchange operands; `symmetric` is without that promise.
    """

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
    @property
    def name(self) -> str: ...
    @property
    def op(self) -> int: ...
    @property
    def function(self) -> Any: ...
    @property
    def kind(self) -> int: ...
    @property
    def nin(self) -> int: ...
    @property
    def nout(self) -> int: ...
    @property
    def param_names(self) -> tuple[str, ...] | None: ...
    @property
    def lasts(self) -> bool: ...
    @property
    def linear_in(self) -> tuple[int, ...]: ...
    @property
    def symbol(self) -> str | None: ...
    @property
    def symmetric(self) -> bool: ...
    @property
    def zero_derivative(self) -> bool: ...
    @property
    def conjugates(self) -> bool: ...
    @property
    def may_round(self) -> bool: ...
    @property
    def series(self) -> str | None: ...
    @property
    def factor(self) -> float: ...
    analytic: bool
    form: tuple[str, Callable[[], Any]] | None
    derived: dict[Any, Any]
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
    """A primitive at given parameters and abstract operands: its results, its plan, its templates."""

    @property
    def primitive(self) -> Primitive: ...
    @property
    def params(self) -> Any: ...
    @property
    def avals(self) -> tuple[AbstractValue, ...]: ...
    @property
    def results(self) -> tuple[AbstractValue, ...]: ...
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
