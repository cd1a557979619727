"""What `verbose` prints about the learning of kernel widths."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skarce import EvidenceRegressor, KernelBasis, RelevanceVectorClassifier, RelevanceVectorRegressor
from skarce.estimators.width_report import MOST_WIDTHS
from skarce.model_selection import learn_widths


def table(n_inputs=3):
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (60, n_inputs))
    return X, np.sin(2 * X[:, 0]) + rng.normal(0, 0.1, 60)


def lines_of(capsys):
    lines = capsys.readouterr().err.splitlines()
    return [line for line in lines if line.startswith("widths")], [line for line in lines if line.startswith("kernel")]


def climbs_of(lines):
    return [int(re.search(r"climb (\d+)", line)[1]) for line in lines]


def test_one_line_for_the_kernel_that_won_and_none_for_climbs(capsys):
    X, y = table()
    model = RelevanceVectorRegressor(verbose=1).fit(pd.DataFrame(X, columns=["width", "height", "depth"]), y)
    climbs, (end,) = lines_of(capsys)
    assert climbs == []
    assert end.startswith(f"kernel {model.basis_.kernel_}  log evidence ")
    widths = ", ".join(f"{name} {gamma:.4g}" for name, gamma in zip(["width", "height", "depth"], model.basis_.gamma_, strict=True))
    assert end.endswith(f"gamma: {widths}")


def test_the_last_line_has_the_log_evidence_that_was_learned(capsys):
    X, y = table()
    EvidenceRegressor(KernelBasis("matern32", gamma="evidence"), verbose=1).fit(X, y)
    learned = learn_widths(X, y, gamma="evidence", kernel="matern32")
    _, ends = lines_of(capsys)
    assert ends == [f"kernel matern32  log evidence {learned.log_evidence:.3f}  gamma: {learned.gamma:.4g}"]


def test_verbose_two_prints_every_iteration(capsys):
    X, y = table()
    progress = []
    learn_widths(X, y, callback=progress.append)
    RelevanceVectorRegressor(KernelBasis(gamma="ard"), verbose=2).fit(X, y)
    climbs, ends = lines_of(capsys)
    assert climbs_of(climbs) == [one.start for one in progress]
    assert len(ends) == 1


@pytest.mark.parametrize("n_inputs", [MOST_WIDTHS, MOST_WIDTHS + 3])
def test_many_widths_are_cut_short(capsys, n_inputs):
    RelevanceVectorRegressor(verbose=1).fit(*table(n_inputs))
    _, (end,) = lines_of(capsys)
    assert f"x{MOST_WIDTHS - 1} " in end
    assert f"x{MOST_WIDTHS} " not in end
    assert end.endswith(" and 3 more in basis_.gamma_") == (n_inputs > MOST_WIDTHS)


def test_kernels_in_a_pipeline_and_classes_report_too(capsys):
    X, y = table()
    frame = pd.DataFrame(X, columns=["width", "height", "depth"])
    EvidenceRegressor(make_pipeline(StandardScaler(), KernelBasis(gamma="ard")), verbose=1).fit(frame, y)
    _, (end,) = lines_of(capsys)
    assert "gamma: x0 " in end
    RelevanceVectorClassifier(verbose=1).fit(frame, y > 0)
    _, (end,) = lines_of(capsys)
    assert "gamma: width " in end


def test_nothing_is_printed_without_verbose(capsys):
    RelevanceVectorRegressor().fit(*table())
    assert capsys.readouterr().err == ""
