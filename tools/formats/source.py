"""What a reader is given: the bytes of one file and what is known about them."""

from dataclasses import dataclass
from pathlib import PurePosixPath

from tools.charset import charset_in, decode
from tools.errors import Damaged, DocumentError
from tools.page import Document


@dataclass(frozen=True)
class Source:
    """One file. `name` and `content_type` are hints that the bytes may overrule; any may be empty.

    `member`: the path of the file that is wanted inside, when this one is an archive or a message.
    `depth`: how many other files it lies in.
    """

    content: bytes
    url: str = ""
    name: str = ""
    content_type: str = ""
    main_only: bool = True
    member: str = ""
    depth: int = 0

    @property
    def shown(self) -> str:
        """What messages call it."""
        return self.name or self.url or "the file"

    @property
    def suffix(self) -> str:
        """The name's ending in lower case, with its dot."""
        return PurePosixPath(self.name).suffix.lower()

    @property
    def media_type(self) -> str:
        """The type without its parameters, in lower case."""
        return self.content_type.split(";")[0].strip().lower()

    def text(self, *, markup: bool = False) -> str:
        """The bytes as text with plain line ends. `markup`: an encoding that the text itself declares counts."""
        text, _ = decode(self.content, charset_in(self.content_type), markup=markup)
        return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")

    def document(
        self,
        markdown: str,
        *,
        title: str = "",
        note: str = "",
        sheets: tuple[tuple[tuple[str, ...], ...], ...] = (),
    ) -> Document:
        """The Document of this file; `sheets` are tables as rows of text, header first."""
        if not markdown.strip():
            markdown, note = "(no text)", note or "there is no text in this file"
        return Document(self.url, " ".join(title.split()) or self.name, markdown.strip(), note, sheets)

    def damaged(self, kind: str) -> Damaged:
        """The error for a file that begins like `kind` and cannot be read on."""
        return Damaged(f"{self.shown} is {kind} that cannot be opened: it is damaged or cut short.")

    def locked(self, kind: str) -> DocumentError:
        """The error for a file that only its password opens."""
        return DocumentError(f"{self.shown} is {kind} locked by a password: ask for one without.")
