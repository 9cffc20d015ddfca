/* AES-256-ICM on AES-NI: eight blocks in flight. */
#define AES_SET fortuna_aes256_icm_aesni
#define AES_NAME "aesni"
#define AES_FEATURES FORTUNA_CPU_AESNI
#if defined(__AES__) && defined(__SSE4_2__)
#include "aes256_x86.h"
#define AES_WIDTH 1
#define AES_ROUND AES_BLOCK_ROUND
#define AES_LAST AES_BLOCK_LAST
#define AES_SPREAD(k) (k)
#else
#define AES_ABSENT "not compiled for AES-NI"
#endif
#include "aes256_icm.h"
