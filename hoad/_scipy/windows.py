"""Filters that see a window of each item: smoothing by polynomials, medians, and convolutions of two dimensions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.signal

from hoad._core.base.frame_globals import Apart
from hoad._core.trace.coerce import holds_traced
from hoad._numpy.products import inexact
from hoad._scipy.compiled import in_place_of, module
from hoad._scipy.registry import IMPLEMENTED, common, implements, refused

PADS = {"mirror": "reflect", "nearest": "edge", "wrap": "wrap", "constant": "constant", "interp": "constant"}
BOUNDARIES = {"fill": "constant", "wrap": "wrap", "symm": "symmetric"}


def _padded(x: Any, widths: Any, mode: Any, value: Any = 0.0) -> Any:
    return np.pad(x, widths, mode, constant_values=value) if mode == "constant" else np.pad(x, widths, mode)


def _windows(x: Any, sizes: tuple[int, ...]) -> Any:
    """The windows of these sizes along the last axes."""
    return np.lib.stride_tricks.sliding_window_view(x, sizes, tuple(range(-len(sizes), 0)))


# ---- along an axis ---------------------------------------------------------------------------------------------------


@implements(scipy.signal.savgol_filter)
def savgol_filter(
    x: Any,
    window_length: int,
    polyorder: int,
    deriv: int = 0,
    delta: Any = 1.0,
    axis: int = -1,
    mode: str = "interp",
    cval: Any = 0.0,
) -> Any:
    """x smoothed, or its derivative, by polynomials that fit the items of a window.

    Notes
    -----
    Cost: the product of the windows and a vector.

    Examples
    --------
    >>> from hoad.scipy import signal
    >>> hoad.grad(lambda x: signal.savgol_filter(x, 3, 1)[2])(np.zeros(5)).round(3)
    array([0.   , 0.333, 0.333, 0.333, 0.   ])
    """
    rows, half = np.moveaxis(inexact(x), axis, -1), window_length // 2
    around = np.arange(-half, half + 1)
    impulse = np.zeros(6 * half + 3)
    impulse[3 * half + 1] = 1.0
    with Apart():
        weights = scipy.signal.savgol_filter(impulse, window_length, polyorder, deriv, mode="constant")
        ends = scipy.signal.savgol_filter(np.eye(window_length), window_length, polyorder, deriv, axis=0)
    widths = [*[(0, 0)] * (rows.ndim - 1), (half, half)]
    made = _windows(_padded(rows, widths, PADS[mode], cval), (2 * half + 1,)) @ weights[3 * half + 1 - around]
    if mode == "interp" and half:
        first = rows[..., :window_length] @ ends[:half].T
        last = rows[..., -window_length:] @ ends[-half:].T
        made = np.concatenate([first, made[..., half:-half], last], axis=-1)
    return np.moveaxis(made / delta**deriv, -1, axis)


@implements(scipy.signal.upfirdn)
def upfirdn(h: Any, x: Any, up: int = 1, down: int = 1, axis: int = -1, mode: str = "constant", cval: Any = 0.0) -> Any:
    """x with zeros put in between its items, through the filter h, of which some items are taken.

    Notes
    -----
    Cost: the product of the windows and a vector.

    Examples
    --------
    >>> from hoad.scipy import signal
    >>> hoad.grad(lambda x: np.sum(signal.upfirdn([1.0, 2.0], x, up=2)))(np.ones(3))
    array([3., 3., 3.])
    """
    if mode != "constant" or np.any(np.asarray(cval)):
        raise refused("upfirdn", "with a signal that goes on beyond its ends", "Pad it with np.pad.", "scipy.signal")
    h, x = common(inexact(h), inexact(x))
    rows = np.moveaxis(x, axis, -1)
    apart = np.stack([rows, *[0.0 * rows] * (up - 1)], -1)
    long = np.reshape(apart, (*rows.shape[:-1], -1))[..., : (rows.shape[-1] - 1) * up + 1]
    room = h.shape[0] - 1
    whole = np.pad(long, [*[(0, 0)] * (rows.ndim - 1), (room, room)])
    return np.moveaxis(_windows(whole, (h.shape[0],))[..., ::down, :] @ h[::-1], -1, axis)


# ---- order statistics ------------------------------------------------------------------------------------------------


def _ranked(x: Any, footprint: Any, rank: int) -> Any:
    """Of each window, beyond which there are zeros, the item of a rank among those of the footprint."""
    whole = np.pad(x, [(n // 2, n // 2) for n in footprint.shape])
    windows = np.reshape(_windows(whole, footprint.shape), (*x.shape, footprint.size))
    return np.sort(windows[..., np.flatnonzero(footprint)], -1)[..., rank]


@implements(scipy.signal.order_filter)
def order_filter(a: Any, domain: Any, rank: int) -> Any:
    """Of each window the item of a rank, with its derivative.

    Notes
    -----
    Cost: all windows are sorted.

    Examples
    --------
    >>> from hoad.scipy import signal
    >>> hoad.grad(lambda x: signal.order_filter(x, np.ones(3), 2)[1])(np.array([1.0, 3.0, 2.0]))
    array([0., 1., 0.])
    """
    return _ranked(inexact(a), np.asarray(domain) != 0, rank)


@implements(scipy.signal.medfilt)
def medfilt(volume: Any, kernel_size: Any = None) -> Any:
    """The median of each window, with the derivative of the item that it is.

    Notes
    -----
    Cost: all windows are sorted.

    Examples
    --------
    >>> from hoad.scipy import signal
    >>> hoad.grad(lambda x: signal.medfilt(x)[1])(np.array([1.0, 3.0, 2.0]))
    array([0., 0., 1.])
    """
    x = np.atleast_1d(inexact(volume))
    sizes = np.broadcast_to(3 if kernel_size is None else np.asarray(kernel_size), (x.ndim,)).tolist()
    return _ranked(x, np.ones(sizes, bool), math.prod(sizes) // 2)


@implements(scipy.signal.medfilt2d)
def medfilt2d(input: Any, kernel_size: Any = 3) -> Any:
    """The median of each window of a matrix, with the derivative of the item that it is.

    Notes
    -----
    Cost: all windows are sorted.

    Examples
    --------
    >>> from hoad.scipy import signal
    >>> x = np.array([[1.0, 3.0, 7.0], [4.0, 2.0, 6.0], [8.0, 9.0, 5.0]])
    >>> hoad.grad(lambda x: signal.medfilt2d(x)[1, 1])(x)
    array([[0., 0., 0.],
           [0., 0., 0.],
           [0., 0., 1.]])
    """
    return medfilt(input, kernel_size)


# ---- two dimensions --------------------------------------------------------------------------------------------------


def _convolved(a: Any, b: Any, mode: str, boundary: str, value: Any, later: int = 0) -> Any:
    """The items of a convolution of the mode; of an even window what is in the middle may be one item later."""
    widths = [(n - 1, n - 1) for n in b.shape]
    before = {
        "full": (0, 0),
        "same": tuple((n - 1 + later) // 2 for n in b.shape),
        "valid": tuple(n - 1 for n in b.shape),
    }[mode]
    shape = {
        "full": tuple(m + n - 1 for m, n in zip(a.shape, b.shape, strict=True)),
        "same": a.shape,
        "valid": tuple(m - n + 1 for m, n in zip(a.shape, b.shape, strict=True)),
    }[mode]
    windows = _windows(_padded(a, widths, BOUNDARIES[boundary], value), b.shape)
    kept = windows[before[0] : before[0] + shape[0], before[1] : before[1] + shape[1]]
    return np.tensordot(kept, b[::-1, ::-1], 2)


def _is_smaller(mode: str, a: Any, b: Any) -> bool:
    """Whether a is the window where it has to be as large as b."""
    return mode == "valid" and any(m < n for m, n in zip(a.shape, b.shape, strict=True))


@implements(scipy.signal.convolve2d)
def convolve2d(in1: Any, in2: Any, mode: str = "full", boundary: str = "fill", fillvalue: Any = 0) -> Any:
    """The convolution of two matrices.

    Notes
    -----
    Cost: the product of the windows of one matrix and the other.

    Examples
    --------
    >>> from hoad.scipy import signal
    >>> hoad.grad(lambda x: signal.convolve2d(x, [[1.0, 2.0]])[0, 1])(np.ones((1, 2)))
    array([[2., 1.]])
    """
    a, b = common(inexact(in1), inexact(in2))
    if _is_smaller(mode, a, b):
        a, b = b, a
    return _convolved(a, b, mode, boundary, fillvalue)


@implements(scipy.signal.correlate2d)
def correlate2d(in1: Any, in2: Any, mode: str = "full", boundary: str = "fill", fillvalue: Any = 0) -> Any:
    """The cross-correlation of two matrices.

    Notes
    -----
    Cost: the product of the windows of one matrix and the other.

    Examples
    --------
    >>> from hoad.scipy import signal
    >>> hoad.grad(lambda x: signal.correlate2d(x, [[1.0, 2.0]])[0, 1])(np.ones((1, 2)))
    array([[1., 2.]])
    """
    a, b = common(inexact(in1), inexact(in2))
    swapped = _is_smaller(mode, a, b)
    if swapped:
        a, b = b, a
    made = _convolved(a, np.conjugate(b)[::-1, ::-1], mode, boundary, fillvalue, later=1)
    return made[::-1, ::-1] if swapped else made


# ---- any number of dimensions ----------------------------------------------------------------------------------------


@in_place_of(module("scipy.signal._sigtools"), "_correlateND", out=2)
def _correlate_nd(a: Any, b: Any, mode: int) -> Any:
    """What `convolve` and `correlate` end in without Fourier transforms; but for "valid", zeros are put behind a."""
    if mode:  # 1: "same", 2: "full"
        sizes = [n - (m - 1) * (2 - mode) for n, m in zip(a.shape, b.shape, strict=True)]
        a = np.pad(a, [(m // 2 if mode == 1 else m - 1, 0) for m in b.shape])
        a = a[tuple(slice(n + m - 1) for n, m in zip(sizes, b.shape, strict=True))]
    return np.tensordot(_windows(a, b.shape), np.conjugate(b), b.ndim)


# ---- spectra ---------------------------------------------------------------------------------------------------------


def _spectra(x: Any, win: Any, detrend_func: Any, nperseg: int, noverlap: int, nfft: int, sides: str) -> Any:
    """The Fourier transforms of windows, of each its trend taken away, for `welch` and what is like it."""
    if not holds_traced([x, win]):
        return _spectral._fft_helper(x, win, detrend_func, nperseg, noverlap, nfft, sides)  # type: ignore[union-attr]
    parts = win * detrend_func(_windows(x, (nperseg,))[..., :: nperseg - noverlap, :])
    return np.fft.fft(parts, nfft) if sides == "twosided" else np.fft.rfft(np.real(parts), nfft)


_spectral = module("scipy.signal._spectral_py")
if hasattr(_spectral, "_fft_helper"):
    IMPLEMENTED[_spectral._fft_helper] = _spectra  # type: ignore[union-attr]
