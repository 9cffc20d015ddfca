/*
 * The ChaCha kernel: ChaCha8, ChaCha12 and ChaCha20 over a 128-bit counter,
 * and XChaCha8/12/20, for one instruction set.  A file of a few lines
 * (chacha_avx2.c, ...) says how many blocks lie side by side and includes this.
 *
 * The block.  ChaCha's state is sixteen 32-bit words, written as a matrix:
 *
 *       0  1  2  3      the words of "expand 32-byte k"
 *       4  5  6  7      the key K,
 *       8  9 10 11      eight little-endian words
 *      12 13 14 15      the counter C, four little-endian words
 *
 * A quarter round (RFC 8439 2.1) mixes four words by additions, exclusive ors
 * and rotations by 16, 12, 8 and 7 bits.  A double round is four of them on the
 * columns, then four on the diagonals.  After `rounds` / 2 double rounds the
 * initial state is added to the final one word by word, and the sixteen sums,
 * each least significant byte first, are the 64 bytes of the block (RFC 8439
 * 2.3).
 *
 * The counter.  RFC 8439 counts in word 12 and calls words 13 to 15 a nonce;
 * others count in words 12 and 13.  Here all four words are one number: block
 * i of a keystream that starts at C has words 12..15 = LE128(C + i mod 2^128).
 * Wherever the shorter counters do not wrap, the keystreams agree, so their
 * published vectors hold here too.  The carry into words 13, 14 and 15 is the
 * part that vectorised ChaChas have most often got wrong, so each lane does a
 * whole 128-bit addition (count_lanes) and nothing assumes that a batch stays
 * clear of a boundary.
 *
 * Side by side.  The four quarter rounds of one block depend on each other
 * through every double round, but blocks do not depend on each other at all.
 * So a vector register holds the *same* state word of LANES consecutive blocks,
 * one in each lane, and the sixteen registers x[0..15] hold LANES blocks:
 *
 *               lane 0    lane 1    lane 2   ...
 *       x[0]    block C   block C+1 block C+2     their word 0
 *       x[1]    block C   block C+1 block C+2     their word 1
 *       ...
 *
 * The rounds then read like the RFC, with no shuffling between columns and
 * diagonals.  The price is one transposition at the end, since a block's words
 * must be adjacent in memory (chacha_write.h).  A request of one or two blocks
 * would leave most lanes idle: chacha_pair.h serves two with rows in registers,
 * chacha_single.h serves one with words.
 *
 * Where there are 32 registers, two such states go through the rounds together.
 * Additions and rotations that take two cycles leave half of a processor idle
 * behind one state's dependencies; with the second, ChaCha20 on a Zen 5 rose from
 * 7.4 to 10.8 GB/s.  With 16 registers one state fills them all.
 *
 * Byte order.  Words are loaded and stored through counter.h, and lanes are
 * addressed by number, so the code is right on machines of either byte order.
 *
 * Source: RFC 8439 2.1 to 2.3; D. J. Bernstein, "ChaCha, a variant of
 * Salsa20" (the family of round counts); draft-irtf-cfrg-xchacha 2.2.
 *
 * The including file defines
 *   CHACHA_SET        the fortuna_kernel_set to define
 *   CHACHA_NAME       the name that the kernels bear
 *   CHACHA_FEATURES   the processor features that they need
 * and either
 *   CHACHA_LANES      blocks side by side in a register: 1, 4, 8 or 16
 *   CHACHA_STATES     sets of sixteen registers that go through the rounds together
 *   CHACHA_SHUFFLES   1 where a byte shuffle beats two shifts and an or for
 *                     the rotations by 16 and 8, else 0
 * or, if this build cannot have the kernel,
 *   CHACHA_ABSENT     the reason.
 */
#include "cpu.h"
#include "kernels.h"

#ifdef CHACHA_ABSENT

const struct fortuna_kernel_set CHACHA_SET = {"chacha", CHACHA_NAME, CHACHA_FEATURES, 0, NULL, CHACHA_ABSENT};

#else

#include "counter.h"
#include "vector.h"
#include "wipe.h"

enum {
    BLOCK = 64, /* bytes */
    LANES = CHACHA_LANES,
    STATES = CHACHA_STATES,
    BATCH_BLOCKS = STATES * LANES,
    BATCH = BATCH_BLOCKS * BLOCK
};

/* One state word of LANES blocks, and four words of one block. */
typedef uint32_t row __attribute__((vector_size(4 * CHACHA_LANES)));
typedef uint32_t quad __attribute__((vector_size(16)));

/* RFC 8439 2.3: the first row, "expa" "nd 3" "2-by" "te k". */
static const uint32_t constants[4] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};

/*
 * Index lists for shuffles.  The wide instruction sets shuffle within groups of
 * 128 bits, so every list is one group's list, repeated with an offset.
 */
#if CHACHA_LANES == 16
#define ROW_GROUPS(list, size) list(0), list(size), list(2 * size), list(3 * size)
#elif CHACHA_LANES == 8
#define ROW_GROUPS(list, size) list(0), list(size)
#else
#define ROW_GROUPS(list, size) list(0)
#endif

#if CHACHA_SHUFFLES
/* Rotating a word left by 16 or 8 bits moves whole bytes. */
typedef uint8_t row_bytes __attribute__((vector_size(4 * CHACHA_LANES)));
typedef uint8_t quad_bytes __attribute__((vector_size(16)));
#define LEFT_16(g) g + 2, g + 3, g, g + 1, g + 6, g + 7, g + 4, g + 5, \
                   g + 10, g + 11, g + 8, g + 9, g + 14, g + 15, g + 12, g + 13
#define LEFT_8(g) g + 3, g, g + 1, g + 2, g + 7, g + 4, g + 5, g + 6, \
                  g + 11, g + 8, g + 9, g + 10, g + 15, g + 12, g + 13, g + 14
#define ROTATE_BYTES(type, x, list) \
    (type)FORTUNA_SHUFFLE(type##_bytes, (type##_bytes)(x), (type##_bytes)(x), list)
#define ROTATE_16(type, x) ROTATE_BYTES(type, x, type##_list(LEFT_16))
#define ROTATE_8(type, x) ROTATE_BYTES(type, x, type##_list(LEFT_8))
#define row_list(list) ROW_GROUPS(list, 16)
#define quad_list(list) list(0)
#else
#define ROTATE_16(type, x) ROTATE(x, 16)
#define ROTATE_8(type, x) ROTATE(x, 8)
#endif
#define ROTATE(x, bits) ((x) << (bits) | (x) >> (32 - (bits)))

/* Two quarter rounds (RFC 8439 2.1) on vectors of `type`, row for a batch and
 * quad for a pair.  They are written step beside step, so that the processor
 * finds the second where the first makes it wait. */
#define QUARTER_ROUNDS(type, a, b, c, d, e, f, g, h)                                        \
    do {                                                                                    \
        a += b, e += f, d ^= a, h ^= e, d = ROTATE_16(type, d), h = ROTATE_16(type, h);     \
        c += d, g += h, b ^= c, f ^= g, b = ROTATE(b, 12), f = ROTATE(f, 12);               \
        a += b, e += f, d ^= a, h ^= e, d = ROTATE_8(type, d), h = ROTATE_8(type, h);       \
        c += d, g += h, b ^= c, f ^= g, b = ROTATE(b, 7), f = ROTATE(f, 7);                 \
    } while (0)

/* A vector with `word` in every lane. */
FORTUNA_INLINE row splat(uint32_t word)
{
    return (row){0} + word;
}

/* Words 12..15 of LANES blocks: lane i gets C + i, all 128 bits of it.
 * A lane carries out of word 12 where the sum came out below its summand, and
 * out of a higher word where a carry came in and left zero. */
FORTUNA_INLINE void count_lanes(row counter[4], struct fortuna_counter c)
{
    static const uint32_t numbers[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    row lane, carry;
    memcpy(&lane, numbers, sizeof lane);

    counter[0] = splat((uint32_t)c.low) + lane;
    carry = (row)(counter[0] < lane);
    counter[1] = splat((uint32_t)(c.low >> 32)) - carry;
    carry &= (row)(counter[1] == splat(0));
    counter[2] = splat((uint32_t)c.high) - carry;
    carry &= (row)(counter[2] == splat(0));
    counter[3] = splat((uint32_t)(c.high >> 32)) - carry;
}

#include "chacha_write.h"

/* The key's two rows and the constants, in every lane: added before the rounds
 * to zero and after them to the result (RFC 8439 2.3). */
FORTUNA_INLINE void add_start(row x[16], const uint8_t key[32], const row counter[4])
{
    for (int i = 0; i < 4; i++) {
        x[i] += splat(constants[i]);
        x[4 + i] += splat(fortuna_load_le32(key + 4 * i));
        x[8 + i] += splat(fortuna_load_le32(key + 16 + 4 * i));
        x[12 + i] += counter[i];
    }
}

#define FOR_STATES for (int s = 0; s < STATES; s++)

/* STATES * LANES blocks, the first being number C. */
static FORTUNA_SECRET void batch(uint8_t *out, const uint8_t key[32], struct fortuna_counter c, int rounds)
{
    row x[STATES][16] = {0}, counter[STATES][4];

    FOR_STATES {
        count_lanes(counter[s], fortuna_counter_plus(c, (uint64_t)(s * LANES)));
        add_start(x[s], key, counter[s]);
    }
    for (int r = 0; r < rounds; r += 2) {
        FOR_STATES QUARTER_ROUNDS(row, x[s][0], x[s][4], x[s][8], x[s][12], x[s][1], x[s][5], x[s][9], x[s][13]);
        FOR_STATES QUARTER_ROUNDS(row, x[s][2], x[s][6], x[s][10], x[s][14], x[s][3], x[s][7], x[s][11], x[s][15]);

        FOR_STATES QUARTER_ROUNDS(row, x[s][0], x[s][5], x[s][10], x[s][15], x[s][1], x[s][6], x[s][11], x[s][12]);
        FOR_STATES QUARTER_ROUNDS(row, x[s][2], x[s][7], x[s][8], x[s][13], x[s][3], x[s][4], x[s][9], x[s][14]);
    }
    FOR_STATES {
        add_start(x[s], key, counter[s]);
        write_lanes(out + s * LANES * BLOCK, x[s]);
    }
}

#include "chacha_single.h"
#include "chacha_pair.h"
#include "chacha_calls.h"

#endif
