"""The drill: a mock interview."""
