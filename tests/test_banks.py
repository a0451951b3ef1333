"""Banks of a course's own: what they add, what they replace, and what is refused."""

import json
from pathlib import Path

import pytest
from test_cli import RIGHT, WRONG, mha_grade
from test_loader import GOOD

from grader.bank import exercise_ids, load_exercise, use_banks
from grader.errors import UsageError
from grader.files import locate
from grader.model import FREE, Case
from grader.texts import load_texts

PACKAGED = ("causal-self-attention", "cross-attention", "self-attention")
MORE = """
extends: self-attention
limits: {probe_seconds: 9}
cases:
  - {id: values, points: 4.5}
  - {id: tall, area: scaling, check: matches_reference, args: {sizes: {q_len: 29}}, points: 1,
     after: [values], catches: the week's own mistake}
"""


def refusal(*folders):
    """The sentence with which these banks are refused, the folder's own path left out."""
    with pytest.raises(UsageError) as caught:
        use_banks(folders)
    return load_texts("en").say(caught.value.message).replace(f"{Path(folders[-1])}", "BANK")


def test_packaged_values_leave_the_points_to_add():
    values = next(case for case in load_exercise("self-attention").cases if case.id == "values")
    assert (values.area, values.points) == ("scaling", 5.5)


def test_example_of_the_docs_is_right(bank):
    text = (Path(__file__).parent.parent / "docs" / "cases.md").read_text(encoding="utf-8")
    example = text.split("```yaml\nextends: ")[1].split("```")[0]
    use_banks([bank({"week_3.yaml": f"extends: {example}"})])
    assert load_exercise("week-3").cases[-1].id == "one-long-query"


def test_new_exercise_is_among_the_others(bank):
    use_banks([bank({"week_3.yaml": GOOD})])
    assert exercise_ids() == (*PACKAGED, "week-3")
    assert [case.id for case in load_exercise("week-3").cases] == ["constructs", "shapes", "values"]


def test_file_with_a_packaged_name_replaces_it(bank):
    use_banks([bank({"self_attention.yaml": GOOD})])
    assert exercise_ids() == PACKAGED
    assert len(load_exercise("self-attention").cases) == 3


def test_extending_changes_what_it_names(bank):
    before = load_exercise("self-attention")
    use_banks([bank({"self_attention.yaml": MORE})])
    after = load_exercise("self-attention")
    assert after.limits.probe_seconds == 9.0
    assert after.limits.load_seconds == before.limits.load_seconds
    assert after.contract == before.contract
    cases = {case.id: case for case in after.cases}
    old = {case.id: case for case in before.cases}
    assert list(cases) == [*old, "tall"]
    assert cases["values"].points == 4.5
    assert cases["values"].catches == old["values"].catches
    assert cases["tall"] == Case(
        "tall",
        "scaling",
        "matches_reference",
        1.0,
        "the week's own mistake",
        {"sizes": {"q_len": 29}},
        ("values",),
    )
    del cases["values"], cases["tall"], old["values"]
    assert cases == old


def test_extending_under_another_name_is_a_new_exercise(bank):
    use_banks([bank({"week_3.yaml": MORE})])
    assert exercise_ids() == (*PACKAGED, "week-3")
    assert load_exercise("week-3").id == "week-3"
    assert load_exercise("week-3").cases[-1].id == "tall"
    assert load_exercise("self-attention").cases[-1].id != "tall"


def test_extending_changes_areas(bank):
    areas = "extends: my-own\nareas: {shapes: 30, scaling: 70}\ncases:\n"
    rows = "  - {id: shapes, points: 20}\n  - {id: values, points: 70}\n"
    first = bank({"my_own.yaml": GOOD}, "first")
    use_banks([first, bank({"my_own.yaml": areas + rows}, "second")])
    assert load_exercise("my-own").areas == {"shapes": 30.0, "scaling": 70.0}


def test_extending_keeps_packages_or_names_others(bank):
    first = bank({"my_own.yaml": "packages: [pandas]" + GOOD}, "first")
    use_banks([first, bank({"my_own.yaml": "extends: my-own"}, "second")])
    assert load_exercise("my-own").packages == ("pandas",)
    use_banks([first, bank({"my_own.yaml": "extends: my-own\npackages: [scipy]"}, "second")])
    assert load_exercise("my-own").packages == ("scipy",)


def test_later_bank_stands_above_earlier(bank):
    first = bank({"self_attention.yaml": MORE}, "first")
    second = bank(
        {"self_attention.yaml": "extends: self-attention\nlimits: {load_seconds: 3}"}, "second"
    )
    use_banks([first, second])
    both = load_exercise("self-attention")
    assert (both.limits.load_seconds, both.limits.probe_seconds) == (3.0, 9.0)
    assert both.cases[-1].id == "tall"
    use_banks([second, first])
    assert load_exercise("self-attention").limits.load_seconds == 3.0


def test_free_files_have_a_bank_to_extend(bank):
    use_banks([bank({"free.yaml": "extends: free\nlimits: {load_seconds: 3}"})])
    assert load_exercise(FREE).limits.load_seconds == 3.0
    assert exercise_ids() == PACKAGED


def test_version_covers_every_file(bank):
    plain = load_exercise("self-attention").version
    folder = bank({"self_attention.yaml": MORE})
    use_banks([folder])
    extended = load_exercise("self-attention").version
    bank({"self_attention.yaml": MORE + "# more\n"})
    use_banks([folder])
    commented = load_exercise("self-attention").version
    assert len({plain, extended, commented}) == 3
    assert len(extended) == 12
    below = bank(
        {"self_attention.yaml": "extends: self-attention\nlimits: {load_seconds: 3}"}, "below"
    )
    use_banks([below, folder])
    assert load_exercise("self-attention").version not in {plain, extended, commented}


def test_without_banks_all_is_as_before(bank):
    plain, sentence = load_exercise("self-attention"), load_texts("en").sentences
    use_banks([bank({"self_attention.yaml": MORE, "week_3.yaml": GOOD})])
    assert load_exercise("self-attention") != plain
    use_banks(())
    assert load_exercise("self-attention") == plain
    assert load_texts("en").sentences == sentence
    assert exercise_ids() == PACKAGED


def test_refused_banks_leave_those_in_use(bank):
    use_banks([bank({"week_3.yaml": GOOD}, "good")])
    with pytest.raises(UsageError):
        use_banks([bank({"week_4.yaml": "cases: []"}, "bad")])
    assert exercise_ids() == (*PACKAGED, "week-3")


@pytest.mark.parametrize(
    ("language", "title"), [("en", "Week three: a.py"), ("zh", "第三周：a.py")]
)
def test_names_come_from_the_bank(bank, language, title):
    en, zh = "exercise.week-3: Week three", "exercise.week-3: 第三周"
    use_banks([bank({"week_3.yaml": GOOD, "texts/en.yaml": en, "texts/zh.yaml": zh})])
    assert load_texts(language)("title", exercise="week-3", path="a.py") == title


def test_exercise_without_a_name_is_called_by_its_id(bank):
    use_banks([bank({"week_3.yaml": GOOD})])
    assert load_texts("en")("title", exercise="week-3", path="a.py") == "week-3: a.py"


def test_stub_comes_from_the_bank_or_the_package(bank):
    folder = bank({"week_3.yaml": GOOD, "exercises/week_3.py": "# mha-grade: week-3\n"})
    packaged = locate("exercises", "self-attention")
    use_banks([folder])
    assert locate("exercises", "week-3") == folder / "exercises" / "week_3.py"
    assert locate("exercises", "self-attention") == packaged
    assert packaged.is_file()


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        (
            {"week_3.yaml": "extend: self-attention"},
            "BANK/week_3.yaml: file: unknown key extend; "
            "allowed: contract, areas, cases, limits, packages, helpers",
        ),
        (
            {"week_3.yaml": "extends: self-attention\ncontract: {}"},
            "BANK/week_3.yaml: file: unknown key contract; "
            "allowed: extends, areas, cases, limits, packages, helpers",
        ),
        (
            {"week_3.yaml": "extends: week-2"},
            "BANK/week_3.yaml: extends: got week-2; expected causal-self-attention, "
            "cross-attention, self-attention, free",
        ),
        (
            {"week_3.yaml": MORE.replace("catches: the", "caches: the")},
            "BANK/week_3.yaml: tall: unknown key caches; allowed: id, area, check, points, "
            "catches, args, after, needs",
        ),
        (
            {"week_3.yaml": MORE.replace("  - {id: values, points: 4.5}\n", "")},
            "BANK/week_3.yaml: the points of scaling do not add up: 13 != 12",
        ),
        (
            {"week_3.yaml": MORE.replace("id: tall", "id: values")},
            "BANK/week_3.yaml: there are two cases values",
        ),
        (
            {"week_3.yaml": "extends: self-attention\ncases: [3]"},
            "BANK/week_3.yaml: cases: the key id is missing; the keys are: id",
        ),
        (
            {"week_3.yaml": "extends: self-attention\nlimits: 3"},
            "BANK/week_3.yaml: limits: got 3; expected a mapping",
        ),
        (
            {"week_3.yaml": "extends: self-attention\nlimits: {seconds: 3}"},
            "BANK/week_3.yaml: limits: unknown key seconds; allowed: load_seconds, "
            "probe_seconds, total_seconds, memory_mib, output_kib",
        ),
        (
            {"week_3.yaml": GOOD, "texts/en.yaml": "exercise.week-4: Week four"},
            "BANK/texts/en.yaml: file: unknown key exercise.week-4; allowed: exercise.week-3",
        ),
        (
            {"week_3.yaml": GOOD, "texts/en.yaml": "exercise.week-3: 3"},
            "BANK/texts/en.yaml: exercise.week-3: got 3; expected a sentence",
        ),
        (
            {"week_3.yaml": GOOD, "texts/fr.yaml": ""},
            "BANK/texts/fr.yaml: texts: got fr.yaml; expected en.yaml, zh.yaml",
        ),
        (
            {"Week-3.yaml": GOOD},
            "BANK: the file name Week-3.yaml does not fit; expected small letters, digits and "
            "underscores, as in my_exercise.yaml",
        ),
        (
            {"week_3.yml": GOOD},
            "BANK: the file name week_3.yml does not fit; expected small letters, digits and "
            "underscores, as in my_exercise.yaml",
        ),
        ({"README": "none yet"}, "There is no YAML file of an exercise in BANK."),
    ],
)
def test_fault_is_refused_with_file_and_key(bank, files, sentence):
    assert refusal(bank(files)) == sentence


def test_missing_folder_is_refused(tmp_path):
    assert refusal(tmp_path / "none") == (
        "There is no folder BANK; --bank takes a folder with exercises as YAML files."
    )


def test_fault_below_names_the_lower_file(bank):
    first = bank({"week_3.yaml": "extends: self-attention\ncases: [3]"}, "first")
    second = bank({"week_3.yaml": "extends: week-3"}, "second")
    with pytest.raises(UsageError) as caught:
        use_banks([first, second])
    assert caught.value.message.fields["file"] == str(first / "week_3.yaml")


def test_command_grades_with_a_bank(bank):
    folder = bank({"self_attention.yaml": MORE, "texts/en.yaml": "exercise.self-attention: Mine"})
    done = mha_grade(WRONG, "--bank", folder, "--seed", 5)
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("Mine: ")
    assert "tall" in done.stdout
    assert "tall" not in mha_grade(WRONG, "--seed", 5).stdout


def test_command_takes_an_exercise_of_a_bank(bank):
    folder = bank({"week_3.yaml": GOOD})
    done = mha_grade(RIGHT, "--bank", folder, "--exercise", "week-3", "--seed", 5)
    assert done.returncode == 0, done.stderr
    assert "Score: 100 / 100" in done.stdout
    listed = mha_grade("--list", "--bank", folder).stdout
    assert "  week-3: 3 cases; forward(x)\n" in listed


@pytest.mark.parametrize("where", ["option", "course file"])
def test_course_is_graded_with_a_bank(bank, where):
    folder = bank({"week_3.yaml": GOOD}, "private")
    named = where == "course file"
    settings = "exercise: week-3\n" + ("banks: [../private]\n" if named else "")
    course = bank({"mine.yaml": settings})
    options = [] if named else ["--bank", folder]
    done = mha_grade(
        RIGHT, WRONG, *options, "--course", course / "mine.yaml", "--format", "json",
        "--trust-these-files", "--jobs", 1,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stderr
    reports = [json.loads(line) for line in done.stdout.splitlines()]
    assert [report["exercise"] for report in reports] == ["week-3", "week-3"]
    assert {len(report["verdicts"]) for report in reports} == {3}


def test_command_writes_a_stub_only_where_there_is_one(bank, tmp_path):
    folder = bank({"week_3.yaml": GOOD})
    done = mha_grade("--new", "week-3", "--bank", folder, folder=tmp_path)
    assert (done.returncode, done.stderr) == (
        2,
        "mha-grade: The exercise week-3 has no file exercises/week_3.py in any bank.\n",
    )
    bank({"exercises/week_3.py": "# mha-grade: week-3\n"})
    done = mha_grade("--new", "week-3", "--bank", folder, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "week_3.py").read_text(encoding="utf-8") == "# mha-grade: week-3\n"


def test_command_refuses_a_bad_bank(bank):
    folder = bank({"week_3.yaml": "case: []"})
    done = mha_grade(RIGHT, "--bank", folder, "--lang", "zh")
    assert done.returncode == 2
    assert done.stderr == (
        f"mha-grade: {folder}/week_3.yaml：file：未知字段 case；"
        "可用字段：contract, areas, cases, limits, packages, helpers\n"
    )
