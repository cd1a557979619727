"""The names that stand for a basis. ``"auto"``, the default of estimators with kernels, leaves nothing to choose.

``"auto"`` is ``KernelBasis("auto", gamma="learned")``. The evidence chooses the kernel function and learns the widths, from a
sample of the rows if there are many. Each input has its own width, unless there are many inputs. Landmarks stand for the rows if
there are many of them. The numbers behind "many" are in `skarce.basis.widths` and `skarce.basis.centers`.
"""

from __future__ import annotations

from typing import Any

from skarce.basis.kernel_basis import AUTO_KERNEL, LEARNED, KernelBasis

AUTO, QUICK, INPUTS = "auto", "rbf", "passthrough"
LEARNED_WIDTHS = "learned"
NAMES = (AUTO, QUICK, INPUTS)
KERNELS = (AUTO, QUICK)  # these names stand for kernels at the training rows


def named_basis(name: str) -> KernelBasis | None:
    """Return the unfitted basis of this name. None stands for the inputs themselves."""
    if name == INPUTS:
        return None
    return KernelBasis(AUTO_KERNEL, gamma=LEARNED_WIDTHS) if name == AUTO else KernelBasis()


def stands_for_kernels(basis: Any) -> bool:
    """Whether a basis is a name that stands for kernels."""
    return isinstance(basis, str) and basis in KERNELS


def basis_for_nested(name: str, nested: dict[str, Any]) -> KernelBasis:
    """Return the basis whose parameters are to be set, in place of its name.

    The evidence chooses a kernel function together with its widths. So if the width is given and the function is not, the kernels
    are those of the quick rule.
    """
    gamma = nested.get("gamma", LEARNED_WIDTHS)
    is_learned = isinstance(gamma, str) and gamma in LEARNED
    basis = named_basis(AUTO if name == AUTO and (is_learned or "kernel" in nested) else QUICK)
    assert basis is not None
    return basis
