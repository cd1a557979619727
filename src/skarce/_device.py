"""Arrays of other packages, on a GPU or elsewhere, through the array API. Nothing is imported before such arrays arrive.

Nothing here moves an array unless its name says so: `to_host` and `to_device`.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
from scipy import special as scipy_special
from sklearn import get_config

from skarce._memory import MEBIBYTE
from skarce._typing import Floats

PACKAGES = ("torch", "cupy", "array_api_strict")  # whose modules define the classes of arrays
STRICT_HOST = "CPU_DEVICE"  # the device of array-api-strict that NumPy can read
ON_HOST = ("cpu", STRICT_HOST)  # how the names of devices begin whose memory is that of the host
HOST_BYTES, DEVICE_BYTES = 2**23, 2**29  # candidates are evaluated in blocks of about this size: caches are small, GPUs are wide
LEAST_ROWS = 64  # of a block
SPECIAL = {"torch": "torch.special", "cupy": "cupyx.scipy.special"}  # who has special functions of its own


def is_on_device(values: Any) -> bool:
    """Tell whether this is an array of PyTorch, CuPy or array-api-strict, on whatever device, without importing them."""
    if type(values) is np.ndarray:
        return False
    return hasattr(values, "dtype") and hasattr(values, "shape") and package_of(values) in PACKAGES


def package_of(values: Any) -> str:
    """Return the root of the module that defines the class of a value, or that of one it is derived from."""
    roots = [kind.__module__.partition(".")[0] for kind in type(values).__mro__[:-1]]
    return next((root for root in roots if root in PACKAGES), roots[0])


def is_dispatched() -> bool:
    """Tell whether scikit-learn's switch for arrays of other packages is on."""
    return bool(get_config().get("array_api_dispatch"))


@cache
def _compat() -> Any:
    """Return array-api-compat, or the copy of it that scikit-learn has."""
    try:
        return import_module("array_api_compat")
    except ImportError:
        pass
    try:
        return import_module("sklearn.externals.array_api_compat")
    except ImportError:
        raise ImportError(
            'arrays on a device need array-api-compat, which newer versions of scikit-learn contain: pip install "skarce[device]".'
        ) from None


def namespace(*values: Any) -> Any:
    """Return the functions for an array: the array API of its package if it is on a device, and else NumPy."""
    return _compat().array_namespace(*values) if is_on_device(values[0]) else np


def namespace_named(library: str) -> Any:
    """Return the functions of a package: ``"torch"``, ``"cupy"`` or ``"array_api_strict"``."""
    if library == "array_api_strict":
        return import_module(library)
    import_module(library)
    return import_module(f"{_compat().__name__}.{library}")


def device_of(values: Any) -> Any:
    """Return the device of an array."""
    return _compat().device(values)


def is_host_memory(values: Any) -> bool:
    """Tell whether an array of another package is in the memory of the host."""
    name = str(getattr(device_of(values), "_device", device_of(values)))
    return name.startswith(ON_HOST)


def where(values: Any) -> str:
    """Return in words where an array is, for messages."""
    if isinstance(values, np.ndarray):
        return "a NumPy array, in the memory of the host"
    if not is_on_device(values):
        return f"of type {type(values).__name__}"
    device = device_of(values)
    return f"a {package_of(values)} array on {getattr(device, '_device', device)}"


def to_host(values: Any) -> Floats:
    """Return a NumPy array with the values of an array on a device. This moves them."""
    if not is_on_device(values):
        return np.asarray(values)
    package = package_of(values)
    if package == "torch":
        return np.asarray(values.detach().cpu().numpy())
    if package == "cupy":
        return np.asarray(values.get())
    strict = sys.modules[package]
    return np.asarray(np.from_dlpack(values.to_device(strict.Device(STRICT_HOST))))


def to_device(values: Floats, like: Any) -> Any:
    """Return a NumPy array as an array like another one, on its device. This moves the values."""
    if not is_on_device(like):
        return values
    return placed(values, namespace(like), device_of(like))


def placed(values: Floats, xp: Any, device: Any) -> Any:
    """Return a copy of a NumPy array on a device."""
    return xp.asarray(np.array(values, order="C"), device=device)  # a copy: memory is not shared with the host


def doubles(values: Any) -> Any:
    """Return an array in double precision, on its device. If it is already, it is not copied. Gradients are not followed."""
    values = values.detach() if hasattr(values, "detach") else values
    xp = namespace(values)
    return values if values.dtype == xp.float64 else xp.astype(values, xp.float64)


def is_single(values: Any) -> bool:
    """Tell whether an array, of NumPy or on a device, is in single precision."""
    return getattr(values, "dtype", None) == (namespace(values) if is_on_device(values) else np).float32


def singles(values: Any) -> Any:
    """Return an array in single precision, on its device."""
    xp = namespace(values)
    return values.astype(np.float32) if xp is np else xp.astype(values, xp.float32)


def all_finite(values: Any) -> bool:
    """Tell whether all values of an array are finite."""
    xp = namespace(values)
    return bool(xp.all(xp.isfinite(values)))


def sqrt(values: Any) -> Any:
    """Return the square roots of an array, on its device."""
    return namespace(values).sqrt(values)


def at_least(values: Any, bound: float) -> Any:
    """Return the larger of each value and a bound, on its device."""
    return namespace(values).clip(values, min=bound) if is_on_device(values) else np.maximum(values, bound)


def at_most(values: Any, bound: float) -> Any:
    """Return the smaller of each value and a bound, on its device."""
    return namespace(values).clip(values, max=bound) if is_on_device(values) else np.minimum(values, bound)


def stacked(parts: list[Any], axis: int = 0) -> Any:
    """Return arrays of one kind along a new axis."""
    return namespace(parts[0]).stack(parts, axis=axis)


def taken(values: Any, places: Any, axis: int = 0) -> Any:
    """Return the rows or columns of an array at some places, which are a NumPy array."""
    if isinstance(values, np.ndarray):
        return np.take(values, places, axis=axis)
    xp = namespace(values)
    return xp.take(values, placed(np.asarray(places, dtype=np.int64), xp, device_of(values)), axis=axis)


def joined(parts: list[Any], axis: int = 0) -> Any:
    """Return arrays of one kind one after the other."""
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts, axis=axis) if isinstance(parts[0], np.ndarray) else namespace(parts[0]).concat(parts, axis=axis)


def ones_before(columns: Any) -> Any:
    """Return columns with a column of ones in front."""
    xp = namespace(columns)
    shape, place = (columns.shape[0], 1), {} if xp is np else {"device": device_of(columns)}
    return joined([xp.ones(shape, dtype=columns.dtype, **place), columns], axis=1)


def special(name: str, *values: Any) -> Any:
    """Return a function of `scipy.special` of arrays, on their device. A package without it has SciPy compute it on the host."""
    if not is_on_device(values[0]):
        return getattr(scipy_special, name)(*values)
    module = SPECIAL.get(package_of(values[0]))
    if module is not None:
        return getattr(import_module(module), name)(*values)
    return to_device(getattr(scipy_special, name)(*(to_host(value) for value in values)), like=values[0])


def free_bytes(values: Any) -> int | None:
    """Return how much memory is free on the device of an array, with what its package keeps for itself; None if it cannot tell."""
    if is_host_memory(values):
        return None
    if package_of(values) == "torch" and values.device.type == "cuda":
        cuda, device = sys.modules["torch"].cuda, values.device
        return int(cuda.mem_get_info(device)[0] + cuda.memory_reserved(device) - cuda.memory_allocated(device))
    if package_of(values) == "cupy":
        return int(values.device.mem_info[0] + sys.modules["cupy"].get_default_memory_pool().free_bytes())
    return None


def require_there(needed: int, like: Any, what: str, remedy: str) -> None:
    """Raise a ValueError if a device is known to have less memory than this."""
    free = free_bytes(like)
    if free is not None and needed > free:
        sizes = f"{needed / MEBIBYTE:.0f} MiB on {device_of(like)}, which has {free / MEBIBYTE:.0f} MiB left"
        raise ValueError(f"{what} takes about {sizes}. {remedy}.")


def log_expit(values: Any) -> Any:
    """Return log(1 / (1 + e^-x)) of an array, on its device."""
    if not is_on_device(values):
        return scipy_special.log_expit(values)
    xp = namespace(values)
    return at_most(values, 0.0) - xp.log1p(xp.exp(-abs(values)))


def rows_at_a_time(values: Any, n_columns: int) -> int:
    """Return how many rows of so many doubles are computed at a time, next to an array."""
    on_host = isinstance(values, np.ndarray) or is_host_memory(values)
    return max(LEAST_ROWS, (HOST_BYTES if on_host else DEVICE_BYTES) // (8 * max(n_columns, 1)))
