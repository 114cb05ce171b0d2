"""The data are NIST's, complete, and consistent with what NIST certifies of them."""

from __future__ import annotations

import csv
import inspect
from pathlib import Path

import numpy as np
import pytest

import hoad
from hoad._demo import models, nist
from hoad._demo.nist import agreeing_digits

NAMES = nist.names()


def residuals_of(name: str) -> dict[str, str]:
    """What NIST certifies beside the parameters, as it stands in the file."""
    path = Path(nist.__file__).parent / "data" / "certified_residuals.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return next(row for row in csv.DictReader(file) if row["set"] == name)


def test_the_sets() -> None:
    assert {"Misra1a", "Thurber", "Hahn1", "MGH09", "Gauss1", "ENSO"} <= set(NAMES)
    assert set(NAMES) == set(models.MODELS) and len(NAMES) == len(set(NAMES)) == 13


@pytest.mark.parametrize("name", NAMES)
def test_counts(name: str) -> None:
    data, reference = nist.load(name), nist.certified(name)
    assert len(data.x) == len(data.y) == int(residuals_of(name)["observations"])
    n = len(reference.parameters)
    assert len(reference.standard_errors) == len(data.starts[1]) == len(data.starts[2]) == n
    assert len(data.y) - n == int(residuals_of(name)["degrees_of_freedom"])


@pytest.mark.parametrize("name", NAMES)
def test_certified_residuals_are_those_of_the_certified_parameters(name: str) -> None:
    """The observations, the model and both certified files at once: a wrong digit in any of them shows."""
    data, reference = nist.load(name), nist.certified(name)
    rss = float(np.sum((data.y - data.model(reference.parameters, data.x)) ** 2))
    assert agreeing_digits(rss, reference.residual_sum_of_squares) > 10
    s = np.sqrt(reference.residual_sum_of_squares / (len(data.y) - len(reference.parameters)))
    assert agreeing_digits(s, float(residuals_of(name)["residual_standard_deviation"])) > 10


@pytest.mark.parametrize("name", NAMES)
def test_the_formula_shown_is_the_model_that_is_fitted(name: str) -> None:
    data = nist.load(name)
    functions = {"exp": np.exp, "cos": np.cos, "sin": np.sin, "pi": np.pi}
    for b in data.starts.values():
        parameters = {f"b{k + 1}": value for k, value in enumerate(b)}
        shown = eval(data.formula, functions, {"x": data.x} | parameters)
        np.testing.assert_allclose(data.model(b, data.x), shown, rtol=1e-12)


def test_agreeing_digits() -> None:
    digits = agreeing_digits([1.0, 1.001, -1.0, np.nan, 1e300], [1.0, 1.0, 1.0, 1.0, 1.0])
    np.testing.assert_allclose(digits, [11, 3, 0, 0, 0], atol=1e-9)


@pytest.mark.parametrize("is_scalar", [False, True])
def test_models_are_code_of_the_user(is_scalar: bool) -> None:
    """Tables and errors name the user's lines, outside hoad: those of the models count as such."""
    data = nist.load("Gauss1")
    lines, first = inspect.getsourcelines(models.gauss1)
    program = hoad.record(lambda b: data.model(b, 80.0 if is_scalar else data.x), data.starts[1])
    shown = {record["where"] for record in program.records(lines=True)}
    assert {f"{models.__file__}:{first + k}" for k in range(1, len(lines))} <= shown
