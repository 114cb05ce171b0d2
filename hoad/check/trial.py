"""A rule tried at one place: against differences, linear in g, its modes against each other, order by order."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from hoad._drivers.gradient import grad
from hoad._drivers.products import vjp
from hoad._jit.jit import jit
from hoad.check.differences import Difference, difference
from hoad.check.mode_table import forward, swept
from hoad.check.noise import noise_of
from hoad.check.points import Along, Array, called, check_arguments, drawn, epsilon, numbers, quietly, typical
from hoad.check.report import RIGHT, UNDECIDED, WRONG, digits_between, index_text, number, short, value_text
from hoad.check.rule_report import SPECIAL, RuleFinding
from hoad.errors import CheckError, JitWarning, RuleError, ShapeError, told

# Relative errors that are allowed, in double and in single precision: between modes, and to a difference.
SAME = (1e-10, 1e-4)
NEAR = (1e-6, 1e-3)

MOST_DIGITS = 15.9

ADJOINT = "adjoint"
LINEAR = "linear in g"
OTHER_PLACE = "a kink, a jump or noise; try other operands"


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


def _like(x: Any, value: Any) -> Any:
    """A value in the type of x."""
    return np.asarray(value, x.dtype) if isinstance(x, np.ndarray) else type(x)(value)


class Trial:
    """A rule at one example: w·f(x) as a function of the float operands, for random weights w."""

    def __init__(
        self, name: str, f: Callable[..., Any], operands: tuple[Any, ...], seed: int, finite: bool = True
    ) -> None:
        self.wrt = [k for k, x in enumerate(operands) if np.asarray(x).dtype.kind in "fc"]
        check_arguments("check.rule", operands, self.wrt or [0], finite)
        self.operands = operands
        self.at = _example_text(operands)
        self.xs = tuple(operands[k] for k in self.wrt)
        self.rng = np.random.default_rng(seed)
        self.f = f
        values = [numbers(value, "check.rule") for value in parts(called("check.rule", name, f, operands))]
        single = any(np.asarray(x).dtype == np.float32 for x in self.xs)
        self.same, self.near = SAME[single], NEAR[single]
        # One number of one number is shown as its author thinks of it, without weights.
        self.plain = len(self.xs) == len(values) == 1 and not np.ndim(self.xs[0]) and not values[0].ndim
        self.weights = [1.0] if self.plain else [self._drawn(value) for value in values]

    def _drawn(self, like: Any) -> Any:
        return drawn(self.rng, np.ones(np.shape(like)))

    def direction(self) -> tuple[Any, ...]:
        """Random, in proportion to the operands; 1 for a single number."""
        if self.plain:
            return (_like(self.xs[0], 1.0),)
        return tuple(_like(x, self._drawn(x) * typical(x)) for x in self.xs)

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

    def found(self, check: str, verdict: str, digits: float = math.nan, reason: str = "") -> RuleFinding:
        return RuleFinding(check, self.at, verdict, min(digits, MOST_DIGITS), reason)

    def findings(self, orders: int) -> Iterator[RuleFinding]:
        """All checks at a regular point; what a sweep itself refuses ends them."""
        if not all(np.all(np.isfinite(numbers(v, "check.rule"))) for v in quietly(self.values, *self.xs)):
            raise ShapeError(f"check.rule needs points where the primitive is finite; at {self.at} it is not.")
        try:
            yield from self._checks(orders)
        except RuleError as error:
            check = LINEAR if "linear" in str(error) else "shape" if "shape" in str(error) else "the rule itself"
            yield self.found(check, WRONG, reason=str(error))

    def _checks(self, orders: int) -> Iterator[RuleFinding]:
        gradients = quietly(grad(self.phi, argnums=tuple(range(len(self.xs)))), *self.xs)
        yield self._linear()
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
            lower = forward(lower, directions[order - 1])

    def _linear(self) -> RuleFinding:
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
        with np.errstate(all="ignore"):
            size = np.max(2 * abs(apart[0]) + 3 * abs(apart[1]), initial=0.0) or 1.0
            error = float(np.max(abs(sums - (2 * apart[0] - 3 * apart[1])), initial=0.0) / size)
        digits = 0.0 if math.isnan(error) else -math.log10(max(error, 1e-16))
        if error <= self.same:
            return self.found(LINEAR, RIGHT, digits)
        off = "is not finite" if math.isnan(error) else f"is off by {error:.1e} of its size"
        return self.found(LINEAR, WRONG, digits, f"2 g₁ − 3 g₂ {off}")

    def _adjoint(self, k: int, gradient: Any) -> RuleFinding:
        """Every entry of the adjoint of an operand, against differences."""
        x = self.xs[k]
        name = f"{ADJOINT} {self.wrt[k]}"
        own = numbers(gradient, "check.rule")
        if own.shape != np.shape(x):
            return self.found(name, WRONG, reason=f"it has shape {own.shape}, but the operand has {np.shape(x)}")
        still = {k: typical(x)}
        noise = noise_of(Along(self.phi, self.xs, still, "check.rule"), self.xs, still)
        sizes = np.broadcast_to(typical(x), np.shape(x))
        # What rounding leaves of an entry that should be 0, beside the others.
        finite = np.where(np.isfinite(own), own, 0.0)
        rounding = 64 * epsilon(x) * float(np.max(abs(finite) * sizes, initial=0.0))
        worst, wrong_at, doubtful = math.inf, "", 0
        for index in np.ndindex(np.shape(x)):
            unit = np.zeros(np.shape(x))
            unit[index] = 1.0
            phi = Along(self.phi, self.xs, {k: unit if np.ndim(x) else 1.0}, "check.rule")
            width = float(sizes[index])
            d = difference(phi, noise, [width / 8, 0.125, width * 2.0**-16])
            verdict, digits = self._held(float(own[index]), d, slack=rounding / width)
            if verdict == WRONG and _is_excused(float(own[index]), phi, noise, width):
                verdict, digits = UNDECIDED, math.inf
            doubtful += verdict == UNDECIDED
            if verdict == WRONG and digits <= worst:
                wrong_at = f"{_place(index)}the rule gives {_against(float(own[index]), d, digits)}"
            worst = min(worst, digits)
        if wrong_at:
            return self.found(name, WRONG, worst, wrong_at)
        if doubtful:
            where = f" in {doubtful} of {own.size} entries" if own.ndim else ""
            return self.found(name, UNDECIDED, reason=f"differences cannot tell{where}: {OTHER_PLACE}")
        return self.found(name, RIGHT, worst)

    def _held(self, own: float, d: Difference, scale: float = 0.0, slack: float = 0.0) -> tuple[str, float]:
        """The verdict of a difference, beside a size at which nothing is left, and the digits that agree."""
        value, error = float(d.value), float(d.error)
        if not d.trusted(np.asarray(own)) and not (error <= 1e-8 * scale and d.smooth):
            return UNDECIDED, math.inf
        if not math.isfinite(own):
            return WRONG, 0.0
        size = max(abs(own), abs(value))
        slack = max(slack, 4 * error + 1e-12 * scale)
        if abs(own - value) > slack + self.near * size:
            return WRONG, float(digits_between(own, value))
        return RIGHT, math.inf if size <= slack else float(digits_between(own, value))

    def _by_modes(self, order: int, directions: list[tuple[Any, ...]]) -> dict[str, float]:
        """The derivative along the directions, by every mode."""
        found = {}
        for word in _words(order):
            found[word] = float(quietly(swept(self.phi, word, directions[:order]), *self.xs))
        return found

    def _agreeing(self, check: str, by_mode: dict[str, float]) -> RuleFinding:
        """All modes give the same."""
        (first, reference), *rest = by_mode.items()
        scale = max(abs(reference), self._scale(), 1e-300)
        for word, value in rest:
            same = value == reference or (math.isnan(value) and math.isnan(reference))
            if not same and not abs(value - reference) <= self.same * scale:
                reason = f"{first} gives {_shown(reference)}, {word} gives {_shown(value)}"
                return self.found(check, WRONG, float(digits_between(value, reference)), reason)
        if all(abs(value) <= 1e-12 * scale for value in by_mode.values()):
            return self.found(check, RIGHT, MOST_DIGITS)
        return self.found(check, RIGHT, min(float(digits_between(value, reference)) for _, value in rest))

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
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", JitWarning)  # a rule may be run at each of the hundred places
            phi = Along(jit(lower), self.xs, moving, "check.rule")
            noise = noise_of(phi, self.xs, moving)
            d = difference(phi, noise, [0.125, 2.0**-8, 2.0**-16])
        own = by_mode["f" * order]
        verdict, digits = self._held(own, d, self._scale())
        if verdict == WRONG and not _is_excused(own, phi, noise, 1.0):
            return self.found(check, WRONG, digits, f"the rule gives {_against(own, d, digits)}")
        if verdict != RIGHT:
            return self.found(check, UNDECIDED, reason=f"differences cannot tell: {OTHER_PLACE}")
        return self.found(check, RIGHT, min(digits, agreeing.digits))

    def special(self, orders: int) -> RuleFinding:
        """All modes at a singular point, and differences where they can tell."""
        directions = [self.direction() for _ in range(orders)]
        told = []
        for order in range(1, orders + 1):
            try:
                by_mode = self._by_modes(order, directions)
            except RuleError as error:
                return self.found(SPECIAL, WRONG, reason=str(error))
            agreeing = self._agreeing(f"{SPECIAL}, order {order}", by_mode)
            if not agreeing.passed:
                return agreeing
            told.append(next(iter(by_mode.values())))
        verdict, digits = UNDECIDED, math.nan
        if all(np.all(np.isfinite(x)) for x in self.xs):
            moving = dict(enumerate(directions[0]))
            phi = Along(self.phi, self.xs, moving, "check.rule")
            d = difference(phi, noise_of(phi, self.xs, moving), [0.125, 2.0**-16])
            verdict, digits = self._held(told[0], d)
            if verdict == WRONG:
                return self.found(SPECIAL, WRONG, digits, f"the rule gives {_against(told[0], d, digits)}")
        what = "derivatives" if self.plain else "derivatives along random directions"
        why = "; differences find none there" if verdict == UNDECIDED else ""
        digits = math.nan if verdict == UNDECIDED else digits
        return self.found(SPECIAL, RIGHT, digits, f"{what}: {', '.join(map(_shown, told))}{why}")


def tried_at_special(
    name: str, f: Callable[..., Any], operands: tuple[Any, ...], seed: int, orders: int
) -> RuleFinding:
    """A rule at a singular point, where the primitive itself may have no value."""
    try:
        trial = Trial(name, f, operands, seed, finite=False)
    except CheckError as error:
        reason = f"nothing can be tried where {name} raises {told(error.__cause__ or error)}"
        return RuleFinding(SPECIAL, _example_text(operands), UNDECIDED, math.nan, reason)
    return trial.special(orders)


def _is_excused(own: float, phi: Callable[[float], Array], noise: Array, width: float) -> bool:
    """Whether tiny steps alone cannot exclude a value: over larger ones the function may be another, as at a pole."""
    d = difference(phi, noise, [2.0**-24 * width])
    return bool(not np.isfinite(d.error) or abs(own - d.value) <= 4 * d.error)


def _place(index: tuple[int, ...]) -> str:
    return f"entry {index_text(index)}: " if index else ""


def _against(own: float, d: Difference, digits: float) -> str:
    by = f"differences give {number(float(d.value), 10)} ± {short(float(d.error))} (trustworthy)"
    return f"{_shown(own)}, {by}; {digits:.1f} digits agree"


def _shown(value: float) -> str:
    return number(value, 10) or "nan"
