/*
 * The AES-256-ICM kernel: AES with a 256-bit key over a 128-bit integer counter,
 * for one kind of AES instruction.  A file of a few lines (aes256_icm_vaes.c,
 * ...) says which and includes this.
 *
 * The keystream.  Block i of a keystream that starts at C is
 *
 *       AES-256_K(LE128(C + i mod 2^128)),
 *
 * the whole block being one integer, least significant byte first.  This is
 * "integer counter mode"; the CTR of SP 800-38A, as libraries offer it, counts
 * from the other end of the block and gives another keystream.
 *
 * The cipher.  FIPS 197 derives fifteen round keys k[0..14] of 16 bytes from K
 * (section 5.2).  A block is added to k[0], goes through thirteen full rounds
 * (SubBytes, ShiftRows, MixColumns, addition of k[1..13]) and one without
 * MixColumns, which adds k[14] (section 5.1).  The processor's instructions do a
 * whole round at once, in constant time, so the round loop below is all of it.
 *
 * Side by side.  A round takes 3 or 4 cycles from operand to result, but one or
 * two can start in every cycle.  So WAYS vectors go through the rounds
 * together, each of WIDTH blocks (two with 256-bit VAES, four with 512-bit).
 *
 * The counter.  Within a batch only the low half counts up; which blocks lie
 * past its wrap is decided by comparing block numbers with the room that is
 * left, and a comparison's -1 is subtracted from the high half.  So the carry
 * takes neither a branch nor a second path that only tests at 2^64 would reach.
 *
 * Small requests.  The key of a request is used once: 32 bytes of output take
 * two blocks, the next key two more.  request_blocks() therefore makes each
 * round key, uses it on all blocks and forgets it.  The chain of round keys
 * is the longest dependency, and the rounds hide in its shadow.
 *
 * Source: FIPS 197 5.1 and 5.2; "Cryptography Engineering" 9.4 for the counter
 * and the request.
 *
 * The including file defines
 *   AES_SET, AES_NAME, AES_FEATURES   as for chacha.h
 * and, unless it defines AES_ABSENT with the reason,
 *   AES_WIDTH             blocks in a vector: 1, 2 or 4
 *   AES_ROUND(x, k)       a round on each block of the vector x, with a vector of keys
 *   AES_LAST(x, k)        the last round
 *   AES_SPREAD(k)         a vector of AES_WIDTH copies of the round key k
 *   AES_BLOCK_ROUND(x, k), AES_BLOCK_LAST(x, k)   the same on one block
 */
#include "cpu.h"
#include "kernels.h"

#ifdef AES_ABSENT

const struct fortuna_kernel_set AES_SET = {"aes256-icm", AES_NAME, AES_FEATURES, 0, NULL, AES_ABSENT};

#else

#include "counter.h"
#include "vector.h"
#include "wipe.h"

#if FORTUNA_BIG_ENDIAN
#error "the AES instructions that these kernels know work on little-endian vectors"
#endif

enum { BLOCK = 16, ROUND_KEYS = 15, WIDTH = AES_WIDTH, WAYS = 8, BATCH = WAYS * WIDTH * BLOCK };

/* One block as halves, words or bytes, and a vector of blocks. */
typedef uint64_t block __attribute__((vector_size(16)));
typedef uint32_t words __attribute__((vector_size(16)));
typedef uint8_t bytes __attribute__((vector_size(16)));
typedef uint64_t wide __attribute__((vector_size(16 * AES_WIDTH)));

#include "aes256_schedule.h"

FORTUNA_INLINE block load_block(const uint8_t *in)
{
    block b;
    memcpy(&b, in, sizeof b);
    return b;
}

FORTUNA_INLINE void store_block(uint8_t *out, block b)
{
    memcpy(out, &b, sizeof b);
}

FORTUNA_INLINE void store_wide(uint8_t *out, wide w)
{
    memcpy(out, &w, sizeof w);
}

FORTUNA_INLINE block counter_block(struct fortuna_counter c)
{
    return (block){c.low, c.high};
}

/* Per block of a vector: its number in the low half, or in the high half. */
#if AES_WIDTH == 4
#define NUMBERS_LOW(first) {first, 0, first + 1, 0, first + 2, 0, first + 3, 0}
#define NUMBERS_HIGH(first) {0, first, 0, first + 1, 0, first + 2, 0, first + 3}
#elif AES_WIDTH == 2
#define NUMBERS_LOW(first) {first, 0, first + 1, 0}
#define NUMBERS_HIGH(first) {0, first, 0, first + 1}
#else
#define NUMBERS_LOW(first) {first, 0}
#define NUMBERS_HIGH(first) {0, first}
#endif
#define EACH_WAY(f) {f(0), f(WIDTH), f(2 * WIDTH), f(3 * WIDTH), f(4 * WIDTH), f(5 * WIDTH), f(6 * WIDTH), f(7 * WIDTH)}

/* WAYS * WIDTH blocks, the first being number C. */
FORTUNA_INLINE void batch(uint8_t *out, const uint8_t *schedule, struct fortuna_counter c)
{
    static const wide numbers[WAYS] = EACH_WAY(NUMBERS_LOW), high_numbers[WAYS] = EACH_WAY(NUMBERS_HIGH);
    wide first = AES_SPREAD(counter_block(c));
    wide room = (wide){0} + ~c.low; /* block i wraps the low half exactly if i > 2^64 - 1 - low */
    wide k = AES_SPREAD(load_block(schedule));
    wide x[WAYS];

    for (int i = 0; i < WAYS; i++)
        x[i] = (first + numbers[i] - (wide)(high_numbers[i] > room)) ^ k;
    for (int r = 1; r < ROUND_KEYS - 1; r++) {
        k = AES_SPREAD(load_block(schedule + BLOCK * r));
        for (int i = 0; i < WAYS; i++)
            x[i] = AES_ROUND(x[i], k);
    }
    k = AES_SPREAD(load_block(schedule + BLOCK * (ROUND_KEYS - 1)));
    for (int i = 0; i < WAYS; i++)
        store_wide(out + sizeof(wide) * (size_t)i, AES_LAST(x[i], k));
}

/* n bytes of keystream from block C on. A rest shorter than a batch costs a
 * whole one, which the parallel rounds make no slower than a few blocks. */
static FORTUNA_SECRET void stream(const uint8_t *schedule, struct fortuna_counter c, uint8_t *out, size_t n)
{
    for (; n >= BATCH; n -= BATCH, out += BATCH) {
        batch(out, schedule, c);
        c = fortuna_counter_plus(c, WAYS * WIDTH);
        FORTUNA_FORGET(n);
    }
    if (n > 0) {
        uint8_t scratch[BATCH];
        batch(scratch, schedule, c);
        memcpy(out, scratch, n);
        fortuna_wipe(scratch, sizeof scratch);
    }
}

#include "aes256_icm_calls.h"

#endif
