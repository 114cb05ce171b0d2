"""Formulas as MathML, which browsers set themselves: no script, no font from elsewhere, and the colours of the page."""

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

logger = logging.getLogger(__name__)


def mathml(node, as_block=False):
    source = node.astext()
    if "\\\\" in source and "\\begin{" not in source:
        source = f"\\begin{{aligned}}{source}\\end{{aligned}}"
    try:
        return tex2mathml(source, as_block=as_block)
    except MathError as error:
        logger.warning("%s in the formula %s", error, source, location=node)
        return ""


def visit_inline(writer, node):
    writer.body.append(mathml(node))
    raise nodes.SkipNode


def visit_block(writer, node):
    writer.body.append(f'<div class="math-block">{mathml(node, as_block=True)}</div>\n')
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
