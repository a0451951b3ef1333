"""What the options and a course's own file come to together."""

from __future__ import annotations

from dataclasses import replace

from grader.cli.options import Asked
from grader.course.settings import Settings, choose_settings
from grader.errors import BankError, UsageError
from grader.reports import View
from grader.texts import Texts, load_texts


def read_course(asked: Asked, texts: Texts) -> tuple[Settings, Texts]:
    """What the course file says, and the sentences of its language unless another is asked for."""
    try:
        settings = choose_settings(asked.options())
    except BankError as error:
        # A course's own file is wrong, and whoever wrote it is here.
        raise UsageError(error.message.key, **error.message.fields) from None
    if settings.language is not None and asked.lang is None:
        texts = load_texts(settings.language)
    return settings, texts


def view_of(asked: Asked, settings: Settings) -> View:
    """What is to be seen of a report: a course's level of hints is fixed."""
    view = asked.view()
    return view if settings.hints is None else replace(view, hints=settings.hints)
