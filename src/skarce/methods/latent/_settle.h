/* Second-order steps for all precisions at once, and the removal of superfluous functions.
 *
 * The steps are those of steps.settle with searches/damped_newton.py, which use NumPy and serve as the oracle in the tests. */

#ifndef SKARCE_SETTLE_H
#define SKARCE_SETTLE_H

#include "_mode.h"

#define FIRST_DAMPING 1e-2 /* these four: searches/damped_newton.py */
#define LEAST_RAISED 1e-3
#define MAX_DAMPING 1e8
#define LONGEST_STEP 4.0
#define LOWEST 1e-12 /* these three: steps.py */
#define HIGHEST 1e12
#define ROUNDING 1e-9

/* A model at its mode, and what follows from it. Its functions are a part of the first model's. */
typedef struct {
    Model mode;
    Py_ssize_t n_fixed;           /* 1 if the first function is the constant */
    long long *places;            /* m: which functions of the first model these are */
    double *columns, *precisions; /* m x n, m */
    double *rates, *largest;      /* m: of the penalties; largest curvatures */
    double *covariance, *pull;    /* m x m, m */
    double score;
} Point;

/* Work space for the steps of at most m functions. */
typedef struct {
    double *root, *matrix, *inverse; /* m x m */
    double *gradient, *scale, *delta, *weights, *pull; /* m */
    double *row;                     /* n */
    char *is_left;                   /* m */
} Room;

static Py_ssize_t doubles_of_point(Py_ssize_t n, Py_ssize_t m) { return m * n + 6 * n + 2 * m * m + 8 * m + BLOCK; }

/* Lays out a point with room for m functions in one block of memory; returns what follows it. */
static double *lay_out(Point *p, double *memory, Py_ssize_t n, Py_ssize_t m) {
    double **parts[] = {&p->columns, &p->mode.latent, &p->mode.residual, &p->mode.curvature, &p->mode.third, &p->mode.trial,
                        &p->mode.move, &p->mode.factor, &p->covariance, &p->precisions, &p->rates, &p->largest, &p->pull,
                        &p->mode.weights, &p->mode.step, &p->mode.gradient, &p->mode.trial_weights, &p->mode.scaled};
    const Py_ssize_t sizes[] = {m * n, n, n, n, n, n, n, m * m, m * m, m, m, m, m, m, m, m, m, BLOCK};
    size_t i;
    for (i = 0; i < sizeof sizes / sizeof *sizes; i++) *parts[i] = memory, memory += sizes[i];
    p->mode.columns = p->columns, p->mode.precisions = p->precisions;
    return memory;
}

/* Finds the mode and the score; -1 if the functions are dependent. */
static int evaluate(Point *p) {
    const Py_ssize_t m = p->mode.m;
    Py_ssize_t j;
    if (find(&p->mode) == DEPENDENT) return -1;
    p->score = p->mode.objective;
    for (j = 0; j < m; j++) {
        p->score += 0.5 * log(p->precisions[j]) - log(p->mode.factor[j * m + j]);
        if (j >= p->n_fixed) p->score -= p->rates[j] / p->precisions[j];
    }
    return isfinite(p->score) ? 0 : -1;
}

/* root = L^-1 */
static void invert(const double *factor, Py_ssize_t m, double *root) {
    Py_ssize_t i, j, k;
    memset(root, 0, sizeof(double) * m * m);
    for (j = 0; j < m; j++) {
        root[j * m + j] = 1.0 / factor[j * m + j];
        for (i = j + 1; i < m; i++) {
            double sum = 0.0;
            for (k = j; k < i; k++) sum -= factor[i * m + k] * root[k * m + j];
            root[i * m + j] = sum / factor[i * m + i];
        }
    }
}

/* H^-1 = R'R and u = H^-1 Phi'(rho o h). */
static void derive(Point *p, Room *room) {
    const Py_ssize_t m = p->mode.m;
    Py_ssize_t i, j, k;
    invert(p->mode.factor, m, room->root);
    for (i = 0; i < m; i++)
        for (j = 0; j <= i; j++) {
            double sum = 0.0;
            for (k = i; k < m; k++) sum += room->root[k * m + i] * room->root[k * m + j];
            p->covariance[i * m + j] = p->covariance[j * m + i] = sum;
        }
    weigh(p->mode.n, m, p->columns, room->root, p->mode.third, room->row, room->gradient);
    for (i = 0; i < m; i++)
        for (p->pull[i] = 0.0, j = 0; j < m; j++) p->pull[i] += p->covariance[i * m + j] * room->gradient[j];
}

/* Which function is better left out, the one that gains most, or -1; see steps.Remaining.doubtful. */
static Py_ssize_t most_doubtful(const Point *p, const Room *room) {
    const Py_ssize_t m = p->mode.m;
    Py_ssize_t j, worst = -1;
    double most = 0.0;
    for (j = p->n_fixed; j < m; j++) {
        const double a = p->precisions[j], spread = room->inverse[j * m + j], w = room->weights[j];
        const double explained = w * (w - room->pull[j]) / spread;
        const double gain = p->rates[j] / a - 0.5 * (log(fmax(a * spread, DBL_MIN)) + explained);
        if (!room->is_left[j] || (explained > 1.0 - a * spread + 2.0 * p->rates[j] * spread && a < HIGHEST * p->largest[j])) continue;
        if (worst < 0 || gain > most) worst = j, most = gain;
    }
    return worst;
}

/* See removals.strike_out and steps.Remaining.remove. */
static void strike_out(const Point *p, Room *room, Py_ssize_t place) {
    const Py_ssize_t m = p->mode.m;
    double *column = room->delta, spread;
    Py_ssize_t i, j;
    memcpy(column, room->inverse + place * m, sizeof(double) * m);
    spread = column[place];
    for (i = 0; i < m; i++)
        for (j = 0; j < m; j++) room->inverse[i * m + j] -= column[i] / spread * column[j];
    {
        const double weight = room->weights[place] / spread, pull = room->pull[place] / spread;
        for (i = 0; i < m; i++) room->weights[i] -= weight * column[i], room->pull[i] -= pull * column[i];
    }
    room->inverse[place * m + place] = 1.0;
    room->is_left[place] = 0;
}

/* Copies the functions that are left, with all but the derived quantities; the mode is to be found. */
static void copy_left(const Point *from, Point *to, const char *is_left) {
    const Py_ssize_t n = from->mode.n;
    Py_ssize_t j, m = 0;
    for (j = 0; j < from->mode.m; j++) {
        if (is_left != NULL && !is_left[j]) continue;
        memcpy(to->columns + m * n, from->columns + j * n, sizeof(double) * n);
        to->precisions[m] = from->precisions[j], to->rates[m] = from->rates[j], to->largest[m] = from->largest[j];
        to->mode.weights[m] = from->mode.weights[j], to->places[m++] = from->places[j];
    }
    to->mode.m = m;
}

static void swap(Point **here, Point **there) {
    Point *before = *here;
    *here = *there, *there = before;
}

/* Takes out all functions that seem superfluous, or else the one that seems most so, if the score at the new mode agrees. */
static void without_superfluous(Point **here, Point **there, Room *room) {
    const Point *p = *here;
    const Py_ssize_t m = p->mode.m;
    Py_ssize_t place, first = -1, trial;
    memset(room->is_left, 1, m);
    memcpy(room->inverse, p->covariance, sizeof(double) * m * m);
    memcpy(room->weights, p->mode.weights, sizeof(double) * m);
    memcpy(room->pull, p->pull, sizeof(double) * m);
    while ((place = most_doubtful(p, room)) >= 0) {
        if (first < 0) first = place;
        strike_out(p, room, place);
    }
    for (trial = 0; first >= 0 && trial < 2; trial++) {
        if (trial == 1) memset(room->is_left, 1, m), room->is_left[first] = 0;
        copy_left(p, *there, room->is_left);
        if (evaluate(*there) == 0 && (*there)->score >= p->score - ROUNDING * fabs(p->score)) {
            derive(*there, room);
            swap(here, there);
            return;
        }
    }
}

/* The gradient, the negative Hessian with B held, and the scale of the damping, of the learned precisions; see laplace.py. */
static void differentiate(const Point *p, Room *room) {
    const Py_ssize_t m = p->mode.m, f = p->n_fixed, size = m - f;
    Py_ssize_t i, j;
    for (i = 0; i < size; i++) {
        const double a = p->precisions[i + f], w = p->mode.weights[i + f], u = p->pull[i + f];
        const double q = a * p->covariance[(i + f) * m + i + f], penalty = p->rates[i + f] / a;
        room->gradient[i] = 0.5 * (1.0 - q - a * w * (w - u)) + penalty;
        if (a <= LOWEST * p->largest[i + f] && room->gradient[i] < 0.0) room->gradient[i] = 0.0;
        room->scale[i] = 0.5 * (a * w * w + q) + penalty;
        for (j = 0; j < size; j++) {
            const double b = p->precisions[j + f], v = p->mode.weights[j + f], shared = p->covariance[(i + f) * m + j + f];
            room->matrix[i * size + j] = -(a * w) * (b * v) * shared - 0.5 * a * b * shared * shared;
        }
        room->matrix[i * size + i] += room->scale[i];
    }
}

/* delta = (matrix + damping scale)^-1 gradient, not longer than allowed; returns the promised gain, or NaN if there is no delta. */
static double damped(Room *room, Py_ssize_t size, double damping) {
    double *factor = room->inverse, *delta = room->delta, longest = 0.0, promised = 0.0;
    Py_ssize_t i, j;
    memcpy(factor, room->matrix, sizeof(double) * size * size);
    memcpy(delta, room->gradient, sizeof(double) * size);
    for (i = 0; i < size; i++) factor[i * size + i] += damping * room->scale[i];
    if (factorize(factor, size) < 0) return NAN;
    solve(factor, size, delta);
    solve_transposed(factor, size, delta);
    for (i = 0; i < size; i++) longest = fmax(longest, fabs(delta[i]));
    for (i = 0; longest > LONGEST_STEP && i < size; i++) delta[i] *= LONGEST_STEP / longest;
    for (i = 0; i < size; i++) {
        double bent = 0.0;
        for (j = 0; j < size; j++) bent += room->matrix[i * size + j] * delta[j];
        promised += delta[i] * (room->gradient[i] - 0.5 * bent);
    }
    return promised;
}

/* Takes one step that raises the score. Returns the gain that was promised, or 0 if no step was taken; see damped_newton.py. */
static double take_step(Point **here, Point **there, Room *room, double tolerance, double *damping) {
    const Point *p = *here;
    const Py_ssize_t f = p->n_fixed, size = p->mode.m - f;
    Py_ssize_t i;
    differentiate(p, room);
    while (*damping <= MAX_DAMPING) {
        const double promised = damped(room, size, *damping);
        double risen;
        if (isnan(promised)) {
            *damping = fmax(4.0 * *damping, LEAST_RAISED);
            continue;
        }
        if (!(promised >= 0.1 * tolerance)) return 0.0;
        copy_left(p, *there, NULL);
        for (i = 0; i < size; i++) {
            const double moved = p->precisions[i + f] * exp(room->delta[i]), largest = p->largest[i + f];
            (*there)->precisions[i + f] = fmin(fmax(moved, LOWEST * largest), HIGHEST * largest);
        }
        if (evaluate(*there) == 0 && (risen = (*there)->score - p->score) > 0.0) {
            *damping *= risen > 0.75 * promised ? 0.1 : (risen > 0.25 * promised ? 1.0 : 4.0);
            derive(*there, room);
            swap(here, there);
            return promised;
        }
        *damping = fmax(8.0 * *damping, LEAST_RAISED);
    }
    return 0.0;
}

/* Removes superfluous functions and takes a step, in turn, until a step promises at most `tolerance`. Returns 1 if the steps ended
 * that way with all functions kept in the last of them. The mode of `here` was found and its quantities derived. */
static int settle(Point **here, Point **there, Room *room, double tolerance, Py_ssize_t max_steps) {
    double damping = FIRST_DAMPING;
    Py_ssize_t number;
    for (number = 0; number < max_steps; number++) {
        const Py_ssize_t n_before = (*here)->mode.m;
        without_superfluous(here, there, room);
        if ((*here)->mode.m == (*here)->n_fixed) return n_before == (*here)->n_fixed;
        if (take_step(here, there, room, tolerance, &damping) <= tolerance) return (*here)->mode.m == n_before;
    }
    return 0;
}

#endif
