/* AES-256-ICM on VAES with 256-bit vectors: eight pairs of blocks in flight. */
#define AES_SET fortuna_aes256_icm_vaes
#define AES_NAME "vaes"
#define AES_FEATURES (FORTUNA_CPU_AESNI | FORTUNA_CPU_AVX2 | FORTUNA_CPU_VAES)
#if defined(__AES__) && defined(__VAES__) && defined(__AVX2__)
#include "aes256_x86.h"
#define AES_WIDTH 2
#define AES_ROUND(x, k) ((wide)_mm256_aesenc_epi128((__m256i)(x), (__m256i)(k)))
#define AES_LAST(x, k) ((wide)_mm256_aesenclast_epi128((__m256i)(x), (__m256i)(k)))
#define AES_SPREAD(k) ((wide)_mm256_broadcastsi128_si256((__m128i)(k)))
#else
#define AES_ABSENT "not compiled for VAES"
#endif
#include "aes256_icm.h"
