/*
 * ChaCha for two blocks.  Part of chacha.h.
 *
 * A small request needs two blocks: one of output and one that holds the next
 * key.  With so few, the lanes of chacha.h would idle.  Here a register holds a
 * *row* of one block's matrix, so a quarter round on four rows does all four
 * columns at once; turning the rows by 1, 2 and 3 places brings the diagonals
 * under each other, and turning them back restores the columns.  Time is then
 * the latency of one long chain of dependent steps, not their number, and a
 * second block runs in the gaps of the first, almost for free.
 *
 * Usually rows b, c and d are turned and a stays.  What counts is only their
 * relative position, so here b stays and c, d and a are turned by 1, 2 and 3:
 * b is the last word that a quarter round finishes and the first that the next
 * one waits for, and this way no shuffle lies between the two.
 */

FORTUNA_INLINE quad load_quad(const uint8_t *bytes)
{
    return (quad){fortuna_load_le32(bytes), fortuna_load_le32(bytes + 4),
                  fortuna_load_le32(bytes + 8), fortuna_load_le32(bytes + 12)};
}

FORTUNA_INLINE quad counter_quad(struct fortuna_counter c)
{
    return (quad){(uint32_t)c.low, (uint32_t)(c.low >> 32), (uint32_t)c.high, (uint32_t)(c.high >> 32)};
}

/* Lane i of the result is lane i + places (mod 4) of q. */
#define TURN(q, places) \
    FORTUNA_SHUFFLE(quad, q, q, (places) % 4, (1 + (places)) % 4, (2 + (places)) % 4, (3 + (places)) % 4)

/* The rounds on two states, rows x[0..3] and x[4..7]. */
FORTUNA_INLINE void pair_rounds(quad x[8], int rounds)
{
    for (int r = 0; r < rounds; r += 2) {
        QUARTER_ROUNDS(quad, x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]);
        for (int i = 0; i < 8; i += 4) {
            x[i] = TURN(x[i], 3);
            x[i + 2] = TURN(x[i + 2], 1);
            x[i + 3] = TURN(x[i + 3], 2);
        }
        QUARTER_ROUNDS(quad, x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]);
        for (int i = 0; i < 8; i += 4) {
            x[i] = TURN(x[i], 1);
            x[i + 2] = TURN(x[i + 2], 3);
            x[i + 3] = TURN(x[i + 3], 2);
        }
    }
}

/* Blocks C and C + 1, as rows. */
FORTUNA_INLINE void pair(quad x[8], const uint8_t key[32], struct fortuna_counter c, int rounds)
{
    quad first = {constants[0], constants[1], constants[2], constants[3]};
    quad count[2] = {counter_quad(c), counter_quad(fortuna_counter_plus(c, 1))};

    for (int i = 0; i < 2; i++) {
        x[4 * i] = first;
        x[4 * i + 1] = load_quad(key);
        x[4 * i + 2] = load_quad(key + 16);
        x[4 * i + 3] = count[i];
    }
    pair_rounds(x, rounds);
    for (int i = 0; i < 2; i++) {
        x[4 * i] += first;
        x[4 * i + 1] += load_quad(key);
        x[4 * i + 2] += load_quad(key + 16);
        x[4 * i + 3] += count[i];
    }
}
