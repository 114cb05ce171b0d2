"""Distances: values as SciPy's, derivatives as those of mpmath's formulas, in every mode."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest

ssd = pytest.importorskip("scipy.spatial.distance")

from _numpy.agreement import assert_same  # noqa: E402
from _scipy.orders import assert_orders  # noqa: E402

import hoad  # noqa: E402
from hoad.errors import NoRuleError  # noqa: E402
from hoad.scipy.spatial import distance  # noqa: E402

A = np.array([[0.4, 1.3, 0.2], [1.1, 0.5, 0.9]])
B = np.array([[0.9, 0.3, 1.6], [0.25, 0.75, 0.5], [1.2, 1.4, 0.1], [0.1, 0.8, 2.0]])
D = np.array([[0.3, -0.2, 0.5], [0.1, 0.4, -0.3]])
W = np.array([0.5, 1.5, 2.0])
VI = np.array([[2.0, 0.5, 0.1], [0.5, 1.0, 0.2], [0.1, 0.2, 3.0]])


def _mean(u: Any, w: Any) -> Any:
    return sum(a * b for a, b in zip(u, w, strict=True)) / sum(w)


def cosine(u: Any, v: Any, w: Any = (1, 1, 1)) -> Any:
    def inner(a: Any, b: Any) -> Any:
        return sum(x * y * z for x, y, z in zip(a, b, w, strict=True))

    return 1 - inner(u, v) / mpmath.sqrt(inner(u, u) * inner(v, v))


def correlation(u: Any, v: Any, w: Any = (1, 1, 1)) -> Any:
    return cosine([x - _mean(u, w) for x in u], [x - _mean(v, w) for x in v], w)


def minkowski(p: float) -> Any:
    def norm(u: Any, v: Any, w: Any = (1, 1, 1)) -> Any:
        return sum(c * abs(a - b) ** p for a, b, c in zip(u, v, w, strict=True)) ** (mpmath.mpf(1) / p)

    return norm


def jensenshannon(u: Any, v: Any) -> Any:
    p, q = ([x / sum(y) for x in y] for y in (u, v))
    parts = [a * mpmath.log(2 * a / (a + b)) + b * mpmath.log(2 * b / (a + b)) for a, b in zip(p, q, strict=True)]
    return mpmath.sqrt(sum(parts) / 2)


def mahalanobis(u: Any, v: Any) -> Any:
    d = [a - b for a, b in zip(u, v, strict=True)]
    return mpmath.sqrt(sum(d[i] * VI[i, j] * d[j] for i in range(3) for j in range(3)))


def pairwise(f: Any) -> Any:
    def metric(u: Any, v: Any, w: Any = (1, 1, 1)) -> Any:
        return f(list(zip(u, v, w, strict=True)))

    return metric


cityblock = pairwise(lambda rows: sum(w * abs(a - b) for a, b, w in rows))
canberra = pairwise(lambda rows: sum(w * abs(a - b) / (abs(a) + abs(b)) for a, b, w in rows))
braycurtis = pairwise(lambda rows: sum(w * abs(a - b) for a, b, w in rows) / sum(w * abs(a + b) for a, b, w in rows))
# SciPy's name, options, the formula of two vectors.
METRICS: list[tuple[str, dict[str, Any], Any]] = [
    ("euclidean", {}, minkowski(2)),
    ("euclidean", {"w": W}, minkowski(2)),
    ("sqeuclidean", {}, lambda u, v: minkowski(2)(u, v) ** 2),
    ("sqeuclidean", {"w": W}, lambda u, v, w: minkowski(2)(u, v, w) ** 2),
    ("seuclidean", {"V": W}, lambda u, v: minkowski(2)(u, v, 1 / W)),
    ("cityblock", {}, cityblock),
    ("cityblock", {"w": W}, cityblock),
    ("chebyshev", {}, lambda u, v: max(abs(a - b) for a, b in zip(u, v, strict=True))),
    ("minkowski", {"p": 3}, minkowski(3)),
    ("minkowski", {"p": 2.5, "w": W}, minkowski(2.5)),
    ("cosine", {}, cosine),
    ("cosine", {"w": W}, cosine),
    ("correlation", {}, correlation),
    ("correlation", {"w": W}, correlation),
    ("braycurtis", {}, braycurtis),
    ("braycurtis", {"w": W}, braycurtis),
    ("canberra", {}, canberra),
    ("canberra", {"w": W}, canberra),
    ("mahalanobis", {"VI": VI}, mahalanobis),
    ("jensenshannon", {}, jensenshannon),
]
IDS = [f"{name} {' '.join(options)}" for name, options, _ in METRICS]
COUNTING = ["dice", "hamming", "jaccard", "rogerstanimoto", "russellrao", "yule"]


def has(name: str, options: dict[str, Any]) -> bool:
    """Whether this release of SciPy takes the options."""
    try:
        ssd.cdist(A, B, name, **options)
    except (TypeError, ValueError):
        return False
    return True


@pytest.mark.parametrize(("name", "options", "formula"), METRICS, ids=IDS)
def test_derivatives(name: str, options: dict[str, Any], formula: Any) -> None:
    if not has(name, options):
        pytest.skip("not in this release of SciPy")
    w = {"w": W} if "w" in options else {}

    def row(t: Any) -> Any:
        return [a + t * d for a, d in zip(A[0].tolist(), D[0].tolist(), strict=True)]

    assert_orders(
        lambda t: distance.cdist(A + t * D, B, name, **options)[0, 1],
        lambda t: formula(row(t), B[1].tolist(), **w),
        0.0,
        0.0625,
    )
    X = np.concatenate([A, B])
    along = np.concatenate([D, 0 * B])
    assert_orders(
        lambda t: distance.pdist(X + t * along, name, **options)[2],
        lambda t: formula(row(t), B[1].tolist(), **w),
        0.0,
        0.0625,
    )


@pytest.mark.parametrize(("name", "options"), [row[:2] for row in METRICS] + [("mahalanobis", {}), ("seuclidean", {})])
def test_values(name: str, options: dict[str, Any]) -> None:
    """Plain calls are SciPy's; traced ones are to rounding, and by the functions of two vectors, adopted."""
    if not has(name, options):
        pytest.skip("not in this release of SciPy")
    X = np.concatenate([A, B])
    if name == "mahalanobis" and not options:
        np.testing.assert_allclose(hoad.jvp(lambda x: distance.pdist(x, name), (X,), (X,))[0], ssd.pdist(X, name))
        return
    for f, own, args in ((distance.cdist, ssd.cdist, (A, B)), (distance.pdist, ssd.pdist, (X,))):
        assert_same(f(*args, name, **options), own(*args, name, **options))
        found = hoad.jvp(lambda x, f=f, args=args: f(x, *args[1:], name, **options), args[:1], args[:1])[0]
        np.testing.assert_allclose(found, own(*args, name, **options), rtol=1e-13)
    if options or name != "seuclidean":
        single = getattr(ssd, name)
        by_one = hoad.grad(hoad.adopt(lambda u: single(u, B[1], **options)))(A[0])
        by_all = hoad.grad(lambda u: distance.cdist(u[None], B, name, **options)[0, 1])(A[0])
        np.testing.assert_allclose(by_one, by_all, rtol=1e-12, atol=1e-14)


def test_defaults_depend_on_all_points() -> None:
    """The variances, as the formula has them."""
    X = np.concatenate([A, B])
    found = hoad.grad(lambda x: np.sum(distance.pdist(x, "seuclidean")))(X)
    i, j = np.triu_indices(len(X), 1)
    wanted = hoad.grad(lambda x: np.sum(np.sqrt(np.sum((x[i] - x[j]) ** 2 / np.var(x, 0, ddof=1), 1))))(X)
    np.testing.assert_allclose(found, wanted, atol=1e-13)


@pytest.mark.parametrize("name", ["euclidean", "minkowski", "chebyshev", "seuclidean", "mahalanobis", "jensenshannon"])
def test_points_that_are_the_same(name: str) -> None:
    """A norm has the derivative 0 there, as np.linalg.norm has."""
    options = {"seuclidean": {"V": W}, "mahalanobis": {"VI": VI}}.get(name, {})
    found = hoad.grad(lambda x: np.sum(distance.cdist(x, A[:1], name, **options)))(A[:1])
    np.testing.assert_array_equal(found, np.zeros((1, 3)))


def test_squares_of_distances_are_smooth() -> None:
    found = hoad.hessian(lambda x: distance.cdist(x[None], A[:1])[0, 0] ** 2)(A[0])
    np.testing.assert_allclose(found, 2 * np.eye(3), atol=1e-15)


@pytest.mark.parametrize("name", COUNTING)
def test_what_counts_has_no_derivative(name: str) -> None:
    with pytest.raises(NoRuleError, match="constant almost everywhere"):
        hoad.jvp(lambda x: distance.cdist(x > 0.5, B > 0.5, name) + 0 * distance.cdist(x, B, name), (A,), (A,))


def test_a_metric_of_the_users() -> None:
    def metric(u: Any, v: Any) -> Any:
        return np.sum((u - v) ** 4)

    assert_same(distance.pdist(B, metric), ssd.pdist(B, metric))
    found = hoad.jvp(lambda x: (distance.cdist(x, B, metric), distance.pdist(x, metric)), (A,), (D,))
    np.testing.assert_allclose(found[0][0], ssd.cdist(A, B, metric))
    np.testing.assert_allclose(found[1][1], [4 * np.sum((A[0] - A[1]) ** 3 * (D[0] - D[1]))])


def test_out_is_refused() -> None:
    with pytest.raises(NoRuleError, match="with out="):
        hoad.jvp(lambda x: distance.cdist(x, B, out=np.zeros((2, 4))), (A,), (D,))


def test_squareform() -> None:
    d = np.array([2.0, 3.0, 4.0])
    assert_same(distance.squareform(d), ssd.squareform(d))
    there = hoad.jvp(distance.squareform, (d,), (d,))
    back = hoad.jvp(distance.squareform, (there[0],), (there[1],))
    for x in there:
        assert_same(x, ssd.squareform(d))
    for x in back:
        assert_same(x, d)
    with pytest.raises(ValueError, match="Incompatible vector size"):
        hoad.jvp(distance.squareform, (d[:2],), (d[:2],))


def test_adopted_code_finds_them() -> None:
    def f(x: Any) -> Any:
        return np.sum(ssd.squareform(ssd.pdist(x)) + ssd.cdist(x, x))

    np.testing.assert_allclose(hoad.grad(hoad.adopt(f))(B), 2 * hoad.grad(lambda x: 2 * np.sum(distance.pdist(x)))(B))
