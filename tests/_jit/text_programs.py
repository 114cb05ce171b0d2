"""Programs as text that run twice, once jitted, side by side: what they give and leave behind is compared."""

from __future__ import annotations

import types
import warnings
from typing import Any, NamedTuple

import numpy as np

import hoad

COUNT = iter(range(10_000))
POINTS = (1.5, 2.5, -0.5, 3.0, 1.5)
BEFORE = """
import abc, array, collections, decimal, enum, fractions, functools, math, re, types, typing, uuid, weakref
import numpy as np
import hoad
class Space:
    def __init__(self, **values):
        vars(self).update(values)
"""


class Row(NamedTuple):
    """What there is before; the function f of x; what is looked at after each call; changes in between."""

    before: str
    f: str
    kept: str = "None"
    changes: tuple[str, ...] = ()
    is_replayed: bool = True


def program(row: Row) -> dict[str, Any]:
    """The globals of a program."""
    name = f"text_program_{next(COUNT)}"
    body = row.f if row.f.startswith("\n") else f"        {row.f}"
    text = f"{BEFORE}{row.before}\ndef make():\n    def f(x):\n{body}\n    return f\n"
    if "\ndef " in row.f:
        first, second = body.split("\ndef ")
        text = f"{BEFORE}{row.before}\ndef {second}\ndef make():\n    def f(x):\n{first}\n    return f\n"
    module = types.ModuleType(name)
    exec(compile(text, f"{name}.py", "exec"), vars(module))
    return vars(module)


def call(f: Any, x: float) -> Any:
    try:
        return f(x)
    except ValueError as error:
        return type(error)


def plain(x: Any) -> Any:
    """What is left behind, with NumPy's floats as Python's."""
    if isinstance(x, dict):
        return type(x), [(plain(key), plain(value)) for key, value in x.items()]
    if isinstance(x, (list, tuple)):
        return [plain(item) for item in x]
    return float(x) if isinstance(x, (float, np.floating)) else (type(x), x)


def check(row: Row, driver: str) -> None:
    """Raise where a jitted program does something else than the program."""
    fast, slow = program(row), program(row)
    f, g = fast["make"](), slow["make"]()
    jitted = hoad.jit(f if driver == "f" else hoad.value_and_grad(f))
    with warnings.catch_warnings():
        warnings.simplefilter("error" if row.is_replayed else "ignore", hoad.JitWarning)
        for change in ("", *row.changes, *row.changes):
            exec(change, fast), exec(change, slow)
            for x in POINTS:
                found, wanted = call(jitted, x), call(g, x)
                found = found[0] if isinstance(found, tuple) else found
                assert type(plain(found)) is type(plain(wanted))
                np.testing.assert_allclose(found, wanted, rtol=1e-14) if isinstance(wanted, float) else None
                assert plain(eval(row.kept, fast)) == plain(eval(row.kept, slow))
    recorded = sum(len(signature.recorded) for signature in jitted.signatures)
    assert (recorded > 0) == row.is_replayed
