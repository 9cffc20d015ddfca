/*
 * Processor detection: CPUID and XGETBV on x86, the auxiliary vector or the
 * operating system's baseline on ARM.  Everywhere else the portable kernels
 * serve, and the set is empty.
 *
 * Source: Intel SDM vol. 1, 7.3.17 (random instructions), 13.3 (enabling the
 * XSAVE feature set), 14.3 and 15.2 to 15.4 (detection of AVX, AVX2 and
 * AVX-512); AMD APM vol. 3, E.3.
 */
#include "cpu.h"

#if defined(__x86_64__) || defined(__i386__)

#include <cpuid.h>

/* State components in XCR0, the register in which the system says what it saves. */
enum {
    XCR0_YMM = 0x06,                /* XMM and the upper halves of YMM */
    XCR0_ZMM = XCR0_YMM | 0xe0      /* and mask registers, upper halves of ZMM0..15, ZMM16..31 */
};

static uint32_t saved_registers(void)
{
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

/* Two bits of leaf 7 that not every <cpuid.h> names alike. */
#define LEAF7_EBX_AVX512VL (1u << 31)
#define LEAF7_ECX_VAES (1u << 9)

static int all(uint32_t word, uint32_t bits)
{
    return (word & bits) == bits;
}

struct fortuna_cpu fortuna_cpu_detect(void)
{
    struct fortuna_cpu cpu = {0};
    uint32_t a, b, d, basic_c, extended_b, extended_c, saved = 0;

    if (!__get_cpuid(1, &a, &b, &basic_c, &d))
        return cpu;
    if (!__get_cpuid_count(7, 0, &a, &extended_b, &extended_c, &d))
        extended_b = extended_c = 0;
    /* XGETBV itself is an illegal instruction unless the system has enabled it. */
    if (all(basic_c, bit_OSXSAVE | bit_AVX))
        saved = saved_registers();

    if (all(basic_c, bit_SSSE3))
        cpu.features |= FORTUNA_CPU_SSSE3;
    if (all(basic_c, bit_RDRND))
        cpu.features |= FORTUNA_CPU_RDRAND;
#if defined(__x86_64__)
    /* Some Zen 5 processors answer the 16-bit and 32-bit forms with zeros and
     * success (AMD-SB-7055), so a 32-bit program does without. */
    if (all(extended_b, bit_RDSEED))
        cpu.features |= FORTUNA_CPU_RDSEED;
#endif
    if (all(basic_c, bit_AES | bit_SSE4_2 | bit_SSSE3))
        cpu.features |= FORTUNA_CPU_AESNI;
    if (all(saved, XCR0_YMM) && all(extended_b, bit_AVX2)) {
        cpu.features |= FORTUNA_CPU_AVX2;
        if (all(extended_c, LEAF7_ECX_VAES))
            cpu.features |= FORTUNA_CPU_VAES;
    }
    if (all(saved, XCR0_ZMM) && all(extended_b, bit_AVX512F | LEAF7_EBX_AVX512VL))
        cpu.features |= FORTUNA_CPU_AVX512;
    return cpu;
}

#elif defined(__aarch64__) || defined(__arm__)

#if defined(__linux__)
#include <sys/auxv.h>
#endif

struct fortuna_cpu fortuna_cpu_detect(void)
{
    struct fortuna_cpu cpu = {0};
#if defined(__aarch64__)
    cpu.features |= FORTUNA_CPU_NEON; /* part of the base architecture */
#if defined(__APPLE__)
    cpu.features |= FORTUNA_CPU_ARMV8_AES; /* in every 64-bit Apple processor */
#elif defined(__linux__)
    if (getauxval(AT_HWCAP) & 1 << 3) /* HWCAP_AES of the 64-bit kernel interface */
        cpu.features |= FORTUNA_CPU_ARMV8_AES;
#endif
#elif defined(__linux__)
    if (getauxval(AT_HWCAP) & 1 << 12) /* HWCAP_NEON of the 32-bit kernel interface */
        cpu.features |= FORTUNA_CPU_NEON;
#endif
    return cpu;
}

#else

struct fortuna_cpu fortuna_cpu_detect(void)
{
    return (struct fortuna_cpu){0};
}

#endif

const char *fortuna_cpu_lacks(struct fortuna_cpu cpu, uint32_t required)
{
    static const struct {
        uint32_t feature;
        const char *name;
    } names[] = {
        {FORTUNA_CPU_SSSE3, "SSSE3"},   {FORTUNA_CPU_AVX2, "AVX2"},  {FORTUNA_CPU_AVX512, "AVX-512F/VL"},
        {FORTUNA_CPU_AESNI, "AES-NI"},  {FORTUNA_CPU_VAES, "VAES"},  {FORTUNA_CPU_NEON, "NEON"},
        {FORTUNA_CPU_ARMV8_AES, "ARMv8 AES"}, {FORTUNA_CPU_RDRAND, "RDRAND"}, {FORTUNA_CPU_RDSEED, "RDSEED"},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (required & names[i].feature & ~cpu.features)
            return names[i].name;
    return NULL;
}
