/*
 * TestU01 on standard input: reads 32-bit words, the least significant byte first, and writes every p-value of one of
 * the library's batteries. The library itself reads files only, and those big-endian or as text.
 *
 *     cc -O2 -o testu01 testu01.c -ltestu01 -lprobdist -lmylib -lm
 *     testu01 smallcrush < stream
 *     testu01 rabbit 33554432 < stream
 *
 * Written are one line for each statistic, "p <p-value> <name>", and at the end "end <statistics> <words read>". Without
 * the last line the run was cut short. The library's own report, which leaves out the p-values between 0.001 and 0.999,
 * is turned off; what is left of it on standard output starts with none of these two words.
 *
 * Exit status: 0 when the battery went to its end, whatever it found; 2 for a wrong command line; 3 when the input ended.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bbattery.h"
#include "swrite.h"
#include "unif01.h"

enum { OK = 0, USAGE = 2, INPUT_ENDED = 3 };

/* Bits that rabbit and alphabit look at unless told: 2^25, which are 96 and 38 MB of input. */
static const double DEFAULT_BITS = 33554432.0;

static unsigned long long words_read;

static unsigned int next_word(void)
{
    static unsigned char buffer[1 << 16];
    static size_t filled, position;

    if (position == filled) {
        position = 0;
        /* fread returns short only at the end, and what is left there of a word is dropped. */
        filled = fread(buffer, 4, sizeof buffer / 4, stdin) * 4;
        if (filled == 0) {
            fprintf(stderr, "testu01: standard input ended after %llu words\n", words_read);
            fflush(stdout);
            exit(INPUT_ENDED);
        }
    }
    const unsigned char *byte = buffer + position;
    position += 4;
    words_read++;
    return byte[0] | (unsigned int)byte[1] << 8 | (unsigned int)byte[2] << 16 | (unsigned int)byte[3] << 24;
}

static int usage(void)
{
    fprintf(stderr, "usage: testu01 smallcrush|crush|bigcrush, or testu01 rabbit|alphabit [BITS]\n");
    return USAGE;
}

int main(int argc, char **argv)
{
    if (argc < 2 || argc > 3)
        return usage();
    const char *battery = argv[1];
    double bits = DEFAULT_BITS;
    if (argc == 3) {
        char *end;
        bits = strtod(argv[2], &end);
        if (*end != '\0' || !(bits >= 500))
            return usage();
    }

    char name[] = "standard input";
    unif01_Gen *generator = unif01_CreateExternGenBits(name, next_word);
    swrite_Basic = FALSE;
    if (strcmp(battery, "rabbit") == 0)
        bbattery_Rabbit(generator, bits);
    else if (strcmp(battery, "alphabit") == 0)
        bbattery_Alphabit(generator, bits, 0, 32);
    else if (argc == 3)
        return usage();
    else if (strcmp(battery, "smallcrush") == 0)
        bbattery_SmallCrush(generator);
    else if (strcmp(battery, "crush") == 0)
        bbattery_Crush(generator);
    else if (strcmp(battery, "bigcrush") == 0)
        bbattery_BigCrush(generator);
    else
        return usage();

    int done = 0;
    for (int i = 0; i < bbattery_NTests; i++) {
        /* The library marks a test that it left out, for want of bits, by -1. */
        if (bbattery_pVal[i] < 0.0)
            continue;
        printf("\np %.17g %s", bbattery_pVal[i], bbattery_TestNames[i]);
        done++;
    }
    printf("\nend %d %llu\n", done, words_read);
    unif01_DeleteExternGenBits(generator);
    return fflush(stdout) == 0 ? OK : 1;
}
