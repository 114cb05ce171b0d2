"""Results written where their zeros lie already."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hoad


def chained(x: Any) -> Any:
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def exact(x: np.ndarray) -> np.ndarray:
    """The Hessian of `chained`, by hand: a band of three."""
    found = np.diag(np.append(2 + 1200 * x[:-1] ** 2 - 400 * x[1:], 0.0) + np.append(0.0, np.full(len(x) - 1, 200.0)))
    side = -400 * x[:-1]
    return found + np.diag(side, 1) + np.diag(side, -1)


@pytest.mark.parametrize("n", [60, 300])
def test_the_band_is_written_and_nothing_else(n: int) -> None:
    f = hoad.jit(hoad.hessian(chained), keep_zeros=True)
    x = np.linspace(0.5, 1.5, n)
    f(x)
    out = np.zeros((n, n))
    for shift in (0.0, 0.3, -1.0):
        assert f(x + shift, out=out) is out
        np.testing.assert_allclose(out, exact(x + shift), rtol=1e-14)
    out[0, n - 1] = 7.0  # what is off the band is the caller's
    f(x, out=out)
    assert out[0, n - 1] == 7.0
    np.testing.assert_allclose(f(x), exact(x), rtol=1e-14)


def test_without_it_zeros_are_written() -> None:
    f = hoad.jit(hoad.hessian(chained))
    x = np.linspace(0.5, 1.5, 300)
    f(x)
    out = np.full((300, 300), np.nan)
    np.testing.assert_allclose(f(x, out=out), exact(x), rtol=1e-14)
    assert not np.signbit(out[out == 0]).any()


def test_an_array_that_cannot_be_written_under_is_written_whole() -> None:
    """Strided and overlapping ones are copied to: zeros and all."""
    f = hoad.jit(hoad.hessian(chained), keep_zeros=True)
    x = np.linspace(0.5, 1.5, 300)
    f(x)
    strided = np.full((300, 600), np.nan)[:, ::2]
    np.testing.assert_allclose(f(x, out=strided), exact(x), rtol=1e-14)
    memory = np.full(300 * 300, np.nan)
    memory[:300] = x
    np.testing.assert_allclose(f(memory[:300], out=memory.reshape(300, 300)), exact(x), rtol=1e-14)


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (lambda x: np.exp(x) * 2, np.linspace(0, 1, 2000)),
        (hoad.hessian(lambda x: np.sum(np.exp(np.outer(x, x)))), np.linspace(0, 1, 50)),
        (lambda x: (np.sum(x), x * 2), np.linspace(0, 1, 2000)),
    ],
    ids=["no zeros", "dense", "two results"],
)
def test_what_has_no_zeros_that_are_known_is_written_whole(f: Any, x: np.ndarray) -> None:
    want = f(x)
    fast = hoad.jit(f, keep_zeros=True)
    fast(x)
    outs = tuple(np.full(np.shape(y), np.nan) for y in want) if isinstance(want, tuple) else np.full(want.shape, np.nan)
    for _ in range(2):
        found = fast(x, out=outs)
        for a, b in zip(found, want, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-13)


def test_zeros_with_a_sign_are_not_left_out() -> None:
    base = -np.zeros(3000)

    def f(x: Any) -> Any:
        y = np.array(base, like=x)
        y[::3] = x
        return y

    x = np.linspace(1, 2, 1000)
    want = base.copy()
    want[::3] = x
    out = np.full(3000, np.nan)
    fast = hoad.jit(f)
    for _ in range(2):
        fast(x, out=out)
        assert np.array_equal(out, want)
        assert np.array_equal(np.signbit(out), np.signbit(want))


def test_it_is_true_or_false() -> None:
    with pytest.raises(hoad.ArgumentError, match="keep_zeros as True or False, not 1"):
        hoad.jit(chained, keep_zeros=1)  # type: ignore[arg-type]


SHIFTED = True


def by_global(x: Any) -> Any:
    return shifted(x, 2 if SHIFTED else 1)


def shifted(x: Any, k: int) -> Any:
    return np.sum(100 * (x[k:] - x[:-k] ** 2) ** 2 + (1 - x[:-k]) ** 2)


def test_a_pattern_that_changes_with_a_static_argument() -> None:
    """What one recording wrote there is no zero of another."""
    x, n = np.linspace(0.5, 1.5, 200), 200
    hessian = hoad.hessian(shifted)
    fast = hoad.jit(hessian, keep_zeros=True)
    out, other = np.zeros((n, n)), np.zeros((n, n))
    for k, at in [
        (1, out),
        (2, out),
        (1, out),
        (1, out),
        (2, other),
        (2, out),
        (1, other),
        (1, out),
        (2, out),
        (2, out),
    ]:
        np.testing.assert_array_equal(fast(x, k, out=at), hessian(x, k))


def test_a_pattern_that_changes_with_a_global(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.linspace(0.5, 1.5, 200)
    hessian = hoad.hessian(by_global)
    fast = hoad.jit(hessian, keep_zeros=True)
    out = np.zeros((200, 200))
    for flag in (True, False, True, True, False, False, True):
        monkeypatch.setitem(globals(), "SHIFTED", flag)
        np.testing.assert_array_equal(fast(x, out=out), hessian(x))
