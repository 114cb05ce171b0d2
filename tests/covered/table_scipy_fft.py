"""scipy.fft: transforms by what they transform."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from covered.scipy_calls import NEWLY_D, Call, of

V = np.array([0.5, -1.25, 2.0, 0.75])
M = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]])


def _transforms() -> Iterator[Call]:
    for name in ("fft", "ifft", "rfft", "ihfft"):
        yield from of(f"fft.{name}", {"x": V}, D="x")
    for name in ("fft2", "ifft2", "fftn", "ifftn", "rfft2", "rfftn"):
        yield from of(f"fft.{name}", {"x": M}, D="x")
    for name in ("dct", "idct", "dst", "idst", "dctn", "idctn", "dstn", "idstn"):
        yield from of(f"fft.{name}", {"x": M}, D="x")
    for name in ("ihfft2", "ihfftn"):
        yield from of(f"fft.{name}", {"x": M}, N="x")
    for name in ("irfft", "hfft"):
        yield from of(f"fft.{name}", {"x": V}, call=lambda f, x: f(x * (1 + 0.5j)), D="x")
    for name in ("irfft2", "irfftn"):
        yield from of(f"fft.{name}", {"x": M}, call=lambda f, x: f(x * (1 + 0.5j)), D="x")
    for name in ("hfft2", "hfftn"):
        yield from of(f"fft.{name}", {"x": M}, call=lambda f, x: f(x * (1 + 0.5j)), N="x")
    for name in ("fht", "ifht"):
        yield from of(f"fft.{name}", {"a": V, "dln": 0.1, "mu": 0.5}, N="dln mu")
        yield from of(f"fft.{name}", {"a": V}, call=lambda f, a: f(a, 0.1, 0.5), **{NEWLY_D: "a"})
    yield from of("fft.fhtoffset", {"dln": 0.7, "mu": 0.5}, D="dln mu")
    for name in ("fftshift", "ifftshift"):
        yield from of(f"fft.{name}", {"x": M}, D="x")
    for name in ("fftfreq", "rfftfreq"):
        yield from of(f"fft.{name}", {"d": 0.7}, call=lambda f, d: f(4, d), D="d")


ROWS = list(_transforms())
LEFT = {
    "Lengths, workers and backends": (
        "next_fast_len prev_fast_len get_workers set_workers register_backend set_backend set_global_backend "
        "skip_backend"
    ),
}
