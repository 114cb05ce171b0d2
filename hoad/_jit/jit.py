"""A function recorded once for each kind of arguments, and replayed by compiled code."""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib
import sys
import threading
import types
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from hoad._comparison.plain_calls import (
    are_needed,
    compared,
    comparing,
    firsts_of,
    handles_arithmetic,
    is_comparing,
    never,
    sees_what_it_has,
)
from hoad._comparison.type_tests import first_test
from hoad._core.base.call_watch import CallWatch
from hoad._core.base.threads import check_threads
from hoad._core.base.where import is_library
from hoad._core.graph.inspect import guard_rows
from hoad._core.graph.primitive import load_tables
from hoad._core.graph.tape import AbstractValue, intern_aval
from hoad._core.jit.bound_call import BoundCall
from hoad._core.jit.capture_analysis import Outer, Untrackable, put
from hoad._core.jit.draws import Draw, DrawLog, Draws
from hoad._core.jit.effects import Effects, PlaceTrace, effects_done
from hoad._core.jit.environment import PLACES, Environment, found_at
from hoad._core.jit.jit_cache import CallSignature, CompiledTrace, Jitted, Zeros
from hoad._core.record.recording import Recording, differentiating
from hoad._core.trace.coerce import check_class, holds_traced
from hoad._core.trace.context import WATCHERS, running
from hoad._core.trace.errors import note_origin
from hoad._core.trace.traced import graph_of, is_traced
from hoad._jit.environment_reader import Reader
from hoad._jit.escapes import Stores
from hoad._jit.find_effects import Undone, find_effects
from hoad._jit.place_accesses import Accesses
from hoad._jit.rebinding import Rebinding, are_alike, rebinding_of
from hoad._jit.refusals import message
from hoad._jit.report import JitReport, report_of
from hoad._jit.results import Results, into
from hoad._program.program import Program
from hoad._program.tape import Tape
from hoad._program.trace import recorder_among, telling_of_objects
from hoad._pytree.arguments import FLOAT64, Key, Parameters, called, check_argument, check_function, parameters
from hoad._pytree.containers import Structure, flatten, kind_of, leaves_of
from hoad._transform.programs import without_guards
from hoad.errors import ArgumentError, JitWarning, TracedValueError, count

MOST_RECORDINGS = 16  # of one signature
MOST_LEFT_OUT = 100  # recordings of functions that are defined again by the same text
MOST_CHANGES = 2  # recordings of a signature that change one thing, as caches are filled; then the function does so
MOST_SIGNATURES = 128

NUMBER = intern_aval(FLOAT64, ())


def jit(
    f: Callable[..., Any],
    static_argnums: int | tuple[int, ...] | list[int] | None = None,
    static_argnames: str | tuple[str, ...] | list[str] | None = None,
    *,
    threads: int | None = None,
    keep_zeros: bool = False,
    guard: bool | int = True,
) -> Jitted:
    """f, recorded once for each kind of arguments and then replayed by compiled code: ``jit(f)(x) = f(x)``.

    Parameters
    ----------
    f : callable
        A function or method of floats, arrays and containers, written with NumPy. It may be a derivative, such as
        ``hoad.hessian(g)``.
    static_argnums : int, tuple or list of int, optional
        The arguments that are not traced, by position: f is recorded for each of their values, which must be hashable.
        Negative positions count from the last parameter of f, or, if f takes ``*args``, from the last argument of a
        call.
    static_argnames : str, tuple or list of str, optional
        The arguments that are not traced, by name. Static arguments may be passed by position or by keyword.
    threads : int, optional
        The largest number of threads that a replay uses for operations on large arrays. The default is the fastest
        number, up to the cores that the process may use. The environment variable HOAD_THREADS sets a limit. Without it
        the limit is the smallest of OMP_NUM_THREADS, OPENBLAS_NUM_THREADS, MKL_NUM_THREADS and, if ``threadpoolctl`` is
        imported, its limits for the libraries it knows. The results do not depend on it, bit for bit.
    keep_zeros : bool, optional
        True if the arrays given as ``out`` contain zeros where the result is zero for all arguments, as outside the
        sparsity pattern of a Hessian: they come from `numpy.zeros` or from an earlier call. Zeros that the recording
        knows are then neither written again nor checked. If f was recorded more than once, for other shapes, static
        arguments or globals, they are left only in the array that the same recording wrote to last.
    guard : bool or int, optional
        False is a promise that nothing that f reads besides its arguments changes: then it is not compared, and an
        answer is stale where the promise is broken. A number n compares at every nth replay, and raises a `GuardError`
        for what has changed.

    Returns
    -------
    callable
        Called like f. A recording holds for the shapes and dtypes of floats and arrays, also in containers, and is
        replayed with their values. Other arguments (integers, booleans, text, None, any object) are always static. With
        ``out=``, an array or a tuple of arrays, one for each number or array in the result, the result is written there
        and ``out`` is returned, unless f has a parameter of that name. ``bound(*args, out=...)`` gives a function of
        nothing that makes the same call each time, on arrays that are filled in place. 64-bit numbers in the result are
        Python's float, complex and bool, where f itself may return NumPy's. ``program(*args)`` returns the `Program`
        that a call runs.

    Raises
    ------
    ArgumentError
        If f cannot be called, a static argument is not hashable or not a parameter of f, `threads` is not a number of
        threads, or `out` does not have the form of the result.
    ShapeError, DTypeError
        If `out` does not have the shape or the dtype of the result.

    Warns
    -----
    JitWarning
        If f cannot be replayed: it draws random numbers, reads clocks or files, keeps changing what it reads, or writes
        what a replay cannot. f is then called as it is: the result is right, but not fast. The message says what to
        change, in which line, and why; it comes once.

    Notes
    -----
    Results are never stale. A recording is replayed only if the branches that f took, the numbers that it read by
    `hoad.value`, and everything it read besides its arguments (globals, closure cells, attributes, the items of
    containers, the contents of arrays) are unchanged. Otherwise f is recorded again, and the former recording is kept
    for later. Numbers that f only adds to, results that it stores in attributes, globals or items of dicts, and lists
    that it only appends to are written at each replay. The page *What hoad sees* lists what cannot be seen.

    If an argument is traced, as in ``hoad.hessian(hoad.jit(f))``, f runs without compilation.

    Cost: a call of a function of a few numbers takes 0.2 to 0.4 microseconds, and some nanoseconds for each operation
    and each object that f read; some ten microseconds more if an argument is a container other than a tuple, list or
    dict. A recording costs as much as a derivative of f, and some ten microseconds for each function that f calls. A
    function that cannot be replayed costs what it costs without `jit`, from its second call on. Large programs run
    without the GIL, and elementwise operations on 10⁵ numbers or more run in several threads.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> f = hoad.jit(lambda x, y: 4 * x * y + 3 * x * np.sin(4 * y))
    >>> f(1.0, 0.0), f(2.0, 0.5)
    (0.0, 9.45578456...)
    >>> gradient = hoad.jit(hoad.grad(lambda x: np.sum(x**3)))
    >>> gradient(np.array([1.0, 2.0]), out=np.empty(2))
    array([ 3., 12.])
    """
    check_function("jit", f)
    check_threads("jit", threads)
    if not isinstance(keep_zeros, bool):
        raise ArgumentError(f"jit takes keep_zeros as True or False, not {keep_zeros!r}.")
    argnums = _tuple_of(int, "static_argnums", static_argnums)
    argnames = _tuple_of(str, "static_argnames", static_argnames)
    every: Any = guard
    if not isinstance(every, int) or every < 0:
        raise ArgumentError(f"jit takes guard as True, False, or a number of replays, not {guard!r}.")
    jitted = Jitted(f, _Driver(f, argnums, argnames, threads, keep_zeros, int(guard)))
    functools.update_wrapper(jitted, f, updated=())
    return jitted


def _tuple_of(kind: type, name: str, given: Any) -> tuple[Any, ...]:
    found = () if given is None else tuple(given) if isinstance(given, (tuple, list)) else (given,)
    found = tuple(x.item() if isinstance(x, np.integer) else x for x in found)
    if any(not isinstance(x, kind) or isinstance(x, bool) for x in found):
        raise ArgumentError(f"jit takes {name} as {kind.__name__} or a tuple of {kind.__name__}, not {given!r}.")
    return found


class Impure(Untrackable):
    """A call of what gives something else each time, or once only: where a library keeps what it has read."""


class _Changes(str):
    """Why a recording was not kept: the function changes what it reads, at each call or at first.

    `asks` is true where it also asks what a traced value cannot answer, which no other call can be compared with.
    """

    asks = False
    environment: Environment | None = None
    codes: tuple[types.CodeType, ...] = ()


class _Follows(str):
    """Why a recording was not kept: whether it reads what it changes is to be seen, by the `names` that code has."""

    names: set[str]

    def __new__(cls, what: str, names: set[str]) -> _Follows:
        made = super().__new__(cls, f"it changes {what}, which it reads")
        made.names = names
        return made


class _Draws(str):
    """Why a recording was not kept: it draws random numbers, which the next recording takes as inputs."""

    known: list[Draw]


class _MeetsDraw(Untrackable):
    """A function does something with what it draws that it cannot do with a traced value."""


class _Driver:
    """What a jitted function asks where nothing that was recorded fits a call."""

    def __init__(
        self,
        f: Callable[..., Any],
        argnums: tuple[int, ...],
        argnames: tuple[str, ...],
        threads: int | None,
        keep_zeros: bool,
        guard: int,
    ) -> None:
        self.guard = guard
        self.f, self.argnums, self.argnames, self.threads = f, argnums, argnames, threads
        self.zeros = Zeros() if keep_zeros else None
        self.refusal: str | None = None  # why nothing is recorded for other signatures
        self.stores: str | None = None  # what f stores that no replay could, so that it is called as it is
        self.has_warned = False
        self.calls = 0  # by Python: no recording of an effect holds where another thread calls f meanwhile
        self.left_out = 0  # recordings of what was defined again
        self.follows: set[str] = set()  # names of what it writes to, where reads are looked for one by one
        known = parameters(f)
        self.positional, self.is_known = known.positional, known.is_known
        self.takes_out = "out" not in known.positional + known.keywords
        if known.is_known:
            self.check_static(known)
        n = len(known.positional)
        named = [k for k in argnums if (0 if known.takes_any else -n) <= k < n]
        self.static_names = {*argnames, *(known.positional[k] for k in named)}
        self.static_places = set(argnums).difference(named)  # among those that have no name of their own

    def check_static(self, known: Parameters) -> None:
        """Raise where what is to be static names no parameter."""
        n = len(known.positional)
        taken = ", ".join(known.positional + known.keywords) or "none"
        for k in self.argnums:
            if not known.takes_any and not -n <= k < n:
                raise ArgumentError(
                    f"jit: argument {k} is static, but {self.name} takes {count(n, 'argument')} by "
                    f"position: {', '.join(known.positional) or 'none'}. Count from 0, or from -1 at the end; "
                    "static_argnames takes names."
                )
        for name in self.argnames:
            if not known.takes_any_keyword and name not in known.positional + known.keywords:
                raise ArgumentError(
                    f"jit: argument {name!r} is static, but the parameters of {self.name} are: {taken}. "
                    f"Name {'those of *args by static_argnums' if known.takes_any else 'one of these'}."
                )

    def check_given(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """The same, where only a call tells what a function takes."""
        missing: list[Key] = [k for k in self.argnums if not -len(args) <= k < len(args)]
        missing += [name for name in self.argnames if name not in kwargs]
        if missing:
            raise ArgumentError(
                f"jit: argument {missing[0]!r} is static, but {self.name}, whose parameters are "
                f"unknown, was called with {count(len(args), 'argument')} by position and "
                f"{', '.join(kwargs) or 'none'} by keyword. Pass it so, or leave it out of the static arguments."
            )

    def is_static(self, key: Key, given: int) -> bool:
        """Whether an argument of a call with so many by position is static."""
        if isinstance(key, int) and (key in self.static_places or key - given in self.static_places):
            return True
        name = key if isinstance(key, str) else self.positional[key] if key < len(self.positional) else None
        return name in self.static_names

    def call(
        self,
        jitted: Jitted,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        out: Any,
        signature: CallSignature | None,
        failed: bool,
    ) -> Any:
        """A call that nothing recorded was found to fit: `signature` was tried, and `failed` if it raised."""
        self.calls += 1
        given = _Given(self, args, kwargs)
        if given.holds_traced() or recorder_among(given.leaves) is not None:
            return self.written(out, compared(self.f, args, kwargs, "jit"))
        if self.stores is not None:
            signature = signature or self.signature(jitted, given)
            if signature is not None and not signature.recorded and signature.refusal is None:
                signature.refuse(self.stores, None)
            return self.written(out, given.plainly())
        if WATCHERS.get():
            return self.written(out, given.once())
        if signature is None:
            signature = self.signature(jitted, given)
            if signature is None:
                return self.written(out, given.plainly())
            state, found = jitted.replayed(signature, given.leaves, out)
            if state == "done":
                return found
            failed = state == "raised"
        if failed or running() is not None:
            return self.written(out, given.once())
        if signature.refusal is not None and not signature.may_be_asked():
            return self.written(out, given.plainly())
        return self.written(out, self.recorded(signature, given))

    def written(self, out: Any, result: Any) -> Any:
        """What a call gives that was not a replay."""
        if self.zeros is not None:
            self.zeros.other()
        return into(out, result)

    def program(self, jitted: Jitted, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Program:
        """The program of a call."""
        given = _Given(self, args, kwargs)
        if given.holds_traced():
            raise TracedValueError("program shows what a call with plain arguments runs, but an argument is traced.")
        signature = self.signature(jitted, given)
        refusal = self.refusal
        if signature is not None:
            replayed = jitted.replayed(signature, given.leaves, None, True)[0] == "done"
            before = signature.latest
            if not replayed and signature.refusal is None:
                self.recorded(signature, given)
            if signature.latest is not None and (replayed or signature.latest is not before):
                return signature.latest.program  # type: ignore[no-any-return]
            refusal = signature.refusal or next(reversed(signature.reasons), "it depends on the context of the call")
        raise ArgumentError(f"there is no program of {self.name}: {refusal}.")

    def reduced(self, jitted: Jitted) -> Any:
        """How a jitted function travels: by its name, or as a function to be jitted there. Recordings do not travel."""
        module, name = getattr(jitted, "__module__", None), getattr(jitted, "__qualname__", None)
        found: Any = importlib.import_module(module) if isinstance(module, str) else None
        for part in name.split(".") if isinstance(name, str) else ():
            found = getattr(found, part, None)
        if found is jitted:
            return name
        keep_zeros = self.zeros is not None
        return functools.partial(jit, threads=self.threads, keep_zeros=keep_zeros, guard=self.guard), (
            self.f,
            self.argnums,
            self.argnames,
        )

    def report(self, jitted: Jitted, args: tuple[Any, ...], kwargs: dict[str, Any]) -> JitReport:
        """What was recorded for a call."""
        given = _Given(self, args, kwargs)
        if given.holds_traced():
            raise TracedValueError("report tells of calls with plain arguments, but an argument is traced.")
        signature = self.signature(jitted, given)
        if signature is None:
            return JitReport(self.name, [], self.refusal, {})
        if not signature.recorded and signature.refusal is None:
            jitted(*args, **kwargs)
        return report_of(self.name, signature)

    def bound(self, jitted: Jitted, args: tuple[Any, ...], out: Any) -> BoundCall:
        """A call with these arguments."""
        return BoundCall(jitted, args, out)

    @property
    def name(self) -> str:
        return getattr(self.f, "__qualname__", None) or type(self.f).__name__

    # ---- recordings

    def signature(self, jitted: Jitted, given: _Given) -> CallSignature | None:
        """The signature of a call, None if there are too many."""
        for signature in jitted.signatures:
            if signature.given(given.leaves, given.form, given.firsts):
                return signature
        if len(jitted.signatures) >= MOST_SIGNATURES:
            if self.refusal is None:
                self.refusal = (
                    f"it was recorded for {MOST_SIGNATURES} kinds of arguments, of which {self.varying(jitted, given)}"
                )
                self.warn(self.refusal + "; for others")
            return None
        made = CallSignature(given.avals, tuple(given.fixed), given.static, given.form, given.leaves, given.firsts)
        made.every = self.guard
        jitted.signatures = [made, *jitted.signatures]
        return made

    def varying(self, jitted: Jitted, given: _Given) -> str:
        """Which argument differs most often between signatures."""
        alike = [s for s in jitted.signatures if s.size == len(given.leaves)]
        counts = Counter(k for s in alike for k in range(s.size) if not s.given_at(k, given.leaves[k]))
        if not counts:
            return "the number of them keeps changing"
        return f"{given.names[counts.most_common(1)[0][0]]} keeps changing"

    def recorded(self, signature: CallSignature, given: _Given) -> Any:
        """Record the function for a call, unless that is not worth it, and give what the call gives."""
        try:
            if len(signature.recorded) + len(signature.reasons) >= MOST_RECORDINGS:
                self.leave_out_defined_anew(signature)
            if len(signature.recorded) + len(signature.reasons) >= MOST_RECORDINGS:
                raise Untrackable(
                    f"it was recorded {MOST_RECORDINGS} times, and keeps changing: {_changing(signature, given)}"
                )
            load_tables()  # to import one while the function runs would count as code of its own
            made, result = given.recorded(signature)
        except Outer:
            return given.once()
        except _MeetsDraw as failure:
            result = given.plainly()  # raises if that is no fault of a traced value
            self.refuse(signature, failure)
            return result
        except Untrackable as failure:
            self.refuse(signature, failure)
            return given.plainly()
        if isinstance(made, Impure) and str(made) not in signature.reasons:
            signature.reasons.append(str(made))  # libraries load tables and ask for settings once: see a second time
        elif isinstance(made, Untrackable):
            self.refuse(signature, made)
        elif isinstance(made, _Changes) and (made.asks or signature.reasons.count(made) >= MOST_CHANGES):
            self.refuse(signature, made)
        elif isinstance(made, str):
            signature.reasons.append(made)
            if isinstance(made, _Follows):
                self.follows |= made.names
            if isinstance(made, _Draws):
                signature.draws = made.known
        else:
            signature.accept()
            signature.recorded = [made, *signature.recorded]
            signature.latest = made
        return result

    def leave_out_defined_anew(self, signature: CallSignature) -> None:
        """Let go of recordings of functions and classes that were defined again, as in a notebook cell that is run."""
        kept = [recorded for recorded in signature.recorded if not _is_defined_anew(recorded.environment)]
        self.left_out += len(signature.recorded) - len(kept)
        if self.left_out <= MOST_LEFT_OUT:
            signature.recorded = kept

    def refuse(self, signature: CallSignature, why: Untrackable | _Changes) -> None:
        """Record nothing more for a signature, until what it rests on has changed: f is called as it is."""
        if isinstance(why, _Stores):
            self.stores = str(why)
        self.warn(str(why), why.codes)
        signature.refuse(str(why), why.environment)

    def warn(self, reason: str, codes: Iterable[types.CodeType] = ()) -> None:
        """Say why f is called as it is, once."""
        if self.has_warned:
            return
        self.has_warned = True
        level, frame = 1, sys._getframe()
        while frame.f_back is not None and is_library(frame.f_code.co_filename):
            level, frame = level + 1, frame.f_back
        warnings.warn(message(self.name, reason, codes), JitWarning, stacklevel=level)


def _changing(signature: CallSignature, given: _Given) -> str:
    """What differs between what was recorded and now, most often."""
    found = Counter(signature.reasons)
    for recorded in signature.recorded:
        changed = recorded.environment.change()
        found[changed if changed is not None else given.branch(recorded.program, recorded.live)] += 1
    most = found.most_common(1)[0][0]
    return most if isinstance(signature.live, list) else f"{most}. {signature.live}"


def _is_defined_anew(environment: Environment) -> bool:
    """Whether a place holds another function of equal code than it did, or another class of the same name."""
    for kind, owner, key, expected, _ in environment.guards():
        now = found_at(kind, owner, key) if kind in PLACES else expected
        if now is expected or type(now) is not type(expected):
            continue
        if isinstance(expected, type) and (now.__module__, now.__qualname__) == (
            expected.__module__,
            expected.__qualname__,
        ):
            return True
        if isinstance(expected, types.FunctionType) and now.__code__ == expected.__code__:
            return True
    return False


class _Stores(Untrackable):
    """A function keeps what it computes, where no replay would put it."""


# ---- one call -------------------------------------------------------------------------------------------------------


class _Given:
    """The arguments of a call: numbers and arrays, which become inputs, and everything else, which is fixed."""

    def __init__(self, driver: _Driver, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if not driver.is_known:
            driver.check_given(args, kwargs)
        self.f, self.args, self.kwargs = driver.f, args, kwargs
        self.threads, self.zeros, self.follows = driver.threads or 0, driver.zeros, driver.follows
        self.is_alone = _Alone(driver)
        self.keys: list[Key] = [*range(len(args)), *kwargs]
        self.structures: list[Structure | None] = []
        self.leaves: list[Any] = []  # all of them, with containers taken apart
        self.names: list[str] = []  # what to call each
        self.static: list[bool] = []  # which of them were said to be static, to be compared by `==`
        for key, value in zip(self.keys, (*args, *kwargs.values()), strict=True):
            self.add(key, value, driver.is_static(key, len(args)))
        # Shape and dtype of each that becomes an input, None for others; these; the first place of the same array.
        self.avals = [None if static else _aval_of(leaf) for leaf, static in zip(self.leaves, self.static, strict=True)]
        self.fixed = [None if aval else leaf for leaf, aval in zip(self.leaves, self.avals, strict=True)]
        self.firsts = firsts_of(self.leaves)
        plain = not kwargs and not any(self.structures)
        self.form = None if plain else (tuple(kwargs), tuple(self.structures))  # the keywords and containers, if any

    def add(self, key: Key, value: Any, static: bool) -> None:
        """One argument."""
        name = called(self.f, key)
        if static or kind_of(type(value)) is None:
            if static:
                _check_static(name, value)
            self.structures.append(None)
            self.leaves.append(value)
            self.names.append(name)
            self.static.append(static)
            return
        leaves, structure = flatten(value)
        self.structures.append(structure)
        self.leaves += leaves
        self.names += [name + path for path in structure.paths()]
        self.static += [False] * len(leaves)

    def holds_traced(self) -> bool:
        return any(holds_traced(leaf) for leaf in self.leaves)

    def filled(self, inputs: Iterator[Any]) -> tuple[list[Any], dict[str, Any]]:
        """The arguments with these values for the inputs."""
        values = [leaf if aval is None else next(inputs) for leaf, aval in zip(self.leaves, self.avals, strict=True)]
        leaves = iter([values[first] for first in self.firsts])  # one array is one value
        made = [
            next(leaves) if structure is None else structure.unflatten([next(leaves) for _ in range(structure.size)])
            for structure in self.structures
        ]
        n = len(self.args)
        return made[:n], dict(zip(self.kwargs, made[n:], strict=True))

    def run(self, *inputs: Any, f: Callable[..., Any] | None = None, asks: Callable[[], bool] | None = None) -> Any:
        """The function, or its rebinding, with these inputs; `asks` is of `compared`."""
        args, kwargs = self.filled(iter(inputs))
        values = (*args, *kwargs.values()) if self.form is not None else ()
        before = [None if form is None else _state(x) for form, x in zip(self.structures, values, strict=False)]
        with telling_of_objects:
            returned = compared(self.f if f is None else f, args, kwargs, "jit", asks)
        if before:
            self.check_unchanged(before, values)
        return returned

    def check_unchanged(self, before: list[_State | None], values: tuple[Any, ...]) -> None:
        """Raise where the function has changed a container that it was given: a copy of the one that the user knows."""
        for known, value, key in zip(before, values, self.keys, strict=True):
            if known is None:
                continue
            now = _state(value)
            if now.structure != known.structure or now.names != known.names or not _are(now.leaves, known.leaves):
                raise _Stores(
                    f"it changes the argument {called(self.f, key)}, a container, which a replay would not do. Return "
                    "the new value, and store it where the function is called"
                )

    def entered(self, d: Recording) -> list[Any]:
        """The inputs of a recording, traced."""
        d.asked = "jit", self.f, tuple(self.keys), None
        for leaf, name, aval in zip(self.leaves, self.names, self.avals, strict=True):
            if aval is not None and isinstance(leaf, np.ndarray):
                check_class(leaf)
            if aval is not None and aval.inexact:
                check_argument("jit", name, leaf)
        return [d.input(leaf) for leaf, aval in zip(self.leaves, self.avals, strict=True) if aval is not None]

    def once(self) -> Any:
        """What the function gives, traced for this call only; as plain numbers where it returns what cannot be so."""
        try:
            with differentiating() as d:
                if not d.nested:
                    d.graph.is_guarded = True  # errors speak of jit, not of a derivative
                returned = self.run(*self.entered(d))
                results = Results(d, returned)
                del returned
                if d.alive and not d.nested:
                    Stores(d.graph, (self.f, *self.fixed)).replaced()
                return results.arranged(d.results(results.operands))
        except Untrackable:
            return self.f(*self.args, **self.kwargs)

    def plainly(self) -> Any:
        """What the function gives for plain numbers; raises for a traced value that was left somewhere."""
        result = self.f(*self.args, **self.kwargs)
        for leaf in filter(is_traced, leaves_of(result)):
            graph_of(leaf)  # raises where what it belongs to has ended
        return result

    def roots(self) -> list[tuple[str, Any]]:
        """What the function has at first, by name: itself, and the arguments that are not inputs."""
        return [(getattr(self.f, "__name__", "f"), self.f), *zip(self.names, self.fixed, strict=True)]

    def reader(self) -> Reader:
        return Reader(self.roots())

    def recorded(self, signature: CallSignature) -> tuple[CompiledTrace | str | Untrackable, Any]:
        """What is recorded at these arguments, or why it, or any other, cannot be kept; and what the function gives."""
        reader, log = self.reader(), DrawLog(signature.draws)
        try:
            made, result = self.traced(signature, reader, log)
        except Exception as failure:
            if not log.inputs:
                raise
            log.put_back()
            reader.put_back()
            message = f"it {_drawn(log.made)}, and needs plain numbers of that: {failure}"
            raise _MeetsDraw(message) from None
        if isinstance(made, (Untrackable, _Changes)):
            made.environment, made.codes = reader.standing(), tuple(reader.codes.values())
        able = isinstance(made, CompiledTrace) and made.effects is None and made.draws is None  # f runs once more
        live = self.live(signature, reader) if able else []
        return (self.read_live(signature, reader, live, result) if live else None) or made, result

    def live(self, signature: CallSignature, reader: Reader) -> list[Any]:
        """Captured arrays that have changed, of which the function is recorded once more, with these as inputs."""
        if isinstance(signature.live, str) or not signature.recorded:
            return []
        changed = [array for recorded in signature.recorded for array in recorded.environment.changed_arrays()]
        able = (a for a in (*signature.live, *changed) if type(a) is np.ndarray and a.dtype.kind in "fc")
        found = {id(array): array for array in able}
        signature.live = list(found.values())
        return [array for key, array in found.items() if key in reader.met]

    def read_live(self, signature: CallSignature, reader: Reader, live: list[Any], result: Any) -> CompiledTrace | None:
        """What is recorded with these arrays as inputs, if it gives the result that the function gave; else None.

        A traced array is an input only where no code may notice that it is not an array. What code cannot be found for
        the comparison finds, or the arrays count by their contents from then on.
        """
        rebinding, live = rebinding_of(self.f, live, reader.codes, self.roots()[1:])
        if not live:
            return None
        test = first_test(reader.codes.values(), reader.met.values())
        if test is not None:
            signature.live = f"Arrays are compared byte by byte, not read live, because of {test}"
            return None
        try:
            made, found = self.traced(signature, reader, DrawLog([]), rebinding, live)
            if isinstance(made, CompiledTrace) and are_alike(found, result):
                return made
        except Exception:  # it takes an array, and no traced one
            pass
        signature.live = "Arrays are compared byte by byte, not read live, as it needs plain ones"
        return None

    def traced(
        self,
        signature: CallSignature,
        reader: Reader,
        log: DrawLog,
        rebinding: Rebinding | None = None,
        live: Sequence[Any] = (),
    ) -> tuple[CompiledTrace | str | Untrackable, Any]:
        """What is recorded for the function, or its rebinding to which `live` arrays are given; and what it gives.

        A rebinding enters no code that the function did not enter, of which the reader knows all.
        """
        told = reader if rebinding is None else Reader([], reader.codes)
        accesses = Accesses(self.follows, reader) if self.follows else None
        trace = None if accesses is None else PlaceTrace(self.follows, accesses)
        with differentiating(nested=False) as d:
            d.graph.is_guarded = True
            inputs = self.entered(d)
            kept: list[str] = []
            written: list[tuple[Any, Any]] = []
            appended: dict[int, int] = {}

            def look(known: list[Any], is_outer: bool) -> bool:
                """Before a plain call: put back what is written, and find what is kept besides."""
                if not log.is_whole:  # nor is this recording kept
                    return False
                if not is_outer and reader.changed():  # in the midst of the function
                    return False
                if is_outer:
                    appended.update(watch.appended)
                    if trace is not None:
                        trace.stop()
                written.extend(reader.put_back())
                stores = Stores(d.graph, (), reader)
                if d.alive > len({id(x) for x in (*known, *leaves_of(written)) if is_traced(x) and stores.is_own(x)}):
                    kept.extend(stores.found())
                steady = watch.is_steady() and reader.drawn() is None
                return steady and reader.environment().change() is None  # or a plain call would change it again

            if rebinding is not None:
                rebinding.fill([d.input(array) for array in live])
            needed = never if live else lambda: are_needed(list(reader.codes.values()), list(reader.met.values()))

            def asks() -> bool:
                return is_comparing() or watch.unknown is not None

            n_given = len(d.inputs) + len(live)
            drawn = [d.input(draw.example) for draw in log.known]
            with CallWatch(told) as watch, comparing(needed, look), trace or contextlib.nullcontext(), log:
                log.begin(d.graph, drawn, d.inputs[n_given:], reader.generators, watch)
                try:
                    returned = self.run(*inputs, f=self.f if rebinding is None else rebinding.f, asks=asks)
                except BaseException:
                    while written:
                        put(*written.pop())
                    Stores(d.graph, (), reader).replaced()  # numbers stay, as where a plain call raises
                    raise
                while written:
                    put(*written.pop())
            results = Results(d, returned)
            if accesses is not None and trace is not None:
                accesses.is_told = trace.is_set
            found = find_effects(d, results, reader, accesses, appended or watch.appended)
            if accesses is not None:
                accesses.forget()
            operands = results.operands if isinstance(found, Undone) else found.operands
            effects = None if isinstance(found, Undone) or not found.effects else Effects(found.effects)
            values = d.given_away(operands) if effects is None else d.compute(operands)
            alone = self.is_alone()
            if effects is not None:
                effects.put(values)
            del inputs, returned, drawn
            if rebinding is not None:
                rebinding.fill(live)
            stores = self.stored(d, reader, kept) if d.alive or kept else None
            d.keep()
            d.drop_arrays()
        given = values[: len(results.operands)]
        if effects is not None and not alone:
            return "another thread calls it meanwhile", results.arranged(given)
        if isinstance(found, Undone) and found.names is not None:
            return _Follows(found.what, found.names), results.arranged(given)
        if stores is not None:
            return stores, results.arranged(given)
        graph = d.graph
        places = ((), ()) if isinstance(found, Undone) else (found.places, found.guards)
        environment = reader.environment(live, *places)
        why = self.obstacle(reader, environment, watch, bool(graph.has_raised))
        if why is None and log.made:
            why = self.obstacle_of_draws(d, log)
        if why is not None:
            return why, results.arranged(given)
        if len(told.codes) > len(reader.codes):
            return Untrackable("its rebinding runs other code"), results.arranged(given)
        single = results.single and len(operands) == 1
        d.inputs[n_given:] = log.inputs
        window = (0, d.size, 0, d.guards)
        gives = results.gives if effects is None else None
        tape = Tape(graph, window, d.inputs, operands, "primal", single, gives=gives)
        tape._source = None if live or effects is not None or log.made else (self.kept(), {})
        program = Program([tape])
        environment = _shared(signature, environment, live)
        environment.share(graph)
        made = CompiledTrace(
            program,
            program._lowered(),
            environment,
            list(live),
            results.arranged if results.gives is not None else None if results.single else tuple,
            into,
            results.has_constants,
            self.threads,
            self.zeros,
            effects,
            len(results.operands),
            Draws(log.made) if log.made else None,
        )
        return made, results.arranged(given)

    def obstacle(
        self, reader: Reader, environment: Environment, watch: CallWatch, has_raised: bool
    ) -> str | Untrackable | None:
        """Why what was recorded cannot be replayed, or None."""
        if reader.refusal is not None:
            if not isinstance(reader.refusal, Untrackable):
                raise reader.refusal
            return reader.refusal
        changed = environment.change()
        if changed is not None:
            why = _Changes(f"it changes {changed}, which it reads")
            why.asks = sees_what_it_has(reader.codes.values())
            return why
        if handles_arithmetic(reader.codes.values()):
            return Untrackable("it refers to an arithmetic error, which only a plain call raises, at some values")
        if has_raised:
            return "an operation in it raises, and it handles that"
        if watch.unknown is not None:
            return Untrackable(f"it calls {watch.unknown}, which is not found by reading it")
        if watch.loads:
            return "it loads NumPy's random generators"
        drawn = reader.drawn()
        if drawn is not None:
            return Untrackable(f"it draws from {drawn}")
        if watch.impure is not None:
            kind = Untrackable if watch.is_users else Impure
            return kind(f"{watch.impure}, which may return another value each time")
        return None

    def obstacle_of_draws(self, d: Recording, log: DrawLog) -> str | Untrackable | None:
        """The same for what it draws."""
        what = _drawn(log.made)
        if not log.is_whole:
            why = _Draws(f"it {what}, other numbers than before")
            why.known = log.known
            return why
        if any(d.depends(node, k) for node in d.guarded() for k in log.inputs):
            return Untrackable(f"it {what}, and decides on that in Python")
        return None

    def stored(self, d: Recording, reader: Reader, kept: Sequence[str] = ()) -> _Stores | None:
        """What the function has kept of what it computed, or `kept` until it was compared; numbers are there now."""
        gc.collect(0)  # functions that call themselves are let go no sooner
        found = [*kept, *(Stores(d.graph, (), reader).replaced() if d.alive else ())]
        if not found:
            if d.alive:
                gc.collect()
            if not d.alive:
                return None
            found = ["a place that is not found by reading it"]
        where = ", ".join(dict.fromkeys(found))
        note_origin(d.graph, "jit", self.f, where)
        return _Stores(
            f"it stores what it computes in {where}, which a replay would not do. Return it from the function, and "
            "store it where the function is called"
        )

    def kept(self) -> Callable[..., Any]:
        """The function of the inputs, for a program to be recorded again; without the values they had."""
        kept = _Given.__new__(_Given)
        kept.__dict__ = self.__dict__ | {"leaves": self.fixed, "args": (None,) * len(self.args), "zeros": None}
        kept.kwargs = dict.fromkeys(self.kwargs)
        return kept.run

    def branch(self, program: Program, live: list[Any]) -> str:
        """At which branch a program differs from what these arguments take."""
        inputs = [leaf for leaf, aval in zip(self.leaves, self.avals, strict=True) if aval is not None]
        guards = guard_rows(program[-1]._graph)
        outcomes = without_guards(program, [node for node, _, _ in guards])._run((*inputs, *live))
        pairs = zip(outcomes, guards, strict=True)
        return next(
            (f"the branch at {where}" for now, (_, was, where) in pairs if not np.array_equal(now, was)), "a branch"
        )


def _drawn(draws: Sequence[Draw]) -> str:
    return f"draws random numbers by {draws[0].name} at {draws[0].where}"


class _Alone:
    """Tells whether no other thread has called a function, or replayed an effect, since this was made."""

    def __init__(self, driver: _Driver) -> None:
        self.driver, self.calls, self.effects = driver, driver.calls, effects_done()

    def __call__(self) -> bool:
        return threading.active_count() == 1 or (self.driver.calls, effects_done()) == (self.calls, self.effects)


class _State(NamedTuple):
    """What a container holds, and the attributes that an object has, fields or not."""

    leaves: list[Any]
    structure: Structure
    names: tuple[str, ...]


def _state(x: Any) -> _State:
    return _State(*flatten(x), tuple(getattr(x, "__dict__", ())))


def _shared(signature: CallSignature, environment: Environment, live: Sequence[Any]) -> Environment:
    """An environment of an earlier recording that guards the same, so that both are compared at once; or this one."""
    for recorded in signature.recorded:
        if _are(recorded.live, live) and recorded.environment.has_same(environment):
            if recorded.environment.change() is None:
                return recorded.environment
    return environment


def _are(arrays: Sequence[Any], others: Sequence[Any]) -> bool:
    """Whether these arrays are those."""
    return len(arrays) == len(others) and all(a is b for a, b in zip(arrays, others, strict=True))


def _aval_of(leaf: Any) -> AbstractValue | None:
    """Shape and dtype of a leaf that becomes an input; None for others."""
    if type(leaf) is float or type(leaf) is np.float64:
        return NUMBER
    if isinstance(leaf, (np.ndarray, np.inexact, complex)):
        dtype = leaf.dtype if isinstance(leaf, (np.ndarray, np.generic)) else np.dtype(np.complex128)
        if dtype.kind in "biufc":
            return intern_aval(dtype.newbyteorder("="), np.shape(leaf))
    return None


def _check_static(name: str, value: Any) -> None:
    try:
        hash(value)
    except TypeError:
        raise ArgumentError(
            f"jit: argument {name} is static, so that f is recorded for each of its values, but a "
            f"{type(value).__name__} is not hashable. Pass a tuple, or leave it out of the static arguments."
        ) from None
