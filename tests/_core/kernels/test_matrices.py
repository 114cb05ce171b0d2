"""Small matrices, several side by side: as exact as LAPACK, which is asked of rare ones, and the same one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

import hoad

RNG = np.random.default_rng(11)
EPS = np.finfo(float).eps


def right_side(n: int) -> Any:
    return np.sin(np.arange(1.0, 2 * n + 1).reshape(-1, 2))


def solve(a: Any) -> Any:
    return np.linalg.solve(a, right_side(a.shape[-1]))


def gradient(a: Any) -> Any:
    return hoad.grad(lambda x: np.sum(np.linalg.det(x)))(a)


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "det": np.linalg.det,
    "slogdet": lambda a: np.stack(np.linalg.slogdet(a), axis=-1),
    "inv": np.linalg.inv,
    "solve": solve,
}


def of_condition(n: int, condition: float) -> Any:
    u, _, vh = np.linalg.svd(RNG.normal(size=(n, n)))
    return u @ np.diag(np.geomspace(1.0, 1 / condition, n)) @ vh


KINDS: dict[str, Callable[[int], Any]] = {
    "random": lambda n: RNG.normal(size=(n, n)),
    "condition 1e12": lambda n: of_condition(n, 1e12),
    "graded": lambda n: RNG.normal(size=(n, n)) * np.geomspace(1.0, 1e-9, n)[:, None],
    "graded columns": lambda n: RNG.normal(size=(n, n)) * np.geomspace(1e-9, 1.0, n),
    "permuted": lambda n: RNG.permutation(np.triu(RNG.normal(size=(n, n))) + 3 * np.eye(n)),
    "small diagonal": lambda n: RNG.normal(size=(n, n)) * (1.0 - (1 - 1e-7) * np.eye(n)),
    "huge": lambda n: 1e300 / n * RNG.uniform(-1, 1, size=(n, n)),
    "tiny": lambda n: 1e-300 * RNG.normal(size=(n, n)),
}


def error(name: str, a: Any, found: Any) -> float:
    """Of a solution, the backward error; of others the relative error of the whole."""
    with mpmath.workdps(40):
        m = mpmath.matrix(a.tolist())
        if name == "solve":
            b, x = mpmath.matrix(right_side(len(a)).tolist()), mpmath.matrix(found.tolist())
            size = mpmath.mnorm(m, mpmath.inf) * mpmath.mnorm(x, mpmath.inf) + mpmath.mnorm(b, mpmath.inf)
            return float(mpmath.mnorm(m * x - b, mpmath.inf) / size)
        if name == "inv":
            inverse = m**-1
            apart = mpmath.matrix(found.tolist()) - inverse
            return float(mpmath.mnorm(apart, mpmath.inf) / mpmath.mnorm(inverse, mpmath.inf))
        wanted = mpmath.det(m)
        if name == "slogdet":
            assert found[0] == mpmath.sign(wanted)
            return float(abs(mpmath.log(abs(wanted)) - found[1]) / max(1, abs(found[1])))
        return float(abs(found - wanted) / abs(wanted)) if 1e-290 < abs(wanted) < 1e300 else 0.0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.filterwarnings("ignore:overflow")
def test_errors_are_about_those_of_lapack(name: str, kind: str) -> None:
    """At most twice as large, in the geometric mean: one error says more of its matrix than of who computed."""
    for n in (3, 9):
        a = np.stack([KINDS[kind](n) for _ in range(6)])
        results = [f(a) for f in (hoad.jit(FUNCTIONS[name]), FUNCTIONS[name])]
        errors = np.array([[error(name, a[i], found[i]) for i in range(6)] for found in results])
        ours, theirs = np.exp(np.mean(np.log(errors + EPS / 4), axis=1))
        assert ours <= 2 * theirs, n


def rare(n: int) -> list[Any]:
    """Matrices of which LAPACK is asked."""
    a = RNG.normal(size=(n, n))
    of_rank_one = np.outer(a[0], a[1])
    made = [a * np.where(np.eye(n), x, 1.0) for x in (np.nan, np.inf)] + [1e301 * a, 1e-301 * a]
    of_rank_two = np.arange(1.0, n * n + 1).reshape(n, n) / 10  # but for rounding
    return [*made, np.zeros((n, n)), of_rank_one, of_rank_two, a * np.arange(n)[:, None], np.ones((n, n))]


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.filterwarnings("ignore:.*encountered")
def test_rare_matrices_are_those_of_lapack(name: str) -> None:
    """Singular ones raise where LAPACK's do, and what is not finite gives what it gave."""
    f = FUNCTIONS[name]
    ours = hoad.jit(f)
    for n in (2, 3, 5, 16):
        for a in rare(n):
            stack = np.stack([np.eye(n), a, RNG.normal(size=(n, n))])
            try:
                wanted = f(a)
            except np.linalg.LinAlgError:
                with pytest.raises(np.linalg.LinAlgError):
                    ours(stack)
                continue
            np.testing.assert_array_equal(ours(a), wanted)
            np.testing.assert_array_equal(ours(stack)[1], wanted)


@pytest.mark.parametrize("name", [*FUNCTIONS, "gradient of det"])
def test_a_matrix_gives_the_same_wherever_it_stands(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In any place of a stack, alone, in a map, by threads, and computed at once."""
    monkeypatch.setenv("HOAD_THREADS", "2")
    f = FUNCTIONS.get(name, gradient)
    for n in (1, 3, 4, 7, 16):
        a = RNG.normal(size=(37, n, n))
        a[5::9] *= np.geomspace(1.0, 1e-17, n)[:, None]  # whose pivots are small, but none is 0
        wanted = np.stack([hoad.jit(f)(x) for x in a])
        seen = []
        hoad.grad(lambda x: (seen.append(hoad.value(f(x))), np.sum(x))[1])(a)
        many = np.tile(a, (60, 1, 1))
        for found in (seen[0], hoad.jit(f)(a), hoad.jit(f)(a[3:])[: len(a)], hoad.jit(hoad.vmap(f))(a)):
            np.testing.assert_array_equal(found, wanted[len(wanted) - len(found) :])
        np.testing.assert_array_equal(hoad.jit(f, threads=2)(many), np.tile(wanted, (60, *[1] * (wanted.ndim - 1))))
