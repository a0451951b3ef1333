"""What stands before every request: only this computer's own page, opened with the token, passes.

A page of another origin can send requests here, and a name that is made to point here can read the
answers; Host, Origin, the browser's own word on where a request is from, and a cookie that no other
site can send keep both out.
"""

from __future__ import annotations

import secrets
from http import HTTPStatus

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from grader.drill.web.address import Address
from grader.intake import MAX_BYTES
from grader.texts import Texts

# A file of the largest size with every character escaped is bigger; nobody writes one.
MAX_BODY = 4 * MAX_BYTES
FIRST_PAGE = "/"
SAFE = ("GET", "HEAD")
OWN_SITES = ("same-origin", "none")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Guard:
    """An ASGI application around another one."""

    def __init__(self, app: ASGIApp, address: Address, texts: Texts) -> None:
        self.app = app
        self.address = address
        self.texts = texts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what is ours with a limit on its size; refuse the rest in one sentence."""
        if scope["type"] != "http":
            return
        request = Request(scope)
        refused = refuse(request, self.address)
        app = self.app if refused is None else self._answer(*refused)
        brought = _token(request)
        is_new = refused is None and brought is not None
        sent = _with_headers(send, self.address if is_new else None)
        await app(scope, _limit(receive), sent)

    def _answer(self, status: HTTPStatus, why: str) -> PlainTextResponse:
        return PlainTextResponse(self.texts(f"drill.web-refused.{why}") + "\n", status)


def refuse(request: Request, address: Address) -> tuple[HTTPStatus, str] | None:
    """Why a request is not answered; None if it is."""
    headers, method = request.headers, request.method
    host, origin = headers.get("host", ""), headers.get("origin")
    if host not in address.hosts:
        return HTTPStatus.MISDIRECTED_REQUEST, "host"
    if origin != f"http://{host}" and (origin is not None or method not in SAFE):
        return HTTPStatus.FORBIDDEN, "origin"
    brought = _token(request)
    known = brought if brought is not None else request.cookies.get(address.cookie, "")
    if not secrets.compare_digest(known.encode(), address.token.encode()):
        return HTTPStatus.FORBIDDEN, "token"
    # A link in somebody's mail may bring the token, and nothing else from elsewhere is for us.
    if brought is None and headers.get("sec-fetch-site", "none") not in OWN_SITES:
        return HTTPStatus.FORBIDDEN, "origin"
    if method not in SAFE:
        return _refuse_body(headers.get("content-type", ""), headers.get("content-length", ""))
    return None


def _refuse_body(kind: str, length: str) -> tuple[HTTPStatus, str] | None:
    if kind.partition(";")[0].strip().lower() != "application/json":
        return HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "type"
    # Without a length nobody could say at once that it is too much.
    if not length.isdecimal():
        return HTTPStatus.LENGTH_REQUIRED, "length"
    return (HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "size") if int(length) > MAX_BODY else None


def _token(request: Request) -> str | None:
    """The token of the address, which only the first page takes."""
    return request.query_params.get("token") if request.scope["path"] == FIRST_PAGE else None


def _limit(receive: Receive) -> Receive:
    """Whatever the length said, no more than the limit is taken."""
    taken = 0

    async def take() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        return message if taken <= MAX_BODY else {"type": "http.disconnect"}

    return take


def _with_headers(send: Send, address: Address | None) -> Send:
    """Every answer with the headers that shut it in; the first one with the cookie."""

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
            if address is not None:
                kept = f"{address.cookie}={address.token}; HttpOnly; SameSite=Strict; Path=/"
                headers.append("Set-Cookie", kept)
        await send(message)

    return sent
