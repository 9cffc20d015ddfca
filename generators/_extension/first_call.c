/*
 * FirstCall: a function of the module `fortuna` that boots when it is first
 * called, and from then on goes straight to the booted generator.
 *
 * `fortuna.random_bytes` must exist before anything is booted, and whoever has
 * imported it by name keeps that very object.  So it is an object that looks
 * its generator up once.  A process boots once, which is why once is enough.
 */
#include "native.h"

#include <structmember.h>

typedef PyObject *(*one_argument)(PyObject *, PyObject *);

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *wrapped;  /* the same in plain Python: its name, documentation and signature */
    PyObject *boot;     /* called without arguments, returns the generator */
    PyObject *name;     /* of the generator's method */
    PyObject *target;   /* the generator, once booted */
    one_argument direct; /* the method itself, where the generator is a native one */
    native_state *state;
} FirstCall;

/* FirstCall(wrapped, boot): the method named as `wrapped`, of what boot() returns. */
static PyObject *first_call(PyObject *object, PyObject *const *args, size_t flags, PyObject *keywords)
{
    FirstCall *self = (FirstCall *)object;
    Py_ssize_t count = PyVectorcall_NARGS(flags);

    if (self->target == NULL) {
        PyObject *target = PyObject_CallNoArgs(self->boot);
        if (target == NULL)
            return NULL;
        if (PyObject_TypeCheck(target, self->state->generator_type)) {
            int reads = PyUnicode_CompareWithASCIIString(self->name, "readinto") == 0;
            self->direct = reads ? fortuna_generator_readinto : fortuna_generator_random_bytes;
        }
        Py_XSETREF(self->target, target);
    }
    if (self->direct != NULL && count == 1 && keywords == NULL)
        return self->direct(self->target, args[0]);
    PyObject *method = PyObject_GetAttr(self->target, self->name);
    if (method == NULL)
        return NULL;
    PyObject *result = PyObject_Vectorcall(method, args, (size_t)count, keywords);
    Py_DECREF(method);
    return result;
}

static PyObject *first_call_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *wrapped, *boot;
    (void)kwargs;

    if (!PyArg_ParseTuple(args, "OO:FirstCall", &wrapped, &boot))
        return NULL;
    native_state *state = fortuna_state_of(type);
    PyObject *name = state == NULL ? NULL : PyObject_GetAttrString(wrapped, "__name__");
    if (name == NULL)
        return NULL;
    FirstCall *self = (FirstCall *)type->tp_alloc(type, 0);
    if (self == NULL) {
        Py_DECREF(name);
        return NULL;
    }
    Py_INCREF(wrapped);
    Py_INCREF(boot);
    self->vectorcall = first_call;
    self->wrapped = wrapped;
    self->boot = boot;
    self->name = name;
    self->state = state;
    return (PyObject *)self;
}

static int first_call_traverse(PyObject *object, visitproc visit, void *arg)
{
    FirstCall *self = (FirstCall *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->wrapped);
    Py_VISIT(self->boot);
    Py_VISIT(self->target);
    return 0;
}

static int first_call_clear(PyObject *object)
{
    FirstCall *self = (FirstCall *)object;
    Py_CLEAR(self->wrapped);
    Py_CLEAR(self->boot);
    Py_CLEAR(self->target);
    self->direct = NULL;
    return 0;
}

static void first_call_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    first_call_clear(object);
    Py_CLEAR(((FirstCall *)object)->name);
    type->tp_free(object);
    Py_DECREF(type);
}

/* What introspection and pydoc ask of a function is answered by the wrapped one. */
static PyObject *first_call_getattro(PyObject *object, PyObject *name)
{
    PyObject *found = PyObject_GenericGetAttr(object, name);
    PyObject *wrapped = ((FirstCall *)object)->wrapped;

    if (found != NULL || wrapped == NULL || !PyErr_ExceptionMatches(PyExc_AttributeError))
        return found;
    PyErr_Clear();
    return PyObject_GetAttr(wrapped, name);
}

static PyObject *first_call_repr(PyObject *object)
{
    return PyUnicode_FromFormat("<function fortuna.%U>", ((FirstCall *)object)->name);
}

/* Pickled, as functions are, by its name in the module `fortuna`. */
static PyObject *first_call_reduce(PyObject *object, PyObject *unused)
{
    (void)unused;
    return Py_NewRef(((FirstCall *)object)->name);
}

static PyObject *first_call_doc_of(PyObject *object, void *unused)
{
    (void)unused;
    return PyObject_GetAttrString(((FirstCall *)object)->wrapped, "__doc__");
}

static PyObject *first_call_module_of(PyObject *object, void *unused)
{
    (void)unused;
    return PyObject_GetAttrString(((FirstCall *)object)->wrapped, "__module__");
}

static PyMethodDef first_call_methods[] = {
    {"__reduce__", first_call_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef first_call_getset[] = {
    {"__doc__", first_call_doc_of, NULL, NULL, NULL},
    {"__module__", first_call_module_of, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef first_call_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(FirstCall, vectorcall), READONLY, NULL},
    {"__wrapped__", T_OBJECT_EX, offsetof(FirstCall, wrapped), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot first_call_slots[] = {
    {Py_tp_new, first_call_new},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_traverse, first_call_traverse},
    {Py_tp_clear, first_call_clear},
    {Py_tp_dealloc, first_call_dealloc},
    {Py_tp_getattro, first_call_getattro},
    {Py_tp_repr, first_call_repr},
    {Py_tp_methods, first_call_methods},
    {Py_tp_getset, first_call_getset},
    {Py_tp_members, first_call_members},
    {0, NULL},
};

PyType_Spec fortuna_first_call_spec = {
    .name = "fortuna.generators._native.FirstCall",
    .basicsize = sizeof(FirstCall),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = first_call_slots,
};
