"""Code of fused loops: from vector operations to instructions on rows of a block.

Negations are taken over by what reads them, two operations of which the second alone reads the first become one
instruction, and rows are used again once nobody reads them any more.
"""

from operator import itemgetter

cimport cython

from hoad._core.graph.primitive cimport INFO
from hoad._core.graph.tape cimport (
    OP_ABSOLUTE, OP_ADD, OP_DIVIDE, OP_EQUAL, OP_GREATER, OP_GREATER_EQUAL, OP_LESS, OP_LESS_EQUAL, OP_MASK,
    OP_MULTIPLY, OP_NEGATIVE, OP_NOT_EQUAL, OP_SQRT, OP_SQUARE, OP_STRONG_DIVIDE, OP_STRONG_MULTIPLY, OP_SUBTRACT,
    uint16_t,
)
from hoad._core.kernels.vector cimport (
    FIRST_TIMES, THEN_ADD, THEN_FROM, THEN_LESS, THEN_TIMES, Forms2, Kernel1, Kernel3, arithmetic, kernel_of_both,
    pair_kernel, selection_kernel, vector1,
)
from hoad._core.lower.fusion cimport (
    IN_ARRAY, IN_SLOT, IN_VECTOR, NONE, OPERATION, STORE, SUM, SUMS_ALONG, ZEROS, Source, VectorOp, first_of, may_join,
    reads_row, shift,
)
from hoad._core.lower.rewrite cimport add_preset
from hoad._core.runtime.access_pattern cimport AccessPattern
from hoad._core.runtime.machine_kernels cimport (
    ABSOLUTE, ADD, ADD_TO_ZERO, DIVIDE, EQUAL, GREATER, GREATER_EQUAL, LESS, LESS_EQUAL, MASK, MAXIMUM, MINIMUM,
    MULTIPLY, NEGATE, NOT_EQUAL, NOTHING, RECIPROCAL, SELECT, SIGN, SQUARE_ROOT, STRONG_DIVIDE, STRONG_MULTIPLY,
    SUBTRACT, SUBTRACT_FROM, TAKE, machine_kernels,
)
from hoad._core.runtime.row_instruction cimport (
    BLOCK, M_BOTH, M_BYTES, M_COPY, M_EACH1, M_EACH2, M_EXPAND, M_EXPAND_TRUTHS, M_GATHER, M_GATHERED, M_LOAD, M_LOOP1,
    M_LOOP2, M_PAIR, M_ROW, M_ROWS, M_SELECT, M_STORE, M_SUM, M_SUMS, M_TRUTHS, M_ZERO, ROW, SLOTS, Instruction,
    RowPlace,
)

cdef enum:
    COSTLY = 8                  # numbers of arithmetic that take as long as one of another function
    STORES_TOGETHER = 64        # whose rows wait for each other in cache
    BESIDE = 8                  # columns on either side that are brought to rows with one
    MOST_REPEATED = 8           # rows that are the same in each block


cdef FusedLoop generate_loop(Fusion fusion, int32_t number):
    """The fused loop of the vector operations that joined it."""
    return LoopGenerator(fusion, number).generate()


@cython.final
cdef class LoopGenerator:
    """One fused loop in the making."""

    cdef Fusion fusion
    cdef VectorOp* vectors      # of all loops
    cdef int32_t number
    cdef list members           # numbers of those of this one
    cdef FusedLoop loop
    cdef RowAllocator rows

    def __cinit__(self, Fusion fusion, int32_t number):
        self.fusion, self.vectors, self.number = fusion, fusion.vectors, number
        self.loop = FusedLoop.__new__(FusedLoop)
        self.rows = RowAllocator()

    cdef FusedLoop generate(self):
        cdef int32_t k, first
        self.find_members()
        self.absorb_signs()
        self.pair()
        self.find_reach()
        self.find_functions_of_the_same()
        self.put_stores_together()
        self.find_ends()
        for k in self.members:
            first = self.loop.n_code
            self.rows.now = k
            self.add_instruction(&self.vectors[k])
            if self.vectors[k].is_truth and self.vectors[k].kept:
                self.add_bytes(&self.vectors[k])
            self.loop.read_back(first, self.vectors[k].reach)
            self.rows.give_back()
        self.loop.machine = machine_kernels(self.loop.code, self.loop.n_code, self.loop.places, self.loop.n_rows,
                                            self.loop.remembered, self.loop.n_remembered)
        return self.loop

    cdef int find_members(self) except -1:
        """Find the vector operations that somebody reads, as they were made."""
        cdef list found = []
        cdef list busy = []
        cdef int32_t side
        cdef VectorOp* vector
        cdef int32_t k = self.fusion.loops[self.number].head
        while k != NONE:
            found.append(k)
            self.vectors[k].last = NONE
            k = self.vectors[k].next
        for k in reversed(found):
            vector = &self.vectors[k]
            if not is_idle(vector):
                busy.append(k)
            for side in range(vector.sides if is_idle(vector) else 0):
                if reads_row(self.fusion, vector, &vector.source[side]):
                    self.vectors[vector.source[side].of].users -= 1
        self.members = busy[::-1]
        return 0

    cdef bint is_within(self, Source* source) noexcept:
        """Whether a source is a vector operation of this loop."""
        return may_join(source) and self.vectors[source.of].loop == self.number

    cdef int find_reach(self) except -1:
        """Find how far back vector operations are read by others."""
        cdef int32_t k, side
        cdef Source* source
        cdef VectorOp* other
        for k in reversed(self.members):
            for side in range(self.vectors[k].sides):
                source = &self.vectors[k].source[side]
                if self.is_within(source):
                    other = &self.vectors[source.of]
                    other.reach = max(other.reach, self.vectors[k].reach + shift(self.fusion, &self.vectors[k], source))
        return 0

    cdef int put_stores_together(self) except -1:
        """Let many that write side by side follow each other."""
        cdef list found = []
        cdef list stores = []
        for k in self.members:
            if self.vectors[<int32_t>k].work != STORE:
                found.append(k)
                continue
            stores.append(k)
            if len(stores) == STORES_TOGETHER:
                found += stores
                stores = []
        self.members = found + stores
        return 0

    cdef int find_ends(self) except -1:
        """Note which vector operation is the last to read each row, and what has to come to one."""
        cdef int32_t k, side, part
        cdef VectorOp* vector
        cdef Source* source
        for k in self.members:
            if self.vectors[k].is_inner or self.vectors[k].is_second:
                continue
            for part in (k, self.vectors[k].inner):
                vector = &self.vectors[part]
                for side in range(vector.sides if part != NONE else 0):
                    source = &vector.source[side]
                    if reads_row(self.fusion, vector, source):
                        self.vectors[source.of].last = k
                    elif source.kind != IN_VECTOR and not source.gathered:
                        load = load_of(vector, source)
                        self.rows.last[load] = NONE if self.is_there(vector, source, load) else k
        return 0

    cdef bint is_there(self, VectorOp* vector, Source* source, tuple load) except -1:
        """Whether an operand is in a row of its own from the first block on, since it is the same in each.

        Such are the biases of a layer. What is arithmetic then stays together, too, for machine code.
        """
        cdef int32_t first = self.loop.n_code
        cdef int32_t at, out
        if load in self.rows.loaded:
            return True
        if (vector.work != OPERATION or source.kind != IN_ARRAY or source.view == NULL or source.is_truth
                or len(self.rows.loaded) == MOST_REPEATED or not repeats(source.view)):
            return False
        at = self.place_of_source(vector, source)
        self.rows.loaded[load] = self.rows.take()
        out = self.loop.add_place(ROW, self.rows.loaded[load], 0, 1)
        self.add(M_EXPAND, NULL, at, at, out, vector).repeats = True
        self.loop.read_back(first, vector.reach)
        return True

    # ---- signs: (-a) b = -(a b) and a + (-b) = a - b, to the last bit, so a negation need not be done

    cdef int absorb_signs(self) except -1:
        """Let the readers of negations read what those read, where they can do without."""
        cdef int32_t k, side
        cdef VectorOp* vector
        for k in reversed(self.members):
            vector = &self.vectors[k]
            vector.is_free = vector.is_free and not vector.kept
            for side in range(vector.sides):
                if self.is_within(&vector.source[side]) and not takes_minus(vector):
                    self.vectors[vector.source[side].of].is_free = False
        for k in self.members:
            vector = &self.vectors[k]
            for side in range(vector.sides):
                self.look_through(&vector.source[side])
            self.take_signs(vector)
        return 0

    cdef void look_through(self, Source* source) noexcept:
        """Let a source be what a negation reads, in place of that."""
        cdef int64_t start = source.start
        if not self.is_within(source):
            return
        cdef VectorOp* vector = &self.vectors[source.of]
        if not vector.is_inner:
            source.minus = vector.minus
            return
        source[0] = vector.source[0]
        source.start += start * source.stride
        source.minus = vector.minus
        if self.is_within(source):
            self.vectors[source.of].users += 1

    cdef int take_signs(self, VectorOp* vector) except -1:
        """Have the signs of sources in the operation, or in what it gives."""
        cdef Source* a = &vector.source[0]
        cdef Source* b = &vector.source[1]
        cdef bint plus
        if vector.work != OPERATION:
            return 0
        if vector.is_free and is_plain_negation(vector):
            vector.minus, vector.is_inner = not a.minus, True
            if a.kind == IN_VECTOR:
                self.vectors[a.of].users -= 1
        elif is_product(vector):
            vector.minus = a.minus != b.minus
        elif vector.op == OP_ADD or vector.op == OP_SUBTRACT:
            plus = not b.minus if vector.op == OP_ADD else b.minus
            vector.op = OP_ADD if plus and not a.minus else OP_SUBTRACT
            vector.leads = a.minus and not plus
            if a.minus and plus:
                vector.source[0], vector.source[1] = vector.source[1], vector.source[0]
        return 0

    # ---- pairs

    cdef int pair(self) except -1:
        """Find which vector operations are done together with the one that reads them."""
        cdef int32_t k, side, inner
        cdef VectorOp* vector
        for k in self.members:
            vector = &self.vectors[k]
            for side in range(0 if vector.is_inner else vector.sides):
                inner = self.partner(vector, side)
                if inner == NONE:
                    continue
                vector.inner = inner
                self.vectors[inner].is_inner = True
                break
        return 0

    cdef int32_t partner(self, VectorOp* vector, int32_t side) noexcept:
        """A vector operation on one side that can be done together with `vector`, or NONE."""
        cdef Source* source = &vector.source[side]
        if (vector.work != OPERATION or vector.sides != 2 or first_of(vector.op) < 0 or not may_join(source)
                or vector.leads):
            return NONE
        cdef VectorOp* other = &self.vectors[source.of]
        if (other.loop != vector.loop or other.kept or other.remembered or other.users != 1 or other.low != vector.low
                or other.count != vector.count or source.start != 0 or other.inner != NONE or other.work != OPERATION
                or first_of(other.op) < 0 or other.leads):
            return NONE
        if is_number(&other.source[0]) and is_number(&other.source[other.sides - 1]):
            return NONE
        return source.of

    cdef int find_functions_of_the_same(self) except -1:
        """Find functions of the same numbers that one kernel gives, as of a function and its derivative."""
        cdef dict found = {}
        cdef int32_t k, other
        cdef VectorOp* vector
        for k in self.members:
            vector = &self.vectors[k]
            if (vector.work != OPERATION or vector.sides != 1 or vector.ufunc_loop != NULL
                    or vector.source[0].gathered or INFO[vector.op].v1 == NULL):
                continue
            key = (*load_of(vector, &vector.source[0]), vector.source[0].minus)
            for other in found.get(key, ()):
                if self.vectors[other].second == NONE and not vector.is_second:
                    self.put_together(other, k)
            if not vector.is_second:
                found.setdefault(key, []).append(k)
        return 0

    cdef int put_together(self, int32_t first, int32_t second) noexcept:
        """Let one instruction do both, where there is a kernel."""
        cdef void* one = <void*>INFO[self.vectors[first].op].v1
        cdef void* two = <void*>INFO[self.vectors[second].op].v1
        if kernel_of_both(one, two) != NULL or kernel_of_both(two, one) != NULL:
            self.vectors[first].second = second
            self.vectors[second].is_second = True
        return 0

    cdef int add_both(self, VectorOp* vector) except -1:
        """One instruction for two functions of the same numbers."""
        cdef VectorOp* second = &self.vectors[vector.second]
        cdef void* one = <void*>INFO[vector.op].v1
        cdef void* two = <void*>INFO[second.op].v1
        cdef int32_t a = self.row_of(vector, 0, False)
        self.release(vector)
        cdef int32_t out = self.result(vector)
        cdef int32_t beside = self.result(second)
        if kernel_of_both(one, two) == NULL:
            one, two, out, beside = two, one, beside, out
        self.loop.cost += (COSTLY - 1) * vector.count
        self.add(M_BOTH, <void*>kernel_of_both(one, two), a, a, out, vector).c = beside
        return 0

    cdef int add_pair(self, VectorOp* vector) except -1:
        """One instruction for a vector operation and the one within."""
        cdef VectorOp* inner = &self.vectors[vector.inner]
        cdef int32_t side = 1 if vector.source[0].kind == IN_VECTOR and vector.source[0].of == vector.inner else 0
        cdef int32_t a = self.row_of(inner, 0, True)
        cdef int32_t b = self.row_of(inner, inner.sides - 1, True) if inner.sides == 2 else a
        cdef int32_t c = self.row_of(vector, side, True)
        cdef int second = THEN_ADD
        cdef int32_t then = ADD
        if vector.op == OP_MULTIPLY:
            second, then = THEN_TIMES, MULTIPLY
        elif vector.op == OP_SUBTRACT:
            second, then = (THEN_LESS, SUBTRACT) if side == 1 else (THEN_FROM, SUBTRACT_FROM)
        cdef Kernel3 kernel = pair_kernel(first_of(inner.op), second, self.is_row(a), self.is_row(b), self.is_row(c))
        self.release(inner)
        self.release(vector)
        cdef int32_t out = self.result(vector)
        made = self.add(M_PAIR, <void*>kernel, a, b, out, vector)
        made.c, made.first, made.then = c, word_of(inner.op), then
        return 0

    cdef int add_led(self, VectorOp* vector) except -1:
        """-a - b."""
        cdef int32_t a = self.row_of(vector, 0, False)
        cdef int32_t b = self.row_of(vector, 1, True)
        cdef Kernel3 kernel = pair_kernel(FIRST_TIMES, THEN_LESS, True, False, self.is_row(b))
        self.release(vector)
        cdef int32_t out = self.result(vector)
        made = self.add(M_PAIR, <void*>kernel, a, self.place_of_minus_one(), out, vector)
        made.c, made.first, made.then = b, MULTIPLY, SUBTRACT
        return 0

    cdef int32_t place_of_minus_one(self) except -1:
        if self.fusion.minus_one == NONE:
            self.fusion.minus_one = add_preset(self.fusion.program, -1.0)
        return self.loop.add_place(SLOTS, 0, self.fusion.minus_one, 0)

    # ---- instructions

    cdef Instruction* add(self, int32_t move, void* function, int32_t a, int32_t b, int32_t out,
                          VectorOp* vector) except NULL:
        """An instruction at all coordinates of a vector operation."""
        return self.loop.add(move, function, a, b, out, vector.low, vector.low + vector.count)

    cdef int add_instruction(self, VectorOp* vector) except -1:
        cdef Instruction* sums
        cdef int32_t a, out
        if vector.is_inner or vector.is_second:
            return 0
        if vector.second != NONE:
            return self.add_both(vector)
        if vector.inner != NONE:
            return self.add_pair(vector)
        if vector.leads:
            return self.add_led(vector)
        if vector.work == OPERATION:
            if vector.sides == 3:
                return self.add_selection(vector)
            if vector.sides == 2 and INFO[vector.op].forms != NULL and (
                    vector.source[0].gathered and vector.source[1].gathered):
                return self.add_gathered(vector)
            return self.add_operation(vector)
        if vector.work == ZEROS:
            out = self.result(vector)
            self.add(M_ZERO, NULL, out, out, out, vector)
        elif vector.work == SUM:
            a = self.row_of(vector, 0, False)
            self.release(vector)
            out = self.loop.add_place(SLOTS, 0, vector.base, 0)
            self.add(M_SUM, NULL, a, a, out, vector)
            self.loop.n_sums += 1
        elif vector.work == SUMS_ALONG:
            a = self.row_of(vector, 0, False)
            self.release(vector)
            out = self.loop.add_place(vector.home, 0, 0, 0)
            sums = self.add(M_SUMS, <void*>INFO[<int>OP_ADD].forms.rows, a, a, out, vector)
            sums.along, sums.behind = vector.along, vector.behind
            self.loop.hold_together(vector.along * vector.behind)
        elif vector.work == STORE:
            a = self.row_of(vector, 0, True)
            self.release(vector)
            out = self.result(vector)
            self.add(M_STORE, NULL, a, a, out, vector)
        else:
            a = self.place_of_source(vector, &vector.source[0])
            a = self.row_of(vector, 0, False) if self.loop.places[a].is_truth else a
            self.release(vector)
            out = self.result(vector)
            if self.loop.places[a].view != NULL:
                self.add(M_EXPAND, NULL, a, a, out, vector)
            else:
                self.add(M_COPY, NULL, a, a, out, vector).first = ADD_TO_ZERO
        return 0

    cdef int add_selection(self, VectorOp* vector) except -1:
        cdef int32_t condition = self.row_of(vector, 0, False)
        cdef int32_t a = self.row_of(vector, 1, True)
        cdef int32_t c = self.row_of(vector, 2, True)
        cdef Kernel3 kernel = selection_kernel(self.is_row(a), self.is_row(c))
        self.release(vector)
        cdef int32_t out = self.result(vector)
        made = self.add(M_SELECT, <void*>kernel, a, condition, out, vector)
        made.c, made.first = c, SELECT
        return 0

    cdef int add_bytes(self, VectorOp* vector) except -1:
        """Write the booleans of a row to their array."""
        cdef int32_t row = self.loop.add_place(ROW, vector.row, 0, 1)
        cdef int32_t out = self.loop.add_place(vector.home, 0, vector.base - vector.low, 1)
        self.loop.places[out].is_truth = True
        self.add(M_BYTES, NULL, row, row, out, vector)
        if vector.last == NONE:
            self.rows.free.append(vector.row)
        return 0

    cdef int add_operation(self, VectorOp* vector) except -1:
        cdef bint has_forms = vector.sides == 2 and INFO[vector.op].forms != NULL
        cdef int32_t a = self.row_of(vector, 0, has_forms)
        cdef int32_t b = a
        cdef void* function
        if vector.sides == 2:
            b = self.row_of(vector, 1, has_forms and self.is_row(a))
        self.release(vector)
        cdef int32_t out = self.result(vector)
        cdef int32_t move = M_ROWS
        if not has_forms and vector.op != OP_NEGATIVE and vector.op != OP_SQUARE:
            self.loop.cost += (COSTLY - 1) * vector.count
        if vector.ufunc_loop != NULL:
            move = M_LOOP1 if vector.sides == 1 else M_LOOP2
            self.add(move, vector.ufunc_loop, a, b, out, vector).data = vector.ufunc_data
            return 0
        if has_forms:
            if not self.is_row(a):
                function = <void*>INFO[vector.op].forms.left
            elif not self.is_row(b):
                function = <void*>INFO[vector.op].forms.right
            else:
                function = <void*>INFO[vector.op].forms.rows
        elif vector.sides == 2:
            function = <void*>INFO[vector.op].v2 if INFO[vector.op].v2 != NULL else <void*>INFO[vector.op].f2
            move = M_ROWS if INFO[vector.op].v2 != NULL else M_EACH2
        else:
            function = <void*>INFO[vector.op].v1 if INFO[vector.op].v1 != NULL else <void*>INFO[vector.op].f1
            move = M_ROW if INFO[vector.op].v1 != NULL else M_EACH1
        self.add(move, function, a, b, out, vector).first = word_of(vector.op)
        return 0

    cdef int add_gathered(self, VectorOp* vector) except -1:
        cdef int32_t a = self.base_of(&vector.source[0])
        cdef int32_t b = self.base_of(&vector.source[1])
        cdef int32_t* k = self.fusion.table(self.loop, vector, 0)
        cdef int32_t* m = self.fusion.table(self.loop, vector, 1)
        cdef int32_t out = self.result(vector)
        made = self.add(M_GATHERED, <void*>INFO[vector.op].forms.gathered, a, b, out, vector)
        made.k, made.m = k, m
        return 0

    cdef int release(self, VectorOp* vector) except -1:
        """Let the rows of operands go that no later vector operation reads."""
        cdef VectorOp* other
        cdef int32_t side
        for side in range(vector.sides):
            if vector.source[side].kind == IN_VECTOR and not vector.source[side].gathered:
                other = &self.vectors[vector.source[side].of]
                if other.row != NONE and other.last == self.rows.now and not other.remembered:
                    self.rows.free.append(other.row)
                    other.row = NONE
        return 0

    cdef int32_t result(self, VectorOp* vector) except -1:
        """The place of what a vector operation gives."""
        if vector.kept and not vector.is_truth:
            return self.loop.add_place(vector.home, 0, vector.base - vector.low * vector.step, vector.step)
        if vector.remembered:
            vector.row = self.rows.take()
            self.loop.remember(vector.row)
        else:
            vector.row = self.rows.new()
        return self.loop.add_place(ROW, vector.row, 0, 1)

    cdef int32_t place_of_source(self, VectorOp* vector, Source* source) except -1:
        """Where a source lies that is not gathered."""
        cdef int64_t start = source.start - vector.low * source.stride
        cdef int32_t at
        if source.view != NULL:
            at = self.loop.add_place(source.of, 0, source.start, 1)
            self.loop.places[at].view = source.view
            self.loop.places[at].is_truth = source.is_truth
            return at
        if source.kind == IN_ARRAY:
            at = self.loop.add_place(source.of, 0, start, source.stride)
            self.loop.places[at].is_truth = source.is_truth
            return at
        if source.kind == IN_SLOT:
            return self.loop.add_place(SLOTS, 0, start, source.stride)
        cdef VectorOp* other = &self.vectors[source.of]
        if not self.is_in_row(vector, source):
            at = self.loop.add_place(other.home, 0, other.base + start, source.stride)
            self.loop.places[at].is_truth = other.is_truth
            return at
        return self.loop.add_place(ROW, other.row, -shift(self.fusion, vector, source), 1)

    cdef inline bint is_row(self, int32_t place) noexcept:
        """Whether a number for each coordinate lies at a place, not one for all."""
        return self.loop.places[place].stride != 0

    cdef bint is_in_row(self, VectorOp* vector, Source* source) noexcept:
        """Whether a vector operation of the loop is read from a row of the block."""
        cdef VectorOp* other = &self.vectors[source.of]
        return not other.kept or (other.is_truth and reads_row(self.fusion, vector, source))

    cdef int32_t row_of(self, VectorOp* vector, int32_t side, bint number) except -1:
        """A source as a row; a single number stays one where `number`."""
        cdef Source* source = &vector.source[side]
        cdef int32_t at, out
        if source.gathered:
            at = self.base_of(source)
            out = self.loop.add_place(ROW, self.rows.borrow(), 0, 1)
            self.add(M_GATHER, NULL, at, at, out, vector).k = self.fusion.table(self.loop, vector, side)
            return out
        at = self.place_of_source(vector, source)
        if self.loop.places[at].view == NULL and not self.loop.places[at].is_truth and (
                self.loop.places[at].stride == 1 or (number and self.loop.places[at].stride == 0)):
            return at
        load = None if source.kind == IN_VECTOR else load_of(vector, source)
        if load in self.rows.loaded:
            return self.loop.add_place(ROW, self.rows.loaded[load], 0, 1)
        if load is None:
            return self.brought(vector, at, self.rows.borrow())
        if self.loop.places[at].stride <= 1 or self.loop.places[at].is_truth:
            return self.brought(vector, at, self.rows.hold(load))
        for other in self.rows.beside(load):
            out = self.loop.add_place(self.loop.places[at].space, 0, self.loop.places[at].start + other[2] - load[2],
                                      self.loop.places[at].stride)
            self.brought(vector, out, self.rows.hold(other))
        return self.loop.add_place(ROW, self.rows.loaded[load], 0, 1)

    cdef int32_t brought(self, VectorOp* vector, int32_t at, int32_t row) except -1:
        """What lies at a place, in a row."""
        cdef int32_t out = self.loop.add_place(ROW, row, 0, 1)
        cdef int32_t move = move_of_load(&self.loop.places[at])
        self.add(move, NULL, at, at, out, vector).first = TAKE if move == M_LOAD else NOTHING
        return out

    cdef int32_t base_of(self, Source* source) except -1:
        """Where the numbers lie that are gathered."""
        return self.loop.add_place(source.of if source.kind == IN_ARRAY else SLOTS, 0, 0, 0)


@cython.final
cdef class RowAllocator:
    """Rows of a block, used again."""

    cdef list free
    cdef list borrowed      # by one instruction
    cdef dict last          # loads: the last vector operation that reads each
    cdef dict loaded        # the rows of those that are there
    cdef int32_t now        # the vector operation whose instruction is being made
    cdef int32_t count

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
        """One that is read until the last vector operation that reads this."""
        cdef int32_t row = self.new()
        self.loaded[load] = row
        return row

    cdef list beside(self, tuple load):
        """A load, and those to come of columns beside its own, which lie in the same lines of the cache."""
        cdef list found = [x for x in self.last if x not in self.loaded and abs(x[2] - load[2]) < BESIDE
                           and (*x[:2], *x[3:]) == (*load[:2], *load[3:])]
        return sorted(found, key=start_of)

    cdef int give_back(self) except -1:
        self.free.extend(self.borrowed)
        self.borrowed.clear()
        for load in [x for x in self.loaded if self.last[x] == self.now]:
            self.free.append(self.loaded.pop(load))
            del self.last[load]
        return 0


cdef const Forms2* MAXIMUM_FORMS = arithmetic("maximum")
cdef const Forms2* MINIMUM_FORMS = arithmetic("minimum")
cdef Kernel1 SIGN_KERNEL = vector1("sign")
cdef Kernel1 RECIPROCAL_KERNEL = vector1("reciprocal")


cdef int32_t word_of(uint16_t op) noexcept:
    """What machine code calls an operation; NOTHING where it has none."""
    if op == OP_ADD: return ADD
    if op == OP_SUBTRACT: return SUBTRACT
    if op == OP_MULTIPLY or op == OP_SQUARE: return MULTIPLY
    if op == OP_DIVIDE: return DIVIDE
    if op == OP_NEGATIVE: return NEGATE
    if op == OP_ABSOLUTE: return ABSOLUTE
    if op == OP_SQRT: return SQUARE_ROOT
    if op == OP_LESS: return LESS
    if op == OP_LESS_EQUAL: return LESS_EQUAL
    if op == OP_GREATER: return GREATER
    if op == OP_GREATER_EQUAL: return GREATER_EQUAL
    if op == OP_EQUAL: return EQUAL
    if op == OP_NOT_EQUAL: return NOT_EQUAL
    if op == OP_MASK: return MASK
    if op == OP_STRONG_MULTIPLY: return STRONG_MULTIPLY
    if op == OP_STRONG_DIVIDE: return STRONG_DIVIDE
    if INFO[op].forms != NULL and INFO[op].forms == MAXIMUM_FORMS: return MAXIMUM
    if INFO[op].forms != NULL and INFO[op].forms == MINIMUM_FORMS: return MINIMUM
    if INFO[op].v1 != NULL and INFO[op].v1 == SIGN_KERNEL: return SIGN
    return RECIPROCAL if INFO[op].v1 != NULL and INFO[op].v1 == RECIPROCAL_KERNEL else NOTHING


cdef inline bint is_idle(VectorOp* vector) noexcept:
    """Whether nobody reads the results: all who would do it once more, or do without."""
    return vector.work == OPERATION and not vector.kept and vector.users == 0


cdef tuple load_of(VectorOp* vector, Source* source):
    """What brings a source that does not lie in a row to one: the same for all who read the same numbers."""
    return (source.of, source.kind, source.start, source.stride, <size_t>source.view, vector.low, vector.count,
            vector.reach)


cdef object start_of = itemgetter(2)


cdef bint repeats(const AccessPattern* view) noexcept:
    """Whether what a view shows is the same from block to block."""
    cdef int64_t period = 1
    cdef int d = 0
    while d < view.ndim and view.strides[d] == 0:
        d += 1
    while d < view.ndim and period <= BLOCK:
        period *= view.dims[d]
        d += 1
    return BLOCK % period == 0


cdef inline int32_t move_of_load(RowPlace* place) noexcept:
    """How what lies at a place comes to a row."""
    if place.is_truth:
        return M_TRUTHS if place.view == NULL else M_EXPAND_TRUTHS
    return M_LOAD if place.view == NULL else M_EXPAND


cdef inline bint is_product(VectorOp* vector) noexcept:
    return vector.work == OPERATION and (vector.op == OP_MULTIPLY or vector.op == OP_DIVIDE)


cdef inline bint takes_minus(VectorOp* vector) noexcept:
    """Whether a vector operation could as well read the negative on any side."""
    if vector.work != OPERATION:
        return False
    if vector.op == OP_ADD or vector.op == OP_SUBTRACT or vector.op == OP_SQUARE:
        return True
    return vector.is_free and (is_product(vector) or is_plain_negation(vector))


cdef inline bint is_plain_negation(VectorOp* vector) noexcept:
    """Whether it is a negation that others can look through."""
    cdef Source* source = &vector.source[0]
    return (vector.work == OPERATION and vector.op == OP_NEGATIVE and not vector.remembered
            and not source.gathered and source.view == NULL and (source.stride == 0 or source.stride == 1))


cdef inline bint is_number(Source* source) noexcept:
    """Whether a source is one number again and again."""
    return not source.gathered and source.view == NULL and source.stride == 0
