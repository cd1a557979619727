/* Best single actions for the evidence with one precision per weight, on a whole Gram matrix.
 *
 * The same steps as searches/best_action.py with criteria/individual_evidence.py, which are its oracle: for a model of a few
 * functions a step is a few thousand operations, far less than the calls it takes in NumPy. Formulas are explained there. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__)
#define FOR_EACH_CPU __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define FOR_EACH_CPU
#endif

enum { ADD, CHANGE, DELETE, NONE };
enum { CONVERGED, STEPS_DONE, DIGITS_LOST };

typedef struct {
    Py_ssize_t m;                  /* candidates */
    Py_ssize_t size, capacity;     /* active functions, and how many there is room for */
    const double *gram, *diagonal; /* m x m, m */
    double *leftover, *alignment;  /* m, m */
    double *inverse;               /* capacity x capacity */
    double *weights, *ridges;      /* capacity */
    long long *active;             /* capacity */
    double energy, n, noise;       /* noise < 0: profiled */
    double dependent, lowest, highest, max_drift;
    double *row, *column;          /* m, capacity: work space */
} State;

typedef struct {
    int action;
    Py_ssize_t where; /* candidate for ADD, else position */
    double ridge, gain;
} Move;

static double noise_of(const State *s, double energy) { return s->noise < 0.0 ? energy / s->n : s->noise; }

static double gain_of(const State *s, double leftover, double alignment, double energy, double ridge) {
    double explained, shrunk;
    if (isinf(ridge)) return 0.0;
    explained = alignment * alignment / (leftover + ridge);
    shrunk = -0.5 * log1p(leftover / ridge);
    if (s->noise >= 0.0) return 0.5 * explained / s->noise + shrunk;
    return -0.5 * s->n * log1p(-fmin(explained / energy, 1.0 - 1e-15)) + shrunk;
}

/* The best ridge of a function, infinite where it is better left out; ratio = alignment^2 / (leftover noise). */
static double best_ridge(const State *s, double leftover, double ratio) {
    double share;
    if (!(ratio > 1.0)) return INFINITY;
    share = s->noise >= 0.0 ? 1.0 : fmax(1.0 - ratio / s->n, 0.0);
    return leftover * share / (ratio - 1.0);
}

FOR_EACH_CPU
static Py_ssize_t strongest(const State *s, double *strength) {
    double best = 0.0;
    Py_ssize_t chosen = -1, m;
    for (m = 0; m < s->m; m++) {
        double usable = s->leftover[m] > s->dependent * s->diagonal[m] ? 1.0 : 0.0;
        s->row[m] = usable * s->alignment[m] * s->alignment[m] / (usable > 0.0 ? s->leftover[m] : 1.0);
    }
    for (m = 0; m < s->size; m++) s->row[s->active[m]] = 0.0;
    for (m = 0; m < s->m; m++)
        if (s->row[m] > best) best = s->row[m], chosen = m;
    *strength = best;
    return chosen;
}

/* Near its optimum the curvature in log lambda is at most 1/2, so a short way d gains at most d^2/4; twice that to be safe. */
static int may_gain(double now, double ridge, double least) {
    double way = fabs(ridge - now) / fmin(ridge, now);
    return !(way < 0.5) || 0.5 * way * way > least;
}

static Move best_move(const State *s, Py_ssize_t max_active, double tol) {
    Move best = {NONE, -1, 0.0, 0.0};
    Py_ssize_t j;
    if (s->size < max_active) {
        double strength;
        Py_ssize_t m = strongest(s, &strength);
        double ratio = strength / noise_of(s, s->energy);
        if (m >= 0 && ratio > 1.0) {
            double ridge = best_ridge(s, s->leftover[m], ratio);
            ridge = fmin(fmax(ridge, s->lowest * s->diagonal[m]), s->highest * s->diagonal[m]);
            best.action = ADD, best.where = m, best.ridge = ridge;
            best.gain = gain_of(s, s->leftover[m], s->alignment[m], s->energy, ridge);
        }
    }
    for (j = 0; j < s->size; j++) {
        double spread = s->inverse[j * s->capacity + j], weight = s->weights[j], now = s->ridges[j];
        double leftover = fmax(1.0 / spread - now, 1e-16 / spread), alignment = weight / spread;
        double energy = s->energy + weight * alignment, scale = leftover + now, ridge, gain;
        ridge = best_ridge(s, leftover, alignment * alignment / (leftover * noise_of(s, energy)));
        ridge = fmax(ridge, s->lowest * scale);
        if (ridge > s->highest * scale) ridge = INFINITY;
        if (!may_gain(now, ridge, fmax(tol, best.gain))) continue;
        gain = gain_of(s, leftover, alignment, energy, ridge) - gain_of(s, leftover, alignment, energy, now);
        if (gain > best.gain) {
            best.action = isinf(ridge) ? DELETE : CHANGE;
            best.where = j, best.ridge = ridge, best.gain = gain;
        }
    }
    return best;
}

/* row = sum over active a of column[a] * gram[a, :], four rows of the Gram at a time */
FOR_EACH_CPU
static void combine(const State *s) {
    double *restrict row = s->row;
    Py_ssize_t a, m, n = s->m;
    memset(row, 0, sizeof(double) * n);
    for (a = 0; a + 4 <= s->size; a += 4) {
        const double *restrict g0 = s->gram + s->active[a] * n, *restrict g1 = s->gram + s->active[a + 1] * n;
        const double *restrict g2 = s->gram + s->active[a + 2] * n, *restrict g3 = s->gram + s->active[a + 3] * n;
        double f0 = s->column[a], f1 = s->column[a + 1], f2 = s->column[a + 2], f3 = s->column[a + 3];
        for (m = 0; m < n; m++) row[m] += f0 * g0[m] + f1 * g1[m] + f2 * g2[m] + f3 * g3[m];
    }
    for (; a < s->size; a++) {
        const double *restrict g = s->gram + s->active[a] * n;
        double f = s->column[a];
        for (m = 0; m < n; m++) row[m] += f * g[m];
    }
}

/* alignment += first * row, leftover += second * row^2 */
FOR_EACH_CPU
static void spread_change(const State *s, double first, double second) {
    double *restrict alignment = s->alignment, *restrict leftover = s->leftover;
    const double *restrict row = s->row;
    Py_ssize_t m;
    for (m = 0; m < s->m; m++) {
        alignment[m] += first * row[m];
        leftover[m] += second * row[m] * row[m];
    }
}

FOR_EACH_CPU
static void rank_one(const State *s, double factor) {
    Py_ssize_t i, j;
    for (i = 0; i < s->size; i++) {
        double *restrict row = s->inverse + i * s->capacity;
        const double *restrict column = s->column;
        double scaled = factor * column[i];
        for (j = 0; j < s->size; j++) row[j] += scaled * column[j];
    }
}

static void add(State *s, Py_ssize_t candidate, double ridge) {
    const double *gram = s->gram + candidate * s->m;
    double total = s->leftover[candidate] + ridge, weight = s->alignment[candidate] / total;
    Py_ssize_t i, j, n = s->size;
    for (i = 0; i < n; i++) {
        double sum = 0.0;
        for (j = 0; j < n; j++) sum += s->inverse[i * s->capacity + j] * gram[s->active[j]];
        s->column[i] = sum;
    }
    combine(s);
    for (i = 0; i < s->m; i++) s->row[i] = gram[i] - s->row[i];
    s->energy -= weight * s->alignment[candidate];
    spread_change(s, -weight, -1.0 / total);
    rank_one(s, 1.0 / total);
    for (i = 0; i < n; i++) {
        s->weights[i] -= weight * s->column[i];
        s->inverse[i * s->capacity + n] = s->inverse[n * s->capacity + i] = -s->column[i] / total;
    }
    s->inverse[n * s->capacity + n] = 1.0 / total;
    s->weights[n] = weight;
    s->ridges[n] = ridge;
    s->active[n] = candidate;
    s->size = n + 1;
}

static void shift(State *s, Py_ssize_t position, double step) {
    double weight = s->weights[position];
    Py_ssize_t i;
    memcpy(s->column, s->inverse + position * s->capacity, sizeof(double) * s->size);
    combine(s);
    spread_change(s, step * weight, step);
    s->energy += step * weight * weight;
    for (i = 0; i < s->size; i++) s->weights[i] -= step * weight * s->column[i];
    rank_one(s, -step);
}

static void change(State *s, Py_ssize_t position, double ridge) {
    double difference = ridge - s->ridges[position];
    double spread = s->inverse[position * s->capacity + position];
    shift(s, position, difference / (1.0 + difference * spread));
    s->ridges[position] = ridge;
}

static void drop(State *s, Py_ssize_t position) {
    Py_ssize_t i, last = s->size - 1;
    shift(s, position, 1.0 / s->inverse[position * s->capacity + position]);
    for (i = 0; i < s->size; i++) s->inverse[position * s->capacity + i] = s->inverse[last * s->capacity + i];
    for (i = 0; i < s->size; i++) s->inverse[i * s->capacity + position] = s->inverse[i * s->capacity + last];
    s->weights[position] = s->weights[last];
    s->ridges[position] = s->ridges[last];
    s->active[position] = s->active[last];
    s->size = last;
}

/* For active j the alignment is lambda_j w_j exactly; where it is not, rank-one changes have lost digits. */
static int has_lost_digits(const State *s) {
    Py_ssize_t j;
    if (!(s->energy > 0.0)) return 1;
    for (j = 0; j < s->size; j++) {
        Py_ssize_t m = s->active[j];
        double off = s->alignment[m] - s->ridges[j] * s->weights[j];
        if (!(off * off <= s->max_drift * s->max_drift * s->diagonal[m] * s->energy)) return 1;
    }
    return 0;
}

static int view(PyObject *object, Py_buffer *buffer, Py_ssize_t n_items, Py_ssize_t item_size, const char *name) {
    if (PyObject_GetBuffer(object, buffer, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE) < 0) return -1;
    if (buffer->itemsize != item_size || buffer->len != n_items * item_size) {
        PyErr_Format(PyExc_ValueError, "%s must have %zd items of %zd bytes, got %zd bytes", name, n_items, item_size, buffer->len);
        PyBuffer_Release(buffer);
        return -1;
    }
    return 0;
}

#define N_BUFFERS 11

static PyObject *climb(PyObject *self, PyObject *args) {
    static const char *names[N_BUFFERS] = {"gram",   "diagonal", "leftover", "alignment", "inverse", "weights",
                                           "ridges", "active",   "actions",  "indices",   "gains"};
    PyObject *objects[N_BUFFERS];
    Py_buffer buffers[N_BUFFERS];
    Py_ssize_t lengths[N_BUFFERS], max_active, max_steps, max_changes, changes_in_a_row = 0, steps = 0, i, opened = 0;
    double tol;
    State s;
    int status = STEPS_DONE;
    memset(&s, 0, sizeof s);
    if (!PyArg_ParseTuple(args, "OOOOOOOOOOOnnnnnndddddddd", &objects[0], &objects[1], &objects[2], &objects[3], &objects[4],
                          &objects[5], &objects[6], &objects[7], &objects[8], &objects[9], &objects[10], &s.m, &s.size,
                          &s.capacity, &max_active, &max_steps, &max_changes, &s.energy, &s.n, &s.noise, &tol, &s.dependent, &s.lowest,
                          &s.highest, &s.max_drift))
        return NULL;
    lengths[0] = s.m * s.m;
    lengths[1] = lengths[2] = lengths[3] = s.m;
    lengths[4] = s.capacity * s.capacity;
    lengths[5] = lengths[6] = lengths[7] = s.capacity;
    lengths[8] = lengths[9] = lengths[10] = max_steps;
    if (max_active > s.capacity) max_active = s.capacity;
    for (; opened < N_BUFFERS; opened++)
        if (view(objects[opened], &buffers[opened], lengths[opened], 8, names[opened]) < 0) goto done;
    s.row = malloc(sizeof(double) * (s.m + s.capacity + 1));
    if (s.row == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    s.column = s.row + s.m;
    s.gram = buffers[0].buf, s.diagonal = buffers[1].buf, s.leftover = buffers[2].buf, s.alignment = buffers[3].buf;
    s.inverse = buffers[4].buf, s.weights = buffers[5].buf, s.ridges = buffers[6].buf, s.active = buffers[7].buf;

    Py_BEGIN_ALLOW_THREADS
    while (steps < max_steps && changes_in_a_row < max_changes) {
        Move move = best_move(&s, max_active, tol);
        if (!(move.gain > tol)) {
            status = CONVERGED;
            break;
        }
        ((long long *)buffers[8].buf)[steps] = move.action;
        ((long long *)buffers[9].buf)[steps] = move.action == ADD ? (long long)move.where : s.active[move.where];
        ((double *)buffers[10].buf)[steps] = move.gain;
        steps++;
        changes_in_a_row = move.action == CHANGE ? changes_in_a_row + 1 : 0;
        if (move.action == ADD) add(&s, move.where, move.ridge);
        else if (move.action == CHANGE) change(&s, move.where, move.ridge);
        else drop(&s, move.where);
        if (has_lost_digits(&s)) {
            status = DIGITS_LOST;
            break;
        }
    }
    Py_END_ALLOW_THREADS
    free(s.row);
done:
    for (i = 0; i < opened; i++) PyBuffer_Release(&buffers[i]);
    if (PyErr_Occurred()) return NULL;
    return Py_BuildValue("nndi", steps, s.size, s.energy, status);
}

static PyMethodDef methods[] = {
    {"climb", climb, METH_VARARGS, "Take best single actions in place; returns (steps, size, energy, status)."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_climb", NULL, 0, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__climb(void) { return PyModule_Create(&module); }
