"""Sparse tensors of derivatives of order k: their distinct entries, by a sparse Jacobian of those of order k - 1."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from hoad._core.record.recording import Recording, differentiating
from hoad._docstrings import docfiller
from hoad._pytree.arguments import check_function, checked_order
from hoad._sparse.placed_operands import shaped
from hoad._sparse.relations import Indices
from hoad._sparse.sparse_plan import SparseDerivative
from hoad._sparse.sweeps import check_shape, recorded_gradient, sweep_of_hessian, sweep_of_jacobian, values_of_sweep


@docfiller
def sparse_derivative_tensor(f: Callable[..., Any], k: int) -> SparseDerivative:
    """The partial derivatives of order k of a scalar function, ``x -> ∂ᵏf/∂x_i₁⋯∂x_iₖ``, that may be other than zero.

    Parameters
    ----------
    %(sparse_f)s
        f(x) is a number.
    k : int
        The order, 1 or more.

    Returns
    -------
    SparseDerivative
        Called like f; returns a `SparseTensor` of the distinct entries, those with i₁ >= i₂ >= ... >= iₖ. Indices count
        the entries of x in C order. ``plan(x)`` gives their indices and a compiled program for their values, to be
        called again and again; so does `hoad.jit`. Units: those of f over those of the k entries of x.

    Raises
    ------
    %(sparse_raises)s
    ShapeError
        If f(x) is not a number.

    Notes
    -----
    Cost: the lower triangle of `sparse_hessian`, then a sparse Jacobian of the distinct entries of each order, for
    those of the next one: a few array operations for each one in a derivative of the order below, in sum two to four
    times as many with each order. Where most entries are other than zero, `derivative_tensor` is faster, and more than
    2²⁷ entries at one operation raise an ArgumentError. Nothing cancels, at any order. k = 1 gives all entries of the
    gradient.

    References
    ----------
    Gower and Gower (2016), Higher-order reverse automatic differentiation with emphasis on the third-order,
    Mathematical Programming 155, 81-103.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> third = hoad.sparse_derivative_tensor(lambda x: np.sum(x[1:] ** 2 * x[:-1]), 3)(np.ones(1000))
    >>> third.shape, third.nnz
    ((1000, 1000, 1000), 999)
    >>> third.indices[:, :3]
    array([[1, 2, 3],
           [1, 2, 3],
           [0, 1, 2]])
    >>> third.values[:3]
    array([2., 2., 2.])
    """
    check_function("sparse_derivative_tensor", f)
    order = checked_order("sparse_derivative_tensor", k, 1)
    return _SparseTensorDerivative(f, order)


@dataclass(frozen=True)
class SparseTensor:
    """A symmetric tensor of derivatives as the values and the indices of its distinct entries.

    Attributes
    ----------
    values : array, shape (E,)
        The values of E entries; traced inside another derivative. Units: those of the derivative.
    indices : array of int, shape (k, E)
        Where they are: i₁ >= i₂ >= ... >= iₖ in each column, each once, in lexicographic order.
    shape : tuple of int
        The shape (N, ..., N) of the tensor.

    Notes
    -----
    `vmap` stacks indices as it does values, unless it is told that they are the same:
    ``vmap(f, out_axes=hoad.SparseTensor(0, None, None))``.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> t = hoad.sparse_derivative_tensor(lambda x: x[0] ** 2 * x[1], 3)(np.array([1.0, 3.0]))
    >>> t.indices, t.values
    (array([[1],
           [0],
           [0]]), array([2.]))
    >>> t.toarray()
    array([[[0., 2.],
            [2., 0.]],
    <BLANKLINE>
           [[2., 0.],
            [0., 0.]]])
    """

    values: Any
    indices: Indices
    shape: tuple[int, ...]

    @property
    def nnz(self) -> int:
        """The number E of distinct entries that may be other than zero."""
        return len(self.indices[0])

    def toarray(self) -> Any:
        """The whole tensor, an array of this shape."""
        found = np.zeros(self.shape, like=self.values)
        for places in itertools.permutations(self.indices):
            found[places] = self.values
        return found


class _Entries(NamedTuple):
    """The distinct entries of a tensor that may be other than zero, in lexicographic order."""

    shape: tuple[int, ...]
    indices: Indices

    @property
    def nnz(self) -> int:
        return len(self.indices[0])

    @property
    def rows(self) -> Any:  # of a tensor of order 2
        return self.indices[0]

    @property
    def columns(self) -> Any:
        return self.indices[1]

    def joined(self, other: _Entries) -> _Entries:
        """The entries of both."""
        return _Entries(self.shape, np.unique(np.concatenate([self.indices, other.indices], axis=1), axis=1))

    def has(self, other: _Entries) -> bool:
        """Whether every entry of another is one of these."""
        return self.slots(other) is not None

    def slots(self, other: _Entries) -> Indices | None:
        """Where the entries of another are among these; None if they lack one."""
        both = np.concatenate([self.indices, other.indices], axis=1)
        found, inverse = np.unique(both, axis=1, return_inverse=True)
        return inverse.ravel()[self.nnz :] if found.shape[1] == self.nnz else None


class _Found(NamedTuple):
    structure: _Entries
    operand: int
    n_colors: int  # directions that are swept for it, at the order that takes most


class _SparseTensorDerivative(SparseDerivative):
    """A function that returns a `SparseTensor`."""

    def __init__(self, f: Callable[..., Any], order: int) -> None:
        super().__init__("sparse_derivative_tensor", f, sweep_of_hessian, "triplets", "lower")
        self.order = order

    def _described(self) -> str:
        return f"{self._driver} of order {self.order}"

    def _recorded(self, recording: Recording, args: tuple[Any, ...], kwargs: dict[str, Any], known: Any) -> Any:
        found = self._entries(recording, args, kwargs, self.order)
        return found if known is None else _placed(recording, found, known)

    def _entries(self, recording: Recording, args: tuple[Any, ...], kwargs: dict[str, Any], order: int) -> _Found:
        """The entries of an order; from the third on, by derivatives of those of the order below, recorded inside."""
        if order == 1:
            return _gradient(recording, recorded_gradient(recording, self._f, args, kwargs, self._driver))
        if order == 2:
            made = values_of_sweep(
                sweep_of_hessian(recording, self._f, args, kwargs, self._driver), False, "lower", None
            )
            return _Found(_Entries(made.structure.shape, made.structure.indices), made.operand, made.n_colors)
        below: list[_Found] = []

        def values_below(*args: Any, **kwargs: Any) -> Any:
            with differentiating() as inner:
                found = self._entries(inner, args, kwargs, order - 1)
                below.append(found)
                return inner.results([found.operand])[0]

        sweep = sweep_of_jacobian(recording, values_below, args, kwargs, self._driver)
        shape, indices = below[-1].structure
        made = values_of_sweep(sweep._replace(last=indices[-1]), False, None, None)
        indices = np.vstack([indices[:, made.structure.rows], made.structure.columns])
        n_colors = max(made.n_colors, below[-1].n_colors)
        return _Found(_Entries((*shape, shape[0]), indices), made.operand, n_colors)

    def _arranged(self, structure: Any, values: Any) -> Any:
        return SparseTensor(values, structure.indices, structure.shape)


def _gradient(recording: Recording, gradient: int) -> _Found:
    (x,) = recording.inputs
    size = recording.aval(x).size
    (operand,) = recording.or_zeros([gradient], [x])
    return _Found(_Entries((size,), np.arange(size)[None]), shaped(recording, operand, (size,)), 0)


def _placed(recording: Recording, found: _Found, known: _Entries) -> _Found:
    """The same among known entries, if these have all."""
    check_shape(found.structure.shape, known.shape)
    if np.array_equal(found.structure.indices, known.indices):
        return found._replace(structure=known)
    slots = known.slots(found.structure)
    if slots is None:
        return found
    operands = [found.operand, recording.operand(slots)]
    placed = recording.assembly(np.dtype(np.float64), (known.nnz,), operands, (None,))
    return _Found(known, placed, found.n_colors)
