"""A course's rate: files a second, and processor time a file, side by side in one run.

`python benchmarks/course.py [FILES]`, from a checkout with the test extras installed. The same
right answer under FILES names, each a little different, is graded

- by `mha-grade` with one lane for each core,
- by the same cases without isolation: candidate and grader in one process,
- by pytest in a fresh process for each file, with a usual test of an attention module,
- by `otter run` with the same test, where otter-grader is installed (it wants ipykernel beside it).

Last comes what memory is a worker's own, of those that a lane makes for a course.
"""

import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

ROOT = Path(__file__).resolve().parent.parent
ANSWER = "# mha-grade: self-attention\n" + (ROOT / "reference" / "self_attention.py").read_text()
FRESH = 4
TEST = """
import torch, torch.nn.functional as F

CASES = [(b, l, h, m) for b in (1, 2) for l in (1, 5, 7) for h in (1, 3, 6) for m in (0, 1)]

def compare(MultiHeadAttention, batch, length, heads, masked):
    torch.manual_seed(0)
    attention = MultiHeadAttention(18, heads).double().eval()
    x = torch.randn(batch, length, 18, dtype=torch.float64, requires_grad=True)
    mask = torch.ones(length, length, dtype=torch.bool).tril() if masked else None
    output, _ = attention(x, mask)
    q, k, v = (p(x).unflatten(-1, (heads, -1)).transpose(1, 2) for p in
               (attention.q_proj, attention.k_proj, attention.v_proj))
    mixed = F.scaled_dot_product_attention(q, k, v, mask).transpose(1, 2).flatten(-2)
    torch.testing.assert_close(output, attention.out_proj(mixed))
    output.sum().backward()
    assert torch.isfinite(x.grad).all()
"""
FOR_PYTEST = """
import pytest
from answer import MultiHeadAttention

@pytest.mark.parametrize("case", CASES)
def test_matches_sdpa(case):
    compare(MultiHeadAttention, *case)
"""
FOR_OTTER = """
from otter.test_files import test_case

OK_FORMAT, name, points = False, "q1", 1

@test_case(points=1)
def test_matches_sdpa(env):
    for case in CASES:
        compare(env["MultiHeadAttention"], *case)
"""


def measure(command: list[str], cwd: Path) -> tuple[float, float]:
    """Wall and processor seconds of a command and all that it started and waited for."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, check=False)
    wall = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    spent = (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)
    return wall, spent


def write(folder: Path, files: int) -> None:
    folder.mkdir()
    for number in range(files):
        (folder / f"student{number:05}.py").write_text(f"{ANSWER}# {number}\n")


def grade_batch(folder: Path, files: int) -> tuple[float, float]:
    """The command as a course runs it; what starting costs is taken off by a run of two files."""
    write(folder / "all", files)
    write(folder / "two", 2)
    common = [sys.executable, "-m", "grader", "--trust-these-files", "--seed", "1"]
    few = measure([*common, str(folder / "two"), "--results", str(folder / "2.db")], folder)
    many = measure([*common, str(folder / "all"), "--results", str(folder / "n.db")], folder)
    return tuple((m - f) / (files - 2) for m, f in zip(many, few))


def grade_inside(files: int) -> tuple[float, float]:
    """The same cases with candidate and grader in this process: nothing is shut in, or sent."""
    import torch

    from grader.grading import Request, grade
    from grader.intake import submit_text
    from grader.sandbox import claims, session, wire
    from grader.worker import execute, ready_made

    torch.set_num_threads(1)
    ready_made.install()

    class Inside(session.Session):
        """A session whose worker is this process."""

        def load(self):
            self.state = execute.Submission()
            reply = self.state.load(self.submission.source, "answer.py")
            return session.Loaded(session.Status.OK, claims.read_classes(reply))

        def run(self, probe):
            header, blobs = wire.write_probe(probe, *self._held.look_up(probe.weights))
            return claims.read_observation(*self.state.probe(header, blobs))

    import grader.grading

    usual, grader.grading.Session = grader.grading.Session, Inside
    try:
        rows = []
        for number in range(files):
            submission = submit_text(f"student{number}.py", f"{ANSWER}# {number}\n")
            wall, spent = time.perf_counter(), time.process_time()
            report = grade(submission, SimpleNamespace(environment={}), Request(1))
            rows.append((time.perf_counter() - wall, time.process_time() - spent))
            assert report.score == 100.0, report
    finally:
        grader.grading.Session = usual
    # The first one works out what the others share.
    return tuple(sum(part) / (files - 1) for part in zip(*rows[1:]))


def grade_fresh(folder: Path) -> tuple[float, float]:
    """Pytest in a process of its own for each file."""
    spent = []
    for number in range(FRESH):
        own = folder / f"fresh{number}"
        own.mkdir()
        (own / "answer.py").write_text(ANSWER)
        (own / "test_answer.py").write_text(TEST + FOR_PYTEST)
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "."]
        spent.append(measure(command, own))
    return tuple(sum(part) / FRESH for part in zip(*spent))


def grade_otter(folder: Path, otter: str) -> tuple[float, float]:
    """Otter without its containers; what it makes of the test is made once for all files."""
    own = folder / "otter"
    (own / "tests").mkdir(parents=True)
    (own / "tests" / "q1.py").write_text(TEST + FOR_OTTER)
    (own / "answer.py").write_text(ANSWER)
    measure([otter, "generate", "-t", "tests", "-o", "made.zip", "--no-environment"], own)
    command = [otter, "run", "-a", "made.zip", "-o", ".", "--no-logo", "answer.py"]
    spent = [measure(command, own) for _ in range(FRESH)]
    assert '"score": 1,' in (own / "results.json").read_text()
    return tuple(sum(part) / FRESH for part in zip(*spent))


def measure_own_memory(files: int) -> float:
    """MiB that a worker shares with no other process at its end, as in a course; the median."""
    from grader.grading import Request, grade
    from grader.intake import submit_text
    from grader.sandbox.forge import open_forge
    from grader.sandbox.session import Session

    found = []
    close = Session.close

    def measured(session: Session) -> None:
        rows = Path(f"/proc/{session._worker.pid}/smaps_rollup").read_text().splitlines()
        found.append(sum(int(row.split()[1]) for row in rows if row.startswith("Private_")) / 1024)
        close(session)

    Session.close = measured
    forge = open_forge(rehearsed=True)
    try:
        for number in range(files):
            grade(submit_text("answer.py", f"{ANSWER}# {number}\n"), forge, Request(1))
    finally:
        Session.close = close
        forge.close()
    return statistics.median(found)


def main(files: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = {
            "mha-grade, a course": grade_batch(folder, files),
            "without isolation, one process": grade_inside(min(files, 30)),
            "pytest, a process each": grade_fresh(folder),
        }
        otter = shutil.which("otter")
        if otter:
            rows["otter run, a process each"] = grade_otter(folder, otter)
    print(f"{'':34} {'wall s':>8} {'cpu s':>8} {'files/s':>8}   (a file, of {files})")
    for what, (wall, spent) in rows.items():
        print(f"{what:34} {wall:8.3f} {spent:8.3f} {1 / wall:8.1f}")
    ours, inside, fresh, *others = (spent for _, spent in rows.values())
    print(f"cpu, of the same without isolation: {ours / inside:.2f}   (goal 1.3)")
    print(f"cpu of pytest, of ours:             {fresh / ours:.1f}   (goal 50)")
    for spent in others:
        print(f"cpu of otter, of ours:              {spent / ours:.1f}")
    print(f"a worker's own memory at its end:   {measure_own_memory(9):.1f} MiB   (goal 10)")


if __name__ == "__main__":
    os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
    sys.path.insert(0, str(ROOT))
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60)
