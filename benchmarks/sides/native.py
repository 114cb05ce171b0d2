"""Derivatives by hand in C, and by ADOL-C: compiled when they are built, called and timed from C."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from problems.problem import Problem

from sides.built import Arguments, Built

SOURCES = Path(__file__).resolve().parents[1] / "problems" / "native"
CPLUSPLUS = "-std=c++20"  # of ADOL-C's headers since release 2.7.2
FLAGS = ["-O3", "-march=native", "-ffast-math", "-fPIC", "-shared"]


@cache
def has_adolc(sparse: bool = False) -> bool:
    """Is there a C++ compiler that finds the headers of ADOL-C, compiled with ColPack if `sparse`?"""
    if shutil.which("c++") is None:
        return False
    source = "#include <adolc/adolc.h>\n" + "#ifndef ADOLC_SPARSE\n#error\n#endif\n" * sparse
    asked = ["c++", CPLUSPLUS, "-fsyntax-only", "-x", "c++", "-"]
    return subprocess.run(asked, input=source, text=True, capture_output=True).returncode == 0


def compiled(source: str, *flags: str, compiler: str = "cc") -> ctypes.CDLL:
    """The library that the compiler makes of a file; it stays loaded when the file is gone."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "derivative.so"
        files = ["-o", str(target), str(SOURCES / source)]
        subprocess.run([compiler, *FLAGS, *files, *flags], check=True, capture_output=True)
        return ctypes.CDLL(str(target))


def build(problem: Problem, n: int, adolc: bool = False) -> Built:
    name, start = problem.native, perf_counter()
    order = [] if problem.order is None else [f"-DORDER={problem.order}"]
    if adolc:
        kind = "_series" if order else "_sparse" if problem.asked == "sparse hessian" else ""
        header = f'-DFUNCTION="{name.removesuffix("_entries")}.hpp"'
        library = compiled(f"adolc{kind}.cpp", header, CPLUSPLUS, *order, "-ladolc", compiler="c++")
    else:
        library = compiled(f"{name}.c", *order, "-lm")
    return _InC(library, n, problem, perf_counter() - start)


class _InC(Built):
    """Calls and clock are in C, as the peers' are in theirs: entering from Python takes longer than a short call."""

    def __init__(self, library: ctypes.CDLL, n: int, problem: Problem, aside: float) -> None:
        self.aside = aside
        self.clock: Any = library.seconds
        self.clock.restype = ctypes.c_double
        self.n = n
        point = problem.point(np.random.default_rng(0), n)[0]
        self.size = point.size
        shape = (3 * n - 2,) if problem.asked == "sparse hessian" else point.shape
        self.out = np.zeros(shape if problem.order is None else (problem.order + 1, *shape))

    def at(self, arguments: Arguments) -> np.ndarray:
        self.seconds([arguments])
        return self.out.copy()

    def seconds(self, points: Sequence[Arguments]) -> float:
        rows = [(ctypes.c_void_p * len(point))(*(x.ctypes.data for x in point)) for point in points]
        table = (ctypes.c_void_p * len(rows))(*map(ctypes.addressof, rows))
        sizes = (ctypes.c_long(len(rows)), ctypes.c_long(self.n), ctypes.c_long(self.size))
        return float(self.clock(*sizes, table, ctypes.c_void_p(self.out.ctypes.data)))
