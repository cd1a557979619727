"""Errors, sizes and intervals of all regressors with default settings, beside their rivals, on real and generated tables.

Run ``python -m benchmarks.accuracy``. Results are kept in a file, so a run that was stopped continues.
"""
