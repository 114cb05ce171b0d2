"""Scalars are computed by C functions, arrays by NumPy's loops: at every special value they agree with NumPy."""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hoad
from hoad._core.graph.primitive import Primitive, primitives

SPECIAL = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    2.0,
    -2.5,
    3.0,
    -3.0,
    1.5,
    7.25,
    1e-310,
    -1e-310,
    5e-324,
    1e-8,
    1e8,
    -1e8,
    700.0,
    -745.0,
    1e17,
    1.7976931348623157e308,
    -1.7976931348623157e308,
    np.inf,
    -np.inf,
    np.nan,
]

# The sign of a zero is NumPy's and the machine's own affair for these: power(-0.0, 0.5), maximum(0.0, -0.0).
ANY_ZERO = ("power", "float_power", "maximum", "minimum", "fmax", "fmin", "**")
# NumPy's vectorised loops for these differ from the C library's functions by a few units in the last place.
ULPS = 4


def float_ufuncs(nin: int) -> list[Primitive]:
    found = []
    for primitive in primitives():
        ufunc = primitive.function
        if not isinstance(ufunc, np.ufunc) or not primitive.elementwise or ufunc.nin != nin or ufunc.nout != 1:
            continue
        if getattr(np, ufunc.__name__, None) is not ufunc:
            continue
        if not any(t.split("->")[0] == "d" * nin for t in ufunc.types):
            continue
        found.append(primitive)
    return found


UNARY, BINARY = float_ufuncs(1), float_ufuncs(2)


def as_seen(function: Any, *args: Any) -> list[Any]:
    """The value of ``function(*args)`` inside a derivative, and of its replay."""
    seen: list[Any] = []

    def f(*args: Any) -> Any:
        made = function(*args)
        seen.append(hoad.value(made))
        return made

    hoad.jvp(f, args, tuple(np.zeros_like(a) for a in args))
    return seen


def assert_close_bits(found: Any, wanted: Any, what: str) -> None:
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert found.dtype == wanted.dtype, what
    assert found.shape == wanted.shape, what
    if found.dtype == bool:
        np.testing.assert_array_equal(found, wanted, err_msg=what)
        return
    np.testing.assert_array_equal(np.isnan(found), np.isnan(wanted), err_msg=what)
    ok = ~np.isnan(wanted)
    with np.errstate(all="ignore"):
        near = np.abs(found[ok] - wanted[ok]) <= ULPS * np.spacing(np.abs(wanted[ok]))
    assert np.all((found[ok] == wanted[ok]) | near), f"{what}: {found} is not {wanted}"
    if what.startswith(ANY_ZERO) or "**" in what:
        return
    zero = ok & (wanted == 0)
    np.testing.assert_array_equal(np.signbit(found[zero]), np.signbit(wanted[zero]), err_msg=what)


def assert_close_to_numpy(op: Any, pairs: list[tuple[float, float]], name: str) -> None:
    """A function of two numbers, with both, the first or the second of them traced."""
    wanted = [op(np.float64(x), np.float64(y)) for x, y in pairs]
    ways = {
        "both": lambda x, y: as_seen(op, x, y),
        "the first": lambda x, y: as_seen(lambda x: op(x, y), x),
        "the second": lambda x, y: as_seen(lambda y: op(x, y), y),
    }
    for way, see in ways.items():
        found = [see(x, y)[0] for x, y in pairs]
        for a, b in zip(found, wanted, strict=True):
            assert np.shape(a) == () and np.asarray(a).dtype == b.dtype, name
        assert_close_bits(np.array(found), np.array(wanted), f"{name} with {way} traced, at {pairs}")


def test_most_ufuncs_are_here() -> None:
    assert len(UNARY) >= 35
    assert len(BINARY) >= 18


@pytest.mark.parametrize("primitive", UNARY, ids=lambda p: p.name)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_functions_of_one_number(primitive: Primitive) -> None:
    ufunc = primitive.function
    for x in SPECIAL:
        (found,) = as_seen(ufunc, x)
        assert_close_bits(found, ufunc(np.float64(x)), f"{primitive.name}({x})")
    array = np.array(SPECIAL)
    (found,) = as_seen(ufunc, array)
    assert_close_bits(found, ufunc(array), primitive.name)


@pytest.mark.parametrize("primitive", BINARY, ids=lambda p: p.name)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_functions_of_two_numbers(primitive: Primitive) -> None:
    ufunc = primitive.function
    # Where NumPy takes the square root of -inf, it gives nan.
    pairs = [
        pair
        for pair in itertools.product(SPECIAL, repeat=2)
        if not ("power" in primitive.name and pair == (-np.inf, 0.5))
    ]
    assert_close_to_numpy(ufunc, pairs, primitive.name)
    first, second = (np.array(side) for side in zip(*itertools.product(SPECIAL, repeat=2), strict=True))
    if "power" in primitive.name:
        second = np.where((first == -np.inf) & (second == 0.5), 0.75, second)
    (found,) = as_seen(ufunc, first, second)
    assert_close_bits(found, ufunc(first, second), primitive.name)


OPERATORS = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "/": lambda x, y: x / y,
    "**": lambda x, y: x**y,
    "//": lambda x, y: x // y,
    "%": lambda x, y: x % y,
}


@pytest.mark.parametrize("symbol", OPERATORS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_operators_of_numbers(symbol: str) -> None:
    op = OPERATORS[symbol]
    pairs = itertools.product(SPECIAL, repeat=2)
    assert_close_to_numpy(op, [pair for pair in pairs if symbol != "**" or pair != (-np.inf, 0.5)], symbol)
    for x, n in itertools.product(SPECIAL, (-3, -2, -1, 0, 1, 2, 3, 10)):
        if symbol == "**":
            (found,) = as_seen(lambda x, n=n: x**n, x)
            assert_close_bits(found, np.float64(x) ** n, f"{x} ** {n}")


@pytest.mark.parametrize("symbol", OPERATORS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_replays_of_numbers(symbol: str) -> None:
    """The interpreter, one lane and many, computes what was recorded."""
    op = OPERATORS[symbol]
    program = hoad.record(op, 1.5, 2.5)
    for x, y in itertools.product(SPECIAL, repeat=2):
        if symbol == "**" and (x, y) == (-np.inf, 0.5):
            continue
        assert_close_bits(program.evaluate(x, y), op(np.float64(x), np.float64(y)), f"{x} {symbol} {y}")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_unary_replays() -> None:
    for primitive in UNARY:
        program = hoad.record(lambda x, f=primitive.function: f(x), 0.5)
        for x in SPECIAL:
            found, wanted = program.evaluate(x), primitive.function(np.float64(x))
            assert_close_bits(found, wanted, f"{primitive.name}({x})")


SHARES_A_NAME = """
import numpy as np
import hoad.rules
from hoad._core.graph.primitive import UFUNC, Primitive, primitive_named

made = Primitive("sin", function=np.frompyfunc(lambda x: 3.0 * x, 1, 1), kind=UFUNC, infer=lambda params, x: (x,))
assert not made.has_kernel(False)
assert primitive_named("sin") is not made
"""


def test_a_ufunc_that_shares_its_name_with_one_of_numpy_has_its_own_values() -> None:
    """As one made by Cython may, which is of no module; what is declared stays, so in another process."""
    where = Path(hoad.__file__).parents[1]
    subprocess.run([sys.executable, "-c", SHARES_A_NAME], cwd=where, check=True)
