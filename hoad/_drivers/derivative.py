"""Derivatives of any order."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hoad._comparison.plain_calls import of_first
from hoad._core.graph.inspect import callees
from hoad._core.record.recording import Recording, differentiating, is_pointwise, is_repeated
from hoad._core.trace.context import WATCHERS
from hoad._core.trace.traced import Array, Scalar, graph_of, is_traced, plain_value
from hoad._drivers.holomorphic import check_derivative
from hoad._drivers.taylor import arranged, check_holomorphic, expanded
from hoad._program.trace import call_traced, outputs
from hoad._pytree.arguments import by_argument, check_function, checked_order
from hoad._pytree.containers import Parts
from hoad._transform.expansion import expansion_at
from hoad._transform.loops import Loop
from hoad.errors import ShapeError

BY_SERIES = 4  # orders that a Taylor series gives sooner than sweeps; docs/design/0025
WATCHED_BY_SERIES = 8  # the same for who watches every operation: a series is one
MOST_SWEEPS = 7  # beyond, each takes twice as long as the one before


def derivative(f: Callable[..., Any], n: int = 1, holomorphic: bool = False, *, argnums: int = 0) -> Callable[..., Any]:
    """The n-th derivative function ``x -> f⁽ⁿ⁾(x)``, pointwise on arrays.

    Parameters
    ----------
    f : callable
        A function of one float, or one that acts element by element on an array; other arguments are constants. It
        may return a container.
    n : int, optional
        The order, 0 or more.
    holomorphic : bool, optional
        True if f is a holomorphic function of a complex number, to be differentiated with respect to it.
    argnums : int, optional
        The position of the argument to differentiate with respect to.

    Returns
    -------
    callable
        Called like f; the result has the shape or the structure of f(x) for a float x, and that of x for an array.
        Units: those of f over the n-th power of those of x.

    Raises
    ------
    ArgumentError
        If f cannot be called, n is not an order, or `argnums` is not the position of an argument.
    ShapeError
        If x is an array and f mixes its elements.
    DTypeError
        If x is not a float, nor a complex number with `holomorphic` True.

    Notes
    -----
    Cost: f once, traced, and n forward sweeps, each over the tape of the one before, which grows like n³ for most
    functions; a Taylor series, as for `derivatives`, from order 4 on, and from order 2 on if f has loops (`scan`) or
    calls an integrator, of which it costs about as much as f.

    Singular points: as for `grad`, at every order: the derivatives at a kink are 0, at a pole inf or nan. Beyond the
    range of floats (see `derivatives`) they are 0, inf or nan.

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
        is_watched = bool(WATCHERS.get())
        swept = None
        if n < (WATCHED_BY_SERIES if is_watched else BY_SERIES):
            # whether coefficients of a traced x are finite, which sweeps may be where series are not, is not known
            by_series = _has_loops if n > 1 and not is_watched and not is_traced(x) else None
            swept = _by_sweeps("derivative", f, n, n, x, args, kwargs, holomorphic, by_series)
        if swept is None:
            found = _by_series(of_first(f, args, kwargs, "derivative"), n, x, holomorphic)
            if found is not None:
                return found
            swept = _by_sweeps("derivative", f, n, n, x, args, kwargs, holomorphic)
        assert swept is not None
        parts, orders = swept
        return arranged(parts, orders[-1])

    return nth_derivative


def derivatives(f: Callable[..., Any], n: int, *, argnums: int = 0) -> Callable[..., Any]:
    """All derivatives up to an order, ``x -> [f(x), f′(x), ..., f⁽ⁿ⁾(x)]``, pointwise on arrays.

    Parameters
    ----------
    f : callable
        A function of one float, or one that acts element by element on an array; other arguments are constants. It
        may return a container. For a complex argument it must be holomorphic.
    n : int
        The highest order, 0 or more.
    argnums : int, optional
        The position of the argument to differentiate with respect to.

    Returns
    -------
    callable
        Called like f; returns an array of shape ``(n + 1, *S)`` for results of shape S, the order along axis 0. Units:
        those of f over those of x to the power of the order.

    Raises
    ------
    ArgumentError
        If f cannot be called, n is not an order, or `argnums` is not the position of an argument.
    ShapeError
        If x is an array and f mixes its elements.
    DTypeError
        If x is neither a float nor a complex number, or x is complex and f is not holomorphic.

    See Also
    --------
    derivative : one order.
    taylor : the coefficients f⁽ᵏ⁾/k!, as a series that can be evaluated, composed and inverted.

    Notes
    -----
    Cost: f once, traced; then, for each operation of f on numbers that is not a sum, about n²/2 multiplications and
    n + 1 numbers of memory.

    Singular points: as for `derivative`, order by order: the derivatives at a kink are 0, at a pole inf or nan. If the
    series gives inf or nan, orders 1 to 7 are computed by sweeps. Under `jit` and `vmap` they are not, and some that
    sweeps give as inf, such as those of ``x**1.5`` at 0, are nan.

    Range: the computation uses hᵏ f⁽ᵏ⁾/k!, where h is 1 up to order n = 20, and beyond it a power of two with hⁿ about
    n!. If this number is below the smallest float, the derivative is 0; if it or the derivative is above the largest
    float, the derivative is inf or nan. With n = 170 and h = 64, such derivatives are below 1e-308 or above 1e280.

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
    check_function("derivatives", f, n)
    n = checked_order("derivatives", n, shown=True)
    if type(argnums) is not int or argnums != 0:
        return by_argument("derivatives", f, argnums, lambda g: derivatives(g, n))

    @functools.wraps(f, updated=())
    def all_derivatives(x: Any, *args: Any, **kwargs: Any) -> Any:
        g = of_first(f, args, kwargs, "derivatives")
        pointwise, parts, found = expanded("derivatives", g, x, None, n)
        if not pointwise:
            raise ShapeError(
                "derivatives of an array needs a function that acts element by element, but f seems to mix "
                "elements. Use taylor(f, x, n, direction), or derivative_tensor(f, n); or, of a function of a number, "
                "as with a loop in it, vmap(derivatives(f, n))(x)."
            )
        found = [_spread(c, x) for c in found]
        last = min(n, MOST_SWEEPS)
        # jit would ask at every replay, which costs more than the orders do
        is_replayed = any(is_traced(c) and graph_of(c).is_guarded for c in found)
        if not is_replayed and not all(_is_finite(c[1 : last + 1], x) for c in found):
            swept = _by_sweeps("derivatives", f, 0, last, x, args, kwargs, np.iscomplexobj(x))
            assert swept is not None
            orders = swept[1]
            found = [_repaired(c, ys) for c, ys in zip(found, zip(*orders, strict=True), strict=True)]
        return arranged(parts, found)

    return all_derivatives


def _by_sweeps(
    driver: str,
    f: Callable[..., Any],
    first: int,
    last: int,
    x: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    holomorphic: bool,
    unless: Callable[[Recording], bool] | None = None,
) -> tuple[Parts | None, list[list[Any]]] | None:
    """The form of what f returns, and its derivatives of orders first to last, by one forward sweep after the other.

    None where the recording is one that sweeps are not for.
    """
    with differentiating() as d:
        returned, _ = call_traced(d, f, (x, *args), (0,), driver, kwargs)
        ys, parts = outputs(d, returned, driver)
        if unless is not None and unless(d):
            return None
        for y in ys:
            check_derivative(d, y, holomorphic, last)
        del returned
        node = d.inputs[0]
        if d.aval(node).shape:
            ys = [_pointwise(d, y, node) for y in ys]
        orders = [ys]
        for _ in range(last):
            ys = d.or_zeros(d.tangents(ys, [node], [d.ones(node)]), ys)
            orders.append(ys)
        found = d.results([y for ys in orders[first:] for y in ys])
    return parts, [found[k : k + len(ys)] for k in range(0, len(found), len(ys))]


def _has_loops(d: Recording) -> bool:
    """Whether something was recorded whose series takes as many steps as its value: a loop, or an integrator."""
    found = callees(d.graph, d.size)
    return any(isinstance(callee, Loop) or callee._along_curve is not None for callee in found)


def _repaired(c: Any, swept: Sequence[Any]) -> Any:
    """All derivatives, of which those that are not finite are from sweeps, as far as these go."""
    low = c[: len(swept)]
    low = np.where(np.isfinite(low), low, np.stack(swept))
    return low if len(c) == len(swept) else np.concatenate([low, c[len(swept) :]])


def _spread(c: Any, x: Any) -> Any:
    """Derivatives at the shape of x, where f did not give them there."""
    shape = x.shape if hasattr(x, "shape") else np.shape(x)  # whose dispatch a first call would pay for
    if not shape or np.ndim(c) > 1:
        return c
    return np.broadcast_to(np.reshape(c, (-1, *[1] * len(shape))), (len(c), *shape))


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
        found, shape = [c[n] for c in expansion.coefficients()], np.shape(x)
        if shape:  # a number is that of a constant
            found = [y if np.shape(y) == shape else np.broadcast_to(y, shape) for y in found]
        found = d.results([d.operand(y) for y in found])
    if suspect:
        check_holomorphic("derivative", f, x, None, n)
    if n <= MOST_SWEEPS and not all(_is_finite(y, x) for y in found):
        return None
    return expansion.parts.derivative(found)


def _is_finite(y: Any, x: Any) -> bool:
    """Whether derivatives are finite; jit records whether they are. Of what differs in each lane it is not asked.

    Where x is nan they are nan, whatever finds them.
    """
    if not is_traced(y):
        return bool(np.all(np.isfinite(y) | np.isnan(x)))
    graph = graph_of(y)
    if not graph.valued or is_repeated(y):
        return True
    return bool(np.all(np.isfinite(y if graph.is_guarded else plain_value(y))))


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
            f"{d.aval(y).shape} and seems to mix elements. Use jacobian(f), or, if each result depends "
            "on one element, jvp(f, (x,), (np.ones_like(x),))[1]; or, of a function of a number, as with a loop in it, "
            "vmap(derivative(f, n))(x)."
        )
    return y
