/*
 * The processor's random instructions: how many refusals are borne, that a
 * failure leaves nothing, and that the real ones answer.  What the bytes look
 * like is judged, and tested, in Python.
 */
#include "check.h"
#include "cpu_random.h"

static int refusals_left, draws;

/* Refuse as often as told, in front of every other word, then count. */
static int scripted(uint64_t *word)
{
    draws++;
    if (refusals_left > 0 && draws % 2 == 0) {
        refusals_left--;
        return 0;
    }
    *word = 0x0101010101010101u * (uint64_t)draws;
    return 1;
}

static int never(uint64_t *word)
{
    (void)word;
    draws++;
    return 0;
}

/* One word, then nothing any more. */
static int once(uint64_t *word)
{
    *word = UINT64_MAX;
    return draws++ == 0;
}

static int late(uint64_t *word)
{
    *word = UINT64_MAX;
    return draws++ >= refusals_left;
}

static int is_zero(const uint8_t *bytes)
{
    static const uint8_t zeros[FORTUNA_CPU_RANDOM_SIZE];
    return memcmp(bytes, zeros, sizeof zeros) == 0;
}

static void doubles(void)
{
    uint8_t out[FORTUNA_CPU_RANDOM_SIZE], words[FORTUNA_CPU_RANDOM_SIZE];

    for (int i = 0; i < 4; i++)
        memset(words + 8 * i, (int[]){1, 3, 5, 6}[i], 8);
    refusals_left = 2;
    draws = 0;
    check_true("two refusals do not matter", fortuna_cpu_random_fill(scripted, out));
    check_bytes("each word follows the one before", words, out, sizeof out);

    for (int refusals = FORTUNA_CPU_RANDOM_REFUSALS - 1; refusals <= FORTUNA_CPU_RANDOM_REFUSALS + 1; refusals++) {
        refusals_left = refusals;
        draws = 0;
        memset(out, 0xaa, sizeof out);
        int filled = fortuna_cpu_random_fill(late, out);
        check_true("one refusal less than the limit is borne", filled == (refusals < FORTUNA_CPU_RANDOM_REFUSALS));
        check_true("a failure leaves zeros", filled != is_zero(out));
    }

    draws = 0;
    check_true("never ready", !fortuna_cpu_random_fill(never, out));
    check_true("asked as often as the limit says", draws == FORTUNA_CPU_RANDOM_REFUSALS);
    draws = 0;
    check_true("ready once", !fortuna_cpu_random_fill(once, out));
    check_true("nothing stays of the first word", is_zero(out));
}

static void instructions(void)
{
    static const struct {
        uint32_t feature;
        const char *name;
    } all[] = {{FORTUNA_CPU_RDSEED, "RDSEED"}, {FORTUNA_CPU_RDRAND, "RDRAND"}};
    const struct fortuna_cpu none = {0}, cpu = fortuna_cpu_detect();
    uint8_t one[FORTUNA_CPU_RANDOM_SIZE], other[FORTUNA_CPU_RANDOM_SIZE];

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        fortuna_cpu_draw *draw = fortuna_cpu_random_draw(cpu, all[i].feature);
        check_true("absent from a processor without it", fortuna_cpu_random_draw(none, all[i].feature) == NULL);
        check_true("another feature is none", fortuna_cpu_random_draw(cpu, ~all[i].feature) != draw || draw == NULL);
        if (draw == NULL) {
            printf("skipped %s: this processor or this build lacks it\n", all[i].name);
            continue;
        }
        /* A processor under load may refuse; then there is nothing to compare. */
        if (fortuna_cpu_random_fill(draw, one) && fortuna_cpu_random_fill(draw, other))
            check_true("two events differ", memcmp(one, other, sizeof one) != 0);
        printf("ran %s\n", all[i].name);
    }
}

int main(void)
{
    doubles();
    instructions();
    printf("test_cpu_random: %d failures\n", check_failures);
    return check_failures != 0;
}
