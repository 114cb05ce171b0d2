"""Where entries are read: by the definition of a coloring that is right, and an error for one that is not."""

from __future__ import annotations

import numpy as np
from _sparse.patterns import csr
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from hoad._core.sparse.recovery import colors_alone, needed_colors, pattern_fault, substitution, transposed

sides = st.integers(1, 9)
patterns = st.tuples(sides, sides).flatmap(lambda shape: arrays(np.bool_, shape))


def int32(*numbers: int) -> NDArray[np.int32]:
    return np.array(numbers, dtype=np.int32)


@given(a=patterns)
def test_transposed(a: NDArray[np.bool_]) -> None:
    indptr, indices, indptr_t, indices_t = csr(a)
    found = transposed(indptr, indices, a.shape[1])
    np.testing.assert_array_equal(found[0], indptr_t)
    np.testing.assert_array_equal(found[1], indices_t)
    rows = np.repeat(np.arange(a.shape[0]), np.diff(indptr))
    np.testing.assert_array_equal(rows[found[2]], indices_t)


@given(a=patterns, seed=st.integers(0, 99))
def test_colors_alone_in_a_row(a: NDArray[np.bool_], seed: int) -> None:
    """With any colors, also those of no coloring."""
    colors = np.random.default_rng(seed).integers(-1, 4, a.shape[1]).astype(np.int32)
    indptr, indices = csr(a)[:2]
    expected = [
        colors[j] if colors[j] >= 0 and sum(colors[k] == colors[j] for k in np.flatnonzero(a[i])) == 1 else -1
        for i, j in np.argwhere(a)
    ]
    assert colors_alone(indptr, indices, colors, 4).tolist() == expected


def test_needed_colors() -> None:
    used = np.zeros(4, dtype=bool)
    assert needed_colors(int32(0, -1, 2, 0), int32(-1, 1, 1, 3), used) == -1
    assert used.tolist() == [True, True, False, False]
    used[:] = False
    # Of choices the color that most entries can be read by: 3.
    assert needed_colors(int32(0, 1, 2), int32(3, 3, 3), used) == -1
    assert used.tolist() == [False, False, False, True]
    assert needed_colors(int32(0, -1, 1), int32(1, -1, 0), used) == 1


def test_a_cycle_in_two_colors_is_found() -> None:
    square = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]], dtype=bool)
    indptr, indices = csr(square)[:2]
    mirror = transposed(indptr, indices, 4)[2]
    assert substitution(indptr, indices, mirror, int32(0, 1, 0, 1), 2, np.zeros(2, dtype=bool)) is None
    assert substitution(indptr, indices, mirror, int32(0, 1, 2, 1), 3, np.zeros(3, dtype=bool)) is not None


def test_faults_of_patterns() -> None:
    assert pattern_fault(int32(0, 2, 3), int32(0, 1, 1), 2) == (0, 0)
    assert pattern_fault(int32(0, 2, 3), int32(1, 0, 1), 2) == (1, 0)
    assert pattern_fault(int32(0, 1, 4), int32(1, 0, 1, 0), 2) == (2, 1)
    assert pattern_fault(int32(0, 1, 2), int32(1, 2), 2) == (3, 1)
    assert pattern_fault(int32(0, 1, 2), int32(1, -1), 2) == (3, 1)
    assert pattern_fault(int32(0, 2, 1), int32(1), 2) == (4, 1)
    assert pattern_fault(int32(0, 1), int32(1, 0), 2) == (4, 0)
    assert pattern_fault(int32(1, 2), int32(1, 0), 2) == (4, 0)
