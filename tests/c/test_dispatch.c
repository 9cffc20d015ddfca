/*
 * Detection, choice and self-test.  The processor is a value, so this program
 * poses as several of them; and it breaks kernels to see the self-test notice.
 */
#include "check.h"
#include "selftest.h"

static const struct fortuna_kernel *genuine;

static void wrong_lane(const void *schedule, const uint8_t counter[16], uint8_t *out, size_t n)
{
    /* One bit, in one lane, of batches after the first only. */
    genuine->keystream(schedule, counter, out, n);
    if (n > 20 * genuine->block_size)
        out[19 * genuine->block_size] ^= 1;
}

static void wrong_key(uint8_t key[32], uint8_t counter[16], uint8_t *out, size_t n)
{
    genuine->request(key, counter, out, n);
    if (n == 97)
        key[31] ^= 0x80;
}

static void wrong_erasure(uint8_t key[32], uint8_t *out, size_t n)
{
    genuine->erase_first(key, out, n);
    if (n == 33)
        out[32] ^= 1;
}

static void selftest(const struct fortuna_kernel *kernel)
{
    struct fortuna_kernel broken = *kernel;

    check_true(check_label(kernel), fortuna_kernel_selftest(kernel) == FORTUNA_SELFTEST_PASSED);

    genuine = kernel;
    broken.keystream = wrong_lane;
    check_true("a wrong lane is noticed", fortuna_kernel_selftest(&broken) == FORTUNA_SELFTEST_KEYSTREAM);
    broken = *kernel;
    broken.request = wrong_key;
    check_true("a wrong next key is noticed", fortuna_kernel_selftest(&broken) == FORTUNA_SELFTEST_REQUEST);
    broken = *kernel;
    broken.erase_first = wrong_erasure;
    check_true("a wrong erasure is noticed", fortuna_kernel_selftest(&broken) == FORTUNA_SELFTEST_REQUEST);
    broken = *kernel;
    broken.cipher = "chacha6";
    check_true("an unknown cipher does not pass", fortuna_kernel_selftest(&broken) == FORTUNA_SELFTEST_NO_ANSWER);
}

/* No two kernels of a cipher may be the same code under two names. */
static void kernels_differ(void)
{
    for (const struct fortuna_kernel_set *const *a = fortuna_kernel_sets; *a; a++)
        for (const struct fortuna_kernel_set *const *b = a + 1; *b; b++)
            for (size_t i = 0; i < (*a)->count; i++)
                for (size_t j = 0; j < (*b)->count; j++)
                    if (strcmp((*a)->kernels[i].cipher, (*b)->kernels[j].cipher) == 0) {
                        check_true("names differ", strcmp((*a)->kernels[i].name, (*b)->kernels[j].name) != 0);
                        check_true("code differs", (*a)->kernels[i].keystream != (*b)->kernels[j].keystream);
                    }
}

static void choices(void)
{
    static const char *const ciphers[] = {"aes256-icm", "chacha20", "chacha12", "chacha8",
                                          "xchacha20",  "xchacha12", "xchacha8"};
    const struct fortuna_cpu none = {0}, every = {UINT32_MAX};
    const struct fortuna_kernel *kernel;
    const char *detail;

    for (size_t i = 0; i < sizeof ciphers / sizeof ciphers[0]; i++) {
        /* Every kernel that is walked can be found by its name, and each once. */
        const struct fortuna_kernel *walked = NULL, *found;
        size_t walked_count = 0, built = 0;
        while ((walked = fortuna_kernel_next(ciphers[i], every, walked)) != NULL) {
            enum fortuna_kernel_status status = fortuna_kernel_find(ciphers[i], walked->name, every, &found, &detail);
            check_true("walked kernel is found", status == FORTUNA_KERNEL_FOUND && found == walked && detail == NULL);
            check_true("schedule fits", walked->schedule_size <= FORTUNA_SCHEDULE_MAX);
            walked_count++;
        }
        for (const struct fortuna_kernel_set *const *set = fortuna_kernel_sets; *set; set++)
            for (size_t j = 0; j < (*set)->count; j++)
                built += strcmp((*set)->kernels[j].cipher, ciphers[i]) == 0;
        check_true("every kernel in the build is walked", walked_count == built);
        kernel = fortuna_kernel_next(ciphers[i], none, NULL);
        if (i == 0)
            check_true("no AES without AES instructions", kernel == NULL);
        else
            check_true("a bare processor gets portable", kernel && strcmp(kernel->name, "portable") == 0);
    }
    check_true("unknown cipher", fortuna_kernel_next("chacha7", every, NULL) == NULL);
    check_true("unknown cipher of a family", fortuna_kernel_find("chacha7", "portable", every, &kernel, &detail) ==
                                                 FORTUNA_KERNEL_UNKNOWN && kernel == NULL);
    check_true("unknown name",
               fortuna_kernel_find("chacha20", "mmx", every, &kernel, &detail) == FORTUNA_KERNEL_UNKNOWN);
    check_true("AES has no portable kernel",
               fortuna_kernel_find("aes256-icm", "portable", every, &kernel, &detail) == FORTUNA_KERNEL_UNKNOWN);
#if defined(__x86_64__)
    check_true("neon is not built here", fortuna_kernel_find("chacha8", "neon", every, &kernel, &detail) ==
                                             FORTUNA_KERNEL_NOT_BUILT && detail != NULL);
    check_true("armv8 is not built here", fortuna_kernel_find("aes256-icm", "armv8", every, &kernel, &detail) ==
                                              FORTUNA_KERNEL_NOT_BUILT && detail != NULL);
    check_true("forced beyond the processor", fortuna_kernel_find("chacha20", "avx2", none, &kernel, &detail) ==
                                                  FORTUNA_KERNEL_UNSUPPORTED && kernel == NULL &&
                                                  strcmp(detail, "AVX2") == 0);
    struct fortuna_cpu zen3 = {FORTUNA_CPU_SSSE3 | FORTUNA_CPU_AVX2 | FORTUNA_CPU_AESNI | FORTUNA_CPU_VAES};
    struct fortuna_cpu westmere = {FORTUNA_CPU_SSSE3 | FORTUNA_CPU_AESNI};
    check_true("best of AVX2", strcmp(fortuna_kernel_next("chacha20", zen3, NULL)->name, "avx2") == 0);
    check_true("best of VAES", strcmp(fortuna_kernel_next("aes256-icm", zen3, NULL)->name, "vaes") == 0);
    check_true("best of SSSE3", strcmp(fortuna_kernel_next("xchacha8", westmere, NULL)->name, "ssse3") == 0);
    check_true("best of AES-NI", strcmp(fortuna_kernel_next("aes256-icm", westmere, NULL)->name, "aesni") == 0);
    /* VAES without the wide registers, as under a system that does not save them. */
    westmere.features |= FORTUNA_CPU_VAES;
    check_true("VAES needs wide registers",
               strcmp(fortuna_kernel_next("aes256-icm", westmere, NULL)->name, "aesni") == 0);
#endif
}

int main(int argc, char **argv)
{
    if (argc == 1) {
        choices();
        kernels_differ();
    }
    return check_kernels(argc, argv, selftest);
}
