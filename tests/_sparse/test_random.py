"""Sparse derivatives of random programs: the first trials of their campaign."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

pytest.importorskip("scipy.sparse")

from campaigns.sparse import trial

import hoad


@pytest.mark.parametrize("block", [*range(2), *(pytest.param(k, marks=pytest.mark.slow) for k in range(2, 60))])
def test_random_programs(block: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", hoad.JitWarning)
        for k in range(5):
            assert trial(np.random.default_rng([20, block, k])) is None
