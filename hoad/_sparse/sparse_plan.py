"""Sparse derivatives: as they are, or with a plan that is made once and filled in again and again."""

from __future__ import annotations

import functools
import threading
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from hoad._core.record.recording import Recording, differentiating
from hoad._core.trace.coerce import holds_traced
from hoad._sparse.relations import Indices
from hoad._sparse.sparse_program import OtherStructureError, SparseProgram
from hoad._sparse.sparse_structure import Structure
from hoad._sparse.sweeps import Sweep, Triangle, Values, values_of_sweep
from hoad.errors import ArgumentError, JitWarning, ShapeError, TracedValueError

if TYPE_CHECKING:
    from numpy.typing import NDArray

Format = Literal["csr", "csc", "coo", "triplets"]
FORMATS = ("csr", "csc", "coo", "triplets")
# Entries up to which many x side by side are faster than one after the other.
MOST_IN_LANES = 1000
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
            The plan, which may be called with other arguments of the same shapes.

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

    def _arranged(self, structure: Structure, values: Any) -> Any:
        if self.format == "triplets":
            return Triplets(values, structure.rows, structure.columns, structure.shape)
        if holds_traced((values,)):
            raise TracedValueError(
                f"{self._driver} is differentiated or compiled together with what is around it, where a SciPy matrix "
                "cannot hold its values. Take format='triplets', or compile it alone: hoad.jit of the derivative."
            )
        return structure.matrix(values, self.format)

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
    """

    values: Any
    rows: Indices
    columns: Indices
    shape: tuple[int, int]


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
        if holds_traced((*args, *kwargs.values())):
            raise TracedValueError("A plan is made for plain numbers, but an argument is traced. Pass hoad.value(x).")
        self._derivative, self._options = derivative, options
        self._program = SparseProgram(derivative, options, None)
        self._program.values(*args, **kwargs)

    @property
    def _structure(self) -> Structure:
        return self._program.structure  # type: ignore[no-any-return]

    @property
    def shape(self) -> tuple[int, ...]:
        return self._structure.shape

    @property
    def nnz(self) -> int:
        return self._structure.nnz

    @property
    def indices(self) -> Indices:
        return self._structure.indices

    @property
    def rows(self) -> Indices:
        return self._structure.rows

    @property
    def columns(self) -> Indices:
        return self._structure.columns

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
        GuardError
            If f takes another branch here, with entries outside of the structure.
        """
        if out is None:
            return self._program.values(*args, **kwargs)
        return self._program.values(*args, out=out, **kwargs)

    def batch(self, xs: Any, *args: Any, out: NDArray[np.float64] | None = None, **kwargs: Any) -> Any:
        """The values of the entries for many x at once: row b has those for ``xs[b]``.

        Parameters
        ----------
        xs : array, shape (B, S)
            Arrays of the shape (S) of x.
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
        GuardError
            If f takes another branch for one of them, with entries outside of the structure.
        ShapeError
            If xs or `out` has another shape.

        Notes
        -----
        Cost: up to 1000 entries, many x side by side in compiled loops, in as many threads as `jit` takes; above, a
        refill for each x.

        Examples
        --------
        >>> import numpy as np
        >>> import hoad
        >>> plan = hoad.sparse_jacobian(lambda x: x[1:] * x[:-1]).plan(np.ones(3))
        >>> plan.batch(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))
        array([[2., 1., 3., 2.],
               [5., 4., 6., 5.]])
        """
        if holds_traced((xs, *args, *kwargs.values())):
            return self._program.batch(xs, args, kwargs)
        xs = np.asarray(xs)
        if not xs.ndim:
            raise ShapeError("batch takes an array with an x in each row, but got a number. Take values(x) for one x.")
        shape = len(xs), self.nnz
        found = np.empty(shape) if out is None else out
        if found.shape != shape:
            raise ShapeError(f"batch gives an array of shape {shape}, but out has shape {found.shape}.")
        if self.nnz > MOST_IN_LANES or not len(xs):
            for x, row in zip(xs, found, strict=True):
                self.values(x, *args, out=row, **kwargs)
            return found
        return self._program.batch(xs, args, kwargs, out=found)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        while True:
            program = self._program  # another thread may put a new one in its place
            try:
                values = program.values(*args, **kwargs)
            except OtherStructureError as other:
                if self._widen(other.structure):
                    name = getattr(self._derivative, "__name__", "f")
                    warnings.warn(
                        f"{name} takes another branch here, with entries that the plan does not have. It has them from "
                        "now on.",
                        JitWarning,
                        stacklevel=2,
                    )
            else:
                return self._derivative._arranged(program.structure, values)

    def _widen(self, structure: Any) -> bool:
        """Whether a structure had to be joined to that of the plan, which has its entries from now on."""
        with _WIDENING:
            if self._structure.has(structure):
                return False
            joined = self._structure.joined(structure)
            self._program = SparseProgram(self._derivative, self._options, joined)
            return True

    def __reduce__(self) -> Any:
        return _planned, (self._derivative, self._structure, self._options)


def _planned(derivative: SparseDerivative, structure: Structure, options: dict[str, Any]) -> SparsePlan:
    plan = SparsePlan.__new__(SparsePlan)
    plan._derivative, plan._options = derivative, options
    plan._program = SparseProgram(derivative, options, structure)
    return plan


class PlannedDerivative:
    """A sparse derivative with a plan for each shape of its first argument: what `jit` makes of one."""

    def __init__(self, derivative: SparseDerivative, options: dict[str, Any]) -> None:
        functools.update_wrapper(self, derivative, updated=())
        self._derivative, self._options = derivative, options
        self._plans: dict[Any, SparsePlan] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if holds_traced((*args, *kwargs.values())):
            return self._derivative(*args, **kwargs)
        return self.plan(*args, **kwargs)(*args, **kwargs)

    def plan(self, *args: Any, **kwargs: Any) -> SparsePlan:
        """The plan for these arguments, made the first time."""
        shape = np.shape(args[0]) if args else None
        plan = self._plans.get(shape)
        if plan is None:
            plan = self._plans[shape] = SparsePlan(self._derivative, args, kwargs, self._options)
        return plan
