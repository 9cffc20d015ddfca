/*
 * How ChaCha's lanes become bytes.  Part of chacha.h.
 *
 * After the rounds, register x[i] holds word i of LANES blocks.  In memory the
 * sixteen words of a block are adjacent, each least significant byte first.  The
 * turn is made in two steps, as shuffles within 128 bits are cheap and those
 * across are not: first 4 x 4 words within each group of four lanes, which puts
 * together quarters of blocks, then whole groups, which joins the quarters.
 */

/* Stores of whole words, least significant byte first. */
#define SWAP_BYTES(x) ((x) << 24 | ((x) << 8 & 0xff0000) | ((x) >> 8 & 0xff00) | (x) >> 24)

FORTUNA_INLINE void store_quad(uint8_t *out, quad x)
{
    x = FORTUNA_BIG_ENDIAN ? SWAP_BYTES(x) : x;
    memcpy(out, &x, sizeof x);
}

FORTUNA_INLINE void store_row(uint8_t *out, row x)
{
    x = FORTUNA_BIG_ENDIAN ? SWAP_BYTES(x) : x;
    memcpy(out, &x, sizeof x);
}

#if CHACHA_LANES == 1
FORTUNA_INLINE void write_lanes(uint8_t *out, row x[16])
{
    for (int i = 0; i < 16; i += 4)
        store_quad(out + 4 * i, (quad){x[i][0], x[i + 1][0], x[i + 2][0], x[i + 3][0]});
}
#else
#define LOW_WORDS(g) g, LANES + g, g + 1, LANES + g + 1
#define HIGH_WORDS(g) g + 2, LANES + g + 2, g + 3, LANES + g + 3
#define LOW_PAIRS(g) g, g + 1, LANES + g, LANES + g + 1
#define HIGH_PAIRS(g) g + 2, g + 3, LANES + g + 2, LANES + g + 3
#define INTERLEAVE(a, b, list) FORTUNA_SHUFFLE(row, a, b, ROW_GROUPS(list, 4))

/* Transpose four consecutive state words within each group of four lanes.
 * Before, x[i] has word i of blocks 4g + 0, 1, 2, 3 in group g; afterwards
 * x[j] has words 0, 1, 2, 3 of block 4g + j there. */
FORTUNA_INLINE void transpose_groups(row x[4])
{
    row ab_low = INTERLEAVE(x[0], x[1], LOW_WORDS), ab_high = INTERLEAVE(x[0], x[1], HIGH_WORDS);
    row cd_low = INTERLEAVE(x[2], x[3], LOW_WORDS), cd_high = INTERLEAVE(x[2], x[3], HIGH_WORDS);
    x[0] = INTERLEAVE(ab_low, cd_low, LOW_PAIRS);
    x[1] = INTERLEAVE(ab_low, cd_low, HIGH_PAIRS);
    x[2] = INTERLEAVE(ab_high, cd_high, LOW_PAIRS);
    x[3] = INTERLEAVE(ab_high, cd_high, HIGH_PAIRS);
}

#define GROUP(g) 4 * (g), 4 * (g) + 1, 4 * (g) + 2, 4 * (g) + 3
#define GROUPS(a, b, ...) FORTUNA_SHUFFLE(row, a, b, __VA_ARGS__)

/* The quarters a, b, c, d of each block lie in one group of four registers: put
 * a block's quarters together, and write group g's block to out + 4 g blocks. */
FORTUNA_INLINE void write_groups(uint8_t *out, row a, row b, row c, row d)
{
#if CHACHA_LANES == 16
    row ab = GROUPS(a, b, GROUP(0), GROUP(4), GROUP(1), GROUP(5));
    row cd = GROUPS(c, d, GROUP(0), GROUP(4), GROUP(1), GROUP(5));
    store_row(out + 0 * BLOCK, GROUPS(ab, cd, GROUP(0), GROUP(1), GROUP(4), GROUP(5)));
    store_row(out + 4 * BLOCK, GROUPS(ab, cd, GROUP(2), GROUP(3), GROUP(6), GROUP(7)));
    ab = GROUPS(a, b, GROUP(2), GROUP(6), GROUP(3), GROUP(7));
    cd = GROUPS(c, d, GROUP(2), GROUP(6), GROUP(3), GROUP(7));
    store_row(out + 8 * BLOCK, GROUPS(ab, cd, GROUP(0), GROUP(1), GROUP(4), GROUP(5)));
    store_row(out + 12 * BLOCK, GROUPS(ab, cd, GROUP(2), GROUP(3), GROUP(6), GROUP(7)));
#elif CHACHA_LANES == 8
    store_row(out, GROUPS(a, b, GROUP(0), GROUP(2)));
    store_row(out + 32, GROUPS(c, d, GROUP(0), GROUP(2)));
    store_row(out + 4 * BLOCK, GROUPS(a, b, GROUP(1), GROUP(3)));
    store_row(out + 4 * BLOCK + 32, GROUPS(c, d, GROUP(1), GROUP(3)));
#else
    store_row(out, a);
    store_row(out + 16, b);
    store_row(out + 32, c);
    store_row(out + 48, d);
#endif
}

/* From words side by side to blocks one after the other. */
FORTUNA_INLINE void write_lanes(uint8_t *out, row x[16])
{
    for (int i = 0; i < 16; i += 4)
        transpose_groups(x + i);
    for (int j = 0; j < 4; j++)
        write_groups(out + j * BLOCK, x[j], x[4 + j], x[8 + j], x[12 + j]);
}
#endif
