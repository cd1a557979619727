"""Pages read back: well-formed, with unique ids, and without anything that a browser would load."""

from html.parser import HTMLParser

VOID = {"meta", "br", "hr", "col", "img", "link", "input"}
LOADING = {"src", "srcset", "data", "poster", "action", "formaction", "background", "cite", "ping", "xlink:href"}


class Page(HTMLParser):
    """A page with its elements; a fault is an end without a start, or an id that is there twice."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.faults, self.elements, self.texts = [], [], [], []
        self.feed(text)
        self.close()
        self.faults += [f"<{name}> is never closed" for name in self.open]
        ids = [attributes["id"] for _, attributes in self.elements if "id" in attributes]
        self.faults += [f"id {name} is there twice" for name in {name for name in ids if ids.count(name) > 1}]
        self.faults += [f"#{name} leads nowhere" for name in self._links() if name not in ids]
        self.faults += [f"no element is {name}" for name in self._labels() if name not in ids]

    def handle_starttag(self, name, attributes):
        self.elements.append((name, dict(attributes)))
        if name not in VOID:
            self.open.append(name)

    def handle_startendtag(self, name, attributes):
        self.elements.append((name, dict(attributes)))

    def handle_endtag(self, name):
        if not self.open or self.open.pop() != name:
            self.faults.append(f"</{name}> ends what it did not start")

    def handle_data(self, text):
        if not self.open or self.open[-1] not in ("style", "script"):
            self.texts.append(text)

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())

    def named(self, name):
        return [attributes for found, attributes in self.elements if found == name]

    def loaded(self):
        """What a browser would ask a host for."""
        asked = [name for name, _ in self.elements if name in ("link", "iframe", "object", "embed", "img", "image", "use", "base")]
        asked += [attributes[key] for _, attributes in self.elements for key in LOADING & set(attributes)]
        return asked + [attributes["href"] for _, attributes in self.elements if not attributes.get("href", "#").startswith("#")]

    def _links(self):
        return [attributes["href"][1:] for _, attributes in self.elements if attributes.get("href", "").startswith("#")]

    def _labels(self):
        return [name for _, attributes in self.elements for name in attributes.get("aria-labelledby", "").split()]


def assert_sound(text, largest=2_000_000):
    page = Page(text)
    assert page.faults == []
    assert page.loaded() == []
    assert "http://" not in text
    assert "https://" not in text
    assert "@import" not in text
    assert "url(" not in text
    assert len(text.encode()) < largest
    return page
