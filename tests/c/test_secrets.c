/*
 * No branch and no address depends on a secret.
 *
 * Key, counter and schedule are marked as undefined memory for valgrind's
 * memcheck, which follows undefined bits through every computation and reports
 * each conditional jump and each address that depends on them.  What a kernel
 * writes is undefined too, and only declared defined again when it is compared.
 * Run by build.py under valgrind; alone it only checks the values.
 *
 * Source: A. Langley, "ctgrind" (the technique).
 */
#include <valgrind/memcheck.h>

#include "check.h"

static void secrets(const struct fortuna_kernel *kernel)
{
    static const size_t sizes[] = {0,  1,  15,  16,  17,  32,  33,  64,   65,   96,
                                   97, 128, 129, 200, 256, 512, 1000, 1024, 1100, 3000};
    static const int boundaries[] = {32, 64, 96, 128};
    static uint8_t out[3000], want[3000], key[32], counter[16], schedule[FORTUNA_SCHEDULE_MAX];
    uint8_t want_key[32], want_counter[16];

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (int b = 0; b < 4; b++) {
            size_t n = sizes[i];
            check_random_bytes(key, sizeof key);
            check_boundary(counter, boundaries[b], 1 + check_random() % 5);
            memcpy(want_key, key, sizeof key);
            memcpy(want_counter, counter, sizeof counter);
            oracle_keystream(kernel->cipher, key, counter, want, n);

            VALGRIND_MAKE_MEM_UNDEFINED(key, sizeof key);
            VALGRIND_MAKE_MEM_UNDEFINED(counter, sizeof counter);
            kernel->set_key(schedule, key);
            VALGRIND_MAKE_MEM_UNDEFINED(schedule, kernel->schedule_size);
            kernel->keystream(schedule, counter, out, n);
            VALGRIND_MAKE_MEM_DEFINED(out, n);
            check_bytes(check_label(kernel), want, out, n);

            kernel->request(key, counter, out, n);
            VALGRIND_MAKE_MEM_DEFINED(out, n);
            VALGRIND_MAKE_MEM_DEFINED(key, sizeof key);
            VALGRIND_MAKE_MEM_DEFINED(counter, sizeof counter);
            oracle_request(kernel->cipher, kernel->block_size, want_key, want_counter, want, n);
            check_bytes("request, output", want, out, n);
            check_bytes("request, next key", want_key, key, sizeof key);
            check_bytes("request, next counter", want_counter, counter, sizeof counter);

            memcpy(want_key, key, sizeof key);
            VALGRIND_MAKE_MEM_UNDEFINED(key, sizeof key);
            kernel->erase_first(key, out, n);
            VALGRIND_MAKE_MEM_DEFINED(out, n);
            VALGRIND_MAKE_MEM_DEFINED(key, sizeof key);
            oracle_erase_first(kernel->cipher, want_key, want, n);
            check_bytes("erase first, output", want, out, n);
            check_bytes("erase first, next key", want_key, key, sizeof key);
        }
}

int main(int argc, char **argv)
{
    /* The proof that the method works: a branch on undefined memory must be seen. */
    if (argc > 1 && strcmp(argv[1], "--must-fail") == 0) {
        uint8_t secret = (uint8_t)check_random();
        VALGRIND_MAKE_MEM_UNDEFINED(&secret, 1);
        if (secret & 1)
            puts("odd");
        return 0;
    }
    return check_kernels(argc, argv, secrets);
}
