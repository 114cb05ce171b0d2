"""scipy.spatial.distance: distances by their points, weights and parameters."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from covered.scipy_calls import Call, of

U = np.array([0.4, 1.3, 0.2])
V = np.array([0.9, 0.3, 1.6])
W = np.array([0.5, 1.5, 2.0])
VI = np.array([[2.0, 0.5, 0.1], [0.5, 1.0, 0.2], [0.1, 0.2, 3.0]])
A = np.array([[0.4, 1.3, 0.2], [1.1, 0.5, 0.9]])
B = np.array([[0.9, 0.3, 1.6], [0.25, 0.75, 0.5], [1.2, 1.4, 0.1], [0.1, 0.8, 2.0]])
D = "spatial.distance."
COUNTING = ("dice", "hamming", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath", "yule")
COUNTS = "It counts entries."


def _metrics() -> Iterator[Call]:
    for name in ("braycurtis", "canberra", "cityblock", "correlation", "cosine", "euclidean", "sqeuclidean"):
        yield from of(D + name, {"u": U, "v": V, "w": W}, D="u v w")
    yield from of(D + "chebyshev", {"u": U, "v": V}, D="u v")
    yield from of(D + "jensenshannon", {"p": U, "q": V, "base": 2.5}, D="p q base")
    yield from of(D + "mahalanobis", {"u": U, "v": V, "VI": VI}, D="u v VI")
    yield from of(D + "minkowski", {"u": U, "v": V, "p": 2.5, "w": W}, D="u v p w")
    yield from of(D + "seuclidean", {"u": U, "v": V, "V": W}, D="u v V")
    for name in COUNTING:
        yield from of(D + name, {"u": U, "v": V}, call=lambda f, u, v: f(u > 0.5, v > 0.5), C="u v", note=COUNTS)
    for metric in ("euclidean", "cosine", "mahalanobis"):
        more = {"VI": VI} if metric == "mahalanobis" else {}
        yield from of(
            D + "cdist",
            {"XA": A, "XB": B},
            call=lambda f, a, b, m=metric, o=more: f(a, b, m, **o),
            D="XA XB",
            tag=f"metric='{metric}'",
        )
        yield from of(
            D + "pdist", {"X": B}, call=lambda f, x, m=metric, o=more: f(x, m, **o), D="X", tag=f"metric='{metric}'"
        )
    yield from of(
        D + "cdist", {"XA": A, "XB": B, "w": W}, call=lambda f, a, b, w: f(a, b, "minkowski", p=2.5, w=w), D="w"
    )
    yield from of(D + "cdist", {"XA": A, "XB": B, "p": 2.5}, call=lambda f, a, b, p: f(a, b, "minkowski", p=p), N="p")
    yield from of(D + "pdist", {"X": B, "w": W}, call=lambda f, x, w: f(x, "minkowski", p=2.5, w=w), D="w")
    yield from of(D + "pdist", {"X": B, "VI": VI}, call=lambda f, x, w: f(x, "mahalanobis", VI=w), D="VI")
    yield from of(D + "pdist", {"X": B, "V": W}, call=lambda f, x, w: f(x, "seuclidean", V=w), D="V")
    for name in COUNTING:
        yield from of(
            D + "cdist", {"XA": A}, call=lambda f, a, n=name: f(a, B, n), I="XA", tag=f"metric='{name}'", note=COUNTS
        )
    yield from of(D + "squareform", {"X": np.array([2.0, 3.0, 4.0])}, D="X")
    yield from of(D + "directed_hausdorff", {"u": A, "v": B}, call=lambda f, u, v: f(u, v)[0], N="u v")
    square = np.array([[0.0, 2.0], [2.0, 0.0]])
    yield from of(D + "is_valid_dm", {"D": square}, C="D")
    yield from of(D + "is_valid_y", {"y": U}, S="y")
    yield from of(D + "num_obs_dm", {"d": square}, S="d")
    yield from of(D + "num_obs_y", {"Y": U}, S="Y")


ROWS = list(_metrics())
LEFT: dict[str, str] = {}
