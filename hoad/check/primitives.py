"""The check of the rule of a primitive, in every mode."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from hoad._pytree.arguments import checked_order
from hoad.check.points import check_functions, quietly
from hoad.check.report import name_of
from hoad.check.rule_report import RuleFinding, RuleReport
from hoad.check.trial import Trial, parts, tried_at_special
from hoad.errors import ArgumentError, HoadError, ShapeError

HIGHEST, MOST = 4, 8  # orders: as a rule, and at most

# Where a rule is tried if its author does not say: away from the usual singular points, in most domains.
PLACES = (0.37, 1.71, -0.64, 2.43)
SHAPES: dict[int, tuple[tuple[tuple[int, ...], ...], ...]] = {
    1: (((3,),), ((2, 3),)),
    2: (((3,), (3,)), ((2, 3), (3,)), ((2, 1), (1, 3)), ((), (3,))),
    3: (((3,), (3,), (3,)), ((2, 1), (3,), ())),
}


def rule(
    primitive: Callable[..., Any],
    *operands: Any,
    orders: int = HIGHEST,
    special: Sequence[Any] = (),
    seed: int = 0,
    **parameters: Any,
) -> RuleReport:
    """Check the derivative rule of a primitive: every mode, every order, shapes, and special points.

    Parameters
    ----------
    primitive : callable
        A NumPy function, or one declared with `hoad.primitive`; any function that hoad can differentiate.
    *operands
        The point at which to check, floats and arrays. By default, some numbers are used, and arrays of several shapes
        that broadcast together, if the primitive accepts them.
    orders : int, optional
        The highest order of derivatives to check.
    special : sequence, optional
        Singular points, kinks and limits: numbers, or tuples of operands. All modes must agree there, also on nan and
        infinities, and must agree with differences if these can decide.
    seed : int, optional
        The seed of the random directions and cotangents.
    **parameters
        Parameters passed to the primitive.

    Returns
    -------
    RuleReport
        Prints as a table; has `passed`, `assert_passed()` and `plot()`.

    Raises
    ------
    NoRuleError
        If the primitive has no rule.
    ShapeError
        If the primitive is not finite at a point.
    CheckError
        If the primitive raises an arithmetic error at a point.
    DTypeError
        If none of the operands is a float.
    ArgumentError
        If the primitive cannot be called, `orders` is not from 1 to 8, or `special` is not a list.

    See Also
    --------
    taylor_test

    Notes
    -----
    Cost: some hundred calls of the primitive for each point, and its derivatives up to order 4 in up to four modes.

    The adjoints of order 1 are compared with differences of values, entry by entry. Each higher order is compared with
    differences of the order below, along random directions, so that no digits are lost as the order grows. All modes
    are compared with each other, to 10 digits.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> @hoad.primitive
    ... def cube(x):
    ...     return x**3
    >>> _ = hoad.defvjp(cube, lambda g, p, x: (g * 3 * x**2,))
    >>> hoad.check.rule(cube).passed
    True
    >>> _ = hoad.defvjp(cube, lambda g, p, x: (g * 2 * x**2,))
    >>> hoad.check.rule(cube, 2.0).assert_passed()
    Traceback (most recent call last):
        ...
    hoad.errors.CheckError: rule of cube: 1 of 6 checks failed. Adjoint 0 at 2: the rule gives 8, differences give 12
    ± ... (trustworthy); 0.5 digits agree.
    """
    check_functions("check.rule", primitive)
    orders = checked_order("check.rule", orders, 1, MOST)
    if not isinstance(special, Iterable):
        raise ArgumentError(f"check.rule takes special points in a list, special=[{special!r}].")
    name = name_of(primitive)

    def f(*xs: Any) -> Any:
        return primitive(*xs, **parameters)

    notes: list[str] = []
    examples = [operands] if operands else list(_examples(primitive, f, notes))
    findings: list[RuleFinding] = []
    with np.errstate(all="ignore"):
        for xs in examples:
            findings += Trial(name, f, xs, seed).findings(orders)
        for point in special:
            xs = point if isinstance(point, tuple) else (point,)
            findings.append(tried_at_special(name, f, xs, seed, min(orders, 2)))
    return RuleReport(name, orders, tuple(findings), tuple(notes))


def _examples(primitive: Callable[..., Any], f: Callable[..., Any], notes: list[str]) -> Iterator[tuple[Any, ...]]:
    """Numbers and arrays that the primitive takes, and is finite at."""
    count = _arity(primitive)
    found = 0
    for k in range(len(PLACES)):
        xs = tuple(PLACES[(k + j) % len(PLACES)] for j in range(count))
        if _is_defined(f, xs):
            found += 1
            yield xs
    if not found:
        raise ShapeError(
            f"check.rule found no point among {PLACES} that {name_of(primitive)} takes, and is finite at. Give "
            f"operands: hoad.check.rule({name_of(primitive)}, x)."
        )
    good = [x for x in PLACES if _is_defined(f, (x,) * count)] or [PLACES[0]]
    for shapes in SHAPES.get(count, ()):
        rng = np.random.default_rng(1)
        xs = tuple(_drawn(rng, good, s) for s in shapes)
        if _is_defined(f, xs, np.broadcast_shapes(*shapes)):
            yield xs
        else:
            notes.append(f"left out: it does not work item by item on shapes {', '.join(map(str, shapes))}")


def _drawn(rng: np.random.Generator, good: list[float], shape: tuple[int, ...]) -> Any:
    """An operand of this shape, made of points near those where the primitive is known to be defined."""
    return rng.choice(good, shape) * rng.uniform(0.9, 1.1, shape) if shape else good[0]


def _arity(primitive: Callable[..., Any]) -> int:
    """How many operands a function has."""
    if isinstance(primitive, np.ufunc):
        return primitive.nin
    by_rule = getattr(getattr(primitive, "__hoad_primitive__", None), "rule", None)
    skipped = 0 if by_rule is None else 2
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    try:
        parameters = inspect.signature(by_rule or primitive).parameters.values()
    except (TypeError, ValueError):
        return 1
    return max(1, len([p for p in parameters if p.kind in kinds and p.default is p.empty]) - skipped)


def _is_defined(f: Callable[..., Any], xs: tuple[Any, ...], shape: tuple[int, ...] | None = None) -> bool:
    """Whether f gives finite numbers, of this shape."""
    try:
        values = [np.asarray(value, np.float64) for value in parts(quietly(f, *xs))]
    except HoadError:
        raise
    except Exception:  # whatever an argument that it was not made for does to it
        return False
    return all(np.all(np.isfinite(v)) and (shape is None or v.shape == shape) for v in values)
