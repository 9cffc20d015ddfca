/* Stands in for TestU01's header of the same name. */
#include "unif01.h"
extern lebool swrite_Basic;
