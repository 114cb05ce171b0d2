"""Which array sees what is written to which: as in NumPy, for every function and method that gives an array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hoad
from hoad._core.trace.traced import FUNCTIONS, METHODS

F = Callable[[Any], Any]

CUBE = np.arange(1.0, 25.0).reshape(2, 3, 4)
SOURCES: dict[str, F] = {
    "vector": lambda x: x[0, 0] * 1.0,
    "matrix": lambda x: x[0] * 1.0,
    "cube": lambda x: x * 1.0,
    "square": lambda x: x[0][:, :3] * 1.0,
    "row": lambda x: x[0][:1] * 1.0,
    "turned": lambda x: (x[0] * 1.0).T,
    "every other": lambda x: (x[0] * 1.0)[:, ::2],
    "backwards": lambda x: (x[0, 0] * 1.0)[::-1],
    "without dimensions": lambda x: (x[0, 0] * 1.0)[1, ...],
}

# Every way to make an array of one, by the functions and methods that hoad knows, and by indices.
LOOKS: dict[str, F] = {
    "a[...]": lambda a: a[...],
    "a[:]": lambda a: a[:],
    "a[1:]": lambda a: a[1:],
    "a[::-1]": lambda a: a[::-1],
    "a[None]": lambda a: a[None],
    "a[0, ...]": lambda a: a[0, ...],
    "a[0]": lambda a: a[0],
    "a[np.array(0)]": lambda a: a[np.array(0)],
    "a[[0]]": lambda a: a[[0]],
    "a[a > 0]": lambda a: a[np.ones(a.shape, bool)],
    "a.T": lambda a: a.T,
    "a.mT": lambda a: a.mT,
    "a.transpose": lambda a: a.transpose(),
    "a.reshape": lambda a: a.reshape(-1),
    "a.reshape, rows": lambda a: a.reshape(a.shape[::-1]),
    "a.reshape, F": lambda a: a.reshape(-1, order="F"),
    "a.ravel": lambda a: a.ravel(),
    "a.ravel, F": lambda a: a.ravel("F"),
    "a.flatten": lambda a: a.flatten(),
    "a.copy": lambda a: a.copy(),
    "a.squeeze": lambda a: a.squeeze(),
    "a.swapaxes": lambda a: a.swapaxes(0, -1),
    "a.diagonal": lambda a: a.diagonal(),
    "a.real": lambda a: a.real,
    "a.astype": lambda a: a.astype(float),
    "a.astype, copy=False": lambda a: a.astype(float, copy=False),
    "a.astype, float32": lambda a: a.astype(np.float32),
    "a.clip": lambda a: a.clip(-np.inf, np.inf),
    "a.round": lambda a: a.round(3),
    "a.repeat": lambda a: a.repeat(1),
    "a.take": lambda a: a.take([0, 1]),
    "a.conj": lambda a: a.conj(),
    "a.sum": lambda a: a.sum(axis=()),
    "a.cumsum": lambda a: a.cumsum(),
    "+a": lambda a: +a,
    "abs": lambda a: abs(a),
    "a * 1": lambda a: a * 1.0,
    "np.reshape": lambda a: np.reshape(a, a.shape),
    "np.reshape, copy": lambda a: np.reshape(a, a.shape, copy=True),
    "np.ravel": lambda a: np.ravel(a),
    "np.transpose": lambda a: np.transpose(a),
    "np.swapaxes": lambda a: np.swapaxes(a, 0, -1),
    "np.moveaxis": lambda a: np.moveaxis(a, 0, -1),
    "np.rollaxis": lambda a: np.rollaxis(a, a.ndim - 1),
    "np.matrix_transpose": lambda a: np.matrix_transpose(a),
    "np.expand_dims": lambda a: np.expand_dims(a, 0),
    "np.squeeze": lambda a: np.squeeze(a),
    "np.atleast_1d": lambda a: np.atleast_1d(a),
    "np.atleast_2d": lambda a: np.atleast_2d(a),
    "np.atleast_3d": lambda a: np.atleast_3d(a),
    "np.broadcast_to": lambda a: np.broadcast_to(a, (2, *a.shape)),
    "np.broadcast_to, itself": lambda a: np.broadcast_to(a, a.shape),
    "np.broadcast_arrays": lambda a: np.broadcast_arrays(a, a)[0],
    "np.flip": lambda a: np.flip(a),
    "np.flip, none": lambda a: np.flip(a, ()),
    "np.flipud": lambda a: np.flipud(a),
    "np.fliplr": lambda a: np.fliplr(a),
    "np.rot90": lambda a: np.rot90(a),
    "np.rot90, four": lambda a: np.rot90(a, 4),
    "np.diagonal": lambda a: np.diagonal(a),
    "np.diag": lambda a: np.diag(a),
    "np.split": lambda a: np.split(a, [1])[0],
    "np.array_split": lambda a: np.array_split(a, 2)[1],
    "np.hsplit": lambda a: np.hsplit(a, [1])[0],
    "np.vsplit": lambda a: np.vsplit(a, [1])[0],
    "np.dsplit": lambda a: np.dsplit(a, [1])[0],
    "np.real": lambda a: np.real(a),
    "np.copy": lambda a: np.copy(a),
    "np.array": lambda a: np.array(a, like=a),
    "np.array, copy=None": lambda a: np.array(a, copy=None, like=a),
    "np.asarray": lambda a: np.asarray(a, like=a),
    "np.asanyarray": lambda a: np.asanyarray(a, like=a),
    "np.einsum, transposed": lambda a: np.einsum("...ij->...ji", a),
    "np.einsum, diagonal": lambda a: np.einsum("ii->i", a),
    "np.einsum, sum": lambda a: np.einsum("...i->...", a),
    "np.roll": lambda a: np.roll(a, 0),
    "np.roll, axis": lambda a: np.roll(a, 0, 0),
    "np.tile": lambda a: np.tile(a, 1),
    "np.repeat": lambda a: np.repeat(a, 1, 0),
    "np.resize": lambda a: np.resize(a, a.shape),
    "np.concatenate": lambda a: np.concatenate([a]),
    "np.stack": lambda a: np.stack([a]),
    "np.hstack": lambda a: np.hstack([a]),
    "np.vstack": lambda a: np.vstack([a]),
    "np.dstack": lambda a: np.dstack([a]),
    "np.column_stack": lambda a: np.column_stack([a]),
    "np.block": lambda a: np.block([a]),
    "np.append": lambda a: np.append(a, []),
    "np.delete": lambda a: np.delete(a, []),
    "np.pad": lambda a: np.pad(a, 0),
    "np.tril": lambda a: np.tril(a, 100),
    "np.triu": lambda a: np.triu(a, -100),
    "np.take": lambda a: np.take(a, [0]),
    "np.take_along_axis": lambda a: np.take_along_axis(a, np.zeros((1,) * a.ndim, int), 0),
    "np.choose": lambda a: np.choose(np.zeros(a.shape, int), [a]),
    "np.select": lambda a: np.select([np.ones(a.shape, bool)], [a]),
    "np.compress": lambda a: np.compress(np.ones(a.size, bool), a),
    "np.extract": lambda a: np.extract(np.ones(a.shape, bool), a),
    "np.sort": lambda a: np.sort(a),
    "np.sort_complex": lambda a: np.sort_complex(a).real,
    "np.real_if_close": lambda a: np.real_if_close(a),
    "np.trim_zeros": lambda a: np.trim_zeros(a) if a.ndim else None,
    "np.unique": lambda a: np.unique(a),
    "np.unique_values": lambda a: np.unique_values(a),
    "np.where": lambda a: np.where(True, a, a),
    "np.clip": lambda a: np.clip(a, None, None),
    "np.sum": lambda a: np.sum(a, axis=()),
    "np.mean": lambda a: np.mean(a, axis=()),
    "np.max": lambda a: np.max(a, axis=()),
    "np.min": lambda a: np.min(a, axis=()),
    "np.prod": lambda a: np.prod(a, axis=()),
    "np.diff": lambda a: np.diff(a, n=0) if a.ndim else None,
    "np.cumsum": lambda a: np.cumsum(a, axis=0),
    "np.nan_to_num": lambda a: np.nan_to_num(a),
    "np.around": lambda a: np.around(a),
    "np.round": lambda a: np.round(a),
    "np.maximum": lambda a: np.maximum(a, a),
    "np.positive": lambda a: np.positive(a),
    "np.nansum": lambda a: np.nansum(a, axis=()),
    "np.meshgrid": lambda a: np.meshgrid(a)[0],
    "np.average": lambda a: np.average(a, axis=()),
    "np.median": lambda a: np.median(a[:1], axis=0),
    "np.fft.fftshift": lambda a: np.fft.fftshift(a),
    "np.fft.ifftshift": lambda a: np.fft.ifftshift(a),
    "np.linalg.multi_dot": lambda a: np.linalg.multi_dot([a, np.eye(a.shape[-1])]) if a.ndim == 2 else None,
    "np.linalg.matrix_power": lambda a: np.linalg.matrix_power(a, 1),
    "np.linalg.diagonal": lambda a: np.linalg.diagonal(a),
    "np.linalg.matrix_transpose": lambda a: np.linalg.matrix_transpose(a),
    "np.full_like": lambda a: np.full_like(a, a[0]) if a.ndim == 1 else np.full_like(a, 1.0),
    "np.dot": lambda a: np.dot(a, np.eye(a.shape[-1])),
    "np.trapezoid": lambda a: np.trapezoid(a),
    "np.ediff1d": lambda a: np.ediff1d(a),
    "np.gradient": lambda a: np.gradient(a, axis=-1),
}  # fmt: skip
if hasattr(np, "unstack"):
    LOOKS["np.unstack"] = lambda a: np.unstack(a)[0]


SINCE_2_1 = () if np.lib.NumpyVersion(np.__version__) >= "2.1.0" else ("np.clip", "np.reshape, copy")


def numpys(source: str, look: str) -> tuple[Any, Any] | None:
    """NumPy's array and what the look makes of it; None where it makes nothing of it."""
    a = SOURCES[source](CUBE)
    try:
        with np.errstate(all="ignore"):
            b = LOOKS[look](a)
    except (ValueError, IndexError, TypeError, np.linalg.LinAlgError):
        return None  # or this version of NumPy does not take it
    return (a, b) if isinstance(b, np.ndarray) and b.size else None


@pytest.mark.parametrize("look", LOOKS)
def test_a_look_aliases_where_numpys_does(look: str) -> None:
    found = [aliases_as_numpys(source, look) for source in SOURCES]
    assert any(found) or look in SINCE_2_1, "NumPy makes no array of any of them"


def aliases_as_numpys(source: str, look: str) -> bool:
    """Whether NumPy makes an array of it, which is then compared."""
    found = numpys(source, look)
    if found is None:
        return False
    a, b = found
    shared = np.shares_memory(a, b)
    writeable = b.flags.writeable
    a[...] = 100.0
    wanted = b.copy()

    def seen(x: Any) -> Any:
        """What the look holds after its source was written to."""
        a = SOURCES[source](x)
        b = LOOKS[look](a)
        a[...] = 100.0
        return b

    def written(x: Any) -> Any:
        """What the source holds after its look was written to."""
        a = SOURCES[source](x)
        b = LOOKS[look](a)
        b[...] = 100.0 * x[0, 0, 0]
        return a

    np.testing.assert_array_equal(hoad.vjp(seen, CUBE)[0], wanted, source)
    if not writeable:
        with pytest.raises(hoad.TracedValueError, match=r"\(test_aliasing\.py:\d+\)\. Copy it before, as x = x\.copy"):
            hoad.vjp(written, CUBE)
        return True
    if b.ndim == 0 and not shared:
        return True  # a number, for hoad
    a, b = numpys(source, look)  # type: ignore[misc]
    b[...] = 100.0
    over = a == 100.0
    assert shared == bool(np.any(over)), source
    value, pullback = hoad.vjp(written, CUBE)
    np.testing.assert_array_equal(value, a, source)
    slopes = np.zeros(CUBE.size)
    np.add.at(slopes, SOURCES[source](np.arange(24.0).reshape(CUBE.shape))[~over].astype(int), 1.0)
    slopes[0] += 100.0 * np.sum(over)
    np.testing.assert_array_equal(pullback(np.ones_like(value))[0], slopes.reshape(CUBE.shape), source)
    return True


def test_every_function_and_method_that_only_moves_items_is_looked_at() -> None:
    """A function that takes one array alone, and gives one with the same items, is in the table above."""
    asked = " ".join(LOOKS)
    missing = []
    for function in FUNCTIONS:
        name = getattr(function, "__name__", "")
        if (
            isinstance(function, np.ufunc)
            or name == "empty_like"  # may hold anything, what was there before too
            or name in ("fix", "unwrap")  # which whole numbers in order stay what they are in
            or f"np.{name}" in asked
            or f"np.linalg.{name}" in asked
            or f"np.fft.{name}" in asked
        ):
            continue
        try:
            with np.errstate(all="ignore"):
                made = function(CUBE[0, :, :3].copy())
        except (TypeError, ValueError, np.linalg.LinAlgError):
            continue
        if (
            isinstance(made, np.ndarray)
            and made.size
            and np.array_equal(np.sort(made, None), np.sort(CUBE[0, :, :3], None))
        ):
            missing.append(name)
    assert not missing
    assert {"reshape", "ravel", "copy", "astype"} <= set(METHODS)
