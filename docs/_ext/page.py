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
            _arrow(ax, (place[j], level[j]), (place[k], level[k]))
    for k in nodes:
        colour = COLOURS[0] if k in tape.inputs else COLOURS[1] if k in tape.outputs else TONE
        _box(ax, (place[k], level[k]), labels.get(k, f"@{k}"), colour)
    ax.set_xlim(min(place.values()) - 0.8, max(place.values()) + 0.8)
    ax.set_ylim(-0.4, max(level.values()) + 0.4)
    ax.axis("off")
    return fig


def draw_trees(*trees):
    """Draw expression trees side by side, each with its root on top."""
    height = max(tree.depth for tree in trees)
    fig, ax = plt.subplots(figsize=(5.6, 0.72 * height))
    right = 0.0
    for tree in trees:
        right = _draw_below(ax, tree, right, height - 1, COLOURS[1])[1] + 0.5
    ax.set_xlim(-0.7, right - 0.8)
    ax.set_ylim(-0.4, height - 0.6)
    ax.axis("off")
    return fig


def _draw_below(ax, tree, left, top, colour=TONE):
    """Draw a tree from `left` on, its root at the height `top`: (where the root stands, where the next tree may)."""
    right, below = left, []
    for operand in tree.operands:
        place, right = _draw_below(ax, operand, right, top - 1)
        below.append(place)
    place = sum(below) / len(below) if below else left
    for start in below:
        _arrow(ax, (start, top - 1), (place, top))
    _box(ax, (place, top), tree.label, COLOURS[0] if tree.expression.name else colour)
    return place, right if below else left + 1


def _arrow(ax, start, end):
    style = {"arrowstyle": "-|>", "color": TONE, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", xy=(end[0], end[1] - 0.22), xytext=(start[0], start[1] + 0.22), arrowprops=style)


def _box(ax, place, text, colour):
    frame = {"boxstyle": "round,pad=0.35", "facecolor": "none", "edgecolor": colour}
    ax.text(*place, text, ha="center", va="center", color=colour, bbox=frame)


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
