"""What every page begins with, in a hidden cell.

Pictures are readable on light and dark pages: no background, lines and letters in a middle tone. Places in messages
read ``page.py:3``, not the name of a file that only this build has.
"""

import matplotlib.pyplot as plt
from IPython import get_ipython
from matplotlib_inline.backend_inline import set_matplotlib_formats

TONE = "#808894"
COLOURS = ["#2f8fd8", "#e0742c", "#2ba36b", "#b569d0"]


def begin():
    """Set the style of all pictures of a page, and the name of its code."""
    get_ipython().compile.get_code_name = lambda raw, transformed, number: "page.py"
    set_matplotlib_formats("svg")
    plt.rcParams.update(
        {
            "axes.edgecolor": TONE,
            "axes.facecolor": "none",
            "axes.grid": True,
            "axes.labelcolor": TONE,
            "axes.prop_cycle": plt.cycler(color=COLOURS),
            "axes.spines.right": False,
            "axes.spines.top": False,
            "axes.titlecolor": TONE,
            "figure.constrained_layout.use": True,
            "figure.facecolor": "none",
            "figure.figsize": (5.6, 3.4),
            "font.size": 11,
            "grid.alpha": 0.25,
            "grid.color": TONE,
            "legend.frameon": False,
            "legend.labelcolor": TONE,
            "lines.linewidth": 2,
            "savefig.facecolor": "none",
            "savefig.transparent": True,
            "svg.hashsalt": "hoad",
            "text.color": TONE,
            "xtick.color": TONE,
            "ytick.color": TONE,
        }
    )


def draw(tape, labels=None):
    """Draw the graph of a tape, inputs at the bottom: a node stands a level above the highest of its parents."""
    labels = labels or {}
    nodes = {node.number: node for node in tape.nodes}
    level = {}
    for number, node in nodes.items():
        level[number] = 1 + max((level[k] for k in node.parents if k in nodes), default=-1)
    place = {}
    for height in range(max(level.values()) + 1):
        row = [k for k in nodes if level[k] == height]
        wish = {k: _mean([place[j] for j in nodes[k].parents if j in place], n) for n, k in enumerate(row)}
        row.sort(key=wish.get)
        for n, k in enumerate(row):
            place[k] = max(wish[k], place[row[n - 1]] + 1) if n else wish[k]
    fig, ax = plt.subplots(figsize=(5.6, 0.85 * (max(level.values()) + 1.4)))
    for k, node in nodes.items():
        for j in {*node.parents} & {*nodes}:
            ax.annotate(
                "",
                xy=(place[k], level[k]),
                xytext=(place[j], level[j]),
                arrowprops={"arrowstyle": "-|>", "color": TONE, "shrinkA": 15, "shrinkB": 15},
            )
    for k in nodes:
        colour = COLOURS[0] if k in tape.inputs else COLOURS[1] if k in tape.outputs else TONE
        ax.text(
            place[k],
            level[k],
            labels.get(k, f"@{k}"),
            ha="center",
            va="center",
            color=colour,
            bbox={"boxstyle": "round,pad=0.35", "facecolor": "none", "edgecolor": colour},
        )
    ax.set_xlim(min(place.values()) - 0.8, max(place.values()) + 0.8)
    ax.set_ylim(-0.6, max(level.values()) + 0.6)
    ax.axis("off")
    return fig


def _mean(values, otherwise):
    return sum(values) / len(values) if values else float(otherwise)
