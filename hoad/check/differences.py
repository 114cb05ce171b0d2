"""Central differences, extrapolated, with an estimate of their error: what derivatives are held against."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from hoad.check.points import Array

LEVELS = 16  # halvings of the step, at most
ENOUGH = 1e-11  # relative error at which to stop
TRUSTED = 1e-3  # relative error up to which a difference can judge a derivative
SMALLEST = float(np.finfo(np.float64).smallest_subnormal)
SMALL = (2.0**-20, 2.0**-31, 2.0**-41)  # of the first step: those that are looked at last
LEVEL = 5  # halvings over which φ(h) − φ(−h) stays as it is, at a jump
EVEN = 100.0  # times its value at 0, a function that is not much larger over a step
STRAIGHT = 0.85  # how much of φ(h) − 2φ(0) + φ(−h), over h, is left when h is halved, at a kink
STEEPEST = 1.95  # how much it can grow: at the root of |t|; twice as much shows a pole beside 0


@dataclass(frozen=True, eq=False)
class Difference:
    """The derivative of a function of one number at 0, entry by entry of its result."""

    value: Array  # extrapolated; nan where the function is not finite on both sides
    error: Array  # an estimate of its error, with what rounding adds; inf where there is none
    kink: Array  # by how much the slope on the right exceeds that on the left; 0 where there is no kink
    jump: Array  # by how much the function on the right exceeds that on the left; 0 where there is no jump
    floor: Array  # an error that is as good as none for a function of this size that changes over steps of this width
    even: NDArray[np.bool_]  # whether it is about as large over these steps as it is at 0
    near: Array  # the value by steps no wider than the first, which may be hidden by rounding
    near_error: Array

    @property
    def smooth(self) -> NDArray[np.bool_]:
        """Where there is neither a kink nor a jump."""
        return np.asarray((self.kink == 0) & (self.jump == 0))

    def at(self, index: tuple[int, ...]) -> Difference:
        """Of one entry."""
        return Difference(**{field.name: np.asarray(getattr(self, field.name)[index]) for field in fields(self)})

    def resolved(self, claimed: Array) -> NDArray[np.bool_]:
        """Where it shows some digits of the value, or of what was claimed."""
        size = np.maximum(abs(self.value), abs(np.nan_to_num(claimed, posinf=0.0, neginf=0.0)))
        return np.asarray((self.error <= TRUSTED * size) & np.isfinite(self.value) & self.smooth)

    def trusted(self, claimed: Array) -> NDArray[np.bool_]:
        """Where it can judge: it shows some digits, or that there is as good as none."""
        small = (self.error <= self.floor) & np.isfinite(self.value) & self.smooth
        return np.asarray(small | self.resolved(claimed))

    def allows(self, claimed: Array) -> NDArray[np.bool_]:
        """Where small steps alone cannot exclude this value: over large ones the function may be another."""
        return np.asarray(np.isfinite(self.near_error) & (abs(self.near - claimed) <= 4 * self.near_error))


def difference(phi: Callable[[float], Array], noise: Array, widths: Sequence[float]) -> Difference:
    """The derivative dφ/dt at t = 0.

    Central differences at halved steps are extrapolated to step 0, and the entry of the tableau with the least
    estimated error is taken: Ridders's disagreement between neighbours, and the noise of φ as the tableau amplifies it.

    Parameters
    ----------
    phi : callable
        ``float -> ndarray``, of any shape.
    noise : ndarray
        The absolute error in its values.
    widths : sequence of float
        First steps, to be tried until one gives a derivative that can be trusted; the first two are of the size over
        which the function is expected to change.

    References
    ----------
    Ridders (1982), Accurate computation of F'(x) and F'(x) F''(x), Advances in Engineering Software 4.
    """
    with np.errstate(all="ignore"):
        scale = max(widths[:2])
        best = _ladder(phi, noise, widths[0], scale)
        for width in widths[1:]:
            if np.all(best.resolved(best.value) | (best.trusted(best.value) & best.even)):
                break
            best = _better(best, _ladder(phi, noise, width, scale), narrower=width < widths[0])
    return best


def _better(a: Difference, b: Difference, narrower: bool) -> Difference:
    """Entry by entry, the one of less error; of a wide and a narrow one, the narrow one where only that is smooth."""
    first = (a.error <= b.error) & ~(b.trusted(b.value) & ~a.smooth)
    names = ("value", "error", "kink", "jump", "floor", "even", *(("near", "near_error") if narrower else ()))
    chosen = {name: np.where(first, getattr(a, name), getattr(b, name)) for name in names}
    return replace(a, **chosen)


def _ladder(phi: Callable[[float], Array], noise: Array, width: float, scale: float) -> Difference:
    centre = phi(0.0)
    h = 2.0 ** np.floor(np.log2(width))
    size = abs(centre)
    rows: list[tuple[Array, Array]] = []  # the best value of each, and its error
    above: list[tuple[Array, Array]] = []  # of the row before: extrapolations, and their noise
    slopes: list[tuple[Array, Array]] = []  # of central differences, and what of it is noise
    bends: list[tuple[Array, Array]] = []  # φ(h) − 2φ(0) + φ(−h), and what of it is noise, both over h
    gaps: list[tuple[Array, Array]] = []  # φ(h) − φ(−h), and what of it is noise
    for level in range(LEVELS):
        right, left = phi(h), phi(-h)
        size = np.fmax(size, np.fmax(abs(right), abs(left)))
        spread = np.fmax(noise, 2.0**-53 * size) + SMALLEST
        row = [((right - left) / (2 * h), spread / h)]
        value, error = np.full(centre.shape, np.nan), np.full(centre.shape, np.inf)
        slopes.append(row[0])
        bends.append(((right - 2 * centre + left) / h, 32 * spread / h))
        gaps.append((right - left, 32 * spread))
        for j, (before, before_noise) in enumerate(above, 1):
            weight = 4.0**j
            here, here_noise = row[-1]
            better = (weight * here - before) / (weight - 1)
            amplified = (weight * here_noise + before_noise) / (weight - 1)
            estimate = np.maximum(abs(better - here), abs(better - before)) + amplified
            row.append((better, amplified))
            taken = (estimate < error) & (level >= 2)
            value, error = np.where(taken, better, value), np.where(taken, estimate, error)
        rows.append((value, error))
        above = row[:10]
        h /= 2
        if level >= 4 and np.all(error <= np.fmax(ENOUGH * abs(value), 2 * spread / width)):
            break
    for small in SMALL:
        h = 2.0 ** np.floor(np.log2(width * small))
        slopes.append(((phi(h) - phi(-h)) / (2 * h), np.fmax(noise, 2.0**-53 * size) / h))
    value, error = _consistent(rows, slopes)
    floor = 1e-10 * size / scale + 64 * SMALLEST / width
    even = size <= EVEN * abs(centre)
    return Difference(value, error, _kink(bends, centre.shape), _jump(gaps), floor, even, value, error)


def _consistent(rows: list[tuple[Array, Array]], slopes: list[tuple[Array, Array]]) -> tuple[Array, Array]:
    """The value of least error that those of all smaller steps allow, and no central difference of them denies.

    Beyond a pole, large steps agree on another value, and a function that swings many times within the first steps
    can seem to converge.
    """
    value, error = rows[-1]
    level = np.full(value.shape, len(rows) - 1)
    for k in range(len(rows) - 2, -1, -1):
        other, doubt = rows[k]
        allowed = (abs(other - value) <= 4 * (doubt + error)) | ~np.isfinite(error)
        taken = (doubt < error) & allowed
        value, error, level = np.where(taken, other, value), np.where(taken, doubt, error), np.where(taken, k, level)
    off = np.array([abs(slope - value) for slope, _ in slopes])
    usual = np.take_along_axis(off, level[None], axis=0)[0] + TRUSTED * abs(value)
    for k, (_, noise) in enumerate(slopes):
        error = np.where((k > level) & (off[k] > usual + 4 * (error + noise)), np.inf, error)
    return value, error


def _kink(bends: list[tuple[Array, Array]], shape: tuple[int, ...]) -> Array:
    """Where the second difference over h stays as it is while h falls, instead of falling too; inf where it grows."""
    kink = np.zeros(shape)
    for k in range(3, len(bends)):
        last = [bend for bend, _ in bends[k - 3 : k + 1]]
        noise = bends[k][1]
        ratios = np.array([after / before for before, after in itertools.pairwise(last)])
        stays = np.all((ratios > STRAIGHT) & (ratios < STEEPEST), axis=0) & (abs(last[-1]) > noise)
        grows = np.all(ratios > 1 / STRAIGHT, axis=0)
        hidden = (abs(last[-1]) <= noise) & (abs(kink) <= 2 * noise)
        found = np.where(grows, np.copysign(np.inf, last[-1]), 2 * last[-1] - last[-2])
        kink = np.where(stays, found, np.where(hidden, kink, 0.0))
    return kink


def _jump(gaps: list[tuple[Array, Array]]) -> Array:
    """Where φ(h) − φ(−h) stays as it is while h falls, instead of falling with it."""
    last, noise = np.array([gap for gap, _ in gaps[-LEVEL:]]), np.array([noise for _, noise in gaps[-LEVEL:]])
    level = np.all((abs(last - last[-1]) <= 0.05 * abs(last[-1])) & (abs(last) > noise), axis=0)
    return np.where(level, last[-1], 0.0)
