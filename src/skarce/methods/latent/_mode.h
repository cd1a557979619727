/* The mode of a Laplace approximation with a few functions, for labels and for counts.
 *
 * The steps are those of laplace.Laplace, which uses NumPy and serves as the oracle in the tests. For a model of a few functions a
 * Newton step is a few thousand operations, which take far less time than the NumPy calls for them. Rows are taken in blocks that
 * stay in the cache. */

#ifndef SKARCE_MODE_H
#define SKARCE_MODE_H

#include "../../_sums.h"
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BERNOULLI, POISSON };
enum { FOUND, DEPENDENT, NOT_REACHED };
enum { BLOCK = 256 };

#define LARGEST_EXPONENT 300.0 /* likelihoods.likelihood */
#define MODE 1e-16             /* these four: laplace.py */
#define NEAR_MODE 1e-8
#define NEWTON_STEPS 200
#define HALVINGS 40

typedef struct {
    Py_ssize_t n, m;                      /* rows, functions */
    const double *columns;                /* m x n */
    const double *targets, *counts;       /* n; counts are NULL if every row counts once */
    const double *log_targets;            /* n, of counts only */
    const double *precisions;             /* m */
    double *weights, *latent;             /* m, n: the mode */
    double *residual, *curvature, *third; /* n */
    double *factor;                       /* m x m, lower */
    double level, at_level, objective;
    Py_ssize_t kind;
    double *trial, *move, *step, *gradient, *trial_weights; /* n, n, m, m, m: work space */
    double *scaled;                                          /* (m + 1) x BLOCK: work space */
} Model;

static Py_ssize_t smaller(Py_ssize_t a, Py_ssize_t b) { return a < b ? a : b; }

/* e^-|x| for a block. With -|x| / log 2 = n + r, a polynomial in r gives 2^r, and n + 1023 is the exponent of the factor 2^n;
 * results below e^-700 become 0. The coefficients are those of basis/_rbf.c. */
ALWAYS_INLINE void decay(const double *x, Py_ssize_t n, double *out) {
    static const double c[] = {0x1.e9ec1fcb69a7fp-32, 0x1.e6228acd1c6e5p-28, 0x1.b524ebd13a55fp-24, 0x1.62bfc2c86d700p-20,
                               0x1.ffcbfc6da6ed1p-17, 0x1.430913112c61bp-13, 0x1.5d87fe78a3f9cp-10, 0x1.3b2ab6fb9f1a5p-7,
                               0x1.c6b08d704a0c6p-5,  0x1.ebfbdff82c5aep-3,  0x1.62e42fefa39efp-1,  1.0};
    const double shift = 0x1.8p52 + 1023.0;
    Py_ssize_t i;
    for (i = 0; i < n; i++) {
        const double size = fabs(x[i]), exponent = size < 700.0 ? -1.4426950408889634 * size : -1020.0;
        double rounded = exponent + shift, rest = exponent - (rounded - shift), power = c[0], factor;
        uint64_t bits;
        power = power * rest + c[1], power = power * rest + c[2], power = power * rest + c[3], power = power * rest + c[4];
        power = power * rest + c[5], power = power * rest + c[6], power = power * rest + c[7], power = power * rest + c[8];
        power = power * rest + c[9], power = power * rest + c[10], power = power * rest + c[11];
        memcpy(&bits, &rounded, sizeof bits);
        bits <<= 52;
        memcpy(&factor, &bits, sizeof factor);
        out[i] = size < 700.0 ? power * factor : (size >= 700.0 ? 0.0 : size); /* NaN stays NaN */
    }
}

/* sum log(1 + e) - t f + max(f, 0) over a block in which every row counts once. The product of at most BLOCK / LANES factors
 * between 1 and 2 does not overflow, so one logarithm serves for all of a lane. */
ALWAYS_INLINE double loss_of_labels(const double *f, const double *t, const double *e, Py_ssize_t n) {
    double product[LANES], sum[LANES], total = 0.0;
    Py_ssize_t i, l;
    for (l = 0; l < LANES; l++) product[l] = 1.0, sum[l] = 0.0;
    for (i = 0; i + LANES <= n; i += LANES)
        for (l = 0; l < LANES; l++) {
            product[l] *= 1.0 + e[i + l];
            sum[l] += (f[i + l] > 0.0 ? f[i + l] : 0.0) - t[i + l] * f[i + l];
        }
    for (; i < n; i++) total += log1p(e[i]) + ((f[i] > 0.0 ? f[i] : 0.0) - t[i] * f[i]);
    for (l = 0; l < LANES; l++) total += log(product[l]);
    return total + sum_of_lanes(sum);
}

/* The loss at one row with a count: t (e^d - 1 - d) with d = f - log t, or e^f. */
ALWAYS_INLINE double loss_of_count(double f, double t, double log_t) {
    const double excess = f - log_t;
    if (t > 0.0) return t * (expm1(fmin(excess, LARGEST_EXPONENT)) - excess);
    return exp(fmin(f, LARGEST_EXPONENT));
}

/* The loss of all rows at a latent function, rows counted; see Observations.log_likelihood. */
FOR_EACH_CPU
static double loss(const Model *p, const double *latent) {
    double f[BLOCK], e[BLOCK], total = 0.0;
    Py_ssize_t start, i;
    for (start = 0; start < p->n; start += BLOCK) {
        const Py_ssize_t n = smaller(BLOCK, p->n - start);
        const double *t = p->targets + start, *counts = p->counts == NULL ? NULL : p->counts + start;
        for (i = 0; i < n; i++) f[i] = latent[start + i] + p->level;
        if (p->kind == BERNOULLI) {
            decay(f, n, e);
            if (counts == NULL) total += loss_of_labels(f, t, e, n);
            else
                for (i = 0; i < n; i++) total += counts[i] * (log1p(e[i]) + ((f[i] > 0.0 ? f[i] : 0.0) - t[i] * f[i]));
        } else
            for (i = 0; i < n; i++)
                total += (counts == NULL ? 1.0 : counts[i]) * loss_of_count(f[i], t[i], p->log_targets[start + i]);
    }
    return total;
}

/* Derivatives of the log likelihood at rows `start` to `start + n`, rows counted; see Observations.slopes. */
ALWAYS_INLINE void slope(Model *p, Py_ssize_t start, Py_ssize_t n) {
    double f[BLOCK], e[BLOCK];
    const double *t = p->targets + start;
    double *first = p->residual + start, *second = p->curvature + start, *third = p->third + start;
    Py_ssize_t i;
    for (i = 0; i < n; i++) f[i] = p->latent[start + i] + p->level;
    if (p->kind == BERNOULLI) {
        decay(f, n, e);
        for (i = 0; i < n; i++) {
            const double share = 1.0 / (1.0 + e[i]), other = e[i] * share, g = f[i] >= 0.0 ? share : other;
            first[i] = t[i] - g, second[i] = share * other, third[i] = share * other * (1.0 - 2.0 * g);
        }
    } else
        for (i = 0; i < n; i++) {
            const double rate = exp(fmin(f[i], LARGEST_EXPONENT));
            first[i] = t[i] - rate, second[i] = third[i] = rate;
        }
    if (p->counts == NULL) return;
    for (i = 0; i < n; i++) {
        const double count = p->counts[start + i];
        first[i] *= count, second[i] *= count, third[i] *= count;
    }
}

/* Slopes at all rows, the lower half of Phi'B Phi + A into `factor`, and Phi'residual - A w into `gradient`. */
FOR_EACH_CPU
static void expand(Model *p) {
    const Py_ssize_t m = p->m;
    Py_ssize_t start, i, j;
    memset(p->factor, 0, sizeof(double) * m * m);
    memset(p->gradient, 0, sizeof(double) * m);
    for (start = 0; start < p->n; start += BLOCK) {
        const Py_ssize_t n = smaller(BLOCK, p->n - start);
        const double *columns = p->columns + start, *curvature = p->curvature + start;
        slope(p, start, n);
        add_all_products(p->residual + start, columns, m, p->n, n, p->gradient);
        for (j = 0; j < m; j++) {
            for (i = 0; i < n; i++) p->scaled[i] = curvature[i] * columns[j * p->n + i];
            add_all_products(p->scaled, columns, j + 1, p->n, n, p->factor + j * m);
        }
    }
    for (j = 0; j < m; j++) {
        p->factor[j * m + j] += p->precisions[j];
        p->gradient[j] -= p->precisions[j] * p->weights[j];
    }
}

/* out = Phi w */
FOR_EACH_CPU
static void combine(const Model *p, const double *weights, double *out) {
    Py_ssize_t i, j;
    memset(out, 0, sizeof(double) * p->n);
    for (j = 0; j < p->m; j++) {
        const double *column = p->columns + j * p->n, weight = weights[j];
        for (i = 0; i < p->n; i++) out[i] += weight * column[i];
    }
}

/* Turns the lower half of a matrix into its Cholesky factor, in place; -1 if there is none. */
static int factorize(double *matrix, Py_ssize_t m) {
    Py_ssize_t i, j, k;
    for (i = 0; i < m; i++) {
        double *row = matrix + i * m;
        for (j = 0; j <= i; j++) {
            const double *other = matrix + j * m;
            double sum = row[j];
            for (k = 0; k < j; k++) sum -= row[k] * other[k];
            if (j < i) row[j] = sum / other[j];
            else if (!(sum > 0.0 && sum <= DBL_MAX)) return -1;
            else row[i] = sqrt(sum);
        }
    }
    return 0;
}

/* x = L^-1 x; returns x'x. */
static double solve(const double *factor, Py_ssize_t m, double *x) {
    double squares = 0.0;
    Py_ssize_t i, k;
    for (i = 0; i < m; i++) {
        double sum = x[i];
        for (k = 0; k < i; k++) sum -= factor[i * m + k] * x[k];
        x[i] = sum / factor[i * m + i];
        squares += x[i] * x[i];
    }
    return squares;
}

/* x = L^-T x */
static void solve_transposed(const double *factor, Py_ssize_t m, double *x) {
    Py_ssize_t i, k;
    for (i = m - 1; i >= 0; i--) {
        x[i] /= factor[i * m + i];
        for (k = 0; k < i; k++) x[k] -= factor[i * m + k] * x[i];
    }
}

static double log_posterior(const Model *p, const double *weights, const double *latent) {
    double penalty = 0.0;
    Py_ssize_t j;
    for (j = 0; j < p->m; j++) penalty += p->precisions[j] * weights[j] * weights[j];
    return -loss(p, latent) - 0.5 * penalty;
}

/* Goes along `step`, halved until the log posterior rises or loses less than is allowed; 0 if it does not. */
static int stepped(Model *p, double allowed_loss) {
    double share = 1.0;
    Py_ssize_t i, halving;
    combine(p, p->step, p->move);
    for (halving = 0; halving < HALVINGS; halving++, share *= 0.5) {
        double objective;
        for (i = 0; i < p->m; i++) p->trial_weights[i] = p->weights[i] + share * p->step[i];
        for (i = 0; i < p->n; i++) p->trial[i] = p->latent[i] + share * p->move[i];
        objective = log_posterior(p, p->trial_weights, p->trial);
        if (!(objective > p->objective - allowed_loss)) continue;
        memcpy(p->weights, p->trial_weights, sizeof(double) * p->m);
        memcpy(p->latent, p->trial, sizeof(double) * p->n);
        p->objective = objective;
        return 1;
    }
    return 0;
}

static void begin(Model *p) {
    combine(p, p->weights, p->latent);
    p->objective = log_posterior(p, p->weights, p->latent);
}

/* Newton's method with step halving, which leaves the factor of H at the mode. */
static int climb(Model *p) {
    double before = INFINITY;
    int number;
    for (number = 0; number < NEWTON_STEPS; number++) {
        double promised, hidden = NEAR_MODE * (1.0 + fabs(p->objective));
        expand(p);
        if (factorize(p->factor, p->m) < 0) return DEPENDENT;
        memcpy(p->step, p->gradient, sizeof(double) * p->m);
        promised = solve(p->factor, p->m, p->step);
        if (promised <= MODE || (promised <= hidden && promised > 0.25 * before)) return FOUND;
        solve_transposed(p->factor, p->m, p->step);
        if (!stepped(p, promised <= hidden ? hidden : 0.0)) return promised <= hidden ? FOUND : NOT_REACHED;
        before = promised;
    }
    return NOT_REACHED;
}

/* Goes to the mode from the given weights; from zero if that is better, or if the mode is not reached from there. */
static int find(Model *p) {
    Py_ssize_t i, j;
    int status = NOT_REACHED;
    begin(p);
    if (p->objective >= p->at_level) status = climb(p);
    if (status != FOUND) {
        memset(p->weights, 0, sizeof(double) * p->m);
        begin(p);
        status = climb(p);
    }
    for (i = 0; i < p->m; i++)
        for (j = i + 1; j < p->m; j++) p->factor[i * p->m + j] = 0.0;
    return status;
}

/* out = rho o h with the leverages h_i = |R phi_i|^2 of a lower triangular R, and sums = Phi'(rho o h). */
FOR_EACH_CPU
static void weigh(Py_ssize_t n_rows, Py_ssize_t m, const double *columns, const double *root, const double *rho, double *out, double *sums) {
    double mixed[BLOCK], leverage[BLOCK];
    Py_ssize_t start, i, j, k;
    memset(sums, 0, sizeof(double) * m);
    for (start = 0; start < n_rows; start += BLOCK) {
        const Py_ssize_t n = smaller(BLOCK, n_rows - start);
        memset(leverage, 0, sizeof leverage);
        for (j = 0; j < m; j++) {
            memset(mixed, 0, sizeof mixed);
            for (k = 0; k <= j; k++) {
                const double *column = columns + k * n_rows + start, share = root[j * m + k];
                for (i = 0; i < n; i++) mixed[i] += share * column[i];
            }
            for (i = 0; i < n; i++) leverage[i] += mixed[i] * mixed[i];
        }
        for (i = 0; i < n; i++) out[start + i] = rho[start + i] * leverage[i];
        add_all_products(out + start, columns + start, m, n_rows, n, sums);
    }
}

#endif
