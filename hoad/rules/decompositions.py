"""Derivatives of the factors of matrices, on stacks of matrices.

A symmetric matrix stands for its symmetric part: `cholesky` and `eigh` read one triangle, and have symmetric adjoints.

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

import numpy as np

from hoad import primitive as prim
from hoad._core.calls import apply_primitive
from hoad._core.ufuncs import select
from hoad.rules.registry import vjp


def _t(a):
    return np.swapaxes(a, -1, -2)


def _symmetric(a):
    return 0.5 * (a + _t(a))


def _lower_half(a):
    """The lower triangle with half the diagonal: what added to its transpose gives a symmetric a."""
    n = a.shape[-1]
    return a * (np.tri(n, dtype=a.dtype) - 0.5 * np.eye(n, dtype=a.dtype))


def _gaps(w, size):
    """wⱼ - wᵢ, or nan where rounding hides the difference; ∞ on the diagonal, so that its reciprocal is 0."""
    n = w.shape[-1]
    gap = w[..., None, :] - w[..., :, None] + np.where(np.eye(n, dtype=bool), np.inf, 0.0).astype(w.dtype)
    rounding = np.max(np.abs(w), axis=-1)[..., None, None] * float(size * np.finfo(w.dtype).eps)
    return gap * select(np.less_equal(np.abs(gap), rounding), np.nan, 1.0).astype(w.dtype)


def _cholesky(g, p, x):
    """p⁻ᵀ Φ(pᵀ g) p⁻¹ with Φ the lower half, symmetric; the inverse serves all directions and orders."""
    inverse = np.linalg.inv(p)
    return (_symmetric(_t(inverse) @ _lower_half(_t(p) @ g) @ inverse),)


def _eigh(g, p, x, uplo):
    """V (diag(w̄) + (Vᵀ V̄)ᵢⱼ / (wⱼ - wᵢ)) Vᵀ."""
    if x.size == 0:
        return (None,)
    w, v = p
    turned = _t(v) @ g[1] / _gaps(w, w.shape[-1])
    return (_symmetric((v * g[0][..., None, :] + v @ turned) @ _t(v)),)


def _svd(g, p, x):
    """U (diag(s̄) + (J + Jᵀ) S + S (K + Kᵀ)) Vᵀ, and what lies outside of the spaces of U and V."""
    if x.size == 0:
        return (None,)
    (u, s, vh), (u_bar, s_bar, vh_bar) = p, g
    *_, m, n = x.shape
    column, row = s[..., :, None], s[..., None, :]
    gap, both = _gaps(s, max(m, n)), row + column
    turned_u, turned_v = _t(u) @ u_bar / gap / both, vh @ _t(vh_bar) / gap / both
    inside = (turned_u + _t(turned_u)) * row + (turned_v + _t(turned_v)) * column
    x_bar = (u * s_bar[..., None, :] + u @ inside) @ vh
    if m > n:
        outside = u_bar / row
        x_bar = x_bar + (outside - u @ (_t(u) @ outside)) @ vh
    if n > m:
        outside = vh_bar / column
        x_bar = x_bar + u @ (outside - (outside @ _t(vh)) @ vh)
    return (x_bar,)


def _qr(g, p, x):
    """(Q̄ + Q (M + Mᵀ)) R⁻ᵀ with M the lower half of R R̄ᵀ - Q̄ᵀ Q."""
    (q, r), (q_bar, r_bar) = p, g
    m = _lower_half(r @ _t(r_bar) - _t(q_bar) @ q)
    return ((q_bar + q @ (m + _t(m))) @ _t(np.linalg.inv(r)),)


def _pinv(g, p, x, rcond):
    """-pᵀ g pᵀ + (I - x p) gᵀ p pᵀ + pᵀ p gᵀ (I - p x), where the rank does not change."""
    left, right = _t(g) @ p @ _t(p), _t(p) @ p @ _t(g)
    return (-_t(p) @ g @ _t(p) + (left - x @ (p @ left)) + (right - (right @ p) @ x),)


def _lstsq(g, p, x, y, rcond):
    """p = x⁺ y, where the rank does not change: as `_pinv`, without forming x⁺."""
    def solved(a, b):
        return apply_primitive(prim.LSTSQ, (rcond,), a, b)

    y_bar = solved(_t(x), g)
    x_bar = (y - x @ p) @ _t(solved(x, y_bar)) - y_bar @ _t(p) + solved(_t(x), p) @ _t(g - solved(x, x @ g))
    return x_bar, y_bar


vjp(prim.CHOLESKY, _cholesky)
vjp(prim.EIGH, _eigh)
vjp(prim.SVD, _svd)
vjp(prim.QR, _qr)
vjp(prim.PINV, _pinv)
vjp(prim.LSTSQ, _lstsq)
