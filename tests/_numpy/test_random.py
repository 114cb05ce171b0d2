"""Random numbers with traced parameters: NumPy's values from NumPy's stream, and derivatives in closed form."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest

import hoad
from hoad.errors import NoRuleError, ShapeError

GENERATORS: dict[str, Callable[[], Any]] = {
    "Generator": lambda: np.random.default_rng(5),
    "RandomState": lambda: np.random.RandomState(5),
}
# Parameters of each, and what it draws as a function of these and of z, which does not depend on them.
FORMULAS: dict[str, tuple[tuple[float, ...], Callable[..., Any], Callable[..., Any]]] = {
    "normal": ((1.5, 0.7), lambda z, m, s: m + s * z, lambda y, m, s: (y - m) / s),
    "lognormal": ((0.2, 0.5), lambda z, m, s: mpmath.exp(m + s * z), lambda y, m, s: (mpmath.log(y) - m) / s),
    "uniform": ((-0.5, 2.0), lambda z, a, b: a + (b - a) * z, lambda y, a, b: (y - a) / (b - a)),
    "exponential": ((1.3,), lambda z, s: s * z, lambda y, s: y / s),
    "rayleigh": ((1.2,), lambda z, s: s * z, lambda y, s: y / s),
    "gumbel": ((0.3, 2.0), lambda z, m, s: m + s * z, lambda y, m, s: (y - m) / s),
    "laplace": ((0.3, 2.0), lambda z, m, s: m + s * z, lambda y, m, s: (y - m) / s),
    "logistic": ((0.3, 2.0), lambda z, m, s: m + s * z, lambda y, m, s: (y - m) / s),
    "weibull": ((1.7,), lambda z, a: z ** (1 / a), lambda y, a: y**a),
    "pareto": ((2.5,), lambda z, a: mpmath.expm1(z / a), lambda y, a: a * mpmath.log1p(y)),
    "power": ((1.7,), lambda z, a: z ** (1 / a), lambda y, a: y**a),
}


def state(generator: Any) -> str:
    legacy = isinstance(generator, np.random.RandomState)
    return repr(generator.get_state(legacy=False) if legacy else generator.bit_generator.state)


def drawing(name: str, kind: str, size: Any) -> Callable[..., Any]:
    """The method, of a generator that begins anew at each call."""
    return lambda *parameters: getattr(GENERATORS[kind](), name)(*parameters, size=size)


@pytest.mark.parametrize("size", [None, 3, (2, 2)])
@pytest.mark.parametrize("kind", GENERATORS)
@pytest.mark.parametrize("name", [*FORMULAS, "triangular"])
def test_values_and_stream_are_those_of_numpy(name: str, kind: str, size: Any) -> None:
    parameters = FORMULAS[name][0] if name in FORMULAS else (-1.0, 0.4, 2.0)
    plain, traced = GENERATORS[kind](), GENERATORS[kind]()

    def f(p: Any) -> Any:
        return (traced.__class__.__dict__[name])(traced, *[p[k] for k in range(len(parameters))], size=size)

    wanted = getattr(plain, name)(*parameters, size=size)
    found, _ = hoad.jvp(f, (np.array(parameters),), (np.ones(len(parameters)),))
    np.testing.assert_array_max_ulp(found, wanted, 2)
    assert np.shape(found) == np.shape(wanted)
    assert state(plain) == state(traced)


@pytest.mark.parametrize("kind", GENERATORS)
@pytest.mark.parametrize("name", FORMULAS)
def test_derivatives_to_order_4(name: str, kind: str) -> None:
    """By each parameter, of the formula with the number that was drawn, in mpmath."""
    parameters, formula, inverse = FORMULAS[name]
    f = drawing(name, kind, None)
    with mpmath.workdps(60):
        p = [mpmath.mpf(x) for x in parameters]
        z = inverse(mpmath.mpf(float(f(*parameters))), *p)
        for k in range(len(p)):
            wanted = [mpmath.diff(lambda t, k=k: formula(z, *p[:k], t, *p[k + 1 :]), p[k], n) for n in range(5)]
            of_one = lambda t, k=k: f(*parameters[:k], t, *parameters[k + 1 :])  # noqa: E731
            found = [hoad.derivative(of_one, n)(parameters[k]) for n in (1, 2, 3, 4)]
            series = hoad.derivatives(of_one, 4)(parameters[k])
            scale = [float(abs(w)) for w in wanted]
            np.testing.assert_allclose(series, [float(w) for w in wanted], rtol=1e-12, atol=1e-13 * max(scale))
            np.testing.assert_allclose(found, [float(w) for w in wanted[1:]], rtol=1e-12, atol=1e-13 * max(scale))


def test_triangular_by_its_distribution_function() -> None:
    """The number drawn keeps its probability: dx/dp = -F_p / F_x."""
    left, mode, right = -1.0, 0.4, 2.0
    f = drawing("triangular", "Generator", 8)
    for at, slopes in zip(
        f(left, mode, right), hoad.jacobian(lambda p: f(p[0], p[1], p[2]))(np.array([left, mode, right])), strict=True
    ):

        def probability(a: Any, c: Any, b: Any, x: Any) -> Any:
            below = (x - a) ** 2 / ((b - a) * (c - a))
            return below if x <= c else 1 - (b - x) ** 2 / ((b - a) * (b - c))

        with mpmath.workdps(40):
            where = (left, mode, right, at)
            units = [tuple(int(j == k) for j in range(4)) for k in range(4)]
            partial = [mpmath.diff(probability, where, unit) for unit in units]
        np.testing.assert_allclose(slopes, [float(-part / partial[3]) for part in partial[:3]], rtol=1e-9, atol=1e-9)


def test_parameters_are_broadcast() -> None:
    means, scales = np.array([[0.5], [2.0]]), np.array([1.0, 0.25, 3.0])
    wanted = np.random.default_rng(3).normal(means, scales)
    z = np.random.default_rng(3).standard_normal((2, 3))
    found = hoad.grad(lambda m, s: np.sum(np.random.default_rng(3).normal(m, s) ** 2), argnums=(0, 1))(means, scales)
    np.testing.assert_allclose(found[0], 2 * wanted.sum(axis=1, keepdims=True), rtol=1e-14)
    np.testing.assert_allclose(found[1], 2 * (wanted * z).sum(axis=0), rtol=1e-14)
    with pytest.raises(ShapeError, match=r"shape \(2,\) have parameters of shape \(3,\)"):
        hoad.grad(lambda s: np.sum(np.random.default_rng(3).normal(0.0, s, size=2)))(scales)


def test_parameters_in_a_list_and_by_keyword() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.random.default_rng(3).normal(loc=[x, 2.0 * x], scale=1.0))

    assert hoad.grad(f)(1.5) == 3.0
    assert f(1.5) == hoad.value_and_grad(f)(1.5)[0]


def test_the_functions_of_numpy_random() -> None:
    module: Any = np.random

    def f(x: Any) -> Any:
        module.seed(4)
        return module.normal(x, x) + module.uniform(0.0, x)

    module.seed(4)
    slope = 1.0 + module.standard_normal() + module.random_sample()
    assert hoad.grad(f)(2.0) == pytest.approx(slope, rel=1e-15)


def test_jit_draws_anew() -> None:
    fast, plain = np.random.default_rng(8), np.random.default_rng(8)
    f = hoad.jit(hoad.grad(lambda s: np.sum(np.tanh(fast.normal(0.5, s, size=3)))))
    g = hoad.grad(lambda s: np.sum(np.tanh(plain.normal(0.5, s, size=3))))
    for s in (1.0, 1.0, 0.5, 2.0, 0.25):
        assert f(s) == pytest.approx(g(s), rel=1e-13)
        assert state(fast) == state(plain)
    assert len(f.signatures[0].recorded) == 1
    with pytest.raises(ValueError, match="scale < 0"):
        f(-1.0)


def test_items_that_are_drawn() -> None:
    x = np.arange(6.0).reshape(3, 2)
    for kind in GENERATORS:
        chosen = GENERATORS[kind]().choice(np.arange(6.0), 4, replace=False)
        found = hoad.grad(lambda v, kind=kind: np.sum(GENERATORS[kind]().choice(v, 4, replace=False) ** 2))(
            np.arange(6.0)
        )
        np.testing.assert_array_equal(found, [2 * v * (v in chosen) for v in range(6)])
        value, _ = hoad.jvp(lambda v, kind=kind: GENERATORS[kind]().permutation(v), (x,), (x,))
        np.testing.assert_array_equal(value, GENERATORS[kind]().permutation(x))
    by_columns = np.random.default_rng(2).permutation(x, axis=1)
    np.testing.assert_array_equal(
        hoad.jvp(lambda v: np.random.default_rng(2).permutation(v, axis=1), (x,), (x,))[1], by_columns
    )


def test_a_traced_mean_of_many() -> None:
    cov = np.array([[2.0, 0.5], [0.5, 1.0]])
    mean = np.array([1.0, -1.0])
    value, slope = hoad.jvp(lambda m: np.random.default_rng(2).multivariate_normal(m, cov, 3), (mean,), (np.ones(2),))
    np.testing.assert_allclose(value, np.random.default_rng(2).multivariate_normal(mean, cov, 3), rtol=1e-14)
    np.testing.assert_array_equal(slope, np.ones((3, 2)))


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda x: np.random.default_rng(1).gamma(x), r"Generator.gamma with a traced argument is not recorded \("),
        (lambda x: np.random.RandomState(1).poisson(x), "RandomState.poisson with a traced argument"),
        (lambda x: np.random.default_rng(1).multivariate_normal([0.0], [[x]]), "np.linalg.cholesky"),
        (lambda x: np.random.default_rng(1).choice(2, p=[x, 1 - x]), r"hoad.value\(p\)"),
    ],
)
def test_what_has_no_formula(f: Callable[[Any], Any], message: str) -> None:
    with pytest.raises(NoRuleError, match=message):
        hoad.grad(lambda x: np.sum(f(x)))(0.5)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("normal", (0.0, -1.0)), ("exponential", (-1.0,)), ("weibull", (-1.0,)), ("pareto", (0.0,)), ("power", (-1.0,))],
)
def test_parameters_that_numpy_refuses(name: str, parameters: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match=r"< 0|<= 0") as wanted:
        getattr(np.random.default_rng(1), name)(*parameters)
    with pytest.raises(ValueError, match=r"< 0|<= 0") as found:
        hoad.jvp(
            lambda p: drawing(name, "Generator", None)(*[p[k] for k in range(len(parameters))]),
            (np.array(parameters),),
            (np.ones(len(parameters)),),
        )
    assert str(found.value) == str(wanted.value)


def test_generators_that_are_loaded_after_the_first_recording(tmp_path: Path) -> None:
    code = """
import sys, numpy as np, hoad
hoad.grad(lambda x: x * x)(1.0)
assert "numpy.random" not in sys.modules
print(hoad.jit(hoad.grad(lambda x: np.random.default_rng(1).normal(x, 2.0 * x)))(1.0))
assert not any(type(finder).__module__.startswith("hoad") for finder in sys.meta_path)
"""
    command = [sys.executable, "-W", "error", "-c", code]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    wanted = 1.0 + 2.0 * np.random.default_rng(1).standard_normal()
    assert found.returncode == 0, found.stderr
    assert float(found.stdout) == pytest.approx(wanted, rel=1e-15)
