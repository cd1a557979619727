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
    Py_ssize_t n_pending, max_pending;
    double *pending, *pending_rows; /* max_pending x capacity, max_pending x m */
    double *first, *second;         /* max_pending: what each pending change adds to alignment and leftover */
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
    return -0.5 * s->n * log1p(-explained / energy) + shrunk;
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

static Move best_addition(const State *s) {
    Move best = {NONE, -1, 0.0, 0.0};
    double strength, ratio;
    Py_ssize_t m;
    if (s->size >= s->capacity) return best;
    m = strongest(s, &strength);
    ratio = strength / noise_of(s, s->energy);
    if (m >= 0 && ratio > 1.0) {
        double ridge = best_ridge(s, s->leftover[m], ratio);
        ridge = fmin(fmax(ridge, s->lowest * s->diagonal[m]), s->highest * s->diagonal[m]);
        best.action = ADD, best.where = m, best.ridge = ridge;
        best.gain = gain_of(s, s->leftover[m], s->alignment[m], s->energy, ridge);
    }
    return best;
}

static Move best_change(const State *s, double tol) {
    Move best = {NONE, -1, 0.0, 0.0};
    double near = fmin(0.5 * sqrt(tol), 0.1);
    Py_ssize_t j;
    for (j = 0; j < s->size; j++) {
        double spread = s->inverse[j * s->capacity + j], weight = s->weights[j], now = s->ridges[j];
        double leftover = fmax(1.0 / spread - now, 1e-16 / spread), alignment = weight / spread;
        double energy = s->energy + weight * alignment, scale = leftover + now, ridge, gain;
        ridge = best_ridge(s, leftover, alignment * alignment / (leftover * noise_of(s, energy)));
        ridge = fmax(ridge, s->lowest * scale);
        if (ridge > s->highest * scale) ridge = INFINITY;
        /* Near its optimum the curvature in log lambda is at most 1/2: so short a way gains less than a quarter of the tolerance. */
        if (fabs(ridge - now) < near * now) continue;
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
static void rank_one(const State *s, const double *restrict column, double factor) {
    Py_ssize_t i, j;
    for (i = 0; i < s->size; i++) {
        double *restrict row = s->inverse + i * s->capacity;
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
    rank_one(s, s->column, 1.0 / total);
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

/* Bring the candidates up to date with all pending changes at once: each row of the Gram is read once for all of them. */
FOR_EACH_CPU
static void flush(State *s) {
    const Py_ssize_t tile = 256;
    Py_ssize_t start, a, p, m;
    for (start = 0; start < s->m && s->n_pending; start += tile) {
        Py_ssize_t n = s->m - start < tile ? s->m - start : tile;
        double *restrict alignment = s->alignment + start, *restrict leftover = s->leftover + start;
        memset(s->pending_rows, 0, sizeof(double) * tile * s->n_pending);
        for (a = 0; a < s->size; a++) {
            const double *restrict gram = s->gram + s->active[a] * s->m + start;
            for (p = 0; p < s->n_pending; p++) {
                double factor = s->pending[p * s->capacity + a], *restrict row = s->pending_rows + p * tile;
                for (m = 0; m < n; m++) row[m] += factor * gram[m];
            }
        }
        for (p = 0; p < s->n_pending; p++) {
            const double *restrict row = s->pending_rows + p * tile;
            double first = s->first[p], second = s->second[p];
            for (m = 0; m < n; m++) {
                alignment[m] += first * row[m];
                leftover[m] += second * row[m] * row[m];
            }
        }
    }
    s->n_pending = 0;
}

/* The active functions at once, the candidates when it is asked for them. */
static void shift(State *s, Py_ssize_t position, double step) {
    double weight = s->weights[position], *column = s->pending + s->n_pending * s->capacity;
    Py_ssize_t i;
    memcpy(column, s->inverse + position * s->capacity, sizeof(double) * s->size);
    s->first[s->n_pending] = step * weight;
    s->second[s->n_pending] = step;
    s->energy += step * weight * weight;
    for (i = 0; i < s->size; i++) s->weights[i] -= step * weight * column[i];
    rank_one(s, column, -step);
    s->n_pending++;
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
    flush(s);
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
        double off = fabs(s->alignment[m] - s->ridges[j] * s->weights[j]);
        if (!(off <= s->max_drift * sqrt(s->diagonal[m] * s->energy))) return 1;
    }
    return 0;
}

/* Best actions in place until none gains more than tol. Changes of active functions go first while they gain more than the best
 * addition that was last seen; with max_pending = 1 it is seen anew after every action. */
static int take_steps(State *s, double tol, Py_ssize_t max_steps, long long *actions, long long *indices, double *gains,
                      Py_ssize_t *n_steps) {
    Move addition = best_addition(s);
    while (*n_steps < max_steps) {
        Move move = best_change(s, tol);
        if (!(move.gain > fmax(tol, addition.gain))) {
            if (s->n_pending) {
                flush(s);
                if (has_lost_digits(s)) return DIGITS_LOST;
                addition = best_addition(s);
            }
            if (!(move.gain > addition.gain)) move = addition;
            if (!(move.gain > tol)) return CONVERGED;
        }
        actions[*n_steps] = move.action;
        indices[*n_steps] = move.action == ADD ? (long long)move.where : s->active[move.where];
        gains[*n_steps] = move.gain;
        ++*n_steps;
        if (move.action == ADD) add(s, move.where, move.ridge);
        else if (move.action == CHANGE) change(s, move.where, move.ridge);
        else drop(s, move.where);
        if (s->n_pending == s->max_pending) flush(s);
        if (!s->n_pending) {
            if (has_lost_digits(s)) return DIGITS_LOST;
            addition = best_addition(s);
        }
    }
    return STEPS_DONE;
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
    Py_ssize_t lengths[N_BUFFERS], max_steps, steps = 0, i, opened = 0;
    double tol;
    State s;
    int status = STEPS_DONE;
    memset(&s, 0, sizeof s);
    if (!PyArg_ParseTuple(args, "OOOOOOOOOOOnnnnndddddddd", &objects[0], &objects[1], &objects[2], &objects[3], &objects[4],
                          &objects[5], &objects[6], &objects[7], &objects[8], &objects[9], &objects[10], &s.m, &s.size,
                          &s.capacity, &s.max_pending, &max_steps, &s.energy, &s.n, &s.noise, &tol, &s.dependent, &s.lowest,
                          &s.highest, &s.max_drift))
        return NULL;
    lengths[0] = s.m * s.m;
    lengths[1] = lengths[2] = lengths[3] = s.m;
    lengths[4] = s.capacity * s.capacity;
    lengths[5] = lengths[6] = lengths[7] = s.capacity;
    lengths[8] = lengths[9] = lengths[10] = max_steps;
    for (; opened < N_BUFFERS; opened++)
        if (view(objects[opened], &buffers[opened], lengths[opened], 8, names[opened]) < 0) goto done;
    s.row = malloc(sizeof(double) * (s.m + s.capacity + s.max_pending * (s.capacity + 256 + 2)));
    if (s.row == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    s.column = s.row + s.m, s.pending = s.column + s.capacity, s.pending_rows = s.pending + s.max_pending * s.capacity;
    s.first = s.pending_rows + s.max_pending * 256, s.second = s.first + s.max_pending;
    s.gram = buffers[0].buf, s.diagonal = buffers[1].buf, s.leftover = buffers[2].buf, s.alignment = buffers[3].buf;
    s.inverse = buffers[4].buf, s.weights = buffers[5].buf, s.ridges = buffers[6].buf, s.active = buffers[7].buf;

    Py_BEGIN_ALLOW_THREADS
    status = take_steps(&s, tol, max_steps, buffers[8].buf, buffers[9].buf, buffers[10].buf, &steps);
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
