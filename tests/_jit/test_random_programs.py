"""Programs made at random: what `jit` gives, and what the program leaves behind, is what a plain call does.

A program is the text of a small module: a class with attributes, counters, lists and stored results, a class that it
derives from, helpers, globals, and two functions that share all of these and some variables. Two copies of the module
run side by side, the functions of one of them jitted, at the same numbers, and are changed in the same way between
calls.
"""

from __future__ import annotations

import collections
import pickle
import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hoad

SEEDS = [*range(60), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(60, 120))]
POINTS = (1.5, -0.5, 2.0)
CHANGES = 4  # of each program, with calls at all points after each

HEAD = """
import collections

import numpy as np

RATE = 1.5
COUNT = 0
LATEST = 0.0
TABLE = {"scale": 2.0, "deep": {"list": [1.0, 2.0]}}
WEIGHTS = np.array([0.5, 1.0, 2.0])


def helper(y, power=2):
    return RATE * y**power


def other_helper(y, power=3):
    return y - power


class Part:
    gain = 1.25

    def __init__(self):
        self.rate = 0.5
        self.uses = 0

    def apply(self, y):
        self.uses += 1
        self.calls = 0
        self.calls += 1
        return self.gain * y + self.rate


class Base:
    total = 0
    offset = 0.25

    def shifted(self, y):
        return y + self.offset

    def twice(self, y):
        return 2.0 * y


class Model(Base):
    def __init__(self):
        self.a, self.b = 2.0, -1.0
        self.calls, self.steps, self.stride = 0, 10, 2
        self.last = None
        self.mode = "fast"
        self.history, self.other = [], []
        self.part = Part()
        self.options = {"on": True, "factor": 3.0}
        self.rng = np.random.default_rng(3)
        self.elapsed, self.cost, self.step = 0.0, 0.5, 0.1
        self.stats = {"n": 0, "kept": 1.0}
        self.words = collections.Counter()
        self.recent = collections.deque(maxlen=3)

    def count(self, key):
        self.stats[key] = self.stats.get(key, 0) + 1

    @property
    def sum_of_both(self):
        return self.a + self.b

    def shifted(self, y):
        return super().shifted(y) * self.a
"""

TAIL = """

def made(model):
    inner = 2.0
    seen = 0

    def set_inner(value):
        nonlocal inner
        inner = value

    def f(x):
        global COUNT, LATEST
        nonlocal seen
        y = 1.0 * x
{body}
        return y

    def g(x):
        global COUNT, LATEST
        nonlocal seen
        y = x + 0.0
{other}
        return y

    return [f, g], set_inner, lambda: seen
"""

VALUES = (
    "model.a",
    "model.b",
    "model.sum_of_both",
    "model.part.rate",
    "model.part.gain",
    "model.offset",
    "RATE",
    "inner",
    "TABLE['scale']",
    "TABLE['deep']['list'][1]",
    "model.options['factor']",
    "model.options.get('more', 0.5)",
    "np.sum(WEIGHTS)",
    "float(model.stride)",
    "0.75",
    "model.rng.normal()",
    "model.rng.uniform(-1.0, model.b)",
    "np.sum(model.rng.random(3) * WEIGHTS[0])",
)
QUESTIONS = (
    "y > 0.3",
    "model.a > 1.0",
    "model.options['on']",
    "model.mode == 'fast'",
    "'more' in model.options",
    "len(TABLE) > 2",
    "model.part is not None",
    "RATE > 1.0",
    "model.mode == 'fast' or model.rng.random() < 0.5",
)
CALLS = (
    "helper({y})",
    "helper({y}, power=1)",
    "model.part.apply({y})",
    "model.shifted({y})",
    "model.twice({y})",
    "np.sin({y})",
    "sum(w * {y} for w in TABLE['deep']['list'])",
)
WRITES = (
    "model.calls += 1",
    "model.calls += model.stride",
    "model.steps -= 1",
    "model.last = {e}",
    "model.last = ({e}, 'text', 1)",
    "model.mode = 'fast'",
    "model.mode = 'slow'",
    "model.history.append({e})",
    "model.history.append(1)",
    "model.other.append([{e}])",
    "model.other.append('text')",
    "model.other.append(model.a)",
    "model.note = x",
    "model.kept = [{e}, 1]",
    "COUNT += 1",
    "COUNT -= 2",
    "LATEST = {e}",
    "LATEST = RATE",
    "seen += 1",
    "model.part.uses += 3",
    "model.last = model.rng.normal(size=2)",
    "model.calls = model.calls + 1",
    "model.elapsed += model.step",
    "model.elapsed += 0.3",
    "model.cost += y",
    "model.cost -= 1.0",
    "model.stats['n'] += 1",
    "model.stats['n'] = model.stats['n'] + model.stride",
    "model.stats['last'] = {e}",
    "model.stats['kept'] = model.a",
    "model.count('m')",
    "model.words[model.mode] += 1",
    "model.recent.append({e})",
    "model.recent.append(1)",
    "model.history.extend([{e}, 2])",
    "model.other += [{e}]",
    "Part().apply(y)",
)
READS_OF_WRITTEN = (  # a function with one of these is called as it is, or recorded for each value
    "y = y + model.calls",
    "y = y * len(model.history)",
    "y = y + COUNT",
    "y = y + (seen if seen < 4 else 0)",
    "model.a = model.a + 1.0",
    "model.options['factor'] = 4.0",
    "model.steps = model.steps + 1",
    "TABLE['new'] = 5.0",
    "y = y + model.elapsed",
    "model.cost = 0.5 * model.cost",
    "y = y + model.stats['n']",
    "y = y + model.stats.get('m', 0)",
    "y = y * len(model.stats)",
    "y = y + sum(model.words.values())",
    "y = y + (model.recent[0] if model.recent else 1.0)",
    "kept = model.stats; kept['n'] += 1; y = y + len(kept)",
    "model.stats['last'] = y; y = 2.0 * model.stats['last']",
    "y = y + model.stats.pop('last', 0.5)",
    "model.stats = {'n': 1, 'kept': 2.0}",
    "model.recent.appendleft(y)",
    "y = y + (0.0 if model.last is None else 1.0)",
)
CHANGING: dict[str, Callable[[dict[str, Any]], object]] = {
    "an attribute": lambda m: setattr(m["model"], "a", m["model"].a + 1.5),
    "an attribute changes its sign": lambda m: setattr(m["model"], "b", -m["model"].b),
    "a counter is reset": lambda m: setattr(m["model"], "calls", 0),
    "a stride": lambda m: setattr(m["model"], "stride", m["model"].stride + 1),
    "a mode": lambda m: setattr(m["model"], "mode", "slow" if m["model"].mode == "fast" else "fast"),
    "a list is emptied": lambda m: m["model"].history.clear(),
    "a list is another": lambda m: setattr(m["model"], "history", [7.0]),
    "an option": lambda m: m["model"].options.update(on=not m["model"].options["on"]),
    "one more option": lambda m: m["model"].options.update(more=1.25),
    "one option less": lambda m: m["model"].options.pop("more", None),
    "a factor": lambda m: m["model"].options.update(factor=0.5),
    "another part": lambda m: setattr(m["model"], "part", m["Part"]()),
    "an attribute of a part": lambda m: setattr(m["model"].part, "rate", 4.0),
    "an attribute that hides that of the class": lambda m: setattr(m["model"].part, "gain", 0.125),
    "an attribute of a class": lambda m: setattr(m["Part"], "gain", 3.5),
    "an attribute of a base class": lambda m: setattr(m["Base"], "offset", -2.5),
    "an attribute of the class itself": lambda m: setattr(m["Model"], "offset", 1.75),
    "a method of a base class": lambda m: setattr(m["Base"], "shifted", lambda self, y: y - self.offset),
    "a method of the class": lambda m: setattr(m["Model"], "twice", lambda self, y: 3.0 * y),
    "a method of the object": lambda m: setattr(m["model"], "twice", lambda y: 5.0 * y),
    "a global": lambda m: m.update(RATE=m["RATE"] - 0.75),
    "a global counter": lambda m: m.update(COUNT=100),
    "a function": lambda m: m.update(helper=m["other_helper"]),
    "a default": lambda m: setattr(m["helper"], "__defaults__", (1,)),
    "an item": lambda m: m["TABLE"].update(scale=0.25),
    "an item deep within": lambda m: m["TABLE"]["deep"]["list"].append(0.5),
    "an array in place": lambda m: m["WEIGHTS"].__setitem__(0, m["WEIGHTS"][0] + 1.0),
    "another array": lambda m: m.update(WEIGHTS=np.array([1.0, -1.0])),
    "a variable of the function around": lambda m: m["set_inner"](-0.5),
    "a generator is drawn from": lambda m: m["model"].rng.normal(),
    "another generator": lambda m: setattr(m["model"], "rng", np.random.RandomState(7)),
    "a sum": lambda m: setattr(m["model"], "elapsed", 1e16),
    "a sum of results": lambda m: setattr(m["model"], "cost", 0),
    "a step": lambda m: setattr(m["model"], "step", 0.7),
    "a count among items": lambda m: m["model"].stats.update(n=5),
    "an item of its own": lambda m: m["model"].stats.update(kept=3.5),
    "an item more": lambda m: m["model"].stats.update(last=-1.0, other=0),
    "items in another order": lambda m: setattr(m["model"], "stats", {"kept": 0.5, "n": 2}),
    "no words": lambda m: m["model"].words.clear(),
    "recent ones": lambda m: m["model"].recent.extend([1, 1]),
    "none that are recent": lambda m: m["model"].recent.clear(),
    "what was stored last": lambda m: setattr(m["model"], "last", None),
}


class Author:
    """Writes the body of a program."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def body(self) -> str:
        reads = self.random.random() < 0.3
        lines = [line for _ in range(self.random.randint(3, 7)) for line in self.statement(2, reads)]
        return "\n".join(f"        {line}" for line in lines)

    def expression(self) -> str:
        pick = self.random.choice
        if self.random.random() < 0.4:
            return pick(CALLS).format(y="y")
        return f"y {pick('+-*')} {pick(VALUES)}"

    def statement(self, depth: int, reads: bool) -> list[str]:
        kind = self.random.random()
        if kind < 0.3 or depth == 0:
            return [f"y = {self.expression()}"]
        if kind < 0.7:
            return [self.random.choice(WRITES).format(e=self.expression())]
        if kind < 0.76 and reads:
            return [self.random.choice(READS_OF_WRITTEN)]
        within = [f"    {line}" for line in self.statement(depth - 1, reads)]
        if kind < 0.9:
            otherwise = [f"    {line}" for line in self.statement(depth - 1, reads)]
            return [f"if {self.random.choice(QUESTIONS)}:", *within, "else:", *otherwise]
        if kind < 0.95:
            return ["for _ in range(2):", *within]
        return ["try:", *within, "finally:", "    model.steps += 1"]

    def changes(self) -> list[str]:
        return self.random.sample(list(CHANGING), CHANGES)


def copy_of(source: str) -> dict[str, Any]:
    """A module of this text, with a model and the functions of it."""
    module: dict[str, Any] = {"__name__": "random_program"}
    exec(compile(source, "random_program.py", "exec"), module)
    module["model"] = module["Model"]()
    module["functions"], module["set_inner"], module["seen"] = module["made"](module["model"])
    return module


def left_behind(module: dict[str, Any]) -> dict[str, Any]:
    """What calls have written by now."""
    model = module["model"]
    found = {key: value for key, value in vars(model).items() if key not in ("part", "twice", "rng")}
    globals_ = {key: module[key] for key in ("COUNT", "LATEST", "TABLE", "RATE")}
    state = model.rng.get_state() if hasattr(model.rng, "get_state") else model.rng.bit_generator.state
    return {
        **found,
        **globals_,
        "uses": model.part.uses,
        "drawn": pickle.dumps(state),
        "seen": module["seen"](),
        "total": module["Base"].total,
    }


def check_alike(found: Any, wanted: Any, what: str) -> None:
    """Raise where two values differ, but for rounding, or their classes do, but for NumPy's numbers."""
    if isinstance(wanted, float):
        assert isinstance(found, float), what
        if found == wanted:  # as nearly all are; what follows takes longer than the programs
            return
        np.testing.assert_allclose(found, wanted, rtol=1e-13, err_msg=what)
        return
    assert type(found) is type(wanted), what
    if isinstance(wanted, collections.deque):
        assert found.maxlen == wanted.maxlen, what
        found, wanted = list(found), list(wanted)
    if isinstance(wanted, np.ndarray):
        np.testing.assert_allclose(found, wanted, rtol=1e-13, err_msg=what)
    elif isinstance(wanted, dict):
        assert list(found) == list(wanted), what
        for key in wanted:
            check_alike(found[key], wanted[key], f"{what}, {key}")
    elif isinstance(wanted, (list, tuple)):
        assert len(found) == len(wanted), what
        for k, (x, y) in enumerate(zip(found, wanted, strict=True)):
            check_alike(x, y, f"{what}, {k}")
    else:
        assert found == wanted, what


@pytest.mark.parametrize("seed", SEEDS)
def test_a_program_does_what_it_does_without_jit(seed: int) -> None:
    author = Author(seed)
    source = HEAD + TAIL.format(body=author.body(), other=author.body())
    one, other = copy_of(source), copy_of(source)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hoad.JitWarning)
        pairs = [(hoad.jit(f), g) for f, g in zip(one["functions"], other["functions"], strict=True)]
        for change in ["nothing", "nothing", *author.changes()]:
            if change != "nothing":
                CHANGING[change](one)
                CHANGING[change](other)
            for x in POINTS:
                what = f"seed {seed}, at {x}, after a change of {change}, in:\n{source[len(HEAD) :]}\n"
                for jitted, plain in pairs:
                    check_alike(jitted(x), plain(x), what)
                    check_alike(left_behind(one), left_behind(other), what)
