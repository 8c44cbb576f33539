"""Word (.docx and its kin): the running text, then what stands outside it: notes, comments, headers and footers."""

from tools.formats.ooxml import Package
from tools.formats.source import Source
from tools.formats.wordbody import Body
from tools.formats.xml import attribute, child, every
from tools.page import Document

_KIND = "a Word document"
_PAGES = {"first": ", first page", "even": ", even pages"}


def word_document(source: Source) -> Document:
    """A .docx file. Raises DocumentError."""
    package = Package(source, _KIND)
    main = package.main_part(r"word/document\d*\.xml$")
    body = Body(package, word_document)
    root = package.zip.xml(main)
    if root is None:
        raise source.damaged(_KIND)
    running = child(root, "body")
    parts = body.part(root if running is None else running, main)
    parts += _apart(package, body, main)
    return source.document(
        "\n\n".join(part for part in parts if part),
        title=package.title or body.first_heading,
        note=package.note,
    )


def _apart(package: Package, body: Body, main: str) -> list[str]:
    """Everything that stands outside the running text."""
    zipped = package.zip
    blocks: list[str] = []
    for kind, head in (("footnotes", "Footnotes"), ("endnotes", "Endnotes")):
        for name in zipped.matching(rf"word/{kind}\d*\.xml$"):
            notes = _notes(package, body, name)
            blocks += [f"## {head}", *notes] if notes else []
    for name in zipped.matching(r"word/comments\d*\.xml$"):
        comments = _comments(package, body, name)
        blocks += ["## Comments", "\n".join(comments)] if comments else []
    pages = _pages_of(package, main)
    for kind in ("header", "footer"):
        seen: dict[str, dict[str, None]] = {}
        for name in zipped.matching(rf"word/{kind}\d*\.xml$"):
            root = zipped.xml(name)
            text = "\n\n".join(body.part(root, name)) if root is not None else ""
            if text:
                seen.setdefault(pages.get(name, ""), {})[text] = None
        for which in sorted(seen):
            blocks += [f"## Page {kind}{'s' * (len(seen[which]) > 1)}{which}", *seen[which]]
    for name in zipped.matching(r"word/(document\d*|glossary/document)\.xml$"):
        if name not in package.used and name != main and not name.startswith("word/glossary"):
            root = zipped.xml(name)
            blocks += body.part(root, name) if root is not None else []
    return blocks + package.left_over("word")


def _pages_of(package: Package, main: str) -> dict[str, str]:
    """On which pages the headers and footers stand that do not stand on every page, by the names of their parts."""
    relations = package.relations(main)
    found: dict[str, str] = {}
    for each in every(package.zip.xml(main), "headerReference", "footerReference"):
        target = relations.get(attribute(each, "id"))
        if target and (which := _PAGES.get(attribute(each, "type"))):
            found[target.place] = which
    return found


def _notes(package: Package, body: Body, name: str) -> list[str]:
    root = package.zip.xml(name)
    found = []
    for note in root if root is not None else ():
        if attribute(note, "type") not in ("separator", "continuationSeparator", "continuationNotice"):
            text = " ".join("\n".join(body.within(note, name)).split())
            if text:
                found.append(f"[^{attribute(note, 'id')}]: {text}")
    return found


def _comments(package: Package, body: Body, name: str) -> list[str]:
    root = package.zip.xml(name)
    found = []
    for comment in root if root is not None else ():
        text = " ".join("\n".join(body.within(comment, name)).split())
        who = attribute(comment, "author") or attribute(comment, "initials") or "somebody"
        when = attribute(comment, "date")[:10]
        about = " ".join(body.anchors.get(attribute(comment, "id"), "").split())
        about = f" on “{about[:200]}”" if about else ""
        if text:
            found.append(f"- {who}{f' ({when})' if when else ''}{about}: {text}")
    return found
