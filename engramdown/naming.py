"""Turns an error of the system into one that a person can act on.

Promises: names the file, what could not be done with it, and the next step.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from engramdown.errors import StoreError

__all__ = ["named_errors"]


@contextlib.contextmanager
def named_errors(path: Path, what: str) -> Iterator[None]:
    """Turn an error of the system into one that names the file and the next step."""
    try:
        yield
    except OSError as error:
        where = error.filename or path
        reason = error.strerror or type(error).__name__
        raise StoreError(
            f"{where}: could not be {what}: {reason}. Memory is as it was before; "
            f"free some space or mend the permissions, then try again."
        ) from error
