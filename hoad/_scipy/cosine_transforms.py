"""Cosine and sine transforms of `scipy.fft`, by Fourier transforms of twice the length.

References
----------
Martucci, S. A. (1994). Symmetric convolution and the discrete sine and cosine transforms. IEEE Transactions on Signal
Processing 42.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.fft

from hoad._numpy.complex import is_complex
from hoad._numpy.products import inexact
from hoad._scipy.registry import Function, implements

INVERSE = {1: 1, 2: 3, 3: 2, 4: 4}
SWAPPED = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


def _turn(angles: Any) -> Any:
    return np.exp(-1j * math.pi * angles)


def _cosine(x: Any, kind: int) -> Any:
    """Of the last axis, without a factor."""
    n = x.shape[-1]
    k = np.arange(n)
    if kind == 2:
        return 2.0 * np.real(_turn(k / (2 * n)) * np.fft.fft(x, 2 * n)[..., :n])
    if kind == 4:
        found = np.fft.fft(x * _turn(k / (2 * n)), 2 * n)[..., :n]
        return 2.0 * np.real(_turn((2 * k + 1) / (4 * n)) * found)
    weights = np.full(n, 2.0)
    weights[0] = 1.0
    if kind == 3:
        return np.real(np.fft.fft(x * (weights * _turn(k / (2 * n))), 2 * n)[..., :n])
    weights[-1] = 1.0
    return np.real(np.fft.fft(x * weights, 2 * (n - 1))[..., :n])


def _sine(x: Any, kind: int) -> Any:
    """The same."""
    n = x.shape[-1]
    k = np.arange(n)
    zero = 0.0 * x[..., :1]
    if kind == 1:
        return -2.0 * np.imag(np.fft.fft(np.concatenate([zero, x], -1), 2 * (n + 1))[..., 1 : n + 1])
    if kind == 2:
        return -2.0 * np.imag(_turn((k + 1) / (2 * n)) * np.fft.fft(x, 2 * n)[..., 1 : n + 1])
    if kind == 4:
        found = np.fft.fft(x * _turn(k / (2 * n)), 2 * n)[..., :n]
        return -2.0 * np.imag(_turn((2 * k + 1) / (4 * n)) * found)
    weights = np.full(n, 2.0)
    weights[-1] = 1.0
    later = np.concatenate([zero, x * weights], -1) * _turn(np.arange(n + 1) / (2 * n))
    return -np.imag(np.fft.fft(later, 2 * n)[..., :n])


def _scaled(x: Any, kind: int, sine: bool, norm: str | None, orthogonalize: bool | None) -> Any:
    """With SciPy's factors: of the whole, and of the items at the ends that make it orthogonal."""
    n = x.shape[-1]
    before, after = np.ones(n), np.ones(n)
    if norm == "ortho" if orthogonalize is None else orthogonalize:
        ends = [-1] if sine else [0, -1] if kind == 1 else [0]
        if kind == 3 or (kind == 1 and not sine):
            before[ends] = math.sqrt(2.0)
        if kind == 2 or (kind == 1 and not sine):
            after[ends] = math.sqrt(0.5)
    size = 2.0 * (n if kind > 1 else n + 1 if sine else n - 1)
    factor = {None: 1.0, "backward": 1.0, "ortho": 1.0 / math.sqrt(size), "forward": 1.0 / size}[norm]
    return (_sine if sine else _cosine)(x * before, kind) * (factor * after)


def _of_length(x: Any, n: int | None) -> Any:
    """Cut off, or with zeros behind."""
    if n is None or n == x.shape[-1]:
        return x
    return x[..., :n] if n < x.shape[-1] else np.pad(x, [*[(0, 0)] * (x.ndim - 1), (0, n - x.shape[-1])])


def _along(x: Any, axis: int, n: int | None, kind: int, sine: bool, norm: Any, orthogonalize: Any) -> Any:
    if is_complex(x):
        parts = [_along(part, axis, n, kind, sine, norm, orthogonalize) for part in (np.real(x), np.imag(x))]
        return parts[0] + 1j * parts[1]
    rows = _of_length(np.moveaxis(x, axis, -1), n)
    return np.moveaxis(_scaled(rows, kind, sine, norm, orthogonalize), -1, axis)


def _axes(x: Any, given: dict[str, Any]) -> tuple[list[int], list[Any]]:
    """The axes of a transform of several, and the length along each."""
    shape, axes = given.get("s"), given.get("axes")
    if axes is None:
        axes = range(0 if shape is None else x.ndim - np.size(shape), x.ndim)
    places: list[int] = np.atleast_1d(axes).tolist()
    return places, [None] * len(places) if shape is None else np.atleast_1d(shape).tolist()


def _declare(name: str) -> None:
    original: Function = getattr(scipy.fft, name)
    inverse, sine, several = name.startswith("i"), "dst" in name, name.endswith("n")

    def transform(x: Any, type: int = 2, **given: Any) -> Any:
        x, norm = inexact(x), given.get("norm")
        if inverse:
            type, norm = INVERSE[type], SWAPPED[norm]
        axes, lengths = _axes(x, given) if several else ([given.get("axis", -1)], [given.get("n")])
        for axis, n in zip(axes, lengths, strict=True):
            x = _along(x, axis, n, type, sine, norm, given.get("orthogonalize"))
        return x

    kind = f"{'inverse ' if inverse else ''}{'sine' if sine else 'cosine'} transform"
    transform.__doc__ = (
        f"The {kind} {'along some axes' if several else 'along an axis'}.\n\n"
        "Notes\n-----\nCost: a Fourier transform of twice the length along each axis."
    )
    transform.__name__ = name
    implements(original)(transform)


for _name in ("dct", "idct", "dst", "idst", "dctn", "idctn", "dstn", "idstn"):
    _declare(_name)
