"""
Regions of two and of three classes
===================================

A relevance vector classifier needs a handful of kernels, and gives probabilities: the log odds
are averaged over what the weights may be.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs, make_moons
from sklearn.inspection import DecisionBoundaryDisplay

from skarce import RelevanceVectorClassifier

moons = make_moons(300, noise=0.3, random_state=0)
blobs = make_blobs(300, centers=[(-2, 0), (2, 0), (0, 2.5)], cluster_std=1.1, random_state=0)

# %%
# Colors are probabilities, and circles are the kernels in the model.

fig, axes = plt.subplots(1, 2, figsize=(9, 4.2))
for ax, (X, y) in zip(axes, (moons, blobs), strict=True):
    model = RelevanceVectorClassifier(random_state=0).fit(X, y)
    colors = ["#2f6fb0", "#c23b22", "#3d9a50"][: len(model.classes_)]
    look = {"response_method": "predict_proba", "alpha": 0.6, "eps": 0.4, "ax": ax}
    if len(model.classes_) == 2:
        DecisionBoundaryDisplay.from_estimator(model, X, cmap="coolwarm", vmin=0, vmax=1, **look)
    else:
        DecisionBoundaryDisplay.from_estimator(model, X, multiclass_colors=colors, **look)
    for label, color in zip(model.classes_, colors, strict=True):
        ax.plot(*X[y == label].T, ".", color=color, mec="white", mew=0.4, ms=7)
    ax.plot(*model.relevance_vectors_.T, "o", mfc="none", mec="k", ms=11, mew=1.5)
    ax.set(
        title=f"{len(model.active_)} kernels, {100 * model.score(X, y):.0f} % right",
        xticks=[],
        yticks=[],
    )
plt.show()
