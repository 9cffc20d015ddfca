/*
 * RDSEED and RDRAND, as inline assembler: unlike the compiler's intrinsics it
 * needs no instruction set flag, so this file also serves processors that have
 * neither.
 */
#include "cpu_random.h"

#include "wipe.h"

#if defined(__x86_64__) || defined(__i386__)
#define PAUSE() __asm__ volatile("pause")
#else
#define PAUSE() ((void)0)
#endif

FORTUNA_SECRET int fortuna_cpu_random_fill(fortuna_cpu_draw *draw, uint8_t out[FORTUNA_CPU_RANDOM_SIZE])
{
    uint64_t word;
    size_t filled = 0;

    for (int refusals = 0; filled < FORTUNA_CPU_RANDOM_SIZE && refusals < FORTUNA_CPU_RANDOM_REFUSALS;) {
        if (draw(&word)) {
            memcpy(out + filled, &word, sizeof word);
            filled += sizeof word;
        } else {
            refusals++;
            PAUSE(); /* leaves the noise source to the other threads of this core */
        }
    }
    fortuna_wipe(&word, sizeof word);
    if (filled < FORTUNA_CPU_RANDOM_SIZE) {
        fortuna_wipe(out, FORTUNA_CPU_RANDOM_SIZE);
        return 0;
    }
    return 1;
}

#if defined(__x86_64__)

static FORTUNA_SECRET int rdseed(uint64_t *word)
{
    uint8_t carry;
    __asm__ volatile("rdseed %0\n\tsetc %1" : "=r"(*word), "=qm"(carry) : : "cc");
    return carry;
}

static FORTUNA_SECRET int rdrand(uint64_t *word)
{
    uint8_t carry;
    __asm__ volatile("rdrand %0\n\tsetc %1" : "=r"(*word), "=qm"(carry) : : "cc");
    return carry;
}

#elif defined(__i386__)

#define rdseed NULL /* cpu.c says why */

static FORTUNA_SECRET int rdrand(uint64_t *word)
{
    uint32_t low, high;
    uint8_t carry_low, carry_high;
    __asm__ volatile("rdrand %0\n\tsetc %1" : "=r"(low), "=qm"(carry_low) : : "cc");
    __asm__ volatile("rdrand %0\n\tsetc %1" : "=r"(high), "=qm"(carry_high) : : "cc");
    *word = (uint64_t)high << 32 | low;
    return carry_low & carry_high;
}

#else

#define rdseed NULL
#define rdrand NULL

#endif

fortuna_cpu_draw *fortuna_cpu_random_draw(struct fortuna_cpu cpu, uint32_t feature)
{
    if (cpu.features & feature & FORTUNA_CPU_RDSEED)
        return rdseed;
    if (cpu.features & feature & FORTUNA_CPU_RDRAND)
        return rdrand;
    return NULL;
}
