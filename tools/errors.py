"""What a tool can fail with, as one tree.

    ToolFailure
    ├── ToolError            told to the model, which can do something else
    │   ├── FetchError       an address could not be read; carries `url` and `status`
    │   │   ├── Refused      an address that this app does not open (private, other scheme, port)
    │   │   └── NotRendered  the scripts of a page could not be run to their end
    │   ├── SearchError      a search failed (which is not "nothing found")
    │   ├── DocumentError    a file that no reader can read
    │   │   └── Damaged      it begins like its kind, and then is not: another reader may be luckier
    │   ├── EndpointError    a model for pictures or speech that the operator set up gave nothing
    │   └── BadArguments     the call itself is wrong
    └── ToolFatal            ends the run

Each message says what happened, why, and what to do, in one sentence.
"""


class ToolFailure(Exception):
    """Base of everything that a tool raises on purpose."""


class ToolError(ToolFailure):
    """Told to the model; the run goes on."""

    expected = True  # as far as a log is concerned


class FetchError(ToolError):
    """An address could not be read."""

    def __init__(self, message: str, url: str, status: int | None = None) -> None:
        """`status`: the HTTP status when there was an answer at all."""
        super().__init__(message)
        self.url = url
        self.status = status


class Refused(FetchError):
    """An address that this app does not open for anybody."""


class NotRendered(FetchError):
    """The scripts of a page could not be run, or not to their end."""

    def __init__(self, why: str, url: str, status: int | None = None) -> None:
        """`why`: a part of a sentence."""
        super().__init__(f"{url[:120]} could not be rendered: {why}; use another source.", url, status)
        self.why = why


class SearchError(ToolError):
    """A provider, or none of them, could search."""

    def __init__(self, message: str, rest: float | None = None) -> None:
        """`rest`: seconds for which it is of no use to ask that provider again; None when nobody knows."""
        super().__init__(message)
        self.rest = rest


class DocumentError(ToolError):
    """A file that no reader can read."""


class Damaged(DocumentError):
    """A file that begins like its kind and cannot be read on."""


class EndpointError(ToolError):
    """A model for pictures or speech gave nothing."""


class BadArguments(ToolError):
    """A tool was called with arguments it cannot use."""


class ToolFatal(ToolFailure):
    """The run cannot go on."""
