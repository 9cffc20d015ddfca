/*
 * The extension module fortuna.generators._native: kernels and the (K, C)
 * generator for Python.  Multi-phase initialisation, state per interpreter,
 * nothing process-wide.
 */
#include "native.h"

#include "../_kernels/dispatch.h"
#include "../_kernels/selftest.h"
#include "../_kernels/wipe.h"

/* --- Helpers of the other files ----------------------------------------- */

native_state *fortuna_state_of(PyTypeObject *type)
{
    /* PyType_GetModuleByDef, which Python 3.10 lacks: a subclass made in Python has no module of ours. */
    PyObject *mro = type->tp_mro;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(mro); i++) {
        PyTypeObject *base = (PyTypeObject *)PyTuple_GET_ITEM(mro, i);
        if (!PyType_HasFeature(base, Py_TPFLAGS_HEAPTYPE))
            continue;
        PyObject *module = PyType_GetModule(base);
        if (module == NULL)
            PyErr_Clear();
        else if (PyModule_GetDef(module) == &fortuna_native_module)
            return PyModule_GetState(module);
    }
    PyErr_SetString(PyExc_TypeError, "not a type of fortuna's extension");
    return NULL;
}

const struct fortuna_kernel *fortuna_require_kernel(native_state *state, const char *cipher, const char *name)
{
    const struct fortuna_kernel *kernel;
    const char *detail;

    switch (fortuna_kernel_find(cipher, name, state->cpu, &kernel, &detail)) {
    case FORTUNA_KERNEL_FOUND:
        return kernel;
    case FORTUNA_KERNEL_UNKNOWN:
        PyErr_Format(state->provider_unavailable_error, "kernel: there is no %s for %s", name, cipher);
        break;
    case FORTUNA_KERNEL_NOT_BUILT:
        PyErr_Format(state->provider_unavailable_error, "kernel %s for %s is not in this build: %s", name, cipher, detail);
        break;
    case FORTUNA_KERNEL_UNSUPPORTED:
        PyErr_Format(state->provider_unavailable_error, "kernel %s for %s: this processor lacks %s", name, cipher, detail);
        break;
    }
    return NULL;
}

FORTUNA_SECRET void fortuna_copy_key(uint8_t to[FORTUNA_KEY_SIZE], const uint8_t from[FORTUNA_KEY_SIZE])
{
    memcpy(to, from, FORTUNA_KEY_SIZE);
}

static int get_view(PyObject *object, Py_buffer *view, int is_written)
{
    if (PyObject_GetBuffer(object, view, PyBUF_FULL_RO) < 0)
        return -1;
    const char *wrong = NULL;
    if (is_written && view->readonly)
        wrong = "buffer: it is read-only; pass a bytearray or another writable buffer";
    else if (!PyBuffer_IsContiguous(view, 'C'))
        wrong = "buffer: it is not contiguous; pass a contiguous buffer";
    if (wrong == NULL)
        return 0;
    PyBuffer_Release(view);
    PyErr_SetString(PyExc_BufferError, wrong);
    return -1;
}

int fortuna_get_bytes(PyObject *object, Py_buffer *view)
{
    return get_view(object, view, 0);
}

int fortuna_get_writable(PyObject *object, Py_buffer *view)
{
    return get_view(object, view, 1);
}

int fortuna_check_size(Py_buffer *view, const char *name, int size)
{
    if (view->len == size)
        return 0;
    PyErr_Format(PyExc_ValueError, "%s: got %zd bytes, need exactly %d bytes", name, view->len, size);
    PyBuffer_Release(view);
    return -1;
}

/* --- Functions ---------------------------------------------------------- */

PyDoc_STRVAR(cpu_features_doc,
"cpu_features()\n--\n\nReturn this processor's features as a set of bits, for `kernels`.");

static PyObject *cpu_features(PyObject *module, PyObject *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLong(((native_state *)PyModule_GetState(module))->cpu.features);
}

PyDoc_STRVAR(kernels_doc,
"kernels(cipher, features, /)\n--\n\n"
"Return (name, reason) for each kernel of *cipher*, best first; the reason says why a\n"
"processor with *features* cannot run it, and is empty where it can.");

static PyObject *kernels(PyObject *module, PyObject *args)
{
    const char *cipher;
    unsigned int features;
    (void)module;

    if (!PyArg_ParseTuple(args, "sI:kernels", &cipher, &features))
        return NULL;
    PyObject *list = PyList_New(0);
    for (const struct fortuna_kernel_set *const *set = fortuna_kernel_sets; list != NULL && *set != NULL; set++) {
        const struct fortuna_kernel *kernel;
        const char *detail;
        PyObject *reason = NULL;
        switch (fortuna_kernel_find(cipher, (*set)->name, (struct fortuna_cpu){features}, &kernel, &detail)) {
        case FORTUNA_KERNEL_UNKNOWN:
            continue;
        case FORTUNA_KERNEL_FOUND:
            reason = PyUnicode_FromString("");
            break;
        case FORTUNA_KERNEL_NOT_BUILT:
            reason = PyUnicode_FromFormat("not in this build: %s", detail);
            break;
        case FORTUNA_KERNEL_UNSUPPORTED:
            reason = PyUnicode_FromFormat("this processor lacks %s", detail);
            break;
        }
        PyObject *row = reason == NULL ? NULL : Py_BuildValue("sN", (*set)->name, reason);
        if (row == NULL || PyList_Append(list, row) < 0)
            Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

PyDoc_STRVAR(self_test_doc,
"self_test(cipher, kernel, /)\n--\n\n"
"Compute the kernel's known answers; return what went wrong, or an empty string.");

static PyObject *self_test(PyObject *module, PyObject *args)
{
    const char *cipher, *name;

    if (!PyArg_ParseTuple(args, "ss:self_test", &cipher, &name))
        return NULL;
    const struct fortuna_kernel *kernel = fortuna_require_kernel(PyModule_GetState(module), cipher, name);
    if (kernel == NULL)
        return NULL;
    switch (fortuna_kernel_selftest(kernel)) {
    case FORTUNA_SELFTEST_PASSED:
        return PyUnicode_FromString("");
    case FORTUNA_SELFTEST_NO_ANSWER:
        return PyUnicode_FromString("there is no known answer for it");
    case FORTUNA_SELFTEST_KEYSTREAM:
        return PyUnicode_FromString("its keystream is wrong");
    case FORTUNA_SELFTEST_REQUEST:
        break;
    }
    return PyUnicode_FromString("its requests are wrong");
}

PyDoc_STRVAR(cpu_random_instructions_doc,
"cpu_random_instructions()\n--\n\nReturn the random instructions of this processor, best first: \"rdseed\", \"rdrand\".");

PyDoc_STRVAR(cpu_random_doc,
"cpu_random(instruction, out, /)\n--\n\n"
"Fill *out*, 32 bytes, from one of `cpu_random_instructions`; return False, with *out* zeroed,\n"
"when the instruction refused too often.  The bytes are not looked at.");

PyDoc_STRVAR(random_type_doc,
"random_type()\n--\n\nReturn a new type with the primitives of fortuna.Random, derived from _random.Random.");

static PyMethodDef functions[] = {
    {"cpu_features", cpu_features, METH_NOARGS, cpu_features_doc},
    {"cpu_random", fortuna_cpu_random, METH_VARARGS, cpu_random_doc},
    {"cpu_random_instructions", fortuna_cpu_random_instructions, METH_NOARGS, cpu_random_instructions_doc},
    {"random_type", fortuna_random_type, METH_NOARGS, random_type_doc},
    {"kernels", kernels, METH_VARARGS, kernels_doc},
    {"self_test", self_test, METH_VARARGS, self_test_doc},
    {NULL, NULL, 0, NULL},
};

/* --- The module --------------------------------------------------------- */

static PyTypeObject *add_type(PyObject *module, PyType_Spec *spec)
{
    PyObject *type = PyType_FromModuleAndSpec(module, spec, NULL);
    if (type != NULL && PyModule_AddType(module, (PyTypeObject *)type) < 0)
        Py_CLEAR(type);
    return (PyTypeObject *)type;
}

static int execute(PyObject *module)
{
    native_state *state = PyModule_GetState(module);
    PyObject *errors = PyImport_ImportModule("fortuna.errors");
    const struct {
        const char *name;
        PyObject **place;
    } classes[] = {
        {"ParameterError", &state->parameter_error},
        {"RequestTooLargeError", &state->request_too_large_error},
        {"NotSeededError", &state->not_seeded_error},
        {"ProviderUnavailableError", &state->provider_unavailable_error},
    };

    if (errors == NULL)
        return -1;
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
        *classes[i].place = PyObject_GetAttrString(errors, classes[i].name);
    Py_DECREF(errors);
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
        if (*classes[i].place == NULL)
            return -1;
    state->cpu = fortuna_cpu_detect();
    state->attend = PyUnicode_InternFromString("_attend");
    state->mix = PyUnicode_InternFromString("_mix");
    state->generator = PyUnicode_InternFromString("_generator");
    state->refuse_if_closed = PyUnicode_InternFromString("_refuse_if_closed");
    state->generator_type = add_type(module, &fortuna_generator_spec);
    PyTypeObject *keystream = add_type(module, &fortuna_keystream_spec);
    PyTypeObject *first = add_type(module, &fortuna_first_call_spec);
    PyTypeObject *bits = add_type(module, &fortuna_bit_generator_spec);
    Py_XDECREF(keystream);
    Py_XDECREF(first);
    Py_XDECREF(bits);
    int is_whole = state->attend != NULL && state->mix != NULL && state->generator != NULL &&
                   state->refuse_if_closed != NULL && state->generator_type != NULL && keystream != NULL && first != NULL &&
                   bits != NULL;
    return is_whole ? 0 : -1;
}

static int traverse(PyObject *module, visitproc visit, void *arg)
{
    native_state *state = PyModule_GetState(module);
    Py_VISIT(state->parameter_error);
    Py_VISIT(state->request_too_large_error);
    Py_VISIT(state->not_seeded_error);
    Py_VISIT(state->provider_unavailable_error);
    Py_VISIT(state->generator_type);
    return 0;
}

static int clear(PyObject *module)
{
    native_state *state = PyModule_GetState(module);
    Py_CLEAR(state->parameter_error);
    Py_CLEAR(state->request_too_large_error);
    Py_CLEAR(state->not_seeded_error);
    Py_CLEAR(state->provider_unavailable_error);
    Py_CLEAR(state->attend);
    Py_CLEAR(state->mix);
    Py_CLEAR(state->generator);
    Py_CLEAR(state->refuse_if_closed);
    Py_CLEAR(state->generator_type);
    return 0;
}

static void module_free(void *module)
{
    clear(module);
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, execute},
#ifdef Py_mod_multiple_interpreters
    {Py_mod_multiple_interpreters, Py_MOD_PER_INTERPRETER_GIL_SUPPORTED},
#endif
#ifdef Py_mod_gil
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

struct PyModuleDef fortuna_native_module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "fortuna.generators._native",
    .m_doc = "Fortuna's kernels and its (K, C) generator in C.",
    .m_size = sizeof(native_state),
    .m_methods = functions,
    .m_slots = slots,
    .m_traverse = traverse,
    .m_clear = clear,
    .m_free = module_free,
};

PyMODINIT_FUNC PyInit__native(void)
{
    return PyModuleDef_Init(&fortuna_native_module);
}
