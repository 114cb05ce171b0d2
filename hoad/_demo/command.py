"""`hoad demo`, once its arguments are read."""

from __future__ import annotations

import difflib
import json
from collections.abc import Sequence
from typing import TextIO

from hoad._demo import datasets
from hoad._demo.machine import as_json
from hoad._demo.panel import panel
from hoad._demo.report import closing, listing, opening
from hoad._demo.screen import Progress, Screen, Text
from hoad._demo.study import study

__all__ = ["UnknownSetError", "resolve", "run", "show_list"]


class UnknownSetError(ValueError):
    """A data set was asked for that there is not."""


def resolve(wanted: Sequence[str]) -> list[str]:
    """Return the names of the sets that are meant, without regard to case; all of them for an empty list.

    Raises
    ------
    UnknownSetError
        Naming the closest there is, if one is close.

    Examples
    --------
    >>> from hoad._demo.command import resolve
    >>> resolve(["thurber", "MISRA1A"])
    ['Thurber', 'Misra1a']
    """
    known = {name.lower(): name for name in datasets.names()}
    chosen: list[str] = []
    for name in wanted or known:
        if name.lower() not in known:
            close = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.5)
            advice = f" Did you mean {known[close[0]]}?" if close else ""
            raise UnknownSetError(f"no data set is called {name!r}.{advice}")
        chosen.append(known[name.lower()])
    return list(dict.fromkeys(chosen))


def run(names: Sequence[str], starts: Sequence[int], for_machines: bool, out: TextIO, err: TextIO) -> int:
    """Fit the sets and report.

    Parameters
    ----------
    names : sequence of str
    starts : sequence of int
        Which of NIST's starting values to begin from.
    for_machines : bool
        JSON instead of tables.
    out, err : file object
        For the report, and for the progress.

    Returns
    -------
    int
        The exit status: 1 if a fit has failed.
    """
    screen = Screen(out)
    progress = Progress(err, total=len(names) * (len(starts) + 1))
    studies = []
    try:
        if not for_machines:
            screen.print(opening(screen))
        for name in names:
            studies.append(study(name, starts, progress.step))
            progress.clear()
            if not for_machines:
                screen.print([Text(), *panel(screen, studies[-1])])
    finally:
        progress.clear()
    if for_machines:
        out.write(json.dumps(as_json(studies), indent=2, allow_nan=False) + "\n")
    else:
        screen.print(closing(screen, studies))
    return 0 if all(study.succeeded for study in studies) else 1


def show_list(out: TextIO) -> int:
    """List the sets there are."""
    screen = Screen(out)
    screen.print(listing(screen))
    return 0
