"""Programs in pickles: primitives travel by qualified name and version, all else as numbers and bytes.

Nothing that is read back is believed: see `hoad._core.graph.serialize`.
"""

from __future__ import annotations

import copyreg
import functools
import importlib
import pickle
from collections.abc import Callable, Iterable
from typing import Any

from hoad._core.graph.primitive import Primitive, primitive_named
from hoad._core.graph.serialize import check_tape, graph_data, graph_from
from hoad._pytree.containers import Forms, Node, Parts, Structure
from hoad.errors import count

Description = tuple[str, Any, int]

FORMAT = 2  # of what is written
KINDS = ("primal", "adjoint", "tangent")

# Primitives that are declared as they are needed, by the name of what declares them from plain data: one for each
# number of results, or from what the `form` of a primitive says.
FAMILIES: dict[str, Callable[[Any], Primitive]] = {}


def describe(primitive: Primitive) -> Description:
    """(module, qualified name, version); raises for a primitive that another process could not find."""
    found = primitive.qualified
    if primitive.form is not None:
        family, form = primitive.form
        return family, form(), 0
    if primitive.name in FAMILIES and found is None:
        return primitive.name, primitive.nout, 0
    if found is None:
        return "", primitive.name, primitive.version
    module, name = found
    if module == "__main__" or "<" in name:
        raise pickle.PicklingError(
            f"a program that uses the primitive {name} of {module} cannot be pickled: another process could not find "
            "it by name. Define it at the top of a module that can be imported."
        )
    if getattr(_attribute(module, name), "__hoad_primitive__", None) is not primitive:
        raise pickle.PicklingError(
            f"a program that uses a primitive made of {module}.{name} cannot be pickled: in another process that name "
            "refers to another function. Give the primitive the name of its function, as @hoad.primitive does."
        )
    return module, name, primitive.version


def check_travels(function: Any, what: str) -> None:
    """Raise unless another process finds a function by its name."""
    while isinstance(function, functools.partial):
        function = function.func
    try:
        pickle.dumps(function)
    except Exception as error:
        name = getattr(function, "__qualname__", None) or type(function).__name__
        raise pickle.PicklingError(
            f"a program cannot be pickled with {what}, {name}: a pickle names functions, and another process could "
            f"not find this one by name ({error}). Define it with def at the top of a module that can be imported, or "
            "send the function that was recorded, and record it there."
        ) from error


def _check_constants(values: Iterable[Any], what: str) -> None:
    for value in values:
        if callable(value):
            check_travels(value, what)


def _check_params(primitive: Primitive, params: Any) -> None:
    """Raise for a parameter of a user's primitive that is a function without a name."""
    if primitive.qualified is not None and params:
        _check_constants(primitive.keywords(params).values(), f"a function that {primitive.name} is given")


def _attribute(module: str, name: str) -> Any:
    """What a module has by a qualified name, or None."""
    owner: Any = importlib.import_module(module)
    for part in name.split("."):
        owner = getattr(owner, part, None)
    return owner


def find(description: Description) -> Primitive:
    """The primitive of a description, which must have had as many rules as then."""
    module, name, version = description
    found: Primitive | None
    if module in FAMILIES:
        return FAMILIES[module](name)
    if not module:
        found = primitive_named(name)
    else:
        try:
            found = getattr(_attribute(module, name), "__hoad_primitive__", None)
        except ImportError as error:
            raise pickle.UnpicklingError(
                f"this program uses the primitive {name} of {module}, which cannot be imported here ({error}). Install "
                "the module, or put its folder on sys.path."
            ) from error
    if not isinstance(found, Primitive) or found.version != version:
        state = (
            "is not declared here"
            if not isinstance(found, Primitive)
            else f"has had {count(found.version, 'rule')} here, {version} there"
        )
        raise pickle.UnpicklingError(
            f"this program uses the primitive {name}, which {state}. Record the program again."
        )
    return found


def dump(tapes: list[Any]) -> dict[str, Any]:
    """Tapes as plain data: the graph of the last, which holds those before it, and a window for each."""
    last = tapes[-1]
    for forms in (last._takes, *[tape._gives for tape in tapes]):
        for parts in forms or ():
            _check_constants(
                () if parts is None else parts.constants, "a function in a container that it takes or gives"
            )
    windows = [
        (
            (t._start, t._end, t._first_guard, t._guards),
            *(t._inputs, t._outputs, t.kind, t._single),
            *(t._takes, t._gives),
        )
        for t in tapes
    ]
    graph = graph_data(last._graph, last._end, last._guards, describe, _check_params)
    names = tapes[0]._argument_names(), [t._wrt for t in tapes]
    return {"format": FORMAT, "graph": graph, "windows": windows, "names": names}


# ---- read -----------------------------------------------------------------------------------------------------------


def refusal(what: str) -> pickle.UnpicklingError:
    """What is raised for a pickle that holds something else than it should."""
    return pickle.UnpicklingError(f"this pickle holds no program, or a damaged one: {what}. Pickle the program again.")


def restoring(make: Callable[..., Any]) -> Callable[..., Any]:
    """What makes something of plain data, none of which is known to be right: whatever it raises is not a surprise."""

    @functools.wraps(make)
    def restored(*data: Any) -> Any:
        try:
            return make(*data)
        except (pickle.UnpicklingError, MemoryError):
            raise
        except Exception as error:
            raise refusal(f"{type(error).__name__}: {error}") from error

    return restored


@restoring
def _parts_from(structure: Any, constants: Any, places: Any) -> Parts:
    """Some leaves of a container, out of a pickle."""
    if not isinstance(structure, Structure) or type(constants) is not list or type(places) is not list:
        raise refusal("a container is something else")
    if len(constants) != structure.size or len(set(places)) != len(places):
        raise refusal(f"{structure} has other places")
    for k in places:
        whole_number(k, 0, structure.size - 1, "a place in a container")
    return Parts(structure, constants, places)


@restoring
def _structure_from(rows: Any) -> Structure:
    """What a container is without its leaves, out of a pickle."""
    nodes = [None if row is None else Node(*row) for row in rows]
    loose = 0  # leaves and containers that no container holds yet
    for node in nodes:
        held = 0 if node is None else len(node.keys)
        if held > loose or (node is not None and (type(node.keys) is not tuple or not isinstance(node.cls, type))):
            raise refusal("a container is something else")
        loose += 1 - held
    if loose != 1:
        raise refusal(f"there are {loose} containers in the place of one")
    return Structure(nodes)


copyreg.pickle(Parts, lambda x: (_parts_from, (x.structure, x.constants, x.places)))
copyreg.pickle(Structure, lambda x: (_structure_from, ([n and (n.cls, n.keys, n.extra) for n in x._nodes],)))


Names = tuple[tuple[str, ...] | None, list[tuple[int, ...] | None]]  # of arguments; by what each tape is an adjoint


def load(data: dict[str, Any]) -> tuple[Any, list[tuple[Any, ...]], Names]:
    """(graph, windows, names) of `dump`; names may be missing."""
    found = data.get("format")
    if found != FORMAT:
        raise pickle.UnpicklingError(
            f"this program was pickled by another version of hoad (format {found!r}; here it is {FORMAT}). Record and "
            "pickle it with this one."
        )
    importlib.import_module("hoad._transform")  # declares operations; a process may read a program before all else
    graph = graph_from(data["graph"], find)
    windows: list[tuple[Any, ...]] = data["windows"]
    if type(windows) is not list or not windows:
        raise refusal("it has no tapes")
    before = 0, 0
    for k, (window, inputs, outputs, kind, single, takes, gives) in enumerate(windows, 1):
        check_tape(graph, window, before, inputs, outputs)
        before = window[1], window[3]
        if kind not in KINDS or type(single) is not bool or (single and len(outputs) != 1 and gives is None):
            raise refusal(f"tape {k} is of kind {kind!r}, with {count(len(outputs), 'output')}")
        _check_forms(takes, len(windows[0][1]), f"the arguments of tape {k}")
        _check_forms(gives, len(outputs), f"the results of tape {k}")
    return graph, windows, _checked_names(data.get("names", (None, [None] * len(windows))), windows)


def _checked_names(names: Any, windows: list[tuple[Any, ...]]) -> Names:
    arguments, wrt = names
    if arguments is not None and (type(arguments) is not tuple or not all(type(name) is str for name in arguments)):
        raise refusal(f"its arguments are called {arguments!r}")
    if type(wrt) is not list or len(wrt) != len(windows):
        raise refusal(f"its tapes are adjoints by {wrt!r}")
    for nodes, (window, _, outputs, *_) in zip(wrt, windows, strict=True):
        if nodes is not None and (type(nodes) is not tuple or len(nodes) != len(outputs)):
            raise refusal(f"the outputs of a tape are adjoints by {nodes!r}")
        for k in nodes or ():
            whole_number(k, 0, window[0] - 1, "what an output is the adjoint of")
    return arguments, wrt


def _check_forms(forms: Forms | None, leaves: int, what: str) -> None:
    """Raise unless containers hold as many numbers and arrays."""
    if forms is None:
        return
    if type(forms) is not list or not all(parts is None or isinstance(parts, Parts) for parts in forms):
        raise refusal(f"{what} are not a list of containers")
    if sum(1 if parts is None else len(parts.places) for parts in forms) != leaves:
        raise refusal(f"{what} hold another number of values")


def whole_number(value: Any, low: int, high: int, what: str) -> int:
    """An int that lies between two others, one of which it may be."""
    if type(value) is not int or not low <= value <= high:
        raise refusal(f"{what} is {value!r}")
    return value


def strong_zeros(values: Any, what: str) -> None:
    """Raise unless there is a tuple of what may be known of values: 0, 1 or 2."""
    if type(values) is not tuple or not all(type(x) is int and 0 <= x <= 2 for x in values):
        raise refusal(f"what is known of {what} is {values!r}")


def truths(values: Any, length: int, what: str) -> None:
    """Raise unless there is a tuple of so many booleans."""
    if type(values) is not tuple or len(values) != length or not all(type(x) is bool for x in values):
        raise refusal(f"{what} are {values!r}")
