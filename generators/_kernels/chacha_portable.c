/* ChaCha in plain vector types, with no instruction set asked for: four blocks
 * side by side where the compiler's baseline has 128-bit vectors, else one. */
#define CHACHA_SET fortuna_chacha_portable
#define CHACHA_NAME "portable"
#define CHACHA_FEATURES 0
#if defined(__SSE2__) || defined(__ARM_NEON) || defined(__ALTIVEC__) || defined(__VX__)
#define CHACHA_LANES 4
#else
#define CHACHA_LANES 1
#endif
#define CHACHA_STATES 1
#define CHACHA_SHUFFLES 0
#include "chacha.h"
