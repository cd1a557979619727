"""What the paper on searches guided by the evidence prints, tables I to IV."""

from __future__ import annotations

from skarce.reproduce.papers.ssge.contenders import OPERATIONS
from skarce.reproduce.papers.ssge.data import LARGEST, PROTOTASKS, task_name
from skarce.reproduce.runner.paper import Printed

REFERENCE = (
    "I. Barrio, E. Romero and L. Belanche, Search Strategies Guided by the Evidence for the Selection of Basis Functions in "
    "Regression"
)

# Table I: the number of tasks (of 40) on which the method of the row was worse than the method of the column.
WORSE = {
    "pta10": {"pta21": 0, "sffs": 0, "oscillating5": 6, "abf": 6, "rvm": 3, "svm": 4, "ols": 0},
    "pta21": {"pta10": 3, "sffs": 0, "oscillating5": 3, "abf": 9, "rvm": 1, "svm": 4, "ols": 0},
    "sffs": {"pta10": 9, "pta21": 5, "oscillating5": 11, "abf": 13, "rvm": 3, "svm": 6, "ols": 0},
    "oscillating5": {"pta10": 4, "pta21": 0, "sffs": 0, "abf": 7, "rvm": 0, "svm": 1, "ols": 0},
    "abf": {"pta10": 1, "pta21": 1, "sffs": 0, "oscillating5": 2, "rvm": 2, "svm": 2, "ols": 0},
    "rvm": {"pta10": 8, "pta21": 3, "sffs": 1, "oscillating5": 6, "abf": 12, "svm": 3, "ols": 0},
    "svm": {"pta10": 5, "pta21": 2, "sffs": 0, "oscillating5": 6, "abf": 5, "rvm": 2, "ols": 0},
    "ols": {"pta10": 21, "pta21": 17, "sffs": 8, "oscillating5": 19, "abf": 19, "rvm": 13, "svm": 11},
}
# Tables II and III, in the order of the prototasks.
FUNCTIONS = {
    "pta10": (39, 80, 59, 68, 48, 71, 120, 264),
    "pta21": (11, 59, 24, 34, 39, 46, 103, 203),
    "sffs": (2.5, 4.5, 8.5, 13, 10, 22, 76, 159),
    "oscillating5": (39, 80, 59, 68, 48, 71, 120, 264),
    "rvm": (3.5, 6.5, 9.0, 13, 9.2, 24, 90, 185),
    "svm": (593, 726, 668, 608, 708, 667, 682, 836),
    "ols": (11, 14, 15, 26, 18, 35, 49, 169),
}
ADDED_AND_REMOVED = {
    "pta10": (56, 107, 79, 88, 65, 92, 155, 343),
    "pta21": (78, 238, 118, 148, 162, 183, 403, 791),
    "sffs": (132, 344, 190, 361, 330, 381, 2051, 5892),
    "oscillating5": (205, 308, 256, 250, 224, 311, 433, 738),
}
# Table IV, the best first.
ORDERS = {
    "training time": "PTA(1,0), PTA(2,1), Oscillating(5), SFFS",
    "model size": "SFFS, PTA(2,1), then PTA(1,0) and Oscillating(5)",
    "prediction error": "Oscillating(5), PTA(1,0), PTA(2,1), SFFS",
}


def _of_prototask(place: int) -> dict[str, Printed]:
    return {
        method: Printed(
            n_functions=row[place],
            extras={OPERATIONS: ADDED_AND_REMOVED[method][place]} if method in ADDED_AND_REMOVED else {},
        )
        for method, row in FUNCTIONS.items()
    }


PRINTED = {task_name(prototask, LARGEST): _of_prototask(place) for place, prototask in enumerate(PROTOTASKS)}
