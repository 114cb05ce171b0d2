"""The data are NIST's, complete, and consistent with what NIST certifies of them."""

from __future__ import annotations

import numpy as np
import pytest

from hoad._demo import certified, datasets
from hoad._demo.certified import agreeing_digits
from hoad._demo.models import MODELS
from hoad.errors import ArgumentError

NAMES = datasets.names()


def test_the_sets() -> None:
    assert {"Misra1a", "Thurber", "Hahn1", "MGH09", "Gauss1", "ENSO"} <= set(NAMES)
    assert set(NAMES) == set(MODELS) and len(NAMES) == len(set(NAMES)) == 13


@pytest.mark.parametrize("name", ["Misra1b", "thurber", "", None])
def test_a_set_that_is_none(name: str) -> None:
    with pytest.raises(ArgumentError, match=rf"not {name!r}\. There are Misra1a, .*Thurber"):
        datasets.load(name)
    with pytest.raises(ArgumentError, match=rf"not {name!r}\. There are .*Thurber"):
        certified.load(name)


@pytest.mark.parametrize("name", NAMES)
def test_counts(name: str) -> None:
    data, reference = datasets.load(name), certified.load(name)
    assert len(data.x) == len(data.y) == reference.observations
    n = len(reference.parameters)
    assert len(reference.standard_errors) == len(data.starts[1]) == len(data.starts[2]) == n
    assert reference.degrees_of_freedom == reference.observations - n


@pytest.mark.parametrize("name", NAMES)
def test_certified_residuals_are_those_of_the_certified_parameters(name: str) -> None:
    """The observations, the model and both certified files at once: a wrong digit in any of them shows."""
    data, reference = datasets.load(name), certified.load(name)
    rss = float(np.sum((data.y - data.model(reference.parameters, data.x)) ** 2))
    assert agreeing_digits(rss, reference.residual_sum_of_squares) > 10
    s = np.sqrt(reference.residual_sum_of_squares / reference.degrees_of_freedom)
    assert agreeing_digits(s, reference.residual_standard_deviation) > 10


@pytest.mark.parametrize("name", NAMES)
def test_the_formula_shown_is_the_model_that_is_fitted(name: str) -> None:
    data = datasets.load(name)
    functions = {"exp": np.exp, "cos": np.cos, "sin": np.sin, "pi": np.pi}
    for b in data.starts.values():
        parameters = {f"b{k + 1}": value for k, value in enumerate(b)}
        shown = eval(data.formula, functions, {"x": data.x} | parameters)
        np.testing.assert_allclose(data.model(b, data.x), shown, rtol=1e-12)


def test_agreeing_digits() -> None:
    digits = agreeing_digits([1.0, 1.001, -1.0, np.nan, 1e300], [1.0, 1.0, 1.0, 1.0, 1.0])
    np.testing.assert_allclose(digits, [11, 3, 0, 0, 0], atol=1e-9)
    assert certified.agree_entirely([1.23456789014, 1.23456789016], [1.2345678901, 1.2345678901]).tolist() == [
        True,
        False,
    ]
