/*
 * Keystream: a kernel with a key, for the provider `native`.
 *
 * It is the plain end of the extension: no requests, no rekeying, no fork
 * protection.  fortuna/generators/providers/native.py puts the contract of a
 * keystream generator around it.
 */
#include "native.h"

#include "../_kernels/wipe.h"

typedef struct {
    PyObject_HEAD
    const struct fortuna_kernel *kernel;
    uint8_t schedule[FORTUNA_SCHEDULE_MAX]; /* of the current key */
} Keystream;

PyDoc_STRVAR(keystream_doc,
"Keystream(cipher, kernel, /)\n--\n\n"
"A kernel and a key schedule; the contract is in fortuna.generators.base.\n\n"
"Raises ProviderUnavailableError where this processor or this build lacks the kernel.");

/* In __new__ rather than __init__, so that no instance is ever without a kernel. */
static PyObject *keystream_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    const char *cipher, *name;
    (void)kwargs;

    if (!PyArg_ParseTuple(args, "ss:Keystream", &cipher, &name))
        return NULL;
    native_state *state = fortuna_state_of(type);
    if (state == NULL)
        return NULL;
    const struct fortuna_kernel *kernel = fortuna_require_kernel(state, cipher, name);
    if (kernel == NULL)
        return NULL;
    Keystream *self = (Keystream *)type->tp_alloc(type, 0);
    if (self != NULL)
        self->kernel = kernel;
    return (PyObject *)self;
}

static void keystream_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    fortuna_wipe(((Keystream *)object)->schedule, FORTUNA_SCHEDULE_MAX);
    type->tp_free(object);
    Py_DECREF(type);
}

PyDoc_STRVAR(set_key_doc, "set_key(key, /)\n--\n\nExpand a key of exactly 32 bytes; the caller has checked it.");

static PyObject *keystream_set_key(PyObject *object, PyObject *key)
{
    Keystream *self = (Keystream *)object;
    Py_buffer view;

    if (fortuna_get_bytes(key, &view) < 0 || fortuna_check_size(&view, "key", FORTUNA_KEY_SIZE) < 0)
        return NULL;
    self->kernel->set_key(self->schedule, view.buf);
    PyBuffer_Release(&view);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(fill_doc,
"fill(counter, out, /)\n--\n\n"
"Fill *out* with keystream from the block whose number is the 16 bytes *counter*,\n"
"least significant first.");

static PyObject *keystream_fill(PyObject *object, PyObject *const *args, Py_ssize_t count)
{
    Keystream *self = (Keystream *)object;
    Py_buffer counter, out;

    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "fill takes a counter and a buffer");
        return NULL;
    }
    if (fortuna_get_bytes(args[0], &counter) < 0 || fortuna_check_size(&counter, "counter", FORTUNA_COUNTER_SIZE) < 0)
        return NULL;
    if (fortuna_get_writable(args[1], &out) < 0) {
        PyBuffer_Release(&counter);
        return NULL;
    }
    if (out.len < FORTUNA_LARGE) {
        self->kernel->keystream(self->schedule, counter.buf, out.buf, (size_t)out.len);
    } else {
        /* From a copy: another thread could set a key meanwhile. */
        uint8_t schedule[FORTUNA_SCHEDULE_MAX];
        memcpy(schedule, self->schedule, sizeof schedule);
        Py_BEGIN_ALLOW_THREADS
        self->kernel->keystream(schedule, counter.buf, out.buf, (size_t)out.len);
        Py_END_ALLOW_THREADS
        fortuna_wipe(schedule, sizeof schedule);
    }
    PyBuffer_Release(&counter);
    PyBuffer_Release(&out);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(wipe_doc, "wipe()\n--\n\nOverwrite the key schedule.");

static PyObject *keystream_wipe(PyObject *object, PyObject *unused)
{
    (void)unused;
    fortuna_wipe(((Keystream *)object)->schedule, FORTUNA_SCHEDULE_MAX);
    Py_RETURN_NONE;
}

static PyMethodDef keystream_methods[] = {
    {"set_key", keystream_set_key, METH_O, set_key_doc},
    {"fill", (PyCFunction)(void (*)(void))keystream_fill, METH_FASTCALL, fill_doc},
    {"wipe", keystream_wipe, METH_NOARGS, wipe_doc},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot keystream_slots[] = {
    {Py_tp_doc, (void *)keystream_doc},
    {Py_tp_new, keystream_new},
    {Py_tp_dealloc, keystream_dealloc},
    {Py_tp_methods, keystream_methods},
    {0, NULL},
};

PyType_Spec fortuna_keystream_spec = {
    .name = "fortuna.generators._native.Keystream",
    .basicsize = sizeof(Keystream),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = keystream_slots,
};
