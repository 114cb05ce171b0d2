"""The benchmarks run: every file, at sizes that say nothing about speed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
HELPERS = {"__main__", "adopted", "beside", "build_install", "child", "harness", "plot", "real_code", "run", "summary"}
NAMES = sorted(path.stem for path in BENCHMARKS.glob("*.py") if path.stem not in HELPERS)
TABLES = (
    "all_derivatives",
    "batched",
    "first_call",
    "hessians",
    "irregular",
    "models",
    "ode",
    "rosenbrock",
    "sparse",
    "tensors",
)
OTHERS = ("asdex", "autograd", "casadi", "heyoka", "jax", "pytensor", "sparsejac", "torch")


def in_benchmarks(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=BENCHMARKS)


@pytest.mark.slow
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


@pytest.mark.parametrize(
    "name", [name if name == "irregular" else pytest.param(name, marks=pytest.mark.slow) for name in TABLES]
)
def test_table_runs_without_peers(name: str, tmp_path: Path) -> None:
    """hoad beside what was written by hand, where no peer is installed; each problem has its sibling, and a plot."""
    pytest.importorskip("matplotlib")
    target, figures = tmp_path / "rows.json", tmp_path / "figures.png"
    command = [sys.executable, str(BENCHMARKS / f"{name}.py"), "--tiny", "--json", str(target), "--plot", str(figures)]
    done = subprocess.run(
        [*command, *(word for peer in OTHERS for word in ("--without", peer))], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert figures.read_bytes().startswith(b"\x89PNG")
    rows = [row for row in json.loads(target.read_text())["rows"] if "table" in row["data"]]
    tables = {row["data"]["table"] for row in rows}
    assert tables
    assert all(f"{table}, perturbed" in tables for table in tables if not table.endswith(", perturbed"))
    assert {row["data"].get("peer") for row in rows} <= {None, "NumPy by hand", "C by hand", "ADOL-C"}


def test_side_that_is_wrong_is_not_timed() -> None:
    """A child whose problem has another derivative by hand than its function has."""
    code = (
        "import beside\n"
        "with beside.Child('hoad', 'loop', 4) as right, beside.Child('hoad', 'loop, perturbed', 4) as wrong:\n"
        "    beside.check([right, right], 'loop')\n"
        "    beside.check([wrong, right], 'loop')\n"
    )
    done = in_benchmarks(code)
    assert done.returncode == 1
    assert "AssertionError: hoad is wrong" in done.stderr


def test_side_that_ends_says_why() -> None:
    done = in_benchmarks("import beside; beside.Child('NumPy by hand', 'irregular', 4)")
    assert done.returncode == 1
    assert "NumPy by hand ended: LookupError: nobody wrote this derivative by hand" in done.stderr


def test_a_samples_points_are_all_new() -> None:
    code = (
        "import child, numpy as np\n"
        "from problems import PROBLEMS\n"
        "class Seen:\n"
        "    points = []\n"
        "    def seconds(self, points):\n"
        "        self.points += [tuple(x) for x, in points]\n"
        "        return 2.0 * len(points)\n"
        "seen = Seen()\n"
        "assert child.sample(seen, PROBLEMS['loop'], 4, np.random.default_rng(0), 40) == 2.0\n"
        "assert len(seen.points) == len(set(seen.points)) == 40\n"
    )
    done = in_benchmarks(code)
    assert done.returncode == 0, done.stderr


def test_tables_of_the_documents_are_those_measured() -> None:
    code = (
        "import json, summary\n"
        "found = json.loads(summary.FIGURES.read_text())\n"
        "assert set(found['rows']) == {question.text for question in summary.QUESTIONS}\n"
        "for path in summary.DOCUMENTS:\n"
        "    text = path.read_text(encoding='utf-8')\n"
        "    assert summary.filled(text, found) == text, path\n"
        "    begins = [summary.BEGIN.format(name) for name in summary.sections(found)]\n"
        "    assert text.count(summary.END) == sum(begin in text for begin in begins) > 0, path\n"
    )
    done = in_benchmarks(code)
    assert done.returncode == 0, done.stderr


def test_side_that_takes_too_long_is_given_up(tmp_path: Path) -> None:
    pytest.importorskip("resource")
    endless = f"import os, sys\nsys.path[0] = {str(BENCHMARKS)!r}\nimport child\n"
    endless += "child.limit(int(os.environ['HOAD_BENCHMARK_LIMIT']))\nwhile True: pass\n"
    (tmp_path / "child.py").write_text(endless)
    code = f"import beside, pathlib; beside.HERE = pathlib.Path({str(tmp_path)!r})\n"
    code += "beside.Child('hoad', 'loop', 4, most=1)"
    assert "TimeoutError: hoad takes more than 1 s" in in_benchmarks(code).stderr


@pytest.mark.slow
def test_summary_is_measured_and_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    target = tmp_path / "figures.json"
    command = [sys.executable, str(BENCHMARKS / "run.py"), "--table", "--tiny", "--json", str(target)]
    done = subprocess.run(
        [*command, *(word for peer in OTHERS for word in ("--without", peer))], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(target.read_text())
    assert all(cells["hoad"]["replay_s"] > 0 and "missing" in cells["JAX"] for cells in found["rows"].values())
    code = f"import json, summary; from pathlib import Path; folder = Path({str(tmp_path)!r})\n"
    code += "summary.draw(json.loads((folder / 'figures.json').read_text()), folder)"
    assert in_benchmarks(code).returncode == 0
    assert "<svg" in (tmp_path / "performance-sizes.svg").read_text()


def test_missing_peer_fails_the_table() -> None:
    code = (
        "import harness\n"
        "rows = harness.measure(lambda settings: (), ('no_such_peer',), harness.TINY)\n"
        "raise SystemExit(harness.finish(rows, harness.TINY, None))\n"
    )
    done = in_benchmarks(code)
    assert done.returncode == 1
    assert "no_such_peer is not installed: pip install 'hoad[bench]'" in done.stdout
