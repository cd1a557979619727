"""Settings of Sphinx. `build.py` prepares the folder of sources and calls Sphinx."""

import os
import re
from importlib.metadata import version as installed_version
from pathlib import Path

from by_theme import with_dark_twins

project = "skarce"
author = "The skarce developers"
copyright = author
version = release = installed_version("skarce")
repository = os.environ["SKARCE_REPOSITORY"]

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["**/GALLERY_HEADER.rst"]
templates_path = [os.path.join(repository, "website", "templates")]
highlight_language = "none"
default_role = "literal"
smartquotes = False

# Pages in Markdown. They are written for GitHub, so headings have its anchors.
myst_enable_extensions = ["attrs_inline", "dollarmath", "colon_fence"]
myst_heading_anchors = 4

# The reference.
autosummary_generate = True
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"
autodoc_member_order = "groupwise"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

# Formulas: one file, copied by `build.py`. The default would be loaded from another host.
mathjax_path = "mathjax/tex-svg-full.js"
mathjax3_config = {"svg": {"fontCache": "global"}, "options": {"enableMenu": False}}

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": os.path.join(repository, "examples"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "examples_style.order",
    "reset_modules": ("examples_style.reset",),
    "reset_modules_order": "both",
    "doc_module": ("skarce",),
    "backreferences_dir": "api/backreferences",
    "abort_on_example_error": True,
    "image_srcset": ["2x"],
    "download_all_examples": False,
    "show_signature": False,
    "show_memory": False,
    "min_reported_time": 3600,
    "write_computation_times": False,
    "plot_gallery": os.environ.get("SKARCE_GALLERY", "True"),
}

html_theme = "pydata_sphinx_theme"
html_title = "skarce"
html_static_path = ["static", os.path.join(repository, "build", "site-sources", "assets")]
html_css_files = ["skarce.css"]
html_copy_source = False
html_show_sphinx = False
html_sidebars = {"index": []}
html_theme_options = {
    "logo": {"text": "skarce"},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 7,
    "show_nav_level": 1,
    "navigation_depth": 3,
    "show_toc_level": 2,
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "tango",
    "pygments_dark_style": "monokai",
}


def _without_glossary(app, what, name, obj, options, lines):
    """Terms point to a glossary of scikit-learn, which is on another host."""
    lines[:] = [re.sub(r":term:`([^`]+)`", r"``\1``", line) for line in lines]


def _only_ours(app, what, name, obj, skip, options):
    """Leave out what classes inherit from scikit-learn and from Python."""
    source = getattr(obj, "fget", None) or getattr(obj, "func", None) or obj
    module = getattr(source, "__module__", None) or ""
    inherited = callable(source) and not module.startswith("skarce")
    fields = type(obj).__name__ == "_tuplegetter"
    return True if inherited or fields else None


def _without_empty_last_lines(app, name, source):
    """Doctests end with an empty line, because the one after them ends the fence. Readers do not need it."""
    source[0] = source[0].replace("\n\n```\n", "\n```\n")


def _by_theme(app, name, source):
    """Dark pages show dark pictures. On GitHub, pages show light ones."""
    source[0] = with_dark_twins(source[0], Path(app.env.doc2path(name)).parent)


def setup(app):
    app.connect("source-read", _without_empty_last_lines)
    app.connect("source-read", _by_theme)
    app.connect("autodoc-process-docstring", _without_glossary)
    app.connect("autodoc-skip-member", _only_ours)
