"""Connections that cannot be led astray, hang or outlive their caller.

httpcore asks this backend for every connection. It resolves the host itself,
checks the numbers and connects to exactly those, while TLS and the Host header
go on using the name. Reads wait in short slices, so that a deadline or a stop
takes effect within a moment whatever the server does.
"""

import os
import select
import socket
import ssl
import threading
import time
from collections.abc import Iterable
from typing import Any

import httpcore

from tools.address import Address
from tools.errors import FetchError
from tools.proxy import Proxy, refusal
from tools.resolve import resolve

_SLICE = 0.1
_PROXY_HEAD = 16_384


class BadCertificate(httpcore.ConnectError):
    """The server's certificate does not hold; the message says why."""


class Watch:
    """The time that one fetch has, and the event that stops it."""

    def __init__(self, seconds: float, cancel: threading.Event) -> None:
        self.cancel = cancel
        self._deadline = time.monotonic() + seconds

    def left(self) -> float:
        """Seconds left; 0 when there are none or the run was stopped."""
        return 0.0 if self.cancel.is_set() else max(0.0, self._deadline - time.monotonic())


class CheckedNetwork(httpcore.NetworkBackend):
    """Opens connections of one fetch, to checked addresses only, through a proxy if there is one."""

    def __init__(self, watch: Watch, *, allow_local: bool, proxy: Proxy | None = None) -> None:
        self._watch = watch
        self._allow_local = allow_local
        self._proxy = proxy
        self.address: Address | None = None
        self._checked: tuple[Address, list[str]] | None = None

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        address = self.address
        if address is None or (address.host, address.port) != (host, port):
            raise FetchError("A connection to an unchecked address was prevented.", host)
        patience = min(timeout or 10.0, self._watch.left())
        numbers = self._numbers(address, patience)
        problem: OSError | None = None
        # A share of the time for each number, or a dead first one would leave none for the others.
        share = max(1.0, patience / min(len(numbers), 3))
        for number in numbers[:3]:
            try:
                return self._open(number, port, share)
            except OSError as error:
                problem = error
        if isinstance(problem, TimeoutError):
            raise httpcore.ConnectTimeout(str(problem)) from problem
        raise httpcore.ConnectError(str(problem)) from problem

    def _numbers(self, address: Address, seconds: float) -> list[str]:
        """The checked numbers of an address; a second try asks nobody again."""
        if self._checked is None or self._checked[0] != address:
            numbers = resolve(
                address, allow_local=self._allow_local, seconds=seconds, cancel=self._watch.cancel
            )
            self._checked = address, numbers
        return self._checked[1]

    def _open(self, number: str, port: int, seconds: float) -> "_Stream":
        proxy = self._proxy
        if proxy is None:
            return _Stream(_connect(number, port, seconds, self._watch), self._watch)
        # The operator named the proxy, so it may stand in the operator's own network.
        where = Address(f"http://{proxy.host}:{proxy.port}/", "http", proxy.host, proxy.port, "/", "")
        found = resolve(where, allow_local=True, seconds=seconds, cancel=self._watch.cancel)
        stream = _Stream(_connect(found[0], proxy.port, seconds, self._watch), self._watch)
        try:
            stream.write(proxy.greeting(number, port), seconds)
            head = b""
            while b"\r\n\r\n" not in head and len(head) < _PROXY_HEAD:
                more = stream.read(1024, seconds)
                if not more:
                    break
                head += more
            if problem := refusal(head):
                raise httpcore.ConnectError(problem)
        except BaseException:
            stream.close()
            raise
        return stream

    def connect_unix_socket(self, *args: Any, **kwargs: Any) -> httpcore.NetworkStream:
        raise FetchError("Only web addresses are opened.", "")


class _Stream(httpcore.NetworkStream):
    """A socket whose reads and writes watch the clock and the stop event."""

    def __init__(self, sock: socket.socket, watch: Watch) -> None:
        self._sock = sock
        self._watch = watch

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        until = time.monotonic() + (timeout or 3600.0)
        while True:
            self._wait(until, httpcore.ReadTimeout, reading=True)
            try:
                return self._sock.recv(max_bytes)
            except (TimeoutError, ssl.SSLWantReadError):
                continue  # a TLS record that carried no data, or only a part of one
            except OSError as error:
                raise httpcore.ReadError(str(error)) from error

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        view = memoryview(buffer)
        until = time.monotonic() + (timeout or 3600.0)
        while view:
            self._wait(until, httpcore.WriteTimeout, reading=False)
            try:
                view = view[self._sock.send(view) :]
            except (TimeoutError, ssl.SSLWantWriteError):
                continue
            except OSError as error:
                raise httpcore.WriteError(str(error)) from error

    def close(self) -> None:
        self._sock.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        until = time.monotonic() + (timeout or 10.0)
        try:
            wrapped = ssl_context.wrap_socket(
                self._sock, server_hostname=server_hostname, do_handshake_on_connect=False
            )
            wrapped.settimeout(_SLICE)
            while True:
                try:
                    wrapped.do_handshake()
                    break
                except (TimeoutError, ssl.SSLWantReadError):
                    if min(self._watch.left(), until - time.monotonic()) <= 0:
                        raise httpcore.ConnectTimeout("the TLS handshake took too long") from None
        except httpcore.ConnectTimeout:
            wrapped.close()
            raise
        except ssl.SSLCertVerificationError as error:
            self._sock.close()
            raise BadCertificate(error.verify_message) from error
        except OSError as error:
            self._sock.close()
            raise httpcore.ConnectError(str(error)) from error
        return _Stream(wrapped, self._watch)

    def get_extra_info(self, info: str) -> Any:
        return self._sock if info == "socket" else None

    def _wait(self, until: float, late: type[Exception], *, reading: bool) -> None:
        if reading and isinstance(self._sock, ssl.SSLSocket) and self._sock.pending():
            return
        wanted = ([self._sock], []) if reading else ([], [self._sock])
        while True:
            left = min(self._watch.left(), until - time.monotonic())
            if left <= 0:
                raise late("no time left")
            if any(select.select(*wanted, [], min(_SLICE, left))):
                self._sock.settimeout(_SLICE)
                return


def _connect(number: str, port: int, seconds: float, watch: Watch) -> socket.socket:
    """A TCP connection to `number`; TimeoutError when the time is up or the run was stopped."""
    family = socket.AF_INET6 if ":" in number else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setblocking(False)
        sock.connect_ex((number, port))
        until = time.monotonic() + seconds
        while True:
            left = min(watch.left(), until - time.monotonic())
            if left <= 0:
                raise TimeoutError("the connection took too long")
            _, ready, failed = select.select([], [sock], [sock], min(_SLICE, left))
            if ready or failed:
                break
        if code := sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
            raise OSError(code, os.strerror(code))
    except OSError:
        sock.close()
        raise
    return sock
