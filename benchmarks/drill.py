"""From a save to its report in a drill: a right answer and wrong ones, saved over and over.

`python benchmarks/drill.py [SAVES]` starts `mha-drill` as people do, writes into its file and waits
for the score to be printed. Every save differs from the one before: first only in a comment, as
when somebody tidies up; then the versions take turns, so that each save mends or breaks something.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median, quantiles

from grader.audit.specimens import load_file, make_specimen
from grader.bank import load_exercise

ROOT = Path(__file__).resolve().parent.parent
EXERCISE = "self-attention"
MISTAKES = ("missing-scale", "mask-inverted", "mask-after-softmax", "softmax-over-queries")
# Between saves, as nobody saves faster; and before the first, while the task is read.
PAUSE_SECONDS, READING_SECONDS = 0.5, 8.0


def main(saves: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        drill = start(Path(folder))
        file = Path(folder) / "work" / "self_attention.py"
        texts = dict(versions())
        tidied = {
            name: [save(drill, file, text) for _ in range(saves)] for name, text in texts.items()
        }
        turns = [save(drill, file, text) for _ in range(saves) for text in texts.values()]
        drill.stdin.write("q\n")
        drill.communicate()
    print(f"load at the end: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    for name, seconds in tidied.items():
        # The first is the change to this version.
        tell(name, seconds[1:])
    tell("all of these", [one for seconds in tidied.values() for one in seconds[1:]])
    tell("versions in turn", turns)


def versions() -> Iterator[tuple[str, str]]:
    """The model answer, and what each of a few mistakes makes of it."""
    exercise = load_exercise(EXERCISE)
    yield "right", load_file("reference", EXERCISE).source
    for name in MISTAKES:
        yield name, make_specimen(exercise, name).source


def start(folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "grader.drill", "start", "--folder", str(folder / "work")]
    drill = subprocess.Popen(
        [*command, "--exercise", EXERCISE, "--seed", "5", "--lang", "en"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
        env=os.environ | {"MHA_GRADE_DATA": str(folder / "data"), "PYTHONPATH": str(ROOT)},
    )
    while "then Enter" not in drill.stdout.readline():
        pass
    time.sleep(READING_SECONDS)
    return drill


def save(drill: subprocess.Popen[str], file: Path, text: str) -> float:
    """Seconds until the score of this save is printed."""
    time.sleep(PAUSE_SECONDS)
    began = time.perf_counter()
    file.write_text(f"{text}\n# {began}\n")
    while " of 100" not in drill.stdout.readline():
        pass
    return time.perf_counter() - began


def tell(name: str, seconds: list[float]) -> None:
    ninth = quantiles(seconds, n=10)[-1]
    print(f"{name:<28} median {median(seconds):.3f} s   p90 {ninth:.3f} s   ({len(seconds)} saves)")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 12)
