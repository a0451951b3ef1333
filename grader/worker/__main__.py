"""Started by path, `python -I .../worker/__main__.py fork 5`, never imported by the grader.

Makes this folder a package of its own name, so that the process that will run a candidate's code
never imports the grader's package or anything beside it.
"""

import gc
import importlib
import importlib.util
import sys
from pathlib import Path

PACKAGE = "mha_worker"


def make_package() -> None:
    """Make this folder importable as PACKAGE."""
    folder = Path(__file__).parent
    spec = importlib.util.spec_from_file_location(
        PACKAGE, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    assert spec is not None
    assert spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules[PACKAGE] = package
    spec.loader.exec_module(package)


def main() -> None:
    """`fork FD` serves a zygote on socket FD, and so does `rehearsed FD`, one for many files.

    `spawn` is one worker on standard streams.
    """
    # Collections during the import of torch cost a sixth of it and free nothing.
    gc.disable()
    make_package()
    mode, arguments = sys.argv[1], sys.argv[2:]
    # A candidate's own script must not see ours.
    sys.argv[:] = ["submission"]
    importlib.import_module(f"{PACKAGE}.zygote").serve(mode, arguments)


if __name__ == "__main__":
    main()
