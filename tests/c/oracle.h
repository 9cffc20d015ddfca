/*
 * The slow oracle: each cipher written the way its standard reads, one byte or
 * word at a time.  It shares no code with the kernels, counts bytewise, and is
 * neither fast nor constant in time.  For tests only.
 */
#ifndef ORACLE_H
#define ORACLE_H

#include <stddef.h>
#include <stdint.h>

enum { ORACLE_MAX_BLOCK = 64, ORACLE_LONGEST = 8192 };

/* n bytes of `cipher`'s keystream under `key` from block `counter` (LE128) on. */
void oracle_keystream(const char *cipher, const uint8_t key[32], const uint8_t counter[16], uint8_t *out, size_t n);

/* counter += blocks, modulo 2^128, one byte after the other. */
void oracle_advance(uint8_t counter[16], uint64_t blocks);

/* HChaCha with any nonce, and plain ChaCha, for the published vectors. */
void oracle_hchacha(int rounds, const uint8_t key[32], const uint8_t nonce[16], uint8_t subkey[32]);

/* A request of Fortuna's generator, from the keystream alone. */
void oracle_request(const char *cipher, size_t block_size, uint8_t key[32], uint8_t counter[16], uint8_t *out,
                    size_t n);

/* A request of at most ORACLE_LONGEST bytes by fast key erasure, from the keystream alone. */
void oracle_erase_first(const char *cipher, uint8_t key[32], uint8_t *out, size_t n);

#endif
