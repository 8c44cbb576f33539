"""Find in a document as a reader means it: case, spaces, marks and link targets do not count."""

import re
import unicodedata

# Soft hyphens and joiners are not seen; emphasis marks and what follows a link's words are not read.
_UNSEEN = (
    "[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]+|\\*{1,3}"
    "|(?<=\\])\\((?:[^\\s()]|\\([^\\s()]*\\)){1,2000}+\\)|[\\[\\]`]"
)
_PIECE = re.compile(rf"(?P<unseen>{_UNSEEN})|(?P<space>\s+)|(?P<plain>[!-)+-Z\\^_a-~]+)|(?P<other>.)")
_FOLDS = str.maketrans(
    {"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "‐": "-", "‑": "-", "−": "-"}
)


class FoldedText:
    """A text made ready for finding; `find_all` gives places in the text as it was."""

    def __init__(self, text: str) -> None:
        letters: list[str] = []
        places: list[int] = []
        spaced = False
        for piece in _PIECE.finditer(text):
            if piece.lastgroup == "unseen":
                continue
            start = piece.start()
            if piece.lastgroup == "plain":
                letters.append(piece[0].lower())
                places.extend(range(start, piece.end()))
                spaced = False
                continue
            for letter in " " if piece.lastgroup == "space" else _fold(piece[0]):
                if letter.isspace():
                    if spaced or not places:
                        continue
                    letter = " "
                spaced = letter == " "
                letters.append(letter)
                places.append(start)
        self._text = "".join(letters)
        self._places = [*places, len(text)]

    def find_all(self, wanted: str) -> list[tuple[int, int]]:
        """(start, end) of every match; * stands for up to 200 characters."""
        parts = [FoldedText(part)._text.strip() for part in wanted.split("*")]
        parts = [re.escape(part) for part in parts if part]
        if not parts:
            return []
        pattern = re.compile(".{0,200}?".join(parts))
        return [
            (self._places[m.start()], self._places[m.end() - 1] + 1) for m in pattern.finditer(self._text)
        ]


def _fold(letter: str) -> str:
    return unicodedata.normalize("NFKC", letter).casefold().translate(_FOLDS)
