"""Models that fill gaps as one pipeline, for exports."""

from __future__ import annotations

from copy import copy
from typing import Any

import pandas as pd
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline

from skarce.cli.model_file import SavedModel
from skarce.datasets.gaps import MISSING_TEXT
from skarce.datasets.training import TEXTS


def pipeline_with_gaps(saved: SavedModel) -> Any:
    """Return the pipeline of a model. If the model fills gaps, its encoders of text take missing text, too.

    In Python, a table gets "(missing)" for its gaps when it is read. An export has no reader, so this step is in front of its
    encoder.
    """
    if not saved.fills_gaps:
        return saved.pipeline
    (name, preprocessing), *steps = saved.pipeline.steps
    filled = copy(preprocessing)
    filled.transformers_ = [
        (label, _filled(part, columns) if label == TEXTS else part, columns) for label, part, columns in preprocessing.transformers_
    ]
    return Pipeline([(name, filled), *steps])


def _filled(encoder: Any, columns: list[str]) -> Pipeline:
    imputer = SimpleImputer(strategy="constant", fill_value=MISSING_TEXT).set_output(transform="pandas")
    row = pd.DataFrame([[texts[0] for texts in encoder.categories_]], columns=list(columns), dtype=object)
    return Pipeline([("filling", imputer.fit(row)), ("encoding", encoder)])
