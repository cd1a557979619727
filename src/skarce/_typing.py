"""Type names for arrays: `Floats` are numbers, `Indices` are positions."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[Any]
Indices: TypeAlias = NDArray[np.intp]
