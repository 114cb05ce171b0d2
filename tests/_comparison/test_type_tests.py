"""What code asks of the kind of an argument: answered as for a plain value, or an error that names the line."""

from __future__ import annotations

import collections.abc
import dataclasses
import functools
import itertools
import json
import math
import numbers
import operator
import os
import pickle
import struct
import subprocess
import sys
import textwrap
import types
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hoad
from hoad._comparison import plain_calls as comparing

Choose = Callable[[Any], int]


@functools.singledispatch
def by_class(x: Any) -> int:
    return 2


by_class.register(float, lambda x: 3)
by_class.register(np.ndarray, lambda x: 5)
by_class.register(complex, lambda x: 7)


class Dispatcher:
    @functools.singledispatchmethod
    def by(self, x: Any) -> int:
        return 2

    @by.register
    def _(self, x: np.ndarray) -> int:
        return 3

    @by.register
    def _(self, x: float) -> int:
        return 5


@typing.runtime_checkable
class Shaped(typing.Protocol):
    @property
    def shape(self) -> Any: ...


def matched(x: Any) -> int:
    match x:
        case float():
            return 2
        case complex():
            return 3
        case np.ndarray(ndim=1):
            return 5
        case np.ndarray():
            return 7
        case _:
            return 11


# From NumPy 2.5 on. Then an array of no dimensions raises a TypeError.
ARRAYS_MATCH = bool(np.ndarray.__flags__ & 1 << 5)


def matched_sequence(x: Any) -> int:
    match x:
        case [] | [_, _, _, _, _]:
            return 7
        case [_, *_]:
            return 2
        case {"a": _}:
            return 3
        case _:
            return 5


def by_try(convert: Callable[[Any], Any], *errors: type[Exception]) -> Choose:
    def choose(x: Any) -> int:
        try:
            convert(x)
        except errors or Exception:  # noqa: B030
            return 2
        return 3

    return choose


def bare(x: Any) -> int:
    try:
        float(x)
    except:  # noqa: E722
        return 2
    return 3


def suppressed(x: Any) -> int:
    import contextlib

    found = 2
    with contextlib.suppress(TypeError):
        float(x)
        found = 3
    return found


def is_instance(*kinds: Any) -> Choose:
    return lambda x: 2 if isinstance(x, kinds) else 3


# What is answered as for a plain value, at every argument.
ANSWERED: dict[str, Choose] = {
    "float": is_instance(float),
    "ndarray": is_instance(np.ndarray),
    "int": is_instance(int),
    "bool": is_instance(bool),
    "complex": is_instance(complex),
    "str": is_instance(str),
    "list, tuple": is_instance(list, tuple),
    "np.float64": is_instance(np.float64),
    "np.float32": is_instance(np.float32),
    "np.floating": is_instance(np.floating),
    "np.complexfloating": is_instance(np.complexfloating),
    "np.inexact": is_instance(np.inexact),
    "np.number": is_instance(np.number),
    "np.generic": is_instance(np.generic),
    "np.integer": is_instance(np.integer),
    "np.bool_": is_instance(np.bool_),
    "np.ndarray or np.generic": is_instance(np.ndarray, np.generic),
    "float or int": is_instance(float, int),
    "float | int": lambda x: 2 if isinstance(x, float | int) else 3,
    "typing.Union": lambda x: 2 if isinstance(x, (float | np.ndarray)) else 3,
    "numbers.Number": is_instance(numbers.Number),
    "numbers.Real": is_instance(numbers.Real),
    "numbers.Complex": is_instance(numbers.Complex),
    "numbers.Integral": is_instance(numbers.Integral),
    "collections.abc.Sequence": is_instance(collections.abc.Sequence),
    "collections.abc.Mapping": is_instance(collections.abc.Mapping),
    "collections.abc.Callable": is_instance(collections.abc.Callable),
    "collections.abc.Iterator": is_instance(collections.abc.Iterator),
    "issubclass": lambda x: 2 if issubclass(x.__class__, float) else 3,
    "__class__ is float": lambda x: 2 if x.__class__ is float else 3,
    "__class__ is np.ndarray": lambda x: 2 if x.__class__ is np.ndarray else 3,
    "__class__.__name__": lambda x: len(x.__class__.__name__),
    "__class__ in a dict": lambda x: {float: 2, np.float64: 3, np.ndarray: 5}.get(x.__class__, 7),
    "np.isscalar": lambda x: 2 if np.isscalar(x) else 3,
    "not np.isscalar": lambda x: 3 if not np.isscalar(x) else 2,
    "np.ndim": lambda x: 2 + np.ndim(x),
    "np.shape": lambda x: 2 + len(np.shape(x)),
    "np.size": lambda x: 2 + np.size(x),
    "np.iscomplexobj": lambda x: 2 if np.iscomplexobj(x) else 3,
    "np.isrealobj": lambda x: 2 if np.isrealobj(x) else 3,
    "np.iterable": lambda x: 2 if np.iterable(x) else 3,
    "match": matched,
    "match a sequence": matched_sequence,
    "singledispatch": by_class,
    "singledispatchmethod": lambda x: Dispatcher().by(x),
    "callable": lambda x: 2 if callable(x) else 3,
    "is None": lambda x: 2 if x is None else 3,
    "iter": by_try(iter),
    "len": by_try(len),
    "raise": lambda x: 3,
}

# What a traced value cannot answer: the answer of a plain value, or an error that names the line.
OTHERS: dict[str, Choose] = {
    "type is float": lambda x: 2 if type(x) is float else 3,
    "type == float": lambda x: 2 if type(x) == float else 3,  # noqa: E721
    "type is np.ndarray": lambda x: 2 if type(x) is np.ndarray else 3,
    "type in": lambda x: 2 if type(x) in (float, np.float64, np.ndarray, np.float32, complex) else 3,
    "type().__name__": lambda x: len(type(x).__name__),
    "type().__module__": lambda x: 2 if type(x).__module__ == "numpy" else 3,
    "type in a dict": lambda x: {float: 2, np.float64: 5, np.ndarray: 7}.get(type(x), 3),
    "issubclass of type": lambda x: 2 if issubclass(type(x), (float, np.ndarray, complex, np.generic)) else 3,
    "hasattr shape": lambda x: 2 if hasattr(x, "shape") else 3,
    "hasattr dtype": lambda x: 2 if hasattr(x, "dtype") else 3,
    "hasattr __len__": lambda x: 2 if hasattr(x, "__len__") else 3,
    "hasattr __iter__": lambda x: 2 if hasattr(x, "__iter__") else 3,
    "hasattr __array__": lambda x: 2 if hasattr(x, "__array__") else 3,
    "hasattr __float__": lambda x: 2 if hasattr(x, "__float__") else 3,
    "hasattr is_integer": lambda x: 2 if hasattr(x, "is_integer") else 3,
    "hasattr tolist": lambda x: 2 if hasattr(x, "tolist") else 3,
    "getattr ndim": lambda x: 2 + getattr(x, "ndim", 7),
    "getattr size": lambda x: 2 if getattr(x, "size", None) is None else 3,
    "Protocol": lambda x: 2 if hasattr(x, "shape") and isinstance(x, Shaped) else 3,
    "Iterable": lambda x: 2 if isinstance(x, collections.abc.Iterable) else 3,
    "Sized": lambda x: 2 if isinstance(x, collections.abc.Sized) else 3,
    "Hashable": lambda x: 2 if isinstance(x, collections.abc.Hashable) else 3,
    "SupportsComplex": lambda x: 2 if isinstance(x, typing.SupportsComplex) else 3,
    "SupportsFloat": lambda x: 2 if isinstance(x, typing.SupportsFloat) else 3,
    "SupportsIndex": lambda x: 2 if isinstance(x, typing.SupportsIndex) else 3,
    "SupportsInt": lambda x: 2 if isinstance(x, typing.SupportsInt) else 3,
    "SupportsRound": lambda x: 2 if isinstance(x, typing.SupportsRound) else 3,
    "is True": lambda x: 2 if (np.real(np.ravel(x)[0]).item() > 0.1) is True else 3,
    "is True, of the argument": lambda x: 2 if (abs(x) > 0.2) is True else 3,
    "is False": lambda x: 2 if (abs(x) > 2.0) is False else 3,
    "dtype of asarray": lambda x: 2 if np.asarray(x).dtype == np.float64 else 3,
    "kind of array": lambda x: 2 if np.array(x).dtype.kind == "f" else 3,
    "kind of items": lambda x: 2 if np.array([np.sum(x), 1.0]).dtype.kind in "fc" else 3,
    "issubdtype": lambda x: 2 if np.issubdtype(np.asarray(x).dtype, np.inexact) else 3,
    "a list repeated": lambda x: len([2, 3] * math.floor(x)) if isinstance(x, float) else 3,
    "a tuple repeated": lambda x: len((2, 3) * (2 * math.floor(x) + 1)) if isinstance(x, float) else 3,
    "a list, by bool": lambda x: 2 + len([2, 3] * (x > 1)) if type(x) is float else 3,
    "a list, by argmax": lambda x: 2 + len([2, 3] * np.argmax(np.real(np.ravel(x)))),
    "float()": by_try(float),
    "float(), TypeError": by_try(float, TypeError, ValueError),
    "float(), Exception": by_try(float, Exception),
    "bare except": bare,
    "suppress": suppressed,
    "int()": by_try(int),
    "complex()": by_try(complex),
    "math.sin": by_try(math.sin),
    "math.isnan": by_try(math.isnan),
    "operator.index": by_try(operator.index),
    "np.asarray of floats": by_try(lambda x: np.asarray(x, dtype=float)),
    "np.float64()": by_try(np.float64),
    "struct.pack": by_try(lambda x: struct.pack("d", x)),
    "%f": by_try(lambda x: "%f" % x),  # noqa: UP031
    "hash": by_try(hash),
    "pickle": by_try(pickle.dumps),
    "round": by_try(round),
    "is_integer": by_try(lambda x: x.is_integer()),
    "tolist": by_try(lambda x: x.tolist()),
    "nan_to_num of item": by_try(lambda x: x.item().hex(), Exception),
}

ARGUMENTS: dict[str, Any] = {
    "float": 1.5,
    "np.float64": np.float64(1.5),
    "0-d": np.array(1.5),
    "1-d": np.array([0.5, 1.5, -2.0]),
    "one item": np.array([0.5]),
    "2-d": np.array([[0.5, 1.5], [-2.0, 3.0]]),
    "np.float32": np.float32(1.5),
    "float32, 0-d": np.array(1.5, np.float32),
    "float32, 1-d": np.array([0.5, 1.5], np.float32),
    "complex": 1.5 + 0.5j,
    "np.complex128": np.complex128(1.5 + 0.5j),
    "complex64": np.complex64(1.5 + 0.5j),
    "complex, 1-d": np.array([1.5 + 0.5j, 2.0]),
}


def hoad_traced(x: Any) -> bool:
    return type(x).__module__.startswith("hoad")


# From an argument to what is looked at; a plain call says of which kind that is.
STAGES: dict[str, Callable[[Any], Any]] = {
    "argument": lambda x: x,
    "product": lambda x: x * 2.0,
    "negative": lambda x: -x,
    "sum": lambda x: np.sum(x),
    "sine": lambda x: np.sin(x),
    "item": lambda x: x[0] if np.ndim(x) else x,
    "where": lambda x: np.where(np.real(x) > -9.0, x, 1.0),
    "zeros_like": lambda x: np.zeros_like(x),
    "truth": lambda x: np.abs(x) > 0,
    "comparison": lambda x: x == 1.5,
    "power": lambda x: x**2,
    "quotient": lambda x: 1.0 / x,
    "by an int": lambda x: 2 * x,
    "by a number of NumPy's": lambda x: x * np.float64(2.0) if not np.iscomplexobj(x) else x,
    "itself": lambda x: x + x,
    "plus": lambda x: +x,
    "abs": lambda x: abs(x),
    "np.abs": lambda x: np.abs(x),
    "real": lambda x: x.real,
    "np.real": lambda x: np.real(x),
    "np.imag": lambda x: np.imag(x) if np.iscomplexobj(x) else x,
    "maximum": lambda x: np.maximum(np.real(x), 0.0),
    "clip": lambda x: np.clip(np.real(x), -1.0, 1.0),
    "np.dot": lambda x: np.dot(np.ravel(x), np.ravel(x)),
    "mean": lambda x: np.mean(x),
    "norm": lambda x: np.linalg.norm(np.ravel(x)),
    "reshape": lambda x: np.reshape(x, np.shape(x)),
    "squeeze": lambda x: np.squeeze(x) if np.ndim(x) else x,
    "ravel": lambda x: np.ravel(x),
    "ravel, item": lambda x: np.ravel(x)[0],
    "view of an item": lambda x: np.ravel(x)[0, ...],
    "transpose": lambda x: np.transpose(x) if np.ndim(x) else x,
    "array": lambda x: np.asarray(x, like=x) if hoad_traced(x) else np.asarray(x),
    "like": lambda x: np.full_like(x, 2.0),
    "min": lambda x: min(x, 3.0) if isinstance(x, float) else x,
    "builtin sum": lambda x: sum([x, x]),
    "math.floor": lambda x: math.floor(x) if isinstance(x, float) else x,
    "math.floor, in arithmetic": lambda x: -(7 // (2 * math.floor(x) - 3)) % 5 if isinstance(x, float) else x,
    "math.floor, halved": lambda x: math.floor(x) / 2 if isinstance(x, float) else x,
    "math.floor, by a float": lambda x: math.floor(x) * 2.0 if isinstance(x, float) else x,
    "cumsum": lambda x: np.cumsum(np.ravel(x)),
    "argmax": lambda x: np.argmax(np.real(np.ravel(x))),
    "isfinite": lambda x: np.isfinite(x),
    "all": lambda x: np.all(np.real(x) > -9.0),
    "stacked": lambda x: np.stack([np.ravel(x), np.ravel(x)]),
    "item()": lambda x: np.ravel(x)[0].item(),
    "copy": lambda x: np.copy(x),
}


def square(choose: Choose, stage: Callable[[Any], Any] = STAGES["argument"]) -> Callable[[Any], Any]:
    return lambda x: choose(stage(x)) * np.sum(np.real(x * np.conj(x)))


def by_jvp(f: Any, x: Any) -> tuple[Any, Any]:
    value, slope = hoad.jvp(f, (x,), (x,))
    return value, slope / 2 / np.real(np.sum(x * np.conj(x)))


def factor(found: Any, x: Any) -> Any:
    """The factor in a gradient of `square`, which is 2 c conj(x)."""
    return np.max(np.abs(found)) / np.max(np.abs(2 * x))


# Each gives the factors that it finds: in the value, and in a derivative.
DRIVERS: dict[str, Callable[[Any, Any], tuple[Any, ...]]] = {
    "value_and_grad": lambda f, x: (lambda found: (found[0] / np.sum(np.abs(x) ** 2), factor(found[1], x)))(
        hoad.value_and_grad(f)(x)
    ),
    "grad": lambda f, x: (factor(hoad.grad(f)(x), x),),
    "jvp": lambda f, x: (hoad.jvp(f, (x,), (x,))[1] / 2 / np.sum(np.abs(x) ** 2),),
    "hessian": lambda f, x: (np.ravel(hoad.hessian(f)(x))[0] / 2,),
    "grad of grad": lambda f, x: (
        factor(hoad.grad(lambda y: np.sum(np.abs(hoad.grad(f)(y))))(x) * np.abs(x), x) * np.ones(()),
    ),
    "jacobian": lambda f, x: (factor(hoad.jacobian(f)(x), x),),
    "vjp": lambda f, x: (factor(hoad.vjp(f, x)[1](1.0)[0], x),),
    "linearize": lambda f, x: (hoad.linearize(f, x)[1](x) / 2 / np.sum(np.abs(x) ** 2),),
    "derivative": lambda f, x: (hoad.derivative(f)(x) / (2 * x),),
    "derivatives": lambda f, x: (hoad.derivatives(f, 2)(x)[2] / 2,),
    "taylor": lambda f, x: (hoad.taylor(f, x, 2, x).coefficients[2] / np.sum(np.abs(x) ** 2),),
    "jit": lambda f, x: (hoad.jit(f)(x) / np.sum(np.abs(x) ** 2),),
    "jit(grad)": lambda f, x: (factor(hoad.jit(hoad.grad(f))(x), x),),
    "record": lambda f, x: (hoad.record(f, x)(x) / np.sum(np.abs(x) ** 2),),
    "checkpoint": lambda f, x: (factor(hoad.grad(hoad.checkpoint(f))(x), x),),
}
OF_NUMBERS = {"derivative", "derivatives"}
OF_REALS = {"hessian", "grad of grad", "taylor", "jacobian"}


def is_for(driver: str, x: Any) -> bool:
    if driver in OF_NUMBERS and (np.ndim(x) or np.iscomplexobj(x)):
        return False
    return not (driver in OF_REALS and np.iscomplexobj(x))


def tolerance(x: Any) -> float:
    return 1e-4 if np.asarray(x).dtype.itemsize in (4,) or np.asarray(x).dtype == np.complex64 else 1e-10


IN_TURN = 3  # a driver and a pattern meet one argument of so many: each two of the three meet


@pytest.mark.filterwarnings("ignore::hoad.JitWarning", "ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("pattern", ANSWERED | OTHERS)
def test_the_branch_is_that_of_a_plain_call(pattern: str) -> None:
    choose = (ANSWERED | OTHERS)[pattern]
    first = [*ANSWERED, *OTHERS].index(pattern)
    for (i, driver), (j, (name, x)) in itertools.product(enumerate(DRIVERS), enumerate(ARGUMENTS.items())):
        if (first + i + j) % IN_TURN or not is_for(driver, x):
            continue
        if pattern == "round" and isinstance(x, np.complexfloating) and hasattr(x, "__round__"):
            continue  # which NumPy 2.0 does with a warning, and later ones do not
        if pattern == "match a sequence" and ARRAYS_MATCH and type(x) is np.ndarray and x.ndim == 0:
            continue
        wanted = choose(x)
        try:
            found = DRIVERS[driver](square(choose), x)
        except hoad.TracedValueError as failure:
            assert pattern in OTHERS and "test_type_tests.py:" in str(failure), (driver, name, failure)  # noqa: PT017
            continue
        for c in found:
            assert abs(c - wanted) <= tolerance(x) * wanted, (driver, name, c, wanted)


@pytest.mark.parametrize("stage", STAGES)
def test_what_is_computed_is_of_the_class_of_what_numpy_computes(stage: str) -> None:
    kinds: list[type] = []

    def f(x: Any) -> Any:
        kinds.append(STAGES[stage](x).__class__)
        return np.sum(np.abs(x))

    for name, x in ARGUMENTS.items():
        kinds.clear()
        f(x)
        hoad.grad(f)(x)
        hoad.grad(lambda x: hoad.grad(f)(x) if not np.ndim(x) and not np.iscomplexobj(x) else f(x))(x)
        assert len(kinds) >= 3, name  # and more where the function is called plainly for a comparison
        assert kinds == [kinds[0]] * len(kinds), name


# ---- loops and maps -------------------------------------------------------------------------------------------------

LOOPED = {
    name: (ANSWERED | OTHERS)[name] for name in ("float", "np.floating", "ndarray", "np.isscalar", "match", "float()")
}


@pytest.mark.parametrize("pattern", LOOPED)
@pytest.mark.parametrize("x", [1.5, np.float64(1.5), np.array([0.5, -2.0])], ids=["float", "np.float64", "1-d"])
def test_the_branch_within_a_body(pattern: str, x: Any) -> None:
    choose = LOOPED[pattern]

    def body(k: int, y: Any) -> Any:
        return choose(y) * y

    def plainly(x: Any) -> Any:
        return np.sum(body(1, body(0, x)) * 1.0)

    loops: list[Callable[[Any], Any]] = [
        lambda x: np.sum(hoad.fori_loop(0, 2, body, x)),
        lambda x: np.sum(hoad.scan(lambda c, _: (body(0, c), None), x, length=2)[0]),
    ]
    if pattern != "np.floating":  # numbers of a state are Python's
        loops.append(lambda x: np.sum(hoad.checkpointed_loop(body, 2, x)))
    for f in loops:
        try:
            value, found = hoad.value_and_grad(f)(x)
        except hoad.TracedValueError as failure:
            assert pattern == "float()" and "test_type_tests.py:" in str(failure)  # noqa: PT017
            continue
        assert value == plainly(x)
        np.testing.assert_array_equal(found, np.ones(np.shape(x)) * choose(x) ** 2)


@pytest.mark.parametrize("pattern", ANSWERED | OTHERS)
def test_the_branch_within_a_map(pattern: str) -> None:
    choose = (ANSWERED | OTHERS)[pattern]
    for x in (np.array([1.5, -0.5]), np.array([[1.5, -0.5], [2.0, 3.0]])):
        f = square(choose)
        try:
            found = hoad.vmap(f)(x)
        except hoad.TracedValueError as failure:
            assert pattern in OTHERS and "test_type_tests.py:" in str(failure)  # noqa: PT017
            continue
        np.testing.assert_allclose(found, [f(row) for row in x], rtol=1e-14)


# ---- what is compared -----------------------------------------------------------------------------------------------


def converted(x: Any) -> Any:
    try:
        return math.sin(x)
    except TypeError:
        return np.sin(x)


def told(call: Callable[[], Any]) -> str:
    with pytest.raises(hoad.TracedValueError) as caught:
        call()
    return str(caught.value)


def test_an_error_that_is_handled_is_no_error_where_the_value_is_that_of_a_plain_call() -> None:
    assert hoad.value_and_grad(converted)(0.7) == (math.sin(0.7), math.cos(0.7))
    assert hoad.derivative(converted, 3)(0.7) == pytest.approx(-math.cos(0.7))
    assert hoad.jit(converted)(0.7) == math.sin(0.7)


def test_two_functions_that_meet_at_the_point_are_told_apart() -> None:
    def f(x: Any) -> Any:
        try:
            return float(x) * 0.0 + x
        except TypeError:
            return x * x

    for x in (0.0, 1.0):
        message = told(lambda x=x: hoad.grad(f)(x))
        assert "beside its arguments" in message and "test_type_tests.py:" in message
    assert "float() of a traced value" in message


def test_the_message_names_both_values_and_the_line() -> None:
    def f(x: Any) -> Any:
        return 2 * x if type(x) is float else 3 * x

    message = told(lambda: hoad.grad(f)(1.5))
    assert "f gives 4.5 when recorded, but 3.0 when called on plain values" in message
    assert "return 2 * x if type(x) is float else 3 * x" in message and "test_type_tests.py:" in message
    assert "isinstance(x, float)" in message
    assert "grad" in told(lambda: hoad.jit(hoad.grad(f))(1.5))
    with pytest.warns(hoad.JitWarning, match=r"jit: .*f gives 4\.5 when recorded, but 3\.0"):
        assert hoad.jit(f)(1.5) == 3.0
    told(lambda: hoad.grad(f)(1.5))  # as often as it is asked


def test_what_the_function_names_is_looked_at() -> None:
    def helper(x: Any) -> Any:
        return x if hasattr(x, "shape") else 2 * x

    class Model:
        def __call__(self, x: Any) -> Any:
            return helper(x)

        def method(self, x: Any) -> Any:
            return helper(x)

    hoad.grad(np.sin)(1.5)
    told(lambda: hoad.grad(lambda x: helper(x))(1.5))
    told(lambda: hoad.grad(hoad.jit(helper))(1.5))
    told(lambda: hoad.grad(functools.partial(helper))(1.5))
    told(lambda: hoad.grad(Model().method)(1.5))
    told(lambda: hoad.grad(Model())(1.5))


def by_type(x: Any) -> Any:
    return 2 * x if type(x) is float else 3 * x


def a_module() -> Any:
    """A module of the user's with a function that asks for a type, and one that leads there."""
    made = types.ModuleType("of_ones_own")
    exec(
        "def inner(x):\n    return 2 * x if type(x) is float else 3 * x\ndef outer(x):\n    return inner(x)", vars(made)
    )
    return made


class Model:
    by_static = staticmethod(by_type)

    def __init__(self) -> None:
        self.of_object = by_type
        self.table = {"a": by_type}

    def inner(self, x: Any) -> Any:
        return by_type(x)

    def outer(self, x: Any) -> Any:
        return self.inner(x)

    @property
    def by_property(self) -> Any:
        return by_type

    @functools.cached_property
    def by_cached_property(self) -> Any:
        return by_type

    def __matmul__(self, x: Any) -> Any:
        return by_type(x)


class Derived(Model):
    def outer(self, x: Any) -> Any:
        return super().outer(x)


@functools.wraps(by_type)
def wrapped(*args: Any) -> Any:
    return by_type(*args)


OF_MODULE, MODEL, DERIVED, TABLE, LIST = a_module(), Model(), Derived(), {"a": [by_type]}, [by_type]
PARTIAL = functools.partial(by_type)

LEADING: dict[str, Callable[[Any], Any]] = {
    "of a module": lambda x: OF_MODULE.inner(x),
    "by a function of a module": lambda x: OF_MODULE.outer(x),
    "method": MODEL.outer,
    "method by name": lambda x: MODEL.outer(x),
    "method of a new object": lambda x: Model().outer(x),
    "method of a base": DERIVED.outer,
    "static method": lambda x: Model.by_static(x),
    "property": lambda x: MODEL.by_property(x),
    "cached property": lambda x: MODEL.by_cached_property(x),
    "attribute of an object": lambda x: MODEL.of_object(x),
    "item of an attribute": lambda x: MODEL.table["a"](x),
    "operator": lambda x: MODEL @ x,
    "item of a list": lambda x: LIST[0](x),
    "item of a list in a dict": lambda x: TABLE["a"][0](x),
    "partial": lambda x: PARTIAL(x),
    "wrapped": lambda x: wrapped(x),
    "by map": lambda x: sum(map(by_type, [x])),
    "in a default": lambda x, f=by_type: f(x),
    "of a closure": (lambda f: lambda x: f(x))(PARTIAL),
    "object of a closure": (lambda m: lambda x: m.outer(x))(MODEL),
}


@pytest.mark.parametrize("name", LEADING)
def test_what_the_function_leads_to_is_looked_at(name: str) -> None:
    f = LEADING[name]
    for call in (hoad.grad, hoad.value_and_grad, lambda f: lambda x: hoad.jvp(f, (x,), (x,)), hoad.derivative):
        assert "test_type_tests.py" in told(lambda call=call: call(f)(1.5)) or "of a module" in name


class Elsewhere:
    """An object that answers nothing by itself, as that of a request outside of one."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError("outside of any request")


ELSEWHERE = Elsewhere()


def test_what_is_looked_at_is_not_asked() -> None:
    local = Elsewhere()
    f = lambda x, other=ELSEWHERE: x * x if ELSEWHERE is other is not local else x  # noqa: E731
    assert hoad.grad(f)(1.5) == 3.0


def test_methods_of_arguments_are_looked_at() -> None:
    @dataclasses.dataclass
    class Pair:
        a: Any
        b: Any

        def product(self) -> Any:
            return by_type(self.a) * self.b

    told(lambda: hoad.grad(lambda p: p.product())(Pair(1.5, 2.0)))
    told(lambda: hoad.grad(lambda x, p: p.product() + by_type(x), 1)(2.0, Pair(1.5, 2.0)))
    told(lambda: hoad.grad(Pair.product)(Pair(1.5, 2.0)))
    with pytest.warns(hoad.JitWarning, match="when called on plain values"):
        hoad.jit(lambda p: p.product())(Pair(1.5, 2.0))


def by_zero(x: Any) -> Any:
    try:
        return 1.0 / x
    except ZeroDivisionError:
        return 0.0 * x


def by_overflow(x: Any) -> Any:
    try:
        return (x + 10.0) ** 1000.0
    except OverflowError:
        return 5.0 * x


def by_errstate(x: Any) -> Any:
    with np.errstate(all="raise"):
        try:
            return np.log(np.abs(x))
        except FloatingPointError:
            return 5.0 * x


@pytest.mark.filterwarnings("ignore::hoad.JitWarning")
@pytest.mark.parametrize("f", [by_zero, by_overflow, by_errstate, lambda x: 1.0 + by_zero(x)])
@pytest.mark.parametrize("driver", [hoad.grad, hoad.jit, lambda f: hoad.jit(hoad.grad(f)), hoad.derivative])
def test_errors_of_arithmetic_that_are_handled_are_met_at_any_value(f: Any, driver: Any) -> None:
    g = driver(f)
    for x in (-9.5, 1.5 if f is not by_overflow else -9.25):
        assert np.isfinite(g(x))
    for _ in range(2):
        if driver is hoad.jit:  # which calls it as it is, where nothing parts from a plain call
            assert g(0.0) == f(0.0)
        else:
            assert "when called on plain values" in told(lambda: g(0.0))


def test_attributes_that_a_number_of_pythons_has_not() -> None:
    def f(x: Any) -> Any:
        try:
            return x.sum() ** 2
        except AttributeError:
            return x**3

    told(lambda: hoad.grad(f)(3.0))
    assert hoad.grad(f)(np.float64(3.0)) == 6.0


def test_functions_of_text_that_meet_at_the_point_are_told_apart() -> None:
    told(lambda: hoad.grad(lambda x: x**2 if str(x).startswith("1") else x**3)(1.0))
    told(lambda: hoad.grad(lambda x: x if type(x) is float else x**2)(1.0))


def test_a_name_that_stands_for_something_else_is_looked_at_again() -> None:
    scope: dict[str, Any] = {}
    exec("def f(x):\n    return helper(x)\ndef helper(x):\n    return 2 * x", scope)
    assert hoad.grad(scope["f"])(1.5) == 2.0
    scope["helper"] = by_type
    told(lambda: hoad.grad(scope["f"])(1.5))
    scope["helper"] = np.sin
    assert hoad.grad(scope["f"])(1.5) == math.cos(1.5)


def test_checks_compare() -> None:
    def f(x: Any) -> Any:
        return 3 * x if repr(x).startswith("T") else 2 * x

    assert "check.taylor_test" in told(lambda: hoad.check.taylor_test(f, 1.5))
    assert "check.modes" in told(lambda: hoad.check.modes(f, 1.5, 2))
    assert "hoad cannot differentiate f" in str(hoad.check.gradient(f, lambda x: 2.0, 1.5))


def test_noise_and_random_numbers_are_no_difference() -> None:
    rng = np.random.default_rng(0)
    with comparing.comparing():
        hoad.grad(lambda x: x * rng.normal())(1.5)
        hoad.grad(lambda x: (x + 1e16) - 1e16 - x)(1.5)
        hoad.grad(lambda x: np.sum(x) - math.fsum([0.1] * 10) * np.mean(x))(np.linspace(0.0, 1.0, 10))
        for a in rng.uniform(50, 100, 1000):  # the argument is lost beside what it is added to
            hoad.grad(lambda x, a=a: np.sinh(a + x) - 0.999 * math.sinh(a))(0.0)


@pytest.mark.parametrize("x", [1.5, 0.1, 3.0, 1e300, np.array([1.5, 2.0])])
def test_the_length_of_a_text_is_no_noise(x: Any) -> None:
    """Though calls at arguments some roundings away make longer texts."""
    text = repr
    for f in (
        lambda x: np.sum(len(str(x)) * x),
        lambda x: np.sum(len("%s" % (x,)) * x),  # noqa: UP031
        lambda x: np.sum(len("a: %-3r" % (x,)) * x),  # noqa: UP031
        lambda x: np.sum(len(f"{x!s}") * x),
        lambda x: np.sum(len("{!r}".format(x)) * x),  # noqa: UP032
        lambda x: np.sum(len(x.__repr__()) * x),
        lambda x: np.sum(len(text(x)) * x),
        lambda x, form=str: np.sum(len(form(x)) * x),
    ):
        assert "gives" in told(lambda f=f: hoad.grad(f)(x))


def test_what_python_raises_and_numpy_does_not_is_no_difference() -> None:
    with comparing.comparing():
        assert hoad.grad(lambda x: 1 / x)(0.0) == -np.inf
        assert hoad.grad(lambda x: x.sum() * 2)(1.5) == 2.0


def test_what_floats_of_python_lack_is_no_difference_beside_the_arguments() -> None:
    """At whole numbers calls beside them are compared, too, where the plain one is of a float of NumPy's."""

    def f(x: Any) -> Any:
        assert not hasattr(x, "no such attribute")
        return x**2 if x.shape == () else x

    for x in (3.0, 0.0):
        assert hoad.grad(f)(x) == 2.0 * x


def test_arguments_are_not_written_to() -> None:
    def f(x: Any) -> Any:
        y = np.zeros(2) if type(x) is np.ndarray else np.zeros(2, like=x)
        y[0] = x[0]
        return y[0] * x[1]

    x = np.array([1.0, 2.0])
    with comparing.comparing():
        np.testing.assert_array_equal(hoad.grad(f)(x), [2.0, 1.0])
    np.testing.assert_array_equal(x, [1.0, 2.0])


def test_a_function_is_called_once_where_nothing_is_asked() -> None:
    calls = []

    def f(x: Any) -> Any:
        calls.append(x)
        return x * x if x > 0 and isinstance(x, float) else -x

    hoad.grad(f)(1.5)
    assert len(calls) == 1


@pytest.mark.parametrize("variable", ["0", "1"])
def test_the_environment_has_every_call_compared(variable: str) -> None:
    code = """
        import hoad, sys
        def f(x):
            return x * (2 if sys.getsizeof(x) == sys.getsizeof(1.5) else 3)
        try:
            print(hoad.grad(f)(1.5))
        except hoad.TracedValueError as error:
            print(error)
    """
    run, environment = [sys.executable, "-c", textwrap.dedent(code)], os.environ | {"HOAD_PARANOID": variable}
    here = Path(__file__).parent  # not beside the sources of hoad, which need not be built
    said = subprocess.run(run, capture_output=True, text=True, check=True, env=environment, cwd=here)
    assert ("4.5 when recorded, but 3.0" in said.stdout) == (variable == "1")


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_comparisons_do_not_compare_within(order: int) -> None:
    """A function that is compared at each call is called four times more for each derivative around it."""
    calls = 0

    def f(x: Any) -> Any:
        nonlocal calls
        calls += 1
        try:
            return x * math.sin(x)
        except TypeError:
            return x * np.sin(x)

    derivative: Callable[[Any], Any] = f
    for _ in range(order):
        derivative = functools.partial(lambda slope, x: slope(x), hoad.grad(derivative))
    assert derivative(0.75) == pytest.approx(hoad.derivative(lambda x: x * np.sin(x), order)(0.75), rel=1e-14)
    assert calls == 1 + 4 * order


def test_a_recording_is_for_numbers_of_one_class() -> None:
    @hoad.jit
    def f(x: Any) -> Any:
        return x * (2 if isinstance(x, np.ndarray) else 3 if isinstance(x, np.generic) else 5)

    for _ in range(3):
        assert [f(1.0), f(np.float64(1.0)), f(np.array(1.0))] == [5.0, 3.0, 2.0]
        assert [f(1j), f(np.complex128(1j)), f(np.array(1j))] == [5j, 3j, 2j]


def test_traced_values_stay_no_plain_ones() -> None:
    attempts: list[Callable[[Any], Any]] = [json.dumps, pickle.dumps, math.sin, float.__add__, np.ndarray.sum]
    raised: list[bool] = []

    def f(x: Any) -> Any:
        for attempt in attempts:
            try:
                attempt(x)
            except TypeError:
                raised.append(True)
        return x

    hoad.grad(f)(1.5)
    assert raised[: len(attempts)] == [True] * len(attempts)


def test_an_item_that_is_zero_by_cancellation_may_differ_by_rounding_of_the_others() -> None:
    """Of z zᴴ the imaginary part of the diagonal is zero, as NumPy sums it, and a rounding error by BLAS."""

    def f(x: Any, y: Any) -> Any:
        z = x + 1j * y
        if type(z) is list:
            return z
        w = np.einsum("ij,kj->ik", z, z.conj())
        return np.concatenate([np.ravel(w.real), np.ravel(w.imag)])

    for seed in range(20):
        x, y = np.random.default_rng(seed).normal(size=(2, 2, 2))
        np.testing.assert_allclose(hoad.record(f, x, y).evaluate(x, y), f(x, y), atol=1e-14)
