"""The report: a panel for each set, a table of all, what they come to, and the same for machines."""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

import hoad
from hoad._demo import nist
from hoad._demo.study import DOUBLE_DIGITS, Study
from hoad.errors import count

AIM = 8.0  # agreeing digits, on every parameter and standard error
WIDEST = 100  # columns: on a narrower screen the tables have fewer
SCHEMA = 2  # of the JSON: counts up when a name changes or goes

OPENING = f"""\
[bold cyan]hoad {hoad.__version__}[/]  exact derivatives of NumPy programs

Nonlinear regression on the data sets that NIST certifies. Each model is a plain NumPy function. SciPy's trust-region \
method and then Newton's method fit it with the exact Jacobian, gradient and Hessian that hoad makes of it. The \
certified values are read after the fit.

Digits: the log relative error, about how many significant digits agree. NIST certifies 11, rounded: 10.3 to 11 mean \
that all are right. Standard errors are NIST's, from s²(JᵀJ)⁻¹; those under Hessian are from s²H⁻¹, with the exact \
Hessian H of half the residual sum of squares (RSS).
"""


def panel(study: Study, width: int) -> Any:
    """Return the panel of a set: the model, the fits, and the table beside NIST's certified values."""
    from rich.console import Group
    from rich.panel import Panel
    from rich.table import Table

    data, certified, cost, last = study.dataset, study.certified, study.hessian, study.agreements[-1]
    facts = Table.grid(padding=(0, 2))
    facts.add_row("[dim]model", f"y = {data.formula}")
    for agreement in study.agreements:
        steps = f"{count(agreement.fit.steps, 'step')} of the trust region, {agreement.fit.newton_steps} of Newton's"
        facts.add_row(f"[dim]start {agreement.start}", f"[red]{agreement.trouble}" if agreement.trouble else steps)
    facts.add_row("[dim]RSS", f"{last.fit.residual_sum_of_squares:.10E}, {_digits(last.residual_digits)} digits")
    beside = f"differences take {cost.ratio:.1f} times as long and lose {cost.digits_lost:.1f} of its digits"
    facts.add_row("[dim]Hessian", f"{1e3 * cost.seconds:.3g} ms; {beside}")
    columns = [
        ("", [f"[bold]b{k + 1}" for k in range(len(last.parameter_digits))]),
        ("parameter", [f"{value:.10E}" for value in last.fit.parameters]),
        ("digits", map(_digits, last.parameter_digits)),
        ("std error", [f"{value:.10E}" for value in last.fit.standard_errors]),
        ("digits", map(_digits, last.standard_error_digits)),
    ]
    if width >= WIDEST:
        columns.insert(2, ("certified", [f"[dim]{value:.10E}" for value in certified.parameters]))
        columns.insert(5, ("certified", [f"[dim]{value:.10E}" for value in certified.standard_errors]))
        columns.append(("Hessian", [f"{value:.3E}" for value in last.fit.hessian_standard_errors]))
    title = f"[bold cyan]{data.name}[/] · {data.title}"
    about = f"{len(data.y)} observations, {data.difficulty} difficulty"
    return Panel(Group(facts, "", _table(*columns)), title=title, title_align="left", subtitle=about)


def closing(studies: Sequence[Study], width: int) -> Any:
    """Return the table of all sets, a line each."""
    costs = [study.hessian for study in studies]
    columns = [
        ("", [f"[bold]{study.dataset.name}" for study in studies]),
        (
            "steps from\neach start",
            [" ".join(str(a.fit.steps + a.fit.newton_steps) for a in study.agreements) for study in studies],
        ),
        ("digits of\nparameters", [_digits(min(min(a.parameter_digits) for a in s.agreements)) for s in studies]),
        ("digits of\nstd errors", [_digits(min(min(a.standard_error_digits) for a in s.agreements)) for s in studies]),
        ("Hessian\nms", [f"{1e3 * cost.seconds:.2f}" for cost in costs]),
        ("differences\nms", [f"{1e3 * cost.difference_seconds:.2f}" for cost in costs]),
        ("\nratio", [f"{cost.ratio:.1f}" for cost in costs]),
        ("digits lost\nof Hessian", [f"{cost.digits_lost:.1f}" for cost in costs]),
        ("digits lost\nof std errors", [f"{cost.standard_error_digits_lost:.1f}" for cost in costs]),
    ]
    return _table(*columns[: None if width >= WIDEST else 4])


def findings(studies: Sequence[Study]) -> str:
    """Return what the fits and the Hessians come to."""
    fits = [(study.dataset.name, agreement) for study in studies for agreement in study.agreements]
    good = [agreement for _, agreement in fits if not agreement.trouble]
    parameters = min((min(agreement.parameter_digits) for agreement in good), default=0.0)
    errors = min((min(agreement.standard_error_digits) for agreement in good), default=0.0)
    text = f"\n{len(good)} of {len(fits)} fits reach NIST's minimum. There, every parameter agrees to at least "
    text += f"{_digits(parameters)} digits and every standard error to {_digits(errors)}.\n"
    for name, agreement in fits:
        if agreement.trouble:
            text += f"[red]{name} from start {agreement.start} does not: {agreement.trouble}.[/]\n"
    costs = [study.hessian for study in studies]
    lost, least = ([c.digits_lost for c in costs], [c.least_digits_lost for c in costs])
    text += f"Hessians by differences take {np.exp(np.mean([np.log(c.ratio) for c in costs])):.1f} times as long as by "
    text += f"hoad (geometric mean) and lose {min(lost):.1f} to {max(lost):.1f} of {DOUBLE_DIGITS:.1f} digits; with "
    return text + f"the best step, chosen in hindsight, {min(least):.1f} to {max(least):.1f}."


def listing() -> str:
    """Return a line for each set there is."""
    sets = map(nist.load, nist.names())
    sizes = ((data, f"{len(data.y):>4} observations {len(data.starts[1])} parameters") for data in sets)
    return "\n".join(f"[bold]{data.name:<9}[/]{size}  {data.difficulty:<8}{data.title}" for data, size in sizes)


def _table(*columns: tuple[str, Iterable[str]]) -> Any:
    """Return a table of columns, each with its head."""
    from rich.table import Table

    table = Table(*(head for head, _ in columns), box=None, padding=(0, 0, 0, 1), pad_edge=False, header_style="dim")
    for row in zip(*(cells for _, cells in columns), strict=True):
        table.add_row(*row)
    for column in table.columns:
        column.justify = "right"
    return table


def _digits(digits: float) -> str:
    """Return agreeing digits, rounded down."""
    colour = "green" if digits >= AIM else "yellow" if digits >= AIM / 2 else "red"
    return f"[{colour}]{math.floor(10 * digits) / 10:.1f}[/]"


def as_json(studies: Sequence[Study]) -> str:
    """Return everything at full precision, with null for nan."""
    versions = {"hoad": hoad.__version__, "numpy": np.__version__, "python": platform.python_version()}
    report = _plain({"schema": SCHEMA, "versions": versions, "sets": [asdict(study) for study in studies]})
    return json.dumps(report, indent=2, allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items() if not callable(entry)}
    if isinstance(value, (list, np.ndarray)):
        return [_plain(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
