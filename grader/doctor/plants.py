"""What an attack could get at, planted for as long as the attacks run."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

SECRET = "a planted secret"
VARIABLE = "MHA_GRADE_DOCTOR"


@dataclass(frozen=True)
class Plants:
    """A file with a secret, the folder it is in, and a server on this computer."""

    secret: Path
    port: int

    def prefix(self, token: str) -> str:
        """The lines that tell an attack where they are, and what to print if it gets through."""
        return (
            f"SECRET, FOLDER = {str(self.secret)!r}, {str(self.secret.parent)!r}\n"
            f"PORT, BROKEN = {self.port}, {token!r}\n"
        )


@contextmanager
def plant() -> Iterator[Plants]:
    """All of them, with rights for everyone, so that only the seal stands before them."""
    with tempfile.TemporaryDirectory() as name, socket.create_server(("127.0.0.1", 0)) as server:
        folder = Path(name)
        secret = folder / "secret"
        secret.write_text(SECRET, encoding="utf-8")
        folder.chmod(0o777)
        secret.chmod(0o666)
        os.environ[VARIABLE] = SECRET
        try:
            yield Plants(secret, server.getsockname()[1])
        finally:
            del os.environ[VARIABLE]
