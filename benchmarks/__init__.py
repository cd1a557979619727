"""Compare skarce with its rivals. Times are measured in one process, and peak memory in one process per fit.

Run ``python -m benchmarks``.
"""
