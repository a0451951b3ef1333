"""Who may import whom: the boundary between what is trusted and what is not, and the layers."""

import ast
import functools
import graphlib
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
STANDARD = sys.stdlib_module_names
# Part of the trusted package -> the other parts of it that it may import.
LAYERS = {
    "model": [],
    "errors": ["model"],
    "disk": ["errors"],
    "clean": [],
    "files": [],
    "definition": ["model"],
    "derivatives": ["model", "definition"],
    "rotary": ["model"],
    "variations": ["model", "definition"],
    "precision": ["model", "definition"],
    "mistakes": ["model", "definition", "rotary"],
    "layout": ["model", "definition", "variations"],
    "calling": ["model", "errors", "definition", "rotary"],
    "intake": ["model", "errors", "notebook"],
    "notebook": [],
    "sandbox": ["model", "errors", "clean", "worker.protocol"],
    "evidence": ["model", "clean", "calling", "bank", "trace", "variations"],
    "judging": ["model", "errors", "calling", "bank", "variations"],
    "questions": ["model", "errors", "files"],
    "similarity": ["model", "texts", "clean", "reports"],
    "reports": ["model", "texts", "questions", "errors", "clean", "__version__"],
    "exports": ["model", "texts", "questions", "errors", "clean", "reports", "__version__"],
}
# The same for parts of the drill: those that keep nothing and show nothing, and its page.
DRILL = {
    "styles": ["model", "errors", "bank"],
    "planting": ["model", "mistakes", "drill.styles"],
    "sheets": ["model", "drill.styles"],
    "web": [
        *("drill", "model", "errors", "texts", "questions", "reports", "bank"),
        *("intake", "disk", "sandbox.launch"),
    ],
    "marking": ["files"],
    "rounds": ["questions", "files", "drill.marking"],
    "outlines": ["model", "questions", "files", "bank.loader", "drill.marking"],
}
NOT_IN_BANK = ["cli", "drill", "reports", "exports", "grading", "judging", "audit"]


def sources(*folders):
    """(path from the root, path) of each Python file below these folders."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield path.relative_to(ROOT).as_posix(), path


@functools.cache
def imports(path):
    """Dotted names a file imports, relative ones resolved; `from a import b` gives a.b."""
    package, found = path.relative_to(ROOT).parent.parts, []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            start = ".".join((*base, *filter(None, [node.module])))
            found += [f"{start}.{alias.name}" for alias in node.names]
    return found


def is_within(name, allowed):
    return name == allowed or name.startswith(allowed + ".")


def offences(folders, is_allowed):
    """One line for each import that is not allowed, naming file and import."""
    return [
        f"{where} imports {name}"
        for where, path in sources(*folders)
        for name in imports(path)
        if not is_allowed(where, name)
    ]


def top(name):
    return name.partition(".")[0]


def part_of(where):
    """grader/layout/roles.py -> layout."""
    return where.split("/")[1].removesuffix(".py")


def test_worker_imports_only_itself():
    def is_allowed(where, name):
        own = is_within(name, "grader.worker")
        return own or top(name) == "torch" or top(name) in STANDARD

    assert offences(["grader/worker"], is_allowed) == []


def test_worker_imports_itself_relatively():
    names = [
        f"{where} imports {node.module}"
        for where, path in sources("grader/worker")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and not node.level and top(node.module) == "grader"
    ]
    assert names == []


def test_trusted_side_imports_no_torch():
    def is_allowed(where, name):
        # One benchmark grades in its own process, to show what isolation costs.
        inside = ("tests/", "reference/", "exercises/", "benchmarks/course.py")
        untrusted = where.startswith(("grader/worker/", *inside))
        return untrusted or top(name) != "torch"

    assert offences(["grader", "benchmarks", "docs"], is_allowed) == []


def test_trusted_side_imports_only_protocol():
    def is_allowed(where, name):
        if where.startswith("grader/worker/") or not is_within(name, "grader.worker"):
            return True
        return part_of(where) == "sandbox" and is_within(name, "grader.worker.protocol")

    assert offences(["grader"], is_allowed) == []


def test_trusted_side_loads_no_torch():
    code = "import sys, grader.cli; print(sorted({'torch', 'mha_worker'} & {*sys.modules}))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_every_run_of_pytest_loads_next_to_nothing():
    code = (
        "import sys, pytest; before = {*sys.modules}; import grader.pytest_plugin; "
        "print(sorted({*sys.modules} - before))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "['grader', 'grader.pytest_plugin']\n"


def test_no_option_loads_pydantic():
    """From typer 0.29 on the first option of a command imports it: a tenth of a whole run."""
    code = (
        "import sys, grader.cli\n"
        "sys.argv = ['mha-grade', '--list', '--seed', '1', '--lang', 'en']\n"
        "import os; os._exit = sys.exit\n"
        "try: grader.cli.run(None)\n"
        "except SystemExit: print('pydantic' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "False"


@pytest.mark.parametrize("folder", ["exercises", "reference"])
def test_torch_files_stand_alone(folder):
    allowed = ("torch", "math", "__future__", "dataclasses", "typing", "collections")
    assert offences([folder], lambda where, name: top(name) in allowed) == []


@pytest.mark.parametrize("part", LAYERS)
def test_layer_imports_only_below(part):
    allowed = [f"grader.{name}" for name in (part, *LAYERS[part])]

    def is_allowed(where, name):
        if part_of(where) != part or top(name) != "grader":
            return True
        return any(is_within(name, one) for one in allowed)

    assert offences(["grader"], is_allowed) == []


@pytest.mark.parametrize("part", DRILL)
def test_part_of_drill_imports_only_below(part):
    allowed = [f"grader.{name}" for name in (f"drill.{part}", *DRILL[part])]

    def is_allowed(where, name):
        return top(name) != "grader" or any(is_within(name, one) for one in allowed)

    assert offences([f"grader/drill/{part}"], is_allowed) == []


def test_only_the_drill_imports_the_drill():
    def is_allowed(where, name):
        return part_of(where) == "drill" or not is_within(name, "grader.drill")

    assert offences(["grader"], is_allowed) == []


def test_drill_takes_the_console_of_the_command_and_no_more():
    known = [f"grader.cli.{name}" for name in ("console", "codes")]

    def is_allowed(where, name):
        own = any(is_within(name, one) for one in known)
        return part_of(where) != "drill" or own or not is_within(name, "grader.cli")

    assert offences(["grader"], is_allowed) == []


def test_drill_begins_without_what_it_rarely_needs():
    """The terminal needs no server, and neither waits for torch."""
    rare = {"torch", "fsrs", "platformdirs", "pydantic", "starlette", "uvicorn", "anyio"}
    code = f"import sys, grader.drill.cli; print(sorted({rare} & {{*sys.modules}}))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_bank_imports_nothing_above():
    def is_allowed(where, name):
        above = any(is_within(name, f"grader.{one}") for one in NOT_IN_BANK)
        return part_of(where) != "bank" or not above

    assert offences(["grader"], is_allowed) == []


def test_only_listed_packages_are_imported():
    allowed = {"grader", "numpy", "yaml", "typer", "torch", "click", "rich", *STANDARD}
    # Only where a course is graded on a cluster, and imported there.
    allowed |= {"distributed"}
    own = {"pytest_plugin": {"pytest"}, "drill": {"fsrs", "platformdirs"}}

    def is_allowed(where, name):
        # The extra web, in one place.
        page = {"starlette", "uvicorn"} if where.startswith("grader/drill/web/") else set()
        return top(name) in allowed | page | own.get(part_of(where), set())

    assert offences(["grader"], is_allowed) == []


def test_every_layer_exists():
    parts = {part_of(where) for where, _ in sources("grader")}
    assert set(LAYERS) <= parts


def test_offence_names_file_and_import():
    found = offences(["grader/worker"], lambda where, name: not name.endswith(".seal"))
    assert found == ["grader/worker/child.py imports grader.worker.seal"]


def test_no_files_import_each_other_in_a_loop():
    def module_of(name):
        parts = name.removesuffix(".py").replace("/", ".")
        return parts.removesuffix(".__init__")

    files = {module_of(name): path for name, path in sources("grader")}
    graph = {}
    for module, path in files.items():
        names = {name if name in files else name.rpartition(".")[0] for name in imports(path)}
        graph[module] = (names & files.keys()) - {module}
    # A package's face hands on what lies in it, whose files import each other by their own names.
    for module, path in files.items():
        if path.name == "__init__.py":
            graph[module] = {name for name in graph[module] if not is_within(name, module)}
    graphlib.TopologicalSorter(graph).prepare()
