"""`hoad bench`: the benchmarks of the clone that hoad is used from.

They are no part of an installation: they are measured against peers of hundreds of megabytes, and read by those who
work on hoad.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from typing import TextIO

from hoad._cli.target import UsageError


def find_tree() -> Path:
    """The root of the clone: the current directory or one above it, or where hoad is imported from.

    Raises
    ------
    UsageError
        If none of them holds the benchmarks.
    """
    here = Path.cwd()
    for root in (here, *here.parents, Path(__file__).resolve().parents[2]):
        if (root / "benchmarks" / "run.py").is_file() and (root / "hoad" / "__init__.py").is_file():
            return root
    raise UsageError(
        f"there are no benchmarks in {here}, nor where hoad is installed: they come with its source alone. In a clone, "
        'run: pip install ".[bench]" && hoad bench'
    )


def run(options: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    """Run `python -m benchmarks` with the arguments that were given, and return its status."""
    root = find_tree()
    # Output and keys are the terminal's; the benchmarks start processes of their own.
    command = [sys.executable, "-m", "benchmarks", *options.arguments]
    return subprocess.run(command, cwd=root, check=False).returncode
