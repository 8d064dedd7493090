"""What is known of every line without reading it again: a disposable SQLite file, or a scan."""

__all__: list[str] = []
