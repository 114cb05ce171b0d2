"""Sums of products that are products of matrices, written by broadcasting: replayed as such, with the same numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import hoad

RNG = np.random.default_rng(8)


def whole(*shape: int) -> Any:
    """Whole numbers, whose sums of products are exact in whatever order."""
    return RNG.integers(-9, 10, shape).astype(float)


def lowered(f: Callable[..., Any], *args: Any) -> Any:
    return hoad.jit(f).program(*args)._lowered()


def products(f: Callable[..., Any], *args: Any) -> int:
    found: int = lowered(f, *args).products
    return found


# The function, what np.einsum says of it, and the shapes of its arguments.
Case = tuple[Callable[[Any, Any], Any], str, tuple[int, ...], tuple[int, ...]]
CONTRACTED: dict[str, Case] = {
    "a @ b.T": (lambda a, b: np.sum(a[:, None, :] * b[None, :, :], axis=-1), "nk,mk->nm", (9, 6), (8, 6)),
    "b @ a.T": (lambda a, b: np.sum(a[None] * b[:, None], axis=2), "nk,mk->mn", (9, 6), (8, 6)),
    "a @ b": (lambda a, b: np.sum(a[:, :, None] * b, axis=1), "nk,km->nm", (9, 6), (6, 8)),
    "a.T @ b": (lambda a, b: np.sum(a[:, :, None] * b[:, None, :], axis=0), "kn,km->nm", (6, 9), (6, 8)),
    "(a.T @ b).T": (lambda a, b: np.sum(a[:, None, :] * b[:, :, None], axis=0), "kn,km->mn", (6, 9), (6, 8)),
    "axes kept": (lambda a, b: np.sum(a[:, None] * b, axis=-1, keepdims=True), "nk,mk->nm", (9, 6), (8, 6)),
    "repeated by name": (
        lambda a, b: np.sum(np.broadcast_to(a[:, None], (9, 8, 6)) * np.broadcast_to(b, (9, 8, 6)), -1),
        "nk,mk->nm",
        (9, 6),
        (8, 6),
    ),
    "two axes of rows": (lambda a, b: np.sum(a[:, :, None] * b, axis=-1), "pnk,mk->pnm", (2, 9, 6), (8, 6)),
    "two sums, apart": (
        lambda a, b: np.sum(a[:, :, :, None] * b[:, None], axis=(0, 2)),
        "knj,kjm->nm",
        (3, 9, 4),
        (3, 4, 8),
    ),
    "two sums, side by side": (lambda a, b: np.sum(a[:, None] * b, (-2, -1)), "nkj,mkj->nm", (9, 3, 4), (8, 3, 4)),
    "a stack": (lambda a, b: np.sum(a[:, :, None] * b[:, None], axis=-1), "pnk,pmk->pnm", (5, 9, 6), (5, 8, 6)),
    "a stack, in turn": (
        lambda a, b: np.sum(a[:, :, :, None] * b[:, :, None, :], axis=1),
        "pkn,pkm->pnm",
        (5, 6, 9),
        (5, 6, 8),
    ),
    "of transposes": (lambda a, b: np.sum(a.T[:, None, :] * b.T[None], axis=-1), "kn,km->nm", (6, 9), (6, 8)),
    "of what is computed": (lambda a, b: np.sum((2 * a)[:, None] * (b + 0), axis=-1) / 2, "nk,mk->nm", (9, 6), (8, 6)),
    "by two": (lambda a, b: np.sum(a[:, None] * b, axis=-1), "nk,mk->nm", (30, 2), (30, 2)),
    "a @ x": (lambda a, x: np.sum(a * x, axis=1), "nk,k->n", (30, 20), (20,)),
    "x @ a": (lambda a, x: np.sum(a * x[:, None], axis=0), "kn,k->n", (30, 20), (30,)),
    "the vector first": (lambda x, a: np.sum(x[:, None] * a, 0, keepdims=True)[0], "k,kn->n", (30,), (30, 20)),
    "a.T @ x": (lambda a, x: np.sum(a.T * x, axis=1), "kn,k->n", (30, 20), (30,)),
    "a vector, two axes": (lambda a, x: np.sum(a * x, axis=(1, 2)), "nkj,kj->n", (30, 4, 5), (4, 5)),
    "a mean": (lambda a, x: 32 * np.mean(a * x, axis=1), "nk,k->n", (30, 32), (32,)),
}


@pytest.mark.parametrize("name", CONTRACTED)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128, np.complex64])
def test_products_of_matrices(name: str, dtype: Any) -> None:
    f, subscripts, *shapes = CONTRACTED[name]
    unit = 1j if np.issubdtype(dtype, np.complexfloating) else 0
    args = [(whole(*shape) + unit * whole(*shape)).astype(dtype) for shape in shapes]
    replay = hoad.jit(f)
    wanted = np.einsum(subscripts, *args).reshape(f(*args).shape)
    for _ in range(2):
        found = replay(*args)
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(replay(*args, out=np.empty_like(wanted)), wanted)
    assert products(f, *args) == (not unit)  # of infinite complex numbers, products of matrices would give nan


@pytest.mark.parametrize("name", CONTRACTED)
def test_gradients_are_products_too(name: str) -> None:
    """Of a bilinear form: exact, and linear in what it is not taken by."""
    f, subscripts, *shapes = CONTRACTED[name]
    a, b = (whole(*shape) for shape in shapes)
    weights = whole(*f(a, b).shape)
    left, out = subscripts.split("->")
    first, second = left.split(",")
    plain = weights.reshape(np.einsum(subscripts, a, b).shape)
    gradient = hoad.jit(hoad.grad(lambda a, b: np.sum(weights * f(a, b)), argnums=(0, 1)))
    for found, wanted in zip(
        gradient(a, b),
        (np.einsum(f"{out},{second}->{first}", plain, b), np.einsum(f"{out},{first}->{second}", plain, a)),
        strict=True,
    ):
        np.testing.assert_array_equal(found, wanted)


def test_derivatives_to_order_three() -> None:
    """Of the sums of fourth powers of a @ b.T and of cubes of m @ x, by a and x, in closed form."""
    a, b, v, w = (RNG.normal(size=shape) for shape in [(9, 6), (8, 6), (9, 6), (9, 6)])

    def outer(a: Any) -> Any:
        return np.sum(np.sum(a[:, None, :] * b, axis=-1) ** 4)

    def along(f: Callable[[Any], Any], v: Any) -> Callable[[Any], Any]:
        return lambda a: hoad.jvp(f, (a,), (v,))[1]

    slope = hoad.grad(outer)
    for f, wanted in (
        (slope, 4 * (a @ b.T) ** 3 @ b),
        (along(slope, v), 12 * ((a @ b.T) ** 2 * (v @ b.T)) @ b),
        (along(along(slope, v), w), 24 * ((a @ b.T) * (w @ b.T) * (v @ b.T)) @ b),
        (hoad.grad(along(along(outer, v), w)), 24 * ((a @ b.T) * (w @ b.T) * (v @ b.T)) @ b),
    ):
        np.testing.assert_allclose(f(a), wanted, rtol=1e-12, atol=1e-11)
        np.testing.assert_allclose(hoad.jit(f)(a), wanted, rtol=1e-12, atol=1e-11)
        assert products(f, a) >= 1

    m, x = RNG.normal(size=(30, 10)), RNG.normal(size=10)

    def vector(x: Any) -> Any:
        return np.sum(np.sum(m * x, axis=1) ** 3)

    for f, wanted in (
        (hoad.grad(vector), 3 * m.T @ (m @ x) ** 2),
        (hoad.hessian(vector), 6 * m.T @ np.diag(m @ x) @ m),
        (hoad.derivative_tensor(vector, 3), 6 * np.einsum("ka,kb,kc->abc", m, m, m)),
    ):
        np.testing.assert_allclose(hoad.jit(f)(x), wanted, rtol=1e-11, atol=1e-10)


def test_gradients_of_what_stands_between() -> None:
    a, b = RNG.normal(size=(20, 5)), RNG.normal(size=(30, 5))

    def f(a: Any, b: Any) -> Any:
        return np.sum(np.sin(np.sum(a[:, None, :] * b[None, :, :], axis=-1)))

    gradient = hoad.grad(f, argnums=(0, 1))
    cosine = np.cos(a @ b.T)
    for found, wanted in zip(hoad.jit(gradient)(a, b), (cosine @ b, cosine.T @ a), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)
    assert products(gradient, a, b) == 3


A, B, M, X = whole(9, 6), whole(8, 6), whole(30, 20), whole(20)
AS_IT_IS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "the product is wanted": (lambda a, b: (lambda p: (p, np.sum(p, -1)))(a[:, None] * b), (A, B)),
    "the product is read": (lambda a, b: (lambda p: np.sum(p, -1) + np.max(p, -1))(a[:, None] * b), (A, B)),
    "summed twice": (lambda a, b: (lambda p: (np.sum(p, 0), np.sum(p, -1)))(a[:, None] * b), (A, B)),
    "few numbers": (lambda a, b: np.sum(a[:3, None] * b[:4], -1), (A, B)),
    "few rows and columns": (lambda a, b: np.sum(a[:2, None] * b[:2], -1), (whole(2, 500), whole(2, 500))),
    "small ones in a stack": (lambda a, b: np.sum(a[:, :, None] * b[:, None], -1), (whole(50, 3, 3), whole(50, 3, 3))),
    "no axis of both": (lambda a, b: np.sum(a[:, None] * b, 0), (A, B)),
    "an axis of one": (lambda a, b: np.sum(a[:, None] * b, (0, 2)), (A, B)),
    "all of it": (lambda a, x: np.sum(a * x), (M, X)),
    "item by item": (lambda a: np.sum(a * (a + 1), 1), (M,)),
    "a stack of vectors": (lambda a, x: np.sum(a * x[:, None], -1), (whole(5, 30, 20), whole(5, 20))),
    "a matrix that is computed": (lambda a, x: np.sum((a * a) * x, 1), (M, X)),
    "its transpose": (lambda a, x: np.sum((a * a).T * x, 1), (M.T.copy(), X)),
    "a matrix taken apart": (lambda a, x: np.sum(a * x[:, None], (0, 2)), (whole(5, 30, 4), whole(5, 4))),
    "rows around columns": (lambda a, b: np.sum(a[:, None] * b[None, :, None], -1), (whole(9, 7, 6), whole(8, 6))),
    "an axis of neither": (
        lambda a, b: np.sum(np.broadcast_to(a[:, :1, None], (9, 8, 6)) * np.broadcast_to(b[:, :1], (9, 8, 6)), -1),
        (A, B),
    ),
    "an axis of neither, that stays": (
        lambda a, b: np.sum(np.broadcast_to(a, (7, 9, 6)) * np.broadcast_to(a[:, :1], (7, 9, 6)), 1),
        (A, B),
    ),
    "in doubles": (lambda a, b: np.sum((a[:, None] * b).astype(np.float64), -1), (np.float32(A), np.float32(B))),
    "long rows": (lambda a, b: np.sum(a[:, None] * b, -1), (whole(20, 4000), whole(20, 4000))),
    "long columns": (lambda a, x: np.sum(a * x[:, None], 0), (whole(40000, 5), whole(40000))),
    "a sum": (lambda a, b: np.sum(a[:, None] + b, -1), (A, B)),
    "a scaled product": (lambda a, b: np.sum(2 * (a[:, None] * b), -1), (A, B)),
    "the greatest": (lambda a, b: np.max(a[:, None] * b, -1), (A, B)),
    "integers": (lambda a, b: np.sum(np.floor(a).astype(int)[:, None] * b.astype(int), -1) + 0.0 * a[0, 0], (A, B)),
    "booleans": (lambda a, b: np.sum((a > 0)[:, None] * (b > 0), -1) + 0.0 * a[0, 0], (A, B)),
}


@pytest.mark.parametrize("name", AS_IT_IS)
def test_what_stays(name: str) -> None:
    f, args = AS_IT_IS[name]
    assert products(f, *args) == 0
    found, wanted = hoad.jit(f)(*args), f(*args)
    for one, other in zip(*[v if isinstance(v, tuple) else (v,) for v in (found, wanted)], strict=True):
        np.testing.assert_array_equal(one, other)


def test_two_precisions_meet_in_the_greater() -> None:
    a, b = whole(9, 6).astype(np.float32), whole(8, 6)
    found = hoad.jit(lambda a, b: np.sum(a[:, None] * b, axis=-1))(a, b)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, a @ b.T)


def test_values_beside_derivatives() -> None:
    """Of what runs once, step by step where it is small: the same to rounding."""
    for n in (9, 200):
        a, b = RNG.normal(size=(n, 6)), RNG.normal(size=(n, 6))
        value, pullback = hoad.vjp(lambda a: np.sum(a[:, None] * b, axis=-1), a)
        np.testing.assert_allclose(value, a @ b.T, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(pullback(np.ones((n, n)))[0], np.ones((n, n)) @ b, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_zero_times_what_is_not_finite(value: float) -> None:
    """It is nan, wherever it stands."""
    for name in ("a @ b.T", "a.T @ b", "a stack", "a @ x", "x @ a", "a.T @ x"):
        f, _, *shapes = CONTRACTED[name]
        replay = hoad.jit(f)
        a, b = (np.zeros(shape) for shape in shapes)
        a.flat[-1] = value
        with np.errstate(invalid="ignore"):
            for other in (b, b + 2.0):
                np.testing.assert_array_equal(replay(a, other), f(a, other))
        assert np.isnan(replay(a, b)).any()
        assert products(f, a, b) == 1


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_infinite_complex_numbers(dtype: Any) -> None:
    """Where the sum of products is infinite BLAS would say nan."""
    a, b = np.ones((9, 6), dtype), np.full((8, 6), 1 + 1j, dtype)
    a[2, 3] = np.inf
    f = CONTRACTED["a @ b.T"][0]
    replay = hoad.jit(f)
    for _ in range(2):
        found = replay(a, b)
        np.testing.assert_array_equal(found, f(a, b))
        assert np.isposinf(found[2].real).all()


# Of so many multiplications that one call of BLAS might share them among threads.
LARGE: dict[str, tuple[Callable[[Any, Any], Any], str, tuple[int, ...], tuple[int, ...]]] = {
    "squares": (CONTRACTED["a @ b.T"][0], "nk,mk->nm", (130, 50), (111, 50)),
    "flat": (CONTRACTED["a @ b"][0], "nk,km->nm", (3, 40), (40, 3000)),
    "transposes": (CONTRACTED["a.T @ b"][0], "kn,km->nm", (90, 150), (90, 33)),
    "a stack": (CONTRACTED["a stack"][0], "pnk,pmk->pnm", (3, 77, 60), (3, 81, 60)),
    "a stack of small ones": (CONTRACTED["a stack"][0], "pnk,pmk->pnm", (3000, 9, 6), (3000, 8, 6)),
    "a @ x": (CONTRACTED["a @ x"][0], "nk,k->n", (1300, 1000), (1000,)),
    "x @ a": (CONTRACTED["x @ a"][0], "kn,k->n", (1000, 1300), (1000,)),
    "a.T @ x": (CONTRACTED["a.T @ x"][0], "kn,k->n", (700, 801), (700,)),
    "with itself": (lambda a, b: np.sum(a[:, None] * a, axis=-1) + b, "nk,m->nm", (130, 50), (130,)),
}


@pytest.mark.parametrize("name", LARGE)
@pytest.mark.usefixtures("four_cores")
def test_pieces(name: str) -> None:
    """Exact where numbers are whole, and the same bits however many threads take the pieces."""
    f, subscripts, *shapes = LARGE[name]
    a, b = (whole(*shape) for shape in shapes)
    wanted = np.einsum(subscripts, a, b) if name != "with itself" else a @ a.T + b
    np.testing.assert_array_equal(hoad.jit(f, threads=4)(a, b), wanted)
    assert products(f, a, b) == 1
    a, b = RNG.normal(size=a.shape), RNG.normal(size=b.shape)
    bits = set()
    for threads in (1, 2, 4):
        replay = hoad.jit(f, threads=threads)
        replay(a, b)
        bits |= {replay(a, b).tobytes() for _ in range(5)}
    assert len(bits) == 1


def test_no_room_for_what_is_not_made() -> None:
    a, b = whole(300, 50), whole(200, 50)
    for f in (
        lambda a, b: np.sum(a[:, None] * b, -1),
        lambda a, b: np.sin(np.sum(np.broadcast_to(a[:, None], (300, 200, 50)) * np.cos(b), -1)),
    ):
        assert lowered(f, a, b).bytes < 3 * 8 * 300 * 200


def test_transposes_are_read_where_they_lie() -> None:
    f, _, *shapes = CONTRACTED["a.T @ x"]
    assert lowered(f, *(whole(*shape) for shape in shapes)).size == 1


def test_tapes_of_repeated_arrays() -> None:
    """Gradients and Hessians of a bilinear form and of squared distances, in closed form."""
    matrix, x, y = RNG.normal(size=(30, 20)), RNG.normal(size=20), RNG.normal(size=30)

    def bilinear(matrix: Any, x: Any, y: Any) -> Any:
        return np.sum(matrix * x[None, :] * y[:, None])

    gradient = hoad.jit(hoad.grad(bilinear, argnums=(0, 1, 2)))
    for _ in range(2):
        for found, wanted in zip(gradient(matrix, x, y), (np.outer(y, x), y @ matrix, matrix @ x), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)

    def joint(z: Any) -> Any:
        return bilinear(matrix, z[:20], z[20:])

    z = np.concatenate([x, y])
    mixed = np.block([[np.zeros((20, 20)), matrix.T], [matrix, np.zeros((30, 30))]])
    np.testing.assert_allclose(hoad.jit(hoad.hessian(joint))(z), mixed, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(hoad.jit(hoad.grad(joint))(z), mixed @ z, rtol=1e-12, atol=1e-12)

    def squared(x: Any) -> Any:
        return ((x[:, None] - y[None, :]) ** 2).sum()

    np.testing.assert_allclose(hoad.jit(hoad.grad(squared))(x), 2 * (30 * x - np.sum(y)), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(hoad.jit(hoad.hessian(squared))(x), 60 * np.eye(20), rtol=1e-12, atol=1e-12)


# Axes of two operands, and how long they are: of both, left or right, or of neither, to be repeated; some are summed
# over. Mostly each has one of each kind, or two side by side.
kinds_in_turn = st.tuples(st.permutations("BLRI"), st.sampled_from(["0111", "1111", "0211", "0112"])).map(
    lambda turn: "".join(kind * int(turn[1]["BLRI".index(kind)]) for kind in turn[0])
)
axes_of_programs = st.one_of(kinds_in_turn, st.text("BLRIN", min_size=2, max_size=5)).flatmap(
    lambda kinds: st.tuples(st.just(kinds), st.lists(st.sampled_from([1, 4, 7, 9]), min_size=5, max_size=5))
)


@settings(max_examples=200, deadline=None)
@given(
    axes_of_programs, st.permutations(range(5)), st.permutations(range(5)), st.integers(0, 31), st.integers(0, 2**20)
)
@example(("LRNI", [7, 7, 7, 4, 1]), [1, 0, 2, 3, 4], [0, 1, 2, 3, 4], 4, 5)
def test_any_axes(axes: tuple[str, list[int]], left: list[int], right: list[int], repeated: int, choice: int) -> None:
    """Sums over any axes of products of what is transposed, cut, turned round, repeated: NumPy's, nan and inf too."""
    kinds, sizes = axes[0], axes[1][: len(axes[0])]
    random = np.random.default_rng(choice)
    summed = tuple(i for i, kind in enumerate(kinds) if kind == "I" or (kind == "N" and repeated & 1))

    def operand(side: str, order: list[int]) -> tuple[Any, Callable[[Any], Any]]:
        own = [i for i, kind in enumerate(kinds) if kind in side]
        stored = [i for i in order if i in own]
        value = random.integers(-5, 6, [sizes[i] for i in stored]).astype(float)
        for _ in range(choice % 3 if value.size else 0):
            value.flat[random.integers(value.size)] = random.choice([np.inf, -np.inf, np.nan, -0.0])
        if choice & 4 and stored:
            value = np.repeat(value, 2, 0)[::-2]
        shape = [sizes[i] if i in own else 1 for i in range(len(kinds))]

        def shown(x: Any) -> Any:
            x = x[::-1] if choice & 8 and stored else x
            x = np.reshape(np.transpose(x, [stored.index(i) for i in own]), shape)
            return np.broadcast_to(x, sizes) if repeated & 2 else x

        return value, shown

    (x, show_x), (y, show_y) = operand("BLI", left), operand("BRI", right)

    def f(x: Any, y: Any) -> Any:
        product = show_x(x) * show_y(y)
        if repeated & 4:
            product = np.broadcast_to(product, sizes)
        total = np.sum(product, axis=summed, keepdims=bool(repeated & 8))
        return (total, np.sum(product)) if repeated & 16 else (total, np.transpose(total) + 1.0)

    replay = hoad.jit(f)
    with np.errstate(invalid="ignore"):
        for _ in range(2):
            for found, wanted in zip(replay(x, y), f(x, y), strict=True):
                np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("shapes", [(0, 5, 7), (5, 0, 7), (5, 7, 0), (1, 30, 20), (30, 1, 20), (30, 20, 1), (1, 1, 1)])
def test_axes_of_no_and_one_item(shapes: tuple[int, int, int]) -> None:
    n, m, k = shapes
    a, b = whole(n, k), whole(m, k)
    for f in (lambda a, b: np.sum(a[:, None] * b, -1), lambda a, b: np.sum(a.T[:, :, None] * b.T[:, None, :], 0)):
        np.testing.assert_array_equal(hoad.jit(f)(a, b), np.einsum("nk,mk->nm", a, b))
        gradient = hoad.jit(hoad.grad(lambda a, b, f=f: np.sum(f(a, b)), argnums=(0, 1)))
        for found, wanted in zip(gradient(a, b), (np.ones((n, m)) @ b, np.ones((m, n)) @ a), strict=True):
            np.testing.assert_array_equal(found, wanted)


def test_strong_zeros_absorb() -> None:
    """What where leaves out has no slope, though that of the root at 0 is infinite."""
    b = whole(30, 20)

    def f(x: Any) -> Any:
        return np.sum(np.where(b[:, 0] > 100, np.sum(b * np.sqrt(x), axis=1), 1.0))

    x = np.zeros(20)
    np.testing.assert_array_equal(hoad.jit(hoad.grad(f))(x), np.zeros(20))
    np.testing.assert_array_equal(hoad.jit(hoad.grad(f))(x + 4.0), np.zeros(20))
    assert np.sum(f(x)) == 30


def test_lanes_stay_products_of_their_own() -> None:
    a, b = whole(5, 9, 6), whole(8, 6)
    found = hoad.jit(hoad.vmap(lambda a: np.sum(a[:, None] * b, axis=-1)))(a)
    np.testing.assert_array_equal(found, np.einsum("pnk,mk->pnm", a, b))
