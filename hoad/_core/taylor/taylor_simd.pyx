"""Steps of a series that are done at once: like ones that do not ask for each other.

A short series of numbers takes most of its time to find the way from step to step, and the sum of a product at one
order is too short for vectors. Right sides of differential equations have many like steps side by side, such as the
forces between pairs of bodies: their sums are lanes of one vector. `vector_series_groups.h` does them.
"""

from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport qsort

from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree

from hoad._core.base.blocks cimport appended, required, reserve
from hoad._core.kernels.vector cimport (
    SERIES_ADD, SERIES_COPY, SERIES_DERIVE, SERIES_DIVIDE, SERIES_MEMBERS, SERIES_MULTIPLY, SERIES_NEGATE, SERIES_NONE,
    SERIES_POWER, SERIES_SCALE, SERIES_SHORT, SERIES_SHRINK, SERIES_SLOPES, SERIES_SQUARE, SERIES_SUBTRACT, SeriesGroup,
    SeriesStep, SeriesTerm,
)

cdef enum:
    NARROW = 4              # lanes of a small group
    FEWEST = 4              # members of a group
    FEWEST_POWERS = 3       # which have the longest sums
    LONGEST = 12            # orders for each member, up to which a group takes less time than one member after another

cdef enum MemberKind:
    SINGLE      # one after another, of whatever rule
    PLAIN       # each coefficient by itself
    CONVOLVED   # sums over orders, which may be lanes


cdef struct Member:
    int32_t level           # above those of all that the step needs of the same order
    int32_t kind, rule, top
    int32_t step


cdef int group(Series series) except -1:
    """Find groups in a series of numbers that runs for one lane, if it has any."""
    cdef int32_t n
    if not series.is_narrow or series.lanes != 1 or not SERIES_MEMBERS:
        return 0
    cdef Member* members = <Member*>required(
        PyMem_RawCalloc(series.n_steps * sizeof(Member) + series.n_rows * sizeof(int32_t) + 1, 1))
    try:
        n = find_members(series, members, <int32_t*>(members + series.n_steps))
        qsort(members, n, sizeof(Member), &compare)
        if are_worth_it(series, members, n):
            put(series, members, n)
    finally:
        PyMem_RawFree(members)
    return 0


# ---- which steps ----------------------------------------------------------------------------------------------------

cdef int32_t find_members(Series series, Member* members, int32_t* levels) noexcept:
    """The steps that find coefficients; how many these are. Of a row that a step before has found, `levels` is above 0.

    What comes after a step is asked for at lower orders only.
    """
    cdef int32_t i, k, level
    cdef int32_t n = 0
    cdef const SeriesStep* step
    cdef const SeriesTerm* term
    for i in range(series.n_steps):
        step = &series.steps[i]
        if step.rule == SERIES_NONE or step.top == 0:
            continue
        level = max(levels[step.a], levels[step.b])
        for k in range(step.count if step.rule == SERIES_SLOPES else 0):
            term = &series.terms[step.first + k]
            level = max(level, max(levels[term.h], max(levels[term.x], levels[term.y])))
        levels[step.out] = level + 1
        members[n].level, members[n].kind, members[n].step = level, kind_of(series, step), i
        if members[n].kind != SINGLE:
            members[n].rule, members[n].top = step.rule, step.top
        n += 1
    return n


cdef MemberKind kind_of(Series series, const SeriesStep* step) noexcept:
    cdef const SeriesTerm* term
    cdef bint is_long = False
    if step.rule in (SERIES_COPY, SERIES_ADD, SERIES_SUBTRACT, SERIES_NEGATE, SERIES_SCALE, SERIES_SHRINK,
                     SERIES_DERIVE):
        return PLAIN
    if step.rule in (SERIES_SQUARE, SERIES_MULTIPLY):
        is_long = step.top_a > SERIES_SHORT and step.top_b > SERIES_SHORT
    elif step.rule == SERIES_DIVIDE:
        is_long = step.top_b > SERIES_SHORT
    elif step.rule == SERIES_POWER:
        is_long = step.top_a > SERIES_SHORT
    elif step.rule == SERIES_SLOPES and step.count == 1:
        term = &series.terms[step.first]
        is_long = term.top_h > 0 and term.top_x > SERIES_SHORT
    return CONVOLVED if is_long else SINGLE


cdef int compare(const void* one, const void* other) noexcept nogil:
    """Which of two members comes first: those that are alike are neighbours."""
    cdef const Member* a = <const Member*>one
    cdef const Member* b = <const Member*>other
    if a.level != b.level:
        return -1 if a.level < b.level else 1
    if a.kind != b.kind:
        return -1 if a.kind < b.kind else 1
    if a.rule != b.rule:
        return -1 if a.rule < b.rule else 1
    if a.top != b.top:
        return -1 if a.top < b.top else 1
    return -1 if a.step < b.step else 1


cdef int32_t alike(const Member* members, int32_t n) noexcept:
    """How many members from the first on are alike."""
    cdef int32_t k = 1
    while (k < n and members[k].level == members[0].level and members[k].kind == members[0].kind
           and members[k].rule == members[0].rule and members[k].top == members[0].top):
        k += 1
    return k


cdef inline bint is_vector(Series series, const Member* member, int32_t n) noexcept:
    """Whether so many members are done as lanes."""
    cdef int32_t fewest = FEWEST_POWERS if member.rule == SERIES_POWER else FEWEST
    return member.kind == CONVOLVED and n >= fewest and series.degree <= LONGEST * n


cdef bint are_worth_it(Series series, const Member* members, int32_t n) noexcept:
    """Whether any are done as lanes."""
    cdef int32_t k
    while n:
        k = alike(members, n)
        if is_vector(series, members, min(k, <int32_t>SERIES_MEMBERS)):
            return True
        members, n = members + k, n - k
    return False


# ---- putting together -----------------------------------------------------------------------------------------------

cdef int put(Series series, const Member* members, int32_t n) except -1:
    """Groups of all members."""
    cdef int32_t k, size
    while n:
        k = alike(members, n)
        n -= k
        while k:
            size = min(k, <int32_t>SERIES_MEMBERS) if members.kind == CONVOLVED else k
            if is_vector(series, members, size):
                put_group(series, members, size, NARROW if size <= NARROW else SERIES_MEMBERS)
            else:
                put_group(series, members, size, 0)
            members, k = members + size, k - size
    return 0


cdef int put_group(Series series, const Member* members, int32_t n, int32_t width) except -1:
    """A group of so many lanes, of which the last member fills those that are left; or of none."""
    cdef int32_t i
    cdef int32_t size = max(n, width)
    reserve(<void**>&series.members, &series.cap_members, series.n_members + size, sizeof(int32_t))
    cdef SeriesGroup* made = <SeriesGroup*>appended(
        <void**>&series.groups, &series.cap_groups, &series.n_groups, sizeof(SeriesGroup))
    made.rule = members[0].rule if width or members[0].kind == PLAIN else SERIES_NONE
    made.top = members[0].top if made.rule != SERIES_NONE else series.degree
    made.first, made.count, made.width = series.n_members, n, width
    made.at = series.scratch
    for i in range(size):
        series.members[series.n_members + i] = members[min(i, n - 1)].step
    series.n_members += size
    series.scratch += (width * (2 * (series.degree + 1) + 1) + 7) & ~<int64_t>7      # of whole lines of the cache
    return 0
