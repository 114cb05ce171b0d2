"""Random functions of what lies around them, changed at random between calls: `jit` gives what a plain call gives.

A function is a sum of terms. Each reads something in another way (a global, a cell, an attribute, an item, a default,
an array as a whole or multiplied, text, a helper), and each kind of thing has its ways to be changed.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import types
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import hoad

Change = Callable[[np.random.Generator], Any]
STEPS = 14
POINTS = (1.5, 0.25, -0.75)

SOURCE = """
def outer({cells}):
    def f(x):
        total = 0.0
{terms}
        return total
    return f
"""
AROUND = (
    "{r} * x",
    "{r} * np.sin(x)",
    "np.cos({r} * x)",
    "x * x + {r} * x",
    "np.exp(-x * x) * {r}",
    "{r}",
    "x / (2.5 + x * {r})",
)
LINES = (
    "total = total + {t}",
    "total = total + {t}",
    "if x > 0.0:\n    total = total + {t}",
    "total = total + {t} if x > {r} else total - {t}",
    "total = total + (lambda y: {t})(x)",
    "total = total + sum([{t} for _ in range(2)])",
    "for _ in range(3):\n    total = total * 0.5 + {t}",
)


@dataclass
class Around:
    """What a function reads: its globals, its cells, expressions that read them, and what changes them."""

    space: dict[str, Any] = field(default_factory=dict)
    cells: dict[str, Any] = field(default_factory=dict)
    reads: list[str] = field(default_factory=list)
    changes: list[tuple[str, Change]] = field(default_factory=list)
    inner: Any = None  # the function, once there is one

    def name(self) -> str:
        return f"v{len(self.space) + len(self.cells)}"

    def bind(self, name: str, value: Any) -> None:
        """Let a global, or a cell, hold something else."""
        if name not in self.cells:
            self.space[name] = value
        elif name in self.inner.__code__.co_freevars:
            self.inner.__closure__[self.inner.__code__.co_freevars.index(name)].cell_contents = value

    def has(self, read: str, *changes: Change) -> None:
        self.reads.append(read)
        self.changes += [(read, change) for change in changes]


def number(rng: np.random.Generator) -> Any:
    """A number of any kind that code may keep."""
    x = float(np.round(rng.uniform(-2.0, 2.0), 2))
    return [x, x, x, int(np.round(x)), np.float64(x), np.float32(x), np.array(x), np.int64(np.round(x)), x > 0][
        rng.integers(9)
    ]


def real(rng: np.random.Generator) -> float:
    return float(np.round(rng.uniform(-2.0, 2.0), 2))


# ---- kinds of things to read ----------------------------------------------------------------------------------------


def a_global(a: Around, rng: np.random.Generator) -> None:
    name = a.name()
    a.space[name] = number(rng)
    a.has(name, lambda r: a.space.__setitem__(name, number(r)))


def a_cell(a: Around, rng: np.random.Generator) -> None:
    name = a.name()
    a.cells[name] = real(rng)
    a.has(name, lambda r: a.bind(name, number(r)))


class Slots:
    __slots__ = ("s",)
    s: Any


def an_attribute(a: Around, rng: np.random.Generator) -> None:
    class Base:
        shared: Any = real(rng)

        def method(self, y: Any = 1.0) -> Any:
            return self.own * y + self.shared

        @property
        def computed(self) -> Any:
            return self.own + 1.0

        @classmethod
        def of_class(cls) -> Any:
            return cls.shared * 2.0

    class Derived(Base):
        pass

    name = a.name()
    x: Any = Derived()
    x.own = number(rng)
    x.items = [real(rng), {"k": real(rng)}]
    a.space[name] = x
    former = Base.method

    def other(self: Any, y: Any = 2.0) -> Any:
        return self.own - y

    def shadow(r: np.random.Generator) -> None:
        if "shared" in vars(x):
            del x.shared
        else:
            x.shared = real(r)

    reads = ("{n}.own", "{n}.shared", "{n}.method()", "{n}.method(0.5)", "{n}.computed", "{n}.of_class()")
    reads += ("{n}.items[1]['k']", "getattr({n}, 'own')", "(3.0 if hasattr({n}, 'extra') else 4.0)", "len(vars({n}))")
    a.has(
        reads[rng.integers(len(reads))].format(n=name),
        lambda r: setattr(x, "own", number(r)),
        lambda r: setattr(Base, "shared", real(r)),
        lambda r: setattr(Derived, "shared", real(r)),
        lambda r: setattr(Base, "method", other if Base.method is former else former),
        lambda r: x.items[1].__setitem__("k", real(r)),
        lambda r: setattr(x, "extra", 1.0) if not hasattr(x, "extra") else delattr(x, "extra"),
        shadow,
    )


def a_slot(a: Around, rng: np.random.Generator) -> None:
    name = a.name()
    x = a.space[name] = Slots()
    x.s = number(rng)
    a.has(f"{name}.s", lambda r: setattr(x, "s", number(r)))


def a_module(a: Around, rng: np.random.Generator) -> None:
    name = a.name()
    module: Any = types.ModuleType(name)
    module.number, module.scaled = number(rng), lambda y: 2.0 * y
    a.space[name] = module
    a.has(
        f"{name}.scaled({name}.number)",
        lambda r: setattr(module, "number", number(r)),
        lambda r: setattr(module, "scaled", functools.partial(np.multiply, real(r))),
    )


def a_container(a: Around, rng: np.random.Generator) -> None:
    name = a.name()
    kept: dict[str, Any] = {"k": real(rng), "l": [real(rng), [real(rng)]], "q": deque([1.0, 2.0]), "s": {1, 2}}
    a.space[name] = kept
    reads = ("{n}['k']", "{n}['l'][0]", "{n}['l'][1][0]", "{n}['q'][0]", "(1.0 if 3 in {n}['s'] else 2.0)")
    reads += ("{n}.get('m', 0.5)", "len({n}['l'])", "sum({n}['q'])", "list({n})[0].count('k')", "sum({n}['s'])")
    reads += ("sorted({n}['l'][:1])[0]", "max({n}['k'], 0.5)", "[*{n}['l']][0]")

    def member(r: np.random.Generator) -> None:
        kept["s"] ^= {3}

    def optional(r: np.random.Generator) -> None:
        kept["m"] = real(r)
        if r.random() < 0.5:
            del kept["m"]

    def order(r: np.random.Generator) -> None:
        kept["k"] = kept.pop("k")

    a.has(
        reads[rng.integers(len(reads))].format(n=name),
        lambda r: kept.__setitem__("k", number(r)),
        lambda r: kept["l"].__setitem__(0, real(r)),
        lambda r: kept["l"][1].__setitem__(0, real(r)),
        lambda r: kept["q"].appendleft(real(r)),
        lambda r: kept["l"].append(real(r)),
        member,
        optional,
        order,
    )


def an_array(a: Around, rng: np.random.Generator) -> None:
    name = a.name()
    size = int(rng.integers(1, 5))
    array = np.round(rng.uniform(-2.0, 2.0, size), 2).astype([np.float64, np.float32, np.int64][rng.integers(3)])
    holder = types.SimpleNamespace(a=array)
    (a.cells if rng.random() < 0.4 else a.space)[name], a.space[f"{name}h"] = array, holder
    a.space[f"{name}w"] = array[::-1]
    reads = ("np.sum({n})", "float({n}[0])", "{n}.tolist()[-1]", "np.sum({n} * x)", "{n}[0]", "np.max({n}) * x")
    reads += ("({n} @ {n})", "sum({n})", "len({n})", "np.sum(np.sin({n} * x))", "{n}w[0]", "np.sum({n}h.a)", "min({n})")
    reads += ("(np.sum({n}) if isinstance({n}, np.ndarray) else 100.0)", "len(str({n}))", "float(f'{{{n}[0]:.1f}}')")
    reads += ("(1.0 if isinstance({n}[0], float) else 2.0)", "(2.0 if {n}[0] > 0.1 else 3.0)", "np.argmax({n})")
    reads += ("{n}.mean() * x", "np.dot({n}w, {n})", "(1.0 if hasattr({n}, 'tobytes') else 2.0)", "helper_of({n}) * x")
    a.space.setdefault("helper_of", lambda y: np.sum(y) if type(y) is np.ndarray else 50.0)

    def at(r: np.random.Generator) -> None:
        array[r.integers(size)] = real(r)

    def bind(r: np.random.Generator) -> None:
        a.bind(name, np.round(r.uniform(-2.0, 2.0, size + int(r.integers(2))), 2))

    def double(r: np.random.Generator) -> None:
        array[...] = array * 2

    a.has(reads[rng.integers(len(reads))].format(n=name), at, at, at, double, bind)


def some_text(a: Around, rng: np.random.Generator) -> None:
    name = a.name()
    a.space[name] = "ab"
    reads = ("len({n})", "(1.0 if {n} == 'ab' else 2.0)", "dict(ab=1.5, abc=2.5).get({n}, 0.5)", "{n}.count('a')")
    a.has(
        reads[rng.integers(len(reads))].format(n=name),
        lambda r: a.space.__setitem__(name, ["ab", "abc", "", "aa"][r.integers(4)]),
    )


def a_helper(a: Around, rng: np.random.Generator) -> None:
    name = a.name()
    k = real(rng)

    def one(y: Any, scale: float = 1.5, *, shift: float = 0.5) -> Any:
        return scale * y + shift + k

    def two(y: Any, scale: float = 1.5, *, shift: float = 0.5) -> Any:
        return scale - y * shift * k

    inner = two if rng.random() < 0.5 else one
    a.space[name] = functools.partial(inner, scale=2.0) if rng.random() < 0.3 else inner

    def cell(r: np.random.Generator) -> None:
        nonlocal k
        k = real(r)

    def code(r: np.random.Generator) -> None:
        one.__code__, two.__code__ = two.__code__, one.__code__

    def bind(r: np.random.Generator) -> None:
        a.space[name] = [one, two, np.sin, functools.partial(one, scale=real(r))][r.integers(4)]

    a.has(
        f"{name}({['x', '0.7'][rng.integers(2)]})",
        lambda r: setattr(inner, "__defaults__", (real(r),)),
        lambda r: setattr(inner, "__kwdefaults__", {"shift": real(r)}),
        cell,
        code,
        bind,
    )


def a_default(a: Around, rng: np.random.Generator) -> None:
    """Of the function itself: what it is asked for by name is a global."""
    name = a.name()
    kept = a.space[name] = [real(rng)]

    def helper(y: Any, held: list[float] = kept) -> Any:
        return y * held[0] + len(held)

    a.space[f"{name}f"] = helper
    a.has(f"{name}f(x)", lambda r: kept.__setitem__(0, real(r)), lambda r: kept.append(1.0))


KINDS = (
    a_global,
    a_cell,
    an_attribute,
    a_slot,
    a_module,
    a_container,
    an_array,
    an_array,
    some_text,
    a_helper,
    a_default,
)


# ---- a trial --------------------------------------------------------------------------------------------------------


def made(rng: np.random.Generator) -> tuple[Around, str]:
    """A function, in what lies around it, and its source."""
    a = Around(space={"np": np, "hoad": hoad})
    for _ in range(rng.integers(1, 6)):
        KINDS[rng.integers(len(KINDS))](a, rng)
    lines: list[str] = []
    for read in a.reads:
        term = AROUND[rng.integers(len(AROUND))].format(r=read)
        lines += LINES[rng.integers(len(LINES))].format(t=term, r=read).split("\n")
    source = SOURCE.format(cells=", ".join(a.cells), terms="\n".join(" " * 8 + line for line in lines))
    exec(compile(source, "<trial>", "exec"), a.space)
    a.inner = a.space["outer"](*a.cells.values())
    return a, source


def result(f: Callable[[Any], Any], x: Any) -> Any:
    """What a function gives, or the class of what it raises."""
    try:
        return np.asarray(f(x))
    except Exception as failure:
        return type(failure)


def differs(found: Any, wanted: Any) -> bool:
    if isinstance(found, type) or isinstance(wanted, type):
        return found is not wanted
    close = found.shape == wanted.shape
    scale = 1e-5 if np.float32 in (found.dtype, wanted.dtype) else 1e-11
    return not (close and np.allclose(found, wanted, rtol=scale, atol=scale, equal_nan=True))


def calls(a: Around, rng: np.random.Generator) -> Iterator[tuple[str, Any, Any, Any]]:
    """(which, point, what jit gives, what a plain call gives) while things are changed."""
    f = a.inner
    pairs = [("f", hoad.jit(f), f), ("grad(f)", hoad.jit(hoad.grad(f)), hoad.grad(f))]
    done = "nothing"
    for _ in range(STEPS):
        x = np.float64(POINTS[rng.integers(len(POINTS))])
        for which, fast, plain in pairs:
            yield f"{which} after a change of {done}", x, result(fast, x), result(plain, x)
        if rng.random() < 0.8:
            done, change = a.changes[rng.integers(len(a.changes))]
            change(rng)


@contextlib.contextmanager
def collections(rng: np.random.Generator) -> Iterator[None]:
    """Garbage is collected at places of its own in each trial, and in one of two often."""
    before = gc.get_threshold()
    gc.set_threshold(int(rng.integers(1, 100)) if rng.random() < 0.5 else before[0], *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def trial(rng: np.random.Generator) -> str | None:
    """One comparison. None if it is right, else what is wrong, in a line with all that is needed to repeat it."""
    a, source = made(rng)
    with warnings.catch_warnings(), np.errstate(all="ignore"), collections(rng):
        warnings.simplefilter("ignore")
        for which, x, found, wanted in calls(a, rng):
            if differs(found, wanted):
                return f"jit of {which} at {x} gives {found!r}, a plain call {wanted!r}; {source!r}"
    return None
