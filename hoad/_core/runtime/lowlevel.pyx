"""Programs called from C: numbers in, numbers out, without Python and from any thread.

A handle is the address of an `EntryPoint`. It has a few workspaces, laid out beforehand, so that a call neither
allocates nor needs the GIL: that may be held by one who waits for the threads that call.
"""

import numpy as np

from cpython.object cimport PyObject
from cpython.pycapsule cimport PyCapsule_GetContext, PyCapsule_New, PyCapsule_SetContext
from cpython.pythread cimport (
    NOWAIT_LOCK, WAIT_LOCK, PyThread_acquire_lock, PyThread_allocate_lock, PyThread_free_lock, PyThread_release_lock,
    PyThread_type_lock,
)
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.string cimport memcpy

cimport cython

from hoad._core.base.blocks cimport give, required, take, take_zeroed
from hoad._core.runtime.engine cimport GUARD_FAILED, Lowered, Registers
from hoad._core.ops.plan cimport FAILED_SINGULAR, FAILED_WITHIN
from hoad._core.graph.tape cimport AVAL_BOOL, AbstractValue, aval_of, int32_t, int64_t

from hoad.errors import ArgumentError, DTypeError, ShapeError

cdef double NAN = float("nan")

cdef struct EntryPort:               # an input or an output
    int32_t register
    bint is_scalar              # a double in the register, else an address
    int64_t first, count        # of its doubles among all

# Not a `Space`: all are laid out before the first call, which so allocates nothing, and are waited for.
cdef struct CallSpace:              # what one call at a time writes to
    PyThread_type_lock lock
    char* memory
    double* inputs              # of calls that have them in pieces
    Registers work


@cython.final
cdef class EntryPoint:
    """A lowered program, ready to be called from C by as many threads at a time as it has spaces."""

    cdef Lowered program
    cdef bint takes_gil                 # a step calls Python
    cdef EntryPort* ports                    # inputs, then outputs
    cdef int32_t n_in, n_ports
    cdef readonly int64_t n_inputs, n_outputs       # doubles
    cdef CallSpace* spaces
    cdef int32_t n_spaces
    cdef int64_t size                   # bytes of a workspace
    cdef list held                      # what the workspaces point into before they are first used
    cdef readonly object error          # what Python raised last

    def __cinit__(self, Lowered program not None, int32_t spaces):
        cdef int32_t k
        self.program = program
        self.takes_gil = program.calls_python
        self.size = program.workspace_size(1)
        self.n_in = program.n_inputs
        self.n_ports = program.n_inputs + program.n_outputs
        self.ports = <EntryPort*>required(take_zeroed(self.n_ports * sizeof(EntryPort) + 1))
        self.spaces = <CallSpace*>required(take_zeroed(spaces * sizeof(CallSpace)))
        self.n_spaces = spaces
        self.held = []
        for k in range(self.n_in):
            aval = aval_of(program.inputs[k].aval)
            self.describe(&self.ports[k], program.inputs[k].register, aval, "input", k)
            self.ports[k].first = self.n_inputs
            self.n_inputs += self.ports[k].count
            self.held.append(np.zeros(aval.shape, np.float64 if aval.number <= AVAL_BOOL else aval.dtype))
        for k in range(program.n_outputs):
            port = &self.ports[self.n_in + k]
            self.describe(port, program.outputs[k].register, aval_of(program.outputs[k].aval), "output", k)
            port.first = self.n_outputs
            self.n_outputs += port.count
        for k in range(spaces):
            self.prepare(&self.spaces[k])

    def __dealloc__(self):
        cdef int32_t k
        for k in range(self.n_spaces):
            give(self.spaces[k].memory, self.size)
            give(self.spaces[k].inputs, self.n_inputs * sizeof(double) + 1)
            if self.spaces[k].lock != NULL:
                PyThread_free_lock(self.spaces[k].lock)
        give(self.spaces, self.n_spaces * sizeof(CallSpace))
        give(self.ports, self.n_ports * sizeof(EntryPort) + 1)

    cdef int describe(self, EntryPort* port, int32_t register, AbstractValue aval, str what, int32_t k) except -1:
        port.register = register
        port.is_scalar = aval.number <= AVAL_BOOL
        if not port.is_scalar and aval.dtype != np.float64 and aval.dtype != np.complex128:
            raise DTypeError(
                f"address gives programs of float64 and complex128 to C, but {what} {k} of this one is {aval.dtype}. "
                "Convert it in the function: x.astype(np.float64)."
            )
        port.count = 1 if port.is_scalar else aval.size * (aval.itemsize // <int64_t>sizeof(double))
        return 0

    cdef int prepare(self, CallSpace* space) except -1:
        space.memory = <char*>take(self.size)
        space.inputs = <double*>take(self.n_inputs * sizeof(double) + 1)
        space.lock = PyThread_allocate_lock()
        if space.memory == NULL or space.inputs == NULL or space.lock == NULL:
            raise MemoryError(f"no memory for a workspace of {self.size} bytes")
        self.program.lay_out(space.memory, 1, &space.work)
        self.program.place_inputs(self.held, &space.work)
        return 0

    # ---- a call

    cdef CallSpace* taken(self) noexcept nogil:
        """A space that nobody uses, which is the caller's until its lock is released."""
        cdef int32_t k
        for k in range(self.n_spaces):
            if PyThread_acquire_lock(self.spaces[k].lock, NOWAIT_LOCK):
                return &self.spaces[k]
        PyThread_acquire_lock(self.spaces[0].lock, WAIT_LOCK)
        return &self.spaces[0]

    cdef int run(self, CallSpace* space, const double* inputs, double* outputs) noexcept nogil:
        """Call the program in a space, and let go of it."""
        cdef int32_t k
        cdef EntryPort* port
        for k in range(self.n_in):
            port = &self.ports[k]
            if port.is_scalar:
                space.work.uniform[port.register].d = inputs[port.first]
            else:
                space.work.uniform[port.register].o = <PyObject*>(inputs + port.first)
        cdef int code = self.program.interpret(&space.work)
        if not code:
            for k in range(self.n_in, self.n_ports):
                port = &self.ports[k]
                if port.is_scalar:
                    outputs[port.first] = space.work.uniform[port.register].d
                else:
                    memcpy(outputs + port.first, space.work.uniform[port.register].o, port.count * sizeof(double))
        PyThread_release_lock(space.lock)
        return code

    # ---- addresses, for Python

    @property
    def program_address(self):
        """The handle."""
        return <size_t><void*>self

    def scipy_parts(self, str signature not None):
        """(function, data) as capsules, which keep this alive, for scipy.LowLevelCallable."""
        cdef bint of_one = signature == "double (double, void *)"
        if not of_one and signature != "double (int, double *, void *)":
            raise ArgumentError(
                "low_level_callable knows the signatures 'double (double, void *)' and 'double (int, double *, void "
                f"*)', but not {signature!r}. For others write a function in C or Cython that calls hoad_call."
            )
        if self.n_outputs != 1 or (of_one and self.n_inputs != 1):
            raise ShapeError(
                f"{signature} is a function of {'a number' if of_one else 'numbers'} with one result, but this program "
                f"takes {self.n_inputs} and gives {self.n_outputs}."
            )
        function = PyCapsule_New(<void*>of_number if of_one else <void*>of_numbers,
                                 ONE if of_one else SEVERAL, NULL)
        data = PyCapsule_New(<void*>self, NULL, release)
        Py_INCREF(self)
        PyCapsule_SetContext(data, <void*>self)
        return function, data


cdef const char* ONE = "double (double, void *)"
cdef const char* SEVERAL = "double (int, double *, void *)"

CALL_ADDRESS = <size_t><void*>hoad_call
ODE_ADDRESS = <size_t><void*>hoad_ode


cdef void release(object capsule) noexcept:
    Py_DECREF(<object>PyCapsule_GetContext(capsule))


cdef void* hoad_program(object address) except NULL:
    """The handle of an `Address`."""
    return <void*><size_t>address.program


# ---- C functions ----------------------------------------------------------------------------------------------------


cdef int hoad_call(void* program, const double* inputs, double* outputs) noexcept nogil:
    if (<EntryPoint>program).takes_gil:
        return call_with_gil(program, inputs, outputs)
    return code_of((<EntryPoint>program).run((<EntryPoint>program).taken(), inputs, outputs))


cdef int hoad_ode(double t, const double* y, double* ydot, void* program) noexcept nogil:
    if (<EntryPoint>program).takes_gil:
        return ode_with_gil(program, t, y, ydot)
    cdef CallSpace* space = (<EntryPoint>program).taken()
    joined(space, t, y, (<EntryPoint>program).n_inputs)
    return code_of((<EntryPoint>program).run(space, space.inputs, ydot))


cdef double of_number(double x, void* program) noexcept nogil:
    """As SciPy calls a function of a number: nan where it has no value."""
    cdef double p
    return NAN if hoad_call(program, &x, &p) else p


cdef double of_numbers(int n, double* x, void* program) noexcept nogil:
    cdef double p
    return NAN if n != (<EntryPoint>program).n_inputs or hoad_call(program, x, &p) else p


cdef void joined(CallSpace* space, double t, const double* y, int64_t n) noexcept nogil:
    """(t, y) one after another."""
    space.inputs[0] = t
    memcpy(space.inputs + 1, y, (n - 1) * sizeof(double))


cdef inline int code_of(int code) noexcept nogil:
    if code == 0:
        return HOAD_OK
    if code == GUARD_FAILED or code == FAILED_WITHIN:
        return HOAD_BRANCH
    return HOAD_SINGULAR if code == FAILED_SINGULAR else HOAD_PYTHON


# A program that calls Python keeps the state of its thread from before its first step until its exception is taken. It
# waits for a space without the GIL, which the one who has the space may need.

cdef int call_with_gil(void* program, const double* inputs, double* outputs) noexcept with gil:
    cdef EntryPoint entry = <EntryPoint>program
    cdef int code
    with nogil:
        code = entry.run(entry.taken(), inputs, outputs)
    return noted(entry, code)


cdef int ode_with_gil(void* program, double t, const double* y, double* ydot) noexcept with gil:
    cdef EntryPoint entry = <EntryPoint>program
    cdef CallSpace* space
    cdef int code
    with nogil:
        space = entry.taken()
        joined(space, t, y, entry.n_inputs)
        code = entry.run(space, space.inputs, ydot)
    return noted(entry, code)


cdef int noted(EntryPoint entry, int code):
    """The code; an exception that is set becomes `error`."""
    if code_of(code) == HOAD_PYTHON:
        try:
            entry.program.raise_failure(code, NULL)
        except BaseException as error:
            entry.error = error
    return code_of(code)
