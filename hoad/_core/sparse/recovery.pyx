"""Where the entries of a matrix are read in its products with few vectors, for a coloring of its pattern.

Products with the columns of a color are a row of the compressed matrix. An entry can be read there where no other
column of its color has an entry in its row. That is looked up here for every entry, whatever algorithm the colors are
from: a coloring by which an entry could not be recovered is found, and raises.
"""

import numpy as np

cimport numpy as cnp

from libc.stdint cimport int32_t, int64_t, uint8_t

cnp.import_array()

ctypedef fused number:
    float
    double
    float complex
    double complex


cdef void* data_of(cnp.ndarray array, int type_number) except? NULL:
    if not (cnp.PyArray_TYPE(array) == type_number and cnp.PyArray_IS_C_CONTIGUOUS(array)):
        raise TypeError(f"an array of {array.dtype} where another type, without gaps, is needed")
    return cnp.PyArray_DATA(array)


cdef int32_t* numbers_of(cnp.ndarray array) except? NULL:
    return <int32_t*>data_of(array, cnp.NPY_INT32)


def pattern_fault(cnp.ndarray indptr, cnp.ndarray indices, int32_t columns):
    """What is wrong with a pattern: (code, row). 0: nothing; 1: a row is not in order; 2: an entry is given twice;
    3: a column is out of range; 4: indptr falls, or does not end with the number of entries."""
    cdef const int32_t* begin = numbers_of(indptr)
    cdef const int32_t* items = numbers_of(indices)
    cdef int32_t n = <int32_t>(indptr.shape[0] - 1)
    cdef int32_t row = 0
    cdef int code = 4
    last_array = np.full(columns, -1, dtype=np.int32)
    cdef int32_t* last = numbers_of(last_array)
    if begin[0] == 0 and begin[n] == indices.shape[0]:
        with nogil:
            code = first_fault(begin, items, n, columns, last, &row)
    return code, row


cdef int first_fault(const int32_t* begin, const int32_t* items, int32_t n, int32_t columns, int32_t* last,
                     int32_t* row) noexcept nogil:
    """The code of what is wrong, and the row where; that a row is not in order counts last."""
    cdef int32_t i, k
    cdef int code = 0
    for i in range(n):
        if begin[i] > begin[i + 1]:
            row[0] = i
            return 4
    for i in range(n):
        for k in range(begin[i], begin[i + 1]):
            if not 0 <= items[k] < columns or last[items[k]] == i:
                row[0] = i
                return 2 if 0 <= items[k] < columns else 3
            last[items[k]] = i
            if not code and k > begin[i] and items[k] < items[k - 1]:
                row[0] = i
                code = 1
    return code


def transposed(cnp.ndarray indptr, cnp.ndarray indices, int32_t columns):
    """(indptr, indices, positions) of the transposed pattern; `positions` says where its entries were."""
    cdef const int32_t* begin = numbers_of(indptr)
    cdef const int32_t* items = numbers_of(indices)
    cdef int32_t n = <int32_t>(indptr.shape[0] - 1)
    cdef int32_t i, k, to
    begin_array = np.zeros(columns + 1, dtype=np.int32)
    items_array = np.empty(indices.shape[0], dtype=np.int32)
    positions_array = np.empty(indices.shape[0], dtype=np.int32)
    next_array = np.empty(columns, dtype=np.int32)
    cdef int32_t* begin_t = numbers_of(begin_array)
    cdef int32_t* items_t = numbers_of(items_array)
    cdef int32_t* positions = numbers_of(positions_array)
    cdef int32_t* place = numbers_of(next_array)
    with nogil:
        for k in range(begin[n]):
            begin_t[items[k] + 1] += 1
        for i in range(columns):
            place[i] = begin_t[i]
            begin_t[i + 1] += begin_t[i]
        for i in range(n):
            for k in range(begin[i], begin[i + 1]):
                to = place[items[k]]
                place[items[k]] += 1
                items_t[to] = i
                positions[to] = k
    return begin_array, items_array, positions_array


def colors_alone(cnp.ndarray indptr, cnp.ndarray indices, cnp.ndarray colors, int32_t n_colors):
    """For each entry the color of its column, or -1 if it has none or shares it in its row."""
    cdef const int32_t* begin = numbers_of(indptr)
    cdef const int32_t* items = numbers_of(indices)
    cdef const int32_t* color = numbers_of(colors)
    cdef int32_t n = <int32_t>(indptr.shape[0] - 1)
    cdef int32_t i, k, c
    found = np.empty(indices.shape[0], dtype=np.int32)
    scratch = np.full((2, n_colors), -1, dtype=np.int32)
    cdef int32_t* alone = numbers_of(found)
    cdef int32_t* row = numbers_of(scratch)         # by color: the last row with it, and its first entry there
    cdef int32_t* entry = row + n_colors
    with nogil:
        for i in range(n):
            for k in range(begin[i], begin[i + 1]):
                c = color[items[k]]
                alone[k] = c
                if c < 0:
                    continue
                if row[c] == i:
                    alone[k] = -1
                    alone[entry[c]] = -1
                else:
                    row[c] = i
                    entry[c] = k
    return found


def needed_colors(cnp.ndarray one, cnp.ndarray other, cnp.ndarray used):
    """Mark in `used` colors that suffice to read each entry by one of its two colors, of which one may be -1.

    Returns the first entry that has neither, or -1. Of entries with two, which are left to choice, those that the
    color of most of them reads come first.
    """
    cdef const int32_t* a = numbers_of(one)
    cdef const int32_t* b = numbers_of(other)
    cdef uint8_t* is_used = <uint8_t*>data_of(used, cnp.NPY_BOOL)
    cdef int32_t n = <int32_t>one.shape[0]
    cdef int32_t n_colors = <int32_t>used.shape[0]
    cdef int32_t k, c, left
    counts_array = np.zeros(n_colors, dtype=np.int32)
    cdef int32_t* counts = numbers_of(counts_array)
    with nogil:
        for k in range(n):
            if a[k] < 0 and b[k] < 0:
                break
            if a[k] < 0:
                is_used[b[k]] = 1
            elif b[k] < 0:
                is_used[a[k]] = 1
        else:
            k = -1
    if k >= 0:
        return k
    while True:
        with nogil:
            left = 0
            for c in range(n_colors):
                counts[c] = 0
            for k in range(n):
                if a[k] >= 0 and b[k] >= 0 and not is_used[a[k]] and not is_used[b[k]]:
                    counts[a[k]] += 1
                    counts[b[k]] += 1
                    left += 1
        if not left:
            return -1
        is_used[<int32_t>np.argmax(counts_array)] = 1


def direct_slots(cnp.ndarray indptr, cnp.ndarray indices, cnp.ndarray one, cnp.ndarray other, cnp.ndarray renumbered,
                 int32_t columns, int32_t column_colors):
    """Where each entry (i, j) is read in the compressed matrices, laid end to end.

    `one` has the color by which it is read from products with columns, place (color, i), and `other` that from products
    with rows, (color, j), or by symmetry. `renumbered` has the new numbers of colors, -1 for one that is not needed.
    Colors from `column_colors` on are those of rows.
    """
    cdef const int32_t* begin = numbers_of(indptr)
    cdef const int32_t* items = numbers_of(indices)
    cdef const int32_t* a = numbers_of(one)
    cdef const int32_t* b = numbers_of(other)
    cdef const int32_t* number_of = numbers_of(renumbered)
    cdef int32_t n = <int32_t>(indptr.shape[0] - 1)
    cdef int32_t i, k, c
    slots_array = np.empty(indices.shape[0], dtype=np.int64)
    cdef int64_t* slots = <int64_t*>data_of(slots_array, cnp.NPY_INT64)
    cdef int64_t start = <int64_t>column_colors * n      # of the products with rows
    with nogil:
        for i in range(n):
            for k in range(begin[i], begin[i + 1]):
                if a[k] >= 0 and number_of[a[k]] >= 0:
                    slots[k] = <int64_t>number_of[a[k]] * n + i
                else:
                    c = number_of[b[k]]
                    if c < column_colors:
                        slots[k] = <int64_t>c * columns + items[k]
                    else:
                        slots[k] = start + <int64_t>(c - column_colors) * columns + items[k]
    return slots_array


def substitution(cnp.ndarray indptr, cnp.ndarray indices, cnp.ndarray mirror, cnp.ndarray colors, int32_t n_colors,
                 cnp.ndarray used):
    """The order in which an acyclic coloring of a symmetric pattern gives the entries off the diagonal, leaves first.

    Returns (entries, goes_on, n): the positions of entries in the rows of leaves, whose columns are their parents, and
    where the parent is a leaf in its turn, from whose sum the entry has to be taken off. From the n-th on they are
    trees of one edge, which can be read from either end. None if there is a cycle in two colors. `mirror` says where
    the entry (j, i) is for each (i, j). Marks in `used` the colors that are needed, but for those of trees of one edge.
    """
    cdef const int32_t* begin = numbers_of(indptr)
    cdef const int32_t* items = numbers_of(indices)
    cdef const int32_t* across = numbers_of(mirror)
    cdef const int32_t* color = numbers_of(colors)
    cdef uint8_t* is_used = <uint8_t*>data_of(used, cnp.NPY_BOOL)
    cdef int32_t n = <int32_t>(indptr.shape[0] - 1)
    cdef int32_t entries = <int32_t>indices.shape[0]
    cdef int32_t i, j, k, s, other, head
    cdef int32_t places = 0, tail = 0, found = 0, edges = 0, substituted = 0
    # A place is a vertex with a color of its neighbors: a vertex of one two-colored tree.
    of_places = np.zeros((4, entries + 1), dtype=np.int32)
    of_colors = np.full((2, n_colors + 1), -1, dtype=np.int32)
    plan = np.empty((2, entries // 2), dtype=np.int32)
    cdef int32_t* place = numbers_of(of_places)         # of each entry
    cdef int32_t* degree = place + entries + 1          # of a place: edges that are left
    cdef int32_t* sums = degree + entries + 1           # their entries by exclusive or: in the end that of the last one
    cdef int32_t* queue = sums + entries + 1            # leaves
    cdef int32_t* row = numbers_of(of_colors)
    cdef int32_t* place_of = row + n_colors + 1
    cdef int32_t* order = numbers_of(plan)
    cdef int32_t* goes_on = order + entries // 2
    with nogil:
        for i in range(n):
            for k in range(begin[i], begin[i + 1]):
                j = items[k]
                if j == i:
                    is_used[color[i]] = 1
                    continue
                edges += 1
                if row[color[j]] != i:
                    row[color[j]] = i
                    place_of[color[j]] = places
                    places += 1
                s = place_of[color[j]]
                place[k] = s
                degree[s] += 1
                sums[s] ^= k
        edges //= 2
        for s in range(places):
            if degree[s] == 1 and degree[place[across[sums[s]]]] > 1:
                queue[tail] = s
                tail += 1
        head = 0
        while head < tail:
            s = queue[head]
            head += 1
            if degree[s] != 1:      # the other end of the last edge of its tree
                continue
            k = sums[s]
            other = place[across[k]]
            degree[s] = 0
            degree[other] -= 1
            sums[other] ^= across[k]
            if degree[other] == 1:
                queue[tail] = other
                tail += 1
            order[found] = k
            goes_on[found] = degree[other] > 0
            found += 1
            is_used[color[items[k]]] = 1
        substituted = found
        for i in range(n):          # trees of one edge
            for k in range(begin[i], begin[i + 1]):
                if items[k] > i and degree[place[k]] == 1 and degree[place[across[k]]] == 1:
                    order[found] = k
                    goes_on[found] = 0
                    found += 1
    if found != edges:
        return None
    return plan[0, :edges], plan[1, :edges], substituted


def substitute(cnp.ndarray compressed, cnp.ndarray data, cnp.ndarray entries, cnp.ndarray mirrored, cnp.ndarray slots,
               cnp.ndarray sums):
    """Fill in the entries off the diagonal, in the order of a plan; `compressed` is overwritten.

    Each entry stands in its slot of the compressed matrix when its turn comes, and is then taken off another slot,
    where it was added; or off its own, where that is of no use.
    """
    cdef int type_number = cnp.PyArray_TYPE(data)
    cdef void* work = data_of(compressed, type_number)
    cdef void* out = data_of(data, type_number)
    cdef const int32_t* at = numbers_of(entries)
    cdef const int32_t* across = numbers_of(mirrored)
    cdef const int64_t* slot = <int64_t*>data_of(slots, cnp.NPY_INT64)
    cdef const int64_t* into = <int64_t*>data_of(sums, cnp.NPY_INT64)
    cdef int32_t n = <int32_t>entries.shape[0]
    with nogil:
        if type_number == cnp.NPY_DOUBLE:
            run_plan(<double*>work, <double*>out, at, across, slot, into, n)
        elif type_number == cnp.NPY_FLOAT:
            run_plan(<float*>work, <float*>out, at, across, slot, into, n)
        elif type_number == cnp.NPY_CDOUBLE:
            run_plan(<double complex*>work, <double complex*>out, at, across, slot, into, n)
        elif type_number == cnp.NPY_CFLOAT:
            run_plan(<float complex*>work, <float complex*>out, at, across, slot, into, n)
        else:
            n = -1
    if n < 0:
        raise TypeError(f"values of {data.dtype} are not substituted")


cdef void run_plan(number* work, number* out, const int32_t* at, const int32_t* across, const int64_t* slot,
                   const int64_t* into, int32_t n) noexcept nogil:
    cdef int32_t e
    cdef number value
    for e in range(n):
        value = work[slot[e]]
        out[at[e]] = value
        out[across[e]] = value
        work[into[e]] = work[into[e]] - value
