"""Sparse matrices for the tests of colorings, and what a coloring is, written out from the definitions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hoad._sparse.coloring import Coloring


def without_zeros(a: Any) -> Any:
    """Compressed rows without the zeros that `scipy.sparse.kron` stores."""
    found = sp.csr_array(a)
    found.eliminate_zeros()
    return found


def band(n: int, half: int) -> Any:
    """Ones on the diagonal and on `half` others on both sides of it."""
    offsets = range(-min(half, n - 1), min(half, n - 1) + 1)
    return sp.diags_array([np.ones(n - abs(k)) for k in offsets], offsets=list(offsets)).tocsr()


def arrow(n: int, width: int = 1) -> Any:
    """The diagonal, and the first rows and columns."""
    a = np.eye(n)
    a[:width] = a[:, :width] = 1
    return sp.csr_array(a)


def laplacian(*shape: int) -> Any:
    """The grid of a shape, each point with itself and its neighbors along the axes."""
    found = sp.eye_array(1)
    for n in shape:
        found = sp.kron(found, sp.eye_array(n)) + sp.kron(sp.eye_array(found.shape[0]), band(n, 1))
    return without_zeros(found)


def grid_with_corners(*shape: int) -> Any:
    """The grid of a shape, each point with all that differ by one at most along each axis."""
    found = sp.eye_array(1)
    for n in shape:
        found = sp.kron(found, band(n, 1))
    return without_zeros(found)


def brusselator(n: int) -> Any:
    """Two substances that diffuse on a periodic grid of n by n points, and react in each."""
    around = band(n, 1).tolil()
    around[0, n - 1] = around[n - 1, 0] = 1
    diffusion = sp.kron(around, sp.eye_array(n)) + sp.kron(sp.eye_array(n), around)
    reaction = sp.eye_array(n * n)
    return without_zeros(sp.block_array([[diffusion, reaction], [reaction, diffusion]]))


def random_pattern(m: int, n: int, density: float, seed: int) -> Any:
    return sp.csr_array(sp.random_array((m, n), density=density, rng=np.random.default_rng(seed)))


def random_symmetric(n: int, density: float, seed: int) -> Any:
    a = random_pattern(n, n, density, seed)
    return sp.csr_array(a + a.T + sp.eye_array(n))


def chordal(n: int, clique: int, seed: int) -> Any:
    """A graph to which each new vertex is added beside all but one of some clique."""
    rng = np.random.default_rng(seed)
    a = np.eye(n)
    a[:clique, :clique] = 1
    cliques = [list(range(clique))]
    for v in range(clique, n):
        of = cliques[rng.integers(len(cliques))]
        beside = [int(w) for w in rng.choice(of, clique - 1, replace=False)]
        cliques.append([*beside, v])
        a[v, beside] = a[beside, v] = 1
    return sp.csr_array(a)


def power_law(n: int, links: int, seed: int) -> Any:
    """A graph where each new vertex is joined to others as often as these have neighbors (Barabási and Albert)."""
    rng = np.random.default_rng(seed)
    a = np.eye(n)
    targets, ends = list(range(links)), []
    for v in range(links, n):
        for w in sorted(set(targets)):
            a[v, w] = a[w, v] = 1
            ends += [v, w]
        targets = [ends[i] for i in rng.integers(0, len(ends), links)]
    return sp.csr_array(a)


def csr(a: NDArray[np.bool_]) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """indptr and indices of a dense pattern, and of its transpose."""
    rows, across = sp.csr_array(a), sp.csr_array(a.T)
    return rows.indptr, rows.indices, across.indptr, across.indices


def is_distance_2(a: NDArray[np.bool_], colors: Sequence[int]) -> bool:
    """Whether the columns of each row have different colors, and those of any row have one."""
    return all(
        min((colors[j] for j in np.flatnonzero(row)), default=0) >= 0
        and len({colors[j] for j in np.flatnonzero(row)}) == row.sum()
        for row in a
    )


def is_distance_1(a: NDArray[np.bool_], colors: Sequence[int]) -> bool:
    return all(colors[i] != colors[j] and colors[i] >= 0 for i, j in np.argwhere(a) if i != j)


def is_star(a: NDArray[np.bool_], colors: Sequence[int]) -> bool:
    """Whether neighbors differ, and all paths on four vertices have three colors or more."""
    beside = [[int(j) for j in np.flatnonzero(row) if j != i] for i, row in enumerate(a)]
    paths = (
        (p, q, r, s)
        for q in range(len(a))
        for r in beside[q]
        for p in beside[q]
        for s in beside[r]
        if len({p, q, r, s}) == 4
    )
    return is_distance_1(a, colors) and all(len({colors[v] for v in path}) >= 3 for path in paths)


def is_acyclic(a: NDArray[np.bool_], colors: Sequence[int]) -> bool:
    """Whether neighbors differ, and no two colors contain a cycle: what is left when leaves are cut is empty."""
    numbers = np.asarray(colors)
    for pair in combinations(set(colors), 2):
        inside = np.isin(numbers, pair)
        left = a & inside & inside[:, None] & ~np.eye(len(a), dtype=bool)
        while (leaves := left.sum(axis=1) == 1).any():
            left[leaves] = left[:, leaves] = False
        if left.any():
            return False
    return is_distance_1(a, colors)


def recovered(found: Coloring, a: Any) -> NDArray[Any]:
    """The values that a coloring recovers of a matrix, from its products with the seeds."""
    dense = a.toarray()
    of_columns = found.column_seeds(dense.dtype) @ dense.T
    of_rows = found.row_seeds(dense.dtype) @ dense
    if found.kind == "bidirectional":
        return found.recover(of_columns, of_rows)
    return found.recover(of_rows if found.kind == "rows" else of_columns)
