"""Kernel matching pursuit (Vincent and Bengio 2002): functions enter one by one, by the gradient of a loss."""

from skarce.methods.pursuit.basic import BasicPursuit
from skarce.methods.pursuit.huber import HuberPursuit
from skarce.methods.pursuit.logistic import LogisticPursuit
from skarce.methods.pursuit.order import CorrelationOrder

__all__ = ["BasicPursuit", "CorrelationOrder", "HuberPursuit", "LogisticPursuit"]
