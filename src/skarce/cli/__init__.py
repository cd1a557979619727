"""The command line: commands parse, call, and print; what they call knows nothing of a terminal."""

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
from skarce.comparison.registry import UnknownMethodError
from skarce.datasets import DataNotFoundError
from skarce.datasets.tables import TableError
from skarce.reproduce.runner.selection import UnknownExperimentError

EXPLAINED = (TableError, UnknownMethodError, ModelFileError, OutputError, DataNotFoundError, UnknownExperimentError)
INTERRUPTED = 130  # 128 + SIGINT, as shells have it


class OneLineError(click.ClickException):
    """Printed as ``Error: ...``, without the usage text."""

    exit_code = 2


class Application(click.Group):
    """A group whose commands end in one line and exit code 2 when the user can mend what is wrong."""

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
      skarce compare                                  on data that come with scikit-learn
      skarce compare houses.csv --target price        which method fits this table best?
      skarce fit houses.csv --target price --out houses.skops
      skarce predict houses.skops new_houses.csv --out predictions.csv
      skarce explain houses.skops
      skarce reproduce fgcv --quick                   a paper's experiments, our numbers beside its numbers
    """


for command in (compare, fit, predict, explain, reproduce):
    app.add_command(command)
