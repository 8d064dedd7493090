"""Everything that ``doctor`` can find: each code with its level and advice, from ``codes.toml``.

A finding names a place and never repeats a secret from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from engramdown.secrets.redaction import redact

Level = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Code:
    """A kind of finding.

    Attributes:
        level: ``error`` if memory is lost, hidden or exposed; ``warning`` if it is not read as it
            looks; ``note`` if it may be worth a look.
        message: The sentence, with the fields of :func:`find` in braces.
        advice: What a person can do about it.
    """

    level: Level
    message: str
    advice: str


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wrong, or may be, with a file.

    Attributes:
        file: The file, relative to the memory folder; ``../`` leads to its scope.
        line: The line, from 1; 0 for the file as a whole.
        code: A key of :func:`codes`.
        message: The sentence about it.
        fixable: Whether ``--fix`` mends it.
    """

    file: str
    line: int
    code: str
    message: str
    fixable: bool = False

    @property
    def level(self) -> Level:
        """How bad it is."""
        return codes()[self.code].level

    @property
    def advice(self) -> str:
        """What a person can do about it."""
        return codes()[self.code].advice


def find(place: tuple[str, int], code: str, *, fixable: bool = False, **fields: object) -> Finding:
    """Return the finding ``code`` at ``place``, a file and a line.

    >>> find(("rules.md", 3), "expired", date="2026-01-06").message
    'held until 2026-01-06'
    """
    file, line = place
    # Quotes from the file may hold a secret.
    message = redact(codes()[code].message.format(**fields))
    return Finding(file, line, code, message, fixable)


@cache
def codes() -> Mapping[str, Code]:
    """Return every code with its level, its sentence and the next step."""
    # Imported here: it is slow to load, and only a finding needs it.
    import tomllib

    table = tomllib.loads((Path(__file__).parent / "codes.toml").read_text(encoding="utf-8"))
    return {code: Code(**fields) for code, fields in table.items()}
