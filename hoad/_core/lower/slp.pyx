"""Sections: the steps of a program on their way to runs.

Steps on single numbers, at the same place of the turns of a loop, were recorded one by one. Those that are the same
operation on operands of the same form are a *isomorphism*; its members do not wait for each other, and make a run: one
operation on rows. Where the operands of its members follow each other in memory they are read as they lie, else they
are gathered. Operations on arrays, element by element, are runs as they stand; views are read where they look.
"""

cimport cython

from libc.string cimport memcmp, memset

from hoad._core.base.blocks cimport give, reserve, take, take_zeroed
from hoad._core.runtime.fused_loop cimport FusedLoop
from hoad._core.runtime.engine cimport ARRAY_STEP, ITEM_STEP, SCALAR_STEP, ArrayStep, Lowered, Step
from hoad._core.ops.plan cimport Plan, product_of_views
from hoad._core.graph.primitive cimport INFO, K_GUFUNC, K_STRIDED, Signature
from hoad._core.lower.fusion cimport (
    COPY,
    IN_ARRAY,
    IN_RUN,
    IN_SLOT,
    NONE,
    OPERATION,
    STORE,
    SUM,
    SUMS_ALONG,
    ZEROS,
    VectorOp,
    Fusion,
    Source,
    add_preset,
    more_registers,
)
from hoad._core.graph.tape cimport (
    ARITY,
    OP_ADD,
    OP_MASK,
    OP_POWER,
    OP_SELECT,
    OP_STRONG_MULTIPLY,
    OP_SQUARE,
    AbstractValue,
    int32_t,
    int64_t,
    uint8_t,
    uint16_t,
    uint64_t,
)
from hoad._core.runtime.access_pattern cimport (
    COLUMNS,
    ELEMENTWISE,
    PIECES,
    SUMS,
    TOTAL,
    VIEW,
    Rowwise,
    AccessPattern,
    is_truth,
    rowwise,
)

from hoad._core.ops.plan import contiguous_strides
from hoad._core.graph.primitive import primitive_named

cdef enum:
    SHORTEST = 16           # a run of fewer members is left to single steps
    FEWEST = 192            # steps on numbers that are worth a schedule
    NARROWEST = 6           # steps on numbers a level: below, they wait for one another and make no runs
    WIDEST_CUT = 24         # members of a run for each piece that it may be cut to, lest it gathers
    LONGEST_ALONE = 1 << 20     # numbers that one thread may sum along an axis
    FEWEST_APART = 16           # sums apart from each other, of more
    LONGEST = 1 << 30       # numbers of a row
    LINE = 8                # numbers of a line of the cache
    LARGE = 1 << 12         # numbers of a view that do not stay in the first cache with all their lines


cdef inline uint64_t mixed(uint64_t x, uint64_t y) noexcept:
    x = (x ^ (y + <uint64_t>0x9E3779B97F4A7C15 + (x << 6) + (x >> 2))) * <uint64_t>0xBF58476D1CE4E5B9
    return x ^ (x >> 31)


@cython.final
cdef class Slp(Fusion):
    """The steps of a program that have no lanes, on their way to runs."""

    def __cinit__(self, Lowered program):
        self.program = program
        self.n = program.first_varying
        self.steps = program.steps
        self.registers = program.n_uniform
        self.height = <int32_t*>take_zeroed(max(self.registers, 1) * sizeof(int32_t))
        if self.height == NULL:
            raise MemoryError
        self.logical_not = primitive_named("logical_not").op
        self.constants = {
            program.presets[k].register: program.presets[k].value.d for k in range(program.n_presets)
            if program.uniform[program.presets[k].register] < 0}
        self.truths = set()
        self.known = {program.presets[k].register: k for k in range(program.n_presets)
                      if program.uniform[program.presets[k].register] == 0}

    cdef int make_tables(self) except -1:
        """Room for what is known of each step: of a program that stays as it is, none."""
        cdef int64_t rows = max(self.n, 1)
        cdef int64_t registers = max(self.registers, 1)
        self.block = rows * (6 * sizeof(int32_t) + sizeof(uint64_t) + 2) + 3 * registers * sizeof(int32_t)
        self.memory = <char*>take_zeroed(self.block)
        if self.memory == NULL:
            raise MemoryError
        self.isomorphism = <uint64_t*>self.memory
        self.level = <int32_t*>(self.isomorphism + rows)
        self.group = self.level + rows
        self.order = self.group + rows
        self.run = self.order + rows
        self.at = self.run + rows
        self.stage = self.at + rows
        self.maker = self.stage + rows
        self.moved = self.maker + registers
        self.number = self.moved + registers
        self.placement = <uint8_t*>(self.number + registers)
        self.loaded = self.placement + rows
        return 0

    def __dealloc__(self):
        give(self.height, max(self.registers, 1) * sizeof(int32_t))
        give(self.memory, self.block)
        give(self.starts, self.cap_starts * sizeof(int32_t))
        give(self.found, self.cap_found * sizeof(At))
        give(self.extra, self.cap_extra * sizeof(Step))
        give(self.extra_stage, self.cap_extra_stage * sizeof(int32_t))

    cdef bint arrange(self) except -1:
        """Find the runs; False if there are none."""
        cdef int32_t i
        cdef int32_t numbers = 0
        cdef bint wide
        cdef bint any_rows = False
        for i in range(self.n):
            if self.steps[i].form == SCALAR_STEP:
                numbers += 1
            elif self.steps[i].form == ARRAY_STEP:
                any_rows = any_rows or self.rows_of(i) is not None
        if numbers < FEWEST and not any_rows:
            return False
        self.find_levels()
        wide = numbers >= FEWEST and numbers >= NARROWEST * <int64_t>self.levels
        if not (wide or any_rows):
            return False
        self.make_tables()
        self.find_isomorphic()
        if wide:
            self.find_groups(True)
            wide = self.is_wide(numbers)
            if not wide:
                self.find_groups(False)
                wide = self.is_wide(numbers)
        if not (wide or any_rows):
            return False
        if wide:
            self.sort()
            for i in range(self.n_groups):
                self.split(self.starts[i], self.starts[i + 1])
        else:
            for i in range(self.n):
                self.place(i)
        if self.n_runs == 0 and not self.sees_through:
            return False
        self.find_what_is_needed()
        self.forget_room()
        return True

    # ---- isomorphic groups

    cdef Rowwise rows_of(self, int32_t i):
        """How a step on arrays goes through fused loops, or None."""
        cdef Rowwise rows = rowwise(<Plan>self.program.array_steps[self.steps[i].a].plan)
        return None if rows is None or rows.size > LONGEST else rows

    cdef bint is_noticed(self, int32_t i) noexcept:
        """Whether a step may raise, or run a function of the user's: those are done in their order."""
        return (<Plan>self.program.array_steps[self.steps[i].a].plan).may_fail()

    cdef int find_levels(self) except -1:
        """How many steps on numbers or arrays, one after the other, each register waits for."""
        cdef int32_t i, k, level
        cdef int32_t noticed = 0
        cdef int32_t* height = self.height
        cdef Step* step
        cdef ArrayStep* array_step
        for i in range(self.n):
            step = &self.steps[i]
            if step.form == ARRAY_STEP:
                array_step = &self.program.array_steps[step.a]
                level = 1
                for k in range(array_step.first, array_step.first + array_step.n_in):
                    level = max(level, 1 + height[self.program.places[k]])
                if self.is_noticed(i):
                    noticed = level = max(level, noticed + 1)
                for k in range(array_step.n_out):
                    height[self.program.places[array_step.first + array_step.n_in + k]] = level
            else:
                level = height[step.a] if step.form == ITEM_STEP else 1 + max(height[step.a], height[step.b])
                height[step.out] = level
            self.levels = max(self.levels, level + 1)
        return 0

    cdef int find_isomorphic(self) except -1:
        """Level, isomorphism and placement of every step."""
        cdef int32_t i, k
        cdef Step* step
        cdef ArrayStep* array_step
        cdef uint64_t key
        for i in range(self.n):
            step = &self.steps[i]
            self.run[i] = NONE
            if step.form == ARRAY_STEP:
                array_step = &self.program.array_steps[step.a]
                for k in range(array_step.first + array_step.n_in,
                               array_step.first + array_step.n_in + array_step.n_out):
                    self.maker[self.program.places[k]] = i + 1
                    self.level[i] = self.height[self.program.places[k]]
                self.isomorphism[i] = mixed(<uint64_t>i, 3)
                continue
            self.level[i] = self.height[step.out]
            if step.form == ITEM_STEP:
                self.isomorphism[i] = mixed(<uint64_t>step.a, 1)
                self.placement[i] = AN_ITEM
            else:
                key = mixed(<uint64_t>step.op + 4, self.isomorphism_of(step.a))
                self.isomorphism[i] = mixed(key, self.isomorphism_of(step.b)) if ARITY[step.op] == 2 else key
            self.maker[step.out] = i + 1
        give(self.height, max(self.registers, 1) * sizeof(int32_t))
        self.height = NULL
        return 0

    cdef inline uint64_t isomorphism_of(self, int32_t register) noexcept:
        return self.isomorphism[self.maker[register] - 1] if self.maker[register] else 0

    cdef int find_groups(self, bint by_isomorphism) except -1:
        """Number the groups in the order in which they come; a step on arrays or an item is a group of its own."""
        cdef int64_t size = 16
        cdef int64_t at
        cdef int32_t i
        cdef uint64_t key
        cdef uint64_t* keys
        cdef int32_t* numbers
        while size < 2 * self.n:
            size *= 2
        keys = <uint64_t*>take(size * sizeof(uint64_t))
        numbers = <int32_t*>take_zeroed(size * sizeof(int32_t))
        self.n_groups = 0
        try:
            if keys == NULL or numbers == NULL:
                raise MemoryError
            for i in range(self.n):
                if self.steps[i].form != SCALAR_STEP:
                    self.group[i] = self.n_groups if self.steps[i].form == ARRAY_STEP else NONE
                    self.n_groups += self.steps[i].form == ARRAY_STEP
                    continue
                key = self.isomorphism[i] if by_isomorphism else 0
                key = mixed(mixed(key, <uint64_t>self.steps[i].op), <uint64_t>self.level[i])
                at = <int64_t>(key & <uint64_t>(size - 1))
                while numbers[at] and keys[at] != key:
                    at = (at + 1) & (size - 1)
                if numbers[at] == 0:
                    self.n_groups += 1
                    numbers[at] = self.n_groups
                    keys[at] = key
                self.group[i] = numbers[at] - 1
        finally:
            give(keys, size * sizeof(uint64_t))
            give(numbers, size * sizeof(int32_t))
        return 0

    cdef bint is_wide(self, int32_t numbers) except -1:
        """Whether most steps on numbers are in groups that are worth a run."""
        cdef int32_t i, g
        cdef int32_t covered = 0
        cdef int32_t* count = <int32_t*>take_zeroed((self.n_groups + 1) * sizeof(int32_t))
        if count == NULL:
            raise MemoryError
        for i in range(self.n):
            if self.group[i] >= 0:
                count[self.group[i]] += 1
        for g in range(self.n_groups):
            if count[g] >= SHORTEST:
                covered += count[g]
        give(count, (self.n_groups + 1) * sizeof(int32_t))
        return 2 * covered >= numbers

    cdef int sort(self) except -1:
        """Put the steps in the order of their groups, and these in the order of their levels."""
        cdef int32_t i, g, total, count
        cdef int32_t levels = self.levels
        cdef int32_t* rank
        cdef int32_t* first
        cdef int64_t bytes_of_rank = (self.n_groups + 1) * <int64_t>sizeof(int32_t)
        self.cap_starts = self.n_groups + 1
        self.starts = <int32_t*>take_zeroed(self.cap_starts * sizeof(int32_t))
        rank = <int32_t*>take_zeroed(bytes_of_rank)
        first = <int32_t*>take_zeroed((levels + 1) * sizeof(int32_t))
        try:
            if not (self.starts and rank and first):
                raise MemoryError
            for i in range(self.n):         # groups, counted by level
                g = self.group[i]
                if g >= 0 and rank[g] == 0:
                    rank[g] = self.level[i]
                    first[self.level[i] + 1] += 1
            for i in range(levels):
                first[i + 1] += first[i]
            for g in range(self.n_groups):
                i = rank[g]
                rank[g] = first[i]
                first[i] += 1
            for i in range(self.n):
                if self.group[i] >= 0:
                    self.group[i] = rank[self.group[i]]
                    self.starts[self.group[i]] += 1
            total = 0
            for g in range(self.n_groups):
                count = self.starts[g]
                self.starts[g] = total
                total += count
            self.starts[self.n_groups] = total
            memset(rank, 0, bytes_of_rank)
            for i in range(self.n):
                g = self.group[i]
                if g >= 0:
                    self.order[self.starts[g] + rank[g]] = i
                    rank[g] += 1
        finally:
            give(rank, bytes_of_rank)
            give(first, (levels + 1) * sizeof(int32_t))
        return 0

    # ---- runs of numbers

    cdef int split(self, int32_t first, int32_t end) except -1:
        """Make runs of a group, or leave it to single steps."""
        cdef int32_t count = end - first
        cdef int32_t start, stop
        if count < SHORTEST:
            self.leave(first, end)
            return 0
        self.locate(first, end)
        if self.is_backwards(count):
            self.reverse(first, end)
            self.locate(first, end)
        if self.pieces(count) * WIDEST_CUT > count:
            self.add_run(first, count, 0, count)
            return 0
        start = 0
        while start < count:
            stop = self.end_of_piece(start, count)
            if stop - start < SHORTEST:
                self.leave(first + start, first + stop)
            else:
                self.add_run(first, count, start, stop)
            start = stop
        return 0

    cdef int leave(self, int32_t first, int32_t end) except -1:
        cdef int32_t j
        for j in range(first, end):
            self.place(self.order[j])
        return 0

    cdef int locate(self, int32_t first, int32_t end) except -1:
        """Find where the operands of the members lie: those of a, then those of b."""
        cdef int32_t i, j
        cdef int32_t count = end - first
        if self.cap_found < 2 * count:
            give(self.found, self.cap_found * sizeof(At))
            self.cap_found = 2 * count
            self.found = <At*>take(self.cap_found * sizeof(At))
            if self.found == NULL:
                self.cap_found = 0
                raise MemoryError
        for j in range(count):
            i = self.order[first + j]
            self.found[j] = self.where(self.steps[i].a)
            self.found[count + j] = self.where(self.steps[i].b)
        return 0

    cdef inline At where(self, int32_t register) noexcept:
        """Where a number lies."""
        cdef int32_t i = self.maker[register] - 1
        if i >= 0 and self.placement[i] == AN_ITEM:
            return At(IN_ARRAY, self.steps[i].a, self.steps[i].b)
        if i >= 0 and self.placement[i] == IN_A_RUN and self.steps[i].form == SCALAR_STEP:
            return At(IN_RUN, self.run[i], self.at[i])
        return At(IN_SLOT, NONE, register)

    cdef bint is_backwards(self, int32_t count) noexcept:
        """Whether the members stand against the order in memory of their operands, as those of a reverse sweep do."""
        cdef int64_t step
        cdef int score = 0
        cdef int side
        for side in range(2):
            if self.found[side * count].of == self.found[side * count + 1].of:
                step = self.found[side * count + 1].index - self.found[side * count].index
                if step == 1 or step == -1:
                    score += step * (2 if self.found[side * count].kind == IN_RUN else 1)
        return score < 0

    cdef void reverse(self, int32_t first, int32_t end) noexcept:
        end -= 1
        while first < end:
            self.order[first], self.order[end] = self.order[end], self.order[first]
            first += 1
            end -= 1

    cdef int32_t end_of_piece(self, int32_t start, int32_t count) noexcept:
        """Where members whose operands are affine end."""
        cdef int32_t j = start + 1
        while j < count and follows(self.found, start, j) and follows(self.found + count, start, j):
            j += 1
        return j

    cdef int32_t pieces(self, int32_t count) noexcept:
        cdef int32_t start = 0
        cdef int32_t found = 0
        while start < count:
            start = self.end_of_piece(start, count)
            found += 1
        return found

    cdef int add_run(self, int32_t first, int32_t count, int32_t start, int32_t stop) except -1:
        """A run of the members from `start` to `stop` of a group of so many."""
        cdef int32_t op = self.steps[self.order[first + start]].op
        cdef VectorOp* run = self.new_run(OPERATION, op, stop - start, ARITY[op])
        cdef int32_t j, i, side
        run.first = first + start
        for side in range(run.sides):
            self.describe(&run.source[side], self.found + side * count + start, stop - start)
        self.settle()
        for j in range(stop - start):
            i = self.order[first + start + j]
            self.run[i] = self.n_runs - 1
            self.at[i] = j
            self.placement[i] = IN_A_RUN
        return 0

    cdef int describe(self, Source* source, At* found, int32_t count) except -1:
        """What the members of a run read on one side."""
        cdef int32_t j
        cdef bint mixture = False
        source.kind, source.of, source.start = found[0].kind, found[0].of, found[0].index
        source.stride = found[1].index - found[0].index
        source.gathered, source.view, source.is_truth = False, NULL, False
        source.wait = 1
        for j in range(count):
            source.gathered = source.gathered or not follows(found, 0, j)
            mixture = mixture or found[j].kind != IN_ARRAY or found[j].of != found[0].of
            source.wait = max(source.wait, self.stage_of(&found[j]))
        if source.gathered and mixture:
            source.kind = IN_SLOT
            for j in range(count):
                if found[j].kind == IN_RUN:
                    self.give_room(&self.runs[found[j].of])
        if source.kind == IN_ARRAY:
            self.keep_array(source.of)
        return 0

    cdef inline int32_t stage_of(self, At* found) noexcept:
        """The first odd stage in which a number can be read from memory."""
        if found.kind == IN_RUN:
            return self.runs[found.of].stage + 2
        return self.after(<int32_t>(found.of if found.kind == IN_ARRAY else found.index), True)

    cdef int32_t after(self, int32_t register, bint is_run) noexcept:
        """The first stage in which a register can be read: odd for a run, even for a single step."""
        cdef int32_t i
        if register >= self.registers or self.maker[register] == 0:
            return 1 if is_run else 0
        i = self.maker[register] - 1
        if self.placement[i] == AN_ITEM:
            return self.after(self.steps[i].a, is_run)
        if self.placement[i] == IN_A_RUN:
            return self.runs[self.run[i]].stage + (2 if is_run else 1)
        if self.placement[i] == IN_PIECES:
            return self.stage[i] + (2 if is_run else 1)
        return self.stage[i] + 1 if is_run else self.stage[i]

    # ---- steps by themselves

    cdef int place(self, int32_t i) except -1:
        """Find the stage of a step, or what it is in a fused loop."""
        cdef Step* step = &self.steps[i]
        cdef ArrayStep* array_step
        cdef int32_t k
        cdef Rowwise rows
        self.stage[i] = 0
        if step.form == SCALAR_STEP:
            self.wait_for(i, step.a)
            self.wait_for(i, step.b)
        elif step.form == ARRAY_STEP:
            array_step = &self.program.array_steps[step.a]
            rows = self.rows_of(i)
            if rows is not None and self.place_rows(i, rows):
                return 0
            self.see_through(i, array_step)
            for k in range(array_step.first, array_step.first + array_step.n_in):
                self.wait_for(i, self.program.places[k])
            if self.is_noticed(i):
                self.stage[i] = self.noticed = max(self.stage[i], self.noticed)
        self.stages = max(self.stages, self.stage[i] + 1)
        return 0

    cdef int see_through(self, int32_t i, ArrayStep* step) except -1:
        """Let a matrix product read its operands where views show them, if BLAS can: a transpose is not copied."""
        cdef Signature sig = (<Plan>step.plan).signature
        cdef Plan plan
        cdef int32_t k
        if sig.primitive.name != "matmul" or (<Plan>step.plan).kind != K_GUFUNC:
            return 0
        sights = [self.sight(self.program.places[step.first + k], (<AbstractValue>sig.avals[k]).shape)
                  for k in range(2)]
        seen = [None if sight is None or not is_matrix(aval, sight[1]) else sight[1]
                for sight, aval in zip(sights, sig.avals)]
        if seen == [None, None]:
            return 0
        plan = product_of_views(sig, seen)
        self.sees_through = True
        self.program.alive.append(plan)
        step.plan = <void*>plan
        for k in range(2):
            if seen[k] is not None:
                self.program.places[step.first + k] = <int32_t>sights[k][0]
        return 0

    cdef object sight(self, int32_t register, shape):
        """(the register that is seen at a shape through a view, strides in bytes); None where there is no such view."""
        cdef int32_t i = self.maker[register] - 1 if 0 <= register < self.registers else -1
        cdef Plan plan
        cdef Signature sig
        cdef int32_t x
        if i < 0 or self.placement[i] != A_VIEW:
            return None
        plan = <Plan>self.program.array_steps[self.steps[i].a].plan
        if plan.kind != K_STRIDED:
            return None
        sig = plan.signature
        x = self.operand(i, 0)
        found, strides, offset = sig.primitive.function(sig.params, sig.avals[0])
        if offset or tuple(found) != shape or self.program.uniform[x] < 0 or self.number[x]:
            return None
        below = self.sight(x, (<AbstractValue>sig.avals[0]).shape)
        through = None if below is None else composed(shape, strides, sig.avals[0], below[1])
        return (x, list(strides)) if through is None else (below[0], through)

    cdef void wait_for(self, int32_t i, int32_t register) noexcept:
        cdef int32_t stage = self.after(register, False)
        self.stage[i] = max(self.stage[i], stage + (stage & 1))

    # ---- runs of arrays

    cdef inline int32_t operand(self, int32_t i, int32_t k) noexcept:
        """The register of an operand of a step on arrays, or of its result behind them."""
        return self.program.places[self.program.array_steps[self.steps[i].a].first + k]

    cdef bint place_rows(self, int32_t i, Rowwise rows) except -1:
        """Take a step on arrays into fused loops, if it can be."""
        cdef VectorOp* run
        cdef Source source
        cdef Plan plan
        cdef uint16_t op
        cdef int32_t k
        cdef int32_t out = self.operand(i, rows.n)
        if self.program.uniform[out] < 0 and rows.form != TOTAL:
            return False                            # a number, in a slot
        plan = <Plan>self.program.array_steps[self.steps[i].a].plan
        if rows.of_truths:
            self.note_truths(i)
        for k in range(rows.n):
            if self.operand(i, k) in self.known:
                self.find_equal(self.operand(i, k), (<AbstractValue>plan.signature.avals[k]).size)
        if rows.form == VIEW:
            return self.place_view(i, rows, out)
        if rows.form == PIECES:
            return self.place_pieces(i, rows, out)
        if rows.form == COLUMNS:
            return self.place_columns(i, rows, out)
        if rows.form == SUMS and not (can_be_shared(&rows.views[0]) and self.is_made_in_chain(self.operand(i, 0))):
            return False
        if rows.form == ELEMENTWISE and self.place_number(i, rows, out):
            return True
        reserve(<void**>&self.runs, &self.cap_runs, self.n_runs + 1, sizeof(VectorOp))
        for k in range(rows.n):
            self.find_source(&source, self.operand(i, k), NULL if rows.form == SUMS else &rows.views[k], 0)
            self.runs[self.n_runs].source[k] = source
        op = self.simplified(self.steps[i].op, rows.size) if rows.form == ELEMENTWISE else self.steps[i].op
        if op == OP_POWER and rows.n == 2 and self.is_constant(&self.runs[self.n_runs].source[1], 2.0):
            run = self.new_run(OPERATION, OP_SQUARE, rows.size, 1)
        elif rows.form == SUMS:
            run = self.new_run(SUMS_ALONG, self.steps[i].op, rows.size, 1)
            run.along, run.behind = rows.views[0].dims[1], rows.views[0].dims[2]
        else:
            sides = 3 if op == OP_SELECT else rows.n
            run = self.new_run(SUM if rows.form == TOTAL else OPERATION, op, rows.size, sides)
        if run.work == OPERATION and not (
                rows.of_truths or run.op == OP_SELECT or INFO[run.op].v1 or INFO[run.op].v2 or INFO[run.op].forms):
            run.loop, run.data = <void*>plan.loop, plan.data
        if rows.form == TOTAL:
            run.base, run.kept = out, True
        else:
            run.home, run.base = out, 0
            run.is_truth = out in self.truths
            run.kept = rows.form == SUMS
        self.settle()
        self.run[i], self.at[i] = self.n_runs - 1, 0
        self.placement[i] = IN_A_RUN
        return True

    cdef int note_truths(self, int32_t i) except -1:
        """Note which operands and results of a step are arrays of booleans."""
        cdef ArrayStep* step = &self.program.array_steps[self.steps[i].a]
        cdef Signature sig = (<Plan>step.plan).signature
        cdef int32_t k
        for k, aval in enumerate(sig.avals + sig.results):
            if is_truth(aval) and self.program.uniform[self.program.places[step.first + k]] >= 0:
                self.truths.add(self.program.places[step.first + k])
        return 0

    cdef bint is_made_in_chain(self, int32_t register) except -1:
        """Whether a fused loop makes an array, number by number."""
        cdef int32_t i = self.maker[register] - 1
        if i >= 0 and self.placement[i] == A_VIEW and self.rows_of(i).views[0].ndim <= 1:
            return self.is_made_in_chain(self.operand(i, 0))
        return i >= 0 and self.placement[i] == IN_A_RUN and self.runs[self.run[i]].work == OPERATION

    cdef int find_equal(self, int32_t register, int64_t size) except -1:
        """Let an array that is there before the run be a number, if all of it is the same."""
        cdef Lowered program = self.program
        cdef const char* data = <const char*>program.presets[<int32_t>self.known.pop(register)].value.o
        cdef bint truths = register in self.truths
        cdef int64_t itemsize = 1 if truths else sizeof(double)
        cdef int32_t number
        if memcmp(data, data + itemsize, (size - 1) * itemsize):
            return 0
        number = add_preset(program, data[0] if truths else (<const double*>data)[0])
        self.number[register] = number + 1
        self.constants[number] = data[0] if truths else (<const double*>data)[0]
        return 0

    cdef bint is_constant(self, Source* source, double value) except -1:
        """Whether a source is one number, known to be `value`."""
        return source.kind == IN_SLOT and source.stride == 0 and self.constants.get(source.start) == value

    # ---- masks: by `not c` as selections by c, and 1 where c, times x, as x where c

    cdef uint16_t simplified(self, uint16_t op, int64_t count) except? 0:
        """The operation that does the same as `op` does on the sources of the run to be, which it changes."""
        cdef Source* source = self.runs[self.n_runs].source
        cdef VectorOp* made
        if (not (op == OP_STRONG_MULTIPLY or op == OP_MASK or op == OP_SELECT)
                or not self.is_made_whole(&source[0], count)):
            return op
        made = &self.runs[source[0].of]
        if op == OP_STRONG_MULTIPLY:
            if made.op == OP_MASK and self.is_constant(&made.source[1], 1.0):
                source[0] = made.source[0]
                return OP_MASK
            if made.op == OP_SELECT and self.is_constant(&made.source[1], 0.0) and (
                    self.is_constant(&made.source[2], 1.0)):
                source[0], source[2] = made.source[0], source[1]
                self.find_zero(&source[1])
                return OP_SELECT
        elif made.op == self.logical_not:
            if op == OP_SELECT:
                source[1], source[2] = source[2], source[1]
            else:
                source[2] = source[1]
                self.find_zero(&source[1])
            source[0] = made.source[0]
            return OP_SELECT
        return op

    cdef bint is_made_whole(self, Source* source, int64_t count) noexcept:
        """Whether a source is all that a run gives."""
        return (source.kind == IN_RUN and not source.gathered and source.view == NULL and source.start == 0
                and source.stride == 1 and self.runs[source.of].work == OPERATION
                and self.runs[source.of].count == count)

    cdef int find_zero(self, Source* source) except -1:
        """Let a source be the number 0."""
        cdef int32_t number = add_preset(self.program, 0.0)
        self.constants[number] = 0.0
        source.kind, source.of, source.start, source.stride, source.view = IN_SLOT, NONE, number, 0, NULL
        source.gathered, source.is_truth, source.wait = False, False, 1
        return 0

    cdef int find_source(self, Source* source, int32_t register, const AccessPattern* view, int64_t start) except -1:
        """What a run reads that sees a register through a view, from flat number `start` of it on."""
        cdef int32_t i = self.maker[register] - 1 if register < self.registers else -1
        cdef bint affine = view == NULL or view.ndim <= 1
        cdef int64_t stride = 1 if view == NULL else (view.strides[0] if view.ndim == 1 else 0)
        cdef int64_t offset = start + (view.offset if affine and view != NULL else 0)
        cdef Rowwise rows
        cdef bint whole
        source.gathered, source.view, source.is_truth = False, NULL, register in self.truths
        source.kind, source.of, source.start, source.stride = IN_ARRAY, register, offset, stride
        if not affine:
            source.view, source.start, source.stride = view, start, 1
        if self.program.uniform[register] < 0:
            return self.find_number(source, register)
        if self.number[register]:
            source.kind, source.start, source.stride, source.view = IN_SLOT, self.number[register] - 1, 0, NULL
            source.wait = self.after_number(i)
            return 0
        if i >= 0 and self.placement[i] == A_VIEW and affine and not is_scattered(&self.rows_of(i).views[0]):
            rows = self.rows_of(i)
            whole = offset == 0 and stride == 1 and (view == NULL or view.count == rows.size)
            if whole or rows.views[0].ndim <= 1:
                self.find_source(source, self.operand(i, 0), &rows.views[0], 0)
                if whole or source.kind == IN_SLOT:
                    return 0
                if source.view == NULL:
                    source.start += offset * source.stride
                    source.stride *= stride
                    return 0
                source.kind, source.of, source.start, source.stride = IN_ARRAY, register, offset, stride
                source.view, source.is_truth = NULL, register in self.truths
        if i >= 0 and self.placement[i] == IN_A_RUN and affine and self.runs[self.run[i]].work != SUMS_ALONG:
            source.kind, source.of = IN_RUN, self.run[i]
        else:
            self.keep_array(register)
        source.wait = self.after(register, True)
        return 0

    cdef int find_number(self, Source* source, int32_t register) except -1:
        """What a run reads that takes one number again and again."""
        cdef At found = self.where(register)
        source.wait = self.stage_of(&found)
        source.kind, source.of, source.start, source.stride, source.view = found.kind, found.of, found.index, 0, NULL
        if found.kind == IN_ARRAY:
            self.keep_array(found.of)
        return 0

    cdef inline int32_t after_number(self, int32_t i) noexcept:
        return self.at[i] + 1 if i >= 0 else 0      # the stage of the step that computes it

    cdef bint place_view(self, int32_t i, Rowwise rows, int32_t out) except -1:
        """A view is read where it looks."""
        cdef int32_t x = self.operand(i, 0)
        self.placement[i] = A_VIEW
        self.wait_for(i, x)         # where it is loaded
        self.stages = max(self.stages, self.stage[i] + 1)
        if self.program.uniform[x] < 0 and self.maker[x] == 0:
            self.number[out] = x + 1
            self.placement[i] = ONE_NUMBER
            self.at[i] = 0
        return True

    cdef bint place_number(self, int32_t i, Rowwise rows, int32_t out) except -1:
        """What is computed from equal numbers alone is computed as one."""
        cdef Source found[3]
        cdef Step step
        cdef int32_t k
        cdef int32_t stage = 0
        if INFO[self.steps[i].op].f1 == NULL and INFO[self.steps[i].op].f2 == NULL:
            return False            # there is no such operation on numbers
        for k in range(rows.n):
            self.find_source(&found[k], self.operand(i, k), &rows.views[k], 0)
            if found[k].kind != IN_SLOT or found[k].stride != 0:
                return False
            stage = max(stage, found[k].wait - 1)
        step.op, step.form = self.steps[i].op, SCALAR_STEP
        step.a = <int32_t>found[0].start
        step.b = <int32_t>found[rows.n - 1].start
        step.out = self.program.n_uniform
        more_registers(self.program, 1)
        self.number[out] = step.out + 1
        self.placement[i] = ONE_NUMBER
        self.at[i] = stage
        for k in range(rows.n):
            self.wait_for(i, self.operand(i, k))
        self.add_extra(step, stage)
        self.stages = max(self.stages, max(stage, self.stage[i]) + 1)
        return True

    cdef int add_extra(self, Step step, int32_t stage) except -1:
        reserve(<void**>&self.extra, &self.cap_extra, self.n_extra + 1, sizeof(Step))
        reserve(<void**>&self.extra_stage, &self.cap_extra_stage, self.n_extra + 1, sizeof(int32_t))
        self.extra[self.n_extra] = step
        self.extra_stage[self.n_extra] = stage
        self.n_extra += 1
        return 0

    cdef bint place_pieces(self, int32_t i, Rowwise rows, int32_t out) except -1:
        """An assembly is the sum of those that reach there, stretch by stretch."""
        cdef list ends = sorted({0, rows.size} | {
            end for k in range(rows.n) for end in (rows.views[k].offset, rows.views[k].offset + rows.views[k].count)})
        cdef int32_t stage = 1
        for low, high in zip(ends, ends[1:]):
            covering = [k for k in range(rows.n)
                        if rows.views[k].offset <= low and high <= rows.views[k].offset + rows.views[k].count]
            stage = max(stage, self.add_stretch(i, rows, out, low, high, covering))
        self.placement[i] = IN_PIECES
        self.stage[i] = stage
        return True

    cdef int32_t add_stretch(self, int32_t i, Rowwise rows, int32_t out, int64_t low, int64_t high,
                             list covering) except -1:
        """The numbers from `low` to `high` of an assembly; returns their stage."""
        cdef int32_t total = NONE
        cdef int32_t k, n
        cdef VectorOp* run
        cdef Source source
        for n, k in enumerate(covering):
            self.find_source(&source, self.operand(i, k), NULL, low - rows.views[k].offset)
            if n == 0 and len(covering) > 1:
                first = source
                continue
            reserve(<void**>&self.runs, &self.cap_runs, self.n_runs + 1, sizeof(VectorOp))
            if len(covering) == 1:
                self.runs[self.n_runs].source[0] = source
                run = self.new_run(COPY, 0, high - low, 1)
            else:
                if total == NONE:
                    self.runs[self.n_runs].source[0] = first
                else:
                    of_run(&self.runs[self.n_runs].source[0], total, self.runs[total].stage)
                self.runs[self.n_runs].source[1] = source
                run = self.new_run(OPERATION, OP_ADD, high - low, 2)
            run.home, run.base = out, low
            run.kept = n == len(covering) - 1
            self.settle()
            total = self.n_runs - 1
        if not covering:
            run = self.new_run(ZEROS, 0, high - low, 0)
            run.home, run.base, run.kept = out, low, True
            self.settle()
            total = self.n_runs - 1
        return self.runs[total].stage

    cdef bint place_columns(self, int32_t i, Rowwise rows, int32_t out) except -1:
        """Each column is written where it goes."""
        cdef int32_t k
        cdef VectorOp* run
        cdef Source source
        for k in range(rows.n):
            self.find_source(&source, self.operand(i, k), NULL, 0)
            reserve(<void**>&self.runs, &self.cap_runs, self.n_runs + 1, sizeof(VectorOp))
            self.runs[self.n_runs].source[0] = source
            run = self.new_run(STORE, 0, rows.views[k].count, 1)
            run.home, run.base, run.step, run.kept = out, rows.views[k].offset, rows.views[k].strides[0], True
            self.settle()
            self.stage[i] = max(self.stage[i], self.runs[self.n_runs - 1].stage)
        self.placement[i] = IN_PIECES
        return True

    # ---- what is needed in memory

    cdef int keep_array(self, int32_t register) except -1:
        """Have an array in memory."""
        cdef int32_t i = self.maker[register] - 1 if register < self.registers else -1
        if i < 0 or self.loaded[i]:
            return 0
        if self.placement[i] == IN_A_RUN:
            self.give_room(&self.runs[self.run[i]])
        elif self.placement[i] == AN_ITEM or self.placement[i] == A_VIEW or self.placement[i] == ONE_NUMBER:
            self.loaded[i] = True
        return 0

    cdef int find_what_is_needed(self) except -1:
        """Keep what single steps read, and what the program gives."""
        cdef Lowered program = self.program
        cdef ArrayStep* array_step
        cdef Step* step
        cdef VectorOp* run
        cdef int32_t i, k
        for k in range(program.n_outputs):
            self.keep_register(program.outputs[k].register)
        for k in range(program.n_checks):
            self.keep_register(program.checks[k].register)
        for k in range(program.n_broadcasts):
            self.keep_register(program.broadcasts[2 * k])
        for i in range(program.first_varying, program.n_steps):
            if program.steps[i].form == ARRAY_STEP:
                array_step = &program.array_steps[program.steps[i].a]
                for k in range(array_step.first, array_step.first + array_step.n_in):
                    self.keep_register(program.places[k])
        for i in range(self.n_extra):
            self.keep_register(self.extra[i].a)
            self.keep_register(self.extra[i].b)
        for k in range(self.n_runs):
            run = &self.runs[k]
            for i in range(run.sides):
                if run.source[i].gathered and run.source[i].kind == IN_SLOT:
                    self.keep_gathered(run, i)
                elif run.source[i].kind == IN_SLOT and not run.source[i].gathered and run.source[i].stride == 0:
                    self.keep_register(<int32_t>run.source[i].start)
        for i in range(self.n - 1, -1, -1):
            step = &self.steps[i]
            if not (self.placement[i] == SINGLE or self.loaded[i]):
                continue
            if step.form == ARRAY_STEP:
                array_step = &program.array_steps[step.a]
                for k in range(array_step.first, array_step.first + array_step.n_in):
                    self.keep_register(program.places[k])
            else:
                self.keep_register(step.a)
                if step.form == SCALAR_STEP:
                    self.keep_register(step.b)
        for i in range(self.n):
            if self.placement[i] == IN_A_RUN and self.steps[i].form == SCALAR_STEP and self.runs[self.run[i]].kept:
                self.moved[self.steps[i].out] = <int32_t>self.runs[self.run[i]].base + self.at[i] + 1
        return 0

    cdef inline int keep_register(self, int32_t register) except -1:
        if register >= 0:
            self.keep_array(register)
        return 0

    cdef int keep_gathered(self, VectorOp* run, int32_t side) except -1:
        cdef int32_t j
        cdef Step* step
        for j in range(run.count):
            step = &self.steps[self.order[run.first + j]]
            self.keep_register(step.a if side == 0 else step.b)
        return 0

    cdef inline int32_t now(self, int32_t register) noexcept:
        """Where a register went."""
        return self.moved[register] - 1 if 0 <= register < self.registers and self.moved[register] else register

    cdef int32_t* table(self, FusedLoop chain, VectorOp* run, int32_t side) except NULL:
        cdef int32_t* table = chain.new_table(run.count)
        cdef int32_t j, register
        cdef Step* step
        for j in range(run.count):
            step = &self.steps[self.order[run.first + j]]
            register = step.a if side == 0 else step.b
            table[j] = self.steps[self.maker[register] - 1].b if run.source[side].kind == IN_ARRAY else (
                self.now(register))
        return table

    cdef int forget_room(self) except -1:
        """Arrays that no one reads in memory need no buffer."""
        cdef Lowered program = self.program
        cdef VectorOp* run
        cdef int32_t k, side
        cdef int32_t kept = 0
        for k in range(self.n_runs):
            run = &self.runs[k]
            for side in range(run.sides):
                if run.source[side].kind == IN_ARRAY and not self.is_in_memory(run.source[side].of):
                    raise RuntimeError(
                        f"register {run.source[side].of} is read, but not kept; this is an error in hoad")
        for k in range(program.n_owned):
            if self.is_in_memory(program.owned[k]):
                program.owned[kept] = program.owned[k]
                kept += 1
            else:
                program.uniform[program.owned[k]] = 0
        program.n_owned = kept
        return 0

    cdef bint is_in_memory(self, int32_t register) noexcept:
        cdef int32_t i = self.maker[register] - 1
        if i < 0 or self.loaded[i] or self.placement[i] == SINGLE or self.placement[i] == IN_PIECES:
            return True
        return self.placement[i] == IN_A_RUN and self.runs[self.run[i]].kept


cdef void of_run(Source* source, int32_t run, int32_t stage) noexcept:
    """The numbers of a run, as they come."""
    source.kind, source.of, source.start, source.stride = IN_RUN, run, 0, 1
    source.view, source.gathered, source.wait, source.is_truth = NULL, False, stage + 2, False


cdef bint is_scattered(const AccessPattern* view) noexcept:
    """Whether neighbours in a view lie in other lines of the cache: they are put together beforehand, in one go."""
    return view.ndim > 1 and view.count >= LARGE and abs(view.strides[view.ndim - 1]) >= LINE


cdef bint can_be_shared(const AccessPattern* sums) noexcept:
    """Whether sums along an axis leave something for several threads to do, or are not worth them."""
    return sums.count <= LONGEST_ALONE or sums.dims[0] >= FEWEST_APART


cdef object composed(shape, strides, aval, below):
    """Strides through a view of a view, whose axes are axes of the view below; else None."""
    own = contiguous_strides(aval.shape, aval.itemsize)
    found = []
    for n, stride in zip(shape, strides):
        axes = [d for d, m in enumerate(aval.shape) if own[d] == stride and n == m]
        if n != 1 and not axes:
            return None
        found.append(0 if n == 1 else below[axes[0]])
    return found


cdef bint is_matrix(aval, strides) except -1:
    """Whether BLAS can read the last two axes through these strides: along one of them numbers are neighbours."""
    if aval.ndim < 2:
        return False
    (n, m), (down, across), size = aval.shape[-2:], strides[-2:], aval.itemsize
    return (across == size and down >= m * size) or (down == size and across >= n * size)


cdef inline bint follows(At* found, int32_t start, int32_t j) noexcept:
    """Whether member j stands where the first two of a piece say."""
    return (found[j].kind == found[start].kind and found[j].of == found[start].of
            and found[j].index - found[start].index == (j - start) * (found[start + 1].index - found[start].index))
