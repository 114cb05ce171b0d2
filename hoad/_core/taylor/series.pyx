"""Taylor coefficients of a program: rows of series, found together order by order.

A program of numbers runs in one call of `series.h`. In others, coefficient k of a row is a block with the items of all
lanes, lane after lane, so that operations on elements run over lanes and items alike. As many lanes are done at a time
as stay in cache: of numbers, fewer.
"""

import numpy as np

from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree, PyMem_RawMalloc
from libc.stdint cimport intptr_t
from libc.string cimport memcmp, memcpy, memset

cimport cython
cimport numpy as cnp

from hoad._core.base.blocks cimport appended, give, required, reserve
from hoad._core.runtime.engine cimport GUARD_FAILED, no_memory
from hoad._core.ops.plan cimport FAILED_PYTHON, FAILED_SINGULAR, FAILED_WITHIN, plan_of
from hoad._core.graph.primitive cimport INFO, MOST_RESULTS, Info
from hoad._core.graph.tape cimport ARITY, AbstractValue
from hoad._core.kernels.vector cimport (
    SERIES_ADD, SERIES_COPY, SERIES_DERIVE, SERIES_DIVIDE, SERIES_ITEM, SERIES_MASK, SERIES_MULTIPLY, SERIES_NEGATE,
    SERIES_NONE, SERIES_PLAN, SERIES_POWER, SERIES_SCALE, SERIES_STRONG_DIVIDE, SERIES_SELECT, SERIES_SHRINK,
    SERIES_SLOPES, SERIES_STRONG_MULTIPLY, SERIES_STRONG_MULTIPLY_BOTH, SERIES_SQUARE, SERIES_SUBTRACT, VALUE_ADD,
    VALUE_CALL1, VALUE_CALL2, VALUE_COPY, VALUE_DIVIDE, VALUE_GIVEN, VALUE_MASK, VALUE_MULTIPLY, VALUE_NEGATE,
    VALUE_PLAN, VALUE_SELECT, VALUE_SQUARE, VALUE_SUBTRACT, SeriesPlace, series_kernels,
)

cnp.import_array()

cdef enum:
    FEW = 16
    IN_CACHE = 1 << 18      # bytes of a block of lanes
    MOST_LANES = 256
    LANES_OF_NUMBERS = 64
    LINE = 64               # bytes of a line of the cache
    SMALL = 1 << 13         # bytes that a run of numbers takes from the stack

# What SERIES_PLAN does with each coefficient, by the plan of the step.
cdef enum PlanRule:
    EACH = 0        # of all operands
    PAIRS           # sums of products of two
    SOLVE           # x p = y
    INVERT          # x p = 1
    RATE            # x'
    INTEGRAL        # p from p'

VALUES = {
    "given": VALUE_GIVEN, "copy": VALUE_COPY, "add": VALUE_ADD, "subtract": VALUE_SUBTRACT, "multiply": VALUE_MULTIPLY,
    "divide": VALUE_DIVIDE, "negative": VALUE_NEGATE, "square": VALUE_SQUARE, "select": VALUE_SELECT,
    "mask": VALUE_MASK,
}
RULES = {
    None: SERIES_NONE, "copy": SERIES_COPY, "add": SERIES_ADD, "subtract": SERIES_SUBTRACT,
    "negative": SERIES_NEGATE, "scale": SERIES_SCALE, "shrink": SERIES_SHRINK, "square": SERIES_SQUARE,
    "multiply": SERIES_MULTIPLY, "divide": SERIES_DIVIDE, "strong_multiply": SERIES_STRONG_MULTIPLY,
    "strong_multiply_both": SERIES_STRONG_MULTIPLY_BOTH, "strong_divide": SERIES_STRONG_DIVIDE,
    "select": SERIES_SELECT, "mask": SERIES_MASK, "derive": SERIES_DERIVE, "slopes": SERIES_SLOPES,
    "power": SERIES_POWER, "item": SERIES_ITEM, "each": SERIES_PLAN, "pairs": SERIES_PLAN, "solve": SERIES_PLAN,
    "invert": SERIES_PLAN, "rate": SERIES_PLAN, "integral": SERIES_PLAN,
}
PLAN_RULES = {"each": EACH, "pairs": PAIRS, "solve": SOLVE, "invert": INVERT, "rate": RATE, "integral": INTEGRAL}
WITHOUT_PLAN = ("rate", "integral")
SUMMED = ("square", "multiply", "divide", "slopes", "power")    # have a row of sums beside their own


class NotClosedError(Exception):
    """A program that has no Taylor arithmetic here: its derivatives come from nested tapes instead."""


@cython.final
cdef class Series(NativeCall):
    """Rows and steps, put together one by one; then run as often as one likes, by many threads at a time."""

    def __cinit__(self, int32_t degree, int64_t lanes=1):
        cdef int32_t k
        self.lanes = lanes
        self.degree = degree
        self.alive = []
        self.is_narrow = True
        self.is_of_numbers = True
        self.orders = <double*>required(PyMem_RawCalloc(degree + 3, sizeof(double)))
        for k in range(degree + 3):
            self.orders[k] = k
        self.divisors = self.orders + 1

    def __dealloc__(self):
        PyMem_RawFree(self.orders)
        give(self.rows, self.cap_rows * sizeof(Row))
        give(self.steps, self.cap_steps * sizeof(SeriesStep))
        give(self.terms, self.cap_terms * sizeof(SeriesTerm))
        give(self.inputs, self.cap_inputs * sizeof(SeriesPort))
        give(self.outputs, self.cap_outputs * sizeof(SeriesPort))
        give(self.checks, self.cap_checks * sizeof(SeriesCheck))
        give(self.feedback, self.cap_feedback * sizeof(int32_t))
        give(self.groups, self.cap_groups * sizeof(SeriesGroup))
        give(self.members, self.cap_members * sizeof(int32_t))
        give(self.parts, self.cap_parts * sizeof(int32_t))

    # ---- putting together

    def row(self, AbstractValue aval not None, int32_t top):
        """A row for series of this shape and dtype, which are zero beyond the order `top`."""
        cdef Row* row = <Row*>appended(<void**>&self.rows, &self.cap_rows, &self.n_rows, sizeof(Row))
        row.is_truth = aval.dtype == np.bool_
        row.is_real = row.is_truth or aval.is_float64
        row.size = aval.size
        row.itemsize = sizeof(double) if row.is_real else aval.itemsize
        row.top = min(top, self.degree)
        row.constant = NULL
        row.has_lanes = False
        row.at = self.per_lane
        self.per_lane += ((row.size * row.itemsize + 7) & ~<int64_t>7) * (row.top + 1)
        self.widest = max(self.widest, row.size)
        self.is_of_numbers = self.is_of_numbers and row.is_real and aval.ndim == 0
        self.is_narrow = self.is_narrow and self.is_of_numbers
        return self.n_rows - 1

    def top(self, int32_t row):
        """The highest order at which a row is not zero."""
        return self.rows[row].top

    def constant(self, AbstractValue aval not None, value, bint has_lanes=False):
        """A row that is constant; its value may have lanes."""
        row = self.row(aval, 0)
        array = np.ascontiguousarray(value, np.float64 if self.rows[row].is_real else aval.dtype)
        self.alive.append(array)
        self.rows[row].constant = <const char*>cnp.PyArray_DATA(<cnp.ndarray>array)
        self.rows[row].has_lanes = has_lanes
        return row

    def input(self, AbstractValue aval not None, int32_t count, bint has_lanes):
        """The row of an input of which `count` coefficients are given."""
        row = self.row(aval, count - 1)
        count = min(count, self.degree + 1)
        add_port(&self.inputs, &self.n_inputs, &self.cap_inputs, row, count, has_lanes)
        return row

    def integral(self, AbstractValue aval not None):
        """The row of an input that will be the integral of another row, from its given value on; see `integrate`."""
        row = self.row(aval, self.degree)
        add_port(&self.inputs, &self.n_inputs, &self.cap_inputs, row, 1, True)
        return row

    def integrate(self, int32_t row, int32_t slope):
        """Let a row of `integral` be the integral of another."""
        reserve(<void**>&self.feedback, &self.cap_feedback, 2 * self.n_feedback + 2, sizeof(int32_t))
        self.feedback[2 * self.n_feedback] = row
        self.feedback[2 * self.n_feedback + 1] = slope
        self.n_feedback += 1

    def divide_by(self, divisors):
        """Let integrals be divided by these numbers, one for each order, as their adjoints are, not by 1, 2, ..."""
        cdef cnp.ndarray given = np.array(divisors, np.float64)
        if given.size != self.degree:
            raise ValueError(f"{self.degree} integrals, {given.size} divisors")
        self.alive.append(given)
        self.divisors = <double*>cnp.PyArray_DATA(given)
        self.is_narrow = False      # `series.h` knows the others only

    def scale_by(self, factors):
        """Let outputs be multiplied by these numbers, one for each order."""
        cdef cnp.ndarray given = np.array(factors, np.float64)
        if given.size != self.degree + 1:
            raise ValueError(f"{self.degree + 1} outputs, {given.size} factors")
        self.alive.append(given)
        self.scales = <double*>cnp.PyArray_DATA(given)

    def output(self, int32_t row):
        """Let a row be the next output."""
        add_port(&self.outputs, &self.n_outputs, &self.cap_outputs, row, self.degree + 1, True)

    def check(self, int32_t row, expected):
        """Let runs fail where the value of a row is another."""
        self.may_fail = True
        array = np.ascontiguousarray(expected, np.float64 if self.rows[row].is_real else None)
        self.alive.append(array)
        cdef SeriesCheck* made = <SeriesCheck*>appended(
            <void**>&self.checks, &self.cap_checks, &self.n_checks, sizeof(SeriesCheck))
        made.row = row
        made.expected = <const char*>cnp.PyArray_DATA(<cnp.ndarray>array)

    def step(self, int32_t out, str value, str rule, operands, Signature sig=None, Signature product=None,
             int32_t offset=0, int32_t lag=0):
        """The step of a row, how its value is found, and how what follows; its number.

        A value by None is that of the operation of `sig`, one that is "given" that of another step; further results go
        to the rows behind. A rule may need the signature of a matrix product, or the offset of an item. A step with a
        `lag` is so many orders behind the others, as what is made of the rates x' of these is.
        """
        cdef SeriesStep step
        memset(&step, 0, sizeof(SeriesStep))
        step.out = out
        step.top = self.rows[out].top
        step.lag = lag
        step.size = self.rows[out].size
        step.value = VALUES[value] if value is not None else VALUE_PLAN
        step.rule = RULES[rule]
        step.first = self.n_terms
        take_operands(self, &step, list(operands))
        if rule == "square":
            step.b, step.top_b = step.a, step.top_a
        elif rule == "item":
            step.first, step.count = offset, self.rows[step.a].size
        if value is None:
            take_function(self, &step, sig)
        if rule in SUMMED:
            step.c = row_like(self, out)
        if step.rule == SERIES_PLAN:
            step.top_b = PLAN_RULES[rule]
        if step.value == VALUE_PLAN or step.rule == SERIES_PLAN:
            self.has_plans = self.may_fail = True
        if (step.value == VALUE_PLAN or step.rule == SERIES_PLAN) and rule not in WITHOUT_PLAN:
            take_plan(self, &step, list(operands), sig)
            if product is not None:
                step.call = keep(self, plan_of(product))
            if rule in ("pairs", "solve", "invert"):
                step.a, step.c = row_like(self, out), row_like(self, out)
        self.is_narrow = self.is_narrow and not self.has_plans
        (<SeriesStep*>appended(<void**>&self.steps, &self.cap_steps, &self.n_steps, sizeof(SeriesStep)))[0] = step
        return self.n_steps - 1

    def end_part(self):
        """Let what was put in since the last part be done to the highest order before what follows."""
        (<int32_t*>appended(<void**>&self.parts, &self.cap_parts, &self.n_parts, sizeof(int32_t)))[0] = self.n_steps

    def term(self, int32_t h, int32_t x, int32_t y, double sign, bint strong):
        """A further term ``sign h x'`` of the slopes of the step put in last, where y is t x'."""
        cdef SeriesTerm* term = <SeriesTerm*>appended(
            <void**>&self.terms, &self.cap_terms, &self.n_terms, sizeof(SeriesTerm))
        term.h = h
        term.x = x
        term.y = y
        term.top_h = self.rows[h].top
        term.top_x = self.rows[x].top
        term.sign = sign
        term.strong = strong

    def slopes(self, int32_t step, terms):
        """Give a step its terms (h, x, t x', sign, strong)."""
        self.steps[step].first = self.n_terms
        self.steps[step].count = len(terms)
        for term in terms:
            self.term(*term)

    # ---- running

    def run(self, values):
        """All coefficients of the outputs, for those that are given of the inputs: axis 0 is the order, then lanes."""
        cdef int32_t i
        cdef int64_t n = self.lanes
        cdef Row* row
        cdef int code
        cdef list held = []
        cdef list found = []
        cdef char** at = <char**>required(PyMem_RawCalloc(self.n_inputs + self.n_outputs + 1, sizeof(char*)))
        try:
            for i in range(self.n_inputs):
                row = &self.rows[self.inputs[i].row]
                given = np.ascontiguousarray(values[i], bool if row.is_truth else np.float64 if row.is_real else None)
                held.append(given)
                at[i] = <char*>cnp.PyArray_DATA(<cnp.ndarray>given)
            for i in range(self.n_outputs):
                row = &self.rows[self.outputs[i].row]
                made = np.empty((self.degree + 1, n * row.size))
                found.append(made)
                at[self.n_inputs + i] = <char*>cnp.PyArray_DATA(<cnp.ndarray>made)
            with nogil:
                code = execute(self, at, at + self.n_inputs, n)
            raise_failure(code)
            return None if code == GUARD_FAILED or code == FAILED_WITHIN else found
        finally:
            PyMem_RawFree(at)

    cdef int call(self, char** operands, char** results, int32_t threads) noexcept nogil:
        cdef int code = execute(self, operands, results, self.lanes)
        return FAILED_WITHIN if code == GUARD_FAILED else code


# ---- putting together -----------------------------------------------------------------------------------------------

cdef void take_operands(Series series, SeriesStep* step, list operands) noexcept:
    if len(operands) > 0:
        step.a = operands[0]
        step.top_a = series.rows[step.a].top
    if len(operands) > 1:
        step.b = operands[1]
        step.top_b = series.rows[step.b].top
    if len(operands) > 2:
        step.c = operands[2]


cdef int take_function(Series series, SeriesStep* step, Signature sig) except -1:
    """Let the value be that of an operation on real numbers, where there is one."""
    cdef int op = sig.primitive.op
    cdef Info* info = &INFO[op]
    if any([not (aval.is_float64 or aval.dtype == np.bool_) for aval in (*sig.avals, *sig.results)]):
        return 0
    if ARITY[op] == 1 and info.f1 != NULL:
        step.value = VALUE_CALL1
        step.call = <void*>info.f1
        step.more = <void*>info.v1
    elif ARITY[op] == 2 and info.f2 != NULL:
        step.value = VALUE_CALL2
        step.call = <void*>info.f2
        step.more = <void*>info.v2
    return 0


cdef int take_plan(Series series, SeriesStep* step, list operands, Signature sig) except -1:
    step.takes_bytes = any([aval.dtype == np.bool_ for aval in (*sig.avals, *sig.results)])
    if step.takes_bytes and step.top:
        raise NotClosedError(f"{sig.primitive.name} of booleans")
    step.more = keep(series, plan_of(sig))
    step.operands = series.n_terms
    step.n_operands = len(operands)
    step.n_results = len(sig.results)
    for row in operands:
        series.term(row, row, row, 1.0, False)
    return 0


cdef void* keep(Series series, object part) except NULL:
    series.alive.append(part)
    return <void*>part


cdef int32_t row_like(Series series, int32_t row) except -1:
    """A row for one coefficient as large as those of another."""
    cdef Row* made = <Row*>appended(<void**>&series.rows, &series.cap_rows, &series.n_rows, sizeof(Row))
    made[0] = series.rows[row]
    made.top = 0
    made.constant = NULL
    made.at = series.per_lane
    series.per_lane += made.size * sizeof(double)
    return series.n_rows - 1


# ---- running --------------------------------------------------------------------------------------------------------

cdef int execute(Series series, char** given, char** found, int64_t lanes) noexcept nogil:
    """Run for inputs and outputs at these addresses; 0, or why not."""
    cdef int64_t block = lanes
    cdef int64_t first = 0
    cdef int code = 0
    cdef SeriesCode blocks
    cdef char* memory
    if series.is_narrow and lanes == 1:
        return run_narrow(series, given, found)
    if series.is_of_numbers and not series.has_plans:
        block = min(<int64_t>LANES_OF_NUMBERS, lanes)
    elif series.per_lane * block > IN_CACHE:
        block = min(max((IN_CACHE // max(series.per_lane, 1)) & ~<int64_t>15, 1), MOST_LANES, lanes)
    memory = <char*>PyMem_RawCalloc(series.n_rows * sizeof(double*) + LINE
                                    + (series.per_lane + 8 * series.widest) * max(block, 1), 1)
    if memory == NULL:
        return no_memory()
    describe(series, &blocks)
    blocks.at = <double**>memory
    blocks.lanes = 0
    while first < lanes and not code:
        code = run_block(series, given, found, first, min(block, lanes - first), lanes, &blocks,
                         aligned(memory + series.n_rows * sizeof(double*)))
        first += block
    PyMem_RawFree(memory)
    return code


cdef void describe(Series series, SeriesCode* code) noexcept nogil:
    code.steps = series.steps
    code.n_steps = series.n_steps
    code.terms = series.terms
    code.parts = series.parts
    code.n_parts = series.n_parts
    code.orders = series.orders
    code.groups = series.groups
    code.n_groups = series.n_groups
    code.members = series.members
    code.n_members = series.n_members
    code.feedback = series.feedback
    code.n_feedback = series.n_feedback
    code.degree = series.degree


cdef int run_narrow(Series series, char** given, char** found) noexcept nogil:
    cdef SeriesCode code
    cdef int64_t stride = (series.degree + 8) & ~<int64_t>7
    cdef int64_t places = (series.n_members if series.n_groups else series.n_steps) + series.n_feedback
    cdef int64_t n = stride * series.n_rows
    cdef int64_t nbytes = (n + series.scratch) * sizeof(double) + places * sizeof(SeriesPlace) + LINE
    cdef char small[SMALL]
    cdef char* whole = &small[0] if nbytes <= <int64_t>SMALL else <char*>PyMem_RawMalloc(nbytes)
    cdef double* memory = <double*>aligned(whole)
    cdef double* row
    cdef int32_t i, k
    cdef int failed = 0
    if whole == NULL:
        return no_memory()
    memset(memory, 0, n * sizeof(double))
    for i in range(series.n_rows):
        if series.rows[i].constant != NULL:
            memory[i * stride] = (<const double*>series.rows[i].constant)[0]
    for i in range(series.n_inputs):
        if series.rows[series.inputs[i].row].is_truth:
            memory[series.inputs[i].row * stride] = given[i][0] != 0
        else:
            memcpy(memory + series.inputs[i].row * stride, given[i], series.inputs[i].count * sizeof(double))
    describe(series, &code)
    code.stride = stride
    (series_kernels().groups if series.n_groups else series_kernels().narrow)(
        &code, memory, <SeriesPlace*>(memory + n + series.scratch), memory + n)
    for i in range(series.n_checks):
        if memory[series.checks[i].row * stride] != (<const double*>series.checks[i].expected)[0]:
            failed = GUARD_FAILED
    for i in range(series.n_outputs):
        row = memory + series.outputs[i].row * stride
        memcpy(found[i], row, (series.degree + 1) * sizeof(double))
        for k in range(series.degree + 1 if series.scales != NULL else 0):
            if row[k] != 0.0:       # k! may be infinite
                (<double*>found[i])[k] *= series.scales[k]
    if whole != &small[0]:
        PyMem_RawFree(whole)
    return failed


cdef int run_block(Series series, char** given, char** found, int64_t first, int64_t lanes, int64_t all_lanes,
                   SeriesCode* blocks, char* memory) noexcept nogil:
    """The lanes from `first` on."""
    cdef int32_t part
    cdef int code = 0
    cdef bint is_new = lanes != blocks.lanes      # else what all lanes have is in its place
    if is_new:
        place_rows(series, lanes, blocks, memory)
    place_constants(series, first, lanes, memory, is_new)
    place_inputs(series, given, first, lanes, all_lanes, memory, is_new)
    if series.has_plans or series.n_feedback:
        code = run_orders(series, blocks, memory)
    else:
        series_kernels().blocks(blocks, 0, series.n_steps, 0, 0)
        if fails(series, lanes, memory):
            return GUARD_FAILED
        for part in range(series.n_parts):
            series_kernels().blocks(blocks, series.parts[part - 1] if part else 0, series.parts[part], 1, series.degree)
    if not code:
        give_outputs(series, found, first, lanes, all_lanes, memory)
    return code


cdef int run_orders(Series series, SeriesCode* blocks, char* memory) noexcept nogil:
    """All steps, order by order: those by plans are done here. Of integrals the last order takes none."""
    cdef int32_t i, k, order
    cdef int32_t end = max(1, series.degree) if series.n_feedback else series.degree + 1
    cdef int code = 0
    cdef SeriesStep* step
    for k in range(end):
        for i in range(series.n_steps):
            step = &series.steps[i]
            order = k - step.lag
            if order < 0:
                continue
            if step.rule == SERIES_PLAN and step.top_b == RATE:
                take_rate(series, step, order, blocks.lanes, memory)
            elif (step.rule != SERIES_PLAN if order else step.value != VALUE_PLAN):
                series_kernels().blocks(blocks, i, i + 1, order, order)
            elif order == 0:
                code = run_plan(series, <Plan>step.more, step, 0, blocks.lanes, memory, NULL)
            elif order <= step.top:
                code = plan_rule(series, step, order, blocks.lanes, memory, blocks.zeros)
            if code:
                return code
        if k == 0 and fails(series, blocks.lanes, memory):
            return GUARD_FAILED
        if k < series.degree:
            feed_back(series, k, blocks.lanes, memory)
    return 0


# ---- rows of blocks ------------------------------------------------------------------------------------------------

cdef void place_rows(Series series, int64_t lanes, SeriesCode* blocks, char* memory) noexcept nogil:
    cdef int32_t i
    blocks.lanes = lanes
    for i in range(series.n_rows):
        blocks.at[i] = place_of(series, i, 0, lanes, memory)
    blocks.zeros = <double*>(memory + series.per_lane * lanes)
    memset(blocks.zeros, 0, 8 * series.widest * lanes)


cdef inline double* place_of(Series series, int32_t row, int32_t k, int64_t lanes, char* memory) noexcept nogil:
    """Coefficient k of a row."""
    return <double*>(memory + series.rows[row].at * lanes) + k * series.rows[row].size * lanes


cdef inline double* coefficient(Series series, int32_t row, int32_t k, int64_t lanes, char* memory,
                                double* zeros) noexcept nogil:
    return place_of(series, row, k, lanes, memory) if k <= series.rows[row].top else zeros


cdef inline char* lane_of(Series series, int32_t row, int32_t k, int64_t lane, int64_t lanes, char* memory,
                          double* zeros) noexcept nogil:
    """Coefficient k of a row in one lane."""
    if k > series.rows[row].top:
        return <char*>zeros
    if not series.rows[row].is_real:
        return memory + series.rows[row].at * lanes + lane * series.rows[row].size * series.rows[row].itemsize
    return <char*>(place_of(series, row, k, lanes, memory) + lane * series.rows[row].size)


cdef void place_constants(Series series, int64_t first, int64_t lanes, char* memory, bint is_new) noexcept nogil:
    cdef int32_t i
    cdef int64_t lane, nbytes
    for i in range(series.n_rows):
        if series.rows[i].constant != NULL and (is_new or series.rows[i].has_lanes):
            nbytes = series.rows[i].size * series.rows[i].itemsize
            for lane in range(lanes):
                memcpy(memory + series.rows[i].at * lanes + lane * nbytes,
                       series.rows[i].constant + ((first + lane) * nbytes if series.rows[i].has_lanes else 0), nbytes)


cdef void place_inputs(Series series, char** given, int64_t first, int64_t lanes, int64_t all_lanes, char* memory,
                       bint is_new) noexcept nogil:
    cdef int32_t i, k
    cdef int64_t lane, nbytes
    cdef Row* row
    cdef char* to
    for i in range(series.n_inputs):
        row = &series.rows[series.inputs[i].row]
        nbytes = row.size * row.itemsize
        if not (is_new or series.inputs[i].has_lanes):
            continue
        if row.is_truth:        # constant; bytes there, which are the same in all lanes or have them
            for lane in range(lanes * row.size):
                (<double*>(memory + row.at * lanes))[lane] = given[i][
                    first * row.size + lane if series.inputs[i].has_lanes else lane % row.size] != 0
            continue
        for k in range(series.inputs[i].count):
            to = memory + row.at * lanes + k * nbytes * lanes
            if series.inputs[i].has_lanes:
                memcpy(to, given[i] + (k * all_lanes + first) * nbytes, nbytes * lanes)
                continue
            for lane in range(lanes):
                memcpy(to + lane * nbytes, given[i] + k * nbytes, nbytes)


cdef void give_outputs(Series series, char** found, int64_t first, int64_t lanes, int64_t all_lanes,
                       char* memory) noexcept nogil:
    cdef int32_t i, k
    cdef int64_t nbytes
    cdef Row* row
    for i in range(series.n_outputs):
        row = &series.rows[series.outputs[i].row]
        nbytes = row.size * sizeof(double)
        for k in range(series.degree + 1):
            if k > row.top:
                memset(found[i] + (k * all_lanes + first) * nbytes, 0, nbytes * lanes)
            else:
                give_row(series, <double*>(found[i] + (k * all_lanes + first) * nbytes),
                         place_of(series, series.outputs[i].row, k, lanes, memory), row.size * lanes, k)


cdef inline void give_row(Series series, double* found, const double* row, int64_t n, int32_t k) noexcept nogil:
    """Coefficient k of an output, in the units asked for."""
    cdef int64_t e
    if series.scales == NULL:
        memcpy(found, row, n * sizeof(double))
        return
    for e in range(n):
        found[e] = series.scales[k] * row[e]


cdef bint fails(Series series, int64_t lanes, char* memory) noexcept nogil:
    """Whether a guard does."""
    cdef int32_t i
    cdef int64_t lane
    cdef Row* row
    for i in range(series.n_checks):
        row = &series.rows[series.checks[i].row]
        for lane in range(lanes):
            if memcmp(lane_of(series, series.checks[i].row, 0, lane, lanes, memory, NULL), series.checks[i].expected,
                      row.size * row.itemsize):
                return True
    return False


cdef void feed_back(Series series, int32_t k, int64_t lanes, char* memory) noexcept nogil:
    cdef int32_t i
    cdef int64_t e
    cdef double* to
    cdef double* slope
    for i in range(series.n_feedback):
        to = place_of(series, series.feedback[2 * i], k + 1, lanes, memory)
        for e in range(series.rows[series.feedback[2 * i]].size * lanes):
            if k <= series.rows[series.feedback[2 * i + 1]].top:
                slope = place_of(series, series.feedback[2 * i + 1], k, lanes, memory)
                to[e] = slope[e] / series.divisors[k]
            else:
                to[e] = 0.0


# ---- steps by plans -------------------------------------------------------------------------------------------------

cdef void take_rate(Series series, SeriesStep* step, int32_t k, int64_t lanes, char* memory) noexcept nogil:
    cdef int64_t e
    if k > step.top:
        return
    cdef double* x = place_of(series, step.a, k + 1, lanes, memory)
    cdef double* p = place_of(series, step.out, k, lanes, memory)
    for e in range(series.rows[step.out].size * lanes):
        p[e] = (k + 1) * x[e]


cdef void take_integral(Series series, SeriesStep* step, int32_t k, int64_t lanes, char* memory,
                        double* zeros) noexcept nogil:
    cdef double* slope = coefficient(series, step.a, k - 1, lanes, memory, zeros)
    cdef double* p = place_of(series, step.out, k, lanes, memory)
    cdef int64_t e
    for e in range(series.rows[step.out].size * lanes):
        p[e] = slope[e] / k


cdef int run_plan(Series series, Plan plan, SeriesStep* step, int32_t k, int64_t lanes, char* memory,
                  double* zeros) noexcept nogil:
    """The plan of a step on coefficient k of its operands, where these have one."""
    cdef char* few[FEW]
    cdef char** at = few
    cdef char* out[MOST_RESULTS]
    cdef char* truths = NULL
    cdef char* free
    cdef int32_t i, row
    cdef int64_t lane
    cdef int64_t n = truths_of(series, step) if step.takes_bytes else 0
    cdef int code = 0
    if step.n_operands > FEW:
        at = <char**>PyMem_RawCalloc(step.n_operands, sizeof(char*))
    if n:
        truths = <char*>PyMem_RawMalloc(n)
    if at == NULL or (n and truths == NULL):
        code = no_memory()
    for lane in range(0 if code else lanes):
        free = truths
        for i in range(step.n_operands):
            row = series.terms[step.operands + i].h
            at[i] = lane_of(series, row, k if series.rows[row].is_real else 0, lane, lanes, memory, zeros)
            if n and series.rows[row].is_truth:
                at[i] = as_bytes(<double*>at[i], series.rows[row].size, free)
                free += series.rows[row].size
        for i in range(step.n_results):
            row = step.out + i
            if n and series.rows[row].is_truth:
                out[i] = free
                free += series.rows[row].size
            else:
                out[i] = lane_of(series, row, k, lane, lanes, memory, zeros)
        code = plan.run(at, out, 1)
        if code:
            break
        for i in range(step.n_results):
            row = step.out + i
            if n and series.rows[row].is_truth:
                as_doubles(out[i], series.rows[row].size, <double*>lane_of(series, row, k, lane, lanes, memory, zeros))
    PyMem_RawFree(truths)
    if at != few:
        PyMem_RawFree(at)
    return code


cdef int64_t truths_of(Series series, const SeriesStep* step) noexcept nogil:
    """How many booleans the operands and results of a step have in one lane: rows hold them as doubles."""
    cdef int64_t found = 0
    cdef int32_t i, row
    for i in range(step.n_operands):
        row = series.terms[step.operands + i].h
        found += series.rows[row].size if series.rows[row].is_truth else 0
    for i in range(step.n_results):
        row = step.out + i
        found += series.rows[row].size if series.rows[row].is_truth else 0
    return found


cdef int plan_rule(Series series, SeriesStep* step, int32_t k, int64_t lanes, char* memory,
                   double* zeros) noexcept nogil:
    if step.top_b == INTEGRAL:
        take_integral(series, step, k, lanes, memory, zeros)
        return 0
    if step.top_b == EACH:
        return run_plan(series, <Plan>step.more, step, k, lanes, memory, zeros)
    return matrix_rule(series, step, k, lanes, memory, zeros)


cdef int matrix_rule(Series series, SeriesStep* step, int32_t k, int64_t lanes, char* memory,
                     double* zeros) noexcept nogil:
    """Coefficient k of a product; or of x p = y, or x p = 1, from those of x p."""
    cdef int32_t x = series.terms[step.operands].h
    cdef int32_t y = step.out if step.top_b != PAIRS else series.terms[step.operands + 1].h
    cdef int32_t first = 0 if step.top_b == PAIRS else 1
    cdef int64_t size = series.rows[step.out].size
    cdef int64_t lane, e
    cdef int32_t j
    cdef int code = 0
    cdef double* p
    cdef double* sums
    cdef char* part
    cdef char* pair[2]
    cdef void* product = step.more if step.top_b == PAIRS else step.call
    for lane in range(lanes):
        p = <double*>lane_of(series, step.out, k, lane, lanes, memory, zeros)
        sums = <double*>lane_of(series, step.c, 0, lane, lanes, memory, zeros)
        part = lane_of(series, step.a, 0, lane, lanes, memory, zeros)
        memset(sums, 0, size * sizeof(double))
        for j in range(max(first, k - series.rows[y].top), min(k, series.rows[x].top) + 1):
            pair[0] = lane_of(series, x, j, lane, lanes, memory, zeros)
            pair[1] = lane_of(series, y, k - j, lane, lanes, memory, zeros)
            code = (<Plan>product).run(pair, &part, 1)
            if code:
                return code
            for e in range(size):
                sums[e] += (<double*>part)[e]
        if step.top_b == PAIRS:
            memcpy(p, sums, size * sizeof(double))
            continue
        if step.top_b == SOLVE:
            pair[1] = lane_of(series, series.terms[step.operands + 1].h, k, lane, lanes, memory, zeros)
            for e in range(size):
                sums[e] = (<double*>pair[1])[e] - sums[e]
            pair[0] = lane_of(series, x, 0, lane, lanes, memory, zeros)
            pair[1] = <char*>sums
            part = <char*>p
            code = (<Plan>step.more).run(pair, &part, 1)
        else:
            for e in range(size):
                sums[e] = -sums[e]
            pair[0] = lane_of(series, step.out, 0, lane, lanes, memory, zeros)
            pair[1] = <char*>sums
            part = <char*>p
            code = (<Plan>product).run(pair, &part, 1)
        if code:
            return code
    return 0


cdef char* as_bytes(const double* x, int64_t n, char* p) noexcept nogil:
    """Booleans as operations take them; p."""
    cdef int64_t i
    for i in range(n):
        p[i] = x[i] != 0.0
    return p


cdef void as_doubles(const char* x, int64_t n, double* p) noexcept nogil:
    """Booleans as rows hold them."""
    cdef int64_t i
    for i in range(n):
        p[i] = x[i] != 0


cdef int raise_failure(int code) except -1:
    """Raise what a run failed for, other than a guard."""
    if code == FAILED_SINGULAR:
        raise np.linalg.LinAlgError("Singular matrix")
    return -1 if code == FAILED_PYTHON else 0       # what it raised is set


cdef inline char* aligned(char* memory) noexcept nogil:
    """The first line of the cache from an address on."""
    return memory + (-<intptr_t>memory & (LINE - 1))


cdef int add_port(SeriesPort** ports, int32_t* n, int32_t* capacity, int32_t row, int32_t count,
                  bint has_lanes) except -1:
    cdef SeriesPort* port = <SeriesPort*>appended(<void**>ports, capacity, n, sizeof(SeriesPort))
    port.row = row
    port.count = count
    port.has_lanes = has_lanes
    return 0
