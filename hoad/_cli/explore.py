"""`hoad explore`, once its arguments are read."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import TextIO

from hoad._cli.tape import name_of, program_of, write
from hoad._cli.target import UsageError


def run(options: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    """Open the page of the tapes of a function in the browser; returns the exit status 0.

    Raises
    ------
    UsageError
        If something cannot be found, read, recorded, differentiated or written.
    """
    if not options.open and options.html is None:
        raise UsageError("--no-open only writes the page. Give the file: --html FILE.")
    program, name = program_of(options), name_of(options)
    file = options.html or Path(tempfile.mkdtemp(prefix="hoad-"), "tape.html")
    write(file, lambda: program.explore(file, open=options.open, title=name), err)
    return 0
