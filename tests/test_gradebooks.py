"""Canvas and Moodle: the teacher's file filled, and every other byte of it as it was."""

import codecs
import contextlib
import csv
import io
from dataclasses import replace

import hypothesis
import pytest
from hypothesis import strategies as st
from samples import AT, ENGLISH, RIGHT, WRONG

from grader.errors import UsageError
from grader.exports import GRADEBOOKS
from grader.exports.sheet import read_sheet
from grader.model import Graded, Message
from grader.texts import load_texts

CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Essay (11),Attention (12),Final Score\n"
    '"    Points Possible",,,,,10.00,50.00,(read only)\n'
    '"Lovelace, Ada",101,s-1,ada,"A, first",9.50,,91.00\n'
    '"Li, Lei",102,s-2,lilei,B,8.00,1.00,82.00\n'
    '"Student, Test",103,,abcdef,A,,,\n'
)
MOODLE = (
    "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,"
    "Last modified (submission),Last modified (grade),Feedback comments\n"
    "Participant 501,Ada Lovelace,ada@example.org,Submitted for grading,,20.00,Yes,"
    '"Sunday, 1 March 2026, 9:00 AM",-,""\n'
    "Participant 502,李雷,lilei@example.org,Submitted for grading,7.00,20.00,Yes,-,-,"
    '"two\nlines, ""quoted"""\n'
)


def graded(student, score=100.0, name=""):
    """A submission with one of two scores: 100 or 38.89."""
    return Graded(student, {100.0: RIGHT, 38.89: WRONG}[score], AT, name)


def fill(book, text, batch, column="Attention", codec="utf-8"):
    raw = text if isinstance(text, bytes) else text.encode(codec)
    return GRADEBOOKS[book](raw, batch, column)


def read(content, delimiter=","):
    return list(
        csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), delimiter=delimiter)
    )


# Canvas


def test_canvas_column_is_filled_and_nothing_else():
    done = fill("canvas", CANVAS, [graded("101"), graded("102", 38.89)])
    # Of 50 points: 100 % and 38.89 %.
    assert done.content.decode() == CANVAS.replace(
        '"A, first",9.50,,91.00', '"A, first",9.50,50,91.00'
    ).replace("B,8.00,1.00,82.00", "B,8.00,19.45,82.00")
    assert list(done.filled) == ["101", "102"]
    assert done.without == ("Student, Test",)
    assert not done.unmatched + done.ambiguous + done.kept


@pytest.mark.parametrize(
    "one",
    [
        *(graded("101"), graded("s-1"), graded("ada"), graded("ADA"), graded(" ada ")),
        *(graded("?", name="Ada Lovelace"), graded("?", name="Lovelace, Ada")),
        graded("?", name="ada  lovelace"),
    ],
)
def test_canvas_student_is_found_by_id_or_name(one):
    rows = read(fill("canvas", CANVAS, [one]).content)
    assert [row[6] for row in rows] == ["Attention (12)", "50.00", "50", "1.00", ""]


def test_names_are_compared_composed():
    """A file name from macOS has its accents apart."""
    text = CANVAS.replace("Lovelace, Ada", "Sørensen, Zoë")
    done = fill("canvas", text, [graded("?", name="Zoe\u0308 Sørensen")])
    assert list(done.filled) == ["?"]


@pytest.mark.parametrize("column", ["Attention", "Attention (12)", "12", " Attention "])
def test_canvas_column_is_found_by_title_or_id(column):
    assert read(fill("canvas", CANVAS, [graded("101")], column).content)[2][6] == "50"


def test_unmatched_students_are_listed_and_no_row_is_made():
    batch = [graded("101"), graded("999"), graded("", name="Nobody Here"), graded("")]
    done = fill("canvas", CANVAS, batch)
    assert list(done.unmatched) == ["999", "Nobody Here", ""]
    assert len(read(done.content)) == len(read(CANVAS.encode()))
    assert b"999" not in done.content


def test_two_rows_of_one_name_are_nobodys():
    text = CANVAS.replace("Li, Lei", "Lovelace, Ada")
    done = fill("canvas", text, [graded("?", name="Ada Lovelace")])
    assert list(done.ambiguous) == ["?"]
    assert done.content.decode() == text


def test_id_of_one_that_is_another_ones_login_is_nobodys():
    text = CANVAS.replace("lilei", "101")
    done = fill("canvas", text, [graded("101")])
    assert list(done.ambiguous) == ["101"]
    assert done.content.decode() == text


def test_two_submissions_for_one_row_are_both_refused():
    done = fill("canvas", CANVAS, [graded("101"), graded("ada", 38.89), graded("102")])
    assert list(done.ambiguous) == ["101", "ada"]
    assert list(done.filled) == ["102"]
    assert done.without == ("Student, Test",)


def test_excused_student_stays_excused():
    text = CANVAS.replace('"A, first",9.50,,', '"A, first",9.50,EX,')
    done = fill("canvas", text, [graded("101")])
    assert list(done.kept) == ["101"]
    assert done.content.decode() == text


def test_nobody_gets_zero_for_a_fault_of_ours():
    message = Message("error.grader", {"type": "KeyError", "text": "q"})
    one = graded("101")
    one = replace(one, report=replace(one.report, verdicts=(), refusal=message))
    done = fill("canvas", CANVAS, [one])
    assert list(done.failed) == ["101"]
    assert done.content.decode() == CANVAS
    # A file that cannot be loaded is one that earned nothing.
    refused = replace(one, report=replace(one.report, refusal=Message("class.none")))
    assert read(fill("canvas", CANVAS, [refused]).content)[2][6] == "0"


def test_rows_of_notices_are_no_students():
    notices = ' ,,,,,Manual Posting,Manual Posting,\n"",,,,,Muted,,\n,,,,,,,\n'
    head, _, rest = CANVAS.partition("\n")
    text = f"{head}\n{notices}{rest}"
    done = fill("canvas", text, [graded("101"), graded("", name=" ")])
    assert done.content.decode() == text.replace("9.50,,91", "9.50,50,91")
    assert done.without == ("Li, Lei", "Student, Test")


def test_last_and_first_name_may_have_a_column_each():
    text = "LastName,FirstName,ID,Section,Attention\nLovelace,Ada,101,A,\n"
    done = fill("canvas", text, [graded("?", name="Ada Lovelace")])
    assert done.content.decode() == text.replace("A,\n", "A,100\n")


def test_short_record_gets_its_cell():
    text = CANVAS + '"Bea, O",104,s-4\n'
    done = fill("canvas", text, [graded("104")])
    assert done.content.decode() == CANVAS + '"Bea, O",104,s-4,,,,50\n'


def test_score_stays_of_100_where_no_points_are_said():
    text = "".join(CANVAS.splitlines(keepends=True)[:1] + CANVAS.splitlines(keepends=True)[2:])
    assert read(fill("canvas", text, [graded("101", 38.89)]).content)[1][6] == "38.89"


@pytest.mark.parametrize(
    ("possible", "written"),
    [
        ("20.00", "7.78"),
        ("7", "2.72"),
        ("1,000.00", "388.9"),
        ("50,0", "19.45"),
        ("1.000,0", "388.9"),
        ("1,000", "388.9"),
        ("0.5", "0.19"),
        ("1000000", "388900"),
    ],
)
def test_grade_is_rounded_to_two_decimals(possible, written):
    text = CANVAS.replace("50.00", f'"{possible}"')
    assert read(fill("canvas", text, [graded("101", 38.89)]).content)[2][6] == written


def test_half_a_cent_is_rounded_up():
    """As a person would; 38.89 % of 50 is 19.445, and in floating point a little less."""
    assert read(fill("canvas", CANVAS, [graded("101", 38.89)]).content)[2][6] == "19.45"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("bom", [b"", codecs.BOM_UTF8])
def test_delimiter_line_ends_and_bom_stay(end, delimiter, bom):
    rows = [[cell.replace(",", "") for cell in row] for row in read(CANVAS.encode())]
    rows[2][0] = '"Łucja; \t, ""the"" first"'
    before = bom + end.join(delimiter.join(row) for row in rows).encode()
    done = fill("canvas", before, [graded("101")])
    rows[2][6] = "50"
    assert done.content == bom + end.join(delimiter.join(row) for row in rows).encode()


def test_decimal_comma_is_kept():
    text = CANVAS.replace(",", ";").replace(".", ",")
    done = fill("canvas", text, [graded("101", 38.89)])
    assert done.content.decode() == text.replace("9,50;;91,00", "9,50;19,45;91,00")


def test_decimal_comma_between_commas_is_quoted():
    text = CANVAS.replace("50.00", '"50,00"').replace("8.00,1.00", '"8,00","1,00"')
    done = fill("canvas", text, [graded("101", 38.89)])
    assert b'9.50,"19,45",91.00' in done.content


def test_quoted_cell_stays_quoted():
    text = CANVAS.replace("9.50,,91.00", '9.50,"",91.00')
    assert b'9.50,"50",91.00' in fill("canvas", text, [graded("101")]).content


def test_bytes_of_an_older_encoding_stay():
    text = CANVAS.replace("Li, Lei", "李, 雷")
    done = fill("canvas", text, [graded("102")], codec="gbk")
    assert done.content == text.replace("8.00,1.00", "8.00,50").encode("gbk")


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_utf_16_stays(codec):
    bom = {"utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE}[codec]
    done = fill("canvas", bom + CANVAS.encode(codec), [graded("102")])
    assert done.content == bom + CANVAS.replace("8.00,1.00", "8.00,50").encode(codec)


def refusal(book, text, column="Attention"):
    with pytest.raises(UsageError) as caught:
        fill(book, text, [graded("101")], column)
    assert load_texts("zh").say(caught.value.message)
    return ENGLISH.say(caught.value.message)


def test_canvas_file_that_cannot_be_filled_is_refused_in_words():
    assert refusal("canvas", CANVAS, "Homework") == (
        "The gradebook has no column Homework. There is: Essay (11), Attention (12), Final Score"
    )
    twice = CANVAS.replace("Essay (11)", "Attention (11)")
    assert refusal("canvas", twice).startswith(
        "The gradebook has more than one column Attention. There is: Attention (11), Attention (12)"
    )
    assert refusal("canvas", CANVAS, "Final Score") == (
        "Canvas does not take grades for the column Final Score: it is read only."
    )
    assert refusal("canvas", CANVAS.replace("50.00", "0")) == (
        "Attention (12): the maximum is 0; expected a number above 0."
    )
    assert refusal("canvas", MOODLE) == (
        "This is not a gradebook exported from Canvas: its columns begin with Identifier, "
        "Full name, Email address, Status, Grade; expected Student, ID, Section."
    )
    assert refusal("canvas", CANVAS[:-3] + '"') == (
        "The gradebook ends within quotation marks; the download may be incomplete."
    )
    assert refusal("canvas", b"PK\3\4\0\0") == (
        "The gradebook is not a text file; export it as CSV."
    )
    assert refusal("canvas", "") == (
        "The gradebook has no header row with several columns; export it as CSV."
    )
    # The same title twice, one of them with the id: the exact one is meant.
    exact = CANVAS.replace("Essay (11)", "Attention")
    assert read(fill("canvas", exact, [graded("101")]).content)[2][5] == "10"


# Moodle


def test_moodle_grades_are_filled_and_nothing_else():
    done = fill("moodle", MOODLE, [graded("501"), graded("502", 38.89)], "Grade")
    assert done.content.decode() == MOODLE.replace("grading,,20.00", "grading,20,20.00").replace(
        "grading,7.00,", "grading,7.78,"
    )
    assert list(done.filled) == ["501", "502"]


@pytest.mark.parametrize(
    "one",
    [
        *(graded("501"), graded("Participant 501"), graded("ADA@example.org")),
        graded("?", name="Ada Lovelace"),
    ],
)
def test_moodle_student_is_found_by_identifier_mail_or_name(one):
    assert read(fill("moodle", MOODLE, [one], "Grade").content)[1][4] == "20"


def test_moodle_worksheet_in_another_language_is_filled():
    text = (
        "\ufeffID;Vollständiger Name;Bewertung;Beste Bewertung;Bewertung kann geändert werden\r\n"
        "Teilnehmer/in501;Ada Lovelace;;100,00;Ja\r\n"
        "Teilnehmer/in502;Li Lei;-;100,00;Ja\r\n"
    )
    done = fill("moodle", text, [graded("501", 38.89), graded("502", 38.89)], "Bewertung")
    assert done.content.decode() == text.replace(";;100", ";38,89;100").replace(";-;", ";38,89;")


def test_moodle_maximum_is_each_rows_own():
    text = MOODLE.replace("7.00,20.00", "7.00,50.00")
    rows = read(fill("moodle", text, [graded("501"), graded("502")], "Grade").content)
    assert [row[4] for row in rows] == ["Grade", "20", "50"]


def test_moodle_locked_grade_is_kept():
    text = MOODLE.replace("20.00,Yes,-", "20.00,No,-")
    done = fill("moodle", text, [graded("502")], "Grade")
    assert list(done.kept) == ["502"]
    assert done.content.decode() == text


def test_moodle_file_that_cannot_be_filled_is_refused_in_words():
    assert refusal("moodle", MOODLE, "Bewertung").startswith(
        "The gradebook has no column Bewertung. There is: Identifier, Full name,"
    )
    assert refusal("moodle", MOODLE.replace("20.00", "-", 1), "Grade") == (
        "Participant 501: the maximum is -; expected a number above 0."
    )
    assert refusal("moodle", CANVAS, "Attention (12)") == (
        "This is not an offline grading worksheet from Moodle: its columns begin with Student, ID, "
        "SIS User ID, SIS Login ID, Section; expected the identifier first, as in Participant 12."
    )


# Any file

CELLS = st.text(st.sampled_from('ab1 é,;"\n\r'), max_size=8)


@hypothesis.given(st.lists(st.lists(CELLS, min_size=2, max_size=5), min_size=1, max_size=5))
@hypothesis.example([["a", "b"], ["", ""]])
def test_sheet_reads_what_csv_wrote_and_writes_it_back(rows):
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    hypothesis.assume(not {";", "\r"} & set("".join(rows[0])))
    raw = out.getvalue().encode()
    sheet = read_sheet(raw)
    assert sheet.write() == raw
    assert [[cell.value for cell in line.cells] for line in sheet.lines] == [
        [cell.strip() for cell in row] for row in rows
    ]


@hypothesis.given(st.binary(max_size=60))
def test_any_bytes_are_refused_or_kept(raw):
    with contextlib.suppress(UsageError):
        assert read_sheet(raw).write() == raw


def test_a_large_course_is_matched():
    ids = [str(200_000 + at) for at in range(3_000)]
    lines = [f'"Student, N{one}",{one},A,' for one in ids]
    text = "\n".join(["Student,ID,Section,HW (1)", *lines])
    batch = [replace(graded("0"), student=one) for one in ids]
    done = fill("canvas", text, batch, "HW")
    assert len(done.filled) == 3_000
    assert done.content.count(b",100") == 3_000
