"""All benchmarks, one table.

Each file runs in a process of its own: none sees the modules, the memory or the crash of another.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import harness
import summary
from harness import Row

HERE = Path(__file__).resolve().parent
QUESTIONS = (
    "rosenbrock",
    "irregular",
    "ode",
    "hessians",
    "sparse",
    "sparse_solves",
    "tensors",
    "all_derivatives",
    "models",
    "batched",
    "first_call",
    "trace_chain",
    "grad_chain",
    "sweep",
    "memory",
    "hessian_loop",
    "high_order",
    "taylor_ode",
    "small_arrays",
    "large_arrays",
    "vector_kernels",
    "loops",
    "lanes",
    "threads",
    "low_level",
    "jit_call",
    "assignment",
    "composites",
    "import_time",
)
SLOW = ("build_install",)


def run_one(name: str, flags: Sequence[str]) -> list[Row]:
    """The rows of one file; a crash is a failed row, with what the process said last."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "rows.json"
        command = [sys.executable, str(HERE / f"{name}.py"), "--json", str(target), *flags]
        done = subprocess.run(command, capture_output=True, text=True)
        if not target.exists():
            last = " ".join(done.stderr.split()[-30:]) or f"exit status {done.returncode}"
            return [harness.failed(name, last)]
        return [Row(**row) for row in json.loads(target.read_text())["rows"]]


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    harness.add_options(parser)
    parser.add_argument("--only", action="append", choices=QUESTIONS + SLOW, help="only this one; repeatable")
    parser.add_argument("--table", action="store_true", help="measure and write the tables of README and documentation")
    parser.add_argument("--build", action="store_true", help="build the wheel and install from the sdist too")
    return parser.parse_args()


def main() -> int:
    options = parse()
    if options.table:
        return summary.main(options)
    names = options.only or QUESTIONS + (SLOW if options.build else ())
    flags = [flag for flag, given in (("--quick", options.quick), ("--tiny", options.tiny)) if given]
    flags += [word for name in options.without for word in ("--without", name)]
    rows: list[Row] = []
    for name in names:
        print(f"{name} ...", file=sys.stderr, flush=True)
        rows += run_one(name, flags)
        if options.json is not None:  # what an interrupted run has found is not lost
            harness.write_json(options.json, rows, harness.chosen(options))
    status = harness.finish(rows, harness.chosen(options), options.json, options.plot)
    if not options.only and not options.build:
        print("Not measured here: build_install (the wheel, the sdist); add --build.")
    return status


if __name__ == "__main__":
    sys.exit(main())
