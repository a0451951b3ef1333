"""Near-copies among many files: how long it takes, and how many of them are found.

`python benchmarks/similar.py [FILES]`: each file is one of the corpus in disguise, so that two
files are near-copies if they come from the same one. Those of the corpus that are near-copies of
each other, undisguised, are neither right nor wrong to name.
"""

import random
import sys
import time
from itertools import combinations
from pathlib import Path
from resource import RUSAGE_SELF, getrusage

from disguise import disguise

from grader.files import folder
from grader.similarity import find_similar

CORPUS = Path(__file__).parent.parent / "tests" / "submissions"
# The hostile ones are made to break what reads them.
ORIGINALS = [path for kind in ("right", "wrong") for path in sorted((CORPUS / kind).glob("*.py"))]


def generate(files: int, rng: random.Random) -> dict[str, str]:
    """Name -> source, the name beginning with that of the original."""
    found: dict[str, str] = {}
    while len(found) < files:
        for path in ORIGINALS[: files - len(found)]:
            text = path.read_text(encoding="utf-8")
            try:
                found[f"{path.parent.name}-{path.stem}/{len(found):05}"] = disguise(text, rng)
            except (SyntaxError, ValueError):
                continue
    return found


def main(files: int) -> int:
    rng = random.Random(0)
    stubs = [path.read_text(encoding="utf-8") for path in folder("exercises").glob("*.py")]
    for count in (files // 4, files // 2, files):
        sources = generate(count, rng)
        began = time.process_time()
        found = find_similar(sources, stubs).found
        seconds = time.process_time() - began
        each = f"{1000 * seconds / count:.2f} ms a file"
        print(f"{count} files: {seconds:.2f} s of CPU, {each}, {found} pairs", flush=True)
    print(f"peak memory: {getrusage(RUSAGE_SELF).ru_maxrss >> 10} MiB")
    compare(generate(files // 4, rng), stubs)
    return 0


def compare(sources: dict[str, str], stubs: list[str]) -> None:
    """What is named against what was copied."""
    named = {(p.first, p.second) for p in find_similar(sources, stubs, limit=10**6).pairs}
    of = {name: name.partition("/")[0] for name in sorted(sources)}
    copies = {pair for pair in combinations(of, 2) if of[pair[0]] == of[pair[1]]}
    print(f"copies of one file: {len(copies & named)} of {len(copies)} pairs named")
    plain = {
        f"{path.parent.name}-{path.stem}": path.read_text(encoding="utf-8") for path in ORIGINALS
    }
    alike = find_similar(plain, stubs, at_least=0.5, limit=10**6).pairs
    kin = {(pair.first, pair.second) for pair in alike}
    others = {tuple(sorted((of[first], of[second]))) for first, second in named - copies}
    print(f"files of the corpus named beside another: {len(others)} pairs, {len(others - kin)} of")
    print("them less than half alike undisguised")


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000))
