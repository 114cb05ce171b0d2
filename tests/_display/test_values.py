"""Numbers and arrays as short text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hoad._display.values import constant_text, value_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (4.0, "4"),
        (-0.5365729180004349, "-0.536573"),
        (1.5e-9, "1.5e-09"),
        (123456789.0, "1.23457e+08"),
        (-0.0, "-0"),
        (np.inf, "inf"),
        (np.nan, "nan"),
        (True, "True"),
        (np.bool_(False), "False"),
        (123456789, "123456789"),
        (1 + 2j, "(1+2j)"),
        (np.array(2.0, dtype=np.float32), "2"),
        (np.array([1, 9]), "[1, 9]"),
        (np.eye(2), "[[1, 0], [0, 1]]"),
        (np.zeros(7), "array(7,)"),
        (np.zeros((3, 4)), "array(3, 4)"),
        (np.zeros((2, 0)), "[[], []]"),
    ],
)
def test_constants(value: Any, text: str) -> None:
    assert constant_text(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "?"),
        (20.780562, "20.7806"),
        (True, "True"),
        (np.array([0.1, 0.25]), "[0.1, 0.25]"),
        (np.array(6.0, dtype=np.float32), "6 float32"),
        (np.arange(3), "[0, 1, 2] int64"),
        (np.linspace(0, 1, 1000), "(1000,): 0, 0.001001, 0.002002, ..."),
        (np.arange(12.0).reshape(3, 4), "(3, 4): 0, 1, 2, ..."),
        (np.arange(12.0, dtype=np.float32).reshape(3, 4).T, "(4, 3) float32: 0, 4, 8, ..."),
        (np.zeros((3, 0)), "(3, 0)"),
        (np.zeros(7, dtype=bool), "(7,): False, False, False, ..."),
        (np.array([1j, 2]), "[(0+1j), (2+0j)]"),
    ],
)
def test_values(value: Any, text: str) -> None:
    assert value_text(value) == text
