"""Threads, contexts, generators and coroutines: every derivative is its own, wherever it runs."""

from __future__ import annotations

import asyncio
import contextvars
import random
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import hoad
from hoad._core.graph.primitive import signature_at
from hoad._core.graph.tape import intern_aval

W = np.array([[0.3, -0.7, 0.2], [0.9, 0.1, -0.4], [-0.2, 0.5, 0.8]])
X = np.array([0.3, 0.2, 0.1])


@pytest.fixture
def _hurried() -> Iterator[None]:
    """Threads change places every microsecond."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def in_thread(function: Callable[[], Any]) -> Any:
    """What the function gives in another thread, or its exception."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result()


def layer(x: Any) -> Any:
    return np.tanh(W @ x)


def nested_scalar(a: float) -> tuple[Any, Any]:
    """d/dx x · d/dy (a x y²) at y = x: 6 a x²."""
    return hoad.grad(lambda x: x * hoad.grad(lambda y: a * x * y * y)(x))(1.25), 6 * a * 1.25**2


def fourth_derivative(a: float) -> tuple[Any, Any]:
    return hoad.derivative(lambda x: np.sin(a * x), 4)(0.7), a**4 * np.sin(a * 0.7)


def dense_hessian(a: float) -> tuple[Any, Any]:
    t = layer(X)
    return hoad.hessian(lambda x: a * np.sum(layer(x)))(X), a * W.T @ np.diag(-2 * t * (1 - t * t)) @ W


def nested_jacobian(a: float) -> tuple[Any, Any]:
    found = hoad.jacobian(lambda x: hoad.grad(lambda y: a * np.sum(y**3) * np.sum(x))(x))(X)
    return found, a * 3 * (np.outer(X**2, np.ones(3)) + np.diag(2 * X) * X.sum())


def three_levels(a: float) -> tuple[Any, Any]:
    f = hoad.grad(lambda x: hoad.jvp(lambda y: hoad.grad(lambda z: np.exp(a * x * y * z))(0.5), (x,), (1.0,))[1])
    x, b = 0.75, 0.5 * a  # ∂_y ∂_z exp(a x y z) at y = x, z = 1/2 is a x (1 + b x²) exp(b x²)
    return f(x), (a + 3 * a * b * x**2 + 2 * b * x**2 * a * (1 + b * x**2)) * np.exp(b * x**2)


def product_of_any_size(a: float) -> tuple[Any, Any]:
    v = np.linspace(0.1, 1.0, 1 + int(a * 20))
    return hoad.hvp(lambda x: a * np.sum(x**4))(v, v), 12 * a * v**3


def branching(a: float) -> tuple[Any, Any]:
    f = lambda x: np.sum(x[x > 0.15] ** 2) * a if a > 1 else a * np.sum(np.where(x > 0.15, x * x, 0.0))  # noqa: E731
    return hoad.grad(f)(X), np.where(X > 0.15, 2 * a * X, 0.0)


_, PULLBACK = hoad.vjp(layer, X)
_, PUSHFORWARD = hoad.linearize(layer, X)
JACOBIAN = np.diag(1 - layer(X) ** 2) @ W


def shared_pullback(a: float) -> tuple[Any, Any]:
    return PULLBACK(a * np.ones(3))[0], a * np.ones(3) @ JACOBIAN


def shared_pushforward_traced(a: float) -> tuple[Any, Any]:
    return hoad.grad(lambda s: np.sum(PUSHFORWARD(s * s * X)))(a), 2 * a * np.sum(JACOBIAN @ X)


KINDS = [
    nested_scalar,
    fourth_derivative,
    dense_hessian,
    nested_jacobian,
    three_levels,
    product_of_any_size,
    branching,
    shared_pullback,
    shared_pushforward_traced,
]


@pytest.mark.parametrize("kind", KINDS, ids=[kind.__name__ for kind in KINDS])
def test_alone_every_kind_is_right(kind: Callable[[float], tuple[Any, Any]]) -> None:
    found, wanted = kind(1.5)
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-14)


@pytest.mark.usefixtures("_hurried")
def test_thousands_of_nested_derivatives_in_eight_threads() -> None:
    wrong: list[Any] = []
    done = [0] * 8
    ready = threading.Barrier(8)

    def work(k: int) -> None:
        numbers = random.Random(k)
        ready.wait()
        try:
            for _ in range(400):
                kind = numbers.choice(KINDS)
                found, wanted = kind(numbers.uniform(0.5, 2.0))
                if not np.allclose(found, wanted, rtol=1e-11, atol=1e-13):
                    wrong.append((kind.__name__, found, wanted))
                done[k] += 1
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert done == [400] * 8


@pytest.mark.usefixtures("_hurried")
def test_rules_and_signatures_made_for_the_first_time_in_many_threads() -> None:
    """All threads meet each shape first at once: templates and plans are made under way."""
    ready = threading.Barrier(8)

    def work(shift: int) -> list[Any]:
        ready.wait()
        found = []
        for n in range(901, 921):
            v = np.linspace(0.1, 1.0, n)
            found.append(hoad.grad(lambda x: np.sum(np.arctan2(x, 2.0) * np.logaddexp(x, shift)))(v))
        return found

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(work, [1.0] * 8))
    alone = None
    for result in results:
        alone = alone or result
        assert all(np.array_equal(a, b) for a, b in zip(result, alone, strict=True))
    v = np.linspace(0.1, 1.0, 901)
    wanted = np.logaddexp(v, 1.0) * 2 / (4 + v**2) + np.arctan2(v, 2.0) / (1 + np.exp(1.0 - v))
    np.testing.assert_allclose(results[0][0], wanted, rtol=1e-12)


def test_a_signature_that_is_made_meanwhile_stays() -> None:
    """As by another thread, while this one asks for the shape of a result: tables may refer to it already."""
    found: list[Any] = []
    aval = intern_aval(np.dtype(np.float64), (5,))

    def shape(x: Any) -> Any:
        if not found:
            found.append(None)
            found.append(signature_at(doubled.__hoad_primitive__, (), [aval]))
        return x.shape

    doubled: Any = hoad.primitive(shape=shape)(lambda x: 2.0 * x)
    made = signature_at(doubled.__hoad_primitive__, (), [aval])
    assert made is found[1]
    assert signature_at(doubled.__hoad_primitive__, (), [aval]) is made


# ---- traced values in a foreign thread ------------------------------------------------------------------------------

FOREIGN: dict[str, Callable[[Any], Any]] = {
    "operator": lambda x: x * x,
    "operator with a number": lambda x: 1.0 + x,
    "ufunc": lambda x: np.sin(x),
    "function": lambda x: np.sum(np.stack([x, x])),
    "unary": lambda x: -x,
    "bool": lambda x: 1.0 if x > 1 else 2.0,
    "derivative at it": lambda x: hoad.grad(lambda y: y * y)(x),
    "jvp along it": lambda x: hoad.jvp(lambda y: y * y, (1.0,), (x,))[1],
    "captured": lambda x: hoad.grad(lambda y: y * x)(1.0),
    "returned": lambda x: hoad.grad(lambda y: x)(1.0),
    "pullback of it": lambda x: hoad.vjp(lambda y: y * y, 1.0)[1](x)[0],
}


@pytest.mark.parametrize("name", FOREIGN)
def test_a_traced_value_in_another_thread_raises(name: str) -> None:
    f = FOREIGN[name]
    with pytest.raises(hoad.TracedValueError, match="in another thread than the one that records it") as caught:
        hoad.grad(lambda x: in_thread(lambda: f(x)))(2.0)
    assert "Take the derivative inside the thread, or pass hoad.value(x)" in str(caught.value)
    assert hoad.grad(np.sin)(0.0) == 1.0


FOREIGN_ARRAYS: dict[str, Callable[[Any], Any]] = {
    "operator": lambda x: np.sum(x * x),
    "item": lambda x: x[0],
    "slice": lambda x: np.sum(x[1:]),
    "method": lambda x: x.sum(),
    "iteration": lambda x: sum(x),
    "value": lambda x: np.sum(hoad.value(x)),
    "bool": lambda x: 1.0 if x[:1] > 1 else 2.0,
    "derivative at it": lambda x: np.sum(hoad.grad(lambda y: np.sum(y * y))(x)),
    "captured": lambda x: hoad.grad(lambda y: np.sum(y * x))(1.0),
    "pushforward of it": lambda x: np.sum(PUSHFORWARD(x)),
}


@pytest.mark.parametrize("name", FOREIGN_ARRAYS)
def test_a_traced_array_in_another_thread_raises(name: str) -> None:
    f = FOREIGN_ARRAYS[name]
    with pytest.raises(hoad.TracedValueError, match="in another thread than the one that records it"):
        hoad.grad(lambda x: in_thread(lambda: f(x)))(X)


def test_a_derivative_of_plain_numbers_in_another_thread_is_its_own() -> None:
    assert hoad.grad(lambda x: x * in_thread(lambda: hoad.grad(lambda y: y * y)(3.0)))(2.0) == 6.0


def test_a_traced_value_that_dies_in_another_thread() -> None:
    """The last reference may go anywhere; the count of live values stays right."""

    def f(x: Any) -> Any:
        for _ in range(50):
            box = [x * 1.0 for _ in range(20)]
            in_thread(box.clear)
            hoad.grad(lambda y: y * x)(1.0)
        return x * x

    assert hoad.grad(f)(3.0) == 6.0


# ---- contexts, coroutines, generators -------------------------------------------------------------------------------


def test_copied_contexts_nest() -> None:
    def f(x: Any) -> Any:
        return contextvars.copy_context().run(lambda: hoad.grad(lambda y: x * y * y)(x))

    assert hoad.grad(f)(3.0) == 12.0


def test_a_fresh_context_nests_or_raises() -> None:
    """A context that knows nothing of the running derivative must not take its values for numbers."""
    uses: list[Callable[[Any], Any]] = [
        lambda x: hoad.grad(lambda y: y * y)(x),
        lambda x: hoad.grad(lambda y: y * x)(3.0) * x,
        lambda x: hoad.jvp(lambda y: y * y, (x,), (1.0,))[1],
        lambda x: np.sum(hoad.grad(lambda y: np.sum(y * y))(np.stack([x, x])[:1])),
    ]
    for use in uses:
        try:
            found = hoad.grad(lambda x, use=use: contextvars.Context().run(use, x))(5.0)
        except hoad.TracedValueError:
            continue
        assert found in (2.0, 10.0)
    plain = hoad.grad(lambda x: x * contextvars.Context().run(hoad.grad(lambda y: y * y), 3.0))(2.0)
    assert plain == 6.0


def test_coroutines() -> None:
    async def slope(a: float) -> Any:
        await asyncio.sleep(0)
        found = hoad.grad(lambda x: a * x**3)(2.0)
        await asyncio.sleep(0)
        return found

    async def many() -> list[Any]:
        return await asyncio.gather(*[slope(float(a)) for a in range(50)])

    assert asyncio.run(many()) == [12.0 * a for a in range(50)]


def test_coroutines_inside_a_derivative() -> None:
    async def square(x: Any) -> Any:
        await asyncio.sleep(0)
        return x * x

    async def pair(x: Any) -> Any:
        a, b = await asyncio.gather(square(x), square(2 * x))
        return a + b * hoad.grad(lambda y: x * y * y)(1.0)

    wanted = 2 * 3.0 + 24 * 9.0  # x² + 4x²·2x
    assert hoad.grad(lambda x: asyncio.run(pair(x)))(3.0) == wanted


def test_a_coroutine_that_outlives_its_derivative_raises() -> None:
    async def square(x: Any) -> Any:
        return x * x

    kept: list[Any] = []

    def f(x: Any) -> Any:
        kept.append(square(x))
        return x

    hoad.grad(f)(2.0)
    with pytest.raises(hoad.TracedValueError, match="after the function it belongs to had returned"):
        asyncio.run(kept[0])


def test_to_thread() -> None:
    """asyncio.to_thread copies the context: the running derivative is seen, and known to be another thread's."""

    async def run(x: Any) -> Any:
        return await asyncio.to_thread(hoad.grad(lambda y: y * y), x)

    assert asyncio.run(run(3.0)) == 6.0
    assert hoad.grad(lambda x: x * asyncio.run(run(3.0)))(2.0) == 6.0
    with pytest.raises(hoad.TracedValueError, match="in another thread"):
        hoad.grad(lambda x: asyncio.run(run(x)))(2.0)


def test_generators_that_take_derivatives() -> None:
    """Two generators, each in the midst of its own derivatives, resumed in turns."""

    def slopes(a: float) -> Iterator[Any]:
        x = 1.0
        while True:
            x = yield hoad.grad(lambda y, x=x: a * x * y * y)(x)

    first, second = slopes(1.0), slopes(10.0)
    assert (next(first), next(second)) == (2.0, 20.0)
    assert (first.send(2.0), second.send(3.0), first.send(4.0)) == (8.0, 180.0, 32.0)

    def f(x: Any) -> Any:
        third = slopes(100.0)
        next(third)
        return third.send(x) + first.send(x) + second.send(2.0)

    assert hoad.grad(f)(3.0) == 400 * 3.0 + 4 * 3.0


def test_a_generator_of_traced_values_that_outlives_its_derivative_raises() -> None:
    def powers(x: Any) -> Iterator[Any]:
        y = x
        while True:
            yield y
            y = y * x

    kept: list[Iterator[Any]] = []

    def f(x: Any) -> Any:
        kept.append(powers(x))
        next(kept[0])
        return next(kept[0])

    assert hoad.grad(f)(3.0) == 6.0
    with pytest.raises(hoad.TracedValueError, match="after the function it belongs to had returned"):
        next(kept[0])


def test_f_may_be_a_generator_expression_consumer() -> None:
    assert hoad.grad(lambda x: sum(x**k for k in range(4)))(2.0) == 1 + 4 + 12
    np.testing.assert_array_equal(hoad.grad(lambda x: max(v * v for v in x))(np.array([1.0, -3.0])), [0.0, -6.0])
