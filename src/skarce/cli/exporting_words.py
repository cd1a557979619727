"""What exports say, in words of the command line."""

from __future__ import annotations

import re

STDS = {"plain": True, "augmented": "augmented", "none": False}
_OPTIONS = {repr(value).strip("'"): name for name, value in STDS.items()}
_WORDS = (
    (re.compile(r"""\breal=(["'])(\w+)\1 or (["'])(\w+)\3"""), r"--real \2 or \4"),
    (re.compile(r"""\breal=(["'])(\w+)\1"""), r"--real \2"),
    (re.compile(r"\bPass X, some rows like those of the training\b"), "Name DATA, a table of rows like those of the training"),
)


def in_options(message: object) -> str:
    """Return a message that names options of the command line instead of parameters.

    Examples
    --------
    >>> in_options('Use real="double" or std=True.')
    'Use --real double or --std plain.'
    """
    text = re.sub(r"""\bstd=(["']?)(True|False|augmented)\1""", lambda found: f"--std {_OPTIONS[found[2]]}", str(message))
    for pattern, words in _WORDS:
        text = pattern.sub(words, text)
    return text


def in_options_of_fit(message: object) -> str:
    """Return the same for `skarce fit`, which has no option for the std, but one for the width of kernels and for the basis.

    Examples
    --------
    >>> in_options_of_fit('Use real="double", std=False or a larger gamma.')
    'Use --real double or a larger --gamma.'
    """
    text = re.sub(r", std=False or ", " or ", str(message))
    text = re.sub(r"std=False(?:, | or )|(?:, | or )std=False", "", text)
    return in_options(re.sub(r'\bbasis="rbf"', "--basis rbf", text).replace("larger gamma", "larger --gamma"))
