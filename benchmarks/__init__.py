"""Rivals side by side: time in one process, peak memory in a process of its own each. Run ``python -m benchmarks``."""
