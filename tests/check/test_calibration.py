"""How often the checks err: over a table of functions at awkward points, with three slips each; and at random.

`pytest -s -m "slow or not slow" tests/check/test_calibration.py` prints the counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from check.functions import spoiled_at_order
from check.table import CHECKS, TABLE, Case, outcome, verdict

from hoad.check import gradient, taylor_test
from hoad.check.differences import difference
from hoad.check.noise import noise_of
from hoad.check.points import Along

Pair = tuple[Callable[[Any], Any], Callable[[Any], Any]]

# A function of a number of size 1, and its derivative.
SHAPES: list[Pair] = [
    (np.exp, np.exp),
    (np.sin, np.cos),
    (lambda u: np.log(4 + u), lambda u: 1 / (4 + u)),
    (np.tanh, lambda u: 1 / np.cosh(u) ** 2),
    (lambda u: 1 / (1 + u * u), lambda u: -2 * u / (1 + u * u) ** 2),
    (lambda u: u**5 - 3 * u * u + u, lambda u: 5 * u**4 - 6 * u + 1),
]


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("case", TABLE, ids=lambda case: case.name)
def test_table(case: Case, check: str) -> None:
    """No false alarm and no miss; undecided only where the table says so."""
    allowed = {"undecided"} if check in case.open else set()
    assert verdict(case, check, case.derivative()) in {"passed", *allowed}
    for slip, claim in case.mutations():
        assert verdict(case, check, claim) in {"wrong", *allowed}, slip


@pytest.mark.parametrize("case", TABLE, ids=lambda case: case.name)
def test_table_to_the_fourth_order(case: Case) -> None:
    """hoad's own derivatives are right; what rounding hides of the fourth is undecided."""
    report = taylor_test(case.f, case.x, order=4)
    verdicts = [finding.verdict for finding in report.findings]
    assert "wrong" not in verdicts
    assert case.open or case.name.startswith("float32") or "undecided" not in verdicts[:4], report.failure()


def test_the_table_is_as_large_as_it_says() -> None:
    assert len(TABLE) == len({case.name for case in TABLE}) >= 70
    assert all(len(list(case.mutations())) == 3 for case in TABLE)


def stretched(rng: np.random.Generator) -> tuple[Callable[[Any], Any], Callable[[Any], Any], float, float]:
    """A function, its derivative, a point, and the length over which it changes, all of any size."""
    f, df = SHAPES[rng.integers(len(SHAPES))]
    amplitude, length = 10.0 ** rng.uniform(-8, 8), 10.0 ** rng.uniform(-6, 6)
    offset = rng.choice([0.0, 0.0, 1.0]) * 10.0 ** rng.uniform(-2, 4)
    x = float(length * rng.uniform(-1.5, 1.5))
    return lambda t: amplitude * (f(t / length) + offset), lambda t: amplitude / length * df(t / length), x, length


def digits(found: float, exact: float) -> float:
    return float(-np.log10(np.clip(abs(found - exact) / abs(exact), 1e-16, 1.0)))


@pytest.mark.slow
def test_differences(rng: np.random.Generator) -> None:
    """Digits of fixed steps and of extrapolation, and how well the error is estimated."""
    by_method: dict[str, list[float]] = {"forward, eps^1/2": [], "central, eps^1/3": [], "extrapolated": []}
    ratios, counts = [], []
    for _ in range(1000):
        f, df = SHAPES[rng.integers(len(SHAPES))]
        length = 10.0 ** rng.uniform(-6, 6)
        x = float(length * rng.uniform(-1.5, 1.5))
        calls = 0

        def g(t: Any) -> Any:
            nonlocal calls
            calls += 1
            return f(t / length)

        exact = df(x / length) / length
        with np.errstate(all="ignore"):
            h = 2.0**-26 * max(abs(x), 1.0)
            by_method["forward, eps^1/2"].append(digits((g(x + h) - g(x)) / h, exact))
            h = 2.0 ** (-52 / 3) * max(abs(x), 1.0)
            by_method["central, eps^1/3"].append(digits((g(x + h) - g(x - h)) / (2 * h), exact))
        calls = 0
        phi = Along(g, (x,), {0: 1.0}, "the test")
        found = difference(phi, noise_of(phi, (x,), {0: abs(x)}), [abs(x) / 8, 0.125, abs(x) * 2.0**-16])
        by_method["extrapolated"].append(digits(float(found.value), exact))
        ratios.append(float(abs(found.value - exact) / found.error))
        counts.append(calls)
    print()
    for name, found_digits in by_method.items():
        worst, low, median = np.nanpercentile(found_digits, [0, 1, 50])
        print(f"{name:<18} digits: worst {worst:4.1f}, 1 % below {low:4.1f}, median {median:4.1f}")
    print(f"error over its estimate: median {np.median(ratios):.2f}, largest {max(ratios):.2f}")
    print(f"values of f: median {np.median(counts):.0f}")
    assert min(by_method["extrapolated"]) > 8 and max(ratios) < 4


@pytest.mark.slow
def test_components(rng: np.random.Generator) -> None:
    """Right components, and the same 1 % off, of functions that hoad cannot trace."""
    right: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    for _ in range(300):
        parts = [stretched(rng) for _ in range(3)]
        f = lambda x, p=parts: float(sum(part[0](float(t)) for part, t in zip(p, x, strict=True)))  # noqa: E731
        g = lambda x, p=parts: np.array([part[1](t) for part, t in zip(p, x, strict=True)])  # noqa: E731
        x = np.array([part[2] for part in parts])
        right.update(entry.verdict for entry in gradient(f, g, x).entries)
        wrong.update(entry.verdict for entry in gradient(f, lambda x: 1.01 * g(x), x).entries)
    print(f"\nright components called {dict(right)}\n1 % wrong ones called {dict(wrong)}")
    # A part whose share in f is rounding is undecided.
    assert right["wrong"] == wrong["right"] == 0 and right["undecided"] <= 0.12 * right.total()


@pytest.mark.slow
def test_orders(rng: np.random.Generator) -> None:
    """Taylor tests to order 4, right, and 1 % off in one order."""
    right: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    for trial in range(800):
        f, _, x, length = stretched(rng)
        v = float(length * 10.0 ** rng.uniform(-2, 0.5))
        right[outcome(taylor_test(f, x, v, order=4))] += 1
        wrong[outcome(taylor_test(spoiled_at_order(f, x, 1 + trial % 4, 1.01), x, v, order=4))] += 1
    print(f"\nright derivatives: {dict(right)}\n1 % off in one order: {dict(wrong)}")
    assert right["wrong"] == 0 and right["undecided"] <= 0.01 * right.total()
    assert wrong["passed"] == 0 and wrong["undecided"] <= 0.05 * wrong.total()
