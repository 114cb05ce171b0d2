"""Indices are found again from strides and offsets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hoad._display.places import item_text, slice_text


def view_of(shape: tuple[int, ...], index: Any) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    """Shape, strides and offset in items, as a program holds them: the offset of an empty view is 0."""
    array = np.zeros(shape, np.int8)
    full = index if isinstance(index, tuple) else (index,)
    view = array[full if any(k is Ellipsis for k in full) else (*full, ...)]
    offset = view.__array_interface__["data"][0] - array.__array_interface__["data"][0]
    return view.shape, view.strides, offset if view.size else 0


@pytest.mark.parametrize(
    ("shape", "index", "text"),
    [
        ((5,), np.s_[1:], "[1:]"),
        ((5,), np.s_[:-1], "[:-1]"),
        ((5,), np.s_[1:-1], "[1:-1]"),
        ((5,), np.s_[2:4], "[2:4]"),
        ((9,), np.s_[::2], "[::2]"),
        ((9,), np.s_[::-1], "[::-1]"),
        ((9,), np.s_[6:2:-2], "[6:3:-2]"),
        ((9,), np.s_[4::-2], "[4::-2]"),
        ((3, 4), np.s_[1], "[1]"),
        ((3, 4), np.s_[:, 2], "[:, 2]"),
        ((3, 4), np.s_[::-1, ::2], "[::-1, ::2]"),
        ((3, 4), np.s_[1, 1:3], "[1, 1:3]"),
        ((3, 4), np.s_[1:2, 3], "[1:2, 3]"),
        ((3, 4, 5), np.s_[..., 0], "[:, :, 0]"),
        ((3, 4, 5), np.s_[2, :, 1:], "[2, :, 1:]"),
        ((3,), np.s_[:, None], "[:, None]"),
        ((3,), np.s_[None], "[None]"),
        ((3, 4), np.s_[:, 2:2], "[:, :0]"),
    ],
)
def test_slices(shape: tuple[int, ...], index: Any, text: str) -> None:
    assert slice_text(shape, *view_of(shape, index)) == text


@given(st.data())
def test_any_basic_index(data: st.DataObject) -> None:
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=5))
    index = data.draw(hnp.basic_indices(shape, allow_newaxis=True, max_dims=6))
    array = np.arange(np.prod(shape)).reshape(shape)
    wanted = array[index]
    text = slice_text(shape, *view_of(shape, index))
    if text is None:
        assert not wanted.size, "every view that holds something has its index"
    else:
        np.testing.assert_array_equal(eval(f"array{text}"), wanted)


def test_a_view_that_is_no_basic_index_has_none() -> None:
    assert slice_text((3,), (3, 3), (0, 1), 0) is None
    assert slice_text((3, 3), (3,), (4,), 0) is None  # the diagonal


def test_items() -> None:
    assert item_text((5,), 3) == "[3]"
    assert item_text((3, 4), 9) == "[2, 1]"
