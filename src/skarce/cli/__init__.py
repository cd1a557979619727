"""The command line: commands parse, call, and print; what they call knows nothing about a terminal."""

from __future__ import annotations

import sys
from typing import Any

import click

from skarce import __version__
from skarce.cli.comparing import compare
from skarce.cli.ending import PassedError, ended
from skarce.cli.explaining import explain
from skarce.cli.exporting import export
from skarce.cli.fitting import fit
from skarce.cli.predicting import predict
from skarce.cli.reproducing import reproduce


class Application(click.Group):
    """A group whose commands end with an exit code, and with one line if something went wrong."""

    def main(self, *args: Any, **options: Any) -> Any:
        """Run a command and end the process."""
        options["standalone_mode"] = False
        sys.exit(ended(lambda: super(Application, self).main(*args, **options)))

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as interrupt:
            raise PassedError(interrupt) from None

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Without arguments, show the help; newer versions of click would raise an error that holds it."""
        return super().parse_args(ctx, args or ["--help"])


@click.group(cls=Application, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="skarce")
def app() -> None:
    """Compact, uncertainty-aware sparse models for tables.

    \b
    Examples:
      skarce compare                                  on example data from scikit-learn
      skarce compare houses.csv --target price        which method fits this table best?
      skarce fit houses.csv --target price --out houses.skops
      skarce predict houses.skops new_houses.csv --out predictions.csv
      skarce explain houses.skops
      skarce export houses.skops --format c --out houses.h
      skarce export houses.skops --format onnx --out houses.onnx
      skarce reproduce fgcv --quick                   the experiments of a paper, our numbers next to its
    """


for command in (compare, fit, predict, explain, export, reproduce):
    app.add_command(command)
