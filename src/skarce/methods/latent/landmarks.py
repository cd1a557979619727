"""How many landmarks stand for many rows in methods that pass over all rows again and again."""

FEWEST_LANDMARKS = 20
MOST_ELEMENTS = 20_000_000  # of the matrix of all landmarks at all rows: 160 MB, and tens of seconds on two cores


def landmarks_for_passes(n_rows: int, most: int) -> int:
    """Return at most `most` landmarks, and fewer if their functions at all rows would take too much memory and time."""
    return max(FEWEST_LANDMARKS, min(most, MOST_ELEMENTS // max(n_rows, 1)))
