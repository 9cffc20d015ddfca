/* AES-NI's two encryption instructions on one block, for aes256_icm.h: each does
 * SubBytes, ShiftRows, (MixColumns) and then adds the key. */
#include <immintrin.h>
#define AES_BLOCK_ROUND(x, k) ((block)_mm_aesenc_si128((__m128i)(x), (__m128i)(k)))
#define AES_BLOCK_LAST(x, k) ((block)_mm_aesenclast_si128((__m128i)(x), (__m128i)(k)))
