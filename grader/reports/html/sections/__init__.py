"""The parts of a report's page, in a file each."""
