"""The drill: a mock interview with a clock, in the terminal and in the browser."""
