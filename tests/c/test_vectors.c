/* Published vectors: every kernel against tests/vectors/, and the oracle's HChaCha. */
#include "check.h"
#include "vectors.h" /* made by build.py */

static size_t unhex(const char *text, uint8_t *out)
{
    size_t n = strlen(text) / 2;
    for (size_t i = 0; i < n; i++) {
        char pair[3] = {text[2 * i], text[2 * i + 1], 0};
        out[i] = (uint8_t)strtoul(pair, NULL, 16);
    }
    return n;
}

static void keystream_vectors(const struct fortuna_kernel *kernel)
{
    static uint8_t key[32], counter[16], want[4096], got[4096], schedule[FORTUNA_SCHEDULE_MAX];
    int used = 0;

    for (size_t i = 0; i < sizeof keystreams / sizeof keystreams[0]; i++) {
        if (strcmp(keystreams[i].cipher, kernel->cipher) != 0)
            continue;
        unhex(keystreams[i].key, key);
        unhex(keystreams[i].counter, counter);
        size_t n = unhex(keystreams[i].keystream, want);
        kernel->set_key(schedule, key);
        kernel->keystream(schedule, counter, got, n);
        if (!check_bytes(check_label(kernel), want, got, n))
            printf("  vector %s\n", keystreams[i].id);
        used++;
    }
    for (size_t i = 0; i < sizeof subkeyed / sizeof subkeyed[0]; i++) {
        /* As published, XChaCha's nonce is not zero, so its last step is ChaCha under the subkey. */
        uint8_t nonce[16], subkey[32];
        if (strcmp(subkeyed[i].cipher, kernel->cipher) != 0)
            continue;
        unhex(subkeyed[i].key, key);
        unhex(subkeyed[i].nonce, nonce);
        unhex(subkeyed[i].counter, counter);
        size_t n = unhex(subkeyed[i].keystream, want);
        oracle_hchacha(atoi(kernel->cipher + 6), key, nonce, subkey);
        kernel->set_key(schedule, subkey);
        kernel->keystream(schedule, counter, got, n);
        if (!check_bytes(check_label(kernel), want, got, n))
            printf("  vector %s\n", subkeyed[i].id);
        used++;
    }
    /* XChaCha over a zero nonce has no published rows: test_lengths compares it with the oracle. */
    check_true("every cipher but XChaCha has vectors", used > 0 || kernel->cipher[0] == 'x');
}

static void request_vectors(const struct fortuna_kernel *kernel)
{
    static uint8_t key[32], counter[16], want[256], got[1 << 20];

    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        if (strcmp(requests[i].cipher, kernel->cipher) != 0)
            continue;
        unhex(requests[i].key, key);
        unhex(requests[i].counter, counter);
        kernel->request(key, counter, got, requests[i].n);
        size_t first = unhex(requests[i].first, want);
        check_bytes("request, first bytes", want, got, first);
        size_t last = unhex(requests[i].last, want);
        check_bytes("request, last bytes", want, got + requests[i].n - last, last);
        unhex(requests[i].key_after, want);
        check_bytes("request, next key", want, key, sizeof key);
        unhex(requests[i].counter_after, want);
        check_bytes("request, next counter", want, counter, sizeof counter);
    }
}

/* RFC 8439 A.1 #1 is such a request from a zero key: its first half is the next key, its second the output. */
static void erasure_vectors(const struct fortuna_kernel *kernel)
{
    uint8_t key[32], want[64], got[32];

    for (size_t i = 0; i < sizeof keystreams / sizeof keystreams[0]; i++) {
        if (strcmp(keystreams[i].id, "A.1#1") != 0 || strcmp(keystreams[i].cipher, kernel->cipher) != 0)
            continue;
        unhex(keystreams[i].key, key);
        unhex(keystreams[i].keystream, want);
        kernel->erase_first(key, got, sizeof got);
        check_bytes("erase first, next key", want, key, sizeof key);
        check_bytes("erase first, output", want + sizeof key, got, sizeof got);
    }
}

static void vectors(const struct fortuna_kernel *kernel)
{
    keystream_vectors(kernel);
    request_vectors(kernel);
    erasure_vectors(kernel);
}

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof subkeys / sizeof subkeys[0]; i++) {
        uint8_t key[32], nonce[16], want[32], got[32];
        unhex(subkeys[i].key, key);
        unhex(subkeys[i].nonce, nonce);
        unhex(subkeys[i].subkey, want);
        oracle_hchacha(20, key, nonce, got);
        check_bytes(subkeys[i].id, want, got, sizeof want);
    }
    return check_kernels(argc, argv, vectors);
}
