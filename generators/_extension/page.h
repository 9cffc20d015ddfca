/*
 * The page that K and C live on.
 *
 * A page of its own, because the kernel's favours are granted by the page: it
 * is wiped in a forked child (Linux, MADV_WIPEONFORK), so the child has nothing
 * to repeat and its first request sees zeros; it is left out of core dumps and
 * kept out of swap, where the system allows that.
 */
#ifndef FORTUNA_PAGE_H
#define FORTUNA_PAGE_H

#include <stddef.h>
#include <stdint.h>

/* All zero means: not usable, ask for attention.  This is what a child sees. */
struct fortuna_page {
    int64_t due_ns;      /* the attention word: no request is served from this time on */
    uint64_t life;       /* which life of the live generator owns K and C; 0 for none */
    uint64_t generation; /* the generation number that K was last seeded under */
    uint64_t restores;   /* and the count of restores that Python was told of */
    uint8_t key[32];     /* K */
    uint8_t counter[16]; /* C, least significant byte first; 0 for unseeded */
};

struct fortuna_mapping {
    struct fortuna_page *page;
    size_t size;
    int wipes_on_fork;  /* the kernel zeroes it in a child */
    int is_locked;      /* mlock: never swapped out */
    int is_undumpable;  /* MADV_DONTDUMP: in no core dump */
};

/* Map a zero page; 0, or -1 with errno set. */
int fortuna_page_map(struct fortuna_mapping *mapping);

/* Keep the page out of swap, if the system lets us. */
void fortuna_page_lock(struct fortuna_mapping *mapping);

/* Wipe it and give it back. */
void fortuna_page_unmap(struct fortuna_mapping *mapping);

#endif
