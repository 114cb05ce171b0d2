"""Runs: operations on rows, and the fused loops they join.

Time is cut into *stages*: in odd ones fused loops work on runs, in even ones single steps on what is left. A run waits
for the stage of its operands, except that it joins the fused loop that makes them where it reads them at its own
coordinate or at an earlier one. What is read otherwise than at its own coordinate, or by anything but its fused loop,
is kept in memory.
"""

from hoad._core.base.blocks cimport give, reserve
from hoad._core.runtime.fused_loop cimport (
    BLOCK,
    M_BYTES,
    M_EACH1,
    M_EACH2,
    M_EXPAND,
    M_EXPAND_TRUTHS,
    M_GATHER,
    M_GATHERED,
    M_LOAD,
    M_COPY,
    M_LOOP1,
    M_LOOP2,
    M_PAIR,
    M_ROW,
    M_ROWS,
    M_SELECT,
    M_STORE,
    M_SUM,
    M_SUMS,
    M_TRUTHS,
    M_ZERO,
    MARGIN,
    ROW,
    SLOTS,
    FusedLoop,
    Instruction,
    RowPlace,
)
from hoad._core.runtime.engine cimport Lowered, Preset
from hoad._core.graph.primitive cimport INFO
from hoad._core.graph.tape cimport OP_ADD, OP_DIVIDE, OP_MULTIPLY, OP_NEGATIVE, OP_SQUARE, OP_SUBTRACT
from hoad._core.kernels.vector cimport (
    FIRST_ADD,
    FIRST_LESS,
    FIRST_TIMES,
    THEN_ADD,
    THEN_FROM,
    THEN_LESS,
    THEN_TIMES,
    Kernel3,
    pair_kernel,
    selection_kernel,
)

cdef enum:
    CHAINS_TRIED = 8            # the latest, for a run that may join any
    COSTLY = 8                  # numbers of arithmetic that take as long as one of another function
    STORES_TOGETHER = 32        # whose rows wait for each other in cache


cdef class Fusion:
    """The runs of a program, and the fused loops they join; what they come of is its child's business."""

    def __cinit__(self, *_):
        self.minus_one = NONE

    def __dealloc__(self):
        give(self.runs, self.cap_runs * sizeof(VectorOp))
        give(self.links, self.cap_links * sizeof(Link))

    cdef VectorOp* new_run(self, int32_t work, int32_t op, int64_t count, int32_t sides) except NULL:
        """A run to be filled in, and then settled."""
        cdef VectorOp* run
        reserve(<void**>&self.runs, &self.cap_runs, self.n_runs + 1, sizeof(VectorOp))
        run = &self.runs[self.n_runs]
        run.work, run.op, run.count, run.sides = <uint8_t>work, <uint16_t>op, <int32_t>count, <uint8_t>sides
        run.first = 0
        run.loop = run.data = NULL
        run.home, run.base, run.step = SLOTS, NONE, 1
        run.is_truth = False
        make_new(run, 1)
        return run

    # ---- stages

    cdef int settle(self) except -1:
        """Find stage, fused loop and coordinate of the new run, whose sources are known."""
        self.do_again()
        return self.join()

    cdef int do_again(self) except -1:
        """Let sources of the new run be made once more where that costs less than to keep them in memory till then."""
        cdef VectorOp run = self.runs[self.n_runs]
        cdef VectorOp* made
        cdef int32_t side, of
        cdef int32_t stage = self.stage_of_run(&run)
        for side in range(run.sides):
            if not self.is_worth_again(&run, &run.source[side], stage):
                continue
            of = run.source[side].of
            reserve(<void**>&self.runs, &self.cap_runs, self.n_runs + 2, sizeof(VectorOp))
            made = &self.runs[self.n_runs]
            made[0] = self.runs[of]
            make_new(made, stage)
            made.again = of
            self.join()
            run.source[side].of = self.n_runs - 1
        self.runs[self.n_runs] = run
        return 0

    cdef bint is_worth_again(self, VectorOp* run, Source* source, int32_t stage) noexcept:
        """Whether a source from an earlier stage is plain arithmetic on one array that is in memory anyway."""
        cdef VectorOp* other
        cdef Source* read
        cdef int32_t side
        cdef int arrays = 0
        if not may_join(source) or source.start:
            return False
        other = &self.runs[source.of]
        if (other.stage >= stage or other.count != run.count or other.work != OPERATION or other.home == SLOTS
                or first_of(other.op) < 0 and other.op != OP_NEGATIVE):
            return False
        for side in range(other.sides):
            read = &other.source[side]
            if read.gathered or read.view != NULL or read.is_truth:
                return False
            if read.stride:
                arrays += 1
                if read.stride != 1 or read.kind == IN_SLOT or read.kind == IN_RUN and not self.runs[read.of].kept:
                    return False
        return arrays == 1

    cdef int32_t stage_of_run(self, VectorOp* run) noexcept:
        """The first stage in which a run can read its sources."""
        cdef int32_t stage = run.stage
        cdef int32_t side
        for side in range(run.sides):
            stage = max(stage, self.runs[run.source[side].of].stage if may_join(&run.source[side]) else (
                run.source[side].wait))
        return stage

    cdef int join(self) except -1:
        """Put the new run in a fused loop."""
        cdef int32_t number = self.n_runs
        cdef VectorOp* run = &self.runs[number]
        cdef VectorOp* other
        cdef int32_t side
        for side in range(run.sides):
            run.source[side].minus = False
        run.stage = self.stage_of_run(run)
        for side in range(run.sides):
            if not self.joins(&run.source[side], run.stage):
                continue
            other = &self.runs[run.source[side].of]
            if run.chain != NONE and run.chain != other.chain:      # two fused loops cannot be one any more
                run.stage += 2
                run.chain, run.low = NONE, 0
                break
            run.low = max(run.low, other.low + run.source[side].start) if run.chain != NONE else (
                other.low + run.source[side].start)
            run.chain = other.chain
        if run.work == SUM and run.low % BLOCK or run.work == SUMS_ALONG and run.low:
            # its blocks are to be its own, whatever fused loop it is in
            run.stage += 2
            run.chain, run.low = NONE, 0
        if run.chain == NONE:
            run.chain = self.chain_for(run.stage, run.count)
        self.stages = max(self.stages, run.stage + 1)
        self.append(run.chain, number)
        self.n_runs += 1
        for side in range(run.sides):
            self.note_use(run, &run.source[side])
        return 0

    cdef bint joins(self, Source* source, int32_t stage) noexcept:
        return may_join(source) and self.runs[source.of].stage == stage

    cdef int32_t chain_for(self, int32_t stage, int64_t count) except -2:
        """A fused loop of that stage for a run that joins none by its operands."""
        cdef int32_t k
        cdef int64_t difference
        cdef Link* link
        for k in range(self.n_links - 1, max(self.n_links - 1 - CHAINS_TRIED, -1), -1):
            link = &self.links[k]
            difference = link.count - count
            if link.stage == stage and -link.count <= 8 * difference <= link.count:
                return k
        reserve(<void**>&self.links, &self.cap_links, self.n_links + 1, sizeof(Link))
        link = &self.links[self.n_links]
        link.stage, link.count = stage, count
        link.head = link.tail = NONE
        self.n_links += 1
        return self.n_links - 1

    cdef void append(self, int32_t chain, int32_t number) noexcept:
        cdef Link* link = &self.links[chain]
        if link.tail == NONE:
            link.head = number
        else:
            self.runs[link.tail].next = number
        link.tail = number

    cdef int64_t shift(self, VectorOp* run, Source* source) noexcept:
        """How many coordinates before its own a run reads another of its fused loop."""
        return run.low - self.runs[source.of].low - source.start

    cdef int note_use(self, VectorOp* run, Source* source) except -1:
        """Keep the run that is read from beyond its block."""
        cdef VectorOp* other
        if source.kind != IN_RUN or source.gathered:
            return 0
        other = &self.runs[source.of]
        if self.reads_row(run, source):
            other.users += 1
            other.remembered = other.remembered or self.shift(run, source) > 0
        else:
            self.give_room(other)
        return 0

    cdef int give_room(self, VectorOp* run) except -1:
        """Keep the results of a run: in its array, or in slots that follow each other."""
        run.kept = True
        if run.again != NONE:
            self.runs[run.again].kept = True        # whose room it is
        if run.home == SLOTS and run.base == NONE:
            run.base = self.program.n_uniform
            more_registers(self.program, run.count)
        return 0

    # ---- fused loops

    cdef list chains_of(self):
        """Numbers of the fused loops, by stage."""
        return sorted(range(self.n_links), key=lambda k: self.links[<int32_t>k].stage)

    cdef FusedLoop build(self, int32_t number):
        """A fused loop of the runs that joined it."""
        cdef FusedLoop chain = FusedLoop.__new__(FusedLoop)
        cdef RowAllocator rows = RowAllocator()
        cdef list members = self.members(number)
        cdef int32_t k, first
        self.absorb_signs(number, members)
        self.pair(members)
        self.find_reach(number, members)
        members = self.in_turn(members)
        self.find_ends(rows, members)
        for k in members:
            first = chain.n_code
            rows.now = k
            self.add_instruction(chain, rows, k)
            if self.runs[k].is_truth and self.runs[k].kept:
                self.add_bytes(chain, rows, &self.runs[k])
            chain.read_back(first, self.runs[k].reach)
            rows.give_back()
        return chain

    cdef list members(self, int32_t number):
        """The runs of a fused loop that somebody reads, as they were made."""
        cdef list found = []
        cdef list busy = []
        cdef int32_t side
        cdef VectorOp* run
        cdef int32_t k = self.links[number].head
        while k != NONE:
            found.append(k)
            self.runs[k].last = NONE
            k = self.runs[k].next
        for k in reversed(found):
            run = &self.runs[k]
            if not is_idle(run):
                busy.append(k)
            for side in range(run.sides if is_idle(run) else 0):
                if self.reads_row(run, &run.source[side]):
                    self.runs[run.source[side].of].users -= 1
        return busy[::-1]

    cdef bint reads_row(self, VectorOp* run, Source* source) noexcept:
        """Whether a source is read from a row of the block."""
        return (may_join(source) and self.runs[source.of].chain == run.chain
                and self.shift(run, source) <= MARGIN)

    cdef bint is_within(self, int32_t number, Source* source) noexcept:
        """Whether a source is a run of the fused loop with that number."""
        return may_join(source) and self.runs[source.of].chain == number

    cdef int find_reach(self, int32_t number, list members) except -1:
        """Find how far back the runs of a fused loop are read by others."""
        cdef int32_t k, side
        cdef Source* source
        cdef VectorOp* other
        for k in reversed(members):
            for side in range(self.runs[k].sides):
                source = &self.runs[k].source[side]
                if self.is_within(number, source):
                    other = &self.runs[source.of]
                    other.reach = max(other.reach, self.runs[k].reach + self.shift(&self.runs[k], source))
        return 0

    cdef list in_turn(self, list members):
        """The runs of a fused loop as they are done: many that write side by side follow each other."""
        cdef list found = []
        cdef list stores = []
        for k in members:
            if self.runs[<int32_t>k].work != STORE:
                found.append(k)
                continue
            stores.append(k)
            if len(stores) == STORES_TOGETHER:
                found += stores
                stores = []
        return found + stores

    cdef int find_ends(self, RowAllocator rows, list members) except -1:
        """Note which run is the last to read each row, and what has to come to one."""
        cdef int32_t k, side, part
        cdef VectorOp* run
        cdef Source* source
        for k in members:
            if self.runs[k].is_inner:
                continue
            for part in (k, self.runs[k].inner):
                run = &self.runs[part]
                for side in range(run.sides if part != NONE else 0):
                    source = &run.source[side]
                    if self.reads_row(run, source):
                        self.runs[source.of].last = k
                    elif source.kind != IN_RUN and not source.gathered:
                        rows.last[load_of(run, source)] = k
        return 0

    # ---- signs: (-a) b = -(a b) and a + (-b) = a - b, to the last bit, so a negation need not be done

    cdef int absorb_signs(self, int32_t number, list members) except -1:
        """Let the readers of negations read what those read, where they can do without."""
        cdef int32_t k, side
        cdef VectorOp* run
        for k in reversed(members):
            run = &self.runs[k]
            run.is_free = run.is_free and not run.kept
            for side in range(run.sides):
                if self.is_within(number, &run.source[side]) and not takes_minus(run):
                    self.runs[run.source[side].of].is_free = False
        for k in members:
            run = &self.runs[k]
            for side in range(run.sides):
                self.look_through(number, &run.source[side])
            self.take_signs(run)
        return 0

    cdef void look_through(self, int32_t number, Source* source) noexcept:
        """Let a run read what a negation reads, in place of that."""
        cdef VectorOp* run
        cdef int64_t start = source.start
        if not self.is_within(number, source):
            return
        run = &self.runs[source.of]
        if not run.is_inner:
            source.minus = run.minus
            return
        source[0] = run.source[0]
        source.start += start * source.stride
        source.minus = run.minus
        if self.is_within(number, source):
            self.runs[source.of].users += 1

    cdef int take_signs(self, VectorOp* run) except -1:
        """Have the signs of sources in the operation, or in what it gives."""
        cdef Source* a = &run.source[0]
        cdef Source* b = &run.source[1]
        cdef bint plus
        if run.work != OPERATION:
            return 0
        if run.is_free and is_plain_negation(run):
            run.minus, run.is_inner = not a.minus, True
            if a.kind == IN_RUN:
                self.runs[a.of].users -= 1
        elif is_product(run):
            run.minus = a.minus != b.minus
        elif run.op == OP_ADD or run.op == OP_SUBTRACT:
            plus = not b.minus if run.op == OP_ADD else b.minus
            run.op = OP_ADD if plus and not a.minus else OP_SUBTRACT
            run.leads = a.minus and not plus
            if a.minus and plus:
                run.source[0], run.source[1] = run.source[1], run.source[0]
        return 0

    # ---- pairs

    cdef int pair(self, list members) except -1:
        """Find which runs of a fused loop are done together with the one run that reads them."""
        cdef int32_t k, side, inner
        cdef VectorOp* run
        for k in members:
            run = &self.runs[k]
            for side in range(0 if run.is_inner else run.sides):
                inner = self.partner(run, side)
                if inner == NONE:
                    continue
                run.inner = inner
                self.runs[inner].is_inner = True
                break
        return 0

    cdef int32_t partner(self, VectorOp* run, int32_t side) noexcept:
        """A run on one side that can be done together with `run`, or NONE."""
        cdef Source* source = &run.source[side]
        cdef VectorOp* other
        if run.work != OPERATION or run.sides != 2 or first_of(run.op) < 0 or not may_join(source) or run.leads:
            return NONE
        other = &self.runs[source.of]
        if (other.chain != run.chain or other.kept or other.remembered or other.users != 1 or other.low != run.low
                or other.count != run.count or source.start != 0 or other.inner != NONE or other.work != OPERATION
                or first_of(other.op) < 0 or other.leads):
            return NONE
        if is_number(&other.source[0]) and is_number(&other.source[other.sides - 1]):
            return NONE
        return source.of

    cdef int add_pair(self, FusedLoop chain, RowAllocator rows, int32_t k) except -1:
        """One instruction for a run and the one within."""
        cdef VectorOp* run = &self.runs[k]
        cdef VectorOp* inner = &self.runs[run.inner]
        cdef int32_t side = 1 if run.source[0].kind == IN_RUN and run.source[0].of == run.inner else 0
        cdef int32_t a = self.row_of(chain, rows, inner, 0, True)
        cdef int32_t b = self.row_of(chain, rows, inner, inner.sides - 1, True) if inner.sides == 2 else a
        cdef int32_t c = self.row_of(chain, rows, run, side, True)
        cdef int second = THEN_ADD
        cdef Kernel3 kernel
        cdef int32_t out
        if run.op == OP_MULTIPLY:
            second = THEN_TIMES
        elif run.op == OP_SUBTRACT:
            second = THEN_LESS if side == 1 else THEN_FROM
        kernel = pair_kernel(first_of(inner.op), second, chain.places[a].stride != 0, chain.places[b].stride != 0,
                             chain.places[c].stride != 0)
        self.release(rows, inner, k)
        self.release(rows, run, k)
        out = self.result(chain, rows, run)
        chain.add(M_PAIR, <void*>kernel, a, b, out, run.low, run.low + run.count).c = c
        return 0

    cdef int add_led(self, FusedLoop chain, RowAllocator rows, int32_t k) except -1:
        """-a - b."""
        cdef VectorOp* run = &self.runs[k]
        cdef int32_t a = self.row_of(chain, rows, run, 0, False)
        cdef int32_t b = self.row_of(chain, rows, run, 1, True)
        cdef Kernel3 kernel = pair_kernel(FIRST_TIMES, THEN_LESS, True, False, chain.places[b].stride != 0)
        cdef int32_t out
        self.release(rows, run, k)
        out = self.result(chain, rows, run)
        chain.add(M_PAIR, <void*>kernel, a, self.place_of_minus_one(chain), out, run.low, run.low + run.count).c = b
        return 0

    cdef int32_t place_of_minus_one(self, FusedLoop chain) except -1:
        if self.minus_one == NONE:
            self.minus_one = add_preset(self.program, -1.0)
        return chain.add_place(SLOTS, 0, self.minus_one, 0)

    cdef int add_instruction(self, FusedLoop chain, RowAllocator rows, int32_t k) except -1:
        cdef VectorOp* run = &self.runs[k]
        cdef int64_t high = run.low + run.count
        cdef Instruction* sums
        cdef int32_t a, out
        if run.is_inner:
            return 0
        if run.inner != NONE:
            return self.add_pair(chain, rows, k)
        if run.leads:
            return self.add_led(chain, rows, k)
        if run.work == OPERATION:
            if run.sides == 3:
                return self.add_selection(chain, rows, k)
            if run.sides == 2 and run.source[0].gathered and run.source[1].gathered and INFO[run.op].forms != NULL:
                return self.add_gathered(chain, rows, run)
            return self.add_operation(chain, rows, k)
        if run.work == ZEROS:
            out = self.result(chain, rows, run)
            chain.add(M_ZERO, NULL, out, out, out, run.low, high)
        elif run.work == SUM:
            a = self.row_of(chain, rows, run, 0, False)
            self.release(rows, run, k)
            out = chain.add_place(SLOTS, 0, run.base, 0)
            chain.add(M_SUM, NULL, a, a, out, run.low, high)
            chain.n_sums += 1
        elif run.work == SUMS_ALONG:
            a = self.row_of(chain, rows, run, 0, False)
            self.release(rows, run, k)
            out = chain.add_place(run.home, 0, 0, 0)
            sums = chain.add(M_SUMS, <void*>INFO[<int>OP_ADD].forms.rows, a, a, out, run.low, high)
            sums.along, sums.behind = run.along, run.behind
            chain.hold_together(run.along * run.behind)
        elif run.work == STORE:
            a = self.row_of(chain, rows, run, 0, True)
            self.release(rows, run, k)
            out = self.result(chain, rows, run)
            chain.add(M_STORE, NULL, a, a, out, run.low, high)
        else:
            a = self.place_of_source(chain, run, &run.source[0])
            a = self.row_of(chain, rows, run, 0, False) if chain.places[a].is_truth else a
            self.release(rows, run, k)
            out = self.result(chain, rows, run)
            chain.add(M_EXPAND if chain.places[a].view != NULL else M_COPY, NULL, a, a, out, run.low, high)
        return 0

    cdef int add_selection(self, FusedLoop chain, RowAllocator rows, int32_t k) except -1:
        cdef VectorOp* run = &self.runs[k]
        cdef int32_t condition = self.row_of(chain, rows, run, 0, False)
        cdef int32_t a = self.row_of(chain, rows, run, 1, True)
        cdef int32_t c = self.row_of(chain, rows, run, 2, True)
        cdef Kernel3 kernel = selection_kernel(chain.places[a].stride != 0, chain.places[c].stride != 0)
        cdef int32_t out
        self.release(rows, run, k)
        out = self.result(chain, rows, run)
        chain.add(M_SELECT, <void*>kernel, a, condition, out, run.low, run.low + run.count).c = c
        return 0

    cdef int add_bytes(self, FusedLoop chain, RowAllocator rows, VectorOp* run) except -1:
        """Write the booleans of a row to their array."""
        cdef int32_t row = chain.add_place(ROW, run.row, 0, 1)
        cdef int32_t out = chain.add_place(run.home, 0, run.base - run.low, 1)
        chain.places[out].is_truth = True
        chain.add(M_BYTES, NULL, row, row, out, run.low, run.low + run.count)
        if run.last == NONE:
            rows.free.append(run.row)
        return 0

    cdef int add_operation(self, FusedLoop chain, RowAllocator rows, int32_t k) except -1:
        cdef VectorOp* run = &self.runs[k]
        cdef int64_t high = run.low + run.count
        cdef bint has_forms = run.sides == 2 and INFO[run.op].forms != NULL
        cdef int32_t a = self.row_of(chain, rows, run, 0, has_forms)
        cdef int32_t b = a
        cdef int32_t out
        cdef void* function
        cdef int32_t move
        if run.sides == 2:
            b = self.row_of(chain, rows, run, 1, has_forms and chain.places[a].stride != 0)
        self.release(rows, run, k)
        out = self.result(chain, rows, run)
        move = M_ROWS
        if not has_forms and run.op != OP_NEGATIVE and run.op != OP_SQUARE:
            chain.cost += (COSTLY - 1) * run.count
        if run.loop != NULL:
            chain.add(M_LOOP1 if run.sides == 1 else M_LOOP2, run.loop, a, b, out, run.low, high).data = run.data
            return 0
        if has_forms:
            if chain.places[a].stride == 0:
                function = <void*>INFO[run.op].forms.left
            elif chain.places[b].stride == 0:
                function = <void*>INFO[run.op].forms.right
            else:
                function = <void*>INFO[run.op].forms.rows
        elif run.sides == 2:
            function = <void*>INFO[run.op].v2 if INFO[run.op].v2 != NULL else <void*>INFO[run.op].f2
            move = M_ROWS if INFO[run.op].v2 != NULL else M_EACH2
        else:
            function = <void*>INFO[run.op].v1 if INFO[run.op].v1 != NULL else <void*>INFO[run.op].f1
            move = M_ROW if INFO[run.op].v1 != NULL else M_EACH1
        chain.add(move, function, a, b, out, run.low, high)
        return 0

    cdef int add_gathered(self, FusedLoop chain, RowAllocator rows, VectorOp* run) except -1:
        cdef int32_t a = self.base_of(chain, &run.source[0])
        cdef int32_t b = self.base_of(chain, &run.source[1])
        cdef int32_t* k = self.table(chain, run, 0)
        cdef int32_t* m = self.table(chain, run, 1)
        cdef int32_t out = self.result(chain, rows, run)
        made = chain.add(M_GATHERED, <void*>INFO[run.op].forms.gathered, a, b, out, run.low, run.low + run.count)
        made.k, made.m = k, m
        return 0

    cdef int release(self, RowAllocator rows, VectorOp* run, int32_t k) except -1:
        """Let the rows of operands go that no run after number k reads."""
        cdef VectorOp* other
        cdef int32_t side
        for side in range(run.sides):
            if run.source[side].kind == IN_RUN and not run.source[side].gathered:
                other = &self.runs[run.source[side].of]
                if other.row != NONE and other.last == k and not other.remembered:
                    rows.free.append(other.row)
                    other.row = NONE
        return 0

    cdef int32_t result(self, FusedLoop chain, RowAllocator rows, VectorOp* run) except -1:
        """The place of what a run gives."""
        if run.kept and not run.is_truth:
            return chain.add_place(run.home, 0, run.base - run.low * run.step, run.step)
        if run.remembered:
            run.row = rows.take()
            chain.remember(run.row)
        else:
            run.row = rows.new()
        return chain.add_place(ROW, run.row, 0, 1)

    cdef int32_t place_of_source(self, FusedLoop chain, VectorOp* run, Source* source) except -1:
        """Where a source lies that is not gathered."""
        cdef int64_t start = source.start - run.low * source.stride
        cdef VectorOp* other
        cdef int32_t at
        if source.view != NULL:
            at = chain.add_place(source.of, 0, source.start, 1)
            chain.places[at].view = source.view
            chain.places[at].is_truth = source.is_truth
            return at
        if source.kind == IN_ARRAY:
            at = chain.add_place(source.of, 0, start, source.stride)
            chain.places[at].is_truth = source.is_truth
            return at
        if source.kind == IN_SLOT:
            return chain.add_place(SLOTS, 0, start, source.stride)
        other = &self.runs[source.of]
        if not self.is_in_row(run, source):
            at = chain.add_place(other.home, 0, other.base + start, source.stride)
            chain.places[at].is_truth = other.is_truth
            return at
        return chain.add_place(ROW, other.row, -self.shift(run, source), 1)

    cdef bint is_in_row(self, VectorOp* run, Source* source) noexcept:
        """Whether a run of the fused loop is read from a row of the block."""
        cdef VectorOp* other = &self.runs[source.of]
        return not other.kept or (other.is_truth and self.reads_row(run, source))

    cdef int32_t row_of(self, FusedLoop chain, RowAllocator rows, VectorOp* run, int32_t side, bint number) except -1:
        """A source as a row; a single number stays one where `number`."""
        cdef Source* source = &run.source[side]
        cdef int64_t high = run.low + run.count
        cdef int32_t at, out
        if source.gathered:
            at = self.base_of(chain, source)
            out = chain.add_place(ROW, rows.borrow(), 0, 1)
            chain.add(M_GATHER, NULL, at, at, out, run.low, high).k = self.table(chain, run, side)
            return out
        at = self.place_of_source(chain, run, source)
        if chain.places[at].view == NULL and not chain.places[at].is_truth and (
                chain.places[at].stride == 1 or (number and chain.places[at].stride == 0)):
            return at
        load = None if source.kind == IN_RUN else load_of(run, source)
        if load in rows.loaded:
            return chain.add_place(ROW, rows.loaded[load], 0, 1)
        out = chain.add_place(ROW, rows.borrow() if load is None else rows.hold(load), 0, 1)
        chain.add(move_of_load(&chain.places[at]), NULL, at, at, out, run.low, high)
        return out

    cdef int32_t base_of(self, FusedLoop chain, Source* source) except -1:
        """Where the numbers lie that are gathered."""
        return chain.add_place(source.of if source.kind == IN_ARRAY else SLOTS, 0, 0, 0)

    cdef int32_t* table(self, FusedLoop chain, VectorOp* run, int32_t side) except NULL:
        """Which numbers the members of a run gather."""
        raise NotImplementedError


cdef class RowAllocator:
    """Rows of a block, used again."""

    def __cinit__(self):
        self.free, self.borrowed = [], []
        self.last, self.loaded = {}, {}

    cdef int32_t new(self) except -1:
        return self.free.pop() if self.free else self.take()

    cdef int32_t take(self) except -1:
        """One that nothing else writes to."""
        self.count += 1
        return self.count - 1

    cdef int32_t borrow(self) except -1:
        cdef int32_t row = self.new()
        self.borrowed.append(row)
        return row

    cdef int32_t hold(self, tuple load) except -1:
        """One that is read until the last run that reads this."""
        cdef int32_t row = self.new()
        self.loaded[load] = row
        return row

    cdef int give_back(self) except -1:
        self.free.extend(self.borrowed)
        self.borrowed.clear()
        for load in [x for x in self.loaded if self.last[x] == self.now]:
            self.free.append(self.loaded.pop(load))
        return 0


cdef inline void make_new(VectorOp* run, int32_t stage) noexcept:
    """A run that is in no fused loop yet."""
    run.stage, run.chain, run.low, run.kept = stage, NONE, 0, False
    run.next = run.row = run.last = run.inner = run.again = NONE
    run.users, run.is_inner, run.remembered, run.reach = 0, False, False, 0
    run.is_free, run.minus, run.leads = True, False, False


cdef inline bint is_idle(VectorOp* run) noexcept:
    """Whether nobody reads the results: all who would do it again."""
    return run.work == OPERATION and not run.kept and run.users == 0


cdef inline bint may_join(Source* source) noexcept:
    """Whether a run may join the fused loop that makes a source of it."""
    return source.kind == IN_RUN and source.stride == 1 and source.view == NULL and not source.gathered


cdef tuple load_of(VectorOp* run, Source* source):
    """What brings a source that does not lie in a row to one: the same for all who read the same numbers."""
    return source.of, source.kind, source.start, source.stride, <size_t>source.view, run.low, run.count, run.reach


cdef inline int32_t move_of_load(RowPlace* place) noexcept:
    """How what lies at a place comes to a row."""
    if place.is_truth:
        return M_TRUTHS if place.view == NULL else M_EXPAND_TRUTHS
    return M_LOAD if place.view == NULL else M_EXPAND


cdef inline bint is_product(VectorOp* run) noexcept:
    return run.work == OPERATION and (run.op == OP_MULTIPLY or run.op == OP_DIVIDE)


cdef inline bint takes_minus(VectorOp* run) noexcept:
    """Whether a run could as well read the negative on any side."""
    if run.work != OPERATION:
        return False
    if run.op == OP_ADD or run.op == OP_SUBTRACT or run.op == OP_SQUARE:
        return True
    return run.is_free and (is_product(run) or is_plain_negation(run))


cdef inline bint is_plain_negation(VectorOp* run) noexcept:
    """Whether a run is a negation that others can look through."""
    cdef Source* source = &run.source[0]
    return (run.work == OPERATION and run.op == OP_NEGATIVE and not run.remembered
            and not source.gathered and source.view == NULL and (source.stride == 0 or source.stride == 1))


cdef inline bint is_number(Source* source) noexcept:
    """Whether a source is one number again and again."""
    return not source.gathered and source.view == NULL and source.stride == 0


cdef inline int first_of(uint16_t op) noexcept:
    """The place of an operation in a pair, or -1."""
    if op == OP_ADD:
        return FIRST_ADD
    if op == OP_SUBTRACT:
        return FIRST_LESS
    return FIRST_TIMES if op == OP_MULTIPLY or op == OP_SQUARE else -1


cdef int32_t add_preset(Lowered program, double value) except -1:
    """The register of a number that is there before the run."""
    cdef Preset* preset
    reserve(<void**>&program.presets, &program.cap_presets, program.n_presets + 1, sizeof(Preset))
    preset = &program.presets[program.n_presets]
    preset.register, preset.value.d = program.n_uniform, value
    program.n_presets += 1
    more_registers(program, 1)
    return preset.register


cdef int more_registers(Lowered program, int32_t count) except -1:
    """Further registers of numbers."""
    cdef int32_t j
    reserve(<void**>&program.uniform, &program.cap_uniform, <int64_t>program.n_uniform + count, sizeof(int64_t))
    for j in range(count):
        program.uniform[program.n_uniform + j] = -1
    program.n_uniform += count
    return 0
