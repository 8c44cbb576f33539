"""What is said in a recording, by a transcription endpoint."""

import threading

import httpx2

from tools.errors import EndpointError
from tools.served import Served

MAX_BYTES = 25_000_000


class Transcriber:
    """An endpoint that speaks OpenAI's /v1/audio/transcriptions. Thread-safe."""

    def __init__(self, served: Served) -> None:
        self.served = served

    def transcript(self, recording: bytes, name: str, cancel: threading.Event) -> str:
        """The words of a recording, in its own language. `name`: its ending tells the endpoint the kind.

        Raises EndpointError.
        """
        if len(recording) > MAX_BYTES:
            raise EndpointError(
                f"The recording has {len(recording) / 1e6:.0f} MB, and {MAX_BYTES // 1_000_000} MB can be transcribed: use a part of it."
            )

        def call() -> str:
            headers = {"Authorization": f"Bearer {self.served.token}"} if self.served.token else {}
            answer = httpx2.post(
                self.served.route("audio/transcriptions"),
                headers=headers,
                data={"model": self.served.name, "response_format": "json"},
                files={"file": (name or "recording", recording)},
                timeout=self.served.seconds,
            )
            answer.raise_for_status()
            return " ".join(str(answer.json()["text"]).split())

        return self.served.asked(call, cancel)
