"""Values that leave the body of a loop or a map otherwise than by its result, and numbers that are given back."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hoad
from hoad._core.graph.primitive import primitives
from hoad.errors import TracedValueError

XS = np.array([1.0, 2.0, 3.0])

# A body (c, x) -> c at every step of a loop, or in every lane of a map.
LOOPS: dict[str, Callable[[Callable[[Any, Any], Any], Any], Any]] = {
    "scan": lambda body, x: hoad.scan(lambda c, row: (body(c, row), None), x, XS)[0],
    "rows": lambda body, x: hoad.scan(lambda c, row: (c, body(x, row)), 0.0, XS)[1],
    "fori_loop": lambda body, x: hoad.fori_loop(0, 3, lambda k, c: body(c, k + 1.0), x),
    "while_loop": lambda body, x: hoad.while_loop(lambda c: c[1] < 4, lambda c: (body(c[0], c[1]), c[1] + 1), (x, 1.0)),
    "bounded": lambda body, x: hoad.while_loop(
        lambda c: c[1] < 4, lambda c: (body(c[0], c[1]), c[1] + 1), (x, 1.0), max_steps=5
    ),
    "vmap": lambda body, x: hoad.vmap(lambda row: body(x, row))(XS),
    "vmap of a scan": lambda body, x: hoad.vmap(lambda row: hoad.scan(lambda c, r: (body(c, r * row), None), x, XS)[0])(
        XS
    ),
}

USES: dict[str, Callable[[Any], Any]] = {
    "operator": lambda y: 2.0 * y,
    "square": lambda y: y * y,
    "ufunc": np.sin,
    "negative": lambda y: -y,
    "number": lambda y: np.sum(hoad.value(y)),
    "branch": lambda y: y if np.all(y > 0) else -y,
    "array": lambda y: np.stack([y, y]),
    "item": lambda y: np.reshape(y, -1)[0],
    "checkpoint": hoad.checkpoint(np.cos),
    "scan": lambda y: hoad.scan(lambda c, r: (c * y * r, None), 1.0, XS)[0],
}

DRIVERS: dict[str, Callable[[Any], Callable[[Any], Any]]] = {
    "grad": hoad.grad,
    "jvp": lambda f: lambda x: hoad.jvp(f, (x,), (np.ones_like(x),))[1],
    "second": lambda f: hoad.hessian(f),
    "record": lambda f: lambda x: hoad.record(f, x).evaluate(x),
    "jit": lambda f: hoad.jit(hoad.grad(f)),
}


def leaking(loop: str, use: Callable[[Any], Any], item: Any) -> Callable[[Any], Any]:
    kept: dict[str, Any] = {}

    def f(x: Any) -> Any:
        def body(c: Any, row: Any) -> Any:
            kept["y"] = np.sin(c * row)  # made here
            return kept["y"]

        LOOPS[loop](body, x)
        return np.sum(use(kept["y"])) + 0.0 * np.sum(x)

    return f


@pytest.mark.parametrize("x", [0.3, np.array([0.3, 0.4])], ids=["scalar", "array"])
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("loop", LOOPS)
def test_a_value_that_a_body_leaks_is_refused(loop: str, use: str, x: Any) -> None:
    if use in ("scan", "checkpoint") and loop != "scan":
        pytest.skip("one loop will do")
    with pytest.raises(TracedValueError, match=r"(?s)body of a loop or a map.*Return it from the body"):
        hoad.grad(leaking(loop, USES[use], None))(x)


@pytest.mark.parametrize("driver", DRIVERS)
def test_in_every_driver(driver: str) -> None:
    with pytest.raises(TracedValueError, match=r"(?s)body of a loop or a map.*Return it from the body"):
        DRIVERS[driver](leaking("scan", np.cos, None))(np.array([0.3, 0.4]))
    assert hoad.grad(lambda x: x * x)(1.0) == 2.0


def test_the_line_is_named() -> None:
    line = next(
        k
        for k, text in enumerate(Path(__file__).read_text().splitlines(), 1)
        if "# made here" in text and "kept[" in text
    )
    with pytest.raises(TracedValueError, match=rf"at test_leaks\.py:{line} was used"):
        hoad.grad(leaking("scan", np.cos, None))(np.array([0.3, 0.4]))


def test_what_does_not_differ_from_step_to_step_may_leave() -> None:
    """It is the same at all steps, and so is its derivative; also what an array around the loop is read as first."""
    kept: list[Any] = []

    def f(x: Any) -> Any:
        a = np.zeros(2, like=x)
        a[0] = np.sin(x)

        def body(c: Any, row: Any) -> Any:
            kept[:] = [x * x]
            return c * row + a[0] + np.sum(a), None

        return hoad.scan(body, x, XS)[0] + kept[0] + np.sum(a)

    found = hoad.grad(f)(0.3)
    assert found == pytest.approx(6 + 2 * np.cos(0.3) * (6 + 3 + 1) + 0.6 + np.cos(0.3), rel=1e-14)


class Box:
    """Something with an attribute."""

    y: Any


LEAKED: Any = None


def keeper(place: str) -> tuple[Callable[[Any], None], Callable[[], Any]]:
    """What puts a value into a place, and what reads it."""
    kept: list[Any] = []
    box, cell = Box(), None

    def in_global(y: Any) -> None:
        global LEAKED
        LEAKED = y

    def in_cell(y: Any) -> None:
        nonlocal cell
        cell = y

    def received() -> Any:
        y = None
        while True:
            given = yield y
            y = y if given is None else given

    running = received()
    next(running)
    places: dict[str, tuple[Callable[[Any], Any], Callable[[], Any]]] = {
        "first of a list": (kept.append, lambda: kept[0]),
        "last of a list": (kept.append, lambda: kept[-1]),
        "attribute": (lambda y: setattr(box, "y", y), lambda: box.y),
        "global": (in_global, lambda: LEAKED),
        "cell": (in_cell, lambda: cell),
        "generator": (lambda y: running.send(y), lambda: next(running)),
    }
    return places[place]


PLACES = ["first of a list", "last of a list", "attribute", "global", "cell", "generator"]
ENDED = r"had returned .*Return it from the function"


@pytest.mark.filterwarnings("ignore::hoad.JitWarning")
@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("x", [0.3, np.array([0.3, 0.4])], ids=["scalar", "array"])
def test_a_value_that_a_step_leaks_is_refused(x: Any, place: str, driver: str) -> None:
    put, read = keeper(place)

    def f(x: Any) -> Any:
        def step(k: int, c: Any) -> Any:
            y = np.sin(c * (k + 1))
            put(y)
            return y

        hoad.checkpointed_loop(step, 3, x)
        return np.sum(2.0 * read()) + 0.0 * np.sum(x)

    with pytest.raises(TracedValueError, match=ENDED):
        DRIVERS[driver](f)(x)


@pytest.mark.parametrize("use", USES)
def test_every_use_of_what_a_step_leaks(use: str) -> None:
    put, read = keeper("attribute")

    def f(x: Any) -> Any:
        def step(k: int, c: Any) -> Any:
            put(np.sin(c))
            return c * c

        hoad.checkpointed_loop(step, 2, x)
        return np.sum(USES[use](read()))

    with pytest.raises(TracedValueError, match=ENDED):
        hoad.grad(f)(0.3)


def test_steps_called_plainly_keep_what_they_find() -> None:
    kept: list[float] = []

    def step(k: int, c: Any) -> Any:
        kept.append(c)
        return 2 * c

    assert hoad.checkpointed_loop(step, 3, 1.0) == 8.0
    assert kept == [1.0, 2.0, 4.0]


def ruled(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    made = hoad.custom_vjp(f)
    made.defvjp(lambda g, p, x: (g * np.cos(x),))
    return made


@pytest.mark.filterwarnings("ignore::hoad.JitWarning")
@pytest.mark.parametrize("driver", ["grad", "jvp", "record", "jit"])
@pytest.mark.parametrize("container", [hoad.checkpoint, ruled], ids=["checkpoint", "custom_vjp"])
def test_a_leak_of_a_function_that_is_called_plainly_too(container: Any, driver: str) -> None:
    """It asks for a type, so that it is compared with a plain call, which would leave a number there."""
    kept: dict[str, Any] = {}

    def inner(x: Any) -> Any:
        kept["type"] = type(x) is int
        kept["y"] = np.sin(1.3 * x)
        return kept["y"]

    def f(x: Any) -> Any:
        container(inner)(x)
        return 2.0 * kept["y"]

    expected = 2.0 * np.sin(1.3 * 0.3) if driver == "record" else 2.6 * np.cos(1.3 * 0.3)
    assert DRIVERS[driver](f)(0.3) == pytest.approx(expected, rel=1e-14)


def test_a_checkpoint_may_leak() -> None:
    """Its function runs once, and what it computes is a value like any other."""
    kept: list[Any] = []

    def inner(x: Any) -> Any:
        kept.append(np.sin(x))
        return x

    assert hoad.grad(lambda x: hoad.checkpoint(inner)(x) * kept[-1])(0.3) == pytest.approx(
        np.sin(0.3) + 0.3 * np.cos(0.3), rel=1e-14
    )


# ---- numbers of primitives ------------------------------------------------------------------------------------------


def declared(a: float) -> Any:
    """A primitive of its own: a x²."""

    @hoad.primitive(vjp=lambda g, p, x: (2 * a * x * g,))
    def scaled_square(x: Any) -> Any:
        return a * x * x

    return scaled_square


def test_numbers_of_primitives_are_given_back() -> None:
    held = declared(-3.0)
    program = hoad.record(lambda x: held(x) * x, 1.0)
    gc.collect()
    first = declared(0.0).__hoad_primitive__.op
    for k in range(2000):
        f = declared(float(k))
        assert hoad.grad(f)(2.0) == 4.0 * k
        if k % 10 == 0:
            assert hoad.hessian(lambda x, f=f: f(x) * x)(2.0) == 12.0 * k
            assert hoad.gradient(program).evaluate(2.0) == -36.0
        if k % 100 == 0:
            gc.collect()
        assert f.__hoad_primitive__.op < first + 1000


def test_a_number_is_not_given_to_another_while_a_program_holds_it() -> None:
    """Nodes hold the signature, and it the primitive, also where nothing of the user's does."""
    programs = [hoad.record(declared(float(k)), 1.0) for k in range(300)]
    gc.collect()
    for k in range(600):  # others, which take all numbers that are free
        assert hoad.grad(declared(1000.0 + k))(1.0) == 2 * (1000.0 + k)
    for k, program in enumerate(programs):
        assert program.evaluate(3.0) == 9.0 * k
        assert hoad.gradient(program).evaluate(3.0) == 6.0 * k
        assert hoad.gradient(hoad.gradient(program)).evaluate(3.0) == 2.0 * k


@pytest.mark.frees
def test_a_primitive_with_a_series_is_given_back() -> None:
    def series(x: Any, degree: int) -> Any:
        found = [np.exp(x)]
        for k in range(degree):
            found.append(found[k] / (k + 1))
        return found

    gc.collect()
    before = Counter(made.name for made in primitives())
    numbers = set()
    for _ in range(40):
        grown = hoad.primitive(elementwise=True, series=series)(np.exp)
        np.testing.assert_allclose(hoad.derivatives(grown, 3)(0.5), np.exp(0.5), rtol=1e-14)
        assert hoad.derivative(grown, 4)(0.5) == pytest.approx(np.exp(0.5), rel=1e-13)
        numbers.add(grown.__hoad_primitive__.op)
    assert len(numbers) == 40
    del grown
    for _ in range(600):
        declared(1.0)
    gc.collect()
    names = Counter(made.name for made in primitives())
    for name in ("exp", "coefficients of exp"):
        assert names[name] <= before[name]
