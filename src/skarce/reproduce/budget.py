"""How to spend the time there is: widths are reused first, then repeats are cut, and the dearest experiment gives first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from skarce.reproduce.units import Record

FEW_TUNED = 5  # splits whose widths give a sound median
USABLE = 0.85  # of the budget: cores idle at the end, and estimates come from one split


@dataclass(frozen=True)
class Cost:
    """Seconds of one core for one repeat with all methods: to look for widths, and for the rest."""

    tuning: float
    rest: float


@dataclass(frozen=True)
class Share:
    """How many repeats of an experiment are run, and on how many of these (the first) widths are looked for."""

    n_repeats: int
    n_tuned: int

    def cost(self, cost: Cost) -> float:
        return self.n_tuned * cost.tuning + self.n_repeats * cost.rest


Plan = dict[str, Share]


def full_plan(n_repeats: Mapping[str, int]) -> Plan:
    """Every repeat tuned."""
    return {name: Share(n, n) for name, n in n_repeats.items()}


def affordable_plan(wanted: Plan, costs: Mapping[str, Cost], seconds: float, n_cores: int) -> Plan:
    """The most of what is wanted that fits into these seconds; each experiment keeps one tuned repeat whatever it costs."""
    plan = dict(wanted)
    while sum(share.cost(costs[name]) for name, share in plan.items()) > USABLE * seconds * n_cores:
        cut = _next_cut(plan, costs)
        if cut is None:
            break
        plan |= cut
    return plan


def _next_cut(plan: Plan, costs: Mapping[str, Cost]) -> Plan | None:
    """The dearest experiment with one tuned split less than before; if all have few, with one repeat less."""
    for can_give, smaller in CUTS:
        dear_first = sorted(plan, key=lambda name: -plan[name].cost(costs[name]))
        for name in dear_first:
            if can_give(plan[name]):
                return {name: smaller(plan[name])}
    return None


CUTS: tuple[tuple[Callable[[Share], bool], Callable[[Share], Share]], ...] = (
    (lambda share: share.n_tuned > FEW_TUNED, lambda share: replace(share, n_tuned=share.n_tuned - 1)),
    (lambda share: share.n_repeats > FEW_TUNED, lambda share: replace(share, n_repeats=share.n_repeats - 1)),
    (lambda share: share.n_tuned > 1, lambda share: replace(share, n_tuned=share.n_tuned - 1)),
    (lambda share: share.n_repeats > 1, lambda share: replace(share, n_repeats=share.n_repeats - 1)),
)


def measured_costs(records: Iterable[Record]) -> dict[str, Cost]:
    """The cost of a repeat of every experiment, from the records of its first one."""
    costs: dict[str, Cost] = {}
    for record in records:
        so_far = costs.get(record.experiment, Cost(0.0, 0.0))
        tuning = min(record.tuning_seconds, record.seconds)
        costs[record.experiment] = Cost(so_far.tuning + tuning, so_far.rest + record.seconds - tuning)
    return costs
