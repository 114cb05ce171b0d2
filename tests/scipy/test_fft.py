"""Cosine and sine transforms: values as SciPy's, and since they are linear, derivatives as its transform."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

sf = pytest.importorskip("scipy.fft")

import hoad  # noqa: E402

X = np.sin(0.7 * np.arange(24.0)).reshape(2, 3, 4) + 0.5
D = np.cos(1.3 * np.arange(24.0)).reshape(2, 3, 4)
OPTIONS: list[dict[str, Any]] = [
    *[{"type": kind, "norm": norm} for kind in (1, 2, 3, 4) for norm in (None, "ortho", "forward")],
    *[{"type": kind, "norm": "ortho", "orthogonalize": False, "axis": 0} for kind in (2, 3)],
    *[{"type": kind, "orthogonalize": True, "axis": 1} for kind in (1, 2, 3, 4)],
    {"n": 7},
    {"n": 3, "axis": 2, "type": 3},
]
OF_SEVERAL: list[dict[str, Any]] = [
    {"type": 3},
    {"axes": 1},
    {"axes": (0, 2), "norm": "ortho"},
    {"s": (2, 5)},
    {"s": (3, 3), "axes": (1, 0), "type": 4},
]
CALLS = [
    *[(name, options) for name in ("dct", "idct", "dst", "idst") for options in OPTIONS],
    *[(name, options) for name in ("dctn", "idctn", "dstn", "idstn") for options in OF_SEVERAL],
]


@pytest.mark.parametrize(("name", "options"), CALLS)
def test_transforms(name: str, options: dict[str, Any]) -> None:
    plain = getattr(sf, name)
    f = hoad.adopt(lambda x: plain(x, **options))
    value, slope = hoad.jvp(f, (X,), (D,))
    np.testing.assert_allclose(value, plain(X, **options), rtol=0, atol=1e-13)
    np.testing.assert_allclose(slope, plain(D, **options), rtol=0, atol=1e-13)
    weights = plain(D, **options)
    adjoint = hoad.grad(hoad.adopt(lambda x: np.sum(weights * plain(x, **options))))(X)
    assert np.sum(adjoint * D) == pytest.approx(np.sum(weights**2), rel=1e-12)


def test_of_other_numbers() -> None:
    z, d = X + 1j * D, D - 0.5j * X
    value, slope = hoad.jvp(hoad.adopt(lambda x: sf.dct(x)), (z,), (d,))
    np.testing.assert_allclose(value, sf.dct(z), atol=1e-13)
    np.testing.assert_allclose(slope, sf.dct(d), atol=1e-13)
    single = hoad.jvp(hoad.adopt(lambda x: sf.dct(x)), (X.astype(np.float32),), (D.astype(np.float32),))[1]
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, sf.dct(D), atol=1e-5)
    jitted = hoad.jit(hoad.grad(hoad.adopt(lambda x: np.sum(sf.idctn(sf.dctn(x) ** 2) ** 2))))
    for x in (X, D):
        around = [np.sum(sf.idctn(sf.dctn(x + h * D) ** 2) ** 2) for h in (-1e-4, 1e-4)]
        assert np.sum(jitted(x) * D) == pytest.approx((around[1] - around[0]) / 2e-4, rel=1e-6)
