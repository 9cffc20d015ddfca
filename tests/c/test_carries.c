/*
 * The counter at every lane offset: keystream = oracle for streams that start
 * 1..70 blocks before 2^32, 2^64, 2^96 and 2^128, which is past two of the
 * widest batches, so each lane of a first and of a later batch gets to stand
 * on either side of each carry; and exactly at the boundary.
 */
#include "check.h"

enum { DISTANCES = 70, STREAM = (DISTANCES + 70) * 64 };

static uint8_t want[STREAM], got[STREAM];

static void carries(const struct fortuna_kernel *kernel)
{
    static const int boundaries[] = {32, 64, 96, 128};
    uint8_t key[32], counter[16], schedule[FORTUNA_SCHEDULE_MAX];
    size_t blocks = DISTANCES + 70;

    check_random_bytes(key, sizeof key);
    kernel->set_key(schedule, key);
    for (size_t b = 0; b < 4; b++) {
        check_boundary(counter, boundaries[b], DISTANCES);
        oracle_keystream(kernel->cipher, key, counter, want, blocks * kernel->block_size);
        for (size_t distance = 0; distance <= DISTANCES; distance++) {
            size_t skipped = DISTANCES - distance, n = (blocks - skipped) * kernel->block_size;
            check_boundary(counter, boundaries[b], DISTANCES);
            oracle_advance(counter, skipped);
            kernel->keystream(schedule, counter, got, n);
            if (!check_bytes(check_label(kernel), want + skipped * kernel->block_size, got, n))
                printf("  start: %zu blocks before 2^%d\n", distance, boundaries[b]);
        }
    }
}

int main(int argc, char **argv)
{
    return check_kernels(argc, argv, carries);
}
