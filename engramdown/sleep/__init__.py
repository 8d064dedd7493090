"""When which job runs: sleep, the worker, and watching."""

__all__: list[str] = []
