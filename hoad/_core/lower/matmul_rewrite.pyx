"""Sums of products of arrays that are repeated along each other are products of matrices.

``np.sum(a[:, None, :] * b, axis=-1)`` is ``a @ b.T``, and its adjoints are such sums again. Each axis of the product
belongs to both operands or to one of them, and is summed over or stays:

========  ======  ======
axis of   stays   summed
========  ======  ======
both      stack   inner
left      rows
right     columns
========  ======  ======

What is summed over must belong to both, and what stays to one at least. Only a product that nothing else reads is left
out, and only where that pays. Numbers are real: of infinite complex ones BLAS gives nan where sums of products do not.

Large products are done in pieces, each of which BLAS does in one thread: its threads wait for each other at every
product, which takes milliseconds where a core is busy. Ours take pieces in turn.
"""

cimport cython

from libc.math cimport sqrt

from hoad._core.base.blocks cimport give, required, take_zeroed
from hoad._core.graph.primitive cimport K_STRIDED, K_UFUNC, Signature, primitive_of
from hoad._core.graph.tape cimport (
    OP_BROADCAST_TO, OP_MATMUL, OP_MULTIPLY, OP_SUM, OP_TRANSPOSE, AbstractValue, int32_t, int64_t, intern_aval,
)
from hoad._core.lower.rewrite cimport count_reads, drop_buffers, new_array_step, new_buffer
from hoad._core.ops.plan cimport Plan
from hoad._core.runtime.engine cimport ARRAY_STEP, ArrayStep, StepList

cdef enum:
    SMALLEST = 256          # numbers of a product: fewer take as long either way, and keep their roundings
    SMALLEST_OF_STACK = 64  # numbers of the product of two matrices of a stack, each of which is a call of BLAS
    PIECE = 3 << 16         # multiplications of a piece: of a few more, BLAS shares some products among threads
    NARROWEST = 8           # rows and columns of a piece of two matrices: fewer read these too often
    NARROWEST_STRIP = 64    # columns of a matrix for a row: fewer are little of what comes from memory with them
    FEWEST_ROWS = 4         # of a matrix for a column
    WORTH_A_THREAD = 1 << 20    # multiplications: some 50 microseconds

cdef str BOTH = "both"
cdef str LEFT = "left"
cdef str RIGHT = "right"
cdef str INNER = "inner"


@cython.final
cdef class MatmulRewrite:
    """The sums of products among the steps without lanes of a program."""

    cdef Lowered program
    cdef StepList steps            # those to be
    cdef int32_t registers      # before further ones were made
    cdef int32_t* uses          # how often a register is read
    cdef int32_t* maker         # the step on arrays that makes it, plus one
    cdef dict found             # step that sums -> what takes its place: (primitive, parameters, avals, registers) each
    cdef set dropped            # steps that nothing reads then

    def __cinit__(self, Lowered program):
        self.program = program
        self.steps = StepList()
        self.found, self.dropped = {}, set()
        self.registers = max(program.n_uniform, 1)
        self.uses = <int32_t*>required(take_zeroed(self.registers * sizeof(int32_t)))
        self.maker = <int32_t*>required(take_zeroed(self.registers * sizeof(int32_t)))

    def __dealloc__(self):
        give(self.uses, self.registers * sizeof(int32_t))
        give(self.maker, self.registers * sizeof(int32_t))

    cdef int run(self) except -1:
        cdef int32_t i
        self.survey()
        for i in range(self.program.first_varying):
            if is_sum(signature_at(self.program, i)):
                self.consider(i)
        if self.found:
            self.rewrite()
        return 0

    # ---- who makes what

    cdef void survey(self) noexcept:
        cdef int32_t i, k
        cdef ArrayStep* step
        count_reads(self.program, self.uses)
        for i in range(self.program.first_varying):
            if self.program.steps[i].form == ARRAY_STEP:
                step = &self.program.array_steps[self.program.steps[i].a]
                for k in range(step.n_out):
                    self.maker[self.program.places[step.first + step.n_in + k]] = i + 1

    cdef inline int32_t place(self, int32_t i, int32_t k) noexcept:
        """The register of an operand of a step on arrays, or of its result behind them."""
        return self.program.places[self.program.array_steps[self.program.steps[i].a].first + k]

    cdef inline int32_t maker_of(self, int32_t register) noexcept:
        """The step on arrays that makes a register, -1 where none does."""
        return self.maker[register] - 1 if register >= 0 else -1

    # ---- one sum

    cdef int consider(self, int32_t i) except -1:
        """Note what takes the place of a sum, if it is one of products and that pays."""
        cdef Signature summing = signature_at(self.program, i)
        cdef AbstractValue product = summing.avals[0]
        cdef int32_t made = self.place(i, 0)
        cdef int32_t by = self.maker_of(made)
        cdef int64_t left, right, both, inner, longest
        cdef bint of_rows
        if product.size < SMALLEST or by < 0 or self.uses[made] != 1 or self.program.steps[by].op != OP_MULTIPLY:
            return 0
        cdef Signature sig = signature_at(self.program, by)
        if product.dtype.char not in "fd" or any([(<AbstractValue>aval).dtype != product.dtype for aval in sig.avals]):
            return 0        # BLAS has no others
        if ((<AbstractValue>sig.results[0]).shape != product.shape
                or (<AbstractValue>summing.results[0]).dtype != product.dtype):
            return 0
        x, x_shape = self.unrepeated(self.place(by, 0), sig.avals[0], product.ndim)
        y, y_shape = self.unrepeated(self.place(by, 1), sig.avals[1], product.ndim)
        kinds = []
        for axis, n in enumerate(product.shape):
            in_both = x_shape[axis] == y_shape[axis]
            summed = axis in summing.params[0]
            if n == 1:
                kinds.append(None)
            elif in_both and x_shape[axis] != n:    # both are repeated along it: it lies in neither
                return 0
            elif summed and not in_both:
                return 0
            else:
                kinds.append(INNER if summed else BOTH if in_both else LEFT if x_shape[axis] == n else RIGHT)
        left, right, both, inner = [numbers(product.shape, kinds, kind) for kind in (LEFT, RIGHT, BOTH, INNER)]
        if inner == 1:
            return 0
        if [kind for kind in kinds if kind in (LEFT, RIGHT)][:1] == [RIGHT]:
            x, y, left, right = y, x, right, left
            kinds = [LEFT if kind == RIGHT else RIGHT if kind == LEFT else kind for kind in kinds]
        stays = stretches([kind for kind in kinds if kind != INNER])
        if left > 1 and right > 1 and stays in ([LEFT, RIGHT], [BOTH, LEFT, RIGHT]):
            if 2 * product.size <= 3 * both * (left * inner + right * inner + left * right):
                return 0
            if both > 1 and left * right * inner < SMALLEST_OF_STACK:
                return 0
            pieces = pieces_of_matrices(left, right, inner)
            if pieces is None:
                return 0
            steps, operands = [], []
            for register, order, core in (
                    (x, (BOTH, LEFT, INNER), (left, inner)), (y, (BOTH, INNER, RIGHT), (inner, right))):
                register = self.arranged(register, product, kinds, order, steps)
                operands.append((register, intern_aval(product.dtype, (both, *core) if both > 1 else core)))
        elif stays == [LEFT]:
            walk = stretches([kind for kind in kinds if kind is not None])
            if len(walk) != 2 or self.is_computed(x):
                return 0
            of_rows = walk[0] == LEFT
            longest = min(left, <int64_t>PIECE // inner)
            if longest < min(left, <int64_t>FEWEST_ROWS if of_rows else <int64_t>NARROWEST_STRIP):
                return 0
            pieces = tuple([longest, 1] if of_rows else [1, longest])
            vector = y, intern_aval(product.dtype, (inner,))
            matrix = x, intern_aval(product.dtype, (left, inner) if of_rows else (inner, left))
            operands = [matrix, vector] if of_rows else [vector, matrix]
            steps = []
        else:
            return 0
        if product.size <= PIECE:
            pieces = None       # it is one, or many small ones that are not worth to be shared
        self.program.worth = max(self.program.worth, <int32_t>min(product.size // WORTH_A_THREAD, 1 << 16))
        steps.append((primitive_of(OP_MATMUL), pieces, [aval for _, aval in operands],
                      [*[register for register, _ in operands], self.place(i, 1)]))
        self.found[i] = steps
        for register in (x, y):
            if register >= 0:
                self.uses[<int32_t>register] += 1
        self.drop(by)
        return 0

    cdef tuple unrepeated(self, int32_t register, AbstractValue aval, int ndim):
        """(the register of what an operand repeats, its shape among so many axes)."""
        cdef int32_t by = self.maker_of(register)
        cdef Signature sig
        cdef AbstractValue below
        shape = aval.shape
        while by >= 0:
            sig = signature_at(self.program, by)
            if sig.primitive.op != OP_BROADCAST_TO or sig.params[0] != shape:
                break
            below = sig.avals[0]
            if self.program.uniform[self.place(by, 0)] < 0:     # a number, not in a buffer
                break
            register, shape = self.place(by, 0), (1,) * (len(shape) - below.ndim) + below.shape
            by = self.maker_of(register)
        return register, (1,) * (ndim - len(shape)) + tuple(shape)

    cdef bint is_computed(self, int32_t register) except -1:
        """Whether an array is made number by number: a fused loop that sums it as it goes need not write it."""
        cdef int32_t by = self.maker_of(register)
        while by >= 0 and signature_at(self.program, by).primitive.kind == K_STRIDED:
            by = self.maker_of(self.place(by, 0))
        return by >= 0 and signature_at(self.program, by).primitive.kind == K_UFUNC

    cdef int32_t arranged(
            self, int32_t register, AbstractValue product, list kinds, tuple order, list steps) except? -2147483648:
        """The register that has an operand with its axes in the order of these kinds; what makes it goes to `steps`."""
        axes = [axis for axis, kind in enumerate(kinds) if kind in order]
        walk = stretches([kinds[axis] for axis in axes])
        if walk == [kind for kind in order if kind in walk]:
            return register
        # Axes side by side of the same kind are one, so that what reads a transpose where it lies can tell that it is.
        shape, sides = [], []
        for k, axis in enumerate(axes):
            if k and kinds[axis] == kinds[axes[k - 1]]:
                shape[len(shape) - 1] *= product.shape[axis]
            else:
                shape.append(product.shape[axis])
                sides.append(kinds[axis])
        turned = tuple(sorted(range(len(sides)), key=lambda k: order.index(sides[k])))
        aval = intern_aval(product.dtype, tuple(shape))
        cdef int32_t made = new_buffer(self.program, aval)
        steps.append((primitive_of(OP_TRANSPOSE), (turned,), [aval], [register, made]))
        return made

    cdef int drop(self, int32_t i) except -1:
        """Leave a step out, and the repetitions that only it reads."""
        cdef int32_t k, by
        cdef ArrayStep* step = &self.program.array_steps[self.program.steps[i].a]
        self.dropped.add(i)
        for k in range(step.n_in):
            register = self.place(i, k)
            if register < 0:
                continue
            self.uses[register] -= 1
            by = self.maker_of(register)
            if by >= 0 and self.uses[register] == 0 and signature_at(self.program, by).primitive.op == OP_BROADCAST_TO:
                self.drop(by)
        return 0

    # ---- the steps

    cdef int rewrite(self) except -1:
        """Write the steps anew."""
        cdef int32_t i
        for i in range(self.program.first_varying):
            if i in self.found:
                for primitive, params, avals, registers in self.found[i]:
                    self.steps.add(new_array_step(self.program, primitive, params, avals, registers))
            elif i not in self.dropped:
                self.steps.add(self.program.steps[i])
        drop_buffers(self.program, {self.place(i, self.program.array_steps[self.program.steps[i].a].n_in)
                                    for i in self.dropped})
        return self.steps.put_in(self.program)


cdef Signature signature_at(Lowered program, int32_t i):
    """What a step on arrays does, None of others."""
    if program.steps[i].form != ARRAY_STEP:
        return None
    return (<Plan>program.array_steps[program.steps[i].a].plan).signature


cdef bint is_sum(Signature sig):
    return sig is not None and sig.primitive.op == OP_SUM


cdef int64_t numbers(shape, list kinds, str kind) except -1:
    """How many places the axes of a kind have."""
    cdef int64_t total = 1
    for n, of in zip(shape, kinds):
        total *= n if of == kind else 1
    return total


cdef object pieces_of_matrices(int64_t left, int64_t right, int64_t inner):
    """(rows, columns) of the pieces of a product of matrices, about as many; None where they are too narrow."""
    cdef int64_t side = <int64_t>sqrt(<double>(PIECE // inner))
    cdef int64_t rows = min(left, max(side, PIECE // inner // right))
    cdef int64_t columns = min(right, PIECE // inner // max(rows, 1))
    if rows < min(left, NARROWEST) or columns < min(right, NARROWEST):
        return None
    return in_equal_parts(left, rows), in_equal_parts(right, columns)


cdef int64_t in_equal_parts(int64_t total, int64_t most) noexcept:
    """The longest of parts of about the same length, of so many items at most."""
    cdef int64_t parts = (total + most - 1) // most
    return (total + parts - 1) // parts


cdef list stretches(list kinds):
    """Kinds in turn, each once for all that lie side by side; without axes of length 1."""
    found = []
    for kind in kinds:
        if kind is not None and found[-1:] != [kind]:
            found.append(kind)
    return found


cdef int rewrite_as_matmuls(Lowered program) except -1:
    """Write sums of products among the steps without lanes as products of matrices."""
    cdef int32_t i
    for i in range(program.first_varying):      # most programs have none
        if is_sum(signature_at(program, i)):
            MatmulRewrite(program).run()
            return 0
    return 0
