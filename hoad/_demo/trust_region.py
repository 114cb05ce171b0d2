"""The trust-region subproblem, solved to rounding: a quadratic over a ball.

Sizes are a handful of parameters here, so an eigendecomposition is the simplest way and the most robust: it
shows an indefinite Hessian for what it is, and covers the hard case with no special effort.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["minimise_quadratic"]


def minimise_quadratic(
    matrix: NDArray[np.float64], gradient: NDArray[np.float64], radius: float
) -> tuple[NDArray[np.float64], bool]:
    """Minimise gradient · s + s · matrix · s / 2 over all s no longer than the radius.

    Parameters
    ----------
    matrix : ndarray, shape (n, n)
        Symmetric, and of any signature.
    gradient : ndarray, shape (n,)
    radius : float

    Returns
    -------
    step : ndarray, shape (n,)
        The global minimiser.
    interior : bool
        Whether it is the Newton step of a positive definite matrix, unhindered by the radius.

    References
    ----------
    Moré and Sorensen, *Computing a trust region step*, SIAM J. Sci. Stat. Comput. 4 (1983).

    Examples
    --------
    >>> from hoad._demo.trust_region import minimise_quadratic
    >>> minimise_quadratic(np.diag([2.0, 4.0]), np.array([2.0, 4.0]), 10.0)
    (array([-1., -1.]), True)
    >>> minimise_quadratic(np.diag([-1.0, 1.0]), np.array([0.0, 1.0]), 2.0)[0].round(6)  # the hard case
    array([ 1.936492, -0.5     ])
    """
    eigenvalues, vectors = np.linalg.eigh(matrix)
    components = vectors.T @ gradient
    if eigenvalues[0] > 0:
        newton = -components / eigenvalues
        if np.linalg.norm(newton) <= radius:
            return vectors @ newton, True
    return vectors @ _on_the_sphere(eigenvalues, components, radius), False


def _on_the_sphere(
    eigenvalues: NDArray[np.float64], components: NDArray[np.float64], radius: float
) -> NDArray[np.float64]:
    """Return the step of length `radius`, in the basis of eigenvectors (eigenvalues ascending)."""
    # A step is -c / (λ + shift). This shift is right or too small: the first component alone has the length.
    shift = max(0.0, abs(components[0]) / radius - eigenvalues[0])
    negligible = np.finfo(float).eps * max(abs(eigenvalues[0]), abs(eigenvalues[-1]), np.finfo(float).tiny)
    for _ in range(100):
        shifted = eigenvalues + shift
        flat = shifted <= negligible
        step = np.where(flat, 0.0, -components / np.where(flat, 1.0, shifted))
        length = float(np.linalg.norm(step))
        if flat.any() and length <= radius:
            # The hard case: the model is flat along the lowest eigenvector, and what is left goes there.
            step[0] = np.sqrt(max(radius**2 - length**2, 0.0)) * (-1.0 if components[0] > 0 else 1.0)
            return step
        if flat.any():
            shift += 2 * negligible
            continue
        # Newton's method on 1/radius - 1/length, which is nearly linear in the shift: it rises to the root.
        excess = length - radius
        if excess <= 1e-10 * radius:
            break
        shift += (length / radius) * excess * length / float(step**2 @ (1 / shifted))
    return step
