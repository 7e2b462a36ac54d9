"""Figures as SVG inside an HTML page, whose points have a title and may be links."""

import re
from collections.abc import Mapping
from xml.etree import ElementTree  # parses what matplotlib has just written, nothing from outside

from matplotlib.figure import Figure

from valuesassets.figures.saving import svg_text

LONG_NUMBER = re.compile(r"(\d\.\d\d)\d+")
"""A coordinate with more digits than a screen shows."""


def linked_svg(figure: Figure, titles: Mapping[str, str], links: Mapping[str, str], label: str) -> str:
    """The figure as SVG, with titles and links on the artists that have a gid.

    Args:
        titles: the title of each artist, by its gid.
        links: the address that an artist links to, by its gid; artists without a link can be focused to read their
            title.
        label: a description of the figure for readers who cannot see it.
    """
    root = parse_svg(svg_text(figure), tuple(titles))
    parents = {child: parent for parent in root.iter() for child in parent}
    for element in [each for each in root.iter("g") if each.get("id")]:
        text = titles.get(gid := element.attrib.pop("id"))
        if text is None:
            continue
        title = ElementTree.Element("title")
        title.text = text
        element.insert(0, title)
        element.set("class", "point")
        if gid in links:
            link = ElementTree.Element("a", {"href": links[gid], "aria-label": text})
            parents[element][list(parents[element]).index(element)] = link
            link.append(element)
        else:
            element.attrib |= {"role": "img", "aria-label": text, "tabindex": "0"}
    root.attrib |= {"role": "group", "aria-label": label}
    return ElementTree.tostring(root, encoding="unicode")


def parse_svg(svg: str, id_prefixes: tuple[str, ...]) -> ElementTree.Element:
    """The figure's markup for use in HTML: without name spaces and metadata, with shared marks at the top.

    Args:
        svg: the text that `svg_text` returns.
        id_prefixes: prefixes of the ids that groups keep; other groups lose their id.
    """
    root = ElementTree.fromstring(svg)  # noqa: S314
    for element in root.iter():
        element.tag = element.tag.rsplit("}", 1)[-1]
        for name in [name for name in element.attrib if "}" in name]:
            element.set(name.rsplit("}", 1)[-1], element.attrib.pop(name))
        element.tail = element.text = None  # the figure's words are drawn as paths
        if element.get("d"):
            element.set("d", " ".join(LONG_NUMBER.sub(r"\1", str(element.get("d"))).split()))
    for parent in list(root.iter()):
        for child in [each for each in parent if each.tag in ("metadata", "style")]:
            parent.remove(child)
    shared: dict[str, ElementTree.Element] = {}
    for parent in list(root.iter("g")):
        for child in [each for each in parent if each.tag == "defs"]:
            parent.remove(child)
            shared |= {str(each.get("id")): each for each in child}  # a letter is drawn once for all words
    for element in root.iter("g"):
        if not str(element.get("id")).startswith(id_prefixes):
            element.attrib.pop("id", None)
    definitions = ElementTree.Element("defs")
    definitions.extend(shared.values())
    root.insert(0, definitions)
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    root.set("style", "stroke-linejoin: round; stroke-linecap: butt")
    return root
