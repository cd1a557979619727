from skarce._typing import Floats

TILE: int  # the largest number of rows in one call of `project`; 0 if the compiler has no vector types

def fill(rows: Floats, centers: Floats, out: Floats) -> None: ...
def project(
    rows: Floats,
    centers: Floats,
    right: Floats,
    weights: Floats,
    product: Floats,
    squares: Floats,
    first: int,
    last: int,
    symmetric: bool,
) -> None: ...
