"""Sparse derivatives: as they are, or with a plan that is made once and filled in again and again."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from hoad._core.record.recording import Recording, differentiating
from hoad._core.trace.coerce import holds_traced
from hoad._jit.refusals import warn_caller
from hoad._pytree.containers import flatten
from hoad._sparse.relations import Indices
from hoad._sparse.sparse_program import Planned, SparseProgram
from hoad._sparse.sparse_structure import Structure
from hoad._sparse.sweeps import Sweep, Triangle, Values, sweep_of_jacobian, values_of_sweep
from hoad.errors import ArgumentError, OtherStructureError, ShapeError, TracedValueError, count

if TYPE_CHECKING:
    from numpy.typing import NDArray

Format = Literal["csr", "csc", "coo", "triplets"]
FORMATS = ("csr", "csc", "coo", "triplets")
# Entries up to which many x side by side are faster than one after the other.
MOST_IN_LANES = 1000
# Shapes of results for arguments of the same shapes, up to which each has a plan.
MOST_SHAPES = 16
_WIDENING = threading.Lock()


class SparseDerivative:
    """A function that returns a sparse matrix of derivatives, called like the function that is differentiated.

    Attributes
    ----------
    format : {"csr", "csc", "coo", "triplets"}
        The form of the result.
    """

    def __init__(self, driver: str, f: Callable[..., Any], sweep: Sweep, form: Format, triangle: Triangle) -> None:
        if form not in FORMATS:
            raise ArgumentError(f"{driver} takes format 'csr', 'csc', 'coo' or 'triplets', not {form!r}.")
        if triangle not in ("lower", "upper", None):
            raise ArgumentError(f"{driver} takes triangle 'lower', 'upper' or None, for both, not {triangle!r}.")
        functools.update_wrapper(self, f, updated=())
        self._driver, self._f, self._sweep, self._triangle = driver, f, sweep, triangle
        self.format = form

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        with differentiating() as recording:
            found = self._recorded(recording, args, kwargs, None)
            (values,) = recording.results([found.operand])
        return self._arranged(found.structure, values)

    def plan(self, *args: Any, **kwargs: Any) -> SparsePlan:
        """A plan for arguments of these shapes: the structure of the matrix, and a program for its values.

        Parameters
        ----------
        *args, **kwargs
            The arguments of the derivative. The structure is that of the branches that f takes here.

        Returns
        -------
        SparsePlan
            The plan, which may be called with other arguments, x of the same shape.

        Notes
        -----
        Cost: that of the derivative, and of compiling it. If it takes longer than two seconds, a progress bar is shown
        on a terminal where `tqdm` is installed (``pip install 'hoad[progress]'``).
        """
        return SparsePlan(self, args, kwargs, {})

    def _recorded(
        self, recording: Recording, args: tuple[Any, ...], kwargs: dict[str, Any], known: Structure | None
    ) -> Values:
        sweep = self._sweep(recording, self._f, args, kwargs, self._driver)
        return values_of_sweep(sweep, self.format == "csc", self._triangle, known)

    def _shape(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[int, ...] | None:
        """The shape of a Jacobian here; None for other derivatives, whose shape is that of x."""
        if self._sweep is not sweep_of_jacobian:
            return None
        with differentiating() as recording:
            return self._sweep(recording, self._f, args, kwargs, self._driver).shape

    def _arranged(self, structure: Structure, values: Any) -> Any:
        if self.format == "triplets":
            return Triplets(values, structure.rows, structure.columns, structure.shape)
        if holds_traced((values,)):
            raise TracedValueError(
                f"{self._driver} is differentiated or compiled together with what is around it, where a SciPy matrix "
                "cannot hold its values. Take format='triplets', or compile it alone: hoad.jit of the derivative."
            )
        return structure.matrix(values, self.format)

    def _described(self) -> str:
        return f"{self._driver}, {self.format}"

    def __repr__(self) -> str:
        return f"<{self._described()}, of {_name(self)}>"

    if not TYPE_CHECKING:  # which would take any name for an attribute

        def __getattr__(self, name: str) -> Any:
            raise _no_attribute(self, name)

    def __hoad_jit__(self, **options: Any) -> PlannedDerivative:
        """What `jit` makes of it."""
        return PlannedDerivative(self, options)


@dataclass(frozen=True)
class Triplets:
    """A sparse matrix as the values, rows and columns of its entries.

    Attributes
    ----------
    values : array, shape (E,)
        The values of E entries; traced inside another derivative. Units: those of the derivative.
    rows, columns : array of int, shape (E,)
        Where they are, each place once, row by row.
    shape : tuple of int
        The shape of the matrix.

    Notes
    -----
    `vmap` stacks places as it does values, unless it is told that they are the same:
    ``vmap(f, out_axes=hoad.Triplets(0, None, None, None))``.
    """

    values: Any
    rows: Indices
    columns: Indices
    shape: tuple[int, int]

    @property
    def nnz(self) -> int:
        """The number E of entries that may be other than zero."""
        return len(self.rows)

    @property
    def indices(self) -> Indices:
        """Rows and columns as one array, shape (2, E)."""
        return np.stack([self.rows, self.columns])

    def toarray(self) -> Any:
        """The whole matrix, an array of this shape."""
        found = np.zeros(self.shape, like=self.values)
        found[self.rows, self.columns] = self.values
        return found


class SparsePlan:
    """The structure of a sparse matrix of derivatives, with a compiled program for its values.

    Attributes
    ----------
    shape : tuple of int
        The shape of the matrix (M, N), or of the tensor (N, ..., N).
    nnz : int
        The number E of its entries, those that may be other than zero.
    rows, columns : array of int, shape (E,)
        Where they are: row by row, or column by column for csc.
    indices : array of int, shape (k, E)
        The same as one array; of a tensor of order k, which has no rows and columns, see `SparseTensor`.
    n_colors : int
        The number of directions that are swept at each refill; 0 where f is made of operations on arrays whose
        derivatives are computed by diagonals, or is computed number by number.

    Notes
    -----
    Cost of a call: the arithmetic of the entries, done by compiled code, and writing them. Memory: 24 bytes for each
    entry, and what the program needs.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> plan = hoad.sparse_hessian(lambda x: np.sum(x[1:] ** 2 * x[:-1])).plan(np.ones(4))
    >>> plan.rows, plan.columns
    (array([0, 1, 1, 1, 2, 2, 2, 3, 3]), array([1, 0, 1, 2, 1, 2, 3, 2, 3]))
    >>> plan.values(np.array([1.0, 2.0, 3.0, 4.0]))
    array([4., 4., 2., 6., 6., 4., 8., 8., 6.])
    """

    def __init__(
        self, derivative: SparseDerivative, args: tuple[Any, ...], kwargs: dict[str, Any], options: dict[str, Any]
    ) -> None:
        """`options` are those of `jit`."""
        if _shapes(args, kwargs) is None:
            raise TracedValueError("A plan is made for plain numbers, but an argument is traced. Pass hoad.value(x).")
        self._derivative, self._options = derivative, options
        self._program = SparseProgram(derivative, options, None)
        self._program.values(*args, **kwargs)

    @property
    def _planned(self) -> Planned:
        assert self._program.planned is not None
        return self._program.planned

    @property
    def _structure(self) -> Any:
        return self._planned.structure

    @property
    def shape(self) -> tuple[int, ...]:
        return self._structure.shape  # type: ignore[no-any-return]

    @property
    def nnz(self) -> int:
        return self._structure.nnz  # type: ignore[no-any-return]

    @property
    def indices(self) -> Indices:
        return self._structure.indices  # type: ignore[no-any-return]

    @property
    def rows(self) -> Indices:
        return self._places("rows")

    @property
    def columns(self) -> Indices:
        return self._places("columns")

    @property
    def n_colors(self) -> int:
        return self._planned.n_colors

    def _places(self, name: str) -> Indices:
        order = len(self.shape)
        if order != 2:
            raise AttributeError(
                f"a plan of a tensor of order {order} has no {name}, but indices, an array of shape "
                f"{(order, self.nnz)}: the first index of each entry is in indices[0]."
            )
        return getattr(self._structure, name)  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        colors = count(self.n_colors, "color") if self.n_colors else "no coloring"
        return (
            f"<plan of {self._derivative._described()}, of {_name(self._derivative)} for x of shape "
            f"{self._planned.shape_of_x}: {count(self.nnz, 'entry', 'entries')} of shape {self.shape}, {colors}>"
        )

    def values(self, *args: Any, out: NDArray[np.float64] | None = None, **kwargs: Any) -> Any:
        """The values of the entries, in the order of `rows` and `columns`.

        Parameters
        ----------
        *args, **kwargs
            The arguments of the derivative.
        out : array, shape (E,), optional
            Where to write them. Nothing is then allocated.

        Returns
        -------
        array, shape (E,)
            The values, or `out`.

        Raises
        ------
        OtherStructureError
            If f has entries outside of the structure here, since it takes another branch or got other arguments.
        ShapeError
            If x, or the derivative, has another shape than that which the plan is for.
        """
        if out is None:
            return self._program.values(*args, **kwargs)
        return self._program.values(*args, out=out, **kwargs)

    def batch(self, xs: Any, *args: Any, out: NDArray[np.float64] | None = None, **kwargs: Any) -> Any:
        """The values of the entries for many x at once: row b has those for ``xs[b]``.

        Parameters
        ----------
        xs : array, shape (B, S)
            B arrays of the shape (S) of x.
        *args, **kwargs
            The other arguments of the derivative, the same for all.
        out : array, shape (B, E), optional
            Where to write them, unless an argument is traced.

        Returns
        -------
        array, shape (B, E)
            The values, or `out`. They do not depend on the number of threads, bit for bit.

        Raises
        ------
        OtherStructureError
            If f has entries outside of the structure for one of them.
        ShapeError
            If xs or `out` has another shape.

        Notes
        -----
        Cost: up to 1000 entries, many x side by side in compiled loops, in as many threads as `jit` takes; above, or if
        f cannot be recorded for all x at once, as with `value`, a refill for each x.

        Examples
        --------
        >>> import numpy as np
        >>> import hoad
        >>> plan = hoad.sparse_jacobian(lambda x: x[1:] * x[:-1]).plan(np.ones(3))
        >>> plan.batch(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))
        array([[2., 1., 3., 2.],
               [5., 4., 6., 5.]])
        """
        traced = _shapes((xs, *args), kwargs) is None
        if isinstance(xs, (list, tuple)) and xs:
            xs = np.stack(xs)
        xs = xs if traced else np.asarray(xs)
        planned = self._planned.shape_of_x
        if not np.ndim(xs) or np.shape(xs)[1:] != planned:
            wanted = "".join(f", {n}" for n in planned) or ","
            raise ShapeError(
                f"batch takes an x in each row, an array of shape (number of points{wanted}), but got "
                f"{'a number' if not np.ndim(xs) else f'one of shape {np.shape(xs)}'}. Take values(x) for one x."
            )
        shape = len(xs), self.nnz
        found = np.empty(shape) if out is None else out
        if np.shape(found) != shape:
            raise ShapeError(f"batch gives an array of shape {shape}, but out has shape {np.shape(found)}.")
        program = self._program
        if program.has_lanes and (traced or (len(xs) and self.nnz <= MOST_IN_LANES)):
            try:
                return program.batch(xs, args, kwargs, **({} if traced else {"out": found}))
            except TracedValueError:  # f asks for plain numbers, which differ from lane to lane
                program.has_lanes = False
        if traced and len(xs):
            return np.stack([program.values(x, *args, **kwargs) for x in xs])
        for x, row in zip(xs, found, strict=True):
            program.values(x, *args, out=row, **kwargs)
        return found

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        while True:
            program = self._program  # another thread may put a new one in its place
            try:
                values = program.values(*args, **kwargs)
            except OtherStructureError as other:
                if self._widen(other.structure):
                    warn_caller(
                        f"{_name(self._derivative)} has entries here that the plan does not have: it takes another "
                        "branch than where the plan was made, or got other arguments. The plan has them from now on."
                    )
            else:
                assert program.planned is not None
                return self._derivative._arranged(program.planned.structure, values)

    def _widen(self, structure: Any) -> bool:
        """Whether a structure had to be joined to that of the plan, which has its entries from now on."""
        with _WIDENING:
            planned = self._planned
            if planned.structure.has(structure):
                return False
            planned = planned._replace(structure=planned.structure.joined(structure))
            self._program = SparseProgram(self._derivative, self._options, planned)
            return True

    def __reduce__(self) -> Any:
        return _restored, (self._derivative, self._planned, self._options)


def _restored(derivative: SparseDerivative, planned: Planned, options: dict[str, Any]) -> SparsePlan:
    plan = SparsePlan.__new__(SparsePlan)
    plan._derivative, plan._options = derivative, options
    plan._program = SparseProgram(derivative, options, planned)
    return plan


class PlannedDerivative:
    """A sparse derivative with a plan for each shape of its arguments and of its result: what `jit` makes of one."""

    def __init__(self, derivative: SparseDerivative, options: dict[str, Any]) -> None:
        functools.update_wrapper(self, derivative, updated=())
        self.format = derivative.format
        self._derivative, self._options = derivative, options
        self._plans: dict[Any, list[SparsePlan]] = {}  # for arguments of the same shapes; that used last comes first

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        shapes = _shapes(args, kwargs)
        if shapes is None:
            return self._derivative(*args, **kwargs)
        plans = self._plans.get(shapes) or self._first(shapes, args, kwargs)
        try:
            return plans[0](*args, **kwargs)
        except ShapeError:
            shape = self._derivative._shape(args, kwargs)
            if shape in (None, plans[0].shape):
                raise
        # The values decide on the shape of the result, as in x[x > 0].
        plan = next((plan for plan in plans if plan.shape == shape), None)
        if plan is None:
            if len(plans) == MOST_SHAPES:
                warn_caller(
                    f"{_name(self._derivative)} has derivatives of more than {MOST_SHAPES} shapes for arguments of the "
                    "same shapes. Further ones run without a plan: use np.where in place of x[x > 0] and the like."
                )
                return self._derivative(*args, **kwargs)
            plan = SparsePlan(self._derivative, args, kwargs, self._options)
        self._plans[shapes] = [plan, *(other for other in plans if other is not plan)]
        return plan(*args, **kwargs)

    def plan(self, *args: Any, **kwargs: Any) -> SparsePlan:
        """The plan for arguments of these shapes, made the first time."""
        shapes = _shapes(args, kwargs)
        return (self._plans.get(shapes) or self._first(shapes, args, kwargs))[0]

    def _first(self, shapes: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[SparsePlan]:
        """The first plan for arguments of these shapes."""
        found = self._plans[shapes] = [SparsePlan(self._derivative, args, kwargs, self._options)]
        return found

    if not TYPE_CHECKING:  # which would take any name for an attribute

        def __getattr__(self, name: str) -> Any:
            raise _no_attribute(self, name)

    def __repr__(self) -> str:
        return f"<hoad.jit of {self._derivative!r}>"


def _no_attribute(derivative: Any, name: str) -> AttributeError:
    """The error for an attribute that is not there, but may be one of plans."""
    plans = f"; its plans have: plan(x).{name}" if not name.startswith("_") and hasattr(SparsePlan, name) else ""
    return AttributeError(f"{type(derivative).__name__!r} object has no attribute {name!r}{plans}", name=name)


def _shapes(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """For which arguments a plan is: how they are nested, and the shapes of arrays; None if one is traced."""
    if not kwargs and all(type(x) is np.ndarray and x.dtype.kind == "f" for x in args):
        return tuple([x.shape for x in args])
    leaves, form = flatten((args, kwargs))
    return None if holds_traced(leaves) else (form, tuple(x.shape if isinstance(x, np.ndarray) else () for x in leaves))


def _name(derivative: SparseDerivative) -> str:
    return getattr(derivative, "__name__", None) or type(derivative._f).__name__
