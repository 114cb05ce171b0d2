"""Derivatives of Fourier transforms.

The matrix of a transform is symmetric, so its adjoint is the same transform. The transform of a real array returns half
of the frequencies; the others are conjugates of these, which therefore count twice.
"""

import numpy as np

from hoad._numpy.fft import OTHER_WAY
from hoad._ops import primitives as prim
from hoad.rules.registry import vjp


def _inner(g, n, axis, weight):
    """g with `weight` on the frequencies that have a conjugate of their own among the n: all but 0 and n/2."""
    weights = np.full(n // 2 + 1, weight, prim.real_dtype(g.dtype))
    weights[[0, n // 2] if n % 2 == 0 else 0] = 1.0
    return g * weights.reshape(tuple(-1 if d == axis else 1 for d in range(g.ndim)))


def _rfft(g, p, x, axis, norm):
    n = x.shape[axis]
    return (np.fft.irfft(np.conjugate(_inner(g, n, axis, 0.5)), n, axis, OTHER_WAY[norm]),)


def _irfft(g, p, x, n, axis, norm):
    return (_inner(np.conjugate(np.fft.rfft(g, n, axis, OTHER_WAY[norm])), n, axis, 2.0),)


vjp(prim.FFT, lambda g, p, x, axes, norm: (np.fft.fftn(g, axes=axes, norm=norm),))
vjp(prim.IFFT, lambda g, p, x, axes, norm: (np.fft.ifftn(g, axes=axes, norm=norm),))
vjp(prim.RFFT, _rfft)
vjp(prim.IRFFT, _irfft)
