/* Mapping of secret pages, and what the system grants them. */
#define _GNU_SOURCE
#include "page.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../_kernels/wipe.h"

#if !defined(MAP_ANONYMOUS) && defined(MAP_ANON)
#define MAP_ANONYMOUS MAP_ANON
#endif

/* Linux's number, for C libraries older than the kernel. */
#if defined(__linux__) && !defined(MADV_WIPEONFORK)
#define MADV_WIPEONFORK 18
#endif

/* No kernel knows this advice: an emulator that accepts it accepts anything and
 * wipes nothing. */
enum { BOGUS_ADVICE = 0x7ffffffe };

int fortuna_page_map(struct fortuna_mapping *mapping, size_t size, int keeps_on_fork)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size = (size + page - 1) / page * page;
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        return -1;
    *mapping = (struct fortuna_mapping){.memory = memory, .size = size};
#ifdef MADV_WIPEONFORK
    mapping->wipes_on_fork = !keeps_on_fork && madvise(memory, size, BOGUS_ADVICE) != 0 &&
                             madvise(memory, size, MADV_WIPEONFORK) == 0;
#else
    (void)keeps_on_fork;
#endif
#ifdef MADV_DONTDUMP
    mapping->is_undumpable = madvise(memory, size, MADV_DONTDUMP) == 0;
#endif
    fortuna_page_lock(mapping);
    return 0;
}

void fortuna_page_lock(struct fortuna_mapping *mapping)
{
    /* Refused where RLIMIT_MEMLOCK is used up; statistics say so, nothing else changes. */
    mapping->is_locked = mlock(mapping->memory, mapping->size) == 0;
}

void fortuna_page_unmap(struct fortuna_mapping *mapping)
{
    if (mapping->memory == NULL)
        return;
    fortuna_wipe(mapping->memory, mapping->size);
    munmap(mapping->memory, mapping->size);
    mapping->memory = NULL;
}
