"""Models as one C99 header."""
