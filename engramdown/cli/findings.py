"""How what ``doctor`` finds looks to a person and to a program.

Promises: pure.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from engramdown.cli.layout import Line, Part, cells, line
from engramdown.cortex.findings import CODES, Finding

STYLES: Final = {"error": "bad", "warning": "warn", "note": "dim"}
"""The style of each level."""
# A longer name of a file takes what it needs, and its row is out of line.
_WIDEST: Final = 24


def advice_lines(found: Iterable[Finding]) -> list[Line]:
    """Return what to do about each kind of finding."""
    codes = list(dict.fromkeys(finding.code for finding in found))
    width = column(codes)
    return [
        line(Part(padded(code, width), "dim"), CODES[code].advice, hang=width + 2) for code in codes
    ]


def column(texts: Iterable[str]) -> int:
    """Return how wide a column of ``texts`` is."""
    return min(max(map(cells, texts)), _WIDEST)


def padded(text: str, width: int) -> str:
    """Return ``text`` as a column of ``width``, with the gap behind it."""
    return f"{text}{' ' * max(width - cells(text), 0)}  "


def finding_data(finding: Finding, path: Path) -> dict[str, Any]:
    """Return a finding as JSON shows it; ``path`` is its file."""
    return {
        "file": finding.file,
        "line": finding.line,
        "code": finding.code,
        "level": finding.level,
        "message": finding.message,
        "advice": finding.advice,
        "fixable": finding.fixable,
        "path": str(path),
    }
