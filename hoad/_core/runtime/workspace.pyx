"""Workspaces for programs within programs, and how values go in and out of them.

Nothing here needs the GIL once it is made: a run takes a workspace that nobody uses, or a new one. Small ones are kept
laid out from the second run on, for a program that runs but once has no use for them.
"""

import numpy as np

from cpython.pythread cimport (
    NOWAIT_LOCK, PyThread_acquire_lock, PyThread_allocate_lock, PyThread_free_lock, PyThread_release_lock,
)
from libc.stdlib cimport free, malloc

cimport cython
cimport numpy as cnp

from hoad._core.base.blocks cimport give, required, take_zeroed
from hoad._core.runtime.engine cimport GUARD_FAILED, no_memory
from hoad._core.ops.plan cimport FAILED_WITHIN
from hoad._core.graph.tape cimport AVAL_BOOL, aval_of

from hoad.errors import GuardError, ShapeError

cnp.import_array()

cdef enum:
    SMALL = 1 << 15             # bytes of a workspace that is kept
    DEEPEST = 32                # native runs in one another

cdef int64_t TOO_LONG = <int64_t>1 << 31        # numbers: some seconds, in which Python would look for an interruption


@cython.final
cdef class Spaces:
    """Workspaces of a program with so many lanes, each with `more` bytes beside its registers."""

    def __cinit__(self, Lowered program not None, int32_t lanes, int64_t more):
        cdef int k
        self.program = program
        self.lanes = lanes
        self.size = (program.workspace_size(lanes) + 15) & ~<int64_t>15
        self.more = more
        self.is_small = self.size + more <= SMALL
        if self.is_small:
            for k in range(MOST_KEPT):
                self.kept[k].lock = required(PyThread_allocate_lock())

    def __dealloc__(self):
        cdef int k
        for k in range(MOST_KEPT):
            free(self.kept[k].memory)
            if self.kept[k].lock != NULL:
                PyThread_free_lock(self.kept[k].lock)

    cdef Space* enter(self) noexcept nogil:
        """A space for one run, or NULL where there is no memory."""
        cdef int k
        cdef Space* space
        if self.is_warm:
            for k in range(MOST_KEPT):
                space = &self.kept[k]
                if not PyThread_acquire_lock(space.lock, NOWAIT_LOCK):
                    continue
                if space.memory != NULL or self.prepare(space):
                    return space
                PyThread_release_lock(space.lock)
                return NULL
        self.is_warm = self.is_small
        space = <Space*>malloc(sizeof(Space))
        if space == NULL:
            return NULL
        space.lock = NULL
        if self.prepare(space):
            return space
        free(space)
        return NULL

    cdef bint prepare(self, Space* space) noexcept nogil:
        """Give a space its memory."""
        space.memory = <char*>malloc(self.size + self.more + 1)
        if space.memory == NULL:
            return False
        space.more = space.memory + self.size
        self.program.lay_out(space.memory, self.lanes, &space.work)
        self.program.place_presets(&space.work)
        return True

    cdef void leave(self, Space* space) noexcept nogil:
        """The run is over."""
        if space.lock != NULL:
            PyThread_release_lock(space.lock)
            return
        free(space.memory)
        free(space)


cdef int64_t outside(AbstractValue aval):
    """Bytes of a value where arrays of its kind lie: a boolean is a byte."""
    return aval.size * aval.itemsize


cdef int describe(ProgramPort* port, int32_t register, AbstractValue aval) except -1:
    port.register = register
    port.is_scalar = aval.number <= AVAL_BOOL
    port.is_truth = aval.number == AVAL_BOOL
    port.nbytes = outside(aval)
    return 0


# ---- loops and lanes -------------------------------------------------------------------------------------------------

cdef object rows_of(Lowered program, int32_t k, object value, int64_t length):
    """A value of input k as a contiguous array, of so many rows unless their number is negative."""
    cdef AbstractValue aval = aval_of(program.inputs[k].aval)
    shape = aval.shape if length < 0 else (length, *aval.shape)
    if np.shape(value) != shape:
        raise ShapeError(f"input {k} of this loop takes shape {shape}, but {np.shape(value)} was given.")
    return np.ascontiguousarray(value, dtype=aval.dtype).reshape(shape)


cdef cnp.ndarray addresses(list arrays):
    """Where the data of arrays lie."""
    cdef cnp.ndarray found = np.empty(len(arrays), np.intp)
    cdef Py_ssize_t k
    for k in range(len(arrays)):
        (<void**>cnp.PyArray_DATA(found))[k] = cnp.PyArray_DATA(<cnp.ndarray>arrays[k])
    return found


cdef int raise_at_step(Lowered program, int code, Registers* work, int64_t step) except -1:
    """Raise what went wrong; of a guard, say at which step."""
    try:
        return program.raise_failure(code, work)
    except GuardError as error:
        if code != GUARD_FAILED:        # one of a program within
            raise
        k = program.checks[work.failed_check].guard
        found = program.graph.guards[k].code
        line = f" at {(<object>found).co_filename}:{program.graph.guards[k].line}" if found != NULL else ""
        raise GuardError(
            f"the body of this loop was recorded once, with a branch{line} that its step {step} does not take. Write "
            "np.where in place of the branch, or a Python loop in place of this one."
        ) from error


# ---- a call ---------------------------------------------------------------------------------------------------------


@cython.final
cdef class Call(NativeCall):
    """A program that runs once, in so many threads at most; 0 for any."""

    def __cinit__(self, Lowered program not None, int32_t most=0):
        cdef int32_t k
        cdef int32_t count = program.n_inputs + program.n_outputs
        cdef set seen = set()
        self.program = program
        self.spaces = Spaces(program, 1, 0)
        self.n_in, self.n_out = program.n_inputs, program.n_outputs
        self.may_fail = program.may_fail()
        self.depth = program.native_depth() + 1
        self.numbers = program.numbers()
        self.worth = min(program.worth, most) if most else program.worth
        self.ports = <ProgramPort*>required(take_zeroed(count * sizeof(ProgramPort) + 1))
        self.made_there = <bint*>required(take_zeroed(self.n_out * sizeof(bint) + 1))
        for k in range(self.n_in):
            describe(&self.ports[k], program.inputs[k].register, aval_of(program.inputs[k].aval))
        for k in range(self.n_out):
            register = program.outputs[k].register
            describe(&self.ports[self.n_in + k], register, aval_of(program.outputs[k].aval))
            self.made_there[k] = program.uniform[<int32_t>register] > 0 and register not in seen
            seen.add(register)

    def __dealloc__(self):
        give(self.ports, (self.n_in + self.n_out) * sizeof(ProgramPort) + 1)
        give(self.made_there, self.n_out * sizeof(bint) + 1)

    cdef int call(self, char** operands, char** results, int32_t threads) noexcept nogil:
        cdef int32_t k
        cdef Space* space = self.spaces.enter()
        cdef ProgramPort* outputs = self.ports + self.n_in
        if space == NULL:
            return no_memory()
        space.work.threads = min(threads, self.worth) if self.worth > 1 else 1
        for k in range(self.n_in):
            put(&space.work, &self.ports[k], operands[k])
        for k in range(self.n_out):
            if self.made_there[k]:
                space.work.uniform[outputs[k].register].o = <PyObject*>results[k]
        cdef int code = self.program.interpret(&space.work)
        if not code:
            for k in range(self.n_out):
                get(&space.work, &outputs[k], results[k])
        self.spaces.leave(space)
        return FAILED_WITHIN if code == GUARD_FAILED else code


def offered(Lowered program not None, NativeCall native not None):
    """A native run of a program; None if that calls Python, or takes so long that somebody may want to interrupt it.

    Nor if it is too deep for a thread's stack: Python counts its calls.
    """
    return None if program.calls_python or native.numbers > TOO_LONG or native.depth > DEEPEST else native
