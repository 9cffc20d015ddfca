/*
 * Generator: Fortuna's generator (Cryptography Engineering 9.4), K and C, with
 * nothing of Python between a request and its bytes.
 *
 * One request does, in this order and without a break: look at the attention
 * word; give n bytes of keystream at C; replace K by the next 32 bytes.  Where
 * the construction erases first, K is replaced by the first 32 bytes of the
 * keystream from block 0 on, and the n bytes after them are given.  On a build
 * with a GIL, that is one uninterrupted stretch of C: no signal handler,
 * finalizer or other thread runs in it, so nobody ever sees a K that was used
 * and not yet replaced.  On a free-threaded build a mutex does the same.
 *
 * Attention.  A request may be served while the clock is before `due_ns`.  Set
 * to 0, that one word also says everything else that wants Python: unseeded,
 * closed, forked by this process, or being a forked child, where the kernel has
 * wiped the page.  Only then is the method `_attend` called, which pulls,
 * reseeds, builds a new life or raises.
 *
 * Two uses.  Without a clock it is the plain (K, C) generator of the core, with
 * its limit of 2^20 bytes.  With one it is the base of the live generator.
 */
#include "native.h"

#include <time.h>
#include <unistd.h>

#include "../_kernels/counter.h"
#include "../_kernels/wipe.h"
#include "page.h"

/* Bytes that one request may give before K must change (9.4.4). */
enum { REQUEST_MAX = 1 << 20 };

/* A bytes object has a header before its bytes; Python reports what leaves no room for it as an overflow. */
#define SIZE_MAX_OF_BYTES (PY_SSIZE_T_MAX - 64)

/* The page that K and C live on.  All zero means: not usable, ask for attention.  This is what a child sees. */
struct state_page {
    int64_t due_ns;      /* the attention word: no request is served from this time on */
    uint64_t life;       /* which life of the live generator owns K and C; 0 for none */
    uint64_t generation; /* the generation number that K was last seeded under */
    uint64_t restores;   /* and the count of restores that Python was told of */
    uint8_t key[FORTUNA_KEY_SIZE];         /* K */
    uint8_t counter[FORTUNA_COUNTER_SIZE]; /* C; 0 for unseeded */
};

typedef struct generator Generator;

struct generator {
    PyObject_HEAD
    native_state *state;                 /* of the module, which the type keeps alive */
    const struct fortuna_kernel *kernel; /* null until __init__ */
    struct fortuna_mapping mapping;
    struct state_page *page;             /* its memory */
    int (*now)(Generator *, int64_t *);  /* the clock; null for the plain generator */
    PyObject *clock;                     /* what a Python clock calls */
    int erases_first;                    /* the request rule: fast key erasure */
    Py_buffer watched;                   /* a number of 4 or 8 bytes that the system changes; null for none */
    int mixes;                           /* whether the method _mix is called before each call */
    pid_t pid;                           /* 0 where the page tells of a fork, else the maker's process id */
    uint64_t version;                    /* steps whenever K changes */
    uint64_t reseeds;                    /* steps whenever a reseed changes it */
    uint64_t requests, bytes_given;
#ifdef Py_GIL_DISABLED
    PyMutex mutex;
#endif
};

/* --- Clocks ------------------------------------------------------------- */

#ifndef CLOCK_MONOTONIC_COARSE
#define CLOCK_MONOTONIC_COARSE CLOCK_MONOTONIC
#endif

static int read_clock(clockid_t id, int64_t *ns)
{
    struct timespec t;
    if (clock_gettime(id, &t) != 0) {
        PyErr_SetFromErrno(PyExc_OSError);
        return -1;
    }
    *ns = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
    return 0;
}

/* A few nanoseconds to read, some milliseconds late: enough for a pace of 0.1 s. */
static int coarse_now(Generator *self, int64_t *ns)
{
    (void)self;
    return read_clock(CLOCK_MONOTONIC_COARSE, ns);
}

static int fine_now(Generator *self, int64_t *ns)
{
    (void)self;
    return read_clock(CLOCK_MONOTONIC, ns);
}

static int python_now(Generator *self, int64_t *ns)
{
    PyObject *time = PyObject_CallNoArgs(self->clock);
    if (time == NULL)
        return -1;
    *ns = PyLong_AsLongLong(time);
    Py_DECREF(time);
    return *ns == -1 && PyErr_Occurred() ? -1 : 0;
}

/* --- Requests ----------------------------------------------------------- */

static int is_seeded(const struct state_page *page)
{
    uint8_t any = 0;
    for (int i = 0; i < FORTUNA_COUNTER_SIZE; i++)
        any |= page->counter[i];
    return any != 0;
}

/* A forked child, where only the process id can tell. */
static int is_strange_process(const Generator *self)
{
    return self->pid != 0 && getpid() != self->pid;
}

/* The number that changes when this machine was restored from a snapshot; 0 where there is none to watch. */
static uint64_t generation_now(const Generator *self)
{
    const volatile void *number = self->watched.buf;
    if (number == NULL)
        return 0;
    /* One load of the whole number: others may be writing it. */
    return self->watched.len == 8 ? *(const volatile uint64_t *)number : *(const volatile uint32_t *)number;
}

/* Returns with the lock held if the request may be served, else -1 with an error set. */
static int admit(Generator *self)
{
    struct state_page *page = self->page;
    int attended = 0;

    for (;;) {
        int64_t now = 0;
        if (self->now == NULL) {
            LOCK(self);
            if (is_seeded(page))
                return 0;
            UNLOCK(self);
            PyErr_SetString(self->state->not_seeded_error, "generator: not seeded yet (C = 0); reseed it first");
            return -1;
        }
        if (!attended && self->now(self, &now) < 0)
            return -1;
        LOCK(self);
        /* After one successful call of _attend the time does not matter any more: a clock that runs past
         * every pull must not keep a request for ever.  Zero does matter: a fork, or a close. */
        if ((attended ? page->due_ns != 0 : now < page->due_ns) && generation_now(self) == page->generation
            && !is_strange_process(self))
            return 0;
        UNLOCK(self);
        PyObject *done = PyObject_CallMethodNoArgs((PyObject *)self, self->state->attend);
        if (done == NULL)
            return -1;
        Py_DECREF(done);
        attended = 1;
    }
}

/* Replace K and C as n bytes of output under `schedule` would, and set `counter` to where they begin; returns how
 * many of them are made already: none. */
static size_t move_on(const struct fortuna_kernel *kernel, const uint8_t *schedule, struct state_page *page,
                      uint8_t *counter, size_t n)
{
    memcpy(counter, page->counter, FORTUNA_COUNTER_SIZE);
    fortuna_counter_advance(page->counter, n, kernel->block_size);
    kernel->keystream(schedule, page->counter, page->key, FORTUNA_KEY_SIZE);
    fortuna_counter_advance(page->counter, FORTUNA_KEY_SIZE, kernel->block_size);
    return 0;
}

/* The same for fast key erasure.  The block that ends the new K may have output in it; that much is made already. */
static size_t move_on_erasing(const struct fortuna_kernel *kernel, const uint8_t *schedule, struct state_page *page,
                              uint8_t *counter, uint8_t *out)
{
    uint8_t first[FORTUNA_BLOCK_MAX];
    size_t size = (size_t)fortuna_blocks(FORTUNA_KEY_SIZE, kernel->block_size) * kernel->block_size;

    memset(counter, 0, FORTUNA_COUNTER_SIZE);
    kernel->keystream(schedule, counter, first, size);
    fortuna_copy_key(page->key, first);
    memcpy(out, first + FORTUNA_KEY_SIZE, size - FORTUNA_KEY_SIZE);
    fortuna_wipe(first, sizeof first);
    fortuna_counter_advance(counter, size, kernel->block_size);
    return size - FORTUNA_KEY_SIZE;
}

/* Whose K has served a call so far: a life, and what K was seeded under.  Life 0: nobody's, all is made anew. */
struct server {
    uint64_t life, generation, restores;
};

/* PseudoRandomData (9.4.4) for 1..2^20 bytes, one of the requests that a call is cut into.  Sets *server to
 * what served it.  If something else served the request before, this process was forked or restored in between,
 * by a signal handler or by what _attend calls; others have those bytes, so the life becomes 0.  The same where
 * the generation number has changed when the bytes are there. */
static int serve(Generator *self, uint8_t *out, size_t n, struct server *server)
{
    struct state_page *page = self->page;
    const struct fortuna_kernel *kernel = self->kernel;

    if (admit(self) < 0)
        return -1;
    struct server current = {self->now == NULL ? 1 : page->life, page->generation, page->restores};
    int is_same = server->life == 0 || (server->life == current.life && server->generation == current.generation &&
                                        server->restores == current.restores);
    *server = current;
    self->version++;
    self->requests++;
    self->bytes_given += n;
    if (n < FORTUNA_LARGE) {
        if (self->erases_first)
            kernel->erase_first(page->key, out, n);
        else
            kernel->request(page->key, page->counter, out, n);
        UNLOCK(self);
        if (!is_same || generation_now(self) != current.generation)
            server->life = 0;
        return 0;
    }
    /* The keystream is seekable, so K is replaced first and the output made from copies of the old K and C
     * while other threads go on: the same bytes. */
    uint8_t schedule[FORTUNA_SCHEDULE_MAX], counter[FORTUNA_COUNTER_SIZE];
    kernel->set_key(schedule, page->key);
    size_t done = self->erases_first ? move_on_erasing(kernel, schedule, page, counter, out)
                                     : move_on(kernel, schedule, page, counter, n);
    UNLOCK(self);
    Py_BEGIN_ALLOW_THREADS
    kernel->keystream(schedule, counter, out + done, n - done);
    fortuna_wipe(schedule, sizeof schedule);
    fortuna_wipe(counter, sizeof counter);
    Py_END_ALLOW_THREADS
    if (!is_same || generation_now(self) != current.generation)
        server->life = 0;
    return 0;
}

/* A request of nothing changes nothing; only a closed generator refuses it. */
static int admit_nothing(Generator *self)
{
    if (self->now == NULL || self->page->due_ns != 0)
        return 0;
    PyObject *open = PyObject_CallMethodNoArgs((PyObject *)self, self->state->refuse_if_closed);
    Py_XDECREF(open);
    return open == NULL ? -1 : 0;
}

/* Whether the plain generator's limit allows n bytes. */
static int is_within_limit(Generator *self, size_t n)
{
    if (n <= REQUEST_MAX || self->now != NULL)
        return 1;
    PyErr_Format(self->state->request_too_large_error,
                 "request: got %zu bytes; one request gives at most %d bytes; split it", n, REQUEST_MAX);
    return 0;
}

/* Any number of bytes; on an error all of `out` is zero. */
static int fill(Generator *self, uint8_t *out, size_t n)
{
    if (self->kernel == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "generator: __init__ was not called");
        return -1;
    }
    if (!is_within_limit(self, n))
        return -1;
    if (self->mixes) {
        PyObject *mixed = PyObject_CallMethodNoArgs((PyObject *)self, self->state->mix);
        if (mixed == NULL) {
            memset(out, 0, n);
            return -1;
        }
        Py_DECREF(mixed);
    }
    struct server server = {0, 0, 0};
    for (size_t start = 0; start < n; start += REQUEST_MAX) {
        size_t piece = n - start < REQUEST_MAX ? n - start : REQUEST_MAX;
        /* Signals are served between requests, never within one. */
        if ((start > 0 && PyErr_CheckSignals() < 0) || serve(self, out + start, piece, &server) < 0) {
            memset(out, 0, n);
            return -1;
        }
        if (server.life == 0)
            start = (size_t)0 - REQUEST_MAX; /* from the beginning, when the loop has added to it */
    }
    return 0;
}

int fortuna_generator_fill(PyObject *self, uint8_t *out, size_t n)
{
    return fill((Generator *)self, out, n);
}

int fortuna_generator_is_settled(PyObject *object, uint64_t reseeds)
{
    Generator *self = (Generator *)object;
    int64_t now;

    if (self->now == NULL || self->mixes || self->now(self, &now) < 0) {
        PyErr_Clear(); /* a clock that fails is for the next request to report */
        return 0;
    }
    return now < self->page->due_ns && self->reseeds == reseeds && generation_now(self) == self->page->generation &&
           !is_strange_process(self);
}

uint64_t fortuna_generator_reseeds(PyObject *self)
{
    return ((Generator *)self)->reseeds;
}

uint64_t fortuna_generator_generation(PyObject *self)
{
    return generation_now((Generator *)self);
}

static int size_of(Generator *self, PyObject *n, Py_ssize_t *size)
{
    *size = PyLong_CheckExact(n) ? PyLong_AsSsize_t(n) : PyNumber_AsSsize_t(n, PyExc_OverflowError);
    if (*size == -1 && PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_OverflowError))
            return -1;
        PyErr_Clear();
        PyObject *index = PyNumber_Index(n), *zero = PyLong_FromLong(0);
        int is_negative = index == NULL || zero == NULL ? -1 : PyObject_RichCompareBool(index, zero, Py_LT);
        Py_XDECREF(index);
        Py_XDECREF(zero);
        if (is_negative == 0)
            PyErr_SetString(PyExc_MemoryError, "n: more bytes than memory can hold");
        if (is_negative <= 0)
            return -1;
        *size = PY_SSIZE_T_MIN;
    }
    if (*size > SIZE_MAX_OF_BYTES) {
        PyErr_Format(PyExc_MemoryError, "n: got %zd bytes, more than memory can hold", *size);
        return -1;
    }
    if (*size < 0) {
        PyObject *index = PyNumber_Index(n);
        if (index != NULL)
            PyErr_Format(self->state->parameter_error, "n: got %S bytes; allowed is 0 or more", index);
        Py_XDECREF(index);
        return -1;
    }
    return 0;
}

PyObject *fortuna_generator_random_bytes(PyObject *object, PyObject *n)
{
    Generator *self = (Generator *)object;
    Py_ssize_t size;

    if (size_of(self, n, &size) < 0 || !is_within_limit(self, (size_t)size))
        return NULL;
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, size);
    if (bytes == NULL)
        return NULL;
    if ((size == 0 ? admit_nothing(self) : fill(self, (uint8_t *)PyBytes_AS_STRING(bytes), (size_t)size)) < 0)
        Py_CLEAR(bytes);
    return bytes;
}

PyObject *fortuna_generator_readinto(PyObject *object, PyObject *buffer)
{
    Generator *self = (Generator *)object;
    Py_buffer view;

    if (fortuna_get_writable(buffer, &view) < 0)
        return NULL;
    Py_ssize_t size = view.len;
    int status = size == 0 ? admit_nothing(self) : fill(self, view.buf, (size_t)size);
    PyBuffer_Release(&view);
    return status < 0 ? NULL : PyLong_FromSsize_t(size);
}

/* --- Keys --------------------------------------------------------------- */

PyDoc_STRVAR(begin_life_doc,
"_begin_life(life, /)\n--\n\n"
"Forget K and C, unless they are of this life already; from now on only calls that name\n"
"*life*, an integer above 0, change them.");

static PyObject *generator_begin_life(PyObject *object, PyObject *life)
{
    Generator *self = (Generator *)object;
    unsigned long long number = PyLong_AsUnsignedLongLong(life);

    if (number == (unsigned long long)-1 && PyErr_Occurred())
        return NULL;
    LOCK(self);
    /* Two threads that notice one fork both begin the life; what the first has done must stay. */
    if (self->page->life != number) {
        fortuna_wipe(self->page, sizeof *self->page);
        self->page->life = number;
        fortuna_page_lock(&self->mapping); /* a forked child does not inherit the lock */
        self->pid = self->mapping.wipes_on_fork ? 0 : getpid();
        self->version++;
        self->requests = self->bytes_given = 0;
    }
    UNLOCK(self);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(export_doc,
"_export(key, /)\n--\n\nCopy K into 32 writable bytes; return (version, is_seeded) for `_install`.");

static PyObject *generator_export(PyObject *object, PyObject *key)
{
    Generator *self = (Generator *)object;
    Py_buffer view;

    if (fortuna_get_writable(key, &view) < 0 || fortuna_check_size(&view, "key", FORTUNA_KEY_SIZE) < 0)
        return NULL;
    LOCK(self);
    fortuna_copy_key(view.buf, self->page->key);
    uint64_t version = self->version;
    int seeded = is_seeded(self->page);
    UNLOCK(self);
    PyBuffer_Release(&view);
    return Py_BuildValue("KN", (unsigned long long)version, PyBool_FromLong(seeded));
}

PyDoc_STRVAR(install_doc,
"_install(life, version, key, /)\n--\n\n"
"Make *key* the K and step C, unless K has changed since *version*: then return False.\n"
"Return None, and change nothing, where *life* is over.");

static PyObject *generator_install(PyObject *object, PyObject *args)
{
    Generator *self = (Generator *)object;
    struct state_page *page = self->page;
    unsigned long long life, version;
    Py_buffer key;

    if (!PyArg_ParseTuple(args, "KKy*:_install", &life, &version, &key))
        return NULL;
    if (fortuna_check_size(&key, "key", FORTUNA_KEY_SIZE) < 0)
        return NULL;
    LOCK(self);
    int is_over = page->life != life, is_changed = self->version != version;
    if (!is_over && !is_changed) {
        fortuna_copy_key(page->key, key.buf);
        fortuna_counter_store(page->counter, fortuna_counter_plus(fortuna_counter_load(page->counter), 1));
        self->version++;
        self->reseeds++;
    }
    UNLOCK(self);
    PyBuffer_Release(&key);
    if (is_over)
        Py_RETURN_NONE;
    return PyBool_FromLong(!is_changed);
}

PyDoc_STRVAR(arm_doc,
"_arm(life, due_ns, generation, restores, /)\n--\n\n"
"Serve requests until the clock reaches *due_ns*, while the watched number is *generation*,\n"
"unless *life* is over or C is 0. A call that began under other *restores* is made anew.");

static PyObject *generator_arm(PyObject *object, PyObject *args)
{
    Generator *self = (Generator *)object;
    struct state_page *page = self->page;
    unsigned long long life, generation, restores;
    long long due_ns;

    if (!PyArg_ParseTuple(args, "KLKK:_arm", &life, &due_ns, &generation, &restores))
        return NULL;
    LOCK(self);
    if (page->life == life && is_seeded(page)) {
        page->generation = generation;
        page->restores = restores;
        page->due_ns = due_ns;
    }
    UNLOCK(self);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(disarm_doc, "_disarm()\n--\n\nHave the next request ask for attention first.");

static PyObject *generator_disarm(PyObject *object, PyObject *unused)
{
    (void)unused;
    /* One word, written without the lock: the at-fork hook of a child calls this. */
    ((Generator *)object)->page->due_ns = 0;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(wipe_doc,
"_wipe(life, /)\n--\n\n"
"Forget K and C, if they are of *life*; takes no lock, so that a forked child may call it.");

static PyObject *generator_wipe(PyObject *object, PyObject *life)
{
    Generator *self = (Generator *)object;
    unsigned long long number = PyLong_AsUnsignedLongLong(life);

    if (number == (unsigned long long)-1 && PyErr_Occurred())
        return NULL;
    if (self->page->life == number) {
        fortuna_wipe(self->page, sizeof *self->page);
        self->version++;
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(load_doc, "_load(key, counter, /)\n--\n\nStart from a K of 32 bytes and a C of 16, as a known answer asks.");

static PyObject *generator_load(PyObject *object, PyObject *args)
{
    Generator *self = (Generator *)object;
    Py_buffer key, counter;

    if (!PyArg_ParseTuple(args, "y*y*:_load", &key, &counter))
        return NULL;
    if (fortuna_check_size(&key, "key", FORTUNA_KEY_SIZE) < 0 ||
        fortuna_check_size(&counter, "counter", FORTUNA_COUNTER_SIZE) < 0) {
        PyBuffer_Release(&key); /* to release twice is harmless */
        PyBuffer_Release(&counter);
        return NULL;
    }
    LOCK(self);
    fortuna_copy_key(self->page->key, key.buf);
    memcpy(self->page->counter, counter.buf, FORTUNA_COUNTER_SIZE);
    self->version++;
    UNLOCK(self);
    PyBuffer_Release(&key);
    PyBuffer_Release(&counter);
    Py_RETURN_NONE;
}

/* --- What it tells about itself ----------------------------------------- */

PyDoc_STRVAR(report_doc,
"_report()\n--\n\n"
"Return (is_seeded, requests, bytes_given, wipes_on_fork, is_locked, is_undumpable).");

static PyObject *generator_report(PyObject *object, PyObject *unused)
{
    Generator *self = (Generator *)object;
    (void)unused;
    return Py_BuildValue("NKKNNN", PyBool_FromLong(is_seeded(self->page)), (unsigned long long)self->requests,
                         (unsigned long long)self->bytes_given, PyBool_FromLong(self->mapping.wipes_on_fork),
                         PyBool_FromLong(self->mapping.is_locked), PyBool_FromLong(self->mapping.is_undumpable));
}

/* --- The type ----------------------------------------------------------- */

PyDoc_STRVAR(generator_doc,
"Generator(cipher, kernel, clock=None, erases_first=False, watched=None, mixes=False, /)\n--\n\n"
"K and C on a page of their own. The plain (K, C) generator without a clock; with one,\n"
"which is 'coarse', 'fine' or a callable that returns nanoseconds, the base of the live\n"
"generator: a subclass then has the method _attend. *erases_first* chooses the request\n"
"rule: fast key erasure, or the book's. *watched* is an aligned number of 4 or 8 bytes that\n"
"requests compare; where *mixes* is true, a subclass has the method _mix, which is called\n"
"before each call.");

/* A subclass passes arguments of its own, so they are not looked at here. */
static PyObject *generator_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)args;
    (void)kwargs;
    native_state *state = fortuna_state_of(type);
    if (state == NULL)
        return NULL;
    Generator *self = (Generator *)type->tp_alloc(type, 0);
    if (self == NULL)
        return NULL;
    self->state = state;
    if (fortuna_page_map(&self->mapping, sizeof *self->page, 0) < 0) {
        Py_DECREF(self);
        return PyErr_SetFromErrno(PyExc_OSError);
    }
    self->page = self->mapping.memory;
    return (PyObject *)self;
}

static int get_watched(Generator *self, PyObject *watched)
{
    if (PyObject_GetBuffer(watched, &self->watched, PyBUF_SIMPLE) < 0)
        return -1;
    size_t size = (size_t)self->watched.len;
    if ((size == 4 || size == 8) && (uintptr_t)self->watched.buf % size == 0)
        return 0;
    PyBuffer_Release(&self->watched);
    PyErr_SetString(PyExc_ValueError, "watched: need an aligned number of 4 or 8 bytes");
    return -1;
}

static int generator_init(PyObject *object, PyObject *args, PyObject *kwargs)
{
    Generator *self = (Generator *)object;
    const char *cipher, *name;
    PyObject *clock = Py_None, *watched = Py_None;
    int erases_first = 0, mixes = 0;
    (void)kwargs;

    if (!PyArg_ParseTuple(args, "ss|OpOp:Generator", &cipher, &name, &clock, &erases_first, &watched, &mixes))
        return -1;
    const struct fortuna_kernel *kernel = fortuna_require_kernel(self->state, cipher, name);
    if (kernel == NULL)
        return -1;
    if (clock == Py_None) {
        self->now = NULL;
    } else if (PyUnicode_Check(clock)) {
        self->now = PyUnicode_CompareWithASCIIString(clock, "coarse") == 0 ? coarse_now : fine_now;
    } else {
        self->now = python_now;
        Py_INCREF(clock);
        Py_XSETREF(self->clock, clock);
    }
    PyBuffer_Release(&self->watched);
    if (watched != Py_None && get_watched(self, watched) < 0)
        return -1;
    self->erases_first = erases_first;
    self->mixes = mixes;
    self->kernel = kernel;
    return 0;
}

static int generator_traverse(PyObject *object, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(((Generator *)object)->clock);
    return 0;
}

static int generator_clear(PyObject *object)
{
    Py_CLEAR(((Generator *)object)->clock);
    return 0;
}

static void generator_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    fortuna_page_unmap(&((Generator *)object)->mapping);
    generator_clear(object);
    /* Not visited above: it leads back to nothing of ours, and a view that the collector clears first would crash. */
    PyBuffer_Release(&((Generator *)object)->watched);
    type->tp_free(object);
    Py_DECREF(type);
}

PyDoc_STRVAR(random_bytes_doc,
"random_bytes(n, /)\n--\n\nReturn *n* random bytes; see fortuna.Fortuna.random_bytes.");
PyDoc_STRVAR(readinto_doc,
"readinto(buffer, /)\n--\n\nFill *buffer* with random bytes; see fortuna.Fortuna.readinto.");

static PyMethodDef generator_methods[] = {
    {"random_bytes", fortuna_generator_random_bytes, METH_O, random_bytes_doc},
    {"readinto", fortuna_generator_readinto, METH_O, readinto_doc},
    {"_begin_life", generator_begin_life, METH_O, begin_life_doc},
    {"_export", generator_export, METH_O, export_doc},
    {"_install", generator_install, METH_VARARGS, install_doc},
    {"_arm", generator_arm, METH_VARARGS, arm_doc},
    {"_disarm", generator_disarm, METH_NOARGS, disarm_doc},
    {"_wipe", generator_wipe, METH_O, wipe_doc},
    {"_load", generator_load, METH_VARARGS, load_doc},
    {"_report", generator_report, METH_NOARGS, report_doc},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot generator_slots[] = {
    {Py_tp_doc, (void *)generator_doc},
    {Py_tp_new, generator_new},
    {Py_tp_init, generator_init},
    {Py_tp_traverse, generator_traverse},
    {Py_tp_clear, generator_clear},
    {Py_tp_dealloc, generator_dealloc},
    {Py_tp_methods, generator_methods},
    {0, NULL},
};

PyType_Spec fortuna_generator_spec = {
    .name = "fortuna.generators._native.Generator",
    .basicsize = sizeof(Generator),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = generator_slots,
};
