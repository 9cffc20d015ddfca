/*
 * Kernel = oracle for every length 0..2000 and around multiples of every batch
 * size, for keystream and both kinds of request, in buffers of every alignment, with guard
 * bytes on both sides that must not change.
 */
#include "check.h"

enum { LONGEST = 5000, GUARD = 64 };

static uint8_t room[LONGEST + 3 * GUARD], want[LONGEST + 64], want_erased[LONGEST];

static int guards_hold(const uint8_t *out, size_t n)
{
    for (size_t i = 0; i < GUARD; i++)
        if (out[-1 - (ptrdiff_t)i] != 0xa5 || out[n + i] != 0xa5)
            return 0;
    return 1;
}

static void one_length(const struct fortuna_kernel *kernel, size_t n, const uint8_t key[32], const uint8_t counter[16])
{
    static uint8_t schedule_room[FORTUNA_SCHEDULE_MAX + 64], stored[2][16 + 64], keys[32 + 64];
    size_t offset = check_random() % 64;
    uint8_t *out = room + GUARD + offset, *schedule = schedule_room + check_random() % 64;
    uint8_t *c = stored[0] + check_random() % 64, *k = keys + check_random() % 64;
    uint8_t want_key[32], want_counter[16];

    memset(room, 0xa5, sizeof room);
    memset(schedule_room, 0xa5, sizeof schedule_room);
    memcpy(c, counter, 16);
    memcpy(k, key, 32);
    kernel->set_key(schedule, k);
    check_true("a block fits what callers reserve", kernel->block_size <= FORTUNA_BLOCK_MAX);
    check_true("set_key stays inside its size", schedule[kernel->schedule_size] == 0xa5);
    kernel->keystream(schedule, c, out, n);
    check_bytes(check_label(kernel), want, out, n);
    check_true("keystream leaves the guard bytes", guards_hold(out, n));
    check_bytes("keystream leaves its counter", counter, c, 16);

    memset(room, 0xa5, sizeof room);
    memcpy(want_key, key, 32);
    memcpy(want_counter, counter, 16);
    oracle_request(kernel->cipher, kernel->block_size, want_key, want_counter, want, n);
    kernel->request(k, c, out, n);
    check_bytes("request, output", want, out, n);
    check_bytes("request, next key", want_key, k, 32);
    check_bytes("request, next counter", want_counter, c, 16);
    check_true("request leaves the guard bytes", guards_hold(out, n));

    memset(room, 0xa5, sizeof room);
    memcpy(k, key, 32);
    memcpy(want_key, key, 32);
    oracle_erase_first(kernel->cipher, want_key, want_erased, n);
    kernel->erase_first(k, out, n);
    check_bytes("erase first, output", want_erased, out, n);
    check_bytes("erase first, next key", want_key, k, 32);
    check_true("erase first leaves the guard bytes", guards_hold(out, n));
}

static void lengths(const struct fortuna_kernel *kernel)
{
    static const size_t batches[] = {64, 128, 256, 512, 1024};
    uint8_t key[32], counter[16];

    check_random_bytes(key, sizeof key);
    check_random_bytes(counter, sizeof counter);
    oracle_keystream(kernel->cipher, key, counter, want, sizeof want);
    for (size_t n = 0; n <= 2000; n++)
        one_length(kernel, n, key, counter);
    for (size_t i = 0; i < sizeof batches / sizeof batches[0]; i++)
        for (size_t times = 1; times <= 4; times++)
            /* Around whole batches, and around what leaves room for a key in them. */
            for (int offset = -34; offset <= 2; offset += offset == -30 ? 28 : 1) {
                /* A fresh key and a counter close below a boundary, on either side of it. */
                static const int bits[] = {32, 64, 96, 128};
                check_random_bytes(key, sizeof key);
                check_boundary(counter, bits[check_random() % 4], 1 + check_random() % 70);
                oracle_keystream(kernel->cipher, key, counter, want, sizeof want);
                one_length(kernel, batches[i] * times + (size_t)(ptrdiff_t)offset, key, counter);
            }
}

int main(int argc, char **argv)
{
    return check_kernels(argc, argv, lengths);
}
