"""The command line: it parses, calls the Cortex, and prints."""

__all__: list[str] = []
