"""Structure of matrices, and functions without a derivative: constants to the derivative, and errors that say why."""

from __future__ import annotations

import functools
import inspect
import textwrap
from typing import Any

import numpy as np
import scipy.linalg

from hoad._core.base.where import here
from hoad._core.trace.coerce import holds_traced
from hoad._core.trace.traced import guard_value
from hoad._numpy.registry import as_traced
from hoad._program.trace import recorder_among
from hoad._scipy.registry import IMPLEMENTED, Function, implements, sections
from hoad.errors import NoRuleError
from hoad.rules.registry import defvjp, primitive


@primitive(shape=lambda a: ((2, *a.shape[:-2]), np.dtype(np.intp)))
def bandwidths(a: Any) -> Any:
    return np.array(scipy.linalg.bandwidth(a), np.intp)


@primitive(shape=lambda a, **_: (a.shape[:-2], np.dtype(bool)))
def is_symmetric(a: Any, *, atol: float | None, rtol: float | None, hermitian: bool) -> Any:
    check = scipy.linalg.ishermitian if hermitian else scipy.linalg.issymmetric
    return np.asarray(check(a, atol=atol, rtol=rtol))


defvjp(bandwidths, lambda g, p, a: (None,))
defvjp(is_symmetric, lambda g, p, a, **_: (None,))


@implements(scipy.linalg.bandwidth)
def bandwidth(a: Any) -> Any:
    """How many diagonals below and above the main one hold something else than 0, as guarded numbers.

    Notes
    -----
    Cost: that of SciPy's function.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda a: linalg.bandwidth(a)[0] * a[0, 0])(np.array([[1.0, 0.0], [1.0, 1.0]]))
    array([[1., 0.],
           [0., 0.]])
    """
    below, above = guard_value(bandwidths(as_traced(a)))
    return (below, above) if below.ndim else (int(below), int(above))


def _symmetric(a: Any, atol: Any, rtol: Any, hermitian: bool) -> Any:
    found = is_symmetric(as_traced(a), atol=atol, rtol=rtol, hermitian=hermitian)
    return guard_value(found) if found.ndim else bool(found)


@implements(scipy.linalg.issymmetric)
def issymmetric(a: Any, atol: Any = None, rtol: Any = None) -> Any:
    """Whether a matrix is symmetric, guarded.

    Notes
    -----
    Cost: that of SciPy's function.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda a: a[0, 1] if linalg.issymmetric(a) else a[0, 0])(np.eye(2))
    array([[0., 1.],
           [0., 0.]])
    """
    return _symmetric(a, atol, rtol, False)


@implements(scipy.linalg.ishermitian)
def ishermitian(a: Any, atol: Any = None, rtol: Any = None) -> Any:
    """Whether a matrix is Hermitian, guarded.

    Notes
    -----
    Cost: that of SciPy's function.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda a: a[0, 1] if linalg.ishermitian(a) else a[0, 0])(np.eye(2))
    array([[0., 1.],
           [0., 0.]])
    """
    return _symmetric(a, atol, rtol, True)


# ---- what is refused ------------------------------------------------------------------------------------------------


def refuses(original: Function, reason: str, advice: str, example: str) -> Function:
    """Register what a function of SciPy raises where something among its arguments is traced."""
    place = f"{original.__module__.split('._')[0]}.{original.__name__}"

    @functools.wraps(original)
    def function(*args: Any, **kwargs: Any) -> Any:
        if holds_traced(args) or holds_traced(list(kwargs.values())) or recorder_among((*args, *kwargs.values())):
            raise NoRuleError(f"{place} has no derivative rule ({here()}): {reason} {advice}")
        return original(*args, **kwargs)

    function.__module__ = __name__
    function.__doc__ = sections(
        f"`{place}` of plain arrays; it raises for traced ones.",
        original,
        f"NoRuleError\n{textwrap.indent(textwrap.fill(f'If an argument is traced. {reason} {advice}', 112), '    ')}",
        f"Notes\n-----\nCost: that of SciPy's function.\n\nExamples\n--------\n{inspect.cleandoc(example)}",
    )
    IMPLEMENTED[original] = function
    return function


PHASES = (
    "A Schur form depends on an order of eigenvalues, and its vectors on phases, that the matrix does not determine."
)
BLOCKS = "Which of its blocks have one row and which two depends on values, and pivoting changes them."
SIGNS = "SciPy turns rows and columns in the order of the update, which leaves signs that no formula gives."

null_space = refuses(
    scipy.linalg.null_space,
    "A matrix does not determine the basis of its null space.",
    "Use the projection on it, np.eye(n) - pinv(a) @ a.",
    """
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda a: (np.eye(2) - linalg.pinv(a) @ a)[0, 1])(np.array([[2.0, 0.0]]))
    array([[ 0. , -0.5]])
    """,
)
schur = refuses(
    scipy.linalg.schur,
    PHASES,
    "Use eig, eigvals, or a function of the matrix such as expm or sqrtm.",
    """
    >>> from hoad.scipy import linalg
    >>> linalg.schur(np.diag([2.0, 3.0]))[0]
    array([[2., 0.],
           [0., 3.]])
    """,
)
rsf2csf = refuses(
    scipy.linalg.rsf2csf,
    PHASES,
    "Use eig or eigvals.",
    """
    >>> from hoad.scipy import linalg
    >>> linalg.rsf2csf(np.diag([2.0, 3.0]), np.eye(2))[0].real
    array([[2., 0.],
           [0., 3.]])
    """,
)
qz = refuses(
    scipy.linalg.qz,
    PHASES,
    "Use eigvals(a, b).",
    """
    >>> from hoad.scipy import linalg
    >>> linalg.qz(np.diag([2.0, 3.0]), np.eye(2))[0]
    array([[2., 0.],
           [0., 3.]])
    """,
)
ordqz = refuses(
    scipy.linalg.ordqz,
    PHASES,
    "Use eigvals(a, b).",
    """
    >>> from hoad.scipy import linalg
    >>> linalg.ordqz(np.diag([2.0, -3.0]), np.eye(2))[2]
    array([-3.+0.j,  2.+0.j])
    """,
)
cossin = refuses(
    scipy.linalg.cossin,
    "The blocks determine the cosines and sines, but not all of the vectors.",
    "Use svd of one of the blocks.",
    """
    >>> from hoad.scipy import linalg
    >>> linalg.cossin(np.eye(2), 1, 1)[1]
    array([[ 1., -0.],
           [ 0.,  1.]])
    """,
)
ldl = refuses(
    scipy.linalg.ldl,
    BLOCKS,
    "Use cholesky of a positive definite matrix, else lu or solve.",
    """
    >>> from hoad.scipy import linalg
    >>> linalg.ldl(np.array([[2.0, 1.0], [1.0, 3.0]]))[1]
    array([[2. , 0. ],
           [0. , 2.5]])
    """,
)
qr_delete = refuses(
    scipy.linalg.qr_delete,
    SIGNS,
    "Use qr of the matrix without its rows or columns.",
    """
    >>> from hoad.scipy import linalg
    >>> linalg.qr_delete(np.eye(2), np.diag([2.0, 3.0]), 1, which="col")[1]
    array([[2.],
           [0.]])
    """,
)
qr_insert = refuses(
    scipy.linalg.qr_insert,
    SIGNS,
    "Use qr of the matrix with its new rows or columns.",
    """
    >>> from hoad.scipy import linalg
    >>> linalg.qr_insert(np.eye(2), np.array([[2.0], [0.0]]), np.array([1.0, 0.0]), 1, which="col")[1]
    array([[2., 1.],
           [0., 0.]])
    """,
)
qr_update = refuses(
    scipy.linalg.qr_update,
    SIGNS,
    "Use qr(Q @ R + np.outer(u, v.conj())).",
    """
    >>> from hoad.scipy import linalg
    >>> abs(linalg.qr_update(np.eye(1), 2 * np.eye(1), np.ones(1), np.ones(1))[1])
    array([[3.]])
    """,
)
clarkson_woodruff_transform = refuses(
    scipy.linalg.clarkson_woodruff_transform,
    "It draws a random matrix at each call.",
    "Draw the matrix once, s = clarkson_woodruff_transform(np.eye(n), k), and use s @ a.",
    """
    >>> from hoad.scipy import linalg
    >>> s = linalg.clarkson_woodruff_transform(np.eye(3), 2, 0)
    >>> np.abs(hoad.grad(lambda a: np.sum(np.abs(s @ a)))(np.ones(3)))
    array([1., 1., 1.])
    """,
)
