"""The site: sphinx-build -W docs build/site."""

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
# The examples run in processes of their own, which begin with `page`.
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(HERE / "_ext"), os.environ.get("PYTHONPATH")]))

import hoad  # noqa: E402

project = "hoad"
author = copyright = "The hoad developers"
version = release = hoad.__version__

extensions = [
    "coverage_page",
    "formulas",
    "myst_nb",
    "numpydoc",
    "reference",
    "stability",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "thumbnails",
]
exclude_patterns = ["_ext", "_static"]
html_theme = "furo"
html_title = f"hoad {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = html_logo = "_static/logo.svg"
html_copy_source = False
html_show_sphinx = False
html_math_renderer = "drawn"
pygments_style = "github-light"
pygments_dark_style = "github-dark"

# Pages are Markdown. Those with a kernel in their heading are run; an error in one is a warning with its traceback,
# which -W makes an error of the build.
myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "force"
nb_execution_show_tb = True
nb_execution_timeout = 60
nb_merge_streams = True

# A name's page is its docstring.
autodoc_default_options = {"members": True}
autodoc_typehints = "none"
autosummary_generate = False
default_role = "py:obj"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

copybutton_exclude = ".linenos, .gp, .go"
