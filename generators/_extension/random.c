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

/* The base's own state comes first, 2.5 KB of a twister that nothing here reads; how much is checked at import. */
enum { BASE_ROOM = 4096 };

typedef struct {
    union {
        PyObject head;
        char room[BASE_ROOM];
    } base;
    PyObject *target;    /* the live generator, once asked for */
    native_state *state; /* of the module */
    int is_native;       /* whether the target is a Generator */
} Random;

/* Doubles of random.random(): 53 bits over 2^53. */
#define DOUBLE_BITS 53

/* What one number draws, though it needs 8 bytes at most: requests of whole blocks are the quickest. */
enum { DRAWN_SIZE = 32 };

static int resolve(Random *self)
{
    native_state *state = fortuna_state_of(Py_TYPE(self));
    PyObject *target = state == NULL ? NULL : PyObject_CallMethodNoArgs((PyObject *)self, state->generator);
    if (target == NULL)
        return -1;
    self->state = state;
    self->is_native = PyObject_TypeCheck(target, state->generator_type);
    /* Last, and to whoever was first: a signal handler that draws may have been here meanwhile. */
    Py_XSETREF(self->target, target);
    return 0;
}

/* n random bytes, 1..8, as an unsigned number with the first byte on top. */
static int draw(PyObject *object, int n, uint64_t *number)
{
    Random *self = (Random *)object;
    uint8_t bytes[DRAWN_SIZE];

    if (self->target == NULL && resolve(self) < 0)
        return -1;
    if (self->is_native) {
        if (fortuna_generator_fill(self->target, bytes, sizeof bytes) < 0)
            return -1;
    } else {
        PyObject *given = PyObject_CallMethod(self->target, "random_bytes", "i", n);
        if (given == NULL)
            return -1;
        memcpy(bytes, PyBytes_AS_STRING(given), (size_t)n);
        Py_DECREF(given);
    }
    uint64_t whole = 0;
    for (int i = 0; i < 8; i++)
        whole = whole << 8 | bytes[i];
    *number = whole >> (64 - 8 * n);
    return 0;
}

PyDoc_STRVAR(random_doc, "random()\n--\n\nReturn a float x, 0.0 <= x < 1.0, a multiple of 2**-53.");

static PyObject *random_random(PyObject *self, PyObject *unused)
{
    uint64_t number;
    (void)unused;

    if (draw(self, 7, &number) < 0)
        return NULL;
    return PyFloat_FromDouble((double)(number >> (7 * 8 - DOUBLE_BITS)) / (double)(UINT64_C(1) << DOUBLE_BITS));
}

PyDoc_STRVAR(randbytes_doc, "randbytes(n, /)\n--\n\nReturn *n* random bytes; see fortuna.Fortuna.random_bytes.");

static PyObject *random_randbytes(PyObject *object, PyObject *n)
{
    Random *self = (Random *)object;

    if (self->target == NULL && resolve(self) < 0)
        return NULL;
    if (self->is_native)
        return fortuna_generator_random_bytes(self->target, n);
    return PyObject_CallMethod(self->target, "random_bytes", "O", n);
}

/* More bits than a machine word has: as in Python. */
static PyObject *many_bits(PyObject *self, Py_ssize_t k)
{
    Py_ssize_t size = k / 8 + (k % 8 != 0);
    PyObject *count = PyLong_FromSsize_t(size);
    PyObject *bytes = count == NULL ? NULL : random_randbytes(self, count);
    PyObject *whole = bytes == NULL ? NULL : PyObject_CallMethod((PyObject *)&PyLong_Type, "from_bytes", "Os", bytes, "big");
    PyObject *excess = PyLong_FromSsize_t(size * 8 - k);
    PyObject *number = whole == NULL || excess == NULL ? NULL : PyNumber_Rshift(whole, excess);
    Py_XDECREF(count);
    Py_XDECREF(bytes);
    Py_XDECREF(whole);
    Py_XDECREF(excess);
    return number;
}

PyDoc_STRVAR(getrandbits_doc, "getrandbits(k, /)\n--\n\nReturn an integer x, 0 <= x < 2**k.");

static PyObject *random_getrandbits(PyObject *self, PyObject *bits)
{
    Py_ssize_t k = PyNumber_AsSsize_t(bits, PyExc_OverflowError);
    uint64_t number;

    if (k == -1 && PyErr_Occurred())
        return NULL;
    if (k < 0) {
        PyErr_SetString(PyExc_ValueError, "number of bits must be non-negative");
        return NULL;
    }
    if (k > 64)
        return many_bits(self, k);
    if (k == 0)
        return PyLong_FromLong(0);
    int size = (int)(k + 7) / 8;
    if (draw(self, size, &number) < 0)
        return NULL;
    return PyLong_FromUnsignedLongLong(number >> (size * 8 - k));
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
        return PyObject_CallMethod(self, "_randbelow_with_getrandbits", "O", limit);
    }
    uint32_t bound = (uint32_t)n, excess = (0 - bound) % bound; /* 2^32 mod n */
    do {
        if (draw(self, 4, &number) < 0)
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
    {"randbytes", random_randbytes, METH_O, randbytes_doc},
    {"getrandbits", random_getrandbits, METH_O, getrandbits_doc},
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
