"""Functions that SciPy's distributions call where their formulas change: what adopted code finds in their place.

At such values of a parameter SciPy computes without it, or passes by a kink, and the derivative would be another one.

References
----------
Johnson, N. L., Kotz, S. and Balakrishnan, N. (1995). Continuous univariate distributions, volume 2: 22.2. NIST Digital
Library of Mathematical Functions, 5.7.3.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import FrameType, ModuleType
from typing import Any

import numpy as np
import scipy.special
from scipy.stats import _continuous_distns, _distn_infrastructure

from hoad._core.base.frame_globals import found_for
from hoad._core.base.where import here
from hoad._core.graph.inspect import depends_on_inputs
from hoad._core.trace.errors import keeps_zero
from hoad._core.trace.traced import graph_of, is_traced, node_of
from hoad.errors import TracedValueError
from hoad.rules.special.bessel import i0e_of_right_side, i1e_of_right_side

NEAR = 1.0 / 32.0  # up to here moments of extreme values are taken from their series, which converge up to 1/4
N_TERMS = 48


def of_distributions() -> list[tuple[ModuleType, list[tuple[Any, Any]]]]:
    """Modules, each with pairs of a function in it that the distributions call, and what adopted code finds instead."""
    names = vars(_continuous_distns)
    normal = [names[name] for name in ("_norm_pdf", "_norm_cdf", "_norm_sf", "_norm_ppf")]
    special = scipy.special
    # The parameters of `rice` and `vonmises` are 0 or more, where they are smooth, as are exp(x) times these.
    ufuncs = [
        (special.i0e, Beside(special.i0e, i0e_of_right_side, _continuous_distns)),
        (special.i1e, Beside(special.i1e, i1e_of_right_side, _continuous_distns)),
        (special.entr, Beside(special.entr, _entropy_of_density, _distn_infrastructure, "integ")),
    ]
    pairs: list[tuple[ModuleType, list[tuple[Any, Any]]]]
    pairs = [(_continuous_distns, [(function, _of_normal(function)) for function in normal]), (special, ufuncs)]
    if "xpx" in names:  # from SciPy 1.16 on
        apply_where = names["xpx"].apply_where
        pairs.append((names["xpx"], [(apply_where, _chosen(apply_where))]))
    elif "gamk_f" in names["genextreme_gen"]._stats.__code__.co_varnames:
        pairs[0][1].append((names["_lazywhere"], _chosen(names["_lazywhere"])))
    else:  # in SciPy 1.13
        pairs.append((np, [(np.where, _chosen_by_constant(found_for(np.where)))]))
    return pairs


def _depends(x: Any) -> bool:
    """Whether something is traced, and a derivative is taken by it: `jit` alone may record the value."""
    return is_traced(x) and depends_on_inputs(graph_of(x), node_of(x)) and keeps_zero(graph_of(x), trims=True)


# ---- ends of the range of a parameter, and entropies -----------------------------------------------------------------


class Beside:
    """A ufunc in whose place a function of one traced value is called by some code of SciPy's."""

    def __init__(self, original: Any, function: Callable[[Any], Any], module: ModuleType, name: str = "") -> None:
        self._original, self._function = original, function
        self._module, self._name = module.__name__, name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs and is_traced(args[0]):
            frame = sys._getframe(1)
            if frame.f_globals.get("__name__") == self._module and self._name in ("", frame.f_code.co_name):
                return self._function(args[0])
        return self._original(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._original, name)


def _entropy_of_density(p: Any) -> Any:
    """-p log p, of which the integral has no part, and no derivative, where a density p is 0."""
    return scipy.special.entr(np.where(np.equal(p, 0.0), 1.0, p))


# ---- the third distribution of Pearson -------------------------------------------------------------------------------


def _of_normal(original: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function of the normal distribution, which `pearson3` calls where it takes its skewness for 0."""

    @functools.wraps(original)
    def function(x: Any) -> Any:
        _check_skewness(sys._getframe(1))
        return original(x)

    return function


def _check_skewness(frame: FrameType) -> None:
    if type(frame.f_locals.get("self")).__name__ != "pearson3_gen":
        return
    mask = frame.f_locals.get("mask")
    if _depends(mask) and np.any(mask):
        raise TracedValueError(
            f"SciPy takes the skewness of pearson3 for 0 where it is less than 1.6e-5 ({here()}), so that the "
            "derivative with respect to it would be zero. Move the argument a little, or take hoad.value(x) of the "
            "skewness if it does not matter."
        )


# ---- the distribution of extreme values ------------------------------------------------------------------------------


@functools.lru_cache(maxsize=1)
def _series() -> tuple[list[float], ...]:
    """Coefficients of power series in c: of (g₁ - 1) / c, and of the central moments 2, 3 and 4 of `genextreme`.

    For gₙ = Γ(1 + n c) these moments are (g₂ - g₁²) / c², (3 g₁ g₂ - 2 g₁³ - g₃) / c³ and
    (g₄ - 4 g₁ g₃ + 6 g₁² g₂ - 3 g₁⁴) / c⁴.
    """
    n = N_TERMS + 4
    logs = [0.0, -np.euler_gamma, *[(-1.0) ** k * float(scipy.special.zeta(k)) / k for k in range(2, n)]]
    g1, g2, g3, g4 = (_exponential([x * m**k for k, x in enumerate(logs)]) for m in (1, 2, 3, 4))
    second = _sum(1.0, g2, -1.0, _product(g1, g1))
    third = _sum(1.0, _product(g1, _sum(1.0, g2, 2.0, second)), -1.0, g3)
    fourth = _sum(1.0, g4, 1.0, _product(g1, _sum(-4.0, g3, 3.0, _product(g1, _sum(1.0, g2, 1.0, second)))))
    return g1[1:], second[2:], third[3:], fourth[4:]


def _exponential(a: list[float]) -> list[float]:
    found = [1.0]
    for k in range(1, len(a)):
        found.append(sum(j * a[j] * found[k - j] for j in range(1, k + 1)) / k)
    return found


def _product(a: list[float], b: list[float]) -> list[float]:
    return [sum(a[j] * b[k - j] for j in range(k + 1)) for k in range(len(a))]


def _sum(p: float, a: list[float], q: float, b: list[float]) -> list[float]:
    return [p * x + q * y for x, y in zip(a, b, strict=True)]


def _polynomial(coefficients: list[float], c: Any) -> Any:
    found = coefficients[-1]
    for x in coefficients[-2::-1]:
        found = found * c + x
    return found


def _gamk(c: Any) -> Any:
    return _polynomial(_series()[0], c)


def _gam2k(c: Any) -> Any:
    return _polynomial(_series()[1], c) / (1.0 + c * _gamk(c)) ** 2


def _skewness(c: Any) -> Any:
    return _polynomial(_series()[2], c) / _polynomial(_series()[1], c) ** 1.5


def _kurtosis(c: Any) -> Any:
    return _polynomial(_series()[3], c) / _polynomial(_series()[1], c) ** 2 - 3.0


# What SciPy computes by these functions of c where it is not nearly 0, and takes for a constant where it is.
OF_EXTREMES: dict[str, Callable[[Any], Any]] = {
    "genextreme_gen._stats.<locals>.gamk_f": _gamk,
    "genextreme_gen._stats.<locals>.gam2k_f": _gam2k,
    "genextreme_gen._stats.<locals>.sk1_eval": _skewness,
    "genextreme_gen._stats.<locals>.ku1_eval": _kurtosis,
}
CONSTANTS = dict(zip((-np.euler_gamma, np.pi**2 / 6.0, 1.139547099404648, 2.4), OF_EXTREMES.values(), strict=True))


def _chosen(original: Callable[..., Any]) -> Callable[..., Any]:
    """`apply_where`, or `_lazywhere` before it, which takes the moments of extreme values from series near 0."""

    @functools.wraps(original)
    def choose(cond: Any, args: Any, *others: Any, **named: Any) -> Any:
        function = others[0] if others else named.get("f")
        series = OF_EXTREMES.get(getattr(function, "__qualname__", ""))
        c = args[0] if isinstance(args, tuple) else args
        if series is None or not is_traced(c):
            return original(cond, args, *others, **named)
        near = np.less(np.absolute(c), NEAR)
        if not np.any(near):
            return original(cond, args, *others, **named)
        far = original(np.logical_and(cond, np.logical_not(near)), args, *others, **named)
        return np.where(near, series(np.where(near, c, 0.0)), far)

    return choose


def _chosen_by_constant(original: Callable[..., Any]) -> Callable[..., Any]:
    """The same of `np.where`, which has the constant as its second argument."""

    @functools.wraps(original)
    def where(cond: Any, *values: Any) -> Any:
        frame = sys._getframe(1)
        if len(values) != 2 or not isinstance(values[0], float) or frame.f_code.co_name != "_stats":
            return original(cond, *values)
        c, owner = frame.f_locals.get("c"), type(frame.f_locals.get("self")).__name__
        found = [f for constant, f in CONSTANTS.items() if abs(values[0] - constant) < 1e-9]
        if not found or owner != "genextreme_gen" or not is_traced(c):
            return original(cond, *values)
        near = np.less(np.absolute(c), NEAR)
        return np.where(near, found[0](np.where(near, c, 0.0)), original(cond, *values)) if np.any(near) else values[1]

    return where
