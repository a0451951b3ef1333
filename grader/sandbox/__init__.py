"""The trusted end of the line to the untrusted worker."""
