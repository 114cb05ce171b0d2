"""Every set is fitted from both starting values, to the digits stated here, without a look at the answers."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import mpmath
import numpy as np
import pytest

from hoad._demo import nist, study
from hoad._demo.fit import Fit, LeastSquares, fit
from hoad._demo.nist import agreeing_digits
from hoad._demo.study import digits_kept

# The fewest agreeing digits of a parameter and of a standard error, from either start. Eleven are certified,
# and a number that is right in all of them may differ by half a unit in the last: that is 10.3 digits.
DIGITS = {
    "Misra1a": (10, 10),
    "Chwirut2": (10, 10),
    "DanWood": (10, 10),
    "Gauss1": (10, 10),
    "Lanczos3": (9, 9),  # condition 1e4, residuals 1e-5 of the responses
    "Kirby2": (10, 10),
    "Hahn1": (10, 10),
    "ENSO": (10, 10),
    "MGH09": (10, 10),
    "Thurber": (10, 10),
    "BoxBOD": (10, 10),
    "Rat42": (10, 10),
    "Eckerle4": (10, 10),
}
CASES = [(name, start) for name in DIGITS for start in (1, 2)]


def problem_of(name: str) -> LeastSquares:
    data = nist.load(name)
    return LeastSquares(data.model, data.x, data.y)


def fit_from(name: str, start: int) -> Fit:
    return fit(problem_of(name), nist.load(name).starts[start])


def test_every_set_has_its_line() -> None:
    assert list(DIGITS) == nist.names()


@pytest.mark.parametrize(("name", "start"), CASES)
def test_fit_agrees_with_nist(name: str, start: int) -> None:
    result, reference = fit_from(name, start), nist.certified(name)
    assert not result.message
    assert agreeing_digits(result.parameters, reference.parameters).min() >= DIGITS[name][0]
    assert agreeing_digits(result.standard_errors, reference.standard_errors).min() >= DIGITS[name][1]
    assert agreeing_digits(result.residual_sum_of_squares, reference.residual_sum_of_squares) >= 10
    assert result.steps > 0 and result.newton_steps > 0


@pytest.mark.parametrize("name", ["Hahn1", "Thurber", "Eckerle4"])
def test_units_of_the_parameters_do_not_matter(name: str) -> None:
    data = nist.load(name)
    unit = 2.0 ** np.linspace(-40, 40, len(data.starts[1])).round()
    plain = fit(LeastSquares(data.model, data.x, data.y), data.starts[1])
    scaled = fit(LeastSquares(lambda b, x: data.model(b * unit, x), data.x, data.y), data.starts[1] / unit)
    assert scaled.steps == plain.steps
    np.testing.assert_allclose(scaled.parameters * unit, plain.parameters, rtol=1e-10)


def test_certified_values_are_read_only_after_the_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[str] = []
    read_text = Path.read_text

    def recorded(self: Path, *args: object, **kwargs: object) -> str:
        events.append(self.name)
        return read_text(self, *args, **kwargs)

    def compared(*args: object) -> study.Comparison:
        events.append("fits are done")
        return compare(*args)

    compare = study.compare
    monkeypatch.setattr(Path, "read_text", recorded)
    monkeypatch.setattr(study, "compare", compared)
    study.study("Misra1a", (1,))
    done = events.index("fits are done")
    assert "starts.csv" in events[:done] and not [name for name in events[:done] if name.startswith("certified")]
    assert {"certified_parameters.csv", "certified_residuals.csv"} <= set(events[done:])


def test_what_fits_imports_neither_data_nor_certified_values() -> None:
    tree = ast.parse(Path(sys.modules[fit.__module__].__file__).read_text(encoding="utf-8"))
    modules = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert [module for module in modules if module.startswith("hoad._demo")] == ["hoad._demo.models"]


@pytest.mark.parametrize("name", ["Misra1a", "Lanczos3", "MGH09", "Thurber"])
def test_hessian_is_exact(name: str) -> None:
    """Against differences in 60 digits, where none of them matter."""
    data, b = nist.load(name), fit_from(name, 2).parameters
    formula = compile(data.formula, name, "eval")
    with mpmath.workdps(60):
        points = [(mpmath.mpf(float(x)), mpmath.mpf(float(y))) for x, y in zip(data.x, data.y, strict=True)]
        at = [mpmath.mpf(float(value)) for value in b]
        step = [abs(value) * mpmath.mpf(10) ** -15 for value in at]

        def half_rss(moves: dict[int, int]) -> mpmath.mpf:
            names = {f"b{k + 1}": value + moves.get(k, 0) * step[k] for k, value in enumerate(at)}
            names |= {"exp": mpmath.exp}
            return mpmath.fsum((y - eval(formula, names | {"x": x})) ** 2 for x, y in points) / 2

        exact = np.empty((len(b), len(b)))
        for i in range(len(b)):
            exact[i, i] = (half_rss({i: 1}) - 2 * half_rss({}) + half_rss({i: -1})) / step[i] ** 2
            for j in range(i):
                mixed = sum(s * t * half_rss({i: s, j: t}) for s in (1, -1) for t in (1, -1))
                exact[i, j] = exact[j, i] = mixed / (4 * step[i] * step[j])
    assert digits_kept(problem_of(name).hessian(b), exact, b) > 13


@pytest.mark.parametrize(("name", "digits"), [("Lanczos3", 11), ("Hahn1", 11), ("MGH09", 12), ("BoxBOD", 12)])
def test_standard_errors_are_those_of_the_jacobian(name: str, digits: int) -> None:
    """Against the inverse in 60 digits of the same matrix: what rounding in the factors costs."""
    problem, result = problem_of(name), fit_from(name, 2)
    with mpmath.workdps(60):
        jacobian = mpmath.matrix(problem.jacobian(result.parameters).tolist())
        inverse, s = (jacobian.T * jacobian) ** -1, problem.spread(result.parameters)
        truth = [float(s * mpmath.sqrt(inverse[k, k])) for k in range(len(result.parameters))]
    assert agreeing_digits(result.standard_errors, truth, most=16).min() > digits


def assert_failed(result: Fit, message: str) -> None:
    assert message in result.message and np.isnan(result.standard_errors).all()


def test_a_fit_that_gives_up_says_so() -> None:
    result = fit(problem_of("MGH09"), nist.load("MGH09").starts[1], max_steps=3)
    assert_failed(result, "no minimum within 3 steps")
    assert result.steps == 3 and result.newton_steps == 0


def test_a_start_that_overflows_says_so() -> None:
    start = np.array([500.0, -1e9])
    result = fit(problem_of("Misra1a"), start)
    assert_failed(result, "the fit cannot go on: ")
    np.testing.assert_array_equal(result.parameters, start)


def test_parameters_that_cannot_be_told_apart() -> None:
    """The Hessian is singular: either it shows, or the standard errors are huge."""
    x = np.linspace(0.0, 1.0, 9)
    result = fit(LeastSquares(lambda b, x: (b[0] + b[1]) * x, x, np.sin(x)), np.array([1.0, 2.0]))
    assert result.message or result.standard_errors.min() > 1e5


def test_a_stationary_point_that_is_no_minimum() -> None:
    """At b = 0, the slope of (b² - 1)² is zero and its curvature negative; the trust region stays there."""
    problem = LeastSquares(lambda b, x: b[0] ** 2 + 0 * x, np.zeros(3), np.ones(3))
    assert_failed(fit(problem, np.zeros(1)), "not positive definite")
    np.testing.assert_allclose(abs(fit(problem, np.array([0.1])).parameters), 1.0)
