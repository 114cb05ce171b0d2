"""Whether a function gives, where it is called on traced values, what it gives where it is called on plain ones.

A traced value answers ``isinstance`` as the value it stands for. It cannot answer ``type(x)`` so, nor whether a Python
float has a shape, and ``float(x)`` raises where a number does not. Code that goes by these can take another way. The
two calls are compared

- where a refusal of hoad's was raised within the function, and the function handled it;
- at the first call of a function for arguments of some classes, if code that it leads to names `type`, `hasattr` or the
  like; at each call, if that names an error of arithmetic, which plain calls meet at some values;
- at the first call of a jitted function for each signature, if its code tests types, makes text or handles errors;
- in `hoad.check`;
- at every call, with ``HOAD_PARANOID=1`` in the environment.

Within a call to compare with, functions are compared only at the first call for such arguments: the call that it is
compared with has compared what it called at the others.
"""

from __future__ import annotations

import contextlib
import functools
import opcode
import os
import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from types import CodeType, FrameType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from hoad._comparison.divergence import where_they_part
from hoad._comparison.reachable_code import Reached, reached_from
from hoad._comparison.type_tests import (
    FORMATS,
    FORMS,
    PATTERNS,
    TESTS,
    TEXT_ONLY,
    TEXTS,
    code_within,
    first_test,
    type_tests,
)
from hoad._core.base.call_watch import asks_nothing, call_key
from hoad._core.base.where import is_library
from hoad._core.jit.draws import draw_again, draws_so_far
from hoad._core.record.recording import are_all_alive, differentiating
from hoad._core.trace.coerce import holds_traced
from hoad._core.trace.context import reset_in_context, set_in_context
from hoad._core.trace.traced import Array, Scalar, graph_of, is_traced, plain_value
from hoad._pytree.containers import flatten, kind_of, leaves_of, without_labels
from hoad.errors import REFUSALS, TracedValueError, told

VARIABLE = "HOAD_PARANOID"
PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
DEMO = PACKAGE + "_demo" + os.sep  # its models stand for the user's code

PARANOID = os.environ.get(VARIABLE, "0") not in ("", "0")


def by_default() -> bool:
    return PARANOID


# Tells whether functions are called a second time, plainly, wherever they are recorded; asked when they have run.
COMPARING: ContextVar[Callable[[], bool]] = ContextVar("COMPARING", default=by_default)

# Called with the traced values of the arguments and results, and whether `asks` was given, before a function is called
# plainly, and says if it may be: what that stores is put where traced values were, which are to be found first; random
# numbers part any two calls.
BEFORE: ContextVar[Callable[[list[Any], bool], bool] | None] = ContextVar("BEFORE", default=None)

ROUNDINGS = 16  # of the largest item, by which items of two results may differ
SLACK = 1 << 10  # by how much more two calls may part than calls at arguments some roundings away
MUCH = 0.01  # of a result, which may be noise alone

NAMED = TESTS | TEXTS | FORMS
# Names by which code sees what a value is.
UNANSWERED = frozenset(
    """type hasattr getattr typename tolist str repr ascii __str__ __repr__ AttributeError Hashable Iterable Sized
    SupportsComplex SupportsFloat SupportsIndex SupportsInt SupportsRound""".split()
)
# What asks for the dtype of an array, which is that of objects where NumPy makes one of traced numbers, by these.
KINDS = frozenset("dtype isdtype issubdtype result_type".split())
# What plain calls raise, depending on values, where hoad computes inf or nan.
ARITHMETIC = frozenset("ArithmeticError FloatingPointError OverflowError RuntimeWarning ZeroDivisionError".split())
MAKERS = frozenset("array asanyarray asarray ascontiguousarray asfortranarray".split())
SIGNS = bytes(
    opcode.opmap[name]
    for name in (*FORMATS, *PATTERNS, "IS_OP", "BINARY_MODULO", "INPLACE_MODULO", "SETUP_FINALLY")
    if opcode.opmap.get(name, 256) < 256
)

IS = opcode.opmap["IS_OP"]
CONVERT = opcode.opmap.get("CONVERT_VALUE", -1)  # f"{x!r}" or "%r" % (x,), from CPython 3.13 on; before:
FORMAT = opcode.opmap.get("FORMAT_VALUE", -1)
CONVERTS = 3  # bits of the argument of that
# What "%" and `format` make the text of.
OF_TEXT = re.compile("%[-#0 +]*[0-9*]*(?:[.][0-9*]*)?[sra]|[{][^{}]*![sra][^{}]*[}]")

FUNCTIONS = (FunctionType, MethodType)
# Ids of classes of arguments that lead to no code of the user's; hashes of classes are what their metaclass says.
PLAIN = frozenset(
    map(id, (Scalar, Array, float, int, np.float64, np.ndarray, list, tuple, dict, str, type(None), bool))
)

# What runs a function within another one, and apart from it; all others take derivatives of it.
APART = frozenset("checkpoint checkpointed_loop scan fori_loop while_loop vmap".split())

# What asks for nothing by itself, or is one of NumPy's functions, which hoad knows.
# The methods of `object`, which every class of the user's has, are given objects that are not traced.
SILENT = frozenset(map(id, (np.ufunc, type(np.sum), np.ndarray, list, dict, tuple, set, ModuleType)))  # classes
SILENT |= frozenset(map(id, vars(object).values()))

# What compiled code says of a traced argument, where it takes arrays of NumPy alone.
COMPILED = r"numpy\.ndarray.*hoad\._core\.trace\.traced\."

Call = Callable[..., Any]


def compared(
    f: Any, args: Iterable[Any], kwargs: dict[str, Any], driver: str, asks: Callable[[], bool] | None = None
) -> Any:
    """``f(*args, **kwargs)``, some of which are traced, compared with a plain call where that is asked for.

    `asks` is called after f, and false where it is known that f asks nothing that a traced value cannot answer (see
    `are_needed`). Of a function of hoad's nothing is compared: what it calls of the user's is, where it is called.
    """
    if isinstance(f, functools.partial):
        f, args, kwargs = f.func, (*f.args, *args), f.keywords | kwargs
    before, n_draws = REFUSALS.count, draws_so_far()
    try:
        returned = f(*args, **kwargs) if kwargs else f(*args)
    except TypeError as error:
        if re.search(COMPILED, str(error)) is None:
            raise
        raise TracedValueError(
            f"compiled code takes plain arrays, but was given a traced value: {told(error)}. Use what hoad has under "
            "the same name, as hoad.scipy.sparse.linalg.splu; or wrap what calls it in @hoad.primitive, with a rule."
        ) from error
    comparison = COMPARING.get()
    silent = REFUSALS.count == before and not (PARANOID if comparison is by_default else comparison())
    if silent and asks is not None and not asks():
        return returned
    if silent and asks_nothing(f, args, PLAIN, KNOWN):
        return returned  # as most do
    if type(f) in FUNCTIONS and _is_own(getattr(f, "__code__", None)):  # a method may be of any object
        return returned
    key = call_key(f, args, PLAIN)
    known = KNOWN.get(key)
    if known is None or not known[0].holds(f):
        known = _known(f, key, [type(x) for x in args if id(type(x)) not in PLAIN])
    _, seen, at_each = known
    if silent and seen is None:
        return returned
    said = REFUSALS.last if REFUSALS.count != before else ""
    kinds = None if seen is None else tuple(map(_kind, args))
    is_new = seen is not None and kinds not in seen
    in_comparison = comparison is never  # in one of its calls, whose original was compared
    if is_new or (not in_comparison and (said or at_each or is_comparing())):
        beside = is_new and _may_meet(args)
        called = _Function(f, tuple(args), kwargs, n_draws)
        is_compared = _compare(called, driver, returned, said, beside, is_outer=asks is not None)
        if seen is not None and is_compared:
            seen.add(kinds)
    return returned


def of_first(f: Call, args: tuple[Any, ...], kwargs: dict[str, Any], driver: str) -> Callable[[Any], Any]:
    """f as a function of its first argument, compared where it is called."""
    return lambda x: compared(f, (x, *args), kwargs, driver)


def _kind(x: Any) -> tuple[Any, ...]:
    """What an argument is for code that tests types: attributes of an array go by its dimensions and dtype, too."""
    if is_traced(x) or type(x) is np.ndarray:
        return type(x), x.__class__, x.ndim, x.dtype
    if kind_of(type(x)) is None:
        return type(x), x.__class__
    return type(x), *map(_kind, leaves_of(x))


# Of a function, by the identity of its code and that in its cells: what it leads to; for arguments of which classes it
# was compared, if that is needed; and whether it is at each call, as some errors depend on values.
Known = tuple[Reached, set[Any] | None, bool]
KNOWN: dict[Any, Known] = {}
MOST_KNOWN = 10_000


def _may_meet(args: Iterable[Any]) -> bool:
    """Whether functions that differ may have one value at these arguments: x and x² at 0 and 1, say."""
    values = [plain_value(x) for x in leaves_of(list(args)) if is_traced(x) and graph_of(x).valued]
    return any(bool(np.any(x == np.round(x))) for x in values)


def _known(f: Call, key: Any, classes: list[type]) -> Known:
    """What is found of a function that is given such classes, once."""
    reached = reached_from(f, classes)
    codes = [code for code in reached.codes if not _is_own(code)]
    at_each = handles_arithmetic(codes)
    asks = at_each or not reached.is_whole or sees_what_it_has(codes)
    if len(KNOWN) >= MOST_KNOWN:
        KNOWN.clear()
    found = KNOWN[key] = reached, set() if asks else None, at_each
    return found


def sees_what_it_has(codes: Iterable[CodeType]) -> bool:
    """Whether code may see what a traced value is in a way that has no answer as for a plain one."""
    seen = 0
    for code in codes:
        seen |= _seen_by(code)
    return bool(seen & SEES) or seen & (ASKS | MAKES) == ASKS | MAKES


# By names or by `x is True`; asks for the dtype of an array; makes one; handles an error that depends on values.
SEES, ASKS, MAKES, HANDLES = 1, 2, 4, 8
SEEN: dict[int, tuple[CodeType, int]] = {}  # by the identity of code


def handles_arithmetic(codes: Iterable[CodeType]) -> bool:
    """Whether code names an error that a plain call meets at some values, and a traced one does not."""
    return any(_seen_by(code) & HANDLES for code in codes)


def _seen_by(code: CodeType) -> int:
    """Which of these a piece of code does."""
    known = SEEN.get(id(code))
    if known is None:
        if len(SEEN) >= MOST_KNOWN:
            SEEN.clear()
        found = 0
        for inner in code_within(code):
            if inner.co_name in TEXT_ONLY:
                continue
            names = frozenset((*inner.co_names, *inner.co_freevars))
            is_true = any(type(x) is bool for x in inner.co_consts) and IS in inner.co_code[::2]
            is_seen = is_true or not names.isdisjoint(UNANSWERED) or _makes_text(inner)
            found |= HANDLES * (not names.isdisjoint(ARITHMETIC)) | SEES * is_seen
            found |= ASKS * (not names.isdisjoint(KINDS)) | MAKES * (not names.isdisjoint(MAKERS))
        known = SEEN[id(code)] = code, found
    return known[1]


def _makes_text(code: CodeType) -> bool:
    """Whether code makes text that tells a traced value from a plain one, as f"{x}" does not."""
    operations = code.co_code[::2]
    arguments = zip(operations, code.co_code[1::2], strict=True)
    if CONVERT in set(operations) or any(op == FORMAT and argument & CONVERTS for op, argument in arguments):
        return True
    return any(OF_TEXT.search(x) for x in code.co_consts if isinstance(x, str))


def _is_own(code: Any) -> bool:
    """Whether code is hoad's."""
    if code is None:
        return False
    return code.co_filename.startswith(PACKAGE) and not code.co_filename.startswith(DEMO)


def is_comparing() -> bool:
    """Whether functions are called plainly, too, in this context."""
    return COMPARING.get()()


def always() -> bool:
    return True


def never() -> bool:
    return False


@contextlib.contextmanager
def comparing(
    needed: Callable[[], bool] = always, before: Callable[[list[Any], bool], bool] | None = None
) -> Iterator[None]:
    """While it is open, functions that are recorded are called plainly too, if that is needed; see `BEFORE`."""
    around = COMPARING.get()
    token, token_before = set_in_context(COMPARING, lambda: around() or needed()), set_in_context(BEFORE, before)
    try:
        yield
    finally:
        reset_in_context(COMPARING, token)
        reset_in_context(BEFORE, token_before)


def are_needed(codes: Iterable[CodeType], met: Iterable[Any]) -> bool:
    """Whether code of the user's, or what it leads to, may go by what a traced value cannot answer."""
    codes = list(codes)
    if any(map(_is_testing, codes)) or sees_what_it_has(codes):
        return True
    others = [
        x
        for x in met
        if id(type(x)) not in SILENT
        and id(x) not in SILENT
        and not (type(x) is FunctionType and not is_library(x.__code__.co_filename))
        and not str(getattr(type(x), "__module__", "")).startswith("hoad.")
    ]
    return bool(others) and first_test((), others) is not None


TESTING: dict[int, tuple[CodeType, bool]] = {}  # by the identity of code: whether there is any of `type_tests` in it


def _is_testing(code: CodeType) -> bool:
    known = TESTING.get(id(code))
    if known is None:
        if len(TESTING) >= MOST_KNOWN:
            TESTING.clear()
        known = TESTING[id(code)] = code, _tests(code)
    return known[1]


def _tests(code: CodeType) -> bool:
    """Whether there is any of `type_tests` in a piece of code; quick where its names and instructions show none."""
    for inner in code_within(code):
        named = not NAMED.isdisjoint(inner.co_names) or not NAMED.isdisjoint(inner.co_freevars)
        handles = bool(getattr(inner, "co_exceptiontable", b""))
        handles = handles or any(isinstance(x, str) and "%" in x for x in inner.co_consts)  # or formats by %
        if (named or handles or _has_sign(inner)) and any(True for _ in type_tests(inner)):
            return True
    return False


def _has_sign(code: CodeType) -> bool:
    """Whether an instruction of `SIGNS` is in a piece of code."""
    steps = code.co_code[::2]
    return len(steps.translate(None, SIGNS)) < len(steps)


def compare_at(f: Call, args: tuple[Any, ...], driver: str) -> None:
    """Raise where f gives something else for traced values of these floats and arrays than for themselves."""
    with differentiating(nested=False) as d:
        traced = [d.input(x) for x in args]
        try:
            returned = f(*traced)
        except Exception:  # what cannot be traced is told where it is to be differentiated
            return
        _compare(_Function(f, tuple(traced), {}), driver, returned, "", beside=True)
        del traced, returned


# ---- both calls -----------------------------------------------------------------------------------------------------


class _Function:
    """A function that was called on traced values, to be called again with plain ones in their place."""

    def __init__(self, f: Call, args: tuple[Any, ...], kwargs: dict[str, Any], n_draws: int = 0) -> None:
        """`n_draws` random numbers were drawn before it."""
        self.f, self.n_draws = f, n_draws
        self.n, self.names = len(args), tuple(kwargs)
        self.leaves, self.structure = flatten([*args, *kwargs.values()])
        self.firsts = firsts_of(self.leaves)

    @functools.cached_property
    def given(self) -> list[Any]:
        """The plain values of its arguments, if they are known."""
        return [as_plain(x) for x in self.leaves]

    def name(self) -> str:
        return getattr(self.f, "__qualname__", None) or type(self.f).__name__

    def called(self, leaves: list[Any]) -> Any:
        """What it gives for these leaves of its arguments; arrays are copied, for it may write to them."""
        copied = [x.copy() if isinstance(x, np.ndarray) and not is_traced(x) else x for x in leaves]
        given = self.structure.unflatten([copied[first] for first in self.firsts])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            draw_again(self.n_draws)
            try:
                return self.f(*given[: self.n], **dict(zip(self.names, given[self.n :], strict=True)))
            finally:
                draw_again(-1)

    def plainly(self, moved: float = 0.0, floats: bool = True) -> Any:
        """What it gives for plain values, beside its arguments by so much of their size."""
        token = set_in_context(COMPARING, never)
        try:
            return self.called([self._moved(x, k, moved, floats) for k, x in enumerate(self.given)])
        finally:
            reset_in_context(COMPARING, token)

    def stored_again(self) -> None:
        """Call it at the arguments once more, after calls beside them: what it stores is that of the last call."""
        with contextlib.suppress(Exception):
            self.plainly()

    def traced(self, d: Any, moved: float = 0.0) -> Any:
        """What it gives for traced values, in a recording of their own."""
        token = set_in_context(COMPARING, never)
        try:
            leaves = [self._moved(x, k, moved, True) for k, x in enumerate(self.given)]
            return self.called([d.input(x) if is_traced(y) else x for x, y in zip(leaves, self.leaves, strict=True)])
        finally:
            reset_in_context(COMPARING, token)

    def parting(self) -> str:
        """Where the two calls part."""
        with differentiating(nested=False) as d:
            own = (code for code in reached_from(self.f).codes if not _is_own(code))
            return where_they_part(self.plainly, lambda: self.traced(d), own)

    def _moved(self, x: Any, k: int, by: float, floats: bool) -> Any:
        if not is_traced(self.leaves[k]):
            return x
        if not floats and type(x) is float:
            x = np.float64(x)
        if not by or np.asarray(x).dtype.kind not in "fc":
            return x
        found = x + by * (x if np.all(x) else np.where(x == 0, 1.0, np.abs(x)))
        return type(x)(found) if not np.ndim(x) and not isinstance(x, np.ndarray) else np.asarray(found, x.dtype)


def firsts_of(leaves: list[Any]) -> list[int]:
    """Of each leaf the place where the same array stands first, for code may ask if one is the other."""
    found: dict[int, int] = {}
    arrays = (isinstance(x, np.ndarray) or is_traced(x) for x in leaves)
    return [found.setdefault(id(x), k) if array else k for k, (x, array) in enumerate(zip(leaves, arrays, strict=True))]


def as_plain(x: Any) -> Any:
    """The plain value that a traced one stands for, of its class; others as they are."""
    if not is_traced(x) and isinstance(x, np.ndarray) and x.dtype == object and holds_traced(x):
        made = np.empty(x.shape, dtype=object)
        made[...] = np.array([as_plain(item) for item in x.flat], dtype=object).reshape(x.shape)
        return made
    if not is_traced(x):
        return x
    kind: Any = x.__class__
    value = plain_value(x)
    return np.array(value, x.dtype) if kind is np.ndarray else kind(value)


def _compare(
    f: _Function,
    driver: str,
    returned: Any,
    said: str,
    beside: bool = False,
    is_outer: bool = False,
) -> bool:
    """Raise where a plain call gives something else, beside the arguments too; false where there was none."""
    traced = [x for x in f.leaves if is_traced(x) or holds_traced(x)]
    if not traced:
        return False
    if not all(graph_of(x).valued for x in traced if is_traced(x)):
        if said:
            raise TracedValueError(f"{driver}: a function handled an error that does not occur on plain values: {said}")
        return False
    known = [x for x in (*traced, *leaves_of(returned)) if is_traced(x)]
    before = BEFORE.get()
    if before is not None and not before(known, is_outer):
        return False
    is_apart = driver in APART or driver not in sys.modules["hoad"].__all__  # which a composite's name is not
    # The function around this one finds what it left elsewhere, where a plain call would leave numbers.
    if (
        known
        and is_apart
        and not said
        and _is_within_another()
        and (not are_all_alive(known) or _is_kept(returned, traced))
    ):
        return False
    found = _told(f, 0.0, returned)
    if found is None and (said or beside):  # two functions may meet at one point, most of all at zero
        with differentiating(nested=False) as d:
            try:
                other = f.traced(d, 2.0**-10)
            except Exception:  # out of the domain of f, or with values of another recording
                return True
            found = _told(f, 2.0**-10, other, strict=False)
            del other
            f.stored_again()
    if found is not None:
        raise TracedValueError(f"{driver}: {f.name()} {found}.{f.parting()}{_handled(said)}{ADVICE}") from None
    return True


def _is_within_another() -> bool:
    """Whether a function that is compared was called by another one of the user's."""
    frame: FrameType | None = sys._getframe(1)
    count = 0
    while frame is not None and count < 2:
        if frame.f_code is compared.__code__:
            count += not (count and _is_own(getattr(frame.f_locals["f"], "__code__", None)))
        frame = frame.f_back
    return count == 2


def _is_kept(returned: Any, given: list[Any]) -> bool:
    """Whether a function keeps a traced value that it also returned; `compared` and `_compare` refer to that, too."""
    leaves = [x for x in leaves_of(returned) if is_traced(x) and not any(x is y for y in given)]
    own = Counter(map(id, leaves))  # references of what was returned, or of three functions to the value itself
    return any(sys.getrefcount(x) > 3 + own[id(x)] + (3 if x is returned else own[id(x)]) for x in leaves)


ADVICE = (
    " Ask by isinstance(x, float), isinstance(x, np.ndarray) or np.ndim(x), which answer as for plain values; or take "
    "hoad.value(x) where a plain number is meant."
)


def _handled(said: str) -> str:
    return f" It handled the error: {said}" if said else ""


def _told(f: _Function, moved: float, returned: Any, strict: bool = True) -> str | None:
    """What a plain call gives in place of `returned`, in words; None where that is the same, or cannot be known."""
    try:
        plain = f.plainly(moved)
    except Exception:  # a float of Python's has fewer methods than one of NumPy's, and raises at x / 0
        try:
            plain = f.plainly(moved, floats=False)
        except Exception as failure:
            if not strict or isinstance(failure, ArithmeticError):
                return None
            return f"can be recorded, but raises {type(failure).__name__} when called on plain values: {failure}"
    there, a = _parts(returned)
    here, b = _parts(plain)
    beside = "" if not moved else " beside its arguments"
    if there != here or len(a) != len(b):
        return f"gives {_shown(returned)} when recorded{beside}, but {_shown(plain)} when called on plain values"
    for k, (x, y) in enumerate(zip(a, b, strict=True)):
        if not _same(x, y) and not _within_noise(f, moved, k, x, y):
            return f"gives {_shown(x)} when recorded{beside}, but {_shown(y)} when called on plain values"
    return None


def _parts(returned: Any) -> tuple[Any, list[Any]]:
    """The structure of what a function returned, and its leaves as plain values."""
    if kind_of(type(returned)) is None:
        return None, [as_plain(without_labels(returned))]
    leaves, structure = flatten(returned)
    return structure, [as_plain(without_labels(x)) for x in leaves]


def _numbers(x: Any) -> Any:
    """x as an array of numbers, None if it is not made of numbers."""
    try:
        found = np.asarray(x)
        if found.dtype == object:
            found = found.astype(np.complex128)
    except (TypeError, ValueError):
        return None
    return found if found.dtype.kind in "biufc" else None


def _same(x: Any, y: Any) -> bool:
    """Whether two results are one up to rounding; of what is neither number nor text, whether both are of one kind.

    Of arrays, rounding of their largest items counts for all: an item may be zero by cancellation, exactly in one.
    """
    if isinstance(x, (str, bytes)) or isinstance(y, (str, bytes)):
        return bool(type(x) is type(y) and x == y)
    a, b = _numbers(x), _numbers(y)
    if a is None or b is None:
        return a is b and (is_traced(x) or is_traced(y) or type(x) is type(y))
    if a.shape != b.shape:
        return False
    eps, sizes = _epsilon(a, b), np.maximum(_size(a), _size(b))
    allowed = np.maximum(eps ** (2 / 3) * sizes, ROUNDINGS * eps * np.max(sizes, initial=0.0))
    return bool(np.all(_apart(a, b) <= allowed))


def _apart(a: Any, b: Any) -> Any:
    """|a - b|, 0 where both are nan or the same infinity, inf where one is."""
    with np.errstate(all="ignore"):
        apart = np.abs(a.astype(np.complex128) - b.astype(np.complex128))
    equal = (a == b) | (np.isnan(a) & np.isnan(b))
    return np.where(equal, 0.0, np.where(np.isfinite(apart), apart, np.inf))


def _size(a: Any) -> Any:
    size = np.abs(a.astype(np.complex128))
    return np.where(np.isfinite(size), size, 0.0)


def _epsilon(*arrays: Any) -> float:
    """The coarsest rounding among arrays."""
    return max([float(np.finfo(a.dtype).eps) for a in arrays if a.dtype.kind in "fc"], default=2.0**-52)


def _within_noise(f: _Function, moved: float, k: int, x: Any, y: Any) -> bool:
    """Whether leaf k of the result moves as much where the arguments do by some roundings, or at every call.

    What is nothing but noise differs otherwise at each of these; the text of a number is long at each of them, and that
    of a traced one longer by as much.
    """
    a, b = _numbers(x), _numbers(y)
    if a is None or b is None or a.shape != b.shape:
        return False
    eps = _epsilon(a, b, *[np.asarray(g) for g, t in zip(f.given, f.leaves, strict=True) if is_traced(t)])
    steps = [moved + n * 4 * eps for n in (1, -3, 7, 0)]
    plain = _at_each(f.plainly, steps, k, b.shape)  # what f stores is that of the last
    noise = np.max([_apart(other, b) for other in plain if other is not None], axis=0, initial=0.0)
    if np.any(_apart(a, b) > SLACK * noise):
        return False
    if np.max(_apart(a, b), initial=0.0) <= MUCH * np.max(_size(b), initial=0.0):
        return True
    if plain[-1] is None or np.any(_apart(plain[-1], b)):  # at every call: it counts, or draws random numbers
        return True
    with differentiating(nested=False) as d:
        traced = _at_each(lambda by: f.traced(d, by), steps, k, a.shape)
    f.stored_again()
    gaps = [s - t for s, t in zip(traced, plain, strict=True) if s is not None and t is not None]
    return len(gaps) < 3 or not all(np.allclose(gap, gaps[0], rtol=MUCH, atol=0.0) for gap in gaps)


def _at_each(call: Callable[[float], Any], steps: list[float], k: int, shape: tuple[int, ...]) -> list[Any]:
    """Leaf k of what a function gives, its arguments moved so; None where that is not known."""
    found: list[Any] = []
    for by in steps:
        try:
            other = _numbers(_parts(call(by))[1][k])
        except Exception:  # out of the domain
            other = None
        found.append(other if other is not None and other.shape == shape else None)
    return found


def _shown(x: Any) -> str:
    """A result in a message."""
    if kind_of(type(x)) is not None:
        leaves, structure = flatten(x)
        x = structure.unflatten([as_plain(leaf) for leaf in leaves])
    else:
        x = as_plain(x)
    text = " ".join((repr(x.item()) if isinstance(x, np.generic) else repr(x)).split())
    return text if len(text) <= 60 else f"{text[:57]}..."
