/*
 * What the files of the extension module share.
 *
 * The kernels below know nothing of Python; everything that does is here.  The
 * module keeps its state per interpreter and has no other.
 */
#ifndef FORTUNA_NATIVE_H
#define FORTUNA_NATIVE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "../_kernels/cpu.h"
#include "../_kernels/kernels.h"

/* For an object with a member `mutex` where there is no GIL. */
#ifdef Py_GIL_DISABLED
#define LOCK(self) PyMutex_Lock(&(self)->mutex)
#define UNLOCK(self) PyMutex_Unlock(&(self)->mutex)
#else
#define LOCK(self) ((void)(self)) /* the GIL is held */
#define UNLOCK(self) ((void)(self))
#endif

/* One interpreter's module: what the processor can do, the error classes of
 * fortuna.errors, and the types. */
typedef struct {
    struct fortuna_cpu cpu;
    PyObject *parameter_error;
    PyObject *request_too_large_error;
    PyObject *not_seeded_error;
    PyObject *provider_unavailable_error;
    PyObject *attend;           /* the interned name of the method called when a request needs attention */
    PyObject *mix;              /* of the one called before each call where entropy.per_request says so */
    PyObject *generator;        /* of the one that a Random asks for its generator */
    PyObject *refuse_if_closed; /* and of the one that raises where the generator is closed */
    PyTypeObject *generator_type;
} native_state;

extern struct PyModuleDef fortuna_native_module;
extern PyType_Spec fortuna_keystream_spec;
extern PyType_Spec fortuna_generator_spec;
extern PyType_Spec fortuna_first_call_spec;
extern PyType_Spec fortuna_bit_generator_spec;

/* The state of the module that defined `type` or a base of it. */
native_state *fortuna_state_of(PyTypeObject *type);

/* The kernel of that name for that cipher if this very processor can run it;
 * otherwise null with ProviderUnavailableError set. */
const struct fortuna_kernel *fortuna_require_kernel(native_state *state, const char *cipher, const char *name);

/* Get a contiguous view of bytes, writable or not, or raise BufferError that
 * says which property is wrong. */
int fortuna_get_bytes(PyObject *object, Py_buffer *view);
int fortuna_get_writable(PyObject *object, Py_buffer *view);

/* Release the view and raise ValueError unless it has `size` bytes. */
int fortuna_check_size(Py_buffer *view, const char *name, int size);

/* Copy K without leaving it in a register, from where the dynamic linker could save it to the stack. */
void fortuna_copy_key(uint8_t to[FORTUNA_KEY_SIZE], const uint8_t from[FORTUNA_KEY_SIZE]);

/* n bytes of keystream and more are made with the GIL released: below, giving
 * it up and getting it back costs more than the bytes do. */
enum { FORTUNA_LARGE = 16384 };

/* Functions of the module, in cpu_random.c. */
PyObject *fortuna_cpu_random_instructions(PyObject *module, PyObject *unused);
PyObject *fortuna_cpu_random(PyObject *module, PyObject *args);

/* In random.c. */
PyObject *fortuna_random_type(PyObject *module, PyObject *unused);

/* A request of n > 0 bytes to a Generator, as its readinto; on an error all of `out` is zero. */
int fortuna_generator_fill(PyObject *self, uint8_t *out, size_t n);

/* Whether a request would be served now without attention, and `reseeds` is still the count of its reseeds. */
int fortuna_generator_is_settled(PyObject *self, uint64_t reseeds);
uint64_t fortuna_generator_reseeds(PyObject *self);

/* The generation number that it watches, as it is now; 0 for none. */
uint64_t fortuna_generator_generation(PyObject *self);

/* Generator.random_bytes, for a caller who knows that `self` is a Generator. */
PyObject *fortuna_generator_random_bytes(PyObject *self, PyObject *n);
PyObject *fortuna_generator_readinto(PyObject *self, PyObject *buffer);

#endif
