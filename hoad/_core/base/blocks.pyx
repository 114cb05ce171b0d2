"""Large blocks of memory, kept for the next taker.

A derivative in a loop asks for the same tables again and again; what the operating system takes back it hands out anew
page by page, which costs more than a sweep. So a few blocks are kept, up to `MOST_KEPT` bytes a process. What is larger
than `HUGE` goes to the allocator, which moves pages instead of bytes when it grows. All callers hold the GIL, and name
the size again when they give a block back.
"""

from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy, memset

cdef extern from *:
    """
    #if defined(__linux__)
    #include <sys/mman.h>
    #endif
    #include <stdlib.h>
    /* Let the system hand out memory in pages of 2 MB, as NumPy lets it for large arrays. */
    static void* in_large_pages(void* start, size_t nbytes) {
    #if defined(__linux__) && defined(MADV_HUGEPAGE)
        size_t skipped = 4096 - (size_t)start % 4096;
        if (start != NULL)
            madvise((char*)start + skipped, nbytes - skipped, MADV_HUGEPAGE);
    #endif
        return start;
    }
    static void give_back(size_t nbytes) {
        void* volatile start = malloc(nbytes);      /* volatile, lest the compiler leave both out */
        free(start);
    }
    """
    void* in_large_pages(void* start, size_t nbytes) noexcept
    void give_back(size_t nbytes) noexcept

cdef enum:
    LARGE = 1 << 16
    MOST_BLOCKS = 24
    MOST_KEPT = 1 << 24
    MOST_ROWS = 2147483647
    MOST_MOVES = 4096   # rows up to which a table of a checked build moves with each
    ARRAY = 31 << 20
    WASTE = 2           # how many times as large as asked for a kept block may be
    # Before each block: how many bytes it has, which may be more than were asked for. With the 16 bytes that an
    # allocator has before a large one, a line of the cache: rows that are read by vectors begin with one.
    HEADER = 48

# The C library of Linux gives a large array pages of its own, and takes them back when the array goes, until one of a
# size was given back: then arrays up to that size share pages with others, which stay. So one is, never written to.
give_back(ARRAY)

cdef void* kept[MOST_BLOCKS]
cdef int n_kept = 0
cdef size_t kept_bytes = 0
cdef int64_t n_taken = 0        # blocks of any size, since the process began
cdef int64_t n_given = 0        # of those, the ones that were given back
cdef int64_t refused = 0        # the number of one that is NULL, for tests; blocks are numbered from 1


cdef size_t rounded(size_t nbytes) noexcept:
    """Sizes in steps of a quarter of a power of two, so that blocks fit again."""
    cdef size_t step = LARGE >> 2
    while step << 3 < nbytes:
        step <<= 1
    return (nbytes + step - 1) & ~(step - 1)


cdef inline size_t room_of(void* block) noexcept:
    """How many bytes a block has."""
    return (<size_t*>(<char*>block - HEADER))[0]


cdef inline void* headed(void* start, size_t nbytes) noexcept:
    """The block of so many bytes in what the allocator gave, which may be NULL."""
    if start == NULL:
        return NULL
    (<size_t*>start)[0] = nbytes
    return <char*>start + HEADER


cdef inline bint is_refused() noexcept:
    """Count a block that is asked for, and say whether it is the one that tests want refused."""
    global n_taken, n_given
    n_taken += 1
    if n_taken != refused:
        return False
    n_given += 1
    return True


cdef void* take(size_t nbytes) noexcept:
    """A block of at least `nbytes`, or NULL."""
    global n_kept, kept_bytes
    cdef int i
    cdef int best = -1
    if is_refused():
        return NULL
    if nbytes > HUGE:
        return headed(in_large_pages(malloc(HEADER + nbytes), HEADER + nbytes), nbytes)
    if nbytes < LARGE:
        return headed(malloc(HEADER + nbytes), nbytes)
    nbytes = rounded(nbytes)
    for i in range(n_kept):
        if nbytes <= room_of(kept[i]) <= WASTE * nbytes and (best < 0 or room_of(kept[i]) < room_of(kept[best])):
            best = i
    if best < 0:
        return headed(malloc(HEADER + nbytes), nbytes)
    cdef void* block = kept[best]
    kept_bytes -= room_of(block)
    n_kept -= 1
    kept[best] = kept[n_kept]
    return block


def blocks_taken():
    """How many blocks have been asked for since the process began."""
    return n_taken


def blocks_held():
    """How many blocks are in use."""
    return n_taken - n_given


def refuse_block(int64_t ahead):
    """Let one block from now on be refused, the next for 1, as where there is no memory; none for 0. For tests."""
    global refused
    refused = n_taken + ahead if ahead else 0


cdef void* take_zeroed(size_t nbytes) noexcept:
    """A block of at least `nbytes`, the first `nbytes` of them zero, or NULL."""
    if nbytes > HUGE:       # pages that nobody writes to are not even handed out
        if is_refused():
            return NULL
        return headed(calloc(HEADER + nbytes, 1), nbytes)
    cdef void* start = take(nbytes)
    if start != NULL:
        memset(start, 0, nbytes)
    return start


cdef void* resized(void* block, size_t nbytes, size_t wanted) noexcept:
    """A block of `wanted` bytes that begins with those of `block`, which is freed.

    NULL if there is no memory; `block` is not freed then.
    """
    if block == NULL:
        return take(wanted)
    if not HOAD_CHECKED:
        if nbytes <= wanted <= room_of(block):
            return block
        if room_of(block) > HUGE and wanted > HUGE:
            return headed(realloc(<char*>block - HEADER, HEADER + wanted), wanted)
    if wanted > HUGE:
        drop()          # a table this large has no use for what it grew through
    cdef void* moved = take(wanted)
    if moved != NULL:
        memcpy(moved, block, min(nbytes, wanted))
        give(block, nbytes)
    return moved


cdef void drop() noexcept:
    """Give all kept blocks back to the allocator."""
    global n_kept, kept_bytes
    while n_kept:
        n_kept -= 1
        free(<char*>kept[n_kept] - HEADER)
    kept_bytes = 0


cdef void give(void* block, size_t nbytes) noexcept:
    """Return a block that was taken for `nbytes`."""
    global n_kept, kept_bytes, n_given
    if block == NULL:
        return
    n_given += 1
    if HOAD_CHECKED:
        memset(block, 0xDD, nbytes)
    nbytes = room_of(block)
    if LARGE <= nbytes <= HUGE and n_kept < MOST_BLOCKS and kept_bytes + nbytes <= MOST_KEPT:
        kept[n_kept] = block
        n_kept += 1
        kept_bytes += nbytes
        return
    free(<char*>block - HEADER)


cdef int widen(void** table, int32_t* capacity, int64_t wanted, size_t itemsize) except -1:
    """`reserve` for more rows than there are."""
    cdef int64_t rows = capacity[0]
    if wanted > MOST_ROWS:
        raise MemoryError(f"a table has at most {MOST_ROWS} rows")
    rows = min(max(2 * rows, wanted, 16), <int64_t>MOST_ROWS)
    if HOAD_CHECKED and wanted < MOST_MOVES:
        rows = wanted
    cdef void* moved = resized(table[0], capacity[0] * itemsize, rows * itemsize)
    if moved == NULL:
        raise MemoryError(f"no memory for {rows} rows of {itemsize} bytes")
    table[0] = moved
    capacity[0] = <int32_t>rows
    return 0
