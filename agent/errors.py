"""What can go wrong above the tools, as one tree.

    ResearchError
    ├── SettingsError            a variable has a value that the app cannot use
    ├── ModelError               the model could not answer
    │   ├── EndpointUnreachable  nothing answers at the address
    │   ├── EndpointRefused      the endpoint wants another token, model or request
    │   ├── EndpointBusy         overloaded, rate limited or still waking up; carries `retry_after`
    │   ├── ContextOverflow      the prompt is longer than the model's context
    │   ├── StreamCut            the stream ended before the model said it was done
    │   └── ModelFileError       the embedded model's file cannot be had or is damaged
    ├── SandboxError             the box could not be made or used
    │   ├── CodeError            the model's code failed; told to the model, variables kept
    │   └── BoxLost              the box died or was ended; its variables are gone
    ├── RunError                 a question could not be taken
    │   ├── BadQuestion          empty or too long
    │   ├── BadUpload            a file that cannot be used
    │   └── TooManyRuns          the app is at its limit; carries what to do
    └── Stopped                  somebody asked the run to stop

Each message says what happened, why, and what to do, in one sentence that may
be shown to a visitor: it carries no secret and no traceback.
"""


class ResearchError(Exception):
    """Base of all errors that this project raises on purpose above `tools`."""


class SettingsError(ResearchError):
    """A variable has a value that the app cannot use."""


class ModelError(ResearchError):
    """The model could not answer."""


class EndpointUnreachable(ModelError):
    """Nothing answers at the endpoint's address."""


class EndpointRefused(ModelError):
    """The endpoint answered that it will not serve this request."""


class EndpointBusy(ModelError):
    """The endpoint is overloaded, rate limited or waking up; the same request may succeed later."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        """`retry_after`: seconds the server asked to wait, None when it named none."""
        super().__init__(message)
        self.retry_after = retry_after


class ContextOverflow(ModelError):
    """The prompt does not fit the model's context."""

    def __init__(self, message: str, prompt_tokens: int | None = None, limit: int | None = None) -> None:
        super().__init__(message)
        self.prompt_tokens = prompt_tokens
        self.limit = limit


class StreamCut(ModelError):
    """The stream ended before the model said that it was done."""


class ModelFileError(ModelError):
    """The embedded model's file cannot be had, or is not the file it should be."""


class SandboxError(ResearchError):
    """The box could not be made or used."""


class CodeError(SandboxError):
    """The model's code failed; the message is for the model, several lines with its own code marked."""


class BoxLost(SandboxError):
    """The box died or was ended; the variables in it are gone."""


class RunError(ResearchError):
    """A question could not be taken."""


class BadQuestion(RunError):
    """The question is empty or too long."""


class BadUpload(RunError):
    """An uploaded file cannot be used."""


class TooManyRuns(RunError):
    """The app runs as much as it is allowed to."""


class Stopped(ResearchError):
    """Somebody asked the run to stop."""
