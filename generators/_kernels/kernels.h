/*
 * The interface of the keystream kernels.
 *
 * A kernel is one cipher compiled for one instruction set.  It is a constant
 * table of functions and sizes, knows nothing of Python and allocates nothing;
 * whoever uses it owns all memory.  Kernels keep no state of their own, so any
 * number of threads may run one kernel on different memory.
 *
 * Terms: K is a 32-byte key.  C is a 128-bit counter, stored as 16 bytes with
 * the least significant byte first.  Keystream block number C is a function of
 * K and C alone; C + 1 wraps to 0 after 2^128 - 1.  Every call starts on a
 * fresh block, and what is left of a partial last block is dropped.
 *
 * No function here fails, branches on key, counter or keystream, or uses one
 * of them as an address.  Buffers need no alignment.  Before a function returns
 * it wipes what its temporaries held of secrets; wipe.h says how, and what it
 * asks of the linker.
 *
 * What is left out on purpose: AES without AES instructions.  A table-driven
 * AES tells its key to whoever shares the cache, so without such instructions
 * a library serves instead.
 */
#ifndef FORTUNA_KERNELS_H
#define FORTUNA_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#if !defined(__GNUC__)
#error "the kernels are written with the vector types of GCC and Clang"
#endif

enum {
    FORTUNA_KEY_SIZE = 32,
    FORTUNA_COUNTER_SIZE = 16,
    /* Room for the schedule of any kernel; each kernel states its own size. */
    FORTUNA_SCHEDULE_MAX = 256,
    /* Room for a block of any kernel. */
    FORTUNA_BLOCK_MAX = 64
};

struct fortuna_kernel {
    const char *cipher;     /* "aes256-icm", "chacha20", "xchacha8", ... */
    const char *name;       /* "portable", "avx2", "vaes", ... */
    size_t block_size;      /* bytes: 16 for AES, 64 for ChaCha */
    size_t schedule_size;   /* bytes of an expanded key; a secret like the key, wiped by its owner */

    /* Expand K.  `schedule` has schedule_size bytes and does not overlap `key`. */
    void (*set_key)(void *schedule, const uint8_t key[FORTUNA_KEY_SIZE]);

    /* Write n bytes of keystream, the first block being number C.  C is not
     * advanced: the next free block is C + ceil(n / block_size), which
     * fortuna_counter_advance() below computes. */
    void (*keystream)(const void *schedule, const uint8_t counter[FORTUNA_COUNTER_SIZE], uint8_t *out, size_t n);

    /* One request of Fortuna's generator ("Cryptography Engineering" 9.4.4,
     * PseudoRandomData): n bytes of keystream at C go to `out`, then the next
     * 32 bytes of keystream, starting on a fresh block, replace K; C advances
     * past both.  n = 0 changes nothing.  The result is defined for every n;
     * the caller sees to the limit of 2^20 bytes.  Small requests, where the
     * new key costs as much as the output, take one pass over all blocks.
     * `key`, `counter` and `out` do not overlap. */
    void (*request)(uint8_t key[FORTUNA_KEY_SIZE], uint8_t counter[FORTUNA_COUNTER_SIZE], uint8_t *out, size_t n);

    /* One request by fast key erasure: of the keystream that begins at counter
     * 0, the first 32 bytes replace K, and the n bytes after them go to `out`.
     * Output and next key lie side by side, so 32 bytes are one block of
     * ChaCha.  n = 0 changes nothing; `key` and `out` do not overlap. */
    void (*erase_first)(uint8_t key[FORTUNA_KEY_SIZE], uint8_t *out, size_t n);
};

/* The kernels that one source file adds to the build: one cipher family for
 * one instruction set.  A file that this compiler or processor family cannot
 * serve still defines its set, empty and with the reason, so that a listing
 * can tell why a kernel is missing. */
struct fortuna_kernel_set {
    const char *family;                    /* "chacha" or "aes256-icm" */
    const char *name;                      /* the name that its kernels bear */
    uint32_t features;                     /* bits of cpu.h that it needs at run time */
    size_t count;                          /* kernels in this build: 0 if absent */
    const struct fortuna_kernel *kernels;  /* null if absent */
    const char *absent;                    /* why there are none, else null */
};

/* Each defined in the file of its name: chacha_avx2.c and so on. */
extern const struct fortuna_kernel_set fortuna_chacha_portable;
extern const struct fortuna_kernel_set fortuna_chacha_ssse3;
extern const struct fortuna_kernel_set fortuna_chacha_avx2;
extern const struct fortuna_kernel_set fortuna_chacha_avx512;
extern const struct fortuna_kernel_set fortuna_chacha_neon;
extern const struct fortuna_kernel_set fortuna_aes256_icm_aesni;
extern const struct fortuna_kernel_set fortuna_aes256_icm_vaes;
extern const struct fortuna_kernel_set fortuna_aes256_icm_vaes512;
extern const struct fortuna_kernel_set fortuna_aes256_icm_armv8;

#endif
