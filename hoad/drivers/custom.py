"""Composites with a rule of their own."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hoad._core.operands import holds_traced
from hoad._core.primitive import RESULTS_LIMIT
from hoad._core.recording import Recording, node_row, running
from hoad._core.traced import is_traced
from hoad._core.where import here
from hoad.arguments import check_function
from hoad.errors import ArgumentError, NoRuleError, RuleError, ShapeError, TracedValueError, count
from hoad.primitive import STOP_GRADIENT
from hoad.program import Callee, Program
from hoad.rules.registry import MANY, positional
from hoad.trace import output_operand, recorder_among
from hoad.transform.composite import Apart, filled, leaves, mapped, program_of


class Ruled(Callee):
    """A program behind a `call` node whose adjoint is a rule of the user's.

    The node has the operands of the rule, then what the program takes besides: arrays that do not vary, and values from
    outside. Of the operands the program takes those that were traced.
    """

    def __init__(
        self, apart: Apart, operands: int, taken: Sequence[int], rule: Callable[..., Any], owner: CustomVJP
    ) -> None:
        self._program = program_of(apart.segment)
        self.results = self._program.results
        self._operands = operands
        self._taken = taken
        self._rule = rule
        self._shape = apart.shape
        self._reverse_only = not owner._is_linear
        self._described = f"the rule of {owner._name}"

    @property
    def _identity(self) -> Any:
        return id(self._program), self._operands, tuple(self._taken), id(self._rule)

    def _entered(self, values: tuple[Any, ...]) -> tuple[Program, tuple[Any, ...]]:
        middle = self._operands + self._program._fixed
        taken = [values[k] for k in self._taken]
        return self._program, (*values[self._operands : middle], *taken, *values[middle:])

    def _pull_back(self, g: Any, p: Any, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        g, p = (filled(self._shape, x if isinstance(x, tuple) else (x,)) for x in (g, p))
        found = self._rule(g, p, *inputs[: self._operands])
        if not isinstance(found, (tuple, list)) or len(found) != self._operands:
            what = count(len(found), "adjoint") if isinstance(found, (tuple, list)) else f"{type(found).__name__}"
            raise RuleError(
                f"{self._described} returned {what} for {count(self._operands, 'operand')}. Return a tuple with one "
                "adjoint per operand, None for zero; a single one needs a trailing comma."
            )
        return (*found, *(None,) * (len(inputs) - self._operands))

    def __repr__(self) -> str:
        return f"<{self._described.removeprefix('the rule of ')}: {count(self._program._last.size, 'node')}>"


class CustomVJP:
    """A function with a derivative rule of its own, as `custom_vjp` makes it.

    Examples
    --------
    >>> import hoad
    >>> square = hoad.custom_vjp(lambda x: x * x)
    >>> _ = square.defvjp(lambda g, p, x: (2 * x * g,))
    >>> square(3.0), hoad.grad(square)(3.0)
    (9.0, 6.0)
    """

    def __init__(self, f: Callable[..., Any], nondiff_argnums: tuple[int, ...] = ()) -> None:
        functools.update_wrapper(self, f, updated=())
        self._f = f
        self._name: str = getattr(f, "__name__", type(f).__name__)
        self._nondiff = tuple(sorted(nondiff_argnums))
        self._rule: Callable[..., Any] | None = None
        self._arity = 0
        self._is_linear = True
        self._is_pair = False

    def defvjp(self, rule: Callable[..., Any], bwd: Callable[..., Any] | None = None, *, linear: bool = True) -> Any:
        """Give the function its rule: ``rule(g, p, *operands)``, or JAX's pair ``fwd, bwd``.

        Parameters
        ----------
        rule : callable
            ``rule(g, p, *operands, **parameters)`` returns an adjoint for each operand, None for zero: see
            `hoad.rules.vjp`. Arguments that it does not name among its operands are its parameters. With `bwd`, it is
            JAX's forward rule, ``fwd(*args) -> (result, residuals)``.
        bwd : callable, optional
            JAX's backward rule, ``bwd(*nondiff, residuals, g)``, which returns an adjoint for each argument.
        linear : bool, optional
            False for a rule that is not linear in g, such as one that clips it. It has no transpose, so the function
            has derivatives in reverse only; forward mode raises.

        Returns
        -------
        callable or None
            The rule, so that `defvjp` can be a decorator; None for a pair.

        Raises
        ------
        ArgumentError
            If it is no function.
        RuleError
            If a rule names no operand.

        Notes
        -----
        Cost: none. Of a pair, the residuals are computed anew in the reverse sweep, from the operands; a residual that
        is the result itself is not.

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
        self._is_linear, self._is_pair = linear, bwd is not None
        if bwd is not None:
            self._rule, self._arity = self._of_pair(rule, bwd), MANY
            return None
        if positional(rule) < 3:
            raise RuleError(
                f"a rule is a function of (g, p, *operands), but {rule!r} names no operand. Name at least one."
            )
        self._rule, self._arity = rule, positional(rule) - 2
        return rule

    def _of_pair(self, fwd: Callable[..., Any], bwd: Callable[..., Any]) -> Callable[..., Any]:
        """A rule made of JAX's two; `args` are the arguments that are no operands, by position."""

        def rule(g: Any, p: Any, *operands: Any, args: dict[int, Any], **parameters: Any) -> Any:
            rest = iter(operands)
            given = [args[k] if k in args else next(rest) for k in range(len(args) + len(operands))]
            returned = fwd(*given, **parameters)
            if not isinstance(returned, tuple) or len(returned) != 2:
                raise RuleError(
                    f"the forward rule of {self._name} returned {type(returned).__name__}, not a pair. Return the "
                    "result, and what the backward rule needs."
                )
            result, residuals = returned
            known = {id(of_fwd): of_f for of_fwd, of_f in zip(leaves(result), leaves(p), strict=True)}
            residuals = mapped(lambda leaf: known.get(id(leaf), leaf), residuals)
            return bwd(*[args[k] for k in self._nondiff], residuals, g)

        return rule

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if running() is None:
            record = recorder_among(args)
            return self._f(*args, **kwargs) if record is None else record(self, args, kwargs)
        if kwargs:
            bound = inspect.signature(self._f).bind(*args, **kwargs)
            args, kwargs = bound.args, bound.kwargs
        return self._called(args, kwargs)

    def _called(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        arity = MANY if self._rule is None else self._arity
        operands = [k for k in range(len(args)) if k not in self._nondiff][:arity]
        others = {k: args[k] for k in range(len(args)) if k not in operands}
        if holds_traced([*others.values(), *kwargs.values()]):
            raise RuleError(
                f"{self._name} was given a traced value for a parameter ({here()}), which its rule does not "
                "differentiate by. Name it among the operands of the rule, or pass it by way of hoad.stop_gradient to "
                "a function of its own."
            )
        chosen = [k for k in operands if self._is_traced(k, args[k])]
        if not chosen:
            return self._f(*args, **kwargs)
        if self._rule is None:
            raise NoRuleError(
                f"{self._name} has no derivative rule ({here()}). Give it one with {self._name}.defvjp(rule), where "
                "rule(g, p, *operands) returns an adjoint for each operand."
            )
        apart = Apart(self._f, args, kwargs, chosen, self._picked)
        self._check(apart)
        taken = [operands.index(k) for k in chosen]
        callee = Ruled(apart, len(operands), taken, self._with_parameters(others, kwargs), self)
        traced = dict(zip(chosen, apart.operands, strict=True))
        numbers = [traced[k] if k in traced else apart.operand(args[k]) for k in operands]
        return apart.record(callee, numbers + apart.segment.constants + apart.segment.outer)

    def _is_traced(self, k: int, x: Any) -> bool:
        """Whether an argument that the rule takes is traced; raises for one that no rule can take."""
        if is_traced(x) or isinstance(x, (bool, int, float, np.generic)):
            return is_traced(x)
        if isinstance(x, np.ndarray):
            return holds_traced(x)
        raise ArgumentError(
            f"argument {k} of {self._name} is {type(x).__name__} ({here()}), but its rule takes it as an operand, a "
            "number or an array. Pass arrays as arguments of their own. Put what is no number behind a * in the rule, "
            "or name it with nondiff_argnums."
        )

    def _picked(self, d: Recording, leaf: Any) -> int | None:
        """Every number that f returns is a result, which the rule has an adjoint of."""
        return output_operand(d, leaf, self._name)

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
        if not others and not kwargs and not self._is_pair:
            return rule  # the same for every call
        if self._is_pair:
            return functools.partial(rule, args=others, **kwargs)
        names = list(inspect.signature(self._f).parameters) if others else []
        return functools.partial(rule, **kwargs, **{names[k]: value for k, value in others.items()})


def custom_vjp(f: Callable[..., Any], nondiff_argnums: tuple[int, ...] = ()) -> CustomVJP:
    """f with a derivative rule of its own: ``f.defvjp(rule)``, where ``rule(g, p, *operands) -> (adjoint, ...)``.

    The rule replaces the derivative of what f is composed of, in every mode and at every order: forward mode transposes
    it, second derivatives differentiate it.

    Parameters
    ----------
    f : callable
        Written with NumPy: it returns a number, an array, or tuples, lists and dictionaries of them.
    nondiff_argnums : tuple of int, optional
        Arguments that are no operands, by position: functions, strings, options. Those that a rule does not name
        among its operands are none either.

    Returns
    -------
    CustomVJP
        Called like f; `defvjp` gives it its rule.

    Raises
    ------
    ArgumentError
        If f cannot be called; in a derivative, if an operand is no number and no array.
    NoRuleError
        In a derivative, if it has been given no rule.
    RuleError
        In a derivative, if the rule does not do what a rule must.
    TracedValueError
        In a derivative, if f uses a traced value that is not among its arguments.

    See Also
    --------
    primitive : for functions that hoad cannot look into.

    Notes
    -----
    Cost: f once, traced apart, some 50 µs a call; the rule once for each node in a sweep. A replay runs the operations
    of f without Python.

    `CustomVJP.defvjp` takes JAX's pair ``(fwd, bwd)`` too.

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
    check_function("custom_vjp", f)
    return CustomVJP(f, nondiff_argnums)


__all__ = ["CustomVJP", "custom_vjp"]
