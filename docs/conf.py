"""How Sphinx builds the documentation: offline, tutorials executed, warnings treated as errors by CI."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import falconage

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
# Sphinx reads only what lies in its own folder.
shutil.copytree(
    HERE.parent / "tutorials",
    HERE / "tutorials",
    ignore=shutil.ignore_patterns(".*", "*.md", "*.h5ad"),
    dirs_exist_ok=True,
)

project = "falconage"
author = "The falconage developers"
project_copyright = f"2026, {author}"
version = release = falconage.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "catalogue",
    "docstrings",
]
exclude_patterns = ["_build", "**.ipynb_checkpoints"]
templates_path = ["_templates"]
# Stubs of autosummary get the first suffix, and they are reStructuredText.
source_suffix = {".rst": "restructuredtext", ".md": "myst-nb", ".ipynb": "myst-nb"}

autosummary_generate = True
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented_params"
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_attr_annotations = False
napoleon_custom_sections = [("Sets the following fields", "notes_style"), ("Sets", "notes_style")]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_merge_streams = True

# Links into other projects' documentation need the network, so they are asked for.
if inventories := os.environ.get("FALCONAGE_INTERSPHINX"):
    extensions.append("sphinx.ext.intersphinx")
    intersphinx_mapping = {
        name: (url, None) for name, url in (pair.split("=", 1) for pair in inventories.split(",") if pair)
    }

html_theme = "sphinx_book_theme"
html_title = "falconage"
html_static_path = ["_static"]
html_css_files = ["falconage.css"]
html_theme_options = {"home_page_in_toc": True, "show_navbar_depth": 1, "show_toc_level": 2}
html_show_sphinx = False
