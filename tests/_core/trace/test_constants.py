"""Integers and float32 that come of traced values keep the dtype and the values that NumPy gives them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hoad

M = np.array([[3.0, 1.0, 2.0], [4.0, 0.0, 5.0]])

CASES: dict[str, Callable[[Any], Any]] = {
    "tril": np.tril,
    "triu": lambda x: np.triu(x, 1),
    "pad": lambda x: np.pad(x, 1),
    "sort": np.sort,
    "argsort": np.argsort,
    "trace": np.trace,
    "cumsum": np.cumsum,
    "cumprod": np.cumprod,
    "diff": np.diff,
    "var": np.var,
    "std": lambda x: np.std(x, axis=0, ddof=1),
    "median": np.median,
    "quantile": lambda x: np.quantile(x, [0.3, 0.8]),
    "quantile, a number": lambda x: np.quantile(x, 0.3),
    "percentile": lambda x: np.percentile(x, [30, 80]),
    "percentile, a number": lambda x: np.percentile(x, 30),
    "average": np.average,
    "ptp": np.ptp,
    "einsum": lambda x: np.einsum("ij,kj", x, x),
    "einsum of three": lambda x: np.einsum("ij,kj,kl", x, x, x),
    "tensordot": lambda x: np.tensordot(x, x),
    "inner": lambda x: np.inner(x, x),
    "kron": lambda x: np.kron(x, x),
    "cross": lambda x: np.cross(x[0], x[1]),
    "diag": lambda x: np.diag(x[0]),
    "diagflat": np.diagflat,
    "convolve": lambda x: np.convolve(x[0], x[1]),
    "gradient": lambda x: np.gradient(x, axis=1),
    "polyval": lambda x: np.polyval(x[0], x[1]),
    "interp": lambda x: np.interp(x, [0, 5], [1.0, 2.0]),
    "trapezoid": np.trapezoid,
    "vander": lambda x: np.vander(x[0]),
    "take": lambda x: np.take(x, [1, 0]),
    "choose": lambda x: np.choose([0, 1, 0], x),
    "select": lambda x: np.select([x > 2], [x], 0),
    "roll": lambda x: np.roll(x, 1),
    "tile": lambda x: np.tile(x, 2),
    "block": lambda x: np.block([x, x]),
    "nansum": np.nansum,
    "nanprod": np.nanprod,
    "nanmax": np.nanmax,
    "nancumsum": np.nancumsum,
    "nan_to_num": np.nan_to_num,
    "matrix_power": lambda x: np.linalg.matrix_power(x[:, :2], 3),
    "matrix_power, 0": lambda x: np.linalg.matrix_power(x[:, :2], 0),
    "multi_dot": lambda x: np.linalg.multi_dot([x, x.T, x]),
    "pinv": np.linalg.pinv,
    "svdvals": np.linalg.svdvals,
    "eigvalsh": lambda x: np.linalg.eigvalsh(x @ x.T),
    "cholesky": lambda x: np.linalg.cholesky(x @ x.T),
    "norm 2": lambda x: np.linalg.norm(x, 2),
    "lstsq": lambda x: np.linalg.lstsq(x, x[:, 0])[0],
}


@pytest.mark.parametrize("dtype", [np.int64, np.float32])
@pytest.mark.parametrize("name", CASES)
def test_dtypes_and_values(name: str, dtype: Any) -> None:
    f = CASES[name]
    found: list[Any] = []

    def record(t: Any) -> Any:
        found.append(np.asarray(hoad.value(f(np.floor(t).astype(dtype)))))
        return np.sum(t)

    hoad.grad(record)(M)
    want = np.asarray(f(M.astype(dtype)))
    assert found[0].dtype == want.dtype
    np.testing.assert_allclose(found[0], want, rtol=2e-6, atol=2e-6)
