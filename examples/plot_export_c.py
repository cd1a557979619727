"""
A model as C code
=================

``to_c`` writes a fitted pipeline as one header of C99, with its std and without any library, so
that a model can run on a microcontroller. ``smaller_within`` finds the best model whose tables fit
into a given number of bytes. ``to_onnx`` does the same for runtimes of ONNX.
"""

import ctypes
import subprocess
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skarce import OrthogonalLeastSquaresRegressor
from skarce.export import smaller_within, to_c

rng = np.random.default_rng(0)
celsius = rng.uniform(-20, 60, (300, 1))
volts = 3 + np.tanh(celsius[:, 0] / 15 - 1) + 0.3 * np.sin(celsius[:, 0] / 8)
volts += rng.normal(0, 0.05, 300)
model = make_pipeline(StandardScaler(), OrthogonalLeastSquaresRegressor()).fit(celsius, volts)

folder = Path(tempfile.mkdtemp())
exported = to_c(model, folder / "battery.h", name="battery", X=celsius)
print(exported.text.partition("*/")[0])

# %%
# The scaler is in the header too, so C takes degrees. Here the header is compiled with ``cc``, and
# its answers are compared with those of Python.

(folder / "battery.c").write_text(
    '#include "battery.h"\n'
    "void at(float *x, float *mean, float *std) { battery_predict(x, mean, std); }\n"
)
library = folder / "battery.so"
subprocess.run(
    ["cc", "-std=c99", "-O2", "-shared", "-fPIC", folder / "battery.c", "-o", library], check=True
)
compiled = ctypes.CDLL(str(library))


def in_c(degrees):
    """Return mean and std of one row, computed in C."""
    x, mean, std = (ctypes.c_float * 1)(degrees), ctypes.c_float(), ctypes.c_float()
    compiled.at(x, ctypes.byref(mean), ctypes.byref(std))
    return mean.value, std.value


grid = np.linspace(-20, 60, 161)
mean, std = np.array([in_c(degrees) for degrees in grid]).T
in_python = model.predict(grid[:, None], return_std=True)
for what, ours, theirs in zip(("mean", "std"), in_python, (mean, std), strict=True):
    print(f"largest difference of the {what}: {np.abs(ours - theirs).max():.1e} volts")

# %%
# Less memory costs accuracy, but not from the start.

limits = np.arange(40, exported.size.table_bytes + 40, 20)
smaller = [smaller_within(model, celsius, volts, max_bytes=int(limit)).model for limit in limits]
test = np.linspace(-20, 60, 1000)[:, None]
truth = 3 + np.tanh(test[:, 0] / 15 - 1) + 0.3 * np.sin(test[:, 0] / 8)
errors = [np.sqrt(np.mean((one.predict(test) - truth) ** 2)) for one in smaller]

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8))
left.plot(celsius, volts, ".", color="0.7", ms=4, label="data")
left.fill_between(grid, mean - 2 * std, mean + 2 * std, alpha=0.2, lw=0, label="± 2 std")
left.plot(grid, mean, label="mean, computed in C")
left.set(xlabel="degrees Celsius", ylabel="volts")
left.legend()
right.plot(limits, errors, "o-", ms=4, label="error of the mean")
right.axhline(0.05, color="0.6", ls="--", lw=1, label="noise")
right.set(xlabel="bytes for tables", ylabel="volts", ylim=(0, None))
right.legend()
plt.show()
