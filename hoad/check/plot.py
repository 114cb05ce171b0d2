"""Reports as pictures, drawn by matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from hoad.check.agreement_report import AgreementReport
    from hoad.check.derivative_report import DerivativeReport
    from hoad.check.rule_report import RuleReport
    from hoad.check.taylor_report import TaylorReport

__all__ = ["plot_agreement", "plot_derivative", "plot_rule", "plot_taylor"]

COLOURS = ("#7a7a7a", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
VERDICTS = {"right": "#009e73", "undecided": "#e69f00", "wrong": "#d55e00"}
MARKERS = "os^Dvp*"


def plot_taylor(report: TaylorReport, ax: Any = None) -> Any:
    """Remainders over steps, and beside them the errors of the difference quotients; returns the figure.

    Dashed lines show the rates that are expected, and rounding is what is filled.
    """
    if ax is None:
        figure, axes = _figure(2)
    else:
        axes = list(ax) if isinstance(ax, (tuple, list, np.ndarray)) else [ax]
        figure = axes[0].figure
    _taylor_panel(axes[0], report, quotients=False)
    if len(axes) > 1:
        _taylor_panel(axes[1], report, quotients=True)
    return figure


def _taylor_panel(ax: Any, report: TaylorReport, quotients: bool) -> None:
    """One of the pictures: remainders of order n and on, or what they are over hⁿ."""
    h = report.steps
    orders = range(1, report.order + 1) if report.order else range(1)
    shown: list[float] = []
    for n in orders:
        scale = h**n if quotients else 1.0
        size, floor = report.remainders[n] / scale, report.plateau[n] / scale
        seen = np.isfinite(size) & (size > floor)
        hidden = np.isfinite(size) & ~seen & (size > 0)
        power = 1 if quotients else n + 1
        colour, marker = COLOURS[n % len(COLOURS)], MARKERS[n % len(MARKERS)]
        name = "(f(x + hv) − f(x)) / h" if quotients and n == 1 else f"order {n}"
        label = f"{name}; dashed: $h^{{{power}}}$"
        if n == orders[0]:
            ax.fill_between(h, np.full_like(h, 1e-300), floor, color="0.9", lw=0, label="rounding")
            shown += [float(np.min(floor)) / 10, float(np.min(floor)) * 10]
        ax.loglog(h[seen], size[seen], marker=marker, ms=4, lw=1, color=colour, label=label)
        ax.loglog(h[hidden], size[hidden], marker=marker, ms=3, lw=0, color=colour, alpha=0.25)
        if seen.any():
            anchor = np.flatnonzero(seen)[-1 if report.findings[n].verdict in ("right", "exact") else 0]
            ax.loglog(h, size[anchor] * (h / h[anchor]) ** power, ls="--", lw=0.8, color=colour, alpha=0.6)
            shown += [float(np.min(size[seen])) / 10, float(np.max(size[seen])) * 10]
    if any(limit > 0 for limit in shown):
        ax.set_ylim(min(limit for limit in shown if limit > 0), max(*shown, 0.0) or 1.0)
    ax.set_xlabel("step h")
    if quotients:
        ax.set_ylabel("error of the difference quotient")
        ax.set_title("Differences")
    else:
        ax.set_ylabel("|f(x + hv) − Tₙ(h)|")
        ax.set_title(f"Taylor remainders of {report.name}: {'passed' if report.passed else 'FAILED'}")
    ax.legend(fontsize=8, frameon=False)


def plot_derivative(report: DerivativeReport, ax: Any = None) -> Any:
    """The error of every component, and that of the differences it is held against; returns the figure."""
    figure, (ax,) = (ax.figure, (ax,)) if ax is not None else _figure(1)
    entries = report.entries
    places = np.arange(len(entries))
    # Rounding keeps zeros on a logarithmic axis.
    tiny = np.array([max(np.finfo(float).eps * max(abs(e.difference), abs(e.claimed)), 1e-300) for e in entries])
    best = np.array([e.exact if np.isfinite(e.exact) else e.difference for e in entries])
    error = abs(np.array([e.claimed for e in entries]) - best)
    doubt = np.array([e.error for e in entries])
    ax.semilogy(places, np.fmax(doubt, tiny), "_", ms=10, color="0.5", label="error of the difference")
    for verdict, colour in VERDICTS.items():
        those = np.array([e.verdict == verdict for e in entries], dtype=bool)
        if those.any():
            ax.semilogy(places[those], np.fmax(error, tiny)[those], "o", ms=5, color=colour, label=verdict)
    if len(entries) <= 24:
        ax.set_xticks(places, [e.place or "x" for e in entries], rotation=90 if len(entries) > 8 else 0)
    ax.set_xlabel("component")
    ax.set_ylabel("|error|")
    ax.set_title(f"{report.kind} of {report.name}: {'passed' if report.passed else 'FAILED'}")
    ax.legend(fontsize=8, frameon=False)
    return figure


def plot_rule(report: RuleReport, ax: Any = None) -> Any:
    """The digits to which every check of a rule agrees; returns the figure."""
    figure, (ax,) = (ax.figure, (ax,)) if ax is not None else _figure(1)
    shown = [finding for finding in report.findings if np.isfinite(finding.digits)]
    places = np.arange(len(shown))
    ax.barh(places, [finding.digits for finding in shown], color=[VERDICTS[finding.verdict] for finding in shown])
    ax.set_yticks(places, [f"{finding.check} at {finding.at}" for finding in shown], fontsize=7)
    ax.invert_yaxis()
    ax.set_xlabel("digits that agree")
    ax.set_title(f"rule of {report.name}: {'passed' if report.passed else 'FAILED'}")
    return figure


def plot_agreement(report: AgreementReport, ax: Any = None) -> Any:
    """How far apart each two modes are at every order, and what of it may be rounding; returns the figure."""
    figure, (ax,) = (ax.figure, (ax,)) if ax is not None else _figure(1)
    tiny = np.finfo(np.float64).eps / 4  # where two agree to the last bit
    for finding in report.findings:
        pairs = np.triu_indices(len(finding.ways), 1)
        apart, rounding = finding.disagreements[pairs], finding.roundings[pairs]
        seen = np.isfinite(apart)
        places = np.full(seen.sum(), finding.order)
        ax.semilogy(places, np.fmax(apart[seen], tiny), "o", ms=4, color=VERDICTS[finding.verdict], alpha=0.4)
        ax.semilogy([finding.order], [max(np.max(rounding), tiny)], "_", ms=14, color="0.4")
    ax.set_xticks(range(report.order + 1))
    ax.set_xlabel("order (bars: rounding)")
    ax.set_ylabel("disagreement")
    ax.set_title(f"Modes of {report.name}: {'passed' if report.passed else 'FAILED'}")
    return figure


def _figure(panels: int) -> tuple[Any, list[Any]]:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            "plot() draws with matplotlib, which is not installed. Install hoad's extra for pictures: "
            'pip install "hoad[plot]".'
        ) from error
    # Made through pyplot only where a user has it open, so that figures show there and need no closing elsewhere.
    import sys

    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        figure, axes = pyplot.subplots(1, panels, figsize=(5 * panels + 0.5, 4), layout="constrained", squeeze=False)
        return figure, list(axes[0])
    figure = Figure(figsize=(5 * panels + 0.5, 4), layout="constrained")
    return figure, list(figure.subplots(1, panels, squeeze=False)[0])
