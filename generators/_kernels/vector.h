/*
 * The two operations on compiler vector types that have no operator in C.
 *
 * GCC and Clang give vectors the arithmetic of their elements.  Comparison
 * yields all ones (that is, -1) where true, so subtracting a comparison adds
 * a carry.  Rearranging elements is __builtin_shufflevector in Clang and since
 * GCC 12; the older __builtin_shuffle of GCC takes its indices as a vector.
 */
#ifndef FORTUNA_VECTOR_H
#define FORTUNA_VECTOR_H

/* How vectors are passed to functions depends on the instruction set, and GCC
 * warns of it.  Every function here that takes or returns one is inlined. */
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define FORTUNA_SHUFFLE(type, a, b, ...) ((type)__builtin_shufflevector(a, b, __VA_ARGS__))
#endif
#endif
#ifndef FORTUNA_SHUFFLE
#define FORTUNA_SHUFFLE(type, a, b, ...) ((type)__builtin_shuffle(a, b, (type){__VA_ARGS__}))
#endif

#endif
