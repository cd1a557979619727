"""Generators and real tables by name; nothing is downloaded at import."""

from skarce.datasets.digits import Digits, mnist
from skarce.datasets.friedman import friedman1, friedman2, friedman3
from skarce.datasets.real import SOURCES, DataNotFoundError, DataSet, data_folder, load
from skarce.datasets.target_kinds import TargetKind

__all__ = [
    "SOURCES",
    "DataNotFoundError",
    "DataSet",
    "Digits",
    "TargetKind",
    "data_folder",
    "friedman1",
    "friedman2",
    "friedman3",
    "load",
    "mnist",
]
