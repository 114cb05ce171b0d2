"""Tables of sides that each live in a process of their own, timed in turns.

A file of tables has `TABLES`; the rest of it is `cases` and `PEERS` made here from them.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

import harness
import numpy as np
from harness import Case, Cases, Row, Settings, Timing
from problems import PROBLEMS
from sides import SIDES

HERE = Path(__file__).resolve().parent
PERTURBED = ", perturbed"


# ------------------------------------------------------------------------------------------------------- tables


@dataclass(frozen=True)
class Table:
    """A problem at several sizes, and its perturbed sibling.

    Parameters
    ----------
    question : str
        What is asked, without the size.
    problem : str
        The name in `problems.PROBLEMS`; its sibling's name ends with ``", perturbed"``.
    sides : sequence of str
        Names in `sides.SIDES`, hoad first.
    sizes : sequence of int
        What the table varies.
    tiny : int
        The only size where it is only to be shown that all runs.
    seconds : mapping of int to float
        By size, the seconds that hoad may take. A sibling has other operations, and no such bar.
    reference : mapping of str to mapping of int to float
        By side and size, the seconds that it took on the machine that `seconds` is for. On another one, the bar is also
        held as a ratio to that side: what hoad may take there, in units of what it took there.
    ratios : mapping of str to float
        By side, what hoad may take in units of its time where there is no bar in seconds; for the sibling too.
    largest : mapping of str to int
        By side, the largest size that it is timed at: beyond, it builds for minutes.
    """

    question: str
    problem: str
    sides: Sequence[str]
    sizes: Sequence[int]
    tiny: int
    seconds: Mapping[int, float] = field(default_factory=dict)
    reference: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    ratios: Mapping[str, float] = field(default_factory=dict)
    largest: Mapping[str, int] = field(default_factory=dict)

    def peers(self) -> set[str]:
        """The modules that have to be installed."""
        return {peer for name in self.sides if (peer := SIDES[name].peer) is not None}

    def bars(self, n: int, suffix: str) -> tuple[float | None, Mapping[str, float]]:
        """The bar in seconds, and those in units of the time of other sides."""
        if n not in self.seconds:
            return None, self.ratios
        if suffix:
            return None, {}
        seconds = self.seconds[n]
        return seconds, {side: seconds / took[n] for side, took in self.reference.items() if n in took}

    def taken(self, n: int, settings: Settings) -> tuple[list[str], list[str]]:
        """The sides that are timed at this size, and a line about each other one."""
        names, notes = [], []
        for name in self.sides:
            reason = self._why_not(name, n, settings)
            if reason is None:
                names.append(name)
            else:
                notes.append(f"{name} {reason}")
        return names, notes

    def _why_not(self, name: str, n: int, settings: Settings) -> str | None:
        side = SIDES[name]
        if name in settings.without or side.peer in settings.without:
            return "left out by --without"
        if n > self.largest.get(name, n):
            return f"left out beyond n = {self.largest[name]}"
        if side.slow and settings.short:
            return "left out: it builds for a minute"
        return None if side.found() else "not found on this machine"


def peers(tables: Sequence[Table]) -> tuple[str, ...]:
    return tuple(sorted(set().union(*(table.peers() for table in tables))))


def cases_of(tables: Sequence[Table]) -> Cases:
    """A case for each size of each table, and for its sibling's."""

    def cases(settings: Settings) -> Iterator[Case]:
        for table in tables:
            for n in [table.tiny] if settings.tiny else table.sizes:
                for suffix in ("", PERTURBED):
                    yield f"{table.question}, n = {n}{suffix}", partial(compare, table, n, suffix, settings)

    return cases


# ----------------------------------------------------------------------------------------------------- children


class Child:
    """A side that builds one derivative in a process of its own, and obeys."""

    def __init__(self, side: str, problem: str, n: int, cores: int = 1, most: int | None = None) -> None:
        """Start it.

        Where building and the first call take more than `most` seconds of the processor, it is ended, and TimeoutError
        is raised.
        """
        self.side = side
        self.errors = tempfile.TemporaryFile("w+")
        self.folder = tempfile.TemporaryDirectory()  # CasADi writes the C that it generates where it runs
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "child.py"), side, problem, str(n)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
            cwd=self.folder.name,
            env={
                **os.environ,
                "HOAD_BENCHMARK_CORES": str(cores),
                "HOAD_BENCHMARK_LIMIT": str(most or 0),
                "HOAD_THREADS": str(cores),
            },
        )
        try:
            self.started: dict[str, float] = self._answer()
        except RuntimeError:
            self.__exit__(None, None, None)
            if self.process.returncode == -getattr(signal, "SIGXCPU", 0):
                raise TimeoutError(f"{side} takes more than {most} s") from None
            raise

    def __enter__(self) -> Child:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.communicate()
        self.errors.close()
        self.folder.cleanup()

    def ask(self, line: str) -> Any:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self._answer()

    def _answer(self) -> Any:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith(("{", "t")) or line[:1].isdigit():  # a peer may print too
                return json.loads(line)
        self.process.wait()
        self.errors.seek(0)
        raise RuntimeError(f"{self.side} ended: {''.join(self.errors.read().splitlines()[-1:])}")

    def result(self, folder: Path) -> tuple[np.ndarray, np.ndarray]:
        """The derivative at the point of the check, and by hand where somebody wrote it."""
        target = folder / "result.npy"
        self.ask(f"check {target}")
        return np.load(target), np.load(f"{target}.expected.npy")

    def sample(self, calls: int) -> float:
        seconds: float = self.ask(f"sample {calls}")
        return seconds

    def calibrate(self, settings: Settings) -> Callable[[], float]:
        """Warm up, and find how many calls make a sample long enough; return what takes one."""
        calls, seconds = 1, self.sample(1)
        while calls * seconds < settings.min_sample and calls < 100_000:
            calls = max(2 * calls, round(settings.min_sample / max(seconds, 1e-8)))
            seconds = self.sample(calls)
        return partial(self.sample, calls)


def check(children: Sequence[Child], problem: str) -> None:
    """Before any clock runs: all agree with the derivative by hand, or else with the last of the peers."""
    with tempfile.TemporaryDirectory() as folder:
        results = [child.result(Path(folder)) for child in children]
    expected = results[-1][1]
    for child, (found, _) in zip(children, results, strict=True):
        try:
            apart = tuple if PROBLEMS[problem].order is not None else np.asarray
            harness.require_equal(apart(found), apart(expected), rtol=PROBLEMS[problem].rtol)
        except AssertionError as error:
            raise AssertionError(f"{child.side} is wrong: {error}") from None


def interleave(children: Sequence[Child], settings: Settings) -> list[Timing]:
    """In turns, A B A B ...; whoever is not asked waits for a line."""
    samplers = [child.calibrate(settings) for child in children]
    rounds = [[take() for take in samplers] for _ in range(settings.rounds)]
    return [
        Timing(child.side, tuple(column)) for child, column in zip(children, zip(*rounds, strict=True), strict=True)
    ]


# --------------------------------------------------------------------------------------------------------- rows


def compare(table: Table, n: int, suffix: str, settings: Settings) -> list[Row]:
    """All sides at one size, beside each other."""
    names, notes = table.taken(n, settings)
    problem = table.problem + suffix
    with ExitStack() as stack:
        children = [stack.enter_context(Child(name, problem, n)) for name in names]
        check(children, problem)
        timings = interleave(children, settings)
        first = [child.started["first_s"] for child in children]
    return rows_of(f"{table.question}{suffix}", n, timings, first, table.bars(n, suffix), "; ".join(notes))


def rows_of(
    question: str,
    n: int,
    timings: Sequence[Timing],
    first: Sequence[float],
    bars: tuple[float | None, Mapping[str, float]],
    note: str,
) -> list[Row]:
    """hoad against its bar in seconds, then against each other side."""
    hoad, *others = timings
    seconds, ratios = bars
    full = f"{question}, n = {n}"
    rows = []
    if seconds is not None or not others:
        rows.append(alone(full, hoad, seconds))
    rows += [harness.cost(full, hoad, other, at_most=ratios.get(other.name)) for other in others]
    for row in rows:
        row.data.update(table=question, n=n, bar_s=seconds)
    for row, began in zip(rows[-len(others) :] if others else (), first[1:], strict=True):
        row.data.update(hoad_first_s=first[0], peer_first_s=began)
    return [*rows[:-1], harness.noted(rows[-1], note)]


def alone(question: str, hoad: Timing, at_most: float | None) -> Row:
    """hoad's own time, and what it may be."""
    bar = "" if at_most is None else f"<= {harness.seconds_text(at_most)}"
    ok = None if at_most is None else hoad.median <= at_most
    return Row(question, harness.seconds_text(hoad.median), "", "", bar, ok, data={"hoad_s": hoad.samples})
