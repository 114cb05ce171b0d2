"""Long comparisons of hoad with other sources of truth: ``python -m tests.campaigns --minutes 30``.

Each campaign is a file of this folder with a function ``trial(rng)``, which makes one random comparison and returns
None or what is wrong. Each runs in a process of its own, so that a crash or a trial that does not end counts as wrong.
The seed is today's date unless it is given. ``--only NAME --seed SEED --trial K`` repeats one trial.
"""

from __future__ import annotations

import argparse
import datetime
import importlib
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from pathlib import Path
from typing import NamedTuple

import numpy as np

FOLDER = Path(__file__).resolve().parent
LONGEST_TRIAL = 120  # seconds
SHOWN = 5  # of the wrong trials of a campaign


class Campaign(NamedTuple):
    """What runs in one process: a file of this folder, and the environment that it runs in."""

    name: str
    module: str
    environment: dict[str, str]


def campaigns() -> list[Campaign]:
    """All of them. Those that compare numbers run with both sets of kernels."""
    modules = sorted(path.stem for path in FOLDER.glob("[a-z]*.py") if "\ndef trial(" in path.read_text())
    found = [Campaign(module, module, {}) for module in modules]
    return found + [Campaign(f"{m}-portable", m, {"HOAD_KERNELS": "portable"}) for m in ("arrays", "scalars", "shapes")]


# ---- one process ----------------------------------------------------------------------------------------------------


def run_trials(module: str, seed: int, first: int, seconds: float, progress: Path) -> None:
    """Trials from `first` on for some seconds, one at least. Their number goes to `progress`, errors to stdout."""
    import faulthandler

    trial = importlib.import_module(f"campaigns.{module}").trial
    counter = np.memmap(progress, dtype=np.int64, mode="r+", shape=(1,))
    end = time.monotonic() + seconds
    k = first
    while k == first or time.monotonic() < end:
        counter[0] = k
        faulthandler.dump_traceback_later(LONGEST_TRIAL, exit=True)
        wrong = outcome(trial, seed, k)
        if wrong is not None:
            print(f"WRONG {k} {wrong!r}", flush=True)
        k += 1
    counter[0] = k
    faulthandler.cancel_dump_traceback_later()
    print("END", flush=True)


def outcome(trial, seed: int, k: int) -> str | None:  # type: ignore[no-untyped-def]
    """What is wrong in a trial, an exception that it raises included, and a function that `jit` does not replay."""
    import traceback
    import warnings

    from hoad import JitWarning

    try:
        warnings.simplefilter("error", JitWarning)
        return trial(np.random.default_rng([seed, k]))  # type: ignore[no-any-return]
    except Exception:
        return traceback.format_exc(limit=-6)


# ---- all of them ----------------------------------------------------------------------------------------------------


class Tally:
    """The trials of one campaign."""

    def __init__(self, campaign: Campaign) -> None:
        self.campaign = campaign
        self.trials = 0
        self.wrong: list[tuple[int, str]] = []

    def run(self, seed: int, seconds: float) -> None:
        """Run trials for some seconds, in another process after each crash."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            with tempfile.TemporaryDirectory() as folder:
                progress = Path(folder, "trial")
                progress.write_bytes(np.array([self.trials], np.int64).tobytes())
                done, found, log = self.in_process(seed, left, progress)
                reached = int(np.frombuffer(progress.read_bytes(), np.int64)[0])
            self.wrong += found
            self.trials = reached
            if done:
                return
            self.wrong.append((reached, f"the process ended within this trial\n{log}"))
            self.trials += 1

    def in_process(self, seed: int, seconds: float, progress: Path) -> tuple[bool, list[tuple[int, str]], str]:
        """Whether a process came to its end, what it found wrong, and the end of what it wrote to its log."""
        words = ["--child", self.campaign.module, "--seed", seed, "--trial", self.trials]
        words += ["--seconds", seconds, "--progress", progress]
        made = subprocess.run(
            [sys.executable, str(FOLDER / "__main__.py"), *map(str, words)],
            env=os.environ | self.campaign.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        rows = made.stdout.splitlines()
        wrong = [row.split(" ", 2) for row in rows if row.startswith("WRONG ")]
        log = "\n".join(made.stderr.splitlines()[-25:])
        return rows[-1:] == ["END"], [(int(k), text) for _, k, text in wrong], f"exit status {made.returncode}\n{log}"

    def report(self, seed: int) -> str:
        lines = [f"{self.campaign.name}: {len(self.wrong)} wrong of {self.trials}"]
        prefix = "".join(f"{key}={value} " for key, value in self.campaign.environment.items())
        for k, text in self.wrong[:SHOWN]:
            lines.append(f"  {prefix}python -m tests.campaigns --only {self.campaign.module} --seed {seed} --trial {k}")
            shown = eval(text) if text[:1] in "'\"" else text
            lines += [f"    {line}" for line in shown.splitlines()]
        return "\n".join(lines)


def run_all(chosen: list[Campaign], seed: int, minutes: float, jobs: int) -> int:
    """Run campaigns for some minutes in all, `jobs` at a time; the number of wrong trials."""
    waiting = deque(Tally(campaign) for campaign in chosen)
    seconds = 60 * minutes * min(jobs, len(chosen)) / len(chosen)
    printing = threading.Lock()
    finished: list[Tally] = []

    def work() -> None:
        while waiting:
            try:
                tally = waiting.popleft()
            except IndexError:
                return
            tally.run(seed, seconds)
            with printing:
                finished.append(tally)
                print(tally.report(seed), flush=True)

    workers = [threading.Thread(target=work) for _ in range(jobs)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return sum(len(tally.wrong) for tally in finished)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.campaigns", description=__doc__.splitlines()[0])
    known = campaigns()
    parser.add_argument("--minutes", type=float, default=30, help="for all campaigns together")
    parser.add_argument("--seed", type=int, default=int(datetime.date.today().strftime("%Y%m%d")))
    parser.add_argument("--only", nargs="+", choices=[campaign.name for campaign in known], metavar="NAME")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at a time")
    parser.add_argument("--trial", type=int, help="repeat this trial of the campaign that --only names")
    for word, kind in {"--child": str, "--seconds": float, "--progress": Path}.items():
        parser.add_argument(word, type=kind, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        run_trials(given.child, given.seed, given.trial, given.seconds, given.progress)
        return 0
    chosen = [campaign for campaign in known if not given.only or campaign.name in given.only]
    if given.trial is not None:
        wrong = outcome(importlib.import_module(f"campaigns.{chosen[0].module}").trial, given.seed, given.trial)
        print(wrong or "right")
        return int(wrong is not None)
    print(f"seed {given.seed}: {', '.join(campaign.name for campaign in chosen)}", flush=True)
    return int(run_all(chosen, given.seed, given.minutes, given.jobs) > 0)


if __name__ == "__main__":
    # As for pytest, `tests` is on the path and the folder around it is not: the installed hoad is what is compared,
    # unless PYTHONPATH says otherwise.
    sys.path[0] = str(FOLDER.parent)
    sys.exit(main())
