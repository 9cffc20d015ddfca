/*
 * What the processor can do, as a value.
 *
 * Detection returns a set of features; everything that chooses a kernel takes
 * such a set as an argument.  So a test can pose as any machine, and there is no
 * switch that holds for a whole process.
 *
 * A feature counts as present only if the operating system also saves the
 * registers it uses: a kernel that runs AVX2 under a system that does not save
 * the upper halves of the YMM registers computes garbage after a task switch.
 */
#ifndef FORTUNA_CPU_H
#define FORTUNA_CPU_H

#include <stddef.h>
#include <stdint.h>

/* Each bit stands for all the extensions that the kernels behind it use. */
enum {
    FORTUNA_CPU_SSSE3 = 1 << 0,
    FORTUNA_CPU_AVX2 = 1 << 1,
    FORTUNA_CPU_AVX512 = 1 << 2, /* AVX-512F and AVX-512VL */
    FORTUNA_CPU_AESNI = 1 << 3,  /* AES-NI and SSE4.2 */
    FORTUNA_CPU_VAES = 1 << 4,   /* VAES on the vectors that AVX2 or AVX512 grants */
    FORTUNA_CPU_NEON = 1 << 5,
    FORTUNA_CPU_ARMV8_AES = 1 << 6,
    FORTUNA_CPU_RDRAND = 1 << 7, /* the random generator of the processor, for cpu_random.h */
    FORTUNA_CPU_RDSEED = 1 << 8  /* and what it is seeded from; in its 64-bit form only */
};

struct fortuna_cpu {
    uint32_t features;
};

/* Ask the processor and the operating system.  Not free where a hypervisor traps
 * CPUID (16 microseconds measured), so ask once and pass the answer on. */
struct fortuna_cpu fortuna_cpu_detect(void);

/* The name of the first feature in `required` that `cpu` lacks, or null. */
const char *fortuna_cpu_lacks(struct fortuna_cpu cpu, uint32_t required);

#endif
