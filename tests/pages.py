"""Reads a page as a browser would, and insists that every element is closed where it should be."""

from html.parser import HTMLParser

VOID = {"meta", "br"}


class Node:
    """An element: its tag, attributes, and children, which are nodes or text."""

    def __init__(self, tag, attrs):
        self.tag, self.attrs, self.children = tag, dict(attrs), []

    def walk(self):
        yield self
        for child in self.children:
            if isinstance(child, Node):
                yield from child.walk()

    @property
    def text(self):
        """What is read out, without what stands in the head or in a style."""
        return "".join(c if isinstance(c, str) else c.text for c in self.children)

    def all(self, tag, name=None):
        """Elements of this tag, and of this class if one is named."""
        return [
            node
            for node in self.walk()
            if node.tag == tag and (name is None or name in node.attrs.get("class", "").split())
        ]

    def one(self, tag, name=None):
        (found,) = self.all(tag, name)
        return found


class Reader(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.root = Node("", [])
        self.open = [self.root]

    def handle_starttag(self, tag, attrs):
        assert len(attrs) == len(dict(attrs)), attrs
        node = Node(tag, attrs)
        self.open[-1].children.append(node)
        if tag not in VOID:
            self.open.append(node)

    def handle_endtag(self, tag):
        assert self.open.pop().tag == tag, f"{self.getpos()}: </{tag}>"

    def handle_data(self, data):
        self.open[-1].children.append(data)

    def handle_comment(self, data):
        raise AssertionError(f"a comment: {data}")


def read_page(text):
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == [reader.root]
    return reader.root
