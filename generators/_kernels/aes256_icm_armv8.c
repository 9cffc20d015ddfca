/* AES-256-ICM on the ARMv8 cryptographic extension: eight blocks in flight.
 * Its AESE adds the key *before* SubBytes and ShiftRows.  Given zero there, and
 * the key added at the end, it has the form that FIPS 197 and the shared code
 * use; the compiler folds that addition into the next AESE. */
#define AES_SET fortuna_aes256_icm_armv8
#define AES_NAME "armv8"
#define AES_FEATURES FORTUNA_CPU_ARMV8_AES
#if defined(__ARM_FEATURE_AES) || defined(__ARM_FEATURE_CRYPTO)
#include <arm_neon.h>
#define AES_SUB_SHIFT(x) vaeseq_u8((uint8x16_t)(x), vdupq_n_u8(0))
#define AES_BLOCK_ROUND(x, k) ((block)vaesmcq_u8(AES_SUB_SHIFT(x)) ^ (k))
#define AES_BLOCK_LAST(x, k) ((block)AES_SUB_SHIFT(x) ^ (k))
#define AES_WIDTH 1
#define AES_ROUND AES_BLOCK_ROUND
#define AES_LAST AES_BLOCK_LAST
#define AES_SPREAD(k) (k)
#else
#define AES_ABSENT "not compiled for the ARMv8 cryptographic extension"
#endif
#include "aes256_icm.h"
