"""Peak memory of one fit: ``python -m benchmarks.memory PROBLEM METHOD``."""

from __future__ import annotations

import json
import sys

from benchmarks import methods, problems
from benchmarks.timing import peak_megabytes


def main() -> None:
    X, y, _, _ = problems.by_name(sys.argv[1]).load()
    model = methods.by_name(sys.argv[2]).make()
    before = peak_megabytes()
    model.fit(X, y)
    print(json.dumps({"before_mb": before, "peak_mb": peak_megabytes()}))


if __name__ == "__main__":
    main()
