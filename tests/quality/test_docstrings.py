"""Every public name is documented the NumPy way, and every example in the package runs."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import pkgutil
import re
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from quality.project import ROOT, source_files

import hoad
from hoad._core.graph.primitive import primitives
from hoad._docstrings import docdict
from hoad.errors import HoadError
from hoad.rules import registry

ORDER = [
    *("Parameters", "Attributes", "Returns", "Yields", "Raises", "Warns"),
    *("See Also", "Notes", "References", "Examples"),
]


def public_names(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """The names in `__all__`, and those of the public modules among them."""
    for name in module.__all__:
        value = getattr(module, name)
        yield f"{module.__name__}.{name}", value
        if isinstance(value, ModuleType) and hasattr(value, "__all__"):
            yield from public_names(value)


def package_modules() -> Iterator[ModuleType]:
    """Every module of the installed package, compiled ones too."""
    yield hoad
    for found in pkgutil.walk_packages(hoad.__path__, "hoad."):
        if not found.name.endswith("__main__"):
            yield importlib.import_module(found.name)


# Functions of SciPy's own, among those of hoad.scipy, have SciPy's docstrings.
OF_SCIPY = {name: x for name, x in public_names(hoad.scipy) if not getattr(x, "__module__", "").startswith("scipy")}
PUBLIC = {**dict(public_names(hoad)), **OF_SCIPY}
MODULES = {name: value for name, value in PUBLIC.items() if inspect.ismodule(value)}
CLASSES = {name: value for name, value in PUBLIC.items() if inspect.isclass(value)}
FUNCTIONS = {name: value for name, value in PUBLIC.items() if name not in MODULES.keys() | CLASSES.keys()}
MEMBERS = [
    (name, member)
    for name, owner in CLASSES.items()
    for member, value in vars(owner).items()
    if not member.startswith("_") and (callable(value) or inspect.isdatadescriptor(value))
]


def sections(text: str) -> dict[str, str]:
    """A docstring's parts by title; what stands before the first title has the title ''."""
    parts = re.split(r"^(\w[\w ]*)\n(-{3,})$", text, flags=re.MULTILINE)
    for title, rule in zip(parts[1::3], parts[2::3], strict=True):
        assert len(title) == len(rule), f"the line under {title} is not as long as the word"
    return {"": parts[0]} | dict(zip(parts[1::3], map(textwrap.dedent, parts[3::3]), strict=True))


def listed_names(text: str) -> list[str]:
    """The names on the left of a section such as Parameters."""
    heads = [line.split(":")[0] for line in text.splitlines() if line and not line.startswith(" ")]
    return [name.strip(" *") for head in heads for name in head.split(",")]


def raises_itself(function: Callable[..., Any]) -> bool:
    """Whether the source of a Python function raises (of a compiled one nothing is known)."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError):
        return False
    return any(isinstance(node, ast.Raise) and node.exc is not None for node in ast.walk(tree))


def docstring_of(value: Any) -> str:
    text = inspect.getdoc(value)
    assert text, "no docstring"
    if not inspect.isclass(value):
        assert text != inspect.getdoc(type(value)), "the docstring is that of its type"
    summary = text.split("\n\n")[0]
    assert "\n" not in summary and summary.endswith("."), f"not one sentence on one line: {summary!r}"
    return text


def test_all_is_complete() -> None:
    visible = {name for name in vars(hoad) if not name.startswith("_")}
    modules = {name for name in visible if inspect.ismodule(getattr(hoad, name))}
    assert visible - modules <= set(hoad.__all__)


def test_help_lists_every_public_name() -> None:
    listed = set(re.findall(r"\w+", inspect.getdoc(hoad) or ""))
    assert set(hoad.__all__) <= listed


@pytest.mark.parametrize("name", PUBLIC)
def test_sections_are_in_order(name: str) -> None:
    titles = [title for title in sections(docstring_of(PUBLIC[name])) if title]
    assert set(titles) <= set(ORDER), f"titles that the convention has not: {set(titles) - set(ORDER)}"
    assert titles == sorted(titles, key=ORDER.index)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function(name: str) -> None:
    function = FUNCTIONS[name]
    assert callable(function), "a public name is a module, a class or a function"
    found = sections(docstring_of(function))
    signature = inspect.signature(function)
    if signature.parameters:
        assert listed_names(found.get("Parameters", "")) == list(signature.parameters)
    else:
        assert "Parameters" not in found
    if signature.return_annotation not in (None, "None"):
        assert "Returns" in found or "Yields" in found
    if raises_itself(function):
        assert "Raises" in found
    assert re.search(r"^Cost: \S", found.get("Notes", ""), flags=re.MULTILINE), "Notes say what a call costs"
    assert ">>> " in found.get("Examples", "")


@pytest.mark.parametrize("name", CLASSES)
def test_class(name: str) -> None:
    found = sections(docstring_of(CLASSES[name]))
    if issubclass(CLASSES[name], HoadError) and CLASSES[name] is not HoadError:
        assert ">>> " in found.get("Examples", ""), "an error shows code that raises it, and its repair"


@pytest.mark.parametrize(("name", "member"), MEMBERS)
def test_member(name: str, member: str) -> None:
    """A method or an attribute has a docstring; an attribute may stand in that of its class instead."""
    if member not in listed_names(sections(docstring_of(CLASSES[name])).get("Attributes", "")):
        docstring_of(vars(CLASSES[name])[member])


def test_no_placeholder_is_left() -> None:
    values = PUBLIC | {f"{name}.{member}": vars(CLASSES[name])[member] for name, member in MEMBERS}
    assert not [name for name, value in values.items() if "%(" in (inspect.getdoc(value) or "")]


def docstrings_as_written() -> Iterator[str]:
    """Those of all functions, with the names of shared paragraphs."""
    for path in source_files(".py"):
        for node in ast.walk(ast.parse((ROOT / path).read_text())):
            if isinstance(node, ast.FunctionDef):
                yield ast.get_docstring(node) or ""


def entries(text: str) -> Iterator[str]:
    """The items of the lists in a docstring."""
    for title in ("Parameters", "Returns", "Raises"):
        yield from filter(None, re.split(r"\n(?=\S)", sections(text).get(title, "").strip()))


def test_what_docstrings_share_is_written_once() -> None:
    texts = list(docstrings_as_written())
    times = Counter(entry for text in texts for entry in entries(text) if len(entry) > 60)
    parts = [text if "---" in text else f"Parameters\n----------\n{text}" for text in docdict.values()]
    assert not [entry for text in parts for entry in entries(text) if entry in times]
    assert not [entry for entry, n in times.items() if n > 2]
    uses = Counter(name for text in texts for name in re.findall(r"^%\((\w+)\)s$", text, re.MULTILINE))
    assert uses.keys() == docdict.keys() and min(uses.values()) > 1


def test_glossary_is_sorted_and_of_words_in_use() -> None:
    docs = ROOT / "docs"
    text = (docs / "glossary.md").read_text().split(":::")[1]
    heads = [line for line in text.splitlines()[1:] if line and not line.startswith(" ")]
    assert heads == sorted(heads, key=str.lower)
    texts = [inspect.getdoc(value) or "" for value in PUBLIC.values()]
    texts += [inspect.getdoc(vars(CLASSES[name])[member]) or "" for name, member in MEMBERS]
    texts += [path.read_text() for path in [*docs.glob("*.md"), *docs.glob("howto/*.md")] if path.stem != "glossary"]
    words = " ".join(texts).lower().replace("`", "")
    assert not [term for head in heads for term in head.split(", ") if term.lower().rstrip("s") not in words]


FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
FINDER = doctest.DocTestFinder(exclude_empty=True)
EXAMPLES = {
    found.name: found
    for module in package_modules()
    for found in FINDER.find(module, extraglobs={"np": np, "hoad": hoad})
    if found.examples
}


def test_there_are_examples() -> None:
    assert EXAMPLES


@pytest.fixture
def _same_rules() -> Iterator[None]:
    """The table of rules as it was, after an example that registers some."""
    before = [(made, made.rule, made.rule_name, made.per_call) for made in primitives()]
    functions, function_primitives = dict(registry.FUNCTIONS), dict(registry.FUNCTION_PRIMITIVES)
    yield
    for made, rule, rule_name, per_call in before:
        if made.rule is not rule:
            made.rule, made.rule_name, made.per_call = rule, rule_name, per_call
            made.version += 1
    for table, kept in ((registry.FUNCTIONS, functions), (registry.FUNCTION_PRIMITIVES, function_primitives)):
        table.clear()
        table.update(kept)


@pytest.mark.usefixtures("_same_rules")
@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_run(name: str) -> None:
    report: list[str] = []
    result = doctest.DocTestRunner(optionflags=FLAGS).run(EXAMPLES[name], out=report.append)
    assert result.failed == 0, "".join(report)


# The reader of docstrings is itself held to a case.


def test_reader_of_docstrings() -> None:
    parameters = "Parameters\n----------\nx, y : float\n    Where: here.\n*rest\n    More."
    text = f"Do it.\n\n{parameters}\n\nNotes\n-----\nNone."
    found = sections(text)
    assert list(found) == ["", "Parameters", "Notes"]
    assert listed_names(found["Parameters"]) == ["x", "y", "rest"]
    with pytest.raises(AssertionError, match="as long"):
        sections("Do it.\n\nNotes\n------\nNone.")
