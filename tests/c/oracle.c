/* See oracle.h. */
#include "oracle.h"

#include <stdlib.h>
#include <string.h>

void oracle_advance(uint8_t counter[16], uint64_t blocks)
{
    unsigned carry = 0;
    for (int i = 0; i < 16; i++) {
        carry += counter[i] + (i < 8 ? (unsigned)(blocks >> (8 * i) & 0xff) : 0);
        counter[i] = (uint8_t)carry;
        carry >>= 8;
    }
}

/* ChaCha: RFC 8439 2.1 to 2.3. */

static uint32_t word(const uint8_t *b)
{
    return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static void put(uint8_t *b, uint32_t w)
{
    for (int i = 0; i < 4; i++)
        b[i] = (uint8_t)(w >> (8 * i));
}

static uint32_t left(uint32_t w, int bits)
{
    return w << bits | w >> (32 - bits);
}

static void quarter_round(uint32_t x[16], int a, int b, int c, int d)
{
    x[a] += x[b], x[d] = left(x[d] ^ x[a], 16);
    x[c] += x[d], x[b] = left(x[b] ^ x[c], 12);
    x[a] += x[b], x[d] = left(x[d] ^ x[a], 8);
    x[c] += x[d], x[b] = left(x[b] ^ x[c], 7);
}

static void chacha_state(uint32_t x[16], const uint8_t key[32], const uint8_t tail[16])
{
    for (int i = 0; i < 4; i++) {
        x[i] = word((const uint8_t *)"expand 32-byte k" + 4 * i);
        x[4 + i] = word(key + 4 * i);
        x[8 + i] = word(key + 16 + 4 * i);
        x[12 + i] = word(tail + 4 * i);
    }
}

static void chacha_rounds(uint32_t x[16], int rounds)
{
    for (int r = 0; r < rounds; r++) /* odd rounds work on the diagonals */
        for (int i = 0; i < 4; i++)
            quarter_round(x, i, 4 + (i + r % 2) % 4, 8 + (i + r % 2 * 2) % 4, 12 + (i + r % 2 * 3) % 4);
}

static void chacha_block(int rounds, const uint8_t key[32], const uint8_t counter[16], uint8_t out[64])
{
    uint32_t x[16], start[16];
    chacha_state(start, key, counter);
    memcpy(x, start, sizeof x);
    chacha_rounds(x, rounds);
    for (int i = 0; i < 16; i++)
        put(out + 4 * i, x[i] + start[i]);
}

void oracle_hchacha(int rounds, const uint8_t key[32], const uint8_t nonce[16], uint8_t subkey[32])
{
    uint32_t x[16];
    chacha_state(x, key, nonce);
    chacha_rounds(x, rounds);
    for (int i = 0; i < 4; i++) {
        put(subkey + 4 * i, x[i]);
        put(subkey + 16 + 4 * i, x[12 + i]);
    }
}

/* AES-256: FIPS 197 5.1 and 5.2, the S-box from its definition. */

static uint8_t multiply(uint8_t a, uint8_t b)
{
    uint8_t product = 0;
    for (; b; b >>= 1, a = (uint8_t)(a << 1 ^ (a >> 7) * 0x1b))
        product ^= (uint8_t)(b & 1 ? a : 0);
    return product;
}

static uint8_t substitute(uint8_t byte)
{
    uint8_t inverse = 1, result;
    for (int i = 0; i < 254; i++) /* x^254 is 1/x, and 0 for 0 */
        inverse = multiply(inverse, byte);
    result = inverse ^ 0x63;
    for (int i = 1; i <= 4; i++)
        result ^= (uint8_t)(inverse << i | inverse >> (8 - i));
    return result;
}

static void aes256_block(const uint8_t key[32], const uint8_t counter[16], uint8_t s[16])
{
    static uint8_t box[256]; /* computed at first use: the tests have one thread */
    uint8_t w[240], t[16], rcon = 1;
    if (box[0] == 0)
        for (int i = 0; i < 256; i++)
            box[i] = substitute((uint8_t)i);

    memcpy(w, key, 32);
    for (int i = 32; i < 240; i += 4) {
        memcpy(t, w + i - 4, 4);
        if (i % 32 == 0) {
            uint8_t first = t[0];
            t[0] = box[t[1]] ^ rcon, t[1] = box[t[2]], t[2] = box[t[3]], t[3] = box[first];
            rcon = (uint8_t)(rcon << 1);
        } else if (i % 32 == 16) {
            for (int j = 0; j < 4; j++)
                t[j] = box[t[j]];
        }
        for (int j = 0; j < 4; j++)
            w[i + j] = w[i + j - 32] ^ t[j];
    }
    for (int i = 0; i < 16; i++)
        s[i] = counter[i] ^ w[i];
    for (int r = 1; r <= 14; r++) {
        for (int i = 0; i < 16; i++) /* SubBytes and ShiftRows */
            t[i] = box[s[(i + 4 * (i % 4)) % 16]];
        for (int i = 0; i < 16; i++) { /* MixColumns, but for the last round, and the key */
            const uint8_t *c = t + i / 4 * 4;
            uint8_t mixed = multiply(c[i % 4], 2) ^ multiply(c[(i + 1) % 4], 3) ^ c[(i + 2) % 4] ^ c[(i + 3) % 4];
            s[i] = (r < 14 ? mixed : t[i]) ^ w[16 * r + i];
        }
    }
}

void oracle_keystream(const char *cipher, const uint8_t key[32], const uint8_t start[16], uint8_t *out, size_t n)
{
    static const uint8_t zero[16];
    uint8_t counter[16], subkey[32], block[ORACLE_MAX_BLOCK];
    int aes = strcmp(cipher, "aes256-icm") == 0;
    size_t size = aes ? 16 : 64;
    int rounds = aes ? 0 : atoi(strstr(cipher, "chacha") + 6);

    memcpy(counter, start, sizeof counter);
    if (cipher[0] == 'x') {
        oracle_hchacha(rounds, key, zero, subkey);
        key = subkey;
    }
    while (n > 0) {
        size_t part = n < size ? n : size;
        if (aes)
            aes256_block(key, counter, block);
        else
            chacha_block(rounds, key, counter, block);
        memcpy(out, block, part);
        oracle_advance(counter, 1);
        out += part, n -= part;
    }
}

void oracle_request(const char *cipher, size_t block_size, uint8_t key[32], uint8_t counter[16], uint8_t *out,
                    size_t n)
{
    uint8_t next[32];
    if (n == 0)
        return;
    oracle_keystream(cipher, key, counter, out, n);
    oracle_advance(counter, (n + block_size - 1) / block_size);
    oracle_keystream(cipher, key, counter, next, 32);
    oracle_advance(counter, (32 + block_size - 1) / block_size);
    memcpy(key, next, 32);
}

void oracle_erase_first(const char *cipher, uint8_t key[32], uint8_t *out, size_t n)
{
    static uint8_t stream[32 + ORACLE_LONGEST];
    const uint8_t zero[16] = {0};
    if (n == 0)
        return;
    oracle_keystream(cipher, key, zero, stream, 32 + n);
    memcpy(key, stream, 32);
    memcpy(out, stream + 32, n);
}
