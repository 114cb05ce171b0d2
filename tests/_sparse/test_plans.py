"""Plans: nothing is allocated, threads, pickles, other branches, many x at once, and arguments of every kind."""

from __future__ import annotations

import contextlib
import gc
import operator
import pickle
import subprocess
import sys
import threading
import tracemalloc
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy.sparse")

from _sparse.functions import FUNCTIONS, POINTS, N, bratu, rosenbrock, scalar

import hoad
from hoad._sparse import progress
from hoad._sparse.sparse_structure import Structure

X = np.linspace(0.1, 1.0, 5)


def branched(x: Any) -> Any:
    return np.sum(x[1:] * x[:-1] ** 2) if x[0] > 0 else np.sum(x[2:] ** 3 * x[:-2])


class Model:
    def __init__(self, factor: float) -> None:
        self.factor = factor

    def energy(self, x: Any) -> Any:
        return self.factor * np.sum(x[1:] ** 2 * x[:-1])


# ---- cost -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("driver", [hoad.sparse_hessian, lambda f: hoad.sparse_derivative_tensor(f, 3)])
def test_nothing_is_allocated(driver: Any) -> None:
    x = np.linspace(0, 1, 100_000)
    plan = driver(rosenbrock).plan(x)
    out = np.empty(plan.nnz)
    for _ in range(3):
        plan.values(x, out=out)
    gc.collect()
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    for _ in range(20):
        plan.values(x, out=out)
    after, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert after - before < 8 * len(x) / 100  # the collector of other tests' garbage may come in between
    assert peak - before < 8 * len(x) / 50  # tuples and views of the calls


def test_threads_share_a_plan() -> None:
    plan = hoad.sparse_hessian(rosenbrock).plan(np.ones(500))
    xs = np.random.default_rng(0).uniform(-1, 1, (4, 500))
    wanted = [plan.values(x) for x in xs]
    wrong: list[int] = []

    def refill(first: int) -> None:
        out = np.empty(plan.nnz)
        for k in range(200):
            row = (first + k) % 4
            if not np.array_equal(plan.values(xs[row], out=out), wanted[row]):
                wrong.append(row)

    workers = [threading.Thread(target=refill, args=(k,)) for k in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong


# ---- branches -------------------------------------------------------------------------------------------------------


def test_another_branch() -> None:
    """An entry that a plan does not have is told once, and there from then on; `values` raises."""
    plan = hoad.sparse_hessian(branched).plan(X)
    with pytest.raises(hoad.GuardError, match=r"another branch.*Make a plan here"):
        plan.values(-X)
    with pytest.warns(hoad.JitWarning, match="branched has entries here.*another branch") as warned:
        found = plan(-X)
    assert [warning.filename for warning in warned] == [__file__]
    np.testing.assert_allclose(found.toarray(), hoad.hessian(branched)(-X))
    for x in (X, -X):
        np.testing.assert_allclose(plan(x).toarray(), hoad.hessian(branched)(x))
        plan.values(x)


def test_threads_in_other_branches() -> None:
    plan = hoad.sparse_hessian(branched).plan(X)
    wrong: list[Any] = []

    def call(x: Any) -> None:
        for _ in range(20):
            if not np.allclose(plan(x).toarray(), hoad.hessian(branched)(x)):
                wrong.append(x)

    workers = [threading.Thread(target=call, args=(sign * X,)) for sign in (1, -1, 1, -1)]

    def run() -> None:
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()

    with pytest.warns(hoad.JitWarning, match="another branch"):
        run()
    assert not wrong


# ---- pickles --------------------------------------------------------------------------------------------------------


def test_pickles() -> None:
    plan = hoad.sparse_hessian(Model(2.0).energy, triangle="lower").plan(X)
    again = pickle.loads(pickle.dumps(plan))
    np.testing.assert_array_equal(again.rows, plan.rows)
    np.testing.assert_array_equal(again.values(2 * X), plan.values(2 * X))
    jitted = pickle.loads(pickle.dumps(hoad.sparse_jacobian(bratu, format="csc").plan(POINTS[0])))
    np.testing.assert_allclose(jitted(POINTS[1]).toarray(), hoad.jacobian(bratu)(POINTS[1]).reshape(N, N))


def test_pickles_in_another_process(tmp_path: Path) -> None:
    plan = hoad.sparse_hessian(rosenbrock).plan(X)
    (tmp_path / "plan").write_bytes(pickle.dumps(plan))
    code = "import pathlib, pickle, sys, numpy as np; sys.path.insert(0, sys.argv[2])\n"
    code += "plan = pickle.loads(pathlib.Path(sys.argv[1]).read_bytes())\n"
    code += "print(repr(plan.values(np.linspace(0.1, 1.0, 5)).tolist()))"
    command = [sys.executable, "-c", code, str(tmp_path / "plan"), str(Path(__file__).parents[1])]
    made = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    np.testing.assert_array_equal(eval(made.stdout), plan.values(X))


# ---- many x ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["rosenbrock", "minimal surface", "where", "by numbers", "sorted", "solution"])
def test_batches(name: str) -> None:
    """Rows are what single refills give, and the same for every number of threads, bit for bit."""
    f = scalar(FUNCTIONS[name])
    xs = np.random.default_rng(3).normal(size=(40, N))
    found = []
    for threads in (1, 2, None):
        plan = hoad.jit(hoad.sparse_hessian(f), threads=threads).plan(xs[0])
        out = np.empty((40, plan.nnz))
        assert plan.batch(xs, out=out) is out
        found.append(out)
    for other in (*found[1:], plan.batch(xs)):
        np.testing.assert_array_equal(other, found[0])
    wanted = np.stack([plan.values(x) for x in xs])
    np.testing.assert_allclose(found[0], wanted, rtol=1e-13, atol=1e-13 * np.abs(wanted).max())


def test_batches_of_large_arrays_and_of_none() -> None:
    xs = np.random.default_rng(3).normal(size=(3, 2000))
    plan = hoad.sparse_hessian(rosenbrock).plan(xs[0])
    np.testing.assert_array_equal(plan.batch(xs), np.stack([plan.values(x) for x in xs]))
    assert plan.batch(xs[:0]).shape == (0, plan.nnz)
    third = hoad.sparse_derivative_tensor(rosenbrock, 3).plan(X)
    np.testing.assert_allclose(third.batch(np.stack([X, 2 * X])), [third.values(X), third.values(2 * X)])


def test_batches_with_further_arguments_and_branches() -> None:
    plan = hoad.lagrangian_hessian(branched, lambda x: x[1:] ** 2).plan(X, np.ones(4), 2.0)
    multipliers = np.arange(4.0)
    found = plan.batch(np.stack([X, X + 1]), multipliers, 3.0)
    np.testing.assert_allclose(found, [plan.values(x, multipliers, 3.0) for x in (X, X + 1)])
    with pytest.raises(hoad.GuardError, match="another branch"):
        plan.batch(np.stack([X, -X]), multipliers, 3.0)
    plan = hoad.sparse_jacobian(np.sin).plan(X)
    with pytest.raises(hoad.ShapeError, match=r"shape \(2, 5\), but out has shape \(5,\)"):
        plan.batch(np.stack([X, X]), out=np.empty(5))
    with pytest.raises(hoad.ShapeError, match=r"out has shape \(1,\)"):
        plan.batch(np.stack([X, X]), out=[0.0])
    for xs, found in ((1.0, "a number"), (X, r"one of shape \(5,\)"), (np.ones((3, 4)), r"one of shape \(3, 4\)")):
        with pytest.raises(hoad.ShapeError, match=rf"an x in each row.*\(number of points, 5\), but got {found}"):
            plan.batch(xs)
    found = hoad.grad(lambda xs: np.sum(plan.batch(xs)))(np.stack([X, 2 * X]))
    np.testing.assert_allclose(found, -np.sin(np.stack([X, 2 * X])))


def test_batches_of_functions_that_ask_for_numbers() -> None:
    """A function that cannot be recorded for many x at once is refilled for each."""
    xs = np.stack([X, 2 * X])
    plan = hoad.sparse_hessian(lambda x, a=1.0: a * np.sum(x**2) * hoad.value(np.sum(x))).plan(X)
    wanted = np.repeat(2 * np.sum(xs, axis=1), 5).reshape(2, 5)
    np.testing.assert_allclose(plan.batch(xs), wanted)
    np.testing.assert_allclose(plan.batch(xs, out=np.empty((2, 5))), wanted)
    np.testing.assert_allclose(hoad.jacobian(lambda a: plan.batch(xs, a))(1.0), wanted)


# ---- arguments ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name != "float32"])
def test_single_precision(name: str) -> None:
    """Values in double precision, as exact as single precision is, whatever else is beside in memory."""
    f, x = FUNCTIONS[name], POINTS[0].astype(np.float32)
    dense = hoad.jacobian(f)(x).reshape(-1, N)
    near = {"rtol": 2e-4, "atol": 2e-4 * np.abs(dense).max()}
    plan = hoad.sparse_jacobian(f).plan(x)
    for found in (
        hoad.sparse_jacobian(f)(x),
        plan(x),
        hoad.sparse_jacobian(lambda x: f(x.astype(np.float32)))(POINTS[0]),
    ):
        assert found.dtype == np.float64
        np.testing.assert_allclose(found.toarray(), dense, **near)
    g = scalar(f)
    dense = hoad.hessian(g)(x)
    found = hoad.sparse_hessian(g)(x).toarray()
    np.testing.assert_allclose(found, dense, rtol=2e-4, atol=2e-4 * np.abs(dense).max())


SLOW = ("running product", "product", "norm", "logsumexp")  # at the third order, where they are dense


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in SLOW])
def test_structures_of_single_precision(name: str) -> None:
    """They are those of double precision, at every order, and plans are for both."""
    f = scalar(FUNCTIONS[name])
    x = POINTS[0].astype(np.float32)
    for driver in (hoad.sparse_jacobian(FUNCTIONS[name]), hoad.sparse_hessian(f), hoad.sparse_derivative_tensor(f, 3)):
        plan = driver.plan(x)
        np.testing.assert_array_equal(plan.indices, driver.plan(POINTS[0]).indices)
        np.testing.assert_allclose(plan.values(x), plan.values(x.astype(float)), rtol=1e-12, atol=1e-12)


def test_single_precision_of_gradients_and_directions() -> None:
    x = X.astype(np.float32)
    first = hoad.sparse_derivative_tensor(rosenbrock, 1).plan(x)
    out = np.empty(5)
    np.testing.assert_allclose(first.values(x, out=out), hoad.grad(rosenbrock)(X), rtol=1e-5)
    found = hoad.sparse_hessian_derivative(rosenbrock)(x, x)
    np.testing.assert_allclose(found.toarray(), hoad.derivative_tensor(rosenbrock, 3)(X) @ X, rtol=1e-5)


SQUARE: Any = lambda x: x**2  # noqa: E731
REFUSED: list[tuple[type[Exception], str, Any, Any]] = [
    (hoad.DTypeError, "float argument", SQUARE, np.arange(3)),
    (hoad.DTypeError, "Write 2.0", SQUARE, 2),
    (hoad.DTypeError, "x is complex128", SQUARE, X + 0j),
    (hoad.DTypeError, r"f\(x\) is complex128", lambda x: 1j * x, X),
    (hoad.DTypeError, "float64 and float32", SQUARE, X.astype(np.longdouble)),
    (hoad.DTypeError, "float argument", SQUARE, np.array([1.0, 2.0], object)),
    (hoad.ArgumentError, "not a container", lambda x: x[0] * x[1], [1.0, 2.0]),
    (hoad.ArgumentError, "not a container", lambda x: x[0] * x[1], (1.0, 2.0)),
    (hoad.ArgumentError, "not a container", lambda x: x["a"], {"a": X}),
    (hoad.ArgumentError, "not a container, but got a list.*np.array", SQUARE, [1.0, 2.0]),
    (hoad.ShapeError, "f returned NoneType", lambda x: None, X),
    (hoad.ShapeError, "f returned tuple", lambda x: (x, x), X),
    (hoad.ShapeError, "f returned list", lambda x: [x[0], x[1]], X),
    (hoad.ShapeError, "f returned dict", lambda x: {"a": x}, X),
    (hoad.ShapeError, "f returned str", lambda x: "text", X),
]


@pytest.mark.parametrize("row", range(len(REFUSED)))
def test_what_is_refused(row: int) -> None:
    error, match, f, x = REFUSED[row]
    for driver in (hoad.sparse_jacobian, hoad.sparse_hessian, lambda f: hoad.sparse_derivative_tensor(f, 3)):
        for call in (driver(f), driver(f).plan, hoad.jit(driver(f))):
            with pytest.raises(error, match=match):
                call(x)
    for pattern in (hoad.jacobian_pattern(f), hoad.hessian_pattern(f)):
        with pytest.raises(error, match=match):
            pattern(x)


@pytest.mark.parametrize("x", [2.0, np.array(2.0), np.array([2.0]), np.zeros(0), np.ones((2, 3)), np.ones((2, 3)).T])
def test_shapes_of_x(x: Any) -> None:
    n = np.size(x)
    diagonal = np.diag(3 * np.ravel(x) ** 2)
    for found in (hoad.sparse_jacobian(lambda x: x**3)(x), hoad.sparse_jacobian(lambda x: x**3).plan(x)(x)):
        np.testing.assert_allclose(found.toarray().reshape(n, n), diagonal)
    bends = hoad.sparse_hessian(lambda x: np.sum(x**3))
    for found in (bends(x), bends.plan(x)(x)):
        np.testing.assert_allclose(found.toarray().reshape(n, n), np.diag(6 * np.ravel(x)))
    assert hoad.hessian_pattern(lambda x: np.sum(x**3))(x).nnz == n
    assert hoad.sparse_derivative_tensor(lambda x: np.sum(x**3), 3)(x).shape == (n, n, n)


def test_a_plan_is_for_one_shape() -> None:
    plan = hoad.sparse_jacobian(lambda x: np.sum(x, axis=0)).plan(np.ones((2, 3)))
    for x in (np.ones((3, 2)), np.ones((2, 4))):
        for call in (plan, plan.values):
            with pytest.raises(hoad.ShapeError, match=r"for x of the shape \(2, 3\), but x has the shape"):
                call(x)
    np.testing.assert_array_equal(plan(np.zeros((2, 3))).toarray(), np.tile(np.eye(3), 2))
    with pytest.raises(hoad.ShapeError, match="out has shape"):
        plan.values(np.ones((2, 3)), out=np.empty(7))
    with pytest.raises(hoad.DTypeError, match="out has float32"):
        plan.values(np.ones((2, 3)), out=np.empty(6, np.float32))
    tensor = hoad.sparse_derivative_tensor(rosenbrock, 3).plan(X)
    with pytest.raises(hoad.ShapeError, match=r"for x of the shape \(5,\), but x has the shape \(4,\)"):
        tensor(X[:4])


@pytest.mark.parametrize("driver", [hoad.sparse_hessian, lambda f: hoad.sparse_derivative_tensor(f, 3)])
def test_an_x_of_as_many_entries_in_another_shape(driver: Any) -> None:
    """The structure is that of the shape that a plan is for, and stays so; restored plans know it too."""
    made = driver(lambda x: np.sum(np.diff(x, axis=-1) ** 3)).plan(np.ones((2, 6)))
    for plan in (made, pickle.loads(pickle.dumps(driver(Cube().of_steps).plan(np.ones((2, 6)))))):
        nnz = plan.nnz
        for x in (np.ones((3, 4)), np.ones(12), np.ones((12, 1)), np.ones((6, 2)).T):
            for call in (plan, plan.values):
                if x.shape != (2, 6):
                    with pytest.raises(hoad.ShapeError, match=r"for x of the shape \(2, 6\), but x has the shape"):
                        call(x)
        assert plan.nnz == nnz


class Cube:
    def of_steps(self, x: Any) -> Any:
        return np.sum(np.diff(x, axis=-1) ** 3)


# ---- jit ------------------------------------------------------------------------------------------------------------


def test_jit_has_a_plan_for_each_shape_of_all_arguments() -> None:
    jitted = hoad.jit(hoad.sparse_jacobian(lambda x, a, options: x[: len(a)] * a + options["shift"]))
    for n, size in ((5, 3), (5, 4), (4, 3), (5, 3)):
        found = jitted(X[:n], np.arange(float(size)), {"shift": np.ones(size)})
        np.testing.assert_array_equal(found.toarray(), np.eye(size, n) * np.arange(float(size))[:, None])
    plans = [jitted.plan(X, np.ones(k), {"shift": np.ones(k)}) for k in (3, 4, 3)]
    assert plans[0] is plans[2] is not plans[1]
    bends = hoad.jit(hoad.sparse_hessian(lambda x, *, a: np.sum(x[: len(a)] ** 2 * a)))
    assert [bends(X, a=np.ones(k)).nnz for k in (2, 4, 2)] == [2, 4, 2]


def test_jit_where_values_decide_on_the_shape() -> None:
    driver = hoad.sparse_jacobian(lambda x: x[x > 0.5] ** 2)
    jitted, plan = hoad.jit(driver), driver.plan(X)
    for shift in (0.0, 0.3, 0.0, -1.0, 0.3):
        np.testing.assert_array_equal(jitted(X + shift).toarray(), driver(X + shift).toarray())
    with pytest.raises(hoad.ShapeError, match="keeps a plan for each shape"):
        plan(X + 0.3)


def test_jit_of_too_many_shapes() -> None:
    jitted = hoad.jit(hoad.sparse_jacobian(lambda x: x[: int(hoad.value(x[0]))] ** 2))
    x = np.ones(20)
    for k in range(1, 17):
        x[0] = k
        assert jitted(x).shape == (k, 20)
    x[0] = 18
    with pytest.warns(hoad.JitWarning, match="more than 16 shapes.*np.where") as warned:
        assert jitted(x).shape == (18, 20)
    assert warned[0].filename == __file__


def test_jit_where_f_raises() -> None:
    jitted = hoad.jit(hoad.sparse_jacobian(lambda x: np.ones(3) @ x if x[0] > 0.5 else x))
    assert jitted(X).shape == (5, 5)
    with pytest.raises(hoad.ShapeError, match="matmul"):
        jitted(X + 1)


def test_jit_inside_of_a_derivative() -> None:
    """Traced values in containers are found too."""
    driver = hoad.sparse_hessian(lambda x, p: np.sum(x**2) * p["a"], format="triplets")
    assert hoad.grad(lambda a: np.sum(hoad.jit(driver)(X, {"a": a}).values))(2.0) == 10.0
    plan = driver.plan(X, {"a": 1.0})
    assert hoad.grad(lambda a: np.sum(plan.batch(X[None], {"a": a})))(2.0) == 10.0
    with pytest.raises(hoad.TracedValueError, match="A plan is made for plain numbers"):
        hoad.grad(lambda a: np.sum(driver.plan(X, {"a": a}).values(X, {"a": a})))(2.0)


# ---- what plans and results are -------------------------------------------------------------------------------------


def test_what_is_shown() -> None:
    plan = hoad.sparse_hessian(rosenbrock).plan(X)
    shown = "<plan of sparse_hessian, csr, of rosenbrock for x of shape (5,): 13 entries of shape (5, 5), no coloring>"
    assert repr(plan) == shown
    swept = hoad.sparse_jacobian(lambda x: np.sort(x)[:1], format="csc").plan(X)
    assert "csc" in repr(swept) and repr(swept).endswith(f": 5 entries of shape (1, 5), {swept.n_colors} color>")
    third = hoad.sparse_derivative_tensor(rosenbrock, 3)
    assert repr(third) == "<sparse_derivative_tensor of order 3, of rosenbrock>"
    assert "order 3, of rosenbrock for x of shape (5,): 8 entries of shape (5, 5, 5)" in repr(third.plan(X))
    assert repr(hoad.jit(third)) == f"<hoad.jit of {third!r}>"
    assert repr(pickle.loads(pickle.dumps(plan))) == shown


def test_places() -> None:
    """Matrices have rows and columns; tensors indices, by whatever is asked for their rows."""
    plan = hoad.sparse_hessian(rosenbrock).plan(X)
    np.testing.assert_array_equal(plan.indices, [plan.rows, plan.columns])
    triplets = hoad.sparse_hessian(rosenbrock, format="triplets")(X)
    np.testing.assert_array_equal(triplets.indices, plan.indices)
    assert triplets.nnz == 13
    np.testing.assert_array_equal(triplets.toarray(), plan(X).toarray())
    second, third = (hoad.sparse_derivative_tensor(rosenbrock, k) for k in (2, 3))
    np.testing.assert_array_equal(second.plan(X).rows, second(X).indices[0])
    np.testing.assert_array_equal(second.plan(X).columns, second(X).indices[1])
    for name in ("rows", "columns"):
        with pytest.raises(AttributeError, match=rf"order 3 has no {name}, but indices, an array of shape \(3, 8\)"):
            getattr(third.plan(X), name)


def test_attributes_of_plans_asked_of_derivatives() -> None:
    driver = hoad.sparse_hessian(rosenbrock, format="coo")
    assert hoad.jit(driver).format == "coo"
    for made in (driver, hoad.jit(driver)):
        for name in ("values", "batch", "rows", "nnz"):
            with pytest.raises(AttributeError, match=rf"no attribute '{name}'; its plans have: plan\(x\)\.{name}"):
                getattr(made, name)
        with pytest.raises(AttributeError, match=r"no attribute 'colums'$"):
            operator.attrgetter("colums")(made)
    assert pickle.loads(pickle.dumps(hoad.jit(driver)))(X).format == "coo"


def test_whole_arrays_of_traced_values() -> None:
    for driver, whole in (
        (hoad.sparse_hessian(rosenbrock, format="triplets"), hoad.hessian(rosenbrock)),
        (hoad.sparse_derivative_tensor(rosenbrock, 3), hoad.derivative_tensor(rosenbrock, 3)),
    ):
        found = hoad.jacobian(lambda x, driver=driver: driver(x).toarray())(X)
        np.testing.assert_allclose(found, hoad.jacobian(whole)(X), rtol=1e-12, atol=1e-9)


def test_lanes_with_the_same_places() -> None:
    xs = np.stack([X, 2 * X])
    driver = hoad.sparse_hessian(rosenbrock, format="triplets")
    found = hoad.vmap(driver, out_axes=hoad.Triplets(0, None, None, None))(xs)
    np.testing.assert_array_equal(found.indices, driver(X).indices)
    np.testing.assert_allclose(found.values, driver.plan(X).batch(xs))
    third = hoad.vmap(hoad.sparse_derivative_tensor(rosenbrock, 3), out_axes=hoad.SparseTensor(0, None, None))(xs)
    assert third.values.shape == (2, 8) and third.indices.shape == (3, 8)


def test_another_structure_in_another_process() -> None:
    plan = hoad.sparse_hessian(branched).plan(X)
    with pytest.raises(hoad.OtherStructureError) as caught:
        plan.values(-X)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)
    assert again.structure.nnz == caught.value.structure.nnz


def test_indices_beyond_32_bits() -> None:
    structure = Structure((2, 1 << 33), False, np.array([1 << 32, (1 << 33) + 5]))
    found = structure.matrix(np.array([1.0, 2.0]), "csr")
    assert found.indices.dtype == np.int64
    assert (found[0, 1 << 32], found[1, 5]) == (1.0, 2.0)


# ---- progress -------------------------------------------------------------------------------------------------------


class Bar:
    made: list[Bar]

    def __init__(self, **options: Any) -> None:
        self.options, self.n, self.is_closed = options, 0, False
        Bar.made.append(self)

    def update(self, count: int) -> None:
        self.n += count

    def close(self) -> None:
        self.is_closed = True


@pytest.mark.parametrize("is_installed", [True, False])
def test_a_progress_bar(monkeypatch: pytest.MonkeyPatch, is_installed: bool) -> None:
    """It is there for what takes long alone."""
    Bar.made = []
    monkeypatch.setitem(sys.modules, "tqdm", types.SimpleNamespace(tqdm=Bar) if is_installed else None)  # type: ignore[arg-type]
    wanted = hoad.sparse_hessian(rosenbrock).plan(X).values(X)
    assert not Bar.made
    monkeypatch.setattr(progress, "LONG", 0.0)
    np.testing.assert_array_equal(hoad.sparse_hessian(rosenbrock).plan(X).values(X), wanted)
    assert len(Bar.made) == is_installed
    for bar in Bar.made:
        assert bar.is_closed
        assert 0 < bar.n < bar.options["total"]
        assert bar.options["disable"] is None


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("made", [lambda f, x: f.plan(x), lambda f, x: hoad.jit(f)], ids=["plan", "jit"])
def test_matrices_of_a_plan_do_not_change_each_other(form: str, made: Any) -> None:
    x = np.array([1.0, -1.0, 2.0])
    f = hoad.sparse_jacobian(lambda x: np.where(x > 0, x**2, 0.0), format=form)
    plan = made(f, x)
    first, second, third = plan(x), plan(x), plan(x).copy()
    with contextlib.suppress(ValueError):  # of a csr or csc matrix, whose indices it would change in place
        second.eliminate_zeros()
    third.eliminate_zeros()
    assert third.nnz == 2
    for matrix, slopes in ((first, [2.0, 0.0, 4.0]), (plan(abs(x)), [2.0, 2.0, 4.0])):
        np.testing.assert_array_equal(matrix.toarray(), np.diag(slopes))
    places = f.plan(x)
    with pytest.raises(ValueError, match="read-only"):
        places.rows[0] = 1


def test_where_a_plan_is_not_finite() -> None:
    f = hoad.sparse_hessian(lambda x: np.sum(np.sqrt(x - 0.5) ** 3 * x))
    with hoad.debug_nans(), pytest.raises(hoad.NanError, match=r"sqrt\(-0.2"):
        f.plan(np.array([0.9, 0.3, 0.7]))
