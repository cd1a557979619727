"""The command line: commands parse, call, and print; what they call knows nothing about a terminal."""

from __future__ import annotations

from typing import Any

import click

from skarce import __version__
from skarce.cli.comparing import compare
from skarce.cli.explaining import explain
from skarce.cli.fitting import fit
from skarce.cli.model_file import ModelFileError
from skarce.cli.predicting import predict
from skarce.cli.reproducing import reproduce
from skarce.cli.whole_file import OutputError
from skarce.comparison import TooFewRowsError, UnknownMethodError
from skarce.datasets import DataNotFoundError
from skarce.datasets.tables import TableError
from skarce.reproduce.runner.selection import UnknownExperimentError

EXPLAINED = (
    TableError,
    TooFewRowsError,
    UnknownMethodError,
    ModelFileError,
    OutputError,
    DataNotFoundError,
    UnknownExperimentError,
)  # errors whose message tells the user what to do
INTERRUPTED = 130  # 128 + SIGINT, as in shells


class OneLineError(click.ClickException):
    """Printed as ``Error: ...``, without the usage text."""

    exit_code = 2


class Application(click.Group):
    """A group whose commands end with one line and exit code 2 if the user can fix the problem."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            raise OneLineError(error.format_message()) from None
        except EXPLAINED as error:
            raise OneLineError(str(error)) from None
        except KeyboardInterrupt as interrupt:
            click.echo(str(interrupt) or "Interrupted; no file was written.", err=True)
            ctx.exit(INTERRUPTED)


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
      skarce reproduce fgcv --quick                   the experiments of a paper, our numbers next to its
    """


for command in (compare, fit, predict, explain, reproduce):
    app.add_command(command)
