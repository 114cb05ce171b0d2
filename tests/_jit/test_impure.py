"""What gives something else at every call, in the user's code or below it: never replayed. What does not: replayed.

A row is an expression, whose value is multiplied with x by a jitted function, and what changes it between two calls.
"""

from __future__ import annotations

import decimal
import functools
import gc
import importlib
import importlib.metadata
import locale
import operator
import os
import shutil
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _jit.impure_rows import CHANGED, MODULES, PURE, REFUSED, SETUP, SETUP_OF_FILES, SETUP_OF_PURE, SETUP_OF_REFUSED

import hoad

pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def known(folder: Path) -> dict[str, Any]:
    """The globals of a row."""
    found: dict[str, Any] = {"__name__": __name__, "__builtins__": __builtins__, "np": np, "hoad": hoad}
    for name in MODULES:
        try:
            importlib.import_module(name)
        except ImportError:  # tomllib before Python 3.11, some on Windows
            continue
        found[name.split(".")[0]] = importlib.import_module(name.split(".")[0])
    return found | {"d": str(folder), "p": folder, "scipy": importlib.import_module("scipy")}


def made(names: dict[str, Any], expression: str) -> Any:
    """x times what an expression gives."""
    return eval(f"lambda x: x * ({expression})", names)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The files that the rows read, to be copied."""
    folder = tmp_path_factory.mktemp("files")
    exec(SETUP_OF_FILES, known(folder))
    yield folder
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.unfreeze()
        gc.collect()
        gc.freeze()  # as conftest.py does


@pytest.fixture(autouse=True)
def _as_it_was(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """What the rows change in the process is put back."""
    monkeypatch.setenv("HOAD_ROW", "1.0")
    for name in ("HOME", "COLUMNS", "TZ"):
        monkeypatch.setenv(name, os.environ.get(name, "UTC"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "hoad_row_package", raising=False)
    limit, interval, precision = sys.getrecursionlimit(), sys.getswitchinterval(), decimal.getcontext().prec
    numeric, mask = locale.setlocale(locale.LC_NUMERIC), os.umask(0o22)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        warnings.simplefilter("ignore", DeprecationWarning)
        gc.freeze()  # so that only what the row made is looked at
        yield
        gc.collect()  # files that rows left open in cycles warn here, not in a later test
        gc.enable()
    sys.setrecursionlimit(limit)
    sys.setswitchinterval(interval)
    decimal.getcontext().prec = precision
    locale.setlocale(locale.LC_NUMERIC, numeric)
    os.umask(mask)
    monkeypatch.undo()
    if hasattr(time, "tzset"):
        time.tzset()
    if hasattr(signal, "SIGUSR1"):
        signal.signal(signal.SIGUSR1, signal.SIG_DFL)


@pytest.mark.skipif(sys.platform != "linux", reason="the table is of what Linux has")
@pytest.mark.parametrize("warmed", [False, True])
@pytest.mark.parametrize("expression", CHANGED)
def test_no_answer_is_stale(expression: str, warmed: bool, files: Path, tmp_path: Path) -> None:
    shutil.copytree(files, tmp_path, symlinks=True, dirs_exist_ok=True)
    if "threading" in expression:
        for thread in set(threading.enumerate()) - {threading.main_thread()}:
            thread.join(0.2)  # of tests before this one, which would end within it
    names = known(tmp_path)
    if expression.startswith("tomllib") and "tomllib" not in names:
        pytest.skip("new in Python 3.11")
    exec(SETUP, names)
    f = made(names, expression)
    if warmed:
        f(1.0)
    jitted = hoad.jit(f)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hoad.JitWarning)
        first = jitted(1.0), jitted(1.0)
        expected = f(1.0)
        assert first == (expected, expected)
        exec(CHANGED[expression], names)
        found, wanted = jitted(1.0), f(1.0)
    names["done"].set()
    assert found == wanted
    assert wanted != expected  # so that a replay would have been stale


@pytest.mark.skipif(sys.platform != "linux", reason="the table is of what Linux has")
@pytest.mark.parametrize("expression", REFUSED)
def test_what_changes_by_itself_is_refused(expression: str, files: Path, tmp_path: Path) -> None:
    shutil.copytree(files, tmp_path, symlinks=True, dirs_exist_ok=True)
    names = known(tmp_path)
    exec(SETUP + SETUP_OF_REFUSED, names)
    f = made(names, expression)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of nine resamples that happen to be alike
        f(1.0)
    jitted = hoad.jit(f)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore", RuntimeWarning)
        warnings.simplefilter("always", hoad.JitWarning)
        [jitted(1.0) for _ in range(3)]
    assert [w for w in caught if w.category is hoad.JitWarning and "runs without compilation" in str(w.message)]
    with pytest.raises(hoad.ArgumentError, match="there is no program"):
        jitted.program(1.0)


# What SciPy before 1.15 computes by code that looks at signatures, or at the process, at every call.
DECORATED = {
    "scipy.special.comb(5,2)",
    "scipy.linalg.eigh(np.eye(2))[0][0]",
    "scipy.integrate.simpson(a)",
    "scipy.spatial.ConvexHull([[0,0],[0,1],[1,0]]).volume",
}
SCIPY = importlib.metadata.version("scipy")


@pytest.mark.parametrize("expression", PURE)
def test_what_does_not_change_is_replayed(expression: str, tmp_path: Path) -> None:
    names = known(tmp_path)
    exec(SETUP_OF_PURE, names)
    f = made(names, expression)
    jitted = hoad.jit(f)
    if expression.startswith("gzip.decompress") and sys.version_info < (3, 11):
        pytest.skip("reads through a file object")
    if expression in DECORATED and np.lib.NumpyVersion(SCIPY) < "1.15.0":
        with pytest.warns(hoad.JitWarning, match="runs without compilation"):
            found = [jitted(1.0) for _ in range(3)]
        np.testing.assert_equal(found, [f(1.0)] * 3)
        return
    expected = [jitted(1.0) for _ in range(3)]
    entered = []
    sys.setprofile(lambda frame, *_: entered.append(frame.f_code))
    try:
        found = jitted(1.0)
    finally:
        sys.setprofile(None)
    assert f.__code__ not in entered
    np.testing.assert_equal([found, *expected], [f(1.0)] * 4)
    jitted.program(1.0)


# ---- what is said, and what is not noted ----------------------------------------------------------------------------


def test_the_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "t"
    path.write_text("2.0")
    f = hoad.jit(lambda x: x * float(path.read_text()))
    assert f(1.0) == 2.0
    with pytest.warns(
        hoad.JitWarning, match=r"it calls io.open at test_impure\.py:\d+, which may return another value"
    ):
        f(1.0)


def test_what_other_threads_do_is_not_the_functions(tmp_path: Path) -> None:
    path = tmp_path / "t"
    path.write_text("2.0")
    read: list[str] = []

    def other() -> None:
        while len(read) < 100:
            read.append(path.read_text())
            time.time()

    thread = threading.Thread(target=other)
    thread.start()
    for _ in range(20):
        hoad.jit(lambda x: np.sin(x) * float(np.sum(np.ones(3))))(1.0)
    thread.join()


class Garbage:
    """What only the collector finds, and what reads the clock as it goes."""

    gone: float = 0.0

    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        Garbage.gone = time.time() + len(os.listdir("."))


def test_what_the_collector_reads_is_not_the_functions() -> None:
    def f(x: Any) -> Any:
        gc.collect()
        return np.sin(x)

    jitted = hoad.jit(f)
    for _ in range(2):
        Garbage()
        Garbage.gone = 0.0
        assert jitted(0.5) == np.sin(0.5)
    jitted.program(0.5)


def test_a_method_called_by_a_name_that_is_captured() -> None:
    get = operator.methodcaller("perf_counter")
    with pytest.warns(hoad.JitWarning, match="may call anything that time has"):
        hoad.jit(lambda x: x * get(time))(1.0)


def test_a_cache_that_grows_keeps_recordings() -> None:
    """Of what was kept before: only what a recording itself added makes it be recorded again."""

    @functools.cache
    def powers(n: int) -> Any:
        return np.arange(n) ** 2.0

    f = hoad.jit(lambda x, n: x * np.sum(powers(n)))
    for n in range(1, 40):
        assert f(2.0, n) == f(2.0, n) == 2.0 * np.sum(np.arange(n) ** 2.0)
    programs = [f.program(2.0, n) for n in (1, 39)]
    assert [f.program(2.0, n) for n in (1, 39)] == programs
    powers(39)[1] = 7.0  # what is kept is read, not copied
    assert f(2.0, 39) == 2.0 * np.sum(powers(39))


def test_what_a_library_reads_once_is_no_reason_to_refuse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table that it keeps: the second recording finds it there."""
    path = tmp_path / "t"
    path.write_text("2.0")
    table: list[float] = []
    names = {"table": table, "path": path, "__name__": "scipy.special.row"}
    source = "def value():\n    if not table:\n        table.append(float(path.read_text()))\n    return table[0]"
    scipy = importlib.import_module("scipy")
    exec(compile(source, str(Path(scipy.__file__).parent / "special" / "row.py"), "exec"), names)
    value = names["value"]
    f = hoad.jit(lambda x: x * value())  # type: ignore[operator]
    for _ in range(3):
        assert f(1.5) == 3.0
    f.program(1.5)


def test_densities_are_replayed_and_draws_are_not() -> None:
    stats = importlib.import_module("scipy.stats")
    density = hoad.jit(lambda x: x * stats.norm.pdf(0.3))
    assert density(0.5) == pytest.approx(0.5 * stats.norm.pdf(0.3), rel=1e-15)
    density.program(0.5)
    drawn = hoad.jit(lambda x: x * stats.norm.rvs())
    with pytest.warns(hoad.JitWarning, match="draws from NumPy's global random generator"):
        drawn(1.0), drawn(1.0)
    asked = hoad.jit(lambda x: x * stats.norm.random_state.get_state()[2])
    with pytest.warns(hoad.JitWarning, match="runs without compilation"):
        asked(1.0)


@pytest.mark.filterwarnings("ignore::hoad.JitWarning")
def test_draws_of_scipys_from_the_global_generator_are_not_compared() -> None:
    """Of few values, that are drawn alike now and then: two calls that part say nothing of types."""
    linalg = importlib.import_module("scipy.linalg")
    for _ in range(200):
        hoad.jit(lambda x: x * linalg.clarkson_woodruff_transform(np.eye(3), 2)[0, 0])(1.0)
