/* ChaCha on AVX2: eight blocks side by side, and the byte shuffle. */
#define CHACHA_SET fortuna_chacha_avx2
#define CHACHA_NAME "avx2"
#define CHACHA_FEATURES FORTUNA_CPU_AVX2
#ifdef __AVX2__
#define CHACHA_LANES 8
#define CHACHA_STATES 1
#define CHACHA_SHUFFLES 1
#else
#define CHACHA_ABSENT "not compiled for AVX2"
#endif
#include "chacha.h"
