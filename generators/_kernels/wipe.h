/*
 * Wiping: stores that the compiler cannot drop.
 *
 * A plain memset before a return is dead to the optimiser and goes.  The empty
 * assembler statement below claims to read the memory, so the stores in front
 * of it must have happened.
 *
 * Named buffers are one half of the matter.  The other is what the compiler
 * leaves without a name: registers that it spilled into the frame of a function
 * long gone, and the registers themselves, which whatever runs next may write
 * to memory.  Therefore each kernel does its work in functions that are not
 * inlined (FORTUNA_SECRET, which also clears their registers where the compiler
 * can: GCC 11, Clang 15), and its entry point then overwrites the stack below
 * itself, where those functions had their frames.  tests/c/test_wipe.c searches
 * a whole stack for remains.
 *
 * One thing is for whoever links the kernels: bind memcpy and memset when the
 * program is loaded (-Wl,-z,now).  A lazily bound one would be looked up at its
 * first call, and the dynamic linker saves all vector registers, with what
 * they hold just then, far below the stack that is wiped here.
 */
#ifndef FORTUNA_WIPE_H
#define FORTUNA_WIPE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define FORTUNA_INLINE static inline __attribute__((always_inline))

#if defined(__has_attribute)
#if __has_attribute(zero_call_used_regs)
#define FORTUNA_SECRET __attribute__((noinline, zero_call_used_regs("used")))
#endif
#endif
#ifndef FORTUNA_SECRET
#define FORTUNA_SECRET __attribute__((noinline))
#endif

FORTUNA_INLINE void fortuna_wipe(void *memory, size_t n)
{
    memset(memory, 0, n);
    __asm__ volatile("" : : "r"(memory) : "memory");
}

/* Define a function that overwrites `size` bytes just below its caller's frame.
 *
 * The first bytes below a frame count most, leaf functions spill there, so the
 * array must begin there too.  A compiler that knows what is written with
 * vector instructions aligns it to 32 or 64 bytes and leaves a gap above it;
 * hence the pointer is hidden.  A size of 8 more than a multiple of 16 leaves
 * none either between the array and a stack protector's canary. */
#define FORTUNA_WIPE_STACK(name, size)                  \
    static __attribute__((noinline)) void name(void)    \
    {                                                   \
        _Static_assert((size) % 16 == 8, "see above");  \
        uint8_t frame[size], *start = frame;            \
        __asm__ volatile("" : "+r"(start));             \
        fortuna_wipe(start, sizeof frame);              \
    }

#endif
