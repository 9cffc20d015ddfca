/*
 * Which kernels there are, and which of them a processor can run.
 *
 * Nothing here remembers a choice: every function takes the processor's
 * features as an argument and returns a pointer into constant tables.  The
 * choice belongs to the instance that made it.
 */
#ifndef FORTUNA_DISPATCH_H
#define FORTUNA_DISPATCH_H

#include "cpu.h"
#include "kernels.h"

/* Every set of the source tree, the best of each family first, ended by a null
 * pointer.  Sets that this build lacks are in it, with their reason. */
extern const struct fortuna_kernel_set *const fortuna_kernel_sets[];

/* Walk the kernels that serve `cipher` on `cpu`, best first: the first one for
 * `after` = null, then the one after `after`, null at the end.  A caller who
 * self-tests moves on to the next when one fails. */
const struct fortuna_kernel *fortuna_kernel_next(const char *cipher, struct fortuna_cpu cpu,
                                                 const struct fortuna_kernel *after);

enum fortuna_kernel_status {
    FORTUNA_KERNEL_FOUND,
    FORTUNA_KERNEL_UNKNOWN,     /* no set has that cipher under that name */
    FORTUNA_KERNEL_NOT_BUILT,   /* this build has none; detail: the reason */
    FORTUNA_KERNEL_UNSUPPORTED  /* the processor cannot run it; detail: the feature that it lacks */
};

/* Find the kernel called `name` for `cipher`.  Sets *kernel to it, or to null
 * with *detail to a constant text or null.  Never falls back to another. */
enum fortuna_kernel_status fortuna_kernel_find(const char *cipher, const char *name, struct fortuna_cpu cpu,
                                               const struct fortuna_kernel **kernel, const char **detail);

#endif
