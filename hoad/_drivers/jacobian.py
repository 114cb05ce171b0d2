"""Jacobians, in lanes of either sweep."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from hoad._core.record.recording import differentiating
from hoad._docstrings import docfiller
from hoad._drivers.dense import check_chunk, jacobian_blocks
from hoad._drivers.holomorphic import check_jacobian
from hoad._program.trace import call_traced, output_name, outputs, plain, split_aux
from hoad._pytree.arguments import Argnames, Argnums, Choice
from hoad.errors import ArgumentError


@docfiller
def jacobian(
    f: Callable[..., Any],
    argnums: Argnums = None,
    has_aux: bool = False,
    holomorphic: bool = False,
    mode: str = "auto",
    *,
    argnames: Argnames = None,
    chunk: int | None = None,
) -> Callable[..., Any]:
    """The Jacobian function ``x -> ∂f/∂x``.

    Parameters
    ----------
    %(f_any_shape)s
    %(argnums)s
    %(has_aux)s
    %(holomorphic)s
    mode : {"auto", "forward", "reverse"}, optional
        The sweep; "auto" chooses by whether the inputs or the outputs have fewer entries.
    %(argnames)s
    %(chunk)s

    Returns
    -------
    callable
        Called like f; returns an array of shape ``(*S, *x.shape)``, or ``(jacobian, aux)``. Several arguments are
        arranged as for `grad`. Containers nest: the structure of f(x) outside, that of x inside, None in place of
        constants. Units: those of f over those of x, entry by entry.

    Raises
    ------
    ArgumentError
        If f cannot be called, the mode is unknown, or `chunk` is not a number of lanes.
    ShapeError, DTypeError
        If the result or an argument is neither a number nor an array of numbers, or both are complex and `holomorphic`
        is False.

    Notes
    -----
    Cost: f once, traced, and one sweep, evaluated in lanes of bounded memory, a lane for each entry of x (forward) or
    of f(x) (reverse). If the Jacobian is banded or block diagonal by the recorded operations, a lane for each column of
    the band. `dense_plan` tells which. Inside another derivative the Jacobian is one node, a map over the entries.

    Singular points: as for `grad`, entry by entry. If an output does not depend on an entry of x, that derivative is 0
    even where others are infinite.

    Complex numbers: the Jacobian of a complex function of real arguments is that of its real part plus i times that of
    its imaginary part. The Jacobian of a real function with respect to z = x + iy is ∂f/∂x - i ∂f/∂y.

    References
    ----------
    Griewank and Walther (2008), Evaluating Derivatives, sections 3.1 to 3.3.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> hoad.jacobian(lambda x: np.array([x[0] * x[1], x[0]]))(np.array([2.0, 3.0]))
    array([[3., 2.],
           [1., 0.]])
    >>> hoad.jacobian(lambda p: (p["a"] * p["b"], p["b"] ** 2))({"a": 2.0, "b": 3.0})
    ({'a': 3.0, 'b': 2.0}, {'a': 0.0, 'b': 6.0})
    """
    choice = Choice("jacobian", f, argnums, argnames)
    check_chunk("jacobian", chunk)
    if mode not in ("auto", "forward", "reverse"):
        raise ArgumentError(f"jacobian takes mode 'auto', 'forward' or 'reverse', not {mode!r}.")

    @functools.wraps(f, updated=())
    def jacobian_of(*args: Any, **kwargs: Any) -> Any:
        with differentiating() as d:
            returned, forms = call_traced(d, f, args, choice.keys(args, kwargs), "jacobian", kwargs)
            result, aux = split_aux(returned, has_aux, "jacobian")
            ys, parts = outputs(d, result, "jacobian")
            for n, y in enumerate(ys):
                check_jacobian(d, y, holomorphic, output_name(parts, n))
            aux = plain(aux, d.nested)
            del returned, result
            rows = [choice.arranged(row, forms) for row in jacobian_blocks(d, ys, d.inputs, mode, chunk)]
        found = rows[0] if parts is None else parts.derivative(rows)
        return (found, aux) if has_aux else found

    return jacobian_of
