"""The examples of docs/howto/low-level.md, as they stand there, and packages built here that cimport hoad."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from quality.project import ROOT, fenced, section

import hoad

PAGE = (ROOT / "docs" / "howto" / "low-level.md").read_text(encoding="utf-8")


def example(heading: str) -> dict[str, Any]:
    """The names that the only example under a heading defines."""
    (code,) = fenced(section(PAGE, heading), "python")
    names: dict[str, Any] = {}
    exec(compile(code, f"<{heading}>", "exec"), names)
    return names


def test_cffi() -> None:
    pytest.importorskip("cffi", reason="cffi is not installed")
    found = example("cffi")
    np.testing.assert_allclose(found["gradient"], np.sin(2 * found["x"]), rtol=1e-15)


def test_numba() -> None:
    pytest.importorskip("numba", reason="Numba is not installed, or has no version for this Python")
    root = example("Numba")["root"]
    assert root * np.exp(root) == pytest.approx(2.0, rel=1e-14)


# ---- a package of its own -------------------------------------------------------------------------------------------


def build(folder: Path) -> None:
    """Build the extensions of a setup.py in place, against the hoad that is under test."""
    pytest.importorskip("Cython", reason="Cython is not installed")
    pytest.importorskip("setuptools", reason="setuptools is not installed")
    path = os.pathsep.join([str(Path(hoad.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    done = subprocess.run(
        [sys.executable, "setup.py", "-q", "build_ext", "--inplace"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def run(folder: Path, code: str) -> str:
    """What code prints in a process that finds the modules of a folder."""
    path = os.pathsep.join([str(folder), str(Path(hoad.__file__).parents[1])])
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(code)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_cython(tmp_path: Path) -> None:
    cython = section(PAGE, "Cython")
    for code in (*fenced(cython, "cython"), *fenced(cython, "python")):
        (tmp_path / code.split("\n")[0].removeprefix("# ")).write_text(code, encoding="utf-8")
    build(tmp_path)
    found = run(
        tmp_path,
        """
        import numpy as np, hoad, descent

        program = hoad.gradient(hoad.record(lambda x: np.sum((x - np.arange(3.0)) ** 2), np.ones(3)))
        x = np.full(3, 7.0)
        print(descent.descend(program.address(), x, 0.25, 60), np.abs(x - np.arange(3.0)).max() < 1e-15)
        branching = hoad.gradient(hoad.record(lambda x: x[0] if x[0] > 0 else -x[0], np.ones(1)))
        print(descent.descend(branching.address(), np.ones(1), 0.3, 60))
        """,
    )
    assert found.split() == ["0", "True", "1"]


# An integrator as C code has it: it knows hoad.h, and functions by their addresses.
INTEGRATOR = """
#include "hoad.h"

int integrate(hoad_ode_t f, void *program, double *y, int n, double t, double h, int steps)
{
    double k[4][16], at[16];
    for (int step = 0; step < steps; step++, t += h) {
        for (int stage = 0; stage < 4; stage++) {
            double c = stage == 0 ? 0.0 : stage == 3 ? h : h / 2;
            for (int i = 0; i < n; i++)
                at[i] = y[i] + (stage ? c * k[stage - 1][i] : 0.0);
            int code = f(t + c, at, k[stage], program);
            if (code != HOAD_OK)
                return code;
        }
        for (int i = 0; i < n; i++)
            y[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
    }
    return HOAD_OK;
}
"""

WRAPPER = """
from hoad.lowlevel cimport HOAD_BRANCH, HOAD_OK, HOAD_PYTHON, HOAD_SINGULAR, hoad_ode, hoad_program
from libc.stdint cimport uintptr_t

cdef extern from "integrator.h":
    ctypedef int (*hoad_ode_t)(double, const double*, double*, void*)
    int integrate(hoad_ode_t f, void* program, double* y, int n, double t, double h, int steps) nogil

codes = HOAD_OK, HOAD_BRANCH, HOAD_SINGULAR, HOAD_PYTHON

def solution(address, double[::1] y, double h, int steps):
    cdef void* program = hoad_program(address)
    cdef hoad_ode_t by_address = <hoad_ode_t><uintptr_t>address.ode
    cdef int code
    assert by_address == <hoad_ode_t>hoad_ode
    with nogil:
        code = integrate(by_address, program, &y[0], <int>y.shape[0], 0.0, h, steps)
    return code
"""

SETUP = """
from Cython.Build import cythonize
from setuptools import Extension, setup
import hoad

extension = Extension("solver", ["solver.pyx"], include_dirs=[hoad.get_include(), "."])
setup(name="solver", ext_modules=cythonize([extension], language_level=3))
"""


@pytest.mark.slow
def test_an_integrator_in_c(tmp_path: Path) -> None:
    for name, text in {"integrator.h": INTEGRATOR, "solver.pyx": WRAPPER, "setup.py": SETUP}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    build(tmp_path)
    found = run(
        tmp_path,
        """
        import numpy as np, hoad, solver

        rotation = hoad.record(lambda t, y: np.stack([y[1] * np.cos(t), -y[0] * np.cos(t)]), 0.0, np.ones(2))
        y = np.array([0.0, 1.0])
        print(solver.solution(rotation.address(), y, 0.001, 2000), solver.codes)
        s = np.sin(2.0)
        print(np.abs(y - [np.sin(s), np.cos(s)]).max() < 1e-12)
        """,
    )
    assert found.splitlines() == ["0 (0, 1, 2, 3)", "True"]
