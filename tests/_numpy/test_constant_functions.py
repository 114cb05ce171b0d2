"""What rows of the tables cannot hold: replays at other values, maps, ties, special values, and what errors say."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _numpy.agreement import assert_same
from covered.rows import Kind, Row
from covered.table_constant import ROWS, V, W
from covered.test_rows import leaves

import hoad
from hoad.errors import REFUSALS, DTypeError, GuardError

RECORDED = [row for row in ROWS if row.kind in (Kind.CONSTANT, Kind.DIFFERENTIABLE)]
RNG = np.random.default_rng(7)
CHECKS_TRIM = np.lib.NumpyVersion(np.__version__) >= "2.2.0"


def others(x: Any) -> list[Any]:
    """Values of the same shape: other orders, signs, ties, zeros of both signs, nan and infinities."""
    x = np.asarray(x)
    flat = x.ravel()
    rng = np.random.default_rng([7, flat.size])
    found = [rng.permutation(flat), -flat, np.round(2.0 * rng.normal(size=flat.shape)), np.zeros(flat.shape)]
    found.append(rng.choice([0.0, -0.0, 1.0, np.nan, 2.0, np.inf], size=flat.shape))
    if flat.size:
        found += [np.r_[np.nan, flat[1:]], np.r_[flat[:-1], np.inf], np.r_[flat[:-1], flat[0]], np.r_[-0.0, flat[1:]]]
    shaped = [np.asarray(y, x.dtype).reshape(x.shape) for y in (*found, flat)]
    return [y if y.ndim else float(y) for y in shaped]


def outcome(f: Callable[[Any], Any], x: Any) -> Any:
    """The results as a list, or the class of the error."""
    try:
        with np.errstate(all="ignore"):
            return leaves(f(x))
    except Exception as error:
        return type(error)


def assert_alike(row: Row, found: Any, wanted: Any) -> None:
    if isinstance(wanted, type):
        assert found is wanted
        return
    assert not isinstance(found, type), found
    for a, b in zip(found, wanted, strict=True):
        if row.exact:
            assert_same(a, b)
        else:
            np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-13)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("row", [row for row in RECORDED if "argsort" not in row.name], ids=Row.label)
def test_a_replay_is_never_stale(row: Row) -> None:
    """NumPy's default argsort promises nothing of equal items, of which ours keep their order."""
    jitted = hoad.jit(row.f)
    for x in (row.x, *others(row.x), row.x):
        assert_alike(row, outcome(jitted, x), outcome(row.f, x))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("row", [row for row in RECORDED if "argsort" not in row.name], ids=Row.label)
def test_a_program_answers_as_numpy_or_says_that_it_cannot(row: Row) -> None:
    def f(x: Any) -> Any:
        return np.sum(x), row.f(x)

    program = hoad.record(f, row.x)
    for replayed in (program, pickle.loads(pickle.dumps(program))):
        for x in others(row.x):
            wanted = outcome(f, x)
            found = outcome(replayed.evaluate, x)
            if found is GuardError or isinstance(wanted, type) or len(found) < len(wanted):
                continue  # what is plain in the recording is no result of a program
            for a, b in zip(found[1:], wanted[1:], strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-13)


# ---- decisions of Python on what is asked ---------------------------------------------------------------------------

DECISIONS: dict[str, Callable[[Any], Any]] = {
    "allclose": lambda x: x[0] * 2.0 if np.allclose(x, 1.0) else x[0] ** 2,
    "array_equal": lambda x: x[0] * 2.0 if np.array_equal(x, [1.0, 1.0, 1.0]) else x[0] ** 2,
    "array_equiv": lambda x: x[0] * 2.0 if np.array_equiv(x, 1.0) else x[0] ** 2,
    "isin": lambda x: x[0] * 2.0 if np.isin(x, [1.0, 2.0]).all() else x[0] ** 2,
    "count_nonzero": lambda x: x[0] * 2.0 if np.count_nonzero(x) == 3 else x[0] ** 2,
    "count_nonzero as a length": lambda x: x[0] * len(range(np.count_nonzero(x))),
    "nonzero": lambda x: np.sum(x[np.nonzero(x > 0.5)] ** 2),
    "len of unique": lambda x: np.sum(x) * len(np.unique(x)),
    "matrix_rank": lambda x: x[0] ** int(np.linalg.matrix_rank(np.outer(x, x) + np.diag(x))),
    "bincount": lambda x: np.sum(np.bincount(np.floor(abs(x)).astype(int), weights=x)[1:] ** 2),
    "digitize": lambda x: np.sum(x * (1.0 + np.digitize(x, [0.5, 1.5]))),
    "real_if_close": lambda x: np.sum(abs(np.real_if_close(x + 1j * (x[0] - 1.0))) ** 2),
    "arange": lambda x: np.sum(np.arange(x[0], 5.0, like=x) ** 2),
    "trim_zeros": lambda x: np.sum(np.trim_zeros(x - 1.0) ** 2),
}
POINTS = [np.ones(3), np.array([2.0, 1.0, 1.0]), np.array([0.25, 3.0, 1.0]), np.array([1.0, 2.5, 0.0]), np.ones(3)]


@pytest.mark.parametrize("name", DECISIONS)
def test_decisions_are_guarded(name: str) -> None:
    f = DECISIONS[name]
    jitted, slopes = hoad.jit(f), hoad.jit(hoad.grad(f))
    for x in POINTS:
        assert jitted(x) == f(x)
        np.testing.assert_array_equal(slopes(x), hoad.grad(f)(x))
    np.testing.assert_array_equal(hoad.vmap(f)(np.stack(POINTS)), [f(x) for x in POINTS])
    np.testing.assert_array_equal(hoad.vmap(hoad.grad(f))(np.stack(POINTS)), [hoad.grad(f)(x) for x in POINTS])


def test_what_numpy_answers_in_booleans_of_python_is_one() -> None:
    """In the function and after it."""
    for f in (np.allclose, np.array_equal, np.array_equiv):

        def asked(x: Any, f: Any = f) -> Any:
            answer = f(x, V)
            assert isinstance(answer, bool)
            assert not isinstance(answer, np.bool_)
            return np.sum(x) * answer

        assert hoad.grad(asked)(V).tolist() == [1.0, 1.0, 1.0]
        jitted = hoad.jit(lambda x, f=f: f(x, V))
        for x in (V, V + 1.0, V):
            assert jitted(x) == f(x, V)
            assert type(jitted(x)) is bool


def test_maps_of_results_of_other_lengths_say_so() -> None:
    x = np.array([[1.0, 2.0, 3.0], [1.0, 1.0, 3.0]])
    for f in (np.unique, lambda y: np.nonzero(y > 1.0)[0], lambda y: np.trim_zeros(y - 1.0)):
        with pytest.raises(hoad.ShapeError, match="takes another branch"):
            hoad.vmap(f)(x)
    np.testing.assert_array_equal(hoad.vmap(np.unique)(x[:1, ::-1]), x[:1])


def test_what_is_recorded_needs_no_second_recording() -> None:
    """In a scan, whose body is recorded once, though each step has other places and counts."""
    xs = RNG.normal(size=(6, 5))
    bodies: dict[str, Callable[[Any], Any]] = {
        "isin": lambda x: np.sum(x * np.isin(np.round(x), [0.0, 1.0])),
        "count_nonzero": lambda x: np.sum(x) * np.count_nonzero(x > 0.0),
        "digitize": lambda x: np.sum(x * np.digitize(x, [-1.0, 0.0, 1.0])),
        "lexsort": lambda x: np.sum(x[np.lexsort((x, np.round(x)))] * np.arange(5.0)),
        "unique": lambda x: np.sum(np.unique(x) * np.arange(5.0)),
        "histogram": lambda x: np.sum(np.histogram(x, [-9.0, 0.0, 0.5, 9.0], weights=x)[0] * np.arange(3.0)),
        "unravel_index": lambda x: np.sum(x) * np.unravel_index(np.argmax(x), (5, 1))[0],
        "allclose": lambda x: np.sum(x) * np.allclose(x, 0.0, atol=1.5),
        "linspace": lambda x: np.sum(np.linspace(x[0], x[1], 4) ** 2),
    }
    for name, f in bodies.items():

        def total(xs: Any, f: Any = f) -> Any:
            return hoad.scan(lambda c, x: (c + f(x), None), 0.0, xs)[0]

        value, slope = hoad.value_and_grad(total)(xs)
        assert value == pytest.approx(sum(f(x) for x in xs), rel=1e-13), name
        np.testing.assert_allclose(slope, [hoad.grad(f)(x) for x in xs], rtol=1e-12, atol=1e-12, err_msg=name)


# ---- ties, special values, strides, other dtypes --------------------------------------------------------------------


def test_of_equal_items_the_first_takes_the_derivative() -> None:
    x = np.array([2.0, 0.5, 2.0, 0.5])
    np.testing.assert_array_equal(hoad.jacobian(np.unique)(x), [[0, 1, 0, 0], [1, 0, 0, 0]])
    np.testing.assert_array_equal(hoad.jacobian(lambda x: np.union1d(x[:2], x[2:]))(x), [[0, 1, 0, 0], [1, 0, 0, 0]])
    np.testing.assert_array_equal(
        hoad.jacobian(lambda x: np.intersect1d(x[2:], x[:2]))(x), [[0, 0, 0, 1], [0, 0, 1, 0]]
    )


def test_second_derivatives_pass_through_what_is_selected() -> None:
    x = np.array([3.0, -1.0, 2.0, 3.0])
    found = hoad.hessian(lambda x: np.sum(np.unique(x) ** 3))(x)
    np.testing.assert_array_equal(found, np.diag([18.0, -6.0, 12.0, 0.0]))
    found = hoad.hessian(lambda w: np.sum(np.bincount([1, 0, 1], w) ** 2))(V)
    np.testing.assert_array_equal(found, [[2.0, 0.0, 2.0], [0.0, 2.0, 0.0], [2.0, 0.0, 2.0]])


def test_edges_follow_the_least_and_the_greatest_item() -> None:
    slopes = hoad.jacobian(lambda x: np.histogram_bin_edges(x, 2))(W)
    low, high = np.eye(6)[np.argmin(W)], np.eye(6)[np.argmax(W)]
    np.testing.assert_array_equal(slopes, [low, (low + high) / 2, high])
    with pytest.raises(ValueError, match="autodetected range"):
        hoad.grad(lambda x: np.sum(np.histogram(x)[1]))(np.array([1.0, np.nan]))
    equal = hoad.jacobian(lambda x: np.histogram_bin_edges(x, 1))(np.ones(1))
    np.testing.assert_array_equal(equal, [[1.0], [1.0]])  # half on each side of the one item
    counts = hoad.jacobian(lambda x: np.histogram(x, 3)[0] * 1.0)(W)
    assert not np.any(counts)


SHAPES = [np.zeros((0, 3)), np.zeros(0), np.array([[2.0]]), np.array([1.0, np.nan, 1.0]), np.array([np.nan] * 2)]
SHAPES += [
    W[::-2],
    W.reshape(2, 3).T,
    W.reshape(3, 1, 2),
    W.astype(np.float32),
    W + 1j * W[::-1],
    np.array([1j, np.nan]),
]
ASKED: dict[str, Callable[[Any], Any]] = {
    "nonzero": lambda x: np.stack(np.nonzero(x)),
    "argwhere": np.argwhere,
    "flatnonzero": np.flatnonzero,
    "count_nonzero": lambda x: np.count_nonzero(x, axis=0),
    "isclose": lambda x: np.isclose(x, 2.0),
    "isclose of itself": lambda x: np.isclose(x, x[::-1], equal_nan=True),
    "allclose": lambda x: np.allclose(x, x, equal_nan=True),
    "array_equal": lambda x: np.array_equal(x, x.copy(), equal_nan=True),
    "isin": lambda x: np.isin(x, x[:1]),
    "unique": np.unique,
    "unique, all": lambda x: np.unique(x, True, True, True),
    "unique, nan apart": lambda x: np.unique(x, return_counts=True, equal_nan=False),
    "unique, axis": lambda x: np.unique(x, True, True, True, axis=0),
    "unique_all": np.unique_all,
    "setdiff1d": lambda x: np.setdiff1d(x, [2.0]),
    "setxor1d": lambda x: np.setxor1d(x, [2.0, 5.0]),
    "union1d": lambda x: np.union1d([5.0, 2.0], x),
    "intersect1d": lambda x: np.intersect1d(x, [2.0, 0.5], return_indices=True),
    "sort_complex": np.sort_complex,
    "trim_zeros": lambda x: np.trim_zeros(x - x[:1]) if x.ndim == 1 else x,
    "lexsort": lambda x: np.lexsort((x, -x)),
    "real_if_close": np.real_if_close,
    "linspace": lambda x: np.linspace(x, 3, 4),
    "tolist": lambda x: x.tolist(),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ASKED)
def test_shapes_dtypes_and_special_values(name: str) -> None:
    f = ASKED[name]
    for x in SHAPES:
        wanted = outcome(f, x)
        found = outcome(lambda x: hoad.jvp(lambda x: (np.sum(x), f(x)), (x,), (np.zeros_like(x),))[0][1:], x)
        if isinstance(wanted, type):
            assert found is wanted, x
        else:
            assert len(found) == len(wanted), x
            for a, b in zip(found, wanted, strict=True):
                assert_same(a, b)


def test_numbers_taken_out_of_arrays_are_those_of_python() -> None:
    """Also of float32, which NumPy makes a float of."""

    def f(x: Any) -> Any:
        first, whole = x.tolist()[0], np.round(x).astype(np.int32).tolist()[1]
        assert isinstance(first, float)
        assert not isinstance(first, np.generic)
        assert isinstance(whole, int)
        return first / 3.0 * whole

    assert hoad.value_and_grad(f)(V)[0] == f(V)
    x = V.astype(np.float32)
    assert float(hoad.value_and_grad(lambda x: x.item(0) / 3.0)(x)[0]) == x.item(0) / 3.0


# ---- what is impossible ---------------------------------------------------------------------------------------------

REFUSED: list[tuple[Callable[[Any], Any], str]] = [
    (lambda x: np.save(io.BytesIO(), x), r"np\.save .*writes numbers to a file.*Give it hoad\.value\(x\)"),
    (lambda x: x.tobytes(), r"ndarray\.tobytes .*no bytes before the recording is run.*hoad\.value\(x\)\.tobytes"),
    (lambda x: x.flags, r"ndarray\.flags .*lies in memory.*Use x\.shape, x\.dtype and x\.size"),
    (lambda x: x.byteswap(), r"x\.byteswap is about how an array lies in memory"),
    (lambda x: np.min_scalar_type(x[0]), r"depends on how large the number is .*Write x\.dtype"),
    (lambda x: np.array_str(x), r"np\.array_str .*Give it hoad\.value\(x\) in place of x: its result is text"),
    (lambda x: np.from_dlpack(x), r"ndarray\.__dlpack\w* .*no memory before the recording is run.*hoad\.value\(x\)"),
    (lambda x: x.__array_interface__, r"ndarray\.__array_interface__ .*no memory before the recording is run"),
    (lambda x: x[0].__array_interface__, r"ndarray\.__array_interface__ .*no memory before the recording is run"),
    (lambda x: np.is_busday(x), r"np\.is_busday .*works on dates"),
    (lambda x: np.shares_memory((1j * x).real, (1j * x).imag) or x.tofile("x"), r"ndarray\.tofile .*to a file"),
]


@pytest.mark.parametrize(("f", "says"), REFUSED)
def test_errors_name_the_line_and_what_to_write(f: Callable[[Any], Any], says: str) -> None:
    with pytest.raises(hoad.NoRuleError, match=says) as caught:
        hoad.grad(f)(V)
    assert "test_constant_functions.py:" in str(caught.value)


def test_numpy_itself_may_look_for_what_is_refused() -> None:
    """It asks every object for these, and goes on without them: nothing was refused."""

    def f(x: Any) -> Any:
        before = REFUSALS.count
        assert np.array([x[0], x[1]]).shape == (2,)
        assert REFUSALS.count == before
        assert hasattr(x, "__array_struct__") == (type(x) is np.ndarray)
        return np.sum(x)

    hoad.jvp(f, (V,), (V,))


def test_integers_alone_are_taken_where_there_are_bits_or_divisors() -> None:
    for f in (
        lambda x: np.gcd(x, 2),
        lambda x: np.lcm.outer(x, x),
        lambda x: np.bitwise_count.at(2.0 * x, [0]),
        lambda x: np.left_shift.at(np.floor(x).astype(int), [0], x[0]),
    ):
        with pytest.raises(DTypeError, match=r"np\.\w+ takes integers, but was given float64 .*functions\.py:"):
            hoad.jvp(f, (V,), (V,))


def test_what_is_read_from_a_file(tmp_path: Path) -> None:
    V.tofile(tmp_path / "numbers")
    found = hoad.grad(lambda x: np.sum(x * np.fromfile(tmp_path / "numbers", like=x)))(W[:3])
    np.testing.assert_array_equal(found, V)


def test_counts_go_into_plain_integers() -> None:
    """Which have no derivative; a replay with other places records anew."""

    def f(x: Any) -> Any:
        counts = np.zeros(4, int)
        np.add.at(counts, np.floor(2.0 * x).astype(int), 1)
        return counts[:3] * x

    x = np.array([0.25, 0.75, 0.5])
    jitted = hoad.jit(f)
    for y in (x, 2.0 * x, x[::-1].copy()):
        np.testing.assert_array_equal(jitted(y), f(y))
        np.testing.assert_array_equal(hoad.jacobian(f)(y), np.diag(f(y) / y))
    with pytest.raises(hoad.errors.TracedValueError, match=r"plain array with np\.add\.at"):
        hoad.grad(lambda x: np.add.at(np.zeros(4, int), [0], x[0]))(x)


def test_errors_of_numpy_are_its_own() -> None:
    for f, says in (
        (lambda x: np.nanargmax(x * np.nan), "All-NaN slice"),
        (lambda x: np.bincount(np.floor(x).astype(int)), "no negative elements"),
        (lambda x: np.geomspace(x[0] - x[0], 1.0), "cannot include zero"),
        (lambda x: np.digitize(x, x), "monotonically"),
        (lambda x: np.histogram(x, [2.0, 1.0]), "monotonically"),
        (lambda x: np.ravel_multi_index((np.array([7]) * np.argmax(x),), (2,)), "invalid entry"),
        *([(lambda x: np.trim_zeros(x, "q"), "unexpected character")] if CHECKS_TRIM else []),
        (lambda x: np.where(x > 0, x), "either both or neither"),
    ):
        with pytest.raises(ValueError, match=says):
            f(V)
        with pytest.raises(ValueError, match=says):
            hoad.grad(lambda x, f=f: np.sum(x) + 0.0 * np.sum(f(x)[0]))(V)
