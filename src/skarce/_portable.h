/* What differs among compilers, loaders and versions of Python. */

#ifndef SKARCE_PORTABLE_H
#define SKARCE_PORTABLE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h> /* before all others; with glibc it also defines __GLIBC__ */

/* A function in one version for each generation of processors. Only the loader of glibc chooses among them, and gcc knows these
 * generations since 12. Elsewhere there is one version, for the oldest processor. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__GLIBC__) && defined(__x86_64__)
#if __GNUC__ >= 12
#define FOR_EACH_CPU __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#endif
#endif
#ifndef FOR_EACH_CPU
#define FOR_EACH_CPU
#endif

/* Slots of a module that keeps nothing between calls: any interpreter and any thread may call it, also at the same time. Headers
 * say so since Python 3.12 and 3.13; the limited API of 3.11 does not. */
#ifdef Py_mod_multiple_interpreters
#define ANY_INTERPRETER {Py_mod_multiple_interpreters, Py_MOD_PER_INTERPRETER_GIL_SUPPORTED},
#else
#define ANY_INTERPRETER
#endif
#ifdef Py_mod_gil
#define ANY_THREAD {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#else
#define ANY_THREAD
#endif

#endif
