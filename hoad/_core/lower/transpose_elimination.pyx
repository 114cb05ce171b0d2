"""Transpose elimination: in which order the axes of arrays lie in memory.

A transpose need not be made where its readers can do without: operations element by element, and reductions, are the
same on an array whose axes lie in another order. So a transpose is only another name for what it shows, and what is
computed from it has its layout, until something reads an array that wants its own order: a matrix product, an
index, the caller. Axes of length 1 lie nowhere; an *order* lists the others, those of the array by their rank, in the
order in which memory has them.

What is asked for below counts too: an array that is only read transposed is computed so. Of the orders that come into
question the one is taken for which the fewest numbers are to be put in another order.
"""

cimport cython

from hoad._core.graph.primitive cimport K_REDUCE, K_UFUNC, Primitive, Signature
from hoad._core.graph.tape cimport (
    OP_ASTYPE, OP_MATMUL, OP_TRANSPOSE, AbstractValue, aval_of, int32_t, int64_t, intern_aval,
)
from hoad._core.lower.rewrite cimport new_array_step, new_buffer
from hoad._core.ops.plan cimport Plan
from hoad._core.runtime.engine cimport ARRAY_STEP, ITEM_STEP, ArrayStep, Step, StepList

cdef enum:
    MOST_OPERANDS = 3       # of an operation that is done in another order
    SHORT_ROW = 64          # numbers side by side: fewer are slow where an operand is repeated along or across them


@cython.final
cdef class Laid:
    """How an array lies: which register has the memory, and in which order it has the axes that are longer than 1."""

    cdef int32_t memory
    cdef tuple order, lengths
    cdef AbstractValue aval

    def __cinit__(self, int32_t memory, tuple order, tuple lengths, AbstractValue aval):
        self.memory, self.order, self.lengths, self.aval = memory, order, lengths, aval


@cython.final
cdef class TransposeElimination:
    """The orders of the axes of the arrays of a program."""

    cdef Lowered program
    cdef Primitive transpose
    cdef StepList steps                # those to be
    cdef dict wanted                # register -> {(lengths, orders that serve a reader): how many numbers it reads}
    cdef dict laid                  # register -> how it is `Laid`, where that is not its own order
    cdef dict plain                 # register -> one that has it in its own order
    cdef dict turned                # (register, order) -> one that has it so

    def __cinit__(self, Lowered program, Primitive transpose):
        self.program = program
        self.transpose = transpose
        self.steps = StepList()
        self.wanted, self.laid, self.plain, self.turned = {}, {}, {}, {}

    # ---- what is asked for

    cdef int ask(self) except -1:
        """Find in which orders arrays are wanted, from the last step to the first."""
        cdef int32_t i, k
        cdef Step* step
        cdef ArrayStep* array_step
        cdef AbstractValue aval
        for k in range(self.program.n_outputs):
            aval = aval_of(self.program.outputs[k].aval)
            lengths = lengths_of(aval.shape)
            self.want(self.program.outputs[k].register, lengths, frozenset([tuple(range(len(lengths)))]), aval.size)
        for i in range(self.program.first_varying - 1, -1, -1):
            step = &self.program.steps[i]
            if step.form != ARRAY_STEP:
                continue
            array_step = &self.program.array_steps[step.a]
            sig = (<Plan>array_step.plan).signature
            out = self.program.places[array_step.first + array_step.n_in]
            wanted = self.wanted_of(out, lengths_of((<AbstractValue>sig.results[0]).shape))
            for k in range(array_step.n_in):
                self.ask_for(self.program.places[array_step.first + k], sig, k, wanted)
        return 0

    cdef list wanted_of(self, int32_t register, lengths):
        """In which orders an array is wanted: its own, where a reader sees it in another shape."""
        own = frozenset([tuple(range(len(lengths)))])
        wishes = self.wanted.get(register, {})
        return [(orders if of == lengths else own, size) for (of, orders), size in wishes.items()]

    cdef int want(self, int32_t register, lengths, orders, int64_t size) except -1:
        """Note a wish for an array. Equal ones are one: readers of readers are as many as there are ways to them."""
        wishes = self.wanted.setdefault(register, {})
        wishes[lengths, orders] = max(size, wishes.get((lengths, orders), 0))
        return 0

    cdef int ask_for(self, int32_t register, Signature sig, int32_t k, wanted) except -1:
        """Note in which orders a step takes its operand k, whose result is wanted in some."""
        cdef AbstractValue aval = sig.avals[k]
        lengths = lengths_of(aval.shape)
        own = tuple(range(len(lengths)))
        if len(own) < 2 or is_reduction(sig):
            return 0
        if is_transpose(sig):
            shown = axes_shown(sig)
            found = [(frozenset([tuple([shown[rank] for rank in order]) for order in orders]), size)
                     for orders, size in wanted]
        elif is_elementwise(sig):
            found = wanted if lengths_of((<AbstractValue>sig.results[0]).shape) == lengths else []
        elif sig.primitive.op == OP_MATMUL and 1 not in aval.shape[aval.ndim - 2:]:
            found = [(frozenset([own, own[:-2] + own[:-3:-1]]), aval.size)]
        else:
            found = [(frozenset([own]), aval.size)]
        for orders, size in found:
            self.want(register, lengths, orders, size)
        return 0

    # ---- what is laid out how

    cdef int arrange(self) except -1:
        """Write the steps anew."""
        cdef Lowered program = self.program
        cdef int32_t i, k
        cdef int32_t count = program.first_varying
        cdef Step step
        for i in range(count):
            step = program.steps[i]
            if step.form == ARRAY_STEP:
                self.place(step, (<Plan>program.array_steps[step.a].plan).signature)
                continue
            if step.form == ITEM_STEP:
                step.a = self.in_own_order(step.a)
            self.steps.add(step)
        for k in range(program.n_outputs):
            program.outputs[k].register = self.in_own_order(program.outputs[k].register)
        for k in range(program.n_checks):
            program.checks[k].register = self.in_own_order(program.checks[k].register)
        for i in range(count, program.n_steps):
            if program.steps[i].form == ARRAY_STEP:
                self.read_in_own_order(&program.array_steps[program.steps[i].a])
        return self.steps.put_in(program)

    cdef int place(self, Step step, Signature sig) except -1:
        """A step on arrays, in the order that suits it."""
        cdef ArrayStep* array_step = &self.program.array_steps[step.a]
        cdef int32_t first = array_step.first
        registers = [self.program.places[first + k] for k in range(array_step.n_in + array_step.n_out)]
        if is_transpose(sig):
            self.show(registers[0], registers[1], sig)
        elif not (is_elementwise(sig) and self.place_elementwise(registers, sig)
                  or is_reduction(sig) and self.place_reduction(registers, sig)):
            self.read_in_own_order(&self.program.array_steps[step.a])
            self.steps.add(step)
        return 0

    cdef int show(self, int32_t x, int32_t out, Signature sig) except -1:
        """A transpose: another name for what it shows."""
        lengths = lengths_of((<AbstractValue>sig.avals[0]).shape)
        memory, order = self.memory_of(x, lengths)
        ranks = axes_shown(sig)
        aval = sig.results[0]
        self.laid[out] = Laid(memory, tuple([ranks.index(rank) for rank in order]), lengths_of(aval.shape), aval)
        return 0

    cdef tuple memory_of(self, int32_t register, lengths):
        """(the register whose memory has an array with these lengths, in which order)."""
        cdef Laid found = self.laid.get(register)
        if found is not None and found.lengths == lengths:
            return found.memory, found.order
        return self.in_own_order(register), tuple(range(len(lengths)))

    cdef bint place_elementwise(self, list registers, Signature sig) except -1:
        """An operation element by element, in the order that costs least; False where that is its own."""
        cdef AbstractValue p = sig.results[0]
        lengths = lengths_of(p.shape)
        own = tuple(range(len(lengths)))
        if len(own) < 2:
            return False
        ranks = [ranks_of(aval.shape, p.shape) for aval in sig.avals]
        wanted = self.wanted_of(registers[-1], lengths)
        candidates = {own} | {order for orders, _ in wanted for order in orders}
        for register, seen in zip(registers, ranks):
            if len(seen) == len(own):
                candidates.add(self.memory_of_laid(register, lengths, own))
        order = min(candidates, key=lambda order: (
            self.cost(registers, ranks, sig, order, wanted), order != own, -lengths[order[len(order) - 1]], order))
        if order == own and not any([r in self.laid for r in registers]):
            return False
        avals = [aval if not aval.ndim else intern_aval(aval.dtype, tuple(
                    [lengths[rank] if rank in seen else 1 for rank in order])) for seen, aval in zip(ranks, sig.avals)]
        operands = [self.in_order(register, aval, seen, order) if len(seen) > 1 else self.in_own_order(register)
                    for register, seen, aval in zip(registers, ranks, sig.avals)]
        self.emit(sig.primitive, sig.params, avals, [*operands, registers[-1]])
        if order != own:
            self.laid[registers[-1]] = Laid(registers[-1], order, lengths, p)
        return True

    cdef tuple memory_of_laid(self, int32_t register, lengths, own):
        """The order of an array in memory."""
        cdef Laid found = self.laid.get(register)
        return found.order if found is not None and found.lengths == lengths else own

    cdef int64_t cost(self, list registers, list ranks, Signature sig, tuple order, list wanted) except -1:
        """How many numbers are put in another order if a result has this one."""
        cdef int64_t total = 0
        cdef AbstractValue aval, p = sig.results[0]
        cdef bint repeats = False
        for register, seen, aval in zip(registers, ranks, sig.avals):
            repeats = repeats or (aval.ndim > 0 and len(seen) < len(order))
            if len(seen) > 1 and not self.has_order(register, lengths_of(aval.shape), among(seen, order)):
                total += aval.size
        for orders, size in wanted:
            total += 0 if order in orders else <int64_t>size
        if repeats and lengths_of(p.shape)[order[len(order) - 1]] < SHORT_ROW:
            total += p.size
        return total

    cdef bint has_order(self, int32_t register, lengths, tuple order) except -1:
        """Whether an array lies in memory in this order."""
        cdef Laid found = self.laid.get(register)
        own = tuple(range(len(order)))
        if found is None or found.lengths != lengths:
            return order == own
        return found.order == order or (register, order) in self.turned or (order == own and register in self.plain)

    cdef int32_t in_order(self, int32_t register, AbstractValue aval, list seen, tuple order) except -1:
        """The register that has an operand whose axes are `seen` in the order of a result."""
        lengths = lengths_of(aval.shape)
        asked = among(seen, order)
        own = tuple(range(len(asked)))
        memory, present = self.memory_of(register, lengths)
        if present == asked:
            return memory
        if asked == own:
            return self.in_own_order(register)
        if (register, asked) in self.turned:
            return self.turned[register, asked]
        cdef int32_t made = new_buffer(self.program, aval)
        self.emit_transpose(memory, aval, lengths, present, asked, made)
        self.turned[register, asked] = made
        return made

    cdef bint place_reduction(self, list registers, Signature sig) except -1:
        """A reduction of what lies in another order; False where it lies in its own."""
        cdef AbstractValue x = sig.avals[0]
        cdef AbstractValue p = sig.results[0]
        lengths = lengths_of(x.shape)
        own = tuple(range(len(lengths)))
        memory, order = self.memory_of(registers[0], lengths)
        if len(own) < 2 or memory == registers[0] and order == own:
            return False
        reduced = [rank for rank, axis in enumerate(axes_of(x.shape)) if axis in sig.params[0]]
        if not reduced:
            return False
        left = [rank for rank in order if rank not in reduced]
        shape = tuple([lengths[rank] for rank in left]) or (1,) * min(p.ndim, 1)
        axes = tuple([k for k, rank in enumerate(order) if rank in reduced])
        aval = intern_aval(x.dtype, tuple([lengths[rank] for rank in order]))
        self.emit(sig.primitive, (axes, shape), [aval], [memory, registers[1]])
        if left != sorted(left):
            kept = sorted(left)
            order = tuple([kept.index(rank) for rank in left])
            self.laid[registers[1]] = Laid(registers[1], order, lengths_of(p.shape), p)
        return True

    # ---- arrays in their own order

    cdef int32_t in_own_order(self, int32_t register) except? -2147483648:
        """The register that has an array as its shape says."""
        cdef Laid found = self.laid.get(register)
        if register < 0 or found is None:
            return register
        if register in self.plain:
            return self.plain[register]
        own = tuple(range(len(found.order)))
        if found.order == own:
            return found.memory
        cdef int32_t made = register if found.memory != register else new_buffer(self.program, found.aval)
        self.emit_transpose(found.memory, found.aval, found.lengths, found.order, own, made)
        self.plain[register] = made
        return made

    cdef int read_in_own_order(self, ArrayStep* step) except -1:
        cdef int32_t k
        cdef int32_t first = step.first         # the step may move while others are made
        cdef int32_t end = step.first + step.n_in
        for k in range(first, end):
            register = self.in_own_order(self.program.places[k])
            self.program.places[k] = <int32_t>register
        return 0

    # ---- steps

    cdef int emit(self, Primitive primitive, params, list avals, list registers) except -1:
        """A step on arrays, of what acts number by number or on one operand: operands, then the result."""
        return self.steps.add(new_array_step(self.program, primitive, params, avals, registers))

    cdef int emit_transpose(self, int32_t x, AbstractValue aval, lengths, tuple present, tuple asked,
                            int32_t out) except -1:
        """Put an array that lies in one order in another; as its shape says, if that is its own."""
        axes = [present.index(rank) for rank in asked]
        units = 0
        if asked == tuple(range(len(asked))):
            units = aval.ndim - len(lengths)
            unit = iter(range(units))
            rank = iter(axes)
            axes = [next(unit) if n == 1 else units + next(rank) for n in aval.shape]
        shape = (1,) * units + tuple([lengths[rank] for rank in present])
        return self.emit(self.transpose, (tuple(axes),), [intern_aval(aval.dtype, shape)], [x, out])


# ---- axes -----------------------------------------------------------------------------------------------------------

cdef list axes_of(shape):
    """The axes that are longer than 1, by rank."""
    return [axis for axis, n in enumerate(shape) if n != 1]


cdef tuple lengths_of(shape):
    return tuple([n for n in shape if n != 1])


cdef list ranks_of(shape, whole):
    """Which of the axes of a result an operand of that shape has."""
    lead = len(whole) - len(shape)
    ranks = {axis: rank for rank, axis in enumerate(axes_of(whole))}
    return [ranks[axis + lead] for axis in axes_of(shape)]


cdef tuple among(list seen, tuple order):
    """The order of those axes of a result that an operand has, by their ranks there."""
    return tuple([seen.index(rank) for rank in order if rank in seen])


cdef list axes_shown(Signature sig):
    """Of each axis of a transpose, in turn, the rank that it has in the operand."""
    ranks = {axis: rank for rank, axis in enumerate(axes_of((<AbstractValue>sig.avals[0]).shape))}
    return [ranks[axis] for axis in sig.params[0] if axis in ranks]


cdef bint is_transpose(Signature sig):
    return sig.primitive.op == OP_TRANSPOSE


cdef bint is_reduction(Signature sig):
    return sig.primitive.kind == K_REDUCE


cdef bint is_elementwise(Signature sig):
    """Whether a step acts number by number, with broadcasting."""
    if sig.primitive.op == OP_ASTYPE:
        return True
    return sig.primitive.kind == K_UFUNC and len(sig.results) == 1 and len(sig.avals) <= MOST_OPERANDS


cdef int eliminate_transposes(Lowered program) except -1:
    """Write the steps without lanes of a program anew, where there are transposes among them."""
    cdef TransposeElimination elimination
    cdef Signature sig
    cdef int32_t i
    for i in range(program.n_array_steps):
        if is_transpose((<Plan>program.array_steps[i].plan).signature):
            break
    else:       # and most programs have many more steps
        return 0
    for i in range(program.first_varying):
        if program.steps[i].form != ARRAY_STEP:
            continue
        sig = (<Plan>program.array_steps[program.steps[i].a].plan).signature
        if is_transpose(sig) and axes_shown(sig) != sorted(axes_shown(sig)):
            elimination = TransposeElimination(program, sig.primitive)
            elimination.ask()
            return elimination.arrange()
    return 0
