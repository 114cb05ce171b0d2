"""What hoad covers of NumPy and SciPy: the tables that tests are made of, as tables of the reference."""

import re
import sys
from pathlib import Path

import numpy as np
import scipy

ROOT = Path(__file__).parents[2]
GENERATED = ROOT / "docs" / "reference" / "generated"  # whose files reference/coverage.md and coverage-scipy.md include
METHODS_OF_UFUNCS = ("accumulate", "at", "outer", "reduce", "reduceat")


def area(name):
    """The heading under which a name stands."""
    within = name.removeprefix("numpy.")
    if within.startswith("ndarray."):
        return "Arrays: operators, attributes and methods"
    first, _, rest = within.partition(".")
    if rest in METHODS_OF_UFUNCS:
        return "Methods of ufuncs"
    if rest:
        return {"lib": "numpy.lib"}.get(first, f"numpy.{first}")
    return "Ufuncs" if isinstance(getattr(np, within, None), np.ufunc) else "Functions"


AREAS = ["Functions", "Ufuncs", "Methods of ufuncs", "Arrays: operators, attributes and methods"]
AREAS += ["numpy.linalg", "numpy.fft", "numpy.emath", "numpy.lib"]


def table(head, lines):
    return "\n".join(["| " + " | ".join(line) + " |" for line in (head, ["---"] * len(head), *lines)])


def as_code(argument):
    """Names of arguments as code, and words as they are."""
    parts = [f"`{part}`" if re.fullmatch(r"[A-Za-z_][\w.]*(=\S*)?", part) else part for part in argument.split(", ")]
    return ", ".join(parts)


def lines_of(name, rows, kinds):
    """A line for each kind of a name: by which arguments it is of that kind, and what is said of it."""
    for kind in kinds:
        here = [row for row in rows if row.kind is kind]
        if here:
            first = "array" if "ndarray" in name else "first"
            arguments = list(dict.fromkeys(as_code(row.argument) or first for row in here))
            notes = list(dict.fromkeys(row.note for row in here if row.note))
            yield [name, kind.value, "; ".join(arguments), " ".join(notes)]


def of_methods(names, covered, kinds):
    """Methods of ufuncs: a line for all methods of a ufunc that are of a kind."""
    grouped = {}
    for name in names:
        ufunc, _, method = name.rpartition(".")
        for kind in kinds:
            here = [row for row in covered[name] if row.kind is kind]
            if here:
                methods, notes = grouped.setdefault((ufunc, kind.value), ([], []))
                methods.append(f"`{method}`")
                notes += [row.note for row in here if row.note and row.note not in notes]
    return [
        [f"`{ufunc}`", kind, ", ".join(methods), " ".join(notes)] for (ufunc, kind), (methods, notes) in grouped.items()
    ]


def page():
    """The counts, and a table for each area."""
    sys.path.insert(0, str(ROOT / "tests"))
    try:
        from covered.names import AREAS as LISTED
        from covered.names import COVERED, FIRST
        from covered.rows import Kind
    finally:
        sys.path.remove(str(ROOT / "tests"))
    names = sorted(set(FIRST.values()))
    called = {name: ", ".join(f"`{other}`" for other, first in FIRST.items() if first == name) for name in names}
    counts, parts = [], []
    for title in AREAS:
        here = [name for name in names if area(name) == title]
        found = [name for name in here if name in COVERED]
        best = [next(kind for kind in Kind if any(row.kind is kind for row in COVERED[name])) for name in found]
        left = len(here) - len(found)
        counts.append([title, len(here), *(best.count(kind) + (kind is Kind.NOT_YET) * left for kind in Kind)])
        if title == "Methods of ufuncs":
            head, lines = ["ufunc", "kind", "methods", "note"], of_methods(found, COVERED, Kind)
        else:
            head = ["name", "kind", "by which arguments", "note"]
            lines = [line for name in found for line in lines_of(called[name], COVERED[name], Kind)]
        if lines:
            parts.append(f"## {title}\n\n{table(head, lines)}")
    totals = ["all", *(sum(line[k] for line in counts) for k in range(1, len(counts[0])))]
    heads = ["", "names", *(kind.value for kind in Kind)]
    if not totals[-1]:
        heads, counts, totals = heads[:-1], [line[:-1] for line in counts], totals[:-1]
    summary = table(heads, [[str(cell) for cell in line] for line in (*counts, totals)])
    standard = LISTED["array API"]
    last = (
        f"The names are those of NumPy {np.__version__}; two names of one function count once. Of the {len(standard)} "
        f"functions of the array API standard that it has, {len(standard & COVERED.keys())} are in the tables."
    )
    if "not yet" in heads:
        last += " What is not yet covered raises `NoRuleError`."
    return "\n\n".join([summary, last, *parts]) + "\n"


def page_of_scipy():
    """The counts for scipy.linalg, and a table of its names."""
    sys.path.insert(0, str(ROOT / "tests"))
    try:
        from _scipy.linalg_rows import CONSTANTS, ROWS
        from covered.rows import Kind
    finally:
        sys.path.remove(str(ROOT / "tests"))
    covered = {name: [row for row in ROWS if row.name == name] for name in sorted({row.name for row in ROWS})}
    best = [next(kind for kind in Kind if any(row.kind is kind for row in rows)) for rows in covered.values()]
    counts = [len(covered) + len(CONSTANTS), *(best.count(kind) for kind in Kind)]
    counts[1 + list(Kind).index(Kind.STRUCTURAL)] += len(CONSTANTS)
    summary = table(["", "names", *(kind.value for kind in Kind)], [["scipy.linalg", *map(str, counts)]])
    constants = ", ".join(f"`{name}`" for name in CONSTANTS)
    text = f"These take sizes alone, or no numbers, and are SciPy's own: {constants}."
    lines = [line for name, rows in covered.items() for line in lines_of(f"`{name}`", rows, Kind)]
    return "\n\n".join([summary, text, table(["name", "kind", "by which arguments", "note"], lines)]) + "\n"


# How many public names of SciPy 1.17.1 the modules of jax.scipy (JAX 0.10.2) and autograd.scipy (autograd 1.9.1) have.
PEERS = {
    "special": (52, 30),
    "stats": (30, 8),
    "optimize": (1, 0),
    "integrate": (1, 1),
    "interpolate": (1, 0),
    "signal": (10, 1),
    "sparse": (3, 0),
    "spatial": (0, 0),
    "distance": (0, 0),
    "fft": (4, 0),
}
TITLES = {"sparse": "scipy.sparse, sparse.linalg", "distance": "scipy.spatial.distance"}


def best_kind(rows, kinds):
    """The first kind that a name is of."""
    return next(kind for kind in kinds if any(row.kind is kind for row in rows))


def of_ufuncs(kinds, rows, ufuncs):
    """How many of the ufuncs are differentiable by their last argument, and by all that are no whole numbers."""
    of_each = {name: [row.kind for row in rows if row.name == f"scipy.special.{name}"] for name in ufuncs}
    last = sum(found[-1:] == [kinds.DIFFERENTIABLE] for found in of_each.values())
    every = sum(set(found) == {kinds.DIFFERENTIABLE} for found in of_each.values())
    none = sum(set(found) == {kinds.NOT_YET} for found in of_each.values())
    zero = sum(set(found) == {kinds.CONSTANT} for found in of_each.values())
    return (
        f"Of {len(ufuncs)} ufuncs {last} are differentiable by their last argument, {every} of these by every one that "
        f"is no whole number; {zero} are constant almost everywhere, and {none} have no rule. The kinds are read from "
        "the rules."
    )


def of_distributions(distributions, kinds):
    """How many derivatives of methods of distributions there are, and how many of them are right."""
    found = [kind for d in distributions for method in d.methods() for kind in d.kinds(method).values()]
    return (
        f"{len(distributions)} distributions of one variable: of {len(found)} derivatives of their methods, by the "
        f"variable, the shapes, location and scale, {found.count(kinds.DIFFERENTIABLE)} are those of mathematics, "
        f"{found.count(kinds.CONSTANT)} are 0 almost everywhere, and {found.count(kinds.NOT_YET)} raise."
    )


def page_of_parts():
    """For each of SciPy's other parts: the counts, a table of its names, and what has no row."""
    sys.path.insert(0, str(ROOT / "tests"))
    try:
        from covered.rows import Kind
        from covered.scipy_names import COVERED, FIRST, LEFT, NAMES
        from covered.table_scipy_special import UFUNCS
        from covered.table_scipy_stats import DISTRIBUTIONS
    finally:
        sys.path.remove(str(ROOT / "tests"))
    counts, parts = [], []
    for part, public in NAMES.items():
        title = TITLES.get(part, f"scipy.{part}")
        names = sorted({FIRST[name] for name in public})
        found = [name for name in names if name in COVERED]
        best = [best_kind(COVERED[name], Kind) for name in found]
        numbers = [*(best.count(kind) for kind in Kind), len(names) - len(found)]
        counts.append([title, len(names), *numbers, *PEERS[part]])
        text = [f"### {title}"]
        if part == "special":
            text.append(of_ufuncs(Kind, [row for rows in COVERED.values() for row in rows], UFUNCS))
        if part == "stats":
            text.append(of_distributions(DISTRIBUTIONS, Kind))
        called = {name: ", ".join(f"`{other}`" for other in sorted(public) if FIRST[other] == name) for name in names}
        lines = [line for name in found for line in lines_of(called[name], COVERED[name], Kind)]
        text.append(table(["name", "kind", "by which arguments", "note"], lines))
        left = {reason: [name for name in given if name not in COVERED] for reason, given in LEFT[part].items()}
        text += [f"{reason}: {', '.join(f'`{name}`' for name in given)}." for reason, given in left.items() if given]
        parts.append("\n\n".join(text))
    totals = ["all", *(sum(line[k] for line in counts) for k in range(1, len(counts[0])))]
    heads = ["", "names", *(kind.value for kind in Kind), "no row", "jax.scipy", "autograd.scipy"]
    summary = table(heads, [[str(cell) for cell in line] for line in (*counts, totals)])
    last = (
        f"The names are those of SciPy {scipy.__version__}, without modules, warnings and errors; a name stands under "
        "the first kind that it is of. Names without a row stand below the table of their part, with the reason. The "
        "last two columns say how many of the names JAX 0.10.2 and autograd 1.9.1 have in modules of the same name."
    )
    return "\n\n".join([summary, last, *parts]) + "\n"


def write_pages(app, config):
    GENERATED.mkdir(exist_ok=True)
    pages = {
        "coverage.txt": page(),
        "coverage-scipy.txt": page_of_scipy(),
        "coverage-scipy-parts.txt": page_of_parts(),
    }
    for name, text in pages.items():
        place = GENERATED / name
        if not place.exists() or place.read_text() != text:
            place.write_text(text)


def setup(app):
    app.connect("config-inited", write_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
