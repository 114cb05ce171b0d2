"""What every mode of hoad gives at a point: as it is, jitted, and by vmap among other points."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from hoad._drivers.vmap import vmap
from hoad._jit.jit import jit
from hoad.check.mode_table import MODES, Direction, Function, Mode
from hoad.check.noise import noise_of
from hoad.check.points import Along, Array, moved, quietly, typical
from hoad.errors import JitWarning, told

BESIDE = 2.0**-10  # of the size of x: how far other points are, where a replay is recorded and beside which lanes run


class Quantity(NamedTuple):
    """A derivative of a scalar function: along which of the directions, one for each order."""

    along: tuple[int, ...]

    @property
    def order(self) -> int:
        return len(self.along)


def quantities(order: int, directions: int) -> list[Quantity]:
    """Of every order the derivative along the first direction, and along two in turn where there are as many."""
    found = [Quantity((0,) * k) for k in range(order + 1)]
    if directions > 1:
        found += [Quantity(tuple(j % 2 for j in range(k))) for k in range(2, order + 1)]
    return sorted(found, key=lambda quantity: quantity.order)


@dataclass(frozen=True, eq=False)
class Way:
    """A mode, and how it was run."""

    mode: Mode
    how: str  # nothing for as it is, "jitted", or "by vmap"
    values: dict[Quantity, float]  # what it gives for each quantity that it has; nan where it raises an error
    rounding: dict[Quantity, float]  # the standard deviation of the rounding in them
    errors: dict[Quantity, str]  # in words

    @property
    def name(self) -> str:
        return f"{self.mode.name}, {self.how}" if self.how else self.mode.name


class Point:
    """A scalar function at a point, and directions through it."""

    def __init__(self, phi: Function, xs: tuple[Any, ...], directions: Sequence[Direction]) -> None:
        self.phi, self.xs, self.directions = phi, xs, directions
        self._ahead, self._behind = (self._beside(side * BESIDE) for side in (1.0, -1.0))
        self.raised: list[Exception] = []  # by modes, as they are
        self.unjitted: list[str] = []  # why jit called a function as it is

    def function(self, mode: Mode, quantity: Quantity) -> Function:
        """The quantity by a mode, as a function of x."""
        return mode.of(self.phi, [self.directions[k] for k in quantity.along])

    def along(self, f: Function, k: int, shape: tuple[int, ...] = ()) -> Along:
        """t -> f(x + t v), v the k-th direction; f gives numbers of this shape."""
        return Along(f, self.xs, dict(enumerate(self.directions[k])), "check.modes", shape)

    def noise(self, f: Function, k: int = 0, shape: tuple[int, ...] = ()) -> Array:
        """The rounding in f beside x along the k-th direction."""
        return noise_of(self.along(f, k, shape), self.xs, dict(enumerate(self.directions[k])))

    def ways(self, wanted: Sequence[Quantity]) -> list[Way]:
        """Every mode in every way."""
        found: list[Way] = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", JitWarning)
            for mode in MODES:
                own = [quantity for quantity in wanted if mode.least <= quantity.order <= mode.most]
                found += self._ways_of(mode, own) if own else []
        return found

    def _ways_of(self, mode: Mode, own: list[Quantity]) -> Iterator[Way]:
        functions = [self.function(mode, quantity) for quantity in own]

        def whole(*xs: Any) -> Any:
            return np.stack([f(*xs) for f in functions])

        one_by_one = [self._given(lambda f=f: f(*self.xs)) for f in functions]  # type: ignore[misc]
        values = np.array([value for value, _ in one_by_one])
        errors = [error for _, error in one_by_one]
        jitted = jit(whole)
        replayed = self._replayed(jitted)
        rounding = self._rounding(whole if replayed is None or replayed[1] else jitted, mode, own, values)

        def way(how: str, values: Array, errors: Sequence[str]) -> Way:
            told = {quantity: error for quantity, error in zip(own, errors, strict=True) if error}
            return Way(mode, how, dict(zip(own, values.tolist(), strict=True)), rounding, told)

        yield way("", values, errors)
        for how, given in (("jitted", replayed), ("by vmap", self._given(lambda: self._in_lanes(whole)))):
            if given is not None:
                yield way(how, np.broadcast_to(given[0], len(own)), [given[1]] * len(own))

    def _given(self, call: Callable[[], Any]) -> tuple[Any, str]:
        """What a call gives; or nan, and the error in words."""
        try:
            return np.asarray(quietly(call), np.float64), ""
        except JitWarning:
            raise
        except Exception as error:  # whatever f does to a traced value
            self.raised.append(error)
            return np.nan, told(error)

    def _replayed(self, jitted: Function) -> tuple[Any, str] | None:
        """What a program gives here that was recorded ahead; None where jit makes none."""
        with warnings.catch_warnings():
            warnings.simplefilter("error", JitWarning)
            try:
                self._given(lambda: jitted(*self._ahead))
                return self._given(lambda: jitted(*self.xs))
            except JitWarning as warning:
                self.unjitted.append(str(warning))
                return None

    def _rounding(self, whole: Function, mode: Mode, own: list[Quantity], values: Array) -> dict[Quantity, float]:
        """The noise in the mode, and no less than what the sums that it ends with add."""
        terms = np.array([mode.terms(q.order) if len(set(q.along)) > 1 else 1 for q in own])
        least = 2.0**-53 * terms * np.abs(np.nan_to_num(values, posinf=0.0, neginf=0.0))
        noise, _ = self._given(lambda: self.noise(whole, shape=(len(own),)))
        return dict(zip(own, np.fmax(np.nan_to_num(noise, posinf=0.0), least).tolist(), strict=True))

    def _beside(self, t: float) -> tuple[Any, ...]:
        """Another point, moved by t of the size of x; x itself where φ raises an error there."""
        found = tuple(moved(x, t, typical(x)) for x in self.xs)
        try:
            quietly(self.phi, *found)
        except Exception:  # whatever f does beside x
            return self.xs
        return found

    def _in_lanes(self, f: Function) -> Any:
        """The middle one of three lanes."""
        lanes = zip(self._behind, self.xs, self._ahead, strict=True)
        return vmap(f)(*(np.stack(points) for points in lanes))[1]
