"""Captured arrays that are changed in place: jit gives what the function gives, whatever the function asks of them."""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import functools
import importlib
import sys
import types
import typing
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import hoad


def total(a: Any) -> Any:
    return np.sum(a) if isinstance(a, np.ndarray) else 100.0


def as_number(a: Any) -> Any:
    try:
        return float(a[0])
    except (TypeError, ValueError):
        return 50.0


@functools.singledispatch
def weight(a: Any) -> Any:
    return 7.0


@weight.register(np.ndarray)
def _(a: Any) -> Any:
    return np.sum(a)


@weight.register(float)
def _(a: Any) -> Any:
    return 2 * a


@dataclasses.dataclass
class Held:
    w: Any
    scale: float = 2.0

    def scaled(self, x: Any) -> Any:
        return self.scale * np.sum(self.w) * x


class Slots:
    __slots__ = ("w",)

    def __init__(self, w: Any) -> None:
        self.w = w


class Pair(typing.NamedTuple):
    w: Any
    n: int


class Sized(typing.Protocol):
    def tobytes(self) -> bytes: ...


@typing.runtime_checkable
class Bytes(typing.Protocol):
    def tobytes(self) -> bytes: ...


class Mode(enum.Enum):
    ARRAY = np.ndarray
    FLOAT = np.float64


class Swallow:
    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> bool:
        return True


@contextlib.contextmanager
def around() -> Iterator[None]:
    try:
        yield
    except TypeError:
        pass


class Asking(type):
    def __instancecheck__(cls, x: object) -> bool:
        return type(x) is np.ndarray


class IsArray(metaclass=Asking):
    pass


FORMAT = "%s"
BRACES = "{}".format
ASK = isinstance
KINDS = {np.ndarray: 1.0, np.float64: 2.0, float: 3.0}
NAMES = dict(vars(sys.modules[__name__]))
for (
    module
) in """collections copy decimal fractions itertools json math numbers operator pickle pprint re statistics string
    struct textwrap zlib""".split():
    NAMES[module] = importlib.import_module(module)

# Functions of x and of what they capture: an array w of three floats, u the same, v beside it in memory, what holds w.
EXPRESSIONS = """
(np.sum(w) if isinstance(w, np.ndarray) else 100.0) * x
(np.sum(w) if not isinstance(w, np.ndarray) else 100.0) * x
(np.sum(w) if type(w) is np.ndarray else 100.0) * x
(np.sum(w) if type(w) == np.ndarray else 100.0) * x
(np.sum(w) if w.__class__ is np.ndarray else 100.0) * x
(np.sum(w) if w.__class__.__name__ == "ndarray" else 100.0) * x
(np.sum(w) if type(w).__name__ == "ndarray" else 100.0) * x
(np.sum(w) if type(w).__module__ == "numpy" else 100.0) * x
(np.sum(w) if hasattr(w, "tobytes") else 100.0) * x
(np.sum(w) if hasattr(w, "strides") else 100.0) * x
(np.sum(w) if hasattr(w, "__array_interface__") else 100.0) * x
(np.sum(w) if hasattr(w, "__array_ufunc__") else 100.0) * x
(100.0 if hasattr(w, "graph") else np.sum(w)) * x
(np.sum(w) if getattr(w, "nbytes", None) else 100.0) * x
(np.sum(w) if getattr(w, "tobytes", None) else 100.0) * x
(np.sum(w) if isinstance(w[0], float) else 100.0) * x
(np.sum(w) if isinstance(w[0], np.floating) else 100.0) * x
(np.sum(w) if isinstance(w[0], numbers.Real) else 100.0) * x
(np.sum(w) if isinstance(w[0], (int, float, np.generic)) else 100.0) * x
(np.sum(w) if isinstance(w[0] * 2, np.float64) else 100.0) * x
(np.sum(w) if type(w[0]) is np.float64 else 100.0) * x
(np.sum(w) if issubclass(type(w), np.ndarray) else 100.0) * x
(np.sum(w) if issubclass(w.dtype.type, np.floating) else 100.0) * x
(np.sum(w) if np.isscalar(w[0]) else 100.0) * x
(np.sum(w) if np.isscalar(np.sum(w)) else 100.0) * x
(np.sum(w) if np.iterable(w) else 100.0) * x
(np.sum(w) if np.iterable(w[0]) else 3 * w[0]) * x
(np.sum(w) if np.isrealobj(w) else 100.0) * x
(np.sum(w) if np.issubdtype(w.dtype, np.floating) else 100.0) * x
(np.sum(w) if callable(w) else 3 * w[0]) * x
(np.sum(w) if callable(w.tobytes) else 3 * w[0]) * x
len(str(w)) * x
len(repr(w)) * x
len(repr(w[0])) * x
len(f"{w}") * x
len(f"{w[0]}") * x
len(f"{w[0]!r}") * x
len(f"{w[0]:.3f}") * x
float(f"{w[0]:.3f}") * x
len("{}".format(w)) * x
len(BRACES(w[0])) * x
len("%s" % w[0]) * x
len("%s" % (w[0],)) * x
len(FORMAT % w[0]) * x
len(operator.mod(FORMAT, w[0])) * x
len(FORMAT.__mod__(w[0])) * x
len(format(w[0], ".2f")) * x
len(",".join(map(str, w))) * x
len(np.array2string(w)) * x
len(np.array_repr(w)) * x
len(pprint.pformat(w)) * x
len(string.Template("$w").substitute(w=w[0])) * x
len(textwrap.wrap(str(w))[0]) * x
float(str(w[0])) * x
KINDS.get(type(w), 5.0) * x
KINDS.get(type(w[0]), 5.0) * x
{"ndarray": 1.0}.get(type(w).__name__, 5.0) * x
(np.sum(w) if str(w[0]) in {"1.0", "1.7"} else 9.0) * x
{"1.0": 1.0, "1.7": 2.0}.get(FORMAT % w[0], 3.0) * x
(np.sum(w) if w is u else 100.0) * x
(np.sum(w) if np.asarray(w) is w else 100.0) * x
(np.sum(w) if w.base is None else 100.0) * x
(np.sum(w) if v.base is w else 100.0) * x
(np.sum(w) if w is not None else 100.0) * x
(np.sum(w) if operator.is_(np.asarray(w), w) else 100.0) * x
(np.sum(w) if id(w) == id(u) else 100.0) * x
(np.sum(w) if any(w is k for k in (u, v)) else 100.0) * x
(np.sum(w) if w.flags.writeable else 100.0) * x
(np.sum(w) if w.flags["C_CONTIGUOUS"] else 100.0) * x
w.strides[0] * np.sum(w) * x
w.nbytes * w.itemsize * x
w.data.nbytes * np.sum(w) * x
total(w) * x
as_number(w) * x
weight(w) * x
weight(w[0]) * x
weight.dispatch(type(w))(w) * x
ASK(w, np.ndarray) * x
(np.sum(w) if ASK(w, np.ndarray) else 100.0) * x
(np.sum(w) if isinstance(w, IsArray) else 100.0) * x
(np.sum(w) if isinstance(w, Bytes) else 100.0) * x
(np.sum(w) if isinstance(w, collections.abc.Iterable) else 100.0) * x
(np.sum(w) if isinstance(w, collections.abc.Sequence) else 100.0) * x
(np.sum(w) if isinstance(w, Mode.ARRAY.value) else 100.0) * x
(np.sum(w) if np.ndarray in type(w).__mro__ else 100.0) * x
(np.sum(w) if type.__instancecheck__(np.ndarray, w) else 100.0) * x
(np.sum(w) if numbers.Real.__instancecheck__(w[0]) else 100.0) * x
(np.sum(w) if operator.attrgetter("__class__.__name__")(w) == "ndarray" else 100.0) * x
operator.methodcaller("sum")(w) * x
len(operator.methodcaller("tobytes")(w)) * x
[np.sum(w) if k is np.ndarray else 100.0 for k in map(type, [w])][0] * x
sum(np.sum(a) if isinstance(a, np.ndarray) else 100.0 for a in (w, w)) * x
max([w, 3.0], key=lambda k: isinstance(k, np.ndarray))[0] * x
sorted([w[1], w[0], w[2]])[0] * x
sorted(w, key=str)[0] * x
min(w) * max(w) * x
copy.copy(w)[0] * x
copy.deepcopy(w)[0] * x
(np.sum(w) if isinstance(copy.deepcopy([w])[0], np.ndarray) else 100.0) * x
json.loads(json.dumps(w.tolist()))[0] * x
len(json.dumps(list(w), default=str)) * x
len(json.dumps({"w": w}, default=lambda k: "array" if isinstance(k, np.ndarray) else "other")) * x
len(pickle.dumps(w)) * x
pickle.loads(pickle.dumps(w))[0] * x
struct.unpack("3d", struct.pack("3d", *w))[0] * x
float(zlib.crc32(w.tobytes()) % 7) * x
np.frombuffer(w.tobytes())[0] * x
memoryview(w).nbytes * x
sys.getsizeof(w) * x
math.sin(w[0]) * x
math.floor(w[0]) * x
math.hypot(*w) * x
math.isnan(w[0]) * x + np.sum(w)
math.fsum(w) * x
math.prod(w) * x
statistics.mean(w) * x
statistics.median(w) * x
fractions.Fraction(w[2]).denominator * x
float(decimal.Decimal(float(w[2]))) * x
int(w[0]) * x
round(float(w[0]), 1) * x
round(w[0]) * x
complex(w[0]).real * x
w.tolist()[0] * x
w.item(0) * x
len(w.tolist()) * x
w[0].hex().__len__() * x
w[0].is_integer() * x
(0.0 if w[0].is_integer() else 1.0) * x
w.astype(int)[0] * x
w.astype("S8").size * x
w.view(np.int64)[0] % 3 * x
operator.itemgetter(0)(w) * x
operator.add(w[0], w[1]) * x
operator.contains(w, 1.0) * x
functools.reduce(operator.add, w) * x
functools.partial(np.sum, w)() * x
functools.partial(total, w)() * x
(lambda a=w: np.sum(a))() * x
(lambda *, a=w: total(a))() * x
(lambda: total(w))() * x
next(iter(w)) * x
list(itertools.accumulate(w))[-1] * x
sum(a * b for a, b in zip(w, w)) * x
(1.0 in w) * x + np.sum(w)
dict(enumerate(w))[0] * x
{"w": w}["w"][0] * x
[w][0][0] * x
(w if w.any() else v)[0] * x
(w[0] or 5.0) * x
(w[0] and 5.0) * x
(5.0 if w[0] > 1.2 else 6.0) * x
(not w[0]) * x + np.sum(w)
bool(w[0]) * x
np.argmax(w) * x
np.array_equal(w, u) * x + np.sum(w)
np.vectorize(lambda k: k if isinstance(k, float) else 9.0)(w)[0] * x
np.frompyfunc(lambda k: k if type(k) is float else 9.0, 1, 1)(w)[0] * x
np.apply_along_axis(lambda k: np.sum(k) if type(k) is np.ndarray else 9.0, 0, w) * x
np.fromiter((k for k in w), float)[0] * x
np.array([float(k) for k in w])[0] * x
np.float64(w[0]) * x
float(np.float32(w[0])) * x
np.asarray(w, dtype=object)[0] * x
np.shares_memory(w, v) * x + np.sum(w)
dataclasses.astuple(held)[0][0] * x
held.scaled(x)
(np.sum(held.w) if isinstance(held.w, np.ndarray) else 100.0) * x
slots.w[0] * x
(np.sum(slots.w) if type(slots.w) is np.ndarray else 100.0) * x
pair.w[0] * pair.n * x
pair._asdict()["w"][0] * x
items[0][0] * x
(np.sum(items[0]) if isinstance(items[0], np.ndarray) else 100.0) * x
table["w"][0] * x
(np.sum(table["w"]) if isinstance(table["w"], np.ndarray) else 100.0) * x
space.w[0] * x
total(space.w) * x
bound() * x
list(map(total, [w, w]))[0] * x
list(filter(lambda k: isinstance(k, float), w)).__len__() * x
typing.cast(float, w[0]) * x
re.sub("[^0-9]", "", str(w[0])).__len__() * x
(np.sum(w) if isinstance(w, typing.get_args(typing.Union[np.ndarray, float])) else 100.0) * x
types.SimpleNamespace(a=w).a[0] * x
len(collections.Counter(map(type, w))) * x
len(collections.Counter(type(k).__name__ for k in (w[0], 1.0))) * x
(np.sum(w) if not vars().get("w") is None else 100.0) * x
(np.sum(w) if "tobytes" in dir(w) else 100.0) * x
(np.sum(w) if w.__doc__ and "array" in w.__doc__ else 100.0) * x
(np.sum(w) if w.__hash__ is None else 100.0) * x
(np.sum(w) if w.__array_priority__ == 0 else 100.0) * x
w.__len__() * w.__getitem__(0) * x
np.ndarray.sum(w) * x
np.ndarray.__getitem__(w, 0) * x
object.__repr__(w).count("ndarray") * x
np.sum(w * x)
np.sum(np.sin(w * x)) + np.sum(v)
w @ w * x
(w[:, None] * w).trace() * x
np.linalg.norm(w - w.mean()) * x
""".strip().split("\n")

STATEMENTS = [
    "try:\n    return float(w[0]) * x\nexcept TypeError:\n    return 50.0 * x",
    "try:\n    return w.tobytes()[0] * x\nexcept AttributeError:\n    return 50.0 * x",
    "try:\n    return math.sin(w[0]) * x\nexcept Exception:\n    return 50.0 * x",
    "try:\n    hash(w[0])\nexcept TypeError:\n    return 50.0 * x\nreturn np.sum(w) * x",
    "try:\n    return math.exp(w[0]) * x\nfinally:\n    return 3.0 * x",
    "with contextlib.suppress(TypeError):\n    return float(w[0]) * x\nreturn 50.0 * x",
    "with Swallow():\n    return float(w[0]) * x\nreturn 50.0 * x",
    "with around():\n    return float(w[0]) * x\nreturn 50.0 * x",
    "with np.errstate(all='ignore'):\n    return np.sum(np.sqrt(w)) * x",
    "match w:\n    case np.ndarray():\n        return np.sum(w) * x\n    case _:\n        return 100.0 * x",
    "match w[0]:\n    case float():\n        return np.sum(w) * x\n    case _:\n        return 100.0 * x",
    "match w[0]:\n    case 2.0:\n        return 9 * x\n    case 1.7:\n        return 8 * x\nreturn x",
    "match list(w):\n    case [a, b, c]:\n        return a * x\n    case _:\n        return 100.0 * x",
    "match w:\n    case [a, *_]:\n        return a * x\n    case _:\n        return 100.0 * x",
    "def inner(a):\n    return np.sum(a) if isinstance(a, np.ndarray) else 100.0\nreturn inner(w) * x",
    "class C:\n    def __init__(self, a):\n        self.a = a\nreturn C(w).a[0] * x",
    "from numbers import Real\nreturn (1.0 if isinstance(w[0], Real) else 2.0) * x",
    "import builtins\nreturn (1.0 if builtins.isinstance(w, np.ndarray) else 2.0) * x",
    "s = 0.0\nfor k in w:\n    s = s + (k if isinstance(k, float) else 9.0)\nreturn s * x",
    "s = 0.0\nfor k in range(len(w)):\n    s += w[k]\nreturn s * x",
    "a = w.copy()\na[0] = 2.0\nreturn np.sum(a) * x",
    "a = np.zeros(3)\na[:] = w\nreturn np.sum(a) * x",
    "a = np.zeros(3)\nnp.copyto(a, w)\nreturn np.sum(a) * x",
    "a = [*w]\na.sort()\nreturn a[0] * x",
    "a, *b = w\nreturn a * x + b[0]",
    "if w[0] > 1.5:\n    return float(w[0]) * x\nreturn np.sum(w) * x",
    "if w[0] > 1.5:\n    return np.sum(w) * x\nreturn (1.0 if isinstance(w, np.ndarray) else 2.0) * x",
    "assert w is u\nreturn np.sum(w) * x",
    "u[1] = u[1]\nreturn np.sum(w) * x",
    "out = np.empty(3)\nnp.multiply(w, 2.0, out=out)\nreturn out[0] * x",
    "return np.add.reduce(w) * x",
    "return (w[0], str(w[0]), x)",
    "return {'sum': np.sum(w) * x, 'kind': type(w).__name__}",
    "return w.tolist(), x",
    "return np.sum(w)",
    "return w",
    "return w[0]",
    "return [w * x, np.float32(2.0)]",
]
BODIES = [f"return {line}" for line in EXPRESSIONS] + STATEMENTS


def made(body: str, w: Any) -> Callable[[Any], Any]:
    """A function of x with this body, and with w and what holds it for globals."""
    space = dict(NAMES)
    space.update(w=w, u=w, v=w[1:], held=Held(w), slots=Slots(w), pair=Pair(w, 2), items=[w], table={"w": w})
    space.update(space=types.SimpleNamespace(w=w), bound=w.sum, ask=isinstance)
    lines = "\n    ".join(body.split("\n"))
    exec(compile(f"def f(x):\n    {lines}\n", "<pattern>", "exec"), space)
    f = space["f"]
    assert callable(f)
    return f


def changed(w: Any) -> Iterator[None]:
    """The array in other states, one after the other."""
    for k, value in ((0, 1.7), (0, 2.0), (1, -2.5), (slice(None), 0.25), (2, 4.0), (0, 1.0), (1, 2.0)):
        w[k] = value
        yield
        yield


def result(f: Callable[[Any], Any], x: Any) -> Any:
    """What a function gives, or the class of what it raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return f(x)
        except Exception as failure:
            return type(failure)


@pytest.mark.parametrize("body", BODIES)
def test_changed_in_place(body: str) -> None:
    w = np.array([1.0, 2.0, 0.5])
    f = made(body, w)
    g = hoad.jit(f)
    for x in (1.5, -2.25):
        same(result(g, x), result(f, x))
    for _ in changed(w):
        same(result(g, 1.5), result(f, 1.5))


@pytest.mark.parametrize("body", EXPRESSIONS)
def test_derivatives_of_what_is_changed_in_place(body: str) -> None:
    w = np.array([1.0, 2.0, 0.5])
    f = made(f"return {body} * np.sin(x)", w)
    ways = hoad.grad(f), hoad.derivatives(f, 2)
    jitted = [hoad.jit(way) for way in ways]
    for k, _ in enumerate(changed(w)):
        if k % 2 == 0:
            wanted = [result(way, 1.5) for way in ways]
        for g, value in zip(jitted, wanted, strict=True):
            same(result(g, 1.5), value)


# What asks nothing of the array, and goes on being replayed while it changes.
LIVE = """
np.sum(w) * x
np.sum(w * x)
w @ w * x
w[0] * x
sum(w) * x
np.sum(helper(w) * x)
np.linalg.norm(w) * x
math.pi * np.sum(w[1:]) * x
np.sum(w) * x if w is not None else x
np.sum(np.array([w[0], w[1]])) * x
np.dot(np.eye(3) @ w, np.ones(3)) * x
sum(a * b for a, b in zip(w, w)) * x
(w - w.mean()).std() * x
np.max(w) % 2 * x
functools.reduce(operator.add, w) * x
""".strip().split("\n")


@pytest.mark.parametrize("body", LIVE)
def test_what_asks_nothing_is_read_live(body: str) -> None:
    w = np.array([1.0, 2.0, 3.5])
    f = made(f"return {body}", w)
    f.__globals__["helper"] = lambda a: np.sin(a) + a  # type: ignore[attr-defined]
    g = hoad.jit(f)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for k in range(40):
            w[:] = 1.0 + k / 64, 2.0, 3.5
            same(g(1.5), f(1.5))
    assert len(g.signatures[0].recorded) == 2


def test_the_reason_why_an_array_is_not_read_live() -> None:
    w = np.ones(3)

    def f(x: Any) -> Any:
        return total(w) * x

    g = hoad.jit(f)

    def at(k: float) -> Any:
        w[0] = k
        return g(2.0)

    with pytest.warns(
        hoad.JitWarning, match=r"changing: w\. Arrays .* not read live, because of isinstance \(.*\.py:\d+\)"
    ):
        found = [at(k) for k in range(40)]
    assert found == [2.0 * (k + 2.0) for k in range(40)]


class Units(np.ndarray):
    """An array with a product of its own."""

    def __mul__(self, other: Any) -> Any:
        return np.asarray(self) @ np.asarray(self) * other


KINDS_OF_ARRAYS: list[Any] = [
    np.array([1.0, 2.0, 3.0], np.float16),
    np.array([1.0, 2.0, 3.0], np.float32),
    np.array([1.0, 2.0, 3.0], np.longdouble),
    np.array([1.0, 2j, 3.0]),
    np.array([1.0, 2j, 3.0], np.complex64),
    np.array([1, 2, 3]),
    np.array([True, False, True]),
    np.array(2.0),
    np.array([2.0]),
    np.zeros((0, 2)),
    np.arange(12.0)[::-3],
    np.arange(12.0).reshape(3, 4).T[1:, ::2],
    np.asfortranarray(np.arange(12.0).reshape(3, 4)),
    np.array([1.0, None, 2.0])[::2],
    np.ma.masked_array([1.0, 2.0, 3.0], [False, True, False]),
    np.array([1.0]).view(Units),
    np.array([1.0, 2.0, 3.0]).view(Units),
]
USES: list[Callable[[Any, Any], Any]] = [
    lambda w, x: np.sum(w * x),
    lambda w, x: np.sum(w) * x,
    lambda w, x: (w * w * x).sum(),
    lambda w, x: w.ravel()[-1:].sum() * x,
    lambda w, x: np.sum(w.astype(float).real) * x,
    lambda w, x: (w + w.T).shape[0] * x,
    lambda w, x: w.dtype.itemsize * x,
    lambda w, x: np.abs(np.sum(w)) * x,
    lambda w, x: w * x,
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("array", KINDS_OF_ARRAYS, ids=lambda a: f"{type(a).__name__}-{a.dtype}-{a.shape}")
def test_arrays_of_all_kinds(array: Any, use: Callable[[Any, Any], Any]) -> None:
    w = array[...]  # of its layout, and changed with it
    first = w.copy()

    def f(x: Any) -> Any:
        return use(w, x)

    g = hoad.jit(f)
    try:
        for k in range(5):
            found, wanted = result(g, 1.5), result(f, np.float64(1.5))
            if isinstance(found, type):
                assert isinstance(wanted, type) or issubclass(found, hoad.HoadError)  # for masked arrays
            else:
                tolerance = 1e-3 if w.dtype.itemsize == 2 else 1e-6
                np.testing.assert_allclose(np.asarray(found, complex), np.asarray(wanted, complex), rtol=tolerance)
            w[...] = first * (k + 1)
    finally:
        w[...] = first


def test_no_number_of_nan() -> None:
    w = np.array([np.nan, 1.0])
    g = hoad.jit(lambda x: np.sum(w) * x)
    g(1.0)
    for value in (np.nan, np.inf, -np.inf, 2.0, np.nan, 0.0):
        w[1] = value
        assert np.isnan(g(2.0))
    w[:] = np.inf, 1.0
    assert g(2.0) == np.inf
    assert len(g.signatures[0].recorded) == 2


def same(found: Any, wanted: Any) -> None:
    """Raise unless two results are one, to rounding."""
    if isinstance(wanted, (tuple, list)):
        assert type(found) is type(wanted) and len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            same(one, other)
    elif isinstance(wanted, dict):
        same(list(found.items()), list(wanted.items()))
    elif isinstance(wanted, (str, type)):
        assert found == wanted
    else:
        np.testing.assert_allclose(np.asarray(found, float), np.asarray(wanted, float), rtol=1e-14)


def frozen(values: Any) -> np.ndarray:
    """An array that lies in an object of bytes, to which nobody can write."""
    array = np.asarray(values)
    return np.frombuffer(array.tobytes(), array.dtype).reshape(array.shape)


def unlocked(w: np.ndarray, _: np.ndarray) -> None:
    w.flags.writeable = True
    w[1] = -7.0
    w.flags.writeable = False


def written(w: np.ndarray, view: np.ndarray) -> None:
    view[1] = -7.0


def reshaped(w: np.ndarray, _: np.ndarray) -> None:
    w.shape = (2, 3)


def retyped(w: np.ndarray, _: np.ndarray) -> None:
    w.dtype = np.int64


def replaced(w: np.ndarray, _: np.ndarray) -> None:
    """The array is another one, in memory of its own."""
    w.__setstate__(np.arange(6.0).__reduce__()[2])


def read_only(writable: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    view = writable[:]
    writable.flags.writeable = False
    return writable, view


def in_memory(memory: Any) -> tuple[np.ndarray, np.ndarray]:
    """An array that cannot write to memory which others can."""
    return np.frombuffer(memoryview(memory).toreadonly()), np.frombuffer(memory)


@pytest.mark.filterwarnings("ignore:Setting the (shape|dtype) on a NumPy array:DeprecationWarning")
@pytest.mark.parametrize(
    ("make", "change"),
    [
        (lambda: read_only(np.ones(6)), unlocked),
        (lambda: read_only(np.ones(6)), written),
        (lambda: in_memory(bytearray(np.ones(6).tobytes())), written),
        (lambda: (frozen(np.ones(6)), np.empty(0)), reshaped),
        (lambda: (frozen(np.full(6, 5e-324)), np.empty(0)), retyped),
        (lambda: (frozen(np.ones(6)), np.empty(0)), replaced),
    ],
    ids=["made writable", "by a view", "by other memory", "another shape", "another dtype", "other memory"],
)
def test_read_only_arrays_that_change(make: Callable[[], tuple[np.ndarray, np.ndarray]], change: Any) -> None:
    """Whether a captured array may be written to is no matter of its flags."""
    w, view = make()
    f = lambda x: np.sum(w.ravel()[1:] * x) + w.ndim  # noqa: E731
    jitted = hoad.jit(f)
    for _ in range(3):
        assert jitted(2.0) == f(2.0)
    change(w, view)
    for _ in range(3):
        assert jitted(2.0) == f(2.0)


@pytest.mark.parametrize("wrap", [bytes, memoryview])
def test_arrays_in_bytes(wrap: Any) -> None:
    """They are right, as are views of them and what takes their place."""
    whole = np.frombuffer(wrap(np.arange(12.0).tobytes()))
    parts = [whole, whole[::2], whole.reshape(3, 4).T, whole[3:], np.arange(3.0)]
    w = parts[0]

    def f(x: Any) -> Any:
        return np.sum(w * x)

    jitted = hoad.jit(f)
    for w in (*parts, *parts):  # noqa: B007
        for x in (1.0, 2.0):
            assert jitted(x) == f(x)
    with pytest.raises(ValueError, match="WRITEABLE"):
        whole.flags.writeable = True
