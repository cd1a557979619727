/* Locally weighted projection regression, one row after another.
 *
 * The same as field.py and learning.py, which use NumPy, explain the equations and serve as oracles in the tests. A field is one row
 * of doubles; layout.py says what they mean and in which order they come. Fields are updated in place, and there is no other state. */

#include "../../_boundary.h"
#include <math.h>
#include <stdlib.h>

#define FIRST_PROJECTIONS 2 /* as in field.py */
#define LEAST_LEFT_OUT 0.1
#define LARGEST_STEP 0.03
#define CAUTION 200.0
#define LEAST_ERROR 1e-6

/* In the order of layout.Settings. */
typedef struct {
    double add_below, prune_above, projection_gain, initial_forgetting, final_forgetting, forgetting_pace, learning_rate, penalty,
        initial_metric, settled_weight, copies, max_fields;
} Settings;

enum { N_SETTINGS = sizeof(Settings) / sizeof(double) };

/* Where the parts of a field begin in its row. */
typedef struct {
    Py_ssize_t d, r, is_full;
    Py_ssize_t metric, mean, level, n_projections, forgetting, weight, evidence, noise, errors, pull, spread, squares, products,
        directions, loadings, size;
} Layout;

/* What one row looks like to one field. */
typedef struct {
    double *z, *scores, *scaled; /* d; 1 + r; 1 + r */
    double residual, left_out, leverage;
} Seen;

typedef struct {
    const Settings *settings;
    Layout at;
    Seen seen;
    double *offset, *step, *gram, *active; /* d, the size of a metric, the same, capacity */
    double negligible;
} Task;

static void set_layout(Layout *at, Py_ssize_t d, Py_ssize_t r, Py_ssize_t is_full) {
    at->d = d, at->r = r, at->is_full = is_full;
    at->metric = d;
    at->mean = at->metric + (is_full ? d * d : d);
    at->level = at->mean + d;
    at->n_projections = at->level + 1;
    at->forgetting = at->level + 2;
    at->weight = at->level + 3;
    at->evidence = at->level + 4;
    at->noise = at->level + 5;
    at->errors = at->level + 6;
    at->pull = at->errors + r + 1;
    at->spread = at->pull + r + 1;
    at->squares = at->spread + (r + 1) * (r + 1);
    at->products = at->squares + r;
    at->directions = at->products + r;
    at->loadings = at->directions + r * d;
    at->size = at->loadings + r * d;
}

static inline double at_least(double value, double least) { return value > least ? value : least; }

static inline double dot(const double *a, const double *b, Py_ssize_t n) {
    double sum = 0.0;
    Py_ssize_t i;
    for (i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

static inline void add_to(double *a, double factor, const double *b, Py_ssize_t n) {
    Py_ssize_t i;
    for (i = 0; i < n; i++) a[i] += factor * b[i];
}

static inline void multiply(double *a, double factor, Py_ssize_t n) {
    Py_ssize_t i;
    for (i = 0; i < n; i++) a[i] *= factor;
}

/* M (x - c), with the offset x - c left in t->offset. M is upper triangular. */
static inline double scaled_offset(const Task *t, const double *field, Py_ssize_t i) {
    const double *metric = field + t->at.metric;
    if (!t->at.is_full) return metric[i] * t->offset[i];
    return dot(metric + i * t->at.d + i, t->offset + i, t->at.d - i);
}

static inline double activation(const Task *t, const double *field, const double *x) {
    const Py_ssize_t d = t->at.d;
    double distance = 0.0;
    Py_ssize_t i;
    for (i = 0; i < d; i++) t->offset[i] = x[i] - field[i];
    for (i = 0; i < d; i++) {
        const double scaled = scaled_offset(t, field, i);
        distance += scaled * scaled;
    }
    return distance < 1500.0 ? exp(-0.5 * distance) : 0.0; /* also if it is not a number */
}

static void start(const Task *t, double *field, const double *center) {
    const Layout *at = &t->at;
    const double side = sqrt(t->settings->initial_metric);
    Py_ssize_t i;
    memset(field, 0, at->size * sizeof(double));
    memcpy(field, center, at->d * sizeof(double));
    for (i = 0; i < at->d; i++) field[at->metric + (at->is_full ? i * at->d + i : i)] = side;
    field[at->n_projections] = at->r < FIRST_PROJECTIONS ? at->r : FIRST_PROJECTIONS;
    field[at->forgetting] = t->settings->initial_forgetting;
}

static inline int is_settled(const Task *t, const double *field) { return field[t->at.evidence] >= t->settings->settled_weight; }

static inline double left_out_error(const Task *t, const double *field) {
    const double evidence = field[t->at.evidence];
    return evidence > 0.0 ? field[t->at.errors + (Py_ssize_t)field[t->at.n_projections]] / evidence : HUGE_VAL;
}

/* Sums of projections that are not in use are zero, so only those in use fade. */
static void fade(const Task *t, double *field) {
    const Layout *at = &t->at;
    const Settings *s = t->settings;
    const Py_ssize_t n = (Py_ssize_t)field[at->n_projections];
    const double forgetting = field[at->forgetting];
    Py_ssize_t r;
    multiply(field + at->weight, forgetting, at->errors - at->weight);
    multiply(field + at->errors, forgetting, n + 1);
    multiply(field + at->pull, forgetting, n + 1);
    for (r = 0; r <= n; r++) multiply(field + at->spread + r * (at->r + 1), forgetting, n + 1);
    multiply(field + at->squares, forgetting, n);
    multiply(field + at->products, forgetting, n);
    multiply(field + at->directions, forgetting, n * at->d);
    multiply(field + at->loadings, forgetting, n * at->d);
    field[at->forgetting] = s->forgetting_pace * forgetting + (1.0 - s->forgetting_pace) * s->final_forgetting;
}

static inline double left_out(double expected, double leverage, double copies) {
    return expected * at_least(1.0 - leverage, 0.0) / at_least(1.0 - copies * leverage, LEAST_LEFT_OUT);
}

static void turn_around(const Layout *at, double *field, Py_ssize_t r) {
    const Py_ssize_t side = at->r + 1;
    double *spread = field + at->spread;
    Py_ssize_t k;
    field[at->products + r] *= -1.0;
    multiply(field + at->loadings + r * at->d, -1.0, at->d);
    field[at->pull + r + 1] *= -1.0;
    multiply(spread + (r + 1) * side, -1.0, side);
    for (k = 0; k < side; k++) spread[k * side + r + 1] *= -1.0;
}

static void update_projections(const Task *t, double *field, Seen *seen, const double *x, double y, double w) {
    const Layout *at = &t->at;
    const Py_ssize_t d = at->d, n = (Py_ssize_t)field[at->n_projections];
    const double before = field[at->weight], weight = before + w, share = before / weight, copies = t->settings->copies;
    double residual = y - field[at->level], expected = residual, leverage = w / weight, *z = seen->z;
    Py_ssize_t i, r;
    for (i = 0; i < d; i++) z[i] = x[i] - field[at->mean + i];
    add_to(field + at->mean, w / weight, z, d);
    field[at->level] += w / weight * residual;
    field[at->weight] = weight;
    field[at->evidence] += w;
    seen->scores[0] = 1.0, seen->scaled[0] = 1.0 / weight;
    seen->left_out = left_out(expected, leverage, copies);
    field[at->errors] += w * seen->left_out * seen->left_out;
    for (r = 0; r < n; r++) {
        double *u = field + at->directions + r * d, *loadings = field + at->loadings + r * d;
        double *squares = field + at->squares + r, *products = field + at->products + r, length, s, precision;
        const double growth = w * share * residual;
        if (dot(u, u, d) + growth * dot(u, z, d) < 0.0) turn_around(at, field, r);
        add_to(u, growth, z, d);
        length = sqrt(dot(u, u, d));
        s = length > 0.0 ? dot(z, u, d) / length : 0.0;
        if (*squares > 0.0) expected -= s * *products / *squares;
        *squares += w * share * s * s;
        *products += w * share * s * residual;
        add_to(loadings, w * share * s, z, d);
        precision = *squares > 0.0 ? 1.0 / *squares : 0.0;
        residual -= s * *products * precision;
        add_to(z, -s * precision, loadings, d);
        seen->scores[r + 1] = share * s, seen->scaled[r + 1] = share * s * precision;
        leverage += w * share * s * share * s * precision;
        seen->left_out = left_out(expected, leverage, copies);
        field[at->errors + r + 1] += w * seen->left_out * seen->left_out;
    }
    seen->residual = expected * at_least(1.0 - leverage, 0.0);
    seen->leverage = copies * leverage;
}

static double cost_slope(const Task *t, const double *field, const Seen *seen) {
    const Layout *at = &t->at;
    const Py_ssize_t n = (Py_ssize_t)field[at->n_projections] + 1;
    double slope = seen->left_out * seen->left_out - left_out_error(t, field);
    Py_ssize_t r;
    slope -= 2.0 * seen->residual * dot(seen->scaled, field + at->pull, n);
    for (r = 0; r < n; r++) slope -= 2.0 * seen->scaled[r] * dot(seen->scaled, field + at->spread + r * (at->r + 1), n);
    return slope / field[at->weight];
}

/* The learning rate in the units of the metric and of the error; a field that has seen little takes smaller steps. */
static inline double step_size(const Task *t, const double *field, double squared_norm) {
    const double weight = field[t->at.weight], error = left_out_error(t, field) + LEAST_ERROR;
    return t->settings->learning_rate * squared_norm / (double)t->at.d / error * weight / (weight + CAUTION);
}

/* The sum of all squared elements of D = M'M. */
static double squared_metric(const Task *t, const double *metric) {
    const Py_ssize_t d = t->at.d;
    double total = 0.0;
    Py_ssize_t i, j, k;
    if (!t->at.is_full) {
        for (i = 0; i < d; i++) total += metric[i] * metric[i] * metric[i] * metric[i];
        return total;
    }
    for (i = 0; i < d; i++)
        for (j = 0; j <= i; j++) {
            double element = 0.0;
            for (k = 0; k <= j; k++) element += metric[k * d + i] * metric[k * d + j];
            total += (i == j ? 1.0 : 2.0) * element * element;
        }
    return total;
}

/* The upper triangle of M M'M, times a factor. */
static void add_penalty(const Task *t, const double *metric, double price) {
    const Py_ssize_t d = t->at.d;
    Py_ssize_t i, j, k;
    memset(t->gram, 0, d * d * sizeof(double));
    for (k = 0; k < d; k++)
        for (i = k; i < d; i++) add_to(t->gram + i * d + k, metric[k * d + i], metric + k * d + k, d - k);
    for (i = 0; i < d; i++)
        for (k = i; k < d; k++)
            for (j = i; j < d; j++) t->step[i * d + j] += price * metric[i * d + k] * t->gram[k * d + j];
}

/* The gradient of the penalty gamma J log(1 + |D|^2 / (d D0^2)) in M is this number times M M'M. */
static double penalty_slope(const Task *t, const double *field) {
    const double first = t->settings->initial_metric, price = t->settings->penalty * (left_out_error(t, field) + LEAST_ERROR);
    const double squares = squared_metric(t, field + t->at.metric), d = (double)t->at.d;
    return 4.0 * price / (d * first * first + squares);
}

static void move_metric(const Task *t, double *field, const double *x, double w, double slope) {
    const Layout *at = &t->at;
    const Py_ssize_t d = at->d, n = at->mean - at->metric;
    const double price = penalty_slope(t, field) * w / field[at->weight];
    double *metric = field + at->metric, *step = t->step, length, most, squared_norm;
    Py_ssize_t i, j;
    for (i = 0; i < d; i++) t->offset[i] = x[i] - field[i];
    if (at->is_full) {
        memset(step, 0, n * sizeof(double));
        for (i = 0; i < d; i++) {
            const double scaled = scaled_offset(t, field, i);
            for (j = i; j < d; j++) step[i * d + j] = -slope * w * scaled * t->offset[j];
        }
        add_penalty(t, metric, price);
    } else {
        for (i = 0; i < d; i++)
            step[i] = -slope * w * metric[i] * t->offset[i] * t->offset[i] + price * metric[i] * metric[i] * metric[i];
    }
    squared_norm = dot(metric, metric, n);
    multiply(step, step_size(t, field, squared_norm), n);
    length = sqrt(dot(step, step, n)), most = LARGEST_STEP * sqrt(squared_norm);
    add_to(metric, length > most ? -most / length : -1.0, step, n);
}

static void remember(const Task *t, double *field, const Seen *seen, double w) {
    const Layout *at = &t->at;
    const Py_ssize_t n = (Py_ssize_t)field[at->n_projections] + 1;
    const double rest = at_least(1.0 - seen->leverage, LEAST_LEFT_OUT), error = w * seen->left_out;
    Py_ssize_t r;
    field[at->noise] += w * seen->residual * seen->left_out;
    add_to(field + at->pull, error / rest, seen->scores, n);
    for (r = 0; r < n; r++)
        add_to(field + at->spread + r * (at->r + 1), error * error / rest * seen->scores[r], seen->scores, n);
}

static void add_projection_if_it_gains(const Task *t, double *field) {
    const Layout *at = &t->at;
    const Py_ssize_t n = (Py_ssize_t)field[at->n_projections];
    if (n == at->r || !is_settled(t, field)) return;
    if (!(field[at->errors + n] < t->settings->projection_gain * field[at->errors + n - 1])) return;
    field[at->n_projections] += 1.0;
    field[at->evidence] = field[at->noise] = 0.0;
    memset(field + at->errors, 0, (at->r + 1) * sizeof(double));
}

static void update(const Task *t, double *field, const double *x, double y, double w) {
    const Layout *at = &t->at;
    Seen seen = t->seen;
    fade(t, field);
    if (field[at->weight] == 0.0) {
        memcpy(field + at->mean, x, at->d * sizeof(double));
        field[at->level] = y, field[at->weight] = w;
        return;
    }
    update_projections(t, field, &seen, x, y, w);
    if (is_settled(t, field) && t->settings->learning_rate > 0.0) move_metric(t, field, x, w, cost_slope(t, field, &seen));
    remember(t, field, &seen, w);
    add_projection_if_it_gains(t, field);
}

static int is_worse(const Task *t, const double *field, const double *other) {
    const int settled = is_settled(t, field), other_settled = is_settled(t, other);
    return settled != other_settled ? other_settled : left_out_error(t, field) >= left_out_error(t, other);
}

/* The place of the largest activation apart from `but`; the first one, if there are several. */
static Py_ssize_t most_active(const double *active, Py_ssize_t n, Py_ssize_t but) {
    Py_ssize_t k, best = -1;
    for (k = 0; k < n; k++)
        if (k != but && (best < 0 || active[k] > active[best])) best = k;
    return best;
}

/* Returns the number of fields that are left. */
static Py_ssize_t prune(const Task *t, double *state, Py_ssize_t n) {
    const Py_ssize_t size = t->at.size, first = most_active(t->active, n, -1), second = most_active(t->active, n, first);
    const Py_ssize_t worse = is_worse(t, state + second * size, state + first * size) ? second : first;
    if (worse != n - 1) memcpy(state + worse * size, state + (n - 1) * size, size * sizeof(double));
    return n - 1;
}

/* Learns one row and returns 1, or returns 0 and does nothing if the row needs a field and there is no room. */
static int learn_row(const Task *t, double *state, Py_ssize_t *n, Py_ssize_t capacity, const double *x, double y) {
    const Settings *s = t->settings;
    const Py_ssize_t size = t->at.size;
    Py_ssize_t k, n_close = 0;
    int is_new = (double)*n < s->max_fields;
    for (k = 0; k < *n; k++) {
        const double w = t->active[k] = activation(t, state + k * size, x);
        if (w >= s->add_below) is_new = 0;
        n_close += w > s->prune_above;
    }
    if (is_new && *n == capacity) return 0;
    for (k = 0; k < *n; k++)
        if (t->active[k] > t->negligible) update(t, state + k * size, x, y, t->active[k]);
    if (is_new) {
        double *field = state + *n * size;
        start(t, field, x);
        update(t, field, x, y, 1.0);
        *n += 1;
    } else if (n_close > 1) {
        *n = prune(t, state, *n);
    }
    return 1;
}

static int check_fields(const Py_buffer *state, Py_ssize_t n_fields, const Layout *at) {
    const double *field = state->buf;
    Py_ssize_t k;
    for (k = 0; k < n_fields; k++, field += at->size) {
        if (field[at->n_projections] >= 1.0 && field[at->n_projections] <= (double)at->r) continue;
        PyErr_Format(PyExc_ValueError, "state must hold fields with 1 to %zd projections, but field %zd has another number", at->r, k);
        return -1;
    }
    return 0;
}

/* A record has more than d + r + r^2 numbers, so neither can be so large that products overflow once the record is there. */
static int check_shapes(const Py_buffer *state, const Py_buffer *X, const Py_buffer *y, const Py_buffer *settings,
                        Py_ssize_t n_fields, Py_ssize_t r, int is_full, Layout *at) {
    const Py_ssize_t d = X->shape[1], size = state->shape[1];
    if (d >= 1 && d <= size && r >= 1 && r <= size && r <= PY_SSIZE_T_MAX / 4 / (d + r + 2) && d <= PY_SSIZE_T_MAX / 4 / (d + 3)) {
        set_layout(at, d, r, is_full);
        if (at->size == size && X->shape[0] == y->shape[0] && settings->shape[0] == N_SETTINGS && n_fields <= state->shape[0])
            return check_fields(state, n_fields, at);
    }
    PyErr_SetString(PyExc_ValueError, "state (capacity, size), X (n, d), y (n,), settings, n_fields and max_projections do not fit "
                                      "together");
    return -1;
}

static double *allocate(Task *t, Py_ssize_t capacity) {
    const Py_ssize_t d = t->at.d, r = t->at.r, n_metric = t->at.mean - t->at.metric;
    double *space = calloc(2 * d + 2 * (r + 1) + 2 * n_metric + capacity, sizeof(double));
    if (space == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    t->offset = space, t->seen.z = space + d, t->seen.scores = t->seen.z + d, t->seen.scaled = t->seen.scores + r + 1;
    t->step = t->seen.scaled + r + 1, t->gram = t->step + n_metric, t->active = t->gram + n_metric;
    return space;
}

enum { STATE, INPUTS, TARGETS, SETTINGS, N_BUFFERS };

static PyObject *learn(PyObject *self, PyObject *const *arguments, Py_ssize_t n_arguments) {
    static const Expected expected[N_BUFFERS] = {{"state", DOUBLES, 2, WRITTEN},
                                                 {"X", DOUBLES, 2, READ_ONLY},
                                                 {"y", DOUBLES, 1, READ_ONLY},
                                                 {"settings", DOUBLES, 1, READ_ONLY}};
    Py_buffer buffers[N_BUFFERS];
    Py_ssize_t n_fields, max_projections, i = 0;
    double *space = NULL;
    Task task;
    int is_full;
    memset(&task, 0, sizeof task);
    if (check_count("learn", n_arguments, N_BUFFERS + 4) < 0 || take_size(arguments[4], "n_fields", &n_fields) < 0 ||
        take_size(arguments[5], "max_projections", &max_projections) < 0 ||
        take_double(arguments[7], "negligible", &task.negligible) < 0)
        return NULL;
    is_full = PyObject_IsTrue(arguments[6]);
    if (is_full < 0 || open_arrays(arguments, expected, buffers, N_BUFFERS) < 0) return NULL;
    if (check_shapes(&buffers[STATE], &buffers[INPUTS], &buffers[TARGETS], &buffers[SETTINGS], n_fields, max_projections, is_full,
                     &task.at) == 0 &&
        check_apart(expected, buffers, N_BUFFERS) == 0)
        space = allocate(&task, buffers[STATE].shape[0]);
    if (space != NULL) {
        const double *x = buffers[INPUTS].buf, *y = buffers[TARGETS].buf;
        const Py_ssize_t n = buffers[TARGETS].shape[0], capacity = buffers[STATE].shape[0];
        task.settings = buffers[SETTINGS].buf;
        Py_BEGIN_ALLOW_THREADS
        while (i < n && learn_row(&task, buffers[STATE].buf, &n_fields, capacity, x + i * task.at.d, y[i])) i++;
        Py_END_ALLOW_THREADS
        free(space);
    }
    close_arrays(buffers, N_BUFFERS);
    if (PyErr_Occurred()) return NULL;
    return Py_BuildValue("nn", i, n_fields);
}

static PyMethodDef methods[] = {
    {"learn", (PyCFunction)(void (*)(void))learn, METH_FASTCALL,
     "learn(state, X, y, settings, n_fields, max_projections, is_full, negligible): learn rows in place until all are learned or a\n"
     "field has no room, and return (rows, n_fields)."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {ANY_INTERPRETER ANY_THREAD{0, NULL}};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_lwpr", NULL, 0, methods, slots, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__lwpr(void) { return PyModuleDef_Init(&module); }
