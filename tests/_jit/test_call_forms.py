"""Calls by keyword and with containers, which are matched in C: each is what the plain function gives."""

from __future__ import annotations

import gc
import random
import sys
import threading
import warnings
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import hoad

X = np.array([1.0, -2.0, 3.0])


@dataclass
class Line:
    slope: Any
    height: Any


class Pair(NamedTuple):
    first: Any
    second: Any


class Parameters(dict):  # type: ignore[type-arg]
    pass


def total(p: Any, *, scale: Any = 1.0, shift: Any = 0.0) -> Any:
    """A number of the leaves of containers, in which the place of each counts."""
    parts = vars(p).values() if isinstance(p, Line) else p.values() if isinstance(p, dict) else p
    found = shift
    for k, part in enumerate(parts if isinstance(p, (dict, list, tuple, Line)) else [p]):
        found = found + (k + 1) * (total(part) if isinstance(part, (dict, list, tuple, Line)) else np.sum(part * scale))
    return found


def text(word: str) -> str:
    """The same text as another object."""
    return "".join(list(word))


ARGUMENTS: dict[str, Callable[[], list[Any]]] = {
    "dicts": lambda: [{"a": 1.0, "b": X}, {text("a"): 2.0, text("b"): 2 * X}, {"b": X, "a": 1.0}, {"a": 1.0}, {}],
    "keys": lambda: [{1: 2.0, (2, 3): 4.0}, {1: 3.0, (2, 3): 5.0}, {1.0: 2.0, (2, 3): 4.0}, {True: 2.0, None: 4.0}],
    "lists": lambda: [[1.0, X], [2.0, 3 * X], [1.0, X[:2]], [1.0, X, 2.0], [X, 1.0], []],
    "tuples": lambda: [(1.0, X), (2.0, -X), [1.0, X], (1.0, (X, 2.0)), (1.0, [X, 2.0])],
    "integers": lambda: [(1, 2.0), (2, 2.0), (True, 2.0), (1, 3.0)],
    "one array twice": lambda: [(X, X), (X, X.copy()), [X, {"a": X}], [X, {"a": X.copy()}]],
    "classes": lambda: [Line(1.0, X), Line(2.0, 2 * X), Pair(1.0, X), (1.0, X)],
    "classes of dicts": lambda: [Parameters(a=1.0), {"a": 1.0}, OrderedDict(a=3.0)],
    "numbers": lambda: [[1.0], [np.float64(2.0)], [np.float32(3.0)], [np.array(4.0)], [1j], [5], [np.int64(6)]],
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_containers(name: str) -> None:
    jitted = hoad.jit(total)
    for _ in range(3):
        for p in (*ARGUMENTS[name](), *reversed(ARGUMENTS[name]())):
            wanted = total(p)
            assert jitted(p) == wanted
            assert jitted(p, scale=3.0) == total(p, scale=3.0)
            assert jitted(p, shift=2.0, scale=3.0) == jitted(p, scale=3.0, shift=2.0) == total(p, scale=3.0, shift=2.0)
            assert jitted([p, 1.0]) == total([p, 1.0])
            out = np.array(np.nan * wanted)
            if out.dtype in (float, complex):
                assert jitted(p, out=out, scale=1.0) is out
                assert out == wanted


def test_what_was_recorded_is_replayed() -> None:
    calls = []

    def f(p: Any, x: Any, scale: Any = 1.0) -> Any:
        calls.append(1)
        return p["w"][0] * x * scale + p["b"]

    jitted = hoad.jit(f)
    jitted({"w": [1.0], "b": 2.0}, x=1.0, scale=0.0)  # looked at once more, as it appends
    before = len(calls)
    for k in range(5):
        assert jitted({"w": [float(k)], "b": 2.0}, x=3.0, scale=4.0) == k * 12.0 + 2.0
    assert [len(signature.recorded) for signature in jitted.signatures] == [1]
    assert len(calls) == before + 5


def test_traced_values_in_containers() -> None:
    jitted = hoad.jit(lambda p, scale: p["a"] ** 2 * scale + p["b"][0])
    for _ in range(3):
        assert jitted({"a": 3.0, "b": [1.0]}, scale=2.0) == 19.0
        assert hoad.grad(lambda x: jitted({"a": x, "b": [1.0]}, scale=2.0))(3.0) == 12.0
        assert hoad.grad(lambda x: jitted({"a": 3.0, "b": [1.0]}, scale=x))(2.0) == 9.0


def test_static_arguments_by_keyword() -> None:
    jitted = hoad.jit(lambda x, n: x ** n[0], static_argnames="n")
    for n in ((2,), (3,), (2,)):
        assert jitted(3.0, n=n) == jitted(3.0, n) == 3.0 ** n[0]


def test_an_argument_of_the_name_out() -> None:
    jitted = hoad.jit(lambda x, out: x * out)
    for k in (1.0, 2.0):
        assert jitted(3.0, out=k) == 3.0 * k


def test_containers_in_containers() -> None:
    def nested(depth: int, x: float) -> Any:
        return x if depth == 0 else [nested(depth - 1, x)]

    def f(p: Any) -> Any:
        while isinstance(p, list):
            p = p[0]
        return 2.0 * p

    jitted = hoad.jit(f)
    for depth in (1, 31, 32, 33, 300):
        for x in (1.0, 2.0):
            assert jitted(nested(depth, x)) == 2.0 * x


@pytest.mark.parametrize("how", ["keyword", "dict", "list", "tuple"])
def test_what_is_refused_is_called_as_it_is(how: str) -> None:
    """Directly, with the very objects; and it is asked again when what the refusal rests on has changed."""
    noisy = True
    frames = []

    def f(p: Any = None, *, scale: Any = 1.0) -> Any:
        frames.append((sys._getframe(1).f_code.co_name, p))
        return scale * (random.random() if noisy else 2.0)

    p: Any = {"keyword": 1.0, "dict": {"a": 1.0}, "list": [1.0], "tuple": (1.0,)}[how]
    arguments: Any = {"scale": 3.0} if how == "keyword" else {"p": p}
    jitted = hoad.jit(f)
    with pytest.warns(hoad.JitWarning):
        jitted(p, scale=3.0)
    frames.clear()
    for _ in range(3):
        random.seed(7)
        found = jitted(p, scale=3.0)
        random.seed(7)
        assert found == 3.0 * random.random()
    assert frames == [("test_what_is_refused_is_called_as_it_is", p)] * 3
    assert all(given is p for _, given in frames)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hoad.JitWarning)
        assert 0.0 <= jitted(**arguments) <= 3.0
    with pytest.raises(TypeError, match="unexpected keyword"):
        jitted(p, scale=3.0, other=1.0)


def test_what_a_refusal_rests_on() -> None:
    space: dict[str, Any] = {"random": random, "noisy": True}
    exec("def f(p, *, scale):\n    return p['x'] * scale * (random.random() if noisy else 2.0)", space)
    jitted = hoad.jit(space["f"])
    with pytest.warns(hoad.JitWarning):
        jitted({"x": 1.0}, scale=2.0)
    jitted({"x": 1.0}, scale=2.0)
    assert jitted.signatures[0].refusal is not None
    space["noisy"] = False
    for x in (1.0, 3.0):
        assert jitted({"x": x}, scale=2.0) == 4.0 * x
    assert jitted.signatures[0].refusal is None and len(jitted.signatures[0].recorded) == 1


def test_a_function_that_stores_is_called_directly_for_all_arguments() -> None:
    kept: dict[Any, Any] = {}
    frames = []

    def f(x: Any) -> Any:
        frames.append(sys._getframe(1).f_code.co_name)
        kept[len(kept)] = x
        return 2.0 * x

    jitted = hoad.jit(f)
    with pytest.warns(hoad.JitWarning):
        jitted(1.0)
    for x in (1.0, X, 2 * X):
        jitted(x)
        frames.clear()
        np.testing.assert_array_equal(jitted(x), 2 * x)
        assert frames == ["test_a_function_that_stores_is_called_directly_for_all_arguments"]


def test_containers_that_other_threads_change() -> None:
    """What was taken out of a container lives as long as the call."""
    n = 20_000
    held = {"x": np.ones(n)}
    jitted = hoad.jit(lambda p: np.sum(np.sin(p["x"]) ** 2 + np.cos(p["x"]) ** 2))
    jitted(held)
    stop = threading.Event()

    def change() -> None:
        while not stop.is_set():
            held["x"] = np.random.default_rng(0).uniform(size=n)
            gc.collect(0)

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(200):
            assert jitted(held) == pytest.approx(n)
    finally:
        stop.set()
        thread.join()


def test_others_see_that_it_can_be_called() -> None:
    """Some packages look for the method, by a protocol of `typing`."""
    jitted = hoad.jit(lambda x, y=1.0: x * y)
    bound = jitted.bound(np.ones(2), out=np.empty(2))
    assert isinstance(jitted, Callable) and isinstance(bound, Callable)
    assert jitted.__call__(2.0, y=3.0) == 6.0 and bound.__call__().tolist() == [1.0, 1.0]


def test_arrays_that_lie_otherwise_in_memory() -> None:
    """Whether ``reshape`` gives a view or a copy depends on how the argument lies: a recording is for one order."""

    def f(x: Any) -> Any:
        y = x * 2.0
        y.reshape(-1)[...] = 0.0
        return y

    jitted = hoad.jit(f)
    x = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(jitted(x), f(x))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hoad.JitWarning)  # f runs as it is where the order of a result is not known
        for other in (np.asfortranarray(x), x[:, ::-1], np.ascontiguousarray(x.T).T, x.copy()):
            np.testing.assert_array_equal(jitted(other), f(other))
