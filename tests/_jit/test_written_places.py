"""What programs write besides what they return: replayed, or refused, and never stale."""

from __future__ import annotations

import pytest
from _jit.text_programs import POINTS, Row, check, program

import hoad

ROWS: dict[str, Row] = {
    # ---- numbers that are added to
    "an attribute that is put anew": Row(
        "o = Space(n=0)", "o.n = o.n + 1; return 2 * x", "o.n", ("o.n = 7", "o.n = 2.5", "o.n = 1")
    ),
    "an attribute that one is added to from the left": Row(
        "o = Space(n=0)", "o.n = 1 + o.n; return 2 * x", "o.n", ("o.n = 7",)
    ),
    "an attribute that is put in the place of another": Row(
        "o, p = Space(n=0), Space(n=5)", "o.n = p.n + 1; return 2 * x", "o.n", ("p.n = 7", "o.n = 2")
    ),
    "an attribute that is taken away": Row("o = Space(n=0)", "o.n = 1 - o.n; return 2 * x", "o.n", ("o.n = 7",), False),
    "a global that is put anew": Row("n = 0", "global n; n = n + 1; return 2 * x", "n", ("n = 7",)),
    "a sum of floats": Row(
        "o = Space(t=0.0)", "o.t += 0.1; return 2 * x", "o.t", ("o.t = 1e17", "o.t = -3", "o.t = 0.5")
    ),
    "a sum of floats in a loop": Row(
        "o = Space(t=0.1, dt=0.1, n=3)",
        """
        y = x
        for _ in range(o.n):
            o.t += o.dt
            y = y * 0.5
        return y""",
        "o.t",
        ("o.t = 1e16", "o.dt = 0.3", "o.n = 5", "o.t = math.inf"),
    ),
    "a sum of floats that is put anew": Row(
        "o = Space(t=0.0)", "o.t = o.t - 0.1; o.t -= 0.2; return 2 * x", "o.t", ("o.t = 1.0",)
    ),
    "a sum of floats of a module": Row(
        "t, dt = 0.0, 0.1", "global t; t += dt; return 2 * x", "t", ("t = 1e16", "dt = 0.3")
    ),
    "a sum of floats that is read": Row("o = Space(t=0.0)", "o.t += 0.1; return o.t * x", "o.t", ("o.t = 5.0",), False),
    "a sum of results": Row(
        "o = Space(total=0.0, rate=2.0)",
        "y = o.rate * x**2; o.total += y; return y",
        "o.total",
        ("o.total = 3.0", "o.rate = 1.0"),
    ),
    "a sum of results and constants": Row(
        "o = Space(total=0.0)",
        "y = x**2; o.total += y; o.total += 1.0; o.total -= x; return y",
        "o.total",
        ("o.total = 3.0",),
    ),
    "a sum of what is not told": Row(
        "o = Space(total=0.0)", "o.total += 2 * x; return x", "o.total", ("o.total = 3.0",), False
    ),
    # ---- names that other objects have, too
    "a counter whose name a helper has": Row(
        """
class Helper:
    def __init__(self):
        self.n = 0
    def step(self, x):
        self.n += 1
        return self.n * x
o = Space(n=0)
""",
        "h = Helper(); o.n += 1; return h.step(x) + h.step(x)",
        "o.n",
        ("o.n = 7", "Helper.step = lambda self, x: x"),
    ),
    "a counter that its class sets anew": Row(
        """
class Only:
    held = None
    def __new__(cls):
        if cls.held is None:
            cls.held = object.__new__(cls)
        return cls.held
    def __init__(self):
        self.n = 0
Only()
""",
        "Only().n += 1; return 2 * x",
        "Only.held.n",
        ("Only.held.n = 7", "Only.__init__ = lambda self: None"),
    ),
    "two counters of one name, one of which is read": Row(
        "o, p = Space(n=0), Space(n=0)",
        "o.n += 1; p.n += 1; return p.n * x",
        "(o.n, p.n)",
        ("o.n = 4", "p.n = 4"),
        False,
    ),
    "a counter of two objects that are the same": Row(
        "o = Space(n=0); p = o", "o.n += 1; return p.n * x", "o.n", ("o.n = 4", "o.n = 9"), False
    ),
    "a counter that a method reads by the function it belongs to": Row(
        """
def g(x):
    return x
g.n = 0
class Holder: pass
h = Holder(); h.g = types.MethodType(g, 3)
""".replace("types", "__import__('types')"),
        "g.n += 1; bound = h.g; return bound.n * x",
        "g.n",
        ("g.n = 5",),
        False,
    ),
    "two places of which one is found later": Row(
        "o, p = Space(n=0), Space(last=None)",
        "count(); y = 2 * x; p.last = y; return p.last\ndef count():\n        o.n = o.n * 2 + 1",
        "(o.n, p.last)",
        ("o.n = 3",),
        False,
    ),
    "a counter that begins to count after another place was looked at": Row(
        "o, p = Space(n=1), Space(last=None, go=False)",
        "count(); p.last = 2 * x; return p.last\ndef count():\n    if p.go:\n        o.n = o.n * 2",
        "(o.n, p.last)",
        ("p.go = True", "o.n = 5"),
        False,
    ),
    "a place that is read in code of many names": Row(
        "o = Space(n=1.0)",
        "\n        " + "; ".join(f"o.a{k} = 1" for k in range(300)) + "; y = o.n * x; o.n = y; return y",
        "o.n",
        ("o.n = 1.0",),
        False,
    ),
    # ---- items
    "an item that counts": Row(
        "o = Space(stats={'n': 0, 'm': 5})",
        "o.stats['n'] += 1; return 2 * x",
        "o.stats",
        ("o.stats['n'] = 7", "o.stats['m'] = 6"),
    ),
    "an item that counts, and one that is read": Row(
        "o = Space(stats={'n': 0, 'm': 5})",
        "o.stats['n'] += 1; return o.stats['m'] * x",
        "o.stats",
        (
            "o.stats['m'] = 6",
            "o.stats = {'n': 0, 'm': 1}",
            "o.stats['new'] = 1",
            "o.stats['n'] = 0",
        ),
    ),
    "an item that counts and is read": Row(
        "o = Space(stats={'n': 0})",
        "o.stats['n'] += 1; return o.stats['n'] * x",
        "o.stats",
        ("o.stats['n'] = 7",),
        False,
    ),
    "an item that counts, by a variable": Row(
        "o = Space(stats={'n': 0, 'm': 0})",
        "s = o.stats; s['n'] += 1; s['m'] = s['m'] + 2; return 2 * x",
        "o.stats",
        ("o.stats['n'] = 7", "o.stats = {'n': 1, 'm': 1}"),
    ),
    "an item that counts, of a variable that is read": Row(
        "o = Space(stats={'n': 0})",
        "s = o.stats; s['n'] += 1; return len(s) * x",
        "o.stats",
        ("o.stats['m'] = 7",),
        False,
    ),
    "an item that counts if it is there": Row(
        "stats = {}", "stats['n'] = stats.get('n', 0) + 1; return 2 * x", "stats", ("stats.clear()", "stats['n'] = 5")
    ),
    "an item that counts from another number": Row(
        "stats = {}", "stats['n'] = stats.get('n', 3) + 1; return 2 * x", "stats", ("stats.clear()", "stats['n'] = 5")
    ),
    "an item by which it is asked whether it is there": Row(
        "stats = {}",
        """
        if 'n' in stats:
            stats['n'] += 1
            return 2 * x
        stats['n'] = 0
        return x""",
        "stats",
        ("stats.clear()",),
        False,
    ),
    "a counter of words": Row(
        "c = collections.Counter()",
        "c['f'] += 1; c['g'] += 2; return 2 * x",
        "c",
        ("c.clear()", "c['f'] = 9", "c['h'] = 1"),
    ),
    "a counter of words in a loop": Row(
        "c = collections.Counter(); words = ['a', 'b', 'a']",
        """
        for word in words:
            c[word] += 1
        return 2 * x""",
        "c",
        ("c.clear()", "words.append('c')"),
    ),
    "a counter of words that is asked for the most": Row(
        "c = collections.Counter(a=1)", "c['a'] += 1; return c.most_common(1)[0][1] * x", "c", (), False
    ),
    "a dict with a default": Row(
        "c = collections.defaultdict(int)",
        "c['f'] += 1; return 2 * x",
        "c",
        ("c.clear()", "c.default_factory = lambda: 5"),
    ),
    "a dict with a default of its own": Row(
        "c = collections.defaultdict(lambda: 5)", "c['f'] += 1; return 2 * x", "c", ("c.clear()", "c.clear()"), False
    ),
    "an item that adds up floats": Row("c = {'t': 0.5}", "c['t'] += 0.25; return 2 * x", "c", ("c['t'] = 1.0",), False),
    "a result in a dict": Row(
        "cache = {}",
        "y = x**2; cache['last'] = y; return 3 * y",
        "cache",
        ("cache.clear()", "cache['last'] = 1", "cache['other'] = 2"),
    ),
    "a result in a dict that is read after": Row(
        "cache = {}", "cache['last'] = x**2; return 3 * cache['last']", "cache", ("cache.clear()", "cache['last'] = 1")
    ),
    "a result in a dict that is read before": Row(
        "cache = {'last': 1.0}",
        "y = cache['last'] * x; cache['last'] = y; return y",
        "cache",
        ("cache['last'] = 1.0",),
        False,
    ),
    "results in a dict, by keys of a loop": Row(
        "history = {}; rates = [1.0, 2.0]",
        """
        for k in range(len(rates)):
            history[k] = rates[k] * x
        return x""",
        "history",
        ("history.clear()", "rates.append(3.0)", "history[7] = 1", "rates[0] = 5.0"),
    ),
    "a result in a dict of which the order is read": Row(
        "cache = {'first': 1.0}",
        """
        cache['last'] = x**2
        return next(iter(cache.values())) * x""",
        "list(cache.items())",
        ("cache.clear()",),
        False,
    ),
    "a result in a dict that has another name": Row(
        "cache = {}; same = cache",
        "cache['last'] = x**2; return len(same) * x",
        "cache",
        ("cache['other'] = 1",),
        False,
    ),
    "a result in a dict within a dict": Row(
        "cache = {'a': {}}", "cache['a']['last'] = x**2; return x", "cache", ("cache['a'] = {}",), False
    ),
    "a result in a dict that is shown": Row(
        "cache = {'last': 0.0}; text = []",
        "cache['last'] = x**2; text.append(str(cache)); return x",
        "cache",
        (),
        False,
    ),
    "a result in a dict that keeps the order": Row(
        "cache = collections.OrderedDict(a=1)",
        "cache['last'] = x**2; return x",
        "list(cache.items())",
        ("cache.clear()",),
        False,
    ),
    "a result in a dict of a class of its own": Row(
        """
class Own(dict):
    def __setitem__(self, key, value):
        dict.__setitem__(self, key + "!", value)
cache = Own()
""",
        "cache['last'] = x**2; return x",
        "list(cache.items())",
        ("cache.clear()",),
        False,
    ),
    "a result by a member of an enum": Row(
        "class Kind(enum.Enum):\n    A = 1\n    B = 2\ncache = {Kind.A: 1.0}",
        "cache[Kind.B] = x**2; return x",
        "[(key.name, item) for key, item in cache.items()]",
        ("cache[Kind.A] = 2.0", "cache.clear()"),
    ),
    "a result by a member of an enum beside one that is read": Row(
        "class Kind(enum.Enum):\n    A = 1\n    B = 2\ncache = {Kind.A: 1.0}",
        "cache[Kind.B] = x**2; return cache[Kind.A] * x",
        "[(key.name, item) for key, item in cache.items()]",
        ("cache[Kind.A] = 2.0",),
        False,
    ),
    "items of keys that are equal": Row(
        "d = {1: 0, 'a': 2}",
        "d[True] += 1; return d['a'] * x",
        "list(d.items())",
        ("d[1] = 5", "d.clear(); d.update({True: 0, 'a': 1})"),
    ),
    "a dict of a class": Row(
        """
class Model:
    stats = {"n": 0}
    def f(self, x):
        self.stats["n"] += 1
        return 2 * x
m = Model()
""",
        "return m.f(x)",
        "Model.stats",
        ("Model.stats = {'n': 5}", "m.stats = {'n': 1}"),
    ),
    "an array in a dict": Row(
        "cache = {}", "cache['last'] = x * np.ones(2); return x", "cache['last'].tolist()", ("cache['last'][0] = 7",)
    ),
    "a dict that an error leaves half written": Row(
        "stats = {'n': 0, 'm': 0}; o = Space(limit=2.0)",
        """
        stats['n'] += 1
        if x > o.limit:
            raise ValueError
        stats['m'] += 1
        return 2 * x""",
        "stats",
        ("o.limit = 9.0", "o.limit = 0.0"),
    ),
    "a namespace that is shown, with the dict that counts": Row(
        "o = types.SimpleNamespace(stats={'n': 0})",
        "o.stats['n'] += 1; return len(repr(o)) * x",
        "o.stats",
        ("o.stats['n'] = 99",),
        False,
    ),
    "a namespace that is shown, with the list that grows": Row(
        "o = types.SimpleNamespace(h=[])", "o.h.append(1); return len(repr(o)) * x", "o.h", ("o.h.clear()",), False
    ),
    # ---- one branch or another
    "a counter of each branch": Row(
        "o = Space(above=0, below=0, rest=0)",
        """
        if x > 2.0:
            o.above += 1
            return x
        if x > 0.0:
            o.below += 1
            return 2 * x
        o.rest += 1
        return 3 * x""",
        "vars(o)",
        ("o.above = 7", "o.rest = 2", "o.below = 2.5", "o.below = 0", "o.above = 1") * 2,
    ),
    "an item of each branch": Row(
        "s = {'above': 0, 'below': 0, 'rate': 2.0}; c = collections.Counter(); h = []; q = collections.deque(maxlen=2)",
        """
        if x > 2.0:
            s['above'] += 1
            c['above'] += 1
            return x * s['rate']
        h.append(1)
        if x > 0.0:
            s['below'] += 1
            q.append(x)
            return x
        c['rest'] += 1
        return -x""",
        "(s, c, h, list(q))",
        (
            "s['above'] = 7",
            "c.clear()",
            "s['rate'] = 3.0",
            "h.clear()",
            "q.clear()",
            "s['new'] = 1",
            "s['above'] = 1",
        )
        * 2,
    ),
    "an item that is put in each branch, and read in one": Row(
        "s = {}",
        """
        s['kind'] = 'below'
        if x > 2.0:
            s['kind'] = 'above'
            return x
        return x * len(s['kind'])""",
        "s",
        ("s['kind'] = 1", "s.clear()"),
    ),
    "a counter that nothing is added to": Row(
        "o = Space(n=5, step=0); s = {'n': 0}; c = collections.Counter(a=0)",
        "o.n += o.step; s['n'] += o.step; c['a'] += o.step; return x",
        "(o.n, s, c)",
        ("o.n = 7", "s['n'] = 2", "c.clear()", "o.n = 0.5", "o.step = 1", "o.n = 1", "o.step = 0", "c.clear()"),
    ),
    # ---- lists and deques
    "a list that is extended": Row(
        "o = Space(h=[])", "o.h.extend([x, 2 * x]); return x", "o.h", ("o.h.clear()", "o.h.append(7)", "o.h = [1]")
    ),
    "a list that is added to": Row("o = Space(h=[])", "o.h += [x, 1]; return x", "o.h", ("o.h.clear()", "o.h = [1]")),
    "a list by a variable": Row(
        "o = Space(h=[])", "h = o.h; h.append(x); return x", "o.h", ("o.h.clear()", "o.h = [1]")
    ),
    "a list by a variable, of which the last is read": Row(
        "o = Space(h=[1.0])", "h = o.h; y = h[-1] * x; h.append(x); return y", "o.h", ("o.h.append(5.0)",), False
    ),
    "a list that is given another": Row("o = Space(h=[])", "o.h = o.h + [x]; return x", "o.h", ("o.h = [1]",), False),
    "a deque": Row(
        "q = collections.deque(maxlen=3)",
        "q.append(x); return 2 * x",
        "list(q)",
        ("q.clear()", "q.append(9)", "q.append(8)"),
    ),
    "a deque of constants": Row(
        "q = collections.deque(maxlen=3); o = Space(m='a')",
        "q.append(o.m); q.append('b'); return 2 * x",
        "list(q)",
        ("q.clear()", "q.append('b')", "o.m = 'c'", "q.extend('xyz')"),
    ),
    "a deque that takes more than it holds": Row(
        "q = collections.deque(maxlen=2)",
        """
        for k in range(3):
            q.append(k * x)
        return x""",
        "list(q)",
        ("q.clear()", "q.append(9)"),
    ),
    "a deque from the left": Row(
        "o = Space(q=collections.deque([1, 2]))",
        "o.q.appendleft(x); o.q.appendleft(2 * x); return x",
        "list(o.q)",
        ("o.q.clear()",),
    ),
    "a deque at both ends": Row(
        "q = collections.deque()", "q.appendleft(x); q.append(2 * x); return x", "list(q)", ("q.clear()",), False
    ),
    "a deque that is read": Row(
        "q = collections.deque([1.0], maxlen=2)", "q.append(2.0); return q[0] * x", "list(q)", ("q.append(9.0)",), False
    ),
    "a set that is added to": Row("s = set()", "s.add('a'); return 2 * x", "sorted(s)", ("s.add('b')",)),
}


RUNS = [(name, driver) for name, row in ROWS.items() for driver in ("f", "value_and_grad")[: 1 + row.is_replayed]]


@pytest.mark.parametrize(("name", "driver"), RUNS)
def test_what_is_written_is_as_without_jit(name: str, driver: str) -> None:
    check(ROWS[name], driver)


def test_an_ordered_dict_that_is_put_back() -> None:
    """For the comparison with a plain call, which the handled error asks for."""
    module = program(
        Row(
            "held = collections.OrderedDict(a=1.0)",
            """
        try:
            y = float(x)
        except TypeError:
            y = x
        held["b"] = 2.0
        return y * held["a"]""",
            "held",
        )
    )
    g = hoad.jit(module["make"]())
    for x in POINTS:
        assert g(x) == x
        assert list(module["held"].items()) == [("a", 1.0), ("b", 2.0)]
