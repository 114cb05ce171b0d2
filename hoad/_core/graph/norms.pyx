"""Functions of norms in what was recorded: which nodes they are, and copies of what depends on those replaced.

A norm, a hypotenuse or |z| has no derivative at 0, but an even function of it has. Which functions those are is found
by what `bind_evens` was given, in Python; here lies what looks at every node.
"""

from hoad._core.graph.primitive cimport EPOCH
from hoad._core.graph.subgraph cimport copy_node
from hoad._core.graph.tape cimport (
    AVAL_FLOAT, F_OBJ, F_VALUED, F_WIDE, OP_POWER, OP_SELECT, OP_SMOOTH, OP_SQRT, Graph, Node, aval_of, int32_t,
    is_missing, node_operands, operand_aval, uint16_t, uint64_t, uint8_t,
)

import numpy as np

cdef enum:
    MOST_OPERATIONS = 1024
    MOST_BETWEEN = 48       # functions of one norm that are looked at
    MOST_DISMISSED = 65536
    MOST_COMPARED = 64      # pairs of norms that meet in an operation

cdef enum:                  # what an operation is here
    IS_SIZE = 1
    IS_ABSOLUTE = 2
    IS_SMOOTH = 3
    IS_MOVE = 4
    IS_FUNCTION = 5

cdef uint8_t KINDS[MOST_OPERATIONS]
cdef set DISMISSED = set()
cdef object replacements = None, equal = None


cdef inline uint8_t kind_of(Graph graph, int32_t i) noexcept:
    cdef int op = graph.nodes[i].op
    return KINDS[op] if op < MOST_OPERATIONS else 0


cdef bint is_real(Graph graph, int32_t i):
    cdef int32_t aval = operand_aval(graph, i)
    return aval == AVAL_FLOAT or aval_of(aval).dtype.kind == "f"


def replace_even_functions(Graph graph, int start, list outputs, bint of_abs=False):
    """The outputs, with the derivatives of even functions of norms where those are 0; of |x| as well if `of_abs`.

    What was recorded is not changed; what depends on such a function is recorded once more.
    """
    cdef int32_t i
    cdef int32_t size = graph.size
    for i in range(start, size):
        if may_be_norm(graph, i):
            break
    else:
        return outputs
    groups = functions_of_norms(graph, start, outputs, of_abs)
    return replacements(graph, start, size, outputs, groups) if groups else outputs


cdef inline bint may_be_norm(Graph graph, int32_t i) noexcept:
    cdef uint8_t kind = kind_of(graph, i)
    return kind == IS_SIZE or kind == IS_ABSOLUTE or graph.nodes[i].op == OP_SQRT


cdef dict functions_of_norms(Graph graph, int32_t start, list outputs, bint of_abs):
    """For each norm the functions of it that are used, in order: {norm: [function, ...]}."""
    cdef int32_t size = graph.size - start
    cdef int32_t[::1] norm = np.full(size, -1, dtype=np.int32)      # of which norm a node is a function
    cdef int32_t[::1] counts = np.zeros(size, dtype=np.int32)
    cdef uint8_t[::1] of_abs_value = np.zeros(size, dtype=np.uint8)
    cdef int32_t i, k, n, of, first
    cdef uint8_t kind
    cdef uint16_t op
    cdef const int32_t* operands
    cdef dict moved = {}
    cdef dict groups = {}
    cdef set again = set()      # norms that are another one, recorded once more
    cdef int32_t other
    cdef int32_t left = MOST_COMPARED
    for i in range(size):
        op = graph.nodes[start + i].op
        kind = kind_of(graph, start + i)
        if not (kind or op == OP_SELECT or op == OP_SQRT) or not graph.nodes[start + i].flags & (F_VALUED | F_OBJ):
            continue
        if not is_real(graph, start + i):
            continue
        operands = node_operands(graph, start + i, &n)
        first = operands[0] - start if operands[0] >= start else -1
        if kind == IS_SIZE or kind == IS_ABSOLUTE:
            for k in range(n):
                if operands[k] >= 0 and (operands[k] < start or norm[operands[k] - start] < 0):
                    break
            else:
                kind = IS_FUNCTION      # as hypot(1, r) is of r
        if kind == IS_SIZE:
            norm[i] = i
        elif kind == IS_ABSOLUTE:
            if of_abs or aval_of(operand_aval(graph, operands[0])).is_complex:
                norm[i] = i
            else:
                of_abs_value[i] = 1
        elif op == OP_SELECT:
            if operands[2] >= start and graph.nodes[operands[2]].op == OP_SQRT:
                norm[i] = i
        elif kind == IS_MOVE:
            if first >= 0 and (norm[first] == first or of_abs_value[first]):
                if graph.nodes[start + i].flags & F_WIDE:
                    key = (<size_t>graph.wide_nodes[graph.nodes[start + i].a].sig,
                           tuple([operands[k] for k in range(n)]))
                else:
                    key = (op, graph.nodes[start + i].a, graph.nodes[start + i].b)
                norm[i] = moved.setdefault(key, i)
                if norm[i] != i:
                    groups.setdefault(start + norm[i], []).append(start + i)
                    again.add(start + i)
        elif kind == IS_SMOOTH:
            if first >= 0:
                norm[i] = norm[first]
                if norm[i] >= 0:
                    groups[start + norm[i]].append(start + i)
        elif kind == IS_FUNCTION or op == OP_SQRT:
            of = -1
            for k in range(n):
                if operands[k] >= 0 and not graph.nodes[operands[k]].flags & (F_VALUED | F_OBJ):
                    of = -2
                    break
                if operands[k] < start or norm[operands[k] - start] < 0:
                    continue
                other = norm[operands[k] - start]
                if of >= 0 and of != other:
                    if left == 0 or not may_be_equal(graph, start + of, start + other):
                        of = -2
                        break
                    left -= 1
                    if not equal(graph, start + of, start + other):
                        of = -2
                        break
                    merge(groups, again, norm, start, of, other)
                else:
                    of = other
            if of >= 0 and counts[of] < MOST_BETWEEN:
                norm[i] = of
                counts[of] += 1
                groups.setdefault(start + of, []).append(start + i)
            elif op == OP_SQRT or kind_of(graph, start + i) == IS_SIZE:
                norm[i] = i
    if not groups:
        return groups
    for key in list(groups):
        if fingerprint(graph, key, groups[key]) in DISMISSED:
            del groups[key]
    if not groups:
        return groups
    cdef uint8_t[::1] live = used(graph, start, outputs)
    for key in list(groups):
        if not any([live[k - start] == 1 for k in groups[key]]):
            del groups[key]
        else:
            groups[key] = [(k, live[k - start] == 1, k in again) for k in groups[key]]
    return groups


cdef bint may_be_equal(Graph graph, int32_t a, int32_t b) noexcept:
    """Whether two nodes are the same operation, with the same value if they are numbers."""
    return graph.nodes[a].op == graph.nodes[b].op and operand_aval(graph, a) == operand_aval(graph, b) and (
        graph.nodes[a].flags & F_OBJ or graph.slots[a].d == graph.slots[b].d)


cdef int merge(dict groups, set again, int32_t[::1] norm, int32_t start, int32_t one, int32_t other) except -1:
    """Take another norm for `one`, which is the same."""
    cdef list moved = groups.pop(start + other, [])
    for k in moved:
        norm[<int32_t>k - start] = one
    norm[other] = one
    again.add(start + other)
    groups[start + one] = sorted(groups.get(start + one, []) + moved + [start + other])
    return 0


cdef uint8_t[::1] used(Graph graph, int32_t start, list outputs):
    """1 for the nodes on which derivatives of the outputs depend, 2 for functions that are replaced already.

    Not `mark_needed`: of a replaced function derivatives need its replacement alone.
    """
    cdef uint8_t[::1] live = np.zeros(graph.size - start, dtype=np.uint8)
    cdef int32_t i, k, n, instead
    cdef const int32_t* operands
    for i in outputs:
        if i >= start:
            live[i - start] = 1
    for i in range(graph.size - 1, start - 1, -1):
        if not live[i - start]:
            continue
        operands = node_operands(graph, i, &n)
        if kind_of(graph, i) == IS_SMOOTH:
            instead = operands[1]
            k = operands[0]
            if instead >= start:
                live[instead - start] = 1
                if graph.nodes[instead].op == OP_SELECT and node_operands(graph, instead, &n)[2] == k >= start:
                    live[k - start] = 2
            continue
        for k in range(n):
            if operands[k] >= start and not live[operands[k] - start]:
                live[operands[k] - start] = 1
    return live


def structure(Graph graph, int norm, list functions):
    """What tells functions of one norm from those of another: operations, which operands are one, and exponents."""
    cdef int32_t i, k, n
    cdef const int32_t* operands
    cdef Node* node
    cdef dict numbers = {norm: 0}
    cdef list found = []
    for i in functions:
        node = &graph.nodes[i]
        numbers[i] = len(numbers)
        operands = node_operands(graph, i, &n)
        found.append(node.op)
        if node.flags & F_WIDE:
            found.append(<object>graph.wide_nodes[node.a].sig)
        for k in range(n):
            of = operands[k]
            if k and of < 0 and node.op == OP_POWER and graph.consts[~operands[k]].aval == AVAL_FLOAT:
                found.append(graph.consts[~operands[k]].value.d)
            else:
                found.append(numbers.setdefault(of, len(numbers)))
    return tuple(found)


cdef inline uint64_t mixed(uint64_t h, uint64_t x) noexcept nogil:
    h = (h ^ x) * <uint64_t>0x9E3779B97F4A7C15
    return h ^ (h >> 29)


cdef inline uint64_t bits_of(double x) noexcept nogil:
    return (<uint64_t*>&x)[0]


cdef uint64_t fingerprint(Graph graph, int32_t norm, list functions) except? 0:
    """As `structure`, of numbers alone, in one number: with the values of constants, and which of the others are equal.

    0 where there are arrays among them.
    """
    cdef int32_t seen[MOST_BETWEEN]
    cdef int32_t i, k, n, at, of
    cdef int32_t count = 0
    cdef uint64_t h = mixed(1, EPOCH)
    cdef double value
    cdef const int32_t* operands
    for i in functions:
        if graph.nodes[i].flags & F_WIDE:
            return 0
        operands = node_operands(graph, i, &n)
        h = mixed(h, graph.nodes[i].op)
        for k in range(n):
            of = operands[k]
            if of == norm:
                h = mixed(h, 1)
                continue
            value = graph.consts[~of].value.d if of < 0 else graph.slots[of].d
            if of < 0:
                h = mixed(mixed(h, 2), bits_of(value))
                continue
            at = index_of(functions, of)
            if at >= 0:
                h = mixed(mixed(h, 3), at)
                continue
            if not graph.nodes[of].flags & F_VALUED:
                return 0
            for at in range(count):
                if graph.slots[seen[at]].d == value:
                    break
            else:
                at = count
                if count < MOST_BETWEEN:
                    seen[count] = of
                    count += 1
            h = mixed(mixed(h, 4 if value else 5), at)
    return h if h else 1


cdef int32_t index_of(list nodes, int32_t node):
    """Where a node is in a list of them, in order; -1 if it is not."""
    cdef int32_t k
    for k in range(len(nodes)):
        if <int32_t>nodes[k] == node:
            return k
    return -1


def dismiss(Graph graph, int norm, list functions):
    """Note that of functions of numbers like these none is to be replaced."""
    cdef uint64_t found = fingerprint(graph, norm, functions)
    if len(DISMISSED) >= MOST_DISMISSED:
        DISMISSED.clear()
    if found:
        DISMISSED.add(found)


def copy_dependent(Graph graph, int start, int end, dict place):
    """Copy the nodes of ``[start, end)`` that have operands in `place`, and note there where the copies are."""
    cdef int32_t i, k, n, to
    cdef const int32_t* operands
    for i in range(start, end):
        operands = node_operands(graph, i, &n)
        for k in range(n):
            if operands[k] >= 0 and operands[k] in place:
                break
        else:
            continue
        to = copy_node(graph, graph, i, place)
        if is_missing(graph, i):
            graph.nodes[to].flags |= F_OBJ
            graph.slots[to].o = NULL
        elif graph.nodes[i].flags & F_OBJ:
            graph.set_object(to, <object>graph.slots[i].o)
        elif graph.nodes[i].flags & F_VALUED:
            graph.slots[to] = graph.slots[i]
            graph.nodes[to].flags |= F_VALUED
        place[i] = to


def bind_evens(list sizes, list absolutes, list moves, list functions, replaced, is_same):
    """Say which operations are norms, which move their items, which are functions, and who finds the even ones."""
    global replacements, equal
    for kind, ops in ((IS_SIZE, sizes), (IS_ABSOLUTE, absolutes), (IS_MOVE, moves), (IS_FUNCTION, functions),
                      (IS_SMOOTH, [OP_SMOOTH])):
        for op in ops:
            if op < MOST_OPERATIONS:
                KINDS[op] = kind
    replacements = replaced
    equal = is_same
