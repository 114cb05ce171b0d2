"""Adjugates of matrices, and what their derivatives are made of.

The adjugate of A + t₁ E₁ + ... + tₖ Eₖ is a polynomial in t, for a matrix of any rank. Its coefficient of t₁ ... tₖ is
the k-th derivative of the adjugate along E₁, ..., Eₖ. In the coordinates of singular vectors it is a sum of products of
the singular values but for k + 1 of them, of which an inverse makes quotients that cancel.

Written for plain arrays and for traced ones, on stacks of matrices.

References
----------
Stewart, G. W. (1998). On the adjugate matrix. Linear Algebra and its Applications 283: 151-164.
Bapat, R. B. (1989). Mixed discriminants of positive semidefinite matrices. Linear Algebra and its Applications 126.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

_det = np.linalg._umath_linalg.det  # which NumPy's function checks operands for


def transposed(a: Any) -> Any:
    return np.swapaxes(a, -1, -2)


def conjugate_transposed(a: Any) -> Any:
    turned = transposed(a)
    return np.conjugate(turned) if a.dtype.kind == "c" else turned


def mixed_adjugate(u: Any, s: Any, vh: Any, directions: Sequence[Any]) -> Any:
    """The coefficient of t₁ ... tₖ in adj(A + Σ tᵢ Eᵢ), for A = u diag(s) vh.

    Its error is that of a change of the matrix by rounding, whatever the rank; no small singular value divides it.
    """
    n, k = s.shape[-1], len(directions)
    if k >= max(n, 1):
        return np.zeros_like(directions[0])  # the degree of adj is n - 1
    uh, v = conjugate_transposed(u), conjugate_transposed(vh)
    sign = _det(u) * _det(vh)
    if k == 0:
        core, over = _without_one(s)
        return _raised((v * (sign[..., None] * core)[..., None, :]) @ uh, over)
    turned = [uh @ e @ v for e in directions]
    if k == 1:
        core, over = _without_two(s)
        diagonal = (core @ np.diagonal(turned[0], axis1=-2, axis2=-1)[..., None])[..., 0]
        core = -core * turned[0]
        np.einsum("...ii->...i", core)[...] = diagonal
        return _raised(v @ (sign[..., None, None] * core) @ uh, over)
    return v @ (sign[..., None, None] * _of_size_1(s, turned)) @ uh


def _without_one(s: Any) -> tuple[Any, Any]:
    """Products of the singular values but for one, those before and behind, and what they are `_raised` by."""
    mantissas, exponents = _parted(s)
    before, behind = np.ones_like(s), np.ones_like(s)
    np.cumprod(mantissas[..., :-1], axis=-1, out=before[..., 1:])
    np.cumprod(mantissas[..., :0:-1], axis=-1, out=behind[..., -2::-1])
    return _together(before * behind, exponents, _others, axis=-1)


def _without_two(s: Any) -> tuple[Any, Any]:
    """As `_without_one`, but for i and j, 0 where i = j: those before, between and behind."""
    n = s.shape[-1]
    mantissas, exponents = _parted(s)
    before, between, behind = np.ones_like(s), np.ones((*s.shape, n), s.dtype), np.ones_like(s)
    np.cumprod(mantissas[..., :-2], axis=-1, out=before[..., 1:-1])
    np.cumprod(mantissas[..., :1:-1], axis=-1, out=behind[..., -2:0:-1])
    later = np.where(_up_to_diagonal(n), s.dtype.type(1.0), mantissas[..., None, :])
    np.cumprod(later[..., :-1], axis=-1, out=between[..., 1:])
    between[..., _up_to_diagonal(n)] = 0.0
    upper = before[..., :, None] * between * behind[..., None, :]
    upper, over = _together(upper, exponents, _other_pairs, axis=(-2, -1))
    return upper + transposed(upper), over


SPARE = 16  # powers of 2 for the sums over products of singular values
MANY = 64  # from which on products of numbers of at least 1/2 could leave the range of single precision


def _parted(s: Any) -> tuple[Any, Any]:
    """Mantissas and exponents of base 2; s itself and None where all products of n - 1 are in range as they are.

    Products of consecutive mantissas are in range as well, so that none is 0 or infinite before its scale is known.
    Scales are powers of 2, which do not round.
    """
    n, limits = s.shape[-1], np.finfo(s.dtype)
    least, largest = s[..., -1:].min(initial=1.0), s[..., :1].max(initial=1.0)
    if least > 0.0 and (n - 1) * math.frexp(largest)[1] <= limits.maxexp - SPARE:
        if (n - 1) * (math.frexp(least)[1] - 1) >= limits.minexp:
            return s, None
    mantissas, exponents = np.frexp(s)
    if n < MANY:
        return mantissas, exponents
    sizes = np.fmax(np.fmin(mantissas, 1.0), 0.5)  # of 0 and what is not finite, any
    fallen = np.rint(np.cumsum(np.log2(sizes), axis=-1)).astype(exponents.dtype)
    steps = np.diff(fallen, axis=-1, prepend=exponents.dtype.type(0))
    return np.ldexp(mantissas, -steps), exponents + steps


def _others(exponents: Any) -> Any:
    return np.sum(exponents, axis=-1, dtype=exponents.dtype, keepdims=True) - exponents


def _other_pairs(exponents: Any) -> Any:
    return _others(exponents)[..., :, None] - exponents[..., None, :]


def _together(products: Any, exponents: Any, others: Any, axis: Any) -> tuple[Any, Any]:
    """Products of mantissas with their exponents, all less by as few powers of 2 as bring the largest into range."""
    if exponents is None:
        return products, None
    exponents = others(exponents)
    largest = np.max(exponents, axis=axis, initial=0, where=products > 0.0, keepdims=True)
    over = np.maximum(largest - (np.finfo(products.dtype).maxexp - SPARE), 0)
    return np.ldexp(products, exponents - over), np.squeeze(over, axis=axis)


def _raised(a: Any, over: Any) -> Any:
    """a · 2^over, in two steps, which are in range: items that leave it make no nan of the others."""
    if over is None or not over.any():
        return a
    most, one = np.finfo(a.dtype).maxexp - 1, a.real.dtype.type(1.0)
    half = np.minimum(over // 2, most)
    for part in (half, np.minimum(over - half, most)):
        a = _scaled(np.ldexp(one, part), a)
    return a


@functools.lru_cache(maxsize=8)
def _up_to_diagonal(n: int) -> Any:
    return np.tri(n, dtype=bool)


def _of_size_1(s: Any, directions: Sequence[Any]) -> Any:
    """With the largest singular value 1, so that no product leaves the range that the result is in."""
    size, k = s[..., :1], len(directions)
    s = s / np.maximum(size, np.finfo(s.dtype).tiny)
    s = np.where(np.isfinite(size), s, s.dtype.type(1.0))  # such a matrix leaves the others of a stack as they are
    apart = _apart(s, k)
    core = _by_smallest_apart(s, directions, apart) if apart else _by_inverse(s, directions)
    return _scaled(size[..., 0] ** (s.shape[-1] - 1 - k), core)


# How much larger terms may be than their sum: two digits of sixteen.
CANCELLING = 100.0


def _apart(s: Any, k: int) -> int:
    """How many of the smallest singular values stand apart, so that terms by the inverse of the others do not cancel.

    One number for the whole stack, which is what its most demanding matrix needs: how a matrix is rounded, though not
    how well, depends on the others.

    With d of them, terms grow like the power k + 1 - d of the inverse of the smallest of the others; their sum, like
    the product of the inverses of as many of these. With k + 1 nothing cancels: what is not small in the inverse meets
    as many more small factors.
    """
    n = s.shape[-1]
    for d in range(k + 1):
        others = s[..., n - k - 1 : n - d]
        least = others[..., -1:]
        known = least > np.finfo(s.dtype).eps
        if known.all() and np.prod(others / least, axis=-1).max(initial=0.0) <= CANCELLING:
            return d
    return k + 1


def _by_inverse(s: Any, directions: Sequence[Any]) -> Any:
    """By P = adj(1 + Σ tᵢ Xᵢ) with Xᵢ = s^-½ Eᵢ s^-½: P = det - G for G = Σ tᵢ Xᵢ P.

    In the product of m of the t, tr G is m times what det is, for ∂det/∂tᵢ = tr(Xᵢ P).
    """
    root = 1.0 / np.sqrt(s)
    balance = root[..., :, None] * root[..., None, :]
    balanced = [e * balance for e in directions]
    found = [np.eye(s.shape[-1], dtype=s.dtype)]
    for m in range(1, 2 ** len(directions)):
        g = _sum(x @ found[m ^ 1 << i] if m ^ 1 << i else x for i, x in enumerate(balanced) if m >> i & 1)
        det = np.einsum("...ii->...", g) / m.bit_count()
        found.append(-g)
        np.einsum("...ii->...i", found[-1])[...] += det[..., None]
    return np.prod(s, axis=-1)[..., None, None] * balance * found[-1]


def _by_smallest_apart(s: Any, directions: Sequence[Any], apart: int) -> Any:
    """With the smallest singular values in a Schur complement.

    Where there are still zeros among the others, to rounding, the result is one; what stands for them has an inverse
    that does not overflow, for directions are brought to size 1.
    """
    n, eps, tiny = s.shape[-1], np.finfo(s.dtype).eps, np.finfo(s.dtype).tiny
    scales = [np.maximum(np.max(np.abs(e), axis=(-2, -1)), tiny) for e in directions]
    directions = [e / scale[..., None, None] for e, scale in zip(directions, scales, strict=True)]
    cut, eye = n - apart, np.eye(n, dtype=s.dtype)
    large = np.maximum(s[..., :cut], eps)
    inverse, small = eye[:cut, :cut] / large[..., None], s[..., cut:, None] * eye[cut:, cut:]
    core = core_adjugate(None, small, inverse, np.prod(large, axis=-1), directions)
    return _scaled(functools.reduce(np.multiply, scales), core)


# ---- polynomials ----------------------------------------------------------------------------------------------------

# One in t₁, ..., tₖ, linear in each: item m of 2ᵏ is the coefficient of the product of those tᵢ for which bit i of m is
# set; None is 0.
Polynomial = list[Any]


def _sum(terms: Any) -> Any:
    """The sum of what is not 0; None if nothing is."""
    total = None
    for term in terms:
        total = term if total is None else total + term
    return total


def _parts(m: int) -> list[int]:
    """The sets of bits within m."""
    found, part = [m], m
    while part:
        part = (part - 1) & m
        found.append(part)
    return found


def _coefficient(a: Polynomial, b: Polynomial, m: int, by: Any) -> Any:
    return _sum(by(a[q], b[m ^ q]) for q in _parts(m) if a[q] is not None and b[m ^ q] is not None)


def _product(a: Polynomial, b: Polynomial, by: Any = np.matmul) -> Polynomial:
    return [_coefficient(a, b, m, by) for m in range(len(a))]


def _difference(a: Polynomial, b: Polynomial) -> Polynomial:
    return [x if y is None else -y if x is None else x - y for x, y in zip(a, b, strict=True)]


def _each(a: Polynomial, f: Any) -> Polynomial:
    return [None if x is None else f(x) for x in a]


def _scaled(factor: Any, a: Any) -> Any:
    return factor[..., None, None] * a


def _linear(first: Any, slopes: Sequence[Any]) -> Polynomial:
    """first + Σ tᵢ slopesᵢ."""
    found: Polynomial = [None] * 2 ** len(slopes)
    found[0] = first
    for i, slope in enumerate(slopes):
        found[1 << i] = slope
    return found


def _inverse(first: Any, slopes: Sequence[Any]) -> Polynomial:
    """(M + Σ tᵢ Bᵢ)⁻¹ from M⁻¹: that of m is -M⁻¹ Σ Bᵢ times that of m without i."""
    found = [first]
    for m in range(1, 2 ** len(slopes)):
        found.append(-first @ _sum(b @ found[m ^ 1 << i] for i, b in enumerate(slopes) if m >> i & 1))
    return found


def _determinant(first: Any, inverse: Polynomial, slopes: Sequence[Any]) -> Polynomial:
    """det(M + Σ tᵢ Bᵢ) from det M and the inverse: its derivative by tᵢ is det · tr(M⁻¹ Bᵢ)."""
    found = [first]
    for m in range(1, len(inverse)):
        i = m.bit_length() - 1
        traces = [np.sum(inverse[q] * transposed(slopes[i]), axis=(-2, -1)) for q in range(1 << i)]
        found.append(_coefficient(found, traces, m ^ 1 << i, np.multiply))
    return found


@functools.lru_cache(maxsize=64)
def _choices(n: int, r: int) -> dict[tuple[int, ...], int]:
    """The places of r columns of n among all such choices."""
    return {chosen: i for i, chosen in enumerate(itertools.combinations(range(n), r))}


@functools.lru_cache(maxsize=64)
def _one_row_more(n: int, r: int) -> tuple[Any, Any, Any]:
    """For minors of r + 1 rows by the last one: its columns, the places of what is left of each choice, and signs."""
    chosen = list(_choices(n, r + 1))
    rest = [[_choices(n, r)[c[:j] + c[j + 1 :]] for j in range(r + 1)] for c in chosen]
    return np.array(chosen), np.array(rest), (-1.0) ** (np.arange(r + 1) + r)


@functools.lru_cache(maxsize=64)
def _without_a_row(n: int, i: int) -> tuple[Any, Any, Any]:
    """For the cofactors of row i, one a column: choices for the rows above and for those below, and signs.

    The rows below stand in reverse, from the last one up.
    """
    above, below, signs = [], [], []
    for j in range(n):
        others = [c for c in range(n) if c != j]
        for chosen in itertools.combinations(others, i):
            above.append(_choices(n, i)[chosen])
            below.append(_choices(n, n - 1 - i)[tuple(c for c in others if c not in chosen)])
            moves = sum(map(others.index, chosen)) - i * (i - 1) // 2 + (n - 1 - i) * (n - 2 - i) // 2
            signs.append((-1.0) ** (i + j + moves))
    return np.reshape(above, (n, -1)), np.reshape(below, (n, -1)), np.reshape(signs, (n, -1))


def _minors(rows: list[Polynomial], n: int, one: Polynomial) -> list[Polynomial]:
    """The determinants within the first 0, 1, ... rows, for every choice of as many columns."""
    found = [one]
    for r, row in enumerate(rows):
        columns, rest, signs = _one_row_more(n, r)
        items = _each(row, lambda x, columns=columns, signs=signs: signs.astype(x.dtype) * x[..., columns])
        found.append(_by_items(_each(found[-1], lambda x, rest=rest: x[..., rest]), items))
    return found


def _by_items(a: Polynomial, b: Polynomial) -> Polynomial:
    return _each(_product(a, b, np.multiply), lambda x: np.sum(x, axis=-1))


def _few_rows(a: Polynomial, n: int) -> tuple[Polynomial, Polynomial]:
    """The adjugate of a few rows, and the determinant: by the minors above and below of a row that is left out."""
    rows = [_each(a, lambda x, i=i: x[..., i, :]) for i in range(n)]
    one: Polynomial = [np.ones(1, a[0].dtype), *[None] * (len(a) - 1)]
    above, below = _minors(rows[:-1], n, one), _minors(rows[:0:-1], n, one)
    cofactors = []
    for i in range(n):
        over, under, signs = _without_a_row(n, i)
        upper = _each(above[i], lambda x, over=over: x[..., over])
        lower = _each(below[n - 1 - i], lambda x, under=under, signs=signs: signs.astype(x.dtype) * x[..., under])
        cofactors.append(_by_items(upper, lower))
    columns = zip(*cofactors, strict=True)
    return [None if x[0] is None else np.stack(x, axis=-1) for x in columns], _by_items(rows[0], cofactors[0])


def core_adjugate(beside: Any, small: Any, inverse: Any, determinant: Any, directions: Sequence[Any]) -> Any:
    """The coefficient of t₁ ... tₖ in adj([[M, c], [r, d]] + Σ tᵢ Bᵢ), with `beside` the pair c and r, None for zeros.

    By M⁻¹, det M and the Schur complement of M, of few rows, which is written out; `small` is d.
    """
    n, few = directions[0].shape[-1], small.shape[-1]
    cut = n - few
    corner, right, below, last = (
        [b[..., rows, columns] for b in directions]
        for rows, columns in itertools.product((slice(None, cut), slice(cut, None)), repeat=2)
    )
    c, r = (None, None) if beside is None else beside
    schur = _linear(small, last)
    if cut:
        inv = _inverse(inverse, corner)
        det = _determinant(determinant, inv, corner)
        right_of = _product(inv, _linear(c, right))
        below_of = _product(_linear(r, below), inv)
        schur = _difference(schur, _product(_linear(r, below), right_of))
    whole = len(schur) - 1
    few_adjugate, few_det = _few_rows(schur, few)
    if not cut:
        return few_adjugate[whole]
    weighed = _product(det, few_adjugate, _scaled)
    weights = _product(det, few_det, np.multiply)
    left = _product(right_of, weighed)
    first = _sum([_coefficient(weights, inv, whole, _scaled), _coefficient(left, below_of, whole, np.matmul)])
    above = np.concatenate([first, -left[whole]], axis=-1)
    under = np.concatenate([-_coefficient(weighed, below_of, whole, np.matmul), weighed[whole]], axis=-1)
    return np.concatenate([above, under], axis=-2)
