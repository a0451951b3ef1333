"""The page of a drill in a real Chromium, driven as a person would."""

import importlib
import threading
from pathlib import Path

import pytest
from browsing import (
    background,
    editor,
    fill,
    find_chromium,
    focused,
    is_in_sight,
    outline,
    save,
    sideways,
    walk,
)
from served import serving

from grader.drill import warm
from grader.drill.desk import Desk
from grader.drill.folder import file_of
from grader.texts import load_texts

pytestmark = pytest.mark.browser
ROOT = Path(__file__).resolve().parent.parent
WRONG = (ROOT / "tests/submissions/wrong/no_scale_and_nan_dead_rows.py").read_text()
RIGHT = (ROOT / "reference/self_attention.py").read_text()
# Where text is put over styled text Chromium itself tries to keep the style; the policy forbids it.
OWN_STYLE = "Applying inline style violates"
# Milliseconds for what needs a grade; the first one waits for torch.
PATIENCE = 15_000


@pytest.fixture(scope="module")
def chromium():
    path = find_chromium()
    api = importlib.import_module("playwright.sync_api")
    with api.sync_playwright() as play:
        # Its own sandbox needs rights that a container's root has not; only our page is opened.
        browser = play.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module", autouse=True)
def one_zygote(forge):
    """Every drill grades on the session's zygote, one request at a time; none of them ends it."""
    turn, control = threading.Lock(), forge.control

    def take_turns(*asked):
        with turn:
            return control(*asked)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forge, "control", take_turns)
        patch.setattr(forge, "close", lambda: None)
        patch.setattr(warm, "open_forge", lambda launched: forge)
        # What it would do ahead is paid for by the tests that come next.
        patch.setattr(Desk, "warm_up", lambda desk: None)
        yield


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("browser")) as one:
        yield one


@pytest.fixture
def open_page(chromium, served):
    """(drill, options of the browser) -> its page; what a script complains of fails the test."""
    contexts, complaints = [], []

    def open_one(drill=None, context=None, **options):
        context = context or chromium.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", hear)
        page.on("request", lambda asked: check_place(asked.url))
        page.goto(served.address.write_url(drill and drill.id))
        return page

    def hear(said):
        if said.type == "error" and not said.text.startswith(OWN_STYLE):
            complaints.append(said.text)

    def check_place(url):
        if not url.startswith(f"{served.origin}/"):
            complaints.append(url)

    yield open_one
    for context in contexts:
        context.close()
    assert complaints == []


def test_a_drill_from_a_wrong_answer_to_a_question(served, open_page):
    drill = served.begin("whole")
    page = open_page(drill, viewport={"width": 1280, "height": 800}, color_scheme="null")
    page.get_by_text("I would like you to write").wait_for()
    assert "token" not in page.url
    fill(page, WRONG)
    save(page)
    assert file_of(drill).read_text() == WRONG
    grade = page.get_by_role("region", name="Grade")
    assert grade.locator(".big").inner_text() == "76.44"
    assert grade.locator(".lost tr").first.inner_text() == "all-masked rows\t-12"
    grade.get_by_text("Found wrong so far: 3. A hint says more about the first.").wait_for()
    for said in (
        "Hint 1:",
        "Hint 2, where to look:",
        "Hint 3, how to mend it: missing-scale (line 21)",
    ):
        grade.get_by_role("button", name="Hint", exact=True).click()
        grade.get_by_text(said).wait_for()
        assert is_in_sight(page, grade.locator(".hints li").last)
    grade.get_by_text("missing-scale (line 21): the scores are not divided").first.wait_for()
    assert page.locator(".cm-marked").inner_text().strip().startswith("attn = self.attn_drop")
    look_into_report(page, grade)
    fill(page, RIGHT)
    save(page)
    grade.get_by_text("Everything passes.").wait_for()
    assert grade.locator(".score").inner_text().split() == ["100", "of", "100", "+23.56"]
    finish(page)
    answer_a_question(page)


def look_into_report(page, grade):
    page.get_by_role("combobox", name="Colours").select_option("dark")
    grade.get_by_role("button", name="Full report").click()
    frame = page.frame_locator("dialog iframe")
    # It has the colours that were chosen for the page, not the system's.
    colour = frame.locator("body").evaluate("body => getComputedStyle(body).backgroundColor")
    assert colour == "rgb(18, 21, 25)"
    frame.get_by_text("the scores are not divided by the square root").first.wait_for()
    page.get_by_role("button", name="Close").click()
    grade.get_by_text("That you looked at the report is noted.").wait_for()


def finish(page):
    page.get_by_role("button", name="Finish").click()
    page.get_by_role("dialog").get_by_role("button", name="Finish").click()
    page.get_by_role("heading", name="What an interviewer would write").wait_for()
    page.get_by_text("Mistakes made and mended on the way: missing-scale").wait_for()


def answer_a_question(page):
    part = page.get_by_role("region", name="Follow-up questions")
    asked = part.locator(".question").inner_text()
    part.get_by_role("textbox").fill("Because the variance grows <b>with</b> the head size.")
    part.get_by_role("button", name="Compare my answer").click()
    part.get_by_role("heading", name="What a good answer has").wait_for()
    part.get_by_text("Because the variance grows <b>with</b> the head size.").wait_for()
    part.get_by_text(
        "The rules look for words and do not understand; the mark is yours."
    ).wait_for()
    part.get_by_role("button", name="3 Good").click()
    part.get_by_role("textbox").wait_for()
    assert part.locator(".question").inner_text() != asked


def test_everything_can_be_done_with_the_keyboard(served, open_page):
    drill = served.begin("keys")
    page = open_page(drill)
    page.get_by_text("I would like you to write").wait_for()
    seen = walk(page, 9)
    assert seen[:4] == ["Skip to the content", "mha-drill", "Language", "Colours"]
    # The task opens and closes, and scrolls; in the editor Tab indents until Escape was pressed.
    assert seen[4:] == ["Task", "Task", *["Editor, self_attention.py"] * 3]
    page.keyboard.press("Control+z")
    page.keyboard.press("Escape")
    assert walk(page, 4) == ["Save and grade Ctrl S", "Hint", "Full report", "Finish"]
    assert outline(page) != "none"
    page.keyboard.press("Enter")
    page.get_by_role("dialog").wait_for()
    page.keyboard.press("Escape")
    assert focused(page) == "Finish"
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="What an interviewer would write").wait_for()
    assert focused(page) == "What an interviewer would write"
    walk(page, 1)
    page.keyboard.type("To keep the variance at one.")
    walk(page, 2)
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="What a good answer has").wait_for()
    assert focused(page) == "What a good answer has"


def test_on_a_phone_in_chinese_and_dark(served, open_page):
    drill = served.begin("phone")
    page = open_page(drill, viewport={"width": 390, "height": 844}, color_scheme="dark")
    page.get_by_role("combobox", name="Language").select_option("zh")
    page.get_by_role("button", name="保存并评分").wait_for()
    assert page.evaluate("() => document.documentElement.lang") == "zh-Hans"
    assert sideways(page) == 0
    assert background(page) == "rgb(18, 21, 25)"
    page.get_by_role("combobox", name="配色").select_option("light")
    assert background(page) == "rgb(251, 250, 248)"
    page.goto(f"{served.origin}/#")
    page.get_by_role("heading", name="新练习").wait_for()
    assert sideways(page) == 0
    page.get_by_role(
        "link", name=load_texts("zh").sentences["exercise.self-attention"]
    ).first.click()
    page.get_by_role("button", name="保存并评分").wait_for()


@pytest.mark.every
def test_no_text_is_lost_between_tabs_and_outside(served, open_page, chromium):
    drill = served.begin("tabs")
    shared = chromium.new_context()
    one, two = (open_page(drill, shared) for _ in range(2))
    fill(two, "two = 2\n")
    fill(one, "def f(:\n")
    one.keyboard.press("Control+s")
    grade = one.get_by_role("region", name="Grade")
    grade.get_by_text(
        "The file is not valid Python (line 1): invalid syntax", exact=True
    ).wait_for()
    one.locator(".say").get_by_text("Saved, but not graded; Grade says why.").wait_for()
    two.locator(".notice").get_by_text("The file was changed outside this page, and").wait_for()
    two.get_by_role("button", name="Take the file's text").click()
    two.locator(".say").get_by_text("Saved, but not graded; Grade says why.").wait_for()
    assert "def f(:" in editor(two)
    two.keyboard.press("Control+z")
    assert "two = 2" in editor(two)
    two.get_by_text("Not saved yet.").wait_for()
    two.reload()
    two.get_by_text("Text that was not saved was put back.").wait_for()
    assert "two = 2" in editor(two)
    # Somebody else's editor, while nothing here is unsaved: the new text is taken and graded.
    file_of(drill).write_text("outside = 3\n")
    one.locator(".say").get_by_text("changed outside this page; its new text").wait_for()
    assert "outside = 3" in editor(one)
    # The end comes from elsewhere: what was typed is still there.
    served.room.desk(drill.id, served.room.texts).finish()
    two.get_by_text("Text that was not saved before the end").click()
    two.get_by_text("two = 2").wait_for()


def test_the_page_goes_on_when_the_server_is_there_again(tmp_path, chromium):
    with serving(tmp_path) as first:
        drill = first.begin("again")
        page = chromium.new_page()
        page.goto(first.address.write_url(drill.id))
        fill(page, "kept = 1\n")
    banner = page.locator("#banner")
    banner.get_by_text("The server does not answer. What you typed is kept here").wait_for()
    page.keyboard.press("Control+s")
    page.locator(".say").get_by_text("Not saved: the server does not answer.").wait_for()
    with serving(tmp_path):
        page.wait_for_function("() => document.getElementById('banner').textContent === ''")
        assert "kept = 1" in editor(page)
        page.get_by_role("button", name="Save and grade").click()
        page.locator(".say").get_by_text("Saved, but not graded; Grade says why.").wait_for()
        assert file_of(drill).read_text() == "kept = 1\n"
        page.close()


def test_what_a_file_says_is_never_markup(served, open_page):
    drill = served.begin("hostile")
    page = open_page(drill)
    page.get_by_text("I would like you to write").wait_for()
    fill(page, 'raise ValueError("<img src=x onerror=document.title=1><b>bold</b>")\n')
    page.keyboard.press("Control+s")
    page.locator(".say").get_by_text("Saved, but not graded; Grade says why.").wait_for()
    refusal = page.locator(".refusal")
    assert "<img src=x onerror=document.title=1><b>bold</b>" in refusal.inner_text()
    assert page.locator("main img, main b").count() == 0


def test_a_talk_is_marked_point_by_point(served, open_page):
    page = open_page(served.begin("talk", kind="explain"))
    page.get_by_role("textbox", name="talk.txt").click()
    page.keyboard.insert_text("We divide by the square root of the head size: variance one.")
    page.get_by_role("button", name="Finish").click()
    page.get_by_role("dialog").get_by_role("button", name="Finish").click()
    page.get_by_role("heading", name="The clock has stopped.").wait_for()
    assert page.get_by_role("checkbox").count() == 14
    assert page.get_by_role("checkbox", checked=True).count() == 2
    page.get_by_text("The drill is finished once this button is pressed").wait_for()
    page.reload()
    page.get_by_role("heading", name="The clock has stopped.").wait_for()
    assert page.get_by_role("checkbox", checked=True).count() == 2
    page.get_by_label("The scores have shape [B, H, L, L].").check()
    page.get_by_role("button", name="These I made").click()
    page.get_by_role("heading", name="What an interviewer would write").wait_for()
    page.get_by_text("Score 21.43 of 100").wait_for()


def test_home_has_a_picture_for_each_kind_and_what_was_not_tried(tmp_path, chromium):
    with serving(tmp_path) as one:
        for kind, name in (("explain", "talk"), ("explain", "again"), ("shapes", "sheet")):
            desk = one.room.desk(one.begin(name, kind=kind).id, one.room.texts)
            if kind == "explain":
                desk.mark_points([point.id for point in desk.points()][:7])
            desk.finish()
        page = chromium.new_page(viewport={"width": 390, "height": 844})
        page.goto(one.address.write_url(None))
        page.get_by_role("heading", name="Not tried yet").wait_for()
        titles = page.locator("figcaption").all_inner_texts()
        assert titles == ["shapes last score 0", "explain last score 50"]
        page.get_by_role(
            "img",
            name="Scores over time, explain. Drills: 2, from 50 in the first to 50 in the last",
        ).wait_for()
        assert page.locator(".picture").nth(1).locator(".path").count() == 1
        assert sideways(page) == 0
        table = page.get_by_role("region", name="History")
        assert table.evaluate("one => one.scrollWidth - one.clientWidth") == 0
        page.get_by_role("button", name="self-attention: find the bugs").click()
        assert page.get_by_role("combobox", name="Kind").input_value() == "bugs"
        assert page.get_by_role("spinbutton", name="Minutes").input_value() == "15"
        assert focused(page) == "Start"
        page.close()
