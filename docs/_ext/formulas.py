"""Formulas as drawings in the page: no script, no font of the reader's, and the colour of the text."""

import html
import re

import ziamath
from docutils import nodes
from sphinx.util import logging

logger = logging.getLogger(__name__)
SIZE = 16
ziamath.config.svg2 = False  # every drawing stands for itself: no symbols that others refer to
ziamath.config.precision = 2


def drawing(node, inline):
    """The formula of a node as SVG, in units of the text around it and on its baseline."""
    source = node.astext().strip()
    if "\\\\" in source and "\\begin{" not in source:
        source = f"\\begin{{aligned}}{source}\\end{{aligned}}"
    try:
        svg = ziamath.Latex(source, size=SIZE, color="currentColor", inline=inline).svg()
    except Exception as error:
        logger.warning("%s in the formula %s", error, source, location=node)
        return ""
    _, top, width, height = map(float, re.search(r'viewBox="([^"]*)"', svg)[1].split())
    style = f"width: {width / SIZE:.3f}em; height: {height / SIZE:.3f}em"
    if inline:
        style += f"; vertical-align: {-(top + height) / SIZE:.3f}em"
    label = html.escape(" ".join(source.split()))
    attributes = f' class="formula" role="img" aria-label="{label}" style="{style}"'
    return re.sub(r' width="[^"]*" height="[^"]*"', lambda found: attributes, svg, count=1)


def visit_inline(writer, node):
    writer.body.append(drawing(node, inline=True))
    raise nodes.SkipNode


def visit_block(writer, node):
    writer.body.append(f'<div class="math-block">{drawing(node, inline=False)}</div>\n')
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("drawn", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
