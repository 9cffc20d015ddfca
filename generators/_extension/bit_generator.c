/*
 * BitGenerator: what NumPy's random Generator draws from (fortuna.numpy).
 *
 * NumPy asks for one number at a time, through a table of C functions, mostly
 * without the GIL and with no way to hear of an error.  So this generator has a
 * K and C of its own, drawn from a live generator, and keeps a reserve of the
 * keystream: each refill is one request of Fortuna's generator, which replaces
 * K, and each number is zeroed as it is given.  It is the one thing in the
 * package that holds output before it is asked for.
 *
 * Everything that may fail or wants Python happens where NumPy takes the lock,
 * once for each of its calls: the lock is this object.  There K is drawn anew,
 * and the reserve dropped, unless the live generator would serve a request
 * without attention and was not reseeded since.  So a reseed, a pull that is
 * due, a restored snapshot, a close and a fork are noticed before the first
 * number, and an error is raised to who called.
 *
 * Forks.  K, the reserve and the pointer to its end lie on pages that the kernel
 * wipes in a child, which so sees an empty reserve and no K.  Where the kernel
 * does not do that, the reserve is one number long and the process id is looked
 * at for each.
 */
#include "native.h"

#include <stdbool.h>
#include <unistd.h>

#include "../_kernels/counter.h"
#include "../_kernels/wipe.h"
#include "page.h"

/* NumPy's table, as numpy/random/bitgen.h lays it out. */
typedef struct {
    void *state;
    uint64_t (*next_uint64)(void *state);
    uint32_t (*next_uint32)(void *state);
    double (*next_double)(void *state);
    uint64_t (*next_raw)(void *state);
} numpy_bitgen;

enum {
    NUMBER_SIZE = 8,
    /* Bytes of one refill: long enough that the new K and the call cost little, short enough for the nearest cache. */
    RESERVE_SIZE = 8192,
    CACHE_LINE = 64
};

/* What a forked child must not have.  All zero means: no K, nothing in reserve, a lock of another process. */
struct reserve_page {
    uint8_t *end;           /* of what is in reserve; null lies before every `next` */
    bool is_here;           /* whether the lock was made in this process */
    bool is_keyed;
    unsigned long owner;    /* the thread that holds the lock, 0 for nobody, and how many times it does */
    unsigned long depth;
    uint64_t reseeds;       /* of the live generator, when K was drawn */
    uint64_t generation;    /* and the generation number */
    uint8_t key[FORTUNA_KEY_SIZE];
    uint8_t counter[FORTUNA_COUNTER_SIZE];
    _Alignas(CACHE_LINE) uint8_t reserve[RESERVE_SIZE];
};

typedef struct {
    PyObject_HEAD
    uint8_t *next;                       /* in the reserve */
    struct reserve_page *page;           /* the memory of `mapping` */
    numpy_bitgen functions;
    const struct fortuna_kernel *kernel; /* null until __init__ */
    struct fortuna_mapping mapping;
    PyObject *source;                    /* gives each K */
    PyThread_type_lock lock;
    size_t reserve_size;                 /* bytes of one refill */
    pid_t pid;                           /* 0 where the page tells of a fork, else the process id it was used in */
    bool is_native;                      /* whether the source is a Generator */
    bool is_live;                        /* whether it is unpredictable: not for a test that wants one K for good */
    bool erases_first;                   /* the request rule */
} BitGenerator;

/* --- K ------------------------------------------------------------------ */

/* A forked child that has not been here yet. */
static bool is_strange_process(const BitGenerator *self)
{
    return !self->page->is_here || (self->pid != 0 && self->pid != getpid());
}

static bool is_stale(BitGenerator *self)
{
    const struct reserve_page *page = self->page;
    if (!page->is_keyed)
        return true;
    if (!self->is_live)
        return false;
    return !self->is_native || !fortuna_generator_is_settled(self->source, page->reseeds);
}

/* Draw a K from the source; with the GIL held.  Whatever Python runs in between, a handler that forks included, has
 * ended when this returns: a native source makes the bytes anew where it must. */
static int draw_key(BitGenerator *self, uint8_t key[FORTUNA_KEY_SIZE])
{
    if (self->is_native)
        return fortuna_generator_fill(self->source, key, FORTUNA_KEY_SIZE);
    /* Into memory of Python's: where it fails, a traceback may keep views of what was to be filled. */
    PyObject *buffer = PyByteArray_FromStringAndSize(NULL, FORTUNA_KEY_SIZE);
    PyObject *size = buffer == NULL ? NULL : PyObject_CallMethod(self->source, "readinto", "O", buffer);
    if (size != NULL)
        memcpy(key, PyByteArray_AS_STRING(buffer), FORTUNA_KEY_SIZE);
    if (buffer != NULL)
        fortuna_wipe(PyByteArray_AS_STRING(buffer), (size_t)PyByteArray_GET_SIZE(buffer));
    Py_XDECREF(buffer);
    Py_XDECREF(size);
    return size == NULL ? -1 : 0;
}

static void install_key(BitGenerator *self, const uint8_t key[FORTUNA_KEY_SIZE], uint64_t generation)
{
    struct reserve_page *page = self->page;
    fortuna_copy_key(page->key, key);
    /* C is 1 after the first reseed of a generator (9.4.2). */
    fortuna_counter_store(page->counter, (struct fortuna_counter){1, 0});
    page->end = NULL;
    fortuna_wipe(page->reserve, sizeof page->reserve);
    page->reseeds = self->is_native ? fortuna_generator_reseeds(self->source) : 0;
    page->generation = generation;
    page->is_keyed = true;
}

/* The number that a restored machine changes; 0 where none is watched, or another implementation watches it. */
static uint64_t generation_now(const BitGenerator *self)
{
    return self->is_native ? fortuna_generator_generation(self->source) : 0;
}

/* --- The lock ----------------------------------------------------------- */

/* Take the lock, once more where this thread has it already; -1 with an error set where a signal handler raised. */
static int hold(BitGenerator *self)
{
    struct reserve_page *page = self->page;
    unsigned long me = PyThread_get_thread_ident();

    for (;;) {
        if (is_strange_process(self)) {
            /* Who held the old lock may not exist here.  It is not freed: nothing is known of what state it is in. */
            PyThread_type_lock lock = PyThread_allocate_lock();
            if (lock == NULL) {
                PyErr_NoMemory();
                return -1;
            }
            self->lock = lock;
            self->pid = self->mapping.wipes_on_fork ? 0 : getpid();
            page->owner = page->depth = 0;
            page->is_keyed = page->is_keyed && !self->is_live;
            page->end = self->is_live ? NULL : page->end;
            page->is_here = true;
            fortuna_page_lock(&self->mapping); /* which a child does not inherit */
        }
        if (page->owner == me)
            break;
        if (PyThread_acquire_lock(self->lock, NOWAIT_LOCK))
            break;
        PyLockStatus status;
        Py_BEGIN_ALLOW_THREADS
        status = PyThread_acquire_lock_timed(self->lock, -1, 1);
        Py_END_ALLOW_THREADS
        if (status == PY_LOCK_ACQUIRED)
            break;
        if (PyErr_CheckSignals() < 0)
            return -1;
    }
    page->owner = me;
    page->depth++;
    return 0;
}

static void let_go(BitGenerator *self)
{
    struct reserve_page *page = self->page;

    /* In a child forked in between, by a signal handler, the lock is another one. */
    if (page->owner != PyThread_get_thread_ident() || --page->depth > 0)
        return;
    page->owner = 0;
    PyThread_release_lock(self->lock);
}

/* Take the lock and see to it that there is a K which may be used. */
static int enter(BitGenerator *self)
{
    if (self->kernel == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "bit generator: __init__ was not called");
        return -1;
    }
    for (;;) {
        if (hold(self) < 0)
            return -1;
        if (!is_stale(self))
            return 0;
        uint8_t key[FORTUNA_KEY_SIZE];
        uint64_t generation = generation_now(self);
        int status = draw_key(self, key);
        bool is_mine = self->page->owner == PyThread_get_thread_ident();
        if (status == 0 && is_mine)
            install_key(self, key, generation);
        fortuna_wipe(key, sizeof key);
        if (status < 0) {
            let_go(self);
            return -1;
        }
        if (is_mine)
            return 0;
        /* A signal handler forked meanwhile: in the child, everything from the start. */
    }
}

/* --- Numbers ------------------------------------------------------------ */

/* For a caller who cannot be told of an error: one who did not take the lock in this process, or whose machine was
 * restored from a snapshot in the middle of a call.  There is a K afterwards, or the process ends. */
static void rekey_in_a_call(BitGenerator *self)
{
    enum { TRIALS = 3 };
    PyGILState_STATE gil = PyGILState_Ensure();
    for (int trial = 0;; trial++) {
        uint8_t key[FORTUNA_KEY_SIZE];
        uint64_t generation = generation_now(self);
        int status = draw_key(self, key);
        if (status == 0)
            install_key(self, key, generation);
        fortuna_wipe(key, sizeof key);
        if (status == 0)
            break;
        /* Another try where it was a signal handler that raised. */
        PyErr_WriteUnraisable((PyObject *)self);
        if (trial == TRIALS)
            Py_FatalError("fortuna: there is no key for these numbers, and their caller cannot be told");
    }
    PyGILState_Release(gil);
}

static uint8_t *refill(BitGenerator *self)
{
    struct reserve_page *page = self->page;

    if (!page->is_keyed || (self->pid != 0 && self->is_live && self->pid != getpid()))
        rekey_in_a_call(self);
    if (self->erases_first)
        self->kernel->erase_first(page->key, page->reserve, self->reserve_size);
    else
        self->kernel->request(page->key, page->counter, page->reserve, self->reserve_size);
    page->end = page->reserve + self->reserve_size;
    return page->reserve;
}

/* The next `size` bytes, the first one lowest, and zeros in their place. */
FORTUNA_INLINE uint64_t take(BitGenerator *self, uint8_t *next, size_t size)
{
    uint64_t number = 0;

    self->next = next + size; /* first, since the next number waits for it */
    memcpy(&number, next, size);
    memset(next, 0, size);
    return FORTUNA_BIG_ENDIAN ? __builtin_bswap64(number) : number;
}

static __attribute__((noinline)) uint64_t take_after_refill(BitGenerator *self, size_t size)
{
    return take(self, refill(self), size);
}

FORTUNA_INLINE uint64_t next_number(BitGenerator *self, size_t size)
{
    if (__builtin_expect((uintptr_t)self->next + size > (uintptr_t)self->page->end, 0))
        return take_after_refill(self, size);
    return take(self, self->next, size);
}

static uint64_t next_uint64(void *state)
{
    return next_number(state, sizeof(uint64_t));
}

static uint32_t next_uint32(void *state)
{
    return (uint32_t)next_number(state, sizeof(uint32_t));
}

/* 53 bits over 2^53.  In one cache line: the loops that call it are bound by the branches they take. */
static __attribute__((aligned(CACHE_LINE))) double next_double(void *state)
{
    return (double)(next_number(state, sizeof(uint64_t)) >> 11) / 9007199254740992.0;
}

/* The same where a generation number is watched, which is then compared for each number. */
static BitGenerator *watch(void *state)
{
    BitGenerator *self = state;
    if (generation_now(self) != self->page->generation)
        rekey_in_a_call(self);
    return self;
}

static uint64_t watched_uint64(void *state)
{
    return next_uint64(watch(state));
}

static uint32_t watched_uint32(void *state)
{
    return next_uint32(watch(state));
}

static double watched_double(void *state)
{
    return next_double(watch(state));
}

/* --- The type ----------------------------------------------------------- */

PyDoc_STRVAR(bit_generator_doc,
"BitGenerator(source, cipher, kernel, erases_first, is_live, is_watched, /)\n--\n\n"
"Numbers for NumPy from a K that *source* gives by its method readinto: one K for good, or,\n"
"where *is_live*, a new one whenever the source has been reseeded or wants attention. The\n"
"object is its own lock. *is_watched* says that the source compares a generation number.");

static int bit_generator_init(PyObject *object, PyObject *args, PyObject *kwargs)
{
    BitGenerator *self = (BitGenerator *)object;
    PyObject *source;
    const char *cipher, *name;
    int erases_first, is_live, is_watched;
    (void)kwargs;

    if (!PyArg_ParseTuple(args, "Ossppp:BitGenerator", &source, &cipher, &name, &erases_first, &is_live, &is_watched))
        return -1;
    native_state *state = fortuna_state_of(Py_TYPE(object));
    const struct fortuna_kernel *kernel = state == NULL ? NULL : fortuna_require_kernel(state, cipher, name);
    if (kernel == NULL)
        return -1;
    if (self->kernel != NULL) {
        PyErr_SetString(PyExc_RuntimeError, "bit generator: __init__ was called already");
        return -1;
    }
    if (fortuna_page_map(&self->mapping, sizeof *self->page, !is_live) < 0) {
        PyErr_SetFromErrno(PyExc_OSError);
        return -1;
    }
    self->page = self->mapping.memory;
    self->source = Py_NewRef(source);
    self->is_live = is_live;
    self->is_native = is_live && PyObject_TypeCheck(source, state->generator_type);
    self->erases_first = erases_first;
    self->reserve_size = self->mapping.wipes_on_fork || !is_live ? RESERVE_SIZE : NUMBER_SIZE;
    if (is_watched && self->is_native)
        self->functions = (numpy_bitgen){self, watched_uint64, watched_uint32, watched_double, watched_uint64};
    else
        self->functions = (numpy_bitgen){self, next_uint64, next_uint32, next_double, next_uint64};
    self->kernel = kernel;
    /* The first K, so that what stands in its way is said now. */
    if (enter(self) < 0)
        return -1;
    let_go(self);
    return 0;
}

PyDoc_STRVAR(enter_doc, "__enter__()\n--\n\nTake the lock, waiting for other threads, and draw a new K where that is due.");

static PyObject *bit_generator_enter(PyObject *self, PyObject *unused)
{
    (void)unused;
    return enter((BitGenerator *)self) < 0 ? NULL : Py_NewRef(self);
}

PyDoc_STRVAR(acquire_doc, "acquire()\n--\n\nDo as `__enter__`, and return True.");

static PyObject *bit_generator_acquire(PyObject *self, PyObject *unused)
{
    (void)unused;
    if (enter((BitGenerator *)self) < 0)
        return NULL;
    Py_RETURN_TRUE;
}

PyDoc_STRVAR(exit_doc, "__exit__(*error)\n--\n\nGive the lock back.");

static PyObject *bit_generator_exit(PyObject *object, PyObject *unused)
{
    BitGenerator *self = (BitGenerator *)object;
    (void)unused;
    if (self->kernel != NULL)
        let_go(self);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(release_doc, "release()\n--\n\nGive the lock back.");

static PyObject *get_capsule(PyObject *object, void *unused)
{
    BitGenerator *self = (BitGenerator *)object;
    (void)unused;
    if (self->kernel == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "bit generator: __init__ was not called");
        return NULL;
    }
    return PyCapsule_New(&self->functions, "BitGenerator", NULL);
}

static PyObject *get_lock(PyObject *self, void *unused)
{
    (void)unused;
    return Py_NewRef(self);
}

static PyGetSetDef bit_generator_attributes[] = {
    {"capsule", get_capsule, NULL, "The functions that NumPy calls; good while this object is.", NULL},
    {"lock", get_lock, NULL, "What NumPy takes for each of its calls: this object.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static int bit_generator_traverse(PyObject *object, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(((BitGenerator *)object)->source);
    return 0;
}

static int bit_generator_clear(PyObject *object)
{
    Py_CLEAR(((BitGenerator *)object)->source);
    return 0;
}

static void bit_generator_dealloc(PyObject *object)
{
    BitGenerator *self = (BitGenerator *)object;
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    /* Not one that a child has inherited: the system may have it in any state. */
    if (self->lock != NULL && !is_strange_process(self))
        PyThread_free_lock(self->lock);
    fortuna_page_unmap(&self->mapping);
    bit_generator_clear(object);
    type->tp_free(object);
    Py_DECREF(type);
}

static PyMethodDef bit_generator_methods[] = {
    {"__enter__", bit_generator_enter, METH_NOARGS, enter_doc},
    {"__exit__", bit_generator_exit, METH_VARARGS, exit_doc},
    {"acquire", bit_generator_acquire, METH_NOARGS, acquire_doc},
    {"release", bit_generator_exit, METH_NOARGS, release_doc},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot bit_generator_slots[] = {
    {Py_tp_doc, (void *)bit_generator_doc},
    {Py_tp_init, bit_generator_init},
    {Py_tp_traverse, bit_generator_traverse},
    {Py_tp_clear, bit_generator_clear},
    {Py_tp_dealloc, bit_generator_dealloc},
    {Py_tp_methods, bit_generator_methods},
    {Py_tp_getset, bit_generator_attributes},
    {0, NULL},
};

PyType_Spec fortuna_bit_generator_spec = {
    .name = "fortuna.generators._native.BitGenerator",
    .basicsize = sizeof(BitGenerator),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = bit_generator_slots,
};
