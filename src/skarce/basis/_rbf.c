/* Gaussian kernels in double precision: blocks of them, and their products with a few columns while a block is in cache.
 *
 * The values are the same as those of kernels.Rbf.fill and tiles.project_*, which use NumPy and serve as oracles in the tests. Here
 * distance, exponential and product are one pass over registers, and no thread waits for the interpreter in between. Rows and
 * centers are prepared, so that the product of a row and a center is the negative squared distance (kernels._Distance). */

#include "../_boundary.h"
#include <stdlib.h>

#if defined(__GNUC__) || defined(__clang__)

#define ALWAYS_INLINE static inline __attribute__((always_inline))

enum { LANES = 4, ROWS = 4, TILE = 256, ROOM = TILE + 8 }; /* rows have ROOM numbers: with a power of two they would collide in cache */
typedef double Lanes __attribute__((vector_size(8 * LANES)));
typedef long long Words __attribute__((vector_size(8 * LANES)));          /* what comparisons give */
typedef unsigned long long Bits __attribute__((vector_size(8 * LANES))); /* shifting an unsigned number never overflows */

#define LOG2_E 1.4426950408889634
#define at(place) (*(Lanes *)(place))

ALWAYS_INLINE Lanes all(double value) { return value - (Lanes){0.0}; }

/* The value, or 0 if the condition holds. */
ALWAYS_INLINE Lanes unless(Words condition, Lanes value) { return (Lanes)(~condition & (Words)value); }

/* x[i] = 2^x[i]. A positive x counts as 0, results below 2^-1020 become 0, and NaN stays NaN. With x = n + r, a polynomial in r
 * (of least error on [-1/2, 1/2], 3e-18) gives 2^r, and n + 1023 is the exponent of the factor 2^n. All rows take each step
 * together, so that none waits for another. */
ALWAYS_INLINE void raise_two(Lanes x[ROWS]) {
    static const double coefficients[] = {0x1.e9ec1fcb69a7fp-32, 0x1.e6228acd1c6e5p-28, 0x1.b524ebd13a55fp-24, 0x1.62bfc2c86d700p-20,
                                          0x1.ffcbfc6da6ed1p-17, 0x1.430913112c61bp-13, 0x1.5d87fe78a3f9cp-10, 0x1.3b2ab6fb9f1a5p-7,
                                          0x1.c6b08d704a0c6p-5,  0x1.ebfbdff82c5aep-3,  0x1.62e42fefa39efp-1,  1.0};
    const Lanes shift = all(0x1.8p52 + 1023.0); /* adding it rounds to an integer n, and n + 1023 is then in the lowest bits */
    Words vanishes[ROWS];
    Lanes n[ROWS], p[ROWS];
    int i, k;
    for (i = 0; i < ROWS; i++) x[i] = unless(x[i] > 0.0, x[i]);
    for (i = 0; i < ROWS; i++) vanishes[i] = x[i] < -1020.0;
    for (i = 0; i < ROWS; i++) n[i] = x[i] + shift;
    for (i = 0; i < ROWS; i++) x[i] -= n[i] - shift;
    for (i = 0; i < ROWS; i++) p[i] = all(coefficients[0]);
#pragma GCC unroll 12
    for (k = 1; k < 12; k++)
        for (i = 0; i < ROWS; i++) p[i] = p[i] * x[i] + coefficients[k];
    /* A power of two is an exact factor. If x vanishes, the factor is any number, and zeros replace the product; NaN stays NaN. */
    for (i = 0; i < ROWS; i++) x[i] = unless(vanishes[i], p[i] * (Lanes)((Bits)n[i] << 52));
}

/* values[i, j] = 2^(rows[i] centers[:, j]) for ROWS rows and `width` centers, a multiple of LANES. The last two terms of a row are
 * its own square and 1; the last two terms of a center are 1 and its own square. */
ALWAYS_INLINE void evaluate(const double *rows, const double *centers, Py_ssize_t n_terms, Py_ssize_t width, double *values) {
    const Py_ssize_t n_inputs = n_terms - 2;
    Py_ssize_t i, j, k;
    for (j = 0; j < width; j += LANES) {
        Lanes sums[ROWS], square = at(centers + (n_terms - 1) * ROOM + j);
        for (i = 0; i < ROWS; i++) sums[i] = square + rows[n_inputs * ROWS + i];
        for (k = 0; k < n_inputs; k++) {
            const Lanes center = at(centers + k * ROOM + j);
            for (i = 0; i < ROWS; i++) sums[i] += center * rows[k * ROWS + i];
        }
        raise_two(sums);
        for (i = 0; i < ROWS; i++) at(values + i * ROOM + j) = sums[i];
    }
}

/* With V = values (ROWS x width), for `columns` columns of B, one or two: down += V'B_rows, and if `both`, across = V B_columns. */
ALWAYS_INLINE void multiply(const int columns, const int both, const double *values, Py_ssize_t width, const double *left,
                            const double *right, double *down, double *across) {
    Lanes sums[2][ROWS], factors[2][ROWS];
    Py_ssize_t i, j;
    int c;
    for (c = 0; c < columns; c++)
        for (i = 0; i < ROWS; i++) sums[c][i] = all(0.0), factors[c][i] = all(left[c * ROWS + i]);
    for (j = 0; j < width; j += LANES) {
        Lanes v[ROWS];
        for (i = 0; i < ROWS; i++) v[i] = at(values + i * ROOM + j);
        for (c = 0; c < columns; c++) {
            Lanes below = at(down + c * ROOM + j);
            for (i = 0; i < ROWS; i++) below += v[i] * factors[c][i];
            at(down + c * ROOM + j) = below;
            if (both) {
                Lanes beside = at(right + c * ROOM + j);
                for (i = 0; i < ROWS; i++) sums[c][i] += v[i] * beside;
            }
        }
    }
    if (!both) return;
    for (c = 0; c < columns; c++)
        for (i = 0; i < ROWS; i++) across[c * ROWS + i] = (sums[c][i][0] + sums[c][i][1]) + (sums[c][i][2] + sums[c][i][3]);
}

ALWAYS_INLINE void square(double *values, Py_ssize_t width) {
    Py_ssize_t i, j;
    for (i = 0; i < ROWS; i++)
        for (j = 0; j < width; j++) values[i * ROOM + j] *= values[i * ROOM + j];
}

/* Centers `start` to `stop` by term, padded to whole vectors; their squares are multiplied by log2(e). */
ALWAYS_INLINE Py_ssize_t pack_centers(const double *centers, Py_ssize_t n_terms, Py_ssize_t start, Py_ssize_t stop, double *packed) {
    Py_ssize_t j, k, width = (stop - start + LANES - 1) / LANES * LANES;
    for (k = 0; k < n_terms; k++) {
        const double factor = k == n_terms - 1 ? LOG2_E : 1.0;
        for (j = 0; j < width; j++) packed[k * ROOM + j] = start + j < stop ? factor * centers[(start + j) * n_terms + k] : 0.0;
    }
    return width;
}

/* ROWS rows by term, multiplied by log2(e). If there are fewer rows, the last one is repeated (its factors are zero). */
ALWAYS_INLINE void pack_rows(const double *rows, Py_ssize_t n_terms, Py_ssize_t start, Py_ssize_t stop, double *packed) {
    Py_ssize_t i, k;
    for (i = 0; i < ROWS; i++) {
        const double *row = rows + (start + i < stop ? start + i : stop - 1) * n_terms;
        for (k = 0; k < n_terms; k++) packed[k * ROWS + i] = LOG2_E * row[k];
    }
}

/* One product V'B with its padded work space: B is k x n, and the product is k x m. */
typedef struct {
    const double *matrix;
    double *product;
    Py_ssize_t k, n, m;
    double *left, *right, *down, *across; /* k x ROWS, k x ROOM, k x ROOM, k x ROWS */
} Product;

/* Columns `start` to `stop` of a (k x n) matrix into rows of `room` numbers, padded with zeros. */
ALWAYS_INLINE void pack(const Product *p, Py_ssize_t start, Py_ssize_t stop, Py_ssize_t room, double *packed) {
    Py_ssize_t c, j;
    for (c = 0; c < p->k; c++)
        for (j = 0; j < room; j++) packed[c * room + j] = start + j < stop ? p->matrix[c * p->n + start + j] : 0.0;
}

ALWAYS_INLINE void add(const Product *p, const double *packed, Py_ssize_t start, Py_ssize_t stop, Py_ssize_t room) {
    Py_ssize_t c, j;
    for (c = 0; c < p->k; c++)
        for (j = 0; start + j < stop; j++) p->product[c * p->m + start + j] += packed[c * room + j];
}

ALWAYS_INLINE void open_tile(const Product *p, const int both, Py_ssize_t start, Py_ssize_t stop) {
    memset(p->down, 0, sizeof(double) * p->k * ROOM);
    if (both) pack(p, start, stop, ROOM, p->right);
}

ALWAYS_INLINE void absorb(const Product *p, const int both, const double *values, Py_ssize_t width, Py_ssize_t row, Py_ssize_t end) {
    Py_ssize_t c;
    pack(p, row, end, ROWS, p->left);
    for (c = 0; c + 2 <= p->k; c += 2)
        multiply(2, both, values, width, p->left + c * ROWS, p->right + c * ROOM, p->down + c * ROOM, p->across + c * ROWS);
    if (c < p->k)
        multiply(1, both, values, width, p->left + c * ROWS, p->right + c * ROOM, p->down + c * ROOM, p->across + c * ROWS);
    if (both) add(p, p->across, row, end, ROWS);
}

typedef struct {
    const double *rows, *centers; /* n x n_terms, m x n_terms */
    Py_ssize_t n_terms, n, m;
    Product product, squares;     /* squares.k is 0 if no squares are wanted */
    double *values, *packed, *few; /* ROWS x ROOM, n_terms x ROOM, n_terms x ROWS */
} Task;

/* One tile of Phi. If `both`, it also serves as its own transpose. */
ALWAYS_INLINE void project_tile(const Task *t, const int both, Py_ssize_t first, Py_ssize_t last, Py_ssize_t start, Py_ssize_t stop) {
    const Py_ssize_t width = pack_centers(t->centers, t->n_terms, start, stop, t->packed);
    Py_ssize_t row;
    open_tile(&t->product, both, start, stop);
    open_tile(&t->squares, both, start, stop);
    for (row = first; row < last; row += ROWS) {
        const Py_ssize_t end = row + ROWS < last ? row + ROWS : last;
        pack_rows(t->rows, t->n_terms, row, end, t->few);
        evaluate(t->few, t->packed, t->n_terms, width, t->values);
        absorb(&t->product, both, t->values, width, row, end);
        if (t->squares.k) {
            square(t->values, width);
            absorb(&t->squares, both, t->values, width, row, end);
        }
    }
    add(&t->product, t->product.down, start, stop, ROOM);
    add(&t->squares, t->squares.down, start, stop, ROOM);
}

/* Rows `first` to `last` of Phi. If Phi is symmetric: the block on the diagonal, and those to the right of it for both sides. */
FOR_EACH_CPU
static void project_rows(const Task *t, int symmetric, Py_ssize_t first, Py_ssize_t last) {
    Py_ssize_t start = 0, stop;
    if (symmetric) project_tile(t, 0, first, last, first, last), start = last;
    for (; start < t->m; start = stop) {
        stop = start + TILE < t->m ? start + TILE : t->m;
        if (symmetric) project_tile(t, 1, first, last, start, stop);
        else project_tile(t, 0, first, last, start, stop);
    }
}

/* out[i, j] = exp(rows[i] centers[j]); out is contiguous along j and has `stride` bytes between rows. */
FOR_EACH_CPU
static void fill_rows(const Task *t, char *out, Py_ssize_t stride) {
    Py_ssize_t start, row, i;
    for (start = 0; start < t->m; start += TILE) {
        const Py_ssize_t stop = start + TILE < t->m ? start + TILE : t->m;
        const Py_ssize_t width = pack_centers(t->centers, t->n_terms, start, stop, t->packed);
        for (row = 0; row < t->n; row += ROWS) {
            const Py_ssize_t end = row + ROWS < t->n ? row + ROWS : t->n;
            pack_rows(t->rows, t->n_terms, row, end, t->few);
            evaluate(t->few, t->packed, t->n_terms, width, t->values);
            for (i = row; i < end; i++)
                memcpy(out + i * stride + start * sizeof(double), t->values + (i - row) * ROOM, (stop - start) * sizeof(double));
        }
    }
}

static int has_shape(const Py_buffer *buffer, Py_ssize_t n_rows, Py_ssize_t n_columns) {
    return buffer->shape[0] == n_rows && buffer->shape[1] == n_columns;
}

static void set_points(Task *t, const Py_buffer *rows, const Py_buffer *centers) {
    memset(t, 0, sizeof *t);
    t->rows = rows->buf, t->centers = centers->buf;
    t->n = rows->shape[0], t->m = centers->shape[0], t->n_terms = rows->shape[1];
}

static void set_product(Product *p, const Py_buffer *matrix, const Py_buffer *product) {
    p->matrix = matrix->buf, p->product = product->buf;
    p->k = matrix->shape[0], p->n = matrix->shape[1], p->m = product->shape[1];
}

/* Gives the task its work space. Each row of ROOM numbers starts on a new cache line. Returns the pointer to free, or NULL with an
 * error. */
static double *allocate(Task *t) {
    const Py_ssize_t k = t->product.k, own = t->squares.k;
    const size_t most = PY_SSIZE_T_MAX / sizeof(double) / (ROOM + ROWS) / 8; /* so that no sum or product below overflows */
    double *space = NULL;
    if ((size_t)t->n_terms < most && (size_t)k < most && (size_t)own < most) {
        const size_t wide = ROWS + t->n_terms + 2 * (k + own), narrow = t->n_terms + 2 * (k + own);
        space = malloc(sizeof(double) * (wide * ROOM + narrow * ROWS + 8));
    }
    if (space == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    t->values = (double *)(((uintptr_t)space + 63) & ~(uintptr_t)63), t->packed = t->values + ROWS * ROOM;
    t->product.right = t->packed + t->n_terms * ROOM, t->product.down = t->product.right + k * ROOM;
    t->squares.right = t->product.down + k * ROOM, t->squares.down = t->squares.right + own * ROOM;
    t->few = t->squares.down + own * ROOM;
    t->product.left = t->few + t->n_terms * ROWS, t->product.across = t->product.left + k * ROWS;
    t->squares.left = t->product.across + k * ROWS, t->squares.across = t->squares.left + own * ROWS;
    return space;
}

/* Releases the work space and the arrays; the answer is None, or NULL with an error. */
static PyObject *finish(double *space, Py_buffer *buffers, int count) {
    free(space);
    close_arrays(buffers, count);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

/* A prepared row has its own square and 1 besides its inputs, so it has two terms or more. */
static int check_points(const Py_buffer *rows, const Py_buffer *centers) {
    if (rows->shape[1] >= 2 && centers->shape[1] == rows->shape[1]) return 0;
    PyErr_Format(PyExc_ValueError, "rows (n, t) and centers (m, t) with t >= 2 do not fit together, got t = %zd and %zd",
                 rows->shape[1], centers->shape[1]);
    return -1;
}

static PyObject *fill(PyObject *self, PyObject *const *arguments, Py_ssize_t n_arguments) {
    static const Expected expected[3] = {
        {"rows", DOUBLES, 2, READ_ONLY}, {"centers", DOUBLES, 2, READ_ONLY}, {"out", DOUBLES, 2, WRITTEN | GAPS}};
    Py_buffer buffers[3], *rows = &buffers[0], *centers = &buffers[1], *out = &buffers[2];
    double *space = NULL;
    Task task;
    if (check_count("fill", n_arguments, 3) < 0 || open_arrays(arguments, expected, buffers, 3) < 0) return NULL;
    if (check_points(rows, centers) < 0 || check_apart(expected, buffers, 3) < 0) return finish(NULL, buffers, 3);
    if (!has_shape(out, rows->shape[0], centers->shape[0])) {
        PyErr_SetString(PyExc_ValueError, "rows (n, t), centers (m, t) and out (n, m) do not fit together");
        return finish(NULL, buffers, 3);
    }
    if (out->len == 0) return finish(NULL, buffers, 3); /* nothing to do, and t may be any number */
    set_points(&task, rows, centers);
    space = allocate(&task);
    if (space == NULL) return finish(NULL, buffers, 3);
    Py_BEGIN_ALLOW_THREADS
    fill_rows(&task, out->buf, out->strides[0]);
    Py_END_ALLOW_THREADS
    return finish(space, buffers, 3);
}

static PyObject *project(PyObject *self, PyObject *const *arguments, Py_ssize_t n_arguments) {
    static const Expected expected[6] = {{"rows", DOUBLES, 2, READ_ONLY},  {"centers", DOUBLES, 2, READ_ONLY},
                                         {"right", DOUBLES, 2, READ_ONLY}, {"weights", DOUBLES, 2, READ_ONLY},
                                         {"product", DOUBLES, 2, WRITTEN}, {"squares", DOUBLES, 2, WRITTEN}};
    Py_buffer buffers[6], *rows = &buffers[0], *centers = &buffers[1], *right = &buffers[2], *weights = &buffers[3],
                          *product = &buffers[4], *squares = &buffers[5];
    Py_ssize_t first, last;
    double *space = NULL;
    Task task;
    int symmetric;
    if (check_count("project", n_arguments, 9) < 0 || take_size(arguments[6], "first", &first) < 0 ||
        take_size(arguments[7], "last", &last) < 0)
        return NULL;
    symmetric = PyObject_IsTrue(arguments[8]);
    if (symmetric < 0 || open_arrays(arguments, expected, buffers, 6) < 0) return NULL;
    if (check_points(rows, centers) < 0 || check_apart(expected, buffers, 6) < 0) return finish(NULL, buffers, 6);
    if (!has_shape(right, right->shape[0], rows->shape[0]) || !has_shape(weights, weights->shape[0], rows->shape[0]) ||
        !has_shape(product, right->shape[0], centers->shape[0]) || !has_shape(squares, weights->shape[0], centers->shape[0]) ||
        (symmetric && rows->shape[0] != centers->shape[0]) || last > rows->shape[0] || first >= last || last - first > TILE) {
        PyErr_SetString(PyExc_ValueError, "rows (n, t), centers (m, t), right (k, n), weights (s, n), product (k, m), squares (s, m) "
                                          "and the range of rows do not fit together");
        return finish(NULL, buffers, 6);
    }
    set_points(&task, rows, centers);
    set_product(&task.product, right, product);
    set_product(&task.squares, weights, squares);
    space = allocate(&task);
    if (space == NULL) return finish(NULL, buffers, 6);
    Py_BEGIN_ALLOW_THREADS
    project_rows(&task, symmetric, first, last);
    Py_END_ALLOW_THREADS
    return finish(space, buffers, 6);
}

static PyMethodDef methods[] = {
    {"fill", (PyCFunction)(void (*)(void))fill, METH_FASTCALL, "fill(rows, centers, out): out[i, j] = exp(rows[i] centers[j])."},
    {"project", (PyCFunction)(void (*)(void))project, METH_FASTCALL,
     "project(rows, centers, right, weights, product, squares, first, last, symmetric): add what rows `first` to `last` (at most\n"
     "TILE rows) of Phi contribute to product = (Phi'B')' and squares = weights (Phi o Phi). If Phi is symmetric, blocks to the\n"
     "right of the diagonal block count for both sides."},
    {NULL, NULL, 0, NULL},
};

#else /* without vector types NumPy is faster */
enum { TILE = 0 };
static PyMethodDef methods[] = {{NULL, NULL, 0, NULL}};
#endif

static int add_constants(PyObject *made) { return PyModule_AddIntConstant(made, "TILE", TILE); }

static PyModuleDef_Slot slots[] = {ANY_INTERPRETER ANY_THREAD{Py_mod_exec, (void *)add_constants}, {0, NULL}};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_rbf", NULL, 0, methods, slots, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__rbf(void) { return PyModuleDef_Init(&module); }
