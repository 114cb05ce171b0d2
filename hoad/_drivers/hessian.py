"""Hessians of scalar functions, forward over reverse."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from hoad._core.record.recording import differentiating
from hoad._docstrings import docfiller
from hoad._drivers.dense import check_chunk, jacobian_blocks
from hoad._drivers.gradient import scalar_output
from hoad._drivers.holomorphic import check_hessian
from hoad._pytree.arguments import Argnames, Argnums, Choice


@docfiller
def hessian(
    f: Callable[..., Any],
    argnums: Argnums = None,
    has_aux: bool = False,
    holomorphic: bool = False,
    *,
    argnames: Argnames = None,
    chunk: int | None = None,
) -> Callable[..., Any]:
    """The Hessian function ``x -> ∇²f(x)`` of a scalar function.

    Parameters
    ----------
    %(f_scalar)s
    %(argnums)s
    %(has_aux)s
    %(holomorphic)s
    %(argnames)s
    %(chunk)s

    Returns
    -------
    callable
        Called like f; returns an array of shape ``(*x.shape, *x.shape)``; ``(hessian, aux)`` with `has_aux`. Several
        arguments and containers nest twice, with ``∂²f/∂x_i∂x_j`` at ``[i][j]``: a tuple of tuples for a tuple of
        argnums, a dict of dicts for a dict. Units: those of f over those of the two entries of x.

    Raises
    ------
    ArgumentError
        If f cannot be called, or `chunk` is not a number of lanes.
    ShapeError
        If f(x) is not a scalar.
    DTypeError
        If an argument is neither a float nor a complex number and contains none, or an argument or f(x) is complex and
        `holomorphic` is False.

    Notes
    -----
    Cost: f once, traced, a reverse sweep and a forward sweep over it, evaluated in a lane for each entry of x. If the
    Hessian is banded or block diagonal by the recorded operations, in a lane for each column of the band. `dense_plan`
    tells which. Inside another derivative the Hessian is one node, a map over the entries.

    Singular points: the Hessian is the derivative of the gradient that `grad` returns, so it is 0 at a kink.

    References
    ----------
    Griewank and Walther (2008), Evaluating Derivatives, section 5.4 (forward over reverse).

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> hoad.hessian(lambda x: x[0] ** 2 * x[1])(np.array([1.0, 3.0]))
    array([[6., 2.],
           [2., 0.]])
    >>> hoad.hessian(lambda p: p["a"] ** 2 * p["b"])({"a": 1.0, "b": 3.0})
    {'a': {'a': 6.0, 'b': 2.0}, 'b': {'a': 2.0, 'b': 0.0}}
    """

    choice = Choice("hessian", f, argnums, argnames)
    check_chunk("hessian", chunk)

    @functools.wraps(f, updated=())
    def hessian_of(*args: Any, **kwargs: Any) -> Any:
        with differentiating() as d:
            y, forms, aux = scalar_output(d, f, choice, has_aux, args, kwargs)
            check_hessian(d, y, holomorphic)
            bars = d.or_zeros(d.adjoints([y], [d.one_like(y)], d.inputs), d.inputs)
            rows = jacobian_blocks(d, bars, d.inputs, "forward", chunk)
            found = choice.arranged([choice.arranged(row, forms) for row in rows], forms)
        return (found, aux) if has_aux else found

    return hessian_of
