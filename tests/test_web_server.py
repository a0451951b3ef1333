"""Where the page is served, and the command that serves it."""

import json
import os
import re
import signal
import stat
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from grader.drill.web import address as addresses
from grader.errors import UsageError
from grader.model import Message

ROOT = Path(__file__).resolve().parent.parent


def test_address_stays_for_the_next_start(tmp_path):
    first, bound = addresses.open_address(tmp_path)
    bound.close()
    kept = tmp_path / addresses.FILE
    if os.name == "posix":
        assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    second, bound = addresses.open_address(tmp_path)
    assert second == first
    third, other = addresses.open_address(tmp_path)
    assert third.port != first.port
    assert third.token != first.token
    for one in (bound, other):
        one.close()
    old = json.loads(kept.read_text()) | {"at": 0}
    kept.write_text(json.dumps(old))
    fourth, bound = addresses.open_address(tmp_path)
    assert fourth.token != third.token
    bound.close()


def test_a_port_that_is_taken_is_named(tmp_path):
    first, bound = addresses.open_address(tmp_path)
    with pytest.raises(UsageError) as caught:
        addresses.open_address(tmp_path, first.port)
    assert caught.value.message == Message("drill.web-port", {"port": first.port})
    bound.close()


def test_the_socket_is_on_loopback_only(tmp_path):
    _, bound = addresses.open_address(tmp_path)
    assert bound.getsockname()[0] == "127.0.0.1"
    bound.close()


def run_drill(folder, *arguments, **environment):
    """The command itself, in a folder of its own."""
    settings = os.environ | {"MHA_GRADE_DATA": str(folder / "data"), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "grader.drill", *arguments, "--lang", "en"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, cwd=folder, env=settings | environment, **pipes)


@pytest.mark.skipif(os.name != "posix", reason="an interrupt is sent as a signal")
def test_command_prints_where_the_page_is_and_ends_when_interrupted(tmp_path):
    with run_drill(tmp_path, "start", "--web", "--kind", "shapes") as process:
        line = process.stdout.readline()
        found = re.fullmatch(
            r"The drill is at (http://127\.0\.0\.1:\d+/\?token=[\w-]{43}#(\w{4})) ; "
            r"nobody else's browser gets in\. Ctrl-C stops the server; clocks go on\.\n",
            line,
        )
        assert found, line
        address, _, drill = found[1].partition("#")
        with urllib.request.urlopen(address) as answer:
            assert answer.status == 200
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
        assert process.stderr.read() == ""
    assert drill == found[2]
    assert (tmp_path / f"self-attention-{drill}" / "self_attention_shapes.py").is_file()


def test_without_the_extra_one_sentence_says_how_to_get_it(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "import importlib.util as util\n"
        "find = util.find_spec\n"
        "util.find_spec = lambda name, *rest: None if name == 'starlette' else find(name, *rest)\n"
    )
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    with run_drill(tmp_path, "start", "--web", PYTHONPATH=path) as process:
        printed, said = process.communicate()
    assert (process.returncode, printed) == (2, "")
    assert said == (
        "mha-drill: The page in the browser needs packages that are not installed (starlette): "
        'pip install "mha-grade[web]"\n'
    )
    # No clock runs for a drill that nobody can see.
    begun = {one.name for one in tmp_path.iterdir() if one.is_dir()} - {"__pycache__"}
    assert begun == set()
