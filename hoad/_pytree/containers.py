"""Containers: values nested in tuples, lists, dicts and classes, flattened into leaves and rebuilt.

Containers are tuples (named ones too), lists, deques, dicts and subclasses of these, dataclasses, attrs classes, and
registered classes. Everything else is a leaf: numbers, arrays, traced values, None, strings, any other object. Leaves
have the order of the container; a dict has that of its keys.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from functools import partial
from typing import Any

import numpy as np

from hoad._core.trace.traced import Array, Scalar, is_traced
from hoad.errors import ArgumentError, ShapeError, count

# ---- kinds of containers --------------------------------------------------------------------------------------------


class Node:
    """A container without what is in it."""

    __slots__ = ("cls", "extra", "keys")

    def __init__(self, cls: type, keys: tuple[Any, ...], extra: Any = None) -> None:
        self.cls, self.keys = cls, keys
        self.extra = extra  # what else it takes to make it

    def same(self, other: Node) -> bool:
        """Whether leaves of the one fit the other, in the same order."""
        if self.cls is not other.cls or self.keys != other.keys:
            return False
        return self.cls not in REGISTERED or is_same(self.extra, other.extra)


class Kind(ABC):
    """How containers of a kind are taken apart, made and shown.

    Subclasses and classes with fields are made without their constructors, which may check or change what they are
    given: a gradient is not a valid point, and a field that was scaled once must not be scaled again. Attributes beside
    their items or fields do not travel, since they may depend on these: to ask for one is an AttributeError, not a
    stale value.
    """

    @abstractmethod
    def split(self, x: Any) -> tuple[Node, Sequence[Any]]:
        """The node, and what it holds, in the order of its keys."""

    @abstractmethod
    def join(self, node: Node, parts: list[Any]) -> Any:
        """The container with these parts."""

    def label(self, key: Any) -> str:
        """How a part is got at, as Python is written."""
        return f"[{key!r}]"

    def text(self, node: Node, texts: list[str]) -> str:
        """The container with these texts for its parts."""
        return f"{node.cls.__name__}({', '.join(texts)})"


class _Tuple(Kind):
    def split(self, x: Any) -> tuple[Node, Sequence[Any]]:
        return Node(type(x), tuple(range(len(x)))), x

    def join(self, node: Node, parts: list[Any]) -> Any:
        return node.cls(parts)

    def text(self, node: Node, texts: list[str]) -> str:
        inner = f"({', '.join(texts)}{',' if len(texts) == 1 else ''})"
        return inner if node.cls is tuple else f"{node.cls.__name__}({inner})"


class _NamedTuple(Kind):
    def split(self, x: Any) -> tuple[Node, Sequence[Any]]:
        return Node(type(x), x._fields), x

    def join(self, node: Node, parts: list[Any]) -> Any:
        make = getattr(node.cls, "_make", None)  # results of SciPy's that are like named tuples have none
        return node.cls(*parts) if make is None else make(parts)

    def label(self, key: Any) -> str:
        return f".{key}"

    def text(self, node: Node, texts: list[str]) -> str:
        pairs = [f"{key}={text}" for key, text in zip(node.keys, texts, strict=True)]
        return f"{node.cls.__name__}({', '.join(pairs)})"


class _List(Kind):
    """Lists and deques."""

    def split(self, x: Any) -> tuple[Node, Sequence[Any]]:
        return Node(type(x), tuple(range(len(x))), x.maxlen if isinstance(x, deque) else None), x

    def join(self, node: Node, parts: list[Any]) -> Any:
        if node.cls is list:
            return parts
        made = _bare(node.cls)
        if isinstance(made, deque):
            deque.__init__(made, (), node.extra)
        made.extend(parts)
        return made

    def text(self, node: Node, texts: list[str]) -> str:
        inner = f"[{', '.join(texts)}]"
        return inner if node.cls is list else f"{node.cls.__name__}({inner})"


class _Dict(Kind):
    """Dicts in their own order."""

    def split(self, x: Any) -> tuple[Node, Sequence[Any]]:
        extra = None
        if type(x) is not dict:
            extra = getattr(x, "default_factory", None), getattr(x, "__dict__", None) is x
        return Node(type(x), tuple(x), extra), list(x.values())

    def join(self, node: Node, parts: list[Any]) -> Any:
        if node.cls is dict:
            return dict(zip(node.keys, parts, strict=True))
        made = _bare(node.cls)
        factory, of_attributes = node.extra
        if isinstance(made, defaultdict):
            made.default_factory = factory
        if of_attributes:  # of the kind whose items are its attributes too
            made.__dict__ = made
        for key, part in zip(node.keys, parts, strict=True):
            made[key] = part
        return made

    def text(self, node: Node, texts: list[str]) -> str:
        inner = f"{{{', '.join(f'{key!r}: {text}' for key, text in zip(node.keys, texts, strict=True))}}}"
        return inner if node.cls is dict else f"{node.cls.__name__}({inner})"


class _Fields(_NamedTuple):
    """Dataclasses and attrs classes, by their fields."""

    def split(self, x: Any) -> tuple[Node, Sequence[Any]]:
        names = tuple(field.name for field in fields_of(type(x)) if hasattr(x, field.name))
        return Node(type(x), names), [getattr(x, name) for name in names]

    def join(self, node: Node, parts: list[Any]) -> Any:
        made: Any = object.__new__(node.cls)
        for name, part in zip(node.keys, parts, strict=True):
            object.__setattr__(made, name, part)  # frozen ones too
        return made


class _Registered(Kind):
    """A user's own class, by the two functions it was registered with."""

    def __init__(self, flatten: Callable[[Any], tuple[Iterable[Any], Any]], unflatten: Callable[[Any, Any], Any]):
        self.flatten, self.unflatten = flatten, unflatten

    def split(self, x: Any) -> tuple[Node, Sequence[Any]]:
        found: Any = self.flatten(x)
        if not isinstance(found, tuple) or len(found) != 2:
            raise ArgumentError(
                f"the function that {type(x).__name__} was registered with as flatten must return a pair, (parts, "
                f"extra), but returned {_described(found)}. Return None for extra if there is nothing else."
            )
        parts, extra = tuple(found[0]), found[1]
        return Node(type(x), tuple(range(len(parts))), extra), parts

    def join(self, node: Node, parts: list[Any]) -> Any:
        return self.unflatten(node.extra, tuple(parts))


def _bare(cls: type) -> Any:
    """An empty list, deque or dict of this class."""
    base = next(base for base in cls.__mro__ if base in (OrderedDict, defaultdict, dict, list, deque))
    return base.__new__(cls)


def fields_of(cls: type) -> Sequence[Any]:
    """The fields of a dataclass or an attrs class."""
    found: Sequence[Any] | None = getattr(cls, "__attrs_attrs__", None)
    return fields(cls) if found is None else found


def computed_fields(cls: type) -> set[str]:
    """The fields that a class computes from its others, as far as it says."""
    if cls in _BUILTIN or kind_of(cls) is not _FIELDS:
        return set()
    after = hasattr(cls, "__post_init__") or hasattr(cls, "__attrs_post_init__")
    return {f.name for f in fields_of(cls) if not f.init and (after or getattr(f.default, "takes_self", False))}


_TUPLE, _NAMED, _LIST, _DICT, _FIELDS = _Tuple(), _NamedTuple(), _List(), _Dict(), _Fields()
_BUILTIN: dict[type, Kind] = {tuple: _TUPLE, list: _LIST, dict: _DICT}
_LEAVES = {float, int, bool, str, type(None), np.ndarray, np.float64, Scalar, Array}  # the most frequent ones
REGISTERED: dict[type, Kind] = {}


def without_labels(x: Any) -> Any:
    """The array in one of xarray's, which names its axes; anything else as it is."""
    return x.data if type(x).__module__.partition(".")[0] == "xarray" and hasattr(x, "data") else x


def kind_of(cls: type) -> Kind | None:
    """How containers of this class are taken apart; None for leaves."""
    if cls in _LEAVES:
        return None
    found = _BUILTIN.get(cls) or REGISTERED.get(cls)
    if found is not None:
        return found
    if issubclass(cls, tuple):
        return _NAMED if hasattr(cls, "_fields") else _TUPLE
    if issubclass(cls, dict):
        return _DICT
    if issubclass(cls, (list, deque)):
        return _LIST
    return _FIELDS if hasattr(cls, "__dataclass_fields__") or hasattr(cls, "__attrs_attrs__") else None


def register_container(
    cls: type, flatten: Callable[[Any], tuple[Iterable[Any], Any]], unflatten: Callable[[Any, Any], Any]
) -> None:
    """Register a class of your own as a container, as tuples, lists, dicts and dataclasses are.

    Parameters
    ----------
    cls : type
        The class, without its subclasses.
    flatten : callable
        ``flatten(x) -> (parts, extra)``: the parts that may contain floats and arrays, and everything else that is
        needed to rebuild x, which is compared with ``==``.
    unflatten : callable
        ``unflatten(extra, parts) -> x``, with a tuple of as many parts. The parts may be traced values, derivatives or
        None, so it should not check them.

    Raises
    ------
    ArgumentError
        If `cls` is not a class, or is a class of numbers, arrays or text; if the functions cannot be called.

    Notes
    -----
    Cost: none. If a class is registered again, the last functions are used.

    Examples
    --------
    >>> import types
    >>> import numpy as np
    >>> import hoad
    >>> hoad.register_container(
    ...     types.SimpleNamespace,
    ...     lambda x: (vars(x).values(), tuple(vars(x))),
    ...     lambda names, parts: types.SimpleNamespace(**dict(zip(names, parts))),
    ... )
    >>> line = types.SimpleNamespace(slope=2.0, height=1.0)
    >>> hoad.grad(lambda line, x: np.sum(line.slope * x + line.height))(line, np.array([1.0, 2.0]))
    namespace(slope=3.0, height=2.0)
    """
    if not isinstance(cls, type):
        raise ArgumentError(f"register_container takes a class, not {cls!r}. Give it the type: type(x).")
    if issubclass(cls, (int, float, complex, str, bytes, type(None), np.ndarray, np.generic)) or cls in _BUILTIN:
        what = "a container already" if cls in _BUILTIN else "a leaf"
        raise ArgumentError(f"register_container takes a class of your own, but {cls.__name__} is {what}.")
    for name, function in (("flatten", flatten), ("unflatten", unflatten)):
        if not callable(function):
            raise ArgumentError(
                f"register_container takes {name} as a function, not {type(function).__name__}: "
                f"{'flatten(x) -> (parts, extra)' if name == 'flatten' else 'unflatten(extra, parts) -> x'}."
            )
    REGISTERED[cls] = _Registered(flatten, unflatten)


# ---- structures -----------------------------------------------------------------------------------------------------


MOST_SHOWN = 60  # nodes of a structure, or steps of a path, in an error
Way = tuple[Any, str] | None  # from a container to what it holds, back to the root


class Structure:
    """What a container is without its leaves: the classes, keys and order in which it holds them.

    Structures are equal where leaves of the one fit the other, in the same order.

    Examples
    --------
    >>> from hoad._pytree.containers import flatten
    >>> leaves, structure = flatten({"w": [1.0, 2.0], "b": None})
    >>> leaves
    [1.0, 2.0, None]
    >>> structure
    Structure({'w': [*, *], 'b': *})
    >>> structure.paths()
    ["['w'][0]", "['w'][1]", "['b']"]
    >>> structure.unflatten("abc")
    {'w': ['a', 'b'], 'b': 'c'}
    """

    __slots__ = ("_nodes", "size")

    def __init__(self, nodes: list[Node | None]) -> None:
        self._nodes = nodes  # a container stands behind what it holds; None is a leaf
        self.size = nodes.count(None)

    def unflatten(self, leaves: Iterable[Any]) -> Any:
        """The container with these leaves."""
        if self._nodes == [None]:  # a leaf, as most often
            return next(iter(leaves))
        return self._folded(leaves, lambda kind, node, parts: kind.join(node, parts))

    def _folded(self, leaves: Iterable[Any], join: Callable[[Kind, Node, list[Any]], Any]) -> Any:
        """What `join` makes of the leaves, from the innermost containers to the outermost."""
        coming = iter(leaves)
        made: list[Any] = []
        for node in self._nodes:
            if node is None:
                made.append(next(coming))
            else:
                start = len(made) - len(node.keys)
                made[start:] = (join(_kind(node), node, made[start:]),)
        return made[0]

    def paths(self) -> list[str]:
        """How each leaf is got at, as Python is written: "['w'][0].bias"."""
        return [_path(way) for node, way in zip(self._nodes, self._ways(), strict=True) if node is None]

    def path(self, leaf: int) -> str:
        """The path of one leaf, by its number."""
        return _path([way for node, way in zip(self._nodes, self._ways(), strict=True) if node is None][leaf])

    def _ways(self) -> list[Way]:
        """(the way to the container that holds it, the label there) of every node."""
        ahead: list[Way] = [None]
        found = []
        for node in reversed(self._nodes):
            way = ahead.pop()
            found.append(way)
            if node is not None:
                kind = _kind(node)
                ahead.extend((way, kind.label(key)) for key in node.keys)
        return found[::-1]

    def computed(self) -> list[int]:
        """The leaves under fields that a class computes from its others, as far as it says: see `computed_fields`."""
        if not any(node is not None and computed_fields(node.cls) for node in self._nodes):
            return []
        ahead, found, leaf = [False], [], self.size
        for node in reversed(self._nodes):
            computed = ahead.pop()
            if node is not None:
                names = computed_fields(node.cls)
                ahead.extend(computed or key in names for key in node.keys)
                continue
            leaf -= 1
            if computed:
                found.append(leaf)
        return found

    def match(self, tree: Any, what: str) -> list[Any]:
        """The parts of another container in the places of the leaves, those of dicts and fields found by name."""
        ahead, found = [tree], []
        for k in range(len(self._nodes) - 1, -1, -1):
            node, item = self._nodes[k], ahead.pop()
            if node is None:
                found.append(item)
                continue
            parts = _aligned(node, item)
            if parts is None:
                place = _at(what, _path(self._ways()[k]))
                raise ShapeError(
                    f"{place} must be {_described(node)}, as the value it belongs to is, but is {_described(item)}. "
                    f"Give it the structure {self.shown()}."
                )
            ahead.extend(parts)
        return found[::-1]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Structure) or len(self._nodes) != len(other._nodes):
            return False
        pairs = zip(self._nodes, other._nodes, strict=True)
        return all(a is b if a is None or b is None else a.same(b) for a, b in pairs)

    def __hash__(self) -> int:
        return hash(tuple(None if node is None else (node.cls, node.keys) for node in self._nodes))

    def shown(self) -> str:
        """The structure in an error."""
        return str(self) if len(self._nodes) <= MOST_SHOWN else f"of the value, with {self.size} leaves"

    def __str__(self) -> str:
        return str(self._folded("*" * self.size, lambda kind, node, texts: kind.text(node, texts)))

    def __repr__(self) -> str:
        return f"Structure({self})"


def _path(way: Way) -> str:
    labels = []
    while way is not None:
        way, label = way
        labels.append(label)
    if len(labels) > MOST_SHOWN:
        labels[5:-5] = ["..."]
    return "".join(reversed(labels))


def _at(what: str, path: str) -> str:
    return f"{what} at {path}" if path else what


def _kind(node: Node) -> Kind:
    found = kind_of(node.cls)
    if found is None:
        raise ArgumentError(
            f"{node.cls.__name__} is not a container here, though it was one where this structure was made. Register "
            "it: hoad.register_container."
        )
    return found


def _aligned(node: Node, x: Any) -> Sequence[Any] | None:
    """What x holds under the keys of a node; None where it is another kind of container."""
    if type(x) is not node.cls:
        return None
    found, parts = _kind(node).split(x)
    if node.same(found):
        return parts
    if len(found.keys) != len(node.keys) or set(found.keys) != set(node.keys) or node.cls in REGISTERED:
        return None
    by_key = dict(zip(found.keys, parts, strict=True))
    return [by_key[key] for key in node.keys]


def _described(x: Any) -> str:
    """A container in words."""
    cls = type(x)
    if not isinstance(x, Node):
        kind = kind_of(cls)
        if kind is None:
            return f"{cls.__name__} of shape {x.shape}" if isinstance(x, np.ndarray) or is_traced(x) else cls.__name__
        x, _ = kind.split(x)
    named = bool(x.keys) and x.keys != tuple(range(len(x.keys)))
    return f"a {x.cls.__name__} of {', '.join(map(repr, x.keys)) if named else count(len(x.keys), 'item')}"


def is_same(a: Any, b: Any) -> bool:
    """Whether two constants are equal, arrays in every entry."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    try:
        return bool(np.array_equal(a, b) if type(a) is not Array and isinstance(a, np.ndarray) else a == b)
    except (TypeError, ValueError):  # of what is compared entry by entry, or not at all
        return False


class _Closing:
    """Behind the parts of a container on the stack of `flatten`."""

    __slots__ = ("item", "node")

    def __init__(self, node: Node, item: Any) -> None:
        self.node, self.item = node, item  # held, so that no other container gets its id meanwhile


def flatten(tree: Any) -> tuple[list[Any], Structure]:
    """The leaves of a container in order, and its structure; any depth."""
    leaves: list[Any] = []
    nodes: list[Node | None] = []
    opened: set[int] = set()
    ahead: list[Any] = [tree]
    while ahead:
        item = ahead.pop()
        if type(item) is _Closing:
            nodes.append(item.node)
            opened.discard(id(item.item))
            continue
        kind = kind_of(type(item))
        if kind is None:
            nodes.append(None)
            leaves.append(item)
            continue
        if id(item) in opened:
            raise ArgumentError(
                f"a {type(item).__name__} contains itself, directly or indirectly. Pass the "
                "parts that are to be differentiated."
            )
        opened.add(id(item))
        node, parts = kind.split(item)
        ahead.append(_Closing(node, item))
        ahead.extend(reversed(parts))
    return leaves, Structure(nodes)


def leaves_of(tree: Any) -> list[Any]:
    """The leaves of a container, or the value itself."""
    return [tree] if kind_of(type(tree)) is None else flatten(tree)[0]


def is_float(leaf: Any) -> bool:
    """Whether a leaf of a container is to be differentiated with respect to; if not, it is a constant."""
    if type(leaf) is float:
        return True
    if isinstance(leaf, (np.ndarray, np.generic)) or is_traced(leaf):
        if leaf.dtype.kind == "O":
            return any(isinstance(x, (float, np.inexact)) or is_traced(x) for x in leaf.flat)
        return leaf.dtype.kind in "fc"
    return isinstance(leaf, (float, complex))


class Parts:
    """Some leaves of a container, those that a derivative is taken by or of; the others are constants."""

    __slots__ = ("constants", "places", "structure")

    def __init__(self, structure: Structure, leaves: list[Any], places: list[int]) -> None:
        chosen = set(places)
        self.structure = structure
        self.places = places
        self.constants = [None if k in chosen else leaf for k, leaf in enumerate(leaves)]

    def filled(self, values: Iterable[Any]) -> Any:
        """The container with these values, and the constants where they were."""
        leaves = list(self.constants)
        for k, value in zip(self.places, values, strict=True):
            leaves[k] = value
        return self.structure.unflatten(leaves)

    def derivative(self, values: Iterable[Any]) -> Any:
        """The container with these values, and None in the place of constants."""
        leaves: list[Any] = [None] * self.structure.size
        for k, value in zip(self.places, values, strict=True):
            leaves[k] = value
        return self.structure.unflatten(leaves)

    def names(self, what: str) -> list[Name]:
        """What to call the leaves in these places."""
        found = partial(_at, what)
        return [Name(found, self.structure, k) for k in self.places]

    def match(self, tree: Any, what: str) -> list[Any]:
        """The values of another container in these places; elsewhere it must hold None, or the constant itself."""
        found = self.structure.match(tree, what)
        chosen = set(self.places)
        for k, (constant, given) in enumerate(zip(self.constants, found, strict=True)):
            if k not in chosen and given is not None and not is_same(constant, given):
                raise ShapeError(
                    f"{_at(what, self.structure.path(k))} must be None or the constant {constant!r}, but is {given!r}: "
                    "a constant has no derivative."
                )
        return [found[k] for k in self.places]


def parts_where(tree: Any, is_chosen: Callable[[Any], bool]) -> tuple[Parts, list[Any]]:
    """The leaves of a container that are chosen: where they are, and what they are."""
    leaves, structure = flatten(tree)
    places = [k for k, leaf in enumerate(leaves) if is_chosen(leaf)]
    return Parts(structure, leaves, places), [leaves[k] for k in places]


class Name:
    """What to call a leaf in an error, ``what(path)``: its path is found only when it is asked for."""

    __slots__ = ("_leaf", "_structure", "_what")

    def __init__(self, what: Callable[[str], str], structure: Structure, leaf: int) -> None:
        self._what, self._structure, self._leaf = what, structure, leaf

    @property
    def whole(self) -> str:
        """What to call the container that it is in."""
        return self._what("")

    def __str__(self) -> str:
        return self._what(self._structure.path(self._leaf))


Forms = list[Parts | None]  # of several arguments or results: None where there is a single value


def leaf_names(names: Sequence[str], forms: Forms | None) -> list[str]:
    """What to call the leaves of arguments or results with these names."""
    found: list[str] = []
    for name, parts in zip(names, forms or [None] * len(names), strict=True):
        if parts is None:
            found.append(name)
        else:
            paths = parts.structure.paths()
            found += [name + paths[place] for place in parts.places]
    return found


def regrouped(values: Iterable[Any], forms: Forms, constants: bool = False) -> list[Any]:
    """One value for each argument from those of the leaves, with the constants or with None in the place of these."""
    coming = iter(values)
    found = []
    for parts in forms:
        if parts is None:
            found.append(next(coming))
        else:
            own = [next(coming) for _ in parts.places]
            found.append(parts.filled(own) if constants else parts.derivative(own))
    return found


def spread(values: Sequence[Any], forms: Forms, whats: Sequence[str]) -> tuple[list[Any], list[str | Name]]:
    """(leaves, names) of one value for each argument, such as tangents."""
    leaves: list[Any] = []
    names: list[str | Name] = []
    for value, parts, what in zip(values, forms, whats, strict=True):
        if parts is None:
            leaves.append(value)
            names.append(what)
        else:
            leaves += parts.match(value, what)
            names += parts.names(what)
    return leaves, names
