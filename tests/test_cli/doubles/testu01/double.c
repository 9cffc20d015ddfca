/*
 * Stands in for the library TestU01, so that our program around it is compiled, linked and run where the library is not
 * installed. Two true tests, of the number of ones and of the byte values; a third statistic that was left out, as the
 * library marks it; and the first word, so that a test can see in which order the bytes arrive.
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bbattery.h"
#include "swrite.h"

lebool swrite_Basic = TRUE;
double bbattery_pVal[201];
char *bbattery_TestNames[201];
int bbattery_NTests;

unif01_Gen *unif01_CreateExternGenBits(char *name, unsigned int (*next)(void))
{
    unif01_Gen *generator = malloc(sizeof *generator);
    if (name == NULL || generator == NULL)
        abort();
    generator->next = next;
    return generator;
}

void unif01_DeleteExternGenBits(unif01_Gen *generator)
{
    free(generator);
}

static double upper_tail(double z)
{
    return erfc(z / sqrt(2.0)) / 2.0;
}

static void test(unif01_Gen *generator, double words)
{
    static char ones_name[] = "ones", bytes_name[] = "byte values, r = 0", left_out_name[] = "left out";
    double ones = 0.0, count[256] = {0.0}, chi_square = 0.0;

    if (swrite_Basic)
        abort(); /* our program turns the library's own report off */
    for (double i = 0.0; i < words; i++) {
        unsigned int word = generator->next();
        if (i == 0.0)
            printf("first word: %08x\n", word);
        for (int shift = 0; shift < 32; shift++)
            ones += word >> shift & 1u;
        for (int shift = 0; shift < 32; shift += 8)
            count[word >> shift & 255u]++;
    }
    for (int value = 0; value < 256; value++)
        chi_square += pow(count[value] - words / 64.0, 2.0) / (words / 64.0);
    bbattery_pVal[0] = upper_tail((ones - 16.0 * words) / sqrt(8.0 * words));
    bbattery_TestNames[0] = ones_name;
    bbattery_pVal[1] = -1.0;
    bbattery_TestNames[1] = left_out_name;
    bbattery_pVal[2] = upper_tail((chi_square - 255.0) / sqrt(510.0));
    bbattery_TestNames[2] = bytes_name;
    bbattery_NTests = 3;
}

void bbattery_SmallCrush(unif01_Gen *generator) { test(generator, 1 << 16); }
void bbattery_Crush(unif01_Gen *generator) { test(generator, 1 << 17); }
void bbattery_BigCrush(unif01_Gen *generator) { test(generator, 1 << 18); }
void bbattery_Rabbit(unif01_Gen *generator, double bits) { test(generator, bits / 32.0); }
void bbattery_Alphabit(unif01_Gen *generator, double bits, int skipped, int kept)
{
    if (skipped != 0 || kept != 32)
        abort();
    test(generator, bits / 32.0);
}
