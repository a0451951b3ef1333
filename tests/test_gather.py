"""Finding what was handed in, and whose it is."""

import json
import os
import re
import zipfile

import pytest
from test_cli import mha_grade

from grader.course.gather import gather
from grader.course.naming import Owner, read_owners, recognise
from grader.course.options import is_course
from grader.errors import UnusableSubmission, UsageError
from grader.intake import MAX_BYTES
from grader.texts import load_texts

METADATA = b"""
submission_11:
  :submitters:
  - :name: Ada Lovelace
    :sid: 'u1'
    :email: ada@example.org
  :created_at: 2026-11-02
submission_12:
  :submitters:
  - :name: Bo
    :email: bo@example.org
"""


@pytest.mark.parametrize(
    ("inside", "owner"),
    [
        ("lovelaceada_1234_567890_answer.py", Owner("1234", "lovelaceada")),
        ("lovelaceada_LATE_1234_567890_answer-2.py", Owner("1234", "lovelaceada")),
        ("unzipped/lovelaceada_1234_567890_my_answer.py", Owner("1234", "lovelaceada")),
        ("Ada Lovelace_98765_assignsubmission_file_/mha.py", Owner("98765", "Ada Lovelace")),
        ("Ada Lovelace_98765_assignsubmission_file_mha.py", Owner("98765", "Ada Lovelace")),
        ("李 雷_98_assignsubmission_file/a/mha.py", Owner("98", "李 雷")),
        ("submission_11/mha.py", Owner("u1", "Ada Lovelace")),
        ("export/submission_12/src/mha.py", Owner("bo@example.org", "Bo")),
        ("submission_13/mha.py", Owner("submission_13")),
        ("ada/week3/mha.py", Owner("ada")),
        ("ada.py", Owner("ada")),
        ("my_attention_2.py", Owner("my_attention_2")),
    ],
)
def test_owner_is_read_from_names(inside, owner):
    assert recognise(inside, read_owners(METADATA)) == owner


# Each list has ten of the one before: written out, more than any memory holds.
LISTS = [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]" for n in range(1, 20)]
NESTED = "\n".join(["l0: &l0 [x]", *LISTS, "submission_1: {':submitters': [{':sid': *l19}]}"])


@pytest.mark.parametrize(
    "raw", [b"", b"- a\n", b"\x00", b"a: [", b"submission_1: {x: 1}", NESTED.encode()]
)
def test_metadata_that_say_nothing_are_no_owners(raw):
    assert read_owners(raw) == {}


@pytest.fixture
def folder(tmp_path):
    for name in ("ada.py", "bo/a.py", "bo/b.py", "bo/notes.txt", ".git/c.py", "__MACOSX/d.py"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"# {name}\n")
    return tmp_path


def test_folder_is_walked(folder):
    entries = gather([folder])
    assert [(e.key, e.owner.student) for e in entries] == [
        ("ada.py", "ada"),
        ("bo/a.py", "bo"),
        ("bo/b.py", "bo"),
    ]
    assert entries[1].read().source == "# bo/a.py\n"
    assert entries[1].read().path == "bo/a.py"
    assert [e.key for e in gather([folder], "a*.py")] == ["ada.py", "bo/a.py"]


def test_attempts_are_numbered_by_time(folder):
    os.utime(folder / "bo" / "a.py", (2000, 2000))
    os.utime(folder / "bo" / "b.py", (1000, 1000))
    assert {e.key: e.attempt for e in gather([folder])} == {"ada.py": 1, "bo/a.py": 2, "bo/b.py": 1}


def test_links_are_not_followed(folder, tmp_path_factory):
    secret = tmp_path_factory.mktemp("elsewhere")
    (secret / "s.py").write_text("SECRET = 1")
    (folder / "linked").symlink_to(secret)
    (folder / "link.py").symlink_to(secret / "s.py")
    entries = {e.key: e for e in gather([folder])}
    assert "linked/s.py" not in entries
    with pytest.raises(UnusableSubmission) as caught:
        entries["link.py"].read()
    assert caught.value.message.key == "file.not-plain"


def test_archive_is_read_where_it_is(tmp_path):
    path = tmp_path / "download.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("submission_metadata.yml", METADATA)
        archive.writestr("submission_11/mha.py", "x = 1\n")
        archive.writestr("submission_12/mha.py", "#" * (MAX_BYTES * 50))
        archive.writestr("../../evil.py", "y = 1\n")
        archive.writestr("__MACOSX/._mha.py", "")
    entries = {e.key: e for e in gather([path])}
    assert sorted(entries) == [
        "download.zip:../../evil.py",
        "download.zip:submission_11/mha.py",
        "download.zip:submission_12/mha.py",
    ]
    assert entries["download.zip:submission_11/mha.py"].owner == Owner("u1", "Ada Lovelace")
    assert entries["download.zip:submission_11/mha.py"].read().source == "x = 1\n"
    assert entries["download.zip:../../evil.py"].read().source == "y = 1\n"
    with pytest.raises(UnusableSubmission) as caught:
        entries["download.zip:submission_12/mha.py"].read()
    assert caught.value.message.key == "file.too-big"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["download.zip"]


def test_list_names_paths_and_students(tmp_path):
    (tmp_path / "a.py").write_text("a = 1")
    listed = tmp_path / "list.csv"
    listed.write_text("\ufeffStudent,Path,Name\n007,a.py,Ada\n,gone.py,\n", encoding="utf-8")
    entries = {e.key: e for e in gather([listed])}
    assert entries["a.py"].owner == Owner("007", "Ada")
    assert entries["a.py"].read().source == "a = 1"
    assert entries["gone.py"].owner == Owner("gone")
    with pytest.raises(UnusableSubmission) as caught:
        entries["gone.py"].read()
    assert caught.value.message.key == "file.missing"


@pytest.mark.parametrize(
    ("name", "content", "key"),
    [
        ("a.zip", b"PK no", "course.archive-unreadable"),
        ("a.csv", b"student\n1\n", "course.list-columns"),
        ("b.csv", b"", "course.list-columns"),
        ("c.csv", b"path\n\xff\n", "course.list-unreadable"),
    ],
)
def test_what_is_no_archive_or_list_is_said(tmp_path, name, content, key):
    path = tmp_path / name
    path.write_bytes(content)
    assert is_course(path)
    with pytest.raises(UsageError) as caught:
        gather([path])
    assert caught.value.message.key == key


def test_notebooks_and_long_lists_of_owners_are_read_from_archives(tmp_path):
    path = tmp_path / "download.zip"
    cell = {"cell_type": "code", "source": "x = 1", "outputs": ["A" * 2 * MAX_BYTES]}
    others = "".join(f"submission_{n}: {{}}\n" for n in range(20_000, 40_000))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("submission_metadata.yml", others.encode() + METADATA)
        archive.writestr("submission_11/mha.ipynb", json.dumps({"cells": [cell]}))
    (entry,) = gather([path])
    assert entry.owner == Owner("u1", "Ada Lovelace")
    assert entry.read().source == "x = 1\n"


def test_name_that_no_system_has_is_refused_when_it_is_read(tmp_path):
    (tmp_path / "list.csv").write_text("path\na\0b.py\n", encoding="utf-8")
    (entry,) = gather([tmp_path / "list.csv"])
    with pytest.raises(UnusableSubmission) as caught:
        entry.read()
    said = load_texts("en").say(caught.value.message)
    assert said == r"The file cannot be opened (embedded null byte): a\x00b.py"


def write_archive(path, content, **fields):
    """An archive of one file; `fields` are then claimed of it."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("ada.py", content)
        for name, value in fields.items():
            setattr(archive.infolist()[0], name, value)
    return path


@pytest.mark.parametrize("damage", [{"compress_size": 5, "CRC": 0}, {"compress_type": 14}])
def test_member_that_cannot_be_unpacked_is_refused(tmp_path, damage):
    (entry,) = gather([write_archive(tmp_path / "sent.zip", b"x = 1\n" * 99, **damage)])
    with pytest.raises(UnusableSubmission) as caught:
        entry.read()
    said = load_texts("en").say(caught.value.message)
    assert re.fullmatch(r"The file cannot be opened \(.*\): ada\.py", said)


def test_member_without_a_name_is_passed_over(tmp_path):
    path = write_archive(tmp_path / "sent.zip", b"x = 1\n")
    path.write_bytes(path.read_bytes().replace(b"ada.py", b"\0da.py"))
    assert gather([path]) == []


def test_member_of_no_day_is_read(tmp_path):
    date = {"date_time": (1980, 0, 0, 0, 0, 0)}
    (entry,) = gather([write_archive(tmp_path / "sent.zip", b"x = 1\n", **date)])
    assert entry.read().source == "x = 1\n"


ODD = [b"\xff\xfe.py", b"a\x1b[31m\nb\xe2\x80\xae.py", b"c\r\td.py"]
SHOWN = [r"\udcff\udcfe", r"a\x1b[31m b\u202e", "c  d"]


@pytest.fixture
def oddly_named(tmp_path):
    folder = tmp_path / "sent"
    folder.mkdir()
    try:
        for name in ODD:
            (folder / os.fsdecode(name)).write_text("x = 1\n", encoding="utf-8")
    except OSError:
        pytest.skip("a file system that has no such names")
    return folder


@pytest.mark.parametrize("format_", ["terminal", "junit", "csv", "jsonl", "html"])
def test_names_of_any_bytes_are_shown_as_text(oddly_named, tmp_path, format_):
    output = tmp_path / "out"
    options = ("--format", format_, "--jobs", "1", "--output", output)
    done = mha_grade(oddly_named, *(options if format_ != "terminal" else options[:4]))
    assert done.returncode == 1, done.stderr
    written = output.read_text(encoding="utf-8") if format_ != "terminal" else done.stdout
    assert all(one.isprintable() or one == "\n" for one in written + done.stderr)
    for shown in SHOWN:
        assert shown.replace("\\", "\\\\" if format_ == "jsonl" else "\\") in written
