"""Where there is no memory: whatever is refused, a MemoryError is raised, nothing is lost, and the next call is right.

The tables of the core are blocks, of which each in turn is refused; so is what else it asks Python's allocator for, by
a hook in place of that.
"""

from __future__ import annotations

import gc
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

import hoad
from hoad._core.base.blocks import blocks_held, blocks_taken, refuse_block

X = np.linspace(0.1, 1.0, 40)
MATRIX = np.eye(4) + np.cos(np.arange(16.0)).reshape(4, 4)


def numbers(x: Any) -> Any:
    """Single operations in a row, and two as one."""
    y = x[0] * x[1] + np.sin(x[2])
    return y * y - x[3] / (y + x[4]) + np.exp(y) * x[5] - x[6]


def written(x: Any) -> Any:
    y = np.zeros(8) + x[0]
    y[2] = x[1] * x[2]
    y[3:5] = x[3:5]
    return np.sum(np.sin(y) * y) + y[2]


def joined(x: Any) -> Any:
    return np.sum(np.concatenate([x[k : k + 2] * k for k in range(20)]) ** 2) + np.sum(np.stack([x[0], x[3]]))


def products(x: Any) -> Any:
    return np.sum(np.linalg.solve(MATRIX, x[:4]) * (MATRIX @ x[4:8])) + np.sum(x) ** 2


def looped(x: Any) -> Any:
    y, _ = hoad.scan(lambda c, _: (c * np.sin(x[0]) + x[1], None), x[2], None, length=5)
    return y


def groups(x: Any) -> Any:
    return sum(np.sin(x[k]) * x[k + 1] for k in range(30))


@hoad.primitive
def several(x: Any, *rest: Any) -> Any:
    return x * rest[0] + sum(rest)


def transposed() -> Any:
    """A rule that was given anew, so that its templates are made again, of more operands than there is room for."""
    hoad.rules.vjp(several, lambda g, p, x, *rest: (g * rest[0], g * (x + 1.0), *[g] * (len(rest) - 1)))
    return hoad.jvp(lambda x: several(x, 2.0 * x, *[x] * 17), (X,), (X,))[1]


def along(t: Any) -> Any:
    return np.exp(np.sin(t) * t) / (1.0 + t * t)


def gradient(f: Callable[[Any], Any]) -> Callable[[], Any]:
    return lambda: hoad.grad(f)(X)


def program(f: Callable[[Any], Any]) -> Callable[[], Any]:
    return lambda: hoad.gradient(hoad.record(f, X)).evaluate(X + 0.1)


FUNCTIONS = (numbers, written, joined, products, looped, groups)

DRIVERS: dict[str, Callable[[], Any]] = {
    **{f"grad of {f.__name__}": gradient(f) for f in FUNCTIONS},
    **{f"a program of {f.__name__}": program(f) for f in FUNCTIONS},
    "jit": lambda: hoad.jit(hoad.grad(groups))(X),
    "hessian": lambda: hoad.hessian(numbers)(X),
    "jvp": lambda: hoad.jvp(joined, (X,), (X,))[1],
    "jacobian": lambda: hoad.jacobian(lambda x: x[:5] * x[1:6] + numbers(x))(X),
    "Taylor": lambda: hoad.derivatives(along, 6)(0.3),
    "Taylor in lanes": lambda: hoad.derivatives(along, 6)(X),
    "Taylor of arrays": lambda: hoad.derivatives(lambda t: np.sum(np.sin(t * X[:4]) * np.exp(MATRIX @ X[:4] * t)), 4)(
        0.3
    ),
    "a flow": lambda: hoad.ode.taylor_integrate(lambda t, y: -y * y, np.array([1.0, 0.5]), [0.0, 1.0]),
    "a rule transposed": transposed,
    "C": lambda: repr(hoad.record(numbers, X).address()),
}


def same(a: Any, b: Any) -> bool:
    return bool(np.array_equal(np.asarray(a), np.asarray(b)))


@pytest.mark.parametrize("name", DRIVERS)
def test_each_block_is_refused(name: str) -> None:
    run = DRIVERS[name]
    for _ in range(3):
        want = run()
    gc.collect()
    ahead, raised = 1, 0
    before = blocks_held()
    while True:
        taken = blocks_taken()
        refuse_block(ahead)
        try:
            found = run()
        except MemoryError:
            raised += 1
            found = want
        finally:
            refuse_block(0)
        assert same(found, want), f"block {ahead}"
        if blocks_taken() - taken < ahead:
            break
        ahead += 1
    assert raised > 3
    for _ in range(3):
        assert same(run(), want)
    gc.collect()
    assert blocks_held() <= before, f"{blocks_held() - before} of {ahead} refused blocks left another behind"


def test_after_a_refused_block_a_derivative_still_grows_on_its_function() -> None:
    """It copies the function's nodes only where another derivative grows on them, or has."""
    ahead = 1
    while True:
        program = hoad.record(numbers, X)
        refuse_block(ahead)
        try:
            derivative = hoad.gradient(program)
            break
        except MemoryError:
            ahead += 1
        finally:
            refuse_block(0)
        derivative = hoad.gradient(program)
        assert derivative[1]._graph is program[0]._graph, f"block {ahead}"
    assert ahead > 3
    assert hoad.gradient(program)[1]._graph is not program[0]._graph


# An allocator in place of Python's raw one. It refuses one piece, counted among those that our modules ask for: NumPy
# does not survive each refusal.
HOOK = r"""
#define _GNU_SOURCE
#include <Python.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <string.h>

static PyMemAllocatorEx raw;
static long seen, refused;

static int is_refused(void) {
    void* at[5];
    Dl_info found;
    int i, n = refused ? backtrace(at, 5) : 0;
    for (i = 2; i < n; i++)
        if (dladdr(at[i], &found) && found.dli_fname) {
            if (strstr(found.dli_fname, "/hoad/_core/")) return ++seen == refused;
            if (strstr(found.dli_fname, "/numpy/")) return 0;
        }
    return 0;
}
static void* take(void* _, size_t n) { return is_refused() ? NULL : raw.malloc(raw.ctx, n); }
static void* take_zeroed(void* _, size_t m, size_t n) { return is_refused() ? NULL : raw.calloc(raw.ctx, m, n); }
static void* resize(void* _, void* at, size_t n) { return is_refused() ? NULL : raw.realloc(raw.ctx, at, n); }
static void give(void* _, void* at) { raw.free(raw.ctx, at); }
void hook(void) {
    PyMemAllocatorEx ours = {NULL, take, take_zeroed, resize, give};
    PyMem_GetAllocator(PYMEM_DOMAIN_RAW, &raw);
    PyMem_SetAllocator(PYMEM_DOMAIN_RAW, &ours);
}
void refuse(long n) { seen = 0; refused = n; }
long count(void) { return seen; }
"""

HOOKED = """
import ctypes
import sys

sys.path.insert(0, sys.argv[1])
from test_blocks import DRIVERS, same

hook = ctypes.PyDLL(sys.argv[2])
hook.hook()
refused = 0
for name, run in DRIVERS.items():
    for _ in range(3):
        want = run()
    ahead = 1
    while True:
        hook.refuse(ahead)
        try:
            found = run()
        except MemoryError:
            found = want
        seen = hook.count()
        hook.refuse(0)
        assert same(found, want), (name, ahead)
        if seen < ahead:
            break
        ahead += 1
    refused += ahead - 1
    assert same(run(), want), name
assert refused > 10, refused
print("all refused")
"""


@pytest.mark.skipif(sys.platform != "linux" or shutil.which("cc") is None, reason="the hook is C for Linux")
def test_each_further_piece_is_refused(tmp_path: Path) -> None:
    """In a process of its own, as what is not checked ends it."""
    source, built = tmp_path / "hook.c", tmp_path / "hook.so"
    source.write_text(HOOK)
    include = sysconfig.get_paths()["include"]
    subprocess.run(["cc", "-shared", "-fPIC", f"-I{include}", str(source), "-o", str(built), "-ldl"], check=True)
    here = Path(__file__).parent
    command = [sys.executable, "-X", "faulthandler", "-c", HOOKED, str(here), str(built)]
    env = os.environ | {"PYTHONPATH": str(Path(hoad.__file__).parents[1])}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=env)
    assert done.stdout == "all refused\n", done.stderr
