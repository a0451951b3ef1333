"""The server itself: on this computer alone, until it is interrupted."""

from __future__ import annotations

import importlib.util
import socket
import webbrowser
from collections.abc import Callable
from typing import TYPE_CHECKING

from grader.drill.store import Store
from grader.drill.web.address import Address, open_address
from grader.drill.web.room import Room
from grader.errors import UsageError
from grader.sandbox.launch import Launched
from grader.texts import Texts

if TYPE_CHECKING:
    import uvicorn

PACKAGES = ("starlette", "uvicorn")
# Grading that goes on when the server is to stop is not waited for much longer.
GRACE_SECONDS = 1


def serve(
    store: Store,
    texts: Texts,
    launched: Launched | None,
    say: Callable[[str], None],
    drill: str | None = None,
    port: int | None = None,
    is_shown: bool = False,
) -> None:
    """Serve the page, at this drill if one is named, and return when interrupted.

    Raises UsageError where the port is taken.
    """
    address, bound = open_address(store.path.parent, port)
    room = Room(store, texts, launched)
    url = address.write_url(drill)
    say(texts("drill.web-at", url=url))
    if is_shown:
        webbrowser.open(url)
    try:
        run(room, address, bound)
    except KeyboardInterrupt:
        pass
    finally:
        room.close()
        bound.close()


def check_installed() -> None:
    """Raise UsageError, with the command that helps, where a package of the extra is missing."""
    for package in PACKAGES:
        if importlib.util.find_spec(package) is None:
            raise UsageError("drill.web-missing", package=package)


def run(room: Room, address: Address, bound: socket.socket) -> None:
    """Answer what comes in on this socket until interrupted."""
    make_server(room, address).run(sockets=[bound])


def make_server(room: Room, address: Address) -> uvicorn.Server:
    """The server, not yet running."""
    import uvicorn

    from grader.drill.web.app import make_app

    config = uvicorn.Config(
        make_app(room, address),
        log_config=None,
        # What is cut short when the server is stopped needs no traceback on the terminal.
        log_level="critical",
        access_log=False,
        lifespan="off",
        proxy_headers=False,
        server_header=False,
        ws="none",
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    return uvicorn.Server(config)
