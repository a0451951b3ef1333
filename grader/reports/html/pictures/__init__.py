"""Pictures: SVG made of a report's numbers, each with its text equivalent."""
