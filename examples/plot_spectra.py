"""
Spectra: more inputs than rows
==============================

A near-infrared spectrum has hundreds of wavelengths, and here are only sixty samples. Neighboring
wavelengths are nearly copies of each other. ``JeffreysPriorRegressor`` finds a few that predict
the concentration, and has nothing to tune.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LassoCV
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold, cross_val_predict

from skarce import JeffreysPriorRegressor, VBLSRegressor

rng = np.random.default_rng(0)
wavelengths = np.linspace(1100, 2500, 350)
peaks = np.array([1210, 1450, 1730, 1940, 2310])
widths = np.array([90, 110, 80, 100, 120])
bands = np.exp(
    -0.5 * ((wavelengths - peaks[:, None]) / widths[:, None]) ** 2
)  # bands of five substances overlap
amounts = rng.uniform(0, 1, (60, 5))
scatter = rng.uniform(0, 0.8, (60, 1)) + rng.normal(0, 0.2, (60, 1)) * (wavelengths - 1800) / 700
spectra = amounts @ bands + scatter + rng.normal(0, 0.005, (60, 350))
protein = 10 + 3 * amounts[:, 2] + rng.normal(0, 0.1, 60)

# %%
# A few wavelengths predict left-out samples as well as all of them with one precision
# (``VBLSRegressor(prior="shared")``), or as the lasso with many more.

models = {
    "JeffreysPriorRegressor": JeffreysPriorRegressor("passthrough"),
    "VBLSRegressor, shared": VBLSRegressor(prior="shared"),
    "LassoCV": LassoCV(max_iter=100_000, tol=1e-2),
}
folds = KFold(5, shuffle=True, random_state=0)
predicted = {
    name: cross_val_predict(model, spectra, protein, cv=folds) for name, model in models.items()
}
for name, model in models.items():
    n_used = np.count_nonzero(model.fit(spectra, protein).coef_)
    r2 = r2_score(protein, predicted[name])
    print(f"{name:22} {n_used:3d} wavelengths, R2 of left-out samples {r2:.3f}")

# %%
# The substance that we want absorbs at 1730 nm. Wavelengths with negative weights stand for its
# neighbors and for the background, because light scatters differently in every sample.

few = models["JeffreysPriorRegressor"]
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), width_ratios=(3, 2))
left.plot(wavelengths, spectra.T, color="0.75", lw=0.4)
for sign, color, label in ((1, "C0", "positive weight"), (-1, "C1", "negative weight")):
    chosen = wavelengths[np.sign(few.coef_) == sign]
    left.plot(chosen, np.full(len(chosen), 2.1), "v", color=color, label=label)
left.set(
    xlabel="wavelength, nm",
    ylabel="absorbance",
    ylim=(-0.1, 2.6),
    title=f"{len(few.active_)} of {len(wavelengths)} wavelengths",
)
left.legend(loc="upper left", ncols=2)
right.plot(predicted["JeffreysPriorRegressor"], protein, ".", ms=8)
right.axline((11.5, 11.5), slope=1, color="k", lw=1, ls="--")
right.set(xlabel="prediction for left-out samples", ylabel="protein, %")
plt.show()
