/*
 * Speed of each kernel: bulk keystream and strict small requests.
 *
 * Usage: bench [KERNEL]
 *
 * Each figure is the best of several runs, which on a shared machine is the
 * one least disturbed.  A request is Fortuna's: n bytes of output and a new key,
 * every time; the next one depends on it, so requests do not overlap.  The second
 * figure of a pair is the same by fast key erasure.
 */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dispatch.h"
#include "kernels.h"

enum { BULK = 1 << 20, RUNS = 15 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double gigabytes_per_second(const struct fortuna_kernel *kernel, uint8_t *buffer)
{
    static uint8_t schedule[FORTUNA_SCHEDULE_MAX], key[32], counter[16];
    double best = 1e9;
    kernel->set_key(schedule, key);
    for (int run = 0; run < RUNS; run++) {
        double start = now();
        for (int i = 0; i < 8; i++)
            kernel->keystream(schedule, counter, buffer, BULK);
        double seconds = (now() - start) / 8;
        best = seconds < best ? seconds : best;
    }
    return BULK / best * 1e-9;
}

static void nanoseconds(const struct fortuna_kernel *kernel, uint8_t *buffer, size_t n)
{
    static uint8_t key[32], counter[16];
    double best[2] = {1e9, 1e9};
    for (int run = 0; run < 2 * RUNS; run++) {
        double start = now();
        for (int i = 0; i < 20000; i++)
            if (run % 2)
                kernel->erase_first(key, buffer, n);
            else
                kernel->request(key, counter, buffer, n);
        double seconds = (now() - start) / 20000;
        best[run % 2] = seconds < best[run % 2] ? seconds : best[run % 2];
    }
    printf(" %6.1f/%-5.1f", best[0] * 1e9, best[1] * 1e9);
}

int main(int argc, char **argv)
{
    struct fortuna_cpu cpu = fortuna_cpu_detect();
    uint8_t *buffer = malloc(BULK);
    const struct fortuna_kernel *kernel;
    static const char *const ciphers[] = {"aes256-icm", "chacha20", "chacha12", "chacha8",
                                          "xchacha20",  "xchacha12", "xchacha8"};
    memset(buffer, 1, BULK);
    printf("%-11s %-9s %8s   %s\n", "cipher", "kernel", "GB/s", "ns per request of 16, 32, 64, 128, 256 bytes");
    for (size_t i = 0; i < sizeof ciphers / sizeof ciphers[0]; i++)
        for (kernel = NULL; (kernel = fortuna_kernel_next(ciphers[i], cpu, kernel)) != NULL;)
            if (argc < 2 || strcmp(argv[1], kernel->name) == 0) {
                printf("%-11s %-9s %8.2f  ", kernel->cipher, kernel->name, gigabytes_per_second(kernel, buffer));
                for (size_t n = 16; n <= 256; n *= 2)
                    nanoseconds(kernel, buffer, n);
                putchar('\n');
            }
    free(buffer);
    return 0;
}
