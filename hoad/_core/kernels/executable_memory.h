/* Memory that holds machine code: written first, then made executable, never both at once. */

#ifndef HOAD_EXECUTABLE_MEMORY_H
#define HOAD_EXECUTABLE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(_WIN32)

#define HAS_MACHINE_CODE 1

static int64_t codes_made = 0;

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 1 << 12 };

/* Memory for so many bytes, which is their number in whole pages afterwards; NULL where the system gives none. */
static uint8_t* writable_memory(size_t* nbytes)
{
    void* memory;
    *nbytes = (*nbytes + PAGE - 1) & ~(size_t)(PAGE - 1);
    memory = mmap(NULL, *nbytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : (uint8_t*)memory;
}

/* The memory as code that can be run, or NULL; what lies behind `end` is given back. */
static void* executable_memory(uint8_t* memory, const uint8_t* end, size_t* nbytes)
{
    size_t used = ((size_t)(end - memory) + PAGE - 1) & ~(size_t)(PAGE - 1);
    if (used < *nbytes)
        munmap(memory + used, *nbytes - used);
    *nbytes = used;
    if (!mprotect(memory, used, PROT_READ | PROT_EXEC)) {
        __atomic_fetch_add(&codes_made, 1, __ATOMIC_RELAXED);
        return memory;
    }
    munmap(memory, used);
    return NULL;
}

static void release_machine_code(void* code, size_t nbytes) { munmap(code, nbytes); }

/* Count more runs; whether these reach a limit, which they do in one thread alone. */
static int reaches(int64_t* runs, int64_t more, int64_t limit)
{
    int64_t before = __atomic_fetch_add(runs, more, __ATOMIC_RELAXED);
    return before < limit && limit <= before + more;
}

#define published(code) __atomic_load_n(code, __ATOMIC_ACQUIRE)
#define publish(code, made) __atomic_store_n(code, made, __ATOMIC_RELEASE)

#else

#define HAS_MACHINE_CODE 0
#define codes_made 0
#define release_machine_code(code, nbytes)
#define reaches(runs, more, limit) 0
#define published(code) NULL
#define publish(code, made)

#endif
#endif
