"""Taylor series of functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hoad._comparison.plain_calls import compared
from hoad._core.graph.inspect import node_row
from hoad._core.record.recording import differentiating
from hoad._core.trace.coerce import holds_traced
from hoad._core.trace.context import WATCHERS
from hoad._core.trace.traced import is_traced
from hoad._drivers.holomorphic import TURN, check_cauchy_riemann, check_series, check_turned
from hoad._drivers.products import check_numbers
from hoad._program.trace import call_traced, outputs, plain
from hoad._pytree.arguments import check_function, checked_order, packed, parts_of
from hoad._pytree.containers import Parts, kind_of
from hoad._series import TaylorSeries
from hoad._series.functions import expand_with
from hoad._transform.expansion import Expansion, expansion_at
from hoad.errors import ArgumentError, DomainError, DTypeError, ShapeError

# Drivers that are told up to which order, and the least that they take.
BY_ORDER = {"taylor": 0, "derivative_tensor": 1}


def taylor(f: Callable[..., Any], x: Any, n: int, direction: Any = None) -> Any:
    """The Taylor series ``f(x + t v) = Σ cₖ tᵏ + O(tⁿ⁺¹)`` along a direction v, ``cₖ = f⁽ᵏ⁾/k!``.

    Parameters
    ----------
    f : callable
        A function of one float, array or container; it may return a container. For complex arguments it must be
        holomorphic.
    x : float, array (S) or container of these
        The expansion point.
    n : int
        The degree, 0 or more.
    direction : float, array (S) or container, optional
        The direction v, of the structure of x. The default is 1 for each number of x.

    Returns
    -------
    TaylorSeries
        The series, with coefficients of shape ``(n + 1, *T)`` for a result of shape T; a container of series if f
        returns a container. Units: those of f over those of t to the power of the order.

    Raises
    ------
    ArgumentError
        If f cannot be called, n is not a degree, or the direction is not finite.
    ShapeError
        If the direction does not have the shape of x.
    DTypeError
        If x is neither a float nor an array of floats and contains none, or the direction is complex and x is not, or x
        is complex and f is not holomorphic.
    DomainError
        If f is finite at x and a coefficient is not. Inside another derivative, and under `jit`, the coefficient is inf
        or nan instead.

    See Also
    --------
    derivatives : the derivatives themselves.

    Notes
    -----
    Cost: f once, traced; then, for each operation of f on numbers that is not a sum, about n²/2 multiplications and
    n + 1 numbers of memory. This is one series along v for any size of x.

    References
    ----------
    Griewank and Walther (2008), Evaluating Derivatives, chapter 13.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> s = hoad.taylor(np.exp, 0.0, 4)
    >>> print(s)
    1 + t + t²/2 + t³/6 + t⁴/24 + O(t⁵)
    >>> bool(abs(s(0.1) - np.exp(0.1)) < 1e-7)
    True
    >>> hoad.taylor(lambda x: x[0] * x[1] ** 2, np.array([1.0, 2.0]), 3, np.array([1.0, -1.0])).coefficients
    array([ 4.,  0., -3.,  1.])
    """
    check_function("taylor", f, x, n)
    n = checked_order("taylor", n, shown=True)
    pointwise, parts, found = expanded("taylor", f, x, direction, n)
    if not holds_traced(found) and any(map(_is_missing, found)):
        raise_missing("taylor", f, x, direction, n)
    at_x = direction is None and pointwise and kind_of(type(x)) is None
    return arranged(parts, [TaylorSeries(c, x if at_x and _is_at(c, x) else 0) for c in found])


def _is_at(c: Any, x: Any) -> bool:
    """Whether coefficients have an item for each of x; what does not depend on x need not."""
    return bool(np.shape(c)[1 : 1 + np.ndim(x)] == np.shape(x))


def arranged(parts: Parts | None, found: list[Any]) -> Any:
    """Results in the form of what f returned, None where that is not a number."""
    return found[0] if parts is None else parts.derivative(found)


def expanded(
    driver: str, f: Callable[..., Any], x: Any, direction: Any, n: int
) -> tuple[bool, Parts | None, list[Any]]:
    """Whether f acts on x item by item, the form of what it returns, and its coefficients along x + t v."""
    pointwise, suspect, parts, found = _coefficients(driver, f, x, direction, n)
    if suspect:
        check_holomorphic(driver, f, x, direction, n)
    return pointwise, parts, found


def _coefficients(
    driver: str, f: Callable[..., Any], x: Any, direction: Any, n: int
) -> tuple[bool, bool, Parts | None, list[Any]]:
    """The same, with whether f might not be holomorphic, as they come out."""

    def coefficients(x: Any) -> tuple[bool, bool, Any]:
        expansion = _expansion(driver, f, x, direction, n)
        pointwise = kind_of(type(x)) is not None or not x.ndim or expansion.is_pointwise()
        return pointwise, expansion.takes_apart(), expansion.results()

    with differentiating() as d:
        (pointwise, suspect, returned), _ = call_traced(d, coefficients, (x,), (0,), driver)
        ys, parts = outputs(d, returned, driver)
        for y in ys:
            check_series(d, y, driver)
        del returned
        found = d.results(ys)
    return pointwise, suspect, parts, found


def _by_rules(f: Callable[[Any], Any], n: int) -> Any:
    """The coefficients at 0 of a function of one real number, for functions of series."""
    _, _, parts, found = _coefficients("taylor", f, 0.0, None, n)
    return arranged(parts, found)


expand_with(_by_rules)


def check_holomorphic(driver: str, f: Callable[..., Any], x: Any, direction: Any, n: int) -> None:
    """Raise where f has no complex derivatives at x."""
    with differentiating() as d:
        returned, _ = call_traced(d, f, (x,), (0,), driver)
        for y in outputs(d, returned, driver)[0]:
            check_cauchy_riemann(d, y, driver)
        del returned
    if n > 1:
        (straight, far), (turned, _) = (_turned(driver, f, x, direction, n, turn) for turn in (1.0, TURN))
        for a, b in zip(straight, turned, strict=True):
            alike = len(far) == 1 and np.shape(far[0]) == np.shape(a[0])
            check_turned(driver, a, b, far[0] if alike else min(np.min(r, initial=np.inf) for r in far))


def _turned(
    driver: str, f: Callable[..., Any], x: Any, direction: Any, n: int, turn: complex
) -> tuple[Sequence[Any], list[Any]]:
    """The coefficients of f along x + t v, of which complex numbers are turned and real ones stay; where they are 0."""
    far: list[Any] = []

    def expansion(x: Any) -> Expansion:
        along, points, curves = _along(driver, f, x, direction, n)
        moved = [turn * c if p.dtype.kind == "c" else None for p, c in zip(points, curves, strict=True)]
        far.extend(_zeros(p, c[0]) for p, c in zip(points, moved, strict=True) if c is not None)
        return Expansion(along, points, moved, n)

    with differentiating() as d:
        return _by_numbers(call_traced(d, expansion, (x,), (0,), driver)[0]).coefficients(), far


def _zeros(x: Any, v: Any) -> Any:
    """How far from t = 0 the items of x + t v may vanish; 1 for those that are 0, or stay."""
    x, v = np.abs(plain(x, nested=False)), np.abs(plain(v, nested=False))
    return np.divide(x, v, out=np.ones(np.shape(x)), where=(x > 0.0) & (v > 0.0))


def _by_numbers(expansion: Expansion) -> Expansion:
    """An expansion at the numbers behind its values."""
    expansion.values = tuple(plain(v, nested=False) for v in expansion.values)
    return expansion


def _expansion(driver: str, f: Callable[..., Any], x: Any, direction: Any, n: int) -> Expansion:
    """f along x + t v."""
    if direction is None and kind_of(type(x)) is None:
        return expansion_at(f, x, n, driver == "derivatives")
    return Expansion(*_along(driver, f, x, direction, n), n)


def _along(driver: str, f: Callable[..., Any], x: Any, direction: Any, n: int) -> tuple[Any, list[Any], list[Any]]:
    """f of the numbers and arrays of x, these, and their curves."""
    if kind_of(type(x)) is None:
        return f, [x], [_line(x, direction, n)]
    parts, points = parts_of(driver, f, 0, x)
    given = [None] * len(points) if direction is None else parts.match(direction, "the direction")

    def of_leaves(*points: Any) -> Any:
        return compared(f, (parts.filled(points),), {}, driver)

    return of_leaves, points, [_line(p, v, n) for p, v in zip(points, given, strict=True)]


def _line(x: Any, v: Any, n: int) -> Any:
    """The coefficients of x + t v from order 1 on; v is 1 in each place if it is None."""
    v = np.ones(np.shape(x), x.dtype) if v is None else packed(v)
    check_numbers(v, "taylor: the direction")
    if np.shape(v) != np.shape(x):
        raise ShapeError(f"taylor takes a direction with the shape of x, {np.shape(x)}, but was given {np.shape(v)}.")
    v = v if is_traced(v) else np.asarray(v)
    check_finite("taylor", v)
    if v.dtype.kind == "c" and x.dtype.kind != "c":
        raise DTypeError(
            "taylor takes a real direction for a real x, but was given a complex one. Expand along its real part, and "
            "along its imaginary part; or, if f is holomorphic, about x + 0j."
        )
    return np.reshape(v, (1, *np.shape(x))) if n else None


def check_finite(driver: str, v: Any) -> None:
    """Raise for a direction of which an item is not a number."""
    if not is_traced(v) and not np.isfinite(v).all():
        at = tuple(int(k) for k in np.argwhere(~np.isfinite(v))[0])
        place = f", at {at if len(at) > 1 else at[0]}" if at else ""
        raise ArgumentError(f"{driver} takes a direction of finite numbers, but was given one with {v[at]}{place}.")


def _is_missing(coefficients: Any) -> bool:
    """Whether a coefficient is not finite where the value is."""
    return not np.isfinite(coefficients[1:][:, np.isfinite(coefficients[0])]).all()


class _Lines:
    """A watcher that only lets recordings keep the lines of their operations."""

    def recorded(self, *_: Any) -> None: ...
    def replayed(self, *_: Any) -> None: ...
    def lanes(self, *_: Any) -> None: ...
    def taken(self, where: str) -> None: ...


def raise_missing(driver: str, f: Callable[..., Any], x: Any, direction: Any, n: int) -> None:
    """Raise for a coefficient that does not exist where f does, if one of an operation of f does not."""
    before = WATCHERS.set((*WATCHERS.get(), _Lines()))
    try:
        with differentiating() as d:

            def expand(x: Any) -> Expansion:
                return _expansion(driver, f, x, direction, n)

            expansion = _by_numbers(call_traced(d, expand, (x,), (0,), driver)[0])
            missing = expansion.first_missing() if any(map(_is_missing, expansion.coefficients())) else None
            graph = expansion.program._last._graph
    finally:
        WATCHERS.reset(before)
    if missing is None:
        return
    order, node, line, is_nan = missing
    at = f" at x = {x!r}" if not np.ndim(x) and kind_of(type(x)) is None else ""
    where = f" ({line})" if line else ""
    name = node_row(graph, node)[0].name
    can_ask = driver in BY_ORDER and order > BY_ORDER[driver]
    advice = ". Ask for that one, choose" if can_ask else f", and {driver} takes order {n} here. Choose"
    raise DomainError(
        f"{driver}: the derivative of order {order} of f{at} comes out as {'nan' if is_nan else 'inf'}, where f has a "
        f"value: at {name}, node {node + 1} of its tape{where}. Either it does not exist, or it is beyond the largest "
        "float, or it is the limit of an expression such as 0/0, which is not taken. The highest order that is finite "
        f"is {order - 1}{advice} what holds there with np.where, or write f so that it has no such point, x**2 for "
        "np.sqrt(x**4)."
    )
