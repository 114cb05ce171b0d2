"""Recording calls, of hoad's own primitives and through NumPy's protocols."""

import numpy as np

cimport numpy as cnp

from hoad._core.ops.eager cimport FEW, check_numbers, compute, is_put_off, scalar_value
from hoad._core.trace.coerce cimport as_loop_operands, graph_among, is_of_objects, operand_of
from hoad._core.graph.primitive cimport (
    INFO, K_CONCATENATE, K_UFUNC, UFUNCS, Signature, assembly, primitive_of, signature,
)
from hoad._core.trace.errors cimport check_alive, check_usable, no_rule
from hoad._core.graph.roots cimport DEEPEST, are_roots, has_root, may_be_root, smoothed
from hoad._core.graph.tape cimport (
    AVAL_BOOL, F_OBJ, F_SPARE, OP_ASSEMBLE, OP_CONCATENATE, OP_DIVIDE, OP_FLOAT_POWER, OP_GATHER, OP_LOGICAL_AND,
    OP_LOGICAL_NOT, OP_LOGICAL_OR, OP_LOGICAL_XOR, OP_MASK, OP_MATMUL, OP_MULTIPLY, OP_POWER, OP_RESHAPE, OP_RESULT,
    OP_SQUARE, OP_STOP, OP_SUM, AbstractValue, Graph, aval_of, int32_t, is_plain_float64, may_drop, operand_aval,
    uint16_t,
)
from hoad._core.trace.traced cimport (
    NO_AXES, OF_PYTHON, Array, Scalar, called, connect, node_now, plain_value, push_scalar, representing, wrap,
)
from hoad._core.trace.memory_order cimport doubt_order, keep_order
from hoad._core.base.where cimport here, name_of

cdef dict FUNCTIONS
cdef dict MAKERS
cdef set ANSWERING
cdef set BOXING
cdef dict METHODS
cdef dict REDUCTIONS

from hoad._core.graph.primitive import ufunc_primitive
from hoad._core.trace.traced import ANSWERING, BOXING, FUNCTIONS, MAKERS, METHODS, REDUCTIONS

from hoad.errors import NoRuleError

cnp.import_array()

cdef type ndarray = np.ndarray
cdef object matmul = np.matmul
cdef object REAL = np.real, IMAG = np.imag, TRANSPOSE = np.transpose, NO_VALUE = np._NoValue
cdef dict WHOLE = {}        # dimensions -> parameters of a reduction over all axes
cdef tuple BY_METHODS = (np.arctan2, np.fmod, np.hypot)     # of items that are objects


cdef object record_call(Primitive primitive, object params, tuple values):
    """Record `primitive` on values of any kind; on plain ones, compute it."""
    cdef Graph graph = graph_among(values)
    if graph is None:       # a composition that meets plain operands only
        graph = Graph(True)
        return plain_results(record_call_in(graph, primitive, params, values))
    return record_call_in(graph, primitive, params, values)


cdef object plain_results(object results):
    if isinstance(results, tuple):
        return tuple([plain_value(x) for x in results])
    return plain_value(results)


cdef object record_call_in(Graph graph, Primitive primitive, object params, tuple values):
    cdef int32_t few[FEW]
    cdef int32_t[::1] many
    cdef int32_t* operands = few
    cdef int32_t i
    cdef int32_t count = len(values)
    check_usable(graph)
    if count > FEW:
        many = np.empty(count, dtype=np.int32)
        operands = &many[0]
    cdef tuple given = values       # as NumPy walks through them: a cast may have another order
    if primitive.kind == K_UFUNC:
        values = as_loop_operands(graph, primitive, values)
    for i in range(count):
        operands[i] = operand_of(graph, values[i])
    made = record(graph, primitive, params, operands, count)
    if is_power(graph, primitive.op, operands):
        made = smoothed(made, primitive.op, values[0], values[1] if count == 2 else None)
    if primitive.kind == K_UFUNC and type(made) is not Scalar:
        keep_order(made, given)
    return made


cdef inline bint is_power(Graph graph, uint16_t op, const int32_t* operands) noexcept:
    """Whether it may be an even power of a root."""
    if op == OP_MULTIPLY:
        return may_be_root(graph, operands[0]) and are_roots(graph, operands[0], operands[1])
    return (op == OP_SQUARE or op == OP_POWER or op == OP_FLOAT_POWER) and has_root(graph, operands[0], DEEPEST)


cdef object record(Graph graph, Primitive primitive, object params, const int32_t* operands, int32_t count):
    """Append a node (and compute its value); returns its traced result, or a tuple of them."""
    cdef int32_t few[FEW]
    cdef int32_t[::1] many
    cdef int32_t* avals = few
    cdef int32_t i
    cdef bint scalars = (
        (primitive.kind == K_UFUNC or primitive.op == OP_STOP) and 0 < count <= 2 and primitive.nout == 1
    )
    cdef bint floats = True
    cdef double x, y
    if count > FEW:
        many = np.empty(count, dtype=np.int32)
        avals = &many[0]
    for i in range(count):
        avals[i] = operand_aval(graph, operands[i])
        if avals[i] > AVAL_BOOL:
            scalars = False
        elif avals[i] == AVAL_BOOL:
            floats = False
    if scalars and (floats or primitive.op == OP_LOGICAL_NOT or primitive.op == OP_LOGICAL_AND or
                    primitive.op == OP_LOGICAL_OR or primitive.op == OP_LOGICAL_XOR or primitive.op == OP_MASK):
        x = scalar_value(graph, operands[0])
        if count == 1 and INFO[primitive.op].f1 != NULL:
            return push_scalar(graph, primitive.op, operands[0], 0, INFO[primitive.op].f1(x),
                               INFO[primitive.op].is_bool)
        if count == 2 and INFO[primitive.op].f2 != NULL:
            y = scalar_value(graph, operands[1])
            return push_scalar(graph, primitive.op, operands[0], operands[1], INFO[primitive.op].f2(x, y),
                               INFO[primitive.op].is_bool)
    cdef Signature sig = signature(primitive, params, avals, count)
    if not (<AbstractValue>sig.results[0]).is_float64:
        check_numbers(primitive, sig)
    if not may_drop(graph):
        return push_call(graph, sig, operands, count, compute(graph, sig, operands, count) if graph.valued else None)
    made = push_call(graph, sig, operands, count, [None] if is_put_off(sig) else compute(graph, sig, operands, count))
    mark_read(graph, sig, operands, count)
    return made


cdef int mark_read(Graph graph, Signature sig, const int32_t* operands, int32_t count) except -1:
    """Note of the last node whether its array is read by its own rule, and of its operands, which are."""
    cdef Primitive primitive = sig.primitive
    cdef uint16_t op = primitive.op
    cdef bint reads_nothing = (
        INFO[op].linear or primitive.zero_derivative or not (<AbstractValue>sig.results[0]).inexact
        or op == OP_MULTIPLY and min(operands[0], operands[1]) < 0 or op == OP_DIVIDE and operands[1] < 0
    )
    cdef int32_t i
    if (reads_nothing or op == OP_MULTIPLY) and primitive.nout == 1 and (
            K_UFUNC <= primitive.kind <= K_CONCATENATE or primitive.native is not None):
        graph.nodes[graph.size - 1].flags |= F_SPARE
    if reads_nothing:
        return 0
    for i in range(1 if op == OP_GATHER else 0, count):
        if operands[i] >= 0:
            graph.nodes[operands[i]].flags &= ~F_SPARE
    return 0


cdef object push_call(Graph graph, Signature sig, const int32_t* operands, int32_t count, list values):
    """Append a node with these values; returns its traced result, or a tuple of them."""
    cdef int32_t aval = (<AbstractValue>sig.results[0]).number
    cdef int32_t node = graph.push_wide(sig.primitive.op, 0, sig, operands, count, aval)
    if graph.valued:
        graph.set_position(node)
        if values[0] is None:
            graph.nodes[node].flags |= F_OBJ
            graph.slots[node].o = NULL
        else:
            graph.set_object(node, values[0])
    if sig.primitive.nout == 1:
        return wrap(graph, node)
    return tuple([wrap(graph, node if i == 0 else push_result(graph, sig, node, i, values))
                  for i in range(sig.primitive.nout)])


cdef int32_t push_result(Graph graph, Signature sig, int32_t node, int32_t which, list values) except -1:
    """A node for one more result of `node`."""
    cdef int32_t operands[2]
    operands[0] = node
    operands[1] = which
    cdef int32_t result = graph.push_wide(OP_RESULT, 0, None, operands, 2, (<AbstractValue>sig.results[which]).number)
    graph.wide_nodes[graph.nodes[result].a].count = 1
    if values is not None:
        graph.set_object(result, values[which])
    return result


def apply_primitive(Primitive primitive, object params, *values):
    """Record `primitive` on these values, at least one of them traced."""
    return record_call(primitive, params, values)


cdef object record_on(Graph graph, int op, object params, int32_t operand):
    """Record an operation on one operand of a running graph."""
    return record(graph, primitive_of(op), params, &operand, 1)


cdef object record_gather(Graph graph, int32_t operand, cnp.ndarray places):
    """Record what an operand holds at plain places, which must not change any more."""
    cdef int32_t operands[2]
    operands[0] = operand
    operands[1] = graph.const_object(places if cnp.PyArray_IS_C_CONTIGUOUS(places) else np.ascontiguousarray(places))
    return record(graph, primitive_of(OP_GATHER), None, operands, 2)


cpdef bint are_matrices(object a, object b) except -1:
    """Whether both are arrays of one or two axes of float64."""
    return 0 < axes_of_floats(a) < 3 and 0 < axes_of_floats(b) < 3


cdef int axes_of_floats(object x) except -2:
    """How many axes an array of float64 has; -1 of anything else."""
    if not is_float64_array(x):
        return -1
    return aval_of((<Array>x).aval).ndim if type(x) is Array else cnp.PyArray_NDIM(<cnp.ndarray>x)


cdef int alike_along(object arrays, int axis, int more) except -2:
    """The axis, from the start, along which arrays of float64 may be joined, some of them traced; -1 for all others.

    The result has so many axes more than each, and the axis is one of its axes.
    """
    cdef AbstractValue first = None
    cdef AbstractValue aval
    cdef tuple shape, other
    cdef int d
    if type(arrays) is not list and type(arrays) is not tuple:
        return -1
    for x in arrays:
        if type(x) is Array:
            first = aval_of((<Array>x).aval)
            break
    if first is None or not first.is_float64 or first.ndim == 0:
        return -1
    if axis < 0:
        axis += first.ndim + more
    if not 0 <= axis < first.ndim:
        return -1
    shape = first.shape
    for x in arrays:
        if type(x) is Array:
            aval = aval_of((<Array>x).aval)
            if aval is first:
                continue
            if not aval.is_float64:
                return -1
            other = aval.shape
        elif type(x) is ndarray and is_plain_float64(<cnp.ndarray>x):
            other = x.shape
        else:
            return -1
        if len(other) != first.ndim:
            return -1
        for d in range(first.ndim):
            if (more or d != axis) and shape[d] != other[d]:
                return -1
    return axis


def joined(arrays, int axis):
    """What np.concatenate gives of arrays that are alike; None for all others."""
    axis = alike_along(arrays, axis, 0)
    return None if axis < 0 else record_call(primitive_of(OP_CONCATENATE), (axis,), tuple(arrays))


def stacked(arrays, int axis):
    """What np.stack gives along an axis but the last of arrays of one shape; None for all others.

    They are joined along the axis before which the new one stands, and then taken apart: two nodes for any number.
    """
    cdef tuple shape
    axis = alike_along(arrays, axis, 1)
    if axis < 0:
        return None
    shape = arrays[0].shape
    made = record_call(primitive_of(OP_CONCATENATE), (axis,), tuple(arrays))
    shape = (*shape[:axis], len(arrays), *shape[axis:])
    return record_on((<Array>made).graph, OP_RESHAPE, (shape,), (<Array>made).node)


def reduced(Primitive primitive, x, axis, keepdims):
    """What a reduction gives of a traced array of float64 over all of its axes, or some; None for all others."""
    cdef AbstractValue aval
    cdef tuple axes
    cdef bint kept = keepdims is True
    cdef int d
    if type(x) is not Array or not (kept or keepdims is NO_VALUE or keepdims is False):
        return None
    aval = aval_of((<Array>x).aval)
    if not aval.is_float64 or aval.ndim == 0 or aval.size == 0 and primitive.op != OP_SUM:
        return None
    if primitive.op == OP_SUM and (<Array>x).graph.has_factors:     # of a function of which it may be the sum
        return None
    if axis is None and not kept:
        params = WHOLE.get(aval.ndim)
        if params is None:
            params = WHOLE[aval.ndim] = (tuple(range(aval.ndim)), ())
    else:
        axes = plain_axes(axis, aval.ndim)
        if axes is None:
            return None
        if kept:
            params = (axes, tuple([1 if d in axes else aval.shape[d] for d in range(aval.ndim)]))
        else:
            params = (axes, tuple([aval.shape[d] for d in range(aval.ndim) if d not in axes]))
    check_usable((<Array>x).graph)
    return record_on((<Array>x).graph, primitive.op, params, node_now(<Array>x))


cpdef bint has_factors(x):
    """Whether factors of a matrix have been recorded where an array is traced."""
    return type(x) is Array and (<Array>x).graph.has_factors


cdef tuple plain_axes(object axis, int ndim):
    """Plain axes in turn, from the start; None for none, and where that takes more to say."""
    cdef int k
    cdef list axes = []
    if axis is None:
        return tuple(range(ndim))
    for d in axis if type(axis) is tuple else (axis,):
        if type(d) is not int or not -ndim <= d < ndim:
            return None
        k = d
        k += ndim if k < 0 else 0
        if k in axes:
            return None
        axes.append(k)
    return tuple(sorted(axes)) if axes else None


def product_of_floats(a, b):
    """What np.matmul gives of matrices or vectors of float64, at least one of them traced; None for all others."""
    return record_call(primitive_of(OP_MATMUL), None, (a, b)) if are_matrices(a, b) else None


def record_known(Graph graph, Primitive primitive, object params, list operands, list values):
    """Record `primitive` where its values are known (not looked at in a rule); a tuple of traced results."""
    cdef int32_t count = len(operands)
    cdef int32_t[::1] avals = np.array([operand_aval(graph, <int32_t>k) for k in operands] + [0], dtype=np.int32)
    cdef int32_t[::1] numbers = np.array(operands + [0], dtype=np.int32)
    cdef Signature sig = signature(primitive, params, &avals[0], count)
    results = push_call(graph, sig, &numbers[0], count, values if graph.valued else None)
    return results if primitive.nout > 1 else (results,)


def apply_assembly(AbstractValue aval, offsets, tuple parts, *values):
    """Record zeros of `aval` with the values added at flat offsets, then at the places in `parts`."""
    cdef Graph graph = graph_among(values)
    cdef int32_t few[FEW]
    cdef int32_t[::1] many
    cdef int32_t* operands = few
    cdef int32_t count = len(values)
    cdef int32_t i
    check_usable(graph)
    if count > FEW:
        many = np.empty(count, dtype=np.int32)
        operands = &many[0]
    for i in range(count):
        operands[i] = operand_of(graph, values[i])
    avals = tuple([aval_of(operand_aval(graph, operands[i])) for i in range(count)])
    cdef Signature sig = assembly(aval, offsets, parts, avals)
    computed = compute(graph, sig, operands, count) if graph.valued else None
    cdef int32_t node = graph.push_wide(OP_ASSEMBLE, 0, sig, operands, count, aval.number)
    if graph.valued:
        graph.set_position(node)
        graph.set_object(node, computed[0])
    return wrap(graph, node)


# ---- NumPy's protocols ----------------------------------------------------------------------------------------------

cdef object array_ufunc(object ufunc, str method, tuple inputs, dict kwargs):
    cdef Primitive primitive
    cdef Scalar x
    if kwargs and gives_out(kwargs.get("out")):
        return METHODS["__ufunc_into__"](ufunc, method, inputs, kwargs)
    if method == "__call__":
        if kwargs and chooses_loop(kwargs):
            return METHODS["__ufunc_loop__"](ufunc, inputs, kwargs)
        primitive = <Primitive>UFUNCS.get(ufunc)
        if primitive is not None:
            if kwargs:
                kwargs = plain_keywords(ufunc, kwargs)
            if len(inputs) == 1 and type(inputs[0]) is Scalar:
                x = <Scalar>inputs[0]
                check_usable(x.graph)
                check_alive(x.graph, x.node)
                if not x.truth and primitive.nout == 1 and INFO[primitive.op].f1 != NULL:
                    if primitive.op == OP_SQUARE and has_root(x.graph, x.node, DEEPEST):
                        return smoothed(push_scalar(x.graph, OP_SQUARE, x.node, 0, x.value * x.value, False),
                                        OP_SQUARE, x, None)
                    return push_scalar(x.graph, primitive.op, x.node, 0, INFO[primitive.op].f1(x.value),
                                       INFO[primitive.op].is_bool)
            if object_arithmetic(inputs) and "OO->O" in ufunc.types and ufunc not in BY_METHODS:
                return ufunc(*[boxed(y) for y in inputs])
            return record_call(primitive, None, inputs)
        if ufunc is matmul and not kwargs and is_float64_array(inputs[0]) and is_float64_array(inputs[1]) and (
                type(inputs[0]) is not type(inputs[1])):    # of two traced ones more is asked
            return product(record_call(primitive_of(OP_MATMUL), None, inputs), inputs, ufunc)
        implementation = FUNCTIONS.get(ufunc)
        if implementation is not None:
            made = implementation(*inputs, **plain_keywords(ufunc, kwargs) if kwargs else kwargs)
            if ufunc.signature is not None:
                return product(made, inputs, ufunc)
            keep_order(made, inputs)
            return made
        if ufunc_primitive(ufunc) is not None:      # of a library whose table of rules is known from now on
            return array_ufunc(ufunc, method, inputs, kwargs)
    elif method == "at":
        return METHODS["__at__"](ufunc, *inputs)
    elif method == "reduce" and ufunc in REDUCTIONS:
        made = REDUCTIONS[ufunc](*inputs, **kwargs)
        doubt_order(made, inputs)
        return made
    else:
        found = METHODS["__ufunc_method__"](ufunc, method, inputs, kwargs)
        if found is not NotImplemented:
            doubt_order(found, inputs)
            return found
    raise no_rule(name_of(ufunc), graph_among(inputs), "" if method == "__call__" else method)


cdef object product(object made, tuple inputs, object ufunc):
    """What a generalised ufunc gives: NumPy makes matrices as in C, but stacks of vectors and matrices in any order."""
    cdef int ndim = aval_of((<Array>made).aval).ndim if type(made) is Array else 0
    if type(made) is tuple or ndim > 2 or (ndim == 2 and "," not in ufunc.signature.rpartition("->")[2]):
        doubt_order(made, inputs)
    return made


cdef bint gives_out(object out):
    """Whether there is an array to write to."""
    return out is not None and any([y is not None for y in out])


cdef bint chooses_loop(dict kwargs):
    """Whether a call of a ufunc says which loop it takes."""
    return kwargs.get("dtype") is not None or kwargs.get("signature") is not None


cdef bint is_float64_array(object x):
    """Whether a product can be recorded without a cast."""
    if type(x) is Array:
        return aval_of((<Array>x).aval).is_float64
    return type(x) is ndarray and is_plain_float64(<cnp.ndarray>x)


cdef bint object_arithmetic(tuple inputs):
    """Whether NumPy should work element by element: an object array meets traced scalars only."""
    cdef bint found = False
    for x in inputs:
        if type(x) is Array:
            return False
        found = found or is_of_objects(x)
    return found


cdef object boxed(object x):
    if type(x) is not Scalar:
        return x
    box = np.empty((), dtype=object)
    box[()] = x
    return box


cdef dict plain_keywords(object ufunc, dict kwargs):
    """The keywords of a ufunc call that matter; what cannot be recorded raises."""
    cdef dict kept = {}
    for name, value in kwargs.items():
        if name == "where" and value is not True:
            raise NoRuleError(
                f"{name_of(ufunc)} with where= is not recorded ({here()}). Use np.where(condition, x, y)."
            )
        if name not in ("out", "where", "dtype", "casting", "order", "subok", "signature"):
            kept[name] = value
    return kept


cdef object as_given(object function, tuple args, object found):
    """What a function of NumPy's gives without axes: an array, or a number of NumPy's, also where it was Python's."""
    if type(found) is Array and aval_of((<Array>found).aval).ndim:
        return found
    if function in BOXING:
        of_method = (function is np.reshape or function is np.squeeze) and args and isinstance(args[0], np.generic)
        return representing(found, 0 if of_method else NO_AXES)     # a number of NumPy's has these as methods
    if function is REAL or function is IMAG or function is TRANSPOSE:
        return found
    if function in ANSWERING:
        return representing(found, OF_PYTHON)
    return representing(found, 0)


cdef object array_function(object owner, object function, tuple args, dict kwargs):
    cdef object implementation = FUNCTIONS.get(function)
    if implementation is not None:
        if not args:
            args, kwargs = METHODS["__first_by_position__"](function, kwargs)
        return as_given(function, args, called(implementation, args, kwargs))
    implementation = MAKERS.get(function)
    if implementation is not None:
        return representing(implementation(owner, *args, **kwargs), NO_AXES)
    if function.__module__.startswith("numpy.polynomial."):     # NumPy dispatches two of all that are there
        return METHODS["__of_polynomials__"](function, *args, **kwargs)
    raise no_rule(name_of(function), graph_among((owner,)))


connect(record_call, array_ufunc, array_function, keep_order, doubt_order)
