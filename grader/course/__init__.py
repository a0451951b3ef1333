"""Many submissions: gathered, graded side by side, kept in a file, summed up.

`gather` finds the files and whose they are, `lanes` grades them, `store` keeps what came out, and
`batch` is the flow from one to the other. `settings` reads what a course has decided.
"""
