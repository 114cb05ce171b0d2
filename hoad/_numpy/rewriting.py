"""What to write in place of a plain array that a traced value is put into: found in the source of the user's function.

So is what to call in place of a function that takes plain numbers alone, as those of `math`.

It is looked for when the error is raised, and only then. Where the source is not at hand the advice is general.
"""

from __future__ import annotations

import ast
import linecache
import os
import sys
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from types import BuiltinFunctionType, FrameType, ModuleType
from typing import Any

import numpy as np

from hoad._core.trace.errors import rewrite_with
from hoad._core.trace.traced import METHODS, is_traced
from hoad._numpy.objects import OF_VECTORIZE

PACKERS = ("array", "asarray", "asanyarray")

Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Module

MAKERS = ("zeros", "empty", "ones", "full", "eye", "identity", "array", "asarray", "asanyarray")


def rewritten(frame: FrameType, line: int) -> str | None:
    """The line that made the array and what to make of it: ``'f.py:3: y = np.zeros(2) -> ...'``; None if not found."""
    name = frame.f_code.co_filename
    tree = _tree(frame)
    if tree is None:
        return None
    scope, statement = _scope(tree, line), _statement(tree, line)
    target = _target(statement, frame)
    if target is None:
        return None
    file, like = os.path.basename(name), _traced_name(frame, statement)
    made = _binding(scope, target, line)
    dtype = np.asarray(_value(frame, target)).dtype
    whole = dtype.kind in "biu"
    cause = f" (of floats, for an array of {dtype} holds no traced values)" if whole else ""
    if made is None:
        return f"{target} = {_taken(target, like, whole)} before {file}:{line}{cause}"
    instead = _made_like(made.value, like, whole)
    shaped = None if whole or np.ndim(_value(frame, like)) else _shaped_like(made.value, like)
    if shaped is not None:
        instead += f"; or {target} = {shaped}, where {like} may be a plain number too"
    return f"{file}:{made.lineno}: {ast.unparse(made)} -> {target} = {instead}{cause}"


def made_traced(frame: FrameType, line: int) -> str | None:
    """What to make of the call that put traced numbers into an object array on a line: ``'f.py:3: np.array(...)'``."""
    tree = _tree(frame)
    statement = None if tree is None else _statement(tree, line)
    if tree is None or statement is None:
        return None
    found: ast.AST = statement
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and _holds_objects(_value(frame, node.id)):
            found = _binding(_scope(tree, line), node.id, line) or found
    for node in ast.walk(found):
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in PACKERS:
            made = ast.Call(node.func, node.args, [k for k in node.keywords if k.arg != "like"])
            made.keywords.append(ast.keyword("like", ast.Name(_traced_name(frame, node))))
            return f"{os.path.basename(frame.f_code.co_filename)}:{node.lineno}: {ast.unparse(made)}"
    return None


# Functions of `math` and `cmath` whose namesakes in NumPy are missing or are others.
OF_MATH = {
    **{f"a{name}": f"np.arc{name}" for name in ("cos", "cosh", "sin", "sinh", "tan", "tanh")},
    **{name: f"scipy.special.{name}" for name in ("erf", "erfc", "gamma")},
    "atan2": "np.arctan2",
    "dist": "np.linalg.norm(np.subtract(p, q))",
    "fma": "x * y + z",
    "fsum": "np.sum",
    "lgamma": "scipy.special.gammaln",
    "phase": "np.angle",
    "pow": "np.power",
    "remainder": "x - y * np.rint(x / y)",
    "sumprod": "np.dot",
    "ulp": "np.spacing",
}


def instead(frame: FrameType, line: int) -> str | None:
    """What to write in place of the call that runs in a frame: ``'Write np.sin in place of math.sin'``, or None."""
    nodes = _running(frame, line)
    for function, shown in _functions(frame, nodes):
        if isinstance(function, BuiltinFunctionType) and function.__module__ in ("math", "cmath"):
            name = OF_MATH.get(function.__name__) or f"np.{function.__name__}"
            if not name.startswith("np.") or hasattr(np, name[3:].partition("(")[0].partition(".")[0]):
                return f"Write {name} in place of {shown}"
        if type(function).__module__.startswith("numba."):
            return f"Call the Python function that Numba compiles, {shown}.py_func, or give it a rule: @hoad.primitive"
    if _vectorized(frame) is not None:
        return "Leave otypes of np.vectorize out"
    found = (_in_place_of(node, frame, line) for node in nodes)
    return next((advice for advice in found if advice is not None), None)


def _running(frame: FrameType, line: int) -> list[ast.AST]:
    """The expression that runs in a frame; where Python does not tell, those of the statement."""
    tree = _tree(frame)
    if tree is None:
        return []
    positions = getattr(frame.f_code, "co_positions", None)  # of Python 3.11 and later
    if positions is not None:
        at = list(positions())[frame.f_lasti // 2]
        around = () if at[0] is None else _around(tree, at[0])
        return list(islice((node for node in around if isinstance(node, ast.expr) and at == _position(node)), 1))
    statement = _statement(tree, line)
    return [] if statement is None else [n for n in ast.walk(statement) if isinstance(n, ast.expr)]


def _functions(frame: FrameType, nodes: list[ast.AST]) -> Iterator[tuple[Any, str]]:
    """What is called in these expressions, or given to what is called, and what a function of `np.vectorize` is."""
    for node in nodes:
        if isinstance(node, ast.Call):
            for name in (node.func, *node.args, *(node.func.args if isinstance(node.func, ast.Call) else ())):
                yield _named(name, frame), ast.unparse(name)
    scope = _vectorized(None)
    if scope is not None:
        yield scope.pyfunc, scope.pyfunc.__name__


def _vectorized(frame: FrameType | None) -> Any:
    """The `np.vectorize` in whose code this is; if a frame is given, only with otypes, and called by that."""
    inner: FrameType | None = sys._getframe()
    while inner is not None and inner is not frame:
        if inner.f_code.co_filename == OF_VECTORIZE and isinstance(inner.f_locals.get("self"), np.vectorize):
            found = inner.f_locals["self"]
            return found if frame is None or found.otypes is not None else None
        inner = inner.f_back
    return None


def _named(node: ast.AST, frame: FrameType) -> Any:
    """What a name stands for, or an attribute of a module."""
    if isinstance(node, ast.Name):
        return frame.f_locals.get(node.id, frame.f_globals.get(node.id, frame.f_builtins.get(node.id)))
    owner = _named(node.value, frame) if isinstance(node, ast.Attribute) else None
    return (
        getattr(owner, node.attr, None) if isinstance(owner, ModuleType) and isinstance(node, ast.Attribute) else None
    )


def _in_place_of(node: ast.AST, frame: FrameType, line: int) -> str | None:
    """What to write in place of one expression."""
    if isinstance(node, ast.BinOp):
        left = ast.unparse(node.left)
        if isinstance(node.op, ast.Mod) and isinstance(_value_of(node.left, frame), str):
            return f"Write f'{{x:.3f}}' or str.format in place of {left} %"
        if isinstance(node.op, ast.MatMult) and hasattr(_value_of(node.left, frame), "to_numpy"):
            return f"Write {left}.to_numpy() @ {ast.unparse(node.right)}"
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        made = rewritten(frame, line)
        return None if made is None else f"Make it an array that takes traced values: {made}"
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute):
        stacked = {"r_": "np.hstack", "c_": "np.column_stack"}.get(node.value.attr)
        if stacked and _named(node.value, frame) in (np.r_, np.c_) and isinstance(node.slice, ast.Tuple):
            items = ", ".join(map(ast.unparse, node.slice.elts))
            return None if ":" in items else f"Write {stacked}(({items}))"
    return _in_place_of_call(node, frame, line) if isinstance(node, ast.Call) else None


def _value_of(node: ast.expr, frame: FrameType) -> Any:
    return node.value if isinstance(node, ast.Constant) else _named(node, frame)


def _in_place_of_call(node: ast.Call, frame: FrameType, line: int) -> str | None:
    if not node.args:
        return None
    function, first = _named(node.func, frame), ast.unparse(node.args[0])
    name = ast.unparse(node.func)
    if function in (float, np.float64):
        return f"Leave {name}() out: write {first}"
    if function in (np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray, np.require):
        like = _traced_name(frame, node)
        packed = isinstance(node.args[0], ast.List) and not any(isinstance(x, ast.List) for x in node.args[0].elts)
        if packed and not np.ndim(_value(frame, like)):
            return f"Write np.stack({first})"
        return f"Write {name if name.rpartition('.')[2] in PACKERS else 'np.asarray'}({first}, like={like})"
    if function is np.fromiter:
        return f"Write np.stack(list({first}))"
    if function is np.nditer:
        return f"Loop over {first}.flat"
    if function is np.ndenumerate:
        return f"Loop over zip(np.ndindex({first}.shape), {first}.flat)"
    if isinstance(node.func, ast.Attribute):
        owner, method = ast.unparse(node.func.value), node.func.attr
        plain = _named(node.func.value, frame)
        if method in ("fill", "put") and isinstance(plain, np.ndarray):
            made = rewritten(frame, line)
            return None if made is None else f"Make it an array that takes traced values: {made}"
        if method == "dot" and hasattr(plain, "to_numpy"):
            return f"Write {owner}.to_numpy() @ {first}"
        if isinstance(plain, np.ndarray) and hasattr(np, method):
            return f"Write np.{method}({', '.join([owner, *map(ast.unparse, [*node.args, *node.keywords])])})"
    return None


def _holds_objects(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.dtype.kind == "O"


def _tree(frame: FrameType) -> ast.Module | None:
    """The source of the file of a frame; None where it is not at hand."""
    return _parsed("".join(linecache.getlines(frame.f_code.co_filename, frame.f_globals)))


@lru_cache(maxsize=2)  # code that is tried as it is, and then otherwise, gives the same message again and again
def _parsed(source: str) -> ast.Module | None:
    try:
        return ast.parse(source)
    except SyntaxError:
        return None


def _around(node: ast.AST, line: int) -> Iterator[ast.AST]:
    """The nodes below one that lie around a line, outer ones first."""
    for inner in ast.iter_child_nodes(node):
        if not hasattr(inner, "lineno") or _holds(inner, line):
            yield inner
            yield from _around(inner, line)


def _position(node: ast.expr) -> tuple[int | None, ...]:
    return node.lineno, node.end_lineno, node.col_offset, node.end_col_offset


def _scope(tree: ast.Module, line: int) -> Scope:
    """The innermost function that a line lies in, or the module."""
    found: Scope = tree
    for node in _around(tree, line):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found = node
    return found


def _holds(node: Any, line: int) -> bool:
    return bool(node.lineno <= line <= (node.end_lineno or node.lineno))


def _statement(tree: ast.Module, line: int) -> ast.stmt | None:
    """The smallest statement that a line lies in."""
    found = [node for node in _around(tree, line) if isinstance(node, ast.stmt)]
    return min(found, key=lambda node: (node.end_lineno or node.lineno) - node.lineno, default=None)


def _target(statement: ast.stmt | None, frame: FrameType) -> str | None:
    """The name of the plain array that a statement writes to."""
    for name in _written(statement):
        value = _value(frame, name)
        if isinstance(value, np.ndarray) and not is_traced(value):
            return name
    return None


def _written(statement: ast.stmt | None) -> Iterator[str]:
    """Names that a statement may write to: targets of assignments, out=, the first argument of a call."""
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets += statement.targets
    elif isinstance(statement, ast.AugAssign):
        targets.append(statement.target)
    for node in ast.walk(statement) if statement is not None else ():
        if isinstance(node, ast.Call):
            targets += [keyword.value for keyword in node.keywords if keyword.arg == "out"]
            targets += node.args[:1]
            if isinstance(node.func, ast.Attribute) and node.func.attr in ("fill", "put"):
                targets.append(node.func.value)
    for target in targets:
        for node in [target, *(target.elts if isinstance(target, ast.Tuple) else ())]:
            while isinstance(node, (ast.Subscript, ast.Attribute)):
                node = node.value
            if isinstance(node, ast.Name):
                yield node.id


def _value(frame: FrameType, name: str) -> Any:
    return frame.f_locals.get(name, frame.f_globals.get(name))


def _traced_name(frame: FrameType, statement: ast.AST | None = None) -> str:
    """A traced value that the user has a name for, of this statement if possible; arguments come first.

    Arrays come before numbers, which NumPy does not take as `like` where the function is called with plain ones.
    """
    found = {name: value for name, value in frame.f_locals.items() if is_traced(value)}
    used = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)} if statement is not None else set()
    return min(found, key=lambda name: (not found[name].ndim, name not in used), default="x")


def _binding(scope: Scope, name: str, line: int) -> ast.Assign | None:
    """The last assignment to a name before a line, in a function."""
    found = [
        node
        for node in ast.walk(scope)
        if isinstance(node, ast.Assign)
        and node.lineno < line
        and any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
    ]
    return max(found, key=lambda node: node.lineno, default=None)


def _made_like(value: ast.expr, like: str, whole: bool) -> str:
    """An expression that makes a plain array, as one that makes a traced one; of floats where it was of integers."""
    if isinstance(value, ast.Call) and ast.unparse(value.func).rpartition(".")[2] in MAKERS and not whole:
        keywords = [*value.keywords, ast.keyword("like", ast.Name(like))]
        return ast.unparse(ast.Call(value.func, value.args, keywords))
    return _taken(ast.unparse(value), like, whole)


def _shaped_like(value: ast.expr, like: str) -> str | None:
    """The same by a number, which NumPy does not take as like= where it is plain: np.zeros_like(x, shape=3)."""
    if not isinstance(value, ast.Call):
        return None
    package, dot, name = ast.unparse(value.func).rpartition(".")
    shape = next((k.value for k in value.keywords if k.arg == "shape"), value.args[0] if value.args else None)
    fill = next((k.value for k in value.keywords if k.arg == "fill_value"), value.args[1] if value.args[1:] else None)
    if name not in ("zeros", "ones", "empty", "full") or shape is None or (name == "full") != (fill is not None):
        return None  # a second argument of the first three is a dtype
    if any(k.arg not in ("shape", "fill_value") for k in value.keywords):
        return None
    given = f"{like}, {ast.unparse(fill)}" if fill is not None else like
    return f"{package}{dot}{name}_like({given}, shape={ast.unparse(shape)})"


def _taken(value: str, like: str, whole: bool) -> str:
    """What is there, as a traced array."""
    return f"np.array({value}, {'dtype=float, ' if whole else ''}like={like})"


rewrite_with(rewritten, instead)
METHODS["__made_traced__"] = made_traced
