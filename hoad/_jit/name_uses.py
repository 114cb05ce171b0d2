"""How code uses what it loads by a name, read from its instructions: whether it only adds to it, or appends to it.

Python's compiler evaluates an expression on top of what lies on the stack already. So what a load puts there is used by
the first instruction that takes as much as lies above it, and more.
"""

from __future__ import annotations

import dis
import functools
import types
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

Step = dis.Instruction
Steps = list[Step]

SILENT = frozenset(["CACHE", "NOP", "RESUME"])
# Within an expression: each takes what lies on top of the stack, and leaves something there.
WITHIN = (
    "BINARY_", "BUILD_", "CALL", "COMPARE_OP", "CONTAINS_OP", "CONVERT_", "FORMAT_", "INPLACE_", "IS_OP", "KW_NAMES",
    "LIST_EXTEND", "LOAD_", "PRECALL", "PUSH_NULL", "UNARY_",
)  # fmt: skip
ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD")
CONSTANTS = ("LOAD_CONST", "LOAD_SMALL_INT")
VARIABLES = frozenset(
    "LOAD_FAST LOAD_FAST_BORROW LOAD_FAST_CHECK LOAD_DEREF LOAD_GLOBAL LOAD_NAME LOAD_FAST_LOAD_FAST "
    "LOAD_FAST_BORROW_LOAD_FAST_BORROW STORE_FAST_LOAD_FAST".split()
)
PLUS, MINUS = ("+", "+=", "BINARY_ADD", "INPLACE_ADD"), ("-", "-=", "BINARY_SUBTRACT", "INPLACE_SUBTRACT")
SIGNS = dict.fromkeys(PLUS, 1) | dict.fromkeys(MINUS, -1)
STORED_BY = {
    "LOAD_ATTR": "STORE_ATTR",
    "LOAD_GLOBAL": "STORE_GLOBAL",
    "LOAD_NAME": "STORE_GLOBAL",
    "LOAD_DEREF": "STORE_DEREF",
}
APPENDING = frozenset(["append", "appendleft", "extend"])
ADDING, READING, READING_LATER = "add", "read", "read later"  # uses of items


class AnyKey:
    """The mark for a key that no constant tells."""

    def __repr__(self) -> str:
        return "ANY"


ANY = AnyKey()


class Use(NamedTuple):
    """What is done with a container: "add" (to an item), "read" (one), "store" (one), "append", "extend", ..., "other".

    "read later" is by a local variable. `key` is that of the item; `missing` is what is added to where there is none.
    """

    what: str
    key: Any = ANY
    missing: Any = ANY


class Addition(NamedTuple):
    """What is loaded is added to, and stored where it was: by which step, and what is added, where steps tell."""

    store: int
    addend: tuple[Step, ...] | None
    sign: int


OTHER = Use("other")


@functools.lru_cache(256)
def steps_of(code: types.CodeType) -> Steps:
    """The instructions of code that do something."""
    return [step for step in dis.get_instructions(code) if step.opname not in SILENT and step.opname != "EXTENDED_ARG"]


def _taken(steps: Steps, k: int, above: int = 0) -> tuple[int, int]:
    """(the step that first uses what step k has left; how many things lie there, that with what is `above`)."""
    depth = 1 + above
    for at in range(k + 1, len(steps)):
        step = steps[at]
        if step.is_jump_target:
            break
        effect = dis.stack_effect(step.opcode, step.arg, jump=False)
        takes = 1 if step.opname in ATTRIBUTES else max(0, 1 - effect)
        if not step.opname.startswith(WITHIN) or depth - takes < 1:
            return at, depth
        depth += effect
    return len(steps) - 1, 0


def _plain(steps: Steps, first: int, last: int) -> bool:
    """Whether no jump leads to steps after the first, up to the last."""
    return not any(step.is_jump_target for step in steps[first + 1 : last + 1])


def _is_subscript(step: Step) -> bool:
    return step.opname == "BINARY_SUBSCR" or (step.opname == "BINARY_OP" and step.argrepr == "[]")


def _sign(step: Step) -> int:
    """1 for an addition, -1 for a subtraction, 0 for anything else."""
    return SIGNS.get(step.argrepr if step.opname == "BINARY_OP" else step.opname, 0)


def _is_in_place(step: Step) -> bool:
    return step.opname.startswith("INPLACE_") or step.argrepr.endswith("=")


def _alike(x: Step, y: Step) -> bool:
    return (x.opname, x.argval) == (y.opname, y.argval)


def _after(steps: Steps, k: int) -> int:
    """The first step after k that does not exchange what lies on the stack."""
    k += 1
    while k < len(steps) and steps[k].opname in ("SWAP", "ROT_TWO", "ROT_THREE"):
        k += 1
    return k


def owner_of(steps: Steps, k: int) -> tuple[Step, ...] | None:
    """The steps that load what step k reads an attribute of, or stores one to; None where they are not plain."""
    first = k - 1
    if first >= 0 and steps[first].opname in ("COPY", "DUP_TOP"):
        first -= 1
    last = first
    while first >= 0 and steps[first].opname == "LOAD_ATTR":
        first -= 1
    if first < 0 or steps[first].opname not in VARIABLES or not _plain(steps, first, k):
        return None
    return tuple(steps[first : last + 1])


def addition(steps: Steps, k: int) -> Addition | None:
    """How what step k loads is added to and stored again, if it is, and goes nowhere else: ``o.n += 1``."""
    at, depth = _taken(steps, k)
    step, sign = steps[at], _sign(steps[at])
    if not depth or not sign or (depth == 1 and (sign < 0 or _is_in_place(step))) or depth > 2:
        return None
    is_attribute = steps[k].opname == "LOAD_ATTR"
    if _is_in_place(step):
        if is_attribute and (k == 0 or steps[k - 1].opname not in ("COPY", "DUP_TOP")):
            return None
        store = _after(steps, at)
    elif is_attribute:  # of the same variable, which no call may exchange
        if k == 0 or steps[k - 1].opname not in VARIABLES or not _plain(steps, k - 1, k):
            return None
        if "FAST" not in steps[k - 1].opname and any(x.opname.startswith("CALL") for x in steps[k:at]):
            return None
        store = at + 2 if _alike(steps[at + 1], steps[k - 1]) else at + 1
        if store == at + 1:
            return None
    else:
        store = at + 1
    if store >= len(steps) or not _plain(steps, k, store) or steps[store].argval != steps[k].argval:
        return None
    if steps[store].opname != STORED_BY.get(steps[k].opname):
        return None
    return Addition(store, tuple(steps[k + 1 : at]) if depth == 2 else None, sign)


# ---- containers -----------------------------------------------------------------------------------------------------


def uses_of_container(code: types.CodeType, is_load: Callable[[Step], bool]) -> list[tuple[Use, int]]:
    """What code does with a container that some steps load, also by a local variable; and the offset of each load."""
    steps = steps_of(code)
    ahead = [(k, 0) for k, step in enumerate(steps) if is_load(step)]
    if ahead and "locals" in code.co_names:
        return [(OTHER, steps[k].offset) for k, _ in ahead]
    found: dict[int, Use] = {}
    parts: set[int] = set()  # loads by which an item is stored that was added to
    variables: set[str] = set()
    for k, above in ahead:
        at, depth = _taken(steps, k, above)
        stored = _stored_local(steps[at]) if depth == 1 else None
        if stored is not None:
            if stored not in variables:
                variables.add(stored)
                ahead += _loads_of_local(steps, stored)
            continue
        found[k], part = _use(steps, k, at, depth)
        if found[k].what == READING and not is_load(steps[k]):
            found[k] = Use(READING_LATER, found[k].key)
        if part is not None:
            parts.add(part)
    return [(use, steps[k].offset) for k, use in found.items() if k not in parts]


def _stored_local(step: Step) -> str | None:
    """The local variable that a step stores what lies on top in."""
    if step.opname == "STORE_FAST":
        return str(step.argval)
    return str(step.argval[0]) if step.opname == "STORE_FAST_LOAD_FAST" else None


def _loads_of_local(steps: Steps, name: str) -> list[tuple[int, int]]:
    """(step, how many things it leaves above it) of each load of a local variable; those of cells are other steps."""
    found = []
    for k, step in enumerate(steps):
        if not step.opname.startswith("LOAD_") and step.opname != "STORE_FAST_LOAD_FAST":
            continue
        if step.argval == name and "FAST" in step.opname:
            found.append((k, 0))
        elif isinstance(step.argval, tuple) and "FAST" in step.opname:
            loaded = step.argval[1:] if step.opname == "STORE_FAST_LOAD_FAST" else step.argval
            found += [(k, len(loaded) - 1 - j) for j, x in enumerate(loaded) if x == name]
    return found


def _use(steps: Steps, k: int, at: int, depth: int) -> tuple[Use, int | None]:
    """What is done with the container that step k loads, first at another; and the load by which it is stored to."""
    step = steps[at]
    if depth == 1 and step.opname in ATTRIBUTES:
        return _use_of_method(steps, k, at)
    if depth != 2:
        return OTHER, None
    key = steps[at - 1].argval if at == k + 2 and steps[k + 1].opname in CONSTANTS else ANY
    if _is_subscript(step):
        part = _pair(steps, k, at, key)
        return (Use(READING, key), None) if part is None else (Use(ADDING, key), part)
    if step.opname == "STORE_SUBSCR":
        return Use("store", key), None
    if _is_in_place(step) and step.opname.startswith(("INPLACE_ADD", "BINARY_OP")) and _sign(step) == 1:
        return (OTHER, None) if addition(steps, k) is None else (Use("extend"), None)
    copies = [x for x in steps[at : at + 2] if x.opname == "DUP_TOP_TWO" or (x.opname == "COPY" and x.arg == 2)]
    load = at + len(copies)  # 3.10 copies both at once
    if not copies or load >= len(steps) or not _is_subscript(steps[load]):
        return OTHER, None
    added, above = _taken(steps, load)
    if above != 2 or not _sign(steps[added]) or not _is_in_place(steps[added]):
        return OTHER, None
    store = _after(steps, added)
    is_plain = store < len(steps) and steps[store].opname == "STORE_SUBSCR" and _plain(steps, k, store)
    return (Use(ADDING, key) if is_plain else OTHER), None


def _pair(steps: Steps, k: int, value: int, key: Any) -> int | None:
    """The load of the container by which an item is stored again that was added to: ``d["n"] = d["n"] + 1``."""
    at, depth = _taken(steps, value)
    if key is ANY or depth not in (1, 2) or not _sign(steps[at]) or _is_in_place(steps[at]):
        return None
    if depth == 1 and _sign(steps[at]) < 0:
        return None
    first = k - 1 if steps[k].opname == "LOAD_ATTR" else k
    if first < 0 or steps[first].opname not in VARIABLES:
        return None
    again = steps[at + 1 : at + 4 + k - first]
    if len(again) != k - first + 3 or again[-1].opname != "STORE_SUBSCR" or not _plain(steps, first, at + len(again)):
        return None
    if again[-2].opname not in CONSTANTS or again[-2].argval != key or type(again[-2].argval) is not type(key):
        return None
    return at + len(again) - 2 if all(map(_alike, again, steps[first : k + 1])) else None


def _use_of_method(steps: Steps, k: int, at: int) -> tuple[Use, int | None]:
    """What is done by calling the method of a container that step `at` loads."""
    name = steps[at].argval
    call, depth = _taken(steps, at, dis.stack_effect(steps[at].opcode, steps[at].arg, jump=False))
    if not depth or not steps[call].opname.startswith("CALL"):
        return OTHER, None
    if name in APPENDING and steps[call + 1].opname == "POP_TOP":
        return Use(name), None
    given = [step for step in steps[at + 1 : call] if step.opname not in ("PUSH_NULL", "PRECALL")]
    if name != "get" or not 1 <= len(given) <= 2 or any(step.opname not in CONSTANTS for step in given):
        return OTHER, None
    key = given[0].argval
    part = _pair(steps, k, call, key)
    if part is None:
        return Use(READING, key), None
    return Use(ADDING, key, given[1].argval if len(given) == 2 else ANY), part


# ---- single instructions --------------------------------------------------------------------------------------------


class Access(NamedTuple):
    """An instruction that reads a name, or writes to it: a variable of a function around, a global or an attribute.

    Attributes are of what the steps of `owner` load. `adds` says that it is part of an addition, of what the steps of
    `addend` load. `key` is that of the item that is read of what is loaded, if a constant tells.
    """

    name: str
    kind: str
    writes: bool
    owner: tuple[Step, ...] | None = None
    adds: bool = False
    addend: tuple[Step, ...] | None = None
    sign: int = 1
    key: Any = ANY


KINDS = {
    "cell": frozenset("DELETE_DEREF LOAD_CLASSDEREF LOAD_DEREF LOAD_FROM_DICT_OR_DEREF STORE_DEREF".split()),
    "global": frozenset(
        "DELETE_GLOBAL LOAD_FROM_DICT_OR_GLOBALS LOAD_GLOBAL LOAD_NAME STORE_GLOBAL STORE_NAME".split()
    ),
    "attribute": frozenset("DELETE_ATTR IMPORT_FROM LOAD_ATTR LOAD_METHOD LOAD_SUPER_ATTR STORE_ATTR".split()),
}


def accesses_of(code: types.CodeType, names: Iterable[str]) -> dict[int, Access]:
    """The accesses to these names, by the offset of the instruction, and of those that only widen its argument."""
    known, found = frozenset(names), {}
    steps = steps_of(code)
    of_items = {offset: use.key for use, offset in uses_of_container(code, lambda step: step.argval in known)
                if use.what == READING}  # fmt: skip
    stores = set()
    for k, step in enumerate(steps):
        kind = next((kind for kind, operations in KINDS.items() if step.opname in operations), None)
        if kind is None or step.argval not in known:
            continue
        is_attribute = kind == "attribute"
        added = addition(steps, k)
        if added is not None:
            stores.add(added.store)
        owner = owner_of(steps, k) if is_attribute and not step.opname.startswith(("IMPORT", "LOAD_SUPER")) else None
        found[step.offset] = Access(
            str(step.argval),
            kind,
            step.opname.startswith("STORE"),
            owner,
            added is not None or k in stores,
            None if added is None else added.addend,
            1 if added is None else added.sign,
            of_items.get(step.offset, ANY),
        )
    wide = None
    for step in dis.get_instructions(code):
        if step.opname == "EXTENDED_ARG":
            wide = step.offset if wide is None else wide
            continue
        if wide is not None and step.offset in found:
            found.update(dict.fromkeys(range(wide, step.offset, 2), found[step.offset]))
        wide = None
    return found
