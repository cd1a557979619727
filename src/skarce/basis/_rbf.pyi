from skarce._typing import Floats

TILE: int  # rows of one call of `project` at most; 0 where the compiler has no vector types

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
