"""The benchmarks run: every file, at sizes that say nothing about speed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
NAMES = sorted(
    path.stem for path in BENCHMARKS.glob("*.py") if path.stem not in {"__main__", "build_install", "harness", "run"}
)


@pytest.mark.parametrize("name", NAMES)
def test_benchmark_runs(name: str, tmp_path: Path) -> None:
    target = tmp_path / "rows.json"
    command = [sys.executable, str(BENCHMARKS / "run.py"), "--tiny", "--only", name, "--json", str(target)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert target.exists(), done.stderr
    rows = json.loads(target.read_text())["rows"]
    assert rows
    failures = [row for row in rows if row["ok"] is False]
    missing = [row["note"] for row in failures if "is not installed" in row["note"]]
    assert len(missing) == len(failures), failures
    assert done.returncode == int(bool(failures))
    if missing:
        pytest.skip("; ".join(missing))


def test_missing_peer_fails_the_table() -> None:
    code = (
        "import harness\n"
        "rows = harness.measure(lambda settings: (), ('no_such_peer',), harness.TINY)\n"
        "raise SystemExit(harness.finish(rows, harness.TINY, None))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=BENCHMARKS)
    assert done.returncode == 1
    assert "no_such_peer is not installed: pip install 'hoad[bench]'" in done.stdout
