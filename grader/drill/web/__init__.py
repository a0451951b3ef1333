"""A drill in the browser: one page, served to this computer alone. Needs the extra `web`."""
