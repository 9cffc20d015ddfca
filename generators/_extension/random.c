/*
 * The primitives of fortuna.Random: a type derived from the standard library's
 * _random.Random, with a live generator in place of the Mersenne Twister.
 *
 * Each call is a request of its own, with its own rekey, through the same door
 * as random_bytes: what that looks at, forks, clocks, restores and a close,
 * is looked at here as well.  The generator is asked for once, at the first
 * call, by the method _generator.
 */
#include "native.h"

#include "../_kernels/counter.h"

/* The base's own state comes first, 2.5 KB of a twister that nothing here reads; how much is checked at import. */
enum { BASE_ROOM = 4096 };

typedef struct {
    union {
        PyObject head;
        char room[BASE_ROOM];
    } base;
    PyObject *target; /* the live generator, once asked for; never replaced */
    int is_native;    /* whether the target is a Generator; from before the target is there */
#ifdef Py_GIL_DISABLED
    PyMutex mutex; /* of the two above, until they are there */
#endif
} Random;

/* Doubles of random.random(): 53 bits over 2^53. */
#define DOUBLE_BITS 53

/*
 * What one number draws, though it uses 8 bytes at most: two blocks of AES, half
 * a block of ChaCha.  A request of 8 or 16 bytes is no quicker, and under AES up
 * to 2 ns slower.  In Python, where the same is drawn, it makes no difference.
 * With one size for every number, on both paths, a generator that has given the
 * same numbers has the same state.
 */
enum { DRAWN_SIZE = 32 };

/* Where the target is read without the mutex, what was written before it must be seen. */
static int is_resolved(Random *self)
{
    return __atomic_load_n(&self->target, __ATOMIC_ACQUIRE) != NULL;
}

static int resolve(Random *self)
{
    native_state *state = fortuna_state_of(Py_TYPE(self));
    PyObject *target = state == NULL ? NULL : PyObject_CallMethodNoArgs((PyObject *)self, state->generator);
    if (target == NULL)
        return -1;
    LOCK(self);
    /* Meanwhile a signal handler or another thread may have been here, and somebody may be drawing: the first stays. */
    if (self->target == NULL) {
        self->is_native = PyObject_TypeCheck(target, state->generator_type);
        Py_INCREF(target);
        __atomic_store_n(&self->target, target, __ATOMIC_RELEASE);
    }
    UNLOCK(self);
    Py_DECREF(target);
    return 0;
}

/* n bytes of a target that is no Generator, whose answer is looked at: it can be anything that a subclass chose. */
static PyObject *ask(Random *self, Py_ssize_t n)
{
    PyObject *given = PyObject_CallMethod(self->target, "random_bytes", "n", n);
    if (given == NULL)
        return NULL;
    if (!PyBytes_Check(given))
        PyErr_Format(PyExc_TypeError, "random_bytes: got a %.200s, need bytes", Py_TYPE(given)->tp_name);
    else if (PyBytes_GET_SIZE(given) != n)
        PyErr_Format(PyExc_ValueError, "random_bytes: got %zd bytes, need exactly %zd bytes", PyBytes_GET_SIZE(given), n);
    else
        return given;
    Py_DECREF(given);
    return NULL;
}

static int ask_into(Random *self, uint8_t *bytes, Py_ssize_t n)
{
    PyObject *given = ask(self, n);
    if (given == NULL)
        return -1;
    memcpy(bytes, PyBytes_AS_STRING(given), (size_t)n);
    Py_DECREF(given);
    return 0;
}

/* A number of so many random bits, 1..64: the first of what is drawn, the first byte on top. */
static inline int draw(PyObject *object, int bits, uint64_t *number)
{
    Random *self = (Random *)object;
    uint8_t bytes[DRAWN_SIZE];

    if (!is_resolved(self) && resolve(self) < 0)
        return -1;
    int status = self->is_native ? fortuna_generator_fill(self->target, bytes, sizeof bytes)
                                 : ask_into(self, bytes, sizeof bytes);
    if (status < 0)
        return -1;
    uint64_t whole;
    memcpy(&whole, bytes, sizeof whole);
    *number = (FORTUNA_BIG_ENDIAN ? whole : __builtin_bswap64(whole)) >> (64 - bits);
    return 0;
}

/* The one argument of a method that the standard library has in Python, and so by position or by name. */
static PyObject *only_argument(const char *method, const char *name, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    if (count == 1 && names == NULL)
        return args[0];
    if (count == 0 && names != NULL && PyTuple_GET_SIZE(names) == 1 &&
        PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), name) == 0)
        return args[0];
    PyErr_Format(PyExc_TypeError, "%s(): need exactly one argument, %s", method, name);
    return NULL;
}

PyDoc_STRVAR(random_doc, "random()\n--\n\nReturn a float x, 0.0 <= x < 1.0, a multiple of 2**-53.");

static PyObject *random_random(PyObject *self, PyObject *unused)
{
    uint64_t number;
    (void)unused;

    if (draw(self, DOUBLE_BITS, &number) < 0)
        return NULL;
    return PyFloat_FromDouble((double)number / (double)(UINT64_C(1) << DOUBLE_BITS));
}

PyDoc_STRVAR(randbytes_doc, "randbytes($self, /, n)\n--\n\nReturn *n* random bytes; see fortuna.Fortuna.random_bytes.");

static PyObject *random_randbytes(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    Random *self = (Random *)object;
    PyObject *n = only_argument("randbytes", "n", args, count, names);

    if (n == NULL || (!is_resolved(self) && resolve(self) < 0))
        return NULL;
    if (self->is_native)
        return fortuna_generator_random_bytes(self->target, n);
    return PyObject_CallMethod(self->target, "random_bytes", "(O)", n);
}

/* More bits than a machine word has: as in Python. */
static PyObject *many_bits(PyObject *object, Py_ssize_t k)
{
    Random *self = (Random *)object;
    Py_ssize_t size = k / 8 + (k % 8 != 0);

    if (!is_resolved(self) && resolve(self) < 0)
        return NULL;
    PyObject *count = PyLong_FromSsize_t(size);
    PyObject *bytes = count == NULL    ? NULL
                      : self->is_native ? fortuna_generator_random_bytes(self->target, count)
                                        : ask(self, size);
    PyObject *whole = bytes == NULL ? NULL : PyObject_CallMethod((PyObject *)&PyLong_Type, "from_bytes", "Os", bytes, "big");
    PyObject *excess = PyLong_FromSsize_t(size * 8 - k);
    PyObject *number = whole == NULL || excess == NULL ? NULL : PyNumber_Rshift(whole, excess);
    Py_XDECREF(count);
    Py_XDECREF(bytes);
    Py_XDECREF(whole);
    Py_XDECREF(excess);
    return number;
}

/* The error of more bits than Py_ssize_t counts: whether they have too many bytes for that too, or for memory alone. */
static PyObject *refuse_bits(PyObject *bits)
{
    PyObject *index = PyNumber_Index(bits), *three = PyLong_FromLong(3);
    PyObject *size = index == NULL || three == NULL ? NULL : PyNumber_Rshift(index, three);
    if (size != NULL && (PyLong_AsSsize_t(size) != -1 || !PyErr_Occurred()))
        PyErr_SetString(PyExc_MemoryError, "k: more bits than memory can hold");
    Py_XDECREF(index);
    Py_XDECREF(three);
    Py_XDECREF(size);
    return NULL;
}

PyDoc_STRVAR(getrandbits_doc, "getrandbits($self, /, k)\n--\n\nReturn an integer x, 0 <= x < 2**k.");

static PyObject *random_getrandbits(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    PyObject *bits = only_argument("getrandbits", "k", args, count, names);
    /* What is beyond either end of Py_ssize_t becomes that end. */
    Py_ssize_t k = bits == NULL ? -1 : PyNumber_AsSsize_t(bits, NULL);
    uint64_t number;

    if (k == -1 && PyErr_Occurred())
        return NULL;
    if (k < 0) {
        PyErr_SetString(PyExc_ValueError, "number of bits must be non-negative");
        return NULL;
    }
    if (k == PY_SSIZE_T_MAX)
        return refuse_bits(bits);
    if (k > 64)
        return many_bits(self, k);
    if (k == 0)
        return PyLong_FromLong(0);
    if (draw(self, (int)k, &number) < 0)
        return NULL;
    return PyLong_FromUnsignedLongLong(number);
}

PyDoc_STRVAR(randbelow_doc, "_randbelow(n, /)\n--\n\nReturn an integer x, 0 <= x < *n*, each as likely as the others.");

/*
 * Lemire, "Fast random integer generation in an interval", 2019: the upper half
 * of 32 random bits times n, made again in the few cases that would make some
 * results likelier.  Nearly always a single request.
 */
static PyObject *random_randbelow(PyObject *self, PyObject *limit)
{
    long long n = PyLong_Check(limit) ? PyLong_AsLongLong(limit) : -1;
    uint64_t number;

    if (n < 1 || n > UINT32_MAX) {
        PyErr_Clear();
        /* Larger, or no integer: the standard library's loop, and its errors. */
        return PyObject_CallMethod(self, "_randbelow_with_getrandbits", "(O)", limit);
    }
    uint32_t bound = (uint32_t)n, excess = (0 - bound) % bound; /* 2^32 mod n */
    do {
        if (draw(self, 32, &number) < 0)
            return NULL;
        number *= bound;
    } while ((uint32_t)number < excess);
    return PyLong_FromUnsignedLong((unsigned long)(number >> 32));
}

static int random_traverse(PyObject *object, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(((Random *)object)->target);
    return 0;
}

static int random_clear(PyObject *object)
{
    Py_CLEAR(((Random *)object)->target);
    return 0;
}

static void random_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    random_clear(object);
    type->tp_free(object);
    Py_DECREF(type);
}

static PyMethodDef random_methods[] = {
    {"random", random_random, METH_NOARGS, random_doc},
    {"randbytes", (PyCFunction)(void (*)(void))random_randbytes, METH_FASTCALL | METH_KEYWORDS, randbytes_doc},
    {"getrandbits", (PyCFunction)(void (*)(void))random_getrandbits, METH_FASTCALL | METH_KEYWORDS, getrandbits_doc},
    {"_randbelow", random_randbelow, METH_O, randbelow_doc},
    {NULL, NULL, 0, NULL},
};

PyDoc_STRVAR(type_doc, "The primitives of fortuna.Random; a subclass has the method _generator.");

static PyType_Slot random_slots[] = {
    {Py_tp_doc, (void *)type_doc},
    {Py_tp_traverse, random_traverse},
    {Py_tp_clear, random_clear},
    {Py_tp_dealloc, random_dealloc},
    {Py_tp_methods, random_methods},
    {0, NULL},
};

/* Not immutable, as the other types are, because its base is not either. */
static PyType_Spec random_spec = {
    .name = "fortuna.generators._native.Random",
    .basicsize = sizeof(Random),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .slots = random_slots,
};

/* Made when it is asked for, because nothing else needs the standard library's type. */
PyObject *fortuna_random_type(PyObject *module, PyObject *unused)
{
    (void)unused;
    PyObject *home = PyImport_ImportModule("_random");
    PyObject *base = home == NULL ? NULL : PyObject_GetAttrString(home, "Random");
    PyObject *bases = base == NULL ? NULL : PyTuple_Pack(1, base);
    PyObject *type = NULL;
    if (bases != NULL && ((PyTypeObject *)base)->tp_basicsize > BASE_ROOM)
        PyErr_SetString(PyExc_ImportError, "_random.Random: it is larger than this build of fortuna allows for");
    else if (bases != NULL)
        type = PyType_FromModuleAndSpec(module, &random_spec, bases);
    Py_XDECREF(home);
    Py_XDECREF(base);
    Py_XDECREF(bases);
    return type;
}
