"""The process that boxes are forked of: it loads what they need, and runs no code of any visitor itself.

stdin is a socket; each message brings the descriptors of one box: its stdin,
stdout and stderr, and a socket where its number is told and, later, its end.
"""

import os
import select
import signal
import socket
import sys

from lock.process import end_with_parent, hide_process

from .channel import Channel
from .worker import Worker, prepared


def main(preload: list[str]) -> None:
    """Fork until the app closes the socket; what was forked ends with this process then."""
    worker = prepared(preload, Channel())
    hide_process()
    Server(socket.socket(fileno=os.dup(0)), worker).serve()


class Server:
    """The boxes that live, each with the socket of the one who wanted it."""

    def __init__(self, control: socket.socket, worker: Worker) -> None:
        self._control, self._worker = control, worker
        self._told: dict[int, int] = {}
        """The process of each socket; it is reaped when the other side has closed that, so that its number stays its own."""
        self._woken, waking = socket.socketpair()
        self._woken.setblocking(False)
        waking.setblocking(False)
        self._waking = waking
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(waking.fileno(), warn_on_full_buffer=False)
        self._poll = select.poll()
        for each in (control, self._woken):
            self._poll.register(each, select.POLLIN)

    def serve(self) -> None:
        ended: set[int] = set()
        while True:
            for descriptor, _ in self._poll.poll():
                if descriptor == self._control.fileno():
                    self._fork()
                elif descriptor == self._woken.fileno():
                    self._woken.recv(1024)
                    ended |= {status for status in self._told if status not in ended and self._tell(status)}
                else:
                    ended.discard(descriptor)
                    self._forget(descriptor)

    def _fork(self) -> None:
        message, descriptors, _, _ = socket.recv_fds(self._control, 1, 4)
        if not message:
            os._exit(0)
        stdin, stdout, stderr, status = descriptors
        number = os.fork()
        if number == 0:
            self._become_box(status, stdin, stdout, stderr)
        for descriptor in (stdin, stdout, stderr):
            os.close(descriptor)
        self._told[status] = number
        self._poll.register(status, select.POLLIN)  # it only ever closes

    def _become_box(self, status: int, *standard: int) -> None:
        try:
            _write(status, os.getpid())
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for number, descriptor in enumerate(standard):
                os.dup2(descriptor, number)
            os.closerange(
                3, os.sysconf("SC_OPEN_MAX")
            )  # among them the ways to this server and to other boxes
            for each in (self._control, self._woken, self._waking):
                each.detach()
            os.setsid()
            end_with_parent()
            _reseed()
            self._worker.channel.begin()
            self._worker.serve()
        except BaseException:  # noqa: BLE001 - nothing of a box may return to the server's loop
            sys.excepthook(*sys.exc_info())
        finally:
            os._exit(1)

    def _tell(self, status: int) -> bool:
        """Whether the box has ended, which is told then."""
        number = self._told[status]
        end = os.waitid(os.P_PID, number, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if end is None:
            return False
        _write(status, end.si_status if end.si_code == os.CLD_EXITED else -end.si_status)
        return True

    def _forget(self, status: int) -> None:
        """Its owner wants to know nothing more of it: it has ended, or must."""
        number = self._told.pop(status)
        self._poll.unregister(status)
        os.close(status)
        if os.waitid(os.P_PID, number, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            os.kill(number, signal.SIGKILL)
        os.waitpid(number, 0)


def _write(status: int, number: int) -> None:
    try:
        os.write(status, number.to_bytes(4, "big", signed=True))
    except BrokenPipeError:
        return  # `_forget` comes next


def _reseed() -> None:
    """Chance of its own for each box: `random` sees to itself, numpy's generator would go on as in the others."""
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is not None:
        numpy_random.seed()
