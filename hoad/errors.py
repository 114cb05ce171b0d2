"""The errors that hoad raises. Each derives from `HoadError` and from the builtin that a caller would catch."""

import os
import threading
import traceback

__all__ = [
    "ArgumentError",
    "CheckError",
    "DTypeError",
    "DomainError",
    "ExecutorError",
    "GuardError",
    "HoadError",
    "NanError",
    "NoMethodError",
    "NoRuleError",
    "OtherStructureError",
    "RuleError",
    "ShapeError",
    "TracedValueError",
]


class HoadError(Exception):
    """The base class of all errors that hoad raises."""


class _Refusals(threading.local):
    """What traced values have refused in this thread: a function may have handled it, and gone another way."""

    count = 0
    last = ""

    def note(self, error: Exception) -> None:
        self.count += 1
        self.last = str(error)


REFUSALS = _Refusals()


class TracedValueError(HoadError, TypeError):
    """A traced value would have been cut off from the derivative.

    Examples
    --------
    >>> import math
    >>> import hoad
    >>> hoad.grad(lambda x: math.sin(x))(1.0)
    Traceback (most recent call last):
        ...
    hoad.errors.TracedValueError: Write np.sin in place of math.sin (...): float() of a traced value would cut it ...

    Write ``np.sin(x)``, which is recorded.
    """

    def __init__(self, *args: object) -> None:
        super().__init__(*args)
        REFUSALS.note(self)


class NoRuleError(HoadError, NotImplementedError):
    """An operation has no derivative rule.

    Examples
    --------
    >>> from scipy import special
    >>> import hoad
    >>> hoad.grad(lambda q: special.mathieu_a(1.0, q))(6.0)
    Traceback (most recent call last):
        ...
    hoad.errors.NoRuleError: scipy.special.mathieu_a has no derivative rule ...

    Declare one with `hoad.defvjp`, or use operations that have one.
    """

    def __init__(self, *args: object) -> None:
        super().__init__(*args)
        REFUSALS.note(self)


class NoMethodError(NoRuleError, AttributeError):
    """A method or attribute of arrays cannot be recorded.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> hoad.grad(lambda x: np.sum(x) / x.strides[0])(np.ones(3))
    Traceback (most recent call last):
        ...
    hoad.errors.NoMethodError: ndarray.strides has no rule for traced values ...

    >>> hoad.grad(lambda x: np.sum(x) / x.itemsize)(np.ones(3))
    array([0.125, 0.125, 0.125])
    """


class RuleError(HoadError, TypeError):
    """A derivative rule is not valid; the message names the rule and what it returned.

    Examples
    --------
    >>> import hoad
    >>> @hoad.primitive
    ... def product(x, y):
    ...     return x * y
    >>> _ = hoad.defvjp(product, lambda g, p, x, y: (g * y,))
    >>> hoad.grad(product)(1.0, 2.0)
    Traceback (most recent call last):
        ...
    hoad.errors.RuleError: <lambda> of product returned 1 adjoint for 2 operands. Return one per operand, ...

    Return an adjoint for every operand:

    >>> _ = hoad.defvjp(product, lambda g, p, x, y: (g * y, g * x))
    >>> hoad.grad(product)(1.0, 2.0)
    2.0
    """


class ShapeError(HoadError, ValueError):
    """A shape or a structure does not fit.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> hoad.grad(lambda x: 2 * x)(np.ones(3))
    Traceback (most recent call last):
        ...
    hoad.errors.ShapeError: grad needs a scalar function, but f(x) has shape (3,). Use jacobian(f), ...

    >>> hoad.jacobian(lambda x: 2 * x)(np.ones(2))
    array([[2., 0.],
           [0., 2.]])
    """


class DTypeError(HoadError, TypeError):
    """A dtype that has no derivative, such as an integer argument.

    Examples
    --------
    >>> import hoad
    >>> hoad.grad(lambda x: x * x)(3)
    Traceback (most recent call last):
        ...
    hoad.errors.DTypeError: grad needs a float argument, but argument 0 is int ...

    >>> hoad.grad(lambda x: x * x)(3.0)
    6.0
    """


class ArgumentError(HoadError, TypeError, ValueError):
    """An argument of a driver is of the wrong kind, or an unknown choice.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> hoad.grad(np.sin(1.0))
    Traceback (most recent call last):
        ...
    hoad.errors.ArgumentError: grad takes a function, but was given a float64 (0.8414709848078965). ...

    >>> hoad.grad(np.sin)(0.0)
    1.0
    """


class DomainError(HoadError, ValueError):
    """A series has a coefficient that is not finite; the message names the operation and the highest finite order.

    `hoad.derivative` and `hoad.derivatives` give inf or nan instead.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> hoad.taylor(np.sqrt, 0.0, 2)
    Traceback (most recent call last):
        ...
    hoad.errors.DomainError: taylor: the derivative of order 1 of f at x = 0.0 comes out as inf, ...

    >>> hoad.derivatives(np.sqrt, 2)(0.0)
    array([  0.,  inf, -inf])
    """


class GuardError(HoadError, RuntimeError):
    """A program was replayed where the function would take another branch than in the recording.

    Examples
    --------
    >>> import hoad
    >>> program = hoad.record(lambda x: x if x > 0 else -x, 1.0)
    >>> program.evaluate(-2.0)
    Traceback (most recent call last):
        ...
    hoad.errors.GuardError: this program was recorded with a branch at ... that these inputs do not take. ...

    Record the function at these inputs, or choose with ``np.where``, which replays both branches.
    """


class OtherStructureError(GuardError):
    """A sparse derivative has entries outside of the structure of a plan.

    Attributes
    ----------
    structure : object
        The structure with these entries, for the plan.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> def f(x):
    ...     return x[0] * x[1] if x[0] > 0 else x[1] ** 3
    >>> plan = hoad.sparse_hessian(f).plan(np.array([1.0, 2.0]))
    >>> x = np.array([-1.0, 2.0])
    >>> plan.values(x)
    Traceback (most recent call last):
        ...
    hoad.errors.OtherStructureError: f has entries here that the plan does not have: it takes another branch than ...

    A call of the plan adds them, with a warning; `values` has a place for them from then on:

    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", hoad.JitWarning)
    ...     _ = plan(x)
    >>> plan.values(x)
    array([ 0.,  0., 12.])
    """

    def __init__(self, structure: object) -> None:
        super().__init__(
            "f has entries here that the plan does not have: it takes another branch than where the plan was made, or "
            "got other arguments. Make a plan here, or call the plan, plan(x), which adds them."
        )
        self.structure = structure

    def __reduce__(self) -> tuple[type, tuple[object]]:
        return type(self), (self.structure,)


class ExecutorError(HoadError, RuntimeError):
    """The workers of an executor could not compute their part of a map; the message names the inputs and the cause.

    Examples
    --------
    >>> import concurrent.futures
    >>> import numpy as np
    >>> import hoad
    >>> class Careless(concurrent.futures.Executor):
    ...     def submit(self, function, *args):
    ...         future = concurrent.futures.Future()
    ...         future.cancel()
    ...         return future
    >>> hoad.vmap(np.sin, executor=Careless())(np.zeros(3))
    Traceback (most recent call last):
        ...
    hoad.errors.ExecutorError: inputs 0 to 2 of this vmap were lost 4 times by Careless (CancelledError)...

    Keep the executor open and its workers alive until the map has returned.
    """


class NanError(HoadError, FloatingPointError):
    """Inside `hoad.debug_nans`, a result is nan or infinite; the message names where this first appeared.

    Attributes
    ----------
    operation : str
        The operation that returned the first nan or infinity; ``"input"`` if an input was not finite.
    operands : tuple
        Its operands: the items at `index` if it works element by element, otherwise the operands themselves.
    result : float or complex
        Its result.
    index : tuple of int
        The index of this number in the array that it returned.
    where : str or None
        ``"file:line"`` of the operation, or, in a derivative, of the operation whose rule contains it.
    order : int
        The order of the derivative, 0 for the value.
    mode : {"reverse", "forward", None}
        The sweep that it belongs to.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> with hoad.debug_nans():
    ...     hoad.grad(lambda x: x * np.log(x))(0.0)
    Traceback (most recent call last):
        ...
    hoad.errors.NanError: grad of f gave nan. It first appears in the value at ...: log(0.0) = -inf. Write np.where(...
    """

    operation: str = ""
    operands: tuple[object, ...] = ()
    result: object = None
    index: tuple[int, ...] = ()
    where: str | None = None
    order: int = 0
    mode: str | None = None


class JitWarning(UserWarning):
    """A function given to `hoad.jit` runs without compilation.

    It cannot be replayed, keeps changing what it reads, or writes what a replay cannot. The message says what to
    change, in which line, and why.

    Examples
    --------
    >>> import random, warnings
    >>> import hoad
    >>> noisy = hoad.jit(lambda x: x + random.random())
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     _ = noisy(1.0)
    >>> print(caught[0].message)
    Draw the random numbers ... <lambda> runs without compilation: it draws from ...
    """


def count(number: int, noun: str, plural: str = "") -> str:
    """A number of things, in words as they are said: "1 operand", "2 operands"."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


class CheckError(HoadError, AssertionError):
    """A check of derivatives failed: the message says what is wrong, by how much, and compared with what.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> report = hoad.check.gradient(np.sin, lambda x: -np.cos(x), 1.0)
    >>> report.assert_passed()
    Traceback (most recent call last):
        ...
    hoad.errors.CheckError: gradient of sin: 1 of 1 components is wrong. ...

    >>> hoad.check.gradient(np.sin, np.cos, 1.0).assert_passed()
    """


def told(error: BaseException) -> str:
    """An exception in a line, with the place in the user's file."""
    name, text = type(error).__name__, str(error).strip()
    return f"{name}: {text}{_place(error)}" if text else f"{name}{_place(error)}"


def _place(error: BaseException) -> str:
    """`` (model.py:42)``: the last line in the current directory, or else the last that is not hoad's."""
    if isinstance(error, SyntaxError):  # its text has the place
        return ""
    package = os.path.dirname(os.path.abspath(__file__)) + os.sep
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith(package)]
    own = [frame for frame in frames if frame.filename.startswith(os.getcwd() + os.sep)] or frames
    return f" ({os.path.basename(own[-1].filename)}:{own[-1].lineno})" if own else ""
