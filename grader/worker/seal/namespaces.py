"""A network, host name and message queues of one's own: with nothing in them."""

from __future__ import annotations

from . import kernel, privileges

NETWORK, QUEUES, HOST_NAME, USERS = 0x40000000, 0x08000000, 0x04000000, 0x10000000
SYSTEM_ADMINISTRATION = 21


def leave() -> None:
    """Leave the system's namespaces; raises OSError where that is not allowed.

    Who is not the system's administrator becomes one of a namespace of users first.
    """
    own = NETWORK | QUEUES | HOST_NAME
    if not privileges.has(SYSTEM_ADMINISTRATION):
        own |= USERS
    kernel.call("unshare", own)
