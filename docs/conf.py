"""How the site is built: ``make docs``; no page of it asks anything of the network."""

import sys
from pathlib import Path

import dynmeans

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "extensions"))

project = "dynmeans"
author = "The dynmeans developers"
version = release = dynmeans.__version__

extensions = [
    "mathml",
    "myst_parser",
    "numpydoc",
    "playable",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "extensions", "gallery/*.ipynb", "gallery/*.py", "gallery/*.zip"]
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
suppress_warnings = ["config.cache"]  # The gallery's order is a class, which cannot be pickled.

autosummary_generate = True
autodoc_typehints = "none"  # The docstrings give them in words.
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"(^|/)(?!plot_)[^/]*\.py$",
    "abort_on_example_error": True,
    "remove_config_comments": True,
    "show_memory": False,
    "write_computation_times": False,
    "show_signature": False,
    "download_all_examples": False,
    "min_reported_time": 1,
    "matplotlib_animations": (True, "jshtml"),
    "within_subsection_order": "FileNameSortKey",
}

html_theme = "pydata_sphinx_theme"
html_title = "dynmeans"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "show_prev_next": True,
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}
html_sidebars = {page: [] for page in ("index", "getting-started", "how-it-works")}
copyright = "The dynmeans developers, MIT license"
copybutton_prompt_text = ">>> |\\.\\.\\. |\\$ "
copybutton_prompt_is_regexp = True
