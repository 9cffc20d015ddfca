/*
 * Nothing secret stays behind on the stack.
 *
 * Each kernel function runs on a thread whose stack is ours.  Afterwards the
 * whole stack is searched for any eight consecutive bytes of: the key, the key
 * after it, the output, XChaCha's subkey, AES's expanded key, and the keystream
 * past the end of the request (which a batch computes and must forget).
 */
#define _GNU_SOURCE /* memmem, MAP_STACK */
#include <pthread.h>
#include <sys/mman.h>

#include "check.h"

enum { STACK = 1 << 18, LONGEST = 4096, NEEDLES = LONGEST + 64 };

static const struct fortuna_kernel *under_test;
static uint8_t key[32], counter[16], out[LONGEST], schedule[FORTUNA_SCHEDULE_MAX];
static size_t length;
static int leak; /* leave something behind, to see that the search finds it */

static void *run(void *which)
{
    volatile uint8_t left[1024];
    if (leak)
        for (size_t i = 0; i < sizeof left; i++)
            left[i] = key[i % sizeof key];
    if (*(const char *)which == 'r')
        under_test->request(key, counter, out, length);
    else if (*(const char *)which == 'e')
        under_test->erase_first(key, out, length);
    else if (*(const char *)which == 'k')
        under_test->keystream(schedule, counter, out, length);
    else
        under_test->set_key(schedule, key);
    return NULL;
}

static int on_stack(const uint8_t *stack, const uint8_t *needles, size_t n)
{
    for (size_t i = 0; i + 8 <= n; i += 4)
        if (memmem(stack, STACK, needles + i, 8) != NULL)
            return 1;
    return 0;
}

/* Run one kernel function on a fresh stack and search that. */
static int remains(const char *which, const uint8_t old_key[32], const uint8_t *stream, size_t stream_size)
{
    pthread_attr_t attributes;
    pthread_t thread;
    uint8_t *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    int found = stack == MAP_FAILED;

    pthread_attr_init(&attributes);
    found |= pthread_attr_setstack(&attributes, stack, STACK);
    found |= pthread_create(&thread, &attributes, run, (void *)(uintptr_t)which);
    found |= pthread_join(thread, NULL);
    if (!found)
        found = on_stack(stack, old_key, 32) | on_stack(stack, key, 32) | on_stack(stack, stream, stream_size) |
                on_stack(stack, schedule, under_test->schedule_size);
    pthread_attr_destroy(&attributes);
    munmap(stack, STACK);
    return found;
}

static void wipes(const struct fortuna_kernel *kernel)
{
    static const size_t lengths[] = {1,  15,  16,  24,  32,  33,   48,   64,   65,     96,
                                     97, 128, 160, 200, 400, 1000, 1024, 2100, LONGEST};
    static uint8_t stream[NEEDLES];
    char label[160];
    uint8_t old_key[32];
    const uint8_t zero[16] = {0};

    under_test = kernel;
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        length = lengths[i];
        check_random_bytes(key, sizeof key);
        check_random_bytes(counter, sizeof counter);
        memcpy(old_key, key, sizeof key);
        oracle_keystream(kernel->cipher, key, counter, stream, sizeof stream);
        for (const char *which = "skre"; *which; which++) {
            if (*which == 'e') { /* K is another by now, and the counter is 0 */
                memcpy(old_key, key, sizeof key);
                oracle_keystream(kernel->cipher, key, zero, stream, sizeof stream);
            }
            snprintf(label, sizeof label, "%s, %c, %zu bytes: secrets on the stack", check_label(kernel), *which,
                     length);
            check_true(label, !remains(which, old_key, stream, sizeof stream));
        }
    }
    memcpy(old_key, key, sizeof key);
    leak = 1;
    check_true("the search finds what is left behind", remains("r", old_key, stream, 0));
    leak = 0;
}

int main(int argc, char **argv)
{
    return check_kernels(argc, argv, wipes);
}
