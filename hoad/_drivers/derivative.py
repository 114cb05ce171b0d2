"""Derivatives of any order."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from hoad._comparison.plain_calls import of_first
from hoad._core.record.recording import Recording, differentiating, is_pointwise, is_repeated
from hoad._core.trace.context import WATCHERS
from hoad._core.trace.traced import Array, Scalar, graph_of, is_traced, plain_value
from hoad._drivers.holomorphic import check_derivative
from hoad._drivers.taylor import check_holomorphic
from hoad._program.trace import call_traced, outputs
from hoad._pytree.arguments import by_argument, check_function, checked_order
from hoad._transform.expansion import expansion_at
from hoad.errors import ShapeError

BY_SERIES = 4  # orders that a Taylor series gives sooner than sweeps; docs/design/0025
WATCHED_BY_SERIES = 8  # the same for who watches every operation: a series is one
MOST_SWEEPS = 7  # beyond, each takes twice as long as the one before


def derivative(f: Callable[..., Any], n: int = 1, holomorphic: bool = False, *, argnums: int = 0) -> Callable[..., Any]:
    """The n-th derivative function ``x -> f⁽ⁿ⁾(x)``, pointwise on arrays.

    Parameters
    ----------
    f : callable
        A function of one float, or one that acts element by element on an array; further arguments are constants. It
        may return a container.
    n : int, optional
        The order, 0 or more.
    holomorphic : bool, optional
        f is a holomorphic function of a complex number, and its complex derivative is meant.
    argnums : int, optional
        The position of the argument that is meant.

    Returns
    -------
    callable
        Called like f; for a float x the result has the shape or the structure of f(x), for an array that of x. Units:
        those of f over the n-th power of those of x.

    Raises
    ------
    ArgumentError
        If f cannot be called, n is not an order, or `argnums` is not the position of an argument.
    ShapeError
        If x is an array and f mixes its elements.
    DTypeError
        If x is not a float, and no complex number of which f is said to be a holomorphic function.

    Notes
    -----
    Cost: f once, traced, and n forward sweeps, each over what the one before emitted, whose tapes grow like n³ for most
    functions; from order 4 on a Taylor series, as for `derivatives`.

    Singular points: as for `grad`, at every order: a kink has derivatives 0 there, a pole inf or nan. What is beyond
    the range of floats, which is said at `derivatives`, is 0, inf or nan.

    References
    ----------
    Griewank and Walther (2008), Evaluating Derivatives, chapter 13.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> hoad.derivative(np.exp, 5)(0.0)
    1.0
    >>> hoad.derivative(np.sin, 2)(np.array([0.0, np.pi / 2]))
    array([-0., -1.])
    """
    check_function("derivative", f, n)
    n = checked_order("derivative", n, shown=True)
    if type(argnums) is not int or argnums != 0:
        return by_argument("derivative", f, argnums, lambda g: derivative(g, n, holomorphic))

    @functools.wraps(f, updated=())
    def nth_derivative(x: Any, *args: Any, **kwargs: Any) -> Any:
        if n >= (WATCHED_BY_SERIES if WATCHERS.get() else BY_SERIES):
            found = _by_series(of_first(f, args, kwargs, "derivative"), n, x, holomorphic)
            if found is not None:
                return found
        with differentiating() as d:
            returned, _ = call_traced(d, f, (x, *args), (0,), "derivative", kwargs)
            ys, parts = outputs(d, returned, "derivative")
            for y in ys:
                check_derivative(d, y, holomorphic, n)
            del returned
            node = d.inputs[0]
            if d.aval(node).shape:
                ys = [_pointwise(d, y, node) for y in ys]
            for _ in range(n):
                ys = d.or_zeros(d.tangents(ys, [node], [d.ones(node)]), ys)
            found = d.results(ys)
        return found[0] if parts is None else parts.derivative(found)

    return nth_derivative


def _by_series(f: Callable[[Any], Any], n: int, x: Any, holomorphic: bool) -> Any:
    """The n-th derivative from a Taylor series; None where a sweep after the other is to find it, or to refuse.

    A series that meets an infinite coefficient is undefined beyond; sweeps may find more there, as far as they go.
    """
    if not _has_series(x, n, holomorphic):
        return None
    with differentiating() as d:
        expansion = expansion_at(f, d.input(x), n, True)
        results = expansion.program.output_types
        if not results or (np.ndim(x) and not expansion.is_pointwise()):
            return None
        if np.ndim(x) and any(aval.shape not in ((), np.shape(x)) for aval in results):
            return None  # with more axes than x: constant, or refused
        if holomorphic and not all(aval.is_complex for aval in results):
            return None
        suspect = holomorphic and expansion.takes_apart()
        if suspect and n <= MOST_SWEEPS:
            return None
        found = [_at_shape(c[n], np.shape(x)) for c in expansion.coefficients()]
        found = d.results([d.operand(y) for y in found])
    if suspect:
        check_holomorphic("derivative", f, x, None, n)
    if n <= MOST_SWEEPS and not all(map(_is_finite, found)):
        return None
    return expansion.parts.derivative(found)


def _is_finite(y: Any) -> bool:
    """Whether a derivative is finite; jit records whether it is. Of what differs from lane to lane it is not asked."""
    if not is_traced(y):
        return bool(np.isfinite(y).all())
    graph = graph_of(y)
    if not graph.valued or is_repeated(y):
        return True
    return bool(np.all(np.isfinite(y if graph.is_guarded else plain_value(y))))


def _at_shape(y: Any, shape: tuple[int, ...]) -> Any:
    """A derivative in the shape of x where that is an array; a number is that of a constant."""
    return y if not shape or np.shape(y) == shape else np.broadcast_to(y, shape)


def _has_series(x: Any, n: int, holomorphic: bool) -> bool:
    """Whether a point is of a kind whose n-th derivatives come from series."""
    if type(x) in (float, complex):
        return holomorphic == isinstance(x, complex)
    if not isinstance(x, (np.ndarray, np.inexact, Scalar, Array)):
        return False
    if holomorphic:
        return x.dtype.kind == "c"
    return x.dtype == np.float64 or (n > MOST_SWEEPS and x.dtype.kind == "f")


def _pointwise(d: Recording, y: int, x: int) -> int:
    """A result in the shape of an array, which it must depend on element by element."""
    shape = d.aval(x).shape
    if d.aval(y).shape != shape and not d.depends(y, x):
        y = d.broadcast(y, shape)
    if d.aval(y).shape != shape or not is_pointwise(d.graph, d.start, [x], y):
        raise ShapeError(
            f"derivative of an array needs a function that acts element by element, but f takes shape {shape} to "
            f"{d.aval(y).shape} and mixes elements, as far as hoad can see. Use jacobian(f), or, if each result hangs "
            "on one element, jvp(f, (x,), (np.ones_like(x),))[1]."
        )
    return y
