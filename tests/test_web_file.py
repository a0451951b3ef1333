"""Saving from the page: nothing unseen is written over, and nothing is written by halves."""

import stat
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from grader.drill.desk import Desk
from grader.drill.folder import file_of
from grader.drill.model import Event, Look
from grader.drill.web.draft import name_version, read_draft, write_draft
from grader.errors import LateError, UnusableSubmission
from grader.intake import MAX_BYTES


def test_a_save_is_written_whole_and_graded(served, graded):
    drill = served.begin("saved")
    first = served.get(f"/api/drills/{drill.id}").data
    sent = {"text": "x = 1\n# 你好\n", "version": first["version"]}
    answer = served.post(f"/api/drills/{drill.id}/save", sent).data
    assert file_of(drill).read_text(encoding="utf-8") == sent["text"]
    assert answer == {"conflict": False, "version": name_version(sent["text"])}
    answer = served.post(f"/api/drills/{drill.id}/grade", {}).data
    assert graded == [sent["text"]]
    assert answer["look"]["score"] == "42.5"
    assert answer["look"]["change"] == "-2"
    assert answer["look"]["lost"] == [{"area": "scaling and softmax", "points": "3"}]
    assert sorted(path.name for path in file_of(drill).parent.iterdir()) == [
        ".mha-drill",
        "self_attention.py",
    ]


def test_what_the_page_has_not_seen_is_not_written_over(served, graded):
    drill = served.begin("conflict")
    first = served.get(f"/api/drills/{drill.id}").data
    file_of(drill).write_text("theirs = 1\n")
    path = f"/api/drills/{drill.id}/save"
    answer = served.post(path, {"text": "mine = 1\n", "version": first["version"]}).data
    assert answer == {
        "conflict": True,
        "text": "theirs = 1\n",
        "version": name_version("theirs = 1\n"),
    }
    assert (file_of(drill).read_text(), graded) == ("theirs = 1\n", [])
    pulse = served.get(f"/api/drills/{drill.id}/pulse").data
    assert pulse["version"] == answer["version"]
    again = served.post(path, {"text": "mine = 1\n", "version": answer["version"]}).data
    assert (again["conflict"], file_of(drill).read_text()) == (False, "mine = 1\n")


def test_two_tabs_that_write_the_same_do_not_disagree(served, graded):
    drill = served.begin("same")
    file_of(drill).write_text("both = 1\n")
    sent = {"text": "both = 1\n", "version": "of something older"}
    assert served.post(f"/api/drills/{drill.id}/save", sent).data["conflict"] is False


def test_a_newer_save_ends_the_grade_of_an_older_one(served, monkeypatch):
    drill = served.begin("dropped")
    begun, dropped = threading.Event(), threading.Event()

    def never_end(desk, source):
        begun.set()
        assert dropped.wait(10)
        raise LateError("drill.dropped")

    monkeypatch.setattr(Desk, "drop", lambda desk: dropped.set())
    monkeypatch.setattr(Desk, "grade", never_end)
    path = f"/api/drills/{drill.id}/grade"
    with ThreadPoolExecutor(1) as other:
        first = other.submit(served.post, path, {})
        assert begun.wait(10)
        look = Look("5e", 100.0, True)
        monkeypatch.setattr(Desk, "grade", lambda desk, source: look)
        assert served.post(path, {}).data["look"]["score"] == "100"
        assert first.result().data["look"] is None


def test_threads_may_note_at_the_same_time(served):
    drill = served.begin("threads")
    noted = [Event(drill.id, float(at), "noted", {}) for at in range(200)]
    with ThreadPoolExecutor(8) as several:
        for _ in several.map(lambda event: served.room.store.note([event]), noted):
            pass
    assert len(served.room.store.events(drill.id)) == 200


def test_a_save_after_the_end_is_refused_and_not_written(served, graded):
    drill = served.begin("ended")
    before = file_of(drill).read_text()
    assert served.post(f"/api/drills/{drill.id}/finish", {"made": []}).data["finished"] is True
    answer = served.post(f"/api/drills/{drill.id}/save", {"text": "x", "version": ""})
    assert answer.status == 422
    assert answer.data["said"] == f"The drill {drill.id} was finished somewhere else."
    assert file_of(drill).read_text() == before


def test_a_text_too_big_is_refused_in_a_sentence(served, graded):
    drill = served.begin("big")
    sent = {"text": "#" * (MAX_BYTES + 1), "version": ""}
    answer = served.post(f"/api/drills/{drill.id}/save", sent)
    assert (answer.status, "256" in answer.data["said"], graded) == (422, True, [])


def test_a_draft_is_written_in_the_encoding_it_declares(tmp_path):
    path = tmp_path / "x.py"
    text = "# -*- coding: latin-1 -*-\nname = 'é'\n"
    assert write_draft(path, text, "") is None
    assert path.read_bytes() == text.encode("latin-1")
    assert read_draft(path).text == text


@pytest.mark.parametrize("text", ["\ud800", "a\0b", "# coding: nonesuch\n", "# coding: ascii\né"])
def test_a_draft_that_is_no_source_is_refused_and_the_file_stays(tmp_path, text):
    path = tmp_path / "x.py"
    path.write_text("kept = 1\n")
    with pytest.raises(UnusableSubmission) as caught:
        write_draft(path, text, name_version("kept = 1\n"))
    assert caught.value.message.key == "file.not-text"
    assert [one.name for one in tmp_path.iterdir()] == ["x.py"]
    assert path.read_text() == "kept = 1\n"


def test_a_draft_keeps_what_the_file_allows_whom(tmp_path):
    path = tmp_path / "x.py"
    path.write_text("a = 1\n")
    path.chmod(0o640)
    assert write_draft(path, "a = 2\n", name_version("a = 1\n")) is None
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
