"""The page's own sentences, sent to it as data: no script of it holds any."""

from __future__ import annotations

from collections.abc import Mapping

from grader.texts import Texts

PREFIX = "drill.web."


def choose_sentences(texts: Texts) -> Mapping[str, str]:
    """Sentence by key, without the part that all of them share; placeholders are left in."""
    found = texts.sentences.items()
    return {key.removeprefix(PREFIX): said for key, said in found if key.startswith(PREFIX)}
