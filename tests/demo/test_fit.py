"""Every set is fitted from both starting values, to the digits stated here, without a look at the answers."""

from __future__ import annotations

import ast
from pathlib import Path

import mpmath
import numpy as np
import pytest

from hoad._demo import certified, datasets, study
from hoad._demo.certified import agreeing_digits
from hoad._demo.differences import matrix_digits
from hoad._demo.fit import fit
from hoad._demo.least_squares import LeastSquares
from hoad._demo.trust_region import minimise_quadratic

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
    data = datasets.load(name)
    return LeastSquares(data.model, data.x, data.y)


def test_every_set_has_its_line() -> None:
    assert list(DIGITS) == datasets.names()


@pytest.mark.parametrize(("name", "start"), CASES)
def test_fit_agrees_with_nist(name: str, start: int) -> None:
    result, reference = study.fit_from(datasets.load(name), start), certified.load(name)
    assert result.converged, result.message
    assert agreeing_digits(result.parameters, reference.parameters).min() >= DIGITS[name][0]
    assert agreeing_digits(result.standard_errors, reference.standard_errors).min() >= DIGITS[name][1]
    assert agreeing_digits(result.residual_sum_of_squares, reference.residual_sum_of_squares) >= 10
    assert result.degrees_of_freedom == reference.degrees_of_freedom
    assert result.least_curvature > 0
    assert result.history[0] >= result.history[-1] >= result.residual_sum_of_squares * (1 - 1e-9)
    assert all(later < earlier for earlier, later in zip(result.history, result.history[1:], strict=False))


@pytest.mark.parametrize("name", ["Hahn1", "Thurber", "Eckerle4"])
def test_units_of_the_parameters_do_not_matter(name: str) -> None:
    data = datasets.load(name)
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

    monkeypatch.setattr(Path, "read_text", recorded)
    study.study("Misra1a", progress=events.append)
    assert "starts.csv" in events and "certified_parameters.csv" in events
    last = max(k for k, event in enumerate(events) if event.startswith("Misra1a: "))
    assert not [event for event in events[: last + 1] if event.startswith("certified")]


def test_fits_run_where_certified_values_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str) -> None:
        raise AssertionError(f"{name} was read")

    monkeypatch.setattr(certified, "read_rows", refuse)
    with pytest.raises(AssertionError, match="was read"):
        certified.load("Misra1a")
    for name in datasets.names():
        assert study.fit_from(datasets.load(name), 2).converged


def test_nothing_that_fits_imports_the_certified_values() -> None:
    folder = Path(study.__file__).parent
    reached, waiting = set(), ["fit", "datasets"]
    while waiting:
        name = waiting.pop()
        reached.add(name)
        tree = ast.parse((folder / f"{name}.py").read_text(encoding="utf-8"))
        modules = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        found = {module.split(".")[-1] for module in modules if module.startswith("hoad._demo.")}
        waiting += found - reached
    assert reached == {
        "fit", "datasets", "descent", "least_squares", "models", "refinement", "tables", "trust_region",
    }  # fmt: skip


@pytest.mark.parametrize("name", ["Misra1a", "Lanczos3", "MGH09", "Thurber"])
def test_hessian_is_exact(name: str) -> None:
    """Against differences in 60 digits, where none of them matter."""
    data, b = datasets.load(name), study.fit_from(datasets.load(name), 2).parameters
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
    problem = problem_of(name)
    assert matrix_digits(problem.hessian(b), exact) > 13
    jacobian = problem.jacobian(b)
    parts = jacobian.T @ jacobian + problem.second_order_part(b, data.y - problem.expected(b))
    assert matrix_digits(parts, exact) > 13


def test_a_fit_that_gives_up_says_so() -> None:
    result = fit(problem_of("MGH09"), datasets.load("MGH09").starts[1], max_steps=3)
    assert not result.converged and result.message == "no minimum within 3 steps" and result.steps == 3
    assert np.isnan(result.standard_errors).all()


def test_a_start_that_overflows_says_so() -> None:
    result = fit(problem_of("Misra1a"), np.array([500.0, -1e9]))
    assert not result.converged and "overflows" in result.message


def test_parameters_that_cannot_be_told_apart() -> None:
    x = np.linspace(0.0, 1.0, 9)
    result = fit(LeastSquares(lambda b, x: (b[0] + b[1]) * x, x, np.sin(x)), np.array([1.0, 2.0]))
    assert not result.converged or not np.isfinite(result.standard_errors).all() or result.condition > 1e12


@pytest.mark.parametrize("seed", range(40))
def test_trust_region_step_is_optimal(seed: int) -> None:
    """Moré and Sorensen's conditions, on positive definite, indefinite and hard cases."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 7))
    basis, _ = np.linalg.qr(rng.normal(size=(n, n)))
    eigenvalues = np.sort(rng.normal(size=n)) * 10.0 ** rng.integers(-3, 4)
    matrix = (basis * eigenvalues) @ basis.T
    matrix = (matrix + matrix.T) / 2
    gradient = rng.normal(size=n)
    if seed % 3 == 0:  # the hard case: no slope along the lowest eigenvector
        gradient -= basis[:, 0] * (basis[:, 0] @ gradient)
    radius = 10.0 ** rng.uniform(-3, 3)
    step, interior = minimise_quadratic(matrix, gradient, radius)
    assert np.linalg.norm(step) <= radius * (1 + 1e-9)
    scale = max(np.abs(eigenvalues).max(), np.linalg.norm(gradient) / radius)
    shift = 0.0 if interior else -(step @ (matrix @ step + gradient)) / (step @ step)
    assert shift >= -1e-9 * scale
    assert np.linalg.eigvalsh(matrix)[0] + shift >= -1e-7 * scale
    assert np.linalg.norm(matrix @ step + gradient + shift * step) <= 1e-6 * scale * radius
    if not interior:
        assert np.linalg.norm(step) >= radius * (1 - 1e-6) or shift < 1e-6 * scale
