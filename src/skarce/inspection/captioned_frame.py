"""A data frame that is printed with a title and a note. This module needs pandas, so import it when it is used."""

from __future__ import annotations

import html
import textwrap
from typing import Any

import pandas as pd

NOTE_WIDTH = 100


class CaptionedFrame(pd.DataFrame):  # type: ignore[misc]
    """A data frame whose ``attrs["title"]`` is printed above it, and ``attrs["note"]`` below. Parts of it are plain frames."""

    @property
    def _constructor(self) -> Any:
        return pd.DataFrame

    def __repr__(self) -> str:
        rows = pd.get_option("display.max_rows")
        table = self.to_string(float_format="{:.4g}".format, na_rep="", max_rows=rows)
        return "\n".join([self.attrs["title"], table, *textwrap.wrap(self.attrs["note"], NOTE_WIDTH)])

    def _repr_html_(self) -> str | None:
        table = super()._repr_html_()
        title, note = (f"<p>{html.escape(self.attrs[part])}</p>" for part in ("title", "note"))
        return None if table is None else f"{title}{table}{note}"
