"""What a function writes to besides what it returns, found after it was recorded: can a replay do it again?

A place counts as written only, if its value before the call reaches no result and no decision: if no code reads it, if
code only adds to it, or if each instruction that reads it runs after one that wrote to it. The last is seen by looking
at the instructions one by one, while the function is recorded once more.
"""

from __future__ import annotations

import dis
import types
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from hoad._core.jit.capture_analysis import Untrackable
from hoad._core.jit.code_names import reads_of
from hoad._core.jit.effects import Effect, PlaceTrace
from hoad._core.jit.environment import ABSENT, PLACES, found_at
from hoad._core.record.recording import Recording
from hoad._jit.environment_reader import Reader
from hoad._jit.results import Results

Guard = tuple[str, Any, Any, Any, str]

SILENT = frozenset(["CACHE", "EXTENDED_ARG", "NOP", "RESUME"])
STORES = {"said": "STORE_ATTR", "attribute": "STORE_ATTR", "slot": "STORE_ATTR", "item": "STORE_GLOBAL"}
LOADS = frozenset(["LOAD_ATTR", "LOAD_METHOD", "LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF"])


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
        self.places: set[tuple[str, int, Any]] = set()

    def add(self, guard: Guard, action: str, value: Any) -> None:
        """Something is put into a place: a constant, or what is made of traced values."""
        self.places.add((guard[0], id(guard[1]), guard[2]))
        if action == "count" or id(value) in self.met:  # what was there before stays what it is
            self.effects.append(Effect(guard, action, value))
            return
        made = Results(self.d, value)
        places = []
        for operand in made.operands:  # one value where the function has one array
            if operand not in self.operands:
                self.operands.append(operand)
            places.append(self.operands.index(operand))
        arrange = None if made.single and made.gives is None and made.operands else made.arranged
        self.effects.append(Effect(guard, action, None, tuple(places), arrange))

    def leave_inherited(self, reader: Reader) -> None:
        """Count what classes inherit of a class that is written to as written, too."""
        written = [(e.owner, e.key) for e in self.effects if e.kind == "said"]
        for kind, owner, key, _, _ in reader.watches.values() if written else ():
            if kind == "said" and any(key == k and issubclass(owner, base) for base, k in written):
                self.places.add((kind, id(owner), key))

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


def find_effects(d: Recording, results: Results, reader: Reader, trace: PlaceTrace | None) -> Found | Undone:
    """The effects of what was recorded; or the first change that a replay cannot make."""
    found = Found(d, results, reader)
    changed = reader.changed()
    unread: set[str] = set()
    for guard, is_read in changed:
        if reader.by_name:
            return Undone(guard[4])
        kind, owner, key, before, name = guard
        if kind == "list":
            if not _only_appends(reader, guard):
                return Undone(name)
            for item in owner[len(before) :]:
                found.add(guard, "append", item)
            continue
        if kind not in PLACES:
            return Undone(name)
        if found.is_another(guard):
            continue
        now = found_at(kind, owner, key)
        if now is ABSENT or not _is_plain_place(guard):
            return Undone(name)
        if reader.asks_whole and isinstance(owner, types.SimpleNamespace):
            return Undone(name)
        if kind == "cell" and any("cell_contents" in reads_of(code).attributes for code in reader.codes.values()):
            return Undone(name)
        if type(before) is int and type(now) is int and _only_counts(reader, guard):
            found.add(guard, "count", now - before)
            continue
        if is_read and trace is None:
            unread.add(_name_of(guard))
            continue
        if trace is not None and is_read and (trace.reads_first(guard) or _is_asked_for(reader, guard)):
            return Undone(name)
        try:
            found.add(guard, "store", now)
        except Untrackable:
            return Undone(name)
    found.leave_inherited(reader)
    return Undone(changed[0][0][4], unread) if unread else found


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


def _is_asked_for(reader: Reader, guard: Guard) -> bool:
    """Whether code may read a place by `getattr` and the like, which no instruction tells."""
    name = _name_of(guard)
    return any(name in reads_of(code).asked for code in reader.codes.values())


# ---- how code uses a name -------------------------------------------------------------------------------------------


def _steps(code: types.CodeType) -> list[dis.Instruction]:
    return [step for step in dis.get_instructions(code) if step.opname not in SILENT]


def _loads(codes: Iterable[types.CodeType], guard: Guard) -> Iterator[tuple[list[dis.Instruction], int]]:
    """Each instruction that loads a name, among those of its code."""
    name = _name_of(guard)
    kinds = {"item": LOADS, "cell": {"LOAD_DEREF", "LOAD_CLOSURE"}}.get(guard[0], {"LOAD_ATTR", "LOAD_METHOD"})
    for code in codes:
        if name not in (*code.co_names, *code.co_freevars, *code.co_cellvars):
            continue
        steps = _steps(code)
        for k, step in enumerate(steps):
            if step.argval == name and (step.opname in kinds or step.opname.startswith("LOAD_SUPER")):
                yield steps, k


def _only_counts(reader: Reader, guard: Guard) -> bool:
    """Whether code loads a place only to add to it, ``self.n += 1``, and stores nothing else there."""
    codes = reader.codes.values()
    kind, name = guard[0], _name_of(guard)
    if _is_asked_for(reader, guard):
        return False
    added = [_added_to(steps, k, STORES.get(kind, "STORE_DEREF"), kind != "cell") for steps, k in _loads(codes, guard)]
    stored = sum(
        step.argval == name and step.opname.startswith(("STORE_", "DELETE_", "IMPORT_FROM"))
        for code in codes
        for step in _steps(code)
    )
    return bool(added) and all(added) and stored == len(added)


def _added_to(steps: list[dis.Instruction], k: int, stores: str, may_be_attribute: bool) -> bool:
    """Whether what is loaded at k is added to and stored again, and goes nowhere else."""
    is_attribute = steps[k].opname == "LOAD_ATTR"
    if is_attribute:
        if not may_be_attribute or k == 0 or steps[k - 1].opname not in ("DUP_TOP", "COPY"):
            return False
        stores = "STORE_ATTR"
    depth, at = 1, k + 1
    while at < len(steps):
        step = steps[at]
        if depth == 2 and (step.opname.startswith("INPLACE_") or (step.opname == "BINARY_OP" and "=" in step.argrepr)):
            break
        if step.opname.startswith(("COPY", "DUP", "SWAP", "ROT")) or step.opcode in JUMPS or step.is_jump_target:
            return False
        depth += dis.stack_effect(step.opcode, step.arg, jump=False)
        if depth < 1:
            return False
        at += 1
    else:
        return False
    adds = step.opname in ("INPLACE_ADD", "INPLACE_SUBTRACT") or step.argrepr in ("+=", "-=")
    after = [s for s in steps[at + 1 : at + 3] if s.opname not in ("SWAP", "ROT_TWO")]
    return adds and bool(after) and after[0].opname == stores and after[0].argval == steps[k].argval


JUMPS = frozenset((*dis.hasjrel, *dis.hasjabs))


def _only_appends(reader: Reader, guard: Guard) -> bool:
    """Whether a list has grown at its end, and code uses it only to append to it: ``self.seen.append(x)``."""
    _, owner, _, before, _ = guard
    if len(owner) < len(before) or any(x is not y for x, y in zip(owner, before, strict=False)):
        return False
    holders = [g for g in reader.watches.values() if g[3] is owner]
    if len(holders) != 1 or reader.is_aliased(owner) or holders[0][0] in ("list", "mapping", "content"):
        return False
    if _is_asked_for(reader, holders[0]):
        return False
    loads = list(_loads(reader.codes.values(), holders[0]))
    return bool(loads) and all(_is_appended_to(steps, k) for steps, k in loads)


def _is_appended_to(steps: list[dis.Instruction], k: int) -> bool:
    """Whether the next instruction looks up ``append``, and what that returns is dropped."""
    if steps[k + 1].opname not in ("LOAD_METHOD", "LOAD_ATTR") or steps[k + 1].argval != "append":
        return False
    depth = 1 + dis.stack_effect(steps[k + 1].opcode, steps[k + 1].arg, jump=False)
    for step in steps[k + 2 :]:
        if step.opname.startswith(("COPY", "DUP", "SWAP", "ROT")) or step.opcode in JUMPS or step.is_jump_target:
            return False
        before, depth = depth, depth + dis.stack_effect(step.opcode, step.arg, jump=False)
        if depth < 1:
            return before == 1 and step.opname == "POP_TOP"
    return False
