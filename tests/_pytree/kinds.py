"""Containers of every kind that hold an array and a number beside constants."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

import hoad

X, Y = np.array([1.0, -2.0, 0.5]), 3.0


class Named(NamedTuple):
    x: Any
    y: Any
    label: str = "named"


@dataclasses.dataclass
class Plain:
    x: Any
    y: Any
    label: str = "plain"


@dataclasses.dataclass(frozen=True)
class Frozen:
    x: Any
    y: Any
    steps: int = 5


@dataclasses.dataclass(frozen=True, slots=True)
class Slotted:
    x: Any
    y: Any


@dataclasses.dataclass
class Checking:
    """A constructor that refuses what is not a valid point, and counts its calls."""

    x: Any
    y: Any
    made: int = dataclasses.field(init=False, default=0)

    def __post_init__(self) -> None:
        if not isinstance(self.y, float) or self.y < 0:
            raise ValueError("y must be a float, 0 or more")
        self.made += 1


@dataclasses.dataclass
class Later:
    """A field that the constructor does not take."""

    x: Any
    y: Any = dataclasses.field(init=False, default=Y)


@dataclasses.dataclass(init=False)
class OwnConstructor:
    x: Any
    y: Any

    def __init__(self, both: Any) -> None:
        self.x, self.y = both


@dataclasses.dataclass
class Base:
    x: Any


@dataclasses.dataclass
class Derived(Base):
    y: Any


class MyList(list[Any]):
    pass


class MyDict(dict[str, Any]):
    pass


class Attributes(dict[str, Any]):
    """A dict whose items are its attributes too."""

    def __init__(self, **items: Any) -> None:
        super().__init__(**items)
        self.__dict__ = self


class Settings(dict[str, Any]):
    """A dict that sets an attribute with each item."""

    def __init__(self, **items: Any) -> None:
        super().__init__()
        for key, item in items.items():
            self[key] = item

    def __setitem__(self, key: str, item: Any) -> None:
        super().__setitem__(key, item)
        self.__dict__[key] = item


class MyDefault(collections.defaultdict[str, Any]):
    def __init__(self, path: str) -> None:
        super().__init__(list, path=path)


class MyTuple(tuple[Any, ...]):
    __slots__ = ()


class Layer:
    """A class of a user's own, registered below."""

    def __init__(self, x: Any, y: Any, name: str) -> None:
        self.x, self.y, self.name = x, y, name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Layer) and (self.x, self.y, self.name) == (other.x, other.y, other.name)

    __hash__ = None  # type: ignore[assignment]


hoad.register_container(Layer, lambda x: ((x.x, x.y), x.name), lambda name, parts: Layer(*parts, name))


class Case(NamedTuple):
    """How to make a container of x and y, and to take them out again."""

    make: Callable[[Any, Any], Any]
    parts: Callable[[Any], tuple[Any, Any]]
    constants: Mapping[str, Any] = MappingProxyType({})  # by attribute or key: where a derivative has None


def by_item(p: Any) -> tuple[Any, Any]:
    return p[0], p[1]


def by_key(p: Any) -> tuple[Any, Any]:
    return p["x"], p["y"]


def by_name(p: Any) -> tuple[Any, Any]:
    return p.x, p.y


CASES: dict[str, Case] = {
    "tuple": Case(lambda x, y: (x, y), by_item),
    "list": Case(lambda x, y: [x, y], by_item),
    "dict": Case(lambda x, y: {"y": y, "x": x}, by_key),
    "dict of numbers": Case(lambda x, y: {1: y, 0: x}, by_item),
    "OrderedDict": Case(lambda x, y: collections.OrderedDict(y=y, x=x), by_key),
    "defaultdict": Case(lambda x, y: collections.defaultdict(list, x=x, y=y), by_key),
    "deque": Case(lambda x, y: collections.deque([x, y], maxlen=2), by_item),
    "list of a subclass": Case(lambda x, y: MyList([x, y]), by_item),
    "dict of a subclass": Case(lambda x, y: MyDict(x=x, y=y), by_key),
    "dict of attributes": Case(lambda x, y: Attributes(x=x, y=y), by_name),
    "dict that sets attributes": Case(lambda x, y: Settings(x=x, y=y), by_name),
    "defaultdict of a subclass": Case(lambda x, y: _filled(MyDefault("here"), x=x, y=y), by_key),
    "tuple of a subclass": Case(lambda x, y: MyTuple((x, y)), by_item),
    "named tuple": Case(Named, by_name, {"label": "named"}),
    "dataclass": Case(Plain, by_name, {"label": "plain"}),
    "frozen dataclass": Case(Frozen, by_name, {"steps": 5}),
    "dataclass with slots": Case(Slotted, by_name),
    "dataclass that checks": Case(Checking, by_name, {"made": 1}),
    "dataclass with init=False": Case(lambda x, y: _later(x, y), by_name),
    "dataclass with a constructor": Case(lambda x, y: OwnConstructor((x, y)), by_name),
    "dataclass derived": Case(Derived, by_name),
    "registered class": Case(lambda x, y: Layer(x, y, "layer"), by_name),
    "nested": Case(
        lambda x, y: {"a": [Named(x, (), "inner"), {}], "b": (Frozen({"y": [y]}, None),), "n": 3},
        lambda p: (p["a"][0].x, p["b"][0].x["y"][0]),
    ),
}


def _filled(made: Any, **items: Any) -> Any:
    made.update(items)
    return made


def _later(x: Any, y: Any) -> Later:
    made = Later(x)
    made.y = y
    return made


try:
    import attrs
except ImportError:  # then attrs classes are not there to be passed
    pass
else:

    @attrs.define
    class Attrs:
        x: Any
        y: Any
        label: str = "attrs"

    @attrs.frozen(slots=False)
    class FrozenAttrs:
        x: Any
        _y: Any = attrs.field(validator=attrs.validators.instance_of(float))

        @property
        def y(self) -> Any:
            return self._y

    CASES["attrs class"] = Case(Attrs, by_name, {"label": "attrs"})
    CASES["frozen attrs class"] = Case(FrozenAttrs, by_name)


def loss(x: Any, y: Any) -> Any:
    """y Σ x² + y³."""
    return y * np.sum(x**2) + y**3


GRADIENT = (2 * Y * X, np.sum(X**2) + 3 * Y**2)
HESSIAN = ((2 * Y * np.eye(3), 2 * X), (2 * X, 6 * Y))


def constants_of(case: Case, made: Any) -> dict[str, Any]:
    """What stands in a container in the place of the constants of its kind."""
    return {name: getattr(made, name) for name in case.constants}
