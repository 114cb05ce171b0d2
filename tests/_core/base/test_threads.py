"""Chains that threads share: the bits of one thread, limits, forks, failures, and many users at a time."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import threadpoolctl
from quality.project import TESTS

import hoad
from hoad._core.base import threads as core

SEVERAL = (1, 2, 3, 7)
N = 400_011
RNG = np.random.default_rng(0)
X, Y = RNG.uniform(0.5, 1.5, (2, N))
LINUX = sys.platform == "linux"


@pytest.fixture(autouse=True)
def _eight_cores(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("HOAD_THREADS", "8")
    core.assume_cores(8)
    yield
    core.assume_cores(0)


def rosenbrock(x: Any) -> Any:
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def polynomial(x: Any, y: Any) -> Any:
    return ((((x * x - y) * x + y) * x - y) * x + y) * x - x * y


def shifted(shift: int) -> Callable[[Any, Any], Any]:
    """What is read a little earlier than it is made, by way of another such."""

    def f(x: Any, y: Any) -> Any:
        a = x * 3.0 - y
        b = a[shift:] * x[shift:] + a[:-shift] * 2.0 - (a * a)[:-shift]
        return b[shift:] - b[:-shift] * b[shift:] + y[: -2 * shift]

    return f


def stencil(x: Any, y: Any) -> Any:
    """Along both axes of a grid."""
    a = (x * y + x)[: 650 * 600].reshape(650, 600)
    b = a * a
    return (b[1:, 1:] - b[:-1, 1:]) * a[1:, 1:] + (b[1:, 1:] - b[1:, :-1])


def strided(shift: int) -> Callable[[Any, Any], Any]:
    """What does not lie in a row is read by many, at their coordinates and at earlier ones."""

    def f(x: Any, y: Any) -> Any:
        u, v = x[: 2 * (N // 2)].reshape(-1, 2)[:, 1], y[::-2][: N // 2]
        c = u * v + 2.0
        a = u * 3.0 - v
        return c, a[shift:] * u[shift:] + a[:-shift] * u[:-shift] - (v * v)[:-shift] * v[shift:]

    return f


def matrices(x: Any, y: Any) -> tuple[Any, Any]:
    """Two stacks, of a number of them that no part divides."""
    return x[: 256 * 401].reshape(401, 16, 16), y[: 256 * 401].reshape(401, 16, 16)


def several(x: Any, y: Any) -> Any:
    """Results that the chain itself reads earlier, and numbers."""
    a = x * y - x
    return a, a[1:] * a[:-1] - y[1:] * y[:-1], np.sum(a[7:]) * 2.0, np.sum(a * a)


# Their bits are NumPy's, but for sums, and functions with a kernel.
EXACT: dict[str, Callable[..., Any]] = {
    "polynomial": polynomial,
    "NumPy's loops": lambda x, y: np.cbrt(x * y) - np.log2(x) * np.arcsinh(y),
    "a stencil": stencil,
    "columns": lambda x, y: np.multiply.outer(x[:400] * y[:400], y[:900] - 1.0) * 3.0 - y[:900],
    "reversed": lambda x, y: (x * y)[::-1] * x - (x - y)[::-1] * polynomial(x, y),
    **{f"{shift} earlier": shifted(shift) for shift in (1, 16, 17, 300, 511, 513, 5000, 150_000)},
    **{f"strided, {shift} earlier": strided(shift) for shift in (1, 16, 300, 5000)},
}
OTHERS: dict[str, Callable[..., Any]] = {
    "a sum": lambda x, y: np.sum(polynomial(x, y)),
    "kernels": lambda x, y: np.exp(-x * y) * np.sin(3.0 * x) + np.tanh(y) - np.log(x),
    "kernels, earlier": lambda x, y: np.exp(x)[1:] * np.sin(y)[:-1] - np.exp(x)[:-1] ** 1.5,
    "NumPy's loops, earlier": lambda x, y: np.cbrt(x * y)[1:] - np.cbrt(x * y)[:-1] * np.log2(x)[:-1],
    "several": several,
    "products of matrices": lambda x, y: np.matmul(*matrices(x, y)),
    "systems of equations": lambda x, y: np.linalg.solve(*matrices(x, y)),
    "determinants": lambda x, y: np.linalg.det(matrices(x, y)[0]),
    "gradient of determinants": lambda x, y: hoad.grad(lambda x: np.sum(np.linalg.det(matrices(x, x)[0])))(x * y),
    "gradient": lambda x, y: hoad.grad(rosenbrock)(x * y),
    "value and gradient": lambda x, y: hoad.value_and_grad(lambda x: rosenbrock(x) + np.sum(np.sin(x)))(x + y),
    "Hessian times vector": lambda x, y: hoad.hvp(rosenbrock)(x, y),
}


def bits(found: Any) -> list[bytes]:
    return [np.asarray(x).tobytes() for x in (found if isinstance(found, tuple) else (found,))]


@pytest.mark.parametrize("name", [*EXACT, *OTHERS])
def test_the_number_of_threads_changes_no_bit(name: str) -> None:
    f = EXACT.get(name) or OTHERS[name]
    program = hoad.record(f, Y, X)
    assert program._lowered().worth > 1 or name in ("NumPy's loops, earlier", "150000 earlier")
    wanted = bits(f(X, Y)) if name in EXACT else bits(program.evaluate(X, Y, threads=1))
    for threads in SEVERAL:
        g = hoad.jit(f, threads=threads)
        assert bits(program.evaluate(X, Y, threads=threads)) == wanted
        g(Y, X)
        assert bits(g(X, Y)) == wanted


@pytest.mark.parametrize("n", [513, 30 * 512, 33 * 512 + 1, 64 * 512, 97 * 512 - 1])
def test_more_threads_than_parts(n: int) -> None:
    def f(x: Any) -> Any:
        y = x
        for _ in range(12):
            y = np.exp(np.sin(y))
        return np.sum(y), y[1:] * y[:-1]

    program = hoad.record(f, X[:n])
    for threads in SEVERAL:
        assert bits(program.evaluate(Y[:n], threads=threads)) == bits(program.evaluate(Y[:n], threads=1))


def test_results_are_made_in_out() -> None:
    gradient = hoad.grad(rosenbrock)
    out = np.empty(N)
    for threads in SEVERAL:
        g = hoad.jit(gradient, threads=threads)
        g(X)
        out[:] = np.nan
        assert g(Y, out=out) is out
        assert out.tobytes() == hoad.jit(gradient, threads=1)(Y).tobytes()


def test_large_arrays_in_the_body_of_a_loop() -> None:
    def f(x: Any) -> Any:
        return hoad.fori_loop(0, 3, lambda _, y: polynomial(y, x) * 0.1, x)

    found = hoad.record(f, X).evaluate(Y)
    wanted = Y
    for _ in range(3):
        wanted = polynomial(wanted, Y) * 0.1
    np.testing.assert_array_equal(found, wanted)


# ---- failures -------------------------------------------------------------------------------------------------------


def test_another_branch_is_told() -> None:
    def f(x: Any) -> Any:
        y = polynomial(x, x)
        return y if np.sum(x) > 0 else -y

    program = hoad.record(f, X)
    for threads in SEVERAL:
        assert program.evaluate(X, threads=threads).tobytes() == f(X).tobytes()
        with pytest.raises(hoad.GuardError):
            program.evaluate(-X, threads=threads)
        g = hoad.jit(f, threads=threads)
        assert [g(x).tobytes() for x in (X, -X, X)] == [f(x).tobytes() for x in (X, -X, X)]


def test_a_failure_behind_a_chain_is_raised() -> None:
    def f(x: Any) -> Any:
        y = polynomial(x, x)
        return np.linalg.inv(y[:9].reshape(3, 3))[0, 0] * y

    program = hoad.record(f, X)
    for threads in SEVERAL:
        with pytest.raises(np.linalg.LinAlgError):
            program.evaluate(np.zeros(N), threads=threads)


def test_a_singular_matrix_of_a_shared_stack_is_told() -> None:
    """Wherever it lies, and only where it does."""
    program = hoad.record(lambda x: np.linalg.inv(x), np.eye(16) + np.zeros((401, 1, 1)))
    assert program._lowered().worth > 1
    for threads in (1, 3):
        for k in (0, 200, 400):
            stack = np.eye(16) * np.ones((401, 1, 1))
            stack[k] = 0.0
            with pytest.raises(np.linalg.LinAlgError):
                program.evaluate(stack, threads=threads)
            stack[k] = 2 * np.eye(16)
            np.testing.assert_array_equal(program.evaluate(stack, threads=threads), np.linalg.inv(stack))


@pytest.mark.parametrize("threads", [0, -1, 1.5, True, "2"])
def test_threads_are_a_number_of_threads(threads: Any) -> None:
    with pytest.raises(hoad.ArgumentError, match="jit takes threads as a number of threads"):
        hoad.jit(np.sin, threads=threads)
    with pytest.raises(hoad.ArgumentError, match="evaluate takes threads as a number of threads"):
        hoad.record(np.sin, 1.0).evaluate(1.0, threads=threads)


# ---- the pool -------------------------------------------------------------------------------------------------------


def test_many_users_at_once() -> None:
    g = hoad.jit(hoad.grad(rosenbrock), threads=3)
    points = [X + k for k in range(6)]
    wanted = [hoad.jit(hoad.grad(rosenbrock), threads=1)(x).tobytes() for x in points]
    wrong: list[int] = []
    start = threading.Barrier(len(points))

    def work(k: int) -> None:
        start.wait()
        for _ in range(30):
            if g(points[k]).tobytes() != wanted[k]:
                wrong.append(k)

    users = [threading.Thread(target=work, args=(k,)) for k in range(len(points))]
    for user in users:
        user.start()
    for user in users:
        user.join()
    assert not wrong
    assert 0 < core.started() <= 7


def test_what_a_thread_does_is_not_shared_again() -> None:
    callers: dict[int, set[int]] = {k: set() for k in range(4)}

    def outer(k: int) -> None:
        core.share_calls(lambda _: callers[k].add(threading.get_ident()), 50, 8)

    core.share_calls(outer, 4, 3)
    assert all(len(found) == 1 for found in callers.values())


def test_the_first_failure_of_calls_is_raised() -> None:
    done: list[int] = []

    def call(k: int) -> None:
        if k in (3, 5):
            raise (ValueError, KeyboardInterrupt)[k // 4](k)
        done.append(k)

    for threads in SEVERAL:
        done.clear()
        with pytest.raises(ValueError, match="3"):
            core.share_calls(call, 9, threads)
        assert sorted(done) == [0, 1, 2, 4, 6, 7, 8]


# ---- in a process of its own ----------------------------------------------------------------------------------------

PRELUDE = """
import os, sys, numpy as np
import hoad
from hoad._core.base import threads
x = np.linspace(0.5, 1.5, 400_000)
f = hoad.jit(lambda x: np.sum(((x * x - x) * x + x) * x) * x - x * x)
"""


def printed(code: str, **variables: str) -> list[str]:
    """What a fresh process prints, as words."""
    names = ("HOAD_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    environment = {name: value for name, value in os.environ.items() if name not in names} | variables
    where = f"import sys; sys.path[:0] = {[str(TESTS), *sys.path]!r}\n"
    done = subprocess.run(
        [sys.executable, "-c", where + PRELUDE + code], env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_threads_are_started_when_they_are_of_use() -> None:
    code = """
threads.assume_cores(3)
f(x[:1000]), f(x[:1000]), hoad.jit(f.__wrapped__, threads=1)(x)
print(threads.started())
f(x), f(x)
print(threads.started())
"""
    assert printed(code) == ["0", "2"]


def test_the_environment_sets_a_limit() -> None:
    """In one process, the fewest first: threads that have been started stay."""
    limits: list[tuple[dict[str, str], int]] = [
        ({"HOAD_THREADS": "2"}, 2),
        ({"OMP_NUM_THREADS": "4", "MKL_NUM_THREADS": "3", "OPENBLAS_NUM_THREADS": "5"}, 3),
        ({"OMP_NUM_THREADS": "4,2"}, 4),
        ({"HOAD_THREADS": "5", "OMP_NUM_THREADS": "1"}, 5),
        ({}, 6),
        ({"HOAD_THREADS": "1000000"}, 6),
        ({"HOAD_THREADS": "no number"}, 6),
        ({"HOAD_THREADS": "-3"}, 6),
    ]
    code = f"""
threads.assume_cores(6)
own = dict(os.environ)
for variables in {[variables for variables, _ in limits]}:
    os.environ.clear(), os.environ.update({{**own, **variables}})
    f(x), f(x)
    print(threads.most_threads(), threads.started() + 1)
"""
    found = list(map(int, printed(code)))
    for (variables, wanted), most, started in zip(limits, found[::2], found[1::2], strict=True):
        assert most == wanted, variables
        assert started <= wanted, variables


def test_the_environment_is_asked_at_each_call() -> None:
    code = "os.environ['HOAD_THREADS'] = '1'; f(x), f(x); print(threads.most_threads(), threads.started())"
    assert printed(code, HOAD_THREADS="8") == ["1", "0"]


@pytest.mark.skipif(not LINUX, reason="affinity is of Linux")
def test_cores_are_those_of_the_affinity_mask() -> None:
    code = """
print(threads.most_threads() == len(os.sched_getaffinity(0)))
os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
f(x), f(x), print(threads.most_threads(), threads.started())
"""
    assert printed(code) == ["True", "1", "0"]


def test_threadpoolctl_sets_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOAD_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    if not threadpoolctl.threadpool_info():
        pytest.skip("NumPy's BLAS is none that threadpoolctl knows")
    before = core.most_threads()
    with threadpoolctl.threadpool_limits(1):
        assert core.most_threads() == 1
    assert core.most_threads() == before
    monkeypatch.setenv("HOAD_THREADS", "3")
    with threadpoolctl.threadpool_limits(1):
        assert core.most_threads() == 3


def test_a_function_is_recorded_while_threads_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that is called to count them is taken for a part of it."""
    monkeypatch.delenv("HOAD_THREADS")

    def f(x: Any) -> Any:
        y = polynomial(x, x)
        return np.sum(hoad.vmap(lambda t: t * t)(y)) if np.sum(y) > 0 else y

    g = hoad.jit(f)
    g(X)
    assert g(Y) == hoad.record(f, X).evaluate(Y)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_child_of_fork_has_threads_of_its_own() -> None:
    code = """
import warnings
warnings.simplefilter("ignore")
threads.assume_cores(4)
f(x)
wanted = f(x)
before = threads.started()
child = os.fork()
if child == 0:
    import signal
    signal.alarm(60)
    fresh = threads.started()
    equal = all(f(x).tobytes() == wanted.tobytes() for _ in range(20))
    os._exit(0 if equal and fresh == 0 and threads.started() == before else 1)
print(before > 0, os.waitpid(child, 0)[1], f(x).tobytes() == wanted.tobytes())
"""
    assert printed(code) == ["True", "0", "True"]


def test_a_process_ends_while_threads_run() -> None:
    code = """
import threading, time
threads.assume_cores(3)
f(x)
user = threading.Thread(target=lambda: [f(x) for _ in range(10**9)], daemon=True)
user.start()
time.sleep(0.2)
print("end")
"""
    assert printed(code) == ["end"]
