"""What every page begins with, in a hidden cell.

Pictures are readable on light and dark pages: no background, lines and letters in a middle tone. Places in messages
read ``page.py:3``, not the name of a file that only this build has.
"""

import itertools

import matplotlib.pyplot as plt
import numpy as np
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
            "figure.figsize": (5.0, 3.2),
            "font.size": 12,
            "grid.alpha": 0.25,
            "grid.color": TONE,
            "legend.fontsize": 10.5,
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
    place = _places(nodes, level)
    fig, ax = plt.subplots(figsize=(5.0, 0.76 * (max(level.values()) + 1)))
    for k, node in nodes.items():
        for j in {*node.parents} & {*nodes}:
            ax.annotate(
                "",
                xy=(place[k], level[k] - 0.22),
                xytext=(place[j], level[j] + 0.22),
                arrowprops={"arrowstyle": "-|>", "color": TONE, "shrinkA": 0, "shrinkB": 0},
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
    ax.set_ylim(-0.4, max(level.values()) + 0.4)
    ax.axis("off")
    return fig


def _places(nodes, level):
    """Where the nodes of each level stand: of many arrangements, that with the shortest edges that meet no node."""
    rows = [[k for k in nodes if level[k] == height] for height in range(max(level.values()) + 1)]
    edges = [(j, k) for k, node in nodes.items() for j in {*node.parents} & {*nodes}]
    columns = max(map(len, rows))
    random = np.random.default_rng(0)

    def cost(place):
        total = 0.0
        for j, k in edges:
            total += abs(place[j] - place[k])
            for n in nodes:
                if level[j] < level[n] < level[k]:
                    share = (level[n] - level[j]) / (level[k] - level[j])
                    total += 10 * (abs(place[j] + share * (place[k] - place[j]) - place[n]) < 0.5)
        for (a, b), (c, d) in itertools.combinations(edges, 2):
            crossing = (place[a] - place[c]) * (place[b] - place[d]) < 0
            total += 3 * (crossing and level[a] == level[c] and level[b] == level[d])
        return total

    def arranged():
        place = {}
        for row in rows:
            spots = np.sort(random.choice(2 * columns - 1, 2 * len(row) - 1, replace=False))[::2] / 2
            if np.any(np.diff(spots) < 1):
                spots = np.arange(len(row)) + (columns - len(row)) / 2
            place.update(zip(random.permutation(row).tolist(), spots.tolist(), strict=True))
        return place

    return min((arranged() for _ in range(1500)), key=cost)
