"""np.fft: four transforms, with padding and cropping before them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hoad._core.graph.primitive import Primitive
from hoad._core.trace.calls import apply_primitive
from hoad._numpy.complex import complexed, conjugate, is_complex
from hoad._numpy.creation import concatenate
from hoad._numpy.rearranging import roll
from hoad._numpy.registry import as_array, as_traced, implements, normal_axis, only_defaults
from hoad._ops import primitives as prim
from hoad.errors import ShapeError

# The norm that divides the inverse by what the transform is divided by.
OTHER_WAY: dict[str, Any] = {"backward": "forward", "ortho": "ortho", "forward": "backward"}


def _norm(norm: Any) -> str:
    norm = "backward" if norm is None else norm
    if norm not in OTHER_WAY:
        raise ValueError(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".')
    return str(norm)


def _sized(x: Any, n: int, axis: int) -> Any:
    """x cropped, or padded with zeros, to n items along an axis."""
    if n < 1:
        raise ValueError(f"Invalid number of FFT data points ({n}) specified.")
    before = (slice(None),) * axis
    if n <= x.shape[axis]:
        return x[(*before, slice(n))] if n < x.shape[axis] else x
    shape = (*x.shape[:axis], n - x.shape[axis], *x.shape[axis + 1 :])
    return concatenate([x, np.zeros(shape, x.dtype)], axis)


def _real(name: str, x: Any) -> Any:
    x = as_traced(x)
    if is_complex(x):
        raise TypeError(f"np.fft.{name} takes real numbers, not {x.dtype}. Use np.fft.fft, or np.real.")
    return x if x.dtype.kind == "f" else x.astype(np.float64)


def _sizes(x: Any, s: Any, axes: Any) -> tuple[list[int], list[int]]:
    """(lengths, axes) of a transform over several axes, as NumPy reads them."""
    if axes is None:
        axes = range(x.ndim) if s is None else range(x.ndim - len(s), x.ndim)
    axes = [normal_axis(a, x.ndim) for a in axes]
    lengths = [-1] * len(axes) if s is None else [operator.index(n) for n in s]
    if len(lengths) != len(axes):
        raise ValueError("Shape and axes have different lengths.")
    return [x.shape[a] if n == -1 else n for n, a in zip(lengths, axes, strict=True)], axes


def _over(primitive: Primitive, x: Any, lengths: Sequence[int], axes: Sequence[int], norm: str) -> Any:
    """Transforms over several axes, the last first; one that is given twice is transformed twice."""
    if len(set(axes)) < len(axes):
        for n, axis in zip(reversed(lengths), reversed(axes), strict=True):
            x = _over(primitive, x, [n], [axis], norm)
        return x
    for n, axis in zip(lengths, axes, strict=True):
        x = _sized(x, n, axis)
    return apply_primitive(primitive, (tuple(axes), norm), x) if axes else x


def _declare(primitive: Primitive, name: str) -> None:
    """``fft``, ``fft2`` and ``fftn``, or their inverses."""

    def one(a: Any, n: int | None = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
        if out is not None:
            only_defaults(f"fft.{name}", out=out)
        x = complexed(as_traced(a))
        axis = normal_axis(axis, x.ndim)
        return _over(primitive, x, [x.shape[axis] if n is None else operator.index(n)], [axis], _norm(norm))

    def several(a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None) -> Any:
        only_defaults(f"fft.{name}n", out=out)
        lengths, axes = _sizes(as_array(a), s, axes)
        return _over(primitive, complexed(as_traced(a)), lengths, axes, _norm(norm)) if axes else as_array(a)

    implements(getattr(np.fft, name))(one)
    implements(getattr(np.fft, f"{name}n"))(several)
    implements(getattr(np.fft, f"{name}2"))(_plane(several))


def _plane(several: Callable[..., Any]) -> Callable[..., Any]:
    """Over two axes, the last ones."""
    return lambda a, s=None, axes=(-2, -1), norm=None, out=None: several(a, s, axes, norm, out)


_declare(prim.FFT, "fft")
_declare(prim.IFFT, "ifft")


# ---- of real arrays -------------------------------------------------------------------------------------------------


def _half(x: Any, n: int, axis: int, norm: str) -> Any:
    return apply_primitive(prim.RFFT, (axis, norm), _sized(x, n, axis))


def _whole(x: Any, n: int, axis: int, norm: str) -> Any:
    if n < 1:
        raise ValueError(f"Invalid number of FFT data points ({n}) specified.")
    return apply_primitive(prim.IRFFT, (n, axis, norm), _sized(x, n // 2 + 1, axis))


@implements(np.fft.rfft)
def rfft(a: Any, n: int | None = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    only_defaults("fft.rfft", out=out)
    x = _real("rfft", a)
    axis = normal_axis(axis, x.ndim)
    return _half(x, x.shape[axis] if n is None else operator.index(n), axis, _norm(norm))


@implements(np.fft.irfft)
def irfft(a: Any, n: int | None = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    only_defaults("fft.irfft", out=out)
    x = complexed(as_traced(a))
    axis = normal_axis(axis, x.ndim)
    return _whole(x, 2 * (x.shape[axis] - 1) if n is None else operator.index(n), axis, _norm(norm))


@implements(np.fft.rfftn)
def rfftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None) -> Any:
    only_defaults("fft.rfftn", out=out)
    x = _real("rfftn", a)
    lengths, axes = _sizes(x, s, axes)
    if not axes:
        raise ShapeError("np.fft.rfftn needs at least one axis to transform over.")
    x = _half(x, lengths[-1], axes[-1], _norm(norm))
    return _over(prim.FFT, x, lengths[:-1], axes[:-1], _norm(norm))


@implements(np.fft.irfftn)
def irfftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None) -> Any:
    only_defaults("fft.irfftn", out=out)
    x = complexed(as_traced(a))
    lengths, axes = _sizes(x, s, axes)
    if not axes:
        raise ShapeError("np.fft.irfftn needs at least one axis to transform over.")
    last = 2 * (x.shape[axes[-1]] - 1) if s is None else lengths[-1]
    x = _over(prim.IFFT, x, lengths[:-1], axes[:-1], _norm(norm))
    return _whole(x, last, axes[-1], _norm(norm))


implements(np.fft.rfft2)(_plane(rfftn))
implements(np.fft.irfft2)(_plane(irfftn))


@implements(np.fft.hfft)
def hfft(a: Any, n: int | None = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    return irfft(conjugate(complexed(as_traced(a))), n, axis, OTHER_WAY[_norm(norm)], out)


@implements(np.fft.ihfft)
def ihfft(a: Any, n: int | None = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    return conjugate(rfft(_real("ihfft", a), n, axis, OTHER_WAY[_norm(norm)], out))


# ---- zero frequency in the middle -----------------------------------------------------------------------------------


def _shifted(x: Any, axes: Any, shift: Callable[[int], int]) -> Any:
    x = as_traced(x)
    axes = range(x.ndim) if axes is None else axes if isinstance(axes, (tuple, list)) else (axes,)
    return roll(x, tuple(shift(x.shape[a]) for a in axes), tuple(axes))


@implements(np.fft.fftshift)
def fftshift(x: Any, axes: Any = None) -> Any:
    return _shifted(x, axes, lambda n: n // 2)


@implements(np.fft.ifftshift)
def ifftshift(x: Any, axes: Any = None) -> Any:
    return _shifted(x, axes, lambda n: -(n // 2))
