"""How to spend a time budget: first reuse kernel widths, then run fewer repeats. The most expensive experiment is cut first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from skarce.reproduce.runner.units import Record

FEW_TUNED = 5  # this many tuned repeats give a reliable median of the widths
USABLE = 0.85  # share of the budget that a plan may use: cores are idle at the end, and costs are estimated from one split


@dataclass(frozen=True)
class Cost:
    """Seconds on one core for one repeat with all methods: to tune widths, and for everything else."""

    tuning: float
    rest: float


@dataclass(frozen=True)
class Share:
    """How many repeats of an experiment run, and on how many of them (the first ones) widths are tuned."""

    n_repeats: int
    n_tuned: int

    def cost(self, cost: Cost) -> float:
        return self.n_tuned * cost.tuning + self.n_repeats * cost.rest


Plan = dict[str, Share]


def full_plan(n_repeats: Mapping[str, int]) -> Plan:
    """A plan that tunes every repeat."""
    return {name: Share(n, n) for name, n in n_repeats.items()}


def affordable_plan(wanted: Plan, costs: Mapping[str, Cost], seconds: float, n_cores: int) -> Plan:
    """The largest part of the wanted plan that fits into these seconds. Each experiment keeps at least one tuned repeat."""
    plan = dict(wanted)
    while sum(share.cost(costs[name]) for name, share in plan.items()) > USABLE * seconds * n_cores:
        cut = _next_cut(plan, costs)
        if cut is None:
            break
        plan |= cut
    return plan


def _next_cut(plan: Plan, costs: Mapping[str, Cost]) -> Plan | None:
    """Cut the most expensive experiment that tunes on more than `FEW_TUNED` repeats. If there is none, cut the most expensive."""
    expensive_first = sorted(plan, key=lambda name: -plan[name].cost(costs[name]))
    many_tuned = [name for name in expensive_first if plan[name].n_tuned > FEW_TUNED]
    can_be_cut = many_tuned or [name for name in expensive_first if plan[name].n_repeats > 1]
    return {can_be_cut[0]: _smaller(plan[can_be_cut[0]])} if can_be_cut else None


def _smaller(share: Share) -> Share:
    """One tuned repeat less. If only one is tuned, one repeat less."""
    if share.n_tuned > 1:
        return replace(share, n_tuned=share.n_tuned - 1)
    return replace(share, n_repeats=share.n_repeats - 1)


def measured_costs(records: Iterable[Record]) -> dict[str, Cost]:
    """The cost of one repeat of every experiment, from the records of its first repeat."""
    costs: dict[str, Cost] = {}
    for record in records:
        so_far = costs.get(record.experiment, Cost(0.0, 0.0))
        tuning = min(record.tuning_seconds, record.seconds)
        costs[record.experiment] = Cost(so_far.tuning + tuning, so_far.rest + record.seconds - tuning)
    return costs
