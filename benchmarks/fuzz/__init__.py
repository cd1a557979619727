"""Attack skarce with random fits, tables and model files, and print a short snippet for every fault found.

Run ``python -m benchmarks.fuzz --minutes 10 --seed 0``. A case is a short piece of source code, so the snippet that is printed is
the code that was run.
"""
