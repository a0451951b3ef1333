"""What can be done from the page, and how much each answer gives away."""

from pathlib import Path

import pytest
import yaml

from grader.drill.folder import file_of
from grader.drill.model import (
    ANSWERED,
    FINISHED,
    GRADED,
    LOOKED_UP,
    REVIEWED,
    Event,
    Look,
    Trouble,
)
from grader.drill.planting import Planted
from grader.drill.web.draft import name_version
from grader.model import Message
from grader.texts import load_texts

ANSWERS = yaml.safe_load((Path(__file__).parent / "answers" / "en.yaml").read_text())
HOSTILE = '<img src=x onerror="alert(1)"></script><script>alert(2)</script>'


def test_unknown_drill_is_a_sentence(served):
    answer = served.get("/api/drills/zzzz")
    assert answer.status == 422
    assert answer.data == {"said": "There is no drill zzzz, and none is open."}


def test_unknown_language_is_a_sentence(served):
    answer = served.get("/api/home?lang=tlh")
    assert (answer.status, "tlh" in answer.data["said"]) == (422, True)


def test_a_drill_can_be_started_and_is_open(served, monkeypatch):
    monkeypatch.chdir(served.folder)
    asked = {"kind": "implement", "exercise": "cross-attention", "level": "senior", "minutes": 12}
    name = served.post("/api/start", asked).data["id"]
    drill = served.room.store.drill(name)
    assert (drill.exercise, drill.level, drill.minutes) == ("cross-attention", "senior", 12)
    assert name in [one["id"] for one in served.get("/api/home").data["open"]]
    refused = served.post("/api/start", asked | {"minutes": -1})
    assert (refused.status, refused.data["said"]) == (
        422,
        "--minutes takes a number above 0 and at most 1440, not -1.",
    )


def test_a_drill_comes_with_its_task_and_file(served):
    drill = served.begin("whole")
    shown = served.get(f"/api/drills/{drill.id}").data
    assert shown["task"][0].startswith("I would like you to write multi-head self-attention")
    assert shown["text"] == file_of(drill).read_text()
    assert shown["version"] == name_version(shown["text"])
    assert (shown["finished"], shown["look"]) == (False, None)
    assert 1490 < shown["left"] <= 1500
    chinese = served.get(f"/api/drills/{drill.id}?lang=zh").data
    assert chinese["exercise"] == load_texts("zh").sentences["exercise.self-attention"]


def reply(served, path, what, **sent):
    """What is sent about the question that is asked now."""
    question = served.get(path).data["round"]["question"]
    return served.post(f"{path}/{what}", {"question": question, **sent})


def test_what_is_said_to_a_question_counts_for_no_other(served, graded):
    drill = served.begin("twice")
    one = f"/api/drills/{drill.id}"
    first = served.post(f"{one}/finish", {"made": []}).data["round"]["question"]
    second = reply(served, one, "mark", rating=3).data["round"]["question"]
    for what in ({"rating": 1}, {"text": "typed on another page"}):
        sent = {"question": first, **what}
        refused = served.post(f"{one}/{'mark' if 'rating' in what else 'answer'}", sent)
        assert (refused.status, refused.data["said"]) == (
            422,
            "This question was answered somewhere else meanwhile. Load the page again; the round "
            "goes on from there.",
        )
    assert served.get(one).data["round"]["question"] == second
    assert not any(e.what == ANSWERED for e in served.room.store.events(drill.id))


def test_the_round_shows_what_a_good_answer_has_only_after_one(served, graded):
    drill = served.begin("round", level="senior")
    one = f"/api/drills/{drill.id}"
    asked = served.post(f"{one}/finish", {"made": []}).data
    assert asked["review"]["recommendation"].startswith("Recommendation: ")
    first = asked["round"]
    assert (first["answered"], set(first)) == (False, {"answered", "question"})
    answered = reply(served, one, "answer", text=HOSTILE).data["round"]
    assert (answered["answered"], answered["typed"]) == (True, HOSTILE)
    assert (answered["question"], answered["suggested"]) == (first["question"], 1)
    assert len(answered["found"]) >= 4
    assert answered["trap"]
    assert reply(served, one, "mark", rating="4").status == 422
    assert reply(served, one, "mark", rating=True).status == 422
    assert reply(served, one, "mark", rating=9).status == 422
    second = reply(served, one, "mark", rating=3).data["round"]
    assert second["question"] != first["question"]
    assert served.get(one).data["round"] == second
    spoken = reply(served, one, "answer", text="").data["round"]
    assert (spoken["answered"], spoken["typed"], spoken["found"]) == (True, "", [])
    assert len(spoken["points"]) >= 3


def test_an_answer_that_states_the_trap_is_challenged(served, graded):
    drill = served.begin("challenge")
    one = f"/api/drills/{drill.id}"
    asked = served.post(f"{one}/finish", {"made": []}).data["round"]
    desk = served.room.desk(drill.id, served.room.texts)
    while asked["question"] is not None:
        typed = ANSWERS[desk.round().ask().question.id]["weak"]["says"]
        answered = reply(served, one, "answer", text=typed).data["round"]
        if not answered["answered"]:
            assert answered["question"] not in (None, asked["question"])
            return
        asked = reply(served, one, "mark", rating=1).data["round"]
    pytest.fail("no answer was challenged")


def test_questions_that_are_due_are_asked_without_a_drill(served):
    event = {"key": "question:why-scale", "rating": 3}
    served.room.store.note([Event("", 1.0, REVIEWED, event)])
    due = [one for one in served.get("/api/home").data["due"] if one["id"] == "why-scale"]
    assert [one["kind"] for one in due] == ["question"]
    asked = served.get("/api/due").data["round"]
    assert asked == {"answered": False, "question": due[0]["said"]}
    assert len(reply(served, "/api/due", "answer", text="").data["round"]["points"]) >= 3
    after = reply(served, "/api/due", "mark", rating=4).data["round"]
    assert after["question"] is None
    assert [one["id"] for one in served.get("/api/home").data["due"]].count("why-scale") == 0


def test_a_line_is_told_only_after_the_hints_for_it(served):
    drill = served.begin("line")
    desk = served.room.desk(drill.id, served.room.texts)
    look = Look("5e", 10.0, False, {}, (Trouble("mistake", "missing-scale", 21),))
    graded = Event(
        drill.id, 1.0, GRADED, {"score": 10.0, "refusal": None, "mistakes": [], "passed": False}
    )
    served.room.store.note([graded], look)
    one = f"/api/drills/{drill.id}"
    assert served.get(one).data["look"]["line"] is None
    given = [served.post(f"{one}/hint", {}).data for _ in range(4)]
    assert [hint["number"] for hint in given] == [1, 2, 3, None]
    assert [hint["look"]["line"] for hint in given] == [None, 21, 21, 21]
    assert given[1]["look"]["wrong"] == "Found wrong so far: 1. The first shows in line 21."
    assert given[2]["said"].startswith("Hint 3, how to mend it: missing-scale (line 21):")
    assert desk.facts().hint_count == 3


def test_refusals_and_names_stay_text(served):
    drill = served.begin("hostile")
    refusal = Message(
        "trouble.raised", {"phase": "forward", "type": HOSTILE, "text": HOSTILE, "line": 3}
    )
    graded = Event(
        drill.id, 1.0, GRADED, {"score": 0.0, "refusal": "x", "mistakes": [], "passed": False}
    )
    served.room.store.note([graded], Look("5e", 0.0, False, refusal=refusal))
    answer = served.get(f"/api/drills/{drill.id}")
    assert answer.headers["content-type"] == "application/json"
    assert answer.status == 200


def test_a_report_is_there_only_after_it_was_looked_up(served):
    drill = served.begin("report")
    assert served.get(f"/drills/{drill.id}/report").status == 404
    answer = served.post(f"/api/drills/{drill.id}/report", {}).data
    assert answer == {"there": False, "said": "There is no report yet: save the file first."}
    events = served.room.store.events(drill.id)
    assert [event for event in events if event.what == LOOKED_UP] == []


def test_a_sheet_of_shapes_is_marked_without_running_anything(served):
    drill = served.begin("sheet", kind="shapes")
    one = f"/api/drills/{drill.id}"
    shown = served.get(one).data
    assert (shown["has_report"], shown["has_hints"]) == (False, True)
    look = served.post(f"{one}/grade", {}).data["look"]
    assert look["score"] == "0"
    assert look["wrong"].startswith("Blanks right: 0 of ")
    hint = served.post(f"{one}/hint", {}).data
    assert hint["look"]["line"] in range(1, 200)
    ended = served.post(f"{one}/finish", {"made": []}).data
    assert (ended["look"]["score"], ended["has_report"]) == ("0", False)
    # Who asks for it all the same can read the answer, in a frame too.
    none = served.get(f"/drills/{drill.id}/report")
    assert (none.status, none.text) == (404, "There is no report yet: save the file first.")
    assert "frame-ancestors 'self'" in none.headers["content-security-policy"]


def test_a_talk_is_marked_by_oneself_before_it_is_finished(served):
    drill = served.begin("talk", kind="explain")
    one = f"/api/drills/{drill.id}"
    shown = served.get(one).data
    assert (shown["has_report"], shown["has_hints"]) == (False, False)
    told = served.post(f"{one}/points", {}).data
    assert told["said"].startswith("The clock has stopped.")
    # Before it was over the task had the headings only.
    assert told["words"][0] == "What one could have said:"
    assert len(told["words"]) == 8
    assert not {*told["words"]} & {*shown["task"]}
    assert {point["made"] for point in told["points"]} == {None}
    assert ("marking" in shown, shown["talked"]) == (False, False)
    # The clock has stopped for everybody, and a page that is loaded again goes on with the marks.
    again = served.get(one).data
    assert (again["talked"], again["finished"], again["marking"]) == (True, False, told)
    clock = [served.get(f"{one}/pulse").data["left"] for _ in range(2)]
    assert clock == [again["left"], again["left"]]
    mine = next(o for o in served.get("/api/home").data["open"] if o["id"] == drill.id)
    assert (mine["talked"], mine["left"]) == (True, pytest.approx(again["left"]))
    made = [point["id"] for point in told["points"]]
    assert served.post(f"{one}/finish", {"made": "all"}).status == 422
    ended = served.post(f"{one}/finish", {"made": made[:-1]}).data
    assert ended["finished"] is True
    assert ended["review"]["passed"] is False
    assert served.room.desk(drill.id, served.room.texts).facts().score == pytest.approx(
        100 - 100 / len(made), abs=0.01
    )


def test_planted_bugs_come_in_the_file(served):
    drill = served.begin("bugs", kind="bugs")
    shown = served.get(f"/api/drills/{drill.id}").data
    assert shown["text"] == drill.plan["source"]
    # What was planted and the answer stay here.
    assert not set(shown) & {"plan", "answer", "mistakes"}


def test_planted_bugs_are_no_mistakes_of_ones_own(served, graded):
    drill = served.begin("planted", kind="bugs")
    before = served.get("/api/home").data
    assert {"kind": "bugs", "exercise": "self-attention"} in before["untried"]
    served.post(f"/api/drills/{drill.id}/finish", {"made": []})
    after = served.get("/api/home").data
    planted = Planted.restore(drill.plan).mistakes
    assert after["mistakes"] == before["mistakes"]
    assert after["planted"]["count"] - before["planted"]["count"] == len(planted) > 0
    assert after["planted"]["found"] == before["planted"]["found"]
    assert {"kind": "bugs", "exercise": "self-attention"} not in after["untried"]


def test_marks_of_a_mistake_are_those_of_drills_with_code(served):
    def end(name, mistakes, **wished):
        drill = served.begin(name, **wished)
        data = {"score": 1.0, "refusal": None, "mistakes": [], "passed": False}
        events = [Event(drill.id, 1.0, GRADED, data | {"mistakes": made}) for made in mistakes]
        served.room.store.note([*events, Event(drill.id, 2.0, FINISHED, {})])

    end("made", [["missing-scale"], ["missing-scale", "mask-inverted"]])
    end("mended", [["mask-inverted"], []])
    end("sheet-between", [], kind="shapes")
    shown = {one["id"]: one["became"] for one in served.get("/api/home").data["mistakes"]}
    assert shown["missing-scale"][-2:] == ["left", ""]
    assert shown["mask-inverted"][-2:] == ["left", "mended"]
