"""``skarce reproduce``: the experiments of a paper, with our numbers next to the printed ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import click

from skarce._progress import Quiet, progress
from skarce._whole_file import OutputError, check_output, replacing
from skarce.cli.rendering import say, show, text_table
from skarce.cli.streamed.progress import shown_progress
from skarce.reproduce.papers import PAPERS, find_paper
from skarce.reproduce.runner import page, pictures, report
from skarce.reproduce.runner.claims import verdict_line
from skarce.reproduce.runner.figures import can_draw
from skarce.reproduce.runner.findings import Finding, findings
from skarce.reproduce.runner.paper import Paper
from skarce.reproduce.runner.records import Store
from skarce.reproduce.runner.run import Options, Run
from skarce.reproduce.runner.selection import UnknownExperimentError, check_data, experiment_names, with_data
from skarce.reproduce.runner.summary_table import summary_table
from skarce.reproduce.runner.workers import LostProcessError

FIRST = 30.0  # seconds until the first line of progress if standard error is no terminal
RECORDS, RESULTS, TABLES = "records.jsonl", "results.json", "tables.md"
KNOWN = "".join(f"  {name:<{max(map(len, PAPERS))}} {title}\n" for name, title in PAPERS.items())
HELP = f"""Run the experiments of a paper, and show our numbers next to the printed ones.

This writes tables.md, results.json and pictures. There is one picture for each data set, or a few for all tasks of the paper
together. Each result is stored as soon as it is available, so the same command continues after an interrupt. Real data are read
from the folder that SKARCE_DATA names, or fetched from OpenML.

\b
Papers:
{KNOWN}
\b
Examples:
  skarce reproduce fgcv --quick
  skarce reproduce fgcv --budget 120
  skarce reproduce ssge --only kin8nm-64,kin8nm-1024
  skarce reproduce ssge --only 'kin8nm-*'
  skarce reproduce fgcv --only friedman2,friedman3 --repeats 20 --out friedman
"""


@click.command(help=HELP, short_help="Run the experiments of a paper, our numbers next to its own.")
@click.argument("paper", required=False)
@click.option("--quick", is_flag=True, help="Run few repeats, sizes and kernel widths, in two minutes.")
@click.option("--only", "names", help="Comma-separated experiments, or patterns such as kin8nm-*.  [default: all]")
@click.option("--repeats", type=click.IntRange(min=1), help="Number of repeats of every experiment.  [default: as in the paper]")
@click.option(
    "--budget",
    type=click.FloatRange(min=0.0),
    default=60.0,
    show_default=True,
    help="Time limit in minutes. To meet it, kernel widths are reused, then repeats are cut.",
)
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True, help="Random seed of the splits.")
@click.option("--jobs", type=click.IntRange(min=1), help="Number of processes.  [default: one per core]")
@click.option(
    "--out", type=click.Path(path_type=Path), help="Output folder.  [default: results/reproduce/PAPER, or PAPER-quick with --quick]"
)
@click.option("--fresh", is_flag=True, help="Delete the results that are already in the folder.")
def reproduce(
    paper: str | None,
    quick: bool,
    names: str | None,
    repeats: int | None,
    budget: float,
    seed: int,
    jobs: int | None,
    out: Path | None,
    fresh: bool,
) -> None:
    if paper is None:
        raise UnknownExperimentError(f"no paper was named; choose from {', '.join(PAPERS)}.")
    found = find_paper(paper, quick)
    whole = [experiment.name for experiment in find_paper(paper, False).experiments] if quick else []
    chosen = experiment_names(found, None if names is None else names.split(","), elsewhere=whole)
    folder = out or Path("results", "reproduce", f"{paper}-quick" if quick else paper)
    _check_folder(folder)
    if names is None:
        chosen = _available(found, chosen, seed)
    else:
        check_data(found, chosen, seed)
    store = _open(folder / RECORDS, fresh)
    run = Run(found, store, Options(seed, repeats, 60.0 * budget, jobs or -1), chosen)
    _run_to_the_end(run, folder, quick)
    n_failed = sum(record.failure is not None for record in run.records())
    if n_failed:
        say(f"{n_failed} fits failed; see {folder / RESULTS} for the reasons.")
        click.get_current_context().exit(1)


def _available(paper: Paper, names: list[str], seed: int) -> list[str]:
    """The experiments that have data. Say which ones are left out because they have none."""
    ready, missing = with_data(paper, names, seed)
    if missing:
        say(f"{missing} {len(names) - len(ready)} of {len(names)} experiments are left out.")
    return ready


def _check_folder(folder: Path) -> None:
    """Create the folder if needed, and refuse one in which the files cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the name
        raise OutputError(f"{folder} cannot be written: {getattr(error, 'strerror', None) or error}.") from None
    for path in (folder / RECORDS, folder / RESULTS, folder / TABLES, *folder.glob("*.png")):
        check_output(path)


def _open(path: Path, fresh: bool) -> Store:
    """Open the records."""
    try:
        if fresh:
            path.unlink(missing_ok=True)
        path.open("ab").close()
        return Store.open(path)
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror or error}.") from None


def _run_to_the_end(run: Run, folder: Path, quick: bool) -> None:
    """Run and write all files. After an interrupt, write the tables of the results so far and say how to continue."""
    n_before = len(run.records())
    if n_before:
        say(f"{n_before} results are already in {folder}; continuing from there.")
    try:
        with _progress() as on_progress:
            run.run(on_progress)
        _write(run, folder, quick, draw=True)
    except KeyboardInterrupt as interrupt:
        _write(run, folder, quick, draw=False)
        interrupt.args = (f"Interrupted; {_kept(run, folder)}",)
        raise
    except LostProcessError as error:
        _write(run, folder, quick, draw=False)
        raise OutputError(f"{error} {_kept(run, folder)}") from None


def _kept(run: Run, folder: Path) -> str:
    return f"{len(run.records())} results are in {folder}. The same command continues from there."


def _write(run: Run, folder: Path, quick: bool, *, draw: bool) -> None:
    """Write all files, and print the tables."""
    records = run.records()
    found = findings(run.paper, records)
    _write_text(folder / RESULTS, report.results_json(run, records, quick))
    drawn = _draw(run, folder) if draw else []
    _write_text(folder / TABLES, page.markdown(run.paper, found, report.facts(run, quick), drawn))
    if draw:
        _show(run.paper, found)
        say(f"Written to {folder}: {', '.join([TABLES, RESULTS, *drawn])}")


def _draw(run: Run, folder: Path) -> list[str]:
    if not can_draw():
        say('Pictures were left out because matplotlib is not installed; run pip install ".[plot]" in the folder of the source.')
        return []
    return pictures.draw_all(run.paper, run.records(), folder)


def _write_text(path: Path, text: str) -> None:
    with replacing(path) as draft:
        draft.write_text(text, encoding="utf-8")


def _show(paper: Paper, found: Sequence[Finding]) -> None:
    for part in paper.overview(found) if paper.overview else ():
        show(part, "")
    for finding in found if paper.in_detail else ():
        title = f"{finding.experiment.title}: {page.repeats_line(finding)}"
        show(text_table(title, *summary_table(finding, on_screen=True)))
    counts = verdict_line(found)
    if counts:
        show(counts)


@contextmanager
def _progress() -> Iterator[Callable[[int, int], None]]:
    """Progress of a run: call the function with the number of finished results, and of all results, which may change."""
    parts: list[Quiet] = []
    with ExitStack() as stack:
        stack.enter_context(shown_progress(first=FIRST))

        def on_progress(done: int, total: int) -> None:
            if not parts:
                parts.append(stack.enter_context(progress("Running", total, "results", done=done)))
            parts[0].expect(total)
            parts[0].to(done)

        yield on_progress
