"""Tests that need IPv6, which many containers have not."""

import socket

import pytest


def _loopback() -> bool:
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


needs_ipv6 = pytest.mark.skipif(not _loopback(), reason="this machine has no IPv6")
