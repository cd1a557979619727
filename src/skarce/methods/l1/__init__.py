"""The L1 penalty: exact minimizers, reweighted least squares, and the path between them."""
