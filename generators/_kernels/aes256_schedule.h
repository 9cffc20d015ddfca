/*
 * AES-256's key expansion, one round key at a time.  Part of aes256_icm.h.
 *
 * FIPS 197 5.2 numbers words w[0..59]; round key i is w[4i..4i+3].  For a 256-bit
 * key the first word of round key i is
 *
 *       w[4i] = w[4i-8] ^ SubWord(RotWord(w[4i-1])) ^ Rcon     for even i,
 *       w[4i] = w[4i-8] ^ SubWord(w[4i-1])                     for odd i,
 *
 * and each further word is w[j] = w[j-8] ^ w[j-1].  Written out, all four words
 * of round key i hold that same SubWord term, added to the running exclusive or
 * of round key i-2.  So
 *
 *       k[i] = prefix(k[i-2]) ^ Rcon ^ (SubWord term in all four words),
 *
 * and the last two steps are the AES instruction for a *last* round: it does
 * SubBytes and ShiftRows and adds a key.  With four equal columns ShiftRows
 * changes nothing, and prefix(k[i-2]) ^ Rcon is known one step ahead.  A step of
 * the chain is then one shuffle and one round, about 5 cycles, where the
 * instruction made for the purpose takes twice as long.
 */

/* Word j of the result is x[0] ^ ... ^ x[j]. */
FORTUNA_INLINE block prefix(block key)
{
    const words zero = {0};
    words x = (words)key;
    x ^= FORTUNA_SHUFFLE(words, x, zero, 4, 0, 1, 2);
    x ^= FORTUNA_SHUFFLE(words, x, zero, 4, 5, 0, 1);
    return (block)x;
}

/* RotWord on bytes 12..15, in the same shuffle that spreads them to all words. */
#define LAST_WORD_ROTATED 13, 14, 15, 12

/* Round key i from the two before it; `rcon` is Rcon[i / 2] (5.2, table 5),
 * which stands in the first byte of its word. */
FORTUNA_INLINE block even_round_key(block two_back, block one_back, uint32_t rcon)
{
    bytes last = FORTUNA_SHUFFLE(bytes, (bytes)one_back, (bytes)one_back, LAST_WORD_ROTATED, LAST_WORD_ROTATED,
                                 LAST_WORD_ROTATED, LAST_WORD_ROTATED);
    return AES_BLOCK_LAST((block)last, prefix(two_back) ^ (block)((words){0} + rcon));
}

FORTUNA_INLINE block odd_round_key(block two_back, block one_back)
{
    words last = FORTUNA_SHUFFLE(words, (words)one_back, (words)one_back, 3, 3, 3, 3);
    return AES_BLOCK_LAST((block)last, prefix(two_back));
}
