r"""JSON as every reader takes it.

Promises: what comes back says the same, except that half a pair of surrogates, which a model leaves
when it cuts an emoji in two and which JSON can spell, is a question mark: strict readers refuse the
whole message for it. A byte order mark, which some shells write, is left out. What is no JSON is
left as it is. No I/O.
"""

from __future__ import annotations

import json
import re
from typing import Final

__all__ = ["well_formed"]

_MARK: Final = b"\xef\xbb\xbf"
# As an escape; written out it would be no UTF-8.
_SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F]")


def well_formed(data: bytes) -> bytes:
    r"""Return JSON without half pairs of surrogates.

    >>> well_formed(rb'{"half": "\ud83d", "whole": "\ud83d\ude00"}').decode()
    '{"half": "?", "whole": "😀"}'
    """
    data = data.removeprefix(_MARK)
    if not _SURROGATE.search(data):
        return data
    try:
        return json.dumps(json.loads(data), ensure_ascii=False).encode("utf-8", "replace")
    except (ValueError, RecursionError):
        return data
