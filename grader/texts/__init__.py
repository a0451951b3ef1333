"""Sentences: facts come in as Messages, and leave as text in the reader's language."""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from grader.clean import clean
from grader.errors import TextError, UsageError
from grader.files import Banks, banks, read_data
from grader.model import Message

MAX_FIELD = 4096
FOLDER = Path(__file__).resolve().parent
# Fields whose values have a name of their own in each language: mistake.<id>, phase.<name> …
NAMED = ("area", "axis", "exercise", "mistake", "outcome", "phase", "what")


class Texts:
    """One language's sentences."""

    def __init__(self, language: str, sentences: Mapping[str, str]) -> None:
        self.language = language
        self.sentences = sentences

    def say(self, message: Message) -> str:
        """The sentence of a message; raises TextError if the language file lacks something."""
        return self(message.key, **message.fields)

    def __call__(self, key: str, /, **fields: Any) -> str:
        """The sentence for `key`, its placeholders filled."""
        named = {name: self._name(name, value) for name, value in fields.items()}
        if fields.get("text") == "":
            named["text"] = self("no-text")
        named["at"] = self("at", line=fields["line"]) if key != "at" and fields.get("line") else ""
        try:
            return self.sentences[key].format(**named)
        except (KeyError, ValueError, IndexError) as error:
            raise TextError("text.missing", name=key, detail=str(error)) from None

    def _name(self, field: str, value: Any) -> Any:
        if isinstance(value, Message):
            return self.say(value)
        if field in NAMED:
            return self.sentences.get(f"{field}.{value}", value)
        # Names of files come from anyone, and may hold anything.
        return clean(value, MAX_FIELD) if isinstance(value, (str, Path)) else value


def languages() -> tuple[str, ...]:
    """The languages there is a file for."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.yaml")))


def system_language() -> str:
    """The terminal's language if there are texts in it."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        value = os.environ.get(name)
        if value:
            return "zh" if value.lower().startswith("zh") else "en"
    return "en"


@functools.cache
def load_pages(language: str) -> Mapping[str, Mapping[str, str]]:
    """The page of each mistake: what, why, hint, pointer, fix, and the question it leads to."""
    path = FOLDER / "pages" / f"{language}.yaml"
    if not path.is_file():
        return {}
    found: Mapping[str, Mapping[str, str]] = read_data(path)
    return found


def load_texts(language: str) -> Texts:
    """The sentences of a language, those of the banks in use among them.

    Raises UsageError for a language that there is no file for.
    """
    return _load(language, banks())


@functools.cache
def _load(language: str, used: Banks) -> Texts:
    name = f"{language}.yaml"
    if language not in languages():
        raise UsageError("usage.language", wanted=language, known=", ".join(languages()))
    own = [bank / "texts" / name for bank in used.folders]
    sentences: dict[str, str] = {}
    for path in (FOLDER / name, *filter(Path.is_file, own)):
        sentences |= read_data(path)
    return Texts(language, sentences)
