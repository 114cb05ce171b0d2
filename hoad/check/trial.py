"""A rule tried at one place: against differences, linear in g, its modes against each other, order by order."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from hoad.check.differences import Difference, difference
from hoad.check.noise import noise_of
from hoad.check.points import Along, Array, check_arguments, epsilon, numbers, quietly, typical
from hoad.check.report import digits_between, index_text, number, short, value_text
from hoad.check.rule_report import SPECIAL, RuleFinding
from hoad.drivers.first import grad, jvp, vjp
from hoad.errors import RuleError, ShapeError

# Relative errors that are allowed, in double and in single precision: between modes, and to a difference.
SAME = (1e-10, 1e-4)
NEAR = (1e-6, 1e-3)

ADJOINT = "adjoint"
LINEAR = "linear in g"


def _example_text(operands: tuple[Any, ...]) -> str:
    """Operands, short: of arrays with more than three items, the shape."""
    texts = [value_text(x) if np.size(x) <= 3 else f"shape {np.shape(x)}" for x in operands]
    return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"


def parts(result: Any) -> tuple[Any, ...]:
    """The results of a primitive that may have several."""
    return tuple(result) if isinstance(result, (tuple, list)) else (result,)


# ---- modes ----------------------------------------------------------------------------------------------------------


def _words(order: int) -> list[str]:
    """The modes of an order, a letter a sweep, f forward and r reverse: both pure ones, and both that alternate."""
    return list(dict.fromkeys(["f" * order, "r" * order, ("fr" * order)[:order], ("rf" * order)[:order]]))


def _forward(phi: Callable[..., Any], direction: tuple[Any, ...]) -> Callable[..., Any]:
    return lambda *xs: jvp(phi, xs, direction)[1]


def _reverse(phi: Callable[..., Any], direction: tuple[Any, ...]) -> Callable[..., Any]:
    def contracted(*xs: Any) -> Any:
        gradients = grad(phi, argnums=tuple(range(len(xs))))(*xs)
        return sum(np.sum(g * v) for g, v in zip(gradients, direction, strict=True))

    return contracted


class Trial:
    """A rule at one example: w·f(x) as a function of the float operands, for random weights w."""

    def __init__(self, f: Callable[..., Any], operands: tuple[Any, ...], seed: int, finite: bool = True) -> None:
        self.wrt = [k for k, x in enumerate(operands) if np.asarray(x).dtype.kind == "f"]
        check_arguments("check.rule", operands, self.wrt or [0], finite)
        self.operands = operands
        self.at = _example_text(operands)
        self.xs = tuple(operands[k] for k in self.wrt)
        self.rng = np.random.default_rng(seed)
        self.f = f
        values = [numbers(value, "check.rule") for value in parts(quietly(f, *operands))]
        single = any(np.asarray(x).dtype == np.float32 for x in self.xs)
        self.same, self.near = SAME[single], NEAR[single]
        # One number of one number is shown as its author thinks of it, without weights.
        self.plain = len(self.xs) == len(values) == 1 and not np.ndim(self.xs[0]) and not values[0].ndim
        self.weights = [1.0] if self.plain else [self._drawn(value) for value in values]

    def _drawn(self, like: Any) -> Any:
        drawn = self.rng.uniform(0.5, 1.0, np.shape(like)) * self.rng.choice([-1.0, 1.0], np.shape(like))
        return drawn if np.ndim(like) else float(drawn)

    def direction(self) -> tuple[Any, ...]:
        """Random, in proportion to the operands; 1 for a single number."""
        if self.plain:
            return (type(self.xs[0])(1.0),)
        drawn = []
        for x in self.xs:
            v = self._drawn(x) * typical(x)
            drawn.append(v.astype(np.asarray(x).dtype) if np.ndim(x) else type(x)(v))
        return tuple(drawn)

    def whole(self, xs: tuple[Any, ...]) -> tuple[Any, ...]:
        """All operands, with these for the floats among them."""
        at = list(self.operands)
        for k, x in zip(self.wrt, xs, strict=True):
            at[k] = x
        return tuple(at)

    def values(self, *xs: Any) -> tuple[Any, ...]:
        return parts(self.f(*self.whole(xs)))

    def phi(self, *xs: Any) -> Any:
        """w·f, a scalar."""
        return sum(np.sum(w * value) for w, value in zip(self.weights, self.values(*xs), strict=True))

    # ---- findings

    def found(self, check: str, passed: bool, digits: float = math.nan, reason: str = "") -> RuleFinding:
        return RuleFinding(check, self.at, passed, digits, reason)

    def findings(self, orders: int) -> Iterator[RuleFinding]:
        """All checks at a regular point; what a sweep itself refuses ends them."""
        if not all(np.all(np.isfinite(numbers(v, "check.rule"))) for v in quietly(self.values, *self.xs)):
            raise ShapeError(f"check.rule needs points where the primitive is finite; at {self.at} it is not.")
        try:
            gradients = quietly(grad(self.phi, argnums=tuple(range(len(self.xs)))), *self.xs)
            yield from self._linear()
        except RuleError as error:
            check = LINEAR if "linear" in str(error) else "shape" if "shape" in str(error) else "the rule itself"
            yield self.found(check, False, reason=str(error))
            return
        for k, gradient in enumerate(gradients):
            yield self._adjoint(k, gradient)
        lower: Callable[..., Any] = self.phi
        directions = [self.direction() for _ in range(orders)]
        for order in range(1, orders + 1):
            by_mode = self._by_modes(order, directions)
            if order == 1:
                yield self._agreeing("forward = reverse", by_mode)
            else:
                yield self._order(order, by_mode, lower, directions[order - 1])
            lower = _forward(lower, directions[order - 1])

    def _linear(self) -> Iterator[RuleFinding]:
        """The pullback of a sum is the sum of pullbacks."""
        results = self.values(*self.xs)
        a, b = ([self._drawn(value) for value in results] for _ in range(2))

        def pulled(weights: list[Any]) -> Array:
            contracted = vjp(
                lambda *xs: sum(np.sum(w * v) for w, v in zip(weights, self.values(*xs), strict=True)), *self.xs
            )
            return np.concatenate([np.ravel(part) for part in contracted[1](1.0)]).astype(np.float64)

        sums = quietly(pulled, [2 * x - 3 * y for x, y in zip(a, b, strict=True)])
        apart = [quietly(pulled, weights) for weights in (a, b)]
        size = np.max(2 * abs(apart[0]) + 3 * abs(apart[1]), initial=0.0) or 1.0
        error = float(np.max(abs(sums - (2 * apart[0] - 3 * apart[1])), initial=0.0)) / size
        digits = min(15.9, -math.log10(max(error, 1e-16)))
        passed = bool(error <= self.same)
        yield self.found(LINEAR, passed, digits, "" if passed else f"2 g₁ − 3 g₂ is off by {error:.1e} of its size")

    def _adjoint(self, k: int, gradient: Any) -> RuleFinding:
        """Every entry of the adjoint of an operand, against differences."""
        x = self.xs[k]
        name = f"{ADJOINT} {self.wrt[k]}"
        own = numbers(gradient, "check.rule")
        if own.shape != np.shape(x):
            return self.found(name, False, reason=f"it has shape {own.shape}, but the operand has {np.shape(x)}")
        still = {k: typical(x)}
        noise = noise_of(Along(self.phi, self.xs, still, "check.rule"), self.xs, still)
        sizes = np.broadcast_to(typical(x), np.shape(x))
        # What rounding leaves of an entry that should be 0, beside the others.
        rounding = 64 * epsilon(x) * float(np.max(abs(np.nan_to_num(own)) * sizes, initial=0.0))
        worst, reason, doubtful = 16.0, "", 0
        for index in np.ndindex(np.shape(x)):
            unit = np.zeros(np.shape(x))
            unit[index] = 1.0
            phi = Along(self.phi, self.xs, {k: unit if np.ndim(x) else 1.0}, "check.rule")
            d = difference(phi, noise, [float(sizes[index]) / 8, 0.125, float(sizes[index]) * 2.0**-16])
            width = float(sizes[index])
            digits, wrong, trusted = self._held(float(own[index]), d, slack=rounding / width)
            if wrong and _is_excused(float(own[index]), phi, noise, width):
                digits, wrong, trusted = 16.0, False, False
            doubtful += not trusted
            if wrong and digits <= worst:
                reason = f"{_place(index)}the rule gives {_against(float(own[index]), d, digits)}"
            worst = min(worst, digits)
        if reason:
            return self.found(name, False, worst, reason)
        if doubtful:
            reason = f"differences cannot tell in {doubtful} of {own.size} entries: a kink or noise; try other operands"
            return self.found(name, False, worst, reason)
        return self.found(name, True, min(worst, 15.9))

    def _held(self, own: float, d: Difference, scale: float = 0.0, slack: float = 0.0) -> tuple[float, bool, bool]:
        """Digits, whether it is wrong, and whether the difference can judge, beside a size at which nothing is left."""
        value, error = float(d.value), float(d.error)
        trusted = bool(d.trusted(np.asarray(own))) or (error <= 1e-8 * scale and bool(d.smooth))
        if not trusted:
            return 16.0, False, False
        size = max(abs(own), abs(value))
        slack = max(slack, 4 * error + 1e-12 * scale)
        wrong = not abs(own - value) <= slack + self.near * size
        if not wrong and size <= slack:
            return 16.0, False, True
        return float(digits_between(own, value)), wrong, True

    def _by_modes(self, order: int, directions: list[tuple[Any, ...]]) -> dict[str, float]:
        """The derivative along the directions, by every mode."""
        found = {}
        for word in _words(order):
            phi: Callable[..., Any] = self.phi
            for letter, direction in zip(word, directions, strict=False):
                phi = _forward(phi, direction) if letter == "f" else _reverse(phi, direction)
            found[word] = float(quietly(phi, *self.xs))
        return found

    def _agreeing(self, check: str, by_mode: dict[str, float]) -> RuleFinding:
        """All modes give the same."""
        reference, *rest = by_mode.values()
        scale = max(abs(reference), self._scale(), 1e-300)
        for word, value in list(by_mode.items())[1:]:
            same = value == reference or (math.isnan(value) and math.isnan(reference))
            if not same and not abs(value - reference) <= self.same * scale:
                first = next(iter(by_mode))
                reason = f"{first} gives {number(reference, 10)}, {word} gives {number(value, 10)}"
                return self.found(check, False, float(digits_between(value, reference)), reason)
        if all(abs(value) <= 1e-12 * scale for value in by_mode.values()):
            return self.found(check, True, 15.9)
        digits = min((float(digits_between(value, reference)) for value in rest), default=15.9)
        return self.found(check, True, min(digits, 15.9))

    def _scale(self) -> float:
        """The size of w·f, beside which a derivative along directions of the size of x may vanish."""
        values = [numbers(value, "check.rule") for value in quietly(self.values, *self.xs)]
        return sum(float(np.sum(abs(w * v))) for w, v in zip(self.weights, values, strict=True))

    def _order(
        self, order: int, by_mode: dict[str, float], lower: Callable[..., Any], direction: tuple[Any, ...]
    ) -> RuleFinding:
        """An order against the other modes, and against differences of the order below."""
        check = f"order {order}"
        agreeing = self._agreeing(check, by_mode)
        if not agreeing.passed:
            return agreeing
        moving = dict(enumerate(direction))
        phi = Along(lower, self.xs, moving, "check.rule")
        noise = noise_of(phi, self.xs, moving)
        d = difference(phi, noise, [0.125, 2.0**-8, 2.0**-16])
        own = by_mode["f" * order]
        digits, wrong, trusted = self._held(own, d, self._scale())
        if wrong and _is_excused(own, phi, noise, 1.0):
            wrong, trusted = False, False
        if wrong:
            reason = f"the rule gives {_against(own, d, digits)}"
            return self.found(check, False, digits, reason)
        if not trusted:
            return self.found(check, False, math.nan, "differences cannot tell: a kink or noise; try other operands")
        return self.found(check, True, min(digits, agreeing.digits))

    def special(self, orders: int) -> Iterator[RuleFinding]:
        """All modes at a singular point, and differences where they can tell."""
        check = SPECIAL
        directions = [self.direction() for _ in range(orders)]
        told = []
        for order in range(1, orders + 1):
            try:
                by_mode = self._by_modes(order, directions)
            except RuleError as error:
                yield self.found(check, False, reason=str(error))
                return
            agreeing = self._agreeing(f"{check}, order {order}", by_mode)
            if not agreeing.passed:
                yield agreeing
                return
            told.append(next(iter(by_mode.values())))
        digits, wrong, trusted = math.nan, False, False
        if all(np.all(np.isfinite(x)) for x in self.xs):
            moving = dict(enumerate(directions[0]))
            phi = Along(self.phi, self.xs, moving, "check.rule")
            with np.errstate(all="ignore"):
                d = difference(phi, noise_of(phi, self.xs, moving), [0.125, 2.0**-16])
            digits, wrong, trusted = self._held(told[0], d)
        if trusted and (wrong or math.isnan(told[0])):
            yield self.found(check, False, digits, f"the rule gives {_against(told[0], d, digits)}")
            return
        values = ", ".join(number(value) or "nan" for value in told)
        why = "" if trusted else "; differences find none there"
        what = "derivatives" if self.plain else "derivatives along random directions"
        yield self.found(check, True, min(digits, 15.9) if trusted else math.nan, f"{what}: {values}{why}")


def _is_excused(own: float, phi: Callable[[float], Array], noise: Array, width: float) -> bool:
    """Whether tiny steps alone cannot exclude a value: over larger ones the function may be another, as at a pole."""
    d = difference(phi, noise, [2.0**-24 * width])
    return bool(not np.isfinite(d.error) or abs(own - d.value) <= 4 * d.error)


def _place(index: tuple[int, ...]) -> str:
    return f"entry {index_text(index)}: " if index else ""


def _against(own: float, d: Difference, digits: float) -> str:
    by = f"differences give {number(float(d.value), 10)} ± {short(float(d.error))} (trustworthy)"
    return f"{number(own, 10) or 'nan'}, {by}; {digits:.1f} digits agree"


__all__ = ["Trial", "parts"]
