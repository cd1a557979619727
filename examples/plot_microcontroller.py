"""
A battery on a microcontroller
==============================

A model of a battery cell learns from a stream of drives and moves to a microcontroller: one C
header with the standard deviation, and no library. The same program runs here, if there is gcc,
and on an emulated Cortex-M4, if its compiler and QEMU are installed (Debian:
``gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm``).
"""

import shutil
import subprocess
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from skarce import KernelBasis, RelevanceVectorRegressor
from skarce.export import to_c

rng = np.random.default_rng(0)
lowest, highest = np.array([0.05, -20.0, -10.0]), np.array([1.0, 60.0, 45.0])


def drive(n_rows=500):
    """Simulate a drive: voltage falls with current, more so if the cell is cold or nearly empty."""
    X = rng.uniform(lowest, highest, (n_rows, 3))
    charge, current, temperature = X.T
    open_voltage = (
        3.2 + 0.8 * charge + 0.15 * np.tanh(8 * (charge - 0.9)) - 0.4 * np.exp(-15 * charge)
    )
    resistance = 0.002 + 0.003 * np.exp(-0.05 * temperature) + 0.004 * np.exp(-10 * charge)
    return X, open_voltage - current * resistance + rng.normal(0, 0.02, n_rows)


# %%
# Candidates are fixed before the first row comes: kernels at 150 places, wide along inputs that act
# smoothly. ``partial_fit`` keeps only sums, so 40 drives take no more memory than one.

lengths = np.array([0.3, 80.0, 40.0])
centers = rng.uniform(lowest, highest, (150, 3))
basis = KernelBasis(gamma=0.5 / lengths**2, centers=centers)
model = RelevanceVectorRegressor(basis, max_active=30)
for _ in range(40):
    model.partial_fit(*drive())

rows, voltages = drive()
folder = Path(tempfile.mkdtemp())
exported = to_c(model, folder / "cell.h", name="cell", X=rows)
print(exported.text[: exported.text.index("*/") + 2])

# %%
# A small program reads the header. The self-test compares with what Python predicts. So do we, at
# all rows: more than a ten-thousandth of the spread of the voltages would be a fault.

currents, charges = (-10.0, 20.0, 50.0), np.linspace(0.05, 1.0, 20)
queries = np.array([[charge, current, 0.0] for current in currents for charge in charges])
cells = ", ".join(f"{{ {', '.join(f'{value:.6f}f' for value in row)} }}" for row in queries)
(folder / "main.c").write_text(f"""
#include <stdio.h>
#include "cell.h"
static const float rows[][CELL_N_INPUTS] = {{ {cells} }};
int main(void)
{{
    float mean, std;
    for (int i = 0; i < {len(queries)}; ++i) {{
        cell_predict(rows[i], &mean, &std);
        printf("%.7g %.7g\\n", (double)mean, (double)std);
    }}
    return cell_selftest() < 1e-3f ? 0 : 1;
}}
""")
(folder / "start.c").write_text("""
void _start(void);
__attribute__((section(".vectors"), used)) static const void *const vectors[] = {
    (void *)0x20400000, (void *)_start /* the stack, and where to begin */
};
""")
for_cortex = ["-mcpu=cortex-m4", "-mthumb", "--specs=rdimon.specs", "start.c"]
for_cortex += ["-Wl,--section-start=.vectors=0,-Tdata=0x20000000"]
emulator = [
    "qemu-system-arm",
    "-M",
    "mps2-an386",
    "-nographic",
    "-monitor",
    "none",
    "-serial",
    "none",
]
emulator += ["-semihosting-config", "enable=on,target=native", "-kernel"]
machines = {
    "this machine": ("gcc", [], []),
    "Cortex-M4 under QEMU": ("arm-none-eabi-gcc", for_cortex, emulator),
}


def run(compiler, options, start):
    """Compile and run the program, and return what it prints."""
    command = [compiler, "-std=c99", "-Os", "main.c", *options, "-o", "program"]
    subprocess.run(command, cwd=folder, check=True)
    ran = subprocess.run(
        [*start, "./program"], cwd=folder, check=True, capture_output=True, text=True
    )
    return np.array(ran.stdout.split(), dtype=float).reshape(-1, 2)


mean, std = model.predict(queries, return_std=True)
answers = {}
for machine, (compiler, options, start) in machines.items():
    missing = [tool for tool in (compiler, *start[:1]) if shutil.which(tool) is None]
    if missing:
        print(f"{machine}: not run; it needs {' and '.join(missing)}")
        continue
    answers[machine] = run(compiler, options, start)
    error = np.abs(answers[machine] - np.column_stack([mean, std])).max()
    assert error < 1e-4 * voltages.std(), f"{machine} differs from Python by {error} volts"
    print(f"{machine}: at most {1e6 * error:.1f} microvolts from Python")
shutil.rmtree(folder)

# %%
# Lines and bands are what Python predicts at 0 degrees, with two standard deviations. Dots are what
# the C program has printed.

fig, ax = plt.subplots()
for place, current in enumerate(currents):
    part = slice(place * len(charges), (place + 1) * len(charges))
    lower, upper = mean[part] - 2 * std[part], mean[part] + 2 * std[part]
    ax.fill_between(charges, lower, upper, color=f"C{place}", alpha=0.2, lw=0)
    ax.plot(charges, mean[part], color=f"C{place}", label=f"{current:+.0f} A")
    for found in list(answers.values())[-1:]:
        ax.plot(charges, found[part, 0], "o", color=f"C{place}", ms=4)
ax.set(
    xlabel="state of charge",
    ylabel="voltage",
    title=f"{len(model.active_)} functions, {exported.size.table_bytes} bytes",
)
ax.legend(title="current", loc="lower right")
plt.show()
