"""Files of which the suite takes a part, and `-m every` all the others."""

from zlib import crc32

import pytest

# One file in so many, chosen by name: a new file moves no other in or out.
ONE_IN = 6


def as_parameter(path):
    """A file of the suite, or one of all the others, which are graded where every file is."""
    is_taken = crc32(path.stem.encode()) % ONE_IN == 0
    marks = () if is_taken else pytest.mark.every
    return pytest.param(path, id=f"{path.parent.name}-{path.stem}", marks=marks)
