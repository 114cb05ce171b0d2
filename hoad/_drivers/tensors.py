"""Derivatives of higher order in several variables: whole tensors, and chosen entries of them."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hoad._comparison.plain_calls import of_first
from hoad._core.record.recording import Recording, differentiating
from hoad._core.trace.coerce import holds_traced
from hoad._core.trace.traced import is_traced
from hoad._docstrings import docfiller
from hoad._drivers.dense import jacobian_blocks
from hoad._drivers.taylor import raise_missing
from hoad._program.trace import call_traced, outputs
from hoad._pytree.arguments import check_argument, check_function, checked_order
from hoad._pytree.arguments import packed as packed_array
from hoad._transform.directions import MultiIndex, multi_indices, shared
from hoad._transform.expansion import of_floats
from hoad._transform.expansion_along_lines import Family
from hoad._transform.iterated_partials import nested
from hoad._transform.scaling import exponents, scaled
from hoad._transform.symmetric import entries_of, unpacking
from hoad.errors import ArgumentError, DTypeError, RuleError, ShapeError, count

# Docs/design/0029: the highest order of a mixed derivative, and of a tensor, that is combined of lines; beyond, how
# many products of coefficients are taken for each product in a function.
BY_LINES, TENSORS_BY_LINES, MOST_PRODUCTS = 6, 12, 1e7
MOST_AXES, MOST_ENTRIES = 64, 1 << 31  # of an array of NumPy's; of a whole tensor, 16 GB
HIGHEST, LARGEST = 170, int(np.finfo(float).max)  # 171! is beyond the largest float


def differentiated(driver: str, f: Callable[[Any], Any], x: Any, order: int, make: Callable[[Any], Any]) -> Any:
    """What `make` records of a traced x, in the form in which f returns its numbers and arrays.

    Outermost, no derivative of f of this order may be undefined.
    """
    x = packed_array(x)
    check_argument(driver, "0", x)
    if np.iscomplexobj(x) or (is_traced(x) and x.dtype.kind == "c"):
        raise DTypeError(
            f"{driver} takes real arguments, but x is {getattr(x, 'dtype', 'complex')}. Differentiate with respect to "
            "its real and imaginary parts, two arrays."
        )
    if np.size(x) == 0:
        raise ShapeError(f"{driver} takes an x of one number or more, but it is empty, of shape {np.shape(x)}.")
    with differentiating() as d:
        returned, _ = call_traced(d, make, (x,), (0,), driver, {})
        ys, parts = outputs(d, returned, driver)
        del returned
        found = d.results(ys)
    if not holds_traced(found) and not all(np.isfinite(y).all() for y in found):
        raise_missing(driver, f, x, None, order)
    return found[0] if parts is None else parts.derivative(found)


@docfiller
def derivative_tensor(f: Callable[..., Any], k: int, *, packed: bool = False) -> Callable[..., Any]:
    """The symmetric tensor of all partial derivatives of order k, ``x -> ∂ᵏf/∂x_i₁⋯∂x_iₖ``.

    Parameters
    ----------
    %(f_of_array)s
    k : int
        The order, 1 or more.
    packed : bool, optional
        If True, return each of the C(n + k - 1, k) distinct entries once, n = x.size: those with i₁ <= ... <= iₖ, in
        the order of ``itertools.combinations_with_replacement(range(n), k)``. `unpack_tensor` gives the whole tensor.

    Returns
    -------
    callable
        Called like f; returns an array of shape (T, S, ..., S), with S k times, as nested Jacobians do; with `packed`,
        of shape (T, C(n + k - 1, k)). Entries that are equal by symmetry are equal bit for bit. Units: those of f over
        the k-th power of those of x.

    Raises
    ------
    ArgumentError
        If f cannot be called, k is not an order, or k is above 12 and too high for the number of variables (20 for 4).
    ShapeError
        If the tensor has more axes than NumPy allows, or more than 2³¹ entries, or x is empty.
    %(point_raises)s

    Notes
    -----
    Cost: if f(x) is a number, f and one reverse sweep, expanded to order k - 1 along C(n + k - 2, k - 1) lines at once;
    if f(x) is an array, f, expanded to order k along C(n + k - 1, k) lines. Then a few operations for each distinct
    entry, and a copy for each entry. From order 13 on, f is expanded in one entry of x after another: at most (k + 1)ⁿ
    k²ⁿ⁻² / 2ⁿ⁻¹ operations for each operation of f.

    Accuracy: up to order 12, entries are sums of up to C(2k - 3, k - 2) coefficients of both signs (C(2k - 1, k) for
    arrays). Relative to the largest entry, errors are about 1e-14 at order 6, 1e-13 at order 10 and 5e-12 at order 12.
    From order 13 on nothing cancels. `partials` loses no digits from order 7 on.

    References
    ----------
    Griewank, Utke and Walther (2000), Evaluating higher derivative tensors by forward propagation of univariate Taylor
    series, Mathematics of Computation 69, 1117-1130.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> hoad.derivative_tensor(lambda x: x[0] ** 2 * x[1], 3)(np.array([1.0, 3.0]))
    array([[[0., 2.],
            [2., 0.]],
    <BLANKLINE>
           [[2., 0.],
            [0., 0.]]])
    >>> hoad.derivative_tensor(lambda x: x[0] ** 2 * x[1], 3, packed=True)(np.array([1.0, 3.0]))
    array([0., 2., 0., 0.])
    """
    check_function("derivative_tensor", f, k)
    k = checked_order("derivative_tensor", k, 1, HIGHEST, shown=True)

    @functools.wraps(f, updated=())
    def tensor(x: Any, *args: Any, **kwargs: Any) -> Any:
        def of(x: Any) -> Any:
            n = int(np.size(x))
            _check_size(n, k)
            if not packed:
                _check_entries(n, k)
            swept = _Swept(f, args, kwargs)
            try:
                if n == 1 or k <= TENSORS_BY_LINES:
                    found = _by_lines(swept, x, k)
                else:  # by one variable after the other
                    found = [np.moveaxis(y, 0, -1) for y in nested(swept, x, multi_indices(n, k))]
            except RuleError:  # of a rule that branches on values, which a series has not, but a sweep has
                if k > 1:
                    raise
                found = swept.jacobian(x)
            if not packed:
                found = [_unpacked(entries, np.shape(x), k) for entries in found]
            return swept.arranged(found)

        return differentiated("derivative_tensor", of_first(f, args, kwargs, "derivative_tensor"), x, k, of)

    return tensor


def _check_entries(n: int, k: int) -> None:
    """Raise for a whole tensor that no memory holds."""
    if n**k > MOST_ENTRIES:
        raise ShapeError(
            f"the whole tensor of order {k} in {count(n, 'variable')} has {n**k} entries. Take the distinct ones, "
            "derivative_tensor(f, k, packed=True), or those that you need, partials(f, multi_indices)."
        )


def _check_size(n: int, k: int) -> None:
    """Raise for a tensor that would be taken by one variable after the other for minutes."""
    if n == 1 or k <= TENSORS_BY_LINES or (n - 1) * math.log(k * k / 2) <= math.log(MOST_PRODUCTS):
        return
    most = max(TENSORS_BY_LINES, int((2 * MOST_PRODUCTS ** (1 / (n - 1))) ** 0.5))
    raise ArgumentError(
        f"derivative_tensor takes orders to {most} in {n} variables, not {k}: higher orders cost too "
        "much. Ask for the entries that you need, partials(f, multi_indices), or for the tensor in fewer variables."
    )


def _by_lines(swept: _Swept, x: Any, k: int) -> list[Any]:
    """For each result the distinct entries along the last axis, combined of coefficients along lines."""
    swept.may_sweep = k > 1
    family = Family(swept, [x])
    entries = entries_of(int(np.size(x)), k, swept.by_reverse)
    found = []
    for series in family.expanded([entries.directions.reshape(*np.shape(x), -1)], entries.degree):
        top = np.reshape(series[-1], (-1,)) if swept.by_reverse else series[-1]
        found.append(entries.combined(top)[..., entries.order])
    return found


def _unpacked(entries: Any, shape: tuple[int, ...], k: int) -> Any:
    """The whole tensor of its distinct entries along the last axis."""
    axes = np.ndim(entries) - 1 + k * len(shape)
    if axes > MOST_AXES:
        raise ShapeError(
            f"the whole tensor of order {k} has {axes} axes, but NumPy's arrays have {MOST_AXES} at most. Take its "
            "distinct entries, derivative_tensor(f, k, packed=True)."
        )
    _check_entries(math.prod(shape), k)
    return entries[..., unpacking(math.prod(shape), k).reshape(shape * k)]


class _Swept:
    """f; or its gradient, where its value is a number and it `may_sweep`."""

    def __init__(self, f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._f, self._args, self._kwargs = f, args, kwargs
        self.may_sweep = self.by_reverse = False

    def _recorded(self, d: Recording, x: Any) -> list[int]:
        """The operands of what f gives at x."""
        f = of_floats(lambda x: self._f(x, *self._args, **self._kwargs))
        returned, _ = call_traced(d, f, (x,), (0,), "derivative_tensor")
        ys, self._parts = outputs(d, returned, "derivative_tensor")
        return ys

    def jacobian(self, x: Any) -> list[Any]:
        """For each result its derivatives with respect to the entries of x, along the last axis, by sweeps."""
        with differentiating() as d:
            ys = self._recorded(d, x)
            blocks = jacobian_blocks(d, ys, d.inputs)
            found = [np.reshape(block, (*d.aval(y).shape, np.size(x))) for (block,), y in zip(blocks, ys, strict=True)]
            return d.results([d.operand(y) for y in found], traced=True)

    def __call__(self, x: Any) -> list[Any]:
        with differentiating() as d:
            ys = self._recorded(d, x)
            aval = d.aval(ys[0])
            self.by_reverse = self.may_sweep and len(ys) == 1 and not aval.shape and aval.dtype.kind == "f"
            if self.by_reverse:
                ys = d.or_zeros(d.adjoints(ys, [d.one_like(ys[0])], d.inputs), d.inputs)
            return d.results(ys, traced=True)

    def arranged(self, found: list[Any]) -> Any:
        """Derivatives in the form of what f returned."""
        return found[0] if self._parts is None else self._parts.derivative(found)


def unpack_tensor(packed: Any, shape: int | tuple[int, ...], k: int) -> Any:
    """The whole symmetric tensor of order k from its distinct entries.

    Parameters
    ----------
    packed : ndarray (T, C(n + k - 1, k))
        The result of `derivative_tensor` with ``packed=True``, traced or not.
    shape : int or tuple of int
        The shape (S) of x; n is the size of x.
    k : int
        The order, 1 or more.

    Returns
    -------
    ndarray (T, S, ..., S)
        The tensor, with S k times in its shape.

    Raises
    ------
    ArgumentError
        If k is not an order, or `shape` is not a shape.
    ShapeError
        If `packed` does not have C(n + k - 1, k) entries along its last axis.

    Notes
    -----
    Cost: a copy of each entry.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> hoad.unpack_tensor(np.array([1.0, 2.0, 3.0]), 2, 2)
    array([[1., 2.],
           [2., 3.]])
    """
    k = checked_order("unpack_tensor", k, least=1)
    try:
        shape = tuple(map(operator.index, shape if np.iterable(shape) else (shape,)))
    except TypeError:
        raise ArgumentError(f"unpack_tensor takes the shape of x, an int or a tuple of ints, not {shape!r}.") from None
    if any(n < 0 for n in shape):
        raise ArgumentError(f"unpack_tensor takes the shape of x, which has no negative numbers, not {shape!r}.")
    n = math.prod(shape)
    size = math.comb(n + k - 1, k) if n else 0
    if np.ndim(packed) == 0 or np.shape(packed)[-1] != size:
        raise ShapeError(
            f"unpack_tensor takes {count(size, 'entry', 'entries')} along the last axis for order {k} in "
            f"{count(n, 'variable')}, but found shape {np.shape(packed)}."
        )
    return _unpacked(packed, shape, k)


@docfiller
def partials(f: Callable[..., Any], multi_indices: Sequence[Sequence[int]]) -> Callable[..., Any]:
    """Chosen mixed partial derivatives, ``x -> [∂ᵃf(x) for a in multi_indices]``.

    Parameters
    ----------
    %(f_of_array)s
    multi_indices : sequence of tuples of int
        For each derivative, its order in each entry of x, in C order: x.size numbers.

    Returns
    -------
    callable
        Called like f; returns an array of shape (len(multi_indices), T), in the order of `multi_indices`.

    Raises
    ------
    ArgumentError
        If f cannot be called, or a multi-index is not a sequence of non-negative integers.
    ShapeError
        If a multi-index does not have as many entries as x, or x is empty.
    %(point_raises)s

    Notes
    -----
    Cost: f, expanded to the highest order along a few lines at once, which all derivatives share; for a single
    derivative, at most Π (aⱼ + 1) / 2 lines, rounded up. From order 7 on, where combinations of lines lose digits, f is
    expanded in one entry of x after another: Π aⱼ² / 2 operations for each operation of f.

    References
    ----------
    Griewank, Utke and Walther (2000), Evaluating higher derivative tensors by forward propagation of univariate Taylor
    series, Mathematics of Computation 69, 1117-1130.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> hoad.partials(lambda x: x[0] ** 3 * x[1] ** 2, [(1, 0), (2, 1), (3, 2)])(np.array([1.0, 2.0]))
    array([12., 24., 12.])
    """
    check_function("partials", f, multi_indices)
    if not np.iterable(multi_indices):
        raise ArgumentError(f"partials takes a list of multi-indices, [(1, 0), (2, 1)], not {multi_indices!r}.")
    multi_indices = list(multi_indices)
    if multi_indices and all(isinstance(a, (int, np.integer)) for a in multi_indices):
        one = tuple(map(int, np.array(multi_indices)))
        raise ArgumentError(
            f"partials takes a list of multi-indices, but was given one of them, {one}. Write "
            f"hoad.partials(f, [{one}])(x)."
        )
    indices = [_multi_index(a) for a in multi_indices]
    groups = _grouped(indices)
    order = np.argsort([k for places in groups.values() for k in places], kind="stable")

    @functools.wraps(f, updated=())
    def chosen(x: Any, *args: Any, **kwargs: Any) -> Any:
        def of(x: Any) -> Any:
            for a in indices:
                if len(a) != np.size(x):
                    raise ShapeError(
                        f"partials was given the multi-index {a} of {count(len(a), 'entry', 'entries')}, but x has "
                        f"{np.size(x)}. Give one number for each entry of x."
                    )
            family = Family(of_first(f, args, kwargs, "partials"), [x])
            found = []
            for support, places in groups.items():
                chosen = [indices[k] for k in places]
                if support is None:
                    found.append(_combined(family, chosen, x))
                else:
                    found.append(nested(of_first(f, args, kwargs, "partials"), x, chosen))
            if len(found) == 1:
                return family.parts.filled(found[0])
            return family.parts.filled(np.concatenate(rows)[order] for rows in zip(*found, strict=True))

        return differentiated(
            "partials", of_first(f, args, kwargs, "partials"), x, max(map(sum, indices), default=0), of
        )

    return chosen


def _multi_index(a: Any) -> MultiIndex:
    try:
        found = tuple(map(operator.index, a))
    except TypeError:
        found = (-1,)
    if any(n < 0 for n in found):
        raise ArgumentError(f"partials takes multi-indices, tuples of non-negative integers, not {a!r}.")
    if any(n > HIGHEST for n in found) or math.prod(map(math.factorial, found)) > LARGEST:
        raise ArgumentError(
            f"partials takes multi-indices a with a! = a₁! a₂! ... a float, {HIGHEST} of one variable, but found {a!r}."
        )
    return found


def _grouped(indices: list[MultiIndex]) -> dict[tuple[int, ...] | None, list[int]]:
    """The places of those that lines give, under None, and of the others by the entries of x that they are taken by."""
    groups: dict[tuple[int, ...] | None, list[int]] = {}
    for k, a in enumerate(indices):
        support = None if sum(a) <= BY_LINES else tuple(j for j, n in enumerate(a) if n)
        groups.setdefault(support, []).append(k)
    return groups or {None: []}


def _combined(family: Family, indices: list[MultiIndex], x: Any) -> list[Any]:
    """For each result of a family the partial derivatives at x, along a first axis.

    Where variables are combined in a line, one goes further than another as it is larger: differences would lose it.
    """
    directions, rows = shared(indices)
    shape, degree = np.shape(x), max(map(sum, indices), default=0)
    lines = np.array(directions, np.float64).T.reshape(*shape, -1) if degree else np.zeros((*shape, 1))
    used = lines.reshape(-1, lines.shape[-1]) != 0.0
    far = None
    if np.sum(used, axis=0).max(initial=0) > 1:
        far = exponents(np.abs(x))
        far = far - np.rint(np.mean(np.reshape(far, (-1,))[used.any(axis=1)]))
        lines = np.multiply(lines, np.reshape(np.exp2(far), (*shape, 1)))
    matrix = np.zeros((len(indices), lines.shape[-1]))
    for row, pairs in zip(matrix, rows, strict=True):
        for place, factor in pairs:
            row[place] = factor
    by_order = {k: [i for i, a in enumerate(indices) if sum(a) == k] for k in range(degree + 1)}
    order = np.argsort([i for k in by_order for i in by_order[k]], kind="stable")
    alone = len(by_order[degree]) == 1 and degree > 0
    found = []
    weights = matrix[by_order[degree][0]] if alone else None
    for series, of in zip(family.expanded([lines], max(degree, 1), weights, alone), family.shapes, strict=True):
        parts = [np.zeros((0, *of))]
        for k, places in by_order.items():
            if not places:
                continue
            if k == 0:
                parts.append(np.broadcast_to(series[0], (len(places), *of)))
            elif alone and k == degree:
                parts.append(np.reshape(series[k], (1, *of)))
            else:
                rows_of = np.matmul(np.reshape(series[k], (-1, lines.shape[-1])), matrix[places].T)
                parts.append(np.reshape(np.transpose(rows_of), (len(places), *of)))
        made = np.concatenate(parts)[order] if len(parts) > 2 else parts[-1]
        if far is not None:
            back = np.negative(np.matmul(np.array(indices, np.float64), np.reshape(far, (-1,))))
            made = scaled(made, np.reshape(back, (-1, *[1] * len(of))))
        found.append(made)
    return found
