/* Sums of products over rows. They have several partial sums, so that compilers can use vectors. */

#ifndef SKARCE_SUMS_H
#define SKARCE_SUMS_H

#include "_portable.h"

#if defined(__GNUC__) || defined(__clang__)
#define ALWAYS_INLINE static inline __attribute__((always_inline)) /* into each version for a processor */
#else
#define ALWAYS_INLINE static inline
#endif

enum { LANES = 8, GROUP = 4 };

ALWAYS_INLINE double sum_of_lanes(const double *lanes) {
    return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

/* sums[k] += a'b_k for GROUP vectors b_k, which are `stride` numbers apart. */
ALWAYS_INLINE void add_products(const double *a, const double *b, Py_ssize_t stride, Py_ssize_t n, double *sums) {
    double lanes[GROUP][LANES];
    Py_ssize_t i, k, l;
    for (k = 0; k < GROUP; k++)
        for (l = 0; l < LANES; l++) lanes[k][l] = 0.0;
    for (i = 0; i + LANES <= n; i += LANES)
        for (k = 0; k < GROUP; k++)
            for (l = 0; l < LANES; l++) lanes[k][l] += a[i + l] * b[k * stride + i + l];
    for (; i < n; i++)
        for (k = 0; k < GROUP; k++) lanes[k][0] += a[i] * b[k * stride + i];
    for (k = 0; k < GROUP; k++) sums[k] += sum_of_lanes(lanes[k]);
}

ALWAYS_INLINE double product(const double *a, const double *b, Py_ssize_t n) {
    double lanes[LANES];
    Py_ssize_t i, l;
    for (l = 0; l < LANES; l++) lanes[l] = 0.0;
    for (i = 0; i + LANES <= n; i += LANES)
        for (l = 0; l < LANES; l++) lanes[l] += a[i + l] * b[i + l];
    for (; i < n; i++) lanes[0] += a[i] * b[i];
    return sum_of_lanes(lanes);
}

/* sums[k] += a'b_k for `count` vectors. */
ALWAYS_INLINE void add_all_products(const double *a, const double *b, Py_ssize_t count, Py_ssize_t stride, Py_ssize_t n, double *sums) {
    Py_ssize_t k;
    for (k = 0; k + GROUP <= count; k += GROUP) add_products(a, b + k * stride, stride, n, sums + k);
    for (; k < count; k++) sums[k] += product(a, b + k * stride, n);
}

#endif
