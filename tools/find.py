"""Find in a document as a reader means it: case, spaces, marks and link targets do not count."""

import re
import unicodedata

# Soft hyphens and joiners are not seen; emphasis marks and what follows a link's words are not read.
_UNSEEN = re.compile(
    "[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]+|\\*{1,3}|(?<=\\])\\((?:[^\\s()]|\\([^\\s()]*\\)){1,2000}+\\)|[\\[\\]`]"
)
_FOLDS = str.maketrans(
    {"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "‐": "-", "‑": "-", "−": "-"}
)


class FoldedText:
    """A text made ready for finding; `find_all` gives places in the text as it was."""

    def __init__(self, text: str) -> None:
        letters: list[str] = []
        places: list[int] = []
        unseen = _UNSEEN.finditer(text)
        gap = next(unseen, None)
        at = 0
        while at < len(text):
            if gap and gap.start() <= at:
                at = max(at, gap.end())
                gap = next(unseen, None)
                continue
            letter = text[at]
            folded = letter.lower() if letter.isascii() else _fold(letter)
            for each in folded:
                if each.isspace():
                    if letters and letters[-1] == " ":
                        continue
                    each = " "
                letters.append(each)
                places.append(at)
            at += 1
        self._text = "".join(letters)
        self._places = [*places, len(text)]

    def find_all(self, wanted: str) -> list[tuple[int, int]]:
        """(start, end) of every match; * stands for up to 200 characters."""
        parts = [
            re.escape(part)
            for piece in wanted.split("*")
            if (part := "".join(map(_fold, _UNSEEN.sub("", piece))).strip())
        ]
        parts = [re.sub(r"(\\\s)+", " ", part) for part in parts]
        if not parts:
            return []
        pattern = re.compile(".{0,200}?".join(parts))
        return [
            (self._places[m.start()], self._places[m.end() - 1] + 1) for m in pattern.finditer(self._text)
        ]


def _fold(letter: str) -> str:
    return unicodedata.normalize("NFKC", letter).casefold().translate(_FOLDS)
