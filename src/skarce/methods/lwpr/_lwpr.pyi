from skarce._typing import Floats

def learn(
    state: Floats,
    X: Floats,
    y: Floats,
    settings: Floats,
    n_fields: int,
    max_projections: int,
    is_full: bool,
    negligible: float,
) -> tuple[int, int]: ...
