"""What the styles of a workbook say: which cells show dates, and which are filled with a colour."""

import colorsys
import re
from dataclasses import dataclass, field

from tools.formats.xml import Element, attribute, child

STANDARD_DATES = {14: "d", 15: "d", 16: "d", 17: "d", 18: "t", 19: "t", 20: "t", 21: "t", 22: "dt", 45: "t", 46: "t", 47: "t"} | dict.fromkeys([*range(27, 32), 36, *range(50, 59)], "d") | dict.fromkeys(range(32, 36), "t")  # fmt: skip
_LITERAL = re.compile(r"\"[^\"]*\"|\\.|_.|\*.|\[(?![hms]+\])[^\[\]]*\]", re.IGNORECASE)
_INDEXED = (
    "000000 FFFFFF FF0000 00FF00 0000FF FFFF00 FF00FF 00FFFF 000000 FFFFFF FF0000 00FF00 0000FF FFFF00 FF00FF 00FFFF "
    "800000 008000 000080 808000 800080 008080 C0C0C0 808080 9999FF 993366 FFFFCC CCFFFF 660066 FF8080 0066CC CCCCFF "
    "000080 FF00FF FFFF00 00FFFF 800080 800000 008080 0000FF 00CCFF CCFFFF CCFFCC FFFF99 99CCFF FF99CC CC99FF FFCC99 "
    "3366FF 33CCCC 99CC00 FFCC00 FF9900 FF6600 666699 969696 003366 339966 003300 333300 993300 993366 333399 333333"
).split()
_HUES = ((15, "red"), (42, "orange"), (68, "yellow"), (165, "green"), (195, "cyan"), (255, "blue"), (290, "purple"), (335, "pink"), (361, "red"))  # fmt: skip


@dataclass
class CellStyles:
    """By the number of a cell's style."""

    _dates: dict[str, str] = field(default_factory=dict)
    _fills: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, root: Element | None, theme: Element | None = None) -> "CellStyles":
        styles = cls()
        formats = {
            attribute(each, "numFmtId"): attribute(each, "formatCode") for each in _items(root, "numFmts")
        }
        colours = _theme_colours(theme)
        fills = [_fill(each, colours) for each in _items(root, "fills")]
        for number, each in enumerate(_items(root, "cellXfs")):
            code = attribute(each, "numFmtId")
            parts = date_parts(formats[code]) if code in formats else STANDARD_DATES.get(_int(code), "")
            if parts:
                styles._dates[str(number)] = parts
            fill = _int(attribute(each, "fillId"))
            if 0 <= fill < len(fills) and fills[fill]:
                styles._fills[str(number)] = fills[fill]
        return styles

    def date_parts(self, style: str) -> str:
        """Any of "d" and "t": the style shows a day, a time, both or neither."""
        return self._dates.get(style, "")

    def fill(self, style: str) -> str:
        """The fill colour as a name and its code, like "green 00FF00"; nothing without one."""
        return self._fills.get(style, "")


def date_parts(code: str) -> str:
    """What a format code shows of a moment: "d", "t", "dt" or nothing."""
    bare = _LITERAL.sub("", code.split(";")[0]).lower().replace("am/pm", "").replace("a/p", "")
    if "general" in bare or "#" in bare or ("0" in bare and "s" not in bare):
        return ""
    time = bool(re.search("[hs]", bare))
    day = "y" in bare or "d" in bare or ("m" in bare and not time)
    return ("d" if day else "") + ("t" if time else "")


def colour_name(code: str) -> str:
    """What people call a colour given as RRGGBB."""
    red, green, blue = (int(code[at : at + 2], 16) / 255 for at in (0, 2, 4))
    hue, light, strength = colorsys.rgb_to_hls(red, green, blue)
    if light > 0.97:
        return "white"
    if light < 0.08:
        return "black"
    if strength < 0.12:
        return "grey"
    name = next(name for limit, name in _HUES if hue * 360 < limit)
    if name == "orange" and light < 0.35:
        return "brown"
    return f"{'light ' if light > 0.75 else 'dark ' if light < 0.3 else ''}{name}"


def _items(root: Element | None, name: str) -> list[Element]:
    found = child(root, name)
    return list(found) if found is not None else []


def _int(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 9 else -1


def _theme_colours(theme: Element | None) -> list[str]:
    """The theme's colours in the order that styles count them: light and dark come swapped."""
    scheme = child(theme, "themeElements", "clrScheme")
    found = []
    for each in scheme if scheme is not None else ():
        inner = next(iter(each), None)
        found.append(attribute(inner, "lastClr") or attribute(inner, "val"))
    return [found[1], found[0], found[3], found[2], *found[4:]] if len(found) > 3 else found


def _fill(element: Element, theme: list[str]) -> str:
    pattern = child(element, "patternFill")
    if pattern is None or attribute(pattern, "patternType", "none") in ("none", "gray125"):
        return ""
    colour = child(pattern, "fgColor")
    code = attribute(colour, "rgb")[-6:]
    number = _int(attribute(colour, "theme"))
    index = _int(attribute(colour, "indexed"))
    if 0 <= number < len(theme):
        code = _tinted(theme[number][-6:], attribute(colour, "tint"))
    elif 0 <= index < len(_INDEXED):
        code = _INDEXED[index]
    if not re.fullmatch(r"[0-9A-Fa-f]{6}", code):
        return ""
    name = colour_name(code)
    return f"{name} {code.upper()}" if name != "white" else ""


def _tinted(code: str, tint: str) -> str:
    if not tint or not re.fullmatch(r"[0-9A-Fa-f]{6}", code):
        return code
    try:
        amount = max(-1.0, min(1.0, float(tint)))
    except ValueError:
        return code
    hue, light, strength = colorsys.rgb_to_hls(*(int(code[at : at + 2], 16) / 255 for at in (0, 2, 4)))
    light = light * (1 + amount) if amount < 0 else light * (1 - amount) + amount
    return "".join(f"{round(part * 255):02X}" for part in colorsys.hls_to_rgb(hue, light, strength))
