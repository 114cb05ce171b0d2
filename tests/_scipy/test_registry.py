"""How functions of SciPy are registered: what is imported when, plain calls, stacks, and dtypes."""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sl = pytest.importorskip("scipy.linalg")

from _scipy.linalg_rows import ROWS  # noqa: E402
from quality.project import ROOT  # noqa: E402

import hoad  # noqa: E402
from hoad._scipy import FILES, registry  # noqa: E402
from hoad._scipy.registry import IMPLEMENTED, over_stacks  # noqa: E402
from hoad.scipy import linalg  # noqa: E402

A = np.array([[2.0, 1.0], [0.5, 3.0]])


def output_of(code: str) -> str:
    """What a new process prints, in a folder where it finds the package under test."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=folder)
    return done.stdout.strip()


def outputs_of(codes: list[str]) -> list[str]:
    """What processes print that have imported hoad and NumPy alone: copies of one, where there are such."""
    if not hasattr(os, "fork"):
        return list(map(output_of, codes))
    each = (
        "import os, sys, traceback, numpy, hoad\n"
        f"for code in {codes!r}:\n"
        "    sys.stdout.flush()\n"
        "    if os.fork() == 0:\n"
        "        try:\n            exec(code, {})\n            print('---', flush=True)\n            os._exit(0)\n"
        "        except BaseException:\n            traceback.print_exc()\n            os._exit(1)\n"
        "    if os.wait()[1]:\n        sys.exit(1)\n"
    )
    return [said.strip() for said in output_of(each).split("---")[:-1]]


def test_hoad_is_imported_without_it() -> None:
    code = (
        "import sys, hoad; hoad.grad\n"
        "print(*(name for name in sys.modules if name.startswith(('scipy', 'hoad.scipy'))))"
    )
    assert output_of(code) == ""


def test_without_scipy_the_extra_is_named() -> None:
    code = (
        "import importlib.util, hoad\n"
        "importlib.util.find_spec = lambda name, *rest: None\n"
        "try:\n    import hoad.scipy\nexcept ImportError as error:\n    print(error)"
    )
    assert "pip install 'hoad[scipy]'" in output_of(code)


def test_the_package_has_its_modules() -> None:
    assert hoad.scipy.linalg is linalg
    with pytest.raises(AttributeError, match="has no attribute 'cluster'"):
        hoad.scipy.cluster  # noqa: B018


def test_a_plain_call_is_scipys(monkeypatch: pytest.MonkeyPatch) -> None:
    """No part of an implementation runs."""
    monkeypatch.setattr(np.linalg, "inv", None)
    np.testing.assert_array_equal(linalg.inv(A), sl.inv(A))
    np.testing.assert_array_equal(linalg.inv(A.tolist(), True, check_finite=False), sl.inv(A))


def test_what_is_registered_is_what_the_package_has() -> None:
    assert IMPLEMENTED[sl.inv] is linalg.inv
    assert linalg.inv.__name__ == "inv"
    assert linalg.inv.__doc__ and "As of `scipy.linalg.inv`." in linalg.inv.__doc__


def test_scipys_own_functions_point_to_it() -> None:
    """At traced arguments."""
    for name in ("expm", "cholesky", "toeplitz"):
        with pytest.raises(hoad.TracedValueError, match=rf"^Use hoad\.scipy\.linalg\.{name} \("):
            hoad.jvp(getattr(sl, name), (A,), (A,))


def test_the_page_of_the_documentation_has_every_name() -> None:
    sys.path.insert(0, str(ROOT / "docs" / "_ext"))
    import coverage_page

    page = coverage_page.page_of_scipy()
    assert {name for name in linalg.__all__ if not name.startswith("LinAlg")} == set(
        re.findall(r"`(\w+)`", page)
    ) & set(linalg.__all__)
    assert not [row.label() for row in ROWS if row.note and not re.fullmatch(r"[A-Z][^|\n]*\.", row.note)]


def test_programs_travel_to_a_process_that_has_not_imported_it() -> None:
    """An operation is found by the name of its function."""
    names = ["pinv", "lu_factor", "sqrtm", "eigvalsh", "solve_continuous_lyapunov", "bandwidth", "cho_factor"]

    def f(x: Any, name: str) -> Any:
        found = getattr(linalg, name)(*([x] if name != "solve_continuous_lyapunov" else [x, x]))
        return np.sum((found[0] if isinstance(found, tuple) else found) * x[0, 0])

    programs = [hoad.gradient(hoad.record(lambda x, name=name: f(x, name), A @ A.T)) for name in names]
    found = outputs_of(
        [
            f"import pickle, numpy as np\nprogram = pickle.loads({pickle.dumps(program)!r})\n"
            f"print(*np.ravel(program.evaluate(np.array({(A @ A.T).tolist()}))).tolist())"
            for program in programs
        ]
    )
    for name, program, said in zip(names, programs, found, strict=True):
        wanted = np.ravel(program.evaluate(A @ A.T))
        np.testing.assert_allclose(list(map(float, said.split())), wanted, rtol=1e-14, err_msg=name)


def test_the_first_call_of_a_process() -> None:
    """Rules of others are there, too."""
    assert (
        outputs_of(
            [
                "import numpy as np, hoad\nfrom hoad.scipy import linalg\n"
                f"print(hoad.grad(lambda x: np.sum(linalg.{name}(x)[0]))(np.array({A.tolist()})).shape)"
                for name in ("pinv", "polar", "logm")
            ]
        )
        == ["(2, 2)"] * 3
    )


def test_numpys_generator_is_left_as_it_is() -> None:
    """SciPy estimates norms at random points of it."""
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    hoad.jvp(linalg.logm, (A,), (A,))
    linalg.logm(A)
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002


def test_stacks_are_broadcast() -> None:
    def product(a: Any, b: Any) -> Any:
        return a @ b, a.shape

    a, b = np.ones((4, 1, 2, 3)), np.ones((5, 3))
    assert over_stacks(lambda a, b: a @ b, (a, 2), (b, 1)).shape == (4, 5, 2)
    found = hoad.jvp(lambda a: over_stacks(lambda a, b: (a @ b, b), (a, 2), (b, 1)), (a,), (a,))[0]
    assert [x.shape for x in found] == [(4, 5, 2), (4, 5, 3)]


def test_two_arguments_are_traced() -> None:
    b = np.array([1.0, 2.0])
    by_a, by_b = hoad.grad(lambda a, b: np.sum(linalg.solve(a, b) ** 2), argnums=(0, 1))(A, b)
    x, y = np.linalg.solve(A, b), np.linalg.solve(A.T, 2 * np.linalg.solve(A, b))
    np.testing.assert_allclose(by_b, y, rtol=1e-14)
    np.testing.assert_allclose(by_a, -np.outer(y, x), rtol=1e-14)


def test_a_rule_may_call_it() -> None:
    """Where there are no values."""

    @hoad.primitive
    def doubled(a: Any) -> Any:
        return 2.0 * a

    hoad.defvjp(doubled, lambda g, p, a: (linalg.block_diag(g)[: len(a)] * 2.0,))
    np.testing.assert_array_equal(hoad.grad(lambda a: np.sum(doubled(a)))(A), np.full((2, 2), 2.0))


def test_dtypes_are_those_of_scipy() -> None:
    for x in (A.astype(np.float32), A.astype(np.complex64)):
        for f in (linalg.expm, linalg.inv, linalg.cosm, linalg.sqrtm):
            assert hoad.jvp(f, (x,), (x,))[0].dtype == f(x).dtype


def test_the_files_with_functions_are_listed() -> None:
    """`hoad.adopt` imports these to know what stands in for which function."""
    folder = Path(registry.__file__).parent
    signs = ("@implements(", "IMPLEMENTED[")
    using = {path.stem for path in folder.glob("*.py") if any(sign in path.read_text() for sign in signs)}
    listed = {name for names in FILES.values() for name in names}
    assert using - {"registry", "compiled", "solutions"} <= listed <= {path.stem for path in folder.glob("*.py")}
