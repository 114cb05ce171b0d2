"""The arguments of a function that a driver differentiates with respect to: which they are, and what they may be."""

from __future__ import annotations

import functools
import inspect
import operator
import types
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np

from hoad._core.graph.tape import AbstractValue, intern_aval
from hoad._core.trace.coerce import as_numbers, check_class, holds_traced
from hoad._core.trace.traced import METHODS, is_traced
from hoad._pytree.containers import Forms, Name, Parts, flatten, is_float, kind_of, regrouped
from hoad.errors import ArgumentError, DTypeError, ShapeError, count

P = ParamSpec("P")
R = TypeVar("R")

Argnums = int | Sequence[int] | None
Argnames = str | Sequence[str] | None
Key = int | str  # of an argument in a call: its position, or its keyword

# Drivers that can leave arguments alone.
WITH_ARGNUMS = ("grad", "value_and_grad", "jacobian", "hessian", "hvp", "vhp")


FLOAT64 = np.dtype(np.float64)

MOST_WRAPPERS = 1000  # around a function, before they are said to go round in a ring


# How drivers are called whose arguments come in an order that others choose otherwise.
CALLS = {
    "derivative": "derivative(f, n)(x)",
    "derivatives": "derivatives(f, n)(x)",
    "taylor": "taylor(f, x, n)",
    "derivative_tensor": "derivative_tensor(f, n)(x)",
    "partials": "partials(f, [(2, 0), (1, 1)])(x)",
    "laplacian": "laplacian(f)(x)",
    "biharmonic": "biharmonic(f)(x)",
    "hessian_diagonal": "hessian_diagonal(f)(x)",
    "directional_derivative": "directional_derivative(f, v)(x)",
    "ode.taylor_integrate": "ode.taylor_integrate(rhs, y0, t)",
    "ode.taylor_solution": "ode.taylor_solution(rhs, y0, t)",
}


# ---- what a driver is given -----------------------------------------------------------------------------------------


def takes_point(driver: str) -> bool:
    """Whether a driver is given the function and the point in one call."""
    return driver in ("jvp", "vjp", "linearize", "record") or driver.startswith("check.")


def telling_call(advice: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A decorator that adds how a function is called to the TypeError of a call that does not fit its parameters."""

    def decorated(f: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(f)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                return f(*args, **kwargs)
            except TypeError as failure:
                if failure.__traceback__ is None or failure.__traceback__.tb_next is not None:
                    raise  # from inside
                raise ArgumentError(f"{failure}. {advice}") from None

        return call

    return decorated


def check_function(driver: str, f: Any, *others: Any) -> None:
    """Raise unless `f` can be called; one of the other arguments may be the function that was meant."""
    if callable(f):
        return
    if isinstance(f, (float, int, np.generic, np.ndarray)) or is_traced(f):
        shown = f" ({f})" if np.ndim(f) == 0 else f" of shape {np.shape(f)}"
        advice = f"Give it the function, not its value: {driver}(np.sin)(1.0), not {driver}(np.sin(1.0))."
        if driver == "primitive":
            advice = "Give it the function, not its value."
        if takes_point(driver):
            advice = (
                f"Give it the function first, then the arguments: {driver}(np.sin, ...), not {driver}(np.sin(1.0))."
            )
    else:
        shown, advice = "", "Give it one that takes floats and arrays."
    meant = next((x for x in others if callable(x) and not is_traced(x)), None)
    if driver in CALLS and (shown or meant is not None):
        there = "" if meant is None else f" ({getattr(meant, '__name__', type(meant).__name__)})"
        advice = f"Give it the function{there} first, not a value: hoad.{CALLS[driver]}."
    kind = type(f).__name__
    article = "an" if kind[0].lower() in "aeiou" or kind == "ndarray" else "a"
    raise ArgumentError(f"{driver} takes a function, but was given {article} {kind}{shown}. {advice}")


def checked_order(driver: str, order: Any, least: int = 0, most: int | None = None, shown: bool = False) -> int:
    """An order of derivatives as an int; raise unless it is a whole number within these bounds.

    The error shows how the driver is called if that is said.
    """
    try:
        found = None if isinstance(order, (bool, np.bool_)) else operator.index(order)
    except TypeError:
        found = None
    if found is None or found < least or (most is not None and found > most):
        bounds = f"of {least} or more" if most is None else f"from {least} to {most}"
        kind = type(order).__name__
        raise ArgumentError(
            f"{driver} takes an order {bounds}, an int, not {order!r} ({kind}). Write 2 for the second derivative"
            f"{f', as in hoad.{CALLS[driver]}' if shown else ''}."
        )
    return found


def check_argument(driver: str, place: int | str | Name, value: Any) -> None:
    """Raise unless `value` can be differentiated with respect to; `place` says which argument it is."""
    if is_traced(value):
        dtype = value.dtype
    elif isinstance(value, (float, complex)):
        return
    elif isinstance(value, (np.ndarray, np.generic)):
        if isinstance(value, np.ndarray):
            check_class(value)
        dtype = value.dtype
    elif isinstance(value, (bool, int)):
        raise DTypeError(
            f"{driver} needs a float argument, but argument {place} is {type(value).__name__} ({value!r}). Write "
            f"{float(value)!r}."
        )
    else:
        raise DTypeError(
            f"{driver} takes floats and arrays, but argument {place} is {type(value).__name__}. "
            f"{_advice(driver, value)}{_choice(driver)}."
        )
    if dtype.kind == "c":
        check_complex(driver, place, dtype)
    elif dtype.kind == "f" and dtype.itemsize not in (4, 8):
        raise DTypeError(
            f"{driver} computes in float64 and float32, but argument {place} is {dtype}. Use x.astype(np.float64)."
        )
    elif dtype.kind != "f":
        advice = f"Take its fields, such as x[{dtype.names[0]!r}]" if dtype.names else "Use x.astype(float)"
        raise DTypeError(f"{driver} needs a float argument, but argument {place} is an array of {dtype}. {advice}.")


def check_complex(driver: str, place: int | str | Name, dtype: np.dtype[Any]) -> None:
    """Raise for complex numbers of parts that are neither float64 nor float32."""
    if dtype.itemsize not in (8, 16):
        raise DTypeError(
            f"{driver} computes in complex128 and complex64, but argument {place} is {dtype}. Use "
            "x.astype(np.complex128)."
        )


def _advice(driver: str, value: Any) -> str:
    """What to do with an argument of no kind that drivers take."""
    if value is None or isinstance(value, (str, bytes)):
        return "Pass a number"
    if hasattr(type(value), "__hoad_record__"):
        return "An expression of symbols has derivatives of its own, e.derivative(x) and e.gradient({x: 1.0})"
    if kind_of(type(value)) is not None:
        if driver == "derivative":
            return "Use jvp for the derivative along a direction, or jacobian, which takes containers"
        if driver == "derivatives":
            return "Use taylor for the series along a direction, which takes containers"
        return f"hoad.ravel makes a vector of what it holds, and {driver} takes that"
    if hasattr(type(value), "__array__") or hasattr(value, "__len__"):
        return "Convert it with np.asarray"
    return "Convert it with np.asarray, or, if it holds floats and arrays, see hoad.register_container"


def _choice(driver: str) -> str:
    return ", or choose other arguments with argnums" if driver in WITH_ARGNUMS else ""


# ---- containers among them ------------------------------------------------------------------------------------------


def packed(value: Any) -> Any:
    """An object array of traced scalars as a traced array."""
    if isinstance(value, np.ndarray) and value.dtype == object and holds_traced(value):
        return METHODS["__pack__"](value)
    return value


def packed_list(value: Any) -> Any:
    """The same, and of a list of numbers, some of them traced, where an array is meant by it."""
    if isinstance(value, (list, tuple)) and holds_traced(value):
        value = np.array(value, dtype=object)
    return packed(value)


class Numbers(Parts):
    """A container whose numbers are apart from what else it holds, which stays as it is."""

    __slots__ = ("numbers",)

    def __init__(self, tree: Any) -> None:
        leaves, structure = flatten(tree)
        super().__init__(structure, leaves, [k for k, x in enumerate(leaves) if _is_number(x)])
        self.numbers = [_number(leaves[k]) for k in self.places]

    def like(self, other: Numbers) -> bool:
        """Whether the numbers of the one fit the other."""
        return self.structure == other.structure and self.places == other.places


def _is_number(x: Any) -> bool:
    if is_traced(x) or isinstance(x, (bool, int, float, complex, np.number, np.bool_)):
        return True
    return isinstance(x, np.ndarray) and (x.dtype.kind in "biufc" or holds_traced(x))


def _number(x: Any) -> Any:
    """A leaf as a traced value, a float, a boolean or an array."""
    if is_traced(x) or isinstance(x, (bool, float)):
        return x
    return packed(x) if holds_traced(x) else as_numbers(x)


def number_aval(x: Any) -> AbstractValue:
    """Shape and dtype of a number, an array or a traced value."""
    found = x if is_traced(x) else np.asarray(x)
    return intern_aval(found.dtype, found.shape)


def parts_of(driver: str, f: Any, key: Key, value: Any) -> tuple[Parts, list[Any]]:
    """The leaves of a container that are differentiated with respect to: where they are, and what they are."""
    leaves, structure = flatten(value)
    places = [k for k, leaf in enumerate(leaves) if is_float(leaf)]
    if not places:
        found, advice = "is empty", "Pass one that holds a float"
        if leaves:
            found = f"holds none: {_listed(leaves, structure.paths(), called(f, key))}"
            advice = "Write numbers as floats, 3.0 instead of 3, and arrays of integers as x.astype(float)"
        what = f"argument {key!r}, a {type(value).__name__},"
        raise DTypeError(f"{driver} needs a float, but {what} {found}. {advice}{_choice(driver)}.")
    for at in set(structure.computed()).intersection(places):
        raise ArgumentError(
            f"{driver} was given argument {key!r} with {called(f, key)}{structure.path(at)}, a field with init=False "
            "that its class computes from the other fields: whether derivatives include it is ambiguous. Make it a "
            "property, or define the parts of the class with hoad.register_container."
        )
    floats = []
    for at in places:
        leaf = leaves[at]
        if type(leaf) is not float and not (type(leaf) is np.ndarray and leaf.dtype is FLOAT64):
            leaf = packed(leaf)
            check_argument(driver, Name(lambda path: f"{key!r} ({called(f, key)}{path})", structure, at), leaf)
        floats.append(leaf)
    return Parts(structure, leaves, places), floats


def _listed(leaves: list[Any], paths: list[str], name: str) -> str:
    shown = [f"{name}{path} is {type(leaf).__name__}" for leaf, path in zip(leaves[:3], paths, strict=False)]
    return ", ".join(shown) + (f", and {len(leaves) - 3} more" if len(leaves) > 3 else "")


def called(f: Any, key: Key) -> str:
    """What f calls an argument, as far as it says."""
    if isinstance(key, str):
        return key
    positional = parameters(f).positional
    return positional[key] if key < len(positional) else f"args[{key}]"


def argument_names(f: Any, given: int) -> tuple[str, ...] | None:
    """What f calls its first arguments; None where it does not say."""
    found = parameters(f)
    if not found.is_known:
        return None
    return (*found.positional[:given], *(f"{found.rest}[{k}]" for k in range(given - len(found.positional))))


class Parameters(NamedTuple):
    """The names of the parameters of a function; `required` counts those by position that have no default."""

    positional: tuple[str, ...]
    keywords: tuple[str, ...]  # that are passed by keyword only
    required: int
    takes_any: bool  # number by position
    takes_any_keyword: bool
    is_known: bool = True
    rest: str = "args"  # the name of the parameter that takes them


def parameters(f: Any) -> Parameters:
    """What `inspect.signature` says of the parameters of f, or that there are none where it does not know."""
    try:
        plain = _unwrapped(f)
        if type(plain) is types.FunctionType and not hasattr(plain, "__signature__"):
            return _parameters_of_code(plain.__code__, len(plain.__defaults__ or ()))
        found = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):  # of some built-in functions nothing is known
        return Parameters((), (), 0, False, False, is_known=False)
    kinds = {p.kind for p in found}
    positional = [p for p in found if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return Parameters(
        tuple(p.name for p in positional),
        tuple(p.name for p in found if p.kind is p.KEYWORD_ONLY),
        len([p for p in positional if p.default is p.empty]),
        inspect.Parameter.VAR_POSITIONAL in kinds,
        inspect.Parameter.VAR_KEYWORD in kinds,
        rest=next((p.name for p in found if p.kind is p.VAR_POSITIONAL), "args"),
    )


def _unwrapped(f: Any) -> Any:
    """The function within wrappers that take its arguments, as inspect.unwrap finds it.

    A bound method, which has the __wrapped__ of its function, takes one argument less, and stays.
    """
    for _ in range(MOST_WRAPPERS):
        if type(f) is not types.FunctionType or not hasattr(f, "__wrapped__") or hasattr(f, "__signature__"):
            return f
        f = f.__wrapped__
    raise ValueError("wrappers that form a cycle")


def _parameters_of_code(code: types.CodeType, defaults: int) -> Parameters:
    """The same of a plain function, for a tenth of the time."""
    takes_any, by_keyword = bool(code.co_flags & inspect.CO_VARARGS), bool(code.co_flags & inspect.CO_VARKEYWORDS)
    n, names = code.co_argcount, code.co_varnames
    end = n + code.co_kwonlyargcount
    rest = names[end] if takes_any else "args"
    return Parameters(names[:n], names[n:end], n - defaults, takes_any, by_keyword, rest=rest)


# ---- which of them --------------------------------------------------------------------------------------------------


def check_argnum(driver: str, argnums: Any, k: Any) -> None:
    """Raise unless `k`, one of the argnums, is an int."""
    if isinstance(k, (int, np.integer)) and not isinstance(k, bool):
        return
    advice = ""
    if isinstance(argnums, (float, np.ndarray)) or is_traced(argnums):
        advice = f" {driver}(f) gives a function, which is called with the arguments of f: {driver}(f)(x)."
    elif isinstance(argnums, str):
        advice = f" Pass names of arguments as argnames: {driver}(f, argnames={argnums!r})."
    raise ArgumentError(f"{driver} takes argnums as an int or a tuple of ints, not {argnums!r}.{advice}")


def positions(argnums: int | Sequence[int], given: int, driver: str, has_names: bool = True) -> tuple[int, ...]:
    """`argnums` as a tuple of positions, checked against the number of arguments of a driver that may take argnames."""
    chosen: tuple[Any, ...] = tuple(argnums) if isinstance(argnums, (tuple, list)) else (argnums,)
    for k in chosen:
        check_argnum(driver, argnums, k)
        if not -given <= k < given:
            names = "; argnames chooses keywords" if has_names else ""
            raise ArgumentError(
                f"{driver} with argnums={argnums}, but the function was called with {count(given, 'argument')}. Count "
                f"from 0, and pass by position what argnums chooses{names}."
            )
    found = tuple(int(k) % given for k in chosen)
    if len(set(found)) < len(found):
        raise ArgumentError(f"{driver} with argnums={argnums} names an argument twice. Name each once.")
    return found


def by_argument(
    driver: str, f: Callable[..., Any], argnums: Any, derived: Callable[[Callable[[Any], Any]], Callable[[Any], Any]]
) -> Callable[..., Any]:
    """What `derived` makes of f as a function of one of its arguments, called like f."""
    if not isinstance(argnums, (int, np.integer)) or isinstance(argnums, bool):
        advice = (
            "Mixed derivatives are those of one array: hoad.partials(lambda v: f(v[0], v[1]), [(1, 1)])"
            "(np.array([x, y]))."
            if isinstance(argnums, (tuple, list))
            else f"For another argument, {driver}(f, n, argnums=1)(x, y)."
        )
        raise ArgumentError(
            f"{driver} takes argnums as an int, not {argnums!r}: one argument, the others being constants. {advice}"
        )

    @functools.wraps(f, updated=())
    def at(*args: Any, **kwargs: Any) -> Any:
        (k,) = positions(int(argnums), len(args), driver, has_names=False)
        check_argument(driver, k, packed(args[k]))  # here, where its position is known
        return derived(lambda x: f(*args[:k], x, *args[k + 1 :], **kwargs))(args[k])

    return at


class Choice:
    """The arguments that a driver differentiates with respect to: by position (argnums), by name (argnames), or both.

    What it gives has their form: one value for an int or a str, a tuple for a tuple of positions, a dict for a tuple of
    names, and a pair of the two where both are asked for.
    """

    __slots__ = ("argnames", "argnums", "driver", "f", "fixed", "least")

    def __init__(self, driver: str, f: Any, argnums: Argnums, argnames: Argnames) -> None:
        check_function(driver, f)
        if argnums is None and argnames is None:
            argnums = 0
        argnums = tuple(argnums) if isinstance(argnums, list) else argnums
        argnames = tuple(argnames) if isinstance(argnames, list) else argnames
        if argnums is not None:
            for k in argnums if isinstance(argnums, tuple) else (argnums,):
                check_argnum(driver, argnums, k)
        for name in argnames if isinstance(argnames, tuple) else (argnames,):
            if not isinstance(name, str) and argnames is not None:
                raise ArgumentError(f"{driver} takes argnames as a str or a tuple of str, not {argnames!r}.")
        self.driver, self.f, self.argnums, self.argnames = driver, f, argnums, argnames
        self.fixed: tuple[Key, ...] | None = None  # the same in every call with so many arguments
        self.least = 0
        chosen: tuple[Any, ...] = argnums if isinstance(argnums, tuple) else (argnums,)
        if argnames is None and len(set(chosen)) == len(chosen) and all(type(k) is int and k >= 0 for k in chosen):
            self.fixed, self.least = chosen, max(chosen, default=-1) + 1

    def keys(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Key, ...]:
        """The chosen arguments of a call, in the order in which their derivatives are returned."""
        if self.fixed is not None and len(args) >= self.least:
            return self.fixed
        found: list[Key] = []
        if self.argnums is not None:
            found += positions(self.argnums, len(args), self.driver)
        if self.argnames is not None:
            names = self.argnames if isinstance(self.argnames, tuple) else (self.argnames,)
            found += [self._place(name, len(args), kwargs) for name in names]
        if len(set(found)) < len(found):
            raise ArgumentError(f"{self._asked()} names an argument twice. Name each once.")
        return tuple(found)

    def _asked(self) -> str:
        asked = {"argnums": self.argnums, "argnames": self.argnames}
        return f"{self.driver} with " + " and ".join(f"{k}={v!r}" for k, v in asked.items() if v is not None)

    def _place(self, name: str, given: int, kwargs: dict[str, Any]) -> Key:
        """Where in a call the argument of this name stands."""
        if name in kwargs:
            return name
        positional = parameters(self.f).positional
        if name in positional[:given]:
            return positional.index(name)
        known = f"; the function takes {', '.join(positional)}" if positional and name not in positional else ""
        raise ArgumentError(
            f"{self._asked()}, but the function was called without {name!r}{known}. Pass "
            "it, as a keyword or by position."
        )

    def arranged(self, values: list[Any], forms: Forms | None) -> Any:
        """Derivatives by the leaves of the chosen arguments, in the form asked for."""
        if forms is not None:
            values = regrouped(values, forms)
        if self.argnames is None:
            return tuple(values) if isinstance(self.argnums, tuple) else values[0]
        n = len(self.argnames) if isinstance(self.argnames, tuple) else 1
        by_position, by_name = values[: len(values) - n], values[len(values) - n :]
        named = dict(zip(self.argnames, by_name, strict=True)) if isinstance(self.argnames, tuple) else by_name[0]
        if self.argnums is None:
            return named
        return tuple(by_position) if isinstance(self.argnums, tuple) else by_position[0], named

    def directions(self, given: Any) -> list[Any]:
        """The inverse of `arranged`: a direction for each chosen argument, from one in the form asked for."""
        if self.argnames is None:
            return self._by_position(given)
        if self.argnums is None:
            return self._by_name(given)
        if not isinstance(given, (tuple, list)) or len(given) != 2:
            raise ShapeError(
                f"{self._asked()} needs a pair of directions, by position and by name, found {type(given).__name__}."
            )
        return self._by_position(given[0]) + self._by_name(given[1])

    def _by_position(self, given: Any) -> list[Any]:
        if not isinstance(self.argnums, tuple):
            return [given]
        if not isinstance(given, (tuple, list)) or len(given) != len(self.argnums):
            found = len(given) if isinstance(given, (tuple, list)) else "no tuple"
            raise ShapeError(
                f"{self._asked()} needs a tuple of {count(len(self.argnums), 'direction')}, found {found}."
            )
        return list(given)

    def _by_name(self, given: Any) -> list[Any]:
        if not isinstance(self.argnames, tuple):
            return [given]
        if not isinstance(given, dict) or set(given) != set(self.argnames):
            found = ", ".join(map(repr, given)) if isinstance(given, dict) else type(given).__name__
            raise ShapeError(f"{self._asked()} needs a dict of directions by these names, found {found}.")
        return [given[name] for name in self.argnames]
