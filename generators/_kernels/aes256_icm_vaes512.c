/* AES-256-ICM on VAES with 512-bit vectors: eight fours of blocks in flight. */
#define AES_SET fortuna_aes256_icm_vaes512
#define AES_NAME "vaes512"
#define AES_FEATURES (FORTUNA_CPU_AESNI | FORTUNA_CPU_AVX512 | FORTUNA_CPU_VAES)
#if defined(__AES__) && defined(__VAES__) && defined(__AVX512F__) && defined(__AVX512VL__)
#include "aes256_x86.h"
#define AES_WIDTH 4
#define AES_ROUND(x, k) ((wide)_mm512_aesenc_epi128((__m512i)(x), (__m512i)(k)))
#define AES_LAST(x, k) ((wide)_mm512_aesenclast_epi128((__m512i)(x), (__m512i)(k)))
#define AES_SPREAD(k) ((wide)_mm512_broadcast_i32x4((__m128i)(k)))
#else
#define AES_ABSENT "not compiled for VAES and AVX-512"
#endif
#include "aes256_icm.h"
