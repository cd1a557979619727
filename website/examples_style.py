"""How examples look in the gallery, and in which order they stand there."""

import warnings

from cycler import cycler

ORDER = (
    "plot_noisy_sine.py",
    "plot_intervals_off_the_data.py",
    "plot_honest_intervals.py",
    "plot_choosing_widths.py",
    "plot_ard_friedman1.py",
    "plot_weights.py",
    "plot_path_and_size.py",
    "plot_elimination.py",
    "plot_all_sets.py",
    "plot_lasso_on_kernels.py",
    "plot_groups.py",
    "plot_outliers.py",
    "plot_streams.py",
    "plot_changing_function.py",
    "plot_classification_regions.py",
    "plot_few_support_vectors.py",
    "plot_counts.py",
    "plot_polynomial_chaos.py",
    "plot_sindy.py",
    "plot_spectra.py",
    "plot_few_directions.py",
    "plot_many_rows.py",
    "plot_dask.py",
    "plot_export_c.py",
    "plot_microcontroller.py",
)
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")  # can be told apart by everybody
STYLE = {
    "axes.prop_cycle": cycler(color=COLORS),
    "figure.figsize": (7.0, 4.0),
    "figure.dpi": 100,
    "figure.constrained_layout.use": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 11,
    "axes.labelsize": 10,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "font.size": 10,
    "lines.linewidth": 2.0,
}


def order(file_name):
    """Return where an example stands in the gallery."""
    return ORDER.index(file_name)


def reset(gallery_conf, file_name, when):
    """Give all pictures one style, and make warnings errors while an example runs."""
    import matplotlib.pyplot as plt

    plt.rcdefaults()
    if when == "before":
        plt.rcParams.update(STYLE)
        _FILTERS[:] = warnings.filters
        warnings.simplefilter("error")
    else:
        warnings.filters[:] = _FILTERS


_FILTERS: list = []  # those of Sphinx, between examples
