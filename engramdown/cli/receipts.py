"""How the receipt of a memory looks to a person.

Promises: pure; a text that is held for a secret is not repeated.
"""

from __future__ import annotations

from typing import Final

from engramdown import Receipt
from engramdown.cli import messages
from engramdown.cli.layout import Line, line

_STYLES: Final = {
    "encoded": "good",
    "merged": "good",
    "queued": "warn",
    "discarded": "warn",
    "forgotten": "good",
    "failed": "bad",
}


def receipt_line(receipt: Receipt) -> Line:
    """Return what happened, in one sentence."""
    return line((messages.receipt(receipt), _STYLES[receipt.action]), hang=2)
