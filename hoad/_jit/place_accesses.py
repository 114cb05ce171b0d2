"""Which places code reads, and writes to, as the instructions tell that it runs one by one."""

from __future__ import annotations

import types
from collections.abc import Iterable
from typing import Any

from hoad._core.jit.environment import ABSENT, found_at, is_as_it_was
from hoad._jit.environment_reader import Reader
from hoad._jit.name_uses import ANY, Access, Step, accesses_of

Guard = tuple[str, Any, Any, Any, str]
Place = tuple[str, int, Any]

UNKNOWN = object()
# Classes whose objects have no attributes but their own, and those of their classes.
LOOKS_UP = (object.__getattribute__, types.ModuleType.__getattribute__, type.__getattribute__)


class Accesses:
    """What a trace tells of the places that go by some names, as far as the reader has met them."""

    def __init__(self, names: Iterable[str], reader: Reader) -> None:
        self.names, self.reader = set(names), reader
        self.is_told = False  # whether anything is
        self.read: set[Place] = set()  # those that were read as they had been
        self.used: set[Place] = set()  # those that were read or written to other than to add something
        self.added: dict[Place, list[Any]] = {}  # what was added, in order; `UNKNOWN` where that is not known

    def accesses(self, code: types.CodeType) -> dict[int, Access]:
        return accesses_of(code, self.names)

    def forget(self) -> None:
        """Let go of what was added, which may be traced."""
        self.added = {}

    def note(self, access: Access, frame: types.FrameType) -> None:
        """An instruction is about to run."""
        owner = loaded(access.owner, frame) if access.owner is not None else UNKNOWN
        found = [
            (place, guard)
            for places in (self.reader.watches, self.reader.written)
            for place, guard in places.items()
            if is_of(access, owner, guard, frame)
        ]
        for place, guard in found:
            self.note_place(place, guard, access, frame, len(found) == 1 or is_certain(owner, guard))

    def note_place(self, place: Place, guard: Guard, access: Access, frame: types.FrameType, is_certain: bool) -> None:
        """An access to a place; or, where that is not certain, perhaps to one that is called the same."""
        kind, owner, key = guard[:3]
        if not access.writes and is_as_it_was(guard):
            self.read.add(place)
        if not access.adds:
            self.used.add(place)
        elif not access.writes:
            known = access.addend is not None and is_certain
            addend: Any = loaded(access.addend, frame) if known and access.addend is not None else UNKNOWN
            if addend is not UNKNOWN and access.sign < 0:
                addend = -addend
            self.added.setdefault(place, []).append(addend)
        held = found_at(kind, owner, key)
        if access.key is not ANY and isinstance(held, dict):
            self.note_item(held, access.key)

    def note_item(self, held: dict[Any, Any], key: Any) -> None:
        """An item of a dict is read."""
        guard = self.reader.watches.get(("mapping", id(held), None))
        if guard is None:
            return
        before = dict(zip(guard[3][::2], guard[3][1::2], strict=True))
        if dict.get(held, key, ABSENT) is before.get(key, ABSENT):
            self.read.add(("item", id(held), key))

    def reads_first(self, guard: Guard) -> bool:
        """Whether a place is read before it is written to; or may be, where nothing was told."""
        return not self.is_told or _place_of(guard) in self.read

    def reads_item_first(self, owner: Any, key: Any) -> bool:
        """The same for an item of a dict."""
        return not self.is_told or ("item", id(owner), key) in self.read

    def only_adds(self, guard: Guard) -> bool:
        """Whether code reads a place only to add to it, and does nothing else with it."""
        place = _place_of(guard)
        return self.is_told and place in self.added and place not in self.used

    def added_to(self, guard: Guard) -> list[Any] | None:
        """What code adds to a place, if that is known and it does nothing else with it."""
        if not self.only_adds(guard):
            return None
        added = self.added[_place_of(guard)]
        return None if any(x is UNKNOWN for x in added) else added


def _place_of(guard: Guard) -> Place:
    return guard[0], id(guard[1]), guard[2]


def is_of(access: Access, accessed: Any, guard: Guard, frame: types.FrameType) -> bool:
    """Whether an access, to an attribute of what is `accessed`, may be one to a place."""
    kind, owner, key, _, _ = guard
    if kind == "cell":
        return access.kind == "cell" and guard[4].partition(" in ")[0] == access.name
    if key != access.name or access.kind == "cell":
        return False
    if access.kind == "global":
        return kind == "item" and frame.f_globals is owner
    if accessed is UNKNOWN or _looks_up(accessed) not in LOOKS_UP:
        return True
    if kind == "item":
        return isinstance(accessed, types.ModuleType) and vars(accessed) is owner
    if kind == "said":
        return owner in type(accessed).__mro__ or (isinstance(accessed, type) and owner in accessed.__mro__)
    return accessed is owner or _attributes(accessed) is _attributes(owner) is not None


def is_certain(accessed: Any, guard: Guard) -> bool:
    """Whether an access to an attribute of what is `accessed` is one to this place, of those that are called so."""
    kind, owner, key, _, _ = guard
    if accessed is UNKNOWN or kind == "cell":
        return False
    if kind == "said":
        return accessed is owner and key in vars(owner)
    return accessed is owner or isinstance(accessed, types.ModuleType)


def _looks_up(x: Any) -> Any:
    """How attributes of an object are looked up."""
    return type.__getattribute__(type(x), "__getattribute__")


def _attributes(x: Any) -> dict[str, Any] | None:
    try:
        return object.__getattribute__(x, "__dict__")  # type: ignore[no-any-return]
    except AttributeError:
        return None


def loaded(steps: Iterable[Step], frame: types.FrameType) -> Any:
    """What some steps load: a constant or a variable, and plain attributes from there on; or `UNKNOWN`."""
    found: Any = UNKNOWN
    for k, step in enumerate(steps):
        if k == 0:
            found = _first(step, frame)
        elif found is not UNKNOWN and step.opname == "LOAD_ATTR":
            found = _attribute(found, step.argval)
        else:
            return UNKNOWN
    return found


def _first(step: Step, frame: types.FrameType) -> Any:
    name = step.argval[-1] if isinstance(step.argval, tuple) and "FAST" in step.opname else step.argval
    if step.opname in ("LOAD_CONST", "LOAD_SMALL_INT"):
        return name
    if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
        return frame.f_globals.get(name, UNKNOWN)
    if "FAST" in step.opname or step.opname == "LOAD_DEREF":
        return frame.f_locals.get(name, UNKNOWN)
    return UNKNOWN


def _attribute(x: Any, name: str) -> Any:
    """A plain attribute of an object, of which no class says anything; or of a module."""
    if isinstance(x, types.ModuleType):
        return vars(x).get(name, UNKNOWN)
    if _looks_up(x) is not object.__getattribute__:
        return UNKNOWN
    said = next((vars(cls)[name] for cls in type(x).__mro__ if name in vars(cls)), ABSENT)
    if isinstance(said, types.MemberDescriptorType):
        found = found_at("slot", x, name)
    elif said is ABSENT or not hasattr(type(said), "__set__"):
        found = (_attributes(x) or {}).get(name, ABSENT)
        if found is ABSENT and said is not ABSENT and not hasattr(type(said), "__get__"):
            found = said
    else:
        found = ABSENT
    return UNKNOWN if found is ABSENT else found
