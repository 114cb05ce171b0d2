"""Interpolants of scattered data: by radial functions, by triangles, and by the nearest point.

References
----------
Wendland, H. (2004). Scattered data approximation. Cambridge University Press: chapters 6 and 8.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.interpolate
import scipy.spatial

from hoad._core.base.frame_globals import Apart, call_instead
from hoad._core.trace.coerce import holds_traced
from hoad._numpy.products import inexact
from hoad._scipy.registry import IMPLEMENTED, refused
from hoad._scipy.splines import coordinates

EDGE = 1e-12  # of a barycentric coordinate, beyond which a place is outside of a triangle


class Interpolant:
    """What stands for a class of SciPy's: its own object, unless the data or a place are traced."""

    original: Callable[..., Any]
    options: frozenset[str] = frozenset()  # of a call

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        bound = inspect.signature(self.original).bind(*args, **kwargs)
        bound.apply_defaults()
        self.given = dict(bound.arguments)
        self._plain = None if self._is_traced() else self._made()

    def _is_traced(self) -> bool:
        return holds_traced(list(self.given.values()))

    def _made(self) -> Any:
        with Apart():
            return type(self).original(**self.given)

    def __call__(self, *at: Any, **options: Any) -> Any:
        if self._plain is not None and not holds_traced(at):
            with Apart():
                return self._plain(*at, **options)
        if unknown := options.keys() - self.options:
            name = type(self).original.__name__
            raise refused(name, f"with {', '.join(unknown)}", "Leave it out.", "scipy.interpolate")
        return self.evaluated(at[0] if len(at) == 1 else at, **options)

    def evaluated(self, at: Any, **options: Any) -> Any:
        raise NotImplementedError

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or self._plain is None:
            raise AttributeError(name)
        return getattr(self._plain, name)


# ---- radial functions ------------------------------------------------------------------------------------------------

# By the square of the distance.
RADIAL: dict[str, Callable[[Any], Any]] = {
    "linear": lambda s: -np.sqrt(s),
    "thin_plate_spline": lambda s: 0.5 * s * np.log(s),
    "cubic": lambda s: s * np.sqrt(s),
    "quintic": lambda s: -s * s * np.sqrt(s),
    "multiquadric": lambda s: -np.sqrt(1.0 + s),
    "inverse_multiquadric": lambda s: 1.0 / np.sqrt(1.0 + s),
    "inverse_quadratic": lambda s: 1.0 / (1.0 + s),
    "gaussian": lambda s: np.exp(-s),
}
LEAST_DEGREE = {"multiquadric": 0, "linear": 0, "thin_plate_spline": 1, "cubic": 1, "quintic": 2}
SINGULAR = ("thin_plate_spline", "linear", "cubic", "quintic")  # at distance 0, where the function itself is 0


class Radial(Interpolant):
    """An interpolant by radial functions about the points and a polynomial."""

    original = scipy.interpolate.RBFInterpolator

    def evaluated(self, at: Any, **_: Any) -> Any:
        given = self.given
        if given["neighbors"] is not None:
            raise refused(
                "RBFInterpolator", "with neighbors", "Leave them out: then all points count.", "scipy.interpolate"
            )
        y, d, at = inexact(given["y"]), inexact(given["d"]), inexact(at)
        kernel, epsilon = given["kernel"], 1.0 if given["epsilon"] is None else given["epsilon"]
        degree = max(LEAST_DEGREE.get(kernel, -1), 0) if given["degree"] is None else given["degree"]
        middle, size = 0.5 * (np.max(y, 0) + np.min(y, 0)), 0.5 * (np.max(y, 0) - np.min(y, 0))
        size = np.where(size == 0.0, 1.0, size)
        powers = _powers(y.shape[1], degree)
        p = _monomials((y - middle) / size, powers)
        same = np.eye(y.shape[0], dtype=bool)
        squares = np.where(same, 1.0, _squares(y, y, epsilon))
        among = np.where(same, 0.0 if kernel in SINGULAR else RADIAL[kernel](0.0), RADIAL[kernel](squares))
        among = among + np.eye(y.shape[0]) * given["smoothing"]
        matrix = np.concatenate(
            [np.concatenate([among, p], 1), np.concatenate([p.T, np.zeros((p.shape[1], p.shape[1]))], 1)], 0
        )
        rows = np.reshape(d, (y.shape[0], -1))
        right = np.concatenate([rows, np.zeros((p.shape[1], rows.shape[1]))], 0)
        weights = np.linalg.solve(matrix, right)
        about = RADIAL[kernel](_squares(at, y, epsilon))
        found = np.concatenate([about, _monomials((at - middle) / size, powers)], 1) @ weights
        return np.reshape(found, (at.shape[0], *d.shape[1:]))


def _squares(a: Any, b: Any, epsilon: Any) -> Any:
    return np.sum((epsilon * (a[:, None, :] - b[None, :, :])) ** 2, -1)


def _powers(ndim: int, degree: int) -> list[tuple[int, ...]]:
    """The variables of each monomial."""
    return [word for k in range(degree + 1) for word in itertools.combinations_with_replacement(range(ndim), k)]


def _monomials(x: Any, powers: list[tuple[int, ...]]) -> Any:
    columns = []
    for word in powers:
        column = np.ones(x.shape[0]) + 0.0 * x[:, 0]
        for variable in word:
            column = column * x[:, variable]
        columns.append(column)
    return np.stack(columns, 1) if columns else np.zeros((x.shape[0], 0))


# ---- triangles and neighbours ----------------------------------------------------------------------------------------


class _Scattered(Interpolant):
    """What both need: plain points, and the scale in which they are seen."""

    points_name: str

    def seen(self) -> tuple[Any, Any, Any]:
        """The points, and what is taken from them and what they are divided by before they are looked at."""
        points = self.given[self.points_name]
        if holds_traced([points]):
            raise refused(
                type(self).original.__name__,
                "of traced points",
                "Its triangles and neighbours are those of plain points: give it hoad.value(points).",
                "scipy.interpolate",
            )
        points = np.asarray(coordinates(points), float)
        if not self.given["rescale"]:
            return points, 0.0, 1.0
        spread = np.ptp(points, axis=0)
        return points, np.mean(points, axis=0), np.where(spread > 0.0, spread, 1.0)

    def values_and_places(self, at: Any, ndim: int) -> tuple[Any, Any, tuple[int, ...]]:
        """The values, and the places as rows, of the shape that is returned."""
        at = coordinates(at, ndim=ndim)
        values = inexact(self.given["values" if "values" in self.given else "y"])
        return values, np.reshape(at, (-1, ndim)), (*at.shape[:-1], *values.shape[1:])


class Triangles(_Scattered):
    """The interpolant that is linear on each triangle of Delaunay's triangulation."""

    original = scipy.interpolate.LinearNDInterpolator
    points_name = "points"
    options = frozenset(["simplex_tolerance"])

    def evaluated(self, at: Any, simplex_tolerance: float = 1.0, **_: Any) -> Any:
        known = self.given["points"]
        if isinstance(known, scipy.spatial.Delaunay):
            points, shift, scale, made = np.asarray(known.points), 0.0, 1.0, known
        else:
            points, shift, scale = self.seen()
            with Apart():
                made = scipy.spatial.Delaunay((points - shift) / scale)
        values, places, shape = self.values_and_places(at, points.shape[1])
        ndim = points.shape[1]
        away = ((places - shift) / scale)[:, None, :] - made.transform[:, ndim, :]
        inner = np.sum(made.transform[:, :ndim, :] * away[:, :, None, :], -1)
        shares = np.concatenate([inner, 1.0 - np.sum(inner, -1)[..., None]], -1)
        least = np.where(np.isnan(shares), -np.inf, shares).min(-1)
        which = np.argmax(least, -1)
        rows = np.arange(places.shape[0])
        corners = values[made.simplices[which]]
        share = shares[rows, which]
        found = np.sum(np.reshape(share, (*share.shape, *[1] * (values.ndim - 1))) * corners, 1)
        outside = np.reshape(least[rows, which] < -EDGE * simplex_tolerance, (-1, *[1] * (values.ndim - 1)))
        return np.reshape(np.where(outside, self.given["fill_value"], found), shape)


class Nearest(_Scattered):
    """The value of the nearest point."""

    original = scipy.interpolate.NearestNDInterpolator
    points_name = "x"

    def evaluated(self, at: Any, **_: Any) -> Any:
        points, shift, scale = self.seen()
        values, places, shape = self.values_and_places(at, points.shape[1])
        squares = _squares((places - shift) / scale, (points - shift) / scale, 1.0)
        return np.reshape(values[np.argmin(squares, -1)], shape)


for _class in (Radial, Triangles, Nearest):
    IMPLEMENTED[_class.original] = _class
    call_instead(_class.original, _class)
