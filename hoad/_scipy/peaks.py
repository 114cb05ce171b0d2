"""Peaks of signals: `scipy.signal.find_peaks`. Where they are is guarded, and what is told of them differentiated."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.signal

from hoad._core.trace.coerce import holds_traced
from hoad._core.trace.traced import plain_value
from hoad._numpy.products import inexact
from hoad._numpy.registry import decided
from hoad._scipy.registry import implements, refused
from hoad.rules.registry import primitive

# What SciPy tells of peaks, and how it follows from the signal.
HEIGHTS = ("peak_heights", "left_thresholds", "right_thresholds")
PROMINENCES = ("prominences", "left_bases", "right_bases")


@primitive(shape=lambda x, **_: (x.shape, np.dtype(bool)))
def is_peak(x: Any, *, options: tuple[tuple[str, Any], ...]) -> Any:
    mask = np.zeros(x.shape, bool)
    mask[scipy.signal.find_peaks(x, **dict(options))[0]] = True
    return mask


@primitive(shape=lambda x, *, peaks, options: ((2, len(peaks)), np.dtype(np.int64)))
def bases(x: Any, *, peaks: tuple[int, ...], options: tuple[tuple[str, Any], ...]) -> Any:
    found = scipy.signal.find_peaks(x, **dict(options))[1]
    return np.stack([found["left_bases"], found["right_bases"]]).astype(np.int64)


@implements(scipy.signal.find_peaks)
def find_peaks(x: Any, **options: Any) -> tuple[Any, dict[str, Any]]:
    """The peaks, as plain integers, which are guarded; with their heights, thresholds and prominences, where asked for.

    Notes
    -----
    Cost: SciPy's search at each replay.

    Examples
    --------
    >>> from hoad.scipy import signal
    >>> def highest(x):
    ...     peaks, _ = signal.find_peaks(x)
    ...     return np.max(x[peaks])
    >>> hoad.grad(highest)(np.array([0.0, 1.0, 0.5, 3.0, 2.0]))
    array([0., 0., 0., 1., 0.])
    """
    x = inexact(x)
    if holds_traced(list(options.values())):
        raise refused(
            "find_peaks", "by its conditions", "They decide what is a peak: pass plain numbers.", "scipy.signal"
        )
    given = tuple((name, value if np.ndim(value) == 0 else tuple(value)) for name, value in options.items())
    told = scipy.signal.find_peaks(plain_value(x), **options)[1]
    unknown = told.keys() - {*HEIGHTS, *PROMINENCES}
    if unknown:
        raise refused(
            "find_peaks", f"with {', '.join(sorted(unknown))}", "Leave out width= and plateau_size=.", "scipy.signal"
        )
    peaks = np.flatnonzero(decided(is_peak(x, options=given)))
    if "peak_heights" in told:
        told["peak_heights"] = x[peaks]
    if "left_thresholds" in told:
        told["left_thresholds"], told["right_thresholds"] = x[peaks] - x[peaks - 1], x[peaks] - x[peaks + 1]
    if "prominences" in told:
        left, right = decided(bases(x, peaks=tuple(peaks.tolist()), options=given))
        told["prominences"] = x[peaks] - np.maximum(x[left], x[right])
        told["left_bases"], told["right_bases"] = left, right
    return peaks, told
