/*
 * The processor's own random generator: RDSEED and RDRAND.
 *
 * RDSEED gives conditioned bits of the noise source, RDRAND the output of a
 * generator that the noise source seeds.  Both may have nothing to give for a
 * moment and say so in the carry flag; then we ask again, a bounded number of
 * times.  That the flag is set does not make the bits good: processors are known
 * that set it and answer all ones for ever.  Whoever uses the bytes looks at
 * them (fortuna/sources/cpu.py); here is only the way to them.
 *
 * Source: Intel SDM vol. 1, 7.3.17; Intel DRNG Software Implementation Guide,
 * 5.2 and 5.3 (retries).
 */
#ifndef FORTUNA_CPU_RANDOM_H
#define FORTUNA_CPU_RANDOM_H

#include <stdint.h>

#include "cpu.h"

enum {
    FORTUNA_CPU_RANDOM_SIZE = 32, /* bytes of one event: four words */
    /* Refusals for one event after which it is given up.  RDSEED may be slow: on
     * a virtual machine of a Zen 5 server it refused 14 of 15 attempts, at two
     * microseconds each.  100 get the four words there most of the time, and
     * bound what a reader waits to 0.2 milliseconds. */
    FORTUNA_CPU_RANDOM_REFUSALS = 100
};

/* Draw one word: 1, or 0 and no word when there is none just now. */
typedef int fortuna_cpu_draw(uint64_t *word);

/* Fill `out` with four words of `draw`.  Returns 1; or 0, with `out` wiped, after too many refusals. */
int fortuna_cpu_random_fill(fortuna_cpu_draw *draw, uint8_t out[FORTUNA_CPU_RANDOM_SIZE]);

/* The instruction behind one bit of cpu.h, or null where `cpu` or this build lacks it. */
fortuna_cpu_draw *fortuna_cpu_random_draw(struct fortuna_cpu cpu, uint32_t feature);

#endif
