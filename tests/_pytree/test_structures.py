"""Taking containers apart and putting them together: order, equality, paths, pickles, and any depth."""

from __future__ import annotations

import collections
import copy
import dataclasses
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from _pytree.kinds import CASES, Checking, Frozen, Layer, MyDict, MyList, Named, Plain, X, Y
from hypothesis import given
from hypothesis import strategies as st

import hoad
from hoad._pytree.containers import Structure, flatten

kinds = pytest.mark.parametrize("kind", CASES)


@kinds
def test_there_and_back(kind: str) -> None:
    case = CASES[kind]
    point = case.make(X, Y)
    leaves, structure = flatten(point)
    assert sum(leaf is X for leaf in leaves) == sum(leaf is Y for leaf in leaves) == 1
    made = structure.unflatten(leaves)
    assert type(made) is type(point) and made is not point
    assert case.parts(made)[0] is X and case.parts(made)[1] is Y
    assert flatten(made)[1] == structure and hash(flatten(made)[1]) == hash(structure)
    assert structure.size == len(leaves) == len(structure.paths())
    assert structure.match(point, "x") == leaves
    assert pickle.loads(pickle.dumps(structure)) == structure == copy.deepcopy(structure)


@kinds
def test_structures_of_different_kinds_differ(kind: str) -> None:
    structure = flatten(CASES[kind].make(X, Y))[1]
    assert [other for other in CASES if flatten(CASES[other].make(1.0, 2.0))[1] == structure] == [kind]


@kinds
def test_paths_lead_to_the_leaves(kind: str) -> None:
    point = CASES[kind].make(X, Y)
    if kind == "registered class":  # whose parts have numbers only
        assert flatten(point)[1].paths() == ["[0]", "[1]"]
        return
    leaves, structure = flatten(point)
    for k, (path, leaf) in enumerate(zip(structure.paths(), leaves, strict=True)):
        assert eval(f"point{path}") is leaf
        assert structure.path(k) == path


EMPTY: dict[str, Any] = {
    "tuple": (),
    "list": [],
    "dict": {},
    "OrderedDict": collections.OrderedDict(),
    "deque": collections.deque(),
    "nested": {"a": [], "b": ((), {})},
}


@pytest.mark.parametrize("kind", EMPTY)
def test_empty(kind: str) -> None:
    leaves, structure = flatten(EMPTY[kind])
    assert leaves == [] and structure.size == 0 and structure.paths() == []
    assert structure.unflatten([]) == EMPTY[kind] and type(structure.unflatten([])) is type(EMPTY[kind])


@pytest.mark.parametrize("leaf", [1.0, X, None, "ab", 3, {1.0}, range(3), len, np.sin, Plain], ids=str)
def test_leaves(leaf: Any) -> None:
    leaves, structure = flatten(leaf)
    assert len(leaves) == 1 and leaves[0] is leaf
    assert structure.unflatten([7]) == 7 and structure.paths() == [""] and str(structure) == "*"


SHOWN: list[tuple[Any, str, list[str]]] = [
    ((1.0,), "(*,)", ["[0]"]),
    ({"w": [1.0, (2.0, None)], 3: {}}, "{'w': [*, (*, *)], 3: {}}", ["['w'][0]", "['w'][1][0]", "['w'][1][1]"]),
    (Named(1.0, [2.0]), "Named(x=*, y=[*], label=*)", [".x", ".y[0]", ".label"]),
    (Frozen({"b": 1.0}, ()), "Frozen(x={'b': *}, y=(), steps=*)", [".x['b']", ".steps"]),
    (Layer(1.0, [2.0], "a"), "Layer(*, [*])", ["[0]", "[1][0]"]),
    (collections.OrderedDict(a=1.0), "OrderedDict({'a': *})", ["['a']"]),
    (collections.deque([1.0]), "deque([*])", ["[0]"]),
]


@pytest.mark.parametrize(("tree", "text", "paths"), SHOWN, ids=[text for _, text, _ in SHOWN])
def test_shown(tree: Any, text: str, paths: list[str]) -> None:
    structure = flatten(tree)[1]
    assert str(structure) == text and repr(structure) == f"Structure({text})" and structure.paths() == paths


def test_equality() -> None:
    def of(tree: Any) -> Structure:
        return flatten(tree)[1]

    assert of({"a": 1.0, "b": 2.0}) == of({"a": X, "b": None})
    assert of({"a": 1.0, "b": 2.0}) != of({"b": 1.0, "a": 2.0})  # whose leaves come in another order
    assert of([1.0]) != of((1.0,)) and of([1.0]) != of([1.0, 2.0]) and of([[1.0]]) != of([1.0]) and of([]) != of(())
    assert of(Layer(1.0, 2.0, "a")) != of(Layer(1.0, 2.0, "b"))
    assert of(1.0) == of("a") and of(1.0) != "*"


def test_match_finds_by_name() -> None:
    structure = flatten({"a": 1.0, "b": [2.0]})[1]
    assert structure.match({"b": ["second"], "a": {"anything": 0}}, "x") == [{"anything": 0}, "second"]


MISMATCHED: list[tuple[Any, str]] = [
    ({"a": 1.0}, r"x must be a dict of 'a', 'b', as the value it belongs to is, but is a dict of 'a'\."),
    ({"a": 1.0, "b": [], "c": 2.0}, "x must be a dict of 'a', 'b', .* but is a dict of 'a', 'b', 'c'"),
    ({"a": 1.0, "b": (2.0,)}, r"x at \['b'\] must be a list of 1 item, .* but is a tuple of 1 item"),
    ({"a": 1.0, "b": [2.0, 3.0]}, r"x at \['b'\] must be a list of 1 item, .* but is a list of 2 items"),
    ({"a": 1.0, "b": X}, r"x at \['b'\] must be .* but is ndarray of shape \(3,\)"),
    (3.0, "x must be a dict .* but is float"),
    (collections.OrderedDict(a=1.0, b=[2.0]), "x must be a dict .* but is a OrderedDict of 'a', 'b'"),
]


@pytest.mark.parametrize(("other", "message"), MISMATCHED, ids=str)
def test_mismatches(other: Any, message: str) -> None:
    structure = flatten({"a": 1.0, "b": [2.0]})[1]
    with pytest.raises(hoad.ShapeError, match=message) as caught:
        structure.match(other, "x")
    assert str(caught.value).endswith("Give it the structure {'a': *, 'b': [*]}.")


def test_what_registered_classes_carry_must_match() -> None:
    structure = flatten(Layer(1.0, 2.0, "a"))[1]
    assert structure.match(Layer(3.0, 4.0, "a"), "x") == [3.0, 4.0]
    with pytest.raises(hoad.ShapeError, match="x must be a Layer of 2 items"):
        structure.match(Layer(1.0, 2.0, "b"), "x")


def test_cycles_are_told() -> None:
    ring: list[Any] = [1.0]
    ring.append({"again": [ring]})
    with pytest.raises(hoad.ArgumentError, match=r"a list contains itself.* Pass the parts") as caught:
        flatten(ring)
    assert isinstance(caught.value, ValueError)
    with pytest.raises(hoad.ArgumentError, match="contains itself"):
        hoad.grad(lambda p: p[0])(ring)
    with pytest.raises(hoad.ArgumentError, match="contains itself"):
        hoad.jacobian(lambda x: ring)(1.0)
    twice = [1.0]
    assert flatten([twice, twice, (twice,)])[0] == [1.0, 1.0, 1.0]  # which is not a cycle


def test_many_short_lived_containers_are_no_cycle() -> None:
    """What a registered class gives is made anew each time, and may get the identity of what went before."""

    class Fresh:
        def __init__(self, n: int) -> None:
            self.n = n

    hoad.register_container(Fresh, lambda f: ([Fresh(f.n - 1), [1.0]] if f.n else [1.0], None), lambda _, parts: parts)
    assert len(flatten([Fresh(40) for _ in range(20)])[0]) == 20 * 41


def test_any_depth() -> None:
    chain: Any = 0.0
    for k in range(20_000):
        chain = [chain] if k % 3 else {"a": chain, "b": ()}
    leaves, structure = flatten(chain)
    assert leaves == [0.0]
    made = structure.unflatten(["end"])
    assert flatten(made)[1] == structure and structure.match(made, "x") == ["end"]
    assert structure.path(0).count("...") == 1
    with pytest.raises(hoad.ShapeError, match="of the value, with 1 leaves"):
        structure.match([1.0], "x")
    while isinstance(chain, (list, dict)):  # taken apart by hand: Python itself would recurse
        chain, made = (chain[0], made[0]) if isinstance(chain, list) else (chain["a"], made["a"])


def test_fields_that_are_not_set_are_left_out() -> None:
    made = object.__new__(Plain)
    made.x = 1.0
    assert flatten(made)[0] == [1.0, "plain"]  # the label by its default in the class
    assert flatten(flatten(made)[1].unflatten([2.0, "a"]))[0] == [2.0, "a"]


def test_what_is_no_field_does_not_travel() -> None:
    """It may have been computed from the fields: rather no value than a stale one."""
    point = Plain(2.0, 3.0)
    point.product = 6.0  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="product"):
        hoad.grad(lambda p: p.product * p.x)(point)
    for other in (MyList([2.0]), MyDict(x=2.0)):
        other.product = 6.0  # type: ignore[attr-defined]
        with pytest.raises(AttributeError, match="product"):
            hoad.grad(lambda p: p.product)(other)


def test_constructors_are_not_called() -> None:
    point = Checking(X, Y)
    gradient = hoad.grad(lambda p: -np.sum(p.x) * p.y * p.made)(point)  # whose y is negative
    assert gradient.made is None and point.made == 1
    np.testing.assert_array_equal(gradient.x, [-Y, -Y, -Y])


@dataclasses.dataclass
class Computed:
    a: Any
    twice: Any = dataclasses.field(init=False)
    count: int = dataclasses.field(init=False, default=1)

    def __post_init__(self) -> None:
        self.twice = [2 * self.a]


def test_computed_fields_are_no_arguments() -> None:
    """Whether 2a counts as a function of a cannot be known: an error rather than one of two derivatives."""
    message = r"argument 0 with p\.twice\[0\], a field with init=False .* Make it a property, or .*register_container"
    with pytest.raises(hoad.ArgumentError, match=message):
        hoad.grad(lambda p: p.a * p.twice[0])(Computed(1.0))
    found = hoad.jacobian(Computed)(1.0)
    assert (found.a, found.twice, found.count) == (1.0, [2.0], None)


def test_defaults_of_attrs_that_take_the_others() -> None:
    attrs = pytest.importorskip("attrs")

    @attrs.define
    class Computing:
        a: Any
        twice: Any = attrs.field(init=False, default=attrs.Factory(lambda self: 2 * self.a, takes_self=True))
        steps: Any = attrs.field(init=False, default=1.0)

    with pytest.raises(hoad.ArgumentError, match=r"argument 0 with p\.twice, a field with init=False"):
        hoad.grad(lambda p: p.a * p.twice)(Computing(1.0))

    @attrs.define
    class Plainly:
        a: Any
        steps: Any = attrs.field(init=False, default=2.0)

    assert hoad.grad(lambda p: p.a * p.steps)(Plainly(3.0)).steps == 3.0


# ---- classes of one's own -------------------------------------------------------------------------------------------


def test_registered_classes_keep_what_they_carry() -> None:
    gradient = hoad.grad(lambda layer: np.sum(layer.x) * layer.y)(Layer(X, Y, "first"))
    assert gradient.name == "first" and gradient.y == X.sum()


def test_registering_again_replaces() -> None:
    class Pair:
        def __init__(self, *parts: Any) -> None:
            self.parts = parts

    hoad.register_container(Pair, lambda p: (p.parts[:1], p.parts[1:]), lambda extra, parts: Pair(*parts, *extra))
    assert flatten(Pair(1.0, 2.0))[0] == [1.0]
    hoad.register_container(Pair, lambda p: (p.parts, None), lambda extra, parts: Pair(*parts))
    assert flatten(Pair(1.0, 2.0))[0] == [1.0, 2.0]


def test_registered_before_what_a_class_is_otherwise() -> None:
    @dataclasses.dataclass
    class Scaled:
        x: Any
        scale: float

    hoad.register_container(Scaled, lambda s: ((s.x,), s.scale), lambda scale, parts: Scaled(*parts, scale))
    assert hoad.grad(lambda s: s.x**2 * s.scale)(Scaled(2.0, 3.0)) == Scaled(12.0, 3.0)


REFUSED: list[tuple[Callable[[], Any], str]] = [
    (lambda: hoad.register_container(1.0, len, len), "takes a class, not 1.0. Give it the type"),  # type: ignore[arg-type]
    (lambda: hoad.register_container(dict, len, len), "dict is a container already"),
    (lambda: hoad.register_container(float, len, len), "float is a leaf"),
    (lambda: hoad.register_container(np.ndarray, len, len), "ndarray is a leaf"),
    (lambda: hoad.register_container(Case, "x", len), "takes flatten as a function, not str"),  # type: ignore[arg-type]
    (lambda: hoad.register_container(Case, len, None), "takes unflatten as a function, not NoneType"),  # type: ignore[arg-type]
]


class Case:
    pass


@pytest.mark.parametrize(("call", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_what_cannot_be_registered(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(hoad.ArgumentError, match=message):
        call()


@pytest.mark.parametrize("returned", [[1.0], (1.0,), (1.0, 2.0, 3.0), None])
def test_what_flatten_must_return(returned: Any) -> None:
    class Odd:
        pass

    hoad.register_container(Odd, lambda x: returned, lambda extra, parts: Odd())
    with pytest.raises(
        hoad.ArgumentError, match=r"Odd was registered with as flatten must return a pair, \(parts, extra\)"
    ):
        hoad.grad(lambda p: 1.0)(Odd())


def test_errors_in_flatten_are_the_users() -> None:
    class Odd:
        pass

    hoad.register_container(Odd, lambda x: ((x.missing,), None), lambda extra, parts: Odd())
    with pytest.raises(AttributeError, match="missing"):
        hoad.grad(lambda p: 1.0)(Odd())


# ---- random trees ---------------------------------------------------------------------------------------------------

LEAVES = st.one_of(st.floats(-2, 2), st.integers(-3, 3), st.none(), st.booleans(), st.text(max_size=2))
TREES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.text(max_size=2), inner, max_size=3),
        st.dictionaries(st.integers(0, 5), inner, max_size=2).map(collections.OrderedDict),
        st.builds(Named, inner, inner),
        st.builds(Frozen, inner, inner),
        st.builds(Layer, inner, inner, st.text(max_size=1)),
    ),
    max_leaves=12,
)


def substituted(tree: Any, floats: list[float]) -> Any:
    """The tree by recursion with other values for its floats: what Python's own containers make of it."""
    if isinstance(tree, float):
        return floats.pop(0)
    if isinstance(tree, (Named, Frozen)):
        names = [field.name for field in dataclasses.fields(tree)] if isinstance(tree, Frozen) else tree._fields
        return type(tree)(*[substituted(getattr(tree, name), floats) for name in names])
    if isinstance(tree, Layer):
        return Layer(substituted(tree.x, floats), substituted(tree.y, floats), tree.name)
    if isinstance(tree, dict):
        return type(tree)((key, substituted(value, floats)) for key, value in tree.items())
    return type(tree)([substituted(value, floats) for value in tree]) if isinstance(tree, (list, tuple)) else tree


@given(TREES)
def test_random_trees(tree: Any) -> None:
    leaves, structure = flatten(tree)
    assert structure.unflatten(leaves) == tree
    floats = [leaf for leaf in leaves if isinstance(leaf, float)]
    other = [x + 0.5 for x in floats]
    coming = iter(other)
    made = structure.unflatten([next(coming) if isinstance(leaf, float) else leaf for leaf in leaves])
    assert made == substituted(tree, list(other)) and flatten(made)[1] == structure
    assert structure.match(made, "x") == flatten(made)[0]


@given(TREES)
def test_random_gradients(tree: Any) -> None:
    """The gradient of Σ k xₖ² is 2 k xₖ in its place, its Hessian 2 k there and 0 elsewhere."""
    leaves, structure = flatten(tree)
    floats = [leaf for leaf in leaves if isinstance(leaf, float)]

    def f(p: Any) -> Any:
        own = flatten(p)[0]
        chosen = [x for x, leaf in zip(own, leaves, strict=True) if isinstance(leaf, float)]
        return sum((k * x**2 for k, x in enumerate(chosen, 1)), start=0.0)

    if not floats:
        with pytest.raises(hoad.DTypeError):
            hoad.grad(f)(tree)
        return
    found = structure.match(hoad.grad(f)(tree), "the gradient")
    coming = iter([2.0 * k * x for k, x in enumerate(floats, 1)])
    assert found == [next(coming) if isinstance(leaf, float) else None for leaf in leaves]
    rows = [row for row in structure.match(hoad.hessian(f)(tree), "the Hessian") if row is not None]
    entries = [[x for x in structure.match(row, "a row") if x is not None] for row in rows]
    assert entries == np.diag([2.0 * k for k in range(1, len(floats) + 1)]).tolist()
    x, unravel = hoad.ravel(tree)
    assert x.tolist() == floats and unravel(x) == tree
