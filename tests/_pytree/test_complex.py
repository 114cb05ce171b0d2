"""Complex leaves of containers: derivatives against closed forms, and how errors name them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import hoad

A, B, R = 1.0 + 2.0j, np.array([1j, 2.0 + 1j]), 0.5
POINT = {"a": A, "b": [B], "r": R, "n": 3}


def close(got: Any, want: Any) -> None:
    np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-13)


def energy(p: Any) -> Any:
    """u = Σ |a b|² + r Re a."""
    return np.sum(np.abs(p["a"] * p["b"][0]) ** 2) + p["r"] * np.real(p["a"])


def energy_gradient(p: Any) -> Any:
    a, b, r = p["a"], p["b"][0], p["r"]
    size = np.sum(abs(b) ** 2)
    return {"a": 2 * a.conjugate() * size + r, "b": [2 * abs(a) ** 2 * b.conj()], "r": a.real, "n": None}


def test_gradient() -> None:
    found = hoad.grad(energy)(POINT)
    want = energy_gradient(POINT)
    assert type(found["a"]) is complex and type(found["r"]) is float
    close(found["a"], want["a"])
    close(found["b"][0], want["b"][0])
    close(found["r"], want["r"])
    recorded = hoad.gradient(hoad.record(energy, POINT)).evaluate({"a": 2 * A, "b": [B * 1j], "r": 1.5, "n": 3})
    want = energy_gradient({"a": 2 * A, "b": [B * 1j], "r": 1.5})
    close(recorded["a"], want["a"])
    close(recorded["b"][0], want["b"][0])


def test_second_order() -> None:
    """What the gradient changes by along v, by the product rule."""
    v = {"a": 0.5 - 1j, "b": [np.array([1.0 + 1j, -2j])], "r": 2.0, "n": None}
    a, b, da, db = A, B, v["a"], v["b"][0]
    size, change = np.sum(abs(b) ** 2), np.sum(2 * (b.conj() * db).real)
    want_a = 2 * np.conj(da) * size + 2 * a.conjugate() * change + v["r"]
    want_b = 2 * (2 * (a.conjugate() * da).real * b.conj() + abs(a) ** 2 * db.conj())
    for found in (
        hoad.hvp(energy)(POINT, v),
        hoad.vhp(energy)(POINT, v),
        hoad.jvp(hoad.grad(energy), (POINT,), (v,))[1],
    ):
        close(found["a"], want_a)
        close(found["b"][0], want_b)
        close(found["r"], np.real(da))


def wave(p: Any) -> Any:
    return {"size": np.abs(p[0]), "wave": [np.exp(1j * p[0])]}


def test_complex_results_beside_real_ones() -> None:
    x = 0.7
    jacobian = hoad.jacobian(wave)([x])
    assert type(jacobian["size"][0]) is float
    close(jacobian["size"][0], 1.0)
    close(jacobian["wave"][0][0], 1j * np.exp(1j * x))
    close(hoad.jvp(wave, ([x],), ([2.0],))[1]["wave"][0], 2j * np.exp(1j * x))
    close(hoad.vjp(wave, [x])[1]({"size": 2.0, "wave": [1j]})[0][0], 2.0 + (1j * 1j * np.exp(1j * x)).real)
    close(hoad.linearize(wave, [x])[1]([1.0])["wave"][0], 1j * np.exp(1j * x))
    close(hoad.record(wave, [x]).evaluate([2.0])["wave"][0], np.exp(2j))


def test_holomorphic() -> None:
    f = lambda p: p["a"] ** 3 * p["b"]  # noqa: E731
    p = {"a": A, "b": 2j}
    found = hoad.grad(f, holomorphic=True)(p)
    close([found["a"], found["b"]], [3 * A**2 * 2j, A**3])
    hessian = hoad.hessian(f, holomorphic=True)(p)
    close([hessian["a"]["a"], hessian["a"]["b"], hessian["b"]["b"]], [6 * A * 2j, 3 * A**2, 0.0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: hoad.jacobian(lambda p: {"r": abs(p[0]), "z": [p[0] ** 2]})([A]),
            r"unless f is holomorphic, and f\(x\) at \['z'\]\[0\] is complex128\. Either pass holomorphic=True if",
        ),
        (
            lambda: hoad.jacobian(lambda p: {"r": abs(p[0])}, holomorphic=True)([A]),
            r"needs a complex result, but f\(x\) at \['r'\] is float64",
        ),
        (lambda: hoad.grad(lambda p: p["a"] * p["r"])(POINT), r"grad needs a real function, but f\(x\) is complex128"),
        (
            lambda: hoad.grad(lambda p: p["a"] * p["r"], holomorphic=True)(POINT),
            "needs complex arguments, but was given",
        ),
    ],
)
def test_what_is_refused(call: Any, message: str) -> None:
    with pytest.raises(hoad.DTypeError, match=message):
        call()


def test_the_direction_of_a_real_leaf_is_real() -> None:
    with pytest.raises(
        hoad.DTypeError, match=r"tangent 0 at \['r'\] must have dtype float64, but has dtype complex128"
    ):
        hoad.jvp(energy, (POINT,), ({"a": 1.0, "b": [B], "r": 1j, "n": None},))


def test_ravel() -> None:
    x, unravel = hoad.ravel(POINT)
    np.testing.assert_array_equal(x, [A, *B, R])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = unravel(x + 1j)
    assert type(made["a"]) is complex and type(made["r"]) is float and made["n"] == 3
    assert made["a"] == A + 1j and made["r"] == R
    np.testing.assert_array_equal(made["b"][0], B + 1j)
    gradient = hoad.grad(lambda x: energy(unravel(x)))(x)
    want = energy_gradient(POINT)
    close(gradient, [want["a"], *want["b"][0], want["r"]])
    there = hoad.grad(lambda p: np.sum(np.abs(hoad.ravel(p)[0]) ** 2))(POINT)
    close([there["a"], there["r"]], [2 * A.conjugate(), 2 * R])
