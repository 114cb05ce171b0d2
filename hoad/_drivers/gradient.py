"""First derivatives: gradients, Jacobians, products with them, and linearizations."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hoad._core.trace.coerce import holds_traced
from hoad._core.record.recording import Recording, differentiating
from hoad._core.trace.traced import is_traced
from hoad._pytree.arguments import Argnames, Argnums, Choice, check_function
from hoad._pytree.containers import Forms, Name, spread
from hoad._drivers.dense import check_chunk, jacobian_blocks
from hoad._drivers.holomorphic import check_gradient, check_jacobian
from hoad._drivers.linear_map import LinearMap
from hoad.errors import ArgumentError, DTypeError, ShapeError, count
from hoad._program.trace import call_traced, output_name, output_operand, outputs, plain, split_aux


def require_scalar(recording: Recording, operand: int, driver: str) -> None:
    """Raise unless the operand is a real scalar."""
    aval = recording.aval(operand)
    if aval.shape:
        advice = "Use jacobian(f), or vjp with a cotangent."
        if aval.size == 1:
            item = ", ".join("0" for _ in aval.shape)
            advice = (
                f"Return its one item, f(x)[{item}], or np.sum(f(x)). SciPy's minimize, for one, calls f with x of "
                "shape (1,) where x0 is a number."
            )
        raise ShapeError(f"{driver} needs a scalar function, but f(x) has shape {aval.shape}. {advice}")


def one_like(recording: Recording, operand: int) -> int:
    """The seed 1 in the dtype of a scalar operand."""
    return recording.operand(recording.aval(operand).dtype.type(1.0))


def _sweep(
    f: Callable[..., Any],
    choice: Choice,
    has_aux: bool,
    holomorphic: bool,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> tuple[Any, Any, Any]:
    """(value, gradient as asked for, aux) by one reverse sweep."""
    driver = choice.driver
    with differentiating() as d:
        returned, forms = call_traced(d, f, args, choice.keys(args, kwargs), driver, kwargs)
        result, aux = split_aux(returned, has_aux, driver)
        y = output_operand(d, result, driver)
        require_scalar(d, y, driver)
        check_gradient(d, y, driver, holomorphic)
        aux = plain(aux, d.nested)
        del returned, result
        bars = d.adjoints([y], [one_like(d, y)], d.inputs)
        value, *gradients = d.results([y, *d.or_zeros(bars, d.inputs)])
    return value, choice.arranged(gradients, forms), aux


def value_and_grad(
    f: Callable[..., Any],
    argnums: Argnums = None,
    has_aux: bool = False,
    holomorphic: bool = False,
    *,
    argnames: Argnames = None,
) -> Callable[..., Any]:
    """The function ``x -> (f(x), ∇f(x))``.

    Parameters
    ----------
    f : callable
        A scalar function, written with NumPy: ``f(*args) -> ()``, or ``(value, aux)`` with `has_aux`.
    argnums : int, tuple or list of int, optional
        The arguments to differentiate with respect to, by position; 0 unless there are argnames.
    has_aux : bool, optional
        f returns ``(value, aux)``; aux is handed through.
    holomorphic : bool, optional
        f is a holomorphic function of complex arguments, and its complex derivative is meant.
    argnames : str, tuple or list of str, optional
        The arguments to differentiate with respect to, by name; they may be passed by position or as keywords.

    Returns
    -------
    callable
        Called like f; returns ``(value, gradient)``, or ``((value, aux), gradient)``, the gradient as that of `grad`.

    Raises
    ------
    ShapeError
        If f(x) is no scalar.
    DTypeError
        If an argument is no float and no complex number and holds none, or f(x) is complex and f is not said to be
        holomorphic.

    Notes
    -----
    Cost: f once, traced, and one reverse sweep: a small multiple of f, whatever the size of x. Memory: about 40 bytes
    a scalar operation, and the intermediate arrays.

    References
    ----------
    Griewank and Walther (2008), Evaluating Derivatives, section 3.2.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> hoad.value_and_grad(lambda x: np.sum(x**2))(np.array([1.0, 2.0]))
    (5.0, array([2., 4.]))
    """

    choice = Choice("value_and_grad", f, argnums, argnames)

    @functools.wraps(f, updated=())
    def value_and_gradient(*args: Any, **kwargs: Any) -> Any:
        value, found, aux = _sweep(f, choice, has_aux, holomorphic, args, kwargs)
        return ((value, aux) if has_aux else value), found

    return value_and_gradient


def grad(
    f: Callable[..., Any],
    argnums: Argnums = None,
    has_aux: bool = False,
    holomorphic: bool = False,
    *,
    argnames: Argnames = None,
) -> Callable[..., Any]:
    """The gradient function ``x -> ∇f(x)`` of a scalar function.

    Parameters
    ----------
    f : callable
        A scalar function, written with NumPy: ``f(*args) -> ()``, or ``(value, aux)`` with `has_aux`.
    argnums : int, tuple or list of int, optional
        The arguments to differentiate with respect to, by position; 0 unless there are argnames.
    has_aux : bool, optional
        f returns ``(value, aux)``; aux is handed through.
    holomorphic : bool, optional
        f is a holomorphic function of complex arguments, and its complex derivative is meant.
    argnames : str, tuple or list of str, optional
        The arguments to differentiate with respect to, by name; they may be passed by position or as keywords.

    Returns
    -------
    callable
        Called like f; returns the gradient, or ``(gradient, aux)``. The gradient has the structure of its argument,
        with None in the place of what is no float. It is a tuple for a tuple of argnums, a dict for a tuple of
        argnames, a pair of both for both. Its units are those of f over those of the argument.

    Raises
    ------
    ArgumentError
        If f cannot be called.
    ShapeError
        If f(x) is no scalar: use `jacobian`, or `vjp` with a cotangent.
    DTypeError
        If an argument is no float and no complex number and holds none, or f(x) is complex and f is not said to be
        holomorphic.

    Notes
    -----
    Cost: f once, traced, and one reverse sweep: a small multiple of f, whatever the size of x. Memory: about 40 bytes
    a scalar operation, and the intermediate arrays.

    Singular points: at a kink (``abs``, ``norm``, ``hypot`` at 0) the gradient is the subgradient 0; ties of ``max``,
    ``min``, ``maximum``, ``minimum`` and ``clip`` share equally; what ``np.where`` leaves out gives 0, whatever its own
    derivative is. At a pole it is inf or nan, as IEEE arithmetic gives. See docs/design/0003-singular-points.md.

    Complex arguments: the gradient of a real f by z = x + iy is ∂f/∂x - i ∂f/∂y, so that df = Re(g dz). The steepest
    ascent is along its conjugate. See docs/howto/complex.md.

    References
    ----------
    Griewank and Walther (2008), Evaluating Derivatives, section 3.2.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> hoad.grad(np.tanh)(0.0)
    1.0
    >>> hoad.grad(lambda x: np.sum(x**3))(np.array([1.0, 2.0]))
    array([ 3., 12.])
    >>> hoad.grad(lambda p: np.sum(p["w"] ** p["n"]))({"w": np.array([1.0, 2.0]), "n": 3})
    {'w': array([ 3., 12.]), 'n': None}
    >>> hoad.grad(lambda x, rate=1.0: np.exp(rate * x), argnames="rate")(2.0, rate=0.0)
    2.0
    """

    choice = Choice("grad", f, argnums, argnames)

    @functools.wraps(f, updated=())
    def gradient(*args: Any, **kwargs: Any) -> Any:
        _, found, aux = _sweep(f, choice, has_aux, holomorphic, args, kwargs)
        return (found, aux) if has_aux else found

    return gradient


def check_numbers(value: Any, what: str | Name) -> None:
    """Raise unless a tangent, a cotangent or a seed is made of numbers."""
    if is_traced(value) or isinstance(value, (float, int)) or holds_traced(value):
        return
    dtype = np.asarray(value).dtype
    if dtype.kind not in "biufc":
        found = type(value).__name__ if np.ndim(value) == 0 else f"an array of {dtype}"
        raise DTypeError(f"{what} must be a float or an array of floats, but is {found}.")


def as_like(recording: Recording, value: Any, like: int, what: str | Name) -> int:
    """The operand of a tangent or cotangent, checked against what it belongs to."""
    aval = recording.aval(like)
    check_numbers(value, what)
    operand = recording.operand(value)
    found = recording.aval(operand)
    if found.shape != aval.shape:
        raise ShapeError(f"{what} must have shape {aval.shape}, but has shape {found.shape}.")
    if found.dtype != aval.dtype:
        if not np.can_cast(found.dtype, aval.dtype, "same_kind"):
            raise ShapeError(f"{what} must have dtype {aval.dtype}, but has dtype {found.dtype}.")
        cast = value.astype(aval.dtype) if hasattr(value, "astype") else np.asarray(value, aval.dtype)
        operand = recording.operand(cast)
    return operand


def seeds_of(recording: Recording, values: Sequence[Any], forms: Forms | None, whats: Sequence[str]) -> list[int]:
    """The operands of tangents of the inputs, from one for each argument."""
    names: Sequence[str | Name] = whats
    if forms is not None:
        values, names = spread(values, forms, whats)
    return [as_like(recording, v, x, name) for v, x, name in zip(values, recording.inputs, names, strict=True)]


def jvp(
    f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool = False
) -> tuple[Any, ...]:
    """The value and the derivative along a direction: ``(f(x), J(x) ẋ)``.

    Parameters
    ----------
    f : callable
        Written with NumPy; its result may have any shape (S), or be a container of such results.
    primals : tuple
        The arguments of f, each a float, an array or a container of them.
    tangents : tuple
        A direction for each, of its shape or structure; None, or the constant, in the place of constants.
    has_aux : bool, optional
        f returns ``(value, aux)``; aux is returned as a third item.

    Returns
    -------
    tuple
        ``(value, tangent)``, both of shape (S), or ``(value, tangent, aux)``. Of a result that is a container, the
        tangent has its structure, with None in the place of what is no number.

    Raises
    ------
    ShapeError
        If a tangent does not fit its primal.
    DTypeError
        If an argument is no float and no complex number and holds none.

    Notes
    -----
    Cost: f once, traced, and one forward sweep; memory as for `grad`.

    References
    ----------
    Griewank and Walther (2008), Evaluating Derivatives, section 3.1.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> hoad.jvp(np.sin, (0.0,), (2.0,))
    (0.0, 2.0)
    """
    check_function("jvp", f)
    if not isinstance(primals, (tuple, list)) or not isinstance(tangents, (tuple, list)):
        raise ShapeError("jvp takes primals and tangents as tuples, one item per argument: jvp(f, (x,), (x_dot,)).")
    if len(primals) != len(tangents):
        raise ShapeError(
            f"jvp was given {count(len(primals), 'primal')} and {count(len(tangents), 'tangent')}. Give one for each."
        )
    with differentiating() as d:
        returned, forms = call_traced(d, f, tuple(primals), tuple(range(len(primals))), "jvp")
        result, aux = split_aux(returned, has_aux, "jvp")
        ys, parts = outputs(d, result, "jvp")
        aux = plain(aux, d.nested)
        del returned, result
        seeds = seeds_of(d, tangents, forms, [f"tangent {k}" for k in range(len(tangents))])
        found = d.results([*ys, *d.or_zeros(d.tangents(ys, d.inputs, seeds), ys)])
    values, dots = found[: len(ys)], found[len(ys) :]
    both = (values[0], dots[0]) if parts is None else (parts.filled(values), parts.derivative(dots))
    return (*both, aux) if has_aux else both


def vjp(f: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """The value, and the pullback of adjoints: ``(f(x), ȳ -> ȳᵀ J(x))``.

    Parameters
    ----------
    f : callable
        Written with NumPy; its result may have any shape (S), or be a container of such results.
    *primals
        The arguments of f, each a float, an array or a container of them.
    has_aux : bool, optional
        f returns ``(value, aux)``; aux is returned as a third item.

    Returns
    -------
    tuple
        ``(value, pullback)``, or ``(value, pullback, aux)``. ``pullback(y_bar)``, with y_bar of shape (S), gives a
        tuple of adjoints, one per argument. It can be called any number of times, on traced values too. Cotangents have
        the structure of the value, adjoints those of the arguments, with None in the place of constants.

    Raises
    ------
    ShapeError
        If a cotangent does not fit the value.
    DTypeError
        If an argument is no float and no complex number and holds none.

    Notes
    -----
    Cost: f once, traced, and one reverse sweep; a call of the pullback replays what was emitted.

    Complex numbers: adjoints belong to dL = Re(ȳ dy), so that the adjoint of z = x + iy is ∂L/∂x - i ∂L/∂y, and a
    holomorphic f takes ȳ to ȳ f′(z). The cotangent 1 asks for the real part of f, -1j for the imaginary part.

    References
    ----------
    Griewank and Walther (2008), Evaluating Derivatives, section 3.2.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> value, pullback = hoad.vjp(lambda x: x**2, np.array([1.0, 2.0]))
    >>> pullback(np.ones(2))
    (array([2., 4.]),)
    """

    value, aux, linear = _linear(f, primals, has_aux, "vjp")

    def pullback(cotangent: Any) -> tuple[Any, ...]:
        return tuple(linear((cotangent,)))

    return (value, pullback, aux) if has_aux else (value, pullback)


def linearize(f: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """The value, and the derivative there as a linear function: ``(f(x), ẋ -> J(x) ẋ)``.

    Parameters
    ----------
    f : callable
        Written with NumPy; its result may have any shape (S), or be a container of such results.
    *primals
        The arguments of f, each a float, an array or a container of them.
    has_aux : bool, optional
        f returns ``(value, aux)``; aux is returned as a third item.

    Returns
    -------
    tuple
        ``(value, pushforward)``, or ``(value, pushforward, aux)``. ``pushforward(*tangents)``, a tangent per argument,
        has shape (S). It can be called any number of times, on traced values too. Tangents have the structures of the
        arguments, the result that of the value, with None in the place of constants.

    Raises
    ------
    ShapeError
        If a tangent does not fit its argument.
    DTypeError
        If an argument is no float and no complex number and holds none.

    Notes
    -----
    Cost: f once, traced, and one forward sweep; a call of the linear function replays what was emitted.

    References
    ----------
    Griewank and Walther (2008), Evaluating Derivatives, section 3.1.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> value, pushforward = hoad.linearize(np.sin, 0.0)
    >>> pushforward(3.0)
    3.0
    """

    value, aux, linear = _linear(f, primals, has_aux, "linearize")

    def pushforward(*tangents: Any) -> Any:
        return linear(tangents)[0]

    return (value, pushforward, aux) if has_aux else (value, pushforward)


def _linear(f: Callable[..., Any], primals: tuple[Any, ...], has_aux: bool, driver: str) -> tuple[Any, Any, LinearMap]:
    """f's value and aux, and its derivative as a linear map, of adjoints for vjp, of tangents for linearize."""
    check_function(driver, f)
    if not primals:
        raise ShapeError(f"{driver} needs the arguments of f: {driver}(f, x).")
    with differentiating() as d:
        returned, forms = call_traced(d, f, primals, tuple(range(len(primals))), driver)
        result, aux = split_aux(returned, has_aux, driver)
        ys, parts = outputs(d, result, driver)
        aux = plain(aux, d.nested)
        values = d.results(ys)
        value = values[0] if parts is None else parts.filled(values)
        linear = LinearMap(d, ys, (forms, None if parts is None else [parts]), driver == "vjp", result)
        del returned, result
    return value, aux, linear


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
    f : callable
        Written with NumPy; its result may have any shape (S), or be a container of such results.
    argnums : int, tuple or list of int, optional
        The arguments to differentiate with respect to, by position; 0 unless there are argnames.
    has_aux : bool, optional
        f returns ``(value, aux)``; aux is handed through.
    holomorphic : bool, optional
        f is a holomorphic function of complex arguments, and its complex derivative is meant.
    mode : {"auto", "forward", "reverse"}, optional
        How to sweep; "auto" takes the side, inputs or outputs, with fewer entries.
    argnames : str, tuple or list of str, optional
        The arguments to differentiate with respect to, by name; they may be passed by position or as keywords.
    chunk : int, optional
        Lanes to sweep together, at most; by default as many as pay in bounded memory. Fewer take less memory. Inside
        another derivative `vmap` decides.

    Returns
    -------
    callable
        Called like f; returns an array of shape ``(*S, *x.shape)``, or ``(jacobian, aux)``. Several arguments give what
        they give for `grad`. Containers nest: the structure of f(x) outside, that of x within it, None in the place of
        constants. Units: those of f over those of x, entry by entry.

    Raises
    ------
    ArgumentError
        If f cannot be called, there is no such mode, or `chunk` is no number of lanes.
    ShapeError, DTypeError
        If the result or an argument is no number and no array of them, or both are complex and f is not said to be
        holomorphic.

    Notes
    -----
    Cost: f once, traced, and one sweep, evaluated in lanes of bounded memory for each entry of x (forward) or of
    f(x) (reverse); where the recorded operations give a band or blocks along the diagonal, for each column of the band.
    `dense_plan` says which. Inside another derivative it is one node, a map over the entries.

    Singular points: as for `grad`, entry by entry; an output that does not depend on an entry of x has derivative 0 by
    it even where others are infinite.

    Complex numbers: the Jacobian of a complex function of real arguments is that of its real part and i times that of
    its imaginary part; that of a real function by z = x + iy is ∂f/∂x - i ∂f/∂y.

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


__all__ = ["grad", "jacobian", "jvp", "linearize", "value_and_grad", "vjp"]
