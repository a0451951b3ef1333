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
# Hundreds of texts under a few rules: a test is a rule, and names every text that breaks it.
each_language = pytest.mark.parametrize("language", languages())


def texts(language):
    """(where, text) of every sentence in the pages of a language."""
    for mistake, page in PAGES[language].items():
        yield from ((f"{mistake}: {key}", page[key]) for key in SENTENCES)


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


@each_language
def test_page_has_the_agreed_keys(language):
    assert {mistake: list(page) for mistake, page in PAGES[language].items()} == dict.fromkeys(
        PAGES[language], KEYS
    )


def test_same_question_in_both_languages():
    questions = [{name: page["question"] for name, page in p.items()} for p in PAGES.values()]
    assert questions[0] == questions[1]


@each_language
def test_pages_are_those_of_the_named_mistakes(language):
    keys = load_texts(language).sentences
    named = {key.removeprefix("mistake.") for key in keys if key.startswith("mistake.")}
    assert set(PAGES[language]) == named
    assert named >= set(CATALOGUE)


@each_language
def test_text_ends_with_a_full_stop(language):
    end = "." if language == "en" else "。"
    wrong = [(w, t) for w, t in texts(language) if not t.endswith(end) or t != t.strip()]
    assert wrong == []
    assert [(where, text) for where, text in texts(language) if "\n" in text] == []


@each_language
def test_texts_are_short(language):
    """Three sentences at most, two before the mistake is named."""
    end = r"[.?!](?=\s|$)" if language == "en" else "[。？！]"
    most = {"hint": 2, "pointer": 2}
    wrong = [
        (where, text)
        for where, text in texts(language)
        if len(re.findall(end, text)) > most.get(where.split(": ")[1], 3)
    ]
    assert wrong == []


@each_language
def test_hint_has_no_word_of_the_id(language):
    told = {
        mistake: [
            word
            for word in re.findall("[a-z0-9]+", page["hint"].lower())
            if word.startswith(tuple(stems(mistake)))
        ]
        for mistake, page in PAGES[language].items()
    }
    assert {mistake: words for mistake, words in told.items() if words} == {}


@each_language
def test_hint_and_pointer_repeat_nothing_of_the_name(language):
    names = load_texts(language).sentences
    repeated = {
        (mistake, key): runs(page[key]) & runs(names[f"mistake.{mistake}"])
        for mistake, page in PAGES[language].items()
        for key in ("hint", "pointer")
    }
    assert {where: words for where, words in repeated.items() if words} == {}


def test_chinese_is_punctuated_in_full_width():
    marks = f"{CHINESE}[,:;?!()]|[,:;?!()]{CHINESE}"
    # Chinese and Latin stand apart by a space, as in the other texts.
    joined = f"{CHINESE}[A-Za-z0-9]|[A-Za-z0-9]{CHINESE}"
    for rule in (marks, joined):
        found = {where: re.findall(rule, text) for where, text in texts("zh")}
        assert {where: parts for where, parts in found.items() if parts} == {}
