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
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from hoad._core.graph.primitive import STRUCTURE, UFUNC, Primitive, signature_at
from hoad._core.graph.tape import AbstractValue, Graph, intern_aval
from hoad._core.ops.plan import contiguous_strides
from hoad._core.taylor.derivative_closure import Closure
from hoad._core.taylor.series import NotClosedError, Series
from hoad._core.taylor.taylor_codegen import build_series
from hoad._core.taylor.taylor_schedule import Ordering, is_multilinear
from hoad._core.trace.calls import apply_primitive
from hoad._program.pickling import FAMILIES, describe, find, refusal, whole_number
from hoad.errors import HoadError, NoRuleError
from hoad.rules.from_series import KernelOfAll, monomials

MOST_NODES = 4000  # by which rules may grow a program, before they are said not to close
MOST_FOR_EACH = 20  # and by so many for each node that it had
LARGEST_POWER = 1 << 20  # a whole exponent beyond which powers are not products
LONGEST_CHAIN = 20  # an exponent beyond which the derivatives of a power at 0 are not asked for one by one
MOST_LOWERED = 4  # the same, of exponents that are not known
MOST_DEGREES = 64  # whose coefficients a primitive keeps as operations
MOST_COEFFICIENTS = 1 << 16  # that a pickle may name as one operation
MOST_OPERANDS = 8  # in which a pickle may name joint ones
MOST_JOINTLY = 1 << 10  # and their degree
MOST_LAG = 3  # how deep rates of rates of ... go, before rules are said not to close

# Of the ways in which coefficients are found (`Primitive.series`): those of products, and those of the same order.
PRODUCTS = ("multiply", "strong_multiply", "strong_multiply_both")
SAME_ORDER = ("copy", "scale", "each", "item", "add", "subtract", "negative", "select", "mask")

# x' of x, along the curve.
RATE = Primitive("rate", kind=STRUCTURE, infer=lambda params, x: (x,), linear=True, series="rate")

# x where the curve begins. No `stop_gradient`: what is spelled out may be differentiated by that point.
START = Primitive("start", kind=STRUCTURE, infer=lambda params, x: (x,), linear=True, series="start")


class Arithmetic(Ordering):
    """The Taylor arithmetic of what is behind some nodes of a sealed graph."""

    def __init__(
        self,
        graph: Graph,
        inputs: list[int],  # nodes
        outputs: list[int],  # what is asked for, operands
        guards: list[tuple[int, Any]],  # (node, expected): branches that must go as they went
        given: Sequence[int],  # how many coefficients of each input are given; the others are zero
        degree: int,  # the highest order asked for
    ) -> None:
        closure = Closure(graph, [*outputs, *[node for node, _ in guards]], inputs)
        first, behind = closure.outputs[: len(outputs)], closure.outputs[len(outputs) :]
        super().__init__(closure, first, [(k, was) for k, (_, was) in zip(behind, guards, strict=True)], given, degree)
        self.lowered: dict[int, int] = {}  # exponent: how often 1 was taken from it
        self.values_only: list[int] = []  # calls, which have no series here
        self.close(self._top, (1 + MOST_FOR_EACH) * closure.size + MOST_NODES)
        self.leave_out()
        if any(self.tops[i] for i in self.values_only):
            raise NotClosedError("calls of programs")

    # ---- rules spelled out

    def _top(self, i: int, tops: list[int]) -> int:
        """The highest order of node i; notes how its coefficients are found, where that takes other nodes."""
        _, primitive, operands, params, aval = self.row(i)
        series = primitive.series
        if series is None and primitive.has_one_rule and self.takes_reals(i):
            return self.by_rule(i, tops)
        if series == "start" or (series == "constant" and not (primitive.conjugates and aval.is_complex)):
            return 0
        if series in PRODUCTS or is_multilinear(primitive, tops):
            return min(sum(tops), self.degree)
        if series == "square":
            return min(2 * tops[0], self.degree)
        if series in SAME_ORDER:
            return max(tops)
        if series in ("divide", "strong_divide"):
            return tops[0] if tops[1] == 0 else self.degree
        if series == "power":
            return self._power(i, operands[0], operands[1])
        is_complex = any(self.closure.aval(k).is_complex for k in operands)
        if series == "extreme" and not is_complex:
            return self._extreme(i, operands[0])
        if primitive.expansion is not None and not (is_complex and primitive.elementwise):
            self.instead[i] = self._expanded(primitive, operands, params)
            return self.degree
        if isinstance(primitive.kernel, KernelOfAll) and not is_complex:
            self.instead[i] = self._composed_of_all(primitive, operands, params, aval)
            return self.degree
        if primitive.kernel is not None and not any(tops[:-1]) and not is_complex:
            self.instead[i] = self._composed(primitive, operands, params, aval)
            return self.degree
        if series in ("reciprocal", "invert", "solve"):
            return self.degree
        if primitive.of_programs and primitive.nout == 1:
            self.values_only.append(i)  # what is expanded in another way asks for the value alone
            return self.degree
        if primitive.per_call or primitive.of_programs:
            raise NotClosedError(f"{primitive.name}, whose rule is not the same at all points")
        is_holomorphic = not is_complex or (primitive.kind == UFUNC and aval.is_complex and not primitive.conjugates)
        if not primitive.elementwise or primitive.nout > 1 or primitive.rule is None or not is_holomorphic:
            self._integrate(i, primitive, operands)
            return self.degree if i in self.integrands else 0
        return self.by_rule(i, tops)

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
            slopes.append((emit("strong_multiply", y, emit("power", x, one_lower)), x))
        elif self.top(x):
            slopes.append((emit("strong_multiply" if 0.0 in exponents else "multiply", y, emit("divide", i, x)), x))
        if self.top(y):
            slopes.append((emit("strong_multiply", i, emit("log", x)), y))
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

    def _composed(self, primitive: Primitive, operands: list[int], params: Any, aval: AbstractValue) -> int:
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

    def _composed_of_all(self, primitive: Primitive, operands: list[int], params: Any, aval: AbstractValue) -> int:
        """The same in all operands that move, nested in the order of these."""
        emit = self.closure.emit
        last = len(operands) - 1
        moving = tuple(k for k in range(last + 1) if self.top(operands[k])) or (last,)
        if len(monomials(len(moving), self.degree)) > MOST_NODES:
            raise NotClosedError(f"{primitive.name}, which has too many coefficients in all of its operands")
        values = [self._start(x) if k in moving else x for k, x in enumerate(operands)]
        us = [emit("subtract", operands[k], values[k]) for k in moving]
        made = _coefficients_in(primitive, self.degree, moving, params is None)
        c, places = self.closure.record(made, params, *values), monomials(len(moving), self.degree)

        def summed(exponents: tuple[int, ...], left: int) -> int:
            if len(exponents) == len(moving):
                return self._coefficient(c, places[exponents], aval)
            found = summed((*exponents, left), 0)
            for k in range(left - 1, -1, -1):
                found = emit("add", summed((*exponents, k), left - k), emit("multiply", us[len(exponents)], found))
            return found

        return summed((), self.degree)

    def _coefficient(self, c: int, k: int, aval: AbstractValue) -> int:
        """Item k of an array of coefficients."""
        params = (aval.shape, tuple(contiguous_strides(aval.shape)), k * aval.size)
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

    def series(self, lanes: int = 1, have_lanes: Sequence[bool] = (), is_flow: bool = False, first: int = 0) -> Series:
        """The steps for so many lanes.

        In a flow the inputs from `first` on are the integrals of the outputs, and given in place of them.
        """
        if not self.is_real:
            raise NotClosedError("rows of numbers that are not float64")
        return build_series(self, lanes, have_lanes, is_flow, first)


def _coefficients_of(primitive: Primitive, degree: int, is_bare: bool) -> Primitive:
    """The coefficients c₀, ..., of φ(x + t) that a kernel gives, as an operation, of which cₖ' = (k + 1) cₖ₊₁.

    One that `is_bare` has no parameters. The primitive keeps those of the latest degrees.
    """
    known: Primitive | None = primitive.derived.get((degree, is_bare))
    if known is not None:
        return known

    def infer(params: Any, *operands: AbstractValue) -> tuple[AbstractValue, ...]:
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
    made = Primitive(name, function=run, infer=infer, nin=-1, param_names=names, lasting=False)
    made.rule, made.kernel = rule, kernel
    made.form = "coefficients", lambda: (describe(primitive), degree, is_bare)
    if len(primitive.derived) >= MOST_DEGREES:
        primitive.derived.clear()  # programs hold those that they use
    primitive.derived[degree, is_bare] = made
    return made


def _coefficients_in(primitive: Primitive, degree: int, moving: tuple[int, ...], is_bare: bool) -> Primitive:
    """The coefficients that a kernel of all operands gives, as an operation; its derivatives are further ones.

    So they are by operands that do not move too.
    """
    known: Primitive | None = primitive.derived.get((degree, moving, is_bare))
    if known is not None:
        return known
    assert isinstance(primitive.kernel, KernelOfAll)
    of_all, places = primitive.kernel.of_all, monomials(len(moving), degree)

    def infer(params: Any, *operands: AbstractValue) -> tuple[AbstractValue, ...]:
        shape = signature_at(primitive, params, operands).results[0].shape
        return (intern_aval(np.dtype(np.float64), (len(places), *shape)),)

    def run(params: Any, *values: Any) -> Any:
        found = of_all(*values, degree, moving, **primitive.keywords(params))
        return np.stack(np.broadcast_arrays(*found, *values)[: len(places)])

    def rule(g: Any, p: Any, *operands: Any, **keywords: Any) -> tuple[Any, ...]:
        params = None if is_bare else tuple(keywords.items() if names is None else [keywords[name] for name in names])

        def adjoint(place: int) -> Any:
            wider = tuple(sorted({*moving, place}))
            next_places = monomials(len(wider), degree + 1)
            raised = [
                tuple(dict(zip(moving, exponents, strict=True)).get(k, 0) + (k == place) for k in wider)
                for exponents in places
            ]
            further = apply_primitive(_coefficients_in(primitive, degree + 1, wider, is_bare), params, *operands)
            orders = np.array([float(exponents[wider.index(place)]) for exponents in raised])
            slopes = further[np.array([next_places[exponents] for exponents in raised])]
            slopes = np.reshape(orders, (-1, *[1] * (np.ndim(p) - 1))) * slopes
            return _unbroadcast(np.sum(g * slopes, axis=0), operands[place])

        return tuple(map(adjoint, range(len(operands))))

    def of_coefficients(*arguments: Any, **keywords: Any) -> list[Any]:
        *operands, further, others = arguments
        wider = tuple(sorted({*moving, *others}))
        found = np.broadcast_arrays(*of_all(*operands, degree + further, wider, **keywords), *operands)
        all_places = monomials(len(wider), degree + further)

        def of_one(beyond: tuple[int, ...]) -> Any:
            added = dict(zip(others, beyond, strict=True))
            rows = []
            for exponents in places:
                own = dict(zip(moving, exponents, strict=True))
                total = tuple(own.get(k, 0) + added.get(k, 0) for k in wider)
                weight = math.prod(math.comb(n, added.get(k, 0)) for k, n in zip(wider, total, strict=True))
                rows.append(weight * found[all_places[total]])
            return np.stack(rows)

        return [of_one(beyond) for beyond in monomials(len(others), further)]

    name, names = f"joint coefficients of {primitive.name}", primitive.param_names
    made = Primitive(name, function=run, infer=infer, nin=-1, param_names=names, lasting=False)
    made.rule, made.kernel = rule, KernelOfAll(of_coefficients)
    made.form = "joint coefficients", lambda: (describe(primitive), degree, moving, is_bare)
    if len(primitive.derived) >= MOST_DEGREES:
        primitive.derived.clear()  # programs hold those that they use
    primitive.derived[degree, moving, is_bare] = made
    return made


def _joint_found(form: Any) -> Primitive:
    """The operation that a pickle names by its form."""
    description, degree, moving, is_bare = form
    primitive = find(description)
    if not isinstance(primitive.kernel, KernelOfAll) or type(is_bare) is not bool or type(moving) is not tuple:
        raise refusal(f"{primitive.name} has no joint coefficients")
    places = tuple(whole_number(k, 0, MOST_OPERANDS, "the place of an operand") for k in moving)
    degree = whole_number(degree, 0, MOST_JOINTLY, "a degree")
    return _coefficients_in(primitive, degree, tuple(sorted(set(places))), is_bare)


def _found(form: Any) -> Primitive:
    """The operation that a pickle names by its form."""
    description, degree, is_bare = form
    primitive = find(description)
    if primitive.kernel is None or type(is_bare) is not bool:
        raise refusal(f"{primitive.name} has no coefficients")
    return _coefficients_of(primitive, whole_number(degree, 0, MOST_COEFFICIENTS, "a degree"), is_bare)


FAMILIES["coefficients"] = _found
FAMILIES["joint coefficients"] = _joint_found


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
