"""Timing, rows and the command line that every benchmark file shares.

A benchmark file has a docstring that says its question, a tuple `PEERS` of the modules it compares with, and
`cases(settings)`, which yields pairs of a name and a function that measures and returns its rows.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import importlib.util
import json
import os
import platform
import statistics
import subprocess
import sys
import types
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib import metadata
from pathlib import Path
from time import perf_counter
from typing import Any

# Every side works with one thread and in float64; this has to be said before NumPy or JAX is imported.
os.environ.update(
    OMP_NUM_THREADS="1",
    OPENBLAS_NUM_THREADS="1",
    MKL_NUM_THREADS="1",
    JAX_PLATFORMS="cpu",
    JAX_ENABLE_X64="1",
    XLA_FLAGS="--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
)

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
INSTALL = "pip install 'hoad[bench]'"
EXTRA = ("asdex", "autograd", "casadi", "heyoka", "jax", "pytensor", "sparsejac", "torch")

Case = tuple[str, Callable[[], "list[Row]"]]
Function = Callable[..., Any]


# ---------------------------------------------------------------------------------------------- settings


@dataclass(frozen=True)
class Settings:
    """How long to measure. `tiny` cuts the sizes too: it shows that everything runs, and judges nothing.

    `without` names peers to be left out of the tables that have each in a process of its own.
    """

    rounds: int = 9
    min_sample: float = 0.02
    tiny: bool = False
    without: tuple[str, ...] = ()

    @property
    def short(self) -> bool:
        """What takes minutes to build is left out."""
        return self.rounds < FULL.rounds

    def size(self, full: int, tiny: int) -> int:
        return tiny if self.tiny else full


Cases = Callable[[Settings], Iterable[Case]]

FULL = Settings()
QUICK = Settings(rounds=3, min_sample=0.005)
TINY = Settings(rounds=1, min_sample=0.0, tiny=True)


# ------------------------------------------------------------------------------------------------ timing


@dataclass(frozen=True)
class Side:
    """One of the things compared.

    `fresh` makes the arguments of a single call, outside the clock. A sample has at most `most` calls, which
    matters where the arguments are large.
    """

    name: str
    call: Function
    fresh: Callable[[], tuple[Any, ...]]
    most: int = 4096


@dataclass(frozen=True)
class Timing:
    """Seconds per call, one sample a round."""

    name: str
    samples: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.samples)

    def per(self, count: int) -> Timing:
        """The same in seconds per operation, where a call does `count` of them."""
        return Timing(self.name, tuple(sample / count for sample in self.samples))


def sample(side: Side, number: int) -> float:
    """Seconds per call over `number` calls, each with arguments of its own."""
    batch = [side.fresh() for _ in range(number)]
    call = side.call
    gc.collect()
    start = perf_counter()
    for arguments in batch:
        call(*arguments)
    return (perf_counter() - start) / number


def calibrate(side: Side, settings: Settings) -> int:
    """Warm up, compile where the side compiles, and find how many calls make a sample long enough."""
    sample(side, 1)
    number, seconds = 1, sample(side, 1)
    while number * seconds < settings.min_sample and number < side.most:
        number = min(side.most, max(2 * number, round(settings.min_sample / max(seconds, 1e-7))))
        seconds = sample(side, number)
    return number


def interleave(sides: Sequence[Side], settings: Settings) -> list[Timing]:
    """Time the sides in turns, A B A B ..., so that a drift of the machine meets all of them."""
    numbers = [calibrate(side, settings) for side in sides]
    # A collection walks every live object, so without this each side would pay for the modules of the others.
    gc.collect()
    gc.freeze()
    rounds = [
        [sample(side, number) for side, number in zip(sides, numbers, strict=True)] for _ in range(settings.rounds)
    ]
    gc.unfreeze()
    return [Timing(side.name, tuple(column)) for side, column in zip(sides, zip(*rounds, strict=True), strict=True)]


def own_code(function: types.FunctionType) -> types.FunctionType:
    """A copy with its own code object: CPython specialises bytecode in place, so sides must not share it."""
    copy = types.FunctionType(
        function.__code__.replace(),
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


# ------------------------------------------------------------------------------------------------- peers


def peer(name: str) -> Any:
    """The module of a peer, imported where it is used: the files start without it and report it missing."""
    return importlib.import_module(name)


# ------------------------------------------------------------------------------------------------ checks


def require_equal(found: Any, expected: Any, rtol: float = 1e-9) -> None:
    """A fast wrong answer is not a figure."""
    both = isinstance(found, tuple) and isinstance(expected, tuple)
    for left, right in zip(found, expected, strict=True) if both else [(found, expected)]:
        want = np.asarray(right, dtype=float)
        scale = float(np.max(np.abs(want), initial=0.0))
        np.testing.assert_allclose(np.asarray(left, dtype=float), want, rtol=rtol, atol=rtol * scale)


def require_traced_anew(driver: Function, f: Function, arguments: tuple[Any, ...]) -> None:
    """Two calls of the derivative must call f twice at least: none may come out of a memo of the first."""
    calls = 0

    def counted(*values: Any) -> Any:
        nonlocal calls
        calls += 1
        return f(*values)

    derivative = driver(counted)
    for expected in (1, 2):
        derivative(*arguments)
        if calls < expected:
            raise AssertionError(f"{expected} calls of the derivative called f {calls} times")


# -------------------------------------------------------------------------------------------------- rows


@dataclass(frozen=True)
class Row:
    """One line of the table. `ok` is None where the figure is given for information and no bar applies."""

    question: str
    hoad: str
    peer: str
    ratio: str
    bar: str
    ok: bool | None
    note: str = ""
    data: dict[str, Any] = field(default_factory=dict)


def seconds_text(value: float) -> str:
    for scale, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if value >= scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value * 1e9:.3g} ns"


def _timed(question: str, hoad: Timing, other: Timing, ratio: str, bar: tuple[str, bool] | None, note: str) -> Row:
    data = {"hoad_s": hoad.samples, "peer": other.name, "peer_s": other.samples}
    peer_text = f"{other.name} {seconds_text(other.median)}"
    bar_text, ok = bar or ("", None)
    return Row(question, seconds_text(hoad.median), peer_text, ratio, bar_text, ok, note, data)


def faster(question: str, hoad: Timing, other: Timing, at_least: float | None = None, note: str = "") -> Row:
    """How many times faster than the peer, and how many times it has to be."""
    ratio = other.median / hoad.median
    text = f"{ratio:.3g}x faster" if ratio >= 1 else f"{1 / ratio:.3g}x slower"
    bar = None if at_least is None else (f">= {at_least:g}x faster", ratio >= at_least)
    return _timed(question, hoad, other, text, bar, note)


def cost(question: str, hoad: Timing, other: Timing, at_most: float | None = None, note: str = "") -> Row:
    """The time in units of the peer's, and what it may be."""
    ratio = hoad.median / other.median
    bar = None if at_most is None else (f"<= {at_most:.3g}x", ratio <= at_most)
    return _timed(question, hoad, other, f"{ratio:.3g}x", bar, note)


def limit(question: str, value: float, unit: str, at_most: float, note: str = "") -> Row:
    """A figure with a bar of its own and no peer."""
    data = {"value": value, "unit": unit, "at_most": at_most}
    text, bar = f"{value:.3g} {unit}".strip(), f"<= {at_most:g} {unit}".strip()
    return Row(question, text, "", "", bar, value <= at_most, note, data)


def noted(row: Row, note: str) -> Row:
    return replace(row, note=note)


def failed(question: str, reason: str) -> Row:
    """A question that could not be answered counts as a bar that was missed."""
    return Row(question, "", "", "", "", False, reason)


# ----------------------------------------------------------------------------------------------- running


def measure(cases: Cases, peers: Sequence[str], settings: Settings) -> list[Row]:
    """All rows of one benchmark; whatever goes wrong in a case becomes its failed row.

    A peer that is not installed fails the benchmark: a ratio without its peer is not a ratio.
    """
    missing = [name for name in peers if name not in settings.without and importlib.util.find_spec(name) is None]
    if missing:
        return [failed(f"peer {name}", f"{name} is not installed: {INSTALL}") for name in missing]
    rows: list[Row] = []
    for name, case in cases(settings):
        try:
            rows += case()
        except Exception as error:  # a benchmark reports, it does not stop the ones after it
            rows.append(failed(name, _one_line(error)))
    if settings.tiny:
        rows = [row if row.hoad == "" else _unjudged(row) for row in rows]
    return rows


def _one_line(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]


def _unjudged(row: Row) -> Row:
    return replace(row, ok=None)


def child_json(arguments: Sequence[str], timeout: float = 600.0) -> Any:
    """Run Python in a fresh process and read the JSON that it prints last."""
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=timeout)
    if done.returncode != 0:
        tail = " ".join(done.stderr.split()[-40:])
        raise RuntimeError(f"child process ended with {done.returncode}: {tail}")
    return json.loads(done.stdout.splitlines()[-1])


# ----------------------------------------------------------------------------------------------- showing


def render(rows: Sequence[Row]) -> str:
    """The table, a line a row, its notes below it."""
    head = ("question", "hoad", "peer", "ratio", "bar", "ok?")
    verdict = {True: "yes", False: "NO", None: ""}
    lines: list[tuple[str, ...]] = []
    for before, row in zip([None, *rows], rows, strict=False):
        # Several peers of one question stand below each other, the question on the first line.
        same = before is not None and (before.question, before.hoad) == (row.question, row.hoad)
        left = ("", "") if same else (row.question, row.hoad)
        lines.append((*left, row.peer, row.ratio, row.bar, verdict[row.ok]))
    widths = [max(len(line[i]) for line in [head, *lines]) for i in range(len(head))]
    shape = "  ".join(f"{{:{width}}}" for width in widths)
    out = [shape.format(*line).rstrip() for line in [head, *lines]]
    out.insert(1, "  ".join("-" * width for width in widths))
    notes = [f"  {row.question}: {row.note}" for row in rows if row.note]
    return "\n".join([*out, *(["", "notes", *notes] if notes else [])])


def verdict_line(rows: Sequence[Row], settings: Settings) -> str:
    """One sentence under the table."""
    if settings.tiny:
        return f"{sum(r.ok is False for r in rows)} failed; sizes were cut, so no bar is judged."
    judged = [row for row in rows if row.ok is not None]
    return f"{sum(bool(row.ok) for row in judged)} of {len(judged)} bars reached."


def cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.machine()


def version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def machine() -> dict[str, Any]:
    """What the figures were taken on."""
    names = (
        "hoad",
        "numpy",
        "scipy",
        "mpmath",
        "autograd",
        "jax",
        "jaxlib",
        "casadi",
        "torch",
        "heyoka",
        "pytensor",
        "asdex",
        "sparsejac",
    )
    return {
        "platform": platform.platform(),
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "load": os.getloadavg() if hasattr(os, "getloadavg") else None,
        "python": platform.python_version(),
        "versions": {name: version(name) for name in names},
        "threads": 1,
    }


def write_json(path: Path, rows: Sequence[Row], settings: Settings) -> None:
    record = {"machine": machine(), "settings": asdict(settings), "rows": [asdict(row) for row in rows]}
    path.write_text(json.dumps(record, indent=1) + "\n")


# ------------------------------------------------------------------------------------------ command line


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of `run.py` and of each file."""
    parser.add_argument("--quick", action="store_true", help="fewer and shorter rounds, same sizes")
    parser.add_argument("--tiny", action="store_true", help="small sizes: shows that it runs, judges nothing")
    parser.add_argument("--without", action="append", default=[], metavar="PEER", help="leave it out; repeatable")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write rows, samples and machine there")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw times over sizes, with their bars, there")


def chosen(options: argparse.Namespace) -> Settings:
    base = TINY if options.tiny else QUICK if options.quick else FULL
    return replace(base, without=tuple(options.without))


def finish(rows: Sequence[Row], settings: Settings, path: Path | None, plot: Path | None = None) -> int:
    """Print, write, draw, and give the exit status: 0 when every bar is reached."""
    print(render(rows))
    print()
    print(verdict_line(rows, settings))
    if path is not None:
        write_json(path, rows, settings)
    if plot is not None:
        importlib.import_module("plot").draw(rows, plot)
    return int(any(row.ok is False for row in rows))


def main(doc: str | None, cases: Cases, peers: Sequence[str] = ()) -> int:
    """The command line of one benchmark file."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser)
    options = parser.parse_args()
    settings = chosen(options)
    return finish(measure(cases, peers, settings), settings, options.json, options.plot)
