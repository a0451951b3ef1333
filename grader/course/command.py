"""`mha-grade` on more than one file: from what was asked for to an exit code."""

from __future__ import annotations

import contextlib
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.clean import clean
from grader.course import summary
from grader.course.batch import Batch, Executor, Progress
from grader.course.gather import Entry, gather
from grader.course.options import Options
from grader.course.settings import Settings, open_banks
from grader.course.standing import Counted, Move, counted, moved
from grader.course.store import MEMORY, Store
from grader.errors import UsageError
from grader.reports.figures import sum_up
from grader.texts import Texts

EXECUTORS = ("local", "dask")
# Seconds between two lines of progress where there is no terminal to overwrite one.
QUIET, LIVELY = 10.0, 0.2
MAX_NAME = 200


@dataclass(frozen=True)
class Console:
    """Where sentences go: `show` is for what was asked for, `tell` for what happens meanwhile."""

    texts: Texts
    show: Callable[[str], None]
    tell: Callable[[str], None]
    overwrite: Callable[[str], None] | None = None


@contextlib.contextmanager
def grade_course(
    paths: Sequence[Path], options: Options, settings: Settings, console: Console
) -> Iterator[Counted]:
    """Grade all that is below the paths; while it is open, the submissions that count.

    Raises UsageError for options that do not go together, and where nothing is handed in.
    """
    open_banks(settings)
    everything = gather(paths, settings.files)
    entries = _shard(everything, options.shard)
    if not entries and not options.merge:
        raise UsageError("course.nothing", path=", ".join(map(str, paths)))
    with Store(options.results or MEMORY) as store:
        for path in options.merge:
            count = store.merge(path)
            console.tell(console.texts("course.merged", count=count, path=path))
        seed = int(store.fact("seed", str(options.seed)))
        if entries:
            present = {entry.key for entry in everything}
            store.drop(key for key in store.known() if key not in present)
            batch = Batch(
                entries, settings, seed, options.class_name, options.trust, options.pictured
            )
            run(batch, store, options, console)
        standing = counted(store, settings.keep)
        console.show(summary.render(sum_up(standing), console.texts))
        if options.regrade:
            console.show(render_moves(moved(store), console.texts))
        yield standing


def run(batch: Batch, store: Store, options: Options, console: Console) -> Progress:
    """Grade what is to be graded, and tell how it goes."""
    teller = Teller(console)
    executor = choose_executor(options, batch.settings)
    progress = batch.run(store, executor, teller, options.regrade)
    teller.end(progress)
    return progress


def choose_executor(options: Options, settings: Settings) -> Executor:
    """Lanes of this machine, or those of a cluster."""
    if options.executor == "local":
        from grader.course.lanes import Local, count_cores

        return Local(options.jobs or count_cores(), settings.banks)
    if options.executor != "dask":
        raise UsageError("course.executor", wanted=options.executor, known=", ".join(EXECUTORS))
    if options.scheduler is None:
        raise UsageError("course.no-address")
    from grader.course.cluster import Dask

    return Dask(options.scheduler, settings.banks)


class Teller:
    """Says how far a batch is: over and over in one line, or now and then in a new one."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.every = QUIET if console.overwrite is None else LIVELY
        self.last = time.monotonic()

    def __call__(self, progress: Progress) -> None:
        """Called for each file; says something only now and then."""
        now = time.monotonic()
        if now - self.last >= self.every:
            self.last = now
            say = self.console.overwrite or self.console.tell
            say(self._line("course.progress", progress))

    def end(self, progress: Progress) -> None:
        """The last word."""
        if self.console.overwrite is not None:
            self.console.overwrite("")
        self.console.tell(self._line("course.done", progress))

    def _line(self, key: str, progress: Progress) -> str:
        minutes, seconds = divmod(int(progress.seconds_left), 60)
        return self.console.texts(
            key,
            done=progress.known + progress.graded,
            total=progress.total,
            known=progress.known,
            graded=progress.graded,
            rate=progress.rate,
            left=f"{minutes}:{seconds:02d}",
            passed=progress.passed,
            refused=progress.refused,
            errors=progress.errors,
        )


def render_moves(moves: Sequence[Move], texts: Texts) -> str:
    """Who moved, from where to where, and by which cases."""
    lines = [texts("course.moved", count=len(moves))]
    for move in moves:
        graded = move.result.graded
        student = clean(graded.student, MAX_NAME)
        lines.append(f"  {student}: {move.before:g} -> {graded.report.score:g}")
        lines += [f"    {case}: {old:g} -> {new:g}" for case, old, new in move.cases]
    return "\n".join(lines) + "\n"


def _shard(entries: list[Entry], shard: str | None) -> list[Entry]:
    """The i-th of N parts, by key: the same on every machine, whatever else is there."""
    if shard is None:
        return entries
    part, _, of = shard.partition("/")
    if not (part.isdecimal() and of.isdecimal() and 1 <= int(part) <= int(of)):
        raise UsageError("course.shard", wanted=shard)
    return [e for e in entries if zlib.crc32(e.key.encode()) % int(of) == int(part) - 1]
