"""Random numbers that a jitted function draws: the plain function's, drawn anew at each call and in its order.

Two functions are made alike, with generators of one seed. One is called as it is and one by `jit`: what they give, and
the states of their generators, are the same after each call, whatever happened in between.
"""

from __future__ import annotations

import copy
import math
import threading
import types
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import hoad

pytestmark = pytest.mark.filterwarnings("error")


class Drawing(NamedTuple):
    """A function that draws, what it draws from, and what may be done between two calls."""

    f: Callable[..., Any]
    generators: Callable[[], list[Any]]
    changes: tuple[Callable[[], object], ...] = ()


CASES: dict[str, Callable[[], Drawing]] = {}
REFUSED: dict[str, tuple[Callable[[], Drawing], str]] = {}


def case(make: Callable[[], Drawing]) -> Callable[[], Drawing]:
    CASES[make.__name__] = make
    return make


def refused(reason: str) -> Callable[[Callable[[], Drawing]], Callable[[], Drawing]]:
    def note(make: Callable[[], Drawing]) -> Callable[[], Drawing]:
        REFUSED[make.__name__] = make, reason
        return make

    return note


def state(generator: Any) -> str:
    if isinstance(generator, np.random.RandomState):
        return repr(generator.get_state(legacy=False))
    return repr(generator.bit_generator.state)


# ---- what is replayed -----------------------------------------------------------------------------------------------


@case
def a_draw_about_a_draw() -> Drawing:
    rng = np.random.default_rng(21)
    return Drawing(lambda x: np.sum(x) * rng.normal(rng.normal(), 1.0), lambda: [rng])


@case
def a_generator_in_a_cell() -> Drawing:
    rng = np.random.default_rng(1)
    return Drawing(lambda x: np.sum(x * rng.normal(size=3)), lambda: [rng], (rng.random,))


@case
def a_generator_of_an_object() -> Drawing:
    class Model:
        def __init__(self) -> None:
            self.rng, self.scale, self.calls, self.noise = np.random.default_rng(2), 0.5, 0, None

        def loss(self, x: Any) -> Any:
            self.calls += 1
            self.noise = self.rng.normal(0.0, self.scale, x.shape)
            return np.sum((x - self.noise) ** 2)

    model: Any = Model()

    def exchange() -> None:
        model.rng = np.random.default_rng(7)

    def scale() -> None:
        model.scale *= 2.0

    return Drawing(model.loss, lambda: [model.rng], (exchange, scale, lambda: model.rng.shuffle([1, 2, 3])))


@case
def a_legacy_generator() -> Drawing:
    o = types.SimpleNamespace(rng=np.random.RandomState(3))

    def f(x: Any) -> Any:
        return np.sum(x * o.rng.rand(3)) + o.rng.randn() * o.rng.randint(5) + o.rng.uniform(0.0, 3.0)

    return Drawing(f, lambda: [o.rng], (lambda: o.rng.seed(5), o.rng.rand))


@case
def two_generators_in_turn() -> Drawing:
    a, b = np.random.default_rng(4), np.random.default_rng(5)

    def f(x: Any) -> Any:
        found = 0.0
        for k in range(3):
            found = found + a.normal() * x[k] + b.uniform(-1.0, 1.0)
        return found * a.random()

    return Drawing(f, lambda: [a, b], (a.random, b.random))


@case
def kinds_of_draws() -> Drawing:
    rng = np.random.default_rng(6)
    mean, cov = np.zeros(2), np.eye(2)

    def f(x: Any) -> Any:
        return (
            x @ rng.permutation(3)
            + rng.choice([1.0, 2.0, 3.0])
            + rng.integers(4, size=3) @ x
            + rng.multinomial(5, [0.2, 0.3, 0.5]) @ x
            + np.sum(rng.multivariate_normal(mean, cov))
            + rng.random(dtype=np.float32)
            + rng.exponential(scale=2.0)
        )

    def grow() -> None:
        mean[0] += 1.0

    return Drawing(f, lambda: [rng], (grow,))


@case
def arguments_that_are_written_to_afterwards() -> Drawing:
    rng = np.random.default_rng(8)

    def f(x: Any) -> Any:
        scale = np.ones(3)
        noise = rng.normal(0.0, scale)
        scale *= 3.0
        return np.sum(x * noise * scale)

    return Drawing(f, lambda: [rng])


@case
def draws_that_depend_on_the_branch() -> Drawing:
    rng = np.random.default_rng(9)

    def f(x: Any) -> Any:
        if x[0] > 1.5:
            return np.sum(x * rng.normal(size=3))
        return np.sum(x) * rng.uniform() * rng.uniform()

    return Drawing(f, lambda: [rng])


@case
def a_test_of_the_argument() -> Drawing:
    rng = np.random.default_rng(10)

    def f(x: Any) -> Any:
        noise = rng.normal(size=3)
        if not isinstance(x, np.ndarray) or np.ndim(noise) == 0:
            return 0.0
        return np.sum(noise * x) + rng.normal()

    return Drawing(f, lambda: [rng])


@case
def a_draw_that_is_not_used() -> Drawing:
    rng = np.random.default_rng(11)

    def f(x: Any) -> Any:
        rng.normal(size=2)
        return np.sum(x) * rng.normal()

    return Drawing(f, lambda: [rng])


@case
def a_bound_method_and_a_partial() -> Drawing:
    rng = np.random.default_rng(12)
    draw = rng.normal
    o = types.SimpleNamespace(draw=rng.uniform)
    return Drawing(lambda x: np.sum(x) * draw() + o.draw(1.0, 2.0), lambda: [rng])


@case
def a_comprehension() -> Drawing:
    rng = np.random.default_rng(13)
    return Drawing(lambda x: np.sum(np.stack([x[k] * rng.normal() for k in range(3)])), lambda: [rng])


@case
def a_generator_with_a_seed_within() -> Drawing:
    rng = np.random.default_rng(14)

    def f(x: Any) -> Any:
        return np.sum(x) * np.random.default_rng(5).normal() * rng.normal()

    return Drawing(f, lambda: [rng])


@case
def a_floor_and_an_index() -> Drawing:
    rng = np.random.default_rng(15)

    def f(x: Any) -> Any:
        return x[rng.integers(3)] ** 2 + math.floor(10.0 * rng.random()) * x[0]

    return Drawing(f, lambda: [rng])


@case
def a_derivative_within() -> Drawing:
    rng = np.random.default_rng(16)

    def f(x: Any) -> Any:
        return hoad.grad(lambda y: y**2 * rng.normal())(2.0) * np.sum(x) + rng.normal()

    return Drawing(f, lambda: [rng])


@case
def numbers_that_are_written_to() -> Drawing:
    rng = np.random.default_rng(18)

    def f(x: Any) -> Any:
        noise = rng.normal(size=3)
        noise *= 2.0
        noise[0] = 1.0
        return np.sum(noise * x)

    return Drawing(f, lambda: [rng])


@case
def a_map_over_rows() -> Drawing:
    rng = np.random.default_rng(19)

    def f(x: Any) -> Any:
        noise = rng.normal(size=3)
        return np.sum(hoad.vmap(lambda y: np.sum(y * noise) ** 2)(np.stack([x, x * rng.random()])))

    return Drawing(f, lambda: [rng])


@case
def a_derivative_of_any_order() -> Drawing:
    rng = np.random.default_rng(26)

    def f(x: Any) -> Any:
        derivatives = hoad.derivatives(lambda t: np.sin(t * rng.normal()) * rng.uniform(), 4)(0.3)
        return np.sum(x) * sum(derivatives)

    return Drawing(f, lambda: [rng])


@case
def loops_and_maps_that_draw() -> Drawing:
    rng = np.random.default_rng(27)

    def f(x: Any) -> Any:
        carried = hoad.fori_loop(0, 3, lambda k, c: c * 0.5 + rng.normal() * x[0], 1.0)
        last, _ = hoad.scan(lambda c, t: (c * x[1] + rng.normal(), c), 1.0, np.arange(3.0))
        return carried * last + np.sum(hoad.vmap(lambda y: y**2 * rng.normal())(x))

    return Drawing(f, lambda: [rng])


@case
def a_checkpoint_that_draws() -> Drawing:
    rng = np.random.default_rng(28)
    return Drawing(lambda x: np.sum(hoad.checkpoint(lambda y: y**2 * rng.normal(size=3))(x)), lambda: [rng])


@case
def a_copy_of_the_argument() -> Drawing:
    rng = np.random.default_rng(29)

    def f(x: Any) -> Any:
        y = x.copy()
        return np.sum(y * rng.normal(size=3))

    return Drawing(f, lambda: [rng])


@refused("draws from rng")
def an_array_that_is_permuted_in_place() -> Drawing:
    rng = np.random.default_rng(37)

    def f(x: Any) -> Any:
        order = np.arange(3.0)
        rng.permuted(order, out=order)
        return np.sum(x * order)

    return Drawing(f, lambda: [rng])


@refused("draws from rng")
def an_array_that_is_filled_by_position() -> Drawing:
    rng = np.random.default_rng(38)

    def f(x: Any) -> Any:
        noise = np.zeros(3)
        rng.standard_normal(None, np.float64, noise)
        return np.sum(x * noise)

    return Drawing(f, lambda: [rng])


@refused("for its state, or copy it")
def a_copy_of_the_generator() -> Drawing:
    rng = np.random.default_rng(35)
    return Drawing(lambda x: np.sum(x) * copy.deepcopy(rng).normal(), lambda: [rng])


@case
def a_subclass_of_a_generator() -> Drawing:
    class Source(np.random.Generator):
        def pair(self) -> Any:
            return self.normal(size=3)

    rng = Source(np.random.PCG64(17))
    return Drawing(lambda x: np.sum(x * rng.pair()), lambda: [rng], (rng.random,))


# ---- what is called as it is ----------------------------------------------------------------------------------------


@refused("decides on that in Python")
def a_branch_on_a_draw() -> Drawing:
    rng = np.random.default_rng(20)
    return Drawing(lambda x: np.sum(x) if rng.random() < 0.5 else np.sum(x**2), lambda: [rng])


@refused("draws from rng")
def a_shuffle() -> Drawing:
    rng = np.random.default_rng(22)

    def f(x: Any) -> Any:
        order = [0, 1, 2]
        rng.shuffle(order)
        return x[order[0]] * rng.normal()

    return Drawing(f, lambda: [rng])


@refused("it changes noise")
def an_array_that_is_filled() -> Drawing:
    rng, noise = np.random.default_rng(23), np.zeros(3)

    def f(x: Any) -> Any:
        rng.standard_normal(out=noise)
        return np.sum(x * noise)

    return Drawing(f, lambda: [rng])


@refused("needs plain numbers of that")
def a_count_of_steps() -> Drawing:
    rng = np.random.default_rng(24)

    def f(x: Any) -> Any:
        sizes = {rng.integers(3): 1.0}
        return np.sum(x) * sum(sizes)

    return Drawing(f, lambda: [rng])


@refused("draws from rng")
def a_distribution_of_scipy() -> Drawing:
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(25)
    return Drawing(lambda x: np.sum(x) * stats.norm.rvs(random_state=rng) * rng.normal(), lambda: [rng])


# ---- both -----------------------------------------------------------------------------------------------------------

WRAPS: dict[str, Callable[[Any], Any]] = {
    "values": lambda f: f,
    "gradients": hoad.grad,
    "Hessians": hoad.hessian,
}


def run_both(make: Callable[[], Drawing], wrap: Callable[[Any], Any], rounds: int = 12) -> tuple[Any, list[str]]:
    """The jitted function, and what warnings said, after calls beside the plain one."""
    plain, drawing = make(), make()
    f, g = wrap(plain.f), hoad.jit(wrap(drawing.f))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for k in range(rounds):
            x = np.array([1.0 + k % 2, 2.0, 0.5 + k])
            assert np.allclose(g(x), f(x), rtol=1e-12, atol=1e-12), k
            assert list(map(state, drawing.generators())) == list(map(state, plain.generators())), k
            if plain.changes and k > 3:
                plain.changes[k % len(plain.changes)]()
                drawing.changes[k % len(plain.changes)]()
    return g, [str(w.message) for w in caught if issubclass(w.category, hoad.errors.JitWarning)]


@pytest.mark.parametrize("wrap", WRAPS.values(), ids=WRAPS)
@pytest.mark.parametrize("make", CASES.values(), ids=CASES)
def test_draws_are_made_at_each_replay(make: Callable[[], Drawing], wrap: Callable[[Any], Any]) -> None:
    g, told = run_both(make, wrap)
    assert told == []
    assert g.signatures[0].recorded
    assert all(recorded.draws for recorded in g.signatures[0].recorded)


def numbers_that_traced_ones_are_added_to() -> Drawing:
    rng = np.random.default_rng(36)

    def f(x: Any) -> Any:
        z = rng.normal(size=3)
        z += x
        z[1] = 2.0 * x[0]
        return np.sum(z**2)

    return Drawing(f, lambda: [rng])


def test_numbers_that_traced_ones_are_added_to() -> None:
    """Which only an array that is traced can take, so not those that the first recording is given."""
    g, told = run_both(numbers_that_traced_ones_are_added_to, lambda f: f)
    assert told == []
    assert g.signatures[0].recorded


@pytest.mark.parametrize(("make", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_replayed_is_called_as_it_is(make: Callable[[], Drawing], reason: str) -> None:
    g, told = run_both(make, lambda f: f)
    assert len(told) == 1
    assert reason in told[0]
    assert told[0].startswith("Draw the random numbers outside of it") or "noise" in reason or "copy" in reason
    assert not g.signatures[0].recorded


# ---- the global generator -------------------------------------------------------------------------------------------


def test_functions_of_numpy_random() -> None:
    from numpy.random import uniform

    def f(x: Any) -> Any:
        return np.sum(x * np.random.normal(size=2)) + np.random.rand() + uniform(1.0, 2.0)  # noqa: NPY002

    x = np.array([1.0, 2.0])
    g = hoad.jit(f)
    kept = np.random.get_state()  # noqa: NPY002
    try:
        found = []
        for h in (f, g, g):
            np.random.seed(3)  # noqa: NPY002
            found.append([float(h(x)) for _ in range(5)])
    finally:
        np.random.set_state(kept)  # noqa: NPY002
    assert found[0] == pytest.approx(found[1], rel=1e-13)
    assert found[0] == pytest.approx(found[2], rel=1e-13)
    assert g.signatures[0].recorded[0].draws is not None


def test_scipy_may_run_beside_it() -> None:
    special = pytest.importorskip("scipy.special")
    f = hoad.jit(lambda x: special.gammaln(x) * np.random.normal())  # noqa: NPY002
    found = {float(f(2.5)) for _ in range(6)}
    assert len(found) == 6
    assert f.signatures[0].recorded[0].draws is not None


# ---- how it is called -----------------------------------------------------------------------------------------------


def noisy(seed: int = 30) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    return lambda x: x * rng.normal(size=2), rng


def test_the_numbers_are_written_to_arrays() -> None:
    (f, _), (g, _) = noisy(), noisy()
    jitted, out, x = hoad.jit(g), np.empty(2), np.array([1.0, 2.0])
    for _ in range(5):
        assert jitted(x, out=out) is out
        assert np.array_equal(out, f(x))
    call = jitted.bound(x, out=out)
    for _ in range(5):
        assert np.array_equal(call(), f(x))


def test_a_promise_does_not_keep_it_from_drawing() -> None:
    (f, _), (g, _) = noisy(), noisy()
    jitted = hoad.jit(g, guard=False)
    for k in range(5):
        assert np.array_equal(jitted(np.array([1.0, k])), f(np.array([1.0, k])))


def test_what_is_asked_of_it_draws_nothing() -> None:
    g, rng = noisy()
    jitted, x = hoad.jit(g), np.array([1.0, 2.0])
    for _ in range(3):
        jitted(x)
    before = state(rng)
    program = jitted.program(x)
    assert state(rng) == before
    assert len(program.inputs) == 2  # the argument, and what is drawn
    report = jitted.report(x)
    assert state(rng) == before
    assert report.recordings[0].draws == [f"Generator.normal at test_draws.py:{g.__code__.co_firstlineno}"]
    assert "draws at each replay:\n    Generator.normal at" in str(report)


def test_an_error_leaves_the_generator_where_a_plain_call_does() -> None:
    def make() -> tuple[Any, Any]:
        rng = np.random.default_rng(31)

        def f(x: Any) -> Any:
            noise = rng.normal()
            if x < 0.0:
                raise ValueError("below zero")
            return x * noise * rng.normal()

        return f, rng

    (f, plain), (g, rng) = make(), make()
    jitted = hoad.jit(g)
    for x in (1.0, -1.0, 2.0, 3.0, -1.0, 4.0, 4.0):
        for h in (f, jitted):
            if x < 0.0:
                with pytest.raises(ValueError, match="below zero"):
                    h(x)
            else:
                h(x)
        assert state(rng) == state(plain)
    assert jitted.signatures[0].recorded


def test_other_threads_draw_as_ever() -> None:
    rng, other = np.random.default_rng(32), np.random.default_rng(33)
    twin = np.random.default_rng(33)
    found: list[float] = []
    stop = threading.Event()

    def draw() -> None:
        while not stop.is_set() and len(found) < 100_000:
            found.append(other.normal())

    worker = threading.Thread(target=draw)
    worker.start()
    try:
        for k in range(30):
            f = hoad.jit(lambda x, k=k: x * rng.normal() + k)
            for _ in range(4):
                f(1.0)
    finally:
        stop.set()
        worker.join()
    assert found == [twin.normal() for _ in found]
    assert type(rng.normal()) is float


def test_the_law_of_what_is_drawn() -> None:
    rng = np.random.default_rng(34)
    gradient = hoad.jit(hoad.grad(lambda x: np.sum(np.sin(x) * rng.normal(3.0, 0.1, x.shape))))
    x = np.array([0.0, math.pi / 3.0])
    mean = np.mean([gradient(x) for _ in range(2000)], axis=0)
    assert mean == pytest.approx(3.0 * np.cos(x), abs=0.02)  # 6 standard errors
