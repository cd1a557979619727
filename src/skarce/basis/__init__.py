"""What may enter a model: kernels at centers, polynomials, the inputs themselves, or the output of any transformer."""

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
