"""A traced value never becomes a plain number in silence: what would cut it off is recorded rightly, or raises.

The error says what was asked, where in the user's code, and what to do.
"""

from __future__ import annotations

import array
import cmath
import copy
import ctypes
import decimal
import fractions
import json
import math
import operator
import pickle
import re
import statistics
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hoad

F = Callable[[Any], Any]
X = np.array([1.0, 2.0, 3.0])

FLOAT = r"float\(\) of a traced value would cut it off from the derivative"
INT = r"int\(\) of a traced value would cut it off"
INDEX = r"using a traced (value|array) as an (index|integer) would cut it off"
COMPLEX = r"complex\(\) of a traced (value|array) would cut it off"
ASSIGNED = r"assigning a traced value to an item of a plain array \(a\[\.\.\.\] = x\) would cut it off"
ARRAY = r"making a plain array of a traced one would cut it off"
WRITE = r"would cut it off from the derivative"
SEALED = r"an argument of the function that is differentiated is never changed"
COPY = r"x = x\.copy\(\)"
NUMBER = r"hoad\.value\(x\)"
NEW = r"np\.stack|np\.concatenate|np\.where|new array|like=x\)"


def assigned(x: Any) -> Any:
    a = np.zeros(3)
    a[0] = x
    return np.sum(a)


def assigned_among_integers(x: Any) -> Any:
    a = np.zeros(3, dtype=int)
    a[0] = x
    return np.sum(a)


def assigned_float(x: Any) -> Any:
    a = np.zeros(3)
    a[0] = float(x)
    return np.sum(a)


def assigned_slice(x: Any) -> Any:
    a = np.zeros(3)
    a[:] = x
    return np.sum(a)


def assigned_object_array(x: Any) -> Any:
    a = np.zeros(3)
    a[:] = np.array([x, x, 1.0])
    return np.sum(a)


def plus_equals(x: Any) -> Any:
    a = np.ones(3)
    a += x
    return np.sum(a)


def times_equals(x: Any) -> Any:
    a = np.ones(3)
    a *= x
    return np.sum(a)


def power_equals(x: Any) -> Any:
    a = np.ones(3)
    a **= x
    return np.sum(a)


def slice_minus_equals(x: Any) -> Any:
    a = np.ones((2, 3))
    a[1] -= x
    return np.sum(a)


def item_over_equals(x: Any) -> Any:
    a = np.ones(3)
    a[1] /= x
    return np.sum(a)


def matrix_times_equals(x: Any) -> Any:
    a = np.eye(3)
    b = a
    a @= np.reshape(x, (1, 1)) * np.eye(3) if np.ndim(x) == 0 else np.outer(x, x)
    return np.sum(b)


def filled(x: Any) -> Any:
    a = np.zeros(3)
    a.fill(x)
    return np.sum(a)


SCALARS: dict[str, tuple[F, str, str]] = {
    "float": (lambda x: float(x), FLOAT, r"^Leave float\(\) out: write x \("),
    "int": (lambda x: int(x), INT, r"np\.floor or np\.trunc"),
    "complex": (lambda x: complex(x), COMPLEX, NUMBER),
    "math.sin": (lambda x: math.sin(x), FLOAT, r"^Write np\.sin in place of math\.sin \("),
    "math.pow": (lambda x: math.pow(x, 2), FLOAT, NUMBER),
    "math.fsum": (lambda x: math.fsum([x, x]), FLOAT, NUMBER),
    "math.hypot": (lambda x: math.hypot(1.0, x), FLOAT, NUMBER),
    "math.isnan": (lambda x: 1.0 * math.isnan(x), FLOAT, NUMBER),
    "math.isclose": (lambda x: 1.0 * math.isclose(x, 2.0), FLOAT, NUMBER),
    "cmath.sqrt": (lambda x: abs(cmath.sqrt(x)), COMPLEX, NUMBER),
    "index of a list": (lambda x: [1.0, 2.0, 3.0][x], INDEX, NUMBER),
    "slice of a list": (lambda x: sum([1.0, 2.0, 3.0][:x]), INDEX, NUMBER),
    "range": (lambda x: float(len(range(x))), INDEX, NUMBER),
    "hex": (lambda x: hex(x), INDEX, NUMBER),
    "string times": (lambda x: "a" * x, INDEX, NUMBER),
    "np.float64": (lambda x: np.float64(x), FLOAT, NUMBER),
    "np.float32": (lambda x: np.float32(x), FLOAT, NUMBER),
    "np.int64": (lambda x: np.int64(x), INT, NUMBER),
    "np.complex128": (lambda x: np.complex128(x), COMPLEX, NUMBER),
    "np.array of floats": (lambda x: np.array(x, dtype=float), FLOAT, r"^Write np\.array\(x, like=x\) \("),
    "np.array of floats, two": (lambda x: np.sum(np.array([x, x], dtype=float)), FLOAT, NEW),
    "np.asarray of floats": (lambda x: np.sum(np.asarray([x, 1.0], float)), FLOAT, NEW),
    "astype": (lambda x: np.sum(np.array([x, x]).astype(float)), FLOAT, NUMBER),
    "np.fromiter": (lambda x: np.sum(np.fromiter([x, x], float)), FLOAT, NUMBER),
    "np.arange": (lambda x: np.sum(np.arange(x)), FLOAT, NUMBER),
    "np.zeros(3)[0] = x": (assigned, ASSIGNED, r": a = np\.zeros\(3\) -> a = np\.zeros\(3, like=x\);"),
    "np.zeros(3, int)[0] = x": (
        assigned_among_integers,
        ASSIGNED,
        r"a = np\.array\(np\.zeros\(3, dtype=int\), dtype=float, like=x\)",
    ),
    "a[:] = [x, x, 1]": (assigned_object_array, ASSIGNED, NEW),
    "float in an assignment": (assigned_float, FLOAT, NUMBER),
    "ndarray.fill": (filled, FLOAT, NUMBER),
    "a += x": (plus_equals, WRITE, NEW),
    "a *= x": (times_equals, WRITE, NEW),
    "a **= x": (power_equals, WRITE, NEW),
    "a[1] -= x": (slice_minus_equals, WRITE, NEW),
    "a[1] /= x": (item_over_equals, ASSIGNED, NEW),
    "a @= x": (matrix_times_equals, WRITE, NEW),
    "out=": (lambda x: np.add(x, 1.0, out=np.zeros(())), WRITE, NEW),
    "out=, tuple": (lambda x: np.sum(np.add(x, np.ones(3), out=(np.zeros(3),))), WRITE, NEW),
    "out= of a plain operation": (
        lambda x: np.multiply(2.0, 3.0, out=x),
        "a traced number has no items",
        "Write x = y",
    ),
    "np.add.at": (lambda x: np.add.at(np.zeros(3), [0], x), WRITE, NEW),
    "np.copyto": (lambda x: np.copyto(np.zeros(3), x), WRITE, NEW),
    "np.put": (lambda x: np.put(np.zeros(3), [0], x), WRITE, NEW),
    "np.place": (lambda x: np.place(np.zeros(3), [True, False, True], [x]), WRITE, NUMBER),
    "np.putmask": (lambda x: np.putmask(np.zeros(3), [True, False, True], x), WRITE, NEW),
    "np.full_like": (lambda x: np.sum(np.full_like(np.ones(3), x)), WRITE, NEW),
    "ctypes": (lambda x: ctypes.c_double(x).value, FLOAT, NUMBER),
    "array.array": (lambda x: array.array("d", [x])[0], FLOAT, NUMBER),
    "'%f' %": (lambda x: float("%f" % x), FLOAT, NUMBER),  # noqa: UP031
    "statistics.fmean": (lambda x: statistics.fmean([x, x]), FLOAT, NUMBER),
    "round": (lambda x: round(x), r"round\(\) of a traced value would cut it off", r"np\.rint"),
    "hash": (lambda x: float(hash(x)), "cannot be hashed", NUMBER),
    "dict key": (lambda x: {x: 1.0}[x], "cannot be hashed", NUMBER),
    "set": (lambda x: len({x, 1.0}) * x, "cannot be hashed", NUMBER),
    "pickle": (lambda x: pickle.loads(pickle.dumps(x)), "cannot be pickled", NUMBER),
    "pickle in a list": (lambda x: pickle.loads(pickle.dumps([x], protocol=5))[0], "cannot be pickled", NUMBER),
}

ARRAYS: dict[str, tuple[F, str, str]] = {
    "float": (lambda x: float(x[:1]), r"float\(\) of a traced array would cut it off", r"x\.item\(\)"),
    "int": (lambda x: int(x[:1]), INDEX, NUMBER),
    "complex": (lambda x: complex(x[:1]), COMPLEX, NUMBER),
    "math.sin": (lambda x: math.sin(x[:1]), r"float\(\) of a traced array would cut it off", NUMBER),
    "np.asarray": (lambda x: np.sum(np.asarray(x)), ARRAY, NUMBER),
    "np.array": (lambda x: np.sum(np.array(x)), ARRAY, NUMBER),
    "np.array of rows": (lambda x: np.sum(np.array([x, x])), ARRAY, NEW),
    "np.ascontiguousarray": (lambda x: np.sum(np.ascontiguousarray(x)), ARRAY, NUMBER),
    "np.require": (lambda x: np.sum(np.require(x, float, "C")), ARRAY, NUMBER),
    "a[:] = x": (assigned_slice, ASSIGNED, NEW),
    "index of a list": (lambda x: [1.0, 2.0][x], INDEX, NUMBER),
    "range": (lambda x: float(len(range(x))), INDEX, NUMBER),
    "a += x": (plus_equals, WRITE, NEW),
    "a *= x": (times_equals, WRITE, NEW),
    "a **= x": (power_equals, WRITE, NEW),
    "a[1] -= x": (slice_minus_equals, WRITE, NEW),
    "a @= x": (matrix_times_equals, WRITE, NEW),
    "out=": (lambda x: np.sum(np.add(x, 1, out=np.zeros(3))), WRITE, NEW),
    "out=x": (lambda x: np.sum(np.add(np.ones(3), 1, out=x)), SEALED, COPY),
    "matmul, out=": (lambda x: np.matmul(x, x, out=np.zeros(())), WRITE, NEW),
    "divmod, out=": (lambda x: np.sum(np.divmod(x, 2, out=(np.zeros(3), np.zeros(3)))[0]), WRITE, NEW),
    "np.add.at": (lambda x: np.add.at(np.zeros(3), [0, 1, 2], x), WRITE, NEW),
    "np.add.at, traced": (lambda x: np.add.at(x, [0], 1.0), SEALED, COPY),
    "np.copyto": (lambda x: np.copyto(np.zeros(3), x), WRITE, NEW),
    "bool": (lambda x: 1.0 if x else 2.0, r"bool\(\) of a traced array of shape \(3,\) is ambiguous", r"np\.where"),
    "if x > 1": (
        lambda x: 1.0 if x > 1 else 2.0,
        r"bool\(\) of a traced array of shape \(3,\) is ambiguous",
        r"np\.where",
    ),
    "0 < x < 5": (lambda x: np.sum(x * (0 < x < 5)), r"bool\(\) of a traced array of shape \(3,\) is ambiguous", "."),
    "x and x": (lambda x: np.sum(x and x), r"bool\(\) of a traced array of shape \(3,\) is ambiguous", "."),
    "x[0] = 1": (lambda x: x.__setitem__(0, 1.0), SEALED, COPY),
    "hash": (lambda x: float(hash(x)), "cannot be hashed|unhashable", "."),
    "pickle": (lambda x: pickle.loads(pickle.dumps(x)), "cannot be pickled", NUMBER),
}


def user_lines(f: F) -> range:
    """The lines of f's body in this file."""
    last = max(line for _, _, line in f.__code__.co_lines() if line is not None)
    return range(f.__code__.co_firstlineno, last + 1)


def message_of(f: F, x: Any) -> str:
    with pytest.raises(TypeError) as caught:
        hoad.grad(f)(x)
    assert isinstance(caught.value, hoad.HoadError)
    return str(caught.value)


def check_message(f: F, x: Any, fact: str, advice: str) -> None:
    message = message_of(f, x)
    assert re.search(fact, message), message
    assert re.search(advice, message), message
    where = re.search(r"\((\S+):(\d+)\)", message)
    assert where is not None, f"no position: {message}"
    assert where[1] == "test_detach.py" and int(where[2]) in user_lines(f), message


@pytest.mark.parametrize("name", SCALARS)
def test_scalars_that_would_be_cut_off(name: str) -> None:
    f, fact, advice = SCALARS[name]
    check_message(f, 2.0, fact, advice)


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_that_would_be_cut_off(name: str) -> None:
    f, fact, advice = ARRAYS[name]
    check_message(f, X, fact, advice)


KEYWORDS: dict[str, F] = {
    "sum, out=": lambda x: np.sum(x, out=np.zeros(())),
    "add.reduce, out=": lambda x: np.add.reduce(x, out=np.zeros(())),
    "clip, out=": lambda x: np.sum(np.clip(x, 0, 2, out=np.zeros(3))),
    "clip, where=": lambda x: np.sum(np.clip(x, 0, 2, where=[True, False, False])),
    "clip, dtype=": lambda x: np.sum(np.clip(x, 0, 2, dtype="f4")),
    "dot, out=": lambda x: np.dot(x, x, out=np.zeros(())),
    "concatenate, out=": lambda x: np.sum(np.concatenate([x, x], out=np.zeros(6))),
    "add, where=": lambda x: np.sum(np.add(x, 1, where=[True, False, True])),
    "einsum, out=": lambda x: np.einsum("i,i", x, x, out=np.zeros(())),
    "einsum, dtype=": lambda x: np.einsum("i,i", x, x, dtype="f4"),
    "cumsum, out=": lambda x: np.sum(np.cumsum(x, out=np.zeros(3))),
    "x.cumprod(out=)": lambda x: np.sum(x.cumprod(out=np.zeros(3))),
    "var, out=": lambda x: np.var(x, out=np.zeros(())),
    "std, out=": lambda x: np.std(x, out=np.zeros(())),
    "ptp, out=": lambda x: np.ptp(x, out=np.zeros(())),
    "median, out=": lambda x: np.median(x, out=np.zeros(())),
    "take, out=": lambda x: np.sum(np.take(x, [0, 1], out=np.zeros(2))),
    "choose, out=": lambda x: np.sum(np.choose([0, 1], [x[:2], x[1:]], out=np.zeros(2))),
    "compress, out=": lambda x: np.sum(np.compress([True, False, True], x, out=np.zeros(2))),
    "trace, out=": lambda x: np.trace(np.outer(x, x), out=np.zeros(())),
    "repeat, traced": lambda x: np.sum(np.repeat(x, x)),
}


@pytest.mark.parametrize("name", KEYWORDS)
def test_keywords_that_are_not_recorded_are_never_ignored(name: str) -> None:
    with pytest.raises((hoad.NoRuleError, hoad.TracedValueError), match=r"test_detach\.py:\d+") as caught:
        hoad.grad(KEYWORDS[name])(X)
    assert re.search("Leave|Use|Write|Make", str(caught.value))


HARMLESS: dict[str, F] = {
    "sum, where=True": lambda x: np.sum(x, where=True),
    "add, where=True": lambda x: np.sum(np.add(x, 0, where=True)),
    "add, out=None": lambda x: np.sum(np.add(x, 0, out=None)),
    "add, casting, order, subok": lambda x: np.sum(np.add(x, 0, casting="same_kind", order="K", subok=True)),
    "sum, positional defaults": lambda x: np.sum(x, None, None, None),
}


@pytest.mark.parametrize("name", HARMLESS)
def test_keywords_that_change_nothing_are_taken(name: str) -> None:
    value, gradient = hoad.value_and_grad(HARMLESS[name])(X)
    assert value == 6.0
    np.testing.assert_array_equal(gradient, np.ones(3))


IN_PLACE: dict[str, F] = {
    "+=": lambda x: operator.iadd(x, 2.0),
    "-=": lambda x: operator.isub(x, 2.0),
    "*=": lambda x: operator.imul(x, 2.0),
    "/=": lambda x: operator.itruediv(x, 2.0),
    "//=": lambda x: operator.ifloordiv(x, 2.0),
    "%=": lambda x: operator.imod(x, 2.0),
    "**=": lambda x: operator.ipow(x, 2.0),
    "@=": lambda x: operator.imatmul(x, np.eye(3)),
}


@pytest.mark.parametrize("symbol", IN_PLACE)
def test_in_place_operators_on_an_argument(symbol: str) -> None:
    check_message(IN_PLACE[symbol], X, SEALED, COPY)


def test_in_place_operators_on_traced_numbers_make_new_numbers() -> None:
    def f(x: Any) -> Any:
        y = x
        y += 1.0
        y *= x
        y -= 0.5
        y /= 2.0
        y **= 2
        return y + 0 * x

    assert hoad.value_and_grad(f)(2.0) == (2.75**2, 2 * 2.75 * 2.5)


# ---- other errors: loud, of the kind Python or NumPy raises ---------------------------------------------------------

LOUD: dict[str, F] = {
    "struct": lambda x: struct.unpack("d", struct.pack("d", x))[0],
    "Fraction": lambda x: float(fractions.Fraction(x)),
    "Decimal": lambda x: float(decimal.Decimal(x)),
    "statistics.mean": lambda x: statistics.mean([x, x]),
    "json": lambda x: json.loads(json.dumps(x)),
    "bytes": lambda x: len(bytes(x)) * 1.0,
    "memoryview": lambda x: memoryview(x)[0],
    "np.frombuffer": lambda x: np.frombuffer(x)[0],
    "'%d' %": lambda x: float("%d" % x),  # noqa: UP031
    "float(str)": lambda x: float(str(x)),
    "float(repr)": lambda x: float(repr(x)),
    "index of a plain array": lambda x: np.ones(3)[x],
    "as_integer_ratio": lambda x: x.as_integer_ratio()[0],
    "is_integer": lambda x: x.is_integer(),
    "hex method": lambda x: float.fromhex(x.hex()),
    "len": lambda x: len(x) * 1.0,
    "list": lambda x: sum(list(x)),
    "sum": lambda x: sum(x),
    "call": lambda x: x(),
    "set an attribute": lambda x: setattr(x, "value", 3.0),
    "set the node": lambda x: setattr(x, "node", 0),
    "np.nditer": lambda x: sum(v for v in np.nditer(x)),
    "assert_allclose": lambda x: np.testing.assert_allclose(x, 2.0),
    "type": lambda x: type(x)(2.0),
}


@pytest.mark.parametrize("name", LOUD)
def test_what_else_would_cut_off_a_scalar_raises(name: str) -> None:
    with pytest.raises((TypeError, ValueError, AttributeError, IndexError, struct.error)):
        hoad.grad(LOUD[name])(2.0)


LOUD_ARRAYS: dict[str, F] = {
    "tobytes": lambda x: np.sum(np.frombuffer(x.tobytes())),
    "data": lambda x: np.sum(np.frombuffer(x.data)),
    "view": lambda x: np.sum(x.view(np.int64)),
    "__array_interface__": lambda x: x.__array_interface__,
    "ctypes": lambda x: x.ctypes.data,
    "memoryview": lambda x: memoryview(x)[0],
    "fill": lambda x: x.fill(0.0),
    "sort": lambda x: x.sort(),
    "put": lambda x: x.put([0], 1.0),
    "itemset": lambda x: x.itemset(0, 1.0),
    "resize": lambda x: x.resize(2),
    "np.nditer": lambda x: sum(v for v in np.nditer(x)),
    "format": lambda x: float(f"{x:.3f}"),
    "'%f' %": lambda x: float("%f" % x),  # noqa: UP031
    "pow with a modulus": lambda x: np.sum(pow(x, 2, 3)),
    "del": lambda x: x.__delitem__(0),
    "shape =": lambda x: setattr(x, "shape", (3, 1)),
}


@pytest.mark.parametrize("name", LOUD_ARRAYS)
def test_what_else_would_cut_off_an_array_raises(name: str) -> None:
    with pytest.raises((TypeError, ValueError, AttributeError, NotImplementedError, BufferError)):
        hoad.grad(LOUD_ARRAYS[name])(X)


# ---- what is recorded rightly ---------------------------------------------------------------------------------------

RIGHT: dict[str, tuple[F, float, float]] = {
    "abs": (lambda x: abs(-x), 2.0, 1.0),
    "divmod": (lambda x: divmod(7.0, x)[1] + divmod(x, 1.5)[1], 1.5, -3.0 + 1.0),
    "math.prod": (lambda x: math.prod([x, x, 3.0]), 12.0, 12.0),
    "sum": (lambda x: sum([x, x, 1]), 5.0, 2.0),
    "pow": (lambda x: pow(x, 3), 8.0, 12.0),
    "max": (lambda x: max(x, 1.0) * x, 4.0, 4.0),
    "max of many": (lambda x: max([x * 2, x * 3, x]), 6.0, 3.0),
    "min": (lambda x: min(x * x, 5.0), 4.0, 4.0),
    "sorted": (lambda x: sorted([x, -x, 3 * x])[0], -2.0, -1.0),
    "sorted by": (lambda x: sorted([1.0, 2.0], key=lambda v: -v * x)[0] * x, 4.0, 2.0),
    "if": (lambda x: x * x if x > 1 else -x, 4.0, 4.0),
    "if x": (lambda x: x * x if x else -x, 4.0, 4.0),
    "not": (lambda x: x * (not x), 0.0, 0.0),
    "and, or": (lambda x: (x and x * x) + (0.0 or x), 6.0, 5.0),
    "chained comparison": (lambda x: x * (1 < x < 3), 2.0, 1.0),
    "np.bool": (lambda x: x * float(np.bool_(x > 1)), 2.0, 1.0),
    "bool": (lambda x: x * bool(x > 1), 2.0, 1.0),
    "in": (lambda x: x * (x in [1.0, 2.0]), 2.0, 1.0),
    "index": (lambda x: x * [1.0, 2.0].index(x), 2.0, 1.0),
    "== None": (lambda x: x * (x == None), 0.0, 0.0),  # noqa: E711
    "round to digits": (lambda x: round(x * 1.234, 2) + x, 4.47, 1.0),
    "math.floor": (lambda x: math.floor(x + 0.5) * x, 4.0, 2.0),
    "math.ceil": (lambda x: math.ceil(x + 0.5) * x, 6.0, 3.0),
    "math.trunc": (lambda x: math.trunc(x + 0.5) * x, 4.0, 2.0),
    "copy": (lambda x: copy.copy(x) * copy.deepcopy([x])[0], 4.0, 4.0),
    "x.item()": (lambda x: x.item() * x, 4.0, 4.0),
    "x.real": (lambda x: x.real * x + x.imag, 4.0, 4.0),
    "x.conjugate()": (lambda x: x.conjugate() * x, 4.0, 4.0),
    "object array": (lambda x: np.sum(np.array([x, 1.0])), 3.0, 1.0),
    "np.asarray of a number": (lambda x: np.asarray(x) * x, 4.0, 4.0),
    "np.vectorize": (lambda x: np.vectorize(lambda v: v * v)(x), 4.0, 4.0),
    "np.full": (lambda x: np.sum(np.full(3, x)), 6.0, 3.0),
    "np.full_like of traced": (lambda x: np.full_like(x, x) * x, 4.0, 4.0),
    "where": (lambda x: np.where(x > 1, x * x, 0.0), 4.0, 4.0),
    "isinstance": (lambda x: x * (not isinstance(x, int)), 2.0, 1.0),
    "assigned into a list": (lambda x: (lambda a: (a.__setitem__(0, x), sum(a))[1])([0.0, 1.0]), 3.0, 1.0),
    "math of hoad.value": (lambda x: x * math.sqrt(hoad.value(x) * 2), 4.0, 2.0),
    "reduce": (lambda x: __import__("functools").reduce(lambda a, b: a * b, [x, x, 2.0]), 8.0, 8.0),
    "x[()]": (lambda x: x[()] * x[...], 4.0, 4.0),
    "x[None]": (lambda x: np.sum(x[None] * x), 4.0, 4.0),
}


@pytest.mark.parametrize("name", RIGHT)
@pytest.mark.parametrize("kind", [float, np.float64, np.array])
def test_what_is_recorded_rightly(name: str, kind: Callable[[float], Any]) -> None:
    f, value, slope = RIGHT[name]
    found_value, found_slope = hoad.value_and_grad(f)(kind(2.0))
    assert found_value == pytest.approx(value, rel=1e-15)
    assert found_slope == pytest.approx(slope, rel=1e-15)
    assert hoad.jvp(f, (kind(2.0),), (kind(1.0),))[1] == pytest.approx(slope, rel=1e-15)


def test_formatting_shows_the_number() -> None:
    """Showing a value is no use of it: a print in f goes on working."""
    shown: list[str] = []

    def f(x: Any) -> Any:
        shown.extend([f"{x:.2f}", f"{x}", repr(x), f"{x > 1}", repr(np.stack([x, x]))])
        return x

    hoad.grad(f)(2.0)
    # What follows is of plain calls, as the text could have been asked for something.
    assert shown[:5] == ["2.00", "2.0", "Traced(2.0)", "True", "Traced(array([2., 2.]))"]


def test_value_of_whatever_holds_traced_values() -> None:
    seen: list[Any] = []

    def f(x: Any) -> Any:
        seen.extend([hoad.value(x), hoad.value(x > 1), hoad.value(np.stack([x, x])), hoad.value(3), hoad.value("a")])
        return x

    hoad.grad(f)(2.0)
    assert seen[:2] == [2.0, True] and type(seen[0]) is float and type(seen[1]) is bool
    np.testing.assert_array_equal(seen[2], [2.0, 2.0])
    assert seen[3:] == [3, "a"]


def test_a_copy_of_a_value_is_the_users_own() -> None:
    """Writing into what `value` gave changes nothing that was recorded."""

    def f(x: Any) -> Any:
        y = x * x
        hoad.value(y)[:] = 0.0
        hoad.value(x)[:] = 0.0
        return np.sum(y)

    value, gradient = hoad.value_and_grad(f)(X)
    assert value == 14.0
    np.testing.assert_array_equal(gradient, 2 * X)


def test_values_used_after_their_function_returned() -> None:
    kept: list[Any] = []
    for x in (2.0, X):
        kept.clear()
        hoad.grad(lambda x: np.sum(kept.append(x) or x * x))(x)
        for use in (float, int, complex, np.float64, math.sin, lambda x: x + 1, lambda x: [0.0][x]):
            with pytest.raises(hoad.TracedValueError, match=r"used after .* had returned \(test_detach\.py:\d+\)"):
                use(kept[0])
