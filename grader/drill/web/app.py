"""What the page can ask for: an address for each thing, plain data in and out."""

from __future__ import annotations

import json
import secrets
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from grader.drill.web import acts, guard, pages
from grader.drill.web.acts import Call
from grader.drill.web.address import Address
from grader.drill.web.home import show_home
from grader.drill.web.room import Room
from grader.drill.web.sentences import choose_sentences
from grader.errors import GraderError, UnusableSubmission, UsageError
from grader.texts import languages, load_texts

Endpoint = Callable[[Request], Awaitable[Response]]
Act = Callable[[Call], Mapping[str, Any]]
ONE = "/api/drills/{drill}"


def make_app(room: Room, address: Address) -> ASGIApp:
    """The whole application, behind its guard."""
    routes: list[BaseRoute] = [
        Route("/", _first_page(room)),
        Mount("/static", StaticFiles(directory=pages.STATIC)),
        Route("/drills/{drill}/report", _report(room)),
        Route("/api/words", _data(room, tell_words)),
        Route("/api/home", _data(room, show_home)),
        Route("/api/start", _data(room, acts.start), methods=["POST"]),
        Route("/api/due", _data(room, acts.ask_due)),
        Route("/api/due/answer", _data(room, acts.answer), methods=["POST"]),
        Route("/api/due/mark", _data(room, acts.mark), methods=["POST"]),
        Route(ONE, _data(room, acts.open_drill)),
        Route(f"{ONE}/pulse", _data(room, acts.pulse)),
    ]
    for name, act in acts.ACTS.items():
        routes.append(Route(f"{ONE}/{name}", _data(room, act), methods=["POST"]))
    return guard.Guard(Starlette(routes=routes), address, room.texts)


def tell_words(call: Call) -> Mapping[str, Any]:
    """Every sentence of the page, and the languages it can be had in."""
    return {
        "language": call.texts.language,
        "languages": {name: load_texts(name)("drill.web.language") for name in languages()},
        "sentences": choose_sentences(call.texts),
    }


def _first_page(room: Room) -> Endpoint:
    async def answer(request: Request) -> Response:
        nonce = secrets.token_urlsafe(16)
        policy = guard.POLICY.replace("style-src", f"style-src 'nonce-{nonce}'")
        page = pages.write_first_page(room.texts, nonce)
        return HTMLResponse(page, headers={"Content-Security-Policy": policy})

    return answer


def _report(room: Room) -> Endpoint:
    def write(call: Call) -> Response:
        page = pages.write_report(room, call.desk)
        # Under the page's policy a frame would show that it was refused, and not the sentence.
        headers = {"Content-Security-Policy": pages.REPORT_POLICY}
        if page is None:
            said = call.texts("drill.report.none")
            return PlainTextResponse(said, HTTPStatus.NOT_FOUND, headers)
        return HTMLResponse(page, headers=headers)

    async def answer(request: Request) -> Response:
        return await run_in_threadpool(_attempt, room, request, {}, write)

    return answer


def _data(room: Room, act: Act) -> Endpoint:
    def write(call: Call) -> Response:
        return JSONResponse(act(call))

    async def answer(request: Request) -> Response:
        try:
            sent = json.loads(await request.body() or b"{}")
        except (ValueError, RecursionError, ClientDisconnect):
            sent = None
        if not isinstance(sent, dict):
            return _say(room.texts("drill.web-refused.body"), HTTPStatus.BAD_REQUEST)
        return await run_in_threadpool(_attempt, room, request, sent, write)

    return answer


def _attempt(
    room: Room, request: Request, sent: Mapping[str, Any], write: Callable[[Call], Response]
) -> Response:
    """The answer; where it fails, one sentence says why."""
    texts = room.texts
    try:
        texts = room.choose_texts(request.query_params.get("lang"))
        return write(Call(room, texts, request.path_params.get("drill", ""), sent))
    except (UsageError, UnusableSubmission) as error:
        return _say(texts.say(error.message), HTTPStatus.UNPROCESSABLE_ENTITY)
    except GraderError as error:
        return _say(texts.say(error.message), HTTPStatus.INTERNAL_SERVER_ERROR)
    except Exception as error:
        # A fault of ours, and still one sentence.
        said = {"type": type(error).__name__, "text": str(error)[:200]}
        return _say(texts("drill.web-fault", **said), HTTPStatus.INTERNAL_SERVER_ERROR)


def _say(sentence: str, status: HTTPStatus) -> Response:
    return JSONResponse({"said": sentence}, status)
