"""Objects of Python's library and NumPy's that functions read: replayed, and never stale."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from _jit.text_programs import Row, check

import hoad

ROWS: dict[str, Row] = {
    "the inverse of ravel": Row(
        "tree = {'a': 1.0, 'b': np.ones(3), 'steps': 2}; v, unravel = hoad.ravel(tree)",
        "t = unravel(x * v); return t['a'] * np.sum(t['b'] ** 2) * t['steps']",
        changes=(
            "tree['steps'] = 3",
            "v, unravel = hoad.ravel({'a': 1.0, 'b': np.ones((2, 2)), 'steps': 4})",
            "v[0] = 5.0",
        ),
    ),
    "what a dtype can hold": Row(
        "fin = np.finfo(np.float64)", "return fin.eps * x", changes=("fin = np.finfo(np.float32)",)
    ),
    "a dtype": Row("dt = np.dtype(np.float64)", "return dt.itemsize * x", changes=("dt = np.dtype(np.float32)",)),
    "a dtype with fields": Row(
        "dt = np.dtype([('a', float), ('b', np.dtype([('c', int)]))])",
        "return len(dt.names[0]) * len(dt['b'].names[0]) * x",
        changes=(
            "dt.names = ('long', 'b')",
            "dt = np.dtype([('a', float), ('b', np.dtype([('c', int)]))])",
            "dt['b'].names = ('longer',)",
            "dt = np.dtype([('a', int), ('b', dt)])",
        ),
    ),
    "a ufunc that is exchanged": Row("o = Space(f=np.sin)", "return o.f(x) * o.f.nin", changes=("o.f = np.cos",)),
    "a compiled expression": Row(
        r"pattern = re.compile('([0-9]+)'); text = 'a12b345'",
        "return float(pattern.search(text).group(1)) * x",
        changes=("text = 'c7'", r"pattern = re.compile('([0-9])')"),
    ),
    "arguments that are given to constants": Row(
        "p = functools.partial(pow, 2.0)",
        "return p(3) * x",
        changes=("p = functools.partial(pow, 3.0)", "p.__setstate__((max, (7.0,), {}, {}))"),
    ),
    "a length of time": Row(
        "import datetime\no = Space(t=datetime.timedelta(seconds=3), d=datetime.date(2020, 1, 2))",
        "return o.t.total_seconds() * o.d.day * x",
        changes=("o.t *= 2", "o.d = datetime.date(2020, 1, 5)"),
    ),
    "a name that is unique": Row("u = uuid.UUID(int=5)", "return u.int * x", changes=("u = uuid.UUID(int=7)",)),
    "an array of Python's": Row(
        "a = array.array('d', [2.0, 3.0])", "return (a[0] + len(a)) * x", changes=("a[0] = 5.0", "a.append(1.0)")
    ),
    "the keys of a dict": Row(
        "d = {'a': 1.0}; keys, values, items = d.keys(), d.values(), d.items()",
        "return (len(keys) + sum(values) + len(list(items)[0][0])) * x",
        changes=("d['b'] = 2.0", "d['a'] = 5.0", "d.clear(); d['long'] = 1.0"),
    ),
    "a weak reference": Row(
        "o, p = Space(rate=2.0), Space(rate=3.0); r = weakref.ref(o)",
        "return r().rate * x",
        changes=("o.rate = 5.0", "r = weakref.ref(p)", "r = lambda: Space(rate=7.0)"),
    ),
    "a table of weak keys": Row(
        "o, p = Space(), Space(); w = weakref.WeakKeyDictionary({o: 2.0, p: 3.0}); k = o",
        "return w[k] * len(w) * x if k in w else x",
        changes=("w[o] = 5.0", "k = p", "del w[o]", "w[o] = 7.0; k = o", "w.clear()"),
    ),
    "a table of weak values": Row(
        "o, p = Space(rate=2.0), Space(rate=3.0); w = weakref.WeakValueDictionary(a=o)",
        "return w['a'].rate * x",
        changes=("o.rate = 5.0", "w['a'] = p", "w['b'] = o"),
    ),
    "a set of weak references": Row(
        "o, p = Space(), Space(); w = weakref.WeakSet([o])",
        "return len(w) * x if p in w else -x",
        changes=("w.add(p)", "w.discard(o)", "w.clear()"),
    ),
    "a function for each class": Row(
        """
@functools.singledispatch
def scale(kind, x):
    return x
@scale.register(int)
def whole(kind, x):
    return rate * x
class Text(str): pass
rate, kind = 2.0, 3
""",
        "return scale(kind, x)",
        changes=(
            "rate = 5.0",
            "kind = 'a'",
            "scale.register(str, lambda kind, x: 7.0 * x)",
            "kind = Text('a')",
            "scale.register(Text, lambda kind, x: 9.0 * x)",
            "kind = True",
        ),
    ),
    "a function for each class, of which one is registered": Row(
        """
class Base(abc.ABC): pass
class Own: pass
@functools.singledispatch
def scale(kind, x):
    return x
scale.register(Base, lambda kind, x: 3.0 * x)
kind = Own()
""",
        "return scale(kind, x)",
        changes=("Base.register(Own)",),
    ),
    "a method for each class": Row(
        """
class Model:
    rate = 2.0
    @functools.singledispatchmethod
    def scale(self, kind, x):
        return x
    @scale.register
    def _(self, kind: int, x):
        return self.rate * x
m, kind = Model(), 3
""",
        "return m.scale(kind, x)",
        changes=("m.rate = 5.0", "kind = 'a'", "Model.scale.register(str, lambda self, kind, x: 7.0 * x)"),
    ),
    "a protocol": Row(
        """
@typing.runtime_checkable
class HasRate(typing.Protocol):
    rate: float
o = Space(rate=2.0)
""",
        "return o.rate * x if isinstance(o, HasRate) else -x",
        changes=("o.rate = 3.0", "del o.rate", "o.rate = 4.0", "o = Space()", "o.rate = 5.0"),
    ),
    "a protocol of methods": Row(
        """
@typing.runtime_checkable
class HasEnergy(typing.Protocol):
    def energy(self, x): ...
class Spring:
    def energy(self, x):
        return x**2
o = Spring()
""",
        "return o.energy(x) if isinstance(o, HasEnergy) else -x",
        changes=(
            "o = Space()",
            "o = Space(energy=lambda x: 3.0 * x)",
            "Spring.energy = lambda self, x: x**3; o = Spring()",
        ),
    ),
    "a class that is registered": Row(
        "class Base(abc.ABC): pass\nclass Own: pass\no = Own()",
        "return 2.0 * x if isinstance(o, Base) else x",
        changes=("Base.register(Own)", "o = Space()", "Base.register(Space)"),
    ),
    "a class that is registered with one of the library": Row(
        "import collections.abc\nclass Own: pass",
        "return 2.0 * x if issubclass(Own, collections.abc.Sequence) else x",
        changes=("collections.abc.Sequence.register(Own)",),
    ),
    "a class that is registered, in a pattern": Row(
        "class Base(abc.ABC): pass\nclass Own: pass\no = Own()",
        """
        match o:
            case Base():
                return 2.0 * x
        return x""",
        changes=("Base.register(Own)",),
    ),
    "exact numbers": Row(
        "a, b = fractions.Fraction(1, 3), decimal.Decimal('1.5')",
        "return float(a + 1) * float(b * 2) * x",
        changes=("a = fractions.Fraction(2, 3)", "b = decimal.Decimal(3)"),
    ),
}


@pytest.mark.parametrize("driver", ["f", "value_and_grad"])
@pytest.mark.parametrize("name", ROWS)
def test_what_is_read_is_as_without_jit(name: str, driver: str) -> None:
    check(ROWS[name], driver)


def test_derivatives_of_a_vector_that_is_unravelled() -> None:
    tree = {"a": 2.0, "b": np.array([1.0, 3.0]), "c": [np.ones((2, 2), np.float32), 5]}
    x, unravel = hoad.ravel(tree)

    def loss(v: np.ndarray) -> float:
        t = unravel(v)
        return t["a"] ** 3 * np.sum(t["b"] ** 2) + np.sum(t["c"][0] ** 3) * t["c"][1]

    for driver in (hoad.grad, hoad.hessian, lambda f: hoad.grad(lambda v: np.sum(hoad.grad(f)(v) ** 2))):
        fast, plain = hoad.jit(driver(loss)), driver(loss)
        for v in (x, 2 * x, x):
            np.testing.assert_allclose(fast(v), plain(v), rtol=1e-13)
        assert len(fast.signatures[0].recorded) == 1


def test_a_notebook_cell_that_is_run_again_and_again() -> None:
    """Functions and classes of the same text, with code within code, are other ones; their recordings are let go."""
    cell = """
def helper(x):
    def inner(y):
        return [k * rate * y for k in range(3)]
    return sum(inner(x))
class Model:
    def f(self, x):
        return self.rate * x
model = Model()
model.rate = 2.0
"""
    space: dict[str, Any] = {"__name__": "notebook", "rate": 1.0}
    exec(compile(cell, "/tmp/notebook_cell_1.py", "exec"), space)
    exec(compile("def f(x):\n    return helper(x) + model.f(x)\n", "/tmp/notebook_cell_2.py", "exec"), space)
    g = hoad.jit(space["f"])
    with warnings.catch_warnings():
        warnings.simplefilter("error", hoad.JitWarning)
        for k in range(40):
            space["rate"] = float(k % 3)
            assert [g(1.0), g(2.0)] == [3 * (k % 3) + 2.0, 6 * (k % 3) + 4.0]
            exec(compile(cell, "/tmp/notebook_cell_1.py", "exec"), space)
    exec(compile(cell.replace("* rate *", "* rate * 2 *"), "/tmp/notebook_cell_1.py", "exec"), space)
    assert g(1.0) == 3 * 2 * space["rate"] + 2.0


def test_a_function_that_is_defined_at_each_call_is_called_as_it_is_in_the_end() -> None:
    space: dict[str, Any] = {"__name__": "notebook"}
    code = compile("def helper(x):\n    return 2.0 * x\n", "/tmp/defined_anew.py", "exec")
    exec(compile("def f(x):\n    return helper(x)\n", "/tmp/calls_it.py", "exec"), space)
    g = hoad.jit(space["f"])

    def calls() -> list[float]:
        return [exec(code, space) or g(1.0) for _ in range(150)]

    with pytest.warns(hoad.JitWarning, match="was recorded 16 times"):
        assert calls() == [2.0] * 150
