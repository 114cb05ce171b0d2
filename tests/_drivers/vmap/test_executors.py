"""Maps done by executors: the bits of one process, whatever happens to workers on the way."""

from __future__ import annotations

import functools
import multiprocessing
import os
import pickle
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _drivers.vmap import workers
from quality.project import TESTS

import hoad
from hoad._core.graph.primitive import primitive_named
from hoad._transform import executors

RNG = np.random.default_rng(5)
C = np.array([1.3, 0.2])
WITHOUT = sorted(
    {"spawn", "forkserver"} & set(multiprocessing.get_all_start_methods())
)  # a child with no parent's state


def processes(how: str = "spawn", fuse: Path | None = None, count: int = 2) -> ProcessPoolExecutor:
    context = multiprocessing.get_context(how)
    return ProcessPoolExecutor(count, context, initializer=workers.set_fuse, initargs=(str(fuse),))


@pytest.fixture(scope="module", autouse=True)
def rules_as_in_a_new_process() -> Iterator[None]:
    """Tests that ran here before may have declared rules anew, which are counted: a worker would refuse the program."""
    before = workers.versions()
    with processes(count=1) as made:
        fresh = made.submit(workers.versions).result()
    for name, version in fresh.items():
        primitive_named(name).version = version  # type: ignore[union-attr]
    yield
    for name, version in before.items():
        primitive_named(name).version = version  # type: ignore[union-attr]


@pytest.fixture(scope="module")
def pool() -> Iterator[Executor]:
    with processes() as made:
        yield made


@pytest.fixture
def fuse(tmp_path: Path) -> Path:
    """The file that the first worker to see an input ≥ 0 takes with it."""
    path = tmp_path / "fuse"
    path.touch()
    return path


def same_bits(found: Any, wanted: Any) -> bool:
    return type(found) is type(wanted) and np.asarray(found).tobytes() == np.asarray(wanted).tobytes()


def check_all(executor: Executor, x: Any) -> None:
    """Values, and derivatives outside and inside the map, of inputs that take two branches."""

    def results(**how: Any) -> list[Any]:
        mapped = hoad.vmap(workers.model, (0, None), **how)
        inside = hoad.vmap(hoad.hessian(workers.model, argnums=1), (0, None), **how)
        direction = np.array([0.5, -2.0])
        return [
            mapped(x, C),
            *hoad.grad(lambda y, c: np.sum(mapped(y, c) ** 2), argnums=(0, 1))(x, C),
            hoad.hessian(lambda c: np.sum(np.tanh(mapped(x, c))))(C),
            hoad.jvp(lambda c: mapped(x, c), (C,), (direction,))[1],
            inside(x, C),
        ]

    for found, wanted in zip(results(executor=executor), results(threads=1), strict=True):
        assert same_bits(found, wanted)


# Around a chunk; and more than 64 chunks, so that blocks have several.
@pytest.mark.parametrize("n", [0, 1, 2, 129, 20011])
def test_threads_give_the_bits_of_one_process(n: int) -> None:
    with ThreadPoolExecutor(3) as executor:
        check_all(executor, RNG.uniform(0.01, 1, n))


@pytest.mark.parametrize("how", WITHOUT)
def test_processes_give_the_bits_of_one_process(how: str) -> None:
    with processes(how) as executor:
        check_all(executor, RNG.uniform(0.01, 1, 20011))


def test_dtypes_shapes_and_containers_stay(pool: Executor) -> None:
    def f(p: Any, x: Any) -> Any:
        return {"sum": np.sum(p["a"] @ x), "rows": (p["a"] * p["z"], x > 0.5)}

    args = {"a": RNG.normal(size=(200, 2, 3)).astype(np.float32), "z": np.complex128(1 + 2j)}, RNG.normal(size=3)
    axes = ({"a": 0, "z": None}, None)
    found, wanted = hoad.vmap(f, axes, executor=pool)(*args), hoad.vmap(f, axes)(*args)
    assert same_bits(found["sum"], wanted["sum"])
    for one, other in zip(found["rows"], wanted["rows"], strict=True):
        assert same_bits(one, other) and one.dtype == other.dtype and one.shape == other.shape


def test_a_batch_rule_is_given_the_chunks_that_it_is_given_in_one_process(pool: Executor) -> None:
    x = RNG.normal(size=1000)
    assert same_bits(hoad.vmap(workers.doubled, executor=pool)(x), hoad.vmap(workers.doubled)(x))


# ---- what is sent, and how much of it at a time


@pytest.mark.parametrize("count", [1, 2])
def test_the_program_travels_once_to_each_worker_and_inputs_in_slices(count: int) -> None:
    shared = RNG.normal(size=50_000)
    x = RNG.normal(size=2_000_000)

    def along_shared(**how: Any) -> Any:
        return hoad.jvp(lambda s: hoad.vmap(lambda t: np.sin(t) * s[3], **how)(x), (shared,), (shared,))[0]

    with processes(count=count) as executor:
        counting = workers.Counting(executor)
        assert same_bits(along_shared(executor=counting), along_shared())
    assert len(counting.rows) > 40
    assert len(counting.parcels) == 2  # the map and its tangent
    for sent in counting.parcels.values():
        assert min(sent) > shared.nbytes  # what is the same for all is in the parcel, not in every task
        # A pool says nothing of who takes a task: the parcel may reach one that has it, while the other still asks.
        assert len(sent) == 1 if count == 1 else len(sent) < len(counting.rows) / 6
    assert max(counting.rows) * 8 * 2 <= 1 << 20
    assert max(counting.on_the_way) <= 2 * count + 2


def test_expensive_python_is_cut_into_single_inputs(pool: Executor) -> None:
    counting = workers.Counting(pool)
    x = -np.arange(1.0, 41.0)
    assert same_bits(hoad.vmap(workers.fragile, executor=counting)(x), 2 * x)
    assert set(counting.rows) == {1}


def test_derivatives_are_computed_by_the_workers(pool: Executor) -> None:
    counting = workers.Counting(pool)
    x = RNG.normal(size=1000)
    program = hoad.gradient(
        hoad.record(lambda c: np.sum(hoad.vmap(lambda t: np.sin(c * t), executor=counting)(x)), 0.5)
    )
    del counting.rows[:]
    found = program.evaluate(0.7)
    assert sum(counting.rows) >= len(x)
    np.testing.assert_allclose(found, x @ np.cos(0.7 * x), rtol=1e-12)
    del counting.rows[:]
    assert same_bits(pickle.loads(pickle.dumps(program)).evaluate(0.7), found)  # the executor is no part of a pickle
    assert counting.rows == []


def test_calls_and_results_may_travel_as_pickles_as_mpi_does() -> None:
    with workers.MPIPoolExecutor(3) as executor:
        check_all(executor, RNG.uniform(0.01, 1, 3000))
        assert executor.sent and max(executor.sent) < 1 << 20


# ---- losses


@pytest.mark.parametrize("how", WITHOUT)
def test_a_pool_whose_worker_is_killed_in_mid_run(how: str, fuse: Path) -> None:
    x = np.linspace(-1.0, 1.0, 400)
    with (
        processes(how, fuse) as executor,
        pytest.warns(RuntimeWarning, match=r"ProcessPoolExecutor is broken \(BrokenProcessPool.* in this process"),
    ):
        found = hoad.vmap(workers.fragile, executor=executor)(x)
    assert not fuse.exists()
    assert same_bits(found, 2 * x)


def test_a_pool_that_breaks_while_sums_are_added_up(fuse: Path) -> None:
    x = RNG.normal(size=3000)

    def total(c: Any, **how: Any) -> Any:
        return np.sum(np.sin(c * hoad.vmap(lambda t: workers.fragile(c * t) * c, **how)(x)))

    wanted = hoad.grad(total)(0.3)
    with processes(fuse=fuse) as executor, pytest.warns(RuntimeWarning, match="is broken"):
        assert same_bits(hoad.grad(lambda c: total(c, executor=executor))(0.3), wanted)


def cancelled(future: Future[Any]) -> None:
    future.cancel()


def failed(future: Future[Any]) -> None:
    future.set_exception(BrokenProcessPool("a worker died"))


@pytest.mark.parametrize("how", [cancelled, failed])
@pytest.mark.parametrize("every", [3, 5, 7])
def test_what_is_lost_is_sent_again(how: Callable[[Future[Any]], None], every: int) -> None:
    x = RNG.uniform(0.01, 1, 20011)
    executor = workers.Losing(lambda call, future: how(future) if call % every == 0 else None)
    check_all(executor, x)


def test_workers_that_forget_are_sent_the_program_again() -> None:
    executor = workers.Losing(lambda call, future: executors._kept.forget() if call % 3 == 0 else None)
    check_all(executor, RNG.uniform(0.01, 1, 20011))


def test_what_is_always_lost_is_an_error() -> None:
    executor = workers.Losing(lambda call, future: failed(future))
    with pytest.raises(hoad.ExecutorError, match=r"inputs 0 to \d+ of this vmap were lost 4 times by Losing \(Broken"):
        hoad.vmap(np.sin, executor=executor)(np.ones(1000))
    assert executor.calls < 10


def test_an_executor_that_is_closed_says_so() -> None:
    executor = ThreadPoolExecutor(1)
    executor.shutdown()
    with pytest.raises(RuntimeError, match="cannot schedule new futures after shutdown"):
        hoad.vmap(np.sin, executor=executor)(np.ones(1000))


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_an_interruption_cancels_what_is_on_the_way(error: type[BaseException]) -> None:
    futures: list[Future[Any]] = []

    class Interrupted(Executor):
        def submit(self, function: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
            if futures:
                raise error
            futures.append(Future())
            return futures[0]

    with pytest.raises(error):
        hoad.vmap(workers.fragile, executor=Interrupted())(np.ones(100))
    assert futures[0].cancelled()


# ---- what f raises


def error_of(call: Callable[[], Any]) -> BaseException:
    with pytest.raises(BaseException) as caught:  # noqa: PT011
        call()
    return caught.value


def test_an_exception_of_f_is_that_of_one_process(pool: Executor) -> None:
    x = np.linspace(0.0, 1.0, 41)
    found, wanted = (error_of(lambda how=how: hoad.vmap(workers.picky, **how)(x)) for how in ({"executor": pool}, {}))
    assert type(found) is type(wanted) is workers.Unportable
    assert found.args[0] == 0.5
    assert same_bits(hoad.vmap(workers.picky, executor=pool)(x[:20]), x[:20])


def test_a_guard_names_the_line_and_the_input(pool: Executor) -> None:
    x = np.where(np.arange(1000) == 700, -1.0, 1.0)

    def replay(**how: Any) -> Any:
        program = hoad.record(lambda y: hoad.vmap(lambda t: t if t > 0 else -t, **how)(y), np.ones(1000))
        return program.evaluate(x)

    found, wanted = (error_of(functools.partial(replay, **how)) for how in ({"executor": pool}, {}))
    assert type(found) is type(wanted) is hoad.GuardError
    assert str(found) == str(wanted)


def test_what_fails_in_workers_only_says_so(pool: Executor) -> None:
    with pytest.raises(
        hoad.ExecutorError, match=r"(?s)inputs \d to \d .* but not in this process.*no such data on this machine"
    ):
        hoad.vmap(workers.homesick, executor=pool)(np.ones(10))


def test_what_cannot_be_pickled_says_what_to_do(pool: Executor) -> None:
    @hoad.primitive
    def local(x: Any) -> Any:
        return 2 * x

    with pytest.raises(
        pickle.PicklingError, match=r"cannot pickle it: .*local.* or leave out executor: threads need no"
    ):
        hoad.vmap(local, executor=pool)(np.ones(10))


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"executor": 3}, "takes an executor of concurrent.futures, but was given int.*client.get_executor()"),
        ({"executor": workers.Losing(lambda *_: None), "threads": 2}, "threads or an executor, not both"),
    ],
)
def test_what_is_no_executor(how: dict[str, Any], message: str) -> None:
    with pytest.raises(hoad.ArgumentError, match=re.sub(r"\(\)", r"\\(\\)", message)):
        hoad.vmap(np.sin, **how)


# ---- Dask


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """A cluster of two processes on this machine, which gives up a task as soon as it has cost one worker."""
    dask, distributed = pytest.importorskip("dask"), pytest.importorskip("distributed")
    settings = {"distributed.scheduler.allowed-failures": 0, "distributed.comm.timeouts.connect": "60s"}
    with (
        dask.config.set(settings),
        distributed.LocalCluster(2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.mark.slow
def test_dask_gives_the_bits_of_one_process(client: Any) -> None:
    with client.get_executor() as executor:
        check_all(executor, RNG.uniform(0.01, 1, 20011))


@pytest.mark.slow
def test_dask_with_a_worker_killed_in_mid_run(fuse: Path, client: Any) -> None:
    client.run(workers.set_fuse, str(fuse))
    x = np.linspace(-1.0, 1.0, 400)
    before = set(client.scheduler_info()["workers"])
    with client.get_executor() as executor:
        counting = workers.Counting(executor)
        found = hoad.vmap(workers.fragile, executor=counting)(x)
    assert not fuse.exists()
    assert same_bits(found, 2 * x)
    assert len(counting.rows) > 200  # with what was lost
    client.wait_for_workers(2)
    assert set(client.scheduler_info()["workers"]) != before


# ---- MPI

BY_MPI = """
import numpy as np
from mpi4py.futures import MPIPoolExecutor
from _drivers.vmap import workers
import hoad

def results(**how):
    mapped = hoad.vmap(workers.model, (0, None), **how)
    slopes = hoad.grad(lambda y, c: np.sum(mapped(y, c) ** 2), argnums=(0, 1))(X, C)
    return [mapped(X, C), *slopes, hoad.hessian(lambda c: np.sum(np.tanh(mapped(X, c))))(C)]

X, C = np.random.default_rng(5).uniform(0.01, 1, 20011), np.array([1.3, 0.2])
if __name__ == "__main__":
    with MPIPoolExecutor() as executor:
        pairs = zip(results(executor=executor), results(threads=1), strict=True)
        print(executor.num_workers, [one.tobytes() == other.tobytes() for one, other in pairs])
"""


@pytest.mark.slow
def test_mpi_gives_the_bits_of_one_process(tmp_path: Path) -> None:
    """A master and two workers that mpiexec starts, as the guide says."""
    pytest.importorskip("mpi4py")
    found = shutil.which("mpiexec", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    if found is None:
        pytest.skip("there is no mpiexec")
    script = tmp_path / "script.py"
    script.write_text(BY_MPI, encoding="utf-8")
    path = [str(Path(hoad.__file__).parents[1]), str(TESTS), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [found, "-n", "3", sys.executable, "-m", "mpi4py.futures", str(script)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path).rstrip(os.pathsep)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split(maxsplit=1) == ["2", "[True, True, True, True]\n"]
