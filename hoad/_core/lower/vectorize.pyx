"""From the steps of a program to vector operations and the fused loops that they join.

Isomorphic steps on single numbers make a vector operation. Where the operands of its members follow each other in
memory they are read as they lie, else they are gathered. Operations on arrays, element by element, are vector
operations unchanged; views are read in the array they show.
"""

cimport cython

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcmp, memset

from hoad._core.base.blocks cimport give, required, reserve, take_zeroed
from hoad._core.graph.primitive cimport INFO, K_GUFUNC, K_STRIDED, Signature
from hoad._core.graph.tape cimport (
    ARITY, OP_ADD, OP_LOGICAL_NOT, OP_MASK, OP_MATMUL, OP_POWER, OP_SELECT, OP_SQUARE, OP_STRONG_MULTIPLY,
    AbstractValue,
)
from hoad._core.lower.fusion cimport (
    COPY, IN_ARRAY, IN_SLOT, IN_VECTOR, NONE, OPERATION, STORE, SUM, SUMS_ALONG, ZEROS, Fusion, Source, VectorOp,
    keep_result, join, new_vector,
)
from hoad._core.lower.loop_codegen cimport generate_loop
from hoad._core.lower.rewrite cimport add_preset, drop_buffers, more_registers
from hoad._core.lower.slp cimport IsomorphicGroups, has_side_effects, isomorphic_groups
from hoad._core.ops.plan cimport MOST_AT_ONCE, ONE_THREAD, Plan, product_of_views
from hoad._core.runtime.access_pattern cimport (
    COLUMNS, ELEMENTWISE, PIECES, SUMS, TOTAL, VIEW, AccessPattern, Rowwise, is_truth, rowwise,
)
from hoad._core.runtime.engine cimport ARRAY_STEP, FUSED_STEP, ITEM_STEP, SCALAR_STEP, ArrayStep, Step, StepList
from hoad._core.runtime.fused_loop cimport FusedLoop

from hoad._core.ops.plan import contiguous_strides

cdef enum:
    SHORTEST = 16           # a vector operation of fewer members is left to single steps
    WIDEST_CUT = 24         # members of one for each piece that it may be cut to, lest it gathers
    LONGEST_ALONE = 1 << 20     # numbers that one thread may sum along an axis
    FEWEST_APART = 16           # separate sums, of more
    LONGEST = 1 << 30       # numbers of a row
    LINE = 8                # numbers of a line of the cache
    WORTH_A_THREAD = 1 << 20
    FEWEST_ROWS = 16            # of a piece of a product
    MANY_ROWS = 128             # for which a matrix is put in order
    LARGE = 1 << 12         # numbers of a view that do not stay in the first cache with all their lines

cdef enum Placement:        # what becomes of a step
    SINGLE                  # it is done by itself
    IN_A_VECTOR
    AN_ITEM                 # read where it lies, or loaded
    A_VIEW                  # the same, of an array
    ONE_NUMBER              # an array of equal numbers: computed as one
    IN_PIECES               # put together: several vector operations


cdef struct At:             # where the operand of a member lies
    int32_t kind
    int32_t of
    int64_t index


cdef int vectorize(Lowered program) except -1:
    """Let fused loops do the steps without lanes of a program, as far as they can."""
    cdef Vectorizer vectorizer = Vectorizer(program)
    return vectorizer.rewrite() if vectorizer.place_all() else 0


@cython.final
cdef class Vectorizer(Fusion):
    """The steps of a program that have no lanes, on their way to vector operations."""

    cdef Step* steps
    cdef int32_t n
    cdef int32_t registers          # before vector operations had theirs
    cdef IsomorphicGroups groups    # of the steps on numbers, where they are worth it
    cdef int32_t* order             # steps, group by group
    cdef dict known                 # arrays that are there before the program runs: which preset, by register
    cdef dict constants             # numbers that are there before the program runs, by register
    cdef set truths                 # registers of arrays of booleans that fused loops meet
    cdef int32_t last_effect            # the stage of the latest step with side effects
    # of each register
    cdef int32_t* maker             # the step that makes it, plus one
    cdef int32_t* moved             # where it went, plus one
    cdef int32_t* number            # of an array of equal numbers: the register of the number, plus one
    # of each step
    cdef int32_t* vector            # the vector operation that it is a member of
    cdef int32_t* at                # which member
    cdef int32_t* stage
    cdef uint8_t* placement
    cdef uint8_t* loaded            # it is done by itself too, as what it gives is asked for in memory
    cdef int64_t block              # bytes of these tables
    cdef char* memory
    cdef At* found                  # the operands of a group, on both sides
    cdef int32_t cap_found
    cdef bint reads_through_views          # a product reads an operand through a view
    cdef Step* extra                # steps that compute the number of an array of equal ones, and their stages
    cdef int32_t* extra_stage
    cdef int32_t n_extra, cap_extra, cap_extra_stage

    def __cinit__(self, Lowered program):
        self.program = program
        self.n = program.first_varying
        self.steps = program.steps
        self.registers = program.n_uniform
        self.constants = {
            program.presets[k].register: program.presets[k].value.d for k in range(program.n_presets)
            if program.uniform[program.presets[k].register] < 0}
        self.truths = set()
        self.known = {program.presets[k].register: k for k in range(program.n_presets)
                      if program.uniform[program.presets[k].register] == 0}

    cdef int make_tables(self) except -1:
        """The tables of what is known of each step; a program that is not changed has none."""
        cdef int32_t i, k
        cdef ArrayStep* array_step
        cdef int64_t rows = max(self.n, 1)
        cdef int64_t registers = max(self.registers, 1)
        self.block = rows * (3 * sizeof(int32_t) + 2) + 3 * registers * sizeof(int32_t)
        self.memory = <char*>required(take_zeroed(self.block))
        self.vector = <int32_t*>self.memory
        self.at = self.vector + rows
        self.stage = self.at + rows
        self.maker = self.stage + rows
        self.moved = self.maker + registers
        self.number = self.moved + registers
        self.placement = <uint8_t*>(self.number + registers)
        self.loaded = self.placement + rows
        memset(self.vector, 0xFF, rows * sizeof(int32_t))       # NONE
        cdef int32_t* maker = self.maker
        for i in range(self.n):
            if self.steps[i].form == ARRAY_STEP:
                array_step = &self.program.array_steps[self.steps[i].a]
                for k in range(array_step.n_out):
                    maker[self.program.places[array_step.first + array_step.n_in + k]] = i + 1
                continue
            maker[self.steps[i].out] = i + 1
            if self.steps[i].form == ITEM_STEP:
                self.placement[i] = AN_ITEM
        return 0

    def __dealloc__(self):
        give(self.memory, self.block)
        give(self.found, self.cap_found * sizeof(At))
        give(self.extra, self.cap_extra * sizeof(Step))
        give(self.extra_stage, self.cap_extra_stage * sizeof(int32_t))

    cdef bint place_all(self) except -1:
        """Find the vector operations; False if there are none."""
        cdef int32_t i
        self.groups = isomorphic_groups(self.program)
        if self.groups is None and not self.has_rows():
            return False
        self.make_tables()
        if self.groups is not None:
            self.order = self.groups.order
            for i in range(self.groups.n_groups):
                self.split(self.groups.starts[i], self.groups.starts[i + 1])
        else:
            for i in range(self.n):
                self.place(i)
        if self.n_vectors == 0 and not self.reads_through_views:
            return False
        self.find_what_is_needed()
        self.drop_unread_buffers()
        return True

    cdef bint has_rows(self) except -1:
        """Whether a step on arrays goes through fused loops."""
        cdef int32_t i
        for i in range(self.n):
            if self.steps[i].form == ARRAY_STEP and self.rows_of(i) is not None:
                return True
        return False

    cdef Rowwise rows_of(self, int32_t i):
        """How a step on arrays goes through fused loops, or None."""
        cdef Rowwise rows = rowwise(<Plan>self.program.array_steps[self.steps[i].a].plan)
        return None if rows is None or rows.size > LONGEST else rows

    # ---- numbers

    cdef int split(self, int32_t first, int32_t end) except -1:
        """Make vector operations of a group, or leave it to single steps."""
        cdef int32_t count = end - first
        cdef int32_t stop
        if count < SHORTEST:
            self.leave(first, end)
            return 0
        self.locate(first, end)
        if self.is_backwards(count):
            self.reverse(first, end)
            self.locate(first, end)
        if self.pieces(count) * WIDEST_CUT > count:
            self.add_vector(first, count, 0, count)
            return 0
        cdef int32_t start = 0
        while start < count:
            stop = self.end_of_piece(start, count)
            if stop - start < SHORTEST:
                self.leave(first + start, first + stop)
            else:
                self.add_vector(first, count, start, stop)
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
        reserve(<void**>&self.found, &self.cap_found, 2 * <int64_t>count, sizeof(At))
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
        if i >= 0 and self.placement[i] == IN_A_VECTOR and self.steps[i].form == SCALAR_STEP:
            return At(IN_VECTOR, self.vector[i], self.at[i])
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
                    score += step * (2 if self.found[side * count].kind == IN_VECTOR else 1)
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

    cdef int add_vector(self, int32_t first, int32_t count, int32_t start, int32_t stop) except -1:
        """A vector operation of the members from `start` to `stop` of a group of so many."""
        cdef int32_t op = self.steps[self.order[first + start]].op
        cdef VectorOp* vector = new_vector(self, OPERATION, op, stop - start, ARITY[op])
        cdef int32_t j, i, side
        vector.first = first + start
        for side in range(vector.sides):
            self.describe(&vector.source[side], self.found + side * count + start, stop - start)
        join(self)
        for j in range(stop - start):
            i = self.order[first + start + j]
            self.vector[i] = self.n_vectors - 1
            self.at[i] = j
            self.placement[i] = IN_A_VECTOR
        return 0

    cdef int describe(self, Source* source, At* found, int32_t count) except -1:
        """What the members of a vector operation read on one side."""
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
                if found[j].kind == IN_VECTOR:
                    keep_result(self, &self.vectors[found[j].of])
        if source.kind == IN_ARRAY:
            self.keep_array(source.of)
        return 0

    cdef inline int32_t stage_of(self, At* found) noexcept:
        """The first odd stage in which a number can be read from memory."""
        if found.kind == IN_VECTOR:
            return self.vectors[found.of].stage + 2
        return self.after(<int32_t>(found.of if found.kind == IN_ARRAY else found.index), True)

    cdef int32_t after(self, int32_t register, bint is_vector) noexcept:
        """The first stage in which a register can be read: odd for a vector operation, even for a single step."""
        if register >= self.registers or self.maker[register] == 0:
            return 1 if is_vector else 0
        cdef int32_t i = self.maker[register] - 1
        if self.placement[i] == AN_ITEM:
            return self.after(self.steps[i].a, is_vector)
        if self.placement[i] == IN_A_VECTOR:
            return self.vectors[self.vector[i]].stage + (2 if is_vector else 1)
        if self.placement[i] == IN_PIECES:
            return self.stage[i] + (2 if is_vector else 1)
        return self.stage[i] + 1 if is_vector else self.stage[i]

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
            self.read_through_views(i, array_step)
            for k in range(array_step.first, array_step.first + array_step.n_in):
                self.wait_for(i, self.program.places[k])
            if has_side_effects(self.program, i):
                self.stage[i] = self.last_effect = max(self.stage[i], self.last_effect)
        self.stages = max(self.stages, self.stage[i] + 1)
        return 0

    cdef int read_through_views(self, int32_t i, ArrayStep* step) except -1:
        """Let a matrix product read its operands through views, if BLAS can: a transpose is not copied.

        A large one is done in pieces, for which BLAS puts nothing in another order beforehand.
        """
        cdef Signature sig = (<Plan>step.plan).signature
        cdef int32_t k
        if sig.primitive.op != OP_MATMUL or (<Plan>step.plan).kind != K_GUFUNC:
            return 0
        views = [self.view_of(self.program.places[step.first + k], (<AbstractValue>sig.avals[k]).shape)
                 for k in range(2)]
        seen = [None if view is None or not is_matrix(aval, view[1]) else view[1]
                for view, aval in zip(views, sig.avals)]
        if seen[1] is not None and is_copied(sig, seen[1]):
            seen[1] = None
        cdef int64_t rows = rows_at_once(sig, seen[1])
        if seen == [None, None] and not rows:
            return 0
        cdef Plan plan = product_of_views(sig, seen)
        if rows:
            plan.piece_rows, plan.piece_columns = rows, plan.core_dims[3]
            self.program.worth = max(self.program.worth, <int32_t>(multiplications(sig) // WORTH_A_THREAD))
        self.reads_through_views = True
        self.program.alive.append(plan)
        step.plan = <void*>plan
        for k in range(2):
            if seen[k] is not None:
                self.program.places[step.first + k] = <int32_t>views[k][0]
        return 0

    cdef object view_of(self, int32_t register, shape):
        """(the register that a view of this shape reads, its strides in bytes); None where there is no such view."""
        cdef int32_t i = self.maker[register] - 1 if 0 <= register < self.registers else -1
        if i < 0 or self.placement[i] != A_VIEW:
            return None
        cdef Plan plan = <Plan>self.program.array_steps[self.steps[i].a].plan
        if plan.kind != K_STRIDED:
            return None
        cdef Signature sig = plan.signature
        cdef int32_t x = self.operand(i, 0)
        found, strides, offset = sig.primitive.function(sig.params, sig.avals[0])
        if offset or tuple(found) != shape or self.program.uniform[x] < 0 or self.number[x]:
            return None
        below = self.view_of(x, (<AbstractValue>sig.avals[0]).shape)
        through = None if below is None else composed(shape, strides, sig.avals[0], below[1])
        return (x, list(strides)) if through is None else (below[0], through)

    cdef void wait_for(self, int32_t i, int32_t register) noexcept:
        cdef int32_t stage = self.after(register, False)
        self.stage[i] = max(self.stage[i], stage + (stage & 1))

    # ---- arrays

    cdef inline int32_t operand(self, int32_t i, int32_t k) noexcept:
        """The register of an operand of a step on arrays, or of its result behind them."""
        return self.program.places[self.program.array_steps[self.steps[i].a].first + k]

    cdef bint place_rows(self, int32_t i, Rowwise rows) except -1:
        """Take a step on arrays into fused loops, if it can be."""
        cdef int32_t k
        cdef int32_t out = self.operand(i, rows.n)
        if self.program.uniform[out] < 0 and rows.form != TOTAL:
            return False                            # a number, in a slot
        cdef Plan plan = <Plan>self.program.array_steps[self.steps[i].a].plan
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
        if rows.form == SUMS and not (can_be_shared(&rows.views[0]) and self.is_made_in_loop(self.operand(i, 0))):
            return False
        if rows.form == ELEMENTWISE and self.place_number(i, rows, out):
            return True
        cdef int32_t work = SUM if rows.form == TOTAL else SUMS_ALONG if rows.form == SUMS else OPERATION
        cdef VectorOp* vector = new_vector(self, work, self.steps[i].op, rows.size, rows.n)
        for k in range(rows.n):
            self.find_source(&vector.source[k], self.operand(i, k), NULL if rows.form == SUMS else &rows.views[k], 0)
        if rows.form == ELEMENTWISE:
            self.simplify(vector)
        elif rows.form == SUMS:
            vector.along, vector.behind = rows.views[0].dims[1], rows.views[0].dims[2]
        if work == OPERATION and not (rows.of_truths or vector.op == OP_SELECT or INFO[vector.op].v1
                                      or INFO[vector.op].v2 or INFO[vector.op].forms):
            vector.ufunc_loop, vector.ufunc_data = <void*>plan.loop, plan.data
        if rows.form == TOTAL:
            vector.base, vector.kept = out, True
        else:
            vector.home, vector.base = out, 0
            vector.is_truth = out in self.truths
            vector.kept = rows.form == SUMS
        join(self)
        self.vector[i], self.at[i] = self.n_vectors - 1, 0
        self.placement[i] = IN_A_VECTOR
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

    cdef bint is_made_in_loop(self, int32_t register) except -1:
        """Whether a fused loop makes an array, number by number."""
        cdef int32_t i = self.maker[register] - 1
        if i >= 0 and self.placement[i] == A_VIEW and self.rows_of(i).views[0].ndim <= 1:
            return self.is_made_in_loop(self.operand(i, 0))
        return i >= 0 and self.placement[i] == IN_A_VECTOR and self.vectors[self.vector[i]].work == OPERATION

    cdef int find_equal(self, int32_t register, int64_t size) except -1:
        """Let an array that is there before the program runs be a number, if all of it is the same."""
        cdef Lowered program = self.program
        cdef const char* data = <const char*>program.presets[<int32_t>self.known.pop(register)].value.o
        cdef bint truths = register in self.truths
        cdef int64_t itemsize = 1 if truths else sizeof(double)
        if memcmp(data, data + itemsize, (size - 1) * itemsize):
            return 0
        cdef int32_t number = add_preset(program, data[0] if truths else (<const double*>data)[0])
        self.number[register] = number + 1
        self.constants[number] = data[0] if truths else (<const double*>data)[0]
        return 0

    cdef bint is_constant(self, Source* source, double value) except -1:
        """Whether a source is one number, known to be `value`."""
        return source.kind == IN_SLOT and source.stride == 0 and self.constants.get(source.start) == value

    # ---- masks: by `not c` as selections by c, and 1 where c, times x, as x where c

    cdef int simplify(self, VectorOp* vector) except -1:
        """Let it do the same with less: a square for x ** 2, a selection by c for one by `not c`."""
        cdef Source* source = vector.source
        if vector.op == OP_POWER and vector.sides == 2 and self.is_constant(&source[1], 2.0):
            vector.op, vector.sides = OP_SQUARE, 1
        if (not (vector.op == OP_STRONG_MULTIPLY or vector.op == OP_MASK or vector.op == OP_SELECT)
                or not self.is_made_whole(&source[0], vector.count)):
            return 0
        cdef VectorOp* made = &self.vectors[source[0].of]
        if vector.op == OP_STRONG_MULTIPLY:
            if made.op == OP_MASK and self.is_constant(&made.source[1], 1.0):
                source[0] = made.source[0]
                vector.op = OP_MASK
            elif made.op == OP_SELECT and self.is_constant(&made.source[1], 0.0) and (
                    self.is_constant(&made.source[2], 1.0)):
                source[0], source[2] = made.source[0], source[1]
                self.find_zero(&source[1])
                vector.op, vector.sides = OP_SELECT, 3
        elif made.op == OP_LOGICAL_NOT:
            if vector.op == OP_SELECT:
                source[1], source[2] = source[2], source[1]
            else:
                source[2] = source[1]
                self.find_zero(&source[1])
            source[0] = made.source[0]
            vector.op, vector.sides = OP_SELECT, 3
        return 0

    cdef bint is_made_whole(self, Source* source, int64_t count) noexcept:
        """Whether a source is all that a vector operation gives."""
        return (source.kind == IN_VECTOR and not source.gathered and source.view == NULL and source.start == 0
                and source.stride == 1 and self.vectors[source.of].work == OPERATION
                and self.vectors[source.of].count == count)

    cdef int find_zero(self, Source* source) except -1:
        """Let a source be the number 0."""
        cdef int32_t number = add_preset(self.program, 0.0)
        self.constants[number] = 0.0
        source.kind, source.of, source.start, source.stride, source.view = IN_SLOT, NONE, number, 0, NULL
        source.gathered, source.is_truth, source.wait = False, False, 1
        return 0

    cdef int find_source(self, Source* source, int32_t register, const AccessPattern* view, int64_t start) except -1:
        """What a vector operation reads that sees a register through a view, from flat number `start` of it on."""
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
        if i >= 0 and self.placement[i] == IN_A_VECTOR and affine and self.vectors[self.vector[i]].work != SUMS_ALONG:
            source.kind, source.of = IN_VECTOR, self.vector[i]
        else:
            self.keep_array(register)
        source.wait = self.after(register, True)
        return 0

    cdef int find_number(self, Source* source, int32_t register) except -1:
        """What a vector operation reads that takes one number again and again."""
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
        """An assembly is the sum of those that reach there, stretch by stretch, remainder by remainder of the step."""
        cdef int64_t step = rows.views[0].strides[0]
        cdef int64_t first
        cdef int32_t stage = 1
        cdef int32_t k
        for first in range(step):
            reach = [(k, rows.views[k].offset // step, rows.views[k].count) for k in range(rows.n)
                     if rows.views[k].offset % step == first]
            ends = sorted({0, (rows.size - first + step - 1) // step} | {
                end for _, low, count in reach for end in (low, low + count)})
            for low, high in zip(ends, ends[1:]):
                covering = [(k, low - start) for k, start, count in reach if start <= low and high <= start + count]
                stage = max(stage, self.add_stretch(i, out, first + low * step, step, high - low, covering))
        self.placement[i] = IN_PIECES
        self.stage[i] = stage
        return True

    cdef int32_t add_stretch(self, int32_t i, int32_t out, int64_t base, int64_t step, int64_t count,
                             list covering) except -1:
        """So many numbers of an assembly from `base` on, the sum of operands from where they reach there on.

        Returns their stage.
        """
        cdef int32_t total = NONE
        cdef int32_t n, k
        cdef VectorOp* vector
        cdef Source first
        for n, (k, start) in enumerate(covering):
            if n == 0 and len(covering) > 1:
                self.find_source(&first, self.operand(i, k), NULL, start)
                continue
            if len(covering) == 1:
                vector = new_vector(self, COPY if step == 1 else STORE, 0, count, 1)
            else:
                vector = new_vector(self, OPERATION, OP_ADD, count, 2)
                if total == NONE:
                    vector.source[0] = first
                else:
                    results_of(&vector.source[0], total, self.vectors[total].stage)
            self.find_source(&vector.source[vector.sides - 1], self.operand(i, k), NULL, start)
            if step == 1 or len(covering) == 1:
                vector.home, vector.base, vector.step = out, base, step
                vector.kept = n == len(covering) - 1
            join(self)
            total = self.n_vectors - 1
        if not covering:
            vector = new_vector(self, ZEROS, 0, count, 0)
        elif step > 1 and len(covering) > 1:
            vector = new_vector(self, STORE, 0, count, 1)
            results_of(&vector.source[0], total, self.vectors[total].stage)
        else:
            return self.vectors[total].stage
        vector.home, vector.base, vector.step, vector.kept = out, base, step, True
        join(self)
        return self.vectors[self.n_vectors - 1].stage

    cdef bint place_columns(self, int32_t i, Rowwise rows, int32_t out) except -1:
        """Each column is written where it goes."""
        cdef int32_t k
        cdef VectorOp* vector
        for k in range(rows.n):
            vector = new_vector(self, STORE, 0, rows.views[k].count, 1)
            self.find_source(&vector.source[0], self.operand(i, k), NULL, 0)
            vector.home, vector.base, vector.step = out, rows.views[k].offset, rows.views[k].strides[0]
            vector.kept = True
            join(self)
            self.stage[i] = max(self.stage[i], self.vectors[self.n_vectors - 1].stage)
        self.placement[i] = IN_PIECES
        return True

    # ---- what is needed in memory

    cdef int keep_array(self, int32_t register) except -1:
        """Have an array in memory."""
        cdef int32_t i = self.maker[register] - 1 if register < self.registers else -1
        if i < 0 or self.loaded[i]:
            return 0
        if self.placement[i] == IN_A_VECTOR:
            keep_result(self, &self.vectors[self.vector[i]])
        elif self.placement[i] == AN_ITEM or self.placement[i] == A_VIEW or self.placement[i] == ONE_NUMBER:
            self.loaded[i] = True
        return 0

    cdef int find_what_is_needed(self) except -1:
        """Keep what single steps read, and what the program gives."""
        cdef Lowered program = self.program
        cdef ArrayStep* array_step
        cdef Step* step
        cdef VectorOp* vector
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
        for k in range(self.n_vectors):
            vector = &self.vectors[k]
            for i in range(vector.sides):
                if vector.source[i].kind != IN_SLOT:
                    continue
                if vector.source[i].gathered:
                    self.keep_gathered(vector, i)
                elif vector.source[i].stride == 0:
                    self.keep_register(<int32_t>vector.source[i].start)
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
            if self.placement[i] == IN_A_VECTOR and self.steps[i].form == SCALAR_STEP:
                vector = &self.vectors[self.vector[i]]
                if vector.kept:
                    self.moved[self.steps[i].out] = <int32_t>vector.base + self.at[i] + 1
        return 0

    cdef inline int keep_register(self, int32_t register) except -1:
        if register >= 0:
            self.keep_array(register)
        return 0

    cdef int keep_gathered(self, VectorOp* vector, int32_t side) except -1:
        cdef int32_t j
        cdef Step* step
        for j in range(vector.count):
            step = &self.steps[self.order[vector.first + j]]
            self.keep_register(step.a if side == 0 else step.b)
        return 0

    cdef inline int32_t now(self, int32_t register) noexcept:
        """Where a register went."""
        return self.moved[register] - 1 if 0 <= register < self.registers and self.moved[register] else register

    cdef int32_t* table(self, FusedLoop loop, VectorOp* vector, int32_t side) except NULL:
        cdef int32_t* table = loop.new_table(vector.count)
        cdef int32_t j, register
        cdef Step* step
        for j in range(vector.count):
            step = &self.steps[self.order[vector.first + j]]
            register = step.a if side == 0 else step.b
            table[j] = self.steps[self.maker[register] - 1].b if vector.source[side].kind == IN_ARRAY else (
                self.now(register))
        return table

    cdef int drop_unread_buffers(self) except -1:
        """Drop the buffers of arrays that nothing reads from memory."""
        cdef Lowered program = self.program
        cdef VectorOp* vector
        cdef int32_t k, side
        for k in range(self.n_vectors):
            vector = &self.vectors[k]
            for side in range(vector.sides):
                if vector.source[side].kind == IN_ARRAY and not self.is_in_memory(vector.source[side].of):
                    raise RuntimeError(
                        f"register {vector.source[side].of} is read but not kept; this is an error in hoad")
        return drop_buffers(program, {program.owned[k] for k in range(program.n_owned)
                                      if not self.is_in_memory(program.owned[k])})

    cdef bint is_in_memory(self, int32_t register) noexcept:
        cdef int32_t i = self.maker[register] - 1
        if i < 0 or self.loaded[i] or self.placement[i] == SINGLE or self.placement[i] == IN_PIECES:
            return True
        return self.placement[i] == IN_A_VECTOR and self.vectors[self.vector[i]].kept

    # ---- the steps

    cdef int rewrite(self) except -1:
        """Let the program have steps for the stages, in turn: those that are left, then fused loops."""
        cdef int32_t stage, i
        cdef int64_t rows = self.n + <int64_t>self.stages + 1
        cdef StepList steps = StepList()
        cdef int32_t* following     # in the same stage, each plus one
        cdef dict extras = {}
        cdef dict loops = {}
        for i in range(self.n_extra):
            extras.setdefault(self.extra_stage[i], []).append(i)
        for i in range(self.n_loops):
            loops.setdefault(self.loops[i].stage, []).append(i)
        following = <int32_t*>required(take_zeroed(rows * sizeof(int32_t)))
        cdef int32_t* heads = following + self.n
        try:
            for i in range(self.n - 1, -1, -1):
                if self.placement[i] == SINGLE or self.loaded[i]:
                    stage = self.stage[i] if self.placement[i] != AN_ITEM else self.after(self.steps[i].a, False)
                    stage += stage & 1
                    following[i] = heads[stage]
                    heads[stage] = i + 1
            for stage in range(self.stages + 1):
                i = heads[stage]
                while i:
                    steps.add(self.steps[i - 1])
                    i = following[i - 1]
                for i in extras.get(stage, ()):
                    steps.add(self.extra[i])
                for i in loops.get(stage, ()):
                    steps.add(self.fused_step(generate_loop(self, i)))
        finally:
            give(following, rows * sizeof(int32_t))
        steps.put_in(self.program)
        self.follow()
        return 0

    cdef Step fused_step(self, FusedLoop loop) except *:
        cdef Step step
        step.op, step.form, step.out, step.b = 0, FUSED_STEP, 0, 0
        step.a = self.program.add_part(loop)
        self.program.scratch = max(self.program.scratch, loop.scratch())
        self.program.worth = max(self.program.worth, loop.threads())
        return step

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
        for k in range(program.n_broadcasts):
            program.broadcasts[2 * k] = self.now(program.broadcasts[2 * k])


cdef void results_of(Source* source, int32_t vector, int32_t stage) noexcept:
    """The results of a vector operation, as they come."""
    source.kind, source.of, source.start, source.stride = IN_VECTOR, vector, 0, 1
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


cdef int64_t multiplications(Signature sig) except -1:
    """Those of a product of two matrices of float64; 0 of others."""
    cdef AbstractValue x = sig.avals[0]
    cdef AbstractValue y = sig.avals[1]
    cdef AbstractValue p = sig.results[0]
    return p.size * x.shape[1] if x.ndim == y.ndim == 2 and p.is_float64 and sig.params is None else 0


cdef bint is_copied(Signature sig, strides) except -1:
    """Whether a right factor that is seen transposed is put in order first, for BLAS would do so, and slower."""
    cdef AbstractValue x = sig.avals[0]
    cdef AbstractValue y = sig.avals[1]
    return (multiplications(sig) > ONE_THREAD and strides[1] != y.itemsize
            and x.shape[0] >= MANY_ROWS and y.size <= 16 * LARGE)


cdef int64_t rows_at_once(Signature sig, strides) except -1:
    """How many rows of a product to do at once; 0 for all. `strides`: those of the right factor, where it is a view."""
    cdef AbstractValue y = sig.avals[1]
    cdef int64_t total = multiplications(sig)
    if not MOST_AT_ONCE < total <= 4 * MOST_AT_ONCE or strides is not None or y.shape[1] == 1:
        return 0
    cdef int64_t rows = (<AbstractValue>sig.avals[0]).shape[0]
    cdef int64_t parts = (rows * y.size + MOST_AT_ONCE - 1) // MOST_AT_ONCE
    return 0 if rows < parts * FEWEST_ROWS else (rows + parts - 1) // parts


cdef inline bint follows(At* found, int32_t start, int32_t j) noexcept:
    """Whether member j is where the first two of a piece say."""
    return (found[j].kind == found[start].kind and found[j].of == found[start].of
            and found[j].index - found[start].index == (j - start) * (found[start + 1].index - found[start].index))
