/*
 * The processor's random instructions for Python.  Which of them the processor
 * has was found out when the module was loaded; an instruction that it lacks is
 * refused here and never reached.
 */
#include "native.h"

#include "../_kernels/cpu_random.h"

/* Best first: the noise source, then the generator that it seeds. */
static const struct {
    const char *name;
    uint32_t feature;
} instructions[] = {{"rdseed", FORTUNA_CPU_RDSEED}, {"rdrand", FORTUNA_CPU_RDRAND}};

enum { INSTRUCTIONS = sizeof instructions / sizeof instructions[0] };

PyObject *fortuna_cpu_random_instructions(PyObject *module, PyObject *unused)
{
    native_state *state = PyModule_GetState(module);
    PyObject *list = PyList_New(0);
    (void)unused;

    for (int i = 0; list != NULL && i < INSTRUCTIONS; i++) {
        if (fortuna_cpu_random_draw(state->cpu, instructions[i].feature) == NULL)
            continue;
        PyObject *name = PyUnicode_FromString(instructions[i].name);
        if (name == NULL || PyList_Append(list, name) < 0)
            Py_CLEAR(list);
        Py_XDECREF(name);
    }
    PyObject *names = list == NULL ? NULL : PyList_AsTuple(list);
    Py_XDECREF(list);
    return names;
}

PyObject *fortuna_cpu_random(PyObject *module, PyObject *args)
{
    native_state *state = PyModule_GetState(module);
    fortuna_cpu_draw *draw = NULL;
    const char *instruction;
    PyObject *buffer;
    Py_buffer out;

    if (!PyArg_ParseTuple(args, "sO:cpu_random", &instruction, &buffer))
        return NULL;
    for (int i = 0; i < INSTRUCTIONS; i++)
        if (strcmp(instruction, instructions[i].name) == 0)
            draw = fortuna_cpu_random_draw(state->cpu, instructions[i].feature);
    if (draw == NULL)
        return PyErr_Format(state->parameter_error, "instruction: got \"%s\"; this processor has no such one", instruction);
    if (fortuna_get_writable(buffer, &out) < 0)
        return NULL;
    PyObject *filled = NULL;
    if (out.len == FORTUNA_CPU_RANDOM_SIZE)
        filled = PyBool_FromLong(fortuna_cpu_random_fill(draw, out.buf));
    else
        PyErr_Format(state->parameter_error, "out: got %zd bytes; allowed is %d", out.len, (int)FORTUNA_CPU_RANDOM_SIZE);
    PyBuffer_Release(&out);
    return filled;
}
