"""Linear filters: recurrences, as loops that are recorded once; and what Whittaker and Henderson's smoother solves."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.signal

from hoad._drivers.scan import scan
from hoad._numpy.products import inexact
from hoad._scipy.compiled import in_place_of, module
from hoad._scipy.registry import common, implements, refused
from hoad._scipy.systems import solveh_banded


@implements(scipy.signal.lfilter)
def lfilter(b: Any, a: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    """x through the filter b / a, along an axis; with zi, its state at the end as well.

    Notes
    -----
    Cost: one loop, of the transposed direct form, which takes as many steps as the axis has items.

    Examples
    --------
    >>> from hoad.scipy import signal
    >>> hoad.grad(lambda x: signal.lfilter([1.0], [1.0, -0.5], x)[2])(np.ones(3))
    array([0.25, 0.5 , 1.  ])
    """
    b, a, x = common(*[inexact(np.atleast_1d(v)) for v in (b, a, x)])
    order = max(a.shape[0], b.shape[0]) - 1
    b, a = (_padded(v, order + 1) / a[0] for v in (b, a))
    rows = np.moveaxis(x, axis, 0)
    like = rows[0] if rows.shape[0] else np.zeros(rows.shape[1:], x.dtype)
    if zi is None:
        state = np.zeros((order, *like.shape), x.dtype) + 0.0 * like
    else:
        state = np.moveaxis(inexact(zi), axis, 0) + 0.0 * like
    column = (slice(None), *[None] * like.ndim)

    def step(z: Any, now: Any) -> tuple[Any, Any]:
        if not order:
            return z, b[0] * now
        y = b[0] * now + z[0]
        moved = np.concatenate([z[1:], 0.0 * z[:1]])
        return moved + b[1:][column] * now - a[1:][column] * y, y

    state, made = scan(step, state, rows)
    made = np.moveaxis(made, 0, axis)
    return made if zi is None else (made, np.moveaxis(state, 0, axis))


def _padded(v: Any, n: int) -> Any:
    return np.concatenate([v, np.zeros(n - v.shape[0], v.dtype)]) if v.shape[0] < n else v


@implements(scipy.signal.sosfilt)
def sosfilt(sos: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    """x through a cascade of filters of the second order, along an axis; with zi, their states at the end as well.

    Notes
    -----
    Cost: one loop for each of the filters.

    Examples
    --------
    >>> from hoad.scipy import signal
    >>> hoad.grad(lambda x: signal.sosfilt([[1.0, 0.0, 0.0, 1.0, -0.5, 0.0]], x)[2])(np.ones(3))
    array([0.25, 0.5 , 1.  ])
    """
    sos, x = inexact(sos), inexact(x)
    states = []
    for k in range(sos.shape[0]):
        if zi is None:
            x = lfilter(sos[k, :3], sos[k, 3:], x, axis)
        else:
            x, state = lfilter(sos[k, :3], sos[k, 3:], x, axis, inexact(zi)[k])
            states.append(state)
    return x if zi is None else (x, np.stack(states))


@in_place_of(module("scipy.signal._whittaker"), "_solveh_banded")
def _smoothed(ab: Any, b: Any, calc_logdet: bool = False) -> Any:
    """The solution of the equations of `whittaker_henderson`, no determinant, and 0, as there is no error."""
    if calc_logdet:
        raise refused("whittaker_henderson", 'with lamb="reml"', "Give it the lamb that SciPy finds.", "scipy.signal")
    return solveh_banded(ab, b, lower=True), 0.0, 0
