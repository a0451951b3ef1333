"""mha-grade: grades multi-head attention written from memory."""

__version__ = "0.1.0"
