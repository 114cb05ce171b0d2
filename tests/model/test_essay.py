"""hoad's tapes and values are the model's, on random programs; and the model can be read in one sitting."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from model import comparison, essay
from model.comparison import difference
from quality.project import ROOT

PROGRAMS = 25  # for each seed; `python -m tests.campaigns --only tapes` compares some thousands a minute
MOST_LINES = 300


@pytest.mark.parametrize("seed", range(8))
def test_random_programs(seed: int) -> None:
    """Tapes node by node and values bit by bit, of a function and three derivatives, reverse and forward."""
    for k in range(PROGRAMS):
        wrong = difference(np.random.default_rng([seed, k]))
        assert wrong is None, wrong


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("multiply", lambda g, p, x, y: (y * g, g * x)),  # another order
        ("exp", lambda g, p, x: (g * np.exp(x),)),  # another node, of the same value
        ("cos", lambda g, p, x: (g * -np.sin(x),)),  # a sign at another place
        ("sum", lambda g, p, x, axes, shape: (-essay.broadcast(-g, axes, x.shape),)),  # needless nodes
    ],
)
def test_another_rule_is_found(name: str, rule: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(essay.RULES, name, rule)
    assert any(difference(np.random.default_rng([9, k])) for k in range(100))


def test_another_bit_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    for compute in (comparison.RECORDED, comparison.REPLAYED):
        monkeypatch.setitem(compute, "subtract", lambda x, y: np.nextafter(np.subtract(x, y), np.inf))
    assert any(difference(np.random.default_rng([9, k])) for k in range(100))


def test_a_rule_that_is_not_linear_has_no_transpose(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(essay.RULES, "exp", lambda g, p, x: (g * g * p,))
    with pytest.raises(AssertionError, match="not linear in g"):
        essay.tangent(essay.record(np.exp, 1.0), (1.0,))


def test_derivatives_of_a_known_function() -> None:
    """With f = exp(sin x), s = sin x, c = cos x: f' = c f, f'' = (c² - s) f, f''' = -c s (3 + s) f, by any sweeps."""
    x = 0.7
    s, c, f = np.sin(x), np.cos(x), np.exp(np.sin(x))
    for k in range(8):
        program = essay.record(lambda x: np.exp(np.sin(x)), x)
        for n, wanted in enumerate((c * f, (c * c - s) * f, -c * s * (3.0 + s) * f)):
            program = (essay.gradient, essay.tangent)[k >> n & 1](program, (1.0,))
            assert essay.evaluate(program, x) == pytest.approx([wanted], rel=1e-14)


def test_it_can_be_read_in_one_sitting() -> None:
    assert len(Path(essay.__file__).read_text().splitlines()) <= MOST_LINES


def test_its_page_names_files_that_exist() -> None:
    named = re.findall(r"`((?:hoad|tests)/[^`]+)`", (ROOT / "docs" / "how-it-works.md").read_text())
    assert len(named) > 10
    assert not [path for path in named if not (ROOT / path).exists()]
