"""
Regions of two and of three classes
===================================

A relevance vector classifier needs a handful of kernels, and gives probabilities: they are
averages over what the weights may be.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs, make_moons

from skarce import RelevanceVectorClassifier
from skarce.inspection import PredictionDisplay

moons = make_moons(300, noise=0.3, random_state=0)
blobs = make_blobs(300, centers=[(-2, 0), (2, 0), (0, 2.5)], cluster_std=1.1, random_state=0)

# %%
# Colors are probabilities, lines are where the most probable class changes, and circles are the
# kernels in the model.

fig, axes = plt.subplots(1, 2, figsize=(10, 4.5))
for ax, (X, y) in zip(axes, (moons, blobs), strict=True):
    model = RelevanceVectorClassifier(random_state=0).fit(X, y)
    PredictionDisplay.from_estimator(model, X, y, ax=ax, grid_resolution=100)
    ax.set_title(f"{len(model.active_)} kernels, {100 * model.score(X, y):.0f} % right", pad=26)
plt.show()
