"""Colors of grids by linear functions: right on every grid, or none; and as few as they can be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from _sparse.patterns import (
    brusselator,
    grid_with_corners,
    is_acyclic,
    is_distance_2,
    is_star,
    laplacian,
    random_symmetric,
    recovered,
    without_zeros,
)

from hoad._sparse.coloring import color
from hoad._sparse.compressed_pattern import as_pattern
from hoad._sparse.stencils import color_grid, color_symmetric_grid, is_right

DEFINITIONS = {"star": is_star, "acyclic": is_acyclic}


def pairs_of_unknowns(*shape: int) -> Any:
    """Two unknowns at each point of a grid, numbered one after the other."""
    grid = laplacian(*shape)
    return without_zeros(sp.kron(grid, np.eye(2)) + sp.kron(sp.eye_array(grid.shape[0]), np.ones((2, 2))))


GRIDS = [
    laplacian(7, 9),
    laplacian(9, 7),
    laplacian(2, 30),
    laplacian(5, 4, 6),
    laplacian(1, 8, 5),
    laplacian(3, 3, 3, 3),
    grid_with_corners(6, 7),
    sp.csr_array(laplacian(7, 8) @ laplacian(7, 8)),
    brusselator(6),
    pairs_of_unknowns(6, 7),
]


@pytest.mark.parametrize("a", GRIDS, ids=lambda a: str(a.shape[0]))
def test_columns(a: Any) -> None:
    found = color_grid(a.indptr, a.indices, a.shape[1], 99)
    assert found is not None and is_distance_2(a.toarray() != 0, found.tolist())
    assert color(a, "columns").n_colors <= found.max() + 1


@pytest.mark.parametrize("kind", ["star", "acyclic"])
@pytest.mark.parametrize("a", GRIDS, ids=lambda a: str(a.shape[0]))
def test_symmetric(a: Any, kind: str) -> None:
    found = color_symmetric_grid(as_pattern(a), kind, 1, 99)
    assert found is None or DEFINITIONS[kind](a.toarray() != 0, found.tolist())
    best = color(a, kind)
    assert DEFINITIONS[kind](a.toarray() != 0, np.asarray(best.colors).tolist())
    np.testing.assert_array_equal(recovered(best, a), a.data)


@pytest.mark.parametrize("n", range(4, 40))
def test_least_number_on_every_width(n: int) -> None:
    """One color for each neighbor and one for the point itself; an axis more than there are axes by substitution."""
    a = laplacian(6, n)
    counts = [color(a, kind).n_colors for kind in ("columns", "star", "acyclic")]
    assert counts == [5, 5, 3]


def test_rows_of_other_length_than_columns() -> None:
    """Fluxes between neighbors along both axes of a grid, each of two columns."""
    first = sp.diags_array([np.ones(9), -np.ones(9)], offsets=[0, 1], shape=(9, 10))
    second = sp.diags_array([np.ones(11), -np.ones(11)], offsets=[0, 1], shape=(11, 12))
    a = without_zeros(sp.vstack([sp.kron(sp.eye_array(12), first), sp.kron(second, sp.eye_array(10))]))
    found = color(a, "columns")
    assert found.n_colors == 2
    np.testing.assert_array_equal(recovered(found, a), a.data)


def test_edges_that_were_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the first rows say too little, those for which a function is wrong are added."""
    monkeypatch.setattr("hoad._sparse.stencils._PAIRS", 3)
    a = laplacian(11, 13)
    found = color_grid(a.indptr, a.indices, a.shape[1], 99)
    assert found is not None and is_distance_2(a.toarray() != 0, found.tolist())


def test_what_is_no_grid() -> None:
    a = random_symmetric(400, 0.02, seed=5)
    assert color_grid(a.indptr, a.indices, 400, 99) is None
    assert color_symmetric_grid(as_pattern(a), "star", 2, 99) is None
    a = laplacian(5, 5)
    assert color_grid(a.indptr, a.indices, 25, 5) is None  # five are needed
    assert color_symmetric_grid(as_pattern(a), "acyclic", 3, 3) is None


def test_wrong_colors_are_not_right() -> None:
    square = as_pattern(sp.csr_array(laplacian(2, 2)))
    two = np.array([0, 1, 1, 0], dtype=np.int32)
    three = np.array([0, 1, 1, 2], dtype=np.int32)
    same = np.array([0, 0, 1, 2], dtype=np.int32)
    for kind in ("star", "acyclic"):
        assert [is_right(square, colors, 3, kind) for colors in (two, three, same)] == [False, True, False]
