"""What a receptive field remembers, as one row of doubles: compiled code and NumPy read and write the same array.

| name | letter in the paper | meaning |
| --- | --- | --- |
| center | c | where the field lies |
| metric | M | D = M'M is its distance metric; the diagonal of M, or all of the upper triangular M |
| mean, level | x0, beta0 | weighted means of inputs and of targets |
| n_projections | R | number of directions in use |
| forgetting | lambda | factor on all sums before a row is added |
| weight | W | sum of the activations w |
| evidence | | the same since the last projection was added: the weight of the next two |
| noise | | sum of w times residual times left-out residual |
| errors | MSE | sum of w times squared left-out residual, with 0, 1, ..., R projections |
| pull, spread | H, R (a matrix here) | what the errors of other rows do if the weight of one row changes |
| squares, products | SS, SR | sums of w s^2 and w s times residual, for each projection with scores s |
| directions, loadings | u, SZ | sums of w z times residual and of w z s, for each projection with inputs z |
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from math import prod

from skarce._typing import Floats


@dataclass(frozen=True)
class Layout:
    """The places of all numbers of a field in its row."""

    n_inputs: int
    max_projections: int
    is_full: bool

    @cached_property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of each part, in the order of the row. Sums come last. A single number has the shape ()."""
        d, r = self.n_inputs, self.max_projections
        return {
            "center": (d,),
            "metric": (d, d) if self.is_full else (d,),
            "mean": (d,),
            "level": (),
            "n_projections": (),
            "forgetting": (),
            "weight": (),
            "evidence": (),
            "noise": (),
            "errors": (r + 1,),
            "pull": (r + 1,),
            "spread": (r + 1, r + 1),
            "squares": (r,),
            "products": (r,),
            "directions": (r, d),
            "loadings": (r, d),
        }

    @cached_property
    def places(self) -> dict[str, slice]:
        """Where each part begins and ends."""
        found, start = {}, 0
        for name, shape in self.shapes.items():
            found[name] = slice(start, start + prod(shape))
            start += prod(shape)
        return found

    @property
    def size(self) -> int:
        """How many numbers a field has."""
        return self.places["loadings"].stop

    @property
    def first_sum(self) -> int:
        """Where the sums begin. All that comes later fades if rows are forgotten."""
        return self.places["weight"].start

    def part(self, state: Floats, name: str) -> Floats:
        """Return a view of one part of all fields, of shape (n_fields, *shape)."""
        return state[:, self.places[name]].reshape(len(state), *self.shapes[name])


@dataclass(frozen=True)
class Settings:
    """What steers learning. Inputs and targets have a variance of about one.

    Attributes
    ----------
    add_below : float
        A row at which all activations are below this value gets its own field.
    prune_above : float
        If two fields have activations above this value at a row, one of them is removed.
    projection_gain : float
        A projection is added if the last one has lowered the squared left-out error at least to this share.
    initial_forgetting, final_forgetting, forgetting_pace : float
        Forgetting moves from its first value to its last: lambda = pace * lambda + (1 - pace) * last.
    learning_rate : float
        Step size of the metric. With 0.0 it stays as it is.
    penalty : float
        How much narrow fields cost, as a share of their squared left-out error.
    initial_metric : float
        D of a new field is this number times the identity.
    settled_weight : float
        With less evidence, a field uses its newest projections neither for predictions nor for decisions.
    copies : float
        How many times each row is in the sums, if there are several passes.
    max_fields : float
        Largest number of fields.
    """

    add_below: float = 0.1
    prune_above: float = 0.7
    projection_gain: float = 0.7
    initial_forgetting: float = 0.999
    final_forgetting: float = 0.99999
    forgetting_pace: float = 0.9999
    learning_rate: float = 1.0
    penalty: float = 0.3
    initial_metric: float = 5.0
    settled_weight: float = 5.0
    copies: float = 1.0
    max_fields: float = 1000.0

    def numbers(self) -> list[float]:
        """Return all settings, in the order in which compiled code takes them."""
        return [float(getattr(self, field.name)) for field in fields(self)]
