"""Programs called from C, Cython, cffi, Numba, and SciPy's compiled routines, without Python."""

from __future__ import annotations

import os
from typing import Any

from hoad._core.base.threads import check_threads
from hoad._core.runtime.engine import Lowered
from hoad._core.runtime.lowlevel import CALL_ADDRESS, ODE_ADDRESS, EntryPoint
from hoad.errors import ArgumentError, ShapeError, count


class Address:
    """The addresses by which C code calls a program, from `Program.address`.

    Keep this object alive as long as C code calls the program. The addresses are valid in one process only and must not
    be pickled.

    Attributes
    ----------
    program : int
        The handle, a ``void *``: the first argument of `call`, the last of `ode`.
    call : int
        The address of ``int hoad_call(void *program, const double *inputs, double *outputs)``, to be called from any
        thread, with or without the GIL.
    n_inputs, n_outputs : int
        The number of doubles: all numbers of all inputs one after another, a complex number as two. Inputs and outputs
        must not overlap.
    error : BaseException or None
        The exception of the last call that returned HOAD_PYTHON.

    Notes
    -----
    The return values of a call have names in ``hoad.h`` (see `get_include`): 0 HOAD_OK; 1 HOAD_BRANCH, the function
    would take another branch than in the recording; 2 HOAD_SINGULAR, a matrix is exactly singular; 3 HOAD_PYTHON.
    Outputs are written only if it is 0.

    Examples
    --------
    >>> import ctypes
    >>> import numpy as np
    >>> import hoad
    >>> program = hoad.gradient(hoad.record(lambda x: np.sum(np.sin(x)), np.zeros(2)))
    >>> address = program.address()
    >>> call = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(address.call)
    >>> x, gradient = np.array([0.0, np.pi]), np.empty(2)
    >>> call(address.program, x.ctypes.data, gradient.ctypes.data)
    0
    >>> gradient
    array([ 1., -1.])
    """

    def __init__(self, lowered: Lowered, threads: Any, python: bool) -> None:
        check_threads("address", threads)
        if lowered.calls_python and not python:
            raise ArgumentError(
                "this program calls Python: a primitive in Python, or a loop that calls one, or runs for seconds. C "
                "code then waits for the GIL at each call, and an interpreter must run. If that is meant, say "
                "address(python=True)."
            )
        self._entry = EntryPoint(lowered, threads or os.cpu_count() or 1)

    call = CALL_ADDRESS

    @property
    def program(self) -> int:
        """The handle, a ``void *``."""
        return self._entry.program_address

    @property
    def n_inputs(self) -> int:
        """The number of doubles in all inputs."""
        return self._entry.n_inputs

    @property
    def n_outputs(self) -> int:
        """The number of doubles in all outputs."""
        return self._entry.n_outputs

    @property
    def error(self) -> BaseException | None:
        """The exception of the last call that returned HOAD_PYTHON."""
        return self._entry.error

    @property
    def ode(self) -> int:
        """The address of ``int hoad_ode(double t, const double *y, double *ydot, void *program)``.

        The right-hand side ẏ = f(t, y) of a program of (t, y), as integrators in C take it.

        Raises
        ------
        ShapeError
            If the inputs of the program are not a number t and as many numbers as it returns.

        Examples
        --------
        >>> import ctypes
        >>> import numpy as np
        >>> import hoad
        >>> address = hoad.record(lambda t, y: -t * y, 0.0, np.ones(3)).address()
        >>> f = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_double, *3 * [ctypes.c_void_p])(address.ode)
        >>> y, slope = np.array([1.0, 2.0, 3.0]), np.empty(3)
        >>> f(2.0, y.ctypes.data, slope.ctypes.data, address.program), slope
        (0, array([-2., -4., -6.]))
        """
        if self.n_inputs != self.n_outputs + 1:
            raise ShapeError(
                f"ode is for programs of (t, y) that give as many numbers as y has, but this one takes "
                f"{count(self.n_inputs, 'number')} and gives {count(self.n_outputs, 'number')}."
            )
        return ODE_ADDRESS

    def low_level_callable(self, signature: str = "double (double, void *)") -> Any:
        """The program as a `scipy.LowLevelCallable`, for `scipy.integrate.quad` and similar; it keeps this alive.

        Parameters
        ----------
        signature : str, optional
            ``"double (double, void *)"`` for a program of one number, ``"double (int, double *, void *)"`` for one of
            several.

        Returns
        -------
        scipy.LowLevelCallable
            A function whose value is nan if a call does not return HOAD_OK, or has the wrong number of arguments.

        Raises
        ------
        ArgumentError
            If the signature is unknown.
        ShapeError
            If the program does not have this number of inputs and one output.
        ImportError
            If SciPy is not installed.

        Examples
        --------
        >>> import numpy as np
        >>> from scipy.integrate import quad
        >>> import hoad
        >>> slope = hoad.gradient(hoad.record(np.sin, 0.0)).address().low_level_callable()
        >>> round(quad(slope, 0.0, np.pi / 2)[0], 12)
        1.0
        """
        from scipy import LowLevelCallable

        function, data = self._entry.scipy_parts(signature)
        return LowLevelCallable(function, data)

    def __repr__(self) -> str:
        return f"<Address: {count(self.n_inputs, 'number')} in, {count(self.n_outputs, 'number')} out>"


def get_include() -> str:
    """The folder of ``hoad.h``, to compile C code, or Cython code with ``from hoad.lowlevel cimport ...``.

    Returns
    -------
    str
        The folder, for ``include_dirs`` of an extension.

    Notes
    -----
    Cost: negligible.

    Examples
    --------
    >>> import os
    >>> import hoad
    >>> os.listdir(hoad.get_include())
    ['hoad.h']
    """
    return os.path.join(os.path.dirname(os.path.dirname(__file__)), "include")
