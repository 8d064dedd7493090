"""The journal: dated pages to which people and assistants append sections."""

__all__: list[str] = []
