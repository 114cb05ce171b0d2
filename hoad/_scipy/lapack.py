"""Routines of BLAS and LAPACK that SciPy's Python code asks for by name."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import scipy.linalg

from hoad._core.trace.coerce import holds_traced
from hoad._numpy.registry import as_traced
from hoad._scipy.registry import IMPLEMENTED
from hoad._scipy.systems import banded_solution, solve_triangular


def get_lapack_funcs(names: Any, arrays: Any = (), *args: Any, **kwargs: Any) -> Any:
    """SciPy's, or of traced arrays what solves a banded system in the place of LAPACK's."""
    if names == ("gbsv",) and holds_traced(list(arrays)):
        return [_gbsv]
    return scipy.linalg.get_lapack_funcs(names, arrays, *args, **kwargs)


def _gbsv(below: int, above: int, ab: Any, b: Any, **_: Any) -> tuple[Any, Any, Any, int]:
    return None, None, banded_solution(as_traced(ab)[below:], as_traced(b), below, above), 0


IMPLEMENTED[scipy.linalg.get_lapack_funcs] = get_lapack_funcs


def get_blas_funcs(names: Any, arrays: Any = (), *args: Any, **kwargs: Any) -> Any:
    """SciPy's, of which that for triangular matrices takes traced arrays too."""
    plain = [] if holds_traced(list(arrays)) else arrays
    found = scipy.linalg.get_blas_funcs(names, plain, *args, **kwargs)
    return functools.partial(_trsm, found) if names == "trsm" else found


def _trsm(
    plain: Any,
    alpha: Any,
    a: Any,
    b: Any,
    side: int = 0,
    lower: int = 0,
    trans_a: int = 0,
    diag: int = 0,
    overwrite_b: int = 0,
) -> Any:
    """X of op(A) X = alpha B, or of X op(A) = alpha B if `side`; op(A) is A, Aᵀ or Aᴴ."""
    if not holds_traced([alpha, a, b]):
        return plain(alpha, a, b, side=side, lower=lower, trans_a=trans_a, diag=diag, overwrite_b=overwrite_b)
    a, b = as_traced(a), alpha * as_traced(b)
    if trans_a:
        a, lower = (np.conjugate(a) if trans_a == 2 else a).T, not lower
    options = {"lower": bool(lower), "unit_diagonal": bool(diag)}
    if side:
        return solve_triangular(a, b.T, trans=1, **options).T
    return solve_triangular(a, b, **options)


IMPLEMENTED[scipy.linalg.get_blas_funcs] = get_blas_funcs
