"""Filters and convolutions: values as SciPy's, derivatives as those of SciPy's plain values, in every mode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

ss = pytest.importorskip("scipy.signal")

from _numpy.agreement import assert_same  # noqa: E402
from _scipy.orders import assert_fits  # noqa: E402

import hoad  # noqa: E402
from hoad.scipy import signal  # noqa: E402

X = np.sin(0.7 * np.arange(24.0)) + 0.1 * np.cos(3.0 * np.arange(24.0))
D = np.cos(1.3 * np.arange(24.0))
B, A = np.array([0.25, 0.5, 0.125]), np.array([1.5, -0.5, 0.25])
SOS = np.array([[0.5, 0.25, 0.125, 1.0, -0.5, 0.25], [1.0, 0.5, 0.25, 1.0, 0.25, -0.125]])
STACK = np.stack([X, X[::-1], X**2])
# Of signals, all of which are linear in them.
LINEAR: dict[str, Callable[[Any], Any]] = {
    "convolve": lambda x: signal.convolve(x, B),
    "convolve, same": lambda x: signal.convolve(x, B, mode="same", method="direct"),
    "convolve, fft": lambda x: signal.convolve(x, B, method="fft"),
    "fftconvolve": lambda x: signal.fftconvolve(x, B, mode="valid"),
    "fftconvolve of a matrix": lambda x: signal.fftconvolve(x.reshape(4, 6), SOS[:, :2]),
    "oaconvolve": lambda x: signal.oaconvolve(x, B),
    "correlate": lambda x: signal.correlate(x, B),
    "correlate, fft": lambda x: signal.correlate(x, B, method="fft"),
    "lfilter": lambda x: signal.lfilter(B, A, x),
    "lfilter, finite": lambda x: signal.lfilter(B, 2.0, x),
    "lfilter, a number": lambda x: signal.lfilter([3.0], [2.0], x),
    "lfilter, an axis": lambda x: signal.lfilter(B, A, x.reshape(6, 4), axis=0),
    "lfilter, a longer a": lambda x: signal.lfilter([1.0], A, x.reshape(2, 3, 4)),
    "lfilter, a state": lambda x: signal.lfilter(B, A, x[:20], zi=x[20:22])[1],
    "sosfilt": lambda x: signal.sosfilt(SOS, x),
    "sosfilt, states": lambda x: signal.sosfilt(SOS, x[:20], zi=x[20:].reshape(2, 2))[0],
    "filtfilt": lambda x: signal.filtfilt(B, A, x),
    "filtfilt, without padding": lambda x: signal.filtfilt(B, A, x, padlen=0),
    "sosfiltfilt": lambda x: signal.sosfiltfilt(SOS, x),
    "hilbert": lambda x: np.imag(signal.hilbert(x)),
    **{
        f"savgol_filter, {mode}, {n}": lambda x, mode=mode, n=n: signal.savgol_filter(x, n, 2, mode=mode)
        for mode, n in (("interp", 7), ("interp", 6), ("mirror", 5), ("nearest", 4), ("wrap", 5), ("constant", 9))
    },
    "savgol_filter, slopes along an axis": lambda x: signal.savgol_filter(x.reshape(8, 3), 5, 3, 1, 0.5, axis=0),
    "stft": lambda x: np.imag(signal.stft(x, nperseg=8)[2]),
    "stft of two sides": lambda x: np.real(signal.stft(x, nperseg=6, return_onesided=False, detrend="linear")[2]),
    "upfirdn": lambda x: signal.upfirdn(B, x, 3, 2),
    "upfirdn, an axis": lambda x: signal.upfirdn(B, x.reshape(4, 6), 2, 5, axis=0),
    "resample_poly": lambda x: signal.resample_poly(x, 3, 4),
    **{
        f"{name}, {mode}, {boundary}": lambda x, name=name, mode=mode, boundary=boundary: getattr(signal, name)(
            x.reshape(4, 6), SOS[:, :3] if boundary == "wrap" else STACK[:3, :4], mode, boundary
        )
        for name in ("convolve2d", "correlate2d")
        for mode in ("full", "same", "valid")
        for boundary in ("fill", "wrap", "symm")
    },
    **{
        f"{name}, {mode}, of {len(shape)} dimensions": lambda x, name=name, mode=mode, shape=shape, b=b: getattr(
            signal, name
        )(x.reshape(shape), b, mode, "direct")
        for name in ("convolve", "correlate")
        for mode in ("full", "same", "valid")
        for shape, b in (((4, 6), STACK[:3, :4]), ((2, 3, 4), SOS[:, :3, None] + B[None, :, None]))
    },
    "convolve, of the smaller matrix": lambda x: signal.convolve(x.reshape(4, 6), STACK.T[:4, :3] + B, "same"),
    "correlate, of the larger matrix": lambda x: signal.correlate(x[:6].reshape(2, 3), STACK[:3, :9], "valid"),
    "convolve, same as the shorter": lambda x: signal.convolve(x[:4], X, "same", "direct"),
    "convolve2d of the smaller one": lambda x: signal.convolve2d(x[:6].reshape(2, 3), STACK[:3, :9], "valid"),
    "correlate2d of the smaller one": lambda x: signal.correlate2d(x[:6].reshape(2, 3), STACK[:3, :9], "valid"),
    "resample": lambda x: signal.resample(x, 10),
}
# Of coefficients.
BY_FILTERS: dict[str, Callable[[Any], Any]] = {
    "lfilter, b": lambda t: signal.lfilter(B + t * A, A, X),
    "lfilter, a": lambda t: signal.lfilter(B, A + t * B, X),
    "sosfilt": lambda t: signal.sosfilt(SOS + t * SOS[::-1] * [1, 1, 1, 0, 1, 1], X),
    "filtfilt": lambda t: signal.filtfilt(B + t * A, A + t * B, X),
    "freqz": lambda t: np.abs(signal.freqz(B + t * A, A + t * B, worN=16)[1]) ** 2,
    "convolve": lambda t: signal.convolve(X + t * D, B + t * A),
    "convolve of matrices": lambda t: signal.convolve((X + t * D).reshape(4, 6), SOS[:, :3] + t * A, method="direct"),
    "fftconvolve": lambda t: signal.fftconvolve(X + t * D, B + t * A),
    "welch": lambda t: signal.welch(X + t * D, nperseg=8, noverlap=2)[1],
    "spectrogram": lambda t: signal.spectrogram(X + t * D, nperseg=7, detrend=False)[2],
    "csd": lambda t: np.abs(signal.csd(X + t * D, X - D, nperseg=8)[1]) ** 2,
    "periodogram": lambda t: signal.periodogram(X + t * D)[1],
}


@pytest.mark.parametrize("name", LINEAR)
def test_what_is_linear(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    f = LINEAR[name]
    value, slope = hoad.jvp(f, (X,), (D,))
    plain = f(X)
    jitted = hoad.jit(hoad.grad(lambda x: np.sum(f(x) * f(D))))
    reverse = [jitted(x) @ D for x in (X, D)]
    monkeypatch.setitem(globals(), "signal", ss)
    assert_same(plain, f(X))
    np.testing.assert_allclose(value, f(X), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(slope, f(D), rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(reverse, [np.sum(f(D) ** 2)] * 2, rtol=1e-11)


@pytest.mark.parametrize("name", BY_FILTERS)
def test_by_coefficients(name: str) -> None:
    assert_fits(BY_FILTERS[name], 0.0, 0.0625, 1e-6, 0.1)


def test_medians_and_other_ranks() -> None:
    """The derivative is that of the item which is the median: as of differences of SciPy's values."""
    for f in (
        lambda m, x: m.medfilt(x, 5),
        lambda m, x: m.medfilt(x.reshape(4, 6), [3, 1]),
        lambda m, x: m.medfilt2d(x.reshape(4, 6)),
        lambda m, x: m.order_filter(x, [1, 0, 1], 1),
        lambda m, x: m.order_filter(x.reshape(4, 6), [[0, 1, 1], [1, 1, 0], [0, 1, 0]], 3),
    ):
        value, slope = hoad.jvp(lambda x, f=f: f(signal, x), (X,), (D,))
        np.testing.assert_array_equal(value, f(ss, X))
        np.testing.assert_allclose(slope, (f(ss, X + 1e-6 * D) - f(ss, X - 1e-6 * D)) / 2e-6, rtol=1e-8, atol=1e-9)


def test_complex_convolutions_of_matrices() -> None:
    a, b = X.reshape(4, 6) + 0.5j, SOS[:, :3] - 0.25j
    for f in (signal.convolve2d, signal.correlate2d, signal.convolve, signal.correlate):
        value, slope = hoad.jvp(lambda t, f=f: f(a + t * b[0, 0] * 1j, b + t), (0.0,), (1.0,))
        plain = lambda t, f=f: getattr(ss, f.__name__)(a + t * b[0, 0] * 1j, b + t)  # noqa: E731
        np.testing.assert_allclose(value, plain(0.0), rtol=1e-13)
        np.testing.assert_allclose(slope, (plain(1e-3) - plain(-1e-3)) / 2e-3, rtol=1e-9)


def test_a_stack_of_signals() -> None:
    found = hoad.jvp(lambda x: signal.lfilter(B, A, x), (STACK,), (STACK,))
    np.testing.assert_allclose(found[0], ss.lfilter(B, A, STACK), rtol=1e-13, atol=1e-15)
    mapped = hoad.vmap(lambda x: signal.lfilter(B, A, x))(STACK)
    np.testing.assert_allclose(mapped, ss.lfilter(B, A, STACK), rtol=1e-13, atol=1e-15)


def test_single_precision() -> None:
    x = X.astype(np.float32)
    found = hoad.jvp(lambda x: signal.lfilter(B.astype(np.float32), A.astype(np.float32), x), (x,), (x,))[0]
    assert found.dtype == np.float32


def test_errors_are_scipys() -> None:
    with pytest.raises(ValueError, match="zi"):
        hoad.jvp(lambda x: signal.lfilter(B, A, x, zi=np.zeros(5))[0], (X,), (D,))


def test_peaks_are_found_again() -> None:
    """Another signal has other peaks, and prominences with other bases."""
    jitted = hoad.jit(hoad.grad(lambda x: np.sum(signal.find_peaks(x, prominence=0.1)[1]["prominences"] ** 2)))
    first, other = [0.0, 1.0, 0.5, 3.0, 2.0, 2.5, 1.0], [3.0, 1.0, 0.5, 0.7, 0.2, 2.5, 1.0]
    for x in (first, other, [1.1 * v for v in first]):
        peaks, told = ss.find_peaks(x, prominence=0.1)
        wanted = np.zeros(7)
        for k, height, *bases in zip(peaks, *told.values(), strict=True):
            wanted[k] += 2.0 * height
            wanted[max(bases, key=lambda j, x=x: x[j])] -= 2.0 * height
        np.testing.assert_allclose(jitted(np.array(x)), wanted, rtol=1e-13)
    with pytest.raises(hoad.NoRuleError, match="widths"):
        hoad.grad(lambda x: signal.find_peaks(x, width=1.0)[1]["widths"][0])(np.array(x))
