"""How an implementation of a function of SciPy is registered, and what all of them need."""

from __future__ import annotations

import copy
import functools
import inspect
import itertools
import textwrap
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy
import scipy.linalg

from hoad._core.base.call_watch import unwatched
from hoad._core.base.frame_globals import Apart
from hoad._core.base.where import here
from hoad._core.trace.coerce import holds_traced
from hoad._core.trace.traced import is_traced, plain_value
from hoad._numpy.products import inexact
from hoad._numpy.registry import as_traced
from hoad._program.trace import recorder_among
from hoad.errors import NoRuleError, TracedValueError

Function = Callable[..., Any]
Core = int | str  # how many dimensions a function works on: a number, or "1|2"

# Functions that estimate norms at random points of NumPy's global generator.
DRAWING = {scipy.linalg.logm, scipy.linalg.fractional_matrix_power}

# What hoad calls in place of a function of SciPy's, where something among its arguments is traced.
IMPLEMENTED: dict[Function, Function] = {}


class _Entry(NamedTuple):
    """What is known of a function; the function itself holds its name, for what it holds counts as what it reads."""

    original: Function
    implementation: Function
    stacks: bool
    cores: dict[str, Core]


_ENTRIES: dict[str, _Entry] = {}


def implements(original: Function, *, stacks: bool = False, **cores: Core) -> Callable[[Function], Function]:
    """Register an implementation of a function of SciPy, which goes by SciPy's signature.

    Parameters
    ----------
    original : callable
        SciPy's function. It is called where nothing among the arguments is traced. Else it is called with the plain
        values first: so errors, warnings and the dtype of the result are SciPy's.
    stacks : bool, optional
        Whether the implementation takes stacks of arrays itself.
    **cores : int or str
        The arguments that are arrays of numbers, each with the number of dimensions that SciPy works on. Of an array of
        more, a stack, the implementation gets one part at a time.
    """
    place = f"{original.__module__.partition('._')[0]}.{original.__name__}"

    def register(implementation: Function) -> Function:
        @functools.wraps(implementation)
        def function(*args: Any, **kwargs: Any) -> Any:
            if holds_traced(args) or holds_traced(list(kwargs.values())):
                return _recorded(_ENTRIES[place], args, kwargs)
            record = recorder_among((*args, *kwargs.values()))
            return _call(_ENTRIES[place].original, args, kwargs) if record is None else record(function, args, kwargs)

        _ENTRIES[place] = _Entry(original, implementation, stacks, cores)
        function.__wrapped__ = original  # whose signature it has
        function.__doc__ = _documented(original, implementation)
        IMPLEMENTED[original] = function
        return function

    return register


def _recorded(entry: _Entry, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of an implementation, with SciPy's dtypes."""
    original, implementation, stacks, cores = entry
    wanted = plain_result(original, args, kwargs)
    signature = _signature(original)
    if any(x.kind is x.VAR_POSITIONAL for x in signature.parameters.values()):
        return with_dtypes(implementation(*args, **kwargs), wanted)
    given = dict(signature.bind(*args, **kwargs).arguments)
    arrays = {name: inexact(given[name]) for name in cores if given.get(name) is not None}
    if stacks:
        return with_dtypes(implementation(**given | arrays), wanted)

    def one(*parts: Any) -> Any:
        return implementation(**given | dict(zip(arrays, parts, strict=True)))

    return with_dtypes(over_stacks(one, *[(x, cores[name]) for name, x in arrays.items()]), wanted)


@functools.lru_cache(maxsize=256)
def _signature(original: Function) -> inspect.Signature:
    """That of a function of SciPy's, which a program must not be taken to depend on."""
    return inspect.signature(original)


# ---- docstrings -----------------------------------------------------------------------------------------------------


def _documented(original: Function, implementation: Function) -> str | None:
    """The docstring of an implementation, with the sections that all of them share."""
    text = inspect.getdoc(implementation)
    if text is None:  # python -OO
        return None
    summary, _, rest = text.partition("\n\n")
    raises = "numpy.linalg.LinAlgError, ValueError\n    As SciPy's function, which is called with the plain values."
    head, _, last = rest.partition("Notes\n-----\n")
    return sections(f"{summary}\n\n{head}".strip(), original, raises, f"Notes\n-----\n{last}")


def place_of(original: Function) -> str:
    """Where users find a function of SciPy's: its name behind those of the modules that are public."""
    module = itertools.takewhile(lambda name: not name.startswith("_"), original.__module__.split("."))
    return ".".join([*module, original.__name__])


def sections(summary: str, original: Function, raises: str, rest: str) -> str:
    """The docstring of a function, with those of SciPy's for parameters and results."""
    place = f"`{place_of(original)}`"
    names = textwrap.fill(", ".join(_signature(original).parameters), 116, break_on_hyphens=False)
    parts = [
        summary,
        f"Parameters\n----------\n{names}\n    As of {place}." if names else "",
        f"Returns\n-------\narray or tuple\n    As of {place}.",
        f"Raises\n------\n{raises}",
        rest,
    ]
    return "\n\n".join(filter(None, parts))


# ---- plain values ---------------------------------------------------------------------------------------------------


def _plain(x: Any) -> Any:
    """The plain value of an argument, in nested lists and tuples too."""
    if is_traced(x):
        return plain_value(x)
    if type(x) in (list, tuple):
        return type(x)(map(_plain, x))
    if isinstance(x, np.ndarray) and x.dtype == object:
        return np.array([_plain(item) for item in x.flat]).reshape(x.shape)
    return x


def plain_result(original: Function, args: Any, kwargs: Any) -> Any:
    """What SciPy's function returns for the plain values; None inside a rule, where there are no values."""
    try:
        args, kwargs = _plain(tuple(args)), {name: _plain(x) for name, x in kwargs.items()}
    except TracedValueError:
        return None
    if any(x is True for x in (*args, *kwargs.values())):  # perhaps overwrite_a: what is plain is used again
        args, kwargs = copy.deepcopy((args, kwargs))
    return _call(original, args, kwargs)


def _call(original: Function, args: Any, kwargs: Any) -> Any:
    """The result of SciPy's function, which leaves NumPy's generator as it is, so that a program may be replayed."""
    with Apart():
        if original in DRAWING:
            return unwatched(_without_draws, (original, args, kwargs))
        return original(*args, **kwargs)


def _without_draws(original: Function, args: Any, kwargs: Any) -> Any:
    state = np.random.get_state()  # noqa: NPY002  (SciPy draws from this one)
    try:
        return original(*args, **kwargs)
    finally:
        np.random.set_state(state)  # noqa: NPY002


def with_dtypes(found: Any, wanted: Any) -> Any:
    """What was found, each array with the dtype that SciPy gives it; raises where SciPy gives another shape."""
    if isinstance(found, (list, tuple)):
        if not isinstance(wanted, (list, tuple)) or len(wanted) != len(found):
            return found
        return type(found)(with_dtypes(x, y) for x, y in zip(found, wanted, strict=True))
    if not is_traced(found) or not hasattr(wanted, "dtype"):
        return found
    if found.shape != wanted.shape:
        raise NoRuleError(
            f"a function of SciPy {scipy.__version__} gives an array of shape {wanted.shape}, but hoad one of shape "
            f"{found.shape} ({here()}). Give it arrays of as many dimensions as it works on, one at a time."
        )
    if wanted.dtype == found.dtype or found.dtype.kind not in "fc" or wanted.dtype.char not in "fdFD":
        return found
    return (np.real(found) if wanted.dtype.kind == "f" and found.dtype.kind == "c" else found).astype(wanted.dtype)


# ---- stacks ---------------------------------------------------------------------------------------------------------


def _split(x: Any, core: Core) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The shape of a stack, and that of one of its parts."""
    ndim = (2 if x.ndim >= 2 else 1) if isinstance(core, str) else core
    at = max(x.ndim - ndim, 0)
    return tuple(x.shape[:at]), tuple(x.shape[at:])


def over_stacks(f: Function, *arrays: tuple[Any, Core]) -> Any:
    """``f(*arrays)``; of stacks, which are broadcast together, the stack of the results for their parts."""
    if not any(_split(x, core)[0] for x, core in arrays):
        return f(*[x for x, _ in arrays])
    outer = np.broadcast_shapes(*[_split(x, core)[0] for x, core in arrays])
    whole = [np.broadcast_to(x, outer + _split(x, core)[1]) for x, core in arrays]
    results = [f(*[x[index] for x in whole]) for index in np.ndindex(*outer)]

    def together(parts: list[Any]) -> Any:
        made = np.stack([as_traced(part) for part in parts])
        return np.reshape(made, outer + tuple(made.shape[1:]))

    if isinstance(results[0], tuple):
        return tuple(together(list(parts)) for parts in zip(*results, strict=True))
    return together(results)


# ---- what implementations share -------------------------------------------------------------------------------------


def transposed(a: Any) -> Any:
    """aᵀ of the last two axes."""
    return np.swapaxes(a, -1, -2)


def adjoint(a: Any) -> Any:
    """aᴴ of the last two axes."""
    made = transposed(a)
    return np.conjugate(made) if made.dtype.kind == "c" else made


def as_column(b: Any) -> Any:
    """A vector as a matrix of one column."""
    return b[:, None] if b.ndim == 1 else b


def common(*arrays: Any) -> Iterator[Any]:
    """The arrays with one dtype."""
    dtype = np.result_type(*[x.dtype for x in arrays])
    return (x.astype(dtype) for x in arrays)


def identity_like(a: Any) -> Any:
    """The identity of the shape and dtype of a square matrix, or of a stack of them."""
    return np.eye(a.shape[-1], dtype=a.dtype)


def decided(condition: Any) -> bool:
    """A traced condition as Python's; another outcome is recorded again."""
    return bool(np.all(condition))


def refused(name: str, what: str, advice: str, part: str = "scipy.linalg") -> NoRuleError:
    """The error for a call that cannot be recorded."""
    return NoRuleError(f"{part}.{name} {what} has no derivative rule ({here()}). {advice}")
