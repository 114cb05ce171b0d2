"""Distances of points, between two sets or within one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.spatial.distance

from hoad._numpy.products import inexact
from hoad._numpy.registry import as_traced
from hoad._scipy.registry import implements, refused

ALIASES = {
    "braycurtis": (),
    "canberra": (),
    "chebyshev": ("chebychev", "cheby", "cheb", "ch"),
    "cityblock": ("cblock", "cb", "c"),
    "correlation": ("co",),
    "cosine": ("cos",),
    "euclidean": ("euclid", "eu", "e"),
    "jensenshannon": ("js",),
    "mahalanobis": ("mahal", "mah"),
    "minkowski": ("mi", "m", "pnorm"),
    "seuclidean": ("se", "s"),
    "sqeuclidean": ("sqe", "sqeuclid"),
}
NAMES = {alias: name for name, others in ALIASES.items() for alias in (name, *others)}


def _norm(d: Any, p: Any = None) -> Any:
    """A norm of differences along the last axis, with the subgradient 0 where all of them are 0."""
    return np.linalg.norm(d, p, -1)


def _root(q: Any) -> Any:
    """√q, with the derivative 0 at 0, as of a norm."""
    inside = q > 0.0
    return np.where(inside, np.sqrt(np.where(inside, q, 1.0)), 0.0)


def _ratio(a: Any, b: Any) -> Any:
    """a / b, where 0 / 0 is 0."""
    return np.where(b == 0.0, 0.0, a / np.where(b == 0.0, 1.0, b))


def _entropy(p: Any, q: Any) -> Any:
    """p log(p / q), which is 0 at p = 0."""
    inside = p > 0.0
    return np.where(inside, p * np.log(np.where(inside, p, 1.0) / np.where(inside, q, 1.0)), 0.0)


def _weighted(x: Any, w: Any) -> Any:
    return x if w is None else w * x


def _minkowski(u: Any, v: Any, p: Any = 2, w: Any = None, **_: Any) -> Any:
    d = u - v
    if w is not None:
        d = d * (w != 0.0 if p == np.inf else w ** (1.0 / p))
    return _norm(d, p)


def _chebyshev(u: Any, v: Any, w: Any = None, **_: Any) -> Any:
    return _norm(u - v if w is None else (w > 0.0) * (u - v), np.inf)


def _cosine(u: Any, v: Any, w: Any = None, **_: Any) -> Any:
    inner = np.sum(_weighted(u * v, w), -1)
    return 1.0 - inner / np.sqrt(np.sum(_weighted(u * u, w), -1) * np.sum(_weighted(v * v, w), -1))


def _correlation(u: Any, v: Any, w: Any = None, **_: Any) -> Any:
    def centred(x: Any) -> Any:
        return x - (np.mean(x, -1) if w is None else np.sum(w * x, -1) / np.sum(w))[..., None]

    return _cosine(centred(u), centred(v), w)


def _braycurtis(u: Any, v: Any, w: Any = None, **_: Any) -> Any:
    return np.sum(_weighted(abs(u - v), w), -1) / np.sum(_weighted(abs(u + v), w), -1)


def _canberra(u: Any, v: Any, w: Any = None, **_: Any) -> Any:
    return np.sum(_weighted(_ratio(abs(u - v), abs(u) + abs(v)), w), -1)


def _mahalanobis(u: Any, v: Any, VI: Any = None, **_: Any) -> Any:
    d = u - v
    return _root(np.sum((d @ VI) * d, -1))


def _jensenshannon(u: Any, v: Any, base: Any = None, **_: Any) -> Any:
    p, q = (x / np.sum(x, -1)[..., None] for x in (u, v))
    m = 0.5 * (p + q)
    found = np.sum(_entropy(p, m) + _entropy(q, m), -1)
    return _root(0.5 * (found if base is None else found / np.log(base)))


METRICS: dict[str, Callable[..., Any]] = {
    "braycurtis": _braycurtis,
    "canberra": _canberra,
    "chebyshev": _chebyshev,
    "cityblock": lambda u, v, w=None, **_: np.sum(_weighted(abs(u - v), w), -1),
    "correlation": _correlation,
    "cosine": _cosine,
    "euclidean": _minkowski,
    "jensenshannon": _jensenshannon,
    "mahalanobis": _mahalanobis,
    "minkowski": _minkowski,
    "seuclidean": lambda u, v, V, **_: _norm((u - v) / np.sqrt(V)),
    "sqeuclidean": lambda u, v, w=None, **_: np.sum(_weighted((u - v) ** 2, w), -1),
}


def _metric(called: str, metric: Any, points: Any, options: dict[str, Any]) -> tuple[Callable[..., Any], Any]:
    """A metric along the last axis, with its options; of all points, what some options are by default."""
    word = getattr(metric, "__name__", "") if callable(metric) else metric
    if callable(metric) and getattr(scipy.spatial.distance, word, None) is not metric:
        return metric, options
    name = NAMES.get(str(word).lower().removeprefix("test_"))
    if name is None:
        raise refused(
            called,
            f"by {word!r}, which counts items that are equal or true, and so is constant almost everywhere,",
            "Give it hoad.value(x), or take a metric of real numbers.",
            "scipy.spatial.distance",
        )
    options = {key: x if np.ndim(x) == 0 else as_traced(x) for key, x in options.items() if x is not None}
    if name == "seuclidean" and "V" not in options:
        options["V"] = np.var(points(), axis=0, ddof=1)
    if name == "mahalanobis" and "VI" not in options:
        options["VI"] = np.linalg.inv(np.atleast_2d(np.cov(points().T))).T
    return METRICS[name], options


def _one_by_one(metric: Callable[..., Any], pairs: Any, options: dict[str, Any]) -> Any:
    """A user's metric, which takes two vectors."""
    return np.stack([as_traced(metric(u, v, **options)) for u, v in pairs])


def _checked(called: str, out: Any) -> None:
    if out is not None:
        raise refused(called, "with out=", "Use what it returns.", "scipy.spatial.distance")


@implements(scipy.spatial.distance.cdist)
def cdist(XA: Any, XB: Any, metric: Any = "euclidean", *, out: Any = None, kwargs: dict[str, Any] | None = None) -> Any:
    """The distance of each of some points from each of others.

    Where two points are the same, norms of their difference have derivative 0, as np.linalg.norm has.

    Notes
    -----
    Cost: arrays of the size m n d of all differences.

    Examples
    --------
    >>> from hoad.scipy.spatial import distance
    >>> a, b = np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]])
    >>> hoad.grad(lambda a: distance.cdist(a, b)[0, 0])(a)
    array([[-0.6, -0.8]])
    """
    _checked("cdist", out)
    a, b = inexact(XA), inexact(XB)
    f, options = _metric("cdist", metric, lambda: np.concatenate([a, b]), kwargs or {})
    if f is metric:
        found = _one_by_one(f, [(u, v) for u in a for v in b], options)
        return np.reshape(found, (a.shape[0], b.shape[0]))
    return f(a[:, None, :], b[None, :, :], **options)


@implements(scipy.spatial.distance.pdist)
def pdist(X: Any, metric: Any = "euclidean", *, out: Any = None, kwargs: dict[str, Any] | None = None) -> Any:
    """The distances of some points from each other, as a vector.

    Where two points are the same, norms of their difference have derivative 0, as np.linalg.norm has.

    Notes
    -----
    Cost: arrays of the size of all differences, n (n - 1) / 2 vectors.

    Examples
    --------
    >>> from hoad.scipy.spatial import distance
    >>> hoad.grad(lambda x: distance.pdist(x)[0])(np.array([[0.0, 0.0], [3.0, 4.0]]))
    array([[-0.6, -0.8],
           [ 0.6,  0.8]])
    """
    _checked("pdist", out)
    x = inexact(X)
    f, options = _metric("pdist", metric, lambda: x, kwargs or {})
    i, j = np.triu_indices(x.shape[0], 1)
    if f is metric:
        return _one_by_one(f, [(x[a], x[b]) for a, b in zip(i.tolist(), j.tolist(), strict=True)], options)
    return f(x[i], x[j], **options)


@implements(scipy.spatial.distance.squareform)
def squareform(X: Any, force: str = "no", checks: bool = True) -> Any:
    """A vector of distances as a symmetric matrix, or the other way round.

    Of a matrix, what stands above the diagonal is read.

    Notes
    -----
    Cost: a pass over the items.

    Examples
    --------
    >>> from hoad.scipy.spatial import distance
    >>> hoad.grad(lambda d: distance.squareform(d)[1, 0])(np.array([2.0, 3.0, 4.0]))
    array([1., 0., 0.])
    """
    x = as_traced(X)
    if x.ndim == 2:
        return x[np.triu_indices(x.shape[0], 1)]
    n = int(np.ceil(np.sqrt(2 * x.size))) if x.size else 1
    if not x.size:
        return np.zeros((1, 1), x.dtype)
    at = np.zeros((n, n), int)
    at[np.triu_indices(n, 1)] = np.arange(x.size)
    return np.where(np.eye(n, dtype=bool), 0.0, x[at + at.T])
