"""One word, one meaning: names of modules and classes that differ, and names that are not to come back."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

from quality.project import ROOT, source_files

# Modules with one base name, whose folders say what each is about.
SAME_NAME = {
    "adjoint": "the sweep; the program of a gradient",
    "coloring": "the greedy algorithms; what is made of their colors",
    "columns": "of the page that shows a program; the lanes of a loop as columns of arrays",
    "decompositions": "functions of NumPy; their rules",
    "equations": "special functions that solve differential ones; of matrices",
    "errors": "what is raised; what traced values raise",
    "fft": "functions of NumPy; their rules",
    "hypergeometric": "the kernel of derivatives by parameters; rules",
    "integrate": "of differential equations; functions of SciPy",
    "lanes": "the runtime; the operation on a tape",
    "linalg": "rules; functions of SciPy",
    "loops": "the runtime; the operation on a tape",
    "orthogonal": "polynomials; matrices",
    "page": "of the demo; of a program",
    "primitives": "how they are declared; the check of their rules",
    "products": "with derivatives; functions of NumPy",
    "registry": "of functions of NumPy; of functions of SciPy; of rules",
    "report": "of the demo; of a check",
    "scipy": "a method of differential equations for SciPy; functions of SciPy with exact derivatives",
    "tangent": "the sweep; the program of a tangent",
    "tape": "the storage; the command",
    "text": "of series; of expressions",
    "values": "as text; functions that users call",
    "views": "of traced arrays; functions of NumPy",
}

# Former names, as identifiers of the package: what each is called now.
RETIRED = {
    r"Aval": "AbstractValue",
    r"[Ee]mitters?": "builder",
    r"\w*_ext|F_EXT|n_exts": "wide node",
    r"Segment": "Subgraph",
    r"twins?(_of)?|Twins?": "rebinding",
    r"births?|Births?": "first nonfinite",
    r"World|world": "environment",
    r"Unseen": "Untrackable",
    r"s?smul|sdiv": "strong_multiply, strong_divide",
    r"splats?": "broadcast",
    r"lay_under": "run_into",
    r"fate|Fate": "placement",
    r"leg|LEG": "sqrt_one_minus_square",
}


def test_modules_of_one_name_are_in_folders_that_tell_them_apart() -> None:
    found: dict[str, list[Path]] = defaultdict(list)
    for path in source_files(".py", ".pyx"):
        if path.stem != "__init__":
            found[path.stem].append(path)
    assert {stem for stem, paths in found.items() if len(paths) > 1} == set(SAME_NAME)


def test_no_two_classes_of_the_core_have_one_name() -> None:
    found: dict[str, set[Path]] = defaultdict(set)
    for path in source_files(".pyx", ".pxd"):
        for name in re.findall(r"^(?:cdef |ctypedef )?(?:class|struct|enum|union) (\w+)", read(path), re.MULTILINE):
            found[name].add(path.with_suffix(""))
    assert len(found) > 80
    assert {name: paths for name, paths in found.items() if len(paths) > 1} == {}


def test_retired_names_are_gone() -> None:
    wrong = [
        f"{path}: {name} is called {now}"
        for path in source_files(".py", ".pyx", ".pxd", ".pyi")
        for pattern, now in RETIRED.items()
        for name in set(re.findall(rf"(?<!\w)({pattern})(?!\w)", read(path)))
    ]
    assert not wrong, "\n".join(map(str, wrong))


def read(path: Path) -> str:
    return (ROOT / path).read_text()
