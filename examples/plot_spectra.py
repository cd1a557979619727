"""
Spectra: more inputs than rows
==============================

A near-infrared spectrum has hundreds of wavelengths, and there are only sixty samples. Neighboring wavelengths are nearly copies of each other. ``VBLSRegressor`` finds a few that
predict the concentration, without choosing a penalty.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LassoCV
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold, cross_val_predict

from skarce import VBLSRegressor

rng = np.random.default_rng(0)
wavelengths = np.linspace(1100, 2500, 350)
peaks = np.array([1210, 1450, 1730, 1940, 2310])
bands = np.exp(-0.5 * ((wavelengths - peaks[:, None]) / 35) ** 2)  # each substance absorbs in its own band
amounts = rng.uniform(0, 1, (60, 5))
scatter = rng.normal(0, 0.3, (60, 1)) + rng.normal(0, 0.1, (60, 1)) * (wavelengths - 1800) / 700
spectra = amounts @ bands + scatter + rng.normal(0, 0.005, (60, 350))
protein = 10 + 3 * amounts[:, 2] + rng.normal(0, 0.1, 60)

# %%
# The band at 1730 nm belongs to the substance that we want. A band alone is not enough, because the light scatters differently in every sample. So wavelengths with negative weights stand for the background.

model = VBLSRegressor().fit(spectra, protein)
folds = KFold(5, shuffle=True, random_state=0)
ours = cross_val_predict(VBLSRegressor(), spectra, protein, cv=folds)
lasso = cross_val_predict(LassoCV(max_iter=100_000, tol=1e-2), spectra, protein, cv=folds)
print(f"cross-validated R2: VBLSRegressor {r2_score(protein, ours):.2f}, LassoCV {r2_score(protein, lasso):.2f}")

fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), width_ratios=(3, 2))
left.plot(wavelengths, spectra.T, color="0.7", lw=0.4)
marked = wavelengths[model.active_]
weights = model.coef_[model.active_]
left.plot(marked[weights > 0], np.full((weights > 0).sum(), 2.2), "v", color="C0", label="positive weight")
left.plot(marked[weights < 0], np.full((weights < 0).sum(), 2.2), "v", color="C1", label="negative weight")
left.set(xlabel="wavelength, nm", ylabel="absorbance", title=f"{len(marked)} of {len(wavelengths)} wavelengths")
left.legend(loc="lower left", ncols=2)
right.plot(ours, protein, ".", ms=8)
right.axline((11.5, 11.5), slope=1, color="k", lw=1, ls="--")
right.set(xlabel="prediction for left-out samples", ylabel="protein, %")
plt.show()
