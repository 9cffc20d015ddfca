/* Stands in for TestU01's header of the same name. */
#ifndef BBATTERY_H
#define BBATTERY_H
#include "unif01.h"
extern double bbattery_pVal[];
extern char *bbattery_TestNames[];
extern int bbattery_NTests;
void bbattery_SmallCrush(unif01_Gen *generator);
void bbattery_Crush(unif01_Gen *generator);
void bbattery_BigCrush(unif01_Gen *generator);
void bbattery_Rabbit(unif01_Gen *generator, double bits);
void bbattery_Alphabit(unif01_Gen *generator, double bits, int skipped, int kept);
#endif
