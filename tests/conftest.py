"""What every test shares: hypothesis without a clock, seeded random numbers, and which hoad is under test."""

from __future__ import annotations

import compileall
import gc
import os
import pickle
import sys
import warnings
import zlib
from collections import Counter
from collections.abc import Iterator
from typing import Any

import blas_threads  # noqa: F401  (before NumPy)
import numpy as np
import pytest
from _pytest.runner import runtestprotocol
from hypothesis import settings

try:
    import hoad
    from hoad._core.graph.inspect import node_row
except ImportError as error:
    raise pytest.UsageError(
        f"hoad cannot be imported ({error}). If it was found in the source folder, which has no compiled "
        "modules until they are built there: run `pytest` rather than `python -m pytest`, or build in place "
        "with `pip install --no-build-isolation -e .`"
    ) from error

# Machines are shared and slow at times: a deadline would test them, not hoad.
settings.register_profile("hoad", deadline=None, derandomize=bool(os.environ.get("CI")), print_blob=True)
settings.load_profile("hoad")

# The width and the colours of what is printed are what a test says, whatever the shell around it exports.
for name in ("COLUMNS", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
    os.environ.pop(name, None)
os.environ["TERM"] = "xterm"


def pytest_report_header() -> str:
    return f"hoad {hoad.__version__} from {os.path.dirname(hoad.__file__)}, numpy {np.__version__}"


# ---- what a run of 30 000 tests costs beside the tests ---------------------------------------------------------------


LARGER = 10_000  # objects between two garbage collections; most tests end before that many


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[Any]:
    """Collect without garbage collection, which would go through all tests so far again and again.

    The tests themselves are left out of what is collected from then on: tests of leaks do it often. Their assertions
    are rewritten once, not in each process of each run, even where PYTHONDONTWRITEBYTECODE is set.
    """
    written, sys.dont_write_bytecode = sys.dont_write_bytecode, False
    gc.disable()
    try:
        return (yield)
    finally:
        sys.dont_write_bytecode = written
        gc.collect()
        gc.freeze()
        gc.set_threshold(LARGER, *gc.get_threshold()[1:])
        gc.enable()


class FewMessages:
    """A process of pytest-xdist sends one report of a test that passes, and not three between two other messages.

    What the others say is shown on request only: how long setup and teardown took, and in a report for another program.
    """

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        for report in runtestprotocol(item, log=False, nextitem=nextitem):
            if report.when == "call" or not report.passed:
                item.ihook.pytest_runtest_logreport(report=report)
        return True


def pytest_configure(config: pytest.Config) -> None:
    wants_all = config.getoption("durations") is not None or config.getoption("xmlpath")
    if not hasattr(config, "workerinput"):
        compileall.compile_dir(os.path.dirname(hoad.__file__), quiet=2)  # for the processes that tests start
    elif not wants_all:
        config.pluginmanager.register(FewMessages())


# ---- programs travel ----------------------------------------------------------------------------------------------

MOST_KEPT = 3  # programs that a test made, the first ones, of which one may travel
MOST_NODES = 300  # of one of them
ONE_IN = 4  # tests of which a program travels whatever it holds
OFTEN = 8  # programs with an operation that travel in a process; later ones do where they are one in so many

made: list[hoad.Program] = []
travelled: Counter[str] = Counter()  # by operation
most = 0  # of them, for the test that runs
_init = hoad.Program.__init__


def _init_and_keep(program: hoad.Program, tapes: Any = ()) -> None:
    _init(program, tapes)
    if len(made) < most:
        made.append(program)


hoad.Program.__init__ = _init_and_keep  # type: ignore[method-assign]


def outcome(program: hoad.Program, values: list[Any]) -> list[Any]:
    """The results, or the class of what it raises."""
    try:
        return [np.asarray(x) for x in program._run(tuple(values))]
    except Exception as error:
        return [type(error)]


def is_equal(a: Any, b: Any, noise: Any = 0.0) -> bool:
    """Whether two results are the same; up to rounding, for jit may have found products of matrices in one of them.

    `noise` is what rounding may add to that of the results themselves.
    """
    if isinstance(a, type) or isinstance(b, type):
        return a is b
    if (a.dtype, a.shape) != (b.dtype, b.shape):
        return False
    if a.tobytes() == b.tobytes() or a.dtype.kind not in "fc":
        return a.tobytes() == b.tobytes()
    largest = np.max(np.abs(a[np.isfinite(a)]), initial=0.0)
    return np.allclose(a, b, rtol=0.0, atol=64 * np.finfo(a.dtype).eps * largest + noise, equal_nan=True)


def noise_in(program: hoad.Program, values: list[Any], results: list[Any]) -> list[Any]:
    """How far the results move where the inputs do by some roundings, which tells what rounding within can do."""
    signs = [np.where(np.arange(x.size).reshape(x.shape) % 2, 4.0, -4.0) for x in values]
    moved = [x + s * np.spacing(x) if x.dtype.kind == "f" else x for x, s in zip(values, signs, strict=True)]
    found = outcome(program, moved)
    if len(found) != len(results) or any(isinstance(x, type) or x.dtype.kind not in "fc" for x in (*found, *results)):
        return [0.0] * len(results)
    apart = [np.abs(a - b) for a, b in zip(found, results, strict=True)]
    return [np.max(x[np.isfinite(x)], initial=0.0) for x in apart]


def is_alike(program: hoad.Program, is_ill_conditioned: bool) -> bool:
    """Whether a program is the same after a pickle; True for one that no pickle can hold."""
    try:
        data = pickle.dumps(program)
    except (pickle.PicklingError, AttributeError):  # the latter for what is found by no name
        return True
    other = pickle.loads(data)
    values = [np.linspace(0.3, 0.7, aval.size).reshape(aval.shape).astype(aval.dtype) for aval in program.input_types]
    before, after = outcome(program, values), outcome(other, values)
    noise = noise_in(program, values, before) if is_ill_conditioned else [0.0] * len(before)
    if len(before) != len(after) or not all(map(is_equal, before, after, noise)):
        return False
    return list(map(repr, program)) == list(map(repr, other))


# SciPy's function of this name gives another result from call to call where c is small: 1e-320 at (0, 0, 0.3, 0.3).
READS_UNSET_MEMORY = "obl_rad2"


def check_travel(item: pytest.Item) -> None:
    """A program that a test made gives the same when it comes out of a pickle."""
    programs = [program for program in made if program and program[-1]._end <= MOST_NODES]
    made.clear()
    if programs and READS_UNSET_MEMORY not in item.name:
        number = zlib.crc32(item.name.encode())
        program = programs[number // ONE_IN % len(programs)]
        names = {node_row(program[-1]._graph, k)[0].name for k in range(program[-1]._end)}
        if number % ONE_IN and all(travelled[name] >= OFTEN for name in names):
            return
        travelled.update(names)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert is_alike(program, item.get_closest_marker("ill_conditioned") is not None), (
                "a program of this test is another after a pickle"
            )


# ---- around each test: hooks, for fixtures of every test take longer ------------------------------------------------

path: list[str] = []  # of imports, before the test that runs


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[Any]:
    """Note the path of imports, and programs that the test and its fixtures make from here on."""
    global most
    path[:] = sys.path
    made.clear()
    most = 0 if item.get_closest_marker("frees") else MOST_KEPT
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[Any]:
    """Put back the path, which processes that later tests start would inherit; a program of the test travels.

    After the last test of a file, what is alive is left out of garbage collections: modules imported since, and caches.
    """
    global most
    try:
        result = yield
    finally:
        sys.path[:] = path
        most = 0
    try:
        check_travel(item)
    finally:
        if nextitem is None or nextitem.path != item.path:
            gc.collect()
            gc.freeze()
    return result


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """Random numbers that are the same for a test in every run, and differ between tests."""
    return np.random.default_rng(zlib.crc32(request.node.name.encode()))
