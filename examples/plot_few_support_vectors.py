"""
A support vector machine with few functions
===========================================

A support vector machine keeps every row near the margin, so it grows with the data.
``PrimalSVMClassifier`` minimizes nearly the same loss over functions that enter one by one, and
stops at ``max_active``. ``RelevanceVectorClassifier`` needs no size: the evidence says
when to stop.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.svm import SVC

from skarce import KernelBasis, PrimalSVMClassifier, RelevanceVectorClassifier

X, y = make_moons(600, noise=0.3, random_state=0)
X_new, y_new = make_moons(5000, noise=0.3, random_state=1)

basis = KernelBasis(gamma=1.0)
full = SVC(C=10.0, gamma=1.0).fit(X, y)
margin = PrimalSVMClassifier(basis, C=10.0, max_active=8, random_state=0).fit(X, y)
evidence = RelevanceVectorClassifier(basis).fit(X, y)

# %%
# Circles are the rows that each model keeps. The lines are where both classes are equally likely.

side = np.linspace(-2, 3, 120)
grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
kept = (full.support_vectors_, margin.relevance_vectors_, evidence.relevance_vectors_)
fig, axes = plt.subplots(1, 3, figsize=(11, 3.6), sharey=True)
for ax, model, centers in zip(axes, (full, margin, evidence), kept, strict=True):
    ax.contour(side, side, model.decision_function(grid).reshape(120, 120), [0.0], colors="k")
    for label, marker in enumerate("os"):
        ax.plot(*X[y == label].T, marker, ms=3, alpha=0.5, mew=0)
    ax.plot(*centers.T, "ok", ms=8, mfc="none", mew=1.2)
    wrong = 100 * (1 - model.score(X_new, y_new))
    ax.set_title(f"{type(model).__name__}:\n{len(centers)} kernels, {wrong:.1f} % wrong")
    ax.set(xlabel="x0", xlim=(-2, 3), ylim=(-1.6, 2))
axes[0].set_ylabel("x1")
plt.show()
