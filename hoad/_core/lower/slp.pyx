"""Superword-level parallelism: which steps on single numbers are done together.

Steps on single numbers, at the same place of the turns of a loop, were recorded one by one. They are *isomorphic* if
they are the same operation on operands of the same form, which a hash of all that they come of tells. Those of one
level do not wait for each other, and make one operation on rows.
"""

cimport cython

from libc.string cimport memset

from hoad._core.base.blocks cimport give, required, take, take_zeroed
from hoad._core.graph.tape cimport ARITY, int64_t, uint64_t
from hoad._core.ops.plan cimport Plan
from hoad._core.runtime.engine cimport ARRAY_STEP, ITEM_STEP, SCALAR_STEP, ArrayStep, Step

cdef enum:
    SHORTEST = 16           # members of a group that is worth it
    FEWEST = 192            # steps on numbers that are
    NARROWEST = 6           # steps on numbers a level: below, they wait for one another


cdef IsomorphicGroups isomorphic_groups(Lowered program):
    """The groups of the steps without lanes; None unless most steps on numbers are in groups that are worth it."""
    cdef int32_t i
    cdef int32_t numbers = 0
    for i in range(program.first_varying):
        numbers += program.steps[i].form == SCALAR_STEP
    return None if numbers < FEWEST else Grouping(program).find(numbers)


cdef bint has_side_effects(Lowered program, int32_t i) noexcept:
    """Whether a step on arrays may raise, or run a function of the user's: those are done in their order."""
    return (<Plan>program.array_steps[program.steps[i].a].plan).may_fail()


@cython.final
cdef class IsomorphicGroups:
    """The steps of a program, group by group, those of lower levels first; a step on arrays is a group of its own."""

    def __dealloc__(self):
        give(self.order, self.n * sizeof(int32_t))
        give(self.starts, (self.n_groups + 1) * sizeof(int32_t))


@cython.final
cdef class Grouping:
    """The isomorphic groups in the making."""

    cdef Lowered program
    cdef Step* steps
    cdef int32_t n, registers
    cdef int32_t* level         # of a register: how many steps on numbers or arrays, one after the other, it waits for
    cdef int32_t levels
    cdef uint64_t* formula      # of a register: a hash of what it comes of
    cdef int32_t* group         # of a step
    cdef int32_t n_groups

    def __cinit__(self, Lowered program):
        self.program, self.steps = program, program.steps
        self.n, self.registers = program.first_varying, program.n_uniform
        self.level = <int32_t*>required(take_zeroed(self.registers * sizeof(int32_t)))

    def __dealloc__(self):
        give(self.level, self.registers * sizeof(int32_t))
        give(self.formula, self.registers * sizeof(uint64_t))
        give(self.group, self.n * sizeof(int32_t))

    cdef IsomorphicGroups find(self, int32_t numbers):
        cdef bint by_formula
        self.find_levels()
        if numbers < NARROWEST * <int64_t>self.levels:
            return None
        self.formula = <uint64_t*>required(take_zeroed(self.registers * sizeof(uint64_t)))
        self.group = <int32_t*>required(take(self.n * sizeof(int32_t)))
        self.hash_formulas()
        for by_formula in (True, False):    # where formulas differ everywhere, level and operation alone
            self.find_groups(by_formula)
            if self.is_wide(numbers):
                return self.in_order()
        return None

    cdef inline int32_t result(self, int32_t i, int32_t k=0) noexcept:
        """The register of result k of a step."""
        if self.steps[i].form != ARRAY_STEP:
            return self.steps[i].out
        cdef ArrayStep* array_step = &self.program.array_steps[self.steps[i].a]
        return self.program.places[array_step.first + array_step.n_in + k]

    cdef int find_levels(self) except -1:
        cdef int32_t i, k, level
        cdef int32_t last_effect = 0
        cdef int32_t* level_of = self.level
        cdef Step* step
        cdef ArrayStep* array_step
        for i in range(self.n):
            step = &self.steps[i]
            if step.form == ARRAY_STEP:
                array_step = &self.program.array_steps[step.a]
                level = 1
                for k in range(array_step.first, array_step.first + array_step.n_in):
                    level = max(level, 1 + level_of[self.program.places[k]])
                if has_side_effects(self.program, i):
                    last_effect = level = max(level, last_effect + 1)
                for k in range(array_step.n_out):
                    level_of[self.result(i, k)] = level
            else:
                level = level_of[step.a] if step.form == ITEM_STEP else 1 + max(level_of[step.a], level_of[step.b])
                level_of[step.out] = level
            self.levels = max(self.levels, level + 1)
        return 0

    cdef void hash_formulas(self) noexcept:
        cdef int32_t i, k
        cdef Step* step
        cdef uint64_t key
        cdef uint64_t* formula = self.formula
        for i in range(self.n):
            step = &self.steps[i]
            if step.form == ARRAY_STEP:
                for k in range(self.program.array_steps[step.a].n_out):
                    formula[self.result(i, k)] = mixed(<uint64_t>i, 3)
            elif step.form == ITEM_STEP:
                formula[step.out] = mixed(<uint64_t>step.a, 1)
            else:
                key = mixed(<uint64_t>step.op + 4, formula[step.a])
                formula[step.out] = mixed(key, formula[step.b]) if ARITY[step.op] == 2 else key

    cdef int find_groups(self, bint by_formula) except -1:
        """Number the groups in the order in which they come; an item is in none."""
        cdef int64_t size = 16
        cdef int64_t at
        cdef int32_t i
        cdef uint64_t key
        while size < 2 * self.n:
            size *= 2
        cdef uint64_t* keys = <uint64_t*>take(size * sizeof(uint64_t))
        cdef int32_t* numbers = <int32_t*>take_zeroed(size * sizeof(int32_t))
        self.n_groups = 0
        try:
            if keys == NULL or numbers == NULL:
                raise MemoryError
            for i in range(self.n):
                if self.steps[i].form != SCALAR_STEP:
                    self.group[i] = self.n_groups if self.steps[i].form == ARRAY_STEP else -1
                    self.n_groups += self.steps[i].form == ARRAY_STEP
                    continue
                key = self.formula[self.steps[i].out] if by_formula else 0
                key = mixed(mixed(key, <uint64_t>self.steps[i].op), <uint64_t>self.level[self.steps[i].out])
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
        """Whether most steps on numbers are in groups that are worth it."""
        cdef int32_t i, g
        cdef int32_t covered = 0
        cdef int32_t* count = <int32_t*>required(take_zeroed((self.n_groups + 1) * sizeof(int32_t)))
        for i in range(self.n):
            if self.group[i] >= 0:
                count[self.group[i]] += 1
        for g in range(self.n_groups):
            if count[g] >= SHORTEST:
                covered += count[g]
        give(count, (self.n_groups + 1) * sizeof(int32_t))
        return 2 * covered >= numbers

    cdef IsomorphicGroups in_order(self):
        """Put the steps in the order of their groups, and these in the order of their levels."""
        cdef IsomorphicGroups made = IsomorphicGroups.__new__(IsomorphicGroups)
        cdef int32_t i, g, total, count, level
        cdef int64_t bytes_of_rank = (self.n_groups + 1) * <int64_t>sizeof(int32_t)
        made.n, made.n_groups = self.n, self.n_groups
        made.order = <int32_t*>take(self.n * sizeof(int32_t))
        made.starts = <int32_t*>take_zeroed(bytes_of_rank)
        cdef int32_t* rank = <int32_t*>take_zeroed(bytes_of_rank)
        cdef int32_t* first = <int32_t*>take_zeroed((self.levels + 1) * sizeof(int32_t))
        try:
            if not (made.order and made.starts and rank and first):
                raise MemoryError
            for i in range(self.n):         # groups, counted by level
                g = self.group[i]
                if g >= 0 and rank[g] == 0:
                    level = self.level[self.result(i)]
                    rank[g] = level
                    first[level + 1] += 1
            for i in range(self.levels):
                first[i + 1] += first[i]
            for g in range(self.n_groups):
                i = rank[g]
                rank[g] = first[i]
                first[i] += 1
            for i in range(self.n):
                if self.group[i] >= 0:
                    self.group[i] = rank[self.group[i]]
                    made.starts[self.group[i]] += 1
            total = 0
            for g in range(self.n_groups):
                count = made.starts[g]
                made.starts[g] = total
                total += count
            made.starts[self.n_groups] = total
            memset(rank, 0, bytes_of_rank)
            for i in range(self.n):
                g = self.group[i]
                if g >= 0:
                    made.order[made.starts[g] + rank[g]] = i
                    rank[g] += 1
        finally:
            give(rank, bytes_of_rank)
            give(first, (self.levels + 1) * sizeof(int32_t))
        return made


cdef inline uint64_t mixed(uint64_t x, uint64_t y) noexcept:
    x = (x ^ (y + <uint64_t>0x9E3779B97F4A7C15 + (x << 6) + (x >> 2))) * <uint64_t>0xBF58476D1CE4E5B9
    return x ^ (x >> 31)
