"""What a target can hold."""

from __future__ import annotations

from enum import Enum


class TargetKind(Enum):
    """What a target holds; the value is the word for it in messages."""

    NUMBERS = "numbers"
    CLASSES = "classes"
    COUNTS = "counts"
