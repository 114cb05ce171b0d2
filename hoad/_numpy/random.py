"""Random numbers drawn with traced parameters: formulas of these and of what is drawn with plain ones.

NumPy's own algorithms are such formulas, so that values are NumPy's, and the generator is left as NumPy leaves it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hoad._core.base.where import here
from hoad._core.trace.coerce import holds_traced
from hoad._core.trace.generator_calls import GENERATOR_METHODS
from hoad._core.trace.traced import graph_of, is_traced
from hoad.errors import NoRuleError, ShapeError

Size = tuple[int, ...] | None


def _draws(implementation: Callable[..., Any]) -> Callable[..., Any]:
    """Register what is called in place of the method of this name."""
    GENERATOR_METHODS[implementation.__name__] = implementation
    return implementation


def _size(size: Any, *parameters: Any) -> Size:
    """The size that is drawn: what was asked for, or that of the parameters."""
    shape = np.broadcast_shapes(*map(np.shape, parameters))
    if size is None:
        return shape or None
    asked = tuple(size) if isinstance(size, (tuple, list)) else (size,)
    if len(shape) > len(asked) or any(n not in (1, m) for n, m in zip(shape[::-1], asked[::-1], strict=False)):
        raise ShapeError(f"random numbers of shape {asked} have parameters of shape {shape} ({here()}).")
    return asked


def _check(wrong: str, compare: Callable[[Any, Any], Any], x: Any, y: Any = 0.0) -> None:
    """Raise as NumPy does where two parameters compare so, if they have values; a replay is guarded by that."""
    if all(graph_of(z).valued for z in (x, y) if is_traced(z)) and np.any(compare(x, y)):
        raise ValueError(wrong)


def _is_legacy(generator: Any) -> bool:
    """Whether a generator is of the old kind, whose algorithms are kept as they were."""
    return isinstance(generator, np.random.RandomState)


def _uniform(generator: Any, size: Size) -> Any:
    return generator.random_sample(size) if _is_legacy(generator) else generator.random(size)


@_draws
def normal(generator: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
    _check("scale < 0", np.less, scale)
    return loc + scale * generator.standard_normal(_size(size, loc, scale))


@_draws
def lognormal(generator: Any, mean: Any = 0.0, sigma: Any = 1.0, size: Any = None) -> Any:
    _check("sigma < 0", np.less, sigma)
    return np.exp(mean + sigma * generator.standard_normal(_size(size, mean, sigma)))


@_draws
def uniform(generator: Any, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
    if not _is_legacy(generator):
        _check("high < low", np.less, high, low)
    return low + (high - low) * _uniform(generator, _size(size, low, high))


@_draws
def exponential(generator: Any, scale: Any = 1.0, size: Any = None) -> Any:
    _check("scale < 0", np.less, scale)
    return scale * generator.standard_exponential(_size(size, scale))


@_draws
def rayleigh(generator: Any, scale: Any = 1.0, size: Any = None) -> Any:
    _check("scale < 0", np.less, scale)
    return scale * generator.rayleigh(1.0, _size(size, scale))


def _moved_and_scaled(name: str) -> None:
    def draw(generator: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        _check("scale < 0", np.less, scale)
        return loc + scale * getattr(generator, name)(0.0, 1.0, _size(size, loc, scale))

    GENERATOR_METHODS[name] = draw


_moved_and_scaled("gumbel")
_moved_and_scaled("laplace")
_moved_and_scaled("logistic")


@_draws
def weibull(generator: Any, a: Any, size: Any = None) -> Any:
    _check("a < 0", np.less, a)
    return np.power(generator.standard_exponential(_size(size, a)), 1.0 / a)


@_draws
def pareto(generator: Any, a: Any, size: Any = None) -> Any:
    _check("a <= 0", np.less_equal, a)
    drawn = generator.standard_exponential(_size(size, a)) / a
    return np.exp(drawn) - 1.0 if _is_legacy(generator) else np.expm1(drawn)


@_draws
def power(generator: Any, a: Any, size: Any = None) -> Any:
    _check("a <= 0", np.less_equal, a)
    drawn = generator.standard_exponential(_size(size, a))
    return np.power(1.0 - np.exp(-drawn) if _is_legacy(generator) else -np.expm1(-drawn), 1.0 / a)


@_draws
def triangular(generator: Any, left: Any, mode: Any, right: Any, size: Any = None) -> Any:
    """By the inverse of the distribution function, which has a branch for each side of the mode."""
    _check("left > mode", np.greater, left, mode)
    _check("mode > right", np.greater, mode, right)
    u = _uniform(generator, _size(size, left, mode, right))
    whole = right - left
    rising = left + np.sqrt(u * ((mode - left) * whole))
    return np.where(u <= (mode - left) / whole, rising, right - np.sqrt((1.0 - u) * ((right - mode) * whole)))


@_draws
def multivariate_normal(generator: Any, mean: Any, cov: Any, size: Any = None, *args: Any, **options: Any) -> Any:
    if holds_traced(cov):
        raise NoRuleError(
            f"multivariate_normal with a traced covariance is not recorded ({here()}): its factor is not unique. Write "
            "mean + np.linalg.cholesky(cov) @ rng.standard_normal(n)."
        )
    return mean + generator.multivariate_normal(np.zeros(np.shape(mean)), cov, size, *args, **options)


# ---- items that are drawn -------------------------------------------------------------------------------------------


@_draws
def permutation(generator: Any, x: Any, axis: int = 0) -> Any:
    return np.take(x, generator.permutation(np.shape(x)[axis]), axis=axis)


@_draws
def choice(generator: Any, a: Any, *args: Any, axis: int = 0, **options: Any) -> Any:
    if any(map(holds_traced, (*args, *options.values()))) or not np.ndim(a):
        raise NoRuleError(
            f"choice with a traced probability or number is not recorded ({here()}): which items are drawn is no "
            "differentiable function of these. Pass plain numbers, hoad.value(p)."
        )
    return np.take(a, generator.choice(np.shape(a)[axis], *args, **options), axis=axis)
