"""Check an sdist and the wheel built from it: `PYTHONPATH=tests python -m quality.check_dist SDIST WHEEL`.

An sdist that carries .c in place of .pyx gives a wheel without compiled modules, and nothing complains.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

from quality.project import ROOT, carried_files, extension_names, source_files

LARGEST_WHEEL = 5_000_000  # bytes


def sdist_files(sdist: Path) -> set[str]:
    with tarfile.open(sdist) as archive:
        return {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}


def wheel_files(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def tracked_files() -> set[str]:
    """The files that a clone has (none where this is not one)."""
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    return set(done.stdout.split("\n")) - {""}


def complaints(sdist: Path, wheel: Path) -> list[str]:
    found = []
    of_sdist, of_wheel = sdist_files(sdist), wheel_files(wheel)
    found += [f"{name}: not in the sdist" for name in sorted(tracked_files() - of_sdist)]
    found += [f"{path}: not in the sdist" for path in source_files(".pyx") if path.as_posix() not in of_sdist]
    for name in extension_names():
        stem = f"hoad/_core/{name.replace('.', '/')}"
        if f"{stem}.c" in of_sdist:
            found.append(f"{stem}.c: generated, and in the sdist")
        if not any(f"{stem}{suffix}" in of_wheel for suffix in EXTENSION_SUFFIXES):
            found.append(f"hoad._core.{name}: not compiled in the wheel")
    for path in carried_files():
        if path.as_posix() not in of_wheel:
            found.append(f"{path}: not in the wheel")
    found += [f"{name}: in the wheel" for name in sorted(of_wheel) if name.endswith((".pyx", ".c", ".pyc"))]
    if wheel.stat().st_size > LARGEST_WHEEL:
        found.append(f"{wheel.name}: {wheel.stat().st_size} bytes, more than {LARGEST_WHEEL}")
    return found


if __name__ == "__main__":
    sdist, wheel = map(Path, sys.argv[1:])
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.2f} MB, {len(extension_names())} compiled modules")
    sys.exit("\n".join(complaints(sdist, wheel)) or None)
