/*
 * Known-answer self-test of a kernel.
 *
 * What must be pinned is not only the cipher but the place of every lane: a kernel
 * that miscounts in lane 5 alone, or carries into word 14 in the first batch
 * only, is right on every short vector.  So the two known blocks on either
 * side of a counter boundary (2^32, 2^64, 2^96, 2^128) are moved through a longer
 * stream: a keystream that starts j blocks before the boundary must have the
 * first of them in place j - 1 and the second in place j, for every j up to
 * more than the widest batch.  Each lane then has known answers on both
 * sides of every carry.
 *
 * A request must equal what keystream gives at the same counter: its bytes,
 * its next key, its next counter, for sizes on every path through it.  So must
 * one by fast key erasure, at counter 0.
 *
 * The key here is public, so nothing needs wiping.
 */
#include "selftest.h"

#include <string.h>

#include "counter.h"
#include "known_answers.h"

enum {
    WIDEST_BATCH = 32, /* blocks: VAES on 512-bit vectors */
    STREAM_BLOCKS = WIDEST_BATCH + 6,
    BOUNDARIES = 4
};

static const struct {
    const char *cipher;
    const uint8_t *answers; /* BOUNDARIES pairs of blocks */
} table[] = {
    {"aes256-icm", aes256_icm_answers}, {"chacha20", chacha20_answers},   {"chacha12", chacha12_answers},
    {"chacha8", chacha8_answers},       {"xchacha20", xchacha20_answers}, {"xchacha12", xchacha12_answers},
    {"xchacha8", xchacha8_answers},
};

/* 2^(32 (boundary + 1)) - distance, as a stored counter; modulo 2^128 the last is -distance. */
static void before_boundary(uint8_t counter[16], size_t boundary, uint32_t distance)
{
    memset(counter, 0, FORTUNA_COUNTER_SIZE);
    memset(counter, 0xff, 4 * (boundary + 1));
    fortuna_store_le32(counter, 0 - distance);
}

static int keystream_is_right(const struct fortuna_kernel *kernel, const void *schedule, const uint8_t *answers)
{
    uint8_t counter[FORTUNA_COUNTER_SIZE], out[STREAM_BLOCKS * FORTUNA_BLOCK_MAX];
    size_t size = kernel->block_size;

    for (size_t boundary = 0; boundary < BOUNDARIES; boundary++, answers += 2 * size)
        for (uint32_t place = 1; place <= WIDEST_BATCH + 4; place++) {
            before_boundary(counter, boundary, place);
            /* One byte short, so that the partial path takes its turn at the end. */
            kernel->keystream(schedule, counter, out, (place + 2) * size - 1);
            if (memcmp(out + (place - 1) * size, answers, 2 * size) != 0)
                return 0;
        }
    return 1;
}

static int request_is_right(const struct fortuna_kernel *kernel, const void *schedule, const uint8_t start_key[32])
{
    static const uint16_t sizes[] = {1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 96, 97, 128, 129, 500, 1024, 2000, 2017};
    uint8_t key[FORTUNA_KEY_SIZE], counter[FORTUNA_COUNTER_SIZE], want_counter[FORTUNA_COUNTER_SIZE];
    uint8_t want[2048 + FORTUNA_BLOCK_MAX], got[2048];
    static const uint8_t zero[FORTUNA_COUNTER_SIZE];
    size_t size = kernel->block_size;

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        size_t n = sizes[i], key_at = (size_t)fortuna_blocks(n, size) * size;
        before_boundary(counter, 3, 1); /* output, or key, on the other side of 2^128 */
        memcpy(want_counter, counter, sizeof counter);
        kernel->keystream(schedule, counter, want, key_at + FORTUNA_KEY_SIZE);
        fortuna_counter_advance(want_counter, key_at + FORTUNA_KEY_SIZE, size);

        memcpy(key, start_key, sizeof key);
        kernel->request(key, counter, got, n);
        if (memcmp(want, got, n) != 0 || memcmp(want + key_at, key, sizeof key) != 0 ||
            memcmp(want_counter, counter, sizeof counter) != 0)
            return 0;

        kernel->keystream(schedule, zero, want, FORTUNA_KEY_SIZE + n);
        memcpy(key, start_key, sizeof key);
        kernel->erase_first(key, got, n);
        if (memcmp(want, key, sizeof key) != 0 || memcmp(want + FORTUNA_KEY_SIZE, got, n) != 0)
            return 0;
    }
    return 1;
}

enum fortuna_selftest fortuna_kernel_selftest(const struct fortuna_kernel *kernel)
{
    uint8_t key[FORTUNA_KEY_SIZE], schedule[FORTUNA_SCHEDULE_MAX];

    for (size_t i = 0; i < sizeof key; i++)
        key[i] = (uint8_t)i;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (strcmp(table[i].cipher, kernel->cipher) != 0)
            continue;
        kernel->set_key(schedule, key);
        if (!keystream_is_right(kernel, schedule, table[i].answers))
            return FORTUNA_SELFTEST_KEYSTREAM;
        if (!request_is_right(kernel, schedule, key))
            return FORTUNA_SELFTEST_REQUEST;
        return FORTUNA_SELFTEST_PASSED;
    }
    return FORTUNA_SELFTEST_NO_ANSWER;
}
