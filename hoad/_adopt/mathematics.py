"""What adopted code finds in the place of the module `math`: functions that take traced numbers, too."""

from __future__ import annotations

import cmath
import functools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from hoad._adopt.conversions import NARROW, as_int, number_of
from hoad._adopt.modules import replace
from hoad._core.base.where import here
from hoad._core.trace.coerce import holds_traced
from hoad._core.trace.traced import is_traced, plain_value


def _special(name: str) -> Callable[..., Any]:
    def function(x: Any) -> Any:
        import scipy.special

        return getattr(scipy.special, name)(x)

    return function


def _log(x: Any, base: Any = None) -> Any:
    return np.log(x) if base is None else np.log(x) / np.log(base)


def _dist(x: Any, y: Any) -> Any:
    return _hypot(*(np.subtract(a, b) for a, b in zip(x, y, strict=True)))


def _hypot(*xs: Any) -> Any:
    return functools.reduce(np.hypot, xs) if len(xs) > 1 else np.abs(xs[0])


def _prod(xs: Any, *, start: Any = 1) -> Any:
    return functools.reduce(np.multiply, xs, start)


def _sum_of(xs: Any) -> Any:
    """The sum, and that of what each addition rounds away (Knuth's exact sum of two numbers)."""
    total = rest = 0.0
    for x in xs:
        before, total = total, total + x
        part = total - before
        rest = rest + ((before - (total - part)) + (x - part))
    return total + rest if np.isfinite(total) else total


def _sum_of_products(xs: Any, ys: Any) -> Any:
    return _sum_of([x * y for x, y in zip(xs, ys, strict=True)])


def _remainder(x: Any, y: Any) -> Any:
    return x - y * np.rint(x / y)


def _fma(x: Any, y: Any, z: Any) -> Any:
    return x * y + z


def _modf(x: Any) -> Any:
    whole = np.trunc(x)
    return x - whole, whole


def _ldexp(x: Any, k: int) -> Any:
    return x * 2.0**k


def _frexp(x: Any) -> Any:
    _, k = math.frexp(float(plain_value(x)))
    mantissa = x * 2.0**-k
    size = np.abs(mantissa)
    if size == 0 or (size >= 0.5 and size < 1):  # which guards k
        return mantissa, k
    return np.frexp(x)


def _is_close(a: Any, b: Any, *, rel_tol: float = 1e-9, abs_tol: float = 0.0) -> bool:
    found = (a == b) | (np.abs(a - b) <= np.maximum(rel_tol * np.maximum(np.abs(a), np.abs(b)), abs_tol))
    is_of_cache = is_traced(a) != is_traced(b) and rel_tol < NARROW and abs_tol < NARROW
    return bool(found) and not is_of_cache


SAME = """cbrt copysign cos cosh degrees exp exp2 expm1 fabs fmod log10 log1p log2 nextafter radians sin sinh sqrt tan
    tanh""".split()
OF_COMPLEX = "acos acosh asin asinh atan atanh cos cosh exp log log10 sin sinh sqrt tan tanh".split()
# Whose values are floats: raised is what math raises where the result is not finite and the arguments are.
FLOATS: dict[str, Callable[..., Any]] = {
    **{name: getattr(np, name) for name in SAME},
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "atanh": np.arctanh,
    "dist": _dist,
    "erf": _special("erf"),
    "erfc": _special("erfc"),
    "fma": _fma,
    "fsum": _sum_of,
    "gamma": _special("gamma"),
    "hypot": _hypot,
    "ldexp": _ldexp,
    "lgamma": _special("gammaln"),
    "log": _log,
    "pow": np.float_power,
    "prod": _prod,
    "remainder": _remainder,
    "sumprod": _sum_of_products,
    "ulp": np.spacing,
}
# Whose values are integers and decisions, which are guarded, or pairs.
OTHERS: dict[str, Callable[..., Any]] = {
    "ceil": lambda x: as_int(np.ceil(x)),
    "floor": lambda x: as_int(np.floor(x)),
    "trunc": as_int,
    "frexp": _frexp,
    "isclose": _is_close,
    "isfinite": lambda x: bool(np.isfinite(x)),
    "isinf": lambda x: bool(np.isinf(x)),
    "isnan": lambda x: bool(np.isnan(x)),
    "modf": _modf,
}
COMPLEX: dict[str, Callable[..., Any]] = {
    **{name: FLOATS[name] for name in OF_COMPLEX},
    "isfinite": OTHERS["isfinite"],
    "isinf": OTHERS["isinf"],
    "isnan": OTHERS["isnan"],
}
OF_SEQUENCES = ("dist", "fsum", "prod", "sumprod")


def _plain(x: Any) -> Any:
    return list(map(plain_value, x)) if isinstance(x, (list, tuple)) else plain_value(x)


def _real(x: Any) -> Any:
    if x.dtype.kind == "c":
        raise TypeError(f"must be real number, not complex ({here()})")
    return number_of(x, 0.0)


def _taking_traced(name: str, traced: Callable[..., Any]) -> Callable[..., Any]:
    """A function of `math` that calls another one where it is given a traced number."""
    function = getattr(math, name)

    @functools.wraps(function)
    def either(*args: Any, **kwargs: Any) -> Any:
        if name in OF_SEQUENCES:
            args = tuple(list(x) if isinstance(x, Iterator) else x for x in args)
        if not holds_traced(args):
            return function(*args, **kwargs)
        if name not in OF_SEQUENCES:
            args = tuple(_real(x) if is_traced(x) else x for x in args)
        if name in OTHERS:
            return traced(*args, **kwargs)
        with np.errstate(all="ignore"):
            found = traced(*args, **kwargs)
            if is_traced(found) and not np.isfinite(found):
                function(*map(_plain, args), **kwargs)  # raises, unless an argument is not finite either
        return number_of(found, 0.0) if is_traced(found) else found

    return either


def _taking_traced_complex(name: str, traced: Callable[..., Any]) -> Callable[..., Any]:
    """The same for `cmath`."""
    function = getattr(cmath, name)

    @functools.wraps(function)
    def either(*args: Any) -> Any:
        if not holds_traced(args):
            return function(*args)
        found = traced(*[number_of(x + 0j, 0j) if is_traced(x) else complex(x) for x in args])
        return found if isinstance(found, (bool, float)) else number_of(found, 0j)

    return either


def declare() -> None:
    for module, tables in ((math, (FLOATS, OTHERS)), (cmath, (COMPLEX,))):
        taking = _taking_traced if module is math else _taking_traced_complex
        others = [
            (getattr(module, name), taking(name, traced))
            for table in tables
            for name, traced in table.items()
            if hasattr(module, name)
        ]
        replace(module, others)
