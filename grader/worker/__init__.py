"""The untrusted side: the candidate's code runs here, and nothing that knows an answer does."""
