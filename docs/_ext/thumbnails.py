"""```{thumbnail} page``` shows the first figure of another page, as that page draws it, and leads there."""

from docutils import nodes
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

logger = logging.getLogger(__name__)


class thumbnail(nodes.General, nodes.Element):
    """A place for the figure of a page, which is there when all pages are read."""


class Thumbnail(SphinxDirective):
    required_arguments = 1

    def run(self):
        page, _ = self.env.relfn2path(f"{self.arguments[0]}.md")
        node = thumbnail(page=page.removesuffix(".md"))
        self.set_source_info(node)
        return [node]


def fill(app, doctree, name):
    """Put copies of the figures in their places."""
    for node in list(doctree.findall(thumbnail)):
        figure = next(app.env.get_doctree(node["page"]).findall(nodes.image), None)
        if figure is None:
            logger.warning("no figure in %s", node["page"], location=node)
            node.parent.remove(node)
            continue
        figure = figure.deepcopy()
        figure["classes"] = ["thumbnail"]
        node.replace_self(figure)


def setup(app):
    app.add_node(thumbnail)
    app.add_directive("thumbnail", Thumbnail)
    app.connect("doctree-resolved", fill)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
