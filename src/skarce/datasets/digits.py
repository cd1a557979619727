"""Handwritten digits, read from the folder that SKARCE_DATA names."""

from __future__ import annotations

import zipfile
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skarce._typing import Floats
from skarce.datasets.real import FOLDER_VARIABLE, DataNotFoundError, data_folder

FILES = ("mnist_12k_2k.npz", "mnist.npz")
N_TRAIN, N_TEST, N_PIXELS = 12_000, 2_000, 784
ARRAYS = ("x_train", "y_train", "x_test", "y_test")


class Digits(NamedTuple):
    """Images as rows of 784 numbers from 0 to 1, and the digits they show."""

    X_train: Floats
    y_train: NDArray[np.integer]
    X_test: Floats
    y_test: NDArray[np.integer]


def mnist() -> Digits:
    """The first 12,000 training and the first 2,000 test images of MNIST.

    They are read from ``mnist_12k_2k.npz`` or ``mnist.npz``. The file has arrays ``x_train``, ``y_train``, ``x_test`` and
    ``y_test`` of integers, as in Keras; further images are not used.

    Returns
    -------
    Digits
        ``X_train`` of shape (12000, 784), ``y_train``, ``X_test`` of shape (2000, 784), ``y_test``.
    """
    folder = data_folder()
    path = next((folder / name for name in FILES if (folder / name).is_file()), None) if folder else None
    if path is None:
        where = f"{FOLDER_VARIABLE} is not set" if folder is None else f"{folder} has neither {' nor '.join(FILES)}"
        remedy = f"set {FOLDER_VARIABLE} to a folder with {FILES[-1]} (arrays {', '.join(ARRAYS)})"
        raise DataNotFoundError(f"the MNIST digits were not found: {where}; {remedy}.")
    return _read(path)


@lru_cache(maxsize=1)
def _read(path: Path) -> Digits:
    try:
        with np.load(path) as file:
            x_train, y_train, x_test, y_test = (file[name] for name in ARRAYS)
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise DataNotFoundError(f"{path} cannot be read as arrays {', '.join(ARRAYS)}: {error}.") from None
    return Digits(*_part(path, x_train, y_train, N_TRAIN), *_part(path, x_test, y_test, N_TEST))


def _part(path: Path, images: NDArray[np.integer], digits: NDArray[np.integer], n: int) -> tuple[Floats, NDArray[np.integer]]:
    if len(images) < n or len(digits) < n or images[0].size != N_PIXELS:
        shapes = f"{images.shape} and {digits.shape}"
        raise DataNotFoundError(f"{path} has images and digits of shapes {shapes}; expected at least {n} images of 28 x 28 pixels.")
    X, y = images[:n].reshape(n, N_PIXELS) / 255.0, digits[:n]
    X.setflags(write=False)  # the arrays are cached, so nobody may change them
    y.setflags(write=False)
    return X, y
