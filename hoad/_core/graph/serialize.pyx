# cython: boundscheck=True, wraparound=True, nonecheck=True, initializedcheck=True, overflowcheck=True
"""Graphs as plain data, for pickling: numbers as bytes, every dtype and shape, primitive and signature once.

What is read back is believed in nothing. The C code behind a node relies on what its signature says of its operands,
and on parameters that fit them, so each signature is inferred again from parameters and operands, each node is compared
with its signature, and operands stand before their node: then no read or write leaves its array. Here every index is
checked too, for any list may be shorter than it should.
"""

import operator
from math import prod
from pickle import UnpicklingError

import numpy as np

cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.math cimport NAN
from libc.stdint cimport int64_t

from hoad._core.graph.primitive cimport (
    INFO, K_CONCATENATE, K_GATHER, K_PUT, K_PYTHON, K_REDUCE, K_STRIDED, K_STRUCTURE, K_UFUNC, Primitive, Signature,
    primitive_of,
)
from hoad._core.graph.tape cimport (
    ARITY, AVAL_BOOL, AVAL_FLOAT, F_BOOL, F_WIDE, F_SLOPED, F_STRONG, OP_ASSEMBLE, OP_IDENTITY, OP_INPUT, OP_ITEM,
    OP_RESULT, OP_STOP, AbstractValue, WideNode, Graph, Guard, Node, Slot, aval_of, int32_t, intern_aval, node_operands,
    operand_aval, uint16_t,
)

from hoad._core.graph.primitive import make_signature, signature_at
from hoad._core.graph.tape import aval_key, checked_aval

cnp.import_array()

cdef enum Mark:         # of a node
    STRONG = 1          # zeros in it are strong
    TRUTH = 2           # it is a boolean
    SLOPED = 8          # it has a slope of an absolute value for a factor
    WIDE = 4            # it has a row of the extension table

cdef object ROWS = np.dtype("<i4")
cdef object NUMBERS = np.dtype("<f8")


# ---- written --------------------------------------------------------------------------------------------------------

cdef class Table:
    """Each of some objects once, numbered as they come."""

    cdef dict numbers
    cdef list rows, alive

    def __init__(self):
        self.numbers, self.rows, self.alive = {}, [], []

    cdef int32_t add(self, object key, object row) except -1:
        """The number of what is new; the key, which may be an identity, holds as long as the table."""
        self.numbers[key] = len(self.rows)
        self.rows.append(row)
        return <int32_t>(len(self.rows) - 1)


cdef int32_t aval_index(Table avals, AbstractValue aval) except -1:
    known = avals.numbers.get(aval.number)
    return avals.add(aval.number, aval_key(aval)) if known is None else known


cdef int32_t operation_index(Table operations, int op, object describe) except -1:
    known = operations.numbers.get(op)
    return operations.add(op, describe(primitive_of(op))) if known is None else known


cdef int32_t signature_index(Table signatures, Signature sig, Table avals, Table operations, object describe) except -1:
    known = signatures.numbers.get(id(sig))
    if known is not None:
        return known
    params = sig.params
    if sig.primitive.op == OP_ASSEMBLE:
        params = np.asarray(params[0], "<i8").tobytes(), params[1]
    signatures.alive.append(sig)
    return signatures.add(id(sig), (
        operation_index(operations, sig.primitive.op, describe), params,
        tuple([aval_index(avals, aval) for aval in sig.avals]),
        tuple([aval_index(avals, aval) for aval in sig.results]),
    ))


def graph_data(Graph graph, int end, int n_guards, describe, check):
    """The first nodes and guards as plain data; `describe` turns a primitive into something that can be pickled.

    ``check(primitive, params)`` raises for parameters that cannot travel.
    Values of inputs travel; all others are computed again when asked for.
    """
    cdef Table avals = Table()
    cdef Table operations = Table()
    cdef Table signatures = Table()
    cdef int32_t i, k, n
    cdef Node* node
    cdef WideNode* wide
    rows = np.zeros((4, end), np.int32)         # operation, marks, and two numbers more
    cdef int32_t[:, ::1] row = rows
    cdef list counts = []
    cdef list pool = []
    cdef list inputs = []
    for i in range(end):
        node = &graph.nodes[i]
        row[0, i] = operation_index(operations, node.op, describe)
        row[1, i] = (STRONG if node.flags & F_STRONG else 0) | (TRUTH if node.flags & F_BOOL else 0) | (
            SLOPED if node.flags & F_SLOPED else 0)
        row[2, i], row[3, i] = node.a, node.b
        if node.op == OP_INPUT:
            inputs.append((i, value_data(graph.value_of(i))))
        if not node.flags & F_WIDE:
            continue
        wide = &graph.wide_nodes[node.a]
        sig = <object>wide.sig
        if sig is not None and id(sig) not in signatures.numbers:
            check(primitive_of(node.op), (<Signature>sig).params)
        row[1, i] |= WIDE
        row[2, i] = -1 if sig is None else signature_index(signatures, sig, avals, operations, describe)
        row[3, i] = aval_index(avals, aval_of(node.b))
        n = wide.count + (1 if node.op == OP_RESULT else 0)      # which result it is comes after its operand
        counts.append(n)
        for k in range(n):
            pool.append(graph.pool[wide.first + k])
    return {
        "operations": operations.rows,
        "nodes": rows.astype(ROWS, copy=False).tobytes(),
        "counts": packed(counts),
        "pool": packed(pool),
        "signatures": signatures.rows,
        "constants": constants_data(graph, avals),
        "inputs": inputs,
        "guards": [guard_data(graph, &graph.guards[i]) for i in range(n_guards)],
        "avals": avals.rows,
    }


cdef bytes packed(list numbers):
    return np.array(numbers, ROWS).tobytes()


cdef object value_data(object value):
    """A float, a boolean, or the bytes of an array."""
    return value.tobytes() if isinstance(value, np.ndarray) else value


cdef tuple guard_data(Graph graph, Guard* guard):
    return guard.node, value_data(<object>guard.expected.o) if guard.is_object else guard.expected.d != 0


cdef tuple constants_data(Graph graph, Table avals):
    """What each is, the numbers one after the other, and the arrays of one dtype and shape one after the other."""
    cdef int32_t i
    cdef dict arrays = {}
    numbers = np.zeros(graph.n_consts)
    kinds = np.zeros(graph.n_consts, np.int32)
    cdef double[::1] number = numbers
    cdef int32_t[::1] kind = kinds
    cdef int32_t n = 0
    for i in range(graph.n_consts):
        kind[i] = aval_index(avals, aval_of(graph.consts[i].aval))
        if graph.consts[i].aval <= AVAL_BOOL:
            number[n] = graph.consts[i].value.d
            n += 1
        else:
            arrays.setdefault(kind[i], []).append((<object>graph.consts[i].value.o).tobytes())
    return (kinds.astype(ROWS, copy=False).tobytes(), numbers[:n].astype(NUMBERS, copy=False).tobytes(),
            {k: b"".join(found) for k, found in arrays.items()})


# ---- read -----------------------------------------------------------------------------------------------------------

def graph_from(dict data, find):
    """The graph of `graph_data`; `find` turns a description into a primitive. `UnpicklingError` for what is none."""
    cdef Reading reading = Reading(data, find)
    reading.read_constants(*data["constants"])
    reading.read_nodes()
    for i, value in data["inputs"]:
        reading.read_input(i, value)
    for i, value in data["guards"]:
        reading.read_guard(i, value)
    reading.graph.thread = 0
    return reading.graph


def check_tape(Graph graph, window, before, inputs, outputs):
    """Raise unless nodes and guards from one place to another, behind the tape that ended at `before`, are a tape."""
    cdef int32_t k
    start, end, first, guards = window
    for n in (*window, *inputs, *outputs):
        if type(n) is not int:
            raise refused(f"a tape has a number {n!r}")
    if not before[0] <= start <= end <= graph.size or not before[1] <= first <= guards <= graph.n_guards:
        raise refused(f"a tape has nodes and guards {window}, of {graph.size} and {graph.n_guards}")
    for k in (start, end):
        if k < graph.size and graph.nodes[k].op == OP_RESULT:
            raise refused(f"a tape begins or ends between the results of node {k}")
    for k in range(guards):
        if graph.guards[k].node >= end:
            raise refused(f"a guard is on node {graph.guards[k].node}, no node of a tape that ends at {end}")
    for i in inputs:
        if not start <= i < end or graph.nodes[<int32_t>i].op != OP_INPUT:
            raise refused(f"node {i} is not an input of its tape")
    for i in outputs:
        if not -graph.n_consts <= i < end:
            raise refused(f"an output is node {i}, which is none of its tape")
    if type(inputs) is not tuple or type(outputs) is not tuple or len(set(inputs)) != len(inputs):
        raise refused("a tape has one input twice")


cdef object refused(str what):
    return UnpicklingError(f"this pickle holds no program, or a damaged one: {what}. Pickle the program again.")


cdef object numbers_in(object text, object dtype=ROWS):
    if type(text) is not bytes or len(text) % dtype.itemsize:
        raise refused("a table of numbers is something else, or cut off")
    return np.frombuffer(text, dtype).astype(dtype.newbyteorder("="))


cdef object entry(list rows, object k):
    """Row k of a list, which must have one."""
    if type(k) is not int or not 0 <= k < len(rows):
        raise refused(f"it names entry {k!r} of a list of {len(rows)}")
    return rows[k]


cdef object array_from(AbstractValue aval, object text):
    """An array of its own from its bytes."""
    if type(text) is not bytes or len(text) != aval.size * aval.itemsize:
        raise refused(f"an array of {aval} has other bytes")
    return np.frombuffer(text, aval.dtype.newbyteorder("<")).reshape(aval.shape).astype(aval.dtype)


cdef class Reading:
    """A graph that is read from plain data."""

    cdef Graph graph
    cdef list avals, operations, signatures
    cdef int32_t[:, ::1] rows
    cdef int32_t[::1] counts, pool
    cdef int32_t row, at        # how many of the counts, and of the pool, have been read
    cdef int32_t owed           # further results that are to follow the last node that has several

    def __init__(self, dict data, find):
        self.graph = Graph(True)
        self.avals = [checked_aval(*key) for key in data["avals"]]
        self.operations = [find(description) for description in data["operations"]]
        self.signatures = [self.signature(*row) for row in data["signatures"]]
        nodes = numbers_in(data["nodes"])
        if len(nodes) % 4:
            raise refused("the table of its nodes is cut off")
        self.rows = nodes.reshape(4, -1)
        self.counts = numbers_in(data["counts"])
        self.pool = numbers_in(data["pool"])

    # ---- constants and values

    def read_constants(self, kinds, numbers, dict arrays):
        """As they were: equal ones keep rows of their own."""
        kind = numbers_in(kinds)
        cdef double[::1] number = numbers_in(numbers, NUMBERS)
        cdef int32_t i
        cdef Py_ssize_t n = 0
        cdef dict coming = {}
        cdef AbstractValue aval
        used, times = np.unique(kind, return_counts=True)
        for k, count in zip(used.tolist(), times.tolist()):
            aval = entry(self.avals, k)
            if aval.number > AVAL_BOOL:
                coming[k] = iter(rows_of(aval, count, arrays.get(k)))
        if coming.keys() != arrays.keys():
            raise refused("it has other constants than it names")
        for k in kind.tolist():
            aval = self.avals[k]
            if aval.number > AVAL_BOOL:
                self.add_array(aval, next(coming[k]))
                continue
            if n == number.shape[0] or (aval.number == AVAL_BOOL and number[n] != 0.0 and number[n] != 1.0):
                raise refused("a constant is missing, or no boolean")
            i = self.graph.push_const(aval.number)
            self.graph.consts[i].value.d = number[n]
            n += 1
        if n != number.shape[0]:
            raise refused("it has more constants than it names")

    cdef int add_array(self, AbstractValue aval, object array) except -1:
        cdef int32_t i = self.graph.push_const(aval.number)
        Py_INCREF(array)
        self.graph.consts[i].value.o = <PyObject*>array
        return 0

    cdef int read_input(self, object i, object value) except -1:
        """The value of an input at the point of recording."""
        cdef AbstractValue aval = aval_of(operand_aval(self.graph, self.node(i)))
        if self.graph.nodes[<int32_t>i].op != OP_INPUT:
            raise refused(f"node {i} is not an input")
        if value is None:
            return 0
        if aval.number > AVAL_BOOL:
            value = array_from(aval, value)
        elif type(value) is not (bool if aval.number == AVAL_BOOL else float):
            raise refused(f"input {i} has the value {value!r}")
        self.graph.set_object(i, value)
        return 0

    cdef int read_guard(self, object i, object value) except -1:
        cdef AbstractValue aval = aval_of(operand_aval(self.graph, self.node(i)))
        cdef Slot expected
        if aval.number > AVAL_BOOL:
            value = array_from(aval, value)
            expected.o = <PyObject*>value
        elif type(value) is bool:
            expected.d = 1.0 if value else 0.0
        else:
            raise refused(f"a branch on node {i} was {value!r}")
        self.graph.add_guard(i, expected, aval.number > AVAL_BOOL)
        cdef Guard* guard = &self.graph.guards[self.graph.n_guards - 1]
        if guard.code != NULL:      # the line that was recorded is not here
            Py_DECREF(<object>guard.code)
            guard.code = NULL
        return 0

    cdef int32_t node(self, object i) except -1:
        if type(i) is not int or not 0 <= i < self.graph.size:
            raise refused(f"it names node {i!r} of {self.graph.size}")
        return i

    # ---- signatures

    def signature(self, operation, params, avals, results):
        """A signature, whose results must be what is inferred."""
        cdef Primitive primitive = entry(self.operations, operation)
        given = tuple([entry(self.avals, k) for k in avals])
        gives = tuple([entry(self.avals, k) for k in results])
        if primitive.op == OP_ASSEMBLE:
            return assembly(primitive, params, given, gives)
        params = checked_parameters(primitive, params, given)
        sig = signature_at(primitive, params, given)
        if sig.results != gives or len(gives) != primitive.nout:
            raise refused(f"{primitive.name} of {given} gives {sig.results}, not {gives}")
        return sig

    # ---- nodes

    cdef int read_nodes(self) except -1:
        cdef int32_t i
        cdef int32_t size = <int32_t>self.rows.shape[1]
        cdef Primitive primitive
        self.graph.reserve(size)
        for i in range(size):
            primitive = entry(self.operations, self.rows[0, i])
            if self.rows[1, i] & ~(STRONG | TRUTH | WIDE | SLOPED):
                raise refused(f"node {i} has marks that are none")
            if self.owed and primitive.op != OP_RESULT:
                raise refused(f"node {i} is between the results of another")
            if self.rows[1, i] & WIDE:
                self.add_wide(i, primitive)
            else:
                self.add_number(i, primitive)
            if (self.graph.nodes[i].flags & F_BOOL != 0) != (self.rows[1, i] & TRUTH != 0):
                raise refused(f"node {i} is a boolean, or none, where it should not be")
        if self.owed or self.row != self.counts.shape[0] or self.at != self.pool.shape[0]:
            raise refused("its tables do not end together")
        return 0

    cdef int32_t operand(self, int32_t i, int32_t k) except? -1:
        """An operand of node i: a node before it, or a constant."""
        if not -self.graph.n_consts <= k < i:
            raise refused(f"node {i} has operand {k}, which is not a node before it and no constant")
        return k

    cdef int32_t number_operand(self, int32_t i, int32_t k) except? -1:
        if operand_aval(self.graph, self.operand(i, k)) > AVAL_BOOL:
            raise refused(f"node {i} takes numbers, but operand {k} is an array")
        return k

    cdef int add_number(self, int32_t i, Primitive primitive) except -1:
        """A node on numbers, without a signature."""
        cdef int op = primitive.op
        cdef uint16_t flags = (F_STRONG if self.rows[1, i] & STRONG else 0) | (
            F_SLOPED if self.rows[1, i] & SLOPED else 0)
        cdef int32_t a = self.rows[2, i]
        cdef int32_t b = self.rows[3, i]
        cdef AbstractValue aval
        if op == OP_INPUT:
            a = b = 0
            flags |= F_BOOL if self.rows[1, i] & TRUTH else 0
        elif op == OP_ITEM:
            aval = aval_of(operand_aval(self.graph, self.operand(i, a)))
            if not aval.is_float64 or aval.number == AVAL_FLOAT or not 0 <= b < aval.size:
                raise refused(f"node {i} is item {b} of {aval}")
        elif op == OP_IDENTITY or op == OP_STOP:
            flags |= F_BOOL if operand_aval(self.graph, self.number_operand(i, a)) == AVAL_BOOL else 0
            b = 0
        elif primitive.kind == K_UFUNC and (INFO[op].f1 != NULL or INFO[op].f2 != NULL):
            flags |= F_BOOL if INFO[op].is_bool else 0
            self.number_operand(i, a)
            if ARITY[op] == 2:
                self.number_operand(i, b)
            else:
                b = 0
        else:
            raise refused(f"node {i} is {primitive.name} of numbers, without a signature")
        self.graph.push(op, flags, a, b, NAN)
        return 0

    cdef int add_wide(self, int32_t i, Primitive primitive) except -1:
        """A node with a row of the extension table."""
        cdef int op = primitive.op
        cdef uint16_t flags = (F_STRONG if self.rows[1, i] & STRONG else 0) | (
            F_SLOPED if self.rows[1, i] & SLOPED else 0)
        cdef AbstractValue aval = entry(self.avals, self.rows[3, i])
        cdef int32_t k
        cdef int32_t nothing = 0
        cdef Signature sig = None
        if self.row == self.counts.shape[0]:
            raise refused(f"node {i} has no operands")
        cdef int32_t count = self.counts[self.row]
        if not 0 <= count <= self.pool.shape[0] - self.at:
            raise refused(f"node {i} has {count} operands")
        if self.rows[2, i] != -1:
            sig = entry(self.signatures, self.rows[2, i])
        if op == OP_RESULT:
            self.check_result(i, aval, sig, count)
        else:
            for k in range(count):
                self.operand(i, self.pool[self.at + k])
            self.check_wide(i, primitive, aval, sig, count)
        self.graph.push_wide(op, flags, sig, &self.pool[self.at] if count else &nothing, count, aval.number)
        if op == OP_RESULT:
            self.graph.wide_nodes[self.graph.n_wide_nodes - 1].count = 1        # which it is stands behind its operand
        elif sig is not None:
            self.owed = primitive.nout - 1
        self.row += 1
        self.at += count
        return 0

    cdef int check_result(self, int32_t i, AbstractValue aval, Signature sig, int32_t count) except -1:
        """One more result of a node: they follow it in their order."""
        if not self.owed or sig is not None or count != 2:
            raise refused(f"node {i} is a result of none")
        cdef int32_t base = self.pool[self.at]
        which = self.pool[self.at + 1]
        if base < 0 or base + which != i or which < 1 or not self.graph.nodes[base].flags & F_WIDE:
            raise refused(f"node {i} is a result of none")
        sig = <object>self.graph.wide_nodes[self.graph.nodes[base].a].sig
        if sig is None or which != len(sig.results) - self.owed or sig.results[which] is not aval:
            raise refused(f"node {i} is not a result {which} of node {base}")
        self.owed -= 1
        return 0

    cdef int check_wide(self, int32_t i, Primitive primitive, AbstractValue aval, Signature sig,
                        int32_t count) except -1:
        """That a node is what its signature says."""
        cdef int32_t k
        if sig is not None:
            if sig.primitive is not primitive or count != len(sig.avals) or sig.results[0] is not aval:
                raise refused(f"node {i} is {primitive.name} of {count} operands that gives {aval}, but signed {sig}")
            for k in range(count):
                if operand_aval(self.graph, self.pool[self.at + k]) != (<AbstractValue>sig.avals[k]).number:
                    raise refused(f"operand {k} of node {i} is not what {sig} takes")
        elif primitive.op == OP_INPUT:
            if count or aval.number <= AVAL_BOOL:
                raise refused(f"input {i} has operands, or is a number")
        elif primitive.op == OP_IDENTITY:
            if count != 1 or operand_aval(self.graph, self.pool[self.at]) != aval.number:
                raise refused(f"node {i} is not its operand")
        else:
            raise refused(f"node {i} is {primitive.name} without a signature")
        return 0


cdef list rows_of(AbstractValue aval, int64_t count, object text):
    """So many arrays of one dtype and shape, from their bytes one after the other; they are never written to."""
    if type(text) is not bytes or len(text) != count * aval.size * aval.itemsize:
        raise refused(f"{count} constants of {aval} have other bytes")
    whole = np.frombuffer(text, aval.dtype.newbyteorder("<")).astype(aval.dtype, copy=False)
    if count == 1 and whole.flags.aligned:
        return [whole.reshape(aval.shape)]
    whole = whole.reshape((count, *aval.shape))
    # each is to lie by itself: one that outlives the others would keep them
    return [whole[k].copy() if aval.ndim else np.array(whole[k]) for k in range(count)]


# ---- parameters -----------------------------------------------------------------------------------------------------

cdef tuple whole_numbers(object values):
    """A tuple of integers, as those of Python."""
    if type(values) is not tuple or any([type(n) is bool for n in values]):
        raise refused(f"{values!r} are not integers")
    return tuple([operator.index(n) for n in values])


cdef object axis_in(object axis, int64_t ndim):
    if type(axis) is bool or not 0 <= operator.index(axis) < ndim:
        raise refused(f"{axis!r} is not an axis of {ndim}")
    return operator.index(axis)


cdef object checked_parameters(Primitive primitive, object params, tuple avals):
    """The parameters, as far as C code relies on them, or shapes are made of them."""
    cdef int kind = primitive.kind
    if primitive.infer is None or (primitive.nin >= 0 and primitive.nin != len(avals)) or (
            kind == K_STRUCTURE and primitive.op != OP_IDENTITY):
        raise refused(f"{primitive.name} has no {len(avals)} operands")
    if primitive.qualified is not None:
        return params       # of a user's, which runs in Python
    if kind == K_STRIDED:
        return strided(primitive.name, params, avals[0])
    if kind == K_REDUCE:
        return reduction(primitive.name, params, avals[0])
    if kind == K_CONCATENATE:
        return joining(params, avals)
    if kind == K_PYTHON:
        return of_python(primitive, params, avals)
    if params is not None:
        raise refused(f"{primitive.name} has parameters")
    if kind == K_GATHER or kind == K_PUT:
        flat = avals[len(avals) - 1]
        fits = kind == K_GATHER or (avals[1].dtype == avals[0].dtype and avals[1].size == flat.size)
        if flat.dtype != np.int64 or not fits:
            raise refused(f"{primitive.name} of {avals}")
    return None


cdef object strided(str name, object params, AbstractValue x):
    """Parameters of a view, which must lie in its operand."""
    if name == "stop_gradient":
        return params if params is None else ()
    if name == "getitem":
        shape, strides = whole_numbers(params[0]), whole_numbers(params[1])
        offset = operator.index(params[2])
        steps = [(n - 1) * s for n, s in zip(shape, strides, strict=True)]
        low, high = sum([min(step, 0) for step in steps]), sum([max(step, 0) for step in steps])
        if min(shape, default=0) < 0 or prod(shape) and not -low <= offset < x.size - high:
            raise refused(f"a view {params} does not lie in {x}")
        return shape, strides, offset
    (values,) = params
    values = whole_numbers(values)
    if name == "transpose":
        fits = sorted(values) == list(range(x.ndim))
    elif name == "reshape":
        fits = prod(values) == x.size and min(values, default=0) >= 0
    else:
        lead = len(values) - x.ndim
        fits = name == "broadcast_to" and lead >= 0 and min(values, default=0) >= 0 and all(
            [n == 1 or n == m for n, m in zip(x.shape, values[lead:])])
    if not fits:
        raise refused(f"{name} of {x} to {values}")
    return (values,)


cdef object reduction(str name, object params, AbstractValue x):
    axes, shape = whole_numbers(params[0]), whole_numbers(params[1])
    # each axis that is summed over may be kept with length 1, or not: the adjoint of broadcasting does both at once
    kept = [n for axis, n in enumerate(x.shape) if axis not in axes and n != 1]
    if len(params) != 2 or not set(axes) <= set(range(x.ndim)) or [n for n in shape if n != 1] != kept:
        raise refused(f"{name} of {x} over axes {axes} to {shape}")
    if name != "sum" and x.size == 0 and prod(shape):
        raise refused(f"{name} of nothing")
    return axes, shape


cdef object joining(object params, tuple avals):
    (axis,) = params
    axis = axis_in(axis, avals[0].ndim)
    for x in avals:
        if x.dtype != avals[0].dtype or x.ndim != avals[0].ndim or any(
                [n != m for k, (n, m) in enumerate(zip(x.shape, avals[0].shape)) if k != axis]):
            raise refused(f"concatenate of {avals} along axis {axis}")
    return (axis,)


cdef object of_python(Primitive primitive, object params, tuple avals):
    """Parameters of what runs in Python, or in C in its place."""
    name = primitive.name
    if primitive.of_programs:
        (callee,) = params
        callee._check_operands(avals)
    elif name == "cumsum":
        (axis,) = params
        return (axis_in(axis, max(avals[0].ndim, 1)),)
    elif name == "astype":
        (dtype,) = params
        checked_aval(np.dtype(dtype).str, ())
    return params


cdef object assembly(Primitive primitive, object params, tuple avals, tuple results):
    """Zeros with items and parts added, which must lie in them, one item a place."""
    cdef AbstractValue p
    cdef list made = []
    offsets, parts = params
    (p,) = results
    offsets = numbers_in(offsets, np.dtype("<i8"))
    cdef Py_ssize_t k = len(offsets)
    inside = k == 0 or (p.is_float64 and 0 <= offsets[0] and offsets[k - 1] < p.size and (np.diff(offsets) > 0).all())
    if not inside or any([(<AbstractValue>x).number != AVAL_FLOAT for x in avals[:k]]) or len(avals) < k:
        raise refused(f"items at {offsets} of {p}")
    for part in tuple(parts):
        x = avals[k]
        if part is None:
            flat = avals[k + 1]
            fits = flat.dtype == np.int64 and flat.size == x.size
            made.append(None)
            k += 2
        else:
            start, shape, strides = operator.index(part[0]), whole_numbers(part[1]), whole_numbers(part[2])
            if any([n % p.itemsize for n in (start, *strides)]):
                raise refused(f"a part {part} of {p}")
            strided("getitem", (shape, tuple([s // p.itemsize for s in strides]), start // p.itemsize), p)
            fits = prod(shape) == x.size
            made.append((start, shape, strides))
            k += 1
        if x.dtype != p.dtype or not fits:
            raise refused(f"a part of {x} of {p}")
    if k != len(avals) or p.dtype.kind not in "iufc":
        raise refused(f"an assembly of {avals} in {p}")
    return make_signature(primitive, (offsets, tuple(made)), avals, results)


# ---- rows for expressions, in one process: what a node is beside its operands ---------------------------------------

def node_rows(Graph graph, int end):
    """(primitive, flags, operands, place of an item or (dtype, shape), key of the signature) of the first nodes.

    After the operand of a further result comes which result it is.
    """
    cdef int32_t i, k, n
    cdef const int32_t* operands
    cdef Node* node
    cdef Signature sig
    cdef AbstractValue aval
    rows = []
    for i in range(end):
        node = &graph.nodes[i]
        operands = node_operands(graph, i, &n)
        numbers = [operands[k] for k in range(n + (1 if node.op == OP_RESULT else 0))]
        key, extra = None, node.b
        if node.flags & F_WIDE:
            aval = aval_of(node.b)
            extra = aval.dtype.str, aval.shape
            sig = <object>graph.wide_nodes[node.a].sig
            if sig is not None:
                key = sig.params, tuple([(a.dtype.str, a.shape) for a in sig.avals]), tuple(
                    [(a.dtype.str, a.shape) for a in sig.results])
        rows.append((primitive_of(node.op), node.flags & (F_BOOL | F_STRONG | F_SLOPED), numbers, extra, key))
    return rows


def graph_of_rows(list rows, list constants):
    """The sealed graph of rows, and of constants that keep rows of their own."""
    cdef Graph graph = Graph(True)
    cdef int32_t i
    cdef int32_t[::1] operands
    cdef Primitive primitive
    cdef AbstractValue aval
    for value in constants:
        value = np.asarray(value)
        aval = intern_aval(value.dtype, value.shape)
        i = graph.push_const(aval.number)
        if aval.number > AVAL_BOOL:
            Py_INCREF(value)
            graph.consts[i].value.o = <PyObject*>value
        else:
            graph.consts[i].value.d = <double>value[()]
    for primitive, flags, numbers, extra, key in rows:
        operands = np.array(numbers + [0, 0], dtype=np.int32)
        if isinstance(extra, tuple):
            sig = None if key is None else make_signature(
                primitive, key[0], tuple([interned(k) for k in key[1]]), tuple([interned(k) for k in key[2]]))
            i = graph.push_wide(primitive.op, flags, sig, &operands[0], len(numbers), interned(extra).number)
            if primitive.op == OP_RESULT:
                graph.wide_nodes[graph.nodes[i].a].count = 1
        elif primitive.op == OP_ITEM:
            graph.push(primitive.op, flags, operands[0], extra, 0.0)
        else:
            graph.push(primitive.op, flags, operands[0], operands[1], 0.0)
    graph.thread = 0
    return graph


cdef AbstractValue interned(tuple key):
    return intern_aval(np.dtype(key[0]), tuple(key[1]))
