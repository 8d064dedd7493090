"""The one estimate of how many tokens a text costs a model.

Promises: no I/O, no model, never negative, and never more for a joined text than for its parts one
by one, so that a budget that holds for the parts holds for the whole.
"""

from __future__ import annotations

__all__ = ["estimate_tokens"]

# English prose in the tokenisers of the large providers runs at about four characters a token;
# other scripts cost about one token for three UTF-8 bytes.
_ASCII_PER_TOKEN = 4
_BYTES_PER_TOKEN = 3


def estimate_tokens(text: str) -> int:
    """Return the estimated number of tokens of ``text``, rounded up.

    >>> estimate_tokens("Use uv, never pip"), estimate_tokens("记忆")
    (5, 2)
    """
    if text.isascii():
        return -(-len(text) // _ASCII_PER_TOKEN)
    size = len(text.encode("utf-8", "surrogatepass"))
    ascii_count = len(text.encode("ascii", "ignore"))
    wide_bytes = size - ascii_count
    quarters = ascii_count * _BYTES_PER_TOKEN + wide_bytes * _ASCII_PER_TOKEN
    return -(-quarters // (_ASCII_PER_TOKEN * _BYTES_PER_TOKEN))
