"""Text from a server, made fit to be kept, sent on and shown."""

_HIGH = ("\ud800", "\udbff")


def valid(text: str) -> str:
    """The text in whole characters: JSON may hold half of one, which no file or socket takes."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def shown(text: str, most: int = 200) -> str:
    """A server's words within a sentence of ours: on one line and at most so many characters."""
    begin = valid(text[: most * 4])
    words = " ".join("".join(sign if sign.isprintable() else " " for sign in begin).split())
    return words[:most] + ("…" if len(words) > most or len(text) > most * 4 else "")


class Joiner:
    """Puts together the characters of a stream that was split in the middle of one."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, text: str, last: bool = False) -> str:
        """The whole characters so far. `last`: nothing follows, so a half one stays half."""
        text = self._held + text
        keeps = not last and bool(text) and _HIGH[0] <= text[-1] <= _HIGH[1]
        self._held = text[-1] if keeps else ""
        return valid(text[:-1] if keeps else text)
