"""All derivatives up to an order, and Taylor series of functions."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from hoad._core.operands import holds_traced
from hoad._core.recording import WATCHERS, differentiating, node_row
from hoad.arguments import check_function, checked_order
from hoad.containers import flatten
from hoad.drivers.holomorphic import check_derivative
from hoad.errors import DomainError, DTypeError, ShapeError
from hoad.expansion import TaylorSeries
from hoad.trace import call_traced, outputs, plain
from hoad.transform.taylor import Expansion, expansion_at


def derivatives(f: Callable[..., Any], n: int) -> Callable[..., Any]:
    """All derivatives up to an order, ``x -> [f(x), f′(x), ..., f⁽ⁿ⁾(x)]``, pointwise on arrays.

    Parameters
    ----------
    f : callable
        A function of one float, or one that acts element by element on an array; further arguments are constants. It
        may return a container.
    n : int
        The highest order, 0 or more.

    Returns
    -------
    callable
        Called like f; gives an array of shape ``(n + 1, *S)`` for results of shape S, the order along axis 0. Units:
        those of f over those of x to the power of the order.

    Raises
    ------
    ArgumentError
        If f cannot be called, or n is no order.
    ShapeError
        If x is an array and f mixes its elements.
    DTypeError
        If x is no float.
    DomainError
        If a derivative does not exist at x, where f does; not inside of another derivative, where it is nan.

    See Also
    --------
    derivative : one of them.
    taylor : the coefficients f⁽ᵏ⁾/k!, as a series that evaluates, composes, inverts.

    Notes
    -----
    Cost: f once, traced; then about n²/2 multiplications for each operation of f on numbers that is no sum, and n + 1
    numbers of memory. What happens at singular points is said in docs/howto/any-order.md. The coefficients are k!
    times smaller than the derivatives: where they fall below 1e-308, at orders above 100 of small functions, say, the
    derivatives are 0.

    References
    ----------
    Griewank and Walther (2008), Evaluating Derivatives, chapter 13.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> hoad.derivatives(lambda x: x**3, 4)(2.0)
    array([ 8., 12., 12.,  6.,  0.])
    >>> hoad.derivatives(np.sin, 3)(np.array([0.0, np.pi / 2])).round(12)
    array([[ 0.,  1.],
           [ 1.,  0.],
           [ 0., -1.],
           [-1., -0.]])
    """
    check_function("derivatives", f)
    n = checked_order("derivatives", n)

    @functools.wraps(f, updated=())
    def all_derivatives(x: Any, *args: Any, **kwargs: Any) -> Any:
        pointwise, found = _expanded("derivatives", lambda x: f(x, *args, **kwargs), x, None, n)
        if not pointwise:
            raise ShapeError(
                "derivatives of an array needs a function that acts element by element, but f mixes elements, as far "
                "as hoad can see. Use taylor(f, x, n, direction), or derivative_tensor(f, n)."
            )
        leaves, structure = flatten(found)
        return structure.unflatten([_spread(c, np.shape(x)) for c in leaves])

    return all_derivatives


def taylor(f: Callable[..., Any], x: Any, n: int, direction: Any = None) -> Any:
    """The Taylor series ``f(x + t v) = Σ cₖ tᵏ + O(tⁿ⁺¹)`` of f along a direction v, ``cₖ = f⁽ᵏ⁾/k!``.

    Parameters
    ----------
    f : callable
        A function of one float or array; it may return a container.
    x : float or array (S)
        The point that the series is about.
    n : int
        Its degree, 0 or more.
    direction : float or array (S), optional
        v; 1 for each number of x if it is left out.

    Returns
    -------
    TaylorSeries
        The coefficients, an array ``(n + 1, *T)`` for a result of shape T, with their arithmetic; a container of them
        where f returns one. Units: those of f over those of t to the power of the order.

    Raises
    ------
    ArgumentError
        If f cannot be called, or n is no degree.
    ShapeError
        If the direction does not have the shape of x.
    DTypeError
        If x is no float and no array of floats, or the direction is complex.
    DomainError
        If a coefficient does not exist at x, where f does; not inside of another derivative, where it is nan.

    See Also
    --------
    derivatives : the derivatives themselves.

    Notes
    -----
    Cost: as for `derivatives`; one series along v, whatever the size of x.

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
    check_function("taylor", f)
    n = checked_order("taylor", n)
    if direction is not None and np.shape(direction) != np.shape(x):
        raise ShapeError(
            f"taylor takes a direction with the shape of x, {np.shape(x)}, but was given one of {np.shape(direction)}."
        )
    if np.iscomplexobj(direction):
        raise DTypeError(
            "taylor takes a real direction, but was given a complex one. Expand along its real part, and along its "
            "imaginary part."
        )
    pointwise, found = _expanded("taylor", f, x, direction, n)
    leaves, structure = flatten(found)
    point = x if direction is None and pointwise else 0
    return structure.unflatten([TaylorSeries(c, point) for c in leaves])


def _spread(c: Any, shape: tuple[int, ...]) -> Any:
    """Derivatives at the shape of x, where f did not give them there."""
    if not shape or np.ndim(c) > 1:
        return c
    return np.broadcast_to(np.reshape(c, (-1, *[1] * len(shape))), (len(c), *shape))


def _expanded(driver: str, f: Callable[..., Any], x: Any, direction: Any, n: int) -> tuple[bool, Any]:
    """Whether f acts on x item by item, and its coefficients along x + t v; outermost, none may be undefined."""

    def coefficients(x: Any) -> tuple[bool, Any]:
        expansion = _expansion(driver, f, x, direction, n)
        return not np.ndim(x) or expansion.is_pointwise(), expansion.results()

    with differentiating() as d:
        (pointwise, returned), _ = call_traced(d, coefficients, (x,), (0,), driver)
        ys, parts = outputs(d, returned, driver)
        for y in ys:
            check_derivative(d, y, False)
        del returned
        found = d.results(ys)
    if not holds_traced(found) and any(map(_is_missing, found)):
        _raise_missing(driver, f, x, direction, n)
    return pointwise, found[0] if parts is None else parts.filled(found)


def _expansion(driver: str, f: Callable[..., Any], x: Any, direction: Any, n: int) -> Expansion:
    """f along x + t v."""
    if direction is None:
        return expansion_at(f, x, n, driver == "derivatives")
    return Expansion(f, [x], [np.reshape(direction, (1, *np.shape(x))) if n else None], n)


def _is_missing(coefficients: Any) -> bool:
    """Whether a coefficient is not finite where the value is."""
    return not np.isfinite(coefficients[1:][:, np.isfinite(coefficients[0])]).all()


class _Lines:
    """A watcher that only lets recordings keep the lines of their operations."""

    def recorded(self, *_: Any) -> None: ...
    def replayed(self, *_: Any) -> None: ...
    def lanes(self, *_: Any) -> None: ...
    def taken(self, where: str) -> None: ...


def _raise_missing(driver: str, f: Callable[..., Any], x: Any, direction: Any, n: int) -> None:
    """Raise for a coefficient that does not exist, if one of an operation of f does not."""
    before = WATCHERS.set((*WATCHERS.get(), _Lines()))
    try:
        with differentiating() as d:
            expansion = _expansion(driver, f, d.input(x), direction, n)
            expansion.values = tuple(plain(v, nested=False) for v in expansion.values)
            missing = expansion.first_missing()
            graph = expansion.program._last._graph
    finally:
        WATCHERS.reset(before)
    if missing is None:
        return
    order, node, line = missing
    at = f" at x = {x!r}" if not np.ndim(x) else ""
    where = f" ({line})" if line else ""
    name = node_row(graph, node)[0].name
    raise DomainError(
        f"{driver}: f has no derivative of order {order}{at}, where {name}, node {node + 1} of its tape{where}, has "
        f"none; the highest order that exists is {order - 1}. Ask for that one, or choose what holds there with "
        "np.where."
    )


__all__ = ["derivatives", "taylor"]
