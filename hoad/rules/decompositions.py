"""Derivatives of the factors of matrices, on stacks of matrices.

Only the symmetric (or Hermitian) part of a matrix counts: `cholesky` and `eigh` read one triangle, and have symmetric
adjoints. The vectors of complex matrices have phases that the matrix does not determine; the phases are held constant.
In `eigh` and `svd` that is parallel transport: vᴴ dv has no imaginary part, and further columns U₂ have U₂ᴴ dU₂ = 0.
A function that depends on what is held has no derivative, and its adjoint says so: `determined` raises.

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

from hoad._core.kernels.ufuncs import select
from hoad._core.runtime.spectral import HIDDEN
from hoad._core.trace.calls import apply_primitive
from hoad._numpy.complex import conjugate, is_complex
from hoad._ops import primitives as prim
from hoad._ops.adjugates import conjugate_transposed as _h  # aᴴ, which is aᵀ for a real one
from hoad.errors import NoRuleError
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


def _gaps(w, size):
    """wⱼ - wᵢ, or nan where rounding hides the difference; ∞ on the diagonal, so that its reciprocal is 0."""
    n = w.shape[-1]
    gap = w[..., None, :] - w[..., :, None] + np.where(np.eye(n, dtype=bool), np.inf, 0.0).astype(w.dtype)
    return _known(gap, w, size)


def _known(x, w, size):
    """Values w or differences of them, or nan where rounding hides that they are not 0."""
    rounding = np.max(np.abs(w), axis=-1, keepdims=True) * float(HIDDEN * size * np.finfo(w.dtype).eps)
    rounding = rounding[..., None] if x.ndim > w.ndim else rounding
    return x * select(np.less_equal(np.abs(x), rounding), np.nan, 1.0).astype(w.dtype)


def _cholesky(g, p, x):
    """p⁻ᴴ Φ(pᴴ g) p⁻¹ with Φ the lower half, symmetric; the inverse serves all directions and orders."""
    inverse = np.linalg.inv(p)
    return (_symmetric(_h(inverse) @ _lower_half(_h(p) @ g) @ inverse),)


def _eigh(g, p, x, solver):
    """V (diag(w̄) + (Vᴴ V̄)ᵢⱼ / (wⱼ - wᵢ)) Vᴴ."""
    if x.size == 0:
        return (None,)
    w, v = p
    turned = _h(v) @ g[1] / _gaps(w, w.shape[-1])
    by_values = apply_primitive(prim.SPECTRAL, (prim.NUMBERS, False, False), x, w, g[0][..., None, :], w, v)
    x_bar = by_values + _symmetric(v @ turned @ _h(v))
    if is_complex(x):
        x_bar = x_bar + apply_primitive(prim.DETERMINED, (prim.PHASES_OF_VECTORS,), g[1], v)
    return (x_bar,)


def _eig(g, p, x, is_real, values_alone):
    """With Y = V⁻¹: Yᴴ (diag(w̄) + (Vᴴ H)ᵢⱼ / conj(wⱼ - wᵢ)) Vᴴ, with H = V̄ - V diag(b) - i P diag(c).

    Vectors have the length 1, of which b takes the change away, and their largest component, which P points at, is
    real: that takes c. Each term is divided alone, so that zeros which an index leaves stay strong. An eigenvalue whose
    vectors on the left and on the right are orthogonal but for rounding has no derivative, nor have these: nan.
    """
    if x.size == 0:
        return (None,)
    (w, v), (w_bar, v_bar) = p, g
    n = w.shape[-1]
    y = np.linalg.inv(v)
    eps = float(np.finfo(w.dtype).eps)
    sizes = np.sum(np.real(y * conjugate(y)), axis=-1)
    known = select(np.less(sizes * (n * eps), 1.0), 1.0, np.nan).astype(w.dtype)
    largest = _largest(v)
    overlaps, gaps = _h(v) @ v_bar, conjugate(_complex_gaps(w, n))
    own = np.sum(overlaps * np.eye(n), axis=-2)[..., None, :]
    by_length, by_phase = 0.5 * (own + conjugate(own)), 0.5 * (own - conjugate(own))
    pivots = np.sum(np.real(v) * largest, axis=-2)[..., None, :]
    turned = overlaps / gaps - by_length * (_h(v) @ v / gaps) - by_phase * (_h(v) @ largest / pivots / gaps)
    inside = (turned + w_bar[..., None, :] * np.eye(n)) * known[..., None, :]
    return (_h(y) @ inside.astype(w.dtype) @ _h(v),)


def _largest(v):
    """1 at the component of each vector that LAPACK makes real, the first of the largest, and 0 elsewhere."""
    sizes = np.real(v * conjugate(v))
    rounding = 16.0 * float(np.finfo(v.dtype).eps)
    near = np.greater_equal(sizes, np.max(sizes, axis=-2, keepdims=True) * (1.0 - rounding))
    place = np.argmax(np.logical_and(near, np.equal(np.imag(v), 0.0)).astype(sizes.dtype), axis=-2)
    rows = np.arange(v.shape[-1])[:, None]
    return np.equal(rows, place[..., None, :]).astype(sizes.dtype)


def _complex_gaps(w, size):
    """`_gaps` of complex numbers."""
    n = w.shape[-1]
    gap = w[..., None, :] - w[..., :, None]
    rounding = np.max(np.abs(w), axis=-1)[..., None, None] * float(HIDDEN * size * np.finfo(w.dtype).eps)
    scale = select(np.less_equal(np.abs(gap), rounding), np.nan, 1.0)
    return np.where(np.eye(n, dtype=bool), np.inf, gap * scale).astype(w.dtype)


def _slope(c):
    """The Taylor coefficients of f′ from those of f."""
    return c[..., 1:, :] * np.arange(1.0, c.shape[-2])[:, None].astype(c.dtype)


def _along(whole, parts, count):
    """The rules of V f(w) Vᴴ, or its derivative along directions: symmetric in them and that of the adjoint.

    `whole` is linear in what is known of f, and `parts` gives the weights. The factors have no adjoint: x has.
    """
    linear_sum, sum_weights = prim.LINEAR_SUM_OF[whole], prim.SUM_WEIGHTS_OF[whole]

    def of_whole(g, p, x, reference, c, *rest, known, strong, one):
        factors, directions = rest[:count], rest[count:]

        def pulled(*directions):
            return apply_primitive(whole, (known, strong, one), x, reference, c, *factors, *directions, g)

        by_c = apply_primitive(parts, (bool(known), one), x, reference, *factors, g, *directions)
        others = [pulled(*directions[:i], *directions[i + 1 :]) for i in range(len(directions))]
        return pulled(*directions), None, by_c, *[None] * count, *others

    def of_parts(g, p, x, reference, *rest, known, one):
        factors, directions = rest[:count], rest[count:]

        def pulled(*directions):
            return apply_primitive(whole, (int(known), False, one), x, reference, g, *factors, *directions)

        others = [pulled(*directions[:i], *directions[i + 1 :]) for i in range(len(directions))]
        return pulled(*directions), None, *[None] * count, *others

    def by_matrix(one, by, x, reference, c, *factors, known=prim.SERIES):
        """The derivative of by Σ f(w): that of V f′(w) Vᴴ."""
        f = apply_primitive(whole, (known, False, one), x, _slope(reference), _slope(c), *factors)
        return by[..., None, None] * f

    def of_sum(g, p, x, values, reference, c, *factors, one):
        by_c = apply_primitive(sum_weights, (one,), x, reference, g, *factors)
        return by_matrix(one, g, x, reference, c, *factors, known=prim.ITSELF), None, None, by_c, *[None] * count

    def of_product(g, p, x, values, reference, c, *factors, one):
        by_x = apply_primitive(whole, (prim.SERIES, False, one), x, reference, c, *factors, g)
        return by_x, None, None, apply_primitive(parts, (True, one), x, reference, *factors, g), *[None] * count

    def of_linear_sum(g, p, x, reference, c, *factors, one):
        by_c = apply_primitive(sum_weights, (one,), x, reference, g, *factors)
        return by_matrix(one, g, x, reference, c, *factors), None, by_c, *[None] * count

    def of_sum_weights(g, p, x, reference, by, *factors, one):
        by_by = apply_primitive(linear_sum, (one,), x, reference, g, *factors)
        return by_matrix(one, by, x, reference, g, *factors), None, by_by, *[None] * count

    def whole_of_series(x, reference, c, *rest, known, strong, one):
        if len(rest) > count or known == prim.SERIES:
            raise NoRuleError("a derivative of a function of a matrix, whose own derivatives are others")
        return _recomposed((reference if known else c)[..., 0, :], *rest)

    def parts_of_series(x, reference, *rest, known, one):
        if len(rest) > count + 1 or known:
            raise NoRuleError("a derivative of a function of a matrix, whose own derivatives are others")
        return _between(*rest)[..., None, :]

    vjp(whole, _hermitian(of_whole))
    vjp(parts, _hermitian(of_parts))
    vjp(prim.SUM_OF[whole], _hermitian(of_sum))
    vjp(prim.PRODUCT_OF[whole], _hermitian(of_product))
    vjp(linear_sum, _hermitian(of_linear_sum))
    vjp(sum_weights, _hermitian(of_sum_weights))
    whole.expansion, parts.expansion = whole_of_series, parts_of_series
    prim.SUM_OF[whole].expansion = _summed
    prim.PRODUCT_OF[whole].expansion = lambda x, values, reference, c, *factors, one: _recomposed(values, *factors)


# In a series, where factors are at hand, products and sums are not looked at for what they are of the matrix.


def _summed(x, values, *rest, one):
    return apply_primitive(prim.SUM, ((values.ndim - 1,), values.shape[:-1]), values)


def _recomposed(values, *factors):
    """V f(w) Vᴴ, or U f(s) Vᴴ."""
    left, right = (factors[1], _h(factors[1])) if len(factors) == 2 else (factors[0], factors[2])
    return apply_primitive(prim.MATMUL, None, left * values[..., None, :], right)


def _between(*factors_and_direction):
    """The real diagonal of Vᴴ e V, or of Uᴴ e V."""
    *factors, e = factors_and_direction
    left, right = (factors[1], factors[1]) if len(factors) == 2 else (factors[0], _h(factors[2]))
    products = conjugate(left) * apply_primitive(prim.MATMUL, None, e, right)
    shape = products.shape[:-2] + products.shape[-1:]
    return np.real(apply_primitive(prim.SUM, ((len(shape) - 1,), shape), products))


def _svd(g, p, x):
    """U (diag(s̄) + (J + Jᴴ) S + S (K + Kᴴ)) Vᴴ, and what lies outside of the spaces of U and V.

    Between the phases of a pair of complex vectors there is a difference, i Im(Uᴴ dx V) / s, which U takes. Further
    vectors give -U₂ Ū₂ᴴ U S⁻¹ Vᴴ, or -U S⁻¹ Vᴴ V̄₂ V₂ᴴ.
    """
    if x.size == 0:
        return (None,)
    (u, s, vh), (u_bar, s_bar, vh_bar) = p[:3], g[:3]
    *_, m, n = x.shape
    column, row = s[..., :, None], s[..., None, :]
    gap, both = _gaps(s, max(m, n)), row + column
    overlap_u = _h(u) @ u_bar
    if m != n or is_complex(x):
        divisors = _known(s, s, max(m, n))
        by_column, by_row = divisors[..., :, None], divisors[..., None, :]
    turned_u, turned_v = overlap_u / gap / both, vh @ _h(vh_bar) / gap / both
    inside = (turned_u + _h(turned_u)) * row + (turned_v + _h(turned_v)) * column
    if is_complex(x):
        inside = inside + 0.5 * (overlap_u - conjugate(overlap_u)) * np.eye(s.shape[-1], dtype=s.dtype) / by_row
    by_values = apply_primitive(prim.SINGULAR, (prim.NUMBERS, False, False), x, s, s_bar[..., None, :], u, s, vh)
    x_bar = by_values + u @ inside @ vh
    if m > n:
        outside = u_bar / by_row
        x_bar = x_bar + (outside - u @ (_h(u) @ outside)) @ vh
    if n > m:
        outside = vh_bar / by_column
        x_bar = x_bar + u @ (outside - (outside @ _h(vh)) @ vh)
    if is_complex(x):
        by, vectors = (np.concatenate([left, _h(right)], axis=-2) for left, right in ((u_bar, vh_bar), (u, vh)))
        x_bar = x_bar + apply_primitive(prim.DETERMINED, (prim.PHASES_OF_PAIRS,), by, vectors)
    if len(p) > 3:
        if m > n:
            by, vectors = g[3], p[3]
            x_bar = x_bar - vectors @ (_h(by) @ u / by_row) @ vh
        else:
            by, vectors = _h(g[3]), _h(p[3])
            x_bar = x_bar - u @ (vh @ by / by_column) @ _h(vectors)
        x_bar = x_bar + apply_primitive(prim.DETERMINED, (prim.FURTHER_VECTORS,), by, vectors)
    return (x_bar,)


def _qr(g, p, x):
    """(Q̄ + Q (M + Mᴴ)) R⁻ᴴ with M the lower half of R R̄ᴴ - Q̄ᴴ Q; the diagonal of R is real."""
    (q, r), (q_bar, r_bar) = p, g
    m = _lower_half(r @ _h(r_bar) - _h(q_bar) @ q)
    return ((q_bar + q @ (m + _h(m))) @ _h(np.linalg.inv(r)),)


def _pinv(g, p, x, rcond):
    """-pᴴ g pᴴ + (I - x p) gᴴ p pᴴ + pᴴ p gᴴ (I - p x), where the rank does not change."""
    left, right = _h(g) @ p @ _h(p), _h(p) @ p @ _h(g)
    for _ in range(2):  # what is to vanish is rounding errors times the condition: the second time removes these
        left, right = left - x @ (p @ left), right - (right @ p) @ x
    return (-_h(p) @ g @ _h(p) + left + right,)


def _lstsq(g, p, x, y, rcond):
    """p = x⁺ y, where the rank does not change: as `_pinv`, without forming x⁺."""

    def solved(a, b):
        return apply_primitive(prim.LSTSQ, (rcond,), a, b)

    y_bar = solved(_h(x), g)
    x_bar = (y - x @ p) @ _h(solved(x, y_bar)) - y_bar @ _h(p) + solved(_h(x), p) @ _h(g - solved(x, x @ g))
    return x_bar, y_bar


vjp(prim.CHOLESKY, _hermitian(_cholesky))
vjp(prim.EIGH, _hermitian(_eigh))
for _of_pairs in prim.SVDS:
    vjp(_of_pairs, _hermitian(_svd))
vjp(prim.DETERMINED, lambda g, p, by, vectors, what: (None, None))
vjp(prim.EIG, _hermitian(_eig))
_along(prim.SPECTRAL, prim.SPECTRAL_WEIGHTS, 2)
_along(prim.SINGULAR, prim.SINGULAR_WEIGHTS, 3)
vjp(prim.QR, _hermitian(_qr))
vjp(prim.PINV, _hermitian(_pinv))
vjp(prim.LSTSQ, _hermitian(_lstsq))

# Its rule applies it to the tangents, and the rule of that to theirs: series take another way.
prim.LSTSQ.expansion = lambda x, y, rcond: apply_primitive(prim.PINV, (rcond,), x) @ y
