/* What compilers and systems name differently: a variable of each thread, exchanges that all threads see in one order,
   and the cores of the process. */

#ifndef HOAD_THREADS_H
#define HOAD_THREADS_H

#include <stdint.h>

#if defined(_MSC_VER)

#include <intrin.h>
#define THREADS_LOCAL __declspec(thread)

static inline int64_t threads_count(int64_t* counter)
{
    return _InterlockedExchangeAdd64(counter, 1);
}

static inline void* threads_take(void** place)
{
    return _InterlockedExchangePointer(place, NULL);
}

#else

#define THREADS_LOCAL __thread

/* The number before, which goes up by one. */
static inline int64_t threads_count(int64_t* counter)
{
    return __atomic_fetch_add(counter, 1, __ATOMIC_SEQ_CST);
}

/* The pointer, in whose place there is none from now on. */
static inline void* threads_take(void** place)
{
    return __atomic_exchange_n(place, NULL, __ATOMIC_SEQ_CST);
}

#endif

#if defined(__linux__)

#include <sched.h>

/* How many cores this thread may run on, or 0 where that cannot be found. */
static inline int threads_cores(void)
{
    unsigned long mask[256] = {0}; /* for 16384 of them */
    int i, count = 0;
    if (sched_getaffinity(0, sizeof mask, (cpu_set_t*)mask) != 0)
        return 0;
    for (i = 0; i < 256; i++)
        count += __builtin_popcountl(mask[i]);
    return count;
}

#else

static inline int threads_cores(void)
{
    return 0;
}

#endif

static THREADS_LOCAL int threads_sharing; /* this thread does a part of something */

#endif
