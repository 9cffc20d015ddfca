/* ChaCha on SSSE3: four blocks side by side, and the byte shuffle. */
#define CHACHA_SET fortuna_chacha_ssse3
#define CHACHA_NAME "ssse3"
#define CHACHA_FEATURES FORTUNA_CPU_SSSE3
#ifdef __SSSE3__
#define CHACHA_LANES 4
#define CHACHA_STATES 1
#define CHACHA_SHUFFLES 1
#else
#define CHACHA_ABSENT "not compiled for SSSE3"
#endif
#include "chacha.h"
