"""How to spend the time there is: widths are reused first, then repeats are cut, and the dearest experiment gives first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from skarce.reproduce.runner.units import Record

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
    """The dearest of those that tune on many splits gives one of them; when all tune on few, the dearest of all gives."""
    dear_first = sorted(plan, key=lambda name: -plan[name].cost(costs[name]))
    many_tuned = [name for name in dear_first if plan[name].n_tuned > FEW_TUNED]
    can_give = many_tuned or [name for name in dear_first if plan[name].n_repeats > 1]
    return {can_give[0]: _smaller(plan[can_give[0]])} if can_give else None


def _smaller(share: Share) -> Share:
    """One tuned split less, or one repeat less where only one is tuned."""
    if share.n_tuned > 1:
        return replace(share, n_tuned=share.n_tuned - 1)
    return replace(share, n_repeats=share.n_repeats - 1)


def measured_costs(records: Iterable[Record]) -> dict[str, Cost]:
    """The cost of a repeat of every experiment, from the records of its first one."""
    costs: dict[str, Cost] = {}
    for record in records:
        so_far = costs.get(record.experiment, Cost(0.0, 0.0))
        tuning = min(record.tuning_seconds, record.seconds)
        costs[record.experiment] = Cost(so_far.tuning + tuning, so_far.rest + record.seconds - tuning)
    return costs
