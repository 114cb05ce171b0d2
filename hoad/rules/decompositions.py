"""Derivatives of the factors of matrices, on stacks of matrices.

A symmetric matrix stands for its symmetric part: `cholesky` and `eigh` read one triangle, and have symmetric adjoints;
so with a Hermitian one. The vectors of complex matrices have phases that the matrix does not say: they are held still.

References
----------
Giles, M. B. (2008). An extended collection of matrix derivative results for forward and reverse mode algorithmic
differentiation. Report NA-08/01, Oxford: sections 3.1 (eigenvalues), 3.2 (singular values).
Murray, I. (2016). Differentiation of the Cholesky decomposition. arXiv:1602.07527.
Townsend, J. (2016). Differentiating the singular value decomposition. Technical note.
Walter, S. F., and Lehmann, L. (2012). Algorithmic differentiation of linear algebra functions with application in
optimum experimental design. arXiv:1001.1654: QR.
Golub, G. H., and Pereyra, V. (1973). The differentiation of pseudo-inverses and nonlinear least squares problems whose
variables separate. SIAM J. Numer. Anal. 10: section 4.
"""

import functools

import numpy as np

from hoad import primitive as prim
from hoad._core.calls import apply_primitive
from hoad._core.ufuncs import compose, imag, select
from hoad.adjugates import conjugate_transposed as _h  # aᴴ, which is aᵀ for a real one
from hoad.numpy_protocol.parts import conjugate, is_complex
from hoad.rules.registry import vjp


def _hermitian(rule):
    """A rule for the pairing dL = Re tr(gᴴ dx), in which these are written; that of the sweeps has gᵀ."""

    @functools.wraps(rule)
    def conjugated(g, p, *operands, **parameters):
        g = tuple(map(conjugate, g)) if isinstance(g, tuple) else conjugate(g)
        return tuple(x if x is None else conjugate(x) for x in rule(g, p, *operands, **parameters))

    return conjugated


def _symmetric(a):
    return 0.5 * (a + _h(a))


def _lower_half(a):
    """The lower triangle with half the diagonal: what added to its transpose gives a symmetric (or Hermitian) a."""
    n = a.shape[-1]
    return a * (np.tri(n, dtype=a.dtype) - 0.5 * np.eye(n, dtype=a.dtype))


# Values by LAPACK are off by a small multiple of n ε max|w|: gaps that should be 0 have been found to be 1.3 of it.
HIDDEN = 4


def _gaps(w, size):
    """wⱼ - wᵢ, or nan where rounding hides the difference; ∞ on the diagonal, so that its reciprocal is 0."""
    n = w.shape[-1]
    gap = w[..., None, :] - w[..., :, None] + np.where(np.eye(n, dtype=bool), np.inf, 0.0).astype(w.dtype)
    rounding = np.max(np.abs(w), axis=-1)[..., None, None] * float(HIDDEN * size * np.finfo(w.dtype).eps)
    return gap * select(np.less_equal(np.abs(gap), rounding), np.nan, 1.0).astype(w.dtype)


def _cholesky(g, p, x):
    """p⁻ᴴ Φ(pᴴ g) p⁻¹ with Φ the lower half, symmetric; the inverse serves all directions and orders."""
    inverse = np.linalg.inv(p)
    return (_symmetric(_h(inverse) @ _lower_half(_h(p) @ g) @ inverse),)


def _eigh(g, p, x, uplo):
    """V (diag(w̄) + (Vᴴ V̄)ᵢⱼ / (wⱼ - wᵢ)) Vᴴ."""
    if x.size == 0:
        return (None,)
    w, v = p
    turned = _h(v) @ g[1] / _gaps(w, w.shape[-1])
    return (_symmetric((v * g[0][..., None, :] + v @ turned) @ _h(v)),)


def _svd(g, p, x):
    """U (diag(s̄) + (J + Jᴴ) S + S (K + Kᴴ)) Vᴴ, and what lies outside of the spaces of U and V.

    Between the phases of a pair of complex vectors there is a difference, i Im(Uᴴ dx V) / s, which U takes.
    """
    if x.size == 0:
        return (None,)
    (u, s, vh), (u_bar, s_bar, vh_bar) = p, g
    *_, m, n = x.shape
    column, row = s[..., :, None], s[..., None, :]
    gap, both = _gaps(s, max(m, n)), row + column
    overlap_u = _h(u) @ u_bar
    turned_u, turned_v = overlap_u / gap / both, vh @ _h(vh_bar) / gap / both
    inside = (turned_u + _h(turned_u)) * row + (turned_v + _h(turned_v)) * column
    if is_complex(x):
        inside = inside + compose(0.0, imag(overlap_u) * np.eye(s.shape[-1], dtype=s.dtype) / row)
    x_bar = (u * s_bar[..., None, :] + u @ inside) @ vh
    if m > n:
        outside = u_bar / row
        x_bar = x_bar + (outside - u @ (_h(u) @ outside)) @ vh
    if n > m:
        outside = vh_bar / column
        x_bar = x_bar + u @ (outside - (outside @ _h(vh)) @ vh)
    return (x_bar,)


def _qr(g, p, x):
    """(Q̄ + Q (M + Mᴴ)) R⁻ᴴ with M the lower half of R R̄ᴴ - Q̄ᴴ Q; the diagonal of R is real."""
    (q, r), (q_bar, r_bar) = p, g
    m = _lower_half(r @ _h(r_bar) - _h(q_bar) @ q)
    return ((q_bar + q @ (m + _h(m))) @ _h(np.linalg.inv(r)),)


def _pinv(g, p, x, rcond):
    """-pᴴ g pᴴ + (I - x p) gᴴ p pᴴ + pᴴ p gᴴ (I - p x), where the rank does not change."""
    left, right = _h(g) @ p @ _h(p), _h(p) @ p @ _h(g)
    return (-_h(p) @ g @ _h(p) + (left - x @ (p @ left)) + (right - (right @ p) @ x),)


def _lstsq(g, p, x, y, rcond):
    """p = x⁺ y, where the rank does not change: as `_pinv`, without forming x⁺."""
    def solved(a, b):
        return apply_primitive(prim.LSTSQ, (rcond,), a, b)

    y_bar = solved(_h(x), g)
    x_bar = (y - x @ p) @ _h(solved(x, y_bar)) - y_bar @ _h(p) + solved(_h(x), p) @ _h(g - solved(x, x @ g))
    return x_bar, y_bar


vjp(prim.CHOLESKY, _hermitian(_cholesky))
vjp(prim.EIGH, _hermitian(_eigh))
vjp(prim.SVD, _hermitian(_svd))
vjp(prim.QR, _hermitian(_qr))
vjp(prim.PINV, _hermitian(_pinv))
vjp(prim.LSTSQ, _hermitian(_lstsq))

# Its rule applies it to the tangents, and the rule of that to theirs: series take another way.
prim.LSTSQ.expansion = lambda x, y, rcond: apply_primitive(prim.PINV, (rcond,), x) @ y
