"""Greedy colorings of sparse patterns, and the orders in which they take the vertices.

A pattern is compressed as in scipy.sparse: the neighbors of vertex v are ``indices[indptr[v]:indptr[v + 1]]``, all of
type int32. A color is a number from 0 on; -1 is no color. Numbers of algorithms are those of Gebremedhin, Manne and
Pothen, "What color is your Jacobian?", SIAM Review 47 (2005), and of Gebremedhin, Tarafdar, Manne and Pothen, "New
acyclic and star coloring algorithms with application to computing Hessians", SIAM J. Sci. Comput. 29 (2007).

Star and acyclic colorings look at the neighbors of neighbors. Many of these have one color, and then lie in one
two-colored star or tree. So each vertex keeps a list of the different colors of its neighbors, with what is known of
the star or tree, and a step takes no longer than that list: a vertex with many neighbors costs no more than others.
"""

import numpy as np

cimport numpy as cnp

from libc.stdint cimport int32_t

cnp.import_array()

cdef enum:
    HUB = -1            # of a star: more than one neighbor has the color
    SPOKE = -2          # of a star, whose hub is the one neighbor with the color

cdef enum:
    BY_DEGREE = 0       # the largest first
    LEFT_LEAST = 1      # of what is left that with the fewest neighbors left comes last: smallest last
    LEFT_MOST = 2       # of what is left that with the most neighbors left comes first: dynamic largest first
    TAKEN_MOST = 3      # that with the most neighbors taken comes next: incidence degree


cdef struct Neighbors:
    const int32_t* begin
    const int32_t* items


cdef struct ColorLists:     # for each vertex the different colors of its neighbors
    const int32_t* begin    # where its list begins
    int32_t* count          # how many it has
    int32_t* colors
    int32_t* about          # a star: its one neighbor with the color, HUB or SPOKE; a tree: the parent of the set


cdef int32_t* numbers_of(cnp.ndarray array) except? NULL:
    if not (cnp.PyArray_TYPE(array) == cnp.NPY_INT32 and cnp.PyArray_IS_C_CONTIGUOUS(array)):
        raise TypeError(f"patterns and colors are arrays of int32, without gaps, not of {array.dtype}")
    return <int32_t*>cnp.PyArray_DATA(array)


cdef inline Neighbors neighbors_of(cnp.ndarray indptr, cnp.ndarray indices) except *:
    cdef Neighbors g
    g.begin = numbers_of(indptr)
    g.items = numbers_of(indices)
    return g


cdef inline int32_t find_color(const ColorLists* lists, int32_t v, int32_t color) noexcept nogil:
    """Where a color is in the list of a vertex; -1 if it is not."""
    cdef int32_t k
    for k in range(lists.begin[v], lists.begin[v] + lists.count[v]):
        if lists.colors[k] == color:
            return k
    return -1


cdef inline int32_t append_color(ColorLists* lists, int32_t v, int32_t color, int32_t about) noexcept nogil:
    cdef int32_t k = lists.begin[v] + lists.count[v]
    lists.count[v] += 1
    lists.colors[k] = color
    lists.about[k] = about
    return k


def color_distance_2(cnp.ndarray indptr, cnp.ndarray indices, cnp.ndarray indptr_t, cnp.ndarray indices_t,
                     cnp.ndarray order):
    """Colors of the vertices of one side, so that those with a common neighbor differ (2005, algorithm 3.2).

    `indptr`, `indices` have the neighbors of these vertices, and `indptr_t`, `indices_t` those of the other side. A
    vertex without neighbors has no color.
    """
    cdef Neighbors g = neighbors_of(indptr, indices)
    cdef Neighbors across = neighbors_of(indptr_t, indices_t)
    cdef int32_t n = <int32_t>(indptr.shape[0] - 1)
    cdef const int32_t* turn = numbers_of(order)
    colors_array = np.full(n, -1, dtype=np.int32)
    forbidden_array = np.full(n + 1, -1, dtype=np.int32)
    cdef int32_t* colors = numbers_of(colors_array)
    cdef int32_t* forbidden = numbers_of(forbidden_array)     # by color: the last vertex that may not have it
    cdef int32_t at, v, j, k, c
    with nogil:
        for at in range(n):
            v = turn[at]
            if g.begin[v] == g.begin[v + 1]:
                continue
            for j in range(g.begin[v], g.begin[v + 1]):
                for k in range(across.begin[g.items[j]], across.begin[g.items[j] + 1]):
                    c = colors[across.items[k]]
                    if c >= 0:
                        forbidden[c] = v
            c = 0
            while forbidden[c] == v:
                c += 1
            colors[v] = c
    return colors_array


def color_star(cnp.ndarray indptr, cnp.ndarray indices, cnp.ndarray order, int32_t rows=-1):
    """Colors so that neighbors differ, and a path on four vertices has three colors (2007, algorithm 4.1).

    Entries of a vertex with itself count nothing. With `rows`, the vertices before that number have even colors and the
    others odd ones: a star bicoloring.
    """
    cdef Neighbors g = neighbors_of(indptr, indices)
    cdef int32_t n = <int32_t>(indptr.shape[0] - 1)
    cdef const int32_t* turn = numbers_of(order)
    cdef int32_t step = 1 if rows < 0 else 2
    cdef ColorLists lists
    scratch = np.full((5, n + 1, step), -1, dtype=np.int32)
    colors_array = np.full(n, -1, dtype=np.int32)
    treated_array = np.full(n, -1, dtype=np.int32)
    count_array = np.zeros(n, dtype=np.int32)
    of_lists = np.empty((2, indices.shape[0]), dtype=np.int32)
    cdef int32_t* colors = numbers_of(colors_array)
    cdef int32_t* treated = numbers_of(treated_array)
    # By color: the last vertex that may not have it, that has met it, and that has listed it, and where.
    cdef int32_t* forbidden = numbers_of(scratch)
    cdef int32_t* met = forbidden + <size_t>(n + 1) * step
    cdef int32_t* first = met + <size_t>(n + 1) * step
    cdef int32_t* listed = first + <size_t>(n + 1) * step
    cdef int32_t* place = listed + <size_t>(n + 1) * step
    cdef int32_t at, v, w, c, j, k
    lists.begin = g.begin
    lists.count = numbers_of(count_array)
    lists.colors = numbers_of(of_lists)
    lists.about = lists.colors + indices.shape[0]
    with nogil:
        for at in range(n):
            v = turn[at]
            for j in range(g.begin[v], g.begin[v + 1]):
                w = g.items[j]
                c = colors[w]
                if c < 0 or w == v:
                    continue
                forbidden[c] = v
                if met[c] == v:     # v becomes the hub of a star: its spokes may have no neighbor with the color of v
                    if treated[first[c]] != v:
                        forbid_all(&lists, first[c], v, forbidden, treated)
                    forbid_all(&lists, w, v, forbidden, treated)
                    continue
                met[c] = v
                first[c] = w
                for k in range(lists.begin[w], lists.begin[w] + lists.count[w]):
                    if lists.about[k] == SPOKE:
                        forbidden[lists.colors[k]] = v
            c = 1 if 0 <= rows <= v else 0
            while forbidden[c] == v:
                c += step
            colors[v] = c
            for j in range(g.begin[v], g.begin[v + 1]):
                w = g.items[j]
                if colors[w] >= 0 and w != v:
                    note_star(&lists, v, w, colors, listed, place)
    return colors_array


cdef inline void forbid_all(const ColorLists* lists, int32_t w, int32_t v, int32_t* forbidden,
                            int32_t* treated) noexcept nogil:
    cdef int32_t k
    for k in range(lists.begin[w], lists.begin[w] + lists.count[w]):
        forbidden[lists.colors[k]] = v
    treated[w] = v


cdef inline void note_star(ColorLists* lists, int32_t v, int32_t w, const int32_t* colors, int32_t* listed,
                           int32_t* place) noexcept nogil:
    """Enter the edge from v, which has just been colored, to w in the star that it belongs to now."""
    cdef int32_t color = colors[v]
    cdef int32_t other = colors[w]
    cdef int32_t a, b, x
    if listed[other] == v:                      # v has a neighbor with that color, and becomes the hub of both
        a = place[other]
        x = lists.about[a]
        if x >= 0:
            lists.about[find_color(lists, x, color)] = SPOKE
        lists.about[a] = HUB
        append_color(lists, w, color, SPOKE)
        return
    listed[other] = v
    b = find_color(lists, w, color)
    if b < 0:
        append_color(lists, w, color, v)
        place[other] = append_color(lists, v, other, w)
        return
    x = lists.about[b]                          # w has a neighbor with the color of v, and becomes the hub of both
    if x >= 0:
        lists.about[find_color(lists, x, other)] = SPOKE
        lists.about[b] = HUB
    place[other] = append_color(lists, v, other, SPOKE)


def color_acyclic(cnp.ndarray indptr, cnp.ndarray indices, cnp.ndarray order):
    """Colors so that neighbors differ, and every cycle has three colors (2007, algorithm 3.1).

    Entries of a vertex with itself count nothing. The two-colored trees are sets of places in the lists of colors, in a
    disjoint-set forest: the edges from one vertex to neighbors of one color lie in one tree.
    """
    cdef Neighbors g = neighbors_of(indptr, indices)
    cdef int32_t n = <int32_t>(indptr.shape[0] - 1)
    cdef const int32_t* turn = numbers_of(order)
    cdef ColorLists lists
    scratch = np.full((3, n + 1), -1, dtype=np.int32)
    colors_array = np.full(n, -1, dtype=np.int32)
    count_array = np.zeros(n, dtype=np.int32)
    of_lists = np.empty((2, indices.shape[0]), dtype=np.int32)
    of_trees = np.full((2, indices.shape[0]), -1, dtype=np.int32)
    cdef int32_t* colors = numbers_of(colors_array)
    cdef int32_t* forbidden = numbers_of(scratch)
    cdef int32_t* listed = forbidden + n + 1
    cdef int32_t* place = listed + n + 1
    cdef int32_t* visitor = numbers_of(of_trees)              # by the root of a tree: the last vertex beside it
    cdef int32_t* neighbor = visitor + indices.shape[0]       # and the neighbor by which it was
    cdef int32_t at, v, w, c, j, k, root
    lists.begin = g.begin
    lists.count = numbers_of(count_array)
    lists.colors = numbers_of(of_lists)
    lists.about = lists.colors + indices.shape[0]
    with nogil:
        for at in range(n):
            v = turn[at]
            for j in range(g.begin[v], g.begin[v + 1]):
                if g.items[j] != v and colors[g.items[j]] >= 0:
                    forbidden[colors[g.items[j]]] = v
            for j in range(g.begin[v], g.begin[v + 1]):
                w = g.items[j]
                if colors[w] < 0 or w == v:
                    continue
                for k in range(lists.begin[w], lists.begin[w] + lists.count[w]):
                    c = lists.colors[k]
                    if forbidden[c] == v:
                        continue
                    root = root_of(lists.about, k)
                    if visitor[root] != v:
                        visitor[root] = v
                        neighbor[root] = w
                    elif neighbor[root] != w:       # beside one tree twice: with its color, v would close a cycle
                        forbidden[c] = v
            c = 0
            while forbidden[c] == v:
                c += 1
            colors[v] = c
            for j in range(g.begin[v], g.begin[v + 1]):
                w = g.items[j]
                if colors[w] >= 0 and w != v:
                    note_tree(&lists, v, w, colors, listed, place)
    return colors_array


cdef inline int32_t root_of(int32_t* parents, int32_t k) noexcept nogil:
    while parents[k] != k:
        parents[k] = parents[parents[k]]
        k = parents[k]
    return k


cdef inline void note_tree(ColorLists* lists, int32_t v, int32_t w, const int32_t* colors, int32_t* listed,
                           int32_t* place) noexcept nogil:
    """Join the trees at both ends of the edge from v, which has just been colored, to w."""
    cdef int32_t other = colors[w]
    cdef int32_t b, root
    if listed[other] != v:
        listed[other] = v
        place[other] = lists.begin[v] + lists.count[v]
        append_color(lists, v, other, place[other])
    root = root_of(lists.about, place[other])
    b = find_color(lists, w, colors[v])
    if b < 0:
        append_color(lists, w, colors[v], root)
    else:
        lists.about[root_of(lists.about, b)] = root


def order_vertices(str name, cnp.ndarray indptr, cnp.ndarray indices, cnp.ndarray indptr_t=None,
                   cnp.ndarray indices_t=None):
    """The vertices in an order, as int32: "largest_first", "smallest_last", "incidence_degree" or another.

    The neighbors of a vertex are those in the pattern, but itself; or, with the pattern of the other side, the vertices
    that have a neighbor in common with it. Of equal ones comes first what was changed last.
    """
    cdef int32_t n = <int32_t>(indptr.shape[0] - 1)
    if name == "natural" or n == 0:
        return np.arange(n, dtype=np.int32)
    cdef int32_t rule = {"largest_first": BY_DEGREE, "smallest_last": LEFT_LEAST, "dynamic_largest_first": LEFT_MOST,
                         "incidence_degree": TAKEN_MOST}[name]
    cdef Neighbors g = neighbors_of(indptr, indices)
    cdef Neighbors across
    across.begin = NULL
    across.items = NULL
    if indptr_t is not None:
        across = neighbors_of(indptr_t, indices_t)
    scratch = np.full((3, n), -1, dtype=np.int32)
    order_array = np.empty(n, dtype=np.int32)
    cdef int32_t* order = numbers_of(order_array)
    cdef int32_t* degrees = numbers_of(scratch)
    cdef int32_t* mark = degrees + n
    cdef int32_t* found = mark + n
    cdef int32_t v
    cdef int32_t most = 0
    with nogil:
        for v in range(n):
            degrees[v] = find_neighbors(&g, &across, v, mark, found)
            most = max(most, degrees[v])
    if rule == BY_DEGREE:
        return np.argsort(-scratch[0], kind="stable").astype(np.int32)
    links = np.full((2, n + most + 1), -1, dtype=np.int32)
    scratch[1:] = -1
    if rule == TAKEN_MOST:
        scratch[0] = 0
    cdef int32_t* after = numbers_of(links)
    cdef int32_t* before = after + n + most + 1
    with nogil:
        order_by_turns(&g, &across, n, most, rule, degrees, mark, found, after, before, order)
    return order_array


cdef inline int32_t find_neighbors(const Neighbors* g, const Neighbors* across, int32_t v, int32_t* mark,
                                   int32_t* found) noexcept nogil:
    """How many neighbors v has, which are put in `found`."""
    cdef int32_t j, k, w
    cdef int32_t count = 0
    mark[v] = v
    for j in range(g.begin[v], g.begin[v + 1]):
        if across.begin == NULL:
            w = g.items[j]
            if w != v:
                found[count] = w
                count += 1
            continue
        for k in range(across.begin[g.items[j]], across.begin[g.items[j] + 1]):
            w = across.items[k]
            if mark[w] != v:
                mark[w] = v
                found[count] = w
                count += 1
    return count


cdef void order_by_turns(const Neighbors* g, const Neighbors* across, int32_t n, int32_t most, int32_t rule,
                         int32_t* degrees, int32_t* mark, int32_t* found, int32_t* after, int32_t* before,
                         int32_t* order) noexcept nogil:
    """Take the vertices in turn by degrees that change with what is taken.

    For each degree there is a list of the vertices that have it, linked both ways; its head is the place n + degree.
    """
    cdef int32_t at, v, w, k, count
    cdef int32_t change = 1 if rule == TAKEN_MOST else -1
    cdef int32_t degree = 0 if rule == LEFT_LEAST or rule == TAKEN_MOST else most
    for v in range(n - 1, -1, -1):
        link(v, n + degrees[v], after, before)
    for at in range(n):
        while after[n + degree] < 0:
            degree += 1 if rule == LEFT_LEAST else -1
        v = after[n + degree]
        unlink(v, after, before)
        degrees[v] = -1
        order[n - 1 - at if rule == LEFT_LEAST else at] = v
        count = find_neighbors(g, across, v, mark, found)
        for k in range(count):
            w = found[k]
            if degrees[w] >= 0:
                unlink(w, after, before)
                degrees[w] += change
                link(w, n + degrees[w], after, before)
        if rule == LEFT_LEAST:
            degree = max(degree - 1, 0)
        elif rule == TAKEN_MOST:
            degree = min(degree + 1, most)


cdef inline void link(int32_t v, int32_t head, int32_t* after, int32_t* before) noexcept nogil:
    after[v] = after[head]
    before[v] = head
    if after[head] >= 0:
        before[after[head]] = v
    after[head] = v


cdef inline void unlink(int32_t v, int32_t* after, int32_t* before) noexcept nogil:
    after[before[v]] = after[v]
    if after[v] >= 0:
        before[after[v]] = before[v]
