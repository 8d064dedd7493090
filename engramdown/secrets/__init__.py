"""Finds secrets in texts and hides them. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engramdown.lazy import door

if TYPE_CHECKING:
    from engramdown.secrets.redaction import find_secrets as find_secrets
    from engramdown.secrets.redaction import redact as redact

__getattr__, __dir__ = door(__name__, {"redaction": ["find_secrets", "redact"]})
