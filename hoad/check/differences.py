"""Central differences, extrapolated, with an estimate of their error: what derivatives are held against."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hoad.check.points import Array

LEVELS = 16  # halvings of the step, at most
ENOUGH = 1e-11  # relative error at which to stop
TRUSTED = 1e-3  # relative error up to which a difference can judge a derivative
SMALLEST = float(np.finfo(np.float64).smallest_subnormal)
SMALL = 2.0**-31  # of the first step: the one that is looked at last
STRAIGHT = 0.85  # how much of φ(h) − 2φ(0) + φ(−h), over h, is left when h is halved, at a kink


@dataclass(frozen=True, eq=False)
class Difference:
    """The derivative of a function of one number at 0, entry by entry of its result.

    Attributes
    ----------
    value : ndarray
        Extrapolated; nan where the function is not finite on both sides.
    error : ndarray
        An estimate of its error, with what rounding adds; inf where there is none.
    jump : ndarray
        By how much the slope on the right exceeds that on the left; 0 where there is no kink.
    near, near_error : ndarray
        Value and error by steps of the first width alone, which may be hidden by rounding.
    floor : ndarray
        An error that is as good as none for a function of this size that changes over steps of this width.
    """

    value: Array
    error: Array
    jump: Array
    floor: Array
    near: Array
    near_error: Array

    def trusted(self, claimed: Array) -> NDArray[np.bool_]:
        """Where it can judge: the error is small beside the value, or as good as none."""
        size = np.maximum(abs(self.value), abs(np.nan_to_num(claimed, posinf=0.0, neginf=0.0)))
        small = self.error <= np.maximum(TRUSTED * size, self.floor)
        return np.asarray(small & np.isfinite(self.value) & (self.jump == 0))

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
            if np.all(best.trusted(best.value) | (best.jump != 0)):
                break
            best = _better(best, _ladder(phi, noise, width, scale))
    return best


def _better(a: Difference, b: Difference) -> Difference:
    """Entry by entry, the one of less error."""
    first = a.error <= b.error
    value, error, jump, floor = (
        np.where(first, x, y) for x, y in ((a.value, b.value), (a.error, b.error), (a.jump, b.jump), (a.floor, b.floor))
    )
    return Difference(value, error, jump, floor, a.near, a.near_error)


def _ladder(phi: Callable[[float], Array], noise: Array, width: float, scale: float) -> Difference:
    centre = phi(0.0)
    h = 2.0 ** np.floor(np.log2(width))
    size = abs(centre)
    rows: list[tuple[Array, Array]] = []  # the best value of each, and its error
    above: list[tuple[Array, Array]] = []  # of the row before: extrapolations, and their noise
    bends: list[tuple[Array, Array]] = []  # φ(h) − 2φ(0) + φ(−h), and what of it is noise, both over h
    for level in range(LEVELS):
        right, left = phi(h), phi(-h)
        size = np.fmax(size, np.fmax(abs(right), abs(left)))
        spread = np.fmax(noise, 2.0**-53 * size) + SMALLEST
        row = [((right - left) / (2 * h), spread / h)]
        value, error = np.full(centre.shape, np.nan), np.full(centre.shape, np.inf)
        bends.append(((right - 2 * centre + left) / h, 32 * spread / h))
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
    value, error = _consistent(rows)
    # A function that swings many times within the first steps can seem to converge: one tiny step finds out.
    h = 2.0 ** np.floor(np.log2(width * SMALL))
    crude, doubt = (phi(h) - phi(-h)) / (2 * h), np.fmax(noise, 2.0**-53 * size) / h
    aliased = abs(value - crude) > 4 * (error + doubt) + TRUSTED * abs(value)
    error = np.where(aliased, np.inf, error)
    floor = 1e-10 * size / scale + 64 * SMALLEST / width
    return Difference(value, error, _jump(bends, centre.shape), floor, value, error)


def _consistent(rows: list[tuple[Array, Array]]) -> tuple[Array, Array]:
    """The value of least error that those of all smaller steps allow: beyond a pole, large steps agree on another."""
    value, error = rows[-1]
    for other, doubt in reversed(rows[:-1]):
        allowed = (abs(other - value) <= 4 * (doubt + error)) | ~np.isfinite(error)
        taken = (doubt < error) & allowed
        value, error = np.where(taken, other, value), np.where(taken, doubt, error)
    return value, error


def _jump(bends: list[tuple[Array, Array]], shape: tuple[int, ...]) -> Array:
    """Where the second difference over h stays as it is while h falls, instead of falling with it."""
    jump = np.zeros(shape)
    for k in range(3, len(bends)):
        last = [bend for bend, _ in bends[k - 3 : k + 1]]
        noise = bends[k][1]
        ratios = np.array([after / before for before, after in itertools.pairwise(last)])
        straight = np.all((ratios > STRAIGHT) & (ratios < 1 / STRAIGHT), axis=0) & (abs(last[-1]) > noise)
        hidden = (abs(last[-1]) <= noise) & (abs(jump) <= 2 * noise)
        jump = np.where(straight, 2 * last[-1] - last[-2], np.where(hidden, jump, 0.0))
    return jump
