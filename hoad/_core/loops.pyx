"""Running a lowered program again and again: loops whose body was recorded once, without Python and without the GIL.

What an input takes at a step, and what becomes of an output, is said by a letter:

    ``c``  carried: an input takes what the output in the same place among the carried gave at the step before
    ``x``  an input takes the next row of an array
    ``k``  an input is the same at all steps
    ``y``  the output of every step is a row of the result
    ``s``  the outputs of all steps are summed
    ``w``  a truth value: the loop ends after the first step at which it is false
"""

import numpy as np

from cpython.exc cimport PyErr_CheckSignals
from cpython.object cimport PyObject
from libc.string cimport memcpy

cimport cython
cimport numpy as cnp

from hoad._core.blocks cimport give, take, take_zeroed
from hoad._core.engine cimport GUARD_FAILED, Lowered, Workspace
from hoad._core.tape cimport AVAL_BOOL, AVAL_FLOAT, Aval, aval_of, int32_t, int64_t

from hoad.errors import GuardError, ShapeError

cnp.import_array()

cdef enum:
    BETWEEN_SIGNALS = 1 << 16   # steps between two looks for an interruption

cdef struct Port:               # an input or an output
    char letter
    bint is_scalar              # a double in the register, else an address
    bint is_single              # made of float32
    int32_t register
    int32_t partner             # of an output that is carried: the input it becomes
    int64_t nbytes              # of one step
    int64_t width               # numbers of one step
    char* data                  # rows, sum, or two buffers in turn

cdef struct Pair:               # a double that is carried: read where one step leaves it, written where the next looks
    double* given
    double* taken
    double value


@cython.final
cdef class Loop:
    """The state of one run of a loop."""

    cdef Lowered program
    cdef Workspace work
    cdef Port* ports            # inputs, then outputs
    cdef int32_t n_in, n_out
    cdef Port** rows            # the inputs that take rows
    cdef Port** others          # the outputs but for doubles that are carried
    cdef Port* end              # the output that ends the loop, or NULL
    cdef Pair* pairs
    cdef int32_t n_rows, n_others, n_pairs
    cdef int64_t length, done
    cdef bint backwards
    cdef char* memory
    cdef int64_t size
    cdef list alive             # arrays that the ports point into
    cdef list results           # one for each output, None for what is carried

    def __cinit__(self, Lowered program not None, int64_t length, bint backwards):
        self.program = program
        self.n_in = program.n_inputs
        self.n_out = program.n_outputs
        self.length = length
        self.backwards = backwards
        self.alive = []
        self.results = []
        self.size = program.workspace_size(1)
        self.memory = <char*>take(self.size)
        self.ports = <Port*>take_zeroed(self.tables())
        if self.memory == NULL or self.ports == NULL:
            raise MemoryError(f"no memory for a workspace of {self.size} bytes")
        self.pairs = <Pair*>(self.ports + self.n_in + self.n_out)
        self.rows = <Port**>(self.pairs + self.n_out)
        self.others = self.rows + self.n_in
        program.lay_out(self.memory, 1, &self.work)
        self.work.threads = program.threads(0)

    def __dealloc__(self):
        give(self.memory, self.size)
        give(self.ports, self.tables())

    cdef int64_t tables(self) noexcept:
        """Bytes of the ports, the pairs and the lists of ports."""
        cdef int64_t ports = self.n_in + self.n_out
        return ports * (sizeof(Port) + sizeof(Port*)) + self.n_out * sizeof(Pair) + 8

    cdef object array(self, object value, tuple shape, object dtype):
        """A contiguous array that lives as long as the run."""
        made = np.ascontiguousarray(value, dtype=dtype).reshape(shape)
        self.alive.append(made)
        return made

    cdef int describe(self, Port* port, char letter, int32_t register, Aval aval) except -1:
        port.letter = letter
        port.register = register
        port.is_scalar = aval.number <= AVAL_BOOL
        port.is_single = aval.dtype == np.float32 or aval.dtype == np.complex64
        port.nbytes = sizeof(double) if port.is_scalar else aval.size * aval.itemsize
        port.width = port.nbytes // (4 if port.is_single else 8)
        port.partner = -1
        return 0

    cdef int place_inputs(self, str takes, list values) except -1:
        cdef int32_t k
        cdef Port* port
        cdef Aval aval
        cdef list held = []
        for k in range(self.n_in):
            port = &self.ports[k]
            aval = aval_of(self.program.inputs[k].aval)
            self.describe(port, ord(takes[k]), self.program.inputs[k].register, aval)
            shape = (self.length, *aval.shape) if port.letter == c"x" else aval.shape
            dtype = np.float64 if port.is_scalar else aval.dtype
            if np.shape(values[k]) != shape:
                raise ShapeError(f"input {k} of this loop takes shape {shape}, but {np.shape(values[k])} was given.")
            made = self.array(values[k], shape, dtype)
            port.data = <char*>cnp.PyArray_DATA(<cnp.ndarray>made)
            if port.letter == c"x":
                self.rows[self.n_rows] = port
                self.n_rows += 1
            held.append(made if port.letter != c"x" else np.zeros(aval.shape, dtype))
        self.alive.append(held)
        self.program.place_inputs(held, &self.work)
        return 0

    cdef int place_outputs(self, str gives) except -1:
        cdef int32_t k
        cdef int32_t carried = -1
        cdef Port* port
        cdef Aval aval
        for k in range(self.n_out):
            port = &self.ports[self.n_in + k]
            aval = aval_of(self.program.outputs[k].aval)
            self.describe(port, ord(gives[k]), self.program.outputs[k].register, aval)
            dtype = np.float64 if port.is_scalar else aval.dtype
            made = None
            if port.letter == c"c":
                carried += 1
                while self.ports[carried].letter != c"c":
                    carried += 1
                port.partner = carried
            if port.letter == c"c" and port.is_scalar:
                self.pairs[self.n_pairs].given = &self.work.uniform[port.register].d
                self.pairs[self.n_pairs].taken = &self.work.uniform[self.ports[carried].register].d
                self.n_pairs += 1
                self.results.append(None)
                continue
            if port.letter == c"w":
                self.end = port
            else:
                rows = 2 if port.letter == c"c" else self.length
                made = np.zeros(aval.shape, dtype) if port.letter == c"s" else np.empty((rows, *aval.shape), dtype)
                port.data = <char*>cnp.PyArray_DATA(<cnp.ndarray>made)
                self.alive.append(made)
                self.others[self.n_others] = port
                self.n_others += 1
            self.results.append(made)
        return 0

    # ---- steps

    cdef inline char* source(self, Port* port) noexcept nogil:
        """Where the value of a port lies after a step."""
        if port.is_scalar:
            return <char*>&self.work.uniform[port.register].d
        return <char*>self.work.uniform[port.register].o

    cdef inline void enter(self, Port* port, char* data) noexcept nogil:
        """Let an input take what lies at an address."""
        if port.is_scalar:
            self.work.uniform[port.register].d = (<double*>data)[0]
        else:
            self.work.uniform[port.register].o = <PyObject*>data

    cdef int run(self) except -1:
        """All steps."""
        cdef int code = 0
        with nogil:
            while self.done < self.length:
                code = self.step()
                if code:
                    break
                self.done += 1
                if self.ends():
                    break
                if self.done % BETWEEN_SIGNALS == 0:
                    with gil:
                        PyErr_CheckSignals()
        if code:
            raise_at_step(self.program, code, &self.work, self.done)
        return 0

    cdef inline int step(self) noexcept nogil:
        cdef int64_t row = self.length - 1 - self.done if self.backwards else self.done
        cdef int64_t turn = self.done & 1
        cdef Port* port
        cdef int32_t k
        cdef int code
        for k in range(self.n_rows):
            port = self.rows[k]
            self.enter(port, port.data + row * port.nbytes)
        code = self.program.run_uniform(&self.work)     # nothing has lanes here
        if not code and self.program.n_checks:
            code = self.program.check(&self.work)
        if code:
            return code
        for k in range(self.n_others):
            port = self.others[k]
            if port.letter == c"s":
                add(port, self.source(port))
            else:
                memcpy(port.data + (turn if port.letter == c"c" else row) * port.nbytes, self.source(port), port.nbytes)
        for k in range(self.n_others):
            port = self.others[k]
            if port.letter == c"c":
                self.enter(&self.ports[port.partner], port.data + turn * port.nbytes)
        for k in range(self.n_pairs):       # one may be given where another is taken
            self.pairs[k].value = self.pairs[k].given[0]
        for k in range(self.n_pairs):
            self.pairs[k].taken[0] = self.pairs[k].value
        return 0

    cdef inline bint ends(self) noexcept nogil:
        """Whether the loop is to end here."""
        return self.end != NULL and self.work.uniform[self.end.register].d == 0

    # ---- what comes of it

    cdef list collected(self):
        cdef int32_t k
        cdef Port* port
        cdef Aval aval
        cdef list found = []
        for k in range(self.n_out):
            port = &self.ports[self.n_in + k]
            aval = aval_of(self.program.outputs[k].aval)
            if port.letter == c"w":
                continue
            value = self.results[k]
            if port.letter == c"c":
                value = self.last(port, aval)
            if aval.number == AVAL_BOOL:
                value = value.astype(bool)
            if port.letter != c"y" and not aval.ndim:
                value = float(value) if aval.number == AVAL_FLOAT else value[()]
            found.append(value)
        return found

    cdef object last(self, Port* port, Aval aval):
        """What was carried out of the last step, or in where there was none."""
        made = np.empty(aval.shape, np.float64 if port.is_scalar else aval.dtype)
        cdef char* data = self.ports[port.partner].data
        if self.done:
            data = (<char*>&self.work.uniform[self.ports[port.partner].register].d if port.is_scalar
                    else port.data + ((self.done - 1) & 1) * port.nbytes)
        memcpy(cnp.PyArray_DATA(<cnp.ndarray>made), data, port.nbytes)
        return made


cdef int raise_at_step(Lowered program, int code, Workspace* work, int64_t step) except -1:
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


cdef void add(Port* port, char* term) noexcept nogil:
    """Add a step's output to the sum."""
    cdef int64_t i
    if port.is_single:
        for i in range(port.width):
            (<float*>port.data)[i] += (<float*>term)[i]
    else:
        for i in range(port.width):
            (<double*>port.data)[i] += (<double*>term)[i]


def run_loop(Lowered program, str takes, str gives, values, int64_t length, bint backwards=False):
    """Run a program `length` times (fewer where an output ``w`` ends it): (results of the outputs, steps done)."""
    cdef Loop loop = Loop(program, length, backwards)
    loop.place_inputs(takes, list(values))
    loop.place_outputs(gives)
    loop.run()
    return loop.collected(), loop.done
