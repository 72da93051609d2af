"""A small tree of an HTML page, enough to ask what elements it has and what text they hold."""

from html.parser import HTMLParser

VOID = {"meta", "link", "input", "br", "hr", "img"}


class Node:
    def __init__(self, tag, attrs, parent):
        self.tag, self.attrs, self.parent, self.children = tag, dict(attrs), parent, []

    @property
    def text(self):
        return "".join(child if isinstance(child, str) else child.text for child in self.children)

    def all(self, tag=None, cls=None):
        for child in self.children:
            if isinstance(child, str):
                continue
            if (tag is None or child.tag == tag) and (cls is None or cls in child.classes):
                yield child
            yield from child.all(tag, cls)

    def one(self, tag=None, cls=None):
        (only,) = self.all(tag, cls)
        return only

    @property
    def classes(self):
        return (self.attrs.get("class") or "").split()


class _Builder(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.root = self.at = Node("root", {}, None)

    def handle_starttag(self, tag, attrs):
        node = Node(tag, attrs, self.at)
        self.at.children.append(node)
        if tag not in VOID:
            self.at = node

    def handle_startendtag(self, tag, attrs):
        self.at.children.append(Node(tag, attrs, self.at))

    def handle_endtag(self, tag):
        assert self.at.tag == tag, f"</{tag}> closes <{self.at.tag}>"
        self.at = self.at.parent

    def handle_data(self, data):
        self.at.children.append(data)


def parse(page):
    """The page's tree. Fails when a tag is closed that isn't open."""
    builder = _Builder()
    builder.feed(page)
    builder.close()
    assert builder.at is builder.root, f"<{builder.at.tag}> is never closed"
    return builder.root
