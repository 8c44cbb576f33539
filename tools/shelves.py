"""What stands on a page under a heading that says that it is no part of the content: shelves, forms, rules of a forum."""

import re
from collections.abc import Callable, Iterator

from lxml import etree

_HEADINGS = ("h2", "h3", "h4", "h5", "h6")
_LONGEST = 60
_MOST = 0.35
_STORIES = r"(?:stories|articles|content|contents|posts?|news|links|reading|coverage|videos?|headlines)"
# Whole headings only: "Popular culture" and "More on rivers" are chapters.
_SAYS_SO = re.compile(
    rf"(?:(?:our |the )?(?:related|recommended|trending|popular|suggested|similar|latest|top|breaking|recent)(?: {_STORIES}| topics| now| for you)?|"
    rf"(?:read|watch)(?: more| next| also| this next)(?: .*)?|more (?:from .*|{_STORIES}(?: .*)?)|"
    rf"most (?:read|popular|viewed|shared|commented)(?: {_STORIES}| today| now| this week)?|editor'?s'? (?:picks?|choice)|don'?t miss(?: this| out)?|"
    r"you (?:may|might|will)(?: also)? (?:like|be interested|enjoy|love).*|share(?: this.*| on .*)?|follow us.*|"
    r"(?:show|view|post|add|leave)(?: a| your| all)? ?(?:comments?|reply).*|\d* ?comments?(?: \(\d+\))?|join the (?:conversation|discussion)|"
    r"community (?:standards|guidelines)|about the author|(?:newsletter|subscribe|sign up).*|tags|filed under.*|"
    r"advertisement|sponsored.*|promoted.*|from our partners|around the web)\W*"
)  # fmt: skip


def shelves(root: etree._Element, mass: Callable[[etree._Element], float]) -> Iterator[list[etree._Element]]:
    """Each such heading with what follows it up to the next heading of its kind; `mass`: how much text is in an element."""
    whole = mass(root)
    for heading in list(root.iter(*_HEADINGS)):
        said = " ".join("".join(heading.itertext()).split()).casefold().replace("’", "'")
        if len(said) > _LONGEST or not _SAYS_SO.fullmatch(said):
            continue
        shelf = [_wrapper(heading, root, lambda element: mass(element) <= _MOST * whole)]
        for following in heading.itersiblings(etree.Element) if shelf == [heading] else ():
            if any(each.tag <= heading.tag for each in following.iter("h1", *_HEADINGS)):
                break
            shelf.append(following)
        if sum(map(mass, shelf)) <= _MOST * whole:
            yield shelf


def _wrapper(
    heading: etree._Element, root: etree._Element, may_go: Callable[[etree._Element], bool]
) -> etree._Element:
    """The largest element that begins with the heading."""
    element = heading
    while (
        (parent := element.getparent()) is not None
        and parent is not root
        and parent.index(element) == 0
        and not (parent.text or "").strip()
        and may_go(parent)
    ):
        element = parent
    return element
