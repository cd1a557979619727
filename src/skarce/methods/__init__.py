"""One file or folder for each algorithm."""
