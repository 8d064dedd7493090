"""What is wrong in the files of a memory, and how it is mended."""

__all__: list[str] = []
