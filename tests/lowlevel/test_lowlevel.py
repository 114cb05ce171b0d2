"""Programs called from C: what they give, what they refuse, and many threads at a time."""

from __future__ import annotations

import ctypes
import gc
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import hoad

RNG = np.random.default_rng(8)
CALL = ctypes.CFUNCTYPE(ctypes.c_int, *3 * [ctypes.c_void_p])  # releases the GIL, as C code may
CALL_WITH_GIL = ctypes.PYFUNCTYPE(ctypes.c_int, *3 * [ctypes.c_void_p])
ODE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_double, *3 * [ctypes.c_void_p])


def flat(values: Any) -> Any:
    """All numbers of the values one after another, complex ones as two."""
    parts = [np.atleast_1d(np.asarray(value)).reshape(-1) for value in values]
    parts = [part.astype(float) if part.dtype == bool else part for part in parts]
    return np.concatenate([part.view(np.float64) for part in parts]) if parts else np.zeros(0)


def called(address: hoad.Address, *values: Any, by: Any = CALL) -> tuple[int, Any]:
    """(code, outputs), which begin as nan."""
    inputs, outputs = flat(values), np.full(address.n_outputs, np.nan)
    assert len(inputs) == address.n_inputs
    return by(address.call)(address.program, inputs.ctypes.data, outputs.ctypes.data), outputs


A = RNG.normal(size=(3, 3)) + 3 * np.eye(3)
M = RNG.normal(size=(2, 3))
Z = RNG.normal(size=2) + 1j * RNG.normal(size=2)

CASES = {
    "numbers": (lambda x, y: x * np.sin(y), (0.3, 2.0)),
    "arrays of several shapes": (lambda m, v, s: (m @ v * s, s * s, m), (M, RNG.normal(size=3), 0.7)),
    "a boolean": (lambda x: (x > 1.0, x * 2), (1.5,)),
    "an input that is an output": (lambda x, y: (y, x), (1.0, RNG.normal(size=2))),
    "an input that nothing needs": (lambda x, y: x * 2, (1.0, RNG.normal(size=2))),
    "a constant output": (lambda x: (np.ones(2) * 3.0, x), (1.0,)),
    "complex numbers": (lambda z, x: (z * x, np.abs(z)), (Z, 2.0)),
    "a linear system": (lambda a, b: np.linalg.solve(a, b), (A, RNG.normal(size=3))),
    "containers": (lambda p: {"a": p["x"] * p["y"], "b": p["y"]}, ({"x": 2.0, "y": RNG.normal(size=2)},)),
}


@pytest.mark.parametrize("by", [CALL, CALL_WITH_GIL], ids=["without the GIL", "with the GIL"])
@pytest.mark.parametrize("name", CASES)
def test_gives_what_evaluate_gives(name: str, by: Any) -> None:
    f, args = CASES[name]
    program = hoad.record(f, *args)
    address = program.address()
    given = [leaf for arg in args for leaf in (arg.values() if isinstance(arg, dict) else [arg])]
    for scale in (1.0, -0.5):  # twice in one workspace
        moved = [scale * x for x in given]
        if name == "a boolean":
            moved = [1.0 + scale]
        wanted = program._run(tuple(moved))
        code, found = called(address, *moved, by=by)
        assert code == 0
        assert found.tobytes() == flat(wanted).tobytes()


def test_derivatives() -> None:
    x = RNG.normal(size=3)
    program = hoad.gradient(hoad.gradient(hoad.record(lambda x: np.sum(np.sin(x) * x[::-1]), x)), seed="symbolic")
    address = program.address()
    v = RNG.normal(size=3)
    wanted = (hoad.grad(lambda x: np.sum(np.sin(x) * x[::-1]))(x + h * v) for h in (1e-6, -1e-6))
    code, found = called(address, x, v)
    assert code == 0
    np.testing.assert_allclose(found, np.subtract(*wanted) / 2e-6, rtol=1e-7)


def test_right_hand_side_of_an_equation() -> None:
    address = hoad.record(lambda t, y: np.stack([y[1], -t * y[0]]), 0.0, np.ones(2)).address()
    y, slope = np.array([3.0, 4.0]), np.empty(2)
    assert ODE(address.ode)(0.5, y.ctypes.data, slope.ctypes.data, address.program) == 0
    assert slope.tolist() == [4.0, -1.5]
    with pytest.raises(hoad.ShapeError, match="takes 2 numbers and gives 2 numbers"):
        _ = hoad.record(lambda y: y, np.ones(2)).address().ode


# ---- what goes wrong


def test_another_branch() -> None:
    address = hoad.record(lambda x: x if x > 0 else -x, 1.0).address()
    code, found = called(address, -2.0)
    assert code == 1 and np.isnan(found).all()
    assert called(address, 2.0) == (0, [2.0])


@pytest.mark.parametrize("by", [CALL, CALL_WITH_GIL], ids=["without the GIL", "with the GIL"])
def test_loops_need_no_python(by: Any) -> None:
    """Nor do maps and programs within; a branch in a body is told as any other."""

    def f(x: Any, y: Any) -> Any:
        last = hoad.scan(lambda s, t: (s * t if t > 0 else s, None), x, y)[0]
        return hoad.vmap(lambda t: np.sin(t) * last)(y), hoad.record(np.cos, 1.0)(last)

    address = hoad.record(f, 0.5, np.ones(3)).address()
    y = np.array([1.0, 2.0, 3.0])
    code, found = called(address, 0.5, y, by=by)
    assert code == 0
    np.testing.assert_allclose(found, [*np.sin(y) * 3.0, np.cos(3.0)], rtol=1e-14)
    code, found = called(address, 0.5, y - 2.0, by=by)
    assert code == 1 and np.isnan(found).all() and address.error is None


def test_a_singular_matrix() -> None:
    address = hoad.record(np.linalg.solve, A, np.ones(3)).address()
    code, found = called(address, np.zeros((3, 3)), np.ones(3))
    assert code == 2 and np.isnan(found).all()
    assert called(address, np.eye(3), np.ones(3))[1].tolist() == [1.0, 1.0, 1.0]


@hoad.primitive
def halved(x: Any) -> Any:
    """x / 2, in Python, for x ≥ 0."""
    if x < 0:
        raise OverflowError(f"no half of {x}")
    return x / 2


@pytest.mark.parametrize("by", [CALL, CALL_WITH_GIL], ids=["without the GIL", "with the GIL"])
def test_python(by: Any) -> None:
    program = hoad.record(lambda x: halved(x) + 1.0, 1.0)
    with pytest.raises(hoad.ArgumentError, match=r"calls Python: .* say address\(python=True\)"):
        program.address()
    address = program.address(python=True)
    assert called(address, 3.0, by=by) == (0, [2.5]) and address.error is None
    code, found = called(address, -3.0, by=by)
    assert code == 3 and np.isnan(found).all()
    assert isinstance(address.error, OverflowError) and str(address.error) == "no half of -3.0"


def test_python_in_more_threads_than_workspaces() -> None:
    """Who waits for a workspace holds no GIL, which who has it needs."""
    address = hoad.record(lambda x: halved(x) + 1.0, 1.0).address(python=True, threads=1)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda k: called(address, float(k), by=CALL_WITH_GIL if k % 2 else CALL), range(200)))
    assert [(code, x.tolist()) for code, x in found] == [(0, [k / 2 + 1]) for k in range(200)]


@pytest.mark.parametrize(
    ("f", "arg", "error", "message"),
    [
        (np.sin, np.ones(2, np.float32), hoad.DTypeError, "input 0 of this one is float32. Convert it"),
        (lambda x: x > 1.0, np.ones(2), hoad.DTypeError, "output 0 of this one is bool. Convert it"),
        (lambda x: hoad.fori_loop(0, 3, lambda k, y: halved(y), x), 1.0, hoad.ArgumentError, "calls Python"),
    ],
)
def test_what_c_cannot_take(f: Callable[..., Any], arg: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        hoad.record(f, arg).address()


@pytest.mark.parametrize("threads", [0, -1, 1.5, True])
def test_threads_are_a_number_of_threads(threads: Any) -> None:
    with pytest.raises(hoad.ArgumentError, match="takes threads as a number of threads"):
        hoad.record(np.sin, 1.0).address(threads=threads)


# ---- threads, and how long it lives


@pytest.mark.parametrize("spaces", [1, 2, None])
def test_many_threads_at_a_time(spaces: int | None) -> None:
    """More than there are workspaces; each has its own numbers, and what it finds is what one thread finds."""
    program = hoad.gradient(hoad.record(lambda x: np.sum(np.tanh(A @ x) * np.exp(x)), np.ones(3)))
    address = program.address(threads=spaces)
    points = RNG.normal(size=(400, 3))
    wanted = [program.evaluate(x).tolist() for x in points]
    start = threading.Barrier(6)

    def work(k: int) -> list[list[float]]:
        start.wait()
        return [called(address, x)[1].tolist() for x in np.roll(points, -k, axis=0)]

    with ThreadPoolExecutor(6) as pool:
        for k, found in enumerate(pool.map(work, range(6))):
            assert found == wanted[k:] + wanted[:k]


def test_a_callable_of_scipy_keeps_the_program() -> None:
    quad = pytest.importorskip("scipy.integrate").quad
    integrand = hoad.record(lambda x: 3 * x * x, 0.0).address().low_level_callable()
    gc.collect()
    assert quad(integrand, 0.0, 2.0)[0] == pytest.approx(8.0, rel=1e-13)


def test_callables_of_scipy_are_nan_where_there_is_no_value() -> None:
    quad = pytest.importorskip("scipy.integrate").quad
    address = hoad.record(lambda x: x if x > 0 else -x, 1.0).address()
    assert quad(address.low_level_callable(), 0.0, 2.0)[0] == pytest.approx(2.0)
    assert np.isnan(quad(address.low_level_callable(), -2.0, -1.0, full_output=True)[0])
    of_three = hoad.record(lambda x, y, z: x + y * z, 1.0, 1.0, 1.0).address()
    of_three = of_three.low_level_callable("double (int, double *, void *)")
    assert quad(of_three, 0.0, 1.0, args=(2.0, 3.0))[0] == pytest.approx(6.5)
    assert np.isnan(quad(of_three, 0.0, 1.0, args=(2.0,), full_output=True)[0])  # of two numbers


def test_signatures_that_do_not_fit() -> None:
    pytest.importorskip("scipy")
    address = hoad.record(lambda x, y: x + y, 1.0, 1.0).address()
    with pytest.raises(hoad.ShapeError, match="a function of a number with one result, but this program takes 2 and"):
        address.low_level_callable()
    with pytest.raises(hoad.ArgumentError, match=r"knows the signatures .* but not 'float "):
        address.low_level_callable("float (float)")
