"""Formulas as MathML, which browsers set themselves: no script, no font from elsewhere, and the colours of the page."""

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml


def visit_inline(writer, node):
    writer.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def visit_block(writer, node):
    source = node.astext()
    if "\\\\" in source and "\\begin{" not in source:
        source = f"\\begin{{aligned}}{source}\\end{{aligned}}"
    writer.body.append(f'<div class="math-block">{tex2mathml(source, as_block=True)}</div>\n')
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
