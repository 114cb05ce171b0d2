"""What the demo shows: one screen, or a panel for each set."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Group
from rich.panel import Panel
from rich.syntax import Syntax
from rich.table import Table

import hoad
from hoad._demo import example, nist
from hoad._demo.study import Study
from hoad.errors import count

AIM = 8.0  # agreeing digits, on every parameter and standard error
KINDS = {1: "gradient", 2: "Hessian", 3: "third derivatives"}

HEADING = f"[bold cyan]hoad {hoad.__version__}[/]  exact derivatives of NumPy programs"
OPENING = f"""{HEADING}

NIST certifies these nonlinear regressions to 11 digits, rounded: 10.3 to 11 mean that all are right. SciPy's trust \
region and then Newton's method fit each model with exact derivatives; the certified values are read afterwards. \
Derivatives of half the residual sum of squares (RSS) stand beside central differences at the second start."""


def code() -> str:
    """Return the lines of the example that a user would write."""
    return inspect.getsource(example).split("# What is shown begins here.\n")[1].replace("\n\n\n", "\n\n").rstrip()


def screen(studies: Sequence[Study], fitted: Any, page: str) -> list[Any]:
    """Return what fits on one screen: the example, what it wins, and all fits in a sentence."""
    (study,) = (study for study in studies if study.comparisons)
    costs, digits = study.comparisons, min(nist.agreeing_digits(fitted, study.certified.parameters))
    table = _table(
        ("entries", [f"{KINDS[cost.order]} ({cost.entries})" for cost in costs]),
        ("  hoad", [f"[green]{_seconds(cost.seconds)}[/]" for cost in costs]),
        ("  its first call", [_seconds(cost.first_seconds) for cost in costs]),
        ("  differences", [_seconds(cost.difference_seconds) for cost in costs]),
        ("  their digits", [f"{cost.digits:.1f} of 16" for cost in costs]),
    )
    return [
        f"{HEADING}\n",
        Syntax(code(), "python", background_color="default", word_wrap=True),
        f"\nParameters: {_digits(digits)} of the 11 digits that NIST certifies. Derivatives of cost,\n"
        "by hoad, jitted, and by central differences with the textbook's step:\n",
        table,
        f"\nAll data sets: {findings(studies)}",
        f"[bold]{page}[/] shows the fits, the digits of differences, the tapes of cost.",
        "\nNext: every fit beside NIST's, a check of derivatives, the tapes in a browser:\n",
    ]


def commands() -> list[str]:
    """Return what to try next."""
    function = f"hoad._demo.example:cost --at {','.join(f'{value:g}' for value in example.start)}"
    return ["demo --all", f"check {function}", f"explore {function}"]


def panel(study: Study) -> Panel:
    """Return the panel of a set: the model, the fits, and the table beside NIST's certified values."""
    data, last = study.dataset, study.agreements[-1]
    facts = Table.grid(padding=(0, 2))
    facts.add_row("[dim]model", f"y = {data.formula}")
    for agreement in study.agreements:
        steps = f"{count(agreement.fit.steps, 'step')} of the trust region, {agreement.fit.newton_steps} of Newton's"
        facts.add_row(f"[dim]start {agreement.start}", f"[red]{agreement.trouble}" if agreement.trouble else steps)
    facts.add_row("[dim]RSS", f"{last.fit.residual_sum_of_squares:.10E}, {_digits(last.residual_digits)} digits")
    for cost in study.comparisons:
        text = f"{_seconds(cost.seconds)}; differences take {_seconds(cost.difference_seconds)}"
        facts.add_row(f"[dim]{KINDS[cost.order]}", f"{text} and keep {cost.digits:.1f} digits")
    columns = [
        ("", [f"[bold]b{k + 1}" for k in range(len(last.parameter_digits))]),
        ("parameter", [f"{value:.10E}" for value in last.fit.parameters]),
        ("certified", [f"[dim]{value:.10E}" for value in study.certified.parameters]),
        ("digits", map(_digits, last.parameter_digits)),
        ("std error", [f"{value:.10E}" for value in last.fit.standard_errors]),
        ("digits", map(_digits, last.standard_error_digits)),
    ]
    title = f"[bold cyan]{data.name}[/] · {data.title}"
    about = f"{len(data.y)} observations, {data.difficulty} difficulty"
    return Panel(Group(facts, "", _table(*columns)), title=title, title_align="left", subtitle=about)


def findings(studies: Sequence[Study]) -> str:
    """Return what the fits come to."""
    fits = [(study.dataset.name, agreement) for study in studies for agreement in study.agreements]
    good = [agreement for _, agreement in fits if not agreement.trouble]
    parameters = min((min(agreement.parameter_digits) for agreement in good), default=0.0)
    errors = min((min(agreement.standard_error_digits) for agreement in good), default=0.0)
    text = f"{len(good)} of {len(fits)} fits reach NIST's minimum, every parameter to at least {_digits(parameters)} "
    text += f"digits and every standard error to {_digits(errors)}."
    for name, agreement in fits:
        if agreement.trouble:
            text += f"\n[red]{name} from start {agreement.start} does not: {agreement.trouble}.[/]"
    return text


def _table(*columns: tuple[str, Iterable[str]]) -> Table:
    """Return a table of columns, each with its head."""
    table = Table(*(head for head, _ in columns), box=None, padding=(0, 0, 0, 1), pad_edge=False, header_style="dim")
    for row in zip(*(cells for _, cells in columns), strict=True):
        table.add_row(*row)
    for column in table.columns[1:]:
        column.justify = "right"
    return table


def _digits(digits: float) -> str:
    """Return agreeing digits, rounded down."""
    colour = "green" if digits >= AIM else "yellow" if digits >= AIM / 2 else "red"
    return f"[{colour}]{math.floor(10 * digits) / 10:.1f}[/]"


def _seconds(seconds: float) -> str:
    return f"{1e6 * seconds:.3g} µs" if seconds < 1e-3 else f"{1e3 * seconds:.3g} ms"
