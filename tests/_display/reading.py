"""Reading tables back: the rows of a printed program, and what their operations give in NumPy."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from hoad._core.kernels import ufuncs

TITLE = re.compile(r"Tape (\d+) \((\w+)\): (.*)")
ROW = re.compile(r" +@(\d+) = (.*)")
NAME = re.compile(r"∇[⁺⁰¹²³⁴⁵⁶⁷⁸⁹]*@\d+")
REFERENCE = re.compile(rf"{NAME.pattern}|@\d+")
PIECE = re.compile(r" ?(?:with )?(\.flat)?((?<=[ t])\[[^=]*\]) \+= ")
COLUMN_GAP = "  "

FUNCTIONS = {name: getattr(np, name) for name in np.__all__ if callable(getattr(np, name, None))}
FUNCTIONS |= {"solve": np.linalg.solve, "inv": np.linalg.inv, "det": np.linalg.det}
FUNCTIONS |= {"reshape": lambda x, shape: np.reshape(x, shape)}  # NumPy's takes this name from 2.1 on
FUNCTIONS |= {"astype": lambda x, dtype: np.asarray(x).astype(dtype), "index": np.s_}
FUNCTIONS |= {"x_over_hypot": ufuncs.x_over_hypot, "sech_squared": ufuncs.sech_squared, "logistic": ufuncs.logistic}
FUNCTIONS |= {name: getattr(ufuncs, name) for name in ("slope", "smooth", "powlog1", "powlog2", "powlog3")}
FUNCTIONS |= {"concatenate": lambda *arrays, axis: np.concatenate(arrays, axis)}


class ArrayLiterals(ast.NodeTransformer):
    """Lists in operations stand for arrays."""

    def visit_List(self, node: ast.List) -> ast.Call:
        return ast.Call(ast.Name("array", ast.Load()), [node], [])


class Row(NamedTuple):
    """A row as printed; columns by title."""

    number: int
    operation: str
    columns: dict[str, str]

    @property
    def name(self) -> str:
        """The adjoint that the node is, without what it equals."""
        return self.columns.get("adjoint", "").split(" = ")[0]


def tables(text: str) -> list[list[Row]]:
    """The rows of each tape of a printed program."""
    found: list[list[Row]] = []
    starts: list[int] = []
    titles: list[str] = []
    for line in text.split("\n"):
        if TITLE.match(line):
            found.append([])
            titles = []
        elif found and line.startswith("  ") and not titles:
            titles = line.split()
            starts = [line.index(title) for title in titles]
        elif ROW.match(line):
            found[-1].append(read_row(line, starts, titles))
        elif line.startswith("  ") and not line.startswith("  ..."):  # the rest of a long operation
            last = found[-1].pop()
            found[-1].append(last._replace(operation=f"{last.operation} {line.strip()}"))
    return found


def read_row(line: str, starts: list[int], titles: list[str]) -> Row:
    """A line cut where its titles stand; what follows the value after a gap is the mark."""
    ends = [*starts[1:], len(line)]
    cells = {title: line[start:end].strip() for title, start, end in zip(titles, starts, ends, strict=True)}
    cells["value"], _, mark = cells["value"].partition(COLUMN_GAP)
    number, operation = ROW.fullmatch(line[: ends[0]].rstrip()).groups()
    return Row(int(number), operation, cells | {"mark": mark.strip()})


def evaluated(text: str, values: Mapping[Any, Any]) -> Any:
    """What an operation gives, for the values of its operands by number or by name."""
    names = dict(FUNCTIONS)

    def variable(found: re.Match[str]) -> str:
        key = f"v{len(names)}"
        names[key] = values[found[0] if found[0][0] == "∇" else int(found[0][1:])]
        return key

    def run(code: str) -> Any:
        tree = ArrayLiterals().visit(ast.parse(code.replace("·", "*").replace("×", "*").replace("÷", "/"), mode="eval"))
        return eval(compile(ast.fix_missing_locations(tree), text, "eval"), names)

    whole, *pieces = PIECE.split(REFERENCE.sub(variable, text))
    result = run(whole)
    for flat, where, what in zip(pieces[::3], pieces[1::3], pieces[2::3], strict=True):
        np.add.at(result.reshape(-1) if flat else result, run(f"index{where}"), run(what.rstrip(",")))
    return result
