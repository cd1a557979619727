/* Weighted squares of candidates that are in memory, in one pass.
 *
 * The values are the same as those of tiles.weighted_squares, which uses NumPy and serves as the oracle in the tests. There, an array
 * of all squares is written and read again. */

#include "../_boundary.h"
#include "../_sums.h"

enum { BLOCK = 512 };

/* squares[m, j] = sum w_j c_m^2; candidates c and weights w are contiguous along the n rows. */
FOR_EACH_CPU
static void add_up(Py_ssize_t n_rows, Py_ssize_t n_candidates, const double *candidates, Py_ssize_t n_weights, const double *weights,
                   double *squares) {
    double squared[BLOCK];
    Py_ssize_t start, m, i;
    memset(squares, 0, sizeof(double) * n_candidates * n_weights);
    for (m = 0; m < n_candidates; m++)
        for (start = 0; start < n_rows; start += BLOCK) {
            const Py_ssize_t n = n_rows - start < BLOCK ? n_rows - start : BLOCK;
            const double *values = candidates + m * n_rows + start;
            for (i = 0; i < n; i++) squared[i] = values[i] * values[i];
            add_all_products(squared, weights + start, n_weights, n_rows, n, squares + m * n_weights);
        }
}

enum { CANDIDATES, WEIGHTS, SQUARES, N_BUFFERS };

static const Expected expected[N_BUFFERS] = {
    {"candidates", DOUBLES, 2, READ_ONLY}, {"weights", DOUBLES, 2, READ_ONLY}, {"squares", DOUBLES, 2, WRITTEN}};

static PyObject *weighted_squares(PyObject *self, PyObject *const *arguments, Py_ssize_t n_arguments) {
    Py_buffer buffers[N_BUFFERS];
    if (check_count("weighted_squares", n_arguments, N_BUFFERS) < 0 || open_arrays(arguments, expected, buffers, N_BUFFERS) < 0)
        return NULL;
    {
        const Py_ssize_t m = buffers[CANDIDATES].shape[0], n = buffers[CANDIDATES].shape[1], s = buffers[WEIGHTS].shape[0];
        const Py_ssize_t shapes[N_BUFFERS][2] = {{m, n}, {s, n}, {m, s}};
        if (check_each_shape(expected, buffers, shapes, N_BUFFERS) == 0 && check_apart(expected, buffers, N_BUFFERS) == 0) {
            Py_BEGIN_ALLOW_THREADS
            add_up(n, m, buffers[CANDIDATES].buf, s, buffers[WEIGHTS].buf, buffers[SQUARES].buf);
            Py_END_ALLOW_THREADS
        }
    }
    close_arrays(buffers, N_BUFFERS);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"weighted_squares", (PyCFunction)(void (*)(void))weighted_squares, METH_FASTCALL, "Write sums of weighted squares in place."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {ANY_INTERPRETER ANY_THREAD{0, NULL}};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_columns", NULL, 0, methods, slots, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__columns(void) { return PyModuleDef_Init(&module); }
