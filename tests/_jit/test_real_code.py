"""Small programs as packages have them: what `jit` gives, and what is written meanwhile, is as without it.

Each case makes a program: a function, what changes what it reads, and what it leaves behind. Two copies of it run side
by side, one of them jitted: before, and after each change. Those in REFUSED are called without compilation; of all
others a recording is replayed.
"""

from __future__ import annotations

import argparse
import collections
import configparser
import contextlib
import copy
import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import logging
import operator
import os
import random
import string
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest
from scipy import integrate, interpolate, sparse, stats

import hoad

Change = Callable[[], object]


class Program(NamedTuple):
    """A function of a number; what changes what it reads; what it has left behind."""

    f: Callable[[Any], Any]
    changes: tuple[Change, ...]
    kept: Callable[[], Any] = lambda: None


CASES: dict[str, Callable[[], Program]] = {}
POINTS = (1.5, 2.5, -0.5, 3.0)
NUMBER = iter(range(10_000))  # for names that are not to be used twice


def case(made: Callable[[], Program]) -> Callable[[], Program]:
    CASES[made.__name__] = made
    return made


def puts(x: Any, **values: Any) -> Change:
    """A change of attributes."""

    def change() -> None:
        for key, value in values.items():
            setattr(x, key, value)

    return change


def takes(x: Any, key: str) -> Change:
    """A change that deletes an attribute."""
    return lambda: delattr(x, key)


class Space:
    """An object with the attributes that it is given."""

    def __init__(self, **values: Any) -> None:
        vars(self).update(values)


def module_of(source: str) -> Any:
    """A module of this text."""
    module = types.ModuleType(f"real_code_{next(NUMBER)}")
    exec(compile(source, f"{module.__name__}.py", "exec"), vars(module))
    return module


# ---- counters -------------------------------------------------------------------------------------------------------


class Objective:
    """A function to be minimised, which counts its evaluations."""

    scale = 2.0

    def __init__(self) -> None:
        self.evaluations, self.rejected = 0, 0
        self.stride = 1

    def energy(self, x: Any) -> Any:
        self.evaluations += 1
        return self.scale * x**2

    def guarded(self, x: Any) -> Any:
        if x < 0:
            self.rejected += 1
            return 0.0 * x
        self.evaluations += self.stride
        return self.scale * x**2


@case
def a_counter_of_evaluations() -> Program:
    o = Objective()
    return Program(o.energy, (puts(o, scale=3.0), puts(o, evaluations=0)), lambda: o.evaluations)


@case
def a_counter_in_a_branch() -> Program:
    o = Objective()
    return Program(o.guarded, (puts(o, stride=3), puts(o, rejected=0)), lambda: (o.evaluations, o.rejected))


@case
def a_counter_of_a_derivative() -> Program:
    o = Objective()
    return Program(hoad.grad(o.energy), (puts(o, scale=3.0), puts(o, evaluations=7)), lambda: o.evaluations)


@case
def a_counter_that_is_read() -> Program:
    o: Any = Space(calls=0, limit=6)

    def f(x: Any) -> Any:
        o.calls += 1
        return x if o.calls < o.limit else -x

    return Program(f, (puts(o, calls=0), puts(o, limit=3)), lambda: o.calls)


@case
def a_counter_that_is_put_anew() -> Program:
    o: Any = Space(calls=0, rate=2.0)

    def f(x: Any) -> Any:
        o.calls = o.calls + 1
        return o.rate * x

    return Program(f, (puts(o, rate=3.0), puts(o, calls=0)), lambda: o.calls)


@case
def a_counter_of_a_counter() -> Program:
    o: Any = Space(calls=0, total=0)

    def f(x: Any) -> Any:
        o.calls += 1
        o.total += o.calls
        return 2.0 * x

    return Program(f, (puts(o, calls=10),), lambda: vars(o))


@case
def a_counter_of_a_module() -> Program:
    module = module_of("calls = 0\nrate = 2.0\n\ndef f(x):\n    global calls\n    calls += 1\n    return rate * x\n")
    return Program(module.f, (puts(module, rate=3.0), puts(module, calls=0)), lambda: module.calls)


@case
def a_counter_of_another_module() -> Program:
    module = module_of("calls = 0\n\ndef count():\n    global calls\n    calls += 1\n")

    def f(x: Any) -> Any:
        module.count()
        return 2.0 * x

    return Program(f, (puts(module, calls=5), puts(module, count=lambda: None)), lambda: module.calls)


@case
def a_counter_in_a_closure() -> Program:
    calls, rate = 0, 2.0

    def f(x: Any) -> Any:
        nonlocal calls
        calls += 1
        return rate * x

    def change() -> None:
        nonlocal rate, calls
        rate, calls = 3.0, -4

    return Program(f, (change,), lambda: calls)


@case
def a_counter_of_a_decorator() -> Program:
    rates = {"rate": 2.0}

    def counted(g: Any) -> Any:
        @functools.wraps(g)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            wrapper.calls += 1  # type: ignore[attr-defined]
            return g(*args, **kwargs)

        wrapper.calls = 0  # type: ignore[attr-defined]
        return wrapper

    @counted
    def f(x: Any) -> Any:
        return rates["rate"] * x

    return Program(f, (lambda: rates.update(rate=3.0), puts(f, calls=0)), lambda: f.calls)


class Counted:
    """A decorator that is an object."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function, self.calls = function, 0

    def __call__(self, x: Any) -> Any:
        self.calls += 1
        return self.function(x)


@case
def a_counter_of_a_decorating_object() -> Program:
    f = Counted(lambda x: 2.0 * x)
    return Program(f, (puts(f, calls=9), puts(f, function=lambda x: 3.0 * x)), lambda: f.calls)


@case
def a_counter_of_a_class() -> Program:
    class Solver:
        solved = 0
        rate = 2.0

        def solve(self, x: Any) -> Any:
            Solver.solved += 1
            return self.rate * x

    return Program(Solver().solve, (puts(Solver, rate=3.0), puts(Solver, solved=0)), lambda: Solver.solved)


@case
def a_counter_of_the_class_of_an_object() -> Program:
    class Base:
        calls = 0

        def f(self, x: Any) -> Any:
            type(self).calls += 1
            return 2.0 * x

    class Own(Base):
        pass

    return Program(Own().f, (puts(Own, calls=0), puts(Base, calls=50), takes(Own, "calls")), lambda: (Base.calls,))


@case
def a_counter_that_a_class_begins() -> Program:
    class Solver:
        calls = 0

        def f(self, x: Any) -> Any:
            self.calls += 1
            return 2.0 * x

    s = Solver()
    s.calls += 1
    return Program(s.f, (puts(s, calls=3), puts(Solver, calls=50)), lambda: (s.calls, Solver.calls))


@case
def a_counter_in_a_slot() -> Program:
    @dataclasses.dataclass(slots=True)
    class State:
        calls: int = 0
        latest: Any = None

        def f(self, x: Any) -> Any:
            self.calls += 1
            self.latest = 2.0 * x
            return 3.0 * x

    s = State()
    return Program(s.f, (puts(s, calls=7, latest=None),), lambda: (s.calls, s.latest))


@case
def a_counter_of_a_key_of_sorted() -> Program:
    o: Any = Space(compared=0, sign=1)
    data = [3.0, 1.0, 2.0]

    def key(y: float) -> float:
        o.compared += 1
        return float(o.sign * y)

    return Program(lambda x: sorted(data, key=key)[0] * x, (puts(o, sign=-1), data.pop), lambda: o.compared)


@case
def a_counter_of_steps_of_a_loop() -> Program:
    o: Any = Space(steps=0, rate=0.5)

    def f(x: Any) -> Any:
        y = x
        for _ in range(4):
            o.steps += 1
            y = y - o.rate * y
        return y

    return Program(f, (puts(o, rate=0.25), puts(o, steps=0)), lambda: o.steps)


@case
def a_depth_that_is_entered_and_left() -> Program:
    o: Any = Space(depth=0, entered=0)

    @contextlib.contextmanager
    def scope() -> Iterator[None]:
        o.depth += 1
        try:
            yield
        finally:
            o.depth -= 1
            o.entered += 1

    def f(x: Any) -> Any:
        with scope():
            return o.depth * x

    return Program(f, (puts(o, depth=3),), lambda: vars(o))


@case
def items_of_a_dict_that_count() -> Program:
    statistics: collections.Counter[str] = collections.Counter()

    def f(x: Any) -> Any:
        statistics["calls"] += 1
        return 2.0 * x

    return Program(f, (statistics.clear,), lambda: dict(statistics))


@case
def elements_of_an_array_that_count() -> Program:
    o: Any = Space(counts=np.zeros(2, int), rate=2.0)

    def f(x: Any) -> Any:
        o.counts[0] += 1
        return o.rate * x

    return Program(f, (puts(o, rate=3.0), lambda: o.counts.fill(0)), lambda: o.counts.tolist())


@case
def a_counter_that_an_error_interrupts() -> Program:
    o: Any = Space(begun=0, ended=0, limit=2.0)

    def f(x: Any) -> Any:
        o.begun += 1
        if x > o.limit:
            raise ValueError("it is too large")
        o.ended += 1
        return 2.0 * x

    return Program(f, (puts(o, limit=5.0), puts(o, limit=0.0)), lambda: vars(o))


@case
def a_counter_of_handled_errors() -> Program:
    o: Any = Space(calls=0, failed=0, factors=[2.0])

    def f(x: Any) -> Any:
        o.calls += 1
        try:
            return o.factors[1] * x
        except IndexError:
            o.failed += 1
            return x

    return Program(f, (lambda: o.factors.append(3.0), o.factors.clear), lambda: (o.calls, o.failed))


@case
def callbacks_that_count() -> Program:
    o: Any = Space(first=0, second=0)

    def count_first(_: Any) -> None:
        o.first += 1

    def count_second(_: Any) -> None:
        o.second += 1

    callbacks: list[Any] = [count_first]

    def f(x: Any) -> Any:
        for callback in callbacks:
            callback(x)
        return 2.0 * x

    return Program(f, (lambda: callbacks.append(count_second), lambda: callbacks.pop(0)), lambda: vars(o))


# ---- results that are kept ------------------------------------------------------------------------------------------


@case
def the_latest_result() -> Program:
    class Model:
        latest: Any = None
        rate = 2.0

        def f(self, x: Any) -> Any:
            y = self.rate * x**2
            self.latest = y
            return 3.0 * y

    m = Model()
    return Program(m.f, (puts(m, rate=3.0), puts(m, latest=None)), lambda: m.latest)


@case
def the_history_of_results() -> Program:
    o: Any = Space(history=[], rate=2.0)

    def f(x: Any) -> Any:
        y = o.rate * x
        o.history.append(y)
        return y

    return Program(f, (puts(o, rate=3.0), lambda: o.history.clear(), puts(o, history=[])), lambda: o.history)


@case
def a_history_that_is_read() -> Program:
    o: Any = Space(history=[])
    view = o.history

    def f(x: Any) -> Any:
        o.history.append(1.0)
        return len(view) * x

    return Program(f, (o.history.clear,), lambda: o.history)


@case
def a_history_of_arrays() -> Program:
    o: Any = Space(history=[], weights=np.array([1.0, 2.0]))

    def f(x: Any) -> Any:
        y = o.weights * x
        o.history.append(y)
        return np.sum(y)

    return Program(f, (puts(o, weights=np.ones(3)),), lambda: [y.tolist() for y in o.history])


@case
def a_record_of_several_kinds() -> Program:
    @dataclasses.dataclass
    class Recorder:
        points: list[Any] = dataclasses.field(default_factory=list)
        calls: int = 0

        def record(self, x: Any, name: str) -> None:
            self.points.append((name, x))
            self.calls += 1

    r = Recorder()

    def f(x: Any) -> Any:
        r.record(x, "x")
        r.record(x**2, "square")
        return x**3

    return Program(f, (r.points.clear, puts(r, calls=0)), lambda: (r.points, r.calls))


@case
def a_list_that_is_made_at_each_call() -> Program:
    o: Any = Space(parts=[], factors=[1.0, 2.0])

    def f(x: Any) -> Any:
        o.parts = []
        for factor in o.factors:
            o.parts.append(factor * x)
        return 2.0 * x

    return Program(f, (lambda: o.factors.append(3.0), lambda: o.parts.append(7)), lambda: o.parts)


@case
def what_is_stored_only_on_one_side_of_a_branch() -> Program:
    o: Any = Space(above=None, below=None, limit=0.0)

    def f(x: Any) -> Any:
        if x > o.limit:
            o.above = 2.0 * x
        else:
            o.below = x
        return x**2

    return Program(f, (puts(o, limit=2.0), puts(o, above=None)), lambda: vars(o))


@case
def the_least_so_far() -> Program:
    o: Any = Space(least=np.inf, calls=0)

    def f(x: Any) -> Any:
        o.calls += 1
        y = (x - 1.0) ** 2
        if y < o.least:
            o.least = y
        return y

    return Program(f, (puts(o, least=np.inf), puts(o, least=-1.0)), lambda: vars(o))


@case
def a_running_mean() -> Program:
    o: Any = Space(mean=0.0, calls=0)

    def f(x: Any) -> Any:
        o.calls += 1
        o.mean = o.mean + (x - o.mean) / o.calls
        return 2.0 * x

    return Program(f, (puts(o, mean=0.0, calls=0),), lambda: vars(o))


@case
def the_last_point_and_its_value() -> Program:
    o: Any = Space(point=None, result=None, hits=0)

    def f(x: Any) -> Any:
        if o.point is not None and o.point == x:
            o.hits += 1
            return o.result
        o.point, o.result = x, x**2
        return o.result

    return Program(f, (puts(o, point=1.5, result=-1.0),), lambda: vars(o))


@case
def a_flag_that_is_set() -> Program:
    o: Any = Space(used=False, note="")

    def f(x: Any) -> Any:
        o.used, o.note = True, "used"
        return 2.0 * x

    return Program(f, (puts(o, used=False), puts(o, note=None)), lambda: vars(o))


# ---- caches ---------------------------------------------------------------------------------------------------------


@case
def a_table_that_is_built_when_it_is_needed() -> Program:
    class Basis:
        size = 3
        table: Any = None
        built = 0

        def f(self, x: Any) -> Any:
            if self.table is None:
                self.table = np.arange(1.0, self.size + 1.0)
                self.built += 1
            return np.sum(self.table) * x

    b = Basis()
    return Program(b.f, (puts(b, size=4), puts(b, table=None)), lambda: b.built)


@case
def a_cached_property() -> Program:
    class Grid:
        step = 0.5

        @functools.cached_property
        def weights(self) -> Any:
            return np.full(3, self.step)

        def f(self, x: Any) -> Any:
            return np.sum(self.weights) * x

    g = Grid()
    return Program(g.f, (puts(g, step=0.25), lambda: vars(g).pop("weights")), lambda: g.weights.tolist())


@case
def a_function_with_a_cache() -> Program:
    rates = [2.0]

    @functools.cache
    def power(n: int) -> float:
        return rates[0] ** n

    return Program(lambda x: power(3) * x, (lambda: rates.__setitem__(0, 3.0), power.cache_clear))


@case
def a_dict_as_a_cache() -> Program:
    cache: dict[str, float] = {}
    o: Any = Space(rate=2.0)

    def f(x: Any) -> Any:
        if "rate" not in cache:
            cache["rate"] = o.rate
        return cache["rate"] * x

    return Program(f, (puts(o, rate=3.0), cache.clear, lambda: cache.update(rate=7.0)), lambda: cache)


@case
def a_singleton() -> Program:
    class Registry:
        only: ClassVar[Any] = None

        def __new__(cls) -> Any:
            if cls.only is None:
                cls.only = object.__new__(cls)
                cls.only.calls = 0
            return cls.only

    def f(x: Any) -> Any:
        Registry().calls += 1
        return 2.0 * x

    return Program(f, (puts(Registry, only=None),), lambda: getattr(Registry.only, "calls", None))


# ---- loggers, settings, registries ----------------------------------------------------------------------------------


@case
def a_logger_that_is_asked_for_its_level() -> Program:
    logger = logging.getLogger(f"real_code_{next(NUMBER)}.solver")
    above = logging.getLogger(logger.name.partition(".")[0])

    def f(x: Any) -> Any:
        logger.debug("at a point")
        return 2.0 * x if logger.isEnabledFor(logging.DEBUG) else x

    changes = (lambda: logger.setLevel(logging.DEBUG), lambda: logger.setLevel(logging.ERROR))
    return Program(f, (lambda: above.setLevel(logging.DEBUG), *changes))


@case
def a_logger_of_an_object() -> Program:
    o: Any = Space(logger=logging.getLogger(f"real_code_{next(NUMBER)}"), calls=0, rate=2.0)

    def f(x: Any) -> Any:
        o.calls += 1
        o.logger.debug("call %d", 1)
        return o.rate * x

    return Program(f, (lambda: o.logger.setLevel(logging.ERROR), puts(o, rate=3.0)), lambda: o.calls)


@case
def options_with_defaults() -> Program:
    options: dict[str, Any] = {}
    change = functools.partial(options.update, rate=3.0)
    return Program(lambda x: options.get("rate", 1.0) * x, (change, options.clear))


@case
def layers_of_options() -> Program:
    own: dict[str, float] = {}
    common = {"rate": 2.0}
    both = collections.ChainMap(own, common)
    changes = (functools.partial(own.update, rate=3.0), own.clear, functools.partial(common.update, rate=5.0))
    return Program(lambda x: both["rate"] * x, changes)


@case
def a_parsed_configuration() -> Program:
    parser = configparser.ConfigParser()
    parser.read_string("[model]\nrate = 2.0\n")
    return Program(lambda x: parser.getfloat("model", "rate") * x, (lambda: parser.set("model", "rate", "3.0"),))


@case
def parsed_arguments() -> Program:
    arguments = argparse.Namespace(rate=2.0, verbose=False)

    def f(x: Any) -> Any:
        return -arguments.rate * x if arguments.verbose else arguments.rate * x

    return Program(f, (puts(arguments, rate=3.0), puts(arguments, verbose=True)))


@case
def a_variable_of_the_environment() -> Program:
    name = f"REAL_CODE_{next(NUMBER)}"
    os.environ[name] = "2.0"
    return Program(lambda x: float(os.environ[name]) * x, (lambda: os.environ.update({name: "3.0"}),))


@case
def what_is_read_from_the_environment_only_where_it_is_allowed() -> Program:
    o: Any = Space(allowed=True)
    name = f"REAL_CODE_{next(NUMBER)}"
    os.environ[name] = "2.0"

    def f(x: Any) -> Any:
        return float(os.environ[name]) * x if o.allowed else x

    changes = (puts(o, allowed=False), lambda: os.environ.update({name: "3.0"}), puts(o, allowed=True))
    return Program(f, changes)


@case
def plugins_that_register_themselves() -> Program:
    class Term:
        known: ClassVar[dict[str, Any]] = {}

        def __init_subclass__(cls, **kwargs: Any) -> None:
            Term.known[cls.__name__] = cls

        def energy(self, x: Any) -> Any:
            return x

    class Spring(Term):
        stiffness = 2.0

        def energy(self, x: Any) -> Any:
            return self.stiffness * x**2

    def change() -> None:
        class Weight(Term):
            pass

    def f(x: Any) -> Any:
        return sum(made().energy(x) for made in Term.known.values())

    changes = (change, puts(Spring, stiffness=3.0), lambda: Term.known.pop("Spring"))
    return Program(f, changes)


@case
def functions_in_a_table() -> Program:
    table: dict[str, Callable[[Any], Any]] = {"square": lambda x: x**2, "sine": np.sin}
    o: Any = Space(kind="square")
    changes = (puts(o, kind="sine"), lambda: table.update(sine=np.cos), puts(o, kind="square"))
    return Program(lambda x: table[o.kind](x), changes)


@case
def a_chain_of_functions() -> Program:
    chain: list[Callable[[Any], Any]] = [lambda y: 2.0 * y, lambda y: y + 1.0]
    changes = (lambda: chain.append(np.tanh), chain.reverse, chain.clear)
    return Program(lambda x: functools.reduce(lambda y, g: g(y), chain, x), changes)


@case
def members_of_an_enum() -> Program:
    class Kind(enum.Enum):
        SOFT = 1.0
        HARD = 2.0

    o: Any = Space(kind=Kind.SOFT)
    factors = {Kind.SOFT: 2.0, Kind.HARD: 3.0}

    def f(x: Any) -> Any:
        return factors[o.kind] * x + (1.0 if o.kind is Kind.SOFT else o.kind.value)

    return Program(f, (puts(o, kind=Kind.HARD), lambda: factors.update({Kind.HARD: 7.0})))


# ---- random generators ----------------------------------------------------------------------------------------------


@case
def a_generator_that_is_not_used() -> Program:
    o: Any = Space(generator=np.random.default_rng(1), draws=random.Random(1), rate=2.0)

    def f(x: Any) -> Any:
        return o.rate * x

    changes = (o.generator.normal, o.draws.random, puts(o, generator=np.random.RandomState(2)), puts(o, rate=3.0))
    return Program(f, changes, lambda: o.draws.getstate())


@case
def a_generator_that_is_used_later() -> Program:
    o: Any = Space(generator=np.random.default_rng(1), noise=0.0, calls=0)

    def f(x: Any) -> Any:
        o.calls += 1
        return x + o.noise * o.generator.normal() if o.noise else 2.0 * x

    changes = (puts(o, noise=1.0), puts(o, noise=0.0))
    return Program(f, changes, lambda: (o.calls, o.generator.bit_generator.state["state"]["state"]))


@case
def a_generator_on_one_side_of_a_branch() -> Program:
    o: Any = Space(draws=random.Random(1))

    def f(x: Any) -> Any:
        return x + o.draws.random() if x < 0 else 2.0 * x

    return Program(f, (lambda: o.draws.seed(5),), lambda: o.draws.getstate())


# ---- classes and attributes -----------------------------------------------------------------------------------------


@case
def a_property_with_a_unit() -> Program:
    class Length:
        unit = 1000.0

        def __init__(self) -> None:
            self._metres = 2.0

        @property
        def millimetres(self) -> float:
            return self._metres * self.unit

    n = Length()
    changes = (puts(n, _metres=3.0), puts(Length, unit=100.0), puts(Length, millimetres=property(lambda self: 7.0)))
    return Program(lambda x: n.millimetres * x, changes)


@case
def a_descriptor() -> Program:
    class Scaled:
        def __init__(self, factor: float) -> None:
            self.factor = factor

        def __get__(self, held: Any, owner: Any = None) -> float:
            return float(self.factor * held.size)

    class Box:
        width = Scaled(2.0)
        size = 1.0

    b = Box()
    changes = (puts(b, size=3.0), lambda: setattr(vars(Box)["width"], "factor", 5.0), lambda: vars(b).update(width=7.0))
    return Program(lambda x: b.width * x, changes)


@case
def an_attribute_that_hides_that_of_the_class() -> Program:
    class Model:
        rate = 2.0

    m = Model()
    return Program(lambda x: m.rate * x, (puts(m, rate=3.0), takes(m, "rate"), puts(Model, rate=5.0)))


@case
def a_method_that_is_replaced() -> Program:
    class Base:
        def force(self, x: Any) -> Any:
            return -x

    class Own(Base):
        pass

    held = Own()
    changes = (
        puts(Base, force=lambda self, x: -2.0 * x),
        puts(Own, force=lambda self, x: -3.0 * x),
        puts(held, force=lambda x: -4.0 * x),
        takes(held, "force"),
    )
    return Program(lambda x: held.force(x), changes)


@case
def a_method_that_extends_that_of_its_base() -> Program:
    class Base:
        offset = 1.0

        def f(self, x: Any) -> Any:
            return x + self.offset

    class Own(Base):
        def f(self, x: Any) -> Any:
            return 2.0 * super().f(x)

    changes = (puts(Base, offset=2.0), puts(Base, f=lambda self, x: x - self.offset), puts(Own, offset=5.0))
    return Program(Own().f, changes)


@case
def an_object_that_passes_questions_on() -> Program:
    class Proxy:
        def __init__(self, target: Any) -> None:
            self.target = target

        def __getattr__(self, name: str) -> Any:
            return getattr(self.target, name)

    target: Any = Space(rate=2.0)
    p = Proxy(target)
    return Program(lambda x: p.rate * x, (puts(target, rate=3.0), puts(p, target=Space(rate=5.0)), puts(p, rate=7.0)))


@case
def an_attribute_that_may_be_missing() -> Program:
    o: Any = Space()

    def f(x: Any) -> Any:
        try:
            return o.rate * x
        except AttributeError:
            return x

    return Program(f, (puts(o, rate=3.0), takes(o, "rate"), puts(o, rate=5.0)))


@case
def an_attribute_that_is_asked_for() -> Program:
    o: Any = Space()

    def f(x: Any) -> Any:
        return o.scale * x if hasattr(o, "scale") else getattr(o, "other", 1.0) * x

    return Program(f, (puts(o, other=2.0), puts(o, scale=3.0), takes(o, "scale")))


@case
def the_class_of_an_object() -> Program:
    class Spring:
        def energy(self, x: Any) -> Any:
            return x**2

    class Stiff(Spring):
        def energy(self, x: Any) -> Any:
            return 3.0 * x**2

    s = Spring()

    def f(x: Any) -> Any:
        return s.energy(x) + (1.0 if isinstance(s, Stiff) else 0.0)

    return Program(f, (puts(s, __class__=Stiff), puts(s, __class__=Spring)))


@case
def the_property_of_a_metaclass() -> Program:
    class Meta(type):
        own: float

        @property
        def rate(cls) -> float:
            return cls.own

    class Model(metaclass=Meta):
        own = 2.0

    changes = (puts(Model, own=3.0), puts(Meta, rate=property(lambda cls: 7.0)))
    return Program(lambda x: Model.rate * x, changes)


@case
def methods_with_arguments_that_are_given() -> Program:
    class Model:
        rate = 2.0

        def scaled(self, factor: float, x: Any) -> Any:
            return factor * self.rate * x

        doubled = functools.partialmethod(scaled, 2.0)

    m = Model()
    changes = (puts(Model, rate=3.0), puts(Model, doubled=functools.partialmethod(Model.scaled, 4.0)))
    return Program(lambda x: m.doubled(x), changes)


@case
def arguments_that_are_given_beforehand() -> Program:
    p = functools.partial(lambda x, rate: rate * x, rate=2.0)
    return Program(lambda x: p(x), (lambda: p.keywords.update(rate=3.0),))


@case
def a_default_that_is_a_list() -> Program:
    def f(x: Any, rates: list[float] = [2.0]) -> Any:  # noqa: B006
        return rates[0] * x

    assert f.__defaults__ is not None
    rates = f.__defaults__[0]
    return Program(f, (lambda: rates.__setitem__(0, 3.0), lambda: setattr(f, "__defaults__", ([5.0],))))


@case
def names_of_attributes_as_text() -> Program:
    o: Any = Space(rate=2.0, label="two")
    rate_of = operator.attrgetter("rate")

    def f(x: Any) -> Any:
        return rate_of(o) * x * len(string.capwords(o.label))

    return Program(f, (puts(o, rate=3.0), puts(o, label="three")))


@case
def dataclasses_that_are_copied() -> Program:
    @dataclasses.dataclass
    class Settings:
        rate: float = 2.0
        offset: float = 1.0
        deep: dict[str, list[float]] = dataclasses.field(default_factory=lambda: {"list": [1.0]})

    s = Settings()

    def f(x: Any) -> Any:
        other = dataclasses.replace(s, rate=3.0)
        deep = copy.deepcopy(s).deep["list"][0]
        return other.rate * x + other.offset + deep + dataclasses.asdict(s)["rate"]

    return Program(f, (puts(s, offset=5.0), puts(s, rate=7.0), lambda: s.deep["list"].__setitem__(0, 9.0)))


@case
def a_frozen_dataclass() -> Program:
    @dataclasses.dataclass(frozen=True)
    class Point:
        x: float = 1.0
        y: float = 2.0

    o: Any = Space(point=Point())
    change = lambda: setattr(o, "point", dataclasses.replace(o.point, y=5.0))  # noqa: E731
    return Program(lambda x: o.point.y * x + (1.0 if o.point == Point() else 0.0), (change, puts(o, point=Point())))


class Pair(NamedTuple):
    first: float
    second: float


@case
def a_named_tuple() -> Program:
    o: Any = Space(pair=Pair(1.0, 2.0))

    def f(x: Any) -> Any:
        return o.pair._replace(first=3.0).second * x + sum(o.pair._asdict().values())

    return Program(f, (puts(o, pair=Pair(1.0, 5.0)), puts(o, pair=Pair(4.0, 5.0))))


# ---- numbers, arrays and what holds them ----------------------------------------------------------------------------


class Frame:
    """Columns of numbers, by name."""

    def __init__(self, **columns: Any) -> None:
        self.columns = {key: np.asarray(value, float) for key, value in columns.items()}

    def __getitem__(self, key: str) -> Any:
        return self.columns[key]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def mean(self, key: str) -> Any:
        return np.sum(self[key]) / len(self)


@case
def a_frame_of_numbers() -> Program:
    frame = Frame(mass=[1.0, 2.0, 3.0], weight=[0.5, 0.25, 0.25])

    def f(x: Any) -> Any:
        return np.sum(frame["mass"] * frame["weight"]) * x + frame.mean("mass")

    def grow() -> None:
        for key, column in frame.columns.items():
            frame.columns[key] = np.append(column, 1.0)

    changes = (lambda: frame["mass"].__setitem__(1, 7.0), grow, lambda: frame.columns.update(mass=np.ones(4)))
    return Program(f, changes)


@case
def an_array_with_named_fields() -> Program:
    table = np.zeros(2, dtype=[("mass", float), ("count", int)])
    table["mass"] = [1.0, 2.0]
    changes = (lambda: table["mass"].__setitem__(0, 5.0), lambda: table["count"].__setitem__(1, 3))
    return Program(lambda x: np.sum(table["mass"]) * x + table["count"][1], changes)


@case
def a_buffer_that_is_filled() -> Program:
    o: Any = Space(buffer=np.zeros(3), rate=2.0)

    def f(x: Any) -> Any:
        np.multiply(np.ones(3), o.rate, out=o.buffer)
        return np.sum(o.buffer) * x

    return Program(f, (lambda: o.buffer.fill(7.0), puts(o, rate=3.0)), lambda: o.buffer.tolist())


@case
def a_polynomial() -> Program:
    p = np.polynomial.Polynomial([1.0, 2.0])
    return Program(lambda x: p(x), (lambda: p.coef.__setitem__(0, 5.0), puts(p, coef=np.ones(3))))


@case
def a_sparse_matrix() -> Program:
    matrix = sparse.csr_matrix(np.eye(2))
    return Program(lambda x: (matrix @ np.ones(2))[0] * x, (lambda: matrix.data.__setitem__(0, 5.0),))


@case
def a_spline() -> Program:
    spline = interpolate.CubicSpline([0.0, 1.0, 2.0], [0.0, 1.0, 4.0])
    return Program(lambda x: float(spline(0.5)) * x, (lambda: spline.c.__setitem__((0, 0), 5.0),))


@case
def a_distribution() -> Program:
    law = stats.norm(1.0, 2.0)
    return Program(lambda x: law.mean() * x, (puts(law, args=(4.0, 2.0)),))


@case
def an_integral() -> Program:
    o: Any = Space(rate=2.0, calls=0)

    def integrand(t: float) -> float:
        o.calls += 1
        return float(o.rate * t)

    return Program(lambda x: integrate.quad(integrand, 0.0, 1.0)[0] * x, (puts(o, rate=3.0),), lambda: o.calls)


@case
def a_function_over_an_array() -> Program:
    o: Any = Space(rate=2.0)
    over = np.vectorize(lambda t: o.rate * t)
    return Program(lambda x: np.sum(over(np.arange(3.0))) * x, (puts(o, rate=3.0),))


@case
def exact_numbers() -> Program:
    o: Any = Space(share=fractions.Fraction(1, 2), price=decimal.Decimal("1.5"), time=datetime.timedelta(seconds=3))

    def f(x: Any) -> Any:
        return float(o.share) * float(o.price) * o.time.total_seconds() * x

    changes = (puts(o, share=fractions.Fraction(1, 4)), puts(o, price=decimal.Decimal(3)))
    return Program(f, (*changes, puts(o, time=datetime.timedelta(seconds=4))))


@case
def a_module_that_is_loaded_anew() -> Program:
    name = f"real_code_{next(NUMBER)}"
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].rate = 2.0  # type: ignore[attr-defined]
    space: dict[str, Any] = {}
    exec(compile(f"def f(x):\n    from {name} import rate\n    return rate * x\n", f"{name}_user.py", "exec"), space)

    def reload() -> None:
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].rate = 5.0  # type: ignore[attr-defined]

    return Program(space["f"], (puts(sys.modules[name], rate=3.0), reload))


@case
def functions_within_functions() -> Program:
    rate = 2.0

    def terms(x: Any) -> Iterator[Any]:
        for k in range(3):
            yield rate * k * x

    def factory() -> Callable[[Any], Any]:
        return lambda x: sum(terms(x))

    f = factory()

    def change() -> None:
        nonlocal rate
        rate = 3.0

    return Program(f, (change,))


@case
def a_function_that_calls_itself() -> Program:
    o: Any = Space(depth=3, calls=0)

    def nested(x: Any, k: int) -> Any:
        o.calls += 1
        return x if k == 0 else np.sin(nested(x, k - 1))

    return Program(lambda x: nested(x, o.depth), (puts(o, depth=5), puts(o, calls=0)), lambda: o.calls)


# ---- what is checked ------------------------------------------------------------------------------------------------

# These change what they read, draw random numbers, read the environment or ask for any name, at some time.
REFUSED = frozenset(
    """a_counter_that_is_read a_counter_of_a_counter
    elements_of_an_array_that_count a_history_that_is_read a_running_mean the_last_point_and_its_value
    a_cached_property the_least_so_far a_buffer_that_is_filled
    an_object_that_passes_questions_on a_variable_of_the_environment
    what_is_read_from_the_environment_only_where_it_is_allowed
    a_generator_that_is_used_later a_generator_on_one_side_of_a_branch""".split()
)


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    """Takes away what cases have put into the environment and among the modules."""
    yield
    for key in [key for key in os.environ if key.startswith("REAL_CODE_")]:
        del os.environ[key]
    for key in [key for key in sys.modules if key.startswith("real_code_")]:
        del sys.modules[key]


def call(f: Callable[[Any], Any], x: float) -> Any:
    """What a call gives, or the class of what it raises."""
    try:
        return f(x)
    except (ValueError, IndexError) as error:
        return type(error)


def check_alike(found: Any, wanted: Any) -> None:
    """Raise where two values differ, but for rounding, or their classes do, but for NumPy's numbers."""
    if isinstance(wanted, float):
        assert isinstance(found, float)
        np.testing.assert_allclose(found, wanted, rtol=1e-14)
        return
    assert type(found) is type(wanted)
    if isinstance(wanted, dict):
        check_alike(list(found.items()), list(wanted.items()))
    elif isinstance(wanted, (list, tuple)):
        assert len(found) == len(wanted)
        for x, y in zip(found, wanted, strict=True):
            check_alike(x, y)
    else:
        assert found == wanted


@pytest.mark.parametrize("name", CASES)
def test_a_program_does_what_it_does_without_jit(name: str) -> None:
    program, other = CASES[name](), CASES[name]()
    jitted = hoad.jit(program.f)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if name in REFUSED else "error", hoad.JitWarning)
        check_calls(jitted, program, other)
        for change, same in zip(program.changes, other.changes, strict=True):
            change()
            same()
            check_calls(jitted, program, other)
    if name not in REFUSED:
        assert sum(len(signature.recorded) for signature in jitted.signatures) > 0


def check_calls(jitted: Callable[[Any], Any], program: Program, other: Program) -> None:
    for x in POINTS * 2:
        check_alike(call(jitted, x), call(other.f, x))
        check_alike(program.kept(), other.kept())


@pytest.mark.parametrize("name", CASES)
def test_the_changes_of_a_program_change_something(name: str) -> None:
    """Or the case would say nothing of what is stale: a result is another, or what is left behind."""
    program, other = CASES[name](), CASES[name]()
    found: list[Any] = []
    wanted: list[Any] = []
    for change in (None, *program.changes):
        if change is not None:
            change()
        for p, results in ((program, found), (other, wanted)):
            results.append([repr(p.kept()), *(repr((call(p.f, x), p.kept())) for x in POINTS)])
    assert found[0] == wanted[0]
    assert found != wanted
