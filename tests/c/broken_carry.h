/*
 * Break a kernel on purpose: `-include broken_carry.h` before any kernel source
 * makes it forget the carry from the low half of the counter into the high one,
 * the mistake that vectorised ChaChas have most often made.  The self-test must
 * refuse the result.  Not for a build that anybody uses.
 */
#include "counter.h"
#define fortuna_counter_plus(c, blocks) ((struct fortuna_counter){(c).low + (blocks), (c).high})
