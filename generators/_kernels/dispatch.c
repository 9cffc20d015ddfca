/* The table of kernels and the two ways to look something up in it. */
#include "dispatch.h"

#include <string.h>

/* Best first within a family.  The order is by bulk speed, measured: no
 * processor is known on which a wider kernel is the slower at that.  Requests
 * of some hundred bytes may be: a wide kernel makes whole batches. */
const struct fortuna_kernel_set *const fortuna_kernel_sets[] = {
    &fortuna_aes256_icm_vaes512,
    &fortuna_aes256_icm_vaes,
    &fortuna_aes256_icm_aesni,
    &fortuna_aes256_icm_armv8,
    &fortuna_chacha_avx512,
    &fortuna_chacha_avx2,
    &fortuna_chacha_ssse3,
    &fortuna_chacha_neon,
    &fortuna_chacha_portable,
    NULL,
};

static const struct fortuna_kernel *in_set(const struct fortuna_kernel_set *set, const char *cipher)
{
    for (size_t i = 0; i < set->count; i++)
        if (strcmp(set->kernels[i].cipher, cipher) == 0)
            return &set->kernels[i];
    return NULL;
}

const struct fortuna_kernel *fortuna_kernel_next(const char *cipher, struct fortuna_cpu cpu,
                                                 const struct fortuna_kernel *after)
{
    int passed = after == NULL;
    for (const struct fortuna_kernel_set *const *set = fortuna_kernel_sets; *set != NULL; set++) {
        const struct fortuna_kernel *kernel = in_set(*set, cipher);
        if (kernel == NULL || fortuna_cpu_lacks(cpu, (*set)->features) != NULL)
            continue;
        if (passed)
            return kernel;
        passed = kernel == after;
    }
    return NULL;
}

/* Whether `cipher` is of the set's family: an absent set has no kernels to ask.
 * A family's name is its cipher's name, or that name without "x" and rounds. */
static int in_family(const struct fortuna_kernel_set *set, const char *cipher)
{
    const char *stem = *cipher == 'x' ? cipher + 1 : cipher;
    return strncmp(stem, set->family, strlen(set->family)) == 0;
}

enum fortuna_kernel_status fortuna_kernel_find(const char *cipher, const char *name, struct fortuna_cpu cpu,
                                               const struct fortuna_kernel **kernel, const char **detail)
{
    *kernel = NULL;
    *detail = NULL;
    for (const struct fortuna_kernel_set *const *set = fortuna_kernel_sets; *set != NULL; set++) {
        if (strcmp((*set)->name, name) != 0 || !in_family(*set, cipher))
            continue;
        if ((*set)->count == 0) {
            *detail = (*set)->absent;
            return FORTUNA_KERNEL_NOT_BUILT;
        }
        const struct fortuna_kernel *found = in_set(*set, cipher);
        if (found == NULL)
            return FORTUNA_KERNEL_UNKNOWN;
        *detail = fortuna_cpu_lacks(cpu, (*set)->features);
        if (*detail != NULL)
            return FORTUNA_KERNEL_UNSUPPORTED;
        *kernel = found;
        return FORTUNA_KERNEL_FOUND;
    }
    return FORTUNA_KERNEL_UNKNOWN;
}
