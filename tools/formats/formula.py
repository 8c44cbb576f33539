"""Office's formulas (OMML) as a line of text: (a)/(b), x^2, √(x), ∑_(i=1)^(n)."""

from tools.formats.xml import Element, attribute, child, local, words

_DEEPEST = 40
_HIDDEN = {"fPr", "sSubPr", "sSupPr", "sSubSupPr", "radPr", "naryPr", "dPr", "funcPr", "limLowPr", "limUppPr",
           "accPr", "barPr", "mPr", "eqArrPr", "ctrlPr", "rPr", "boxPr", "groupChrPr", "phantPr", "sPrePr"}  # fmt: skip


def formula(element: Element, depth: int = 0) -> str:
    """The formula in one line."""
    name = local(element)
    if depth > _DEEPEST:
        return words(element)
    if name == "t":
        return element.text or ""

    def part(of: str) -> str:
        found = child(element, of)
        return formula(found, depth + 1) if found is not None else ""

    if name == "f":
        return f"{_held(part('num'))}/{_held(part('den'))}"
    if name in ("sSup", "sSub", "sSubSup", "sPre"):
        below = f"_{_held(part('sub'))}" if part("sub") else ""
        above = f"^{_held(part('sup'))}" if part("sup") else ""
        return f"{part('e')}{below}{above}"
    if name == "rad":
        degree = part("deg")
        return f"{_held(degree)}√({part('e')})" if degree else f"√({part('e')})"
    if name == "nary":
        sign = attribute(child(element, "naryPr", "chr"), "val", "∫")
        below = f"_{_held(part('sub'))}" if part("sub") else ""
        above = f"^{_held(part('sup'))}" if part("sup") else ""
        return f"{sign}{below}{above} {part('e')}"
    if name == "d":
        first = attribute(child(element, "dPr", "begChr"), "val", "(")
        last = attribute(child(element, "dPr", "endChr"), "val", ")")
        inner = ", ".join(formula(each, depth + 1) for each in element if local(each) == "e")
        return f"{first}{inner}{last}"
    if name in ("limLow", "limUpp"):
        return f"{part('e')}_{_held(part('lim'))}"
    if name in ("m", "eqArr"):
        return "; ".join(formula(each, depth + 1) for each in element if local(each) in ("mr", "e"))
    if name == "mr":
        return ", ".join(formula(each, depth + 1) for each in element)
    return "".join(formula(each, depth + 1) for each in element if local(each) not in _HIDDEN)


def _held(text: str) -> str:
    """The same in brackets when it is more than one sign or word."""
    text = text.strip()
    return text if text.isalnum() else f"({text})"
