"""The tables of README.md and docs/performance.md: six derivatives beside the peers, by replay and by first call.

`python -m benchmarks --table` measures, keeps the figures in `summary.json`, writes the tables between the markers of
both files and draws the pictures. `--tiny` only shows that it runs, and writes nothing unless `--json FILE` says where.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

import beside
import harness
import numpy as np
from beside import Child
from harness import ROOT, Settings, Timing, seconds_text
from sides import SIDES

FIGURES = Path(__file__).with_suffix(".json")
DOCUMENTS = (ROOT / "README.md", ROOT / "docs" / "performance.md")
PICTURES = ROOT / "docs" / "_static"
BEGIN, END = "<!-- measured: {} -->", "<!-- end of what is measured -->"
LIMIT = 60  # seconds of the processor for the first call, after which a side is given up
LONG = 1.0  # seconds of a call that is made once
SHORT = 0.05  # seconds
STARTS = 3  # processes of which the shortest first call counts

# Many short samples, of which the least counts: one that fits between two interruptions. The rounds of a question take
# about so many seconds.
SAMPLE, ROUNDS = 1e-3, 10.0

# A column is a peer; where it has several ways, the one with the shortest replay is shown.
CASADI = ("CasADi SX", "CasADi MX")
COLUMNS: dict[str, tuple[str, ...]] = {
    "hoad": ("hoad",),
    "JAX": ("JAX",),
    "autograd": ("autograd",),
    "CasADi": CASADI,
    "torch": ("torch",),
}
# What a peer replaces where a question is not one that it answers itself.
PACKAGES = {"hoad": "hoad", "JAX": "jax", "autograd": "autograd", "CasADi": "casadi", "torch": "torch"}
FEATURES = (
    (
        "differentiates",
        "NumPy and SciPy code as it is",
        "`jax.numpy` code",
        "`autograd.numpy` code",
        "its own symbols",
        "tensors",
    ),
    ("`y[i] = v`, `if x > 0`", "yes", "`.at`, `lax.cond` in `jit`", "`if` only", "`if_else`", "yes"),
    ("derivatives of order n", "any n, Taylor series", "nested; `jet` (experimental)", "nested", "nested", "nested"),
    ("sparse Hessian, pattern found", "yes", "no", "no", "yes", "no"),
    ("GPU", "no", "yes", "no", "no", "yes"),
)


@dataclass(frozen=True)
class Question:
    """A derivative, and the peers that cannot be asked for it, with the reason."""

    text: str
    problem: str
    n: int
    tiny: int
    without: Mapping[str, str]


DENSE = "makes a full matrix"
QUESTIONS = (
    Question("gradient of Rosenbrock, n = 1000", "vectorised", 1000, 4, {}),
    Question("Hessian of logsumexp, n = 100", "logsumexp Hessian", 100, 4, {"CasADi SX": ""}),
    Question(
        "sparse Hessian of Rosenbrock, n = 10 000",
        "sparse Hessian",
        10_000,
        4,
        {"JAX": DENSE, "autograd": DENSE, "torch": DENSE},
    ),
    Question("all derivatives to order 10 of a function of x", "derivatives 10", 1, 1, {}),
    Question("gradients in 6 variables at 100 000 points", "Black-Scholes gradients", 100_000, 20, {}),
    Question(
        "gradient of a neural network, 6 337 weights, 256 samples",
        "perceptron gradient",
        256,
        7,
        dict.fromkeys(CASADI, "does not broadcast"),
    ),
)
# Time over size, for the second picture.
SIZES = (10, 100, 1000, 10_000, 100_000, 1_000_000)
OVER_SIZES = ("hoad", "JAX", "CasADi MX", "NumPy by hand")

Cell = dict[str, Any]


# ------------------------------------------------------------------------------------------------------- measuring


def measure(question: Question, settings: Settings) -> dict[str, Cell]:
    """The shortest replay and first call of each column, or why there is none."""
    n = settings.size(question.n, question.tiny)
    cells: dict[str, Cell] = {}
    asked = [
        side
        for column, sides in COLUMNS.items()
        for side in sides
        if side not in question.without and column not in settings.without and SIDES[side].peer not in settings.without
    ]
    with ExitStack() as stack:
        children, found = [], {}
        for side in asked:
            try:
                children.append(stack.enter_context(Child(side, question.problem, n, most=LIMIT)))
            except TimeoutError:
                found[side] = {"missing": f"more than {LIMIT} s"}
        beside.check(children, question.problem)
        once = {child: child.sample(1) for child in children}
        repeated = [child for child in children if once[child] < LONG]
        timings = dict(zip(repeated, interleave(repeated, settings), strict=True))
    for child in children:
        first = first_call(child, question, n, settings)
        repeated_s = min(timings[child].samples) if child in timings else min(once[child], first)
        found[child.side] = {"side": child.side, "replay_s": repeated_s, "first_s": first}
    for column, sides in COLUMNS.items():
        answers = [found[side] for side in sides if side in found]
        reasons = [question.without[side] for side in sides if question.without.get(side)]
        if answers:
            cells[column] = min(answers, key=lambda cell: cell.get("replay_s", np.inf))
        else:
            cells[column] = {"missing": reasons[0] if reasons else "not measured"}
    return cells


def interleave(children: Sequence[Child], settings: Settings) -> list[Timing]:
    """Time them in turns, in as many rounds as there is time for."""
    if not settings.tiny:
        rounds = int(ROUNDS / sum(max(child.sample(1), 1e-2) for child in children))
        settings = replace(settings, rounds=max(10, rounds), min_sample=SAMPLE)
    return beside.interleave(children, settings)


def first_call(child: Child, question: Question, n: int, settings: Settings) -> float:
    """The least of several processes; of one, where it takes long."""
    first = started(child)
    for _ in range(STARTS - 1 if first < LIMIT / 10 and not settings.tiny else 0):
        with Child(child.side, question.problem, n) as again:
            first = min(first, started(again))
    return first


def started(child: Child) -> float:
    """Seconds of the processor, which depend less on what else runs, where they are many: its clock is coarse."""
    cpu = child.started["first_cpu_s"]
    return cpu if cpu > SHORT else child.started["first_s"]


def over_sizes(settings: Settings) -> dict[str, dict[str, float]]:
    """Seconds of a gradient of Rosenbrock by side and size."""
    found: dict[str, dict[str, float]] = {}
    names = [side for side in OVER_SIZES if not {side, SIDES[side].peer} & {*settings.without}]
    for n in (4,) if settings.tiny else SIZES:
        with ExitStack() as stack:
            children = [stack.enter_context(Child(side, "vectorised", n)) for side in names]
            beside.check(children, "vectorised")
            for timing in interleave(children, settings):
                found.setdefault(timing.name, {})[str(n)] = min(timing.samples)
    return found


def figures(settings: Settings) -> dict[str, Any]:
    """All that is shown, for `summary.json`."""
    found = harness.machine()
    return {
        "date": date.today().isoformat(),
        "cpu": found["cpu"],
        "cores": found["cores"],
        "python": found["python"],
        "versions": {name: found["versions"][package] for name, package in PACKAGES.items()} | {"hoad": own_version()},
        "numpy": np.__version__,
        "rows": {question.text: measure(question, settings) for question in QUESTIONS},
        "sizes": over_sizes(settings),
    }


def own_version() -> str:
    import hoad

    return str(hoad.__version__)


# --------------------------------------------------------------------------------------------------------- writing


def table(lines: Sequence[Sequence[str]]) -> str:
    """Markdown; the first line is the head."""
    rule = "|---" * len(lines[0]) + "|"
    head, *rest = ("| " + " | ".join(line) + " |" for line in lines)
    return "\n".join([head, rule, *rest]) + "\n"


def cells_of(rows: Mapping[str, Mapping[str, Cell]], keys: Sequence[str]) -> list[list[str]]:
    """The lines of the table; the shortest of the first key is bold."""
    lines = []
    for text, cells in rows.items():
        best = min((cell[keys[0]] for cell in cells.values() if keys[0] in cell), default=None)
        line = [text]
        for column in COLUMNS:
            cell = cells[column]
            if "missing" in cell:
                line.append(cell["missing"])
                continue
            times = [short(cell[key]) for key in keys]
            times[0] = f"**{times[0]}**" if cell[keys[0]] == best else times[0]
            line.append(times[0] + "".join(f" ({time})" for time in times[1:]))
        lines.append(line)
    return lines


def short(seconds: float) -> str:
    """Two digits, and a unit that stays on their line."""
    return seconds_text(float(f"{seconds:.2g}")).replace(" ", "\N{NO-BREAK SPACE}")


def source(found: Mapping[str, Any]) -> str:
    """When, where and of what."""
    versions = ", ".join(f"{name} {version}" for name, version in found["versions"].items())
    return (
        f"Measured on {found['date']} by `python -m benchmarks --table`: one core of a shared server ({found['cpu']}), "
        f"float64, Python {found['python']}, NumPy {found['numpy']}, {versions}. The least of many samples, in turns.\n"
    )


def sections(found: Mapping[str, Any]) -> dict[str, str]:
    """What stands between the markers, by the name of the marker."""
    head = ["", *COLUMNS]
    rows = found["rows"]
    both = table([head, *FEATURES, *cells_of(rows, ("replay_s", "first_s"))])
    return {
        "peers": f"{both}\nTimes are of a repeated call, in brackets that of the first. {source(found)}",
        "replay": table([head, *cells_of(rows, ("replay_s",))]),
        "first call": table([head, *cells_of(rows, ("first_s",))]) + "\n" + source(found),
    }


def filled(text: str, found: Mapping[str, Any]) -> str:
    """A file with its marked sections written anew."""
    for name, section in sections(found).items():
        begin = BEGIN.format(name)
        if begin in text:
            before, after = text.split(begin, 1)
            text = f"{before}{begin}\n\n{section}\n{END}{after.split(END, 1)[1]}"
    return text


def draw(found: Mapping[str, Any], folder: Path) -> None:
    """Write both pictures."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    pyplot.rcParams.update({"svg.hashsalt": "hoad", "svg.fonttype": "none", "font.size": 9})
    colors = dict(zip(COLUMNS, ("black", "#1b6ca8", "#e08e0b", "#4d8b31", "#7b4ea3"), strict=True))
    texts = list(found["rows"])
    figure, axes = pyplot.subplots(1, 2, figsize=(9.5, 3.2), sharey=True, layout="constrained")
    for panel, key, title in zip(axes, ("replay_s", "first_s"), ("a repeated call", "the first call"), strict=True):
        for column, color in colors.items():
            at = [(cells[column][key], -i) for i, cells in enumerate(found["rows"].values()) if key in cells[column]]
            marker = {"marker": "D", "s": 45, "zorder": 3} if column == "hoad" else {"s": 30}
            panel.scatter([x for x, _ in at], [y for _, y in at], color=color, label=column, **marker)
        panel.set(xscale="log", title=title, xlabel="seconds")
        panel.set_yticks([-i for i in range(len(texts))], texts)
        panel.grid(alpha=0.3)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(COLUMNS))
    save(figure, folder / "performance-peers.svg")
    figure, panel = pyplot.subplots(figsize=(6.5, 3.2), layout="constrained")
    for side, times in found["sizes"].items():
        color = colors.get(side.split()[0], "#8c564b")
        panel.plot([*map(int, times)], [*times.values()], "o-", color=color, label=side, markersize=4)
    panel.set(xscale="log", yscale="log", xlabel="n", ylabel="seconds a call", title="gradient of Rosenbrock")
    panel.grid(alpha=0.3)
    panel.legend(fontsize=8)
    save(figure, folder / "performance-sizes.svg")


def save(figure: Any, path: Path) -> None:
    figure.savefig(path, metadata={"Date": None})


def main(options: argparse.Namespace) -> int:
    settings = harness.chosen(options)
    missing = sorted({name for sides in COLUMNS.values() for side in sides if not SIDES[side].installed()
                      for name in [SIDES[side].peer or side] if name not in settings.without})  # fmt: skip
    if missing:
        raise SystemExit(f"{', '.join(missing)}: not installed: {harness.INSTALL}")
    found = figures(settings)
    print(sections(found)["peers"])
    if options.json is not None:
        options.json.write_text(json.dumps(found, indent=1) + "\n")
    elif not settings.tiny:
        FIGURES.write_text(json.dumps(found, indent=1) + "\n")
        write(found)
    return 0


def write(found: Mapping[str, Any]) -> None:
    """Put the figures into both files, and draw."""
    for path in DOCUMENTS:
        path.write_text(filled(path.read_text(encoding="utf-8"), found), encoding="utf-8")
    draw(found, PICTURES)


if __name__ == "__main__":  # without measuring
    write(json.loads(FIGURES.read_text()))
