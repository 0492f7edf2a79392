"""Tests talk to nobody outside: a socket may only lead to this machine."""

import ipaddress
import socket
from typing import Any

import pytest


class OutsideRefused(AssertionError):
    """A test tried to reach another machine."""


def close(patch: pytest.MonkeyPatch) -> None:
    """Refuse connections and name look-ups that leave this machine, until the patch is undone."""
    connect, connect_ex, look_up = socket.socket.connect, socket.socket.connect_ex, socket.getaddrinfo

    def guarded_connect(self: socket.socket, address: Any) -> None:
        check(self.family, address)
        return connect(self, address)

    def guarded_connect_ex(self: socket.socket, address: Any) -> int:
        check(self.family, address)
        return connect_ex(self, address)

    def guarded_look_up(host: Any, *args: Any, **options: Any) -> Any:
        if host:
            check(socket.AF_INET, (host,))
        return look_up(host, *args, **options)

    patch.setattr(socket.socket, "connect", guarded_connect)
    patch.setattr(socket.socket, "connect_ex", guarded_connect_ex)
    patch.setattr(socket, "getaddrinfo", guarded_look_up)


def check(family: int, address: Any) -> None:
    """
    Accept Unix sockets and the loopback.

    :raises OutsideRefused: anything else
    """
    if family in (socket.AF_INET, socket.AF_INET6) and not _is_here(address[0]):
        raise OutsideRefused(f"a test tried to reach {address[0]}")


def _is_here(host: str | bytes) -> bool:
    name = host.decode() if isinstance(host, bytes) else host
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost"
