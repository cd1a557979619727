"""Runs the experiments of any paper: splits, units of work, a time budget, records, tests of pairs, tables, pictures."""
