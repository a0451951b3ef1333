"""Files and pieces of which the suite takes a part, and `-m every` all the others."""

from zlib import crc32

import pytest

# One in so many, chosen by name: a new one moves no other in or out.
ONE_IN = 10


def as_parameter(path):
    """A file of the suite, or one of all the others, which are graded where every file is."""
    return as_share(path, path.stem, f"{path.parent.name}-{path.stem}")


def as_share(value, name, shown=None):
    """The same for anything that has a name; a test goes by that, or by what is `shown`."""
    is_taken = crc32(name.encode()) % ONE_IN == 0
    marks = () if is_taken else pytest.mark.every
    return pytest.param(value, id=shown or name, marks=marks)
