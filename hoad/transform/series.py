"""From a program to its Taylor arithmetic: rules spelled out, a step chosen for every node.

For p = φ(x), element by element, the rule with g = 1 is h in p'(t) = Σ h(p, x) x'(t), which gives the coefficients of p
order by order from those of h. What h computes is done the same way, until nothing new is asked for. By hand are sums,
products, quotients and powers; what is linear acts on each coefficient, what is bilinear on pairs of them.

For p = φ(x) on arrays, such as factors of matrices, the rule gives p' = J(p, x) x' as operations on x', which are
spelled out in their turn. x' is known one order behind x, and so is what is made of it; p is its integral.

References
----------
Griewank and Walther (2008), Evaluating Derivatives, chapter 13: tables 13.1 and 13.2, proposition 13.1.
"""

from __future__ import annotations

import functools
import heapq
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from hoad import primitive as prim
from hoad._core.calls import apply_primitive
from hoad._core.closing import Closure
from hoad._core.primitive import CONCATENATE, GATHER, PUT, REDUCE, STRIDED, STRUCTURE, UFUNC, Primitive, signature_at
from hoad._core.recording import node_row
from hoad._core.series import NotClosedError, Series
from hoad._core.tape import Aval, Graph, intern_aval
from hoad.errors import HoadError, NoRuleError

MOST_NODES = 4000  # by which rules may grow a program, before they are said not to close
MOST_FOR_EACH = 20  # and by so many for each node that it had
LARGEST_POWER = 1 << 20  # a whole exponent beyond which powers are no products
LONGEST_CHAIN = 20  # an exponent beyond which the derivatives of a power at 0 are not asked for one by one
MOST_LOWERED = 4  # the same, of exponents that are not known
MOST_LAG = 3  # how deep rates of rates of ... go, before rules are said not to close

# Kinds that do with truth values as with floats.
MOVING = frozenset((CONCATENATE, GATHER, PUT, REDUCE, STRIDED))

# Operations whose result is a constant of the curve, but for jumps.
STEPS = frozenset("sign floor ceil trunc rint floor_divide spacing stop_gradient start".split())
# On each coefficient by itself.
EACH = frozenset("sum assemble cumsum put astype real imag complex".split())
SIGNS = {"add", "subtract", "negative", "square", "select", "mask"}  # whose steps have their names
SAME = frozenset("identity positive conjugate".split())  # of real numbers
SCALED = {"degrees": 180 / np.pi, "rad2deg": 180 / np.pi, "radians": np.pi / 180, "deg2rad": np.pi / 180}
# p' = Σ h x' summed over what is reduced.
EXTREMES = frozenset(("max", "min"))

# x' of x, along the curve.
RATE = Primitive("rate", kind=STRUCTURE, infer=lambda params, x: (x,), linear=True)

# x where the curve begins. No `stop_gradient`: what is spelled out may be differentiated by that point.
START = Primitive("start", kind=STRUCTURE, infer=lambda params, x: (x,), linear=True)


class Arithmetic:
    """The Taylor arithmetic of what is behind some nodes of a sealed graph.

    Parameters
    ----------
    graph : Graph
        A sealed graph.
    inputs, outputs : list of int
        Its inputs, nodes; what is asked for, operands.
    guards : list
        Pairs (node, expected): branches that must go as they went.
    given : sequence of int
        How many coefficients of each input are given; the others are zero.
    degree : int
        The highest order asked for.
    """

    def __init__(
        self,
        graph: Graph,
        inputs: list[int],
        outputs: list[int],
        guards: list[tuple[int, Any]],
        given: Sequence[int],
        degree: int,
    ) -> None:
        self.closure = Closure(graph, [*outputs, *[node for node, _ in guards]], inputs)
        self.outputs = self.closure.outputs[: len(outputs)]
        self.guards = [(k, was) for k, (_, was) in zip(self.closure.outputs[len(outputs) :], guards, strict=True)]
        self.given = given
        self._given = dict(zip(self.closure.inputs, given, strict=True))
        self.degree = degree
        self._rows: dict[int, tuple[str, Primitive, list[int], Any, Aval]] = {}
        self._made_of: dict[int, tuple[list[tuple[int, int]], list[tuple[int, int]]]] = {}
        self.tops: list[int] = []  # of every node: the highest order at which it is not zero, and asked for
        self.lags: list[int] = []  # of every node: how many orders it is behind what it is made of, for rates in it
        self.slopes: dict[int, list[tuple[int, int]]] = {}  # node: [(h, x), ...], where a rule gives them
        self.integrands: dict[int, int] = {}  # node: its rate, where it is found as the integral of that
        self.lowered: dict[int, int] = {}  # exponent: how often 1 was taken from it
        self.instead: dict[int, int] = {}  # node: the operand that has its coefficients beyond the value
        self.powers: dict[int, int] = {}  # node x**y with a recurrence of its own, y being constant: x over its value
        self.is_real = True  # whether every series is one of float64
        self._close()
        self._leave_out()

    # ---- rules spelled out

    def _close(self) -> None:
        size = self.closure.size
        while len(self.tops) < self.closure.size:
            if len(self.tops) > (1 + MOST_FOR_EACH) * size + MOST_NODES:
                raise NotClosedError("rules that ask for ever new operations")
            i = len(self.tops)
            name, _, operands, _, _ = self.row(i)
            self.lags.append(max((self.lags[k] for k in operands if k >= 0), default=0) + (name == "rate"))
            self.tops.append(self._top(i))

    def _leave_out(self) -> None:
        """Lower the tops to the orders that are asked for: often that is the value alone, as of what is compared."""
        asked = [-1] * len(self.tops)
        wanted = [(-self.degree, k) for k in self.outputs] + [(0, k) for k, _ in self.guards]
        heapq.heapify(wanted)
        while wanted:
            order, node = heapq.heappop(wanted)
            order = min(-order, self.top(node))
            if node >= 0 and order > asked[node]:
                asked[node] = order
                for k, ahead in self._asks(node, order):
                    heapq.heappush(wanted, (-(order + ahead), k))
        self.tops = [max(order, 0) for order in asked]

    def top(self, operand: int) -> int:
        """The highest order at which an operand is not zero."""
        return self.tops[operand] if operand >= 0 else 0

    def row(self, i: int) -> tuple[str, Primitive, list[int], Any, Aval]:
        """What a node is: name, primitive, operands, parameters, shape and dtype."""
        found = self._rows.get(i)
        if found is None:  # asked for again and again, and nodes do not change
            primitive, operands, params, aval, *_ = node_row(self.closure.graph, i)
            name = primitive.name if primitive.qualified is None else ""
            found = self._rows[i] = name, primitive, operands, params, aval
        return found

    def _top(self, i: int) -> int:
        """The highest order of node i; notes how its coefficients are found, where that takes other nodes."""
        name, primitive, operands, params, aval = self.row(i)
        if name == "input":
            return min(self._given[i] - 1, self.degree) if aval.inexact else 0
        tops = [self.top(k) for k in operands]
        if name == "result":
            return self.degree if i in self.integrands else 0
        if name == "rate":
            return tops[0] - 1
        results = [aval, *map(self.closure.aval, range(i + 1, i + primitive.nout))]
        if not any(tops) or not any(x.inexact for x in results):
            return 0
        self.is_real = self.is_real and all(x.is_float64 or not x.inexact for x in results)
        if name in STEPS and not (name == "sign" and aval.is_complex):
            return 0
        if name in ("multiply", "smul") or is_multilinear(primitive, tops):
            return min(sum(tops), self.degree)
        if name == "square":
            return min(2 * tops[0], self.degree)
        if name in SIGNS or name in SAME or name in SCALED or is_linear(name, primitive):
            return max(tops)
        if name in ("divide", "sdiv"):
            return tops[0] if tops[1] == 0 else self.degree
        if name in ("power", "float_power"):
            return self._power(i, operands[0], operands[1])
        is_complex = any(self.closure.aval(k).is_complex for k in operands)
        if name in EXTREMES and not is_complex:
            return self._extreme(i, operands[0])
        if primitive.expansion is not None and not (is_complex and primitive.elementwise):
            self.instead[i] = self._expanded(primitive, operands, params)
            return self.degree
        if primitive.kernel is not None and not any(tops[:-1]) and not is_complex:
            self.instead[i] = self._composed(primitive, operands, params, aval)
            return self.degree
        if name in ("reciprocal", "inv", "solve"):
            return self.degree
        if primitive.per_call or primitive.of_programs:
            raise NotClosedError(f"{primitive.name}, whose rule is not the same at all points")
        is_holomorphic = not is_complex or (primitive.kind == UFUNC and aval.is_complex and name != "sign")
        if not primitive.elementwise or primitive.nout > 1 or primitive.rule is None or not is_holomorphic:
            self._integrate(i, primitive, operands)
            return self.degree if i in self.integrands else 0
        self._by_rule(i, primitive, operands)
        return self.degree

    def _integrate(self, i: int, primitive: Primitive, operands: list[int]) -> None:
        """p' = J(p, x) x', for every result."""
        if self.lags[i] == MOST_LAG:
            raise NotClosedError(f"a rule of {primitive.name} that asks for rates of rates")
        rates = [self.closure.record(RATE, None, k) if self.top(k) else None for k in operands]
        try:
            found = self.closure.tangents(i, rates)
        except HoadError as error:
            raise NotClosedError(f"{primitive.name}: {error}") from error
        if found is None:
            raise NotClosedError(f"a rule of {primitive.name} that branches")
        self.integrands.update({i + k: rate for k, rate in enumerate(found) if rate is not None})

    def _by_rule(self, i: int, primitive: Primitive, operands: list[int]) -> None:
        """p' = Σ h x', with h from the rule for g = 1."""
        active = [self.top(k) > 0 for k in operands]
        found = self.closure.slopes(i, active)
        if found is None:
            raise NotClosedError(f"a rule of {primitive.name} that branches")
        self.slopes[i] = [(h, x) for h, x in zip(found, operands, strict=True) if h is not None and self.top(x)]

    def _power(self, i: int, x: int, y: int) -> int:
        """x**y: products for a whole constant y; for another p' = y x**(y - 1) x', down to an exponent below 1.

        From there on x p' = y p x', and for a y that is not constant p' = y p/x x' + p log(x) y'.
        """
        emit = self.closure.emit
        exponents = [] if y >= 0 else _exponents(self.closure.value(y))
        if len(exponents) == 1 and _is_whole(exponents[0]):
            self.instead[i] = self._product(x, int(exponents[0]))
            return min(int(exponents[0]) * self.top(x), self.degree)
        one_lower = self._one_lower(y, exponents)
        if one_lower is None and not self.top(y) and 0.0 not in exponents:
            self.powers[i] = emit("divide", x, self._start(x))  # x p is out of range before x and p are
            return self.degree
        slopes = []
        if one_lower is not None:  # with slopes at 0, as far as they go
            slopes.append((emit("smul", y, emit("power", x, one_lower)), x))
        elif self.top(x):
            slopes.append((emit("smul" if 0.0 in exponents else "multiply", y, emit("divide", i, x)), x))
        if self.top(y):
            slopes.append((emit("smul", i, emit("log", x)), y))
        self.slopes[i] = slopes
        return self.degree

    def _start(self, x: int) -> int:
        return self.closure.record(START, None, x)

    def _one_lower(self, y: int, exponents: list[Any]) -> int | None:
        """The exponents less 1, where powers with these are taken one lower; unknown ones are, a few times."""
        if exponents:
            return self.closure.constant(self.closure.value(y) - 1.0) if _lead_on(exponents) else None
        if self.top(y) or self.lowered.get(y, 0) >= MOST_LOWERED:
            return None
        lower = self.closure.emit("subtract", y, self.closure.constant(1.0))
        self.lowered[lower] = self.lowered.get(y, 0) + 1
        return lower

    def _product(self, x: int, exponent: int) -> int:
        """x multiplied with itself, by squares."""
        if exponent == 0:
            aval = self.closure.aval(x)
            return self.closure.constant(np.ones(aval.shape, aval.dtype)[()])
        if exponent == 1:
            return x
        half = self._product(self.closure.emit("square", x), exponent // 2)
        return self.closure.emit("multiply", half, x) if exponent % 2 else half

    def _expanded(self, primitive: Primitive, operands: list[int], params: Any) -> int:
        """The same function in operations whose rules close."""
        assert primitive.expansion is not None
        try:
            return self.closure.apply(functools.partial(primitive.expansion, **primitive.keywords(params)), *operands)
        except HoadError as error:
            raise NotClosedError(f"an expansion that is not for these operands: {error}") from error

    def _composed(self, primitive: Primitive, operands: list[int], params: Any, aval: Aval) -> int:
        """φ(x) from the coefficients of φ at the value of x: c₀ + u (c₁ + u (c₂ + ...)), with u what x is beyond it."""
        emit = self.closure.emit
        x = operands[-1]
        value = self._start(x)
        u = emit("subtract", x, value)
        c = self.closure.record(_coefficients_of(primitive, self.degree, params is None), params, *operands[:-1], value)
        found = self._coefficient(c, self.degree, aval)
        for k in range(self.degree - 1, -1, -1):
            found = emit("add", self._coefficient(c, k, aval), emit("multiply", u, found))
        return found

    def _coefficient(self, c: int, k: int, aval: Aval) -> int:
        """Item k of an array of coefficients."""
        params = (aval.shape, tuple(prim.contiguous_strides(aval.shape)), k * aval.size)
        return self.closure.emit("getitem", c, params=params)

    def _extreme(self, i: int, x: int) -> int:
        """The largest or smallest item: beyond the value, the sum of h x, with the h of the rule for a constant x."""
        emit, (name, _, _, params, _) = self.closure.emit, self.row(i)
        value = emit(name, self._start(x), params=params)
        found = self.closure.slopes(value, [True], elementwise=False)
        assert found is not None
        assert found[0] is not None
        self.instead[i] = emit("sum", emit("multiply", found[0], x), params=params)
        return self.top(x)

    # ---- steps

    def _asks(self, i: int, order: int) -> list[tuple[int, int]]:
        """The nodes that coefficient `order` of a node is made of, and by how many orders they are ahead of it."""
        if i not in self._made_of:
            name, _, operands, _, _ = self.row(i)
            value = [(k, 1 if name == "rate" else 0) for k in operands if k >= 0]
            beyond = [(self.instead.get(i, -1), 0), (self.integrands.get(i, -1), -1), (self.powers.get(i, -1), 0)]
            beyond += [(unsigned(self.closure, h)[0], -1) for h, _ in self.slopes.get(i, ())]
            self._made_of[i] = value, [*value, *[(k, ahead) for k, ahead in beyond if k >= 0]]
        return self._made_of[i][order > 0]

    def _needs(self, i: int) -> list[int]:
        """The nodes that a node needs in the same pass over all steps."""
        return [k for k, ahead in self._asks(i, self.tops[i]) if self.lags[k] + ahead == self.lags[i]]

    def order(self) -> list[int]:
        """The nodes that are needed, each behind those it needs in the same pass."""
        order: list[int] = []
        seen = set(self.closure.inputs)
        wanted = [k for k in (*self.outputs, *[k for k, _ in self.guards]) if k >= 0]
        while wanted:
            stack = [wanted.pop()]
            while stack:
                node = stack[-1]
                missing = [k for k in self._needs(node) if k not in seen] if node not in seen else []
                if missing:
                    stack.extend(missing)
                    continue
                stack.pop()
                if node not in seen:
                    seen.add(node)
                    order.append(node)
                    wanted.extend(k for k, _ in self._asks(node, self.tops[node]))
        return order

    def parts(self, order: list[int]) -> list[list[int]]:
        """Nodes in such an order as sets whose coefficients hang on each other, each set behind those that it needs."""
        place = {node: k for k, node in enumerate(order)}
        behind = {node: [k for k, _ in self._asks(node, self.tops[node]) if k in place] for node in place}
        found: list[list[int]] = []
        index: dict[int, int] = {}
        lowest: dict[int, int] = {}  # the first node that is reached from one that is in no set yet
        path: list[int] = []
        unseen = {node: iter(behind[node]) for node in place}
        for root in place:
            stack = [root]
            while stack:
                node = stack[-1]
                if node not in index:
                    index[node] = lowest[node] = len(index)
                    path.append(node)
                following = next((k for k in unseen[node] if k not in index), None)
                if following is not None:
                    stack.append(following)
                    continue
                stack.pop()
                if node in lowest:
                    lowest[node] = min([lowest[node], *[lowest[k] for k in behind[node] if k in lowest]])
                    if lowest[node] == index[node]:
                        found.append(sorted(_popped(path, node), key=place.__getitem__))
                        for k in found[-1]:
                            del lowest[k]
        return found

    def series(self, lanes: int = 1, have_lanes: Sequence[bool] = (), is_flow: bool = False, first: int = 0) -> Series:
        """The steps for so many lanes.

        In a flow the inputs from `first` on are the integrals of the outputs, and given in place of them.
        """
        if not self.is_real:
            raise NotClosedError("rows of numbers that are not float64")
        return _Builder(self, lanes, have_lanes, is_flow, first).series


def _popped(path: list[int], node: int) -> list[int]:
    """The end of a path from a node on, taken away."""
    found: list[int] = []
    while node not in found[-1:]:
        found.append(path.pop())
    return found


@functools.cache
def _coefficients_of(primitive: Primitive, degree: int, is_bare: bool) -> Primitive:
    """The coefficients c₀, ..., of φ(x + t) that a kernel gives, as an operation, of which cₖ' = (k + 1) cₖ₊₁.

    One that `is_bare` has no parameters.
    """

    def infer(params: Any, *operands: Aval) -> tuple[Aval, ...]:
        shape = signature_at(primitive, params, operands).results[0].shape
        return (intern_aval(np.dtype(np.float64), (degree + 1, *shape)),)

    def run(params: Any, *values: Any) -> Any:
        assert primitive.kernel is not None
        found = primitive.kernel(*values, degree, **primitive.keywords(params))
        return np.stack(np.broadcast_arrays(*found, *values)[: degree + 1])

    def rule(g: Any, p: Any, *operands: Any, **keywords: Any) -> tuple[Any, ...]:
        params = None if is_bare else tuple(keywords.items() if names is None else [keywords[name] for name in names])
        further = apply_primitive(_coefficients_of(primitive, degree + 1, is_bare), params, *operands)[1:]
        orders = np.reshape(np.arange(1.0, degree + 2), (-1, *[1] * (np.ndim(p) - 1)))
        unknown = NoRuleError(
            f"the Taylor coefficients of {primitive.name} have no derivative with respect to its parameters, only with "
            "respect to its last argument. Give it hoad.value of a parameter that is constant."
        )
        return (*[unknown] * (len(operands) - 1), _unbroadcast(np.sum(g * (orders * further), axis=0), operands[-1]))

    def kernel(*arguments: Any, **keywords: Any) -> list[Any]:
        *operands, further = arguments
        assert primitive.kernel is not None
        found = primitive.kernel(*operands, degree + further, **keywords)
        found = np.broadcast_arrays(*found, *operands)
        return [np.stack([math.comb(k + j, j) * found[k + j] for k in range(degree + 1)]) for j in range(further + 1)]

    name, names = f"coefficients of {primitive.name}", primitive.param_names
    made = Primitive(name, function=run, infer=infer, nin=-1, param_names=names)
    made.rule, made.kernel = rule, kernel
    return made


def _unbroadcast(adjoint: Any, x: Any) -> Any:
    """The adjoint of what was broadcast: summed over the axes that x has not."""
    extra = np.ndim(adjoint) - np.ndim(x)
    stretched = [k for k in range(np.ndim(x)) if np.shape(x)[k] != np.shape(adjoint)[k + extra]]
    return np.reshape(np.sum(adjoint, axis=(*range(extra), *[k + extra for k in stretched])), np.shape(x))


def _exponents(y: Any) -> list[Any]:
    """The numbers in a constant exponent, each once; real ones as floats."""
    return [x if x.imag else x.real for x in set(np.ravel(y).tolist())]


def _is_whole(exponent: Any) -> bool:
    """Whether a power with this constant exponent is made of products."""
    return isinstance(exponent, float) and 0 <= exponent < LARGEST_POWER and exponent.is_integer()


def _lead_on(exponents: list[Any]) -> bool:
    """Whether powers with these constant exponents are taken one lower, and those one lower again.

    Whole ones go down to 0, where the slope is strongly 0 whatever the power below; others while they are above 1.
    """
    if any(isinstance(x, complex) for x in exponents):
        return False
    largest = float(max(exponents))
    if largest >= LONGEST_CHAIN:
        return False
    return largest > (0 if all(x == np.floor(x) for x in exponents) else 1)


def is_linear(name: str, primitive: Primitive) -> bool:
    """Whether an operation acts on each coefficient by itself."""
    return name in EACH or name == "item" or primitive.kind in (STRIDED, CONCATENATE, GATHER, PUT)


def held(aval: Aval) -> Aval:
    """As items of a row are held: truth values as floats."""
    return intern_aval(np.dtype(np.float64), aval.shape) if aval.dtype == np.bool_ else aval


def is_multilinear(primitive: Primitive, tops: list[int]) -> bool:
    """Whether an operation of one or two arrays is linear in each of those that are not constant."""
    linear = all(k in primitive.linear_in for k, top in enumerate(tops) if top)
    return linear and len(tops) <= 2 and not primitive.elementwise


class _Builder:
    """The steps of an arithmetic, in an order in which each finds what it needs."""

    def __init__(
        self, arithmetic: Arithmetic, lanes: int, have_lanes: Sequence[bool], is_flow: bool, first: int
    ) -> None:
        self.arithmetic = arithmetic
        self.closure = arithmetic.closure
        order = arithmetic.order()
        self.shape = None if is_flow or lanes > 1 or any(have_lanes) else self._common_shape(order)
        if self.shape is not None:  # items are lanes
            lanes = math.prod(self.shape)
            have_lanes = [self.closure.aval(node).shape == self.shape for node in self.closure.inputs]
        self.series = Series(arithmetic.degree, lanes)
        parts = [order] if is_flow or lanes == 1 else arithmetic.parts(order)  # a flow hangs on itself
        self.rows: dict[int, int] = {}
        self.steps: dict[int, int] = {}
        self.spread: dict[tuple[int, tuple[int, ...], int], int] = {}
        self.derived: dict[tuple[int, int], int] = {}
        for k, node in enumerate(self.closure.inputs):
            aval = self.aval(node)
            if is_flow and first <= k < first + len(arithmetic.outputs):
                self.rows[node] = self.series.integral(aval)
            else:
                self.rows[node] = self.series.input(aval, arithmetic.given[k], bool(have_lanes and have_lanes[k]))
        for part in parts:
            for node in part:
                self._row(node)
        for part in parts:
            for node in part:
                self._step(node)
            self.series.end_part()
        for node, terms in self.arithmetic.slopes.items():
            if node in self.steps and arithmetic.tops[node]:
                self.series.slopes(self.steps[node], [self._term(node, h, x) for h, x in terms])
        for k, operand in enumerate(arithmetic.outputs):
            row = self.operand(operand)
            if is_flow:
                integral = self.rows[self.closure.inputs[first + k]]
                self.series.integrate(integral, row)
                row = integral
            self.series.output(row)
        for operand, expected in arithmetic.guards:
            self.series.check(self.operand(operand), expected)

    def _common_shape(self, order: list[int]) -> tuple[int, ...] | None:
        """The one shape of all arrays, if all that is done is done item by item; else None."""
        operands = {k for i in order for k in (i, *self.arithmetic.row(i)[2])}
        avals = [self.closure.aval(k) for k in operands.union(self.closure.inputs, self.arithmetic.outputs)]
        shapes = {self.closure.aval(k).shape for k in self.arithmetic.outputs}
        if len(shapes) != 1 or math.prod(*shapes) < 2 or any(aval.shape not in ((), *shapes) for aval in avals):
            return None
        if any(aval.dtype not in (np.float64, np.bool_) for aval in avals) or self.arithmetic.guards:
            return None
        return shapes.pop() if all(self._is_by_item(i) for i in order) else None

    def _is_by_item(self, i: int) -> bool:
        name, primitive, operands, *_ = self.arithmetic.row(i)
        if name == "broadcast_to":
            return not self.closure.aval(operands[0]).ndim
        return (primitive.kind == UFUNC and bool(name)) or name in SAME or name == "start"

    def aval(self, operand: int) -> Aval:
        """Shape and dtype of an operand in one lane."""
        aval: Aval = self.closure.aval(operand)
        if self.shape is None or aval.shape != self.shape:
            return aval
        return intern_aval(aval.dtype, ())

    def operand(self, operand: int) -> int:
        """The row of an operand."""
        if operand < 0 and operand not in self.rows:
            has_lanes = self.closure.aval(operand).shape == self.shape
            self.rows[operand] = self.series.constant(self.aval(operand), self.closure.value(operand), has_lanes)
        return self.rows[operand]

    def _term(self, i: int, h: int, x: int) -> tuple[int, int, int, float, bool]:
        """A term of the slopes of a node: rows of h, x and t x', the sign, whether zeros of h are strong."""
        inner, sign = unsigned(self.closure, h)
        row = self._at(x, i)
        derived = self.derived[row, self.arithmetic.lags[i]]
        return self._at(inner, i), row, derived, sign, self.closure.is_strong(inner)

    def _derive(self, i: int, x: int) -> None:
        """Have the row of t x' beside that of x, for a step of node i."""
        row, lag = self._at(x, i), self.arithmetic.lags[i]
        if (row, lag) not in self.derived:
            self.derived[row, lag] = self.series.row(self.aval(i), self.series.top(row))
            self.series.step(self.derived[row, lag], "given", "derive", [row], lag=lag)

    def _at(self, operand: int, i: int) -> int:
        """The row of an operand at the shape of a node, for a step of that."""
        shape = self.aval(i).shape
        aval, row = self.aval(operand), self.operand(operand)
        if aval.shape == shape or aval.size == math.prod(shape):
            return row
        lag = self.arithmetic.lags[i]
        if (operand, shape, lag) not in self.spread:
            aval = held(aval)
            found = self.series.row(intern_aval(aval.dtype, shape), self.series.top(row))
            broadcast = signature_at(prim.BROADCAST_TO, (shape,), (aval,))
            self.series.step(found, None, "each", [row], broadcast, lag=lag)
            self.spread[operand, shape, lag] = found
        return self.spread[operand, shape, lag]

    def _row(self, i: int) -> None:
        """The rows of a node with all its results."""
        name, primitive, *_ = self.arithmetic.row(i)
        for k in range(i, i + primitive.nout) if name != "result" else ():
            self.rows[k] = self.series.row(self.aval(k), self.arithmetic.tops[k])

    def _step(self, i: int) -> None:
        name, primitive, operands, params, _ = self.arithmetic.row(i)
        if name != "result":
            self._operation(i, name, primitive, operands, params)
        for beyond, rule in ((self.arithmetic.instead, "copy"), (self.arithmetic.integrands, "integral")):
            if i in beyond and self.arithmetic.tops[i]:
                self.series.step(self.rows[i], "given", rule, [self.operand(beyond[i])], lag=self.arithmetic.lags[i])
        if i in self.arithmetic.powers and self.arithmetic.tops[i]:
            rows = [self._at(self.arithmetic.powers[i], i), self._at(operands[1], i)]
            self.series.step(self.rows[i], "given", "power", rows, lag=self.arithmetic.lags[i])

    def _operation(self, i: int, name: str, primitive: Primitive, operands: list[int], params: Any) -> None:
        aval, row = self.aval(i), self.rows[i]
        value, rule, operands, more = self._how(i, name, primitive, operands, params)
        n = len(operands)
        spread = range(n) if primitive.kind == UFUNC else range(1, n) if rule == "solve" else ()
        rows = [self._at(k, i) if j in spread else self.operand(k) for j, k in enumerate(operands)]
        signature = self.closure.signature(i) if value is None else None
        if signature is not None:  # of operands as they are spread, held, or in one lane
            avals = [self.aval(k) for k in operands]
            avals = [intern_aval(x.dtype, aval.shape) if j in spread else x for j, x in enumerate(avals)]
            avals = [held(x) if primitive.kind in MOVING or name == "astype" else x for x in avals]
            if avals != list(signature.avals):
                signature = signature_at(primitive, params, avals)
        for _, x in self.arithmetic.slopes.get(i, ()):
            self._derive(i, x)
        self.steps[i] = self.series.step(row, value, rule, rows, signature, lag=self.arithmetic.lags[i], **more)

    def _how(
        self, i: int, name: str, primitive: Primitive, operands: list[int], params: Any
    ) -> tuple[str | None, str | None, list[int], dict[str, Any]]:
        """(value, rule, operands, further arguments) of the step of a node."""
        if self.aval(i).dtype not in (np.float64, np.bool_):  # which are held as they are
            return None, None, operands, {}
        constant = self.arithmetic.tops[i] == 0
        tops = [self.arithmetic.top(k) for k in operands]
        if name == "item":
            return "copy", "item", operands, {"offset": params[0]}
        if name == "rate":
            return "given", "rate", operands, {}
        if name == "start":
            return "copy", None, operands, {}
        if name in SAME or self._is_copy(name, i):
            return "copy", None if constant else "copy", operands, {}
        if name == "select":
            return name, None if constant else name, [operands[1], operands[2], operands[0]], {}
        if name in SIGNS:
            return name, None if constant else name, operands, {}
        if name == "multiply":
            operands = sorted(operands, key=self.arithmetic.top, reverse=True)
            return name, None if constant else "scale" if min(tops) == 0 else name, operands, {}
        if name == "divide":
            return name, None if constant else "shrink" if tops[1] == 0 else name, operands, {}
        if constant:
            return None, None, operands, {}
        if name in SCALED:
            return "multiply", "scale", [operands[0], self.closure.constant(SCALED[name])], {}
        if name == "reciprocal":
            return "divide", "divide", [self.closure.constant(1.0), operands[0]], {}
        if name in ("smul", "sdiv"):
            return None, name, operands, {}
        if i in self.arithmetic.instead or primitive.nout > 1 or i in self.arithmetic.integrands:
            return None, None, operands, {}
        if i in self.arithmetic.slopes:
            return None, "slopes", operands, {}
        if i in self.arithmetic.powers:
            return None, None, operands, {}
        if len(operands) == 2 and not is_linear(name, primitive) and is_multilinear(primitive, tops):
            return None, "pairs", operands, {}
        if name in ("solve", "inv"):
            product = signature_at(prim.MATMUL, None, (self.aval(operands[0]), self.aval(i)))
            return None, "solve" if name == "solve" else "invert", operands, {"product": product}
        return None, "each", operands, {}

    def _is_copy(self, name: str, i: int) -> bool:
        """Whether a node is its operand, lane by lane."""
        if name == "broadcast_to":
            return self.shape is not None
        if name == "astype":  # of truth values, which are held as floats
            return self.aval(i).dtype == np.float64 and self.aval(self.arithmetic.row(i)[2][0]).dtype == np.bool_
        return name == "stop_gradient" and not self.aval(i).ndim


def unsigned(closure: Closure, operand: int) -> tuple[int, float]:
    """An operand without minus signs before it, and its sign."""
    sign = 1.0
    while operand >= 0:
        primitive, operands, *_ = node_row(closure.graph, operand)
        if primitive.name != "negative" or closure.aval(operand).dtype != np.float64:
            break
        operand, sign = operands[0], -sign
    return operand, sign


__all__ = ["Arithmetic", "NotClosedError", "is_linear", "unsigned"]
