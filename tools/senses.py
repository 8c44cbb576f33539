"""Eyes and ears: what a picture shows and what a recording says, added to what is written about them."""

import threading
from dataclasses import dataclass, replace

from tools.audio import Transcriber
from tools.errors import EndpointError
from tools.formats.signature import kind_of
from tools.page import Document
from tools.vision import VisionModel


@dataclass(frozen=True)
class Senses:
    """The models that are set up. `about`: the question of the run, for which pictures are looked at."""

    vision: VisionModel | None = None
    speech: Transcriber | None = None
    about: str = ""

    def perceived(
        self, document: Document, content: bytes, name: str, question: str, cancel: threading.Event
    ) -> Document:
        """The document of a picture or a recording with what is in it; any other as it is.

        `question`: what to look for. A model that does not answer is told in the note.
        """
        kind = kind_of(content)
        if kind not in ("image", "sound"):
            return document
        try:
            if kind == "image" and self.vision is not None:
                model, heading = self.vision.served.name, "What a vision model sees in it"
                words = self.vision.look(content, question or self.about, cancel)
            elif kind == "sound" and self.speech is not None:
                model, heading = self.speech.served.name, "Transcript"
                words = self.speech.transcript(content, name, cancel) or "(nothing is said)"
            else:
                return document
        except EndpointError as error:
            return replace(document, note="; ".join(part for part in (document.note, str(error)) if part))
        return replace(
            document,
            markdown=f"{document.markdown}\n\n## {heading}\n\n{words}",
            note=f"the words under the heading are those of a model ({model}), which may be wrong",
        )
