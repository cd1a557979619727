"""Generators and real tables by name; nothing is downloaded at import."""

from skarce.datasets.digits import Digits, mnist
from skarce.datasets.friedman import friedman1, friedman2, friedman3
from skarce.datasets.real import SOURCES, DataNotFoundError, DataSet, data_folder, load

__all__ = [
    "SOURCES",
    "DataNotFoundError",
    "DataSet",
    "Digits",
    "data_folder",
    "friedman1",
    "friedman2",
    "friedman3",
    "load",
    "mnist",
]
