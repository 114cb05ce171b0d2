"""Running lowered programs: a plain interpreter, without the GIL.

Uniform steps come first and are run once; varying steps are loops over lanes. Everything a run writes lies in a
workspace of its own, so one lowered program runs in many threads at a time.
"""

import numpy as np

from cpython.exc cimport PyErr_SetObject
from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc
from libc.string cimport memcmp, memcpy, memset

cimport numpy as cnp

from hoad._core.base.blocks cimport appended, give, take
from hoad._core.runtime.fused_loop cimport FusedLoop
from hoad._core.kernels.native_call cimport NativeCall
from hoad._core.runtime.gather_copy cimport GatherCopy, GatherPut
from hoad._core.ops.plan cimport FAILED_PYTHON, FAILED_SINGULAR, FAILED_WITHIN, Plan, as_value, raise_within
from hoad._core.graph.primitive cimport K_PUT, K_PYTHON, Primitive, Signature
from hoad._core.runtime.scalar_bytecode cimport ScalarBytecode
from cpython.object cimport PyObject

from hoad._core.base.threads cimport allowed
from hoad._core.kernels.vector cimport selection_kernel
from hoad._core.graph.tape cimport (
    AVAL_BOOL, AVAL_FLOAT, F_VALUED, OP_ASSEMBLE, OP_MATMUL, OP_SELECT, AbstractValue, aval_of, operand_aval,
)

from hoad.errors import DTypeError, GuardError, RuleError, ShapeError, count as counted

cnp.import_array()

cdef enum:
    FEW = 24

cdef double NAN = float("nan")


cdef inline int64_t aligned(int64_t nbytes) noexcept nogil:
    return (nbytes + 15) & ~<int64_t>15


cdef object new_array(AbstractValue aval):
    """An array of this shape and dtype, by NumPy's shortest way."""
    cdef cnp.npy_intp[64] dims
    cdef int d
    for d in range(aval.ndim):
        dims[d] = aval.shape[d]
    return cnp.PyArray_SimpleNew(aval.ndim, dims, (<cnp.dtype>aval.dtype).type_num)


cdef class Lowered:
    """A program made ready: dead nodes dropped, registers given, what does not vary kept apart from what does."""

    def __dealloc__(self):
        give(self.steps, self.cap_steps * sizeof(Step))
        give(self.array_steps, self.cap_array_steps * sizeof(ArrayStep))
        give(self.places, self.cap_places * sizeof(int32_t))
        give(self.truths, self.cap_truths)
        give(self.uniform, self.cap_uniform * sizeof(int64_t))
        give(self.varying, self.cap_varying * sizeof(int64_t))
        give(self.presets, self.cap_presets * sizeof(Preset))
        give(self.broadcasts, self.cap_broadcasts * sizeof(int32_t))
        give(self.inputs, self.cap_inputs * sizeof(Input))
        give(self.outputs, self.cap_outputs * sizeof(Output))
        give(self.checks, self.cap_checks * sizeof(GuardCheck))
        give(self.kept, self.cap_kept * sizeof(int32_t))
        give(self.parts, self.cap_parts * sizeof(void*))
        give(self.owned, self.cap_owned * sizeof(int32_t))
        give(self.offsets, self.n_owned * sizeof(int64_t))

    @property
    def size(self):
        """Steps of one run."""
        return self.n_steps

    @property
    def calls_python(self):
        """Whether a step is a function in Python, or what may call such."""
        cdef int32_t i
        cdef Plan plan
        for i in range(self.n_array_steps):
            plan = <Plan>self.array_steps[i].plan
            if plan.kind == K_PYTHON or (plan.native is not None and plan.native.calls_python):
                return True
        return False

    @property
    def products(self):
        """How many steps are matrix products."""
        cdef int32_t i
        return sum([(<Plan>self.array_steps[self.steps[i].a].plan).signature.primitive.op == OP_MATMUL
                    for i in range(self.n_steps) if self.steps[i].form == ARRAY_STEP])

    @property
    def bytes(self):
        """Bytes of workspace that a run without lanes takes."""
        return self.workspace_size(1)

    @property
    def varying_outputs(self):
        """Of each output, whether it has lanes."""
        cdef int32_t k
        return [self.outputs[k].register < 0 for k in range(self.n_outputs)]

    @property
    def bytes_per_lane(self):
        """Bytes of workspace that each lane takes."""
        cdef int32_t i
        cdef int64_t total = 0
        for i in range(self.n_varying):
            total += self.varying[i]
        return total

    def run(self, values, lanes=1, threads=None):
        """Evaluate for these input values; one lane axis in front of varying inputs and of every output if any vary."""
        return self.execute(list(values), lanes, threads or 0)

    cdef int32_t threads(self, int32_t asked) except -1:
        """How many threads a run uses that may use so many, 0 for as many as may be."""
        return min(allowed(asked), self.worth) if self.worth > 1 else 1

    cdef list execute(self, list values, int32_t lanes, int32_t threads=0):
        cdef Registers work
        cdef int64_t size = self.workspace_size(lanes)
        cdef int32_t i
        cdef int code = 0
        cdef list held = self.converted(values, lanes)
        cdef char* memory = <char*>take(size)
        if memory == NULL:
            raise MemoryError(f"no memory for a workspace of {size} bytes")
        try:
            self.lay_out(memory, lanes, &work)
            work.threads = self.threads(threads)
            self.place_inputs(held, &work)
            given = self.place_outputs(&work)
            with nogil:
                code = self.interpret(&work)
            if code:
                self.raise_failure(code, &work)
            write_back(self, &work)
            for i in range(self.n_outputs):
                if given[i] is None:
                    given[i] = self.result(&self.outputs[i], &work)
            return given
        finally:
            give(memory, size)

    cdef bint may_fail(self) noexcept:
        """Whether a run may end before its results are there."""
        cdef int32_t k
        for k in range(self.n_array_steps):
            if (<Plan>self.array_steps[k].plan).may_fail():
                return True
        return self.n_checks > 0

    cdef int64_t numbers(self) noexcept:
        """About how many numbers a run without lanes goes through."""
        cdef int64_t shared = bytes_of_arrays(self) - self.planned_bytes if self.offsets != NULL else 0
        cdef int64_t nbytes = self.workspace_size(1) - self.scratch + shared
        cdef int64_t total = self.graph.size + nbytes // <int64_t>sizeof(double)
        cdef int64_t fused = 0
        cdef int32_t k
        for k in range(self.n_steps):
            if self.steps[k].form == FUSED_STEP:
                fused += (<FusedLoop>self.parts[self.steps[k].a]).cost
        for k in range(self.n_inputs):
            total += aval_of(self.inputs[k].aval).size
        return total + min(fused, self.scratch // <int64_t>sizeof(double)) + self.native_numbers()

    cdef int64_t native_numbers(self) noexcept:
        """Those of them that programs within go through."""
        cdef int64_t total = 0
        cdef int32_t k
        cdef NativeCall native
        for k in range(self.n_array_steps):
            native = (<Plan>self.array_steps[k].plan).native
            total += 0 if native is None else native.numbers
        return total

    cdef int native_depth(self) noexcept:
        """How deep native runs are in one another."""
        cdef int depth = 0
        cdef int32_t k
        cdef NativeCall native
        for k in range(self.n_array_steps):
            native = (<Plan>self.array_steps[k].plan).native
            depth = max(depth, 0 if native is None else native.depth)
        return depth

    cdef bint has_products(self) noexcept:
        """Whether all lanes at once are multiplied by a matrix that is the same in all."""
        cdef int32_t k
        cdef ArrayStep* step
        for k in range(self.n_array_steps):
            step = &self.array_steps[k]
            if (<Plan>step.plan).is_product and (self.places[step.first] < 0) != (self.places[step.first + 1] < 0):
                return True
        return False

    cdef bint takes_chunks(self) noexcept:
        """Whether a step does all lanes of a chunk at once, and may round otherwise in a shorter one."""
        cdef Plan plan
        cdef int32_t k
        for k in range(self.n_array_steps):
            plan = <Plan>self.array_steps[k].plan
            if plan.batched and not plan.signature.primitive.elementwise:
                return True
        return self.has_products()

    cdef int64_t workspace_size(self, int32_t lanes) noexcept nogil:
        """Bytes that a run takes."""
        cdef int64_t size = self.n_uniform * sizeof(Slot) + self.n_varying * sizeof(char*) + 64 + self.scratch
        cdef int32_t i
        size += self.planned_bytes if self.offsets != NULL else bytes_of_arrays(self)
        for i in range(self.n_varying):
            size += aligned(self.varying[i] * lanes)
        return size

    cdef void lay_out(self, char* memory, int32_t lanes, Registers* work) noexcept nogil:
        """Give every register its place in the memory of a run."""
        cdef int64_t at = self.n_uniform * sizeof(Slot) + self.n_varying * sizeof(char*)
        cdef int32_t i
        work.uniform = <Slot*>memory
        work.varying = <char**>(memory + self.n_uniform * sizeof(Slot))
        work.lanes = lanes
        work.threads = 1
        work.failed_check = -1
        for i in range(self.n_owned):
            if self.offsets != NULL:
                work.uniform[self.owned[i]].o = <PyObject*>(memory + at + self.offsets[i])
            else:
                work.uniform[self.owned[i]].o = <PyObject*>(memory + at)
                at += self.uniform[self.owned[i]]
        if self.offsets != NULL:
            at += self.planned_bytes
        for i in range(self.n_varying):
            work.varying[i] = memory + at
            at += aligned(self.varying[i] * lanes)
        work.scratch = memory + at

    cdef void place_presets(self, Registers* work) noexcept nogil:
        """Fill the registers that are known before the run."""
        cdef int32_t i
        for i in range(self.n_presets):
            work.uniform[self.presets[i].register] = self.presets[i].value

    cdef int32_t blank_below(self, int32_t register) noexcept:
        """The register of the zeros that an array is put into, where they lie nowhere; else -1."""
        cdef int32_t i, k, base
        cdef ArrayStep* step
        for i in range(self.n_array_steps):
            step = &self.array_steps[i]
            if (<Plan>step.plan).kind != K_PUT or self.places[step.first + step.n_in] != register:
                continue
            base = self.places[step.first]
            for k in range(self.n_presets):
                if self.presets[k].register == base and self.presets[k].value.o == NULL:
                    return base
        return -1

    cdef int32_t add_part(self, object part) except -1:
        """The number of a further part."""
        (<void**>appended(<void**>&self.parts, &self.cap_parts, &self.n_parts, sizeof(void*)))[0] = <void*>part
        self.alive.append(part)
        return self.n_parts - 1

    cdef bint takes_numbers_out(self) noexcept:
        """Whether a guard compares numbers bit by bit."""
        cdef int32_t i
        for i in range(self.n_checks):
            if self.checks[i].nbytes:
                return True
        return False

    # ---- in and out

    cdef int check_count(self, Py_ssize_t given) except -1:
        """Raise unless there are as many inputs."""
        if given != self.n_inputs:
            raise ShapeError(
                f"this program takes {counted(self.n_inputs, 'input')}, but {given} "
                f"{'was' if given == 1 else 'were'} given. Give the arguments of the function, then the symbolic "
                "seeds in the order they came."
            )
        return 0

    cdef list converted(self, list values, int32_t lanes):
        """The inputs as contiguous arrays of their dtypes, checked for shape."""
        cdef int32_t i
        self.check_count(len(values))
        return [self.as_input(i, values[i], lanes) for i in range(self.n_inputs)]

    cdef cnp.ndarray as_input(self, int32_t i, object value, int32_t lanes):
        """An input as a contiguous array of its dtype, checked for shape."""
        cdef AbstractValue aval = aval_of(self.inputs[i].aval)
        cdef tuple shape = aval.shape if self.inputs[i].register >= 0 else (lanes, *aval.shape)
        found = np.asarray(value)
        if not np.can_cast(found.dtype, aval.dtype, "same_kind"):
            raise DTypeError(f"input {i} of this program has dtype {aval.dtype}, but {found.dtype} was given.")
        if found.shape != shape:
            raise ShapeError(
                f"input {i} of this program was recorded with shape {shape}, but shape {found.shape} was given. "
                "A program is fixed to its shapes; record the function again."
            )
        dtype = np.float64 if aval.number <= AVAL_BOOL else aval.dtype
        return np.ascontiguousarray(found, dtype=dtype).reshape(shape)

    cdef int place_inputs(self, list held, Registers* work) except -1:
        cdef int32_t i, register
        self.place_presets(work)
        for i in range(self.n_inputs):
            register = self.inputs[i].register
            if register < 0:
                work.varying[~register] = <char*>cnp.PyArray_DATA(<cnp.ndarray>held[i])
            elif self.inputs[i].aval <= AVAL_BOOL:
                work.uniform[register].d = (<double*>cnp.PyArray_DATA(<cnp.ndarray>held[i]))[0]
            else:
                work.uniform[register].o = <PyObject*>cnp.PyArray_DATA(<cnp.ndarray>held[i])
        return 0

    cdef list place_outputs(self, Registers* work):
        """Let arrays that the program makes be made where they are given away; None for the other outputs."""
        cdef list given = [None] * self.n_outputs
        cdef set seen = set()
        cdef AbstractValue aval
        cdef int32_t i, register
        for i in range(self.n_outputs):
            register = self.outputs[i].register
            aval = aval_of(self.outputs[i].aval)
            if self.has_lanes or register < 0 or aval.ndim == 0 or self.uniform[register] <= 0 or register in seen:
                continue
            seen.add(register)
            given[i] = new_array(aval)
            work.uniform[register].o = <PyObject*>cnp.PyArray_DATA(<cnp.ndarray>given[i])
        return given

    cdef object result(self, Output* output, Registers* work):
        """One output as float, boolean or array of its own; with lanes always an array, lanes first."""
        cdef AbstractValue aval = aval_of(output.aval)
        cdef int32_t lane
        cdef int32_t lanes = work.lanes if self.has_lanes else 1
        cdef char* source
        cdef int64_t stride
        if output.register >= 0:
            if output.aval <= AVAL_BOOL and not self.has_lanes:
                return work.uniform[output.register].d if output.aval == AVAL_FLOAT else (
                    work.uniform[output.register].d != 0)
            if aval.ndim and not self.has_lanes:
                made = new_array(aval)
                memcpy(cnp.PyArray_DATA(<cnp.ndarray>made), <char*>work.uniform[output.register].o,
                       aval.size * aval.itemsize)
                return made
            source = (<char*>&work.uniform[output.register].d if output.aval <= AVAL_BOOL
                      else <char*>work.uniform[output.register].o)
            stride = 0
        else:
            source = work.varying[~output.register]
            stride = self.varying[~output.register] if aval.number > AVAL_BOOL else <int64_t>sizeof(double)
        dtype = np.float64 if aval.number <= AVAL_BOOL else aval.dtype
        cdef object array = np.empty((lanes, *aval.shape) if self.has_lanes else aval.shape, dtype=dtype)
        cdef char* data = <char*>cnp.PyArray_DATA(<cnp.ndarray>array)
        cdef int64_t nbytes = aval.size * (<int64_t>sizeof(double) if aval.number <= AVAL_BOOL else aval.itemsize)
        for lane in range(lanes):
            memcpy(data + lane * nbytes, source + lane * stride, nbytes)
        array = array.astype(bool) if aval.number == AVAL_BOOL else array
        if (<object>array).ndim:
            return array
        return array.item() if output.aval > AVAL_BOOL and array.dtype == np.complex128 else array[()]

    cdef int raise_failure(self, int code, Registers* work) except -1:
        if code == GUARD_FAILED:
            raise GuardError(describe_guard(self, self.checks[work.failed_check].guard))
        if code == FAILED_SINGULAR:
            raise np.linalg.LinAlgError("Singular matrix")
        if code == FAILED_WITHIN:
            raise_at(self, &self.array_steps[work.failed_step], work.failed_lane, work)
        return -1       # a Python function raised

    # ---- the interpreter

    cdef int interpret(self, Registers* work) noexcept nogil:
        cdef int code = self.run_uniform(work)
        if code or (self.first_varying == self.n_steps and self.n_checks == 0):
            return code
        return self.run_varying(work)

    cdef int run_uniform(self, Registers* work) noexcept nogil:
        """What is the same in all lanes."""
        cdef int32_t i
        cdef int code
        for i in range(self.first_varying):
            code = uniform_step(self, &self.steps[i], work)
            if code:
                return code
        for i in range(self.n_broadcasts):
            fill(<double*>work.varying[self.broadcasts[2 * i + 1]], work.uniform[self.broadcasts[2 * i]].d, work.lanes)
        return 0

    cdef int run_varying(self, Registers* work) noexcept nogil:
        """What has lanes, and the guards."""
        cdef int32_t i
        cdef int code
        for i in range(self.first_varying, self.n_steps):
            code = varying_step(self, &self.steps[i], work)
            if code:
                return code
        return self.check(work)

    cdef int check(self, Registers* work) noexcept nogil:
        """Compare every guard with what it was when the function was recorded."""
        cdef int32_t i, lane
        cdef GuardCheck* check
        cdef char* data
        for i in range(self.n_checks):
            check = &self.checks[i]
            if check.register >= 0:
                if check.nbytes:
                    if memcmp(<char*>work.uniform[check.register].o, <char*>check.expected.o, check.nbytes) == 0:
                        continue
                elif (work.uniform[check.register].d != 0) == (check.expected.d != 0):
                    continue
                work.failed_check = i
                return GUARD_FAILED
            data = work.varying[~check.register]
            for lane in range(work.lanes):
                if check.nbytes:
                    if memcmp(data + lane * check.nbytes, <char*>check.expected.o, check.nbytes) == 0:
                        continue
                elif ((<double*>data)[lane] != 0) == (check.expected.d != 0):
                    continue
                work.failed_check = i
                return GUARD_FAILED
        return 0


cdef int write_back(Lowered program, Registers* work) except -1:
    """Give the nodes of a running recording the values that were computed for them."""
    cdef int32_t i, node, register
    cdef AbstractValue aval
    for i in range(program.n_kept):
        node = program.kept[2 * i]
        register = program.kept[2 * i + 1]
        aval = aval_of(operand_aval(program.graph, node))
        if aval.number <= AVAL_BOOL:
            program.graph.slots[node].d = work.uniform[register].d
            program.graph.nodes[node].flags |= F_VALUED
        else:
            array = np.empty(aval.shape, aval.dtype)
            memcpy(cnp.PyArray_DATA(<cnp.ndarray>array), <char*>work.uniform[register].o,
                   aval.size * aval.itemsize)
            program.graph.set_object(node, array)
    return 0


cdef int raise_at(Lowered program, ArrayStep* step, int32_t lane, Registers* work) except -1:
    """Raise what a program within a step failed for."""
    cdef Signature sig = (<Plan>step.plan).signature
    cdef list values = []
    cdef int32_t k
    cdef char* at
    for k in range(step.n_in):
        at = pointer(program, step.first + k, work.uniform, work.varying, lane)
        truth = program.truths[step.first + k]
        values.append((<double*>at)[0] != 0 if truth else as_value(sig.avals[k], at))
    return raise_within(sig, values)


cdef str describe_guard(Lowered program, int32_t k):
    code = program.graph.guards[k].code
    line = f" at {(<object>code).co_filename}:{program.graph.guards[k].line}" if code != NULL else ""
    return (
        f"this program was recorded with a branch{line} (guard {k}, on node {program.graph.guards[k].node}) that "
        "these inputs do not take. Record the function again at these inputs."
    )


cdef int uniform_step(Lowered program, Step* step, Registers* work) noexcept nogil:
    cdef Slot* u = work.uniform
    if step.form == SCALAR_STEP:
        u[step.out].d = number(step.op, u[step.a].d, u[step.b].d)
        return 0
    if step.form == ITEM_STEP:
        u[step.out].d = (<double*>u[step.a].o)[step.b]
        return 0
    if step.form == FUSED_STEP:
        (<FusedLoop>program.parts[step.a]).run(u, work.scratch, work.threads)
        return 0
    if step.form == COPY_STEP:
        (<GatherCopy>program.parts[step.a]).run(u)
        return 0
    if step.form == PUT_STEP:
        (<GatherPut>program.parts[step.a]).run(u)
        return 0
    if step.form == BYTECODE_STEP:
        (<ScalarBytecode>program.parts[step.a]).run(u)
        return 0
    work.failed_step, work.failed_lane = step.a, 0
    return array_step(program, &program.array_steps[step.a], u, NULL, 0, work.threads)


cdef int varying_step(Lowered program, Step* step, Registers* work) noexcept nogil:
    cdef int32_t lane
    cdef double* x
    cdef int64_t stride
    if step.form == SCALAR_STEP:
        loop(step.op, <double*>work.varying[step.out], <double*>work.varying[step.a],
             <double*>work.varying[step.b], work.lanes)
        return 0
    if step.form == ITEM_STEP:
        stride = program.varying[step.a] // <int64_t>sizeof(double)
        x = <double*>work.varying[step.a] + step.b
        for lane in range(work.lanes):
            (<double*>work.varying[step.out])[lane] = x[lane * stride]
        return 0
    if (<Plan>program.array_steps[step.a].plan).batched:
        return attempt_batch(<void*>program, &program.array_steps[step.a], work)
    if step.op == OP_ASSEMBLE and (<Plan>program.array_steps[step.a].plan).n_parts == 0:
        assemble_items(program, &program.array_steps[step.a], work)
        return 0
    if step.op == OP_SELECT and select_numbers(program, &program.array_steps[step.a], work):
        return 0
    work.failed_step, work.failed_lane = step.a, 0
    return lanes_step(program, &program.array_steps[step.a], work)


cdef int lanes_step(Lowered program, ArrayStep* step, Registers* work) noexcept nogil:
    """An operation on arrays for all lanes."""
    cdef char* at[FEW]
    cdef int64_t moves[FEW]
    cdef int32_t k, register, lane
    cdef int32_t count = step.n_in + step.n_out
    cdef bint is_plain = count <= FEW
    cdef int code
    for k in range(step.first, step.first + count):
        is_plain = is_plain and not program.truths[k]
    if is_plain:
        for k in range(count):
            register = program.places[step.first + k]
            at[k] = pointer(program, step.first + k, work.uniform, work.varying, 0)
            moves[k] = program.varying[~register] if register < 0 else 0
        return (<Plan>step.plan).run_lanes(at, moves, work.lanes, &work.failed_lane)
    for lane in range(work.lanes):
        work.failed_lane = lane
        code = array_step(program, step, work.uniform, work.varying, lane, 1)
        if code:
            return code
    return 0


cdef bint select_numbers(Lowered program, ArrayStep* step, Registers* work) noexcept nogil:
    """A selection of numbers by a boolean, for all lanes."""
    cdef int32_t* place = program.places + step.first
    if not program.truths[step.first] or place[0] >= 0 or program.varying[~place[3]] != sizeof(double):
        return False
    selection_kernel(place[1] < 0, place[2] < 0)(
        <double*>pointer(program, step.first + 1, work.uniform, work.varying, 0), <double*>work.varying[~place[0]],
        <double*>pointer(program, step.first + 2, work.uniform, work.varying, 0), <double*>work.varying[~place[3]],
        work.lanes)
    return True


cdef void assemble_items(Lowered program, ArrayStep* step, Registers* work) noexcept nogil:
    """An assembly of numbers, for all lanes: `Plan.run_assembly` item by item."""
    cdef int32_t out = ~program.places[step.first + step.n_in]
    cdef int64_t nbytes = program.varying[out]
    cdef char* p
    cdef char* x
    cdef int64_t step_of_x
    cdef int32_t k, lane
    if (<Plan>step.plan).n_items < (<Plan>step.plan).size:
        memset(work.varying[out], 0, work.lanes * nbytes)
    for k in range(step.n_in):
        p = work.varying[out] + (<Plan>step.plan).offsets[k] * <int64_t>sizeof(double)
        x = pointer(program, step.first + k, work.uniform, work.varying, 0)
        step_of_x = sizeof(double) if program.places[step.first + k] < 0 else 0
        for lane in range(work.lanes):
            (<double*>(p + lane * nbytes))[0] = (<double*>(x + lane * step_of_x))[0]


cdef int array_step(Lowered program, ArrayStep* step, Slot* u, char** v, int32_t lane, int32_t threads) noexcept nogil:
    cdef char* few[FEW]
    cdef char few_truths[FEW]
    cdef char** at = few
    cdef char* truths = few_truths
    cdef int32_t k
    cdef int32_t count = step.n_in + step.n_out
    if count > FEW:
        at = <char**>PyMem_RawMalloc(count * (sizeof(char*) + 1))
        if at == NULL:
            return no_memory()
        truths = <char*>(at + count)
    for k in range(count):
        at[k] = pointer(program, step.first + k, u, v, lane)
        if program.truths[step.first + k]:     # loops read booleans as bytes
            truths[k] = (<double*>at[k])[0] != 0 if k < step.n_in else 0
            at[k] = &truths[k]
    cdef int code = (<Plan>step.plan).run(at, at + step.n_in, threads)
    for k in range(step.n_in, count):
        if program.truths[step.first + k]:
            (<double*>pointer(program, step.first + k, u, v, lane))[0] = truths[k]
    if at != few:
        PyMem_RawFree(at)
    return code


cdef int run_batch(Lowered program, ArrayStep* step, Registers* work) except -1:
    """A Python function of the values, for all lanes at once."""
    cdef Signature sig = (<Plan>step.plan).signature
    cdef Primitive primitive = sig.primitive
    cdef int32_t k, place
    cdef cnp.ndarray array
    cdef tuple shape
    computed = primitive.batch(sig.params, *[lanes_of(program, step, k, work) for k in range(step.n_in)])
    computed = (computed,) if primitive.nout == 1 else tuple(computed)
    if len(computed) != step.n_out:
        raise RuleError(
            f"the batch rule of {primitive.name} gave {counted(len(computed), 'result')}, but {step.n_out} were "
            "declared."
        )
    for k in range(step.n_out):
        place = step.first + step.n_in + k
        shape = (work.lanes, *(<AbstractValue>sig.results[k]).shape)
        if np.shape(computed[k]) != shape:
            raise RuleError(
                f"the batch rule of {primitive.name} gave shape {np.shape(computed[k])} where {shape} was asked "
                "for. Its operands have the lanes along axis 0, and so must its results."
            )
        dtype = np.float64 if program.truths[place] else (<AbstractValue>sig.results[k]).dtype
        array = np.ascontiguousarray(computed[k], dtype=dtype)
        memcpy(work.varying[~program.places[place]], cnp.PyArray_DATA(array), cnp.PyArray_NBYTES(array))
    return 0


cdef object lanes_of(Lowered program, ArrayStep* step, int32_t k, Registers* work):
    """Operand k of a step with the lanes along axis 0; one that does not vary is repeated by strides."""
    cdef AbstractValue aval = (<Plan>step.plan).signature.avals[k]
    cdef bint truth = program.truths[step.first + k]
    cdef bint varies = program.places[step.first + k] < 0
    cdef object dtype = np.float64 if truth else aval.dtype
    cdef cnp.ndarray array = np.empty((work.lanes if varies else 1, *aval.shape), dtype)
    memcpy(cnp.PyArray_DATA(array), pointer(program, step.first + k, work.uniform, work.varying, 0),
           cnp.PyArray_NBYTES(array))
    found = array.astype(bool) if truth else array
    return found if varies else np.broadcast_to(found, (work.lanes, *aval.shape))


cdef char* pointer(Lowered program, int32_t place, Slot* u, char** v, int32_t lane) noexcept nogil:
    """Where the value of a place lies."""
    cdef int32_t register = program.places[place]
    if register < 0:
        return v[~register] + lane * program.varying[~register]
    return <char*>u[register].o if program.uniform[register] >= 0 else <char*>&u[register].d


cdef int attempt_batch(void* program, ArrayStep* step, Registers* work) noexcept with gil:
    """`run_batch`; an exception stays set for the caller, who learns of it by the code."""
    try:
        return run_batch(<Lowered>program, step, work)
    except BaseException as error:
        PyErr_SetObject(type(error), error)
        return FAILED_PYTHON


cdef int no_memory() noexcept with gil:
    PyErr_SetObject(MemoryError, "no memory for a step")
    return FAILED_PYTHON


cdef void fill(double* p, double x, int32_t n) noexcept nogil:
    cdef int32_t lane
    for lane in range(n):
        p[lane] = x


cdef void loop(uint16_t op, double* p, double* x, double* y, int32_t n) noexcept nogil:
    """p = op(x, y) over the lanes; y is ignored by operations of one operand."""
    cdef int32_t lane
    if INFO[op].v1 != NULL:
        INFO[op].v1(x, p, n)
    elif INFO[op].v2 != NULL:
        INFO[op].v2(x, y, p, n)
    elif ARITY[op] == 1:
        for lane in range(n):
            p[lane] = INFO[op].f1(x[lane])
    else:
        for lane in range(n):
            p[lane] = INFO[op].f2(x[lane], y[lane])


cdef int64_t bytes_of_arrays(Lowered program) noexcept nogil:
    """Bytes that the buffers of a program without lanes take, each by itself."""
    cdef int64_t total = 0
    cdef int32_t k
    for k in range(program.n_owned):
        total += program.uniform[program.owned[k]]
    return total


cdef class StepList:
    """Steps that a program is to have instead of those without lanes."""

    def __dealloc__(self):
        give(self.rows, self.cap_rows * sizeof(Step))

    cdef int add(self, Step step) except -1:
        (<Step*>appended(<void**>&self.rows, &self.cap_rows, &self.count, sizeof(Step)))[0] = step
        return 0

    cdef int put_in(self, Lowered program) except -1:
        """Let the program have them, before its steps with lanes."""
        cdef int32_t i
        cdef int32_t end = self.count
        for i in range(program.first_varying, program.n_steps):
            self.add(program.steps[i])
        program.first_varying = end
        program.steps, self.rows = self.rows, program.steps
        program.n_steps, self.count = self.count, program.n_steps
        program.cap_steps, self.cap_rows = self.cap_rows, program.cap_steps
        return 0
