"""A large course, graded in peace and killed on the way: nothing grows, nothing is lost or changed.

`python benchmarks/endurance.py [FILES] [KILLS] [HOSTILE]`, from a checkout. FILES submissions are
made of the honest files of the corpus, each a little different, and HOSTILE of the hostile ones.
The folder is graded

- in peace, while the memory and the rate are noted;
- once more, killed (SIGKILL, lanes and all) KILLS times on the way and run again each time;
- where there are hostile files, a third time without them.

Reports must be the same, times and what processes are called aside.
"""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CORPUS = ROOT / "tests" / "submissions"
EVERY_SECONDS = 2.0


def write(folder: Path, honest: int, hostile: int) -> None:
    folder.mkdir()
    for kind, wanted in (("right wrong", honest), ("hostile", hostile)):
        files = sorted(p for part in kind.split() for p in (CORPUS / part).glob("*.py"))
        random.Random(1).shuffle(files)
        for number in range(wanted):
            text = files[number % len(files)].read_text(encoding="utf-8", errors="surrogateescape")
            name = folder / f"{kind[:1]}{number:05}.py"
            with open(name, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
                file.write(f"{text}\n# {number}\n")


def start(folder: Path, results: Path) -> subprocess.Popen:
    command = [sys.executable, "-m", "grader", str(folder), "--results", str(results)]
    return subprocess.Popen(
        [*command, "--seed", "7", "--trust-these-files"],
        cwd=ROOT,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def count(results: Path) -> int:
    try:
        with sqlite3.connect(f"file:{results}?mode=ro", uri=True) as connection:
            return connection.execute("SELECT COUNT(*) FROM results").fetchone()[0]
    except sqlite3.Error:
        return 0


def descendants(pid: int) -> list[int]:
    found = [pid]
    for one in found:
        try:
            found += map(int, Path(f"/proc/{one}/task/{one}/children").read_text().split())
        except OSError:
            continue
    return found


def resident_kib(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("VmRSS")), 0)


def grade_in_peace(folder: Path, results: Path) -> list[tuple[float, int, int, int]]:
    """(seconds, files done, KiB of the first process, KiB of the largest of the others) so far."""
    began, process, rows = time.monotonic(), start(folder, results), []
    while process.poll() is None:
        time.sleep(EVERY_SECONDS)
        sizes = [resident_kib(pid) for pid in descendants(process.pid)]
        if any(sizes):
            seconds = time.monotonic() - began
            rows.append((seconds, count(results), sizes[0], max(sizes[1:], default=0)))
    return rows


def grade_killed(folder: Path, results: Path, files: int, kills: int) -> list[int]:
    """Killed at random places; returns how many were done at each."""
    places = sorted(random.Random(2).sample(range(files // 10, files), kills))
    done = []
    for place in places:
        process = start(folder, results)
        while process.poll() is None and count(results) < place:
            time.sleep(0.05)
        for pid in descendants(process.pid):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        process.wait()
        done.append(count(results))
    start(folder, results).wait()
    return done


def read(results: Path, kind: str = "") -> dict[str, object]:
    """Key -> report, without what differs from run to run by nature."""
    from dataclasses import replace

    from grader.course.store import Store

    with Store(results) as store:
        return {
            result.key: replace(result.graded.report, seconds=0.0)
            for result in store.results()
            if Path(result.graded.report.submission.path).name.startswith(kind)
        }


def tell_growth(rows: list[tuple[float, int, int, int]], files: int) -> None:
    quarter = [row for row in rows if row[1] <= files / 4][-1]
    half, last = [row for row in rows if row[1] <= files * 3 / 4][-1], rows[-1]
    # A little before the end: the lanes have left by then.
    late = [row for row in rows if row[1] <= files * 0.98][-1]
    first_rate = quarter[1] / quarter[0]
    last_rate = (last[1] - half[1]) / (last[0] - half[0])
    print(
        f"files a second: {first_rate:.2f} in the first quarter, {last_rate:.2f} in the last half"
    )
    print(f"memory of the first process:  {quarter[2] >> 10} MiB, {late[2] >> 10} MiB at the end")
    print(f"memory of the largest other:  {quarter[3] >> 10} MiB, {late[3] >> 10} MiB at the end")


def main(files: int, kills: int, hostile: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder / "all", files, hostile)
        rows = grade_in_peace(folder / "all", folder / "peace.db")
        tell_growth(rows, files + hostile)
        peace = read(folder / "peace.db")
        print(f"submissions: {files + hostile}, results: {len(peace)}")
        if kills:
            done = grade_killed(folder / "all", folder / "killed.db", files + hostile, kills)
            killed = read(folder / "killed.db")
            unlike = [key for key in peace if peace[key] != killed.get(key)]
            print(
                f"killed after {done}; results: {len(killed)}, unlike: {len(unlike)} {unlike[:9]}"
            )
        if hostile:
            write(folder / "honest", files, 0)
            grade_in_peace(folder / "honest", folder / "honest.db")
            alone, among = read(folder / "honest.db"), read(folder / "peace.db", "r")
            unlike = [key for key in alone if alone[key] != among.get(key)]
            print(f"honest, alone: {len(alone)}, among hostile: {len(among)}")
            print(f"unlike: {len(unlike)} {unlike[:9]}")


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    numbers = [int(part) for part in sys.argv[1:]]
    main(*(numbers + [300, 3, 100][len(numbers) :]))
