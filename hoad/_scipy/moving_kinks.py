"""Integrands with a kink inside of the range whose place moves with a parameter.

The integral's first derivative is that of the integrand, integrated, where the integrand is continuous. The second has
a term more, for the jump of the first derivative of the integrand, which no rule over fixed nodes has.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hoad._core.base.where import here
from hoad._core.graph.inspect import const_value, guard_rows, node_row, operand_avals
from hoad._core.graph.primitive import UFUNC, Primitive, ufunc_primitive
from hoad._core.graph.tape import Graph
from hoad._core.trace.traced import is_traced
from hoad._program.dependence_of_programs import spread_nodes
from hoad._scipy.plain_functions import Branch, Branches
from hoad._transform.programs import without_guards
from hoad.errors import NoRuleError
from hoad.rules.registry import defvjp, primitive

OF_PLACE, OF_PARAMETERS = np.uint8(1), np.uint8(2)  # what a node depends on
ABSOLUTE = ufunc_primitive(np.absolute)
HEAVISIDE = ufunc_primitive(np.heaviside)
EXTREMES = tuple(map(ufunc_primitive, (np.maximum, np.minimum, np.fmax, np.fmin)))
ROOTS = tuple(map(ufunc_primitive, (np.hypot, np.sqrt, np.cbrt)))
POWER = ufunc_primitive(np.power)
SMALL = 0.1  # of the largest root: one of 21 points is so close to where a root of a square is zero


def has_moving_kink(branches: Branches, numbers: Sequence[Any], places: Sequence[float], limits_move: bool) -> bool:
    """Whether the integrand changes between these places, by the place and by what is traced."""
    at: dict[int, tuple[Branch, list[float]]] = {}
    for x in places:
        branch = branches.at(numbers, x)
        if branch is None:
            return False
        at.setdefault(id(branch), (branch, []))[1].append(x)
    return any(_changes(branch, numbers, xs, limits_move, len(at)) for branch, xs in at.values())


def _changes(branch: Branch, numbers: Sequence[Any], xs: list[float], limits_move: bool, n_branches: int) -> bool:
    """Whether one of these places is on another side of a kink that moves than others, in one branch."""
    program = branch.program
    last, inputs = program._last, program._input_nodes()
    sizes = [np.full((aval.size, 1), OF_PARAMETERS) for aval in program.input_types]
    sizes[0][:] = OF_PLACE | (OF_PARAMETERS if limits_move else 0)
    sets = spread_nodes(last._graph, last._end, dict(zip(inputs, sizes, strict=True)))
    moving = {k for k, bits in sets.items() if np.bitwise_or.reduce(bits.ravel()) == OF_PLACE | OF_PARAMETERS}
    if n_branches > 1 and any(node in moving for node, *_ in guard_rows(last._graph)[: last._guards]):
        return True
    tested: list[tuple[Primitive, list[int]]] = []
    roots: list[int] = []
    for k in sorted(moving):
        primitive, operands, _, aval, *_ = node_row(last._graph, k)
        if primitive.of_programs:
            return True  # for all that is known of what it runs
        if primitive in ROOTS or (primitive is POWER and not _is_whole(last._graph, operands[1])):
            roots.append(k)
        elif primitive in EXTREMES:
            tested.append((primitive, operands))
        elif primitive in (ABSOLUTE, HEAVISIDE) or primitive.series == "extreme":
            if not operand_avals(last._graph, operands)[0].is_complex:
                tested.append((primitive, operands[:1]))
        elif primitive.zero_derivative and (primitive.kind == UFUNC or not aval.inexact):
            tested.append((primitive, [k]))
    outputs = [operand for _, operands in tested for operand in operands] + roots
    if not outputs:
        return False
    program = without_guards(program, outputs)
    sides, sizes_of_roots = set(), []
    for x in xs:
        values = iter(program._run((x, *[numbers[k] for k in branch.places])))
        sides.add(b"".join([_side(primitive, [next(values) for _ in operands]) for primitive, operands in tested]))
        sizes_of_roots.append([float(np.min(np.abs(root))) for root in values])
    return len(sides) > 1 or bool(np.any(np.min(sizes_of_roots, axis=0) < SMALL * np.max(sizes_of_roots, axis=0)))


def _is_whole(graph: Graph, operand: int) -> bool:
    """Whether an exponent is a constant, and a whole number."""
    return operand < 0 and bool(np.all(np.mod(const_value(graph, operand), 1.0) == 0.0))


def _side(tested: Primitive, values: list[Any]) -> bytes:
    """Which formula holds, of those that an operation chooses from."""
    if tested in EXTREMES:
        side = np.greater(*values)
    elif tested in (ABSOLUTE, HEAVISIDE):
        side = np.sign(values[0])
    else:
        side = np.argsort(values[0], axis=None) if tested.series == "extreme" else values[0]
    return np.asarray(side).tobytes()


# ---- values with first derivatives alone ----------------------------------------------------------------------------


@primitive(shape=lambda x, **_: x)
def once(x: Any, *, where: str) -> Any:
    """x, whose second derivatives raise."""
    return np.array(x)


@primitive(shape=lambda x, **_: x)
def slope_of_once(x: Any, *, where: str) -> Any:
    """1, the derivative of `once`, which has none."""
    return np.ones_like(x)


def _refusal(where: str) -> NoRuleError:
    """What to say of second derivatives."""
    return NoRuleError(
        f"Split the integral at the kink: the place is a limit of both parts ({where}). scipy.integrate.quad of a "
        "function with a kink that moves with what it is differentiated by has first derivatives alone."
    )


defvjp(once, lambda g, p, x, *, where: (g * slope_of_once(x, where=where),))
defvjp(slope_of_once, lambda g, p, x, *, where: (_refusal(where),))


def once_each(values: Sequence[Any]) -> list[Any]:
    """Values whose second derivatives raise, as far as they are traced."""
    return [once(x, where=here()) if is_traced(x) else x for x in values]
