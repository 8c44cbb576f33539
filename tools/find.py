"""Find in a document as a reader means it: case, spaces, marks and link targets do not count."""

import re
import unicodedata
from collections.abc import Sequence

# Soft hyphens, joiners and the stretching of Arabic letters are not seen; emphasis marks and what follows a
# link's words are not read.
_UNSEEN = (
    "[\u00ad\u034f\u0640\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff]+|\\*{1,3}|\\^(?=[-+−\\d])"
    "|(?<=\\])\\((?:[^\\s()]|\\([^\\s()]*\\)){1,2000}+\\)|[\\[\\]`]"
)
_PIECE = re.compile(rf"(?P<unseen>{_UNSEEN})|(?P<space>\s+)|(?P<plain>[!-)+-Z\\_a-~]+)|(?P<other>.)")
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
        return self.find_sequence(wanted.split("*"))

    def find_sequence(self, parts: Sequence[str]) -> list[tuple[int, int]]:
        """(start, end) of every place where the parts stand one after another, at most 200 characters apart."""
        folded = [FoldedText(part)._text.strip() for part in parts]
        folded = [re.escape(part) for part in folded if part]
        if not folded:
            return []
        pattern = re.compile(".{0,200}?".join(folded))
        return [
            (self._places[m.start()], self._places[m.end() - 1] + 1) for m in pattern.finditer(self._text)
        ]


def _fold(letter: str) -> str:
    """Letters and their marks apart, so that é is found whichever way it was written."""
    folded = unicodedata.normalize("NFKD", letter.translate(_FOLDS)).casefold()
    return unicodedata.normalize("NFKD", folded).translate(_FOLDS)
