"""All sessions of the app: which there are, how many there may be, and when they end."""

import logging
import shutil
import threading
import time

from agent.errors import ResearchError, TooManyRuns
from agent.places import Places
from agent.services import Services
from agent.session import Session, folder_of_sessions

log = logging.getLogger(__name__)

# After which the files of a session are those of an app that was killed.
_CRASHED_SECONDS = 24 * 3600.0
_APP_ENDED = "The app was ended while it worked on this question; ask again."


class SessionRegistry:
    """The sessions by their names: at most so many at work and in line, and none that idles for long."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._lock = threading.RLock()
        self._sessions: dict[str, Session] = {}
        self._places = Places(services.settings.max_sessions)
        for folder in folder_of_sessions(services.settings).glob("*"):
            if folder.stat().st_mtime < time.time() - _CRASHED_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)

    def open(self, visitor: str = "") -> Session:
        """A new session; the longest idle one makes room. TooManyRuns when the line is full too.

        `visitor`: whose it is, since of one visitor only one question may wait in line; unset, nobody else's.
        """
        settings = self._services.settings
        most = settings.max_sessions + settings.max_waiting
        with self._lock:
            idle = sorted((s for s in self._sessions.values() if not s.busy), key=lambda s: s.last_used)
            for session in idle:
                if (
                    len(self._sessions) >= most
                    or session.last_used < time.monotonic() - settings.session_seconds
                ):
                    session.close()
            if len(self._sessions) >= most:
                raise TooManyRuns(
                    f"All {settings.max_sessions} places are taken, and the line for them is full:"
                    " try again in a few minutes, or run your own copy."
                )
            session = Session(self._services, self._places, visitor, self._forget)
            self._sessions[session.id] = session
            return session

    def warm(self) -> None:
        """Begin in the background what makes the first question of a visitor fast."""
        threading.Thread(target=self._warm, name="warm", daemon=True).start()

    def _warm(self) -> None:
        session = None
        try:
            session = self.open()
            embedded = self._services.endpoint.embedded
            session.warm(embedded.parallel if embedded else 1)
        except ResearchError as error:
            log.warning("nothing could be prepared for the first question: %s", error)
        finally:
            if session is not None:
                session.close()

    def get(self, session_id: str) -> Session | None:
        """The session, or None when it has ended or was never there."""
        with self._lock:
            session = self._sessions.get(session_id)
        return session if session is not None and not session.closed else None

    def close(self, session_id: str) -> None:
        """Let a session go; a run that is going on in it ends first."""
        session = self.get(session_id)
        if session is not None:
            session.close()

    def close_all(self) -> None:
        """Stop every run and let every session go."""
        with self._lock:
            sessions = list(self._sessions.values())
        for session in sessions:
            session.stop(_APP_ENDED)
            session.close()

    def _forget(self, session: Session) -> None:
        self._places.leave(session)
        with self._lock:
            self._sessions.pop(session.id, None)
