"""Who is let in by the server of the drill's page, and what every answer is shut in with."""

import re

import pytest

from grader.drill.web import guard


def test_address_printed_lets_a_browser_in(served):
    answer = served.get(f"/?token={served.address.token}", cookie=None, sec_fetch_site="cross-site")
    assert answer.status == 200
    assert answer.headers["set-cookie"] == (
        f"mha-drill-{served.address.port}={served.address.token}; HttpOnly; SameSite=Strict; Path=/"
    )
    assert served.get("/").status == 200
    assert "set-cookie" not in served.get("/").headers


@pytest.mark.parametrize("path", ["/", "/static/js/main.js", "/api/home", "/api/words"])
def test_nothing_is_answered_without_the_token(served, path):
    for cookie in (None, f"{served.address.cookie}=guess", f"other={served.address.token}"):
        answer = served.get(path, cookie=cookie)
        assert (answer.status, "set-cookie" in answer.headers) == (403, False)
        assert answer.text == (
            "Open the address that mha-drill printed when it was started; "
            "it lets this browser in.\n"
        )


def test_token_in_the_address_counts_at_the_first_page_only(served):
    assert served.get(f"/api/home?token={served.address.token}", cookie=None).status == 403
    assert served.get("/?token=guess").status == 403


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "[", "", None]
)
def test_a_name_that_was_made_to_point_here_is_refused(served, host):
    host = host and host.format(port=served.address.port)
    answer = served.get("/api/home", host=host)
    # Without any Host the server's own parser refuses it.
    assert answer.status == (421 if host is not None else 400)


def test_localhost_is_a_name_of_ours(served):
    host = f"localhost:{served.address.port}"
    assert served.get("/api/home", host=host).status == 200
    assert served.get("/api/home", host=host, origin=served.origin).status == 403


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", None])
def test_another_origin_changes_nothing(served, origin):
    answer = served.post("/api/start", {}, origin=origin)
    assert (answer.status, answer.text) == (403, "This server answers only its own page.\n")


def test_another_page_of_this_computer_reads_nothing(served):
    answer = served.get("/api/home", sec_fetch_site="same-site")
    assert (answer.status, answer.text) == (403, "This server answers only its own page.\n")
    assert served.get("/api/home", origin="http://127.0.0.1:1").status == 403
    assert served.get("/api/home", sec_fetch_site="same-origin").status == 200


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "POST"])
def test_methods_that_are_not_meant_are_refused(served, method):
    assert served.ask(method, "/api/home", {}).status == 405


def test_acts_are_posts(served):
    drill = served.begin("posts")
    for act in ("save", "hint", "report", "finish", "answer", "mark"):
        assert served.get(f"/api/drills/{drill.id}/{act}").status == 405


def test_what_is_sent_is_json_of_a_known_and_bounded_length(served):
    drill = served.begin("bounded")
    path = f"/api/drills/{drill.id}/save"
    assert served.post(path, {}, content_type="text/plain").status == 415
    assert served.post(path, {}, content_type=None).status == 415
    assert served.post(path, b"{}", content_length=None, transfer_encoding="chunked").status == 411
    long = str(guard.MAX_BODY + 1)
    assert served.ask("POST", path, None, content_type="application/json", content_length=long)
    sent = {"content_type": "application/json", "content_length": long}
    assert served.ask("POST", path, None, **sent).status == 413


@pytest.mark.parametrize("raw", [b"[]", b"{", b"\xff", b"[" * 100_000])
def test_a_body_that_is_no_object_is_refused_in_a_sentence(served, raw):
    answer = served.post("/api/start", raw)
    assert answer.status == 400
    assert answer.data == {"said": "This is not what the server expects here."}


@pytest.mark.parametrize(
    "sent",
    [{}, {"kind": 1}, {"kind": "implement", "exercise": None, "level": "senior"}],
)
def test_fields_of_another_type_are_refused(served, sent):
    answer = served.post("/api/start", sent)
    assert answer.status == 422
    assert answer.data == {"said": "This is not what the server expects here."}


def test_a_fault_of_ours_is_a_sentence_too(served):
    sent = {"kind": "implement", "exercise": "", "level": "senior", "minutes": 10**400}
    answer = served.post("/api/start", sent)
    assert answer.status == 500
    assert answer.data["said"].startswith(
        "The server failed at this, which is its own fault (OverflowError: "
    )


def test_every_answer_is_shut_in(served):
    for path in ("/", "/static/editor.js", "/api/home", "/nowhere"):
        headers = served.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'; script-src 'self'; style-src " in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert "access-control-allow-origin" not in headers


def test_style_nonce_is_new_each_time_and_scripts_have_none(served):
    pages = [served.get("/") for _ in range(2)]
    nonces = [re.search('data-nonce="([^"]+)"', page.text)[1] for page in pages]
    assert nonces[0] != nonces[1]
    policy = pages[0].headers["content-security-policy"]
    assert f"style-src 'nonce-{nonces[0]}' 'self'" in policy
    assert policy.count("nonce-") == 1


def test_static_files_do_not_lead_elsewhere(served):
    for path in ("/static/../acts.py", "/static/%2e%2e/acts.py", "/static/..%2f..%2fdesk.py"):
        assert served.get(path).status == 404
