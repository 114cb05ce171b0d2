"""jit looks at what runs while it records, and leaves a profiler of the user's as it was."""

from __future__ import annotations

import cProfile
import gc
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

import hoad
from hoad._pytree import containers
from hoad._transform import expansion as taylor

# In Python 3.10 a frame that a profiler in Python was shown keeps its locals, so what is computed stays alive.
seen_by_a_profiler = (
    pytest.mark.filterwarnings("ignore:.*stores what it computes:hoad.JitWarning")
    if sys.version_info < (3, 11)
    else lambda test: test
)


@pytest.fixture(autouse=True)
def no_profile_is_left() -> Iterator[None]:
    before = sys.getprofile()
    yield
    assert sys.getprofile() is before


def hidden(x: Any) -> Any:
    return np.sin(x)


def found(x: Any) -> Any:
    return np.cos(x)


def test_code_that_reading_did_not_find_is_noticed() -> None:
    for _ in range(2):  # what was seen once is not taken for known
        f = hoad.jit(lambda x: sys._getframe().f_globals["hidden"](x) * 2)
        with pytest.warns(hoad.JitWarning, match="calls hidden, which is not found"):
            assert f(0.5) == 2 * np.sin(0.5)


class Cycle:
    """Garbage that only the collector finds, and that calls Python as it goes."""

    gone = 0

    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        Cycle.gone += 1


@seen_by_a_profiler
@pytest.mark.parametrize("profiler", [None, lambda *_: None])
def test_what_the_collector_calls_is_not_the_functions(profiler: Any, request: pytest.FixtureRequest) -> None:
    def f(x: Any) -> Any:
        gc.collect()
        return sys._getframe().f_globals["hidden"](x) if hide else np.sin(x)

    def other(phase: str, info: dict[str, int]) -> None:
        """A callback of somebody else's, as hypothesis has."""

    request.addfinalizer(lambda: gc.callbacks.remove(other))
    gc.callbacks.append(other)
    before, callbacks = sys.getprofile(), list(gc.callbacks)
    why = "stores what" if profiler is not None and sys.version_info < (3, 11) else "calls hidden"
    for hide in (False, True):
        Cycle()
        gone = Cycle.gone
        sys.setprofile(profiler)
        try:
            with pytest.warns(hoad.JitWarning, match=why) if hide else nullcontext():
                assert hoad.jit(f)(0.5) == np.sin(0.5)
        finally:
            sys.setprofile(before)
        assert Cycle.gone == gone + 1
        assert gc.callbacks == callbacks


@seen_by_a_profiler
def test_a_profiler_goes_on() -> None:
    called: list[str] = []

    def profile(frame: Any, event: str, argument: Any) -> None:
        if event == "call":
            called.append(frame.f_code.co_name)

    sys.setprofile(profile)
    try:
        hoad.jit(lambda x: found(x))(0.5)
        assert sys.getprofile() is profile
    finally:
        sys.setprofile(None)
    assert "found" in called


def test_a_profiler_in_c_goes_on() -> None:
    profile = cProfile.Profile()
    with profile:
        assert hoad.jit(lambda x: found(x))(0.5) == np.cos(0.5)
        with pytest.warns(hoad.JitWarning, match="calls hidden, which is not found"):
            hoad.jit(lambda x: sys._getframe().f_globals["hidden"](x))(0.5)
    seen = {getattr(entry.code, "co_name", "") for entry in profile.getstats()}
    assert {"found", "hidden"} <= seen


def test_a_failure_leaves_no_profile() -> None:
    def f(x: Any) -> Any:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        hoad.jit(f)(0.5)


def test_within_another_recording() -> None:
    inner = hoad.jit(lambda x: found(x) * x)
    assert hoad.jit(lambda x: inner(x) + 1)(0.5) == np.cos(0.5) * 0.5 + 1


def doubled(x: Any) -> Any:
    return 2 * x


def test_a_rule_is_not_looked_at_where_series_are_made_of_it() -> None:
    @hoad.primitive(elementwise=True)
    def own(x: Any) -> Any:
        return np.sin(x) ** 2

    hoad.defvjp(own, lambda g, p, x: (g * doubled(np.sin(x) * np.cos(x)),))
    fast = hoad.jit(hoad.derivatives(lambda x: own(x) * x, 2))
    x = 0.5
    expected = [np.sin(x) ** 2 * x, np.sin(x) ** 2 + x * np.sin(2 * x), 2 * np.sin(2 * x) + 2 * x * np.cos(2 * x)]
    np.testing.assert_allclose(fast(x), expected, rtol=1e-14)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_a_rule_is_not_looked_at_where_its_template_is_made(order: int) -> None:
    @hoad.primitive
    def own(x: Any) -> Any:
        return np.asarray(x) ** 3

    hoad.defvjp(own, lambda g, p, x: (1.5 * g * doubled(x**2),))
    f: Any = own
    for _ in range(order):
        f = hoad.grad(f)
    assert hoad.jit(f)(0.5) == pytest.approx([0.75, 3.0, 6.0][order - 1], rel=1e-15)  # and does not warn


def test_a_jvp_is_not_looked_at_where_its_template_is_made() -> None:
    @hoad.primitive(jvp=lambda dots, p, x: 1.5 * dots[0] * doubled(x**2))
    def own(x: Any) -> Any:
        return np.asarray(x) ** 3

    assert hoad.jit(lambda x: hoad.jvp(own, (x,), (1.0,))[1])(0.5) == pytest.approx(0.75, rel=1e-15)


def test_code_is_noticed_after_a_series_was_made() -> None:
    expand = hoad.derivatives(np.sin, 2)
    f = hoad.jit(lambda x: expand(x)[1] + sys._getframe().f_globals["hidden"](x))
    with pytest.warns(hoad.JitWarning, match="calls hidden, which is not found"):
        assert f(0.5) == np.cos(0.5) + np.sin(0.5)


def hidden_of(x: Any) -> Any:
    return sys._getframe().f_globals["hidden"](x)


DRIVERS = {
    "derivatives": (hoad.derivatives(hidden_of, 3), lambda x: [np.sin(x), np.cos(x), -np.sin(x), -np.cos(x)]),
    "derivatives of derivatives": (
        hoad.derivatives(lambda x: hoad.derivatives(hidden_of, 1)(x)[1], 2),
        lambda x: [np.cos(x), -np.sin(x), -np.cos(x)],
    ),
    "taylor": (lambda x: hoad.taylor(hidden_of, x, 2)[2], lambda x: -np.sin(x) / 2),
    "derivative": (hoad.derivative(hidden_of, 5), np.cos),
    "grad": (hoad.grad(hidden_of), np.cos),
}


@pytest.mark.parametrize("name", DRIVERS)
def test_what_is_differentiated_is_looked_at(name: str) -> None:
    f, expected = DRIVERS[name]
    fast = hoad.jit(f)
    with pytest.warns(hoad.JitWarning, match="calls hidden, which is not found"):
        np.testing.assert_allclose(fast(0.5), expected(0.5), rtol=1e-14)


class Pair:
    def __init__(self, a: Any, b: Any) -> None:
        self.a, self.b = a, b


def apart(pair: Pair) -> Any:
    return (pair.a, doubled(pair.b)), None


@pytest.mark.parametrize("where", ["flatten", "unflatten"])
def test_what_a_container_of_the_users_calls_is_looked_at(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def together(_: Any, parts: Any) -> Pair:
        return Pair(parts[0], parts[1] if where == "flatten" else doubled(parts[1]))

    monkeypatch.setattr(containers, "REGISTERED", dict(containers.REGISTERED))
    hoad.register_container(Pair, apart if where == "flatten" else lambda pair: ((pair.a, pair.b), None), together)
    expand = hoad.derivatives(lambda x: Pair(np.sin(x), x), 1)
    with pytest.warns(hoad.JitWarning, match="calls doubled, which is not found"):
        hoad.jit(lambda x: expand(x).a)(0.5)


class Direction:
    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array([sys._getframe().f_globals["doubled"](1.0), 0.0])


def test_what_a_direction_calls_is_looked_at() -> None:
    v = Direction()
    f = hoad.jit(lambda x: hoad.taylor(np.sin, x, 2, v).coefficients[1])
    with pytest.warns(hoad.JitWarning, match="calls doubled, which is not found"):
        np.testing.assert_allclose(f(np.array([0.5, 1.0])), [2 * np.cos(0.5), 0.0], rtol=1e-15)


def test_hoads_own_work_on_a_series_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    make = taylor.program_of

    def program_of(segment: Any) -> Any:
        seen.append(sys.getprofile())
        return make(segment)

    monkeypatch.setattr(taylor, "program_of", program_of)
    hoad.jit(hoad.derivatives(np.sin, 3))(0.5)
    assert seen == [None]


@pytest.mark.parametrize("made", [hoad.grad, lambda f: hoad.derivatives(f, 2)])
def test_a_rule_that_calls_a_driver_is_not_looked_at(made: Any) -> None:
    @hoad.primitive(elementwise=True)
    def own(x: Any) -> Any:
        return np.asarray(x) ** 3

    def slope(g: Any, p: Any, x: Any) -> Any:
        return (1.5 * g * hoad.derivatives(lambda x: doubled(x) * x, 1)(x)[0],)

    hoad.defvjp(own, slope)
    f = made(own)
    found = [np.ravel(hoad.jit(f)(0.5)) for _ in range(2)]  # the first time a template is made; neither warns
    np.testing.assert_allclose(found, [np.ravel(f(0.5))] * 2, rtol=1e-15)


@pytest.mark.parametrize(
    "made", [hoad.grad, lambda f: hoad.derivatives(f, 2), lambda f: lambda x: hoad.taylor(f, x, 2)[1]]
)
def test_what_a_rule_of_one_function_calls_is_looked_at(made: Any) -> None:
    @hoad.custom_vjp
    def own(x: Any) -> Any:
        return np.sin(x) * 1.0

    own.defvjp(lambda g, p, x: (g * sys._getframe().f_globals["found"](x),))
    with pytest.warns(hoad.JitWarning, match="calls found, which is not found"):
        hoad.jit(made(own))(0.5)


@seen_by_a_profiler
@pytest.mark.parametrize("made", [lambda f: f, lambda f: hoad.derivatives(f, 2)])
@pytest.mark.parametrize("before", [None, lambda *_: None])
@pytest.mark.parametrize("put", [None, lambda *_: None])
def test_a_profiler_that_the_function_puts_on_stays(made: Any, before: Any, put: Any) -> None:
    def f(x: Any) -> Any:
        sys.setprofile(put)
        return np.sin(x)

    jitted = hoad.jit(made(f))
    sys.setprofile(before)
    try:
        jitted(0.5)
        assert sys.getprofile() is put
    finally:
        sys.setprofile(None)


def test_a_failure_in_what_is_differentiated_leaves_no_profile() -> None:
    def f(x: Any) -> Any:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        hoad.jit(hoad.derivatives(f, 3))(0.5)
    with pytest.warns(hoad.JitWarning, match="calls hidden, which is not found"):
        hoad.jit(hoad.derivatives(hidden_of, 3))(0.5)
