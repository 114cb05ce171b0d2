"""Taylor remainders: the difference of f(x + hv) and its Taylor polynomial must fall like the next power of h."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from hoad._comparison.plain_calls import compare_at
from hoad._pytree.arguments import checked_order
from hoad._pytree.containers import flatten
from hoad._transform.expansion import expand
from hoad.check.claims import read
from hoad.check.findings import floor_of, judged
from hoad.check.points import (
    Along,
    Array,
    as_numbers,
    called,
    check_arguments,
    check_functions,
    drawn,
    epsilon,
    numbers,
    quietly,
    typical,
)
from hoad.check.remainders import Picked, Remainder, Remainders, walk
from hoad.check.report import name_of, value_text
from hoad.check.taylor_report import TaylorReport
from hoad.errors import ArgumentError, CheckError, DTypeError, HoadError, ShapeError, count, told

HIGHEST = 20


def taylor_test(
    f: Callable[..., Any],
    x: Any,
    v: Any = None,
    *,
    order: int | None = None,
    gradient: Callable[..., Any] | None = None,
    hessian: Callable[..., Any] | None = None,
    steps: Sequence[float] | None = None,
) -> TaylorReport:
    """Check derivatives of any order by the rate at which Taylor remainders fall.

    With the Taylor polynomial Tₙ of degree n in h, the remainder ``|f(x + hv) − Tₙ(h)|`` falls like hⁿ⁺¹. If the
    derivative of order n is wrong, however little, it falls like hⁿ only.

    Parameters
    ----------
    f : callable
        A function of x, or of several arguments where x is a tuple; its result may have any shape (S).
    x : float, ndarray or tuple of them
        The point.
    v : float, ndarray or tuple of them, optional
        The direction, of the shape of x. The default is a fixed random one, a tenth of x in size.
    order : int, optional
        The highest degree n; by default 2, or the order that `gradient` and `hessian` allow.
    gradient, hessian : callable, optional
        Derivatives written by hand, of shapes ``(*S, *x.shape)`` and ``(*S, *x.shape, *x.shape)``, to be tested instead
        of hoad's. x is then not a tuple.
    steps : sequence of float, optional
        The steps h. By default they are halved from 1 until only rounding is left, and doubled up to 16 if too little
        of the highest order is above rounding.

    Returns
    -------
    TaylorReport
        Prints as a table of remainders and rates; has `passed`, `assert_passed()` and `plot()`.

    Raises
    ------
    ShapeError
        If v does not have the shape of x, the point is not finite, or f does not return a real array.
    DTypeError
        If x is not a float, or v is not real.
    ArgumentError
        If the order is negative or above 20, steps are not positive, or f cannot be called.
    CheckError
        If f raises an arithmetic error at x, writes to x, or cannot be traced while hoad's derivatives are tested.

    See Also
    --------
    gradient, hessian, rule
    modes : every mode of hoad compared with every other.

    Notes
    -----
    Cost: about 140 values of f, and one Taylor series; memory for all of these. If a result has more than 256
    components, some are drawn at random, and one random combination represents the others.

    hoad's coefficients are those of one Taylor series along v, as from `hoad.taylor`, inf or nan where one does not
    exist; `modes` compares this series with the other modes.

    Rounding in f is estimated first, at x and x ± v, from differences of neighbouring values. The rate is that of the
    last few remainders above rounding. `digits` says how well the coefficient of hⁿ itself is confirmed. Steps along −v
    are tested as well: if f has another coefficient there, it has a kink, and the order is undecided. The order is also
    undecided if the rate is not an integer, or if rounding would hide an error of one per cent that is not negligible
    relative to f.

    References
    ----------
    Farrell, Ham, Funke and Rognes (2013), Automated derivation of the adjoint of high-level transient finite element
    programs, SIAM Journal on Scientific Computing 35.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> report = hoad.check.taylor_test(np.exp, 0.5, 1.0, order=3)
    >>> report.passed
    True
    >>> [round(finding.rate, 1) for finding in report.findings]
    [1.0, 2.0, 3.0, 4.0]

    A derivative with an error of one per cent:

    >>> wrong = hoad.check.taylor_test(np.exp, 0.5, 1.0, gradient=lambda x: 1.01 * np.exp(x))
    >>> print(wrong.failure())
    Taylor test of exp: order 1 is wrong: the remainders fall like h^1.00, not h^2. The derivative of order 1 along v
    is 1.66520848, but f shows 1.648721... (it is off by 1.0%).
    """
    check = "check.taylor_test"
    check_functions(check, f, *(given for given in (gradient, hessian) if given is not None))
    args = x if isinstance(x, tuple) else (x,)
    check_arguments(check, args, range(len(args)))
    degree = _degree(order, gradient, hessian)
    direction = _direction(args, v, isinstance(x, tuple))
    if (gradient or hessian) and isinstance(x, tuple):
        raise ShapeError(f"{check} takes gradient and hessian of a function of one argument. Give x as an array.")
    returned = called(check, "f", f, args)
    value = numbers(returned, check)
    if not np.all(np.isfinite(value)):
        raise ShapeError(f"{check} needs a point where f is finite, but f(x) is {value_text(value)}.")
    if not value.size or not any(map(np.size, args)):
        raise ShapeError(
            f"{check} needs x and f(x) to have entries, but their shapes are {np.shape(x)} and {value.shape}."
        )
    shape = value.shape
    given = {n: claim for n, claim in enumerate((gradient, hessian), 1) if claim is not None and n <= degree}
    coefficients = np.empty((degree + 1, *shape))
    coefficients[0] = value
    if len(given) < degree:
        coefficients[1:] = _by_series(f, args, direction, degree, shape)[1:]
    for n, claim in given.items():
        coefficients[n] = _claimed(claim, n, args, direction[0], shape) / math.factorial(n)
    picked = Picked(shape)
    flat = picked(coefficients.reshape(degree + 1, -1))
    phi = Along(f, args, direction, check, shape)
    remainder = Remainder(phi, args, direction, flat, picked, epsilon(*args, np.asarray(returned)))
    remainders = walk(remainder, steps)
    with np.errstate(all="ignore"):
        findings, chosen = judged(remainders, flat, picked)
        worst, rates, plateau = _shown(remainders, chosen)
    return TaylorReport(
        name=name_of(f),
        x=x,
        v=tuple(direction.values()) if isinstance(x, tuple) else direction[0],
        order=degree,
        steps=remainders.h,
        coefficients=coefficients,
        remainders=worst,
        rates=rates,
        plateau=plateau,
        findings=tuple(findings),
        notes=tuple(_notes(remainders, remainder, phi, picked, flat[0], value)),
    )


# ---- what is shown --------------------------------------------------------------------------------------------------


def _shown(remainders: Remainders, chosen: list[int]) -> tuple[Array, Array, Array]:
    """Remainders along v in the component chosen for each order, their rates, and their floor."""
    h, r, noise = remainders.h, remainders.signed[0], remainders.noise[0]
    worst = np.array([abs(r[:, n, m]) for n, m in enumerate(chosen)])
    plateau = np.array([floor_of(h, worst[n], noise[:, n, m]) for n, m in enumerate(chosen)])
    rates = np.full_like(worst, np.nan)
    rates[:, :-1] = np.log(worst[:, :-1] / worst[:, 1:]) / np.log(h[:-1] / h[1:])
    rates[:, :-1][(worst <= plateau)[:, 1:] | (worst <= plateau)[:, :-1]] = np.nan
    return worst, rates, plateau


def _notes(
    remainders: Remainders, remainder: Remainder, phi: Along, picked: Picked, value: Array, first: Array
) -> Iterator[str]:
    left = int(np.sum(~np.isfinite(remainders.signed[0, :, 0]).all(axis=1)))
    if left:
        yield f"left out, as out of the domain of f: {count(left, 'step')} along v"
    if phi.strayed:
        yield f"beside x, f {phi.strayed}"
    rounding = np.fmax(*remainder.rounding.values())
    noisy = float(np.max(rounding / np.fmax(abs(value), 1e-300), initial=0.0))
    if noisy > 1e4 * remainder.eps and np.any(value):
        yield f"values of f are uncertain by {noisy:.1e} of their size, more than rounding alone"
    if not np.array_equal(phi(0.0), first):
        yield "called again at x, f gives another value: it is random, or keeps a state"
    if picked.places is not None:
        yield f"{len(picked.places)} of {picked.size} components of f were drawn, and one combination of all"


# ---- what was asked -------------------------------------------------------------------------------------------------


def _direction(args: tuple[Any, ...], v: Any, several: bool) -> dict[int, Any]:
    """A direction for every argument."""
    if v is None:
        rng = np.random.default_rng(0)
        return {k: drawn(rng, 0.1 * typical(x)) for k, x in enumerate(args)}
    directions = v if several else (v,)
    if not isinstance(directions, (tuple, list)) or len(directions) != len(args):
        raise ShapeError(f"check.taylor_test needs a direction for each of {len(args)} arguments, as a tuple.")
    for k, (d, x) in enumerate(zip(directions, args, strict=True)):
        numeric = as_numbers(d)
        if numeric is None or not np.all(np.isfinite(numeric)):
            kind = DTypeError if numeric is None else ArgumentError
            raise kind(f"direction {k} must be of finite real numbers, but is {value_text(d)}.")
        if numeric.shape != np.shape(x):
            raise ShapeError(f"direction {k} must have shape {np.shape(x)}, but has shape {numeric.shape}.")
    found = {k: np.asarray(d, np.float64) if np.ndim(d) else float(d) for k, d in enumerate(directions)}
    if any(d.size for d in map(np.asarray, found.values())) and not any(np.any(d) for d in found.values()):
        raise ShapeError("check.taylor_test needs a direction, but v is zero.")
    return found


def _degree(order: int | None, gradient: Any, hessian: Any) -> int:
    degree = order if order is not None else 1 if gradient and not hessian else 2
    return checked_order("check.taylor_test", degree, 0, HIGHEST)


def _by_series(
    f: Callable[..., Any], args: tuple[Any, ...], direction: dict[int, Any], degree: int, shape: tuple[int, ...]
) -> Array:
    """The Taylor coefficients of f along the direction, by hoad; inf or nan where one does not exist."""
    check = "check.taylor_test"

    def along(t: Any) -> Any:
        return f(*(x + t * direction[k] for k, x in enumerate(args)))

    compare_at(f, args, check)
    try:
        leaves, structure = flatten(quietly(expand, along, [0.0], [np.ones(1)], degree))
        orders = [numbers(structure.unflatten([c[n] for c in leaves]), check) for n in range(degree + 1)]
    except HoadError:
        raise
    except Exception as error:  # whatever f does to a traced value
        raise CheckError(
            f"{check} needs a function that hoad can trace, but traced it raises {told(error)}. Give your own "
            "derivatives, gradient=g and hessian=h."
        ) from error
    return np.array([np.broadcast_to(c, shape) for c in orders])


def _claimed(claim: Callable[..., Any], n: int, args: tuple[Any, ...], v: Any, shape: tuple[int, ...]) -> Array:
    """The n-th derivative of f along the direction, by yours."""
    check = "check.taylor_test"
    returned = called(check, name_of(claim), claim, args)
    read_as, wrong = read(returned, [(*shape, *np.shape(args[0]) * n)], False)
    if wrong:
        raise ShapeError(f"{check}, {'hessian' if n == 2 else 'gradient'}={name_of(claim)}: {wrong}")
    v = np.ravel(v)
    found = read_as[0].reshape(*shape, *[v.size] * n)
    for _ in range(n):
        found = found @ v
    return found
