"""What NumPy says of shapes, dtypes and memory, on which no derivative depends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hoad._core.base.where import here
from hoad._core.trace.traced import Array, Scalar
from hoad._core.trace.views import is_part, places, shares
from hoad._numpy.registry import implements, stand_in
from hoad.errors import NoRuleError


def _of_stand_ins(function: Callable[..., Any]) -> None:
    """Let NumPy answer of zeros of the same shapes and dtypes."""

    @implements(function)
    def implementation(*args: Any, **options: Any) -> Any:
        return function(*map(stand_in, args), **{name: stand_in(x) for name, x in options.items()})


OF_SHAPES: list[Callable[..., Any]] = [
    *(np.result_type, np.can_cast, np.common_type, np.einsum_path),
    *(np.diag_indices_from, np.tril_indices_from, np.triu_indices_from),
]
for _function in OF_SHAPES:
    _of_stand_ins(_function)


@implements(np.min_scalar_type)
def min_scalar_type(a: Any, /) -> Any:
    if isinstance(a, Scalar) or not a.ndim:
        raise NoRuleError(
            f"np.min_scalar_type of a traced number depends on how large the number is ({here()}), and a recording has "
            "one dtype for all. Write x.dtype, or give it hoad.value(x)."
        )
    return a.dtype


# ---- memory ---------------------------------------------------------------------------------------------------------


@implements(np.shares_memory)
def shares_memory(a: Any, b: Any, /, max_work: int | None = None) -> bool:
    """Two traced arrays share what NumPy's would; a traced number, and a plain array, share nothing with others."""
    return _are_of_one("shares_memory", a, b) and bool(np.isin(places(a), places(b)).any())


@implements(np.may_share_memory)
def may_share_memory(a: Any, b: Any, /, max_work: int | None = None) -> bool:
    """Whether the places from the first to the last overlap."""
    if not _are_of_one("may_share_memory", a, b):
        return False
    x, y = places(a), places(b)
    return bool(x.min() <= y.max() and y.min() <= x.max())


def _are_of_one(name: str, a: Any, b: Any) -> bool:
    """Whether both are views of one array, and not empty."""
    if not (isinstance(a, Array) and isinstance(b, Array)):
        return False
    if is_part(a) and is_part(b) and shares(a, b):
        raise NoRuleError(
            f"np.{name} of parts of complex numbers is not recorded ({here()}): traced arrays do not say how the two "
            "parts of a number lie in memory. Ask it of the complex arrays."
        )
    return shares(a, b) and a.size > 0 and b.size > 0
