"""Sheets: the true shapes are those of the code, and people may write them as they do."""

import dataclasses
import json
import re
import sys

import pytest
import torch

from grader.drill.sheets import Entry, Sheet, State, check, make_sheet
from grader.drill.sheets.shapes import read_shape
from grader.drill.styles import offered
from grader.errors import UsageError

# The sizes at which the grader takes its walk.
WALKED = {"B": 2, "L": 5, "Lq": 5, "Lk": 7, "D": 18, "H": 3, "Dh": 6}
LETTERS = {"B": "B", "H": "H", "L": "Lq", "S": "Lk", "d": "Dh", "D": "D"}
SELF = make_sheet(3, "self-attention")
CROSS = make_sheet(3, "cross-attention")


def numbers(shape, sizes):
    """[B, H*Dh] -> (2, 18)."""
    return tuple(axis.at(sizes) for axis in read_shape(shape, {}, "Lq" in sizes))


def fill(sheet, answers):
    """The file with these answers in the blanks, in their order."""
    text = sheet.source
    for answer in answers:
        text = text.replace("____", answer, 1)
    return text


def states(sheet, text):
    return [entry.state.value for entry in check(sheet, text)]


def made_shapes(sheet):
    """Line -> shapes of what the line makes, by running the file at the sizes of the sheet."""
    spaces, seen, before = {}, {}, {}

    def trace(frame, event, _):
        if frame.f_code.co_filename != "sheet.py":
            return None
        line = before.pop(frame, None)
        for blank in sheet.blanks:
            if blank.line == line:
                names = [name.strip() for name in blank.name.split(",")]
                found = [tuple(frame.f_locals[name].shape) for name in names]
                seen.setdefault(line, []).extend(found)
        if event == "line":
            before[frame] = frame.f_lineno
        return trace

    exec(compile(sheet.source, "sheet.py", "exec"), spaces)
    cls = next(v for v in spaces.values() if isinstance(v, type) and v.__module__ == "builtins")
    size = sheet.sizes
    model = cls(size["D"], size["H"], 0.5)
    batch, lengths = size["B"], [size.get("Lq", size.get("L")), size.get("Lk", size.get("L"))]
    inputs = [torch.randn(batch, lengths[0], size["D"])]
    if "Lq" in size:
        inputs += [torch.randn(batch, lengths[1], size["D"]) for _ in range(2)]
    causal = sheet.exercise.startswith("causal")
    mask = torch.ones((batch, lengths[1]) if causal else (batch, 1, *lengths)) > 0
    for given in (mask, None):
        sys.settrace(trace)
        try:
            model(*inputs, given)
        finally:
            sys.settrace(None)
    return seen


@pytest.mark.parametrize("exercise", offered())
@pytest.mark.parametrize("seed", range(25))
def test_true_shapes_are_those_of_the_running_file(exercise, seed):
    sheet = make_sheet(seed, exercise)
    made = made_shapes(sheet)
    assert made.keys() == {blank.line for blank in sheet.blanks}
    for blank in sheet.blanks:
        assert {*made[blank.line]} == {numbers(blank.wanted, sheet.sizes)}, blank


@pytest.mark.parametrize("exercise", offered())
@pytest.mark.parametrize("seed", range(2))
def test_true_shapes_are_those_of_the_walk(exercise, seed, grade_source):
    sheet = make_sheet(seed, exercise)
    report = grade_source(sheet.source, exercise)
    assert report.all_passed
    sizes = WALKED if "Lq" in sheet.sizes else {**WALKED, "Lk": 5}
    walked = {}
    for stride in report.diagnosis.walk:
        if any(letter.isalpha() for letter in stride.shape):
            axes = stride.shape.strip("[]").split(", ")
            parts = [[LETTERS.get(part, part) for part in axis.split("*")] for axis in axes]
            shape = f"[{', '.join('*'.join(part) for part in parts)}]"
            walked.setdefault(stride.line, []).append(numbers(shape, sizes))
        else:
            shape = tuple(int(size) for size in stride.shape.strip("[]").split(", "))
            walked.setdefault(stride.line, []).append(shape)
    # What a function of the file's own does is walked where it does it.
    own = re.findall(r"def (\w+)\(", sheet.source)
    plain = [b for b in sheet.blanks if not re.search(rf"\b({'|'.join(own)})\(", b.code)]
    both = [blank for blank in plain if blank.line in walked]
    assert len(both) >= 5
    for blank in both:
        assert numbers(blank.wanted, sizes) in walked[blank.line], blank


@pytest.mark.parametrize("exercise", offered())
@pytest.mark.parametrize("seed", range(8))
def test_blanks_filled_with_the_truth_are_right(exercise, seed):
    sheet = make_sheet(seed, exercise)
    letters = fill(sheet, [blank.wanted for blank in sheet.blanks])
    assert states(sheet, letters) == ["right"] * len(sheet.blanks)
    sized = [str([int(n) for n in numbers(b.wanted, sheet.sizes)]) for b in sheet.blanks]
    assert states(sheet, fill(sheet, sized)) == ["right"] * len(sheet.blanks)
    assert states(sheet, sheet.source) == ["unfilled"] * len(sheet.blanks)


def test_sheet_is_the_same_for_the_same_seed_and_survives_json():
    assert make_sheet(5) == make_sheet(5)
    assert len({make_sheet(seed).source for seed in range(30)}) == 30
    assert Sheet.restore(json.loads(json.dumps(dataclasses.asdict(SELF)))) == SELF


def test_sheet_names_its_sizes_at_the_top():
    size = SELF.sizes
    lines = SELF.source.split("\n")
    assert lines[0] == "# mha-grade: self-attention"
    assert lines[2].endswith(f": [B, L, D] = [{size['B']}, {size['L']}, {size['D']}]")
    assert lines[3] == f"# H = {size['H']}, Dh = D / H = {size['Dh']}"
    assert len({*size.values()} | {2, 3}) == len(size) + 2


def test_blank_stands_beside_its_line():
    for sheet in (SELF, CROSS):
        lines = sheet.source.split("\n")
        assert len(sheet.blanks) >= 8
        for blank in sheet.blanks:
            each = " of each" if "," in blank.name else ""
            assert lines[blank.line - 1].strip() == f"{blank.code}  # shape{each}: ____"
            assert blank.code.startswith(f"{blank.name} = ")
        assert max(map(len, lines)) <= 100


def test_exercise_without_pieces_is_refused():
    with pytest.raises(UsageError, match=r"exercise\.unknown"):
        make_sheet(1, "no-such-exercise")


@pytest.mark.parametrize(
    ("wanted", "given"),
    [
        ("[B, H, L, Dh]", "B H L Dh"),
        ("[B, H, L, Dh]", "(N, heads, T, d_k)"),
        ("[B, H, L, Dh]", "[batch, num_heads, seq_len, head_dim]"),
        ("[B, H, L, Dh]", "torch.Size([B, H, L, D//H])"),
        ("[B, H, L, Dh]", "B, H, S, D / H"),
        ("[B, H, L, Dh]", "（B，H，L，Dh）"),
        ("[B, H, L, Dh]", "【B、H、L、d】"),
        ("[B, L, 3*D]", "[B, L, 3D]"),
        ("[B, L, 3*D]", "B L 3 * d_model"),
        ("[B, L, 3*D]", "[B, L, 3 H Dh]"),
        ("[B, L, 3*D]", "[B, L, 3·H·Dh]"),
        ("[B, L, D]", "[B, T, H*Dh]"),
        ("[B, L, D]", "[B, L, (H * Dh)]"),
        ("[B*H, L, Dh]", "[B*H, L, C//H]"),
        ("[B, 1, 1, L]", "(B, 1, 1, L)"),
        ("[L]", "(L,)"),
        ("[L, L]", "L x L"),
        ("[B, H, L, L]", "BHLL"),
        ("[B, H, L, Dh]", "BHLDh"),
        ("[B, H, L, Dh]", "[bhtd]"),
    ],
)
def test_shape_may_be_written_in_many_ways(wanted, given):
    right = read_shape(wanted, {}, False)
    found = read_shape(given, {}, False)
    assert found is not None
    assert len(found) == len(right)
    assert all(one.equals(other, SELF.sizes) for one, other in zip(found, right))


@pytest.mark.parametrize(
    "given",
    [
        "[B, H, Dh, L]",
        "[B, L, H, Dh]",
        "[B, H, L]",
        "[B, H, L, D]",
        "[B, H, L, Dh, 1]",
        "[1, H, L, Dh]",
    ],
)
def test_other_shapes_are_wrong(given):
    right = read_shape("[B, H, L, Dh]", {}, False)
    found = read_shape(given, {}, False)
    same = len(found) == len(right)
    assert not (same and all(one.equals(other, SELF.sizes) for one, other in zip(found, right)))


@pytest.mark.parametrize(
    "given", ["", "?", "B, what, L", "B, L+1", "B,, L", "B, L / 0", "*B", "B *", "BHQL", "BxL"]
)
def test_what_is_no_shape_is_not_read(given):
    assert read_shape(given, {}, False) is None


def test_two_lengths_are_told_apart():
    at = {"Lq": "Lq q_len T L tgt_len", "Lk": "Lk kv_len S src_len k_len"}
    for letter, words in at.items():
        for word in words.split():
            (axis,) = read_shape(word, {}, True)
            assert axis.letters == ((letter, 1),)
    (query,), (key,) = read_shape("T", {}, True), read_shape("S", {}, True)
    assert not query.equals(key, CROSS.sizes)


def test_names_of_the_file_come_first():
    assert read_shape("N", {"N": "L"}, False)[0].letters == (("L", 1),)
    assert read_shape("N", {}, False)[0].letters == (("B", 1),)


def test_letters_that_are_alike_only_at_these_sizes_are_wrong():
    sizes = {**SELF.sizes, "L": 4, "H": 8, "B": 2}
    (wanted,), (given,) = read_shape("H", {}, False), read_shape("2L", {}, False)
    assert not given.equals(wanted, sizes)
    (number,) = read_shape("8", {}, False)
    assert number.equals(wanted, sizes)


def test_each_blank_has_its_own_entry():
    first, second, third = SELF.blanks[:3]
    text = fill(SELF, [first.wanted, "[B, 7]", "what is this"])
    entries = check(SELF, text)
    assert entries[0] == Entry(first.line, first.name, first.wanted, first.wanted, State.RIGHT)
    assert entries[1] == Entry(second.line, second.name, second.wanted, "[B, 7]", State.WRONG)
    assert entries[2] == Entry(
        third.line, third.name, third.wanted, "what is this", State.UNREADABLE
    )
    assert [entry.right for entry in entries[:3]] == [True, False, False]
    assert {entry.state for entry in entries[3:]} == {State.UNFILLED}


def test_line_that_was_changed_or_removed_is_gone():
    first, second = SELF.blanks[:2]
    lines = fill(SELF, [blank.wanted for blank in SELF.blanks]).split("\n")
    lines[first.line - 1] = lines[first.line - 1].replace(" = ", " = 2 * ")
    del lines[second.line - 1]
    entries = check(SELF, "\n".join(lines))
    assert [entry.state for entry in entries[:2]] == [State.GONE, State.GONE]
    assert (entries[0].line, entries[0].given) == (first.line, "")
    assert {entry.state for entry in entries[2:]} == {State.RIGHT}
    assert entries[2].line == SELF.blanks[2].line - 1


def test_layout_and_further_lines_do_not_matter():
    text = fill(SELF, [blank.wanted for blank in SELF.blanks])
    loose = text.replace("  # shape: ", "   #shape:").replace("\n", "\r\n")
    assert states(SELF, loose) == ["right"] * len(SELF.blanks)
    bare = "# notes\n\n" + text.replace("# shape: ", "# ").replace("# shape of each: ", "# ")
    entries = check(SELF, bare)
    assert {entry.state for entry in entries} == {State.RIGHT}
    assert entries[0].line == SELF.blanks[0].line + 2


@pytest.mark.parametrize("text", ["", "\0", "(" * 5000, "x" * 200_000, "# shape: [" * 3000])
def test_any_text_is_read(text):
    assert states(SELF, text) == ["gone"] * len(SELF.blanks)


def test_long_answer_is_cut():
    text = fill(SELF, ["[" + "B, " * 5000 + "]"])
    assert check(SELF, text)[0].state in (State.WRONG, State.UNREADABLE)
