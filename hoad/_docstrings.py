"""Paragraphs that several docstrings share. A docstring includes one by ``%(name)s`` on a separate line."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])

docdict = {
    "f_scalar": """\
f : callable
    A scalar function, written with NumPy: ``f(*args) -> ()``, or ``(value, aux)`` with `has_aux`.""",
    "f_any_shape": """\
f : callable
    A function written with NumPy. Its result has any shape (S), or is a container of such results.""",
    "f_of_array": """\
f : callable
    A function of a float or an array of shape (S), with values of shape (T); it may return a container. Derivatives
    are taken with respect to this first argument; the other arguments are constants.""",
    "argnums": """\
argnums : int, tuple or list of int, optional
    The arguments to differentiate with respect to, by position. The default is 0, or none with `argnames`.""",
    "argnames": """\
argnames : str, tuple or list of str, optional
    The arguments to differentiate with respect to, by name. They may be passed by position or by keyword.""",
    "has_aux": """\
has_aux : bool, optional
    True if f returns ``(value, aux)``; aux is then returned too.""",
    "has_aux_third": """\
has_aux : bool, optional
    True if f returns ``(value, aux)``; aux is then returned as a third item.""",
    "holomorphic": """\
holomorphic : bool, optional
    True if f is a holomorphic function of complex arguments, to be differentiated with respect to them.""",
    "chunk": """\
chunk : int, optional
    The largest number of lanes to sweep together; the default is the fastest number in bounded memory. Fewer lanes
    take less memory. Inside another derivative `vmap` decides.""",
    "hessian_product": """\
callable
    Called with the arguments of f and then a direction v, of the shape or structure of x as `grad` returns it (None,
    or the constant, in the place of constants). Keyword arguments are passed to f. Returns a product of that form, or
    ``(product, aux)``.

Raises
------
ShapeError
    If f(x) is not a scalar, or v does not have the shape of x.
DTypeError
    If an argument is neither a float nor a complex number and contains none, f(x) is complex, or v has another
    dtype.""",
    "point_raises": """\
DTypeError
    If x is neither a float nor an array of floats.
DomainError
    If f is finite at x and a derivative is not. Inside another derivative, and under `jit`, the derivative is inf or
    nan instead.""",
    "sparse_f": """\
f : callable
    A real function of a real array x of shape (S), N entries, written with NumPy. Derivatives are taken with respect to
    this first argument; the other arguments are constants. An x of float32 is given to f in double precision.""",
    "sparse_format": """\
format : {"csr", "csc", "coo", "triplets"}, optional
    The form of the result: an array of `scipy.sparse`, or a `Triplets` of values, rows and columns, which also holds
    traced values, inside another derivative.""",
    "sparse_triangle": """\
triangle : {"lower", "upper", None}, optional
    The part of the matrix that is given, its diagonal included. The default is all of it.""",
    "sparse_scope": """\
scope : {"global", "local"}, optional
    "global": wherever the branches are taken that f takes at x; both sides of `numpy.where`, `numpy.maximum`,
    `numpy.clip` and the like count. "local": at x, where only the chosen sides count.""",
    "sparse_raises": """\
ArgumentError
    If f cannot be called, x is a container, or an option is none of those above.
DTypeError
    If x is not a float or an array of floats, or x or f(x) is complex.""",
    "check_args": """\
*args
    The point: the arguments of f, floats and arrays.""",
    "check_choices": """\
rtol : float, optional
    The largest relative error of a component that counts as right.
most : int, optional
    How many entries of x to check one by one. If there are more, this number is drawn at random, and a random
    direction checks all of them together.
seed : int, optional
    The seed of all random choices.""",
    "check_returns": """\
DerivativeReport
    Prints as a table of components; has `passed`, `assert_passed()` and `plot()`.""",
    "check_raises": """\
DTypeError
    If an argument is not a float.
CheckError
    If f or its derivative raises an arithmetic error at x, or writes to x.
ArgumentError
    If one of the functions cannot be called.""",
    "plot": """\
Parameters
----------
ax : matplotlib axes, optional
    Where to draw; a new figure by default.

Returns
-------
matplotlib figure
    The figure.""",
    "ode_times": """\
t : array, shape (T,)
    Times, increasing or decreasing.
args : tuple, optional
    Further arguments of rhs.""",
}
docdict["array_raises"] = f"""\
ArgumentError
    If f cannot be called.
ShapeError
    If x is empty.
{docdict["point_raises"]}"""


def docfiller(function: _Function) -> _Function:
    """The function, its docstring filled in from `docdict`."""
    if function.__doc__:  # which python -OO leaves out
        text, *parts = function.__doc__.split("%(")
        for part in parts:
            name, _, rest = part.partition(")s")
            text += textwrap.indent(docdict[name], text[text.rindex("\n") + 1 :]).lstrip() + rest
        function.__doc__ = text
    return function
