"""`hoad demo`, once its arguments are read."""

from __future__ import annotations

import argparse
import importlib.util
import shutil
from collections.abc import Sequence
from typing import TextIO

from hoad._cli.target import UsageError
from hoad._demo import figures, nist, report
from hoad._demo.study import study
from hoad.errors import ArgumentError


def run(options: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    """Fit the sets that were asked for, and report; returns the exit status."""
    sets = [name for entry in options.sets for name in entry.split(",") if name]
    starts = (1, 2) if options.start == "both" else (int(options.start),)
    return demonstrate(sets, starts, options.list, options.json, options.plot, out, err)


def demonstrate(
    sets: Sequence[str], starts: Sequence[int], lists: bool, for_machines: bool, plot: str, out: TextIO, err: TextIO
) -> int:
    """Fit the sets (all, if none is named) and report; return the exit status: 1 if a fit has failed."""
    missing = [name for name in ("rich", "matplotlib", "scipy") if importlib.util.find_spec(name) is None]
    if missing:
        raise UsageError(f"needs {' and '.join(missing)}: pip install 'hoad[demo]'.")
    from rich.console import Console
    from rich.progress import Progress

    try:
        names = list(dict.fromkeys(map(nist.find, sets))) or nist.names()
    except ArgumentError as error:
        raise UsageError(str(error)) from error
    if hasattr(out, "reconfigure"):
        out.reconfigure(errors="replace")  # in a terminal that has no ² and ᵀ
    width = min(shutil.get_terminal_size((report.WIDEST, 24)).columns, report.WIDEST)
    console = Console(file=out, width=width, highlight=False)
    if lists:
        console.print(report.listing(), no_wrap=True, overflow="ellipsis")
        return 0

    console.quiet = for_machines
    console.print(report.OPENING)
    studies = []
    live = console if console.is_terminal and not for_machines else Console(file=err)
    with Progress(console=live, transient=True, disable=not live.is_terminal) as bar:
        for name in bar.track(names, description="fits"):
            studies.append(study(name, starts))
            console.print(report.panel(studies[-1], width), "")
    console.print(report.closing(studies, width), report.findings(studies))
    if for_machines:
        out.write(report.as_json(studies) + "\n")
    if plot:
        try:
            figures.save(studies, plot)
        except (OSError, ValueError) as error:
            raise UsageError(f"no picture was drawn: {error}") from error
    return int(any(agreement.trouble for done in studies for agreement in done.agreements))
