"""Packages of arrays that are installed here, and a device of each. With a GPU, these are on it."""

from importlib.util import find_spec

import numpy as np
import pytest
import scipy
import sklearn
from sklearn.utils.fixes import parse_version

CAN_DISPATCH = parse_version(scipy.__version__) >= parse_version("1.14")
needs_dispatch = pytest.mark.skipif(not CAN_DISPATCH, reason="scikit-learn dispatches arrays with SciPy 1.14 or newer")
CAN_BE_STRICT = parse_version(np.__version__) >= parse_version("2.0")


def _has_cuda(library):
    if library == "torch":
        import torch

        return torch.cuda.is_available()
    import cupy

    try:
        return cupy.cuda.runtime.getDeviceCount() > 0
    except cupy.cuda.runtime.CUDARuntimeError:
        return False


def _places():
    """The name of a device for each package. That of array-api-strict is one that NumPy cannot read, as a GPU is."""
    found = {}
    if find_spec("array_api_strict") and CAN_BE_STRICT:
        found["array_api_strict"] = "device1"
    if find_spec("torch"):
        found["torch"] = "cuda" if _has_cuda("torch") else "cpu"
    if find_spec("cupy") and _has_cuda("cupy"):
        found["cupy"] = "cuda"
    return found


PLACES = _places()
LIBRARIES = [pytest.param(library, id=library) for library in PLACES]
NO_STRICT = "needs array-api-strict, which moves arrays between devices with NumPy 2 or newer"
needs_strict = pytest.mark.skipif("array_api_strict" not in PLACES, reason=NO_STRICT)


class Device:
    """A package and a device of it."""

    def __init__(self, library):
        self.library, self.name = library, PLACES[library]

    @property
    def place(self):
        """How a device is given to `DeviceRows`."""
        if self.library == "cupy":
            import cupy

            return cupy.cuda.Device(0)
        return self.name

    def __call__(self, values):
        """The values on the device."""
        if values is None:
            return None
        values = np.array(values)
        if self.library == "array_api_strict":
            import array_api_strict as strict

            return strict.asarray(values, device=strict.Device(self.name))
        if self.library == "torch":
            import torch

            return torch.asarray(values, device=self.name)
        import cupy

        return cupy.asarray(values)

    def holds(self, values):
        """Whether an array is of this package, and on this device."""
        return type(values) is type(self([0.0])) and str(values.device) == str(self([0.0]).device)


def dispatched(monkeypatch):
    """Turn scikit-learn's switch on for a test. It asks for SciPy's switch, too, which we do not depend on."""
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    return sklearn.config_context(array_api_dispatch=True)
