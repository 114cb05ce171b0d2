"""What is kept for new shapes, code, classes and degrees is bounded, and what is in use is not given to others."""

from __future__ import annotations

import dataclasses
import functools
import gc
import itertools
import pickle
import sys
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import hoad
from hoad._comparison import plain_calls as comparing
from hoad._core.base.where import files_known, is_library
from hoad._core.graph.primitive import Signature, primitive_named, primitives, signature_at
from hoad._core.graph.tape import aval_count, intern_aval
from hoad._core.sweep.rule_template import kept_arrays

FEW = 3


def shapes(count: int) -> None:
    """Let so many shapes be asked for that nothing holds."""
    for k in range(count):
        intern_aval(np.dtype(np.int8), (3, k + 1))


def f(x: Any) -> Any:
    return np.sum(np.sin(x) * x)


def slope(x: Any) -> Any:
    return np.cos(x) * x + np.sin(x)


# ---- shapes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_shapes_out_of_use_are_given_back(dtype: Any) -> None:
    before = aval_count()
    for k in range(40_000):
        assert intern_aval(np.dtype(dtype), (k, FEW)).shape == (k, FEW)
    assert aval_count() < before + 2 * 4096 + before // 2 + 1


def test_dtypes_out_of_use_are_given_back() -> None:
    before = aval_count()
    for k in range(20_000):
        assert intern_aval(np.dtype(f"S{k + 1}"), ()).itemsize == k + 1
    assert aval_count() < before + 2 * 4096 + before // 2 + 1


def test_a_shape_in_use_stays_the_same() -> None:
    held = [intern_aval(np.dtype(np.float32), (7, k + 1)) for k in range(5000)]
    numbers = [aval.number for aval in held]
    shapes(20_000)
    assert [intern_aval(np.dtype(np.float32), (7, k + 1)) for k in range(5000)] == held
    assert [aval.number for aval in held] == numbers
    assert len(set(numbers)) == 5000


jitted = hoad.jit(hoad.grad(f))
DRIVERS: dict[str, Callable[[Any], Any]] = {
    "grad": lambda x: hoad.grad(f)(x),
    "jvp": lambda x: hoad.jvp(np.sin, (x,), (np.ones_like(x),)),
    "vjp": lambda x: hoad.vjp(np.sin, x)[1](x),
    "hvp": lambda x: hoad.hvp(f)(x, x),
    "record": lambda x: hoad.gradient(hoad.record(f, x)).evaluate(x),
    "jit": lambda x: jitted(x),
    "taylor": lambda x: hoad.taylor(f, x, 2, x),
    "derivatives": lambda x: hoad.derivatives(np.sin, 2)(x),
    "vmap": lambda x: hoad.vmap(np.sin)(x),
    "scan": lambda x: hoad.grad(lambda x: hoad.scan(lambda c, row: (c * row, None), 1.0, x)[0])(x),
    "checkpoint": lambda x: hoad.grad(hoad.checkpoint(f))(x),
    "symbols": lambda x: f(hoad.symbols("x", shape=x.shape)),
    "assignment": lambda x: hoad.grad(lambda x: np.sum(assigned(x)))(x),
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::hoad.errors.JitWarning")
def test_every_driver_gives_shapes_back() -> None:
    """26 000 shapes, and some more of what is computed from them; signatures hold those of 4096 operations.

    Cycles are collected by hand: in a process with many objects, as this one, Python seldom does.
    """
    before = aval_count()
    for k in range(2000):
        for n, call in enumerate(DRIVERS.values()):
            call(np.full(FEW + k * len(DRIVERS) + n, 0.5))
        if k % 100 == 0:
            gc.collect()
    assert aval_count() < before + 20_000


def signatures(shape: tuple[int, ...]) -> int:
    """How many signatures there are with an operand of this shape."""
    gc.collect()
    return sum(any(aval.shape == shape for aval in x.avals) for x in gc.get_objects() if type(x) is Signature)


@pytest.mark.frees
def test_what_a_rule_recorded_goes_with_its_program() -> None:
    """The rule of a power takes powers, so what is recorded of it holds its own signature."""

    def others() -> None:
        for k in range(5000):
            signature_at(primitive_named("sin"), None, (intern_aval(np.dtype(np.float64), (5, k + 1)),))

    shape = (317,)
    x = np.linspace(0.1, 0.9, *shape)
    program = hoad.record(lambda x: np.sum(x**2.5), x)
    others()  # its signatures are not in the table any more
    gradient = hoad.gradient(program)
    np.testing.assert_allclose(gradient.evaluate(x), 2.5 * x**1.5, rtol=1e-14)
    assert signatures(shape)
    del program, gradient
    others()
    assert signatures(shape) == 0


def assigned(x: Any) -> Any:
    y = np.zeros(x.shape, like=x)
    y[1:] = x[1:] * x[1:]
    shapes(9000)  # while there are traced arrays and pending writes
    y[0] = np.sin(x[0])
    return y


def test_what_holds_a_shape_keeps_it() -> None:
    """Programs, compiled ones, pullbacks, symbols, pickles and values of a running recording, while shapes go by."""
    xs = [np.linspace(0.1, 0.9, n) for n in (301, 302, 303)]
    records = [hoad.record(f, x) for x in xs]
    pickles = [pickle.dumps(program) for program in records]
    jits = [hoad.jit(hoad.grad(f)) for _ in xs]
    for jit, x in zip(jits, xs, strict=True):
        jit(x)
    pullbacks = [hoad.vjp(np.sin, x)[1] for x in xs]
    linear = [hoad.linearize(np.sin, x)[1] for x in xs]
    symbols = [hoad.symbols("x", shape=x.shape) for x in xs]
    formulas = [f(x) for x in symbols]
    for _ in range(3):
        shapes(9000)
        for k, x in enumerate(xs):
            np.testing.assert_allclose(records[k].evaluate(x), f(x), rtol=1e-15)
            np.testing.assert_allclose(hoad.gradient(records[k]).evaluate(x), slope(x), rtol=1e-14)
            np.testing.assert_allclose(pickle.loads(pickles[k]).evaluate(x), f(x), rtol=1e-15)
            np.testing.assert_allclose(jits[k](x), slope(x), rtol=1e-14)
            np.testing.assert_allclose(pullbacks[k](x)[0], np.cos(x) * x, rtol=1e-14)
            np.testing.assert_allclose(linear[k](x), np.cos(x) * x, rtol=1e-14)
            assert formulas[k].operands
            assert symbols[k].shape == x.shape
            np.testing.assert_allclose(hoad.grad(f)(x), slope(x), rtol=1e-14)


def test_a_recording_keeps_its_shapes() -> None:
    x = np.linspace(0.1, 0.9, 311)
    found = np.concatenate([[np.cos(x[0])], 2 * x[1:]])
    np.testing.assert_allclose(hoad.grad(lambda x: np.sum(assigned(x)))(x), found, rtol=1e-15)
    np.testing.assert_allclose(hoad.jvp(assigned, (x,), (np.ones_like(x),))[1], found, rtol=1e-15)
    second = hoad.hvp(lambda x: np.sum(assigned(x)))(x, np.ones_like(x))
    np.testing.assert_allclose(second, np.concatenate([[-np.sin(x[0])], np.full(310, 2.0)]), rtol=1e-15)


def test_arrays_of_rules_are_bounded() -> None:
    """The rule of an assignment makes zeros of the shape of its array, which stay with what was recorded of it."""

    def g(x: Any) -> Any:
        y = np.zeros(x.size, like=x)
        y[2:4] = x[:2]
        y *= x
        return np.sum(y * y)

    kept = []
    for k in range(40):
        x = np.full(600_000 + k, 0.5)
        found = hoad.grad(g)(x)
        np.testing.assert_array_equal(found[:5], [0.25, 0.25, 0.25, 0.25, 0.0])
        assert np.count_nonzero(found) == 4
        kept.append(kept_arrays())
    assert max(kept) <= 1 << 27
    assert any(after < before for before, after in itertools.pairwise(kept))


# ---- code, files and classes ----------------------------------------------------------------------------------------


def test_files_that_are_known_are_bounded() -> None:
    for k in range(10_000):
        name = f"made-{k}.py"
        scope: dict[str, Any] = {"is_library": is_library}
        assert not is_library(name)
        if k % 10 == 0:
            exec(compile("def f(x):\n    return x * x", name, "exec"), scope)
            assert hoad.grad(scope["f"])(1.5) == 3.0
    assert max(files_known()) <= 4096
    assert is_library(np.__file__)


CALLS: dict[str, Callable[[Any], Any]] = {
    "grad": lambda g: hoad.grad(g)(0.5),
    "hessian": lambda g: hoad.hessian(g)(0.5),
    "derivatives": lambda g: hoad.derivatives(g, 3)(0.5),
    "record": lambda g: hoad.record(g, 0.5).evaluate(0.5),
    "jit": lambda g: hoad.jit(hoad.grad(g))(0.5),
    "vmap": lambda g: hoad.vmap(g)(np.ones(3)),
    "scan": lambda g: hoad.grad(lambda x: hoad.scan(lambda c, r: (g(c), None), x, np.ones(2))[0])(0.5),
    "custom": lambda g: hoad.grad(hoad.checkpoint(g))(0.5),
}


@pytest.mark.frees
@pytest.mark.parametrize("call", CALLS)
def test_code_made_anew_goes(call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparing, "MOST_KNOWN", 20)
    codes = []
    for k in range(100):
        scope: dict[str, Any] = {"np": np}
        exec(f"def f(x):\n    return np.sin(x) * {k}.0 + x", scope)
        CALLS[call](scope["f"])
        codes.append(weakref.ref(scope["f"].__code__))
        del scope
    gc.collect()
    assert sum(code() is not None for code in codes) <= 45  # 20 of each of the two tables, and those of the last call


@pytest.mark.frees
@pytest.mark.parametrize("wrap", [lambda g: g, hoad.jit], ids=["plain", "jit"])
def test_classes_made_anew_go(wrap: Callable[[Any], Any]) -> None:
    classes = []
    for k in range(40):
        made = dataclasses.make_dataclass(f"Pair{k}", ["a", "b"])
        assert wrap(hoad.grad(lambda p: p.a * p.b))(made(2.0, 3.0)) == made(3.0, 2.0)
        classes.append(weakref.ref(made))
        del made
    gc.collect()
    assert sum(made() is not None for made in classes) <= 10


# ---- degrees and sizes ----------------------------------------------------------------------------------------------


@pytest.mark.frees
def test_operations_of_degrees_are_bounded() -> None:
    special = pytest.importorskip("scipy.special")
    for degree in range(1, 80):
        found = hoad.derivatives(lambda t: special.iv(2, t), degree)(1.4)
        assert found[1] == pytest.approx(special.ivp(2, 1.4), rel=1e-13)
    for _ in range(600):
        hoad.primitive(vjp=lambda g, p, x: (g,))(lambda x: x)
    gc.collect()
    names = [made.name for made in primitives()]
    assert names.count("coefficients of scipy.special.iv") <= 66


# Tables with an entry for each of few keys: results of an operation (64 at most), rules for two numbers of nodes, and
# none; and Bernoulli's numbers, each of which takes all before it.
FEW_KEYS = {"declare", "solver", "bernoulli", "kronrod"}


def caches() -> Iterator[Any]:
    for name, module in tuple(sys.modules.items()):
        if name.startswith("hoad"):
            yield from (x for x in vars(module).values() if isinstance(x, functools._lru_cache_wrapper))


def test_caches_of_functions_are_bounded() -> None:
    unbounded = {x.__name__ for x in caches() if x.cache_parameters()["maxsize"] is None}
    assert unbounded <= FEW_KEYS
