"""The experiments of papers (``skarce reproduce``): `papers` describes them, `runner` runs them and compares with the print."""
