"""The command as people run it: a whole drill through a pseudo-terminal, and without one."""

import json
import os
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import time

import nursing
import pytest
from drills import RIGHT, WRONG

from grader.drill.model import Event
from grader.drill.store import Store
from grader.reports.columns import columns
from grader.texts import load_pages

pty = pytest.importorskip("pty")
termios, fcntl = pytest.importorskip("termios"), pytest.importorskip("fcntl")
SECONDS = 60
ESCAPES = re.compile(r"\x1b\[K|\r")


class Terminal:
    """A program at a pseudo-terminal, typed into and read from."""

    def __init__(self, arguments, folder, data, width=0):
        ours, theirs = pty.openpty()
        self.terminal = ours
        self.said = self.raw = ""
        self.widen(width)
        self.program = subprocess.Popen(
            [sys.executable, "-m", "grader.drill", *map(str, arguments)],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=folder,
            env=environment(data),
            start_new_session=True,
        )
        os.close(theirs)

    def widen(self, width):
        """As when the window is drawn larger or smaller."""
        size = struct.pack("HHHH", 24, width, 0, 0)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, size)

    def type(self, text):
        os.write(self.terminal, text.encode())

    def wait_for(self, text, after=0):
        """Read until this is on the screen, lines joined; what was said since `after`."""
        until = time.monotonic() + SECONDS
        while text not in " ".join(self.said[after:].split()):
            left = until - time.monotonic()
            if left < 0 or not select.select([self.terminal], [], [], left)[0]:
                raise AssertionError(f"not said: {text!r}; said: {self.said[after:]!r}")
            try:
                part = os.read(self.terminal, 65536)
            except OSError:
                part = b""
            if not part:
                raise AssertionError(f"ended before it said {text!r}: {self.said!r}")
            self.raw += part.decode(errors="replace")
            self.said = ESCAPES.sub("", self.raw)

    def leave(self):
        """The exit code, once it has ended."""
        try:
            while os.read(self.terminal, 65536):
                pass
        except OSError:
            pass
        os.close(self.terminal)
        return self.program.wait(SECONDS)


def environment(data):
    known = {"PATH": "/usr/bin:/bin", "LANG": "en_US.UTF-8", **nursing.environment()}
    return known | {"MHA_GRADE_DATA": str(data), "COLUMNS": "100", "TERM": "xterm"}


def joined(text):
    return " ".join(text.split())


def mha_drill(*arguments, folder, typed="", data=None):
    """Run the command in a process of its own, its data beside the folder unless said."""
    return subprocess.run(
        [sys.executable, "-m", "grader.drill", *map(str, arguments)],
        input=typed,
        capture_output=True,
        text=True,
        cwd=folder,
        env=environment(data or folder / "data"),
        timeout=120,
    )


@pytest.fixture
def start(tmp_path):
    """Arguments -> a terminal at a drill that has begun, with its file."""
    opened = []

    def start_one(*arguments):
        command = ["start", "--folder", "work", "--seed", 5, *arguments]
        opened.append(Terminal(command, tmp_path, tmp_path / "data"))
        opened[-1].wait_for("h hint r report t task f finish q leave")
        return opened[-1], tmp_path / "work" / "self_attention.py"

    yield start_one
    for terminal in opened:
        terminal.program.kill()
        terminal.program.wait()


def test_whole_drill_at_a_terminal(start, tmp_path):
    terminal, file = start()
    assert "I would like you to write multi-head self-attention" in terminal.said
    file.write_text(WRONG)
    terminal.wait_for("76.44 of 100 Points lost: all-masked rows 12, scaling and softmax 11.5")
    assert "missing-scale" not in terminal.said
    terminal.type("h")
    terminal.wait_for("Hint 1: " + " ".join(load_pages("en")["missing-scale"]["hint"].split()))
    # An editor that replaces the file, and one that writes half of it first.
    half = file.with_suffix(".new")
    half.write_text(RIGHT[: RIGHT.index("raise ValueError")] + "raise ValueError(")
    half.replace(file)
    terminal.wait_for("The file is not valid Python")
    file.write_text(RIGHT)
    terminal.wait_for("100 of 100 (+23.56) Everything passes.")
    terminal.type("f")
    terminal.wait_for("Independence: needed a nudge or two (hints: 1) and went on alone")
    terminal.wait_for("Recommendation: strong yes.")
    terminal.wait_for("Follow-up questions.")
    asked = answer_one(terminal)
    terminal.type("q\n")
    assert terminal.leave() == 0
    assert asked == "I do not know"
    history = mha_drill("history", folder=tmp_path).stdout
    assert "implement, self-attention  ####################    100" in history
    assert re.search(r"missing-scale +o\n", history)
    assert "Questions answered: 1; marks on average 3.0 of 4." in history


def answer_one(terminal):
    """Answer what is asked, mark it, and give back what was typed."""
    terminal.wait_for("how do you prove that the result stays the same?")
    typed = "I do not know"
    terminal.type(f"{typed}\n\n")
    terminal.wait_for("It looks as if none of the 5 points is in this answer.")
    terminal.wait_for("4 easy; Enter takes 1, s no mark, q leaves:")
    before = len(terminal.said)
    terminal.type("3\n")
    terminal.wait_for("Walk me through the shapes to the output.", before)
    return typed


def test_deleted_file_is_told_once_and_touch_is_nothing(start):
    terminal, file = start()
    file.write_text(WRONG)
    terminal.wait_for("76.44 of 100")
    seen = len(terminal.said)
    os.utime(file)
    file.unlink()
    terminal.wait_for("self_attention.py is gone.", seen)
    file.write_text(RIGHT)
    terminal.wait_for("100 of 100 (+23.56)")
    assert terminal.said.count("76.44 of 100") == 1
    assert terminal.said.count("is gone") == 1


def test_a_narrow_terminal_shows_the_clock_on_one_line(start, monkeypatch):
    wide = environment
    monkeypatch.setitem(globals(), "environment", lambda data: wide(data) | {"COLUMNS": "20"})
    terminal, _ = start()
    terminal.wait_for("left h hint")
    terminal.type("q")
    terminal.wait_for("stays open and its clock goes on.")
    assert re.search(r"2\d:\d\d left  h hint", terminal.said)
    # Only where the keys are told once, above the clock.
    assert terminal.said.count("r report") == 1
    assert terminal.leave() == 0


def test_a_file_that_never_ends_gives_way_to_the_next_save(start):
    terminal, file = start()
    endless = "    def forward(self, x, mask=None):\n        while True: pass\n\n"
    file.write_text(RIGHT.replace("    def forward(", f"{endless}    def unused("))
    time.sleep(1.0)
    file.write_text(RIGHT)
    terminal.wait_for("100 of 100")
    terminal.type("q")
    terminal.wait_for("stays open and its clock goes on.")
    assert terminal.leave() == 0


def test_time_is_up_once_and_goes_on_as_overtime(start, tmp_path):
    terminal, file = start("--minutes", 0.01)
    terminal.wait_for("Time is up. You may go on; what is done from here on is noted as overtime.")
    file.write_text(RIGHT)
    terminal.wait_for("over 100 of 100")
    terminal.type("f")
    terminal.wait_for("with 0.01 minutes given")
    terminal.wait_for("with 0.01 minutes given; when they were up the score was 0.")
    assert terminal.said.count("Time is up.") == 1


def test_killed_drill_goes_on_where_it_was(start, tmp_path):
    terminal, file = start()
    file.write_text(WRONG)
    terminal.wait_for("76.44 of 100")
    terminal.type("h")
    terminal.wait_for("Hint 1:")
    terminal.program.kill()
    terminal.program.wait()
    file.write_text(RIGHT)
    again = Terminal(["resume"], tmp_path, tmp_path / "data")
    again.wait_for("76.44 of 100")
    again.wait_for("Hints: 1.")
    assert again.said.count("76.44") == 1
    again.wait_for("100 of 100 (+23.56)")
    again.type("q")
    assert again.leave() == 0


@pytest.mark.parametrize("language", ["en", "zh"])
def test_lines_fit_the_window_as_it_is_now(tmp_path, language):
    """The task at 80 columns; once the window is narrower, the report at 60."""
    arguments = ["start", "--folder", "w", "--lang", language]
    terminal = Terminal(arguments, tmp_path, tmp_path / "data", 80)
    terminal.wait_for("24:58")
    task = terminal.raw
    terminal.widen(60)
    file = tmp_path / "w" / "self_attention.py"
    file.write_text(WRONG)
    terminal.wait_for("76.44")
    terminal.type("r")
    terminal.wait_for("torch ")
    report = terminal.raw[len(task) :]
    terminal.type("q")
    terminal.wait_for("mha-drill finish")
    assert terminal.leave() == 0
    paths = (str(tmp_path), file.name)
    for said, width in ((task, 80), (report, 60)):
        lines = [line for line in re.split(r"\r\x1b\[K|\r\n", said) if line]
        assert [x for x in lines if columns(x) > width and not any(p in x for p in paths)] == []
        assert max(map(columns, lines)) > width - 20


def test_resume_shows_what_was_graded_just_once(start, tmp_path):
    terminal, file = start()
    file.write_text(WRONG)
    terminal.wait_for("76.44 of 100")
    terminal.type("q")
    terminal.wait_for("stays open and its clock goes on.")
    again = Terminal(["resume"], tmp_path, tmp_path / "data")
    again.wait_for("Saves graded: 1. Hints: 0.")
    again.wait_for("24:5")
    time.sleep(1.5)
    again.type("q")
    again.wait_for("stays open and its clock goes on.")
    assert again.said.count("76.44 of 100") == 1
    assert (terminal.leave(), again.leave()) == (0, 0)


def test_interrupt_leaves_the_drill_open(start):
    terminal, _ = start()
    # An arrow key first, which sends letters that mean nothing here.
    terminal.type("\x1b[F")
    time.sleep(0.1)
    terminal.program.send_signal(signal.SIGINT)
    terminal.wait_for("stays open and its clock goes on.")
    assert terminal.leave() == 0


def test_without_a_terminal_lines_are_read(tmp_path):
    done = mha_drill("start", "--folder", "work", folder=tmp_path, typed="h\nt\nq\n")
    assert done.returncode == 0, done.stderr
    assert "Type a letter, then Enter: h hint   r report   t task" in done.stdout
    assert "There is nothing to give a hint about" in done.stdout
    assert done.stdout.count("write multi-head self-attention from scratch") == 2
    assert "mha-drill resume goes on with it" in done.stdout
    assert "\x1b" not in done.stdout
    status = mha_drill("status", folder=tmp_path)
    assert "Nothing has been graded yet." in status.stdout


def test_commands_find_their_drill(tmp_path):
    for name in ("one", "two"):
        mha_drill("start", "--folder", name, folder=tmp_path)
    several = mha_drill("status", folder=tmp_path)
    assert several.returncode == 2
    assert re.fullmatch(
        r"mha-drill: Several drills are open: \w{4} \(\S+/one\), \w{4} \(\S+/two\)\. "
        r"Say which with --drill ID, or go into its folder\.\n",
        several.stderr,
    )
    first = re.search(r"(\w{4}) \(\S+/one\)", several.stderr)[1]
    named = mha_drill("status", "--drill", first, folder=tmp_path)
    assert named.stdout.startswith(f"Drill {first}: implement, self-attention, 25 minutes")
    unknown = mha_drill("hint", "--drill", "none", folder=tmp_path)
    assert unknown.returncode == 2
    assert "There is no drill none. Open: " in unknown.stderr


def test_where_the_file_is_no_python_the_hint_says_so(tmp_path):
    mha_drill("start", "--folder", "work", folder=tmp_path)
    (tmp_path / "work" / "self_attention.py").write_text("def (:")
    hint = mha_drill("hint", folder=tmp_path)
    assert joined(hint.stdout).startswith("The file is not valid Python (line 1): ")


def test_a_folder_that_was_moved_is_found_from_within(tmp_path):
    mha_drill("start", "--folder", "work", folder=tmp_path)
    (tmp_path / "work").rename(tmp_path / "moved")
    (tmp_path / "moved" / "self_attention.py").write_text(RIGHT)
    copied = tmp_path / "copied"
    shutil.copytree(tmp_path / "moved", copied)
    data = {"data": tmp_path / "data"}
    assert f"in {tmp_path}/work" in joined(mha_drill("status", folder=tmp_path).stdout)
    inside = mha_drill("status", folder=tmp_path / "moved", **data)
    assert f"in {tmp_path}/moved" in joined(inside.stdout)
    # As long as there is one where it was, a copy is none.
    assert f"in {tmp_path}/moved" in joined(mha_drill("status", folder=copied, **data).stdout)
    done = mha_drill("finish", folder=tmp_path)
    assert "Score 100 of 100" in done.stdout


def test_in_a_folder_that_is_gone_the_drill_is_found_all_the_same(tmp_path):
    mha_drill("start", "--folder", "work", folder=tmp_path)
    shutil.rmtree(tmp_path / "work")
    gone = tmp_path / "gone"
    gone.mkdir()
    script = 'rmdir ../gone; "$0" -m grader.drill status; "$0" -m grader.drill start'
    done = subprocess.run(
        ["sh", "-c", script, sys.executable],
        capture_output=True,
        text=True,
        cwd=gone,
        env=environment(tmp_path / "data"),
        timeout=120,
    )
    assert "Nothing has been graded yet." in done.stdout
    assert re.fullmatch(
        r"mha-drill: The file cannot be written here \(No such file or directory\): "
        r"self-attention-\w{4}\n",
        done.stderr,
    )


def test_hint_and_finish_without_a_watcher_grade_and_ask(tmp_path):
    mha_drill("start", "--folder", "work", folder=tmp_path)
    (tmp_path / "work" / "self_attention.py").write_text(WRONG)
    hint = mha_drill("hint", folder=tmp_path)
    assert hint.stdout.startswith("  Hint 1: Draw queries and keys of unit variance")
    done = mha_drill("finish", folder=tmp_path)
    assert done.returncode == 1, done.stderr
    assert "Score 76.44 of 100" in done.stdout
    assert "Mistakes still in the file: missing-scale, nan-dead-rows" in done.stdout
    again = mha_drill("ask", folder=tmp_path, typed="\n2\nq\n")
    assert again.returncode == 0
    assert "What a good answer has:" in again.stdout
    assert mha_drill("status", folder=tmp_path).stderr == (
        "mha-drill: No drill is open. mha-drill start begins one.\n"
    )


def test_export_and_delete(tmp_path):
    mha_drill("start", "--folder", "work", "--seed", 5, folder=tmp_path)
    done = mha_drill("export", "all.json", folder=tmp_path)
    assert done.stdout == "Everything that is kept was written to all.json (drills: 1).\n"
    kept = json.loads((tmp_path / "all.json").read_text())
    assert [(d["exercise"], d["seed"]) for d in kept["drills"]] == [("self-attention", 5)]
    assert mha_drill("export", "all.json", folder=tmp_path).returncode == 2
    assert mha_drill("delete", folder=tmp_path, typed="no\n").returncode == 1
    assert mha_drill("delete", folder=tmp_path, typed="yes\n").returncode == 0
    assert mha_drill("history", folder=tmp_path).stdout == (
        "There is no history yet: finish a drill first.\n"
    )
    assert (tmp_path / "work" / "self_attention.py").exists()
    assert mha_drill("delete", "--yes", folder=tmp_path).returncode == 0


def test_export_gives_nothing_away_of_a_drill_that_is_open(tmp_path):
    mha_drill("start", "--kind", "bugs", "--folder", "work", "--seed", 5, folder=tmp_path)
    with open(tmp_path / "work" / "self_attention.py", "a") as file:
        file.write("\n# saved\n")
    mha_drill("hint", folder=tmp_path)
    mha_drill("export", "open.json", folder=tmp_path)
    (drill,) = json.loads((tmp_path / "open.json").read_text())["drills"]
    assert drill["plan"] == {}
    assert [event["what"] for event in drill["events"]] == ["graded", "hinted"]
    names = [name for name in load_pages("en") if name in (tmp_path / "open.json").read_text()]
    assert names == []
    mha_drill("finish", folder=tmp_path)
    mha_drill("export", "ended.json", folder=tmp_path)
    (drill,) = json.loads((tmp_path / "ended.json").read_text())["drills"]
    made = [spot["mistake"] for spot in drill["plan"]["spots"]]
    assert made
    assert set(made) & set(drill["events"][0]["mistakes"])
    assert drill["events"][1]["about"].startswith("mistake:")


def test_half_characters_can_be_exported(tmp_path):
    store = Store(tmp_path / "data")
    store.note([Event("", 1.0, "answered", {"text": "half \ud800"})])
    store.close()
    assert mha_drill("export", "all.json", folder=tmp_path).returncode == 0
    kept = json.loads((tmp_path / "all.json").read_text())
    assert kept["elsewhere"][0]["text"] == "half \ud800"


def test_without_a_command_says_what_there_is(tmp_path):
    done = mha_drill(folder=tmp_path)
    assert done.returncode == 0
    for command in ("start", "resume", "status", "hint", "finish", "ask", "history", "next"):
        assert f"  mha-drill {command} " in done.stdout
    assert "attention 模拟面试，限时作答" in mha_drill("--lang", "zh", folder=tmp_path).stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["start", "--random", "--due"], "--exercise, --random and --due each choose"),
        (["start", "--exercise", "flash"], "flash"),
        (["start", "--minutes", "0"], "--minutes takes a number above 0 and at most 1440, not 0."),
        (["resume"], "No drill is open."),
        (["hint"], "No drill is open."),
        (["finish"], "No drill is open."),
        (["ask"], "No drill has been finished yet"),
        (["status", "--lang", "tlh"], "tlh"),
    ],
)
def test_every_failure_is_one_sentence(tmp_path, arguments, sentence):
    done = mha_drill(*arguments, folder=tmp_path)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert done.stderr.startswith("mha-drill: ")
    assert done.stderr.count("\n") == 1


def test_broken_store_is_one_sentence(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "drills.db").write_text("no database, but long enough to be looked at")
    done = mha_drill("history", folder=tmp_path)
    assert done.returncode == 2
    assert "where your drills are kept, cannot be used: file is not a database" in done.stderr
