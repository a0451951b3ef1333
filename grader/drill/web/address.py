"""Where the page is: a port of this computer, and a token without which nothing is answered.

Both are kept for a while, so that a page that is open goes on when the server is started again.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import time
from dataclasses import dataclass
from pathlib import Path

from grader.disk import reaching
from grader.errors import UsageError

# The loopback interface itself, never a name that somebody else resolves.
HOST = "127.0.0.1"
NAMES = (HOST, "localhost")
FILE = "web.json"
KEPT_SECONDS = 24 * 3600
TOKEN_BYTES = 32


@dataclass(frozen=True)
class Address:
    """A port and the token that opens it."""

    port: int
    token: str

    @property
    def hosts(self) -> tuple[str, ...]:
        """What a request may have in its Host header."""
        return tuple(f"{name}:{self.port}" for name in NAMES)

    @property
    def cookie(self) -> str:
        """The cookie's name; cookies know no ports, so the name does."""
        return f"mha-drill-{self.port}"

    def write_url(self, drill: str | None = None) -> str:
        """The address to open first."""
        place = f"#{drill}" if drill else ""
        return f"http://{HOST}:{self.port}/?token={self.token}{place}"


def open_address(folder: Path, port: int | None = None) -> tuple[Address, socket.socket]:
    """A socket that listens, and its address; the one of last time if it can be had.

    Raises UsageError where the port that was asked for is taken.
    """
    kept = _recall(folder)
    if kept is not None and port in (None, kept.port):
        bound = _bind(kept.port)
        if bound is not None:
            _remember(folder, kept)
            return kept, bound
    bound = _bind(port or 0)
    if bound is None:
        raise UsageError("drill.web-port", port=port)
    address = Address(bound.getsockname()[1], secrets.token_urlsafe(TOKEN_BYTES))
    _remember(folder, address)
    return address, bound


def _bind(port: int) -> socket.socket | None:
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if os.name == "posix":
        # Elsewhere this would let two servers have one port.
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((HOST, port))
        made.listen()
    except (OSError, OverflowError):
        made.close()
        return None
    return made


def _recall(folder: Path) -> Address | None:
    try:
        found = json.loads((folder / FILE).read_text(encoding="utf-8"))
        fresh = 0 <= time.time() - found["at"] < KEPT_SECONDS
        return Address(int(found["port"]), str(found["token"])) if fresh else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _remember(folder: Path, address: Address) -> None:
    kept = {"port": address.port, "token": address.token, "at": time.time()}
    path = folder / FILE
    with reaching(path, "file.unwritable"):
        opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(opened, "w", encoding="utf-8") as file:
            json.dump(kept, file)
