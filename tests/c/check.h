/*
 * What the test programs share: choosing kernels on the command line, random
 * test data that repeats, and a comparison that shows the first difference.
 *
 * Usage of every test program: NAME [KERNEL]
 *
 * Without an argument it runs every kernel that this build has and this processor
 * can run, and says which.  With one it runs that kernel of every cipher, and
 * a kernel that is missing is a failure, never a silent pass.
 */
#ifndef CHECK_H
#define CHECK_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dispatch.h"
#include "kernels.h"
#include "oracle.h"

static int check_failures;
static uint64_t check_random_state = 1;

static inline const char *check_label(const struct fortuna_kernel *kernel)
{
    static char label[64];
    snprintf(label, sizeof label, "%s/%s", kernel->cipher, kernel->name);
    return label;
}

/* Compare n bytes; on a difference print its 16-byte line, expected above actual. */
static inline int check_bytes(const char *what, const uint8_t *expected, const uint8_t *actual, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (expected[i] == actual[i])
            continue;
        size_t from = i / 16 * 16, to = from + 16 < n ? from + 16 : n;
        printf("FAILED %s: first difference in byte %zu of %zu\n  expected", what, i, n);
        for (size_t j = from; j < to; j++)
            printf(" %02x", expected[j]);
        printf("\n  actual  ");
        for (size_t j = from; j < to; j++)
            printf(" %02x", actual[j]);
        printf("\n");
        check_failures++;
        return 0;
    }
    return 1;
}

static inline void check_true(const char *what, int condition)
{
    if (!condition) {
        printf("FAILED %s\n", what);
        check_failures++;
    }
}

/* Knuth's MMIX generator: the same test data in every run and on every machine. */
static inline uint32_t check_random(void)
{
    check_random_state = check_random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(check_random_state >> 32);
}

static inline void check_random_bytes(uint8_t *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (uint8_t)(check_random() >> 24);
}

/* The counter 2^bits - distance. */
static inline void check_boundary(uint8_t counter[16], int bits, uint64_t distance)
{
    memset(counter, 0, 16);
    memset(counter, 0xff, (size_t)bits / 8);
    for (uint64_t i = distance - 1, at = 0; at < 8; at++)
        counter[at] = (uint8_t)(counter[at] ^ (uint8_t)(i >> (8 * at)));
}

/* Run `test` on the kernels that the command line asks for. */
static inline int check_kernels(int argc, char **argv, void (*test)(const struct fortuna_kernel *))
{
    struct fortuna_cpu cpu = fortuna_cpu_detect();
    int run = 0;

    for (const struct fortuna_kernel_set *const *set = fortuna_kernel_sets; *set != NULL; set++) {
        const char *lacks = fortuna_cpu_lacks(cpu, (*set)->features);
        if (argc > 1 && strcmp(argv[1], (*set)->name) != 0)
            continue;
        if ((*set)->count == 0 || lacks != NULL) {
            printf("skipped %s/%s: %s%s\n", (*set)->family, (*set)->name, (*set)->count ? "this processor lacks " : "",
                   (*set)->count ? lacks : (*set)->absent);
            continue;
        }
        for (size_t i = 0; i < (*set)->count; i++, run++)
            test(&(*set)->kernels[i]);
    }
    if (run == 0) {
        printf("FAILED no kernel was run\n");
        return 1;
    }
    printf("%s: %d kernels, %d failures\n", argv[0], run, check_failures);
    return check_failures != 0;
}

#endif
