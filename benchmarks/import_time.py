"""How long does `import hoad` take, beside `import numpy`?

The clock runs inside fresh processes, around the import alone. Bar: at most 1.5 times.
The perturbed sibling takes a first gradient too, so that nothing is gained by importing later.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import harness
from harness import Case, Row, Settings, Timing

PEERS = ("autograd", "jax")
BAR = 1.5

NUMPY = "import numpy as np"
HOAD = "import hoad"
FIRST = {
    "hoad": "import numpy as np, hoad; hoad.grad(lambda x: np.sin(x) * x)(0.7)",
    "autograd": "import autograd, autograd.numpy as np; autograd.grad(lambda x: np.sin(x) * x)(0.7)",
    "jax": "import jax, jax.numpy as np; jax.grad(lambda x: np.sin(x) * x)(0.7)",
}


def seconds(statement: str, bytecode: str) -> float:
    """One import in a fresh process, with a folder for bytecode: as after an installation, which compiles it."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = bytecode
    code = f"from time import perf_counter as t; s = t(); {statement}; print(t() - s)"
    # Not from the root of the repository: `-c` looks there first, and the installed package is the question.
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=Path(__file__).parent, env=environment
    )
    if done.returncode != 0:
        raise RuntimeError(f"{statement}: {done.stderr[-200:]}")
    return float(done.stdout.split()[-1])


def interleave(statements: Sequence[tuple[str, str]], settings: Settings) -> list[Timing]:
    """In turns; the first round warms the disk cache and compiles to bytecode."""
    with tempfile.TemporaryDirectory() as bytecode:
        rounds = [[seconds(code, bytecode) for _, code in statements] for _ in range(2 * settings.rounds + 1)][1:]
    columns = zip(*rounds, strict=True)
    return [Timing(name, tuple(column)) for (name, _), column in zip(statements, columns, strict=True)]


def imports(settings: Settings) -> list[Row]:
    hoad, numpy = interleave([("hoad", HOAD), ("import numpy", NUMPY)], settings)
    return [harness.cost("import hoad", hoad, numpy, at_most=BAR)]


def first_gradients(settings: Settings) -> list[Row]:
    statements = [("hoad", FIRST["hoad"]), ("import numpy", NUMPY)]
    statements += [(name, FIRST[name]) for name in PEERS]
    hoad, numpy, *others = interleave(statements, settings)
    question = "import and first gradient (perturbed)"
    rows = [harness.cost(question, hoad, numpy, at_most=BAR)]
    return rows + [harness.faster(question, hoad, other) for other in others]


def cases(settings: Settings) -> Iterator[Case]:
    yield "import hoad", lambda: imports(settings)
    yield "import and first gradient", lambda: first_gradients(settings)


if __name__ == "__main__":
    sys.exit(harness.main(__doc__, cases, PEERS))
