"""What the doctor found, as text."""

from __future__ import annotations

from collections.abc import Iterator

from grader.doctor.examination import Examination
from grader.reports.columns import columns, pad, wrap
from grader.texts import Texts


def render_examination(found: Examination, texts: Texts) -> str:
    """The level first, then each layer and each attack on a line."""
    return "\n".join(_lines(found, texts)) + "\n"


def _lines(found: Examination, texts: Texts) -> Iterator[str]:
    isolation = found.isolation
    yield from wrap(texts(f"isolation.{isolation.level}"), "", "")
    yield ""
    yield texts("doctor.layers")
    for names, key in ((isolation.layers, "present"), (isolation.missing, "missing")):
        for name in names:
            yield f"  {pad(texts(f'doctor.{key}'), 12)}{name}"
    yield ""
    yield texts("doctor.attacks", held=sum(found.held.values()), count=len(found.held))
    words = [texts("doctor.held"), texts("doctor.not-held")]
    width = max(map(columns, words)) + 2
    for name, held in found.held.items():
        yield f"  {pad(words[0 if held else 1], width)}{texts(f'doctor.attack.{name}')}"
    if not found.is_sound:
        yield ""
        yield from wrap(texts("doctor.unsound"), "", "")
