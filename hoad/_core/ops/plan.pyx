"""How one signature is evaluated.

Values on a tape are C-contiguous, so a plan is fixed by the signature alone: strides for broadcasting, reductions and
views, with neighbouring dimensions merged where every operand allows it. NumPy's own inner loops do the arithmetic,
without the GIL.
"""

import math

import numpy as np

from cpython.exc cimport PyErr_SetObject
from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree
from libc.stdint cimport uint64_t
from libc.string cimport memcpy, memset

cimport numpy as cnp

from hoad._core.base.blocks cimport required
from hoad._core.base.call_watch cimport unwatched
from hoad._core.graph.primitive cimport (
    INFO, K_CONCATENATE, K_GATHER, K_GUFUNC, K_NATIVE, K_PUT, K_PYTHON, K_REDUCE, K_STRIDED, K_STRUCTURE, K_UFUNC,
)
from hoad._core.graph.tape cimport AVAL_BOOL, OP_INV, OP_MATMUL, OP_SOLVE
from hoad._core.base.threads cimport share
from hoad._core.kernels.vector cimport Kernel1, is_faster, matrix_loop

from hoad.errors import RuleError, count as counted

cnp.import_array()
cnp.import_ufunc()

cdef extern from "numpy/ufuncobject.h":
    ctypedef struct Ufunc "PyUFuncObject":      # NumPy's own declaration has lost its types in 2.5
        int nargs, ntypes
        void** functions
        void** data
        const char* types

cdef extern from "<fenv.h>" nogil:
    int feclearexcept(int) noexcept
    int fetestexcept(int) noexcept
    int FE_INVALID

cdef type ndarray = np.ndarray

# Where a sum starts: it is -0.0 where NumPy's sum of -0.0 is.
cdef double SUM_OF_NEGATIVE_ZERO = float(np.add.reduce(np.array([-0.0])))

cdef extern from "sums.h":
    double sums_total(const double* x, int64_t n) noexcept nogil

cdef enum:
    MOST_DIMS = 64
    MOST_LOOP_OPERANDS = 16
    LOOKED_AT = 512             # places of a gather at a time
    BLOCK = 256                 # elements that are put side by side for a kernel
    TERMS = 240                 # of a sum in such a product
    FEW_NUMBERS = 4096          # of its result
    TILE = 8                    # numbers of a line of the cache
    FEW_ITEMS = 8               # of a row: a loop over the lanes is the shorter way
    FEW_ROWS = 16               # rows of a product: fewer are slow, for the matrix is read once for all


# What threads share of LAPACK: OpenBLAS takes a lock in each call, for which threads wait where matrices are small (if
# of doubles, they are not LAPACK's), and of factors by Cholesky where they are large, too.
cdef frozenset SHARED_OF_LAPACK = frozenset(["det", "inv", "solve"])


cdef struct Pieces:             # of a matrix product that threads share
    void* plan
    char* at[3]


cdef struct SharedStack:        # of matrices
    void* plan
    char* at[MOST_LOOP_OPERANDS]
    bint is_singular            # one of them


cdef inline int32_t rows_at_once(int64_t numbers, int32_t lanes) noexcept nogil:
    """How many lanes of rows to multiply at once with a matrix of so many numbers.

    Threads of BLAS wait for each other at every product, and where a core is busy they wait for the system: a small
    product takes some milliseconds then. Lanes have threads of their own.
    """
    cdef int64_t rows = ONE_THREAD // max(numbers, 1)
    return lanes if rows < FEW_ROWS else <int32_t>min(rows, <int64_t>lanes)


cdef void* table(Py_ssize_t count, size_t itemsize) except NULL:
    return required(PyMem_RawCalloc(max(count, 1), itemsize))


cdef cnp.npy_intp* integers(object values) except NULL:
    cdef cnp.npy_intp* rows = <cnp.npy_intp*>table(len(values), sizeof(cnp.npy_intp))
    cdef Py_ssize_t i
    try:
        for i, value in enumerate(values):
            rows[i] = value
    except BaseException:
        PyMem_RawFree(rows)
        raise
    return rows


def contiguous_strides(shape, itemsize=1):
    """Bytes, or items, between neighbours along each axis of a C-contiguous array."""
    strides = []
    step = itemsize
    for n in reversed(shape):
        strides.append(step)
        step *= max(n, 1)
    return strides[::-1]


def broadcast_strides(AbstractValue aval, shape):
    """Strides of `aval` seen at `shape`: 0 along what is broadcast."""
    own = contiguous_strides(aval.shape, aval.itemsize)
    lead = len(shape) - aval.ndim
    return [0 if axis < lead or (aval.shape[axis - lead] == 1 and n != 1) else own[axis - lead]
            for axis, n in enumerate(shape)]


def merge(dims, strides):
    """Drop axes of length 1 and join neighbours that every operand walks as one.

    `strides` holds one list an operand. Returns the new dims and strides.
    """
    axes = [d for d, n in enumerate(dims) if n != 1]
    new_dims = []
    new_strides = [[] for _ in strides]
    for d in axes:
        if new_dims and all(new[-1] == old[d] * dims[d] for new, old in zip(new_strides, strides)):
            new_dims[-1] *= dims[d]
            for new, old in zip(new_strides, strides):
                new[-1] = old[d]
        else:
            new_dims.append(dims[d])
            for new, old in zip(new_strides, strides):
                new.append(old[d])
    return new_dims, new_strides


def broadcast_shapes(*shapes):
    """The shape that arrays of these shapes broadcast to, of up to 64 axes as arrays have them; NumPy's takes 32."""
    cdef Py_ssize_t ndim = max([len(shape) for shape in shapes])
    cdef Py_ssize_t d
    if ndim <= 32:
        return np.broadcast_shapes(*shapes)
    found = [1] * ndim
    for shape in shapes:
        for d in range(1, len(shape) + 1):
            if shape[-d] != 1 and found[-d] not in (1, shape[-d]):
                raise ValueError(f"shapes {' and '.join(map(str, shapes))} do not broadcast together")
            if shape[-d] != 1:
                found[-d] = shape[-d]
    return tuple(found)


cdef class Plan:
    """A signature made ready to run; `run` reads operands and writes results through plain pointers."""

    def __dealloc__(self):
        cdef int i
        PyMem_RawFree(self.dims)
        PyMem_RawFree(self.steps)
        PyMem_RawFree(self.core_dims)
        PyMem_RawFree(self.core_steps)
        PyMem_RawFree(self.offsets)
        PyMem_RawFree(self.blocks)
        if self.parts != NULL:
            for i in range(self.n_parts):
                PyMem_RawFree(self.parts[i].shape)
                PyMem_RawFree(self.parts[i].strides)
            PyMem_RawFree(self.parts)

    # ---- building

    cdef int find_loop(self, object function, list kinds) except -1:
        """Take NumPy's inner loop of `function` for these dtypes."""
        cdef Ufunc* u = <Ufunc*><void*><cnp.ufunc?>function
        cdef int i, j
        wanted = [dtype.num for dtype in kinds]
        for i in range(u.ntypes):
            for j in range(u.nargs):
                if u.types[i * u.nargs + j] != <int>wanted[j]:
                    break
            else:
                self.loop = <Loop>u.functions[i]
                self.data = NULL if u.data == NULL else u.data[i]
                return 1
        return 0

    cdef int take_kernel(self, Primitive primitive, list kinds) except -1:
        """Put a vector kernel of ours in place of NumPy's loop, for float64 where it is the faster."""
        if any([dtype != np.float64 for dtype in kinds]):
            return 0
        self.forms = INFO[primitive.op].forms
        if not is_faster(primitive.name):
            return 0
        if INFO[primitive.op].v1 != NULL:
            self.loop = kernel_loop1
            self.data = <void*>INFO[primitive.op].v1
        elif INFO[primitive.op].v2 != NULL:
            self.loop = kernel_loop2
            self.data = <void*>INFO[primitive.op].v2
        return 1

    cdef bint take_matrices(self, Signature sig, int64_t rows) except -1:
        """Put a loop of ours in place of LAPACK's, for small matrices of float64; whether there is one."""
        cdef Loop ours = matrix_loop(sig.primitive.name, rows, &self.lapack)
        if ours == NULL or any([not (<AbstractValue>x).is_float64 for x in sig.avals]):
            return False
        self.lapack.loop, self.lapack.data = self.loop, self.data
        self.loop, self.data = ours, &self.lapack
        return True

    cdef int set_loops(self, object dims, list strides) except -1:
        """Outer loops over `dims`, for operands with these strides."""
        cdef int d, k
        self.nop = len(strides)
        self.ndim = len(dims)
        if self.nop > MOST_LOOP_OPERANDS or self.ndim > MOST_DIMS:
            raise ValueError(f"{self.nop} operands in {self.ndim} dimensions are more than a loop holds")
        self.dims = integers(dims)
        self.steps = <cnp.npy_intp*>table(self.ndim * self.nop, sizeof(cnp.npy_intp))
        for d in range(self.ndim):
            for k in range(self.nop):
                self.steps[d * self.nop + k] = strides[k][d]
        return 0

    cdef int set_elementwise(self, Signature sig) except -1:
        shape = sig.results[0].shape
        strides = [broadcast_strides(aval, shape) for aval in sig.avals]
        strides += [contiguous_strides(shape, aval.itemsize) for aval in sig.results]
        dims, strides = merge(shape, strides)
        self.empty = 0 in shape
        self.core_dims = integers(dims[-1:] or [1])
        self.core_steps = integers([s[-1] if s else 0 for s in strides])
        return self.set_loops(dims[:-1], [s[:-1] for s in strides])

    cdef int set_gufunc(self, Signature sig, list seen) except -1:
        """A generalised ufunc: its last axes are the core, the ones before broadcast.

        `seen`: of each operand, the strides in bytes through which it is read, or None where it is contiguous.
        """
        cdef Primitive primitive = sig.primitive
        cores, results, core = core_shapes(primitive.name, sig.avals)
        outer = broadcast_shapes(*[aval.shape[: aval.ndim - n] for aval, n in zip(sig.avals, cores)])
        strides = []
        core_steps = []
        for aval, n, own in zip(sig.avals + sig.results, cores + results, seen + [None] * len(results)):
            own = contiguous_strides(aval.shape, aval.itemsize) if own is None else own
            lead = len(outer) - (aval.ndim - n)
            strides.append([0 if d < lead or (aval.shape[d - lead] == 1 and m != 1) else own[d - lead]
                            for d, m in enumerate(outer)])
            core_steps.append(own[aval.ndim - n:])
        if primitive.op == OP_MATMUL:
            core_steps = matmul_steps(sig, core_steps)
        self.empty = 0 in outer
        self.may_be_singular = primitive.op == OP_SOLVE or primitive.op == OP_INV
        self.is_product = primitive.op == OP_MATMUL and not outer
        self.has_terms = self.is_product and (<AbstractValue>sig.results[0]).is_float64
        if primitive.op == OP_MATMUL and sig.params is not None:
            self.piece_rows, self.piece_columns = sig.params
        inner = [s for steps in core_steps for s in steps]
        if self.piece_rows:
            self.core_dims = integers([1] + core)
            self.core_steps = integers([0] * len(core_steps) + inner)
            return self.set_loops(list(outer), strides)
        dims, strides = merge(outer, strides)   # NumPy's loop takes the last of them
        self.core_dims = integers((dims[-1:] or [1]) + core + [0] * (3 - len(core)))
        self.core_steps = integers([s[-1] if s else 0 for s in strides] + inner + [0] * (9 - len(strides) - len(inner)))
        each = math.prod(core) if primitive.op == OP_MATMUL else max(core, default=0) ** 3
        is_shared = (primitive.op == OP_MATMUL or self.take_matrices(sig, max(core, default=0))
                     or primitive.name in SHARED_OF_LAPACK and each >= WORTH_A_LOCK)
        if len(dims) == 1 and is_shared and each < ONE_THREAD:
            self.stack_part = ONE_THREAD // (OF_A_CALL + each)
        return self.set_loops(dims[:-1], [s[:-1] for s in strides])

    cdef int set_reduction(self, Signature sig) except -1:
        cdef AbstractValue x = sig.avals[0]
        cdef AbstractValue p = sig.results[0]
        cdef object ufunc = sig.primitive.function
        axes = sig.params[0]
        kept = [n for axis, n in enumerate(x.shape) if axis not in axes]
        own = contiguous_strides(kept, p.itemsize)
        out, k = [], 0
        for axis in range(x.ndim):
            out.append(0 if axis in axes else own[k])
            k += axis not in axes
        inner = contiguous_strides(x.shape, x.itemsize)
        dims, strides = merge(x.shape, [out, inner])
        self.empty = 0 in x.shape
        self.itemsize = p.itemsize
        self.size = p.size
        step, stride = (strides[0][-1], strides[1][-1]) if dims else (0, 0)
        if ufunc is np.add and p.dtype == x.dtype == np.float64 and (step, stride) == (0, sizeof(double)):
            self.loop = sum_loop        # without a look at each row for how it lies
        self.core_dims = integers(dims[-1:] or [1])
        self.core_steps = integers([step, stride, step])
        self.set_loops(dims[:-1], [s[:-1] for s in strides])
        if ufunc in (np.add, np.multiply):
            zero = SUM_OF_NEGATIVE_ZERO if p.inexact and not self.empty else 0
            start = np.array(1 if ufunc is np.multiply else zero, dtype=p.dtype).tobytes()
            memcpy(self.identity, <char*>start, min(len(start), 16))
        else:
            self.starts_with_first = True
            self.first = Plan.__new__(Plan)
            shape = [1 if axis in axes else n for axis, n in enumerate(x.shape)]
            self.first.set_strided(shape, inner, 0, x.itemsize)
        return 0

    cdef int set_strided(self, object shape, object strides, int64_t offset, int64_t itemsize) except -1:
        """A copy of the operand seen at `shape` through `strides` (bytes) from `offset`."""
        dims, merged = merge(shape, [contiguous_strides(shape, itemsize), list(strides)])
        self.kind = K_STRIDED
        self.empty = 0 in shape
        self.itemsize = itemsize
        self.offset = offset
        self.core_dims = integers(dims[-1:] or [1])
        self.core_steps = integers([s[-1] if s else itemsize for s in merged])
        return self.set_loops(dims[:-1], [s[:-1] for s in merged])

    cdef int set_assembly(self, Signature sig) except -1:
        """Parameters: (flat offsets of the items, parts); a part is None (gathered) or (offset, shape, strides)."""
        cdef cnp.ndarray offsets
        cdef Py_ssize_t i
        cdef Part* part
        cdef AbstractValue aval
        offsets, parts = sig.params
        self.n_items = len(offsets)
        self.offsets = <int64_t*>table(self.n_items, sizeof(int64_t))
        memcpy(self.offsets, cnp.PyArray_DATA(offsets), self.n_items * sizeof(int64_t))
        self.n_parts = len(parts)
        self.parts = <Part*>table(self.n_parts, sizeof(Part))
        operand = self.n_items
        for i, place in enumerate(parts):
            part = &self.parts[i]
            aval = sig.avals[operand]
            part.count = aval.size
            if place is None:
                part.gathered = True
                operand += 2
                continue
            operand += 1
            part.offset = place[0]
            part.ndim = len(place[1])
            part.shape = integers(place[1])
            part.strides = integers(place[2])
        aval = sig.results[0]
        self.itemsize = aval.itemsize
        self.size = aval.size
        if not self.find_loop(np.add, [aval.dtype] * 3):
            raise TypeError(f"no addition of {aval.dtype}")
        return 0

    cdef int set_concatenation(self, Signature sig) except -1:
        cdef int i
        axis = sig.params[0]
        self.blocks = <int64_t*>table(self.nin, sizeof(int64_t))
        for i, aval in enumerate(sig.avals):
            self.blocks[i] = int(np.prod(aval.shape[axis:], dtype=np.int64)) * aval.itemsize
        self.size = int(np.prod(sig.results[0].shape[:axis], dtype=np.int64))
        return 0

    # ---- running

    cdef bint may_fail(self) noexcept:
        """Whether a run may raise, as what calls Python may."""
        if self.kind == K_NATIVE:
            return self.native.may_fail or self.native.calls_python
        return self.kind == K_PYTHON or self.may_be_singular

    cdef int32_t worth(self) noexcept nogil:
        """How many threads a run is worth."""
        if self.kind == K_NATIVE:
            return self.native.worth
        return <int32_t>min(self.core_dims[0] // self.stack_part, 1 << 16) if self.stack_part else 0

    cdef int run(self, char** operands, char** results, int32_t threads) noexcept nogil:
        cdef int code
        if self.kind == K_UFUNC or self.kind == K_GUFUNC:
            if self.piece_rows:
                return self.run_pieces(operands, results, threads)
            if threads > 1 and self.worth() > 1:
                return self.run_shared(operands, results, threads)
            return self.run_loops(operands, results)
        if self.kind == K_STRIDED:
            self.run_strided(operands[0] + self.offset, results[0])
            return 0
        if self.kind == K_REDUCE:
            self.run_reduction(operands[0], results[0])
            return 0
        if self.kind == K_GATHER:
            return 0 if self.run_gather(operands[0], <int64_t*>operands[1], results[0]) else outside(self.n_items)
        if self.kind == K_PUT:
            if not are_inside(<int64_t*>operands[2], self.n_items, self.size):
                return outside(self.size)
            self.run_put(operands[0], operands[1], <int64_t*>operands[2], results[0])
            return 0
        if self.kind == K_STRUCTURE:
            if not self.gathers_inside(operands):
                return outside(self.size)
            self.run_assembly(operands, results[0])
            return 0
        if self.kind == K_CONCATENATE:
            self.run_concatenation(operands, results[0])
            return 0
        if self.kind == K_NATIVE:
            code = self.native.call(operands, results, threads)
            if code != UNFINISHED:
                return code
        return attempt_python(<void*>self.signature, operands, results)

    cdef int run_lanes(self, char** at, const int64_t* moves, int32_t lanes, int32_t* lane) noexcept nogil:
        """Run for so many lanes, in each of which every operand and result lies some bytes further; `lane`: the last.

        A product with a matrix that is the same in all lanes is one product; a row of it may round otherwise than a
        product alone.
        """
        cdef int k, code
        if self.kind == K_UFUNC and self.run_rows(at, moves, lanes):
            return 0
        if self.is_product and self.run_product(at, moves, lanes):
            return 0
        if self.kind == K_GUFUNC and self.run_stack(at, moves, lanes):
            return 0
        if run_across(self, at, moves, lanes):
            return 0
        if self.kind == K_NATIVE and self.native.call_lanes(at, moves, lanes):
            return 0
        for lane[0] in range(lanes):
            code = self.run(at, at + self.nin, 1)
            if code:
                return code
            for k in range(self.nin + self.nout):
                at[k] += moves[k]
        return 0

    cdef bint run_rows(self, char** at, const int64_t* moves, int32_t lanes) noexcept nogil:
        """Run an elementwise operation for all lanes: as one row, if each lane follows the one before in memory."""
        cdef cnp.npy_intp steps[MOST_LOOP_OPERANDS]
        cdef cnp.npy_intp n = self.core_dims[0]
        cdef int32_t rows = 1
        cdef int k
        if self.ndim or self.empty:
            return False
        for k in range(self.nop):
            steps[k] = moves[k] if n == 1 else self.core_steps[k]
            if n > 1 and moves[k] != n * steps[k]:
                rows = lanes
        n *= lanes // rows
        cdef Kernel2 form = self.form_for(steps)
        if form == NULL and rows == 1:
            self.loop(at, &n, steps, self.data)
        if form == NULL:
            return rows == 1
        for _ in range(rows):
            form(<double*>at[0], <double*>at[1], <double*>at[2], n)
            for k in range(3):
                at[k] += moves[k]
        return True

    cdef bint run_stack(self, char** at, const int64_t* moves, int32_t lanes) noexcept nogil:
        """Run an operation on matrices for all lanes at once, a stack of them. False where some matrix is singular."""
        cdef cnp.npy_intp dims[4]
        cdef cnp.npy_intp steps[9]
        cdef char* args[3]
        cdef int k
        if self.ndim or self.empty or self.piece_rows or self.core_dims[0] != 1:
            return False
        memcpy(dims, self.core_dims, sizeof(dims))
        memcpy(steps, self.core_steps, sizeof(steps))
        dims[0] = lanes
        for k in range(self.nop):
            steps[k], args[k] = moves[k], at[k]
        if self.may_be_singular:
            feclearexcept(FE_INVALID)
        self.loop(args, dims, steps, self.data)
        return not (self.may_be_singular and fetestexcept(FE_INVALID))

    cdef Kernel2 form_for(self, const cnp.npy_intp* steps) noexcept nogil:
        """The form of an operation of two rows, or of a row and a number, if it has one."""
        if self.forms == NULL or steps[2] != sizeof(double):
            return NULL
        if steps[0] == sizeof(double):
            return self.forms.rows if steps[1] == sizeof(double) else self.forms.right if steps[1] == 0 else NULL
        return self.forms.left if steps[0] == 0 and steps[1] == sizeof(double) else NULL

    cdef bint run_product(self, char** at, const int64_t* moves, int32_t lanes) noexcept nogil:
        """Run a product for all lanes at once, if one factor is the same in all, and the other a row or a column."""
        cdef cnp.npy_intp dims[4]
        cdef cnp.npy_intp steps[9]
        cdef char* args[3]
        cdef cnp.npy_intp* own = self.core_steps + 3
        cdef int left = 0 if moves[1] == 0 and self.core_dims[1] == 1 else 1    # which factor has rows for lanes
        cdef int right = 1 - left
        cdef int32_t first = 0
        if moves[left] == 0 or moves[right] != 0 or self.core_dims[1 if left == 0 else 3] != 1 or self.empty:
            return False
        dims[0], dims[2], dims[3] = 1, self.core_dims[2], self.core_dims[3 if left == 0 else 1]
        cdef int32_t rows = rows_at_once(<int64_t>dims[2] * dims[3], lanes)
        steps[0] = steps[1] = steps[2] = 0
        steps[3], steps[4] = moves[left], own[1] if left == 0 else own[2]
        steps[5], steps[6] = (own[2], own[3]) if left == 0 else (own[1], own[0])
        steps[7], steps[8] = moves[2], own[5] if left == 0 else own[4]
        while first < lanes:
            dims[1] = min(rows, lanes - first)
            args[0], args[1], args[2] = at[left] + first * moves[left], at[right], at[2] + first * moves[2]
            if (self.has_terms and dims[2] > TERMS and dims[1] * dims[3] <= FEW_NUMBERS
                    and steps[8] == sizeof(double) and dims[1] * dims[2] * dims[3] > MOST_AT_ONCE):
                self.run_terms(args, dims, steps)
            else:
                self.loop(args, dims, steps, self.data)
            first += rows
        return True

    cdef void run_terms(self, char** args, cnp.npy_intp* dims, const cnp.npy_intp* steps) noexcept nogil:
        """A product of matrices, with some of the terms of its sums at a time, for which BLAS reorders nothing."""
        cdef double found[FEW_NUMBERS]
        cdef char* part[3]
        cdef cnp.npy_intp own[9]
        cdef cnp.npy_intp total = dims[2]
        cdef cnp.npy_intp parts = (total + TERMS - 1) // TERMS
        cdef cnp.npy_intp first = 0
        cdef cnp.npy_intp i, j, k
        cdef double* row
        memcpy(own, steps, sizeof(own))
        for k in range(parts):
            dims[2] = total * (k + 1) // parts - first
            part[0], part[1], part[2] = args[0] + first * steps[4], args[1] + first * steps[5], args[2]
            if k == 1:
                own[7], own[8] = dims[3] * <cnp.npy_intp>sizeof(double), sizeof(double)
            if k:
                part[2] = <char*>found
            self.loop(part, dims, own, self.data)
            for i in range(dims[1] if k else 0):
                row = <double*>(args[2] + i * steps[7])
                for j in range(dims[3]):
                    row[j] += found[i * dims[3] + j]
            first += dims[2]
        dims[2] = total

    cdef int run_loops(self, char** operands, char** results) noexcept nogil:
        cdef char* at[MOST_LOOP_OPERANDS]
        cdef char* args[MOST_LOOP_OPERANDS]
        cdef cnp.npy_intp index[MOST_DIMS]
        cdef int k, d
        if self.empty:
            return 0
        for k in range(self.nin):
            at[k] = operands[k]
        for k in range(self.nout):
            at[self.nin + k] = results[k]
        if self.may_be_singular:
            feclearexcept(FE_INVALID)
        for d in range(self.ndim):
            index[d] = 0
        while True:
            for k in range(self.nop):
                args[k] = at[k]     # some loops move the pointers they are given
            self.loop(args, self.core_dims, self.core_steps, self.data)
            if not self.advance(at, index):
                break
        if self.may_be_singular and fetestexcept(FE_INVALID):
            return FAILED_SINGULAR
        return 0

    cdef int run_shared(self, char** operands, char** results, int32_t threads) noexcept nogil:
        """An operation on each matrix of a stack, in parts that do not depend on the number of threads."""
        cdef SharedStack shared
        shared.plan, shared.is_singular = <void*>self, False
        memcpy(shared.at, operands, self.nin * sizeof(char*))
        memcpy(shared.at + self.nin, results, self.nout * sizeof(char*))
        share(run_stack_part, &shared, (self.core_dims[0] + self.stack_part - 1) // self.stack_part, threads, NULL, 0)
        return FAILED_SINGULAR if shared.is_singular else 0

    cdef bint run_part_of_stack(self, char** at, int64_t part) noexcept nogil:
        """Whether one of these matrices is singular."""
        cdef char* args[MOST_LOOP_OPERANDS]
        cdef cnp.npy_intp dims[4]
        cdef int64_t first = part * self.stack_part
        cdef int k
        memcpy(dims, self.core_dims, sizeof(dims))
        dims[0] = min(self.stack_part, self.core_dims[0] - first)
        for k in range(self.nop):
            args[k] = at[k] + first * self.core_steps[k]
        feclearexcept(FE_INVALID)
        self.loop(args, dims, self.core_steps, self.data)
        return self.may_be_singular and fetestexcept(FE_INVALID) != 0

    cdef int run_pieces(self, char** operands, char** results, int32_t threads) noexcept nogil:
        """A matrix product piece by piece of the result; the pieces do not depend on the number of threads."""
        cdef Pieces shared
        cdef int64_t parts = (self.pieces() + self.pieces_a_part() - 1) // self.pieces_a_part()
        cdef int64_t part
        shared.plan = <void*>self
        shared.at[0], shared.at[1], shared.at[2] = operands[0], operands[1], results[0]
        if threads > 1:
            share(run_part, &shared, parts, threads, NULL, 0)
            return 0
        for part in range(parts):
            run_part(&shared, part, NULL)
        return 0

    cdef void run_piece(self, char** at, int64_t piece) noexcept nogil:
        cdef cnp.npy_intp dims[4]
        cdef char* args[3]
        cdef cnp.npy_intp* own = self.core_steps + 3
        cdef int64_t across = (self.core_dims[3] + self.piece_columns - 1) // self.piece_columns
        cdef int64_t down = (self.core_dims[1] + self.piece_rows - 1) // self.piece_rows
        cdef int64_t row = piece // across % down * self.piece_rows
        cdef int64_t column = piece % across * self.piece_columns
        cdef int64_t outer = piece // (across * down)
        cdef int d, k
        dims[0], dims[2] = 1, self.core_dims[2]
        dims[1] = min(self.piece_rows, self.core_dims[1] - row)
        dims[3] = min(self.piece_columns, self.core_dims[3] - column)
        args[0] = at[0] + row * own[0]
        args[1] = at[1] + column * own[3]
        args[2] = at[2] + row * own[4] + column * own[5]
        for d in range(self.ndim - 1, -1, -1):
            for k in range(3):
                args[k] += outer % self.dims[d] * self.steps[d * 3 + k]
            outer //= self.dims[d]
        self.loop(args, dims, self.core_steps, self.data)

    cdef int64_t pieces(self) noexcept nogil:
        cdef int64_t total = ((self.core_dims[1] + self.piece_rows - 1) // self.piece_rows
                              * ((self.core_dims[3] + self.piece_columns - 1) // self.piece_columns))
        cdef int d
        for d in range(self.ndim):
            total *= self.dims[d]
        return total

    cdef int64_t pieces_a_part(self) noexcept nogil:
        """Pieces that a thread takes at once: small ones are not worth the asking."""
        return max(ONE_THREAD // max(self.piece_rows * self.piece_columns * self.core_dims[2], 1), 1)

    cdef bint advance(self, char** at, cnp.npy_intp* index) noexcept nogil:
        """Move to the next point of the outer loops; False when they are done."""
        cdef int d, k
        cdef cnp.npy_intp* step
        for d in range(self.ndim - 1, -1, -1):
            step = self.steps + d * self.nop
            index[d] += 1
            if index[d] < self.dims[d]:
                for k in range(self.nop):
                    at[k] += step[k]
                return True
            for k in range(self.nop):
                at[k] -= step[k] * (self.dims[d] - 1)
            index[d] = 0
        return False

    cdef void run_reduction(self, char* x, char* p) noexcept nogil:
        cdef char* at[2]
        cdef char* args[3]
        cdef cnp.npy_intp index[MOST_DIMS]
        cdef int64_t i
        cdef int d
        if self.starts_with_first:
            self.first.run_strided(x, p)
        else:
            for i in range(self.size):
                memcpy(p + i * self.itemsize, self.identity, self.itemsize)
        if self.empty:
            return
        at[0] = p
        at[1] = x
        for d in range(self.ndim):
            index[d] = 0
        while True:
            args[0] = args[2] = at[0]
            args[1] = at[1]
            self.loop(args, self.core_dims, self.core_steps, self.data)
            if not self.advance(at, index):
                break

    cdef void run_strided(self, char* x, char* p) noexcept nogil:
        cdef char* at[2]
        cdef cnp.npy_intp index[MOST_DIMS]
        cdef int d
        if self.empty:
            return
        if self.ndim == 1 and self.itemsize == self.steps[1] == sizeof(double):
            transpose_numbers(x, self.core_steps[1], self.core_dims[0], p, self.steps[0], self.dims[0])
            return
        at[0] = p
        at[1] = x
        for d in range(self.ndim):
            index[d] = 0
        while True:
            copy_row(at[0], at[1], self.core_dims[0], self.core_steps[1], self.itemsize)
            if not self.advance(at, index):
                break

    cdef bint run_gather(self, char* x, int64_t* flat, char* p) noexcept nogil:
        """False where a place lies outside. Some are looked at, then gone to, while they are in the cache."""
        cdef int64_t first = 0
        cdef int64_t i, stop
        while first < self.size:
            stop = min(first + LOOKED_AT, self.size)
            if not are_inside(flat + first, stop - first, self.n_items):
                return False
            if self.itemsize == 8:
                for i in range(first, stop):
                    (<double*>p)[i] = (<double*>x)[flat[i]]
            else:
                for i in range(first, stop):
                    memcpy(p + i * self.itemsize, x + flat[i] * self.itemsize, self.itemsize)
            first = stop
        return True

    cdef void run_put(self, char* x, char* v, int64_t* flat, char* p) noexcept nogil:
        cdef int64_t i
        if x == NULL:       # zeros
            memset(p, 0, self.size * self.itemsize)
        elif x != p:
            memcpy(p, x, self.size * self.itemsize)
        if self.itemsize == 8:
            for i in range(self.n_items):
                (<int64_t*>p)[flat[i]] = (<int64_t*>v)[i]
            return
        for i in range(self.n_items):
            memcpy(p + flat[i] * self.itemsize, v + i * self.itemsize, self.itemsize)

    cdef bint gathers_inside(self, char** operands) noexcept nogil:
        """Whether the places of all parts of an assembly that have places lie in it."""
        cdef int64_t at = self.n_items
        cdef int k
        for k in range(self.n_parts):
            if self.parts[k].gathered:
                if not are_inside(<int64_t*>operands[at + 1], self.parts[k].count, self.size):
                    return False
                at += 1
            at += 1
        return True

    cdef void add_row(self, char* p, cnp.npy_intp step, char* x, cnp.npy_intp n) noexcept nogil:
        """p[i] += x[i] for a row of a strided p and a contiguous x."""
        cdef char* args[3]
        cdef cnp.npy_intp steps[3]
        args[0] = args[2] = p
        args[1] = x
        steps[0] = steps[2] = step
        steps[1] = self.itemsize
        self.loop(args, &n, steps, self.data)

    cdef void run_assembly(self, char** operands, char* p) noexcept nogil:
        cdef int64_t i
        cdef int k
        cdef Part* part
        cdef char** at = operands + self.n_items
        memset(p, 0, self.size * self.itemsize)
        for i in range(self.n_items):
            (<double*>p)[self.offsets[i]] = (<double*>operands[i])[0]     # each in a place of its own
        for k in range(self.n_parts):
            part = &self.parts[k]
            if part.gathered:
                for i in range(part.count):
                    self.add_row(p + (<int64_t*>at[1])[i] * self.itemsize, 0, at[0] + i * self.itemsize, 1)
                at += 2
            else:
                self.add_strided(part, at[0], p + part.offset)
                at += 1

    cdef void add_strided(self, Part* part, char* x, char* p) noexcept nogil:
        cdef cnp.npy_intp index[MOST_DIMS]
        cdef int d
        cdef int last = part.ndim - 1
        cdef cnp.npy_intp row = part.shape[last] if part.ndim else 1
        if part.count == 0:
            return
        for d in range(part.ndim):
            index[d] = 0
        while True:
            self.add_row(p, part.strides[last] if part.ndim else self.itemsize, x, row)
            x += row * self.itemsize
            d = last - 1
            while d >= 0:
                index[d] += 1
                if index[d] < part.shape[d]:
                    p += part.strides[d]
                    break
                p -= part.strides[d] * (part.shape[d] - 1)
                index[d] = 0
                d -= 1
            if d < 0:
                break

    cdef void run_concatenation(self, char** operands, char* p) noexcept nogil:
        cdef int64_t i
        cdef int k
        for i in range(self.size):
            for k in range(self.nin):
                memcpy(p, operands[k] + i * self.blocks[k], self.blocks[k])
                p += self.blocks[k]


cdef bint run_across(Plan self, char** at, const int64_t* moves, int32_t lanes) noexcept nogil:
    """Run arithmetic, or a copy, item by item, each for all lanes at once. False where rows are longer."""
    cdef char* from_[3]
    cdef char* args[3]
    cdef cnp.npy_intp steps[3]
    cdef cnp.npy_intp index[MOST_DIMS]
    cdef cnp.npy_intp n = lanes, i
    cdef bint is_copy = self.kind == K_STRIDED
    cdef int k, d
    if not is_copy and (self.kind != K_UFUNC or self.forms == NULL):
        return False
    if self.empty or self.core_dims[0] > FEW_ITEMS or lanes < FEW_ROWS or self.nop > 3:
        return False
    for k in range(self.nop):       # a copy has its result in front
        steps[k], from_[k] = moves[k ^ is_copy], at[k ^ is_copy]
    if is_copy:
        from_[1] += self.offset
    for d in range(self.ndim):
        index[d] = 0
    while True:
        for i in range(self.core_dims[0]):
            for k in range(self.nop):
                args[k] = from_[k] + i * self.core_steps[k]
            if is_copy:
                copy_across(args[0], steps[0], args[1], steps[1], n, self.itemsize)
            else:
                self.loop(args, &n, steps, self.data)
        if not self.advance(from_, index):
            return True


cdef void copy_across(char* p, cnp.npy_intp step, char* x, cnp.npy_intp step_x, cnp.npy_intp n,
                      int64_t itemsize) noexcept nogil:
    cdef cnp.npy_intp i
    if itemsize == 8:
        for i in range(n):
            (<int64_t*>(p + i * step))[0] = (<int64_t*>(x + i * step_x))[0]
    else:
        for i in range(n):
            memcpy(p + i * step, x + i * step_x, itemsize)


cdef bint are_inside(const int64_t* flat, int64_t count, int64_t size) noexcept nogil:
    """Whether all of so many flat places lie in an array of so many items.

    Code can compute places as it likes, and a pickle may hold any: a look at them takes a small part of the time that
    it takes to go there.
    """
    cdef uint64_t signs = 0         # without signs, for their differences may overflow
    cdef int64_t i
    for i in range(count):
        signs |= <uint64_t>flat[i] | (<uint64_t>size - 1 - <uint64_t>flat[i])
    return not signs >> 63


cdef int outside(int64_t size) noexcept with gil:
    """The code of a run for places that lie outside of an array, with an exception set."""
    PyErr_SetObject(IndexError, f"a computed index lies outside of an array of {size} items")
    return FAILED_PYTHON


cdef double* side_by_side(char* x, cnp.npy_intp step, double* room, cnp.npy_intp n) noexcept nogil:
    """n doubles `step` bytes apart as neighbours: where they are, or in `room`."""
    cdef cnp.npy_intp i
    if step == sizeof(double):
        return <double*>x
    for i in range(n):
        room[i] = (<double*>(x + i * step))[0]
    return room


cdef void kernel_loop1(char** args, const cnp.npy_intp* dims, const cnp.npy_intp* steps, void* kernel) noexcept nogil:
    """A kernel as one of NumPy's loops; results are contiguous."""
    cdef double room[BLOCK]
    cdef cnp.npy_intp done = 0
    cdef cnp.npy_intp n = dims[0] if steps[0] == sizeof(double) else BLOCK
    while done < dims[0]:
        n = min(n, dims[0] - done)
        (<Kernel1>kernel)(side_by_side(args[0] + done * steps[0], steps[0], room, n), <double*>args[1] + done, n)
        done += n


cdef void kernel_loop2(char** args, const cnp.npy_intp* dims, const cnp.npy_intp* steps, void* kernel) noexcept nogil:
    cdef double room_x[BLOCK]
    cdef double room_y[BLOCK]
    cdef cnp.npy_intp done = 0
    cdef cnp.npy_intp n = dims[0] if steps[0] == steps[1] == sizeof(double) else BLOCK
    while done < dims[0]:
        n = min(n, dims[0] - done)
        (<Kernel2>kernel)(side_by_side(args[0] + done * steps[0], steps[0], room_x, n),
                          side_by_side(args[1] + done * steps[1], steps[1], room_y, n), <double*>args[2] + done, n)
        done += n


cdef void run_stack_part(void* data, int64_t part, char* scratch) noexcept nogil:
    """Some matrices of a stack."""
    cdef SharedStack* shared = <SharedStack*>data
    if (<Plan>shared.plan).run_part_of_stack(shared.at, part):
        shared.is_singular = True


cdef void run_part(void* data, int64_t part, char* scratch) noexcept nogil:
    """Some pieces of a matrix product."""
    cdef Pieces* shared = <Pieces*>data
    cdef int64_t count = (<Plan>shared.plan).pieces_a_part()
    cdef int64_t piece
    for piece in range(part * count, min((part + 1) * count, (<Plan>shared.plan).pieces())):
        (<Plan>shared.plan).run_piece(shared.at, piece)


cdef void sum_loop(char** args, const cnp.npy_intp* dims, const cnp.npy_intp* steps, void* data) noexcept nogil:
    """NumPy's loop of a sum of neighbours."""
    (<double*>args[0])[0] += sums_total(<double*>args[1], dims[0])


cdef void transpose_numbers(char* x, cnp.npy_intp step, cnp.npy_intp n, char* p, cnp.npy_intp stride,
                            cnp.npy_intp m) noexcept nogil:
    """The rows of x, n of m neighbours, as columns of p: two by two, a line of the cache of p at a time."""
    cdef cnp.npy_intp i, j, high
    cdef cnp.npy_intp low = 0
    cdef double a, b, c, d
    cdef double* row
    cdef double* below
    cdef double* out
    cdef double* beside
    while low < n - 1:
        high = min(low + TILE, n - 1)
        for j from 0 <= j < m - 1 by 2:
            out, beside = <double*>(p + j * stride), <double*>(p + (j + 1) * stride)
            for i from low <= i < high by 2:
                row, below = <double*>(x + i * step) + j, <double*>(x + (i + 1) * step) + j
                a, b, c, d = row[0], row[1], below[0], below[1]
                out[i], out[i + 1], beside[i], beside[i + 1] = a, c, b, d
        low += TILE
    for i in range(n):
        j = 0 if n % 2 and i == n - 1 else m - m % 2        # what is left of an odd number of rows or columns
        while j < m:
            (<double*>(p + j * stride))[i] = (<double*>(x + i * step))[j]
            j += 1


cdef void copy_row(char* p, char* x, cnp.npy_intp n, cnp.npy_intp step, int64_t itemsize) noexcept nogil:
    """n items from x, `step` bytes apart, to a contiguous p."""
    cdef cnp.npy_intp i
    if step == itemsize:
        memcpy(p, x, n * itemsize)
    elif itemsize == 8:
        for i in range(n):
            (<double*>p)[i] = (<double*>(x + i * step))[0]
    else:
        for i in range(n):
            memcpy(p + i * itemsize, x + i * step, itemsize)


def core_shapes(str name, avals):
    """(core axes of each operand, of each result, the loop's core dimensions) of a generalised ufunc."""
    a = avals[0].shape
    if name == "matmul":
        b = avals[1].shape
        rows = 1 if len(a) == 1 else a[-2]
        columns = 1 if len(b) == 1 else b[-1]
        n, m = min(len(a), 2), min(len(b), 2)
        return [n, m], [n + m - 2], [rows, a[-1], columns]
    if name == "solve":
        return [2, 2], [2], [a[-1], avals[1].shape[-1]]
    if name == "inv":
        return [2], [2], [a[-1]]
    if name == "det":
        return [2], [0], [a[-1]]
    if name == "slogdet":
        return [2], [0, 0], [a[-1]]
    raise TypeError(f"no core dimensions for {name}")


def matmul_steps(Signature sig, steps):
    """Core strides of matmul, with the axes that a vector lacks put in."""
    a, b, p = steps
    itemsize = sig.results[0].itemsize
    if len(p) == 1:
        p = p + [itemsize] if len(b) == 1 else [itemsize] + p
    elif len(p) == 0:
        p = [itemsize, itemsize]
    a = [itemsize] + a if len(a) == 1 else a
    b = b + [itemsize] if len(b) == 1 else b
    return [a, b, p]


cdef object as_value(AbstractValue aval, char* at):
    """The value in a buffer as a Python function receives it: float, bool, or an ndarray of its own."""
    if aval.number == 0:
        return (<double*>at)[0]
    if aval.number == 1:
        return bool((<char*>at)[0])
    cdef object array = empty_array(aval)
    memcpy(cnp.PyArray_DATA(<cnp.ndarray>array), at, aval.size * aval.itemsize)
    return array


cdef object empty_array(AbstractValue aval):
    cdef cnp.npy_intp dims[MOST_DIMS]
    cdef cnp.dtype dtype = aval.dtype
    cdef int d
    if aval.ndim > MOST_DIMS or dtype.type_num >= cnp.NPY_OBJECT or not cnp.PyArray_ISNBO(dtype.byteorder):
        return np.empty(aval.shape, dtype)
    for d in range(aval.ndim):
        dims[d] = aval.shape[d]
    return cnp.PyArray_EMPTY(aval.ndim, dims, dtype.type_num, 0)


cdef int attempt_python(void* sig, char** operands, char** results) noexcept with gil:
    """`run_python`; an exception stays set for the caller, who learns of it by the code."""
    try:
        return run_python(<Signature>sig, operands, results)
    except BaseException as error:
        PyErr_SetObject(type(error), error)
        return FAILED_PYTHON


cdef int run_python(Signature sig, char** operands, char** results) except -1:
    cdef int i
    cdef cnp.ndarray array
    cdef AbstractValue aval
    values = [as_value(sig.avals[i], operands[i]) for i in range(len(sig.avals))]
    if sig.primitive.qualified is None:
        computed = sig.primitive.function(sig.params, *values)
    else:       # a user's, which a replay calls, too
        computed = unwatched(sig.primitive.function, (sig.params, *values))
    if sig.primitive.nout == 1:
        computed = (computed,)
    if len(computed) != len(sig.results):
        raise RuleError(
            f"{sig.primitive.name} gave {counted(len(computed), 'result')}, but {len(sig.results)} were declared"
        )
    for i in range(len(computed)):
        aval = sig.results[i]
        if is_as_inferred(computed[i], aval):
            memcpy(results[i], cnp.PyArray_DATA(<cnp.ndarray>computed[i]), aval.size * aval.itemsize)
            continue
        found = np.asarray(computed[i]).dtype
        if found != aval.dtype and not np.can_cast(found, aval.dtype, "same_kind"):
            raise TypeError(
                f"{sig.primitive.name} gave {found} where {aval.dtype} was inferred, from a call on ones. Return the "
                "same dtype for every value."
            )
        array = np.ascontiguousarray(computed[i], dtype=aval.dtype)
        if (<object>array).size != aval.size:
            raise RuleError(
                f"{sig.primitive.name} gave shape {np.shape(computed[i])}, but {aval.shape} for operands of the same "
                "shapes when it was called with ones. A primitive may not let the shape depend on the values."
            )
        memcpy(results[i], cnp.PyArray_DATA(array), aval.size * aval.itemsize)
    return 0


cdef bint is_as_inferred(object x, AbstractValue aval) except -1:
    """Whether this is a contiguous array of NumPy's as it was inferred."""
    return (type(x) is ndarray and x.dtype is aval.dtype
            and cnp.PyArray_IS_C_CONTIGUOUS(<cnp.ndarray>x) and cnp.PyArray_SIZE(<cnp.ndarray>x) == aval.size)


cdef int raise_within(Signature sig, list values) except -1:
    """Raise what a native run gave `FAILED_WITHIN` for, by the function that it runs."""
    sig.primitive.function(sig.params, *values)
    raise RuntimeError(f"{sig.primitive.name} failed, but not when it was run again; this is an error in hoad")


cdef Plan new_plan(Signature sig):
    """A plan to be filled in."""
    cdef Plan plan = Plan.__new__(Plan)
    plan.signature = sig
    plan.kind = sig.primitive.kind
    plan.nin = len(sig.avals)
    plan.nout = len(sig.results)
    return plan


cdef Plan plan_of(Signature sig):
    """The plan of a signature, made on first use."""
    cdef Plan plan = <Plan>sig.plan
    cdef Primitive primitive = sig.primitive
    if plan is not None:
        return plan
    plan = new_plan(sig)
    kinds = [aval.dtype for aval in sig.avals + sig.results]
    if plan.kind in (K_UFUNC, K_GUFUNC):
        if not plan.find_loop(primitive.function, kinds):
            raise TypeError(f"{primitive.name} has no loop for {[str(k) for k in kinds]}")
        if plan.kind == K_UFUNC:
            plan.take_kernel(primitive, kinds)
            plan.set_elementwise(sig)
        else:
            plan.set_gufunc(sig, [None] * plan.nin)
    elif plan.kind == K_REDUCE:
        plan.find_loop(primitive.function, [kinds[1], kinds[0], kinds[1]])
        plan.set_reduction(sig)
    elif plan.kind == K_STRIDED:
        shape, strides, offset = primitive.function(sig.params, sig.avals[0])
        plan.set_strided(shape, strides, offset, sig.avals[0].itemsize)
        plan.is_copy = (
            plan.ndim == 0 and plan.core_steps[1] == plan.itemsize and offset == 0 and not plan.empty
            and sig.avals[0].size == sig.results[0].size and min(sig.avals[0].number, sig.results[0].number) > AVAL_BOOL
        )
    elif plan.kind == K_STRUCTURE:
        plan.set_assembly(sig)
    elif plan.kind == K_CONCATENATE:
        plan.set_concatenation(sig)
    elif plan.kind == K_GATHER or plan.kind == K_PUT:
        plan.size = sig.results[0].size
        plan.itemsize = sig.results[0].itemsize
        plan.n_items = sig.avals[0 if plan.kind == K_GATHER else 1].size
    else:
        plan.native = None if primitive.native is None else unwatched(primitive.native, (sig.params, *sig.avals), {})
        plan.batched = primitive.batch is not None and plan.native is None
        plan.kind = K_PYTHON if plan.native is None else K_NATIVE
    sig.plan = plan
    return plan


cdef Plan product_of_views(Signature sig, list seen):
    """A plan for a matrix product whose operands are seen through strides (bytes), or contiguous where None."""
    cdef Plan plan = new_plan(sig)
    plan.find_loop(sig.primitive.function, [aval.dtype for aval in sig.avals + sig.results])
    plan.set_gufunc(sig, seen)
    return plan
