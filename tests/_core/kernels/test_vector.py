"""The vector kernels beside mpmath: every function, every target that runs here, every kind of argument.

Errors are in units in the last place of the exact result (the distance of two subnormals where that is subnormal).
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf
from quality.project import CORE, ROOT

import hoad
from hoad._core.kernels import vector
from hoad._core.record.recording import lowered

INSTALLED = Path(hoad.__file__).parents[1]
TARGETS = vector.targets()
ONE, TWO = vector.names()
DIGITS = 60

Real = Callable[..., Any]


@dataclass(frozen=True)
class Case:
    """The exact function, the arguments that it has values for, the error that is allowed, and the limits to which an
    exponential has come long before 10⁴, where mpmath takes forever."""

    exact: Real
    where: tuple[str, ...]
    ulps: float = 2.0
    tails: tuple[float, float] | None = None


CASES = {
    "exp": Case(mp.exp, ("exponent", "any"), 1.0, (0.0, math.inf)),
    "expm1": Case(mp.expm1, ("exponent", "any"), tails=(-1.0, math.inf)),
    "sinh": Case(mp.sinh, ("exponent", "any"), tails=(-math.inf, math.inf)),
    "cosh": Case(mp.cosh, ("exponent", "any"), tails=(math.inf, math.inf)),
    "tanh": Case(mp.tanh, ("exponent", "any"), tails=(-1.0, 1.0)),
    "sech_squared": Case(lambda x: mp.sech(x) ** 2, ("exponent", "any"), tails=(0.0, 0.0)),
    "logistic": Case(lambda x: 1 / (1 + mp.exp(-x)), ("exponent", "any"), tails=(0.0, 1.0)),
    "log": Case(mp.log, ("positive", "near 1"), 1.0),
    "log1p": Case(mp.log1p, ("above -1", "positive")),
    "sin": Case(mp.sin, ("angle", "any"), 1.0),
    "cos": Case(mp.cos, ("angle", "any"), 1.0),
    "tan": Case(mp.tan, ("angle", "any")),
    "sqrt": Case(mp.sqrt, ("positive",), 0.5),
    "sqrt_one_minus_square": Case(lambda x: mp.sqrt((1 - x) * (1 + x)), ("within 1",)),
    "arctan": Case(mp.atan, ("any",)),
    "arcsin": Case(mp.asin, ("within 1",)),
    "arccos": Case(mp.acos, ("within 1",)),
    "erf": Case(mp.erf, ("bell",)),
    "erfc": Case(mp.erfc, ("bell",)),
}
CASES_OF_TWO = {
    "power": Case(lambda x, y: x**y, ("powers", "integer powers")),
    "arctan2": Case(mp.atan2, ("points", "close points")),
}


def scattered(rng: np.random.Generator, low: float, high: float, n: int) -> np.ndarray:
    """Numbers of both signs, their exponents uniform."""
    return np.ldexp(rng.choice([-1.0, 1.0], n) * rng.uniform(1, 2, n), np.floor(rng.uniform(low, high, n)).astype(int))


def arguments(kind: str, n: int, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """`n` arguments of a kind."""
    if kind == "any":
        return (scattered(rng, -1074, 1024, n),)
    if kind == "exponent":
        return (np.concatenate([rng.uniform(-750, 720, n // 2), scattered(rng, -30, 5, n - n // 2)]),)
    if kind == "positive":
        return (np.abs(scattered(rng, -1074, 1024, n)),)
    if kind == "near 1":
        return (1 + scattered(rng, -50, -1, n),)
    if kind == "above -1":
        return (np.maximum(scattered(rng, -60, 0, n), -1 + 2.0**-53),)
    if kind == "angle":
        multiples = np.rint(scattered(rng, 0, 20, n // 3)) * (np.pi / 2)
        near = multiples * (1 + scattered(rng, -52, -5, len(multiples)))
        return (np.concatenate([multiples, near, scattered(rng, -30, 40, n - 2 * len(near))]),)
    if kind == "within 1":
        ends = np.copysign(1 - np.abs(scattered(rng, -53, -1, n // 2)), rng.uniform(-1, 1, n // 2))
        return (np.concatenate([ends, scattered(rng, -40, 0, n - n // 2)]),)
    if kind == "bell":
        return (np.concatenate([rng.uniform(-7, 27.3, n // 2), scattered(rng, -60, 3, n - n // 2)]),)
    if kind == "powers":
        x = np.abs(scattered(rng, -1022, 1024, n))
        return x, rng.uniform(-745, 709, n) / np.where(np.abs(np.log(x)) > 0.1, np.log(x), 1.0)
    if kind == "integer powers":
        return scattered(rng, -20, 20, n), np.rint(rng.uniform(-50, 50, n))
    if kind == "points":
        return scattered(rng, -1000, 1000, n), scattered(rng, -1000, 1000, n)
    assert kind == "close points"
    return scattered(rng, -3, 3, n), scattered(rng, -3, 3, n)


def units_off(found: np.ndarray, wanted: list[Any]) -> np.ndarray:
    """Errors in units in the last place; where the exact value overflows, and only there, a value is infinite."""
    nearest = np.array([float(value) for value in wanted])
    finite = np.isfinite(nearest)
    rest = np.array(
        [float(value - mpf(near)) if ok else 0.0 for value, near, ok in zip(wanted, nearest, finite, strict=True)]
    )
    with np.errstate(all="ignore"):
        units = np.abs((found - nearest) - rest) / np.spacing(np.abs(nearest))
    return np.where(finite & np.isfinite(found), units, np.where(found == nearest, 0.0, math.inf))


def worst(name: str, count: int) -> dict[str, tuple[float, tuple[float, ...]]]:
    """By target, the greatest error over `count` arguments of each kind, and where it is."""
    case = CASES.get(name) or CASES_OF_TWO[name]
    rng = np.random.default_rng(sum(map(ord, name)))
    found = dict.fromkeys(TARGETS, (0.0, (0.0,)))
    for kind in case.where:
        with np.errstate(all="ignore"):
            values = arguments(kind, count, rng)
        points = list(zip(*(v.tolist() for v in values), strict=True))
        with mp.workdps(DIGITS):
            wanted = [exact(case, x) for x in points]
            for target in TARGETS:
                errors = units_off(vector.evaluate(name, *values, of=target), wanted)
                k = int(np.argmax(errors))
                found[target] = max(found[target], (float(errors[k]), points[k]))
    return found


def exact(case: Case, x: tuple[float, ...]) -> Any:
    """The function to 60 digits, with as many more as the period of a large angle takes away."""
    if case.tails is not None and abs(x[0]) > 1e4:
        return mpf(case.tails[x[0] > 0])
    away = math.frexp(x[0])[1] // 3 if "angle" in case.where else 0
    with mp.workdps(DIGITS + max(0, away)):
        return case.exact(*map(mpf, x))


def test_every_kernel_has_a_case() -> None:
    assert set(ONE) == set(CASES) and set(TWO) == set(CASES_OF_TWO)
    assert TARGETS[0] == "portable" and vector.target() in TARGETS


def assert_accurate(name: str, count: int) -> None:
    allowed = (CASES.get(name) or CASES_OF_TWO[name]).ulps
    for target, (error, where) in worst(name, count).items():
        assert error <= allowed, f"{name}{where} is {error:.2f} ulps off by the kernels {target}"


@pytest.mark.parametrize("name", [*CASES, *CASES_OF_TWO])
def test_units_in_the_last_place(name: str) -> None:
    assert_accurate(name, 1000)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*CASES, *CASES_OF_TWO])
def test_units_in_the_last_place_of_many(name: str) -> None:
    assert_accurate(name, 50_000)


# Doubles that lie close to multiples of π/2: the closest of all is the first (Muller, Elementary Functions, 3rd ed.,
# 11.3); np.pi and its multiples are what programs meet.
HARD_ANGLES = [
    6381956970095103.0 * 2.0**797,
    5319372648326541.0 * 2.0**-46,
    np.pi,
    np.pi / 2,
    3 * np.pi / 2,
    11 * np.pi,
    355.0,
    103993.0 / 33102.0,
    float.fromhex("0x1.921fb54442d18p+19"),
    2.0**20,
    np.nextafter(2.0**20, 0),
    1e22,
    1.7976931348623157e308,
]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_hard_angles(name: str, target: str) -> None:
    x = np.array([*HARD_ANGLES, *(-item for item in HARD_ANGLES), *(np.arange(1.0, 3000.0) * (np.pi / 2))])
    got = vector.evaluate(name, x, of=target)
    with mp.workdps(400):
        errors = units_off(got, [CASES[name].exact(mpf(item)) for item in x.tolist()])
    assert errors.max() <= CASES[name].ulps, x[errors.argmax()].hex()


INF, NAN = math.inf, math.nan
TINY, LARGEST = 5e-324, 1.7976931348623157e308
ODD = [0.0, -0.0, TINY, -TINY, 1e-310, -1e-310, 1e-200, -1e-200]  # functions with f(x) = x there keep them

SPECIAL: dict[str, list[tuple[float, float]]] = {
    "exp": [
        (0.0, 1.0),
        (-0.0, 1.0),
        (INF, INF),
        (-INF, 0.0),
        (LARGEST, INF),
        (-LARGEST, 0.0),
        (709.79, INF),
        (-746, 0.0),
    ],
    "expm1": [*((x, x) for x in ODD), (INF, INF), (-INF, -1.0), (-LARGEST, -1.0), (LARGEST, INF), (-40.0, -1.0)],
    "sinh": [*((x, x) for x in ODD), (INF, INF), (-INF, -INF), (LARGEST, INF), (-711.0, -INF)],
    "cosh": [(0.0, 1.0), (-0.0, 1.0), (TINY, 1.0), (INF, INF), (-INF, INF), (711.0, INF)],
    "tanh": [*((x, x) for x in ODD), (INF, 1.0), (-INF, -1.0), (LARGEST, 1.0), (-23.0, -1.0)],
    "sech_squared": [(0.0, 1.0), (-0.0, 1.0), (INF, 0.0), (-INF, 0.0), (-LARGEST, 0.0), (746.0, 0.0)],
    "logistic": [(0.0, 0.5), (-0.0, 0.5), (INF, 1.0), (-INF, 0.0), (-LARGEST, 0.0), (40.0, 1.0)],
    "log": [(1.0, 0.0), (0.0, -INF), (-0.0, -INF), (INF, INF), (-1.0, NAN), (-INF, NAN), (-TINY, NAN)],
    "log1p": [*((x, x) for x in ODD), (INF, INF), (-1.0, -INF), (-1.5, NAN), (-INF, NAN)],
    "sin": [*((x, x) for x in ODD), (INF, NAN), (-INF, NAN)],
    "cos": [(0.0, 1.0), (-0.0, 1.0), (TINY, 1.0), (INF, NAN), (-INF, NAN)],
    "tan": [*((x, x) for x in ODD), (INF, NAN), (-INF, NAN)],
    "sqrt": [(0.0, 0.0), (-0.0, -0.0), (4.0, 2.0), (INF, INF), (-1.0, NAN), (-INF, NAN), (-TINY, NAN)],
    "sqrt_one_minus_square": [(0.0, 1.0), (1.0, 0.0), (-1.0, 0.0), (1.5, NAN), (-2.0, NAN)],
    "arctan": [*((x, x) for x in ODD), (INF, np.pi / 2), (-INF, -np.pi / 2), (LARGEST, np.pi / 2), (1.0, np.pi / 4)],
    "arcsin": [*((x, x) for x in ODD), (1.0, np.pi / 2), (-1.0, -np.pi / 2), (1.5, NAN), (INF, NAN), (-INF, NAN)],
    "arccos": [(1.0, 0.0), (-1.0, np.pi), (0.0, np.pi / 2), (-0.0, np.pi / 2), (-1.5, NAN), (INF, NAN), (-INF, NAN)],
    "erf": [(0.0, 0.0), (-0.0, -0.0), (INF, 1.0), (-INF, -1.0), (LARGEST, 1.0), (-7.0, -1.0)],
    "erfc": [(0.0, 1.0), (-0.0, 1.0), (INF, 0.0), (-INF, 2.0), (-LARGEST, 2.0), (28.0, 0.0), (TINY, 1.0)],
}
SPECIAL_OF_TWO: dict[str, list[tuple[float, float, float]]] = {
    "power": [
        *((x, y, 1.0) for x in (0.0, -0.0, 3.0, -3.0, INF, -INF, NAN) for y in (0.0, -0.0)),
        *((1.0, y, 1.0) for y in (2.0, -7.5, INF, -INF, NAN)),
        *((-1.0, y, 1.0) for y in (INF, -INF, 2.0, 1e300)),
        *((x, 2.0, x * x) for x in (-0.0, 0.1, -1e-200, 1e200, INF, -INF)),
        (0.0, 3.0, 0.0),
        (-0.0, 3.0, -0.0),
        (-0.0, -3.0, -INF),
        (0.0, -2.5, INF),
        (-8.0, 3.0, -512.0),
        (-2.0, -3.0, -0.125),
        (-2.0, 0.5, NAN),
        (2.0, 1024.0, INF),
        (-2.0, 1025.0, -INF),
        (2.0, -1080.0, 0.0),
        (2.0, -1074.0, TINY),
        (TINY, 1.0, TINY),
        (0.5, INF, 0.0),
        (0.5, -INF, INF),
        (INF, -1.0, 0.0),
        (-INF, 3.0, -INF),
        (NAN, 1.0, NAN),
        (2.0, NAN, NAN),
        (10.0, 15.0, 1e15),
        (3.0, 33.0, 3.0**33),
    ],
    "arctan2": [
        (0.0, 1.0, 0.0),
        (-0.0, 1.0, -0.0),
        (0.0, -1.0, np.pi),
        (-0.0, -1.0, -np.pi),
        (0.0, 0.0, 0.0),
        (0.0, -0.0, np.pi),
        (-0.0, -0.0, -np.pi),
        (1.0, 0.0, np.pi / 2),
        (-1.0, -0.0, -np.pi / 2),
        (1.0, 1.0, np.pi / 4),
        (-1.0, -1.0, -3 * np.pi / 4),
        (INF, INF, np.pi / 4),
        (-INF, -INF, -3 * np.pi / 4),
        (1.0, INF, 0.0),
        (-1.0, INF, -0.0),
        (1.0, -INF, np.pi),
        (INF, 1.0, np.pi / 2),
        (TINY, LARGEST, 0.0),
        (TINY, TINY, np.pi / 4),
        (NAN, 1.0, NAN),
        (1.0, NAN, NAN),
    ],
}


def same(found: Any, wanted: Any) -> np.ndarray:
    """Equal to the sign of zero, nan as nan."""
    found, wanted = np.asarray(found), np.asarray(wanted)
    return (np.isnan(found) & np.isnan(wanted)) | ((found == wanted) & (np.signbit(found) == np.signbit(wanted)))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", [*SPECIAL, *SPECIAL_OF_TWO])
def test_special_values(name: str, target: str) -> None:
    rows = np.array(SPECIAL[name] + [(NAN, NAN)] if name in SPECIAL else SPECIAL_OF_TWO[name])
    *operands, wanted = (np.ascontiguousarray(column) for column in rows.T)
    got = vector.evaluate(name, *operands, of=target)
    wrong = ~same(got, wanted)
    assert not wrong.any(), f"{name}{rows[wrong][:, :-1].tolist()} gives {got[wrong]}, not {wanted[wrong]}"


def mixed(name: str, n: int, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Arguments of every kind, special ones and nan among them."""
    case = CASES.get(name) or CASES_OF_TWO[name]
    rows = SPECIAL.get(name) or SPECIAL_OF_TWO[name]
    with np.errstate(all="ignore"):
        parts = [arguments(kind, n, rng) for kind in case.where]
    parts.append(tuple(np.array(column) for column in list(zip(*rows, strict=True))[:-1]))
    whole = [np.concatenate(column) for column in zip(*parts, strict=True)]
    order = rng.permutation(len(whole[0]))[:n]
    return tuple(np.ascontiguousarray(column[order]) for column in whole)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", [*CASES, *CASES_OF_TWO])
def test_a_result_depends_on_its_element_alone(name: str, target: str) -> None:
    """The same bits one at a time, in blocks of every size, at every place, and in place."""
    operands = mixed(name, 600, np.random.default_rng(7))
    alone = np.array(
        [vector.evaluate(name, *(x[i : i + 1].copy() for x in operands), of=target)[0] for i in range(len(operands[0]))]
    )
    for size in [*range(1, 68), 255, 256, 257, 300, 513, 600]:
        for start in (0, 1, 3):
            some = [x[start : start + size] for x in operands]
            assert same(vector.evaluate(name, *some, of=target), alone[start : start + size]).all(), (size, start)
    for k in range(len(operands)):
        copies = [x.copy() for x in operands]
        vector.evaluate(name, *copies, out=copies[k], of=target)
        assert same(copies[k], alone).all(), "in place"


@pytest.mark.skipif("v4" not in TARGETS, reason="this processor runs one fused target at most")
@pytest.mark.parametrize("name", [*CASES, *CASES_OF_TWO])
def test_fused_targets_agree(name: str) -> None:
    operands = mixed(name, 2000, np.random.default_rng(23))
    v3, v4 = (vector.evaluate(name, *operands, of=target) for target in ("v3", "v4"))
    assert same(v3, v4).all()


def test_nothing_is_written_beyond_the_end() -> None:
    for n in (1, 7, 8, 9, 256, 261):
        room = np.full(n + 8, 3.5)
        vector.evaluate("sin", np.linspace(0, 9, n), out=room[:n])
        assert (room[n:] == 3.5).all()
    assert vector.evaluate("sin", np.empty(0)).size == 0


def test_what_cannot_be_asked() -> None:
    x = np.ones(3)
    with pytest.raises(
        hoad.errors.ArgumentError, match=r"no kernel of 1 operand is called 'sine'.*Those of one are exp"
    ):
        vector.evaluate("sine", x)
    with pytest.raises(hoad.errors.ArgumentError, match=r"no kernel of 1 operand is called 'power'.*power, arctan2"):
        vector.evaluate("power", x)
    with pytest.raises(hoad.errors.ArgumentError, match=r"contiguous float64.*ascontiguousarray"):
        vector.evaluate("exp", np.ones(6)[::2])
    with pytest.raises(hoad.errors.ArgumentError, match=r"one size.*float32"):
        vector.evaluate("exp", np.ones(3, dtype=np.float32))
    with pytest.raises(hoad.errors.ArgumentError, match=r"one size"):
        vector.evaluate("power", x, np.ones(4))
    with pytest.raises(hoad.errors.ArgumentError, match=r"'v9'.*do not run here.*have portable"):
        vector.evaluate("exp", x, of="v9")


# ---- where they are used


def in_lanes(f: Real, columns: tuple[np.ndarray, ...]) -> np.ndarray:
    """f of single numbers, recorded once and run with a lane for each row of the columns."""
    tape = hoad.record(f, *(1.5 for _ in columns))[0]
    program = lowered(tape._graph, list(tape._outputs), list(tape._inputs), 0, [True] * len(columns))
    found: np.ndarray = program.run(list(columns), len(columns[0]))[0]
    return found


def noted(p: Any, values: list[Any]) -> Any:
    """A traced value, its number put on a list."""
    values.append(hoad.value(p))
    return p


@pytest.mark.parametrize("name", [name for name in [*CASES, *CASES_OF_TWO] if hasattr(np, name)])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_lanes(name: str) -> None:
    operands = mixed(name, 300, np.random.default_rng(11))
    assert same(in_lanes(getattr(np, name), operands), vector.evaluate(name, *operands)).all()


@pytest.mark.parametrize("name", [name for name in vector.FASTER[vector.target()] if hasattr(np, name)])
@pytest.mark.parametrize("shapes", [((7,), ()), ((300,), (300,)), ((5, 1), (1, 70)), ((3, 4, 1), (2,)), ((0, 3), (3,))])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_arrays(name: str, shapes: tuple[tuple[int, ...], ...]) -> None:
    """As they are recorded and as they are replayed, where kernels take the place of NumPy's loops."""
    ufunc = getattr(np, name)
    rng = np.random.default_rng(13)
    columns = mixed(name, 400, rng)
    operands = [rng.choice(column, shape) for column, shape in zip(columns, shapes, strict=False)]
    recorded: list[Any] = []
    program = hoad.record(lambda *x: noted(ufunc(*x), recorded), *operands)
    spread = [np.ascontiguousarray(x) for x in np.broadcast_arrays(*operands)]
    wanted = vector.evaluate(name, *spread).reshape(spread[0].shape)
    assert same(recorded[0], wanted).all()
    assert same(program.evaluate(*operands), wanted).all()


def test_float32_arrays_stay_with_numpy() -> None:
    x = np.linspace(-3, 3, 50, dtype=np.float32)
    recorded: list[Any] = []
    hoad.record(lambda x: noted(np.sin(x), recorded), x)
    assert recorded[0].dtype == np.float32 and np.array_equal(recorded[0], np.sin(x))


@pytest.mark.parametrize("name", [*CASES, *CASES_OF_TWO])
def test_single_numbers_are_near(name: str) -> None:
    """By the C library: some roundings away, and the same where there is nothing to round."""
    operands = mixed(name, 500, np.random.default_rng(19))
    found, other = vector.evaluate(name, *operands), vector.library(name, *operands)
    with np.errstate(all="ignore"):
        near = np.abs(found - other) <= 3 * np.spacing(np.abs(other))
    assert (near | same(found, other)).all()


# ---- what the environment chooses

PROGRAM = """
import numpy as np, hoad
from hoad._core.kernels import vector
from hoad._core.record.recording import lowered
x = np.linspace(-3.0, 3.0, 1001)
f = lambda x: np.sin(x) * np.exp(np.cos(x)) + np.arctan2(x, 2.0) * (1.5 + np.tanh(x)) ** 1.5
error = np.max(np.abs(hoad.record(f, x).evaluate(x) - f(x)))
print(vector.target(), float(error), sep="\\n")
"""


def in_process(code: str, kernels: str | None) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if name != "HOAD_KERNELS"}
    env |= {} if kernels is None else {"HOAD_KERNELS": kernels}
    return subprocess.run([sys.executable, "-c", code], cwd=INSTALLED, env=env, capture_output=True, text=True)


@pytest.mark.parametrize("kernels", [None, "", *TARGETS])
def test_environment_chooses(kernels: str | None) -> None:
    done = in_process(PROGRAM, kernels)
    assert done.returncode == 0, done.stderr
    target, error = done.stdout.split()
    assert target == (kernels or TARGETS[-1])
    assert float(error) < 1e-14


def test_unknown_kernels_are_refused() -> None:
    done = in_process("import hoad; hoad.grad", "v7")
    assert done.returncode != 0
    assert "'v7'" in done.stderr and ", ".join(TARGETS) in done.stderr and "Unset HOAD_KERNELS" in done.stderr


@pytest.mark.parametrize("kernels", TARGETS)
@pytest.mark.slow
def test_this_file_by_every_target(kernels: str) -> None:
    """Lanes and arrays too, which take the kernels in use."""
    run = "import sys; del sys.path[0]; import pytest; sys.exit(pytest.main(sys.argv[1:]))"  # not from the sources
    command = [
        sys.executable,
        "-c",
        run,
        "-q",
        "-p",
        "no:cacheprovider",
        __file__,
        "-k",
        "lanes or arrays or near",
    ]
    env = os.environ | {"HOAD_KERNELS": kernels, "PYTHONPATH": str(INSTALLED)}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:]


@pytest.mark.slow
def test_polynomials_are_those_of_the_script() -> None:
    done = subprocess.run([sys.executable, ROOT / "tools" / "minimax.py"], capture_output=True, text=True, check=True)
    assert done.stdout == (CORE / "kernels" / "vector_polynomials.h").read_text()
