"""Runs the experiments of any paper: splits, units of work, a time budget, records, pair tests, tables and pictures.

Nothing in this folder knows a particular paper. A paper is a `Paper` object; ``reproduce/papers`` contains those we have.
"""
