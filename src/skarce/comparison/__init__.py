"""Methods by name, cross-validated side by side."""
