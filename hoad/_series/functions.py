"""Functions of NumPy and SciPy that a series meets: of its value by their rules, or refused with what to write."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import FrameType
from typing import Any

import numpy as np

from hoad._core.base.where import here, is_public, name_running
from hoad.errors import NoRuleError, ShapeError

Expand = Callable[[Callable[[Any], Any], int], Any]

# Functions that can only mean the value: none of one array that is linear, as np.sum, which coefficients have as well.
OF_VALUES: set[Callable[..., Any]] = {
    *(np.clip, np.real, np.imag, np.stack, np.nan_to_num),
    *(np.dot, np.inner, np.outer, np.vdot, np.tensordot, np.einsum, np.kron, np.cross),
    *(np.polyval, np.interp, np.sinc),
    *(np.linalg.solve, np.linalg.inv, np.linalg.det, np.linalg.norm, np.linalg.cholesky, np.linalg.pinv),
    *(np.linalg.matrix_power, np.linalg.eigvalsh),
}

# Of these, those that act entry by entry.
ENTRYWISE = {np.clip, np.real, np.imag, np.nan_to_num, np.polyval, np.interp, np.sinc}

# Functions that give booleans, of which there is no series.
COMPARING = ("allclose", "array_equal", "array_equiv", "isclose", "all", "any")

# In libraries: what is asked of an array itself, and functions of a list that Python has as well.
CONVERSIONS = ("asarray_chkfinite", "asfortranarray", "asmatrix", "require")
BY_PYTHON = {"sum": "sum([s, u])", "mean": "sum([s, u]) / 2", "average": "sum([s, u]) / 2", "prod": "math.prod([s, u])"}

LIBRARIES = ("numpy", "scipy")

_expand: list[Expand] = []


def expand_with(expand: Expand) -> None:
    """Let `expand` find the coefficients of a function of t at 0, to a degree."""
    _expand[:] = [expand]


def coefficients_by_rules(name: str, function: Callable[[Any], Any], degree: int) -> list[Any]:
    """The coefficients of a function of t at 0, which gives one number or array."""
    found = _expand[0](function, degree)
    if isinstance(found, (tuple, list, dict)):
        raise NoRuleError(
            f"{name} of a TaylorSeries gives several results ({here()}). Take their series together: "
            f"hoad.taylor(lambda t: {name}(s(t)), 0.0, s.degree) is a container of them."
        )
    return list(found)


def check_not_in_library(frame: FrameType) -> None:
    """Raise where a function of NumPy or SciPy makes an array of what it was given, a list of series most likely."""
    if _package(frame) not in LIBRARIES or _module(frame).startswith("numpy.testing"):
        return
    asked = name_running(frame)
    while frame.f_back is not None and _package(frame.f_back) in LIBRARIES:
        frame = frame.f_back
        if is_public(frame.f_code.co_name):
            asked = name_running(frame)
    name = asked.rpartition(".")[2]
    if name in CONVERSIONS or _module(frame).startswith("numpy.testing"):
        return
    by_python = f"{BY_PYTHON[name]} for the series, " if name in BY_PYTHON else ""
    raise NoRuleError(
        f"{asked} would take a TaylorSeries for the array of its coefficients ({here()}), as NumPy takes a list of "
        f"them. Write {by_python}np.stack([s, u]) for a series of vectors, or s.coefficients where these are meant."
    )


def check_polyval(args: Sequence[Any], kwargs: Mapping[str, Any], series: type[Any]) -> None:
    """Raise where a series of numbers is given for the coefficients of a polynomial, which come the other way round."""
    p: Any = args[0] if args else kwargs.get("p")
    if isinstance(p, series) and not np.ndim(p[0]):
        raise ShapeError(
            f"np.polyval takes the coefficients of a polynomial, the highest power first, but was given a TaylorSeries "
            f"({here()}). Its value at the displacement t is s(t), that at x = point + t is s.at(x)."
        )


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))


def _package(frame: FrameType) -> str:
    return _module(frame).partition(".")[0]


def refusal(name: str, args: Sequence[Any], kwargs: Mapping[str, Any], series: type) -> NoRuleError:
    """The error for a function that might mean the value of a series, or its coefficients."""
    letters, others = iter("suvwxyz"), iter("abcdefgh")

    def shown(x: Any) -> str:
        if isinstance(x, series):
            return f"{next(letters, 's')}(t)"
        if isinstance(x, (list, tuple)) and any(isinstance(item, series) for item in x):
            return f"[{', '.join(map(shown, x))}]"
        return repr(x) if x is None or isinstance(x, (bool, int, float, str, tuple)) else next(others, "...")

    if name.rpartition(".")[2] in COMPARING:
        return NoRuleError(
            f"{name} does not take a TaylorSeries ({here()}): a boolean has no series. Ask it of the coefficients, "
            "s.coefficients, or of the value at the point, s[0]."
        )
    call = ", ".join([*map(shown, args), *(f"{key}={shown(x)}" for key, x in kwargs.items())])
    return NoRuleError(
        f"{name} does not take a TaylorSeries ({here()}). Its coefficients are an array (n+1, *S), the order first: "
        f"s.coefficients. If it is meant of the value, its series in t is hoad.taylor(lambda t: {name}({call}), 0.0, "
        "s.degree)."
    )
