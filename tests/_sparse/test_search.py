"""In what order colorings are tried, and when it ends."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from _sparse.patterns import arrow, is_acyclic, laplacian, random_symmetric
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hoad._sparse import search
from hoad._sparse.candidates import color_symmetric, fewest_acyclic
from hoad._sparse.coloring import color
from hoad._sparse.compressed_pattern import as_pattern
from hoad._sparse.search import ORDERS, Search, count_of

symmetric = st.integers(1, 7).flatmap(lambda n: arrays(np.bool_, (n, n))).map(lambda a: a | a.T)


def scripted(counts: list[int], **options: Any) -> tuple[list[Any], Search]:
    """A search whose colorings have these numbers of colors, one after the other, and what it asked for."""
    asked: list[Any] = []

    def colored(turn: Any) -> Any:
        asked.append(turn.tolist())
        return np.arange(counts[len(asked) - 1], dtype=np.int32)

    turns = {name: np.array([k], dtype=np.int32) for k, name in enumerate(ORDERS)}
    return asked, Search(turn_of=turns.__getitem__, colored=colored, **{"least": 1, "work": 1, **options})


def test_an_order_that_is_asked_for_is_the_only_one() -> None:
    asked, made = scripted([5])
    assert made.fewest("incidence_degree")[1] == "incidence_degree" and asked == [[3]]


def test_the_first_that_is_few_enough_ends_it() -> None:
    asked, made = scripted([5, 4, 3], least=3)
    assert made.fewest("auto")[1] == "largest_first" and len(asked) == 3


def test_a_grid_ends_it() -> None:
    grid = np.arange(4, dtype=np.int32)
    asked, made = scripted([6], grids=lambda below: iter([grid]), enough=4)
    assert made.fewest("auto") == (grid, "grid") and len(asked) == 1


def test_work_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, made = scripted([9] * 20, work=10**9)
    assert made.fewest("auto")[1] == "natural" and len(asked) == search._FIRST
    asked, made = scripted([9] * 20)
    made.fewest("auto")
    assert len(asked) == 8 + search._ROUNDS


def test_gains_go_on() -> None:
    asked, made = scripted([9] * 8 + [9, 8, 8, 8, 7, 7, 7, 7])
    colors, name = made.fewest("auto")
    assert colors.size == 7 and name == "natural, then by colors" and len(asked) == 16


@given(a=symmetric)
def test_bound_of_acyclic_colorings(a: Any) -> None:
    """All colorings with fewer colors than the bound are tried: none is acyclic."""
    pattern = as_pattern(sp.csr_array(a))
    bound = fewest_acyclic(pattern)
    assert bound <= count_of(color_symmetric(pattern, "acyclic", "auto")[0])
    for colors in product(range(bound - 1), repeat=min(len(a), 5)):
        assert len(a) > 5 or not is_acyclic(a, colors)


def test_same_colors_at_every_call() -> None:
    a = random_symmetric(300, 0.02, seed=6)
    for kind in ("star", "acyclic", "columns", "bidirectional"):
        once, again = color(a, kind), color(a, kind)
        np.testing.assert_equal(once.colors, again.colors)
        assert once.order == again.order


def test_dense_rows_apart_and_grids_say_so() -> None:
    assert color(arrow(30), "bidirectional").order == "dense rows first"
    assert color(laplacian(20, 20), "columns").order == "grid"
