"""What hoad covers of NumPy and SciPy: the tables that tests are made of, as tables of the reference."""

import re
import sys
from pathlib import Path

import numpy as np

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
        counts.append([title, len(here), *(best.count(kind) for kind in Kind), len(here) - len(found)])
        if title == "Methods of ufuncs":
            head, lines = ["ufunc", "kind", "methods", "note"], of_methods(found, COVERED, Kind)
        else:
            head = ["name", "kind", "by which arguments", "note"]
            lines = [line for name in found for line in lines_of(called[name], COVERED[name], Kind)]
        if lines:
            parts.append(f"## {title}\n\n{table(head, lines)}")
    totals = ["all", *(sum(line[k] for line in counts) for k in range(1, len(counts[0])))]
    heads = ["", "names", *(kind.value for kind in Kind), "not yet"]
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


def write_pages(app, config):
    GENERATED.mkdir(exist_ok=True)
    for name, text in (("coverage.txt", page()), ("coverage-scipy.txt", page_of_scipy())):
        place = GENERATED / name
        if not place.exists() or place.read_text() != text:
            place.write_text(text)


def setup(app):
    app.connect("config-inited", write_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
