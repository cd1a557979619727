"""A paper of two tiny experiments, its runs, and records made by hand."""

from sklearn.linear_model import LinearRegression, Ridge

from skarce.reproduce.runner.paper import Claim, Contender, Experiment, Paper
from skarce.reproduce.runner.records import Store
from skarce.reproduce.runner.run import Options, Run
from skarce.reproduce.runner.units import Record

FIXED = ("experiment", "repeat", "method", "settings", "tuned", "choice", "error", "n_functions")


def linear_data(rng):
    X = rng.normal(size=(60, 5)) * [1.0, 1.0, 1.0, 1.0, 10.0]
    y = X[:, 0] - 2.0 * X[:, 1] + rng.normal(size=60)
    return X[:40], y[:40], X[40:], y[40:]


RIDGE = Contender("ridge", "ridge regression", lambda gamma: Ridge(alpha=gamma), (0.01, 0.1, 1.0, 10.0))
PLAIN = Contender("plain", "least squares", lambda gamma: LinearRegression())
TINY = Paper(
    name="tiny",
    title="Tiny",
    reference="Nobody, Nothing",
    experiments=(Experiment("one", "First", 4, linear_data, "Made up."), Experiment("two", "Second", 2, linear_data)),
    contenders=(RIDGE, PLAIN),
    claims={"one": (Claim(("ridge", "plain"), 0.01, "ridge"),)},
    baseline="plain",
    time_ratios={"ridge": (1.0, 2.0)},
    more_functions=(("ridge", "plain"),),
)


def interrupted_after(n_records):
    """The class of a store that is interrupted when it has this many records."""

    class Interrupted(Store):
        def add(self, record):
            super().add(record)
            if len(self.records) == n_records:
                raise KeyboardInterrupt

    return Interrupted


def in_process(**options):
    return Options(n_jobs=1, **options)


def finished(tmp_path, paper=TINY, name="records.jsonl", **options):
    made = Run(paper, Store.open(tmp_path / name), in_process(**options))
    made.run()
    return made


def fixed(records):
    return [tuple(getattr(record, name) for name in FIXED) for record in records]


def record(repeat=0, method="ridge", error=1.0, experiment="one", **others):
    return Record(experiment, repeat, method, "", **{"tuned": True, "error": error, "n_functions": 3, "fit_seconds": 0.1, **others})


class Failing(LinearRegression):
    def fit(self, X, y):
        raise ValueError("never")
