/* ChaCha on NEON: four blocks side by side, and the byte shuffle (REV32, TBL). */
#define CHACHA_SET fortuna_chacha_neon
#define CHACHA_NAME "neon"
#define CHACHA_FEATURES FORTUNA_CPU_NEON
#ifdef __ARM_NEON
#define CHACHA_LANES 4
#define CHACHA_STATES 1
#define CHACHA_SHUFFLES 1
#else
#define CHACHA_ABSENT "not compiled for NEON"
#endif
#include "chacha.h"
