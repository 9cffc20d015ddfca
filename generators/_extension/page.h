/*
 * Memory for secrets: pages of their own.
 *
 * Of their own, because the kernel's favours are granted by the page: it is
 * wiped in a forked child (Linux, MADV_WIPEONFORK), so the child has nothing to
 * repeat and its first request sees zeros; it is left out of core dumps and
 * kept out of swap, where the system allows that.
 */
#ifndef FORTUNA_PAGE_H
#define FORTUNA_PAGE_H

#include <stddef.h>
#include <stdint.h>

struct fortuna_mapping {
    void *memory;
    size_t size;        /* whole pages */
    int wipes_on_fork;  /* the kernel zeroes it in a child */
    int is_locked;      /* mlock: never swapped out */
    int is_undumpable;  /* MADV_DONTDUMP: in no core dump */
};

/* Map zero pages for `size` bytes, which a forked child is to see as zeros again unless `keeps_on_fork`; 0, or -1
 * with errno set. */
int fortuna_page_map(struct fortuna_mapping *mapping, size_t size, int keeps_on_fork);

/* Keep it out of swap, if the system lets us. */
void fortuna_page_lock(struct fortuna_mapping *mapping);

/* Wipe it and give it back. */
void fortuna_page_unmap(struct fortuna_mapping *mapping);

#endif
