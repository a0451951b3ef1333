"""Each known mistake has a page, the same in both languages, whose hint gives nothing away."""

import re

import pytest
import yaml

from grader.mistakes import CATALOGUE
from grader.texts import FOLDER, languages, load_texts

KEYS = ["what", "why", "hint", "pointer", "fix", "question"]
SENTENCES = KEYS[:-1]
# Words of an id that say nothing by themselves.
COMMON = {"after", "and", "are", "for", "not", "one", "over", "the", "too", "with"}
CHINESE = "[\u3400-\u9fff]"


def read(language):
    return yaml.safe_load((FOLDER / "pages" / f"{language}.yaml").read_text(encoding="utf-8"))


PAGES = {language: read(language) for language in languages()}
TEXTS = [
    pytest.param(language, text, id=f"{language}-{mistake}-{key}")
    for language, pages in PAGES.items()
    for mistake, page in pages.items()
    for key in SENTENCES
    for text in [page[key]]
]
HINTS = [
    pytest.param(language, mistake, id=f"{language}-{mistake}")
    for language, pages in PAGES.items()
    for mistake in pages
]


def stems(mistake):
    """The beginnings of an id's telling words: `floored` is given away by `floor` too."""
    words = [word for word in mistake.split("-") if len(word) > 2 and word not in COMMON]
    return [word[:4] if len(word) < 7 else word[:5] for word in words]


def runs(text, length=5):
    """All runs of five words, or of five characters where the text is Chinese."""
    words = re.findall(f"{CHINESE}|[a-z0-9_]+", text.lower())
    return {tuple(words[i : i + length]) for i in range(len(words) - length + 1)}


def test_same_pages_in_both_languages():
    assert list(PAGES["en"]) == list(PAGES["zh"])


@pytest.mark.parametrize(("language", "mistake"), HINTS)
def test_page_has_the_agreed_keys(language, mistake):
    assert list(PAGES[language][mistake]) == KEYS


def test_same_question_in_both_languages():
    questions = [{name: page["question"] for name, page in p.items()} for p in PAGES.values()]
    assert questions[0] == questions[1]


@pytest.mark.parametrize("language", languages())
def test_pages_are_those_of_the_named_mistakes(language):
    keys = load_texts(language).sentences
    named = {key.removeprefix("mistake.") for key in keys if key.startswith("mistake.")}
    assert set(PAGES[language]) == named
    assert named >= set(CATALOGUE)


@pytest.mark.parametrize(("language", "text"), TEXTS)
def test_text_ends_with_a_full_stop(language, text):
    assert text.endswith("." if language == "en" else "。")
    assert text == text.strip()
    assert "\n" not in text


@pytest.mark.parametrize(("language", "mistake"), HINTS)
def test_texts_are_short(language, mistake):
    """Three sentences at most, two before the mistake is named."""
    end = r"[.?!](?=\s|$)" if language == "en" else "[。？！]"
    counts = {key: len(re.findall(end, PAGES[language][mistake][key])) for key in SENTENCES}
    assert max(counts.values()) <= 3
    assert max(counts["hint"], counts["pointer"]) <= 2


@pytest.mark.parametrize(("language", "mistake"), HINTS)
def test_hint_has_no_word_of_the_id(language, mistake):
    hint = PAGES[language][mistake]["hint"].lower()
    words = re.findall("[a-z0-9]+", hint)
    assert [w for w in words if w.startswith(tuple(stems(mistake)))] == []


@pytest.mark.parametrize(("language", "mistake"), HINTS)
def test_hint_and_pointer_repeat_nothing_of_the_name(language, mistake):
    name = load_texts(language).sentences[f"mistake.{mistake}"]
    for key in ("hint", "pointer"):
        assert runs(PAGES[language][mistake][key]) & runs(name) == set()


@pytest.mark.parametrize(("language", "text"), [p for p in TEXTS if p.values[0] == "zh"])
def test_chinese_is_punctuated_in_full_width(language, text):
    assert re.findall(f"{CHINESE}[,:;?!()]|[,:;?!()]{CHINESE}", text) == []
    # Chinese and Latin stand apart by a space, as in the other texts.
    assert re.findall(f"{CHINESE}[A-Za-z0-9]|[A-Za-z0-9]{CHINESE}", text) == []
