"""Problems with sparse derivatives, as plain NumPy code for any size: equations, fits, control, elasticity."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

import hoad

Function = Callable[[Any], Any]


# ------------------------------------------------------------------------------------------------ Bratu's equation

BRATU = 6.0  # solutions end at 6.808


def bratu(x: Any, n: int) -> Any:
    """Δu + λ exp(u) = 0 in the unit square, u = 0 on its boundary: five points on a grid of n × n unknowns."""
    u = x.reshape(n, n)
    padded = np.pad(u, 1)
    sides = padded[2:, 1:-1] + padded[:-2, 1:-1] + padded[1:-1, 2:] + padded[1:-1, :-2]
    return (sides - 4 * u + BRATU / (n + 1) ** 2 * np.exp(u)).ravel()


def bratu_jacobian(x: np.ndarray, n: int) -> Any:
    """By hand."""
    one = sp.diags_array([1.0, -2.0, 1.0], offsets=[-1, 0, 1], shape=(n, n))
    return sp.kronsum(one, one) + sp.diags_array(BRATU / (n + 1) ** 2 * np.exp(x))


# ------------------------------------------------------------------------------------------------ minimal surface


def scherk(n: int) -> np.ndarray:
    """log(cos y / cos x), a minimal surface, on a grid of n × n points inside of [-1, 1]², and on the boundary."""
    t = np.linspace(-1, 1, n + 2)
    return np.log(np.cos(t)[:, None] / np.cos(t)[None, :])


def area(x: Any, n: int) -> Any:
    """Of two triangles for each square of a grid with Scherk's surface on the boundary."""
    edge = scherk(n)
    edge[1:-1, 1:-1] = 0
    u, h = np.pad(x.reshape(n, n), 1) + edge, 2 / (n + 1)
    along, across = np.diff(u, axis=0) / h, np.diff(u, axis=1) / h
    below = np.sqrt(1 + along[:, :-1] ** 2 + across[:-1] ** 2)
    above = np.sqrt(1 + along[:, 1:] ** 2 + across[1:] ** 2)
    return h**2 / 2 * np.sum(below + above)


# ------------------------------------------------------------------------------------------------ least squares


def solution_of_bands(n: int) -> np.ndarray:
    return np.sin(np.arange(n) * 0.7) * 0.5


def bands_with_dense_rows(x: Any, n: int) -> Any:
    """Residuals: a band of five diagonals, and three rows that depend on all unknowns; zero at `solution_of_bands`."""
    return _residuals(x, n) - _residuals(solution_of_bands(n), n)


def _residuals(x: Any, n: int) -> Any:
    band = (3 + 2 * x[2:-2] ** 2) * x[2:-2] - x[:-4] * x[1:-3] - np.sin(x[3:-1]) - 0.5 * x[4:]
    ends = np.concatenate([x[:2], x[-2:]])
    weights = np.cos(np.arange(3)[:, None] * np.arange(n) * 0.1 + 0.3) / n
    return np.concatenate([band, ends, weights @ x**3])


# ------------------------------------------------------------------------------------------------ optimal control


class Control(NamedTuple):
    """Steering a particle to the height 5 and the speed 45, level, in the least time; the angle is controlled.

    A problem of Bryson and Ho (1975), Applied Optimal Control, section 2.7; the trapezoidal rule on equal steps. The
    unknowns are x, y, their speeds and the angle at each of ``steps + 1`` times, and the final time.
    """

    steps: int
    push: float = 100.0

    @property
    def size(self) -> int:
        return 5 * (self.steps + 1) + 1

    def time(self, z: Any) -> Any:
        return z[-1]

    def defects(self, z: Any) -> Any:
        """What is wrong with each step: zero for a solution."""
        x, y, u, v, angle = z[:-1].reshape(5, -1)
        slopes = (u, v, self.push * np.cos(angle), self.push * np.sin(angle))
        h = z[-1] / self.steps
        steps = [np.diff(s) - h / 2 * (r[1:] + r[:-1]) for s, r in zip((x, y, u, v), slopes, strict=True)]
        return np.concatenate(steps)

    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        low = np.full((5, self.steps + 1), -np.inf)
        high = -low
        low[4], high[4] = -np.pi / 2, np.pi / 2
        low[:4, 0] = high[:4, 0] = 0
        low[1:4, -1] = high[1:4, -1] = 5, 45, 0
        return np.append(low.ravel(), 0), np.append(high.ravel(), np.inf)

    def start(self) -> np.ndarray:
        t = np.linspace(0, 1, self.steps + 1)
        return np.append(np.concatenate([12 * t, 5 * t, 45 * t, 0 * t, 1 - 2 * t]), 1.0)

    def least_time(self) -> float:
        """By the law of the linear tangent, which the continuous solution has: tan angle = p (1 - 2 t / T)."""
        from scipy.optimize import brentq

        def time(p: float) -> float:
            return float(45 * p / (self.push * np.arcsinh(p)))

        def height(p: float) -> float:
            s = np.sqrt(1 + p**2)
            return float(self.push * time(p) ** 2 / (4 * p) * (s - np.arcsinh(p) / p) - 5)

        return time(float(brentq(height, 0.1, 10, xtol=1e-14)))


# ------------------------------------------------------------------------------------------------ elasticity


class Elasticity(NamedTuple):
    """A neo-Hookean square of 2 n² linear triangles, held on its boundary; the unknowns are all displacements."""

    n: int
    shear: float = 1.0
    lame: float = 1.5

    @property
    def nodes(self) -> np.ndarray:
        t = np.linspace(0, 1, self.n + 1)
        return np.stack(np.meshgrid(t, t, indexing="ij"), axis=-1).reshape(-1, 2)

    @property
    def triangles(self) -> np.ndarray:
        corner = np.arange((self.n + 1) ** 2).reshape(self.n + 1, self.n + 1)
        a, b, c, d = corner[:-1, :-1], corner[1:, :-1], corner[1:, 1:], corner[:-1, 1:]
        return np.concatenate([np.stack([a, b, c], -1).reshape(-1, 3), np.stack([a, c, d], -1).reshape(-1, 3)])

    @property
    def is_inside(self) -> np.ndarray:
        """Which unknowns are free."""
        inside = np.all((self.nodes > 0) & (self.nodes < 1), axis=1)
        return np.repeat(inside, 2)

    def inner_forces(self, x: Any, boundary: np.ndarray) -> Any:
        """Those at nodes inside, of their displacements, while the others have given ones."""
        inside = np.flatnonzero(self.is_inside)
        u = np.array(boundary, like=x)
        u[inside] = x
        return self.forces(u)[inside]

    def slopes(self) -> tuple[np.ndarray, np.ndarray]:
        """The gradients of the three linear functions of each triangle, and the areas."""
        corners = self.nodes[self.triangles]
        edges = np.stack([corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]], axis=1)
        of_two = np.swapaxes(np.linalg.inv(edges), 1, 2)
        return np.concatenate([-of_two.sum(axis=1, keepdims=True), of_two], axis=1), np.linalg.det(edges) / 2

    def energy(self, x: Any) -> Any:
        """∑ areas (μ/2 (|F|² - 2 - 2 log J) + λ/2 log² J), F the gradient of the deformation and J its determinant."""
        slopes, areas = self.slopes()
        f = self._deformation(x, slopes)
        logarithm = np.log(f[0][0] * f[1][1] - f[0][1] * f[1][0])
        squares = f[0][0] ** 2 + f[0][1] ** 2 + f[1][0] ** 2 + f[1][1] ** 2
        density = self.shear / 2 * (squares - 2 - 2 * logarithm) + self.lame / 2 * logarithm**2
        return np.sum(areas * density)

    def forces(self, x: Any) -> Any:
        """The derivative of the energy, put together from triangles by ``np.add.at``."""
        slopes, areas = self.slopes()
        f = self._deformation(x, slopes)
        j = f[0][0] * f[1][1] - f[0][1] * f[1][0]
        pressure = self.lame * np.log(j) - self.shear
        cofactor = ((f[1][1], -f[1][0]), (-f[0][1], f[0][0]))  # J F⁻ᵀ
        total = np.zeros(len(self.nodes) * 2)
        for i in range(2):
            stress = [areas * (self.shear * f[i][k] + pressure / j * cofactor[i][k]) for k in range(2)]
            for corner in range(3):
                at = 2 * self.triangles[:, corner] + i
                np.add.at(total, at, slopes[:, corner, 0] * stress[0] + slopes[:, corner, 1] * stress[1])
        return total

    def _deformation(self, x: Any, slopes: np.ndarray) -> Any:
        """F, an array over triangles for each of its four entries."""
        u = x.reshape(-1, 2)[self.triangles]
        return [[np.sum(u[:, :, i] * slopes[:, :, j], axis=1) + (i == j) for j in range(2)] for i in range(2)]

    def stiffness(self) -> np.ndarray:
        """That of linear elasticity, by the matrices of triangles in textbooks: ∑ areas Bᵀ D B."""
        slopes, areas = self.slopes()
        d = np.diag([2 * self.shear, 2 * self.shear, self.shear])
        d[:2, :2] += self.lame
        k = np.zeros((2 * len(self.nodes),) * 2)
        for corners, slope, size in zip(self.triangles, slopes, areas, strict=True):
            b = np.zeros((3, 6))
            b[0, ::2], b[1, 1::2], b[2, ::2], b[2, 1::2] = slope[:, 0], slope[:, 1], slope[:, 1], slope[:, 0]
            at = np.stack([2 * corners, 2 * corners + 1], axis=1).ravel()
            k[np.ix_(at, at)] += size * b.T @ d @ b
        return k


ELASTICITY = Elasticity(3)

# Small ones, the same texts as large ones, with the numbers of their unknowns.
JACOBIANS: dict[str, tuple[Function, int]] = {
    "Bratu": (partial(bratu, n=4), 16),
    "bands with dense rows": (partial(bands_with_dense_rows, n=14), 14),
    "steps of a control": (Control(4).defects, Control(4).size),
    "elastic forces": (hoad.adopt(ELASTICITY.forces), 32),
}
HESSIANS: dict[str, tuple[Function, int]] = {
    "minimal surface": (partial(area, n=4), 16),
    "elastic energy": (ELASTICITY.energy, 32),
}
