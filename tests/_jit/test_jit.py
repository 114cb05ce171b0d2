"""Calls of jitted functions: signatures, results, branches, composition, threads, pickles, errors."""

from __future__ import annotations

import contextvars
import gc
import math
import os
import pickle
import random
import re
import subprocess
import sys
import threading
import time
import types
import warnings
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.special
from _jit import models
from policy.memory import traced
from quality.project import TESTS

import hoad
from hoad._core.base.blocks import blocks_taken
from hoad._jit.jit import MOST_RECORDINGS, MOST_SIGNATURES
from hoad._pytree.containers import leaves_of

X, Y = 1.25, -0.5
VECTOR = np.array([1.0, -2.0, 3.0])


def recordings(f: Any) -> list[int]:
    """How many there are for each signature, the one called last first."""
    return [len(signature.recorded) for signature in f.signatures]


def wave(x: Any, y: Any) -> Any:
    return 4 * x * y + 3 * x * math.sin(4 * y)


def wave_gradient(x: float, y: float) -> tuple[float, float]:
    return 4 * y + 3 * math.sin(4 * y), 4 * x + 12 * x * math.cos(4 * y)


# ---- what it gives --------------------------------------------------------------------------------------------------


def test_numbers() -> None:
    for x, y in [(X, Y), (2.0, 3.0), (0.0, -0.0), (math.inf, 1.0)]:
        assert models.wave(x, y) == pytest.approx(wave(x, y), rel=1e-15, nan_ok=True)
    assert type(models.wave(X, Y)) is float


def test_gradient_of_numbers() -> None:
    gradient = hoad.jit(hoad.grad(lambda x, y: 4 * x * y + 3 * x * np.sin(4 * y), argnums=(0, 1)))
    for x, y in [(X, Y), (2.0, 3.0), (-1.0, 0.25)]:
        assert gradient(x, y) == pytest.approx(wave_gradient(x, y), rel=1e-14)
    assert recordings(gradient) == [1]


@pytest.mark.parametrize("x", [VECTOR, VECTOR[::-1], np.arange(12.0)[::4], np.asfortranarray(VECTOR)])
def test_arrays(x: Any) -> None:
    f = hoad.jit(hoad.hessian(models.cube))
    for _ in range(3):
        np.testing.assert_allclose(f(x), np.diag(6 * x), rtol=1e-15)
        np.testing.assert_allclose(f(x + 1), np.diag(6 * (x + 1)), rtol=1e-15)
    assert recordings(f) == [1]


@pytest.mark.parametrize(
    ("x", "dtype"),
    [
        (np.float32(1.5), np.float32),
        (np.ones(3, np.float32), np.float32),
        (1.5 + 2j, np.complex128),
        (np.ones(2, np.complex64), np.complex64),
        (np.ones(2, ">f8"), np.float64),
        (np.float64(2.0), np.float64),
        (np.array(2.0), np.float64),
        (np.arange(3), np.int64),
        (np.array([True, False]), np.bool_),
        (np.array(True), np.bool_),
    ],
    ids=str,
)
def test_dtypes(x: Any, dtype: Any) -> None:
    f = hoad.jit(lambda x: x * 1)
    for _ in range(3):
        np.testing.assert_array_equal(f(x), x * 1)
    assert np.asarray(f(x)).dtype == np.asarray(x * 1).dtype or dtype == np.bool_
    assert recordings(f) == [1]


def test_each_kind_of_arguments_has_its_signature() -> None:
    f = hoad.jit(lambda x: 2 * x)
    for x in (1.0, np.ones(2), np.ones(3), np.ones((2, 3)), np.ones(2, np.float32), 3, 4, True, 1):
        for _ in range(2):
            np.testing.assert_array_equal(f(x), 2 * np.asarray(x))
    assert recordings(f) == [1] * 9


def test_one_true_and_one_point_zero_are_three_things() -> None:
    f = hoad.jit(lambda x, n: x * 10 if n is True else x * 100 if type(n) is int else x * n)
    assert [f(1.0, n) for n in (1, True, 1.0, 1, True)] == [100.0, 10.0, 1.0, 100.0, 10.0]


class Pair(NamedTuple):
    a: Any
    b: Any


def test_containers_in_and_out() -> None:
    f = hoad.jit(lambda p, *rest, scale: {"a": p.a * scale["s"], "n": 3, "all": [p.b, *rest], "none": None})
    for k in range(3):
        found = f(Pair(1.0 + k, VECTOR * k), 5.0, scale={"s": 2.0 * k})
        assert found["a"] == (1.0 + k) * 2.0 * k
        np.testing.assert_array_equal(found["all"][0], VECTOR * k)
        assert found["all"][1] == 5.0
        assert (found["n"], found["none"]) == (3, None)
    assert recordings(f) == [1]
    with pytest.raises(KeyError):
        f(Pair(1.0, 1.0), scale={"t": 1.0})


@pytest.mark.parametrize("result", [None, 3, "text", (), [], {}, (1, 2), True, 2.5, np.float32(2), ((), {"a": ()})])
def test_what_is_not_traced_is_given_as_it_is(result: Any) -> None:
    f = hoad.jit(lambda x: result)
    for _ in range(3):
        assert f(1.0) == result
        assert type(f(1.0)) is type(result)
    assert recordings(f) == [1]


def test_without_arguments() -> None:
    rate = 2.0
    f = hoad.jit(lambda: rate * np.ones(2))
    assert f().tolist() == [2.0, 2.0]
    f()[0] = 100.0  # a new array each time
    assert f().tolist() == [2.0, 2.0]
    rate = 3.0
    assert f().tolist() == [3.0, 3.0]


@pytest.mark.parametrize("kind", [np.float64, np.int64])
def test_arrays_that_were_not_traced_are_new_at_every_call(kind: Any) -> None:
    f = hoad.jit(lambda x: (x, np.ones(2, kind)))
    first, second = f(1.0)[1], f(2.0)[1]
    second[0] = 7
    assert f(3.0)[1].tolist() == [1, 1] == first.tolist()


def test_an_argument_that_comes_back_is_a_copy() -> None:
    f = hoad.jit(lambda x: x)
    for _ in range(2):
        x = VECTOR.copy()
        found = f(x)
        x[0] = 50.0
        assert found[0] == 1.0


def test_keywords_and_defaults() -> None:
    f = hoad.jit(lambda x, y=2.0, *, z=3.0: x + 10 * y + 100 * z)
    assert [f(1.0), f(1.0, 5.0), f(1.0, y=5.0), f(x=1.0, z=1.0), f(1.0)] == [321.0, 351.0, 351.0, 121.0, 321.0]


def test_keywords_in_another_order() -> None:
    f = hoad.jit(lambda **kw: list(kw.values())[0])  # noqa: RUF015
    assert [f(a=1.0, b=2.0), f(b=2.0, a=1.0), f(a=3.0, b=4.0)] == [1.0, 2.0, 3.0]


def test_which_zeros_absorb_hangs_on_how_a_hessian_is_taken() -> None:
    """The table of design note 0003: a call takes lanes of unit vectors, a recording the diagonal by itself."""
    point = np.ones(12)
    point[0] = np.inf
    rows = [(lambda x: np.sum(x * np.sqrt(x)), point, (0, 0)), (lambda x: np.max(np.sqrt(x)), np.zeros(12), (0, 1))]
    with np.errstate(all="ignore"):
        found = [(hoad.hessian(f)(x)[at], hoad.jit(hoad.hessian(f))(x)[at]) for f, x, at in rows]
    np.testing.assert_array_equal(found, [(0.0, np.nan), (0.0, 0.0)])  # of two strong factors either absorbs


# ---- static arguments -----------------------------------------------------------------------------------------------


SAID_OF_N: list[dict[str, Any]] = [
    {"static_argnums": 1},
    {"static_argnums": (-1,)},
    {"static_argnums": [1]},
    {"static_argnums": np.int64(1)},
    {"static_argnames": "n"},
    {"static_argnames": ["n"]},
]


@pytest.mark.parametrize("options", SAID_OF_N)
def test_static_arguments(options: Any) -> None:
    f = hoad.jit(lambda x, n: x ** math.floor(n), **options)
    assert [f(2.0, 3.0), f(3.0, 3.0), f(2.0, 4.0), f(2.0, 3.0)] == [8.0, 27.0, 16.0, 8.0]
    assert recordings(f) == [1, 1]


def test_static_arguments_are_compared_by_value() -> None:
    f = hoad.jit(lambda x, names: x * len(names), static_argnames="names")
    assert [f(2.0, frozenset("ab")), f(3.0, frozenset("ba")), f(2.0, names=("a",)), f(3.0, ("a",))] == [
        4.0,
        6.0,
        2.0,
        3.0,
    ]
    assert recordings(f) == [1, 1, 1]


def test_a_static_argument_must_be_hashable() -> None:
    f = hoad.jit(lambda x, names: x * len(names), static_argnums=1)
    with pytest.raises(hoad.ArgumentError, match=r"argument names is static.* a list is not hashable.*Pass a tuple"):
        f(1.0, ["a"])


@pytest.mark.parametrize("options", [{"static_argnums": "x"}, {"static_argnames": 1}, {"static_argnums": True}])
def test_wrong_options(options: Any) -> None:
    with pytest.raises(hoad.ArgumentError, match="jit takes static_arg"):
        hoad.jit(lambda x: x, **options)


class Line:
    def at(self, x: Any) -> Any:
        return x


STATIC = [  # parameters, a static argument that is none of them, and what is said
    (lambda x, n=2: x, {"static_argnames": "nn"}, r"argument 'nn' is static, but the parameters of .*: x, n\. Name"),
    (
        lambda x, n=2: x,
        {"static_argnums": 2},
        r"argument 2 is static, but .* takes 2 arguments by position: x, n\. Count",
    ),
    (lambda x, n=2: x, {"static_argnums": (0, -3)}, "argument -3 is static, but .* takes 2 arguments by position"),
    (lambda x, *, n=2: x, {"static_argnums": 1}, "argument 1 is static, but .* takes 1 argument by position: x.*names"),
    (
        lambda x, *rest: x,
        {"static_argnames": "rest"},
        r"'rest' is static, .*: x\. Name those of \*args by static_argnums",
    ),
    (lambda x, **options: x, {"static_argnums": 1}, "argument 1 is static, but .* takes 1 argument by position: x"),
    (lambda: 1.0, {"static_argnames": "x"}, "the parameters of .* are: none"),
    (hoad.grad(lambda x, n=2: x), {"static_argnames": ("n", "m")}, "argument 'm' is static, .*: x, n"),
    (Line().at, {"static_argnums": 1}, "Line.at takes 1 argument by position: x"),
]


@pytest.mark.parametrize(("f", "options", "said"), STATIC)
def test_a_static_argument_is_a_parameter(f: Any, options: Any, said: str) -> None:
    with pytest.raises(hoad.ArgumentError, match=said):
        hoad.jit(f, **options)


def test_a_static_argument_of_a_function_that_does_not_tell_its_parameters() -> None:
    f = hoad.jit(max, static_argnums=2)
    with pytest.raises(hoad.ArgumentError, match=r"argument 2 is static, but max, .* 2 arguments by position and none"):
        f(1.0, 2.0)
    assert f(1.0, 2.0, 3.0) == 3.0
    with pytest.raises(hoad.ArgumentError, match=r"argument 'default' is static, but max, .* by position and key by"):
        hoad.jit(max, static_argnames="default")((1.0, 2.0), key=abs)


def by_a_float(x: Any, n: Any) -> Any:
    return x * n if type(n) is float else math.nan


@pytest.mark.parametrize("options", [{"static_argnums": 1}, {"static_argnums": -1}, {"static_argnames": "n"}])
@pytest.mark.parametrize("repeated", [False, True])
def test_a_static_argument_by_position_or_as_a_keyword(options: Any, repeated: bool) -> None:
    if repeated:
        options = {"static_argnums": (1, -1, 1), "static_argnames": ("n", "n")}
    f = hoad.jit(by_a_float, **options)
    assert f(2.0, 3.0) == 6.0
    assert f(2.0, n=3.0) == f(n=3.0, x=2.0) == 6.0


def test_static_arguments_of_any_number() -> None:
    f = hoad.jit(lambda *args: by_a_float(*args), static_argnums=-1)
    assert f(2.0, 3.0) == 6.0
    g = hoad.jit(lambda *args, **options: by_a_float(args[0], **options), static_argnums=7, static_argnames="n")
    assert g(2.0, n=3.0) == 6.0


def test_the_last_parameter_is_static_also_where_it_is_left_out() -> None:
    f = hoad.jit(lambda x, n=2.0: by_a_float(x, n), static_argnums=-1)
    assert np.array_equal(f(VECTOR), 2 * VECTOR)
    assert np.array_equal(f(VECTOR, 3.0), 3 * VECTOR)


# ---- branches -------------------------------------------------------------------------------------------------------


def test_ten_thousand_turns() -> None:
    g = hoad.jit(lambda x: x * x if x > 0 else -x)
    for k in range(10_000):
        x = float(k % 7 - 3)
        assert g(x) == (x * x if x > 0 else -x)
    assert recordings(g) == [2]


def test_sixteen_ways() -> None:
    def f(x: Any) -> Any:
        for k in range(MOST_RECORDINGS - 1):
            if x < k:
                return x * k
        return -x

    g = hoad.jit(f)
    values = [k - 0.5 for k in range(MOST_RECORDINGS)] * 50
    random.Random(3).shuffle(values)
    for x in values:
        assert g(x) == f(x)
    assert recordings(g) == [MOST_RECORDINGS]


def test_too_many_ways_are_told_once() -> None:
    def f(x: Any) -> Any:
        return x * round(hoad.value(x))

    g = hoad.jit(f)
    points = [k + 0.25 for k in range(40)]
    with pytest.warns(
        hoad.JitWarning, match=r"f runs without compilation.*recorded 16 times.*the branch at .*test_jit.py"
    ):
        found = [g(x) for x in points]
    assert found == [x * k for k, x in enumerate(points)]
    assert recordings(g) == [0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert g(1000.25) == 1000.25 * 1000


def test_too_many_signatures_are_told_once() -> None:
    g = hoad.jit(lambda x, n: x * n)
    counts = range(MOST_SIGNATURES + 20)
    message = f"{MOST_SIGNATURES} kinds of arguments, of which n keeps changing"
    with pytest.warns(hoad.JitWarning, match=message) as told:
        found = [g(1.5, n) for n in counts]
    assert found == [1.5 * n for n in counts]
    assert len(told) == 1
    assert len(g.signatures) == MOST_SIGNATURES


@pytest.mark.parametrize("x", [0.0, -0.0, math.nan, 3.5, np.array([1.0, 2.0]), np.array([0.0, -0.0])], ids=str)
def test_what_was_taken_out_is_guarded_bit_by_bit(x: Any) -> None:
    f = hoad.jit(lambda x: x * 0 + np.copysign(1.0, hoad.value(x)))
    for y in (x, -x, x + 1, x):
        for _ in range(2):
            np.testing.assert_array_equal(f(y), y * 0 + np.copysign(1.0, y))


ROUNDED = {  # what a replay may round otherwise than the recording did: kernels, sums block by block, products
    "a sum": lambda x: hoad.value(np.sum(x * x)),
    "a mean": lambda x: hoad.value(np.mean(x)),
    "functions of an array": lambda x: float(np.sum(hoad.value(np.tanh(x) * np.exp(x) - x**2.5))),
    "sums of rows": lambda x: float(hoad.value(np.sum(np.sqrt(np.reshape(x, (4, -1))), axis=1))[1]),
    "a product": lambda x: float(hoad.value(np.reshape(x, (-1, 4)).T @ np.reshape(x, (-1, 4)))[0, 1]),
    "a loop": lambda x: sum((hoad.value(np.tanh(y) * np.exp(y)) for y in x), 0.0),
}


@pytest.mark.parametrize("n", [40, 1000])
@pytest.mark.parametrize("name", ROUNDED)
def test_what_was_taken_out_may_round_otherwise_in_a_replay(name: str, n: int) -> None:
    """One recording serves again at its own arguments, and no other ones."""
    taken = ROUNDED[name]
    for seed in range(4):
        x, other = np.random.default_rng(seed).uniform(0.5, 3.0, (2, n))
        f = hoad.jit(lambda x: x[0] * taken(x))
        for _ in range(3):
            assert f(x) == pytest.approx(x[0] * taken(x), rel=1e-13)
        assert recordings(f) == [1]
        assert f(other) == pytest.approx(other[0] * taken(other), rel=1e-13)
        assert recordings(f) == [2]


def rounded_apart() -> tuple[Any, float]:
    """An argument whose sum of squares a replay rounds otherwise, and the larger of both sums."""
    for seed in range(1000):
        x = np.random.default_rng(seed).uniform(0.5, 3.0, 4000)
        program = hoad.record(lambda x: np.sum(x * x), x)
        sums = float(program[0].nodes[-1].result), float(program.evaluate(x))
        if sums[0] != sums[1]:
            return x, max(sums)
    raise AssertionError("no sum is rounded otherwise")


@pytest.mark.parametrize(
    "taken",
    [
        lambda ratio: np.floor(ratio),
        lambda ratio: np.floor(ratio) * np.ones(2),
        lambda ratio: ratio * np.ones(2) >= 1.0,
        lambda ratio: np.copysign(0.0, ratio - 1.0),
        lambda ratio: ratio >= 1.0,
    ],
    ids=["a number", "an array", "a mask", "a sign", "a boolean"],
)
def test_what_jumps_is_guarded_as_it_was_recorded(taken: Any) -> None:
    """Where the recording and its replay are on two sides of a jump, neither side is taken for the other."""
    x, large = rounded_apart()

    def side(x: Any) -> Any:
        return float(np.sum(np.copysign(1.0, hoad.value(taken(np.sum(x * x) / large)) - 0.0)))

    def f(x: Any) -> Any:
        return x[0] * (side(x) + 2.0 * float(np.sum(hoad.value(taken(np.sum(x * x) / large)))))

    for start in (x, 0.9 * x, 1.1 * x):
        g = hoad.jit(f)
        g(start)
        for y in (0.9 * x, 1.1 * x, 0.8 * x, 1.2 * x) * 2:
            assert g(y) == f(y)


ROUNDED_TO_A_GRID = {  # of 1e-10, which is small beside the numbers
    "round": lambda x: np.round(np.sum(x), 10),
    "rint": lambda x: np.rint(np.sum(x) * 1e10 * np.ones(2))[1] / 1e10,
    "floor_divide": lambda x: np.sum(x - x[0]) // 1e-10 * 1e-10 + 1.0,
    "remainder": lambda x: np.sum(x) - np.sum(x) % 1e-10,
    "a map": lambda x: hoad.vmap(lambda y: np.round(np.sum(y), 10))(np.reshape(x, (2, -1)))[0],
}


@pytest.mark.parametrize("name", ROUNDED_TO_A_GRID)
def test_what_is_rounded_to_a_fine_grid_is_guarded_as_it_was_recorded(name: str) -> None:
    """A replay at the same arguments that rounds to the next number does not stand for that number's arguments."""

    def f(x: Any) -> Any:
        return float(hoad.value(ROUNDED_TO_A_GRID[name](x))) * (1.0 + 0.0 * x[0])

    for seed in range(60):
        x = np.random.default_rng(seed).uniform(0.5, 3.0, 4000)
        total = float(np.sum(x))
        x[0] += (np.floor(total * 1e10) + 0.5) / 1e10 - total  # between two numbers of the grid
        g = hoad.jit(f)
        g(x)
        for away in (0.3e-10, -0.3e-10):
            y = x.copy()
            y[0] += away
            assert abs(g(y) - f(y)) <= 1e-11


def test_a_primitive_in_python_is_not_called_once_more_for_a_number_taken_out() -> None:
    calls: list[float] = []

    @hoad.primitive
    def counted(x: Any) -> Any:
        calls.append(x)
        return 2 * x

    f = hoad.jit(lambda x: counted(x) * hoad.value(x * x))
    assert [f(3.0), f(3.0)] == [54.0, 54.0]
    assert calls.count(3.0) == 2


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.int8, np.int32, np.bool_])
@pytest.mark.parametrize("f", [np.sum, np.prod, np.mean, np.cumsum, np.cumprod, np.trace])
def test_sums_of_small_integers_are_as_wide_as_those_of_numpy(f: Any, dtype: Any) -> None:
    """Of pixels, say: their sum is not a byte."""
    x = np.array([[200, 100], [77, 255]]).astype(dtype)
    g = hoad.jit(f)
    for _ in range(2):
        found = np.asarray(g(x))
        assert found.dtype == np.asarray(f(x)).dtype
        np.testing.assert_array_equal(found, f(x))


def test_a_branch_on_what_is_not_returned() -> None:
    f = hoad.jit(lambda x: 1.0 if np.sum(x) > 0 else 2.0)
    assert [f(VECTOR), f(-VECTOR), f(VECTOR)] == [1.0, 2.0, 1.0]


# ---- out ------------------------------------------------------------------------------------------------------------


def test_results_are_written_to_arrays() -> None:
    gradient = hoad.jit(hoad.grad(models.cube))
    out = np.empty(3)
    for x in (VECTOR, 2 * VECTOR):
        assert gradient(x, out=out) is out
        np.testing.assert_allclose(out, 3 * x**2, rtol=1e-15)
    both = np.empty(()), np.empty(())
    pair = hoad.jit(lambda x, y: (x * y, x + y))
    for _ in range(2):
        assert pair(X, Y, out=both) is both
        assert (float(both[0]), float(both[1])) == (X * Y, X + Y)
    strided = np.zeros(6)[::2]
    np.testing.assert_allclose(gradient(VECTOR, out=strided), 3 * VECTOR**2, rtol=1e-15)
    row = VECTOR.copy()
    np.testing.assert_allclose(gradient(row, out=row), 3 * VECTOR**2, rtol=1e-15)


CONSTANT = [  # a function, and what each of the arrays given as out holds then
    (lambda x: (2 * x, 3.0), [2 * VECTOR, 3.0]),
    (lambda x: (2 * x, 3, "text", None, True), [2 * VECTOR, 3, True]),
    (lambda x: {"rate": np.float64(3.0), "x": [2 * x, np.ones(2)]}, [3.0, 2 * VECTOR, np.ones(2)]),
    (lambda x: 3.0, [3.0]),
    (lambda x: np.ones(2), [np.ones(2)]),
    (lambda x: (2 * x, None), [2 * VECTOR]),
    (hoad.value_and_grad(lambda x: 3.0), [3.0, np.zeros(3)]),
    (hoad.grad(lambda x: (np.sum(x), 5.0), has_aux=True), [np.ones(3), 5.0]),
]


@pytest.mark.parametrize(("f", "expected"), CONSTANT)
@pytest.mark.parametrize("turned", [False, True])
def test_results_that_hang_on_no_input_are_written_to_arrays(f: Any, expected: Any, turned: bool) -> None:
    jitted = hoad.jit(f)
    for _ in range(3):
        dtypes = [np.asarray(y).dtype for y in expected]
        dtypes = [dtype.newbyteorder() for dtype in dtypes] if turned else dtypes
        out = tuple(np.empty(np.shape(y), dtype) for y, dtype in zip(expected, dtypes, strict=True))
        assert jitted(VECTOR, out=out) is out
        for found, y in zip(out, expected, strict=True):
            np.testing.assert_array_equal(found, y)
        with pytest.raises(hoad.ArgumentError, match=f"given {len(out) + 1} arrays as out for {len(out)} result"):
            jitted(VECTOR, out=(*out, np.empty(())))
        if len(out) == 1:
            target = out[0].astype(out[0].dtype.newbyteorder("="))
            assert jitted(VECTOR, out=target) is target
            np.testing.assert_array_equal(target, expected[0])
    assert recordings(jitted) == [1]


def test_a_constant_that_does_not_fit_leaves_all_arrays_as_they_were() -> None:
    jitted = hoad.jit(lambda x: (2 * x, 3.0))
    for _ in range(3):
        out = np.zeros(3), np.zeros(2)
        with pytest.raises(hoad.ShapeError, match=r"output 1 has shape \(\), but out has shape \(2,\)"):
            jitted(VECTOR, out=out)
        assert not out[0].any()


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize(
    ("out", "message"),
    [
        (np.empty(2), r"has shape \(3,\), but out has shape \(2,\)|has shape \(3,\)"),
        (np.empty(3, np.float32), "dtype float64, but out has float32"),
        ([0.0, 0.0, 0.0], "out"),
        ((np.empty(3), np.empty(3)), "out"),
        (3.0, "out"),
    ],
    ids=["shape", "dtype", "list", "tuple", "number"],
)
def test_out_that_does_not_fit(first: bool, out: Any, message: str) -> None:
    gradient = hoad.jit(hoad.grad(models.cube))
    if not first:
        gradient(VECTOR)
    with pytest.raises(hoad.HoadError, match=message):
        gradient(VECTOR, out=out)
    np.testing.assert_allclose(gradient(VECTOR), 3 * VECTOR**2)


def test_out_is_read_only() -> None:
    out = np.empty(3)
    out.flags.writeable = False
    gradient = hoad.jit(hoad.grad(models.cube))
    for _ in range(2):
        with pytest.raises((hoad.ArgumentError, ValueError), match="read-only"):
            gradient(VECTOR, out=out)


def test_nothing_is_written_where_a_guard_fails() -> None:
    def f(x: Any) -> Any:
        if x[0] < 0:
            raise ValueError("negative")
        return 2 * x

    g, out = hoad.jit(f), np.zeros(3)
    g(VECTOR, out=out)
    with pytest.raises(ValueError, match="negative"):
        g(-VECTOR, out=out)
    assert out.tolist() == [2.0, -4.0, 6.0]


def test_a_parameter_named_out_is_the_functions_own() -> None:
    f = hoad.jit(lambda x, out: x + out)
    assert f(1.0, out=2.0) == 3.0


def squares(x: Any) -> Any:
    return np.sum((x[1:] - x[:-1] ** 2) ** 2 + np.sin(x[1:] * x[:-1]))


def mapped(x: Any) -> Any:
    return np.sum(hoad.vmap(lambda y: np.sin(y) * y)(x) ** 2)


def looped(x: Any) -> Any:
    return hoad.scan(lambda c, y: (0.5 * c + np.tanh(y), None), 0.0, x)[0]


def multiplied(x: Any) -> Any:
    a = np.reshape(x, (10, 10))
    return np.sum(np.linalg.solve(a.T @ a + np.eye(10), x[:10]) ** 2) + np.linalg.slogdet(np.eye(10) + a @ a.T)[1]


def along_axes(x: Any) -> Any:
    a = np.reshape(x, (-1, 10))
    chosen = np.where(a > np.mean(a, axis=0), a, -0.5 * a * a)
    return np.sum(np.log(np.sum(np.exp(chosen - np.max(a, axis=1, keepdims=True)), axis=1))) + np.sum(x[::-1] * x)


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (models.cube, VECTOR),
        (squares, np.linspace(0.0, 1.0, 300)),
        (squares, np.linspace(0.0, 1.0, 400_000)),
        (mapped, np.linspace(0.0, 1.0, 300)),
        (looped, np.linspace(0.0, 1.0, 100)),
        (multiplied, np.cos(np.arange(100.0))),
        (along_axes, np.cos(np.arange(500.0))),
    ],
    ids=["numbers", "arrays", "arrays that threads share", "a map", "a loop", "linear algebra", "sums along axes"],
)
@pytest.mark.parametrize("into", [True, False], ids=["into an array", "a new array"])
def test_a_replay_allocates_nothing(f: Any, x: Any, into: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither Python's memory grows, nor NumPy's, nor ours, however often it is called; only a result is new."""
    monkeypatch.setenv("HOAD_THREADS", "2")  # threadpoolctl, if somebody has imported it, is in Python
    gradient, out = hoad.jit(hoad.grad(f)), np.empty(len(x)) if into else None
    many = 1000 if len(x) < 1000 else 10
    for _ in range(3):
        gradient(x, out=out)
    blocks = blocks_taken()
    left, peak = traced(lambda: gradient(x, out=out), many, warm=1)
    assert blocks_taken() == blocks
    assert left < 200  # the numbers that count
    workspace = 8 * 250 if f is multiplied else 0  # of LAPACK's, which NumPy takes and gives back: traced from 2.5 on
    assert peak < 200 + workspace + (0 if into else 400 + x.nbytes)


def test_a_recording_keeps_no_large_arrays_but_its_inputs() -> None:
    def f(x: Any) -> Any:
        y = np.exp(x)
        for _ in range(20):
            y = 0.5 * y - np.sin(y) * x
        return y[::-1]

    x = np.linspace(0.0, 1.0, 50_000)
    g = hoad.jit(f)
    left, _ = traced(lambda: (g(x), gc.collect())[1])
    assert left < 1.5 * x.nbytes
    tape = g.program(x)[0]
    np.testing.assert_allclose(tape.nodes[-1].result, f(x), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(g(x / 2), f(x / 2), rtol=1e-12, atol=1e-12)


# ---- composition ----------------------------------------------------------------------------------------------------


def test_inside_and_outside_of_derivatives() -> None:
    x = np.array([0.5, 1.5])
    f = hoad.jit(models.cube)
    np.testing.assert_allclose(hoad.hessian(f)(x), np.diag(6 * x), rtol=1e-15)
    np.testing.assert_allclose(hoad.grad(f)(x), 3 * x**2, rtol=1e-15)
    np.testing.assert_allclose(hoad.jit(hoad.hessian(f))(x), np.diag(6 * x), rtol=1e-15)
    np.testing.assert_allclose(hoad.jit(hoad.grad(hoad.jit(hoad.jit(f))))(x), 3 * x**2, rtol=1e-15)
    np.testing.assert_allclose(hoad.vmap(hoad.jit(hoad.grad(f)))(np.stack([x, -x])), 3 * np.stack([x, -x]) ** 2)
    np.testing.assert_allclose(hoad.jit(hoad.vmap(hoad.grad(f)))(np.stack([x, -x])), 3 * np.stack([x, -x]) ** 2)
    assert hoad.jit(lambda y: hoad.derivative(np.sin, 3)(y))(0.0) == -1.0


def test_branches_of_a_map() -> None:
    f = hoad.jit(hoad.vmap(lambda x: x * x if x > 0 else -x))
    for x in (np.array([1.0, -2.0, 3.0]), np.array([-1.0, -2.0, 3.0]), np.array([1.0, 2.0, 3.0])):
        for _ in range(2):
            np.testing.assert_array_equal(f(x), np.where(x > 0, x * x, -x))


def test_guards_land_in_the_recording_around() -> None:
    f = hoad.jit(lambda x: x * x if x > 0 else -x)
    f(1.0)
    program = hoad.record(lambda x: f(x) + 1.0, 2.0)
    assert program.evaluate(3.0) == 10.0
    with pytest.raises(hoad.GuardError):
        program.evaluate(-3.0)
    assert [hoad.grad(f)(x) for x in (2.0, -2.0)] == [4.0, -1.0]


def test_a_value_of_a_derivative_around_in_a_closure() -> None:
    def f(a: Any) -> Any:
        return hoad.jit(lambda x: a * x)(3.0) * a

    assert hoad.grad(f)(2.0) == 12.0
    assert hoad.jit(hoad.grad(f))(2.0) == 12.0
    assert hoad.jit(hoad.grad(f))(5.0) == 30.0


def test_plain_arguments_within_a_derivative() -> None:
    inner = hoad.jit(lambda x: x * x)
    assert hoad.grad(lambda a: a * inner(3.0))(2.0) == 9.0
    assert inner(4.0) == 16.0
    assert hoad.grad(lambda a: a * inner(4.0))(2.0) == 16.0


def test_recursion() -> None:
    @hoad.jit
    def power(x: Any, n: int) -> Any:
        return x * power(x, n - 1) if n else 1.0

    assert [power(2.0, 5), power(3.0, 5), power(2.0, 0)] == [32.0, 243.0, 1.0]


def test_a_generator_within() -> None:
    f = hoad.jit(lambda x: sum(x[k] * k for k in range(3)))
    assert [f(VECTOR), f(2 * VECTOR)] == [4.0, 8.0]


def test_methods() -> None:
    class Spring:
        def __init__(self, stiffness: float) -> None:
            self.stiffness = stiffness

        @hoad.jit
        def energy(self, x: Any) -> Any:
            """Of a spring."""
            return 0.5 * self.stiffness * x * x

    one, two = Spring(2.0), Spring(4.0)
    for _ in range(3):
        assert (one.energy(3.0), two.energy(3.0), Spring.energy(one, 1.0)) == (9.0, 18.0, 1.0)
    one.stiffness = 10.0
    assert (one.energy(3.0), two.energy(3.0)) == (45.0, 18.0)
    assert hoad.grad(two.energy)(3.0) == 12.0
    assert Spring.energy.__doc__ == "Of a spring."
    assert Spring.energy.__name__ == "energy"
    assert isinstance(one.energy, types.MethodType)


def test_a_primitive_in_python_runs_at_every_call() -> None:
    seen = []

    @hoad.primitive
    def noted(x: Any) -> Any:
        seen.append(float(x))
        return 2.0 * x

    f = hoad.jit(lambda x: noted(x) + 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hoad.JitWarning)
        assert [f(x) for x in (1.0, 2.0, 3.0)] == [3.0, 5.0, 7.0]
    assert seen[-1] == 3.0


def test_a_call_within_a_call() -> None:
    """A primitive that calls the function that it is part of: each run has memory of its own."""

    @hoad.primitive
    def deeper(x: Any) -> Any:
        return f(x - 1.0) if x > 1 else 1.0

    f = hoad.jit(lambda x: x * 3.0 + deeper(x) + x)
    assert f(0.5) == 3.0
    for _ in range(2):
        assert f(3.0) == 4 * (3 + 2 + 1) + 1.0


# ---- what else a call does ------------------------------------------------------------------------------------------


def test_the_program() -> None:
    program = models.wave.program(1.0, 2.0)
    assert program.evaluate(X, Y) == models.wave(X, Y)
    f = hoad.jit(lambda x: x * x if x > 0 else -x)
    assert "negative" in f.program(-1.0).table() or "-@1" in f.program(-1.0).table()
    assert "@1 * @1" in f.program(1.0).table()
    assert recordings(f) == [2]
    timed = hoad.jit(lambda x: x + time.time())
    with pytest.warns(hoad.JitWarning):
        timed(1.0)
    with pytest.raises(hoad.ArgumentError, match=r"no program of .*<lambda>: it may call time"):
        timed.program(1.0)


def test_nans_are_told() -> None:
    f = hoad.jit(lambda x: np.sqrt(x))
    f(1.0)
    with hoad.debug_nans(), pytest.raises(hoad.NanError, match="sqrt"):
        f(-1.0)
    assert math.isnan(f(-1.0))


def test_an_error_is_raised_at_every_call() -> None:
    def f(x: Any) -> Any:
        if x > 1:
            raise KeyError("too large")
        return 2 * x

    g = hoad.jit(f)
    for _ in range(3):
        with pytest.raises(KeyError, match="too large"):
            g(2.0)
        assert g(0.5) == 1.0
    assert recordings(g) == [1]


def test_an_error_of_the_replay_is_that_of_the_function() -> None:
    g = hoad.jit(lambda a: np.linalg.inv(a))
    np.testing.assert_array_equal(g(np.eye(2)), np.eye(2))
    with pytest.raises(np.linalg.LinAlgError):
        g(np.zeros((2, 2)))
    np.testing.assert_array_equal(g(2 * np.eye(2)), np.eye(2) / 2)


def test_an_error_that_is_handled() -> None:
    def f(a: Any) -> Any:
        try:
            return np.linalg.inv(a)[0, 0]
        except np.linalg.LinAlgError:
            return -1.0

    g = hoad.jit(f)
    for a, found in [(np.zeros((2, 2)), -1.0), (np.eye(2), 1.0), (np.zeros((2, 2)), -1.0), (2 * np.eye(2), 0.5)]:
        assert g(a) == found
        assert g(a) == found


def test_what_cannot_be_traced_is_called_as_it_is() -> None:
    g = hoad.jit(lambda x: math.sin(x))
    with pytest.warns(hoad.JitWarning, match=r"it cannot be traced: .*float\(\) of a traced value"):
        assert g(1.0) == math.sin(1.0)
    assert g(2.0) == math.sin(2.0)  # and says so once


def test_what_was_written_is_put_back_before_it_is_called_as_it_is() -> None:
    model = types.SimpleNamespace(calls=0, seen=[], last=0.0)

    def f(x: Any) -> Any:
        model.calls += 1
        model.seen.append(1)
        model.last = 2.0 * x
        return math.sin(x)

    g = hoad.jit(f)
    with pytest.warns(hoad.JitWarning, match="cannot be traced"):
        assert [g(1.0), g(2.0)] == [math.sin(1.0), math.sin(2.0)]
    assert vars(model) == {"calls": 2, "seen": [1, 1], "last": 4.0}


def test_what_has_done_something_outside_is_not_done_again(tmp_path: Path) -> None:
    def f(x: Any) -> Any:
        with open(tmp_path / "log", "a") as log:
            log.write("called")
        return math.sin(x)

    with pytest.raises(hoad.TracedValueError, match="cut it off from what jit records"):
        hoad.jit(f)(1.0)
    assert (tmp_path / "log").read_text() == "called"


REFUSED: dict[str, tuple[Any, Any, str]] = {
    "float": (
        lambda x: math.sin(x),
        X,
        r"Write np\.sin .*\(test_jit.py:\d+\): .* cut it off from what jit records",
    ),
    "array": (lambda x: np.asarray(x), VECTOR, r"cut it off from what jit records.* take hoad\.value\(x\)"),
    "runs without compilation": (lambda x: math.sin(x + random.random()), X, "cut it off from what jit records"),
    "function": (lambda x: scipy.special.nctdtr(9.0, 0.5, x), VECTOR, r"nctdtr has no rule, so jit .*hoad\.value\(x\)"),
    "constant": (
        lambda x: np.array_repr(x),
        VECTOR,
        r"np\.array_repr has no rule, .*Give it hoad\.value\(x\) in place of x",
    ),
    "option": (lambda x: np.add(x, 1.0, where=x > 0.0), VECTOR, r"np\.add with where= is not recorded .*Use np\.where"),
    "pickle": (lambda x: pickle.dumps(x), X, r"Pass hoad\.value\(x\), or call the jitted function there"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_recorded_speaks_of_no_derivative(name: str) -> None:
    f, x, message = REFUSED[name]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            hoad.jit(f)(x)
            told = str(caught[-1].message)
        except hoad.HoadError as error:
            told = str(error)
    assert re.search(message, told)
    assert "derivative" not in told


def test_what_a_derivative_refuses_within_jit_speaks_of_the_derivative() -> None:
    for g in (hoad.jit(hoad.grad(math.sin)), hoad.jit(lambda x: hoad.grad(math.sin)(x)), hoad.grad(hoad.jit(math.sin))):
        with pytest.raises(hoad.TracedValueError, match="cut it off from the derivative"):
            g(X)


def test_expressions_of_symbols() -> None:
    x = hoad.symbols("x")
    assert hoad.jit(lambda x: x * x + 1.0)(x).evaluate({x: 3.0}) == 10.0


def test_no_function() -> None:
    with pytest.raises(hoad.ArgumentError, match="jit takes a function"):
        hoad.jit(np.sin(1.0))  # type: ignore[arg-type]


def test_an_array_of_a_class_of_its_own() -> None:
    g = hoad.jit(lambda x: x * x)
    with pytest.raises(hoad.DTypeError):
        g(np.ma.masked_array([1.0], [True]))


# ---- what runs without compilation ----------------------------------------------------------------------------------

SOURCE = np.random.default_rng(5)
STREAM = iter(range(10**9))


BUFFER = memoryview(bytearray(b"ab"))
LOCK = threading.Lock()
CONTEXT: contextvars.ContextVar[float] = contextvars.ContextVar("rate", default=2.0)


@pytest.mark.parametrize(
    ("f", "change", "what"),
    [
        (lambda x: BUFFER[0] * x, lambda: BUFFER.__setitem__(0, BUFFER[0] + 1), "BUFFER, a memoryview, which cannot"),
        (
            lambda x: x if LOCK.locked() else -x,
            lambda: LOCK.release() if LOCK.locked() else LOCK.acquire(),
            "lock.locked",
        ),
        (lambda x: CONTEXT.get() * x, lambda: CONTEXT.set(CONTEXT.get() + 1.0), "CONTEXT, a ContextVar"),
        (lambda x: len(os.environ) * x, lambda: os.environ.__setitem__(f"HOAD_{len(os.environ)}", "1"), "os.environ"),
        (
            lambda x: sys._getframe().f_globals["hidden"](x),
            lambda: HIDDEN.append(1.0),
            "calls hidden, which is not found",
        ),
    ],
    ids=["buffer", "lock", "context", "environment", "hidden"],
)
def test_what_cannot_be_watched_is_called_as_it_is(f: Any, change: Any, what: str) -> None:
    before = dict(os.environ)
    g = hoad.jit(f)
    with pytest.warns(hoad.JitWarning, match=what):
        assert g(1.5) == f(1.5)
    for _ in range(3):
        change()
        assert g(1.5) == f(1.5)
    for name in set(os.environ) - set(before):
        del os.environ[name]


HIDDEN = [1.0]


def hidden(x: Any) -> Any:
    return x * len(HIDDEN)


@pytest.mark.parametrize(
    ("f", "what"),
    [
        (lambda x: x * time.perf_counter(), "time.perf_counter"),
        (lambda x: x + random.random(), "random.random"),
        (lambda x: x + sum(SOURCE.bytes(8)), "SOURCE, a Generator"),
        (lambda x: x + np.random.default_rng().normal(), "os.urandom"),
        (lambda x: x + next(STREAM), "STREAM"),
        (lambda x: x * eval("1.0"), "eval"),
        (lambda x: x * bool(open), "open"),
        (lambda x: types.SimpleNamespace(x=x).x if False else [object()], "an object of class object"),
    ],
    ids=["clock", "random", "generator", "seedless", "iterator", "eval", "file", "object"],
)
def test_what_changes_by_itself_is_called_as_it_is(f: Any, what: str) -> None:
    g = hoad.jit(f)
    with pytest.warns(hoad.JitWarning, match=what) as told:
        found = [g(1.0) for _ in range(4)]
    assert len(told) == 1
    assert recordings(g) == [0]
    if what not in ("eval", "open"):
        assert len({str(x) if isinstance(x, float) else id(x) for x in found}) == 4


def test_the_warning_points_to_the_call() -> None:
    g = hoad.jit(lambda x: x + random.random())
    with pytest.warns(hoad.JitWarning) as told:
        g(1.0)
    assert Path(told[0].filename).name == "test_jit.py"


def test_a_function_that_changes_what_it_reads() -> None:
    count = 0

    def f(x: Any) -> Any:
        nonlocal count
        count += 1
        return x * count

    g = hoad.jit(f)
    with pytest.warns(hoad.JitWarning, match=r"it changes count in .*f, which it reads"):
        found = [g(2.0) for _ in range(3)]
    assert found + [g(2.0) for _ in range(40)] == [2.0 * (k + 1) for k in range(43)]


class Counter:
    def __init__(self) -> None:
        self.calls, self.history = 0, [0.0]

    def by_attribute(self, x: Any) -> Any:
        self.calls += 1
        return self.calls * np.sum(x)

    def by_class(self, x: Any) -> Any:
        self.calls += 1
        return self.calls * (np.sum(x) if isinstance(x, np.ndarray) else -1.0)

    def by_list(self, x: Any) -> Any:
        self.history.append(1.0)
        return len(self.history) * x[0] * x[1] - x[0] * x[1]


@pytest.mark.filterwarnings("ignore::hoad.JitWarning")
@pytest.mark.parametrize("wrap", [lambda f: f, hoad.grad, hoad.value_and_grad], ids=["value", "grad", "value_and_grad"])
@pytest.mark.parametrize("name", ["by_attribute", "by_class", "by_list"])
def test_a_function_that_counts_is_called_once_a_call(name: str, wrap: Any) -> None:
    counter, truth = Counter(), Counter()
    g, f = hoad.jit(wrap(getattr(counter, name))), wrap(getattr(truth, name))
    x = np.array([1.5, 1.0])
    for _ in range(8):
        for found, wanted in zip(leaves_of(g(x)), leaves_of(f(x)), strict=True):
            np.testing.assert_array_equal(found, wanted)
    assert (counter.calls, counter.history) == (truth.calls, truth.history)


def test_a_function_that_counts_and_asks_for_types_is_compared_as_any_other() -> None:
    calls = []

    def f(x: Any) -> Any:
        calls.append(1)
        return len(calls) * 0.0 + (2.0 * x if type(x) is float else 3.0 * x)

    g = hoad.jit(f)
    with pytest.warns(hoad.JitWarning, match="if type"):
        assert g(1.5) == 3.0
    assert calls == [1]


def test_a_captured_array_is_kept_once() -> None:
    a = np.arange(2.0**18)
    given = a[::2]  # a view that is not contiguous, too
    f = hoad.jit(lambda x: a @ np.sin(x * a) + given @ np.sin(given * x))
    found = []
    left, _ = traced(lambda: found.append(f(0.0)))
    assert found == [0.0]
    assert left < 1.5 * a.nbytes + given.nbytes
    a[7] = -1e9  # and what is kept is still compared
    np.testing.assert_allclose(f(1e-30), 1e-30 * (a @ a + given @ given), rtol=1e-12)


def test_a_captured_array_that_changes_at_every_call_is_read_live() -> None:
    weights = np.arange(3.0)
    g = hoad.jit(hoad.grad(lambda x: np.sum(weights * x**2)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for k in range(1000):
            weights[:] = k, -k, 1.0
            assert g(VECTOR).tolist() == [2.0 * k, 4.0 * k, 6.0]
    assert recordings(g) == [2]


def test_captured_arrays_that_change_take_turns() -> None:
    weights = np.ones(3)

    def f(x: Any) -> Any:
        return np.sum(weights * x)

    g = hoad.jit(f)
    for change in range(12):
        if change % 2:
            weights = np.full(3, float(change))
        else:
            weights[0] = -change
        assert g(VECTOR) == pytest.approx(np.dot(weights, VECTOR), rel=1e-15)


def test_a_captured_array_that_changes_where_it_cannot_be_traced() -> None:
    weights = np.arange(3.0)
    g = hoad.jit(lambda x: x * float(weights[0]))

    def at(k: int) -> float:
        weights[0] = k
        return float(g(2.0))

    with pytest.warns(hoad.JitWarning, match="keeps changing: weights"):
        found = [at(k) for k in range(40)]
    assert found == [2.0 * k for k in range(40)]


def test_numbers_taken_out_of_an_array_of_traced_numbers() -> None:
    """NumPy makes an object array of traced numbers, which `hoad.value` takes out of it."""

    def f(x: Any) -> Any:
        return hoad.value(np.array([x, 2 * x]))[1] * x

    g = hoad.jit(f)
    assert [g(x) for x in (1.5, 2.5, 1.5, 3.0)] == [2 * x * x for x in (1.5, 2.5, 1.5, 3.0)]


# ---- what is not seen: the table of docs/reference/what-hoad-sees.md ------------------------------------------------


def test_printing_is_done_when_it_is_recorded(capsys: Any) -> None:
    g = hoad.jit(lambda x: (print("seen"), 2 * x)[1])
    assert [g(1.0), g(2.0), g(3.0)] == [2.0, 4.0, 6.0]
    assert capsys.readouterr().out == "seen\n"


def test_what_is_written_and_not_read() -> None:
    class Log:
        last = 0.0

    log: Any = Log()

    def f(x: Any) -> Any:
        log.seen = hoad.value(0.0)
        return 2 * x

    g = hoad.jit(f)
    assert [g(1.0), g(2.0)] == [2.0, 4.0]
    del log.seen
    g(3.0)
    assert log.seen == 0.0


@pytest.mark.filterwarnings("ignore::hoad.errors.JitWarning")
@pytest.mark.parametrize("text", [lambda x: f"{x:.1f}", lambda x: f"{x}", lambda x: format(x, "8.3e")])
def test_text_of_traced_values(text: Callable[[Any], str]) -> None:
    def f(x: Any) -> Any:
        return len(text(x)) * x if text(x)[0] != "n" else x - x

    for driver in (lambda f: f, hoad.grad, hoad.value_and_grad):
        derived = driver(f)
        g = hoad.jit(derived)
        for x in (1.0, 2.0, 1.0, 10.25, np.nan, 2.0, -0.5):
            np.testing.assert_array_equal(g(x), derived(x))
    g = hoad.jit(lambda x: (text(x), 2 * x))
    assert [g(1.0), g(2.0), g(1.0)] == [(text(1.0), 2.0), (text(2.0), 4.0), (text(1.0), 2.0)]


def test_text_of_traced_arrays() -> None:
    f = hoad.grad(lambda x: len(f"{x}") * np.sum(x))
    g = hoad.jit(f)
    for x in (np.array([1.0, 2.0]), np.array([1.25, 2.0]), np.array([1.0, 2.0])):
        np.testing.assert_array_equal(g(x), np.full(2, len(f"{x}")))
        np.testing.assert_array_equal(f(x), np.full(2, len(f"{x}")))


def test_the_state_of_numpy() -> None:
    g = hoad.jit(lambda x: x * np.geterr()["divide"].count("raise"))
    with np.errstate(divide="warn"):
        assert g(2.0) == 0.0
    with np.errstate(divide="raise"):
        assert g(2.0) == 0.0


def test_the_frames_around() -> None:
    g = hoad.jit(lambda x: x * sys._getframe().f_lineno)
    first = g(1.0)
    assert g(2.0) == 2 * first


def test_what_a_class_calls_equal() -> None:
    class Loose:
        def __init__(self, rate: float) -> None:
            self.rate = rate

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Loose)

        def __hash__(self) -> int:
            return 1

    g = hoad.jit(lambda x, loose: loose.rate * x, static_argnums=1)
    assert [g(2.0, Loose(1.0)), g(2.0, Loose(5.0))] == [2.0, 2.0]


# ---- threads and processes ------------------------------------------------------------------------------------------


def test_eight_threads() -> None:
    f = hoad.jit(lambda x, y: np.sum(x * y) if y > 0 else np.sum(x) - y)
    wrong: list[Any] = []
    start = threading.Barrier(8)

    def work(seed: int) -> None:
        rng = np.random.default_rng(seed)
        start.wait()
        for _ in range(2000):
            x, y = rng.normal(size=3 + seed % 2), float(rng.normal())
            wanted = np.sum(x * y) if y > 0 else np.sum(x) - y
            if abs(f(x, y) - wanted) > 1e-12:
                wrong.append((x, y))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_pickles() -> None:
    again = pickle.loads(pickle.dumps(models.wave))
    assert again is models.wave
    static = pickle.loads(pickle.dumps(hoad.jit(models.cube, static_argnames="x")))
    assert static(2.0) == 8.0
    with pytest.raises(hoad.ArgumentError, match="argument x is static"):
        static(VECTOR)
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(hoad.jit(lambda x: x))


def test_another_process() -> None:
    program = hoad.jit(hoad.grad(models.cube)).program(VECTOR)
    data = pickle.dumps((models.wave, program))
    code = (
        "import pickle, sys, numpy as np; f, program = pickle.loads(sys.stdin.buffer.read()); "
        "print(f(1.25, -0.5), program.evaluate(np.array([1.0, -2.0, 3.0])).tolist())"
    )
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {[str(TESTS), *sys.path]!r}; {code}"],
        input=data,
        capture_output=True,
        check=True,
    )
    assert done.stdout.decode().split(maxsplit=1) == [repr(models.wave(X, Y)), "[3.0, 12.0, 27.0]\n"]


@pytest.mark.frees
def test_a_function_is_let_go() -> None:
    array = np.ones(1000)
    watched = weakref.ref(array)
    g = hoad.jit(lambda x, held=array: np.sum(held) * x)
    g(1.0)
    del g, array
    gc.collect()
    assert watched() is None


class Labelled(np.ndarray):
    """An array of another class."""


def test_arrays_of_other_classes_are_told_apart_by_shape_and_dtype() -> None:
    squares = hoad.jit(lambda x: np.sum(x * x))
    gradient = hoad.jit(hoad.grad(lambda x: np.sum(x * x)))
    for x in (np.arange(1.0, 1001.0), np.arange(1.0, 3.0), np.ones((2, 2)), np.ones(3, np.float32), np.array(2.0)):
        for _ in range(2):
            assert squares(x.view(Labelled)) == np.sum(x * x)
            np.testing.assert_array_equal(gradient(x.view(Labelled)), 2.0 * x)


def alike(p: Any, q: Any) -> Any:
    return np.sum(p) if p is q else 10 * np.sum(p) + np.sum(q)


@pytest.mark.parametrize("shape", [(), (3,), (2, 2)])
def test_one_array_in_two_places_is_one_value(shape: tuple[int, ...]) -> None:
    x = np.full(shape, 1.5)
    jitted, gradient = hoad.jit(alike), hoad.jit(hoad.grad(lambda t, p, q: t * alike(p, q)))
    nested = hoad.jit(lambda model: alike(model["x"], model["y"][0]))
    for y in (x, x.copy(), x, x.copy(), np.array(x + 1), x):
        assert jitted(x, y) == jitted(x, q=y) == nested({"x": x, "y": [y]}) == gradient(2.0, x, y) == alike(x, y)
    assert len(jitted.signatures) == 4
    np.testing.assert_array_equal(jitted.program(x, x).evaluate(x, x + 1), alike(x, x))


def test_numbers_in_two_places_are_two_values() -> None:
    product = hoad.jit(hoad.grad(lambda p, q: p * q))
    x = 1.5
    assert (product(x, x), product(x, 2.5), product(2.5, x)) == (1.5, 2.5, 1.5)
    assert len(product.signatures) == 1
