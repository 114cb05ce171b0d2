"""Matrix products that read transposes where they lie: the numbers of NumPy, for any view, stack and shape."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hoad

RNG = np.random.default_rng(31)
A, B, S = RNG.normal(size=(6, 9)), RNG.normal(size=(9, 7)), RNG.normal(size=(5, 4, 3))

# Of a, b and s as above; `1.5 *` and `+ 1` make what is transposed a result of the program, in a chain or not.
PRODUCTS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "left": lambda a, b, s: (1.5 * a).T @ (a + 1),
    "right": lambda a, b, s: (a + 1) @ (1.5 * a).T,
    "both": lambda a, b, s: (b + 1).T @ (a * 2).T,
    "an argument": lambda a, b, s: a.T @ a,
    "a transpose twice": lambda a, b, s: ((a + 1).T * 1.0).T @ b,
    "a transpose of a transpose": lambda a, b, s: np.transpose(np.transpose(a + 1)) @ b,
    "a product's transpose": lambda a, b, s: (a @ b).T @ a,
    "what is read otherwise too": lambda a, b, s: ((a + 1).T @ a) + np.sum((a + 1).T) + (a + 1).T[:, :1],
    "part of it": lambda a, b, s: (a + 1)[1:, 2:].T @ a[1:],
    "every other row": lambda a, b, s: (a + 1)[::2].T @ a[::2],
    "backwards": lambda a, b, s: (a + 1)[::-1].T @ a,
    "a vector": lambda a, b, s: (a + 1).T @ a[:, 0],
    "a vector on the left": lambda a, b, s: a[0] @ (a + 1).T,
    "a column": lambda a, b, s: (a + 1).T @ a[:, :1],
    "a row": lambda a, b, s: (a[:1] + 1).T @ a[1:2],
    "reshaped": lambda a, b, s: np.reshape((a + 1).T, (6, 9)) @ b,
    "equal numbers": lambda a, b, s: np.ones((9, 6)) @ np.transpose(np.full((9, 6), 2.0)) @ b + b[:9, :7],
    "a stack": lambda a, b, s: np.transpose(s + 1, (0, 2, 1)) @ (s * 2),
    "a stack, axes in turn": lambda a, b, s: np.transpose(s * 2, (2, 0, 1)) @ np.transpose(s, (2, 1, 0)),
    "a stack and a matrix": lambda a, b, s: np.transpose(s + 1, (1, 2, 0)) @ a[:5, :2],
    "a view of a view": lambda a, b, s: np.transpose(np.transpose(s + 1, (1, 2, 0)), (0, 2, 1)) @ s[0].T,
    "axes that BLAS cannot read": lambda a, b, s: np.transpose(s + 1, (2, 0, 1)) @ a[:4],
    "broadcast": lambda a, b, s: np.broadcast_to(a[0] + 1, (4, 9)) @ b,
    "einsum": lambda a, b, s: np.einsum("kij,nkj->nki", s, np.stack([a[:5, :3], a[:5, 3:6]])),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_of_views(name: str) -> None:
    f = PRODUCTS[name]
    expected = f(A, B, S)
    replay = hoad.jit(f)
    out = np.empty_like(expected)
    for _ in range(2):
        np.testing.assert_allclose(replay(A, B, S), expected, rtol=1e-13, atol=1e-13)
        replay(A, B, S, out=out)
        np.testing.assert_allclose(out, expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("name", PRODUCTS)
def test_gradients_through_products_of_views(name: str) -> None:
    """Replayed as they are computed by the sweep itself, and as finite differences say."""
    weights = RNG.normal(size=np.shape(PRODUCTS[name](A, B, S)))

    def f(a: Any, b: Any, s: Any) -> Any:
        return np.sum(weights * PRODUCTS[name](a, b, s) ** 2)

    swept = hoad.grad(f, argnums=(0, 1, 2))
    replay = hoad.jit(swept)
    directions = [RNG.normal(size=x.shape) for x in (A, B, S)]
    slope = sum(np.sum(g * v) for g, v in zip(replay(A, B, S), directions, strict=True))
    h = 1e-5
    ahead, behind = ([x + t * v for x, v in zip((A, B, S), directions, strict=True)] for t in (h, -h))
    np.testing.assert_allclose(slope, (f(*ahead) - f(*behind)) / (2 * h), rtol=1e-7, atol=1e-5)
    for one, other in zip(replay(A, B, S), swept(A, B, S), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-11)


def test_large_views_are_put_together_beforehand() -> None:
    x = RNG.normal(size=(40, 30, 20))

    def f(x: Any) -> Any:
        y = np.transpose(x * 2.0, (2, 1, 0))
        return np.sin(y) * y + np.transpose(x, (2, 1, 0))

    y = np.transpose(x * 2.0, (2, 1, 0))
    np.testing.assert_allclose(hoad.jit(f)(x), np.sin(y) * y + y / 2, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("rows", [1, 2, 7, 8, 9, 17, 40])
@pytest.mark.parametrize("columns", [1, 2, 7, 8, 9, 17, 40])
def test_copies_of_transposes(rows: int, columns: int) -> None:
    x = RNG.normal(size=(rows + 3, columns + 4))
    for f in (np.transpose, lambda x: x[1:-2, 2:-2].T, lambda x: x[::-1, 2:].T, lambda x: x[:, ::-1].T):
        np.testing.assert_array_equal(hoad.record(f, x).evaluate(x), f(x))


def test_products_alone_leave_no_copies() -> None:
    """A program of a product and a transpose has no chains; what is read where it lies is not copied there either."""
    for f in (lambda a: a.T @ a, lambda a: a.T @ a[:, 0] * 1.0, lambda a: np.transpose(a, (1, 0)) @ a):
        replay = hoad.jit(f)
        np.testing.assert_allclose(replay(A), f(A), rtol=1e-14, atol=1e-14)
        np.testing.assert_array_equal(replay(A), replay(A))
    assert hoad.jit(lambda a: a.T @ a).program(A)._lowered().size == 1


def test_single_precision() -> None:
    a = A.astype(np.float32)
    found = hoad.jit(lambda a: (a + 1).T @ a)(a)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, (a + 1).T @ a, rtol=1e-5)


@pytest.mark.parametrize(("rows", "columns"), [(64, 64), (40, 100), (100, 40), (128, 128), (129, 130)])
@pytest.mark.parametrize("lanes", [1, 15, 127, 128, 131, 300])
def test_products_with_a_matrix_go_in_pieces_of_lanes(rows: int, columns: int, lanes: int) -> None:
    matrix, left, right = (RNG.normal(size=shape) for shape in [(rows, columns), (lanes, rows), (lanes, columns)])
    expected = [
        [math.fsum(matrix[i, j] * right[k, j] for j in range(columns)) for i in (0, rows - 1)] for k in range(lanes)
    ]
    found = hoad.vmap(lambda x: matrix @ x)(right)
    np.testing.assert_allclose(found[:, [0, -1]], expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found, right @ matrix.T, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(hoad.vmap(lambda x: x @ matrix)(left), left @ matrix, rtol=1e-12, atol=1e-12)
    turned = hoad.vmap(lambda x: np.ascontiguousarray(matrix.T).T @ x)(right)
    np.testing.assert_allclose(turned, right @ matrix.T, rtol=1e-12, atol=1e-12)
    slopes = hoad.vmap(hoad.grad(lambda x: np.sum((matrix @ x) ** 2)))(right)
    np.testing.assert_allclose(slopes, 2 * right @ (matrix.T @ matrix), rtol=1e-11, atol=1e-11)


# More multiplications than BLAS does without putting matrices in another order.
LARGE: dict[str, Callable[[Any, Any], Any]] = {
    "rows": lambda a, b: (a + 1) @ b[:64],
    "a transpose on the left": lambda a, b: (b + 1).T @ b[:, 1:],
    "a transpose on the right": lambda a, b: (a + 1) @ (b[:70] * 2).T,
    "a column": lambda a, b: (a + 1) @ b[:64, :1],
}


@pytest.mark.parametrize("name", LARGE)
@pytest.mark.usefixtures("four_cores")
def test_pieces_of_large_products(name: str) -> None:
    """Exact where numbers are whole; what is not finite stays in its row; no bit depends on the number of threads."""
    rng = np.random.default_rng(5)
    f, a, b = LARGE[name], rng.integers(-9, 10, (417, 64)).astype(float), rng.integers(-9, 10, (417, 64)).astype(float)
    np.testing.assert_array_equal(hoad.jit(f, threads=4)(a, b), f(a, b))
    a[11, 3], a[300, 5], b[1, 7], b[3, 0] = np.inf, np.nan, -np.inf, 1e300
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(hoad.jit(f)(a, b), f(a, b))
    a, b = rng.normal(size=a.shape), rng.normal(size=b.shape)
    replays = [hoad.jit(f, threads=threads) for threads in (1, 2, 4)]
    for replay in replays:
        np.testing.assert_allclose(replay(a, b), f(a, b), rtol=1e-12, atol=1e-12)
    assert len({replay(a, b).tobytes() for replay in replays for _ in range(4)}) == 1


@pytest.mark.parametrize("columns", [50, 64, 90])
def test_long_sums_of_lanes_are_added_up_in_parts(columns: int) -> None:
    """Exact where numbers are whole, and of numbers that are not finite in the lane that they stand in alone."""
    rng = np.random.default_rng(6)
    matrix = rng.integers(-9, 10, (1001, columns)).astype(float)
    rows = rng.integers(-9, 10, (53, 1001)).astype(float)
    for f, x in ((lambda x: x @ matrix, rows), (lambda x: matrix.T @ x, rows)):
        replay = hoad.jit(hoad.vmap(f))
        np.testing.assert_array_equal(replay(x), rows @ matrix)
        x = x.copy()
        x[7, 900], x[52, 0] = np.nan, np.inf
        with np.errstate(invalid="ignore"):
            np.testing.assert_array_equal(replay(x), x @ matrix)
