"""The page of a drill served for a test, and requests to it as anybody could send them."""

import contextlib
import http.client
import json
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from grader.drill.begin import Wish, begin
from grader.drill.store import Store
from grader.drill.web.address import Address, open_address
from grader.drill.web.room import Room
from grader.drill.web.server import make_server
from grader.texts import load_texts

UNSENT = object()


@dataclass
class Answer:
    status: int
    headers: dict
    body: bytes

    @property
    def data(self):
        return json.loads(self.body)

    @property
    def text(self):
        return self.body.decode()


@dataclass
class Served:
    room: Room
    address: Address
    folder: Path

    @property
    def origin(self):
        return f"http://127.0.0.1:{self.address.port}"

    def begin(self, name, **wished):
        """A new drill in a folder of this name."""
        return begin(self.room.store, Wish(folder=self.folder / name, seed=7, **wished))

    def ask(self, method, path, body=None, **headers):
        """One request: as the page would send it, but for the headers named; None leaves one out.

        An underscore in a name is a hyphen.
        """
        sent = {
            "host": f"127.0.0.1:{self.address.port}",
            "origin": None if method == "GET" else self.origin,
            "cookie": f"{self.address.cookie}={self.address.token}",
            "content-type": None if body is None else "application/json",
        }
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        raw = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        if raw is not None:
            sent.setdefault("content-length", str(len(raw)))
        line = http.client.HTTPConnection("127.0.0.1", self.address.port, timeout=20)
        line.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in sent.items():
            if value is not None:
                line.putheader(name, value)
        line.endheaders(raw)
        got = line.getresponse()
        answer = Answer(got.status, {k.lower(): v for k, v in got.getheaders()}, got.read())
        line.close()
        return answer

    def get(self, path, **headers):
        return self.ask("GET", path, **headers)

    def post(self, path, body, **headers):
        return self.ask("POST", path, body, **headers)


@contextlib.contextmanager
def serving(folder, port=None, language="en"):
    """A server of its own, with drills of its own, until the end of the block."""
    store = Store(folder / "data")
    address, bound = open_address(store.path.parent, port)
    room = Room(store, load_texts(language))
    server = make_server(room, address)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield Served(room, address, folder)
    finally:
        server.should_exit = True
        thread.join()
        bound.close()
        room.close()
        store.close()
