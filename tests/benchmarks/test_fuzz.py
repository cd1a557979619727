"""The fuzz harness: a short run over skarce, and proof that it sees, ends and shrinks what is broken."""

import multiprocessing
from itertools import chain

import pytest

from benchmarks.fuzz import __main__ as fuzz
from benchmarks.fuzz import problems
from benchmarks.fuzz.faults import NOT_RUNNABLE
from benchmarks.fuzz.fits import FitCase
from benchmarks.fuzz.names import import_lines, namespace
from benchmarks.fuzz.parameters import BASES, ESTIMATORS, parameters_of, values_of
from benchmarks.fuzz.problems import Problem
from benchmarks.fuzz.shrink import shrink
from benchmarks.fuzz.watch import run_lines
from benchmarks.fuzz.workers import NO_END, Pool, run_case
from tests.benchmarks import broken, jobs

ORDINARY = Problem("y = X @ np.ones(X.shape[1]) + 0.01 * rng.normal(size=len(X))", 30, 2)
N_FITS, N_FILES = 60, 30
SECONDS = 60.0  # for a case that ends in a fraction of a second on an idle machine


def kinds_of(estimator, calls=(), params=(), problem=ORDINARY):
    return {fault.kind for fault in FitCase(estimator, params, problem, calls).run()}


# A short run -----------------------------------------------------------------------------------------------------------------


def test_no_fault_in_a_short_run():
    given = fuzz.parse_arguments(["--fits", str(N_FITS), "--files", str(N_FILES), "--seed", "0"])
    with Pool(run_case, 1, SECONDS) as pool:
        results = list(pool.run(fuzz.cases(given)))
    assert len(results) == N_FITS + 2 * N_FILES
    assert sum(NOT_RUNNABLE in faults for _, faults in results) < 0.1 * len(results)
    found = [f"{fault}\n{case.snippet()}" for case, faults in results for fault in faults if fault != NOT_RUNNABLE]
    assert not found, f"{len(found)} faults; python -m benchmarks.fuzz makes them shorter.\n\n" + "\n\n".join(found)


@pytest.mark.parametrize("part", list(fuzz.PARTS))
def test_cases_can_be_drawn_again_and_are_programs(part):
    for number in range(200):
        case = fuzz.draw(part, 5, number)
        assert case == fuzz.draw(part, 5, number)
        compile(case.snippet(), "snippet", "exec")


def test_the_imports_of_a_snippet_are_those_that_it_needs():
    assert import_lines("X = np.ones(3)\nmodel = CriterionSearch(KernelBasis())") == [
        "from skarce import CriterionSearch, KernelBasis",
        "import numpy as np",
    ]


@pytest.mark.parametrize("name", [*ESTIMATORS, *BASES])
def test_every_parameter_has_values(name):
    missing = [parameter for parameter in parameters_of(name) if values_of(name, parameter) is None]
    assert not missing, f"add values for {missing} to benchmarks/fuzz/parameters.py"


@pytest.mark.parametrize("task", list(problems.BASES))
def test_every_line_that_changes_a_problem_runs(task):
    lists = (
        problems.STRUCTURE,
        problems.X_SCALES,
        problems.TARGETS[task],
        problems.WEIGHTS,
        problems.BAD_WEIGHTS,
        problems.LAYOUTS,
    )
    numbers = (problems.Y_SCALES, problems.KINDS_OF_NUMBERS, problems.REFUSED) if task == "numbers" else ()
    for base in problems.BASES[task]:
        for twist in chain(*lists, *numbers):
            source = "\n".join(Problem(base, 12, 3, twists=(twist,)).lines())
            assert run_lines(source, namespace(source)).error is None, source


@pytest.mark.parametrize("name", [*ESTIMATORS, *BASES])
def test_every_value_of_a_parameter_is_an_expression(name):
    for parameter in parameters_of(name):
        values = values_of(name, parameter)
        for value in (*values.usual, *values.odd):
            source = "\n".join([*ORDINARY.lines(), f"value = {value}"])
            error = run_lines(source, namespace(source)).error
            assert error is None or (value in values.odd and isinstance(error, (ValueError, TypeError))), source


# Every oracle can fail ------------------------------------------------------------------------------------------------------


def test_an_estimator_without_faults_passes():
    calls = (
        "predict, training rows",
        "std, far",
        "fit again",
        "pickle",
        "target times 2.0**40",
        "bad fit np.ones((3, 1)), [1.0, 2.0]",
    )
    assert kinds_of("RelevanceVectorRegressor", calls) == set()


@pytest.mark.parametrize(
    ("estimator", "kind", "calls"),
    [
        ("WarnsByNumpy", "RuntimeWarning", ()),
        ("HasNaN", "dual_coef_ is not finite", ()),
        ("PredictsNaN", "prediction is not finite", ("predict, zeros",)),
        ("PredictsInfiniteStd", "std is not finite", ("std, training rows",)),
        ("DividesByZero", "ZeroDivisionError", ()),
        ("RaisesFromLinearAlgebra", "LinAlgError", ()),
        ("RaisesFromNumpy", "unchecked ValueError", ()),
        ("RaisesWithoutMessage", "ValueError without a message", ()),
        ("RaisesWithLongMessage", "ValueError with a long message", ()),
        ("SilencesNumpy", "NumPy warns of other errors than before", ()),
        ("Prints", "output of a quiet fit", ()),
        ("IgnoresMaxIter", "max_iter exceeded", ()),
        ("IgnoresMaxActive", "max_active exceeded", ()),
        ("ChangesBeforeItFails", "a failed call changes the model", ("bad fit np.ones((3, 1)), [1.0, 2.0]",)),
        ("ChangesBeforeItFails", "interrupt leaves neither the old model nor the new one", ("interrupted after 1000",)),
        ("FindsNothing", "signal missed", ()),
        ("DependsOnUnits", "the unit of the target changes the prediction", ("target times 2.0**40",)),
        ("DependsOnChance", "fitting again changes the prediction", ("fit again",)),
        ("ForgetsWhenPickled", "pickle changes the prediction", ("pickle",)),
    ],
)
def test_a_broken_estimator_is_seen(estimator, kind, calls):
    assert kinds_of(estimator, calls) == {kind}


def test_a_time_limit_that_is_ignored_is_seen():
    assert kinds_of("IgnoresMaxTime", params=(("max_time", "0.05"),)) == {"max_time exceeded"}


def test_bad_data_that_are_accepted_are_seen():
    bad = Problem(ORDINARY.base, 30, 2, twists=(problems.REFUSED[0],))
    assert kinds_of("AcceptsNaN", problem=bad) == {"bad data accepted"}


def test_wrong_probabilities_are_seen():
    classes = Problem("y = (X[:, 0] > 0).astype(int)", 30, 2)
    assert kinds_of("WrongProbabilities", ("probabilities, training rows",), problem=classes) == {"probabilities are wrong"}


def test_rates_may_be_infinite_but_neither_nan_nor_negative():
    counts = Problem("y = rng.poisson(np.exp(X[:, 0]))", 30, 1)
    far, passthrough = ("predict, far", "std, very far"), (("basis", "'passthrough'"),)
    assert kinds_of("RelevanceVectorPoissonRegressor", far, passthrough, counts) == set()
    assert kinds_of("PredictsRatesThatAreNone", ("predict, zeros",), passthrough, counts) == {"prediction of counts is wrong"}


# Workers --------------------------------------------------------------------------------------------------------------------


def test_a_case_without_an_end_is_ended_and_named():
    with Pool(broken.run_broken, 1, 2.0) as pool:
        (fault,) = pool.run_one(FitCase("HasNoEnd", (), ORDINARY))
    assert fault.kind == NO_END
    assert "_keep" in fault.detail or "base.py" in fault.detail


def test_workers_that_hang_or_die_are_replaced_and_none_is_left():
    others = set(multiprocessing.active_children())  # of joblib, if a test before this one used it
    with Pool(jobs.die_or_answer, 2, 1.0) as pool:
        results = {case: [fault.kind for fault in faults] for case, faults in pool.run(["hang", "sleep", "die", "fault", "fine"])}
    assert results == {"hang": [NO_END], "sleep": [NO_END], "die": ["process died"], "fault": ["fault"], "fine": []}
    assert set(multiprocessing.active_children()) <= others


def test_a_run_that_was_given_up_leaves_nothing_for_the_next_one():
    with Pool(jobs.die_or_answer, 2, 60.0) as pool:
        next(pool.run(["fine", "hang"]))
        assert [fault.kind for fault in pool.run_one("fault")] == ["fault"]
        assert pool.run_one("fine") == []


# The shrinker ---------------------------------------------------------------------------------------------------------------


def test_the_shrinker_leaves_only_what_the_fault_needs():
    params = (("basis", "KernelBasis(gamma=1.0, centers=3)"), ("tol", "0.1"), ("max_iter", "5"))
    problem = Problem(ORDINARY.base, 40, 4, 7, ("X[0] = 0.0", "y = y * 1e8", "X = np.asfortranarray(X)"))
    case = FitCase("RelevanceVectorRegressor", params, problem, ("score", "repr", "predict, far"))

    def fails(case):
        return "y = y * 1e8" in case.problem.twists and "gamma=1.0" in dict(case.params).get("basis", "") and "score" in case.calls

    small = Problem(ORDINARY.base, 1, 1, 0, ("y = y * 1e8",))
    assert shrink(case, fails) == FitCase("RelevanceVectorRegressor", (("basis", "KernelBasis(gamma=1.0)"),), small, ("score",))


def test_a_broken_case_is_shrunk_to_its_core():
    problem = Problem(ORDINARY.base, 20, 3, 3, ("X[0] = 0.0",))
    case = FitCase("DividesByZero", (("tol", "0.1"),), problem, ("score", "repr"))
    shrunk = shrink(case, lambda case: any(fault.kind == "ZeroDivisionError" for fault in case.run()))
    assert shrunk == FitCase("DividesByZero", (), Problem(ORDINARY.base, 1, 1))
