"""Even functions of norms, which are smooth where the norm is 0.

Of r = |x| in any number of dimensions, f(r) is smooth at r = 0 if it is an even function of r, and then a series in r²,
which has no kink. The rules divide by r, which is 0 there. So where f has the slope 0 at r = 0, ``smooth(f(r), g)`` is
recorded in its place: f(r), with the derivatives of g, which is the even part of the Taylor polynomial of f, in r²,
where r is 0, and f(r) elsewhere. What has another slope there has a kink, and stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from hoad._core.graph.inspect import const_value, node_row, operand_avals
from hoad._core.graph.norms import bind_evens, copy_dependent, dismiss, structure
from hoad._core.graph.primitive import primitives, rules_epoch
from hoad._core.graph.tape import Graph, intern_aval
from hoad._core.kernels.ufuncs import select
from hoad._core.trace.calls import apply_primitive
from hoad._core.trace.coerce import holds_traced
from hoad._core.trace.traced import node_of, plain_value, traced_node
from hoad._numpy.products import root
from hoad._numpy.registry import operand_at
from hoad._numpy.squares import MOVES, ROOTS, SIZES, is_same, is_sum_of_squares, square_under
from hoad._ops.primitives import POWER, SMOOTH
from hoad._program.callee import called
from hoad._transform.expansion import EXPANDING, Taylor
from hoad._transform.programs import recorded

# Derivatives up to this order and one more are right where the norm is 0; of a series, as many more as it has.
DEGREE = 6

# How much larger than rounding the slope at 0 may be that cancels, as in (1 + r) exp(-r).
ROUNDING = 64

MOST_KNOWN = 512
GOLDEN = 0.6180339887498949
EPS = np.finfo(np.float64).eps
NUMBER = intern_aval(np.dtype(np.float64), ())

Group = list[tuple[int, bool, bool]]  # functions of a norm, or the norm again: (node, is used, is the norm)
Groups = dict[int, Group]

_known: dict[Any, Any] = {}


class Function(NamedTuple):
    """A function of a norm that has the slope 0 where that is 0."""

    node: int
    norm: int
    program: Taylor  # its coefficients, of the norm 0 and `params`
    params: list[int]
    of: Callable[..., list[Any]]  # the function, of the norm and `params`


def _remembered(key: Any, found: Any) -> Any:
    """What was found for a key."""
    if len(_known) >= MOST_KNOWN:
        _known.clear()
    _known[key] = found
    return found


def _expanded(
    graph: Graph, norm: int, group: Group, asked: list[int], sampled: bool
) -> tuple[Taylor, list[int], Callable[..., list[Any]]]:
    """The Taylor coefficients of functions of a norm at 0, of (norm, *params); the params, operands; these functions.

    If `sampled`, those of one item.
    """
    functions = {k: n for n, (k, *_) in enumerate(group)}
    params = _params(graph, norm, group)
    rows = [node_row(graph, k)[:3] for k in functions]
    avals = operand_avals(graph, [norm, *params])
    avals = [NUMBER] * len(avals) if sampled else [intern_aval(avals[0].dtype, ()), *avals[1:]]

    def again(*values: Any) -> list[Any]:
        made: dict[int, Any] = dict(zip((norm, *params), values, strict=True))
        for (node, _, is_norm), (primitive, operands, of) in zip(group, rows, strict=True):
            if is_norm or primitive is SMOOTH:
                made[node] = values[0] if is_norm else made[operands[0]]
                continue
            given = [made[x] if x in made else const_value(graph, x) for x in operands]
            made[node] = apply_primitive(primitive, of, *given)
        return [made[node] for node in asked]

    shape = structure(graph, norm, list(functions)), tuple(is_norm for *_, is_norm in group)
    degree = DEGREE + (EXPANDING.get() + 1) // 2 * 2
    key = rules_epoch(), shape, tuple(functions[k] for k in asked), tuple(avals), degree
    found = _known.get(key)
    if found is None:
        given = (2, *[1] * len(params))
        found = Taylor(recorded(again, avals), given, degree, None, (False,) * len(given))
    return _remembered(key, found), params, again


def _params(graph: Graph, norm: int, group: Group) -> list[int]:
    """What functions of a norm are made of beside it: nodes, and constants but for exponents."""
    params: dict[int, None] = {}
    own = {norm} | {k for k, *_ in group}
    for node, _, is_norm in group:
        primitive, operands, *_ = node_row(graph, node)
        for place, x in enumerate(operands[: 0 if is_norm else 1 if primitive is SMOOTH else None]):
            if x not in own and not (place and primitive is POWER and _is_number(graph, x)):
                params[x] = None
    return list(params)


def _is_number(graph: Graph, k: int) -> bool:
    """Whether an operand is a constant number."""
    return k < 0 and operand_avals(graph, [k])[0] is NUMBER


def _coefficients(callee: Taylor, values: list[Any]) -> Any:
    series = np.array([0.0, 1.0], callee.input_types[0].dtype)
    with np.errstate(all="ignore"):
        if holds_traced(values):
            return called(callee, [series, *values])
        return callee._run((series, *values))


def _slope_of(name: str, parts: list[Any]) -> Any:
    """The sizes of what the slope of a sum or product at 0 is the sum of."""
    (a, da), (b, db) = (x[:2] for x in parts)
    if name in ("add", "subtract"):
        return abs(da) + abs(db)
    if name == "multiply":
        return abs(a * db) + abs(b * da)
    return abs(da / b) + abs(a * db / b / b)


def _even_ones(graph: Graph, norm: int, group: Group) -> list[Function]:
    """Of the functions of a norm those to be replaced: the first ones that have the slope 0 at 0.

    Which these are is found once for functions that are alike. Params have other values there, equal ones equal values.
    """
    functions = [k for k, *_ in group]
    shape = structure(graph, norm, functions), tuple(is_norm for *_, is_norm in group)
    params = _params(graph, norm, group)
    values = [_sample(graph, k) for k in params]
    numbers = [x if k < 0 or x == 0.0 else values.index(x) for k, x in zip(params, values, strict=True)]
    key = rules_epoch(), shape, tuple(numbers), tuple(k < 0 for k in params)
    found = _known.get(key)
    if found is None:
        others = {
            k: x if k < 0 or x == 0.0 else 0.5 + (GOLDEN * (1 + n)) % 1.0
            for k, x, n in zip(params, values, numbers, strict=True)
        }
        found = _remembered(key, _smooth_ones(graph, norm, group, others))
    if not found:
        dismiss(graph, norm, functions)
    return [
        Function(functions[at], norm, *_expanded(graph, norm, group[: at + 1], [functions[at]], False))
        for at in found
        if group[at][1]
    ]


def _smooth_ones(graph: Graph, norm: int, group: Group, params: dict[int, float]) -> list[int]:
    """The places in the group of what is to be replaced."""
    functions = [k for k, *_ in group]
    callee, *_ = _expanded(graph, norm, group, functions, True)
    found = dict(zip(functions, _coefficients(callee, list(params.values())), strict=True))
    ends = {norm: (0.0, 1.0)} | {k: (x, 0.0) for k, x in params.items()}
    made: list[int] = []
    fine: set[int] = set()
    kinked: set[int] = set()  # made of a norm that is 0 there
    for at, (k, _, is_norm) in enumerate(group):
        if is_norm:
            continue
        primitive, operands, *_ = node_row(graph, k)
        if (primitive.name in SIZES and found[k][0] == 0.0) or not kinked.isdisjoint(operands):
            kinked.add(k)
            continue
        if primitive is SMOOTH or all(x in fine for x in operands if x in found or x == norm):
            fine.add(k)
            continue
        c = found[k]
        if not np.all(np.isfinite(c)):
            continue
        limit = 0.0
        if primitive.name in ("add", "subtract", "multiply", "divide"):
            parts = [found[x] if x in found else ends[x] for x in operands]
            limit = ROUNDING * EPS * _slope_of(primitive.name, parts)
        if abs(c[1]) <= limit:
            fine.add(k)
            if np.any(c[2::2] != 0.0):
                made.append(at)
    return made


def _sample(graph: Graph, k: int) -> float:
    """The first item of an operand."""
    value = const_value(graph, k) if k < 0 else plain_value(traced_node(graph, k))
    return float(np.ravel(value)[0]) if np.size(value) else np.nan


def _replaced(graph: Graph, start: int, size: int, outputs: list[int], groups: Groups) -> list[int]:
    """The outputs of the nodes from `start` to `size`, recorded once more with what is smooth of norms as such."""
    made = [f for norm, group in groups.items() if _is_norm(graph, norm) for f in _even_ones(graph, norm, group)]
    place: dict[int, int] = {}
    at = start
    for f in sorted(made, key=lambda f: f.node):
        copy_dependent(graph, at, f.node + 1, place)
        at = f.node + 1
        found = _smooth(graph, f, place)
        if found is not None:
            place[f.node] = node_of(found)
    if place:
        copy_dependent(graph, at, size, place)
    return [place.get(k, k) for k in outputs]


def _is_norm(graph: Graph, node: int) -> bool:
    """Whether it is a square root of a sum of squares, if it is a square root."""
    primitive, operands, *_ = node_row(graph, _unmoved(graph, node))
    return primitive.name != "sqrt" or is_sum_of_squares(graph, operands[0])


def _unmoved(graph: Graph, node: int) -> int:
    """What a node has items of."""
    while node_row(graph, node)[0].name in MOVES:
        node = node_row(graph, node)[1][0]
    return node


def _smooth(graph: Graph, f: Function, place: dict[int, int]) -> Any:
    """f(r), with the derivatives of its even part where r is 0."""
    node, norm = place.get(f.node, f.node), place.get(f.norm, f.norm)
    y, r = traced_node(graph, node), traced_node(graph, norm)
    square = square_under(graph, norm)
    if square is None:
        return None
    params = [operand_at(graph, place.get(k, k)) for k in f.params]
    (c,) = _coefficients(f.program, params)
    even: Any = c[-1]
    for k in range(len(c) - 3, -1, -2):
        even = c[k] + square * even
    if node_row(graph, _unmoved(graph, norm))[0].name == "sqrt":  # which has the slope inf at 0
        (elsewhere,) = f.of(root(square), *params)
    else:
        elsewhere = y
    return apply_primitive(SMOOTH, None, y, select(np.equal(r, 0.0), even, elsewhere))


def _ops(names: tuple[str, ...] | list[str]) -> list[int]:
    return [primitive.op for primitive in primitives() if primitive.name in names]


def _functions() -> list[int]:
    """The functions of a norm that may be smooth: of one number or two, analytic, or the larger or smaller of two.

    Square roots are not among them, which are norms themselves, nor what sweeps alone emit (strong products).
    """
    others = {*ROOTS, "strong_multiply", "strong_multiply_both", "strong_divide"} - {"power"}
    found = [x for x in primitives() if x.elementwise and x.analytic and x.name not in others]
    return [x.op for x in found] + _ops(["maximum", "minimum"])


bind_evens(_ops(["hypot"]), _ops(["absolute", "fabs"]), _ops(MOVES), _functions(), _replaced, is_same)
