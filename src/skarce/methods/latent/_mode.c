/* Laplace approximations of models with a few functions: the mode, and joint steps for all precisions. The mathematics is in
 * _mode.h and _settle.h; here arguments are checked. */

#include "../../_boundary.h"
#include "_settle.h"

enum { COLUMNS, TARGETS, COUNTS, LOG_TARGETS, PRECISIONS, WEIGHTS, LATENT, RESIDUAL, CURVATURE, THIRD, FACTOR };
enum { N_BUFFERS = FACTOR + 1, N_OTHERS = 3 };

static const Expected of_find[N_BUFFERS] = {
    {"columns", DOUBLES, 2, READ_ONLY},    {"targets", DOUBLES, 1, READ_ONLY},  {"counts", DOUBLES, 1, READ_ONLY},
    {"log_targets", DOUBLES, 1, READ_ONLY}, {"precisions", DOUBLES, 1, READ_ONLY}, {"weights", DOUBLES, 1, WRITTEN},
    {"latent", DOUBLES, 1, WRITTEN},       {"residual", DOUBLES, 1, WRITTEN},   {"curvature", DOUBLES, 1, WRITTEN},
    {"third", DOUBLES, 1, WRITTEN},        {"factor", DOUBLES, 2, WRITTEN}};

static void set_arrays(Model *p, const Py_buffer *buffers) {
    p->m = buffers[COLUMNS].shape[0], p->n = buffers[COLUMNS].shape[1];
    p->columns = buffers[COLUMNS].buf, p->targets = buffers[TARGETS].buf, p->log_targets = buffers[LOG_TARGETS].buf;
    p->counts = buffers[COUNTS].shape[0] ? buffers[COUNTS].buf : NULL;
    p->precisions = buffers[PRECISIONS].buf, p->weights = buffers[WEIGHTS].buf, p->latent = buffers[LATENT].buf;
    p->residual = buffers[RESIDUAL].buf, p->curvature = buffers[CURVATURE].buf, p->third = buffers[THIRD].buf;
    p->factor = buffers[FACTOR].buf;
}

static int check_kind(Py_ssize_t kind) {
    if (kind <= POISSON) return 0;
    PyErr_Format(PyExc_ValueError, "kind must be %d for labels or %d for counts, got %zd", BERNOULLI, POISSON, kind);
    return -1;
}

static int check_model(const Model *p, const Py_buffer *buffers) {
    const Py_ssize_t n = p->n, m = p->m, counts = p->counts == NULL ? 0 : n, logs = p->kind == POISSON ? n : 0;
    const Py_ssize_t shapes[N_BUFFERS][2] = {{m, n}, {n}, {counts}, {logs}, {m}, {m}, {n}, {n}, {n}, {n}, {m, m}};
    if (check_kind(p->kind) < 0 || check_each_shape(of_find, buffers, shapes, N_BUFFERS) < 0) return -1;
    return check_apart(of_find, buffers, N_BUFFERS);
}

static int make_room(Model *p) {
    p->trial = calloc(2 * p->n + 3 * p->m + BLOCK, sizeof(double));
    if (p->trial == NULL) return -1;
    p->move = p->trial + p->n, p->step = p->move + p->n;
    p->gradient = p->step + p->m, p->trial_weights = p->gradient + p->m, p->scaled = p->trial_weights + p->m;
    return 0;
}

static PyObject *find_mode(PyObject *self, PyObject *const *arguments, Py_ssize_t n_arguments) {
    PyObject *const *others = arguments + N_BUFFERS;
    Py_buffer buffers[N_BUFFERS];
    Model p;
    int status = FOUND;
    memset(&p, 0, sizeof p);
    if (check_count("find_mode", n_arguments, N_BUFFERS + N_OTHERS) < 0 || take_size(others[0], "kind", &p.kind) < 0 ||
        take_double(others[1], "level", &p.level) < 0 || take_double(others[2], "at_level", &p.at_level) < 0 ||
        open_arrays(arguments, of_find, buffers, N_BUFFERS) < 0)
        return NULL;
    set_arrays(&p, buffers);
    if (check_model(&p, buffers) < 0) goto done;
    if (make_room(&p) < 0) {
        PyErr_NoMemory();
        goto done;
    }
    Py_BEGIN_ALLOW_THREADS
    status = find(&p);
    Py_END_ALLOW_THREADS
    free(p.trial);
done:
    close_arrays(buffers, N_BUFFERS);
    if (PyErr_Occurred()) return NULL;
    return Py_BuildValue("di", p.objective, status);
}

enum { N_OF_WEIGH = 5 };

static const Expected of_weigh[N_OF_WEIGH] = {{"columns", DOUBLES, 2, READ_ONLY},
                                              {"root", DOUBLES, 2, READ_ONLY},
                                              {"third", DOUBLES, 1, READ_ONLY},
                                              {"third_order", DOUBLES, 1, WRITTEN},
                                              {"projections", DOUBLES, 1, WRITTEN}};

static PyObject *third_order(PyObject *self, PyObject *const *arguments, Py_ssize_t n_arguments) {
    Py_buffer buffers[N_OF_WEIGH];
    if (check_count("third_order", n_arguments, N_OF_WEIGH) < 0 || open_arrays(arguments, of_weigh, buffers, N_OF_WEIGH) < 0)
        return NULL;
    {
        const Py_ssize_t m = buffers[0].shape[0], n = buffers[0].shape[1];
        const Py_ssize_t shapes[N_OF_WEIGH][2] = {{m, n}, {m, m}, {n}, {n}, {m}};
        if (check_each_shape(of_weigh, buffers, shapes, N_OF_WEIGH) == 0 && check_apart(of_weigh, buffers, N_OF_WEIGH) == 0) {
            Py_BEGIN_ALLOW_THREADS
            weigh(n, m, buffers[0].buf, buffers[1].buf, buffers[2].buf, buffers[3].buf, buffers[4].buf);
            Py_END_ALLOW_THREADS
        }
    }
    close_arrays(buffers, N_OF_WEIGH);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

enum { S_COLUMNS, S_TARGETS, S_COUNTS, S_LOG_TARGETS, S_RATES, S_LARGEST, S_PRECISIONS, S_WEIGHTS, S_PLACES, N_OF_SETTLE };
enum { N_NUMBERS = 6 };

static const Expected of_settle[N_OF_SETTLE] = {
    {"columns", DOUBLES, 2, READ_ONLY},     {"targets", DOUBLES, 1, READ_ONLY}, {"counts", DOUBLES, 1, READ_ONLY},
    {"log_targets", DOUBLES, 1, READ_ONLY}, {"rates", DOUBLES, 1, READ_ONLY},   {"largest", DOUBLES, 1, READ_ONLY},
    {"precisions", DOUBLES, 1, WRITTEN},    {"weights", DOUBLES, 1, WRITTEN},   {"places", INTEGERS, 1, WRITTEN}};

/* Two points and the work space of the steps, in one block of memory. */
typedef struct {
    Point points[2];
    Room room;
    double *memory;
} Walk;

static int make_walk(Walk *walk, Py_ssize_t n, Py_ssize_t m) {
    const Py_ssize_t of_room = 3 * m * m + 5 * m + n + m; /* the last m doubles hold m characters */
    long long *places = malloc(sizeof(long long) * (2 * m + 1));
    double *next = walk->memory = malloc(sizeof(double) * (2 * doubles_of_point(n, m) + of_room));
    Room *room = &walk->room;
    walk->points[0].places = places;
    if (places == NULL || next == NULL) return -1;
    walk->points[1].places = places + m;
    next = lay_out(&walk->points[1], lay_out(&walk->points[0], next, n, m), n, m);
    room->root = next, room->matrix = room->root + m * m, room->inverse = room->matrix + m * m;
    room->gradient = room->inverse + m * m, room->scale = room->gradient + m, room->delta = room->scale + m;
    room->weights = room->delta + m, room->pull = room->weights + m, room->row = room->pull + m;
    room->is_left = (char *)(room->row + n);
    return 0;
}

static void free_walk(Walk *walk) {
    free(walk->points[0].places);
    free(walk->memory);
}

/* What both points share with the arguments. */
static void share(const Py_buffer *buffers, Point *first, Point *second) {
    Model *model = &first->mode;
    model->m = buffers[S_COLUMNS].shape[0], model->n = buffers[S_COLUMNS].shape[1];
    model->targets = buffers[S_TARGETS].buf, model->log_targets = buffers[S_LOG_TARGETS].buf;
    model->counts = buffers[S_COUNTS].shape[0] ? buffers[S_COUNTS].buf : NULL;
    *second = *first;
}

static int check_settle(const Point *p, const Py_buffer *buffers) {
    const Py_ssize_t n = p->mode.n, m = p->mode.m, counts = p->mode.counts == NULL ? 0 : n, logs = p->mode.kind == POISSON ? n : 0;
    const Py_ssize_t shapes[N_OF_SETTLE][2] = {{m, n}, {n}, {counts}, {logs}, {m}, {m}, {m}, {m}, {m}};
    if (check_kind(p->mode.kind) < 0 || check_each_shape(of_settle, buffers, shapes, N_OF_SETTLE) < 0) return -1;
    if (p->n_fixed > 1 || p->n_fixed > m) {
        PyErr_Format(PyExc_ValueError, "n_fixed must be 0 or 1, and at most the number of functions, got %zd", p->n_fixed);
        return -1;
    }
    return check_apart(of_settle, buffers, N_OF_SETTLE);
}

/* Settles from the arguments and writes back what is left; -1 if the functions are dependent. */
static int walk_to_end(Walk *walk, const Py_buffer *buffers, double tolerance, Py_ssize_t max_steps, Py_ssize_t *size) {
    Point *here = &walk->points[0], *there = &walk->points[1];
    const Py_ssize_t n = here->mode.n, m = here->mode.m;
    Py_ssize_t j;
    int converged;
    memcpy(here->columns, buffers[S_COLUMNS].buf, sizeof(double) * m * n);
    memcpy(here->rates, buffers[S_RATES].buf, sizeof(double) * m);
    memcpy(here->largest, buffers[S_LARGEST].buf, sizeof(double) * m);
    memcpy(here->precisions, buffers[S_PRECISIONS].buf, sizeof(double) * m);
    memcpy(here->mode.weights, buffers[S_WEIGHTS].buf, sizeof(double) * m);
    for (j = 0; j < m; j++) here->places[j] = j;
    if (evaluate(here) < 0) return -1;
    derive(here, &walk->room);
    converged = settle(&here, &there, &walk->room, tolerance, max_steps);
    *size = here->mode.m;
    memcpy(buffers[S_PRECISIONS].buf, here->precisions, sizeof(double) * *size);
    memcpy(buffers[S_WEIGHTS].buf, here->mode.weights, sizeof(double) * *size);
    memcpy(buffers[S_PLACES].buf, here->places, sizeof(long long) * *size);
    return converged;
}

static int take_numbers(PyObject *const *others, Point *p, double *tolerance, Py_ssize_t *max_steps) {
    return take_size(others[0], "kind", &p->mode.kind) < 0 || take_double(others[1], "level", &p->mode.level) < 0 ||
                   take_double(others[2], "at_level", &p->mode.at_level) < 0 || take_size(others[3], "n_fixed", &p->n_fixed) < 0 ||
                   take_double(others[4], "tolerance", tolerance) < 0 || take_size(others[5], "max_steps", max_steps) < 0
               ? -1
               : 0;
}

static PyObject *settle_precisions(PyObject *self, PyObject *const *arguments, Py_ssize_t n_arguments) {
    Py_buffer buffers[N_OF_SETTLE];
    Py_ssize_t max_steps, size = 0;
    double tolerance;
    int converged = -1;
    Walk walk;
    memset(&walk, 0, sizeof walk);
    if (check_count("settle", n_arguments, N_OF_SETTLE + N_NUMBERS) < 0 ||
        take_numbers(arguments + N_OF_SETTLE, &walk.points[0], &tolerance, &max_steps) < 0 ||
        open_arrays(arguments, of_settle, buffers, N_OF_SETTLE) < 0)
        return NULL;
    share(buffers, &walk.points[0], &walk.points[1]);
    if (check_settle(&walk.points[0], buffers) < 0) goto done;
    if (make_walk(&walk, walk.points[0].mode.n, walk.points[0].mode.m) < 0) PyErr_NoMemory();
    else {
        Py_BEGIN_ALLOW_THREADS
        converged = walk_to_end(&walk, buffers, tolerance, max_steps, &size);
        Py_END_ALLOW_THREADS
    }
    free_walk(&walk);
done:
    close_arrays(buffers, N_OF_SETTLE);
    if (PyErr_Occurred()) return NULL;
    return Py_BuildValue("ni", size, converged);
}

static PyMethodDef methods[] = {
    {"find_mode", (PyCFunction)(void (*)(void))find_mode, METH_FASTCALL,
     "Go to the mode from `weights`, in place, and return (log posterior without constants, status)."},
    {"settle", (PyCFunction)(void (*)(void))settle_precisions, METH_FASTCALL,
     "Take joint steps for all precisions, in place, and return (number of functions left, converged or -1 if they are dependent)."},
    {"third_order", (PyCFunction)(void (*)(void))third_order, METH_FASTCALL,
     "Write rho o h and Phi'(rho o h) for the root of the covariance."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {ANY_INTERPRETER ANY_THREAD{0, NULL}};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_mode", NULL, 0, methods, slots, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__mode(void) { return PyModuleDef_Init(&module); }
