"""Functions of packages that never heard of traced values."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from hoad._adopt import arrays, conversions, mathematics, namespaces, scipy_functions
from hoad._core.base.frame_globals import Adopting, found_for
from hoad._pytree.arguments import check_function
from hoad.errors import ArgumentError

_PARTS = [conversions, mathematics, arrays]  # each says at the first use what adopted code finds


def adopt(f: Callable[..., Any]) -> Callable[..., Any]:
    """f with all the Python code that it calls accepting traced values: for functions of packages that know only NumPy.

    While the result runs, f and the functions, methods and classes that it calls, in any package except NumPy and
    Python's standard library, find hoad's versions of some functions of NumPy and Python. With plain numbers these
    return what the originals return. With traced values

    - `np.asarray(x)`, `np.array([x, 1.0])` and related functions give traced arrays;
    - `np.zeros(n)` and related functions give arrays that traced values may be written to;
    - `math.sin(x)` and all of `math` and `cmath` are recorded, with the errors that Python's functions raise;
    - `float(x)`, `np.float64(x)` and `complex(x)` keep the derivative; `int(x)`, `math.floor(x)` are guarded decisions;
    - `type(x)` is the class of the value that x stands for.

    Parameters
    ----------
    f : callable
        A function or a method of any package, or one of your own that calls such functions.

    Returns
    -------
    callable
        Called like f, inside any driver and inside `jit`; without traced values it is f.

    Raises
    ------
    ArgumentError
        If f cannot be called, or the interpreter is not CPython 3.10 to 3.14.
    TracedValueError
        If a traced value is passed to compiled code (Cython, Numba, C), where its derivative would be lost; or if an
        object keeps a traced value after the call and the value is used.

    See Also
    --------
    adopting : the same for a block of code, and for chosen packages.

    Notes
    -----
    The modules, classes and functions of the package are not changed, other threads are not affected, and after the
    call everything is plain again. The interpreter evaluates the frames of this thread with other globals, as PEP 523
    allows.

    Classes are replaced only where they are called, so `isinstance(x, float)`, `dtype=float` and `type(x) is float`
    answer as for plain numbers.

    Cost: none where a jitted function is replayed. While it is recorded, a global name takes some 0.1 us longer to look
    up, and the array made by `np.zeros` is a traced one.

    References
    ----------
    PEP 523, Adding a frame evaluation API to CPython.

    Examples
    --------
    A function that was written for plain numbers:

    >>> import math
    >>> import numpy as np
    >>> import hoad
    >>> def path(params):
    ...     params = np.asarray(params, dtype=float)
    ...     out = np.zeros(3)
    ...     for i in range(3):
    ...         out[i] = math.exp(-params[0] * i) * float(params[1])
    ...     return out.sum()
    >>> hoad.grad(hoad.adopt(path))(np.array([0.5, 2.0]))
    array([-2.68457908,  1.9744101 ])
    """
    check_function("adopt", f)
    _declare()

    @functools.wraps(f, updated=())
    def adopted(*args: Any, **kwargs: Any) -> Any:
        _declare_loaded()
        with Adopting():
            return found_for(f)(*args, **kwargs)  # which is not looked up by a name

    return adopted


def adopting(*packages: str) -> Adopting:
    """A context in which the code of these packages accepts traced values, as under `adopt`.

    Parameters
    ----------
    *packages : str
        Names of packages or modules, with all that they contain. Without any, all code that runs is adopted.

    Returns
    -------
    context manager

    Raises
    ------
    ArgumentError
        If a name is not a string, or the interpreter is not CPython 3.10 to 3.14.

    See Also
    --------
    adopt : the same for a function.

    Notes
    -----
    The function with the `with` statement is already running, so it is not adopted itself.

    Cost: as for `adopt`.

    Examples
    --------
    >>> import math
    >>> import hoad
    >>> def kinetic(v):
    ...     return 0.5 * math.pow(v, 2)
    >>> def energy(v):
    ...     with hoad.adopting():
    ...         return kinetic(v)
    >>> hoad.grad(energy)(3.0)
    3.0
    """
    names: tuple[Any, ...] = packages
    for name in names:
        if not isinstance(name, str):
            raise ArgumentError(f"adopting takes names of packages, not {type(name).__name__}.")
    _declare()
    return Adopting(packages or None)


def _declare() -> None:
    while _PARTS:
        _PARTS.pop(0).declare()
    _declare_loaded()


def _declare_loaded() -> None:
    """The same of what was imported since, by others or by f."""
    namespaces.declare_loaded()
    scipy_functions.declare_loaded()
