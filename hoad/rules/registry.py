"""Registering derivative rules and primitives."""

from __future__ import annotations

import contextvars
import functools
import importlib
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, overload

import numpy as np

from hoad._core.base.call_watch import unwatched
from hoad._core.base.frame_globals import Apart
from hoad._core.base.where import here, name_of
from hoad._core.graph.primitive import PYTHON, RESULTS_LIMIT, Primitive, next_epoch
from hoad._core.graph.tape import AbstractValue, intern_aval
from hoad._core.ops.plan import broadcast_shapes
from hoad._core.trace.calls import apply_primitive
from hoad._core.trace.coerce import holds_traced
from hoad._core.trace.traced import FUNCTIONS
from hoad._ops.primitives import DISPATCHED, FUNCTION_PRIMITIVES, declare_ufunc, known_primitive, over_lanes, within
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
            f"{target!r} is not the name of a function in NumPy (or in SciPy, if it begins with scipy). Give the "
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
        f"{name} is not a primitive, and NumPy does not dispatch its calls to hoad. Make a primitive of it and call "
        f"that: {name.rpartition('.')[2]} = hoad.primitive({name}), then hoad.defvjp of the result."
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
    if not replace and made.qualified is None and _is_own(made.rule) and not _is_own(rule):
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

    One rule serves every mode: reverse mode inlines it, forward mode transposes it.

    Parameters
    ----------
    function : callable, optional
        The function that the rule belongs to: one made with `hoad.primitive`, a NumPy function, or a ufunc of
        `scipy.special`. A string is looked up in NumPy, or in SciPy: ``"scipy.special.erf"``.
    rule : callable, optional
        The rule: g is the adjoint of the result, p the result. If it is left out, `defvjp` is a decorator for it.
    per_call : bool, optional
        True if the rule branches on values; it then runs at every node instead of once per signature.
    replace : bool, optional
        True to replace one of hoad's own rules, such as that of `np.sin`.

    Returns
    -------
    callable
        The rule, or a decorator for it.

    Raises
    ------
    RuleError
        If `function` is not a primitive, returns booleans, or has one of hoad's own rules and `replace` is False. A
        rule that returns the wrong number or shape of adjoints, or is not linear in g, raises when it is first used.

    See Also
    --------
    primitive : make a function one operation.
    custom_vjp : give a composite function a rule of its own.

    Notes
    -----
    Cost: the rule runs once per signature (primitive, parameters, shapes, active operands). Values that it reads
    besides its arguments are those of that run; a rule with `per_call` reads them at every node.

    The rule holds in the whole process, for every user of the function. A second rule replaces the first; hoad's own
    rules are replaced only with ``replace=True``.

    `hoad.rules.vjp` is the same function. The rule is one function for all operands; autograd's ``defvjp`` takes one
    for each.

    Without `function`, the name of the rule, with or without the prefix ``vjp_``, is that of a NumPy function:
    ``@hoad.rules.vjp(replace=True)`` above ``def sin(g, p, x)``. It never refers to another function of this name.

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

    As a decorator, replacing that rule:

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
    """The derivative rule of a function, ``rule(g, p, *operands)``.

    Parameters
    ----------
    target : ufunc, function or str
        As for `defvjp`: a NumPy function, one declared with `hoad.primitive`, or a name.

    Returns
    -------
    callable
        The rule as it was registered. On plain numbers most rules return numbers: the products of g and the partial
        derivatives.

    Raises
    ------
    RuleError
        If `target` is not a primitive.
    NoRuleError
        If the primitive has no rule.

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
        f"{name} is not a primitive, so it has no rule. A function composed of primitives needs no rule; any "
        "other becomes a primitive with @hoad.primitive."
    )


# ---- primitives of the user's ---------------------------------------------------------------------------------------


def _infer_by_call(function: Callable[..., Any], nout: int) -> Callable[..., tuple[AbstractValue, ...]]:
    """Shapes and dtypes of the results, found by calling the function on ones."""

    def infer(params: Any, *operands: AbstractValue) -> tuple[AbstractValue, ...]:
        ones = [1.0 if x.number == 0 else np.ones(x.shape, x.dtype) for x in operands]
        inexact = any(x.inexact for x in operands)
        def call() -> Any:
            with np.errstate(all="ignore"):
                return unwatched(function, (params, *ones))

        try:
            results = contextvars.Context().run(call)  # no part of the recording that runs
        except Exception as failure:
            shapes = ", ".join("a float" if x.number == 0 else f"an array of shape {x.shape}" for x in operands)
            raise RuleError(
                f"{function.__name__} cannot be recorded ({here()}): called with ones ({shapes}) to find the shape of "
                f"its result, it raised {type(failure).__name__}: {failure}. A primitive gets whole floats and arrays, "
                "and must accept ones: write it for arrays, or pass np.vectorize of it to hoad.primitive."
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
        with Apart():  # it is given plain values, also where code that is adopted calls it
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

    hoad does not trace the function, so it may call anything (C, Fortran, another library). With a rule, set by
    `hoad.defvjp`, it works in every mode and at every order.

    Parameters
    ----------
    function : callable
        Called with plain floats and arrays. It gets whole arrays, not their items, so a function around ``math.sin`` is
        for floats only (``np.vectorize`` of it takes both). It must not change its operands.
    vjp : callable, optional
        Its rule ``vjp(g, p, *operands, **parameters)``; `hoad.defvjp` sets it later.
    nout : int, optional
        The number of results, returned as a tuple if more than one.
    linear : tuple of int, optional
        The operands in which it is linear, each separately. Needed if another rule applies it to g.
    shape : callable, optional
        ``shape(*operands, **parameters)``, called with objects that have the ``.shape`` and ``.dtype`` of the operands:
        returns the shape of the result, a pair (shape, dtype), or an operand that the result is like; a tuple of these
        for several results. The function is then never called on made-up values.
    batch : callable, optional
        ``batch(*operands, **parameters)`` for many operands at once, with one more axis in front of all operands and
        results. By default the function itself, if it is `elementwise`; else it is called once for each: see Notes.
    jvp : callable, optional
        ``jvp(dots, p, *operands, **parameters)``, the tangent of the result for a tuple of tangents, None where an
        operand has none. Forward mode uses it in place of the transposed rule if it costs less; `hoad.check.rule`
        compares the two.
    series : callable, optional
        ``series(x, degree, **parameters)``, the coefficients of 1, t, ..., tᵈᵉᵍʳᵉᵉ of ``function(x + t)``, each with
        the shape of x. It takes the place of a rule for an elementwise function of one operand; derivatives of every
        order follow from it.
    elementwise : bool, optional
        True for a function that works element by element and broadcasts its operands as NumPy's operators do. The rule
        is then that for numbers: hoad sums adjoints over the axes along which an operand was broadcast. `shape` is not
        needed.

    Returns
    -------
    callable
        The function. On traced values, a call is recorded as one node.

    Raises
    ------
    ArgumentError
        If `function` cannot be called, `nout` or `linear` is not of this kind, or `series` is given with `vjp` or
        `jvp`, or without `elementwise`.
    RuleError
        If its parameters are not hashable, or a rule or `series` is not valid.
    ShapeError
        In a derivative, if operands of an elementwise function do not broadcast together.

    Notes
    -----
    Cost: a call of the function per evaluation, with the GIL held. If a rule applies it to the tangents of a Jacobian
    or Hessian, or `hoad.vmap` maps it, a call for each tangent or input, or one of `batch` for many. Without `shape`, a
    call on ones for each new signature finds the shapes of the results.

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

    A peak, with one width for all items:

    >>> @hoad.primitive(elementwise=True)
    ... def bell(x, width):
    ...     return np.exp(-((x / width) ** 2))
    >>> _ = hoad.defvjp(bell, lambda g, p, x, w: (-2 * g * p * x / w**2, 2 * g * p * x**2 / w**3))
    >>> hoad.jacobian(bell, argnums=1)(np.array([0.0, 1.0]), 1.0).round(3)
    array([0.   , 0.736])

    All derivatives of the exponential function from one series:

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
    elif elementwise:
        made.batch = over_lanes(lambda params, *values: unwatched(made.function, (params, *values)))
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
