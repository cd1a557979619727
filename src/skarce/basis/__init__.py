"""What may enter a model: kernels at centers, polynomials, the inputs themselves, or the output of any transformer."""

from typing import TYPE_CHECKING

from skarce._lazy import lazy

if TYPE_CHECKING:
    from skarce.basis.candidates import Evaluation
    from skarce.basis.kernel_basis import KernelBasis
    from skarce.basis.polynomial_chaos import PolynomialChaosBasis
    from skarce.basis.process_basis import ProcessBasis
    from skarce.basis.transformers import SelectedColumns, check_basis, fit_basis, is_on_landmarks, learns_widths, takes_arrays

__all__ = [
    "Evaluation",
    "KernelBasis",
    "PolynomialChaosBasis",
    "ProcessBasis",
    "SelectedColumns",
    "check_basis",
    "fit_basis",
    "is_on_landmarks",
    "learns_widths",
    "takes_arrays",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "Evaluation": "candidates",
        "KernelBasis": "kernel_basis",
        "PolynomialChaosBasis": "polynomial_chaos",
        "ProcessBasis": "process_basis",
        "SelectedColumns": "transformers",
        "check_basis": "transformers",
        "fit_basis": "transformers",
        "is_on_landmarks": "transformers",
        "learns_widths": "transformers",
        "takes_arrays": "transformers",
    },
)
