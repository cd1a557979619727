"""Progress: lines for log files, bars in a real terminal, and what each part of a fit tells."""

import io
import os
import sys
import threading

import numpy as np
import pytest
from sklearn.preprocessing import SplineTransformer

from skarce import (
    CriterionSearch,
    FastGCVRegressor,
    JointFactorRegressor,
    KernelBasis,
    KernelDimensionReduction,
    KernelMatchingPursuitClassifier,
    KernelMatchingPursuitRegressor,
    LWPRRegressor,
    PrimalSVMClassifier,
    RelevanceVectorClassifier,
    RelevanceVectorRegressor,
    VBLSClassifier,
    VBLSRegressor,
)
from skarce import _progress as module
from skarce._parallel import for_each
from skarce._progress import FIRST, LONG, LONGEST, QUIET, Bars, Lines, Watcher, counted, one_pass, progress, shown, watched
from skarce.basis.candidates import project_near
from skarce.basis.near import Tile
from skarce.basis.transformers import candidates_of
from skarce.designs import RowBlocks
from skarce.moments.near_sums import tiles_for_sums
from skarce.moments.passes import Block, sums_over


class Clock:
    """Seconds that pass when the test says so."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class Everything(Watcher):
    """Sees every step of every part."""

    due = -np.inf

    def __init__(self):
        self.open, self.ended, self.steps = [], [], []

    def begin(self, part):
        self.open.append(part)

    def show(self, part, now):
        self.steps.append((part.label, part.done, part.text(now)))

    def end(self, part, *, is_whole, now):
        self.open.remove(part)
        if is_whole:  # a pass that was given up after a look at the first block is not
            self.ended.append((part.label, part.done, part.total, part.unit, len(self.open)))

    def of(self, label):
        return [part for part in self.ended if part[0] == label]


def lines_and_clock():
    clock, said = Clock(), []
    return Lines(said.append, clock), clock, said


def table(n=60, d=2):
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (n, d))
    return X, np.sin(2 * X[:, 0]) + rng.normal(0, 0.1, n)


# Lines -----------------------------------------------------------------------------------------------------------------------


def test_lines_come_at_growing_intervals():
    screen, clock, said = lines_and_clock()
    times = []
    with watched(screen), progress("adding up", 10_000, "rows", clock=clock) as part:
        for clock.now in np.arange(0.0, 1000.0, 0.1):
            before = len(said)
            part.to(int(10 * clock.now))
            times += [clock.now] * (len(said) - before)
    gaps = np.diff(times)
    assert times[0] == pytest.approx(FIRST)
    assert (np.diff(gaps) > -0.2).all()
    assert gaps.max() <= LONGEST + 0.2
    assert len(times) < 30
    assert len(said) == len(times) + 1


def test_a_line_has_the_count_the_rate_and_the_time_left():
    screen, clock, said = lines_and_clock()
    with watched(screen), progress("adding up", 40_000, "rows", clock=clock, done=10_000) as part:
        clock.now = 10.0
        part.to(30_000)
        part.to(40_000)
    assert said == [
        "adding up: 30,000 of 40,000 rows (75%), 2,000 rows/s, 10 s so far, 5.0 s left",
        "adding up: 30,000 rows in 10 s, 3,000 rows/s",
    ]


def test_a_limit_is_no_total():
    screen, clock, said = lines_and_clock()
    with watched(screen), progress("searching", unit="steps", at_most=1000, clock=clock) as part:
        for clock.now, done in ((5.0, 99), (10.0, 100)):
            part.to(done, lambda: "7 functions")
    assert said[:2] == [
        "searching: 99 steps, 7 functions, 5.0 s so far",
        "searching: 100 of at most 1,000 steps, 7 functions, 10 s so far",
    ]


def test_a_time_limit_tells_how_long_it_takes_at_most(monkeypatch):
    screen, clock, said = lines_and_clock()
    monkeypatch.setattr(module.time, "monotonic", clock)
    with watched(screen), progress("searching", unit="steps", deadline=200.0, clock=clock) as part:
        clock.now = 80.0
        part.to(3)
    assert said[0] == "searching: 3 steps, 80 s so far, at most 2 min left"


def test_parts_inside_of_parts_name_the_way_and_leave_no_line():
    screen, clock, said = lines_and_clock()
    with watched(screen), progress("leaving out", 5, "folds", clock=clock) as outer:
        outer.step(2)
        with progress("searching", unit="steps", clock=clock) as inner:
            clock.now = 4.0
            inner.step()
    assert said == ["leaving out 2 of 5 > searching: 1 steps, 4.0 s so far", "leaving out: 2 folds in 4.0 s"]


def test_short_parts_leave_no_line():
    screen, clock, said = lines_and_clock()
    with watched(screen), progress("searching", unit="steps", clock=clock) as part:
        clock.now = 0.9 * FIRST
        part.step()
    assert said == []


def test_an_error_in_the_middle_leaves_nothing_behind():
    screen, _, said = lines_and_clock()

    def broken():
        yield 1
        raise OSError("disk")

    def wait(size):
        screen.due = 0.0
        return size

    with pytest.raises(OSError, match="disk"), watched(screen):
        list(counted(broken(), wait, "reading", 3, "rows"))
    assert screen.parts == []
    (line,) = said
    assert line.startswith("reading: 1 of 3 rows (33%)")
    assert progress("later") is QUIET


def test_nobody_watches_without_verbose_or_in_another_thread(capsys):
    with shown(0):
        assert progress("searching") is QUIET
    with shown(1):
        assert progress("searching") is not QUIET
        seen = []
        thread = threading.Thread(target=lambda: seen.append(progress("searching")))
        thread.start()
        thread.join()
        assert seen == [QUIET]
    with QUIET as part:
        part.to(1)
        part.step()
    assert capsys.readouterr() == ("", "")


def test_a_screen_that_is_open_is_used():
    with shown(1):
        (screen,) = module._watchers.get()
        with shown(2):
            assert module._watchers.get() == (screen,)
    assert module._watchers.get() == ()


# Parts of a fit --------------------------------------------------------------------------------------------------------------


def seen_in(work):
    watcher = Everything()
    with watched(watcher):
        work()
    assert watcher.open == []
    return watcher


def test_a_default_fit_tells_widths_search_and_folds():
    seen = seen_in(lambda: RelevanceVectorRegressor(calibrate_std=True).fit(*table()))
    tops = [part for part in seen.ended if part[-1] == 0]
    assert [part[0] for part in tops] == ["learning widths", "searching", "leaving out"]
    assert tops[0][1] > 10
    assert tops[2][1:4] == (5, 5, "folds")
    assert len(seen.of("searching")) == 6
    assert any("log evidence" in text for label, _, text in seen.steps if label == "learning widths")


def test_the_search_tells_its_steps_functions_and_criterion():
    models = []
    seen = seen_in(lambda: models.append(FastGCVRegressor("rbf", calibrate_std=False).fit(*table())))
    (model,) = models
    (part,) = seen.of("searching")
    assert part[1] >= model.n_iter_ > 0
    last = [text for label, _, text in seen.steps if label == "searching"][-1]
    assert f"criterion {model.trace_['criterion'][-1]:.6g}" in last
    assert f"{model.trace_['n_active'][-1]} functions" in last


CLASSIFIERS = [
    VBLSClassifier("passthrough"),
    RelevanceVectorClassifier("rbf", calibrate_proba=False),
    PrimalSVMClassifier("rbf", calibrate_proba=False),
    KernelMatchingPursuitClassifier("rbf", calibrate_proba=False),
]


@pytest.mark.parametrize("model", CLASSIFIERS)
def test_classifiers_tell_their_search(model):
    X, y = table()
    seen = seen_in(lambda: model.fit(X, y > 0))
    assert sum(done for _, done, *_ in seen.of("searching")) >= model.n_iter_ > 0


def test_a_pursuit_with_outliers_tells_its_search():
    model = KernelMatchingPursuitRegressor("rbf", loss="huber", patience=2, calibrate_std=False)
    seen = seen_in(lambda: model.fit(*table()))
    assert sum(done for _, done, *_ in seen.of("searching")) >= model.n_iter_ > 0


def test_local_models_tell_how_many_rows_they_have_learned():
    X, y = table(90)
    model = LWPRRegressor(n_passes=3)
    tops = [part[:4] for part in seen_in(lambda: model.fit(X, y)).ended if part[-1] == 0]
    assert tops == [("choosing the width of fields", 6, 6, "widths"), ("learning", 270, 270, "rows")]
    tops = [part[:4] for part in seen_in(lambda: model.partial_fit(X, y)).ended if part[-1] == 0]
    assert tops == [("learning", 90, 90, "rows")]


def test_noise_with_outliers_tells_its_rounds():
    seen = seen_in(lambda: VBLSRegressor("passthrough", noise="student-t").fit(*table()))
    assert len(seen.of("weighing rows")) >= 1
    assert seen.of("searching")[0][-1] == 1


@pytest.mark.usefixtures("rows_in_passes")
def test_newton_steps_are_passes_over_all_rows():
    X, y = table(300)
    basis = KernelBasis(gamma=0.5, centers=X[::30])
    seen = seen_in(lambda: RelevanceVectorClassifier(basis).fit(RowBlocks.from_arrays(X, y > 0, block_rows=100)))
    (newton,), (last,) = seen.of("Newton steps"), seen.of("last steps")
    assert newton[1] >= 2
    assert last[1] >= 1
    inside = [part for part in seen.of("adding up") if part[-1] == 1]
    assert len(inside) == newton[1] + last[1]
    assert {part[1:4] for part in seen.of("adding up")} == {(300, 300, "rows")}


def long_from_now_on(monkeypatch):
    monkeypatch.setattr(module, "LONG", 0.0)


def passes(compute):
    everything = Everything()
    with watched(everything):
        compute()
    return everything


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("gamma", [0.5, 1e5])  # narrow kernels are added up tile by tile
def test_sums_over_rows_in_memory_tell_how_many_rows_they_have(monkeypatch, n_threads, gamma):
    long_from_now_on(monkeypatch)
    monkeypatch.setattr("skarce._parallel.n_cores", lambda: n_threads)
    monkeypatch.setattr("skarce.moments.passes.BLOCK_BYTES", 2**22)
    X, y = np.linspace(0, 1, 4_000)[:, None], np.zeros((4_000, 1))
    block = Block(candidates_of(KernelBasis(gamma=gamma, centers=X[::4]).fit(X), X).on(X), y)
    assert (tiles_for_sums(block.evaluation, None) is not None) == (gamma > 1.0)
    seen = passes(lambda: sums_over(lambda: (block,)))
    assert seen.ended == [("adding up", 4_000, 4_000, "rows", 0)]
    assert len(seen.steps) > 1


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize(("kernel", "gamma", "n_centers"), [("rbf", 0.5, 700), ("matern52", 0.5, 700), ("matern52", 0.5, 1_000)])
def test_a_pass_over_functions_tells_its_blocks(monkeypatch, n_threads, kernel, gamma, n_centers):
    """Compiled, in blocks of columns, or symmetric: whichever way it takes, all of its blocks are counted."""
    long_from_now_on(monkeypatch)
    monkeypatch.setattr("skarce._parallel.n_cores", lambda: n_threads)
    X = np.linspace(0, 1, 1_000)[:, None]
    basis = KernelBasis(kernel, gamma=gamma, centers=None if n_centers == 1_000 else X[:n_centers]).fit(X)
    evaluation = candidates_of(basis, X).on(X)
    seen = passes(lambda: evaluation.project(np.ones((1_000, 1))))
    ((label, done, total, unit, _),) = seen.ended
    assert (label, unit) == ("evaluating functions", "blocks")
    assert done == total > 1


def test_a_pass_over_tiles_tells_its_blocks(monkeypatch):
    long_from_now_on(monkeypatch)
    X = np.linspace(0, 1, 500)[:, None]
    evaluation = candidates_of(KernelBasis(gamma=1e4, centers=X[::5]).fit(X), X).on(X)
    tiles = [Tile(np.arange(start, start + 100), np.arange(100)) for start in range(0, 500, 100)]
    seen = passes(lambda: project_near(evaluation, tiles, np.ones((500, 1)), None))
    assert ("evaluating functions", 5, 5, "blocks", 0) in seen.ended


@pytest.mark.parametrize("transformer", ["passthrough", SplineTransformer()])
def test_a_pass_over_other_functions_is_told_too(monkeypatch, transformer):
    long_from_now_on(monkeypatch)
    X = np.random.default_rng(0).normal(size=(40_000, 3))
    fitted = transformer if isinstance(transformer, str) else transformer.fit(X)
    ((_, done, total, _, _),) = passes(lambda: candidates_of(fitted, X).on(X).project(np.ones((40_000, 1)))).ended
    assert done == total > 1


def test_rows_that_are_counted_already_are_not_told_twice(monkeypatch):
    long_from_now_on(monkeypatch)
    said = []
    with watched(Lines(said.append, first=0.0)), progress("adding up", 100, "rows") as part:
        assert one_pass("adding up", 10, "rows", 1.0) is QUIET
        part.to(100)
    with watched(Lines(said.append, first=0.0)), progress("searching", unit="steps"):
        assert one_pass("evaluating functions", 10, "blocks", 1.0) is not QUIET


def test_short_passes_are_quiet():
    with watched(Everything()):
        assert one_pass("adding up", 10, "rows", LONG - 1.0) is QUIET
        assert one_pass("adding up", 10, "rows", LONG) is not QUIET
    assert one_pass("adding up", 10, "rows", LONG) is QUIET


def test_threads_that_share_a_part_lose_no_step():
    with watched(Everything()), progress("adding up", 40_000, "rows") as part:
        for_each(lambda worker: [part.step() for _ in range(10_000)], range(4), operations=np.inf)
    assert part.done == 40_000


@pytest.mark.parametrize("rule", ["cv", "bic"])
def test_factors_tell_what_they_try(capsys, rule):
    X, y = table(200, 5)
    seen = passes(lambda: JointFactorRegressor(rule).fit(X, y))
    ((_, done, total, unit, _),) = seen.of("choosing the number of factors")
    assert done == total > 1
    assert unit == "models"
    assert seen.of("fitting factors")
    JointFactorRegressor(rule).fit(X, y)
    assert capsys.readouterr().err == ""


def test_directions_tell_their_starts():
    X, y = table(120, 4)
    seen = passes(lambda: KernelDimensionReduction(n_starts=3).fit(X, y))
    assert seen.of("choosing the number of directions")[0][1] >= 3
    assert seen.of("searching for directions")[-1][1:] == (3, 3, "starts", 0)


@pytest.mark.parametrize("model", [JointFactorRegressor(verbose=1), KernelDimensionReduction(verbose=1, n_starts=2)])
def test_factors_and_directions_open_a_screen(monkeypatch, capsys, model):
    monkeypatch.setattr(module, "Lines", lambda: Lines(first=0.0))
    model.fit(*table(80, 4))
    assert "choosing the number of" in capsys.readouterr().err


def test_candidates_of_a_search_are_counted(capsys):
    search = CriterionSearch(FastGCVRegressor("rbf", calibrate_std=True), {"basis__gamma": [0.1, 1.0]})
    seen = seen_in(lambda: search.fit(*table()))
    assert seen.of("fitting candidates") == [("fitting candidates", 2, 2, "candidates", 0)]
    assert seen.of("leaving out")[0][-1] == 1
    assert capsys.readouterr().err == ""


# Rows ------------------------------------------------------------------------------------------------------------------------


def test_parquet_files_tell_how_many_rows_they_have(tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    X, y = table(500)
    for name, rows in (("a", slice(0, 120)), ("b", slice(120, 120)), ("c", slice(120, 500))):
        parquet.write_table(pa.table({"x": X[rows, 0], "y": y[rows]}), tmp_path / f"{name}.parquet")
    blocks = RowBlocks.from_parquet(tmp_path, target="y", batch_rows=64)
    assert blocks.n_rows == 500
    seen = seen_in(lambda: RelevanceVectorRegressor("passthrough").fit(blocks))
    assert [part[0] for part in seen.ended if part[-1] == 0][:2] == ["sampling", "adding up"]
    assert {part[1:4] for part in seen.ended if part[3] == "rows"} == {(500, 500, "rows")}
    assert RowBlocks.from_arrow(pa.table({"x": X[:, 0], "y": y}), target="y").n_rows is None


def test_the_number_of_rows_is_known_after_the_first_whole_pass():
    X, y = table(90)
    blocks = RowBlocks(lambda: ((X[start : start + 30], y[start : start + 30]) for start in (0, 30, 60)))
    next(iter(blocks))
    assert blocks.n_rows is None
    seen = seen_in(lambda: RelevanceVectorRegressor("passthrough").fit(blocks))
    assert seen.of("sampling") == [("sampling", 90, None, "rows", 0)]
    assert {part[1:] for part in seen.of("adding up")} == {(90, 90, "rows", 0)}
    assert blocks.n_rows == 90


def test_partitions_of_dask_are_counted():
    dask = pytest.importorskip("dask")
    array = pytest.importorskip("dask.array")
    X, y = table(200)
    data = array.from_array(X, chunks=(20, 2)), array.from_array(y, chunks=20)
    with dask.config.set(scheduler="synchronous"):
        seen = seen_in(lambda: RelevanceVectorRegressor("passthrough").fit(*data))
    assert seen.of("sampling") == [("sampling", 10, 10, "partitions", 0)]
    assert ("adding up", 10, 10, "partitions", 0) in seen.ended


# A terminal ------------------------------------------------------------------------------------------------------------------


class Terminal:
    """A pseudo-terminal in place of standard error. What is written there is read by a thread."""

    def __init__(self, monkeypatch):
        import pty

        self._master, slave = pty.openpty()
        self.file = os.fdopen(slave, "w")
        self._read = []
        self._thread = threading.Thread(target=self._drain, daemon=True)
        self._thread.start()
        monkeypatch.setattr(sys, "stderr", self.file)
        for name, value in (("TERM", "xterm"), ("COLUMNS", "120"), ("LINES", "30")):
            monkeypatch.setenv(name, value)

    def _drain(self):
        try:
            while data := os.read(self._master, 4096):
                self._read.append(data)
        except OSError:  # how Linux tells that the other end is closed
            pass

    def text(self):
        self.file.close()
        self._thread.join(10.0)
        os.close(self._master)
        return b"".join(self._read).decode()


def terminal_of(monkeypatch):
    """Open a terminal. This is no fixture, because pytest sets standard error again between setup and test."""
    pytest.importorskip("termios")
    pytest.importorskip("rich")
    return Terminal(monkeypatch)


def assert_clean(terminal):
    """The terminal is as it was: the cursor is visible, nobody owns it, and standard error is the file itself."""
    assert sys.stderr is terminal.file
    assert module._watchers.get() == ()
    assert not module._terminal.locked()
    text = terminal.text()
    assert text.rfind("\x1b[?25h") > text.rfind("\x1b[?25l")
    return text


def test_a_terminal_shows_bars_and_lines_above_them(monkeypatch):
    terminal = terminal_of(monkeypatch)
    with shown(1), progress("adding up", 4, "rows") as outer:
        outer.to(1)
        with progress("searching", unit="steps") as inner:
            outer.to(2)  # too early to be drawn
            module._watchers.get()[0].due = 0.0
            inner.to(1, lambda: "3 functions")
            print("a line that stays", file=sys.stderr)
        another = []
        thread = threading.Thread(target=lambda: another.append(screen_of_this_thread()))
        thread.start()
        thread.join()
        assert another == [Lines]
    text = assert_clean(terminal)
    assert "adding up" in text
    assert "2 of 4 rows (50%)" in text
    assert "3 functions" in text
    assert "a line that stays" in text


def screen_of_this_thread():
    with shown(1):
        return type(module._watchers.get()[0])


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_an_interrupted_fit_leaves_the_terminal_and_the_model_as_they_were(monkeypatch, error):
    terminal = terminal_of(monkeypatch)
    X, y = table(90)
    model = RelevanceVectorRegressor("passthrough", verbose=1).fit(RowBlocks.from_arrays(X, y))
    before = dict(vars(model))

    def read():
        yield X[:30], y[:30]
        raise error

    with pytest.raises(error):
        model.fit(RowBlocks(read))
    assert vars(model) == before
    assert "sampling" in assert_clean(terminal)


def test_a_dumb_terminal_gets_lines(monkeypatch):
    terminal = terminal_of(monkeypatch)
    assert screen_of_this_thread() is Bars
    monkeypatch.setenv("TERM", "dumb")
    assert screen_of_this_thread() is Lines
    assert_clean(terminal)


def test_a_file_gets_lines(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert screen_of_this_thread() is Lines
