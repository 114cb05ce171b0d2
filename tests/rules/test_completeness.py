"""Rows, rules and primitives are the same set: a rule that nothing tests cannot exist. An error names the file."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from quality.project import ROOT
from reference import primal
from rules.arrays import examples
from rules.cases import CASES, Elementwise, Structured

from hoad._core.graph.primitive import STRUCTURE, TABLES, UFUNC, Primitive, primitives
from hoad._core.graph.tape import intern_aval
from hoad._display.notation import NOTATION
from hoad._symbolic.text import BINDING, COMPARISON

DECLARED = "hoad/_ops/primitives.py"
ROWS = "tests/rules/cases.py"
_FLOAT = intern_aval(np.dtype(np.float64), ())


def _declared_later(primitive: Primitive) -> bool:
    """Those of users (and of tests), those that run programs and those of spectra, which have tests of their own."""
    if primitive.name.startswith(("spectral", "singular")):
        return True  # tests/_numpy/test_spectra.py
    return primitive.of_programs or getattr(primitive.function, "__module__", None) == "hoad.rules.registry"


PRIMITIVES = {p.name: p for p in primitives() if not _declared_later(p)}
RULED = {name: p for name, p in PRIMITIVES.items() if p.rule is not None}
TESTED = {name for case in CASES for name in case.primitives}


def _rules_of(name: str) -> str:
    """Where the rule of a primitive belongs."""
    package = name.rpartition(".")[0]
    if package not in TABLES:
        return "hoad/rules, in the file where a reader would look for it"
    found = importlib.util.find_spec(TABLES[package])
    assert found is not None
    assert found.origin is not None
    return f"{Path(found.origin).parent.relative_to(ROOT)}, in the file of its family"


def _told(names: Iterable[str], what: str) -> str:
    return "\n".join(f"{name} {what}" for name in sorted(names))


def test_every_primitive_has_a_rule_or_needs_none() -> None:
    """Structure has none, which the sweeps know by themselves, nor have booleans and integers."""
    without = {name for name, p in PRIMITIVES.items() if p.rule is None and p.kind != STRUCTURE}
    missing = [name for name in without if not PRIMITIVES[name].zero_derivative]
    assert not missing, "\n".join(
        f"{name} has no rule: give it one in {_rules_of(name)}, or zero_derivative=True in {DECLARED}"
        for name in missing
    )


def test_every_rule_has_a_row() -> None:
    missing = set(RULED) - TESTED
    assert not missing, _told(missing, f"has a rule, and no row in {ROWS}: say there where it is defined")


def test_every_row_names_primitives() -> None:
    unknown = TESTED - set(PRIMITIVES)
    assert not unknown, _told(unknown, f"has a row in {ROWS}, and is not declared in {DECLARED}")


def test_a_rule_is_zero_where_its_declaration_says_so() -> None:
    """Of real numbers; a rule says None for zero."""
    for name, primitive in RULED.items():
        if primitive.kind != UFUNC or primitive.nout != 1:
            continue
        known = [types for types in primitive.function.types if set(types) <= set("?lidD->")]
        kinds = min(known, key=lambda types: (types.count("D"), "d" not in types.partition("->")[2]))
        operands = [np.dtype(kind).type(0.25) for kind in kinds.partition("->")[0]]
        with np.errstate(all="ignore"):
            bars = primitive.rule(np.float64(1.0), np.float64(0.5), *operands)  # type: ignore[misc]
        is_zero = all(bar is None for bar in bars)
        assert is_zero == primitive.zero_derivative, (
            f"the rule of {name} gives {bars}, and {DECLARED} says zero_derivative={primitive.zero_derivative}"
        )


@pytest.mark.parametrize("name", sorted(name for name, p in PRIMITIVES.items() if p.symbol is not None))
def test_symbols_have_a_place_in_formulas(name: str) -> None:
    primitive = PRIMITIVES[name]
    assert primitive.nin in (1, 2), f"{name} has a symbol in {DECLARED}, which is for one operand or two"
    is_comparison = np.issubdtype(primitive.infer(None, *[_FLOAT] * primitive.nin)[0].dtype, np.bool_)  # type: ignore[misc]
    assert is_comparison or BINDING.get(primitive.symbol, COMPARISON) != COMPARISON, (
        f"hoad/_symbolic/text.py does not say in BINDING how tightly {primitive.symbol!r} of {name} binds"
    )


def test_structure_has_a_notation() -> None:
    """Of these no reader knows the name."""
    names = {"rate", "start"}  # within the arithmetic of series alone
    missing = {name for name, p in PRIMITIVES.items() if p.kind == STRUCTURE and p not in NOTATION} - names
    assert not missing, _told(missing, "is shown by a name that is no function's: say in hoad/_display/notation.py how")


def test_rows_have_names_of_their_own() -> None:
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_row_uses_the_primitives_it_names(case: Elementwise | Structured) -> None:
    if isinstance(case, Elementwise):
        xs = case.sample(np.random.default_rng(1), 4)
        count = len(case.wrt)
        listing = primal(lambda *args, f=case.f: f(*args, *xs[count:]), *xs[:count])
    else:
        listing = primal(case.f, *next(examples(case)))
    recorded = {row.primitive.name for row in listing.rows if row.primitive is not None}
    assert set(case.primitives) <= recorded
