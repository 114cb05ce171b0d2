"""The matrix exponential, and what is made of it: circular and hyperbolic functions, derivatives, condition."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from hoad._core.record.recording import is_repeated
from hoad._core.trace.traced import is_traced, plain_value
from hoad._numpy.complex import is_complex
from hoad._scipy.registry import decided, identity_like, implements

# ---- exponential ----------------------------------------------------------------------------------------------------

# Of the Padé approximant of degree 13 (Higham 2005).
PADE = [64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0, 129060195264000.0]
PADE += [10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0, 1.0]

# Its relative error is below the rounding at norms up to 5.4. Here it is used up to 2, where it is 10¹¹ times smaller:
# a derivative takes a power of the norm from that error.
LARGEST_NORM = 2.0
MOST_TIMES = 100  # that a matrix is squared, or that roots are taken
# How much more often in the body of a loop or a map: the norm may be 256 times that of the recording.
FURTHER = 8


def largest_sum(a: Any) -> Any:
    """The 1-norm; the largest in a stack."""
    return np.max(np.sum(np.abs(a), axis=-2), initial=0.0)


def exponential(a: Any) -> Any:
    """exp(a) by scaling and squaring. How often it is squared is guarded.

    In the body of a loop or a map, recorded once, that may be up to `FURTHER` times more often than in the recording.
    """
    if not a.size:
        return a
    size, eye, times = largest_sum(a), identity_like(a), 0
    if is_repeated_value(a):
        wanted = np.ceil(np.log2(np.maximum(size / LARGEST_NORM, 1.0)))
        found, most = _scaled_exponential(a * np.exp2(-wanted), eye), FURTHER
        if np.isfinite(plain_value(wanted)):
            most += int(plain_value(wanted))
        if decided(np.greater(wanted, most)):
            raise np.linalg.LinAlgError("the matrix exponential overflows")
        for k in range(most):
            goes_on = np.less(k, wanted)
            root = np.where(goes_on, found, eye)
            found = np.where(goes_on, root @ root, found)
        return found
    while times < MOST_TIMES and decided(np.greater(size, LARGEST_NORM * 2.0**times)):
        times += 1
    found = _scaled_exponential(a * 0.5**times, eye)
    for _ in range(times):
        found = found @ found
    return found


def is_repeated_value(a: Any) -> bool:
    """Whether a belongs to the body of a loop or a map."""
    return is_traced(a) and bool(is_repeated(a))


def _scaled_exponential(a: Any, eye: Any) -> Any:
    """exp(a) of a small matrix."""
    a2 = a @ a
    a4 = a2 @ a2
    a6 = a2 @ a4
    odd = a6 @ (PADE[13] * a6 + PADE[11] * a4 + PADE[9] * a2) + PADE[7] * a6 + PADE[5] * a4 + PADE[3] * a2
    even = a6 @ (PADE[12] * a6 + PADE[10] * a4 + PADE[8] * a2) + PADE[6] * a6 + PADE[4] * a4 + PADE[2] * a2
    u, v = a @ (odd + PADE[1] * eye), even + PADE[0] * eye
    return np.linalg.solve(v - u, v + u)


@implements(scipy.linalg.expm, stacks=True, A=2)
def expm(A: Any) -> Any:
    """exp(A), with d exp(A) = ∫₀¹ exp(s A) dA exp((1 - s) A) ds.

    It is recorded as scaling and squaring with one Padé approximant, so derivatives of every order are those of the
    exponential to rounding. How often it is squared is guarded.

    Notes
    -----
    Cost: seven products, one solve, and a product each time that it is squared; a sweep takes as many twice.

    References
    ----------
    Higham (2005), "The scaling and squaring method for the matrix exponential revisited".

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda a: linalg.expm(a)[0, 1])(np.zeros((2, 2)))
    array([[0., 1.],
           [0., 0.]])
    """
    return exponential(A if A.ndim > 1 else np.reshape(A, (1, 1)))


@implements(scipy.linalg.expm_frechet, A=2, E=2)
def expm_frechet(A: Any, E: Any, compute_expm: bool = True, **_: Any) -> Any:
    """exp(A) and its derivative along E, or the derivative alone, from exp([[A, E], [0, A]]).

    Notes
    -----
    Cost: as of `expm` of twice the size.

    References
    ----------
    Van Loan (1978), "Computing integrals involving the matrix exponential".

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> a = np.zeros((2, 2))
    >>> hoad.grad(lambda e: linalg.expm_frechet(a, e, compute_expm=False)[0, 1])(np.eye(2))
    array([[0., 1.],
           [0., 0.]])
    """
    n = A.shape[0]
    dtype = np.result_type(A.dtype, E.dtype)
    whole = exponential(_above(A.astype(dtype), E.astype(dtype)))
    return (whole[:n, :n], whole[:n, n:]) if compute_expm else whole[:n, n:]


def _above(a: Any, e: Any) -> Any:
    """[[a, e], [0, a]], also of a stack of e."""
    a = np.broadcast_to(a, e.shape)
    below = np.concatenate([np.zeros(e.shape, a.dtype), a], axis=-1)
    return np.concatenate([np.concatenate([a, e], axis=-1), below], axis=-2)


@implements(scipy.linalg.expm_cond, A=2)
def expm_cond(A: Any, **_: Any) -> Any:
    """The relative condition number of exp(A): ‖K‖₂ ‖A‖ / ‖exp(A)‖ for the matrix K of its derivative.

    Notes
    -----
    Cost: n² exponentials of twice the size, and a singular value decomposition of K.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(linalg.expm_cond)(np.array([[2.0]])).round(12)
    array([[1.]])
    """
    n = A.shape[0]
    units = np.eye(n * n, dtype=A.dtype).reshape(n * n, n, n)
    columns = exponential(_above(A, units))[:, :n, n:]
    k = np.reshape(np.swapaxes(columns, -1, -2), (n * n, n * n))
    return np.linalg.norm(k, 2) * np.linalg.norm(A) / np.linalg.norm(exponential(A))


# ---- circular and hyperbolic functions ------------------------------------------------------------------------------


def _circular(a: Any) -> tuple[Any, Any]:
    """cos(a) and sin(a)."""
    if not is_complex(a):
        whole = exponential(1j * a)
        return np.real(whole), np.imag(whole)
    there, back = exponential(1j * a), exponential(-1j * a)
    return 0.5 * (there + back), -0.5j * (there - back)


def _hyperbolic(a: Any) -> tuple[Any, Any]:
    """cosh(a) and sinh(a)."""
    there, back = exponential(a), exponential(-a)
    return 0.5 * (there + back), 0.5 * (there - back)


@implements(scipy.linalg.cosm, A=2)
def cosm(A: Any) -> Any:
    """cos(A), the real part of exp(i A) for a real A.

    Notes
    -----
    Cost: one complex `expm`; two of a complex matrix.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda a: linalg.cosm(a)[0, 0])(np.diag([np.pi / 2, 0.0]))[0, 0].round(9).item()
    -1.0
    """
    return _circular(A)[0]


@implements(scipy.linalg.sinm, A=2)
def sinm(A: Any) -> Any:
    """sin(A), the imaginary part of exp(i A) for a real A.

    Notes
    -----
    Cost: one complex `expm`; two of a complex matrix.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda a: linalg.sinm(a)[0, 0])(np.zeros((2, 2)))[0, 0].round(9).item()
    1.0
    """
    return _circular(A)[1]


@implements(scipy.linalg.tanm, A=2)
def tanm(A: Any) -> Any:
    """tan(A) = cos(A)⁻¹ sin(A).

    Notes
    -----
    Cost: one complex `expm`, or two of a complex matrix, and a solve.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda a: linalg.tanm(a)[0, 0])(np.zeros((2, 2)))[0, 0].round(9).item()
    1.0
    """
    cosine, sine = _circular(A)
    return np.linalg.solve(cosine, sine)


@implements(scipy.linalg.coshm, A=2)
def coshm(A: Any) -> Any:
    """cosh(A) = (exp(A) + exp(-A)) / 2.

    Notes
    -----
    Cost: two times `expm`.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.derivative(lambda x: linalg.coshm(x * np.eye(1))[0, 0], 2)(0.0)
    1.0
    """
    return _hyperbolic(A)[0]


@implements(scipy.linalg.sinhm, A=2)
def sinhm(A: Any) -> Any:
    """sinh(A) = (exp(A) - exp(-A)) / 2.

    Notes
    -----
    Cost: two times `expm`.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda a: linalg.sinhm(a)[0, 0])(np.zeros((2, 2)))[0, 0].round(9).item()
    1.0
    """
    return _hyperbolic(A)[1]


@implements(scipy.linalg.tanhm, A=2)
def tanhm(A: Any) -> Any:
    """tanh(A) = cosh(A)⁻¹ sinh(A).

    Notes
    -----
    Cost: two times `expm`, and a solve.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda a: linalg.tanhm(a)[0, 0])(np.zeros((2, 2)))[0, 0].round(9).item()
    1.0
    """
    cosine, sine = _hyperbolic(A)
    return np.linalg.solve(cosine, sine)
