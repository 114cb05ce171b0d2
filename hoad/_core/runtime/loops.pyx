"""Running a lowered program again and again: loops whose body was recorded once, without Python and without the GIL.

What an input takes at a step, and what becomes of an output, is said by a letter:

    ``c``  carried: an input takes what the output in the same place among the carried gave at the step before
    ``x``  an input takes the next row of an array
    ``k``  an input is the same at all steps
    ``y``  the output of every step is a row of the result
    ``s``  the outputs of all steps are summed
    ``w``  a boolean: the loop ends after the first step at which it is false

Functions of rows alone do not wait for the steps: they may be computed ahead, for some hundred rows at once, as lanes.
"""

import numpy as np

from cpython.exc cimport PyErr_CheckSignals
from libc.string cimport memcpy, memset

cimport cython
cimport numpy as cnp

from hoad._core.base.blocks cimport give, required, take_zeroed
from hoad._core.graph.primitive cimport INFO
from hoad._core.graph.reach cimport mark_needed, marks_in
from hoad._core.runtime.engine cimport BYTECODE_STEP, GUARD_FAILED, Lowered, Registers, no_memory
from hoad._core.kernels.native_call cimport NativeCall
from hoad._core.ops.plan cimport FAILED_WITHIN, UNFINISHED
from hoad._core.runtime.lanes cimport LaneRun, Map
from hoad._core.runtime.scalar_bytecode cimport MachineLoop, ScalarBytecode, ScalarLoop, scalar_loop
from hoad._core.runtime.workspace cimport (
    ProgramPort, Space, Spaces, addresses, describe, get, put, raise_at_step, rows_of,
)
from hoad._core.graph.tape cimport (
    ARITY, AVAL_FLOAT, F_WIDE, OP_ABSOLUTE, OP_ADD, OP_DIVIDE, OP_MULTIPLY, OP_NEGATIVE, OP_SQRT, OP_SQUARE,
    OP_SUBTRACT, AbstractValue, Graph, Node, Slot, aval_of, int32_t, int64_t, operand_aval, uint8_t, uint16_t,
)

from hoad._core.kernels.vector import target

cnp.import_array()

cdef enum:
    BETWEEN_SIGNALS = 1 << 16   # steps between two looks for an interruption
    OFTEN = 1 << 28             # numbers between two of them, where steps are long
    CHUNKS_AHEAD = 4            # of lanes, whose functions are computed at once
    BY_ROWS = 1                 # marks of what depends on rows of numbers,
    BY_OTHERS = 2               # and on inputs that are known at the step itself

cdef bint IS_PORTABLE = target() == "portable"      # whose kernels are no faster than the C library

cdef double ENDLESS = 4e18      # numbers

cdef struct Role:               # what an input takes, or an output gives
    ProgramPort port
    char letter
    bint is_single              # made of float32
    int32_t at                  # which operand, or result
    int32_t partner             # of an output that is carried: the input it becomes
    int64_t buffers             # of an array that is carried: where two buffers in turn lie, among `more`

cdef struct Pair:               # a double that is carried: read where one step leaves it, written where the next looks
    int32_t given, taken
    int64_t held                # in between, among `more`

cdef struct LoopRun:                # one run of a loop
    Space* space
    Registers* work
    char* more
    char** operands
    char** results
    int64_t done
    bint ended
    Space* space_ahead
    LaneRun lanes
    int64_t ready               # steps whose functions of rows are there


@cython.final
cdef class LoopCall(NativeCall):
    """A program to be run again and again: what its inputs take and its outputs give, for so many steps.

    Its last inputs take what `ahead` gives of the rows.
    """

    cdef Lowered program
    cdef Spaces spaces
    cdef Role* roles            # inputs, then outputs
    cdef int32_t n_in, n_out
    cdef Role** rows            # the inputs that take rows
    cdef Role** others          # the outputs but for doubles that are carried
    cdef Role* ending           # the output that ends the loop, or NULL
    cdef Pair* pairs
    cdef int32_t n_rows, n_others, n_pairs
    cdef int64_t length
    cdef bint backwards
    cdef ScalarLoop scalar      # where its steps are nothing but operations on numbers
    cdef Map ahead
    cdef int32_t n_ahead        # inputs
    cdef int64_t streams_at, rows_at    # where the pointers and the rows for `ahead` lie, among `more`

    def __cinit__(self, Lowered program not None, str takes, str gives, int64_t length, bint backwards, Map ahead=None):
        cdef int64_t more = 0
        self.program = program
        self.ahead = ahead
        self.n_in, self.n_out = program.n_inputs, program.n_outputs
        self.length = length
        self.backwards = backwards
        self.may_fail = program.may_fail()
        self.depth = program.native_depth() + 1
        self.numbers = <int64_t>min(<double>length * program.numbers(), ENDLESS)
        self.roles = <Role*>required(take_zeroed(self.tables()))
        self.pairs = <Pair*>(self.roles + self.n_in + self.n_out)
        self.rows = <Role**>(self.pairs + self.n_out)
        self.others = self.rows + self.n_in
        self.take_roles(takes)
        more = self.give_roles(gives)
        if ahead is not None:
            self.n_ahead = ahead.n_streams - ahead.n_in
            self.streams_at = more
            self.rows_at = more + (self.n_in + ahead.n_streams) * <int64_t>sizeof(char*)
            more = self.rows_at + self.n_ahead * self.bytes_ahead()
        self.spaces = Spaces(program, 1, more)
        self.scalar = self.as_scalar_loop()

    def __dealloc__(self):
        give(self.roles, self.tables())

    cdef inline int64_t bytes_ahead(self) noexcept nogil:
        """Bytes of the rows of one function that are there at a time."""
        return CHUNKS_AHEAD * self.ahead.width * <int64_t>sizeof(double)

    cdef int64_t tables(self) noexcept:
        """Bytes of the roles, the pairs and the lists of roles."""
        cdef int64_t roles = self.n_in + self.n_out
        return roles * (sizeof(Role) + sizeof(Role*)) + self.n_out * sizeof(Pair) + 8

    cdef int take_roles(self, str takes) except -1:
        cdef int32_t k
        cdef Role* role
        for k in range(self.n_in):
            role = &self.roles[k]
            describe(&role.port, self.program.inputs[k].register, aval_of(self.program.inputs[k].aval))
            role.letter = ord(takes[k])
            role.at = k
            if role.letter == c"x":
                self.rows[self.n_rows] = role
                self.n_rows += 1
        return 0

    cdef int64_t give_roles(self, str gives) except -1:
        """The bytes that a run takes for what is carried."""
        cdef int32_t k
        cdef int32_t carried = -1
        cdef int32_t at = 0
        cdef int64_t more = 0
        cdef Role* role
        cdef AbstractValue aval
        for k in range(self.n_out):
            role = &self.roles[self.n_in + k]
            aval = aval_of(self.program.outputs[k].aval)
            describe(&role.port, self.program.outputs[k].register, aval)
            role.letter = ord(gives[k])
            role.is_single = aval.dtype == np.float32 or aval.dtype == np.complex64
            role.at = at
            if role.letter == c"w":
                self.ending = role
                continue
            at += 1
            if role.letter == c"c":
                carried += 1
                while self.roles[carried].letter != c"c":
                    carried += 1
                role.partner = carried
                if role.port.is_scalar:
                    self.pairs[self.n_pairs].given = role.port.register
                    self.pairs[self.n_pairs].taken = self.roles[carried].port.register
                    self.pairs[self.n_pairs].held = more
                    self.n_pairs += 1
                    more += sizeof(double)
                    continue
                role.buffers = more
                more += 2 * ((role.port.nbytes + 15) & ~<int64_t>15)
            self.others[self.n_others] = role
            self.n_others += 1
        return more

    cdef ScalarLoop as_scalar_loop(self):
        """The loop as one that may become machine code, or None."""
        cdef Lowered program = self.program
        cdef ScalarLoop made
        cdef int32_t k
        if program.n_steps != 1 or program.steps[0].form != BYTECODE_STEP or program.n_checks or program.n_broadcasts:
            return None
        for k in range(self.n_rows):
            if not is_number(self.rows[k]):
                return None
        for k in range(self.n_others):
            if self.others[k].letter == c"c" or not is_number(self.others[k]):
                return None
        made = scalar_loop(<ScalarBytecode>program.parts[program.steps[0].a], program.n_uniform, self.n_rows,
                           self.n_others, self.n_pairs)
        if made is None:
            return None
        for k in range(self.n_rows):
            made.form.rows[k].number, made.form.rows[k].at = self.rows[k].port.register, self.rows[k].at
        for k in range(self.n_others):
            made.form.results[k].number, made.form.results[k].at = self.others[k].port.register, self.others[k].at
            made.form.results[k].is_sum = self.others[k].letter == c"s"
        for k in range(self.n_pairs):
            made.form.carried[k].number, made.form.carried[k].at = self.pairs[k].given, self.pairs[k].taken
        if self.ending != NULL:
            made.form.end = self.ending.port.register
        return made

    # ---- steps

    cdef int call(self, char** operands, char** results, int32_t threads) noexcept nogil:
        cdef LoopRun run
        cdef int code = self.begin(&run, operands, results)
        if not code:
            code = self.advance(&run, self.length)
        if not code:
            self.finish(&run)
        self.end(&run)
        return FAILED_WITHIN if code == GUARD_FAILED else code

    cdef int begin(self, LoopRun* run, char** operands, char** results) noexcept nogil:
        """Before the first step."""
        cdef int32_t k
        memset(run, 0, sizeof(LoopRun))
        run.operands, run.results = operands, results
        run.space = self.spaces.enter()
        if run.space == NULL:
            return no_memory()
        run.work, run.more = &run.space.work, run.space.more
        for k in range(self.n_in - self.n_ahead):
            if self.roles[k].letter != c"x":
                put(run.work, &self.roles[k].port, operands[k])
        for k in range(self.n_others):
            if self.others[k].letter == c"s":
                memset(results[self.others[k].at], 0, self.others[k].port.nbytes)
        return 0 if self.ahead is None else self.begin_ahead(run)

    cdef int begin_ahead(self, LoopRun* run) noexcept nogil:
        """Let functions of rows have pointers of their own to what the loop is given."""
        cdef int64_t given = self.ahead.n_in * sizeof(char*)
        run.space_ahead = self.ahead.spaces.enter()
        if run.space_ahead == NULL:
            return no_memory()
        run.lanes.data = <char**>(run.more + self.streams_at) + self.n_in
        memcpy(run.lanes.data, run.operands, given)
        run.operands = <char**>memcpy(run.more + self.streams_at, run.operands, given)
        return self.ahead.begin(&run.lanes, run.space_ahead)

    cdef void end(self, LoopRun* run) noexcept nogil:
        """The run is over."""
        if run.space_ahead != NULL:
            self.ahead.spaces.leave(run.space_ahead)
        if run.space != NULL:
            self.spaces.leave(run.space)

    cdef int advance(self, LoopRun* run, int64_t stop) noexcept nogil:
        """Steps up to so many in all, or to where the loop ends."""
        cdef int code = 0
        if self.ahead is None:
            return self.take_steps(run, stop)
        while run.done < stop and not run.ended and not code:
            if run.done == run.ready:
                code = self.look_ahead(run)
            if not code:
                code = self.take_steps(run, min(stop, run.ready))
        return code

    cdef int look_ahead(self, LoopRun* run) noexcept nogil:
        """Compute the functions of the rows that the next steps take."""
        cdef int64_t width = self.ahead.width
        cdef int64_t first, end
        cdef int32_t k
        if self.backwards:
            end = (self.length - run.ready + width - 1) // width
            first = max(end - CHUNKS_AHEAD, <int64_t>0)
        else:
            first = run.ready // width
            end = min(first + CHUNKS_AHEAD, self.ahead.chunks)
        run.ready += min(end * width, self.length) - first * width
        for k in range(self.n_ahead):       # where the row of number 0 would lie
            run.operands[self.ahead.n_in + k] = run.lanes.data[self.ahead.n_in + k] = (
                run.more + self.rows_at + k * self.bytes_ahead() - first * width * <int64_t>sizeof(double))
        run.lanes.chunk = first
        return self.ahead.advance(&run.lanes, end)

    cdef int take_steps(self, LoopRun* run, int64_t stop) noexcept nogil:
        """Steps whose operands are there."""
        cdef MachineLoop machine
        cdef int code
        if self.scalar is not None and run.done < stop and not run.ended:
            machine = self.scalar.made(stop - run.done)
            if machine != NULL:
                run.done = stop - machine(<double*>run.work.uniform, run.operands, run.results, self.row(run),
                                          -1 if self.backwards else 1, stop - run.done)
                run.ended = self.has_ended(run)
                return 0
        while run.done < stop and not run.ended:
            code = self.step(run)
            if code:
                return code
            run.done += 1
            run.ended = self.has_ended(run)
        return 0

    cdef inline bint has_ended(self, LoopRun* run) noexcept nogil:
        """Whether the loop ends after the step that was taken last."""
        return self.ending != NULL and run.work.uniform[self.ending.port.register].d == 0

    cdef inline int64_t row(self, LoopRun* run) noexcept nogil:
        """The row of the next step."""
        return self.length - 1 - run.done if self.backwards else run.done

    cdef inline int step(self, LoopRun* run) noexcept nogil:
        cdef int64_t row = self.row(run)
        cdef Role* role
        cdef int32_t k
        for k in range(self.n_rows):
            role = self.rows[k]
            put(run.work, &role.port, run.operands[role.at] + row * role.port.nbytes)
        cdef int code = self.program.run_uniform(run.work)       # nothing has lanes here
        if not code and self.program.n_checks:
            code = self.program.check(run.work)
        if code:
            return code
        for k in range(self.n_others):
            role = self.others[k]
            if role.letter == c"s":
                self.add(run, role)
            elif role.letter == c"y":
                get(run.work, &role.port, run.results[role.at] + row * role.port.nbytes)
            else:
                get(run.work, &role.port, self.buffer(run, role))
        self.carry(run)
        return 0

    cdef inline char* buffer(self, LoopRun* run, Role* role) noexcept nogil:
        """Where a step puts an array that is carried."""
        return run.more + role.buffers + (run.done & 1) * ((role.port.nbytes + 15) & ~<int64_t>15)

    cdef inline void carry(self, LoopRun* run) noexcept nogil:
        """Let the next step take what this one gave."""
        cdef Role* role
        cdef int32_t k
        for k in range(self.n_others):
            role = self.others[k]
            if role.letter == c"c":
                put(run.work, &self.roles[role.partner].port, self.buffer(run, role))
        for k in range(self.n_pairs):       # one may be given where another is taken
            (<double*>(run.more + self.pairs[k].held))[0] = run.work.uniform[self.pairs[k].given].d
        for k in range(self.n_pairs):
            run.work.uniform[self.pairs[k].taken].d = (<double*>(run.more + self.pairs[k].held))[0]

    cdef inline void add(self, LoopRun* run, Role* role) noexcept nogil:
        """Add a step's output to the sum."""
        cdef char* sums = run.results[role.at]
        cdef Slot* slot = &run.work.uniform[role.port.register]
        cdef char* term = <char*>&slot.d if role.port.is_scalar else <char*>slot.o
        cdef int64_t i
        if role.is_single:
            for i in range(role.port.nbytes // <int64_t>sizeof(float)):
                (<float*>sums)[i] += (<float*>term)[i]
        else:
            for i in range(role.port.nbytes // <int64_t>sizeof(double)):
                (<double*>sums)[i] += (<double*>term)[i]

    cdef void finish(self, LoopRun* run) noexcept nogil:
        """Give what is carried out of the last step, or in where there was none."""
        cdef int32_t k
        cdef Role* role
        for k in range(self.n_in, self.n_in + self.n_out):
            role = &self.roles[k]
            if role.letter == c"c":
                get(run.work, &self.roles[role.partner].port, run.results[role.at])

    # ---- from Python

    def run(self, list values not None):
        """(results of the outputs, steps done), on plain values of the inputs."""
        cdef LoopRun run
        cdef int code
        cdef int64_t between = max(1, min(<int64_t>BETWEEN_SIGNALS, OFTEN // self.program.numbers()))
        operands = [rows_of(self.program, k, value, self.length if self.roles[k].letter == c"x" else -1)
                    for k, value in enumerate(values)]
        results = [self.result(k) for k in range(self.n_out) if self.roles[self.n_in + k].letter != c"w"]
        cdef cnp.ndarray places = addresses(operands)
        cdef cnp.ndarray targets = addresses(results)
        try:
            if self.begin(&run, <char**>cnp.PyArray_DATA(places), <char**>cnp.PyArray_DATA(targets)):
                raise MemoryError(f"no memory for a workspace of {self.spaces.size} bytes")
            run.work.threads = self.program.threads(0)
            while run.done < self.length and not run.ended:
                with nogil:
                    code = self.advance(&run, min(run.done + between, self.length))
                if code:
                    raise_at_step(self.program, code, run.work, run.done)
                PyErr_CheckSignals()
            self.finish(&run)
        finally:
            self.end(&run)
        return [self.boxed(k, results[self.roles[self.n_in + k].at]) for k in range(self.n_out)
                if self.roles[self.n_in + k].letter != c"w"], run.done

    cdef object result(self, int32_t k):
        """Room for what output k gives."""
        cdef AbstractValue aval = aval_of(self.program.outputs[k].aval)
        rows = (self.length,) if self.roles[self.n_in + k].letter == c"y" else ()
        return np.empty(rows + aval.shape, aval.dtype)

    cdef object boxed(self, int32_t k, object array):
        """What output k gives: an array, or a number of its own."""
        cdef AbstractValue aval = aval_of(self.program.outputs[k].aval)
        if self.roles[self.n_in + k].letter == c"y" or aval.ndim:
            return array
        return float(array) if aval.number == AVAL_FLOAT else array[()]


@cython.final
cdef class Count(NativeCall):
    """How many steps a loop takes until an output ends it; Python goes on where they are many, and may be endless."""

    cdef LoopCall loop
    cdef int64_t most

    def __cinit__(self, LoopCall loop not None):
        self.loop = loop
        self.most = min(loop.length, OFTEN // loop.program.numbers())
        self.may_fail = loop.may_fail
        self.calls_python = self.most < loop.length
        self.depth = loop.depth
        self.numbers = self.most * loop.program.numbers()

    cdef int call(self, char** operands, char** results, int32_t threads) noexcept nogil:
        cdef LoopRun run
        cdef int code = self.loop.begin(&run, operands, NULL)       # what is carried goes nowhere else
        if not code:
            code = self.loop.advance(&run, self.most)
        self.loop.end(&run)
        (<int64_t*>results[0])[0] = run.done
        if not code and not run.ended and run.done < self.loop.length:
            return UNFINISHED
        return FAILED_WITHIN if code == GUARD_FAILED else code


cdef bint is_number(Role* role) noexcept:
    """Whether it takes or gives doubles."""
    return role.port.is_scalar and not role.port.is_truth


def functions_of_rows(Graph graph not None, list outputs not None, list inputs not None, str takes not None):
    """The nodes that outputs need and that are functions of rows of numbers, and of what is the same at all steps.

    Where these have inputs of their own in a program, the steps need no function of the rows any more.
    """
    cdef int32_t k, i, end = 0
    cdef const Node* node
    if IS_PORTABLE or "x" not in takes:
        return []
    for i in outputs + inputs:
        end = max(end, i + 1)
    cdef bytearray by = bytearray(end + 1), needed = bytearray(end + 2), ends = bytearray(end)
    cdef uint8_t* marks = marks_in(by) + 1      # of no node: 0
    for k, i in enumerate(inputs):
        if takes[k] != "k":
            marks[i] = BY_ROWS if takes[k] == "x" and operand_aval(graph, i) == AVAL_FLOAT else BY_OTHERS
    for i in outputs:
        marks_in(needed)[max(i, <int32_t>-1) + 2] = True
    for i in range(end):
        node = &graph.nodes[i]
        if marks[i]:
            continue
        if node.flags & F_WIDE:
            marks[i] = BY_OTHERS
            continue
        marks[i] = marks[max(node.a, <int32_t>-1) if ARITY[node.op] else -1] | (
            marks[max(node.b, <int32_t>-1) if ARITY[node.op] == 2 else -1])
        ends[i] = marks[i] == BY_ROWS and is_kernel(node.op) and operand_aval(graph, i) == AVAL_FLOAT
    mark_needed(graph, 0, end, marks_in(needed) + 2, marks_in(ends))
    return [i for i in range(end) if ends[i] and needed[i + 2]]


cdef inline bint is_kernel(uint16_t op) noexcept:
    """Whether an operation on numbers is a call of a function, and one on lanes is not."""
    return op not in (OP_ADD, OP_SUBTRACT, OP_MULTIPLY, OP_DIVIDE, OP_NEGATIVE, OP_SQUARE, OP_ABSOLUTE, OP_SQRT) and (
        INFO[op].v1 != NULL if ARITY[op] == 1 else ARITY[op] == 2 and INFO[op].v2 != NULL)
