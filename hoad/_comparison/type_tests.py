"""Where code asks what kind of object it has, makes text of it, or handles what it raises.

A traced value is not an object of the class whose number it stands for, it prints differently, and it raises where a
number does not (``float(x)``). Code that looks at any of these can give another result for a traced value.
"""

from __future__ import annotations

import builtins
import contextlib
import dis
import functools
import os
import types
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from hoad._core.base.where import is_library

# Names of functions and attributes that answer by the class of an object, or by which object it is.
TESTS = frozenset(
    """__class__ __dict__ __dir__ __instancecheck__ __subclasscheck__ __subclasshook__ callable dir get_type_hints
    getattr getattr_static getmembers hasattr id is_ is_not isNumberType isclass iscomplexobj isdtype isinstance
    isrealobj isscalar issctype issubclass issubdtype iterable methodcaller singledispatch singledispatchmethod type
    typename vars""".split()
)
# Names of those that make text, or bytes.
TEXTS = frozenset(
    """__format__ __repr__ __str__ array2string array_repr array_str ascii bytes dumps format format_float_positional
    format_float_scientific format_map pformat repr savetxt str tobytes""".split()
)
# Names of attributes that make Python's numbers of NumPy's, or that tell how an array lies in memory.
FORMS = frozenset("__array_interface__ __array_struct__ base ctypes data flags item strides tolist".split())

FORMATS = ("FORMAT_VALUE", "FORMAT_SIMPLE", "FORMAT_WITH_SPEC", "CONVERT_VALUE", "BUILD_INTERPOLATION")
NAMES = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_FROM_DICT_OR_GLOBALS", "LOAD_FROM_DICT_OR_DEREF")
ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR", "IMPORT_FROM")
PATTERNS = ("MATCH_CLASS", "MATCH_SEQUENCE", "MATCH_MAPPING")
TEXT_ONLY = ("__repr__", "__str__", "__format__")  # functions that run where text is asked for, which is found there

# What looks at its own arguments only.
HARMLESS = (np.errstate, np.finfo, np.iinfo, warnings.catch_warnings, warnings.simplefilter, contextlib.nullcontext)
# Modules of Python's library written in C whose functions ask for numbers, or hand on what they are given.
OPEN = frozenset("builtins math cmath operator _operator itertools functools _functools _collections _abc".split())


# ---- code -----------------------------------------------------------------------------------------------------------


def code_within(code: types.CodeType) -> Iterator[types.CodeType]:
    """A piece of code and those defined within it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from code_within(constant)


def type_tests(code: types.CodeType) -> Iterator[tuple[int, str]]:
    """The (line, what) of each test of a type, text and handler in a piece of code and those defined within it.

    What is the name of a function or attribute (see `TESTS`, `TEXTS` and `FORMS`), or "match", "is", "an f-string",
    "%", "except". An `is` beside None is none, nor is `with`: what its ``__exit__`` does stands there.
    """
    for inner in code_within(code):
        yield from _own_tests(inner)


MOST_KNOWN = 10_000
KNOWN: dict[int, tuple[types.CodeType, list[tuple[int, str]]]] = {}  # by the identity of code: its own tests


def _own_tests(code: types.CodeType) -> list[tuple[int, str]]:
    known = KNOWN.get(id(code))
    if known is None:
        if len(KNOWN) >= MOST_KNOWN:
            KNOWN.clear()
        known = KNOWN[id(code)] = code, list(_tests_in(code))
    return known[1]


def _tests_in(code: types.CodeType) -> Iterator[tuple[int, str]]:
    if code.co_name in TEXT_ONLY:
        return
    lines = {start: line for start, _, line in code.co_lines() if line is not None}
    line = code.co_firstlineno
    if code.co_name in ("__exit__", "__aexit__"):
        yield line, code.co_name
    steps = [step for step in dis.get_instructions(code) if step.opname != "EXTENDED_ARG"]
    for before, step, after in zip([None, *steps], [*steps, None], [*steps[1:], None, None], strict=True):
        if step is None:
            return
        line = lines.get(step.offset, line)
        what = _test(step, before, after)
        if what is not None:
            yield line, what


def _test(step: dis.Instruction, before: dis.Instruction | None, after: dis.Instruction | None) -> str | None:
    """What an instruction tests, between those before and after it."""
    name = step.opname
    if name in NAMES or name in ATTRIBUTES:
        known = step.argval in TESTS or step.argval in TEXTS or (name in ATTRIBUTES and step.argval in FORMS)
        return str(step.argval) if known else None
    if name in ("SETUP_FINALLY", "PUSH_EXC_INFO"):
        return None if after is not None and after.opname == "WITH_EXCEPT_START" else "except"
    if name in FORMATS:
        return "an f-string"
    if name in PATTERNS:
        return "match"
    constant = before is not None and before.opname in ("LOAD_CONST", "LOAD_SMALL_INT")
    beside = before.argval if constant and before is not None else ""
    if name == "IS_OP":
        return None if beside is None else "is"
    if name in ("BINARY_MODULO", "INPLACE_MODULO") or (name == "BINARY_OP" and "%" in step.argrepr):
        return None if isinstance(beside, (int, float)) else "%"  # of text, perhaps
    return None


# ---- what code leads to ---------------------------------------------------------------------------------------------


def first_test(codes: Iterable[types.CodeType], met: Iterable[Any]) -> str | None:
    """The first test, text or handler in the user's code, or in functions of others that it may call; with the place.

    `met` are the objects that the code leads to, of which functions written in C count by what is known of them.
    """
    for code in codes:
        for line, what in _own_tests(code):
            return f"{what} ({os.path.basename(code.co_filename)}:{line})"
    found = list(met)
    never = {id(getattr(x, "__wrapped__", None)) for x in found if isinstance(x, type(np.sum))}  # hoad's run for these
    for x in found:
        if id(x) not in never and _asks(x):
            return str(x.__qualname__ if isinstance(x, (type, types.FunctionType)) else getattr(x, "__name__", x))
    return None


def _asks(x: Any) -> bool:
    """Whether a function or class that is not code of the user's may look at what kind of object it is given."""
    if any(x is known for known in HARMLESS):
        return False
    if isinstance(x, types.FunctionType):
        return is_library(x.__code__.co_filename) and _library_asks(x)
    if isinstance(x, (types.BuiltinFunctionType, types.MethodWrapperType)):
        return _c_asks(x)
    if isinstance(x, type):
        return _class_asks(x)
    if isinstance(x, (np.ufunc, type(np.sum))):
        return x.__name__ in TESTS or x.__name__ in TEXTS
    if not callable(x) or isinstance(x, (types.MethodType, functools.partial)) or _is_own(type(x)):
        return False  # what a method and the like call is met, too
    called = type(x).__call__
    return _asks(called) if isinstance(called, types.FunctionType) else True


def _is_own(x: Any) -> bool:
    """Whether a function or class is hoad's, which knows traced values; also a function that bears a user's name."""
    module = x.__globals__.get("__name__") if isinstance(x, types.FunctionType) else getattr(x, "__module__", "")
    return str(module).partition(".")[0] == "hoad"


def _c_asks(x: Any) -> bool:
    if x.__name__ in TESTS or x.__name__ in TEXTS:
        return True
    owner = x.__self__
    if not isinstance(owner, types.ModuleType | type(None)):
        return not isinstance(owner, (list, dict, set, tuple, np.ndarray)) and not _is_own(type(owner))
    module = str(x.__module__ or "")
    return module not in OPEN and module.partition(".")[0] not in ("numpy", "hoad")


def _class_asks(x: type) -> bool:
    """Whether to make or use an object of a class of a library does; those of C want numbers, or keep what they get."""
    if x in (type, str, bytes, bytearray, memoryview):
        return True
    if issubclass(x, type) or _is_own(x) or getattr(x, "__module__", "") == "inspect":  # which NumPy's functions hold
        return False
    methods = (m for cls in x.__mro__ for m in vars(cls).values() if isinstance(m, types.FunctionType))
    return any(is_library(m.__code__.co_filename) and _library_asks(m) for m in methods)


ASKING: dict[int, tuple[types.CodeType, bool]] = {}  # code of libraries, by identity: whether it asks


def _library_asks(f: types.FunctionType) -> bool:
    """Whether a library's function, or one that it calls by a global name, tests a type, makes text or handles."""
    code = f.__code__
    if _is_own(f):
        return False
    known = ASKING.get(id(code))
    if known is None:
        if len(ASKING) >= MOST_KNOWN:
            ASKING.clear()
        ASKING[id(code)] = code, False  # one that calls itself asks nothing more
        known = ASKING[id(code)] = code, next(type_tests(code), None) is not None or any(map(_asks, _named(f)))
    return known[1]


def _named(f: types.FunctionType) -> Iterator[Any]:
    """What the global names in the code of a function stand for."""
    for code in code_within(f.__code__):
        for step in dis.get_instructions(code):
            if step.opname in NAMES:
                yield f.__globals__.get(step.argval, getattr(builtins, step.argval, None))
