"""Dense textbook formulas: N x N matrices, no tricks. Slow and obvious, so that everything else can be checked against them."""

import numpy as np
from scipy.optimize import minimize
from scipy.special import gammaln


def contrasts(n):
    """An orthonormal basis of the vectors that sum to zero, shape (n, n - 1)."""
    full, _ = np.linalg.qr(np.column_stack([np.ones(n), np.eye(n)[:, : n - 1]]))
    return full[:, 1:]


def log_density(t, covariance):
    """log N(t | 0, covariance)."""
    _, log_determinant = np.linalg.slogdet(covariance)
    return -0.5 * (len(t) * np.log(2 * np.pi) + log_determinant + t @ np.linalg.solve(covariance, t))


def log_evidence(phi, t, precisions, noise_variance, *, intercept=False):
    """log p(t) for t = phi w + noise, w_j ~ N(0, 1/precision_j); with a flat-prior constant, of the N - 1 contrasts of t."""
    covariance = noise_variance * np.eye(len(t)) + (phi / precisions) @ phi.T
    if intercept:
        basis = contrasts(len(t))
        return log_density(basis.T @ t, basis.T @ covariance @ basis)
    return log_density(t, covariance)


def profiled_log_evidence(phi, t, ridges, *, intercept=False):
    """The same with precisions relative to the noise, and the noise at its optimum."""
    if intercept:
        phi, t = contrasts(len(t)).T @ phi, contrasts(len(t)).T @ t
    n = len(t)
    shape = np.eye(n) + (phi / ridges) @ phi.T
    noise = t @ np.linalg.solve(shape, t) / n
    return log_density(t, noise * shape)


def annihilator(phi, ridges, n):
    """P = (I + phi Lambda^-1 phi')^-1."""
    return np.linalg.inv(np.eye(n) + (phi / ridges) @ phi.T)


def ridge_smoother(phi, penalty, *, intercept=False):
    """The hat matrix of penalized least squares, shape (N, N); a constant, if there is one, is a column without a penalty."""
    if intercept:
        phi = np.column_stack([phi, np.ones(len(phi))])
        penalty = np.pad(penalty, (0, 1))
    return phi @ np.linalg.pinv(phi.T @ phi + penalty, rcond=1e-15, hermitian=True) @ phi.T


def gcv(phi, t, penalty, *, intercept=False):
    """N |t - S t|^2 / (N - tr S)^2; `penalty` is a matrix, or its diagonal."""
    if np.ndim(penalty) == 1 and not intercept:
        S = phi @ np.linalg.solve(phi.T @ phi + np.diag(penalty), phi.T)
        return len(t) * ((t - S @ t) ** 2).sum() / (len(t) - np.trace(S)) ** 2
    penalty = np.diag(penalty) if np.ndim(penalty) == 1 else penalty
    S = ridge_smoother(phi, penalty, intercept=intercept)
    return len(t) * ((t - S @ t) ** 2).sum() / (len(t) - np.trace(S)) ** 2


def gram_schmidt(phi):
    """phi = Q U with orthogonal (not normalized) columns Q and U unit upper triangular, column by column."""
    Q, U = np.zeros_like(phi), np.eye(phi.shape[1])
    for j in range(phi.shape[1]):
        column = phi[:, j].copy()
        for i in range(j):
            U[i, j] = Q[:, i] @ column / (Q[:, i] @ Q[:, i])
            column = column - U[i, j] * Q[:, i]
        Q[:, j] = column
    return Q, U


def rbf(X, C, gamma):
    return np.exp(-gamma * ((X[:, None, :] - C[None, :, :]) ** 2).sum(axis=2))


def random_problem(seed, n=30, m=12):
    """Columns of very different lengths, some nearly dependent, and a target that depends on three of them."""
    rng = np.random.default_rng(seed)
    phi = rng.normal(size=(n, m)) * 10.0 ** rng.uniform(-1.5, 1.5, m)
    phi[:, 3] = phi[:, 2] + 0.1 * np.abs(phi[:, 2]).max() * rng.normal(size=n)
    t = phi[:, :3] @ (rng.normal(size=3) / np.linalg.norm(phi[:, :3], axis=0)) * 5 + rng.normal(size=n) + 2.0
    return phi, t


def stable_gcv(phi, t, ridges, n_left):
    """The same (without N in front) for ill-conditioned sets of centered columns: residuals by QR of the augmented matrix.

    `ridges` may be several sets of them, one in each row.
    """
    ridges = np.asarray(ridges)
    penalties = np.sqrt(ridges)[..., None] * np.eye(phi.shape[1])
    augmented = np.concatenate([np.broadcast_to(phi, (*ridges.shape[:-1], *phi.shape)), penalties], axis=-2)
    orthogonal = np.linalg.qr(augmented)[0][..., : len(t), :]
    rest = t - (orthogonal @ (t @ orthogonal)[..., None])[..., 0]
    return np.sum(rest**2, axis=-1) / (n_left - np.sum(orthogonal**2, axis=(-2, -1))) ** 2


def well_determined(phi, alpha, beta):
    """gamma = m - alpha tr Sigma."""
    return phi.shape[1] - alpha * np.trace(np.linalg.inv(beta * phi.T @ phi + alpha * np.eye(phi.shape[1])))


def shared_evidence(phi, t, alpha, beta, *, intercept=False):
    """Barrio, Romero and Belanche, eq. (4), with gamma and N - gamma not below 1."""
    if intercept:
        phi, t = contrasts(len(t)).T @ phi, contrasts(len(t)).T @ t
    gamma = well_determined(phi, alpha, beta)
    density = log_density(t, np.eye(len(t)) / beta + phi @ phi.T / alpha)
    return density + 0.5 * np.log(2 / max(gamma, 1)) + 0.5 * np.log(2 / max(len(t) - gamma, 1))


def latent_mode(phi, t, weights, precisions, kind="bernoulli", level=0.0):
    """The mode of sum c log p(t | f = level + phi w) - w'A w / 2 by a general optimizer.

    Labels have p = g(f)^t (1 - g(f))^(1 - t), counts p = e^(t f - e^f) / t!.
    """

    def loss(w):
        f = level + phi @ w
        rows = np.logaddexp(0.0, f) - t * f if kind == "bernoulli" else np.exp(np.minimum(f, 500.0)) - t * f + gammaln(t + 1.0)
        return weights @ rows + 0.5 * precisions @ w**2

    def mean(w):
        f = level + phi @ w
        return 1.0 / (1.0 + np.exp(-f)) if kind == "bernoulli" else np.exp(f)

    def slope(w):
        return phi.T @ (weights * (mean(w) - t)) + precisions * w

    def hessian(w):
        g = mean(w)
        return (phi * (weights * (g * (1.0 - g) if kind == "bernoulli" else g))[:, None]).T @ phi + np.diag(precisions)

    best = minimize(loss, np.zeros(phi.shape[1]), jac=slope, hess=hessian, method="trust-exact", options={"gtol": 1e-11})
    mode = best.x
    for _ in range(3):  # the last digits, which the optimizer leaves if it sees no more change
        mode = mode - np.linalg.solve(hessian(mode), slope(mode))
    return mode, -loss(mode), hessian(mode)


def laplace_log_evidence(phi, t, weights, precisions, *, intercept=False, kind="bernoulli"):
    """log p(t) by the Laplace approximation; with a constant of prior N(0, 10^2), of counts about the log of their mean."""
    if intercept:
        phi, precisions = np.column_stack([np.ones(len(t)), phi]), np.concatenate([[0.01], precisions])
    level = np.log(weights @ t / weights.sum()) if intercept and kind == "poisson" else 0.0
    _, log_posterior, hessian = latent_mode(phi, t, weights, precisions, kind, level)
    return log_posterior + 0.5 * np.log(precisions).sum() - 0.5 * np.linalg.slogdet(hessian)[1]


def laplace_score(phi, t, weights, precisions, *, intercept=False, kind="bernoulli"):
    """The same less mean(phi^2) / (2 tau^2 alpha) of every function, tau = 10."""
    penalties = (weights @ phi**2) / weights.sum() / (200.0 * precisions)
    return laplace_log_evidence(phi, t, weights, precisions, intercept=intercept, kind=kind) - penalties.sum()


def penalized_error(phi, t, ridge, *, intercept=False):
    """min over w of |t - phi w|^2 + ridge |w|^2, as a sum of squares; a constant, if there is one, is not penalized."""
    if intercept:
        phi, t = phi - phi.mean(axis=0), t - t.mean()
    w = np.linalg.solve(phi.T @ phi + ridge * np.eye(phi.shape[1]), phi.T @ t)
    return ((t - phi @ w) ** 2).sum() + ridge * (w**2).sum()


def l1_objective(phi, t, weights, penalty):
    """|t - phi a|^2 / 2 + mu |a|_1; `weights` may be several sets of them, one in each row."""
    return 0.5 * ((t - weights @ phi.T) ** 2).sum(axis=-1) + penalty * np.abs(weights).sum(axis=-1)


def l1_violation(phi, t, weights, penalty):
    """By how much the worst of the optimality conditions of that fails, from the rows."""
    correlations = phi.T @ (t - phi @ weights)
    gaps = np.where(weights == 0, np.maximum(np.abs(correlations) - penalty, 0), np.abs(correlations - penalty * np.sign(weights)))
    return gaps.max()


def coordinate_descent(phi, t, penalty, cycles):
    """The lasso, one weight after the other."""
    weights, residual = np.zeros(phi.shape[1]), t.copy()
    for _ in range(cycles):
        for j in np.flatnonzero((phi**2).sum(axis=0)):
            column = phi[:, j]
            projected = column @ residual + column @ column * weights[j]
            after = np.sign(projected) * max(abs(projected) - penalty, 0) / (column @ column)
            residual += column * (weights[j] - after)
            weights[j] = after
    return weights


def largest_gain(phi, t, active, ridges, n, noise=None):
    """The most that a single change raises the evidence, from N x N matrices and a scan over the ridge of every column.

    The noise is at its optimum before and after, unless it is given.
    """
    inside = phi[:, active]
    shape = np.linalg.inv(np.eye(len(t)) + (inside / ridges) @ inside.T)
    steps = []
    for m in range(phi.shape[1]):
        P, present = shape, 0.0
        if m in active:
            j = int(np.flatnonzero(active == m)[0])
            rest, others = np.delete(active, j), np.delete(ridges, j)
            P = np.linalg.inv(np.eye(len(t)) + (phi[:, rest] / others) @ phi[:, rest].T)
        psi, o, a = phi[:, m] @ P @ phi[:, m], phi[:, m] @ P @ t, t @ P @ t
        if psi < 1e-9 * (phi[:, m] ** 2).sum():
            continue

        def gain(ridge, psi=psi, o=o, a=a):
            explained = o**2 / (psi + ridge)
            fit = -0.5 * n * np.log(1 - explained / a) if noise is None else 0.5 * explained / noise
            return fit - 0.5 * np.log((psi + ridge) / ridge)

        if m in active:
            present = gain(ridges[j])
        steps.append(max(0.0, gain(psi * np.geomspace(1e-9, 1e9, 500)).max()) - present)
    return max(steps)


def largest_gain_of_gcv(phi, t, active, ridges, n):
    """The most that a single change lowers GCV (as a score), from residuals by QR and a scan over the ridge of every column."""

    def score(columns, penalties):
        return -0.5 * n * np.log(stable_gcv(phi[:, columns], t, penalties, n))

    before, gains = score(active, ridges), []
    for m in range(phi.shape[1]):
        rest, others = active[active != m], ridges[active != m]
        scan = (phi[:, m] ** 2).sum() * np.geomspace(1e-11, 1e5, 60)
        with_m = score(np.append(rest, m), np.column_stack([np.tile(others, (len(scan), 1)), scan]))
        gains.append(max(score(rest, others), with_m.max()) - before)
    return max(gains)


def reestimated_densely(phi, t, alpha, beta, eps):
    """The paper's rule (5) by dense matrices."""
    n_tried = 0
    while True:
        n_tried += 1
        sigma = np.linalg.inv(beta * phi.T @ phi + alpha * np.eye(phi.shape[1]))
        mu = beta * sigma @ phi.T @ t
        gamma = phi.shape[1] - alpha * np.trace(sigma)
        new = gamma / (mu @ mu), (len(t) - gamma) / ((t - phi @ mu) ** 2).sum()
        is_close = abs(np.log(new[1] / beta)) < eps * np.sqrt(2 / (len(t) - gamma))
        if is_close and abs(np.log(new[0] / alpha)) < eps * np.sqrt(2 / gamma):
            return alpha, beta, n_tried
        alpha, beta = new


def std_without(whole, fitted, left, weights, fit_intercept=True):
    """Return the std of new targets by the functions, ridges and noise of a posterior, from some of its rows only.

    `fitted` and `left` are the columns of its active functions at the rows that stay and at those that are left out. A function
    that does not vary on the rows that stay is left out.
    """
    mixing = np.eye(len(whole.ridges)) if whole.mixing is None else whole.mixing
    penalty = mixing.T @ np.diag(whole.ridges) @ mixing
    varies = np.ptp(fitted, axis=0) > 0.0
    fitted, left, penalty = fitted[:, varies], left[:, varies], penalty[np.ix_(varies, varies)]
    mean = weights @ fitted / weights.sum() if fit_intercept else np.zeros(fitted.shape[1])
    covariance = np.linalg.inv((fitted - mean).T * weights @ (fitted - mean) + penalty)
    relative = np.einsum("ij,jk,ik->i", left - mean, covariance, left - mean) + fit_intercept / weights.sum()
    return np.sqrt(whole.noise_variance * (1.0 + relative))
