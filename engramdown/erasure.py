r"""What a person wants erased for good: its words in any writing, and the note of an erasure.

Promises: words are found however they are wrapped, spaced, spelt in capitals or escaped (JSON,
percent, HTML, markdown), from :data:`PIECE` characters in a row on; the note is for the user alone,
stands only while an erasure is under way, and one that others could have written says nothing.
"""

from __future__ import annotations

import html
import json
import os
import re
import stat
import unicodedata
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import unquote_plus

from engramdown.disk import ERASING as NOTE
from engramdown.disk import UNFINISHED, Disk
from engramdown.errors import StoreError
from engramdown.forking import cached_property
from engramdown.naming import named_errors

__all__ = ["GONE", "PIECE", "Erasure", "Words", "begin", "end", "unfinished"]

PIECE: Final = 12
"""So many characters of a text in a row tell it."""
GONE: Final = "[erased]"
"""What stands in the place of erased words where others stand around them."""

# A row of dashes or spaces is nobody's words.
_LETTERS: Final = 4
# Of a shorter text only lines that say it and nothing else are told.
_SHORTEST: Final = 4
# How much of the words of a text another one shares that says the same.
_SAME: Final = 0.9
# Where white space is many characters that are read as one, fewer are enough; but so many.
_FEWEST: Final = 8
_OTHERS: Final = 0o077
_Places = tuple[Sequence[int], Sequence[int]]
# JSON in JSON in JSON: what a tool gave back, in a transcript, quoted by another tool.
_DEEPEST: Final = 4

_INVISIBLE: Final = re.compile("[\xad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]")
# White space, with the marks of quotations, lists and comments that a new line may begin with.
_MARKS: Final = ">#*|/-"
_GAP: Final = re.compile(r"[>#*|/-]*\s[\s>#*|/-]*")
_JSON: Final = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\[nrtbf\"\\/]"
)
_PERCENT: Final = re.compile(r"(?:%[0-9A-Fa-f]{2})+|\+")
_ENTITY: Final = re.compile(r"&(?:[a-zA-Z]{2,8}|#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6});")
_MARKDOWN: Final = re.compile(r"\\[!-/:-@\[-`{-~]")


class Erasure(NamedTuple):
    """What is being erased.

    Attributes:
        step: The id of the step in the journal, also the name of the erasure.
        ids: The ids of the memories.
        texts: Everything that they said, in every version.
        tokens: What can be made of the texts, and would let a guess be tested: addresses, digests.
        kinds: The kinds of the memories.
        whole: Whether other lines go only if they hold all of a text.
        roots: The folders of the scopes, that of the first note first.
    """

    step: str
    ids: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    tokens: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    whole: bool = False
    roots: tuple[str, ...] = ()

    def words(self) -> Words:
        """Return what to look for."""
        return Words(self.texts, self.tokens, whole=self.whole)


# ---- the note ----


def begin(root: Path, erasure: Erasure, disk: Disk) -> None:
    """Note in the folder of a scope what is being erased.

    Raises:
        StoreError: If it cannot be written.
    """
    with named_errors(root / NOTE, "written"):
        disk.create(root / NOTE, json.dumps(erasure._asdict()).encode() + b"\n")
        disk.sync_folder(root)


def end(root: Path, disk: Disk) -> None:
    """Take the note away: it is done.

    Raises:
        StoreError: If it cannot be removed.
    """
    with named_errors(root / NOTE, "removed"):
        disk.unlink(root / f"{NOTE}{UNFINISHED}")
        disk.unlink(root / NOTE)
        disk.sync_folder(root)


def unfinished(root: Path, disk: Disk) -> Erasure | None:
    """Return what is being erased in the scope at ``root``, if anything is.

    Git gives no file to its user alone, as ours is: a note that came with a clone says nothing.
    """
    path = root / NOTE
    try:
        found = path.lstat()
    except OSError:
        return None
    is_ours = not hasattr(os, "getuid") or (
        found.st_uid == os.getuid() and not found.st_mode & _OTHERS
    )
    if not stat.S_ISREG(found.st_mode) or not is_ours:
        return None
    try:
        told = json.loads(disk.read(path) or b"")
        lists = {
            name: tuple(map(str, told[name]))
            for name in ("ids", "texts", "tokens", "kinds", "roots")
        }
        return Erasure(step=str(told["step"]), whole=bool(told["whole"]), **lists)
    except (OSError, StoreError, ValueError, TypeError, LookupError, RecursionError):
        return None


# ---- the words ----


class _Reading:
    """A text as it reads, and where each character of that stands in what was read.

    Attributes:
        text: What it reads as.
    """

    def __init__(self, text: str, places: Callable[[], _Places] | None = None) -> None:
        """Hold ``text``; ``places`` tells where its characters stand, if not where they are."""
        self.text = text
        self._places = places
        self._known: _Places | None = None

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Return from where to where the characters from ``start`` to ``end`` stand."""
        starts, ends = self.places
        return starts[start], ends[end - 1]

    @property
    def places(self) -> _Places:
        """Where the characters begin and end."""
        if self._places is None:
            size = len(self.text)
            return range(size), range(1, size + 1)
        if self._known is None:
            self._known = self._places()
        return self._known

    def decoded(self, pattern: re.Pattern[str], read: Callable[[str], str]) -> _Reading:
        """Return what it reads as where ``read`` tells what each match of ``pattern`` means."""
        text = pattern.sub(lambda match: read(match[0]), self.text)

        def places() -> _Places:
            starts, ends = array("q"), array("q")
            at = 0
            for match in pattern.finditer(self.text):
                for plain in range(at, match.start()):
                    start, end = self.place(plain, plain + 1)
                    starts.append(start)
                    ends.append(end)
                start, end = self.place(*match.span())
                for _ in read(match[0]):
                    starts.append(start)
                    ends.append(end)
                at = match.end()
            for plain in range(at, len(self.text)):
                start, end = self.place(plain, plain + 1)
                starts.append(start)
                ends.append(end)
            return starts, ends

        return _Reading(text, places)


class Words:
    r"""The words of texts, to be found wherever they stand.

    >>> words = Words(["The door code is 4711-blue"])
    >>> words.holds('{"said": "they wrote \\"the door\\u0020code is\\n4711\\" to me"}')
    True
    >>> words.cut("Mind that the door code is 4711-blue, Ada")
    'Mind that [erased], Ada'
    """

    def __init__(
        self, texts: Iterable[str], tokens: Iterable[str] = (), *, whole: bool = False
    ) -> None:
        """Look for ``texts``, and for ``tokens`` as they are.

        Args:
            texts: The texts.
            tokens: What stands nowhere by accident: digests, addresses.
            whole: Look for whole texts only, not for pieces.
        """
        said = {plain: text for text in texts if (plain := _plain(text))}
        self._texts = [*said]
        self._least = [_least(text, plain) for plain, text in said.items()]
        self._tokens = [token for token in dict.fromkeys(tokens) if token]
        self._whole = whole

    @cached_property
    def _grams(self) -> dict[str, list[tuple[int, int]]]:
        """What each text is looked up by: any piece of it holds one of these whole."""
        found: dict[str, list[tuple[int, int]]] = {}
        for number, text in enumerate(self._texts):
            size = (self._least[number] + 1) // 2
            for at in range(0, len(text) - size + 1, size) if len(text) >= PIECE else ():
                found.setdefault(text[at : at + size], []).append((number, at))
        return found

    @cached_property
    def _short(self) -> list[re.Pattern[str]]:
        short = [text for text in self._texts if _SHORTEST <= len(text) < PIECE]
        return [re.compile(rf"(?<!\w){re.escape(text)}(?!\w)") for text in short]

    def is_said(self, text: str) -> bool:
        """Whether ``text`` says one of the texts and nothing else."""
        return _plain(text) in self._texts

    def is_like(self, text: str) -> bool:
        """Whether most of what ``text`` says is one of the texts, and most of that is there."""
        plain = _plain(text)
        for number, wanted in enumerate(self._texts):
            spans = [span for span, of in self._runs(plain) if of == number]
            shared = sum(end - start for start, end in _merged(spans))
            if shared >= _SAME * max(len(wanted), len(plain), 1):
                return True
        return False

    def is_whole(self, text: str) -> bool:
        """Whether all of one of the texts, or most of it, stands in ``text``."""
        for reading in _readings(text):
            plain = _plain(reading.text)
            if any(wanted in plain for wanted in self._texts if len(wanted) >= PIECE):
                return True
            if any(pattern.search(plain) for pattern in self._short):
                return True
            runs = self._runs(plain)
            for number, wanted in enumerate(self._texts):
                spans = [span for span, of in runs if of == number]
                if any(end - start >= _SAME * len(wanted) for start, end in spans):
                    return True
        return False

    def holds(self, text: str) -> bool:
        """Whether a piece of the texts stands in ``text``, in whatever writing."""
        if any(token in text for token in self._tokens):
            return True
        return any(self._found(_plain(reading.text)) for reading in _readings(text))

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return from where to where pieces of the texts stand in ``text``."""
        found = [match.span() for token in self._tokens for match in _all(token, text)]
        for reading in _readings(text):
            if not self._found(_plain(reading.text)):
                continue
            plain = _mapped(reading.text)
            for start, end in self._found(plain.text):
                found.append(reading.place(*plain.place(start, end)))
        return _merged(found)

    def cut(self, text: str, gone: str = GONE) -> str:
        """Return ``text`` with ``gone`` in the place of each piece."""
        for start, end in reversed(self.spans(text)):
            text = text[:start] + gone + text[end:]
        return text

    def mask(self, data: bytes) -> bytes:
        """Return bytes of the same length in which no piece can be read."""
        text = data.decode("utf-8", "surrogateescape")
        for start, end in reversed(self.spans(text)):
            size = len(text[start:end].encode("utf-8", "surrogateescape"))
            text = text[:start] + "x" * size + text[end:]
        return text.encode("utf-8", "surrogateescape")

    def _found(self, plain: str) -> list[tuple[int, int]]:
        """Return from where to where pieces stand in a text that is plain already."""
        spans = [span for span, _ in self._runs(plain)]
        spans += [match.span() for pattern in self._short for match in pattern.finditer(plain)]
        return _merged(spans)

    def _runs(self, plain: str) -> list[tuple[tuple[int, int], int]]:
        """Return the runs that ``plain`` shares with texts, and the number of the text of each."""
        found: dict[tuple[int, int], int] = {}
        for gram, places in self._grams.items():
            at = plain.find(gram)
            while at >= 0:
                for number, place in places:
                    span = _run(plain, at, self._texts[number], place, len(gram))
                    if self._is_piece(plain, span, number):
                        found[span] = number
                at = plain.find(gram, at + 1)
        return list(found.items())

    def _is_piece(self, plain: str, span: tuple[int, int], number: int) -> bool:
        start, end = span
        least = len(self._texts[number]) if self._whole else self._least[number]
        if end - start < least:
            return False
        return sum(map(str.isalnum, plain[start:end])) >= _LETTERS


def _least(text: str, plain: str) -> int:
    """Return how long a piece of a text is at least, as it is compared."""
    if len(plain) < PIECE:
        return len(plain)
    starts, ends = _mapped(text).places
    shortest = PIECE
    for first, start in enumerate(starts):
        last = bisect_right(ends, start + PIECE) - 1
        if start + PIECE <= len(text):
            # At its ends, a mark may be taken for that of a line.
            shortest = min(shortest, len(plain[first : last + 1].strip(_MARKS)))
    return max(shortest, _FEWEST)


def _run(plain: str, at: int, text: str, place: int, size: int) -> tuple[int, int]:
    """Return the longest run around ``at`` that reads as ``text`` around ``place``."""
    before = 0
    while before < min(at, place) and plain[at - before - 1] == text[place - before - 1]:
        before += 1
    after = size
    most = min(len(plain) - at, len(text) - place)
    while after < most and plain[at + after] == text[place + after]:
        after += 1
    return at - before, at + after


def _all(token: str, text: str) -> Iterator[re.Match[str]]:
    return re.finditer(re.escape(token), text)


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    return found


# ---- writings ----


@lru_cache(maxsize=64)
def _plain(text: str) -> str:
    """Return a text as it is compared: no capitals, no invisible characters, one space each."""
    if not text.isascii():
        text = _INVISIBLE.sub("", unicodedata.normalize("NFKD", text))
    return _GAP.sub(" ", text).casefold().strip()


def _mapped(text: str) -> _Reading:
    """Return :func:`_plain` of a text, and where each character of it stands."""
    said: list[str] = []
    starts, ends = array("q"), array("q")

    def put(chars: str, start: int, end: int) -> None:
        for char in chars:
            said.append(char)
            starts.append(start)
            ends.append(end)

    at = 0
    for gap in _GAP.finditer(text):
        _put_word(text, at, gap.start(), put)
        if said and gap.end() < len(text):
            put(" ", *gap.span())
        at = gap.end()
    _put_word(text, at, len(text), put)
    return _Reading("".join(said), lambda: (starts, ends))


def _put_word(text: str, start: int, end: int, put: Callable[[str, int, int], None]) -> None:
    for at in range(start, end):
        char = text[at]
        if not char.isascii():
            char = _INVISIBLE.sub("", unicodedata.normalize("NFKD", char))
        put(char.casefold(), at, at + 1)


def _readings(text: str) -> Iterator[_Reading]:
    """Yield the ways in which ``text`` may have to be read, first as it is."""
    reading = _Reading(text)
    for _ in range(_DEEPEST):
        yield reading
        if "%" in reading.text or "+" in reading.text:
            yield reading.decoded(_PERCENT, unquote_plus)
        if "&" in reading.text:
            yield reading.decoded(_ENTITY, html.unescape)
        if "\\" not in reading.text:
            return
        yield reading.decoded(_MARKDOWN, lambda said: said[1:])
        reading = reading.decoded(_JSON, _unescaped)
    yield reading


def _unescaped(said: str) -> str:
    """Return what an escape of JSON means."""
    return str(json.loads(f'"{said}"'))
