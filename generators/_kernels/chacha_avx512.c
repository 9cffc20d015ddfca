/* ChaCha on AVX-512: sixteen blocks side by side.  It rotates in one instruction. */
#define CHACHA_SET fortuna_chacha_avx512
#define CHACHA_NAME "avx512"
#define CHACHA_FEATURES FORTUNA_CPU_AVX512
#if defined(__AVX512F__) && defined(__AVX512VL__)
#define CHACHA_LANES 16
#define CHACHA_STATES 2
#define CHACHA_SHUFFLES 0
#else
#define CHACHA_ABSENT "not compiled for AVX-512"
#endif
#include "chacha.h"
