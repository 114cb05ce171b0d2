"""Composite functions with a rule of their own."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from typing import Any, overload

import numpy as np

from hoad._comparison.plain_calls import compared
from hoad._core.base.where import here
from hoad._core.graph.inspect import node_row
from hoad._core.graph.primitive import RESULTS_LIMIT
from hoad._core.graph.tape import AbstractValue
from hoad._core.record.recording import Recording
from hoad._core.trace.coerce import holds_traced
from hoad._core.trace.context import running
from hoad._ops.primitives import STOP_GRADIENT
from hoad._program.callee import Callee
from hoad._program.pickling import check_travels, refusal, restoring, truths, whole_number
from hoad._program.program import Program
from hoad._program.trace import is_number, output_operand, recorder_among
from hoad._pytree.arguments import check_function
from hoad._pytree.containers import Forms, Parts, flatten, kind_of, leaves_of, parts_where, regrouped
from hoad._transform.composite import Apart, apart_from, program_of
from hoad.errors import ArgumentError, NoRuleError, RuleError, ShapeError, TracedValueError, count
from hoad.rules.registry import MANY, positional


class Ruled(Callee):
    """A program behind a `call` node whose adjoint is a rule of the user's.

    The node has the numbers of the rule's operands, which may be containers, then what the program takes besides:
    arrays that do not vary, and values from outside. Of the numbers the program takes those that were traced.
    """

    def __init__(
        self, apart: Apart, forms: Forms, taken: list[int], rule: Callable[..., Any], owner: CustomVJP
    ) -> None:
        self._program = program_of(apart.segment)
        self.output_types = self._program.output_types
        self._result = apart.parts
        self._forms = forms
        self._numbers = sum(1 if parts is None else len(parts.places) for parts in forms)
        self._taken = taken
        self._rule = rule
        self._reverse_only = not owner._is_linear
        self._described = f"the rule of {owner._name}"

    def __reduce__(self) -> Any:
        check_travels(self._rule, self._described)
        form = (self._result, self._forms, self._taken, self._reverse_only, self._described)
        return _restored, (self._program, self._rule, *form)

    def _check_operands(self, avals: tuple[AbstractValue, ...]) -> None:
        own = self._numbers + len(self._program.input_types) - len(self._taken)
        if len(avals) != own or self._entered(avals)[1] != self._program.input_types:
            raise refusal(f"{self._described} is of other operands than {avals}")

    def _entered(self, values: tuple[Any, ...]) -> tuple[Program, tuple[Any, ...]]:
        middle = self._numbers + self._program._fixed
        taken = [values[k] for k in self._taken]
        return self._program, (*values[self._numbers : middle], *taken, *values[middle:])

    def _pull_back(self, g: Any, p: Any, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        g, p = (x if isinstance(x, tuple) else (x,) for x in (g, p))
        operands = regrouped(inputs[: self._numbers], self._forms, constants=True)
        found = self._rule(self._result.derivative(g), self._result.filled(p), *operands)
        if not isinstance(found, (tuple, list)) or len(found) != len(operands):
            what = count(len(found), "adjoint") if isinstance(found, (tuple, list)) else f"{type(found).__name__}"
            raise RuleError(
                f"{self._described} returned {what} for {count(len(operands), 'operand')}. Return a tuple with one "
                "adjoint per operand, None for zero; a single one needs a trailing comma."
            )
        adjoints: list[Any] = []
        for k, (adjoint, parts) in enumerate(zip(found, self._forms, strict=True)):
            if parts is None:
                adjoints.append(adjoint)
            elif adjoint is None:
                adjoints += [None] * len(parts.places)
            else:
                adjoints += parts.match(adjoint, f"adjoint {k} that {self._described} returned")
        return (*adjoints, *(None,) * (len(inputs) - len(adjoints)))

    def __repr__(self) -> str:
        return f"<{self._described.removeprefix('the rule of ')}: {count(self._program._last.size, 'node')}>"


@restoring
def _restored(
    program: Program, rule: Any, result: Parts, forms: Forms, taken: list[int], reverse_only: bool, described: str
) -> Ruled:
    """A function with a rule, out of a pickle."""
    made = Ruled.__new__(Ruled)
    made._program, made.output_types = program, program.output_types
    made._result, made._forms, made._taken, made._rule = result, forms, taken, rule
    made._numbers = sum(1 if parts is None else len(parts.places) for parts in forms)
    truths((reverse_only,), 1, "the kind of a rule")
    made._reverse_only, made._described = reverse_only, str(described)
    for k in taken:
        whole_number(k, 0, made._numbers - 1, "an operand that is traced")
    if not callable(rule) or len(result.places) != len(program.output_types):
        raise refusal(f"{described} is none, or of other results")
    return made


class _Pair:
    """A rule made of JAX's two; `args` are the arguments that are not operands, by position."""

    def __init__(self, name: str, nondiff: tuple[int, ...], fwd: Callable[..., Any], bwd: Callable[..., Any]) -> None:
        self._name, self._nondiff, self._fwd, self._bwd = name, nondiff, fwd, bwd

    def __call__(self, g: Any, p: Any, *operands: Any, args: dict[int, Any], **parameters: Any) -> Any:
        rest = iter(operands)
        given = [args[k] if k in args else next(rest) for k in range(len(args) + len(operands))]
        returned = self._fwd(*given, **parameters)
        if not isinstance(returned, tuple) or len(returned) != 2:
            raise RuleError(
                f"the forward rule of {self._name} returned {type(returned).__name__}, not a pair. Return the result, "
                "and what the backward rule needs."
            )
        result, residuals = returned
        known = {id(of_fwd): of_f for of_fwd, of_f in zip(leaves_of(result), leaves_of(p), strict=True)}
        leaves, structure = flatten(residuals)
        residuals = structure.unflatten([known.get(id(leaf), leaf) for leaf in leaves])
        return self._bwd(*[args[k] for k in self._nondiff], residuals, g)


class CustomVJP:
    """A function with a derivative rule of its own, returned by `custom_vjp`.

    Examples
    --------
    >>> import hoad
    >>> square = hoad.custom_vjp(lambda x: x * x)
    >>> _ = square.defvjp(lambda g, p, x: (2 * x * g,))
    >>> square(3.0), hoad.grad(square)(3.0)
    (9.0, 6.0)
    """

    def __init__(self, f: Callable[..., Any], nondiff_argnums: int | tuple[int, ...] = ()) -> None:
        functools.update_wrapper(self, f, updated=())
        self._f = f
        self._name: str = getattr(f, "__name__", type(f).__name__)
        self._nondiff = _places(nondiff_argnums)
        self._rule: Callable[..., Any] | None = None
        self._arity = 0
        self._is_linear = True
        self._required: set[str] = set()  # parameters that the rule has no defaults for

    def defvjp(self, rule: Callable[..., Any], bwd: Callable[..., Any] | None = None, *, linear: bool = True) -> Any:
        """Set the rule of the function: ``rule(g, p, *operands)``, or JAX's pair ``fwd, bwd``.

        Parameters
        ----------
        rule : callable
            ``rule(g, p, *operands, **parameters)`` returns an adjoint for each operand, None for zero: see
            `hoad.defvjp`. Arguments that it does not name among its operands are its parameters. With `bwd`, it is
            JAX's forward rule, ``fwd(*args) -> (result, residuals)``.
        bwd : callable, optional
            JAX's backward rule, ``bwd(*nondiff, residuals, g)``, which returns an adjoint for each argument.
        linear : bool, optional
            False if the rule is not linear in g, for example clips it. It then has no transpose, so the function has
            derivatives in reverse mode only, and forward mode raises.

        Returns
        -------
        callable or None
            The rule, so that `defvjp` works as a decorator; None for a pair.

        Raises
        ------
        ArgumentError
            If the rule is not a function.
        RuleError
            If a rule names no operand.

        Notes
        -----
        Cost: none. The residuals of a pair are recomputed from the operands in the reverse sweep, except for the result
        itself.

        Examples
        --------
        >>> import hoad
        >>> import numpy as np
        >>> @hoad.custom_vjp
        ... def f(x, y):
        ...     return np.sin(x) * y
        >>> f.defvjp(lambda x, y: (f(x, y), (np.cos(x), np.sin(x), y)), lambda r, g: (r[0] * g * r[2], r[1] * g))
        >>> hoad.grad(f, argnums=(0, 1))(0.0, 2.0)
        (2.0, 0.0)
        """
        for given in (rule,) if bwd is None else (rule, bwd):
            check_function("defvjp", given)
        self._is_linear = linear
        if bwd is not None:
            self._rule, self._arity = _Pair(self._name, self._nondiff, rule, bwd), MANY
            return None
        if positional(rule) < 3:
            raise RuleError(
                f"a rule is a function of (g, p, *operands), but {rule!r} names no operand. Name at least one."
            )
        self._rule, self._arity = rule, positional(rule) - 2
        self._required = {
            p.name
            for p in inspect.signature(rule).parameters.values()
            if p.kind is p.KEYWORD_ONLY and p.default is p.empty
        }
        return rule

    def __get__(self, owner: Any, cls: type | None = None) -> Any:
        """As a method, the function with its first argument."""
        return self if owner is None else types.MethodType(self, owner)

    def __reduce__(self) -> str:
        return getattr(self, "__qualname__", self._name)  # found by name, as a function is

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if running() is None:
            record = recorder_among(args)
            if record is not None:
                return record(self, args, kwargs)
            return apart_from((args, kwargs), self._f(*args, **kwargs))
        args, kwargs = self._by_position(args, kwargs)
        return self._called(args, kwargs)

    def _by_position(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments, those that f takes by position so, with the defaults of operands that were left out."""
        wanted = self._arity + len(self._nondiff)
        if not kwargs and (len(args) >= wanted or wanted >= MANY):
            return args, kwargs
        signature = inspect.signature(self._f)
        bound = signature.bind(*args, **kwargs)
        for p in list(signature.parameters.values())[:wanted]:
            if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is not p.empty:
                bound.arguments.setdefault(p.name, p.default)
        return bound.args, bound.kwargs

    def _called(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        arity = MANY if self._rule is None else self._arity
        operands = [k for k in range(len(args)) if k not in self._nondiff][:arity]
        others = {k: args[k] for k in range(len(args)) if k not in operands}
        if any(map(holds_traced, leaves_of([*others.values(), *kwargs.values()]))):
            raise RuleError(
                f"{self._name} was given a traced value for a parameter ({here()}), and its rule does not "
                "differentiate with respect to it. Name it among the operands of the rule, or pass it by way of "
                "hoad.stop_gradient to a function of its own."
            )
        forms, numbers = self._numbers(args, operands)
        chosen = [n for n, x in enumerate(numbers) if holds_traced(x)]
        if not chosen:
            return apart_from((args, kwargs), self._f(*args, **kwargs))
        if self._rule is None:
            raise NoRuleError(
                f"{self._name} has no derivative rule ({here()}). Give it one with {self._name}.defvjp(rule), where "
                "rule(g, p, *operands) returns an adjoint for each operand."
            )

        def of_chosen(*values: Any) -> Any:
            given, taken = list(args), list(numbers)
            for n, value in zip(chosen, values, strict=True):
                taken[n] = value
            for k, value in zip(operands, regrouped(taken, forms, constants=True), strict=True):
                given[k] = value
            return compared(self._f, given, kwargs, self._name)

        apart = Apart(of_chosen, [numbers[n] for n in chosen], self._picked)
        self._check(apart)
        callee = Ruled(apart, forms, chosen, self._with_parameters(others, kwargs), self)
        traced = dict(zip(chosen, apart.operands, strict=True))
        given = [traced[n] if n in traced else apart.operand(x) for n, x in enumerate(numbers)]
        return apart.record(callee, given + apart.segment.constants + apart.segment.outer)

    def _numbers(self, args: tuple[Any, ...], operands: list[int]) -> tuple[Forms, list[Any]]:
        """The containers among the operands, and the numbers of all of them; raises for what no rule can take."""
        forms: Forms = []
        numbers: list[Any] = []
        for k in operands:
            if kind_of(type(args[k])) is not None:
                parts, own = parts_where(args[k], is_number)
                forms.append(parts)
                numbers += own
            elif is_number(args[k]):
                forms.append(None)
                numbers.append(args[k])
            else:
                raise ArgumentError(
                    f"argument {k} of {self._name} is {type(args[k]).__name__} ({here()}), but its rule takes it as an "
                    "operand: a number, an array, or a container of them. Put an argument that is not an operand "
                    "behind a * in the rule, or name it with nondiff_argnums."
                )
        return forms, numbers

    def _picked(self, d: Recording, leaf: Any) -> int | None:
        """Every number that f returns is a result, which the rule has an adjoint of."""
        return output_operand(d, leaf, self._name) if is_number(leaf) else None

    def _check(self, apart: Apart) -> None:
        """Raise where a node cannot hold the results, or where f depends on more than its arguments."""
        if not 1 <= len(apart.values) <= RESULTS_LIMIT:
            raise ShapeError(
                f"{self._name} gave {count(len(apart.values), 'result')} ({here()}), but can give 1 to "
                f"{RESULTS_LIMIT}. Return arrays of many numbers."
            )
        for k in apart.segment.outer:
            if apart.aval(k).inexact and node_row(apart.graph, k)[0] is not STOP_GRADIENT:
                raise TracedValueError(
                    f"{self._name} uses a traced value that is not among its arguments ({here()}), so that its rule "
                    "cannot give it an adjoint. Pass it as an argument; or use hoad.stop_gradient(x), taken outside of "
                    "the function, if no derivative is to pass."
                )

    def _with_parameters(self, others: dict[int, Any], kwargs: dict[str, Any]) -> Callable[..., Any]:
        """The rule as a function of g, p and the operands, at these arguments that are none."""
        rule = self._rule
        assert rule is not None
        if isinstance(rule, _Pair):
            return functools.partial(rule, args=others, **kwargs)
        if not others and not kwargs and not self._required:
            return rule  # the same for every call
        parameters = inspect.signature(self._f).parameters
        names = list(parameters) if others else []
        given = kwargs | {names[k]: value for k, value in others.items()}
        given = {name: x.copy() if isinstance(x, np.ndarray) else x for name, x in given.items()}  # as it is now
        left_out = {
            name: parameters[name].default
            for name in self._required.difference(given)
            if name in parameters and parameters[name].default is not inspect.Parameter.empty
        }
        return functools.partial(rule, **given, **left_out)


def _places(argnums: Any) -> tuple[int, ...]:
    """The arguments that are not operands, in their order."""
    found = tuple(argnums) if isinstance(argnums, (tuple, list)) else (argnums,)
    if not all(isinstance(k, (int, np.integer)) and not isinstance(k, bool) for k in found):
        raise ArgumentError(
            f"custom_vjp takes nondiff_argnums as an int or a tuple of ints, not {argnums!r}. Count arguments by "
            "position from 0."
        )
    return tuple(sorted(map(int, found)))


@overload
def custom_vjp(f: Callable[..., Any], nondiff_argnums: int | tuple[int, ...] = ()) -> CustomVJP: ...
@overload
def custom_vjp(*, nondiff_argnums: int | tuple[int, ...] = ()) -> Callable[[Callable[..., Any]], CustomVJP]: ...
def custom_vjp(f: Any = None, nondiff_argnums: int | tuple[int, ...] = ()) -> Any:
    """f with a derivative rule of its own: ``f.defvjp(rule)``, where ``rule(g, p, *operands) -> (adjoint, ...)``.

    The rule replaces the derivative of the operations in f, in every mode and at every order: forward mode transposes
    the rule, second derivatives differentiate it.

    Parameters
    ----------
    f : callable
        A function or method written with NumPy, of numbers, arrays and containers of these.
    nondiff_argnums : int or tuple of int, optional
        Arguments that are not operands, by position: functions, strings, options, the ``self`` of a method. Arguments
        that the rule does not name among its operands are not operands either.

    Returns
    -------
    CustomVJP
        Called like f; its method `defvjp` sets the rule. Without f, a decorator.

    Raises
    ------
    ArgumentError
        If f cannot be called, or `nondiff_argnums` is not a position; in a derivative, if an operand is not a number,
        an array or a container.
    NoRuleError
        In a derivative, if no rule has been set.
    RuleError
        In a derivative, if the rule is not valid.
    TracedValueError
        In a derivative, if f uses a traced value that is not among its arguments.

    See Also
    --------
    primitive : for functions that hoad cannot trace.

    Notes
    -----
    If an operand is a container, the rule gets the container and returns an adjoint of the same structure, with None
    for zero. If the result is a container, g has its structure.

    Cost: f once, recorded separately, some 50 µs per call; the rule once for each node in a sweep. A replay runs the
    operations of f without Python.

    `CustomVJP.defvjp` also takes JAX's pair ``(fwd, bwd)``.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> @hoad.custom_vjp
    ... def log1pexp(x):
    ...     return np.log(1 + np.exp(x))
    >>> @log1pexp.defvjp
    ... def rule(g, p, x):
    ...     return (g / (1 + np.exp(-x)),)
    >>> hoad.grad(log1pexp)(100.0), hoad.jvp(log1pexp, (100.0,), (1.0,))[1], hoad.derivative(log1pexp, 2)(0.0)
    (1.0, 1.0, 0.25)
    """
    if f is None:
        return functools.partial(custom_vjp, nondiff_argnums=nondiff_argnums)
    check_function("custom_vjp", f)
    return CustomVJP(f, nondiff_argnums)
