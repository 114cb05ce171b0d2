"""How much memory does a node take, and how much does a long loop take at its peak?

Measured from outside, as the resident memory of fresh processes.
Bars: 32 bytes a scalar node all told, for a recorded tape and with its adjoint tape; 150 bytes an operation
at the peak of `grad` of a Python loop of 1e6 operations, on a stack of 256 KiB, so that no recursion hides; 4 arrays
beyond input and output at the peak of replaying the vectorised gradient of Rosenbrock, with all that the program keeps.
"""

from __future__ import annotations

import ctypes
import gc
import json
import resource
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import harness
import numpy as np
from harness import Case, Row, Settings
from problems import PROBLEMS
from sides import of_hoad
from trace_chain import chain, perturbed, with_size

import hoad

NODE_BAR = 32.0
PEAK_BAR = 150.0
REPLAY_BAR = 4.0
SMALL_STACK = 256 * 1024


def sine_chain(s: Any, n: int) -> Any:
    """Transcendentals, which have a table of their own for common subexpressions."""
    for _ in range(n // 3):
        s = np.sin(s) * 0.9 + 0.4
    return s


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "s*b + c": chain,
    "s/b + c/s (perturbed)": perturbed,
    "sin(s)*b + c (perturbed)": sine_chain,
}


# ------------------------------------------------------------------------------- in the fresh process


def status(key: str) -> int:
    """A line of /proc/self/status, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1]) * 1024
    raise LookupError(f"/proc/self/status has no {key}")


def peak_rss() -> int:
    """The peak of this process. On Linux ru_maxrss would do, but it starts from the parent's across exec."""
    try:
        return status("VmHWM")
    except OSError:
        scale = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale


def held() -> int:
    """Resident memory, without what the allocator keeps of blocks that were freed."""
    gc.collect()
    if sys.platform == "linux":
        ctypes.CDLL(None).malloc_trim(0)
    return status("VmRSS")


def warm_up(f: Callable[..., Any]) -> None:
    """Import, register and make the templates, so that they are not counted as nodes."""
    small = with_size(f, 60)
    hoad.gradient(hoad.record(small, 1.1))
    hoad.grad(small)(1.1)
    gc.collect()


def child_nodes(f: Callable[..., Any], n: int) -> dict[str, float]:
    """Bytes held for each node, while the programs are alive."""
    warm_up(f)
    before = held()
    program = hoad.record(with_size(f, n), 1.1)
    recorded = held()
    swept = hoad.gradient(program)
    both = held()
    nodes = int(swept[0].size) + int(swept[-1].size)
    said = swept[-1].nbytes
    return {
        "recorded": (recorded - before) / int(program[0].size),
        "both": (both - before) / nodes,
        "nodes": nodes,
        "said": said / nodes,
    }


def child_peak(f: Callable[..., Any], n: int) -> dict[str, float]:
    """Bytes above the start at the peak of grad, for each operation."""
    warm_up(f)
    before = status("VmRSS") if sys.platform == "linux" else peak_rss()
    found: list[float] = []
    threading.stack_size(SMALL_STACK)
    thread = threading.Thread(target=lambda: found.append(float(hoad.grad(with_size(f, n))(1.1))))
    thread.start()
    thread.join()
    if not found:
        raise RuntimeError("the thread with the small stack did not finish")
    return {"peak": (peak_rss() - before) / n, "gradient": found[0]}


def child_replay(name: str, n: int) -> dict[str, float]:
    """Arrays of n numbers above the start at the peak of a replay, what the recording left included."""
    problem, rng = PROBLEMS[name], np.random.default_rng(0)
    of_hoad.build(problem, 60).at(problem.point(rng, 60))
    recorded, fresh = problem.point(rng, n), problem.point(rng, n)
    before = held()
    built = of_hoad.build(problem, n)
    built.prepare(recorded)()
    kept = held()
    forget_peak()
    gradient = built.prepare(fresh)()
    peak = peak_rss()
    assert problem.by_hand is not None
    harness.require_equal(gradient, problem.by_hand(n)(*fresh))
    return {"peak": (peak - before) / gradient.nbytes - 1, "kept": (kept - before) / gradient.nbytes}


def forget_peak() -> None:
    """Count the peak from here on, where the system can."""
    if sys.platform == "linux":
        Path("/proc/self/clear_refs").write_text("5")


# --------------------------------------------------------------------------------------- in the table


def ask(what: str, name: str, n: int) -> dict[str, float]:
    answer: dict[str, float] = harness.child_json([str(Path(__file__)), "--child", what, name, str(n)])
    return answer


def node_rows(name: str, settings: Settings) -> list[Row]:
    answer = ask("nodes", name, settings.size(1_000_000, 3000))
    said = f"; the tapes say {answer['said']:.1f} bytes" if answer["said"] > 0 else ""
    note = f"{answer['nodes']:.0f} nodes in both tapes{said}"
    return [
        harness.limit(f"memory of a recorded node, {name}", answer["recorded"], "bytes", NODE_BAR),
        harness.limit(f"memory of a node, both tapes, {name}", answer["both"], "bytes", NODE_BAR, note),
    ]


def peak_rows(name: str, settings: Settings) -> list[Row]:
    n = settings.size(1_000_000, 3000)
    answer = ask("peak", name, n)
    question = f"peak of grad, {n} operations, per operation, {name}"
    return [harness.limit(question, answer["peak"], "bytes", PEAK_BAR)]


def replay_rows(name: str, settings: Settings) -> list[Row]:
    n = settings.size(1_000_000, 3000)
    answer = ask("replay", name, n)
    question = f"peak of replaying the gradient of Rosenbrock, {name}, n = {n}"
    note = f"{answer['kept']:.3g} arrays are kept between replays"
    return [harness.limit(question, answer["peak"], "arrays", REPLAY_BAR, note)]


def cases(settings: Settings) -> Iterator[Case]:
    for name in ("vectorised", "vectorised, perturbed"):
        yield f"peak of replaying, {name}", partial(replay_rows, name, settings)
    for name in FUNCTIONS:
        yield f"memory of a node, {name}", partial(node_rows, name, settings)
        yield f"peak of grad, {name}", partial(peak_rows, name, settings)


def child(what: str, name: str, n: str) -> None:
    if what == "replay":
        answer = child_replay(name, int(n))
    else:
        body = {"nodes": child_nodes, "peak": child_peak}[what]
        answer = body(FUNCTIONS[name], int(n))
    print(json.dumps(answer))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:])
    else:
        sys.exit(harness.main(__doc__, cases))
