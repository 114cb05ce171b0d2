"""Each distribution of scipy.stats: a method by all arguments at once, along one direction, beside differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy")

from covered.rows import Kind
from covered.scipy_distributions import Distribution
from covered.table_scipy_stats import DISTRIBUTIONS
from covered.test_scipy_rows import FIRST, STEP

import hoad
from hoad.errors import HoadError

# Others run with the slow tests: they share the code that these run through.
OFTEN = """
bernoulli beta betabinom binom burr cauchy chi2 erlang expon f fisk gamma genextreme geom gumbel_r hypergeom
invgamma laplace logistic lognorm nbinom norm pareto poisson powerlaw rayleigh t triang truncnorm uniform
vonmises weibull_min zipf
""".split()
CASES = [
    pytest.param(d, marks=[] if d.name in OFTEN and not d.slow else [pytest.mark.slow], id=d.name)
    for d in DISTRIBUTIONS
]


def slope(distribution: Distribution, method: str, moved: list[str]) -> tuple[Any, Any]:
    """The value, and the derivative with respect to t, traced."""
    f = hoad.adopt(lambda t: 1.0 * distribution.call(method, moved, t))
    return hoad.jvp(f, (0.0,), (1.0,))


@pytest.mark.parametrize("distribution", CASES)
@pytest.mark.filterwarnings("ignore")
def test_methods(distribution: Distribution) -> None:
    steps = STEP * np.array([k * sign for k in (1, 2, 3, 4) for sign in (1, -1)])
    for method in distribution.methods():
        kinds = distribution.kinds(method)
        for kind in (Kind.DIFFERENTIABLE, Kind.CONSTANT):
            moved = [name for name in kinds if kinds[name] is kind]
            if not moved:
                continue
            value, found = slope(distribution, method, moved)
            plain = distribution.call(method, moved, 0.0)
            assert abs(value - plain) <= 1e-9 * max(1.0, abs(plain)), (method, moved, value, plain)
            if kind is Kind.CONSTANT:
                assert found == 0.0, (method, moved, found)
                continue
            beside = [distribution.call(method, moved, float(t)) for t in steps]
            wanted = float(FIRST @ np.subtract(beside[::2], beside[1::2])) / STEP
            scale = max(1.0, abs(wanted))
            assert abs(found - wanted) <= distribution.rtol * scale, (method, moved, found, wanted)


@pytest.mark.parametrize("distribution", CASES)
@pytest.mark.filterwarnings("ignore")
def test_what_has_no_derivative_raises(distribution: Distribution) -> None:
    for method in distribution.methods():
        for name, kind in distribution.kinds(method).items():
            if kind is Kind.NOT_YET:
                with pytest.raises(HoadError):
                    slope(distribution, method, [name])
