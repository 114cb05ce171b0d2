"""Where something stands: places are nodes without derivative, found again when a program is replayed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hoad._core.base.where import here
from hoad._core.trace.calls import apply_primitive
from hoad._numpy.registry import as_traced, implements, only_defaults, reduced_axes
from hoad._ops import primitives as prim
from hoad.errors import ShapeError


def _place(name: str, primitive: Any) -> Callable[..., Any]:
    def implementation(a: Any, axis: int | None = None, out: Any = None, *, keepdims: Any = False) -> Any:
        only_defaults(name, out=out)
        a = as_traced(a)
        if axis is not None:
            (axis,) = reduced_axes(axis, a.ndim) or (None,)
        if not (a.size if axis is None else a.shape[axis]):
            raise ShapeError(f"np.{name} of an empty array has no place to give ({here()}): its shape is {a.shape}.")
        return apply_primitive(primitive, (axis, keepdims is True), a)

    return implementation


implements(np.argmax, method="argmax")(_place("argmax", prim.ARGMAX))
implements(np.argmin, method="argmin")(_place("argmin", prim.ARGMIN))


@implements(np.searchsorted, method="searchsorted")
def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    only_defaults("searchsorted", sorter=sorter)
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted takes side='left' or 'right', not {side!r}.")
    a = as_traced(a)
    if a.ndim != 1:
        raise ShapeError(f"np.searchsorted takes a sorted vector, but found shape {a.shape} ({here()}).")
    return apply_primitive(prim.SEARCHSORTED, (side,), a, as_traced(v))
