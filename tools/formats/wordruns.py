"""Runs of a Word paragraph: their style, their signs, and which branch of a choice is read."""

from tools.formats.xml import Element, attribute, child, local, words

SIGNS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "ptab": "\t"}
_MARKS = {"b": "**", "i": "*", "bi": "***", "": ""}


def alternative(element: Element) -> list[Element]:
    """The branch of a choice that has the words."""
    choices = list(element)
    best = next((each for each in choices if local(each) == "Choice" and words(each).strip()), None)
    best = best if best is not None else next((each for each in choices if words(each).strip()), None)
    best = best if best is not None else next(iter(choices), None)
    return list(best) if best is not None else []


def style_of(run: Element) -> str:
    """As "b", "i", both or neither."""
    properties = child(run, "rPr")
    if properties is None:
        return ""
    return "".join(
        key
        for key in "bi"
        if (on := child(properties, key)) is not None
        and attribute(on, "val", "1") not in ("0", "false", "off")
    )


def styled(pieces: list[tuple[str, str]]) -> str:
    """The pieces in one, with marks around bold and italic words but never inside a word."""
    merged: list[tuple[str, str]] = []
    for text, style in pieces:
        if merged and (merged[-1][1] == style or not text.strip()):
            merged[-1] = (merged[-1][0] + text, merged[-1][1])
        elif text:
            merged.append((text, style))
    result = ""
    for place, (text, style) in enumerate(merged):
        core = text.strip()
        before = result[-1:] if text[:1] == core[:1] else ""
        after = merged[place + 1][0][:1] if place + 1 < len(merged) and text[-1:] == core[-1:] else ""
        if (
            style
            and core
            and "\n" not in core
            and not before.isalnum()
            and not after.isalnum()
            and before != "*"
        ):
            start = text.index(core)
            text = f"{text[:start]}{_MARKS[style]}{core}{_MARKS[style]}{text[start + len(core) :]}"
        result += text
    return result


def symbol(code: str) -> str:
    """The sign that a hexadecimal code means; nothing for those of symbol fonts."""
    try:
        point = int(code, 16)
    except ValueError:
        return ""
    # Symbol fonts live in the private area: what they draw there is mostly a bullet or a box.
    return chr(point) if 32 <= point < 0xD800 else ""
