/*
 * ChaCha for one block, and HChaCha.  Part of chacha.h.
 *
 * Fast key erasure gives up to 32 bytes from one block, and HChaCha is the
 * rounds of one.  The sixteen words then have nothing beside them, and time is
 * the latency of the longest chain of dependent steps: twelve to a round.
 * General registers go along that chain faster than vectors do: a rotation is
 * one instruction there, where most vectors need two or three, and between
 * columns and diagonals nothing has to be turned, only named.  On a Zen 5, whose
 * vector additions take two cycles, one block of ChaCha20 takes 60 ns this way
 * and 100 ns as the rows of chacha_pair.h, which for that makes two.
 */

/* RFC 8439 2.1, on words. */
#define QUARTER_ROUND(a, b, c, d)                                                                           \
    (a += b, d ^= a, d = ROTATE(d, 16), c += d, b ^= c, b = ROTATE(b, 12), a += b, d ^= a, d = ROTATE(d, 8), \
     c += d, b ^= c, b = ROTATE(b, 7))

FORTUNA_INLINE void single_rounds(uint32_t x[16], int rounds)
{
    for (int r = 0; r < rounds; r += 2) {
        for (int i = 0; i < 4; i++)
            QUARTER_ROUND(x[i], x[4 + i], x[8 + i], x[12 + i]);
        for (int i = 0; i < 4; i++)
            QUARTER_ROUND(x[i], x[4 + (i + 1) % 4], x[8 + (i + 2) % 4], x[12 + (i + 3) % 4]);
    }
}

/* Constants and key, counter and nonce being zero: added before the rounds to
 * zero and after them to the result (RFC 8439 2.3). */
FORTUNA_INLINE void single_add_start(uint32_t x[16], const uint8_t key[32])
{
    for (int i = 0; i < 4; i++)
        x[i] += constants[i];
    for (int i = 0; i < 8; i++)
        x[4 + i] += fortuna_load_le32(key + 4 * i);
}

/* Block 0, its two halves to two places.  The first may be where the key is. */
FORTUNA_INLINE void single(uint8_t first[32], uint8_t second[32], const uint8_t key[32], int rounds)
{
    uint32_t x[16] = {0};

    single_add_start(x, key);
    single_rounds(x, rounds);
    single_add_start(x, key);
    for (int i = 0; i < 8; i++) {
        fortuna_store_le32(first + 4 * i, x[i]);
        fortuna_store_le32(second + 4 * i, x[8 + i]);
    }
}

/* HChaCha (draft-irtf-cfrg-xchacha 2.2) with an all-zero nonce: the rounds
 * without the final addition; the first and last row are the subkey. */
FORTUNA_INLINE void hchacha(uint8_t subkey[32], const uint8_t key[32], int rounds)
{
    uint32_t x[16] = {0};

    single_add_start(x, key);
    single_rounds(x, rounds);
    for (int i = 0; i < 4; i++) {
        fortuna_store_le32(subkey + 4 * i, x[i]);
        fortuna_store_le32(subkey + 16 + 4 * i, x[12 + i]);
    }
}
