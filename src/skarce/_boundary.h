/* What Python hands to compiled code, checked before it is used. Each function returns 0, or sets a ValueError or TypeError that
 * names the argument and returns -1. All of them need the interpreter lock. */

#ifndef SKARCE_BOUNDARY_H
#define SKARCE_BOUNDARY_H

#include "_portable.h"
#include <stdint.h>
#include <string.h>

typedef enum { DOUBLES, INTEGERS } Items;                   /* float64, int64; both in native byte order and aligned */
typedef enum { READ_ONLY = 0, WRITTEN = 1, GAPS = 2 } Uses; /* GAPS: a matrix may have gaps between its rows */

typedef struct {
    const char *name;
    Items items;
    int n_dimensions, uses;
} Expected;

/* Sets a TypeError in place of any other error, and returns -1. */
static inline int refuse_type(PyObject *object, const char *name, const char *wanted) {
    PyObject *type;
    PyErr_Clear();
    type = PyType_GetName(Py_TYPE(object));
    if (type != NULL) PyErr_Format(PyExc_TypeError, "%s must be %s, got %.100U", name, wanted, type);
    Py_XDECREF(type);
    return -1;
}

static inline int has_items(const Py_buffer *buffer, Items items) {
    const char *format = buffer->format == NULL ? "B" : buffer->format;
    if (buffer->itemsize != 8) return 0;
    return items == DOUBLES ? strcmp(format, "d") == 0 : strcmp(format, "q") == 0 || strcmp(format, "l") == 0;
}

static inline int has_order(const Py_buffer *buffer, int uses) {
    if (uses & GAPS && buffer->ndim == 2)
        return (buffer->shape[1] < 2 || buffer->strides[1] == buffer->itemsize) && buffer->strides[0] % buffer->itemsize == 0;
    return PyBuffer_IsContiguous(buffer, 'C');
}

/* Opens the buffer of an array. The caller releases it. */
static inline int open_array(PyObject *object, const Expected *expected, Py_buffer *buffer) {
    const char *wanted = expected->items == DOUBLES ? "doubles" : "64-bit integers", *problem = NULL;
    if (PyObject_GetBuffer(object, buffer, PyBUF_RECORDS_RO) < 0) {
        if (PyErr_ExceptionMatches(PyExc_MemoryError)) return -1;
        return refuse_type(object, expected->name, expected->items == DOUBLES ? "an array of doubles" : "an array of 64-bit integers");
    }
    if (!has_items(buffer, expected->items)) problem = "items of another type, size or byte order";
    else if (buffer->ndim != expected->n_dimensions) problem = "another number of dimensions";
    else if (!has_order(buffer, expected->uses)) problem = "gaps in its rows";
    else if ((uintptr_t)buffer->buf % sizeof(double) != 0) problem = "an address that is not a multiple of 8";
    else if (expected->uses & WRITTEN && buffer->readonly) problem = "memory that cannot be written";
    if (problem == NULL) return 0;
    PyErr_Format(PyExc_ValueError, "%s must be %s of %s with contiguous rows%s, got an array with %s", expected->name,
                 expected->n_dimensions == 2 ? "a matrix" : "a vector", wanted, expected->uses & WRITTEN ? ", writable" : "",
                 problem);
    PyBuffer_Release(buffer);
    return -1;
}

/* Opens `count` arrays, or none of them. */
static inline int open_arrays(PyObject *const *objects, const Expected *expected, Py_buffer *buffers, int count) {
    int i;
    for (i = 0; i < count; i++)
        if (open_array(objects[i], &expected[i], &buffers[i]) < 0) break;
    if (i == count) return 0;
    while (i > 0) PyBuffer_Release(&buffers[--i]);
    return -1;
}

static inline void close_arrays(Py_buffer *buffers, int count) {
    while (count > 0) PyBuffer_Release(&buffers[--count]);
}

/* The first and the last byte of an array that is not empty. Rows may go backward. */
static inline void extent(const Py_buffer *buffer, uintptr_t *first, uintptr_t *last) {
    int i;
    *first = *last = (uintptr_t)buffer->buf;
    for (i = 0; i < buffer->ndim; i++) {
        const Py_ssize_t way = (buffer->shape[i] - 1) * buffer->strides[i];
        *(way < 0 ? first : last) += (uintptr_t)way;
    }
    *last += (uintptr_t)buffer->itemsize - 1;
}

/* What is written must not share memory with anything else: compiled loops assume that. */
static inline int check_apart(const Expected *expected, const Py_buffer *buffers, int count) {
    uintptr_t first[2], last[2];
    int i, j;
    for (i = 0; i < count; i++) {
        if (!(expected[i].uses & WRITTEN) || buffers[i].len == 0) continue;
        extent(&buffers[i], &first[0], &last[0]);
        for (j = 0; j < count; j++) {
            if (j == i || buffers[j].len == 0) continue;
            extent(&buffers[j], &first[1], &last[1]);
            if (last[0] < first[1] || last[1] < first[0]) continue;
            PyErr_Format(PyExc_ValueError, "%s shares memory with %s; pass a copy", expected[i].name, expected[j].name);
            return -1;
        }
    }
    return 0;
}

/* Each array has its exact shape, so a product of sizes cannot overflow: the memory is there. */
static inline int check_each_shape(const Expected *expected, const Py_buffer *buffers, const Py_ssize_t (*shapes)[2], int count) {
    int i, k;
    for (i = 0; i < count; i++)
        for (k = 0; k < buffers[i].ndim; k++) {
            if (buffers[i].shape[k] == shapes[i][k]) continue;
            PyErr_Format(PyExc_ValueError, "%s must have length %zd in dimension %d, got %zd", expected[i].name, shapes[i][k], k,
                         buffers[i].shape[k]);
            return -1;
        }
    return 0;
}

static inline int check_count(const char *function, Py_ssize_t n_arguments, Py_ssize_t expected) {
    if (n_arguments == expected) return 0;
    PyErr_Format(PyExc_TypeError, "%s takes %zd arguments, got %zd", function, expected, n_arguments);
    return -1;
}

/* An integer from 0 on. */
static inline int take_size(PyObject *object, const char *name, Py_ssize_t *size) {
    if (!PyIndex_Check(object)) return refuse_type(object, name, "an integer");
    *size = PyNumber_AsSsize_t(object, NULL); /* clipped, so that no OverflowError leaves */
    if (*size == -1 && PyErr_Occurred()) return -1;
    if (*size >= 0) return 0;
    PyErr_Format(PyExc_ValueError, "%s must not be negative, got %zd", name, *size);
    return -1;
}

static inline int take_double(PyObject *object, const char *name, double *value) {
    *value = PyFloat_AsDouble(object);
    if (!(*value == -1.0 && PyErr_Occurred())) return 0;
    return refuse_type(object, name, "a number that fits a double");
}

#endif
