/*
 * AES-256-ICM's kernel functions.  Part of aes256_icm.h.
 */

_Static_assert(ROUND_KEYS * BLOCK <= FORTUNA_SCHEDULE_MAX, "the schedule fits what callers reserve");

static FORTUNA_SECRET void expand(uint8_t *schedule, const uint8_t key[32])
{
    block even = load_block(key), odd = load_block(key + BLOCK);
    uint32_t rcon = 1;

    store_block(schedule, even);
    store_block(schedule + BLOCK, odd);
    for (int r = 2; r < ROUND_KEYS - 1; r += 2, rcon <<= 1) {
        even = even_round_key(even, odd, rcon);
        odd = odd_round_key(odd, even);
        store_block(schedule + BLOCK * r, even);
        store_block(schedule + BLOCK * (r + 1), odd);
    }
    store_block(schedule + BLOCK * (ROUND_KEYS - 1), even_round_key(even, odd, rcon));
}

#define EACH_BLOCK(step)                  \
    for (int i = 0; i < count; i++)       \
        x[i] = step

/* Encrypt `count` counter blocks from C on under a key that is used for nothing
 * else, expanding it on the way. */
FORTUNA_INLINE void request_blocks(block x[], int count, const uint8_t key[32], struct fortuna_counter c)
{
    block even = load_block(key), odd = load_block(key + BLOCK);
    uint32_t rcon = 1;

    EACH_BLOCK(counter_block(fortuna_counter_plus(c, (uint64_t)i)) ^ even);
    EACH_BLOCK(AES_BLOCK_ROUND(x[i], odd));
#pragma GCC unroll 6
    for (int r = 2; r < ROUND_KEYS - 1; r += 2, rcon <<= 1) {
        even = even_round_key(even, odd, rcon);
        EACH_BLOCK(AES_BLOCK_ROUND(x[i], even));
        odd = odd_round_key(odd, even);
        EACH_BLOCK(AES_BLOCK_ROUND(x[i], odd));
    }
    even = even_round_key(even, odd, rcon);
    EACH_BLOCK(AES_BLOCK_LAST(x[i], even));
}

/* A request of up to two blocks, then two blocks of key. */
static FORTUNA_SECRET void small_request(uint8_t key[32], struct fortuna_counter c, uint8_t *out, size_t n)
{
    block x[4];
    request_blocks(x, 4, key, c);
    if (n == 2 * BLOCK) {
        store_block(out, x[0]);
        store_block(out + BLOCK, x[1]);
        store_block(key, x[2]);
        store_block(key + BLOCK, x[3]);
    } else {
        uint8_t scratch[2 * BLOCK];
        store_block(scratch, x[0]);
        store_block(scratch + BLOCK, x[1]);
        memcpy(out, scratch, n);
        fortuna_wipe(scratch, sizeof scratch);
        /* n <= 16 leaves x[3] unused: the next key starts on the block after the output. */
        store_block(key, n > BLOCK ? x[2] : x[1]);
        store_block(key + BLOCK, n > BLOCK ? x[3] : x[2]);
    }
}

/* Up to six blocks of output: still in the shadow of the key expansion. */
static FORTUNA_SECRET void medium_request(uint8_t key[32], struct fortuna_counter c, uint8_t *out, size_t n)
{
    block x[8];
    uint8_t scratch[8 * BLOCK];

    request_blocks(x, 8, key, c);
    for (int i = 0; i < 8; i++)
        store_block(scratch + BLOCK * i, x[i]);
    memcpy(out, scratch, n);
    memcpy(key, scratch + BLOCK * fortuna_blocks(n, BLOCK), FORTUNA_KEY_SIZE);
    fortuna_wipe(scratch, sizeof scratch);
}

static FORTUNA_SECRET void large_request(uint8_t key[32], struct fortuna_counter c, uint8_t *out, size_t n)
{
    uint8_t schedule[ROUND_KEYS * BLOCK];

    expand(schedule, key);
    stream(schedule, c, out, n);
    stream(schedule, fortuna_counter_plus(c, fortuna_blocks(n, BLOCK)), key, FORTUNA_KEY_SIZE);
    fortuna_wipe(schedule, sizeof schedule);
}

/* Fast key erasure: the next key and up to `count` - 2 blocks of output. */
FORTUNA_INLINE void erase_blocks(int count, uint8_t key[32], uint8_t *out, size_t n)
{
    block x[8];
    uint8_t scratch[6 * BLOCK], *to = n == (size_t)(count - 2) * BLOCK ? out : scratch;

    request_blocks(x, count, key, (struct fortuna_counter){0, 0});
    store_block(key, x[0]);
    store_block(key + BLOCK, x[1]);
    for (int i = 2; i < count; i++)
        store_block(to + BLOCK * (i - 2), x[i]);
    if (to == scratch) {
        memcpy(out, scratch, n);
        fortuna_wipe(scratch, sizeof scratch);
    }
}

static FORTUNA_SECRET void small_erasure(uint8_t key[32], uint8_t *out, size_t n)
{
    erase_blocks(4, key, out, n);
}

static FORTUNA_SECRET void medium_erasure(uint8_t key[32], uint8_t *out, size_t n)
{
    erase_blocks(8, key, out, n);
}

static FORTUNA_SECRET void large_erasure(uint8_t key[32], uint8_t *out, size_t n)
{
    uint8_t schedule[ROUND_KEYS * BLOCK];

    expand(schedule, key);
    stream(schedule, (struct fortuna_counter){2, 0}, out, n);
    stream(schedule, (struct fortuna_counter){0, 0}, key, FORTUNA_KEY_SIZE);
    fortuna_wipe(schedule, sizeof schedule);
}

/* What the functions above leave on the stack: a few spilled registers, or the
 * frames of batches with their scratch buffers.  Two sizes, because a small
 * request must not pay for the frames of a bulk one. */
FORTUNA_WIPE_STACK(wipe_stack_small, 392)
FORTUNA_WIPE_STACK(wipe_stack_large, 520 + 4 * BATCH)

/* The calls proper: see wipe.h for why the work is done one level down. */

static void set_key(void *schedule, const uint8_t key[32])
{
    expand(schedule, key);
    wipe_stack_small();
}

static void keystream(const void *schedule, const uint8_t counter[16], uint8_t *out, size_t n)
{
    stream(schedule, fortuna_counter_load(counter), out, n);
    wipe_stack_large();
}

static void request(uint8_t key[32], uint8_t counter[16], uint8_t *out, size_t n)
{
    struct fortuna_counter c = fortuna_counter_load(counter);

    if (n == 0)
        return;
    if (n <= 2 * BLOCK) {
        small_request(key, c, out, n);
        wipe_stack_small();
    } else if (n <= 6 * BLOCK) {
        medium_request(key, c, out, n);
        wipe_stack_small();
    } else {
        large_request(key, c, out, n);
        wipe_stack_large();
    }
    fortuna_counter_store(counter, fortuna_counter_plus(c, fortuna_blocks(n, BLOCK) + 2));
}

static void erase_first(uint8_t key[32], uint8_t *out, size_t n)
{
    if (n == 0)
        return;
    if (n <= 2 * BLOCK) {
        small_erasure(key, out, n);
        wipe_stack_small();
    } else if (n <= 6 * BLOCK) {
        medium_erasure(key, out, n);
        wipe_stack_small();
    } else {
        large_erasure(key, out, n);
        wipe_stack_large();
    }
}

static const struct fortuna_kernel kernels[] = {
    {"aes256-icm", AES_NAME, BLOCK, ROUND_KEYS * BLOCK, set_key, keystream, request, erase_first}};

const struct fortuna_kernel_set AES_SET = {"aes256-icm", AES_NAME, AES_FEATURES, 1, kernels, NULL};
