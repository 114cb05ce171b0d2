"""From a program to its Taylor arithmetic: rules spelled out, a step chosen for every node.

For p = φ(x), element by element, the rule with g = 1 is h in p'(t) = Σ h(p, x) x'(t), which gives the coefficients of p
order by order from those of h. What h computes is done the same way, until nothing new is asked for. By hand are sums,
products, quotients and powers; what is linear acts on each coefficient, what is bilinear on pairs of them.

References
----------
Griewank and Walther (2008), Evaluating Derivatives, chapter 13: tables 13.1 and 13.2, proposition 13.1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from hoad import primitive as prim
from hoad._core.closing import Closure
from hoad._core.primitive import CONCATENATE, GATHER, PUT, STRIDED, UFUNC, Primitive, signature_at
from hoad._core.recording import node_row
from hoad._core.series import NotClosedError, Series
from hoad._core.tape import Aval, Graph, intern_aval

MOST_NODES = 4000  # to which rules may grow a program that had fewer, before they are said not to close
LARGEST_POWER = 1 << 20  # a whole exponent beyond which powers are no products

# Operations whose result is a constant of the curve, but for jumps.
STEPS = frozenset("sign floor ceil trunc rint floor_divide spacing stop_gradient".split())
# On each coefficient by itself.
EACH = frozenset("sum assemble cumsum put".split())
SIGNS = {"add", "subtract", "negative", "square", "select", "mask"}  # whose steps have their names
SAME = frozenset("identity positive".split())
SCALED = {"degrees": 180 / np.pi, "rad2deg": 180 / np.pi, "radians": np.pi / 180, "deg2rad": np.pi / 180}
# p' = Σ h x' summed over what is reduced.
EXTREMES = frozenset(("max", "min"))


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
        self.degree = degree
        self.tops: list[int] = []  # of every node: the highest order at which it is not zero
        self.slopes: dict[int, list[tuple[int, int]]] = {}  # node: [(h, x), ...], where a rule gives them
        self.instead: dict[int, int] = {}  # node: the operand that has its coefficients beyond the value
        self._close()

    # ---- rules spelled out

    def _close(self) -> None:
        size = self.closure.size
        while len(self.tops) < self.closure.size:
            if len(self.tops) > size + MOST_NODES:
                raise NotClosedError("rules that ask for ever new operations")
            self.tops.append(self._top(len(self.tops)))

    def top(self, operand: int) -> int:
        """The highest order at which an operand is not zero."""
        return self.tops[operand] if operand >= 0 else 0

    def row(self, i: int) -> tuple[str, Primitive, list[int], Any, Aval]:
        """What a node is: name, primitive, operands, parameters, shape and dtype."""
        primitive, operands, params, aval, *_ = node_row(self.closure.graph, i)
        return primitive.name if primitive.qualified is None else "", primitive, operands, params, aval

    def _top(self, i: int) -> int:
        """The highest order of node i; notes how its coefficients are found, where that takes other nodes."""
        name, primitive, operands, _, aval = self.row(i)
        if name == "input":
            number = self.closure.inputs.index(i)
            return min(self.given[number] - 1, self.degree) if aval.inexact else 0
        tops = [self.top(k) for k in operands]
        if not any(tops) or not aval.inexact or name in STEPS:
            return 0
        if aval.dtype != np.float64:
            raise NotClosedError(f"{name} of {aval.dtype}")
        if name in ("multiply", "smul", "matmul", "correlate"):
            return min(sum(tops), self.degree)
        if name == "square":
            return min(2 * tops[0], self.degree)
        if name in SIGNS or name in SAME or name in SCALED or is_linear(name, primitive):
            return max(tops)
        if name in ("divide", "sdiv"):
            return tops[0] if tops[1] == 0 else self.degree
        if name == "solve":
            return tops[1] if tops[0] == 0 else self.degree
        if name in ("power", "float_power"):
            return self._power(i, operands[0], operands[1])
        if name in EXTREMES:
            return self._extreme(i, operands[0])
        if name not in ("reciprocal", "inv"):
            self._by_rule(i, primitive, operands)
        return self.degree

    def _by_rule(self, i: int, primitive: Primitive, operands: list[int]) -> None:
        """p' = Σ h x', with h from the rule for g = 1."""
        if not primitive.elementwise or primitive.nout > 1 or primitive.per_call or primitive.rule is None:
            raise NotClosedError(f"{primitive.name}, which is no operation on elements with a rule of its own")
        active = [self.top(k) > 0 for k in operands]
        found = self.closure.slopes(i, active)
        if found is None:
            raise NotClosedError(f"a rule of {primitive.name} that branches")
        self.slopes[i] = [(h, x) for h, x in zip(found, operands, strict=True) if h is not None and self.top(x)]

    def _power(self, i: int, x: int, y: int) -> int:
        """x**y: a product for a whole constant y; else x p' = y p x', or p' = p (y/x x' + log(x) y')."""
        emit = self.closure.emit
        exponent = self._whole(y)
        if exponent is not None:
            product = self._product(x, abs(exponent))
            self.instead[i] = product if exponent >= 0 else emit("divide", self.closure.constant(1.0), product)
            return min(exponent * self.top(x), self.degree) if exponent >= 0 else self.degree
        slopes = []
        if self.top(x):
            slopes.append((emit("multiply", y, emit("divide", i, x)), x))
        if self.top(y):
            slopes.append((emit("smul", i, emit("log", x)), y))
        self.slopes[i] = slopes
        return self.degree

    def _whole(self, y: int) -> int | None:
        """The whole number that an operand is everywhere, or None."""
        if y >= 0:
            return None
        values = np.ravel(self.closure.value(y))  # np.unique would import numpy.ma
        if not values.size or np.any(values != values[0]):
            return None
        if values[0] != np.floor(values[0]) or abs(values[0]) > LARGEST_POWER:
            return None
        return int(values[0])

    def _product(self, x: int, exponent: int) -> int:
        """x multiplied with itself, by squares."""
        if exponent == 0:
            return self.closure.constant(np.ones(self.closure.aval(x).shape)[()])
        if exponent == 1:
            return x
        half = self._product(self.closure.emit("square", x), exponent // 2)
        return self.closure.emit("multiply", half, x) if exponent % 2 else half

    def _extreme(self, i: int, x: int) -> int:
        """The largest or smallest item: beyond the value, the sum of h x with the h of its rule."""
        found = self.closure.slopes(i, [True], elementwise=False)
        assert found is not None
        assert found[0] is not None
        h = found[0]
        params = self.row(i)[3]
        self.instead[i] = self.closure.emit("sum", self.closure.emit("multiply", h, x), params=params)
        return self.top(x)

    # ---- steps

    def series(self, lanes: int = 1, have_lanes: Sequence[bool] = (), flow: str = "", first: int = 0) -> Series:
        """The steps for so many lanes.

        With a `flow` the inputs from `first` on are the integrals of the outputs. It gives the "slopes", which are the
        outputs, or those "integrals" in place of them.
        """
        return _Builder(self, lanes, have_lanes, flow, first).series


def is_linear(name: str, primitive: Primitive) -> bool:
    """Whether an operation acts on each coefficient by itself."""
    return name in EACH or name == "item" or primitive.kind in (STRIDED, CONCATENATE, GATHER, PUT)


class _Builder:
    """The steps of an arithmetic, in an order in which each finds what it needs."""

    def __init__(self, arithmetic: Arithmetic, lanes: int, have_lanes: Sequence[bool], flow: str, first: int) -> None:
        self.arithmetic = arithmetic
        self.closure = arithmetic.closure
        order = self._order()
        self.shape = None if flow or any(have_lanes) else self._common_shape(order)
        if self.shape is not None:  # items are lanes
            lanes = math.prod(self.shape)
            have_lanes = [self.closure.aval(node).shape == self.shape for node in self.closure.inputs]
        self.series = Series(arithmetic.degree, lanes)
        self.rows: dict[int, int] = {}
        self.spread: dict[tuple[int, tuple[int, ...]], int] = {}
        self.pending: list[int] = []
        for k, node in enumerate(self.closure.inputs):
            aval = self.aval(node)
            if flow and first <= k < first + len(arithmetic.outputs):
                self.rows[node] = self.series.integral(aval)
            else:
                self.rows[node] = self.series.input(aval, arithmetic.given[k], bool(have_lanes and have_lanes[k]))
        for node in order:
            self._step(node)
        for node, terms in self.arithmetic.slopes.items():
            if node in self.rows:
                self.series.slopes(self.rows[node], [self._term(node, h, x) for h, x in terms])
        for k, operand in enumerate(arithmetic.outputs):
            row = self.operand(operand)
            if flow:
                integral = self.rows[self.closure.inputs[first + k]]
                self.series.integrate(integral, row)
                row = integral if flow == "integrals" else row
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
        return (primitive.kind == UFUNC and bool(name)) or name in SAME

    def aval(self, operand: int) -> Aval:
        """Shape and dtype of an operand in one lane."""
        aval = self.closure.aval(operand)
        return intern_aval(aval.dtype, ()) if aval.shape == self.shape else aval

    def operand(self, operand: int) -> int:
        """The row of an operand."""
        if operand not in self.rows:
            has_lanes = self.closure.aval(operand).shape == self.shape
            self.rows[operand] = self.series.constant(self.aval(operand), self.closure.value(operand), has_lanes)
        return self.rows[operand]

    def _needs(self, i: int) -> list[int]:
        """The nodes whose coefficients a node needs at the same order."""
        operands = [*self.arithmetic.row(i)[2], self.arithmetic.instead.get(i, -1)]
        return [k for k in operands if k >= 0]

    def _order(self) -> list[int]:
        """The nodes that are needed, each behind those it needs."""
        order: list[int] = []
        seen = set(self.closure.inputs)
        wanted = [k for k in (*self.arithmetic.outputs, *[k for k, _ in self.arithmetic.guards]) if k >= 0]
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
                    slopes = self.arithmetic.slopes.get(node, ())
                    wanted.extend(_unsigned(self.closure, h)[0] for h, _ in slopes if h >= 0)
        return order

    def _term(self, i: int, h: int, x: int) -> tuple[int, int, float, bool]:
        """A term of the slopes of a node: rows of h and x, the sign, whether zeros of h are strong."""
        inner, sign = _unsigned(self.closure, h)
        shape = self.aval(i).shape
        return self._at(inner, shape), self._at(x, shape), sign, self.closure.is_strong(inner)

    def _at(self, operand: int, shape: tuple[int, ...]) -> int:
        """The row of an operand at a shape."""
        aval, row = self.aval(operand), self.operand(operand)
        if aval.shape == shape or aval.size == int(np.prod(shape)):
            return row
        if (operand, shape) not in self.spread:
            if aval.dtype == bool:
                aval = intern_aval(np.dtype(np.float64), aval.shape)  # as truth values are held
            found = self.series.row(intern_aval(aval.dtype, shape), self.series.top(row))
            self.series.step(found, None, "each", [row], signature_at(prim.BROADCAST_TO, (shape,), (aval,)))
            self.spread[operand, shape] = found
        return self.spread[operand, shape]

    def _step(self, i: int) -> None:
        name, primitive, operands, params, _ = self.arithmetic.row(i)
        if name == "result":
            raise NotClosedError("one of several results")
        aval = self.aval(i)
        row = self.series.row(aval, self.arithmetic.tops[i])
        self.rows[i] = row
        value, rule, operands, more = self._how(i, name, primitive, operands, params)
        elementwise = primitive.kind == UFUNC
        rows = [self._at(k, aval.shape) if elementwise else self.operand(k) for k in operands]
        signature = self.closure.signature(i) if value is None else None
        if signature is not None and self.shape is not None:
            signature = signature_at(primitive, params, [self.aval(k) for k in operands])
        self.series.step(row, value, rule, rows, signature, **more)

    def _how(
        self, i: int, name: str, primitive: Primitive, operands: list[int], params: Any
    ) -> tuple[str | None, str | None, list[int], dict[str, Any]]:
        """(value, rule, operands, further arguments) of the step of a node."""
        constant = self.arithmetic.tops[i] == 0
        tops = [self.arithmetic.top(k) for k in operands]
        if name == "item":
            return "copy", "item", operands, {"offset": params[0]}
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
        if i in self.arithmetic.instead:
            return None, "copy", operands, {"coefficients": self.operand(self.arithmetic.instead[i])}
        if i in self.arithmetic.slopes:
            return None, "slopes", operands, {}
        if name in ("matmul", "correlate"):
            return None, "each" if min(tops) == 0 else "pairs", operands, {}
        if name in ("solve", "inv"):
            return self._inverse(i, name, operands, tops)
        return None, "each", operands, {}

    def _is_copy(self, name: str, i: int) -> bool:
        """Whether a node is its operand, lane by lane."""
        if name == "broadcast_to":
            return self.shape is not None
        return name == "stop_gradient" and not self.aval(i).ndim

    def _inverse(
        self, i: int, name: str, operands: list[int], tops: list[int]
    ) -> tuple[str | None, str | None, list[int], dict[str, Any]]:
        if name == "solve" and tops[0] == 0:
            return None, "each", operands, {}
        avals = self.closure.aval(operands[0]), self.closure.aval(i)
        product = signature_at(prim.MATMUL, None, avals)
        if product.results[0].shape != avals[1].shape:
            raise NotClosedError("equations that are broadcast")
        return None, "solve" if name == "solve" else "invert", operands, {"product": product}


def _unsigned(closure: Closure, operand: int) -> tuple[int, float]:
    """An operand without minus signs before it, and its sign."""
    sign = 1.0
    while operand >= 0:
        primitive, operands, *_ = node_row(closure.graph, operand)
        if primitive.name != "negative" or closure.aval(operand).dtype != np.float64:
            break
        operand, sign = operands[0], -sign
    return operand, sign


__all__ = ["Arithmetic", "NotClosedError"]
