"""From a path to source text: what is opened, what is refused, in which words."""

import contextlib
import encodings.aliases
import hashlib
import json
import os
import socket
import sys
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from grader.errors import UnusableSubmission
from grader.intake import MAX_BYTES, decode, read_submission
from grader.notebook import read_cells

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX files")


@pytest.fixture
def written(tmp_path):
    """Bytes -> the path of a file holding them."""

    def write(raw, name="mine.py"):
        path = tmp_path / name
        path.write_bytes(raw)
        return path

    return write


def refusal(path):
    with pytest.raises(UnusableSubmission) as caught:
        read_submission(path)
    return caught.value.message.key, dict(caught.value.message.fields)


def test_plain_file_is_read(written):
    path = written("x = '多头'\n".encode())
    found = read_submission(path)
    assert (found.path, found.source) == (str(path), "x = '多头'\n")
    assert found.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("raw", "source"),
    [
        (b"", ""),
        (b"\xef\xbb\xbfx = 1\n", "x = 1\n"),
        (b"x = 1\r\ny = 2\r\n", "x = 1\ny = 2\n"),
        (b"x = 1\ry = 2\r", "x = 1\ny = 2\n"),
        (b"\xef\xbb\xbf# mha-grade: x\r\n", "# mha-grade: x\n"),
        (b"# coding: latin-1\nx = '\xe9'\n", "# coding: latin-1\nx = 'é'\n"),
        (b"#!x\n# -*- coding: cp1252 -*-\n'\x80'", "#!x\n# -*- coding: cp1252 -*-\n'€'"),
        ("# coding: gbk\n'多'".encode("gbk"), "# coding: gbk\n'多'"),
        (b"\x0cx = 1", "\x0cx = 1"),
    ],
    ids=["empty", "bom", "crlf", "cr", "bom-crlf", "latin-1", "cp1252", "gbk", "form-feed"],
)
def test_text_is_decoded(written, raw, source):
    assert read_submission(written(raw)).source == source


def test_sum_is_of_the_bytes(written):
    raw = b"\xef\xbb\xbfx = 1\r\n"
    assert read_submission(written(raw)).sha256 == hashlib.sha256(raw).hexdigest()


@pytest.mark.parametrize(
    "raw",
    [
        b"x = 1\0",
        b"x = '\xe9'\n",
        b"\n\n# coding: latin-1\nx = '\xe9'\n",
        b"# coding: no-such-codec\n",
        b"# coding: rot13\n",
        b"# coding: zlib\n",
        b"\xef\xbb\xbf# coding: latin-1\n",
        "x = 1".encode("utf-16"),
        b"\x80\x02}q\x01.",
        b"PK\x03\x04" + bytes(26),
    ],
    ids=str,
)
def test_what_is_not_text_is_refused(written, raw):
    path = written(raw)
    assert refusal(path) == ("file.not-text", {"path": str(path)})


def test_missing_file_is_refused(tmp_path):
    path = tmp_path / "none.py"
    assert refusal(path) == ("file.missing", {"path": str(path)})


def test_directory_is_refused(tmp_path):
    assert refusal(tmp_path) == ("file.directory", {"path": str(tmp_path)})


@POSIX
def test_pipe_is_refused(tmp_path):
    path = tmp_path / "pipe.py"
    os.mkfifo(path)
    assert refusal(path) == ("file.not-plain", {"path": str(path)})


@POSIX
@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null"])
def test_device_is_refused(path):
    assert refusal(Path(path)) == ("file.not-plain", {"path": path})


@POSIX
def test_socket_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("s.py")
        key, fields = refusal(Path("s.py"))
    assert (key, fields["path"]) == ("file.unreadable", "s.py")
    assert fields["detail"] == "No such device or address"


def test_largest_file_is_read(written):
    assert len(read_submission(written(b"#" * MAX_BYTES)).source) == MAX_BYTES


@pytest.mark.parametrize("size", [MAX_BYTES + 1, 4 * MAX_BYTES])
def test_too_big_file_is_refused(written, size):
    path = written(b"#" * size)
    assert refusal(path) == ("file.too-big", {"path": str(path), "limit": 256})


@POSIX
def test_link_is_followed(written, tmp_path):
    link = tmp_path / "link.py"
    link.symlink_to(written(b"x = 1"))
    assert read_submission(link).source == "x = 1"


@POSIX
@pytest.mark.parametrize(
    ("target", "key"),
    [("none.py", "file.missing"), ("/dev/zero", "file.not-plain"), (".", "file.directory")],
)
def test_link_is_no_way_around(tmp_path, target, key):
    link = tmp_path / "link.py"
    link.symlink_to(target)
    assert refusal(link)[0] == key


@POSIX
def test_link_to_itself_is_refused(tmp_path):
    link = tmp_path / "link.py"
    link.symlink_to(link)
    assert refusal(link)[0] == "file.unreadable"


@POSIX
def test_too_long_name_is_refused(tmp_path):
    assert refusal(tmp_path / ("x" * 300))[0] == "file.unreadable"


CODECS = sorted(set(encodings.aliases.aliases.values()) - {"punycode"})


@pytest.mark.parametrize("raw", [b"x = 1", b"..", b"\\x41+AGE-"], ids=["text", "dots", "escapes"])
@pytest.mark.parametrize("codec", CODECS)
def test_any_codec_is_read_or_refused(codec, raw):
    with contextlib.suppress(UnusableSubmission):
        assert decode(b"# coding: %s\n%s\n" % (codec.encode(), raw), Path("mine.py")).encode()


@pytest.mark.parametrize(
    "raw",
    [b"# coding: undefined", b"# coding: punycode\n"],
    ids=["undefined", "punycode"],
)
def test_refusing_codec_is_refused(written, raw):
    assert refusal(written(raw))[0] == "file.not-text"


@pytest.mark.parametrize(
    "raw",
    [b"# coding: utf-7\n+2AA-", b"# coding: unicode_escape\n\\ud800"],
    ids=["utf-7", "unicode_escape"],
)
def test_lone_surrogate_is_refused(written, raw):
    assert refusal(written(raw))[0] == "file.not-text"


@given(raw=st.binary(max_size=200) | st.text().map(str.encode))
@example(raw=b"\xef\xbb\xbf")
@example(raw=b"# coding: utf-8\xff")
def test_any_bytes_are_read_or_refused(raw):
    with contextlib.suppress(UnusableSubmission):
        assert "\r" not in decode(raw, Path("mine.py"))


def notebook(*cells, **more):
    """A notebook as bytes, of cells that are code unless they are whole dicts."""
    made = [c if isinstance(c, dict) else {"cell_type": "code", "source": c} for c in cells]
    return json.dumps({"nbformat": 4, "cells": made, **more}).encode()


@pytest.mark.parametrize(
    ("cells", "source"),
    [
        (["x = 1", "y = 2"], "x = 1\ny = 2\n"),
        ([["x = 1\n", "y = 2"]], "x = 1\ny = 2\n"),
        ([{"cell_type": "markdown", "source": "# no"}, "x = 1"], "x = 1\n"),
        (["%matplotlib inline\nx = 1"], "# %matplotlib inline\nx = 1\n"),
        (["from __future__ import a\nx = 1"], "from __future__ import a\nx = 1\n"),
        (
            ["import b\n", "from __future__ import a  # why\nx = 1"],
            "from __future__ import a; import b\n\n# from __future__ import a  # why\nx = 1\n",
        ),
        (
            ["!ls", "from __future__ import a", "from __future__ import c"],
            "from __future__ import a; from __future__ import c  # !ls\n"
            "# from __future__ import a\n# from __future__ import c\n",
        ),
        (
            ["class A: pass", "from __future__ import a"],
            "class A: pass\nfrom __future__ import a\n",
        ),
        (["if a:\n    !ls\nelse: b"], "if a:\n    pass  # !ls\nelse: b\n"),
        (["files = !ls", "nn.Linear??"], "# files = !ls\n# nn.Linear??\n"),
        (["%%bash\nrm x", "y = 1"], "# %%bash\n# rm x\ny = 1\n"),
        (["%%time\nx = 1"], "# %%time\nx = 1\n"),
        (["x = (5\n  % 3)"], "x = (5\n  % 3)\n"),
        (["a = '多'\r\nb = 1"], "a = '多'\nb = 1\n"),
        ([], "\n"),
    ],
)
def test_notebook_is_its_code(written, cells, source):
    assert read_submission(written(notebook(*cells), "mine.ipynb")).source == source


def test_old_notebook_is_read(written):
    sheet = {"cells": [{"cell_type": "code", "input": ["x = 1\n", "y = 2"]}]}
    raw = json.dumps({"nbformat": 3, "worksheets": [sheet]}).encode()
    assert read_submission(written(raw, "mine.IPYNB")).source == "x = 1\ny = 2\n"


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"x = 1",
        b"[]",
        b"{}",
        b"null",
        b"[" * 100_000,
        b'{"cells": 5}',
        b'{"cells": [5]}',
        b'{"cells": [{"cell_type": "code"}]}',
        b'{"cells": [{"cell_type": "code", "source": 5}]}',
        b'{"cells": [{"cell_type": "code", "source": [5]}]}',
        b'{"cells": [{"cell_type": "code", "source": "\\ud800"}]}',
        b'{"cells": [{"cell_type": "code", "source": "\\u0000"}]}',
        b'{"cells": ' + b"9" * 5000 + b"}",
        b"\xff\xfe",
    ],
    ids=range(15),
)
def test_what_is_no_notebook_is_refused(written, raw):
    path = written(raw, "mine.ipynb")
    assert refusal(path) == ("file.not-notebook", {"path": str(path)})


def test_notebook_is_held_to_the_limit_of_a_file(written):
    picture = {"cell_type": "code", "source": "x = 1", "outputs": ["A" * 2 * MAX_BYTES]}
    assert read_submission(written(notebook(picture), "mine.ipynb")).source == "x = 1\n"
    path = written(notebook("#" * MAX_BYTES), "mine.ipynb")
    assert refusal(path) == ("file.too-big", {"path": str(path), "limit": 256})


@POSIX
@pytest.mark.parametrize("name", ["mine.py", "mine.ipynb"])
def test_giant_file_is_not_read(tmp_path, name):
    path = tmp_path / name
    with open(path, "wb") as file:
        file.truncate(1 << 40)
    assert refusal(path)[0] == "file.too-big"


@given(raw=st.binary(max_size=200) | st.text().map(str.encode))
@example(raw=b'{"cells": [{"cell_type": "code", "source": "\\ud800"}]}')
def test_any_bytes_are_a_notebook_or_refused(raw):
    with contextlib.suppress(ValueError):
        read_cells(raw).encode()
