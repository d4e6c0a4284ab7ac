"""How Sphinx makes the site from the pages of docs/: `make docs`."""

import sys
from pathlib import Path

from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parent))

import misstep
from generated import fill_in

project = "misstep"
author = "The misstep team"
version = release = misstep.__version__
extensions = ["myst_nb"]
exclude_patterns = ["site"]
language = "en"

html_theme = "furo"
html_title = f"misstep {version}"
html_css_files = ["misstep.css"]
html_static_path = ["static"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
smartquotes = False  # `--policy` is no dash.

# Headings can be linked to, as on GitHub, and a link to one that is not there is an error (`-W`).
myst_heading_anchors = 4
myst_enable_extensions = ["deflist", "colon_fence"]
# Notebooks are shown with the outputs that they have; the tests compare these with what the code prints today.
nb_execution_mode = "off"
nb_ipywidgets_js: dict[str, dict[str, str]] = {}  # Nothing is loaded from the network.
# Outputs on the pages use `...` for what differs, and PDDL has no highlighter of its own.
suppress_warnings = ["misc.highlighting_failure"]


def setup(app: Sphinx) -> None:
    """Pages with `<!-- generated: NAME -->` get what the code itself says."""
    app.connect("source-read", lambda _app, _page, source: source.__setitem__(0, fill_in(source[0])))
