"""Lanes of a Dask cluster: `pytest -m cluster`, with the extra `cluster` installed."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from grader.bank import use_banks
from grader.course.batch import Batch
from grader.course.cluster import Dask
from grader.course.gather import gather
from grader.course.settings import Settings
from grader.course.store import Store
from grader.errors import UsageError

pytestmark = pytest.mark.cluster
ROOT = Path(__file__).parent.parent
HEADER = "# mha-grade: self-attention\n"
RIGHT = HEADER + (ROOT / "reference" / "self_attention.py").read_text(encoding="utf-8")
FILES = 24
PLAIN = Settings()


@pytest.fixture
def folder(tmp_path):
    files = tmp_path / "submissions"
    files.mkdir()
    for number in range(FILES):
        (files / f"s{number:02}.py").write_text(f"{RIGHT}# {number}\n", encoding="utf-8")
    return files


def start(*arguments):
    """A scheduler or a worker, as a process of its own on this machine's loopback."""
    pytest.importorskip("distributed")
    command = [sys.executable, "-m", "distributed.cli." + arguments[0], *arguments[1:]]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(command, env=environment, cwd="/", start_new_session=True, **quiet)


@pytest.fixture
def cluster(tmp_path):
    """Starts schedulers and workers on request, and ends them all."""
    running = []

    def start_scheduler():
        path = tmp_path / f"scheduler{len(running)}.json"
        port = str(18786)
        common = ["--host", "127.0.0.1", "--port", port, "--no-dashboard", "--no-jupyter"]
        process = start("dask_scheduler", *common, "--scheduler-file", str(path))
        running.append(process)
        deadline = time.monotonic() + 60
        while not path.exists():
            assert time.monotonic() < deadline
            time.sleep(0.1)
        return process, json.loads(path.read_text())["address"]

    def start_worker(address):
        running.append(start("dask_worker", address, "--nthreads", "1", "--no-dashboard"))
        return running[-1]

    yield start_scheduler, start_worker
    for process in running:
        process.terminate()
        process.wait()


def run(folder, store, address, tell=lambda progress: None, settings=PLAIN):
    batch = Batch(gather([folder]), settings, 5, trusted=True)
    return batch.run(store, Dask(address, settings.banks), tell, again=False)


def assert_all_graded(store):
    scores = {r.key: r.graded.report.score for r in store.results()}
    assert scores == {f"s{number:02}.py": 100.0 for number in range(FILES)}


def test_worker_killed_half_way_costs_nothing(folder, cluster):
    start_scheduler, start_worker = cluster
    _, address = start_scheduler()
    workers = [start_worker(address), start_worker(address)]
    killed = []

    def tell(progress):
        if progress.graded >= 6 and not killed:
            os.killpg(workers[0].pid, 9)
            killed.append(progress.graded)

    with Store() as store:
        progress = run(folder, store, address, tell)
        assert killed
        assert (progress.graded, progress.passed, progress.errors) == (FILES, FILES, 0)
        assert_all_graded(store)


def test_worker_that_comes_later_has_the_banks_of_the_course(folder, cluster, bank):
    start_scheduler, start_worker = cluster
    _, address = start_scheduler()
    first = start_worker(address)
    later = []

    def tell(progress):
        if progress.graded >= 4 and not later:
            later.append(start_worker(address))
            os.killpg(first.pid, 9)

    own = bank({"week_3.yaml": "extends: self-attention\n"})
    use_banks([own])
    with Store() as store:
        progress = run(folder, store, address, tell, Settings(exercise="week-3", banks=(own,)))
        assert later
        assert (progress.graded, progress.refused, progress.errors) == (FILES, 0, 0)
        assert_all_graded(store)


def test_scheduler_lost_half_way_is_found_again(folder, cluster):
    start_scheduler, start_worker = cluster
    scheduler, address = start_scheduler()
    start_worker(address)
    again = []

    def tell(progress):
        if progress.graded >= 6 and not again:
            os.killpg(scheduler.pid, 9)
            scheduler.wait()
            again.append(start_scheduler())
            start_worker(address)

    with Store() as store:
        progress = run(folder, store, address, tell)
        assert again
        assert (progress.graded, progress.errors) == (FILES, 0)
        assert_all_graded(store)


def test_no_scheduler_is_said(folder, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("grader.course.cluster.CONNECT_SECONDS", 1)
    with Store() as store, pytest.raises(UsageError) as caught:
        run(folder, store, "tcp://127.0.0.1:9")
    assert caught.value.message.key == "course.no-scheduler"
