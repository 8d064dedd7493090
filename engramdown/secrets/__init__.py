"""What is a secret, and how it is hidden. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engramdown.lazy import door

if TYPE_CHECKING:
    from engramdown.secrets.redaction import Secret, find_secrets, redact, secret_in

__all__ = ["Secret", "find_secrets", "redact", "secret_in"]

__getattr__, __dir__ = door(
    __name__,
    {
        "redaction": ["Secret", "find_secrets", "redact", "secret_in"],
    },
)
