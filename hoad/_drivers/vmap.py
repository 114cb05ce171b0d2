"""A function evaluated for many inputs at once: it is recorded for one input and replayed for all."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hoad._comparison.plain_calls import compared
from hoad._core.base.threads import check_threads
from hoad._core.graph.inspect import guard_rows
from hoad._core.trace.traced import graph_of, is_traced, plain_value
from hoad._pytree.arguments import Key, Numbers, called, check_argument, check_function, packed
from hoad._pytree.containers import Name, Structure, flatten, kind_of, without_labels
from hoad._transform.composite import captured_program
from hoad._transform.loops import Loop
from hoad._transform.programs import without_guards
from hoad.errors import ArgumentError, ShapeError, count

if TYPE_CHECKING:
    from concurrent.futures import Executor

Axes = Any  # an axis, None, or a container of them that the arguments begin with


def vmap(
    f: Callable[..., Any],
    in_axes: Axes = 0,
    out_axes: Axes = 0,
    *,
    axis_size: int | None = None,
    threads: int | None = None,
    executor: Executor | None = None,
) -> Callable[..., Any]:
    """f for many inputs at once: ``vmap(f)(x)[i] = f(x[i])``, recorded once and replayed for all by compiled loops.

    Parameters
    ----------
    f : callable
        A function of floats, arrays and containers, written for one input with NumPy. It may be a derivative, such as
        ``hoad.grad(g)``.
    in_axes : int, None or container of these
        The axis of the arguments along which the inputs lie: one axis for all arguments, or a tuple with an axis for
        each. For an argument that is a container, a container of axes with the same outer structure. None if the
        argument is the same for all inputs; an argument None, or None in a container, always is.
    out_axes : int, None or container of these
        The axis of the results along which the outputs lie. None if the output is the same for all inputs, to be
        returned once.
    axis_size : int, optional
        The number N of inputs, if no argument determines it.
    threads : int, optional
        The largest number of threads. The default is the fastest number, up to the cores that the process may use, and
        one if f calls primitives written in Python, which may not be thread-safe. The environment and threadpoolctl set
        a limit, as for `hoad.jit`. The results do not depend on it, bit for bit.
    executor : concurrent.futures.Executor, optional
        An executor whose workers compute in place of threads of this process: `ProcessPoolExecutor`, dask.distributed's
        ``Client.get_executor()``, ``MPIPoolExecutor`` of mpi4py.futures. The pickled program is sent to each worker
        once, then blocks of inputs; a block that is lost with its worker is sent again. The workers compute the
        derivatives of the map too. The results are those of one process, bit for bit.

    Returns
    -------
    callable
        Called like f, with arrays of shape (..., N, ...) in place of (...); returns the results of f with an axis of
        length N. Keyword arguments are mapped along their first axis, as in JAX.

    Raises
    ------
    ArgumentError
        If f cannot be called, an axis is not an integer, the number of inputs is not determined, or `executor` is not
        an executor or is given together with `threads`.
    ShapeError
        If arguments have different numbers of inputs or do not have the axis, results of f differ in shape between
        inputs, or `out_axes` is None for an output that depends on the inputs.
    GuardError
        If a program recorded from the map is replayed where an input takes another branch.
    pickle.PicklingError
        If the program cannot be pickled for the workers of an executor.
    ExecutorError
        If the executor loses the same inputs four times, or f fails only in its workers.

    Notes
    -----
    Cost: one recording for each combination of branches that the inputs take, and a replay for all inputs. Operations
    that do not depend on the inputs are computed once, the others in chunks of up to 128 lanes that fit into the cache.
    Operations on numbers, and elementwise ones on arrays, are loops over the lanes. Products with one matrix for all
    inputs are one product per chunk; products, inverses, solutions, factors, Fourier transforms and sorts of arrays
    that differ are done for the stack of all lanes. Other operations run lane by lane. On a tape, the map is one node,
    and so are its derivatives, in every mode and at every order.

    Random numbers drawn in f are the same for all inputs: draw them before, and map over them too.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> hoad.vmap(hoad.grad(np.sin))(np.array([0.0, np.pi]))
    array([ 1., -1.])
    >>> hoad.vmap(np.dot, in_axes=(0, None))(np.eye(3), np.array([1.0, 2.0, 3.0]))
    array([1., 2., 3.])
    """
    check_function("vmap", f)
    check_threads("vmap", threads)
    if executor is not None:
        from hoad._transform.executors import check_executor  # only here: it brings what processes talk by

        check_executor(executor, threads)
    workers = threads if executor is None else executor

    @functools.wraps(f, updated=())
    def mapped(*args: Any, **kwargs: Any) -> Any:
        call = _Call(f, in_axes, axis_size, workers, args, kwargs)
        return call.results(out_axes)

    return mapped


class _Call:
    """The leaves of the arguments of one call: those with an axis of inputs as rows, and the others."""

    def __init__(
        self,
        f: Any,
        in_axes: Axes,
        axis_size: int | None,
        workers: int | Executor | None,
        args: tuple[Any, ...],
        kwargs: Any,
    ) -> None:
        self.f = f
        self.workers = workers
        self.keys: list[Key] = [*range(len(args)), *kwargs]
        self.structures: list[Structure] = []
        self.leaves: list[Any] = []
        self.places: list[int] = []  # of the leaves that vary
        self.rows: list[Any] = []
        names: list[Name] = []
        for key, value, axes in zip(
            self.keys, (*args, *kwargs.values()), _by_argument(in_axes, args, kwargs), strict=True
        ):
            leaves, structure = flatten(value)
            for at, (leaf, axis) in enumerate(zip(leaves, _spread(axes, value, "in_axes"), strict=True)):
                if axis is None or leaf is None or (isinstance(key, str) and not np.ndim(leaf)):
                    continue
                names.append(Name(_named(f, key), structure, at))
                self.places.append(len(self.leaves) + at)
                self.rows.append(_rows(leaf, axis, names[-1], value))
            self.structures.append(structure)
            self.leaves += leaves
        self.length = _length(self.rows, axis_size, names)

    def call(self, values: Sequence[Any]) -> Any:
        """f, with these values in the places that vary."""
        leaves = list(self.leaves)
        for k, value in zip(self.places, values, strict=True):
            leaves[k] = value
        coming = iter(leaves)
        made = [structure.unflatten([next(coming) for _ in range(structure.size)]) for structure in self.structures]
        args = [x for key, x in zip(self.keys, made, strict=True) if isinstance(key, int)]
        kwargs = {key: x for key, x in zip(self.keys, made, strict=True) if isinstance(key, str)}
        return without_labels(compared(self.f, args, kwargs, "vmap"))

    def results(self, out_axes: Axes) -> Any:
        """What f gives for all inputs: those that take the same branches are replayed together."""
        lane = _Lane(self, [_first(row) for row in self.rows])
        alike = lane.goes_alike(self.rows, self.length)
        if alike is None:
            return lane.arranged(lane.run(self.rows, self.length), out_axes)
        groups: list[_Group] = []
        left, rows = np.arange(self.length), self.rows
        while alike is not None:
            groups.append((left[alike], lane, lane.run([row[alike] for row in rows], int(alike.sum()))))
            left = left[~alike]
            rows = [row[left] for row in self.rows]
            lane = _Lane(self, [_first(row) for row in rows])
            alike = lane.goes_alike(rows, left.size)
        groups.append((left, lane, lane.run(rows, left.size)))
        first = groups[0][1]
        for which, lane, _ in groups[1:]:
            first.check_alike(lane, int(groups[0][0][0]), int(which[0]))
        return first.arranged(_merged(groups), out_axes)


class _Lane:
    """f recorded for one input."""

    def __init__(self, call: _Call, values: list[Any]) -> None:
        def once(*traced: Any) -> list[Any]:
            self.results = Numbers(call.call(traced))
            given, self.results.numbers = self.results.numbers, []  # kept no longer than they are used
            return given

        self.program, self.captured = captured_program(once, values)
        self.workers = call.workers
        self.takes = "x" * len(values) + "k" * len(self.captured)

    def goes_alike(self, rows: list[Any], length: int) -> Any:
        """Which inputs take the branches that were recorded, as booleans; None if all do."""
        guards = guard_rows(self.program[-1]._graph)
        if not guards or length == 0:
            return None
        nodes = without_guards(self.program, [node for node, _, _ in guards])
        values = [_plain(x, guards[0][2]) for x in (*rows, *self.captured)]
        found = Loop(nodes, self.takes, "y" * len(guards), length, workers=self.workers).run(values)[0]
        same = np.ones(length, bool)
        for outcome, (_, expected, _) in zip(found, guards, strict=True):
            same &= np.reshape(outcome == expected, (length, -1)).all(axis=1)
        if not same[0]:  # lanes may round otherwise than the recording did: let it be alone, and not in lanes
            same[:] = False
            same[0] = True
        return None if same.all() else same

    def run(self, rows: list[Any], length: int) -> list[Any]:
        """The results for all inputs, along a first axis."""
        loop = Loop(self.program, self.takes, "y" * len(self.results.places), length, workers=self.workers)
        return list(loop(*rows, *self.captured))

    def check_alike(self, other: _Lane, k: int, other_k: int) -> None:
        """Raise if another way through f gives something else; the inputs are some that take the two."""
        if self.results.like(other.results) and self.program.output_types == other.program.output_types:
            return
        own, others = (guard_rows(lane.program[-1]._graph) for lane in (self, other))
        pairs = zip(own, others, strict=False)
        apart = [a[2] for a, b in pairs if not np.array_equal(a[1], b[1]) or a[2] != b[2]]  # by outcome, or by line
        at = f" at {os.path.basename(str(apart[0]))}" if apart else ""
        raise ShapeError(
            f"vmap stacks the results of f, so that all must have one structure, shape and dtype. But input {k} gives "
            f"{self.described()}, and input {other_k}, which takes another branch{at}, {other.described()}. "
            "Return the same from both branches, with arrays padded to one shape, or take one result by np.where."
        )

    def described(self) -> str:
        """What f gives, in words."""
        listed = ", ".join(str(aval) for aval in self.program.output_types) or "no numbers"
        shown = self.results.structure.shown()
        return listed if shown == "*" else f"{shown} of {listed}"

    def arranged(self, values: list[Any], out_axes: Axes) -> Any:
        """The container of results, with the axis of the inputs where it is asked for."""
        axes = _spread(out_axes, self.results.filled([0.0] * len(values)), "out_axes")
        varies = self.program._lowered([letter == "x" for letter in self.takes]).varying_outputs
        return self.results.filled(
            _stacked(value, axes[at], varying, self.results.structure.path(at))
            for at, value, varying in zip(self.results.places, values, varies, strict=True)
        )


def _stacked(rows: Any, axis: int | None, varying: bool, path: str) -> Any:
    """A result with the axis of the inputs where it is asked for; once, without such an axis, if that is None."""
    if axis is None:
        if varying:
            raise ShapeError(
                f"vmap with out_axes=None needs a result{path} that is the same for all inputs, but it depends on "
                "them. Give an axis to stack it along."
            )
        return rows[0]
    if not -rows.ndim <= axis < rows.ndim:
        raise ShapeError(
            f"vmap was asked to stack the result{path} along axis {axis}, but with the axis of the inputs it has "
            f"{count(rows.ndim, 'axis', 'axes')}."
        )
    return np.moveaxis(rows, 0, axis) if axis % rows.ndim else rows


# (which inputs, how they are computed, the results)
_Group = tuple[np.ndarray[Any, Any], _Lane, list[Any]]


def _merged(groups: list[_Group]) -> list[Any]:
    """The results of all groups, in the order of the inputs."""
    order = np.argsort(np.concatenate([lanes for lanes, _, _ in groups]), kind="stable")
    return [np.concatenate(parts)[order] for parts in zip(*[found for _, _, found in groups], strict=True)]


def _first(rows: Any) -> Any:
    """The first input, or what stands for one where there is none: ones, and matrices that are positive definite."""
    if rows.shape[0]:
        return rows[0]
    made = np.ones(rows.shape[1:], rows.dtype)
    if made.ndim > 1:
        made = made + np.eye(*made.shape[-2:], dtype=made.dtype)
    return made[()]


def _plain(x: Any, where: str | None) -> Any:
    if is_traced(x) and not graph_of(x).valued:
        raise ArgumentError(f"vmap cannot tell which branch each input takes at {where}: they have no values.")
    return plain_value(x)


# ---- axes -----------------------------------------------------------------------------------------------------------


def _named(f: Any, key: Key) -> Callable[[str], str]:
    """What to call a leaf of an argument in an error."""
    return lambda path: called(f, key) + path


def _by_argument(in_axes: Axes, args: tuple[Any, ...], kwargs: Any) -> list[Axes]:
    """The axes of each argument; those by keyword have their inputs along the first."""
    axes = list(in_axes) if isinstance(in_axes, (tuple, list)) else [in_axes] * len(args)
    if len(axes) != len(args):
        raise ShapeError(
            f"vmap was given {count(len(axes), 'axis', 'axes')} in in_axes, but {count(len(args), 'argument')}. Give "
            "an axis for each, None for one that is the same at all inputs."
        )
    return axes + [0] * len(kwargs)


def _spread(axes: Axes, tree: Any, what: str) -> list[Any]:
    """The axis of every leaf of a container, from one axis or a container of them that it begins with."""
    if axes is None or (hasattr(axes, "__index__") and not isinstance(axes, bool)):
        return [None if axes is None else int(axes)] * len(flatten(tree)[0])
    kind = kind_of(type(axes))
    if kind is None:
        raise ArgumentError(f"vmap takes {what} as integers and None, in containers or not, but found {axes!r}.")
    node, given = kind.split(axes)
    if kind_of(type(tree)) is None:
        raise ShapeError(f"vmap was given {axes!r} in {what} where there is {type(tree).__name__}, no container.")
    found, parts = kind_of(type(tree)).split(tree)  # type: ignore[union-attr]
    if len(given) != len(parts) or (node.keys != found.keys and type(axes) is type(tree)):
        raise ShapeError(
            f"vmap was given {axes!r} in {what} for a {type(tree).__name__} of {count(len(parts), 'item')}. Give an "
            "axis for each, or one for all."
        )
    return [axis for own, part in zip(given, parts, strict=True) for axis in _spread(own, part, what)]


def _rows(leaf: Any, axis: int, name: Name, argument: Any) -> Any:
    """A leaf of an argument with the axis of the inputs in front."""
    leaf = packed(leaf)
    if not is_traced(leaf):
        array = np.asarray(leaf)
        if array.dtype.kind not in "biufc":
            raise ArgumentError(
                f"vmap maps over arrays, but {name} is {type(leaf).__name__}. Set its in_axes to None: it is the same "
                "at all inputs."
            )
        if array.dtype.kind in "fc":
            check_argument("vmap", str(name), array)
        leaf = array
    if not -leaf.ndim <= axis < leaf.ndim:
        found = f"has shape {leaf.shape}" if leaf.ndim else "is a number"
        advice = "Set its in_axes to None where it is the same at all inputs."
        if not leaf.ndim and type(argument) in (list, tuple):
            whole = name.whole
            kind = type(argument).__name__
            advice = f"Where {whole} lists the inputs, pass np.array({whole}): a {kind} is a container. {advice}"
        raise ShapeError(f"vmap maps over axis {axis} of {name}, but it {found}. {advice}")
    return np.moveaxis(leaf, axis, 0) if axis % leaf.ndim else leaf


def _length(rows: list[Any], axis_size: int | None, names: list[Name]) -> int:
    """The number of inputs."""
    sizes = {int(row.shape[0]) for row in rows}
    if axis_size is not None:
        sizes.add(int(axis_size))
    if len(sizes) == 1:
        return sizes.pop()
    if not sizes:
        raise ArgumentError("vmap was given nothing that varies: every axis is None. Say how many inputs: axis_size=n.")
    found = ", ".join(f"{name} has {row.shape[0]}" for name, row in zip(names, rows, strict=True))
    said = "" if axis_size is None else f", and axis_size={axis_size}"
    raise ShapeError(f"vmap needs the same number of inputs in every argument, but {found}{said}.")
