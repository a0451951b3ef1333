"""Both languages say everything, with the same values, and nothing that is never said."""

import re
from pathlib import Path
from string import Formatter

import pytest

from grader.bank import exercise_ids, load_exercise
from grader.bank.offers import OFFERS
from grader.errors import TextError, UsageError
from grader.mistakes import CATALOGUE
from grader.model import FREE, Message, Outcome
from grader.texts import languages, load_texts

PACKAGE = Path(__file__).parent.parent / "grader"
KEY = re.compile(r'["\']((?:[a-z]+)\.[a-z0-9-]+)["\']')


def placeholders(sentence):
    return {name for _, name, _, _ in Formatter().parse(sentence) if name}


def written_keys():
    """Keys that stand in the code as they are, first part a family of the language file."""
    families = {key.split(".")[0] for key in load_texts("en").sentences if "." in key}
    for path in PACKAGE.rglob("*.py"):
        if "worker" not in path.parts:
            for found in KEY.findall(path.read_text(encoding="utf-8")):
                if found.split(".")[0] in families and not found.endswith(".yaml"):
                    yield path.name, found


def test_languages_are_english_and_chinese():
    assert languages() == ("en", "zh")


def test_languages_have_the_same_keys():
    assert list(load_texts("en").sentences) == list(load_texts("zh").sentences)


def test_languages_have_the_same_placeholders():
    english, chinese = (load_texts(name).sentences for name in ("en", "zh"))
    unlike = [
        key for key in english if placeholders(english[key]) != placeholders(chinese.get(key, ""))
    ]
    assert unlike == []
    assert [key for key in english if not (english[key].strip() and chinese[key].strip())] == []


def test_every_key_in_the_code_has_a_sentence():
    missing = [f"{name}: {key}" for name, key in written_keys() if key not in sentences()]
    assert missing == []


def sentences():
    return load_texts("en").sentences


@pytest.mark.parametrize("language", languages())
def test_every_named_thing_has_its_name(language):
    found = load_texts(language).sentences
    banks = (*exercise_ids(), FREE)
    areas = {area for name in banks for area in load_exercise(name).areas}
    wanted = [f"mistake.{name}" for name in CATALOGUE]
    wanted += [f"area.{area}" for area in areas] + [f"exercise.{name}" for name in banks]
    wanted += [f"not-offered.{what}" for what in (*OFFERS, "mask")]
    wanted += [f"outcome.{outcome.value}" for outcome in Outcome]
    wanted += [f"isolation.{level}" for level in ("none", "reduced", "full")]
    assert [key for key in wanted if key not in found] == []


def test_line_is_named_where_known():
    fields = {"phase": "forward", "type": "RuntimeError", "text": "boom", "line": 12}
    assert load_texts("en").say(Message("trouble.raised", fields)) == (
        "forward raised RuntimeError (line 12): boom"
    )
    fields["line"] = None
    assert load_texts("en").say(Message("trouble.raised", fields)) == (
        "forward raised RuntimeError: boom"
    )


def test_missing_value_is_refused():
    with pytest.raises(TextError) as caught:
        load_texts("en").say(Message("dropout.rate", {"got": "0.5"}))
    assert caught.value.message.key == "text.missing"


def test_unknown_language_is_refused():
    with pytest.raises(UsageError) as caught:
        load_texts("tlh")
    assert caught.value.message.fields == {"wanted": "tlh", "known": "en, zh"}


def test_braces_in_candidate_text_stay_as_they_are():
    fields = {"phase": "forward", "type": "KeyError", "text": "{0} {at} {{", "line": None}
    assert load_texts("en").say(Message("trouble.raised", fields)).endswith("{0} {at} {{")
