"""One drill in progress: the only thing that the terminal and the browser talk to.

    desk = open_desk(store, drill, texts)     # texts: sentences in the reader's language
    desk.task()              the task in spoken words, paragraphs parted by an empty line
    desk.read()              the file's text; raises UnusableSubmission with the reason
    desk.standing()          a Standing: seconds left, negative in overtime; saves; what is over
    desk.time_is_up()        True just once
    desk.grade(source)       a Look: score, change, lost by area, troubles, refusal, report
    desk.warm_up(), desk.make_ready()    before the first save and after each: the next is faster
    desk.drop()              from another thread: a newer save makes this grade useless
    desk.look()              the last Look or None, also of another process
    desk.describe(look)      how much is wrong; of the first no more than the hints have told
    desk.hint()              the next Hint about the first trouble, counted; None if there is none
    desk.report()            the last Report in full, noted as looked up; None if there is none
    desk.facts()             the Facts so far
    desk.points()            of a talk, Points to mark oneself by: what is to be said, and whether a
                             typed transcript seems to say it; desk.mark_points(ids) those made
    desk.talk()              once it is over, what could have been said; of any other drill nothing
    desk.finish()            a Review; the drill is closed for good
    desk.round()             the follow-up round, once it is finished:
        .ask()               an Asked: what the interviewer says now; None at the end
        .answer(text)        a Suggestion of what a typed answer says; None where it is challenged,
                             and then ask() has the challenge
        .mark(rating)        one's own mark, 1 to 4, for the answer typed or spoken; it goes on
        .skip()              on without a mark
    desk.close()             ends the processes behind it

Everything that happens is written to the store at once, and everything that is told is worked out
from there: two desks on the same drill, in two processes, agree.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from typing import Any

from grader.drill.facts import Facts, gather_facts
from grader.drill.folder import file_of
from grader.drill.follow_up import FollowUp
from grader.drill.hints import count_hints, next_hint, write_trouble
from grader.drill.kinds import KINDS
from grader.drill.kinds.explain import Point, list_points, look_at_points, write_talk
from grader.drill.kinds.shapes import describe_blanks
from grader.drill.looks import compare
from grader.drill.model import (
    FINISHED,
    GRADED,
    HINTED,
    LOOKED_UP,
    OVERTIME,
    REVIEWED,
    TALKED,
    Drill,
    Event,
    Hint,
    Look,
)
from grader.drill.review import Review, write_review
from grader.drill.schedule import rate
from grader.drill.standing import Standing, stand
from grader.drill.store import Store
from grader.drill.warm import Warm
from grader.errors import UnusableSubmission, UsageError
from grader.intake import MAX_BYTES, read_submission, submit_text
from grader.model import Report
from grader.sandbox.launch import Launched
from grader.texts import Texts


def open_desk(
    store: Store,
    drill: Drill,
    texts: Texts,
    launched: Launched | None = None,
    now: Callable[[], float] = time.time,
) -> Desk:
    """The desk of this drill; `launched` is a zygote already on its way up."""
    return Desk(store, drill, texts, Warm(drill.exercise, drill.seed, launched), now)


class Finished(UsageError):
    """What was to be done is only done in an open drill."""

    def __init__(self, drill: str) -> None:
        super().__init__("drill.finished", drill=drill)


class Desk:
    """A drill, its clock, its grader and its notes; may be used from several threads."""

    def __init__(
        self, store: Store, drill: Drill, texts: Texts, warm: Warm, now: Callable[[], float]
    ) -> None:
        self.store = store
        self.drill = drill
        self.texts = texts
        self.warm = warm
        self.now = now
        self._kind = KINDS[drill.kind]
        # One save after the other; a hint need not wait for a file that never ends.
        self._grading = threading.Lock()

    def task(self) -> str:
        """The task as an interviewer would say it."""
        return self._kind.task(self.drill, self.texts)

    def events(self) -> Sequence[Event]:
        """Everything noted of this drill."""
        return self.store.events(self.drill.id)

    def standing(self) -> Standing:
        """How far it has come by now, in whichever process."""
        return stand(self.drill, self.events(), self.now())

    @property
    def is_finished(self) -> bool:
        """True once it was closed, from whichever process."""
        return self.standing().is_finished

    def time_is_up(self) -> bool:
        """True when this is the first one to see that time is up."""
        standing = self.standing()
        if standing.left >= 0 or standing.is_told:
            return False
        return self.store.note([self._event(OVERTIME)], while_open=True)

    def read(self) -> str:
        """The candidate's file as it is now."""
        return read_submission(file_of(self.drill)).source

    def read_known(self) -> str | None:
        """The file's text where it was graded last; None where it is news, or cannot be read."""
        look, text = self.look(), self._read_if_there()
        return text if look and look.sha256 == submit_text("", text).sha256 else None

    def grade(self, source: str) -> Look:
        """What this text is worth; the same text as last time is not graded again.

        Raises UsageError once the drill is finished, UnusableSubmission for a text that is too
        big, and LateError where it was dropped.
        """
        path = str(file_of(self.drill))
        if len(source.encode()) > MAX_BYTES:
            raise UnusableSubmission("file.too-big", path=path, limit=MAX_BYTES >> 10)
        submission = submit_text(path, source)
        with self._grading:
            self._check_open()
            before = self.look()
            if before is not None and before.sha256 == submission.sha256:
                return before
            seen = self._kind.look(self.drill, submission, self.warm.grade)
            look = compare(seen, self._last_score())
            if look.report is None or not look.report.has_errors:
                self._keep(look)
            return look

    def warm_up(self) -> None:
        """Do ahead whatever the first save would have to wait for; takes a second or two."""
        if self._kind.runs_code:
            self.warm.rehearse()

    def make_ready(self) -> None:
        """Do ahead whatever the next save would have to wait for; best once a look is shown."""
        self.warm.restock()

    def drop(self) -> None:
        """Give up the grade that is under way in another thread; there it raises LateError."""
        self.warm.drop()

    def look(self) -> Look | None:
        """The last look at the file, by whichever process."""
        return self.store.look(self.drill.id)

    def describe(self, look: Look) -> str:
        """How much is wrong; the first by its line and its name only after the hints for it."""
        first = look.troubles[0]
        said = write_trouble(first, count_hints(self.events())[first.key], self.texts)
        if first.kind == "blank":
            said = describe_blanks(self.drill, look, said, self.texts)
        key = f"drill.troubles.{first.kind}"
        return self.texts(key, count=len(look.troubles), first=said).rstrip()

    def hint(self) -> Hint | None:
        """The next hint about what is wrong first; None where nothing is, or no more is known."""
        self._check_open()
        look = self.look()
        if hint := next_hint(look, self.events(), self.texts) if look else None:
            self._note(HINTED, about=hint.about, part=hint.part)
        return hint

    def report(self) -> Report | None:
        """The whole last report; before the end this is noted, for it names the mistakes."""
        look = self.look()
        if look is None or look.report is None:
            return None
        if not self.is_finished:
            self._note(LOOKED_UP)
        return look.report

    def facts(self) -> Facts:
        """What has happened so far, counted."""
        return gather_facts(self.drill, self.events(), self.look(), self.now())

    def points(self) -> Sequence[Point]:
        """The points of a talk, which is over by now; of any other drill none."""
        if not self._kind.is_talk:
            return ()
        self._check_open()
        page = self._read_if_there()
        if not self.standing().is_talked:
            self.grade(page)
            self._note(TALKED)
        look = self.look()
        missed = {trouble.id for trouble in look.troubles} if look else set()
        return list_points(self.drill, missed, bool(page.strip()), self.texts)

    def mark_points(self, made: Collection[str]) -> None:
        """One's own marks: the ids of the points that were made."""
        self._check_open()
        self._keep(look_at_points(self.drill, made))

    def talk(self) -> Sequence[str]:
        """What could have been said in a talk, in paragraphs, once it is over."""
        standing = self.standing()
        is_over = standing.is_talked or standing.is_finished
        return write_talk(self.drill, self.texts) if self._kind.is_talk and is_over else ()

    def finish(self) -> Review:
        """Grade what is in the file, close the drill and write the review; again, the same one."""
        if not self.is_finished:
            self._grade_file()
        if not self.is_finished:
            facts = self.facts()
            known = {str(e.data["key"]) for e in self.store.events() if e.what == REVIEWED}
            rated = [self._event(REVIEWED, key=key, rating=r) for key, r in rate(facts, known)]
            data = {"score": facts.score, "passed": facts.passed}
            self.store.note([self._event(FINISHED, **data), *rated], while_open=True)
        return write_review(self.facts())

    def round(self) -> FollowUp:
        """The follow-up round; raises UsageError while the drill is open."""
        if not self.is_finished:
            raise UsageError("drill.not-finished", drill=self.drill.id)

        def seen() -> tuple[Sequence[str], Look | None]:
            return self.facts().made, self.look()

        return FollowUp(self.store, self.drill, self.texts, seen, self.now)

    def close(self) -> None:
        """End the processes that grade."""
        self.warm.close()

    def _grade_file(self) -> None:
        """What is in the file counts, if there is a file; else what was saved last.

        A talk counts as it was marked.
        """
        source = "" if self.standing().is_talked else self._read_if_there()
        if source:
            # Where somebody else has finished it meanwhile, theirs stands.
            with suppress(Finished):
                self.grade(source)

    def _read_if_there(self) -> str:
        try:
            return self.read()
        except UnusableSubmission:
            return ""

    def _last_score(self) -> float | None:
        graded = [e.data for e in self.events() if e.what == GRADED and not e.data["refusal"]]
        return float(graded[-1]["score"]) if graded else None

    def _check_open(self) -> None:
        if self.is_finished:
            raise Finished(self.drill.id)

    def _keep(self, look: Look) -> None:
        named = [trouble.id for trouble in look.troubles if trouble.kind == "mistake"]
        refusal = None if look.refusal is None else look.refusal.key
        data = {"score": look.score, "passed": look.passed, "mistakes": named, "refusal": refusal}
        event = self._event(GRADED, sha256=look.sha256, **data)
        self._put([event], look)

    def _note(self, what: str, **data: Any) -> None:
        self._put([self._event(what, **data)])

    def _put(self, events: Sequence[Event], look: Look | None = None) -> None:
        """Keep them; a drill that was finished meanwhile, by whichever process, stays as it is."""
        if not self.store.note(events, look, while_open=True):
            raise Finished(self.drill.id)

    def _event(self, what: str, **data: Any) -> Event:
        return Event(self.drill.id, self.now(), what, data)
