"""The examples of pages whose packages are not there for each build of the documentation, as they stand there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from quality.project import ROOT, fenced

import hoad
from hoad._sparse import drivers

HOWTO = ROOT / "docs" / "howto"


def run(page: str, *parts: str) -> dict[str, Any]:
    """The names that the examples of a page define, or those of its parts with these headings."""
    text = (HOWTO / f"{page}.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {"__name__": page}
    for part in text.split("\n## "):
        if not parts or part.startswith(parts):
            for code in fenced(part, "python"):
                exec(compile(code, f"{page}.md", "exec"), names)
    return names


def test_ipopt(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("cyipopt")
    run("ipopt")
    first, second, third = capsys.readouterr().out.splitlines()
    assert first == "True [1.     4.743  3.8211 1.3794] 17.014"
    assert second == "1604 entries of the 404 x 603 Jacobian may be nonzero"
    assert third == "12.0012 True"


def test_iminuit() -> None:
    pytest.importorskip("iminuit")
    found = run("other-solvers", "iminuit")
    minuit, f = found["minuit"], found["minus_log_likelihood"]
    assert minuit.valid and minuit.ngrad > 3
    np.testing.assert_allclose(hoad.grad(f)(np.array(minuit.values)), 0.0, atol=0.5)
    np.testing.assert_allclose(minuit.errors, np.sqrt(np.diag(found["covariance"])), rtol=0.02)
    assert abs(minuit.values[0] - 2.2) < 4 * minuit.errors[0] and abs(minuit.values[1] - 0.8) < 4 * minuit.errors[1]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning")
def test_nutpie() -> None:
    """The means of the posterior, by the effects integrated out in closed form and two quadratures."""
    pytest.importorskip("nutpie")
    found = run("other-solvers", "nutpie")
    mean, spread = np.meshgrid(np.linspace(-30.0, 40.0, 701), np.linspace(0.0125, 120.0, 4800), indexing="ij")
    total = found["error"][:, None, None] ** 2 + spread**2
    density = -0.5 * np.sum((found["effect"][:, None, None] - mean) ** 2 / total + np.log(total), axis=0)
    weight = np.exp(density - 0.5 * (mean / 5) ** 2 - np.log1p((spread / 5) ** 2) - np.max(density))
    assert found["mean"] == pytest.approx(np.sum(weight * mean) / np.sum(weight), abs=0.5)
    assert found["spread"] == pytest.approx(np.sum(weight * spread) / np.sum(weight), abs=0.6)


@pytest.mark.filterwarnings("ignore:Custom sparse Jacobian")
def test_sundials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Robertson's concentrations by SciPy's Radau; the speed of the front."""
    pytest.importorskip("sksundae")
    integrate = pytest.importorskip("scipy.integrate")
    monkeypatch.setattr(hoad, "sparse_jacobian", drivers.sparse_jacobian, raising=False)
    found = run("other-solvers", "SUNDIALS")
    y = found["reacted"].y
    exact = integrate.solve_ivp(
        lambda t, y: found["robertson"](y), (0.0, 4e4), y[0], "Radau", [0.4, 40.0, 4e4], rtol=1e-10, atol=1e-14
    )
    np.testing.assert_allclose(y[1:], exact.y.T, rtol=1e-5)
    np.testing.assert_allclose(np.sum(y, axis=1), 1.0, rtol=1e-9)
    front, place = found["front"], found["place"]
    assert front.success and found["pattern"].nnz == 3 * 400 - 2
    assert 1.7 < (place[1] - place[0]) / 10 < 2.0  # 2 - 3 / (2 t) while it forms (Bramson 1983)
    np.testing.assert_allclose(found["matrix"](front.y[1]).toarray(), hoad.jacobian(found["fisher"])(front.y[1]))
