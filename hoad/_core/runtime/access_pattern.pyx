"""How operations on arrays go through fused loops: which of their operands lie how.

A fused loop writes the numbers of an array in C order along its coordinate. What broadcasts, and what is a view, lies
otherwise: at an offset, with a stride for each of some dimensions.
"""

cimport cython

from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree, PyMem_RawMalloc

from hoad._core.base.blocks cimport required
from hoad._core.graph.primitive cimport (
    INFO, K_CONCATENATE, K_NATIVE, K_REDUCE, K_STRIDED, K_STRUCTURE, K_UFUNC, Signature,
)
from hoad._core.graph.tape cimport ARITY, AVAL_FLOAT, OP_ASTYPE, OP_MASK, OP_SELECT

from hoad._core.ops.plan import broadcast_strides, contiguous_strides, merge

import numpy as np

cdef enum:
    MOST_PIECES = 12
    SHORTEST_COLUMN = 16


@cython.final
cdef class Rowwise:
    """How one signature goes through fused loops."""

    def __dealloc__(self):
        cdef int k
        if self.views != NULL:
            for k in range(self.n):
                PyMem_RawFree(self.views[k].dims)
        PyMem_RawFree(self.views)


cdef int set_view(Rowwise rows, int k, int64_t offset, object dims, object strides) except -1:
    cdef AccessPattern* view = &rows.views[k]
    cdef int d
    view.offset = offset
    view.ndim = len(dims)
    view.dims = <int64_t*>required(PyMem_RawMalloc(max(2 * view.ndim, 1) * sizeof(int64_t)))
    view.strides = view.dims + view.ndim
    view.count = 1
    for d in range(view.ndim):
        view.dims[d] = dims[d]
        view.strides[d] = strides[d]
        view.count *= view.dims[d]
    return 0


cdef Rowwise made(int form, int n, int64_t size):
    cdef Rowwise row = Rowwise.__new__(Rowwise)
    row.form = form
    row.size = size
    row.views = <AccessPattern*>required(PyMem_RawCalloc(max(n, 1), sizeof(AccessPattern)))
    row.n = n
    return row


cdef Rowwise rowwise(Plan plan):
    """How a plan goes through fused loops, or None."""
    if not plan.is_sorted_out:
        plan.rows = sort_out(plan, plan.signature)
        plan.is_sorted_out = True
    return plan.rows


cdef Rowwise sort_out(Plan plan, Signature sig):
    cdef Rowwise row
    cdef bint of_truths = False
    for aval in sig.avals + sig.results:
        if not ((<AbstractValue>aval).is_float64 or is_truth(aval)) or (<AbstractValue>aval).size == 0:
            return None
        of_truths = of_truths or is_truth(aval)
    if of_truths:
        row = with_truths(plan, sig)
        if row is not None:
            row.of_truths = True
        return row
    if plan.kind == K_UFUNC:
        return elementwise(sig)
    if plan.kind == K_STRIDED:
        return view(plan, sig)
    if plan.kind == K_REDUCE:
        return total(sig) if (<AbstractValue>sig.results[0]).number == AVAL_FLOAT else sums(sig)
    if plan.kind == K_STRUCTURE:
        return pieces(plan, sig)
    if plan.kind == K_CONCATENATE:
        return columns(plan, sig)
    return None


cdef bint is_truth(AbstractValue aval):
    return aval.dtype == np.bool_


cdef Rowwise with_truths(Plan plan, Signature sig):
    """Booleans are bytes in memory, and doubles in fused loops: what gives or selects by them does with 0.0 and 1.0."""
    cdef int op = sig.primitive.op
    if plan.kind == K_UFUNC and (INFO[op].is_bool or op == OP_MASK or op == OP_SELECT):
        return elementwise(sig)
    if plan.kind == K_STRIDED:
        return view(plan, sig)
    if plan.kind == K_NATIVE and sig.primitive.op == OP_ASTYPE and is_truth(sig.avals[0]):
        return unchanged(sig)
    return None


cdef Rowwise elementwise(Signature sig):
    cdef int op = sig.primitive.op
    cdef AbstractValue p = sig.results[0]
    cdef int k
    if len(sig.results) != 1 or len(sig.avals) != (3 if op == OP_SELECT else ARITY[op]):
        return None
    cdef Rowwise row = made(ELEMENTWISE, len(sig.avals), p.size)
    for k in range(row.n):
        seen = [stride // (<AbstractValue>sig.avals[k]).itemsize for stride in broadcast_strides(sig.avals[k], p.shape)]
        dims, strides = merge(p.shape, [contiguous_strides(p.shape), seen])
        set_view(row, k, 0, dims, strides[1])
    return row


cdef Rowwise unchanged(Signature sig):
    """The same numbers in the same places."""
    cdef Rowwise row = made(VIEW, 1, sig.results[0].size)
    set_view(row, 0, 0, [row.size], [1])
    return row


cdef Rowwise view(Plan plan, Signature sig):
    cdef Rowwise row = made(VIEW, 1, sig.results[0].size)
    cdef int d
    dims = [plan.dims[d] for d in range(plan.ndim)]
    strides = [plan.steps[2 * d + 1] // plan.itemsize for d in range(plan.ndim)]
    if plan.core_dims[0] != 1:
        dims.append(plan.core_dims[0])
        strides.append(plan.core_steps[1] // plan.itemsize)
    set_view(row, 0, plan.offset // plan.itemsize, dims, strides)
    return row


cdef Rowwise total(Signature sig):
    if sig.primitive.function is not np.add:
        return None
    cdef Rowwise row = made(TOTAL, 1, sig.avals[0].size)
    set_view(row, 0, 0, [row.size], [1])
    return row


cdef Rowwise sums(Signature sig):
    """Sums along axes that lie beside each other."""
    if sig.primitive.function is not np.add:
        return None
    shape = sig.avals[0].shape
    reduced = [axis for axis in sig.params[0] if shape[axis] != 1]
    between = range(min(reduced), max(reduced) + 1) if reduced else ()
    if not reduced or any([shape[axis] != 1 and axis not in reduced for axis in between]):
        return None
    dims = [int(np.prod(part, dtype=np.int64)) for part in (
        shape[:between.start], shape[between.start:between.stop], shape[between.stop:])]
    cdef Rowwise row = made(SUMS, 1, sig.avals[0].size)
    set_view(row, 0, 0, dims, [dims[1] * dims[2], dims[2], 1])
    return row


cdef Rowwise pieces(Plan plan, Signature sig):
    """An assembly of ranges, or of places at the same distance from each other, of which some part has each."""
    cdef int k, d
    if plan.n_items or plan.n_parts > MOST_PIECES or plan.n_parts == 0:
        return None
    cdef Rowwise row = made(PIECES, plan.n_parts, sig.results[0].size)
    found = []
    steps = set()
    for k in range(plan.n_parts):
        if plan.parts[k].gathered:
            return None
        shape = [plan.parts[k].shape[d] for d in range(plan.parts[k].ndim)]
        own = contiguous_strides(shape)
        dims, strides = merge(shape, [own, [plan.parts[k].strides[d] // 8 for d in range(plan.parts[k].ndim)]])
        if len(dims) > 1:
            return None
        found.append((plan.parts[k].offset // 8, dims[0] if dims else 1))
        if found[-1][1] > 1:
            steps.add(strides[1][0])
    step = steps.pop() if steps else 1
    if steps or step < 1 or (step > 1 and not are_covering(found, step, row.size)):
        return None
    for k in range(plan.n_parts):
        set_view(row, k, found[k][0], [found[k][1]], [step])
    return row


cdef bint are_covering(list parts, int64_t step, int64_t size):
    """Whether (offset, count) of parts with a step reach every place."""
    for residue in range(min(step, size)):
        end = 0
        for offset, count in sorted(parts):
            if offset % step == residue and offset // step <= end:
                end = max(end, offset // step + count)
        if end < (size - residue + step - 1) // step:
            return False
    return step <= size


cdef Rowwise columns(Plan plan, Signature sig):
    """Columns side by side."""
    cdef int k
    if plan.size < SHORTEST_COLUMN:
        return None
    for k in range(plan.nin):
        if plan.blocks[k] != sizeof(double):
            return None
    cdef Rowwise row = made(COLUMNS, plan.nin, sig.results[0].size)
    for k in range(plan.nin):
        set_view(row, k, k, [plan.size], [plan.nin])
    return row
