/* Best single actions for the evidence or for generalized cross validation, with one ridge per weight and a whole Gram matrix.
 *
 * The steps are the same as in searches/best_action.py with criteria/individual_evidence.py or criteria/gcv.py. The formulas are
 * explained there, and the tests compare the two. For a model of a few functions a step is a few thousand operations, which take
 * far less time than the NumPy calls for them. */

#include "../_boundary.h"
#include <math.h>
#include <stdlib.h>

enum { ADD, CHANGE, DROP, NONE };
enum { CONVERGED, STEPS_DONE, DIGITS_LOST };
enum { TILE = 256, MOST_TOGETHER = 32 }; /* candidates in a tile, whose rows stay in the cache; changes that can wait */
enum { MOST_UPDATES = 16 }; /* changes of H between two computations of `shrunk` and `penalties`, which updates keep in between */

/* What one change of H does to the candidates, given row = G_A'column and row2 = G_A'column2:
 * alignment += first * row, leftover += second * row^2,
 * overlap += of_row * row + of_row2 * row2, remainder += row * (twice * row2 + once * row). */
typedef struct {
    double first, second, of_row, of_row2, twice, once;
} Effect;

typedef struct {
    Py_ssize_t m;                  /* number of candidates */
    Py_ssize_t size, capacity;     /* number of active functions, and the largest number that fits */
    const double *gram, *diagonal; /* m x m, m */
    double *leftover, *alignment;  /* m, m */
    double *inverse;               /* capacity x capacity */
    double *weights, *ridges;      /* capacity */
    long long *active;             /* capacity */
    double energy, n, noise;       /* a negative noise is profiled */
    double dependent, lowest, highest, max_drift, slack;
    double *row, *column;          /* m, capacity: work space */
    int squares;                   /* 1: generalized cross validation, which needs the fields below; 0: evidence */
    double *remainder, *overlap;   /* m, m */
    double residual, freedom;
    double floor;                  /* no ridge is smaller than this */
    double exact;                  /* a residual below this counts as zero */
    double *row2, *column2;        /* m, capacity: work space */
    double *shrunk, *penalties;    /* capacity: H^-1 Z w, and h'Z h for each column h of H^-1 */
    int updates;                   /* changes of H before these two are computed anew */
    Py_ssize_t refine;             /* 1: solutions with H are refined once, because the inverse has lost digits */
    double *right, *off, *off2;    /* capacity: work space */
    Py_ssize_t waiting, together;  /* changes that candidates have not seen yet, and the largest number of them */
    Effect effects[MOST_TOGETHER];
    double *columns, *columns2;    /* together x capacity: the columns of these changes */
    double *tile;                  /* 2 x TILE: work space */
    double bar;                    /* the last scan's best addition, which changes must beat: a gain, or a share of V */
} State;

typedef struct {
    int action;
    Py_ssize_t where; /* the candidate for ADD, otherwise the position */
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

/* The best ridge of a function, infinite if it is better left out. ratio = alignment^2 / (leftover noise) */
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

/* Near the optimum, the curvature in log lambda is at most 1/2, so a short step d gains at most d^2/4. We use twice that to be safe. */
static int may_gain(double now, double ridge, double least) {
    double way = fabs(ridge - now) / fmin(ridge, now);
    return !(way < 0.5) || 0.5 * way * way > least;
}

static Move best_move_by_evidence(State *s, Py_ssize_t max_active, double tol) {
    Move best = {NONE, -1, 0.0, 0.0};
    Py_ssize_t j;
    if (s->waiting) {
        best.gain = s->bar;
    } else if (s->size < max_active) {
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
    s->bar = best.gain;
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
            best.action = isinf(ridge) ? DROP : CHANGE;
            best.where = j, best.ridge = ridge, best.gain = gain;
        }
    }
    return best;
}

/* V as a function of x = 1 / (psi + ridge): (a - 2 b x + c x^2) / (delta - eps x)^2 */
typedef struct {
    double a, b, c, delta, eps, psi;
} Coordinate;

static double v_at(const Coordinate *f, double x) {
    double freedom = f->delta - f->eps * x;
    return (f->a + (f->c * x - 2.0 * f->b) * x) / (freedom * freedom);
}

static double best_x(const Coordinate *f, double lowest) {
    double slope = f->delta * f->b - f->a * f->eps, curvature = f->delta * f->c - f->b * f->eps;
    double upper = 1.0 / (fmax(f->psi, 0.0) + lowest);
    if (!(slope > 0.0)) return 0.0;
    return curvature > 0.0 ? fmin(slope / curvature, upper) : upper;
}

/* The addition that makes V smallest. row[m] = V after / V before */
FOR_EACH_CPU
static Py_ssize_t least_v(const State *s, double *share) {
    const double *__restrict leftover = s->leftover, *__restrict alignment = s->alignment, *__restrict diagonal = s->diagonal;
    const double *__restrict remainder = s->remainder, *__restrict overlap = s->overlap;
    double *__restrict row = s->row;
    double q = s->residual, v = s->freedom, best = 1.0;
    Py_ssize_t chosen = -1, m;
    for (m = 0; m < s->m; m++) {
        double eps = remainder[m], b = alignment[m] * overlap[m], c = eps * alignment[m] * alignment[m];
        double slope = v * b - q * eps, curvature = v * c - b * eps;
        double lowest = s->lowest * diagonal[m] > s->floor ? s->lowest * diagonal[m] : s->floor;
        double total = (leftover[m] > 0.0 ? leftover[m] : 0.0) + lowest;
        double usable = slope > 0.0 && eps > s->dependent * diagonal[m] ? 1.0 : 0.0;
        double inside = usable * slope / (curvature > 0.0 ? curvature : 1.0), upper = usable / (total > 0.0 ? total : 1.0);
        double x = curvature > 0.0 && inside < upper ? inside : upper;
        double freedom = 1.0 - eps * x / v;
        row[m] = (1.0 + (c * x - 2.0 * b) * x / q) / (freedom * freedom);
    }
    for (m = 0; m < s->size; m++) row[s->active[m]] = 1.0;
    for (m = 0; m < s->m; m++)
        if (row[m] < best) best = row[m], chosen = m;
    *share = best;
    return chosen;
}

/* column2 = H^-1 Z column. Returns column'Z column. The loop goes by rows of the symmetric inverse, so that it can be vectorized. */
FOR_EACH_CPU
static double shrink(const State *s, const double *column) {
    double *__restrict shrunk = s->column2;
    Py_ssize_t i, j, n = s->size;
    double total = 0.0;
    memset(shrunk, 0, sizeof(double) * n);
    for (j = 0; j < n; j++) {
        const double *__restrict row = s->inverse + j * s->capacity;
        double factor = s->ridges[j] * column[j];
        total += factor * column[j];
        for (i = 0; i < n; i++) shrunk[i] += factor * row[i];
    }
    return total;
}

/* `shrunk` and `penalties` from H^-1 in one pass over it */
FOR_EACH_CPU
static void sum_anew(State *s) {
    double *__restrict shrunk = s->shrunk, *__restrict penalty = s->penalties;
    Py_ssize_t i, j, n = s->size;
    memset(shrunk, 0, sizeof(double) * n);
    memset(penalty, 0, sizeof(double) * n);
    for (j = 0; j < n; j++) {
        const double *__restrict row = s->inverse + j * s->capacity;
        double ridge = s->ridges[j], factor = ridge * s->weights[j];
        for (i = 0; i < n; i++) {
            shrunk[i] += factor * row[i];
            penalty[i] += ridge * row[i] * row[i];
        }
    }
    s->updates = s->refine ? 0 : MOST_UPDATES;
}

/* H^-1 Z w and diag(H^-1 Z H^-1) after H^-1 += factor d d' and w += weight d, where d = sign column. With e = column2 = H^-1 Z column,
 * the matrix H^-1 Z becomes H^-1 Z + factor d (f - Z d)', where f = unit e_p if the ridge of function p changes; see `shift`
 * and `add` for what that gives: shrunk += of_column column + of_column2 column2, penalties += column (twice column2 + once column). */
FOR_EACH_CPU
static void update_sums(State *s, double of_column, double of_column2, double twice, double once) {
    double *__restrict shrunk = s->shrunk, *__restrict penalty = s->penalties;
    const double *__restrict column = s->column, *__restrict column2 = s->column2;
    Py_ssize_t i;
    for (i = 0; i < s->size; i++) {
        shrunk[i] += of_column * column[i] + of_column2 * column2[i];
        penalty[i] += column[i] * (twice * column2[i] + once * column[i]);
    }
    s->updates--;
}

static Coordinate without(const State *s, Py_ssize_t j, double shrunk, double penalty) {
    Coordinate f;
    double spread = s->inverse[j * s->capacity + j], weight = s->weights[j];
    double alignment = weight / spread, overlap = shrunk / spread;
    f.eps = fmax(spread - penalty, 0.0) / (spread * spread);
    f.a = s->residual + 2.0 * weight * overlap + f.eps * weight * weight;
    f.b = alignment * (overlap + f.eps * weight);
    f.c = f.eps * alignment * alignment;
    f.delta = s->freedom + f.eps * spread;
    f.psi = fmax(1.0 / spread - s->ridges[j], 1e-16 / spread);
    return f;
}

static Move best_move_by_gcv(State *s, Py_ssize_t max_active) {
    Move best = {NONE, -1, 0.0, 0.0};
    double share = 1.0, v_now = s->residual / (s->freedom * s->freedom);
    Py_ssize_t j;
    if (s->waiting) {
        share = s->bar;
    } else if (s->size < max_active) {
        Py_ssize_t m = least_v(s, &share);
        if (m >= 0) {
            double r = s->alignment[m], u = s->remainder[m], diagonal = s->diagonal[m];
            double lowest = fmax(s->lowest * diagonal, s->floor);
            Coordinate f = {s->residual, r * s->overlap[m], u * r * r, s->freedom, u, s->leftover[m]};
            best.action = ADD, best.where = m;
            best.ridge = fmin(fmax(1.0 / best_x(&f, lowest) - f.psi, lowest), s->highest * diagonal);
            share = v_at(&f, 1.0 / (f.psi + best.ridge)) / v_now;
        }
    }
    s->bar = share;
    if (s->updates <= 0) sum_anew(s);
    for (j = 0; j < s->size; j++) {
        Coordinate f = without(s, j, s->shrunk[j], s->penalties[j]);
        double spread = s->inverse[j * s->capacity + j];
        double lowest = fmax(s->lowest * s->diagonal[s->active[j]], s->floor);
        double x = best_x(&f, lowest), ridge = x > 0.0 ? fmax(1.0 / x - f.psi, lowest) : INFINITY, after;
        if (ridge > s->highest / spread) ridge = INFINITY, x = 0.0;
        after = v_at(&f, x) / v_at(&f, spread);
        if (after < share) {
            share = after;
            best.action = isinf(ridge) ? DROP : CHANGE;
            best.where = j, best.ridge = ridge;
        }
    }
    best.gain = share < 1.0 ? -0.5 * s->n * log(fmax(share, 1e-15)) : 0.0;
    return best;
}

/* row[k] += sum over active a of column[a] * gram[a, from + k] for k < width, four rows of the Gram matrix at a time */
FOR_EACH_CPU
static void combine(const State *s, const double *column, Py_ssize_t from, Py_ssize_t width, double *__restrict row) {
    const double *gram = s->gram + from;
    Py_ssize_t a, k, n = s->m;
    for (a = 0; a + 4 <= s->size; a += 4) {
        const double *__restrict g0 = gram + s->active[a] * n, *__restrict g1 = gram + s->active[a + 1] * n;
        const double *__restrict g2 = gram + s->active[a + 2] * n, *__restrict g3 = gram + s->active[a + 3] * n;
        double f0 = column[a], f1 = column[a + 1], f2 = column[a + 2], f3 = column[a + 3];
        for (k = 0; k < width; k++) row[k] += f0 * g0[k] + f1 * g1[k] + f2 * g2[k] + f3 * g3[k];
    }
    for (; a < s->size; a++) {
        const double *__restrict g = gram + s->active[a] * n;
        double f = column[a];
        for (k = 0; k < width; k++) row[k] += f * g[k];
    }
}

/* The same for two columns, so that each row of the Gram matrix is read once */
FOR_EACH_CPU
static void combine_two(const State *s, const double *column, const double *column2, Py_ssize_t from, Py_ssize_t width,
                        double *__restrict row, double *__restrict row2) {
    const double *gram = s->gram + from;
    Py_ssize_t a, k, n = s->m;
    for (a = 0; a + 4 <= s->size; a += 4) {
        const double *__restrict g0 = gram + s->active[a] * n, *__restrict g1 = gram + s->active[a + 1] * n;
        const double *__restrict g2 = gram + s->active[a + 2] * n, *__restrict g3 = gram + s->active[a + 3] * n;
        double f0 = column[a], f1 = column[a + 1], f2 = column[a + 2], f3 = column[a + 3];
        double e0 = column2[a], e1 = column2[a + 1], e2 = column2[a + 2], e3 = column2[a + 3];
        for (k = 0; k < width; k++) {
            row[k] += f0 * g0[k] + f1 * g1[k] + f2 * g2[k] + f3 * g3[k];
            row2[k] += e0 * g0[k] + e1 * g1[k] + e2 * g2[k] + e3 * g3[k];
        }
    }
    for (; a < s->size; a++) {
        const double *__restrict g = gram + s->active[a] * n;
        double f = column[a], e = column2[a];
        for (k = 0; k < width; k++) row[k] += f * g[k], row2[k] += e * g[k];
    }
}

/* row and row2 for all candidates, in tiles that stay in the cache */
static void combine_both(const State *s, const double *column, const double *column2) {
    Py_ssize_t from, width;
    for (from = 0; from < s->m; from += width) {
        width = s->m - from < TILE ? s->m - from : TILE;
        combine_two(s, column, column2, from, width, s->row + from, s->row2 + from);
    }
}

FOR_EACH_CPU
static void spread_change(const State *s, const Effect *e, Py_ssize_t from, Py_ssize_t width, const double *__restrict row) {
    double *__restrict alignment = s->alignment + from, *__restrict leftover = s->leftover + from;
    double first = e->first, second = e->second;
    Py_ssize_t k;
    for (k = 0; k < width; k++) {
        alignment[k] += first * row[k];
        leftover[k] += second * row[k] * row[k];
    }
}

FOR_EACH_CPU
static void spread_squares(const State *s, const Effect *e, Py_ssize_t from, Py_ssize_t width, const double *__restrict row,
                           const double *__restrict row2) {
    double *__restrict overlap = s->overlap + from, *__restrict remainder = s->remainder + from;
    double of_row = e->of_row, of_row2 = e->of_row2, twice = e->twice, once = e->once;
    Py_ssize_t k;
    for (k = 0; k < width; k++) {
        overlap[k] += of_row * row[k] + of_row2 * row2[k];
        remainder[k] += row[k] * (twice * row2[k] + once * row[k]);
    }
}

/* Candidates see a change whose rows are known. */
static void spread_effect(const State *s, const Effect *e) {
    spread_change(s, e, 0, s->m, s->row);
    if (s->squares) spread_squares(s, e, 0, s->m, s->row, s->row2);
}

/* Candidates of a tile see the k-th change that waits, and the next one if there are no squares. Returns how many they saw. */
static Py_ssize_t see(const State *s, Py_ssize_t k, Py_ssize_t from, Py_ssize_t width) {
    const double *column = s->columns + k * s->capacity;
    double *row = s->tile, *row2 = s->tile + TILE;
    const Effect *effect = s->effects + k;
    memset(row, 0, 2 * TILE * sizeof(double));
    if (s->squares) {
        combine_two(s, column, s->columns2 + k * s->capacity, from, width, row, row2);
        spread_squares(s, effect, from, width, row, row2);
        spread_change(s, effect, from, width, row);
        return 1;
    }
    if (k + 1 == s->waiting) {
        combine(s, column, from, width, row);
        spread_change(s, effect, from, width, row);
        return 1;
    }
    combine_two(s, column, column + s->capacity, from, width, row, row2);
    spread_change(s, effect, from, width, row);
    spread_change(s, effect + 1, from, width, row2);
    return 2;
}

/* Candidates see all changes that wait. Tiles of the Gram matrix are read once for all of them. */
static void catch_up(State *s) {
    Py_ssize_t from, width, k;
    for (from = 0; s->waiting && from < s->m; from += width) {
        width = s->m - from < TILE ? s->m - from : TILE;
        for (k = 0; k < s->waiting;) k += see(s, k, from, width);
    }
    s->waiting = 0;
}

FOR_EACH_CPU
static void rank_one(const State *s, double factor) {
    Py_ssize_t i, j;
    for (i = 0; i < s->size; i++) {
        double *__restrict row = s->inverse + i * s->capacity;
        const double *__restrict column = s->column;
        double scaled = factor * column[i];
        for (j = 0; j < s->size; j++) row[j] += scaled * column[j];
    }
}

/* result = H^-1 right */
FOR_EACH_CPU
static void solve(const State *s, const double *right, double *__restrict result) {
    Py_ssize_t i, j, n = s->size;
    memset(result, 0, sizeof(double) * n);
    for (j = 0; j < n; j++) {
        const double *__restrict row = s->inverse + j * s->capacity;
        double factor = right[j];
        for (i = 0; i < n; i++) result[i] += factor * row[i];
    }
}

/* row = G_A'column. With squares also column2 = H^-1 Z column and row2 = G_A'column2.
 *
 * column solves H column = right, so row + Z column = right for active functions, and row2 + Z column2 = Z column. What is missing
 * is the error of the inverse; solving for it once more removes most of this error. Returns column'Z column. */
static double spread_out(const State *s, const double *right) {
    double *off = s->off, *off2 = s->off2, penalty;
    Py_ssize_t i, n = s->size;
    memset(s->row, 0, sizeof(double) * s->m);
    if (!s->squares) {
        combine(s, s->column, 0, s->m, s->row);
        return 0.0;
    }
    penalty = shrink(s, s->column);
    memset(s->row2, 0, sizeof(double) * s->m);
    combine_both(s, s->column, s->column2);
    if (!s->refine) return penalty;
    for (i = 0; i < n; i++) off2[i] = right[i] - s->ridges[i] * s->column[i] - s->row[s->active[i]];
    solve(s, off2, off);
    for (i = 0; i < n; i++) {
        s->column[i] += off[i];
        s->column2[i] = s->ridges[i] * (s->column[i] - s->column2[i]) - s->row2[s->active[i]];
    }
    solve(s, s->column2, off2);
    combine_both(s, off, off2);
    for (penalty = 0.0, i = 0; i < n; i++) penalty += s->ridges[i] * s->column[i] * s->column[i];
    return penalty;
}

static void add(State *s, Py_ssize_t candidate, double ridge) {
    const double *gram = s->gram + candidate * s->m;
    Effect effect = {0};
    double total = s->leftover[candidate] + ridge, weight = s->alignment[candidate] / total;
    Py_ssize_t i, j, n = s->size;
    double penalty;
    for (i = 0; i < n; i++) s->right[i] = gram[s->active[i]];
    if (s->squares) {
        solve(s, s->right, s->column);
    } else { /* row by row: what is left of an exact fit is the rounding of these sums */
        for (i = 0; i < n; i++) {
            double sum = 0.0;
            for (j = 0; j < n; j++) sum += s->inverse[i * s->capacity + j] * s->right[j];
            s->column[i] = sum;
        }
    }
    penalty = spread_out(s, s->right);
    for (i = 0; i < s->m; i++) s->row[i] = gram[i] - s->row[i];
    if (s->squares) { /* row = mu and row2 = nu of FGCV, eqs 44 to 47 */
        double overlap = s->overlap[candidate], remainder = s->remainder[candidate];
        for (i = 0; i < s->m; i++) s->row2[i] = s->row[i] - s->row2[i];
        effect.of_row = -(overlap - weight * remainder) / total, effect.of_row2 = -weight;
        effect.twice = -2.0 / total, effect.once = remainder / (total * total);
        double share = (penalty + ridge) / total, kappa = 0.0;
        for (i = 0; i < n; i++) kappa += s->weights[i] * s->ridges[i] * s->column[i];
        kappa = weight * share - kappa / total;
        s->freedom -= remainder / total;
        s->residual += weight * (weight * remainder - 2.0 * overlap);
        update_sums(s, -kappa, -weight, 2.0 / total, share / total);
        s->shrunk[n] = kappa, s->penalties[n] = share / total;
    }
    s->energy -= weight * s->alignment[candidate];
    effect.first = -weight, effect.second = -1.0 / total;
    spread_effect(s, &effect);
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

/* Keeps column and column2 until candidates see the change. */
static void postpone(State *s, Effect effect) {
    memcpy(s->columns + s->waiting * s->capacity, s->column, sizeof(double) * s->size);
    if (s->squares) memcpy(s->columns2 + s->waiting * s->capacity, s->column2, sizeof(double) * s->size);
    s->effects[s->waiting++] = effect;
}

/* Adds `difference` to a ridge. An infinite difference takes the function out. Refined columns need rows at once. */
static void shift(State *s, Py_ssize_t position, double difference) {
    double weight = s->weights[position], spread, step, penalty;
    Effect effect = {0};
    Py_ssize_t i;
    memcpy(s->column, s->inverse + position * s->capacity, sizeof(double) * s->size);
    memset(s->right, 0, sizeof(double) * s->size);
    s->right[position] = 1.0;
    penalty = s->refine ? spread_out(s, s->right) : s->squares ? shrink(s, s->column) : 0.0;
    spread = s->column[position];
    step = isinf(difference) ? 1.0 / spread : difference / (1.0 + difference * spread);
    if (s->squares) { /* row = rho and row2 = chi of FGCV, eqs 38 to 41 */
        double kappa = 0.0, length = spread - penalty;
        for (i = 0; i < s->size; i++) kappa += s->weights[i] * s->ridges[i] * s->column[i];
        effect.of_row = step * (kappa + step * length * weight), effect.of_row2 = step * weight;
        effect.twice = 2.0 * step, effect.once = step * step * length;
        s->freedom += step * length;
        s->residual += step * weight * (2.0 * kappa + step * length * weight);
        update_sums(s, step * (weight - kappa - step * length * weight), -step * weight, -2.0 * step, step * (1.0 - step * length));
    }
    effect.first = step * weight, effect.second = step;
    if (s->refine) spread_effect(s, &effect);
    else postpone(s, effect);
    s->energy += step * weight * weight;
    for (i = 0; i < s->size; i++) s->weights[i] -= step * weight * s->column[i];
    rank_one(s, -step);
    if (s->waiting == s->together || isinf(difference)) catch_up(s);
}

static void change(State *s, Py_ssize_t position, double ridge) {
    shift(s, position, ridge - s->ridges[position]);
    s->ridges[position] = ridge;
}

static void drop(State *s, Py_ssize_t position) {
    Py_ssize_t i, last = s->size - 1;
    shift(s, position, INFINITY);
    for (i = 0; i < s->size; i++) s->inverse[position * s->capacity + i] = s->inverse[last * s->capacity + i];
    for (i = 0; i < s->size; i++) s->inverse[i * s->capacity + position] = s->inverse[i * s->capacity + last];
    s->weights[position] = s->weights[last];
    s->ridges[position] = s->ridges[last];
    s->shrunk[position] = s->shrunk[last];
    s->penalties[position] = s->penalties[last];
    s->active[position] = s->active[last];
    s->size = last;
}

/* Checks tr P = n - L + sum lambda h, t'P^2 t = t'P t - w'Lambda w and 0 <= u <= gamma. */
FOR_EACH_CPU
static int squares_have_lost_digits(const State *s) {
    double freedom = s->n - (double)s->size, residual = s->energy;
    Py_ssize_t j, m, violated = 0;
    if (!(s->residual > 0.0 && s->freedom > 0.0)) return 1;
    for (j = 0; j < s->size; j++) {
        freedom += s->ridges[j] * s->inverse[j * s->capacity + j];
        residual -= s->ridges[j] * s->weights[j] * s->weights[j];
    }
    if (!(fabs(freedom - s->freedom) <= s->max_drift * s->n && fabs(residual - s->residual) <= s->max_drift * s->energy)) return 1;
    for (m = 0; m < s->m; m++) {
        double slack = s->slack * s->diagonal[m];
        violated += s->remainder[m] < -slack || s->remainder[m] > s->leftover[m] + slack;
    }
    return violated > 0;
}

/* For active j the alignment is exactly lambda_j w_j. If it is not, rank-one updates have lost digits. */
static int has_lost_digits(const State *s) {
    Py_ssize_t j;
    if (s->squares && squares_have_lost_digits(s)) return 1;
    if (!(s->energy > 0.0)) return 1;
    for (j = 0; j < s->size; j++) {
        Py_ssize_t m = s->active[j];
        double off = s->alignment[m] - s->ridges[j] * s->weights[j];
        if (!(off * off <= s->max_drift * s->max_drift * s->diagonal[m] * s->energy)) return 1;
    }
    return 0;
}

enum { GRAM, DIAGONAL, LEFTOVER, ALIGNMENT, INVERSE, WEIGHTS, RIDGES, ACTIVE, ACTIONS, INDICES, GAINS, REMAINDER, OVERLAP };
enum { N_BUFFERS = OVERLAP + 1, N_SIZES = 8, N_NUMBERS = 13 };

static const Expected expected[N_BUFFERS] = {
    {"gram", DOUBLES, 2, READ_ONLY},  {"diagonal", DOUBLES, 1, READ_ONLY}, {"leftover", DOUBLES, 1, WRITTEN},
    {"alignment", DOUBLES, 1, WRITTEN}, {"inverse", DOUBLES, 2, WRITTEN},    {"weights", DOUBLES, 1, WRITTEN},
    {"ridges", DOUBLES, 1, WRITTEN},  {"active", INTEGERS, 1, WRITTEN},    {"actions", INTEGERS, 1, WRITTEN},
    {"indices", INTEGERS, 1, WRITTEN}, {"gains", DOUBLES, 1, WRITTEN},      {"remainder", DOUBLES, 1, WRITTEN},
    {"overlap", DOUBLES, 1, WRITTEN}};

/* When the loop stops. */
typedef struct {
    Py_ssize_t max_active, max_steps, max_changes;
    double tol;
} Limits;

static int take_numbers(PyObject *const *arguments, State *s, Limits *limits) {
    static const char *const names[N_SIZES + N_NUMBERS] = {
        "n_candidates", "size", "capacity", "max_active", "max_steps", "max_changes", "refine", "together", "energy", "n_samples",
        "noise", "tol", "dependent", "lowest", "highest", "max_drift", "slack", "residual", "freedom", "floor", "exact"};
    Py_ssize_t *sizes[N_SIZES] = {&s->m, &s->size, &s->capacity, &limits->max_active, &limits->max_steps, &limits->max_changes,
                                  &s->refine, &s->together};
    double *numbers[N_NUMBERS] = {&s->energy, &s->n, &s->noise, &limits->tol, &s->dependent, &s->lowest,
                                  &s->highest, &s->max_drift, &s->slack, &s->residual, &s->freedom, &s->floor, &s->exact};
    int i;
    for (i = 0; i < N_SIZES; i++)
        if (take_size(arguments[i], names[i], sizes[i]) < 0) return -1;
    for (i = 0; i < N_NUMBERS; i++)
        if (take_double(arguments[N_SIZES + i], names[N_SIZES + i], numbers[i]) < 0) return -1;
    s->squares = s->freedom > 0.0;
    if (limits->max_active > s->capacity) limits->max_active = s->capacity;
    if (s->size > s->capacity) {
        PyErr_Format(PyExc_ValueError, "size must be at most capacity (%zd), got %zd", s->capacity, s->size);
        return -1;
    }
    if (s->together < 1 || s->together > MOST_TOGETHER) {
        PyErr_Format(PyExc_ValueError, "together must be from 1 to %d, got %zd", MOST_TOGETHER, s->together);
        return -1;
    }
    if (!(limits->tol >= 0.0)) { /* without a gain there is no move */
        PyErr_SetString(PyExc_ValueError, "tol must be zero or positive");
        return -1;
    }
    return 0;
}

/* Each array has its exact shape, so a product of sizes cannot overflow: the memory is there. */
static int check_shapes(const Py_buffer *buffers, const State *s, const Limits *limits) {
    const Py_ssize_t m = s->m, c = s->capacity, steps = limits->max_steps, squares = s->squares ? m : 0;
    const Py_ssize_t lengths[N_BUFFERS] = {m, m, m, m, c, c, c, c, steps, steps, steps, squares, squares};
    int i;
    for (i = 0; i < N_BUFFERS; i++) {
        if (buffers[i].shape[0] == lengths[i] && buffers[i].shape[buffers[i].ndim - 1] == lengths[i]) continue;
        PyErr_Format(PyExc_ValueError, "%s must have length %zd in every dimension, got %zd", expected[i].name, lengths[i],
                     buffers[i].shape[buffers[i].shape[0] == lengths[i] ? buffers[i].ndim - 1 : 0]);
        return -1;
    }
    return 0;
}

static int check_active(const State *s) {
    Py_ssize_t j;
    for (j = 0; j < s->size; j++) {
        if (s->active[j] >= 0 && s->active[j] < s->m) continue;
        PyErr_Format(PyExc_ValueError, "active must hold candidates from 0 to %zd, got %lld", s->m - 1, s->active[j]);
        return -1;
    }
    return 0;
}

static void set_arrays(State *s, const Py_buffer *buffers) {
    s->gram = buffers[GRAM].buf, s->diagonal = buffers[DIAGONAL].buf;
    s->leftover = buffers[LEFTOVER].buf, s->alignment = buffers[ALIGNMENT].buf;
    s->inverse = buffers[INVERSE].buf, s->weights = buffers[WEIGHTS].buf, s->ridges = buffers[RIDGES].buf;
    s->active = buffers[ACTIVE].buf, s->remainder = buffers[REMAINDER].buf, s->overlap = buffers[OVERLAP].buf;
}

/* Takes steps until a limit is reached, and returns how many; runs without the interpreter lock. */
static Py_ssize_t take_steps(State *s, const Limits *limits, const Py_buffer *buffers, int *status) {
    long long *actions = buffers[ACTIONS].buf, *indices = buffers[INDICES].buf;
    double *gains = buffers[GAINS].buf;
    Py_ssize_t steps = 0, changes_in_a_row = 0;
    *status = STEPS_DONE;
    while (steps < limits->max_steps && changes_in_a_row < limits->max_changes) {
        Move move = s->squares ? best_move_by_gcv(s, limits->max_active)
                               : best_move_by_evidence(s, limits->max_active, limits->tol);
        if (s->waiting && (move.action == NONE || !(move.gain > limits->tol))) {
            catch_up(s);
            if (!has_lost_digits(s)) continue;
            *status = DIGITS_LOST;
            break;
        }
        if (!(move.gain > limits->tol) || (s->squares && s->residual <= s->exact)) {
            *status = CONVERGED;
            break;
        }
        actions[steps] = move.action;
        indices[steps] = move.action == ADD ? (long long)move.where : s->active[move.where];
        gains[steps] = move.gain;
        steps++;
        changes_in_a_row = move.action == CHANGE ? changes_in_a_row + 1 : 0;
        if (move.action == ADD) add(s, move.where, move.ridge);
        else if (move.action == CHANGE) change(s, move.where, move.ridge);
        else drop(s, move.where);
        if (!s->waiting && has_lost_digits(s)) {
            *status = DIGITS_LOST;
            break;
        }
    }
    return steps;
}

static PyObject *climb(PyObject *self, PyObject *const *arguments, Py_ssize_t n_arguments) {
    Py_buffer buffers[N_BUFFERS];
    Py_ssize_t steps = 0;
    Limits limits;
    State s;
    int status = STEPS_DONE;
    memset(&s, 0, sizeof s);
    if (check_count("climb", n_arguments, N_BUFFERS + N_SIZES + N_NUMBERS) < 0 ||
        take_numbers(arguments + N_BUFFERS, &s, &limits) < 0 || open_arrays(arguments, expected, buffers, N_BUFFERS) < 0)
        return NULL;
    set_arrays(&s, buffers);
    if (check_shapes(buffers, &s, &limits) < 0 || check_apart(expected, buffers, N_BUFFERS) < 0 || check_active(&s) < 0) goto done;
    s.row = calloc(2 * s.m + (7 + 2 * s.together) * s.capacity + 2 * TILE, sizeof(double));
    if (s.row == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    s.row2 = s.row + s.m, s.column = s.row2 + s.m, s.column2 = s.column + s.capacity;
    s.right = s.column2 + s.capacity, s.off = s.right + s.capacity, s.off2 = s.off + s.capacity;
    s.shrunk = s.off2 + s.capacity, s.penalties = s.shrunk + s.capacity;
    s.columns = s.penalties + s.capacity, s.columns2 = s.columns + s.together * s.capacity;
    s.tile = s.columns2 + s.together * s.capacity;
    Py_BEGIN_ALLOW_THREADS
    steps = take_steps(&s, &limits, buffers, &status);
    Py_END_ALLOW_THREADS
    free(s.row);
done:
    close_arrays(buffers, N_BUFFERS);
    if (PyErr_Occurred()) return NULL;
    return Py_BuildValue("nndi", steps, s.size, s.energy, status);
}

static PyMethodDef methods[] = {
    {"climb", (PyCFunction)(void (*)(void))climb, METH_FASTCALL,
     "Take best single actions in place, and return (steps, size, energy, status)."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {ANY_INTERPRETER ANY_THREAD{0, NULL}};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_climb", NULL, 0, methods, slots, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__climb(void) { return PyModuleDef_Init(&module); }
