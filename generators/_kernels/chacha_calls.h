/*
 * ChaCha's kernel functions: how a call is cut into batches and pairs, and the
 * table of the six ciphers.  Part of chacha.h.
 *
 * The schedule of ChaCha is the key itself, 32 bytes; that of XChaCha is the
 * subkey HChaCha(K, 16 zero bytes), after which XChaCha *is* ChaCha.  The
 * number of rounds is an argument down to the loop that it controls; whether
 * three copies of that are worth their space is left to the compiler.
 */

/* n bytes of keystream from block C on: whole batches straight into `out`, the
 * rest through a scratch buffer. */
static FORTUNA_SECRET void stream(const uint8_t key[32], struct fortuna_counter c, uint8_t *out, size_t n, int rounds)
{
    for (; n >= BATCH; n -= BATCH, out += BATCH) {
        batch(out, key, c, rounds);
        c = fortuna_counter_plus(c, BATCH_BLOCKS);
        FORTUNA_FORGET(n);
    }
    if (n > 0) {
        uint8_t scratch[BATCH > 2 * BLOCK ? BATCH : 2 * BLOCK];
        if (n > 2 * BLOCK) {
            batch(scratch, key, c, rounds);
        } else {
            quad x[8];
            pair(x, key, c, rounds);
            for (int i = 0; i < 8; i++)
                store_quad(scratch + 16 * i, x[i]);
        }
        memcpy(out, scratch, n);
        fortuna_wipe(scratch, sizeof scratch);
    }
}

/* A request of up to one block: output and next key are one pair.  Here and
 * below `key` receives the next key, and `cipher_key` is the one in use: the
 * same memory, or XChaCha's subkey. */
static FORTUNA_SECRET void small_request(uint8_t key[32], const uint8_t cipher_key[32], struct fortuna_counter c,
                                         uint8_t *out, size_t n, int rounds)
{
    quad x[8];
    pair(x, cipher_key, c, rounds);
    store_quad(key, x[4]);
    store_quad(key + 16, x[5]);
    if (n == 32) { /* the most frequent size: without scratch buffer and copy */
        store_quad(out, x[0]);
        store_quad(out + 16, x[1]);
    } else {
        uint8_t scratch[BLOCK];
        for (int i = 0; i < 4; i++)
            store_quad(scratch + 16 * i, x[i]);
        memcpy(out, scratch, n);
        fortuna_wipe(scratch, sizeof scratch);
    }
}

/* A longer request: one batch if output and next key fit into it, else the
 * output in place and the next key after it. */
static FORTUNA_SECRET void large_request(uint8_t key[32], const uint8_t cipher_key[32], struct fortuna_counter c,
                                         uint8_t *out, size_t n, int rounds)
{
    uint64_t blocks = fortuna_blocks(n, BLOCK);
    if (blocks < BATCH_BLOCKS) {
        uint8_t scratch[BATCH];
        batch(scratch, cipher_key, c, rounds);
        memcpy(out, scratch, n);
        memcpy(key, scratch + BLOCK * blocks, FORTUNA_KEY_SIZE);
        fortuna_wipe(scratch, sizeof scratch);
    } else {
        stream(cipher_key, c, out, n, rounds);
        stream(cipher_key, fortuna_counter_plus(c, blocks), key, FORTUNA_KEY_SIZE, rounds);
    }
}

/* A request by fast key erasure of up to half a block: the other half is the
 * next key. */
static FORTUNA_SECRET void small_erasure(uint8_t key[32], const uint8_t cipher_key[32], uint8_t *out, size_t n,
                                         int rounds)
{
    uint8_t scratch[32], *to = n == sizeof scratch ? out : scratch;

    single(key, to, cipher_key, rounds);
    if (to == scratch) {
        memcpy(out, scratch, n);
        fortuna_wipe(scratch, sizeof scratch);
    }
}

/* Up to a pair, less the next key. */
static FORTUNA_SECRET void medium_erasure(uint8_t key[32], const uint8_t cipher_key[32], uint8_t *out, size_t n,
                                          int rounds)
{
    quad x[8];
    uint8_t scratch[2 * BLOCK - 32];

    pair(x, cipher_key, (struct fortuna_counter){0, 0}, rounds);
    store_quad(key, x[0]);
    store_quad(key + 16, x[1]);
    for (int i = 2; i < 8; i++)
        store_quad(scratch + 16 * (i - 2), x[i]);
    memcpy(out, scratch, n);
    fortuna_wipe(scratch, sizeof scratch);
}

/* More: one batch if it holds all, else block 1 and what follows in place, and
 * block 0, which is next key and first output, after it. */
static FORTUNA_SECRET void large_erasure(uint8_t key[32], const uint8_t cipher_key[32], uint8_t *out, size_t n,
                                         int rounds)
{
    if (n <= BATCH - FORTUNA_KEY_SIZE) {
        uint8_t scratch[BATCH];
        batch(scratch, cipher_key, (struct fortuna_counter){0, 0}, rounds);
        memcpy(key, scratch, FORTUNA_KEY_SIZE);
        memcpy(out, scratch + FORTUNA_KEY_SIZE, n);
        fortuna_wipe(scratch, sizeof scratch);
    } else {
        stream(cipher_key, (struct fortuna_counter){1, 0}, out + 32, n - 32, rounds);
        small_erasure(key, cipher_key, out, 32, rounds);
    }
}

static FORTUNA_SECRET void derive_subkey(uint8_t subkey[32], const uint8_t key[32], int rounds)
{
    hchacha(subkey, key, rounds);
}

/* What the functions above leave on the stack: a few spilled registers, or the
 * frames of batches with their scratch buffers.  Two sizes, because a small
 * request must not pay for the frames of a bulk one. */
FORTUNA_WIPE_STACK(wipe_stack_small, 392)
FORTUNA_WIPE_STACK(wipe_stack_large, 520 + 4 * BATCH)

/* The calls proper. They hold no secrets in their own frames but what they wipe
 * by name, and clear the stack below when the work is done. */

static FORTUNA_SECRET void set_key(void *schedule, const uint8_t key[32])
{
    memcpy(schedule, key, FORTUNA_KEY_SIZE);
}

FORTUNA_INLINE void extended_set_key(void *schedule, const uint8_t key[32], int rounds)
{
    derive_subkey(schedule, key, rounds);
    wipe_stack_small();
}

FORTUNA_INLINE void keystream(const void *schedule, const uint8_t counter[16], uint8_t *out, size_t n, int rounds)
{
    stream(schedule, fortuna_counter_load(counter), out, n, rounds);
    wipe_stack_large();
}

FORTUNA_INLINE void request(uint8_t key[32], uint8_t counter[16], uint8_t *out, size_t n, int rounds, int extended)
{
    struct fortuna_counter c = fortuna_counter_load(counter);
    uint8_t subkey[FORTUNA_KEY_SIZE];
    const uint8_t *cipher_key = key;

    if (n == 0)
        return;
    if (extended) {
        derive_subkey(subkey, key, rounds);
        cipher_key = subkey;
    }
    if (n <= BLOCK) {
        small_request(key, cipher_key, c, out, n, rounds);
        wipe_stack_small();
    } else {
        large_request(key, cipher_key, c, out, n, rounds);
        wipe_stack_large();
    }
    if (extended)
        fortuna_wipe(subkey, sizeof subkey);
    fortuna_counter_store(counter, fortuna_counter_plus(c, fortuna_blocks(n, BLOCK) + 1));
}

FORTUNA_INLINE void erase_first(uint8_t key[32], uint8_t *out, size_t n, int rounds, int extended)
{
    uint8_t subkey[FORTUNA_KEY_SIZE];
    const uint8_t *cipher_key = key;

    if (n == 0)
        return;
    if (extended) {
        derive_subkey(subkey, key, rounds);
        cipher_key = subkey;
    }
    if (n <= 32) {
        small_erasure(key, cipher_key, out, n, rounds);
        wipe_stack_small();
    } else if (n <= 96) {
        medium_erasure(key, cipher_key, out, n, rounds);
        wipe_stack_small();
    } else {
        large_erasure(key, cipher_key, out, n, rounds);
        wipe_stack_large();
    }
    if (extended)
        fortuna_wipe(subkey, sizeof subkey);
}

/* The six ciphers.  A table holds plain functions, so each gets its own, which
 * fix the rounds. */
#define CHACHA_ROUNDS(r)                                                                                              \
    static void keystream_##r(const void *schedule, const uint8_t counter[16], uint8_t *out, size_t n)                \
    {                                                                                                                 \
        keystream(schedule, counter, out, n, r);                                                                      \
    }                                                                                                                 \
    static void request_##r(uint8_t key[32], uint8_t counter[16], uint8_t *out, size_t n)                             \
    {                                                                                                                 \
        request(key, counter, out, n, r, 0);                                                                          \
    }                                                                                                                 \
    static void extended_request_##r(uint8_t key[32], uint8_t counter[16], uint8_t *out, size_t n)                    \
    {                                                                                                                 \
        request(key, counter, out, n, r, 1);                                                                          \
    }                                                                                                                 \
    static void erase_first_##r(uint8_t key[32], uint8_t *out, size_t n)                                              \
    {                                                                                                                 \
        erase_first(key, out, n, r, 0);                                                                               \
    }                                                                                                                 \
    static void extended_erase_first_##r(uint8_t key[32], uint8_t *out, size_t n)                                     \
    {                                                                                                                 \
        erase_first(key, out, n, r, 1);                                                                               \
    }                                                                                                                 \
    static void extended_set_key_##r(void *schedule, const uint8_t key[32])                                           \
    {                                                                                                                 \
        extended_set_key(schedule, key, r);                                                                           \
    }
CHACHA_ROUNDS(20)
CHACHA_ROUNDS(12)
CHACHA_ROUNDS(8)

#define CHACHA_ENTRY(cipher, r, set_key, request, erase_first) \
    {cipher #r, CHACHA_NAME, BLOCK, FORTUNA_KEY_SIZE, set_key, keystream_##r, request, erase_first}
#define CHACHA_ENTRIES(r)                                              \
    CHACHA_ENTRY("chacha", r, set_key, request_##r, erase_first_##r), \
        CHACHA_ENTRY("xchacha", r, extended_set_key_##r, extended_request_##r, extended_erase_first_##r)
static const struct fortuna_kernel kernels[] = {CHACHA_ENTRIES(20), CHACHA_ENTRIES(12), CHACHA_ENTRIES(8)};

const struct fortuna_kernel_set CHACHA_SET = {
    "chacha", CHACHA_NAME, CHACHA_FEATURES, sizeof kernels / sizeof kernels[0], kernels, NULL};
