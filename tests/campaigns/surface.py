"""Functions of NumPy with random shapes, axes, keywords, dtypes and layouts: values against NumPy's own.

What is float64 or complex128 is held against differences too, and the reverse mode against the forward one. A trial
takes one function with a form of its arguments, or writes through views of a copy.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from campaigns.surface_calls import CASES, REAL, Draw, flattened

import hoad
from hoad.errors import NoRuleError

DTYPES = ("float64", "float64", "float32", "complex128")
H = 1e-6

# Refused, where NumPy computes something: in part from numbers that it has written over; without the imaginary parts;
# of a list of traced numbers, of which NumPy makes an object array; through a view, or a copy, nobody knows which.
REFUSED = (
    "would read values from the array",
    "cannot hold complex",
    "would cut it off from",
    "of a list",
    "must be compatible with input `ary`",
    "depends on the order of the items in memory",
    "'float' object has no attribute 'shape'",  # NumPy's average of any array of objects, with keepdims and returned
)


# ---- comparison -----------------------------------------------------------------------------------------------------


def _outcome(f: Callable[[list[Any]], Any], xs: list[Any]) -> list[Any] | Exception:
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return [np.array(x) for x in flattened(f([x.copy(order="K") for x in xs]))]
    except Exception as failure:
        return failure


def _agrees(found: Any, expected: Any, tolerance: float) -> bool:
    if np.shape(found) != np.shape(expected):
        return False
    scale = np.max(np.abs(expected), initial=1.0, where=np.isfinite(expected))
    return bool(np.allclose(found, expected, rtol=tolerance, atol=tolerance * scale, equal_nan=True))


def compared(f: Callable[[list[Any]], Any], xs: list[Any], tangents: list[Any], lists: bool) -> str | None:
    """What differs between a function on traced arrays and on plain ones; of lists the dtype may."""
    expected = _outcome(f, xs)
    values: list[Any] = []

    def g(*args: Any) -> Any:
        found = flattened(f(list(args)))
        values[:] = [(hoad.value(x), np.dtype(getattr(x, "dtype", float))) for x in found]
        return *(x * 1 for x, (_, dtype) in zip(found, values, strict=True) if dtype.kind in "fc"), args[0] * 1

    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            _, slopes = hoad.jvp(g, tuple(xs), tuple(tangents))
    except NoRuleError:
        return None
    except Exception as failure:
        if isinstance(expected, Exception) or any(refused in str(failure) for refused in REFUSED):
            return None
        return f"raised {type(failure).__name__}: {str(failure)[:300]}"
    if isinstance(expected, Exception):
        # of no values, or of one value in several axes
        unasked = (
            "Cannot cast",
            "boolean array indexing assignment requires",
            "with a sequence",
            "to Python scalars",
            "must be real number",
            "only 0-dimensional arrays",
            "zero-size array to reduction operation",
        )
        if isinstance(expected, ZeroDivisionError) or any(said in str(expected) for said in unasked):
            return None
        return f"NumPy raises {type(expected).__name__}: {str(expected)[:200]}, hoad gives {values}"
    if len(expected) != len(values):
        return f"{len(values)} results, NumPy gives {len(expected)}"
    single = any(x.dtype.itemsize == (8 if x.dtype.kind == "c" else 4) for x in xs)
    for k, ((value, dtype), known) in enumerate(zip(values, expected, strict=True)):
        if dtype != known.dtype and not lists:
            return f"result {k} is {dtype}{np.shape(value)}, NumPy gives {known.dtype}{known.shape}"
        if not _agrees(value, known, 1e-4 if single or dtype.itemsize < 8 else 1e-12):
            return f"result {k} is {value}, NumPy gives {known}"
    return (
        None
        if single or lists
        else _slopes_agree(f, g, xs, tangents, [x for x in expected if x.dtype.kind in "fc"], slopes)
    )


def _steps(f: Any, xs: list[Any], tangents: list[Any], h: float) -> list[Any] | None:
    """By how much the results change between x - h v and x + h v; None where one of them raises."""
    ahead = _outcome(f, [x + h * v for x, v in zip(xs, tangents, strict=True)])
    behind = _outcome(f, [x - h * v for x, v in zip(xs, tangents, strict=True)])
    if isinstance(ahead, Exception) or isinstance(behind, Exception):
        return None
    return [a - b for a, b in zip(ahead, behind, strict=True) if a.dtype.kind in "fc"]


def _differs(f: Any, xs: list[Any], tangents: list[Any], known: list[Any], slopes: Any) -> str | None:
    """What differs between derivatives along a direction and central differences; at a jump nothing does."""
    far, near = _steps(f, xs, tangents, H), _steps(f, xs, tangents, H / 256)
    if far is None or near is None:
        return None
    for k, (a, b, value, slope) in enumerate(zip(far, near, known, slopes, strict=False)):
        if not np.all(np.isfinite(value)) or _agrees(slope, a / (2 * H), 1e-5):
            continue
        jumps = (np.abs(b) > np.abs(a) / 16 + 1e-9 * np.abs(value)) | (np.abs(b) > 0.5)  # to another whole number
        if not _agrees(slope, np.where(jumps, slope, b / (2 * H / 256)), 1e-3):  # that of a kink nearby
            return f"derivative of result {k} is {slope}, differences give {a / (2 * H)}"
    return None


def _slopes_agree(f: Any, g: Any, xs: list[Any], tangents: list[Any], known: list[Any], slopes: Any) -> str | None:
    wrong = _differs(f, xs, tangents, known, slopes)
    if wrong is not None:
        return wrong
    if not all(np.all(np.isfinite(x)) for x in known):
        return None
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        value, pull = hoad.vjp(g, *xs)
        weights = tuple(
            np.cos(1.0 + np.arange(np.size(x))).reshape(np.shape(x)).astype(np.result_type(x))[()] for x in value
        )
        adjoints = pull(weights)
    forward = sum(np.sum(w * s).real for w, s in zip(weights, slopes, strict=True))
    reverse = sum(np.sum(a * v).real for a, v in zip(adjoints, tangents, strict=True))
    if np.isfinite(forward) and not abs(forward - reverse) <= 1e-9 * (1 + abs(forward)):
        return f"reverse mode gives {reverse}, forward mode {forward}"
    return None


def trial(rng: np.random.Generator) -> str | None:
    """One function, one form of its arguments."""
    names = list(CASES)
    name = "written" if rng.random() < 0.3 else names[int(rng.integers(len(names)))]
    dtype = str(DTYPES[int(rng.integers(3 if name in REAL else 4))])
    d = Draw(rng, dtype)
    f = CASES[name](d)
    if not d.arrays:
        return None
    tangents = [d.plain(x.shape, x.dtype) for x in d.arrays]
    wrong = compared(f, d.arrays, tangents, d.lists)
    if wrong is None:
        return None
    held = {key: cell for key, cell in inspect.getclosurevars(f).nonlocals.items() if not callable(cell)}
    return f"{name} of {[(x.dtype.str, x.shape) for x in d.arrays]}, {held}: {wrong}"
