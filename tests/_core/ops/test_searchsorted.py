"""Places among sorted doubles are NumPy's, also where they are not sorted."""

from __future__ import annotations

from typing import Any

import numpy as np

import hoad


def test_places_are_numpys() -> None:
    rng = np.random.default_rng(2)
    for k in range(60):
        a = rng.integers(-3, 4, size=k % 9).astype(float)
        a[rng.random(a.size) < 0.2] = (np.nan, -0.0, np.inf)[k % 3]
        a = np.sort(a) if k % 4 else a
        v = rng.integers(-4, 5, size=(2, k % 5)).astype(float)
        v[rng.random(v.shape) < 0.2] = np.nan
        for side in ("left", "right"):
            found = []

            def f(v: Any, a: Any = a, side: Any = side, found: Any = found) -> Any:
                found.append(hoad.value(np.searchsorted(a, v, side)))
                return np.sum(v)

            hoad.value_and_grad(f)(v)
            np.testing.assert_array_equal(found[0], np.searchsorted(a, v, side), strict=True)
