"""Registering derivative rules and primitives."""

from __future__ import annotations

import contextvars
import functools
import importlib
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, overload

import numpy as np

from hoad._core.base.where import here, name_of
from hoad._core.graph.primitive import PYTHON, RESULTS_LIMIT, Primitive, next_epoch
from hoad._core.graph.tape import AbstractValue, intern_aval
from hoad._core.ops.plan import broadcast_shapes
from hoad._core.trace.calls import apply_primitive
from hoad._core.trace.coerce import holds_traced
from hoad._core.trace.traced import FUNCTIONS
from hoad._ops.primitives import DISPATCHED, FUNCTION_PRIMITIVES, declare_ufunc, known_primitive, within
from hoad._program.trace import recorder_among
from hoad._pytree.arguments import check_function, parameters
from hoad.errors import ArgumentError, RuleError, ShapeError, count
from hoad.rules.from_series import Derivatives

Rule = Callable[..., Any]
F = TypeVar("F", bound=Callable[..., Any])

MANY = 10**6  # operands of a rule that takes any number


def _named(name: str) -> Any:
    """What a name stands for in NumPy, or in SciPy for one that begins with it."""
    if name.startswith("scipy."):
        module, _, function = name.rpartition(".")
        try:
            return getattr(importlib.import_module(module), function, None)
        except ImportError:
            return None
    found: Any = np
    for part in name.removeprefix("np.").removeprefix("numpy.").split("."):
        found = getattr(found, part, None)
    return found


def _found(target: Any) -> Any:
    """The function that `target` is, or names."""
    if not isinstance(target, str):
        return within(target)
    found = _named(target) or _named(target.removeprefix("vjp_"))
    if found is None:
        raise RuleError(
            f"{target!r} names no function that NumPy (or SciPy, for a name that begins with it) has here. Give the "
            "function itself, or name the rule after one."
        )
    return within(found)


def _resolve(target: Any) -> Primitive:
    """The primitive that `target` is or names: one that is known, or a new one for what NumPy dispatches."""
    target = _found(target)
    if (known := known_primitive(target)) is not None:
        return known
    if isinstance(target, np.ufunc) and target not in FUNCTIONS and _is_elementwise(target):
        return declare_ufunc(target, name_of(target), costly=True)
    if target in FUNCTIONS:
        raise RuleError(
            f"{name_of(target)} is composed of primitives that have rules, and takes its derivative from them. "
            "Wrap it in a function of your own with @hoad.primitive to give it another rule."
        )
    if isinstance(target, (np.ufunc, DISPATCHED)):
        return _function_primitive(target)
    if not callable(target):
        raise RuleError(f"a rule is that of a function, but {target!r} is not one. Give defvjp the function.")
    name = name_of(target) if hasattr(target, "__name__") else repr(target)
    if "<" in name and inspect.isfunction(target):
        name = target.__name__  # of a lambda, or a function in a function
    if not name.startswith(("np.", "scipy.")) and inspect.isfunction(target):
        raise RuleError(f"{name} is not a primitive. Declare the function with @hoad.primitive first.")
    raise RuleError(
        f"{name} is not a primitive, and NumPy does not tell hoad when it is called. Make one of it, and call that: "
        f"{name.rpartition('.')[2]} = hoad.primitive({name}), then hoad.defvjp of the result."
    )


def _is_elementwise(ufunc: np.ufunc) -> bool:
    """Whether a ufunc of another library works as those of NumPy do: floats to floats, element by element."""
    if ufunc.signature is not None:
        return False
    return any(set(types) <= set("dlpqi->") and types.endswith("d") for types in ufunc.types)


def _function_primitive(function: Callable[..., Any]) -> Primitive:
    """A primitive for a NumPy or SciPy function that hoad has no implementation of."""
    name = name_of(function) if isinstance(function, np.ufunc) else function.__name__
    made = _declare(function, name, nin=-1, nout=1, linear=())
    FUNCTIONS[function] = lambda *args, **kwargs: _call(made, function, args, kwargs)
    FUNCTION_PRIMITIVES[function] = made
    return made


def set_rule(target: Any, rule: Rule, per_call: bool = False, replace: bool = False) -> None:
    """Give a primitive its rule; templates of an earlier rule are forgotten."""
    if not callable(rule):
        raise RuleError(f"a rule is a function of (g, p, *operands), but {rule!r} was given.")
    if positional(rule) < 3:
        form = f"{getattr(rule, '__name__', 'this one')}{inspect.signature(rule)}"
        raise RuleError(f"a rule is a function of (g, p, *operands), but {form} names no operand. Name at least one.")
    made = _resolve(target)
    name = made.name if made.function is None else name_of(made.function)
    if isinstance(made.function, np.ufunc) and {types[-1] for types in made.function.types if types[0] == "d"} == {"?"}:
        raise RuleError(f"{name} returns booleans, whose derivative is zero, so a rule for it is never used.")
    # hoad.rules itself declares its rules again when it is reloaded
    if not replace and _has_own_rule(made) and not _is_own(rule):
        raise RuleError(
            f"{name} has a rule of hoad's, and this one ({getattr(rule, '__name__', repr(rule))}) would replace it "
            "everywhere in the process. For a function of your own of that name, declare the function with "
            f"@hoad.primitive and give it to defvjp: @hoad.defvjp({name.rpartition('.')[2]}). To replace the rule of "
            f"{name}, pass replace=True."
        )
    made.rule = rule
    made.rule_name = getattr(rule, "__name__", "the rule")
    made.per_call = per_call
    made.version += 1
    next_epoch()


def _has_own_rule(made: Primitive) -> bool:
    """Whether a primitive of NumPy's or SciPy's has the rule that hoad gave it."""
    return made.qualified is None and _is_own(made.rule)


def _is_own(rule: Any) -> bool:
    """Whether a rule is one of hoad's tables."""
    return str(getattr(rule, "__module__", "")).startswith("hoad.rules.")


def _namesake(rule: Rule, replace: bool) -> str:
    """The name of a rule that is named after a function of NumPy, and not after a primitive beside it."""
    name = rule.__name__
    for known in (name, name.removeprefix("vjp_")):
        beside = hasattr(getattr(rule, "__globals__", {}).get(known), "__hoad_primitive__")
        numpys = known_primitive(getattr(np, known, None)) if replace else None
        if beside and (numpys is None or numpys.rule is None):  # there is none that it could replace
            raise RuleError(
                f"the rule {name} names no function, and {known} is a primitive of yours, in the same module. Give "
                f"defvjp the function: @hoad.defvjp({known}), or @hoad.defvjp(np.{known}) for that of NumPy."
            )
    return name


@overload
def defvjp(function: Any, rule: Rule, *, per_call: bool = False, replace: bool = False) -> Rule: ...
@overload
def defvjp(function: Any = None, *, per_call: bool = False, replace: bool = False) -> Any: ...
def defvjp(function: Any = None, rule: Rule | None = None, *, per_call: bool = False, replace: bool = False) -> Any:
    """Register the derivative rule of a function: ``rule(g, p, *operands) -> (adjoint of each operand, ...)``.

    One rule serves every mode: reverse by splicing it, forward by transposing it.

    Parameters
    ----------
    function : callable, optional
        What the rule belongs to: one made with `hoad.primitive`, a function of NumPy, or a ufunc of `scipy.special`. It
        is found by the object itself. A string is looked up in NumPy, or in SciPy: ``"scipy.special.erf"``.
    rule : callable, optional
        The rule: g is the adjoint of the result, p the result. Left out, `defvjp` is a decorator of it.
    per_call : bool, optional
        The rule branches on values, so it is run at every node instead of once per signature.
    replace : bool, optional
        Replace a rule of hoad's own, such as that of `np.sin`.

    Returns
    -------
    callable
        The rule, or a decorator for it.

    Raises
    ------
    RuleError
        If `function` is not a primitive, returns booleans, or has a rule of hoad's own and `replace` is not set. A rule
        that returns the wrong number or shape of adjoints, or is not linear in g, raises when it is first used.

    See Also
    --------
    primitive : make a function one operation.
    custom_vjp : give a function composed of others a rule of its own.

    Notes
    -----
    Cost: the rule runs once per signature (primitive, parameters, shapes, active operands). What it reads besides its
    arguments is kept as it was then; a rule with `per_call` reads it anew.

    The rule holds in the whole process, for every user of the function. A second rule replaces the first; a rule of
    hoad's own is replaced only with ``replace=True``.

    `hoad.rules.vjp` is the same function. The rule is one function for all operands, where autograd's ``defvjp`` takes
    one for each.

    Without `function`, the rule is that of the function of NumPy that it is named after, with or without ``vjp_`` in
    front: ``@hoad.rules.vjp(replace=True)`` above ``def sin(g, p, x)``. It never is that of another function of this
    name.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> @hoad.primitive
    ... def sine(x):
    ...     return np.sin(x)
    >>> _ = hoad.defvjp(sine, lambda g, p, x: (g * np.cos(x),))
    >>> hoad.grad(sine)(0.0)
    1.0

    As a decorator, in place of the rule before:

    >>> @hoad.defvjp(sine)
    ... def slope_of_sine(g, p, x):
    ...     return (2 * g * np.cos(x),)
    >>> hoad.grad(sine)(0.0)
    2.0
    """
    if rule is not None:
        set_rule(function, rule, per_call, replace)
        return rule
    if inspect.isfunction(function) and function.__module__.split(".")[0] not in ("numpy", "scipy"):
        if not hasattr(function, "__hoad_primitive__"):
            set_rule(_namesake(function, replace), function, per_call, replace)
            return function

    def decorate(rule: Rule) -> Rule:
        set_rule(_namesake(rule, replace) if function is None else function, rule, per_call, replace)
        return rule

    return decorate


vjp = defvjp  # the name in the tables of rules


def rule_of(target: Any) -> Rule:
    """The derivative rule that a function has, ``rule(g, p, *operands)``.

    Parameters
    ----------
    target : ufunc, function or str
        What `defvjp` takes: a NumPy function, one declared with `hoad.primitive`, or a name.

    Returns
    -------
    callable
        The rule as it was registered. On plain numbers most rules compute numbers: the products of g and the partial
        derivatives.

    Raises
    ------
    RuleError
        If `target` names no primitive.
    NoRuleError
        If it has no rule.

    Notes
    -----
    Cost: a look-up.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> rule = hoad.rules.rule_of(np.multiply)
    >>> rule(10.0, 6.0, 2.0, 3.0)
    (30.0, 20.0)
    """
    function = _found(target)
    known = known_primitive(function)
    if known is not None:
        rule: Rule = known.require_rule()
        return rule
    name = name_of(function) if hasattr(function, "__name__") else repr(function)
    raise RuleError(
        f"{name} is not a primitive, so it has no rule. What is composed of primitives takes its derivative from "
        "theirs; anything else becomes one with @hoad.primitive."
    )


# ---- primitives of the user's ---------------------------------------------------------------------------------------


def _infer_by_call(function: Callable[..., Any], nout: int) -> Callable[..., tuple[AbstractValue, ...]]:
    """Shapes and dtypes of the results, found by calling the function on ones."""

    def infer(params: Any, *operands: AbstractValue) -> tuple[AbstractValue, ...]:
        ones = [1.0 if x.number == 0 else np.ones(x.shape, x.dtype) for x in operands]
        inexact = any(x.inexact for x in operands)
        def call() -> Any:
            with np.errstate(all="ignore"):
                return function(params, *ones)

        try:
            results = contextvars.Context().run(call)  # no part of the recording that runs
        except Exception as failure:
            shapes = ", ".join("a float" if x.number == 0 else f"an array of shape {x.shape}" for x in operands)
            raise RuleError(
                f"{function.__name__} cannot be recorded ({here()}): called with ones ({shapes}) to find the shape of "
                f"its result, it raised {type(failure).__name__}: {failure}. A primitive is given floats and arrays as "
                "they come, and must take ones: write it for arrays, or give np.vectorize of it to hoad.primitive."
            ) from failure
        results = results if nout > 1 else (results,)
        if len(results) != nout:
            raise RuleError(
                f"{function.__name__} returned {count(len(results), 'result')}, but nout={nout} was declared. Return "
                "as many, or declare it with @hoad.primitive(nout=...)."
            )
        # a Python int, as of max(0, 1 - x), is a number that happens to be whole here
        found = [np.asarray(float(r) if type(r) is int and inexact else r) for r in results]
        return tuple(intern_aval(r.dtype, r.shape) for r in found)

    return infer


def _infer_by_shape(shape: Callable[..., Any], name: str, nout: int) -> Callable[..., tuple[AbstractValue, ...]]:
    """Shapes and dtypes of the results, as declared."""

    def infer(params: Any, *operands: AbstractValue) -> tuple[AbstractValue, ...]:
        declared = shape(*operands, **dict(params))
        results = declared if nout > 1 else (declared,)
        if not isinstance(results, tuple) or len(results) != nout:
            raise RuleError(f"shape of {name} gave {declared!r} for {count(nout, 'result')}. Give a tuple of shapes.")
        inexact = [x.dtype for x in operands if x.inexact]
        dtype = np.result_type(*inexact) if inexact else np.dtype(np.float64)
        return tuple(_declared_aval(result, dtype, name) for result in results)

    return infer


def _broadcast_shapes(name: str, nout: int) -> Callable[..., Any]:
    """The shapes of results that are made element by element."""

    def shape(*operands: AbstractValue, **parameters: Any) -> Any:
        try:
            found = broadcast_shapes(*[x.shape for x in operands])
        except ValueError:
            shapes = " and ".join(str(x.shape) for x in operands)
            raise ShapeError(
                f"{name} works element by element, but shapes {shapes} do not broadcast together ({here()})."
            ) from None
        return found if nout == 1 else (found,) * nout

    return shape


def _declared_aval(declared: Any, dtype: Any, name: str) -> AbstractValue:
    """The abstract value of a shape, of a pair of shape and dtype, or of what has both."""
    if hasattr(declared, "shape") and hasattr(declared, "dtype"):
        declared = declared.shape, declared.dtype
    if isinstance(declared, tuple) and len(declared) == 2 and isinstance(declared[0], tuple):
        declared, dtype = declared
    if not isinstance(declared, tuple) or not all(isinstance(n, (int, np.integer)) and n >= 0 for n in declared):
        raise RuleError(
            f"shape of {name} gave {declared!r}, which is not a shape. It is called with the operands, which have "
            ".shape and .dtype, and gives a tuple of ints, a pair (shape, dtype), or an operand like the result."
        )
    return intern_aval(np.dtype(dtype), tuple(int(n) for n in declared))


def _declare(
    function: Callable[..., Any],
    name: str,
    nin: int,
    nout: int,
    linear: tuple[int, ...],
    shape: Callable[..., Any] | None = None,
    lasting: bool = True,
) -> Primitive:
    def compute(params: Any, *values: Any) -> Any:
        return function(*values, **dict(params))

    compute.__name__ = name
    infer = _infer_by_call(compute, nout) if shape is None else _infer_by_shape(shape, name, nout)
    return Primitive(
        name, function=compute, kind=PYTHON, nin=nin, nout=nout, infer=infer, linear_in=linear, lasting=lasting
    )


def _call(made: Primitive, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Record a call: leading arrays and numbers are operands, the rest are parameters."""
    arity = _arity(made)
    operands, rest = args[:arity], args[arity:]
    if rest:
        names = parameters(function).positional[arity:]
        if len(rest) > len(names) or not kwargs.keys().isdisjoint(names[: len(rest)]):
            inspect.signature(function).bind(*args, **kwargs)  # raises, as the call itself would
            raise RuleError(
                f"{made.name} was given {count(len(args), 'argument')} ({here()}), but its rule names "
                f"{count(arity, 'operand')}. Name them all, or *operands, in the rule."
            )
        kwargs = {**dict(zip(names, rest, strict=False)), **kwargs}
    params = tuple(sorted(kwargs.items()))
    if holds_traced(list(kwargs.values())):
        raise RuleError(
            f"{made.name} was given traced values for parameters: {kwargs}. Its rule names "
            f"{count(arity, 'operand')}; name what is traced among them, and put the parameters of the rule behind a *."
        )
    try:
        hash(params)
    except TypeError:
        raise RuleError(
            f"the parameters of {made.name}, {kwargs}, cannot be hashed. Pass arrays as operands and parameters as "
            "numbers, strings or tuples."
        ) from None
    return apply_primitive(made, params, *operands)


def _arity(made: Primitive) -> int:
    """How many leading arguments are operands: as many as the rule names."""
    if made.rule is None and made.jvp is not None:
        return positional(made.jvp) - 2
    if made.rule is None:
        return made.nin if made.nin >= 0 else MANY
    return positional(made.rule) - 2


def positional(rule: Rule) -> int:
    """How many positional arguments without a default a rule has."""
    known = parameters(rule)
    return MANY if known.takes_any else known.required


@overload
def primitive(function: F) -> F: ...
@overload
def primitive(
    *,
    vjp: Rule | None = None,
    nout: int = 1,
    linear: tuple[int, ...] = (),
    shape: Callable[..., Any] | None = None,
    batch: Callable[..., Any] | None = None,
    jvp: Callable[..., Any] | None = None,
    series: Callable[..., Any] | None = None,
    elementwise: bool = False,
) -> Callable[[F], F]: ...
def primitive(
    function: Any = None,
    *,
    vjp: Rule | None = None,
    nout: int = 1,
    linear: tuple[int, ...] = (),
    shape: Callable[..., Any] | None = None,
    batch: Callable[..., Any] | None = None,
    jvp: Callable[..., Any] | None = None,
    series: Callable[..., Any] | None = None,
    elementwise: bool = False,
) -> Any:
    """Make a function of numbers and arrays one operation, ``p = function(*operands, **parameters)``.

    hoad does not look inside: the function may call anything (C, Fortran, another library). Give it a rule with
    `hoad.defvjp`, and it works in every mode and to any order.

    Parameters
    ----------
    function : callable
        Called with plain floats and arrays, as they come: where x is an array it is given the array, not its items, so
        one around ``math.sin`` is for floats only (``np.vectorize`` of it takes both). It must not change them.
    vjp : callable, optional
        Its rule ``vjp(g, p, *operands, **parameters)``; `hoad.defvjp` gives it later.
    nout : int, optional
        How many results it returns, as a tuple if more than one.
    linear : tuple of int, optional
        Operands in which it is linear, each by itself: needed where another rule applies it to g.
    shape : callable, optional
        ``shape(*operands, **parameters)``, called with what is known of the operands, their ``.shape`` and ``.dtype``:
        the shape of the result, a pair (shape, dtype), or an operand that the result is like; a tuple of them for
        several results. Then the function is never called on made-up values.
    batch : callable, optional
        ``batch(*operands, **parameters)`` for many operands at once, all of them with one more axis in front; so have
        its results. Left out, the function is called once for each: see Notes.
    jvp : callable, optional
        ``jvp(dots, p, *operands, **parameters)``, the tangent of the result for a tuple of tangents, None where an
        operand has none. Used in forward mode in place of the transposed rule, where it costs less; `hoad.check.rule`
        compares them.
    series : callable, optional
        ``series(x, degree, **parameters)``, the coefficients of 1, t, ..., tᵈᵉᵍʳᵉᵉ of ``function(x + t)``, each with
        the shape of x: in place of a rule, for an elementwise function of one operand, whose derivatives of every
        order follow from it.
    elementwise : bool, optional
        True for a function that works element by element, and on operands of several shapes as NumPy's operators do.
        The rule is then that for numbers: hoad sums adjoints over the axes along which an operand was repeated.
        `shape` is known.

    Returns
    -------
    callable
        The function: on plain values as before, on traced ones recorded as one node.

    Raises
    ------
    ArgumentError
        If `function` cannot be called, `nout` and `linear` are of another kind, or `series` does not go with the rest.
    RuleError
        If its parameters cannot be hashed, or a rule or `series` does not do what it must.
    ShapeError
        In a derivative, if operands of an elementwise function do not broadcast together.

    Notes
    -----
    Cost: a call of the function per evaluation, with the GIL held; where it is applied to the tangents of a Jacobian or
    Hessian (by a rule that uses it), a call for each of them, or one of `batch`. Without `shape`, the shapes of results
    are found by a call on ones for each new signature.

    Examples
    --------
    >>> import math
    >>> import numpy as np
    >>> import hoad
    >>> @hoad.primitive
    ... def cosine(x):
    ...     return math.cos(x)
    >>> @hoad.primitive
    ... def sine(x):
    ...     return math.sin(x)
    >>> _ = hoad.defvjp(sine, lambda g, p, x: (g * cosine(x),))
    >>> _ = hoad.defvjp(cosine, lambda g, p, x: (-g * sine(x),))
    >>> hoad.derivative(sine, 3)(0.0)
    -1.0

    A peak and its width, of which one number serves all items:

    >>> @hoad.primitive(elementwise=True)
    ... def bell(x, width):
    ...     return np.exp(-((x / width) ** 2))
    >>> _ = hoad.defvjp(bell, lambda g, p, x, w: (-2 * g * p * x / w**2, 2 * g * p * x**2 / w**3))
    >>> hoad.jacobian(bell, argnums=1)(np.array([0.0, 1.0]), 1.0).round(3)
    array([0.   , 0.736])

    All derivatives of the exponential function from one kernel:

    >>> @hoad.primitive(elementwise=True, series=lambda x, n: [np.exp(x) / math.factorial(k) for k in range(n + 1)])
    ... def grown(x):
    ...     return np.exp(x)
    >>> hoad.derivative(grown, 5)(0.0)
    1.0
    """
    further = {"shape": shape, "batch": batch, "jvp": jvp, "series": series}
    if function is None:
        return lambda f: _make(f, vjp, nout, linear, further, elementwise)
    return _make(function, vjp, nout, linear, further, elementwise)


def _make(
    function: Any, rule: Rule | None, nout: Any, linear: Any, further: dict[str, Any], elementwise: bool
) -> Any:
    check_function("primitive", function)
    for name, given in further.items():
        if given is not None and not callable(given):
            raise ArgumentError(f"primitive takes {name} as a function, not {given!r}.")
    if further["jvp"] is not None and positional(further["jvp"]) < 3:
        raise RuleError(
            f"jvp is a function of (dots, p, *operands), but {further['jvp']!r} names no operand. Name at least one."
        )
    if not isinstance(nout, int) or not 1 <= nout <= RESULTS_LIMIT or not isinstance(linear, tuple):
        raise ArgumentError(
            "primitive takes nout as a number of results and linear as a tuple of operands; it can have 1 to "
            f"{RESULTS_LIMIT} results. Here nout={nout!r} and linear={linear!r}."
        )
    kind = f"<{type(function).__name__}>"  # of one without a name, such as functools.partial makes
    name = getattr(function, "__name__", kind)
    shape = further["shape"]
    if elementwise:
        if shape is not None:
            raise ArgumentError("primitive with elementwise=True knows the shape of its results. Leave out shape.")
        shape = _broadcast_shapes(name, nout)
    made = _declare(function, name, -1, nout, linear, shape, lasting=False)
    made.elementwise = elementwise
    if (batch := further["batch"]) is not None:
        made.batch = lambda params, *values: batch(*values, **dict(params))
    made.jvp = further["jvp"]
    series = further["series"]
    if series is not None and (not elementwise or nout > 1 or rule is not None or made.jvp is not None):
        raise ArgumentError(
            "primitive takes series for a function of one operand that works element by element, in place of a rule. "
            "Give elementwise=True, and neither vjp nor jvp."
        )
    module: str | None = getattr(function, "__module__", None)
    made.qualified = (module or "", getattr(function, "__qualname__", kind) if module else kind)

    @functools.wraps(function, updated=())
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if not holds_traced(args) and not holds_traced(list(kwargs.values())):
            record = recorder_among(args)
            return function(*args, **kwargs) if record is None else record(wrapper, args, kwargs)
        return _call(made, function, args, kwargs)

    wrapper.__hoad_primitive__ = made  # type: ignore[attr-defined]
    if series is not None:
        wrapper.derivatives = Derivatives(made, series, primitive)  # type: ignore[attr-defined]
        rule = wrapper.derivatives.rule(0)  # type: ignore[attr-defined]
    if rule is not None:
        set_rule(made, rule)
    return wrapper
