"""What a function writes to besides what it returns, found after it was recorded: can a replay do it again?

A place counts as written only, if its value before the call reaches no result and no decision: if no code reads it, if
code only adds to it, or if each instruction that reads it runs after one that wrote to it. Names tell that where all
code that ran uses them so, for whichever object. Else the instructions are looked at one by one, with the objects whose
attributes they name, while the function is recorded once more. Items of dicts are places, too, of which the constant
keys in the code tell.
"""

from __future__ import annotations

import enum
import opcode
import operator
import types
from collections import Counter, defaultdict, deque
from collections.abc import Callable
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from hoad._core.jit.capture_analysis import UNCHANGED, Untrackable
from hoad._core.jit.code_names import reads_of
from hoad._core.jit.effects import Effect
from hoad._core.jit.environment import ABSENT, PLACES, found_at
from hoad._core.record.recording import Recording
from hoad._core.trace.traced import is_traced, plain_value
from hoad._jit.environment_reader import Reader
from hoad._jit.name_uses import (
    ADDING,
    ANY,
    APPENDING,
    READING,
    READING_LATER,
    Step,
    Use,
    addition,
    steps_of,
    uses_of_container,
)
from hoad._jit.place_accesses import Accesses, Guard
from hoad._jit.results import Results

LOADS = frozenset(["LOAD_ATTR", "LOAD_METHOD", "LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF"])
STORE_SUBSCR = opcode.opmap["STORE_SUBSCR"]
NUMBERS = (bool, int, float, np.float64)
DICTS = (dict, Counter, defaultdict)


class Undone(NamedTuple):
    """Why a replay cannot do what a function does: what it changes; what may be found by a trace, if it is not None."""

    what: str
    names: set[str] | None = None


class Found:
    """The effects of a function that was recorded: places, and the operands that are put there."""

    def __init__(self, d: Recording, results: Results, reader: Reader) -> None:
        self.d, self.met = d, reader.met
        self.seen: set[tuple[int, Any]] = set()  # attributes, by the dictionary that they lie in
        self.operands = list(results.operands)
        self.effects: list[Effect] = []
        self.places: set[tuple[str, int, Any]] = set()  # that are not guarded
        self.guards: list[Guard] = []  # in place of those of dicts as a whole

    def add(self, guard: Guard, action: str, value: Any, missing: Any = ABSENT) -> None:
        """Something is put into a place: a constant, or what is made of traced values."""
        self.places.add((guard[0], id(guard[1]), guard[2]))
        is_plain = action == "add" and not any(map(is_traced, value))
        if is_plain or id(value) in self.met:  # what was there before stays what it is
            self.effects.append(Effect(guard, action, value, missing=missing))
            return
        made = Results(self.d, value)
        places = []
        for operand in made.operands:  # one value where the function has one array
            if operand not in self.operands:
                self.operands.append(operand)
            places.append(self.operands.index(operand))
        arrange = None if made.single and made.gives is None and made.operands else made.arranged
        self.effects.append(Effect(guard, action, None, tuple(places), arrange, missing))

    def expect(self, guard: Guard) -> None:
        """A place is to hold a number of the class that it holds now; which one does not matter."""
        self.places.add((guard[0], id(guard[1]), guard[2]))
        self.effects.append(Effect(guard, "expect"))

    def leave_inherited(self, reader: Reader) -> None:
        """Count what classes inherit of a class that is written to as written, too."""
        written = [(e.owner, e.key) for e in self.effects if e.kind == "said"]
        for kind, owner, key, _, _ in reader.watches.values() if written else ():
            bases = [base for base, k in written if kind == "said" and key == k and issubclass(owner, base)]
            for base in bases[:1]:
                self.places.add((kind, id(owner), key))
                between = owner.__mro__[: owner.__mro__.index(base)]  # which are to have no such name of their own
                self.guards += [
                    ("content", vars(x), None, tuple(vars(x)), f"the names of {x.__name__}") for x in between
                ]

    def is_another(self, guard: Guard) -> bool:
        """Whether a place is one that was met by another way: attributes that two objects share."""
        kind, owner, key, _, _ = guard
        if kind == "attribute":
            place = id(object.__getattribute__(owner, "__dict__")), key
            if place in self.seen:
                self.places.add((kind, id(owner), key))
                return True
            self.seen.add(place)
        return False


def find_effects(
    d: Recording, results: Results, reader: Reader, accesses: Accesses | None, appended: dict[int, int]
) -> Found | Undone:
    """The effects of what was recorded; or the first change that a replay cannot make.

    `accesses` are those that were looked at one by one; `appended` tells how often each deque was appended to.
    """
    found = Found(d, results, reader)
    changed = reader.changed()
    unread: set[str] = set()
    for guard, is_read in changed:
        kind, name = guard[0], guard[4]
        if reader.by_name:
            return Undone(name)
        try:
            if kind in ("list", "content"):
                done = _add_appended(found, reader, guard, appended)
            elif kind == "mapping":
                done = _add_items(found, reader, guard, accesses, unread)
            elif kind in PLACES:
                done = _add_place(found, reader, guard, is_read, accesses, unread)
            else:
                done = False
        except Untrackable:
            done = False
        if not done:
            return Undone(name)
    found.leave_inherited(reader)
    if not unread and not reader.by_name:
        _leave_unread(found, reader, appended)
    return Undone(changed[0][0][4], unread) if unread else found


def _add_place(
    found: Found, reader: Reader, guard: Guard, is_read: bool, accesses: Accesses | None, unread: set[str]
) -> bool:
    """Add what is put into a place, if a replay can do so; or note its name, if accesses are to tell."""
    kind, owner, key, before, _ = guard
    if found.is_another(guard):
        return True
    now = found_at(kind, owner, key)
    if now is ABSENT or not _is_plain_place(guard):
        return False
    if kind == "said" and any(g[2] == key and g[1] in owner.__mro__[1:] for g, _ in reader.changed() if g[0] == kind):
        return False  # what was there before was inherited, perhaps
    if _is_shown(reader, owner):
        return False
    if kind == "cell" and any("cell_contents" in reads_of(code).attributes for code in reader.codes.values()):
        return False
    if accesses is not None and _name_of(guard) not in accesses.names:  # others were looked at
        accesses = None
    is_asked = _is_asked_for(reader, guard)
    is_counted = type(before) is int and type(now) is int and not is_asked
    if is_counted and (_only_adds(reader, guard) or (accesses is not None and accesses.only_adds(guard))):
        found.add(guard, "add", (now - before,))
        return True
    if is_read and accesses is None:
        unread.add(_name_of(guard))
        return True
    if accesses is not None and is_read:
        added = accesses.added_to(guard) if type(before) in NUMBERS and not is_asked else None
        if added is not None and _is_sum(before, added, now):
            found.add(guard, "add", tuple(added))
            return True
        if accesses.reads_first(guard) or is_asked:
            return False
    found.add(guard, "store", now)
    return True


def _is_sum(before: Any, added: list[Any], now: Any) -> bool:
    """Whether numbers that were added up, or traced ones, give what is there now, as far as plain ones tell."""
    if not all(is_traced(x) or type(x) in NUMBERS for x in added):
        return False
    return repr(_plain(reduce(operator.add, map(_plain, added), before))) == repr(_plain(now))


def _plain(x: Any) -> Any:
    """The number that a traced one stands for."""
    value = plain_value(x) if is_traced(x) else x
    return float(value) if type(value) is np.float64 else value


def _leave_unread(found: Found, reader: Reader, appended: dict[int, int]) -> None:
    """Leave out what other branches count and fill, as what was there before reaches nothing."""
    reads = list(map(reads_of, reader.codes.values()))
    stored = set().union(*(x.stored | x.stored_globals for x in reads))
    free = {name for code in reader.codes.values() for name in code.co_freevars}
    appends = any(not APPENDING.isdisjoint(x.attributes) for x in reads)
    puts = any(STORE_SUBSCR in code.co_code[::2] for code in reader.codes.values())
    for place, guard in reader.watches.items():
        kind, owner, _, before, _ = guard
        if kind == "mapping" and puts and type(owner) in DICTS:
            _guard_items(found, reader, guard)
        elif place in found.places:
            continue
        elif kind in PLACES and type(before) is int:
            is_stored = _name_of(guard) in (free if kind == "cell" else stored)
            if (
                is_stored
                and _is_plain_place(guard)
                and not _is_shown(reader, owner)
                and not _is_asked_for(reader, guard)
                and _only_adds(reader, guard)
            ):
                found.expect(guard)
        elif kind == "list" and appends and type(owner) is list:
            done = {use.what for use in _uses(reader, owner)[1]}
            if done and done <= {"append", "extend"}:
                found.places.add(place)
        elif kind == "content" and appends and type(owner) is deque and id(owner) not in appended:
            if {use.what for use in _uses(reader, owner)[1]} in ({"append"}, {"appendleft"}):
                found.places.add(place)


def _guard_items(found: Found, reader: Reader, guard: Guard) -> None:
    """Guard a dict by those items that code reads, or may have put there, if it names them and uses nothing else."""
    kind, owner, key, before, name = guard
    uses = _uses(reader, owner)[1]
    kinds = {use.what for use in uses}
    if not kinds & {ADDING, "store"} or not kinds <= {ADDING, READING, READING_LATER, "store"}:
        return
    if any(use.key is ANY for use in uses):  # which may have added 0, or put what was there
        return
    held = dict(zip(before[::2], before[1::2], strict=True))
    found.places.add((kind, id(owner), key))
    for k in {use.key for use in uses if use.key is not ANY}:
        was = held.get(k, ABSENT)
        if ("item", id(owner), k) in found.places:
            continue
        place = "item", owner, k, was, f"{name}[{k!r}]"
        if type(was) is int and {use.what for use in uses if use.key == k} == {ADDING}:
            found.expect(place)
        else:
            found.guards.append(place)


def _name_of(guard: Guard) -> str:
    """The name by which code knows a place: of a cell that of its variable."""
    return guard[4].partition(" in ")[0] if guard[0] == "cell" else str(guard[2])


def _is_plain_place(guard: Guard) -> bool:
    """Whether to assign to a place runs no code."""
    kind, owner, key, _, _ = guard
    if kind in ("item", "cell"):
        return True
    cls = type(owner)
    if kind == "said":
        return cls is type
    stores: Any = cls.__setattr__
    if stores is not object.__setattr__ and stores is not types.SimpleNamespace.__setattr__:
        return False
    held = next((vars(base)[key] for base in cls.__mro__ if key in vars(base)), None)
    return kind == "slot" or not hasattr(type(held), "__set__")


def _is_shown(reader: Reader, owner: Any) -> bool:
    """Whether code may compare or show a namespace, with all that it holds."""
    return reader.asks_whole and isinstance(owner, types.SimpleNamespace)


def _is_asked_for(reader: Reader, guard: Guard) -> bool:
    """Whether code may read a place by `getattr` and the like, which no instruction tells."""
    name = _name_of(guard)
    return any(name in reads_of(code).asked for code in reader.codes.values())


def _is_load(guard: Guard) -> Callable[[Step], bool]:
    """Whether an instruction loads what is called as a place is."""
    name = _name_of(guard)
    kinds = {"item": LOADS, "cell": {"LOAD_DEREF", "LOAD_CLOSURE"}}.get(guard[0], {"LOAD_ATTR", "LOAD_METHOD"})

    def is_load(step: Step) -> bool:
        return step.argval == name and (step.opname in kinds or step.opname.startswith("LOAD_SUPER"))

    return is_load


def _only_adds(reader: Reader, guard: Guard) -> bool:
    """Whether code loads what is called so only to add to it, ``self.n += 1``, and stores nothing else there."""
    name, is_load = _name_of(guard), _is_load(guard)
    added = 0
    for code in reader.codes.values():
        if name not in (*code.co_names, *code.co_freevars, *code.co_cellvars):
            continue
        steps = steps_of(code)
        stores = {
            k for k, x in enumerate(steps) if x.argval == name and x.opname.startswith(("STORE", "DEL", "IMPORT_F"))
        }
        additions = [addition(steps, k) for k, step in enumerate(steps) if is_load(step)]
        if None in additions or stores != {x.store for x in additions if x is not None}:
            return False
        added += len(additions)
    return added > 0


# ---- containers -----------------------------------------------------------------------------------------------------


def _uses(reader: Reader, owner: Any) -> tuple[str, set[Use]]:
    """The name by which places hold a container, and what code does with all of that name; "" where it is unknown."""
    holders = [guard for guard in reader.watches.values() if guard[3] is owner]
    names = set(map(_name_of, holders))
    if len(names) != 1 or reader.is_aliased(owner) or any(_is_asked_for(reader, guard) for guard in holders):
        return "", set()
    if any(guard[0] not in PLACES or _is_shown(reader, guard[1]) for guard in holders):
        return "", set()
    loads = [_is_load(guard) for guard in {guard[0]: guard for guard in holders}.values()]
    uses = {
        use
        for code in reader.codes.values()
        for use, _ in uses_of_container(code, lambda step: any(is_load(step) for is_load in loads))
    }
    return names.pop(), uses


def _add_appended(found: Found, reader: Reader, guard: Guard, appended: dict[int, int]) -> bool:
    """Add what a list or a deque has grown by at an end, if code only appends to it: ``self.seen.append(x)``."""
    _, owner, _, before, _ = guard
    done = {use.what for use in _uses(reader, owner)[1]}
    items, action = list(owner), "append"
    if type(owner) is list and done and done <= {"append", "extend"}:
        count = len(items) - len(before)
        kept = items[:-count]
    elif type(owner) is deque and done in ({"append"}, {"appendleft"}):
        action = done.pop()
        count = min(appended.get(id(owner), 0), len(items))
        if action == "appendleft":
            items, before = items[::-1], before[::-1]
        kept = items[:-count]
        before = before[len(before) - len(kept) :]
    else:
        return False
    if count <= 0 or len(kept) != len(before) or any(x is not y for x, y in zip(kept, before, strict=True)):
        return False
    for item in items[-count:]:
        found.add(guard, action, item)
    return True


def _add_items(found: Found, reader: Reader, guard: Guard, accesses: Accesses | None, unread: set[str]) -> bool:
    """Add what is put into a dict, if code uses it only item by item: ``self.count["calls"] += 1``."""
    _, owner, _, before, name = guard
    called, uses = _uses(reader, owner) if type(owner) in DICTS else ("", set())
    if not uses or not {use.what for use in uses} <= {ADDING, READING, READING_LATER, "store"}:
        return False
    held = dict(zip(before[::2], before[1::2], strict=True))
    if [key for key in owner if key in held] != list(held):
        return False  # one has been taken away
    for key, now in owner.items():
        was = held.get(key, ABSENT)
        if now is was:
            continue
        if not _is_plain_key(key):
            return False
        place = "item", owner, key, was, f"{name}[{key!r}]"
        touching = [use for use in uses if use.key is ANY or use.key == key]
        kinds = {use.what for use in touching}
        if kinds == {ADDING}:
            missing = _missing(owner, touching)
            if type(missing if was is ABSENT else was) is not int or type(now) is not int:
                return False
            found.add(place, "add", (now - (missing if was is ABSENT else was),), missing)
            continue
        if "store" not in kinds or not kinds <= {"store", READING}:
            return False
        if READING in kinds:
            if any(use.key is ANY for use in touching if use.what == READING):
                return False
            if accesses is None or called not in accesses.names:
                unread.add(called)
                continue
            if accesses.reads_item_first(owner, key):
                return False
        found.add(place, "store", now)
    return True


def _missing(owner: Any, uses: list[Use]) -> Any:
    """What is added to where a dict has no such item."""
    if all(use.missing is ANY for use in uses):
        is_zero = type(owner) is Counter or (type(owner) is defaultdict and owner.default_factory is int)
        return 0 if is_zero else ABSENT
    given = {use.missing for use in uses}
    return given.pop() if len(given) == 1 else ABSENT


def _is_plain_key(key: Any) -> bool:
    """Whether to look a key up runs no code of the user's."""
    return type(key) in UNCHANGED or isinstance(key, enum.Enum) or (type(key) is tuple and all(map(_is_plain_key, key)))
