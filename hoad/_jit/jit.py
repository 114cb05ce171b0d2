"""A function recorded once for each kind of arguments, and replayed by compiled code."""

from __future__ import annotations

import functools
import importlib
import sys
import types
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from hoad._comparison.plain_calls import (
    compared,
)
from hoad._core.base.threads import check_threads
from hoad._core.graph.primitive import load_tables
from hoad._core.jit.bound_call import BoundCall
from hoad._core.jit.capture_analysis import Outer, Untrackable
from hoad._core.jit.draws import is_recorded
from hoad._core.jit.environment import PLACES, Environment, found_at
from hoad._core.jit.jit_cache import CallSignature, Jitted, Zeros
from hoad._core.trace.context import WATCHERS, running
from hoad._jit.given_call import Changes, Follows, GivenCall, Impure, KeepsResults, NeedsPlain, NewDraws
from hoad._jit.refusals import message, warn_caller
from hoad._jit.report import JitReport, report_of
from hoad._jit.results import into
from hoad._program.program import Program
from hoad._program.trace import recorder_among
from hoad._pytree.arguments import Key, Parameters, check_function, parameters
from hoad.errors import ArgumentError, TracedValueError, count

MOST_RECORDINGS = 16  # of one signature
MOST_LEFT_OUT = 100  # recordings of functions that are defined again by the same text
MOST_CHANGES = 2  # recordings of a signature that change one thing, as caches are filled; then the function does so
MOST_SIGNATURES = 128
PLAIN = (int, float, str, bool, type(None), np.ndarray, np.float64)  # classes of arguments that are matched in C


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
        If f cannot be traced or replayed: it needs plain numbers, reads clocks or files, keeps changing what it reads,
        or writes what a replay cannot. f is then called as it is: the result is right, but not fast. The message says
        what to change, in which line, and why; it comes once.

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
    if hasattr(type(f), "__hoad_jit__"):
        planned: Jitted = _planned(f, static_argnums, static_argnames, keep_zeros, threads=threads, guard=guard)
        return planned
    every: Any = guard
    if not isinstance(every, int) or every < 0:
        raise ArgumentError(f"jit takes guard as True, False, or a number of replays, not {guard!r}.")
    sys.modules["hoad"].__all__  # noqa: B018  (with it all names of hoad are there, for what f reads of them to be found)
    jitted = Jitted(f, _Driver(f, argnums, argnames, threads, keep_zeros, int(guard)))
    functools.update_wrapper(jitted, f, updated=())
    return jitted


def _planned(f: Any, static_argnums: Any, static_argnames: Any, keep_zeros: bool, **options: Any) -> Any:
    """What a derivative that is compiled in its own way becomes."""
    if static_argnums is not None or static_argnames is not None or keep_zeros:
        raise ArgumentError(f"jit of a {type(f).__name__} takes threads= and guard= alone.")
    return f.__hoad_jit__(**options)


def _tuple_of(kind: type, name: str, given: Any) -> tuple[Any, ...]:
    found = () if given is None else tuple(given) if isinstance(given, (tuple, list)) else (given,)
    found = tuple(x.item() if isinstance(x, np.integer) else x for x in found)
    if any(not isinstance(x, kind) or isinstance(x, bool) for x in found):
        raise ArgumentError(f"jit takes {name} as {kind.__name__} or a tuple of {kind.__name__}, not {given!r}.")
    return found


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
        if signature is None and self.refusal is not None and not kwargs and all(type(x) in PLAIN for x in args):
            if running() is None and not WATCHERS.get():  # as quick as can be
                return self.written(out, self.f(*args))
        given = GivenCall(self, args, kwargs)
        if given.holds_traced() or recorder_among(given.leaves) is not None:
            return self.written(out, compared(self.f, args, kwargs, "jit"))
        if is_recorded():  # another function, which reads what this one reads
            return self.written(out, given.plainly())
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
        given = GivenCall(self, args, kwargs)
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
        given = GivenCall(self, args, kwargs)
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

    def signature(self, jitted: Jitted, given: GivenCall) -> CallSignature | None:
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

    def varying(self, jitted: Jitted, given: GivenCall) -> str:
        """Which argument differs most often between signatures."""
        alike = [s for s in jitted.signatures if s.size == len(given.leaves)]
        counts = Counter(k for s in alike for k in range(s.size) if not s.given_at(k, given.leaves[k]))
        if not counts:
            return "the number of them keeps changing"
        return f"{given.names[counts.most_common(1)[0][0]]} keeps changing"

    def recorded(self, signature: CallSignature, given: GivenCall) -> Any:
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
        except NeedsPlain as failure:
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
        elif isinstance(made, Changes) and (made.asks or signature.reasons.count(made) >= MOST_CHANGES):
            self.refuse(signature, made)
        elif isinstance(made, str):
            signature.reasons.append(made)
            if isinstance(made, Follows):
                self.follows |= made.names
            if isinstance(made, NewDraws):
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

    def refuse(self, signature: CallSignature, why: Untrackable | Changes) -> None:
        """Record nothing more for a signature, until what it rests on has changed: f is called as it is."""
        if isinstance(why, KeepsResults):
            self.stores = str(why)
        self.warn(str(why), why.codes)
        signature.refuse(str(why), why.environment)

    def warn(self, reason: str, codes: Iterable[types.CodeType] = ()) -> None:
        """Say why f is called as it is, once."""
        if self.has_warned:
            return
        self.has_warned = True
        warn_caller(message(self.name, reason, codes))


def _changing(signature: CallSignature, given: GivenCall) -> str:
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
