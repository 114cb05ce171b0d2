"""`hoad demo`, once its arguments are read."""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from hoad._cli.target import UsageError

WIDEST = 100  # columns


@contextmanager
def page_or_refusal() -> Iterator[None]:
    """Say that a page cannot be written."""
    try:
        yield
    except OSError as error:
        raise UsageError(f"no page was written: {error}") from error


def run(options: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    """Fit all sets, report, and write the page; return the exit status: 1 if a fit has failed."""
    missing = [name for name in ("rich", "matplotlib", "scipy") if importlib.util.find_spec(name) is None]
    if missing:
        raise UsageError(f"needs {' and '.join(missing)}: pip install 'hoad[demo]'.")
    from rich.console import Console
    from rich.progress import Progress

    from hoad._demo import example, nist, page, report, study

    with page_or_refusal(), open(options.html, "a"):  # before the fits, which take seconds
        pass
    if hasattr(out, "reconfigure"):
        out.reconfigure(errors="replace")  # in a terminal that has no ² and ᵀ
    width = min(shutil.get_terminal_size((WIDEST, 24)).columns, WIDEST)
    console = Console(file=out, width=width, highlight=False)
    studies: list[study.Study] = []
    live = console if console.is_terminal else Console(file=err)
    with Progress(console=live, transient=True, disable=not live.is_terminal) as bar:
        for name in bar.track(nist.names(), description="fits"):
            compared = options.all or name == example.data.name
            studies.append(study.study(name, tuple(report.KINDS) if compared else ()))
    with page_or_refusal():
        page.save(studies, options.html)
    if options.all:
        console.print(report.OPENING, *map(report.panel, studies), f"All sets: {report.findings(studies)}", sep="\n\n")
    else:
        fitted: Any = example.fit(example.start)  # type: ignore[no-untyped-call]
        console.print(*report.screen(studies, fitted, options.html), sep="\n")
        script = Path(sys.executable).with_name("hoad")  # which runs in the source folder too, where `-m hoad` does not
        module = "" if script.exists() else " -m hoad"
        command = "hoad" if shutil.which("hoad") else os.path.relpath(sys.executable if module else script) + module
        for rest in report.commands():
            console.print(f"  [bold]{command} {rest}", soft_wrap=True)
    return int(any(agreement.trouble for done in studies for agreement in done.agreements))
