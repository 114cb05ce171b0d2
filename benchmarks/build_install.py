"""How large is the wheel, and how long does an installation from the sdist take?

Bars: 5 MB, and 90 s for `pip install` of the sdist into a fresh environment, downloads included. Slow, so
`run.py` leaves it out unless it is asked with --build.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import harness
from harness import Case, Row, Settings

PEERS = ("build",)
SIZE_BAR_MB = 5.0
INSTALL_BAR_S = 90.0


def run(*command: str | Path) -> None:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, cwd=harness.ROOT)
    if done.returncode != 0:
        raise RuntimeError(f"{Path(command[0]).name} failed: {done.stderr[-200:]}")


def only(folder: Path, pattern: str) -> Path:
    (found,) = folder.glob(pattern)
    return found


def fresh_python(folder: Path) -> Path:
    venv.create(folder, with_pip=True)
    return folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def build_and_install(settings: Settings) -> list[Row]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run(sys.executable, "-m", "build", "--sdist", "--outdir", folder, harness.ROOT)
        sdist = only(folder, "*.tar.gz")
        python = fresh_python(folder / "env")
        start = perf_counter()
        # Without the cache: a wheel that pip kept from an earlier run is not an installation from the sdist.
        run(python, "-m", "pip", "install", "--no-cache-dir", sdist)
        took = perf_counter() - start
        run(python, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", folder, sdist)
        size = only(folder, "*.whl").stat().st_size / 1e6
    return [
        harness.limit("size of the wheel", size, "MB", SIZE_BAR_MB),
        harness.limit("pip install from the sdist", took, "s", INSTALL_BAR_S),
    ]


def cases(settings: Settings) -> Iterator[Case]:
    yield "build and install", lambda: build_and_install(settings)


if __name__ == "__main__":
    sys.exit(harness.main(__doc__, cases, PEERS))
