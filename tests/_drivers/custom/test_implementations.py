"""Primitives around real implementations: ctypes, compiled C, Cython, cffi, Numba. One rule, every mode."""

from __future__ import annotations

import ctypes
import ctypes.util
import importlib.util
import math
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mpmath import mp
from rules.modes import along, pointwise, words
from rules.oracle import partial

import hoad

C_SOURCE = """
#include <stddef.h>

/* y[i] = x[i] + rate * (x[i-1] - 2 x[i] + x[i+1]), around a ring */
void diffuse(size_t n, double rate, const double *x, double *y) {
    for (size_t i = 0; i < n; i++)
        y[i] = x[i] + rate * (x[(i + n - 1) % n] - 2 * x[i] + x[(i + 1) % n]);
}
"""

Diffuse = Callable[[Any, float], Any]


def check_diffusion(diffuse: Diffuse) -> None:
    """A linear map L(x, rate), symmetric in x, by a rule that applies it to g and to itself."""

    @hoad.primitive(linear=(0,), shape=lambda x, rate: x)
    def step(x: Any, rate: float) -> Any:
        return diffuse(x, rate)

    hoad.defvjp(step, lambda g, p, x, rate: (step(g, rate), np.sum(g * (step(x, 1.0) - x))))

    def like(x: Any, rate: Any) -> Any:
        return x + rate * (np.roll(x, 1) - 2 * x + np.roll(x, -1))

    x = np.array([0.3, 1.0, -0.5, 0.8, 2.0])
    np.testing.assert_allclose(step(x, 0.1), like(x, 0.1), rtol=1e-14)
    directions = [(np.cos(k + np.arange(5.0)), 0.3 - k) for k in range(3)]
    for order in (1, 2, 3):
        want = along(lambda x, r: np.sum(like(like(x, r) ** 2, r)), "f" * order, directions[:order])(x, 0.1)
        for word in words(order):
            found = along(lambda x, r: np.sum(step(step(x, r) ** 2, r)), word, directions[:order])(x, 0.1)
            assert found == pytest.approx(want, rel=1e-12)
    for mode in ("forward", "reverse"):
        jacobian = hoad.jacobian(lambda x: step(x, 0.1), mode=mode)(x)
        np.testing.assert_allclose(jacobian, hoad.jacobian(lambda x: like(x, 0.1))(x), rtol=1e-14)


def test_ctypes_with_the_mathematical_library() -> None:
    name = ctypes.util.find_library("m")
    if name is None:
        pytest.skip("no libm to load")
    libm = ctypes.CDLL(name)
    libm.erf.restype = libm.lgamma.restype = ctypes.c_double
    libm.erf.argtypes = libm.lgamma.argtypes = [ctypes.c_double]
    erf = hoad.primitive(np.vectorize(libm.erf, otypes=[float]), shape=lambda x: x)
    hoad.defvjp(erf, lambda g, p, x: (g * 2 / math.sqrt(math.pi) * np.exp(-(x**2)),))
    x = np.array([-1.5, 0.0, 0.4, 2.0])
    for order in (1, 2, 3, 4):
        want = [float(partial(mp.erf, (point,), (order,))) for point in x.tolist()]
        for word in words(order):
            np.testing.assert_allclose(pointwise(erf, word, (0,) * order)(x), want, rtol=1e-12, atol=1e-15)
            assert pointwise(erf, word, (0,) * order)(0.4) == pytest.approx(want[2], rel=1e-12)
    assert hoad.check.rule(erf, 0.3).passed


def compiled(folder: Path) -> Path:
    """The C source as a shared library."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None or sys.platform == "win32":
        pytest.skip("no C compiler to call as cc")
    source = folder / "diffuse.c"
    source.write_text(C_SOURCE)
    library = folder / "libdiffuse.so"
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
    return library


def test_ctypes_with_compiled_c(tmp_path: Path) -> None:
    library = ctypes.CDLL(str(compiled(tmp_path)))
    array = np.ctypeslib.ndpointer(np.float64, ndim=1, flags="C_CONTIGUOUS")
    library.diffuse.argtypes = [ctypes.c_size_t, ctypes.c_double, array, array]
    library.diffuse.restype = None

    def diffuse(x: Any, rate: float) -> Any:
        x = np.ascontiguousarray(x, np.float64)
        y = np.empty_like(x)
        library.diffuse(len(x), rate, x, y)
        return y

    check_diffusion(diffuse)


def test_cffi(tmp_path: Path) -> None:
    cffi = pytest.importorskip("cffi")
    ffi = cffi.FFI()
    ffi.cdef("void diffuse(size_t n, double rate, const double *x, double *y);")
    library = ffi.dlopen(str(compiled(tmp_path)))

    def diffuse(x: Any, rate: float) -> Any:
        x = np.ascontiguousarray(x, np.float64)
        y = np.empty_like(x)
        library.diffuse(len(x), rate, ffi.from_buffer("double[]", x), ffi.from_buffer("double[]", y))
        return y

    check_diffusion(diffuse)


CYTHON_SOURCE = """
# cython: language_level=3, boundscheck=False, cdivision=True
import numpy as np

def diffuse(double[::1] x, double rate):
    cdef Py_ssize_t i, n = x.shape[0]
    result = np.empty(n)
    cdef double[::1] y = result
    with nogil:
        for i in range(n):
            y[i] = x[i] + rate * (x[(i + n - 1) % n] - 2 * x[i] + x[(i + 1) % n])
    return result
"""


def test_cython(tmp_path: Path) -> None:
    pytest.importorskip("Cython")
    pytest.importorskip("setuptools")
    if sys.platform == "win32" or not (shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")):
        pytest.skip("no C compiler")
    (tmp_path / "diffusion.pyx").write_text(CYTHON_SOURCE)
    (tmp_path / "setup.py").write_text(
        "from Cython.Build import cythonize\n"
        "from setuptools import Extension, setup\n"
        "setup(name='diffusion', ext_modules=cythonize([Extension('diffusion', ['diffusion.pyx'])]))\n"
    )
    built = subprocess.run(
        [sys.executable, "setup.py", "-q", "build_ext", "--inplace"],
        cwd=tmp_path,
        env=os.environ | {"CFLAGS": "-O0"},  # compiles in a third of the time
        capture_output=True,
        text=True,
    )
    if built.returncode and "Python.h" in built.stderr:
        pytest.skip("no headers of Python")
    assert not built.returncode, built.stderr
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    spec = importlib.util.spec_from_file_location("diffusion", tmp_path / f"diffusion{suffix}")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    check_diffusion(lambda x, rate: module.diffuse(np.ascontiguousarray(x, np.float64), rate))


def test_numba() -> None:
    numba = pytest.importorskip("numba")

    @numba.njit
    def diffuse(x: Any, rate: float) -> Any:
        n = len(x)
        y = np.empty(n)
        for i in range(n):
            y[i] = x[i] + rate * (x[(i + n - 1) % n] - 2 * x[i] + x[(i + 1) % n])
        return y

    check_diffusion(diffuse)
