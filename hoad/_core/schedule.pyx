"""Schedules: steps on single numbers gathered into rows, and rows into chains.

Steps of one form, at the same place of the turns of a loop, were recorded one by one. Those that are the same operation
on operands of the same form are a *family*; its members do not wait for each other, and make a *run*: one operation on
rows. Where the operands of its members follow each other in memory they are read as they lie, else they are gathered.
Numbers are laid out anew, so that the results of a run follow each other.

Time is cut into *phases*: in odd ones chains work on runs, in even ones single steps on what is left. A run waits for
the phase of its operands, except that it joins the chain that makes them where it reads them at its own coordinate or
at an earlier one.
"""

cimport cython

from cpython.mem cimport PyMem_RawFree
from libc.string cimport memcpy, memset

from hoad._core.blocks cimport give, resized, take, take_zeroed
from hoad._core.chain cimport (
    M_EACH1,
    M_EACH2,
    M_GATHER,
    M_GATHERED,
    M_LOAD,
    M_ROW,
    M_ROWS,
    ROW,
    SLOTS,
    Chain,
    widened,
)
from hoad._core.engine cimport ARRAY_STEP, CHAIN_STEP, ITEM_STEP, PACK_STEP, SCALAR_STEP, SERIAL_STEP, ArrayStep, Lowered, Step
from hoad._core.pack cimport pack
from hoad._core.plan cimport Plan
from hoad._core.primitive cimport INFO
from hoad._core.serial cimport serial
from hoad._core.share cimport share
from hoad._core.tape cimport ARITY, OP_ASSEMBLE, int32_t, int64_t, uint8_t, uint16_t, uint64_t

cdef enum:
    SHORTEST = 16           # a run of fewer members is left to single steps
    FEWEST = 192            # steps that are worth a schedule
    WIDEST_CUT = 24         # members of a run for each piece that it may be cut to, lest it gathers

    NONE = -1
    LOADED = -2             # an item that a step of its own brings to its slot

# Where the operand of a member lies.
cdef enum Kind:
    IN_SLOT
    IN_RUN
    IN_ARRAY

cdef struct At:
    int32_t kind
    int32_t of              # which run, or the register of the array
    int64_t index           # the place in it, or a register

cdef struct Source:         # the operands of all members of a run, on one side
    int32_t kind
    int32_t of
    int64_t start, stride   # where they lie, if they are affine
    bint gathered

cdef struct Run:
    uint16_t op
    int32_t first, count    # members: order[first : first + count]
    Source source[2]
    int32_t phase
    int32_t chain
    int64_t low             # coordinate of the first member
    int32_t base            # register of the first result, or NONE where no one reads it but the chain
    int32_t next            # in the chain
    int32_t row, last       # of the block; the last run of the chain that reads it

cdef struct Link:           # a chain to be
    int32_t phase
    int64_t count           # members of its first run
    int32_t head, tail      # runs
    int32_t next            # chain of the same phase


cdef inline uint64_t mixed(uint64_t x, uint64_t y) noexcept:
    x = (x ^ (y + <uint64_t>0x9E3779B97F4A7C15 + (x << 6) + (x >> 2))) * <uint64_t>0xBF58476D1CE4E5B9
    return x ^ (x >> 31)


@cython.final
cdef class Section:
    """Steps on single numbers without a step on arrays between them."""

    cdef Lowered program
    cdef int32_t registers          # before the runs had theirs
    cdef Step* steps                # of the section
    cdef int32_t n
    cdef int32_t* maker             # of a register: the step of the section that makes it, plus one
    cdef int32_t* uses              # of a register: how often it is read, in the section or out of it
    cdef int32_t* moved             # of a register: where it went, plus one
    # of each step
    cdef int32_t* level
    cdef uint64_t* family
    cdef int32_t* group
    cdef int32_t* order             # steps, by group
    cdef int32_t* run               # the run it is a member of, or NONE
    cdef int32_t* at                # which member
    cdef int32_t* phase
    cdef int64_t block              # bytes of these tables
    cdef char* memory
    cdef int32_t* starts            # of each group, in `order`
    cdef int32_t n_groups, cap_starts
    cdef Run* runs
    cdef int32_t n_runs, cap_runs
    cdef Link* links
    cdef int32_t n_links, cap_links
    cdef int32_t* rank              # the chains, by phase
    cdef int32_t phases
    cdef At* found                  # the operands of a group, on both sides
    cdef int32_t cap_found

    def __cinit__(self, Lowered program, int32_t first, int32_t n):
        cdef int64_t rows = n
        self.program = program
        self.n = n
        self.steps = &program.steps[first]
        self.block = rows * (6 * sizeof(int32_t) + sizeof(uint64_t)) + 64
        self.memory = <char*>take(self.block)
        if self.memory == NULL:
            raise MemoryError
        self.family = <uint64_t*>self.memory
        self.level = <int32_t*>(self.family + rows)
        self.group = self.level + rows
        self.order = self.group + rows
        self.run = self.order + rows
        self.at = self.run + rows
        self.phase = self.at + rows

    def __dealloc__(self):
        give(self.memory, self.block)
        give(self.starts, self.cap_starts * sizeof(int32_t))
        PyMem_RawFree(self.runs)
        PyMem_RawFree(self.links)
        give(self.found, self.cap_found * sizeof(At))
        give(self.rank, self.n_links * sizeof(int32_t))

    cdef void forget(self) noexcept:
        """Leave the tables of registers as they were found."""
        cdef int32_t i
        for i in range(self.n):
            self.maker[self.steps[i].out] = 0

    # ---- families

    cdef int find_families(self) except -1:
        """Level and family of every step; its group is that of its family."""
        cdef int32_t i
        cdef Step* step
        cdef uint64_t key
        for i in range(self.n):
            step = &self.steps[i]
            self.run[i] = NONE
            self.phase[i] = 0
            if step.form == ITEM_STEP:
                self.level[i] = 0
                self.family[i] = mixed(<uint64_t>step.a, 1)
            else:
                self.level[i] = 1 + max(self.level_of(step.a), self.level_of(step.b))
                key = mixed(<uint64_t>step.op + 2, self.family_of(step.a))
                self.family[i] = mixed(key, self.family_of(step.b)) if ARITY[step.op] == 2 else key
            self.maker[step.out] = i + 1
        return 0

    cdef inline int32_t level_of(self, int32_t register) noexcept:
        return self.level[self.maker[register] - 1] if self.maker[register] else 0

    cdef inline uint64_t family_of(self, int32_t register) noexcept:
        return self.family[self.maker[register] - 1] if self.maker[register] else 0

    cdef int find_groups(self, bint by_family) except -1:
        """Number the groups in the order in which they come; NONE for items."""
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
                if self.steps[i].form == ITEM_STEP:
                    self.group[i] = NONE
                    continue
                key = self.family[i] if by_family else 0
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

    cdef bint is_wide(self) except -1:
        """Whether most steps are in groups that are worth a run."""
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
        return 2 * covered >= self.n

    cdef int sort(self) except -1:
        """Put the steps in the order of their groups, and these in the order of their levels."""
        cdef int32_t i, g, total, count
        cdef int32_t levels = 1
        cdef int32_t* rank
        cdef int32_t* first
        cdef int64_t bytes_of_rank = (self.n_groups + 1) * <int64_t>sizeof(int32_t)
        for i in range(self.n):
            levels = max(levels, self.level[i] + 1)
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

    # ---- runs

    cdef int make_runs(self) except -1:
        cdef int32_t g
        for g in range(self.n_groups):
            self.split(self.starts[g], self.starts[g + 1])
        return 0

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
            self.add_run(first, 0, count)
            return 0
        start = 0
        while start < count:
            stop = self.end_of_piece(start, count)
            if stop - start < SHORTEST:
                self.leave(first + start, first + stop)
            else:
                self.add_run(first, start, stop)
            start = stop
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
            self.found[j] = self.place_of(self.steps[i].a)
            self.found[count + j] = self.place_of(self.steps[i].b)
        return 0

    cdef inline At place_of(self, int32_t register) noexcept:
        cdef int32_t i = self.maker[register] - 1
        if i >= 0 and self.steps[i].form == ITEM_STEP:
            return At(IN_ARRAY, self.steps[i].a, self.steps[i].b)
        if i >= 0 and self.run[i] >= 0:
            return At(IN_RUN, self.run[i], self.at[i])
        return At(IN_SLOT, NONE, self.moved[register] - 1 if self.moved[register] else register)

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
        cdef int32_t j
        cdef At* a = self.found
        cdef At* b = self.found + count
        if start + 1 >= count or not (is_near(&a[start]) and is_near(&b[start])):
            return start + 1
        for j in range(start + 1, count):
            if not (follows(a, start, j) and follows(b, start, j)):
                return j
        return count

    cdef int32_t pieces(self, int32_t count) noexcept:
        cdef int32_t start = 0
        cdef int32_t found = 0
        while start < count:
            start = self.end_of_piece(start, count)
            found += 1
        return found

    cdef int add_run(self, int32_t first, int32_t start, int32_t stop) except -1:
        cdef Run* run
        cdef int32_t j, i, side
        cdef int32_t count = stop - start
        cdef int32_t of_group = self.size_of_group(first)
        cdef bint unary
        widened(<void**>&self.runs, &self.cap_runs, self.n_runs + 1, sizeof(Run))
        run = &self.runs[self.n_runs]
        i = self.order[first + start]
        run.op = self.steps[i].op
        run.first, run.count = first + start, count
        run.base = run.next = run.row = run.last = NONE
        run.phase, run.low, run.chain = 1, 0, NONE
        unary = ARITY[run.op] == 1
        for side in range(2):
            self.describe(&run.source[side], self.found + side * of_group + start, count)
        self.choose_phase(self.n_runs, self.found + start, self.found + of_group + start, 1 if unary else 2)
        self.n_runs += 1
        for j in range(count):
            i = self.order[first + start + j]
            self.run[i] = self.n_runs - 1
            self.at[i] = j
            self.phase[i] = self.runs[self.n_runs - 1].phase
        return 0

    cdef int32_t size_of_group(self, int32_t first) noexcept:
        cdef int32_t g = self.group[self.order[first]]
        return self.starts[g + 1] - self.starts[g]

    cdef void describe(self, Source* source, At* found, int32_t count) noexcept:
        cdef int32_t j
        source.kind, source.of, source.start = found[0].kind, found[0].of, found[0].index
        source.stride = found[1].index - found[0].index
        source.gathered = False
        for j in range(1, count):
            if not follows(found, 0, j):
                source.gathered = True
                return

    # ---- phases and chains

    cdef int choose_phase(self, int32_t number, At* a, At* b, int32_t sides) except -1:
        """Find the phase, the chain and the coordinate of a run."""
        cdef Run* run = &self.runs[number]
        cdef Run* other
        cdef int32_t phase = 1
        cdef int32_t side, j, chain, wanted
        cdef At* found
        cdef Source* source
        for side in range(sides):
            source = &run.source[side]
            found = a if side == 0 else b
            if may_join(source):
                phase = max(phase, self.runs[source.of].phase)
                continue
            for j in range(run.count):
                wanted = self.after(&found[j], True)
                phase = max(phase, wanted)
        chain = NONE
        run.low = 0
        for side in range(sides):
            source = &run.source[side]
            if not may_join(source) or self.runs[source.of].phase != phase:
                continue
            other = &self.runs[source.of]
            if chain == NONE or chain == other.chain:
                run.low = max(run.low, other.low + source.start) if chain != NONE else other.low + source.start
                chain = other.chain
            else:                           # two chains cannot be one any more
                phase += 2
                chain = NONE
                run.low = 0
                break
        run.phase = phase
        self.phases = max(self.phases, phase + 1)
        run.chain = chain if chain != NONE else self.chain_for(phase, run.count)
        self.append(run.chain, number)
        for side in range(sides):
            self.note_use(run, number, &run.source[side], a if side == 0 else b)
        return 0

    cdef inline int32_t after(self, At* found, bint is_run) noexcept:
        """The first phase in which an operand can be read: odd for a run, even for a single step."""
        cdef int32_t phase
        if found.kind == IN_ARRAY:
            return 1 if is_run else 0
        if found.kind == IN_RUN:
            phase = self.runs[found.of].phase
            return phase + 2 if is_run else phase + 1
        if found.index >= self.registers or self.maker[found.index] == 0:
            return 1 if is_run else 0
        phase = self.phase[self.maker[found.index] - 1]
        return phase + 1 if is_run else phase

    cdef int32_t chain_for(self, int32_t phase, int32_t count) except -2:
        """A chain of that phase for a run that joins none by its operands."""
        cdef int32_t k
        cdef int64_t difference
        cdef Link* link
        for k in range(self.n_links - 1, max(self.n_links - 9, -1), -1):
            link = &self.links[k]
            difference = link.count - count
            if link.phase == phase and -link.count <= 8 * difference <= link.count:
                return k
        widened(<void**>&self.links, &self.cap_links, self.n_links + 1, sizeof(Link))
        self.links[self.n_links] = Link(phase, count, NONE, NONE, NONE)
        self.n_links += 1
        return self.n_links - 1

    cdef void append(self, int32_t chain, int32_t number) noexcept:
        cdef Link* link = &self.links[chain]
        if link.tail == NONE:
            link.head = number
        else:
            self.runs[link.tail].next = number
        link.tail = number

    cdef int note_use(self, Run* run, int32_t number, Source* source, At* found) except -1:
        """Give slots to the runs that are read from beyond their block, and to items that are gathered with numbers."""
        cdef int32_t j
        cdef Run* other
        cdef bint mixture = False
        if not source.gathered:
            if source.kind != IN_RUN:
                return 0
            other = &self.runs[source.of]
            if source.stride == 1 and other.chain == run.chain and run.low == other.low + source.start:
                other.last = number
            else:
                self.give_slots(other)
            return 0
        for j in range(run.count):
            mixture = mixture or found[j].kind != IN_ARRAY or found[j].of != found[0].of
        if not mixture:
            return 0
        source.kind = IN_SLOT
        for j in range(run.count):
            if found[j].kind == IN_RUN:
                self.give_slots(&self.runs[found[j].of])
        return 0

    cdef int give_slots(self, Run* run) except -1:
        """Registers, one after the other, for the results of a run."""
        cdef Lowered program = self.program
        cdef int32_t j
        if run.base != NONE:
            return 0
        widened_uniform(program, program.n_uniform + run.count)
        run.base = program.n_uniform
        for j in range(run.count):
            program.uniform[program.n_uniform + j] = -1
        program.n_uniform += run.count
        return 0

    # ---- what is left

    cdef void leave(self, int32_t first, int32_t end) noexcept:
        """Let single steps do these members."""
        cdef int32_t j, i
        cdef int32_t phase
        cdef At found
        for j in range(first, end):
            i = self.order[j]
            found = self.place_of(self.steps[i].a)
            phase = self.after(&found, False)
            found = self.place_of(self.steps[i].b)
            phase = max(phase, self.after(&found, False))
            phase += phase & 1
            self.phase[i] = phase
            self.phases = max(self.phases, phase + 1)

    cdef int find_what_stays(self) except -1:
        """Give slots to runs that single steps read, or what comes after the section."""
        cdef int32_t i, k
        cdef Run* run
        cdef Step* step
        for i in range(self.n):
            step = &self.steps[i]
            if step.form == ITEM_STEP:
                continue
            self.uses[step.a] -= 1
            if ARITY[step.op] == 2:
                self.uses[step.b] -= 1
            if self.run[i] == NONE:
                self.need(step.a)
                self.need(step.b)
        for i in range(self.n):
            step = &self.steps[i]
            if self.run[i] != NONE and self.uses[step.out] > 0:
                self.give_slots(&self.runs[self.run[i]])
            elif step.form == ITEM_STEP and self.uses[step.out] > 0:
                self.run[i] = LOADED
        for i in range(self.n):
            if self.run[i] >= 0 and self.runs[self.run[i]].base != NONE:
                self.moved[self.steps[i].out] = self.runs[self.run[i]].base + self.at[i] + 1
        for k in range(self.n_runs):    # items among numbers that are gathered
            run = &self.runs[k]
            for i in range(run.first, run.first + run.count):
                if run.source[0].gathered and run.source[0].kind == IN_SLOT:
                    self.need_item(self.steps[self.order[i]].a)
                if run.source[1].gathered and run.source[1].kind == IN_SLOT and ARITY[run.op] == 2:
                    self.need_item(self.steps[self.order[i]].b)
        return 0

    cdef inline int need(self, int32_t register) except -1:
        """Have a register in its slot for a single step."""
        cdef int32_t i = self.maker[register] - 1
        if i >= 0 and self.run[i] >= 0:
            self.give_slots(&self.runs[self.run[i]])
        else:
            self.need_item(register)
        return 0

    cdef inline void need_item(self, int32_t register) noexcept:
        cdef int32_t i = self.maker[register] - 1
        if i >= 0 and self.steps[i].form == ITEM_STEP:
            self.run[i] = LOADED

    # ---- chains

    cdef int sort_links(self) except -1:
        """Rank the chains by phase."""
        self.rank = <int32_t*>take(max(self.n_links, 1) * sizeof(int32_t))
        if self.rank == NULL:
            raise MemoryError
        for k, at in enumerate(sorted(range(self.n_links), key=lambda k: self.links[<int32_t>k].phase)):
            self.rank[<int32_t>k] = at
        return 0

    cdef Chain build(self, int32_t number):
        """A chain of the runs that joined it."""
        cdef Chain chain = Chain.__new__(Chain)
        cdef Rows rows = Rows()
        cdef int32_t k = self.links[number].head
        while k != NONE:
            self.add_instruction(chain, rows, k)
            rows.give_back()
            k = self.runs[k].next
        return chain

    cdef int release(self, Rows rows, int32_t k, Source* source) except -1:
        """Let the row of an operand go that no later run reads."""
        cdef Run* other
        if source.gathered or source.kind != IN_RUN:
            return 0
        other = &self.runs[source.of]
        if other.row != NONE and other.last == k:
            rows.free.append(other.row)
            other.row = NONE
        return 0

    cdef int add_instruction(self, Chain chain, Rows rows, int32_t k) except -1:
        cdef Run* run = &self.runs[k]
        cdef int64_t low = run.low
        cdef int64_t high = run.low + run.count
        cdef int32_t out, a, b
        cdef void* function
        cdef int32_t move
        if ARITY[run.op] == 1:
            a = self.row_of(chain, rows, run, 0, False)
            self.release(rows, k, &run.source[0])
            out = self.result(chain, rows, run)
            if INFO[run.op].v1 != NULL:
                chain.add(M_ROW, <void*>INFO[run.op].v1, a, a, out, low, high)
            else:
                chain.add(M_EACH1, <void*>INFO[run.op].f1, a, a, out, low, high)
            return 0
        if run.source[0].gathered and run.source[1].gathered and INFO[run.op].forms != NULL:
            return self.add_gathered(chain, rows, run)
        a = self.row_of(chain, rows, run, 0, INFO[run.op].forms != NULL)
        b = self.row_of(chain, rows, run, 1, INFO[run.op].forms != NULL and chain.places[a].stride != 0)
        self.release(rows, k, &run.source[0])
        self.release(rows, k, &run.source[1])
        out = self.result(chain, rows, run)
        move = M_ROWS
        if INFO[run.op].forms != NULL:
            if chain.places[a].stride == 0:
                function = <void*>INFO[run.op].forms.left
            else:
                function = <void*>(INFO[run.op].forms.right if chain.places[b].stride == 0
                                   else INFO[run.op].forms.rows)
        elif INFO[run.op].v2 != NULL:
            function = <void*>INFO[run.op].v2
        else:
            function = <void*>INFO[run.op].f2
            move = M_EACH2
        chain.add(move, function, a, b, out, low, high)
        return 0

    cdef int32_t result(self, Chain chain, Rows rows, Run* run) except -1:
        """The place of what a run gives."""
        if run.base != NONE:
            return chain.add_place(SLOTS, 0, run.base - run.low, 1)
        run.row = rows.new()
        return chain.add_place(ROW, run.row, 0, 1)

    cdef int32_t place_of_source(self, Chain chain, Run* run, Source* source) except -1:
        """The place of affine operands."""
        cdef int64_t start = source.start - run.low * source.stride
        if source.kind == IN_ARRAY:
            return chain.add_place(source.of, 0, start, source.stride)
        if source.kind == IN_SLOT:
            return chain.add_place(SLOTS, 0, start, source.stride)
        if self.runs[source.of].base != NONE:
            return chain.add_place(SLOTS, 0, self.runs[source.of].base + start, source.stride)
        return chain.add_place(ROW, self.runs[source.of].row, 0, 1)

    cdef int32_t row_of(self, Chain chain, Rows rows, Run* run, int32_t side, bint number) except -1:
        """The place of the operands on one side, as a row; a single number stays one where `number`."""
        cdef Source* source = &run.source[side]
        cdef int64_t low = run.low
        cdef int64_t high = run.low + run.count
        cdef int32_t at, out
        if source.gathered:
            at = self.base_of(chain, source)
            out = chain.add_place(ROW, rows.borrow(), 0, 1)
            chain.add(M_GATHER, NULL, at, at, out, low, high).k = self.table(chain, run, side)
            return out
        at = self.place_of_source(chain, run, source)
        if chain.places[at].stride == 1 or (number and chain.places[at].stride == 0):
            return at
        out = chain.add_place(ROW, rows.borrow(), 0, 1)
        chain.add(M_LOAD, NULL, at, at, out, low, high)
        return out

    cdef int32_t base_of(self, Chain chain, Source* source) except -1:
        """Where the numbers lie that are gathered."""
        return chain.add_place(source.of if source.kind == IN_ARRAY else SLOTS, 0, 0, 0)

    cdef int add_gathered(self, Chain chain, Rows rows, Run* run) except -1:
        cdef int32_t a = self.base_of(chain, &run.source[0])
        cdef int32_t b = self.base_of(chain, &run.source[1])
        cdef int32_t* k = self.table(chain, run, 0)
        cdef int32_t* m = self.table(chain, run, 1)
        cdef int32_t out = self.result(chain, rows, run)
        made = chain.add(M_GATHERED, <void*>INFO[run.op].forms.gathered, a, b, out, run.low, run.low + run.count)
        made.k, made.m = k, m
        return 0

    cdef int32_t* table(self, Chain chain, Run* run, int32_t side) except NULL:
        """Which numbers the members of a run gather."""
        cdef int32_t* table = chain.new_table(run.count)
        cdef int32_t j, register, maker
        for j in range(run.count):
            register = self.steps[self.order[run.first + j]].a if side == 0 else (
                self.steps[self.order[run.first + j]].b)
            maker = self.maker[register] - 1
            if run.source[side].kind == IN_ARRAY:
                table[j] = self.steps[maker].b
            else:
                table[j] = self.moved[register] - 1 if self.moved[register] else register
        return table


cdef class Rows:
    """Rows of a block, used again."""

    cdef list free
    cdef list borrowed              # by one instruction
    cdef int32_t count

    def __cinit__(self):
        self.free, self.borrowed = [], []

    cdef int32_t new(self) except -1:
        if self.free:
            return self.free.pop()
        self.count += 1
        return self.count - 1

    cdef int32_t borrow(self) except -1:
        cdef int32_t row = self.new()
        self.borrowed.append(row)
        return row

    cdef int give_back(self) except -1:
        self.free.extend(self.borrowed)
        self.borrowed.clear()
        return 0


cdef inline bint is_near(At* found) noexcept:
    """Whether the operands of two neighbours lie at a fixed distance at most as far as one may go."""
    return found[0].kind == found[1].kind and found[0].of == found[1].of


cdef inline bint follows(At* found, int32_t start, int32_t j) noexcept:
    """Whether member j stands where the first two of a piece say."""
    return (found[j].kind == found[start].kind and found[j].of == found[start].of
            and found[j].index - found[start].index == (j - start) * (found[start + 1].index - found[start].index))


cdef inline bint may_join(Source* source) noexcept:
    """Whether a run may join the chain that makes its operands."""
    return not source.gathered and source.kind == IN_RUN and source.stride == 1


cdef int widened_uniform(Lowered program, int32_t wanted) except -1:
    """Make room for so many uniform registers."""
    cdef int64_t rows = program.cap_uniform
    cdef void* moved
    if wanted <= rows:
        return 0
    rows = max(rows + rows // 2, <int64_t>wanted)
    moved = resized(program.uniform, program.cap_uniform * sizeof(int64_t), rows * sizeof(int64_t))
    if moved == NULL:
        raise MemoryError(f"no memory for {rows} registers")
    program.uniform = <int64_t*>moved
    program.cap_uniform = <int32_t>rows
    return 0


@cython.final
cdef class Scheduler:
    """The state of one schedule: the steps of a program are rewritten, section by section."""

    cdef Lowered program
    cdef int32_t registers      # before the runs had theirs
    cdef int32_t* maker
    cdef int32_t* uses          # how often a register is read
    cdef int32_t* later         # of these, after the section at hand and in it
    cdef int32_t* moved
    cdef Step* steps
    cdef int32_t n_steps, cap_steps

    def __cinit__(self, Lowered program):
        self.program = program
        self.registers = program.n_uniform
        self.maker = <int32_t*>take_zeroed(max(self.registers, 1) * sizeof(int32_t))
        self.uses = <int32_t*>take_zeroed(max(self.registers, 1) * sizeof(int32_t))
        self.moved = <int32_t*>take_zeroed(max(self.registers, 1) * sizeof(int32_t))
        self.later = <int32_t*>take(max(self.registers, 1) * sizeof(int32_t))
        if not (self.maker and self.uses and self.moved and self.later):
            raise MemoryError

    def __dealloc__(self):
        give(self.maker, max(self.registers, 1) * sizeof(int32_t))
        give(self.later, max(self.registers, 1) * sizeof(int32_t))
        give(self.uses, max(self.registers, 1) * sizeof(int32_t))
        give(self.moved, max(self.registers, 1) * sizeof(int32_t))
        give(self.steps, self.cap_steps * sizeof(Step))

    cdef int run(self) except -1:
        cdef Lowered program = self.program
        cdef int32_t i = 0
        cdef int32_t first, end
        self.count_uses()
        memcpy(self.later, self.uses, self.registers * sizeof(int32_t))
        while i < program.first_varying:
            first = i
            while i < program.first_varying and program.steps[i].form != ARRAY_STEP:
                i += 1
            if i - first >= FEWEST:
                self.do_section(first, i)
            else:
                self.copy(first, i)
            end = i
            while i < program.first_varying and program.steps[i].form == ARRAY_STEP:
                i += 1
            self.copy(end, i)
        end = self.n_steps
        self.copy(program.first_varying, program.n_steps)
        program.first_varying = end
        program.steps, self.steps = self.steps, program.steps
        program.n_steps, self.n_steps = self.n_steps, program.n_steps
        program.cap_steps, self.cap_steps = self.cap_steps, program.cap_steps
        self.follow()
        return self.serialise()

    cdef void count_uses(self) noexcept:
        cdef Lowered program = self.program
        cdef int32_t i, k
        cdef Step* step
        cdef ArrayStep* array_step
        for i in range(program.n_steps):
            step = &program.steps[i]
            if step.form == ARRAY_STEP:
                array_step = &program.array_steps[step.a]
                for k in range(array_step.first, array_step.first + array_step.n_in):
                    self.count(program.places[k])
            elif step.form == SCALAR_STEP and i < program.first_varying:
                self.uses[step.a] += 1
                if ARITY[step.op] == 2:
                    self.uses[step.b] += 1
        for k in range(program.n_outputs):
            self.count(program.outputs[k].register)
        for k in range(program.n_checks):
            self.count(program.checks[k].register)
        for k in range(program.n_splats):
            self.count(program.splats[2 * k])

    cdef inline void count(self, int32_t register) noexcept:
        if register >= 0:
            self.uses[register] += 1

    cdef int copy(self, int32_t first, int32_t end) except -1:
        """Keep steps as they are."""
        cdef int32_t i
        widened_steps(&self.steps, &self.cap_steps, self.n_steps + end - first)
        for i in range(first, end):
            self.steps[self.n_steps] = self.program.steps[i]
            self.n_steps += 1
        return 0

    cdef int do_section(self, int32_t first, int32_t end) except -1:
        cdef Section section = Section(self.program, first, end - first)
        section.registers = self.registers
        section.maker, section.uses, section.moved = self.maker, self.later, self.moved
        section.find_families()
        section.find_groups(True)
        if not section.is_wide():
            section.find_groups(False)
        if section.is_wide():
            section.sort()
            section.make_runs()
            section.find_what_stays()
            self.emit(section)
        else:
            self.copy(first, end)
        section.forget()
        return 0

    cdef int emit(self, Section section) except -1:
        """Steps for the phases of a section, in turn."""
        cdef int32_t phase, k, i
        cdef int32_t* next_of
        cdef int32_t* heads
        cdef int64_t rows = section.n + section.phases + 1
        next_of = <int32_t*>take_zeroed(rows * sizeof(int32_t))     # single steps of a phase, each plus one
        if next_of == NULL:
            raise MemoryError
        heads = next_of + section.n
        try:
            for i in range(section.n - 1, -1, -1):
                if section.run[i] == NONE and section.steps[i].form == SCALAR_STEP or section.run[i] == LOADED:
                    next_of[i] = heads[section.phase[i]]
                    heads[section.phase[i]] = i + 1
            section.sort_links()
            k = 0
            for phase in range(section.phases):
                i = heads[phase]
                while i:
                    self.add(section.steps[i - 1])
                    i = next_of[i - 1]
                while k < section.n_links and section.links[section.rank[k]].phase == phase:
                    self.add_chain(section.build(section.rank[k]))
                    k += 1
        finally:
            give(next_of, rows * sizeof(int32_t))
        return 0

    cdef int add(self, Step step) except -1:
        widened_steps(&self.steps, &self.cap_steps, self.n_steps + 1)
        self.steps[self.n_steps] = step
        self.n_steps += 1
        return 0

    cdef int add_chain(self, Chain chain) except -1:
        cdef Step step
        step.op, step.form, step.out, step.b = 0, CHAIN_STEP, 0, 0
        step.a = self.program.add_part(chain)
        self.program.scratch = max(self.program.scratch, chain.scratch())
        return self.add(step)

    cdef void follow(self) noexcept:
        """Let what reads numbers that went elsewhere look there."""
        cdef Lowered program = self.program
        cdef int32_t i, k
        cdef Step* step
        for i in range(program.first_varying):
            step = &program.steps[i]
            if step.form == SCALAR_STEP:
                step.a = self.now(step.a)
                step.b = self.now(step.b)
        for k in range(program.n_places):
            program.places[k] = self.now(program.places[k])
        for k in range(program.n_outputs):
            program.outputs[k].register = self.now(program.outputs[k].register)
        for k in range(program.n_checks):
            program.checks[k].register = self.now(program.checks[k].register)
        for k in range(program.n_splats):
            program.splats[2 * k] = self.now(program.splats[2 * k])

    cdef int serialise(self) except -1:
        """Make code of the single steps that are left between others."""
        cdef Lowered program = self.program
        cdef int32_t i = 0
        cdef int32_t kept = 0
        cdef int32_t first
        cdef Step step
        while i < program.first_varying:
            first = i
            while i < program.first_varying and program.steps[i].form <= ITEM_STEP:
                i += 1
            if i > first:
                step.op, step.form, step.out, step.b = 0, SERIAL_STEP, 0, 0
                step.a = program.add_part(
                    serial(&program.steps[first], i - first, self.uses, self.maker, self.registers))
                program.steps[kept] = step
                kept += 1
            while i < program.first_varying and program.steps[i].form > ITEM_STEP:
                program.steps[kept] = program.steps[i]
                kept += 1
                i += 1
        for i in range(program.first_varying, program.n_steps):
            program.steps[kept + i - program.first_varying] = program.steps[i]
        program.n_steps -= program.first_varying - kept
        program.first_varying = kept
        return 0

    cdef inline int32_t now(self, int32_t register) noexcept:
        if 0 <= register < self.registers and self.moved[register]:
            return self.moved[register] - 1
        return register


cdef int widened_steps(Step** steps, int32_t* capacity, int32_t wanted) except -1:
    cdef int64_t rows = capacity[0]
    cdef void* moved
    if wanted <= rows:
        return 0
    rows = max(rows + rows // 2, <int64_t>wanted)
    moved = resized(steps[0], capacity[0] * sizeof(Step), rows * sizeof(Step))
    if moved == NULL:
        raise MemoryError(f"no memory for {rows} steps")
    steps[0] = <Step*>moved
    capacity[0] = <int32_t>rows
    return 0


cdef int pack_numbers(Lowered program) except -1:
    """Turn assemblies of numbers alone into copies of stretches."""
    cdef int32_t i
    cdef Step* step
    cdef ArrayStep* array_step
    cdef Plan plan
    for i in range(program.first_varying):
        step = &program.steps[i]
        if step.form != ARRAY_STEP or step.op != OP_ASSEMBLE:
            continue
        array_step = &program.array_steps[step.a]
        plan = <Plan>array_step.plan
        if plan.n_parts == 0 and plan.itemsize == sizeof(double):
            step.form = PACK_STEP
            step.a = program.add_part(pack(program.places[array_step.first + array_step.n_in],
                                           program.places + array_step.first, plan.offsets, plan.n_items, plan.size))
    return 0


cdef int schedule(Lowered program) except -1:
    """Rewrite the steps without lanes of a program."""
    cdef Scheduler scheduler
    share(program)
    scheduler = Scheduler(program)
    scheduler.run()
    return pack_numbers(program)
