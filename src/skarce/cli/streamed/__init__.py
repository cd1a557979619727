"""Fits to files that are larger than memory: rows are read in blocks, and only sums over them are kept."""
