"""Where a nursery is named, commands take their zygote from there; read when Python starts."""

import os
import socket

from grader.sandbox import launch


def adopt(program=()):
    """A zygote on its way up, like that of launch_zygote; one that would rehearse does without."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with socket.socket(socket.AF_UNIX) as asking, theirs:
        asking.connect(os.environ["MHA_GRADE_NURSERY"])
        socket.send_fds(asking, [b"z"], [theirs.fileno()])
        # Taken before the line is closed: what is on its way would be lost with it.
        asking.recv(1)
    return launch.Launched(Twin(), ours)


if "MHA_GRADE_NURSERY" in os.environ:
    launch.launch_zygote = adopt
    # Only now: it takes what it launches with from there.
    from grader.sandbox.twins import Twin
