/*
 * The 128-bit block counter C, and the byte order that it and the ChaCha state
 * are stored in: least significant byte first, whatever the machine's own
 * order is.  Two 64-bit halves and an explicit carry serve every target, also
 * those 32-bit ones whose compilers have no 128-bit integer.
 *
 * The counter is handled like a secret: sums and carries, no branches.
 */
#ifndef FORTUNA_COUNTER_H
#define FORTUNA_COUNTER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if !defined(__BYTE_ORDER__) || (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__ && __BYTE_ORDER__ != __ORDER_BIG_ENDIAN__)
#error "the byte order of this target is unknown"
#endif
#define FORTUNA_BIG_ENDIAN (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

struct fortuna_counter {
    uint64_t low, high;
};

static inline uint32_t fortuna_load_le32(const uint8_t *bytes)
{
    uint32_t word;
    memcpy(&word, bytes, sizeof word);
    return FORTUNA_BIG_ENDIAN ? __builtin_bswap32(word) : word;
}

static inline void fortuna_store_le32(uint8_t *bytes, uint32_t word)
{
    word = FORTUNA_BIG_ENDIAN ? __builtin_bswap32(word) : word;
    memcpy(bytes, &word, sizeof word);
}

static inline struct fortuna_counter fortuna_counter_load(const uint8_t bytes[16])
{
    struct fortuna_counter c;
    c.low = fortuna_load_le32(bytes) | (uint64_t)fortuna_load_le32(bytes + 4) << 32;
    c.high = fortuna_load_le32(bytes + 8) | (uint64_t)fortuna_load_le32(bytes + 12) << 32;
    return c;
}

static inline void fortuna_counter_store(uint8_t bytes[16], struct fortuna_counter c)
{
    fortuna_store_le32(bytes, (uint32_t)c.low);
    fortuna_store_le32(bytes + 4, (uint32_t)(c.low >> 32));
    fortuna_store_le32(bytes + 8, (uint32_t)c.high);
    fortuna_store_le32(bytes + 12, (uint32_t)(c.high >> 32));
}

/* C + blocks, modulo 2^128. */
static inline struct fortuna_counter fortuna_counter_plus(struct fortuna_counter c, uint64_t blocks)
{
    c.low += blocks;
    c.high += c.low < blocks; /* the sum is smaller than a summand exactly if it wrapped */
    return c;
}

/* Forget what is known of a size.  Where bytes and counter advance together,
 * GCC counts only one of them, and if that is the counter, the loop's end is a
 * branch on it: harmless, since it comes after the same number of turns, but
 * not to be told from a leak.  After this the loop must look at the size. */
#define FORTUNA_FORGET(size) __asm__("" : "+r"(size))

/* Blocks that n bytes take.  Not (n + size - 1) / size, which wraps at the top. */
static inline uint64_t fortuna_blocks(size_t n, size_t block_size)
{
    return (uint64_t)(n / block_size) + (n % block_size != 0);
}

/* Advance a stored counter past n bytes of keystream. */
static inline void fortuna_counter_advance(uint8_t bytes[16], size_t n, size_t block_size)
{
    fortuna_counter_store(bytes, fortuna_counter_plus(fortuna_counter_load(bytes), fortuna_blocks(n, block_size)));
}

#endif
