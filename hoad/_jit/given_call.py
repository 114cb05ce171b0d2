"""One call of a jitted function: its arguments, what the function gives for them, and what is recorded of it."""

from __future__ import annotations

import contextlib
import gc
import threading
import types
from collections.abc import Callable, Iterator, Sequence
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
from hoad._core.graph.inspect import guard_rows
from hoad._core.graph.tape import AbstractValue, intern_aval
from hoad._core.jit.capture_analysis import Untrackable, put
from hoad._core.jit.draws import Draw, DrawLog, Draws
from hoad._core.jit.effects import Effects, PlaceTrace, effects_done
from hoad._core.jit.environment import Environment
from hoad._core.jit.jit_cache import CallSignature, CompiledTrace
from hoad._core.record.recording import Recording, differentiating
from hoad._core.trace.coerce import check_class, holds_traced
from hoad._core.trace.errors import note_origin
from hoad._core.trace.traced import graph_of, is_traced
from hoad._jit.environment_reader import Reader
from hoad._jit.escapes import Stores
from hoad._jit.find_effects import Undone, find_effects
from hoad._jit.place_accesses import Accesses
from hoad._jit.rebinding import Rebinding, are_alike, rebinding_of
from hoad._jit.results import Results, into
from hoad._program.program import Program
from hoad._program.tape import Tape
from hoad._program.trace import telling_of_objects
from hoad._pytree.arguments import FLOAT64, Key, called, check_argument
from hoad._pytree.containers import Structure, flatten, kind_of, leaves_of
from hoad._transform.programs import without_guards
from hoad.errors import ArgumentError, NoRuleError, TracedValueError

NUMBER = intern_aval(FLOAT64, ())


# ---- why a recording is not kept ------------------------------------------------------------------------------------


class Impure(Untrackable):
    """A call of what gives something else each time, or once only: where a library keeps what it has read."""


class Changes(str):
    """Why a recording was not kept: the function changes what it reads, at each call or at first.

    `asks` is true where it also asks what a traced value cannot answer, which no other call can be compared with.
    """

    asks = False
    environment: Environment | None = None
    codes: tuple[types.CodeType, ...] = ()


class Follows(str):
    """Why a recording was not kept: whether it reads what it changes is to be seen, by the `names` that code has."""

    names: set[str]

    def __new__(cls, what: str, names: set[str]) -> Follows:
        made = super().__new__(cls, f"it changes {what}, which it reads")
        made.names = names
        return made


class NewDraws(str):
    """Why a recording was not kept: it draws random numbers, which the next recording takes as inputs."""

    known: list[Draw]


class NeedsPlain(Untrackable):
    """A function does something with its arguments, or with what it draws, that no traced value can be used for."""


class KeepsResults(Untrackable):
    """A function keeps what it computes, where no replay would put it."""


# ---- the call -------------------------------------------------------------------------------------------------------


class GivenCall:
    """The arguments of a call: numbers and arrays, which become inputs, and everything else, which is fixed."""

    def __init__(self, driver: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """`driver` is that of the jitted function."""
        if not driver.is_known:
            driver.check_given(args, kwargs)
        self.f, self.args, self.kwargs = driver.f, args, kwargs
        self.threads, self.zeros, self.follows = driver.threads or 0, driver.zeros, driver.follows
        self.is_alone = _Alone(driver)
        self.watch: CallWatch | None = None
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
            if now.structure != known.structure or now.names != known.names or not are_same(now.leaves, known.leaves):
                raise KeepsResults(
                    f"it changes the argument {called(self.f, key)}, a container, which a replay would not do. Return "
                    "the new value, and store it where the function is called"
                )

    def check_shared(self, reader: Reader) -> None:
        """Raise where the function has changed an array in whose memory an argument lies, of which it has a copy."""
        changed = [(array, name) for (kind, array, _, _, name), _ in reader.changed() if kind == "array"]
        for leaf, name in zip(self.leaves, self.names, strict=True) if changed else ():
            for array, called_as in changed:
                if isinstance(leaf, np.ndarray) and np.may_share_memory(array, leaf):
                    raise ArgumentError(
                        f"jit: the function changes {called_as}, in whose memory the argument {name} lies. Pass a "
                        "copy, or let it write to the argument by that name."
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
            if not log.inputs and not isinstance(failure, (TracedValueError, NoRuleError)):
                raise
            if self.watch is None or self.watch.impure is not None or reader.drawn() is not None:
                raise  # what it has done is not to be done again
            log.put_back()
            reader.put_back()
            if log.made and not signature.draws:  # which may be all that stands in the way
                signature.draws = log.known
                return self.recorded(signature)
            needs = f"it {_drawn(log.made)}, and needs plain numbers of that" if log.inputs else "it cannot be traced"
            raise NeedsPlain(f"{needs}: {str(failure).rstrip('.')}") from None
        if isinstance(made, (Untrackable, Changes)):
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
                if not log.is_whole or getattr(reader.refusal, "is_used_up", False):  # nor is this recording kept
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
                self.watch = watch
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
            self.check_shared(reader)
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
            return Follows(found.what, found.names), results.arranged(given)
        if stores is not None:
            return stores, results.arranged(given)
        places = ((), ()) if isinstance(found, Undone) else (found.places, found.guards)
        environment = reader.environment(live, *places)
        why = self.obstacle(reader, environment, watch, bool(d.graph.has_raised))
        if why is None and log.made:
            why = self.obstacle_of_draws(d, log)
        if why is not None:
            return why, results.arranged(given)
        if len(told.codes) > len(reader.codes):
            return Untrackable("its rebinding runs other code"), results.arranged(given)
        d.inputs[n_given:] = log.inputs
        draws = Draws(log.made) if log.made else None
        environment = _shared(signature, environment, live)
        return self.compiled(d, results, operands, environment, live, effects, draws), results.arranged(given)

    def compiled(
        self,
        d: Recording,
        results: Results,
        operands: list[int],
        environment: Environment,
        live: Sequence[Any],
        effects: Effects | None,
        draws: Draws | None,
    ) -> CompiledTrace:
        """What was recorded as a program that is replayed."""
        single = results.single and len(operands) == 1
        window = (0, d.size, 0, d.guards)
        gives = results.gives if effects is None else None
        tape = Tape(d.graph, window, d.inputs, operands, "primal", single, gives=gives)
        tape._arguments = tuple(name for name, aval in zip(self.names, self.avals, strict=True) if aval is not None)
        is_plain = not live and effects is None and draws is None
        tape._source = (self.kept(), {}) if is_plain else None
        program = Program([tape])
        environment.share(d.graph)
        return CompiledTrace(
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
            draws,
        )

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
            why = Changes(f"it changes {changed}, which it reads")
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
            why = NewDraws(f"it {what}, other numbers than before")
            why.known = log.known
            return why
        if any(d.depends(node, k) for node in d.guarded() for k in log.inputs):
            return Untrackable(f"it {what}, and decides on that in Python")
        return None

    def stored(self, d: Recording, reader: Reader, kept: Sequence[str] = ()) -> KeepsResults | None:
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
        return KeepsResults(
            f"it stores what it computes in {where}, which a replay would not do. Return it from the function, and "
            "store it where the function is called"
        )

    def kept(self) -> Callable[..., Any]:
        """The function of the inputs, for a program to be recorded again; without the values they had."""
        kept = GivenCall.__new__(GivenCall)
        kept.__dict__ = self.__dict__ | {
            "leaves": self.fixed,
            "args": (None,) * len(self.args),
            "zeros": None,
            "watch": None,
        }
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

    def __init__(self, driver: Any) -> None:
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
        if are_same(recorded.live, live) and recorded.environment.has_same(environment):
            if recorded.environment.change() is None:
                return recorded.environment
    return environment


def are_same(arrays: Sequence[Any], others: Sequence[Any]) -> bool:
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
