"""What jit reads of code and of signatures is what `dis` and `inspect` say."""

from __future__ import annotations

import dis
import functools
import gc
import inspect
import types
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hoad
import hoad._pytree.arguments as arguments_module
from hoad._core.jit.code_names import reads_of
from hoad._pytree.arguments import parameters

KINDS = {
    "globals": ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"),
    "stored_globals": ("STORE_GLOBAL", "DELETE_GLOBAL"),
    "attributes": ("LOAD_ATTR", "LOAD_METHOD", "IMPORT_FROM", "LOAD_SUPER_ATTR"),
    "stored": ("STORE_ATTR", "DELETE_ATTR"),
    "modules": ("IMPORT_NAME",),
}
BY_NAME = ("getattr", "hasattr", "setattr", "delattr")


def code_within(code: types.CodeType) -> list[types.CodeType]:
    inner = [x for x in code.co_consts if isinstance(x, types.CodeType)]
    return [code, *[x for one in inner for x in code_within(one)]]


@pytest.mark.parametrize("module", [dis, inspect, functools, types, np.lib.stride_tricks, arguments_module])
def test_names_are_those_that_dis_finds(module: types.ModuleType) -> None:
    file = inspect.getsourcefile(module)
    assert file is not None
    with open(file, encoding="utf-8") as source:
        code = compile(source.read(), file, "exec")
    for inner in code_within(code):
        steps = list(dis.get_instructions(inner))
        found = reads_of(inner)
        for kind, names in KINDS.items():
            named = {step.argval for step in steps if step.opname in names}
            constants = getattr(found, kind) - named  # by getattr and the like
            assert named <= getattr(found, kind)
            assert not constants or found.globals.intersection(BY_NAME)
            assert constants <= {x for x in inner.co_consts if isinstance(x, str)}
        raises = any(step.opname in ("SETUP_FINALLY", "PUSH_EXC_INFO") for step in steps)
        assert found.handles == (raises or not found.globals.isdisjoint(BY_NAME))
        assert len(found.inner) + 1 == len(code_within(inner))


@pytest.mark.parametrize(
    ("text", "read", "stored", "computes"),
    [
        ("getattr(x, 'a')", {"a"}, set(), False),
        ("getattr(x.b.c, 'a', 1.0)", {"a", "b", "c"}, set(), False),
        ("hasattr(x, 'a') and hasattr(x, 'b')", {"a", "b"}, set(), False),
        ("setattr(x, 'a', y.b)", {"b"}, {"a"}, False),
        ("setattr(x, 'a', getattr(x, 'b'))", {"b"}, set(), True),
        ("delattr(x, 'a')", set(), {"a"}, False),
        ("getattr(x, name)", set(), set(), True),
        ("getattr(x, 'a' + name)", set(), set(), True),
        ("getattr(x, f'a{name}')", set(), set(), True),
        ("getattr(x(), 'a')", set(), set(), True),
        ("getattr(x if y else z, 'a')", set(), set(), True),
        ("getattr(*x)", set(), set(), True),
        ("map(getattr, x, y)", set(), set(), True),
        ("getattr", set(), set(), True),
        ("getattr(x, 'a') + getattr(x, name)", {"a"}, set(), True),
    ],
)
@pytest.mark.parametrize("within", ["{}", "def f(x, y, z, name):\n    return {}"], ids=["globals", "arguments"])
def test_names_that_are_constants(text: str, read: set[str], stored: set[str], computes: bool, within: str) -> None:
    code = code_within(compile(within.format(text), "text", "exec"))[-1]
    found = reads_of(code)
    assert found.computes == computes
    assert found.stored == stored
    assert found.attributes == read if not computes else found.attributes >= read


def test_names_beyond_the_first_256() -> None:
    code = compile("\n".join(f"a{k}.b{k}" for k in range(300)), "many", "exec")
    assert reads_of(code).globals == {f"a{k}" for k in range(300)}
    assert reads_of(code).attributes == {f"b{k}" for k in range(300)}


class Callee:
    def method(self, x: Any, y: float = 1.0) -> Any:
        return x + y

    def __call__(self, x: Any, *, scale: float) -> Any:
        return scale * x


def several(x: Any, y: Any, /, z: Any, u: float = 1.0, *rest: Any, v: float, w: float = 2.0, **others: Any) -> Any:
    return x


@functools.wraps(several)
def wrapped(*args: Any, **kwargs: Any) -> Any:
    return several(*args, **kwargs)


def said(x: Any) -> Any:
    return x


said.__signature__ = inspect.Signature([inspect.Parameter("other", inspect.Parameter.POSITIONAL_OR_KEYWORD)])  # type: ignore[attr-defined]

FUNCTIONS = [several, wrapped, said, lambda: 0, lambda x, y=1: x, Callee(), Callee().method, Callee.method, Callee]
FUNCTIONS += [functools.partial(several, 1.0), functools.wraps(Callee())(said), len, np.sum]


@pytest.mark.parametrize("f", FUNCTIONS)
def test_parameters_are_those_of_inspect(f: Callable[..., Any]) -> None:
    expected = inspect.signature(f).parameters.values()
    positional = [p for p in expected if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    found = parameters(f)
    assert found.positional == tuple(p.name for p in positional)
    assert found.keywords == tuple(p.name for p in expected if p.kind is p.KEYWORD_ONLY)
    assert found.required == len([p for p in positional if p.default is p.empty])
    assert found.takes_any == any(p.kind is p.VAR_POSITIONAL for p in expected)
    assert found.takes_any_keyword == any(p.kind is p.VAR_KEYWORD for p in expected)
    assert found.is_known


@pytest.mark.parametrize("f", [iter, 3.0])
def test_parameters_of_what_says_nothing(f: Any) -> None:
    assert parameters(f) == ((), (), 0, False, False, False, "args")


class Held:
    """What patterns look into."""

    __match_args__ = ("v",)

    def __init__(self, v: float) -> None:
        self.v = v


held = Held(1.0)


def by_keyword(x: Any) -> Any:
    match held:
        case Held(v=v):
            return x * v


def by_position(x: Any) -> Any:
    match held:
        case Held(v):
            return x * v


def by_value(x: Any) -> Any:
    match held:
        case Held(v=2.0):
            return 2.0 * x
        case _:
            return x * held.v


def by_argument(x: Any, y: Any) -> Any:
    match y:
        case Held(v=v):
            return x * v


@pytest.mark.parametrize("f", [by_keyword, by_position, by_value, lambda x: by_argument(x, held)])
def test_patterns_of_classes_are_seen(f: Callable[[Any], Any]) -> None:
    fast = hoad.jit(f)
    for v in (1.0, 2.0, 3.0, 1.0):
        held.v = v
        assert fast(1.5) == f(1.5) == 1.5 * v


def wrapped(f: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(f)
    def around(*args: Any, **kwargs: Any) -> Any:
        return f(*args, **kwargs)

    return around


class Model:
    @wrapped
    def scaled(self, x: Any, n: Any) -> Any:
        return x**2 * n


def test_methods_that_are_wrapped() -> None:
    scaled = Model().scaled
    assert hoad.grad(scaled, argnames="x")(2.0, 3.0) == 12.0
    assert hoad.grad(scaled, argnames="n")(2.0, 3.0) == 4.0
    assert hoad.grad(wrapped(scaled), argnames="n")(2.0, 3.0) == 4.0


CELL = """
def f(x):
    def inner(y):
        return sum(y * k for k in range(3))
    return inner(x) + (lambda z: z * z)(x)
"""


def test_a_cell_that_is_run_twice() -> None:
    """The code of the second function is equal to that of the first, but other code."""
    spaces: list[dict[str, Any]] = [{}, {}, {}]
    for space in spaces:
        exec(compile(CELL, "cell", "exec"), space)
    assert spaces[0]["f"].__code__ == spaces[1]["f"].__code__
    jitted = [hoad.jit(space["f"]) for space in spaces]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for x in (1.5, 2.5, 3.5):
            assert [g(x) for g in jitted] == [3 * x + x * x] * 3
    assert [len(g.signatures[0].recorded) for g in jitted] == [1, 1, 1]


def test_code_is_let_go() -> None:
    space: dict[str, Any] = {}
    exec(compile(CELL, "cell", "exec"), space)
    watched = weakref.ref(space["f"].__code__)
    assert reads_of(space["f"].__code__) is reads_of(space["f"].__code__)
    space.clear()
    gc.collect()
    assert watched() is None
