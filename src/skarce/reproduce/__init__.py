"""The experiments of papers: one file per paper, its printed numbers, ours beside them (``skarce reproduce``)."""
