/* Stands in for TestU01's header of the same name: what our program uses of it. */
#ifndef UNIF01_H
#define UNIF01_H
typedef enum { FALSE, TRUE } lebool;
typedef struct { unsigned int (*next)(void); } unif01_Gen;
unif01_Gen *unif01_CreateExternGenBits(char *name, unsigned int (*next)(void));
void unif01_DeleteExternGenBits(unif01_Gen *generator);
#endif
