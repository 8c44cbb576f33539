"""A team's folder, made by a seed: thousands of small documents of five kinds, and questions about them."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from fpdf import FPDF

_KINDS = ("md", "html", "txt", "csv", "pdf")
_SHARES = (40, 25, 20, 10, 5)
_TOPICS = (
    "bridge", "contract", "delivery", "garden", "harbour", "invoice", "laboratory", "meeting", "pipeline",
    "project", "railway", "report", "server", "survey", "tender", "turbine", "vehicle", "warehouse",
)  # fmt: skip
_WORDS = 12_000
_PER_FOLDER = 200


@dataclass(frozen=True)
class Asked:
    """A question, and the path of the document that answers it; "" where many do."""

    question: str
    path: str = ""


class TeamFolder:
    """The same for the same seed: what stands in each document, and where."""

    def __init__(self, folder: Path, documents: int, seed: int = 1) -> None:
        self.folder = folder
        self.documents = documents
        chance = random.Random(seed)
        syllables = [
            a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "er", "is", "or")
        ]
        self._words = sorted(
            {"".join(chance.choices(syllables, k=chance.randint(2, 4))) for _ in range(_WORDS)}
        )
        chance.shuffle(self._words)
        # Zipf's law: the word of rank n is used a share of 1/n as often as the first.
        self._weights = list(accumulate(1 / rank for rank in range(1, len(self._words) + 1)))
        self._seed = seed

    def write(self) -> None:
        """Makes the folder; 10,000 documents take half a minute."""
        for number in range(self.documents):
            self.write_one(number)

    def write_one(self, number: int, version: int = 1) -> None:
        """Document `number`; another version says other things."""
        path = self.folder / self.path(number)
        path.parent.mkdir(parents=True, exist_ok=True)
        write = _WRITERS[path.suffix[1:]]
        write(path, self._title(number), self._paragraphs(number, version))

    def path(self, number: int) -> str:
        """Where document `number` is."""
        chance = random.Random(f"{self._seed} {number} kind")
        kind = chance.choices(_KINDS, _SHARES)[0]
        return f"team{number // _PER_FOLDER:02}/{self._title(number).replace(' ', '_')}_{number}.{kind}"

    def version_word(self, number: int, version: int) -> str:
        """A word that only this version of document `number` has."""
        return f"version{version}of{number}"

    def questions(self, count: int) -> list[Asked]:
        """Half about one document, a quarter of words that some have, a quarter of words that nearly all have."""
        chance = random.Random(f"{self._seed} questions")
        asked = []
        for place in range(count):
            number = chance.randrange(self.documents)
            if place % 4 < 2:
                title, name = self._title(number), self._name(number)
                asked.append(
                    Asked(
                        f"What did {name} decide about the {title} in {self._year(number)}?",
                        self.path(number),
                    )
                )
            elif place % 4 == 2:
                asked.append(Asked(" ".join(chance.sample(self._words[100:2000], 5))))
            else:
                asked.append(
                    Asked(" ".join(chance.sample(self._words[:12], 4)) + f" {chance.choice(_TOPICS)}")
                )
        return asked

    def _title(self, number: int) -> str:
        chance = random.Random(f"{self._seed} {number} title")
        return f"{chance.choice(self._words[50:3000])} {chance.choice(_TOPICS)}"

    def _name(self, number: int) -> str:
        chance = random.Random(f"{self._seed} {number} name")
        return f"{chance.choice(self._words).title()} {chance.choice(self._words).title()}"

    def _year(self, number: int) -> int:
        return 1950 + number % 75

    def _paragraphs(self, number: int, version: int) -> list[str]:
        chance = random.Random(f"{self._seed} {number} {version}")
        paragraphs = [self._prose(chance) for _ in range(chance.randint(4, 12))]
        fact = (
            f"In {self._year(number)} {self._name(number)} decided about the {self._title(number)}:"
            f" {self._prose(chance)} ({self.version_word(number, version)})"
        )
        paragraphs.insert(chance.randrange(len(paragraphs)), fact)
        return paragraphs

    def _prose(self, chance: random.Random) -> str:
        words = chance.choices(self._words, cum_weights=self._weights, k=chance.randint(25, 60))
        for place in range(9, len(words), 12):
            words[place] += "."
        return " ".join(words).capitalize() + "."


def _markdown(path: Path, title: str, paragraphs: list[str]) -> None:
    path.write_text(f"# {title.title()}\n\n" + "\n\n".join(paragraphs) + "\n", "utf-8")


def _text(path: Path, title: str, paragraphs: list[str]) -> None:
    path.write_text(f"{title.title()}\n\n" + "\n\n".join(paragraphs) + "\n", "utf-8")


def _html(path: Path, title: str, paragraphs: list[str]) -> None:
    body = "".join(f"<p>{paragraph}</p>\n" for paragraph in paragraphs)
    menu = "".join(f'<li><a href="/{topic}">{topic}</a></li>' for topic in _TOPICS)
    path.write_text(
        f"<!doctype html><html><head><title>{title.title()}</title></head><body><nav><ul>{menu}</ul></nav>"
        f"<main><h1>{title.title()}</h1>\n{body}</main></body></html>",
        "utf-8",
    )


def _csv(path: Path, title: str, paragraphs: list[str]) -> None:
    rows = [f"{place},{title},{paragraph.replace(',', ' ')}" for place, paragraph in enumerate(paragraphs)]
    path.write_text("\n".join(["No,Subject,Note", *rows]) + "\n", "utf-8")


def _pdf(path: Path, title: str, paragraphs: list[str]) -> None:
    pdf = FPDF()
    pdf.set_title(title.title())
    pdf.add_page()
    pdf.set_font("Helvetica", size=11)
    for paragraph in [title.title(), *paragraphs]:
        pdf.multi_cell(0, 6, paragraph)
        pdf.ln(9)
    pdf.output(str(path))


_WRITERS: dict[str, Callable[[Path, str, list[str]], None]] = {
    "md": _markdown, "html": _html, "txt": _text, "csv": _csv, "pdf": _pdf,
}  # fmt: skip
