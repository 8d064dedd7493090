"""Where markdown that is still being written may be cut, so that what is done can be shown.

Promises: pure; nothing is lost and nothing is cut twice: what was given out, joined, is what was
taken in. A fence stays in one piece, and so does what is indented below a list item.
"""

from __future__ import annotations

import re
from typing import Final

_FENCE: Final = re.compile(r"[ \t]*(`{3,}|~{3,})")
_LONGEST_WORD: Final = 120
_KEPT: Final = 16


class Blocks:
    r"""Takes a text piece by piece, and gives it out block by block.

    >>> blocks = Blocks()
    >>> blocks.add("One.\n\n``"), blocks.add("`\na\n\nb\n```\n\nTwo")
    (['One.\n\n'], ['```\na\n\nb\n```\n\n'])
    >>> blocks.rest()
    'Two'
    """

    def __init__(self) -> None:
        """Begin with nothing."""
        self._waiting = ""
        self._seen = 0
        self._fence = ""
        self._is_blank = False

    @property
    def waiting(self) -> str:
        """What was taken in and not given out."""
        return self._waiting

    def add(self, text: str) -> list[str]:
        """Take in a piece, and return the blocks that are complete now."""
        self._waiting += text
        done: list[str] = []
        while (end := self._waiting.find("\n", self._seen)) >= 0:
            line = self._waiting[self._seen : end]
            if self._is_apart(line):
                done.append(self._waiting[: self._seen])
                self._waiting = self._waiting[self._seen :]
                end -= self._seen
            self._look(line)
            self._seen = end + 1
        # The line that is being written tells as much with its first character.
        line = self._waiting[self._seen :]
        if self._is_apart(line):
            done.append(self._waiting[: self._seen])
            self._waiting, self._seen, self._is_blank = line, 0, False
        return done

    def rest(self) -> str:
        """Return what is left when no more comes, and begin anew."""
        left = self._waiting
        self._waiting, self._seen, self._fence, self._is_blank = "", 0, "", False
        return left

    def _is_apart(self, line: str) -> bool:
        """Whether a line begins a block: behind a blank one, at the left edge."""
        return self._is_blank and not self._fence and line[:1] not in ("", " ", "\t", "\r")

    def _look(self, line: str) -> None:
        """Take note of a line: whether it opens or closes a fence, whether it is blank."""
        found = _FENCE.match(line)
        if found and not self._fence:
            self._fence = found[1]
        elif found and found[1].startswith(self._fence) and not line[found.end() :].strip():
            self._fence = ""
        self._is_blank = not line.strip()


class Words:
    """Takes a text piece by piece, and gives it out in whole words.

    What a character is may depend on its neighbours: an emoji of several is shown at once.

    >>> words = Words()
    >>> words.add("Use u"), words.add("v, n"), words.rest()
    ('Use ', 'uv, ', 'n')
    """

    def __init__(self) -> None:
        """Begin with nothing."""
        self._waiting = ""

    def add(self, text: str) -> str:
        """Take in a piece, and return as much as is whole."""
        self._waiting += text
        end = max(self._waiting.rfind(" "), self._waiting.rfind("\n")) + 1
        # Not every script has spaces.
        if len(self._waiting) - end > _LONGEST_WORD:
            end = len(self._waiting) - _KEPT
        whole, self._waiting = self._waiting[:end], self._waiting[end:]
        return whole

    def rest(self) -> str:
        """Return what is left when no more comes."""
        left, self._waiting = self._waiting, ""
        return left
