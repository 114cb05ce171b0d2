"""How many colors: those known to be the fewest, those of papers, and those of other packages, which are no fewer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from _sparse.patterns import (
    arrow,
    band,
    brusselator,
    chordal,
    grid_with_corners,
    laplacian,
    power_law,
    random_pattern,
    random_symmetric,
    recovered,
)

from hoad._sparse.coloring import color

DENSE = sp.csr_array(np.ones((12, 12)))
BLOCKS = sp.csr_array(np.kron(np.eye(9), np.ones((4, 4))))
HUBS = sp.csr_array(arrow(42, 2) - sp.csr_array((np.ones(2), ([0, 1], [1, 0])), shape=(42, 42)))
HUBS.eliminate_zeros()
CROSS = np.zeros((10, 20))
CROSS[:, [0, -1]] = CROSS[[0, -1], :] = 1

# The fewest there are. Bands: 2 b + 1 directly and b + 1 by substitution, with b on each side of the diagonal
# (Gebremedhin, Pothen, Tarafdar and Walther, INFORMS J. Comput. 21, 2009, section 3). Grids by a star: Fertin, Raspaud
# and Reed, J. Graph Theory 47 (2004). The cross: Montoison, Dalle and Gebremedhin, 2025.
FEWEST: list[tuple[str, Any, dict[str, int]]] = [
    ("diagonal", band(50, 0), {"columns": 1, "rows": 1, "star": 1, "acyclic": 1, "bidirectional": 1}),
    ("antidiagonal", sp.csr_array(np.eye(6)[::-1]), {"columns": 1, "star": 1, "acyclic": 1, "bidirectional": 1}),
    ("band 3", band(60, 1), {"columns": 3, "rows": 3, "star": 3, "acyclic": 2, "auto": 3}),
    ("band 11", band(5000, 5), {"columns": 11, "rows": 11, "star": 11, "acyclic": 6, "auto": 11}),
    ("band 21", band(5000, 10), {"columns": 21, "rows": 21, "star": 21, "acyclic": 11}),
    ("arrow", arrow(40), {"columns": 40, "rows": 40, "star": 2, "acyclic": 2, "bidirectional": 3, "auto": 3}),
    ("arrow 3", arrow(40, 3), {"columns": 40, "star": 4, "acyclic": 4, "bidirectional": 7, "auto": 7}),
    ("dense", DENSE, {"columns": 12, "rows": 12, "star": 12, "acyclic": 12, "bidirectional": 12}),
    ("dense, wide", sp.csr_array(np.ones((3, 9))), {"columns": 9, "rows": 3, "bidirectional": 3, "auto": 3}),
    ("blocks", BLOCKS, {"columns": 4, "rows": 4, "star": 4, "acyclic": 4, "bidirectional": 4}),
    ("grid", laplacian(20, 20), {"columns": 5, "rows": 5, "star": 5, "acyclic": 3, "bidirectional": 5, "auto": 5}),
    ("grid in space", laplacian(8, 9, 11), {"columns": 7, "star": 7, "acyclic": 4, "auto": 7}),
    ("grid with corners", grid_with_corners(12, 13), {"columns": 9, "auto": 9}),
    ("two hubs", HUBS, {"columns": 42, "star": 3, "acyclic": 3, "bidirectional": 5}),
    ("cross", sp.csr_array(CROSS), {"columns": 20, "rows": 10, "bidirectional": 4, "auto": 4}),
    ("one row", sp.csr_array(np.ones((1, 9))), {"columns": 9, "rows": 1, "auto": 1}),
    ("nothing", sp.csr_array((4, 5)), {"columns": 0, "rows": 0, "bidirectional": 0, "auto": 0}),
]


@pytest.mark.parametrize(("name", "a", "counts"), FEWEST, ids=[row[0] for row in FEWEST])
def test_fewest(name: str, a: Any, counts: dict[str, int]) -> None:
    assert {kind: color(a, kind).n_colors for kind in counts} == counts


@pytest.mark.parametrize("shape", [(10, 20), (20, 10), (15, 15)], ids=str)
def test_bands_of_any_width(shape: tuple[int, int]) -> None:
    """As many colors as diagonals, or as the longest row or column has entries."""
    for below in range(6):
        for above in range(6):
            rows, columns = np.indices(shape)
            a = sp.csr_array(((columns - rows >= -below) & (columns - rows <= above)).astype(float))
            of_rows, of_columns = np.diff(a.tocsc().indptr).max(), np.diff(a.indptr).max()
            assert color(a, "columns").n_colors == of_columns <= below + above + 1
            assert color(a, "rows").n_colors == of_rows
            assert color(a).n_colors <= min(of_columns, of_rows)


# The numbers of colors that asdex 0.5.1 finds (largest first, a star for symmetric ones).
PEER: list[tuple[str, Any, dict[str, int]]] = [
    ("band", band(1000, 4), {"columns": 9, "rows": 9, "star": 9}),
    ("arrow", arrow(1000), {"columns": 1000, "rows": 1000, "star": 2}),
    ("arrow 3", arrow(1000, 3), {"columns": 1000, "rows": 1000, "star": 4}),
    ("grid", laplacian(50, 50), {"columns": 7, "rows": 7, "star": 5}),
    ("grid in space", laplacian(15, 15, 15), {"columns": 12, "rows": 12, "star": 11}),
    ("Brusselator", brusselator(32), {"columns": 12, "rows": 12, "star": 9}),
    ("chained Rosenbrock", band(1000, 1), {"columns": 3, "rows": 3, "star": 3}),
    ("random", random_symmetric(1000, 0.003, 1), {"columns": 18, "rows": 18, "star": 14}),
    ("random, denser", random_symmetric(2000, 0.005, 1), {"columns": 84, "rows": 84, "star": 49}),
    ("chordal", chordal(1000, 6, 3), {"columns": 418, "rows": 418, "star": 16}),
    ("power law", power_law(2000, 3, 0), {"columns": 98, "rows": 98, "star": 56}),
    ("wide", random_pattern(500, 800, 0.01, 2), {"columns": 18, "rows": 17}),
    ("tall", random_pattern(800, 500, 0.02, 2), {"columns": 41, "rows": 43}),
]


@pytest.mark.parametrize(("name", "a", "peer"), PEER, ids=[row[0] for row in PEER])
def test_no_more_than_a_peer(name: str, a: Any, peer: dict[str, int]) -> None:
    for kind, most in peer.items():
        found = color(a, kind)
        assert found.n_colors <= most
        np.testing.assert_array_equal(recovered(found, a), a.data)
    assert color(a).n_colors <= min(peer["columns"], peer["rows"])
    if "star" in peer:
        assert color(a, "acyclic").n_colors <= peer["star"]


# Matrices that are drawn in figures, with the number of colors there.
FIGURES = {
    # Gebremedhin, Manne and Pothen, SIAM Review 47 (2005), figure 4.1.
    "star": ([(0, 1), (1, 2), (1, 4), (1, 5), (2, 3), (3, 5)], 6, {"star": 3}),
    # The same, figure 6.1; and Gebremedhin and others, INFORMS J. Comput. 21 (2009), figures 1 and 4.
    "grid with a tail": (
        [(0, 1), (0, 6), (1, 2), (1, 4), (2, 3), (2, 5), (3, 9), (4, 5), (4, 7), (5, 8), (6, 7), (7, 8), (8, 9)],
        10,
        {"star": 5, "acyclic": 3},
    ),
}


@pytest.mark.parametrize("name", FIGURES)
def test_figures(name: str) -> None:
    edges, n, counts = FIGURES[name]
    a = np.eye(n)
    for k, (i, j) in enumerate(edges):
        a[i, j] = a[j, i] = k + 2
    for kind, most in counts.items():
        found = color(sp.csr_array(a), kind)
        assert found.n_colors <= most
        np.testing.assert_array_equal(recovered(found, sp.csr_array(a)), sp.csr_array(a).data)
