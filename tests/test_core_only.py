"""The core runs with NumPy, SciPy and scikit-learn alone."""

import subprocess
import sys
from pathlib import Path

EXTRAS = ("pandas", "click", "rich", "skops", "matplotlib", "pyarrow", "dask", "fastrvm")

FIT = f"""
import sys
from pathlib import Path
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {EXTRAS!r}:
            raise ModuleNotFoundError(f"no {{name}} here", name=name)
sys.meta_path.insert(0, Absent())
import numpy as np
from skarce import RelevanceVectorRegressor
rng = np.random.default_rng(0)
X = rng.uniform(-4, 4, (60, 1))
model = RelevanceVectorRegressor().fit(X, np.sin(X[:, 0]) + rng.normal(0, 0.1, 60))
print(len(model.active_) > 1, sorted(set(sys.modules) & set({EXTRAS!r})))
"""


def test_a_model_is_fitted_without_any_extra():
    done = subprocess.run([sys.executable, "-c", FIT], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True []"


def test_the_command_names_what_to_install():
    code = (
        "import importlib.util as util\n"
        "found = util.find_spec\n"
        f"util.find_spec = lambda name: None if name in {EXTRAS!r} else found(name)\n"
        "from skarce.__main__ import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "skarce[cli]" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_readme_is_complete():
    """Both commands are on its first screen, and no placeholder is left."""
    text = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
    first_screen = "\n".join(text.splitlines()[:30])
    assert "make demo" in first_screen
    assert "make test" in first_screen
    assert "BENCHMARK_TABLE" not in text
