"""Cases of estimators: a problem, an estimator with parameters, and calls."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from benchmarks.fuzz import oracles
from benchmarks.fuzz.calls import MISSING_X, Call, all_calls
from benchmarks.fuzz.faults import NOT_RUNNABLE, Fault, fault_of_exception
from benchmarks.fuzz.fingerprint import changed, fingerprints
from benchmarks.fuzz.names import import_lines, namespace
from benchmarks.fuzz.parameters import BASES, ESTIMATORS, TRANSFORMERS, default_of, draw_parameters
from benchmarks.fuzz.problems import LAYOUTS, X_SCALES, Y_SCALES, Problem, draw_problem, pick
from benchmarks.fuzz.watch import run_lines

CALLS_PER_CASE = 6
TASKS = {"RelevanceVectorClassifier": "classes", "VBLSClassifier": "classes", "RelevanceVectorPoissonRegressor": "counts"}
WITHOUT_BASIS = ("LWPRRegressor", "JointFactorRegressor")  # no joint distribution of predictions
WITHOUT_WEIGHTS = ("LWPRRegressor", "KernelDimensionReduction")
SUITS_ALL = re.compile("std|predict|pickle|fit again|interrupted|bad fit")
WITH_UNITS = ("noise_variance", "weight_variance", "penalty", "ridge", "initial_ridge", "criterion")
TAKES_MISSING = re.compile("OneHotEncoder|SimpleImputer")
# What may differ from fit to fit:
ACCIDENTAL = re.compile(r"centers=\d|RandomState|max_rows|n_starts|Nystroem|max_time|'columns'|param_distributions")
SMALLEST_SIGNAL = 20  # rows that show a signal


@dataclass(frozen=True)
class FitCase:
    """An estimator, its parameters as source code, a problem, and the names of calls after the fit."""

    estimator: str
    params: tuple[tuple[str, str], ...]
    problem: Problem
    calls: tuple[str, ...] = ()
    part: ClassVar[str] = "estimators"

    @property
    def title(self) -> str:
        return self.estimator

    @property
    def fit_arguments(self) -> str:
        return "X, y, sample_weight=w" if self.problem.has_weights else "X, y"

    def setup(self) -> list[str]:
        """The lines before the fit."""
        arguments = ", ".join(f"{name}={value}" for name, value in self.params)
        return [*self.problem.lines(), f"model = {self.estimator}({arguments})"]

    def snippet(self) -> str:
        """A short program that does what this case does."""
        calls = [all_calls(self.fit_arguments)[name].source for name in self.calls]
        lines = [*self.setup(), f"model.fit({self.fit_arguments})", *calls]
        return "\n".join([*import_lines("\n".join(lines)), *lines])

    def run(self) -> list[Fault]:
        """Run the fit and the calls, and return all faults."""
        names = namespace(self.snippet())
        if run_lines("\n".join(self.problem.lines()), names).error is not None:
            return [NOT_RUNNABLE]
        made = run_lines(self.setup()[-1], names)
        if made.error is not None:
            return [fault for fault in (fault_of_exception(made.error),) if fault]
        return list(_Attack(self, names).faults())

    def simpler(self) -> Iterator[FitCase]:
        """Cases with a little less in them, the boldest cuts first. All calls still suit them."""
        return (case for case in self._cuts() if all(case.suits(call) for call in case.calls))

    def suits(self, call: str) -> bool:
        """Whether the call exists for this estimator, and its check must hold for this case."""
        return _suits(all_calls(self.fit_arguments)[call], call, self)

    def _cuts(self) -> Iterator[FitCase]:
        if len(self.calls) > 1:
            yield replace(self, calls=())
            yield from (replace(self, calls=(call,)) for call in self.calls)
        elif self.calls:
            yield replace(self, calls=())
        for place in range(len(self.problem.twists)):
            yield self._with(twists=self.problem.twists[:place] + self.problem.twists[place + 1 :])
        for place, (name, value) in enumerate(self.params):
            yield replace(self, params=self.params[:place] + self.params[place + 1 :])
            for plainer in _plainer(value):
                yield replace(self, params=(*self.params[:place], (name, plainer), *self.params[place + 1 :]))
        n, d = self.problem.n_rows, self.problem.n_columns
        yield from (self._with(n_rows=size) for size in (1, 2, 3, 5, 10, 20, n // 2, n - 1) if 0 < size < n)
        yield from (self._with(n_columns=size) for size in (1, 2, d // 2, d - 1) if 0 < size < d)
        if self.problem.seed:
            yield self._with(seed=0)

    def _with(self, **changes: Any) -> FitCase:
        return replace(self, problem=replace(self.problem, **changes))

    @property
    def basis(self) -> str:
        """The source code of the basis, also if it is the default."""
        return dict(self.params).get("basis") or default_of(self.estimator, "basis")

    @property
    def has_transformer(self) -> bool:
        """Whether a transformer sees the data before we do."""
        text = self.setup()[-1]
        return any(transformer.partition("(")[0] + "(" in text for transformer in TRANSFORMERS) or "estimator" in dict(self.params)

    @property
    def has_clear_signal(self) -> bool:
        """Whether a model that has converged must have found the signal: the data are ordinary, but for their units."""
        ordinary, basis = {*X_SCALES, *Y_SCALES, *LAYOUTS, "X = X.astype(np.float32)"}, self.basis
        is_plain = not set(dict(self.params)) - {"basis"} and basis in ("'auto'", "'rbf'", "'passthrough'")
        is_linear = self.problem.base.startswith("y = X @") or basis != "'passthrough'"
        roomy = self.problem.n_rows >= SMALLEST_SIGNAL and self.problem.n_columns <= 2
        return is_plain and is_linear and roomy and set(self.problem.twists) <= ordinary and self.estimator not in TASKS


class _Attack:
    """One run of a case."""

    def __init__(self, case: FitCase, names: dict[str, Any]) -> None:
        self._case, self._names, self._model = case, names, names["model"]

    def faults(self) -> Iterator[Fault]:
        seen = yield from self._step(Call(f"model.fit({self._case.fit_arguments})"))
        if seen.error is not None:
            return
        used = "X" if self._case.estimator in BASES else "Xyw"  # a basis may do without targets
        if self._case.problem.must_be_refused(used) and not self._case.has_transformer:
            yield self._fault("bad data accepted", "; ".join(self._case.problem.twists)[:200])
            return
        found = [*self._wrong(oracles.check_fit(self._model, seen.seconds)), *self._signal_missed()]
        yield from found
        for name in () if found else self._case.calls:
            yield from self._called(name, all_calls(self._case.fit_arguments)[name])

    def _called(self, name: str, call: Call) -> Iterator[Fault]:
        self._names["__before__"] = fingerprints(self._model)
        seen = yield from self._step(call)
        if seen.error is None and call.must_raise and not self._case.has_transformer:
            yield self._fault("bad data accepted", call.source[:200])
        if seen.error is None and call.check is not None:
            place = name if call.kind == "answer" else self._case.estimator
            yield from (Fault(kind, place, detail) for kind, detail in call.check(self._names))

    def _step(self, call: Call) -> Iterator[Fault]:
        before = fingerprints(self._model)
        seen = run_lines(call.source, self._names)
        yield from seen.faults
        if seen.error is not None:
            fault = fault_of_exception(seen.error)
            if fault is not None:
                yield fault
            moved = [] if call.kind == "stream" else changed(before, fingerprints(self._model))
            if moved:
                yield Fault("a failed call changes the model", ", ".join(moved), call.source[:100])
        if not seen.keeps_numpy and "interrupted" not in call.source:  # Python can be interrupted inside any `with` statement
            yield self._fault("NumPy warns of other errors than before", call.source[:100])
        if seen.output and not self._is_loud():
            yield self._fault("output of a quiet fit", seen.output[:200])
        return seen

    def _signal_missed(self) -> Iterator[Fault]:
        if self._case.has_clear_signal:
            scored = run_lines("score = model.score(X, y)", self._names)
            if scored.error is None and not scored.faults:
                yield from self._wrong(oracles.check_signal(self._model, self._names["score"]))

    def _is_loud(self) -> bool:
        return "verbose" in self._case.setup()[-1] or "callback" in self._case.setup()[-1]

    def _wrong(self, pairs: Iterator[tuple[str, str]]) -> Iterator[Fault]:
        return (self._fault(kind, detail) for kind, detail in pairs)

    def _fault(self, kind: str, detail: str) -> Fault:
        return Fault(kind, self._case.estimator, detail)


def draw_fit(rng: Any) -> FitCase:
    """A random case."""
    estimator = pick(rng, BASES) if rng.random() < 0.05 else pick(rng, ESTIMATORS)
    params = draw_parameters(rng, estimator)
    problem = draw_problem(rng, TASKS.get(estimator, "numbers"))
    if estimator in WITHOUT_WEIGHTS:
        problem = replace(problem, twists=tuple(twist for twist in problem.twists if not twist.startswith("w =")))
    if "precomputed" in dict(params).get("basis", "") + dict(params).get("kernel", "") and rng.random() < 0.9:
        problem = replace(problem, twists=(*problem.twists, "X = X @ X.T"))
    if "max_iter" not in dict(params) and {("factorized", "True"), ("solver", "'em'")} & set(params):
        params = (*params, ("max_iter", "300"))  # these take thousands of steps, and a case has several fits
    case = FitCase(estimator, params, problem)
    known = all_calls(case.fit_arguments)
    names = [name for name in known if case.suits(name)]
    chosen = rng.choice(len(names), min(CALLS_PER_CASE, len(names)), replace=False)
    return replace(case, calls=tuple(names[place] for place in sorted(chosen)))


def _suits(call: Call, name: str, case: FitCase) -> bool:
    is_class, is_count = TASKS.get(case.estimator) == "classes", TASKS.get(case.estimator) == "counts"
    if case.estimator in BASES:
        return name.startswith("transform")
    if case.estimator in WITHOUT_BASIS and not SUITS_ALL.match(name):
        return False
    kinds = {"transform": False, "probabilities": is_class, "decision": is_class, "latent": is_class or is_count}
    kinds |= {"log probabilities": is_class, "covariance": not is_class and not is_count, "draws": not is_class}
    kinds |= {"std": not is_class, "augmented": not is_class and not is_count}
    first = name.partition(",")[0]
    if first in kinds:
        return kinds[first]
    text = case.setup()[-1]
    if name == "pickle":
        return "lambda" not in text
    if name == f"bad fit {MISSING_X}" and TAKES_MISSING.search(text):
        return False  # such a fit is a good one, and changes the model
    if name in ("fit again",) or name.startswith("interrupted"):
        return ACCIDENTAL.search(text) is None
    return call.kind != "invariance" or _is_invariant(name, case, text)


def _is_invariant(name: str, case: FitCase, text: str) -> bool:
    """Whether units, order and counts of rows must not matter: an ordinary problem, without numbers that have units."""
    basis, given = case.basis, {name: value for name, value in case.params if name != "basis"}
    ordinary = not case.problem.twists and case.problem.n_rows >= SMALLEST_SIGNAL
    if not ordinary or case.problem.n_columns > 5 or set(given) & {*WITH_UNITS, "max_time", "max_iter", "max_active", "tol"}:
        return False
    if name.startswith("target"):
        return case.estimator not in TASKS and case.estimator != "CriterionSearch" and ACCIDENTAL.search(text) is None
    if name.startswith("inputs"):
        return basis in ("'rbf'", "'passthrough'") and not given
    return basis == "'passthrough'" and not given


def _plainer(value: str) -> Iterator[str]:
    """Simpler source code in place of a value: a constructor with one argument less."""
    match = re.fullmatch(r"(\w+)\((.+)\)", value, re.DOTALL)
    if match is None:
        return
    arguments = _split(match[2])
    for place in range(len(arguments)):
        yield f"{match[1]}({', '.join(arguments[:place] + arguments[place + 1 :])})"


def _split(text: str) -> list[str]:
    """Arguments at the outer level: commas inside brackets do not separate them."""
    parts, depth, start = [], 0, 0
    for place, sign in enumerate(text):
        depth += (sign in "([{") - (sign in ")]}")
        if sign == "," and depth == 0 and "lambda" not in text[start:place].partition(":")[0]:
            parts.append(text[start:place].strip())
            start = place + 1
    return [*parts, text[start:].strip()]
