"""One side of a table, in a process of its own: `python child.py SIDE PROBLEM N`.

It stays on one core, or HOAD_BENCHMARK_CORES of them, so that whatever threads a side starts share it. It imports its
peer, makes the derivative and calls it once, and says on a line of JSON how long that took: `import_s` with imports,
`first_s` without, `first_cpu_s` of the processor, with processes that it started. A positive HOAD_BENCHMARK_LIMIT ends
it after so many seconds of the processor. Then it obeys lines: `check FILE` writes the derivative at the point that all
sides are checked at; `sample CALLS` makes so many calls and says the seconds of one.
"""

# ruff: noqa: E402  (the clock starts before the imports that it times)
from time import perf_counter, process_time

STARTED = perf_counter()

import gc
import importlib.util
import json
import os
import sys

import numpy as np
from problems import PROBLEMS
from problems.problem import Problem
from sides import SIDES
from sides.built import Built, in_a_row

SEED = 2024


def pin(cores: int) -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-cores:])


def limit(seconds: int) -> None:
    """End this process after so many seconds of the processor; 0 lets it go on. Not on Windows."""
    if importlib.util.find_spec("resource") is not None:
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (seconds or hard, hard))


def processor_seconds() -> float:
    """Those of this process, and of processes that it started and that have ended."""
    return process_time() + sum(os.times()[2:4])


def sample(built: Built, problem: Problem, n: int, rng: np.random.Generator, calls: int) -> float:
    """Seconds of a call, each at a point of its own, made outside the clock: as many in a row as fit into the cache."""
    gc.collect()
    total, left = 0.0, calls
    while left > 0:
        points = [problem.point(rng, n)]
        points += [problem.point(rng, n) for _ in range(min(left, in_a_row(points[0])) - 1)]
        total += built.seconds(points)
        left -= len(points)
    return total / calls


def main(side: str, name: str, size: str) -> None:
    n, problem = int(size), PROBLEMS[name]
    rng = np.random.default_rng([SEED, os.getpid()])
    build = SIDES[side].build()
    point = problem.point(np.random.default_rng(SEED), n)
    problem.form(side, n)  # makes the data of the problem, outside of the clock
    start, began = perf_counter(), processor_seconds()
    built = build(problem, n, **SIDES[side].options)
    value = built.at(point)
    end, ended = perf_counter() - built.aside, processor_seconds() - built.aside
    limit(0)
    gc.freeze()
    say({"first_s": end - start, "first_cpu_s": ended - began, "import_s": end - STARTED})
    for line in sys.stdin:
        command, *words = line.split()
        if command == "check":
            np.save(words[0], value)
            np.save(words[0] + ".expected", problem.by_hand(n)(*point) if problem.by_hand else value)
            say(True)
        else:
            say(sample(built, problem, n, rng, int(words[0])))


def say(answer: object) -> None:
    print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    pin(int(os.environ.get("HOAD_BENCHMARK_CORES", 1)))
    limit(int(os.environ.get("HOAD_BENCHMARK_LIMIT", 0)))
    main(*sys.argv[1:])
