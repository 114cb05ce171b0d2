"""Running a function on traced values, and the programs that come of it."""

from __future__ import annotations

import dis
import os
import sys
import traceback
from collections.abc import Callable, Iterable
from types import FrameType
from typing import Any

import numpy as np

from hoad._comparison.plain_calls import compared
from hoad._core.base.frame_globals import AdoptedGlobals
from hoad._core.base.where import is_library, is_passed, is_public, name_running, wrapped_in
from hoad._core.graph.norms import replace_even_functions
from hoad._core.record.recording import Recording
from hoad._core.trace.coerce import holds_traced
from hoad._core.trace.errors import advice_for
from hoad._core.trace.traced import METHODS, Array, Scalar, is_traced, plain_value
from hoad._pytree.arguments import FLOAT64, Key, check_argument, packed, parts_of
from hoad._pytree.containers import Forms, Name, Parts, flatten, is_float, kind_of, without_labels
from hoad.errors import REFUSALS, HoadError, NoRuleError, ShapeError, TracedValueError

# Drivers of functions of one number, or of the items of one array.
POINTWISE = ("derivative", "derivatives")

# Drivers of functions whose result is one number.
OF_NUMBERS = ("grad", "value_and_grad", "hessian", "hvp", "vhp")


def call_traced(
    recording: Recording,
    f: Callable[..., Any],
    args: tuple[Any, ...],
    chosen: tuple[Key, ...],
    driver: str,
    kwargs: dict[str, Any] | None = None,
) -> tuple[Any, Forms | None]:
    """What f returns with the chosen arguments traced, and the containers among those, if any."""
    traced: Any = recording.with_inputs(args, chosen)
    keywords = kwargs or {}
    forms: Forms | None = None
    if traced is None:
        traced = list(args)
        for n, key in enumerate(chosen):
            if isinstance(key, int):
                value, into = args[key], traced
            else:
                value, into = keywords[key], (keywords := dict(keywords))
            into[key], parts = _entered(recording, f, key, value, driver)
            if parts is not None:
                forms = forms or [None] * len(chosen)
                forms[n] = parts
    recording.asked = driver, f, chosen, forms
    try:
        return compared(f, traced, keywords, driver), forms
    except BaseException as failure:
        tell_of_objects(failure)
        raise


def tell_of_objects(failure: BaseException) -> None:
    """Raise what makes clear what NumPy or SciPy said of object arrays of traced values, if that is what failed."""
    called = "" if _was_adopted(failure) else function_of_scipy(failure)
    if called and _is_of_traced(failure, called):
        raise _not_recorded(failure, called) from failure
    if isinstance(failure, HoadError):
        return
    if isinstance(failure, TypeError) and any(sign in str(failure) for sign in OBJECT_ARRAYS):
        raise _without_loop(failure) from failure
    if isinstance(failure, (ValueError, SystemError)) and isinstance(failure.__cause__, TracedValueError):
        # NumPy put "setting an array element with a sequence" in front of it; SciPy's root finders, which go on
        # after an error, have the interpreter say that a call "returned a result with an exception set".
        raise failure.__cause__ from None
    refusal = _hidden_refusal(failure) if isinstance(failure, (TypeError, ValueError)) else ""
    if refusal:
        raise TracedValueError(refusal) from failure


class _TellingOfObjects:
    """Where a function is called on traced values: what NumPy says of object arrays of them, made clear."""

    __slots__ = ()

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, failure: BaseException | None, traceback: object) -> None:
        if failure is not None:
            tell_of_objects(failure)


telling_of_objects = _TellingOfObjects()  # keeps nothing, so that one is enough


def _entered(recording: Recording, f: Any, key: Key, value: Any, driver: str) -> tuple[Any, Parts | None]:
    """An argument with its floats traced, and where they are if it is a container."""
    if type(value) is float or (type(value) is np.ndarray and value.dtype is FLOAT64):
        return recording.input(value), None
    if driver not in POINTWISE and kind_of(type(value)) is not None:
        parts, floats = parts_of(driver, f, key, value)
        return parts.filled([recording.input(leaf) for leaf in floats]), parts
    value = packed(value)
    check_argument(driver, repr(key), value)
    return recording.input(value), None


def _hidden_refusal(failure: BaseException) -> str:
    """What a traced value has said to compiled code that raised an error of its own instead, or ""."""
    *_, (frame, _) = traceback.walk_tb(failure.__traceback__)
    where, user, _ = raised_at(failure)
    if os.path.join("json", "encoder.py") in frame.f_code.co_filename and is_traced(frame.f_locals.get("o")):
        return f"Give json hoad.value(x) ({where}): it takes no traced values."
    said = REFUSALS.last if frame is user and f" ({where}): " in REFUSALS.last else ""
    return said if dis.opname[frame.f_code.co_code[frame.f_lasti]] != "RAISE_VARARGS" else ""


def _without_loop(failure: TypeError) -> TracedValueError:
    """What NumPy says of object arrays of traced scalars, made clear."""
    where, frame, line = raised_at(failure)
    made = METHODS["__made_traced__"](frame, line) if frame is not None else None
    made = f"Make it a traced array: {made}" if made else "Make it a traced array: np.array([...], like=x)"
    return TracedValueError(
        f"{made} ({where}): NumPy has no loop for what it was given, an object array of traced values most likely: "
        f"{failure}. A function that NumPy does not dispatch makes object arrays as well: write it with NumPy "
        "functions, or make it one operation with a rule of its own (see hoad.primitive); or take hoad.value(x) if "
        "plain numbers are meant."
    )


def _was_adopted(failure: BaseException) -> bool:
    """Whether adopted code raised, whose line says what went wrong."""
    return any(type(frame.f_globals) is AdoptedGlobals for frame, _ in traceback.walk_tb(failure.__traceback__))


def _is_of_traced(failure: BaseException, called: str) -> bool:
    """Whether what went wrong in SciPy is that a value is traced; not where the core has named this function."""
    said = str(failure)
    if isinstance(failure, HoadError):
        return isinstance(failure, (NoRuleError, TracedValueError)) and f"{called} of " not in said
    return any(sign in said for sign in (*OBJECT_ARRAYS, *OBJECTS_IN_SCIPY))


def _not_recorded(failure: BaseException, called: str) -> TracedValueError:
    """What SciPy's functions in Python and Fortran say of traced values, made clear."""
    where = where_raised(failure)
    return TracedValueError(
        f"{advice_for(called)} ({where}): {called} of a traced value cannot be recorded. Or take hoad.value(x) if "
        "plain numbers are meant."
    )


def function_of_scipy(failure: BaseException) -> str:
    """The name of the function of SciPy that the user's code had called where an exception was raised, or ""."""
    folder = os.path.dirname(getattr(sys.modules.get("scipy"), "__file__", None) or "")
    if not folder:
        return ""
    called, is_named = "", False
    for frame, _ in traceback.walk_tb(failure.__traceback__):
        code = frame.f_code
        if code.co_filename.startswith(folder + os.sep):
            if not is_named:
                wrapped = wrapped_in(frame)
                called = wrapped or name_running(frame)
                is_named = bool(wrapped) or is_public(code.co_name)
        elif not code.co_filename.endswith(".pyx") and (
            not is_library(code.co_filename) or os.path.join("hoad", "ode") in code.co_filename
        ):  # what SciPy calls is the user's again, or a solver that says itself what is wrong
            called, is_named = "", False
    return called


# What SciPy says of object arrays.
OBJECTS_IN_SCIPY = (
    "object arrays are not supported",
    "not a proper array of floats",
    "The dtype object cannot be cast",
)

# What NumPy says when a function without a loop for objects meets an object array of traced scalars.
OBJECT_ARRAYS = (
    "dtype('O')",
    "loop of ufunc does not support argument",
    "not supported for the input types",
    "Cannot cast ufunc",
)


def raised_at(failure: BaseException) -> tuple[str, FrameType | None, int]:
    """'file.py:line' of the user's code that an exception passed through last, its frame, and the line."""
    frame, line = None, 0
    for passed, number in traceback.walk_tb(failure.__traceback__):
        name = passed.f_code.co_filename
        if not (is_library(name) or is_passed(name) or name.endswith(".pyx")):
            frame, line = passed, number
    if frame is None:
        return "outside any Python file", None, 0
    return f"{os.path.basename(frame.f_code.co_filename)}:{line}", frame, line


def where_raised(failure: BaseException) -> str:
    """'file.py:line' of the user's code that an exception passed through last."""
    return raised_at(failure)[0]


def is_number(x: Any) -> bool:
    """Whether what f returned, or a leaf of it, is a number or an array of numbers."""
    if isinstance(x, (Scalar, Array, float, int, complex, np.number, np.bool_)):
        return True
    return isinstance(x, np.ndarray) and x.dtype.kind in "biufcO"


def outputs(recording: Recording, result: Any, driver: str) -> tuple[list[int], Parts | None]:
    """The operands of what f returned, and where they are if it is a container."""
    if kind_of(type(result)) is None:
        return [output_operand(recording, result, driver)], None
    leaves, structure = flatten(result)
    leaves = [leaf if is_number(leaf) else without_labels(leaf) for leaf in leaves]
    places = [k for k, leaf in enumerate(leaves) if is_traced(leaf) or is_float(leaf)]
    if not places:
        kind = type(result).__name__
        raise ShapeError(
            f"{driver} needs a function that returns a number or an array, but f returned {kind} without a float: "
            f"{structure.shown()}. Return the values to be differentiated."
        )
    parts = Parts(structure, leaves, places)
    found = [_operand(recording, leaves[k], driver) for k in places]
    return replace_even_functions(recording.graph, recording.start, found), parts


def output_name(parts: Parts | None, n: int) -> str | Name:
    """What to call the n-th float that f returned."""
    return "f(x)" if parts is None else parts.names("f(x)")[n]


def output_operand(recording: Recording, result: Any, driver: str) -> int:
    """The operand of what f returned: a number, an array, or an object array of traced scalars."""
    is_traced_itself = type(result) is Scalar or type(result) is Array
    operand = recording.operand(result) if is_traced_itself else _operand(recording, result, driver)
    return replace_even_functions(recording.graph, recording.start, [operand])[0]


def _operand(recording: Recording, result: Any, driver: str) -> int:
    result = result if is_number(result) else without_labels(result)
    if is_number(result):
        if isinstance(result, np.ndarray) and result.dtype == object and not holds_traced(result):
            result = _of_floats(result, driver)
        return recording.operand(result)
    kind = type(result).__name__
    if kind_of(type(result)) is not None and driver in OF_NUMBERS:
        advice = "Return the number to be differentiated, or use jacobian(f), which takes containers."
        if isinstance(result, tuple) and len(result) == 2:
            advice += " A pair of value and extra output is for has_aux=True."
    else:
        advice = "Return the value to be differentiated."
    raise ShapeError(f"{driver} needs a function that returns a number or an array, but f returned {kind}. {advice}")


def _of_floats(result: Any, driver: str) -> Any:
    """An object array that holds no traced value, as floats."""
    try:
        return result.astype(np.float64)
    except (TypeError, ValueError) as failure:
        raise ShapeError(
            f"{driver} needs a function that returns a number or an array of floats, but f returned an object array of "
            f"shape {result.shape}: {failure}. Return floats."
        ) from None


def recorder_among(values: Iterable[Any]) -> Callable[..., Any] | None:
    """What records a call of ``f(*args, **kwargs)`` where an expression is among nested values; None if none is."""
    stack = list(values)
    while stack:
        item = stack.pop()
        found: Callable[..., Any] | None = getattr(type(item), "__hoad_record__", None)
        if found is not None:
            return found
        if isinstance(item, (list, tuple)):
            stack.extend(item)
        elif isinstance(item, np.ndarray) and item.dtype == object:
            stack.extend(item.ravel().tolist())
    return None


def split_aux(result: Any, has_aux: bool, driver: str) -> tuple[Any, Any]:
    """(value, aux) of a function with auxiliary output."""
    if not has_aux:
        return result, None
    if not isinstance(result, tuple) or len(result) != 2:
        found = f"a tuple of {len(result)}" if isinstance(result, tuple) else type(result).__name__
        raise ShapeError(
            f"{driver} with has_aux=True needs a function that returns (value, aux), but f returned {found}."
        )
    return result


def plain(x: Any, nested: bool) -> Any:
    """Auxiliary output as the caller may keep it: numbers for traced values unless an outer derivative runs."""
    if x is None or nested:
        return x
    leaves, structure = flatten(x)
    if not any(holds_traced(leaf) for leaf in leaves):
        return x
    return structure.unflatten([_plain_leaf(leaf) for leaf in leaves])


def _plain_leaf(x: Any) -> Any:
    if is_traced(x):
        return plain_value(x)
    if isinstance(x, np.ndarray) and x.dtype == object:
        return np.array([_plain_leaf(item) for item in x.flat]).reshape(x.shape)
    return x
