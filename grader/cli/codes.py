"""Exit codes; the README has them in a table."""

PASSED, NOT_PASSED, UNUSABLE, OUR_FAULT = 0, 1, 2, 3
# What a shell expects of a program ended by Ctrl-C.
INTERRUPTED = 130
