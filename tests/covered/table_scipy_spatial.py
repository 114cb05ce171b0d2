"""scipy.spatial, but for its module of distances."""

from __future__ import annotations

from typing import Any

import numpy as np
from covered.scipy_calls import Call, of

A = np.array([[0.4, 1.3], [1.1, 0.5], [0.2, 0.1]])
B = np.array([[0.9, 0.3], [0.25, 0.75], [1.2, 1.4]])
U, V = np.array([0.6, 0.8]), np.array([0.8, -0.6])
SHAPE = "Which points its facets have depends on values, and compiled code finds them."


def _unit(t: Any) -> Any:
    return np.array([np.cos(t), np.sin(t)])


ROWS: list[Call] = [
    *of("spatial.distance_matrix", {"x": A, "y": B, "p": 2.5}, D="x y p"),
    *of("spatial.minkowski_distance", {"x": A, "y": B, "p": 2.5}, D="x y p"),
    *of("spatial.minkowski_distance_p", {"x": A, "y": B, "p": 2.5}, D="x y p"),
    *of("spatial.procrustes", {"data1": A, "data2": B}, D="data1 data2"),
    *of("spatial.geometric_slerp", {"t": np.array([0.25, 0.75])}, call=lambda f, t: f(U, V, t), D="t"),
    *of(
        "spatial.geometric_slerp",
        {"start": 0.3},
        call=lambda f, s: f(np.stack([np.cos(s), np.sin(s)]), V, [0.25, 0.75]),
        D="start",
    ),
    *of("spatial.KDTree", {"x": U}, call=lambda f, x: f(A).query(x)[0], N="x", tag="of query"),
    *of("spatial.cKDTree", {"x": U}, call=lambda f, x: f(A).query(x)[0], N="x", tag="of query"),
    *of("spatial.ConvexHull", {"points": A}, call=lambda f, x: f(x).volume, N="points", note=SHAPE),
    *of("spatial.Delaunay", {"points": A}, call=lambda f, x: f(x).points, N="points", note=SHAPE),
    *of("spatial.Voronoi", {"points": np.concatenate([A, B])}, call=lambda f, x: f(x).vertices, N="points", note=SHAPE),
    *of(
        "spatial.Rectangle",
        {"x": U},
        call=lambda f, x: f(U + 1, U).min_distance_point(x - 1),
        D="x",
        tag="of min_distance_point",
    ),
]
LEFT = {
    "Compiled geometry": "HalfspaceIntersection SphericalVoronoi tsearch",
    "It draws pictures": "convex_hull_plot_2d delaunay_plot_2d voronoi_plot_2d",
}
